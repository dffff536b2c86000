//! Which cache lines guests use from when their timer wakes them until they wait again.
//!
//! A watched guest *wakes* when it has waited and its hart runs it with its timer interrupt pending. Then all caches
//! are emptied, so that the first use of each line is a miss, whatever was in them; that is written down. So a run
//! whose wakes are watched is not the run without: each wake is as slow as one beside guests that evict everything.
//!
//! * The guest's own fetches, loads, stores and atomics count, and what its page table walks read through the L1 cache.
//! * A wake goes on while the guest is preempted, or calls and does not wait.

use super::reloads::{Watch, Watched};
use crate::account::Doing;
use crate::privileged::Exception;

/// Wakes that are kept.
const WAKES: usize = 4096;
/// Lines of a wake that are kept: the first ones.
const LINES: usize = 1024;

/// What a guest has used from when its timer woke it until it waited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wake {
    /// The guest, by its place in [`Watch::guests`].
    pub guest: usize,
    /// The hart that it began on.
    pub hart: usize,
    /// The hart's cycle when the guest had it.
    pub begin: u64,
    /// The lines, each once, in the order of their first uses.
    pub lines: Vec<Use>,
}

/// The first use of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// Its first byte's physical address.
    pub physical: u64,
    /// The hart's cycle.
    pub cycle: u64,
    /// It was fetched; otherwise loaded or stored.
    pub code: bool,
}

/// The wakes of watched guests.
#[derive(Clone, Debug)]
pub(super) struct Wakes {
    watch: Watch,
    guests: Vec<Guest>,
    /// By hart, which of the guests it runs.
    running: Vec<Option<usize>>,
    done: Vec<Wake>,
}

#[derive(Clone, Debug)]
struct Guest {
    watched: Watched,
    state: State,
    wake: Option<Wake>,
}

/// Where a guest is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It runs, or something else has its hart for a while.
    Active,
    /// It has made a call that waits, of this hart, if the hart turns to anything else but the hypervisor.
    Leaves(usize),
    Waits,
}

impl Wakes {
    pub fn new(watch: Watch, harts: usize) -> Self {
        let guest = |watched: &Watched| Guest {
            watched: *watched,
            state: State::Active,
            wake: None,
        };
        Self {
            guests: watch.guests.iter().map(guest).collect(),
            watch,
            running: vec![None; harts],
            done: Vec::new(),
        }
    }

    /// Takes the wakes that have ended.
    pub fn take(&mut self) -> Vec<Wake> {
        std::mem::take(&mut self.done)
    }

    /// The hart turns `to` something else, by this exception or another way. `timer`: the guest's timer interrupt is
    /// pending. Whether a guest wakes, so that the caches are to be emptied.
    pub fn turn(
        &mut self,
        (hart, cycle): (usize, u64),
        to: Doing,
        exception: Option<(Exception, [u64; 2])>,
        timer: bool,
    ) -> bool {
        let is_it = |guest: &Guest| {
            let Watched { guest: own, harts } = guest.watched;
            let has_it = matches!(to, Doing::Running { guest: Some(other), .. } if other == own);
            has_it && harts >> hart & 1 != 0
        };
        let next = self.guests.iter().position(is_it);
        let last = std::mem::replace(&mut self.running[hart], next);
        if let Some(index) = last.filter(|_| next != last) {
            let waits = exception.is_some_and(|(cause, call)| (self.watch.is_wait)(cause, call));
            if to == Doing::Waiting {
                self.wait(index);
            } else if waits {
                self.guests[index].state = State::Leaves(hart);
            }
        }
        if matches!(to, Doing::Waiting | Doing::Running { guest: Some(_), .. }) {
            for index in 0..self.guests.len() {
                if next != Some(index) && self.guests[index].state == State::Leaves(hart) {
                    self.wait(index);
                }
            }
        }
        let Some(index) = next.filter(|_| next != last) else {
            return false;
        };
        let has_waited = self.guests[index].state != State::Active;
        if has_waited && (timer || self.guests[index].state == State::Waits) {
            self.wait(index);
        }
        self.guests[index].state = State::Active;
        let wakes = has_waited && timer;
        if wakes {
            self.guests[index].wake = Some(Wake {
                guest: index,
                hart,
                begin: cycle,
                lines: Vec::new(),
            });
        }
        wakes
    }

    /// The guest waits: its wake has ended.
    fn wait(&mut self, index: usize) {
        self.guests[index].state = State::Waits;
        if let Some(wake) = self.guests[index].wake.take()
            && self.done.len() < WAKES
        {
            self.done.push(wake);
        }
    }

    /// The hart has asked for a line that its L1 cache did not have.
    pub fn miss(&mut self, hart: usize, line: Use) {
        let Some(index) = self.running[hart] else {
            return;
        };
        if let Some(wake) = &mut self.guests[index].wake
            && wake.lines.len() < LINES
            && wake
                .lines
                .iter()
                .all(|other| other.physical != line.physical)
        {
            wake.lines.push(line);
        }
    }
}
