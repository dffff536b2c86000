//! What is asked for.

use core::fmt;

use crate::{ImageSignature, LINE_MAX, NotASignature, WRITE_MAX, base64, crc32};

/// Most bytes of a tag.
pub const TAG_MAX: usize = 8;

/// A line: the request, and the tag of its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call<'l> {
    /// What each line of the answer begins with; empty: nothing.
    pub tag: &'l str,
    /// What is asked for, or why that is nothing.
    pub request: Result<Request<'l>, Refused>,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request<'l> {
    /// Nothing: an empty line.
    Nothing,
    /// All VMs.
    List,
    /// One.
    Status(&'l str),
    /// It ends.
    Stop(&'l str),
    /// It starts, with its own image.
    Start(&'l str),
    /// It ends, if it is not off, and starts.
    Restart(&'l str),
    /// Its memory is cleared, and it is held, for an image with that signature.
    Load(&'l str, Option<ImageSignature>),
    /// Bytes for its memory.
    Write {
        /// The VM.
        vm: &'l str,
        /// The guest-physical address of the first one.
        address: u64,
        /// The bytes, in base64; sound, and at most [`WRITE_MAX`].
        bytes: &'l str,
    },
    /// It starts with what was written.
    StartAt(&'l str, u64),
    /// What it has written to its console: from that byte of all, or the first that is kept.
    Console(&'l str, Option<u64>),
}

/// Why a line asks for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It is too long.
    TooLong,
    /// It is not of printable ASCII.
    NotText,
    /// Its tag is none.
    Tag,
    /// There is no such request.
    Unknown,
    /// It lacks something.
    Missing(&'static str),
    /// It has more than it should.
    TooMany,
    /// Something is no number.
    Number(&'static str),
    /// Its bytes are no base64, or too many.
    Bytes,
    /// Its bytes are others than were sent.
    Checksum,
    /// What should be a signature is none.
    Signature(NotASignature),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "a line has at most {LINE_MAX} bytes"),
            Self::NotText => f.write_str("a line is of printable ASCII"),
            Self::Tag => write!(f, "a tag is # and 1 to {TAG_MAX} letters and digits"),
            Self::Unknown => f.write_str(
                "unknown request: list, status, stop, start, restart, load, write, console",
            ),
            Self::Missing(what) => write!(f, "{what} is missing"),
            Self::TooMany => f.write_str("more than the request takes"),
            Self::Number(what) => write!(f, "{what} is not a number"),
            Self::Bytes => write!(f, "the bytes are not base64 of at most {WRITE_MAX} bytes"),
            Self::Checksum => f.write_str("the checksum does not match"),
            Self::Signature(reason) => reason.fmt(f),
        }
    }
}

/// A number, decimal or hexadecimal.
pub(crate) fn number(text: &str) -> Option<u64> {
    let (digits, radix) = match text.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
    u64::from_str_radix(digits, radix).ok().filter(|_| is_plain)
}

/// Takes a line, without its end, apart.
pub fn parse(line: &[u8]) -> Call<'_> {
    let refuse = |refused| Call {
        tag: "",
        request: Err(refused),
    };
    if line.len() > LINE_MAX {
        return refuse(Refused::TooLong);
    }
    let is_text = line.iter().all(|byte| matches!(byte, b' '..=b'~'));
    let Ok(text) = core::str::from_utf8(line) else {
        return refuse(Refused::NotText);
    };
    if !is_text {
        return refuse(Refused::NotText);
    }
    let mut words = text.split(' ').filter(|word| !word.is_empty());
    let mut first = words.next();
    let mut tag = "";
    if let Some(text) = first.and_then(|word| word.strip_prefix('#')) {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !is_plain || !(1..=TAG_MAX).contains(&text.len()) {
            return refuse(Refused::Tag);
        }
        tag = text;
        first = words.next();
    }
    Call {
        tag,
        request: request(first, &mut words),
    }
}

fn request<'l>(
    verb: Option<&'l str>,
    words: &mut dyn Iterator<Item = &'l str>,
) -> Result<Request<'l>, Refused> {
    let Some(verb) = verb else {
        return Ok(Request::Nothing);
    };
    let mut needed = |what| words.next().ok_or(Refused::Missing(what));
    let vm = "the name of a VM";
    let as_number = |text, what| number(text).ok_or(Refused::Number(what));
    let request = match verb {
        "list" => Request::List,
        "status" => Request::Status(needed(vm)?),
        "stop" => Request::Stop(needed(vm)?),
        "start" => {
            let name = needed(vm)?;
            match words.next() {
                None => Request::Start(name),
                Some(entry) => Request::StartAt(name, as_number(entry, "the entry")?),
            }
        }
        "restart" => Request::Restart(needed(vm)?),
        "load" => {
            let name = needed(vm)?;
            let signature = words.next().map(ImageSignature::parse);
            Request::Load(name, signature.transpose().map_err(Refused::Signature)?)
        }
        "write" => {
            let vm = needed(vm)?;
            let address = as_number(needed("the address")?, "the address")?;
            let crc = as_number(needed("the checksum")?, "the checksum")?;
            let bytes = needed("the text of the bytes")?;
            let mut decoded = [0; WRITE_MAX];
            let length = base64::decode(bytes, &mut decoded).ok_or(Refused::Bytes)?;
            if u64::from(crc32(&decoded[..length])) != crc {
                return Err(Refused::Checksum);
            }
            Request::Write { vm, address, bytes }
        }
        "console" => {
            let name = needed(vm)?;
            let position = words.next();
            let position = position.map(|text| as_number(text, "the position"));
            Request::Console(name, position.transpose()?)
        }
        _ => return Err(Refused::Unknown),
    };
    match words.next() {
        None => Ok(request),
        Some(_) => Err(Refused::TooMany),
    }
}

impl fmt::Display for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Nothing => Ok(()),
            Self::List => f.write_str("list"),
            Self::Status(vm) => write!(f, "status {vm}"),
            Self::Stop(vm) => write!(f, "stop {vm}"),
            Self::Start(vm) => write!(f, "start {vm}"),
            Self::Restart(vm) => write!(f, "restart {vm}"),
            Self::Load(vm, None) => write!(f, "load {vm}"),
            Self::Load(vm, Some(signature)) => write!(f, "load {vm} {signature}"),
            Self::Write { vm, address, bytes } => {
                let mut decoded = [0; WRITE_MAX];
                let length = base64::decode(bytes, &mut decoded).ok_or(fmt::Error)?;
                let crc = crc32(&decoded[..length]);
                write!(f, "write {vm} {address:#x} {crc:#x} {bytes}")
            }
            Self::Console(vm, None) => write!(f, "console {vm}"),
            Self::Console(vm, Some(position)) => write!(f, "console {vm} {position}"),
            Self::StartAt(vm, entry) => write!(f, "start {vm} {entry:#x}"),
        }
    }
}
