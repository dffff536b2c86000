//! A cable between the network cards of two boards, each in a run of its own: `--pci-net cable=FILE`.
//!
//! The runs meet at a Unix socket and go on in step. At the end of each slice of virtual time each tells the other
//! which frames its card has sent in it, and waits for the other's. A frame takes [`LATENCY`], which is a slice, so
//! that it arrives in the other's next slice: what both boards do is a function of virtual time, whatever the host
//! does. When one run ends, the cable is severed, and the other goes on with what has arrived.
//!
//! A message, all numbers little-endian: how many bytes follow (u32), the virtual time (u64, femtoseconds), whether
//! nothing but the cable can wake the board (u8, 0 or 1), and each frame: when it arrives (u64, femtoseconds), its
//! length (u16), and its bytes.

use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use tactus_board::devices::virtio::{FRAME_MAX, FarEnd, Frame};
use tactus_board::time::Femtoseconds;

use super::SLICE;

/// How long a frame is on its way from when it has left the card.
const LATENCY: Femtoseconds = SLICE;
/// What each run says first: name and version.
const GREETING: &[u8; 16] = b"tactus cable   1";
/// Bytes of a message at most, behind its length: more than a card can send in a slice.
const MESSAGE_MAX: usize = 1 << 20;
/// Bytes of a message before its frames, and of a frame before its bytes.
const HEAD: usize = 9;
const FRAME_HEAD: usize = 10;
/// Host time between looks whether the run is to end, while it waits for the other one.
const PATIENCE: Duration = Duration::from_millis(20);

/// What one run tells the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    now: Femtoseconds,
    asleep: bool,
    frames: Vec<Frame>,
}

impl Message {
    /// Its bytes, its length before them.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; 4];
        bytes.extend(self.now.0.to_le_bytes());
        bytes.push(self.asleep.into());
        for (time, frame) in &self.frames {
            bytes.extend(time.0.to_le_bytes());
            bytes.extend((frame.len() as u16).to_le_bytes());
            bytes.extend(frame);
        }
        let length = (bytes.len() - 4) as u32;
        bytes[..4].copy_from_slice(&length.to_le_bytes());
        bytes
    }

    /// Reads what is behind a message's length.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, &'static str> {
        const SHORT: &str = "a message is cut off";
        let (head, mut rest) = bytes.split_first_chunk::<HEAD>().ok_or(SHORT)?;
        let (now, [asleep @ (0 | 1)]) = head.split_first_chunk().ok_or(SHORT)? else {
            return Err("a message says neither that its board sleeps nor that it does not");
        };
        let mut frames = Vec::new();
        while !rest.is_empty() {
            let (head, behind) = rest.split_first_chunk::<FRAME_HEAD>().ok_or(SHORT)?;
            let [time @ .., low, high] = *head;
            let length = usize::from(u16::from_le_bytes([low, high]));
            if !(1..=FRAME_MAX).contains(&length) {
                return Err("a frame is empty or too long");
            }
            let (frame, behind) = behind.split_at_checked(length).ok_or(SHORT)?;
            frames.push((Femtoseconds(u64::from_le_bytes(time)), frame.to_vec()));
            rest = behind;
        }
        Ok(Self {
            now: Femtoseconds(u64::from_le_bytes(*now)),
            asleep: *asleep != 0,
            frames,
        })
    }
}

/// How an exchange went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exchange {
    /// Both go on.
    Done,
    /// Neither board has anything to do, nor sent anything: nothing will ever wake them.
    BothSleep,
    /// The run is to end.
    Cancelled,
}

/// A card's cable.
#[derive(Debug)]
pub(super) struct Cable {
    path: PathBuf,
    far_end: FarEnd,
    /// `None`: not plugged in yet, or severed.
    stream: Option<UnixStream>,
}

impl Cable {
    /// A cable that is not plugged in at its other end. `path` is where the runs meet.
    pub(super) fn new(path: PathBuf, far_end: FarEnd) -> Self {
        Self {
            path,
            far_end,
            stream: None,
        }
    }

    /// Whether frames may still come.
    pub(super) fn is_plugged_in(&self) -> bool {
        self.stream.is_some()
    }

    /// Meets the other run. `false`: the run was to end before.
    ///
    /// # Errors
    /// The two cannot meet there, as a sentence without its full stop.
    pub(super) fn plug_in(&mut self, cancel: &AtomicBool) -> Result<bool, String> {
        let at = |error: io::Error| format!("{}: {error}", self.path.display());
        let Some(mut stream) = meet(&self.path, cancel).map_err(at)? else {
            return Ok(false);
        };
        stream.set_read_timeout(Some(PATIENCE)).map_err(at)?;
        stream.write_all(GREETING).map_err(at)?;
        let mut greeting = [0; GREETING.len()];
        match read(&mut stream, &mut greeting, cancel) {
            Ok(()) if greeting == *GREETING => {
                self.stream = Some(stream);
                Ok(true)
            }
            Ok(()) | Err(Unread::End) => Err(at(io::Error::other(
                "at the other end is no run of this version of Tactus",
            ))),
            Err(Unread::Cancelled) => Ok(false),
            Err(Unread::Failed(error)) => Err(at(error)),
        }
    }

    /// At the end of a slice: sends what the card has sent, and delivers what the other has. `asleep` says that nothing
    /// but the cable can wake this board.
    ///
    /// # Errors
    /// The other end sends what no run does, as a sentence without its full stop.
    pub(super) fn exchange(
        &mut self,
        now: Femtoseconds,
        asleep: bool,
        cancel: &AtomicBool,
    ) -> Result<Exchange, String> {
        let sent = self.far_end.take_sent().into_iter();
        let Some(stream) = &mut self.stream else {
            return Ok(Exchange::Done);
        };
        let own = Message {
            now,
            asleep,
            frames: sent
                .map(|(time, frame)| (time.saturating_add(LATENCY), frame))
                .collect(),
        };
        let at = |reason: &str| format!("{}: {reason}", self.path.display());
        let sent = stream.write_all(&own.to_bytes()).map_err(|_| Unread::End);
        let other = match sent.and_then(|()| next(stream, cancel)) {
            Ok(bytes) => Message::from_bytes(&bytes).map_err(at)?,
            Err(Unread::End) => {
                self.stream = None;
                return Ok(Exchange::Done);
            }
            Err(Unread::Cancelled) => return Ok(Exchange::Cancelled),
            Err(Unread::Failed(error)) => return Err(at(&error.to_string())),
        };
        if other.now != now {
            return Err(at("the other board is at another time"));
        }
        let idle = own.asleep && other.asleep && own.frames.is_empty() && other.frames.is_empty();
        for frame in other.frames {
            let delivered = self.far_end.deliver(frame, now);
            delivered.map_err(|error| at(&error.to_string()))?;
        }
        Ok(if idle {
            Exchange::BothSleep
        } else {
            Exchange::Done
        })
    }
}

/// Why what the other run says has not been read.
enum Unread {
    /// It has ended.
    End,
    /// This run is to end.
    Cancelled,
    /// It cannot be read.
    Failed(io::Error),
}

/// Connects with the run that waits at `path`, or waits there for one. `None`: cancelled.
///
/// What is at `path` has listened from its first moment: a socket is made beside it, and linked there when it listens.
fn meet(path: &Path, cancel: &AtomicBool) -> io::Result<Option<UnixStream>> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let mut own = path.as_os_str().to_owned();
    own.push(format!(".{}.{number}", process::id()));
    let own = Path::new(&own);
    while !cancel.load(Ordering::Relaxed) {
        match UnixStream::connect(path) {
            Ok(stream) => return Ok(Some(stream)),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                if let Some(stream) = take_away(path, own)? {
                    return Ok(Some(stream));
                }
            }
            Err(error) => return Err(error),
        }
        let listener = UnixListener::bind(own)?;
        let linked = fs::hard_link(own, path);
        fs::remove_file(own)?;
        match linked {
            Ok(()) => {
                let came = accept(&listener, cancel);
                // The other run may have taken it away.
                return absent_or(fs::remove_file(path)).and(came);
            }
            // The other run was first.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Takes away what a run has left at `path` that was killed while it waited. If the other run listens there by now, it
/// is met.
fn take_away(path: &Path, own: &Path) -> io::Result<Option<UnixStream>> {
    let is_socket = fs::symlink_metadata(path).map(|found| found.file_type().is_socket());
    match is_socket {
        Ok(true) => {}
        Ok(false) => return Err(io::Error::other("it is there, and no socket")),
        Err(error) => return absent_or(Err(error)).map(|()| None),
    }
    if let Err(error) = fs::rename(path, own) {
        return absent_or(Err(error)).map(|()| None);
    }
    let stream = UnixStream::connect(own).ok();
    fs::remove_file(own)?;
    Ok(stream)
}

/// The result, but that there is no such file is none of its errors.
fn absent_or(done: io::Result<()>) -> io::Result<()> {
    done.or_else(|error| match error.kind() {
        ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    })
}

fn accept(listener: &UnixListener, cancel: &AtomicBool) -> io::Result<Option<UnixStream>> {
    listener.set_nonblocking(true)?;
    while !cancel.load(Ordering::Relaxed) {
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(false)?;
                return Ok(Some(stream));
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(PATIENCE),
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// The next message, without its length.
fn next(stream: &mut UnixStream, cancel: &AtomicBool) -> Result<Vec<u8>, Unread> {
    let mut length = [0; 4];
    read(stream, &mut length, cancel)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MESSAGE_MAX {
        return Err(Unread::Failed(io::Error::other("a message is too long")));
    }
    let mut bytes = vec![0; length];
    read(stream, &mut bytes, cancel)?;
    Ok(bytes)
}

/// Fills `buffer`.
fn read(stream: &mut UnixStream, buffer: &mut [u8], cancel: &AtomicBool) -> Result<(), Unread> {
    let mut filled = 0;
    while filled < buffer.len() {
        match stream.read(&mut buffer[filled..]) {
            Ok(0) => return Err(Unread::End),
            Ok(count) => filled += count,
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {
                    if cancel.load(Ordering::Relaxed) {
                        return Err(Unread::Cancelled);
                    }
                }
                ErrorKind::ConnectionReset => return Err(Unread::End),
                _ => return Err(Unread::Failed(error)),
            },
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use tactus_board::devices::virtio::Net;

    use super::*;

    const fn slices(count: u64) -> Femtoseconds {
        Femtoseconds(SLICE.0 * count)
    }

    #[test]
    fn messages_are_read_as_they_were_written() {
        let message = Message {
            now: slices(3),
            asleep: true,
            frames: vec![
                (slices(4), vec![7; 60]),
                (Femtoseconds(u64::MAX), vec![8; FRAME_MAX]),
            ],
        };
        let bytes = message.to_bytes();
        assert_eq!(Message::from_bytes(&bytes[4..]), Ok(message));
        for end in 4..bytes.len() {
            let read = Message::from_bytes(&bytes[4..end]);
            // What ends with the head or with a frame is a message.
            let whole = [4 + HEAD, 4 + HEAD + FRAME_HEAD + 60].contains(&end);
            assert_eq!(read.is_ok(), whole, "{end}");
        }
        let mut wrong = bytes;
        wrong[12] = 2;
        assert!(Message::from_bytes(&wrong[4..]).is_err());
    }

    /// A cable for one end at `path`.
    fn cable(path: &Path) -> Cable {
        Cable::new(path.to_owned(), Net::new([2; 6]).far_end())
    }

    #[test]
    fn two_runs_that_come_at_once_meet() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("cable");
        let cancel = AtomicBool::new(false);
        for round in 0..100 {
            // Every other time one was killed while it waited.
            if round % 2 == 0 {
                drop(UnixListener::bind(&path).expect("a socket"));
            }
            let mut ends = [cable(&path), cable(&path)];
            thread::scope(|scope| {
                for end in &mut ends {
                    scope.spawn(|| assert_eq!(end.plug_in(&cancel), Ok(true)));
                }
            });
            let left = fs::read_dir(directory.path()).expect("it is there").count();
            assert_eq!(left, 0, "round {round}");
        }
    }

    #[test]
    fn two_runs_meet_in_either_order_and_part() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("cable");
        let cancel = AtomicBool::new(false);
        // One was killed while it waited.
        drop(UnixListener::bind(&path).expect("a socket"));
        let mut ends = [cable(&path), cable(&path)];
        thread::scope(|scope| {
            for end in &mut ends {
                scope.spawn(|| assert_eq!(end.plug_in(&cancel), Ok(true)));
            }
        });
        assert!(!path.exists());
        let [mut one, mut other] = ends;
        let both = |one: &mut Cable, other: &mut Cable, now, asleep: [bool; 2]| {
            thread::scope(|scope| {
                let one = scope.spawn(|| one.exchange(now, asleep[0], &cancel));
                let other = other.exchange(now, asleep[1], &cancel);
                [one.join().expect("no panic"), other]
            })
        };
        let done = [Ok(Exchange::Done), Ok(Exchange::Done)];
        assert_eq!(both(&mut one, &mut other, slices(1), [true, false]), done);
        let asleep = [Ok(Exchange::BothSleep), Ok(Exchange::BothSleep)];
        assert_eq!(both(&mut one, &mut other, slices(2), [true, true]), asleep);
        drop(one);
        assert!(other.is_plugged_in());
        let alone = other.exchange(slices(3), false, &cancel);
        assert_eq!(alone, Ok(Exchange::Done));
        assert!(!other.is_plugged_in());
    }

    #[test]
    fn what_is_no_run_is_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("cable");
        let cancel = AtomicBool::new(false);
        fs::write(&path, "mine").expect("a file");
        let error = cable(&path).plug_in(&cancel).expect_err("no socket");
        assert!(error.contains("no socket"), "{error}");
        assert_eq!(fs::read(&path).expect("still there"), b"mine");
        fs::remove_file(&path).expect("it is there");
        let mut end = cable(&path);
        let (greeted, other) = thread::scope(|scope| {
            let greeted = scope.spawn(|| end.plug_in(&cancel));
            let other = loop {
                if let Ok(mut stream) = UnixStream::connect(&path) {
                    stream.write_all(GREETING).expect("it waits");
                    break stream;
                }
            };
            (greeted.join().expect("no panic"), other)
        });
        assert_eq!(greeted, Ok(true));
        (&other)
            .write_all(&u32::MAX.to_le_bytes())
            .expect("it reads");
        let error = end.exchange(slices(1), false, &cancel).expect_err("long");
        assert!(error.contains("too long"), "{error}");
        let cancelled = AtomicBool::new(true);
        assert_eq!(cable(&path).plug_in(&cancelled), Ok(false));
    }
}
