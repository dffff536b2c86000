//! Without calls for reservations: those of the configuration hold.

use crate::call::{AnswerTo, SbiError, SbiResult};
use crate::hart::context::HartCtx;
use crate::vm::Vcpu;

/// There is no such call.
pub fn create(_: &mut HartCtx, _: &'static Vcpu, _: [u64; 6], _: AnswerTo) -> Result<(), SbiError> {
    Err(SbiError::NOT_SUPPORTED)
}

/// There is no such call.
pub fn change(_: &mut HartCtx, _: &'static Vcpu, _: [u64; 6], _: AnswerTo) -> Result<(), SbiError> {
    Err(SbiError::NOT_SUPPORTED)
}

/// There is no such call.
pub fn delete(_: &'static Vcpu, _: u64) -> SbiResult {
    Err(SbiError::NOT_SUPPORTED)
}

/// No call is left to be continued.
pub fn continue_call(_: &mut HartCtx, _: &'static Vcpu) -> bool {
    true
}
