//! How long a hart goes without a look when many best-effort vCPUs want to be woken at once.

use std::fmt::Write as _;

use tactus::config::Nanoseconds;

use crate::harness::stretches::{Span, of_interrupt};

/// All costs are charged for the last 50 ms, when all VMs have begun. The timers go off each millisecond.
const SPAN: Span = Span {
    timed_from: 100_000_000,
    end: Nanoseconds(200_000_000),
};
/// The interrupt by the timer: `scause`.
const TIMER: u8 = 5;
/// vCPUs whose timers go off at the same times.
const ALARMS: usize = 14;
/// Cache lines of data that a stretch touches that wakes one of them, and room; each further one has five of its own.
const LINES_MAX: u64 = 70;

/// A vCPU that computes, and others whose timers go off while it does.
fn system() -> String {
    let mut text = "[system]\nplatform = \"soc\"\nharts = 1\nslice = \"1ms\"\n\
        [[vm]]\nname = \"load\"\nimage = \"@bench-load\"\nmemory = \"4MiB\"\nbootargs = \"load=compute\"\n\
        [[vm.vcpu]]\nclass = \"be\"\n"
        .to_owned();
    for number in 0..ALARMS {
        // Its first vCPU starts the second one, which waits for the timer.
        let _ = write!(
            text,
            "[[vm]]\nname = \"alarm{number}\"\nimage = \"@limit\"\ncounters = true\nmemory = \"4MiB\"\n\
             bootargs = \"jobs=timer start=200000 first=300000 period=10000 work=50\"\n\
             [[vm.vcpu]]\nclass = \"be\"\n[[vm.vcpu]]\nclass = \"be\"\n"
        );
    }
    text
}

/// A real-time release waits for no more than one of them.
#[test]
fn best_effort_vcpus_that_are_due_are_woken_one_at_a_time() {
    let all = of_interrupt(&system(), SPAN, TIMER);
    assert!(all.count > 5 * ALARMS as u64, "{} times", all.count);
    assert!(all.data.max <= LINES_MAX, "{} lines of data", all.data.max);
}
