//! The paths through the hypervisor keep to the bounds of `docs/src/explanation/worst-case-paths.md`, and the runs that
//! collect them make every call.
//!
//! The runs are those of `tactus bench kerone-core --quick`, whose figure `paths_past_bound` is the same check.

use std::collections::BTreeSet;

use tactus::artifacts::{Artifacts, HYPERVISORS};
use tactus::bench::{experiment, paths, prepared, value};
use tactus::profile::Profile;
use tactus::run::board::paths::{Cause, looks};
use tactus::run::session::Verdict;
use tactus::walk::{Bound, Bounds, Costs, End, Start};
use tactus_board::profile::Profile as Board;
use tactus_board::timing::Worst;

use crate::harness::{explain, root};

/// Calls that no guest of these runs makes.
const UNMADE: [&str; 1] = ["call: legacy shutdown"];

#[test]
#[ignore = "long"]
fn every_path_keeps_to_its_bound() {
    let found = experiment::find("kerone-core").expect("it is there");
    let experiment = experiment::parse(&found.text).expect("it is in order");
    let profile = Profile::named(&experiment.profile).expect("it is there");
    let runs: Vec<_> = experiment
        .runs
        .iter()
        .filter(|run| run.paths && run.quick)
        .map(|run| {
            // The run's other metrics are not needed here.
            prepared::prepare(run, &[], &root(), Some(&profile), experiment::Extent::Quick)
                .unwrap_or_else(|error| panic!("{}: {error:?}", run.name))
        })
        .collect();
    let done = prepared::carry_out(&runs).expect("they can be carried out");
    for (name, done) in &done {
        let verdict = done.outcome.verdict();
        assert_eq!(verdict, Verdict::Good, "{name}\n{}", explain(&done.outcome));
    }
    let paths = value::merged(done.values());
    let file = root().join("docs/src/explanation").join(paths::FILE);
    let page = std::fs::read_to_string(&file).expect("the page is there");
    let broken = paths::broken(&page, &paths);
    assert!(
        broken.is_empty(),
        "{} says otherwise; where the change is worth it, `tactus bench kerone-core` makes it again:\n{}",
        file.display(),
        broken.join("\n")
    );

    let seen: BTreeSet<Cause> = paths.iter().map(|(path, _)| path.cause).collect();
    let missing: Vec<String> = Cause::calls()
        .filter(|call| !seen.contains(call))
        .map(|call| call.to_string())
        .collect();
    assert_eq!(missing, UNMADE, "no run made these");
}

/// The bound of a preemption by the timer.
const PREEMPTION: (Start, End) = (Start::Trap("tactus_timer"), End::Guest);

/// What is computed of a hypervisor's hot code, on a board of so many harts, for so many vCPUs.
fn computed(name: &str, harts: usize, vcpus: u64) -> Bounds {
    let path = Artifacts::Workspace
        .file(name)
        .unwrap_or_else(|missing| panic!("{}: {}", missing.reason, missing.cure));
    let program = std::fs::read(path).expect("the file was just built");
    let looks = looks(&program).expect("it says where it looks");
    let board = Board::named("soc").expect("it comes with the board");
    let costs = Costs::of(&board.timing, harts).expect("it has caches");
    Bounds::of(&program, &looks, &costs, vcpus).unwrap_or_else(|reason| panic!("{name}: {reason}"))
}

#[test]
fn the_hot_code_of_each_hypervisor_has_bounds() {
    let board = Board::named("soc").expect("it comes with the board");
    let line = Worst::of(&board.timing, 2).expect("it has caches").line;
    for name in HYPERVISORS {
        let bounds = computed(name, 2, 8);
        for ((start, end), bound) in &bounds.of {
            let Bound {
                run,
                code,
                data,
                begin,
                cycles,
                ..
            } = *bound;
            assert_eq!(
                cycles,
                run + (code + data) * line + begin,
                "{start:?} to {end:?}"
            );
        }
        let of = |bounds: &Bounds| bounds.of[&PREEMPTION].cycles;
        // More vCPUs may be due at once, and more masters may be at memory.
        assert!(of(&computed(name, 2, 9)) > of(&bounds), "{name}");
        assert!(of(&computed(name, 4, 8)) > of(&bounds), "{name}");
    }
}
