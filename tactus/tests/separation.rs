//! The effect of `separation = false`: each half of it shows in a latency that a guest measures.

use tactus::run::journal::VmJournal;
use tactus::run::session::Verdict;

use crate::harness::{On, assert_verdict, explain, on_both, root, run_text, with_each_queue};

/// A system with or without separation.
fn with(separation: bool, system: &str) -> String {
    let table = "[system]\n";
    assert!(system.contains(table));
    system.replacen(table, &format!("{table}separation = {separation}\n"), 1)
}

#[track_caller]
fn figure(vm: &VmJournal, name: &str) -> f64 {
    vm.metrics
        .get(name)
        .unwrap_or_else(|| panic!("{} reported no {name}", vm.name))
        .value
}

/// A real-time guest is released in time beside a best-effort VM that restarts itself without pause.
///
/// Each restart clears 4 MiB. Without separation, the release waits for that.
fn work_for_best_effort_is_left_for_real_time(on: On) {
    let file = root().join("systems/hostile-reboot.toml");
    let system = std::fs::read_to_string(file).expect("the system is there");
    // The bound that the watcher itself checks.
    let bound = 8000.0;
    for separation in [true, false] {
        let outcome = run_text(on, &with(separation, &system), None);
        let seen = || explain(&outcome);
        let watcher = outcome.journal.vm("watcher").expect("it is there");
        let late = figure(watcher, "watcher_latency_instructions_max");
        if separation {
            assert_verdict(&outcome, Verdict::Good);
            assert!(late <= bound, "{late} instructions\n{}", seen());
        } else {
            assert_eq!(watcher.failed.len(), 1, "\n{}", seen());
            // 4 MiB in doublewords.
            assert!(late > 500_000.0, "{late} instructions\n{}", seen());
        }
        assert_eq!(outcome.journal.failure, None, "\n{}", seen());
    }
}

/// Interrupts for a best-effort VM wait while FreeRTOS computes on their hart; without separation they interrupt it.
///
/// The best-effort VM has the other hart to itself. FreeRTOS computes for 9 ms of every 10.
fn interrupts_for_best_effort_wait_for_real_time(on: On) {
    let system = r#"
        [system]
        platform = "qemu-virt"
        harts = 2
        [[vm]]
        name = "device"
        image = "@bench-platform"
        counters = true
        memory = "4MiB"
        console = false
        [[vm.vcpu]]
        class = "be"
        harts = [0, 1]
        [[vm.device]]
        address = 0x1000_0000
        size = 0x1000
        interrupts = [10]
        trusted = true
        [[vm]]
        name = "freertos"
        image = "@freertos-dispatch"
        counters = true
        memory = "4MiB"
        bootargs = "hz=1000 load=90"
        [[vm.vcpu]]
        class = "rt"
        hart = 0
        priority = 200
    "#
    .replace("        ", "");
    for separation in [true, false] {
        let outcome = run_text(on, &with(separation, &system), Some("device"));
        assert_verdict(&outcome, Verdict::Good);
        let device = outcome.journal.vm("device").expect("it is there");
        let late = figure(device, "irq_to_guest_instructions");
        let seen = || format!("{late} instructions\n{}", explain(&outcome));
        if separation {
            assert!(late > 1_000_000.0, "{}", seen());
        } else {
            assert!(late < 100_000.0, "{}", seen());
        }
    }
}

on_both!(
    work_for_best_effort_is_left_for_real_time,
    interrupts_for_best_effort_wait_for_real_time
);
with_each_queue!(
    work_for_best_effort_is_left_for_real_time,
    interrupts_for_best_effort_wait_for_real_time,
);
