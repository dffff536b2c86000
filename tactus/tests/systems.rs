//! Whole systems, from their description to the records of their run: the hypervisor itself on QEMU and on the board.

use tactus::run::board::probe::Probe;
use tactus::run::board::{Marker, Worker};
use tactus::run::machine::Platform;
use tactus::run::record::{Consumer, OffReason};
use tactus::run::session::{Ending, Outcome, Unwatched, Verdict};

use crate::harness::{
    On, assert_verdict, boot, explain, in_weak_memory, on_both, once, run, run_text,
    with_each_queue,
};

fn hello_starts_and_shuts_down(on: On) {
    let outcome = run(on, "systems/hello.toml", None);
    assert_verdict(&outcome, Verdict::Good);
    assert!(matches!(outcome.ending, Ending::Machine(_)));
    let journal = &outcome.journal;
    let hello = journal.vm("hello").expect("the system has it");
    assert_eq!(hello.passed, ["hello"], "{}", explain(&outcome));
    assert!(hello.console.text().contains("Hello"));
    assert_eq!(hello.off.map(|off| off.reason), Some(OffReason::Shutdown));
    let (started, off) = (hello.started, hello.off.map(|off| off.time));
    assert!(started.is_some() && started < off);
    assert_eq!(journal.notes().collect::<Vec<_>>(), []);
    // The VM has the hart to itself: it waits there, and no other vCPU has idle time.
    let (own, idle) = (used(&outcome, "hello"), idle(&outcome));
    assert!(own > 0 && idle == 0, "{}", explain(&outcome));
    assert_all_is_accounted_for(&outcome);
}

fn who_waits_on_a_shared_hart_leaves_it(on: On) {
    let system = |name| {
        format!(
            "[[vm]]\nname = \"{name}\"\nimage = \"@hello\"\nmemory = \"4MiB\"\n[[vm.vcpu]]\nclass = \"be\"\n"
        )
    };
    let platform = "[system]\nplatform = \"qemu-virt\"\nharts = 1\n";
    let text = format!("{platform}{}{}", system("one"), system("two"));
    let outcome = run_text(on, &text, None);
    assert_verdict(&outcome, Verdict::Good);
    // Both VMs sleep most of the time.
    let idle = idle(&outcome);
    for vm in ["one", "two"] {
        let own = used(&outcome, vm);
        assert!(own > 0 && idle > own, "{}", explain(&outcome));
    }
    assert_all_is_accounted_for(&outcome);
}

/// The ticks of hart 0 that a VM has used.
fn used(outcome: &Outcome, vm: &str) -> u64 {
    ticks(outcome, Consumer::Vm(vm.to_owned()))
}

/// Idle ticks of hart 0.
fn idle(outcome: &Outcome) -> u64 {
    ticks(outcome, Consumer::Idle)
}

fn ticks(outcome: &Outcome, consumer: Consumer) -> u64 {
    let usage = &outcome.journal.usage;
    usage.get(&(0, consumer)).copied().unwrap_or(0)
}

/// Asserts that nearly all of the one hart's time is accounted to VMs.
#[track_caller]
fn assert_all_is_accounted_for(outcome: &Outcome) {
    let journal = &outcome.journal;
    let used = journal.usage.values().sum::<u64>();
    let whole = journal.ended.unwrap_or(0) - journal.booted.unwrap_or(0);
    assert!(
        used > whole / 100 * 95 && used <= whole,
        "{used} of {whole}\n{}",
        explain(outcome)
    );
}

/// Runs a system twice and asserts that nothing differs; returns the first outcome.
#[track_caller]
fn repeats(on: On, system: &str, until: Option<&str>) -> Outcome {
    let built = boot(on, system, until);
    let (first, second) = (once(&built), once(&built));
    assert_verdict(&first, Verdict::Good);
    assert_eq!(first.journal.records, second.journal.records);
    assert_eq!(
        tactus::report::report_json(&first, system),
        tactus::report::report_json(&second, system)
    );
    for (one, other) in first.journal.vms.iter().zip(&second.journal.vms) {
        assert_eq!(one.console.bytes(), other.console.bytes());
    }
    let hash = |outcome: &Outcome| outcome.board.as_ref().map(|facts| facts.trace_hash);
    assert_eq!(hash(&first), hash(&second));
    assert_eq!(hash(&first).is_some(), on != On::Qemu);
    first
}

fn runs_repeat_to_the_tick(on: On) {
    let outcome = repeats(on, "systems/bench-switch.toml", Some("rt"));
    assert_eq!(outcome.ending, Ending::Until);
}

fn runs_on_several_harts_repeat_to_the_tick(on: On) {
    let outcome = repeats(on, "systems/selftest.toml", None);
    let harts = outcome.journal.usage.keys().map(|(hart, _)| hart).max();
    assert_eq!(harts, Some(&1), "the system has two harts");
}

/// Runs with all costs from their middle on repeat exactly, and differ with another seed, which drives random
/// replacement.
#[test]
fn timed_runs_repeat_to_the_cycle() {
    let boot = |seed| {
        let mut boot = boot(On::Board, "systems/selftest.toml", None);
        let Platform::Board(options) = &mut boot.plan.launch.platform else {
            panic!("it is for the board");
        };
        options.timed_from = Some(Marker::Cycle(12_000_000));
        options.seed = seed;
        once(&boot)
    };
    let facts = |seed| {
        let outcome = boot(seed);
        assert_verdict(&outcome, Verdict::Good);
        let facts = outcome.board.expect("it ran on the board");
        assert!(facts.timed_since.is_some());
        assert!(
            facts
                .harts
                .iter()
                .all(|hart| hart.instructions != hart.cycles)
        );
        let work: Vec<_> = facts.harts.iter().map(|hart| hart.work.clone()).collect();
        (facts.trace_hash, work)
    };
    assert_eq!(facts(1), facts(1));
    assert_ne!(facts(1), facts(2));
}

/// A run that continues from a snapshot has the hash and the journal of the whole run.
#[test]
fn a_run_continues_from_a_snapshot() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let path = directory.path().join("snapshot");
    let run = |snapshot: bool, restore: bool| {
        let mut boot = boot(On::Board, "systems/selftest.toml", None);
        let Platform::Board(options) = &mut boot.plan.launch.platform else {
            panic!("it is for the board");
        };
        options.timed_from = Some(Marker::Cycle(12_000_000));
        options.snapshot = snapshot.then(|| path.clone());
        options.restore = restore.then(|| path.clone());
        let outcome = once(&boot);
        assert_verdict(&outcome, Verdict::Good);
        let consoles: Vec<_> = outcome
            .journal
            .vms
            .iter()
            .map(|vm| vm.console.text().into_owned())
            .collect();
        let facts = outcome.board.expect("it ran on the board");
        (facts.trace_hash, facts.time, consoles)
    };
    let whole = run(false, false);
    assert_eq!(run(true, false), whole);
    assert_eq!(run(false, true), whole);
    let mut bytes = std::fs::read(&path).expect("it was written");
    bytes.truncate(bytes.len() / 2);
    std::fs::write(&path, bytes).expect("it can be written");
    let mut boot = boot(On::Board, "systems/selftest.toml", None);
    if let Platform::Board(options) = &mut boot.plan.launch.platform {
        options.restore = Some(path.clone());
    }
    let error = boot.run(&mut Unwatched).expect_err("it is damaged");
    assert!(error.to_string().contains("snapshot"), "{error}");
}

/// Every cycle of every hart is accounted.
#[test]
fn the_boards_account_is_complete() {
    let outcome = run(On::Board, "systems/selftest.toml", None);
    let facts = outcome.board.expect("it ran on the board");
    for hart in &facts.harts {
        let cycles: u64 = hart.work.iter().map(|(_, work)| work.cycles).sum();
        let instructions: u64 = hart.work.iter().map(|(_, work)| work.instructions).sum();
        assert_eq!((cycles, instructions), (hart.cycles, hart.instructions));
        assert!(hart.work.iter().any(|(worker, _)| *worker == Worker::Vm(0)));
    }
}

/// Probes count every call, distinguish the hypervisor from guests, and do not change the run.
#[test]
fn probes_see_and_do_not_disturb() {
    let plain = boot(On::Board, "systems/hello.toml", None);
    let mut watched = boot(On::Board, "systems/hello.toml", None);
    let Platform::Board(options) = &mut watched.plan.launch.platform else {
        panic!("it is for the board");
    };
    for probe in ["tactus_call:2", "hello/0x80200000", "0x80200000"] {
        options
            .probes
            .push(Probe::find(probe, &watched.image).expect("it is there"));
    }
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let trace = directory.path().join("hello.pftrace");
    options.trace = Some(trace.clone());
    let (plain, outcome) = (once(&plain), once(&watched));
    let (Some(before), Some(facts)) = (&plain.board, &outcome.board) else {
        panic!("they ran on the board");
    };
    assert_eq!(before.trace_hash, facts.trace_hash);
    let [calls, guest, all] = facts.hits.counts[..] else {
        panic!("there are three probes");
    };
    // The guest starts once, and so does the hypervisor, at the same address.
    assert_eq!((guest, all), (1, 2), "{}", explain(&outcome));
    assert!(calls > 0);
    assert_eq!(facts.hits.kept.len() as u64, calls + guest + all);
    let text = std::fs::read(trace).expect("it was written");
    let named = |name: &str| {
        text.windows(name.len())
            .filter(|part| *part == name.as_bytes())
            .count() as u64
    };
    assert_eq!(named("environment call from VS level"), calls);
    assert!(named("Hello from vCPU 0") == 1 && named("(hypervisor)") > 0);
    assert!(Probe::find("sbi::none", &watched.image).is_err());
    assert!(Probe::find("tactus_call:9", &watched.image).is_err());
    assert!(Probe::find("other/0x0", &watched.image).is_err());
}

in_weak_memory!(runs_on_several_harts_repeat_to_the_tick; who_waits_on_a_shared_hart_leaves_it);
on_both!(
    hello_starts_and_shuts_down,
    who_waits_on_a_shared_hart_leaves_it,
    runs_repeat_to_the_tick,
    runs_on_several_harts_repeat_to_the_tick,
);
with_each_queue!(
    who_waits_on_a_shared_hart_leaves_it,
    runs_repeat_to_the_tick,
    runs_on_several_harts_repeat_to_the_tick,
);
