//! Real-time vCPUs prove that each job is released when it is due, although the hypervisor enters the release time
//! while it serves something else than the hart's timer: a doorbell or a vCPU that arrives from another hart.
//! `tactus/tests/release.rs` has the systems.
//!
//! `role=` in the boot arguments selects the part:
//!
//! * `server`: waits for `rings` doorbells of channel 0, executes for `answer_us` each time and measures how late it is
//!   done;
//! * `ringer`: rings channel 0's doorbell every `every_us`, and writes the time of the ring to the channel's memory
//!   before it;
//! * `loop`: `turns` times, computes for a while and waits for channel 0's doorbell, and measures how soon one turn
//!   follows the other;
//! * `sleeper`: waits for ever, and so takes nothing of its reservation;
//! * `mover`: makes two real-time vCPUs such that the second fits only when the first moves to the other hart, and
//!   measures the longest time between two jobs of the first.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;

use tactus_guest::channel::Channel;
use tactus_guest::rt::{self, Reservation, RtStack};
use tactus_guest::{devicetree, record, start, time, trap};

tactus_guest::entry!(main);

/// Word of the channel's memory with the time of the last ring, in ticks.
const RUNG_AT: usize = 0;

/// Rings that the server has answered.
static ANSWERED: AtomicU64 = AtomicU64::new(0);
/// When the present job was due, in ticks.
static DUE: AtomicU64 = AtomicU64::new(0);
/// The latest end of an answer, in ticks after it was due.
static LATE_TICKS_MAX: AtomicU64 = AtomicU64::new(0);

static STACKS: [RtStack<4096>; 2] = [const { RtStack::new() }; 2];

fn main() {
    match devicetree::argument("role") {
        Some("server") => serve(),
        Some("ringer") => ring(),
        Some("loop") => take_turns(),
        Some("sleeper") => loop {
            trap::wait_for_interrupt();
        },
        Some("mover") => move_to_other_hart(),
        other => panic!("there is no role {other:?}"),
    }
}

fn microseconds(name: &str, default: u64) -> u64 {
    time::ticks(Duration::from_micros(devicetree::number(name, default)))
}

fn channel() -> Channel {
    Channel::find(0).expect("the system gives the VM a channel")
}

/// Answers rings. A ring is due at once, or a period after the ring before it was due: the reservation promises no
/// more.
fn serve() {
    trap::on_external(|_| {
        let begun = time::now();
        execute(microseconds("answer_us", 0));
        let now = time::now();
        let rung_at = channel().words()[RUNG_AT].load(Ordering::Acquire);
        let period = microseconds("period_us", 10_000);
        let answered = ANSWERED.load(Ordering::Relaxed);
        let earliest = match answered {
            0 => begun,
            _ => DUE.load(Ordering::Relaxed) + period,
        };
        let due = rung_at.max(earliest);
        DUE.store(due, Ordering::Relaxed);
        LATE_TICKS_MAX.fetch_max(now.saturating_sub(due), Ordering::Relaxed);
        ANSWERED.store(answered + 1, Ordering::Relaxed);
    });
    trap::enable_interrupts();
    channel().enable_interrupt(1);
    let rings = devicetree::number("rings", 100);
    while ANSWERED.load(Ordering::Relaxed) < rings {
        trap::wait_for_interrupt();
    }
    let status = rt::status().expect("the vCPU has a reservation");
    record::metric(
        "late_ticks_max",
        LATE_TICKS_MAX.load(Ordering::Relaxed),
        "ticks",
    );
    record::metric("missed", status.record.missed, "count");
    record::pass(start::program());
}

/// Waits after each turn. Rings come more often than once a period. Each `long_every`-th turn takes `long_us`.
fn take_turns() {
    trap::on_external(|_| {});
    trap::enable_interrupts();
    channel().enable_interrupt(1);
    let (mut began, mut apart) = (0, u64::MAX);
    for turn in 0..devicetree::number("turns", 50) {
        trap::wait_for_interrupt();
        let now = time::now();
        // The first ones begin when the program does.
        if turn > 1 {
            apart = apart.min(now - began);
        }
        began = now;
        let is_long = turn % devicetree::number("long_every", u64::MAX) == 1;
        let length = if is_long {
            microseconds("long_us", 50)
        } else {
            microseconds("turn_us", 50)
        };
        execute(length);
    }
    let status = rt::status().expect("the vCPU has a reservation");
    record::metric("apart_ticks_min", apart, "ticks");
    record::metric("missed", status.record.missed, "count");
    record::metric("jobs", status.record.jobs, "count");
    record::pass(start::program());
}

/// Executes for so many ticks, those not counted in which others have the hart.
fn execute(ticks: u64) {
    let gap = time::ticks(Duration::from_micros(5));
    let (mut executed, mut before) = (0, time::now());
    while executed < ticks {
        let now = time::now();
        if now - before < gap {
            executed += now - before;
        }
        before = now;
    }
}

/// Rings until the run is over.
fn ring() {
    let channel = channel();
    let every = microseconds("every_us", 9_900);
    let mut next = time::now() + microseconds("begin_us", 50_000);
    loop {
        while time::now() < next {
            core::hint::spin_loop();
        }
        channel.words()[RUNG_AT].store(time::now(), Ordering::Release);
        channel.ring();
        next += every;
    }
}

/// Jobs of a vCPU that runs [`work`].
struct Jobs {
    count: AtomicU64,
    begun_at: AtomicU64,
    apart_ticks_max: AtomicU64,
}

impl Jobs {
    const fn new() -> Self {
        Self {
            count: AtomicU64::new(0),
            begun_at: AtomicU64::new(0),
            apart_ticks_max: AtomicU64::new(0),
        }
    }
}

static JOBS: [Jobs; 2] = [const { Jobs::new() }; 2];

/// Notes for each job how long after the one before it begins.
fn work(jobs: &Jobs) {
    loop {
        let now = time::now();
        let before = jobs.begun_at.swap(now, Ordering::Relaxed);
        if jobs.count.fetch_add(1, Ordering::Relaxed) > 0 {
            jobs.apart_ticks_max
                .fetch_max(now - before, Ordering::Relaxed);
        }
        rt::yield_now();
    }
}

fn percent_of_10_ms(percent: u64) -> Reservation {
    let period = Duration::from_millis(10);
    Reservation::of(period, Duration::from_micros(percent * 100))
}

fn move_to_other_hart() {
    let wait = |jobs: &Jobs, count: u64| {
        while jobs.count.load(Ordering::Relaxed) < count {
            core::hint::spin_loop();
        }
    };
    let first = rt::create(work, &JOBS[0], &STACKS[0], percent_of_10_ms(20));
    let first = first.expect("a hart has 20 % left");
    wait(&JOBS[0], 10);
    let home = first.status().expect("the vCPU runs").hart;
    rt::create(
        work,
        &JOBS[1],
        &STACKS[1],
        percent_of_10_ms(devicetree::number("second", 70)),
    )
    .expect("a hart has so much left once the first vCPU has moved");
    let count = JOBS[0].count.load(Ordering::Relaxed);
    wait(&JOBS[0], count + 50);
    let status = first.status().expect("the vCPU runs");
    assert_ne!(status.hart, home, "the first vCPU has not moved");
    record::metric(
        "apart_ticks_max",
        JOBS[0].apart_ticks_max.load(Ordering::Relaxed),
        "ticks",
    );
    record::metric("missed", status.record.missed, "count");
    record::pass(start::program());
}
