//! How long a hart goes without a look, and how long a real-time vCPU is held up, when many best-effort vCPUs want to
//! be woken at once.

use std::fmt::Write as _;

use tactus::config::Nanoseconds;
use tactus::run::board::paths::End;

use crate::harness::stretches::{Span, of_interrupt};

/// All costs are charged for the last 50 ms, when all VMs have begun. The timers go off each millisecond.
const SPAN: Span = Span {
    timed_from: 100_000_000,
    end: Nanoseconds(200_000_000),
};
/// The interrupt by the timer: `scause`.
const TIMER: u8 = 5;
/// The interrupt by another hart.
const FROM_ANOTHER_HART: u8 = 1;
/// vCPUs whose timers go off at the same times.
const ALARMS: usize = 14;
/// vCPUs that another hart notifies in each millisecond.
const RUNG: usize = 8;
/// Cache lines of data that a stretch touches that wakes one of them, and room; each further one has five of its own.
const LINES_MAX: u64 = 70;
/// The same of deferred work in the time of a real-time vCPU: one timer and one notification.
const DEFERRED_LINES_MAX: u64 = 80;

/// A VM `name` on hart 0 that waits for what `jobs` says. Its first vCPU starts the second one, which waits.
fn waiting(text: &mut String, name: &str, jobs: &str) {
    let _ = write!(
        text,
        "[[vm]]\nname = \"{name}\"\nimage = \"@limit\"\ncounters = true\nmemory = \"4MiB\"\n\
         bootargs = \"jobs={jobs} start=200000 work=50\"\n\
         [[vm.vcpu]]\nclass = \"be\"\nharts = [0]\n[[vm.vcpu]]\nclass = \"be\"\nharts = [0]\n"
    );
}

/// VMs whose timers go off at `first`, in ticks, and each millisecond from there on.
fn alarms(text: &mut String, first: u64) {
    for number in 0..ALARMS {
        waiting(
            text,
            &format!("alarm{number}"),
            &format!("timer first={first} period=10000"),
        );
    }
}

/// A best-effort vCPU that computes, and others whose timers go off while it does.
fn beside_best_effort() -> String {
    let mut text = "[system]\nplatform = \"soc\"\nharts = 1\nslice = \"1ms\"\n\
        [[vm]]\nname = \"load\"\nimage = \"@bench-load\"\nmemory = \"4MiB\"\nbootargs = \"load=compute\"\n\
        [[vm.vcpu]]\nclass = \"be\"\n"
        .to_owned();
    alarms(&mut text, 300_000);
    text
}

/// A real-time vCPU that computes, others whose timers go off while it does, and those that hart 1 notifies meanwhile.
fn beside_real_time() -> String {
    let mut text = "[system]\nplatform = \"soc\"\nharts = 2\n\
        [[vm]]\nname = \"load\"\nimage = \"@limit\"\ncounters = true\nmemory = \"4MiB\"\n\
        bootargs = \"jobs=yield start=1000000 work=400000\"\n\
        [[vm.vcpu]]\nclass = \"be\"\nharts = [0]\n\
        [[vm.vcpu]]\nclass = \"rt\"\nhart = 0\npriority = 20\nbudget = \"700us\"\nperiod = \"1ms\"\n"
        .to_owned();
    alarms(&mut text, 1_101_000);
    let mut rings = String::new();
    for number in 0..RUNG {
        waiting(&mut text, &format!("rung{number}"), "ring");
        let _ = write!(
            text,
            "[[channel]]\nname = \"rings{number}\"\nbetween = [\"ringer\", \"rung{number}\"]\nsize = \"4KiB\"\n"
        );
        let _ = write!(rings, " first{number}=1101000 period{number}=10000");
    }
    let _ = write!(
        text,
        "[[vm]]\nname = \"ringer\"\nimage = \"@limit\"\ncounters = true\nmemory = \"4MiB\"\n\
         bootargs = \"jobs=ringer{rings}\"\n[[vm.vcpu]]\nclass = \"be\"\nharts = [1]\n"
    );
    text
}

/// A real-time release waits for no more than one of them.
#[test]
fn best_effort_vcpus_that_are_due_are_woken_one_at_a_time() {
    let all = of_interrupt(&beside_best_effort(), SPAN, TIMER, End::BackBestEffort);
    assert!(all.count > 5 * ALARMS as u64, "{} times", all.count);
    assert!(all.data.max <= LINES_MAX, "{} lines of data", all.data.max);
}

/// The time that deferred work takes of a real-time vCPU does not grow with the number of best-effort vCPUs.
#[test]
fn one_best_effort_vcpu_is_woken_in_a_real_time_vcpus_time() {
    let all = of_interrupt(&beside_real_time(), SPAN, TIMER, End::Back);
    assert!(all.count > 80, "{} times", all.count);
    assert!(
        all.data.max <= DEFERRED_LINES_MAX,
        "{} lines of data",
        all.data.max
    );
}

/// What waited for the real-time vCPU is looked at one after another, too.
#[test]
fn notifications_that_have_waited_are_looked_at_one_at_a_time() {
    let all = of_interrupt(
        &beside_real_time(),
        SPAN,
        FROM_ANOTHER_HART,
        End::BackBestEffort,
    );
    assert!(all.count > 40 * RUNG as u64, "{} times", all.count);
    assert!(
        all.data.max <= DEFERRED_LINES_MAX,
        "{} lines of data",
        all.data.max
    );
}
