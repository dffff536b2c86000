//! QEMU's virtual time, told in its own serial line.
//!
//! QEMU has no command that asks for its virtual clock, but its packet dump (`filter-dump`) writes each packet with the
//! virtual time at which it passed. So the command line adds two networks that no card is on, and that no guest can
//! see. A packet that is sent to the network `clock` is dumped at once: the question what time it is, and the answer. A
//! packet that is sent to the network `limit` before the machine starts is held until the virtual time of the run's
//! limit, and dumped then. The dump goes into the same pipe as the serial line, so that each record stands exactly
//! behind what was written before that time.
//!
//! Records are told from what guests write by a random cookie in the packet.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Write, pipe};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::rand::{GetRandomFlags, getrandom};

use crate::config::Nanoseconds;

/// The date at virtual time 0, as the command line says it.
pub(super) const BASE: &str = "2026-01-01T00:00:00";
/// The same in seconds since 1970: what the times of the dump are counted from.
const BASE_SECONDS: u64 = 1_767_225_600;

const COOKIE: usize = 16;
/// What is in a packet: the cookie, and what the packet is for.
const PACKET: usize = COOKIE + 1;
/// A packet's header in the dump: seconds, microseconds, bytes kept, bytes there were (libpcap's savefile format).
const HEADER: usize = 16;
const RECORD: usize = HEADER + PACKET;
/// What each dump begins with.
const FILE_HEADER: usize = 24;

/// Packets that ask for the time, and those that mark the limit.
const ASK: u8 = b't';
const LIMIT: u8 = b'l';

/// A part of what QEMU wrote.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// To its serial line.
    Bytes(Vec<u8>),
    /// The answer to a question for the time.
    Time(Nanoseconds),
    /// The limit was reached.
    Limit,
}

/// What the run's limit takes.
#[derive(Debug)]
struct Limit {
    microseconds: u64,
    packets: Option<PipeReader>,
    _hold: PipeWriter,
    /// QEMU's end of the monitor, until it has started.
    theirs: Option<OwnedFd>,
    monitor: BufReader<UnixStream>,
    /// Whether the machine runs: not before the packet is held.
    runs: bool,
}

impl Limit {
    /// Whether a machine that has let go of its packet at `time` has reached the limit. One that has switched itself
    /// off lets go of it as well, and time may have flown before: nothing was left that would have taken any.
    fn is_reached(&mut self, time: Nanoseconds) -> bool {
        // Between two answers QEMU sees whether the machine is off, and ends then.
        time.0 >= self.microseconds * 1000 && self.answers(1) && self.answers(2)
    }

    /// Whether QEMU answers on its monitor, and so has not ended.
    fn answers(&mut self, number: u32) -> bool {
        let question = format!(r#"{{"execute":"query-status","id":{number}}}"#);
        if self
            .monitor
            .get_mut()
            .write_all(question.as_bytes())
            .is_err()
        {
            return false;
        }
        let mut line = String::new();
        while matches!(self.monitor.read_line(&mut line), Ok(1..)) {
            let answer: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
            if answer["id"] == number {
                return true;
            }
            line.clear();
        }
        false
    }
}

/// The virtual clock of a machine.
#[derive(Debug)]
pub(super) struct Clock {
    /// QEMU's end, until it has started.
    questions: Option<PipeReader>,
    ask: PipeWriter,
    asked: bool,
    limit: Option<Limit>,
    reader: Reader,
    parts: VecDeque<Part>,
}

impl Clock {
    /// Of a machine that is yet to be started.
    pub(super) fn new(limit: Option<Nanoseconds>) -> io::Result<Self> {
        let mut cookie = [0; COOKIE];
        getrandom(&mut cookie, GetRandomFlags::empty())?;
        let (questions, ask) = pipe()?;
        // The filter takes 1 to 2^32 - 1 of them.
        let microseconds = limit.map(|limit| limit.0.div_ceil(1000).clamp(1, u32::MAX.into()));
        let limit = match microseconds {
            None => None,
            Some(microseconds) => {
                let (packets, mut hold) = pipe()?;
                hold.write_all(&packet(cookie, LIMIT))?;
                let (monitor, theirs) = UnixStream::pair()?;
                Some(Limit {
                    microseconds,
                    packets: Some(packets),
                    _hold: hold,
                    theirs: Some(theirs.into()),
                    monitor: BufReader::new(monitor),
                    runs: false,
                })
            }
        };
        let dumps = if limit.is_some() { 3 } else { 1 };
        Ok(Self {
            questions: Some(questions),
            ask,
            asked: false,
            limit,
            reader: Reader {
                cookie,
                headers: dumps * FILE_HEADER,
                held: Vec::new(),
            },
            parts: VecDeque::new(),
        })
    }

    /// Adds to QEMU's command line what the clock takes.
    pub(super) fn add_to(&self, command: &mut Command) {
        let mut inherited = Vec::new();
        let mut network = |command: &mut Command, name: &str, packets: Option<&PipeReader>| {
            let Some(packets) = packets else { return };
            let number = packets.as_raw_fd();
            inherited.push(number);
            let set = if name == "clock" { 1 } else { 2 };
            command
                .arg("-add-fd")
                .arg(format!("fd={number},set={set}"))
                .arg("-chardev")
                .arg(format!(
                    "file,id={name}-in,path=/dev/null,input-path=/dev/fdset/{set}"
                ))
                // A packet passes only where it has somewhere to go.
                .arg("-netdev")
                .arg(format!("hubport,id={name},hubid={}", 2 * set))
                .arg("-netdev")
                .arg(format!(
                    "hubport,id={name}-end,hubid={},netdev={name}",
                    2 * set + 1
                ))
                .arg("-object")
                .arg(format!(
                    "filter-redirector,id={name}-ask,netdev={name},queue=tx,indev={name}-in"
                ));
        };
        let dump = |command: &mut Command, name: &str, id: &str| {
            // A second open file of the same pipe: QEMU makes its own standard output non-blocking, and a dump that
            // would have to wait gives up.
            command.arg("-object").arg(format!(
                "filter-dump,id={name}-{id},netdev={name},queue=tx,file=/proc/self/fd/1"
            ));
        };
        network(command, "clock", self.questions.as_ref());
        dump(command, "clock", "tell");
        if let Some(limit) = &self.limit {
            network(command, "limit", limit.packets.as_ref());
            dump(command, "limit", "held");
            command.arg("-object").arg(format!(
                "filter-buffer,id=limit-hold,netdev=limit,queue=tx,interval={}",
                limit.microseconds
            ));
            dump(command, "limit", "over");
            if let Some(theirs) = &limit.theirs {
                let number = theirs.as_raw_fd();
                inherited.push(number);
                command
                    .arg("-S")
                    .arg("-chardev")
                    .arg(format!("socket,id=monitor,fd={number}"))
                    .args(["-mon", "chardev=monitor,mode=control"]);
            }
        }
        // SAFETY: the closure runs between fork and exec and makes system calls alone; the vector was made before.
        unsafe {
            command.pre_exec(move || {
                for number in &inherited {
                    // SAFETY: the parent keeps it open until the child has started.
                    let fd = rustix::fd::BorrowedFd::borrow_raw(*number);
                    fcntl_setfd(fd, FdFlags::empty()).map_err(io::Error::from)?;
                }
                Ok(())
            });
        }
    }

    /// The same when QEMU has started, which then has its ends alone.
    pub(super) fn started(mut self) -> Self {
        self.questions = None;
        if let Some(limit) = &mut self.limit {
            limit.packets = None;
            limit.theirs = None;
        }
        self
    }

    /// Asks what time it is, unless that was asked and not answered.
    pub(super) fn ask(&mut self) {
        if !self.asked {
            // Where it fails the machine has ended, which is told by its output's end.
            self.asked = self.ask.write_all(&packet(self.reader.cookie, ASK)).is_ok();
        }
    }

    /// Takes what QEMU wrote; `full`: more of the same may have been there.
    pub(super) fn read(&mut self, bytes: &[u8], full: bool) {
        for (bytes, record) in self.reader.read(bytes, full) {
            if !bytes.is_empty() {
                self.parts.push_back(Part::Bytes(bytes));
            }
            match (record, &mut self.limit) {
                (Some((ASK, time)), _) => {
                    self.asked = false;
                    self.parts.push_back(Part::Time(time));
                }
                (Some((LIMIT, _)), Some(limit)) if !limit.runs => {
                    limit.runs = true;
                    let go = br#"{"execute":"qmp_capabilities"}{"execute":"cont"}"#;
                    // As with a question.
                    let _ = limit.monitor.get_mut().write_all(go);
                }
                (Some((LIMIT, time)), Some(limit)) => {
                    let reached = limit.is_reached(time);
                    self.parts.extend(reached.then_some(Part::Limit));
                }
                _ => {}
            }
        }
    }

    /// The next part that was read.
    pub(super) fn take(&mut self) -> Option<Part> {
        self.parts.pop_front()
    }

    /// What is left when no more will come.
    pub(super) fn rest(&mut self) -> Option<Vec<u8>> {
        let rest = std::mem::take(&mut self.reader.held);
        (!rest.is_empty()).then_some(rest)
    }
}

/// A packet as `filter-redirector` reads it: behind its length.
fn packet(cookie: [u8; COOKIE], kind: u8) -> Vec<u8> {
    let mut packet = (PACKET as u32).to_be_bytes().to_vec();
    packet.extend(cookie);
    packet.push(kind);
    packet
}

/// Tells the dump's records from what was written to the serial line.
#[derive(Debug)]
struct Reader {
    cookie: [u8; COOKIE],
    /// Bytes of the dumps' own headers that are to come, before anything else.
    headers: usize,
    /// Bytes that may be the start of a record.
    held: Vec<u8>,
}

/// What was written, and the record behind it: its kind and its time.
type Piece = (Vec<u8>, Option<(u8, Nanoseconds)>);

impl Reader {
    /// Takes what was read. Records are written at once and never parted but where a read was `full`.
    fn read(&mut self, bytes: &[u8], full: bool) -> Vec<Piece> {
        let skipped = self.headers.min(bytes.len());
        self.headers -= skipped;
        let mut rest = std::mem::take(&mut self.held);
        rest.extend_from_slice(&bytes[skipped..]);
        let mut pieces = Vec::new();
        while let Some((at, record)) = self.find(&rest) {
            let behind = rest.split_off(at + RECORD);
            rest.truncate(at);
            pieces.push((rest, Some(record)));
            rest = behind;
        }
        if full {
            self.held = rest.split_off(rest.len().saturating_sub(RECORD - 1));
        }
        pieces.push((rest, None));
        pieces
    }

    /// The first record, and where it begins.
    fn find(&self, bytes: &[u8]) -> Option<(usize, (u8, Nanoseconds))> {
        let packet = bytes
            .windows(PACKET)
            .skip(HEADER)
            .position(|window| window[..COOKIE] == self.cookie)?;
        let record = &bytes[packet..packet + RECORD];
        let word = |at: usize| {
            let word = record[at..at + 4].try_into().unwrap_or_default();
            u64::from(u32::from_le_bytes(word))
        };
        let microseconds = word(0).saturating_sub(BASE_SECONDS) * 1_000_000 + word(4);
        let time = Nanoseconds(microseconds * 1000);
        Some((packet, (record[RECORD - 1], time)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COOKIE_HERE: [u8; COOKIE] = *b"0123456789abcdef";

    fn record(kind: u8, seconds: u32, microseconds: u32) -> Vec<u8> {
        let mut record = Vec::new();
        let words = [
            BASE_SECONDS as u32 + seconds,
            microseconds,
            PACKET as u32,
            PACKET as u32,
        ];
        for word in words {
            record.extend(word.to_le_bytes());
        }
        record.extend(COOKIE_HERE);
        record.push(kind);
        record
    }

    fn reader() -> Reader {
        Reader {
            cookie: COOKIE_HERE,
            headers: FILE_HEADER,
            held: Vec::new(),
        }
    }

    #[test]
    fn records_stand_where_they_were_written() {
        let mut bytes = vec![7; FILE_HEADER];
        bytes.extend(b"before ");
        bytes.extend(record(ASK, 2, 3));
        bytes.extend(record(LIMIT, 0, 0));
        bytes.extend(b"after");
        let wanted = [
            (b"before ".to_vec(), Some((ASK, Nanoseconds(2_000_003_000)))),
            (Vec::new(), Some((LIMIT, Nanoseconds(0)))),
            (b"after".to_vec(), None),
        ];
        assert_eq!(reader().read(&bytes, false), wanted);
    }

    #[test]
    fn a_read_that_is_full_may_part_a_record() {
        let mut bytes = vec![7; FILE_HEADER];
        bytes.extend(b"some text that goes on for more than a record has");
        bytes.extend(record(ASK, 0, 1));
        bytes.extend(b"end");
        for cut in 0..bytes.len() {
            let mut reader = reader();
            let mut pieces = reader.read(&bytes[..cut], true);
            pieces.extend(reader.read(&bytes[cut..], false));
            let text: Vec<u8> = pieces.iter().flat_map(|(bytes, _)| bytes.clone()).collect();
            assert_eq!(
                text,
                b"some text that goes on for more than a record hasend"
            );
            let records: Vec<_> = pieces.iter().filter_map(|(_, record)| *record).collect();
            assert_eq!(records, [(ASK, Nanoseconds(1000))], "cut at {cut}");
        }
    }

    #[test]
    fn a_guest_that_does_not_know_the_cookie_cannot_tell_the_time() {
        let mut forged = record(LIMIT, 1, 1);
        forged[HEADER] ^= 1;
        let mut bytes = vec![7; FILE_HEADER];
        bytes.extend(&forged);
        assert_eq!(reader().read(&bytes, false), [(forged, None)]);
    }
}
