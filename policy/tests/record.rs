//! What is counted of a vCPU's jobs names what went wrong with them.

use proptest::prelude::*;
use tactus_abi::hypercall::JobRecord;
use tactus_policy::record::{Figure, Record};
use tactus_policy::reservation::{Account, Kind, Reservation, Wake};

const PERIOD: u64 = 1_000;
const BUDGET: u64 = 300;
const DEADLINE: u64 = 800;

fn account(kind: Kind) -> Account {
    let reservation = Reservation::new(PERIOD, BUDGET, DEADLINE).expect("in order");
    Account::new(reservation, kind, 0).with_overhead(10)
}

/// What is counted once the job waits.
fn settled(one: &mut Account, record: &Record) -> JobRecord {
    one.settle(record);
    let words: Vec<u64> = record.words().collect();
    JobRecord::of_words(words.try_into().expect("all of them"))
}

/// Figures are at the places that the interface gives them.
#[test]
fn figures_have_the_places_of_the_interface() {
    use std::mem::offset_of;
    let places = [
        (Figure::Release, offset_of!(JobRecord, release)),
        (Figure::Jobs, offset_of!(JobRecord, jobs)),
        (Figure::Used, offset_of!(JobRecord, used)),
        (Figure::UsedMax, offset_of!(JobRecord, used_max)),
        (Figure::Overruns, offset_of!(JobRecord, overruns)),
        (Figure::Lost, offset_of!(JobRecord, lost)),
        (Figure::Missed, offset_of!(JobRecord, missed)),
        (
            Figure::InterferenceMax,
            offset_of!(JobRecord, interference_max),
        ),
        (Figure::Skipped, offset_of!(JobRecord, skipped)),
        (Figure::LateMax, offset_of!(JobRecord, late_max)),
        (Figure::Late, offset_of!(JobRecord, late)),
        (Figure::Extended, offset_of!(JobRecord, extended)),
        (Figure::Dropped, offset_of!(JobRecord, dropped)),
    ];
    for (figure, offset) in places {
        assert_eq!(figure as usize * 8, offset, "{figure:?}");
    }
}

#[test]
fn jobs_in_time_leave_nothing_but_their_time() {
    let (mut one, record) = (account(Kind::Periodic), Record::default());
    for job in 1..=10 {
        let release = job * PERIOD;
        one.end_job();
        one.release_next(release, &record);
        one.charge(200, release + 200, &record);
        one.settle(&record);
    }
    let mut late = [0; 6];
    late[0] = 10;
    let expected = JobRecord {
        release: 10 * PERIOD,
        jobs: 10,
        used: 2_000,
        used_max: 200,
        late,
        ..JobRecord::default()
    };
    assert_eq!(settled(&mut one, &record), expected);
    assert!(!one.is_to_report(&record));
}

/// A lost or late timer: releases come late, and where a whole period passes, some do not come.
#[test]
fn late_releases_are_counted_by_how_late_they_are() {
    for (late, class) in [
        (3, 0),
        (4, 1),
        (15, 1),
        (16, 2),
        (255, 3),
        (256, 4),
        (999, 4),
    ] {
        let (mut one, record) = (account(Kind::Periodic), Record::default());
        one.release_next(PERIOD + late, &record);
        let seen = settled(&mut one, &record);
        assert_eq!((seen.late_max, seen.late[class]), (late, 1), "{late}");
        // The grid stays.
        assert_eq!((seen.release, seen.skipped), (PERIOD, 0));
        assert!(!one.is_to_report(&record));
    }
    let (mut one, record) = (account(Kind::Periodic), Record::default());
    one.release_next(4 * PERIOD + 7, &record);
    let seen = settled(&mut one, &record);
    assert_eq!((seen.late_max, seen.late[5]), (3 * PERIOD + 7, 1));
    assert_eq!((seen.release, seen.skipped), (4 * PERIOD + 7, 3));
    assert!(one.is_to_report(&record));
}

/// The hypervisor, or others, take a job's time.
#[test]
fn a_job_that_is_held_up_is_interfered_with_and_at_last_late() {
    let (mut one, record) = (account(Kind::Server), Record::default());
    one.charge(100, 150, &record);
    assert_eq!(settled(&mut one, &record).interference_max, 50);
    one.charge(100, 750, &record);
    assert_eq!(settled(&mut one, &record).interference_max, 550);
    assert_eq!(settled(&mut one, &record).missed, 0);
    assert!(!one.is_to_report(&record));
    // Up to its deadline is in time; beyond is not, and counts once.
    one.charge(20, 800, &record);
    assert_eq!(settled(&mut one, &record).missed, 0);
    one.charge(20, 830, &record);
    one.charge(20, 850, &record);
    assert_eq!(settled(&mut one, &record).missed, 1);
    assert!(one.is_to_report(&record));
}

/// What waiting costs a server is no interference, and what it costs of the budget is counted.
#[test]
fn a_server_that_waits_loses_budget_and_is_not_held_up() {
    let (mut one, record) = (account(Kind::Server), Record::default());
    one.charge(100, 100, &record);
    assert_eq!(one.wake(700, &record), Wake::Now);
    let left = one.left();
    one.charge(left, 700 + left, &record);
    let seen = settled(&mut one, &record);
    assert_eq!((seen.interference_max, seen.missed), (0, 0));
    assert_eq!(seen.used + seen.lost, BUDGET);
    assert!(seen.lost > 0);
}

proptest! {
    /// Each of the budget's ticks is executed, lost by waiting, or left; what a job was ready and did not execute is
    /// its interference; and it is late if, and only if, it executes after its deadline.
    #[test]
    fn all_time_of_a_job_is_counted(
        steps in prop::collection::vec((0..80_u64, 0..60_u64, 0..200_u64), 1..12),
    ) {
        let (mut one, record) = (account(Kind::Server), Record::default());
        let (mut now, mut held_up, mut executed, mut late) = (0, 0, 0, false);
        for (wanted, others, pause) in steps {
            let ticks = wanted.min(one.left());
            now += ticks + others;
            one.charge(ticks, now, &record);
            held_up += others;
            executed += ticks;
            late |= now > DEADLINE;
            prop_assert_eq!(settled(&mut one, &record).interference_max, held_up);
            prop_assert_eq!(settled(&mut one, &record).missed, u64::from(late));
            prop_assert_eq!(executed + settled(&mut one, &record).lost + one.left(), BUDGET);
            now += pause;
            if now >= PERIOD || one.wake(now, &record) != Wake::Now {
                break;
            }
        }
    }

    /// Whether something is to be reported is true no more often than their number doubles.
    #[test]
    fn reports_are_as_rare_as_powers_of_two(wrong in prop::collection::vec(1..9_u64, 1..200)) {
        let (mut one, record) = (account(Kind::Periodic), Record::default());
        let (mut reports, mut now) = (0, 0);
        for skipped in wrong {
            now = now.max(one.next_release()) + skipped * PERIOD;
            one.release_next(now, &record);
            reports += u32::from(one.is_to_report(&record));
        }
        let jobs = settled(&mut one, &record).jobs;
        prop_assert!(reports <= jobs.ilog2() + 1, "{reports} of {jobs}");
        prop_assert!(reports >= 1);
    }
}
