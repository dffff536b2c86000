//! A hart without a vCPU.

use crate::arch::{self, context};
use crate::console;
use crate::hart::context::HartCtx;
use crate::migration;
use crate::sched::{run_queue, switch};
use crate::system::system;
use crate::vm::devices;
use core::sync::atomic::Ordering;
use tactus_abi::blob::Class;
use tactus_policy::schedule::Runs;

/// Nothing to do until an interrupt comes.
#[inline(never)]
pub fn idle(cx: &mut HartCtx) {
    let local = &mut cx.local;
    local.timer.end(arch::now());
    local.rearm();
    if local.real_time_only {
        local.real_time_only = false;
        local.hart.admit(Class::BestEffort);
    }
    run_queue::offer_queued(cx);
    if console::has_unsent() {
        let room = console::pump();
        devices::notify_room(cx, room);
    } else {
        wait(cx);
    }
    let ticks = cx.local.timer.account(arch::now());
    cx.local.hart.idle_ticks.fetch_add(ticks, Ordering::Relaxed);
}

/// Waits, known to be idle, for an interrupt.
fn wait(cx: &mut HartCtx) {
    let hart = cx.local.hart;
    hart.running.store(Runs::IDLE.0, Ordering::SeqCst);
    if hart.is_user_only() {
        migration::request_migration(cx);
    }
    let (at, handle) = cx.local.timer.earliest_release();
    if at != u64::MAX {
        // The vCPU whose job is released next does not have to wait for its registers.
        switch::load_if_absent(cx, system().vcpu(handle));
    }
    if context::guest_interrupt_pending() {
        // The last guest's, which runs elsewhere or nowhere; it would end every wait.
        context::mask_guest_interrupts();
        cx.local.loaded = None;
    }
    // What was queued or posted before others could see this hart idle is seen here.
    if arch::pending_interrupts() == 0 && !run_queue::has_work_for(hart) && !hart.has_posts() {
        arch::wait_for_interrupt();
    }
}
