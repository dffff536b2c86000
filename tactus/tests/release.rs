//! A real-time vCPU's jobs are released when they are due, wherever the hypervisor learns of the release time.
//!
//! A release time can arise in an interrupt from another hart, in a doorbell's trap, or when a vCPU migrates to the
//! hart. The hypervisor then sets the hart's timer to it. Otherwise the release waits for the timer's previous event:
//! the end of a best-effort slice.

use tactus::run::session::{Outcome, Verdict};

use crate::harness::{On, assert_verdict, explain, figure, in_weak_memory, on_both, run_text};

/// The server's response time by `tactus check`, 592 µs, in ticks of 100 ns: see [`server`].
const BOUND_TICKS: f64 = 5_920.0;
/// The most ticks between the starts of two jobs of a period of 10 ms: 1 ms late.
const APART_TICKS: f64 = 110_000.0;

/// A server of 500 µs in each 10 ms, rung slightly more often than once a period, beside guests that compute all the
/// time.
///
/// The VM that rings it runs on `ringer_hart`.
fn server(on: On, slice: &str, ringer_hart: usize) -> String {
    let rings = on.fewer(100, 5);
    format!(
        "[system]\nplatform = \"qemu-virt\"\nharts = 2\nslice = \"{slice}\"\n\
         [[vm]]\nname = \"server\"\nimage = \"@release-selftest\"\nmemory = \"4MiB\"\n\
         bootargs = \"role=server rings={rings}\"\n\
         [[vm.vcpu]]\nclass = \"rt\"\nhart = 0\nperiod = \"10ms\"\nbudget = \"500us\"\ndeadline = \"5ms\"\n\
         [[vm]]\nname = \"ringer\"\nimage = \"@release-selftest\"\nmemory = \"4MiB\"\n\
         bootargs = \"role=ringer\"\n\
         [[vm.vcpu]]\nclass = \"be\"\nharts = [{ringer_hart}]\n\
         [[vm]]\nname = \"load\"\nimage = \"@bench-load\"\nmemory = \"4MiB\"\nbootargs = \"load=compute\"\n\
         [[vm.vcpu]]\nclass = \"be\"\nharts = [{}]\n\
         [[channel]]\nname = \"rings\"\nbetween = [\"ringer\", \"server\"]\nsize = \"4KiB\"\n",
        1 - ringer_hart
    )
}

#[track_caller]
fn is_at_most(outcome: &Outcome, vm: &str, name: &str, limit: f64) {
    assert_verdict(outcome, Verdict::Good);
    let ticks = figure(outcome, vm, name);
    assert!(ticks <= limit, "{name}: {ticks}\n{}", explain(outcome));
    let missed = figure(outcome, vm, "missed");
    assert!(missed == 0.0, "missed: {missed}\n{}", explain(outcome));
}

fn rung_from_another_hart(on: On) {
    for slice in ["10ms", "1s"] {
        let outcome = run_text(on, &server(on, slice, 1), Some("server"));
        is_at_most(&outcome, "server", "late_ticks_max", BOUND_TICKS);
    }
}

fn rung_from_the_same_hart(on: On) {
    let outcome = run_text(on, &server(on, "1s", 0), Some("server"));
    is_at_most(&outcome, "server", "late_ticks_max", BOUND_TICKS);
}

/// A control loop of 500 µs in each 10 ms, rung every millisecond, that waits after each turn.
fn control_loop(on: On, kind: &str) -> String {
    let system = server(on, "10ms", 1).replace("role=server", "role=loop");
    let system = system.replace("role=ringer", "role=ringer every_us=1000");
    system.replace("deadline = \"5ms\"", &format!("kind = \"{kind}\""))
}

/// Waiting ends the job of a periodic vCPU, whatever comes then, and lets a server go on.
fn waiting_ends_the_job_of_a_periodic_one(on: On) {
    let outcome = run_text(on, &control_loop(on, "periodic"), Some("server"));
    assert_verdict(&outcome, Verdict::Good);
    let apart = figure(&outcome, "server", "apart_ticks_min");
    assert!(apart > 99_000.0, "{apart}\n{}", explain(&outcome));
    is_at_most(&outcome, "server", "missed", 0.0);
    let outcome = run_text(on, &control_loop(on, "server"), Some("server"));
    assert_verdict(&outcome, Verdict::Good);
    let apart = figure(&outcome, "server", "apart_ticks_min");
    assert!(apart < 20_000.0, "{apart}\n{}", explain(&outcome));
}

fn moved_to_another_hart(on: On) {
    let system = "[system]\nplatform = \"qemu-virt\"\nharts = 2\nslice = \"1s\"\nbe_reserve = \"10%\"\n\
         [[vm]]\nname = \"mover\"\nimage = \"@release-selftest\"\nmemory = \"4MiB\"\n\
         bootargs = \"role=mover\"\nrt_vcpus = 2\nrt_share = \"60%\"\n\
         [[vm.vcpu]]\nclass = \"be\"\n\
         [[vm]]\nname = \"other\"\nimage = \"@release-selftest\"\nmemory = \"4MiB\"\nbootargs = \"role=sleeper\"\n\
         [[vm.vcpu]]\nclass = \"rt\"\nhart = 1\nperiod = \"10ms\"\nbudget = \"3ms\"\n\
         [[vm]]\nname = \"load\"\nimage = \"@bench-load\"\nmemory = \"4MiB\"\nbootargs = \"load=compute\"\n\
         [[vm.vcpu]]\nclass = \"be\"\nharts = [1]\n";
    let outcome = run_text(on, system, Some("mover"));
    is_at_most(&outcome, "mover", "apart_ticks_max", APART_TICKS);
}

in_weak_memory!(; rung_from_another_hart, rung_from_the_same_hart, moved_to_another_hart);
on_both!(moved_to_another_hart, waiting_ends_the_job_of_a_periodic_one; rung_from_another_hart, rung_from_the_same_hart);
