//! Without calls between VMs.

use crate::call::{SbiError, SbiResult};
use crate::hart::context::HartCtx;
use crate::vm::Vcpu;

/// What a VM does for others: nothing.
pub struct Service;

impl Service {
    /// There is none.
    pub const fn new() -> Self {
        Self
    }

    /// There are no calls.
    pub fn close(&self) {}
}

/// There is no such call.
pub fn serve(_: &mut HartCtx, _: &'static Vcpu, _: u64, _: u64) -> SbiResult {
    Err(SbiError::NOT_SUPPORTED)
}

/// There is no such call.
pub const fn is_call(_: &[u64; 32]) -> bool {
    false
}

/// There is no such call.
pub fn call(_: &mut HartCtx, _: &'static Vcpu, _: u64) -> SbiResult {
    Err(SbiError::NOT_SUPPORTED)
}
