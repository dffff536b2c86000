//! `tactus run`: boots a system and watches it.
//!
//! [`machine`] is what the image runs on: a QEMU process ([`qemu`]) or the virtual board ([`board`]). [`console`] takes
//! its serial line apart, [`record`] reads the records in it, [`journal`] keeps what they say, [`session`] is all of
//! that from start to end, which other commands and tests use as well. [`show`] and [`attach`] are the terminal's two
//! ways to take part.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use miette::{IntoDiagnostic, WrapErr, miette};
use tactus_board::board::Pace;
use tactus_board::fabric::ModelError;
use tactus_board::time::Clock;
use tempfile::NamedTempFile;

use crate::artifacts::{Artifacts, Missing};
use crate::boot;
use crate::check;
use crate::cli::{self, ConsoleSocket, RunArguments, ScriptArguments, ScriptStep};
use crate::config::Config;
use crate::illegal;
use crate::image::{self, Image};
use crate::junit::{self, Case, Ended, Suite};
use crate::problem::io_reason;
use crate::report;
use crate::report::page::About;
use crate::tiles;

use attach::RawTerminal;
use board::probe::{Place, Probe};
use board::storms::Watched;
use board::{Marker, Options};
use console::Framer;
use heartbeat::Heartbeat;
use machine::{Launch, Platform};
use offer::{Offer, Offered};
use ports::Ports;
use qemu::QEMU;
use script::{Action, Script, Step, Typed};
use session::{Ending, Outcome, Plan, Session, Verdict, Watcher};
use show::{Attached, Show};
use state::State;

pub mod attach;
pub mod board;
pub mod console;
pub mod debugger;
pub mod ends;
pub mod functions;
pub(crate) mod heartbeat;
pub mod journal;
pub mod kept;
pub mod machine;
mod offer;
mod page;
pub mod ports;
pub mod pulses;
pub mod qemu;
pub mod record;
pub mod script;
pub mod session;
pub mod show;
pub mod state;
pub mod visible;
mod waited;

/// What the exit codes of `tactus run` mean; printed by its `--help`.
pub const EXIT_CODES: &str = "\
Exit codes:
  0    every VM that ended shut down in good order
  1    a VM was stopped by a fault or ended as failed, or a check of its own failed
  2    wrong usage, the system is not in order, or something needed is missing
  3    the hypervisor refused the system or panicked, or the machine ended without it
  4    the time given by --limit or --host-limit was up
  5    what a script expects did not come in time
  6    the run ended before its script did
  130  interrupted
A script's `exit CODE` gives CODE where the run would give 0.";

/// Lines of the firmware's output that a failed run shows.
const FIRMWARE_LINES: usize = 40;

/// Why a run could not be carried out.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum Error {
    /// The emulator is not installed.
    #[error("{QEMU} is not installed (not found in PATH)")]
    #[diagnostic(help("run `make setup`, which installs it"))]
    NoQemu,
    /// The emulator does not do what the firmware needs.
    #[error(
        "this {QEMU} does not run guests: machine mode's writes of `mstatus.MPV` are ignored, as by 10.0.11 to 10.0.13 and 11.1.3"
    )]
    #[diagnostic(help(
        "run `make setup`, which replaces it, or put another version first in PATH; the virtual board needs none: `--platform board`"
    ))]
    QemuIgnoresMpv,
    /// The machine could not be started.
    #[error("the machine could not be started: {0}")]
    Start(std::io::Error),
    /// The firmware is not there.
    #[error("{}", .0.reason)]
    #[diagnostic(help("{}", .0.cure))]
    NoFirmware(Missing),
    /// A file that goes into the board cannot be read.
    #[error("{} cannot be read: {error}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The system needs a second UART.
    #[error("QEMU has one UART, which {vm} has; the hypervisor is built for another one beside it")]
    #[diagnostic(help("say --platform board"))]
    NoSpareUart {
        /// The VM with the UART.
        vm: String,
    },
    /// The profile has no such board.
    #[error("the system does not fit the board `{profile}`: {reason}")]
    #[diagnostic(help("choose another with --profile, or change the system"))]
    Board {
        /// The profile.
        profile: String,
        /// What is in the way.
        reason: String,
    },
    /// The trace cannot be written.
    #[error("the trace {} cannot be written: {error}", path.display())]
    Trace {
        /// Its file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The snapshot is not one that this run can go on from.
    #[error("the run cannot go on from {}: {reason}", path.display())]
    Snapshot {
        /// Its file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// Bytes are not a snapshot that this run can go on from.
    #[error("the run cannot go on from this snapshot: {0}")]
    BadSnapshot(String),
    /// The fabric's design cannot be loaded.
    #[error(transparent)]
    Fabric(#[from] ModelError),
    /// gdb cannot be waited for.
    #[error("gdb cannot be waited for at port {port}: {error}")]
    Gdb {
        /// The port.
        port: u16,
        /// Why.
        error: std::io::Error,
    },
    /// The serial line broke.
    #[error("the machine's serial line failed: {0}")]
    Line(std::io::Error),
    /// Whether the awaited VM is off is told by a line that a VM can silence.
    #[error(
        "whether {until} is off is read from the serial line that {forger} has, and can silence: the run may never end"
    )]
    #[diagnostic(help("say how long it may take: --limit TIME, or --host-limit TIME"))]
    Endless {
        /// The VM with the line.
        forger: String,
        /// The awaited one.
        until: String,
    },
    /// The machine's PCI functions are not those that the system needs, or that it can have.
    #[error("{0}")]
    Functions(String),
    /// A snapshot of one of two boards that are linked.
    #[error(
        "a board with a cable to another run's has no snapshot: the other would have to be of the same time"
    )]
    #[diagnostic(help("leave `--snapshot` and `--restore` away, or the cable"))]
    LinkedSnapshot,
    /// A VM that the system does not have.
    #[error("the system has no VM \"{name}\"; its VMs are: {known}")]
    NoSuchVm {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
}

/// A system that has been built and can be booted.
#[derive(Debug)]
pub struct Boot {
    /// The run; what it needs beyond a start is up to the caller.
    pub plan: Plan,
    /// The boot image.
    pub image: Image,
    file: NamedTempFile,
}

impl Boot {
    /// Builds the system that `file` describes.
    ///
    /// # Errors
    /// The system is not in order, or its image cannot be written.
    pub fn of(file: &Path) -> miette::Result<Self> {
        Self::of_image(image::build_file(file)?)
    }

    /// Builds the system that `file` describes, after `edit` changed its text and `change` the description.
    ///
    /// # Errors
    /// As [`Boot::of`].
    pub fn of_changed(
        file: &Path,
        edit: impl FnOnce(String) -> String,
        change: impl FnOnce(&mut Config),
    ) -> miette::Result<Self> {
        Self::of_image(image::build_changed(file, edit, change)?)
    }

    /// A boot image that has been built.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn of_image(image: Image) -> miette::Result<Self> {
        let mut file = NamedTempFile::with_prefix("tactus-")
            .and_then(|mut file| file.write_all(&image.bytes).map(|()| file))
            .into_diagnostic()
            .wrap_err("the boot image could not be written to a temporary file")?;
        file.flush().into_diagnostic()?;
        let plan = Plan::new(
            Launch {
                image: file.path().to_owned(),
                initrd: None,
                bootargs: String::new(),
                harts: image.harts as u32,
                memory_bytes: image.memory,
                platform: Platform::Qemu,
            },
            image.vms.clone(),
            image.timebase_hz.into(),
        );
        let plan = Plan {
            line: image.line,
            storms: Watched {
                interrupts: image.interrupts.clone(),
                period: image.service_period,
            },
            ..plan
        };
        Ok(Self { plan, image, file })
    }

    /// Where the boot image is, as long as this value lives.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Boots it and waits for its end.
    ///
    /// # Errors
    /// The machine cannot be started or read.
    pub fn run(&self, watcher: &mut dyn Watcher) -> Result<Outcome, Error> {
        Session::start(self.plan.clone())?.finish(watcher)
    }
}

/// Carries the command out; the exit code is as `--help` says.
pub fn command(arguments: &RunArguments) -> ExitCode {
    match run(arguments) {
        Ok(code) => ExitCode::from(code),
        Err(report) => {
            eprintln!("{report:?}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &RunArguments) -> miette::Result<u8> {
    if let Some(directory) = &arguments.report {
        report::command::prepare(directory)?;
    }
    let functions = arguments.functions.all();
    let machine = Some(functions.slots());
    drives_alone(arguments)?;
    let waiting_page = arguments.page.map(page::Waiting::at).transpose()?;
    let mut manager = None;
    let mut ports = Ok(Ports::default());
    let tell = |config: &mut Config| {
        if waiting_page.is_some() {
            manager = config.page_manager();
        }
        ports = Ports::of(&arguments.pcap, config);
    };
    let verdict = check::check_changed(&arguments.file, &Artifacts::chosen(), machine, tell);
    let mut ports = ports?;
    if let Some(system) = &verdict.tiles {
        check::print_problems(&verdict.problems);
        return tiles::command(arguments, system);
    }
    let about = About::of(&arguments.file).planned(verdict.plan.as_ref());
    let boot = image::build_judged(verdict).and_then(Boot::of_image)?;
    let mut plan = boot.plan.clone();
    plan.kept = ports.keep(&boot.image)?;
    // What is no file, is said here rather than by the machine.
    let images = functions.disks.iter().map(|disk| disk.image.as_path());
    boot::disks("--pci-disk", images)?;
    plan.functions = functions;
    plan.limit = arguments.limit;
    plan.host_limit = arguments.host_limit;
    plan = plan.on(platform(arguments, &boot.image)?);
    if let Some(until) = &arguments.until {
        plan = plan.until(until)?;
    }
    let attach = arguments
        .console
        .as_deref()
        .map(|name| plan.vm_index(name))
        .transpose()?;
    plan.script = script(&arguments.script, &plan.vms, attach)?;
    let mut offer = match (&arguments.console_socket, &waiting_page) {
        (Some(socket), _) => Some(offer(socket, &plan)?),
        (None, Some(page)) => {
            let name = manager.ok_or_else(|| miette!("--page: no name is left for a manager"))?;
            Some(page.offer(plan.vm_index(&name)?)?)
        }
        (None, None) => None,
    };
    let keys = io::stdin().is_terminal();
    if let (Some(vm), None, false) = (attach, &plan.script, keys) {
        let feed = attach::feed().into_diagnostic()?;
        plan.typed = Some(Typed { vm, feed });
    }
    let types = attach.is_some() && plan.script.is_none() && keys;
    let vms = plan.vms.clone();
    let platform = plan.launch.platform.clone();
    let progress = show::progress("booting");
    let mut session = Session::start(plan)?;
    if let Some(port) = arguments.board.gdb {
        let script = debugger::write_script(&boot.image, port)?;
        eprintln!(
            "The board waits for gdb: gdb-multiarch -x {}",
            script.display()
        );
    }
    let stop = session.stop();
    let interrupt = stop.clone();
    ctrlc::set_handler(move || interrupt.interrupt()).into_diagnostic()?;
    let outcome = match attach {
        None => {
            let virtual_time = match &platform {
                Platform::Board(options) => Some(Arc::clone(&options.now)),
                Platform::Qemu => None,
            };
            let heartbeat = Heartbeat::new(progress.clone(), virtual_time);
            let mut show = Show::new(&vms, arguments.shown(), progress.clone(), stop)
                .with_heartbeat(heartbeat);
            match &mut offer {
                None => session.finish(&mut show),
                Some(offer) => {
                    if let Some(input) = session.take_input() {
                        offer.serve(input);
                    }
                    let directory = waiting_page.map(page::Waiting::serve);
                    let hides = directory.is_some();
                    session.finish(&mut Offered {
                        watcher: &mut show,
                        offer,
                        hides,
                    })
                }
            }
        }
        Some(vm) => {
            progress.finish_and_clear();
            let _terminal = types
                .then(RawTerminal::enter)
                .transpose()
                .into_diagnostic()
                .wrap_err("the terminal could not be attached to the VM")?;
            if types {
                eprint!("Console of {}; Ctrl-] ends the run.\r\n", vms[vm]);
                if let (Some(framer), Some(input)) = (Framer::new(vm), session.take_input()) {
                    attach::forward_input(framer, input, stop.clone());
                }
            }
            session.finish(&mut Attached::new(vm, stop))
        }
    };
    progress.finish_and_clear();
    let outcome = outcome?;
    for remark in ports.write(&vms, boot.plan.timebase_hz)? {
        eprintln!("warning: {remark}");
    }
    if let Some(distrust) = outcome.distrust() {
        eprintln!("warning: {distrust}");
    }
    let verdict = outcome.verdict();
    if verdict == Verdict::HypervisorFailed
        || (matches!(outcome.ending, Ending::Limit | Ending::HostLimit)
            && outcome.journal.version.is_none())
    {
        show_firmware(&outcome);
    }
    let system = arguments.file.display().to_string();
    let mut text = format!("\n{}", report::summary(&outcome));
    let image_of = |vm: &str| {
        let index = vms.iter().position(|name| name == vm)?;
        boot.image.guests.get(index)?.as_deref()
    };
    let explanations = illegal::explanations(&outcome.journal.faults, image_of);
    if !explanations.is_empty() {
        text += &format!("\n{explanations}");
    }
    let written = match &arguments.report {
        Some(directory) => Some(report::write(&outcome, &about, directory).into_diagnostic()?),
        None => None,
    };
    if let (Platform::Board(options), Some(facts)) = (&platform, &outcome.board)
        && let Some(fabric) = &options.profile.fabric
    {
        let clock = Clock::from_hertz(fabric.clock_hz);
        let files = arguments.board.ends();
        files.write(&facts.ends, options.ends.pins, clock)?;
    }
    text += &written.map_or_else(String::new, |written| {
        report::where_to_look(&outcome, &written)
    });
    if let Some(path) = &arguments.junit {
        write_junit(path, &outcome, &system)?;
    }
    if arguments.json {
        print_json(&outcome, &system);
    } else {
        // A closed stdout wants no summary; the verdict stands.
        let _ = io::stdout().write_all(text.as_bytes());
    }
    match verdict {
        Verdict::HypervisorFailed | Verdict::ScriptTimeout => {
            eprintln!("error: {}", outcome.reason());
        }
        Verdict::ScriptUnfinished => {
            let step = outcome.unfinished.as_deref().unwrap_or_default();
            eprintln!("error: {step}: the run ended before: {}", outcome.reason());
        }
        _ => {}
    }
    Ok(outcome.exit_code())
}

/// The socket at which the arguments offer a VM's console.
fn offer(socket: &ConsoleSocket, plan: &Plan) -> miette::Result<Offer> {
    let vm = plan.vm_index(&socket.vm)?;
    let path = &socket.path;
    let offer = Offer::open(vm, path);
    offer.map_err(|error| miette!("{}: {}", path.display(), io_reason(&error)))
}

/// Whether programs at a socket, if there are any, drive the consoles alone.
fn drives_alone(arguments: &RunArguments) -> miette::Result<()> {
    match arguments.programs() {
        Some(option) if arguments.script.given().is_some() => Err(miette!(
            help = "leave out one of the two",
            "a script drives the consoles, and programs of {option} would"
        )),
        _ => Ok(()),
    }
}

/// The script that the arguments want. `console`: the VM of `--console`.
fn script(
    arguments: &ScriptArguments,
    vms: &[String],
    console: Option<usize>,
) -> miette::Result<Option<Script>> {
    if let Some(file) = &arguments.file {
        return Script::read(file, vms, console).map(Some);
    }
    if arguments.given().is_none() {
        return Ok(None);
    }
    let patience = arguments.patience.unwrap_or(script::PATIENCE);
    let whose = || {
        console.or((vms.len() == 1).then_some(0)).ok_or_else(|| {
            miette!(
                help = format!("say --console VM; the VMs are {}", vms.join(", ")),
                "{} does not say whose console is meant",
                arguments.given().unwrap_or_default()
            )
        })
    };
    let mut steps = Vec::new();
    for step in &arguments.steps {
        steps.push(match step {
            ScriptStep::Expect(text) if text.is_empty() => {
                return Err(miette!("--expect needs a text"));
            }
            ScriptStep::Expect(text) => Step {
                action: Action::Expect {
                    vm: whose()?,
                    text: text.clone().into_bytes(),
                    patience,
                },
                name: format!("--expect \"{text}\""),
            },
            ScriptStep::Send(text) => Step {
                action: Action::Send {
                    vm: whose()?,
                    bytes: format!("{text}\n").into_bytes(),
                },
                name: format!("--send \"{text}\""),
            },
        });
    }
    steps.extend(arguments.exit.map(|code| Step {
        action: Action::Exit(code),
        name: format!("--exit {code}"),
    }));
    Ok(Some(Script { steps }))
}

/// Prints a run for programs.
pub(crate) fn print_json(outcome: &Outcome, system: &str) {
    let mut object = report::report_json(outcome, system);
    object["exit_code"] = outcome.exit_code().into();
    object["script_unfinished"] = outcome.unfinished.clone().into();
    // A closed stdout wants no more output; the verdict stands.
    let _ = writeln!(io::stdout(), "{object:#}");
}

/// Writes what became of each VM, and its checks.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn write_junit(path: &Path, outcome: &Outcome, system: &str) -> miette::Result<()> {
    junit::write(path, system, &suites(outcome))
}

/// A suite for each VM: its checks, and how it ended; and one for the run.
fn suites(outcome: &Outcome) -> Vec<Suite> {
    let mut suites: Vec<Suite> = outcome
        .journal
        .vms
        .iter()
        .map(|vm| {
            let passed = vm
                .passed
                .iter()
                .map(|name| Case::new(name.as_str(), Ended::Passed));
            let failed = vm
                .failed
                .iter()
                .map(|(name, reason)| Case::new(name.as_str(), Ended::Failed(reason.clone())));
            let state = vm.state();
            let end = match state {
                State::Failed { .. } | State::Faulted | State::Refused => {
                    let mut faults = outcome.journal.faults.iter();
                    let last = faults.rfind(|fault| fault.vm == vm.name);
                    Ended::Failed(match last {
                        Some(fault) if state == State::Faulted => {
                            format!("{state}: {} at pc {:#x}", report::why(fault), fault.pc)
                        }
                        _ => state.to_string(),
                    })
                }
                State::NotStarted | State::Loading => Ended::Skipped(state.to_string()),
                State::Running
                | State::Waiting
                | State::ShutDown
                | State::Stopped
                | State::Held => Ended::Passed,
            };
            let cases = passed
                .chain(failed)
                .chain([Case::new("end", end)])
                .collect();
            let name = vm.name.clone();
            Suite { name, cases }
        })
        .collect();
    let ended = match outcome.verdict() {
        Verdict::Good | Verdict::GuestFailed => Ended::Passed,
        _ => Ended::Error(outcome.reason()),
    };
    let mut cases = vec![Case::new("end", ended)];
    let distrust = outcome.distrust();
    cases.extend(distrust.map(|distrust| Case::new("trusted", Ended::Skipped(distrust))));
    if let Some(step) = &outcome.unfinished {
        cases.push(Case::new(
            "script",
            Ended::Failed(format!("not done: {step}")),
        ));
    }
    suites.push(Suite {
        name: "(run)".to_owned(),
        cases,
    });
    suites
}

/// What the arguments want the system to run on.
fn platform(arguments: &RunArguments, image: &Image) -> miette::Result<Platform> {
    let wanted = &arguments.board;
    let platform = tactus_board::profile::Profile::names().find(|name| *name == image.platform);
    let given = arguments.platform.unwrap_or(match platform {
        Some(_) => cli::Platform::Board,
        None => cli::Platform::Qemu,
    });
    if given == cli::Platform::Qemu && arguments.limit > Some(qemu::LIMIT_MAX) {
        return Err(miette!(
            help = "give it a smaller one, or say --platform board",
            "--limit is {} at most on QEMU",
            qemu::LIMIT_MAX
        ));
    }
    if given == cli::Platform::Qemu && image.design.is_some() {
        return Err(miette!(
            help = "say --platform board",
            "the system has a fabric, and QEMU has none"
        ));
    }
    if given == cli::Platform::Qemu {
        return match wanted.given() {
            None => Ok(Platform::Qemu),
            Some(option) => Err(miette!(
                help = "say --platform board",
                "{option} is for the board, and the platform is QEMU"
            )),
        };
    }
    let mut options = Options::of(image, wanted.profile.as_deref())?;
    if wanted.pace == Some(cli::Pace::Timed) {
        options.pace = Pace::Timed;
    }
    if let Some(text) = &wanted.timed_from {
        options.timed_from = Some(marker(text, image)?);
    }
    options.quantum = wanted.quantum;
    options.seed = wanted.seed.unwrap_or(options.seed);
    options.memory_model = wanted.memory_model.map(Into::into).unwrap_or_default();
    for text in &wanted.probes {
        options.probes.push(Probe::find(text, image)?);
    }
    options.reloads.clone_from(&image.reloads);
    options.trace.clone_from(&wanted.trace);
    options.timeline = arguments.report.as_ref().map(|_| board::interfaces(image));
    options.gdb = wanted.gdb;
    match (
        boot::waves(wanted.waves.as_ref(), &wanted.waves_file),
        &mut options.fabric,
    ) {
        (waves, Some(fabric)) => fabric.waves = waves,
        (None, None) => {}
        (Some(_), None) => {
            return Err(miette!(
                help = "name a design in the system's `[fabric]`",
                "--waves shows the fabric, and nothing is loaded into it"
            ));
        }
    }
    options.ends = wanted.ends().watched(image.design.as_deref())?;
    options.snapshot.clone_from(&wanted.snapshot);
    options.restore.clone_from(&wanted.restore);
    Ok(Platform::Board(Box::new(options)))
}

/// The event that the text names, as `--timed-from` does.
///
/// # Errors
/// It names none, or a place that is not in the image.
pub fn marker(text: &str, image: &Image) -> miette::Result<Marker> {
    let marker = match text.split_once(':') {
        Some(("phase", name)) if !name.is_empty() => Some(Marker::Phase(name.to_owned())),
        Some(("symbol", place)) => Some(Marker::Place(Place::find(place, image)?)),
        Some(("cycle", number)) => number.parse().ok().map(Marker::Cycle),
        _ => None,
    };
    marker.ok_or_else(|| {
        miette!(
            help = "say phase:NAME, symbol:SYMBOL, symbol:VM/SYMBOL or cycle:NUMBER",
            "`{text}` is not something that happens in a run"
        )
    })
}

/// The end of what the firmware wrote: without a hypervisor that speaks it is all there is to go by.
fn show_firmware(outcome: &Outcome) {
    let text = outcome.journal.firmware.text();
    let lines: Vec<&str> = text.lines().collect();
    let shown = lines.len().saturating_sub(FIRMWARE_LINES);
    for line in &lines[shown..] {
        eprintln!("firmware | {}", line.trim_end());
    }
}
