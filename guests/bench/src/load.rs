//! Best-effort vCPUs that generate load beside a measurement: `load=` in the boot arguments selects it, until the end
//! of the run.
//!
//! * `none`: the VM powers off at once;
//! * `compute`: each vCPU only computes, with the integer and the floating-point unit;
//! * `memory`: each vCPU writes repeatedly to the same 1 MiB, a word in each line of 32 bytes: more than the caches
//!   hold.
#![no_std]
#![no_main]

use core::hint::black_box;
use core::sync::atomic::{AtomicU64, Ordering};

use tactus_guest::{devicetree, record, start};

tactus_guest::entry!(main);

/// The memory that the load `memory` writes to.
static MEMORY: [AtomicU64; (1 << 20) / size_of::<AtomicU64>()] =
    [const { AtomicU64::new(0) }; (1 << 20) / size_of::<AtomicU64>()];
/// Words in a line.
const LINE: usize = 32 / size_of::<AtomicU64>();

fn main() {
    match devicetree::argument("load") {
        None | Some("none") => {}
        Some("compute") => everywhere(compute),
        Some("memory") => everywhere(write),
        Some(other) => record::fail(start::program(), format_args!("there is no load `{other}`")),
    }
}

/// Starts a load on all vCPUs.
fn everywhere(load: fn() -> !) {
    for number in 1..devicetree::harts() {
        if let Err(error) = start::start_hart(number, load) {
            return record::fail(start::program(), format_args!("vCPU {number}: {error:?}"));
        }
    }
    load();
}

fn compute() -> ! {
    let mut integer = 1u64;
    let mut floating = 1.0f64;
    loop {
        for _ in 0..1000 {
            integer = black_box(
                integer
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1),
            );
        }
        for _ in 0..100 {
            floating = black_box(floating * 1.000_1 + 1.0);
            if floating > 1e12 {
                floating = 1.0;
            }
        }
    }
}

fn write() -> ! {
    let mut value = 0;
    loop {
        for word in MEMORY.iter().step_by(LINE) {
            word.store(value, Ordering::Relaxed);
        }
        value += 1;
    }
}
