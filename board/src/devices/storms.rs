//! Interrupt storms: sources whose line is high again, or still, whenever their service ends.

use std::collections::BTreeMap;

use crate::time::Femtoseconds;
use serde::{Deserialize, Serialize};

/// Services of an interrupt source, one after the other, each of which ended while the source's line was high.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Storm {
    /// The source.
    pub source: u32,
    /// When the first of the services ended.
    pub since: Femtoseconds,
    /// When the last of them ended.
    pub until: Femtoseconds,
    /// How many there were.
    pub services: u64,
}

impl Storm {
    /// From the end of its first service to that of its last.
    #[must_use]
    pub const fn length(&self) -> Femtoseconds {
        Femtoseconds(self.until.0 - self.since.0)
    }
}

/// The storms of all sources.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Storms {
    /// By source: those that go on.
    present: BTreeMap<u32, Storm>,
    /// By source: the longest of those that are over.
    longest: BTreeMap<u32, Storm>,
}

impl Storms {
    /// The service of a source has ended at `now`, with its line `high` or low.
    pub(super) fn service_ended(&mut self, source: u32, high: bool, now: Femtoseconds) {
        if high {
            let storm = self.present.entry(source).or_insert(Storm {
                source,
                since: now,
                until: now,
                services: 0,
            });
            // Harts are not equally far.
            storm.until = storm.until.max(now);
            storm.services += 1;
        } else if let Some(over) = self.present.remove(&source) {
            let longest = self.longest.entry(source).or_insert(over);
            if over.length() > longest.length() {
                *longest = over;
            }
        }
    }

    /// The longest storm of each source that had any.
    pub(super) fn longest(&self) -> Vec<Storm> {
        let mut longest = self.longest.clone();
        for (source, storm) in &self.present {
            let known = longest.entry(*source).or_insert(*storm);
            if storm.length() > known.length() {
                *known = *storm;
            }
        }
        longest.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(storms: &mut Storms, source: u32, ends: &[(bool, u64)]) {
        for (high, now) in ends {
            storms.service_ended(source, *high, Femtoseconds(*now));
        }
    }

    #[test]
    fn the_longest_storm_of_a_source_counts() {
        let mut storms = Storms::default();
        assert_eq!(storms.longest(), []);
        ended(&mut storms, 11, &[(false, 1), (false, 2)]);
        assert_eq!(storms.longest(), []);
        let first = [(true, 10), (true, 20), (true, 30), (false, 40)];
        ended(&mut storms, 11, &first);
        let storm = Storm {
            source: 11,
            since: Femtoseconds(10),
            until: Femtoseconds(30),
            services: 3,
        };
        assert_eq!(storms.longest(), [storm]);
        // A shorter one, though of more services, and another source's, which goes on.
        ended(
            &mut storms,
            11,
            &[(true, 50), (true, 51), (true, 52), (true, 53)],
        );
        ended(&mut storms, 3, &[(true, 60)]);
        let sources = storms.longest();
        assert_eq!(sources.len(), 2);
        assert_eq!((sources[0].source, sources[0].services), (3, 1));
        assert_eq!(sources[1], storm);
        // It becomes the longer one.
        ended(&mut storms, 11, &[(true, 90)]);
        assert_eq!(storms.longest()[1].length(), Femtoseconds(40));
    }
}
