//! Which lines are worth most: those that most wakes use, and the soonest.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use tactus_abi::blob::onchip::Memory;
use tactus_abi::blob::warm::WARM_LINES;
use tactus_board::timing::Wake;

/// A line is used in one of so many wakes at least.
const RARE: usize = 10;

/// Adjacent lines, all of them of instructions or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// Guest-physical address of the first one.
    pub first: u64,
    /// How many.
    pub lines: u32,
    /// Wakes that use the one of them that most use.
    pub wakes: usize,
    /// Whether they hold instructions; one that holds both counts as such.
    pub code: bool,
}

/// What is known of a line.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    wakes: usize,
    /// The sum of its places among the lines of these wakes.
    places: usize,
    code: bool,
}

impl Line {
    /// Its mean place, in thousandths: integers, so that the order is the same on all machines.
    fn mean_place(self) -> usize {
        self.places * 1000 / self.wakes.max(1)
    }
}

/// The guest-physical address of the byte of a VM's memory at a physical one.
fn guest_address(memory: &Memory, physical: u64) -> Option<u64> {
    let offset = memory.offset_of(physical)?;
    Some(memory.guest + offset)
}

/// The lines of the VM's memory that most wakes use, and of these the ones that are used first: at most
/// [`WARM_LINES`]. The ranges are in the order in which they are used.
pub fn ranges(wakes: &[Wake], memory: &Memory, line: u64) -> Vec<Range> {
    let mut lines = BTreeMap::<u64, Line>::new();
    for wake in wakes {
        let own = wake.lines.iter();
        let own = own.filter_map(|used| Some((guest_address(memory, used.physical)?, used.code)));
        for (place, (guest, code)) in own.enumerate() {
            let line = lines.entry(guest).or_default();
            line.wakes += 1;
            line.places += place;
            line.code |= code;
        }
    }
    let mut ranked: Vec<(u64, Line)> = lines.into_iter().collect();
    ranked.retain(|(_, line)| line.wakes * RARE >= wakes.len());
    ranked.sort_by_key(|(guest, line)| (Reverse(line.wakes), line.mean_place(), *guest));
    ranked.truncate(WARM_LINES as usize);
    ranked.sort_by_key(|(guest, _)| *guest);
    let mut ranges: Vec<(usize, Range)> = Vec::new();
    for (guest, used) in ranked {
        match ranges.last_mut() {
            Some((place, range))
                if range.code == used.code
                    && range.first + u64::from(range.lines) * line == guest =>
            {
                range.lines += 1;
                range.wakes = range.wakes.max(used.wakes);
                *place = (*place).min(used.mean_place());
            }
            _ => ranges.push((
                used.mean_place(),
                Range {
                    first: guest,
                    lines: 1,
                    wakes: used.wakes,
                    code: used.code,
                },
            )),
        }
    }
    ranges.sort_by_key(|(place, range)| (*place, range.first));
    ranges.into_iter().map(|(_, range)| range).collect()
}

#[cfg(test)]
mod tests {
    use tactus_abi::blob::{Region, onchip, region};
    use tactus_board::timing::Use;

    use super::*;

    /// 64 KiB of memory; with a spread, in runs of 4 KiB of which every second is another VM's.
    fn memory(spread: u8) -> Memory {
        Memory::new(&whole(spread), None)
    }

    fn whole(spread: u8) -> Region {
        Region {
            guest: 0x8000_0000,
            host: 0x9000_0000,
            size: 0x1_0000,
            flags: region::MEMORY,
            run: 12 * u8::from(spread != 0),
            spread,
            interface: 0,
            priority: 0,
            tables: 0,
        }
    }

    /// Wakes that use these lines, by number.
    fn wakes(all: &[&[u64]]) -> Vec<Wake> {
        let line = |number: &u64| Use {
            physical: 0x9000_0000 + number * 32,
            cycle: 0,
            code: true,
        };
        let wake = |lines: &&[u64]| Wake {
            guest: 0,
            hart: 0,
            begin: 0,
            lines: lines.iter().map(line).collect(),
        };
        all.iter().map(wake).collect()
    }

    fn found(all: &[&[u64]]) -> Vec<(u64, u32, usize)> {
        let ranges = ranges(&wakes(all), &memory(0), 32);
        let number = |first| (first - 0x8000_0000) / 32;
        ranges
            .iter()
            .map(|range| (number(range.first), range.lines, range.wakes))
            .collect()
    }

    #[test]
    fn adjacent_lines_are_a_range_and_the_first_used_comes_first() {
        assert_eq!(
            found(&[&[7, 3, 8, 1], &[8, 7, 3]]),
            [(7, 2, 2), (3, 1, 2), (1, 1, 1)]
        );
    }

    #[test]
    fn what_is_not_the_vms_memory_is_left_out() {
        assert_eq!(
            found(&[&[0x1_0000 / 32, 0x1_0000 / 32 - 1]]),
            [(0x1_0000 / 32 - 1, 1, 1)]
        );
    }

    #[test]
    fn rare_lines_are_left_out_and_what_most_wakes_use_stays() {
        let often: Vec<u64> = (0..WARM_LINES as u64).map(|number| 2 * number).collect();
        let mut all = vec![&often[..]; 20];
        all.push(&[1]);
        let rare = [&[1001][..], &often].concat();
        all.extend([&rare[..]; 5]);
        let found = found(&all);
        assert_eq!(found.len(), WARM_LINES as usize);
        assert!(
            found
                .iter()
                .all(|(first, lines, wakes)| first % 2 == 0 && (*lines, *wakes) == (1, 25))
        );
    }

    #[test]
    fn addresses_of_coloured_memory_are_the_guests() {
        let memory = memory(1);
        for offset in [0, 0x20, 0xfe0, 0x1000, 0x1020, 0xffe0] {
            let guest = guest_address(&memory, memory.host_at(offset));
            assert_eq!(guest, Some(0x8000_0000 + offset));
        }
        assert_eq!(guest_address(&memory, 0x9000_1000), None);
        assert_eq!(guest_address(&memory, 0x9002_0000), None);
    }

    #[test]
    fn addresses_of_on_chip_memory_are_the_guests() {
        let part = Region {
            host: 0x801_f000,
            size: 0x2000,
            flags: onchip::MEMORY,
            ..whole(0)
        };
        let memory = Memory::new(&whole(0), Some(&part));
        for offset in [0, 0x1fe0, 0x2000, 0xffe0] {
            let guest = guest_address(&memory, memory.host_at(offset));
            assert_eq!(guest, Some(0x8000_0000 + offset));
        }
        assert_eq!(memory.host_at(0x1fe0), 0x802_0fe0);
        // Its place in main memory is not the VM's, nor is what follows on the chip.
        assert_eq!(guest_address(&memory, 0x9000_1fe0), None);
        assert_eq!(guest_address(&memory, 0x802_1000), None);
    }
}
