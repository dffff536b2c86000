//! `tactus sweep`: the results do not depend on the number of threads, and are the runs that `tactus run` makes; and
//! `tactus bench` with a file of one's own.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::harness::output;

/// FreeRTOS beside a neighbour that never ends; the rate of its ticks is high, so that it ends early.
const SYSTEM: &str = "\
[system]
platform = \"soc\"
harts = 1

[[vm]]
name = \"rtos\"
image = \"@freertos-dispatch\"
counters = true
memory = \"16MiB\"
bootargs = \"hz=1000 samples=5\"

[[vm.vcpu]]
class = \"rt\"
hart = 0
priority = 200
budget = \"unlimited\"

[[vm]]
name = \"load\"
image = \"@bench-load\"
memory = \"4MiB\"
bootargs = \"load=compute\"

[[vm.vcpu]]
class = \"be\"
";

const SWEEP: &str = "\
system = \"my.toml\"
pace = \"timed\"
until = \"rtos\"
limit = \"5s\"
replicates = 2

[[factor]]
name = \"load\"
place = \"vm.load.bootargs\"
values = [\"compute\", \"memory\"]
format = \"load={}\"

[[factor]]
name = \"memory\"
place = \"vm.load.memory\"
values = [\"4MiB\", \"3MiB\"]

[[measure]]
name = \"worst_us\"
unit = \"us\"
samples = { vm = \"rtos\", samples = \"dispatch\" }

[[measure]]
name = \"none\"
unit = \"us\"
record = { vm = \"rtos\" }
";

/// Runs the tool in a folder; gives exit code, stdout and stderr.
fn tactus(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tactus"));
    output(command.current_dir(folder).args(arguments))
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a directory can be made");
    fs::write(folder.path().join("my.toml"), SYSTEM).expect("it can be written");
    fs::write(folder.path().join("sweep.toml"), SWEEP).expect("it can be written");
    folder
}

#[test]
fn the_results_do_not_depend_on_the_threads() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let (code, stdout, stderr) = tactus(folder.path(), &["sweep", "sweep.toml", "--csv", "a.csv"]);
    assert_eq!(code, Some(0), "{stdout}\n{stderr}");
    assert!(
        stdout.starts_with("my.toml: 4 points, 6 runs, 2 of them not good\n"),
        "{stdout}"
    );
    let none = "measure `none` has no value: VM `rtos` did not report `none`\n";
    assert!(stderr.contains(none), "{stderr}");
    let refused = "point 1 (load = compute, memory = 3MiB), seed 1: refused: VM `load`: `memory` must be a multiple";
    assert!(stderr.contains(refused), "{stderr}");
    let one = ["sweep", "sweep.toml", "-j", "1", "-o", "one.parquet"];
    assert_eq!(tactus(folder.path(), &one).0, Some(0));
    let parquet = |name: &str| fs::read(at(name)).expect("it is written");
    assert!(parquet("sweep.parquet") == parquet("one.parquet"));

    // A row is the run that `tactus run` makes of the point's system.
    let csv = fs::read_to_string(at("a.csv")).expect("it is written");
    let row = csv
        .lines()
        .find(|line| line.starts_with("2,1,memory,4MiB,soc,2,good,"));
    let row = row.unwrap_or_else(|| panic!("{csv}"));
    let hash = row.rsplit(',').next().unwrap_or_default();
    let (code, system, _) = tactus(folder.path(), &["sweep", "sweep.toml", "--system", "2"]);
    assert_eq!(code, Some(0));
    assert_eq!(system, SYSTEM.replace("load=compute", "load=memory"));
    fs::write(at("point.toml"), system).expect("it can be written");
    let options = [
        "--pace", "timed", "--until", "rtos", "--seed", "2", "--json",
    ];
    let (_, json, stderr) = tactus(
        folder.path(),
        &[&["run", "point.toml"], &options[..]].concat(),
    );
    let json: Value = serde_json::from_str(&json).unwrap_or_else(|_| panic!("{json}\n{stderr}"));
    assert_eq!(json["board"]["trace_hash"], hash);
}

#[test]
fn what_is_there_stays_where_nothing_is_written() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("sweep.parquet"), "old").expect("it can be written");
    fs::write(at("wrong.toml"), "system = \"my.toml\"\nsed = 1\n").expect("it can be written");
    for (arguments, code, said) in [
        (
            vec!["sweep.toml", "--strict"],
            1,
            "error: point 1 (load = compute, memory = 3MiB), seed 1: refused: ",
        ),
        (
            vec!["wrong.toml", "-o", "sweep.parquet"],
            2,
            "wrong.toml, line 2: unknown field `sed`",
        ),
        (
            vec!["none.toml", "-o", "sweep.parquet"],
            2,
            "none.toml cannot be read",
        ),
        (
            vec!["sweep.toml", "-o", "none/a.parquet"],
            2,
            "--output none/a.parquet: no file can be written there",
        ),
        (
            vec!["sweep.toml", "--system", "4"],
            2,
            "the sweep has points 0 to 3",
        ),
    ] {
        let (ended, _, stderr) = tactus(folder.path(), &[&["sweep"], &arguments[..]].concat());
        assert_eq!(ended, Some(code), "{arguments:?}: {stderr}");
        assert!(stderr.contains(said), "{arguments:?}: {stderr}");
        assert_eq!(fs::read(at("sweep.parquet")).expect("it is there"), b"old");
    }
    let mut names: Vec<_> = fs::read_dir(&folder).expect("it can be read").collect();
    names.retain(|entry| {
        entry
            .as_ref()
            .is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with('.'))
    });
    assert!(names.is_empty(), "{names:?}");
}

/// With `run = false` a sweep is of the check: bounds of systems that need no board.
#[test]
fn bounds_are_swept_without_runs() {
    let folder = folder();
    let unlimited = "priority = 200\nbudget = \"unlimited\"\n";
    let system = SYSTEM.replace(unlimited, "period = \"2ms\"\nbudget = \"1ms\"\n");
    fs::write(folder.path().join("my.toml"), system).expect("it can be written");
    let sweep = "\
system = \"my.toml\"
run = false

[[factor]]
name = \"budget\"
place = \"vm.rtos.vcpu.0.budget\"
range = { from = 500, to = 2500, step = 500 }
format = \"{}us\"

[[measure]]
name = \"response_us\"
check = 'guarantee.harts.0.vcpus.\"rtos.0\".response_us'
";
    fs::write(folder.path().join("bounds.toml"), sweep).expect("it can be written");
    let (code, stdout, stderr) = tactus(folder.path(), &["sweep", "bounds.toml", "--csv", "a.csv"]);
    assert_eq!(code, Some(0), "{stdout}\n{stderr}");
    let csv = fs::read_to_string(folder.path().join("a.csv")).expect("it is written");
    let rows: Vec<Vec<&str>> = csv
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect())
        .collect();
    let responses: Vec<f64> = rows.iter().filter_map(|row| row[8].parse().ok()).collect();
    assert!(responses.len() >= 3 && responses.is_sorted(), "{csv}");
    assert!(
        responses
            .iter()
            .zip([500.0, 1000.0, 1500.0])
            .all(|(response, budget)| *response > budget),
        "{csv}"
    );
    let verdicts: Vec<&str> = rows.iter().map(|row| row[5]).collect();
    assert_eq!([verdicts[0], verdicts[4]], ["fine", "refused"], "{csv}");
}

#[test]
fn an_experiment_of_ones_own_is_exported() {
    let folder = folder();
    let experiment = "\
title = \"How late a task is dispatched\"
profile = \"soc\"

[[run]]
name = \"beside\"
system = \"my.toml\"
until = \"rtos\"

[[metric]]
name = \"worst_us\"
text = \"the worst dispatch\"
unit = \"us\"
limit = 1000
samples = { run = \"beside\", vm = \"rtos\", samples = \"dispatch\" }
";
    fs::write(folder.path().join("mine.toml"), experiment).expect("it can be written");
    let (code, stdout, stderr) = tactus(
        folder.path(),
        &[
            "bench",
            "mine.toml",
            "--csv",
            "a.csv",
            "--parquet",
            "a.parquet",
        ],
    );
    assert_eq!(code, Some(0), "{stdout}\n{stderr}");
    assert!(
        stdout.starts_with("mine: How late a task is dispatched (soc)\n"),
        "{stdout}"
    );
    let csv = fs::read_to_string(folder.path().join("a.csv")).expect("it is written");
    let row = csv.lines().nth(1).unwrap_or_default();
    assert!(
        row.starts_with("mine,default,worst_us,") && row.contains(",us,within,1000,"),
        "{csv}"
    );
    let parquet = fs::read(folder.path().join("a.parquet")).expect("it is written");
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    let (code, _, stderr) = tactus(folder.path(), &["bench", "./mine.toml", "--record-misses"]);
    // Continuous integration refuses the option altogether.
    let refused = stderr.contains("--record-misses is for the project's experiments")
        || std::env::var_os("CI").is_some();
    assert!(code == Some(2) && refused, "{stderr}");
    let (code, _, stderr) = tactus(folder.path(), &["bench", "none"]);
    assert!(
        code == Some(2) && stderr.contains("there is no experiment `none`"),
        "{stderr}"
    );
    assert!(stderr.contains("./mine.toml"), "{stderr}");
}
