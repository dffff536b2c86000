//! Whole systems, from their description to the records of their run: the hypervisor itself under QEMU.

mod harness;

use tactus::run::record::{Consumer, OffReason};
use tactus::run::session::{Ending, Outcome, Verdict};

use harness::{assert_verdict, boot, explain, once, run, run_text};

#[test]
fn hello_starts_and_shuts_down() {
    let outcome = run("systems/hello.toml", None);
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
    // It has the hart to itself: it waits there, and nobody else has idle time.
    let (own, idle) = (used(&outcome, "hello"), idle(&outcome));
    assert!(own > 0 && idle == 0, "{}", explain(&outcome));
    assert_all_is_accounted_for(&outcome);
}

#[test]
fn who_waits_on_a_shared_hart_leaves_it() {
    let system = |name| {
        format!(
            "[[vm]]\nname = \"{name}\"\nimage = \"@hello\"\nmemory = \"4MiB\"\n[[vm.vcpu]]\nclass = \"be\"\n"
        )
    };
    let platform = "[system]\nplatform = \"qemu-virt\"\nharts = 1\n";
    let text = format!("{platform}{}{}", system("one"), system("two"));
    let outcome = run_text(&text, None);
    assert_verdict(&outcome, Verdict::Good);
    // Both sleep most of the time.
    let idle = idle(&outcome);
    for vm in ["one", "two"] {
        let own = used(&outcome, vm);
        assert!(own > 0 && idle > own, "{}", explain(&outcome));
    }
    assert_all_is_accounted_for(&outcome);
}

/// Ticks of hart 0 that a VM has had.
fn used(outcome: &Outcome, vm: &str) -> u64 {
    ticks(outcome, Consumer::Vm(vm.to_owned()))
}

/// Ticks of hart 0 that nobody has had.
fn idle(outcome: &Outcome) -> u64 {
    ticks(outcome, Consumer::Idle)
}

fn ticks(outcome: &Outcome, consumer: Consumer) -> u64 {
    let usage = &outcome.journal.usage;
    usage.get(&(0, consumer)).copied().unwrap_or(0)
}

/// Nearly all of the one hart's time is somebody's.
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

/// Runs a system twice and asserts that nothing differs; gives the first run.
#[track_caller]
fn repeats(system: &str, until: Option<&str>) -> Outcome {
    let built = boot(system, until);
    let (first, second) = (once(&built), once(&built));
    assert_verdict(&first, Verdict::Good);
    assert_eq!(first.journal.records, second.journal.records);
    assert_eq!(
        tactus::report::report_json(&first, system),
        tactus::report::report_json(&second, system)
    );
    first
}

#[test]
fn runs_repeat_to_the_tick() {
    let outcome = repeats("systems/bench-switch.toml", Some("rt"));
    assert_eq!(outcome.ending, Ending::Until);
}

#[test]
fn runs_on_several_harts_repeat_to_the_tick() {
    let outcome = repeats("systems/selftest.toml", None);
    let harts = outcome.journal.usage.keys().map(|(hart, _)| hart).max();
    assert_eq!(harts, Some(&1), "the system has two harts");
}
