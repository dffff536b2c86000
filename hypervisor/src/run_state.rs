//! What a vCPU is doing, and when others may rely on its having stopped.
//!
//! **Protocol F1, leaving.** A hart that finds a vCPU not running ([`RunState::has_left`]) sees all that its guest has
//! stored: a remote fence need not wait for it, and a virtual device's register shows its last write. A hart that finds
//! it running sets a signal first, and is told when the vCPU has taken it or has left.
//!
//! * A preempted vCPU is [`Leaving`](State::Leaving) before the full fence of the context switch, and
//!   [`Ready`](State::Ready) after it. The first store makes the switch and a sender agree: the sender stores its
//!   signal, fences, and reads the state; the switch stores `Leaving`, fences, and reads the signals. One of the two
//!   sees the other. The second store is ordered after the guest's, so that the switch needs no fence of its own for
//!   it.
//! * Between the two a sender waits. That takes a part of a context switch, with interrupts off, and never nests.
//! * All other ends of running are stored with `Release`.
//! * A waiting vCPU has had a full fence since it ran: [`RunState::set_after_fence`] is enough to wake it.
//!
//! `tests/run_state.rs` tries all interleavings.

#[cfg(not(loom))]
use core::hint::spin_loop;
#[cfg(not(loom))]
use core::sync::atomic::{AtomicU8, Ordering};
#[cfg(loom)]
use loom::{
    sync::atomic::{AtomicU8, Ordering},
    thread::yield_now as spin_loop,
};

/// What a vCPU is doing. Its owner changes it (protocol V1); the start of a vCPU, under its VM's lifecycle lock,
/// changes `Stopped` to `Waiting`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// Not started, or stopped.
    Stopped,
    /// In a run queue.
    Ready,
    /// On its home hart.
    Running,
    /// Until something comes.
    Waiting,
    /// Preempted: it runs no more, but what its guest has stored may not be seen yet. For a part of a context switch.
    Leaving,
}

impl State {
    const fn from_raw(raw: u8) -> Self {
        match raw {
            0 => Self::Stopped,
            1 => Self::Ready,
            2 => Self::Running,
            3 => Self::Waiting,
            _ => Self::Leaving,
        }
    }
}

/// A vCPU's [`State`], as all harts see it.
#[derive(Debug)]
pub struct RunState(AtomicU8);

impl RunState {
    /// Not started.
    #[allow(clippy::new_without_default, reason = "const where there is no loom")]
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Self(AtomicU8::new(State::Stopped as u8))
    }

    /// Not started.
    #[cfg(loom)]
    pub fn new() -> Self {
        Self(AtomicU8::new(State::Stopped as u8))
    }

    /// For the vCPU's owner; for others after a full fence, or whether it is stopped, with its VM's lifecycle locked.
    #[inline(always)]
    pub fn get(&self) -> State {
        State::from_raw(self.0.load(Ordering::Relaxed))
    }

    /// As [`RunState::get`], in one order with all other accesses of the kind.
    pub fn get_ordered(&self) -> State {
        State::from_raw(self.0.load(Ordering::SeqCst))
    }

    /// Whether the vCPU does not run; then all is seen that its guest has stored. After a full fence that follows the
    /// signal.
    pub fn has_left(&self) -> bool {
        loop {
            match State::from_raw(self.0.load(Ordering::Acquire)) {
                State::Running => return false,
                State::Leaving => spin_loop(),
                State::Stopped | State::Ready | State::Waiting => return true,
            }
        }
    }

    /// For the hart that [`State`] names. A full fence is to stand between this and a look at what others have sent.
    #[inline(always)]
    pub fn set(&self, state: State) {
        self.0.store(state as u8, Ordering::Release);
    }

    /// As [`RunState::set`], where this hart has done a full fence since the vCPU ran.
    #[inline(always)]
    pub fn set_after_fence(&self, state: State) {
        self.0.store(state as u8, Ordering::Relaxed);
    }

    /// It runs; a full fence is to follow.
    #[inline(always)]
    pub fn begin_running(&self) {
        self.0.store(State::Running as u8, Ordering::Relaxed);
    }

    /// It is preempted; a full fence is to follow, and then its state.
    #[inline(always)]
    pub fn begin_leaving(&self) {
        self.0.store(State::Leaving as u8, Ordering::Relaxed);
    }
}
