//! Which cache lines a hart touches outside guests, from when it leaves a guest, ends a wait or passes a mark.
//!
//! A line counts once, whatever the caches had of it: each line that a block of instructions lies in, that a load,
//! store or atomic reaches, that a page table walk reads, and that a prefetch asks for. Nothing changes by that.

use std::sync::Arc;

use crate::account::Doing;

/// Slots for lines: a power of two.
const SLOTS: usize = 1 << 13;
/// Lines that are told apart; the others are not counted.
const LINES_MAX: u16 = 1 << 12;

/// What a hart has touched since it left a guest, ended a wait or passed a mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// Lines of instructions.
    pub code: u16,
    /// Lines of data.
    pub data: u16,
    /// Of the lines of instructions, those that were read from memory.
    pub code_from_memory: u16,
    /// Of the lines of data, those that were read from memory.
    pub data_from_memory: u16,
    /// How often a line that it had touched was no longer there, or no longer its own.
    pub again: u16,
    /// Accesses to devices.
    pub devices: u16,
    /// Blocks of instructions, of those that it ran, that begin outside [known code](Count::known).
    pub outside: u16,
}

/// What to count, and from where on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Probes from this number on begin a new count.
    pub marks: u32,
    /// Code that blocks are expected to begin in: first addresses, and those behind the last; in order.
    pub known: Vec<(u64, u64)>,
}

/// A line in the table.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// Its key and, in the lowest bit, whether it is one of instructions.
    name: u64,
    /// The count that it is of.
    count: u32,
    /// It was touched more than once.
    known: bool,
    /// It was read from memory, or taken from others, since.
    paid: bool,
}

/// The lines of a hart.
#[derive(Clone, Debug)]
pub(super) struct Touched {
    counting: bool,
    /// The number of the present count, from 1 on: slots of earlier ones are empty.
    count: u32,
    slots: Box<[Slot]>,
    lines: Lines,
    known: Arc<[(u64, u64)]>,
}

impl Touched {
    /// Nothing yet. `known`: as [`Count::known`].
    pub fn new(known: Arc<[(u64, u64)]>) -> Self {
        Self {
            known,
            counting: false,
            count: 1,
            slots: vec![Slot::default(); SLOTS].into(),
            lines: Lines::default(),
        }
    }

    /// What was touched in the present count.
    pub const fn lines(&self) -> Lines {
        self.lines
    }

    /// The hart turns `to` something else.
    pub fn turn(&mut self, to: Doing) {
        let counts = matches!(to, Doing::Running { guest: None, .. });
        if counts != self.counting {
            self.counting = counts;
            self.begin();
        }
    }

    /// Begins a new count.
    pub fn begin(&mut self) {
        self.lines = Lines::default();
        if self.count == u32::MAX {
            self.slots.fill(Slot::default());
            self.count = 0;
        }
        self.count += 1;
    }

    /// The slot of a line, its own or a free one.
    fn slot(&mut self, key: u64, code: bool) -> &mut Slot {
        let name = key | u64::from(code);
        let mut place = (name.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 51) as usize;
        // There are more slots than lines.
        while self.slots[place].count == self.count && self.slots[place].name != name {
            place = (place + 1) % SLOTS;
        }
        &mut self.slots[place]
    }

    /// The slot of a line that was touched in the present count.
    fn touched(&mut self, key: u64, code: bool) -> Option<&mut Slot> {
        let (counting, count) = (self.counting, self.count);
        let slot = self.slot(key, code);
        (counting && slot.count == count).then_some(slot)
    }

    /// The hart touches a line.
    pub fn touch(&mut self, key: u64, code: bool) {
        if !self.counting {
            return;
        }
        let count = self.count;
        let slot = self.slot(key, code);
        if slot.count == count {
            slot.known = true;
            return;
        }
        if self.lines.code + self.lines.data >= LINES_MAX {
            return;
        }
        *self.slot(key, code) = Slot {
            name: key | u64::from(code),
            count,
            ..Slot::default()
        };
        if code {
            self.lines.code += 1;
        } else {
            self.lines.data += 1;
        }
    }

    /// The line that the hart touched last was not in its cache, and was read, from `memory` or not.
    pub fn miss(&mut self, key: u64, code: bool, memory: bool) {
        let Some(slot) = self.touched(key, code) else {
            return;
        };
        let again = slot.known;
        let first = memory && !slot.paid;
        slot.paid |= memory;
        let lines = &mut self.lines;
        if again {
            lines.again = lines.again.saturating_add(1);
        }
        if first && code {
            lines.code_from_memory += 1;
        } else if first {
            lines.data_from_memory += 1;
        }
    }

    /// The line of data that the hart touched last was shared, and is taken from the others.
    pub fn upgrade(&mut self, key: u64) {
        let Some(slot) = self.touched(key, false) else {
            return;
        };
        if std::mem::replace(&mut slot.paid, true) {
            self.lines.again = self.lines.again.saturating_add(1);
        }
    }

    /// The hart runs a block of instructions that begins here.
    pub fn enter(&mut self, physical: u64) {
        let behind = self.known.partition_point(|(first, _)| *first <= physical);
        let range = behind.checked_sub(1).map(|place| self.known[place]);
        if self.counting && range.is_none_or(|(_, end)| physical >= end) {
            self.lines.outside = self.lines.outside.saturating_add(1);
        }
    }

    /// The hart reaches a device.
    pub const fn device(&mut self) {
        if self.counting {
            self.lines.devices = self.lines.devices.saturating_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privileged::Privilege;

    fn running(guest: Option<u16>) -> Doing {
        Doing::Running {
            guest,
            privilege: Privilege::Supervisor,
        }
    }

    #[test]
    fn a_line_counts_once_until_the_next_count() {
        let mut touched = Touched::new(Arc::from([(16, 32)]));
        touched.touch(4, true);
        assert_eq!(touched.lines(), Lines::default(), "in a guest");
        touched.turn(running(None));
        for key in [4, 8, 4] {
            touched.touch(key, true);
        }
        touched.touch(4, false);
        touched.miss(4, false, true);
        touched.device();
        for block in [15, 16, 31, 32] {
            touched.enter(block);
        }
        let wanted = Lines {
            code: 2,
            data: 1,
            data_from_memory: 1,
            devices: 1,
            outside: 2,
            ..Lines::default()
        };
        assert_eq!(touched.lines(), wanted);
        // Lost and read again; then shared by another hart and taken back.
        touched.touch(4, false);
        touched.miss(4, false, true);
        touched.upgrade(4);
        assert_eq!(touched.lines(), Lines { again: 2, ..wanted });
        touched.begin();
        touched.touch(4, true);
        assert_eq!(touched.lines().code, 1);
        touched.turn(running(Some(1)));
        assert_eq!(touched.lines(), Lines::default());
    }

    #[test]
    fn lines_beyond_the_most_are_not_counted() {
        let mut touched = Touched::new(Arc::from([(16, 32)]));
        touched.turn(running(None));
        for number in 0..u64::from(LINES_MAX) + 9 {
            touched.touch(number << 2, false);
            touched.miss(number << 2, false, false);
        }
        assert_eq!(touched.lines().data, LINES_MAX);
        assert_eq!(touched.lines().again, 0);
    }
}
