//! The machine's one serial line, taken apart into lines of text by who wrote them.

use std::mem;

use tactus_abi::console::{Demux, Event, LOG_STREAM, SELECT, STREAM_BASE, STREAMS_MAX};

/// Longest line kept whole; what is longer is cut into lines of this length. Holds over 10,000 samples.
pub const LINE_MAX: usize = 256 * 1024;

/// Stands in the line where the machine has lost power: all lines end, and what comes next is the firmware's again.
/// Within a selection the first byte says nothing.
pub const RESTART: [u8; 3] = [b'\n', SELECT, STREAM_BASE + RESTARTED];
/// The stream of the firmware behind [`RESTART`]: one that no VM has.
const RESTARTED: u8 = STREAMS_MAX;

/// Who wrote a byte of the serial line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The firmware, or whatever runs before the hypervisor selects a stream.
    Firmware,
    /// The hypervisor's log.
    Log,
    /// A VM, by its index in the system.
    Vm(usize),
    /// A stream that the system has no VM for.
    Unknown(u8),
}

/// A line of a console, without its line ending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Who.
    pub source: Source,
    /// The bytes; not necessarily text.
    pub bytes: Vec<u8>,
    /// False: more of the same line follows, or nothing does because the machine stopped.
    pub complete: bool,
}

impl Line {
    /// The line as text, bytes that are none replaced.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }
}

/// A piece of the serial line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A byte of a console.
    Byte(Source, u8),
    /// A line of a console is complete, or as long as lines may be.
    Line(Line),
}

/// How the serial line is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carriage {
    /// By the hypervisor's framing (`tactus_abi::console`), among this many VMs.
    Framed {
        /// VMs of the system.
        vms: usize,
    },
    /// Not at all: a guest runs without the hypervisor, and the line (with the firmware's output) is VM 0's.
    Bare,
}

/// Takes the serial line's bytes and gives lines. Its memory is bounded by [`LINE_MAX`] for each stream.
#[derive(Debug)]
pub struct Consoles {
    carriage: Carriage,
    demux: Demux,
    firmware: Vec<u8>,
    log: Vec<u8>,
    vms: Vec<Vec<u8>>,
    /// The firmware has begun again, and no other has written since.
    restarted: bool,
    /// It has with the last byte.
    begins_again: bool,
}

impl Consoles {
    /// A serial line of which nothing has been read.
    pub fn new(carriage: Carriage) -> Self {
        let vms = match carriage {
            Carriage::Framed { vms } => vms,
            Carriage::Bare => 1,
        };
        Self {
            carriage,
            demux: Demux::new(),
            firmware: Vec::new(),
            log: Vec::new(),
            vms: vec![Vec::new(); vms],
            restarted: false,
            begins_again: false,
        }
    }

    /// Who wrote `byte`, the line's next; `None` when it is part of the framing.
    fn attribute(&mut self, byte: u8) -> Option<(Source, u8)> {
        if self.carriage == Carriage::Bare {
            return Some((Source::Vm(0), byte));
        }
        let Event::Byte(stream, byte) = self.demux.push(byte) else {
            return None;
        };
        self.begins_again = stream == Some(RESTARTED) && !self.restarted;
        self.restarted = stream == Some(RESTARTED);
        let source = match stream {
            None => Source::Firmware,
            Some(LOG_STREAM) => Source::Log,
            Some(RESTARTED) => Source::Firmware,
            Some(stream) => {
                let vm = usize::from(stream - 1);
                if vm < self.vms.len() {
                    Source::Vm(vm)
                } else {
                    Source::Unknown(stream)
                }
            }
        };
        Some((source, byte))
    }

    /// Takes what was read and hands on its pieces in their order: every byte as it comes, every line as it
    /// ends. Bytes of unknown streams make no lines.
    pub fn push(&mut self, bytes: &[u8], mut each: impl FnMut(Piece)) {
        for &byte in bytes {
            let Some((source, byte)) = self.attribute(byte) else {
                continue;
            };
            if std::mem::take(&mut self.begins_again) {
                self.finish()
                    .into_iter()
                    .map(Piece::Line)
                    .for_each(&mut each);
            }
            each(Piece::Byte(source, byte));
            let Some(buffer) = self.buffer(source) else {
                continue;
            };
            if byte != b'\n' {
                buffer.push(byte);
                if buffer.len() < LINE_MAX {
                    continue;
                }
            }
            let mut bytes = mem::take(buffer);
            while bytes.last() == Some(&b'\r') {
                bytes.pop();
            }
            each(Piece::Line(Line {
                source,
                bytes,
                complete: byte == b'\n',
            }));
        }
    }

    /// The lines that were begun and not ended.
    pub fn finish(&mut self) -> Vec<Line> {
        let sources = [Source::Firmware, Source::Log]
            .into_iter()
            .chain((0..self.vms.len()).map(Source::Vm));
        let mut lines = Vec::new();
        for source in sources {
            if let Some(buffer) = self.buffer(source)
                && !buffer.is_empty()
            {
                lines.push(Line {
                    source,
                    bytes: mem::take(buffer),
                    complete: false,
                });
            }
        }
        lines
    }

    fn buffer(&mut self, source: Source) -> Option<&mut Vec<u8>> {
        match source {
            Source::Firmware => Some(&mut self.firmware),
            Source::Log => Some(&mut self.log),
            Source::Vm(vm) => self.vms.get_mut(vm),
            Source::Unknown(_) => None,
        }
    }
}

/// Input for a VM's console, framed for the serial line.
#[derive(Clone, Copy, Debug)]
pub struct Framer {
    stream: u8,
    selected: bool,
}

impl Framer {
    /// For the VM with this index; `None` when the framing cannot name it.
    pub fn new(vm: usize) -> Option<Self> {
        let stream = u8::try_from(vm + 1).ok()?;
        STREAM_BASE.checked_add(stream)?;
        Some(Self {
            stream,
            selected: false,
        })
    }

    /// `input` as it goes down the line; the first call selects the VM's stream.
    pub fn frame(&mut self, input: &[u8]) -> Vec<u8> {
        let mut framed = Vec::with_capacity(input.len() + 2);
        if !mem::replace(&mut self.selected, true) {
            framed.extend([SELECT, STREAM_BASE + self.stream]);
        }
        for &byte in input {
            if byte == SELECT {
                framed.push(SELECT);
            }
            framed.push(byte);
        }
        framed
    }
}

/// Frames whole messages as the hypervisor does, for tests of what reads them.
#[cfg(test)]
pub(crate) fn framed(parts: &[(Source, &str)]) -> Vec<u8> {
    let mut line = Vec::new();
    for (source, text) in parts {
        let stream = match source {
            Source::Firmware => None,
            Source::Log => Some(LOG_STREAM),
            Source::Vm(vm) => u8::try_from(vm + 1).ok(),
            Source::Unknown(stream) => Some(*stream),
        };
        if let Some(stream) = stream {
            line.extend([SELECT, STREAM_BASE + stream]);
        }
        for &byte in text.as_bytes() {
            if byte == SELECT {
                line.push(SELECT);
            }
            line.push(byte);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(consoles: &mut Consoles, bytes: &[u8]) -> Vec<(Source, String)> {
        let mut lines = Vec::new();
        consoles.push(bytes, |piece| {
            if let Piece::Line(line) = piece {
                lines.push((line.source, line.text().into_owned()));
            }
        });
        lines
    }

    #[test]
    fn interleaved_lines_come_out_whole() {
        let bytes = framed(&[
            (Source::Firmware, "OpenSBI\r\nhalf"),
            (Source::Log, "boot time=1\n"),
            (Source::Vm(0), "one "),
            (Source::Vm(1), "two\u{1e}\r\n"),
            (Source::Vm(0), "more\r\n"),
            (Source::Unknown(9), "lost\n"),
        ]);
        let mut consoles = Consoles::new(Carriage::Framed { vms: 2 });
        assert_eq!(
            lines(&mut consoles, &bytes),
            [
                (Source::Firmware, "OpenSBI".to_owned()),
                (Source::Log, "boot time=1".to_owned()),
                (Source::Vm(1), "two\u{1e}".to_owned()),
                (Source::Vm(0), "one more".to_owned()),
            ]
        );
        assert_eq!(
            consoles.finish(),
            [Line {
                source: Source::Firmware,
                bytes: b"half".to_vec(),
                complete: false,
            }]
        );
        assert_eq!(consoles.finish(), []);
    }

    #[test]
    fn all_lines_end_where_power_is_lost() {
        let before = framed(&[
            (Source::Log, "boot time=1\n"),
            (Source::Vm(0), "half"),
            (Source::Vm(1), "whole\nhalf, too"),
        ]);
        let after = framed(&[(Source::Firmware, "OpenSBI\n"), (Source::Vm(0), "one\n")]);
        // Within a selection, too.
        for cut in [&[][..], &[SELECT]] {
            let mut consoles = Consoles::new(Carriage::Framed { vms: 2 });
            let all = [&before[..], cut, &RESTART, &after].concat();
            let found = lines(&mut consoles, &all);
            let expected = [
                (Source::Log, "boot time=1"),
                (Source::Vm(1), "whole"),
                (Source::Vm(1), "half, too"),
                (Source::Vm(0), "half"),
                (Source::Firmware, "OpenSBI"),
                (Source::Vm(0), "one"),
            ];
            let mut expected = expected.map(|(source, text)| (source, text.to_owned()));
            if !cut.is_empty() {
                expected.swap(2, 3);
            }
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn endless_line_is_cut() {
        let mut consoles = Consoles::new(Carriage::Bare);
        let mut lengths = Vec::new();
        consoles.push(&vec![b'x'; 2 * LINE_MAX + 5], |piece| {
            if let Piece::Line(line) = piece {
                lengths.push((line.bytes.len(), line.complete));
            }
        });
        assert_eq!(lengths, [(LINE_MAX, false), (LINE_MAX, false)]);
        assert_eq!(consoles.finish().len(), 1);
    }

    #[test]
    fn input_is_framed_for_its_vm() {
        let mut framer = Framer::new(1).expect("VM 1 can be named");
        assert_eq!(framer.frame(b"a"), [SELECT, STREAM_BASE + 2, b'a']);
        assert_eq!(framer.frame(&[SELECT]), [SELECT, SELECT]);
        assert!(Framer::new(500).is_none());
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken(chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..20), vms in 0usize..4) {
            let mut whole = Consoles::new(Carriage::Framed { vms });
            let mut cut = Consoles::new(Carriage::Framed { vms });
            let all = chunks.concat();
            let at_once = lines(&mut whole, &all);
            let mut piecewise = Vec::new();
            for chunk in &chunks {
                piecewise.extend(lines(&mut cut, chunk));
            }
            prop_assert_eq!(at_once, piecewise);
            prop_assert_eq!(whole.finish(), cut.finish());
        }

        #[test]
        fn what_is_framed_comes_out(texts in prop::collection::vec((0usize..3, any::<Vec<u8>>()), 0..20)) {
            let mut line = Vec::new();
            let mut expected = vec![Vec::new(); 3];
            for (vm, text) in &texts {
                line.extend(Framer::new(*vm).expect("small").frame(text));
                expected[*vm].extend_from_slice(text);
            }
            let mut consoles = Consoles::new(Carriage::Framed { vms: 3 });
            let mut seen = vec![Vec::new(); 3];
            consoles.push(&line, |piece| if let Piece::Byte(Source::Vm(vm), byte) = piece {
                seen[vm].push(byte);
            });
            prop_assert_eq!(seen, expected);
        }
    }
}
