//! Timed output: the pulses that guests say they have asked for, beside the pins as the board has seen them.

use super::board::Facts;
use super::journal::Journal;

/// What a guest says it has asked for (record `pulses`): its pins go up together at `start` and down `length` later,
/// and again every `period`. Times are cycles of the fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pulses {
    /// The pins, a bit each; there are some.
    pub pins: u32,
    /// When they first go up.
    pub start: u64,
    /// For how long they are up; more than 0, less than the period.
    pub length: u64,
    /// From one time to the next.
    pub period: u64,
    /// Those that begin later may be missing: the guest has ended the schedule.
    pub until: u64,
}

impl Pulses {
    /// When the pins change for the n-th time, counted from 0.
    fn change(&self, n: u64) -> u64 {
        let begin = self
            .start
            .saturating_add((n / 2).saturating_mul(self.period));
        begin.saturating_add(n % 2 * self.length)
    }

    /// How many there have to be.
    fn number(&self) -> u64 {
        let since = self.until.checked_sub(self.start);
        since.map_or(0, |since| (since / self.period).saturating_add(1))
    }
}

/// How exact a guest's pulses were: each edge of each of its pins beside the one that it has asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exactness {
    /// The VM's name.
    pub vm: String,
    /// What it has asked for.
    pub asked: Pulses,
    /// Edges that were seen.
    pub edges: u64,
    /// Edges that were not, and had to be.
    pub missing: u64,
    /// By how many cycles one was early or late, at most.
    pub error_max: u64,
}

impl Exactness {
    fn of(vm: &str, asked: Pulses, changes: &[(u64, u32)]) -> Self {
        let mut exactness = Self {
            vm: vm.to_owned(),
            asked,
            edges: 0,
            missing: 0,
            error_max: 0,
        };
        for pin in (0..u32::BITS).filter(|pin| asked.pins >> pin & 1 != 0) {
            let (mut level, mut edges) = (0, 0);
            for (cycle, levels) in changes {
                if levels >> pin & 1 != level {
                    level ^= 1;
                    let error = cycle.abs_diff(asked.change(edges));
                    exactness.error_max = exactness.error_max.max(error);
                    edges += 1;
                }
            }
            exactness.edges += edges;
            let wanted = asked.number().saturating_mul(2);
            exactness.missing = exactness
                .missing
                .saturating_add(wanted.saturating_sub(edges));
        }
        exactness
    }

    /// Whether each edge was there, on its cycle.
    pub fn is_exact(&self) -> bool {
        (self.missing, self.error_max) == (0, 0)
    }
}

/// Of all pulses in a run that guests speak of; nothing where the pins were not watched from reset on.
pub fn exactness(journal: &Journal, board: Option<&Facts>) -> Vec<Exactness> {
    let Some(facts) = board.filter(|facts| facts.pins_from_reset) else {
        return Vec::new();
    };
    let of_vm = |vm| move |asked: &Pulses| Exactness::of(vm, *asked, &facts.ends.pins);
    let vms = journal.vms.iter();
    vms.flat_map(|vm| vm.pulses.iter().map(of_vm(vm.name.as_str())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pins 0 and 2, in cycles 100, 120, 1100, 1120, 2100, ...; the third pulse has to be there, and the fourth may.
    const ASKED: Pulses = Pulses {
        pins: 0b101,
        start: 100,
        length: 20,
        period: 1000,
        until: 2100,
    };
    /// As it should be, while pin 1 belongs to another VM.
    const SEEN: [(u64, u32); 8] = [
        (7, 0b010),
        (100, 0b111),
        (110, 0b101),
        (120, 0b000),
        (1100, 0b101),
        (1120, 0b000),
        (2100, 0b101),
        (2120, 0b000),
    ];

    fn measured(changes: &[(u64, u32)]) -> (u64, u64, u64) {
        let found = Exactness::of("vm", ASKED, changes);
        assert_eq!(found.is_exact(), (found.missing, found.error_max) == (0, 0));
        (found.edges, found.missing, found.error_max)
    }

    #[test]
    fn each_edge_is_compared_with_the_one_asked_for() {
        assert_eq!(measured(&SEEN), (12, 0, 0));
        let more = [&SEEN[..], &[(3100, 0b101), (3120, 0)]].concat();
        assert_eq!(measured(&more), (16, 0, 0));
        let mut late = SEEN;
        late[4].0 += 3;
        assert_eq!(measured(&late), (12, 0, 3));
        let mut early = SEEN;
        early[7].0 -= 1;
        assert_eq!(measured(&early), (12, 0, 1));
        // One pin goes up a cycle behind the other.
        let apart = [&SEEN[..6], &[(2100, 0b001), (2101, 0b101), (2120, 0)]].concat();
        assert_eq!(measured(&apart), (12, 0, 1));
    }

    #[test]
    fn what_is_missing_is_counted_and_what_is_too_much_is_an_error() {
        assert_eq!(measured(&SEEN[..6]), (8, 4, 0));
        assert_eq!(measured(&[]), (0, 12, 0));
        // An unrequested pulse; all behind it are others.
        let more = [&SEEN[..4], &[(500, 0b101), (510, 0)], &SEEN[4..]].concat();
        assert_eq!(measured(&more), (16, 0, 1000));
    }

    #[test]
    fn no_numbers_are_too_large() {
        let asked = Pulses {
            pins: u32::MAX,
            start: u64::MAX - 1,
            length: u64::MAX - 1,
            period: u64::MAX,
            until: u64::MAX,
        };
        assert_eq!(Exactness::of("vm", asked, &[]).missing, 64);
        let asked = Pulses {
            start: 0,
            length: 1,
            period: 2,
            ..asked
        };
        assert_eq!(Exactness::of("vm", asked, &[]).missing, u64::MAX);
    }
}
