//! What the noise of a hostile VM on another hart costs a real-time guest: its jobs are compared with those it has
//! alone.
//!
//! The victim has 400 µs in each millisecond, and a job of 100,000 cycles. On the board's fast pace a cycle is an
//! instruction, also for the hypervisor, so that each figure is what others make the victim's hart do.

use tactus::run::session::Outcome;

use crate::harness::{On, explain, figure, in_weak_memory, on_board, root, run_text};

/// Cycles of the victim's job alone.
const ALONE: f64 = 100_002.0;
/// The most that a job may take beside others.
const MOST: f64 = 1.10 * ALONE;
/// Jobs of the victim that are measured, if not in weak memory.
const JOBS: u64 = 100;

fn jobs(on: On) -> u64 {
    on.fewer(JOBS, 5)
}

/// Runs `systems/interference.toml` with this noise until the victim, which takes doorbells by the method `listen`, is
/// done. Asserts its promise; returns how many doorbells it has taken.
#[track_caller]
fn victim_is_unharmed(on: On, noise: &str, listen: &str) -> f64 {
    victim_with_is_unharmed(on, noise, listen, "")
}

/// As [`victim_is_unharmed`], with these lines in the victim's vCPU.
#[track_caller]
fn victim_with_is_unharmed(on: On, noise: &str, listen: &str, lines: &str) -> f64 {
    let system = std::fs::read_to_string(root().join("systems/interference.toml"));
    let mut system = system.expect("the system is there");
    for (from, to) in [
        (
            "jobs=200 listen=masked\"",
            format!("jobs={} listen={listen}\"", jobs(on)),
        ),
        ("noise=ring", format!("noise={noise}")),
        (
            "budget = \"400us\"\n",
            format!("budget = \"400us\"\n{lines}"),
        ),
    ] {
        assert!(system.contains(from), "{from}");
        system = system.replacen(from, &to, 1);
    }
    let outcome = run_text(on, &system, Some("victim"));
    is_unharmed(&outcome);
    figure(&outcome, "victim", "victim_doorbells")
}

/// Asserts the victim's promise.
#[track_caller]
fn is_unharmed(outcome: &Outcome) {
    let of = |name| figure(outcome, "victim", name);
    let victim = outcome.journal.vm("victim").expect("the system has it");
    assert_eq!(victim.passed, ["victim"], "\n{}", explain(outcome));
    let worst = of("victim_job_cycles_max");
    assert!(
        (ALONE..=MOST).contains(&worst),
        "a job took {worst} cycles\n{}",
        explain(outcome)
    );
    assert_eq!(of("victim_overruns"), 0.0, "\n{}", explain(outcome));
    assert_eq!(of("victim_missed"), 0.0, "\n{}", explain(outcome));
}

fn silence(on: On) {
    assert_eq!(victim_is_unharmed(on, "none", "unmasked"), 0.0);
}

/// A doorbell that the victim has enabled is rung as fast as possible, by stores and by calls. A ring that comes too
/// early is kept: the victim gets one in each period, and no more than the hypervisor raises in two deferral periods.
fn rings(on: On) {
    for noise in ["ring", "notify"] {
        for listen in ["masked", "page"] {
            victim_is_unharmed(on, noise, listen);
        }
        let doorbells = victim_is_unharmed(on, noise, "unmasked");
        let jobs = jobs(on) as f64;
        let expected = jobs..=4.0 * jobs;
        assert!(expected.contains(&doorbells), "{noise}: {doorbells}");
    }
}

/// With an interrupt distance of its own the victim gets a doorbell as often as that while its job runs, and while it
/// waits; no more, and its job still takes no longer.
fn rings_at_a_distance(on: On) {
    let distance = "interrupt_distance = \"150us\"\n";
    for noise in ["ring", "notify"] {
        let usual = victim_is_unharmed(on, noise, "unmasked");
        let doorbells = victim_with_is_unharmed(on, noise, "unmasked", distance);
        let jobs = jobs(on) as f64;
        let expected = usual + 0.8 * jobs..=9.0 * jobs;
        assert!(
            expected.contains(&doorbells),
            "{noise}: {doorbells}, without {usual}"
        );
    }
}

/// The doorbell of another real-time VM on the victim's hart is rung as fast as possible.
fn rings_of_another(on: On) {
    victim_is_unharmed(on, "ring channel=1", "none");
}

/// Real-time vCPUs are created, changed and deleted without pause.
fn reservations(on: On) {
    victim_is_unharmed(on, "reserve", "none");
}

/// A device's interrupt, which reaches the VM by its sleeping real-time vCPU's hart, and whose line stays up, is
/// completed without pause, by calls and by the virtual PLIC.
fn line_that_stays_up(on: On) {
    victim_is_unharmed(on, "end", "none");
    victim_is_unharmed(on, "complete", "none");
}

/// A pending interrupt is enabled and disabled for the sleeping vCPU.
fn enable_that_toggles(on: On) {
    victim_is_unharmed(on, "toggle", "none");
}

/// The device manager's doorbell is rung as fast as possible by a VM with an accelerator. The manager is more urgent
/// than the victim.
#[test]
fn rings_of_the_device_manager() {
    let shared = std::fs::read_to_string(root().join("systems/accelerators.toml"));
    let shared = shared.expect("the system is there");
    // The manager, and what it is told, as in that system.
    let (manager, _) = shared
        .split_once("[[vm]]\nname = \"modem\"")
        .expect("its first guest");
    let system = format!(
        r#"{manager}
[[vm]]
name = "victim"
image = "@victim"
counters = true
memory = "4MiB"
bootargs = "jobs={JOBS} listen=none"

[[vm.vcpu]]
class = "rt"
hart = 0
priority = 100
period = "1ms"
budget = "300us"

[[vm]]
name = "noise"
image = "@noise"
memory = "4MiB"
bootargs = "noise=ring"

[[vm.vcpu]]
class = "be"
harts = [1]

[[vm.vcpu]]
class = "be"
harts = [1]

[[vm.accelerator]]
task = "qam16"

[[channel]]
name = "regions"
between = ["manager", "noise"]
size = "4KiB"
"#
    );
    is_unharmed(&run_text(On::Accelerators, &system, Some("victim")));
}

/// Without `counters`, a VM reads only `time`: `cycle` and `instret` would show what its hart does for others.
#[test]
fn counters_are_closed() {
    let system = |counters| {
        format!(
            r#"
            [system]
            platform = "qemu-virt"
            harts = 1
            [[vm]]
            name = "reader"
            image = "@victim"
            counters = {counters}
            memory = "4MiB"
            bootargs = "jobs=10 listen=none"
            [[vm.vcpu]]
            class = "rt"
            hart = 0
            period = "1ms"
            budget = "400us"
            "#
        )
    };
    for on in [On::Board, On::Qemu] {
        let closed = run_text(on, &system(false), None);
        let reader = closed.journal.vm("reader").expect("the system has it");
        let [(_, failure)] = &reader.failed[..] else {
            panic!("it fails once\n{}", explain(&closed));
        };
        // The read of `cycle` into `a0`.
        let read = "illegal_instruction_(cause_0x2)_at_pc=0x";
        assert!(failure.contains(read), "{failure}");
        assert!(failure.ends_with("value=0xc0002573"), "{failure}");
        let open = run_text(on, &system(true), None);
        let reader = open.journal.vm("reader").expect("the system has it");
        assert!(reader.failed.is_empty(), "\n{}", explain(&open));
    }
}

on_board!(
    silence,
    rings,
    rings_at_a_distance,
    rings_of_another,
    reservations,
    line_that_stays_up,
    enable_that_toggles,
);
in_weak_memory!(; rings, rings_at_a_distance, rings_of_another, line_that_stays_up, enable_that_toggles);
