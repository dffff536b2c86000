//! Random systems under random releases, each checked after each event ([`Violation`]): the campaign `scheduler`.
//!
//! [`exploration`](crate::exploration) goes through all that can happen in a few systems; here any system of as many
//! vCPUs is drawn, and one course of events through it. The seeds are the same each time; set `SCHEDULER_SEEDS` to a
//! range (`0..1000000`) for others.

use crate::model::{Event, Model, State, System, VCPUS, Vcpu, Violation, best_effort, real_time};
use crate::rules::{Rules, Unchanged, mutants};
use std::ops::Range;

/// Seeds that are tried where nothing is said.
const SEEDS: Range<u64> = 0..2_000;
/// Events of a course.
const EVENTS: usize = 500;

/// Pseudo-random numbers (Vigna's splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % limit as u64) as usize
    }

    fn vcpu(&mut self, by_deadline: bool) -> Vcpu {
        let priority = self.below(4) as u8;
        if self.below(2) == 0 {
            return best_effort(priority, 1 + self.below(3) as u8);
        }
        // Real-time vCPUs that run by deadline have no priorities, and each has a budget.
        let priority = if by_deadline { 0 } else { priority };
        real_time(priority, self.below(2), by_deadline || self.below(2) == 0)
    }

    fn system(&mut self) -> System {
        let by_deadline = self.below(2) == 0;
        let vcpus = (0..2 + self.below(VCPUS - 1)).map(|_| self.vcpu(by_deadline));
        System {
            vcpus: vcpus.collect(),
            by_deadline,
        }
    }
}

/// What has gone wrong in a system, and after which events.
struct Found {
    system: System,
    violation: Violation,
    events: Vec<Event>,
}

/// Lets random events happen in the system of a seed.
fn course<R: Rules>(rules: &R, seed: u64) -> Option<Found> {
    let mut random = Random(seed.rotate_left(32));
    let system = random.system();
    let mut model = Model {
        system: &system,
        rules,
        state: State::new(&system),
        violation: None,
    };
    let mut events = Vec::new();
    for _ in 0..EVENTS {
        let possible = model.events();
        if possible.is_empty() {
            break;
        }
        let event = possible[random.below(possible.len())];
        events.push(event);
        model.apply(event);
        if let Some(violation) = model.check() {
            return Some(Found {
                violation,
                events,
                system: system.clone(),
            });
        }
    }
    None
}

#[test]
fn random_releases_keep_all_rules() {
    let given = std::env::var("SCHEDULER_SEEDS").ok();
    let given = given.as_ref().map(|text| {
        let (from, to) = text.split_once("..").expect("a range such as 0..1000");
        let number = |text: &str| text.parse::<u64>().expect("a whole number");
        number(from)..number(to)
    });
    for seed in given.unwrap_or(SEEDS) {
        if let Some(found) = course(&Unchanged, seed) {
            println!("{:?} after", found.violation);
            for event in &found.events {
                println!("    {event:?}");
            }
            panic!("SCHEDULER_SEEDS={seed}..{}: {:?}", seed + 1, found.system);
        }
    }
}

/// A wrong rule shows within the seeds that are tried each time.
#[test]
fn random_releases_find_wrong_rules() {
    fn is_found<R: Rules>(rules: &R, expected: Violation) -> bool {
        SEEDS
            .filter_map(|seed| course(rules, seed))
            .any(|found| found.violation == expected)
    }
    assert!(is_found(&mutants::OrderReversed, Violation::RealTimeWaits));
    assert!(is_found(
        &mutants::DeadlineIgnored,
        Violation::RealTimeWaits
    ));
    assert!(is_found(&mutants::NeverPreempts, Violation::RealTimeWaits));
    assert!(is_found(
        &mutants::BudgetIgnored,
        Violation::RunsWithoutBudget
    ));
    assert!(is_found(
        &mutants::WaitIgnored,
        Violation::RunsWithoutWakeup
    ));
    assert!(is_found(
        &mutants::NeverReschedules,
        Violation::PriorityInverted
    ));
    assert!(is_found(&mutants::IdleDecline, Violation::IdleBesideQueued));
}
