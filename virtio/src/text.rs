//! Text that waits: a ring of bytes with one writer and one reader, in memory that outlives both.
//!
//! **Protocol Q2, text.** The writer writes bytes, then what it knows of the request that they are of (its *mark*), and
//! then, with release, the index of the end. The reader reads that with acquire, then the bytes, and writes with
//! release the index of the beginning, which the writer reads with acquire. Each index is written by one side only.
//!
//! A writer that dies between any two steps leaves a mark from which the next one knows how many bytes of the request
//! are in the ring: none is written twice. Whatever is in the memory, no access is outside of it: another VM that
//! writes there changes its own text.

use crate::memory::{Memory, Outside, Window};

/// Bytes of memory that a ring takes.
pub const SIZE: usize = BYTES + CAPACITY;
/// Bytes that wait, at most.
pub const CAPACITY: usize = 2048;

/// The index of the end, and of the beginning: each in a cache line of its own.
const END: u64 = 0;
const BEGINNING: u64 = 64;
/// The mark, one doubleword.
const MARK: u64 = 8;
const BYTES: usize = 128;

/// The request that the last bytes of a ring are of, and how many of it were written when they were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// The request's number in its queue.
    pub number: u16,
    /// Its bytes in the ring, those that the reader has read among them.
    pub done: u32,
}

/// A ring.
#[derive(Clone, Debug)]
pub struct Ring<M> {
    memory: M,
}

impl<M: Memory> Ring<M> {
    /// The ring in [`SIZE`] bytes of memory, whose addresses begin with 0: as it was left there, or empty where all of
    /// them are zeros.
    pub const fn new(memory: M) -> Self {
        Self { memory }
    }

    fn index(&self, at: u64) -> u16 {
        self.memory.load_index(at).unwrap_or(0)
    }

    /// Bytes that wait.
    pub fn waiting(&self) -> usize {
        let waiting = self.index(END).wrapping_sub(self.index(BEGINNING));
        usize::from(waiting).min(CAPACITY)
    }

    /// Whether the writer has written anything, as far as the index says: once in 64 KiB, it does not.
    pub fn was_used(&self) -> bool {
        self.index(END) != 0
    }

    /// Bytes that there is room for.
    pub fn room(&self) -> usize {
        CAPACITY - self.waiting()
    }

    /// What the writer has written of its request of that number.
    pub fn done(&self, number: u16) -> u32 {
        let mut mark = [0; 8];
        let _ = self.memory.read(MARK, &mut mark);
        let [a, b, c, d, end_low, end_high, low, high] = mark;
        // That many bytes were written, and not announced.
        let end = u16::from_le_bytes([end_low, end_high]);
        let unannounced = end.wrapping_sub(self.index(END));
        if u16::from_le_bytes([low, high]) == number {
            u32::from_le_bytes([a, b, c, d]).saturating_sub(unannounced.into())
        } else {
            0
        }
    }

    /// Sets the mark alone.
    pub fn mark(&self, mark: Mark) {
        self.mark_at(mark, self.index(END));
    }

    fn mark_at(&self, mark: Mark, end: u16) {
        let word = u64::from(mark.done) | u64::from(end) << 32 | u64::from(mark.number) << 48;
        let _ = self.memory.write(MARK, &word.to_le_bytes());
    }

    /// The writer adds bytes, of which there are at most [`Ring::room`], with the mark behind them.
    pub fn write(&self, bytes: &[u8], mark: Mark) {
        let end = self.index(END);
        let _ = self.pieces(end, bytes.len(), |at, piece| {
            self.memory.write(at, &bytes[piece])
        });
        let end = end.wrapping_add(bytes.len() as u16);
        self.mark_at(mark, end);
        let _ = self.memory.store_index(END, end);
    }

    /// Copies the reader's bytes from the one of that number on, as many as there are: they still wait.
    pub fn peek(&self, from: usize, to: &mut [u8]) -> usize {
        let count = self.waiting().saturating_sub(from).min(to.len());
        let first = self.index(BEGINNING).wrapping_add(from as u16);
        let _ = self.pieces(first, count, |at, piece| {
            self.memory.read(at, &mut to[piece])
        });
        count
    }

    /// The reader is done with so many bytes, at most those that wait.
    pub fn skip(&self, count: usize) {
        let beginning = self.index(BEGINNING);
        let beginning = beginning.wrapping_add(count.min(self.waiting()) as u16);
        let _ = self.memory.store_index(BEGINNING, beginning);
    }

    /// The two pieces of the ring from an index on: where each is in memory, and among the bytes.
    fn pieces(
        &self,
        index: u16,
        length: usize,
        mut each: impl FnMut(u64, core::ops::Range<usize>) -> Result<(), Outside>,
    ) -> Result<(), Outside> {
        let at = usize::from(index) % CAPACITY;
        let first = length.min(CAPACITY - at);
        each((BYTES + at) as u64, 0..first)?;
        each(BYTES as u64, first..length)
    }
}

impl Ring<Window> {
    /// Whether the memory is large enough.
    pub const fn is_whole(&self) -> bool {
        self.memory.size() >= SIZE
    }
}
