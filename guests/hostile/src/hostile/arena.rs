//! Memory for running arbitrary code: breakpoints everywhere, so that any jump within it ends at once.

use core::arch::asm;
use core::sync::atomic::{AtomicU16, Ordering};

use tactus_guest::{abi::map, start};

use super::probe::{self, End, Level};

/// `c.ebreak`.
const BREAKPOINT: u16 = 0x9002;
/// First address: behind the image, with room for the image's growth.
const BASE: usize = map::RAM_BASE as usize + (3 << 20);
/// Bytes of an arena for code that jumps only to addresses in its registers.
pub const SMALL: usize = 256 << 10;
/// Bytes of an arena that a `jal` from its middle does not leave.
pub const LARGE: usize = 2 << 20;
/// Halfwords around the code that are restored before each run; the code's stores reach no further without a pointer
/// to other memory.
const RENEWED: usize = 64;

/// The arena.
pub struct Arena {
    halfwords: &'static [AtomicU16],
}

impl Arena {
    /// Fills [`SMALL`] or [`LARGE`] memory. The VM must have 4 or 6 MiB at least.
    pub fn new(size: usize) -> Self {
        assert!(
            start::image_end() <= BASE && size <= LARGE,
            "the image reaches into the arena"
        );
        for address in (BASE..BASE + size).step_by(8) {
            // SAFETY: no part of the program is here: the image ends below (just checked), and the devicetree is at the
            // end of the memory, beyond the arena (this function's documentation).
            unsafe { (address as *mut [u16; 4]).write([BREAKPOINT; 4]) };
        }
        Self {
            // SAFETY: as above; initialized, and from here on accessed only by these atomics and by the code that runs
            // in the arena.
            halfwords: unsafe { core::slice::from_raw_parts(BASE as *const AtomicU16, size / 2) },
        }
    }

    /// Address at which code is run.
    pub const fn code(&self) -> usize {
        BASE + self.halfwords.len()
    }

    /// Registers that all point into the arena, 4 KiB apart and away from the code, so that loads, stores and jumps
    /// stay within.
    pub fn registers(&self) -> [usize; 31] {
        core::array::from_fn(|n| BASE + (n << 11) + 2048)
    }

    /// Runs as [`Arena::run`], again while the timer ends the run: the hypervisor may preempt this guest before it
    /// emulates the instruction, and the time limit has then passed.
    pub fn run_to_its_end(
        &self,
        instruction: u32,
        length: usize,
        level: Level,
        registers: &[usize; 31],
    ) -> End {
        loop {
            let end = self.run(instruction, length, level, registers);
            if !end.interrupted() {
                return end;
            }
        }
    }

    /// Runs one instruction of 2 or 4 bytes (`length`).
    pub fn run(
        &self,
        instruction: u32,
        length: usize,
        level: Level,
        registers: &[usize; 31],
    ) -> End {
        let code = self.halfwords.len() / 2;
        let wanted = |n: usize| match n {
            0 => instruction as u16,
            1 if length == 4 => (instruction >> 16) as u16,
            _ => BREAKPOINT,
        };
        for (n, halfword) in self.halfwords[code - RENEWED..code + RENEWED]
            .iter()
            .enumerate()
        {
            // Stores only changed halfwords: on an emulator, stores to a page of code are expensive.
            let wanted = wanted(n.wrapping_sub(RENEWED));
            if halfword.load(Ordering::Relaxed) != wanted {
                halfword.store(wanted, Ordering::Relaxed);
            }
        }
        // SAFETY: `fence.i` only makes the stores visible to instruction fetch. For any instruction, the
        // caller's registers point into the arena or outside the guest, and none of them is used by the program.
        unsafe {
            asm!("fence.i", options(nostack));
            probe::run(self.code(), level, registers)
        }
    }

    /// Whether the run ended at the breakpoint behind the instruction: it was executed and did not jump.
    pub const fn went_through(&self, end: End, length: usize) -> bool {
        end.at_breakpoint() && end.pc == self.code() + length
    }
}
