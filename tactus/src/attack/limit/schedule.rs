//! The schedule that a policy makes of jobs on a hart where nothing else takes time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use fastrand::Rng;

/// A vCPU is due so many ticks after the one with which it is said to be due together, at most: releases come a while
/// after they are meant to, so that the order would be open otherwise.
const LATER_MAX: u64 = 2_000;
/// Parts of its deadline that these are at most.
const LATER_PART: u64 = 20;
/// Offsets that are tried at most.
const OFFSETS_MAX: usize = 400;

/// A vCPU. Times in ticks.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// From a release to the next.
    pub period: u64,
    /// What each job takes of the hart.
    pub cost: u64,
    /// From a release.
    pub deadline: u64,
    /// Less comes first; `None`: what is due first does.
    pub priority: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Job {
    release: u64,
    cost: u64,
    /// Less comes first, then the sooner one in the list.
    urgency: u64,
}

/// When each of the jobs has ended, which are in the order of their releases.
fn ends(jobs: &[Job]) -> Vec<u64> {
    let mut ends = vec![0; jobs.len()];
    let mut left: Vec<u64> = jobs.iter().map(|job| job.cost).collect();
    let mut ready = BinaryHeap::new();
    let (mut now, mut next) = (0, 0);
    loop {
        while next < jobs.len() && jobs[next].release <= now {
            ready.push(Reverse((jobs[next].urgency, next)));
            next += 1;
        }
        let until = jobs.get(next).map_or(u64::MAX, |job| job.release);
        let Some(&Reverse((_, one))) = ready.peek() else {
            if next == jobs.len() {
                return ends;
            }
            now = until;
            continue;
        };
        let runs = left[one].min(until - now);
        left[one] -= runs;
        now += runs;
        if left[one] == 0 {
            ends[one] = now;
            ready.pop();
        }
    }
}

/// A long response of a vCPU, and what leads to it. In ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worst {
    /// The vCPU's first release, all others being released at 0.
    pub phase: u64,
    /// The response.
    pub response: u64,
}

/// The longest response of one of them that is found and ends within so many ticks. By deadlines the job is due
/// together with one of another then (Spuri); by priorities all are released together.
pub fn worst(members: &[Member], target: usize, length: u64, random: &mut Rng) -> Worst {
    let own = members[target];
    let busy = busy_period(members, length).min(length.saturating_sub(own.deadline));
    let later = LATER_MAX.min(own.deadline / LATER_PART);
    let mut offsets: Vec<u64> = members
        .iter()
        .flat_map(|member| {
            let due = (0..).map(|number| number * member.period + member.deadline);
            due.take_while(|due| *due < busy + own.deadline)
                .filter_map(|due| (due + later).checked_sub(own.deadline))
        })
        .collect();
    offsets.sort_unstable();
    offsets.dedup();
    random.shuffle(&mut offsets);
    offsets.truncate(OFFSETS_MAX);
    if own.priority.is_some() {
        offsets.clear();
    }
    offsets.push(0);
    let at = |offset: u64| (response_at(members, target, offset), u64::MAX - offset);
    // Of those with the same response the first.
    let longest = offsets.into_iter().map(at).max().unwrap_or(at(0));
    let (response, rest) = longest;
    Worst {
        phase: (u64::MAX - rest) % own.period,
        response,
    }
}

/// The response of its job at an offset.
fn response_at(members: &[Member], target: usize, offset: u64) -> u64 {
    let own = members[target];
    let due = offset + own.deadline;
    let mut jobs = Vec::new();
    for (index, member) in members.iter().enumerate() {
        let mut release = if index == target {
            offset % member.period
        } else {
            0
        };
        let comes_later = |release: u64| match (member.priority, own.priority) {
            (Some(one), Some(target)) => one > target || release > due,
            _ => release + member.deadline > due,
        };
        while !comes_later(release) {
            // Of those that are due together the target comes last.
            let by_deadline = 2 * (release + member.deadline) + u64::from(index == target);
            let urgency = member.priority.map_or(by_deadline, |place| place as u64);
            jobs.push((release, index, member.cost, urgency));
            release += member.period;
        }
    }
    jobs.sort_unstable();
    let last = jobs
        .iter()
        .position(|&(release, index, ..)| (release, index) == (offset, target));
    let jobs: Vec<Job> = jobs
        .into_iter()
        .map(|(release, _, cost, urgency)| Job {
            release,
            cost,
            urgency,
        })
        .collect();
    last.map_or(0, |last| ends(&jobs)[last] - offset)
}

/// For how long the hart is busy when all are released together, at most so long.
fn busy_period(members: &[Member], most: u64) -> u64 {
    let mut length = 1u64;
    loop {
        let all = members.iter();
        let more: u64 = all
            .map(|member| length.div_ceil(member.period) * member.cost)
            .sum();
        if more <= length || length > most {
            return length.min(most);
        }
        length = more;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(period: u64, cost: u64, deadline: u64) -> Member {
        Member {
            period,
            cost,
            deadline,
            priority: None,
        }
    }

    #[test]
    fn the_urgent_job_goes_first_and_the_other_goes_on() {
        let job = |release, cost, urgency| Job {
            release,
            cost,
            urgency,
        };
        let jobs = [job(0, 10, 9), job(4, 3, 1), job(20, 1, 5)];
        assert_eq!(ends(&jobs), [13, 7, 21]);
    }

    #[test]
    fn by_priorities_the_lowest_waits_for_all() {
        let mut members = [member(4, 1, 4), member(6, 2, 6), member(12, 3, 12)];
        for (place, member) in members.iter_mut().enumerate() {
            member.priority = Some(place);
        }
        let worst = worst(&members, 2, 100, &mut Rng::with_seed(1));
        assert_eq!((worst.phase, worst.response), (0, 10));
    }

    /// Spuri's example, with the longest response not at the common release.
    #[test]
    fn the_worst_phase_need_not_be_the_common_release() {
        let members = [member(4, 1, 4), member(6, 2, 9), member(8, 3, 6)];
        let mut random = Rng::with_seed(1);
        for target in 0..3 {
            let worst = worst(&members, target, 24, &mut random);
            let phase = worst.phase;
            let responses = (0..24).map(|offset| response_at(&members, target, offset));
            let all = (0..).map(|n| phase + n * members[target].period);
            let found = all.take_while(|offset| *offset < 24);
            let found = found.map(|offset| response_at(&members, target, offset));
            assert_eq!(found.max(), responses.clone().max());
            assert_eq!(Some(worst.response), responses.max());
        }
    }
}
