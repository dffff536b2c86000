//! What a run's report shows over time: who has each hart, interrupts, exceptions, accesses to devices, requests to
//! accelerators, and the lines of all consoles, each with its time.
//!
//! Memory is bounded ([`bound`]). Of what exceeds a bound the last part is kept; the shares of the harts over the whole
//! run are kept in every case, in ever wider bins. Nothing is added to the run for it.

use std::collections::VecDeque;

use tactus_accelerators::INTERFACES;
use tactus_board::privileged::{Exception, Target};
use tactus_board::time::{Clock, Femtoseconds};
use tactus_board::trace::{Event, EventKind};

use super::{Options, Worker};
use crate::run::console::{Line, Source};

/// What is kept at least of each kind, and twice that at most; of lines at most this.
pub mod bound {
    /// Changes of who has a hart, of each hart.
    pub const TURNS: usize = 1 << 19;
    /// Interrupts and exceptions, of each hart.
    pub const TRAPS: usize = 1 << 18;
    /// Accesses to devices.
    pub const ACCESSES: usize = 1 << 18;
    /// Requests to accelerators and configurations of regions.
    pub const REQUESTS: usize = 1 << 17;
    /// Bytes of the lines of consoles.
    pub const LINE_BYTES: usize = 8 << 20;
    /// Characters of a line.
    pub const LINE: usize = 4096;
    /// Bins of the whole run.
    pub const BINS: usize = 2048;
    /// Different workers.
    pub const WORKERS: usize = 100;
}

/// Registers of the design for shared accelerators (`docs/src/reference/regions.md`), as bytes from the fabric's port
/// on.
mod register {
    pub const PAGE: u64 = 0x1000;
    /// The configuration port's `TARGET`, and the bit that begins a configuration.
    pub const TARGET: u64 = 0x1014;
    pub const GO: u64 = 1 << 31;
    /// The configuration port's `INTERRUPT`.
    pub const PORT_INTERRUPT: u64 = 0x1024;
    /// The first virtual device; one each page.
    pub const FIRST_DEVICE: u64 = 0x1_0000;
    /// A virtual device's `CONTROL`, and the two ways to read the cycles of its result.
    pub const CONTROL: u64 = 0x08;
    pub const RESULT: u64 = 0x20;
    pub const RESULT_CYCLES: u64 = 0x24;
}

/// The last of a sequence that may be longer than what is kept.
#[derive(Clone, Debug)]
pub struct Last<T> {
    kept: Vec<T>,
    bound: usize,
    dropped: u64,
}

impl<T> Last<T> {
    /// Keeps at least `bound` items, and at most twice as many.
    fn new(bound: usize) -> Self {
        Self {
            kept: Vec::new(),
            bound,
            dropped: 0,
        }
    }

    fn push(&mut self, item: T) {
        // Twice the bound before half is dropped, so that an item costs constant time.
        if self.kept.len() >= 2 * self.bound {
            self.kept.drain(..self.bound);
            self.dropped += self.bound as u64;
        }
        self.kept.push(item);
    }

    /// What is kept, oldest first.
    pub fn kept(&self) -> &[T] {
        &self.kept
    }

    /// How many came before what is kept.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

/// From a cycle on, a worker has a hart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The cycle.
    pub cycle: u64,
    /// The worker, as an index into [`Timeline::workers`].
    pub worker: u8,
}

/// An interrupt or an exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trap {
    /// The cycle.
    pub cycle: u64,
    /// The cause's number.
    pub cause: u8,
    /// The mode that took an interrupt; `None` for an exception.
    pub interrupt: Option<Target>,
}

/// An access to a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The cycle.
    pub cycle: u64,
    /// The device, as an index into [`Timeline::devices`].
    pub device: u16,
    /// The hart.
    pub hart: u16,
    /// The register.
    pub offset: u32,
    /// Whether it was written.
    pub write: bool,
}

/// What an accelerator or the configuration port did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The first cycle.
    pub from: u64,
    /// The last cycle.
    pub to: u64,
    /// Whose.
    pub of: Requested,
}

/// Whose request it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requested {
    /// An interface: from a VM's start of its accelerator until it read the result last.
    Interface(u8),
    /// The configuration port: while it configures this region.
    Region(u8),
}

/// A line of a console.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedLine {
    /// The cycle by which it had come out whole.
    pub cycle: u64,
    /// Who wrote it.
    pub source: Source,
    /// Its begin.
    pub text: String,
    /// Characters left out at its end.
    pub cut: usize,
}

/// The last lines, within a number of bytes.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    kept: VecDeque<TimedLine>,
    bytes: usize,
    dropped: u64,
}

impl Lines {
    fn push(&mut self, line: TimedLine) {
        self.bytes += line.size();
        self.kept.push_back(line);
        while self.bytes > bound::LINE_BYTES
            && let Some(first) = self.kept.pop_front()
        {
            self.bytes -= first.size();
            self.dropped += 1;
        }
    }

    /// What is kept, oldest first.
    pub fn kept(&self) -> impl Iterator<Item = &TimedLine> {
        self.kept.iter()
    }

    /// How many came before what is kept.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

impl TimedLine {
    /// The memory that it takes.
    fn size(&self) -> usize {
        size_of::<Self>() + self.text.capacity()
    }
}

/// The shares of a hart over the whole run.
#[derive(Clone, Debug)]
pub struct Overview {
    /// Cycles of a bin, a power of two.
    pub width: u64,
    /// By bin, the cycles of each worker.
    pub bins: Vec<Vec<u64>>,
}

impl Overview {
    fn new() -> Self {
        Self {
            width: 1 << 10,
            bins: Vec::new(),
        }
    }

    fn add(&mut self, worker: usize, from: u64, to: u64) {
        while to > self.width * bound::BINS as u64 {
            self.widen();
        }
        let mut at = from;
        // At most as many rounds as there are bins.
        while at < to {
            let bin = (at / self.width) as usize;
            let end = ((bin as u64 + 1) * self.width).min(to);
            if self.bins.len() <= bin {
                self.bins.resize(bin + 1, Vec::new());
            }
            let shares = &mut self.bins[bin];
            if shares.len() <= worker {
                shares.resize(worker + 1, 0);
            }
            shares[worker] += end - at;
            at = end;
        }
    }

    fn widen(&mut self) {
        self.width *= 2;
        let pairs = std::mem::take(&mut self.bins);
        let mut pairs = pairs.into_iter();
        while let Some(mut first) = pairs.next() {
            let second = pairs.next().unwrap_or_default();
            first.resize(first.len().max(second.len()), 0);
            for (sum, share) in first.iter_mut().zip(&second) {
                *sum += share;
            }
            self.bins.push(first);
        }
    }
}

/// One hart over time.
#[derive(Clone, Debug)]
pub struct HartLine {
    /// Who has it.
    pub turns: Last<Turn>,
    /// Its interrupts, and the exceptions that a guest does not handle by itself.
    pub traps: Last<Trap>,
    /// Exceptions within a guest (system calls, page faults): only counted.
    pub inner_exceptions: u64,
    /// Its shares over the whole run.
    pub overview: Overview,
    now: Turn,
}

/// A run over time.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// The harts.
    pub harts: Vec<HartLine>,
    /// Everyone who had a hart; turns refer to them.
    pub workers: Vec<Worker>,
    /// The devices' names.
    pub devices: Vec<String>,
    /// Accesses to devices.
    pub accesses: Last<Access>,
    /// Requests to accelerators.
    pub requests: Last<Request>,
    /// What each interface is called.
    pub interfaces: Vec<(u8, String)>,
    /// Lines of consoles.
    pub lines: Lines,
    /// The last cycle.
    pub end: u64,
    clock: Clock,
    fabric: Option<u16>,
    /// When each interface was started, and when its result was read last.
    asked: [Option<(u64, Option<u64>)>; INTERFACES],
    configuring: Option<(u8, u64)>,
}

impl Timeline {
    /// A run of that many harts that has not begun. `interfaces` are the accelerators' interfaces in the fabric and
    /// what they are called.
    pub(super) fn new(
        harts: usize,
        devices: &[&str],
        options: &Options,
        interfaces: Vec<(u8, String)>,
    ) -> Self {
        let now = Turn {
            cycle: 0,
            worker: 0,
        };
        let mut turns = Last::new(bound::TURNS);
        turns.push(now);
        let hart = HartLine {
            turns,
            traps: Last::new(bound::TRAPS),
            inner_exceptions: 0,
            overview: Overview::new(),
            now,
        };
        let fabric = devices
            .iter()
            .position(|name| *name == crate::fabric::DEVICE)
            .filter(|_| !interfaces.is_empty());
        Self {
            harts: vec![hart; harts],
            workers: vec![Worker::Firmware],
            devices: devices.iter().map(|name| (*name).to_owned()).collect(),
            accesses: Last::new(bound::ACCESSES),
            requests: Last::new(bound::REQUESTS),
            interfaces,
            lines: Lines::default(),
            end: 0,
            clock: Clock::from_hertz(options.profile.clock_hz),
            fabric: fabric.map(|place| place as u16),
            asked: [None; INTERFACES],
            configuring: None,
        }
    }

    fn worker(&mut self, worker: &Worker) -> u8 {
        let known = self.workers.iter().position(|known| known == worker);
        let index = known.unwrap_or_else(|| {
            // Guests without a VM of the system are all that there can be so many of.
            if self.workers.len() < bound::WORKERS {
                self.workers.push(worker.clone());
            }
            self.workers.len() - 1
        });
        index as u8
    }

    /// Something happened to a hart.
    pub(super) fn event(&mut self, event: &Event, vms: usize) {
        let (cycle, index) = (event.cycle, usize::from(event.hart));
        match event.kind {
            EventKind::Turn(doing) => {
                let worker = self.worker(&Worker::of(doing, vms));
                let Some(hart) = self.harts.get_mut(index) else {
                    return;
                };
                if hart.now.worker != worker {
                    hart.overview
                        .add(hart.now.worker.into(), hart.now.cycle, cycle);
                    hart.now = Turn { cycle, worker };
                    hart.turns.push(hart.now);
                }
            }
            EventKind::Interrupt { interrupt, .. } => {
                if let Some(hart) = self.harts.get_mut(index) {
                    hart.traps.push(Trap {
                        cycle,
                        cause: interrupt.number,
                        interrupt: Some(interrupt.target),
                    });
                }
            }
            EventKind::Exception { cause, .. } => {
                let Some(hart) = self.harts.get_mut(index) else {
                    return;
                };
                if is_inner(cause) {
                    hart.inner_exceptions += 1;
                } else {
                    hart.traps.push(Trap {
                        cycle,
                        cause: cause as u8,
                        interrupt: None,
                    });
                }
            }
            EventKind::Access {
                device,
                offset,
                write,
                value,
            } => {
                self.accesses.push(Access {
                    cycle,
                    device,
                    hart: event.hart,
                    offset: offset as u32,
                    write,
                });
                if self.fabric == Some(device) {
                    self.accelerators(cycle, offset, write, value);
                }
            }
            EventKind::Probe { .. } | EventKind::PowerLoss => {}
        }
    }

    /// An access to the fabric: whether it begins or ends something of an accelerator.
    fn accelerators(&mut self, cycle: u64, offset: u64, write: bool, value: u64) {
        match (offset, write) {
            (register::TARGET, true) if value & register::GO != 0 => {
                self.configuring = Some(((value & 7) as u8, cycle));
            }
            (register::PORT_INTERRUPT, true) => {
                if let Some((region, from)) = self.configuring.take() {
                    self.requests.push(Request {
                        from,
                        to: cycle,
                        of: Requested::Region(region),
                    });
                }
            }
            (register::FIRST_DEVICE.., _) => {
                let interface = ((offset - register::FIRST_DEVICE) / register::PAGE) as usize;
                let Some(asked) = self.asked.get_mut(interface) else {
                    return;
                };
                match (offset % register::PAGE, write) {
                    (register::CONTROL, true) if value & 1 != 0 => {
                        // A guest may look for a result more than once: the last time counts.
                        if let Some((from, Some(to))) = *asked {
                            self.requests.push(Request {
                                from,
                                to,
                                of: Requested::Interface(interface as u8),
                            });
                            *asked = None;
                        }
                        asked.get_or_insert((cycle, None));
                    }
                    (register::RESULT | register::RESULT_CYCLES, false) => {
                        if let Some((_, to)) = asked {
                            *to = Some(cycle);
                        }
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// A line of a console was complete by `time`.
    pub(super) fn line(&mut self, time: Femtoseconds, line: &Line) {
        let text = line.text();
        let kept: String = text.chars().take(bound::LINE).collect();
        self.lines.push(TimedLine {
            cycle: self.clock.cycle_at(time),
            source: line.source,
            cut: text.chars().skip(bound::LINE).count(),
            text: kept,
        });
    }

    /// The run is over.
    pub(super) fn finish(&mut self, time: Femtoseconds) {
        self.end = self.clock.cycle_at(time);
        for hart in &mut self.harts {
            let now = hart.now;
            hart.overview
                .add(now.worker.into(), now.cycle, self.end.max(now.cycle));
        }
        // What is still wanted has been wanted until now.
        for (interface, asked) in self.asked.iter_mut().enumerate() {
            if let Some((from, to)) = asked.take() {
                self.requests.push(Request {
                    from,
                    to: to.unwrap_or(self.end),
                    of: Requested::Interface(interface as u8),
                });
            }
        }
    }
}

/// Whether an exception is one that a guest takes by itself: those of its user level.
const fn is_inner(cause: Exception) -> bool {
    matches!(
        cause,
        Exception::UserEnvironmentCall
            | Exception::InstructionPageFault
            | Exception::LoadPageFault
            | Exception::StorePageFault
            | Exception::Breakpoint
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline(interfaces: Vec<(u8, String)>) -> Timeline {
        let profile =
            tactus_board::profile::Profile::named("mpsoc").expect("it comes with the board");
        Timeline::new(
            1,
            &["uart", crate::fabric::DEVICE],
            &Options::new(profile),
            interfaces,
        )
    }

    #[test]
    fn the_last_is_kept_and_the_rest_counted() {
        let mut last = Last::new(4);
        for number in 0..1000 {
            last.push(number);
        }
        assert!((4..=8).contains(&last.kept().len()));
        assert_eq!(last.kept().last(), Some(&999));
        assert_eq!(last.dropped() + last.kept().len() as u64, 1000);
    }

    #[test]
    fn the_overview_loses_no_cycle() {
        let mut overview = Overview::new();
        let mut at = 0;
        let mut sums = [0, 0];
        for step in 0..5000_u64 {
            let length = step * 7919 % 100_003;
            overview.add((step % 2) as usize, at, at + length);
            sums[(step % 2) as usize] += length;
            at += length;
        }
        assert!(overview.bins.len() <= bound::BINS);
        for (worker, sum) in sums.into_iter().enumerate() {
            let all = overview.bins.iter().filter_map(|bin| bin.get(worker));
            assert_eq!(all.sum::<u64>(), sum);
        }
        let full = overview.bins.len() - 1;
        let whole = overview.bins[..full].iter();
        assert!(
            whole
                .map(|bin| bin.iter().sum::<u64>())
                .all(|sum| sum == overview.width)
        );
    }

    #[test]
    fn a_request_lasts_until_its_result_is_read() {
        let mut timeline = timeline(vec![(1, "fft512 of rt".to_owned())]);
        let device = register::FIRST_DEVICE + register::PAGE;
        timeline.accelerators(10, device + register::CONTROL, true, 1);
        timeline.accelerators(12, register::TARGET, true, register::GO | 2);
        timeline.accelerators(20, device + register::RESULT, false, 5);
        timeline.accelerators(25, register::PORT_INTERRUPT, true, 1);
        timeline.accelerators(30, device + register::RESULT, false, 7 << 32);
        timeline.accelerators(40, device + register::CONTROL, true, 1);
        timeline.finish(Femtoseconds(Femtoseconds::SECOND.0 / 1_000_000));
        let requests = [
            (12, 25, Requested::Region(2)),
            (10, 30, Requested::Interface(1)),
            (40, 100, Requested::Interface(1)),
        ];
        let expected = requests.map(|(from, to, of)| Request { from, to, of });
        assert_eq!(timeline.requests.kept(), expected);
    }

    #[test]
    fn a_long_line_is_cut_and_says_so() {
        let mut timeline = timeline(Vec::new());
        let line = Line {
            source: Source::Log,
            bytes: vec![b'x'; bound::LINE + 5],
            complete: true,
        };
        timeline.line(Femtoseconds(0), &line);
        let kept = timeline.lines.kept().next().expect("it is kept");
        assert_eq!((kept.text.len(), kept.cut), (bound::LINE, 5));
        for _ in 0..3 * bound::LINE_BYTES / bound::LINE {
            timeline.line(Femtoseconds(0), &line);
        }
        assert!(timeline.lines.dropped() > 0);
        assert!(timeline.lines.bytes <= bound::LINE_BYTES);
    }

    /// As `docs/src/reference/running.md` says.
    #[test]
    fn a_record_of_two_harts_has_at_most_80_mebibytes() {
        let harts = 2 * (bound::TURNS * size_of::<Turn>() + bound::TRAPS * size_of::<Trap>());
        let shares = bound::BINS * bound::WORKERS * size_of::<u64>();
        let others = bound::ACCESSES * size_of::<Access>() + bound::REQUESTS * size_of::<Request>();
        let most = 2 * (harts + others + shares) + bound::LINE_BYTES;
        assert!(most <= 80 << 20, "{most}");
    }
}
