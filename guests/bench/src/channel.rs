//! Cost of communication between two VMs: doorbells, rings, copied messages. One VM runs this as `role=sender`, the
//! other as `role=receiver`; `measure=` is `doorbell`, `ring` or `message`.
//!
//! * `doorbell`: the sender rings; the receiver waits in `wfi`, or computes with `busy=1`, until the interrupt arrives.
//!   The board measures from [`bench_doorbell_ring`]'s first instruction, the store, to `bench_doorbell_heard`, the
//!   first of the receiver's vector. With `page=1` the receiver takes its interrupts by an interrupt page.
//! * `ring`: the sender sends blocks of 4 KiB as fast as possible, the receiver takes them: bytes per cycle of the
//!   receiver.
//! * `message`: one message after the other, of each size; measures the calls of both ends together, which make both
//!   copies.
#![no_std]
#![no_main]

use core::arch::naked_asm;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;

use tactus_bench::{Moments, Random, Thousandths};
use tactus_channel::{End, ReceiveError, SendError};
use tactus_guest::abi::hypercall::{EXTENSION, MESSAGE_RECEIVE, MESSAGE_SEND};
use tactus_guest::abi::interrupts::InterruptPage;
use tactus_guest::abi::map;
use tactus_guest::channel::Channel;
use tactus_guest::plic::Plic;
use tactus_guest::sbi::call_raw;
use tactus_guest::{
    csr, devicetree, interrupts, power, println, record, start, stopwatch, time, trap,
};

tactus_guest::entry!(main);

/// Bytes of the channel's memory, as in the system files of this benchmark.
const MEMORY: usize = 256 << 10;
/// Bytes of a block of the ring.
const BLOCK: usize = 4096;
/// Bytes of the messages.
const SIZES: [usize; 4] = [64, 256, 1024, 4096];
/// Ticks for which the sender lets the receiver settle before each round, at least: 10 us on the present platforms.
const SETTLE: u64 = 100;

/// Time for which both ends sleep at the start.
const QUIET: Duration = Duration::from_millis(20);

/// Shared memory with the progress of both ends.
struct Steps {
    /// Rounds that the sender has started.
    sent: &'static AtomicU64,
    /// Rounds that the receiver has finished.
    received: &'static AtomicU64,
    /// A value of the current round from the sender.
    told: &'static AtomicU64,
}

impl Steps {
    fn of(channel: Channel) -> Self {
        let words = channel.words();
        Self {
            sent: &words[0],
            received: &words[8],
            told: &words[16],
        }
    }
}

fn main() {
    let role = devicetree::argument("role").unwrap_or_default();
    let measure = devicetree::argument("measure").unwrap_or_default();
    let rounds = devicetree::number("rounds", 1000);
    // SAFETY: the system files of this benchmark have one channel of that size.
    let channel = unsafe { Channel::first(MEMORY) };
    println!(
        "bench-channel, boot arguments \"{}\"",
        devicetree::arguments()
    );
    // Wait until the UART has sent the text.
    stopwatch::wait_until(time::now() + time::ticks(QUIET));
    match (measure, role) {
        ("doorbell", "sender") => ring_doorbells(channel, rounds),
        ("doorbell", "receiver") => hear_doorbells(channel, rounds),
        ("ring", "sender") => send_blocks(channel, rounds),
        ("ring", "receiver") => receive_blocks(channel, rounds),
        ("message", "sender") => send_messages(channel, rounds),
        ("message", "receiver") => receive_messages(channel, rounds),
        _ => refuse("the boot arguments name nothing that there is to do"),
    }
    record::pass(start::program());
}

/// Ends a run whose configuration permits no measurement.
fn refuse(reason: impl core::fmt::Display) -> ! {
    record::fail(start::program(), reason);
    power::off_failed()
}

/// Spins until `step` has reached `count`.
fn until(step: &AtomicU64, count: u64) {
    while step.load(Ordering::Acquire) < count {
        core::hint::spin_loop();
    }
}

/// Stores to a doorbell.
// SAFETY: no other symbol has this name.
#[unsafe(no_mangle)]
#[unsafe(naked)]
extern "C" fn bench_doorbell_ring(doorbell: usize) {
    naked_asm!("sw zero, 0(a0)", "ret")
}

/// Waits for an interrupt, in `wfi` or computing; the vector is `bench_doorbell_heard`. Changes t0 and t1.
#[unsafe(naked)]
extern "C" fn listen(busy: usize) {
    naked_asm!(
        "lla    t0, bench_doorbell_heard",
        "csrrw  t0, stvec, t0",
        "csrsi  sstatus, 2",
        "1:",
        "addi   t1, t1, 1",
        "bnez   a0, 1b",
        "wfi",
        "j      1b",
        ".balign 4",
        ".globl bench_doorbell_heard",
        "bench_doorbell_heard:",
        // The trap has disabled interrupts; the handler ends without `sret`.
        "csrw   stvec, t0",
        "ret",
    )
}

/// Acknowledges an interrupt of the page.
fn take(page: &InterruptPage) -> Option<u32> {
    // SAFETY: clearing a pending interrupt is always sound.
    unsafe { csr::clear::<{ csr::SIP }>(csr::INTERRUPT_SOFTWARE) };
    page.claim()
}

fn ring_doorbells(channel: Channel, rounds: u64) {
    let steps = Steps::of(channel);
    let mut random = Random::new(1);
    for round in 0..rounds {
        until(steps.received, round + 1);
        time::busy_wait(SETTLE + random.below(SETTLE));
        bench_doorbell_ring(map::DOORBELL_BASE as usize);
    }
}

fn hear_doorbells(channel: Channel, rounds: u64) {
    let steps = Steps::of(channel);
    let busy = devicetree::number("busy", 0) as usize;
    if devicetree::number("page", 0) != 0 && interrupts::use_page().is_err() {
        refuse("there are no pages for interrupts")
    }
    channel.enable_interrupt(1);
    let plic = Plic::of_hart(start::hart());
    let page = interrupts::page();
    trap::disable_interrupts();
    let interrupt = match page {
        Some(_) => csr::INTERRUPT_SOFTWARE,
        None => csr::INTERRUPT_EXTERNAL,
    };
    // SAFETY: interrupts are off in `sstatus`; `listen` takes this one.
    unsafe { csr::write::<{ csr::SIE }>(interrupt) };
    for round in 0..rounds {
        steps.received.store(round + 1, Ordering::Release);
        listen(busy);
        let source = match page {
            Some(page) => take(page),
            None => plic.claim(),
        };
        if source != Some(channel.source()) {
            refuse(format_args!(
                "round {round}: the doorbell is not heard, but {source:?}"
            ));
        }
        if page.is_none() {
            plic.complete(channel.source());
        }
    }
    record::metric("doorbells", rounds, "count");
}

fn send_blocks(channel: Channel, rounds: u64) {
    let Some((mut producer, _)) = tactus_channel::open(channel.words(), End::First) else {
        refuse("the channel's memory is too small for rings")
    };
    let mut block = [0; BLOCK];
    let mut round = 0u64;
    while round < rounds {
        block[..8].copy_from_slice(&round.to_le_bytes());
        match producer.send(&block) {
            Ok(()) => round += 1,
            Err(SendError::Full) => core::hint::spin_loop(),
            Err(error) => refuse(format_args!("block {round}: {error:?}")),
        }
    }
    // The interrupt stays pending until all messages are taken.
    loop {
        trap::wait_for_interrupt();
    }
}

fn receive_blocks(channel: Channel, rounds: u64) {
    let Some((_, mut consumer)) = tactus_channel::open(channel.words(), End::Second) else {
        refuse("the channel's memory is too small for rings")
    };
    let mut block = [0; BLOCK];
    let mut next = || loop {
        match consumer.receive(&mut block) {
            Ok(BLOCK) => {
                let [a, b, c, d, e, f, g, h, ..] = block;
                return u64::from_le_bytes([a, b, c, d, e, f, g, h]);
            }
            Ok(other) => refuse(format_args!("a block of {other} bytes")),
            Err(ReceiveError::Empty | ReceiveError::Restarted) => core::hint::spin_loop(),
            Err(error) => refuse(format_args!("{error:?}")),
        }
    };
    // Blocks queued before the measurement are not counted: the ring holds fewer than these.
    let warm = (MEMORY / BLOCK) as u64;
    for _ in 0..warm {
        next();
    }
    let begin = time::cycles();
    for round in warm..rounds {
        let number = next();
        if number != round {
            refuse(format_args!("block {number} comes in the place of {round}"));
        }
    }
    let cycles = time::cycles() - begin;
    let bytes = rounds.saturating_sub(warm) * BLOCK as u64;
    record::metric(
        "ring_bytes_per_cycle",
        Thousandths(bytes * 1000 / cycles),
        "count",
    );
    record::metric("ring_cycles", cycles, "cycles");
    record::metric("ring_bytes", bytes, "bytes");
}

/// Makes a message call; returns its cycles and its value.
fn message(function: usize, buffer: &mut [u8], others: [usize; 2]) -> (u64, usize) {
    let arguments = [
        0,
        buffer.as_mut_ptr() as usize,
        buffer.len(),
        others[0],
        others[1],
        0,
    ];
    let before = time::cycles();
    // SAFETY: the call accesses no memory but the buffer.
    let answer = unsafe { call_raw(EXTENSION, function, arguments) };
    let cycles = time::cycles() - before;
    match answer.result() {
        Ok(value) => (cycles, value),
        Err(error) => refuse(format_args!("message of {} bytes: {error:?}", buffer.len())),
    }
}

/// Byte `at` of a round's message.
const fn byte(round: u64, at: usize) -> u8 {
    (round as usize * 7 + at) as u8
}

fn send_messages(channel: Channel, rounds: u64) {
    let steps = Steps::of(channel);
    let mut buffer = [0; SIZES[SIZES.len() - 1]];
    let mut round = 0;
    for size in SIZES {
        for _ in 0..rounds {
            for (at, place) in buffer[..size].iter_mut().enumerate() {
                *place = byte(round, at);
            }
            until(steps.received, round);
            time::busy_wait(SETTLE);
            let (cycles, _) = message(MESSAGE_SEND, &mut buffer[..size], [0, 0]);
            steps.told.store(cycles, Ordering::Relaxed);
            round += 1;
            steps.sent.store(round, Ordering::Release);
        }
    }
    loop {
        trap::wait_for_interrupt();
    }
}

fn receive_messages(channel: Channel, rounds: u64) {
    let steps = Steps::of(channel);
    let mut buffer = [0; SIZES[SIZES.len() - 1]];
    let mut round = 0;
    let mut all = [Moments::new(); SIZES.len()];
    for (size, both) in SIZES.into_iter().zip(&mut all) {
        for _ in 0..rounds {
            until(steps.sent, round + 1);
            time::busy_wait(SETTLE);
            let (cycles, length) = message(MESSAGE_RECEIVE, &mut buffer, [0, 0]);
            let mut bytes = (0..size).map(|at| byte(round, at));
            if length != size || !buffer[..size].iter().all(|got| Some(*got) == bytes.next()) {
                refuse(format_args!(
                    "round {round}: {length} other bytes than were sent"
                ));
            }
            both.add(cycles + steps.told.load(Ordering::Relaxed));
            round += 1;
            steps.received.store(round, Ordering::Release);
        }
    }
    // Printed at the end, as text would disturb the measurement.
    for (size, both) in SIZES.into_iter().zip(all) {
        record::metric(format_args!("message_cycles_{size}"), both.mean(), "cycles");
        record::metric(
            format_args!("message_cycles_max_{size}"),
            both.max,
            "cycles",
        );
    }
}
