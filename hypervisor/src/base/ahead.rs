//! Without just-in-time dispatch each vCPU gets its hart when its time has come.

use crate::body::Body;
use crate::exit::NextContext;
use crate::hart::context::{HartCtx, Local};
use crate::vm::Vcpu;

/// None has.
pub const fn is_ahead(_: &Body) -> bool {
    false
}

/// None is.
pub const fn comes_first(_: &mut HartCtx) -> bool {
    false
}

/// None is.
pub const fn comes_first_at(_: &mut HartCtx, _: u64) -> bool {
    false
}

/// It is never so.
pub const fn is_guarded(_: &Local) -> bool {
    false
}

/// It is entered now.
pub fn enter_when_due(cx: &mut HartCtx, vcpu: &'static Vcpu) -> NextContext {
    NextContext::enter(&mut cx.local, vcpu)
}
