//! The guest runtime's self-test, natively under the firmware and in a VM: the same binary and the same checks.

use tactus::artifacts::Artifacts;
use tactus::run::machine::Launch;
use tactus::run::session::{Outcome, Plan, Session, Unwatched, Verdict};

use crate::harness::{
    On, STUCK, assert_verdict, explain, in_weak_memory, on_both, run, run_text, with_each_queue,
};

/// The checks of the self-test in their order; the last is the program as a whole.
const CHECKS: [&str; 12] = [
    "devicetree",
    "console",
    "registers",
    "exception",
    "csr",
    "ipi",
    "uart",
    "stopwatch",
    "harts",
    "hypervisor",
    "page",
    "runtime-selftest",
];
/// Ticks per second of QEMU's `virt`.
const TIMEBASE_HZ: u64 = 10_000_000;

/// Runs a guest directly under the firmware.
fn natively(on: On, guest: &str, harts: u32) -> Outcome {
    let image = Artifacts::Workspace
        .file(guest)
        .unwrap_or_else(|missing| panic!("{}: {}", missing.reason, missing.cure));
    let launch = Launch {
        image,
        initrd: None,
        bootargs: String::new(),
        harts,
        memory_bytes: 256 << 20,
        platform: on.platform(),
    };
    let plan = Plan::bare(launch, guest, TIMEBASE_HZ).limit(STUCK);
    Session::start(plan)
        .and_then(|session| session.finish(&mut Unwatched))
        .unwrap_or_else(|error| panic!("{guest}: {error}"))
}

/// Asserts that the self-test found `harts` harts and that all checks passed.
#[track_caller]
fn assert_in_order(outcome: &Outcome, harts: f64) {
    assert_verdict(outcome, Verdict::Good);
    let vm = &outcome.journal.vms[0];
    assert_eq!(vm.passed, CHECKS, "\n{}", explain(outcome));
    assert_eq!(vm.metrics["harts"].value, harts);
    let countdown = vm.series("countdown", "console").expect("it counted down");
    assert_eq!(countdown.samples(), 500);
    assert_eq!(countdown.extremes(), Some((0, 499)));
    assert_eq!(outcome.journal.notes().collect::<Vec<_>>(), []);
}

fn natively_on_one_hart(on: On) {
    assert_in_order(&natively(on, "runtime-selftest", 1), 1.0);
}

fn natively_on_four_harts(on: On) {
    assert_in_order(&natively(on, "runtime-selftest", 4), 4.0);
}

fn in_a_vm(on: On) {
    assert_in_order(&run(on, "systems/selftest.toml", None), 3.0);
}

/// Rings and messages between a guest in Rust and one in C.
#[track_caller]
fn both_ends_work(on: On, system: &str) {
    let outcome = run(on, system, None);
    assert_verdict(&outcome, Verdict::Good);
    let passed = |name| &outcome.journal.vm(name).expect("the system has it").passed;
    let checks = [
        "ring_echo",
        "ring_restart",
        "message_errors",
        "message_order",
        "message_full",
        "message_wait",
        "channel-selftest",
    ];
    assert_eq!(*passed("rust"), checks, "\n{}", explain(&outcome));
    assert_eq!(*passed("freertos"), ["freertos-channel"]);
}

fn both_ends_of_a_channel(on: On) {
    both_ends_work(on, "systems/channel.toml");
}

fn both_ends_of_a_channel_by_pages(on: On) {
    both_ends_work(on, "systems/channel-page.toml");
}

/// Three VMs ring a fourth at the same time, which answers each ring.
#[track_caller]
fn every_doorbell_is_heard(on: On, system: &str) {
    let outcome = run(on, system, None);
    assert_verdict(&outcome, Verdict::Good);
    let heard =
        |name| outcome.journal.vm(name).expect("the system has it").metrics["doorbells"].value;
    assert_eq!(
        ["hub", "a", "b", "c"].map(heard),
        [9000.0, 3000.0, 3000.0, 3000.0],
        "\n{}",
        explain(&outcome)
    );
}

fn doorbells_that_cross(on: On) {
    every_doorbell_is_heard(on, "systems/doorbell.toml");
}

fn doorbells_that_cross_by_pages(on: On) {
    every_doorbell_is_heard(on, "systems/doorbell-page.toml");
}

/// A system whose console interrupt would first go to a hart that a real-time guest occupies for the whole run.
///
/// No interrupt for best-effort VMs is handled on that hart.
const TALK_BESIDE_REAL_TIME: &str = r#"
[system]
platform = "qemu-virt"
harts = 2

[[vm]]
name = "freertos"
image = "@freertos-dispatch"
counters = true
bootargs = "hz=1000"
memory = "16MiB"

[[vm.vcpu]]
class = "rt"
hart = 0
priority = 200

[[vm]]
name = "hello"
image = "@hello"
memory = "4MiB"

[[vm.vcpu]]
class = "be"
harts = [1]
"#;

/// A guest's output before power-off is complete, on whichever hart the other VMs run.
fn last_words_beside_a_real_time_guest(on: On) {
    let outcome = run_text(on, TALK_BESIDE_REAL_TIME, Some("hello"));
    assert_verdict(&outcome, Verdict::Good);
}

in_weak_memory!(
    both_ends_of_a_channel,
    both_ends_of_a_channel_by_pages;
    natively_on_four_harts,
    in_a_vm,
    doorbells_that_cross,
    last_words_beside_a_real_time_guest,
    doorbells_that_cross_by_pages,
);
on_both!(
    natively_on_one_hart,
    natively_on_four_harts,
    in_a_vm,
    both_ends_of_a_channel,
    both_ends_of_a_channel_by_pages,
    doorbells_that_cross,
    last_words_beside_a_real_time_guest,
    doorbells_that_cross_by_pages,
);
with_each_queue!(
    in_a_vm,
    both_ends_of_a_channel,
    both_ends_of_a_channel_by_pages,
    doorbells_that_cross,
    doorbells_that_cross_by_pages,
    last_words_beside_a_real_time_guest,
);
