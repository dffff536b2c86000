//! Peers of a link, as the drivers of operating systems are, and hostile ones.

mod driver;

use std::sync::atomic::Ordering;

use driver::{
    MEMORY, PLAIN, REGISTERS, SECTIONS, TABLE, access, link, link_of, load, start, store, tables,
    view,
};
use proptest::prelude::*;
use tactus_ivshmem::link::{Link, Refusal, register};
use tactus_ivshmem::space::{ONE_SHOT, Place, Sections, command, register as space};
use tactus_ivshmem::{ECAM, PEERS, WINDOW};

/// What is constant in the configuration space, and that nothing else is there.
#[test]
fn the_configuration_space_is_as_specified() {
    let tables = tables();
    let mut link = link(&tables, 2);
    let words = [
        (0x00, 0x4106_110a),
        (0x04, 0x0010_0000),
        (0x08, 0xff40_0100),
        (0x10, REGISTERS),
        (0x2c, 0x4106_110a),
        (0x34, 0x40),
        (0x3c, 0x0100),
        (0x40, 0x0020_0009),
        (0x44, 0x1000),
        (0x48, 0x2345_6000),
        (0x4c, 1),
        (0x50, 0x2000),
        (0x58, 0x3000_1000),
    ];
    for offset in (0..4096).step_by(4) {
        let found = words.iter().find(|(at, _)| *at == offset);
        let wanted = found.map_or(0, |(_, value)| *value);
        assert_eq!(load(&mut link, 0, offset), wanted, "{offset:#x}");
        for (size, mask) in [(1, 0xff), (2, 0xffff)] {
            for part in (0..4).step_by(size) {
                let (value, _) = access(&mut link, 0, offset + part, size as u8, None);
                assert_eq!(value, u64::from(wanted >> (8 * part) & mask), "{offset:#x}");
            }
        }
    }
    // No other device, function or bus; nothing as wide as a doubleword.
    for offset in (4096..ECAM).step_by(4096).chain([WINDOW, u32::MAX - 3]) {
        assert_eq!(load(&mut link, 0, offset), u32::MAX, "{offset:#x}");
    }
    assert_eq!(access(&mut link, 0, 0, 8, None).0, u64::MAX);
}

/// What can be written there: three bits of Command, the address in BAR 0, and one bit of Privileged Control.
#[test]
fn three_registers_of_the_configuration_space_can_be_written() {
    let tables = tables();
    let mut link = link(&tables, 2);
    let before: Vec<u32> = (0..64).map(|word| load(&mut link, 0, 4 * word)).collect();
    for (all, none) in [(u32::MAX, 0), (0, 1)] {
        for word in 0..1024 {
            store(&mut link, 0, 4 * word, all);
        }
        for (word, before) in (0..).zip(&before) {
            let wanted = match 4 * word {
                space::COMMAND => before | if none == 0 { 0x0406 } else { 0 },
                space::BAR0 => all & 0xffff_f000,
                space::CAPABILITY => before | if none == 0 { ONE_SHOT } else { 0 },
                _ => *before,
            };
            assert_eq!(load(&mut link, 0, 4 * word), wanted, "{word}");
        }
    }
    // By bytes and halves, which leave the rest alone.
    access(&mut link, 0, space::COMMAND + 1, 1, Some(0xff));
    assert_eq!(load(&mut link, 0, space::COMMAND), 0x0010_0400);
    access(&mut link, 0, space::COMMAND, 2, Some(0x0002));
    assert_eq!(load(&mut link, 0, space::COMMAND), 0x0010_0002);
    access(&mut link, 0, space::BAR0 + 2, 2, Some(0x1234));
    assert_eq!(load(&mut link, 0, space::BAR0), 0x1234_0000);
}

/// BAR 0's size is found by all ones (Linux, Zephyr) and by all but the lowest bit (NuttX); its place is the only one
/// at which it is decoded.
#[test]
fn the_bar_has_one_place() {
    let tables = tables();
    let mut link = link(&tables, 2);
    assert_eq!(load(&mut link, 1, ECAM), u32::MAX);
    start(&mut link, 1);
    assert_eq!(load(&mut link, 1, ECAM), 1);
    for ones in [0xffff_ffff, 0xffff_fffe] {
        store(&mut link, 1, space::BAR0, ones);
        assert_eq!(load(&mut link, 1, space::BAR0), 0xffff_f000);
        assert_eq!(load(&mut link, 1, ECAM), u32::MAX);
        store(&mut link, 1, space::BAR0, REGISTERS);
        assert_eq!(load(&mut link, 1, ECAM), 1);
    }
    // The other ones are not there.
    for bar in 1..6 {
        store(&mut link, 1, space::BAR0 + 4 * bar, u32::MAX);
        assert_eq!(load(&mut link, 1, space::BAR0 + 4 * bar), 0);
    }
}

/// Version 1, without interrupts: the shared memory is BAR 2, as QEMU has it and NuttX's driver looks for it.
#[test]
fn version_1_has_its_memory_in_a_bar() {
    let tables = tables();
    let mut link = link_of(PLAIN, &tables, 2);
    let words = [
        (0x00, 0x1110_1af4),
        (0x08, 0x0500_0001),
        (0x10, REGISTERS),
        (0x18, 0x3000_200c),
        (0x2c, 0x1100_1af4),
    ];
    for offset in (0..4096).step_by(4) {
        let found = words.iter().find(|(at, _)| *at == offset);
        let wanted = found.map_or(0, |(_, value)| *value);
        assert_eq!(load(&mut link, 0, offset), wanted, "{offset:#x}");
    }
    // Its size, by all ones (Linux, Zephyr) and by all but the lowest bit (NuttX).
    for ones in [0xffff_ffff, 0xffff_fffe] {
        store(&mut link, 0, space::BAR2, ones);
        assert_eq!(load(&mut link, 0, space::BAR2), 0xffff_e00c);
        store(&mut link, 0, space::BAR2 + 4, ones);
        assert_eq!(load(&mut link, 0, space::BAR2 + 4), ones);
        store(&mut link, 0, space::BAR2, 0x3000_200c);
        store(&mut link, 0, space::BAR2 + 4, 0);
        assert_eq!(load(&mut link, 0, space::BAR2), 0x3000_200c);
        assert_eq!(load(&mut link, 0, space::BAR2 + 4), 0);
    }
    // What version 2 has elsewhere is not there, and the registers are zero.
    store(&mut link, 0, space::CAPABILITY, ONE_SHOT);
    assert_eq!(load(&mut link, 0, space::CAPABILITY), 0);
    start(&mut link, 0);
    start(&mut link, 1);
    assert_eq!(store(&mut link, 0, ECAM + register::STATE, 7), []);
    assert_eq!(store(&mut link, 0, ECAM + register::DOORBELL, 1 << 16), []);
    for word in 0..8 {
        assert_eq!(load(&mut link, 1, ECAM + 4 * word), 0);
    }
    assert_eq!(view(&tables, 1, 2), [0, 0]);
}

#[test]
fn registers_are_accessed_as_32_bits() {
    let tables = tables();
    let mut link = link(&tables, 2);
    start(&mut link, 1);
    store(&mut link, 1, ECAM + register::STATE, 7);
    let registers: Vec<u32> = (0..8)
        .map(|word| load(&mut link, 1, ECAM + 4 * word))
        .collect();
    assert_eq!(registers, [1, 2, 1, 0, 7, 0, 0, 0]);
    for size in [1, 2, 8] {
        assert_eq!(
            access(&mut link, 1, ECAM + register::STATE, size, None).0,
            0
        );
        access(&mut link, 1, ECAM + register::STATE, size, Some(9));
        assert_eq!(load(&mut link, 1, ECAM + register::STATE), 7);
    }
    store(&mut link, 1, ECAM + register::ID, 9);
    store(&mut link, 1, ECAM + register::PEERS, 9);
    assert_eq!(load(&mut link, 1, ECAM + register::ID), 1);
    assert_eq!(load(&mut link, 1, ECAM + register::PEERS), 2);
    // Reserved bits of Interrupt Control.
    store(&mut link, 1, ECAM + register::INTERRUPTS, u32::MAX);
    assert_eq!(load(&mut link, 1, ECAM + register::INTERRUPTS), 1);
    store(&mut link, 1, ECAM + register::INTERRUPTS, u32::MAX - 1);
    assert_eq!(load(&mut link, 1, ECAM + register::INTERRUPTS), 0);
}

#[test]
fn a_doorbell_interrupts_its_target_if_that_wants_it() {
    let tables = tables();
    let mut link = link(&tables, 3);
    let ring =
        |link: &mut Link<'_>, from, value| store(link, from, ECAM + register::DOORBELL, value);
    store(&mut link, 0, space::COMMAND, command::MEMORY.into());
    assert_eq!(ring(&mut link, 0, 1 << 16), []);
    start(&mut link, 1);
    assert_eq!(ring(&mut link, 0, 1 << 16), [1]);
    assert_eq!(ring(&mut link, 0, 1 << 16), [1]);
    // Its own.
    assert_eq!(ring(&mut link, 1, 1 << 16), [1]);
    // Another vector; a peer that does not exist.
    assert_eq!(ring(&mut link, 0, 1 << 16 | 1), []);
    assert_eq!(ring(&mut link, 0, 3 << 16), []);
    assert_eq!(ring(&mut link, 0, 0xffff << 16), []);
    // INTx is disabled.
    let disabled = command::MEMORY | command::INTERRUPT_DISABLE;
    store(&mut link, 1, space::COMMAND, disabled.into());
    assert_eq!(ring(&mut link, 0, 1 << 16), []);
    store(&mut link, 1, space::COMMAND, command::MEMORY.into());
    assert_eq!(ring(&mut link, 0, 1 << 16), [1]);
    // One-shot: once for each time that it is enabled.
    store(&mut link, 1, space::CAPABILITY, ONE_SHOT);
    assert_eq!(ring(&mut link, 0, 1 << 16), [1]);
    assert_eq!(load(&mut link, 1, ECAM + register::INTERRUPTS), 0);
    assert_eq!(ring(&mut link, 0, 1 << 16), []);
    store(&mut link, 1, ECAM + register::INTERRUPTS, 1);
    assert_eq!(ring(&mut link, 0, 1 << 16), [1]);
}

#[test]
fn a_state_is_shown_to_all_and_the_others_are_told() {
    let tables = tables();
    let mut link = link(&tables, 4);
    for peer in [0, 1, 3] {
        start(&mut link, peer);
    }
    assert_eq!(store(&mut link, 1, ECAM + register::STATE, 5), [0, 3]);
    assert_eq!(store(&mut link, 1, ECAM + register::STATE, 5), []);
    assert_eq!(store(&mut link, 3, ECAM + register::STATE, 6), [0, 1]);
    for peer in 0..4 {
        assert_eq!(view(&tables, peer, 4), [0, 5, 0, 6]);
    }
    assert_eq!(load(&mut link, 1, ECAM + register::STATE), 5);
    // A doorbell between the parts of a state's store is not rung twice, and the store goes on.
    let outcome = link.access(1, ECAM + register::STATE, 4, Some(8));
    assert_eq!((outcome.ring, outcome.again), (Some(0), true));
    let outcome = link.access(1, ECAM + register::DOORBELL, 4, Some(0));
    assert_eq!((outcome.ring, outcome.again), (Some(0), false));
    assert_eq!(store(&mut link, 1, ECAM + register::STATE, 8), [3]);
}

/// An operating system that looks for the function again has the others told that the one before is gone.
#[test]
fn a_function_that_is_not_decoded_is_reset() {
    type Undo = fn(&mut Link<'_>) -> Vec<usize>;
    let ways: [Undo; 3] = [
        |link| store(link, 1, space::BAR0, u32::MAX),
        |link| store(link, 1, space::COMMAND, 0),
        |link| access(link, 1, space::COMMAND, 1, Some(0)).1,
    ];
    for way in ways {
        let tables = tables();
        let mut link = link(&tables, 2);
        start(&mut link, 0);
        start(&mut link, 1);
        store(&mut link, 1, space::CAPABILITY, ONE_SHOT);
        assert_eq!(store(&mut link, 1, ECAM + register::STATE, 5), [0]);
        assert_eq!(way(&mut link), [0]);
        assert_eq!(view(&tables, 0, 2), [0, 0]);
        assert_eq!(way(&mut link), []);
        store(&mut link, 1, space::BAR0, REGISTERS);
        store(&mut link, 1, space::COMMAND, command::MEMORY.into());
        assert_eq!(load(&mut link, 1, space::CAPABILITY) & ONE_SHOT, 0);
        assert_eq!(load(&mut link, 1, ECAM + register::INTERRUPTS), 0);
        assert_eq!(load(&mut link, 1, ECAM + register::STATE), 0);
    }
}

/// A new life of the service has the registers of the one before, and interrupts those that want it.
#[test]
fn a_new_life_goes_on() {
    let tables = tables();
    let mut link = link(&tables, 3);
    for peer in 0..2 {
        start(&mut link, peer);
        store(&mut link, peer, ECAM + register::STATE, 5 + peer as u32);
    }
    store(&mut link, 1, space::CAPABILITY, ONE_SHOT);
    // What the service would have written last is lost; a peer has written to its own table.
    tables[0][1].store(99, Ordering::Relaxed);
    let mut link = driver::link(&tables, 3);
    assert_eq!(view(&tables, 0, 3), [5, 6, 0]);
    let mut told = Vec::new();
    while let Some(peer) = link.next_after_restart(told.last().map_or(0, |last| last + 1)) {
        told.push(peer);
    }
    assert_eq!(told, [0, 1]);
    assert_eq!(load(&mut link, 0, ECAM + register::INTERRUPTS), 1);
    assert_eq!(load(&mut link, 1, ECAM + register::INTERRUPTS), 0);
    assert_eq!(load(&mut link, 1, ECAM + register::STATE), 6);
    assert_eq!(load(&mut link, 2, space::COMMAND), 0x0010_0000);
}

/// What a peer writes where its registers are kept is no more than it could have had there.
#[test]
fn what_is_kept_is_checked() {
    let tables = tables();
    let _ = link(&tables, 2);
    for (word, value) in [u32::from_le_bytes(*b"ivs2"), u32::MAX, u32::MAX, 77]
        .into_iter()
        .enumerate()
    {
        tables[0][TABLE - 4 + word].store(value, Ordering::Relaxed);
    }
    let mut link = link(&tables, 2);
    assert_eq!(load(&mut link, 0, space::COMMAND), 0x0010_0406);
    assert_eq!(load(&mut link, 0, space::BAR0), 0xffff_f000);
    assert_eq!(view(&tables, 1, 2), [0, 0]);
}

#[test]
fn what_is_no_link_is_refused() {
    let tables = tables();
    let place = Place {
        registers: REGISTERS,
        memory: MEMORY,
    };
    let all = || tables.iter().map(|table| (place, &table[..]));
    let refusal = |sections, count| Link::new(sections, all().take(count)).err();
    assert_eq!(refusal(SECTIONS, 1), Some(Refusal::Peers));
    assert_eq!(refusal(SECTIONS, 0), Some(Refusal::Peers));
    assert_eq!(refusal(SECTIONS, PEERS), None);
    let nine = all().chain(all()).take(PEERS + 1);
    assert_eq!(Link::new(SECTIONS, nine).err(), Some(Refusal::Peers));
    let larger = Sections {
        table: SECTIONS.table + 1,
        ..SECTIONS
    };
    assert_eq!(refusal(larger, 2), Some(Refusal::Table));
    let small = Sections {
        table: 44,
        ..SECTIONS
    };
    for (shared, refused) in [
        (0x2000, false),
        (0x3000, true),
        (0x4000, true),
        (0x800, true),
        (0, true),
    ] {
        let sections = Sections { shared, ..PLAIN };
        assert_eq!(
            refusal(sections, 2),
            refused.then_some(Refusal::Bar),
            "{shared:#x}"
        );
    }
    let two = tables.iter().take(2).map(|table| (place, &table[..11]));
    assert_eq!(Link::new(small, two).err(), Some(Refusal::Table));
}

proptest! {
    /// Whatever peers do.
    #[test]
    fn hostile_peers_harm_nobody(bytes in proptest::collection::vec(any::<u8>(), 0..800)) {
        driver::hostile(&bytes);
    }
}

/// What the fuzzer found worth keeping.
#[test]
fn saved_peers_harm_nobody() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus/ivshmem");
    let mut count = 0;
    for entry in std::fs::read_dir(directory).expect("it is there") {
        let bytes = std::fs::read(entry.expect("an entry").path()).expect("it is read");
        driver::hostile(&bytes);
        count += 1;
    }
    assert!(count > 0);
}
