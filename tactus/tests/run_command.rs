//! `tactus run` and `tactus bench` as commands: exit codes, what goes to stdout, and that they can be stopped.

mod harness;

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Output, Stdio};

use harness::{On, on_both};
use rustix::process::{Pid, Signal, kill_process};

fn tactus(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tactus"));
    command.current_dir(harness::root()).args(arguments);
    command
}

/// The platform's name on the command line.
const fn name(on: On) -> &'static str {
    match on {
        On::Qemu => "qemu",
        _ => "board",
    }
}

const BOARD: [&str; 4] = ["run", "systems/hello.toml", "--platform", "board"];

fn on_board_with(option: &'static str, value: &'static str) -> [&'static str; 6] {
    let [command, system, platform, board] = BOARD;
    [command, system, platform, board, option, value]
}

fn output(mut command: Command) -> (Option<i32>, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().expect("tactus can be run");
    let text = |bytes| String::from_utf8(bytes).expect("tactus writes text");
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn good_run_is_shown_and_reported() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let report = directory.path().join("report");
    let (code, stdout, stderr) = output(tactus(&[
        "run",
        "systems/hello.toml",
        "--report",
        &report.display().to_string(),
    ]));
    assert_eq!(code, Some(0), "{stdout}\n{stderr}");
    assert!(stdout.contains(" hello | Hello from vCPU 0"), "{stdout}");
    assert!(stdout.contains("tactus | "), "{stdout}");
    assert!(!stdout.contains("OpenSBI"), "{stdout}");
    assert!(!stdout.contains("@tactus"), "{stdout}");
    assert!(!stdout.contains('\x1b'), "no colours in a pipe: {stdout}");
    assert!(stdout.contains("all VMs are off"), "{stdout}");
    assert!(stdout.contains("Share of CPU"), "{stdout}");
    assert!(report.join("report.md").is_file());
    let page = report.join("report.html");
    assert!(page.is_file());
    let last = stdout.lines().last().unwrap_or_default();
    let expected = format!(
        "Report: {} - open it in a browser; look first at ",
        page.display()
    );
    assert!(last.starts_with(&expected), "{last}");
    assert_eq!(stderr, "");
}

#[test]
fn a_report_that_cannot_be_written_is_refused_before_the_run() {
    for command in [["run", "systems/hello.toml"], ["bench", "platform"]] {
        let all = [&command[..], &["--report", "README.md"]].concat();
        let (code, stdout, stderr) = output(tactus(&all));
        assert_eq!(code, Some(2), "{stdout}\n{stderr}");
        assert_eq!(stdout, "");
        // Lines are broken where the terminal ends.
        let words: Vec<&str> = stderr
            .split_whitespace()
            .filter(|word| *word != "│")
            .collect();
        let text = words.join(" ");
        for part in [
            "--report README.md: no report can be written there: File exists",
            "help: name a directory that can be made and written to, such as build/report",
        ] {
            assert!(text.contains(part), "no {part:?} in {text}");
        }
    }
}

#[test]
fn only_what_a_report_is_made_of_can_become_one() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = directory.path().display().to_string();
    let refused = |arguments: &[&str]| {
        let (code, stdout, stderr) = output(tactus(arguments));
        assert_eq!(code, Some(2), "{stdout}\n{stderr}");
        assert_eq!(stdout, "");
        stderr.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let text = refused(&["report", &path]);
    assert!(text.contains("the report cannot be read"), "{text}");
    assert!(text.contains("tactus run --report"), "{text}");
    std::fs::write(directory.path().join("page.data"), "none").expect("it can be written");
    let text = refused(&["report", &path]);
    assert!(text.contains("it is damaged"), "{text}");
}

#[test]
fn board_run_is_shown_reported_and_repeats() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let run = |name: &str| {
        let report = directory.path().join(name);
        let mut command = tactus(&on_board_with("--probe", "sbi::call:1"));
        command.arg("--report").arg(&report);
        let (code, stdout, stderr) = output(command);
        assert_eq!(code, Some(0), "{stdout}\n{stderr}");
        assert_eq!(stderr, "");
        for part in [
            " hello | Hello from vCPU 0",
            "all VMs are off",
            "Board soc at 666.7 MHz, fast, seed 1.",
            "Share of CPU",
            "Cycles since reset",
            "sbi::call",
            "Trace hash ",
        ] {
            assert!(stdout.contains(part), "no {part:?} in {stdout}");
        }
        let read = |name: &str| std::fs::read_to_string(report.join(name)).expect("it is there");
        let hits = read("probes.csv");
        assert!(hits.starts_with("cycle,hart,probe,a0\n"), "{hits}");
        assert!(hits.lines().count() > 1, "{hits}");
        let hash = stdout
            .lines()
            .find(|line| line.starts_with("Trace hash"))
            .map(str::to_owned);
        (
            hash,
            hits,
            read("report.json"),
            read("records.jsonl"),
            read("consoles/(firmware).log"),
        )
    };
    assert_eq!(run("first"), run("second"));
}

#[test]
fn a_guest_drives_a_block_of_the_fabric_and_waveforms_show_it() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let file = directory.path().join("waves.fst");
    let run = |waves: bool| {
        let mut command = tactus(&["run", "systems/stamp.toml", "--pace", "timed"]);
        if waves {
            command
                .args(["--waves", "22ms..23ms", "--waves-file"])
                .arg(&file);
        }
        let (code, stdout, stderr) = output(command);
        assert_eq!(code, Some(0), "{stdout}\n{stderr}");
        assert!(
            stdout.contains("stamp | block 0x5354, version 1"),
            "{stdout}"
        );
        assert!(stdout.contains("stamp | alarm 3"), "{stdout}");
        let hash = stdout.lines().find(|line| line.starts_with("Trace hash"));
        hash.map(str::to_owned)
    };
    assert_eq!(run(false), run(true));
    assert!(file.metadata().expect("waveforms").len() > 10_000);
    for (arguments, word) in [
        (
            ["run", "systems/stamp.toml", "--waves", "2ms..1ms"],
            "below",
        ),
        (
            ["run", "systems/stamp.toml", "--waves", "2ms"],
            "10ms..10500us",
        ),
        (
            ["run", "systems/stamp.toml", "--platform", "qemu"],
            "QEMU has none",
        ),
        (
            ["run", "systems/stamp.toml", "--profile", "mpsoc"],
            "does not fit the board",
        ),
    ] {
        let (code, _, stderr) = output(tactus(&arguments));
        assert_eq!(code, Some(2), "{stderr}");
        assert!(stderr.contains(word), "{stderr}");
    }
    let (code, _, stderr) = output(tactus(&on_board_with("--waves", "1ms..2ms")));
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("nothing is loaded"), "{stderr}");
}

#[test]
fn verbose_run_shows_firmware_and_records() {
    let (code, stdout, _) = output(tactus(&["run", "systems/hello.toml", "--verbose"]));
    assert_eq!(code, Some(0), "{stdout}");
    assert!(stdout.contains("firmware | OpenSBI"), "{stdout}");
    assert!(stdout.contains("@tactus pass name=hello"), "{stdout}");
    assert!(stdout.contains("off vm=hello reason=shutdown"), "{stdout}");
}

#[test]
fn wrong_names_are_usage_errors() {
    for (arguments, word) in [
        (&["run", "systems/none.toml"][..], "none.toml"),
        (&["run", "systems/hello.toml", "--until", "no"], "hello"),
        (&["run", "systems/hello.toml", "--console", "no"], "hello"),
        (&["run", "systems/hello.toml", "--timeout=-1"], "timeout"),
        (
            &["run", "systems/hello.toml", "--pace", "timed"],
            "--platform board",
        ),
        (&on_board_with("--profile", "none"), "mpsoc"),
        (&on_board_with("--timed-from", "linux_up"), "phase:NAME"),
        (
            &on_board_with("--timed-from", "symbol:none"),
            "no symbol `none`",
        ),
        (&on_board_with("--probe", "none/0x0"), "no VM \"none\""),
        (
            &on_board_with("--trace", "/nonexistent/t"),
            "/nonexistent/t",
        ),
        (&on_board_with("--quantum", "0"), "quantum"),
        (&["bench", "none"], "platform"),
    ] {
        let (code, stdout, stderr) = output(tactus(arguments));
        assert_eq!(code, Some(2), "{arguments:?}: {stdout}\n{stderr}");
        assert!(stderr.contains(word), "{arguments:?}: {stderr}");
    }
}

#[test]
fn missing_qemu_is_explained() {
    // Whatever building takes is done before; Cargo, which looks again, is named by its path. QEMU is not to
    // be found.
    let (code, _, stderr) = output(tactus(&["check", "systems/hello.toml"]));
    assert_eq!(code, Some(0), "{stderr}");
    let cargo = std::env::var_os("CARGO").expect("cargo runs this test");
    let bin = std::path::Path::new(&cargo)
        .parent()
        .expect("cargo is in a directory")
        .to_owned();
    let mut command = tactus(&["run", "systems/hello.toml"]);
    command.env("PATH", bin);
    let (code, _, stderr) = output(command);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(
        stderr.contains("qemu-system-riscv64 is not installed") && stderr.contains("make setup"),
        "{stderr}"
    );
}

fn timeout_has_its_code(on: On) {
    let (code, stdout, stderr) = output(tactus(&[
        "run",
        "systems/bench-switch.toml",
        "--platform",
        name(on),
        "--timeout",
        "2",
    ]));
    assert_eq!(code, Some(4), "{stdout}\n{stderr}");
    assert!(stdout.contains("--timeout was up"), "{stdout}");
}

fn interrupted_run_ends_with_its_summary(on: On) {
    // One of its VMs never ends.
    let mut child = tactus(&["run", "systems/bench-switch.toml", "--platform", name(on)])
        .stdout(Stdio::piped())
        .spawn()
        .expect("tactus can be run");
    let mut stdout = BufReader::new(child.stdout.take().expect("it is a pipe"));
    let mut line = String::new();
    while !line.contains("starts") {
        line.clear();
        let read = stdout.read_line(&mut line).expect("tactus writes text");
        assert_ne!(read, 0, "it ended by itself");
    }
    kill_process(Pid::from_child(&child), Signal::INT).expect("it runs");
    let rest: Vec<String> = stdout.lines().map_while(Result::ok).collect();
    assert!(
        rest.iter().any(|line| line.contains("interrupted")),
        "{rest:?}"
    );
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
}

fn console_passes_bytes_and_nothing_else(on: On) {
    // Input that the guest does not read must not disturb it; its end must not end the run.
    let mut child = tactus(&[
        "run",
        "systems/hello.toml",
        "--console",
        "hello",
        "--platform",
        name(on),
    ])
    .stdin(Stdio::piped())
    .stdout(Stdio::piped())
    .spawn()
    .expect("tactus can be run");
    child
        .stdin
        .take()
        .expect("it is a pipe")
        .write_all(b"unread\n")
        .expect("tactus takes it");
    let output = child.wait_with_output().expect("it ends");
    let stdout = String::from_utf8(output.stdout).expect("it is text");
    assert_eq!(output.status.code(), Some(0), "{stdout}");
    assert!(stdout.starts_with("Hello from vCPU 0"), "{stdout}");
    assert!(stdout.contains("\n@tactus pass name=hello"), "{stdout}");
    assert!(!stdout.contains("tactus | "), "{stdout}");
}

#[test]
fn bench_prints_one_object_that_repeats() {
    let run = || {
        let (code, stdout, stderr) = output(tactus(&["bench", "platform", "--json"]));
        assert!(matches!(code, Some(0 | 1)), "{stdout}\n{stderr}");
        (code, stdout)
    };
    let (code, stdout) = run();
    let json: serde_json::Value = serde_json::from_str(&stdout).expect("stdout is JSON alone");
    assert_eq!(json["name"], "platform");
    assert_eq!(json["profile"], "qemu-virt");
    assert_eq!(json["seed"], 1);
    let metrics = json["metrics"].as_object().expect("it is an object");
    assert!(metrics.len() >= 7);
    let mut within = true;
    for (name, metric) in metrics {
        let value = metric["value"].as_f64();
        assert!(value.is_some(), "{name} has no value");
        assert!(metric["unit"].is_string() && metric["paper"].is_null());
        within &= metric["limit"]
            .as_f64()
            .is_none_or(|limit| value <= Some(limit));
    }
    assert_eq!(code == Some(0), within);
    assert_eq!(run(), (code, stdout));
}

on_both!(
    timeout_has_its_code,
    interrupted_run_ends_with_its_summary,
    console_passes_bytes_and_nothing_else,
);
