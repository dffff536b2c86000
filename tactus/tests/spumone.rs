//! The program and the system of `tactus bench spumone`, briefly, and the experiment itself.

use std::process::Command;

use tactus::artifacts::Artifacts;
use tactus::run::journal::VmJournal;
use tactus::run::machine::Launch;
use tactus::run::session::{Outcome, Plan, Session, Unwatched, Verdict};

use crate::harness::{
    On, STUCK, assert_verdict, explain, on_both, root, run_text, with_each_queue,
};

/// Ticks per second of `time`, on QEMU and on the board.
const TIMEBASE_HZ: u64 = 10_000_000;

/// Runs the program directly under the firmware.
fn natively(on: On, bootargs: &str) -> Outcome {
    let guest = "freertos-dispatch";
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

/// Runs the experiment's system with this load of Linux and these boot arguments of FreeRTOS.
fn beside_linux(on: On, work: &str, bootargs: &str) -> Outcome {
    let file = root().join("systems/spumone.toml");
    let mut system = std::fs::read_to_string(file).expect("the system is there");
    for (from, to) in [
        ("tactus.work=idle", format!("tactus.work={work}")),
        ("hz=10000 samples=10000", bootargs.to_owned()),
    ] {
        assert!(system.contains(from), "it does not say {from}");
        system = system.replace(from, &to);
    }
    if on == On::Qemu {
        system = system.replace("\"soc\"", "\"qemu-virt\"");
    }
    run_text(on, &system, Some("freertos"))
}

/// Asserts that `samples` releases were measured, from the tick to the trap handler's entry and, later, to the task.
#[track_caller]
fn assert_measured(vm: &VmJournal, samples: u64, outcome: &Outcome) {
    let seen = || explain(outcome);
    assert_eq!(vm.passed, ["dispatch"], "\n{}", seen());
    let summary = |name: &str| {
        let series = vm.series(name, "all");
        series
            .and_then(|series| series.summary(1.0))
            .unwrap_or_else(|| panic!("no {name}\n{}", seen()))
    };
    let (task, entry) = (summary("dispatch"), summary("timer_entry"));
    assert_eq!((task.samples, entry.samples), (samples, samples));
    assert!(entry.mean < task.mean, "\n{}", seen());
    assert!(task.min > 0.0, "\n{}", seen());
}

fn releases_are_measured_natively(on: On) {
    let outcome = natively(on, "hz=10000 samples=200 entry=1");
    assert_verdict(&outcome, Verdict::Good);
    assert_measured(&outcome.journal.vms[0], 200, &outcome);
    // The program either measures or computes.
    let outcome = natively(on, "samples=1 load=10");
    assert_verdict(&outcome, Verdict::GuestFailed);
}

fn releases_are_measured_beside_linux(on: On) {
    for work in ["files", "hackbench"] {
        let outcome = beside_linux(on, work, "hz=10000 samples=200 entry=1");
        assert_verdict(&outcome, Verdict::Good);
        let vm = outcome.journal.vm("freertos").expect("it is there");
        assert_measured(vm, 200, &outcome);
        let linux = outcome.journal.vm("linux").expect("it is there");
        assert_eq!(linux.phases, ["linux_up", work], "\n{}", explain(&outcome));
        assert!(linux.failed.is_empty(), "\n{}", explain(&outcome));
    }
}

on_both!(
    releases_are_measured_natively;
    releases_are_measured_beside_linux
);
with_each_queue!(releases_are_measured_beside_linux);

/// The experiment reports all figures; whether they are within their limits is not tested here.
#[test]
#[ignore = "takes a minute on two cores that have nothing else to do"]
fn the_quick_run_gives_every_figure() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let output = Command::new(env!("CARGO_BIN_EXE_tactus"))
        .args(["bench", "spumone", "--quick", "--json", "--pictures"])
        .arg(directory.path())
        .current_dir(root())
        .output()
        .expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_ne!(output.status.code(), Some(2), "{said}");
    let findings: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("one JSON object");
    let metrics = findings["metrics"].as_object().expect("an object");
    let others = ["timer_added_us_max", "linux_slowdown_percent"];
    let mut names = others.map(str::to_owned).to_vec();
    for load in ["idle", "files", "hackbench"] {
        for mechanism in ["none", "separation", "migration", "both"] {
            names.push(format!("dispatch_us_max_{load}_{mechanism}"));
        }
    }
    for name in &names {
        assert!(metrics.contains_key(name), "no {name}\n{said}");
    }
    for (name, metric) in metrics {
        assert!(metric["value"].is_number(), "{name}\n{said}");
    }
    assert!(directory.path().join("dispatch_hackbench.svg").is_file());
}
