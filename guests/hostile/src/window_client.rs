//! A guest with a device that a hostile VM emulates: loads and stores in its window end, and nothing of its memory
//! changes but what it shares.
//!
//! Boot arguments: `quiet_ms=N` (40): it ends when no load was served for so long.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering};

use tactus_guest::plic::Plic;
use tactus_guest::{devicetree, record, start, time, trap};
use tactus_guest_hostile::random::Random;

tactus_guest::entry!(main);

/// Words that have to stay as they are.
const WORDS: usize = 32 << 10;

static CANARY: [AtomicU64; WORDS] = [const { AtomicU64::new(0) }; WORDS];
/// Interrupts of the device.
static INTERRUPTS: AtomicU64 = AtomicU64::new(0);

const fn canary(number: usize) -> u64 {
    (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn main() {
    let Some(device) = devicetree::page("virtio,mmio", 0) else {
        record::give_up("there is no device");
    };
    for (number, word) in CANARY.iter().enumerate() {
        word.store(canary(number), Ordering::Relaxed);
    }
    trap::on_external(|_| {
        INTERRUPTS.fetch_add(1, Ordering::Relaxed);
    });
    if let Some(source) = device.source {
        Plic::of_hart(start::hart()).enable(source, 1);
    }
    trap::enable_interrupts();
    let quiet = devicetree::number("quiet_ms", 40) * time::hz() / 1000;
    let mut random = Random::new(1);
    let (mut served, mut longest) = (0_u64, 0);
    let mut last = time::now();
    while time::now() - last < quiet {
        let number = random.next();
        let address = device.registers + (number as usize >> 8 & 0xff8);
        let since = time::now();
        // SAFETY: a register of a device of this VM.
        let value = unsafe {
            match number % 4 {
                0 => (address as *mut u32).write_volatile(number as u32),
                1 => (address as *mut u64).write_volatile(number),
                _ => {}
            }
            (address as *const u32).read_volatile()
        };
        let now = time::now();
        longest = (now - since).max(longest);
        if value != 0 {
            served += 1;
            last = now;
        }
    }
    trap::disable_interrupts();
    let changed =
        (0..WORDS).filter(|&number| CANARY[number].load(Ordering::Relaxed) != canary(number));
    let changed = changed.count();
    record::metric("loads_served", served, "count");
    record::metric("access_max", longest * 1_000_000 / time::hz(), "us");
    record::metric(
        "device_interrupts",
        INTERRUPTS.load(Ordering::Relaxed),
        "count",
    );
    if changed != 0 {
        record::give_up("its memory has changed");
    }
    record::pass(start::program());
}
