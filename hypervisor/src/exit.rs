//! The one way out of the hypervisor into a guest.
//!
//! Every trap handler gives the entry code an [`Exit`]. Only this module makes one that enters a guest, and it arms the
//! hart's timer first (protocol T1, `hart/timer.rs`), so that no handler can leave a new due time unheard.
//!
//! **Protocol P1, preemption.** The real-time vCPU in [`Local::next`] is the next one to have the hart: code that sets
//! it sets [`Local::needs_resched`] too, no guest is entered while that is set, and only taking that vCPU clears it.

use crate::arch::context::Context;
use crate::hart::context::Local;
use crate::hart::timer::Serves;
use crate::vm::Vcpu;

/// What the entry code does next.
#[repr(transparent)]
pub struct Exit(*const Context);

impl Exit {
    /// Enters the guest of the current vCPU.
    #[inline(always)]
    pub fn enter(local: &mut Local, vcpu: &'static Vcpu) -> Self {
        local.arm_if_dirty();
        Self::enter_armed(local, vcpu)
    }

    /// As [`Exit::enter`], with the timer known to be armed.
    #[inline(always)]
    pub fn enter_armed(local: &Local, vcpu: &'static Vcpu) -> Self {
        debug_assert!(!local.is_owed());
        debug_assert!(local.timer.is_armed(local.serves()));
        Self(vcpu.context())
    }

    /// Enters the guest of the current vCPU again, for whom nothing was done that could change what is due.
    pub const fn enter_unchanged(context: &Context) -> Self {
        Self(core::ptr::from_ref(context))
    }

    /// Goes to [`crate::dispatch::schedule`]: the current vCPU may have to leave the hart.
    pub const fn leave() -> Self {
        Self(core::ptr::null())
    }
}

/// What the entry code does next, after the scheduler.
#[repr(C)]
pub struct NextContext {
    exit: Exit,
    /// Unless a guest is entered, the vCPU that leaves the hart.
    leaves: *const Vcpu,
}

impl NextContext {
    /// Enters the guest of the current vCPU.
    #[inline(always)]
    pub fn enter(local: &mut Local, vcpu: &'static Vcpu) -> Self {
        Self {
            exit: Exit::enter(local, vcpu),
            leaves: core::ptr::null(),
        }
    }

    /// As [`NextContext::enter`], for a vCPU that has just got the hart, so that the timer is dirty for certain.
    #[inline(always)]
    pub fn arm_and_enter(local: &mut Local, vcpu: &'static Vcpu) -> Self {
        local.timer.arm(Serves::of(vcpu.class, local.hart.shared));
        Self {
            exit: Exit::enter_armed(local, vcpu),
            leaves: core::ptr::null(),
        }
    }

    /// Goes back to [`crate::dispatch::schedule`]: the vCPU leaves the hart.
    pub const fn leave(vcpu: &'static Vcpu) -> Self {
        Self {
            exit: Exit::leave(),
            leaves: vcpu,
        }
    }
}
