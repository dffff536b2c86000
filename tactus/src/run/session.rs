//! A run from start to end: the machine, the consoles and the journal together.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use super::Error;
use super::board;
use super::console::{Carriage, Consoles, Line, Piece, Source};
use super::journal::{Failure, Journal, Seen};
use super::machine::{self, End, Launch, Machine, Output, Platform};
use super::pulses::{self, Exactness};
use super::record::LogRecord;

/// How long the machine may be silent before the session looks up.
const TICK: Duration = Duration::from_millis(50);
/// After the awaited VM's end: how long nothing more of it may come, in host time, before nothing more will.
const CLOSING_PATIENCE: Duration = Duration::from_secs(1);

/// What to run and when to end.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The machine.
    pub launch: Launch,
    /// The VMs' names, in the order of their console streams.
    pub vms: Vec<String>,
    /// Rate of the `time` CSR.
    pub timebase_hz: u64,
    /// How the serial line is shared.
    pub carriage: Carriage,
    /// Index of the VM that the run ends with.
    pub until: Option<usize>,
    /// Host time after which the run ends as a failure.
    pub timeout: Option<Duration>,
}

impl Plan {
    /// A run of a system's boot image, up to the end of the machine.
    pub fn new(launch: Launch, vms: Vec<String>, timebase_hz: u64) -> Self {
        let carriage = Carriage::Framed { vms: vms.len() };
        Self {
            launch,
            vms,
            timebase_hz,
            carriage,
            until: None,
            timeout: None,
        }
    }

    /// A run of a guest directly under the firmware, without the hypervisor.
    pub fn bare(launch: Launch, name: &str, timebase_hz: u64) -> Self {
        Self {
            carriage: Carriage::Bare,
            ..Self::new(launch, vec![name.to_owned()], timebase_hz)
        }
    }

    /// The same on another platform.
    pub fn on(mut self, platform: Platform) -> Self {
        self.launch.platform = platform;
        self
    }

    /// Rate of the harts' clock, where the machine's is not an instruction a nanosecond.
    fn clock_hz(&self) -> Option<u64> {
        match &self.launch.platform {
            Platform::Qemu => None,
            Platform::Board(options) => Some(options.profile.clock_hz),
        }
    }

    /// The same, ended as soon as the VM called `name` is off.
    pub fn until(mut self, name: &str) -> Result<Self, Error> {
        self.until = Some(self.vm_index(name)?);
        Ok(self)
    }

    /// The same, ended as a failure after this much host time.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Index of the VM called `name`.
    pub fn vm_index(&self, name: &str) -> Result<usize, Error> {
        self.vms
            .iter()
            .position(|vm| vm == name)
            .ok_or_else(|| Error::NoSuchVm {
                name: name.to_owned(),
                known: self.vms.join(", "),
            })
    }
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The machine ended by itself.
    Machine(End),
    /// The VM that the run was to end with is off.
    Until,
    /// The time was up.
    Timeout,
    /// Somebody interrupted it.
    Interrupted,
    /// The person at the console left.
    Left,
}

/// A finished run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Everything seen.
    pub journal: Journal,
    /// Why it ended.
    pub ending: Ending,
    /// Host time that it took.
    pub host_time: Duration,
    /// What only the board knows of it; `None` where it was another machine.
    pub board: Option<board::Facts>,
    bare: bool,
}

/// What a run says, as an exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every VM that ended did so in good order.
    Good = 0,
    /// A VM ended by a fault or as failed, a guest's own check did not hold, or timed output was not on its cycle.
    GuestFailed = 1,
    /// The hypervisor refused the system or panicked, or the machine ended without it.
    HypervisorFailed = 3,
    /// The time was up.
    Timeout = 4,
    /// Interrupted from outside: 128 + SIGINT, as a shell would say it.
    Interrupted = 130,
}

impl Outcome {
    /// That of a machine without the hypervisor which has ended so.
    pub(crate) fn without_hypervisor(
        journal: Journal,
        ending: Ending,
        host_time: Duration,
    ) -> Self {
        Self {
            journal,
            ending,
            host_time,
            board: None,
            bare: true,
        }
    }

    /// The verdict: the gravest that applies.
    pub fn verdict(&self) -> Verdict {
        if self.journal.failure.is_some() {
            return Verdict::HypervisorFailed;
        }
        match &self.ending {
            Ending::Timeout => Verdict::Timeout,
            Ending::Interrupted => Verdict::Interrupted,
            Ending::Machine(End::Failed(_)) => Verdict::HypervisorFailed,
            Ending::Machine(End::Off) if !self.bare && self.journal.ended.is_none() => {
                Verdict::HypervisorFailed
            }
            Ending::Machine(_) | Ending::Until | Ending::Left => {
                let inexact = |pulses: &Exactness| !pulses.is_exact();
                if self.journal.vms.iter().any(|vm| vm.failed())
                    || self.timed_output().iter().any(inexact)
                {
                    Verdict::GuestFailed
                } else {
                    Verdict::Good
                }
            }
        }
    }

    /// How exact the timed output was that guests speak of, where its pins were watched.
    pub fn timed_output(&self) -> Vec<Exactness> {
        pulses::exactness(&self.journal, self.board.as_ref())
    }

    /// Why the run ended, as a sentence without its full stop.
    pub fn reason(&self) -> String {
        match (&self.journal.failure, &self.ending) {
            (Some(Failure::Refused(reason)), _) => {
                format!("the hypervisor refused the system: {reason}")
            }
            (Some(Failure::Panic(reason)), _) => format!("the hypervisor panicked: {reason}"),
            (None, Ending::Until) => "the VM to wait for is off".to_owned(),
            (None, Ending::Timeout) => "the time given by --timeout was up".to_owned(),
            (None, Ending::Interrupted) => "interrupted".to_owned(),
            (None, Ending::Left) => "the console was left".to_owned(),
            (None, Ending::Machine(End::Failed(how))) => how.clone(),
            (None, Ending::Machine(_)) if self.bare => "the machine switched itself off".to_owned(),
            (None, Ending::Machine(_)) => match (self.journal.ended, &self.journal.version) {
                (Some(_), _) => "all VMs are off".to_owned(),
                (None, Some(_)) => {
                    "the machine ended though the hypervisor had not ended it".to_owned()
                }
                (None, None) => "the machine ended before the hypervisor said anything".to_owned(),
            },
        }
    }
}

/// Sees a run as it goes.
pub trait Watcher {
    /// Somebody wrote a byte; the line that it belongs to follows when it ends.
    fn byte(&mut self, _source: Source, _byte: u8) {}
    /// Somebody wrote a line, and this is what it was.
    fn line(&mut self, _line: &Line, _seen: &Seen, _journal: &Journal) {}
    /// Some output has been taken, or nothing happened for a while.
    fn tick(&mut self, _journal: &Journal) {}
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watcher for Unwatched {}

/// Ends a session from another thread.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicU8>);

impl Stop {
    const INTERRUPT: u8 = 1;
    const LEAVE: u8 = 2;

    /// Ends it as interrupted.
    pub fn interrupt(&self) {
        self.0.store(Self::INTERRUPT, Ordering::Relaxed);
    }

    /// Ends it because the person at the console left.
    pub fn leave(&self) {
        self.0.store(Self::LEAVE, Ordering::Relaxed);
    }

    /// How the session is to end, where somebody has asked for it.
    pub(crate) fn asked(&self) -> Option<Ending> {
        match self.0.load(Ordering::Relaxed) {
            Self::INTERRUPT => Some(Ending::Interrupted),
            Self::LEAVE => Some(Ending::Left),
            _ => None,
        }
    }
}

/// What is left of a run after the awaited VM's end: what the VM wrote before it and the hypervisor still has in its
/// buffers, and the `usage` records. Nothing else counts, so that what is seen of a run does not depend on how
/// fast the host was.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Closing {
    /// Whether the `usage` records have come: another record did.
    log_over: bool,
}

impl Closing {
    /// Whether this piece belongs to what is left.
    pub(super) fn counts(&mut self, piece: &Piece, awaited: Option<usize>) -> bool {
        match piece {
            Piece::Byte(Source::Vm(vm), _) => Some(*vm) == awaited,
            Piece::Byte(..) => false,
            Piece::Line(line) => match line.source {
                Source::Vm(vm) => Some(vm) == awaited,
                Source::Log => {
                    self.log_over |= !line.bytes.starts_with(b"usage ");
                    !self.log_over
                }
                Source::Firmware | Source::Unknown(_) => false,
            },
        }
    }
}

/// A run in progress. Dropping it ends the machine.
#[derive(Debug)]
pub struct Session {
    plan: Plan,
    machine: Box<dyn Machine>,
    consoles: Consoles,
    journal: Journal,
    stop: Stop,
    started: Instant,
    /// Set when the awaited VM is off.
    closing: Option<Closing>,
    /// When something that counts last came.
    last: Instant,
}

impl Session {
    /// Starts the machine.
    pub fn start(plan: Plan) -> Result<Self, Error> {
        let machine = machine::start(&plan)?;
        Ok(Self {
            machine,
            consoles: Consoles::new(plan.carriage),
            journal: Journal::new(&plan.vms, plan.timebase_hz).clocked(plan.clock_hz()),
            stop: Stop::default(),
            started: Instant::now(),
            closing: None,
            last: Instant::now(),
            plan,
        })
    }

    /// What ends this session early.
    pub fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// The serial line towards the machine; `None` when it has been taken.
    pub fn take_input(&mut self) -> Option<Box<dyn Write + Send>> {
        self.machine.take_input()
    }

    /// Runs to the end.
    pub fn finish(mut self, watcher: &mut dyn Watcher) -> Result<Outcome, Error> {
        let ending = loop {
            if let Some(ending) = self.step(watcher)? {
                break ending;
            }
        };
        // After an awaited VM's end, what the others had begun no longer counts.
        if ending != Ending::Until {
            for line in self.consoles.finish() {
                let seen = self.journal.take_line(&line);
                watcher.line(&line, &seen, &self.journal);
            }
        }
        Ok(Outcome {
            ending,
            host_time: self.started.elapsed(),
            board: self.machine.finish(),
            journal: self.journal,
            bare: self.plan.carriage == Carriage::Bare,
        })
    }

    /// Takes what the machine does next; an ending when there is no more to take.
    fn step(&mut self, watcher: &mut dyn Watcher) -> Result<Option<Ending>, Error> {
        if let Some(ending) = self.stop.asked() {
            return Ok(Some(ending));
        }
        if self
            .plan
            .timeout
            .is_some_and(|limit| self.started.elapsed() >= limit)
        {
            return Ok(Some(Ending::Timeout));
        }
        if self.closing.is_some()
            && !self.machine.ends_when_awaited()
            && self.last.elapsed() >= CLOSING_PATIENCE
        {
            return Ok(Some(Ending::Until));
        }
        match self.machine.wait(TICK)? {
            Output::Bytes(bytes) => {
                self.take(&bytes, watcher);
                watcher.tick(&self.journal);
                Ok(None)
            }
            Output::Quiet => {
                watcher.tick(&self.journal);
                Ok(None)
            }
            Output::Ended(end) => Ok(Some(if self.closing.is_some() {
                Ending::Until
            } else {
                Ending::Machine(end)
            })),
        }
    }

    /// Takes a part of the serial line.
    fn take(&mut self, bytes: &[u8], watcher: &mut dyn Watcher) {
        let Self {
            plan,
            consoles,
            journal,
            closing,
            last,
            ..
        } = self;
        consoles.push(bytes, |piece| {
            if let Some(closing) = closing
                && !closing.counts(&piece, plan.until)
            {
                return;
            }
            if closing.is_some() {
                *last = Instant::now();
            }
            match piece {
                Piece::Byte(source, byte) => {
                    journal.take_byte(source, byte);
                    watcher.byte(source, byte);
                }
                Piece::Line(line) => {
                    if closing.is_some() && line.source == Source::Log {
                        // Whether its bytes count was not known as they came.
                        for &byte in line.bytes.iter().chain(b"\n") {
                            journal.take_byte(Source::Log, byte);
                        }
                    }
                    let seen = journal.take_line(&line);
                    watcher.line(&line, &seen, journal);
                    if let Seen::LogRecord(Some(LogRecord::Off { vm, .. })) = &seen
                        && closing.is_none()
                        && plan.until.is_some_and(|until| plan.vms[until] == *vm)
                    {
                        *closing = Some(Closing::default());
                        *last = Instant::now();
                    }
                }
            }
        });
    }
}
