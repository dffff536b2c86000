//! The latest that each job of a run can have ended, by the policy, the releases and the times of execution that were
//! seen, and the most that the hypervisor may take.

/// A job that was seen. All times in cycles.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// When it was released, at the earliest and at the latest.
    pub released: [u64; 2],
    /// Cycles that it takes of the hart at most.
    pub cost: u64,
    /// Less comes first: of a job that is due first, when it is due if it was released at the earliest; or the place
    /// among the priorities.
    pub urgency: u64,
    /// The same if it was released at the latest.
    pub urgency_late: u64,
}

/// What the hypervisor takes, in cycles.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// Before it looks who is next.
    pub blocking: u64,
    /// For others in each `service_period`.
    pub service: u64,
    /// From one such service to the next at least; 0: there is none.
    pub service_period: u64,
}

impl Taken {
    fn in_a_time(&self, length: u64) -> u64 {
        let services = length.checked_div(self.service_period);
        self.blocking + services.map_or(0, |number| (number + 1) * self.service)
    }
}

/// The latest end of each job of a hart. `jobs` are in the order of their earliest releases. `idle`: times at which the
/// hart had nothing to do that is among the jobs, ascending.
///
/// While a job waits, the hart has been busy with work that is no less urgent since some release among these. From each
/// that it can have been, all such work is added up, until it is done.
pub fn ends(jobs: &[Work], idle: &[u64], taken: Taken) -> Vec<u64> {
    let longest = jobs.iter().map(|job| job.released[1] - job.released[0]);
    let longest = longest.max().unwrap_or(0);
    let of = |job: &Work| {
        let before = idle.partition_point(|time| *time <= job.released[0]);
        let since = before.checked_sub(1).map_or(0, |last| idle[last]);
        // The release at which the hart becomes busy may have waited for the hypervisor.
        let since = since.saturating_sub(taken.blocking + taken.service + longest);
        let from = jobs.partition_point(|other| other.released[0] < since);
        let urgent: Vec<&Work> = jobs[from..]
            .iter()
            .filter(|other| other.urgency <= job.urgency_late)
            .collect();
        let begins = urgent
            .iter()
            .map(|other| other.released[0])
            .take_while(|release| *release <= job.released[0]);
        let ends = begins.map(|begin| end_from(begin, &urgent, taken));
        ends.max().unwrap_or(job.released[1]) + (job.released[1] - job.released[0])
    };
    jobs.iter().map(of).collect()
}

/// When all of these jobs that come by then are done, if the hart begins with them.
fn end_from(begin: u64, jobs: &[&Work], taken: Taken) -> u64 {
    let mut end = begin;
    loop {
        let in_time = |job: &&&Work| job.released[1] >= begin && job.released[0] <= end;
        let costs: u64 = jobs.iter().filter(in_time).map(|job| job.cost).sum();
        let next = begin + costs + taken.in_a_time(end - begin);
        if next <= end {
            return end;
        }
        end = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Taken = Taken {
        blocking: 0,
        service: 0,
        service_period: 0,
    };

    fn work(release: u64, cost: u64, due: u64) -> Work {
        Work {
            released: [release; 2],
            cost,
            urgency: due,
            urgency_late: due,
        }
    }

    #[test]
    fn a_job_waits_for_more_urgent_ones_only() {
        let jobs = [work(0, 10, 50), work(4, 3, 20), work(5, 7, 90)];
        assert_eq!(ends(&jobs, &[0], NOTHING), [13, 7, 20]);
    }

    #[test]
    fn what_was_done_before_the_hart_was_idle_does_not_count() {
        let jobs = [work(0, 10, 50), work(11, 3, 60)];
        assert_eq!(ends(&jobs, &[0, 11], NOTHING), [10, 14]);
    }

    #[test]
    fn the_hypervisor_takes_its_time() {
        let taken = Taken {
            blocking: 5,
            service: 2,
            service_period: 10,
        };
        // 6 of its own, 5, and a service of 2 at the start, and one after 10.
        assert_eq!(ends(&[work(0, 6, 50)], &[0], taken), [15]);
    }
}
