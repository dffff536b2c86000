//! The trace of a run, as a hash and, on demand, as events.
//!
//! The hash covers every interrupt and exception with its cycle, hart, address and the instructions retired so far (of
//! an exception also the trap value and `a0`), every access to a device with its time, address and value, every loss of
//! power, and at the end the harts' registers, cycles and instruction counts. Memory, CSRs and the transfers of bus
//! masters are not looked at: what differs there shows when it changes one of the above. Hashes of different versions
//! of the board are not to be compared.

use std::hash::Hasher;

use siphasher::sip::SipHasher13;

use crate::account::Doing;
use crate::privileged::{Exception, Interrupt, Trap};
use crate::time::Femtoseconds;
use crate::timing::{Lines, Stalls, Timing};

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The hart's cycle.
    pub cycle: u64,
    /// Which hart.
    pub hart: u16,
    /// Its stall cycles up to then; zero while no costs are charged.
    pub stalls: Stalls,
    /// What it has touched since it left a guest, ended a wait or passed a mark, where
    /// [that is counted](crate::board::Board::count_lines); of the last event within that, all of it.
    pub lines: Lines,
    /// The kind of the event.
    pub kind: EventKind,
}

/// An event of a hart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// From here on it does this.
    Turn(Doing),
    /// It took an interrupt.
    Interrupt {
        /// Which, and to which mode.
        interrupt: Interrupt,
        /// Where it was.
        pc: u64,
    },
    /// It took an exception.
    Exception {
        /// Which.
        cause: Exception,
        /// Where it was.
        pc: u64,
        /// The trap value: an address, the instruction's bits, or 0.
        value: u64,
        /// Of a guest-page fault the guest-physical address, to a multiple of 4; else 0.
        guest_physical: u64,
        /// a6 and a7, which tell of a call what is called.
        call: [u64; 2],
    },
    /// It read or wrote a register of a device, which answered.
    Access {
        /// Which device: its place in [`Board::devices`](crate::board::Board::devices).
        device: u16,
        /// The register: bytes from the device's address.
        offset: u64,
        /// Whether it was written.
        write: bool,
        /// The data read or written.
        value: u64,
    },
    /// The board's supply failed. Of hart 0, and with the cycle in which that was.
    PowerLoss,
    /// It came to the probe with this number.
    Probe {
        /// In the order in which probes were set.
        probe: u32,
        /// The activity of the hart: the same address may be of the hypervisor and of several guests.
        on: Doing,
        /// The first eight argument registers, a0 to a7.
        arguments: [u64; 8],
    },
}

/// Which hart it is, and how far it has come.
#[derive(Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) hart: usize,
    pub(crate) cycle: u64,
    pub(crate) instructions: u64,
}

/// Most events that are kept; then no more are, and those are counted.
const EVENTS: usize = 1 << 24;

/// The hash function of a trace: fast, and its state can be saved.
pub(crate) type Hash = SipHasher13;

/// The trace of a run.
pub(crate) struct Trace {
    hash: Hash,
    /// Kept only while recording.
    recording: bool,
    events: Vec<Event>,
    lost: u64,
    traps: u64,
}

impl Trace {
    /// Nothing yet.
    pub(crate) fn new() -> Self {
        Self {
            hash: Hash::new(),
            recording: false,
            events: Vec::new(),
            lost: 0,
            traps: 0,
        }
    }

    /// Whether to keep events from here on.
    pub(crate) fn record(&mut self, on: bool) {
        self.recording = on;
    }

    /// Hands over the events since the last time, and how many were lost because there were too many.
    pub(crate) fn take(&mut self) -> (Vec<Event>, u64) {
        (
            std::mem::take(&mut self.events),
            std::mem::take(&mut self.lost),
        )
    }

    fn keep(&mut self, timing: &Timing, at: Moment, kind: EventKind) {
        if self.events.len() < EVENTS {
            self.events.push(Event {
                cycle: at.cycle,
                hart: at.hart as u16,
                stalls: timing.stalls(at.hart),
                lines: timing.lines(at.hart),
                kind,
            });
        } else {
            self.lost += 1;
        }
    }

    fn add<const N: usize>(&mut self, fields: [u64; N]) {
        for field in fields {
            self.hash.write(&field.to_le_bytes());
        }
    }

    /// The hart took an interrupt at `pc`.
    pub(crate) fn interrupt(&mut self, timing: &Timing, at: Moment, interrupt: Interrupt, pc: u64) {
        self.traps += 1;
        let kind = 1 << 31 | u64::from(interrupt.number);
        self.add([at.cycle, at.hart as u64 | kind << 32, pc, at.instructions]);
        if self.recording {
            self.keep(timing, at, EventKind::Interrupt { interrupt, pc });
        }
    }

    /// The hart took an exception at `pc`, with these registers.
    pub(crate) fn exception(
        &mut self,
        timing: &Timing,
        at: Moment,
        x: &[u64; 40],
        trap: &Trap,
        pc: u64,
    ) {
        self.traps += 1;
        let kind = trap.cause as u64;
        self.add([
            at.cycle,
            at.hart as u64 | kind << 32,
            pc,
            at.instructions,
            trap.value,
            x[10],
        ]);
        if self.recording {
            self.keep(
                timing,
                at,
                EventKind::Exception {
                    cause: trap.cause,
                    pc,
                    value: trap.value,
                    guest_physical: trap.value2 << 2,
                    call: [x[16], x[17]],
                },
            );
        }
    }

    /// The hart note_activity to something else.
    pub(crate) fn turn(&mut self, timing: &Timing, at: Moment, to: Doing) {
        if self.recording {
            self.keep(timing, at, EventKind::Turn(to));
        }
    }

    /// The supply failed.
    pub(crate) fn power_loss(&mut self, timing: &Timing, cycle: u64) {
        self.add([cycle, 1 << 30]);
        if self.recording {
            let at = Moment {
                hart: 0,
                cycle,
                instructions: 0,
            };
            self.keep(timing, at, EventKind::PowerLoss);
        }
    }

    /// The hart came to a probe, while it did `on`, with these arguments. The hit is kept whether the trace is
    /// recorded or not: a run's report lists the hits of its probes.
    pub(crate) fn probe(
        &mut self,
        timing: &Timing,
        at: Moment,
        on: Doing,
        arguments: [u64; 8],
        probe: u32,
    ) {
        self.keep(
            timing,
            at,
            EventKind::Probe {
                probe,
                on,
                arguments,
            },
        );
    }

    /// The hart read or wrote (`true`) this value, of `register` of a device: its place, and the bytes from its begin.
    pub(crate) fn access(
        &mut self,
        timing: &Timing,
        at: Moment,
        time: Femtoseconds,
        physical: u64,
        register: (usize, u64),
        (write, value): (bool, u64),
    ) {
        self.add([time.0, physical << 1 | u64::from(write), value]);
        if self.recording {
            let (device, offset) = (register.0 as u16, register.1);
            self.keep(
                timing,
                at,
                EventKind::Access {
                    device,
                    offset,
                    write,
                    value,
                },
            );
        }
    }

    /// How many interrupts and exceptions were taken since the board was made.
    pub(crate) fn traps(&self) -> u64 {
        self.traps
    }

    /// The hash so far, and all that it will depend on.
    pub(crate) fn hash(&self) -> Hash {
        self.hash
    }

    /// Continues from a hash.
    pub(crate) fn set_hash(&mut self, hash: Hash) {
        self.hash = hash;
    }
}
