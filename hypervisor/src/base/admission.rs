//! Without calls for reservations nothing is admitted at run time: what the tool has judged holds.

use crate::hart::context::HartCtx;
use crate::vm::Vcpu;
use tactus_abi::blob::Blob;

/// What a vCPU asks of admission.
pub mod request {
    /// None can be made.
    #[derive(Clone, Copy)]
    pub enum PendingCall {}
}

/// Nothing is kept of the configuration's reservations but the vCPUs' accounts.
pub fn initialise(_: &Blob) {}

/// A vCPU has stopped: its reservation stays that of the configuration.
pub const fn stopped(_: &mut HartCtx, _: &Vcpu) {}
