//! The bounds on responses and starts against every schedule of small harts, and spare capacity against a search.

#[path = "../../policy/tests/simulator/mod.rs"]
mod simulator;
mod tasks;

use simulator::{Hart, explore};
use tactus_abi::blob::Overheads;
use tactus_planning::analysis::{self, Ranked};
use tactus_policy::demand::{Verdict, held};
use tactus_policy::reservation::Kind::{self, Periodic, Server};
use tactus_policy::reservation::Task;
use tasks::{NONE, all, task};

/// What is looked for in all schedules.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    /// The end of a budget.
    Response,
    /// Its first tick.
    Start,
}

/// The longest responses in all schedules, or the latest starts.
fn explored(tasks: &[Task], overheads: Overheads, fixed_priority: bool, of: Of) -> Vec<u64> {
    let mut hart = Hart::new(overheads);
    hart.fixed_priority = fixed_priority;
    hart.starts = of == Of::Start;
    for (name, task) in tasks.iter().enumerate() {
        hart.add(name, task.reservation, task.kind);
        // The first task is the most urgent.
        hart.vcpus[name].priority = (tasks.len() - name) as u64;
    }
    let (miss, responses) = explore(&hart);
    assert_eq!(miss, None, "{tasks:?}");
    responses
}

fn pairs(period: u64, kinds: &[Kind]) -> Vec<[Task; 2]> {
    let all: Vec<_> = kinds.iter().flat_map(|kind| all(period, *kind)).collect();
    let second = |a: &Task| all.iter().map(|b| [*a, *b]).collect::<Vec<_>>();
    all.iter().flat_map(second).collect()
}

const SOME: [Overheads; 6] = [
    Overheads { job: 1, ..NONE },
    Overheads {
        blocking: 2,
        ..NONE
    },
    Overheads {
        service_period: 3,
        service: 1,
        ..NONE
    },
    Overheads {
        job: 1,
        blocking: 1,
        service_period: 5,
        service: 1,
        release: 0,
    },
    Overheads {
        job: 1,
        release: 1,
        ..NONE
    },
    Overheads {
        job: 1,
        blocking: 1,
        service_period: 5,
        service: 1,
        release: 1,
    },
];

/// Checks all sets that fit; with `exact`, a schedule must reach each bound.
fn check_deadlines(sets: &[impl AsRef<[Task]>], overheads: Overheads, exact: bool) -> usize {
    check_deadlines_of(Of::Response, sets, overheads, exact)
}

fn check_deadlines_of(
    of: Of,
    sets: &[impl AsRef<[Task]>],
    overheads: Overheads,
    exact: bool,
) -> usize {
    let bounded = match of {
        Of::Response => analysis::earliest_deadline_response,
        Of::Start => analysis::earliest_deadline_start,
    };
    let mut fits = 0;
    for tasks in sets.iter().map(AsRef::as_ref) {
        if analysis::verdict(tasks.iter().copied(), &overheads) != Verdict::Fits {
            continue;
        }
        fits += 1;
        let responses = explored(tasks, overheads, false, of);
        for (which, response) in responses[..tasks.len()].iter().enumerate() {
            let bound = bounded(tasks, which, &overheads);
            let bound = bound.expect("there is such a task");
            assert!(
                *response <= bound.ticks,
                "{tasks:?} {overheads:?} {which}: {response} {bound:?}"
            );
            assert!(
                !exact || (bound.found && *response == bound.ticks),
                "{tasks:?} {which}: {response} {bound:?}"
            );
        }
    }
    fits
}

#[test]
fn responses_by_deadline_of_periodic_tasks_are_exact() {
    assert!(check_deadlines(&pairs(5, &[Periodic]), NONE, true) > 20);
    let all = all(4, Periodic);
    let triples: Vec<_> = pairs(4, &[Periodic])
        .iter()
        .flat_map(|[a, b]| all.iter().map(move |c| [*a, *b, *c]))
        .collect();
    assert!(check_deadlines(&triples, NONE, true) > 20);
}

#[test]
fn responses_by_deadline_are_bounds() {
    assert!(check_deadlines(&pairs(5, &[Periodic, Server]), NONE, false) > 20);
    let fits =
        SOME.map(|overheads| check_deadlines(&pairs(5, &[Periodic, Server]), overheads, false));
    assert!(fits.iter().sum::<usize>() > 100, "{fits:?}");
}

fn check_priorities(sets: &[impl AsRef<[Task]>], overheads: Overheads, exact: bool) -> usize {
    check_priorities_of(Of::Response, sets, overheads, exact)
}

fn check_priorities_of(
    of: Of,
    sets: &[impl AsRef<[Task]>],
    overheads: Overheads,
    exact: bool,
) -> usize {
    let bounded = match of {
        Of::Response => analysis::fixed_priority_response,
        Of::Start => analysis::fixed_priority_start,
    };
    let mut fits = 0;
    for tasks in sets.iter().map(AsRef::as_ref) {
        let ranked: Vec<_> = (0..)
            .zip(tasks)
            .map(|(i, task)| Ranked::new(100 - i, Some(*task)))
            .collect();
        let bounds: Vec<_> = (0..tasks.len())
            .map(|which| bounded(&ranked, which, &overheads))
            .collect();
        let fit = |which| {
            let response = analysis::fixed_priority_response(&ranked, which, &overheads);
            let in_time = analysis::fixed_priority_is_in_time(&ranked, which, &overheads);
            assert_eq!(
                response.is_some(),
                in_time,
                "{tasks:?} {overheads:?} {which}"
            );
            in_time
        };
        if !(0..tasks.len()).all(fit) {
            continue;
        }
        fits += 1;
        let responses = explored(tasks, overheads, true, of);
        for (which, (response, bound)) in responses.iter().zip(&bounds).enumerate() {
            let bound = bound.expect("all have one").ticks;
            assert!(
                *response <= bound,
                "{tasks:?} {overheads:?} {which}: {response} {bound}"
            );
            assert!(
                !exact || *response == bound,
                "{tasks:?} {which}: {response} {bound}"
            );
        }
    }
    fits
}

#[test]
fn responses_by_priority_of_periodic_tasks_are_exact() {
    assert!(check_priorities(&pairs(6, &[Periodic]), NONE, true) > 20);
}

#[test]
fn responses_by_priority_are_bounds() {
    assert!(check_priorities(&pairs(5, &[Periodic, Server]), NONE, false) > 20);
    let fits =
        SOME.map(|overheads| check_priorities(&pairs(5, &[Periodic, Server]), overheads, false));
    assert!(fits.iter().sum::<usize>() > 100, "{fits:?}");
}

#[test]
fn starts_are_bounds_and_exact_of_periodic_tasks() {
    assert!(check_deadlines_of(Of::Start, &pairs(5, &[Periodic]), NONE, true) > 20);
    assert!(check_priorities_of(Of::Start, &pairs(6, &[Periodic]), NONE, true) > 20);
    let sets = pairs(5, &[Periodic, Server]);
    let mut fits = 0;
    for overheads in [NONE].iter().chain(&SOME) {
        fits += check_deadlines_of(Of::Start, &sets, *overheads, false);
        fits += check_priorities_of(Of::Start, &sets, *overheads, false);
    }
    assert!(fits > 200, "{fits}");
}

/// A server whose period restarts at a wake-up is released at worse times than one that keeps its budget to the
/// period's end.
#[test]
fn servers_before_others_by_priority() {
    let servers: Vec<_> = all(7, Server)
        .into_iter()
        .filter(|t| t.reservation.deadline == t.reservation.period)
        .collect();
    let low: Vec<_> = [9, 12, 15]
        .iter()
        .flat_map(|t| (1..=*t / 2).map(|c| task((*t, c, *t), Periodic)))
        .collect();
    let mut sets = Vec::new();
    for a in &servers {
        for b in &servers {
            sets.extend(low.iter().map(|c| [*a, *b, *c]));
        }
    }
    let sets: Vec<_> = sets.into_iter().step_by(11).collect();
    assert!(check_priorities(&sets, NONE, false) > 20);
}

/// The last jobs of several servers cannot all end at the same time, which their common bound counts on.
#[test]
fn servers_with_any_deadlines_before_others_by_priority() {
    let low: Vec<_> = [11, 16]
        .iter()
        .flat_map(|t| (1..=*t / 2).map(|c| task((*t, c, *t), Periodic)))
        .collect();
    let servers = all(6, Server);
    let mut two = Vec::new();
    for a in &servers {
        for b in &servers {
            two.extend(low.iter().map(|c| [*a, *b, *c]));
        }
    }
    let two: Vec<_> = two.into_iter().step_by(89).collect();
    assert!(check_priorities(&two, NONE, false) > 20);
    assert!(check_priorities_of(Of::Start, &two, NONE, false) > 20);
    let servers = [(5, 1, 5), (6, 1, 4), (7, 1, 7), (8, 2, 8)].map(|t| task(t, Server));
    let mut three = Vec::new();
    for a in servers {
        for b in servers {
            for c in servers {
                three.push([a, b, c, task((20, 2, 20), Periodic)]);
            }
        }
    }
    let three: Vec<_> = three.into_iter().step_by(5).collect();
    assert!(check_priorities(&three, NONE, false) > 5);
    assert!(check_priorities_of(Of::Start, &three, NONE, false) > 5);
}

#[test]
fn a_vcpu_without_reservation_leaves_no_bound_below_it() {
    let ranked = Ranked::new;
    let task = task((10, 2, 10), Periodic);
    let vcpus = [
        ranked(3, Some(task)),
        ranked(2, None),
        ranked(1, Some(task)),
    ];
    let bound = |which| analysis::fixed_priority_response(&vcpus, which, &NONE);
    assert_eq!(bound(0).map(|b| b.ticks), Some(2));
    assert_eq!((bound(1), bound(2)), (None, None));
}

/// The computed spare capacity equals the result of a search.
#[test]
fn slack_and_cures_are_what_trying_finds() {
    let overheads = [NONE, SOME[1], SOME[2]];
    let tasks = pairs(6, &[Periodic]);
    for (tasks, overheads) in tasks.iter().step_by(3).zip(overheads.iter().cycle()) {
        let fits =
            |tasks: &[Task]| analysis::verdict(tasks.iter().copied(), overheads) == Verdict::Fits;
        let hypervisor = |length: u64| {
            let times = length.checked_div(overheads.service_period);
            held(overheads, tasks.len()) + times.map_or(0, |n| (n + 1) * overheads.service)
        };
        let left = |length: u64| {
            let due = tasks.iter().map(|t| t.reservation.demand(t.kind, length));
            length.checked_sub(hypervisor(length) + due.sum::<u64>())
        };
        let shortest = tasks[0]
            .reservation
            .deadline
            .min(tasks[1].reservation.deadline);
        // Two hyperperiods. The slack is time that can be spent once, not in each period.
        let slack = (shortest..=200).map(left).min().expect("lengths");
        let whole = analysis::utilisation(tasks, overheads) > 1 << 32;
        assert_eq!(
            analysis::slack(tasks, overheads),
            slack.filter(|_| !whole),
            "{tasks:?} {overheads:?}"
        );

        let [first, second] = *tasks;
        let with = |period, budget, deadline| {
            let times = deadline <= period && budget <= deadline;
            times && fits(&[first, task((period, budget, deadline), Periodic)])
        };
        let r = second.reservation;
        let budget = (1..=r.deadline)
            .rev()
            .find(|c| with(r.period, *c, r.deadline));
        assert_eq!(
            analysis::largest_budget(&[first], &second, overheads),
            budget,
            "{tasks:?}"
        );
        let implicit = r.period == r.deadline;
        let period = (1..=500).find(|t| with(*t, r.budget, if implicit { *t } else { r.deadline }));
        if let Some(period) = period {
            let shortest = analysis::shortest_period(&[first], &second, overheads);
            assert_eq!(shortest, Some(period), "{tasks:?} {overheads:?}");
        }
        if fits(tasks) {
            let spare = budget.map(|c| c - r.budget);
            assert_eq!(
                analysis::spare_budget(tasks, 1, overheads),
                spare,
                "{tasks:?}"
            );
        }
    }
}
