//! Calls between VMs.

use tactus::run::session::Verdict;
use tactus_abi::hypercall::CALL_TOO_LONG_CAUSE;

use crate::harness::{On, assert_verdict, explain, figure, in_weak_memory, on_both, run, run_text};

/// An illegal instruction, a virtual instruction, a store outside: `scause`.
const ILLEGAL: u64 = 2;
const VIRTUAL: u64 = 22;
const STORE: u64 = 23;

/// What a service does wrong is the fault of its VM, which serves again when it has restarted; its caller goes on.
fn calls_are_replied_to_and_faults_are_the_servers(on: On) {
    let outcome = run(on, "systems/calls.toml", Some("caller"));
    let caller = outcome.journal.vm("caller").expect("the system has it");
    assert_eq!(caller.passed, ["call-selftest"], "{}", explain(&outcome));
    let causes: Vec<u64> = outcome
        .journal
        .faults
        .iter()
        .map(|fault| fault.cause)
        .collect();
    let wanted = [CALL_TOO_LONG_CAUSE, VIRTUAL, STORE, ILLEGAL, ILLEGAL];
    assert_eq!(causes, wanted, "{}", explain(&outcome));
    assert!(
        outcome
            .journal
            .faults
            .iter()
            .all(|fault| fault.vm == "server")
    );
}

/// Two VMs on two harts call the same one: each has its own replies.
fn harts_take_turns_in_a_service(on: On) {
    let caller = |name: &str, hart: u32| {
        format!(
            "[[vm]]\nname = \"{name}\"\nimage = \"@bench-call\"\ncounters = true\nmemory = \"8MiB\"\nbootargs = \"role=caller\"\n\
             [[vm.vcpu]]\nclass = \"be\"\nharts = [{hart}]\n\
             [[channel]]\nname = \"of-{name}\"\nbetween = [\"{name}\", \"server\"]\nsize = \"4KiB\"\ncalls = \"100us\"\n"
        )
    };
    let text = format!(
        "[system]\nplatform = \"qemu-virt\"\nharts = 2\n{}{}\
         [[vm]]\nname = \"server\"\nimage = \"@bench-call\"\nmemory = \"4MiB\"\nbootargs = \"role=server\"\n\
         [[vm.vcpu]]\nclass = \"be\"\n",
        caller("first", 0),
        caller("second", 1),
    );
    for last in ["first", "second"] {
        let outcome = run_text(on, &text, Some(last));
        let vm = outcome.journal.vm(last).expect("the system has it");
        assert_eq!(vm.passed, ["bench-call"], "{}", explain(&outcome));
    }
}

/// A real-time guest whose timer goes off at any time, on the hart of one that calls all the time for 15 us each. Gives
/// the most instructions from the deadline to its handler.
fn late_beside_calls(on: On, of_system: &str) -> f64 {
    let text = format!(
        "[system]\nplatform = \"soc\"\nharts = 1\n{of_system}\
         [[vm]]\nname = \"rt\"\nimage = \"@bench-switch-rt\"\ncounters = true\nmemory = \"4MiB\"\nbootargs = \"rounds=300\"\n\
         [[vm.vcpu]]\nclass = \"rt\"\nhart = 0\npriority = 200\nbudget = \"unlimited\"\n\
         [[vm]]\nname = \"spender\"\nimage = \"@call-selftest\"\nmemory = \"4MiB\"\nbootargs = \"role=spender ticks=150\"\n\
         [[vm.vcpu]]\nclass = \"be\"\n\
         [[vm]]\nname = \"server\"\nimage = \"@call-selftest\"\nmemory = \"4MiB\"\nbootargs = \"role=server\"\n\
         [[vm.vcpu]]\nclass = \"be\"\n\
         [[channel]]\nname = \"calls\"\nbetween = [\"spender\", \"server\"]\nsize = \"4KiB\"\ncalls = \"20us\"\n"
    );
    let outcome = run_text(on, &text, Some("rt"));
    assert_verdict(&outcome, Verdict::Good);
    figure(&outcome, "rt", "vm_switch_instructions")
}

/// A call keeps its hart no longer than its channel allows; and one that would keep it from a vCPU that has the hart
/// ahead of its deadlines does not begin.
#[test]
fn a_call_delays_others_by_its_limit_at_most() {
    // 667 cycles a microsecond.
    let (call, limit) = (15.0 * 667.0, 20.0 * 667.0);
    let late = late_beside_calls(On::Board, "");
    assert!(late > 0.5 * call, "{late}: no call was met");
    assert!(late < limit + 1500.0, "{late}");
    let ahead = late_beside_calls(On::Board, "dispatch_ahead = true\n");
    assert!(ahead < 250.0, "{ahead}");
}

on_both!(
    calls_are_replied_to_and_faults_are_the_servers,
    harts_take_turns_in_a_service,
);
in_weak_memory!(harts_take_turns_in_a_service; calls_are_replied_to_and_faults_are_the_servers);
