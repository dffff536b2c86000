//! Systems whose cache is divided by colours: guests run in memory that is in pieces, and a neighbour does not evict
//! their lines.

use tactus::run::board::Marker;
use tactus::run::machine::Platform;
use tactus::run::record::OffReason;
use tactus::run::session::{Outcome, Verdict};
use tactus_board::board::Pace;
use tactus_board::timing::Cost;

use crate::harness::{
    On, assert_verdict, boot_text, explain, figure, on_both, once, root, run, run_text,
};

/// The text of a system.
fn text(name: &str) -> String {
    let file = root().join(format!("systems/{name}.toml"));
    std::fs::read_to_string(file).expect("the system is there")
}

/// The system with one colour for each VM: no page of a VM follows the one before it in physical memory.
fn in_single_pages(name: &str) -> String {
    let text = text(name);
    let mut parts = text.split("[[vm]]\n");
    let mut divided = parts.next().unwrap_or_default().to_owned();
    for (colour, part) in parts.enumerate() {
        divided += &format!("[[vm]]\ncache_colours = \"{colour}\"\n{part}");
    }
    divided
}

/// All VMs have shut down, without a fault, and have passed what they pass in one piece of memory.
#[track_caller]
fn passes_as_in_one_piece(on: On, name: &str) -> Outcome {
    let whole = run(on, &format!("systems/{name}.toml"), None);
    let outcome = run_text(on, &in_single_pages(name), None);
    for outcome in [&whole, &outcome] {
        assert_verdict(outcome, Verdict::Good);
    }
    for (vm, before) in outcome.journal.vms.iter().zip(&whole.journal.vms) {
        let seen = || explain(&outcome);
        assert_eq!(vm.passed, before.passed, "\n{}", seen());
        assert_eq!(vm.faults, before.faults, "\n{}", seen());
        let off = vm.off.map(|off| off.reason);
        assert_eq!(off, Some(OffReason::Shutdown), "\n{}", seen());
    }
    outcome
}

/// Every line of the VMs' memory is their own, and a restart clears the VM's own and no other.
fn memory_is_apart(on: On) {
    let outcome = run(on, "systems/memory.toml", None);
    assert_verdict(&outcome, Verdict::Good);
    assert_eq!(figure(&outcome, "restarts", "memory_lives"), 4.0);
    assert!(figure(&outcome, "stays", "memory_looks") > 1.0);
    let restarts = outcome.journal.vm("restarts").expect("the system has it");
    assert_eq!(restarts.restarts, 3, "{}", explain(&outcome));
}

/// The hypervisor's calls with buffers that continue on another page: texts, status, call blocks, messages.
fn calls_cross_pages(on: On) {
    passes_as_in_one_piece(on, "selftest");
    passes_as_in_one_piece(on, "rt");
    passes_as_in_one_piece(on, "channel");
}

/// A guest that restarts without pause finds nothing of its last life, and harms the real-time guest beside it no more
/// than in one piece of memory.
fn restarts_are_clean(on: On) {
    passes_as_in_one_piece(on, "hostile-reboot");
}

/// Linux boots in half of the colours, as 4 KiB pages.
fn linux_boots(on: On) {
    let system = text("linux")
        .replace("harts = 2", "harts = 1")
        .replace("harts = [0, 1]", "harts = [0]")
        .replace("512MiB", "256MiB")
        .replace("tactus.run=shell", "tactus.run=boot")
        .replace("[[vm]]\n", "[[vm]]\ncache_colours = \"8-15\"\n");
    let outcome = run_text(on, &system, None);
    assert_verdict(&outcome, Verdict::Good);
    let linux = outcome.journal.vm("linux").expect("the system has it");
    assert_eq!(linux.faults, 0, "{}", explain(&outcome));
    let off = linux.off.map(|off| off.reason);
    assert_eq!(off, Some(OffReason::Shutdown), "{}", explain(&outcome));
}

/// The longest job of a real-time guest that reads half of the second-level cache, beside a neighbour on another hart.
#[track_caller]
fn longest_job(divided: bool, noise: &str) -> f64 {
    let system = text("cache-colours")
        .replace("jobs=50", "jobs=10")
        .replace("noise=sweep", &format!("noise={noise}"))
        .replace(
            "cache_colours = true",
            &format!("cache_colours = {divided}"),
        );
    let mut boot = boot_text(On::Board, &system);
    let plan = boot.plan.until("victim");
    boot.plan = plan.expect("the system has it");
    let Platform::Board(options) = &mut boot.plan.launch.platform else {
        panic!("it runs on the board");
    };
    options.pace = Pace::Timed;
    let outcome = once(&boot);
    let victim = outcome.journal.vm("victim").expect("the system has it");
    assert_eq!(victim.passed, ["victim"], "\n{}", explain(&outcome));
    figure(&outcome, "victim", "victim_job_cycles_max")
}

/// A neighbour that sweeps through memory costs little with colours, and much without.
#[test]
fn a_sweep_evicts_nothing() {
    let alone = longest_job(false, "none");
    for noise in ["sweep", "write"] {
        let (divided, shared) = (longest_job(true, noise), longest_job(false, noise));
        assert!(divided <= 1.30 * alone, "{noise}: {divided}, alone {alone}");
        assert!(shared >= 2.0 * alone, "{noise}: {shared}, alone {alone}");
    }
}

/// A vCPU with much data that a short one of its hart preempts, beside a neighbour on another hart.
fn preempted(divided: bool, noise: &str) -> String {
    let upper = r#"[[vm]]
name = "upper"
image = "@victim"
counters = true
memory = "4MiB"
bootargs = "jobs=1000000 steps=100000 listen=none"

[[vm.vcpu]]
class = "rt"
hart = 0
kind = "periodic"
period = "2ms"
budget = "400us"

[[vm]]
name = "noise""#;
    text("cache-colours")
        .replace(
            "jobs=50 warm=10 steps=100 kib=256",
            "jobs=20 warm=1 steps=100 kib=64 passes=30",
        )
        .replace(
            "period = \"10ms\"\nbudget = \"7ms\"",
            "kind = \"periodic\"\nperiod = \"10ms\"\nbudget = \"6ms\"",
        )
        .replace("[[vm]]\nname = \"noise\"", upper)
        .replace("noise=sweep", &format!("noise={noise}"))
        .replace(
            "cache_colours = true",
            &format!("cache_colours = {divided}"),
        )
}

/// A run of that system, with all costs from when all VMs have started. Books on reload costs are kept, or not.
fn run_preempted(divided: bool, noise: &str, books: bool) -> Outcome {
    let mut boot = boot_text(On::Board, &preempted(divided, noise));
    let plan = boot.plan.until("victim");
    boot.plan = plan.expect("the system has it");
    let Platform::Board(options) = &mut boot.plan.launch.platform else {
        panic!("it runs on the board");
    };
    options.timed_from = Some(Marker::Cycle(60_000_000));
    if books {
        options.reloads.clone_from(&boot.image.reloads);
    }
    let outcome = once(&boot);
    let victim = outcome.journal.vm("victim").expect("the system has it");
    assert_eq!(victim.passed, ["victim"], "\n{}", explain(&outcome));
    outcome
}

/// What the preemptions of the vCPU with much data have cost it.
fn reload_cost(outcome: &Outcome) -> Cost {
    let facts = outcome.board.as_ref().expect("it ran on the board");
    let [victim, upper] = facts.reloads.as_slice() else {
        panic!("two real-time vCPUs");
    };
    assert_eq!([&*victim.vcpu, &*upper.vcpu], ["victim.0", "upper.0"]);
    // What is never preempted pays nothing for it.
    assert_eq!(upper.reloads.preemptions, Cost::default());
    victim.reloads.preemptions
}

/// A preemption costs lines of the L1 caches, which come from the L2 cache; beside a neighbour that sweeps through
/// memory also lines that the L2 cache has lost, unless it is divided.
#[test]
fn colours_shrink_what_a_preemption_costs() {
    // soc's l2_latency.
    const LEVEL2: u64 = 26;
    let cost = |divided, noise| reload_cost(&run_preempted(divided, noise, true));
    let alone = cost(false, "none");
    let shared = cost(false, "sweep");
    let divided = cost(true, "sweep");
    println!("alone {alone:?}\nshared {shared:?}\ndivided {divided:?}");
    assert!(alone.stops >= 10 && alone.lines_max <= 100, "{alone:?}");
    assert_eq!(alone.cycles, alone.lines * LEVEL2, "{alone:?}");
    assert_eq!(shared.stops, alone.stops);
    assert!(shared.cycles >= 10 * alone.cycles, "{shared:?}");
    assert!(shared.cycles_max >= 10 * alone.cycles_max, "{shared:?}");
    assert_eq!(divided.stops, alone.stops);
    assert!(10 * divided.cycles <= 11 * alone.cycles, "{divided:?}");
    assert!(
        10 * divided.cycles_max <= 11 * alone.cycles_max,
        "{divided:?}"
    );
}

/// The books on reload costs change nothing in a run.
#[test]
fn reload_costs_leave_the_run_alone() {
    let hash = |books| {
        let outcome = run_preempted(false, "sweep", books);
        let facts = outcome.board.expect("it ran on the board");
        assert_eq!(facts.reloads.is_empty(), !books);
        facts.trace_hash
    };
    assert_eq!(hash(true), hash(false));
}

on_both!(
    memory_is_apart,
    calls_cross_pages,
    restarts_are_clean,
    linux_boots
);
