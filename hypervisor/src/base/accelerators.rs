//! Without accelerators.

use crate::call::{SbiError, SbiResult};
use crate::hart::context::HartCtx;
use crate::vm::{Vcpu, Vm};
use interfaces::Interface;

/// The virtual devices of accelerators.
pub mod interfaces {
    use crate::arena::{Arena, Exhausted};
    use crate::vm::Vm;
    use core::sync::atomic::AtomicU64;
    use tactus_abi::blob::Region;

    /// There is none.
    #[derive(Clone, Copy)]
    pub enum Interface {}

    impl Interface {
        /// No region is one.
        pub fn of(
            _: &Arena,
            _: &Region,
            _: usize,
            _: &'static AtomicU64,
            next: Option<&'static Self>,
        ) -> Result<Option<&'static Self>, Exhausted> {
            Ok(next)
        }
    }

    /// None.
    pub struct Accelerators;

    impl Accelerators {
        /// None.
        pub const fn new(_: Option<&'static Interface>, _: u64) -> Self {
            Self
        }

        /// There never is any.
        pub const fn has_news(&self) -> bool {
            false
        }

        /// None.
        pub const fn take_news(&self) -> u64 {
            0
        }

        /// No address is one's.
        pub const fn at(&self, _: &Vm, _: u64) -> Option<&'static Interface> {
            None
        }
    }
}

/// Carries out a store to a virtual device.
pub fn store(_: &mut HartCtx, interface: &Interface, _: u64, _: u32) {
    match *interface {}
}

/// None is closed.
pub fn recheck_closed(_: &mut HartCtx, _: &Vm) {}

/// None is to be closed.
pub fn end(_: &mut HartCtx, _: &Vm) {}

/// None computes.
pub const fn has_ended(_: &Vm) -> bool {
    true
}

/// There is no such call.
pub fn requests(_: &mut HartCtx, _: &'static Vcpu, _: [u64; 4], _: bool) -> SbiResult {
    Err(SbiError::NOT_SUPPORTED)
}
