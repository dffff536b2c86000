//! The queues in memory: commands to the IOMMU, and faults from it (chapter 3).

use serde::{Deserialize, Serialize};

use super::context::{Mode, PAGE_NUMBER};
use super::registers::{
    COMMAND_FAULTS, COMMAND_ILLEGAL, ENABLE, FENCE_DONE, INTERRUPT, MEMORY_FAULT, ON, OVERFLOW,
    PENDING_COMMANDS, PENDING_FAULTS,
};
use super::{Iommu, Root};
use crate::privileged::Trap;
use crate::time::Femtoseconds;

/// Bytes of a command and of a fault record.
const COMMAND: u64 = 16;
const RECORD: u64 = 32;
/// The shortest time of a command.
const COMMAND_MIN: Femtoseconds = Femtoseconds(1_000_000);

/// Causes of faults that are the IOMMU's own (section 3.2, table "Fault record CAUSE field encodings"); those of
/// translations are the harts'.
pub(super) const ALL_DISALLOWED: u16 = 256;
pub(super) const DIRECTORY_ACCESS: u16 = 257;
pub(super) const DIRECTORY_INVALID: u16 = 258;
pub(super) const MISCONFIGURED: u16 = 259;
pub(super) const TYPE_DISALLOWED: u16 = 260;
/// Types of transactions: an untranslated read and write.
const READ: u64 = 2;
const WRITE: u64 = 3;

/// Opcodes and functions of commands (section 3.1).
const IOTINVAL: u64 = 1;
const IOFENCE: u64 = 2;
const IODIR: u64 = 3;
/// Bits of the operands, in the first doubleword.
const ADDRESS_VALID: u64 = 1 << 10;
const WIRE: u64 = 1 << 11;
const PROCESS_VALID: u64 = 1 << 32;
const DEVICE_OR_GUEST_VALID: u64 = 1 << 33;

/// A queue in memory: the register of its place, and its indices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Queue {
    pub base: u64,
    pub head: u32,
    pub tail: u32,
}

impl Queue {
    /// What can be written of the register (sections 5.6 and 5.9).
    const BASE: u64 = PAGE_NUMBER | 31;

    /// Gives it another place; its indices stay within it.
    pub const fn move_to(&mut self, base: u64) {
        self.base = base & Self::BASE;
        self.head &= self.mask();
        self.tail &= self.mask();
    }

    /// Its indices have these bits.
    pub const fn mask(&self) -> u32 {
        (2_u64 << (self.base & 31)).wrapping_sub(1) as u32
    }

    /// The address of an entry of so many bytes.
    const fn place(&self, index: u32, size: u64) -> u64 {
        ((self.base & PAGE_NUMBER) << 2) + index as u64 * size
    }

    const fn next(&self, index: u32) -> u32 {
        index.wrapping_add(1) & self.mask()
    }

    /// Whether a queue can be so.
    pub const fn is_sound(&self) -> bool {
        self.base & !Self::BASE == 0 && (self.head | self.tail) & !self.mask() == 0
    }
}

/// A fault: why an access was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    cause: u16,
    /// What `iotval2` tells of the guest physical address.
    guest: u64,
    /// Whether it is not to be reported.
    hidden: bool,
}

/// A fault record.
pub(super) struct Record {
    words: [u64; 4],
    hidden: bool,
}

impl Fault {
    pub const fn new(cause: u16) -> Self {
        Self {
            cause,
            guest: 0,
            hidden: false,
        }
    }

    /// The fault that a walk ended with. Its cause is the number of the harts' exception.
    pub const fn of_walk(trap: Trap) -> Self {
        // Bit 0: by the IOMMU's own access to a table of the first stage.
        let implicit = (trap.instruction != 0) as u64;
        Self {
            cause: trap.cause as u16,
            guest: trap.value2 << 2 | implicit,
            hidden: false,
        }
    }

    /// The same, not to be reported where the context says so. For those that the table lets it hide.
    pub const fn unless(mut self, hidden: bool) -> Self {
        self.hidden = hidden;
        self
    }

    /// The record about it.
    pub fn of(self, device: u32, address: u64, write: bool) -> Record {
        let kind = if write { WRITE } else { READ };
        let first = u64::from(self.cause) | kind << 34 | u64::from(device) << 40;
        Record {
            words: [first, 0, address, self.guest],
            hidden: self.hidden,
        }
    }
}

impl Iommu {
    /// Puts a record into the fault queue, or notes that it could not (section 3.2).
    pub(super) fn report(&mut self, record: Record, root: &mut Root<'_, '_>) {
        let state = &mut self.state;
        let lost = state.fqcsr & (MEMORY_FAULT | OVERFLOW) != 0;
        if record.hidden || state.fqcsr & ON == 0 || lost {
            return;
        }
        let queue = &mut state.faults;
        let next = queue.next(queue.tail);
        if next == queue.head {
            state.fqcsr |= OVERFLOW;
            return;
        }
        let bytes = record.words.map(u64::to_le_bytes).concat();
        if root.write(queue.place(queue.tail, RECORD), &bytes).is_err() {
            state.fqcsr |= MEMORY_FAULT;
            return;
        }
        queue.tail = next;
        if state.fqcsr & INTERRUPT != 0 {
            state.ipsr |= PENDING_FAULTS;
        }
    }

    /// Sets the bits of `ipsr` whose conditions hold (section 5.18).
    pub(super) const fn update_pending(&mut self) {
        let state = &mut self.state;
        if state.cqcsr & INTERRUPT != 0 && state.cqcsr & (COMMAND_FAULTS | FENCE_DONE) != 0 {
            state.ipsr |= PENDING_COMMANDS;
        }
        if state.fqcsr & INTERRUPT != 0 && state.fqcsr & (MEMORY_FAULT | OVERFLOW) != 0 {
            state.ipsr |= PENDING_FAULTS;
        }
    }

    /// Ends the command that is due, and begins the next one: one at a time, each as long as fetching it takes.
    pub(in super::super) fn advance(&mut self, root: &mut Root<'_, '_>) {
        if let Some((command, due)) = self.state.command {
            if due > root.now() {
                return;
            }
            self.state.command = None;
            match self.carry_out(command, root) {
                Ok(()) => {
                    self.state.commands.head = self.state.commands.next(self.state.commands.head)
                }
                Err(error) => self.state.cqcsr |= error,
            }
        }
        self.fetch(root);
        self.update_pending();
    }

    /// Begins the next command, if there is one and nothing stops the queue.
    fn fetch(&mut self, root: &mut Root<'_, '_>) {
        let state = &mut self.state;
        let queue = &state.commands;
        let runs = state.cqcsr & (ENABLE | ON) == ENABLE | ON && state.cqcsr & COMMAND_FAULTS == 0;
        if !runs || queue.head == queue.tail {
            return;
        }
        let mut bytes = [0; COMMAND as usize];
        let before = root.spent();
        if root
            .read(queue.place(queue.head, COMMAND), &mut bytes)
            .is_err()
        {
            state.cqcsr |= MEMORY_FAULT;
            return;
        }
        let both = u128::from_le_bytes(bytes);
        let time = (root.spent() - before).max(COMMAND_MIN);
        let due = root.now().saturating_add(time);
        state.command = Some(([both as u64, (both >> 64) as u64], due));
    }

    /// Carries out a command; otherwise the bit of `cqcsr` that says why it could not.
    fn carry_out(&mut self, command: [u64; 2], root: &mut Root<'_, '_>) -> Result<(), u32> {
        let [first, second] = command;
        let function = first >> 7 & 7;
        match (first & 0x7f, function) {
            (IOTINVAL, 0 | 1) => self.invalidate_translations(first, second, function == 1),
            (IOFENCE, 0) => self.fence(first, second, root),
            (IODIR, 0) => self.invalidate_directory(first, second),
            // Also what needs ATS and process contexts, which are not there.
            _ => Err(COMMAND_ILLEGAL),
        }
    }

    /// `IOTINVAL.VMA` and `IOTINVAL.GVMA` (section 3.1.1).
    fn invalidate_translations(
        &mut self,
        first: u64,
        second: u64,
        second_stage: bool,
    ) -> Result<(), u32> {
        let operands = 0x3ff
            | ADDRESS_VALID
            | 0xf_ffff << 12
            | PROCESS_VALID
            | DEVICE_OR_GUEST_VALID
            | 0xffff << 44;
        let address_bits = ((1 << 52) - 1) << 10;
        if first & !operands != 0
            || second & !address_bits != 0
            || second_stage && first & PROCESS_VALID != 0
        {
            return Err(COMMAND_ILLEGAL);
        }
        let guest = (first & DEVICE_OR_GUEST_VALID != 0).then_some((first >> 44) as u16);
        let process = (first & PROCESS_VALID != 0).then_some((first >> 12) as u32 & 0xf_ffff);
        let address = (first & ADDRESS_VALID != 0).then_some(second << 2);
        let cache = &mut self.state.translations;
        match (second_stage, guest) {
            (false, _) => cache.drop_first_stage(guest, process, address),
            // Without a guest the address does not count.
            (true, None) => cache.drop_second_stage(None, None),
            (true, Some(_)) => cache.drop_second_stage(guest, address),
        }
        Ok(())
    }

    /// `IOFENCE.C` (section 3.1.2). Accesses of devices and commands before it are over: they happen one after the
    /// other.
    fn fence(&mut self, first: u64, second: u64, root: &mut Root<'_, '_>) -> Result<(), u32> {
        // PR and PW are bits 12 and 13; the data are the upper half.
        let operands = 0x3ff | ADDRESS_VALID | WIRE | 3 << 12 | 0xffff_ffff << 32;
        if first & !operands != 0 || second >> 62 != 0 {
            return Err(COMMAND_ILLEGAL);
        }
        if first & ADDRESS_VALID != 0 {
            let data = ((first >> 32) as u32).to_le_bytes();
            root.write(second << 2, &data).map_err(|_| MEMORY_FAULT)?;
        }
        if first & WIRE != 0 {
            self.state.cqcsr |= FENCE_DONE;
        }
        Ok(())
    }

    /// `IODIR.INVAL_DDT` (section 3.1.3).
    fn invalidate_directory(&mut self, first: u64, second: u64) -> Result<(), u32> {
        let operands = 0x3ff | DEVICE_OR_GUEST_VALID | 0xff_ffff << 40;
        let device = (first >> 40) as u32;
        let one = first & DEVICE_OR_GUEST_VALID != 0;
        let too_wide = match self.mode() {
            Mode::Levels(levels) => device >> Self::device_bits(levels) != 0,
            _ => false,
        };
        if first & !operands != 0 || second != 0 || one && too_wide {
            return Err(COMMAND_ILLEGAL);
        }
        self.state.contexts.retain(|(id, _)| one && *id != device);
        Ok(())
    }
}
