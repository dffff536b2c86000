//! A recording of frames in the memory of the VM itself ([`tactus_abi::capture`]), of bounded size: the oldest frames
//! make room for new ones.

use tactus_abi::capture::{
    CAPACITY, DROPPED, END, FIRST, FRAME_MAX, HEADER, MAGIC, RECORD, SIZE, record_size,
};

use crate::memory::{Memory, Window};

/// Writes a recording.
#[derive(Debug)]
pub struct Recorder {
    memory: Window,
    /// The ports, as bits.
    ports: u32,
    first: u64,
    end: u64,
    dropped: u64,
}

impl Recorder {
    /// Begins a recording of these ports, as bits, in a window of [`SIZE`] bytes whose addresses begin with 0. `None`:
    /// the window has another size.
    pub fn new(memory: Window, ports: u32) -> Option<Self> {
        if memory.size() != SIZE {
            return None;
        }
        let recorder = Self {
            memory,
            ports,
            first: 0,
            end: 0,
            dropped: 0,
        };
        recorder.set(DROPPED, 0);
        recorder.set(FIRST, 0);
        recorder.set(END, 0);
        recorder.set(0, MAGIC);
        Some(recorder)
    }

    fn set(&self, at: usize, word: u64) {
        // Within the window (`new`).
        let _ = self.memory.write(at as u64, &word.to_le_bytes());
    }

    /// Writes at a position, which may be at the ring's end.
    fn put(&self, position: u64, bytes: &[u8]) {
        let at = (position % CAPACITY as u64) as usize;
        let (here, rest) = bytes.split_at(bytes.len().min(CAPACITY - at));
        for (at, bytes) in [(at, here), (0, rest)] {
            // Within the window: behind its header, and not longer than the ring.
            let _ = self.memory.write((HEADER + at) as u64, bytes);
        }
    }

    /// The size of the record at a position.
    fn size_at(&self, position: u64) -> usize {
        let mut length = [0; 2];
        // A record begins at a multiple of 8, as the ring ends: these bytes are in one piece, and within the window.
        let at = HEADER as u64 + (position + 8) % CAPACITY as u64;
        let _ = self.memory.read(at, &mut length);
        record_size(u16::from_le_bytes(length).into())
    }

    /// Records a frame of a port, if it is one of those that are recorded, and no longer than any frame.
    pub fn record(&mut self, port: usize, time: u64, frame: &[u8]) {
        if self.ports >> port & 1 == 0 || frame.len() > FRAME_MAX {
            return;
        }
        let size = record_size(frame.len()) as u64;
        // A record takes the room of at most as many as a longest one has bytes for.
        while self.end + size - self.first > CAPACITY as u64 {
            self.first += self.size_at(self.first) as u64;
            self.dropped += 1;
        }
        self.set(FIRST, self.first);
        self.set(DROPPED, self.dropped);
        let mut head = [0; RECORD];
        head[..8].copy_from_slice(&time.to_le_bytes());
        head[8..10].copy_from_slice(&(frame.len() as u16).to_le_bytes());
        head[10] = port as u8;
        self.put(self.end, &head);
        self.put(self.end + RECORD as u64, frame);
        self.end += size;
        self.set(END, self.end);
    }
}
