//! Branch prediction: a table of two-bit counters, a branch target buffer, and a return-address stack.

use serde::{Deserialize, Serialize};

use super::parameters::{self, BufferHolds, Direction};
use crate::decode::{Instruction, Operation};

/// The kind of a control transfer, for the predictor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum BranchKind {
    /// A conditional branch.
    Conditional,
    /// `jal` that links nothing.
    Jump,
    /// `jal` that links: the return address is pushed.
    Call,
    /// `jalr` that is neither call nor return.
    IndirectJump,
    /// `jalr` that links: the return address is pushed.
    IndirectCall,
    /// `jalr` to a link register's value: it is popped.
    Return,
    /// `jalr` from one link register to the other: popped, then pushed.
    Swap,
}

impl BranchKind {
    /// The kind of a control transfer, by the hints of Volume I, 20191213, section 2.5, table 2.1 (link registers
    /// are `x1` and `x5`). `None`: the instruction is none that is predicted.
    #[must_use]
    pub const fn of(instruction: &Instruction) -> Option<Self> {
        const fn links(register: u8) -> bool {
            register == 1 || register == 5
        }
        use Operation::{Beq, Bge, Bgeu, Blt, Bltu, Bne, Jal, Jalr};
        Some(match instruction.operation {
            Beq | Bne | Blt | Bge | Bltu | Bgeu => Self::Conditional,
            Jal if links(instruction.rd) => Self::Call,
            Jal => Self::Jump,
            Jalr => match (links(instruction.rd), links(instruction.rs1)) {
                (false, false) => Self::IndirectJump,
                (false, true) => Self::Return,
                (true, true) if instruction.rd != instruction.rs1 => Self::Swap,
                (true, _) => Self::IndirectCall,
            },
            _ => return None,
        })
    }
}

/// The outcome of a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Right,
    /// Right, but the target came late.
    Redirected,
    Wrong,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Target {
    pc: u64,
    target: u64,
}

/// No instruction is at an odd address.
const NO_PC: u64 = 1;

/// A hart's predictor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Predictor {
    /// 0 and 1: not taken; 2 and 3: taken.
    counters: Box<[u8]>,
    history: u64,
    history_mask: u64,
    targets: Box<[Target]>,
    target_ways: usize,
    /// The way to be replaced next, by set.
    next_way: Box<[u8]>,
    direct: bool,
    stack: Box<[u64]>,
    /// Where the next return address goes.
    top: usize,
    depth: usize,
}

impl Predictor {
    pub fn new(parameters: &parameters::Predictor) -> Self {
        let history = match parameters.direction {
            Direction::Bimodal => 0,
            Direction::Gshare => parameters.history_bits,
        };
        Self {
            // Weakly not taken.
            counters: vec![1; parameters.counters as usize].into(),
            history: 0,
            history_mask: (1 << history) - 1,
            targets: vec![
                Target {
                    pc: NO_PC,
                    target: 0
                };
                parameters.targets as usize
            ]
            .into(),
            target_ways: parameters.target_ways as usize,
            next_way: vec![0; (parameters.targets / parameters.target_ways) as usize].into(),
            direct: parameters.target_buffer == BufferHolds::All,
            stack: vec![0; parameters.return_stack as usize].into(),
            top: 0,
            depth: 0,
        }
    }

    /// Whether `other` is a possible state of the same predictor.
    pub fn fits(&self, other: &Self) -> bool {
        (
            self.counters.len(),
            self.history_mask,
            self.targets.len(),
            self.target_ways,
            self.direct,
            self.stack.len(),
        ) == (
            other.counters.len(),
            other.history_mask,
            other.targets.len(),
            other.target_ways,
            other.direct,
            other.stack.len(),
        ) && self.next_way.len() == other.next_way.len()
            && other.top < self.stack.len().max(1)
            && other.depth <= self.stack.len()
            && other.counters.iter().all(|counter| *counter <= 3)
    }

    /// A control transfer at `pc` was executed: how it had been predicted. The predictor learns from it.
    #[inline(always)]
    pub fn branch(
        &mut self,
        pc: u64,
        kind: BranchKind,
        taken: bool,
        target: u64,
        next: u64,
    ) -> Outcome {
        match kind {
            BranchKind::Conditional => {
                let index = ((pc >> 1) ^ self.history) as usize & (self.counters.len() - 1);
                let counter = &mut self.counters[index];
                let predicted = *counter >= 2;
                *counter = if taken {
                    (*counter + 1).min(3)
                } else {
                    counter.saturating_sub(1)
                };
                self.history = (self.history << 1 | u64::from(taken)) & self.history_mask;
                let known = !taken || !self.direct || self.target(pc, target);
                match (predicted == taken, known) {
                    (true, true) => Outcome::Right,
                    (true, false) => Outcome::Redirected,
                    (false, _) => Outcome::Wrong,
                }
            }
            BranchKind::Jump | BranchKind::Call => {
                if kind == BranchKind::Call {
                    self.push(next);
                }
                if !self.direct || self.target(pc, target) {
                    Outcome::Right
                } else {
                    Outcome::Redirected
                }
            }
            BranchKind::IndirectJump | BranchKind::IndirectCall => {
                if kind == BranchKind::IndirectCall {
                    self.push(next);
                }
                if self.target(pc, target) {
                    Outcome::Right
                } else {
                    Outcome::Wrong
                }
            }
            BranchKind::Return | BranchKind::Swap => {
                let predicted = self.pop();
                if kind == BranchKind::Swap {
                    self.push(next);
                }
                if predicted == Some(target) {
                    Outcome::Right
                } else {
                    Outcome::Wrong
                }
            }
        }
    }

    /// Whether the target buffer had this target for `pc`. From now on it has.
    #[inline(always)]
    fn target(&mut self, pc: u64, target: u64) -> bool {
        let set = self.set(pc);
        let ways = &mut self.targets[set * self.target_ways..][..self.target_ways];
        if let Some(entry) = ways.iter_mut().find(|entry| entry.pc == pc) {
            let known = entry.target == target;
            entry.target = target;
            return known;
        }
        self.learn(pc, target);
        false
    }

    /// The set of the target buffer that `pc` is kept in.
    #[inline(always)]
    const fn set(&self, pc: u64) -> usize {
        (pc >> 1) as usize & (self.next_way.len() - 1)
    }

    /// Puts into the target buffer a `pc` that is not there.
    #[inline(never)]
    fn learn(&mut self, pc: u64, target: u64) {
        let set = self.set(pc);
        let ways = &mut self.targets[set * self.target_ways..][..self.target_ways];
        let next = &mut self.next_way[set];
        // A saved state may have any number here.
        let way = usize::from(*next) % self.target_ways;
        ways[way] = Target { pc, target };
        *next = ((way + 1) % self.target_ways) as u8;
    }

    fn push(&mut self, address: u64) {
        if let Some(place) = self.stack.get_mut(self.top) {
            *place = address;
            self.top = (self.top + 1) % self.stack.len();
            self.depth = (self.depth + 1).min(self.stack.len());
        }
    }

    fn pop(&mut self) -> Option<u64> {
        self.depth = self.depth.checked_sub(1)?;
        self.top = self.top.checked_sub(1).unwrap_or(self.stack.len() - 1);
        Some(self.stack[self.top])
    }
}
