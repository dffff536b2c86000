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

/// A vCPU has stopped on this hart, its home: its next life begins with the reservation of the configuration.
pub fn stopped(cx: &mut HartCtx, vcpu: &'static Vcpu) {
    let account = &mut cx.bodies.of(vcpu).account;
    if let (Some(account), Some(reservation)) = (account, vcpu.relocation.promised()) {
        account.release_with(reservation, 0);
    }
}
