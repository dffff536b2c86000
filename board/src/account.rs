//! Accounts of the harts' cycles: by guest and privilege level, and waiting.

use crate::privileged::Privilege;

/// The activity of a hart, as far as accounts distinguish it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub enum Doing {
    /// It waits for an interrupt (`wfi`).
    Waiting,
    /// It runs at a privilege level, of the machine itself or of a guest.
    Running {
        /// The guest: the VMID of `hgatp`. `None`: not virtualized.
        guest: Option<u16>,
        /// The nominal privilege level.
        privilege: Privilege,
    },
}

/// A line of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Spent {
    /// The activity.
    pub on: Doing,
    /// How many cycles.
    pub cycles: u64,
    /// How many instructions were retired in them.
    pub instructions: u64,
}

/// A hart's account.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Account {
    /// In the order in which they came up first.
    lines: Vec<Spent>,
    /// The line that cycles are going to.
    current: usize,
    since_cycle: u64,
    since_instructions: u64,
}

impl Account {
    /// Of a hart that is in M-mode and has done nothing.
    pub(crate) fn new() -> Self {
        let on = Doing::Running {
            guest: None,
            privilege: Privilege::Machine,
        };
        Self {
            lines: vec![Spent {
                on,
                cycles: 0,
                instructions: 0,
            }],
            current: 0,
            since_cycle: 0,
            since_instructions: 0,
        }
    }

    /// The current activity of the hart.
    pub(crate) fn current(&self) -> Doing {
        self.lines[self.current].on
    }

    /// Writes down what went to the current line.
    pub(crate) fn settle(&mut self, cycle: u64, instructions: u64) {
        let line = &mut self.lines[self.current];
        // What was read back from outside may hold any numbers.
        line.cycles = line
            .cycles
            .wrapping_add(cycle.wrapping_sub(self.since_cycle));
        line.instructions = line
            .instructions
            .wrapping_add(instructions.wrapping_sub(self.since_instructions));
        self.since_cycle = cycle;
        self.since_instructions = instructions;
    }

    /// From here on the hart does something else.
    pub(crate) fn turn_to(&mut self, on: Doing, cycle: u64, instructions: u64) {
        self.settle(cycle, instructions);
        self.current = match self.lines.iter().position(|line| line.on == on) {
            Some(index) => index,
            None => {
                self.lines.push(Spent {
                    on,
                    cycles: 0,
                    instructions: 0,
                });
                self.lines.len() - 1
            }
        };
    }

    /// Whether one that was read from outside can be gone on with.
    pub(crate) fn is_sound(&self) -> bool {
        self.current < self.lines.len()
    }

    /// All lines.
    pub(crate) fn lines(&self) -> &[Spent] {
        &self.lines
    }
}
