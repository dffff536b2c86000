//! What it costs guests to reload cache lines that they lost while they did not have their hart.
//!
//! A watched guest *stops* when its hart leaves it, and *resumes* when the hart runs it again. At a stop the books take
//! a copy of the keys of its hart's L1 caches and of the L2 cache. At the resume they compare it with what is there
//! then: a line that was there and is gone is *lost*. When the guest first asks for a lost line, it pays what the
//! access costs, less what it would have cost if the line were where it was. That sum is the *reload cost*.
//!
//! * It is counted for the guest's own accesses alone: fetches, loads, stores, atomics and page table walks.
//! * A line that is lost and asked for only after a later stop counts where it was lost: lost lines are carried over a
//!   stop, unless the guest waited. What a guest had before it waited is no part of what it does next.
//! * A line that the guest itself evicts after it has resumed is not lost, nor one that another hart evicts then.
//! * A store counts with all the time that its line takes, though the hart continues while the store buffer waits for
//!   it. So the sum is never less than what the guest waits for its lines.
//! * TLBs, predictors and the memory's open rows are not looked at.
//!
//! Stops are told apart by what the hart does until the resume: a *preemption* if another guest has it, or it waits;
//! otherwise only what runs below the guests had it, an *interruption*. After its own call, from which a guest returns
//! at once, nothing is lost: that is what it asked for.
//!
//! Nothing here changes a run. All costs are those that the timing model has charged.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::cache::SHARED;
use super::{Hart, Level2};
use crate::account::Doing;
use crate::privileged::Exception;

/// Whose reload costs to keep books on.
#[derive(Clone, Debug)]
pub struct Watch {
    /// The guests.
    pub guests: Vec<Watched>,
    /// Whether a guest that takes this exception, with these values of a6 and a7, waits, or ends what it did.
    pub is_wait: fn(Exception, [u64; 2]) -> bool,
}

/// A guest to watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watched {
    /// Its VMID.
    pub guest: u16,
    /// The harts, as bits, at which it is the one that is meant. A hart has one such guest of a VMID at most.
    pub harts: u16,
}

/// What a guest has paid for lines that it had lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reloads {
    /// After another guest, or idleness, had its hart.
    pub preemptions: Cost,
    /// After only what is below the guests had its hart.
    pub interruptions: Cost,
}

/// Costs of stops of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Stops after which the guest has resumed.
    pub stops: u64,
    /// Lines that it has reloaded.
    pub lines: u64,
    /// What that has cost, in cycles.
    pub cycles: u64,
    /// The most lines for one stop.
    pub lines_max: u64,
    /// The most cycles for one stop.
    pub cycles_max: u64,
}

impl Cost {
    fn add(&mut self, sum: Sum) {
        self.lines += sum.lines;
        self.cycles += sum.cycles;
        self.lines_max = self.lines_max.max(sum.lines);
        self.cycles_max = self.cycles_max.max(sum.cycles);
    }
}

/// An access of a hart that its L1 cache could not answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Miss {
    pub by: By,
    pub key: u64,
    /// Whether the L2 cache did not have it either.
    pub level2: bool,
    /// The cycles that it took.
    pub cost: u64,
    /// What it takes if the L2 cache has the line.
    pub level2_cost: u64,
    /// What a write takes if the L1 cache has the line, but shared.
    pub upgrade_cost: u64,
}

/// What asks for a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Read,
    Write,
    Fetch,
    /// A walk that asks the L2 cache.
    Walk,
}

/// The books.
#[derive(Clone, Debug)]
pub(super) struct Books {
    watch: Watch,
    books: Vec<Book>,
    /// By hart, whose book it is that the hart runs.
    running: Vec<Option<usize>>,
}

impl Books {
    pub fn new(watch: Watch, harts: usize) -> Self {
        Self {
            books: watch.guests.iter().map(Book::new).collect(),
            watch,
            running: vec![None; harts],
        }
    }

    /// Forgets all but the sums: the caches are others now.
    pub fn forget(&mut self) {
        for book in &mut self.books {
            book.end();
            book.place = Place::Unknown;
        }
        self.running.fill(None);
    }

    pub fn reloads(&self) -> impl Iterator<Item = Reloads> {
        self.books.iter().map(|book| {
            let mut reloads = book.reloads;
            reloads.preemptions.add(book.open[0]);
            reloads.interruptions.add(book.open[1]);
            reloads
        })
    }

    fn find(&self, doing: Doing, hart: usize) -> Option<usize> {
        let Doing::Running {
            guest: Some(guest), ..
        } = doing
        else {
            return None;
        };
        let is_it =
            |book: &Book| book.watched.guest == guest && book.watched.harts >> hart & 1 != 0;
        self.books.iter().position(is_it)
    }

    /// The hart turns `to` something else, by this exception or another way.
    pub fn turn(
        &mut self,
        hart: usize,
        to: Doing,
        exception: Option<(Exception, [u64; 2])>,
        harts: &[Hart],
        level2: &Level2,
    ) {
        let resumes = self.find(to, hart);
        if let Some(index) = self.running[hart]
            && resumes != Some(index)
        {
            self.running[hart] = None;
            let waits = to == Doing::Waiting
                || exception.is_some_and(|(cause, call)| (self.watch.is_wait)(cause, call));
            let leave = match exception {
                _ if waits => Leave::Waits,
                Some(_) => Leave::Calls,
                None => Leave::Interrupted,
            };
            self.books[index].stop(hart, leave, &harts[hart], level2);
        }
        let others = matches!(to, Doing::Waiting | Doing::Running { guest: Some(_), .. });
        if others {
            for (index, book) in self.books.iter_mut().enumerate() {
                if resumes != Some(index) {
                    book.give_way(hart);
                }
            }
        }
        if let Some(index) = resumes
            && self.running[hart] != resumes
        {
            self.running[hart] = resumes;
            self.books[index].resume(hart, &harts[hart], level2);
        }
    }

    /// The hart has asked for a line that its L1 cache did not have.
    #[inline]
    pub fn miss(&mut self, hart: usize, miss: Miss) {
        if let Some(index) = self.running[hart] {
            self.books[index].miss(miss);
        }
    }
}

/// How a guest has left its hart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leave {
    Waits,
    Calls,
    Interrupted,
}

/// Where a guest is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// It has not been seen, or it waits.
    Unknown,
    Running,
    /// It has left this hart; `others`: another guest, or idleness, has had that since.
    Stopped {
        hart: usize,
        leave: Leave,
        others: bool,
    },
}

/// Lines and cycles so far for one stop.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    lines: u64,
    cycles: u64,
}

/// A lost line.
#[derive(Clone, Copy, Debug)]
struct Lost {
    /// Whether in a preemption; otherwise in an interruption.
    preempted: bool,
    /// Whether the L1 cache had it shared.
    shared: bool,
}

/// Lost lines by key.
type LostLines = HashMap<u64, Lost, BuildHasherDefault<KeyHasher>>;

/// One guest's book.
#[derive(Clone, Debug)]
struct Book {
    watched: Watched,
    place: Place,
    /// Keys and states of the lines in its hart's L1 caches at the last stop, and keys of the L2 cache, as they lie
    /// there.
    data: Vec<u64>,
    code: Vec<u64>,
    level2: Vec<u64>,
    lost_data: LostLines,
    lost_code: LostLines,
    lost_level2: LostLines,
    /// Of the last preemption, and of the last interruption.
    open: [Sum; 2],
    reloads: Reloads,
}

impl Book {
    fn new(watched: &Watched) -> Self {
        Self {
            watched: *watched,
            place: Place::Unknown,
            data: Vec::new(),
            code: Vec::new(),
            level2: Vec::new(),
            lost_data: LostLines::default(),
            lost_code: LostLines::default(),
            lost_level2: LostLines::default(),
            open: [Sum::default(); 2],
            reloads: Reloads::default(),
        }
    }

    fn stop(&mut self, hart: usize, leave: Leave, caches: &Hart, level2: &Level2) {
        self.place = Place::Stopped {
            hart,
            leave,
            others: false,
        };
        if leave != Leave::Waits {
            copy(&mut self.data, caches.data.words());
            copy(&mut self.code, caches.code.words());
            copy(&mut self.level2, level2.words());
        }
    }

    /// Another guest, or idleness, has that hart.
    fn give_way(&mut self, by: usize) {
        if let Place::Stopped { hart, others, .. } = &mut self.place
            && *hart == by
        {
            *others = true;
        }
    }

    fn resume(&mut self, on: usize, caches: &Hart, level2: &Level2) {
        match std::mem::replace(&mut self.place, Place::Running) {
            Place::Stopped {
                hart,
                leave,
                others,
            } => {
                let preempted = others || hart != on;
                if preempted && leave == Leave::Waits {
                    self.end();
                    return;
                }
                self.lost_data.retain(|key, _| caches.data.state(*key) == 0);
                self.lost_code.retain(|key, _| caches.code.state(*key) == 0);
                self.lost_level2
                    .retain(|key, _| level2.find(*key).is_none());
                if preempted || leave == Leave::Interrupted {
                    self.lose(preempted, caches, level2);
                }
            }
            Place::Unknown | Place::Running => self.end(),
        }
    }

    /// Finds what is gone since the stop.
    fn lose(&mut self, preempted: bool, caches: &Hart, level2: &Level2) {
        self.close(preempted);
        let kind = if preempted {
            &mut self.reloads.preemptions
        } else {
            &mut self.reloads.interruptions
        };
        kind.stops += 1;
        let lost = |shared| Lost { preempted, shared };
        for (lines, before, now) in [
            (&mut self.lost_data, &self.data, &caches.data),
            (&mut self.lost_code, &self.code, &caches.code),
        ] {
            let gone = gone(before, now.words(), now.ways());
            for word in gone.filter(|word| now.state(word & !3) == 0) {
                lines.insert(word & !3, lost(word & 3 == SHARED));
            }
        }
        let gone = gone(&self.level2, level2.words(), level2.ways());
        for word in gone.filter(|word| level2.find(word & !3).is_none()) {
            self.lost_level2.insert(word & !3, lost(false));
        }
    }

    fn miss(&mut self, miss: Miss) {
        let level1 = match miss.by {
            By::Read | By::Write => self.lost_data.remove(&miss.key),
            By::Fetch => self.lost_code.remove(&miss.key),
            By::Walk => None,
        };
        let level2 = self.lost_level2.remove(&miss.key);
        let (lost, otherwise) = match (level1, level2) {
            (Some(lost), _) if lost.shared && miss.by == By::Write => (lost, miss.upgrade_cost),
            (Some(lost), _) => (lost, 0),
            (None, Some(lost)) if miss.level2 => (lost, miss.level2_cost),
            _ => return,
        };
        let sum = &mut self.open[usize::from(!lost.preempted)];
        sum.lines += 1;
        sum.cycles += miss.cost.saturating_sub(otherwise);
    }

    /// Closes the sum of the last stop of that kind.
    fn close(&mut self, preempted: bool) {
        if preempted {
            self.reloads
                .preemptions
                .add(std::mem::take(&mut self.open[0]));
        } else {
            self.reloads
                .interruptions
                .add(std::mem::take(&mut self.open[1]));
        }
    }

    /// What it did has ended: nothing is lost any more.
    fn end(&mut self) {
        self.close(true);
        self.close(false);
        self.lost_data.clear();
        self.lost_code.clear();
        self.lost_level2.clear();
    }
}

fn copy(to: &mut Vec<u64>, from: &[u64]) {
    to.clear();
    to.extend_from_slice(from);
}

/// The lines of the sets that have changed.
fn gone<'a>(before: &'a [u64], now: &'a [u64], ways: usize) -> impl Iterator<Item = u64> + 'a {
    let sets = before.chunks_exact(ways).zip(now.chunks_exact(ways));
    let changed = sets.filter(|(before, now)| before != now);
    let words = changed.flat_map(|(before, _)| before.iter().copied());
    words.filter(|word| *word != 0)
}

/// Spreads keys, whose low bits are zero.
#[derive(Clone, Copy, Debug, Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, key: u64) {
        // Fibonacci hashing: the golden ratio's odd multiple in 64 bits.
        let product = (self.0 ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ product >> 32;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
