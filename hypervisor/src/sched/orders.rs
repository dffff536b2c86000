//! Orders of admission about reservations (protocol R1): changes, moves to another hart, the begin of successors.

use super::{fpu, wake};
use crate::arch;
use crate::hart::context::{HartCtx, Local};
use crate::system::system;
use crate::vm::Vcpu;
use core::sync::atomic::Ordering;
use tactus_policy::ready::Handle;

/// Carries out what admission has ordered about a waiting real-time vCPU (protocol R1); `true`: it is another hart's now.
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
    system().harts[to].post(vcpu);
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

/// The hart has no real-time work: the successors of departed reservations may begin. `true`: one does.
pub fn start_pending_reservations(cx: &mut HartCtx) -> bool {
    let hart = cx.local.hart;
    if !hart.awaiting_idle_instant.load(Ordering::Relaxed)
        || !hart.departing_reservations.are_over()
    {
        return false;
    }
    hart.awaiting_idle_instant.store(false, Ordering::Release);
    let starting = core::mem::take(&mut cx.local.starting_reservations.0);
    let mut any = false;
    for (word, mut bits) in starting.into_iter().enumerate() {
        // At most one step for each vCPU.
        while bits != 0 {
            let handle = word * 64 + bits.trailing_zeros() as usize;
            bits &= bits - 1;
            wake::wake(cx, system().vcpu(handle as Handle), arch::now());
            any = true;
        }
    }
    any
}
