//! A system on the board that its caller runs in pieces, on the caller's own thread: up to a time, a place in the
//! software, a text on a console or a record; and looks into between, saves and takes back.
//!
//! It is the run that `tactus run` makes of the same system and [`Options`]: where it is paused makes no difference,
//! and a whole run has the same trace hash.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tactus_board::board::Board;
use tactus_board::time::Femtoseconds;
use tactus_board::trace::Event;

use super::probe::{Hits, Place, Probe};
use super::saved::Saved;
use super::{Begins, Facts, Marker, Options, Run, SLICE};
use crate::image::Image;
use crate::run::console::{Consoles, Piece, RESTART, Source};
use crate::run::journal::{Journal, RecordLine};
use crate::run::machine::{End, Platform};
use crate::run::record;
use crate::run::script::Player;
use crate::run::session::{Ending, Outcome, Plan};
use crate::run::{Boot, Error};

/// What a run goes on to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Until {
    /// The machine's end.
    End,
    /// This virtual time since reset.
    Time(Femtoseconds),
    /// A hart is about to execute there.
    Place(Place),
    /// A VM has written this on its console, behind what was waited for before.
    Text {
        /// Its index.
        vm: usize,
        /// What it writes; not empty.
        text: Vec<u8>,
    },
    /// There is such a record, behind the one that was waited for before.
    Record(Pattern),
}

/// What a record is to be like.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    /// Who writes it; `None`: any VM, or the hypervisor.
    pub source: Option<Source>,
    /// Its kind, such as `phase`.
    pub kind: String,
    /// Fields that it has: these texts, or numbers that are the same.
    pub fields: Vec<(String, String)>,
}

impl Pattern {
    /// Whether a record is so.
    pub fn takes(&self, line: &RecordLine) -> bool {
        let (kind, fields) = record::fields(&line.text);
        let has = |(key, value): &(String, String)| {
            let mut fields = fields.iter();
            let same = |v: &str| {
                let number = record::parse_number(value);
                v == value || number.is_some() && number == record::parse_number(v)
            };
            fields.any(|(k, v)| k == key && same(v))
        };
        kind == self.kind
            && self.source.is_none_or(|source| source == line.source)
            && self.fields.iter().all(has)
    }
}

/// Why a piece of a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// What it was to go on to has come.
    Reached {
        /// The hart that is at the place.
        hart: Option<usize>,
        /// The record's index among [`Live::records`].
        record: Option<usize>,
    },
    /// The machine has ended.
    Ended(End),
    /// The limit of virtual time is reached.
    TimeUp,
    /// All harts wait, and nothing but input from outside can wake one.
    Asleep,
    /// The caller wanted it to end.
    Interrupted,
}

/// A system on the board, run in pieces.
pub struct Live {
    run: Run,
    boot: Arc<Boot>,
    consoles: Consoles,
    journal: Journal,
    /// Bytes of the output that the journal has.
    taken: usize,
    /// When each record of the journal had come, by the end of its slice.
    times: Vec<Femtoseconds>,
    /// When each VM has written its lines, by the ends of their slices.
    line_times: Vec<Vec<Femtoseconds>>,
    /// How much of each VM's console what was waited for has used up.
    heard: Vec<u64>,
    /// The same of the journal's records.
    records_used: usize,
    ended: Option<End>,
    host_time: Duration,
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live")
            .field("now", &self.run.now)
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}

impl Live {
    /// The system at reset, on a board as `options` want it. Files of traces, snapshots and gdb are `tactus run`'s.
    ///
    /// # Errors
    /// There is no such board, or something that it needs is missing.
    pub fn new(boot: Arc<Boot>, options: Options) -> Result<Self, Error> {
        Self::begin(boot, &options, Begins::AtReset, |_| Ok(None))
    }

    /// The system on a board to which `restore` gives the state of a run; `None`: it is at reset.
    fn begin(
        boot: Arc<Boot>,
        options: &Options,
        begins: Begins,
        restore: impl FnOnce(&mut Board) -> Result<Option<Saved>, String>,
    ) -> Result<Self, Error> {
        let plan = Self::plan(&boot, options);
        let mut run = Run::new(&plan, options, begins)?;
        run.keeps_output = true;
        run.is_stepped = true;
        run.player = Some(Player::new(None, None, &plan.vms));
        let saved = restore(&mut run.board).map_err(Error::BadSnapshot)?;
        run.sees_all_pins &= saved.is_none();
        run.begin(saved);
        let clock_hz = Some(options.profile.clock_hz);
        let mut live = Self {
            consoles: Consoles::new(plan.carriage),
            journal: Journal::new(&plan.vms, plan.timebase_hz).clocked(clock_hz),
            heard: vec![0; plan.vms.len()],
            run,
            boot,
            taken: 0,
            line_times: vec![Vec::new(); plan.vms.len()],
            times: Vec::new(),
            records_used: 0,
            ended: None,
            host_time: Duration::ZERO,
        };
        live.take_output();
        Ok(live)
    }

    fn plan(boot: &Boot, options: &Options) -> Plan {
        let platform = Platform::Board(Box::new(options.clone()));
        boot.plan.clone().on(platform)
    }

    /// Runs on until what is wanted has come, or the virtual time `limit`. `go_on` is called after each slice of 0.1 ms
    /// of virtual time; the run is paused where it says false.
    pub fn run(
        &mut self,
        until: &Until,
        limit: Option<Femtoseconds>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Stop {
        let begin = Instant::now();
        if let Until::Place(place) = until {
            self.run.board.stop_at(place.address);
            self.run.awaited = Some(place.clone());
        }
        let stop = self.run_on(until, limit, go_on);
        if let Some(place) = self.run.awaited.take()
            && !self.is_needed(place.address)
        {
            self.run.board.remove_stop(place.address);
        }
        self.run.limit = None;
        self.host_time += begin.elapsed();
        stop
    }

    fn run_on(
        &mut self,
        until: &Until,
        limit: Option<Femtoseconds>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Stop {
        let time = match until {
            Until::Time(time) => Some(*time),
            _ => None,
        };
        self.run.limit = match (time, limit) {
            (Some(time), Some(limit)) => Some(time.min(limit)),
            (time, limit) => time.or(limit),
        };
        // Where the search for a text goes on.
        let mut searched = 0;
        loop {
            if let Some(stop) = self.reached(until, &mut searched) {
                return stop;
            }
            if let Some(end) = &self.ended {
                return Stop::Ended(end.clone());
            }
            if limit.is_some_and(|limit| self.run.now >= limit) {
                return Stop::TimeUp;
            }
            if self.run.sleeps() && !self.run.plays() {
                // Time passes all the same.
                let Some(end) = self.run.limit else {
                    return Stop::Asleep;
                };
                self.run.board.run(end);
                self.run.now = end;
                continue;
            }
            let end = self.run.slice(None);
            self.take_output();
            self.run
                .options
                .now
                .store(self.run.now.0, Ordering::Relaxed);
            if let Some(end) = end {
                self.finish_lines();
                self.ended = Some(end);
            } else if !go_on() {
                return Stop::Interrupted;
            }
        }
    }

    /// Whether what is wanted has come.
    fn reached(&mut self, until: &Until, searched: &mut usize) -> Option<Stop> {
        let (mut at_hart, mut at_record) = (None, None);
        let reached = match until {
            Until::End => false,
            Until::Time(time) => self.run.now >= *time,
            Until::Place(_) => {
                at_hart = self.run.came.take();
                at_hart.is_some()
            }
            Until::Text { vm, text } => self.hears(*vm, text, searched),
            Until::Record(pattern) => {
                let mut new = self.journal.records[self.records_used..].iter();
                at_record = new
                    .position(|line| pattern.takes(line))
                    .map(|at| self.records_used + at);
                self.records_used = at_record.map_or(self.records_used, |at| at + 1);
                at_record.is_some()
            }
        };
        reached.then_some(Stop::Reached {
            hart: at_hart,
            record: at_record,
        })
    }

    /// Whether a VM has written a text behind what was waited for before. `searched`: how much of what is behind that
    /// is known to be without it.
    fn hears(&mut self, vm: usize, text: &[u8], searched: &mut usize) -> bool {
        let (Some(heard), Some(journal)) = (self.heard.get_mut(vm), self.journal.vms.get(vm))
        else {
            return false;
        };
        let console = &journal.console;
        *heard = (*heard).max(console.dropped());
        let new = &console.bytes()[(*heard - console.dropped()) as usize..];
        let from = (*searched).min(new.len());
        let found = new[from..]
            .windows(text.len())
            .position(|window| window == text);
        match found {
            Some(at) => {
                *heard += (from + at + text.len()) as u64;
                true
            }
            None => {
                *searched = (new.len() + 1).saturating_sub(text.len()).max(from);
                false
            }
        }
    }

    /// Whether the run itself has to stop at an address.
    fn is_needed(&self, address: u64) -> bool {
        let marker = &self.run.options.timed_from;
        self.run.timed_since.is_none()
            && matches!(marker, Some(Marker::Place(place)) if place.address == address)
    }

    /// Takes what the run has written since.
    fn take_output(&mut self) {
        let Self {
            run,
            consoles,
            journal,
            taken,
            times,
            line_times,
            ..
        } = self;
        for (time, bytes) in run.written.pieces_from(*taken) {
            // A run that is paused within a slice tells no other times than one that is not.
            let slice_end = Femtoseconds(time.0.div_ceil(SLICE.0).saturating_mul(SLICE.0));
            consoles.push(bytes, |piece| match piece {
                Piece::Byte(source, byte) => {
                    journal.take_byte(source, byte);
                    if let (Source::Vm(vm), b'\n') = (source, byte)
                        && let Some(times) = line_times.get_mut(vm)
                    {
                        times.push(slice_end);
                    }
                }
                Piece::Line(line) => {
                    journal.take_line(&line);
                    times.resize(journal.records.len(), slice_end);
                }
            });
        }
        *taken = run.written.bytes().len();
    }

    /// Takes the lines that no more will come of.
    fn finish_lines(&mut self) {
        for line in self.consoles.finish() {
            self.journal.take_line(&line);
        }
        self.times.resize(self.journal.records.len(), self.run.now);
    }

    /// What a VM has written behind what was waited for before, as far as the journal keeps it.
    pub fn unheard(&self, vm: usize) -> Option<&[u8]> {
        let console = &self.journal.vms.get(vm)?.console;
        let heard = self.heard.get(vm)?.saturating_sub(console.dropped());
        console.bytes().get(usize::try_from(heard).ok()?..)
    }

    /// Types on a VM's console, no faster than its guest takes it; the run goes on with what was typed.
    pub fn send(&mut self, vm: usize, bytes: &[u8]) {
        if let Some(player) = &mut self.run.player {
            player.send(vm, bytes);
        }
    }

    /// All of the run's state, as `tactus run --restore` takes it, too. What only watches is not part of it.
    pub fn snapshot(&mut self) -> Vec<u8> {
        self.run.snapshot()
    }

    /// Goes back, or forth, to a snapshot of the same system on the same board. What probes and pins have seen, and the
    /// timeline, begin again.
    ///
    /// # Errors
    /// It is none; nothing has changed then.
    pub fn restore(&mut self, snapshot: &[u8]) -> Result<(), Error> {
        let options = self.run.options.clone();
        let vms = self.journal.vms.len();
        *self = Self::begin(
            Arc::clone(&self.boot),
            &options,
            Begins::WithState,
            |board| Saved::take_back(snapshot, vms, board).map(Some),
        )?;
        Ok(())
    }

    /// A second one that goes on from here, independent of this one, with all that this one has seen.
    ///
    /// # Errors
    /// There is no second board, as of a host without memory.
    pub fn fork(&mut self) -> Result<Self, Error> {
        let mut options = self.run.options.clone();
        options.now = Arc::default();
        let mut fork = Self::begin(
            Arc::clone(&self.boot),
            &options,
            Begins::WithState,
            |board| {
                let copied = board.copy_from(&mut self.run.board);
                copied.map_err(|error| error.to_string())?;
                Ok(Some(self.run.saved()))
            },
        )?;
        self.run.seen.add(self.run.ends.take());
        let (from, to) = (&self.run, &mut fork.run);
        to.hits.clone_from(&from.hits);
        to.meters.clone_from(&from.meters);
        to.timeline.clone_from(&from.timeline);
        to.seen.clone_from(&from.seen);
        to.sees_all_pins = from.sees_all_pins;
        to.lost = from.lost;
        fork.journal.clone_from(&self.journal);
        fork.times.clone_from(&self.times);
        fork.line_times.clone_from(&self.line_times);
        fork.heard.clone_from(&self.heard);
        fork.records_used = self.records_used;
        fork.ended.clone_from(&self.ended);
        fork.host_time = self.host_time;
        Ok(fork)
    }

    /// Watches a place from here on.
    pub fn add_probe(&mut self, probe: Probe) {
        self.run.board.probe(probe.place.address);
        self.run.hits.add(probe.clone());
        self.run.options.probes.push(probe);
    }

    /// What probes have seen.
    pub fn hits(&self) -> &Hits {
        &self.run.hits
    }

    /// Keeps the board's events from here on.
    pub fn keep_events(&mut self) {
        self.run.board.record(true);
        self.run.kept_events = Some(Vec::new());
    }

    /// The events since they were taken last, by cycle and hart; none unless they are [kept](Self::keep_events).
    pub fn take_events(&mut self) -> Vec<Event> {
        let kept = self.run.kept_events.as_mut();
        kept.map(std::mem::take).unwrap_or_default()
    }

    /// The pins' changes so far: the cycle of the fabric, and all levels from then on.
    pub fn pins(&mut self) -> &[(u64, u32)] {
        self.run.seen.add(self.run.ends.take());
        &self.run.seen.pins
    }

    /// How long the host has taken to run it, what came before a fork included.
    pub fn host_time(&self) -> Duration {
        self.host_time
    }

    /// The virtual time that it has come to.
    pub fn now(&self) -> Femtoseconds {
        self.run.now
    }

    /// How the machine has ended, if it has.
    pub fn ended(&self) -> Option<&End> {
        self.ended.as_ref()
    }

    /// The board.
    pub fn board(&self) -> &Board {
        &self.run.board
    }

    /// The board, to be changed.
    pub fn board_mut(&mut self) -> &mut Board {
        &mut self.run.board
    }

    /// What is on it.
    pub fn image(&self) -> &Image {
        &self.boot.image
    }

    /// What the board is like.
    pub fn options(&self) -> &Options {
        &self.run.options
    }

    /// All that was seen of consoles and records.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The records, each with the end of the slice of virtual time in which it came.
    pub fn records(&self) -> impl ExactSizeIterator<Item = (Femtoseconds, &RecordLine)> {
        self.times.iter().copied().zip(&self.journal.records)
    }

    /// When each VM has written its lines: the ends of their slices of virtual time.
    pub fn line_times(&self) -> &[Vec<Femtoseconds>] {
        &self.line_times
    }

    /// Ends all lines, which no more will come of when power is lost: what comes next is the firmware's.
    pub fn restart_consoles(&mut self) {
        self.run.lines.restart();
        self.run.hand_on(self.run.now, &RESTART);
        self.take_output();
    }

    /// What the board knows of the run by now.
    pub fn facts(&mut self) -> Facts {
        self.run.facts()
    }

    /// The run by now, for reports.
    pub fn outcome(&mut self) -> Outcome {
        let ending = match &self.ended {
            None => Ending::Paused,
            Some(end) => Ending::Machine(end.clone()),
        };
        let journal = self.journal.clone();
        let plan = Self::plan(&self.boot, &self.run.options);
        let forger = plan.forger().map(|vm| plan.vms[vm].clone());
        Outcome::of_board(journal, ending, self.host_time, self.run.facts(), forger)
    }
}
