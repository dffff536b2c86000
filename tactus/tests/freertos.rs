//! The FreeRTOS guest in VMs. `cargo test -p tactus-guest-freertos` tests it natively.

use tactus::run::journal::VmJournal;
use tactus::run::record::OffReason;
use tactus::run::session::{Outcome, Verdict};

use crate::harness::{On, assert_verdict, explain, on_both, root, run, run_text, with_each_queue};

/// Releases in each phase of the demonstration when it runs unattended (`guests/freertos/app/demo.c`).
const RELEASES: u64 = 2000;
/// Names of its self-checks.
const DEMO_CHECKS: [&str; 2] = ["freertos_worker", "freertos_heartbeat"];

fn vm<'a>(outcome: &'a Outcome, name: &str) -> &'a VmJournal {
    outcome
        .journal
        .vm(name)
        .unwrap_or_else(|| panic!("there is no VM {name}"))
}

/// A demonstration that measured all of its releases and missed none, and whose other tasks worked.
#[track_caller]
fn assert_measured(outcome: &Outcome, name: &str) {
    let vm = vm(outcome, name);
    let seen = || explain(outcome);
    assert_eq!(vm.passed, DEMO_CHECKS, "\n{}", seen());
    for phase in ["idle", "loaded"] {
        let samples = vm.series("release_latency", phase).map(|s| s.samples());
        assert_eq!(samples, Some(RELEASES), "{phase}\n{}", seen());
    }
    let misses = vm.metrics.get("release_deadline_misses").map(|m| m.value);
    assert_eq!(misses, Some(0.0), "\n{}", seen());
}

/// A self-test whose parts all passed.
#[track_caller]
fn assert_self_tested(outcome: &Outcome, name: &str) {
    let vm = vm(outcome, name);
    let seen = || explain(outcome);
    assert!(vm.failed.is_empty(), "\n{}", seen());
    assert!(
        vm.passed.iter().any(|check| check == "freertos_selftest"),
        "{name} did not end\n{}",
        seen()
    );
    assert!(!vm.console.text().contains("skipped"), "\n{}", seen());
}

fn alone(on: On) {
    let outcome = run(on, "systems/freertos.toml", None);
    assert_verdict(&outcome, Verdict::Good);
    assert_measured(&outcome, "freertos");
}

fn beside_each_other(on: On) {
    let outcome = run(on, "systems/freertos-selftest.toml", None);
    assert_verdict(&outcome, Verdict::Good);
    assert_measured(&outcome, "measured");
    assert_self_tested(&outcome, "first");
    assert_self_tested(&outcome, "second");
}

/// A self-test whose vCPU migrates between harts, beside another self-test whose vCPU also migrates.
fn on_several_harts(on: On) {
    let mut system = String::from("[system]\nplatform = \"qemu-virt\"\nharts = 2\n");
    for name in ["first", "second", "third"] {
        system += &format!(
            "[[vm]]\nname = \"{name}\"\nimage = \"@freertos-selftest\"\nmemory = \"16MiB\"\n\
             [[vm.vcpu]]\nclass = \"be\"\nharts = [0, 1]\n"
        );
    }
    let outcome = run_text(on, &system, None);
    assert_verdict(&outcome, Verdict::Good);
    for name in ["first", "second", "third"] {
        assert_self_tested(&outcome, name);
    }
}

/// The real-time system of the hostile guests' tests, with FreeRTOS as the watcher.
///
/// The hostile guest below it executes hypercalls, fences and traps without end.
fn above_a_hostile_guest(on: On) {
    let mut system = std::fs::read_to_string(root().join("systems/hostile-flood.toml"))
        .expect("the system is there");
    system += "\n[[vm]]\nname = \"freertos\"\nimage = \"@freertos\"\ncounters = true\nmemory = \"16MiB\"\n\
               [[vm.vcpu]]\nclass = \"rt\"\nhart = 0\npriority = 210\n";
    let outcome = run_text(on, &system, None);
    assert_verdict(&outcome, Verdict::Good);
    assert_measured(&outcome, "freertos");
}

/// The guest reports a failure of its own and powers off as failed, in a VM as well as natively.
fn failures_are_told(on: On) {
    for (case, report) in [
        ("assert", "freertos: assertion: app/selftest.c:"),
        ("overflow", "freertos: stack-overflow: task=overflow"),
        ("exception", "freertos: exception cause=0x0000000000000002"),
        ("handler-fp", "freertos: exception cause=0x0000000000000002"),
        ("return", "freertos: assertion: port/port.c:"),
    ] {
        let outcome = run_text(
            on,
            &format!(
                "[system]\nplatform = \"qemu-virt\"\nharts = 1\n\
                 [[vm]]\nname = \"rtos\"\nimage = \"@freertos-selftest\"\nmemory = \"16MiB\"\n\
                 bootargs = \"selftest={case}\"\n\
                 [[vm.vcpu]]\nclass = \"rt\"\nhart = 0\npriority = 100\n"
            ),
            None,
        );
        let vm = vm(&outcome, "rtos");
        let seen = || explain(&outcome);
        assert!(vm.console.text().contains(report), "{case}\n{}", seen());
        assert_eq!(vm.failed.len(), 1, "{case}\n{}", seen());
        assert_eq!(
            vm.off.map(|off| off.reason),
            Some(OffReason::Fail),
            "{case}\n{}",
            seen()
        );
    }
}

on_both!(
    alone,
    failures_are_told;
    beside_each_other,
    on_several_harts,
    above_a_hostile_guest,
);
with_each_queue!(beside_each_other, on_several_harts, above_a_hostile_guest);
