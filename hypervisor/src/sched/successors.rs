//! The start of reservations that have waited for the last job of what was on the hart before.

use super::{modes, wake};
use crate::arch;
use crate::hart::context::HartCtx;
use crate::system::system;
use core::sync::atomic::Ordering;
use tactus_policy::ready::Handle;
use tactus_policy::table::bits;

/// The hart has no real-time work: the successors of departed reservations may begin. `true`: one does.
pub fn start_pending_reservations(cx: &mut HartCtx) -> bool {
    let hart = cx.local.hart;
    if !hart.awaiting_idle_instant.load(Ordering::Relaxed)
        || !hart.departing_reservations.are_over()
    {
        return false;
    }
    hart.awaiting_idle_instant.store(false, Ordering::Release);
    modes::end(&mut cx.local);
    let starting = core::mem::take(&mut cx.local.starting_reservations.0);
    let mut any = false;
    for (word, vcpus) in starting.into_iter().enumerate() {
        for bit in bits(vcpus) {
            wake::wake(cx, system().vcpu((word * 64 + bit) as Handle), arch::now());
            any = true;
        }
    }
    any
}
