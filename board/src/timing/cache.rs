//! A level-1 cache: which lines are in it, and in which state.
//!
//! A set's lines lie side by side, the most recently used first, so that a hit in that one is found with one compare
//! and changes nothing. With LRU replacement the others follow in order of use; with random replacement their order
//! means nothing. Empty places are always the last of a set.

use serde::{Deserialize, Serialize};

use super::parameters::{self, Replacement};
use crate::random::Random;

/// State of a line: the low two bits of its word. Zero is an empty place.
pub(super) const SHARED: u64 = 1;
/// No other L1 data cache has the line, and it is clean.
pub(super) const EXCLUSIVE: u64 = 2;
/// No other L1 data cache has the line, and it is dirty.
pub(super) const MODIFIED: u64 = 3;

/// A cache. Lines are named by keys: the physical address without the bits within a line, above two zero bits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Cache {
    shift: u32,
    ways: usize,
    mask: u64,
    random: Option<Random>,
    lines: Box<[u64]>,
}

impl Cache {
    pub fn new(shape: &parameters::Cache, seed: u64, stream: u64) -> Self {
        Self {
            shift: shape.line.trailing_zeros(),
            ways: shape.ways as usize,
            mask: shape.sets() - 1,
            random: match shape.replacement {
                Replacement::Random => Some(Random::new(seed, stream)),
                Replacement::Lru => None,
            },
            lines: vec![0; (shape.sets() * u64::from(shape.ways)) as usize].into(),
        }
    }

    /// A cache that has no line ever. All addresses have the key 0 in it.
    pub fn none() -> Self {
        Self {
            shift: 63,
            ways: 1,
            mask: 0,
            random: None,
            lines: Box::new([0]),
        }
    }

    /// Whether `other` is a cache of the same size and kind.
    pub fn fits(&self, other: &Self) -> bool {
        (
            self.shift,
            self.ways,
            self.mask,
            self.lines.len(),
            self.random.is_some(),
        ) == (
            other.shift,
            other.ways,
            other.mask,
            other.lines.len(),
            other.random.is_some(),
        )
    }

    /// The key of the line that holds `physical`.
    #[inline]
    pub const fn key(&self, physical: u64) -> u64 {
        physical >> self.shift << 2
    }

    /// The place of the most recently used line of the key's set.
    #[inline]
    pub const fn first(&self, key: u64) -> usize {
        (key >> 2 & self.mask) as usize * self.ways
    }

    /// The state of the line if it is the most recently used of its set; else 0 or more than 3.
    #[inline]
    pub fn recent(&self, key: u64) -> u64 {
        self.lines[self.first(key)] ^ key
    }

    /// Finds a line, makes it the most recently used and gives its state. 0: it is not there.
    #[inline]
    pub fn look_up(&mut self, key: u64) -> u64 {
        let first = self.first(key);
        let set = &mut self.lines[first..first + self.ways];
        for way in 0..set.len() {
            let state = set[way] ^ key;
            if state.wrapping_sub(1) < 3 {
                if self.random.is_some() {
                    set.swap(0, way);
                } else {
                    let line = set[way];
                    set.copy_within(..way, 1);
                    set[0] = line;
                }
                return state;
            }
        }
        0
    }

    /// The state of a line; nothing changes. 0: it is not there.
    pub fn state(&self, key: u64) -> u64 {
        let first = self.first(key);
        self.lines[first..first + self.ways]
            .iter()
            .map(|line| line ^ key)
            .find(|state| (1..4).contains(state))
            .unwrap_or(0)
    }

    /// Changes the state (1 to 3) of a line, if it is there, and gives what it was.
    pub fn set_state(&mut self, key: u64, state: u64) -> u64 {
        let first = self.first(key);
        for line in &mut self.lines[first..first + self.ways] {
            let old = *line ^ key;
            if (1..4).contains(&old) {
                *line = key | state;
                return old;
            }
        }
        0
    }

    /// Puts in a line that is not there, as the most recently used, and gives the line that had to make room as key
    /// and state. 0: there was room.
    #[inline]
    pub fn insert(&mut self, key: u64, state: u64) -> u64 {
        let first = self.first(key);
        let set = &mut self.lines[first..first + self.ways];
        let last = set.len() - 1;
        if let Some(random) = &mut self.random {
            let way = if set[last] == 0 {
                set.iter().position(|&line| line == 0).unwrap_or(last)
            } else {
                random.below(set.len())
            };
            let victim = set[way];
            set[way] = set[0];
            set[0] = key | state;
            victim
        } else {
            let victim = set[last];
            set.copy_within(..last, 1);
            set[0] = key | state;
            victim
        }
    }

    /// Takes a line out and gives its state. 0: it was not there.
    pub fn remove(&mut self, key: u64) -> u64 {
        let first = self.first(key);
        let set = &mut self.lines[first..first + self.ways];
        for way in 0..set.len() {
            let state = set[way] ^ key;
            if (1..4).contains(&state) {
                set.copy_within(way + 1.., way);
                set[self.ways - 1] = 0;
                return state;
            }
        }
        0
    }

    /// Takes all lines out.
    pub fn clear(&mut self) {
        self.lines.fill(0);
    }

    /// The lowest bit of a physical address that is a tag's: those below are of the set, or within a line.
    pub const fn first_tag_bit(&self) -> u32 {
        self.shift + self.mask.count_ones()
    }

    /// Changes the bit of a tag that is a physical address's of this number, where there is a line.
    pub fn flip_tag(&mut self, place: usize, bit: u32) {
        if self.lines[place] != 0 {
            self.lines[place] ^= 1 << (bit - self.shift + 2);
        }
    }

    /// All places, as they lie there: keys with their states, 0 where there is no line.
    pub fn words(&self) -> &[u64] {
        &self.lines
    }

    /// Places of a set.
    pub const fn ways(&self) -> usize {
        self.ways
    }

    /// Keys and states of all lines.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.lines
            .iter()
            .filter(|&&line| line != 0)
            .map(|line| (line & !3, line & 3))
    }
}
