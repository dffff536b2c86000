//! A run from start to end: the machine, the consoles and the journal together.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use super::Error;
use super::board::{self, storms::Watched};
use super::console::{Carriage, Consoles, Line, Piece, Source};
use super::functions::Functions;
use super::journal::{Failure, Journal, Seen};
use super::kept::Kept;
use super::machine::{self, End, Launch, Machine, Output, Platform};
use super::pulses::{self, Exactness};
use super::record::LogRecord;
use super::script::{Player, Script, ScriptEnd, Typed};
use super::state;
use super::waited::Waited;
use crate::config::Nanoseconds;
use crate::plan::ConsoleLine;

/// How long the machine may be silent before the session looks up.
const TICK: Duration = Duration::from_millis(50);
/// After the awaited VM's end: how long nothing more of it may come, in virtual time, before nothing more will.
pub(super) const CLOSING_PATIENCE: Nanoseconds = Nanoseconds(20_000_000);
/// How long what is left may take at most, in virtual time: twice as long as the slowest line, the firmware's console,
/// takes for all that the hypervisor keeps of a VM. Only one that goes on writing, or another one in its name, takes
/// longer.
pub(super) const CLOSING_MAX: Nanoseconds = Nanoseconds(100_000_000);

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
    /// What carries it.
    pub line: ConsoleLine,
    /// The interrupts whose storms are told, where the machine is the board.
    pub storms: Watched,
    /// The machine's PCI functions.
    pub functions: Functions,
    /// Memory that the machine keeps at its end.
    pub kept: Vec<Kept>,
    /// Index of the VM that the run ends with.
    pub until: Option<usize>,
    /// Virtual time since reset after which the run ends.
    pub limit: Option<Nanoseconds>,
    /// Host time after which the run ends. For people at a terminal: a run that is to repeat has a `limit`.
    pub host_limit: Option<Duration>,
    /// What drives the consoles.
    pub script: Option<Script>,
    /// What is typed on a console, as fast as its guest takes it.
    pub typed: Option<Typed>,
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
            line: ConsoleLine::default(),
            storms: Watched::default(),
            functions: Functions::default(),
            kept: Vec::new(),
            until: None,
            limit: None,
            host_limit: None,
            script: None,
            typed: None,
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

    /// The same, ended after this much virtual time.
    pub fn limit(mut self, limit: Nanoseconds) -> Self {
        self.limit = Some(limit);
        self
    }

    /// The same, ended after this much host time.
    pub fn host_limit(mut self, limit: Duration) -> Self {
        self.host_limit = Some(limit);
        self
    }

    /// The VM that can write anything into the serial line that carries all consoles, and silence it.
    pub(super) fn forger(&self) -> Option<usize> {
        let trusted = match &self.launch.platform {
            Platform::Qemu => false,
            Platform::Board(options) => board::keeps_lines_apart(options, self.line),
        };
        self.line.vm().filter(|_| !trusted)
    }

    /// What plays the script and types what is to be typed; `None`: nothing is to be done.
    pub(super) fn player(&self) -> Option<Player> {
        (self.script.is_some() || self.typed.is_some())
            .then(|| Player::new(self.script.clone(), self.typed.clone(), &self.vms))
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
    /// The limit of virtual time was reached.
    Limit,
    /// The limit of host time was reached.
    HostLimit,
    /// The script has ended it.
    Script(ScriptEnd),
    /// It was interrupted.
    Interrupted,
    /// The person at the console left.
    Left,
    /// It has not ended, and can go on.
    Paused,
}

/// A run that has ended or is paused.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Everything seen.
    pub journal: Journal,
    /// Why it ended.
    pub ending: Ending,
    /// Host time that it took.
    pub host_time: Duration,
    /// The virtual time at which it ended, where that is known exactly.
    pub end_time: Option<Nanoseconds>,
    /// The step of the script that the run ended before.
    pub unfinished: Option<String>,
    /// What only the board knows of it; `None` where it was another machine.
    pub board: Option<board::Facts>,
    /// The VM that had the serial line of all consoles for itself as well: nothing that was read there can be trusted.
    pub forger: Option<String>,
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
    /// The limit of virtual time, or of the host's, was reached.
    Timeout = 4,
    /// What the script expects did not come in time.
    ScriptTimeout = 5,
    /// The run ended before its script did.
    ScriptUnfinished = 6,
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
            end_time: None,
            unfinished: None,
            board: None,
            forger: None,
            bare: true,
        }
    }

    /// That of a run on the board by now. `forger`: the VM that may have forged what the shared line says.
    pub(super) fn of_board(
        mut journal: Journal,
        ending: Ending,
        host_time: Duration,
        facts: board::Facts,
        forger: Option<String>,
    ) -> Self {
        state::settle(&mut journal, Some(&facts));
        Self {
            ending,
            host_time,
            end_time: Some(Nanoseconds(facts.time.0 / 1_000_000)),
            unfinished: facts.unfinished.clone(),
            board: Some(facts),
            journal,
            forger,
            bare: false,
        }
    }

    /// The verdict: the gravest that applies.
    pub fn verdict(&self) -> Verdict {
        if self.journal.failure.is_some() {
            return Verdict::HypervisorFailed;
        }
        match &self.ending {
            Ending::Script(ScriptEnd::TimedOut(_)) => Verdict::ScriptTimeout,
            Ending::Limit | Ending::HostLimit => Verdict::Timeout,
            Ending::Interrupted => Verdict::Interrupted,
            Ending::Machine(End::Failed(_)) => Verdict::HypervisorFailed,
            Ending::Machine(End::Off) if !self.bare && self.journal.ended.is_none() => {
                Verdict::HypervisorFailed
            }
            _ => {
                let inexact = |pulses: &Exactness| !pulses.is_exact();
                if self.journal.vms.iter().any(|vm| vm.failed())
                    || self.timed_output().iter().any(inexact)
                {
                    Verdict::GuestFailed
                } else if self.unfinished.is_some() {
                    Verdict::ScriptUnfinished
                } else {
                    Verdict::Good
                }
            }
        }
    }

    /// The verdict as an exit code: that of the script's `exit`, where all else is good.
    pub fn exit_code(&self) -> u8 {
        match (self.verdict(), &self.ending) {
            (Verdict::Good, Ending::Script(ScriptEnd::Exit(code))) => *code,
            (verdict, _) => verdict as u8,
        }
    }

    /// How exact the timed output was that guests speak of, where its pins were watched.
    pub fn timed_output(&self) -> Vec<Exactness> {
        pulses::exactness(&self.journal, self.board.as_ref())
    }

    /// What cannot be trusted of what the run says, in a sentence.
    pub fn distrust(&self) -> Option<String> {
        self.forger.as_ref().map(|vm| {
            format!(
                "{vm} has the serial line that carries all consoles: it may have forged or left out each line, record and \
                 figure of this run, the hypervisor's too."
            )
        })
    }

    /// Why the run ended, as a sentence without its full stop.
    pub fn reason(&self) -> String {
        match (&self.journal.failure, &self.ending) {
            (Some(Failure::Refused(reason)), _) => {
                format!("the hypervisor refused the system: {reason}")
            }
            (Some(Failure::Panic(reason)), _) => format!("the hypervisor panicked: {reason}"),
            (None, Ending::Until) => "the VM to wait for is off".to_owned(),
            (None, Ending::Limit) => "the virtual time given by --limit was up".to_owned(),
            (None, Ending::HostLimit) => "the host's time given by --host-limit was up".to_owned(),
            (None, Ending::Script(end)) => end.to_string(),
            (None, Ending::Interrupted) => "interrupted".to_owned(),
            (None, Ending::Left) => "the console was left".to_owned(),
            (None, Ending::Paused) => "it is paused".to_owned(),
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
    /// A console wrote a byte; the line that it belongs to follows when it ends.
    fn byte(&mut self, _source: Source, _byte: u8) {}
    /// A console wrote a line, and this is what it was.
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

    /// How the session is to end, where that was requested.
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

/// The serial line towards the machine.
struct Input(Box<dyn Write + Send>);

impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Input").finish_non_exhaustive()
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
    /// When it was first looked for what is left, and since when nothing that counts has come, by the time waited, of
    /// a machine that does not keep time.
    closing_since: Option<Nanoseconds>,
    silent_since: Option<Nanoseconds>,
    /// What plays the script, of a machine that does not keep time.
    player: Option<Player>,
    /// The serial line towards the machine, for the player.
    input: Option<Input>,
    /// How long has been waited, of such a machine.
    waited: Option<Waited>,
}

impl Session {
    /// Starts the machine.
    pub fn start(plan: Plan) -> Result<Self, Error> {
        if let (Some(forger), Some(until)) = (plan.forger(), plan.until)
            && plan.limit.is_none()
            && plan.host_limit.is_none()
        {
            return Err(Error::Endless {
                forger: plan.vms[forger].clone(),
                until: plan.vms[until].clone(),
            });
        }
        let mut machine = machine::start(&plan)?;
        let waited = (!machine.keeps_time()).then(|| Waited::new(Instant::now()));
        let player = plan.player().filter(|_| waited.is_some());
        let input = player.as_ref().and_then(|_| machine.take_input());
        let input = input.map(Input);
        Ok(Self {
            machine,
            consoles: Consoles::new(plan.carriage),
            journal: Journal::new(&plan.vms, plan.timebase_hz).clocked(plan.clock_hz()),
            stop: Stop::default(),
            started: Instant::now(),
            closing: None,
            closing_since: None,
            silent_since: None,
            player,
            input,
            waited,
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
        let board = self.machine.finish();
        let end_time = match (&board, &ending) {
            (Some(facts), _) => Some(Nanoseconds(facts.time.0 / 1_000_000)),
            (None, Ending::Limit) => self.plan.limit,
            (None, _) => None,
        };
        let unfinished = match (&board, &self.player) {
            (Some(facts), _) => facts.unfinished.clone(),
            (None, Some(player)) => player.unfinished(),
            (None, None) => None,
        };
        state::settle(&mut self.journal, board.as_ref());
        Ok(Outcome {
            ending,
            host_time: self.started.elapsed(),
            end_time,
            unfinished,
            board,
            forger: self.plan.forger().map(|vm| self.plan.vms[vm].clone()),
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
            .host_limit
            .is_some_and(|limit| self.started.elapsed() >= limit)
        {
            return Ok(Some(Ending::HostLimit));
        }
        let needs_time =
            self.closing.is_some() || self.player.as_ref().is_some_and(Player::needs_time);
        if needs_time {
            self.machine.ask_time();
        }
        match self.machine.wait(TICK)? {
            Output::Bytes(bytes) => {
                self.take(&bytes, watcher);
                watcher.tick(&self.journal);
                Ok(None)
            }
            Output::Time(now) => Ok(self.take_time(now)),
            Output::Quiet => {
                watcher.tick(&self.journal);
                // It may be too busy with itself to answer: QEMU is where nothing but timers of its own network is
                // left, from one of which to the next time jumps without end.
                let clock = self.waited.as_ref().map(Waited::clock);
                Ok(clock
                    .filter(|_| needs_time)
                    .and_then(|clock| self.take_time(clock)))
            }
            Output::Ended(_) if self.closing.is_some() => Ok(Some(Ending::Until)),
            Output::Ended(end) => Ok(Some(match end {
                // That the machine is off as well is only a matter of its last instructions.
                End::Limit if self.journal.ended.is_some() => Ending::Machine(End::Off),
                End::Limit => Ending::Limit,
                End::Script(end) => Ending::Script(end),
                end => Ending::Machine(end),
            })),
        }
    }

    /// Takes the time of a machine that does not keep it itself.
    fn take_time(&mut self, clock: Nanoseconds) -> Option<Ending> {
        let now = self.waited.as_mut()?.look(clock, Instant::now());
        if let Some(player) = &mut self.player {
            let input = player.advance(now);
            if let Some(line) = &mut self.input
                && !input.is_empty()
                && line
                    .0
                    .write_all(&input)
                    .and_then(|()| line.0.flush())
                    .is_err()
            {
                // The machine has ended, as its output will tell.
                self.input = None;
            }
            if let Some(end) = player.ended() {
                return Some(Ending::Script(end.clone()));
            }
        }
        self.closing?;
        let began = *self.closing_since.get_or_insert(now);
        let since = *self.silent_since.get_or_insert(now);
        let over = now.0 - since.0 >= CLOSING_PATIENCE.0 || now.0 - began.0 >= CLOSING_MAX.0;
        over.then_some(Ending::Until)
    }

    /// Takes a part of the serial line.
    fn take(&mut self, bytes: &[u8], watcher: &mut dyn Watcher) {
        let Self {
            plan,
            consoles,
            journal,
            closing,
            silent_since,
            player,
            ..
        } = self;
        consoles.push(bytes, |piece| {
            if let Some(closing) = closing
                && !closing.counts(&piece, plan.until)
            {
                return;
            }
            *silent_since = None;
            match piece {
                Piece::Byte(source, byte) => {
                    journal.take_byte(source, byte);
                    watcher.byte(source, byte);
                    if let (Some(player), Source::Vm(vm)) = (player.as_mut(), source) {
                        player.heard(vm, byte);
                    }
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
                    }
                }
            }
        });
    }
}
