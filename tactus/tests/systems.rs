//! Whole systems, from their description to the records of their run: the hypervisor itself under QEMU.

mod harness;

use tactus::run::record::{Consumer, OffReason};
use tactus::run::session::{Ending, Verdict};

use harness::{assert_verdict, explain, run};

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
    // It waits most of the time: less than the whole hart is its own, but some is.
    let used = |consumer| journal.usage.get(&(0, consumer)).copied().unwrap_or(0);
    let own = used(Consumer::Vm("hello".to_owned()));
    let idle = used(Consumer::Idle);
    assert!(own > 0 && idle > own, "{}", explain(&outcome));
}

#[test]
fn runs_repeat_to_the_tick() {
    let (first, second) = (
        run("systems/bench-switch.toml", Some("rt")),
        run("systems/bench-switch.toml", Some("rt")),
    );
    assert_verdict(&first, Verdict::Good);
    assert_eq!(first.ending, Ending::Until);
    assert_eq!(first.journal.records, second.journal.records);
    assert_eq!(
        tactus::report::report_json(&first, "bench-switch"),
        tactus::report::report_json(&second, "bench-switch")
    );
}
