//! The change of a hart's current vCPU: accounting, registers, address spaces.

#[cfg(doc)]
use super::signals;
use super::{fpu, modes};
use crate::arch;
use crate::arch::context::{self, Context};
use crate::body::Body;
use crate::hart::context::{HartCtx, Local};
use crate::migration;
use crate::system::system;
use crate::vm::Vcpu;
use core::hint::cold_path;
use core::sync::atomic::{Ordering, fence};
use tactus_abi::blob::Class;
use tactus_policy::translations;

/// The hart goes from one such vCPU to another: its registers take the place of those of the one that leaves, which are
/// then in its context. The timer is still to be armed, and [`signals::answer_fence_waiters`] is to follow. `true`: the
/// vCPU is to be given the floating-point unit.
#[inline(always)]
pub fn context_switch(
    local: &mut Local,
    (vcpu, from): (&'static Vcpu, &mut Body),
    (next, to): (&'static Vcpu, &mut Body),
    now: u64,
) -> bool {
    account(local, vcpu, from, now);
    set_current(local, next, to, now);
    if from.livelock.is_watched() {
        cold_path();
        context::watch(false);
    }
    let wants_fpu = load_registers(local, &mut from.context, next, to);
    fpu::mark_unsaved(local, vcpu, from);
    wants_fpu
}

/// The current vCPU has had the hart up to now.
#[inline]
pub fn account(local: &mut Local, vcpu: &Vcpu, body: &mut Body, now: u64) {
    let ticks = now.wrapping_sub(local.timer.since());
    // Only this hart writes it.
    if let Some(all) = vcpu.vm.ticks.get(local.hart.index) {
        let sum = all.load(Ordering::Relaxed).wrapping_add(ticks);
        all.store(sum, Ordering::Relaxed);
    }
    if body.reserved {
        charge(local, vcpu, body, now);
    }
    body.slice_left = local.timer.slice_end().saturating_sub(now);
}

/// The same for its budget.
#[cold]
#[inline(never)]
fn charge(local: &mut Local, vcpu: &Vcpu, body: &mut Body, now: u64) {
    if let Some(account) = &mut body.account {
        account.charge(now.wrapping_sub(local.timer.since()), now, &vcpu.record);
    }
}

/// The hart is the vCPU's, which it owns, from `now` on. A full fence. The timer is still to be armed.
#[inline(always)]
pub fn set_current(local: &mut Local, vcpu: &'static Vcpu, body: &mut Body, now: u64) {
    debug_assert!(local.next.is_none());
    let (class, hart) = (vcpu.class, local.hart);
    vcpu.settle(hart.index);
    hart.running.store(vcpu.runs.0, Ordering::Relaxed);
    // From here on senders see who runs, and what they have sent before is seen here.
    fence(Ordering::SeqCst);
    let real_time = class == Class::RealTime;
    if local.real_time_only != real_time {
        local.real_time_only = real_time;
        hart.admit(class);
        match class {
            Class::RealTime => {
                // From here on no other hart interrupts this one for best-effort vCPUs; what has been sent for them
                // before waits, too.
                if arch::is_interrupted() {
                    arch::clear_software_interrupt();
                    if hart.has_urgent_news() {
                        arch::raise_software_interrupt();
                    }
                }
                if body.reserved {
                    local.expect_interrupt();
                }
                let held_until = now + system().held_for_ticks;
                local
                    .timer
                    .set_deferred_at(local.timer.deferred_at().max(held_until));
            }
            // What was sent while best-effort vCPUs' news had to wait.
            Class::BestEffort if hart.has_news() => arch::raise_software_interrupt(),
            Class::BestEffort => {}
        }
    }
    local.current = Some(vcpu);
    local.needs_resched = false;
    if body.slice_left == 0 {
        body.slice_left = system().blob.header.slice_ticks;
    }
    // In this order: the account is in another cache line.
    let budget_end = if !body.reserved {
        u64::MAX
    } else if modes::drops(local, body) {
        now
    } else {
        let account = body.account.as_ref();
        account.map_or(u64::MAX, |account| now + account.left())
    };
    local.timer.begin(now, now + body.slice_left, budget_end);
}

/// Puts a vCPU that this hart owns into the hart's control and status registers, if it is not there.
#[inline(always)]
pub fn load_if_absent(cx: &mut HartCtx, vcpu: &'static Vcpu) {
    let (local, body) = cx.with_body(vcpu);
    if !local.is_loaded(vcpu, body) {
        load(cx, vcpu);
    }
}

#[inline(never)]
fn load(cx: &mut HartCtx, vcpu: &'static Vcpu) {
    let HartCtx {
        bodies,
        local,
        scratch_context,
    } = cx;
    let body = bodies.of(vcpu);
    let wants_fpu = load_registers(local, scratch_context, vcpu, body);
    migration::confine(local.hart, vcpu);
    if wants_fpu {
        fpu::give(cx, vcpu);
    }
}

/// Puts a vCPU that this hart owns into the hart's control and status registers; what was in them goes to `from`.
/// `true`: it uses the floating-point unit, which holds another's registers.
///
/// Calls nothing but for its end, so that it needs no stack.
#[inline(never)]
fn load_registers(
    local: &mut Local,
    from: &mut Context,
    vcpu: &'static Vcpu,
    body: &mut Body,
) -> bool {
    let number = local.number;
    let came = body.loaded_on != number;
    body.loaded_on = number;
    local.loaded = Some(vcpu);
    let fpu_ready = (local.fpu_owner == vcpu.handle) & (body.fpu_on == number);
    let external = vcpu.external.load(Ordering::Relaxed);
    from.exchange(&mut body.context, local.hart.stack_top, fpu_ready, external);
    let wants_fpu = body.uses_fpu & !fpu_ready;
    if came | !vcpu.alone | body.livelock.is_watched() {
        return fence_and_watch(local, vcpu, body, came, wants_fpu);
    }
    wants_fpu
}

/// The end of [`load_registers`] where more is to be done. `came`: the vCPU ran on another hart before. Returns
/// `wants_fpu`.
#[inline(never)]
fn fence_and_watch(
    local: &mut Local,
    vcpu: &Vcpu,
    body: &Body,
    came: bool,
    wants_fpu: bool,
) -> bool {
    if body.livelock.is_watched() {
        context::watch(true);
    }
    if translations::enter(&mut local.last_vcpu[vcpu.vm.index], vcpu.index as u8, came) {
        // Cached translations are another vCPU's of the same VM, or this one's of a time before it changed them
        // elsewhere, or the VM's virtual devices were closed. Instructions are the same for all vCPUs of a VM; a fence
        // of instructions that concerns this vCPU was done on the hart that it had then.
        arch::fence_own_stage2();
        arch::fence_guest(came);
    }
    wants_fpu
}
