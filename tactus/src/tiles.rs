//! Systems of tiles: the many-core board (`docs/src/reference/board.md`, "Tiles"), with a VM of its own on each tile.
//!
//! There is no hypervisor in software. What a VM may use is written once, before any of them begins, into the I/O
//! hypervisor's and the timed I/O's own pages of the design `manycore`, which no tile reaches.

mod command;
mod requests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tactus_board::board::BuildError;
use tactus_board::bus::{self, Refused};
use tactus_board::fabric::{Model, ModelError, Waves};
use tactus_board::profile::Profile;
use tactus_board::setup::{self, BootError, Options};
use tactus_board::tiles::{self as board, Ended};
use tactus_board::time::Clock;

use crate::config::IoPolicy;
use crate::io_bounds::{Mesh, Port, Shared, Way};
use crate::plan;
use crate::report::unit::Unit;
use crate::run::console::{Carriage, Consoles, Line, Piece, Source};
use crate::run::ends;
use crate::run::journal::{Journal, Metric, Off, VmJournal};
use crate::run::machine::End;
use crate::run::record::OffReason;
use crate::run::session::{self, Ending, Stop, Watcher};

pub(crate) use command::run as command;
pub use requests::Request;

/// The profile of the board.
const PROFILE: &str = "manycore";
/// Pages of the design, in bytes from the start of its general-purpose port.
const MANAGER: u32 = 0x0000;
const TIMED_MANAGER: u32 = 0x1000;
const COUNTERS: u32 = 0x2000;
/// Registers of `fabric/regs/mesh_manager.rdl`, of its ports, of `timed_io_manager.rdl` and of `mesh_counters.rdl`.
const POLICY: u32 = 0x08;
const READER: u32 = 0x0c;
const PORT: u32 = 0x100;
const PORT_SIZE: u32 = 0x40;
const PINS: u32 = 0x100;
const FLITS: [u32; 2] = [0x8, 0xc];
const OWNED: u32 = 1 << 31;
/// Bytes of a sector of the flash.
const SECTOR: u64 = 4096;
/// Cycles from one look at the consoles to the next.
const LOOK: u64 = 10_000;

/// What there is on all tiles.
#[derive(Clone, Debug)]
pub struct System {
    /// The fabric's model: of `manycore`, or of `manycore_baseline`, which gives nothing to anybody.
    pub model: PathBuf,
    /// Whose request each device of the I/O hypervisor takes next: UART, flash, VGA, Ethernet. `None`: the design has
    /// no I/O hypervisor and no timed I/O, and so nothing to give.
    pub policies: Option<[IoPolicy; 4]>,
    /// The tile that has what comes to the UART.
    pub reader: Option<usize>,
    /// The tiles that have software.
    pub tiles: Vec<Tile>,
    /// What is watched at the ends of the fabric's wires.
    pub ends: ends::Watched,
    /// Waveforms of the fabric that are to be written.
    pub waves: Option<Waves>,
}

impl System {
    /// A checked one, with its design's model.
    pub fn of(checked: &plan::Tiles, model: PathBuf) -> Self {
        let tile = |tile: &plan::Tile| Tile {
            number: tile.number as usize,
            name: tile.vm.clone(),
            image: tile.image.clone(),
            arguments: tile.bootargs.clone(),
            given: Given::of(tile),
            measured: true,
        };
        Self {
            model,
            policies: checked.policies,
            reader: checked.reader.map(|tile| tile as usize),
            tiles: checked.tiles.iter().map(tile).collect(),
            ends: ends::Watched::default(),
            waves: None,
        }
    }

    /// A tile whose requests are compared with their bounds.
    fn measured(&self, number: usize) -> Option<&Tile> {
        let mut tiles = self.tiles.iter();
        tiles.find(|tile| tile.number == number && tile.measured)
    }

    /// What bounds how long requests take. `None`: nothing is shared.
    fn shared(&self) -> Option<Shared> {
        let port = |tile: &Tile| {
            let port = Port {
                uart: tile.given.uart.then_some(self.reader == Some(tile.number)),
                flash: tile.given.flash.map(|(.., writable)| writable),
                window: tile
                    .given
                    .window
                    .map(|[.., width, height]| u64::from(width * height)),
                ethernet: tile.given.station.is_some(),
            };
            (tile.number, port)
        };
        let mut ports: Vec<_> = self.tiles.iter().map(port).collect();
        ports.sort_by_key(|(number, _)| *number);
        let tiles: Vec<usize> = ports.iter().map(|(number, _)| *number).collect();
        Some(Shared {
            policies: self.policies?,
            way: Way::Mesh(Mesh::of(&tiles)),
            ports,
        })
    }
}

/// A tile with software.
#[derive(Clone, Debug)]
pub struct Tile {
    /// Which, 0 to 15.
    pub number: usize,
    /// What its VM is called.
    pub name: String,
    /// An ELF file.
    pub image: Vec<u8>,
    /// What it is told: words `key=value`.
    pub arguments: String,
    /// What of the devices it is given.
    pub given: Given,
    /// Whether its requests are compared with their bounds. Those of software that sends a packet while another is
    /// being sent, which the interface refuses, can't be told from those that were sent.
    pub measured: bool,
}

/// What a tile is given of the devices behind the I/O hypervisor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// It may write to the UART.
    pub uart: bool,
    /// Its area of the flash: the first sector of 4 KiB, how many, and whether it may write.
    pub flash: Option<(u32, u32, bool)>,
    /// Its window of the display: X, Y, width and height.
    pub window: Option<[u32; 4]>,
    /// Its Ethernet address.
    pub station: Option<[u8; 6]>,
    /// Its pins of timed I/O, a bit each.
    pub pins: u32,
    /// The tiles that it may send messages to, a bit each.
    pub reach: u16,
}

impl Given {
    /// What the images of `guests/manycore` take for granted: everything but pins, for each tile an area of 16 KiB, a
    /// window of 80 x 60 pixels and an address.
    pub fn usual(number: usize) -> Self {
        let index = number as u32;
        Self {
            uart: true,
            flash: Some((4 * index, 4, true)),
            window: Some([80 * (index % 4), 60 * (index / 4), 80, 60]),
            station: Some([2, 0, 0, 0, 0, number as u8]),
            pins: 0,
            reach: 0,
        }
    }

    /// What a description gives.
    fn of(tile: &plan::Tile) -> Self {
        let pins = tile.pins.iter().fold(0, |pins, pin| pins | 1 << pin);
        let others = tile.talks_to.iter();
        let reach = others.fold(0, |reach, other| reach | 1 << other);
        let Some(port) = &tile.port else {
            return Self {
                pins,
                reach,
                ..Self::default()
            };
        };
        let sector = |address: u64| (address / SECTOR) as u32;
        Self {
            uart: port.uart,
            flash: port.flash.map(|area| {
                let extent = area.extent;
                (sector(extent.start), sector(extent.size()), area.writable)
            }),
            window: port.window.map(|window| {
                let (x, y) = (window.x, window.y);
                [x.start, y.start, x.size(), y.size()].map(|value| value as u32)
            }),
            station: port.station.map(|station| station.0),
            pins,
            reach,
        }
    }
}

/// Why a system of tiles could not run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The model can't be loaded.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// There is no such board.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A VM's software does not fit.
    #[error("VM `{name}`: {reason}")]
    Boot {
        /// The VM.
        name: String,
        /// What is wrong.
        reason: BootError,
    },
    /// The design does not take what is given.
    #[error("the design refuses register {0:#x} of its configuration: it is another one")]
    Configuration(u32),
    /// The waveforms' file can't be written.
    #[error("the waveforms could not be written: {0}")]
    Waves(String),
}

/// When a run ends, if not by itself.
#[derive(Clone, Debug)]
pub struct Limits {
    /// After so many cycles from reset.
    pub cycles: u64,
    /// After so much host time.
    pub host_limit: Option<Duration>,
    /// When this one of the system's tiles is off.
    pub until: Option<usize>,
    /// When this is used.
    pub stop: Stop,
    /// The virtual time of the run in femtoseconds, which the run keeps up to date for others to read.
    pub now: Arc<AtomicU64>,
}

impl Limits {
    /// After so many cycles, and no sooner.
    pub fn cycles(cycles: u64) -> Self {
        Self {
            cycles,
            host_limit: None,
            until: None,
            stop: Stop::default(),
            now: Arc::default(),
        }
    }
}

/// A run that is over.
#[derive(Debug)]
pub struct Outcome {
    /// Why.
    pub ending: Ending,
    /// What was seen of the tiles, as the system lists them.
    pub journal: Journal,
    /// Host time that it took.
    pub host_time: Duration,
    /// Flits that came over the mesh to a place.
    pub flits: u64,
    /// The requests to the I/O hypervisor that were answered.
    pub requests: Vec<Request>,
    /// What was seen at the ends of the fabric's wires.
    pub ends: ends::Seen,
    /// The same number, the same run.
    pub trace_hash: u64,
}

impl Outcome {
    /// Whether every tile went off in good order, and none of its own checks failed.
    pub fn is_good(&self) -> bool {
        self.ending == Ending::Machine(End::Off) && self.journal.vms.iter().all(|vm| !vm.failed())
    }

    /// The requests that took longer than their bounds, and these, in cycles. What is not bounded is not late.
    pub fn late(&self, system: &System) -> Vec<(Request, u64)> {
        let Some(shared) = system.shared() else {
            return Vec::new();
        };
        let late = |request: &Request| {
            let kind = request.kind(&system.measured(request.tile)?.given)?;
            let bound = shared.bound(request.tile, kind)?;
            (request.waited() > bound).then_some((*request, bound))
        };
        self.requests.iter().filter_map(late).collect()
    }

    /// All that the tiles printed, for a message.
    pub fn text(&self) -> String {
        let text =
            |vm: &VmJournal| format!("== {} ({:?})\n{}\n", vm.name, vm.off, vm.console.text());
        self.journal.vms.iter().map(text).collect()
    }

    /// As that of a machine, with one VM more, [`ALL`], of which the figures of all tiles are: of what each of them has
    /// reported as `X_min`, `X_mean` and `X_max`, `X_min`, `X_mean`, `X_max`, how far `X_max` is from `X_min` as
    /// `X_variation`, the mean as one of so many tiles has it as `X_share`, that of the slowest as `X_slowest_share`;
    /// the longest `X_total`; `flits`; how many `io_requests` were answered and how many of them were `io_late`; and,
    /// where frames were watched, `frame_loss`, what one takes beside its time on the wire. And what was seen at the
    /// ends of the wires.
    pub fn as_of_a_machine(mut self, system: &System) -> (session::Outcome, ends::Seen) {
        let mut metrics = together(&self.journal.vms);
        let measured = self.requests.iter();
        let measured = measured.filter(|request| system.measured(request.tile).is_some());
        let count = |value: u64| Metric {
            value: value as f64,
            unit: Unit::Count,
        };
        let lost = frame_loss(&self.ends.frames).map(|value| Metric {
            value,
            unit: Unit::Cycles,
        });
        let late = self.late(system).len() as u64;
        for (name, metric) in [
            ("flits", Some(count(self.flits))),
            ("io_requests", Some(count(measured.count() as u64))),
            ("io_late", Some(count(late))),
            ("frame_loss", lost),
        ] {
            metrics.extend(metric.map(|metric| (name.to_owned(), metric)));
        }
        let mut all = Journal::new(&[ALL], 1).vms;
        all[0].metrics = metrics;
        self.journal.vms.append(&mut all);
        let seen = std::mem::take(&mut self.ends);
        (self.into_session(), seen)
    }

    /// As what other parts of the tool know of a run.
    fn into_session(self) -> session::Outcome {
        session::Outcome::without_hypervisor(self.journal, self.ending, self.host_time)
    }
}

/// The VM that figures of all tiles are of.
pub const ALL: &str = "all";

/// How many tiles, at least, still have frames to send while the wire is taken for busy: more than it takes to keep it
/// so.
const SENDERS: usize = 4;
/// Cycles that a frame's preamble, check sequence and the gap behind it take on the wire (IEEE 802.3, 3.1.1 and 4.4.2).
const AROUND: u64 = 8 + 4 + 12;

/// Of frames that were sent one behind the other: how many cycles one takes more than its time on the wire, the mean.
/// `None`: there were not [`SENDERS`] at a time.
fn frame_loss(frames: &[(u64, Vec<u8>)]) -> Option<f64> {
    let source = |frame: &[u8]| frame.get(6..12).map(<[u8]>::to_vec);
    let (mut left, mut lost, mut number) = (BTreeSet::new(), 0, 0_u32);
    for pair in frames.windows(2).rev() {
        let [(began, frame), (next, following)] = pair else {
            continue;
        };
        left.extend(source(following));
        if left.len() >= SENDERS {
            lost += next - began - (frame.len() as u64 + AROUND);
            number += 1;
        }
    }
    (number > 0).then(|| lost as f64 / f64::from(number))
}

/// What [`Outcome::as_of_a_machine`] says.
fn together(vms: &[VmJournal]) -> BTreeMap<String, Metric> {
    let mut all = BTreeMap::new();
    let names = vms.iter().flat_map(|vm| vm.metrics.keys());
    let bases: BTreeSet<&str> = names
        .filter_map(|name| name.strip_suffix("_mean"))
        .collect();
    for base in bases {
        let values = |what: &str| -> Vec<Metric> {
            let name = format!("{base}_{what}");
            vms.iter()
                .filter_map(|vm| vm.metrics.get(&name).copied())
                .collect()
        };
        let [min, mean, max] = ["min", "mean", "max"].map(values);
        let Some(unit) = mean.first().map(|metric| metric.unit) else {
            continue;
        };
        let fold = |metrics: &[Metric], start: f64, of: fn(f64, f64) -> f64| {
            metrics.iter().map(|metric| metric.value).fold(start, of)
        };
        let number = mean.len() as f64;
        let least = fold(&min, f64::MAX, f64::min);
        let greatest = fold(&max, 0.0, f64::max);
        let average = fold(&mean, 0.0, |sum, value| sum + value) / number;
        let slowest = fold(&mean, 0.0, f64::max);
        for (what, value) in [
            ("min", least),
            ("mean", average),
            ("max", greatest),
            ("variation", greatest - least),
            ("share", average / number),
            ("slowest_share", slowest / number),
        ] {
            all.insert(format!("{base}_{what}"), Metric { value, unit });
        }
        let total = values("total");
        if !total.is_empty() {
            let value = fold(&total, 0.0, f64::max);
            all.insert(format!("{base}_total"), Metric { value, unit });
        }
    }
    all
}

/// The clock of the board, and of its fabric.
pub fn clock() -> Clock {
    let profile = Profile::named(PROFILE).expect("it comes with the board");
    Clock::from_hertz(profile.clock_hz)
}

/// A board with a system in it.
struct Machine {
    board: board::Tiles,
    watch: ends::Watch,
    requests: requests::Answered,
}

impl Machine {
    fn of(system: &System, profile: &Profile) -> Result<Self, Error> {
        let (fabric, watch) = ends::Watch::of(Box::new(Model::load(&system.model)?), system.ends);
        let (fabric, requests) = requests::watched(fabric);
        let mut board = setup::tiles(profile, &Options::default(), Box::new(fabric))?;
        if let Some(waves) = &system.waves {
            board.record(waves.clone());
        }
        let given = system
            .policies
            .map(|policies| configuration(policies, system));
        for (address, value) in given.into_iter().flatten() {
            board
                .write_gp(address, value)
                .map_err(|Refused| Error::Configuration(address))?;
        }
        for tile in &system.tiles {
            let started = board.start(tile.number, &tile.image, &tile.arguments);
            started.map_err(|reason| Error::Boot {
                name: tile.name.clone(),
                reason,
            })?;
        }
        Ok(Self {
            board,
            watch,
            requests,
        })
    }

    /// How a tile ended, if it has, at the cycle that the board has come to.
    fn off(&self, tile: &Tile) -> Option<Off> {
        let (reason, code) = match self.board.ended(tile.number)? {
            bus::Stop::PowerOff => (OffReason::Shutdown, 0),
            bus::Stop::Failure(code) => (OffReason::Fail, u64::from(code)),
            // Nothing restarts it.
            bus::Stop::Reset => (OffReason::Fail, 0),
        };
        Some(Off {
            reason,
            code,
            time: self.board.cycle(),
        })
    }

    /// What was seen at the ends of the wires; of the display, what it shows now.
    fn ends(&mut self, wanted: ends::Watched) -> ends::Seen {
        let mut seen = self.watch.take();
        if wanted.picture {
            // The first picture may have begun before the last change.
            let mut pictures = 0;
            while pictures < 2 {
                self.board.pass(LOOK);
                let last = self.watch.take().picture;
                pictures += usize::from(last.is_some());
                seen.picture = last.or(seen.picture);
            }
        }
        seen
    }

    fn flits(&mut self) -> Result<u64, Error> {
        let mut words = [0; 2];
        for (word, register) in words.iter_mut().zip(FLITS) {
            let address = COUNTERS + register;
            *word = self
                .board
                .read_gp(address)
                .map_err(|Refused| Error::Configuration(address))?;
        }
        Ok(u64::from(words[0]) | u64::from(words[1]) << 32)
    }
}

/// Runs a system of tiles from reset until all are off, or up to a limit.
///
/// # Errors
/// It could not begin.
pub fn run(system: &System, limits: &Limits, watcher: &mut dyn Watcher) -> Result<Outcome, Error> {
    let began = Instant::now();
    let profile = Profile::named(PROFILE).expect("it comes with the board");
    let mut machine = Machine::of(system, &profile)?;
    let names: Vec<&str> = system.tiles.iter().map(|tile| tile.name.as_str()).collect();
    let mut journal = Journal::new(&names, profile.timebase_hz).clocked(Some(profile.clock_hz));
    for vm in &mut journal.vms {
        vm.started = Some(0);
    }
    // Each has a serial line of its own.
    let mut consoles: Vec<Consoles> = names
        .iter()
        .map(|_| Consoles::new(Carriage::Bare))
        .collect();
    let ending = loop {
        let next = (machine.board.cycle() + LOOK).min(limits.cycles);
        let ended = machine.board.run(next);
        let now = clock().time_of(machine.board.cycle());
        limits.now.store(now.0, Ordering::Relaxed);
        for (vm, tile) in system.tiles.iter().enumerate() {
            let output = machine.board.console(tile.number).take_output();
            take(&output, &mut consoles[vm], vm, &mut journal, watcher);
            if journal.vms[vm].off.is_none() {
                journal.vms[vm].off = machine.off(tile);
            }
        }
        watcher.tick(&journal);
        let is_off = |vm: usize| journal.vms[vm].off.is_some();
        let over = |limit: Duration| began.elapsed() >= limit;
        if ended == Ended::Off {
            break Ending::Machine(End::Off);
        } else if limits.until.is_some_and(is_off) {
            break Ending::Until;
        } else if let Some(ending) = limits.stop.asked() {
            break ending;
        } else if machine.board.cycle() >= limits.cycles {
            break Ending::Limit;
        } else if limits.host_limit.is_some_and(over) {
            break Ending::HostLimit;
        }
    };
    for (vm, console) in consoles.iter_mut().enumerate() {
        for line in console.finish() {
            told(line, vm, &mut journal, watcher);
        }
    }
    machine.board.take_waves().map_err(Error::Waves)?;
    journal.last_time = machine.board.cycle();
    journal.ended = (ending == Ending::Machine(End::Off)).then_some(journal.last_time);
    Ok(Outcome {
        ending,
        journal,
        trace_hash: machine.board.trace_hash(),
        flits: machine.flits()?,
        requests: machine.requests.take(),
        ends: machine.ends(system.ends),
        host_time: began.elapsed(),
    })
}

/// Takes what a VM has printed.
fn take(
    output: &[u8],
    console: &mut Consoles,
    vm: usize,
    journal: &mut Journal,
    watcher: &mut dyn Watcher,
) {
    console.push(output, |piece| match piece {
        Piece::Byte(_, byte) => {
            journal.take_byte(Source::Vm(vm), byte);
            watcher.byte(Source::Vm(vm), byte);
        }
        Piece::Line(line) => told(line, vm, journal, watcher),
    });
}

/// Takes a line of a VM.
fn told(line: Line, vm: usize, journal: &mut Journal, watcher: &mut dyn Watcher) {
    let line = Line {
        source: Source::Vm(vm),
        ..line
    };
    let seen = journal.take_line(&line);
    watcher.line(&line, &seen, journal);
}

/// The registers that say who has what, and their values; a port's devices behind all else that is its.
fn configuration(policies: [IoPolicy; 4], system: &System) -> Vec<(u32, u32)> {
    let policy = policies
        .iter()
        .enumerate()
        .fold(0, |bits, (device, policy)| {
            bits | (*policy as u32) << (2 * (device + 1))
        });
    let mut writes = vec![
        (MANAGER + POLICY, policy),
        (MANAGER + READER, system.reader.unwrap_or(0) as u32),
    ];
    for tile in &system.tiles {
        let number = tile.number as u32;
        let port = MANAGER + PORT + PORT_SIZE * number;
        let given = tile.given;
        let mut put = |register, value| writes.push((port + register, value));
        if let Some((first, sectors, writable)) = given.flash {
            put(0x0c, first);
            put(0x10, sectors | u32::from(writable) << 31);
        }
        if let Some([x, y, width, height]) = given.window {
            put(0x14, x | y << 16);
            put(0x18, width | height << 16);
        }
        if let Some([a, b, c, d, e, f]) = given.station {
            put(0x1c, u32::from_be_bytes([c, d, e, f]));
            put(0x20, u32::from_be_bytes([0, 0, a, b]));
        }
        put(0x24, u32::from(given.reach));
        let devices = u32::from(given.uart) << 1
            | u32::from(given.flash.is_some()) << 2
            | u32::from(given.window.is_some()) << 3
            | u32::from(given.station.is_some()) << 4;
        put(0x00, devices);
        for pin in (0..32).filter(|pin| given.pins >> pin & 1 != 0) {
            writes.push((TIMED_MANAGER + PINS + 4 * pin, OWNED | number));
        }
    }
    writes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(began: u64, source: u8) -> (u64, Vec<u8>) {
        let mut bytes = vec![0; 100];
        bytes[11] = source;
        (began, bytes)
    }

    #[test]
    fn frames_lose_what_they_take_beside_the_wire_while_enough_tiles_send() {
        // 124 cycles on the wire each; 3 and 5 are lost, and then three tiles are left.
        let begun = [0, 127, 256, 380, 504, 1_000];
        let sources = [0, 1, 0, 2, 3, 1];
        let frames: Vec<_> = begun
            .into_iter()
            .zip(sources)
            .map(|(at, from)| frame(at, from))
            .collect();
        assert_eq!(frame_loss(&frames), Some(4.0));
        assert_eq!(frame_loss(&frames[2..]), None);
    }
}
