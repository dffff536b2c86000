//! Makes, changes and deletes real-time vCPUs near the limit of what is admitted, `turns` times, and checks each of
//! their jobs: it is released on its grid, and executes its budget, but for `margin` ticks, before its deadline.
//!
//! Boot arguments: `turns=N` (100); `seed=N` (1): what all random numbers are made of; `cycles=N`: those of a tick;
//! `margin=N`: ticks that a job takes to ask for its reservation, and what this
//! VM's own calls for others take of it.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering};

use tactus_guest::rt::{self, Reservation, RtError, RtStack, RtVcpu};
use tactus_guest::{devicetree, power, record, start, stopwatch, time};
use tactus_guest_hostile::execute;
use tactus_guest_hostile::random::Random;

tactus_guest::entry!(main);

/// vCPUs at a time.
const COUNT: usize = 6;
/// Periods in ticks.
const PERIODS: [u64; 2] = [10_000, 200_000];
/// A refused budget is made smaller so often at most.
const TRIES: usize = 24;

/// What is counted of the vCPUs' jobs.
#[derive(Debug)]
struct Counts {
    jobs: AtomicU64,
    late: AtomicU64,
    off_grid: AtomicU64,
    /// The longest response, in thousandths of the deadline.
    response_max: AtomicU64,
}

static COUNTS: Counts = Counts {
    jobs: AtomicU64::new(0),
    late: AtomicU64::new(0),
    off_grid: AtomicU64::new(0),
    response_max: AtomicU64::new(0),
};

/// What was asked for a vCPU since it last looked: a job may have begun with a change of which it is told nothing, as
/// another one was admitted before it got a hart.
#[derive(Debug)]
struct Asked {
    /// The longest deadline; 0: nothing was asked.
    deadline: AtomicU64,
    /// The smallest budget; the largest number: nothing was asked.
    budget: AtomicU64,
}

impl Asked {
    const fn nothing() -> Self {
        Self {
            deadline: AtomicU64::new(0),
            budget: AtomicU64::new(u64::MAX),
        }
    }

    fn add(&self, times: Reservation) {
        self.deadline.fetch_max(times.deadline, Ordering::Relaxed);
        self.budget.fetch_min(times.budget, Ordering::Relaxed);
    }

    /// Longest deadline and smallest budget; nothing is asked from then on.
    fn take(&self) -> (u64, u64) {
        (
            self.deadline.swap(0, Ordering::Relaxed),
            self.budget.swap(u64::MAX, Ordering::Relaxed),
        )
    }
}

static ASKED: [Asked; COUNT] = [const { Asked::nothing() }; COUNT];

static CYCLES: AtomicU64 = AtomicU64::new(0);
static MARGIN: AtomicU64 = AtomicU64::new(0);
static STACKS: [RtStack<4096>; COUNT] = [const { RtStack::new() }; COUNT];

/// A job.
#[derive(Clone, Copy, Debug)]
struct Job {
    release: u64,
    /// Period, budget and deadline, as they are told at its begin.
    times: [u64; 3],
    /// They are those of the job before.
    settled: bool,
}

/// What a vCPU does.
fn control(asked: &'static Asked) {
    let counts = &COUNTS;
    let cycles = CYCLES.load(Ordering::Relaxed);
    let margin = MARGIN.load(Ordering::Relaxed);
    let mut before: Option<Job> = None;
    let mut asked_before = asked.take();
    loop {
        let status = rt::status().expect("it has a reservation");
        let now = Job {
            release: status.record.release,
            times: [status.period, status.budget, status.deadline],
            // A change is told before the job with which it begins; a new grid begins with that.
            settled: before
                .is_some_and(|job| job.times == [status.period, status.budget, status.deadline]),
        };
        let [period, mut budget, mut deadline] = now.times;
        if let Some(last) = before {
            if now.settled && last.settled && now.release != last.release + period {
                counts.off_grid.fetch_add(1, Ordering::Relaxed);
            }
            budget = budget.min(last.times[1]);
            deadline = deadline.max(last.times[2]);
        }
        before = Some(now);
        let asked_now = asked.take();
        for (longest, smallest) in [asked_before, asked_now] {
            budget = budget.min(smallest);
            deadline = deadline.max(longest);
        }
        asked_before = asked_now;
        execute((budget - margin) * cycles);
        let response = time::now() - now.release;
        let late = u64::from(response > deadline);
        counts.late.fetch_add(late, Ordering::Relaxed);
        counts
            .response_max
            .fetch_max(1000 * response / deadline, Ordering::Relaxed);
        counts.jobs.fetch_add(1, Ordering::Relaxed);
        rt::yield_now();
    }
}

/// What the maker has done, and what was counted of those that it has deleted.
#[derive(Debug, Default)]
struct Done {
    made: u64,
    changed: u64,
    moved: u64,
    deleted: u64,
    refused: u64,
    cut_off: u64,
    missed: u64,
    skipped: u64,
}

impl Done {
    /// Asks for something with less and less of a budget until it is admitted.
    fn ask<T>(
        &mut self,
        mut times: Reservation,
        ask: impl Fn(Reservation) -> Result<T, RtError>,
    ) -> Option<T> {
        for _ in 0..TRIES {
            if times.budget < 2 * MARGIN.load(Ordering::Relaxed) {
                return None;
            }
            match ask(times) {
                Ok(answer) => return Some(answer),
                Err(RtError::Refused(_)) => self.refused += 1,
                Err(error) => panic!("{error}"),
            }
            times.budget -= times.budget / 12;
        }
        None
    }

    fn delete(&mut self, vcpu: RtVcpu) {
        let record = vcpu.status().expect("it runs").record;
        self.cut_off += record.overruns;
        self.missed += record.missed;
        self.skipped += record.skipped;
        vcpu.delete().expect("it runs");
        self.deleted += 1;
    }
}

fn times(random: &mut Random) -> Reservation {
    let [low, high] = PERIODS;
    let period = low + random.next() % (high - low);
    let deadline = period * (70 + random.next() % 31) / 100;
    let budget = deadline * (5 + random.next() % 60) / 100;
    Reservation::new(period, budget).by(deadline)
}

fn main() {
    let mut random = Random::new(devicetree::number("seed", 1));
    CYCLES.store(devicetree::number("cycles", 10), Ordering::Relaxed);
    MARGIN.store(devicetree::number("margin", 0), Ordering::Relaxed);
    let mut vcpus: [Option<(RtVcpu, u64)>; COUNT] = [const { None }; COUNT];
    let mut done = Done::default();
    record::phase("making");
    for _ in 0..devicetree::number("turns", 100) {
        stopwatch::wait_until(time::now() + random.next() % PERIODS[1]);
        for (vcpu, hart) in vcpus.iter_mut().flatten() {
            let now = vcpu.status().expect("it runs").hart;
            done.moved += u64::from(now != *hart);
            *hart = now;
        }
        let index = (random.next() % COUNT as u64) as usize;
        let wanted = times(&mut random);
        match vcpus[index].take() {
            None => {
                ASKED[index].take();
                let made = done.ask(wanted, |times| {
                    rt::create(control, &ASKED[index], &STACKS[index], times)
                });
                if let Some(vcpu) = made {
                    let hart = vcpu.status().expect("it runs").hart;
                    vcpus[index] = Some((vcpu, hart));
                    done.made += 1;
                }
            }
            Some((vcpu, _)) if random.next().is_multiple_of(2) => done.delete(vcpu),
            Some((vcpu, hart)) => {
                // Its first job has to know what it has.
                if vcpu.status().expect("it runs").record.jobs > 1 {
                    let changed = done.ask(wanted, |times| {
                        ASKED[index].add(times);
                        vcpu.change(times)
                    });
                    done.changed += u64::from(changed.is_some());
                }
                vcpus[index] = Some((vcpu, hart));
            }
        }
    }
    for (vcpu, _) in vcpus.into_iter().flatten() {
        done.delete(vcpu);
    }
    let of_jobs = |count: &AtomicU64| count.load(Ordering::Relaxed);
    for (name, value) in [
        ("made", done.made),
        ("changed", done.changed),
        ("moved", done.moved),
        ("deleted", done.deleted),
        ("refused", done.refused),
        ("cut_off", done.cut_off),
        ("missed", done.missed),
        ("skipped", done.skipped),
        ("jobs", of_jobs(&COUNTS.jobs)),
        ("late", of_jobs(&COUNTS.late)),
        ("off_grid", of_jobs(&COUNTS.off_grid)),
        ("response_permille_max", of_jobs(&COUNTS.response_max)),
    ] {
        record::metric(name, value, "count");
    }
    record::pass(start::program());
    power::off();
}
