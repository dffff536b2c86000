//! Progress of a run: a live line on a terminal, and elsewhere a line at least every ten seconds.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::harness::root;

/// Runs `tactus` with a terminal as its stderr; returns the output there, and whether the exit code was 0.
fn on_terminal(arguments: &[&str]) -> (String, bool) {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal can be made");
    grantpt(&terminal).expect("it is ours");
    unlockpt(&terminal).expect("it can be opened");
    let name = ptsname(&terminal, Vec::new()).expect("it has a name");
    let name = name.into_string().expect("its name is text");
    let end = File::options().read(true).write(true).open(name);
    let child = Command::new(env!("CARGO_BIN_EXE_tactus"))
        .current_dir(root())
        .args(arguments)
        .env("TERM", "xterm")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(end.expect("the terminal can be opened"))
        .spawn();
    let mut child = child.expect("tactus can be run");
    let mut shown = Vec::new();
    let mut terminal = File::from(terminal);
    let mut part = [0; 4096];
    // The read fails when the last process with the terminal open has ended.
    while let Ok(bytes) = terminal.read(&mut part) {
        if bytes == 0 {
            break;
        }
        shown.extend_from_slice(&part[..bytes]);
    }
    let shown = String::from_utf8_lossy(&shown).into_owned();
    let status = child.wait().expect("it can be waited for");
    (shown, status.success())
}

/// A system that computes without output until the run is stopped.
fn silent() -> tempfile::NamedTempFile {
    let system = fs::read_to_string(root().join("systems/hostile-spin.toml"));
    let system = system.expect("the system is there");
    assert!(system.contains("ms=350"), "{system}");
    let file = tempfile::Builder::new().suffix(".toml").tempfile();
    let mut file = file.expect("a temporary file can be made");
    let text = system.replace("ms=350", "ms=1000000");
    file.write_all(text.as_bytes()).expect("it can be written");
    file
}

#[test]
fn a_terminal_shows_how_far_a_run_is() {
    let system = silent();
    let file = system.path().display().to_string();
    let limit = ["--limit", "1s"];
    let (shown, _) = on_terminal(&[&["run", &file, "--platform", "board"][..], &limit].concat());
    assert!(shown.contains("s of virtual time"), "{shown}");
    assert!(shown.contains("than real time"), "{shown}");
}

#[test]
fn a_pipe_gets_a_line_from_a_silent_run() {
    let system = silent();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tactus"));
    let command = command
        .current_dir(root())
        .arg("run")
        .arg(system.path())
        .args(["--platform", "board"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("tactus can be run");
    let stderr = child.stderr.take().expect("it is a pipe");
    let line = BufReader::new(stderr)
        .lines()
        .map_while(Result::ok)
        .find(|line| line.contains("of virtual time"));
    child.kill().expect("it can be ended");
    child.wait().expect("it has ended");
    let line = line.expect("a line tells how far the run is");
    assert!(line.starts_with("running, "), "{line}");
    assert!(!line.contains('\u{1b}'), "{line:?}");
}

#[test]
fn a_terminal_shows_how_far_an_experiment_is() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let pictures = directory.path().display().to_string();
    let (shown, good) = on_terminal(&["bench", "platform", "--quick", "--pictures", &pictures]);
    assert!(good, "{shown}");
    assert!(shown.contains("runs done; now "), "{shown}");
}
