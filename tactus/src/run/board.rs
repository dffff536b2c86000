//! The virtual board as the machine of a run: it runs on a thread of its own, in slices of virtual time.
//!
//! What the run does at a time of its own (pass from fast to timed, end with the awaited VM) follows from what the
//! software wrote and did by then, seen at the end of a slice of fixed length: it never depends on the host. Only
//! interactive input does.

use std::fmt;
use std::io::{self, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tactus_board::account::{Doing, Spent};
use tactus_board::board::{self as engine, Board, MemoryModel, Pace};
use tactus_board::bus::Stop;
use tactus_board::devices::Console;
use tactus_board::devices::virtio::Sent;
use tactus_board::fabric::{Model, Waves};
use tactus_board::fault::Fault;
use tactus_board::gdb::{self, Server};
use tactus_board::profile::{DeviceKind, Profile};
use tactus_board::setup::{self, Software};
use tactus_board::time::{Clock, Femtoseconds};
use tactus_board::trace::{Event, EventKind};
use tactus_board::{
    privileged::Privilege,
    timing::{Count, Counts, Wake, Worst},
};

use crate::artifacts::Artifacts;
use crate::boot;
use crate::image::Image;

use super::kept::Kept;
use super::machine::{self, End, Output, SEED};
use super::script::Player;
use super::session::Plan;
use super::{Error, debugger, ends};
use crate::config::Nanoseconds;
use crate::plan::ConsoleLine;

use cable::{Cable, Exchange};
use jobs::Jobs;
use lines::Lines;
use paths::Paths;
use perfetto::Trace;
use probe::{Hits, Place, Probe};
use saved::{Saved, Written};
use sharing::Sharing;
use spent::Meter;
use stay::Stays;
use timeline::Timeline;
use watch::Watch;

pub(crate) mod cable;
pub mod jobs;
mod lines;
pub mod live;
pub mod paths;
pub mod perfetto;
pub mod probe;
pub mod reloads;
mod saved;
pub mod sharing;
pub mod spent;
pub mod stay;
pub mod storms;
pub mod timeline;
mod watch;

/// The board of a system of another machine, where none is named.
pub const DEFAULT_PROFILE: &str = "soc";
/// The same of a system whose VMs have PCI functions.
const PCI_PROFILE: &str = "soc-pci";
/// Virtual time from one look at the run to the next.
const SLICE: Femtoseconds = Femtoseconds(Femtoseconds::SECOND.0 / 10_000);
/// Virtual time that a run ends at, at the latest: a second before the board's clock is at its end.
const LAST: Femtoseconds = Femtoseconds(u64::MAX - Femtoseconds::SECOND.0);
const FEMTOSECONDS_PER_NANOSECOND: u64 = 1_000_000;
/// Host time between looks for input when nothing but input can go on.
const INPUT_PATIENCE: Duration = Duration::from_millis(5);
/// With interactive input: how far virtual time may be ahead of the host's.
const LEAD: Duration = Duration::from_millis(5);
/// Pieces of output not yet taken; when there are so many, the board waits.
const CHUNKS: usize = 64;

/// When time passes as on the real board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Marker {
    /// When a VM says that this phase begins.
    Phase(String),
    /// When a hart first comes to this place.
    Place(Place),
    /// From this cycle on.
    Cycle(u64),
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Phase(name) => write!(f, "phase {name}"),
            Self::Place(place) => write!(f, "symbol {}", place.name),
            Self::Cycle(cycle) => write!(f, "cycle {cycle}"),
        }
    }
}

/// Which board, and what to see of it.
#[derive(Clone, Debug)]
pub struct Options {
    /// What it is like.
    pub profile: Arc<Profile>,
    /// What time passes from reset on.
    pub pace: Pace,
    /// When the pace becomes [`Pace::Timed`], where it is not from reset on.
    pub timed_from: Option<Marker>,
    /// The run ends so long after the pace has become timed.
    pub timed_for: Option<Nanoseconds>,
    /// Cycles that a hart runs before another one. `None`: the profile's.
    pub quantum: Option<u64>,
    /// What everything random is made of.
    pub seed: u64,
    /// How harts see each other's loads and stores.
    pub memory_model: MemoryModel,
    /// Places to watch.
    pub probes: Vec<Probe>,
    /// When to measure how long harts stay below the guests: from when one comes to the first of these probes until one
    /// comes to the second.
    pub stays: Option<[u32; 2]>,
    /// Collect the paths below the guests.
    pub paths: Option<Box<paths::Watch>>,
    /// See the jobs of these vCPUs, those that are released from when the pace is timed.
    pub jobs: Option<jobs::Watch>,
    /// Measure what these vCPUs pay to reload cache lines, while the pace is timed.
    pub reloads: Vec<reloads::Watched>,
    /// See which cache lines these vCPUs use from when their timer wakes them until they wait, while the pace is timed.
    /// The caches are emptied at each wake.
    pub wakes: Vec<reloads::Watched>,
    /// See how accelerators are shared.
    pub sharing: Option<sharing::Watch>,
    /// Where a Perfetto trace goes.
    pub trace: Option<PathBuf>,
    /// Keep what the report shows over time; with the accelerators' interfaces and what they are called.
    pub timeline: Option<Vec<(u8, String)>>,
    /// The port at which the run waits for gdb.
    pub gdb: Option<u16>,
    /// Where a snapshot goes, when the pace becomes timed.
    pub snapshot: Option<PathBuf>,
    /// The snapshot to go on from.
    pub restore: Option<PathBuf>,
    /// What the fabric is loaded with.
    pub fabric: Option<Fabric>,
    /// What is watched at the ends of the fabric's wires.
    pub ends: ends::Watched,
    /// Keep what the board is at reset, so that power may be lost.
    pub keeps_power_on: bool,
    /// What goes wrong, and when. For tests.
    pub faults: Vec<(Femtoseconds, Fault)>,
    /// Where the board says how far it is, in femtoseconds of virtual time, while it runs.
    pub now: Arc<AtomicU64>,
}

/// A design for the fabric.
#[derive(Clone, Debug)]
pub struct Fabric {
    /// The file of its model.
    pub model: PathBuf,
    /// Which waveforms of it are written.
    pub waves: Option<Waves>,
}

impl Fabric {
    /// A fabric that is loaded with that design.
    ///
    /// # Errors
    /// The design's model is not to be had.
    pub fn of(design: &str) -> miette::Result<Self> {
        let model = Artifacts::chosen().model(design)?;
        Ok(Self { model, waves: None })
    }
}

impl Options {
    /// The board for a system, fast from reset on: of the profile that is named, or in the file that is; else that of
    /// the system's platform, or `soc`. The system's design is in its fabric.
    ///
    /// # Errors
    /// There is no such profile, or the design's model is not to be had.
    pub fn of(image: &Image, profile: Option<&str>) -> miette::Result<Self> {
        let platform = Profile::names().find(|name| *name == image.platform);
        let default = if image.has_functions {
            PCI_PROFILE
        } else {
            DEFAULT_PROFILE
        };
        let mut options = Self::new(boot::profile(profile.or(platform).unwrap_or(default))?);
        if let Some(design) = &image.design {
            options.fabric = Some(Fabric::of(design)?);
        }
        Ok(options)
    }

    /// A board of that profile, fast from reset on.
    pub fn new(profile: Profile) -> Self {
        Self {
            profile: Arc::new(profile),
            pace: Pace::Fast,
            timed_from: None,
            timed_for: None,
            quantum: None,
            seed: SEED,
            memory_model: MemoryModel::default(),
            probes: Vec::new(),
            stays: None,
            paths: None,
            jobs: None,
            reloads: Vec::new(),
            wakes: Vec::new(),
            sharing: None,
            trace: None,
            timeline: None,
            gdb: None,
            snapshot: None,
            restore: None,
            fabric: None,
            ends: ends::Watched::default(),
            keeps_power_on: false,
            faults: Vec::new(),
            now: Arc::default(),
        }
    }
}

/// The accelerators' interfaces in the fabric, and what the report calls them.
pub fn interfaces(image: &Image) -> Vec<(u8, String)> {
    let shared = image.accelerators.iter().flat_map(|shared| &shared.devices);
    shared
        .map(|device| {
            let vm = image.vms.get(device.vm).map_or("?", String::as_str);
            (device.interface, format!("{} of {vm}", device.task))
        })
        .collect()
}

/// What a hart's cycles went to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Cycles.
    pub cycles: u64,
    /// Instructions retired in them.
    pub instructions: u64,
}

/// Whom the board counts cycles for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Worker {
    /// A VM, by its index in the system.
    Vm(usize),
    /// A guest that is no VM of the system.
    UnknownVm(u16),
    /// The hypervisor, or whatever runs in its place.
    Hypervisor,
    /// User mode without a hypervisor.
    User,
    /// M-mode.
    Firmware,
    /// None: the hart is idle.
    Idle,
}

impl Worker {
    /// A guest. The hypervisor gives VM `n` of the system the VMID `n + 1`.
    pub fn of(doing: Doing, vms: usize) -> Self {
        match doing {
            Doing::Waiting => Self::Idle,
            Doing::Running {
                guest: Some(vmid), ..
            } => match usize::from(vmid).checked_sub(1) {
                Some(vm) if vm < vms => Self::Vm(vm),
                _ => Self::UnknownVm(vmid),
            },
            Doing::Running { privilege, .. } => match privilege {
                Privilege::Machine => Self::Firmware,
                Privilege::Supervisor => Self::Hypervisor,
                Privilege::User => Self::User,
            },
        }
    }

    /// What tables call it.
    pub fn name(&self, vms: &[String]) -> String {
        match self {
            Self::Vm(vm) => vms.get(*vm).cloned().unwrap_or_default(),
            Self::UnknownVm(vmid) => format!("(VMID {vmid})"),
            Self::Hypervisor => "(hypervisor)".to_owned(),
            Self::User => "(user)".to_owned(),
            Self::Firmware => "(firmware)".to_owned(),
            Self::Idle => "(idle)".to_owned(),
        }
    }
}

/// What is known of a hart at the end.
#[derive(Clone, Debug)]
pub struct HartFacts {
    /// Cycles since reset.
    pub cycles: u64,
    /// Instructions retired.
    pub instructions: u64,
    /// What the cycles went to, by who they went to.
    pub work: Vec<(Worker, Work)>,
    /// Who has it at the end.
    pub holder: Worker,
    /// What was counted while the pace was timed.
    pub counts: Counts,
}

/// What only the board knows of a run.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The profile's name.
    pub profile: String,
    /// The harts' clock.
    pub clock_hz: u64,
    /// The fabric's clock; `None` where the board has none.
    pub fabric_hz: Option<u64>,
    /// What everything random was made of.
    pub seed: u64,
    /// How harts saw each other's loads and stores.
    pub memory_model: MemoryModel,
    /// The virtual time that it ran for.
    pub time: Femtoseconds,
    /// The step of the script that the run ended before.
    pub unfinished: Option<String>,
    /// When the pace became timed; `None`: never.
    pub timed_since: Option<Femtoseconds>,
    /// What was to make it so.
    pub timed_from: Option<String>,
    /// The harts.
    pub harts: Vec<HartFacts>,
    /// What the probes saw.
    pub hits: Hits,
    /// How long harts stayed below the guests; none where that was not wanted.
    pub stays: Stays,
    /// The paths below the guests; none where they were not wanted.
    pub paths: Paths,
    /// Jobs of real-time vCPUs; none where they were not wanted.
    pub jobs: Jobs,
    /// What vCPUs have paid to reload cache lines; none where that was not wanted.
    pub reloads: Vec<reloads::Paid>,
    /// The wakes of vCPUs; none where they were not wanted.
    pub wakes: Vec<Wake>,
    /// How accelerators were shared; nothing where that was not wanted.
    pub sharing: Sharing,
    /// What was seen at the ends of the fabric's wires.
    pub ends: ends::Seen,
    /// Whether what was seen of the pins is all of it since reset.
    pub pins_from_reset: bool,
    /// Where the trace is.
    pub trace: Option<PathBuf>,
    /// The run over time, where that was wanted.
    pub timeline: Option<Timeline>,
    /// Storms of device interrupts that VMs have.
    pub storms: Vec<storms::Found>,
    /// Events that the trace lacks.
    pub lost: u64,
    /// Why the trace could not be written.
    pub trace_error: Option<String>,
    /// Two runs with the same hash did the same at the same time.
    pub trace_hash: u64,
}

/// The board's spare UART, where a VM has the other one and the profile has a spare.
fn spare_uart(options: &Options, line: ConsoleLine) -> Option<Console> {
    let has_it = options.profile.device(DeviceKind::SpareUart).is_some();
    (has_it && line.vm().is_some()).then(Console::new)
}

/// Whether what such a board's shared line says can be told from what a VM writes to the UART that it has.
pub(super) fn keeps_lines_apart(options: &Options, line: ConsoleLine) -> bool {
    line.vm().is_none() || spare_uart(options, line).is_some()
}

/// A running board. Dropping it ends it.
#[derive(Debug)]
pub(super) struct Machine {
    output: Option<Receiver<Vec<u8>>>,
    lines: Lines,
    cancel: Arc<AtomicBool>,
    /// Whether input may still be sent.
    interactive: Arc<AtomicBool>,
    input_taken: bool,
    runner: Option<JoinHandle<(End, Facts)>>,
    /// Whether the runner may be where nothing but gdb can make it go on.
    under_gdb: bool,
    facts: Option<Facts>,
}

impl Machine {
    /// Makes a board as `options` want it and lets it run.
    pub(super) fn start(plan: &Plan, options: &Options) -> Result<Self, Error> {
        let listener = match options.gdb {
            Some(port) => Some(gdb::listen(port).map_err(|error| Error::Gdb { port, error })?),
            None => None,
        };
        let under_gdb = listener.is_some();
        let guests = debugger::guests(&plan.vms);
        let (sender, output) = sync_channel(CHUNKS);
        let mut run = Run::new(plan, options, Begins::AtReset)?;
        run.sender = Some(sender);
        run.keeps_output = options.snapshot.is_some();
        let saved = match &options.restore {
            Some(path) => Some(Saved::read(path, plan.vms.len(), &mut run.board)?),
            None => None,
        };
        if saved.as_ref().is_some_and(|saved| saved.typing.is_busy()) {
            run.player.get_or_insert(Player::new(None, None, &plan.vms));
        }
        let (lines, cancel, interactive) = (
            run.lines.clone(),
            Arc::clone(&run.cancel),
            Arc::clone(&run.interactive),
        );
        let runner = thread::Builder::new()
            .name("board".to_owned())
            .spawn(move || run.finish(listener, guests, saved))
            .map_err(Error::Start)?;
        Ok(Self {
            output: Some(output),
            lines,
            cancel,
            interactive,
            input_taken: false,
            runner: Some(runner),
            under_gdb,
            facts: None,
        })
    }

    /// Waits for the thread; gives how the board ended.
    fn join(&mut self) -> Option<End> {
        // A sender that waits learns that input is no longer taken.
        self.output = None;
        let (end, facts) = self
            .runner
            .take()?
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        self.facts = Some(facts);
        Some(end)
    }
}

impl machine::Machine for Machine {
    fn wait(&mut self, patience: Duration) -> Result<Output, Error> {
        let Some(output) = &self.output else {
            return Ok(Output::Ended(End::Off));
        };
        match output.recv_timeout(patience) {
            Ok(bytes) => Ok(Output::Bytes(bytes)),
            Err(RecvTimeoutError::Timeout) => Ok(Output::Quiet),
            Err(RecvTimeoutError::Disconnected) => {
                Ok(Output::Ended(self.join().unwrap_or(End::Off)))
            }
        }
    }

    fn take_input(&mut self) -> Option<Box<dyn Write + Send>> {
        if std::mem::replace(&mut self.input_taken, true) {
            return None;
        }
        self.interactive.store(true, Ordering::Relaxed);
        Some(Box::new(Input {
            lines: self.lines.clone(),
            interactive: Arc::clone(&self.interactive),
        }))
    }

    fn keeps_time(&self) -> bool {
        true
    }

    fn finish(&mut self) -> Option<Facts> {
        self.cancel.store(true, Ordering::Relaxed);
        self.join();
        self.facts.take()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::Relaxed);
        self.output = None;
        if let Some(runner) = self.runner.take().filter(|_| !self.under_gdb) {
            // A panic of the thread has been told by itself.
            let _ = runner.join();
        }
    }
}

/// Sends to the board's console.
#[derive(Debug)]
struct Input {
    lines: Lines,
    interactive: Arc<AtomicBool>,
}

impl Drop for Input {
    fn drop(&mut self) {
        self.interactive.store(false, Ordering::Relaxed);
    }
}

impl Write for Input {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.lines.send_at(Femtoseconds::default(), bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The board on its thread.
struct Run {
    board: Board,
    lines: Lines,
    watch: Watch,
    player: Option<Player>,
    /// When the run ends.
    limit: Option<Femtoseconds>,
    clock: Clock,
    now: Femtoseconds,
    timed_since: Option<Femtoseconds>,
    hits: Hits,
    /// By hart.
    meters: Vec<Meter>,
    stays: Stays,
    paths: Paths,
    jobs: Jobs,
    sharing: Sharing,
    ends: ends::Watch,
    trace: Option<Trace>,
    timeline: Option<Timeline>,
    lost: u64,
    /// Events since they were taken last, where they are wanted.
    kept_events: Option<Vec<Event>>,
    trace_error: Option<String>,
    storms: storms::Watched,
    names: Vec<String>,
    vms: usize,
    options: Options,
    cancel: Arc<AtomicBool>,
    interactive: Arc<AtomicBool>,
    /// How far virtual time is ahead of the host's, while there is interactive input.
    ahead: Duration,
    /// Where what is written goes; `None`: it is kept.
    sender: Option<SyncSender<Vec<u8>>>,
    /// How the last slice under gdb ended.
    ending: Option<gdb::End>,
    /// What was seen so far at the ends of the fabric's wires.
    seen: ends::Seen,
    /// Whether that is all that there was of pins since reset.
    sees_all_pins: bool,
    /// The place at which the run is to pause, and the hart that has come to it.
    awaited: Option<Place>,
    came: Option<usize>,
    /// The phase that was waited for has begun within this slice.
    phase_begun: bool,
    /// Whether what is written is kept.
    keeps_output: bool,
    /// Whether the caller lets it run in pieces, which may end anywhere.
    is_stepped: bool,
    /// All that was written so far, where it is kept.
    written: Written,
    /// Where the frames go that network cards send.
    sent: Vec<(PathBuf, Sent)>,
    /// To the board of another run.
    cable: Option<Cable>,
    /// Memory that is kept at the end.
    kept: Vec<Kept>,
    /// Why the snapshot could not be written.
    snapshot_error: Option<String>,
}

/// How a run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begins {
    /// At reset, with firmware and boot image in memory.
    AtReset,
    /// With a state that the board is given, memory included.
    WithState,
}

impl Run {
    /// Makes a board as `options` want it, at reset, or still without software.
    fn new(plan: &Plan, options: &Options, begins: Begins) -> Result<Self, Error> {
        let launch = &plan.launch;
        let wanted = setup::Options {
            harts: Some(launch.harts as usize),
            memory: Some(launch.memory_bytes),
            quantum: options.quantum,
            seed: options.seed,
            memory_model: options.memory_model,
            start: None,
            spare_uart: spare_uart(options, plan.line),
        };
        let unfit = |reason: String| Error::Board {
            profile: options.profile.name.clone(),
            reason,
        };
        if wanted.spare_uart.is_none()
            && let ConsoleLine::Spare(vm) = plan.line
        {
            let vm = &plan.vms[vm];
            return Err(unfit(format!(
                "it has no spare UART, and {vm} has the other"
            )));
        }
        let timebase_hz = options.profile.timebase_hz;
        if timebase_hz != plan.timebase_hz {
            return Err(unfit(format!(
                "its `time` counts at {timebase_hz} Hz, and the guests are told {} Hz",
                plan.timebase_hz
            )));
        }
        let (mut board, console) = setup::board(&options.profile, &wanted, Vec::new())
            .map_err(|error| unfit(error.to_string()))?;
        if plan.functions.has_cable() && (options.snapshot.is_some() || options.restore.is_some()) {
            return Err(Error::LinkedSnapshot);
        }
        let ends = plan.functions.plug(&mut board, unfit)?;
        let cable = ends.cable.map(|(path, far_end)| Cable::new(path, far_end));
        let sent = ends.written;
        let lines = match (wanted.spare_uart, plan.line.vm()) {
            (Some(spare), Some(vm)) => Lines::two(spare, console, vm),
            _ => Lines::one(console),
        };
        let mut ends = ends::Watch::default();
        if let Some(fabric) = &options.fabric {
            let design;
            (design, ends) = ends::Watch::of(Box::new(Model::load(&fabric.model)?), options.ends);
            setup::load_fabric(&mut board, &options.profile, design)
                .map_err(|error| unfit(error.to_string()))?;
            if let (Some(waves), Some(coupling)) = (&fabric.waves, board.fabric()) {
                coupling.record(waves.clone());
            }
        }
        if begins == Begins::AtReset {
            let firmware = read(&find_firmware()?)?;
            let image = read(&launch.image)?;
            let initrd = launch.initrd.as_deref().map(read).transpose()?;
            let software = Software {
                firmware: &firmware,
                kernel: Some(&image),
                initrd: initrd.as_deref(),
                bootargs: Some(launch.bootargs.as_str()).filter(|bootargs| !bootargs.is_empty()),
            };
            setup::boot(&mut board, &options.profile, &software)
                .map_err(|error| unfit(error.to_string()))?;
            if options.keeps_power_on {
                board.keep_power_on();
            }
        }
        for (at, fault) in &options.faults {
            board
                .inject(*at, *fault)
                .map_err(|error| unfit(error.to_string()))?;
        }
        let trace = match &options.trace {
            Some(path) => Some({
                let devices: Vec<&str> = board.devices().map(|(name, ..)| name).collect();
                Trace::create(path, board.harts(), &devices, &plan.vms, options).map_err(
                    |error| Error::Trace {
                        path: path.clone(),
                        error,
                    },
                )?
            }),
            None => None,
        };
        let timeline = options.timeline.clone().map(|interfaces| {
            let devices: Vec<&str> = board.devices().map(|(name, ..)| name).collect();
            Timeline::new(board.harts(), &devices, options, interfaces)
        });
        let board_harts = board.harts();
        let mut paths = Paths::new(
            options.paths.as_deref().cloned().unwrap_or_default(),
            Worst::of(&options.profile.timing, board_harts),
        );
        let fabric = board
            .devices()
            .position(|(name, ..)| name == crate::fabric::DEVICE);
        let fabric = fabric.map(|place| place as u16);
        if options.stays.is_some() {
            paths.count_no_more();
        }
        Ok(Self {
            board,
            lines,
            watch: Watch::new(plan, &options.timed_from),
            player: plan.player(),
            limit: plan.limit.map(femtoseconds),
            clock: Clock::from_hertz(options.profile.clock_hz),
            now: Femtoseconds::default(),
            timed_since: None,
            hits: Hits::new(&options.probes),
            meters: vec![Meter::default(); board_harts],
            stays: Stays::default(),
            paths,
            jobs: Jobs::new(options.jobs.clone()),
            sharing: Sharing::new(options.sharing, fabric, plan.vms.len()),
            ends,
            trace,
            timeline,
            lost: 0,
            kept_events: None,
            trace_error: None,
            storms: plan.storms.clone(),
            names: plan.vms.clone(),
            vms: plan.vms.len(),
            options: options.clone(),
            cancel: Arc::default(),
            interactive: Arc::default(),
            ahead: Duration::ZERO,
            sender: None,
            ending: None,
            seen: ends::Seen::default(),
            sees_all_pins: options.ends.pins > 0 && options.restore.is_none(),
            awaited: None,
            came: None,
            phase_begun: false,
            keeps_output: false,
            is_stepped: false,
            written: Written::default(),
            sent,
            cable,
            kept: plan.kept.clone(),
            snapshot_error: None,
        })
    }

    /// Has all watched that is to be, and goes on from `saved` where that is given.
    fn begin(&mut self, saved: Option<Saved>) {
        for probe in &self.options.probes {
            self.board.probe(probe.place.address);
        }
        // Their numbers are behind those of the probes.
        for look in self.options.paths.iter().flat_map(|watch| &watch.looks) {
            self.board.probe(*look);
        }
        if let Some(watch) = &self.options.paths {
            let bounds = watch.bounds.as_ref();
            self.board.count_lines(&Count {
                marks: self.options.probes.len() as u32,
                known: bounds.map_or_else(|_| Vec::new(), |bounds| bounds.walked.clone()),
            });
        }
        if self.sees_events() {
            self.board.record(true);
        }
        if !self.options.reloads.is_empty() {
            let watch = reloads::watch(&self.options.reloads);
            self.board.watch_reloads(watch);
        }
        if !self.options.wakes.is_empty() {
            self.board.watch_wakes(reloads::watch(&self.options.wakes));
        }
        let timed_since = saved.as_ref().and_then(|saved| saved.timed_since);
        match &self.options.timed_from {
            Some(Marker::Place(place)) if timed_since.is_none() => {
                self.board.stop_at(place.address);
            }
            Some(Marker::Cycle(0)) => self.options.pace = Pace::Timed,
            _ => {}
        }
        if let Some(saved) = saved {
            self.lines.go_on_behind(saved.written.bytes());
            self.now = saved.now;
            self.timed_since = saved.timed_since;
            if self.timed_since.is_some() {
                self.jobs.judge_from(self.clock.cycle_at(self.now));
            }
            if let Some(player) = &mut self.player {
                player.resume(saved.typing);
            }
            // What was written before is part of the run; so is the phase that began with it.
            let mut begun = false;
            for (time, piece) in saved.written.pieces_from(0) {
                begun |= self.hand_on(time, piece);
            }
            if begun && self.options.timed_from.is_some() {
                self.become_timed();
            }
        }
        if self.options.pace == Pace::Timed {
            self.become_timed();
        }
    }

    fn finish(
        mut self,
        listener: Option<TcpListener>,
        guests: Vec<gdb::Guest>,
        saved: Option<Saved>,
    ) -> (End, Facts) {
        let mut server = match listener
            .map(|listener| Server::new(listener, true).map(|server| server.guests(guests)))
            .transpose()
        {
            Ok(server) => server,
            Err(error) => return (End::Failed(error.to_string()), self.facts()),
        };
        self.begin(saved);
        let end = self.plug_in().unwrap_or_else(|| {
            loop {
                let (begin, before) = (Instant::now(), self.now);
                if let Some(end) = self.slice(server.as_mut()) {
                    break end;
                }
                self.options.now.store(self.now.0, Ordering::Relaxed);
                if self.awaits_input() {
                    self.keep_pace(self.now - before, begin.elapsed());
                }
            }
        });
        if let Some(server) = &mut server {
            let last = self.ending.take().unwrap_or(gdb::End::Killed);
            server.finish(&mut self.board, &last);
        }
        let waves = self
            .board
            .fabric()
            .map_or(Ok(()), |fabric| fabric.take_waves());
        for kept in &self.kept {
            let mut bytes = vec![0; kept.size];
            if self.board.memory().read(kept.address, &mut bytes).is_ok() {
                kept.put(bytes);
            }
        }
        let written = self
            .sent
            .iter()
            .try_for_each(|(path, sent)| boot::write_frames(path, sent));
        let end = match (self.snapshot_error.take(), waves) {
            (Some(error), _) => End::Failed(format!("the snapshot could not be written: {error}")),
            (None, Err(error)) => {
                End::Failed(format!("the waveforms could not be written: {error}"))
            }
            (None, Ok(())) => match written {
                Err(error) => End::Failed(format!("the frames could not be written: {error}")),
                Ok(()) => end,
            },
        };
        if let Some(trace) = self.trace.take()
            && let Err(error) = trace.finish(self.now)
        {
            self.trace_error = Some(error.to_string());
        }
        let facts = self.facts();
        (end, facts)
    }

    /// Whether all harts wait, and no input has come that could wake one.
    fn sleeps(&self) -> bool {
        !self.lines.need_attention() && self.board.asleep()
    }

    /// Whether there is something to do on the consoles as time passes.
    fn plays(&self) -> bool {
        self.player.as_ref().is_some_and(Player::needs_time)
    }

    /// Runs to the end of a slice, or to where something is to be done before, under gdb if there is a `server`. Gives
    /// the end, when it has come.
    fn slice(&mut self, server: Option<&mut Server>) -> Option<End> {
        if self.cancel.load(Ordering::Relaxed) {
            return Some(End::Off);
        }
        if self.sleeps() {
            let plays = self.plays();
            let linked = self.cable.as_ref().is_some_and(Cable::is_plugged_in);
            if !self.awaits_input() && !plays && !linked {
                return Some(End::Failed(
                    "all harts wait, and nothing will ever wake them".to_owned(),
                ));
            }
            if !plays && !linked {
                thread::sleep(INPUT_PATIENCE);
                return None;
            }
        }
        if let Some(limit) = self.limit
            && self.now >= limit
        {
            return Some(End::Limit);
        }
        if self.now >= LAST {
            let end = "it has run for 5.1 hours of virtual time, the longest that it can";
            return Some(End::Failed(end.to_owned()));
        }
        let mut limit = Femtoseconds((self.now.0 / SLICE.0 + 1) * SLICE.0);
        limit = limit.min(self.limit.unwrap_or(Femtoseconds::NEVER));
        let mut switches = false;
        if let (Some(Marker::Cycle(cycle)), None) = (&self.options.timed_from, self.timed_since) {
            let time = self.clock.time_of(*cycle);
            switches = time <= limit;
            limit = limit.min(time);
        }
        let outcome = match server {
            None => self.board.run(limit),
            Some(server) => match server.run(&mut self.board, limit) {
                Ok(gdb::End::Run(outcome)) => {
                    self.ending = Some(gdb::End::Run(outcome));
                    outcome
                }
                Ok(gdb::End::Killed) => {
                    self.ending = Some(gdb::End::Killed);
                    return Some(End::Failed("gdb ended the run".to_owned()));
                }
                Err(error) => return Some(End::Failed(error.to_string())),
            },
        };
        let mut end = None;
        match outcome {
            engine::Outcome::Limit | engine::Outcome::Deadlock => {
                self.now = limit;
            }
            engine::Outcome::Stop(stop) => {
                self.now = self.board.time();
                end = Some(match stop {
                    // The firmware reports a failure of the software as 0, which QEMU takes for a plain end, too.
                    Stop::PowerOff | Stop::Reset | Stop::Failure(0) => End::Off,
                    Stop::Failure(code) => {
                        End::Failed(format!("the software reported failure {code} to the board"))
                    }
                });
            }
            // No condition and no watch was set.
            engine::Outcome::Condition | engine::Outcome::Watchpoint { .. } => {
                self.now = self.now.max(self.board.time());
            }
            engine::Outcome::Breakpoint { hart, pc } => {
                self.now = self.now.max(self.board.time());
                let doing = self.board.doing(hart);
                let is_at = |place: &Place| place.address == pc && place.holds(doing);
                if self.awaited.as_ref().is_some_and(is_at) {
                    self.came = Some(hart);
                }
                if let (Some(Marker::Place(place)), None) =
                    (&self.options.timed_from, self.timed_since)
                    && is_at(place)
                {
                    if self.awaited.as_ref().map(|awaited| awaited.address) != Some(pc) {
                        self.board.remove_stop(pc);
                    }
                    switches = true;
                }
            }
        }
        self.phase_begun |= self.take_output();
        self.take_events();
        // A pause by the caller makes no difference: what follows from the output does so at the end of a whole slice.
        let paused =
            self.came.is_some() || (self.is_stepped && !self.now.0.is_multiple_of(SLICE.0));
        if !paused {
            switches |= std::mem::take(&mut self.phase_begun) && self.timed_since.is_none();
        }
        if switches && end.is_none() {
            self.become_timed();
        }
        if paused {
            return end;
        }
        end.or_else(|| self.exchange())
            .or_else(|| self.watch.over(self.now).then_some(End::Off))
            .or_else(|| self.play())
    }

    /// Meets the run that the cable leads to. Gives the end, if that comes first.
    fn plug_in(&mut self) -> Option<End> {
        match self.cable.as_mut()?.plug_in(&self.cancel) {
            Ok(true) => None,
            Ok(false) => Some(End::Off),
            Err(reason) => Some(End::Failed(format!("the cable {reason}"))),
        }
    }

    /// At the end of a slice: carries frames to the board of the other run and back. Gives the end, if it has come.
    fn exchange(&mut self) -> Option<End> {
        if !self.cable.as_ref().is_some_and(Cable::is_plugged_in) {
            return None;
        }
        let asleep = self.sleeps() && !self.plays() && !self.awaits_input();
        let cable = self.cable.as_mut()?;
        match cable.exchange(self.now, asleep, &self.cancel) {
            Ok(Exchange::Done) => None,
            Ok(Exchange::BothSleep) => Some(End::Failed(
                "all harts of both boards wait, and nothing will ever wake them".to_owned(),
            )),
            Ok(Exchange::Cancelled) => Some(End::Off),
            Err(reason) => Some(End::Failed(format!("the cable {reason}"))),
        }
    }

    /// Goes on with the script, and types what is to be typed. Gives the end, when the script has brought it about.
    fn play(&mut self) -> Option<End> {
        let player = self.player.as_mut()?;
        let now = Nanoseconds(self.now.0 / FEMTOSECONDS_PER_NANOSECOND);
        let input = player.advance(now);
        if !input.is_empty() {
            self.lines.send_at(self.now, &input);
        }
        player.ended().cloned().map(End::Script)
    }

    /// Whether input may still be sent from outside.
    fn awaits_input(&self) -> bool {
        self.interactive.load(Ordering::Relaxed)
            || self.player.as_ref().is_some_and(Player::awaits_feed)
    }

    /// Lets the host's time catch up: for interactive input, virtual time passes no faster than the host's.
    fn keep_pace(&mut self, passed: Femtoseconds, taken: Duration) {
        let passed = Duration::from_nanos(passed.0 / (Femtoseconds::SECOND.0 / 1_000_000_000));
        self.ahead = (self.ahead + passed).saturating_sub(taken);
        if self.ahead > LEAD {
            let begin = Instant::now();
            thread::sleep(self.ahead);
            self.ahead = self.ahead.saturating_sub(begin.elapsed());
        }
    }

    fn become_timed(&mut self) {
        if self.timed_since.is_none() {
            self.save();
            self.board.set_pace(Pace::Timed);
            self.timed_since = Some(self.now);
            self.jobs.judge_from(self.clock.cycle_at(self.now));
            if let Some(length) = self.options.timed_for {
                let end = self.now.saturating_add(femtoseconds(length));
                self.limit = Some(self.limit.unwrap_or(end).min(end));
            }
        }
    }

    /// Writes the snapshot that is wanted.
    fn save(&mut self) {
        if let Some(path) = &self.options.snapshot {
            let path = path.clone();
            if let Err(error) = std::fs::write(&path, self.snapshot()) {
                self.snapshot_error = Some(format!("{}: {error}", path.display()));
            }
        }
    }

    /// The run's state.
    fn snapshot(&mut self) -> Vec<u8> {
        self.saved().to_bytes(&mut self.board)
    }

    /// What a snapshot holds beside the board.
    fn saved(&self) -> Saved {
        Saved {
            now: self.now,
            timed_since: self.timed_since,
            typing: self.player.as_ref().map(Player::typing).unwrap_or_default(),
            written: self.written.clone(),
        }
    }

    /// Hands on what was written; tells whether the phase that was waited for has begun.
    fn take_output(&mut self) -> bool {
        let bytes = self.lines.take_output();
        !bytes.is_empty() && self.hand_on(self.now, &bytes)
    }

    /// The same of what was written by `time`.
    fn hand_on(&mut self, time: Femtoseconds, bytes: &[u8]) -> bool {
        if self.keeps_output {
            self.written.add(time, bytes);
        }
        let begun = self.watch.take(bytes, time, self.player.as_mut(), |line| {
            if let Some(trace) = &mut self.trace {
                trace.line(time, line);
            }
            if let Some(timeline) = &mut self.timeline {
                timeline.line(time, line);
            }
        });
        if let Some(sender) = &self.sender
            && sender.send(bytes.to_vec()).is_err()
        {
            self.cancel.store(true, Ordering::Relaxed);
        }
        begun
    }

    /// Whether more is wanted than what probes see.
    fn sees_events(&self) -> bool {
        self.trace.is_some()
            || self.timeline.is_some()
            || self.options.stays.is_some()
            || self.options.paths.is_some()
            || self.options.jobs.is_some()
            || self.sharing.wanted()
            || self.kept_events.is_some()
    }

    fn take_events(&mut self) {
        if !self.sees_events() && self.options.probes.is_empty() {
            return;
        }
        let (mut events, lost) = self.board.take_events();
        self.lost += lost;
        events.sort_by_key(|event| (event.cycle, event.hart));
        if let Some(kept) = &mut self.kept_events {
            kept.extend(&events);
        }
        for event in events {
            let meter = &mut self.meters[usize::from(event.hart)];
            let spent = meter.read(&event);
            if self.options.paths.is_some() {
                self.paths
                    .event(&event, &spent, self.options.probes.len() as u32);
            }
            self.sharing.event(&event);
            self.jobs.event(&event, self.vms);
            if let Some(timeline) = &mut self.timeline {
                timeline.event(&event, self.vms);
            }
            if let EventKind::Probe {
                probe,
                on,
                arguments,
            } = event.kind
                && !self
                    .hits
                    .take(probe, event.cycle, event.hart, on, arguments)
            {
                // Another worker was at the address.
                continue;
            }
            if let Some([from, to]) = self.options.stays {
                let (cycle, hart) = (event.cycle, event.hart);
                match event.kind {
                    EventKind::Turn(doing) => {
                        let to = Worker::of(doing, self.vms);
                        self.stays.turn(cycle, hart, &spent, to);
                    }
                    EventKind::Interrupt { .. } => self.stays.trap(cycle, hart, true),
                    EventKind::Exception { .. } => self.stays.trap(cycle, hart, false),
                    EventKind::Probe { probe, .. } if probe == from => {
                        self.stays.count_from(cycle);
                        self.paths.count_from(cycle);
                    }
                    EventKind::Probe { probe, .. } if probe == to => {
                        self.stays.count_no_more();
                        self.paths.count_no_more();
                    }
                    _ => {}
                }
            }
            if let Some(trace) = &mut self.trace {
                trace.event(&event, &self.options.probes, self.vms);
            }
        }
    }

    /// What vCPUs have paid to reload cache lines.
    fn reloads(&self) -> Vec<reloads::Paid> {
        let all = self.options.reloads.iter().zip(self.board.reloads());
        all.map(|(watched, reloads)| reloads::Paid {
            vcpu: watched.name.clone(),
            reloads,
        })
        .collect()
    }

    /// What is known of the run by now.
    fn facts(&mut self) -> Facts {
        let harts = (0..self.board.harts())
            .map(|hart| HartFacts {
                cycles: self.board.cycle(hart),
                instructions: self.board.instructions(hart),
                work: work(&self.board.account(hart), self.vms),
                holder: Worker::of(self.board.doing(hart), self.vms),
                counts: *self.board.counts(hart),
            })
            .collect();
        let mut timeline = self.timeline.clone();
        if let Some(timeline) = &mut timeline {
            timeline.finish(self.now);
        }
        let mut jobs = self.jobs.clone();
        jobs.finish(self.clock.cycle_at(self.now));
        self.seen.add(self.ends.take());
        Facts {
            profile: self.options.profile.name.clone(),
            clock_hz: self.options.profile.clock_hz,
            fabric_hz: self.options.profile.fabric.as_ref().map(|f| f.clock_hz),
            seed: self.options.seed,
            memory_model: self.options.memory_model,
            time: self.now,
            unfinished: self.player.as_ref().and_then(Player::unfinished),
            timed_since: self.timed_since,
            timed_from: self.options.timed_from.as_ref().map(Marker::to_string),
            harts,
            hits: self.hits.clone(),
            stays: self.stays.clone(),
            paths: self.paths.clone(),
            jobs,
            reloads: self.reloads(),
            wakes: self.board.take_wakes(),
            sharing: self.sharing.clone(),
            ends: self.seen.clone(),
            pins_from_reset: self.sees_all_pins,
            trace: self.options.trace.clone(),
            timeline,
            storms: self.storms.find(&self.board.storms(), &self.names),
            lost: self.lost,
            trace_error: self.trace_error.clone(),
            trace_hash: self.board.trace_hash(),
        }
    }
}

const fn femtoseconds(time: Nanoseconds) -> Femtoseconds {
    Femtoseconds(time.0.saturating_mul(FEMTOSECONDS_PER_NANOSECOND))
}

/// An account by who the cycles went to, in a fixed order.
fn work(account: &[Spent], vms: usize) -> Vec<(Worker, Work)> {
    let mut work = std::collections::BTreeMap::<Worker, Work>::new();
    for spent in account {
        let sum = work.entry(Worker::of(spent.on, vms)).or_default();
        sum.cycles += spent.cycles;
        sum.instructions += spent.instructions;
    }
    work.into_iter().collect()
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|error| Error::Read {
        path: path.to_owned(),
        error,
    })
}

/// The firmware that board and QEMU start: [`Artifacts::firmware`].
///
/// # Errors
/// There is none.
pub fn find_firmware() -> Result<PathBuf, Error> {
    Artifacts::chosen().firmware().map_err(Error::NoFirmware)
}
