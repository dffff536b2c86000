//! Real-time vCPUs that guests create at run time: from the Rust runtime, from FreeRTOS, from Linux user space.

use tactus::run::journal::VmJournal;
use tactus::run::record::OffReason;
use tactus::run::session::{Outcome, Verdict};

use crate::harness::{
    On, assert_verdict, explain, in_weak_memory, on_both, run, run_text, with_each_queue,
};

/// The checks of `rt-selftest` in their order; the last is the program as a whole.
const CHECKS: [&str; 11] = [
    "rt-arguments",
    "rt-refusals",
    "rt-releases",
    "rt-overrun",
    "rt-change",
    "rt-forgotten",
    "rt-end",
    "rt-again",
    "rt-float",
    "rt-by-memory",
    "rt-selftest",
];
/// The longest latency of a release on an idle hart, in ticks.
const LATE_TICKS: f64 = 20.0;
/// The longest overrun of a job's budget, in ticks: 400 cycles of a board at 100 MHz.
const BEYOND_TICKS: f64 = 40.0;

/// The only VM, which shut down itself after it passed all of these checks.
#[track_caller]
fn passed<'a>(outcome: &'a Outcome, checks: &[&str]) -> &'a VmJournal {
    assert_verdict(outcome, Verdict::Good);
    let seen = || explain(outcome);
    let [vm] = &outcome.journal.vms[..] else {
        panic!("there is one VM\n{}", seen());
    };
    assert_eq!(vm.passed, checks, "\n{}", seen());
    let off = vm.off.map(|off| off.reason);
    assert_eq!(off, Some(OffReason::Shutdown), "\n{}", seen());
    assert_eq!(vm.faults, 0, "\n{}", seen());
    vm
}

#[track_caller]
fn metric(outcome: &Outcome, vm: &VmJournal, name: &str) -> f64 {
    let metric = vm.metrics.get(name).map(|metric| metric.value);
    metric.unwrap_or_else(|| panic!("no {name}\n{}", explain(outcome)))
}

fn from_the_runtime(on: On) {
    let outcome = run(on, "systems/rt.toml", None);
    let vm = passed(&outcome, &CHECKS);
    for name in ["rt_release_late_max", "rt_release_late_max_beside"] {
        let late = metric(&outcome, vm, name);
        assert!(late <= LATE_TICKS, "{name}: {late}\n{}", explain(&outcome));
    }
    let beyond = metric(&outcome, vm, "rt_overrun_ticks_max");
    assert!(beyond <= BEYOND_TICKS, "{beyond}\n{}", explain(&outcome));
}

fn from_freertos(on: On) {
    let outcome = run(on, "systems/freertos-rt.toml", None);
    let checks = [
        "rt_refusal",
        "rt_control",
        "rt_status",
        "rt_in_time",
        "rt_delete",
        "rt_deleted",
    ];
    let vm = passed(&outcome, &checks);
    let seen = || explain(&outcome);
    let series = vm.series("rt_release_latency", "control");
    let samples = series.map_or(0, |series| series.samples());
    // A thousand releases a second for a second, less the time until the start.
    assert!((990..=1001).contains(&samples), "{samples}\n{}", seen());
    let text =
        "rt_create with all of the time: there is time on some hart, but not before every deadline";
    assert!(vm.console.text().contains(text), "\n{}", seen());
}

fn from_linux(on: On) {
    let outcome = run(on, "systems/linux-rt.toml", None);
    let checks = [
        "rt_jobs",
        "rt_grid",
        "rt_in_time",
        "rt_overruns",
        "rt_change",
        "rt_refusal",
        "rt_delete",
        "rt_list",
    ];
    let vm = passed(&outcome, &checks);
    let seen = || explain(&outcome);
    let refused = "tactus-rt: /lib/rt-loop.bin is not admitted with 1ms in 1ms by 1ms:";
    assert!(vm.console.text().contains(refused), "\n{}", seen());
    let late = metric(&outcome, vm, "rt_release_late_max");
    // Linux runs on the same hart meanwhile.
    assert!(late <= 10.0 * LATE_TICKS, "{late}\n{}", seen());
}

/// A fault on a real-time vCPU ends its guest, and is reported.
fn exceptions_are_told(on: On) {
    let system = |image: &str, bootargs: &str| {
        format!(
            "[system]\nplatform = \"qemu-virt\"\nharts = 1\n\
             [[vm]]\nname = \"guest\"\nimage = \"@{image}\"\nmemory = \"16MiB\"\n\
             bootargs = \"{bootargs}\"\nrt_vcpus = 1\nrt_share = \"80%\"\n\
             [[vm.vcpu]]\nclass = \"be\"\n"
        )
    };
    for (image, bootargs, report) in [
        (
            "freertos-rt",
            "rt=exception",
            "freertos: rt-exception: illegal instruction",
        ),
        (
            "rt-selftest",
            "end=exception",
            "illegal_instruction_(cause_0x2)",
        ),
    ] {
        let outcome = run_text(on, &system(image, bootargs), None);
        let vm = &outcome.journal.vms[0];
        let seen = || explain(&outcome);
        assert!(vm.console.text().contains(report), "{image}\n{}", seen());
        assert_eq!(vm.failed.len(), 1, "{image}\n{}", seen());
        let off = vm.off.map(|off| off.reason);
        assert_eq!(off, Some(OffReason::Fail), "{image}\n{}", seen());
    }
}

in_weak_memory!(; from_the_runtime, from_freertos, exceptions_are_told);
on_both!(
    from_the_runtime,
    from_freertos,
    from_linux,
    exceptions_are_told,
);
with_each_queue!(from_the_runtime, from_freertos, from_linux);
