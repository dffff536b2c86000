//! Whole systems, from their description to the records of their run: the hypervisor itself under QEMU.

mod harness;

use tactus::run::record::{Consumer, OffReason};
use tactus::run::session::{Ending, Verdict};

use harness::{assert_verdict, boot, explain, once, run};

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
    let system = boot("systems/bench-switch.toml", Some("rt"));
    let (first, second) = (once(&system), once(&system));
    assert_verdict(&first, Verdict::Good);
    assert_eq!(first.ending, Ending::Until);
    // Nearly all of the hart's time is somebody's.
    let used: u64 = first.journal.usage.values().sum();
    let rt = first.journal.vm("rt").expect("the system has it");
    let whole = rt.off.map_or(0, |off| off.time) - rt.started.unwrap_or(0);
    assert!(
        used > whole / 100 * 98 && used < whole / 100 * 110,
        "{used} of {whole}\n{}",
        explain(&first)
    );
    assert_eq!(first.journal.records, second.journal.records);
    assert_eq!(
        tactus::report::report_json(&first, "bench-switch"),
        tactus::report::report_json(&second, "bench-switch")
    );
}
