//! The most real-time vCPUs that a hart may have, of different periods and with short jobs. So the scheduler decides
//! as often as possible, with as many candidates as possible. The board measures the decisions.

use tactus_guest::abi::blob::limit::RESERVATIONS_PER_HART;
use tactus_guest::rt::Reservation;
use tactus_guest::stopwatch::Scale;
use tactus_guest::{devicetree, record, time};

use crate::app::{self, App, Work};
use crate::refuse;

/// Ticks of the shortest period, and of the step to the next; the jobs' budget, and their use of it. On the
/// present platforms, 2 ms, 37 us, 30 us and 5 us.
const PERIOD: u64 = 20_000;
const STEP: u64 = 370;
const BUDGET: u64 = 300;
const BUSY: u64 = 50;

static APPS: [App; RESERVATIONS_PER_HART] = [const { App::new() }; RESERVATIONS_PER_HART];

/// Runs the vCPUs.
pub fn measure() {
    let rounds = devicetree::number("rounds", 1000);
    let scale = Scale::measure();
    let mut last = time::now();
    for (number, app) in (0..).zip(&APPS) {
        let period = PERIOD + STEP * number;
        let work = Work {
            from: 0,
            // All are present as long as any is measured.
            rounds: rounds * PERIOD / period,
            busy: BUSY,
            less: BUSY,
            seed: number,
        };
        let vcpu = app.start(scale, work, Reservation::new(period, BUDGET));
        match vcpu.status() {
            Ok(status) if status.hart == 0 => {}
            _ => refuse("not all are on one hart"),
        }
        last = time::now();
    }
    app::wait_for(&APPS, last + rounds * PERIOD, PERIOD);
    let found = || APPS.iter().filter_map(App::found);
    let late = found().map(|found| found.late.max).max();
    let lost: u64 = found()
        .map(|f| f.status.record.missed + f.status.record.overruns)
        .sum();
    record::metric("crowd", APPS.len(), "count");
    record::metric("crowd_late_max", late.unwrap_or(0), "cycles");
    if lost > 0 {
        refuse(format_args!(
            "{lost} jobs were cut off or missed their deadlines"
        ));
    }
}
