//! The packets between gdb and the protocol's library: their framing, damaged ones, and gdb's processes.
//!
//! gdb debugs several processes (its inferiors) over one connection, and the library knows one. So each thread of each
//! process has a number of its own in the library ([`number`]); packets of gdb's are translated to it, and answers
//! back.
//!
//! No packet of gdb's ends the session, or the run, but a well-formed `D`, `k` or `vKill`: a damaged packet is
//! requested again, and one that is malformed gets an error. A packet that the library can't read ends the library's
//! session: [`Packets::replay`] sets up a new one, and gdb gets an error in answer. While the board runs, the library
//! gets nothing that it can refuse.

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

/// An answer that is due at once, and a packet for the library, either or both; or an error.
type Translated = Result<(Option<&'static [u8]>, Option<Vec<u8>>), &'static [u8]>;

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
    /// The sum of the body's bytes, with those that are not kept.
    sum: u8,
    /// The body is longer than the library takes.
    overlong: bool,
    /// The last packet sent, for retransmission.
    sent: Vec<u8>,
    /// The library's number of the thread that packets without a thread are about.
    general: usize,
    /// Harts of the board.
    pub(super) harts: usize,
    /// The packets by which gdb named its features, and the threads for `c` and `s`.
    supported: Option<Vec<u8>>,
    resumed_threads: Option<Vec<u8>>,
    /// gdb has interrupted a stopped board: the interrupt takes effect when the board is resumed.
    interrupted: bool,
    /// The last packet for the library resumes the board.
    resumes: bool,
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
            sum: 0,
            overlong: false,
            sent: Vec::new(),
            general: number(0, 0),
            harts: HARTS_MAX,
            supported: None,
            resumed_threads: None,
            interrupted: false,
            resumes: false,
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
            // Within a packet, the last one was cut off: `$` is escaped there.
            (_, b'$') => self.begin(),
            (State::Outside, INTERRUPT) => {
                self.interrupted |= !running;
                return Input {
                    pass: vec![INTERRUPT],
                    ..Input::default()
                };
            }
            (State::Outside, b'-') if self.acknowledges => {
                return Input {
                    send: self.sent.clone(),
                    ..Input::default()
                };
            }
            (State::Outside, _) => {}
            (State::Body, b'#') => self.state = State::Checksum,
            // An interrupt's byte within a packet is data (gdb's manual, "Interrupts").
            (State::Body, _) => {
                self.sum = self.sum.wrapping_add(byte);
                if self.body.len() < BODY_MAX {
                    self.body.push(byte);
                } else {
                    self.overlong = true;
                }
            }
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
        self.sum = 0;
        self.overlong = false;
    }

    fn packet(&mut self, body: &[u8], checksum: [u8; 2], running: bool) -> Input {
        self.resumes = false;
        let told = std::str::from_utf8(&checksum).ok().and_then(hex);
        if told != Some(self.sum.into()) {
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
        let translated = match self.end(body) {
            Some(end) => end,
            None if running => Err(BUSY),
            None => self.translate(body),
        };
        match translated {
            Ok((answer, body)) => {
                let resumes = |body: &Vec<u8>| {
                    body.starts_with(b"vCont;") || matches!(body[..], [b'c' | b's', ..])
                };
                self.resumes = body.as_ref().is_some_and(resumes);
                Input {
                    send: answer
                        .map(|answer| self.answer(answer).send)
                        .unwrap_or_default(),
                    pass: body.as_deref().map(framed).unwrap_or_default(),
                }
            }
            Err(error) => self.answer(error),
        }
    }

    /// The library has taken the last packet.
    pub(super) fn accepted(&mut self) {
        self.interrupted &= !std::mem::take(&mut self.resumes);
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

    /// The packets that set up a new session of the library as the last one was. Their answers are not for gdb.
    pub(super) fn replay(&self) -> Vec<u8> {
        let mut bytes = self.supported.as_deref().map(framed).unwrap_or_default();
        if !self.acknowledges {
            bytes.extend(framed(b"QStartNoAckMode"));
        }
        bytes.extend(framed(format!("Hg{:x}", self.general).as_bytes()));
        bytes.extend(self.resumed_threads.as_deref().map_or(vec![], framed));
        // The last one: it is handled before the library takes more.
        bytes.extend(self.interrupted.then_some(INTERRUPT));
        bytes
    }

    /// A packet that ends the session, for one process or for all. `None`: it is another one.
    ///
    /// The library would take `D` and `vKill` with arbitrary ends.
    fn end(&mut self, body: &[u8]) -> Option<Translated> {
        let (kind, process) = match body {
            [b'k', rest @ ..] => (b'k', rest),
            [b'D', rest @ ..] => (b'D', rest),
            [b'v', b'K', b'i', b'l', b'l', rest @ ..] => (b'v', rest),
            _ => return None,
        };
        let all = (None, Some(vec![b'D']));
        let named = match process {
            [b';', id @ ..] => std::str::from_utf8(id)
                .ok()
                .and_then(hex)
                .and_then(|id| id.checked_sub(1)),
            [] if kind == b'k' => return Some(Ok((None, Some(vec![b'k'])))),
            [] if kind == b'D' => return Some(Ok(all)),
            _ => None,
        };
        let Some(process) = named.filter(|_| kind != b'k') else {
            return Some(Err(INVALID));
        };
        Some(match (kind, self.multiprocess) {
            (_, true) if !self.attached.contains(&process) => Err(NO_SUCH_THREAD),
            // The library has no answer to that, and gdb waits for one.
            (b'v', _) => Ok((Some(b"OK"), Some(vec![b'k']))),
            (_, false) => Ok(all),
            (_, true) => {
                self.attached.remove(&process);
                if self.attached.is_empty() {
                    Ok(all)
                } else {
                    Ok((Some(b"OK"), None))
                }
            }
        })
    }

    /// Translates a packet to a stopped board that does not end the session.
    fn translate(&mut self, body: &[u8]) -> Translated {
        let passed = |body: Vec<u8>| Ok((None, Some(body)));
        if matches!(body, [b'M' | b'X', ..]) && !has_its_length(body) {
            return Err(INVALID);
        }
        let Ok(text) = std::str::from_utf8(body) else {
            // Binary data; no packet about a thread has any.
            return passed(body.to_vec());
        };
        if let Some(read) = text.strip_prefix('m') {
            return passed(short_read(read).map_or(body.to_vec(), String::into_bytes));
        }
        if let Some(features) = text.strip_prefix("qSupported") {
            return self.features(features);
        }
        self.asked_for_silence = text == "QStartNoAckMode";
        self.asked_for_threads = text == "qfThreadInfo";
        let (head, rest) = if text.starts_with("Hg") || text.starts_with("Hc") {
            text.split_at(2)
        } else if text.starts_with('T') && self.multiprocess {
            text.split_at(1)
        } else if let Some(rest) = text.strip_prefix("qThreadExtraInfo,") {
            ("qThreadExtraInfo,", rest)
        } else if let Some(actions) = text.strip_prefix("vCont").filter(|rest| *rest != "?") {
            let actions = actions.strip_prefix(';').ok_or(INVALID)?;
            return passed(self.actions(actions)?.into_bytes());
        } else {
            return passed(body.to_vec());
        };
        // A number alone, of whatever thread; the library reads it.
        if !self.multiprocess && !rest.starts_with('p') {
            let thread = hex(rest);
            // Without leading zeros: `00` the library cannot read.
            let packet = thread.map_or_else(
                || body.to_vec(),
                |thread| format!("{head}{thread:x}").into_bytes(),
            );
            match (head, thread) {
                ("Hg", Some(thread @ 1..)) => self.general = thread,
                ("Hc", _) if thread.is_some() || rest == "-1" => {
                    self.resumed_threads = Some(packet.clone());
                }
                _ => {}
            }
            return passed(packet);
        }
        let who = self.parse_thread_id(rest)?;
        let thread = match (head, who) {
            ("Hg", ThreadId::All | ThreadId::Any) => self.general,
            ("Hc", ThreadId::All) => {
                self.resumed_threads = Some(b"Hc-1".to_vec());
                return passed(b"Hc-1".to_vec());
            }
            ("Hc", ThreadId::Any) => 0,
            (_, ThreadId::Thread(thread)) => thread,
            _ => return Err(NO_SUCH_THREAD),
        };
        let packet = format!("{head}{thread:x}").into_bytes();
        match head {
            "Hg" => self.general = thread,
            "Hc" => self.resumed_threads = Some(packet.clone()),
            _ => {}
        }
        passed(packet)
    }

    /// Translates the features of gdb's `qSupported`, all of which the library can read then.
    fn features(&mut self, features: &str) -> Translated {
        let Some(features) = features
            .strip_prefix(':')
            .or(features.is_empty().then_some("-"))
        else {
            // Another packet, which is not known.
            return Ok((Some(b""), None));
        };
        let mut told = Vec::new();
        self.multiprocess = false;
        for feature in features.split(';').filter(|feature| !feature.is_empty()) {
            if self.guests > 0 && feature == "multiprocess+" {
                self.multiprocess = true;
                told.push("multiprocess-");
            } else {
                told.push(feature);
            }
        }
        let packet = match told.as_slice() {
            // The library refuses an empty list.
            [] => "qSupported:-".to_owned(),
            told => format!("qSupported:{}", told.join(";")),
        };
        self.supported = Some(packet.clone().into_bytes());
        Ok((None, Some(packet.into_bytes())))
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

    /// Parses `pPROCESS.THREAD`, or a thread's number alone.
    fn parse_thread_id(&self, text: &str) -> Result<ThreadId, &'static [u8]> {
        let of_hart = |text: &str| hex(text).filter(|thread| (1..=self.harts).contains(thread));
        let Some(of_process) = text.strip_prefix('p') else {
            return match text {
                "-1" => Ok(ThreadId::All),
                "0" => Ok(ThreadId::Any),
                // gdb that tells processes apart names them.
                _ => of_hart(text)
                    .filter(|_| !self.multiprocess)
                    .map(ThreadId::Thread)
                    .ok_or(NO_SUCH_THREAD),
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
            _ => of_hart(thread)
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

/// Whether a packet that writes memory (`M` or `X`) has as many bytes as it says. The library takes whatever there are.
fn has_its_length(body: &[u8]) -> bool {
    let Some(colon) = body.iter().position(|byte| *byte == b':') else {
        return false;
    };
    let (head, data) = (&body[1..colon], &body[colon + 1..]);
    let length = std::str::from_utf8(head)
        .ok()
        .and_then(|head| hex(head.split_once(',')?.1));
    let present = if body[0] == b'M' {
        data.len().is_multiple_of(2).then_some(data.len() / 2)
    } else {
        unescaped_length(data)
    };
    length.is_some() && length == present
}

/// The bytes that binary data stand for. `None`: the last one is the first half of an escape.
fn unescaped_length(data: &[u8]) -> Option<usize> {
    let mut bytes = data.iter();
    let mut length = 0;
    while let Some(byte) = bytes.next() {
        if *byte == b'}' {
            bytes.next()?;
        }
        length += 1;
    }
    Some(length)
}

/// A read of memory whose answer would be longer than a packet, shortened: an answer may have fewer bytes than asked
/// for. `None`: it is not too long, or malformed.
fn short_read(read: &str) -> Option<String> {
    let (address, length) = read.split_once(',')?;
    (hex(length)? > BODY_MAX / 2).then(|| format!("m{address},{:x}", BODY_MAX / 2))
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
        let damaged = [b"$".as_slice(), long.as_slice(), b"#00"].concat();
        assert_eq!(take(&mut packets, &damaged).send, b"-");
        assert_eq!(take(&mut packets, b"$g#$g#6$g#67").pass, b"$g#67");
        assert_eq!(take(&mut packets, b"$g#+7").send, b"-");
        assert_eq!(
            take(&mut packets, &framed(b"QStartNoAckMode")).pass.len(),
            19
        );
        assert_eq!(packets.output(b"+$OK#9a"), b"+$OK#9a");
        assert_eq!(take(&mut packets, b"$g#00").send, b"$E16#ac");
        assert_eq!(packets.replay(), b"$QStartNoAckMode#b0$Hg1#e0");
        assert_eq!(take(&mut packets, b"-").send, b"", "nothing is sent again");
    }

    #[test]
    fn a_new_session_of_the_library_repeats_what_gdb_has_set() {
        let mut packets = Packets::new(0);
        let repeated = |packets: &Packets| String::from_utf8(packets.replay()).expect("text");
        assert_eq!(
            passed(&mut packets, "qSupported:;swbreak+;"),
            "qSupported:swbreak+"
        );
        for packet in ["Hg2", "Hc-1"] {
            assert_eq!(passed(&mut packets, packet), packet);
        }
        let set = "$qSupported:swbreak+#8b$Hg2#e1$Hc-1#09";
        assert_eq!(repeated(&packets), set);
        assert_eq!(take(&mut packets, &[INTERRUPT]).pass, [INTERRUPT]);
        packets.accepted();
        assert_eq!(repeated(&packets), format!("{set}\u{3}"));
        // Refused, and then accepted.
        assert_eq!(passed(&mut packets, "vCont;c:0fffffff"), "E03");
        packets.accepted();
        assert_eq!(repeated(&packets), format!("{set}\u{3}"));
        assert_eq!(passed(&mut packets, "vCont;c"), "vCont;c");
        packets.accepted();
        assert_eq!(repeated(&packets), set);
        // None of these sets anything.
        for (packet, answer) in [
            ("qSupportedly", ""),
            ("Hgq", "Hgq"),
            ("Hc", "Hc"),
            ("Hg+1", "Hg+1"),
        ] {
            assert_eq!(passed(&mut packets, packet), answer);
        }
        assert_eq!(repeated(&packets), set);
        assert_eq!(passed(&mut packets, "qSupported"), "qSupported:-");
    }

    #[test]
    fn only_well_formed_packets_end_the_session() {
        let mut packets = Packets::new(0);
        for packet in [
            "kill", "k;1", "Dx", "D;", "D;zz", "D;0", "vKill", "vKill;", "vKill;-1",
        ] {
            assert_eq!(passed(&mut packets, packet), "E16", "{packet}");
        }
        for (packet, end) in [("k", "k"), ("D", "D"), ("D;7", "D"), ("vKill;7", "k")] {
            assert_eq!(passed(&mut packets, packet), end, "{packet}");
        }
        let mut packets = connected(1);
        for (packet, answer) in [
            ("vKill;3", "E03"),
            ("D;3", "E03"),
            ("D;+2", "E16"),
            ("D;2", "OK"),
        ] {
            assert_eq!(passed(&mut packets, packet), answer, "{packet}");
        }
        assert_eq!(passed(&mut packets, "vKill;2"), "E03");
        assert_eq!(passed(&mut packets, "vKill;1"), "k");
    }

    #[test]
    fn a_write_has_as_many_bytes_as_it_says_and_a_read_fits_into_an_answer() {
        for (body, fits) in [
            (b"M80,2:abcd".as_slice(), true),
            (b"M80,2:abc", false),
            (b"M80,ffffffffffffffff:ab", false),
            (b"M80:ab", false),
            (b"X80,0:", true),
            (b"X80,3:a}\x03,", true),
            (b"X80,2:a}", false),
            (b"X80,2:a", false),
            (b"X\xff,1:a", false),
            (b"X80,1", false),
        ] {
            assert_eq!(has_its_length(body), fits, "{}", body.escape_ascii());
        }
        assert_eq!(short_read("80,7fe"), None);
        assert_eq!(short_read("80,7ff").as_deref(), Some("m80,7fe"));
        assert_eq!(short_read("80,zz"), None);
    }

    #[test]
    fn a_running_board_is_not_queried() {
        let mut packets = Packets::new(0);
        let mut send = Vec::new();
        for byte in b"$g#67" {
            send.extend(packets.take(*byte, true).send);
        }
        assert_eq!(send, b"+$E10#a6");
        // The library gets nothing that it can refuse.
        for body in [b"Dx".as_slice(), b"kill", b"vKill;x", b"vCont;x", b"\xff"] {
            for byte in framed(body) {
                assert_eq!(
                    packets.take(byte, true).pass,
                    b"",
                    "{}",
                    body.escape_ascii()
                );
            }
        }
        assert_eq!(packets.take(INTERRUPT, true).pass, [INTERRUPT]);
    }
}
