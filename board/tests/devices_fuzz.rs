//! The properties of the devices' fuzz targets, with their saved inputs and with random ones.

use crate::devices_harness::{pci, queues, registers};
use proptest::prelude::*;
use std::path::Path;

fn each_file(directory: &str, attempt: fn(&[u8])) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../fuzz/corpus")
        .join(directory);
    let mut count = 0;
    for entry in std::fs::read_dir(&directory).expect("the saved inputs") {
        let path = entry.expect("the saved inputs").path();
        attempt(&std::fs::read(&path).expect("a saved input"));
        count += 1;
    }
    assert!(count > 0, "{} is empty", directory.display());
}

#[test]
fn saved_inputs_for_registers() {
    each_file("device_registers", registers);
}

#[test]
fn saved_inputs_for_queues() {
    each_file("virtio_queues", queues);
}

#[test]
fn saved_inputs_for_pci() {
    each_file("pci", pci);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn any_accesses(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        registers(&bytes);
    }

    /// Offsets are small, so that most accesses reach a register.
    #[test]
    fn likely_accesses(
        kind in any::<u8>(),
        actions in prop::collection::vec((any::<u8>(), 0..0x120u16, any::<u64>()), 0..60),
    ) {
        let mut bytes = vec![kind];
        for (action, offset, value) in actions {
            bytes.push(action);
            bytes.extend(&u32::from(offset).to_le_bytes()[..3]);
            if action & 15 < 6 {
                bytes.extend(&value.to_le_bytes()[..1 << (action >> 4 & 3)]);
            }
        }
        registers(&bytes);
    }

    /// Zeros with some numbers among them: small descriptors, indices and lengths, or numbers near an address.
    #[test]
    fn any_queues(
        kind in any::<[u8; 3]>(),
        numbers in prop::collection::vec(
            (0..0x120usize,
             prop_oneof![0..600u16, Just(0x8000), any::<u16>()]), 0..80),
    ) {
        let mut bytes = vec![0; 0x243];
        bytes[..3].copy_from_slice(&kind);
        for (place, number) in numbers {
            bytes[3 + place * 2..][..2].copy_from_slice(&number.to_le_bytes());
        }
        queues(&bytes);
    }
}

proptest! {
    // Each has a whole host and many accesses.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    /// Memory with some numbers in it, then accesses near registers.
    #[test]
    fn any_pci(
        mode in any::<u8>(),
        pages in prop::collection::vec(
            prop::collection::vec(prop_oneof![Just(0), Just(1), 0..8_u8, Just(0x80), any::<u8>()], 0..128),
            8,
        ),
        actions in prop::collection::vec((any::<u8>(), any::<u16>(), any::<u64>()), 0..40),
    ) {
        let mut bytes = vec![mode];
        for page in pages {
            bytes.push((page.len() / 2) as u8);
            bytes.extend(&page[..page.len() / 2 * 2]);
        }
        for (action, place, value) in actions {
            bytes.push(action);
            bytes.extend(place.to_le_bytes());
            if action & 15 < 7 {
                bytes.extend(&value.to_le_bytes()[..1 << (action >> 4 & 3)]);
            }
        }
        pci(&bytes);
    }
}
