//! Branch prediction against a slow model, and by hand.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tactus_board::decode::decode;
use tactus_board::profile::Profile;
use tactus_board::timing::parameters::{BufferHolds, Direction, Parameters, Predictor};
use tactus_board::timing::{BranchKind, Timing};

const MISPREDICT: u64 = 100;
const REDIRECT: u64 = 7;

fn predictor() -> Predictor {
    Predictor {
        direction: Direction::Bimodal,
        counters: 64,
        history_bits: 0,
        targets: 8,
        target_ways: 2,
        target_buffer: BufferHolds::All,
        return_stack: 4,
        mispredict: MISPREDICT as u32,
        redirect: REDIRECT as u32,
    }
}

fn parameters(predictor: Predictor) -> Parameters {
    Parameters {
        predictor: Some(predictor),
        ..Profile::named("soc")
            .expect("it comes with the crate")
            .timing
    }
}

/// The same predictor in maps, which have no initial counters and no unseen targets.
struct Model {
    is: Predictor,
    counters: BTreeMap<u64, i32>,
    /// Directions of the last branches, the youngest last.
    history: Vec<bool>,
    /// By set: branches and targets in the order of their ways, and the number of insertions so far.
    targets: BTreeMap<u64, (Vec<(u64, u64)>, usize)>,
    stack: Vec<u64>,
}

impl Model {
    fn new(is: Predictor) -> Self {
        Self {
            is,
            counters: BTreeMap::new(),
            history: Vec::new(),
            targets: BTreeMap::new(),
            stack: Vec::new(),
        }
    }

    fn knows(&mut self, pc: u64, target: u64) -> bool {
        let ways = self.is.target_ways as usize;
        let sets = u64::from(self.is.targets / self.is.target_ways);
        let (set, inserted) = self.targets.entry(pc / 2 % sets).or_default();
        if let Some((_, known)) = set.iter_mut().find(|(other, _)| *other == pc) {
            return std::mem::replace(known, target) == target;
        }
        if set.len() < ways {
            set.push((pc, target));
        } else {
            set[*inserted % ways] = (pc, target);
        }
        *inserted += 1;
        false
    }

    fn branch(&mut self, pc: u64, kind: BranchKind, taken: bool, target: u64, next: u64) -> u64 {
        let all = self.is.target_buffer == BufferHolds::All;
        let direct = |known| if known { 0 } else { REDIRECT };
        let indirect = |known| if known { 0 } else { MISPREDICT };
        let cost = match kind {
            BranchKind::Conditional => {
                let history = self
                    .history
                    .iter()
                    .fold(0, |value, &taken| value * 2 + u64::from(taken));
                let index = ((pc / 2) ^ history) % u64::from(self.is.counters);
                let counter = self.counters.entry(index).or_insert(1);
                let right = (*counter >= 2) == taken;
                *counter = (*counter + if taken { 1 } else { -1 }).clamp(0, 3);
                self.history.push(taken);
                let bits = if self.is.direction == Direction::Gshare {
                    self.is.history_bits as usize
                } else {
                    0
                };
                self.history
                    .drain(..self.history.len().saturating_sub(bits));
                let known = !taken || !all || self.knows(pc, target);
                if right { direct(known) } else { MISPREDICT }
            }
            BranchKind::Jump | BranchKind::Call => direct(!all || self.knows(pc, target)),
            BranchKind::IndirectJump | BranchKind::IndirectCall => indirect(self.knows(pc, target)),
            BranchKind::Return | BranchKind::Swap => indirect(self.stack.pop() == Some(target)),
        };
        if matches!(
            kind,
            BranchKind::Call | BranchKind::IndirectCall | BranchKind::Swap
        ) {
            self.stack.push(next);
            let depth = self.is.return_stack as usize;
            self.stack.drain(..self.stack.len().saturating_sub(depth));
        }
        cost
    }
}

fn kinds() -> impl Strategy<Value = BranchKind> {
    prop_oneof![
        8 => Just(BranchKind::Conditional),
        1 => Just(BranchKind::Jump),
        3 => Just(BranchKind::Call),
        2 => Just(BranchKind::IndirectJump),
        1 => Just(BranchKind::IndirectCall),
        3 => Just(BranchKind::Return),
        1 => Just(BranchKind::Swap),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn predictions_are_as_the_slow_model(
        gshare in any::<bool>(),
        counters in 0_u32..8,
        history_bits in 1_u32..=10,
        sets in 0_u32..3,
        target_ways in 1_u32..4,
        all in any::<bool>(),
        return_stack in 0_u32..5,
        branches in prop::collection::vec((0_u64..24, kinds(), any::<bool>(), 0_u64..3), 1..400),
    ) {
        let is = Predictor {
            direction: if gshare { Direction::Gshare } else { Direction::Bimodal },
            counters: 1 << counters,
            history_bits: if gshare { history_bits } else { 0 },
            targets: target_ways << sets,
            target_ways,
            target_buffer: if all { BufferHolds::All } else { BufferHolds::Indirect },
            return_stack,
            ..predictor()
        };
        let mut timing = Timing::new(&parameters(is.clone()), 1, 1);
        let mut model = Model::new(is);
        let mut stalls = 0;
        for (place, kind, taken, target) in branches {
            let pc = 0x8000_0000 + place * 2;
            // Most returns go to the address of a call.
            let target = match kind {
                BranchKind::Return | BranchKind::Swap => model.stack.last().map_or(0, |top| top + target / 2 * 2),
                _ => 0x9000_0000 + target * 2,
            };
            let taken = taken || kind != BranchKind::Conditional;
            let cost = timing.branch(0, pc, kind, taken, target, pc + 4);
            prop_assert_eq!(cost, model.branch(pc, kind, taken, target, pc + 4), "{:?}", kind);
            stalls += cost;
        }
        let counts = timing.counts(0);
        prop_assert_eq!(counts.stall_branch, stalls);
        prop_assert_eq!(counts.mispredictions * MISPREDICT + counts.redirects * REDIRECT, stalls);
    }
}

#[test]
fn a_counter_has_two_bits() {
    let is = Predictor {
        target_buffer: BufferHolds::Indirect,
        ..predictor()
    };
    let mut timing = Timing::new(&parameters(is), 1, 1);
    let mut branch =
        |taken| timing.branch(0, 0x1000, BranchKind::Conditional, taken, 0x900, 0x1004) != 0;
    // Weakly not taken at first; one taken branch makes it weakly taken, three strongly taken.
    assert_eq!(
        [true, true, true, true].map(&mut branch),
        [true, false, false, false]
    );
    assert_eq!(
        [false, true, false, false, false].map(&mut branch),
        [true, false, true, true, false]
    );
}

#[test]
fn a_history_of_the_last_branches_tells_a_pattern() {
    let pattern = |is: Predictor| {
        let mut timing = Timing::new(&parameters(is), 1, 1);
        for step in 0..400 {
            timing.branch(
                0,
                0x1000,
                BranchKind::Conditional,
                step % 4 != 3,
                0x900,
                0x1004,
            );
        }
        timing.counts(0).mispredictions
    };
    let gshare = Predictor {
        direction: Direction::Gshare,
        history_bits: 4,
        ..predictor()
    };
    assert_eq!(
        pattern(predictor()),
        101,
        "the fourth each time, and the very first"
    );
    assert!(pattern(gshare) < 10);
}

#[test]
fn a_return_stack_that_overflows_forgets_the_oldest() {
    let mut timing = Timing::new(&parameters(predictor()), 1, 1);
    for call in 0..6 {
        timing.branch(
            0,
            0x1000 + call * 16,
            BranchKind::Call,
            true,
            0x5000,
            0x1004 + call * 16,
        );
    }
    let mut back = |call: u64| {
        timing.branch(
            0,
            0x5000,
            BranchKind::Return,
            true,
            0x1004 + call * 16,
            0x5004,
        )
    };
    assert_eq!([5, 4, 3, 2].map(&mut back), [0; 4]);
    assert_eq!([1, 0].map(&mut back), [MISPREDICT; 2]);
}

/// Volume I, 20191213, section 2.5, table 2.1.
#[test]
fn kinds_follow_the_link_registers() {
    let jal = |rd: u32| decode(0x6f | rd << 7).expect("jal");
    let jalr = |rd: u32, rs1: u32| decode(0x67 | rd << 7 | rs1 << 15).expect("jalr");
    let kind = |instruction| BranchKind::of(&instruction).expect("a branch");
    assert_eq!([0, 1, 5, 6].map(|rd| kind(jal(rd))), {
        use BranchKind::{Call, Jump};
        [Jump, Call, Call, Jump]
    });
    for rd in 0..32 {
        for rs1 in 0..32 {
            let link = |register| register == 1 || register == 5;
            let expected = match (link(rd), link(rs1)) {
                (false, false) => BranchKind::IndirectJump,
                (false, true) => BranchKind::Return,
                (true, false) => BranchKind::IndirectCall,
                (true, true) if rd == rs1 => BranchKind::IndirectCall,
                (true, true) => BranchKind::Swap,
            };
            assert_eq!(kind(jalr(rd, rs1)), expected, "jalr x{rd},0(x{rs1})");
        }
    }
    assert_eq!(
        kind(decode(0x0000_0063).expect("beq")),
        BranchKind::Conditional
    );
    assert_eq!(BranchKind::of(&decode(0x3020_0073).expect("mret")), None);
    assert_eq!(BranchKind::of(&decode(0x0010_0093).expect("addi")), None);
}

#[test]
fn without_a_predictor_nothing_is_charged() {
    let parameters = Profile::named("mpsoc")
        .expect("it comes with the crate")
        .timing;
    let mut timing = Timing::new(&parameters, 1, 1);
    for taken in [true, false, true] {
        assert_eq!(
            timing.branch(0, 0x1000, BranchKind::Conditional, taken, 0x900, 0x1004),
            0
        );
    }
    assert_eq!(timing.counts(0).branches, 0);
}
