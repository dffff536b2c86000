//! The hart's time: computing without pause, and a timer that never rests.

use core::sync::atomic::{AtomicU32, Ordering};

use tactus_guest::{sbi, start, time, trap};

use super::Attacker;

/// Timer interrupts that each vCPU still asks for, without pause.
static STORM: [AtomicU32; start::HARTS_MAX] = [const { AtomicU32::new(0) }; start::HARTS_MAX];

/// Rounds of one step.
const ROUNDS: usize = 16;

/// Never yields, with interrupts off; uses the floating-point unit.
pub fn spin(attacker: &mut Attacker) {
    trap::without_interrupts(|| {
        let mut value = attacker.below(1_000) as f64;
        for _ in 0..20_000 {
            value = core::hint::black_box(value * 1.5);
        }
    });
}

/// Programs the timer to 0, to infinity, to the near future, in every way.
pub fn abuse(attacker: &mut Attacker) {
    match attacker.below(4) {
        0 => {
            for _ in 0..ROUNDS {
                time::set_deadline(0);
                time::set_deadline(time::NEVER);
            }
        }
        1 => {
            for _ in 0..ROUNDS {
                // Any answer is accepted: only the load of the calls counts.
                let _ = sbi::set_timer(0);
                let _ = sbi::set_timer(u64::MAX);
                let _ = sbi::set_timer(time::now());
                let _ = sbi::set_timer(1 << 63);
            }
        }
        // Interrupts that are due again as soon as their handler returns.
        2 => {
            STORM[start::hart() % start::HARTS_MAX].store(64, Ordering::Relaxed);
            time::set_deadline(0);
        }
        // Deadlines in the near future, with sleep until each, and sleeps that end at once.
        _ => trap::without_interrupts(|| {
            for _ in 0..ROUNDS {
                time::set_deadline(time::now() + attacker.below(4) as u64);
                // The interrupt stays pending, as interrupts are off.
                trap::wait_for_interrupt();
            }
            time::set_deadline(time::NEVER);
        }),
    }
}

/// The timer's handler.
pub fn tick() {
    let storm = &STORM[start::hart() % start::HARTS_MAX];
    let left = storm.load(Ordering::Relaxed);
    if left > 0 {
        storm.store(left - 1, Ordering::Relaxed);
        time::set_deadline(0);
    }
}
