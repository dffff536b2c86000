//! What `tactus check` says of the tasks and chains of guests, beside what is measured on the board.

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

fn checked(system: &str) -> Verdict {
    let file = written(system);
    check_file(file.path(), &Artifacts::Workspace)
}

/// The bound of the only task, in ticks.
fn bound(system: &str) -> u64 {
    let verdict = checked(system);
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

/// From the ring of a VM on another hart to the end of the task that answers it, below a more urgent vCPU.
const CHAIN: &str = r#"
[system]
platform = "soc"
harts = 2

[[vm]]
name = "server"
image = "@release-selftest"
memory = "4MiB"
bootargs = "role=server answer_us=250 period_us=1"

[[vm.vcpu]]
class = "rt"
hart = 0
period = "5ms"
budget = "400us"

[[vm.task]]
name = "answer"
period = "10ms"
wcet = "300us"
priority = 1
stimulus = "interrupt"
jitter = "1ms"

[[vm]]
name = "urgent"
image = "@bench-load"
memory = "4MiB"
bootargs = "load=compute"
console = false

[[vm.vcpu]]
class = "rt"
hart = 0
period = "1ms"
budget = "400us"

[[vm]]
name = "ringer"
image = "@release-selftest"
memory = "4MiB"
bootargs = "role=ringer every_us=10137"

[[vm.vcpu]]
class = "be"
harts = [1]

[[channel]]
name = "rings"
between = ["ringer", "server"]
size = "4KiB"

[[chain]]
name = "answered"
deadline = "10ms"
steps = ["rings", "server.answer"]
"#;

#[test]
fn a_chain_is_done_within_its_bound() {
    let verdict = checked(CHAIN);
    let [chain] = verdict.chains.as_slice() else {
        panic!("{:?}", verdict.problems)
    };
    let bound = chain.bound() as f64 / 1e3;
    let outcome = run_text(On::Board, CHAIN, Some("server"));
    let measured = figure(&outcome, "server", "late_ticks_max") / 10.0;
    println!("{measured:.1} us, bound {bound:.1} us");
    assert!(measured <= bound, "{measured} us, bound {bound} us");
    // Once at least it waits for a whole job of the more urgent one.
    assert!(measured > 250.0 + 400.0, "{measured} us");
}
