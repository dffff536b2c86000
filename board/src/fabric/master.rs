//! A port of which the fabric is the master: bursts to and from memory.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{Answers, Requests};
use crate::bus::Port;
use crate::time::{Clock, DriftingClock};

/// Bursts of a kind that wait at a port at most.
const BURSTS_MAX: usize = 8;
/// Words of a burst at most (ARM IHI 0022E, A3.4.1).
const WORDS_MAX: usize = 256;
/// Answers to a master: memory is not there, or something else went wrong.
const DECODE_ERROR: u8 = 3;
const SLAVE_ERROR: u8 = 2;

/// The clocks on both sides, and what crossing costs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sides {
    /// The fabric's.
    pub fabric: DriftingClock,
    /// The harts', and the caches'.
    pub hart: Clock,
    /// Cycles of the receiving side.
    pub crossing: u64,
}

impl Sides {
    /// When what the fabric says at an edge is seen on the other side: a cycle of the harts.
    fn arrives(self, edge: u64) -> u64 {
        self.hart.cycle_from(self.fabric.time_of(edge)) + self.crossing
    }

    /// The fabric's cycle in which it sees what comes at a cycle of the harts.
    fn returns(self, cycle: u64) -> u64 {
        self.fabric.cycle_from(self.hart.time_of(cycle)) + self.crossing
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Read {
    words: VecDeque<u64>,
    response: u8,
    due: u64,
}

/// The slave at such a port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Master {
    /// Whether it looks in the caches.
    coherent: bool,
    reads: VecDeque<Read>,
    /// Addresses of writes, with how many words each has.
    writes: VecDeque<(u64, usize)>,
    /// Words of writes: data, strobes, whether it is a burst's last.
    words: VecDeque<(u64, u8, bool)>,
    /// When writes are answered, and how.
    answers: VecDeque<(u64, u8)>,
    /// Nothing gets through, in either direction.
    pub held: bool,
    /// So many bursts to come are answered with an error.
    pub spoilt: u32,
    /// Words read and written so far.
    pub moved: (u64, u64),
}

impl Master {
    pub fn new(coherent: bool) -> Self {
        Self {
            coherent,
            ..Self::default()
        }
    }

    /// The same after reset; what was moved is counted on.
    pub fn after_reset(&self) -> Self {
        Self {
            moved: self.moved,
            ..Self::new(self.coherent)
        }
    }

    /// The first cycle from `cycle` on in which there is something to do.
    pub fn due(&self, cycle: u64) -> u64 {
        if self.held {
            return u64::MAX;
        }
        let read = self.reads.front().map_or(u64::MAX, |read| read.due);
        let write = self.answers.front().map_or(u64::MAX, |(due, _)| *due);
        read.min(write).max(cycle)
    }

    /// The inputs of the fabric in `cycle`.
    pub fn drive(&self, cycle: u64, answers: &mut Answers) {
        if self.held {
            return;
        }
        answers.arready = u8::from(self.reads.len() < BURSTS_MAX);
        answers.awready = u8::from(self.writes.len() + self.answers.len() < BURSTS_MAX);
        answers.wready = u8::from(self.words.len() < WORDS_MAX);
        if let Some(read) = self.reads.front().filter(|read| read.due <= cycle) {
            answers.rvalid = 1;
            answers.rdata = read.words.front().copied().unwrap_or(0);
            answers.rresp = read.response;
            answers.rlast = u8::from(read.words.len() <= 1);
        }
        if let Some((_, response)) = self.answers.front().filter(|(due, _)| *due <= cycle) {
            answers.bvalid = 1;
            answers.bresp = *response;
        }
    }

    /// Processes the clock edge `edge`: `requests` and `answers` are those of the cycle before it.
    pub fn edge(
        &mut self,
        edge: u64,
        requests: &Requests,
        answers: &Answers,
        sides: Sides,
        port: &mut Port<'_>,
    ) {
        let both = |valid: u8, ready: u8| valid & ready != 0;
        if both(answers.rvalid, requests.rready)
            && let Some(read) = self.reads.front_mut()
        {
            read.words.pop_front();
            self.moved.0 += 1;
            if read.words.is_empty() {
                self.reads.pop_front();
            }
        }
        if both(answers.bvalid, requests.bready) {
            self.answers.pop_front();
        }
        if both(requests.arvalid, answers.arready) {
            self.read(
                edge,
                requests.araddr & !7,
                usize::from(requests.arlen) + 1,
                sides,
                port,
            );
        }
        if both(requests.awvalid, answers.awready) {
            self.writes
                .push_back((requests.awaddr & !7, usize::from(requests.awlen) + 1));
        }
        if both(requests.wvalid, answers.wready) {
            self.words
                .push_back((requests.wdata, requests.wstrb, requests.wlast != 0));
        }
        while let Some(&(address, count)) = self.writes.front()
            && self.words.len() >= count
        {
            self.writes.pop_front();
            self.write(edge, address, count, sides, port);
        }
    }

    /// Whether the next burst is to be answered with an error.
    fn spoil(&mut self) -> bool {
        let spoilt = self.spoilt > 0;
        self.spoilt = self.spoilt.saturating_sub(1);
        spoilt
    }

    fn read(&mut self, edge: u64, address: u64, count: usize, sides: Sides, port: &mut Port<'_>) {
        let arrives = sides.arrives(edge);
        let mut bytes = vec![0; 8 * count];
        let mut done = arrives;
        let response = if self.spoil() {
            SLAVE_ERROR
        } else {
            match port.read_as_master(self.coherent, address, &mut bytes, arrives) {
                Ok(cycles) => {
                    done += cycles;
                    0
                }
                Err(_) => DECODE_ERROR,
            }
        };
        if response != 0 {
            bytes.fill(0);
        }
        let words = bytes
            .as_chunks::<8>()
            .0
            .iter()
            .map(|word| u64::from_le_bytes(*word))
            .collect();
        self.reads.push_back(Read {
            words,
            response,
            due: sides.returns(done),
        });
    }

    fn write(&mut self, edge: u64, address: u64, count: usize, sides: Sides, port: &mut Port<'_>) {
        let arrives = sides.arrives(edge);
        let burst: Vec<_> = self.words.drain(..count).collect();
        self.moved.1 += count as u64;
        // The last word says so, and no other one does (A3.4.1).
        let marked = burst
            .iter()
            .enumerate()
            .all(|(index, (.., last))| *last == (index + 1 == count));
        let mut done = arrives;
        let response = if self.spoil() || !marked {
            SLAVE_ERROR
        } else {
            let bytes: Vec<u8> = burst
                .iter()
                .flat_map(|(word, ..)| word.to_le_bytes())
                .collect();
            let strobes: Vec<u8> = burst.iter().map(|(_, strobes, _)| *strobes).collect();
            match port.write_as_fabric(self.coherent, address, &bytes, &strobes, arrives) {
                Ok(cycles) => {
                    done += cycles;
                    0
                }
                Err(_) => DECODE_ERROR,
            }
        };
        // Answers come in the order of the bursts.
        let due = self.answers.back().map_or(0, |(due, _)| *due);
        self.answers
            .push_back((due.max(sides.returns(done)), response));
    }

    /// Whether this is a state that a run can come to.
    pub fn is_sound(&self, coherent: bool) -> bool {
        let time = |cycle: u64| cycle < 1 << 62;
        self.coherent == coherent
            && self.reads.len() <= BURSTS_MAX
            && self.writes.len() + self.answers.len() <= BURSTS_MAX
            && self.words.len() <= WORDS_MAX
            && self
                .reads
                .iter()
                .all(|read| time(read.due) && (1..=WORDS_MAX).contains(&read.words.len()))
            && self
                .writes
                .iter()
                .all(|(_, count)| (1..=WORDS_MAX).contains(count))
            && self.answers.iter().all(|(due, _)| time(*due))
    }
}
