//! Many vCPUs that wake each other by IPIs, at random: who runs when is the doing of the hypervisor's ready queue and
//! nothing else, as there is no timer in it. A vCPU has a *turn* each time it is woken, and wakes others in it. The
//! order of the turns is reported as a hash. On one hart, with a slice that does not end, it is a function of the seed
//! and of the vCPUs' priorities.
//!
//! `seed=` is what chance is made of, `turns=` how many there are before the first vCPU calls all of them: each has to
//! answer. The first vCPU is to be of the lowest priority.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};
use core::time::Duration;

use tactus_guest::sbi::{self, HartMask};
use tactus_guest::start::{self, HARTS_MAX};
use tactus_guest::{devicetree, record, time, trap};

tactus_guest::entry!(main);

/// No answer takes so long.
const LOST: Duration = Duration::from_millis(500);
/// Times round a loop that a turn takes at most.
const WORK: usize = 64;
/// The vCPU that the VM begins with.
const FIRST: usize = 0;

static RANDOM: AtomicU64 = AtomicU64::new(0);
static VCPUS: AtomicUsize = AtomicUsize::new(0);
/// Turns that there have been, and how many there are to be.
static TURNS: AtomicU32 = AtomicU32::new(0);
static GOAL: AtomicU32 = AtomicU32::new(0);
/// Hash (FNV-1a) of who has had them.
static ORDER: AtomicU32 = AtomicU32::new(0x811c_9dc5);
/// Who has a turn.
static BUSY: [AtomicBool; HARTS_MAX] = [const { AtomicBool::new(false) }; HARTS_MAX];
/// All have been called, and who has answered.
static CALLED: AtomicBool = AtomicBool::new(false);
static ANSWERED: [AtomicBool; HARTS_MAX] = [const { AtomicBool::new(false) }; HARTS_MAX];

fn main() {
    let vcpus = devicetree::harts();
    let goal = devicetree::number("turns", 1000) as u32;
    RANDOM.store(devicetree::number("seed", 1), Relaxed);
    VCPUS.store(vcpus, Relaxed);
    GOAL.store(goal, Relaxed);
    for vcpu in 1..vcpus {
        assert_eq!(start::start_hart(vcpu, take_turns), Ok(()));
    }
    trap::on_software(turn);
    wake(HartMask::one(FIRST));
    while TURNS.load(Relaxed) < goal {
        trap::wait_for_interrupt();
        trap::enable_interrupts();
        trap::disable_interrupts();
    }
    record::metric("turns_order", ORDER.load(Relaxed), "count");

    CALLED.store(true, Relaxed);
    wake(HartMask::ALL);
    trap::enable_interrupts();
    let end = time::now() + time::ticks(LOST);
    for (vcpu, answered) in ANSWERED.iter().enumerate().take(vcpus) {
        while !answered.load(Relaxed) {
            assert!(time::now() < end, "vCPU {vcpu} does not answer");
            core::hint::spin_loop();
        }
    }
    record::pass(start::program());
}

fn take_turns() -> ! {
    trap::on_software(turn);
    trap::enable_interrupts();
    loop {
        trap::wait_for_interrupt();
    }
}

fn wake(vcpus: HartMask) {
    assert_eq!(sbi::send_ipi(vcpus), Ok(()));
}

/// What is done at an IPI.
fn turn() {
    let me = start::hart();
    assert!(!BUSY[me].swap(true, Relaxed), "vCPU {me} is there twice");
    if CALLED.load(Relaxed) {
        ANSWERED[me].store(true, Relaxed);
    } else if TURNS.load(Relaxed) < GOAL.load(Relaxed) {
        let _ = ORDER.fetch_update(Relaxed, Relaxed, |order| {
            Some((order ^ me as u32).wrapping_mul(0x0100_0193))
        });
        TURNS.fetch_add(1, Relaxed);
        go_on();
    } else if me != FIRST {
        wake(HartMask::one(FIRST));
    }
    BUSY[me].store(false, Relaxed);
}

/// Works for a while, and wakes others: one for certain, and every fourth.
fn go_on() {
    let next = |random: u64| {
        Some(
            random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407),
        )
    };
    let random = match RANDOM.fetch_update(Relaxed, Relaxed, next) {
        Ok(random) | Err(random) => (random >> 16) as usize,
    };
    for _ in 0..random % WORK {
        core::hint::spin_loop();
    }
    let vcpus = VCPUS.load(Relaxed);
    let some = random & random >> 16 & ((1 << vcpus) - 1);
    let one = 1 << ((random >> 32) % vcpus);
    wake(HartMask {
        mask: some | one,
        base: 0,
    });
}
