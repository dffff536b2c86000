//! `tactus run` and `tactus bench` as commands: exit codes, stdout, and interruption.

use std::fs::Permissions;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::harness::{On, on_both, output, root};

fn tactus(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tactus"));
    command.current_dir(root()).args(arguments);
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
        // The terminal's width breaks lines.
        let words: Vec<&str> = stderr
            .split_whitespace()
            .filter(|word| *word != "│")
            .collect();
        let text = words.join(" ");
        for part in [
            "--report README.md: no report can be written there: File exists",
            "help: name a writable directory or HTML file, such as build/report",
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
        let mut command = tactus(&on_board_with("--probe", "tactus_call:1"));
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
            "tactus_call",
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
        (
            &["run", "systems/hello.toml", "--host-limit=-1"],
            "host-limit",
        ),
        (
            &["run", "systems/hello.toml", "--limit", "5"],
            "invalid value '5' for '--limit <TIME>': say a whole number and s, ms, us or ns, such as 5s or 250ms",
        ),
        (
            &["run", "systems/hello.toml", "--limit", "5h"],
            "such as 5s or 250ms",
        ),
        (
            &["run", "systems/hello.toml", "--limit", "18001s"],
            "a run has at most 18000s of virtual time",
        ),
        (
            &["run", "systems/hello.toml", "--limit", "5000s"],
            "--limit is 4294 s at most on QEMU",
        ),
        (
            &["run", "systems/bench-switch.toml", "--send", "x"],
            "--send does not say whose console is meant",
        ),
        (
            &["run", "systems/hello.toml", "--script", "none.script"],
            "none.script cannot be read: No such file or directory",
        ),
        (
            &["run", "systems/hello.toml", "--script", "a", "--send", "b"],
            "cannot be used with",
        ),
        (
            &["run", "systems/manycore.toml", "--exit", "1"],
            "--exit is for systems with the hypervisor",
        ),
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
    // The build is complete before. Cargo, which checks it again, may be in one folder with QEMU, which must not be
    // found.
    let (code, _, stderr) = output(tactus(&["check", "systems/hello.toml"]));
    assert_eq!(code, Some(0), "{stderr}");
    let folder = tempfile::tempdir().expect("a temporary directory can be made");
    let cargo = Path::new(&std::env::var_os("CARGO").expect("cargo runs this test")).to_owned();
    for program in ["cargo", "rustc"] {
        symlink(cargo.with_file_name(program), folder.path().join(program))
            .expect("a link can be made");
    }
    let mut command = tactus(&["run", "systems/hello.toml"]);
    command.env("PATH", folder.path());
    let (code, _, stderr) = output(command);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(
        stderr.contains("qemu-system-riscv64 is not installed") && stderr.contains("make setup"),
        "{stderr}"
    );
}

/// The probe of QEMU has 13 instructions; its exit code is 23 where QEMU ignores the write to `mstatus.MPV`.
#[test]
fn a_qemu_that_ignores_the_firmware_is_refused() {
    let path = tempfile::tempdir().expect("a temporary directory can be made");
    let qemu = path.path().join("qemu-system-riscv64");
    std::fs::write(&qemu, "#!/bin/sh\nexit 23\n").expect("it can be written");
    std::fs::set_permissions(&qemu, Permissions::from_mode(0o755)).expect("it is this test's own");
    let mut run = tactus(&["run", "systems/hello.toml"]);
    let others = std::env::var("PATH").expect("there is one");
    run.env("PATH", format!("{}:{others}", path.path().display()));
    let (code, _, stderr) = output(run);
    assert_eq!(code, Some(2), "{stderr}");
    for part in ["does not run guests", "mstatus.MPV", "make setup"] {
        assert!(stderr.contains(part), "{stderr}");
    }
}

/// The output of a run without the host's time.
fn repeats(stdout: &str) -> String {
    let (begin, rest) = stdout.split_once(" of virtual time in ").expect("it says");
    let (_, end) = rest.split_once(" s: ").expect("and the host's");
    format!("{begin}: {end}")
}

fn a_limited_run_repeats(on: On) {
    let run = || {
        // One of its VMs never ends.
        let (code, stdout, stderr) = output(tactus(&[
            "run",
            "systems/bench-switch.toml",
            "--platform",
            name(on),
            "--limit",
            "30ms",
            "--verbose",
        ]));
        assert_eq!(code, Some(4), "{stdout}\n{stderr}");
        assert!(
            stdout.contains("\nRan 0.030000 s of virtual time in "),
            "{stdout}"
        );
        assert!(
            stdout.contains(" s: the virtual time given by --limit was up.\n"),
            "{stdout}"
        );
        repeats(&stdout)
    };
    assert_eq!(run(), run());
}

#[test]
fn the_hosts_time_can_be_limited() {
    let (code, stdout, stderr) = output(tactus(&on_board_with("--host-limit", "0")));
    assert_eq!(code, Some(4), "{stdout}\n{stderr}");
    assert!(
        stdout.contains(": the host's time given by --host-limit was up."),
        "{stdout}"
    );
}

/// A system whose real-time vCPU never yields its hart.
fn hog() -> (tempfile::TempDir, String) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let image = directory.path().join("hog.bin");
    // j .
    std::fs::write(&image, 0x0000_006f_u32.to_le_bytes()).expect("it can be written");
    let text = format!(
        "[system]\nplatform = \"qemu-virt\"\nharts = 1\n\n\
         [[vm]]\nname = \"hog\"\nimage = \"{}\"\nmemory = \"4MiB\"\n\n\
         [[vm.vcpu]]\nclass = \"rt\"\nhart = 0\npriority = 200\n\n\
         [[vm]]\nname = \"hello\"\nimage = \"@hello\"\nmemory = \"4MiB\"\n\n\
         [[vm.vcpu]]\nclass = \"be\"\n",
        image.display()
    );
    let system = directory.path().join("hog.toml");
    std::fs::write(&system, text).expect("it can be written");
    let system = system.display().to_string();
    (directory, system)
}

#[test]
fn a_hog_is_running_and_named() {
    let (directory, system) = hog();
    let junit = directory.path().join("junit.xml").display().to_string();
    let arguments = ["run", &system, "--platform", "board", "--limit", "100ms"];
    let (code, stdout, stderr) = output(tactus(&arguments));
    assert_eq!(code, Some(4), "{stdout}\n{stderr}");
    let cells = |line: &str| -> Vec<String> {
        line.split("  ")
            .map(|cell| cell.trim().to_owned())
            .filter(|cell| !cell.is_empty())
            .collect()
    };
    let row = |name: &str, second: &str| {
        let lines = stdout.lines().map(cells);
        lines
            .filter(|cells| cells.first().is_some_and(|cell| cell == name))
            .any(|cells| cells.get(1).is_some_and(|cell| cell.starts_with(second)))
    };
    assert!(row("hog", "running"), "{stdout}");
    assert!(row("hello", "not started"), "{stdout}");
    assert!(
        stdout.contains("VM \"hello\" has not started: hart 0 is held by VM \"hog\""),
        "{stdout}"
    );
    assert!(!stdout.contains("not accounted for"), "{stdout}");

    let mut command = tactus(&arguments);
    command.args(["--json", "--junit", &junit]);
    let (code, stdout, stderr) = output(command);
    assert_eq!(code, Some(4), "{stdout}\n{stderr}");
    let json: serde_json::Value = serde_json::from_str(&stdout).expect("stdout is JSON alone");
    assert_eq!(json["verdict"], "timeout");
    assert_eq!(json["exit_code"], 4);
    assert_eq!(json["virtual_seconds"], 0.1);
    assert_eq!(json["virtual_seconds_exact"], true);
    assert_eq!(json["script_unfinished"], serde_json::Value::Null);
    assert_eq!(json["vms"][0]["state"], "running");
    assert_eq!(json["vms"][1]["state"], "not_started");
    assert_eq!(json["cpu"]["elapsed_seconds"], 0.1);
    let had = json["cpu"]["use"][0]["seconds"][0].as_f64();
    assert!(had > Some(0.07), "{json:#}");
    let xml = std::fs::read_to_string(&junit).expect("it is written");
    assert!(
        xml.contains("<skipped message=\"not started\"/>")
            && xml.contains("<error message=\"the virtual time given by --limit was up\"/>"),
        "{xml}"
    );
}

#[test]
fn scripts_are_judged_before_the_run_and_in_it() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let script = directory.path().join("hello.script");
    let run = |text: &str| {
        std::fs::write(&script, text).expect("it can be written");
        let mut command = tactus(&BOARD);
        command.arg("--script").arg(&script);
        output(command)
    };
    let file = script.display();
    let (code, _, stderr) = run("expect Hello\nsned x\n");
    assert_eq!(code, Some(2), "{stderr}");
    let message = format!("{file}:2: `sned` is nothing that a script does");
    // The terminal's width may break the line.
    let words: Vec<&str> = stderr
        .split_whitespace()
        .filter(|word| *word != "│")
        .collect();
    assert!(words.join(" ").contains(&message), "{stderr}");
    assert!(stderr.contains("did you mean `send`?"), "{stderr}");

    let (code, stdout, stderr) = run("expect \"Hello from vCPU 0\"\nexit 9\n");
    assert_eq!(code, Some(9), "{stdout}\n{stderr}");
    assert!(
        stdout.contains("the script ended it with exit code 9"),
        "{stdout}"
    );

    let (code, _, stderr) = run("timeout 1ms\nexpect \"no such\"\n");
    assert_eq!(code, Some(5), "{stderr}");
    let reason = format!(
        "error: {file}:2: expect \"no such\": not within 1 ms of virtual time; hello ended with \"\"\n"
    );
    assert_eq!(stderr, reason);

    let (code, _, stderr) = run("expect \"no such\"\nsend x\n");
    assert_eq!(code, Some(6), "{stderr}");
    let reason =
        format!("error: {file}:1: expect \"no such\": the run ended before: all VMs are off\n");
    assert_eq!(stderr, reason);
}

fn a_shell_is_driven(on: On) {
    let (code, stdout, stderr) = output(tactus(&[
        "run",
        "systems/linux.toml",
        "--platform",
        name(on),
        "--console",
        "linux",
        "--expect",
        "~ # ",
        "--send",
        "nproc",
        "--expect",
        "\n2",
        "--send",
        "echo all of a line that is longer than the UART of a virtual machine holds | wc -c",
        "--expect",
        "\n70",
        "--exit",
        "0",
    ]));
    assert_eq!(code, Some(0), "{stdout}\n{stderr}");
}

#[test]
fn what_is_piped_reaches_the_console_whole() {
    // Far more input than the UART holds, before the guest's driver has cleared it.
    let long = "x".repeat(300);
    let mut child = tactus(&["run", "systems/linux.toml", "--console", "linux"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("tactus can be run");
    let input = format!("echo {long} | wc -c\necho second\nexit\n");
    child
        .stdin
        .take()
        .expect("it is a pipe")
        .write_all(input.as_bytes())
        .expect("tactus takes it");
    let output = child.wait_with_output().expect("it ends");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{stdout}");
    assert!(stdout.contains("\n301\r\n"), "{stdout}");
    assert!(stdout.contains("\nsecond\r\n"), "{stdout}");
}

#[test]
fn completions_and_man_pages_are_generated() {
    for (shell, part) in [
        ("bash", "_tactus()"),
        ("zsh", "#compdef tactus"),
        ("fish", "complete -c tactus"),
    ] {
        let (code, stdout, stderr) = output(tactus(&["completions", shell]));
        assert_eq!(code, Some(0), "{stderr}");
        assert!(stdout.contains(part), "{stdout}");
        assert!(stdout.contains("host-limit"), "{stdout}");
    }
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let place = directory.path().join("man").display().to_string();
    let (code, stdout, stderr) = output(tactus(&["man", &place]));
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains(" man pages in "), "{stdout}");
    for (page, part) in [
        ("tactus.1", "Describe, check, build, run and measure"),
        ("tactus-run.1", "\\-\\-limit"),
        ("tactus-timed-io-assemble.1", "hexadecimal"),
    ] {
        let text = std::fs::read_to_string(directory.path().join("man").join(page));
        let text = text.unwrap_or_else(|error| panic!("{page}: {error}"));
        assert!(text.contains(part), "{page}:\n{text}");
    }
    let (code, _, stderr) = output(tactus(&["man", "/dev/null/man"]));
    assert_eq!(code, Some(2), "{stderr}");
    assert!(
        stderr.starts_with("error: the man pages cannot be written into /dev/null/man: "),
        "{stderr}"
    );
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
    // Input that the guest does not read must not disturb the guest; the end of input must not end the run.
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
        (code, stdout, stderr)
    };
    let (code, stdout, stderr) = run();
    let json: serde_json::Value = serde_json::from_str(&stdout).expect("stdout is JSON alone");
    assert_eq!(json["name"], "platform");
    assert_eq!(json["profile"], "qemu-virt");
    assert_eq!(json["seed"], 1);
    let metrics = json["metrics"].as_object().expect("it is an object");
    assert!(metrics.len() >= 7);
    let mut within = true;
    for (name, metric) in metrics {
        let value = metric["value"].as_f64();
        // A figure that is missing is told of there, and the run that should have given it.
        assert!(value.is_some(), "{name} has no value: {stderr}");
        assert!(metric["unit"].is_string() && metric["paper"].is_null());
        let record = metric["known_miss"]["figure"].as_f64();
        within &= match (value, metric["limit"].as_f64(), record) {
            (Some(value), Some(limit), None) => value <= limit,
            (Some(value), Some(limit), Some(record)) => value > limit && value <= record * 1.02,
            _ => true,
        };
    }
    assert_eq!(code == Some(0), within);
    let (code_again, stdout_again, stderr_again) = run();
    assert_eq!(
        (code_again, stdout_again),
        (code, stdout),
        "{stderr}\n{stderr_again}"
    );
}

#[test]
fn bench_renews_no_records_in_continuous_integration() {
    let mut command = tactus(&["bench", "platform", "--record-misses"]);
    command.env("CI", "true");
    let (code, stdout, stderr) = output(command);
    assert_eq!((code, stdout.as_str()), (Some(2), ""), "{stderr}");
    for part in [
        "continuous integration (the variable CI is set) does not renew the records",
        "record them on a machine of your own, and say in the commit why",
    ] {
        assert!(stderr.contains(part), "{stderr}");
    }
}

on_both!(
    a_limited_run_repeats,
    a_shell_is_driven,
    interrupted_run_ends_with_its_summary,
    console_passes_bytes_and_nothing_else,
);
