//! The schedule of the paper's Figure 6, on the hypervisor itself: which vCPU each hart runs in each of 20 ticks.

use std::sync::Arc;

use tactus::run::board::probe::{Hit, Probe};
use tactus::run::machine::Platform;
use tactus::run::session::Verdict;
use tactus_board::board::Pace;
use tactus_board::profile::Profile;

use crate::harness::{On, assert_verdict, boot, once, with_each_queue};

/// The figure's ticks, in those of the `time` CSR: 10 ms, as `guests/bench/src/mpsoc/figure6.rs` has it.
const TICK: u64 = 100_000;
const TICKS: usize = 20;

/// Real-time vCPUs 0 and 1 (period 5, capacity 3; 4, 1) are on hart 0, 2 and 3 (5, 2; 4, 1) on hart 1, earliest deadline first; of
/// equal ones the vCPU that was made first. What they leave is the best-effort vCPUs', `a` before `b`; `a` goes where it is
/// free first.
///
/// By the paper's text, `a` runs on the second hart at ticks 3, 7, 13, 14, 18 and 19 and on the first at 9; `b` on the second at 9,
/// and on the first at 14 and 19.
const EXPECTED: [&str; 2] = ["100010001a0001b0001b", "322a322a3b223aa223aa"];

/// Who runs in the middle of each tick, by hart, from when vCPUs were seen to run on a board of that profile.
fn schedule(hits: &[Hit], profile: &Profile) -> [String; 2] {
    let ticks = |hit: &Hit| hit.cycle * profile.timebase_hz / profile.clock_hz;
    // Each hit comes with how long after the schedule's begin it is.
    let begin = ticks(&hits[0]) - hits[0].arguments[1];
    [0, 1].map(|hart| {
        let name = |tick: usize| {
            let middle = begin + tick as u64 * TICK + TICK / 2;
            let own = hits.iter().filter(|hit| hit.hart == hart);
            let nearest = own.min_by_key(|hit| ticks(hit).abs_diff(middle));
            nearest
                .filter(|hit| ticks(hit).abs_diff(middle) < TICK / 100)
                .and_then(|hit| "0123ab".chars().nth(hit.arguments[0] as usize))
                .unwrap_or('-')
        };
        (0..TICKS).map(name).collect()
    })
}

fn is_reproduced_tick_by_tick(on: On) {
    let mut boot = boot(on, "systems/figure6.toml", Some("figure6"));
    let mark = Probe::find("figure6/figure6_mark:2", &boot.image).expect("the guest has it");
    let Platform::Board(options) = &mut boot.plan.launch.platform else {
        panic!("it is for the board");
    };
    if on == On::Board {
        let profile = Profile::named("mpsoc").expect("it comes with the board");
        options.profile = Arc::new(profile);
    }
    options.pace = Pace::Timed;
    options.probes.push(mark);
    let profile = options.profile.clone();
    let outcome = once(&boot);
    assert_verdict(&outcome, Verdict::Good);
    let facts = outcome.board.expect("it ran on the board");
    assert_eq!(
        facts.hits.counts.iter().sum::<u64>(),
        facts.hits.kept.len() as u64
    );
    assert_eq!(schedule(&facts.hits.kept, &profile), EXPECTED);
}

#[test]
fn the_papers_figure_6_is_reproduced_tick_by_tick() {
    is_reproduced_tick_by_tick(On::Board);
}

with_each_queue!(is_reproduced_tick_by_tick);
