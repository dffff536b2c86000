//! Best-effort vCPUs on harts that are for user level only.
//!
//! On such a hart ([`crate::hart::Hart::is_user_only`]) a best-effort vCPU runs as long as it stays at its user level.
//! Nothing is delegated to its kernel there: what would enter it, an exception or an interrupt of its own, comes to the
//! hypervisor, which does to the vCPU's registers what the hardware would have done, and puts the vCPU where another
//! hart takes it. So its kernel's instructions, and whatever they do to the hart, are on other harts only.
//!
//! It goes back when it pays: when it is at user level on a hart that others wait for whom no other hart can take, and
//! a hart for user level is free. A hart that others wait for is told so ([`request_migration`]), and has its vCPU's
//! returns to user level trap until it can go ([`migrate_if_waiters`]). Otherwise guests' kernels run as without all
//! this.

use crate::arch::{self, context};
use crate::body::Body;
use crate::hart::Hart;
use crate::hart::context::{HartCtx, Local};
use crate::log::Line;
use crate::system::system;
use crate::vm::Vcpu;
use core::hint::cold_path;
use core::sync::atomic::Ordering;
use tactus_abi::blob::Class;
pub use tactus_policy::migration::MigrationLimiter;
use tactus_policy::ready::ReadyQueue;
use tactus_policy::schedule::{Runs, precedence};

/// A trap on a hart for user level only has been served: has the current vCPU leave the hart when its kernel comes
/// next.
#[cold]
#[inline(never)]
pub fn trapped(cx: &mut HartCtx, vcpu: &'static Vcpu) {
    if vcpu.class == Class::BestEffort && !context::at_user_level() {
        cx.local.needs_resched = true;
    }
}

/// Keeps a best-effort vCPU in the hart's registers at its user level, if the hart is for nothing else.
pub fn confine(hart: &Hart, vcpu: &Vcpu) {
    if hart.is_user_only() && vcpu.class == Class::BestEffort {
        cold_path();
        context::confine(true);
    }
}

/// A best-effort vCPU whose registers are in the hart leaves it: decides where it may run next. Before it is saved.
#[cold]
pub fn leaves(local: &mut Local, vcpu: &Vcpu, body: &mut Body) {
    let at_user_level = context::at_user_level();
    context::trap_returns(false);
    if local.hart.is_user_only() {
        context::confine(false);
        // Entered again, it is confined again.
        local.loaded = None;
        if !at_user_level {
            vcpu.kernel_entries.fetch_add(1, Ordering::Relaxed);
            if let Some(migration_limiter) = &mut body.migration_limiter {
                migration_limiter.record_entry(arch::now());
            }
        }
    }
    vcpu.set_affinity(at_user_level && may_migrate(body));
}

/// Whether a vCPU that is at user level may go to harts for it.
fn may_migrate(body: &Body) -> bool {
    body.migration_limiter
        .as_ref()
        .is_none_or(|migration_limiter| migration_limiter.may_migrate(arch::now()))
}

/// The current vCPU's kernel returns from a trap, which has trapped as another vCPU waits for the hart.
#[cold]
pub fn returns(cx: &mut HartCtx) {
    context::return_from_trap();
    if context::at_user_level() {
        context::trap_returns(false);
        give_way(cx, true);
    }
}

/// If a vCPU waits for this hart that no hart for user level can take, and a hart for user level is free: has the
/// current vCPU leave this hart for that one, now or as soon as it is at user level.
#[cold]
pub fn migrate_if_waiters(cx: &mut HartCtx) {
    give_way(cx, false);
}

/// See [`migrate_if_waiters`]. `returned`: its kernel has just come to an end. Then a vCPU that has been on harts for
/// user level too often of late gives way as well, though it stays on this hart: in their kernels, vCPUs wait for each
/// other.
fn give_way(cx: &mut HartCtx, returned: bool) {
    let Some(vcpu) = cx.local.current else { return };
    if vcpu.harts == vcpu.kernel_harts || !is_free(vcpu.harts) {
        return;
    }
    let (local, body) = cx.with_body(vcpu);
    let here = !local.hart.is_user_only() && local.is_loaded(vcpu, body);
    if !here || waited_for(vcpu.priority) >> local.hart.index & 1 == 0 {
        return;
    }
    // Entered again, one that stays here runs to its next return: no two of them give way to each other for ever.
    if context::at_user_level() && (returned || may_migrate(body)) {
        // It goes behind those that wait: this hart takes one of them, and then offers it to the other.
        local.timer.set_slice_end(arch::now());
        local.needs_resched = true;
    } else {
        context::trap_returns(true);
    }
}

/// Tells the harts that vCPUs wait for whom no hart for user level can take, if such a hart is free.
#[cold]
pub fn request_migration(cx: &mut HartCtx) {
    if !is_free(u64::MAX) {
        return;
    }
    let harts = waited_for(0);
    if harts >> cx.local.hart.index & 1 != 0 {
        migrate_if_waiters(cx);
    }
    let others = system().harts.iter().filter(|other| {
        let runs = other.runs().precedence();
        other.index != cx.local.hart.index
            && harts >> other.index & 1 != 0
            && runs < precedence::REAL_TIME
    });
    for other in others {
        other.offer();
    }
}

/// Whether one of these harts is for user level only and has nothing to do.
fn is_free(harts: u64) -> bool {
    system().harts.iter().any(|hart| {
        let idle = hart.runs() == Runs::IDLE;
        idle && hart.is_user_only() && harts >> hart.index & 1 != 0
    })
}

/// Harts, as bits, that queued vCPUs of at least this priority wait for and that no hart for user level can take.
#[inline(never)]
fn waited_for(priority: u8) -> u64 {
    let system = system();
    let mut harts = 0;
    // At most one step for each vCPU.
    system.best_effort.lock().visit(&mut |handle| {
        let vcpu = system.vcpu(handle);
        if vcpu.priority >= priority && vcpu.affinity() & system.blob.header.user_only == 0 {
            harts |= vcpu.affinity();
        }
    });
    harts
}

/// Says how often a vCPU that has left a hart for user level has done so.
pub fn report(vcpu: &Vcpu) {
    let entries = vcpu.kernel_entries.load(Ordering::Relaxed);
    if entries > 0 {
        Line::new()
            .begin_of("usage migration", vcpu.vm.name)
            .number("vcpu", vcpu.index as u64)
            .number("kernel_entries", entries)
            .send();
    }
}
