//! The decisions of [`tactus_policy::schedule`] as a trait, of which a test can replace one.

use tactus_abi::blob::Class;
use tactus_policy::schedule::{
    self, Affinity, Descheduled, End, Preemption, Requeue, SliceEnd, Wakeup,
};

/// The decisions. Arguments that the hypervisor computes only on demand are values here.
pub trait Rules {
    /// Whether a hart offers queued best-effort vCPUs to other harts after each choice, if it has queued one since the
    /// last.
    ///
    /// Otherwise it offers a vCPU that it wakes for other harts, and kicks idle harts when a vCPU that could run on
    /// leaves it.
    const OFFERS_AFTER_CHOICE: bool = true;
    /// Whether a hart accepts offers as an idle one does while it chooses a best-effort vCPU.
    ///
    /// Otherwise the other harts still see its previous precedence.
    const CHOOSES_AS_IDLE: bool = true;

    fn comes_before(&self, by_deadline: bool, precedences: [u32; 2], deadlines: [u64; 2]) -> bool {
        schedule::comes_before(by_deadline, precedences, || deadlines)
    }

    fn wake(
        &self,
        class: Class,
        ahead: Option<Class>,
        precedes: bool,
        has_real_time: bool,
        here: bool,
    ) -> Wakeup {
        schedule::wake(class, ahead, || precedes, || has_real_time, || here)
    }

    fn preempt(&self, class: Class, runs: bool, is_free: bool) -> Preemption {
        schedule::preempt(class, runs, is_free)
    }

    fn may_switch(&self, class: Class, waits: bool, slice_over: bool, budget_over: bool) -> bool {
        schedule::may_switch(class, waits, slice_over, budget_over)
    }

    fn requeue(&self, descheduled: Descheduled, ends_job: bool, spent: bool) -> Requeue {
        schedule::requeue(descheduled, || ends_job, || spent)
    }

    fn resume_affine(&self, priority: u8, slice_left: bool, highest: Option<u8>) -> Affinity {
        schedule::resume_affine(priority, slice_left, highest)
    }

    fn expire_affinity(&self, slice_left: bool) -> End {
        schedule::expire_affinity(slice_left)
    }

    fn is_inverted(&self, class: Class, waits: bool, precedence: u32, next: u32) -> bool {
        schedule::is_inverted(class, waits, precedence, next)
    }

    fn end_slice(&self, class: Class, priority: u8, highest: Option<u8>) -> SliceEnd {
        schedule::end_slice(class, priority, || highest)
    }

    fn does_deferred_work(&self, next: bool, resched: bool, real_time: bool, due: bool) -> bool {
        schedule::does_deferred_work(next, resched, || real_time, || due)
    }

    /// Without [`Rules::OFFERS_AFTER_CHOICE`]: the hart to which a woken best-effort vCPU is offered.
    ///
    /// `harts` are the harts on which the vCPU may run, each with its present precedence.
    fn choose_hart(&self, precedence: u32, harts: Vec<(usize, u32)>) -> Option<usize> {
        let less_urgent = harts.into_iter().filter(|(_, runs)| *runs < precedence);
        less_urgent
            .min_by_key(|(_, runs)| *runs)
            .map(|(hart, _)| hart)
    }

    /// Without [`Rules::OFFERS_AFTER_CHOICE`]: whether a hart is kicked to check the queue.
    fn is_kicked(&self, runs: u32, has_work: bool) -> bool {
        runs == schedule::precedence::IDLE && has_work
    }

    fn accepts_offer(&self, highest: Option<u8>, runs: u32) -> bool {
        schedule::accepts_offer(highest, runs)
    }
}

/// The right decisions.
pub struct Unchanged;

impl Rules for Unchanged {}

/// Rules with one wrong decision each.
pub mod mutants {
    use super::*;

    macro_rules! mutant {
        ($(#[$doc:meta])* $name:ident, fn $($decision:tt)*) => {
            $(#[$doc])*
            pub struct $name;

            impl Rules for $name {
                fn $($decision)*
            }
        };
    }

    /// Offers are made as in the present `hypervisor/src/sched`.
    pub struct FewOffers;

    impl Rules for FewOffers {
        const OFFERS_AFTER_CHOICE: bool = false;
    }

    /// A choosing hart is seen as in `hypervisor/src/sched` before this model.
    pub struct ChoosesUnseen;

    impl Rules for ChoosesUnseen {
        const CHOOSES_AS_IDLE: bool = false;
    }

    mutant! {
        /// As `hypervisor/src/sched` before this model: on a hart without a vCPU, each woken vCPU becomes the next.
        FirstOnEmptyHart, fn wake(&self, class: Class, ahead: Option<Class>, precedes: bool, _: bool, here: bool) -> Wakeup {
            schedule::wake(class, ahead, || precedes, || false, || here)
        }
    }

    mutant! {
        /// As `hypervisor/src/sched` before this model: an expired soft affinity puts the vCPU at the head of the
        /// queue.
        ExpiresAtHead, fn expire_affinity(&self, _: bool) -> End {
            End::Head
        }
    }

    mutant! {
        /// The later deadline and the lower priority come first.
        OrderReversed, fn comes_before(&self, by_deadline: bool, of: [u32; 2], at: [u64; 2]) -> bool {
            schedule::comes_before(by_deadline, [of[1], of[0]], || [at[1], at[0]])
        }
    }

    mutant! {
        /// Priorities decide where deadlines should.
        DeadlineIgnored, fn comes_before(&self, _: bool, of: [u32; 2], at: [u64; 2]) -> bool {
            schedule::comes_before(false, of, || at)
        }
    }

    mutant! {
        /// A woken real-time vCPU does not preempt.
        NeverPreempts, fn wake(&self, class: Class, ahead: Option<Class>, precedes: bool, has: bool, here: bool) -> Wakeup {
            match schedule::wake(class, ahead, || precedes, || has, || here) {
                Wakeup::Preempts => Wakeup::Queued,
                wakeup => wakeup,
            }
        }
    }

    mutant! {
        /// A woken best-effort vCPU that is more urgent than its hart's current one is left to other harts.
        NeverReschedules, fn wake(&self, class: Class, ahead: Option<Class>, precedes: bool, has: bool, here: bool) -> Wakeup {
            match schedule::wake(class, ahead, || precedes, || has, || here) {
                Wakeup::Reschedules => Wakeup::Offered,
                wakeup => wakeup,
            }
        }
    }

    mutant! {
        /// A second vCPU replaces the one with the soft affinity.
        AffinityTaken, fn requeue(&self, descheduled: Descheduled, ends_job: bool, spent: bool) -> Requeue {
            let may_keep_affinity = true;
            schedule::requeue(Descheduled { may_keep_affinity, ..descheduled }, || ends_job, || spent)
        }
    }

    mutant! {
        /// A real-time vCPU that is preempted keeps a soft affinity.
        RealTimeKeepsAffinity, fn preempt(&self, _: Class, runs: bool, is_free: bool) -> Preemption {
            schedule::preempt(Class::BestEffort, runs, is_free)
        }
    }

    mutant! {
        /// A spent budget is ignored.
        BudgetIgnored, fn requeue(&self, descheduled: Descheduled, ends_job: bool, _: bool) -> Requeue {
            schedule::requeue(descheduled, || ends_job, || false)
        }
    }

    mutant! {
        /// A waiting vCPU is queued.
        WaitIgnored, fn requeue(&self, descheduled: Descheduled, ends_job: bool, spent: bool) -> Requeue {
            let waits = false;
            schedule::requeue(Descheduled { waits, ..descheduled }, || ends_job, || spent)
        }
    }

    mutant! {
        /// A vCPU keeps its place at the head when its slice is over.
        SliceOverAtHead, fn requeue(&self, descheduled: Descheduled, ends_job: bool, spent: bool) -> Requeue {
            let slice_left = true;
            schedule::requeue(Descheduled { slice_left, ..descheduled }, || ends_job, || spent)
        }
    }

    mutant! {
        /// A vCPU with a soft affinity gets its hart before any queued vCPU.
        AffinityFirst, fn resume_affine(&self, _: u8, _: bool, _: Option<u8>) -> Affinity {
            Affinity::Resumes
        }
    }

    mutant! {
        /// A vCPU with a soft affinity gets a new slice before others of its priority.
        AffinityRenewsSlice, fn resume_affine(&self, priority: u8, _: bool, highest: Option<u8>) -> Affinity {
            schedule::resume_affine(priority, true, highest)
        }
    }

    mutant! {
        /// A switch to a less urgent vCPU is not corrected.
        InversionStays, fn is_inverted(&self, _: Class, _: bool, _: u32, _: u32) -> bool {
            false
        }
    }

    mutant! {
        /// A vCPU yields only to others of higher priority.
        YieldsToHigher, fn end_slice(&self, class: Class, priority: u8, highest: Option<u8>) -> SliceEnd {
            schedule::end_slice(class, priority + 1, || highest)
        }
    }

    mutant! {
        /// Only idle harts accept an offer.
        OnlyIdleAccept, fn accepts_offer(&self, highest: Option<u8>, runs: u32) -> bool {
            runs == schedule::precedence::IDLE && highest.is_some()
        }
    }

    mutant! {
        /// Only harts that run a vCPU accept an offer.
        IdleDecline, fn accepts_offer(&self, highest: Option<u8>, runs: u32) -> bool {
            runs != schedule::precedence::IDLE && schedule::accepts_offer(highest, runs)
        }
    }

    mutant! {
        /// An offer of equal urgency is accepted.
        EqualOfferAccepted, fn accepts_offer(&self, highest: Option<u8>, runs: u32) -> bool {
            schedule::accepts_offer(highest.map(|priority| priority + 1), runs)
        }
    }
}
