//! Bitstreams of the fabric's configuration port.
//!
//! A bitstream is little-endian words of 32 bits: a header of four, and the content of a region's configuration memory.
//!
//! | word | |
//! |---|---|
//! | 0 | [`MAGIC`] |
//! | 1 | bits 15-0 [`VERSION`]; 23-16 the task; 31-24 the region |
//! | 2 | bytes after the header |
//! | 3 | CRC-32 (IEEE 802.3) of words 0 to 2 and of the content |
//!
//! The port checks the header itself, and against the request. This module is for the tools that make and store
//! bitstreams.

use core::fmt;

/// Word 0: "TBIT".
pub const MAGIC: u32 = 0x5449_4254;
/// Version of the header's layout.
pub const VERSION: u16 = 1;
/// Bytes of the header.
pub const HEADER: usize = 16;
/// Alignment of the address that the port reads from.
pub const ALIGN: u64 = 64;
/// Bytes of each region's bitstreams in the design `accelerators`, with their headers.
pub const REGION_BYTES: [usize; 3] = [32_340, 113_400, 168_840];

/// The task and the region of a bitstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The number of the task; never 0.
    pub task: u8,
    /// The number of the region.
    pub region: u8,
}

/// Why bytes are not a bitstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// They do not begin with [`MAGIC`].
    Magic,
    /// Another version of the header.
    Version(u16),
    /// The task is 0.
    Task,
    /// The number of bytes differs from that in the header, is less than a header and a word, or is not a multiple of
    /// 4.
    Length {
        /// According to the header, which is included.
        declared: u64,
        /// Bytes present.
        found: usize,
    },
    /// The CRC-32 differs.
    Checksum {
        /// According to the header.
        declared: u32,
        /// Of the bytes present.
        found: u32,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Magic => write!(f, "it is not a bitstream: it does not begin with \"TBIT\""),
            Self::Version(version) => write!(
                f,
                "its header has version {version}, not {VERSION}; make it again"
            ),
            Self::Task => write!(f, "its task is 0; tasks have numbers from 1 on"),
            Self::Length { declared, found } => write!(
                f,
                "it has {found} bytes, not {declared} as in its header: it is truncated, or data follows it"
            ),
            Self::Checksum { declared, found } => write!(
                f,
                "its CRC-32 is {found:#010x}, not {declared:#010x} as in its header: it is corrupt"
            ),
        }
    }
}

impl core::error::Error for Error {}

fn word(bytes: &[u8], index: usize) -> u32 {
    let word = bytes.get(4 * index..).and_then(<[u8]>::first_chunk);
    word.map_or(0, |word| u32::from_le_bytes(*word))
}

/// The CRC-32 for the header: of all bytes but the header's last word.
fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(bytes.get(..HEADER - 4).unwrap_or_default());
    crc.update(bytes.get(HEADER..).unwrap_or_default());
    crc.finalize()
}

/// Writes the header of a bitstream, whose content is present from [`HEADER`] on.
///
/// # Errors
///
/// [`Error::Task`]; [`Error::Length`] unless the content is at least one word, in whole words, and 32 bits can hold its
/// length. Nothing is written then.
pub fn seal(bytes: &mut [u8], header: Header) -> Result<(), Error> {
    if header.task == 0 {
        return Err(Error::Task);
    }
    let content_length = u32::try_from(content(bytes)?).map_err(|_| Error::Length {
        declared: 0,
        found: bytes.len(),
    })?;
    let identity =
        u32::from(VERSION) | u32::from(header.task) << 16 | u32::from(header.region) << 24;
    let words = [MAGIC, identity, content_length];
    for (place, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(words) {
        *place = word.to_le_bytes();
    }
    let crc = checksum(bytes).to_le_bytes();
    if let Some(place) = bytes.as_chunks_mut::<4>().0.get_mut(3) {
        *place = crc;
    }
    Ok(())
}

/// Length of the content, if it is valid.
fn content(bytes: &[u8]) -> Result<usize, Error> {
    match bytes.len().checked_sub(HEADER) {
        Some(length) if length > 0 && length.is_multiple_of(4) => Ok(length),
        _ => Err(Error::Length {
            declared: u64::from(word(bytes, 2)) + HEADER as u64,
            found: bytes.len(),
        }),
    }
}

/// Checks a bitstream, which `bytes` must contain exactly, and returns its header.
///
/// # Errors
///
/// The first error, in the order in which the port checks.
pub fn check(bytes: &[u8]) -> Result<Header, Error> {
    if word(bytes, 0) != MAGIC {
        return Err(Error::Magic);
    }
    let [low, high, task, region] = word(bytes, 1).to_le_bytes();
    let version = u16::from_le_bytes([low, high]);
    if version != VERSION {
        return Err(Error::Version(version));
    }
    if task == 0 {
        return Err(Error::Task);
    }
    let declared = u64::from(word(bytes, 2));
    if content(bytes)? as u64 != declared {
        return Err(Error::Length {
            declared: declared + HEADER as u64,
            found: bytes.len(),
        });
    }
    let (declared, found) = (word(bytes, 3), checksum(bytes));
    if declared != found {
        return Err(Error::Checksum { declared, found });
    }
    Ok(Header { task, region })
}
