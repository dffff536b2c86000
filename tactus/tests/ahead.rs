//! Just-in-time dispatch: vCPUs that have their harts ahead of their deadlines are entered at these, and take nothing
//! from others by it.

use tactus::run::session::{Outcome, Verdict};

use crate::harness::{On, assert_verdict, explain, figure, in_weak_memory, on_both, run_text};

/// A guest that waits for its timer, on a hart that another one keeps busy with all kinds of calls.
const BESIDE_ANOTHER: &str = r#"
[system]
platform = "qemu-virt"
harts = 1
dispatch_ahead = true

[[vm]]
name = "rt"
image = "@bench-switch-rt"
counters = true
memory = "4MiB"
bootargs = "rounds=300"

[[vm.vcpu]]
class = "rt"
hart = 0
priority = 200
budget = "unlimited"

[[vm]]
name = "busy"
image = "@bench-switch-busy"
memory = "4MiB"

[[vm.vcpu]]
class = "be"
"#;

/// Instructions from a deadline to the first one of the guest's trap vector, at most. From the end of the wait that is
/// some 70, and a tick of the clock may have begun before.
const ENTRY: f64 = 250.0;

#[track_caller]
fn late(outcome: &Outcome, vm: &str) -> f64 {
    assert_verdict(outcome, Verdict::Good);
    figure(outcome, vm, "vm_switch_instructions")
}

/// Whatever the hypervisor does for the other guest when the deadline comes: it is done before, or later.
fn entered_at_the_deadline(on: On) {
    let outcome = run_text(on, BESIDE_ANOTHER, Some("rt"));
    let ahead = late(&outcome, "rt");
    assert!(ahead <= ENTRY, "{ahead}\n{}", explain(&outcome));
    let at_the_deadline = BESIDE_ANOTHER.replace("dispatch_ahead = true\n", "");
    let outcome = run_text(on, &at_the_deadline, Some("rt"));
    let late = late(&outcome, "rt");
    assert!(late > 2.0 * ENTRY, "{late}\n{}", explain(&outcome));
}

/// The one that waits below its guest gives up the hart to a more urgent one, and is entered when it has it back. Its
/// release does not keep the more urgent one from its deadline, however close together the two are: memories of other
/// sizes take other times to load, so that the deadlines are others.
fn a_more_urgent_one_does_not_wait(on: On) {
    for memory in ["4MiB", "6MiB", "8MiB"] {
        let second = format!(
            "[[vm]]\nname = \"second\"\nimage = \"@bench-switch-rt\"\ncounters = true\nmemory = \"{memory}\"\n\
             bootargs = \"rounds=400\"\n\n\
             [[vm.vcpu]]\nclass = \"rt\"\nhart = 0\npriority = 100\nbudget = \"unlimited\"\n"
        );
        let outcome = run_text(on, &format!("{BESIDE_ANOTHER}\n{second}"), Some("second"));
        let first = late(&outcome, "rt");
        assert!(first <= ENTRY, "{memory}: {first}\n{}", explain(&outcome));
        let second = late(&outcome, "second");
        assert!(second > 0.0, "{memory}\n{}", explain(&outcome));
    }
}

/// A server and a control loop with reservations beside guests that compute all the time.
fn reserved(role: &str, kind: &str) -> String {
    format!(
        "[system]\nplatform = \"qemu-virt\"\nharts = 2\ndispatch_ahead = true\n\
         [[vm]]\nname = \"own\"\nimage = \"@release-selftest\"\nmemory = \"4MiB\"\nbootargs = \"role={role}\"\n\
         [[vm.vcpu]]\nclass = \"rt\"\nhart = 0\nperiod = \"10ms\"\nbudget = \"500us\"\ndeadline = \"5ms\"\nkind = \"{kind}\"\n\
         [[vm]]\nname = \"ringer\"\nimage = \"@release-selftest\"\nmemory = \"4MiB\"\nbootargs = \"role=ringer\"\n\
         [[vm.vcpu]]\nclass = \"be\"\nharts = [1]\n\
         [[vm]]\nname = \"load\"\nimage = \"@bench-load\"\nmemory = \"4MiB\"\nbootargs = \"load=compute\"\n\
         [[vm.vcpu]]\nclass = \"be\"\nharts = [0]\n\
         [[channel]]\nname = \"rings\"\nbetween = [\"ringer\", \"own\"]\nsize = \"4KiB\"\n"
    )
}

/// No job is released before its time, nor twice in a period, nor cut short by the wait. One may begin some
/// microseconds late, and the next in time.
fn jobs_keep_their_grid(on: On) {
    let role = format!("loop turns={}", on.fewer(50, 4));
    let outcome = run_text(on, &reserved(&role, "periodic"), Some("own"));
    assert_verdict(&outcome, Verdict::Good);
    let apart = figure(&outcome, "own", "apart_ticks_min");
    assert!(apart > 99_900.0, "{apart}\n{}", explain(&outcome));
    let missed = figure(&outcome, "own", "missed");
    assert!(missed == 0.0, "{missed}\n{}", explain(&outcome));
}

/// An interrupt of the guest's own is not kept waiting by the time that the vCPU waits for.
fn rings_are_not_kept_waiting(on: On) {
    let outcome = run_text(on, &reserved("server", "server"), Some("own"));
    assert_verdict(&outcome, Verdict::Good);
    let late = figure(&outcome, "own", "late_ticks_max");
    assert!(late <= 5_920.0, "{late}\n{}", explain(&outcome));
}

in_weak_memory!(; entered_at_the_deadline, jobs_keep_their_grid);
on_both!(a_more_urgent_one_does_not_wait; entered_at_the_deadline, jobs_keep_their_grid, rings_are_not_kept_waiting);
