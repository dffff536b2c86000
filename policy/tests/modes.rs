//! What becomes of a job in each mode of its hart.

use tactus_policy::modes::{Criticality, Job};
use tactus_policy::record::Record;
use tactus_policy::reservation::{Account, Kind, Reservation};

/// 2 of 10 ticks, the first job released at 0.
fn account() -> Account {
    let reservation = Reservation::new(10, 2, 8).expect("times in order");
    Account::new(reservation, Kind::Periodic, 0)
}

#[test]
fn a_job_is_extended_once() {
    let record = Record::default();
    let (mut account, mut criticality) = (account(), Criticality::new(false, 3));
    assert_eq!(criticality.judge(&mut account, false, true), Job::GoesOn);
    account.charge(2, 2, &record);
    // While an image is loaded, time that is spent is no job's.
    assert_eq!(criticality.judge(&mut account, false, false), Job::Spent);
    assert!(criticality.has_more(&account));
    assert_eq!(criticality.judge(&mut account, false, true), Job::Extended);
    assert_eq!(account.left(), 3);
    assert!(!criticality.has_more(&account));
    assert_eq!(criticality.judge(&mut account, true, true), Job::GoesOn);
    account.charge(3, 5, &record);
    assert_eq!(criticality.judge(&mut account, true, true), Job::Spent);
    // The next job has its own.
    account.throttle(&record);
    account.release_next(10, &record);
    account.charge(2, 12, &record);
    assert_eq!(criticality.judge(&mut account, true, true), Job::Extended);
}

#[test]
fn a_job_of_low_criticality_has_nothing_in_the_high_mode() {
    let record = Record::default();
    let (mut account, mut criticality) = (account(), Criticality::new(true, 0));
    assert_eq!(criticality.judge(&mut account, false, true), Job::GoesOn);
    assert_eq!(criticality.judge(&mut account, true, true), Job::Dropped);
    account.charge(2, 2, &record);
    assert_eq!(criticality.judge(&mut account, false, true), Job::Spent);
}

#[test]
fn without_more_the_mode_makes_no_difference() {
    let record = Record::default();
    for high_mode in [false, true] {
        let (mut account, mut criticality) = (account(), Criticality::new(false, 0));
        assert_eq!(
            criticality.judge(&mut account, high_mode, true),
            Job::GoesOn
        );
        account.charge(2, 2, &record);
        assert_eq!(criticality.judge(&mut account, high_mode, true), Job::Spent);
    }
}
