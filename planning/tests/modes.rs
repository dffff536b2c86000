//! Bounds on responses of harts with modes, against schedules: none is longer, whichever jobs overrun.

use proptest::prelude::*;
use tactus_abi::blob::Overheads;
use tactus_planning::analysis::{self, Criticality, Ranked};
use tactus_policy::reservation::{Kind, Reservation, Task};

const NONE: Overheads = Overheads {
    job: 0,
    blocking: 0,
    service_period: 0,
    service: 0,
    release: 0,
};
/// Ticks that a schedule is followed.
const HORIZON: u64 = 400;

/// A periodic vCPU; the first of several is the most urgent.
#[derive(Clone, Copy, Debug)]
struct Vcpu {
    period: u64,
    budget: u64,
    deadline: u64,
    criticality: Criticality,
}

impl Vcpu {
    fn ranked(&self, place: usize) -> Ranked {
        let reservation = Reservation::new(self.period, self.budget, self.deadline);
        Ranked {
            priority: 200 - place as u8,
            task: reservation.map(|reservation| Task {
                reservation,
                kind: Kind::Periodic,
            }),
            criticality: self.criticality,
        }
    }
}

/// A job that is not done.
#[derive(Clone, Copy, Debug)]
struct Job {
    release: u64,
    executed: u64,
    /// What it needs, if it may have it.
    needs: u64,
}

/// The longest response of each vCPU, tick by tick: jobs come no more often than the period, after `waits[n]` ticks
/// more, and each n-th overruns its budget as `overruns` says. Of a vCPU of low criticality jobs that are dropped do
/// not count.
fn schedule(vcpus: &[Vcpu], waits: &[u64], overruns: &[bool]) -> Vec<u64> {
    let mut jobs: Vec<Option<Job>> = vec![None; vcpus.len()];
    let mut next: Vec<u64> = (0..vcpus.len()).map(|i| waits[i % waits.len()]).collect();
    let mut longest = vec![0; vcpus.len()];
    let (mut released, mut high_mode) = (0, false);
    for now in 0..HORIZON {
        for (i, vcpu) in vcpus.iter().enumerate() {
            if next[i] > now {
                continue;
            }
            let overruns = overruns[released % overruns.len()];
            let needs = match vcpu.criticality {
                Criticality::High { budget: Some(high) } if overruns => high,
                _ => vcpu.budget,
            };
            assert!(
                jobs[i].is_none(),
                "{vcpus:?}: a job is not done by the next release"
            );
            jobs[i] = Some(Job {
                release: now,
                executed: 0,
                needs,
            });
            next[i] = now + vcpu.period + waits[(released + i) % waits.len()];
            released += 1;
        }
        for (job, vcpu) in jobs.iter_mut().zip(vcpus) {
            if high_mode && vcpu.criticality == Criticality::Low {
                *job = None;
            }
        }
        let Some(first) = jobs.iter().position(Option::is_some) else {
            high_mode = false;
            continue;
        };
        let Some(job) = &mut jobs[first] else {
            continue;
        };
        job.executed += 1;
        if job.executed == job.needs {
            longest[first] = longest[first].max(now + 1 - job.release);
            jobs[first] = None;
        } else if job.executed == vcpus[first].budget {
            high_mode = true;
        }
    }
    longest
}

fn vcpu() -> impl Strategy<Value = Vcpu> {
    (4_u64..24, 1_u64..6, 0_u64..4, 0_u64..6).prop_flat_map(|(period, budget, kind, more)| {
        let budget = budget.min(period);
        (budget..=period).prop_map(move |deadline| {
            let high = (budget + more).min(deadline);
            let criticality = match kind {
                0 | 1 => Criticality::Low,
                2 => Criticality::NONE,
                _ => Criticality::High {
                    budget: (high > budget).then_some(high),
                },
            };
            Vcpu {
                period,
                budget,
                deadline,
                criticality,
            }
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn no_response_is_longer_than_its_bound(
        vcpus in prop::collection::vec(vcpu(), 2..5),
        waits in prop::collection::vec(prop_oneof![3 => Just(0_u64), 1 => 0_u64..9], 1..7),
        overruns in prop::collection::vec(any::<bool>(), 1..9),
    ) {
        let ranked: Vec<Ranked> = vcpus.iter().enumerate().map(|(i, v)| v.ranked(i)).collect();
        for which in 0..vcpus.len() {
            prop_assert_eq!(
                analysis::fixed_priority_is_in_time(&ranked, which, &NONE),
                analysis::fixed_priority_response(&ranked, which, &NONE).is_some()
            );
        }
        let bounds: Option<Vec<u64>> = (0..vcpus.len())
            .map(|which| Some(analysis::fixed_priority_response(&ranked, which, &NONE)?.ticks))
            .collect();
        let Some(bounds) = bounds else { return Ok(()) };
        let longest = schedule(&vcpus, &waits, &overruns);
        for (longest, bound) in longest.iter().zip(&bounds) {
            prop_assert!(longest <= bound, "{longest:?} {bounds:?}");
        }
    }

    /// Modes only take from those of low criticality: a hart on which all may always need the larger budget has longer
    /// bounds.
    #[test]
    fn modes_admit_more_than_the_larger_budgets(vcpus in prop::collection::vec(vcpu(), 2..5)) {
        let ranked: Vec<Ranked> = vcpus.iter().enumerate().map(|(i, v)| v.ranked(i)).collect();
        let always: Vec<Ranked> = ranked
            .iter()
            .map(|one| Ranked { task: one.most(&NONE), criticality: Criticality::NONE, ..*one })
            .collect();
        for which in 0..ranked.len() {
            let bound = |all: &[Ranked]| Some(analysis::fixed_priority_response(all, which, &NONE)?.ticks);
            if let Some(longest) = bound(&always) {
                prop_assert!(bound(&ranked).is_some_and(|shorter| shorter <= longest));
            }
        }
    }
}

/// By hand: a job of 2 that may need 5, below one of low criticality of 3 in 8.
#[test]
fn a_bound_is_that_of_amc() {
    let vcpus = [
        Vcpu {
            period: 8,
            budget: 3,
            deadline: 8,
            criticality: Criticality::Low,
        },
        Vcpu {
            period: 20,
            budget: 2,
            deadline: 12,
            criticality: Criticality::High { budget: Some(7) },
        },
    ];
    let ranked: Vec<Ranked> = vcpus.iter().enumerate().map(|(i, v)| v.ranked(i)).collect();
    let within = |bound: Option<analysis::Response>| bound.map(|bound| bound.ticks);
    assert_eq!(
        within(analysis::fixed_priority_response(&ranked, 0, &NONE)),
        Some(3)
    );
    // In the low mode 3 + 2; then 5 more, with nothing of the other.
    assert_eq!(
        within(analysis::low_mode_response(&ranked, 1, &NONE)),
        Some(5)
    );
    assert_eq!(
        within(analysis::fixed_priority_response(&ranked, 1, &NONE)),
        Some(10)
    );
    // It is reached.
    assert_eq!(schedule(&vcpus, &[0], &[true])[1], 10);
    let overheads = Overheads { job: 1, ..NONE };
    // Low: 4 + 3. High: 7 and two overheads of its own, 4 before the change, and one for each job that is dropped: one
    // that may be there, and two.
    assert_eq!(
        within(analysis::fixed_priority_response(&ranked, 1, &overheads)),
        None
    );
    let roomy = [
        ranked[0],
        Ranked {
            task: ranked[1].task.map(|mut task| {
                task.reservation.deadline = 20;
                task
            }),
            ..ranked[1]
        },
    ];
    assert_eq!(
        within(analysis::fixed_priority_response(&roomy, 1, &overheads)),
        Some(16)
    );
}
