//! Brings a VM's memory into the state in which it starts: all zero but for the segments of its image.
//!
//! Done in small steps, in the time of the VM's own boot vCPU, so that starting a VM takes nothing from others.

use crate::arch::memory;
use tactus_abi::blob::Segment;
use tactus_abi::map::PAGE_SIZE;

/// Bytes cleared or copied in a step, where all are aligned.
const STEP: u64 = 512;

/// How far it has come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Loader {
    cleared: u64,
    segment: usize,
    copied: u64,
    /// The VM is held when its memory is clear: nothing of its image but the devicetree is loaded.
    #[cfg(feature = "management")]
    pub holds: bool,
}

impl Loader {
    /// Does one step, for a VM with that memory and those segments of an image; `true`: the VM can start.
    pub fn step(&mut self, memory: &crate::vm::Memory, segments: &[Segment]) -> bool {
        if self.cleared < memory.size {
            // Memory is a whole number of pages.
            clear(memory.host_at(self.cleared));
            self.cleared += STEP;
            return false;
        }
        let Some(segment) = segments.get(self.segment) else {
            return true;
        };
        let from = segment.source + self.copied;
        let to = memory.host_at(segment.guest - memory.guest + self.copied);
        let left = (segment.size - self.copied).min(PAGE_SIZE - to % PAGE_SIZE);
        let size = left.min(memory::piece(from, to, STEP));
        // Safety: boot has checked that the segment lies within the VM's memory, where nothing of the hypervisor is and
        // no vCPU runs while it is loaded, and that its source lies in the boot image.
        unsafe {
            core::ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, size as usize);
        }
        self.copied += size;
        if self.copied == segment.size {
            self.copied = 0;
            self.segment += 1;
        }
        false
    }
}

fn clear(address: u64) {
    let start = address as *mut [u64; 8];
    for i in 0..STEP as usize / 64 {
        // Safety: within the VM's memory, which no vCPU uses while it is loaded; aligned.
        unsafe { start.add(i).write([0; 8]) };
    }
}
