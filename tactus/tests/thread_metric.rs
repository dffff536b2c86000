//! FreeRTOS with the seven tests of Thread-Metric, briefly: natively, and in a VM beside busy ones.
//!
//! `tactus bench kerone-core` measures it.

use tactus::artifacts::Artifacts;
use tactus::run::board::Worker;
use tactus::run::machine::Launch;
use tactus::run::session::{Outcome, Plan, Session, Unwatched, Verdict};

use crate::harness::{On, STUCK, assert_verdict, explain, on_both, root, run_text};

/// The tests, in their order.
const TESTS: [&str; 7] = [
    "thread_metric_calibration",
    "thread_metric_preemptive_switching",
    "thread_metric_messages",
    "thread_metric_memory",
    "thread_metric_synchronization",
    "thread_metric_interrupt_handling",
    "thread_metric_interrupt_preemption",
];
/// Ticks per second of `time`, on QEMU and on the board.
const TIMEBASE_HZ: u64 = 10_000_000;

/// Runs the program directly under the firmware.
fn natively(on: On, bootargs: &str) -> Outcome {
    let guest = "freertos-thread-metric";
    let image = Artifacts::Workspace
        .file(guest)
        .unwrap_or_else(|missing| panic!("{}: {}", missing.reason, missing.cure));
    let launch = Launch {
        image,
        initrd: None,
        bootargs: bootargs.to_owned(),
        harts: 1,
        memory_bytes: 256 << 20,
        platform: on.platform(),
    };
    Session::start(Plan::bare(launch, guest, TIMEBASE_HZ).limit(STUCK))
        .and_then(|session| session.finish(&mut Unwatched))
        .unwrap_or_else(|error| panic!("{guest}: {error}"))
}

/// Runs the program in a VM of the experiment's system.
fn in_a_vm(on: On, bootargs: &str) -> Outcome {
    let file = root().join("systems/bench-thread-metric.toml");
    let mut system = std::fs::read_to_string(file).expect("the system is there");
    let image = "image = \"@freertos-thread-metric\"\n";
    assert!(system.contains(image));
    system = system.replace(image, &format!("{image}bootargs = \"{bootargs}\"\n"));
    if on == On::Qemu {
        system = system.replace("\"soc\"", "\"qemu-virt\"");
    }
    run_text(on, &system, Some("freertos"))
}

/// The rounds of each test; asserts that all tests passed.
#[track_caller]
fn rounds(outcome: &Outcome) -> Vec<f64> {
    assert_verdict(outcome, Verdict::Good);
    let vm = &outcome.journal.vms[0];
    assert_eq!(vm.passed, TESTS, "\n{}", explain(outcome));
    let metric = |name: &str| {
        let metric = vm.metrics.get(name);
        metric
            .unwrap_or_else(|| panic!("no {name}\n{}", explain(outcome)))
            .value
    };
    TESTS
        .iter()
        .map(|test| {
            assert!(metric(&format!("{test}_cycles")) > 0.0);
            metric(test)
        })
        .collect()
}

/// At the fast pace the board charges a cycle an instruction, and so only the hypervisor's instructions cost time.
fn a_vm_gets_nearly_as_far(on: On) {
    let bootargs = "ms=10 pause=2";
    let (alone, guest) = (natively(on, bootargs), in_a_vm(on, bootargs));
    for ((test, native), vm) in TESTS.iter().zip(rounds(&alone)).zip(rounds(&guest)) {
        let percent = 100.0 * vm / native;
        assert!(
            (99.0..100.5).contains(&percent),
            "{test}: {percent} %\n{}",
            explain(&guest)
        );
    }
    // The other VMs were busy, too.
    if let Some(facts) = &guest.board {
        let work = &facts.harts[0].work;
        for vm in 1..guest.journal.vms.len() {
            let worked = work.iter().any(|(worker, _)| *worker == Worker::Vm(vm));
            assert!(worked, "\n{}", explain(&guest));
        }
    }
}

fn a_test_can_be_asked_for(on: On) {
    let outcome = natively(on, "ms=2 pause=1 test=memory");
    assert_eq!(outcome.journal.vms[0].passed, ["thread_metric_memory"]);
    let outcome = natively(on, "test=memory_");
    assert_verdict(&outcome, Verdict::GuestFailed);
}

on_both!(a_vm_gets_nearly_as_far, a_test_can_be_asked_for);
