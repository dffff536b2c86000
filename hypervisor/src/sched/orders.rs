//! Orders of admission about reservations (protocol R1): changes, and moves to another hart.

use super::{fpu, wake};
use crate::hart::context::{HartCtx, Local};
use crate::system::system;
use crate::vm::Vcpu;
use core::sync::atomic::Ordering;

/// Carries out what admission has ordered about a waiting real-time vCPU (protocol R1); `true`: it is another hart's
/// now.
pub fn carry_out_orders(cx: &mut HartCtx, vcpu: &'static Vcpu) -> bool {
    if !vcpu.relocation.may_have_orders() {
        return false;
    }
    let orders = vcpu.relocation.take();
    let (local, body) = cx.with_body(vcpu);
    if orders.change.is_some() {
        body.next = orders.change;
        drain_reservation(local);
    }
    let Some(to) = orders.to else { return false };
    drain_reservation(local);
    fpu::save_if_unsaved(&mut cx.local, &mut cx.bodies, vcpu);
    wake::cancel_wakeup(&mut cx.local, vcpu);
    vcpu.owner.release();
    vcpu.relocation.arrive(to);
    system().harts[to].post(vcpu, None);
    true
}

/// A reservation that admission no longer counts on this hart has had its last job here.
fn drain_reservation(local: &mut Local) {
    let hart = local.hart;
    hart.awaiting_idle_instant.store(true, Ordering::Relaxed);
    hart.departing_reservations.end_one();
    // Perhaps nothing else is left, and successors may begin.
    local.needs_resched = true;
}
