//! Decisions of the scheduler: which vCPU runs, is preempted, keeps a soft affinity, is queued, and is offered to other
//! harts.
//!
//! One function for each event. Its arguments are plain values. An argument that costs a lock or another cache line is
//! a closure, which is called only if the decision depends on it. The result states what the hypervisor does.
//!
//! | event | function | result |
//! |---|---|---|
//! | a waiting vCPU becomes ready | [`wake`] | [`Wakeup`]: it preempts, is queued at home, is queued and the hart reschedules, or is offered to other harts |
//! | a real-time vCPU takes the hart | [`preempt`] | [`Preemption`]: the vCPU that ran keeps a soft affinity, or is requeued |
//! | a vCPU waits, or its slice or budget is used up | [`may_switch`] | whether the next queued vCPU, of any urgency, replaces it in one step |
//! | a vCPU has left its hart | [`requeue`] | [`Requeue`]: it blocks, its job ends, it is throttled, keeps a soft affinity, or is queued |
//! | the hart has no ready real-time vCPU any more | [`resume_affine`] | [`Affinity`]: the vCPU with the soft affinity resumes, or is queued |
//! | the hart does deferred best-effort work | [`expire_affinity`] | where the vCPU with the soft affinity is queued |
//! | a switch is done | [`is_inverted`] | whether the vCPU that left was more urgent |
//! | a slice ends | [`end_slice`] | [`SliceEnd`]: a new slice begins, or the vCPU yields |
//! | deferred best-effort work is due | [`does_deferred_work`] | whether it is done now |
//! | a hart is to be offered a vCPU, and receives the offer | [`accepts_offer`] | whether it reschedules |
//! | a signal is pending for a vCPU whose home is the hart | [`accepts_ipi`] | whether the hart is interrupted |
//!
//! Urgency among real-time vCPUs is [`comes_before`]; [`precedence`] orders vCPUs of all classes.
//!
//! **Offers.** Best-effort vCPUs of all harts share a queue. None waits there while a hart that it may use is idle or
//! runs one of lower priority, if each hart follows two rules:
//!
//! 1. A hart that has queued a best-effort vCPU, and has then chosen its next vCPU, offers queued ones to the other
//!    harts. It asks [`accepts_offer`] for each, with the highest priority among those that may run there. If it has
//!    chosen a real-time vCPU, it makes a hart without one do so, with the deferred work.
//! 2. A hart publishes [`precedence::IDLE`] before it takes a best-effort vCPU from the queue, so that one that is
//!    queued meanwhile is offered to it.
//!
//! `policy/tests/scheduler` explores small systems exhaustively with these rules, and shows what fails without each.

use tactus_abi::blob::Class;

/// What a hart runs, as other harts see it: one number, ordered by urgency.
pub mod precedence {
    use tactus_abi::blob::Class;

    /// The hart is idle.
    pub const IDLE: u32 = 0;
    /// A best-effort vCPU; plus its priority.
    pub const BEST_EFFORT: u32 = 0x100;
    /// A real-time vCPU; plus its priority.
    pub const REAL_TIME: u32 = 0x200;

    /// The precedence of a vCPU.
    #[inline(always)]
    pub const fn of(class: Class, priority: u8) -> u32 {
        let base = match class {
            Class::BestEffort => BEST_EFFORT,
            Class::RealTime => REAL_TIME,
        };
        base + priority as u32
    }
}

/// What a hart runs, as others see it, in one word: the [`precedence`] in its lower half, the VM's index in the upper
/// one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Runs(pub u32);

impl Runs {
    /// Nothing.
    pub const IDLE: Self = Self(precedence::IDLE);

    /// A vCPU of that precedence, of the VM of that index.
    pub const fn new(precedence: u32, vm: usize) -> Self {
        Self(precedence | (vm as u32) << 16)
    }

    /// Its precedence.
    #[inline(always)]
    pub const fn precedence(self) -> u32 {
        self.0 & 0xffff
    }

    /// The index of its VM; without meaning while the hart is idle.
    #[inline(always)]
    pub const fn vm(self) -> usize {
        (self.0 >> 16) as usize
    }
}

/// Where a vCPU is queued among those of its priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It was preempted: it keeps its place, and the rest of its slice.
    Head,
    /// It was woken, or its slice is used up.
    Tail,
}

/// Whether the first of two vCPUs of one class is more urgent than the second, on one hart. `deadlines`: those of
/// their jobs.
#[inline(always)]
pub fn comes_before(
    by_deadline: bool,
    precedences: [u32; 2],
    deadlines: impl FnOnce() -> [u64; 2],
) -> bool {
    if by_deadline {
        let [one, other] = deadlines();
        one < other
    } else {
        precedences[0] > precedences[1]
    }
}

/// The placement of a woken vCPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wakeup {
    /// Real time: it is the hart's next vCPU, past the run queue, and the hart reschedules. The next one until now is
    /// queued at the head.
    Preempts,
    /// Real time: it is queued at home.
    Queued,
    /// Best effort: it is queued at the tail, and its home hart reschedules.
    Reschedules,
    /// Best effort: it is queued at the tail, and other harts are offered it at once ([`accepts_offer`]).
    Offered,
}

/// Decides on a woken vCPU. `ahead` is the class of the vCPU that its home hart runs next or now; `precedes` is whether
/// the woken one [`comes_before`] that one, if both are of one class. `has_real_time`, called if there is none:
/// real-time vCPUs are queued at home, and the hart has not picked one yet.
#[inline(always)]
pub fn wake(
    class: Class,
    ahead: Option<Class>,
    precedes: impl FnOnce() -> bool,
    has_real_time: impl FnOnce() -> bool,
    may_run_here: impl FnOnce() -> bool,
) -> Wakeup {
    let first = match ahead {
        Some(ahead) if ahead == class => precedes(),
        Some(_) => class == Class::RealTime,
        // The queue decides between several real-time vCPUs.
        None => class == Class::BestEffort || !has_real_time(),
    };
    match class {
        Class::RealTime if first => Wakeup::Preempts,
        Class::RealTime => Wakeup::Queued,
        Class::BestEffort if first && may_run_here() => Wakeup::Reschedules,
        Class::BestEffort => Wakeup::Offered,
    }
}

/// The placement of a preempted vCPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preemption {
    /// It stays on its hart, in no queue, until the hart has no real-time vCPU or does deferred best-effort work.
    KeepsAffinity,
    /// See [`requeue`].
    Requeues,
}

/// Decides on the current vCPU when a real-time one preempts it. `runs`: it does not wait. `is_free`: no other vCPU has
/// a soft affinity to the hart.
#[inline(always)]
pub fn preempt(class: Class, runs: bool, is_free: bool) -> Preemption {
    if (class == Class::BestEffort) & runs & is_free {
        Preemption::KeepsAffinity
    } else {
        Preemption::Requeues
    }
}

/// Whether the first queued vCPU replaces the current one regardless of urgency; otherwise the two are compared first.
#[inline(always)]
pub fn may_switch(class: Class, waits: bool, slice_over: bool, budget_over: bool) -> bool {
    waits | ((class == Class::BestEffort) & slice_over) | budget_over
}

/// A vCPU that is descheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descheduled {
    /// Its class.
    pub class: Class,
    /// It waits for an event.
    pub waits: bool,
    /// Its slice is not used up.
    pub slice_left: bool,
    /// A real-time vCPU is the hart's next, and no vCPU has a soft affinity to the hart.
    pub may_keep_affinity: bool,
}

/// The placement of a descheduled vCPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requeue {
    /// It waits.
    Blocks,
    /// Its job has ended: it waits for the release of the next.
    EndsJob,
    /// The budget of its job is spent: it waits for the release of the next job.
    Throttled,
    /// As [`Preemption::KeepsAffinity`].
    KeepsAffinity,
    /// It is queued.
    Queued(End),
}

/// Decides on a descheduled vCPU. `ends_job`: what it waits for ends its job. `budget_spent`: it has a reservation, and
/// its budget is spent.
#[inline(always)]
pub fn requeue(
    descheduled: Descheduled,
    ends_job: impl FnOnce() -> bool,
    budget_spent: impl FnOnce() -> bool,
) -> Requeue {
    let best_effort = descheduled.class == Class::BestEffort;
    if descheduled.waits {
        if !best_effort && ends_job() {
            Requeue::EndsJob
        } else {
            Requeue::Blocks
        }
    } else if budget_spent() {
        Requeue::Throttled
    } else if best_effort & descheduled.may_keep_affinity {
        Requeue::KeepsAffinity
    } else {
        Requeue::Queued(expire_affinity(!best_effort | descheduled.slice_left))
    }
}

/// The placement of a vCPU with a soft affinity when its hart has no ready real-time vCPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Affinity {
    /// It runs.
    Resumes,
    /// It is queued there, and the hart picks the first queued vCPU that may run on it.
    Ends(End),
}

/// Decides between a best-effort vCPU with a soft affinity to the hart and the queued ones, of which `highest` is the
/// highest priority. The hart has no ready real-time vCPU.
#[inline(always)]
pub fn resume_affine(priority: u8, slice_left: bool, highest: Option<u8>) -> Affinity {
    let resumes = match highest {
        None => true,
        Some(highest) if slice_left => highest <= priority,
        Some(highest) => highest < priority,
    };
    if resumes {
        Affinity::Resumes
    } else {
        Affinity::Ends(expire_affinity(slice_left))
    }
}

/// Where a best-effort vCPU is queued whose soft affinity ends.
#[inline(always)]
pub const fn expire_affinity(slice_left: bool) -> End {
    if slice_left { End::Head } else { End::Tail }
}

/// Whether a switch has replaced a vCPU that could run on by a less urgent one: another hart has picked the vCPU for
/// which it was to leave. The hart then reschedules.
#[inline(always)]
pub fn is_inverted(class: Class, waits: bool, precedence: u32, next: u32) -> bool {
    !waits & (class == Class::BestEffort) & (next < precedence)
}

/// The effect of the end of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SliceEnd {
    /// A new slice begins.
    Renewed,
    /// The vCPU leaves the hart, to the tail of the queue.
    Yields,
}

/// Decides at the end of a slice. `highest`: the highest priority among queued best-effort vCPUs. A real-time vCPU has
/// no slices.
#[inline(always)]
pub fn end_slice(class: Class, priority: u8, highest: impl FnOnce() -> Option<u8>) -> SliceEnd {
    match class {
        Class::BestEffort if highest().is_some_and(|highest| highest >= priority) => {
            SliceEnd::Yields
        }
        Class::BestEffort | Class::RealTime => SliceEnd::Renewed,
    }
}

/// Whether deferred best-effort work is done now. `has_next`: a real-time vCPU preempts the current one.
/// `needs_resched`: the current vCPU leaves the hart. `real_time`: it is a real-time one on a shared hart. `is_due`:
/// the deferral period is over.
#[inline(always)]
pub fn does_deferred_work(
    has_next: bool,
    needs_resched: bool,
    real_time: impl FnOnce() -> bool,
    is_due: impl FnOnce() -> bool,
) -> bool {
    !has_next && (!real_time() || !needs_resched && is_due())
}

/// Whether a hart that runs at the precedence `runs` reschedules when it is offered queued vCPUs, of which `highest` is
/// the highest priority.
#[inline(always)]
pub fn accepts_offer(highest: Option<u8>, runs: u32) -> bool {
    highest.is_some_and(|priority| precedence::of(Class::BestEffort, priority) > runs)
}

/// Whether a signal for a vCPU of this class interrupts its home hart, which runs at the precedence `runs`. While a
/// real-time vCPU runs, signals for best-effort vCPUs wait, and those for a real-time vCPU interrupt no more often than
/// `may_interrupt` allows, so that the number of interruptions has a bound whatever others send.
#[inline(always)]
pub fn accepts_ipi(class: Class, runs: u32, may_interrupt: impl FnOnce() -> bool) -> bool {
    runs < precedence::REAL_TIME || class == Class::RealTime && may_interrupt()
}
