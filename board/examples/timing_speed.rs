//! Prints how long the calls of the timing models take, in nanoseconds of this machine.
//!
//! `cargo run --release -p tactus-board --example timing_speed`

use std::hint::black_box;
use std::time::Instant;

use tactus_board::decode::{Operation, decode};
use tactus_board::profile::Profile;
use tactus_board::timing::{BranchKind, Page, Schedule, Side, Timing};

const CALLS: u64 = 100_000;
/// The best of so many trials counts: what disturbs a trial only makes it longer.
const TRIALS: usize = 100;
const BASE: u64 = 0x8000_0000;
const LINE: u64 = 32;
/// Bytes from a line to the next of the same set of the L1 caches of `soc`.
const L1_STRIDE: u64 = 8 << 10;

fn main() {
    let profile = Profile::named("soc").expect("it comes with the crate");
    let new = || Timing::new(&profile.timing, 2, 1);

    let mut timing = new();
    timing.data(0, BASE, false, 0);
    report("load, hit in the most recent way", |call| {
        timing.data(0, black_box(BASE), false, call)
    });
    timing.data(0, BASE, true, 0);
    report("store, hit in the most recent way", |call| {
        timing.data(0, black_box(BASE), true, call)
    });
    let mut timing = new();
    report("load, hit over a working set of 16 KiB", |call| {
        timing.data(0, BASE + call * 40 % (16 << 10), false, call)
    });
    let mut timing = new();
    report("load, hit in another way each time", |call| {
        timing.data(0, BASE + call % 4 * L1_STRIDE, false, call)
    });
    let mut timing = new();
    report("load, miss that hits the L2 cache", |call| {
        timing.data(0, BASE + call * LINE % (256 << 10), false, call * 100)
    });
    let mut timing = new();
    report("load, miss to memory", |call| {
        timing.data(0, BASE + call * LINE % (64 << 20), false, call * 200)
    });
    let mut timing = new();
    report("store, miss to memory", |call| {
        timing.data(0, BASE + call * LINE % (64 << 20), true, call * 200)
    });
    let mut timing = new();
    report("store, to what the other hart has dirty", |call| {
        timing.data((call & 1) as usize, BASE, true, call * 100)
    });
    let mut timing = new();
    report("fetch, same line", |call| {
        timing.fetch(0, black_box(BASE), 1, call)
    });
    let mut timing = new();
    report("fetch, 2 lines, hits over 16 KiB", |call| {
        timing.fetch(0, BASE + call * 64 % (16 << 10), 2, call)
    });
    let mut timing = new();
    report("branch, a loop's", |call| {
        let taken = call % 100 != 0;
        timing.branch(0, BASE, BranchKind::Conditional, taken, BASE - 64, BASE + 4)
    });
    let mut timing = new();
    report("call and return", |call| {
        let site = BASE + call % 64 * 4;
        timing.branch(0, site, BranchKind::Call, true, BASE + 0x1000, site + 4)
            + timing.branch(
                0,
                BASE + 0x1040,
                BranchKind::Return,
                true,
                site + 4,
                BASE + 0x1044,
            )
    });
    let mut timing = new();
    report("TLB, walk and fill of 1,024 pages in turn", |call| {
        let page = Page {
            context: 1,
            number: call % 1024,
        };
        timing.tlb(0, Side::Data, page);
        timing
            .tlb_fill(0, Side::Data, page)
            .map_or(0, |left| left.number)
    });
    let mpsoc = Profile::named("mpsoc").expect("it comes with the crate");
    let mut timing = Timing::new(&mpsoc.timing, 2, 1);
    report("load without caches (mpsoc)", |call| {
        timing.data(0, BASE + call % 64, false, call)
    });

    // Every operation in turn, as a block of 16.
    let instructions: Vec<_> = Operation::ALL
        .iter()
        .filter_map(|operation| {
            decode(operation.encoding().1 | 0x0020_8180 & !operation.encoding().0)
        })
        .collect();
    let mut schedule = Schedule::new(&profile.timing.pipeline);
    report("schedule, an instruction", |call| {
        if call % 16 == 0 {
            schedule = Schedule::new(&profile.timing.pipeline);
        }
        u64::from(schedule.next(&instructions[call as usize % instructions.len()]))
    });
}

/// Prints the nanoseconds that a call of `work` takes, which is given the number of the call.
fn report(name: &str, mut work: impl FnMut(u64) -> u64) {
    let mut best = f64::INFINITY;
    for _ in 0..TRIALS {
        let begin = Instant::now();
        let mut sum = 0_u64;
        for call in 0..CALLS {
            sum = sum.wrapping_add(work(call));
        }
        black_box(sum);
        best = best.min(begin.elapsed().as_nanos() as f64 / CALLS as f64);
    }
    println!("{name:42} {best:6.2} ns");
}
