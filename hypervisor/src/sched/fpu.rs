//! Floating-point registers: they stay in the hart when their vCPU leaves it, and are saved when another vCPU gets the
//! unit, or the vCPU leaves for another hart.
//!
//! A use of the unit without the registers traps, by way of the firmware, which delegates no illegal instruction: some
//! 500 instructions, with interrupts off. So a vCPU that used the unit when it had a hart last gets it with the next
//! switch, which takes 140. One that did not costs nothing.

use crate::arch::context;
use crate::body::Body;
use crate::hart::context::{HartCtx, Local, is_same};
use crate::migration;
use crate::vm::{Bodies, Vcpu};
use core::hint::cold_path;

/// The vCPU's registers have just been saved: its floating-point ones are still in the hart.
#[inline]
pub fn mark_unsaved(local: &mut Local, vcpu: &'static Vcpu, body: &mut Body) {
    body.uses_fpu = body.context.fpu_is_dirty();
    if body.uses_fpu {
        local.fpu_unsaved = Some(vcpu);
    }
}

/// The vCPU leaves this hart: so do its floating-point registers, if they are still here unsaved.
#[inline(always)]
pub fn save_if_unsaved(local: &mut Local, bodies: &mut Bodies, vcpu: &'static Vcpu) {
    if is_same(local.fpu_unsaved, vcpu) {
        save(local, bodies, vcpu);
    }
}

#[inline(never)]
fn save(local: &mut Local, bodies: &mut Bodies, vcpu: &'static Vcpu) {
    local.fpu_unsaved = None;
    let Body { context, fpu, .. } = bodies.of(vcpu);
    context.save_fpu(fpu);
}

/// Gives the vCPU whose other registers are in the hart the floating-point unit.
#[inline(never)]
pub fn give(cx: &mut HartCtx, vcpu: &'static Vcpu) {
    let HartCtx { bodies, local, .. } = cx;
    let owner = local.fpu_unsaved.take().map(|owner| bodies.of(owner));
    context::take_fpu(owner.map(|Body { context, fpu, .. }| (context, fpu)));
    let body = bodies.of(vcpu);
    body.fpu.give();
    body.fpu_on = local.number;
    local.fpu_owner = vcpu.handle;
    if body.livelock.is_watched() {
        cold_path();
        context::watch(true);
    }
    migration::confine(local.hart, vcpu);
}
