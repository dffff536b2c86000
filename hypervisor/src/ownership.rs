//! Which hart owns a vCPU.
//!
//! **Protocol V1, ownership.** A vCPU's body, all of it that is not atomic, is touched only by its owner: a hart, known
//! by the address of its context. A vCPU without an owner is in the shared queue, on its way to another home, or
//! stopped.
//!
//! * Only the owner ends its ownership ([`Owner::release`], a store with `Release`): before it puts the vCPU into the
//!   queue that all harts share, sends it to another home, or reports it stopped.
//! * A hart becomes the owner ([`Owner::claim`], with `Acquire`) of a ready vCPU when it has taken it from the shared
//!   queue, under the queue's lock; and of a waiting vCPU at home there that has no owner: one that was started, or
//!   sent there.
//! * A waiting vCPU's home may be read too early: a vCPU that is ready meanwhile can run elsewhere, stop, and start
//!   there. So a hart that has claimed a waiting vCPU reads the home once more, and gives it back where that is another
//!   ([`Owner::claim_waiting`]). A hart that finds an owner passes the notification on.
//! * A stopped vCPU without an owner belongs to the holder of its VM's lifecycle lock.
//!
//! A hart that finds its own address there has stored that itself, and no other hart replaces it: the check needs no
//! order.
//!
//! `tests/ownership.rs` tries all interleavings.

use core::ptr;

#[cfg(not(loom))]
use core::sync::atomic::{AtomicPtr, Ordering};
#[cfg(loom)]
use loom::sync::atomic::{AtomicPtr, Ordering};

/// The hart that owns a vCPU, by the address of its context, or none.
#[derive(Debug)]
pub struct Owner<C>(AtomicPtr<C>);

impl<C> Owner<C> {
    /// None.
    #[allow(clippy::new_without_default, reason = "const where there is no loom")]
    #[cfg(not(loom))]
    pub const fn none() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// None.
    #[cfg(loom)]
    pub fn none() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// The owner's context, or null. An owner finds itself; others may find what was.
    #[inline(always)]
    pub fn as_ptr(&self) -> *mut C {
        self.0.load(Ordering::Relaxed)
    }

    /// The hart of this context has taken the vCPU from the shared queue, whose lock orders this after
    /// [`Owner::release`].
    #[inline(always)]
    pub fn claim(&self, context: *mut C) {
        self.0.store(context, Ordering::Relaxed);
    }

    /// The hart of this context finds the vCPU waiting, and itself its home: whether it is the owner now. `is_home`
    /// reads the home again.
    #[inline(always)]
    pub fn claim_waiting(&self, context: *mut C, is_home: impl FnOnce() -> bool) -> bool {
        self.as_ptr() == context || self.claim_unowned(context, is_home)
    }

    #[inline(never)]
    fn claim_unowned(&self, context: *mut C, is_home: impl FnOnce() -> bool) -> bool {
        let claimed = self.0.compare_exchange(
            ptr::null_mut(),
            context,
            Ordering::Acquire,
            Ordering::Relaxed,
        );
        if claimed.is_err() {
            return false;
        }
        let is_home = is_home();
        if !is_home {
            self.release();
        }
        is_home
    }

    /// The owner owns the vCPU no more.
    #[inline(always)]
    pub fn release(&self) {
        self.0.store(ptr::null_mut(), Ordering::Release);
    }
}
