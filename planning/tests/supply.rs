//! The supply bound against every schedule of small harts, and response times within a VM against simulated ones.

#[path = "../../policy/tests/simulator/mod.rs"]
mod simulator;
mod tasks;

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;
use simulator::{Choice, Hart, Mode, Random, reservation};
use tactus_abi::blob::Overheads;
use tactus_planning::analysis::{self, Ranked};
use tactus_planning::supply::{Completion, GuestTask, Supply, completion};
use tactus_policy::demand::Verdict;
use tactus_policy::reservation::Kind::{self, Periodic, Server};
use tactus_policy::reservation::Task;
use tasks::{NONE, all};

/// A hart, and how often its first vCPU has been woken and charged for it since its job was released.
#[derive(Clone)]
struct State {
    hart: Hart,
    wake_ups: u64,
}

impl State {
    /// vCPUs that have not started. By priorities, the last one is the most urgent.
    fn new(tasks: &[Task], overheads: Overheads, by_priority: bool) -> Self {
        let mut hart = Hart::new(overheads);
        hart.fixed_priority = by_priority;
        for (name, task) in tasks.iter().enumerate() {
            hart.add(name, task.reservation, task.kind);
            hart.vcpus[name].priority = name as u64;
        }
        Self { hart, wake_ups: 0 }
    }

    fn key(&self) -> (Vec<u8>, u64) {
        (self.hart.key(), self.wake_ups)
    }

    /// The state after a tick, and what the first vCPU has executed in it. `None`: more wake-ups than there can be.
    fn after(&self, choice: Choice, most: u64) -> Option<(Self, u64)> {
        let mut next = self.clone();
        let before = &self.hart.vcpus[0];
        let woken = self.hart.vcpus[0].mode == Mode::Waiting && choice.begin & 1 != 0;
        next.hart.tick(choice).expect("an accepted set");
        let own = &next.hart.vcpus[0];
        let executed = own.executed - before.executed;
        if own.account.release() != before.account.release() {
            next.wake_ups = 0;
        } else if woken {
            next.wake_ups += 1;
        }
        (next.wake_ups <= most).then_some((next, executed))
    }
}

/// The least that the first vCPU executes in all schedules, within each length up to `last`, while it has work. It is
/// woken up to `most` times in each job.
fn least_supply(begin: State, most: u64, last: usize) -> Vec<u64> {
    let mut known = HashSet::from([begin.key()]);
    let mut reached = vec![begin.clone()];
    let mut open = vec![begin];
    while let Some(state) = open.pop() {
        for choice in state.hart.choices() {
            let Some((next, _)) = state.after(choice, most) else {
                continue;
            };
            if known.insert(next.key()) {
                reached.push(next.clone());
                open.push(next);
            }
        }
    }
    // From each of them the vCPU has work; of two ways to a state, the one that executes less.
    let mut frontier: HashMap<Vec<u8>, (State, u64)> = HashMap::new();
    let mut least = vec![0];
    let started = |state: &State| state.hart.vcpus[0].mode != Mode::NotStarted;
    let mut sources: Vec<(State, u64)> = reached.into_iter().map(|state| (state, 0)).collect();
    sources.retain(|(state, _)| started(state));
    for _ in 0..last {
        for (state, executed) in sources {
            for choice in state.hart.choices() {
                let waits = state.hart.vcpus[0].mode == Mode::Waiting;
                if waits && choice.begin & 1 == 0 {
                    continue;
                }
                let Some((mut next, more)) = state.after(choice, most) else {
                    continue;
                };
                if choice.wait && next.hart.running == Some(0) {
                    continue;
                }
                next.wake_ups = 0;
                let entry = frontier.entry(next.hart.key());
                let entry = entry.or_insert_with(|| (next, u64::MAX));
                entry.1 = entry.1.min(executed + more);
            }
        }
        sources = frontier.drain().map(|(_, entry)| entry).collect();
        let executed = sources.iter().map(|(_, executed)| *executed);
        least.push(executed.min().expect("a schedule"));
    }
    least
}

/// Guest tasks that are activated `number` times within any budget.
fn activations(number: u64) -> Vec<GuestTask> {
    let once = GuestTask {
        period: 1 << 20,
        wcet: 1,
        deadline: 1 << 20,
        jitter: 0,
        priority: 0,
    };
    vec![once; number as usize]
}

/// When the first of a set on a hart that goes by deadlines has its budget; `None`: they do not fit.
fn by_deadline(tasks: &[Task], overheads: &Overheads) -> Option<u64> {
    let fits = analysis::verdict(tasks.iter().copied(), overheads) == Verdict::Fits;
    let response = analysis::earliest_deadline_response(tasks, 0, overheads)?;
    fits.then_some(response.ticks)
}

/// The same on a hart that goes by priorities.
fn by_priority(tasks: &[Task], overheads: &Overheads) -> Option<u64> {
    let ranked = (0..).zip(tasks);
    let ranked = ranked.map(|(priority, &task)| Ranked::new(priority, Some(task)));
    let ranked: Vec<Ranked> = ranked.collect();
    let response = |which| analysis::fixed_priority_response(&ranked, which, overheads);
    let all: Option<Vec<_>> = (0..tasks.len()).map(response).collect();
    Some(all?[0].ticks)
}

/// Checks the supply of the first of each set that fits. Gives how many those are, and how many reach the bound
/// everywhere, but for a tick.
fn check_supply(
    sets: &[Vec<Task>],
    overheads: Overheads,
    wake_ups: u64,
    within: impl Fn(&[Task], &Overheads) -> Option<u64>,
    by_priority: bool,
) -> (usize, usize) {
    let (mut fits, mut reached) = (0, 0);
    for tasks in sets {
        let Some(within) = within(tasks, &overheads) else {
            continue;
        };
        fits += 1;
        let own = tasks[0];
        let guests = activations(wake_ups);
        let supply = Supply::new(
            own.reservation,
            own.kind,
            within,
            &guests,
            &overheads,
            overheads.blocking,
        );
        let last = 3 * own.reservation.period + 1;
        let begin = State::new(tasks, overheads, by_priority);
        let least = least_supply(begin, wake_ups, last as usize);
        let bounds: Vec<u64> = (0..=last).map(|length| supply.bound(length)).collect();
        for (length, (least, bound)) in least.iter().zip(&bounds).enumerate() {
            assert!(
                bound <= least,
                "{tasks:?} {overheads:?}, {wake_ups} wake-ups, within {length}: {least}, bound {bound}"
            );
        }
        // In this simulation a vCPU runs for a tick before it waits.
        let later = |length: usize| supply.bound(length as u64 + 1);
        reached += usize::from(
            (0..)
                .zip(&least)
                .all(|(length, least)| *least <= later(length)),
        );
    }
    (fits, reached)
}

fn check_deadlines(sets: &[Vec<Task>], overheads: Overheads, wake_ups: u64) -> (usize, usize) {
    check_supply(sets, overheads, wake_ups, by_deadline, false)
}

fn check_priorities(sets: &[Vec<Task>], overheads: Overheads, wake_ups: u64) -> (usize, usize) {
    check_supply(sets, overheads, wake_ups, by_priority, true)
}

fn sets(period: u64, own: Kind, others: &[Kind]) -> Vec<Vec<Task>> {
    let others: Vec<Task> = others.iter().flat_map(|kind| all(period, *kind)).collect();
    let second = |own: Task| others.iter().map(move |other| vec![own, *other]);
    all(period, own).into_iter().flat_map(second).collect()
}

/// Alone, without overheads, the supply is the bound.
#[test]
fn the_supply_of_a_vcpu_alone_is_the_bound() {
    for (kind, wake_ups) in [(Periodic, 0), (Server, 0), (Server, 3)] {
        let alone: Vec<Vec<Task>> = all(5, kind).into_iter().map(|one| vec![one]).collect();
        let (fits, reached) = check_deadlines(&alone, NONE, wake_ups);
        assert!(
            fits > 20 && reached == fits,
            "{kind:?}: {reached} of {fits}"
        );
    }
}

#[test]
fn no_schedule_supplies_less_than_the_bound() {
    for own in [Periodic, Server] {
        let (fits, reached) = check_deadlines(&sets(5, own, &[Periodic, Server]), NONE, 2);
        assert!(fits > 20 && reached > 5, "{own:?}: {reached} of {fits}");
    }
}

#[test]
fn wake_ups_are_charged_to_the_supply() {
    let job = Overheads { job: 1, ..NONE };
    let mut reached = 0;
    for wake_ups in 0..=3 {
        let alone: Vec<Vec<Task>> = all(6, Server).into_iter().map(|one| vec![one]).collect();
        reached += check_deadlines(&alone, job, wake_ups).1;
        let (fits, _) = check_deadlines(&sets(4, Server, &[Periodic]), job, wake_ups);
        assert!(fits > 0);
    }
    assert!(reached > 20, "{reached}");
}

#[test]
fn blocking_and_services_are_in_the_supply() {
    let some = [
        Overheads {
            blocking: 1,
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
    ];
    for overheads in some {
        let alone: Vec<Vec<Task>> = all(6, Server).into_iter().map(|one| vec![one]).collect();
        let (fits, _) = check_deadlines(&alone, overheads, 2);
        assert!(fits > 3, "{fits}");
        check_deadlines(&sets(4, Server, &[Server]), overheads, 1);
    }
}

#[test]
fn by_priorities_no_schedule_supplies_less_than_the_bound() {
    let some = [
        NONE,
        Overheads { job: 1, ..NONE },
        Overheads {
            job: 1,
            blocking: 1,
            service_period: 6,
            service: 1,
            release: 0,
        },
    ];
    let mut fits = 0;
    for overheads in some {
        for own in [Periodic, Server] {
            let sets = sets(5, own, &[Periodic, Server]);
            fits += check_priorities(&sets, overheads, 2).0;
        }
    }
    assert!(fits > 100, "{fits}");
}

proptest! {
    /// The length is the inverse of the bound.
    #[test]
    fn a_length_is_the_least_with_so_much(
        (period, budget) in (1_u64..20).prop_flat_map(|period| (Just(period), 1..=period)),
        work in 0_u64..100,
    ) {
        let supply = Supply::new(reservation((period, budget, period)), Periodic, period, &[], &NONE, 0);
        let length = supply.length(work).expect("a length");
        prop_assert!(supply.bound(length) >= work);
        prop_assert!(length == 0 || supply.bound(length - 1) < work);
    }
}

/// When the processor is the guest's, tick by tick.
type Schedule = Vec<bool>;

/// The worst supply: nothing for [`Supply::begin`], then as late as allowed.
fn worst(supply: &Supply, last: u64) -> Schedule {
    let executed = |length| supply.bound(length);
    (0..last)
        .map(|tick| executed(tick + 1) > executed(tick))
        .collect()
}

/// The longest response of each task when jobs are activated at these times.
fn simulate(tasks: &[GuestTask], activations: &[Vec<u64>], schedule: &Schedule) -> Vec<u64> {
    // What is left of the jobs of each task, the first to come first: activation and work.
    let mut jobs: Vec<Vec<(u64, u64)>> = activations
        .iter()
        .zip(tasks)
        .map(|(times, task)| times.iter().map(|&time| (time, task.wcet)).collect())
        .collect();
    let mut longest = vec![0; tasks.len()];
    for (now, &mine) in (0..).zip(schedule) {
        if !mine {
            continue;
        }
        let ready =
            (0..tasks.len()).filter(|&one| jobs[one].first().is_some_and(|job| job.0 <= now));
        // Of equal ones, the last: the least favourable to the others.
        let Some(one) = ready.max_by_key(|&one| (tasks[one].priority, one)) else {
            continue;
        };
        jobs[one][0].1 -= 1;
        if jobs[one][0].1 == 0 {
            let (arrival, _) = jobs[one].remove(0);
            longest[one] = longest[one].max(now + 1 - arrival);
        }
    }
    // One that has not ended has taken until the end.
    for (longest, jobs) in longest.iter_mut().zip(&jobs) {
        if let Some((arrival, _)) = jobs.first() {
            *longest = (*longest).max((schedule.len() as u64).saturating_sub(*arrival));
        }
    }
    longest
}

fn any_task() -> impl Strategy<Value = GuestTask> {
    (2_u64..40, 0_u64..100, 0_u64..100, 0_u64..4, 0_u32..3).prop_map(
        |(period, deadline, wcet, jitter, priority)| {
            let deadline = 1 + deadline * (period - 1) / 99;
            GuestTask {
                period,
                wcet: (1 + wcet * deadline / 400).min(deadline),
                deadline,
                jitter: jitter * period / 4,
                priority,
            }
        },
    )
}

fn any_supply() -> impl Strategy<Value = (u64, u64, Supply)> {
    (1_u64..12, 1_u64..100, 0_u64..100).prop_map(|(period, budget, within)| {
        let budget = (budget * period).div_ceil(100);
        let within = budget + within * (period - budget) / 100;
        let times = reservation((period, budget, period));
        (
            period,
            budget,
            Supply::new(times, Periodic, within, &[], &NONE, 0),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// With the worst supply, and all tasks activated when it begins with as much jitter as they have, each response is
    /// reached; with any other, none is exceeded.
    #[test]
    fn responses_are_bounds_and_are_reached(
        tasks in prop::collection::vec(any_task(), 1..5),
        (period, budget, supply) in any_supply(),
        seed in 1_u64..,
    ) {
        const LAST: u64 = 1500;
        let results: Vec<Completion> = (0..tasks.len())
            .map(|which| completion(&tasks, which, &supply))
            .collect();
        let worst = worst(&supply, LAST);
        for (which, result) in results.iter().enumerate() {
            // Those of equal priority come first.
            let mut tasks = tasks.clone();
            tasks[which].priority *= 2;
            for (other, task) in tasks.iter_mut().enumerate() {
                if other != which {
                    task.priority = 2 * task.priority + 1;
                }
            }
            let at = |task: &GuestTask| {
                let grid = (0..LAST).map(|job| (job * task.period).saturating_sub(task.jitter));
                grid.take_while(|time| *time < LAST).collect::<Vec<u64>>()
            };
            let synchronous: Vec<Vec<u64>> = tasks.iter().map(at).collect();
            let responses = simulate(&tasks, &synchronous, &worst);
            match result {
                Completion::Within(bound) => prop_assert_eq!(responses[which], *bound),
                Completion::Late(bound) => prop_assert!(responses[which] >= *bound),
                Completion::Never => prop_assert!(responses[which] > tasks[which].deadline),
            }
        }
        // Any activations, and budgets that come at any time within the window.
        let mut random = Random(seed);
        let activations: Vec<Vec<u64>> = tasks
            .iter()
            .map(|task| {
                let mut grid = random.below(task.period);
                let mut times: Vec<u64> = Vec::new();
                while grid + task.jitter < LAST - 500 {
                    let time = grid + random.below(task.jitter + 1);
                    times.push(time.max(times.last().copied().unwrap_or(0)));
                    grid += task.period + if random.once_in(4) { random.below(9) } else { 0 };
                }
                times
            })
            .collect();
        let within = supply.begin() - period + budget;
        let mut schedule = vec![false; LAST as usize];
        let mut release = random.below(period);
        while release + within <= LAST {
            let mut left = budget;
            for tick in release..release + within {
                let must = release + within - tick <= left;
                if left > 0 && !schedule[tick as usize] && (must || random.once_in(2)) {
                    schedule[tick as usize] = true;
                    left -= 1;
                }
            }
            release += period;
        }
        let responses = simulate(&tasks, &activations, &schedule);
        for (which, result) in results.iter().enumerate() {
            if let Completion::Within(bound) = result {
                prop_assert!(responses[which] <= *bound, "{}: {} {}", which, responses[which], bound);
            }
        }
    }
}
