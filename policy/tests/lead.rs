//! The lead of a vCPU that gets its hart ahead of its time.

use proptest::prelude::*;
use tactus_policy::lead::Lead;

/// What a vCPU's lead is, in ticks.
fn ticks(lead: &mut Lead) -> u64 {
    let planned = lead.begin(1 << 40);
    (1 << 40) - planned
}

proptest! {
    /// It is never longer than the longest, nor shorter than three quarters of that, and after each dispatch as long as
    /// that took, if it may be.
    #[test]
    fn a_lead_is_as_long_as_the_last_dispatch_took(
        most in 1..u16::MAX,
        took in prop::collection::vec(0..200_000_u64, 1..100),
    ) {
        let mut lead = Lead::new(most);
        prop_assert!(lead.is_on());
        let most = u64::from(most);
        prop_assert_eq!(ticks(&mut lead), most);
        for took in took {
            let before = ticks(&mut lead);
            lead.learn(took);
            let now = ticks(&mut lead);
            prop_assert!(now <= most && now >= most - most / 4);
            prop_assert!(now >= took.min(most));
            // It becomes shorter by a part of what it was at a time.
            prop_assert!(before.saturating_sub(now) <= before.div_ceil(32));
        }
    }

    /// No time is before the first.
    #[test]
    fn a_time_near_the_first_is_waited_for(most in 1..u16::MAX, until in 1..u64::from(u16::MAX)) {
        let mut lead = Lead::new(most);
        prop_assert_eq!(lead.begin(until), until.saturating_sub(most.into()));
        prop_assert_eq!(lead.until(), until);
        lead.end();
        prop_assert_eq!(lead.until(), 0);
    }
}

/// One that was never needed for long comes down to three quarters of the longest.
#[test]
fn a_lead_becomes_shorter() {
    let mut lead = Lead::new(120);
    for _ in 0..200 {
        lead.learn(3);
    }
    assert_eq!(ticks(&mut lead), 90);
    lead.learn(80);
    assert_eq!(ticks(&mut lead), 102);
    assert!(!Lead::new(0).is_on());
}
