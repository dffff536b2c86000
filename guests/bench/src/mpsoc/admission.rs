//! Cost of admission, in cycles of the requesting vCPU, with 31 other real-time vCPUs on the hart: random reservations,
//! one after the other.
//!
//! The others' jobs end as soon as they start. With `beside=1`, a real-time vCPU measures its release latency
//! meanwhile, on the hart on which admission runs.

use tactus_bench::{Moments, Random, report};
use tactus_guest::abi::blob::limit::RESERVATIONS_PER_HART;
use tactus_guest::rt::{self, Refusal, Reservation, RtError, RtStack, RtVcpu};
use tactus_guest::stopwatch::Scale;
use tactus_guest::{devicetree, println, record, time};

use crate::app::{App, Work};
use crate::refuse;

/// Ticks of the shortest random period; the longest is 32 times that. 5 ms on the present platforms.
const PERIOD: u64 = 50_000;
/// Ticks of the smallest budget that is admitted: twice the time of an interrupt, as the profile `mpsoc` states it.
const LEAST: u64 = 240;
/// Utilization of the hart by all reservations, at most, in thousandths, in half of the rounds; less in the others.
const USED: u64 = 900;

static STACKS: [RtStack<1024>; RESERVATIONS_PER_HART] =
    [const { RtStack::new() }; RESERVATIONS_PER_HART];
static APP: App = App::new();

/// A vCPU without work.
fn nothing(_: &'static ()) {
    loop {
        rt::yield_now();
    }
}

/// A random reservation, such that `of` of them use `used` thousandths of a hart.
fn by_chance(random: &mut Random, used: u64, of: u64) -> Reservation {
    let step = PERIOD << random.below(5);
    let period = step + random.below(step);
    let budget = period * used / 1000 / of;
    // From half to one and a half times its share.
    let budget = (budget / 2 + random.below(budget + 1)).max(LEAST);
    let reservation = Reservation::new(period, budget);
    match random.below(4) {
        0 => reservation,
        // Down to deadlines before which other vCPUs hardly fit.
        1 => reservation.by(budget + random.below(period / 64)),
        _ => reservation.by(budget + random.below(period - budget + 1)),
    }
}

/// Counts of the outcomes.
#[derive(Default)]
struct Outcomes {
    admitted: u64,
    refused: [u64; 6],
}

impl Outcomes {
    fn take<T>(&mut self, result: Result<T, RtError>) -> Option<T> {
        match result {
            Ok(value) => {
                self.admitted += 1;
                Some(value)
            }
            Err(RtError::Refused(refusal)) => {
                self.refused[refusal as usize] += 1;
                None
            }
            Err(error) => refuse(error),
        }
    }
}

/// Runs the measurement.
pub fn measure() {
    let rounds = devicetree::number("rounds", 1000);
    let beside = devicetree::number("beside", 0) != 0;
    let scale = Scale::measure();
    let mut random = Random::new(1);
    let mut others = RESERVATIONS_PER_HART - 1;
    if beside {
        let work = Work {
            from: 0,
            rounds,
            busy: 300,
            less: 200,
            seed: 1,
        };
        // 1 ms, 50 us and 500 us on the present platforms: each of the others may be released meanwhile.
        APP.start(scale, work, Reservation::new(10_000, 500).by(5_000));
        others -= 1;
    }
    let (used, last) = STACKS.split_at(others);
    let mut vcpus: [Option<RtVcpu>; RESERVATIONS_PER_HART] = [const { None }; _];
    for (slot, stack) in vcpus.iter_mut().zip(used) {
        // Small budgets at first, so that all fit.
        let small = by_chance(&mut random, 100, others as u64);
        match rt::create(nothing, &(), stack, small.by(small.period)) {
            Ok(vcpu) => *slot = Some(vcpu),
            Err(error) => refuse(format_args!("{small:?}: {error}")),
        }
    }
    let vcpus = vcpus.iter().flatten();

    let mut cycles = Moments::new();
    let mut outcomes = Outcomes::default();
    let mut round = 0;
    while if beside {
        !APP.is_done()
    } else {
        round < rounds
    } {
        round += 1;
        let most = if round % 2 == 0 {
            USED
        } else {
            100 + random.below(USED)
        };
        // Changes some of the others; then creates and deletes one more.
        let chosen = random.below(others as u64) as usize;
        for vcpu in vcpus.clone().skip(chosen).take(2) {
            let reservation = by_chance(&mut random, most, others as u64 + 1);
            let before = time::cycles();
            let changed = vcpu.change(reservation);
            cycles.add(time::cycles() - before);
            outcomes.take(changed);
        }
        let reservation = by_chance(&mut random, most, 8);
        let before = time::cycles();
        let made = rt::create(nothing, &(), &last[0], reservation);
        cycles.add(time::cycles() - before);
        if let Some(made) = outcomes.take(made)
            && let Err(error) = made.delete()
        {
            refuse(error);
        }
    }
    let refused = |refusal: Refusal| outcomes.refused[refusal as usize];
    println!(
        "{} admitted; refused: share {}, utilisation {}, demand {}, undecided {}",
        outcomes.admitted,
        refused(Refusal::Share),
        refused(Refusal::Utilisation),
        refused(Refusal::Demand),
        refused(Refusal::Undecided)
    );
    report("admission_cycles", &cycles);
    record::metric("admissions", cycles.count, "count");
    record::metric("admissions_granted", outcomes.admitted, "count");
    record::metric("admissions_undecided", refused(Refusal::Undecided), "count");
    if let Some(found) = APP.found() {
        report("beside_jitter", &found.late);
        let blocked = found.late.max - found.late.min;
        record::metric("beside_blocked", blocked, "cycles");
        record::metric("beside_missed", found.status.record.missed, "count");
    }
}
