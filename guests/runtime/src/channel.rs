//! Channels: memory shared with another VM, and a doorbell each way.

use core::sync::atomic::{AtomicU32, AtomicU64};

use tactus_abi::map;

use crate::{hypervisor, plic::Plic, sbi, start};

/// This VM's end of a channel.
#[derive(Clone, Copy, Debug)]
pub struct Channel {
    number: usize,
    memory: usize,
    size: usize,
}

impl Channel {
    /// Channel `number` of this VM, whose memory is `size` bytes at guest-physical address `memory`.
    ///
    /// # Safety
    ///
    /// The system gives the VM this channel, with this memory (`system.toml`, key `channel`).
    pub const unsafe fn at(number: usize, memory: usize, size: usize) -> Self {
        Self {
            number,
            memory,
            size,
        }
    }

    /// Channel 0 of this VM, with `size` bytes of memory.
    ///
    /// # Safety
    ///
    /// The system gives the VM a channel, and its memory is at least as large.
    pub const unsafe fn first(size: usize) -> Self {
        // SAFETY: the first channel's memory begins at the base (memory map); the caller vouches for the rest.
        unsafe { Self::at(0, map::CHANNEL_BASE as usize, size) }
    }

    /// The memory, as words. Both ends see each other's writes in the order that the atomic accesses ask for.
    pub fn words(self) -> &'static [AtomicU64] {
        // SAFETY: the range belongs to the channel (`at`), is page aligned and lives as long as the VM; atomics may be
        // written by the other end at any time.
        unsafe { core::slice::from_raw_parts(self.memory as *const AtomicU64, self.size / 8) }
    }

    /// Rings the other end by a hypercall.
    ///
    /// # Errors
    ///
    /// [`sbi::Error::InvalidParam`]: the VM has no such channel.
    pub fn notify(self) -> Result<(), sbi::Error> {
        hypervisor::channel_notify(self.number)
    }

    /// Rings the other end by a store to the doorbell page.
    pub fn ring(self) {
        let doorbell = (map::DOORBELL_BASE as usize + 4 * self.number) as *const AtomicU32;
        // SAFETY: the doorbell page is the VM's own, and has a doorbell for each of its channels.
        unsafe { &*doorbell }.store(1, core::sync::atomic::Ordering::Release);
    }

    /// PLIC source by which the other end rings this one.
    pub const fn source(self) -> u32 {
        map::CHANNEL_SOURCE + self.number as u32
    }

    /// Lets the other end's doorbell interrupt the running hart.
    pub fn enable_interrupt(self, priority: u32) {
        Plic::of_hart(start::hart()).enable(self.source(), priority);
    }
}
