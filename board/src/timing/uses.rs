//! Which bytes of memory and which registers are read, and when: what a fault in one of them could still change.
//!
//! Doublewords of memory are followed by their physical addresses: through loads, stores, atomics, walks of page
//! tables, fetches, and bus masters. Registers are followed from block to block of the instructions that a hart runs.
//! Of a device that goes through memory by itself, as virtio over MMIO does, it is not seen what it reads.
//!
//! All that is said errs on one side: what is read is said to be read, for as long as it could have been, and only what
//! is surely overwritten ends a life.

use std::collections::HashMap;
use std::ops::Range;

use crate::account::Doing;

/// Registers that are followed on each hart: x0 to x31, f0 to f31.
const REGISTERS: usize = 64;

/// A time in which a place holds what is read later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Life<P> {
    /// The place.
    pub place: P,
    /// The cycle in which it was written, or from which on it was followed.
    pub from: u64,
    /// The cycle in which it is read last before it is written again.
    pub to: u64,
}

/// A register of a hart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegisterOf {
    /// The hart.
    pub hart: usize,
    /// 0 to 31: x0 to x31; 32 to 63: f0 to f31.
    pub number: u8,
}

/// A time in which a hart did one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The hart.
    pub hart: usize,
    /// What it did.
    pub on: Doing,
    /// The cycle in which it began.
    pub from: u64,
    /// The cycle in which it ended.
    pub to: u64,
}

/// The registers that a block of instructions uses, a bit each, as [`RegisterOf::number`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Registers {
    /// Those that it reads before it writes them.
    pub read: u64,
    /// Those that it writes.
    pub written: u64,
}

impl Registers {
    /// Adds the next instruction, which reads and writes these.
    pub(super) const fn add(&mut self, read: u64, written: u64) {
        self.read |= read & !self.written;
        self.written |= written;
    }
}

/// The uses that were seen, when all is over.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    /// Lives of doublewords of the memory that was followed, by their addresses.
    pub memory: Vec<Life<u64>>,
    /// Lives of registers.
    pub registers: Vec<Life<RegisterOf>>,
    /// What harts did.
    pub turns: Vec<Turn>,
    /// By doubleword, the cycle in which it was read last.
    last: HashMap<u64, u64>,
    /// Whether a device has read what was not seen.
    unseen: bool,
}

impl Uses {
    /// Whether the byte at a physical address, of the memory that was followed, is read in this cycle or later. That it
    /// is overwritten before makes no difference here: a store may be of its neighbours alone.
    #[must_use]
    pub fn is_read_from(&self, address: u64, cycle: u64) -> bool {
        let last = self.last.get(&(address & !7));
        self.unseen || last.is_some_and(|last| *last >= cycle)
    }

    /// Whether what a register holds in this cycle is read later.
    #[must_use]
    pub fn is_alive(&self, register: RegisterOf, cycle: u64) -> bool {
        let behind = self
            .registers
            .partition_point(|life| (life.place, life.from) <= (register, cycle));
        // One may begin in the cycle in which the one before ends.
        let mut lives = self.registers[..behind].iter().rev().take(2);
        lives.any(|life| life.place == register && life.to >= cycle)
    }
}

/// What is known of a place at present.
#[derive(Clone, Copy, Debug)]
struct Value {
    /// Written then.
    from: u64,
    /// Read then, the last time since.
    read: Option<u64>,
}

impl Value {
    const fn since(from: u64) -> Self {
        Self { from, read: None }
    }

    fn read(&mut self, now: u64) {
        // Harts take turns, so that one may come to an earlier time than another.
        self.read = Some(self.read.map_or(now, |last| last.max(now)));
    }

    /// It is written: the life that has ended, if it was one.
    fn write<P>(&mut self, place: P, now: u64) -> Option<Life<P>> {
        let life = self.end(place);
        *self = Self::since(now);
        life
    }

    fn end<P>(&self, place: P) -> Option<Life<P>> {
        let from = self.from;
        self.read.map(|to| Life { place, from, to })
    }
}

/// The block that a hart runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entered {
    /// Where it is.
    pub physical: u64,
    /// Its length in bytes.
    pub bytes: u64,
    /// The registers it uses.
    pub registers: Registers,
    /// Its instructions.
    pub count: u16,
    /// Those that the hart had retired before.
    pub retired: u64,
    /// The cycle.
    pub now: u64,
}

/// Follows uses while a board runs.
#[derive(Clone, Debug)]
pub(super) struct Follower {
    /// Physical addresses of the memory to follow.
    memory: Vec<Range<u64>>,
    begin: u64,
    words: HashMap<u64, Value>,
    registers: Vec<[Value; REGISTERS]>,
    blocks: Vec<Option<Entered>>,
    turns: Vec<(Doing, u64)>,
    uses: Uses,
}

impl Follower {
    /// From the cycle `begin` on. `doing`: what each hart does.
    pub fn new(memory: &[Range<u64>], begin: u64, doing: &[Doing]) -> Self {
        Self {
            memory: memory.to_vec(),
            begin,
            words: HashMap::new(),
            registers: vec![[Value::since(begin); REGISTERS]; doing.len()],
            blocks: vec![None; doing.len()],
            turns: doing.iter().map(|doing| (*doing, begin)).collect(),
            uses: Uses::default(),
        }
    }

    fn follows(&self, physical: u64) -> bool {
        self.memory.iter().any(|range| range.contains(&physical))
    }

    /// A doubleword is read, written, or both, by an access that does not reach beyond it.
    pub fn access(&mut self, physical: u64, reads: bool, writes: bool, now: u64) {
        if !self.follows(physical) {
            return;
        }
        let place = physical & !7;
        let begin = self.begin;
        let word = self.words.entry(place).or_insert(Value::since(begin));
        if reads {
            word.read(now);
            let last = self.uses.last.entry(place).or_insert(now);
            *last = now.max(*last);
        } else if writes {
            self.uses.memory.extend(word.write(place, now));
        }
    }

    /// Many bytes are read.
    pub fn read(&mut self, physical: u64, bytes: u64, now: u64) {
        for place in (physical & !7..physical + bytes).step_by(8) {
            self.access(place, true, false, now);
        }
    }

    /// A device reads memory, and it is not seen what.
    pub const fn note_unseen(&mut self) {
        self.uses.unseen = true;
    }

    /// A hart comes to a block.
    pub fn enter(&mut self, hart: usize, block: Entered) {
        self.leave(hart, block.retired, block.now);
        self.blocks[hart] = Some(block);
    }

    /// A hart has left the block that it was in, and has retired so many instructions by now.
    fn leave(&mut self, hart: usize, retired: u64, now: u64) {
        let Some(block) = self.blocks[hart].take() else {
            return;
        };
        // It may have been read as late as this.
        self.read(block.physical, block.bytes, now);
        let is_whole = retired.wrapping_sub(block.retired) == u64::from(block.count);
        let Registers { read, written } = block.registers;
        for number in 0..REGISTERS as u8 {
            let value = &mut self.registers[hart][usize::from(number)];
            if read >> number & 1 != 0 {
                value.read(now);
            } else if is_whole && written >> number & 1 != 0 {
                let place = RegisterOf { hart, number };
                self.uses.registers.extend(value.write(place, block.now));
            }
        }
    }

    /// A hart turns to something else.
    pub fn turn(&mut self, hart: usize, to: Doing, now: u64) {
        let (on, from) = std::mem::replace(&mut self.turns[hart], (to, now));
        self.uses.turns.push(Turn {
            hart,
            on,
            from,
            to: now,
        });
    }

    /// All is over, with each hart in this cycle.
    pub fn finish(mut self, now: &[u64]) -> Uses {
        for (hart, now) in now.iter().enumerate() {
            // What a block that has not ended writes comes behind the end.
            let retired = self.blocks[hart].map_or(0, |block| block.retired);
            self.leave(hart, retired, *now);
            let doing = self.turns[hart].0;
            self.turn(hart, doing, *now);
            for number in 0..REGISTERS as u8 {
                let value = self.registers[hart][usize::from(number)];
                let place = RegisterOf { hart, number };
                self.uses.registers.extend(value.end(place));
            }
        }
        let words = self.words.iter();
        let lives = words.filter_map(|(place, value)| value.end(*place));
        self.uses.memory.extend(lives);
        // In an order that does not depend on how they were kept.
        self.uses
            .memory
            .sort_unstable_by_key(|life| (life.place, life.from));
        self.uses
            .registers
            .sort_unstable_by_key(|life| (life.place, life.from));
        self.uses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HART: usize = 0;

    fn follower() -> Follower {
        Follower::new(
            std::slice::from_ref(&(0x1000..0x2000)),
            100,
            &[Doing::Waiting],
        )
    }

    fn block(now: u64, retired: u64, read: u64, written: u64) -> Entered {
        Entered {
            physical: 0x3000,
            bytes: 16,
            registers: Registers { read, written },
            count: 4,
            retired,
            now,
        }
    }

    fn lives<P: Copy>(lives: &[Life<P>]) -> Vec<(P, u64, u64)> {
        lives
            .iter()
            .map(|life| (life.place, life.from, life.to))
            .collect()
    }

    #[test]
    fn memory_lives_from_a_store_to_the_last_load_before_the_next() {
        let mut follower = follower();
        for (address, reads, writes, now) in [
            (0x1008, true, false, 110),
            (0x100c, true, false, 120),
            (0x1008, false, true, 130),
            (0x100f, false, true, 140),
            (0x1008, true, true, 150),
            (0x1010, false, true, 160),
            (0x2000, true, false, 170),
        ] {
            follower.access(address, reads, writes, now);
        }
        let uses = follower.finish(&[200]);
        assert_eq!(
            lives(&uses.memory),
            [(0x1008, 100, 120), (0x1008, 140, 150)]
        );
        let is_read = |cycle| uses.is_read_from(0x100f, cycle);
        assert!(is_read(100) && is_read(135) && is_read(150) && !is_read(151));
        assert!(!uses.is_read_from(0x1010, 100));
        let mut follower = self::follower();
        follower.note_unseen();
        let uses = follower.finish(&[200]);
        assert!(uses.is_read_from(0x1010, 100), "it is not known");
    }

    #[test]
    fn code_is_read_until_its_block_is_left() {
        let mut follower = follower();
        let code = Entered {
            physical: 0x103e,
            bytes: 16,
            ..block(110, 0, 0, 0)
        };
        follower.enter(HART, code);
        follower.enter(HART, block(150, 4, 0, 0));
        let uses = follower.finish(&[200]);
        let first: Vec<u64> = uses.memory.iter().map(|life| life.place).collect();
        assert_eq!(first, [0x1038, 0x1040, 0x1048]);
        assert!(
            uses.memory
                .iter()
                .all(|life| (life.from, life.to) == (100, 150))
        );
    }

    #[test]
    fn registers_live_from_block_to_block() {
        let register = |number| RegisterOf { hart: HART, number };
        let mut follower = follower();
        // x5 is written, x6 read.
        follower.enter(HART, block(110, 0, 1 << 6, 1 << 5));
        // x5 is read and written; x6 would be written, but the block is left before.
        follower.enter(HART, block(120, 4, 1 << 5, 1 << 5 | 1 << 6));
        follower.enter(HART, block(130, 7, 0, 1 << 5));
        follower.enter(HART, block(140, 11, 1 << 5, 0));
        let uses = follower.finish(&[200]);
        let expected = [
            (register(5), 110, 130),
            (register(5), 130, 200),
            (register(6), 100, 120),
        ];
        assert_eq!(lives(&uses.registers), expected);
        assert!(!uses.is_alive(register(5), 105), "overwritten unread");
        assert!(uses.is_alive(register(5), 130));
        assert!(!uses.is_alive(register(6), 121));
        assert!(!uses.is_alive(register(37), 150), "f5 is not x5");
    }

    #[test]
    fn turns_are_told() {
        let mut follower = follower();
        let running = Doing::Running {
            guest: Some(1),
            privilege: crate::privileged::Privilege::User,
        };
        follower.turn(HART, running, 150);
        let uses = follower.finish(&[200]);
        let turns: Vec<_> = uses
            .turns
            .iter()
            .map(|turn| (turn.on, turn.from, turn.to))
            .collect();
        assert_eq!(turns, [(Doing::Waiting, 100, 150), (running, 150, 200)]);
    }
}
