//! What harts share, but for [locks](tactus_hypervisor::lock): each thing with a rule of its own.

/// Something that one hart owns at a time without a lock; the place it stands in says by which rule.
#[derive(Debug)]
#[repr(transparent)]
pub struct Owned<T>(core::cell::UnsafeCell<T>);

// Safety: access goes through `get`, whose callers keep the rule of ownership.
unsafe impl<T: Send> Sync for Owned<T> {}

/// Something in cache lines of its own: other harts may read what stands beside it without waiting for those who write
/// it.
#[derive(Debug)]
#[repr(align(64))]
pub struct Apart<T>(pub T);

impl<T> core::ops::Deref for Apart<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> Owned<T> {
    /// Wraps a value.
    pub const fn new(value: T) -> Self {
        Self(core::cell::UnsafeCell::new(value))
    }

    /// The value.
    ///
    /// # Safety
    /// This hart owns the value by the rule of its place, and no other reference to it is in use.
    #[allow(
        clippy::mut_from_ref,
        reason = "ownership between harts is the caller's to prove"
    )]
    pub const unsafe fn get(&self) -> &mut T {
        // Safety: the caller's promise.
        unsafe { &mut *self.0.get() }
    }
}
