//! The store buffer: stores that a hart has done with, and memory or a device not yet.

use serde::{Deserialize, Serialize};

use super::is_time;
use super::parameters::{self, MAX_STORES};

/// The line of an entry that is a write to a device.
const NO_LINE: u64 = u64::MAX;

/// A first-in first-out buffer. Only stores that need more than the own L1 cache enter it; those that hit there are
/// done at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoreBuffer {
    capacity: u8,
    outstanding: u8,
    forward: bool,
    first: u8,
    used: u8,
    /// When the entry is done, by its place in the ring; rising from the first.
    done: [u64; MAX_STORES],
    lines: [u64; MAX_STORES],
    /// When the last entry is done.
    end: u64,
    /// When the last write to a device is.
    device_end: u64,
    /// Up to when a load must look here for its line.
    watch: u64,
}

impl StoreBuffer {
    /// A buffer as the profile has it; without one, every store waits until it is done.
    pub fn new(parameters: Option<&parameters::StoreBuffer>) -> Self {
        let (capacity, outstanding, forward) = parameters.map_or((0, 1, false), |buffer| {
            (buffer.entries, buffer.outstanding, buffer.forward)
        });
        Self {
            capacity,
            outstanding,
            forward,
            first: 0,
            used: 0,
            done: [0; MAX_STORES],
            lines: [NO_LINE; MAX_STORES],
            end: 0,
            device_end: 0,
            watch: 0,
        }
    }

    /// Whether `other` is a possible state of the same buffer.
    pub fn fits(&self, other: &Self) -> bool {
        self.capacity == other.capacity
            && self.outstanding == other.outstanding
            && self.forward == other.forward
            && (other.first as usize) < MAX_STORES
            && other.used <= other.capacity
            && other.done.iter().all(|done| is_time(*done))
            && [other.end, other.device_end, other.watch]
                .into_iter()
                .all(is_time)
    }

    const fn place(&self, index: u8) -> usize {
        (self.first as usize + index as usize) % MAX_STORES
    }

    fn drop_done(&mut self, now: u64) {
        while self.used > 0 && self.done[self.first as usize] <= now {
            self.first = self.place(1) as u8;
            self.used -= 1;
        }
    }

    /// Inserts a store that takes `duration` cycles from its start; returns the hart's stall until an entry is free.
    fn push(&mut self, line: u64, duration: u64, now: u64) -> u64 {
        if self.capacity == 0 {
            // The hart waits itself, so nothing is left to wait for.
            return duration;
        }
        self.drop_done(now);
        let mut stall = 0;
        if self.used == self.capacity {
            stall = self.done[self.first as usize] - now;
            self.first = self.place(1) as u8;
            self.used -= 1;
        }
        // It begins when no more than `outstanding - 1` of those before it are under way, and is done after them.
        let mut begin = now + stall;
        if self.used >= self.outstanding {
            begin = begin.max(self.done[self.place(self.used - self.outstanding)]);
        }
        let done = (begin + duration).max(self.end);
        let place = self.place(self.used);
        self.done[place] = done;
        self.lines[place] = line;
        self.used += 1;
        self.end = done;
        if !self.forward && line != NO_LINE {
            self.watch = done;
        }
        stall
    }

    /// A store to memory: `line` is its line's key.
    pub fn store(&mut self, line: u64, duration: u64, now: u64) -> u64 {
        self.push(line, duration, now)
    }

    /// A write to a device that the hart does not wait for.
    pub fn post(&mut self, duration: u64, now: u64) -> u64 {
        let stall = self.push(NO_LINE, duration, now);
        self.device_end = self.end;
        stall
    }

    /// Whether a load at `now` need not ask [`line_wait`](Self::line_wait).
    #[inline]
    pub const fn is_quiet(&self, now: u64) -> bool {
        now >= self.watch
    }

    /// How long a load of the line waits for a store to it that is still on its way.
    pub fn line_wait(&self, line: u64, now: u64) -> u64 {
        if self.forward {
            return 0;
        }
        (0..self.used)
            .map(|index| self.place(index))
            .filter(|&place| self.lines[place] == line)
            .map(|place| self.done[place].saturating_sub(now))
            .max()
            .unwrap_or(0)
    }

    /// How long until all of it is done.
    pub const fn drain_wait(&self, now: u64) -> u64 {
        self.end.saturating_sub(now)
    }

    /// How long until the writes to devices are.
    pub const fn device_wait(&self, now: u64) -> u64 {
        self.device_end.saturating_sub(now)
    }

    /// Entries in use at `now`.
    pub fn used(&mut self, now: u64) -> usize {
        self.drop_done(now);
        self.used as usize
    }
}
