//! The demand test against an exhaustive EDF simulation of small sets of reservations.
//!
//! Each set that the test accepts meets every deadline, for all behaviours that the vCPUs and the hypervisor may show.
//! Each set of periodic reservations that it refuses misses a deadline in some execution.

mod simulator;

use simulator::{Hart, explore, reservation};
use tactus_abi::blob::Overheads;
use tactus_policy::demand::{Load, Member, Test, Verdict};
use tactus_policy::reservation::Kind::{self, Periodic, Server};

type Times = (u64, u64, u64);

fn verdict(set: &[(Times, Kind)], overheads: Overheads) -> Verdict {
    let mut load = Load::new(&overheads);
    for (times, kind) in set {
        match Member::new(reservation(*times), *kind, overheads.job) {
            Some(member) => assert!(load.add(member)),
            None => return Verdict::DemandExceeded,
        }
    }
    Test::run(&load)
}

fn hart(set: &[(Times, Kind)], overheads: Overheads) -> Hart {
    let mut hart = Hart::new(overheads);
    for (name, (times, kind)) in set.iter().enumerate() {
        hart.add(name, reservation(*times), *kind);
    }
    hart
}

/// All reservations with periods up to `period`.
fn all(period: u64) -> Vec<Times> {
    let budgets = |t: u64| (1..=t).flat_map(move |c| (c..=t).map(move |d| (t, c, d)));
    (1..=period).flat_map(budgets).collect()
}

/// All sets of `count` reservations, of the kinds given.
fn sets(period: u64, count: usize, kinds: &[Kind]) -> Vec<Vec<(Times, Kind)>> {
    let each: Vec<_> = all(period)
        .into_iter()
        .flat_map(|times| kinds.iter().map(move |kind| (times, *kind)))
        .collect();
    let mut sets = vec![(0, vec![])];
    for _ in 0..count {
        sets = sets
            .into_iter()
            .flat_map(|(first, set): (usize, Vec<_>)| {
                (first..each.len()).map({
                    let each = &each;
                    move |i| {
                        let mut set = set.clone();
                        set.push(each[i]);
                        (i, set)
                    }
                })
            })
            .collect();
    }
    sets.into_iter().map(|(_, set)| set).collect()
}

/// Checks each verdict; returns how many sets fit, and how many are undecided.
fn check(sets: &[Vec<(Times, Kind)>], overheads: Overheads) -> (usize, usize) {
    let (mut fits, mut unknown) = (0, 0);
    for set in sets {
        let may_miss = || explore(&hart(set, overheads)).0;
        let servers = set.iter().any(|(_, kind)| *kind == Server);
        match verdict(set, overheads) {
            Verdict::Fits => {
                fits += 1;
                assert_eq!(may_miss(), None, "{set:?} {overheads:?}");
            }
            Verdict::Undecided => {
                unknown += 1;
                assert!(servers, "{set:?}");
            }
            _ if servers || overheads != Overheads::default() => {}
            _ => assert!(may_miss().is_some(), "{set:?}"),
        }
    }
    (fits, unknown)
}

#[test]
fn periodic_pairs_are_judged_exactly() {
    let (fits, _) = check(&sets(6, 2, &[Periodic]), Overheads::default());
    assert!(fits > 100, "{fits}");
}

#[test]
fn periodic_triples_are_judged_exactly() {
    let (fits, _) = check(&sets(4, 3, &[Periodic]), Overheads::default());
    assert!(fits > 50, "{fits}");
}

#[test]
fn servers_meet_their_deadlines_whenever_they_wait_and_wake() {
    let (fits, unknown) = check(&sets(5, 2, &[Periodic, Server]), Overheads::default());
    assert!(fits > 100 && unknown < fits / 10, "{fits} {unknown}");
}

#[test]
fn overheads_are_included() {
    let (mut fits, sets) = (0, sets(5, 2, &[Periodic, Server]));
    for (job, blocking, service_period, service, release) in [
        (1, 0, 0, 0, 0),
        (0, 1, 0, 0, 0),
        (0, 2, 0, 0, 0),
        (0, 0, 3, 1, 0),
        (0, 1, 4, 1, 0),
        (1, 1, 5, 1, 0),
        (1, 0, 0, 0, 1),
        (1, 1, 5, 1, 1),
    ] {
        let overheads = Overheads {
            job,
            blocking,
            service_period,
            service,
            release,
        };
        fits += check(&sets, overheads).0;
    }
    assert!(fits > 100, "{fits}");
}

/// A server is charged for each wake-up: the hypervisor's work for it stays within what admission counts.
#[test]
fn frequent_wake_ups_of_a_server_are_charged_to_it() {
    let overheads = Overheads {
        job: 1,
        ..Overheads::default()
    };
    let mut fits = 0;
    for server in [(6, 3, 6), (7, 4, 7), (7, 3, 5), (8, 5, 7)] {
        for other in all(9) {
            fits += check(&[vec![(server, Server), (other, Periodic)]], overheads).0;
        }
    }
    assert!(fits > 10, "{fits}");
}

#[test]
fn triples_with_servers_meet_their_deadlines() {
    let sets = sets(4, 3, &[Periodic, Server]);
    let (fits, unknown) = check(&sets, Overheads::default());
    assert!(fits > 100 && unknown < fits / 3, "{fits} {unknown}");
}
