//! A real-time vCPU that never ends a job itself: measures its overrun beyond the budget, and the effect on the vCPUs
//! beside it.

use core::sync::atomic::{AtomicU64, Ordering};

use tactus_bench::Thousandths;
use tactus_guest::rt::{self, Reservation, RtStack};
use tactus_guest::stopwatch::Scale;
use tactus_guest::{devicetree, println, record, time};

use crate::app::{self, App, Work};
use crate::refuse;

/// Reservation of the greedy vCPU, in ticks: 5 ms of 10 on the present platforms.
const GREEDY: Reservation = Reservation::new(100_000, 50_000);
/// Reservation of each other vCPU: 150 us of each 2 ms, within 1 ms, of which it uses up to 100 us.
const OTHER: Reservation = Reservation::new(20_000, 1_500).by(10_000);
const BUSY: u64 = 1_000;
/// Most other vCPUs.
const OTHERS: usize = 3;
/// Cycles between two reads of the clock which show that the vCPU was cut off in between.
const PAUSE: u64 = 100_000;
/// Most cycles between two reads of the clock in which the vCPU has only executed. An interruption takes longer.
const STEP: u64 = 60;

static APPS: [App; OTHERS] = [const { App::new() }; OTHERS];
static STACK: RtStack<4096> = RtStack::new();

/// The greedy vCPU's jobs as it sees them: cycles that it has executed, by its readings of the clock.
struct Jobs {
    wanted: AtomicU64,
    longest: AtomicU64,
    shortest: AtomicU64,
    seen: AtomicU64,
}

static JOBS: Jobs = Jobs {
    wanted: AtomicU64::new(0),
    longest: AtomicU64::new(0),
    shortest: AtomicU64::new(u64::MAX),
    seen: AtomicU64::new(0),
};

/// Runs until it has been preempted as often as requested.
fn greedy(jobs: &'static Jobs) {
    let wanted = jobs.wanted.load(Ordering::Relaxed);
    let (mut executed, mut last) = (0, time::cycles());
    while jobs.seen.load(Ordering::Relaxed) < wanted {
        let now = time::cycles();
        if now - last > PAUSE {
            jobs.longest.fetch_max(executed, Ordering::Relaxed);
            jobs.shortest.fetch_min(executed, Ordering::Relaxed);
            jobs.seen.fetch_add(1, Ordering::Release);
            executed = 0;
        } else if now - last <= STEP {
            executed += now - last;
        }
        last = now;
    }
}

/// Runs the measurement, with `others` beside it.
pub fn measure() {
    let rounds = devicetree::number("rounds", 1000);
    let others = devicetree::number("others", 0).min(OTHERS as u64);
    let scale = Scale::measure();
    let apps = &APPS[..others as usize];
    // With other vCPUs it runs until they are done; alone, for its own number of rounds.
    let alone = apps.is_empty();
    JOBS.wanted
        .store(if alone { rounds } else { u64::MAX }, Ordering::Relaxed);
    let vcpu = match rt::create(greedy, &JOBS, &STACK, GREEDY) {
        Ok(vcpu) => vcpu,
        Err(error) => refuse(error),
    };
    for (number, app) in (0..).zip(apps) {
        let work = Work {
            from: 0,
            rounds,
            busy: BUSY,
            less: BUSY,
            seed: number,
        };
        app.start(scale, work, OTHER);
    }
    let begin = time::now();
    if !alone {
        app::wait_for(apps, begin + rounds * OTHER.period, GREEDY.period);
    }
    let end = begin + (rounds + 10) * GREEDY.period;
    let mut status = vcpu.status();
    while alone && JOBS.seen.load(Ordering::Acquire) < rounds {
        status = vcpu.status().or(status);
        if time::now() > end {
            refuse("it was not cut off every period");
        }
        tactus_guest::stopwatch::wait_until(time::now() + GREEDY.period);
    }
    let Ok(status) = status else {
        refuse("how it stands cannot be asked")
    };
    println!(
        "greedy: {} jobs, {} cut off, {} ticks at most",
        status.record.jobs, status.record.overruns, status.record.used_max
    );
    record::metric("greedy_overruns", status.record.overruns, "count");
    if alone {
        let budget = scale.cycles(GREEDY.budget);
        let longest = JOBS.longest.load(Ordering::Relaxed);
        let charged = scale.cycles(status.record.used_max);
        record::metric(
            "budget_ran_cycles_over",
            longest.saturating_sub(budget),
            "cycles",
        );
        record::metric(
            "budget_charged_cycles_over",
            charged.saturating_sub(budget),
            "cycles",
        );
        let over = longest.max(charged).saturating_sub(budget);
        record::metric("budget_overrun_cycles_max", over, "cycles");
        let shortest = JOBS.shortest.load(Ordering::Relaxed);
        record::metric(
            "budget_short_cycles_max",
            budget.saturating_sub(shortest),
            "cycles",
        );
        return;
    }
    let found = || apps.iter().filter_map(App::found);
    let missed: u64 = found().map(|found| found.status.record.missed).sum();
    let overruns: u64 = found().map(|found| found.status.record.overruns).sum();
    let mean = found().map(|found| found.late.mean()).max();
    let deviation = found().map(|found| found.late.deviation()).max();
    let latest = found().map(|found| found.late.max).max();
    record::metric("overload_missed", missed, "count");
    record::metric("overload_cut_off", overruns, "count");
    record::metric("overload_jitter", mean.unwrap_or(Thousandths(0)), "cycles");
    record::metric(
        "overload_jitter_stddev",
        deviation.unwrap_or(Thousandths(0)),
        "cycles",
    );
    record::metric("overload_jitter_max", latest.unwrap_or(0), "cycles");
}
