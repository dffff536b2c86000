//! Main memory's timing: DRAM with open rows, or a fixed time; one channel that all share.
//!
//! A controller that queues writes ([`OpenRow::write_queue`]) serves reads first. It carries writes out when there has
//! been no request for a time, when the queue is full, and when a line is read that is in it. Each opens the row of its
//! line then, not before.
//!
//! Harts run in quanta, so that one may ask for a time that another has long passed. A request therefore never waits
//! for more than one other request of each master: the time by which a hart is behind is not mistaken for a queue.

use serde::{Deserialize, Serialize};

use super::is_time;
use super::parameters::{self, OpenRow};

const CLOSED: u64 = u64::MAX;
/// Most writes that a profile lets a controller queue.
const QUEUE_MAX: usize = 256;

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
    /// Writes that the controller has not carried out, and when they came: the oldest first.
    writes: Vec<(u64, u64)>,
    /// When the last request was carried out, from which it counts the time without any.
    last: u64,
}

impl State {
    /// Whether `other` is a possible state of the same memory.
    pub fn fits(&self, other: &Self) -> bool {
        self.banks.len() == other.banks.len()
            && is_time(other.channel_free)
            && is_time(other.last)
            && other.writes.len() <= QUEUE_MAX
            && other.writes.iter().all(|(_, since)| is_time(*since))
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
                writes: Vec::new(),
                last: 0,
            },
        }
    }

    /// A line, or an uncached word, is read, or written by who waits for it: how many cycles after `now` that is done.
    pub fn access(&mut self, physical: u64, now: u64) -> u64 {
        if !self.state.writes.is_empty() {
            self.write_idly(now);
            let writes = &mut self.state.writes;
            if let Some(index) = writes.iter().position(|(line, _)| *line == physical) {
                writes.remove(index);
                self.serve(physical, now);
            }
        }
        self.serve(physical, now)
    }

    /// A line is written: how many cycles after `now` the controller has it.
    pub fn write(&mut self, physical: u64, now: u64) -> u64 {
        let Model::OpenRow { costs, .. } = &self.model else {
            return self.serve(physical, now);
        };
        let (capacity, latency) = (costs.write_queue as usize, u64::from(costs.controller));
        if capacity == 0 {
            return self.serve(physical, now);
        }
        self.write_idly(now);
        if self.state.writes.len() == capacity {
            for (line, _) in std::mem::take(&mut self.state.writes) {
                self.serve(line, now.max(self.state.channel_free));
            }
        }
        self.state.writes.push((physical, now));
        latency
    }

    /// Carries out the queued writes for which there was time before `now`.
    fn write_idly(&mut self, now: u64) {
        let Model::OpenRow { costs, .. } = &self.model else {
            return;
        };
        let idle = u64::from(costs.write_idle);
        let mut at = self.state.last + idle;
        let mut done = 0;
        while let Some((line, since)) = self.state.writes.get(done).copied() {
            at = at.max(since + idle);
            if at >= now {
                break;
            }
            // The bank's row and the channel: what the controller itself takes goes on beside others.
            at += self.serve(line, at) - self.controller();
            done += 1;
        }
        self.state.writes.drain(..done);
    }

    /// The latency of every access.
    fn controller(&self) -> u64 {
        match &self.model {
            Model::Fixed { .. } => 0,
            Model::OpenRow { costs, .. } => u64::from(costs.controller),
        }
    }

    /// Carries out an access at `now`: when it is done.
    fn serve(&mut self, physical: u64, now: u64) -> u64 {
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
        self.state.last = self.state.last.max(now + wait + self.transfer);
        wait + latency
    }
}
