//! How what a fault has done spreads: from its place over the first event of each VM, of the hypervisor and of each
//! device that is another one, to what VMs show.
//!
//! Both runs go on side by side. The events of each worker on each hart are compared one by one, those of a device
//! likewise; what is the same is forgotten, so that no more is kept than what one of the two runs has had in the last
//! look, a millisecond of virtual time, and the other has not.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use tactus_board::board::{Outcome, Watch};
use tactus_board::privileged::Exception;
use tactus_board::time::{Clock, Femtoseconds};
use tactus_board::trace::{Event, EventKind};

use super::description::Compare;
use super::explain::{Names, Parting};
use super::judge::{shown, without_figures};
use super::run::{Row, Struck, Subject};
use crate::run::board::Worker;
use crate::run::board::live::{Live, Until};
use crate::run::board::paths;
use crate::run::console::Source;
use crate::run::journal::RecordLine;
use crate::run::record;

/// An event that the other run has not had within this time is one that it does not have.
const LOOK: Femtoseconds = Femtoseconds(Femtoseconds::SECOND.0 / 1000);
/// Links of a chain that are told at most.
const LINKS: usize = 12;
/// Executions and reads of others at the address of what has changed that are passed over in the search for the first
/// of its own.
const PASSED: usize = 100_000;
/// Bytes of the longest instruction.
const INSTRUCTION: u64 = 4;

/// What a link of a chain is about: of too many, the last of these are left out first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum About {
    /// The fault, or what VMs show.
    Effect,
    /// An event of a worker, or its registers.
    Worker,
    /// An access to a device that is not a worker's own first event.
    Device,
}

/// A link of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// What it is about.
    pub about: About,
    /// When.
    pub time: Femtoseconds,
    /// Whether it happened in the tenth of a millisecond before that: no more is known.
    pub is_by: bool,
    /// The hart and its cycle, of an event.
    pub on: Option<(usize, u64)>,
    /// What.
    pub text: String,
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = self.time.0 as f64 / 1e12;
        if self.is_by {
            write!(f, "by {ms:.1} ms")?;
        } else {
            write!(f, "{ms:.6} ms")?;
        }
        if let Some((hart, cycle)) = self.on {
            write!(f, ", cycle {cycle}, hart {hart}")?;
        }
        write!(f, ": {}", self.text)
    }
}

/// All links, by their times.
#[derive(Clone, Debug, Default)]
pub struct Chain {
    /// What happened, one after the other.
    pub links: Vec<Link>,
    /// Links that were left out.
    pub more: usize,
    /// Those of whom all events are the same, at the same cycles.
    pub unchanged: Vec<String>,
    /// Whether memory has changed of which no use was found.
    pub is_unseen: bool,
}

impl Chain {
    /// Brings the links into their order, and leaves out those that are too many.
    fn shorten(&mut self) {
        self.links.sort_by_key(|link| (link.time, link.about));
        while self.links.len() > LINKS {
            let abouts = self.links.iter().map(|link| link.about);
            // The last of the least important ones.
            let last = abouts.enumerate().max_by_key(|(_, about)| *about);
            self.links.remove(last.map_or(0, |(index, _)| index));
            self.more += 1;
        }
    }
}

impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for link in &self.links {
            writeln!(f, "  {link}")?;
        }
        if self.more > 0 {
            writeln!(f, "  and {} more", self.more)?;
        }
        if self.is_unseen {
            writeln!(
                f,
                "  No use of what has changed is seen; one by a translated address would not be"
            )?;
        }
        if !self.unchanged.is_empty() {
            let names = self.unchanged.join(", ");
            writeln!(f, "  All events as without the fault: {names}")?;
        }
        Ok(())
    }
}

/// Who does something.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Who {
    /// A worker on a hart.
    Worker(Worker, u16),
    /// Anyone, at a device.
    Device(u16),
}

/// An event, and who has it.
#[derive(Clone, Debug)]
struct Had {
    worker: Worker,
    event: Event,
}

/// How an event of a run differs from that of the other one: with the fault, and without.
#[derive(Clone, Debug)]
struct Other {
    events: [Option<Had>; 2],
}

impl Other {
    /// Both, as far as they are there.
    fn both(&self) -> impl Iterator<Item = Event> {
        self.events.iter().flatten().map(|had| had.event)
    }

    /// The one that comes first.
    fn first(&self) -> &Event {
        let events = self.events.iter().flatten().map(|had| &had.event);
        events
            .min_by_key(|event| event.cycle)
            .expect("one of them is there")
    }
}

/// The events of one, in both runs.
#[derive(Clone, Debug, Default)]
struct Lane {
    /// What the other run has not had yet.
    open: [VecDeque<Had>; 2],
    /// The first event at another cycle: that with the fault, and how many cycles it is late.
    late: Option<(Had, i64)>,
    /// By how many cycles the last one that both have had differs.
    lag: u64,
    /// The first event that is another one. What follows is not looked at.
    other: Option<Other>,
}

impl Lane {
    fn compare(&mut self) {
        let [with, without] = &mut self.open;
        while let (Some(now), Some(usual)) = (with.front(), without.front()) {
            if !is_same(&now.event.kind, &usual.event.kind) {
                break;
            }
            self.lag = now.event.cycle.abs_diff(usual.event.cycle);
            if self.lag != 0 && self.late.is_none() {
                let late = now.event.cycle.cast_signed() - usual.event.cycle.cast_signed();
                self.late = Some((now.clone(), late));
            }
            with.pop_front();
            without.pop_front();
        }
        if !with.is_empty() && !without.is_empty() {
            self.differ();
        }
    }

    fn differ(&mut self) {
        let [with, without] = &mut self.open;
        self.other = Some(Other {
            events: [with.pop_front(), without.pop_front()],
        });
        self.open = Default::default();
    }

    /// Judges an event that only one run has, if it is from before `cycle`.
    fn close(&mut self, cycle: u64) {
        let mut open = self.open.iter().filter_map(VecDeque::front);
        if open.any(|had| had.event.cycle < cycle) {
            self.differ();
        }
    }
}

/// Whether two events are the same, whenever they were.
fn is_same(now: &EventKind, usual: &EventKind) -> bool {
    match (now, usual) {
        // When one comes is not where.
        (
            EventKind::Interrupt { interrupt: now, .. },
            EventKind::Interrupt {
                interrupt: usual, ..
            },
        ) => now == usual,
        (
            EventKind::Exception {
                cause: now,
                pc,
                value,
                guest_physical,
                call,
            },
            EventKind::Exception {
                cause: usual,
                pc: usual_pc,
                value: usual_value,
                guest_physical: usual_guest,
                call: usual_call,
            },
        ) => {
            (now, pc, value, guest_physical) == (usual, usual_pc, usual_value, usual_guest)
                && (!is_call(*now) || call == usual_call)
        }
        (now, usual) => now == usual,
    }
}

const fn is_call(cause: Exception) -> bool {
    matches!(
        cause,
        Exception::UserEnvironmentCall
            | Exception::SupervisorEnvironmentCall
            | Exception::VirtualSupervisorEnvironmentCall
            | Exception::MachineEnvironmentCall
    )
}

/// The events of both runs.
#[derive(Debug)]
struct Spread {
    vms: usize,
    /// Who has each hart, in each run.
    workers: [Vec<Worker>; 2],
    lanes: BTreeMap<Who, Lane>,
}

impl Spread {
    fn begin(pair: &[Live; 2], vms: usize) -> Self {
        let of = |live: &Live| {
            let board = live.board();
            let harts = 0..board.harts();
            harts
                .map(|hart| Worker::of(board.doing(hart), vms))
                .collect()
        };
        Self {
            vms,
            workers: pair.each_ref().map(of),
            lanes: BTreeMap::new(),
        }
    }

    /// Takes events of a run: 0 is the one with the fault.
    fn take(&mut self, run: usize, events: Vec<Event>) {
        for event in events {
            let hart = usize::from(event.hart);
            let worker = &mut self.workers[run][hart];
            if let EventKind::Turn(doing) = event.kind {
                // A hart that waits does so for the one that it has.
                match Worker::of(doing, self.vms) {
                    Worker::Idle => {}
                    other => *worker = other,
                }
                continue;
            }
            if let EventKind::Probe { .. } = event.kind {
                continue;
            }
            let had = Had {
                worker: worker.clone(),
                event,
            };
            let device = match event.kind {
                EventKind::Access { device, .. } => Some(Who::Device(device)),
                _ => None,
            };
            for who in device
                .into_iter()
                .chain([Who::Worker(worker.clone(), event.hart)])
            {
                let lane = self.lanes.entry(who).or_default();
                if lane.other.is_none() {
                    lane.open[run].push_back(had.clone());
                }
            }
        }
    }

    fn compare(&mut self) {
        for lane in self.lanes.values_mut() {
            lane.compare();
        }
    }

    /// Judges what only one run has had before `time`.
    fn close(&mut self, clock: Clock, time: Femtoseconds) {
        let cycle = clock.cycle_at(time);
        for lane in self.lanes.values_mut() {
            lane.close(cycle);
        }
    }

    /// Judges what only one run has had by `end`, at which both end.
    fn end(&mut self, clock: Clock, end: Femtoseconds) {
        // A hart may be ahead.
        let cycle = clock.cycle_at(end);
        for lane in self.lanes.values_mut() {
            for open in &mut lane.open {
                open.retain(|had| had.event.cycle < cycle);
            }
            lane.close(cycle.saturating_sub(lane.lag));
        }
    }

    fn links(self, clock: Clock, names: &mut Names<'_>, devices: &[String]) -> Chain {
        let mut chain = Chain::default();
        // Of each worker the hart on which it begins, and the events at another cycle and of another kind.
        let mut workers: BTreeMap<Worker, Lane> = BTreeMap::new();
        let mut told = Vec::new();
        for (who, lane) in &self.lanes {
            let Who::Worker(worker, _) = who else {
                continue;
            };
            let all = workers.entry(worker.clone()).or_default();
            let earlier = |a: Option<u64>, b: Option<u64>| match (a, b) {
                (Some(a), Some(b)) => a < b,
                (a, _) => a.is_some(),
            };
            let cycle = |lane: &Lane| lane.late.as_ref().map(|(had, _)| had.event.cycle);
            if earlier(cycle(lane), cycle(all)) {
                all.late.clone_from(&lane.late);
            }
            let cycle = |lane: &Lane| lane.other.as_ref().map(|other| other.first().cycle);
            if earlier(cycle(lane), cycle(all)) {
                all.other.clone_from(&lane.other);
            }
        }
        let mut link = |about: About, event: &Event, text: String| {
            chain.links.push(Link {
                about,
                time: clock.time_of(event.cycle),
                is_by: false,
                on: Some((event.hart.into(), event.cycle)),
                text,
            });
        };
        let late_words = |late: i64| {
            let when = if late > 0 { "late" } else { "early" };
            format!("{} cycles {when}", late.unsigned_abs())
        };
        let mut unchanged = Vec::new();
        for (worker, lane) in workers {
            let name = names.of(&worker);
            let first = lane.other.as_ref().map(|other| *other.first());
            told.extend(lane.other.iter().flat_map(Other::both));
            let other = lane.other.map(|other| names.other(&other, devices));
            // Most are late or early before they do something else.
            let late = lane
                .late
                .filter(|(had, _)| first.is_none_or(|first| had.event.cycle < first.cycle));
            match (late, first.zip(other)) {
                (None, None) => unchanged.push(name),
                (None, Some((first, other))) => {
                    link(About::Worker, &first, format!("{name}: {other}"));
                }
                (Some((had, late)), other) => {
                    let what = names.event(&had, true, devices);
                    let late = late_words(late);
                    let then = match other {
                        None => "all others differ in time alone".to_owned(),
                        Some((first, other)) => {
                            let ms = clock.time_of(first.cycle).0 as f64 / 1e12;
                            format!("at {ms:.6} ms, hart {}: {other}", first.hart)
                        }
                    };
                    link(
                        About::Worker,
                        &had.event,
                        format!("{name}: {what}, {late}; {then}"),
                    );
                }
            }
        }
        for (who, lane) in &self.lanes {
            let (Who::Device(device), Some(other)) = (who, &lane.other) else {
                continue;
            };
            if other.both().any(|event| told.contains(&event)) {
                // The worker's own first one.
                continue;
            }
            let texts = other.events.iter().zip([true, false]).map(|(had, with)| {
                had.as_ref().map_or_else(
                    || "none".to_owned(),
                    |had| {
                        let name = names.of(&had.worker);
                        format!("{name} {}", names.event(had, with, &[]))
                    },
                )
            });
            let texts: Vec<String> = texts.collect();
            let name = devices.get(usize::from(*device)).map_or("", |name| name);
            let text = format!(
                "device {name}: {}; without the fault {}",
                texts[0], texts[1]
            );
            link(About::Device, other.first(), text);
        }
        chain.unchanged = unchanged;
        chain
    }
}

impl Names<'_> {
    /// What a worker does in place of what it does without the fault, in words.
    fn other(&mut self, other: &Other, devices: &[String]) -> String {
        let [now, usual] = &other.events;
        let mut words = |had: &Option<Had>, with| match had {
            Some(had) => self.event(had, with, devices),
            None => "none".to_owned(),
        };
        format!(
            "{}; without the fault {}",
            words(now, true),
            words(usual, false)
        )
    }

    /// An event in words, with its place.
    fn event(&mut self, had: &Had, with: bool, devices: &[String]) -> String {
        match had.event.kind {
            EventKind::Interrupt { interrupt, pc } => {
                let name = match interrupt.number {
                    2 => "interrupt of the guest: software".to_owned(),
                    6 => "interrupt of the guest: timer".to_owned(),
                    10 => "interrupt of the guest: device".to_owned(),
                    number => paths::Cause::Interrupt(number).to_string(),
                };
                format!("{name} at {}", self.place(with, &had.worker, pc))
            }
            EventKind::Exception {
                cause,
                pc,
                value,
                guest_physical,
                call,
            } => {
                let name = paths::Cause::of(cause, value, guest_physical, call);
                format!("{name} at {}", self.place(with, &had.worker, pc))
            }
            EventKind::Access {
                device,
                offset,
                write,
                value,
            } => {
                let does = if write { "writes" } else { "reads" };
                let of = devices.get(usize::from(device));
                let of = of.map(|device| format!(" of {device}"));
                format!("{does} {value:#x} at {offset:#x}{}", of.unwrap_or_default())
            }
            EventKind::PowerLoss => "the supply fails".to_owned(),
            EventKind::Turn(_) | EventKind::Probe { .. } => String::new(),
        }
    }
}

/// Goes on with both runs to `end`, and says how what the fault has done spreads. `row` is what is known of the run,
/// `registers` where registers first differ.
///
/// # Errors
/// There is no memory for a copy.
pub fn of(
    subject: &Subject,
    struck: &mut Struck,
    row: &Row,
    registers: Option<&Parting>,
    names: &mut Names<'_>,
    end: Femtoseconds,
) -> miette::Result<Chain> {
    let clock = struck.with.board().clock();
    let begin = struck.with.now();
    let read = read(struck, end)?;
    let mut pair = [struck.with.fork()?, struck.without.fork()?];
    let mut spread = Spread::begin(&pair, subject.boot().image.vms.len());
    for live in &mut pair {
        live.keep_events();
    }
    let mut now = begin;
    while now < end {
        now = now.saturating_add(LOOK).min(end);
        for (run, live) in pair.iter_mut().enumerate() {
            live.run(&Until::Time(now), None, &mut || true);
            spread.take(run, live.take_events());
        }
        spread.compare();
        spread.close(clock, Femtoseconds(now.0.saturating_sub(LOOK.0)));
    }
    spread.end(clock, end);
    let board = pair[1].board();
    let devices: Vec<String> = board.devices().map(|(name, ..)| name.to_owned()).collect();
    let mut chain = spread.links(clock, names, &devices);
    chain.links.push(Link {
        about: About::Effect,
        time: Femtoseconds(row.at),
        is_by: false,
        on: None,
        text: format!("the fault: {}", row.what),
    });
    let mut differs = registers.map(|parting| match parting.registers.first() {
        Some((name, now, usual)) => format!("{name} is {now:#x}, not {usual:#x}"),
        None => format!("without the fault at {}", parting.places[1]),
    });
    chain.is_unseen = struck.byte.is_some() && read.is_none();
    if let Some(read) = read {
        let (hart, cycle) = read.on;
        let is_there = registers.is_some_and(|parting| (parting.hart, parting.cycle) == read.on);
        let also = differs
            .take_if(|_| is_there)
            .map(|text| format!(": {text}"));
        let worker = Worker::Vm(read.vm);
        let place = names.place(true, &worker, read.pc);
        let does = if read.is_code {
            "executes what has changed at"
        } else {
            "has read what has changed, and is at"
        };
        let (name, also) = (names.of(&worker), also.unwrap_or_default());
        chain.links.push(Link {
            about: About::Worker,
            time: clock.time_of(cycle),
            is_by: false,
            on: Some((hart, cycle)),
            text: format!("{name} {does} {place}{also}"),
        });
    }
    if let Some((parting, differs)) = registers.zip(differs) {
        let [who, _] = &parting.who;
        let [place, _] = &parting.places;
        chain.links.push(Link {
            about: About::Worker,
            time: clock.time_of(parting.cycle),
            is_by: false,
            on: Some((parting.hart, parting.cycle)),
            text: format!("{who} is at {place}: {differs}"),
        });
    }
    // Of a vCPU that has missed something only its longest job is known.
    for (vcpu, seen) in subject.shown(&mut pair[0]).jobs {
        let begin = format!("{}: ", vcpu.name);
        for reason in row.reasons.iter().filter(|one| one.starts_with(&begin)) {
            chain.links.push(Link {
                about: About::Effect,
                time: clock.time_of(seen.released),
                is_by: false,
                on: None,
                text: format!("the longest job is released of {reason}"),
            });
        }
    }
    let [with, without] = &pair;
    for vm in 0..subject.boot().image.vms.len() {
        chain
            .links
            .extend(console(with, without, vm, subject.campaign().compare));
        chain.links.extend(log(with, without, vm, begin));
    }
    chain.shorten();
    Ok(chain)
}

/// A line that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    time: Femtoseconds,
    /// As [`Link::is_by`].
    is_by: bool,
    /// What is compared of it.
    compared: Vec<u8>,
    text: String,
}

/// The first line of `whose` that is another one, or that one of the two runs lacks.
fn first_other(whose: &str, now: &[Line], usual: &[Line]) -> Option<Link> {
    let compared = |lines: &[Line], line: usize| lines.get(line).map(|one| one.compared.clone());
    let mut lines = 0..now.len().max(usual.len());
    let line = lines.find(|&line| compared(now, line) != compared(usual, line))?;
    let (now, usual) = (now.get(line), usual.get(line));
    let text = match (now, usual) {
        (Some(now), Some(usual)) => format!("\"{}\" in place of \"{}\"", now.text, usual.text),
        (Some(now), None) => format!("\"{}\"; without the fault none", now.text),
        (None, usual) => format!("none; without the fault \"{}\"", usual?.text),
    };
    let first = now.or(usual)?;
    Some(Link {
        about: About::Effect,
        time: first.time,
        is_by: first.is_by,
        on: None,
        text: format!("{whose}: {text}"),
    })
}

/// The first whole line of a VM's console that is another one, or that is missing.
fn console(with: &Live, without: &Live, vm: usize, compare: Compare) -> Option<Link> {
    let lines = |live: &Live| -> Option<Vec<Line>> {
        let console = &live.journal().vms[vm].console;
        // Of a console whose beginning is not kept it is not known when which line came.
        (console.dropped() == 0).then(|| {
            let text = match compare {
                Compare::Exact => console.bytes().to_vec(),
                Compare::Text => without_figures(console.bytes()),
            };
            // The last line may be on its way, and has no time.
            let times = live.line_times()[vm].iter();
            let lines = text.split(|byte| *byte == b'\n').zip(times);
            let line = |(line, time): (&[u8], &Femtoseconds)| Line {
                time: *time,
                is_by: true,
                compared: line.to_vec(),
                text: shown(line),
            };
            lines.map(line).collect()
        })
    };
    let whose = format!("{}'s console", with.journal().vms[vm].name);
    first_other(&whose, &lines(with)?, &lines(without)?)
}

/// The first line of the hypervisor's log about a VM that is another one, but for its figures. The runs part at
/// `begin`.
fn log(with: &Live, without: &Live, vm: usize, begin: Femtoseconds) -> Option<Link> {
    let name = &with.journal().vms[vm].name;
    let lines = |live: &Live| -> Vec<Line> {
        let hz = u128::from(live.image().timebase_hz);
        let line = |(by, line): (Femtoseconds, &RecordLine)| {
            let (_, fields) = record::fields(&line.text);
            let field = |wanted: &str| {
                let found = fields.iter().find(|(key, _)| *key == wanted);
                found.map(|(_, value)| *value)
            };
            if line.source != Source::Log || field("vm") != Some(&**name) {
                return None;
            }
            // When power has failed, ticks count from there.
            let exact = field("time").and_then(record::parse_number).map(|ticks| {
                let time = u128::from(ticks) * u128::from(Femtoseconds::SECOND.0) / hz;
                Femtoseconds(time as u64)
            });
            let exact = exact.filter(|time| (begin..=by).contains(time));
            Some(Line {
                time: exact.unwrap_or(by),
                is_by: exact.is_none(),
                compared: without_figures(line.text.as_bytes()),
                text: shown(line.text.as_bytes()),
            })
        };
        live.records().filter_map(line).collect()
    };
    first_other("the hypervisor's log", &lines(with), &lines(without))
}

/// The first use of what a fault has changed.
struct Read {
    vm: usize,
    on: (usize, u64),
    pc: u64,
    is_code: bool,
}

/// Where a byte of a VM's memory that has changed is first executed or loaded, as long as the VM has it at its
/// guest-physical address; elsewhere it is not looked for.
fn read(struck: &mut Struck, end: Femtoseconds) -> miette::Result<Option<Read>> {
    let Some(byte) = struck.byte else {
        return Ok(None);
    };
    let mut live = struck.with.fork()?;
    let vms = live.image().vms.len();
    let board = live.board_mut();
    board.watch(byte.guest, 1, Watch::Reads);
    let first = byte
        .guest
        .saturating_sub(INSTRUCTION - 1)
        .next_multiple_of(2);
    for address in (first..=byte.guest).step_by(2) {
        board.stop_at(address);
    }
    for _ in 0..PASSED {
        let outcome = board.run(end);
        let (hart, is_code) = match outcome {
            Outcome::Breakpoint { hart, .. } => (hart, true),
            Outcome::Watchpoint { hart, .. } => (hart, false),
            _ => return Ok(None),
        };
        let pc = board.pc(hart);
        let is_own = Worker::of(board.doing(hart), vms) == Worker::Vm(byte.vm)
            && board.physical(hart, byte.guest) == Some(byte.address);
        let is_in = || {
            let mut low = [0];
            // The two lowest bits say how long an instruction is.
            let known = board.read_virtual(hart, pc, &mut low).is_ok();
            let length = if low[0] & 3 == 3 { INSTRUCTION } else { 2 };
            known && (pc..pc + length).contains(&byte.guest)
        };
        if is_own && (!is_code || is_in()) {
            return Ok(Some(Read {
                vm: byte.vm,
                on: (hart, board.cycle(hart)),
                pc,
                is_code,
            }));
        }
        if is_code {
            board.step(hart);
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tactus_board::account::Doing;
    use tactus_board::privileged::{Interrupt, Privilege, Target};

    fn clock() -> Clock {
        Clock::from_hertz(1_000_000_000)
    }

    fn event(cycle: u64, hart: u16, kind: EventKind) -> Event {
        Event {
            cycle,
            hart,
            stalls: Default::default(),
            lines: Default::default(),
            kind,
        }
    }

    fn turn(cycle: u64, hart: u16, guest: Option<u16>) -> Event {
        let on = Doing::Running {
            guest,
            privilege: Privilege::Supervisor,
        };
        event(cycle, hart, EventKind::Turn(on))
    }

    fn interrupt(cycle: u64, hart: u16, number: u8) -> Event {
        let target = Target::Supervisor;
        let interrupt = Interrupt { number, target };
        event(
            cycle,
            hart,
            EventKind::Interrupt {
                interrupt,
                pc: cycle,
            },
        )
    }

    fn write(cycle: u64, hart: u16, value: u64) -> Event {
        let kind = EventKind::Access {
            device: 0,
            offset: 8,
            write: true,
            value,
        };
        event(cycle, hart, kind)
    }

    fn spread() -> Spread {
        Spread {
            vms: 2,
            workers: [(); 2].map(|()| vec![Worker::Vm(0), Worker::Hypervisor]),
            lanes: BTreeMap::new(),
        }
    }

    fn lane(spread: &Spread, worker: Worker, hart: u16) -> &Lane {
        &spread.lanes[&Who::Worker(worker, hart)]
    }

    #[test]
    fn the_first_event_that_differs_is_found_for_each() {
        let mut spread = spread();
        // VM 0 is late from its second event on; the third is another one. The hypervisor on hart 1 turns to VM 1.
        let with = vec![
            interrupt(10, 0, 5),
            interrupt(25, 0, 5),
            interrupt(40, 0, 9),
            interrupt(50, 0, 1),
            write(11, 1, 7),
            turn(12, 1, Some(2)),
            interrupt(13, 1, 5),
        ];
        let without = vec![
            interrupt(10, 0, 5),
            interrupt(20, 0, 5),
            interrupt(30, 0, 5),
            write(11, 1, 6),
            turn(12, 1, Some(2)),
            interrupt(13, 1, 5),
        ];
        spread.take(0, with);
        spread.take(1, without);
        spread.compare();
        let first = lane(&spread, Worker::Vm(0), 0);
        let (had, late) = first.late.as_ref().expect("it is late");
        assert_eq!((had.event.cycle, *late, first.lag), (25, 5, 5));
        let other = first.other.as_ref().expect("it differs");
        let cycles = other
            .events
            .each_ref()
            .map(|had| had.as_ref().map(|had| had.event.cycle));
        assert_eq!(cycles, [Some(40), Some(30)]);
        assert_eq!(other.first().cycle, 30);
        assert!(first.open.iter().all(VecDeque::is_empty));
        let hypervisor = lane(&spread, Worker::Hypervisor, 1).other.as_ref();
        assert_eq!(hypervisor.map(|other| other.first().cycle), Some(11));
        assert!(spread.lanes[&Who::Device(0)].other.is_some());
        let same = lane(&spread, Worker::Vm(1), 1);
        assert!(same.late.is_none() && same.other.is_none());
    }

    #[test]
    fn what_only_one_run_has_differs_if_the_other_had_time_for_it() {
        let mut spread = spread();
        spread.take(0, vec![interrupt(10, 0, 5), interrupt(200, 0, 5)]);
        spread.take(1, vec![interrupt(4, 0, 5)]);
        spread.compare();
        spread.close(clock(), clock().time_of(200));
        assert!(lane(&spread, Worker::Vm(0), 0).other.is_none());
        // As late as the one before, the other run would have it behind the end.
        let end = |cycle| {
            let mut spread = Spread {
                lanes: spread.lanes.clone(),
                ..self::spread()
            };
            spread.end(clock(), clock().time_of(cycle));
            spread.lanes[&Who::Worker(Worker::Vm(0), 0)].other.is_some()
        };
        assert_eq!([200, 206, 207].map(end), [false, false, true]);
        spread.close(clock(), clock().time_of(201));
        let other = lane(&spread, Worker::Vm(0), 0).other.as_ref();
        let events = &other.expect("it differs").events;
        assert!(events[0].is_some() && events[1].is_none());
    }

    #[test]
    fn the_first_other_line_is_told() {
        let line = |time, text: &str| Line {
            time: Femtoseconds(time),
            is_by: true,
            compared: without_figures(text.as_bytes()),
            text: text.to_owned(),
        };
        let usual = [line(1, "a 1"), line(2, "b")];
        let text = |now: &[Line]| {
            let link = first_other("it", now, &usual);
            link.map(|link| (link.time.0, link.text))
        };
        assert_eq!(text(&[line(3, "a 7"), line(9, "b")]), None);
        let other = text(&[line(3, "a 7"), line(4, "c")]);
        assert_eq!(other, Some((4, "it: \"c\" in place of \"b\"".to_owned())));
        let short = text(&[line(3, "a 7")]);
        assert_eq!(
            short,
            Some((2, "it: none; without the fault \"b\"".to_owned()))
        );
        let long = text(&[usual[0].clone(), usual[1].clone(), line(5, "c")]);
        assert_eq!(
            long,
            Some((5, "it: \"c\"; without the fault none".to_owned()))
        );
    }

    #[test]
    fn of_too_many_links_those_of_devices_go_first() {
        let link = |about, time| Link {
            about,
            time: Femtoseconds(time),
            is_by: false,
            on: None,
            text: String::new(),
        };
        let mut chain = Chain::default();
        for time in 0..8 {
            for about in [About::Device, About::Effect] {
                chain.links.push(link(about, 10 - time));
            }
        }
        chain.shorten();
        assert_eq!((chain.links.len(), chain.more), (LINKS, 4));
        assert!(chain.links.is_sorted_by_key(|link| link.time));
        let devices = chain
            .links
            .iter()
            .filter(|link| link.about == About::Device);
        let times: Vec<u64> = devices.map(|link| link.time.0).collect();
        assert_eq!(times, [3, 4, 5, 6]);
    }
}
