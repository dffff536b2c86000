//! A split virtqueue (virtio 1.2, section 2.7) and its buffers: descriptor `n` is of buffer `n`, and each request is
//! one buffer.
//!
//! The protocol is Q1 of the device side (`virtio/src/queue.rs`): each side writes what it announces, and then, with
//! release, the index of its ring, which the other one reads with acquire.

use core::sync::atomic::{Ordering, fence};

use crate::memory::Shared;
use crate::{BUFFER, Broken, FRAMES};

/// Bytes of descriptors and rings.
pub(crate) const BYTES: usize = BUFFERS;

const DESCRIPTORS: usize = 0;
const AVAILABLE: usize = DESCRIPTORS + 16 * FRAMES;
const USED: usize = (AVAILABLE + 4 + 2 * FRAMES).next_multiple_of(8);
const BUFFERS: usize = (USED + 4 + 8 * FRAMES).next_multiple_of(16);

/// A flag of a descriptor: the device writes the buffer.
const WRITE: u64 = 2;
/// A flag of the available ring: no interrupts are wanted.
const NO_INTERRUPT: u16 = 1;

/// A queue.
#[derive(Debug)]
pub(crate) struct Ring {
    memory: Shared,
    /// The device writes its buffers.
    is_receive: bool,
    /// The next entry of the available ring, and of the used one.
    offered: u16,
    seen: u16,
    /// Buffers that the device has, as bits.
    out: u32,
}

impl Ring {
    /// An empty queue, or one that offers all its buffers for the device to write (`is_receive`).
    pub(crate) fn new(memory: Shared, is_receive: bool) -> Self {
        const { assert!(FRAMES <= 32 && FRAMES.is_power_of_two()) };
        let mut ring = Self {
            memory,
            is_receive,
            offered: 0,
            seen: 0,
            out: 0,
        };
        for at in [AVAILABLE + 2, USED, USED + 2] {
            ring.memory.u16(at).store(0, Ordering::Relaxed);
        }
        // What was sent, is found when there is more to send.
        let flags = if is_receive { 0 } else { NO_INTERRUPT };
        ring.memory
            .u16(AVAILABLE)
            .store(flags.to_le(), Ordering::Relaxed);
        if is_receive {
            for buffer in 0..FRAMES {
                ring.offer(buffer, BUFFER as u32);
            }
        }
        ring
    }

    /// The device's addresses of the descriptors, the available ring and the used ring.
    pub(crate) fn addresses(&self) -> [u64; 3] {
        [DESCRIPTORS, AVAILABLE, USED].map(|offset| self.memory.there(offset))
    }

    const fn buffer(number: usize) -> usize {
        BUFFERS + number * BUFFER
    }

    /// Copies from a buffer, from `offset` on.
    pub(crate) fn read(&self, buffer: usize, offset: usize, to: &mut [u8]) {
        self.memory.read(Self::buffer(buffer) + offset, to);
    }

    /// Copies to a buffer.
    pub(crate) fn write(&self, buffer: usize, offset: usize, from: &[u8]) {
        self.memory.write(Self::buffer(buffer) + offset, from);
    }

    /// Gives the device the first `length` bytes of a buffer that it does not have.
    pub(crate) fn offer(&mut self, buffer: usize, length: u32) {
        let descriptor = DESCRIPTORS + 16 * buffer;
        let flags = if self.is_receive { WRITE } else { 0 };
        let address = self.memory.there(Self::buffer(buffer));
        let words = [address, u64::from(length) | flags << 32];
        for (at, word) in words.into_iter().enumerate() {
            self.memory
                .u64(descriptor + 8 * at)
                .store(word.to_le(), Ordering::Relaxed);
        }
        let slot = usize::from(self.offered) % FRAMES;
        self.memory
            .u16(AVAILABLE + 4 + 2 * slot)
            .store((buffer as u16).to_le(), Ordering::Relaxed);
        self.offered = self.offered.wrapping_add(1);
        self.out |= 1 << buffer;
        // Before the index, what the buffer has, which is not written by atomics.
        fence(Ordering::Release);
        self.memory
            .u16(AVAILABLE + 2)
            .store(self.offered.to_le(), Ordering::Release);
    }

    /// A buffer that the device has used, and how many bytes it has written, which may be any number; `None`: there is
    /// none.
    pub(crate) fn take_used(&mut self) -> Result<Option<(usize, u32)>, Broken> {
        let index = u16::from_le(self.memory.u16(USED + 2).load(Ordering::Acquire));
        let waiting = index.wrapping_sub(self.seen);
        if waiting == 0 {
            return Ok(None);
        }
        if usize::from(waiting) > FRAMES {
            return Err(Broken);
        }
        fence(Ordering::Acquire);
        let entry = USED + 4 + 8 * (usize::from(self.seen) % FRAMES);
        let [buffer, written] =
            [0, 4].map(|at| u32::from_le(self.memory.u32(entry + at).load(Ordering::Relaxed)));
        let is_out = buffer < FRAMES as u32 && self.out & 1 << buffer != 0;
        if !is_out {
            return Err(Broken);
        }
        self.out &= !(1 << buffer);
        self.seen = self.seen.wrapping_add(1);
        Ok(Some((buffer as usize, written)))
    }

    /// Whether the device does not have all buffers.
    pub(crate) const fn has_free(&self) -> bool {
        self.out.trailing_ones() < FRAMES as u32
    }

    /// A buffer that the device does not have.
    pub(crate) const fn take_free(&self) -> Option<usize> {
        let buffer = self.out.trailing_ones() as usize;
        if buffer < FRAMES { Some(buffer) } else { None }
    }
}
