//! Runs the programs on QEMU's `virt`, natively under OpenSBI: tests the port and the platform without a hypervisor.
//!
//! `cargo test -p tactus-guest-freertos` builds the programs and runs them; QEMU is needed.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

#[path = "../../../tactus/tests/harness/process.rs"]
mod process;

const TARGET: &str = "riscv64gc-unknown-none-elf";
const QEMU: &str = "qemu-system-riscv64";
/// Releases in each phase when the demonstration runs unattended (`app/demo.c`).
const RELEASES: usize = 2000;

/// Builds the programs once and returns the path of one.
fn program(name: &str) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER
        .get_or_init(|| {
            let package = Path::new(env!("CARGO_MANIFEST_DIR"));
            let target = env::var_os("CARGO_TARGET_DIR")
                .map_or_else(|| package.join("../../target"), PathBuf::from);
            let status = Command::new(env!("CARGO"))
                .args(["build", "--quiet", "--profile", "embedded"])
                .args(["--target", TARGET])
                .args(["-p", "tactus-guest-freertos", "--target-dir"])
                .arg(&target)
                .current_dir(package)
                .status()
                .expect("cargo starts");
            assert!(status.success(), "the programs do not build");
            target.join(TARGET).join("embedded")
        })
        .join(name)
}

/// Runs a program until the machine powers off, and returns its console output.
fn run(name: &str, harts: usize, bootargs: &str) -> String {
    let image = program(name);
    let mut qemu = Command::new(QEMU)
        .args(["-M", "virt", "-cpu", "rv64,h=true", "-m", "1G"])
        .args(["-smp", &harts.to_string()])
        .args(["-nographic", "-no-reboot", "-seed", "1"])
        .args(["-icount", "shift=0,sleep=off"])
        .args(["-rtc", "clock=vm,base=2026-01-01T00:00:00"])
        .args(["-append", bootargs])
        .arg("-kernel")
        .arg(&image)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{QEMU} does not start ({error}): run `make setup`"));
    let mut stdout = qemu.stdout.take().expect("piped");
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut stdout, &mut bytes).map(|_| bytes)
    });
    let off = process::wait_for_end(&mut qemu);
    let bytes = reader.join().expect("the reader ends").expect("readable");
    let text = String::from_utf8_lossy(&bytes).into_owned();
    assert!(off, "{name} does not end:\n{text}");
    text
}

/// The record lines of one kind, without their prefix.
fn records<'a>(text: &'a str, kind: &'a str) -> impl Iterator<Item = &'a str> {
    text.lines()
        .filter_map(move |line| line.strip_prefix("@tactus ")?.strip_prefix(kind))
        .map(str::trim)
}

/// A field of a record.
fn field<'a>(record: &'a str, key: &str) -> Option<&'a str> {
    record
        .split(' ')
        .find_map(|field| field.strip_prefix(key)?.strip_prefix('='))
}

/// All samples of a phase.
fn samples(text: &str, phase: &str) -> Vec<u64> {
    records(text, "samples ")
        .filter(|record| field(record, "phase") == Some(phase))
        .flat_map(|record| field(record, "values").expect("values").split(','))
        .map(|value| value.parse().expect("a number"))
        .collect()
}

fn metric(text: &str, name: &str) -> u64 {
    records(text, "metric ")
        .find(|record| field(record, "name") == Some(name))
        .and_then(|record| field(record, "value")?.parse().ok())
        .unwrap_or_else(|| panic!("no metric {name} in\n{text}"))
}

/// Asserts that the self-check named `name` passed and that none failed.
fn assert_passed(text: &str, name: &str) {
    assert_eq!(records(text, "fail ").next(), None, "in\n{text}");
    assert!(
        records(text, "pass ").any(|record| field(record, "name") == Some(name)),
        "{name} is missing in\n{text}"
    );
}

#[test]
fn the_self_test_passes() {
    for harts in [1, 4] {
        let text = run("freertos-selftest", harts, "");
        assert_passed(&text, "freertos_selftest");
        assert!(!text.contains("skipped"), "{text}");
    }
}

#[test]
fn the_demonstration_measures_every_release() {
    let text = run("freertos", 1, "");
    assert_passed(&text, "freertos_worker");
    assert_passed(&text, "freertos_heartbeat");
    assert_eq!(metric(&text, "release_deadline_misses"), 0);
    assert_eq!(metric(&text, "release_samples_dropped"), 0);
    for phase in ["idle", "loaded"] {
        let samples = samples(&text, phase);
        assert_eq!(samples.len(), RELEASES, "{phase}");
        // One instruction takes a nanosecond. The path to the task takes some hundred; the emulated timer is late by
        // up to 100 ns. Single samples may be worse when the host is busy, hence the mean.
        let mean = samples.iter().sum::<u64>() / samples.len() as u64;
        assert!((100..1000).contains(&mean), "{phase}: mean {mean} ns");
        let min = samples.iter().min().expect("samples");
        assert!((100..=mean).contains(min), "{phase}: min {min} ns");
    }
}

/// Failures must be detected, be reported, and end the machine.
#[test]
fn failures_are_reported() {
    for (case, report) in [
        ("assert", "freertos: assertion: app/selftest.c:"),
        ("overflow", "freertos: stack-overflow: task=overflow"),
        ("exception", "freertos: exception cause=0x0000000000000002"),
        ("handler-fp", "freertos: exception cause=0x0000000000000002"),
        ("return", "freertos: assertion: port/port.c:"),
    ] {
        let text = run("freertos-selftest", 1, &format!("selftest={case}"));
        assert!(text.contains(report), "{case}: no \"{report}\" in\n{text}");
        assert_eq!(records(&text, "fail ").count(), 1, "{case}:\n{text}");
    }
}

/// Without a hypervisor there are no calls of other VMs, which both ends are told.
#[test]
fn calls_of_other_vms_are_not_supported() {
    for (name, report) in [
        ("freertos-call", "freertos-call: this is no Tactus VM"),
        (
            "freertos-serve",
            "serve: not supported: this is no Tactus VM",
        ),
    ] {
        let text = run(name, 1, "");
        assert!(text.contains(report), "{name}: no \"{report}\" in\n{text}");
        assert_eq!(records(&text, "fail ").count(), 1, "{name}:\n{text}");
    }
}
