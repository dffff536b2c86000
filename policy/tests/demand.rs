//! The demand test against an evaluation of every interval length.

use proptest::prelude::*;
use tactus_abi::blob::Overheads;
use tactus_policy::covering::covering;
use tactus_policy::demand::{EVALUATIONS, Load, Member, Test, Verdict, held};
use tactus_policy::reservation::Kind::{Periodic, Server};
use tactus_policy::reservation::Task;
use tactus_policy::reservation::{Kind, Reservation};

/// Divisors of [`CYCLE`], so that schedules repeat soon.
const PERIODS: [u64; 14] = [4, 5, 6, 8, 10, 12, 15, 16, 20, 24, 30, 40, 48, 60];
const CYCLE: u64 = 240;

fn task() -> impl Strategy<Value = (Reservation, Kind)> {
    let kind = prop_oneof![3 => Just(Periodic), 1 => Just(Server)];
    let period = prop::sample::select(PERIODS.to_vec());
    (period, 0.02..0.6_f64, 0.0..1.5_f64, kind).prop_map(|(period, part, way, kind)| {
        let budget = ((period as f64 * part) as u64).max(1);
        let deadline = budget + ((period - budget) as f64 * way.min(1.0)) as u64;
        let reservation = Reservation::new(period, budget, deadline);
        (reservation.expect("in order"), kind)
    })
}

fn overheads() -> impl Strategy<Value = Overheads> {
    let some = (
        0..2_u64,
        0..3_u64,
        prop::sample::select(vec![0, 12, 20, 60]),
        0..2_u64,
        0..2_u64,
    );
    let some = some.prop_map(
        |(job, blocking, service_period, service, release)| Overheads {
            job,
            blocking,
            service_period,
            service,
            release,
        },
    );
    prop_oneof![Just(Overheads::default()), some]
}

/// The reservation as admission counts it.
fn gross(r: &Reservation, overheads: &Overheads) -> Reservation {
    Reservation {
        budget: r.budget + overheads.job,
        ..*r
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn verdict_agrees_with_every_length(
        tasks in prop::collection::vec(task(), 1..9),
        overheads in overheads(),
    ) {
        let mut load = Load::new(&overheads);
        for (r, kind) in &tasks {
            let member = Member::new(*r, *kind, overheads.job);
            prop_assume!(member.is_some());
            prop_assert!(load.add(member.expect("assumed")));
        }
        let service = if overheads.service_period == 0 { 0 } else { overheads.service };
        let hypervisor = |length: u64| {
            let times = length.checked_div(overheads.service_period).unwrap_or(0) + 1;
            held(&overheads, tasks.len()) + times * service
        };
        let demand = |length: u64| {
            let due = tasks.iter().map(|(r, kind)| gross(r, &overheads).demand(*kind, length));
            hypervisor(length) + due.sum::<u64>()
        };
        // An exact fraction of the cycle.
        let taken = tasks.iter().map(|(r, _)| gross(r, &overheads).budget * (CYCLE / r.period));
        let times = CYCLE.checked_div(overheads.service_period).unwrap_or(0);
        let taken = taken.sum::<u64>() + times * service;
        let shortest = tasks.iter().map(|(r, _)| r.deadline).min().expect("some");
        // Beyond two cycles the demand repeats, up to a tick by which that of servers is rounded up.
        let late = (shortest..3 * CYCLE).find(|length| demand(*length) > *length);
        for length in 0..CYCLE {
            prop_assert_eq!(load.demand(length), demand(length));
        }

        let mut test = Test::new();
        let verdict = loop {
            match test.step(&load) {
                Verdict::Pending => {}
                verdict => break verdict,
            }
        };
        let servers = tasks.iter().any(|(_, kind)| *kind == Server);
        match verdict {
            Verdict::Fits => {
                // The linear bound can accept sets whose demand exceeds the length only by rounding.
                let rounded = if servers { tasks.len() as u64 } else { 0 };
                prop_assert!(late.is_none_or(|at| demand(at) < at + rounded), "{:?}", late);
                prop_assert!(taken <= CYCLE);
            }
            Verdict::DemandExceeded => prop_assert!(late.is_some() || taken > CYCLE),
            Verdict::Overloaded => prop_assert!(taken > CYCLE),
            Verdict::Undecided => {
                // The limit of steps is exceeded, or the hart is full.
                let full = taken >= CYCLE && (servers || taken > CYCLE);
                prop_assert!(test.evaluations > EVALUATIONS || full);
            }
            Verdict::Pending => unreachable!(),
        }
    }
}

/// A hart can be fully utilised, also by utilisations without a finite binary fraction.
#[test]
fn hart_can_be_fully_utilised() {
    for (period, deadline) in [(3, 3), (7, 7), (300, 300), (1 << 31, 1 << 31)] {
        let mut load = Load::new(&Overheads::default());
        let count = if period == 7 { 7 } else { 3 };
        for i in 0..count {
            let budget = period / count + u64::from(i < period % count);
            let reservation = Reservation::new(period, budget, deadline).expect("in order");
            assert!(load.add(Member::new(reservation, Periodic, 0).expect("it fits alone")));
        }
        assert_eq!(Test::run(&load), Verdict::Fits, "{period}");
        let one = Reservation::new(1 << 32 >> 1, 1, 1 << 31).expect("in order");
        assert!(load.add(Member::new(one, Periodic, 0).expect("it fits alone")));
        assert_ne!(Test::run(&load), Verdict::Fits, "{period}");
    }
}

/// A covering reservation's demand is at least that of both, for every length; there is none only where no budget would
/// do.
#[test]
fn a_covering_reservation_demands_as_much_as_both() {
    const LONGEST: u64 = 6;
    let all: Vec<Reservation> = (1..=LONGEST)
        .flat_map(|period| (1..=period).map(move |deadline| (period, deadline)))
        .flat_map(|(period, deadline)| (1..=deadline).map(move |budget| (period, budget, deadline)))
        .filter_map(|(period, budget, deadline)| Reservation::new(period, budget, deadline))
        .collect();
    let covers = |cover: &Task, one: &Reservation| {
        let demand = |r: &Reservation, length| r.demand(cover.kind, length);
        (0..=5 * LONGEST).all(|length| demand(&cover.reservation, length) >= demand(one, length))
    };
    // Without rounding up to ticks.
    let exact = |r: &Reservation, length: u64| {
        let [budget, period, deadline, length] =
            [r.budget, r.period, r.deadline, length].map(|ticks| ticks as f64);
        if length < deadline {
            length * budget / deadline
        } else {
            budget + (length - deadline) * budget / period
        }
    };
    let exceeds = |one: &Reservation, most: &Reservation| {
        (0..=5 * LONGEST).any(|length| exact(one, length) > exact(most, length) + 1e-9)
    };
    for one in &all {
        let periodic = Task {
            reservation: *one,
            kind: Periodic,
        };
        let server = Task {
            kind: Server,
            ..periodic
        };
        assert_eq!(covering(periodic, *one), Some(periodic));
        assert_eq!(covering(server, *one), Some(server));
        for other in &all {
            if let Some(cover) = covering(periodic, *other) {
                assert!(covers(&cover, one) && covers(&cover, other));
            }
            match covering(server, *other) {
                Some(cover) => {
                    assert!(
                        covers(&cover, one) && covers(&cover, other),
                        "{one:?}, {other:?}: {cover:?}"
                    );
                }
                None => {
                    let (period, deadline) = (
                        one.period.min(other.period),
                        one.deadline.min(other.deadline),
                    );
                    let most = Reservation::new(period, deadline, deadline).expect("in order");
                    assert!(
                        exceeds(one, &most) || exceeds(other, &most),
                        "{one:?}, {other:?}"
                    );
                }
            }
        }
    }
}
