//! What is said between a VM that manages others and those who talk to it over its console: lines of ASCII.
//!
//! | request | what it does |
//! |---|---|
//! | `list` | tells of each managed VM, in a line each |
//! | `status NAME` | tells of one |
//! | `stop NAME` | ends it, and waits until it is off |
//! | `start NAME` | starts one that is off, with its own image |
//! | `restart NAME` | both |
//! | `load NAME [SIGNATURE]` | clears the memory of one that is off, but for its devicetree, and holds it; a manager with a key needs the image's [signature](ImageSignature), in base64 |
//! | `write NAME ADDRESS CRC BYTES` | writes to the memory of one that is held; `BYTES` in base64, `CRC` their CRC-32 |
//! | `start NAME ENTRY` | starts one that is held, at that address |
//! | `console NAME [POSITION]` | tells what one has written: from that byte of its output on, or all that is kept |
//!
//! Numbers are decimal, or hexadecimal behind `0x`. A request may begin with `#TAG`, up to [`TAG_MAX`] letters and
//! digits: then each line of its answer does. An answer is any number of [`Report`]s or [`Text`]s, and `ok`, or `error`
//! and why. A request that gets an error has changed nothing, but for one whose error says how far it came.
#![no_std]

mod base64;
mod report;
mod request;
mod signature;
mod text;

pub use base64::{Encoded, decode};
pub use report::{NotAReport, Report, State};
pub use request::{Call, Refused, Request, TAG_MAX, parse};
pub use signature::{
    Check, ImageSignature, KEY_SIZE, Key, NotAKey, NotASignature, SIGNATURE_SIZE, sign_entry,
    sign_title, sign_write,
};
pub use text::{TEXT_MAX, Text};

/// Most bytes of a request's line, without its end.
pub const LINE_MAX: usize = 640;
/// Most bytes that a `write` has.
pub const WRITE_MAX: usize = 384;

/// CRC-32 (IEEE 802.3, reflected).
pub fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for &byte in bytes {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        }
    }
    !crc
}
