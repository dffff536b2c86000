//! The peers of a link: what each has in its registers, who is told of whose changes, and their state tables.

use core::sync::atomic::{AtomicU32, Ordering};

use crate::space::{Place, Sections, Space, Version};
use crate::{ECAM, PEERS, REGISTERS};

/// The registers in BAR 0, by their offsets; each is accessed as 32 bits.
pub mod register {
    /// The peer's number.
    pub const ID: u32 = 0x00;
    /// Peers of the link.
    pub const PEERS: u32 = 0x04;
    /// Bit 0: interrupts are enabled.
    pub const INTERRUPTS: u32 = 0x08;
    /// Interrupts a peer: its number in the upper half, a vector in the lower one.
    pub const DOORBELL: u32 = 0x0c;
    /// The peer's state.
    pub const STATE: u32 = 0x10;
}

/// Words that a peer's registers are kept in, at the end of the memory of its state table: they outlive a life of the
/// service. The peer may have written them; it could have written its registers as well.
const KEPT: usize = 4;
/// The first of them, when there are others: "ivs2".
const MAGIC: u32 = u32::from_le_bytes(*b"ivs2");
/// In the second one, beside Command: one-shot interrupts, and Interrupt Control.
const KEPT_ONE_SHOT: u32 = 1 << 16;
const KEPT_ENABLED: u32 = 1 << 17;

/// What an access comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What a load gets.
    pub value: u64,
    /// The peer of that number is interrupted.
    pub ring: Option<usize>,
    /// The peer makes the access again, as more are to be interrupted.
    pub again: bool,
}

/// Why there is no such link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Fewer than 2 peers, or more than [`PEERS`].
    Peers,
    /// A state table's memory has another size than the sections say, or is too small.
    Table,
    /// The section that is to be BAR 2 has no power of two of bytes, or is not at a multiple of them.
    Bar,
}

struct Peer<'m> {
    space: Space,
    /// Interrupt Control.
    is_enabled: bool,
    state: u32,
    /// Those that are to be told of its state, as bits.
    untold: u32,
    /// The memory of its state table.
    table: &'m [AtomicU32],
}

impl Peer<'_> {
    const fn interrupts(&self) -> bool {
        self.is_enabled && self.space.may_interrupt()
    }

    fn keep(&self) {
        let Some(kept) = self.table.last_chunk::<KEPT>() else {
            return;
        };
        let flag = |is_set, bit| if is_set { bit } else { 0 };
        let flags = u32::from(self.space.command)
            | flag(self.space.one_shot, KEPT_ONE_SHOT)
            | flag(self.is_enabled, KEPT_ENABLED);
        for (word, value) in kept.iter().zip([MAGIC, flags, self.space.bar, self.state]) {
            word.store(value, Ordering::Relaxed);
        }
    }
}

/// Peers with a common shared memory.
pub struct Link<'m> {
    sections: Sections,
    peers: [Option<Peer<'m>>; PEERS],
    count: usize,
}

impl<'m> Link<'m> {
    /// The link of peers with these places and memories of their state tables, which have what a life before has left
    /// there, or are zero.
    ///
    /// # Errors
    /// See [`Refusal`].
    pub fn new(
        sections: Sections,
        peers: impl IntoIterator<Item = (Place, &'m [AtomicU32])>,
    ) -> Result<Self, Refusal> {
        let mut link = Self {
            sections,
            peers: [const { None }; PEERS],
            count: 0,
        };
        for (place, table) in peers {
            let slot = link.peers.get_mut(link.count).ok_or(Refusal::Peers)?;
            if size_of_val(table) as u64 != u64::from(sections.table) || table.len() < PEERS + KEPT
            {
                return Err(Refusal::Table);
            }
            let space = Space::new(place);
            let shared = sections.shared;
            if sections.version == Version::One
                && !(shared.is_power_of_two()
                    && shared >= u64::from(REGISTERS)
                    && space.shared(&sections).is_multiple_of(shared))
            {
                return Err(Refusal::Bar);
            }
            let kept: [u32; KEPT] = core::array::from_fn(|word| {
                table[table.len() - KEPT + word].load(Ordering::Relaxed)
            });
            let mut peer = Peer {
                space,
                is_enabled: false,
                state: 0,
                untold: 0,
                table,
            };
            if let [MAGIC, flags, bar, state] = kept {
                let one_shot = flags & KEPT_ONE_SHOT != 0;
                peer.space = Space::restored(place, flags as u16, bar, one_shot);
                // What is not decoded has been reset; version 1 has no such registers.
                if peer.space.is_decoded() && sections.version == Version::Two {
                    peer.is_enabled = flags & KEPT_ENABLED != 0;
                    peer.state = state;
                }
            }
            *slot = Some(peer);
            link.count += 1;
        }
        if link.count < 2 {
            return Err(Refusal::Peers);
        }
        for (id, peer) in link.peers.iter().flatten().enumerate() {
            peer.keep();
            for view in link.peers.iter().flatten() {
                view.table[id].store(peer.state, Ordering::Release);
            }
        }
        Ok(link)
    }

    /// Its peers.
    pub const fn peers(&self) -> usize {
        self.count
    }

    /// The next peer to interrupt because this is a new life of the service: what the one before has lost, its peers
    /// see by their tables. To be called until it returns `None`, with one more than the last number, from 0.
    pub fn next_after_restart(&mut self, from: usize) -> Option<usize> {
        (from..self.count).find(|peer| self.deliver(*peer))
    }

    /// An access of a peer at that offset of its window, a multiple of its size: 1, 2, 4 or 8 bytes.
    pub fn access(&mut self, id: usize, offset: u32, size: u8, store: Option<u64>) -> Outcome {
        const ALL_ONES: Outcome = Outcome {
            value: u64::MAX,
            ring: None,
            again: false,
        };
        let Some(Some(peer)) = self.peers.get_mut(id) else {
            return ALL_ONES;
        };
        let is_function = offset < REGISTERS;
        let is_decoded = peer.space.is_decoded();
        let value = match (offset, size, store) {
            // There is one function; behind it are those that are missing.
            (0..ECAM, 1 | 2 | 4, None) if is_function => {
                peer.space.load(offset, size, &self.sections)
            }
            (0..ECAM, 1 | 2 | 4, Some(value)) if is_function => {
                peer.space.store(offset, size, value as u32, &self.sections);
                if is_decoded && !peer.space.is_decoded() {
                    peer.is_enabled = false;
                    peer.space.one_shot = false;
                    self.set_state(id, 0);
                }
                0
            }
            (ECAM.., _, _) if is_decoded && offset - ECAM < REGISTERS => {
                match (offset - ECAM, size, store) {
                    _ if self.sections.version == Version::One => 0,
                    (register::ID, 4, None) => id as u64,
                    (register::PEERS, 4, None) => self.count as u64,
                    (register::INTERRUPTS, 4, None) => peer.is_enabled.into(),
                    (register::INTERRUPTS, 4, Some(value)) => {
                        peer.is_enabled = value & 1 != 0;
                        0
                    }
                    (register::DOORBELL, 4, Some(value)) => {
                        // What others are to be told waits: this access is not to be made again.
                        return Outcome {
                            ring: self.doorbell(value as u32),
                            ..Outcome::default()
                        };
                    }
                    (register::STATE, 4, None) => peer.state.into(),
                    (register::STATE, 4, Some(value)) => {
                        self.set_state(id, value as u32);
                        0
                    }
                    _ => 0,
                }
            }
            _ => ALL_ONES.value,
        };
        let ring = self.tell(id);
        let Some(Some(peer)) = self.peers.get(id) else {
            return ALL_ONES;
        };
        if store.is_some() {
            peer.keep();
        }
        Outcome {
            value,
            ring,
            again: peer.untold != 0,
        }
    }

    /// The peer that a value of Doorbell interrupts. There is one vector, 0.
    fn doorbell(&mut self, value: u32) -> Option<usize> {
        let target = (value >> 16) as usize;
        (value as u16 == 0 && self.deliver(target)).then_some(target)
    }

    /// Sets a peer's state; the tables have it before any peer is interrupted.
    fn set_state(&mut self, id: usize, state: u32) {
        let others = ((1 << self.count) - 1) & !(1 << id);
        let Some(Some(peer)) = self.peers.get_mut(id) else {
            return;
        };
        if peer.state == state {
            return;
        }
        peer.state = state;
        peer.untold = others;
        for view in self.peers.iter().flatten() {
            view.table[id].store(state, Ordering::Release);
        }
    }

    /// The next one that is interrupted because of the peer's state.
    fn tell(&mut self, id: usize) -> Option<usize> {
        loop {
            let peer = self.peers.get_mut(id)?.as_mut()?;
            if peer.untold == 0 {
                return None;
            }
            let target = peer.untold.trailing_zeros() as usize;
            peer.untold &= peer.untold - 1;
            if self.deliver(target) {
                return Some(target);
            }
        }
    }

    /// Whether a peer is interrupted. It is told once in one-shot mode.
    fn deliver(&mut self, target: usize) -> bool {
        let Some(Some(peer)) = self.peers.get_mut(target) else {
            return false;
        };
        let is_told = peer.interrupts();
        if is_told && peer.space.one_shot {
            peer.is_enabled = false;
            peer.keep();
        }
        is_told
    }
}
