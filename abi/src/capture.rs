//! Frames that a switch records in its own memory, for the tool to read when the run has ended.
//!
//! The recording is at the beginning of the VM's memory, below its image: a header of four words, and a ring of
//! records, of which the newest are kept. A *position* counts the bytes of all records since the VM started; that of
//! position `p` is at [`HEADER`] + `p` modulo [`CAPACITY`]. All numbers are little-endian.
//!
//! | record | |
//! |---|---|
//! | bytes 0 to 7 | the `time` CSR |
//! | 8, 9 | the frame's length, at most [`FRAME_MAX`] |
//! | 10 | the port |
//! | 11 to 15 | 0 |
//! | from 16 on | the frame, filled up to a multiple of 8 |

use crate::map;

/// The recording's address in the VM.
pub const BASE: u64 = map::RAM_BASE;
/// Its bytes: all memory below the image.
pub const SIZE: usize = (map::RAW_IMAGE_BASE - map::RAM_BASE) as usize;
/// What the first word has.
pub const MAGIC: u64 = u64::from_le_bytes(*b"TACTCAP1");
/// Offset of the position of the oldest record that is kept.
pub const FIRST: usize = 8;
/// Offset of the position behind the newest one.
pub const END: usize = 16;
/// Offset of the number of records that are no longer kept.
pub const DROPPED: usize = 24;
/// Bytes before the ring.
pub const HEADER: usize = 32;
/// Bytes of the ring.
pub const CAPACITY: usize = SIZE - HEADER;
/// Bytes of a record before its frame.
pub const RECORD: usize = 16;
/// The longest frame.
pub const FRAME_MAX: usize = 1514;

/// Bytes that the record of a frame takes.
pub const fn record_size(frame: usize) -> usize {
    RECORD + frame.next_multiple_of(8)
}

/// The boot argument by which a switch is told to record: a decimal number whose bits are ports.
pub const ARGUMENT: &str = "capture";
