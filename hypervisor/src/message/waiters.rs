//! vCPUs that wait for a slot, and callers that stop.

use crate::hart::context::HartCtx;
use crate::system::system;
use crate::vm::Vcpu;
use core::sync::atomic::{Ordering, fence};
use tactus_policy::ready::Handle;

/// The vCPU that has got what it waited for, if one has; it is to be notified.
pub fn woken(wake: Option<Handle>) -> Option<&'static Vcpu> {
    let vcpu = system().vcpu(wake?);
    vcpu.message.store(true, Ordering::Release);
    Some(vcpu)
}

/// A vCPU of this hart stops: its call is abandoned. The slot is another's, or the message is back in the queue.
pub fn abandon(cx: &mut HartCtx, vcpu: &'static Vcpu) {
    let Some(call) = cx.bodies.of(vcpu).message.take() else {
        return;
    };
    if let Some(other) = woken(call.leave(vcpu.handle, false).wake) {
        // Not from here: it may be about to stop too, and so on.
        fence(Ordering::SeqCst);
        system().harts[other.home()].post(other, None);
    }
}
