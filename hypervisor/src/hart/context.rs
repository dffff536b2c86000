//! What the code that runs on a hart may touch, and no other hart.
//!
//! **Protocol H1, one context in use.** A hart's [`HartCtx`] is reached in two places: when the hart starts
//! ([`HartCtx::first`]), and when a guest traps ([`HartCtx::of_trapped`]). Traps do not nest in the hypervisor, and
//! each handler has returned before a guest is entered. So no two references to one context are in use at once, and
//! everything behind it is borrowed from it as the language asks.

use super::timer::{Serves, Timer};
use super::{Hart, INBOX_WORDS};
use crate::arch;
use crate::arch::context::Context;
use crate::body::Body;
use crate::sync::Owned;
use crate::vm::{Bodies, Vcpu};
use core::hint::cold_path;
use core::sync::atomic::Ordering;
use tactus_abi::blob::{Class, Header, limit};
use tactus_policy::deadline::Deadlines;
use tactus_policy::ready::{Handle, ListQueue};
use tactus_policy::table::Array;

/// The hart that this code runs on: its private state, and the bodies of the vCPUs that it owns. It is neither copied
/// nor stored: code that holds it runs on that hart, in the hypervisor.
#[repr(C, align(64))]
pub struct HartCtx {
    /// Access to the bodies of the vCPUs that the hart owns. First: its address is the context's.
    pub bodies: Bodies,
    /// The hart's private state.
    pub local: Local,
    /// Takes the hart's registers when they are no vCPU's any more.
    pub scratch_context: Context,
}

/// A hart's private state. Each trap uses the first cache line, each context switch the second as well.
#[repr(C)]
pub struct Local {
    /// What other harts see of it.
    pub hart: &'static Hart,
    /// The vCPU that has the hart.
    pub current: Option<&'static Vcpu>,
    /// The real-time vCPU that preempts `current`, past the run queue (protocol P1).
    pub next: Option<&'static Vcpu>,
    /// The best-effort vCPU that a real-time one preempted. It stays here for a while, in no run queue.
    pub soft_affine: Option<&'static Vcpu>,
    /// The vCPU whose registers the hart holds: `current`, or the last one.
    pub loaded: Option<&'static Vcpu>,
    /// A vCPU of this hart whose floating-point registers are in the hart only: `fpu_owner`.
    pub fpu_unsaved: Option<&'static Vcpu>,
    /// The current vCPU has to leave the hart.
    pub needs_resched: bool,
    /// This hart has queued best-effort vCPUs that it has not offered to others yet.
    pub has_unoffered: bool,
    /// Any of [`Local::ending_vms`], [`Local::closed_devices`], [`Local::early`], [`Local::stopping`] and
    /// [`Local::irregular`] is not empty.
    pub has_aftermath: bool,
    /// Real-time vCPUs are queued here: [`Local::edf`] or [`Local::realtime`] is not empty.
    pub has_queued_real_time: bool,
    /// Interrupts of best-effort VMs are held back: a real-time vCPU runs, or ran last.
    pub real_time_only: bool,
    /// The hart's index plus one: in [`Body::loaded_on`] and [`Body::fpu_on`].
    pub number: u8,
    /// Whose floating-point registers the hart holds, or [`NO_OWNER`].
    pub fpu_owner: Handle,
    /// What is due, and the hart's timer.
    pub timer: Timer,
    /// VMs, by index, whose last vCPU has stopped here and whose end is to be concluded.
    pub ending_vms: u32,
    /// VMs, by index, whose closed virtual devices are to be checked for a request.
    pub closed_devices: u32,
    /// vCPUs, by handle, that stop here.
    pub stopping: Array<u64, INBOX_WORDS>,
    /// Ready real-time vCPUs, but for `next`, where they run by deadline: their jobs' deadlines.
    pub edf: Deadlines<{ limit::VCPUS }>,
    /// Ready real-time vCPUs, but for `next`, where they run by priority.
    pub realtime: ListQueue<{ limit::VCPUS }>,
    /// vCPUs, by handle, whose reservation begins as soon as the hart has no real-time work.
    pub starting_reservations: Array<u64, INBOX_WORDS>,
    /// A vCPU of whose jobs more went wrong than before, which is to be reported.
    pub irregular: Option<&'static Vcpu>,
    /// vCPU of each VM that ran here last, plus one; cached translations are its.
    pub last_vcpu: Array<u8, { limit::VMS }>,
    /// VMs, by index, for which something came too early, which is delivered now.
    pub early: u32,
    /// The hart is in its high mode: see [`crate::sched::modes`].
    pub high_mode: bool,
    /// How many of [`Hart::interrupts`] have been served.
    pub interrupts_seen: u32,
    /// Of each 64 vCPUs those up to the best-effort one that was looked at last since it had news, as bits by handle.
    pub received: Array<u64, INBOX_WORDS>,
}

/// The floating-point registers are no vCPU's.
pub const NO_OWNER: Handle = Handle::MAX;

const _: () = assert!(core::mem::offset_of!(Local, timer) + Timer::HOT_BYTES <= 128);
const _: () = assert!(limit::HARTS < u8::MAX as usize && limit::VCPUS < NO_OWNER as usize);

impl HartCtx {
    /// That of a hart that runs nothing yet; `text_ticks` and `header` as of [`Timer::new`].
    pub const fn new(hart: &'static Hart, text_ticks: u64, header: &Header) -> Self {
        Self {
            bodies: Bodies::new(),
            local: Local {
                hart,
                current: None,
                next: None,
                soft_affine: None,
                loaded: None,
                needs_resched: false,
                has_unoffered: false,
                has_aftermath: false,
                has_queued_real_time: false,
                number: hart.index as u8 + 1,
                real_time_only: false,
                fpu_owner: NO_OWNER,
                ending_vms: 0,
                closed_devices: 0,
                early: 0,
                high_mode: false,
                interrupts_seen: 0,
                stopping: Array([0; INBOX_WORDS]),
                fpu_unsaved: None,
                timer: Timer::new(text_ticks, header),
                edf: Deadlines::new(),
                realtime: ListQueue::bitmap(),
                starting_reservations: Array([0; INBOX_WORDS]),
                irregular: None,
                last_vcpu: Array([0; limit::VMS]),
                received: Array([0; INBOX_WORDS]),
            },
            scratch_context: Context::new(0, false),
        }
    }

    /// The hart's context, when it starts.
    ///
    /// # Safety
    /// Called once for each hart, on that hart (protocol H1).
    #[allow(
        clippy::mut_from_ref,
        reason = "protocol H1: called once for each hart"
    )]
    pub unsafe fn first(contexts: &'static [Owned<Self>], hart: &Hart) -> &'static mut Self {
        // Safety: the caller's promise.
        unsafe { contexts[hart.index].get() }
    }

    /// The context of the hart on which this vCPU's guest has trapped.
    ///
    /// # Safety
    /// Called by a handler that the entry code calls for a trap of this vCPU's guest, or for its way back from another
    /// handler, before it touches anything else (protocol H1).
    #[inline(always)]
    #[allow(clippy::mut_from_ref, reason = "protocol H1: one for each trap")]
    pub unsafe fn of_trapped(vcpu: &'static Vcpu) -> &'static mut Self {
        // Safety: the hart that runs a vCPU owns it (protocol V1), and has stored the address of its context's first
        // field.
        unsafe { &mut *vcpu.owner.as_ptr().cast::<Self>() }
    }

    /// The private state, and the body of a vCPU that this hart owns.
    #[inline(always)]
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn with_body(&mut self, vcpu: &'static Vcpu) -> (&mut Local, &mut Body) {
        (&mut self.local, self.bodies.of(vcpu))
    }
}

impl Local {
    /// Whether the hart's registers are the vCPU's.
    #[inline(always)]
    pub fn is_loaded(&self, vcpu: &Vcpu, body: &Body) -> bool {
        (body.loaded_on == self.number) & is_same(self.loaded, vcpu)
    }

    /// Whether another vCPU is to have the hart, so that no guest may be entered (protocol P1).
    pub fn is_owed(&self) -> bool {
        self.needs_resched || self.next.is_some()
    }

    /// Whether a vCPU of that class runs.
    pub fn runs(&self, class: Class) -> bool {
        self.current.is_some_and(|vcpu| vcpu.class == class)
    }

    /// Whether the current vCPU is a real-time one that shares its hart: it is held up for nothing that can wait.
    pub fn runs_shared_rt(&self) -> bool {
        self.serves() == Serves::RealTimeOnly
    }

    /// Whose due times count while the current vCPU runs.
    #[inline(always)]
    pub fn serves(&self) -> Serves {
        let class = self.current.map_or(Class::BestEffort, |vcpu| vcpu.class);
        Serves::of(class, self.hart.shared)
    }

    /// Sets the hart's timer to what is due first, apart from the paths on which it is rarely dirty.
    #[inline(never)]
    pub fn rearm(&mut self) {
        let serves = self.serves();
        self.timer.arm(serves);
    }

    /// A real-time vCPU with a budget takes the hart from best-effort work: one interrupt that was under way for that
    /// may come in its time. It is a part of how long less urgent work blocks.
    pub fn expect_interrupt(&mut self) {
        let granted = self.hart.interrupts.load(Ordering::Relaxed);
        self.interrupts_seen = granted.wrapping_sub(1);
    }

    /// Interrupts by other harts have been served since `from`: the current vCPU is credited that time, and no more
    /// than admission has counted for those that were granted since the last credit (protocol I1).
    #[inline(never)]
    pub fn credit_interrupts(&mut self, from: u64) {
        let granted = self.hart.interrupts.load(Ordering::Relaxed);
        let count = granted.wrapping_sub(self.interrupts_seen);
        // Where several were served at once, the last one's interrupt may be still to come.
        self.interrupts_seen = granted.wrapping_sub(u32::from(count > 1));
        self.timer.credit_counted(from, count);
    }

    /// Sets the hart's timer if a due time has changed since.
    #[inline(always)]
    pub fn arm_if_dirty(&mut self) {
        if self.timer.is_dirty() {
            cold_path();
            self.rearm();
        }
    }

    /// Looks for interrupts that are pending: the bits of [`arch::pending_interrupts`]. What has become due since the
    /// last look is among them.
    #[inline(always)]
    pub fn poll(&mut self) -> u64 {
        self.arm_if_dirty();
        arch::pending_interrupts()
    }
}

/// Whether a slot of a hart's state holds this vCPU.
#[inline(always)]
pub fn is_same(slot: Option<&Vcpu>, vcpu: &Vcpu) -> bool {
    slot.is_some_and(|other| core::ptr::eq(other, vcpu))
}
