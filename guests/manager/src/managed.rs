//! A VM that others manage, for systems that show and test it. What it does is in its boot argument `role`:
//!
//! * `beat`: it works for a quarter of each tenth of a second, for ever, and counts seconds;
//! * `crash`: it has a fault `ms=N` (50) milliseconds after its start;
//! * `witness`: it looks 1000 times in `ms=N` (100) milliseconds whether its memory is as it has left it, and ends.
#![no_std]
#![no_main]

use tactus_guest::{devicetree, println, record, time, trap};

tactus_guest::entry!(main);

/// Looks of a witness.
const LOOKS: u64 = 1000;
/// Words that it looks at.
const WORDS: usize = 1 << 15;

static mut MEMORY: [u64; WORDS] = [0; WORDS];

fn main() {
    trap::on_timer(|| {});
    match devicetree::argument("role") {
        Some("beat") => beat(),
        Some("crash") => crash(),
        Some("witness") => witness(),
        _ => record::give_up("the boot argument role is beat, crash or witness"),
    }
}

/// Sleeps until that time.
fn sleep_until(time: u64) {
    time::set_deadline(time);
    while time::now() < time {
        trap::wait_for_interrupt();
    }
    time::set_deadline(time::NEVER);
}

fn beat() -> ! {
    let period = time::hz() / 10;
    let mut next = time::now();
    for beat in 0u64.. {
        if beat % 10 == 0 {
            println!("second {}", beat / 10);
        }
        time::busy_wait(period / 4);
        next += period;
        sleep_until(next);
    }
    unreachable!("beats are counted for ever")
}

fn crash() {
    let ms = devicetree::number("ms", 50);
    sleep_until(time::now() + ms * time::hz() / 1000);
    // SAFETY: nothing is there: the load is a fault of this VM, which ends it.
    unsafe { core::ptr::read_volatile(core::ptr::without_provenance::<u64>(0x100)) };
    record::fail("crash", "the load was not a fault");
}

fn witness() {
    // SAFETY: the only reference: this runs once, on the only vCPU.
    let memory: &mut [u64] = unsafe { (&raw mut MEMORY).as_mut_unchecked() };
    let value =
        |look: u64, index: usize| (look << 32 | index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let step = devicetree::number("ms", 100) * time::hz() / 1000 / LOOKS;
    let mut next = time::now();
    for look in 0..LOOKS {
        // In parts, so that a look takes a fraction of a step.
        let part = look as usize % 64 * (WORDS / 64)..;
        let words = memory[part].iter_mut().take(WORDS / 64).enumerate();
        for (index, word) in words {
            let expected = match look {
                0..64 => 0,
                _ => value(look - 64, index),
            };
            // As if another could write it.
            let found = core::hint::black_box(*word);
            if found != expected {
                record::fail(
                    "witness",
                    format_args!("{found:#x} in place of {expected:#x}"),
                );
                return;
            }
            *word = value(look, index);
        }
        next += step;
        sleep_until(next);
    }
    record::pass("witness");
}
