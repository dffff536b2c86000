//! What is said of harts against what a tick-by-tick schedule does.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use tactus_abi::blob::Overheads;
use tactus_planning::analysis::Ranked;
use tactus_planning::best_effort;
use tactus_policy::admission::{Ledger, Request};
use tactus_policy::record::{Figure, Record};
use tactus_policy::reservation::{Account, Kind, Reservation, Task, Wake};

use super::load::{Deadlines, Fit, greatest, least};
use super::priority::{self, Answer};

const NONE: Overheads = Overheads {
    job: 0,
    blocking: 0,
    service_period: 0,
    service: 0,
    release: 0,
};

fn any_reservation() -> impl Strategy<Value = Reservation> {
    (4..40u64)
        .prop_flat_map(|period| (Just(period), 1..=period))
        .prop_flat_map(|(period, deadline)| {
            (Just(period), Just(deadline), 1..=deadline.div_ceil(3))
        })
        .prop_map(|(period, deadline, budget)| {
            Reservation::new(period, budget, deadline).expect("in order")
        })
}

fn any_task() -> impl Strategy<Value = Task> {
    let kind = prop_oneof![Just(Kind::Server), Just(Kind::Periodic)];
    (any_reservation(), kind).prop_map(|(reservation, kind)| Task { reservation, kind })
}

fn times(tasks: &[Task]) -> Vec<Reservation> {
    tasks.iter().map(|task| task.reservation).collect()
}

fn any_overheads() -> impl Strategy<Value = Overheads> {
    (0..2u64, 0..3u64, 0..2u64, 10..30u64).prop_map(|(job, blocking, service, period)| Overheads {
        job,
        blocking,
        service_period: period * service,
        service,
        release: 0,
    })
}

/// Who has a hart.
#[derive(Clone, Copy)]
struct Job {
    task: usize,
    release: u64,
    due: u64,
    left: u64,
}

/// What a schedule shows.
struct Seen {
    /// The longest response of each reservation.
    responses: Vec<u64>,
    /// The latest first tick of a budget, of each.
    starts: Vec<u64>,
    /// Ticks that are left to best effort.
    idle: Vec<u64>,
}

impl Seen {
    fn of(tasks: usize) -> Self {
        Self {
            responses: vec![0; tasks],
            starts: vec![0; tasks],
            idle: Vec::new(),
        }
    }

    /// The longest time without a tick for best effort, up to `length`.
    fn gap(&self, length: u64) -> u64 {
        let mut from = 0;
        let ends = self.idle.iter().chain([&length]);
        let gaps = ends.map(|&tick| tick - std::mem::replace(&mut from, tick + 1));
        gaps.max().unwrap_or(0)
    }

    /// The fewest ticks for best effort in a window.
    fn least(&self, window: u64, length: u64) -> u64 {
        let within = |from: u64| {
            let of = |tick: u64| self.idle.partition_point(|&idle| idle < tick);
            (of(from + window) - of(from)) as u64
        };
        (0..=length - window).map(within).min().unwrap_or(0)
    }
}

/// The longest response of each reservation's jobs, one released at its offset and then every period, on a hart that
/// does what the overheads say at its worst: it is blocked at first, and serves others as often as it may.
fn simulate(
    tasks: &[Reservation],
    offsets: &[u64],
    overheads: &Overheads,
    length: u64,
    first: impl Fn(&Job, &Job) -> bool,
) -> Seen {
    let mut seen = Seen::of(tasks.len());
    let mut jobs: Vec<Job> = Vec::new();
    let mut hypervisor = overheads.blocking;
    for now in 0..length {
        for (index, (task, offset)) in tasks.iter().zip(offsets).enumerate() {
            if now >= *offset && (now - offset).is_multiple_of(task.period) {
                jobs.push(Job {
                    task: index,
                    release: now,
                    due: now + task.deadline,
                    left: task.budget + overheads.job,
                });
            }
        }
        if overheads.service_period > 0 && now.is_multiple_of(overheads.service_period) {
            hypervisor += overheads.service;
        }
        if hypervisor > 0 {
            hypervisor -= 1;
            continue;
        }
        let mut next: Option<usize> = None;
        for (place, job) in jobs.iter().enumerate() {
            if next.is_none_or(|best| first(job, &jobs[best])) {
                next = Some(place);
            }
        }
        let Some(next) = next else {
            seen.idle.push(now);
            continue;
        };
        let job = &mut jobs[next];
        if job.left == tasks[job.task].budget {
            let start = &mut seen.starts[job.task];
            *start = (*start).max(now - job.release);
        }
        job.left -= 1;
        if job.left == 0 {
            let job = jobs.remove(next);
            seen.responses[job.task] = seen.responses[job.task].max(now + 1 - job.release);
        }
    }
    for job in jobs.iter().filter(|job| job.due < length) {
        seen.responses[job.task] = seen.responses[job.task].max(length - job.release);
    }
    seen
}

/// What a vCPU may need of a length, with what is taken for its jobs.
fn demand(task: &Task, overheads: &Overheads, length: u64) -> u64 {
    let whole = Reservation {
        budget: task.reservation.budget + overheads.job,
        ..task.reservation
    };
    whole.demand(task.kind, length)
}

/// Whether no length from the shortest deadline to `to` needs more than it has. Each server's part is rounded up by
/// less than a tick; `slack` says how much of that is forgiven.
fn fits_by_hand(tasks: &[Task], overheads: &Overheads, to: u64, slack: u64) -> bool {
    let from = times(tasks)
        .iter()
        .map(|one| one.deadline)
        .min()
        .unwrap_or(0);
    (from..to).all(|length| {
        let services = match overheads.service_period {
            0 => 0,
            period => length / period + 1,
        };
        let vcpus: u64 = tasks
            .iter()
            .map(|task| demand(task, overheads, length))
            .sum();
        overheads.blocking + services * overheads.service + vcpus <= length + slack
    })
}

proptest! {
    #[test]
    fn what_fits_has_no_window_that_does_not(
        tasks in prop::collection::vec(any_task(), 1..5),
        overheads in any_overheads(),
    ) {
        let hart = Deadlines::new(overheads, 0);
        let rounded = tasks.len() as u64 - 1;
        match hart.fit(&tasks) {
            Fit::Fits => {
                prop_assert!(fits_by_hand(&tasks, &overheads, 5_000, rounded));
                let window = hart.window(&tasks).expect("a window");
                prop_assert!(window.demand <= window.length + rounded);
            }
            Fit::Late => {
                prop_assert!(!fits_by_hand(&tasks, &overheads, 500_000, 0));
                let excess = hart.excess(&tasks).expect("a window");
                prop_assert!(excess.demand > excess.length);
            }
            Fit::Alone => prop_assert!(hart.window(&tasks).is_none()),
            _ => {}
        }
    }

    #[test]
    fn the_window_is_the_worst_of_all(
        tasks in prop::collection::vec(any_task(), 1..4),
        overheads in any_overheads(),
    ) {
        let hart = Deadlines::new(overheads, 0);
        if hart.fit(&tasks) != Fit::Fits {
            return Ok(());
        }
        let worst = hart.window(&tasks).expect("a window");
        let from = times(&tasks).iter().map(|one| one.deadline).min().expect("some");
        let load = |length: u64| {
            let vcpus: u64 = tasks.iter().map(|task| demand(task, &overheads, length)).sum();
            let services = length.checked_div(overheads.service_period).map_or(0, |n| n + 1);
            overheads.blocking + services * overheads.service + vcpus
        };
        prop_assert_eq!(load(worst.length), worst.demand);
        for length in from..2_000 {
            // Between two bends a server's part is rounded up by less than a tick.
            let needed = load(length).saturating_sub(tasks.len() as u64);
            prop_assert!(needed * worst.length <= worst.demand * length, "{length}");
        }
    }

    #[test]
    fn answers_are_never_later_than_said(
        tasks in prop::collection::vec(any_task(), 1..4),
        overheads in any_overheads(),
        offsets in prop::collection::vec(0..40u64, 4),
    ) {
        let hart = Deadlines::new(overheads, 0);
        if hart.fit(&tasks) != Fit::Fits {
            return Ok(());
        }
        let first = |one: &Job, other: &Job| one.due < other.due;
        for offsets in [&[0; 4], &offsets[..]] {
            let seen = simulate(&times(&tasks), offsets, &overheads, 3_000, first);
            for (one, task) in times(&tasks).iter().enumerate() {
                let said = hart.answer(&tasks, one);
                prop_assert!(said <= task.deadline);
                prop_assert!(seen.responses[one] <= said, "{} > {said} of {one}", seen.responses[one]);
                let start = hart.start(&tasks, one).expect("a bound");
                prop_assert!(start + task.budget <= said);
                prop_assert!(seen.starts[one] <= start, "{} > {start} of {one}", seen.starts[one]);
            }
            if let Some(gap) = best_effort::longest_gap(&tasks, &overheads) {
                prop_assert!(seen.gap(3_000) <= gap.min(3_000), "{} > {gap}", seen.gap(3_000));
            }
            for window in [7, 40, 200, 1_000] {
                let said = best_effort::least_supply(&tasks, &overheads, window);
                let least = seen.least(window, 3_000);
                prop_assert!(least >= said, "{least} < {said} of {window}");
            }
        }
    }

    #[test]
    fn guests_that_wait_have_their_budgets_as_said(
        tasks in prop::collection::vec(any_task(), 1..4),
        overheads in any_overheads(),
        pauses in prop::collection::vec((1..20u64, 0..30u64), 5..17),
    ) {
        let overheads = Overheads { job: 0, ..overheads };
        let hart = Deadlines::new(overheads, 0);
        if hart.fit(&tasks) != Fit::Fits {
            return Ok(());
        }
        let seen = simulate_guests(&tasks, &overheads, &pauses, 3_000);
        for (one, seen) in seen.iter().enumerate() {
            let said = hart.answer(&tasks, one);
            prop_assert!(*seen <= said, "{seen} > {said} of {one}");
        }
    }

    #[test]
    fn answers_by_priority_are_never_later_than_said(
        tasks in prop::collection::vec(any_task(), 1..4),
        overheads in any_overheads(),
        offsets in prop::collection::vec(0..40u64, 4),
    ) {
        let by_priority: Vec<Ranked> = tasks
            .iter()
            .enumerate()
            .map(|(index, task)| Ranked::new(9 - index as u8, Some(*task)))
            .collect();
        let first = |one: &Job, other: &Job| one.task < other.task;
        for offsets in [&[0; 4], &offsets[..]] {
            let seen = simulate(&times(&tasks), offsets, &overheads, 3_000, first);
            let said = priority::answers(&overheads, &by_priority);
            for (one, (seen, said)) in seen.responses.iter().zip(said).enumerate() {
                if let Answer::Within(said) = said {
                    prop_assert!(*seen <= said, "{seen} > {said} of {one}");
                }
            }
        }
    }
}

/// A guest of its own: wants the hart for a while, then waits for a while.
struct Guest {
    account: Account,
    record: Record,
    /// It wants the hart (or is held until it may have it) for so many ticks, counted by what it gets.
    wants: u64,
    /// It waits until then.
    waits_until: u64,
    /// Its budget is spent; the next job is released then.
    held_until: Option<u64>,
    /// Its present job has its whole budget before it, since its release.
    whole: bool,
}

/// The longest time from a release to the end of the budget, of jobs of guests that wait and wake as `pauses` says, and
/// are wanting all that time.
fn simulate_guests(
    tasks: &[Task],
    overheads: &Overheads,
    pauses: &[(u64, u64)],
    length: u64,
) -> Vec<u64> {
    let mut pauses = pauses.iter().cycle();
    let mut next_pause = || *pauses.next().expect("endless");
    let mut worst = vec![0; tasks.len()];
    let mut guests: Vec<Guest> = tasks
        .iter()
        .map(|task| Guest {
            account: Account::new(task.reservation, task.kind, 0),
            record: Record::default(),
            wants: next_pause().0,
            waits_until: 0,
            held_until: None,
            whole: true,
        })
        .collect();
    let mut hypervisor = overheads.blocking;
    for now in 0..length {
        for guest in &mut guests {
            if let Some(until) = guest.held_until {
                if now >= until {
                    guest.account.release_next(now, &guest.record);
                    guest.held_until = None;
                    guest.whole = true;
                }
            } else if guest.wants == 0 && now >= guest.waits_until {
                guest.wants = next_pause().0;
                let jobs = guest.record.get(Figure::Jobs);
                if let Wake::At(until) = guest.account.wake(now, &guest.record) {
                    guest.held_until = Some(until.max(now + 1));
                }
                guest.whole = guest.record.get(Figure::Jobs) > jobs;
            }
        }
        if overheads.service_period > 0 && now.is_multiple_of(overheads.service_period) {
            hypervisor += overheads.service;
        }
        if hypervisor > 0 {
            hypervisor -= 1;
            continue;
        }
        let ready = guests
            .iter()
            .enumerate()
            .filter(|(_, guest)| guest.wants > 0 && guest.held_until.is_none());
        let Some((index, _)) = ready.min_by_key(|(_, guest)| guest.account.deadline()) else {
            continue;
        };
        let guest = &mut guests[index];
        guest.account.charge(1, now + 1, &guest.record);
        guest.wants -= 1;
        if guest.account.left() == 0 {
            if guest.whole {
                worst[index] = worst[index].max(now + 1 - guest.account.release());
            }
            guest.held_until = Some(guest.account.throttle(&guest.record));
        }
        if guest.wants == 0 {
            guest.waits_until = now + 1 + next_pause().1;
            guest.whole = false;
            if guest.held_until.take().is_some() || guest.account.kind() == Kind::Periodic {
                // It waits with nothing left, or that ends its job: as much as when it is held.
                guest.held_until = Some(guest.account.next_release());
                guest.wants = next_pause().0;
            }
        }
    }
    worst
}

/// Where servers' parts exceed a length only as they are rounded up, between bends, the window that is named is one
/// where they do.
#[test]
fn a_refusal_names_a_window_with_more_than_its_length() {
    let mut runner = TestRunner::deterministic();
    let sets = (prop::collection::vec(any_task(), 1..5), any_overheads());
    let mut rounded = 0;
    for _ in 0..20_000 {
        let (tasks, overheads) = sets.new_tree(&mut runner).expect("a set").current();
        let hart = Deadlines::new(overheads, 0);
        if hart.fit(&tasks) != Fit::Late {
            continue;
        }
        let critical = hart.window(&tasks).expect("a window");
        let named = hart.excess(&tasks).expect("a window");
        assert!(named.demand > named.length, "{tasks:?} {overheads:?}");
        rounded += u64::from(critical.demand <= critical.length);
    }
    assert!(rounded > 0);
}

fn server(reservation: Reservation) -> Task {
    Task {
        reservation,
        kind: Kind::Server,
    }
}

#[test]
fn a_full_hart_fits_when_nothing_is_taken() {
    let hart = Deadlines::new(NONE, 0);
    let half =
        |period: u64| server(Reservation::new(period, period / 2, period).expect("in order"));
    let small = server(Reservation::new(100, 1, 100).expect("in order"));
    assert_eq!(hart.fit(&[half(10), half(14)]), Fit::Fits);
    assert_eq!(hart.fit(&[half(10), half(14), half(1_000)]), Fit::Full);
    assert_eq!(
        Deadlines::new(NONE, 1).fit(&[half(10), half(14)]),
        Fit::Reserve
    );
    assert_eq!(hart.fit(&[small; 33]), Fit::Count);
}

#[test]
fn an_answer_by_deadline_counts_only_what_comes_first() {
    let hart = Deadlines::new(NONE, 0);
    let short = server(Reservation::new(10, 3, 10).expect("in order"));
    let long = server(Reservation::new(1_000, 10, 1_000).expect("in order"));
    // The short one comes first unless its deadline is later than the long one's.
    assert!(hart.answer(&[short, long], 0) <= 10);
    // Of ten ticks seven are left: ten take less than two periods, and one job may have begun before.
    let said = hart.answer(&[short, long], 1);
    assert!((16..=25).contains(&said), "{said}");
    assert_eq!(hart.answer(&[long], 0), 10);
}

#[test]
fn below_one_without_budget_there_is_no_bound() {
    let times = Reservation::new(100, 10, 100);
    let task = |priority, times: Option<Reservation>| Ranked::new(priority, times.map(server));
    let tasks = [task(9, None), task(5, times), task(10, times)];
    assert_eq!(priority::answer(&NONE, &tasks, 0), Answer::None);
    assert_eq!(priority::answer(&NONE, &tasks, 1), Answer::Unbounded(0));
    assert_eq!(priority::answer(&NONE, &tasks, 2), Answer::Within(10));
    let above = [task(9, Reservation::new(100, 95, 100)), task(5, times)];
    assert_eq!(priority::answer(&NONE, &above, 1), Answer::Late);
}

#[test]
fn searches_find_the_edge() {
    for edge in 0..12 {
        assert_eq!(greatest(0, 11, |n| n <= edge), Some(edge.min(11)));
        assert_eq!(least(0, 11, |n| n >= edge), (edge <= 11).then_some(edge));
    }
    assert_eq!(greatest(5, 9, |n| n < 5), None);
    assert_eq!(least(5, 4, |_| true), None);
}

/// What the hypervisor would say to one more reservation on a hart with the others.
fn at_run_time(tasks: &[Task], overheads: Overheads, reserve: u32) -> bool {
    let (last, others) = tasks.split_last().expect("one at least");
    let request = |index: usize, task: Task| Request {
        handle: index as u16,
        vm: 0,
        task,
        harts: 1,
    };
    let mut ledger = Ledger::<1, 8>::new();
    ledger.configure(overheads, reserve, 1, tactus_policy::admission::TERMS_MAX);
    ledger.open_hart(0);
    ledger.set_share(0, 1000);
    for (index, task) in others.iter().enumerate() {
        ledger.enter(&request(index, *task), 0);
    }
    let request = request(others.len(), *last);
    ledger.decide(&request, 0).is_ok()
}

proptest! {
    #[test]
    fn the_hypervisor_decides_the_same(
        tasks in prop::collection::vec(any_task(), 1..6),
        overheads in any_overheads(),
        reserve in 0..400u32,
    ) {
        let hart = Deadlines::new(overheads, reserve);
        if hart.fit(&tasks[1..]) == Fit::Fits {
            let mut tasks = tasks;
            tasks.rotate_left(1);
            prop_assert_eq!(hart.fit(&tasks) == Fit::Fits, at_run_time(&tasks, overheads, reserve));
        }
    }
}
