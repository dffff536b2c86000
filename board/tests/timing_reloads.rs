//! Reload costs: cases that are counted by hand, and random ones against a model that looks at every line.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tactus_board::account::Doing;
use tactus_board::privileged::{Exception, Privilege};
use tactus_board::profile::Profile;
use tactus_board::timing::parameters::{
    Cache, Caches, Fixed, Memory, Parameters, Replacement, Walks,
};
use tactus_board::timing::{Cost, LineState, Reloads, Timing, Watch, Watched};

const LEVEL2: u64 = 10;
const UPGRADE: u64 = 4_000;
const MEMORY: u64 = 10_000;
/// Bytes of a line.
const LINE: u64 = 32;
/// Lines that are accessed.
const LINES: u64 = 40;
/// The guest that is watched.
const GUEST: u16 = 1;

/// L1 caches of 4 sets and 2 ways, an L2 cache of 8 sets and 3 ways.
fn parameters() -> Parameters {
    let cache = |sets: u64, ways: u32| Cache {
        size: sets * u64::from(ways) * LINE,
        ways,
        line: LINE,
        replacement: Replacement::Lru,
    };
    let mut parameters = Profile::named("soc")
        .expect("it comes with the crate")
        .timing;
    parameters.store_buffer = None;
    parameters.memory = Memory::Fixed(Fixed {
        latency: MEMORY as u32,
        transfer: 0,
    });
    parameters.caches = Some(Caches {
        l1i: cache(4, 2),
        l1d: cache(4, 2),
        l2: cache(8, 3),
        l2_latency: LEVEL2 as u32,
        intervention: 100,
        snoop: 1_000,
        invalidation: 2_000,
        upgrade: UPGRADE as u32,
        next_line: None,
    });
    if let Some(tlb) = &mut parameters.tlb {
        tlb.walks = Walks::Level2;
    }
    parameters
}

/// Harts 0 and 1, of which the first runs the guest.
fn timing() -> Timing {
    let mut timing = Timing::new(&parameters(), 2, 1);
    timing.watch_reloads(Watch {
        guests: vec![Watched {
            guest: GUEST,
            harts: 0b01,
        }],
        is_wait: |cause, _| cause == Exception::VirtualInstruction,
    });
    timing
}

const fn running(guest: Option<u16>) -> Doing {
    Doing::Running {
        guest,
        privilege: Privilege::Supervisor,
    }
}

const HYPERVISOR: Doing = running(None);

fn address(line: u64) -> u64 {
    0x8000_0000 + line * LINE + 8
}

/// How the guest leaves its hart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leave {
    Interrupt,
    Call,
    Wait,
}

impl Leave {
    const fn exception(self) -> Option<(Exception, [u64; 2])> {
        match self {
            Self::Interrupt => None,
            Self::Call => Some((Exception::VirtualSupervisorEnvironmentCall, [0; 2])),
            Self::Wait => Some((Exception::VirtualInstruction, [0; 2])),
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Access {
    Load,
    Store,
    Fetch,
    Walk,
}

fn access(timing: &mut Timing, hart: usize, access: Access, line: u64) -> u64 {
    let physical = address(line);
    match access {
        Access::Load => timing.data(hart, physical, false, 0),
        Access::Store => timing.data(hart, physical, true, 0),
        Access::Fetch => timing.fetch(hart, physical, 1, 0),
        Access::Walk => timing.walk_access(hart, physical, false, 0),
    }
}

fn reloads(timing: &Timing) -> Reloads {
    timing.reloads()[0]
}

/// The guest has loaded lines 0 and 4, of one set of the L1 cache, and is interrupted.
fn interrupted() -> Timing {
    let mut timing = timing();
    timing.turn(0, running(Some(GUEST)), None);
    for line in [0, 4] {
        timing.data(0, address(line), false, 0);
    }
    timing.turn(0, HYPERVISOR, None);
    timing
}

const fn cost(stops: u64, lines: u64, cycles: u64, worst: [u64; 2]) -> Cost {
    Cost {
        stops,
        lines,
        cycles,
        lines_max: worst[0],
        cycles_max: worst[1],
    }
}

#[test]
fn what_is_still_there_costs_nothing() {
    let mut timing = interrupted();
    timing.turn(0, running(Some(2)), None);
    timing.turn(0, HYPERVISOR, None);
    timing.turn(0, running(Some(GUEST)), None);
    for line in [0, 4, 20] {
        timing.data(0, address(line), false, 0);
    }
    assert_eq!(reloads(&timing).preemptions, cost(1, 0, 0, [0, 0]));
    assert_eq!(reloads(&timing).interruptions, Cost::default());
}

#[test]
fn a_line_that_was_evicted_is_paid_once() {
    let mut timing = interrupted();
    timing.turn(0, running(Some(2)), None);
    // Both lines leave the L1 cache, and line 0 the L2 cache, which has 0, 8, 16 and 32 in one set.
    for line in [8, 16, 32] {
        timing.data(0, address(line), false, 0);
    }
    timing.turn(0, HYPERVISOR, None);
    timing.turn(0, running(Some(GUEST)), None);
    for _ in 0..2 {
        for line in [4, 0] {
            timing.data(0, address(line), false, 0);
        }
    }
    let paid = LEVEL2 + LEVEL2 + MEMORY;
    assert_eq!(reloads(&timing).preemptions, cost(1, 2, paid, [2, paid]));
    // What it evicts itself is its own.
    for line in [8, 16, 0] {
        timing.data(0, address(line), false, 0);
    }
    assert_eq!(reloads(&timing).preemptions.lines, 2);
}

#[test]
fn idleness_and_the_hypervisor_are_told_apart() {
    let mut timing = interrupted();
    for line in [8, 12] {
        timing.data(0, address(line), false, 0);
    }
    timing.turn(0, running(Some(GUEST)), None);
    timing.data(0, address(0), false, 0);
    let below = cost(1, 1, LEVEL2, [1, LEVEL2]);
    assert_eq!(reloads(&timing).interruptions, below);
    // Line 4 is still lost when the guest is stopped again: it counts where it was lost.
    timing.turn(0, HYPERVISOR, None);
    timing.turn(0, Doing::Waiting, None);
    timing.turn(0, HYPERVISOR, None);
    timing.turn(0, running(Some(GUEST)), None);
    timing.data(0, address(4), false, 0);
    let below = cost(1, 2, 2 * LEVEL2, [2, 2 * LEVEL2]);
    assert_eq!(reloads(&timing).interruptions, below);
    assert_eq!(reloads(&timing).preemptions, cost(1, 0, 0, [0, 0]));
}

#[test]
fn a_guest_that_waits_or_calls_loses_nothing() {
    for leave in [Leave::Wait, Leave::Call] {
        let mut timing = interrupted();
        timing.turn(0, running(Some(GUEST)), None);
        timing.turn(0, HYPERVISOR, leave.exception());
        for line in [8, 12] {
            timing.data(0, address(line), false, 0);
        }
        if leave == Leave::Wait {
            timing.turn(0, running(Some(2)), None);
            timing.turn(0, HYPERVISOR, None);
        }
        timing.turn(0, running(Some(GUEST)), None);
        for line in [0, 4] {
            timing.data(0, address(line), false, 0);
        }
        let none = Reloads {
            interruptions: cost(1, 0, 0, [0, 0]),
            ..Reloads::default()
        };
        assert_eq!(reloads(&timing), none, "{leave:?}");
    }
}

#[test]
fn a_guest_that_is_preempted_in_its_call_pays() {
    let mut timing = interrupted();
    timing.turn(0, running(Some(GUEST)), None);
    timing.turn(0, HYPERVISOR, Leave::Call.exception());
    timing.turn(0, running(Some(2)), None);
    for line in [8, 12] {
        timing.data(0, address(line), false, 0);
    }
    timing.turn(0, HYPERVISOR, None);
    timing.turn(0, running(Some(GUEST)), None);
    timing.data(0, address(0), false, 0);
    let paid = cost(1, 1, LEVEL2, [1, LEVEL2]);
    assert_eq!(reloads(&timing).preemptions, paid);
}

#[test]
fn books_change_nothing() {
    let mut without = Timing::new(&parameters(), 2, 1);
    let mut with = timing();
    for step in 0..2_000_u64 {
        let line = step * 7 % LINES;
        if step % 10 == 0 {
            with.turn(0, running(Some(GUEST)), None);
        } else if step % 10 == 6 {
            with.turn(0, HYPERVISOR, None);
        }
        let hart = (step % 3 == 0).into();
        let kind = [Access::Load, Access::Store, Access::Fetch, Access::Walk][(step % 4) as usize];
        let costs = [&mut without, &mut with].map(|timing| access(timing, hart, kind, line));
        assert_eq!(costs[0], costs[1]);
    }
    assert_eq!(without.save(), with.save());
    assert!(reloads(&with).interruptions.lines > 0);
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Of hart 1, or of hart 0 whatever that runs.
    Access(usize, Access, u64),
    /// The guest leaves its hart, or has it again; in between another guest has it or not.
    Leave(Leave),
    Resume(bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let kind = prop::sample::select(vec![
        Access::Load,
        Access::Load,
        Access::Store,
        Access::Fetch,
        Access::Walk,
    ]);
    let leave = prop::sample::select(vec![
        Leave::Interrupt,
        Leave::Interrupt,
        Leave::Call,
        Leave::Wait,
    ]);
    let step = prop_oneof![
        12 => (0..5_usize, kind, 0..LINES)
            .prop_map(|(hart, kind, line)| Step::Access(hart / 4, kind, line)),
        2 => leave.prop_map(Step::Leave),
        2 => any::<bool>().prop_map(Step::Resume),
    ];
    prop::collection::vec(step, 1..400)
}

/// By line, whether in a preemption, and whether it was shared.
type Lost = BTreeMap<u64, (bool, bool)>;

/// The books by looking at every line.
#[derive(Default)]
struct Model {
    had: Vec<tactus_board::timing::Held>,
    /// Of the data cache, the instruction cache and the L2 cache.
    lost: [Lost; 3],
    /// Lines and cycles of each preemption and of each interruption.
    sums: [Vec<(u64, u64)>; 2],
}

impl Model {
    fn held(timing: &Timing) -> Vec<tactus_board::timing::Held> {
        let lines = 0..LINES;
        lines.map(|line| timing.held(0, address(line))).collect()
    }

    fn resume(&mut self, timing: &Timing, leave: Leave, others: bool) {
        if others && leave == Leave::Wait {
            self.lost = Default::default();
            return;
        }
        let now = Self::held(timing);
        let is_there = |which: usize, line: u64| {
            let held = now[line as usize];
            [held.data != LineState::Invalid, held.code, held.level2][which]
        };
        for (which, lost) in self.lost.iter_mut().enumerate() {
            lost.retain(|line, _| !is_there(which, *line));
        }
        if !others && leave != Leave::Interrupt {
            return;
        }
        self.sums[usize::from(!others)].push((0, 0));
        for (line, had) in (0..).zip(&self.had) {
            let had_it = [had.data != LineState::Invalid, had.code, had.level2];
            for (which, had_it) in had_it.into_iter().enumerate() {
                if had_it && !is_there(which, line) {
                    let shared = which == 0 && had.data == LineState::Shared;
                    self.lost[which].insert(line, (others, shared));
                }
            }
        }
    }

    fn access(&mut self, before: tactus_board::timing::Held, kind: Access, line: u64, cost: u64) {
        let (which, hit) = match kind {
            Access::Load | Access::Store => (Some(0), before.data != LineState::Invalid),
            Access::Fetch => (Some(1), before.code),
            Access::Walk => (None, false),
        };
        if hit {
            return;
        }
        let first = which.and_then(|which| self.lost[which].remove(&line));
        let second = self.lost[2].remove(&line);
        let paid = match (first, second) {
            (Some((others, true)), _) if matches!(kind, Access::Store) => (others, UPGRADE),
            (Some((others, _)), _) => (others, 0),
            (None, Some((others, _))) if !before.level2 => (others, LEVEL2),
            _ => return,
        };
        if let Some(sum) = self.sums[usize::from(!paid.0)].last_mut() {
            sum.0 += 1;
            sum.1 += cost.saturating_sub(paid.1);
        }
    }

    fn cost(&self, which: usize) -> Cost {
        let sums = || self.sums[which].iter();
        Cost {
            stops: sums().count() as u64,
            lines: sums().map(|sum| sum.0).sum(),
            cycles: sums().map(|sum| sum.1).sum(),
            lines_max: sums().map(|sum| sum.0).max().unwrap_or(0),
            cycles_max: sums().map(|sum| sum.1).max().unwrap_or(0),
        }
    }
}

proptest! {
    #[test]
    fn the_books_are_right(steps in steps()) {
        let mut timing = timing();
        let mut model = Model::default();
        timing.turn(0, running(Some(GUEST)), None);
        let mut left = None;
        for step in steps {
            match (step, left) {
                (Step::Access(hart, kind, line), _) => {
                    let before = timing.held(0, address(line));
                    let cost = access(&mut timing, hart, kind, line);
                    if hart == 0 && left.is_none() {
                        model.access(before, kind, line, cost);
                    }
                }
                (Step::Leave(leave), None) => {
                    timing.turn(0, HYPERVISOR, leave.exception());
                    left = Some(leave);
                    model.had = Model::held(&timing);
                }
                (Step::Resume(others), Some(leave)) => {
                    if others {
                        timing.turn(0, running(Some(2)), None);
                        timing.turn(0, HYPERVISOR, None);
                    }
                    timing.turn(0, running(Some(GUEST)), None);
                    model.resume(&timing, leave, others);
                    left = None;
                }
                _ => {}
            }
            let wanted = Reloads { preemptions: model.cost(0), interruptions: model.cost(1) };
            prop_assert_eq!(reloads(&timing), wanted);
        }
    }
}
