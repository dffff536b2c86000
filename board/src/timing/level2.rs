//! The shared level-2 cache, which has every line that an L1 cache has, and the directory in it.
//!
//! Sets lie side by side. With LRU replacement the lines of a set are in the order of use, the most recently used
//! first; with random replacement they stay where they are. Empty places are the last of a set.
//!
//! Keys and what is known of the lines are apart, so that a search reads little memory.
//!
//! Lines of the memory on the chip are in the directory as well, all of them always, and in no set.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::parameters::{self, Replacement};
use crate::random::Random;

/// Marks the key of a line that is there. Keys have two zero bits.
const VALID: u64 = 1;
const NO_OWNER: u8 = u8::MAX;

/// The directory entry of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Line {
    /// The harts whose data cache has it.
    pub sharers: u16,
    /// The harts whose instruction cache may have it: evictions there are not reported.
    pub fetchers: u16,
    owner: u8,
    /// Whether it must be written back when it leaves.
    pub dirty: bool,
}

impl Line {
    const NEW: Self = Self {
        sharers: 0,
        fetchers: 0,
        owner: NO_OWNER,
        dirty: false,
    };

    /// The hart whose data cache has the line alone, exclusive or modified.
    pub const fn owner(&self) -> Option<usize> {
        if self.owner == NO_OWNER {
            None
        } else {
            Some(self.owner as usize)
        }
    }

    /// Makes `hart` the one that has the line.
    pub const fn own(&mut self, hart: usize) {
        self.owner = hart as u8;
        self.sharers = 1 << hart;
    }

    /// Leaves the line to its sharers.
    pub const fn disown(&mut self) {
        self.owner = NO_OWNER;
    }
}

/// The cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Level2 {
    ways: usize,
    mask: u64,
    random: Option<Random>,
    /// The keys as the L1 caches have them, marked; 0 is an empty place.
    keys: Box<[u64]>,
    /// Those of the cache's places, then those of the memory on the chip.
    lines: Box<[Line]>,
    /// Key of the first line on the chip.
    onchip: u64,
}

impl Level2 {
    /// The cache, and the directory of the memory on the chip: its first address and its bytes.
    pub fn new(
        shape: &parameters::Cache,
        onchip: Option<&parameters::Onchip>,
        seed: u64,
        stream: u64,
    ) -> Self {
        let places = (shape.sets() * u64::from(shape.ways)) as usize;
        let (address, bytes) = onchip.map_or((0, 0), |place| (place.address, place.size));
        Self {
            onchip: (address / shape.line) << 2,
            ways: shape.ways as usize,
            mask: shape.sets() - 1,
            random: match shape.replacement {
                Replacement::Random => Some(Random::new(seed, stream)),
                Replacement::Lru => None,
            },
            keys: vec![0; places].into(),
            lines: vec![Line::NEW; places + (bytes / shape.line) as usize].into(),
        }
    }

    /// A cache for a board without one: it is never accessed.
    pub fn none() -> Self {
        Self {
            ways: 1,
            mask: 0,
            random: None,
            keys: Box::new([0]),
            lines: Box::new([Line::NEW]),
            onchip: 0,
        }
    }

    /// Takes all lines out.
    pub fn clear(&mut self) {
        self.keys.fill(0);
        self.lines.fill(Line::NEW);
    }

    /// Whether `other` is a cache of the same size and kind, and names no hart beyond `harts`.
    pub fn fits(&self, other: &Self, harts: usize) -> bool {
        let all = ((1_u32 << harts) - 1) as u16;
        (self.ways, self.mask, self.random.is_some(), self.onchip)
            == (other.ways, other.mask, other.random.is_some(), other.onchip)
            && (self.keys.len(), self.lines.len()) == (other.keys.len(), other.lines.len())
            && other.lines.iter().all(|line| {
                (line.sharers | line.fetchers) & !all == 0
                    && line.owner().is_none_or(|owner| owner < harts)
            })
    }

    const fn set(&self, key: u64) -> Range<usize> {
        let first = (key >> 2 & self.mask) as usize * self.ways;
        first..first + self.ways
    }

    /// Where a line of the memory on the chip is, which is there always. `None`: it is no such line.
    #[inline]
    fn on_chip(&self, key: u64) -> Option<usize> {
        let number = (key.wrapping_sub(self.onchip) >> 2) as usize;
        (number < self.lines.len() - self.keys.len()).then(|| self.keys.len() + number)
    }

    /// Whether it is a line of the memory on the chip.
    #[inline]
    pub fn is_on_chip(&self, key: u64) -> bool {
        self.on_chip(key).is_some()
    }

    /// Where a line is. The place is good until the next call that changes the set.
    #[inline]
    pub fn find(&self, key: u64) -> Option<usize> {
        if let Some(place) = self.on_chip(key) {
            return Some(place);
        }
        let range = self.set(key);
        let way = self.keys[range.clone()]
            .iter()
            .position(|&other| other == key | VALID)?;
        Some(range.start + way)
    }

    /// The line at a place.
    #[inline]
    pub fn line(&mut self, place: usize) -> &mut Line {
        &mut self.lines[place]
    }

    /// Finds a line and makes it the most recently used.
    #[inline]
    pub fn look_up(&mut self, key: u64) -> Option<usize> {
        let place = self.find(key)?;
        if self.random.is_some() || place >= self.keys.len() {
            return Some(place);
        }
        Some(self.move_to_front(key, place))
    }

    fn move_to_front(&mut self, key: u64, place: usize) -> usize {
        let first = self.set(key).start;
        self.keys[first..=place].rotate_right(1);
        self.lines[first..=place].rotate_right(1);
        first
    }

    /// Puts in a line that is not there, as the most recently used: where it is, and the key and the line that had
    /// to make room.
    #[inline]
    pub fn insert(&mut self, key: u64) -> (usize, Option<(u64, Line)>) {
        let range = self.set(key);
        let (first, last) = (range.start, range.end - 1);
        let place = match &mut self.random {
            None => last,
            Some(_) if self.keys[last] == 0 => self.keys[range]
                .iter()
                .position(|&other| other == 0)
                .map_or(last, |way| first + way),
            Some(random) => first + random.below(self.ways),
        };
        let victim = std::mem::replace(&mut self.keys[place], key | VALID);
        let line = std::mem::replace(&mut self.lines[place], Line::NEW);
        let victim = (victim != 0).then_some((victim & !VALID, line));
        if self.random.is_some() {
            return (place, victim);
        }
        (self.move_to_front(key, place), victim)
    }

    /// Takes a line out. One on the chip stays, and no cache has it.
    pub fn remove(&mut self, key: u64) -> Option<Line> {
        let place = self.find(key)?;
        let end = self.set(key).end;
        let line = std::mem::replace(&mut self.lines[place], Line::NEW);
        if place >= self.keys.len() {
            return Some(line);
        }
        self.keys[place] = 0;
        self.keys[place..end].rotate_left(1);
        self.lines[place..end].rotate_left(1);
        Some(line)
    }

    /// As of an L1 cache: the lowest bit of a physical address that is a tag's, with lines of 2^`shift` bytes.
    pub const fn first_tag_bit(&self, shift: u32) -> u32 {
        shift + self.mask.count_ones()
    }

    /// Changes the bit of a tag that is a physical address's of this number, where there is a line.
    pub fn flip_tag(&mut self, place: usize, bit: u32, shift: u32) {
        if self.keys[place] != 0 {
            self.keys[place] ^= 1 << (bit - shift + 2);
        }
    }

    /// All places, as they lie there: keys with a mark in the low bits, 0 where there is no line.
    pub fn words(&self) -> &[u64] {
        &self.keys
    }

    /// Places of a set.
    pub const fn ways(&self) -> usize {
        self.ways
    }

    /// Keys and lines, those on the chip too.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &Line)> {
        let keys = self.keys.iter().map(|key| key & !VALID);
        let cached = keys
            .zip(&self.lines)
            .zip(&self.keys)
            .filter(|(_, key)| **key != 0)
            .map(|(line, _)| line);
        let onchip = self.lines[self.keys.len()..].iter().enumerate();
        cached.chain(onchip.map(|(number, line)| (self.onchip + ((number as u64) << 2), line)))
    }
}
