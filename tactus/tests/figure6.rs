//! The schedule of the paper's Figure 6, on the hypervisor itself: which vCPU each hart runs in each of 20 ticks.

use std::sync::Arc;

use tactus::run::board::probe::{Hit, Probe};
use tactus::run::machine::Platform;
use tactus::run::session::Verdict;
use tactus_board::board::Pace;
use tactus_board::profile::Profile;

use crate::harness::{On, assert_verdict, boot, once, with_each_queue};

/// A tick of the figure, in ticks of the `time` CSR: 10 ms, as in `guests/bench/src/mpsoc/figure6.rs`.
const TICK: u64 = 100_000;
const TICKS: usize = 20;

/// The paper's schedule: a line for each hart, a character for the vCPU of each tick.
///
/// Real-time vCPUs 0 and 1 (period 5, capacity 3; period 4, capacity 1) are on hart 0, 2 and 3 (5, 2; 4, 1) on hart 1.
/// The policy is earliest deadline first; among equal deadlines the vCPU that was created first runs. The best-effort
/// vCPUs get the remaining time, `a` before `b`. `a` runs on the hart that is free first.
///
/// By the paper's text, `a` runs on the second hart at ticks 3, 7, 13, 14, 18 and 19 and on the first at 9; `b` runs on
/// the second at 9, and on the first at 14 and 19.
/// and on the first at 14 and 19.
const EXPECTED: [&str; 2] = ["100010001a0001b0001b", "322a322a3b223aa223aa"];

/// The vCPU in the middle of each tick, by hart, from the probe's hits on a board of that profile.
fn schedule(hits: &[Hit], profile: &Profile) -> [String; 2] {
    let ticks = |hit: &Hit| hit.cycle * profile.timebase_hz / profile.clock_hz;
    // The second argument of a hit is the time since the beginning of the schedule.
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
