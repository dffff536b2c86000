//! A PCI function's registers, and what its VM does with the configuration space that it is shown.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tactus_policy::pci::{BARS, COMMAND_BITS, Effect, Space, WORDS};

const WINDOW: std::ops::Range<u32> = 0x5020_0000..0x5040_0000;

fuzz_target!(
    |input: ([u32; 32], [u32; 32], [u32; BARS], Vec<(u16, u8, u32)>)| {
        let (low, high, ones, accesses) = input;
        let raw: [u32; WORDS] = std::array::from_fn(|word| {
            if word < 32 {
                low[word]
            } else {
                high[word - 32]
            }
        });
        let Ok(space) = Space::new(&raw, &ones, WINDOW) else {
            return;
        };
        let mut next = space.read(0x34, 1, 0, || 0).expect("an access");
        for _ in 0..WORDS {
            if next != 0 {
                assert_eq!(
                    space.read(next, 1, 0, || 0),
                    Some(0x09),
                    "the vendor's own alone"
                );
                next = space.read(next + 1, 1, 0, || 0).expect("an access");
            }
        }
        assert_eq!(next, 0, "the list ends");
        for (offset, size, value) in accesses {
            space.read(offset.into(), size, value as u8, || value);
            if let Some(Effect::Command(command)) =
                space.write(offset.into(), size, value, || value as u16)
            {
                assert_eq!(command & !COMMAND_BITS, 0);
            }
        }
    }
);
