//! Without calls of SBI 0.1.

use crate::hart::context::HartCtx;
use crate::vm::Vcpu;

/// There is none.
pub fn has(_: usize) -> bool {
    false
}

/// There is none.
pub fn call(_: &mut HartCtx, _: &'static Vcpu, _: usize, _: u64) -> Option<u64> {
    None
}
