//! The configuration space that a VM sees, of any function.

use proptest::prelude::*;
use std::ops::Range;
use tactus_policy::pci::{BARS, COMMAND_BITS, Effect, Space, WORDS};

const WINDOW: Range<u32> = 0x5020_0000..0x5040_0000;
const STATUS_CAPABILITIES: u32 = 1 << 20;

/// A function's registers, in which a list of capabilities is likely.
fn registers() -> impl Strategy<Value = [u32; WORDS]> {
    let words = prop::array::uniform32(any::<u32>());
    let lists = prop::collection::vec((16..WORDS, 0..3_usize, 0..WORDS), 0..10);
    (words, words, lists, any::<bool>()).prop_map(|(low, high, lists, fit)| {
        let mut raw: [u32; WORDS] = std::array::from_fn(|word| match word {
            0..32 => low[word],
            _ => high[word - 32],
        });
        for (at, id, next) in lists {
            raw[at] = raw[at] & !0xffff | [0x09, 0x10, 0x05][id] | (next as u32) << 10;
        }
        if fit {
            raw[3] &= !0xff_0000;
            raw[15] = 0x100;
            raw[13] = raw[13] & 0xfc | 0x40;
        }
        raw
    })
}

/// What base address registers of memory and I/O read as after a write of ones.
fn ones() -> impl Strategy<Value = [u32; BARS]> {
    let bar = prop_oneof![
        Just(0),
        (4..20_u32).prop_map(|log2| u32::MAX << log2),
        (4..20_u32).prop_map(|log2| u32::MAX << log2 | 0xc),
        Just(u32::MAX),
        Just(0xffff_ff01),
        any::<u32>(),
    ];
    prop::collection::vec(bar, BARS).prop_map(|bars| bars.try_into().expect("six"))
}

proptest! {
    /// All memory of the function is in its window, and nothing of it overlaps.
    #[test]
    fn registers_are_in_the_window(raw in registers(), ones in ones()) {
        let Ok(space) = Space::new(&raw, &ones, WINDOW) else { return Ok(()) };
        let mut taken: Vec<Range<u32>> = Vec::new();
        let mut number = 0;
        while number < BARS {
            let bar = space.bar(number);
            let wide = bar & 7 == 4;
            if bar & !0xf != 0 {
                let mask = space.read(0x10 + 4 * number as u32, 4, 1 << number, || 0).expect("a register") & !0xf;
                let size = mask & mask.wrapping_neg();
                let range = (bar & !0xf)..(bar & !0xf) + size;
                prop_assert!(WINDOW.start <= range.start && range.end <= WINDOW.end);
                prop_assert!(range.start.is_multiple_of(size));
                prop_assert!(taken.iter().all(|other| other.end <= range.start || range.end <= other.start));
                taken.push(range);
            }
            number += if wide { 2 } else { 1 };
        }
    }

    /// Whatever the VM does, the function gets no more than three bits of `Command`, and reads tell nothing but what
    /// was let through.
    #[test]
    fn writes_reach_three_bits(
        raw in registers(),
        ones in ones(),
        live in any::<u32>(),
        accesses in prop::collection::vec((0..0x1004_u32, 0..10_u8, any::<u32>(), any::<u8>()), 1..50),
    ) {
        let Ok(space) = Space::new(&raw, &ones, WINDOW) else { return Ok(()) };
        for (offset, size, value, sizing) in accesses {
            match space.write(offset, size, value, || live as u16) {
                Some(Effect::Command(command)) => {
                    prop_assert_eq!(command & !COMMAND_BITS, 0);
                    prop_assert!(offset < 6);
                }
                Some(Effect::Size(bar, _)) => prop_assert!(bar < BARS),
                Some(Effect::None) | None => {}
            }
            let read = space.read(offset, size, sizing, || live);
            prop_assert_eq!(read.is_some(), space.write(offset, size, value, || 0).is_some());
            if let Some(read) = read && size < 4 {
                prop_assert_eq!(read >> (8 * size), 0);
            }
        }
    }

    /// The list of capabilities ends, and has none but the vendor's own, in the order of the function's.
    #[test]
    fn only_the_vendors_capabilities_are_listed(raw in registers(), ones in ones()) {
        let Ok(space) = Space::new(&raw, &ones, WINDOW) else { return Ok(()) };
        let read = |offset: u32| space.read(offset, 1, 0, || 0).expect("an access");
        let has_list = space.read(4, 4, 0, || 0).expect("an access") & STATUS_CAPABILITIES != 0;
        let mut next = read(0x34);
        prop_assert_eq!(next != 0, has_list);
        let mut steps = 0;
        while next != 0 {
            prop_assert_eq!(read(next), 0x09);
            next = read(next + 1);
            steps += 1;
            prop_assert!(steps <= WORDS);
        }
    }
}
