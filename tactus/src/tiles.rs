//! Systems of tiles: the many-core board (`docs/src/reference/board.md`, "Tiles"), with a VM of its own on each tile.
//!
//! There is no hypervisor in software. What a VM may use is written once, before any of them begins, into the I/O hypervisor's and the
//! timed I/O's own pages of the design `manycore`, which no tile reaches.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use tactus_board::board::BuildError;
use tactus_board::bus::{Refused, Stop};
use tactus_board::fabric::{Model, ModelError};
use tactus_board::profile::Profile;
use tactus_board::setup::{self, BootError, Options};
use tactus_board::tiles::Ended;

use crate::config::IoPolicy;
use crate::report::unit::Unit;
use crate::run::console::{Carriage, Consoles, Line, Piece, Source};
use crate::run::journal::{Journal, Metric, VmJournal};
use crate::run::machine::End;
use crate::run::session::{self, Ending};

/// The profile of the board.
const PROFILE: &str = "manycore";
/// Pages of the design, in bytes from the begin of its general-purpose port.
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

/// What there is on all tiles.
#[derive(Clone, Debug)]
pub struct System {
    /// The fabric's model: of `manycore`, or of `manycore_baseline`, which gives nothing to anybody.
    pub model: PathBuf,
    /// Whose request each device of the I/O hypervisor takes next: UART, flash, VGA, Ethernet. `None`: the design has no I/O
    /// hypervisor and no timed I/O, and so nothing to give.
    pub policies: Option<[IoPolicy; 4]>,
    /// The tiles that have software.
    pub tiles: Vec<Tile>,
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
}

/// What a tile is given of the devices behind the I/O hypervisor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// It may write to the UART; one tile that may, the first, has what comes.
    pub uart: bool,
    /// Its area of the flash: the first sector of 4 KiB, how many, and whether it may write.
    pub flash: Option<(u32, u32, bool)>,
    /// Its window of the display: X, Y, width and height.
    pub window: Option<[u32; 4]>,
    /// Its Ethernet address.
    pub station: Option<[u8; 6]>,
    /// Its pins of timed I/O, a bit each.
    pub pins: u32,
}

impl Given {
    /// What the images of `guests/manycore` take for granted: everything but pins, for each tile an area of 16 KiB, a window of
    /// 80 x 60 pixels and an address.
    pub fn usual(number: usize) -> Self {
        let index = number as u32;
        Self {
            uart: true,
            flash: Some((4 * index, 4, true)),
            window: Some([80 * (index % 4), 60 * (index / 4), 80, 60]),
            station: Some([2, 0, 0, 0, 0, number as u8]),
            pins: 0,
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
}

/// A run that is over.
#[derive(Debug)]
pub struct Outcome {
    /// Whether all tiles went off by themselves.
    pub ended: Ended,
    /// What was seen of the tiles, as the system lists them.
    pub journal: Journal,
    /// How each ended.
    pub stops: Vec<Option<Stop>>,
    /// Host time that it took.
    pub host_time: Duration,
    /// Flits that came over the mesh to a place.
    pub flits: u64,
    /// The same number, the same run.
    pub trace_hash: u64,
}

impl Outcome {
    /// Whether every tile went off in good order, and none of its own checks failed.
    pub fn is_good(&self) -> bool {
        self.ended == Ended::Off
            && self.stops.iter().all(|stop| *stop == Some(Stop::PowerOff))
            && self.journal.vms.iter().all(|vm| !vm.failed())
    }

    /// All that the tiles printed, for a message.
    pub fn text(&self) -> String {
        let tiles = self.journal.vms.iter().zip(&self.stops);
        let text =
            tiles.map(|(vm, stop)| format!("== {} ({stop:?})\n{}\n", vm.name, vm.console.text()));
        text.collect()
    }

    /// As that of a machine, with one VM more, [`ALL`], of which the figures of all tiles are: of what each of them has reported as
    /// `X_min`, `X_mean` and `X_max`, `X_min`, `X_mean`, `X_max`, how far `X_max` is from `X_min` as `X_variation`, the mean as one of so many
    /// tiles has it as `X_share`, that of the slowest as `X_slowest_share`; and `flits`.
    pub fn as_of_a_machine(self) -> session::Outcome {
        let ending = if self.is_good() {
            Ending::Machine(End::Off)
        } else if self.ended == Ended::Limit {
            Ending::Timeout
        } else {
            Ending::Machine(End::Failed("a tile has failed".to_owned()))
        };
        let mut journal = self.journal;
        let mut all = together(&journal.vms);
        let flits = Metric {
            value: self.flits as f64,
            unit: Unit::Count,
        };
        all.insert("flits".to_owned(), flits);
        let vm = journal.vms.iter_mut().find(|vm| vm.name == ALL);
        vm.expect("it has a place in the journal").metrics = all;
        session::Outcome::without_hypervisor(journal, ending, self.host_time)
    }
}

/// The VM that figures of all tiles are of.
pub const ALL: &str = "all";

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
    }
    all
}

/// Runs a system of tiles from reset until all are off, or for so many cycles.
///
/// # Errors
/// It could not begin.
pub fn run(system: &System, cycles: u64) -> Result<Outcome, Error> {
    let began = Instant::now();
    let profile = Profile::named(PROFILE).expect("it comes with the board");
    let fabric = Box::new(Model::load(&system.model)?);
    let mut board = setup::tiles(&profile, &Options::default(), fabric)?;
    let given = system
        .policies
        .map(|policies| configuration(policies, &system.tiles));
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
    let ended = board.run(cycles);
    let trace_hash = board.trace_hash();
    let mut flits = [0; 2];
    for (word, register) in flits.iter_mut().zip(FLITS) {
        let address = COUNTERS + register;
        *word = board
            .read_gp(address)
            .map_err(|Refused| Error::Configuration(address))?;
    }
    let names = system.tiles.iter().map(|tile| tile.name.as_str());
    let names: Vec<&str> = names.chain([ALL]).collect();
    let mut journal = Journal::new(&names, profile.timebase_hz).clocked(Some(profile.clock_hz));
    for (vm, tile) in system.tiles.iter().enumerate() {
        let mut consoles = Consoles::new(Carriage::Bare);
        let output = board.console(tile.number).take_output();
        // Each has a serial line of its own.
        let source = Source::Vm(vm);
        consoles.push(&output, |piece| match piece {
            Piece::Byte(_, byte) => journal.take_byte(source, byte),
            Piece::Line(line) => {
                journal.take_line(&Line { source, ..line });
            }
        });
        for line in consoles.finish() {
            journal.take_line(&Line { source, ..line });
        }
    }
    let tiles = system.tiles.iter();
    Ok(Outcome {
        ended,
        journal,
        stops: tiles.map(|tile| board.ended(tile.number)).collect(),
        host_time: began.elapsed(),
        flits: u64::from(flits[0]) | u64::from(flits[1]) << 32,
        trace_hash,
    })
}

/// The registers that say who has what, and their values; a port's devices behind all else that is its.
fn configuration(policies: [IoPolicy; 4], tiles: &[Tile]) -> Vec<(u32, u32)> {
    let policy = policies
        .iter()
        .enumerate()
        .fold(0, |bits, (device, policy)| {
            bits | (*policy as u32) << (2 * (device + 1))
        });
    let reader = tiles.iter().find(|tile| tile.given.uart);
    let mut writes = vec![
        (MANAGER + POLICY, policy),
        (
            MANAGER + READER,
            reader.map_or(0, |tile| tile.number as u32),
        ),
    ];
    for tile in tiles {
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
