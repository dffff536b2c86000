//! A run as a trace for Perfetto (<https://ui.perfetto.dev>): who runs on each hart, interrupts, exceptions, probes,
//! lines of consoles, and accesses to devices.
//!
//! The file is a protobuf message `Trace` of packets, of which few fields are needed; they are written as they come, so
//! that a trace may be longer than memory (Perfetto's `trace_packet.proto`, `track_event.proto`,
//! `track_descriptor.proto`). Times are in nanoseconds; every event names its cycle.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use tactus_board::privileged::Target;
use tactus_board::time::{Clock, Femtoseconds};
use tactus_board::trace::{Event, EventKind};

use super::probe::Probe;
use super::{Options, Worker};
use crate::run::console::{Line, Source};

/// All packets are of one writer.
const SEQUENCE: u64 = 1;
/// Bytes of a line that an event is named by.
const LINE_BYTES: usize = 200;
const NANOSECOND: u64 = Femtoseconds::SECOND.0 / 1_000_000_000;

/// Field numbers and values of Perfetto's messages.
mod field {
    /// `Trace`.
    pub const PACKET: u32 = 1;
    /// `TracePacket`.
    pub const TIMESTAMP: u32 = 8;
    pub const SEQUENCE_ID: u32 = 10;
    pub const TRACK_EVENT: u32 = 11;
    pub const SEQUENCE_FLAGS: u32 = 13;
    pub const TRACK_DESCRIPTOR: u32 = 60;
    /// `SEQ_INCREMENTAL_STATE_CLEARED`: the first packet of a sequence.
    pub const STATE_CLEARED: u64 = 1;
    /// `TrackDescriptor`.
    pub const UUID: u32 = 1;
    pub const TRACK_NAME: u32 = 2;
    pub const PARENT: u32 = 5;
    pub const CHILD_ORDERING: u32 = 11;
    pub const RANK: u32 = 12;
    /// `ChildTracksOrdering.EXPLICIT`.
    pub const BY_RANK: u64 = 3;
    /// `TrackEvent`.
    pub const ANNOTATION: u32 = 4;
    pub const TYPE: u32 = 9;
    pub const TRACK_UUID: u32 = 11;
    pub const EVENT_NAME: u32 = 23;
    /// `TrackEvent.Type`.
    pub const BEGIN: u64 = 1;
    pub const END: u64 = 2;
    pub const INSTANT: u64 = 3;
    /// `DebugAnnotation`.
    pub const UNSIGNED: u32 = 3;
    pub const POINTER: u32 = 7;
    pub const ANNOTATION_NAME: u32 = 10;
}

/// A message in protobuf's encoding.
#[derive(Clone, Debug, Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// A field of wire type 0.
    fn number(mut self, field: u32, value: u64) -> Self {
        self.varint(u64::from(field) << 3);
        self.varint(value);
        self
    }

    /// A field of wire type 2.
    fn bytes(mut self, field: u32, value: &[u8]) -> Self {
        self.varint((u64::from(field) << 3) | 2);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    fn text(self, field: u32, value: &str) -> Self {
        self.bytes(field, value.as_bytes())
    }

    fn message(self, field: u32, value: &Self) -> Self {
        self.bytes(field, &value.0)
    }
}

/// Tracks of a hart, in the order in which they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lane {
    /// Who runs.
    Runs,
    Interrupts,
    Exceptions,
    Probes,
}

const LANES: [(Lane, &str); 4] = [
    (Lane::Runs, "runs"),
    (Lane::Interrupts, "interrupts"),
    (Lane::Exceptions, "exceptions"),
    (Lane::Probes, "probes"),
];

/// A trace that is being written.
#[derive(Debug)]
pub struct Trace {
    file: BufWriter<File>,
    clock: Clock,
    vms: Vec<String>,
    /// Who runs on each hart: an open slice.
    running: Vec<Option<Worker>>,
    error: Option<io::Error>,
}

impl Trace {
    /// Begins a trace of a board with that many harts, and these devices, in the file `path`.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn create(
        path: &Path,
        harts: usize,
        devices: &[&str],
        vms: &[String],
        options: &Options,
    ) -> io::Result<Self> {
        let mut trace = Self {
            file: BufWriter::new(File::create(path)?),
            clock: Clock::from_hertz(options.profile.clock_hz),
            vms: vms.to_vec(),
            running: vec![None; harts],
            error: None,
        };
        trace.packet(Message::default().number(field::SEQUENCE_FLAGS, field::STATE_CLEARED));
        for hart in 0..harts {
            trace.group(uuid(1, hart), &format!("hart {hart}"), hart);
            for (rank, (lane, name)) in LANES.iter().enumerate() {
                trace.track(lane_track(hart, *lane), name, uuid(1, hart), rank);
            }
        }
        trace.group(uuid(2, 0), "consoles", harts);
        let sources = [(Source::Firmware, "firmware"), (Source::Log, "tactus")];
        let sources: Vec<(Source, String)> = sources
            .into_iter()
            .map(|(source, name)| (source, format!("({name})")))
            .chain(
                vms.iter()
                    .enumerate()
                    .map(|(vm, name)| (Source::Vm(vm), name.clone())),
            )
            .collect();
        for (rank, (source, name)) in sources.iter().enumerate() {
            trace.track(console_track(*source), name, uuid(2, 0), rank);
        }
        trace.group(uuid(6, 0), "devices", harts + 1);
        for (rank, name) in devices.iter().enumerate() {
            trace.track(device_track(rank), name, uuid(6, 0), rank);
        }
        for hart in 0..harts {
            trace.turn(0, hart, Worker::Firmware);
        }
        trace.file.flush()?;
        Ok(trace)
    }

    fn packet(&mut self, packet: Message) {
        let packet = packet.number(field::SEQUENCE_ID, SEQUENCE);
        let whole = Message::default().message(field::PACKET, &packet);
        if self.error.is_none()
            && let Err(error) = self.file.write_all(&whole.0)
        {
            self.error = Some(error);
        }
    }

    fn group(&mut self, uuid: u64, name: &str, rank: usize) {
        let descriptor = Message::default()
            .number(field::UUID, uuid)
            .text(field::TRACK_NAME, name)
            .number(field::CHILD_ORDERING, field::BY_RANK)
            .number(field::RANK, rank as u64);
        self.packet(Message::default().message(field::TRACK_DESCRIPTOR, &descriptor));
    }

    fn track(&mut self, uuid: u64, name: &str, parent: u64, rank: usize) {
        let descriptor = Message::default()
            .number(field::UUID, uuid)
            .text(field::TRACK_NAME, name)
            .number(field::PARENT, parent)
            .number(field::RANK, rank as u64);
        self.packet(Message::default().message(field::TRACK_DESCRIPTOR, &descriptor));
    }

    fn emit(&mut self, time: Femtoseconds, event: &Message) {
        self.packet(
            Message::default()
                .number(field::TIMESTAMP, time.0 / NANOSECOND)
                .message(field::TRACK_EVENT, event),
        );
    }

    /// An event that has no length.
    fn instant(&mut self, cycle: u64, track: u64, name: &str, annotations: &[Message]) {
        let mut event = Message::default()
            .number(field::TYPE, field::INSTANT)
            .number(field::TRACK_UUID, track)
            .text(field::EVENT_NAME, name)
            .message(field::ANNOTATION, &number("cycle", cycle));
        for annotation in annotations {
            event = event.message(field::ANNOTATION, annotation);
        }
        self.emit(self.clock.time_of(cycle), &event);
    }

    /// From here on another worker runs on a hart.
    fn turn(&mut self, cycle: u64, hart: usize, to: Worker) {
        if self
            .running
            .get(hart)
            .is_none_or(|running| running.as_ref() == Some(&to))
        {
            return;
        }
        let track = lane_track(hart, Lane::Runs);
        let time = self.clock.time_of(cycle);
        if self.running[hart].is_some() {
            self.emit(time, &slice(field::END, track));
        }
        let begin = slice(field::BEGIN, track)
            .text(field::EVENT_NAME, &to.name(&self.vms))
            .message(field::ANNOTATION, &number("cycle", cycle));
        self.emit(time, &begin);
        self.running[hart] = Some(to);
    }

    /// Something happened to a hart.
    pub fn event(&mut self, event: &Event, probes: &[Probe], vms: usize) {
        let (cycle, hart) = (event.cycle, usize::from(event.hart));
        match &event.kind {
            EventKind::Turn(doing) => self.turn(cycle, hart, Worker::of(*doing, vms)),
            EventKind::Interrupt { interrupt, pc } => {
                let name = format!(
                    "{} to {}",
                    interrupt_name(interrupt.number),
                    mode(interrupt.target)
                );
                self.instant(
                    cycle,
                    lane_track(hart, Lane::Interrupts),
                    &name,
                    &[address("pc", *pc)],
                );
            }
            EventKind::Exception { cause, pc, .. } => {
                let name = crate::report::cause(*cause as u64);
                self.instant(
                    cycle,
                    lane_track(hart, Lane::Exceptions),
                    &name,
                    &[address("pc", *pc)],
                );
            }
            EventKind::PowerLoss => {
                self.instant(cycle, lane_track(hart, Lane::Exceptions), "power lost", &[]);
            }
            EventKind::Access {
                device,
                offset,
                write,
                value,
            } => self.instant(
                cycle,
                device_track(usize::from(*device)),
                if *write { "write" } else { "read" },
                &[
                    address("register", *offset),
                    address("value", *value),
                    number("hart", hart as u64),
                ],
            ),
            EventKind::Probe {
                probe, arguments, ..
            } => {
                let Some(probe) = probes.get(*probe as usize) else {
                    return;
                };
                let shown: Vec<Message> = arguments
                    .iter()
                    .take(probe.arguments)
                    .enumerate()
                    .map(|(index, value)| address(&format!("a{index}"), *value))
                    .collect();
                self.instant(
                    cycle,
                    lane_track(hart, Lane::Probes),
                    &probe.place.name,
                    &shown,
                );
            }
        }
    }

    /// A line of a console was complete by `time`.
    pub fn line(&mut self, time: Femtoseconds, line: &Line) {
        let text: String = line.text().chars().take(LINE_BYTES).collect();
        self.instant(
            self.clock.cycle_at(time),
            console_track(line.source),
            &text,
            &[],
        );
    }

    /// Ends it.
    ///
    /// # Errors
    /// Not all of it could be written.
    pub fn finish(mut self, time: Femtoseconds) -> io::Result<()> {
        for hart in 0..self.running.len() {
            if self.running[hart].is_some() {
                self.emit(time, &slice(field::END, lane_track(hart, Lane::Runs)));
            }
        }
        match self.error {
            Some(error) => Err(error),
            None => self.file.flush(),
        }
    }
}

/// A track's number: group, and place in it. 0 is none's.
const fn uuid(group: u64, index: usize) -> u64 {
    (group << 32) + index as u64 + 1
}

const fn lane_track(hart: usize, lane: Lane) -> u64 {
    uuid(3, hart * LANES.len() + lane as usize)
}

const fn device_track(device: usize) -> u64 {
    uuid(7, device)
}

const fn console_track(source: Source) -> u64 {
    match source {
        Source::Firmware => uuid(4, 0),
        Source::Log => uuid(4, 1),
        Source::Vm(vm) => uuid(4, 2 + vm),
        Source::Unknown(stream) => uuid(5, stream as usize),
    }
}

fn slice(kind: u64, track: u64) -> Message {
    Message::default()
        .number(field::TYPE, kind)
        .number(field::TRACK_UUID, track)
}

fn number(name: &str, value: u64) -> Message {
    Message::default()
        .number(field::UNSIGNED, value)
        .text(field::ANNOTATION_NAME, name)
}

fn address(name: &str, value: u64) -> Message {
    Message::default()
        .number(field::POINTER, value)
        .text(field::ANNOTATION_NAME, name)
}

/// An interrupt by its number (privileged specification, table of `mcause`).
fn interrupt_name(number: u8) -> String {
    let name = match number {
        1 => "supervisor software",
        2 => "VS software",
        3 => "machine software",
        5 => "supervisor timer",
        6 => "VS timer",
        7 => "machine timer",
        9 => "supervisor external",
        10 => "VS external",
        11 => "machine external",
        12 => "guest external",
        _ => return format!("interrupt {number}"),
    };
    name.to_owned()
}

const fn mode(target: Target) -> &'static str {
    match target {
        Target::VirtualSupervisor => "VS-mode",
        Target::Supervisor => "HS-mode",
        Target::Machine => "M-mode",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Field numbers, wire types and values of a message; texts as they are.
    fn decode(mut bytes: &[u8]) -> Vec<(u64, Result<u64, Vec<u8>>)> {
        fn varint(bytes: &mut &[u8]) -> u64 {
            let mut value = 0;
            for shift in (0..).step_by(7) {
                let byte = bytes[0];
                *bytes = &bytes[1..];
                value |= u64::from(byte & 0x7f) << shift;
                if byte < 0x80 {
                    break;
                }
            }
            value
        }
        let mut fields = Vec::new();
        while !bytes.is_empty() {
            let key = varint(&mut bytes);
            let value = varint(&mut bytes);
            fields.push((
                key >> 3,
                if key & 7 == 2 {
                    let (text, rest) = bytes.split_at(value as usize);
                    bytes = rest;
                    Err(text.to_vec())
                } else {
                    Ok(value)
                },
            ));
        }
        fields
    }

    #[test]
    fn slices_follow_who_runs() {
        let directory = tempfile::tempdir().expect("a directory can be made");
        let path = directory.path().join("t.pftrace");
        let profile =
            tactus_board::profile::Profile::named("mpsoc").expect("it comes with the board");
        let vms = ["rt".to_owned()];
        let mut trace = Trace::create(&path, 1, &["uart"], &vms, &Options::new(profile))
            .expect("the file can be made");
        let doing = tactus_board::account::Doing::Running {
            guest: Some(1),
            privilege: tactus_board::privileged::Privilege::Supervisor,
        };
        trace.event(
            &Event {
                cycle: 100,
                hart: 0,
                stalls: tactus_board::timing::Stalls::default(),
                lines: tactus_board::timing::Lines::default(),
                kind: EventKind::Turn(doing),
            },
            &[],
            1,
        );
        trace
            .finish(Femtoseconds(5_000 * NANOSECOND))
            .expect("it can be written");
        let bytes = std::fs::read(&path).expect("it is there");
        let mut seen = Vec::new();
        for (number, packet) in decode(&bytes) {
            assert_eq!(number, u64::from(field::PACKET));
            let packet = decode(&packet.expect_err("packets are messages"));
            assert!(packet.contains(&(u64::from(field::SEQUENCE_ID), Ok(SEQUENCE))));
            let of = |wanted: u32| {
                packet
                    .iter()
                    .find(|(n, _)| *n == u64::from(wanted))
                    .map(|(_, v)| v.clone())
            };
            let (Some(Ok(time)), Some(Err(event))) = (of(field::TIMESTAMP), of(field::TRACK_EVENT))
            else {
                continue;
            };
            let event = decode(&event);
            let name = event
                .iter()
                .find(|(n, _)| *n == u64::from(field::EVENT_NAME))
                .map(|(_, v)| v.clone());
            let name = name.map(|v| String::from_utf8(v.expect_err("a text")).expect("UTF-8"));
            seen.push((time, event[0].1.clone().expect("a type"), name));
        }
        let text = |t: &str| Some(t.to_owned());
        // 100 cycles of 10 ns.
        assert_eq!(
            seen,
            [
                (0, field::BEGIN, text("(firmware)")),
                (1000, field::END, None),
                (1000, field::BEGIN, text("rt")),
                (5000, field::END, None),
            ]
        );
    }
}
