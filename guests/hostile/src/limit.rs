//! A real-time vCPU whose jobs use all of its budget, for systems at the limit of what is admitted: each job's release
//! is told to the board, which sees when the vCPU has the hart and when the job ends.
//!
//! vCPU 0 is best effort. It starts vCPU 1, which has the reservation, at the time `start`, and sleeps. Times in the
//! boot arguments are in ticks of `time`, `work` is in cycles. `jobs=` says what a job is:
//!
//! | `jobs=` | |
//! |---|---|
//! | `cut` | it never ends by itself; each is cut off |
//! | `yield` | `work` cycles of execution, then `rt_yield`; of each sixteenth it only asks how its jobs go |
//! | `timer` | the vCPU's own timer wakes it at `first`, and each `period` from there on; `work` cycles of execution, then `wfi` |
//! | `ring` | the doorbell of channel 0 wakes it; then as `timer` |
//!
//! The doorbell of channel 0 is enabled in each case, and where it wakes nothing, it is never taken.
//!
//! With `jobs=ringer` the only vCPU rings: channel N at `firstN`, and each `periodN` after it has done so last, as
//! exactly as it can.
#![no_std]
#![no_main]

use core::hint::black_box;
use core::sync::atomic::{AtomicU64, Ordering};

use tactus_guest::channel::Channel;
use tactus_guest::rt::RtStatus;
use tactus_guest::{devicetree, interrupts, rt, start, stopwatch, time, trap};
use tactus_guest_hostile::execute;

tactus_guest::entry!(main);

/// What is counted is told once in so many jobs.
const TOLD_JOBS: u64 = 16;
/// Ticks before a ring in which the ringer does not sleep.
const AWAKE: u64 = 500;
/// `firstN` and `periodN` of each channel that is rung.
const RUNG: [[&str; 2]; 8] = [
    ["first0", "period0"],
    ["first1", "period1"],
    ["first2", "period2"],
    ["first3", "period3"],
    ["first4", "period4"],
    ["first5", "period5"],
    ["first6", "period6"],
    ["first7", "period7"],
];
/// Word of a channel's memory with the time of the last ring.
const RUNG_AT: usize = 0;

static WORK: AtomicU64 = AtomicU64::new(0);
static PERIOD: AtomicU64 = AtomicU64::new(0);
static FIRST: AtomicU64 = AtomicU64::new(0);
/// Address and size of the memory of channel 0; size 0: there is none.
static CHANNEL: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];
/// Rings that were taken.
static RINGS: AtomicU64 = AtomicU64::new(0);

/// Where the board sees that the present job was released at this time.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn limit_released(at: u64) {
    black_box(at);
}

/// Where the board sees what the hypervisor has counted of the jobs.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn limit_counted(release: u64, jobs: u64, late_max: u64, skipped: u64, missed: u64) {
    black_box([release, jobs, late_max, skipped, missed]);
}

fn main() {
    let jobs = match devicetree::argument("jobs") {
        Some("cut") => cut,
        Some("yield") => give_way,
        Some("timer") => wait_for_timer,
        Some("ring") => wait_for_rings,
        Some("ringer") => ring(),
        other => panic!("there are no jobs {other:?}"),
    };
    for (name, word) in [("work", &WORK), ("period", &PERIOD), ("first", &FIRST)] {
        word.store(devicetree::number(name, 0), Ordering::Relaxed);
    }
    // Looked for here, as it may take longer than a budget.
    if let Some(channel) = Channel::find(0) {
        let memory = channel.words();
        CHANNEL[0].store(memory.as_ptr().addr() as u64, Ordering::Relaxed);
        CHANNEL[1].store(size_of_val(memory) as u64, Ordering::Relaxed);
    }
    stopwatch::wait_until(devicetree::number("start", 0));
    start::start_hart(1, jobs).expect("the system gives it a second vCPU");
    loop {
        trap::wait_for_interrupt();
    }
}

fn cut() -> ! {
    listen();
    let mut next = tell();
    limit_released(next);
    loop {
        while time::now() < next {
            core::hint::spin_loop();
        }
        tell();
        next += TOLD_JOBS * PERIOD.load(Ordering::Relaxed);
    }
}

fn give_way() -> ! {
    listen();
    limit_released(tell());
    loop {
        for _ in 1..TOLD_JOBS {
            job();
            limit_released(rt::yield_now());
        }
        tell();
        limit_released(rt::yield_now());
    }
}

fn wait_for_timer() -> ! {
    listen();
    let mut due = FIRST.load(Ordering::Relaxed);
    trap::on_timer(|| {});
    loop {
        time::set_deadline(due);
        while time::now() < due {
            trap::wait_for_interrupt();
        }
        limit_released(due);
        job();
        due += PERIOD.load(Ordering::Relaxed);
    }
}

fn wait_for_rings() -> ! {
    interrupts::use_page().expect("Tactus has interrupt pages");
    trap::on_external(|_| {
        RINGS.fetch_add(1, Ordering::Relaxed);
    });
    let channel = listen().expect("the system gives it a channel");
    let mut taken = 0;
    loop {
        while RINGS.load(Ordering::Relaxed) == taken {
            trap::wait_for_interrupt();
            // Taken here and nowhere else, so that none comes just before it waits.
            trap::enable_interrupts();
            trap::disable_interrupts();
        }
        taken = RINGS.load(Ordering::Relaxed);
        limit_released(channel.words()[RUNG_AT].load(Ordering::Acquire));
        job();
    }
}

/// Enables the doorbell of channel 0 at the controller, where there is one.
fn listen() -> Option<Channel> {
    let [memory, size] = CHANNEL
        .each_ref()
        .map(|word| word.load(Ordering::Relaxed) as usize);
    // SAFETY: the devicetree is the system's own description of what it gives the VM.
    let channel = (size > 0).then(|| unsafe { Channel::at(0, memory, size) });
    if let Some(channel) = channel {
        channel.enable_interrupt(1);
    }
    channel
}

/// What a job does that ends by itself.
fn job() {
    execute(WORK.load(Ordering::Relaxed));
}

/// Tells what is counted; gives the present job's release.
fn tell() -> u64 {
    let RtStatus { record, .. } = rt::status().expect("it has a reservation");
    limit_counted(
        record.release,
        record.jobs,
        record.late_max,
        record.skipped,
        record.missed,
    );
    record.release
}

/// Rings without end.
fn ring() -> ! {
    let mut due = RUNG.map(|[first, _]| devicetree::number(first, time::NEVER));
    let periods = RUNG.map(|[_, period]| devicetree::number(period, 0));
    let channels: [Option<Channel>; RUNG.len()] = core::array::from_fn(Channel::find);
    loop {
        let next = (0..RUNG.len()).min_by_key(|&index| due[index]);
        let next = next.expect("there are some");
        let channel = channels[next].expect("each that has a time is there");
        stopwatch::wait_until(due[next].saturating_sub(AWAKE));
        while time::now() < due[next] {
            core::hint::spin_loop();
        }
        let now = time::now();
        channel.words()[RUNG_AT].store(now, Ordering::Release);
        channel.ring();
        due[next] = now + periods[next];
    }
}
