//! Calls between VMs.

use tactus::run::session::{Outcome, Verdict};
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

/// The checks of `guests/freertos/app/call.c` in their order; the last is the program as a whole.
const FREERTOS: [&str; 8] = [
    "call_replies",
    "call_within_call",
    "call_callers",
    "call_errors",
    "call_closed",
    "call_faults",
    "call_ticks",
    "freertos-call",
];
/// How long the calls take that FreeRTOS makes while it measures its ticks, and what they may take, in nanoseconds.
const SPENT_NS: f64 = 60_000.0;
const LIMIT_NS: f64 = 100_000.0;

/// The VM and the cause of each fault.
fn faults(outcome: &Outcome) -> Vec<(&str, u64)> {
    let faults = outcome.journal.faults.iter();
    faults
        .map(|fault| (fault.vm.as_str(), fault.cause))
        .collect()
}

/// FreeRTOS calls a service in Rust and one in C, which Rust calls as well. What the one in C does wrong is the fault
/// of its VM. Each tick of the caller comes, no later than a call takes.
fn freertos_calls_and_serves(on: On) {
    let outcome = run(on, "systems/freertos-calls.toml", Some("control"));
    let seen = || explain(&outcome);
    let passed = |name| &outcome.journal.vm(name).expect("the system has it").passed;
    assert_eq!(*passed("control"), FREERTOS, "{}", seen());
    assert_eq!(*passed("operator"), ["call-example"], "{}", seen());
    // In the order of `enum valve_fault` (`guests/freertos/app/valve.h`).
    let wanted = [CALL_TOO_LONG_CAUSE, VIRTUAL, ILLEGAL, ILLEGAL, ILLEGAL];
    assert_eq!(
        faults(&outcome),
        wanted.map(|cause| ("valve", cause)),
        "{}",
        seen()
    );
    let control = outcome.journal.vm("control").expect("the system has it");
    let late_max = |phase| {
        let series = control.series("tick_latency", phase);
        let series = series.unwrap_or_else(|| panic!("no {phase}\n{}", seen()));
        assert!((99..=101).contains(&series.samples()), "{}", seen());
        series.extremes().expect("it has samples").1 as f64
    };
    // Without long calls a tick waits for the hypervisor, and for the short calls of the other hart at most.
    let (quiet, calling) = (late_max("quiet"), late_max("calling"));
    assert!(quiet < 0.5 * SPENT_NS, "{quiet}\n{}", seen());
    assert!(calling > 0.5 * SPENT_NS, "{calling}: no call was met");
    assert!(calling < LIMIT_NS, "{calling}\n{}", seen());
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

/// The checks of `calls` in `guests/linux/init`, in their order.
const LINUX: [&str; 21] = [
    "call_identity",
    "call_bare",
    "call_bare_refused",
    "call_bare_store",
    "call_describe",
    "call_set",
    "call_get",
    "call_no_command",
    "call_no_entry",
    "call_too_long",
    "call_data",
    "call_nine_words",
    "call_no_number",
    "call_no_channel",
    "call_clients",
    "call_processes",
    "call_sum",
    "call_fault",
    "call_restarted",
    "call_hang",
    "call_again",
];
/// The most instructions of a call that does nothing, from user space and back.
const LINUX_CALL_MAX: f64 = 1_500.0;
/// How late a release of the real-time guest on the same hart may be, in nanoseconds: a call that hangs, and the report
/// of its fault.
const LINUX_LATE_MAX_NS: f64 = 150_000.0;

/// Programs of Debian's Linux, the unmodified binary, call a VM from user space, which has a fault and a call that
/// hangs. A real-time guest on the same hart calls it as well, and is released in time.
fn linux_calls(on: On) {
    let outcome = run(on, "systems/linux-calls.toml", Some("control"));
    let seen = || explain(&outcome);
    let vm = |name| outcome.journal.vm(name).expect("the system has it");
    assert_eq!(vm("linux").passed, LINUX, "{}", seen());
    assert_eq!(vm("control").passed, ["call-service"], "{}", seen());
    let wanted = [ILLEGAL, CALL_TOO_LONG_CAUSE];
    assert_eq!(
        faults(&outcome),
        wanted.map(|cause| ("service", cause)),
        "{}",
        seen()
    );
    // The two calls that fail, at least.
    assert!(vm("linux").lost_accesses >= 2, "{}", seen());
    let took = figure(&outcome, "linux", "call_roundtrip_instructions");
    assert!(took > 0.0 && took < LINUX_CALL_MAX, "{took}\n{}", seen());
    let late = figure(&outcome, "control", "late_max");
    assert!(late < LINUX_LATE_MAX_NS, "{late}\n{}", seen());
    assert!(figure(&outcome, "control", "replies") > 100.0, "{}", seen());
}

on_both!(
    calls_are_replied_to_and_faults_are_the_servers,
    freertos_calls_and_serves,
    harts_take_turns_in_a_service,
    linux_calls,
);
in_weak_memory!(
    harts_take_turns_in_a_service;
    calls_are_replied_to_and_faults_are_the_servers,
    freertos_calls_and_serves,
);
