//! The bus between harts and devices, and what a device is.
//!
//! A [`Device`] answers reads and writes of its registers. All that it does beyond that it does through the
//! [`Port`] that it is handed at each call: it learns the time, raises interrupt lines, masters the bus, asks to be
//! woken at a time, and makes the access that is under way take longer.

use crate::memory::{Memory, NoMemory};
pub use crate::state::BadState;
use crate::time::Femtoseconds;
use crate::timing::Timing;

/// An access that a device refuses: the hart takes an access fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the device refuses this access")]
pub struct Refused;

/// A peripheral, or anything else that answers in a range of physical addresses.
///
/// Everything a device does is a function of the calls that it gets: it asks no clock and no generator of random
/// numbers of the host's, or runs do not repeat.
pub trait Device: Send {
    /// Reads `size` (1, 2, 4 or 8) bytes of registers at `offset` from the device's address; a multiple of `size`. The
    /// value is in the low bytes; the others are ignored.
    ///
    /// # Errors
    ///
    /// [`Refused`] where no such register can be read in this size.
    fn read(&mut self, offset: u64, size: u8, port: &mut Port<'_>) -> Result<u64, Refused>;

    /// Writes `size` bytes, the low ones of `value`; the others are zero.
    ///
    /// # Errors
    ///
    /// [`Refused`] where no such register can be written in this size; nothing has changed then.
    fn write(
        &mut self,
        offset: u64,
        size: u8,
        value: u64,
        port: &mut Port<'_>,
    ) -> Result<(), Refused>;

    /// The time that it asked for by [`Port::wake_at`] has come, it was just attached, or input for it came from
    /// outside. It has to find out by itself what is due.
    fn wake(&mut self, port: &mut Port<'_>) {
        let _ = port;
    }

    /// All of its state, for a snapshot.
    fn save(&self) -> Vec<u8>;

    /// Takes back what [`save`](Self::save) gave.
    ///
    /// # Errors
    ///
    /// When the bytes are not such a state; nothing has changed then.
    fn restore(&mut self, state: &[u8]) -> Result<(), BadState>;

    /// Loses power, and gets it again: from then on its state is this one, but for what it keeps without power.
    ///
    /// # Errors
    ///
    /// As of [`restore`](Self::restore).
    fn lose_power(&mut self, at_power_on: &[u8]) -> Result<(), BadState> {
        self.restore(at_power_on)
    }
}

/// How many interrupt lines there are: sources of the PLIC. Line 0 does not exist.
pub const LINES: usize = 1024;

/// The levels of the interrupt lines between devices and the PLIC.
///
/// A line can be *held* at a level, as a fault does that cuts or shorts it: then the PLIC sees that level, whatever the
/// device does, until the line is let go.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Lines {
    /// As devices drive them.
    driven: Vec<u64>,
    /// Those that are held.
    held: Vec<u64>,
    /// The lines to the PLIC.
    levels: Vec<u64>,
    changed: bool,
}

impl Default for Lines {
    fn default() -> Self {
        let none = vec![0; LINES / 64];
        Self {
            driven: none.clone(),
            held: none.clone(),
            levels: none,
            changed: false,
        }
    }
}

impl Lines {
    /// Drives `line` (1 to 1023; others are ignored) high or low.
    pub fn set(&mut self, line: u32, level: bool) {
        let (word, bit) = (line as usize / 64, 1 << (line % 64));
        if line == 0 || word >= self.driven.len() {
            return;
        }
        put(&mut self.driven[word], bit, level);
        if self.held[word] & bit == 0 {
            self.changed |= put(&mut self.levels[word], bit, level);
        }
    }

    /// Holds `line` at a level, or lets it go.
    pub fn hold(&mut self, line: u32, level: Option<bool>) {
        let (word, bit) = (line as usize / 64, 1 << (line % 64));
        if line == 0 || word >= self.driven.len() {
            return;
        }
        put(&mut self.held[word], bit, level.is_some());
        let level = level.unwrap_or(self.driven[word] & bit != 0);
        self.changed |= put(&mut self.levels[word], bit, level);
    }

    /// The levels that the PLIC sees, line n in bit n % 64 of word n / 64.
    #[must_use]
    pub fn levels(&self) -> &[u64] {
        &self.levels
    }

    /// Whether any line changed since this was asked last.
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// Whether these, read from outside, are those of a board.
    pub(crate) fn is_sound(&self) -> bool {
        [&self.driven, &self.held, &self.levels]
            .iter()
            .all(|words| words.len() == LINES / 64)
    }
}

/// Sets or clears a bit; whether that changed it.
const fn put(word: &mut u64, bit: u64, level: bool) -> bool {
    let new = if level { *word | bit } else { *word & !bit };
    let changed = new != *word;
    *word = new;
    changed
}

/// The operations of a device during a call.
pub struct Port<'a> {
    now: Femtoseconds,
    memory: &'a Memory,
    lines: &'a mut Lines,
    effects: &'a mut Effects,
    /// Costs of memory and caches, in timed mode.
    timing: Option<&'a mut Timing>,
}

/// The requests of a device's call to the board.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// When the device is to be woken, instead of when it was to be woken before.
    pub wake_at: Option<Femtoseconds>,
    /// By how much the access takes longer than the bus alone does.
    pub stall: Femtoseconds,
    /// The wires to harts that the device drives: hart, bits of `mip`, level.
    pub wires: Vec<(usize, u64, bool)>,
    /// Memory may have been written by the device as a bus master.
    pub mastered: bool,
    /// Memory written by the fabric, or by a device through the caches: addresses and numbers of bytes.
    pub written: Vec<(u64, u64)>,
    /// Why the run is to end, if it is.
    pub stop: Option<Stop>,
    /// The access can't be answered yet: the hart is to stand before it until the board is run again.
    pub postponed: bool,
}

/// Why a run ends at a device's wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Stop {
    /// The software powered the board off.
    PowerOff,
    /// The software reported failure, with a code.
    Failure(u16),
    /// The software asked for a reset.
    Reset,
}

impl<'a> Port<'a> {
    /// A port at the time `now`.
    pub const fn new(
        now: Femtoseconds,
        memory: &'a Memory,
        lines: &'a mut Lines,
        effects: &'a mut Effects,
    ) -> Self {
        Self {
            now,
            memory,
            lines,
            effects,
            timing: None,
        }
    }

    /// The same with what memory and caches take.
    pub(crate) const fn with_timing(mut self, timing: Option<&'a mut Timing>) -> Self {
        self.timing = timing;
        self
    }

    /// Reads memory for the fabric or a device, through the caches or past them, at a cycle of the harts. Gives the
    /// cycles that it takes.
    pub(crate) fn read_as_master(
        &mut self,
        coherent: bool,
        address: u64,
        bytes: &mut [u8],
        cycle: u64,
    ) -> Result<u64, NoMemory> {
        self.memory.read(address, bytes)?;
        let length = bytes.len() as u64;
        Ok(self.timing.as_mut().map_or(0, |timing| {
            timing.note_read(address, length, cycle);
            timing.fabric_access(coherent, address, length, false, cycle)
        }))
    }

    /// Writes memory for a device, likewise through the caches.
    pub(crate) fn write_as_master(
        &mut self,
        address: u64,
        bytes: &[u8],
        cycle: u64,
    ) -> Result<u64, NoMemory> {
        let length = bytes.len();
        let host = self.memory_at(address, length)?;
        // Safety: within memory, as was asked above; nothing else has a reference to it.
        unsafe { host.copy_from_nonoverlapping(bytes.as_ptr(), length) };
        Ok(self.has_written(true, address, length, cycle))
    }

    /// Writes memory for the fabric, through the caches or past them: of each 8 bytes those whose bits are set in
    /// `strobes`. The address and the number of bytes are multiples of 8.
    pub(crate) fn write_as_fabric(
        &mut self,
        coherent: bool,
        address: u64,
        bytes: &[u8],
        strobes: &[u8],
        cycle: u64,
    ) -> Result<u64, NoMemory> {
        let length = bytes.len();
        let host = self.memory_at(address, length)?;
        for (index, byte) in bytes.iter().enumerate() {
            if strobes[index / 8] >> (index % 8) & 1 != 0 {
                // Safety: within memory, as was asked above; nothing else has a reference to it.
                unsafe { host.add(index).write(*byte) };
            }
        }
        Ok(self.has_written(coherent, address, length, cycle))
    }

    /// Where so many bytes of memory are, all of which are there.
    fn memory_at(&self, address: u64, length: usize) -> Result<*mut u8, NoMemory> {
        self.memory
            .host(address)
            .filter(|_| self.memory.holds(address, length as u64))
            .ok_or(NoMemory { address, length })
    }

    /// A master has written that, at a cycle of the harts. Gives the cycles that it takes.
    fn has_written(&mut self, coherent: bool, address: u64, length: usize, cycle: u64) -> u64 {
        let length = length as u64;
        self.effects.written.push((address, length));
        self.timing.as_mut().map_or(0, |timing| {
            timing.fabric_access(coherent, address, length, true, cycle)
        })
    }

    /// The time of the access, or of the waking.
    #[must_use]
    pub const fn now(&self) -> Femtoseconds {
        self.now
    }

    /// Main memory, for a device model that walks structures in it. What is written through it counts as written
    /// by a bus master.
    #[must_use]
    pub const fn memory(&mut self) -> &'a Memory {
        self.effects.mastered = true;
        self.note_unseen();
        self.memory
    }

    /// What the device reads is not seen, where uses are followed.
    const fn note_unseen(&mut self) {
        if let Some(timing) = &mut self.timing {
            timing.note_unseen();
        }
    }

    /// Reads memory as a bus master.
    ///
    /// # Errors
    ///
    /// Where not all of it is memory.
    pub fn read_memory(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), NoMemory> {
        self.note_unseen();
        self.memory.read(address, bytes)
    }

    /// Writes memory as a bus master.
    ///
    /// # Errors
    ///
    /// Where not all of it is memory; nothing is written then.
    pub fn write_memory(&mut self, address: u64, bytes: &[u8]) -> Result<(), NoMemory> {
        self.memory().write(address, bytes)
    }

    /// Drives an interrupt line to the PLIC (1 to 1023) high or low.
    pub fn interrupt(&mut self, line: u32, level: bool) {
        self.lines.set(line, level);
    }

    /// Drives wires straight to a hart: `bits` as they stand in `mip`. For interrupt controllers.
    pub fn wire(&mut self, hart: usize, bits: u64, level: bool) {
        self.effects.wires.push((hart, bits, level));
    }

    /// Asks for [`Device::wake`] at `time`, or as soon as it can be if that has passed; it replaces what was asked
    /// for before. [`Femtoseconds::NEVER`] withdraws it.
    pub fn wake_at(&mut self, time: Femtoseconds) {
        self.effects.wake_at = Some(time);
    }

    /// Lets the access that is under way take this much longer.
    pub fn stall(&mut self, time: Femtoseconds) {
        self.effects.stall = self.effects.stall.saturating_add(time);
    }

    /// Lets the access that is under way be over no earlier than at `time`.
    pub fn lengthen(&mut self, time: Femtoseconds) {
        let wait = Femtoseconds(time.0.saturating_sub(self.now.0));
        self.effects.stall = self.effects.stall.max(wait);
    }

    /// Lets the hart stand before the access that is under way, which is to be refused now: the run ends there, and
    /// begins with the same access again.
    pub(crate) fn postpone(&mut self) {
        self.effects.postponed = true;
    }

    /// Ends the run.
    pub fn stop(&mut self, stop: Stop) {
        self.effects.stop = Some(stop);
    }

    /// The levels of all lines to the PLIC. For interrupt controllers.
    #[must_use]
    pub fn lines(&self) -> &Lines {
        self.lines
    }
}
