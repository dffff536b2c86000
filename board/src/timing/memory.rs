//! Main memory's timing: DRAM with open rows, or a fixed time; one channel that all share.
//!
//! Harts run in quanta, so that one may ask for a time that another has long passed. A request therefore never waits
//! for more than one other request of each master: the time by which a hart is behind is not mistaken for a queue.

use serde::{Deserialize, Serialize};

use super::is_time;
use super::parameters::{self, OpenRow};

const CLOSED: u64 = u64::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Bank {
    /// The open row, or [`CLOSED`].
    row: u64,
    /// When it takes the next request.
    free: u64,
    /// In which refresh interval it was used last: a refresh closes its row.
    interval: u64,
}

/// The memory's parameters of the profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Model {
    Fixed {
        latency: u64,
    },
    OpenRow {
        row_shift: u32,
        bank_mask: u64,
        bank_shift: u32,
        costs: OpenRow,
    },
}

/// Main memory. Its state is apart from what the profile says of it.
#[derive(Clone, Debug)]
pub(super) struct MainMemory {
    model: Model,
    transfer: u64,
    masters: u64,
    pub state: State,
}

/// The mutable state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    banks: Box<[Bank]>,
    channel_free: u64,
}

impl State {
    /// Whether `other` is a possible state of the same memory.
    pub fn fits(&self, other: &Self) -> bool {
        self.banks.len() == other.banks.len()
            && is_time(other.channel_free)
            && other.banks.iter().all(|bank| is_time(bank.free))
    }
}

impl MainMemory {
    /// Memory that `masters` share.
    pub fn new(parameters: &parameters::Memory, masters: usize) -> Self {
        let (model, banks) = match parameters {
            parameters::Memory::Fixed(fixed) => (
                Model::Fixed {
                    latency: u64::from(fixed.latency),
                },
                0,
            ),
            parameters::Memory::OpenRow(row) => (
                Model::OpenRow {
                    row_shift: row.row_bytes.trailing_zeros(),
                    bank_mask: u64::from(row.banks) - 1,
                    bank_shift: row.banks.trailing_zeros(),
                    costs: *row,
                },
                row.banks as usize,
            ),
        };
        let transfer = u64::from(parameters.transfer());
        Self {
            model,
            transfer,
            masters: masters as u64,
            state: State {
                banks: vec![
                    Bank {
                        row: CLOSED,
                        free: 0,
                        interval: 0
                    };
                    banks
                ]
                .into(),
                channel_free: 0,
            },
        }
    }

    /// A line, or an uncached word, is read or written: how many cycles after `now` that is done.
    pub fn access(&mut self, physical: u64, now: u64) -> u64 {
        let channel = self
            .state
            .channel_free
            .saturating_sub(now)
            .min(self.transfer * self.masters);
        let (wait, latency) = match &self.model {
            Model::Fixed { latency } => (channel, *latency),
            Model::OpenRow {
                row_shift,
                bank_mask,
                bank_shift,
                costs,
            } => {
                let row = physical >> row_shift;
                let bank = &mut self.state.banks[(row & *bank_mask) as usize];
                let row = row >> bank_shift;
                let busy = u64::from(costs.bank_busy);
                let mut wait = bank
                    .free
                    .saturating_sub(now)
                    .min(busy * self.masters)
                    .max(channel);
                if let Some(interval) = std::num::NonZero::new(u64::from(costs.refresh_interval)) {
                    let begin = now + wait;
                    wait += u64::from(costs.refresh_cycles).saturating_sub(begin % interval);
                    if begin / interval != bank.interval {
                        bank.interval = begin / interval;
                        bank.row = CLOSED;
                    }
                }
                let latency = if bank.row == row {
                    costs.row_hit
                } else if bank.row == CLOSED {
                    costs.row_closed
                } else {
                    costs.row_conflict
                };
                bank.row = row;
                bank.free = bank.free.max(now + wait + busy);
                (wait, u64::from(costs.controller) + u64::from(latency))
            }
        };
        if self.transfer > 0 {
            self.state.channel_free = self.state.channel_free.max(now + wait + self.transfer);
        }
        wait + latency
    }
}
