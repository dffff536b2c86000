//! A guest's job that needs more than a budget, on the board: measured beside the bound of `tactus check`.

use tactus::artifacts::Artifacts;
use tactus::check::{Verdict, check_file};
use tactus_planning::supply::Completion;

use crate::harness::{On, figure, root, run_text, written};

/// Steps of a job: a job takes two cycles for each alone.
const STEPS: u64 = 300_000;
/// Cycles of the harts a second, and ticks.
const HART_HZ: f64 = 666_666_667.0;
const TIMEBASE_HZ: f64 = 10_000_000.0;

/// The victim of `systems/interference.toml` with a longer job, which is described as a task.
fn system(noise: &str) -> String {
    let system = std::fs::read_to_string(root().join("systems/interference.toml"));
    let mut system = system.expect("the system is there");
    let task = "[[vm.task]]\nname = \"job\"\nperiod = \"10ms\"\nwcet = \"901us\"\npriority = 1\n";
    for (from, to) in [
        (
            "jobs=200 listen=masked\"".to_owned(),
            format!("jobs=50 steps={STEPS} listen=masked\""),
        ),
        ("noise=ring".to_owned(), format!("noise={noise}")),
        (
            "[[vm]]\nname = \"lower\"".to_owned(),
            format!("{task}\n[[vm]]\nname = \"lower\""),
        ),
    ] {
        assert!(system.contains(&from), "{from}");
        system = system.replacen(&from, &to, 1);
    }
    system
}

/// The bound of the only task, in ticks.
fn bound(system: &str) -> u64 {
    let file = written(system);
    let verdict: Verdict = check_file(file.path(), &Artifacts::Workspace);
    let [vcpu] = verdict.tasks.vcpus.as_slice() else {
        panic!("one vCPU with tasks")
    };
    match vcpu.tasks[0].completion {
        Completion::Within(ticks) => ticks,
        other => panic!("{other:?}"),
    }
}

/// The job has three budgets at most, whatever the noise: measured, it is done within the bound, and not far from it.
#[test]
fn a_job_of_several_budgets_is_done_within_its_bound() {
    for noise in ["none", "ring", "reserve"] {
        let system = system(noise);
        let bound = bound(&system) as f64 / TIMEBASE_HZ;
        let outcome = run_text(On::Board, &system, Some("victim"));
        let measured = figure(&outcome, "victim", "victim_job_cycles_max") / HART_HZ;
        println!(
            "{noise}: {:.1} us, bound {:.1} us",
            measured * 1e6,
            bound * 1e6
        );
        assert!(measured <= bound, "{noise}: {measured} s, bound {bound} s");
        assert!(
            measured > 0.5 * bound,
            "{noise}: {measured} s, bound {bound} s"
        );
    }
}
