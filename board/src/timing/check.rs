//! Looking into the models, for tests and debugging. Nothing here changes or costs anything.

use super::Timing;
use super::cache::{EXCLUSIVE, MODIFIED, SHARED};

/// State of a line in an L1 data cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LineState {
    /// Not there.
    Invalid,
    /// Clean, and others may have it.
    Shared,
    /// Clean, and no other L1 data cache has it.
    Exclusive,
    /// Dirty, and no other L1 data cache has it.
    Modified,
}

/// Where a line is, seen from a hart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Held {
    /// In the hart's L1 data cache.
    pub data: LineState,
    /// Whether it is in the hart's L1 instruction cache.
    pub code: bool,
    /// Whether it is in the L2 cache.
    pub level2: bool,
}

impl Timing {
    /// Where the line that holds `physical` is.
    #[must_use]
    pub fn held(&self, hart: usize, physical: u64) -> Held {
        let this = &self.harts[hart];
        let key = this.data.key(physical);
        Held {
            data: match this.data.state(key) {
                SHARED => LineState::Shared,
                EXCLUSIVE => LineState::Exclusive,
                MODIFIED => LineState::Modified,
                _ => LineState::Invalid,
            },
            code: this.code.state(key) != 0,
            level2: self.cached && self.level2.find(key).is_some() && !self.level2.is_on_chip(key),
        }
    }

    /// How many stores a hart's buffer holds at `now`.
    #[must_use]
    pub fn stores_held(&self, hart: usize, now: u64) -> usize {
        self.harts[hart].stores.clone().used(now)
    }

    /// Whether caches and directory agree: the L2 cache has every line that an L1 cache has, the directory names
    /// exactly the data caches that have it, and a line that one has exclusive or modified is in no other.
    ///
    /// # Errors
    ///
    /// The first line of which that is not so.
    pub fn check_coherence(&self) -> Result<(), String> {
        let level2 = &self.level2;
        let directory: std::collections::BTreeMap<u64, _> = level2.iter().collect();
        if directory.len() != level2.iter().count() {
            return Err("a line is twice in the L2 cache".to_owned());
        }
        for (hart, this) in self.harts.iter().enumerate() {
            for (key, state) in this.data.iter() {
                let Some(line) = directory.get(&key) else {
                    return Err(format!(
                        "line {key:#x} of hart {hart}'s data cache is not in the L2 cache"
                    ));
                };
                if line.sharers & 1 << hart == 0 {
                    return Err(format!(
                        "the directory does not know that hart {hart} has line {key:#x}"
                    ));
                }
                if state == SHARED && line.owner().is_some() {
                    return Err(format!(
                        "line {key:#x} has an owner, but hart {hart} shares it"
                    ));
                }
                if state != SHARED && (line.owner() != Some(hart) || line.sharers != 1 << hart) {
                    return Err(format!(
                        "hart {hart} has line {key:#x} for itself, but the directory has {line:?}"
                    ));
                }
            }
            for (key, _) in this.code.iter() {
                if directory
                    .get(&key)
                    .is_none_or(|line| line.fetchers & 1 << hart == 0)
                {
                    return Err(format!(
                        "line {key:#x} of hart {hart}'s instruction cache is not in the directory"
                    ));
                }
            }
        }
        for (&key, line) in &directory {
            for hart in (0..16).filter(|hart| line.sharers & 1 << hart != 0) {
                if self
                    .harts
                    .get(hart)
                    .is_none_or(|this| this.data.state(key) == 0)
                {
                    return Err(format!(
                        "hart {hart} does not have line {key:#x}, but the directory says so"
                    ));
                }
            }
        }
        Ok(())
    }
}
