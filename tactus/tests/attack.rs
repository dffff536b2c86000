//! `tactus attack`: shipped systems hold their bounds beside hostile guests, and what is asked for in error is told.

use std::process::{Command, Output};

use serde_json::Value;

use crate::harness::{root, written};

/// Runs the command; gives exit code, stdout and stderr.
fn attack(arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = Command::new(env!("CARGO_BIN_EXE_tactus"))
        .current_dir(root())
        .arg("attack")
        .args(arguments)
        .output()
        .expect("tactus can be run");
    let text = |bytes| String::from_utf8(bytes).expect("tactus writes text");
    (status.code(), text(stdout), text(stderr))
}

/// Runs attacks, and asserts that nothing is found and that each watched vCPU had jobs in each run.
#[track_caller]
fn nothing_is_found(system: &str, arguments: &[&str]) -> Value {
    let all: Vec<&str> = [system, "--json"]
        .into_iter()
        .chain(arguments.iter().copied())
        .collect();
    let (code, stdout, stderr) = attack(&all);
    assert_eq!(code, Some(0), "{stdout}\n{stderr}");
    let report: Value = serde_json::from_str(&stdout).expect("it prints JSON");
    assert_eq!(report["findings"], 0, "{stdout}");
    for run in report["runs"].as_array().expect("runs") {
        for vcpu in run["vcpus"].as_array().expect("vCPUs") {
            assert!(vcpu["jobs"].as_u64() > Some(0), "{run:#}");
            let times = ["response_max_us", "bound_us"].map(|name| vcpu[name].as_f64());
            if let [Some(response), Some(bound)] = times {
                assert!(response <= bound, "{run:#}");
            }
        }
    }
    report
}

/// The attacks of a report, in their order.
fn attacks(report: &Value) -> Vec<(&str, &str)> {
    let runs = report["runs"].as_array().expect("runs");
    let name = |run: &'static str| move |value: &Value| value[run].as_str().map(str::to_owned);
    let _ = name;
    runs.iter()
        .filter_map(|run| Some((run["attacker"].as_str()?, run["attack"].as_str()?)))
        .collect()
}

#[test]
fn interference_holds_its_bounds() {
    let options = ["--attack", "walk", "--attack", "ring", "--attack", "thrash"];
    let report = nothing_is_found(
        "systems/interference.toml",
        &[&options[..], &["--attacker", "noise", "--ms", "10"]].concat(),
    );
    let all = [("noise", "walk"), ("noise", "thrash"), ("noise", "ring")];
    let mut seen = attacks(&report);
    seen.sort_unstable();
    let mut all = all.to_vec();
    all.sort_unstable();
    assert_eq!(seen, all);
}
