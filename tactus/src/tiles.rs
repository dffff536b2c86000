//! Systems of tiles: the many-core board (`docs/src/reference/board.md`, "Tiles"), with a VM of its own on each tile.
//!
//! There is no hypervisor in software. What a VM may use is written once, before any of them begins, into the I/O hypervisor's and the
//! timed I/O's own pages of the design `manycore`, which no tile reaches.

use std::path::PathBuf;

use tactus_board::bus::Stop;
use tactus_board::fabric::{Fabric, Model, ModelError, PinChanges, Pins};
use tactus_board::profile::Profile;
use tactus_board::setup::{self, BootError, Options};
use tactus_board::tiles::Ended;
use tactus_board::{board::BuildError, bus::Refused};

use crate::config::IoPolicy;
use crate::run::console::Carriage;
use crate::run::journal::{Journal, VmJournal};

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
    /// Whether the design has an I/O hypervisor and timed I/O, and so a configuration.
    pub virtualized: bool,
    /// Whose request each device takes next: UART, flash, VGA, Ethernet.
    pub policies: [IoPolicy; 4],
    /// The tiles that have software.
    pub tiles: Vec<Tile>,
    /// How many of the design's pins are watched, at most 32.
    pub pins: u32,
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
    /// The cycle in which it ended.
    pub cycles: u64,
    /// By tile, as the system lists them: what was seen, and how it ended.
    pub tiles: Vec<(Journal, Option<Stop>)>,
    /// Flits that came over the mesh to a place.
    pub flits: u64,
    /// When the watched pins changed: the cycle, and their levels from then on.
    pub pins: Vec<(u64, u32)>,
    /// The same number, the same run.
    pub trace_hash: u64,
}

impl Outcome {
    /// What was seen of a tile's VM.
    ///
    /// # Panics
    /// The system has no such VM.
    pub fn vm(&self, name: &str) -> &VmJournal {
        let mut seen = self.tiles.iter().filter_map(|(tile, _)| tile.vm(name));
        seen.next()
            .unwrap_or_else(|| panic!("no VM `{name}` in the system"))
    }

    /// Whether every tile went off in good order, and none of its own checks failed.
    pub fn is_good(&self) -> bool {
        self.ended == Ended::Off
            && self.tiles.iter().all(|(journal, stop)| {
                *stop == Some(Stop::PowerOff) && journal.vms.iter().all(|vm| !vm.failed())
            })
    }

    /// All that the tiles printed, for a message.
    pub fn text(&self) -> String {
        let tiles = self.tiles.iter().flat_map(|(journal, stop)| {
            journal
                .vms
                .iter()
                .map(move |vm| format!("== {} ({stop:?})\n{}\n", vm.name, vm.console.text()))
        });
        tiles.collect()
    }
}

/// Runs a system of tiles from reset until all are off, or for so many cycles.
///
/// # Errors
/// It could not begin.
pub fn run(system: &System, cycles: u64) -> Result<Outcome, Error> {
    let profile = Profile::named(PROFILE).expect("it comes with the board");
    let fabric: Box<dyn Fabric> = Box::new(Model::load(&system.model)?);
    let (fabric, changes): (Box<dyn Fabric>, PinChanges) = {
        let (pins, changes) = Pins::new(fabric, system.pins);
        (Box::new(pins), changes)
    };
    let mut board = setup::tiles(&profile, &Options::default(), fabric)?;
    if system.virtualized {
        for (address, value) in configuration(system) {
            board
                .write_gp(address, value)
                .map_err(|Refused| Error::Configuration(address))?;
        }
    }
    for tile in &system.tiles {
        let started = board.start(tile.number, &tile.image, &tile.arguments);
        started.map_err(|reason| Error::Boot {
            name: tile.name.clone(),
            reason,
        })?;
    }
    let ended = board.run(cycles);
    let (cycles, trace_hash) = (board.cycle(), board.trace_hash());
    let mut flits = [0; 2];
    for (word, register) in flits.iter_mut().zip(FLITS) {
        let address = COUNTERS + register;
        *word = board
            .read_gp(address)
            .map_err(|Refused| Error::Configuration(address))?;
    }
    let tiles = system.tiles.iter().map(|tile| {
        let output = board.console(tile.number).take_output();
        let names = [tile.name.as_str()];
        let journal = Journal::replay(&names, profile.timebase_hz, Carriage::Bare, &output);
        (
            journal.clocked(Some(profile.clock_hz)),
            board.ended(tile.number),
        )
    });
    Ok(Outcome {
        ended,
        cycles,
        tiles: tiles.collect(),
        flits: u64::from(flits[0]) | u64::from(flits[1]) << 32,
        pins: changes.take(),
        trace_hash,
    })
}

/// The registers that say who has what, and their values; a port's devices behind all else that is its.
fn configuration(system: &System) -> Vec<(u32, u32)> {
    let policies = system.policies.iter().enumerate();
    let policy = policies.fold(0, |bits, (device, policy)| {
        bits | (*policy as u32) << (2 * (device + 1))
    });
    let reader = system.tiles.iter().find(|tile| tile.given.uart);
    let mut writes = vec![
        (MANAGER + POLICY, policy),
        (
            MANAGER + READER,
            reader.map_or(0, |tile| tile.number as u32),
        ),
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
