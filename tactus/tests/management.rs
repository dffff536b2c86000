//! VMs that manage others at run time.

use tactus::run::script::Script;
use tactus::run::state::State;

use crate::harness::{On, boot, explain, figure, in_weak_memory, on_both, once, run};

/// Each call of management does what it says, and is refused where it says so.
fn management_calls(on: On) {
    let outcome = run(on, "systems/manager-selftest.toml", None);
    let seen = || explain(&outcome);
    let vm = |name| outcome.journal.vm(name).expect("the system has it");
    let wanted = [
        "authority",
        "states",
        "counters",
        "another_image",
        "held",
        "stops",
    ];
    assert_eq!(vm("manager").passed, wanted, "{}", seen());
    let text = vm("worker").console.text();
    assert_eq!(text.matches("another image").count(), 1, "{text}");
    assert!(
        outcome
            .journal
            .faults
            .iter()
            .all(|fault| fault.vm == "crasher"),
        "{}",
        seen()
    );
    assert_eq!(vm("worker").state(), State::Held, "{}", seen());
    assert!(outcome.journal.ended.is_some(), "{}", seen());
    assert_eq!(vm("crasher").state(), State::Stopped, "{}", seen());
    assert_eq!(vm("stranger").passed, ["witness"], "{}", seen());
}

/// A manager that makes all calls with any arguments changes nothing of VMs that it does not manage, and does not delay
/// a real-time one.
fn a_hostile_manager_does_no_more_than_it_was_given(on: On) {
    let outcome = run(on, "systems/hostile-manager.toml", Some("watcher"));
    let seen = || explain(&outcome);
    let vm = |name| outcome.journal.vm(name).expect("the system has it");
    assert_eq!(vm("manager").passed, ["hostile_manager"], "{}", seen());
    assert!(vm("victim").restarts > 3, "{}", seen());
    for name in ["witness", "watcher"] {
        assert_eq!(vm(name).state(), State::ShutDown, "{name}: {}", seen());
        assert_eq!((vm(name).faults, vm(name).restarts), (0, 0), "{name}");
    }
    assert_eq!(vm("witness").passed, ["witness"], "{}", seen());
    assert_eq!(vm("manager").faults, 0, "{}", seen());
    // `watcher` has a bound of its own on each release.
    assert!(vm("watcher").failed.is_empty(), "{}", seen());
    assert_eq!(
        figure(&outcome, "watcher", "watcher_missed"),
        0.0,
        "{}",
        seen()
    );
}

/// What is typed, and what the manager answers.
const LINES: [(&str, &str); 19] = [
    ("#a list", "#a ok"),
    (
        "#b fly",
        "#b error unknown request: list, status, stop, start, restart, load, write",
    ),
    ("#c stop", "#c error the name of a VM is missing"),
    ("#d stop other", "#d error no VM other is managed here"),
    (
        "#e start control",
        "#e error VM control is not off; stop it first",
    ),
    (
        "#f load control",
        "#f error VM control is not off; stop it first",
    ),
    ("#g stop control", "#g ok"),
    ("#h stop control", "#h error VM control is off already"),
    (
        "#i write control 0x80000000 0x352441c2 YWJj",
        "#i error VM control is not held; load it first",
    ),
    (
        "#j start control 0x80000000",
        "#j error VM control is not held; load it first",
    ),
    ("#k load control", "#k ok"),
    (
        "#l write control 0x80000000 0x352441c3 YWJj",
        "#l error the checksum does not match",
    ),
    (
        "#m write control 0x803ffffe 0x352441c2 YWJj",
        "#m error 3 bytes at 0x803ffffe are not in the memory of VM control, 0x80000000 to 0x803fffff",
    ),
    (
        "#n start control 0x80400000",
        "#n error the entry 0x80400000 is odd, or not in the memory of VM control",
    ),
    // `wfi` and a jump back to it.
    ("#o write control 0x80000000 0xd94ac9fb cwBQEPW/", "#o ok"),
    ("#p start control 0x80000000", "#p ok"),
    ("#q status control", "vm control state=running"),
    ("#r restart control", "#r ok"),
    ("#s restart crasher", "#s ok"),
];

/// The manager answers lines over its console, each refusal with its reason.
fn a_manager_answers_lines(on: On) {
    let mut boot = boot(on, "systems/managed.toml", None);
    let mut text = String::from("expect \"ready\"\n");
    for (line, answer) in LINES {
        text += &format!("send {line}\nexpect \"{answer}\"\n");
    }
    text += "exit 0\n";
    let script = Script::parse("typed", &text, &boot.plan.vms, Some(0));
    boot.plan.script = Some(script.expect("it is in order"));
    let outcome = once(&boot);
    assert_eq!(outcome.unfinished, None, "{}", explain(&outcome));
    let vm = |name| outcome.journal.vm(name).expect("the system has it");
    assert_eq!(vm("other").restarts, 0, "{}", explain(&outcome));
    assert_eq!(vm("control").restarts, 2, "{}", explain(&outcome));
    let text = vm("manager").console.text();
    let first = text.lines().find(|line| line.starts_with("#a vm control "));
    let first = first.expect("the list has it");
    assert!(first.contains(" size=0x400000 "), "{first}");
    assert!(text.contains("#a vm crasher "), "{text}");
    assert!(!text.contains("vm other "), "{text}");
}

on_both!(
    management_calls,
    a_hostile_manager_does_no_more_than_it_was_given,
    a_manager_answers_lines,
);
in_weak_memory!(management_calls; a_hostile_manager_does_no_more_than_it_was_given);
