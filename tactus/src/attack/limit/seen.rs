//! The jobs of a set, as the board sees them: when each was released, when it ended, and for how long it executed.

use crate::run::board::jobs::{Stay, StayEnd};
use crate::run::board::probe::Hit;

use super::set::{Jobs, Subject};

/// A job. All times in cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// When it was released; of one that is woken, when the timer or the doorbell was due or rung.
    pub release: u64,
    /// When it first had the hart.
    pub begin: u64,
    /// When it ended. `None`: not by the end of the run.
    pub end: Option<u64>,
    /// For how long it has executed, its own calls included.
    pub executed: u64,
    /// That is all: in no call of its own was the hart given to another.
    pub is_whole: bool,
    /// Times that it went on after others had the hart.
    pub interruptions: u64,
    /// It was cut off, as its budget was used up.
    pub cut_off: bool,
}

/// What the hypervisor has counted, as the guest has told it last. Times in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// The latest release.
    pub late_max: u64,
    /// Releases that did not come.
    pub skipped: u64,
    /// Jobs that executed after their deadlines.
    pub missed: u64,
}

/// What was seen of a vCPU.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Its jobs, in their order.
    pub jobs: Vec<Job>,
    /// What was counted, where it tells.
    pub counted: Option<Counted>,
    /// The cycle of the release of the job in which that was told.
    pub counted_until: u64,
    /// Releases that the hypervisor has counted elsewhere than on the grid of the first.
    pub off_grid: u64,
}

impl Seen {
    /// The jobs in the stays of a vCPU, with what its guest told: its releases and what was counted. `cycles` are those
    /// of a tick.
    pub fn of(
        subject: &Subject,
        stays: &[Stay],
        released: &[Hit],
        counted: &[Hit],
        cycles: impl Fn(u64) -> u64,
    ) -> Self {
        let Some(first) = released.first().map(|hit| hit.arguments[0]) else {
            return Self::default();
        };
        let on_grid = |release: u64| release.wrapping_sub(first).is_multiple_of(subject.period);
        let counts = |hit: &Hit| Counted {
            late_max: hit.arguments[2],
            skipped: hit.arguments[3],
            missed: hit.arguments[4],
        };
        let told = counted.iter().map(|hit| hit.arguments[0]);
        let jobs = match subject.jobs {
            Jobs::Cut => {
                let release = |number| cycles(first + number * subject.period);
                let from = release(0);
                let own: Vec<Stay> = stays.iter().copied().filter(|s| s.to > from).collect();
                let all = own.split_inclusive(|stay| stay.end == StayEnd::CutOff);
                (0..)
                    .zip(all)
                    .map(|(number, stays)| Job::of(release(number), stays))
                    .collect()
            }
            _ => by_marks(stays, released, &cycles),
        };
        Self {
            jobs,
            counted: counted.last().map(counts),
            counted_until: counted.last().map_or(0, |hit| cycles(hit.arguments[0])),
            off_grid: if subject.jobs.are_woken() {
                0
            } else {
                told.filter(|release| !on_grid(*release)).count() as u64
            },
        }
    }
}

/// The jobs that end with a wait, and in each of which the guest tells its release.
fn by_marks(stays: &[Stay], released: &[Hit], cycles: impl Fn(u64) -> u64) -> Vec<Job> {
    let mut jobs = Vec::new();
    let mut hits = released.iter().peekable();
    for stays in stays.split_inclusive(|stay| stay.end == StayEnd::Waits) {
        let Some(last) = stays.last() else { continue };
        let mut own = None;
        while let Some(hit) = hits.next_if(|hit| hit.cycle < last.to) {
            // A later one is of a job that begins without a wait, as the last one was cut off.
            own.get_or_insert(hit.arguments[0]);
        }
        if let Some(release) = own {
            jobs.push(Job::of(cycles(release), stays));
        }
    }
    jobs
}

impl Job {
    /// The job that was released then and has these stays, of which there are some. One that is cut off is over then,
    /// though its guest goes on with it in its next.
    fn of(release: u64, stays: &[Stay]) -> Self {
        let cut = stays.iter().position(|stay| stay.end == StayEnd::CutOff);
        let own = cut.map_or(stays, |cut| &stays[..=cut]);
        let last = own.last();
        Self {
            release,
            begin: own.first().map_or(release, |stay| stay.from),
            end: last
                .filter(|stay| matches!(stay.end, StayEnd::Waits | StayEnd::CutOff))
                .map(|stay| stay.to),
            executed: own.iter().map(|stay| stay.to - stay.from).sum(),
            is_whole: own.iter().all(|stay| stay.end != StayEnd::Called),
            interruptions: own.windows(2).filter(|two| two[0].to < two[1].from).count() as u64,
            cut_off: cut.is_some(),
        }
    }

    /// Cycles from the release to the end.
    pub fn response(&self) -> Option<u64> {
        Some(self.end?.saturating_sub(self.release))
    }
}

#[cfg(test)]
mod tests {
    use tactus_policy::reservation::Kind;

    use super::*;

    fn subject(jobs: Jobs) -> Subject {
        Subject {
            period: 100,
            budget: 20,
            deadline: 80,
            kind: Kind::Server,
            jobs,
            phase: 0,
        }
    }

    fn stay(from: u64, to: u64, end: StayEnd) -> Stay {
        Stay { from, to, end }
    }

    fn hit(cycle: u64, arguments: [u64; 5]) -> Hit {
        let mut all = [0; 8];
        all[..5].copy_from_slice(&arguments);
        Hit {
            probe: 0,
            cycle,
            hart: 0,
            arguments: all,
        }
    }

    #[test]
    fn jobs_that_are_cut_off_are_released_on_the_grid() {
        let stays = [
            stay(10_020, 10_100, StayEnd::Interrupted),
            stay(10_300, 10_420, StayEnd::CutOff),
            stay(11_050, 11_250, StayEnd::CutOff),
            stay(12_020, 12_060, StayEnd::Interrupted),
        ];
        let released = [hit(10_050, [1_000, 0, 0, 0, 0])];
        let counted = [
            hit(11_060, [1_100, 2, 0, 0, 0]),
            hit(12_030, [1_201, 3, 1, 0, 0]),
        ];
        let seen = Seen::of(&subject(Jobs::Cut), &stays, &released, &counted, |ticks| {
            ticks * 10
        });
        let jobs: Vec<_> = seen
            .jobs
            .iter()
            .map(|job| (job.release, job.response(), job.executed))
            .collect();
        let wanted = [
            (10_000, Some(420), 200),
            (11_000, Some(250), 200),
            (12_000, None, 40),
        ];
        assert_eq!(jobs, wanted);
        assert_eq!(seen.jobs[0].interruptions, 1);
        assert_eq!(seen.off_grid, 1);
        assert_eq!(seen.counted.map(|counted| counted.late_max), Some(1));
    }

    #[test]
    fn jobs_that_wait_are_released_when_they_say() {
        let stays = [
            // It starts, and waits.
            stay(9_000, 9_100, StayEnd::Waits),
            stay(10_020, 10_200, StayEnd::Waits),
            // Woken for nothing.
            stay(10_500, 10_520, StayEnd::Waits),
            stay(11_020, 11_220, StayEnd::CutOff),
            stay(11_420, 11_440, StayEnd::Waits),
        ];
        let released = [
            hit(10_030, [1_000, 0, 0, 0, 0]),
            hit(11_030, [1_100, 0, 0, 0, 0]),
        ];
        let seen = Seen::of(&subject(Jobs::Ring), &stays, &released, &[], |ticks| {
            ticks * 10
        });
        let ends: Vec<_> = seen.jobs.iter().map(Job::response).collect();
        assert_eq!(ends, [Some(200), Some(220)]);
        assert!(seen.jobs[1].cut_off && !seen.jobs[0].cut_off);
    }
}
