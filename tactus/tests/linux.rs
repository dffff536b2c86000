//! Debian's Linux, the unmodified binary, in VMs.

use tactus::run::journal::VmJournal;
use tactus::run::record::{Consumer, OffReason};
use tactus::run::session::{Outcome, Verdict};

use crate::harness::{On, assert_verdict, explain, on_both, root, run, run_text, with_each_queue};

/// The text of a system with `from` replaced.
fn system(file: &str, from: &str, to: &str) -> String {
    let text = std::fs::read_to_string(root().join(file)).expect("the system is there");
    assert!(text.contains(from), "{file} does not say {from}");
    text.replace(from, to)
}

fn vm<'a>(outcome: &'a Outcome, name: &str) -> &'a VmJournal {
    outcome
        .journal
        .vm(name)
        .unwrap_or_else(|| panic!("there is no VM {name}"))
}

/// Linux booted with both of its vCPUs, executed its commands and powered off in order.
#[track_caller]
fn assert_done(outcome: &Outcome, check: &str) {
    assert_verdict(outcome, Verdict::Good);
    let linux = vm(outcome, "linux");
    let seen = || explain(outcome);
    let console = linux.console.text();
    for line in ["Linux version 6.12.", "Linux is up on 2 CPUs"] {
        assert!(console.contains(line), "no {line:?}\n{}", seen());
    }
    assert_eq!(linux.passed, [check], "\n{}", seen());
    assert_eq!(
        linux.off.map(|off| off.reason),
        Some(OffReason::Shutdown),
        "\n{}",
        seen()
    );
    assert_eq!(linux.faults, 0, "\n{}", seen());
}

fn on_two_harts(on: On) {
    let outcome = run_text(
        on,
        &system("systems/linux.toml", "tactus.run=shell", "tactus.run=boot"),
        None,
    );
    assert_done(&outcome, "linux_boot");
}

/// Two vCPUs that wait for each other share one hart: neither may keep the other from it.
fn on_one_hart(on: On) {
    let text = system("systems/linux.toml", "tactus.run=shell", "tactus.run=boot")
        .replace("harts = 2", "harts = 1")
        .replace("harts = [0, 1]", "harts = [0]");
    assert_done(&run_text(on, &text, None), "linux_boot");
}

/// The demonstration: FreeRTOS meets every deadline while Linux is under load on the same hart.
fn beside_freertos(on: On) {
    let outcome = run_text(
        on,
        &std::fs::read_to_string(root().join("systems/demo.toml")).expect("the system is there"),
        None,
    );
    assert_plays_its_part(&outcome);
}

/// The demonstration with Linux's kernel on hart 1 only, and a program that computes beside the load.
///
/// FreeRTOS keeps its deadlines, and Linux's programs get at least `ticks` of hart 0. Returns the number of entries to
/// Linux's kernel from there.
#[track_caller]
fn at_user_level(on: On, migration: &str, ticks: u64) -> u64 {
    let text = system(
        "systems/demo.toml",
        "tactus.load=1",
        "tactus.load=1 tactus.compute=1",
    )
    .replace(
        "harts = 2\n",
        &format!("harts = 2\nmigration = \"{migration}\"\n"),
    );
    let outcome = run_text(on, &text, None);
    assert_plays_its_part(&outcome);
    let seen = || explain(&outcome);
    let linux = vm(&outcome, "linux");
    let rounds = linux.metrics.get("linux_rounds_1").map(|m| m.value);
    assert!(rounds > Some(1000.0), "{rounds:?}\n{}", seen());
    let consumer = Consumer::Vm("linux".to_owned());
    let had = outcome.journal.usage.get(&(0, consumer)).copied();
    assert!(had > Some(ticks), "{had:?}\n{}", seen());
    linux.kernel_entries.values().sum()
}

fn at_user_level_beside_freertos(on: On) {
    // A tenth of the load's time, which is at least a second.
    let entries = at_user_level(on, "always", 1_000_000);
    assert!(entries > 5000, "{entries} entries");
}

/// The programs of both vCPUs call the kernel all the time, so that the vCPUs hardly migrate to hart 0.
fn at_user_level_now_and_then_beside_freertos(on: On) {
    let entries = at_user_level(on, "automatic", 1000);
    assert!((1..5000).contains(&entries), "{entries} entries");
}

/// Both vCPUs only compute, and use hart 0 for most of the time, although they enter the kernel some hundred times a
/// second.
///
/// Without such migration Linux gets next to no time of hart 0.
fn computing_at_user_level_beside_freertos(on: On) {
    let platform = match on {
        On::Qemu => "qemu-virt",
        _ => "soc",
    };
    let text = system(
        "systems/spumone.toml",
        "tactus.work=idle",
        // The few messages are those of the program's start.
        "tactus.work=speed tactus.rounds=500000 tactus.loops=1",
    )
    .replace("hz=10000 samples=10000", "hz=1000")
    .replace(
        "\"soc\"",
        &format!("\"{platform}\"\nmigration = \"automatic\""),
    );
    let outcome = run_text(on, &text, Some("linux"));
    assert_done(&outcome, "linux_speed");
    let seen = || explain(&outcome);
    let linux = vm(&outcome, "linux");
    let took = linux.metrics.get("linux_compute").map(|m| m.value / 100.0);
    let took = took.unwrap_or_else(|| panic!("no linux_compute\n{}", seen()));
    let consumer = Consumer::Vm("linux".to_owned());
    let had = outcome.journal.usage.get(&(0, consumer)).copied();
    let share = had.unwrap_or_default() as f64 / took;
    assert!(share > 0.8, "{share} of the time\n{}", seen());
    let entries: u64 = linux.kernel_entries.values().sum();
    assert!(entries > 0, "\n{}", seen());
}

/// Asserts that Linux and FreeRTOS behaved as the demonstration describes.
#[track_caller]
fn assert_plays_its_part(outcome: &Outcome) {
    assert_done(outcome, "linux_load");
    let seen = || explain(outcome);
    // FreeRTOS measures in the phases that Linux reports, with about a release a millisecond in each.
    assert_eq!(
        vm(outcome, "linux").phases,
        ["linux_up", "idle", "loaded", "done"],
        "\n{}",
        seen()
    );
    let freertos = vm(outcome, "freertos");
    for phase in ["idle", "loaded"] {
        let samples = freertos
            .series("release_latency", phase)
            .map_or(0, |series| series.samples());
        assert!(samples >= 950, "{samples} samples in {phase}\n{}", seen());
    }
    let misses = freertos.metrics.get("release_deadline_misses");
    assert_eq!(misses.map(|m| m.value), Some(0.0), "\n{}", seen());
}

/// Records travel from Linux user space to FreeRTOS and back.
fn by_rings(on: On) {
    let outcome = run(on, "systems/linux-ring.toml", None);
    assert_verdict(&outcome, Verdict::Good);
    let seen = || explain(&outcome);
    let linux = vm(&outcome, "linux");
    assert_eq!(linux.passed, ["ring_answer", "ring_send"], "\n{}", seen());
    let freertos = vm(&outcome, "freertos");
    assert_eq!(freertos.passed, ["freertos-channel"], "\n{}", seen());
}

/// Debian's kernel finds a channel's memory in `/reserved-memory`, and leaves it alone; its user space maps it by the
/// address there.
fn by_reserved_memory(on: On) {
    let outcome = run(on, "systems/reserved-memory.toml", None);
    assert_verdict(&outcome, Verdict::Good);
    let wanted = [
        "reserved_compatible",
        "reserved_reg",
        "reserved_no_map",
        "reserved_phandle",
        "reserved_by_kernel",
        "reserved_memory",
        "reserved_answer",
        "reserved_send",
    ];
    let linux = vm(&outcome, "linux");
    assert_eq!(linux.passed, wanted, "\n{}", explain(&outcome));
}

on_both!(
    by_reserved_memory,
    on_two_harts,
    on_one_hart,
    beside_freertos,
    by_rings;
    at_user_level_beside_freertos,
    at_user_level_now_and_then_beside_freertos,
    computing_at_user_level_beside_freertos,
);
with_each_queue!(
    on_two_harts,
    on_one_hart,
    at_user_level_beside_freertos,
    at_user_level_now_and_then_beside_freertos,
    by_rings,
);
