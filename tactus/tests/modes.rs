//! Budget modes: when a job of high criticality overruns its budget, it is given the larger one, those of low
//! criticality get nothing until the hart has no real-time work, and all others have their budgets in time.

use tactus::run::session::{Outcome, Verdict};
use tactus_abi::hypercall::JobRecord;

use crate::harness::{On, assert_verdict, explain, on_both, run_text};

/// The engine needs 400 us, and 1.9 ms in each eighth job. The camera and the brake compute all the time. With a budget
/// of 2 ms for the engine, always, `tactus check` refuses the brake.
const SYSTEM: &str = include_str!("../../systems/mixed-criticality.toml");

/// Ticks of a microsecond.
const MICROSECOND: u64 = 10;

fn jobs(outcome: &Outcome, vm: &str) -> JobRecord {
    let mut vms = outcome.journal.vms.iter();
    let own = vms.find(|one| one.name == vm).expect("the VM");
    let record = own.jobs.get(&0).copied();
    record.unwrap_or_else(|| panic!("{vm}: {}", explain(outcome)))
}

fn a_job_that_overruns_takes_from_those_of_low_criticality(on: On) {
    let outcome = run_text(on, SYSTEM, Some("engine"));
    assert_verdict(&outcome, Verdict::Good);
    let [engine, camera, brake] = ["engine", "camera", "brake"].map(|vm| jobs(&outcome, vm));
    // Turns 1, 9, 17, 25 and 33; the guest's own start may overrun once more.
    assert!((5..=6).contains(&engine.extended), "{engine:?}");
    assert_eq!((engine.overruns, engine.missed), (0, 0), "{engine:?}");
    assert!(engine.used_max >= 1_900 * MICROSECOND, "{engine:?}");
    assert!(camera.dropped > 0, "{camera:?}");
    // In the low mode it has all that it may.
    assert!(camera.dropped <= 2 * engine.extended, "{camera:?}");
    assert!(camera.used_max >= 1_800 * MICROSECOND, "{camera:?}");
    assert_eq!((camera.missed, camera.extended), (0, 0), "{camera:?}");
    // Each of its jobs has the whole budget, and by the deadline.
    assert_eq!(
        (brake.missed, brake.dropped, brake.extended),
        (0, 0, 0),
        "{brake:?}"
    );
    let whole = brake.used >= (brake.jobs - 1) * 3_000 * MICROSECOND;
    assert!(whole && brake.overruns + 1 >= brake.jobs, "{brake:?}");
}

/// Of budget that is never overrun the larger one costs nothing: no mode changes.
fn a_hart_stays_in_its_low_mode(on: On) {
    let system = SYSTEM.replace("long_us=1900", "long_us=450");
    let outcome = run_text(on, &system.replace("turns=41", "turns=20"), Some("engine"));
    assert_verdict(&outcome, Verdict::Good);
    let camera = jobs(&outcome, "camera");
    assert!(camera.dropped <= 1, "{camera:?}");
}

/// A job that asks for more than the larger budget is cut off.
fn the_larger_budget_is_enforced(on: On) {
    let system = SYSTEM.replace("long_us=1900", "long_us=9000");
    let outcome = run_text(on, &system.replace("turns=41", "turns=10"), Some("engine"));
    assert_verdict(&outcome, Verdict::Good);
    let [engine, brake] = ["engine", "brake"].map(|vm| jobs(&outcome, vm));
    assert!(engine.overruns >= 4, "{engine:?}");
    assert!(engine.used_max < 2_010 * MICROSECOND, "{engine:?}");
    assert_eq!(
        (brake.missed, engine.missed),
        (0, 0),
        "{brake:?} {engine:?}"
    );
}

on_both!(a_job_that_overruns_takes_from_those_of_low_criticality; a_hart_stays_in_its_low_mode, the_larger_budget_is_enforced);
