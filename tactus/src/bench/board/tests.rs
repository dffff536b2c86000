//! The experiment from its data to its figures, with machines made up for the purpose; and the real ones.

use std::cell::RefCell;
use std::path::PathBuf;
use std::time::Duration;

use super::*;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn projects_own() -> Experiment {
    let path = root().join("bench/board.toml");
    let text = std::fs::read_to_string(path).expect("it can be read");
    experiment::parse(&text).expect("it is in order")
}

/// A sample with so much CPU time, and twice as much time on the wall's clock.
fn sample(milliseconds: u64, instructions: Option<u64>) -> Sample {
    let cpu = Duration::from_millis(milliseconds);
    Sample {
        time: host::HostTime { wall: 2 * cpu, cpu },
        instructions,
        checksum: Some(1),
        trace_hash: Some(9),
        runs: Some(10),
        simulated: Some(0.95),
    }
}

fn measured(text: &str) -> Measured {
    serde_json::from_value(text.into()).expect("it is `task@machine`")
}

/// Measurements of two things over some turns.
fn measurements(turns: &[[Sample; 2]]) -> Measurements {
    let of = [measured("a@qemu"), measured("a@fast")];
    let mut samples = turns.iter().flatten().copied();
    turns::measure(&of, turns.len() as u32, |_| {
        samples.next().ok_or_else(|| miette!("no more"))
    })
    .expect("all samples are there")
}

#[test]
fn figures_are_medians_over_the_turns() {
    let (a, b) = (measured("a@qemu"), measured("a@fast"));
    // The host is slowed threefold in the second turn, which a median of each alone would not see through.
    let of = measurements(&[
        [sample(1000, Some(100)), sample(200, Some(100))],
        [sample(3000, Some(100)), sample(600, Some(100))],
        [sample(1000, Some(100)), sample(250, Some(104))],
    ]);
    let value = |source| value(&source, &of);
    let pair = || (a.clone(), b.clone());
    let (x, y) = pair();
    assert_eq!(value(Source::Speedup(x, y)), Some(5.0));
    assert_eq!(value(Source::WallSeconds(a.clone())), Some(2.0));
    let (x, y) = pair();
    assert_eq!(value(Source::HostNsPerInstruction(x, y)), Some(1e7));
    let (x, y) = pair();
    assert_eq!(value(Source::Slowdown(x, y)), Some(5.0));
    let (x, y) = pair();
    assert_eq!(value(Source::CountDifference(x, y)), Some(0.0));
    assert_eq!(value(Source::Instructions(b.clone())), Some(100.0));
    assert_eq!(value(Source::MsPerCopy(b.clone())), Some(25.0));
    assert_eq!(value(Source::SimulationPercent(b.clone())), Some(95.0));
    assert_eq!(value(Source::Identical(b)), Some(3.0));
}

#[test]
fn what_a_machine_does_not_give_is_missing() {
    let (a, b) = (measured("a@qemu"), measured("a@fast"));
    let mut other = sample(200, Some(100));
    other.trace_hash = Some(8);
    let of = measurements(&[
        [sample(1000, None), sample(200, Some(100))],
        [sample(1000, None), other],
    ]);
    assert_eq!(value(&Source::Slowdown(a.clone(), b.clone()), &of), None);
    assert_eq!(value(&Source::Identical(b), &of), Some(1.0));
    let elsewhere = measured("b@qemu");
    assert_eq!(value(&Source::WallSeconds(elsewhere), &of), None);
    assert_eq!(value(&Source::WallSeconds(a), &of), Some(2.0));
}

#[test]
fn machines_that_compute_differently_are_not_compared() {
    let good = sample(1, None);
    let wrong = Sample {
        checksum: Some(2),
        ..good
    };
    assert!(turns::agree(&[measurements(&[[good, good]])]).is_ok());
    let error = turns::agree(&[measurements(&[[good, good], [good, wrong]])]);
    assert!(error.is_err_and(|error| error.to_string().contains("`a@qemu` and `a@fast`")));
}

#[test]
fn turns_alternate() {
    let of = [measured("a@qemu"), measured("a@fast")];
    let mut order = Vec::new();
    turns::measure(&of, 2, |measured| {
        order.push(measured.to_string());
        Ok(sample(1, None))
    })
    .expect("nothing fails");
    assert_eq!(order, ["a@qemu", "a@fast", "a@qemu", "a@fast"]);
    let threads: Vec<usize> = (0..4).map(|turn| turns::busy_threads(turn, 2)).collect();
    assert_eq!(threads, [0, 2, 4, 0]);
    assert_eq!(turns::median(vec![4.0, 1.0, 2.0, 3.0]), Some(2.5));
    assert_eq!(turns::median(Vec::new()), None);
}

#[test]
fn projects_own_experiment_has_the_metrics_that_are_promised() {
    let experiment = projects_own();
    for name in [
        "fast_ratio_compute",
        "fast_ratio_linux",
        "timed_ratio_compute",
        "timed_ratio_linux",
        "linux_boot_wall_seconds",
        "slowdown_4_harts",
        "identical_runs",
        "fork_64_mib_ms",
        "campaign_linux_simulation_percent",
    ] {
        let metric = experiment.metrics.iter().find(|metric| metric.name == name);
        let metric = metric.unwrap_or_else(|| panic!("there is no metric {name}"));
        assert!(metric.limit.is_some() != metric.least.is_some(), "{name}");
    }
}

/// One hart and four, with so many rounds of the project's own program.
fn tasks(rounds: u32) -> String {
    [("one", 1), ("four", 4)]
        .map(|(name, harts)| {
            format!(
                r#"
                [[task]]
                name = "{name}"
                program = "board-mix"
                harts = {harts}
                rounds = 1000000
                quick_rounds = {rounds}
                "#
            )
        })
        .concat()
}

/// The board in this process.
fn run_here(machine: Machine, job: &Job) -> miette::Result<Sample> {
    run_once(machine, job, None, |pace| {
        machine::run(&Order {
            job: job.clone(),
            profile: "soc".to_owned(),
            pace,
            seed: SEED,
        })
    })
}

/// The whole way, with the project's own program, QEMU and the board.
#[test]
fn programs_count_and_compute_the_same_on_all_machines_every_time() {
    let text = r#"
        title = "t"
        profile = "soc"
        [[turns]]
        of = ["one@counting", "one@qemu", "four@qemu", "one@fast", "one@timed", "four@fast", "four@timed", "one@plain"]
        repeat = 1
        quick_repeat = 2
        [[turns]]
        of = ["one@counting"]
        repeat = 1
        quick_repeat = 0
        [[metric]]
        name = "instructions"
        text = "t"
        unit = "instructions"
        from = { instructions = "one@counting" }
        [[metric]]
        name = "difference"
        text = "t"
        unit = "count"
        limit = 0
        from = { count_difference = ["one@counting", "one@fast"] }
        [[metric]]
        name = "not_counted"
        text = "t"
        unit = "count"
        from = { slowdown = ["four@qemu", "one@qemu"] }
    "#;
    let text = format!("{text}{}", tasks(10));
    let experiment = experiment::parse(&text).expect("it is in order");
    let samples = RefCell::new(Vec::new());
    let findings = carry_out("e", &experiment, &root(), true, |machine, job| {
        let sample = run_here(machine, job)?;
        samples.borrow_mut().push(sample);
        Ok(sample)
    })
    .expect("all machines run it");
    let samples = samples.into_inner();
    let (first, second) = samples.split_at(8);
    let what = |sample: &Sample| (sample.instructions, sample.checksum, sample.trace_hash);
    assert!(first.iter().map(what).eq(second.iter().map(what)));
    assert!(samples.iter().all(|sample| sample.checksum.is_some()));
    let [counting, _, _, fast, timed, four, four_timed, _] = *first else {
        panic!("{} runs", first.len());
    };
    let count = counting.instructions.expect("it counts");
    assert_eq!(fast.instructions, Some(count));
    assert_eq!(timed.instructions, Some(count));
    // Each hart does the same work.
    assert_eq!(four.instructions, Some(4 * count));
    assert_eq!(four_timed.instructions, Some(4 * count));
    assert_ne!(fast.trace_hash, timed.trace_hash);
    let values: Vec<_> = findings.found.iter().map(|found| found.value).collect();
    assert_eq!(values, [Some(count as f64), Some(0.0), None]);
    assert!(!findings.good(), "a figure is missing");
}

/// Not its result, but when they use what they share: in timed mode, their memory.
#[test]
fn the_quantum_changes_what_harts_do_when() {
    let run = |quantum: &str| {
        let text = tasks(2).replace("harts = 4", &format!("harts = 4\n{quantum}"));
        let text = format!("title = \"t\"\nprofile = \"soc\"\nturns = []\nmetric = []\n{text}");
        let experiment = experiment::parse(&text).expect("it is in order");
        let profile = Profile::named("soc").expect("it is there");
        let task = experiment.task("four").expect("it is there");
        let ready = Ready::of(task, &root(), &profile, true).expect("it is built");
        run_here(Machine::Timed, &ready.job).expect("it ends in good order")
    };
    let (profiles, own) = (run(""), run("quantum = 1000"));
    assert_eq!(profiles.checksum, own.checksum);
    assert_eq!(profiles.instructions, own.instructions);
    assert_ne!(profiles.trace_hash, own.trace_hash);
}

/// A system up to a line of its console, and up to its end.
#[test]
fn systems_run() {
    let run = |machine: Machine, until: &str| {
        let text = format!("name = \"t\"\nsystem = \"systems/hello.toml\"\n{until}");
        let task = toml::from_str(&text).expect("it is a task");
        let profile = Profile::named("soc").expect("it is there");
        let ready = Ready::of(&task, &root(), &profile, true).expect("it is built");
        assert!(ready.job.has_firmware);
        run_here(machine, &ready.job)
    };
    // The guest's timer is in the machine's time: as the host's it would make runs differ.
    for machine in [Machine::Counting, Machine::Fast, Machine::Timed] {
        let counts = machine != Machine::Counting;
        let whole = run(machine, "").expect("it ends in good order");
        let part = run(machine, "until = \"beat 2 \"").expect("the line comes");
        assert_eq!(whole.checksum, None);
        assert_eq!(whole.instructions.is_some(), counts);
        assert_eq!(part.instructions < whole.instructions, counts);
        let error = run(machine, "until = \"no such line\"").expect_err("it does not come");
        assert!(format!("{error:?}").contains("no console line began with `no such line`"));
    }
}
