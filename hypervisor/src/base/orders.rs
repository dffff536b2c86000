//! Without calls for reservations, nothing is ordered about them.

use crate::hart::context::HartCtx;
use crate::vm::Vcpu;

/// The vCPU stays this hart's, as it is.
pub fn carry_out_orders(_: &mut HartCtx, _: &'static Vcpu) -> bool {
    false
}
