//! Peers of a link, for tests: drivers in good order, and hostile ones.

#![allow(dead_code, reason = "the fuzz target uses a part of it")]

use std::sync::atomic::{AtomicU32, Ordering};

use tactus_ivshmem::link::{Link, Outcome, register};
use tactus_ivshmem::space::{Place, Sections, Version, command, register as space};
use tactus_ivshmem::{ECAM, PEERS, WINDOW};

/// Words of a state table's memory.
pub const TABLE: usize = 1024;
/// Where each peer has its registers, and its shared memory.
pub const REGISTERS: u32 = 0x2910_0000;
pub const MEMORY: u64 = 0x3000_1000;

pub const SECTIONS: Sections = Sections {
    version: Version::Two,
    protocol: 0x4001,
    table: 4 * TABLE as u32,
    shared: 0x1_2345_6000,
    output: 0x2000,
};
/// Of version 1, behind the state table.
pub const PLAIN: Sections = Sections {
    version: Version::One,
    protocol: 0,
    table: 4 * TABLE as u32,
    shared: 0x2000,
    output: 0,
};

/// The memories of all state tables: that of the peer of that number.
pub type Tables = [[AtomicU32; TABLE]; PEERS];

pub fn tables() -> Box<Tables> {
    Box::new([const { [const { AtomicU32::new(0) }; TABLE] }; PEERS])
}

/// The link of so many peers, in a new life.
pub fn link(tables: &Tables, peers: usize) -> Link<'_> {
    link_of(SECTIONS, tables, peers)
}

/// The same with other sections.
pub fn link_of(sections: Sections, tables: &Tables, peers: usize) -> Link<'_> {
    let place = Place {
        registers: REGISTERS,
        memory: MEMORY,
    };
    let peers = tables[..peers].iter().map(|table| (place, &table[..]));
    Link::new(sections, peers).expect("it is in order")
}

/// A peer's view of the state table.
pub fn view(tables: &Tables, id: usize, peers: usize) -> Vec<u32> {
    let words = tables[id][..peers].iter();
    words.map(|word| word.load(Ordering::Relaxed)).collect()
}

/// Makes an access as often as the service wants. What was loaded, and who was interrupted.
pub fn access(
    link: &mut Link<'_>,
    id: usize,
    offset: u32,
    size: u8,
    store: Option<u64>,
) -> (u64, Vec<usize>) {
    let mut rung = Vec::new();
    for _ in 0..PEERS {
        let Outcome { value, ring, again } = link.access(id, offset, size, store);
        rung.extend(ring);
        if !again {
            return (value, rung);
        }
    }
    panic!("the access does not end");
}

pub fn load(link: &mut Link<'_>, id: usize, offset: u32) -> u32 {
    let (value, rung) = access(link, id, offset, 4, None);
    assert_eq!(rung, []);
    value as u32
}

pub fn store(link: &mut Link<'_>, id: usize, offset: u32, value: u32) -> Vec<usize> {
    access(link, id, offset, 4, Some(value.into())).1
}

/// Has the registers decoded, and interrupts enabled.
pub fn start(link: &mut Link<'_>, id: usize) {
    store(link, id, space::COMMAND, command::MEMORY.into());
    store(link, id, ECAM + register::INTERRUPTS, 1);
}

/// Peers that make any accesses, and lives of the service that end: no access panics, or is made more often than there
/// are peers; no peer changes another one's registers; all tables say what all states are.
pub fn hostile(bytes: &[u8]) {
    let Some((&first, rest)) = bytes.split_first() else {
        return;
    };
    let peers = 2 + usize::from(first) % (PEERS - 1);
    let sections = if first < 0x80 { SECTIONS } else { PLAIN };
    let tables = tables();
    let mut link = link_of(sections, &tables, peers);
    // What each has in what only it writes: Command, BAR 0, and its state.
    let own = |link: &mut Link<'_>, id: usize| {
        let mut words = [space::COMMAND, space::BAR0, ECAM + register::STATE]
            .map(|offset| link.access(id, offset, 4, None).value as u32);
        if words[0] & u32::from(command::MEMORY) == 0 || words[1] != REGISTERS {
            words[2] = 0;
        }
        words
    };
    for record in rest.as_chunks::<8>().0 {
        let [who, what, place, offset, value @ ..] = *record;
        let id = usize::from(who) % peers;
        let value = u64::from(u32::from_le_bytes(value));
        let offset = u32::from(offset);
        let offset = match place % 4 {
            0 => offset,
            1 => ECAM + offset % 0x20,
            2 => [
                space::COMMAND,
                space::BAR0,
                space::CAPABILITY,
                ECAM + register::STATE,
            ][offset as usize % 4],
            _ => (value as u32).wrapping_mul(offset + 1) % (WINDOW + 8),
        };
        if what >> 6 == 3 {
            // A new life; before it the peer may write what it likes to its own memory.
            let word = (offset as usize).min(TABLE - 1);
            tables[id][word].store(value as u32, Ordering::Relaxed);
            tables[id][TABLE - 1 - usize::from(place) % 4].store(value as u32, Ordering::Relaxed);
            link = link_of(sections, &tables, peers);
            let mut from = 0;
            while let Some(peer) = link.next_after_restart(from) {
                assert!((from..peers).contains(&peer));
                from = peer + 1;
            }
        } else {
            let before: Vec<_> = (0..peers).map(|peer| own(&mut link, peer)).collect();
            let size = [1, 2, 4, 4, 4, 8, 0, 255][usize::from(what) % 8];
            let store = (what & 8 != 0).then_some(value | value << 32);
            let (_, rung) = access(&mut link, id, offset, size, store);
            assert!(rung.iter().all(|peer| *peer < peers));
            assert!(rung.len() <= peers);
            for (peer, before) in before.into_iter().enumerate() {
                assert!(peer == id || own(&mut link, peer) == before);
            }
        }
        let states: Vec<u32> = (0..peers).map(|peer| own(&mut link, peer)[2]).collect();
        for peer in 0..peers {
            assert_eq!(view(&tables, peer, peers), states);
        }
    }
}
