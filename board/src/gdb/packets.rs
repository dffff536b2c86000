//! The packets between gdb and the protocol's library: their framing, damaged ones, and gdb's processes.
//!
//! gdb debugs several processes (its inferiors) over one connection, and the library knows one. So each thread of each
//! process has a number of its own in the library ([`number`]); packets of gdb's are translated to it, and answers
//! back. A packet that the library can't read ends its session: it gets a new one, with what gdb had set up, and gdb
//! gets an error in answer.

use std::collections::BTreeSet;

use super::target::{HARTS_MAX, number, process_of_number};

/// Most bytes of a packet's body: the library's buffer, without `$`, `#` and the checksum.
const BODY_MAX: usize = 4092;
/// Answers with error numbers (gdb's manual, "Errno Values"): no such thread, busy, invalid.
const NO_SUCH_THREAD: &[u8] = b"E03";
const BUSY: &[u8] = b"E10";
const INVALID: &[u8] = b"E16";
/// The key that interrupts.
const INTERRUPT: u8 = 3;

/// The action for input from gdb.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Input {
    /// Goes to gdb.
    pub(super) send: Vec<u8>,
    /// Goes to the library.
    pub(super) pass: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    #[default]
    Outside,
    Body,
    Checksum,
    ChecksumEnd(u8),
}

/// The thread that a packet addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ThreadId {
    /// All, or all of one process.
    All,
    /// Any.
    Any,
    /// The library's number of a thread.
    Thread(usize),
}

/// The state of one connection.
#[derive(Debug)]
pub(super) struct Packets {
    /// Processes beside the first; with none, threads' numbers pass as they are.
    guests: usize,
    /// Whether gdb tells processes apart.
    pub(super) multiprocess: bool,
    /// Whether packets are acknowledged.
    acknowledges: bool,
    /// The library was asked to acknowledge no more.
    asked_for_silence: bool,
    /// The library was asked for threads.
    asked_for_threads: bool,
    state: State,
    body: Vec<u8>,
    /// The body is longer than the library takes.
    overlong: bool,
    /// The last packet sent, for retransmission.
    sent: Vec<u8>,
    /// The library's number of the thread that packets without a thread are about.
    general: usize,
    /// The state of gdb that the library knows.
    supported: Option<Vec<u8>>,
    /// Processes that gdb has not detached from, counted from 0.
    attached: BTreeSet<usize>,
}

/// A packet with this body.
pub(super) fn framed(body: &[u8]) -> Vec<u8> {
    let sum = body.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    [b"$", body, format!("#{sum:02x}").as_bytes()].concat()
}

impl Packets {
    pub(super) fn new(guests: usize) -> Self {
        Self {
            guests,
            multiprocess: false,
            acknowledges: true,
            asked_for_silence: false,
            asked_for_threads: false,
            state: State::default(),
            body: Vec::new(),
            overlong: false,
            sent: Vec::new(),
            general: number(0, 0),
            supported: None,
            attached: (0..=guests).collect(),
        }
    }

    /// The process that packets without a thread are about.
    pub(super) fn process(&self) -> usize {
        process_of_number(self.general)
    }

    /// Takes a byte of gdb's, while the board runs or not.
    pub(super) fn take(&mut self, byte: u8, running: bool) -> Input {
        match (self.state, byte) {
            (State::Outside, b'$') => self.begin(),
            (State::Outside, INTERRUPT) => {
                return Input {
                    pass: vec![INTERRUPT],
                    ..Input::default()
                };
            }
            (State::Outside, b'-') => {
                return Input {
                    send: self.sent.clone(),
                    ..Input::default()
                };
            }
            (State::Outside, _) => {}
            // A packet that was cut off: `$` is escaped within one.
            (State::Body, b'$') => self.begin(),
            (State::Body, b'#') => self.state = State::Checksum,
            (State::Body, _) if self.body.len() < BODY_MAX => self.body.push(byte),
            (State::Body, _) => self.overlong = true,
            (State::Checksum, _) => self.state = State::ChecksumEnd(byte),
            (State::ChecksumEnd(first), _) => {
                self.state = State::Outside;
                let body = std::mem::take(&mut self.body);
                return self.packet(&body, [first, byte], running);
            }
        }
        Input::default()
    }

    fn begin(&mut self) {
        self.state = State::Body;
        self.body.clear();
        self.overlong = false;
    }

    fn packet(&mut self, body: &[u8], checksum: [u8; 2], running: bool) -> Input {
        let sum = body.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
        let told = std::str::from_utf8(&checksum)
            .ok()
            .and_then(|text| u8::from_str_radix(text, 16).ok());
        if !self.overlong && told != Some(sum) {
            // Without acknowledgements gdb sends nothing twice.
            return if self.acknowledges {
                Input {
                    send: b"-".to_vec(),
                    ..Input::default()
                }
            } else {
                self.refuse()
            };
        }
        if self.overlong {
            return self.refuse();
        }
        let ends = body.starts_with(b"k") || body.starts_with(b"D") || body.starts_with(b"vKill;");
        if running && !ends {
            return self.answer(BUSY);
        }
        match self.translate(body) {
            Ok((answer, body)) => Input {
                send: answer
                    .map(|answer| self.answer(answer).send)
                    .unwrap_or_default(),
                pass: body.as_deref().map(framed).unwrap_or_default(),
            },
            Err(error) => self.answer(error),
        }
    }

    /// An answer of its own.
    fn answer(&mut self, body: &[u8]) -> Input {
        let acknowledgement: &[u8] = if self.acknowledges { b"+" } else { b"" };
        self.sent = framed(body);
        Input {
            send: [acknowledgement, &self.sent].concat(),
            pass: Vec::new(),
        }
    }

    /// The answer to what can't be read.
    pub(super) fn refuse(&mut self) -> Input {
        self.answer(INVALID)
    }

    /// What gets a new session of the library to where the last one was. Its answers are not for gdb.
    pub(super) fn replay(&self) -> Vec<u8> {
        let mut bytes = self.supported.as_deref().map(framed).unwrap_or_default();
        if !self.acknowledges {
            bytes.extend(framed(b"QStartNoAckMode"));
        }
        bytes.extend(framed(format!("Hg{:x}", self.general).as_bytes()));
        bytes
    }

    /// The answer that is due at once, and what the library is to be told.
    #[expect(
        clippy::type_complexity,
        reason = "an answer and a packet, either or both"
    )]
    fn translate(
        &mut self,
        body: &[u8],
    ) -> Result<(Option<&'static [u8]>, Option<Vec<u8>>), &'static [u8]> {
        let passed = |body: Vec<u8>| Ok((None, Some(body)));
        let Ok(text) = std::str::from_utf8(body) else {
            // Binary data; no packet about a thread has any.
            return passed(body.to_vec());
        };
        if let Some(write) = text.strip_prefix('M') {
            // The library takes whatever bytes there are.
            let parts = write
                .split_once(':')
                .and_then(|(place, data)| Some((hex(place.split_once(',')?.1)?, data)));
            if parts.is_none_or(|(length, data)| Some(data.len()) != length.checked_mul(2)) {
                return Err(INVALID);
            }
        }
        if text.starts_with("qSupported") {
            let mut told = text.to_owned();
            if self.guests > 0 {
                self.multiprocess = text.contains("multiprocess+");
                told = text.replace("multiprocess+", "multiprocess-");
            }
            self.supported = Some(told.clone().into_bytes());
            return passed(told.into_bytes());
        }
        self.asked_for_silence = text == "QStartNoAckMode";
        self.asked_for_threads = text == "qfThreadInfo";
        let (head, rest) = if text.starts_with("Hg") || text.starts_with("Hc") {
            text.split_at(2)
        } else if text.starts_with('T') && self.multiprocess {
            text.split_at(1)
        } else if let Some(rest) = text.strip_prefix("qThreadExtraInfo,") {
            ("qThreadExtraInfo,", rest)
        } else if let Some(actions) = text.strip_prefix("vCont;").filter(|_| self.multiprocess) {
            return passed(self.actions(actions)?.into_bytes());
        } else if text.starts_with("vKill;") {
            // The library has no answer to that, and gdb waits for one.
            return Ok((Some(b"OK".as_slice()), Some(b"k".to_vec())));
        } else if let Some(process) = text.strip_prefix("D;").filter(|_| self.multiprocess) {
            let process = hex(process).and_then(|id| id.checked_sub(1));
            if !process.is_some_and(|process| self.attached.remove(&process)) {
                return Err(NO_SUCH_THREAD);
            }
            if self.attached.is_empty() {
                return passed(b"D".to_vec());
            }
            return Ok((Some(b"OK".as_slice()), None));
        } else {
            return passed(body.to_vec());
        };
        if !self.multiprocess {
            if let ("Hg", Some(thread)) = (head, hex(rest).filter(|thread| *thread > 0)) {
                self.general = thread;
            }
            return passed(body.to_vec());
        }
        let who = self.parse_thread_id(rest)?;
        let thread = match (head, who) {
            ("Hg", ThreadId::All | ThreadId::Any) => self.general,
            ("Hc", ThreadId::All) => return passed(b"Hc-1".to_vec()),
            ("Hc", ThreadId::Any) => 0,
            (_, ThreadId::Thread(thread)) => thread,
            _ => return Err(NO_SUCH_THREAD),
        };
        if head == "Hg" {
            self.general = thread;
        }
        passed(format!("{head}{thread:x}").into_bytes())
    }

    /// The actions of `vCont`. One for all of a process is one for all: processes share the harts.
    fn actions(&self, actions: &str) -> Result<String, &'static [u8]> {
        let mut text = "vCont".to_owned();
        for action in actions.split(';') {
            let (kind, thread) = action.split_once(':').unwrap_or((action, "-1"));
            text.push(';');
            text.push_str(kind);
            if let ThreadId::Thread(thread) = self.parse_thread_id(thread)? {
                text.push_str(&format!(":{thread:x}"));
            }
        }
        Ok(text)
    }

    /// Parses `pPROCESS.THREAD`.
    fn parse_thread_id(&self, text: &str) -> Result<ThreadId, &'static [u8]> {
        let Some(of_process) = text.strip_prefix('p') else {
            return match text {
                "-1" => Ok(ThreadId::All),
                "0" => Ok(ThreadId::Any),
                _ => Err(NO_SUCH_THREAD),
            };
        };
        let (process, thread) = of_process.split_once('.').unwrap_or((of_process, "-1"));
        if process == "-1" {
            return Ok(ThreadId::All);
        }
        if process == "0" {
            return Ok(ThreadId::Any);
        }
        let process = hex(process)
            .and_then(|id| id.checked_sub(1))
            .filter(|process| self.attached.contains(process))
            .ok_or(NO_SUCH_THREAD)?;
        match thread {
            "-1" => Ok(ThreadId::All),
            "0" => Ok(ThreadId::Thread(number(process, 0))),
            _ => hex(thread)
                .filter(|thread| (1..=HARTS_MAX).contains(thread))
                .map(|thread| ThreadId::Thread(number(process, thread - 1)))
                .ok_or(NO_SUCH_THREAD),
        }
    }

    /// Translates what the library says, for gdb.
    pub(super) fn output(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut rest = bytes;
        while let Some(begin) = rest.iter().position(|byte| *byte == b'$') {
            out.extend_from_slice(&rest[..begin]);
            let packet = &rest[begin + 1..];
            let Some(end) = packet.iter().position(|byte| *byte == b'#') else {
                break;
            };
            let body = self.answered(&packet[..end]);
            self.sent = framed(&body);
            out.extend_from_slice(&self.sent);
            rest = packet.get(end + 3..).unwrap_or_default();
        }
        out.extend_from_slice(rest);
        out
    }

    fn answered(&mut self, body: &[u8]) -> Vec<u8> {
        if std::mem::take(&mut self.asked_for_silence) && body == b"OK" {
            self.acknowledges = false;
        }
        let lists_threads = std::mem::take(&mut self.asked_for_threads);
        let Ok(text) = std::str::from_utf8(body) else {
            return body.to_vec();
        };
        match text.split_at_checked(1) {
            Some(("T", _)) => self.stopped(text).into_bytes(),
            Some(("m", threads)) if self.multiprocess && lists_threads => {
                let threads: Vec<String> = threads
                    .split(',')
                    .filter_map(hex)
                    .filter(|thread| self.attached.contains(&process_of_number(*thread)))
                    .map(wire_name)
                    .collect();
                format!("m{}", threads.join(",")).into_bytes()
            }
            Some(("W" | "X", _)) if self.multiprocess => {
                format!("{text};process:{:x}", self.process() + 1).into_bytes()
            }
            _ => body.to_vec(),
        }
    }

    /// Why the board stopped, of a thread that becomes the general one.
    fn stopped(&mut self, text: &str) -> String {
        const KEY: &str = "thread:";
        let Some((before, behind)) = text.split_once(KEY) else {
            return text.to_owned();
        };
        let (thread, behind) = behind.split_once(';').unwrap_or((behind, ""));
        let Some(mut thread) = thread.rsplit('.').next().and_then(hex) else {
            return text.to_owned();
        };
        if !self.multiprocess {
            self.general = thread;
            return text.to_owned();
        }
        if !self.attached.contains(&process_of_number(thread)) {
            // gdb has detached from that one: another's name for the same hart.
            let other = self.attached.first().copied().unwrap_or_default();
            thread = number(other, (thread - 1) % HARTS_MAX);
        }
        self.general = thread;
        format!("{before}{KEY}{};{behind}", wire_name(thread))
    }
}

/// gdb's name of a thread that has this number in the library.
fn wire_name(number: usize) -> String {
    format!(
        "p{:x}.{:x}",
        process_of_number(number) + 1,
        (number - 1) % HARTS_MAX + 1
    )
}

fn hex(text: &str) -> Option<usize> {
    usize::from_str_radix(text, 16)
        .ok()
        .filter(|_| !text.starts_with('+'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(packets: &mut Packets, bytes: &[u8]) -> Input {
        let mut all = Input::default();
        for byte in bytes {
            let input = packets.take(*byte, false);
            all.send.extend(input.send);
            all.pass.extend(input.pass);
        }
        all
    }

    fn passed(packets: &mut Packets, body: &str) -> String {
        let input = take(packets, &framed(body.as_bytes()));
        let text = if input.pass.is_empty() {
            input.send
        } else {
            input.pass
        };
        let text = String::from_utf8(text).expect("text");
        let body = text.trim_start_matches('+').strip_prefix('$');
        body.and_then(|text| text.split('#').next())
            .unwrap_or_default()
            .to_owned()
    }

    /// A connection with a gdb that tells processes apart.
    fn connected(guests: usize) -> Packets {
        let mut packets = Packets::new(guests);
        assert_eq!(
            passed(&mut packets, "qSupported:multiprocess+;swbreak+"),
            "qSupported:multiprocess-;swbreak+"
        );
        packets
    }

    #[test]
    fn threads_of_processes_have_numbers_of_their_own() {
        let mut packets = connected(2);
        let second = number(1, 0);
        assert_eq!(passed(&mut packets, "Hgp2.1"), format!("Hg{second:x}"));
        assert_eq!(packets.process(), 1);
        assert_eq!(passed(&mut packets, "Hgp0.0"), format!("Hg{second:x}"));
        assert_eq!(passed(&mut packets, "Hc-1"), "Hc-1");
        assert_eq!(passed(&mut packets, "vCont;c:p2.-1"), "vCont;c");
        assert_eq!(
            passed(&mut packets, "vCont;s:p2.1;c:p-1.-1"),
            format!("vCont;s:{second:x};c")
        );
        assert_eq!(
            passed(&mut packets, "Tp3.2"),
            format!("T{:x}", number(2, 1))
        );
        // Other answers may begin with the same letter.
        assert_eq!(packets.output(&framed(b"m<xml>")), framed(b"m<xml>"));
        assert_eq!(passed(&mut packets, "qfThreadInfo"), "qfThreadInfo");
        let told = format!("m{:x},{:x}", number(0, 1), number(2, 1));
        assert_eq!(
            packets.output(&framed(told.as_bytes())),
            framed(b"mp1.2,p3.2")
        );
        let stop = format!("T05thread:{:x};swbreak:;", number(2, 1));
        assert_eq!(
            packets.output(&framed(stop.as_bytes())),
            framed(b"T05thread:p3.2;swbreak:;")
        );
        assert_eq!(packets.process(), 2);
        assert_eq!(packets.output(&framed(b"W00")), framed(b"W00;process:3"));
        for unknown in [
            "Hgp4.1",
            "Tp1.0fffffff",
            "vCont;s:p9.1",
            "D;9",
            "Hgpx.1",
            "Hg7",
        ] {
            assert_eq!(passed(&mut packets, unknown), "E03", "{unknown}");
        }
    }

    #[test]
    fn a_process_is_detached_from_alone_and_the_last_one_ends_the_session() {
        let mut packets = connected(1);
        assert_eq!(passed(&mut packets, "D;2"), "OK");
        let stop = format!("T02thread:{:x};", number(1, 1));
        assert_eq!(
            packets.output(&framed(stop.as_bytes())),
            framed(b"T02thread:p1.2;")
        );
        assert_eq!(passed(&mut packets, "D;2"), "E03");
        assert_eq!(passed(&mut packets, "D;1"), "D");
    }

    #[test]
    fn damaged_packets_are_requested_again_or_refused() {
        let mut packets = Packets::new(0);
        assert_eq!(take(&mut packets, b"noise$g#00").send, b"-");
        assert_eq!(take(&mut packets, b"$half$g#67").pass, b"$g#67");
        assert_eq!(packets.output(b"+$abc#26"), b"+$abc#26");
        assert_eq!(take(&mut packets, b"-").send, b"$abc#26");
        let long = vec![b'm'; BODY_MAX + 1];
        assert_eq!(take(&mut packets, &framed(&long)).send, b"+$E16#ac");
        assert_eq!(
            take(&mut packets, &framed(b"QStartNoAckMode")).pass.len(),
            19
        );
        assert_eq!(packets.output(b"+$OK#9a"), b"+$OK#9a");
        assert_eq!(take(&mut packets, b"$g#00").send, b"$E16#ac");
        assert_eq!(packets.replay(), b"$QStartNoAckMode#b0$Hg1#e0");
    }

    #[test]
    fn a_running_board_is_not_queried() {
        let mut packets = Packets::new(0);
        let mut send = Vec::new();
        for byte in b"$g#67" {
            send.extend(packets.take(*byte, true).send);
        }
        assert_eq!(send, b"+$E10#a6");
        assert_eq!(packets.take(INTERRUPT, true).pass, [INTERRUPT]);
    }
}
