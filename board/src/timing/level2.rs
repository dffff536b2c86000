//! The shared level-2 cache, which has every line that an L1 cache has, and the directory in it.

use serde::{Deserialize, Serialize};

use super::parameters::{self, Replacement};
use super::random::Random;

const VALID: u64 = 1;
const DIRTY: u64 = 2;
const NOBODY: u8 = u8::MAX;

/// A line, and which L1 caches have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Line {
    /// The key, as the L1 caches have it, and two bits of state.
    word: u64,
    /// The harts whose data cache has the line.
    pub sharers: u16,
    /// The harts whose instruction cache may have the line: it is not told when one drops it.
    pub fetchers: u16,
    owner: u8,
}

impl Line {
    const EMPTY: Self = Self {
        word: 0,
        sharers: 0,
        fetchers: 0,
        owner: NOBODY,
    };

    const fn new(key: u64) -> Self {
        Self {
            word: key | VALID,
            ..Self::EMPTY
        }
    }

    pub const fn key(&self) -> u64 {
        self.word & !3
    }

    pub const fn is_dirty(&self) -> bool {
        self.word & DIRTY != 0
    }

    pub const fn set_dirty(&mut self) {
        self.word |= DIRTY;
    }

    /// The hart whose data cache has the line alone, exclusive or modified.
    pub const fn owner(&self) -> Option<usize> {
        if self.owner == NOBODY {
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

    /// Leaves the line to whoever shares it.
    pub const fn disown(&mut self) {
        self.owner = NOBODY;
    }
}

/// The cache. Sets lie side by side; with LRU replacement the most recently used line comes first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Level2 {
    ways: usize,
    mask: u64,
    random: Option<Random>,
    lines: Box<[Line]>,
}

impl Level2 {
    pub fn new(shape: &parameters::Cache, seed: u64, stream: u64) -> Self {
        Self {
            ways: shape.ways as usize,
            mask: shape.sets() - 1,
            random: match shape.replacement {
                Replacement::Random => Some(Random::new(seed, stream)),
                Replacement::Lru => None,
            },
            lines: vec![Line::EMPTY; (shape.sets() * u64::from(shape.ways)) as usize].into(),
        }
    }

    /// Whether `other` is a cache of the same size and kind, and names no hart beyond `harts`.
    pub fn fits(&self, other: &Self, harts: usize) -> bool {
        let all = ((1_u32 << harts) - 1) as u16;
        (
            self.ways,
            self.mask,
            self.lines.len(),
            self.random.is_some(),
        ) == (
            other.ways,
            other.mask,
            other.lines.len(),
            other.random.is_some(),
        ) && other.lines.iter().all(|line| {
            (line.sharers | line.fetchers) & !all == 0
                && line.owner().is_none_or(|owner| owner < harts)
        })
    }

    fn set(&self, key: u64) -> std::ops::Range<usize> {
        let first = (key >> 2 & self.mask) as usize * self.ways;
        first..first + self.ways
    }

    /// Finds a line by its key and makes it the most recently used.
    #[inline]
    pub fn look_up(&mut self, key: u64) -> Option<&mut Line> {
        let range = self.set(key);
        let set = &mut self.lines[range];
        let way = set
            .iter()
            .position(|line| (line.word ^ key) & !DIRTY == VALID)?;
        if self.random.is_some() {
            return Some(&mut set[way]);
        }
        set[..=way].rotate_right(1);
        Some(&mut set[0])
    }

    /// The same without making it the most recently used.
    pub fn find(&mut self, key: u64) -> Option<&mut Line> {
        let range = self.set(key);
        self.lines[range]
            .iter_mut()
            .find(|line| (line.word ^ key) & !DIRTY == VALID)
    }

    /// Puts in a line that is not there, and gives the one that had to make room.
    #[inline]
    pub fn insert(&mut self, key: u64) -> (&mut Line, Option<Line>) {
        let range = self.set(key);
        let set = &mut self.lines[range];
        let way = match (set.iter().position(|line| line.word == 0), &mut self.random) {
            (Some(way), _) => way,
            (None, Some(random)) => random.below(set.len()),
            (None, None) => set.len() - 1,
        };
        let victim = std::mem::replace(&mut set[way], Line::new(key));
        let way = if self.random.is_some() {
            way
        } else {
            set[..=way].rotate_right(1);
            0
        };
        (&mut set[way], (victim.word != 0).then_some(victim))
    }

    /// Takes a line out.
    pub fn remove(&mut self, key: u64) -> Option<Line> {
        let range = self.set(key);
        let set = &mut self.lines[range];
        let way = set
            .iter()
            .position(|line| (line.word ^ key) & !DIRTY == VALID)?;
        let line = set[way];
        // Empty places stay behind the lines in use, so that these keep their order.
        set[way..].rotate_left(1);
        set[set.len() - 1] = Line::EMPTY;
        Some(line)
    }

    /// All lines.
    pub fn iter(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(|line| line.word != 0)
    }
}
