//! The platform-level interrupt controller (RISC-V PLIC specification 1.0): the virtual one of every VM, or `virt`'s.

use tactus_abi::map;

/// A hart's view of the controller.
#[derive(Clone, Copy, Debug)]
pub struct Plic {
    context: usize,
}

impl Plic {
    /// The supervisor-level context of a hart (vCPU).
    pub const fn of_hart(hart: usize) -> Self {
        Self {
            context: map::plic_context(hart as u32) as usize,
        }
    }

    /// Address of the claim/complete register, for code that counts instructions.
    pub const fn claim_address(self) -> usize {
        map::PLIC_BASE as usize + 0x20_0004 + 0x1000 * self.context
    }

    /// Lets a source interrupt this hart, with a priority of 1 to 7, when no other source has set the priority's
    /// threshold higher. The threshold itself is put to 0.
    ///
    /// # Panics
    ///
    /// When the source is 0 or beyond the virtual controller's.
    pub fn enable(self, source: u32, priority: u32) {
        assert!(
            source != 0 && source < map::PLIC_SOURCES,
            "PLIC source {source} is out of range"
        );
        let word = 0x2000 + 0x80 * self.context + 4 * (source as usize / 32);
        write(4 * source as usize, priority);
        write(word, read(word) | 1 << (source % 32));
        write(0x20_0000 + 0x1000 * self.context, 0);
    }

    /// Disables a source for this hart.
    ///
    /// # Panics
    ///
    /// When the source is 0 or beyond the virtual controller's.
    pub fn disable(self, source: u32) {
        assert!(
            source != 0 && source < map::PLIC_SOURCES,
            "PLIC source {source} is out of range"
        );
        let word = 0x2000 + 0x80 * self.context + 4 * (source as usize / 32);
        write(word, read(word) & !(1 << (source % 32)));
    }

    /// Claims the pending source of the highest priority, if there is one.
    pub fn claim(self) -> Option<u32> {
        match read(0x20_0004 + 0x1000 * self.context) {
            0 => None,
            source => Some(source),
        }
    }

    /// Completes a claimed source.
    pub fn complete(self, source: u32) {
        write(0x20_0004 + 0x1000 * self.context, source);
    }
}

fn read(offset: usize) -> u32 {
    // SAFETY: the offset is one of this module's, within the controller's registers; a register is not memory that Rust
    // knows of.
    unsafe { ((map::PLIC_BASE as usize + offset) as *const u32).read_volatile() }
}

fn write(offset: usize, value: u32) {
    // SAFETY: as `read`.
    unsafe { ((map::PLIC_BASE as usize + offset) as *mut u32).write_volatile(value) };
}
