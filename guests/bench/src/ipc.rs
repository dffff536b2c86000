//! Latency from one best-effort vCPU to another of lower priority on the same hart, through the ready queue: IPC in the
//! paper on hardware schedulers. One VM runs this as `role=sender`, of the higher priority, the other as
//! `role=receiver`.
//!
//! The receiver waits. The sender reads `cycle`, rings and waits. So the hypervisor wakes the receiver, and when
//! the sender blocks, picks the first vCPU: the receiver, whose first instruction reads `cycle`. Each
//! such path is a sample; `samples=` of them, after 16 that are not counted. With `cold=1` the sender evicts the caches
//! before it rings.
//!
//! `role=handler` is another measurement: a vCPU waits for its timer, with a higher priority than another, `role=busy`,
//! that computes. A sample is from the deadline to the first instruction of its handler.
#![no_std]
#![no_main]

use core::arch::naked_asm;
use core::sync::atomic::Ordering;
use core::time::Duration;

use tactus_bench::Samples;
use tactus_guest::abi::map;
use tactus_guest::channel::Channel;
use tactus_guest::plic::Plic;
use tactus_guest::stopwatch::Scale;
use tactus_guest::{csr, devicetree, power, println, record, start, stopwatch, time, trap};

tactus_guest::entry!(main);

/// Bytes of the channel's memory, as in the system file of this benchmark.
const MEMORY: usize = 4096;
/// Rounds before those that are counted.
const WARM: usize = 16;
/// Time for which the sender leaves the hart to the receiver after each round, and before the first.
const PAUSE: Duration = Duration::from_micros(50);
const QUIET: Duration = Duration::from_millis(20);
/// Result of a round in which another interrupt than the timer's has ended the wait.
const INTERRUPTED: u64 = 0;

fn main() {
    // SAFETY: the system file has one channel of that size for the sender and the receiver.
    let channel = unsafe { Channel::first(MEMORY) };
    println!("bench-ipc, boot arguments \"{}\"", devicetree::arguments());
    // Wait until the UART has sent the text.
    stopwatch::wait_until(time::now() + time::ticks(QUIET));
    match devicetree::argument("role") {
        Some("sender") => send(channel),
        Some("receiver") => receive(channel),
        Some("handler") => handle(),
        Some("busy") => compute(),
        _ => refuse("the boot arguments name no role"),
    }
}

/// Ends a run whose configuration permits no measurement.
fn refuse(reason: impl core::fmt::Display) -> ! {
    record::fail(start::program(), reason);
    power::off_failed()
}

/// Sets the timer to `deadline`, reads `cycle`, rings, and waits for the timer; returns the value read. It has its own
/// trap vector.
// SAFETY: no other symbol has this name.
#[unsafe(no_mangle)]
#[unsafe(naked)]
extern "C" fn bench_ipc_send(doorbell: usize, deadline: u64) -> u64 {
    naked_asm!(
        "lla    t0, 2f",
        "csrrw  t0, stvec, t0",
        "csrw   {stimecmp}, a1",
        "csrsi  sstatus, 2",
        "csrr   t2, cycle",
        "sw     zero, 0(a0)",
        "1:",
        "wfi",
        "j      1b",
        ".balign 4",
        "2:",
        "li     t1, -1",
        "csrw   {stimecmp}, t1",
        "csrw   stvec, t0",
        "mv     a0, t2",
        // The trap has disabled interrupts; the handler ends without `sret`.
        "ret",
        stimecmp = const csr::STIMECMP,
    )
}

/// Waits for an interrupt; returns `cycle` as the handler's first instruction reads it.
// SAFETY: no other symbol has this name.
#[unsafe(no_mangle)]
#[unsafe(naked)]
extern "C" fn bench_ipc_receive() -> u64 {
    naked_asm!(
        "lla    t0, 2f",
        "csrrw  t0, stvec, t0",
        "csrsi  sstatus, 2",
        "1:",
        "wfi",
        "j      1b",
        ".balign 4",
        "2:",
        "csrr   a0, cycle",
        "csrw   stvec, t0",
        "ret",
    )
}

fn send(channel: Channel) {
    let samples = devicetree::number("samples", 250) as usize;
    let cold = devicetree::number("cold", 0) != 0;
    let (received, listens) = (&channel.words()[0], &channel.words()[8]);
    let pause = time::ticks(PAUSE);
    let mut ways = Samples::new(WARM);
    trap::disable_interrupts();
    // SAFETY: interrupts are off in `sstatus`; `bench_ipc_send` takes this one.
    unsafe { csr::write::<{ csr::SIE }>(csr::INTERRUPT_TIMER) };
    while listens.load(Ordering::Acquire) == 0 {
        stopwatch::wait_until(time::now() + pause);
    }
    for round in 0..WARM + samples.min(ways.room()) {
        stopwatch::wait_until(time::now() + pause + round as u64 % 7);
        if cold {
            tactus_bench::evict();
        }
        received.store(INTERRUPTED, Ordering::Relaxed);
        let sent = bench_ipc_send(map::DOORBELL_BASE as usize, time::now() + pause);
        let got = received.load(Ordering::Acquire);
        if got <= sent {
            refuse(format_args!("round {round}: it was not received"));
        }
        ways.add(got - sent);
    }
    ways.report("ipc");
    record::pass(start::program());
}

fn handle() {
    let samples = devicetree::number("samples", 250) as usize;
    let pause = time::ticks(PAUSE);
    // The other VM is loaded meanwhile, and computes from then on.
    stopwatch::wait_until(time::now() + time::ticks(4 * QUIET));
    let scale = Scale::measure();
    let mut ways = Samples::new(WARM);
    for round in 0..WARM + samples.min(ways.room()) {
        let deadline = time::now() + pause + round as u64 * 617 % 64;
        let wakeup = stopwatch::wait_until(deadline);
        if !wakeup.is_timer() {
            refuse("another interrupt than the timer's");
        }
        ways.add(scale.late_by(wakeup, deadline));
    }
    ways.report("irq_latency");
    record::pass(start::program());
}

fn compute() -> ! {
    let mut number = 1u64;
    loop {
        number = core::hint::black_box(number.wrapping_mul(6_364_136_223_846_793_005) | 1);
    }
}

fn receive(channel: Channel) -> ! {
    let (received, listens) = (&channel.words()[0], &channel.words()[8]);
    channel.enable_interrupt(1);
    let plic = Plic::of_hart(start::hart());
    trap::disable_interrupts();
    // SAFETY: interrupts are off in `sstatus`; `bench_ipc_receive` takes this one.
    unsafe { csr::write::<{ csr::SIE }>(csr::INTERRUPT_EXTERNAL) };
    listens.store(1, Ordering::Release);
    loop {
        let cycle = bench_ipc_receive();
        received.store(cycle, Ordering::Release);
        if plic.claim() != Some(channel.source()) {
            refuse("an interrupt that is not the doorbell's");
        }
        plic.complete(channel.source());
    }
}
