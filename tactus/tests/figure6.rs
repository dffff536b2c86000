//! The schedule of the paper's Figure 6, on the hypervisor itself: which vCPU each hart runs in each of 20 ticks.

mod harness;

use tactus::run::board::Options;
use tactus::run::board::probe::{Hit, Probe};
use tactus::run::machine::Platform;
use tactus::run::session::Verdict;
use tactus_board::board::Pace;
use tactus_board::profile::Profile;

use harness::{On, assert_verdict, boot, once};

/// Cycles of a tick: 10 ms at 100 MHz, as `guests/bench/src/mpsoc/figure6.rs` has it.
const TICK: u64 = 1_000_000;
/// Cycles of a tick of the `time` CSR.
const CYCLES_PER_COUNT: u64 = 10;
const TICKS: usize = 20;

/// Real-time vCPUs 0 and 1 (period 5, capacity 3; 4, 1) are on hart 0, 2 and 3 (5, 2; 4, 1) on hart 1, earliest deadline first; of
/// equal ones the vCPU that was made first. What they leave is the best-effort vCPUs', `a` before `b`; `a` goes where it is
/// free first.
///
/// By the paper's text, `a` runs on the second hart at ticks 3, 7, 13, 14, 18 and 19 and on the first at 9; `b` on the second at 9,
/// and on the first at 14 and 19.
const EXPECTED: [&str; 2] = ["100010001a0001b0001b", "322a322a3b223aa223aa"];

/// Who runs in the middle of each tick, by hart, from when vCPUs were seen to run.
fn schedule(hits: &[Hit]) -> [String; 2] {
    // Each hit comes with how long after the schedule's begin it is.
    let begin = hits[0].cycle - hits[0].arguments[1] * CYCLES_PER_COUNT;
    [0, 1].map(|hart| {
        let name = |tick: usize| {
            let middle = begin + tick as u64 * TICK + TICK / 2;
            let own = hits.iter().filter(|hit| hit.hart == hart);
            let nearest = own.min_by_key(|hit| hit.cycle.abs_diff(middle));
            nearest
                .filter(|hit| hit.cycle.abs_diff(middle) < TICK / 100)
                .and_then(|hit| "0123ab".chars().nth(hit.arguments[0] as usize))
                .unwrap_or('-')
        };
        (0..TICKS).map(name).collect()
    })
}

#[test]
fn the_papers_figure_6_is_reproduced_tick_by_tick() {
    let mut boot = boot(On::Board, "systems/figure6.toml", Some("figure6"));
    let mut options = Options::new(Profile::named("mpsoc").expect("it comes with the board"));
    options.pace = Pace::Timed;
    options
        .probes
        .push(Probe::find("figure6/figure6_mark:2", &boot.image).expect("the guest has it"));
    boot.plan = boot.plan.on(Platform::Board(Box::new(options)));
    let outcome = once(&boot);
    assert_verdict(&outcome, Verdict::Good);
    let facts = outcome.board.expect("it ran on the board");
    assert_eq!(
        facts.hits.counts.iter().sum::<u64>(),
        facts.hits.kept.len() as u64
    );
    assert_eq!(schedule(&facts.hits.kept), EXPECTED);
}
