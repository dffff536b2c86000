//! A bounded first-in first-out buffer of bytes.

/// Holds at most `N` bytes; `N` is a power of two.
#[derive(Debug)]
pub struct Ring<const N: usize> {
    bytes: [u8; N],
    read: u32,
    write: u32,
}

impl<const N: usize> Default for Ring<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> Ring<N> {
    /// An empty ring.
    pub const fn new() -> Self {
        assert!(N.is_power_of_two() && N <= 1 << 31);
        Self {
            bytes: [0; N],
            read: 0,
            write: 0,
        }
    }

    /// Bytes held.
    pub const fn len(&self) -> usize {
        self.write.wrapping_sub(self.read) as usize
    }

    /// Whether no byte is held.
    pub const fn is_empty(&self) -> bool {
        self.read == self.write
    }

    /// Bytes that can still be pushed.
    pub const fn space(&self) -> usize {
        N - self.len()
    }

    /// Adds a byte; `false`, and no change, when the ring is full.
    pub fn push(&mut self, byte: u8) -> bool {
        if self.space() == 0 {
            return false;
        }
        self.bytes[self.write as usize % N] = byte;
        self.write = self.write.wrapping_add(1);
        true
    }

    /// Adds as many of the bytes as there is room for; how many.
    pub fn push_all(&mut self, bytes: &[u8]) -> usize {
        let taken = bytes.len().min(self.space());
        // Most often few.
        for &byte in &bytes[..taken] {
            self.bytes[self.write as usize % N] = byte;
            self.write = self.write.wrapping_add(1);
        }
        taken
    }

    /// The oldest byte, left where it is.
    pub fn peek(&self) -> Option<u8> {
        (!self.is_empty()).then(|| self.bytes[self.read as usize % N])
    }

    /// Takes the oldest byte.
    pub fn pop(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.read = self.read.wrapping_add(1);
        Some(byte)
    }

    /// Forgets all bytes.
    pub fn clear(&mut self) {
        self.read = self.write;
    }

    /// How many bytes were pushed in all, and the bytes; byte `n` of all is at `n % N`, as long as it is kept.
    pub const fn pushed(&self) -> (u32, &[u8; N]) {
        (self.write, &self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_as_many_as_fit_across_the_end() {
        for offset in 0..8 {
            for count in 0..12 {
                let mut ring = Ring::<8>::new();
                for _ in 0..offset {
                    ring.push(0);
                    ring.pop();
                }
                let bytes: [u8; 12] = core::array::from_fn(|i| i as u8 + 1);
                assert_eq!(ring.push_all(&bytes[..count]), count.min(8));
                for byte in &bytes[..count.min(8)] {
                    assert_eq!(ring.pop(), Some(*byte));
                }
                assert!(ring.is_empty());
            }
        }
    }

    #[test]
    fn keeps_what_was_taken() {
        let mut ring = Ring::<8>::new();
        ring.push_all(b"abcdef");
        while ring.pop().is_some() {}
        ring.push_all(b"ghij");
        assert_eq!(ring.pushed(), (10, b"ijcdefgh"));
    }

    #[test]
    fn holds_n_bytes_in_order_and_refuses_more() {
        let mut ring = Ring::<4>::new();
        for round in 0..100u8 {
            for i in 0..4 {
                assert!(ring.push(round + i));
            }
            assert!(!ring.push(0));
            for i in 0..4 {
                assert_eq!(ring.pop(), Some(round + i));
            }
            assert_eq!(ring.pop(), None);
        }
    }
}
