//! Each decision against its specification, for all arguments that make a difference.

use tactus_abi::blob::Class::{self, BestEffort, RealTime};
use tactus_policy::ready::{ListQueue, ReadyQueue};
use tactus_policy::schedule::*;

const BOOLS: [bool; 2] = [false, true];
const CLASSES: [Class; 2] = [BestEffort, RealTime];
const PRIORITIES: [u8; 4] = [0, 1, 2, 255];

fn must_not_be_asked<T>() -> T {
    panic!("asked for what makes no difference")
}

#[test]
fn precedence_orders_by_class_and_then_by_priority() {
    let all = |class| (0..=255).map(move |priority| precedence::of(class, priority));
    let order: Vec<u32> = [precedence::IDLE]
        .into_iter()
        .chain(all(BestEffort))
        .chain(all(RealTime))
        .collect();
    assert!(order.is_sorted_by(|one, other| one < other));
    assert!(
        all(BestEffort).all(|of| (precedence::BEST_EFFORT..precedence::REAL_TIME).contains(&of))
    );
}

#[test]
fn order_is_by_deadline_or_by_precedence() {
    for (one, other) in (0..9).map(|i| (i / 3, i % 3)) {
        let (high, late) = ([one, other], [u64::from(one), u64::from(other)]);
        assert_eq!(comes_before(false, high, must_not_be_asked), one > other);
        assert_eq!(comes_before(true, high, || late), one < other);
    }
}

/// A vCPU as the whole system orders it: the greater the more urgent.
fn urgency(class: Class, precedes: bool) -> (u32, bool) {
    (precedence::of(class, 0), precedes)
}

#[test]
fn woken_vcpu_gets_the_hart_if_and_only_if_it_is_the_most_urgent_there() {
    let ahead = [None, Some(BestEffort), Some(RealTime)];
    for (class, ahead) in CLASSES
        .into_iter()
        .flat_map(|class| ahead.map(|ahead| (class, ahead)))
    {
        for bits in 0..8 {
            let [precedes, has_real_time, here] = [1, 2, 4].map(|bit| bits & bit != 0);
            let wakeup = wake(class, ahead, || precedes, || has_real_time, || here);
            // An empty hart chooses from its queue next.
            let first = match ahead {
                Some(ahead) => urgency(class, precedes) > urgency(ahead, false),
                None => class == BestEffort || !has_real_time,
            };
            let expected = match (class, first, here) {
                (RealTime, true, _) => Wakeup::Preempts,
                (RealTime, false, _) => Wakeup::Queued,
                (BestEffort, true, true) => Wakeup::Reschedules,
                (BestEffort, _, _) => Wakeup::Offered,
            };
            assert_eq!(wakeup, expected, "{class:?} {ahead:?} {bits:03b}");
        }
    }
    wake(
        RealTime,
        Some(BestEffort),
        must_not_be_asked,
        must_not_be_asked,
        must_not_be_asked,
    );
    wake(
        BestEffort,
        Some(RealTime),
        must_not_be_asked,
        must_not_be_asked,
        must_not_be_asked,
    );
    wake(
        BestEffort,
        None,
        must_not_be_asked,
        must_not_be_asked,
        || true,
    );
}

#[test]
fn only_the_first_best_effort_vcpu_that_could_run_on_keeps_a_soft_affinity() {
    for (class, bits) in CLASSES
        .into_iter()
        .flat_map(|class| (0..4).map(move |bits| (class, bits)))
    {
        let [runs, is_free] = [1, 2].map(|bit| bits & bit != 0);
        let keeps = preempt(class, runs, is_free) == Preemption::KeepsAffinity;
        assert_eq!(keeps, class == BestEffort && runs && is_free);
        // The slow path comes to the same.
        let leaving = Leaving {
            class,
            waits: !runs,
            slice_left: true,
            may_keep_affinity: is_free,
        };
        let slow = requeue(leaving, || false, || false, || true) == Requeue::KeepsAffinity;
        assert_eq!(slow, keeps);
    }
}

#[test]
fn vcpu_leaves_for_any_other_when_it_may_not_run_on() {
    for (class, bits) in CLASSES
        .into_iter()
        .flat_map(|class| (0..8).map(move |bits| (class, bits)))
    {
        let [waits, slice_over, budget_over] = [1, 2, 4].map(|bit| bits & bit != 0);
        let may_run_on = !waits && !budget_over && (class == RealTime || !slice_over);
        assert_eq!(
            may_switch(class, waits, slice_over, budget_over),
            !may_run_on
        );
    }
}

#[test]
fn vcpu_that_leaves_is_in_the_first_place_that_applies() {
    for (class, bits) in CLASSES
        .into_iter()
        .flat_map(|class| (0..64).map(move |bits| (class, bits)))
    {
        let [waits, slice_left, may_keep_affinity, ends_job, spent, here] =
            [1, 2, 4, 8, 16, 32].map(|bit| bits & bit != 0);
        let leaving = Leaving {
            class,
            waits,
            slice_left,
            may_keep_affinity,
        };
        let real_time = class == RealTime;
        let end = if real_time || slice_left {
            End::Head
        } else {
            End::Tail
        };
        let places = [
            (waits && real_time && ends_job, Requeue::EndsJob),
            (waits, Requeue::Blocks),
            (spent, Requeue::Throttled),
            (!real_time && may_keep_affinity, Requeue::KeepsAffinity),
            (
                true,
                Requeue::Queued {
                    end,
                    offered: !real_time && !here,
                },
            ),
        ];
        let expected = places.into_iter().find(|(applies, _)| *applies);
        let place = requeue(leaving, || ends_job, || spent, || here);
        assert_eq!(Some((true, place)), expected, "{leaving:?} {bits:06b}");
    }
    let waits = Leaving {
        class: BestEffort,
        waits: true,
        slice_left: true,
        may_keep_affinity: false,
    };
    requeue(
        waits,
        must_not_be_asked,
        must_not_be_asked,
        must_not_be_asked,
    );
}

/// What a queue gives out first in which a vCPU of `highest` is, and then one of `priority` is queued.
fn first_is_new(priority: u8, end: End, highest: Option<u8>) -> bool {
    let mut queue = ListQueue::<2>::bitmap();
    if let Some(highest) = highest {
        queue.insert(0, highest, false);
    }
    queue.insert(1, priority, end == End::Head);
    queue.pop() == Some(1)
}

fn priorities() -> impl Iterator<Item = (u8, Option<u8>)> {
    let queued = || PRIORITIES.into_iter().map(Some).chain([None]);
    PRIORITIES
        .into_iter()
        .flat_map(move |priority| queued().map(move |highest| (priority, highest)))
}

#[test]
fn soft_affinity_changes_nothing_in_the_order_of_the_queue() {
    for (priority, highest) in priorities() {
        for slice_left in BOOLS {
            let end = expire_affinity(slice_left);
            assert_eq!(end == End::Head, slice_left);
            let expected = if first_is_new(priority, end, highest) {
                Affinity::Resumes
            } else {
                Affinity::Ends(end)
            };
            assert_eq!(resume_affine(priority, slice_left, highest), expected);
        }
    }
}

#[test]
fn slice_is_renewed_if_the_queue_would_give_the_vcpu_out_again() {
    for (priority, highest) in priorities() {
        let again = first_is_new(priority, End::Tail, highest);
        let renewed = end_slice(BestEffort, priority, || highest) == SliceEnd::Renewed;
        assert_eq!(renewed, again, "{priority} {highest:?}");
        assert_eq!(
            end_slice(RealTime, priority, must_not_be_asked),
            SliceEnd::Renewed
        );
    }
}

#[test]
fn inversion_is_of_a_best_effort_vcpu_that_could_run_on() {
    for (class, waits) in CLASSES
        .into_iter()
        .flat_map(|class| BOOLS.map(|waits| (class, waits)))
    {
        for (of, next) in (0..9).map(|i| (i / 3, i % 3)) {
            let expected = class == BestEffort && !waits && next < of;
            assert_eq!(is_inverted(class, waits, of, next), expected);
        }
    }
}

#[test]
fn deferred_work_waits_for_real_time_vcpus() {
    for bits in 0..16 {
        let [next, resched, real_time, is_due] = [1, 2, 4, 8].map(|bit| bits & bit != 0);
        // No real-time vCPU is about to get the hart, and one that runs has had its deferral period.
        let expected = !next && (!real_time || !resched && is_due);
        assert_eq!(
            does_deferred_work(next, resched, || real_time, || is_due),
            expected
        );
    }
    does_deferred_work(true, false, must_not_be_asked, must_not_be_asked);
    does_deferred_work(false, false, || false, must_not_be_asked);
}

#[test]
fn offers_and_news_interrupt_less_urgent_harts_only() {
    let runs = [precedence::IDLE].into_iter().chain(
        CLASSES
            .into_iter()
            .flat_map(|class| PRIORITIES.map(|of| precedence::of(class, of))),
    );
    for runs in runs {
        assert!(!accepts_offer(None, runs));
        for priority in PRIORITIES {
            let more_urgent = precedence::of(BestEffort, priority) > runs;
            assert_eq!(accepts_offer(Some(priority), runs), more_urgent);
        }
        assert!(accepts_ipi(RealTime, runs));
        assert_eq!(accepts_ipi(BestEffort, runs), runs < precedence::REAL_TIME);
    }
}
