//! Best-effort vCPUs that generate load beside a measurement: `load=` in the boot arguments selects it, until the end
//! of the run.
//!
//! * `none`: the VM powers off at once;
//! * `compute`: each vCPU only computes, with the integer and the floating-point unit;
//! * `calls`: each vCPU repeats the SBI calls that concern only itself, but not the one for `fence.i`, which empties
//!   the L1 cache;
//! * `fence_i`, `sfence_vma`: the first vCPU asks all others, which compute, for a fence of instructions, or of
//!   translations;
//! * `memory`: each vCPU writes repeatedly to the same 1 MiB, a word in each line of 32 bytes: more than the caches
//!   hold.
#![no_std]
#![no_main]

use core::hint::black_box;
use core::sync::atomic::{AtomicU64, Ordering};

use tactus_guest::{csr, devicetree, record, sbi, start, time};

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
        Some("calls") => everywhere(call),
        Some("fence_i") => beside_others(|| sbi::remote_fence_i(sbi::HartMask::ALL)),
        Some("sfence_vma") => {
            beside_others(|| sbi::remote_sfence_vma(sbi::HartMask::ALL, 0, 0x1000))
        }
        Some("memory") => everywhere(write),
        Some(other) => record::fail(start::program(), format_args!("there is no load `{other}`")),
    }
}

/// Starts a load on all vCPUs.
fn everywhere(load: fn() -> !) {
    if start_others(load) {
        load();
    }
}

/// Starts a load on all vCPUs but this one; `false`: it cannot be started.
fn start_others(load: fn() -> !) -> bool {
    for number in 1..devicetree::harts() {
        if let Err(error) = start::start_hart(number, load) {
            record::fail(start::program(), format_args!("vCPU {number}: {error:?}"));
            return false;
        }
    }
    true
}

/// Repeats a call, while all other vCPUs compute.
fn beside_others(call: fn() -> Result<(), sbi::Error>) {
    if start_others(compute) {
        loop {
            call().ok();
            pause();
        }
    }
}

/// Lets some 1,000 cycles pass.
fn pause() {
    for round in 0..PAUSE {
        black_box(round);
    }
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

/// Cycles of the loop between two rounds of calls.
const PAUSE: u32 = 1000;

fn call() -> ! {
    let own = sbi::HartMask::one(start::hart());
    loop {
        black_box(sbi::spec_version());
        black_box(sbi::hart_status(start::hart())).ok();
        sbi::send_ipi(own).ok();
        // SAFETY: clearing a pending interrupt is always sound.
        unsafe { csr::clear::<{ csr::SIP }>(csr::INTERRUPT_SOFTWARE) };
        sbi::remote_sfence_vma(own, 0, 0x1000).ok();
        sbi::set_timer(time::now()).ok();
        sbi::set_timer(u64::MAX).ok();
        pause();
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
