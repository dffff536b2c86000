//! Physical memory protection (section 3.7) against a model that checks every byte.

use crate::hart::Hart;
use proptest::prelude::*;
use tactus_board::privileged::number as csr;
use tactus_board::privileged::{Access, Mode, Privilege, Rights};

const LOCKED: u8 = 0x80;

/// Whether the entry matches the byte at `address` (section 3.7.1).
fn matches(configuration: &[u8; 16], addresses: &[u64; 16], entry: usize, address: u64) -> bool {
    let word = address >> 2;
    match configuration[entry] >> 3 & 3 {
        0 => false,
        1 => word < addresses[entry] && (entry == 0 || word >= addresses[entry - 1]),
        2 => word == addresses[entry],
        _ => {
            // Each trailing one doubles the size of 8 bytes.
            let mut ones = 0;
            while ones < 54 && addresses[entry] >> ones & 1 == 1 {
                ones += 1;
            }
            word >> (ones + 1) == addresses[entry] >> (ones + 1)
        }
    }
}

/// R, W and X at `privilege` for all of the bytes.
fn model(
    configuration: &[u8; 16],
    addresses: &[u64; 16],
    from: u64,
    length: u64,
    privilege: Privilege,
) -> u8 {
    for entry in 0..16 {
        let matched = (from..from + length)
            .filter(|&byte| matches(configuration, addresses, entry, byte))
            .count();
        if matched as u64 == length {
            let bound = privilege != Privilege::Machine || configuration[entry] & LOCKED != 0;
            return if bound { configuration[entry] & 7 } else { 7 };
        }
        if matched > 0 {
            return 0;
        }
    }
    if privilege == Privilege::Machine {
        7
    } else {
        0
    }
}

/// The rights that single accesses have.
fn found(hart: &Hart, from: u64, length: u64, privilege: Privilege) -> u8 {
    [(Access::Load, 1), (Access::Store, 2), (Access::Fetch, 4)]
        .into_iter()
        .filter(|&(access, _)| hart.state.permits(from, length, access, privilege))
        .map(|(_, bit)| bit)
        .sum()
}

/// A hart with these entries, written in an order in which no lock comes too early; and the entries as stored.
fn configured(entries: &[(u8, u64)]) -> (Hart, [u8; 16], [u64; 16]) {
    let mut hart = Hart::new();
    let (mut configuration, mut addresses) = ([0; 16], [0; 16]);
    for (entry, &(byte, address)) in entries.iter().enumerate() {
        configuration[entry] = if byte & 3 == 2 {
            byte & 0x9d
        } else {
            byte & 0x9f
        };
        addresses[entry] = address;
        hart.poke(csr::PMPADDR0 + entry as u16, address);
    }
    let word = |half: &[u8]| {
        half.iter()
            .rev()
            .fold(0, |word, &byte| word << 8 | u64::from(byte))
    };
    hart.poke(csr::PMPCFG0, word(&configuration[..8]));
    hart.poke(csr::PMPCFG2, word(&configuration[8..]));
    assert_eq!(hart.peek(csr::PMPCFG0), word(&configuration[..8]));
    assert_eq!(hart.peek(csr::PMPCFG2), word(&configuration[8..]));
    (hart, configuration, addresses)
}

const PRIVILEGES: [Privilege; 3] = [Privilege::User, Privilege::Supervisor, Privilege::Machine];

proptest! {
    #[test]
    fn p_3_7_1_every_access_by_every_byte(entries in prop::collection::vec((any::<u8>(), 0..24_u64), 0..=16)) {
        let (hart, configuration, addresses) = configured(&entries);
        for privilege in PRIVILEGES {
            for length in [1, 2, 4, 8] {
                for from in 0..104 {
                    let expected = model(&configuration, &addresses, from, length, privilege);
                    prop_assert_eq!(found(&hart, from, length, privilege), expected, "{} at {:#x}", length, from);
                }
            }
        }
    }

    #[test]
    fn p_3_7_1_pages_with_one_answer(
        // Entries about the first pages, aligned to them or not.
        entries in prop::collection::vec(
            (any::<u8>(), prop_oneof![0..0x1000_u64, (0..4_u64).prop_map(|page| page << 10), (0..4_u64).prop_map(|page| page << 10 | 0x1ff)]),
            0..=6,
        )
    ) {
        let (hart, configuration, addresses) = configured(&entries);
        for privilege in PRIVILEGES {
            for page in 0..4_u64 {
                let first = page << 12;
                match hart.state.page_rights(first + 0x123, privilege) {
                    // The rights are right for any access within the page.
                    Some(rights) => {
                        for (from, length) in [(0, 4096), (0, 1), (0xff8, 8), (0x7fc, 8), (0x123, 4)] {
                            let expected = model(&configuration, &addresses, first + from, length, privilege);
                            prop_assert_eq!(rights.bits(), expected);
                        }
                    }
                    // There is no common answer, because an entry ends within the page before another one covers all of
                    // it.
                    None => {
                        let split = (0..16).any(|entry| {
                            let matched = (first..first + 4096)
                                .step_by(4)
                                .filter(|&byte| matches(&configuration, &addresses, entry, byte))
                                .count();
                            matched > 0 && matched < 1024
                        });
                        prop_assert!(split);
                    }
                }
            }
        }
    }

    /// Large regions, where a check of every byte would take too long: only their ends.
    #[test]
    fn p_3_7_1_napot_of_every_size(ones in 0..54_u32, high in any::<u64>(), byte in any::<u64>()) {
        let address = ((high << (ones + 1)) | ((1 << ones) - 1)) & ((1 << 54) - 1);
        let (hart, configuration, addresses) = configured(&[(0x1f, address)]);
        let size = 8_u64.checked_shl(ones).unwrap_or(0);
        let base = (address << 2) & !(size - 1);
        for address in [base, base + size - 1, base.saturating_sub(1), base + size, byte >> 8] {
            let expected = model(&configuration, &addresses, address, 1, Privilege::User);
            prop_assert_eq!(found(&hart, address, 1, Privilege::User), expected, "{:#x}", address);
        }
    }
}

#[test]
fn p_3_7_1_without_entries_only_m_gets_through() {
    let hart = Hart::new();
    for (privilege, rights) in PRIVILEGES.into_iter().zip([0, 0, 7]) {
        assert_eq!(found(&hart, 0x8000_0000, 8, privilege), rights);
        assert_eq!(
            hart.state.page_rights(0x8000_0000, privilege),
            Some(Rights::from_bits_truncate(rights))
        );
    }
}

#[test]
fn p_3_7_1_registers() {
    let mut hart = Hart::open(Mode::MACHINE);
    for number in csr::PMPADDR0..=csr::PMPADDR15 {
        assert_eq!(hart.stored(number, u64::MAX), (1 << 54) - 1);
        assert_eq!(hart.stored(number, 0), 0);
    }
    for number in [csr::PMPCFG0, csr::PMPCFG2] {
        // Writable without readable is not stored, nor are the two reserved bits.
        assert_eq!(
            hart.stored(number, 0x1b_1a_19_18_7a_67_62_61),
            0x1b_18_19_18_18_07_00_01
        );
        assert_eq!(hart.stored(number, 0), 0);
    }
}

#[test]
fn p_3_7_1_locked_entries_stay() {
    for entry in 0..16_u16 {
        for mode in 0..4_u64 {
            let mut hart = Hart::open(Mode::MACHINE);
            let (number, shift) = (csr::PMPCFG0 + entry / 8 * 2, entry % 8 * 8);
            hart.poke(csr::PMPADDR0 + entry, 0x100);
            let locked = (0x81 | mode << 3) << shift;
            assert_eq!(hart.stored(number, locked), locked);
            let others = 0x0303_0303_0303_0303 & !(0xff << shift);
            assert_eq!(hart.stored(number, 0x0303_0303_0303_0303), others | locked);
            assert_eq!(hart.stored(csr::PMPADDR0 + entry, 0x200), 0x100);
            if entry > 0 {
                // The lower bound of a locked TOR range is locked, too.
                let kept = if mode == 1 { 0 } else { 0x300 };
                assert_eq!(hart.stored(csr::PMPADDR0 + entry - 1, 0x300), kept);
            }
            if entry < 15 {
                assert_eq!(hart.stored(csr::PMPADDR0 + entry + 1, 0x300), 0x300);
            }
        }
    }
}

#[test]
fn h_8_3_1_execute_in_place_of_read_needs_both_of_pmp() {
    for rights in 0..8_u8 {
        let (hart, ..) = configured(&[(0x18 | rights, (1 << 54) - 1)]);
        let permitted =
            hart.state
                .permits(0x8000_0000, 4, Access::LoadExecute, Privilege::Supervisor);
        assert_eq!(permitted, rights & 5 == 5);
    }
}
