//! Without messages between VMs.

use crate::call::{AnswerTo, SbiError};
use crate::hart::context::HartCtx;
use crate::vm::Vcpu;

/// What waits at the ends of channels.
pub mod endpoint {
    use crate::arena::{Arena, Exhausted};
    use tactus_abi::blob::Blob;
    use tactus_policy::table::Table;

    /// Nothing waits.
    pub struct Endpoint;

    /// No call can be made.
    pub enum Call {}

    /// There are none.
    pub fn endpoints(_: &Arena, _: &Blob<'static>) -> Result<&'static Table<Endpoint>, Exhausted> {
        Ok(Table::new(&[]))
    }
}

/// vCPUs that wait for a slot.
pub mod waiters {
    use crate::hart::context::HartCtx;
    use crate::vm::Vcpu;

    /// The vCPU has no call that could be abandoned.
    pub fn abandon(_: &mut HartCtx, _: &'static Vcpu) {}
}

/// There is no such call.
pub fn begin(
    _: &mut HartCtx,
    _: &'static Vcpu,
    _: bool,
    _: [u64; 6],
    _: AnswerTo,
) -> Result<(), SbiError> {
    Err(SbiError::NOT_SUPPORTED)
}

/// No call is left to be continued.
pub fn continue_call(_: &mut HartCtx, _: &'static Vcpu) -> bool {
    true
}
