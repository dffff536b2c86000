//! Best-effort vCPUs that others are measured beside: `load=` in the boot arguments says what they do, until the run is over.
//!
//! * `none`: the VM goes off at once;
//! * `compute`: each vCPU computes, with the integer and the floating-point unit, and nothing else.
#![no_std]
#![no_main]

use core::hint::black_box;

use tactus_guest::{devicetree, record, start};

tactus_guest::entry!(main);

fn main() {
    match devicetree::argument("load") {
        None | Some("none") => {}
        Some("compute") => {
            for number in 1..devicetree::harts() {
                if let Err(error) = start::start_hart(number, compute) {
                    return record::fail(
                        start::program(),
                        format_args!("vCPU {number}: {error:?}"),
                    );
                }
            }
            compute();
        }
        Some(other) => record::fail(start::program(), format_args!("there is no load `{other}`")),
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
