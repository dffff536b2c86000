//! The program's interface for scripts: exit codes, stdout and stderr.

use std::path::Path;
use std::process::{Command, Output};

/// Runs the program in the directory of the faulty systems, without any artifact.
fn tactus(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tactus"))
        .args(arguments)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults"))
        .output()
        .expect("the program runs")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

#[test]
fn errors_exit_with_1_and_go_to_stderr() {
    let output = tactus(&["check", "unknown-key.toml", "--artifacts", "absent"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout), "");
    let stderr = text(&output.stderr);
    assert!(stderr.contains("unknown-key.toml:11:1"), "{stderr}");
    assert!(
        stderr.contains("unknown key `memroy`; `memory` is there already"),
        "{stderr}"
    );
}

#[test]
fn a_missing_file_exits_with_2() {
    let absent = tactus(&["check", "no-such-file.toml"]);
    assert_eq!(absent.status.code(), Some(2));
    // The only fault of this system is the missing hypervisor.
    let output = tactus(&["check", "no-artifact.toml", "--artifacts", "absent"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert_eq!(tactus(&["check"]).status.code(), Some(2));
    assert_eq!(
        tactus(&["chekc", "no-artifact.toml"]).status.code(),
        Some(2)
    );
}

#[test]
fn json_is_alone_on_stdout() {
    let output = tactus(&[
        "check",
        "no-such-hart.toml",
        "--json",
        "--artifacts",
        "absent",
    ]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stderr), "");
    let verdict: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(verdict["fine"], false);
    let problems = verdict["problems"].as_array().expect("problems");
    let hart = problems
        .iter()
        .find(|p| p["code"] == "no-such-hart")
        .expect("the fault");
    assert_eq!((&hart["line"], &hart["column"]), (&12.into(), &8.into()));
}

#[test]
fn a_refused_system_is_not_built() {
    let output = tactus(&[
        "build",
        "self-reference.toml",
        "--artifacts",
        "absent",
        "-o",
        "no-such-directory/x",
    ]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = text(&output.stderr);
    assert!(
        stderr.contains("self-reference.toml: not built"),
        "{stderr}"
    );
}

#[test]
fn the_report_of_a_refused_system_states_what_would_fit() {
    let arguments = ["check", "misses-deadline.toml", "--artifacts", "absent"];
    let report = tactus(&[&arguments[..], &["--report"]].concat());
    assert_eq!(report.status.code(), Some(1));
    let stdout = text(&report.stdout);
    assert!(stdout.contains("Hart 0, by deadlines"), "{stdout}");
    assert!(stdout.contains("Does not fit: control.1"), "{stdout}");
    assert!(stdout.contains("makes it fit"), "{stdout}");

    let json = tactus(&[&arguments[..], &["--json"]].concat());
    let verdict: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    let refused = &verdict["guarantee"]["refused"][0];
    assert_eq!(refused["vcpu"], "control.1");
    assert_eq!(refused["would_fit"]["hart"], 1);
    assert!(refused["would_fit"]["budget_max_us"].as_f64() < refused["budget_us"].as_f64());
}

#[test]
fn there_is_no_evidence_of_a_refused_system() {
    let directory = tempfile::tempdir().expect("a directory");
    let evidence = directory.path().join("evidence");
    let path = evidence.to_str().expect("UTF-8");
    let arguments = ["check", "misses-deadline.toml", "--artifacts", "absent"];
    let output = tactus(&[&arguments[..], &["--evidence", path]].concat());
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("--evidence: misses-deadline.toml is refused"),
        "{}",
        text(&output.stderr)
    );
    assert!(!evidence.exists());
    // A campaign is for evidence.
    let output = tactus(&[&arguments[..], &["--campaign", "none.json"]].concat());
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn how_far_a_system_is_from_being_refused_is_json_too() {
    let arguments = ["check", "late-best-effort.toml", "--artifacts", "absent"];
    let output = tactus(&[&arguments[..], &["--sensitivity", "--json"]].concat());
    let verdict: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let found = &verdict["guarantee"]["sensitivity"];
    assert!(found["budgets_factor_max"].as_f64() > Some(1.0));
    let first = &found["vcpus"][0];
    assert_eq!(first["vcpu"], "control.0");
    assert!(first["budget_max_us"].as_f64() > Some(3000.0));
    // Of a refused one there is nothing to tell.
    let arguments = ["check", "misses-deadline.toml", "--artifacts", "absent"];
    let output = tactus(&[&arguments[..], &["--sensitivity"]].concat());
    assert!(text(&output.stdout).contains("it is refused as it is"));
}
