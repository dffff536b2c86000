//! Exceptions that a guest is given, and ends of VMs that a guest brings about.

use crate::arch::context::{self, Context, Exception};
use crate::dispatch::look;
use crate::hart::context::HartCtx;
use crate::vm::Vcpu;
use crate::vm::{End, Vm};
use tactus_policy::livelock::Verdict;

/// Ends a VM, see [`Vm::end`].
pub fn end(cx: &mut HartCtx, vm: &Vm, end: End) {
    vm.end(cx, end);
    // Giving up the hart is another piece of work.
    look::may_continue(cx);
}

/// Applies a VM's `on_fault` policy, see [`Vm::fault`].
pub fn fault(cx: &mut HartCtx, vcpu: &Vcpu, why: &'static str, exception: &Exception) {
    vcpu.vm.fault(cx, vcpu, why, exception);
    look::may_continue(cx);
}

/// Gives the guest an exception, unless that has led nowhere for a long time.
pub fn deliver(cx: &mut HartCtx, vcpu: &'static Vcpu, exception: &Exception, cause: u64) {
    if exception.supervisor {
        let body = cx.bodies.of(vcpu);
        let digest = digest(&body.context, exception);
        match body.livelock.record_exception(digest) {
            Verdict::Deliver => {}
            Verdict::Watch => context::watch(true),
            Verdict::Livelock => {
                fault(cx, vcpu, "trap-loop", exception);
                return;
            }
        }
    }
    context::inject(cause, exception.value);
}

/// Sums up all that a trap handler could have changed (FNV-1a over doublewords).
fn digest(context: &Context, exception: &Exception) -> u64 {
    let trap = [exception.pc, exception.cause, exception.value];
    context.registers[1..]
        .iter()
        .chain(&trap)
        .fold(0xcbf2_9ce4_8422_2325, |hash, word| {
            (hash ^ word).wrapping_mul(0x0100_0000_01b3)
        })
}
