//! The registers (chapter 5).

use super::Iommu;
use super::context::{Mode, PAGE_NUMBER};
use crate::bus::Refused;

/// Offsets (section 5.1).
const CAPABILITIES: u64 = 0;
const FEATURES: u64 = 8;
const DDTP: u64 = 16;
const CQB: u64 = 24;
const CQH: u64 = 32;
const CQT: u64 = 36;
const FQB: u64 = 40;
const FQH: u64 = 48;
const CQCSR: u64 = 72;
const FQCSR: u64 = 76;
const IPSR: u64 = 84;
const ICVEC: u64 = 760;
/// Bytes of all registers.
pub const SIZE: u64 = 4096;

/// Section 5.3: version 1.0; Sv39, Sv48, Sv39x4, Sv48x4; interrupts by wires; physical addresses of 56 bits.
const CAPABILITIES_VALUE: u64 = 0x10 | 1 << 9 | 1 << 10 | 1 << 17 | 1 << 18 | 1 << 28 | 56 << 32;
/// Section 5.4: interrupts are by wires, which is all there is.
const FEATURES_VALUE: u64 = 1 << 1;
/// The mode in `ddtp`.
const MODE: u64 = 15;

/// Bits of `cqcsr` and `fqcsr` (sections 5.15 and 5.16).
pub(super) const ENABLE: u32 = 1 << 0;
pub(super) const INTERRUPT: u32 = 1 << 1;
pub(super) const MEMORY_FAULT: u32 = 1 << 8;
pub(super) const OVERFLOW: u32 = 1 << 9;
pub(super) const COMMAND_TIMEOUT: u32 = 1 << 9;
pub(super) const COMMAND_ILLEGAL: u32 = 1 << 10;
pub(super) const FENCE_DONE: u32 = 1 << 11;
pub(super) const ON: u32 = 1 << 16;
/// What stops the command queue until software clears it.
pub(super) const COMMAND_FAULTS: u32 = MEMORY_FAULT | COMMAND_TIMEOUT | COMMAND_ILLEGAL;
/// Bits of `ipsr` (section 5.18).
pub(super) const PENDING_COMMANDS: u32 = 1 << 0;
pub(super) const PENDING_FAULTS: u32 = 1 << 1;

/// The parts of a doubleword.
const fn low(value: u64) -> u32 {
    value as u32
}

const fn both(low: u32, high: u32) -> u64 {
    (high as u64) << 32 | low as u64
}

impl Iommu {
    /// Reads 4 or 8 bytes of registers. What is not there is 0.
    pub(in super::super) fn read(&self, offset: u64, size: u8) -> Result<u64, Refused> {
        let doubleword = self.doubleword(offset & !7);
        match size {
            _ if offset >= SIZE => Err(Refused),
            8 => Ok(doubleword),
            4 => Ok(doubleword >> (8 * (offset & 4)) & 0xffff_ffff),
            _ => Err(Refused),
        }
    }

    /// The registers in a doubleword.
    fn doubleword(&self, offset: u64) -> u64 {
        let state = &self.state;
        match offset {
            CAPABILITIES => CAPABILITIES_VALUE,
            FEATURES => FEATURES_VALUE,
            DDTP => state.ddtp,
            CQB => state.commands.base,
            CQH => both(state.commands.head, state.commands.tail),
            FQB => state.faults.base,
            FQH => both(state.faults.head, state.faults.tail),
            CQCSR => both(state.cqcsr, state.fqcsr),
            // `pqcsr` is below it.
            80 => both(0, state.ipsr),
            ICVEC => state.icvec,
            _ => 0,
        }
    }

    /// Writes 4 or 8 bytes of registers. What is not there, or is read alone, is not written.
    pub(in super::super) fn write(
        &mut self,
        offset: u64,
        size: u8,
        value: u64,
    ) -> Result<(), Refused> {
        match size {
            _ if offset >= SIZE => return Err(Refused),
            // The upper half first, as chapter 5 has it.
            8 => {
                self.write_word(offset + 4, low(value >> 32));
                self.write_word(offset, low(value));
            }
            4 => self.write_word(offset, low(value)),
            _ => return Err(Refused),
        }
        self.update_pending();
        Ok(())
    }

    fn write_word(&mut self, offset: u64, word: u32) {
        let half = |register: u64| {
            if offset & 4 == 0 {
                register & !0xffff_ffff | u64::from(word)
            } else {
                both(low(register), word)
            }
        };
        let wires = self.lines.len().max(1) as u64;
        let state = &mut self.state;
        match (offset, offset & !7) {
            (_, DDTP) => {
                let new = half(state.ddtp);
                // A mode that is none leaves the mode as it was (section 5.5).
                let mode = if Mode::of(new).is_some() {
                    new & MODE
                } else {
                    state.ddtp & MODE
                };
                state.ddtp = new & PAGE_NUMBER | mode;
            }
            // The queues' places are not to change while the queues are on (sections 5.6 and 5.9).
            (_, CQB) if state.cqcsr & ON == 0 => {
                let base = half(state.commands.base);
                state.commands.move_to(base);
            }
            (_, FQB) if state.fqcsr & ON == 0 => {
                let base = half(state.faults.base);
                state.faults.move_to(base);
            }
            (CQT, _) => state.commands.tail = word & state.commands.mask(),
            (FQH, _) => state.faults.head = word & state.faults.mask(),
            (CQCSR, _) => self.write_command_control(word),
            (FQCSR, _) => self.write_fault_control(word),
            (IPSR, _) => state.ipsr &= !word,
            // Each cause has as many bits as the number of wires needs.
            (_, ICVEC) => state.icvec = half(state.icvec) & ((wires - 1) * 0x1111),
            _ => {}
        }
    }

    /// Section 5.15.
    fn write_command_control(&mut self, word: u32) {
        let state = &mut self.state;
        let cleared = word & (COMMAND_FAULTS | FENCE_DONE);
        let old = state.cqcsr;
        state.cqcsr = old & !cleared & !(ENABLE | INTERRUPT) | word & (ENABLE | INTERRUPT);
        match (old & ENABLE != 0, word & ENABLE != 0) {
            (false, true) => {
                state.commands.head = 0;
                state.cqcsr &= !(COMMAND_FAULTS | FENCE_DONE);
                state.cqcsr |= ON;
            }
            (true, false) => {
                state.cqcsr &= !ON;
                state.command = None;
            }
            _ => {}
        }
    }

    /// Section 5.16.
    const fn write_fault_control(&mut self, word: u32) {
        let state = &mut self.state;
        let cleared = word & (MEMORY_FAULT | OVERFLOW);
        let old = state.fqcsr;
        state.fqcsr = old & !cleared & !(ENABLE | INTERRUPT) | word & (ENABLE | INTERRUPT);
        match (old & ENABLE != 0, word & ENABLE != 0) {
            (false, true) => {
                state.faults.tail = 0;
                state.fqcsr &= !(MEMORY_FAULT | OVERFLOW);
                state.fqcsr |= ON;
            }
            (true, false) => state.fqcsr &= !ON,
            _ => {}
        }
    }
}
