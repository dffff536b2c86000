//! Drives the fabric's block `stamp`, which is assigned to it: reads its counter, and waits for its interrupt.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering};

use tactus_guest::plic::Plic;
use tactus_guest::{println, record, start, trap};
use tactus_registers::stamp::Stamp;

tactus_guest::entry!(main);

/// Address of the block in the system, and its interrupt.
const BLOCK: usize = 0x4000_0000;
const SOURCE: u32 = 40;
/// Cycles of the fabric from the read of the counter to the interrupt: 100 us.
const AHEAD: u64 = 10_000;
/// Number of alarms.
const ALARMS: u64 = 3;

static ALARMS_SEEN: AtomicU64 = AtomicU64::new(0);
/// The counter when the interrupt was taken.
static TAKEN: AtomicU64 = AtomicU64::new(0);

fn block() -> Stamp<'static> {
    // Safety: the system maps the block's registers there, and only this guest's one vCPU uses them.
    unsafe { Stamp::from_ptr(BLOCK as *mut ()) }
}

fn main() {
    let id = block().id().read();
    println!("block {:#06x}, version {}", id.kind(), id.version());
    if id.kind() != 0x5354 {
        record::fail(start::program(), "there is no block `stamp`");
        return;
    }
    trap::on_external(alarm);
    Plic::of_hart(start::hart()).enable(SOURCE, 1);
    block().irq_enable().write(|enable| enable.set_match(true));
    trap::enable_interrupts();
    for number in 1..=ALARMS {
        let at = block().cycles().read().value() + AHEAD;
        block().compare().write(|compare| compare.set_value(at));
        while ALARMS_SEEN.load(Ordering::Relaxed) < number {
            trap::wait_for_interrupt();
        }
        let late = TAKEN.load(Ordering::Relaxed).wrapping_sub(at);
        println!("alarm {number}: read {late} cycles of the fabric after its time");
        // Never early; the delay is the path through the hypervisor and this guest to the handler.
        if late >= AHEAD {
            record::fail(start::program(), "an alarm was early, or much too late");
            return;
        }
    }
    record::pass(start::program());
}

/// Handles the block's interrupt: clears it.
fn alarm(source: u32) {
    if source == SOURCE {
        TAKEN.store(block().cycles().read().value(), Ordering::Relaxed);
        block().irq_clear().write(|clear| clear.set_match(true));
        // The line must be low before the interrupt is completed.
        let _ = block().irq_pending().read();
        ALARMS_SEEN.fetch_add(1, Ordering::Relaxed);
    }
}
