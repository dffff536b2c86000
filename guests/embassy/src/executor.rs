//! The executor: one for each vCPU that calls [`run`].

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use embassy_executor::{Spawner, raw};
use tactus_guest::sbi::{self, HartMask};
use tactus_guest::{start, time, trap};

use crate::{doorbell, time as driver};

/// Whether an executor has tasks to poll, by the number of its vCPU.
static PENDING: [AtomicBool; start::HARTS_MAX] =
    [const { AtomicBool::new(false) }; start::HARTS_MAX];

static PASSES: AtomicU64 = AtomicU64::new(0);
static WAITS: AtomicU64 = AtomicU64::new(0);
static WAITED: AtomicU64 = AtomicU64::new(0);

/// Counters of the executors since the guest started.
#[derive(Clone, Copy, Debug)]
pub struct Activity {
    /// Passes over the ready tasks.
    pub passes: u64,
    /// `wfi` instructions executed because no task was ready.
    pub waits: u64,
    /// Ticks spent in these waits.
    pub waited: u64,
}

/// Reads the counters of all executors.
pub fn activity() -> Activity {
    Activity {
        passes: PASSES.load(Ordering::Relaxed),
        waits: WAITS.load(Ordering::Relaxed),
        waited: WAITED.load(Ordering::Relaxed),
    }
}

/// Runs tasks on the calling vCPU and never returns. `init` spawns the first tasks. A task ends the guest with
/// [`tactus_guest::power::off`].
///
/// Without a ready task the vCPU executes `wfi`, which yields the hart to other VMs.
pub fn run(init: impl FnOnce(Spawner)) -> ! {
    let hart = start::hart();
    driver::enable();
    doorbell::enable();
    // The handler does nothing: `PENDING` shows which executor has work.
    trap::on_software(|| ());
    // The context is the vCPU's number, not an address.
    let executor = raw::Executor::new(core::ptr::without_provenance_mut(hart));
    // SAFETY: this function never returns, and a panic ends the guest: the executor lives as long as the guest.
    // So the reference is valid for ever.
    let executor: &'static raw::Executor =
        unsafe { core::mem::transmute::<&raw::Executor, _>(&executor) };
    init(executor.spawner());
    loop {
        // A task that becomes ready from here on is polled in this pass, or sets the flag again.
        PENDING[hart].store(false, Ordering::Release);
        // SAFETY: only this vCPU uses this executor, and a task cannot call this function.
        unsafe { executor.poll() };
        PASSES.fetch_add(1, Ordering::Relaxed);
        wait(hart);
    }
}

/// Waits until there are tasks to poll, or an interrupt has been handled.
fn wait(hart: usize) {
    // Interrupts are off: one that arrives after the check ends the `wfi` at once, and is taken when they are enabled.
    trap::disable_interrupts();
    if !PENDING[hart].load(Ordering::Acquire) {
        let begin = time::now();
        trap::wait_for_interrupt();
        WAITS.fetch_add(1, Ordering::Relaxed);
        WAITED.fetch_add(time::now() - begin, Ordering::Relaxed);
    }
    trap::enable_interrupts();
}

/// Called by Embassy when a task of that executor becomes ready, in any context.
#[unsafe(export_name = "__pender")]
fn pender(context: *mut ()) {
    let hart = context.addr();
    let was_pending = PENDING[hart].swap(true, Ordering::AcqRel);
    if hart != start::hart() && !was_pending {
        // It fails only for a vCPU that does not exist, which runs no executor.
        let _ = sbi::send_ipi(HartMask::one(hart));
    }
}
