//! Framing of the UART that the consoles of several VMs and the hypervisor's log share.
//!
//! Every byte belongs to the stream selected last. [`SELECT`] followed by `STREAM_BASE + id` selects stream `id`;
//! [`SELECT`] twice stands for the byte itself. Stream 0 is the hypervisor's log; stream `n + 1` is VM `n`'s console.
//! The same framing carries input in the other direction. Bytes before the first selection, and after a reset of the
//! machine, are the firmware's and belong to no stream.

/// Introduces a selection: ASCII "record separator".
pub const SELECT: u8 = 0x1e;
/// Added to a stream's number in a selection.
pub const STREAM_BASE: u8 = 0x40;
/// The hypervisor's log.
pub const LOG_STREAM: u8 = 0;
/// Most streams of the framing.
pub const STREAMS_MAX: u8 = 0xff - STREAM_BASE;

/// The effect of one received byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A byte of the given stream; `None` before the first selection.
    Byte(Option<u8>, u8),
    /// Nothing to deliver: part of a selection.
    Pending,
}

/// Demultiplexer of the shared line.
#[derive(Clone, Debug, Default)]
pub struct Demux {
    stream: Option<u8>,
    selecting: bool,
}

impl Demux {
    /// A demultiplexer that has seen no selection yet.
    pub const fn new() -> Self {
        Self {
            stream: None,
            selecting: false,
        }
    }

    /// Consumes the next byte of the line. A selection of a stream that does not exist is dropped.
    pub fn push(&mut self, byte: u8) -> Event {
        if !self.selecting {
            if byte == SELECT {
                self.selecting = true;
                return Event::Pending;
            }
            return Event::Byte(self.stream, byte);
        }
        self.selecting = false;
        if byte == SELECT {
            return Event::Byte(self.stream, SELECT);
        }
        if byte >= STREAM_BASE {
            self.stream = Some(byte - STREAM_BASE);
        }
        Event::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_demultiplexed() {
        let line = [
            b'f', SELECT, 0x40, b'l', SELECT, 0x42, b'a', SELECT, SELECT, b'b',
        ];
        let mut demux = Demux::new();
        let mut seen = [(None, 0u8); 8];
        let mut n = 0;
        for byte in line {
            if let Event::Byte(stream, byte) = demux.push(byte) {
                seen[n] = (stream, byte);
                n += 1;
            }
        }
        assert_eq!(
            &seen[..n],
            [
                (None, b'f'),
                (Some(0), b'l'),
                (Some(2), b'a'),
                (Some(2), SELECT),
                (Some(2), b'b'),
            ]
        );
    }
}
