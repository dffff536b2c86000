//! Bitstreams, as the fabric's configuration port takes them.
//!
//! A bitstream is little-endian words of 32 bits: four of a header, and what a region's configuration memory gets.
//!
//! | word | |
//! |---|---|
//! | 0 | [`MARK`] |
//! | 1 | bits 15-0 [`VERSION`]; 23-16 the task; 31-24 the region |
//! | 2 | bytes behind the header |
//! | 3 | CRC-32 (IEEE 802.3) of words 0 to 2 and of all behind the header |
//!
//! The port checks all of it again, and with what it was asked for: this is for whoever makes bitstreams, and keeps them.

use core::fmt;

/// Word 0: "TBIT".
pub const MARK: u32 = 0x5449_4254;
/// Of the header's layout.
pub const VERSION: u16 = 1;
/// Bytes of the header.
pub const HEADER: usize = 16;
/// Where the port reads from has to be a multiple of this.
pub const ALIGN: u64 = 64;
/// Bytes of each region's bitstreams in the design `accelerators`, with their headers.
pub const REGION_BYTES: [usize; 3] = [32_340, 113_400, 168_840];

/// What a bitstream is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The number of the task; never 0.
    pub task: u8,
    /// The number of the region.
    pub region: u8,
}

/// Why bytes are no bitstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// They do not begin with [`MARK`].
    Mark,
    /// The header has this version.
    Version(u16),
    /// The task is 0.
    Task,
    /// The header says that there are so many bytes, and there are others; or fewer than a header and a word; or they are no whole
    /// words.
    Length {
        /// With the header, as it says.
        said: u64,
        /// How many there are.
        found: usize,
    },
    /// The CRC-32 is not right.
    Checksum {
        /// As the header says.
        said: u32,
        /// Of what is there.
        found: u32,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mark => write!(f, "it does not begin with \"TBIT\": it is no bitstream"),
            Self::Version(version) => write!(
                f,
                "its header is of version {version}, and here is version {VERSION}: make it anew"
            ),
            Self::Task => write!(f, "it is of task 0, which is none"),
            Self::Length { said, found } => write!(
                f,
                "it has {found} bytes, and by its header {said}: it was cut off, or something follows it"
            ),
            Self::Checksum { said, found } => write!(
                f,
                "its CRC-32 is {found:#010x}, and by its header {said:#010x}: it is damaged"
            ),
        }
    }
}

impl core::error::Error for Error {}

fn word(bytes: &[u8], index: usize) -> u32 {
    let word = bytes.get(4 * index..).and_then(<[u8]>::first_chunk);
    word.map_or(0, |word| u32::from_le_bytes(*word))
}

/// The CRC-32 that belongs into the header: of all but the header's last word.
fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(bytes.get(..HEADER - 4).unwrap_or_default());
    crc.update(bytes.get(HEADER..).unwrap_or_default());
    crc.finalize()
}

/// Writes the header of a bitstream whose content is there already, from [`HEADER`] on.
///
/// # Errors
///
/// [`Error::Task`]; [`Error::Length`] where it is not at least a word of content, in whole words that 32 bits can count. Nothing is
/// written then.
pub fn seal(bytes: &mut [u8], header: Header) -> Result<(), Error> {
    if header.task == 0 {
        return Err(Error::Task);
    }
    let behind = u32::try_from(content(bytes)?).map_err(|_| Error::Length {
        said: 0,
        found: bytes.len(),
    })?;
    let for_whom =
        u32::from(VERSION) | u32::from(header.task) << 16 | u32::from(header.region) << 24;
    let words = [MARK, for_whom, behind];
    for (place, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(words) {
        *place = word.to_le_bytes();
    }
    let crc = checksum(bytes).to_le_bytes();
    if let Some(place) = bytes.as_chunks_mut::<4>().0.get_mut(3) {
        *place = crc;
    }
    Ok(())
}

/// Bytes behind the header, where their number is one that can be.
fn content(bytes: &[u8]) -> Result<usize, Error> {
    match bytes.len().checked_sub(HEADER) {
        Some(behind) if behind > 0 && behind.is_multiple_of(4) => Ok(behind),
        _ => Err(Error::Length {
            said: u64::from(word(bytes, 2)) + HEADER as u64,
            found: bytes.len(),
        }),
    }
}

/// Reads a whole bitstream, and nothing behind it.
///
/// # Errors
///
/// What is wrong with it, in the order in which the port finds it.
pub fn check(bytes: &[u8]) -> Result<Header, Error> {
    if word(bytes, 0) != MARK {
        return Err(Error::Mark);
    }
    let [low, high, task, region] = word(bytes, 1).to_le_bytes();
    let version = u16::from_le_bytes([low, high]);
    if version != VERSION {
        return Err(Error::Version(version));
    }
    if task == 0 {
        return Err(Error::Task);
    }
    let said = u64::from(word(bytes, 2));
    if content(bytes)? as u64 != said {
        return Err(Error::Length {
            said: said + HEADER as u64,
            found: bytes.len(),
        });
    }
    let (said, found) = (word(bytes, 3), checksum(bytes));
    if said != found {
        return Err(Error::Checksum { said, found });
    }
    Ok(Header { task, region })
}
