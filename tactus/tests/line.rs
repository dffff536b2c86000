//! A hostile guest that has the platform's UART, which would carry all consoles.
//!
//! Where the platform has a spare one, all others are heard there. Where it has none, the tool says that nothing can be
//! trusted, and the run ends all the same.

use tactus::config::Nanoseconds;
use tactus::run::Error;
use tactus::run::machine::{End, Platform};
use tactus::run::record::OffReason;
use tactus::run::session::{Ending, Outcome, Session, Unwatched, Verdict};

use crate::harness::{
    On, assert_verdict, boot_text, explain, figure, in_weak_memory, on_board, once, root, run_text,
};

/// The system, with a hostile guest that forges without end, or not.
fn system(endless: bool) -> String {
    let file = root().join("systems/hostile-line.toml");
    let text = std::fs::read_to_string(file).expect("the system is there");
    let written = "attack=line writes=2000";
    assert!(text.contains(written));
    match endless {
        true => text.replace(written, "attack=line writes=200 endless=1"),
        false => text,
    }
}

/// The same on the board, whose spare UART makes `trusted` needless.
fn system_of_board(profile: &str) -> String {
    let text = system(false).replace("trusted = true\n", "");
    text.replace("\"qemu-virt\"", &format!("\"{profile}\""))
}

/// All is heard from whom it comes, and nothing is missing.
#[track_caller]
fn is_heard(outcome: &Outcome) {
    assert_verdict(outcome, Verdict::Good);
    assert_eq!(outcome.distrust(), None);
    let journal = &outcome.journal;
    assert_eq!(journal.faults, [], "\n{}", explain(outcome));
    assert!(journal.ended.is_some_and(|time| time > 3));
    let [watcher, hostile] = &journal.vms[..] else {
        panic!("two VMs");
    };
    assert_eq!(watcher.passed, ["watcher"], "\n{}", explain(outcome));
    assert!(!watcher.metrics.contains_key("forged"));
    assert_eq!(figure(outcome, "watcher", "watcher_missed"), 0.0);
    assert_eq!(hostile.passed, ["hostile"], "\n{}", explain(outcome));
    assert_eq!(
        hostile.off.map(|off| off.reason),
        Some(OffReason::Shutdown),
        "\n{}",
        explain(outcome)
    );
    assert!(hostile.console.text().contains("off vm=watcher"));
}

fn a_spare_uart_carries_the_others(on: On) {
    for text in [system(false), system_of_board("soc")] {
        is_heard(&run_text(on, &text, None));
    }
}

/// So it is on `mpsoc`, by the run's own choice of the board.
#[test]
fn each_board_has_a_spare_uart() {
    let boot = boot_text(On::Board, &system_of_board("mpsoc"));
    let profile = tactus_board::profile::Profile::named("mpsoc").expect("it comes with the board");
    let options = tactus::run::board::Options::new(profile);
    let plan = boot.plan.clone().on(Platform::Board(Box::new(options)));
    let session = Session::start(plan).expect("it starts");
    is_heard(&session.finish(&mut Unwatched).expect("it runs"));
}

#[test]
fn without_a_spare_uart_nothing_is_trusted() {
    let outcome = run_text(On::Qemu, &system(false), None);
    // The hypervisor ends the machine, whether it is heard or not.
    assert_eq!(outcome.ending, Ending::Machine(End::Off));
    let distrust = outcome.distrust().expect("a sentence");
    assert!(
        distrust.starts_with("hostile has the serial line"),
        "{distrust}"
    );
    let json = tactus::report::report_json(&outcome, "line");
    assert_eq!(json["trusted"], false);
    assert_eq!(json["distrust"], distrust.as_str());
    assert!(explain(&outcome).contains("Not to be trusted: hostile"));
    // The forgeries were taken for what they say: the notice is all that there is against them.
    let watcher = outcome.journal.vm("watcher").expect("the system has it");
    assert!(watcher.metrics.contains_key("forged"));
}

/// A forged end of the awaited VM, and then text in its name without end.
#[test]
fn a_run_ends_though_the_awaited_vm_seems_to_write_on() {
    let outcome = run_text(On::Qemu, &system(true), Some("watcher"));
    assert_eq!(outcome.ending, Ending::Until, "\n{}", explain(&outcome));
    assert!(outcome.distrust().is_some());
}

/// A silenced line never says that the awaited VM is off.
#[test]
fn a_run_that_may_never_end_needs_a_limit() {
    let mut boot = boot_text(On::Qemu, &system(false));
    boot.plan = boot.plan.until("watcher").expect("the system has it");
    boot.plan.limit = None;
    let error = Session::start(boot.plan.clone()).expect_err("it has no limit");
    assert!(matches!(error, Error::Endless { .. }), "{error}");
    boot.plan.limit = Some(Nanoseconds(2_000_000_000));
    let outcome = once(&boot);
    assert!(outcome.distrust().is_some());
}

#[test]
fn qemu_has_no_spare_uart() {
    let boot = boot_text(On::Qemu, &system_of_board("soc"));
    let error = Session::start(boot.plan.clone()).expect_err("there is none");
    assert!(matches!(error, Error::NoSpareUart { .. }), "{error}");
}

on_board!(a_spare_uart_carries_the_others);
in_weak_memory!(; a_spare_uart_carries_the_others);
