//! Each decision against its specification, for all combinations of arguments.

use tactus_abi::blob::Class::{self, BestEffort, RealTime};
use tactus_policy::ready::{ListQueue, ReadyQueue};
use tactus_policy::schedule::*;

const BOOLS: [bool; 2] = [false, true];
const CLASSES: [Class; 2] = [BestEffort, RealTime];
const PRIORITIES: [u8; 4] = [0, 1, 2, 255];

fn must_not_be_called<T>() -> T {
    panic!("called though the decision does not depend on it")
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
        assert_eq!(comes_before(false, high, must_not_be_called), one > other);
        assert_eq!(comes_before(true, high, || late), one < other);
    }
}

/// A vCPU's urgency in the whole system: a greater value is more urgent.
fn urgency(class: Class, precedes: bool) -> (u32, bool) {
    (precedence::of(class, 0), precedes)
}

#[test]
fn woken_vcpu_preempts_if_and_only_if_it_is_the_most_urgent() {
    let ahead = [None, Some(BestEffort), Some(RealTime)];
    for (class, ahead) in CLASSES
        .into_iter()
        .flat_map(|class| ahead.map(|ahead| (class, ahead)))
    {
        for bits in 0..8 {
            let [precedes, has_real_time, here] = [1, 2, 4].map(|bit| bits & bit != 0);
            let wakeup = wake(class, ahead, || precedes, || has_real_time, || here);
            // A hart without a vCPU picks from its queue next.
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
        must_not_be_called,
        must_not_be_called,
        must_not_be_called,
    );
    wake(
        BestEffort,
        Some(RealTime),
        must_not_be_called,
        must_not_be_called,
        must_not_be_called,
    );
    wake(
        BestEffort,
        None,
        must_not_be_called,
        must_not_be_called,
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
        // The slow path makes the same decision.
        let descheduled = Descheduled {
            class,
            waits: !runs,
            slice_left: true,
            may_keep_affinity: is_free,
        };
        let slow = requeue(descheduled, || false, || false) == Requeue::KeepsAffinity;
        assert_eq!(slow, keeps);
    }
}

#[test]
fn vcpu_is_replaced_regardless_of_urgency_when_it_may_not_run_on() {
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
fn descheduled_vcpu_has_the_first_placement_that_applies() {
    for (class, bits) in CLASSES
        .into_iter()
        .flat_map(|class| (0..32).map(move |bits| (class, bits)))
    {
        let [waits, slice_left, may_keep_affinity, ends_job, spent] =
            [1, 2, 4, 8, 16].map(|bit| bits & bit != 0);
        let descheduled = Descheduled {
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
            (true, Requeue::Queued(end)),
        ];
        let expected = places.into_iter().find(|(applies, _)| *applies);
        let place = requeue(descheduled, || ends_job, || spent);
        assert_eq!(Some((true, place)), expected, "{descheduled:?} {bits:05b}");
    }
    let waits = Descheduled {
        class: BestEffort,
        waits: true,
        slice_left: true,
        may_keep_affinity: false,
    };
    requeue(waits, must_not_be_called, must_not_be_called);
}

/// Whether a queue with a vCPU of `highest` first returns a vCPU of `priority` that is queued at `end`.
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
fn soft_affinity_preserves_the_order_of_the_queue() {
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
fn slice_is_renewed_if_the_queue_would_return_the_vcpu_next() {
    for (priority, highest) in priorities() {
        let again = first_is_new(priority, End::Tail, highest);
        let renewed = end_slice(BestEffort, priority, || highest) == SliceEnd::Renewed;
        assert_eq!(renewed, again, "{priority} {highest:?}");
        assert_eq!(
            end_slice(RealTime, priority, must_not_be_called),
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
        // No real-time vCPU is about to get the hart, and a current one has had its deferral period.
        let expected = !next && (!real_time || !resched && is_due);
        assert_eq!(
            does_deferred_work(next, resched, || real_time, || is_due),
            expected
        );
    }
    does_deferred_work(true, false, must_not_be_called, must_not_be_called);
    does_deferred_work(false, false, || false, must_not_be_called);
}

#[test]
fn offers_and_signals_interrupt_less_urgent_harts_only() {
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
        let less_urgent = runs < precedence::REAL_TIME;
        // What a signal for a real-time vCPU may interrupt is limited while a real-time one runs.
        for allowed in [false, true] {
            assert_eq!(
                accepts_ipi(RealTime, runs, || allowed),
                less_urgent || allowed
            );
            assert_eq!(accepts_ipi(BestEffort, runs, || allowed), less_urgent);
        }
    }
}
