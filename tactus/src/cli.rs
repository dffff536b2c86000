//! The command line: arguments in, exit code out.

use std::convert::Infallible;
use std::num::NonZero;
use std::ops::Range;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use crate::artifacts::Artifacts;
use crate::config::Nanoseconds;
use crate::pci::Slots;
use crate::run::ends::Files;
use crate::run::functions::{Card, Disk, Functions};
use crate::run::show::Shown;
use crate::{
    attack, bench, boot, check, collect, ctl, faults, image, man, new, report, run, sign, sweep,
    timed_io, warm,
};

/// What the process's exit codes mean; printed by `--help`.
const EXIT_CODES: &str = "\
Exit codes:
  0  fine
  1  the answer is no: errors found, a guest failed, a metric past its limit
  2  wrong usage, or something needed is missing or cannot be read";

/// Describe, check, build, run and measure systems of the Tactus real-time hypervisor.
#[derive(Debug, Parser)]
#[command(version, after_help = EXIT_CODES, propagate_version = true)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Take the hypervisor, the `@` artifacts, models and experiments from this directory instead of building them
    /// [default: the environment variable TACTUS_ARTIFACTS; see `tactus artifacts`]
    #[arg(long = "artifacts", value_name = "DIR", global = true)]
    pub artifacts: Option<PathBuf>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check a system: every error with file, line, reason and cure
    #[command(after_help = EXIT_CODES)]
    Check(CheckArguments),
    /// Check a system and make its boot image
    #[command(after_help = EXIT_CODES)]
    Build(BuildArguments),
    /// Build a system and boot it
    #[command(after_help = run::EXIT_CODES)]
    Run(Box<RunArguments>),
    /// Boot any software on the virtual board: firmware, kernels, bare programs, test suites
    #[command(after_help = boot::EXIT_CODES)]
    Boot(Box<BootArguments>),
    /// Run an experiment and compare it with the published figures
    #[command(after_help = bench::EXIT_CODES)]
    Bench(BenchArguments),
    /// Put a hostile guest in the place of each VM in turn, and see what it costs the real-time ones
    #[command(after_help = attack::EXIT_CODES)]
    Attack(AttackArguments),
    /// Run a system with all combinations of what a file varies, and write a table of what was measured
    #[command(after_help = sweep::EXIT_CODES)]
    Sweep(SweepArguments),
    /// Let a fault happen in each of many runs of a system, and judge what each has done to whom
    #[command(after_help = faults::EXIT_CODES)]
    Faults(FaultsArguments),
    /// Find which cache lines a real-time vCPU uses from when its timer wakes it until it waits, for `warm` of
    /// system.toml
    #[command(after_help = EXIT_CODES)]
    Warm(WarmArguments),
    /// Make a report's HTML page again, or one that compares two reports
    #[command(after_help = EXIT_CODES)]
    Report(ReportArguments),
    /// Talk to the VM of a run that manages others: start, stop and restart them, load other images, show a page
    #[command(after_help = ctl::EXIT_CODES)]
    Ctl(CtlArguments),
    /// Sign an image for a VM, so that a manager with the key's public half starts it
    #[command(after_help = EXIT_CODES)]
    Sign(SignArguments),
    /// Build everything that the other commands need, into one directory for --artifacts
    #[command(after_help = EXIT_CODES)]
    Artifacts(CollectArguments),
    /// Assemble a program of the fabric's timed I/O, or read one back
    #[command(after_help = EXIT_CODES)]
    TimedIo(TimedIoArguments),
    /// Create a project to start from
    #[command(after_help = EXIT_CODES)]
    New(NewArguments),
    /// Print the completions of a shell: what it offers at the Tab key
    #[command(after_help = EXIT_CODES)]
    Completions(CompletionsArguments),
    /// Write the man pages: one of `tactus`, one of each command
    #[command(after_help = EXIT_CODES)]
    Man(ManArguments),
}

/// Arguments of `tactus completions`.
#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// Arguments of `tactus man`.
#[derive(Debug, Args)]
pub struct ManArguments {
    /// Where they go; made if it is not there
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
}

/// What runs the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Platform {
    /// QEMU's `virt` machine.
    Qemu,
    /// The virtual board.
    Board,
}

/// What time passes on the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Pace {
    /// One cycle an instruction.
    Fast,
    /// What the profile's pipeline, caches and memory take.
    Timed,
}

/// How harts see each other's loads and stores on the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MemoryModel {
    /// In one order, which is each hart's program order.
    Sequential,
    /// Delayed and reordered as RVWMO allows, with turns of random lengths.
    Weak,
}

impl From<MemoryModel> for tactus_board::board::MemoryModel {
    fn from(model: MemoryModel) -> Self {
        match model {
            MemoryModel::Sequential => Self::Sequential,
            MemoryModel::Weak => Self::Weak,
        }
    }
}

/// Arguments of `tactus check`.
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// The system's description
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Print what is guaranteed too, in numbers: also of a system that is refused, as far as it goes
    #[arg(long)]
    pub report: bool,
    /// Print how far it is from being refused too: budgets, periods, deadlines and overheads, one change at a time
    #[arg(long)]
    pub sensitivity: bool,
    /// Write what an assessor needs to see that the times hold into this directory: evidence.html and evidence.json
    #[arg(long, value_name = "DIR")]
    pub evidence: Option<PathBuf>,
    /// Add the results of attacks on this system, as `tactus attack FILE --json` has written them
    #[arg(long, value_name = "FILE", requires = "evidence")]
    pub campaign: Option<PathBuf>,
    /// Date the evidence, such as with 2026-11-26; without, it has no date
    #[arg(long, value_name = "DATE", requires = "evidence")]
    pub date: Option<String>,
    /// Print one JSON object on stdout and nothing else there
    #[arg(long)]
    pub json: bool,
    /// Which PCI functions
    #[command(flatten)]
    pub functions: FunctionArguments,
}

/// The PCI functions of the machine.
#[derive(Debug, Args)]
pub struct FunctionArguments {
    /// A disk's image, as a PCI function: the first is in slot 1. What is written goes into it on QEMU, and is
    /// forgotten on the board. It is a virtio disk, and with `nvme:FILE` on QEMU an NVMe one
    #[arg(long, value_name = "FILE", value_parser = disk)]
    pub pci_disk: Vec<Disk>,
    /// A network card, as a PCI function, behind the disks: `user` is the host's network, on QEMU, and
    /// `user,tcp=2222:22` forwards this machine's port 2222 to the guest's port 22; on the board `in=FILE` has the
    /// frames that it receives (pcap), and `out=FILE` is for those that it sends; `cable=FILE` leads to the board of
    /// another run that is given the same FILE; `loop` is two cards, linked. It is a virtio card, and
    /// with `e1000e:` before the ends, on QEMU, an e1000e
    #[arg(long, value_name = "ENDS", value_parser = Card::from_text)]
    pub pci_net: Vec<Card>,
}

/// A disk's model and image.
fn disk(text: &str) -> Result<Disk, Infallible> {
    Ok(Disk::from_text(text))
}

impl FunctionArguments {
    /// All of them.
    pub fn all(&self) -> Functions {
        Functions {
            disks: self.pci_disk.clone(),
            nets: self.pci_net.clone(),
            direct: false,
        }
    }

    /// What is in the machine's slots. `None`: nothing is said of them.
    pub fn known(&self) -> Option<Slots> {
        let functions = self.all();
        (!functions.is_empty()).then(|| functions.slots())
    }
}

/// Arguments of `tactus artifacts`.
#[derive(Debug, Args)]
pub struct CollectArguments {
    /// The directory; it is made if there is none
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Only the model of this design of the fabric, or `none`; may be repeated [default: all designs]
    #[arg(long = "model", value_name = "DESIGN")]
    pub models: Vec<String>,
    /// Leave this artifact out, such as `linux`; may be repeated
    #[arg(long, value_name = "NAME")]
    pub without: Vec<String>,
}

/// Arguments of `tactus new`.
#[derive(Debug, Args)]
pub struct NewArguments {
    /// What to create.
    #[command(subcommand)]
    pub command: NewCommand,
}

/// The commands of `tactus new`.
#[derive(Debug, Subcommand)]
pub enum NewCommand {
    /// Create a small guest that builds and runs as generated, and a system that boots it beside others
    #[command(after_help = EXIT_CODES)]
    Guest(NewGuestArguments),
}

/// Arguments of `tactus new guest`.
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("language").required(true).args(["c", "rust"])))]
pub struct NewGuestArguments {
    /// The folder to create; its last component is the guest's name
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
    /// In C
    #[arg(long)]
    pub c: bool,
    /// In Rust, on the guest runtime
    #[arg(long)]
    pub rust: bool,
    /// Use the guest runtime of this clone of Tactus instead of a copy in the folder
    #[arg(long, value_name = "CLONE", conflicts_with = "c")]
    pub runtime: Option<PathBuf>,
}

/// Arguments of `tactus timed-io`.
#[derive(Debug, Args)]
pub struct TimedIoArguments {
    /// What to do.
    #[command(subcommand)]
    pub command: TimedIoCommand,
}

/// The commands of `tactus timed-io`.
#[derive(Debug, Subcommand)]
pub enum TimedIoCommand {
    /// Make the words of a program, one a line in hexadecimal
    Assemble(TimedIoFiles),
    /// Make a program of such words; assembled, it gives the same
    Disassemble(TimedIoFiles),
}

/// What `tactus timed-io` reads and writes.
#[derive(Debug, Args)]
pub struct TimedIoFiles {
    /// What is read
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Where the result goes; default: to stdout
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
}

/// Arguments of `tactus build`.
#[derive(Debug, Args)]
pub struct BuildArguments {
    /// The system's description
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Where the image goes; default: FILE's name with the extension `.bin`, in the current directory
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Which PCI functions
    #[command(flatten)]
    pub functions: FunctionArguments,
}

/// Arguments of `tactus warm`.
#[derive(Debug, Args)]
pub struct WarmArguments {
    /// The system's description
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The VM of the vCPU
    #[arg(long, value_name = "NAME")]
    pub vm: String,
    /// The vCPU's number within the VM
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub vcpu: usize,
    /// Virtual time in which wakes are looked at
    #[arg(long, value_name = "TIME", value_parser = limit, default_value = "100ms")]
    pub time: Nanoseconds,
    /// When that begins: phase:NAME, symbol:SYMBOL, symbol:VM/SYMBOL or cycle:NUMBER [default: when the VM starts]
    #[arg(long, value_name = "EVENT")]
    pub timed_from: Option<String>,
    /// Look at each wake up to this place of the guest, SYMBOL or 0xADDRESS, in place of when it waits
    #[arg(long, value_name = "PLACE")]
    pub until: Option<String>,
    /// The board: a profile's name or file [default: that of the system's platform, or soc]
    #[arg(long, value_name = "PROFILE")]
    pub profile: Option<String>,
    /// What everything random is made of [default: 1]
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// Where the list goes; default: the VM's name with the extension `.warm.toml`, in the current directory
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
}

/// Arguments of `tactus run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// The system's description
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// What runs the image [default: the board for a system whose platform is one, QEMU for others]
    #[arg(long, value_enum)]
    pub platform: Option<Platform>,
    /// Connect the terminal to this VM's console; Ctrl-] ends the run
    #[arg(long, value_name = "VM")]
    pub console: Option<String>,
    /// Offer this VM's console to programs at a socket, such as manager=tactus.sock for `tactus ctl`
    #[arg(long, value_name = "VM=PATH", value_parser = ConsoleSocket::from_text, conflicts_with = "console")]
    pub console_socket: Option<ConsoleSocket>,
    /// Serve a page with the VMs, live, at this port, or any, to browsers of this machine, and print its address; a
    /// system without a manager gets one that manages all VMs
    #[arg(long, value_name = "PORT", num_args = 0..=1, require_equals = true, default_missing_value = "0",
        conflicts_with_all = ["console", "console_socket"])]
    pub page: Option<u16>,
    /// End as soon as this VM is off
    #[arg(long, value_name = "VM")]
    pub until: Option<String>,
    /// End after this much virtual time since reset, such as 500ms: the same run, the same end
    #[arg(long, value_name = "TIME", value_parser = limit)]
    pub limit: Option<Nanoseconds>,
    /// End after this much of the host's time, wherever the run is then
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub host_limit: Option<Duration>,
    /// Write the report into this directory: report.html, and files for programs; a path that ends in .html gets the
    /// page
    #[arg(long, value_name = "PATH")]
    pub report: Option<PathBuf>,
    /// Write what became of each VM and its checks as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Print one JSON object on stdout and nothing else there
    #[arg(long, conflicts_with_all = ["verbose", "console"])]
    pub json: bool,
    /// Show the firmware's output and all records too
    #[arg(short, long, conflicts_with = "console")]
    pub verbose: bool,
    /// Write what this VM sends and receives at the ports that it has of a switch, a VM with the image
    /// `@virtio-switch`, with virtual times since reset (pcap); the newest 2 MiB of each switch; may be repeated
    #[arg(long, value_name = "VM=FILE", value_parser = Wire::from_text)]
    pub pcap: Vec<Wire>,
    /// Which PCI functions
    #[command(flatten)]
    pub functions: FunctionArguments,
    /// What drives the consoles
    #[command(flatten)]
    pub script: ScriptArguments,
    /// Which board
    #[command(flatten)]
    pub board: BoardArguments,
}

/// A VM's ports of a switch, and the file for their frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wire {
    /// The VM.
    pub vm: String,
    /// The file.
    pub file: PathBuf,
}

impl Wire {
    fn from_text(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((vm, file)) if !vm.is_empty() && !file.is_empty() => Ok(Self {
                vm: vm.to_owned(),
                file: file.into(),
            }),
            _ => Err("say VM=FILE, such as linux=linux.pcap".to_owned()),
        }
    }
}

/// A VM's console, and the socket of the host where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsoleSocket {
    /// The VM.
    pub vm: String,
    /// The socket.
    pub path: PathBuf,
}

impl ConsoleSocket {
    fn from_text(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((vm, path)) if !vm.is_empty() && !path.is_empty() => Ok(Self {
                vm: vm.to_owned(),
                path: path.into(),
            }),
            _ => Err("say VM=PATH, such as manager=tactus.sock".to_owned()),
        }
    }
}

impl RunArguments {
    /// The option by which programs drive a VM's console, if one is given.
    pub fn programs(&self) -> Option<&'static str> {
        let socket = self.console_socket.as_ref().map(|_| "--console-socket");
        socket.or(self.page.map(|_| "--page"))
    }

    /// How much is shown while it runs.
    pub fn shown(&self) -> Shown {
        match (self.json, self.verbose) {
            (true, _) => Shown::Nothing,
            (false, true) => Shown::Everything,
            (false, false) => Shown::Lines,
        }
    }
}

/// Arguments of `tactus sign`.
#[derive(Debug, Args)]
pub struct SignArguments {
    /// The VM that the image is for
    #[arg(required_unless_present = "public")]
    pub vm: Option<String>,
    /// The image: a file, or @ and the name of an artifact
    #[arg(value_name = "FILE", required_unless_present = "public")]
    pub image: Option<String>,
    /// The private key: a PEM file, as `openssl genpkey -algorithm ed25519` writes it
    #[arg(long, value_name = "PEM")]
    pub key: PathBuf,
    /// Print the key's public half, for the manager's boot argument `key`
    #[arg(long, conflicts_with_all = ["vm", "image"])]
    pub public: bool,
}

/// Arguments of `tactus ctl`.
#[derive(Debug, Args)]
pub struct CtlArguments {
    /// The socket of the manager's console: `tactus run FILE --console-socket VM=PATH` makes it
    #[arg(long, value_name = "PATH", default_value = "tactus.sock")]
    pub socket: PathBuf,
    /// What to do
    #[command(subcommand)]
    pub command: CtlCommand,
}

/// What `tactus ctl` does.
#[derive(Debug, Subcommand)]
pub enum CtlCommand {
    /// Tell of all VMs that are managed
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Tell of a VM
    Status {
        /// The VM
        vm: String,
    },
    /// End a VM, and wait until it is off
    Stop {
        /// The VM
        vm: String,
    },
    /// Start a VM that is off, with its own image
    Start {
        /// The VM
        vm: String,
    },
    /// End a VM, if it is not off, and start it with its own image
    Restart {
        /// The VM
        vm: String,
    },
    /// Load another image into a VM that is off, and start it
    Load {
        /// The VM
        vm: String,
        /// The image: a file, or @ and the name of an artifact
        #[arg(value_name = "FILE")]
        image: String,
        /// The image's signature, as `tactus sign` prints it, for a manager that has a key
        #[arg(long, value_name = "FILE")]
        signature: Option<PathBuf>,
        /// Do not start it
        #[arg(long)]
        hold: bool,
    },
    /// Print what a VM has written to its console last
    Console {
        /// The VM
        vm: String,
        /// Go on with what it writes
        #[arg(long)]
        follow: bool,
    },
    /// Serve a page with the VMs, live, to browsers of this machine, and print its address
    Page {
        /// The port; 0: any
        #[arg(long, value_name = "PORT", default_value_t = 0)]
        port: u16,
    },
}

/// What drives the consoles in `tactus run`.
#[derive(Debug, Default)]
pub struct ScriptArguments {
    /// The script's file.
    pub file: Option<PathBuf>,
    /// The steps of the command line, in their order.
    pub steps: Vec<ScriptStep>,
    /// How long each text is expected for.
    pub patience: Option<Nanoseconds>,
    /// The exit code that the run ends with behind the last step.
    pub exit: Option<u8>,
}

/// A step of the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptStep {
    /// `--expect`.
    Expect(String),
    /// `--send`.
    Send(String),
}

/// The same as clap reads them; the order of different options is in the indices alone.
#[derive(Debug, Args)]
#[command(next_help_heading = "Driving a console")]
struct ScriptOptions {
    /// Do what this file says: lines such as `expect "~ # "`, `send nproc`, `timeout 5s`, `exit 0`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["expect", "send", "exit"])]
    script: Option<PathBuf>,
    /// Wait until the VM has written this; --expect and --send are done in their order, and may be repeated
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    expect: Vec<String>,
    /// Type this and Enter on the VM's console, that of --console or of the only VM
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    send: Vec<String>,
    /// How much virtual time what is expected may take [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = limit)]
    expect_timeout: Option<Nanoseconds>,
    /// End the run with this exit code behind the last --expect or --send
    #[arg(long, value_name = "CODE")]
    exit: Option<u8>,
}

impl Args for ScriptArguments {
    fn augment_args(command: clap::Command) -> clap::Command {
        ScriptOptions::augment_args(command)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        ScriptOptions::augment_args_for_update(command)
    }
}

impl FromArgMatches for ScriptArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let options = ScriptOptions::from_arg_matches(matches)?;
        let places = |name: &str| matches.indices_of(name).into_iter().flatten();
        let expected = options.expect.into_iter().map(ScriptStep::Expect);
        let sent = options.send.into_iter().map(ScriptStep::Send);
        let mut steps: Vec<(usize, ScriptStep)> = places("expect").zip(expected).collect();
        steps.extend(places("send").zip(sent));
        steps.sort_by_key(|(place, _)| *place);
        Ok(Self {
            file: options.script,
            steps: steps.into_iter().map(|(_, step)| step).collect(),
            patience: options.expect_timeout,
            exit: options.exit,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl ScriptArguments {
    /// The first of them that was given.
    pub fn given(&self) -> Option<&'static str> {
        match (&self.file, self.steps.first(), self.exit) {
            (Some(_), ..) => Some("--script"),
            (_, Some(ScriptStep::Expect(_)), _) => Some("--expect"),
            (_, Some(ScriptStep::Send(_)), _) => Some("--send"),
            (.., Some(_)) => Some("--exit"),
            _ => None,
        }
    }
}

/// Arguments of `tactus run` for the board alone.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "On the board")]
pub struct BoardArguments {
    /// What the board is like: soc, soc-ocm, soc-pci, mpsoc, or a profile's file
    /// [default: the system's platform, or else soc]
    #[arg(long, value_name = "NAME|FILE")]
    pub profile: Option<String>,
    /// What time passes [default: fast]
    #[arg(long, value_enum)]
    pub pace: Option<Pace>,
    /// Fast up to here, timed from here on: phase:NAME, symbol:[VM/]SYMBOL or cycle:NUMBER
    #[arg(long, value_name = "MARKER", conflicts_with = "pace")]
    pub timed_from: Option<String>,
    /// Cycles that a hart runs before another one [default: the profile's]
    #[arg(long, value_name = "CYCLES", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub quantum: Option<u64>,
    /// What everything random is made of [default: 1]
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// How harts see each other's loads and stores; weak is random, from the seed [default: sequential]
    #[arg(long, value_enum)]
    pub memory_model: Option<MemoryModel>,
    /// Write down whenever a hart comes to [VM/]SYMBOL or an address, with N argument registers; may be repeated
    #[arg(long = "probe", value_name = "SYMBOL[:N]")]
    pub probes: Vec<String>,
    /// Write a trace for ui.perfetto.dev
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Wait for gdb at this port of this machine, and run under it
    #[arg(long, value_name = "PORT")]
    pub gdb: Option<u16>,
    /// Write a snapshot where --timed-from passes to timed
    #[arg(long, value_name = "FILE", requires = "timed_from")]
    pub snapshot: Option<PathBuf>,
    /// Go on from a snapshot of the same system on the same board, in place of a reset
    #[arg(long, value_name = "FILE")]
    pub restore: Option<PathBuf>,
    /// Write waveforms of the fabric between two times of the run, such as 10ms..10500us
    #[arg(long, value_name = "FROM..TO", value_parser = window)]
    pub waves: Option<Range<Nanoseconds>>,
    /// Where they go
    #[arg(
        long,
        value_name = "FILE",
        requires = "waves",
        default_value = "fabric.fst"
    )]
    pub waves_file: PathBuf,
    /// Write when the fabric's pins change, as a waveform (VCD)
    #[arg(long, value_name = "FILE")]
    pub pins: Option<PathBuf>,
    /// Write the frames that the fabric's Ethernet sends, as a capture (pcap)
    #[arg(long, value_name = "FILE")]
    pub frames: Option<PathBuf>,
    /// Write the last picture that the fabric's display showed whole (PNG)
    #[arg(long, value_name = "FILE")]
    pub picture: Option<PathBuf>,
}

impl BoardArguments {
    /// Where what is seen at the ends of the fabric's wires goes.
    pub fn ends(&self) -> Files {
        Files {
            pins: self.pins.clone(),
            frames: self.frames.clone(),
            picture: self.picture.clone(),
        }
    }

    /// The first of them that was given.
    pub fn given(&self) -> Option<&'static str> {
        [
            (self.profile.is_some(), "--profile"),
            (self.pace.is_some(), "--pace"),
            (self.timed_from.is_some(), "--timed-from"),
            (self.quantum.is_some(), "--quantum"),
            (self.seed.is_some(), "--seed"),
            (self.memory_model.is_some(), "--memory-model"),
            (!self.probes.is_empty(), "--probe"),
            (self.trace.is_some(), "--trace"),
            (self.gdb.is_some(), "--gdb"),
            (self.snapshot.is_some(), "--snapshot"),
            (self.restore.is_some(), "--restore"),
            (self.waves.is_some(), "--waves"),
            (self.pins.is_some(), "--pins"),
            (self.frames.is_some(), "--frames"),
            (self.picture.is_some(), "--picture"),
        ]
        .into_iter()
        .find_map(|(given, name)| given.then_some(name))
    }
}

/// Arguments of `tactus boot`.
#[derive(Debug, Args)]
pub struct BootArguments {
    /// What the firmware starts in S-mode: an ELF file, or a raw image such as Linux's; `@linux` is Tactus's own
    #[arg(value_name = "KERNEL")]
    pub kernel: Option<PathBuf>,
    /// What the harts start in M-mode in place of OpenSBI; if it has the symbol `tohost`, the run ends by it
    #[arg(long, value_name = "FILE")]
    pub firmware: Option<PathBuf>,
    /// The kernel's initial RAM disk; `@initramfs` is Tactus's own
    #[arg(long, value_name = "FILE")]
    pub initrd: Option<PathBuf>,
    /// The kernel's command line
    #[arg(long, value_name = "TEXT")]
    pub append: Option<String>,
    /// A disk's image, which stays as it is; each one more is the next virtio block device
    #[arg(long, value_name = "FILE")]
    pub disk: Vec<PathBuf>,
    /// The same as a PCI function, of a board that has PCI: the first is device 1 on bus 0
    #[arg(long, value_name = "FILE")]
    pub pci_disk: Vec<PathBuf>,
    /// A network device as a PCI function, behind the disks: `in=FILE` has the frames that it receives (pcap, times
    /// since reset), `out=FILE` is for those that it sends, `in=FILE,out=FILE` both; `loop` is two devices, linked
    #[arg(long, value_name = "ENDS", value_parser = net)]
    pub pci_net: Vec<Net>,
    /// The board: soc, soc-ocm, soc-pci, mpsoc, or the path of a profile
    #[arg(long, value_name = "PROFILE", default_value = "soc")]
    pub profile: String,
    /// Number of harts; default: the profile's
    #[arg(long, value_name = "N")]
    pub harts: Option<usize>,
    /// Memory in MiB; default: the profile's
    #[arg(long, value_name = "MIB")]
    pub memory: Option<u64>,
    /// Charge what pipeline, caches and memory take, in place of one cycle an instruction
    #[arg(long)]
    pub timed: bool,
    /// Cycles that a hart runs before another that is behind it; default: the profile's
    #[arg(long, value_name = "CYCLES", value_parser = clap::value_parser!(u64).range(1..))]
    pub quantum: Option<u64>,
    /// What everything random is made of
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// End after this much virtual time
    #[arg(long, value_name = "SECONDS", value_parser = virtual_seconds)]
    pub limit: Option<f64>,
    /// Write the words between the firmware's symbols begin_signature and end_signature to this file at the end
    #[arg(long, value_name = "FILE")]
    pub signature: Option<PathBuf>,
    /// Send TEXT to the UART at this virtual time, such as 900ms:ls\n; \n, \r, \t, \\ and \xHH are escapes; may be
    /// repeated
    #[arg(long, value_name = "TIME:TEXT", value_parser = timed_input)]
    pub input: Vec<(Nanoseconds, Vec<u8>)>,
    /// Wait for gdb at this port of this machine, and run under it
    #[arg(long, value_name = "PORT")]
    pub gdb: Option<u16>,
    /// Begin with the snapshot in this file, of the same board with the same disks, in place of a reset
    #[arg(long, value_name = "FILE")]
    pub restore: Option<PathBuf>,
    /// Write a snapshot to this file at the end, for --restore to go on from
    #[arg(long, value_name = "FILE")]
    pub snapshot: Option<PathBuf>,
    /// Load the board's fabric with this design
    #[arg(long, value_name = "DESIGN")]
    pub fabric: Option<String>,
    /// Write waveforms of the fabric between two times of the run, such as 10ms..10500us
    #[arg(long, value_name = "FROM..TO", value_parser = window, requires = "fabric")]
    pub waves: Option<Range<Nanoseconds>>,
    /// Where they go
    #[arg(
        long,
        value_name = "FILE",
        requires = "waves",
        default_value = "fabric.fst"
    )]
    pub waves_file: PathBuf,
    /// Say nothing on stderr at the end
    #[arg(short, long)]
    pub quiet: bool,
}

/// Arguments of `tactus bench`.
#[derive(Debug, Args)]
pub struct BenchArguments {
    /// The project's experiment of that name, or one in a file of your own
    #[arg(value_name = "NAME|FILE.toml")]
    pub name: String,
    /// What the experiment must run on [default: what it does run on]
    #[arg(long, value_enum)]
    pub platform: Option<Platform>,
    /// Where pictures go [default: build/bench/NAME; of a file of your own in the current directory]
    #[arg(long, value_name = "DIR")]
    pub pictures: Option<PathBuf>,
    /// Write the report into this directory: report.html; a path that ends in .html gets the page
    #[arg(long, value_name = "PATH")]
    pub report: Option<PathBuf>,
    /// Fewer samples, and without the longest runs: about a minute; without it, at most ten minutes on two cores
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// As many samples as the published experiment took, and all runs: up to hours
    #[arg(long)]
    pub full: bool,
    /// Only report figures in host time, without holding them to their limits: for a machine that has other work
    #[arg(long)]
    pub no_host_limits: bool,
    /// Write the present figures of limits that are missed to bench/known-misses.toml
    #[arg(long)]
    pub record_misses: bool,
    /// Write each figure that has a limit as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write all figures as CSV, a line each
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write all figures as Parquet, a row each
    #[arg(long, value_name = "FILE")]
    pub parquet: Option<PathBuf>,
    /// Print one JSON object on stdout and nothing else there
    #[arg(long)]
    pub json: bool,
}

impl AttackArguments {
    /// Milliseconds of virtual time of each run.
    pub fn ms(&self) -> u64 {
        self.ms.unwrap_or(if self.near_limit { 200 } else { 50 })
    }
}

/// Arguments of `tactus attack`.
#[derive(Debug, Args)]
pub struct AttackArguments {
    /// The system's description
    #[arg(value_name = "FILE", required_unless_present_any = ["list", "random"])]
    pub file: Option<PathBuf>,
    /// Attack so many random systems in place of a file's: one attack in each, seeds from --seed on
    #[arg(long, value_name = "COUNT", conflicts_with_all = ["file", "list", "victims", "attackers", "trusted"],
          value_parser = clap::value_parser!(u64).range(1..))]
    pub random: Option<u64>,
    /// With --random: no attacks, but sets of real-time vCPUs with the largest budgets that are admitted, job by job
    #[arg(long, requires = "random", conflicts_with_all = ["file", "attacks"])]
    pub near_limit: bool,
    /// With --random: make the first system with a finding smaller, fewer VMs and a shorter time, and write it
    #[arg(long, value_name = "OUT", requires = "random", conflicts_with_all = ["file", "near_limit", "json"])]
    pub minimise: Option<PathBuf>,
    /// Watch this VM, and do not replace it; may be repeated [default: each VM with a reserved real-time vCPU]
    #[arg(long = "victim", value_name = "VM")]
    pub victims: Vec<String>,
    /// Replace only this VM; may be repeated [default: each that is not trusted, and no service of the system]
    #[arg(long = "attacker", value_name = "VM")]
    pub attackers: Vec<String>,
    /// Do not replace this VM; may be repeated
    #[arg(long = "trust", value_name = "VM")]
    pub trusted: Vec<String>,
    /// Run only this attack; may be repeated [default: all that the replaced VM has the rights for]
    #[arg(long = "attack", value_name = "NAME")]
    pub attacks: Vec<String>,
    /// What the random numbers of attacks, and of random systems, are made of
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,
    /// With --random: systems at the same time; what is found is the same with any number [default: as many as there
    /// are cores]
    #[arg(short, long, value_name = "NUMBER", requires = "random")]
    pub jobs: Option<NonZero<usize>>,
    /// Virtual time of each run in milliseconds, from when the attack begins [default: 50; with --near-limit: 200]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub ms: Option<u64>,
    /// Say which attacks there are
    #[arg(long)]
    pub list: bool,
    /// Print one JSON object on stdout and nothing else there
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `tactus sweep`.
#[derive(Debug, Args)]
pub struct SweepArguments {
    /// The sweep's description
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The Parquet file of the results; default: FILE's name with the extension `.parquet`, in the current directory
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Write the results as CSV too
    #[arg(long, value_name = "OUT")]
    pub csv: Option<PathBuf>,
    /// Runs at the same time; the results are the same with any number [default: as many as there are cores]
    #[arg(short, long, value_name = "NUMBER")]
    pub jobs: Option<NonZero<usize>>,
    /// End at the first run that is refused, fails or cannot be carried out, and write nothing
    #[arg(long)]
    pub strict: bool,
    /// Print the points and their systems' verdicts, and run nothing
    #[arg(long, conflicts_with_all = ["output", "csv", "strict", "system"])]
    pub list: bool,
    /// Print the description of the system at this point, which `tactus run` takes, and run nothing
    #[arg(long, value_name = "POINT", conflicts_with_all = ["output", "csv", "strict"])]
    pub system: Option<usize>,
}

/// Arguments of `tactus faults`.
#[derive(Debug, Args)]
pub struct FaultsArguments {
    /// The campaign's description
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The Parquet file of the results; default: FILE's name with the extension `.parquet`, in the current directory
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Write the results as CSV too
    #[arg(long, value_name = "OUT")]
    pub csv: Option<PathBuf>,
    /// Keep a page for the browser up to date while the campaign goes on: how far it is, verdicts, the worst runs
    #[arg(long, value_name = "OUT")]
    pub page: Option<PathBuf>,
    /// Runs, each with one fault, in place of those that the file says
    #[arg(long, value_name = "COUNT")]
    pub runs: Option<NonZero<u32>>,
    /// What the random numbers are made of, in place of what the file says
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// Runs at the same time; the results are the same with any number [default: as many as there are cores]
    #[arg(short, long, value_name = "NUMBER")]
    pub jobs: Option<NonZero<usize>>,
    /// Carry out this run alone, from 0, and say where it parts from the one without its fault, and how that spreads;
    /// write nothing
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["output", "csv", "page", "runs", "jobs"])]
    pub run: Option<u32>,
    /// With `--run`: make the run smaller for as long as its verdict stays, and write it as a campaign of its own; its
    /// system goes beside it
    #[arg(long, value_name = "OUT", requires = "run")]
    pub minimise: Option<PathBuf>,
}

/// Arguments of `tactus report`.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// A directory that `run --report` or `bench --report` has written
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Another one, to be compared with it
    #[arg(value_name = "OTHER")]
    pub other: Option<PathBuf>,
    /// Where the page goes [default: DIR/report.html; of a comparison DIR/comparison.html]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Seconds of the board's time, which has an end.
fn virtual_seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|error: std::num::ParseFloatError| error.to_string())?;
    if (0.0..=18_000.0).contains(&seconds) {
        Ok(seconds)
    } else {
        Err("not within 0 and 18000 seconds".to_owned())
    }
}

/// Input for a console: when, and which bytes.
fn timed_input(text: &str) -> Result<(Nanoseconds, Vec<u8>), String> {
    let (time, text) = text
        .split_once(':')
        .and_then(|(time, text)| Some((Nanoseconds::from_text(time)?, text)))
        .ok_or("a time with s, ms, us or ns, a colon and a text, such as 900ms:ls\\n")?;
    Ok((time, unescaped(text)?))
}

/// A text with `\n`, `\r`, `\t`, `\\` and `\xHH` as the bytes that they stand for.
fn unescaped(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        bytes.extend(before.bytes());
        let (byte, length) = match after.as_bytes().first() {
            Some(b'n') => (b'\n', 1),
            Some(b'r') => (b'\r', 1),
            Some(b't') => (b'\t', 1),
            Some(b'\\') => (b'\\', 1),
            Some(b'x') => {
                let digits = after.get(1..3).unwrap_or_default();
                let byte = u8::from_str_radix(digits, 16);
                (byte.map_err(|_| "\\x wants two hexadecimal digits")?, 3)
            }
            _ => return Err("the escapes are \\n, \\r, \\t, \\\\ and \\xHH".to_owned()),
        };
        bytes.push(byte);
        rest = &after[length..];
    }
    bytes.extend(rest.bytes());
    Ok(bytes)
}

/// A part of a run, by two times with their units.
fn window(text: &str) -> Result<Range<Nanoseconds>, String> {
    let times = text
        .split_once("..")
        .and_then(|(from, to)| Some(Nanoseconds::from_text(from)?..Nanoseconds::from_text(to)?));
    // What the board's clock can tell.
    let most = Nanoseconds(18_000_000_000_000);
    match times {
        Some(times) if times.start < times.end && times.end <= most => Ok(times),
        Some(_) => {
            Err("the first time must be below the second, and that at most 18000s".to_owned())
        }
        None => Err("two times with s, ms, us or ns, such as 10ms..10500us".to_owned()),
    }
}

/// What the cable of a network device leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Net {
    /// Another one, which comes with it.
    Loop,
    /// The host's network, by QEMU's own translation of addresses.
    User {
        /// Connections to the host that are the guest's.
        forwards: Vec<Forward>,
    },
    /// Files.
    Files {
        /// The frames that it receives.
        received: Option<PathBuf>,
        /// Where the frames go that it sends.
        sent: Option<PathBuf>,
    },
    /// A card of another run's board.
    Cable {
        /// The socket at which the two runs meet.
        socket: PathBuf,
        /// Where the frames go that it sends, too.
        sent: Option<PathBuf>,
    },
}

/// A TCP port of the host's loopback interface whose connections go to a port of the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forward {
    /// The host's.
    pub host: u16,
    /// The guest's.
    pub guest: u16,
}

impl Forward {
    /// Reads `HOST:GUEST`.
    fn from_text(text: &str) -> Result<Self, String> {
        let (host, guest) = text.split_once(':').ok_or_else(|| {
            format!("`tcp={text}`: say this machine's port and the guest's, such as tcp=2222:22")
        })?;
        let port = |number: &str| match number.parse() {
            Ok(port @ 1..) if number.bytes().all(|byte| byte.is_ascii_digit()) => Ok(port),
            _ => Err(format!(
                "`tcp={text}`: `{number}` is not a port; a port is a number from 1 to 65535"
            )),
        };
        Ok(Self {
            host: port(host)?,
            guest: port(guest)?,
        })
    }
}

/// The ends of a network device's cable.
///
/// # Errors
/// It says none of them.
pub fn net(text: &str) -> Result<Net, String> {
    if text == "loop" {
        return Ok(Net::Loop);
    }
    let mut parts = text.split(',');
    if parts.next() == Some("user") {
        let mut forwards: Vec<Forward> = Vec::new();
        for part in parts {
            let ports = part.strip_prefix("tcp=").ok_or_else(|| {
                format!("`{part}` is nothing that `user` has; say user, or user,tcp=HOST:GUEST such as user,tcp=2222:22")
            })?;
            let forward = Forward::from_text(ports)?;
            if forwards.iter().any(|other| other.host == forward.host) {
                return Err(format!(
                    "port {} of this machine is forwarded twice",
                    forward.host
                ));
            }
            forwards.push(forward);
        }
        return Ok(Net::User { forwards });
    }
    let (mut received, mut sent, mut socket) = (None, None, None);
    for part in text.split(',') {
        let (end, file) = match part.split_once('=') {
            Some(("in", file)) => (&mut received, file),
            Some(("out", file)) => (&mut sent, file),
            Some(("cable", file)) => (&mut socket, file),
            _ => {
                return Err(
                    "say in=FILE, out=FILE, in=FILE,out=FILE, cable=FILE, cable=FILE,out=FILE, loop, user, or user,tcp=HOST:GUEST"
                        .to_owned(),
                );
            }
        };
        if file.is_empty() || end.replace(PathBuf::from(file)).is_some() {
            return Err("name one file for each end".to_owned());
        }
    }
    match (socket, received) {
        (None, received) => Ok(Net::Files { received, sent }),
        (Some(socket), None) => Ok(Net::Cable { socket, sent }),
        (Some(_), Some(_)) => {
            Err("what a cable leads to is another board: it has no in=".to_owned())
        }
    }
}

/// A length of virtual time, which has an end on the board.
fn limit(text: &str) -> Result<Nanoseconds, String> {
    let time = Nanoseconds::from_text(text)
        .ok_or("say a whole number and s, ms, us or ns, such as 5s or 250ms")?;
    if time.0 <= 18_000_000_000_000 {
        Ok(time)
    } else {
        Err("a run has at most 18000s of virtual time".to_owned())
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    text.parse()
        .map_err(|e: std::num::ParseFloatError| e.to_string())
        .and_then(|s| Duration::try_from_secs_f64(s).map_err(|e| e.to_string()))
}

/// Runs the command that the process's arguments name; the exit code is as `--help` says.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Err(missing) = Artifacts::choose(arguments.artifacts) {
        eprintln!("error: {}\n  help: {}", missing.reason, missing.cure);
        return ExitCode::from(2);
    }
    match arguments.command {
        Command::Check(arguments) => check::command(&arguments),
        Command::Build(arguments) => image::command(&arguments),
        Command::Run(arguments) => run::command(&arguments),
        Command::Boot(arguments) => boot::command(&arguments),
        Command::Bench(arguments) => bench::command(&arguments),
        Command::Attack(arguments) => attack::command(&arguments),
        Command::Sweep(arguments) => sweep::command(&arguments),
        Command::Faults(arguments) => faults::command(&arguments),
        Command::Warm(arguments) => warm::command(&arguments),
        Command::Report(arguments) => report::command::command(&arguments),
        Command::Ctl(arguments) => ctl::command(&arguments),
        Command::Sign(arguments) => sign::command(&arguments),
        Command::Artifacts(arguments) => collect::command(&arguments),
        Command::TimedIo(arguments) => timed_io::command(&arguments),
        Command::New(arguments) => new::command(&arguments),
        Command::Completions(arguments) => man::completions(arguments.shell, Arguments::command()),
        Command::Man(arguments) => man::command(&arguments.directory, Arguments::command()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Forward, Net, net};

    #[test]
    fn ports_of_the_host_are_the_guests() {
        let forwards = vec![
            Forward {
                host: 2222,
                guest: 22,
            },
            Forward {
                host: 8080,
                guest: 80,
            },
        ];
        assert_eq!(
            net("user,tcp=2222:22,tcp=8080:80"),
            Ok(Net::User { forwards })
        );
        assert_eq!(
            net("user"),
            Ok(Net::User {
                forwards: Vec::new()
            })
        );
    }

    #[test]
    fn what_is_no_port_is_refused() {
        let port = "is not a port; a port is a number from 1 to 65535";
        for (text, reason) in [
            ("user,tcp=0:22", format!("`tcp=0:22`: `0` {port}")),
            ("user,tcp=2222:65536", format!("`tcp=2222:65536`: `65536` {port}")),
            ("user,tcp=+1:22", format!("`tcp=+1:22`: `+1` {port}")),
            ("user,tcp=:22", format!("`tcp=:22`: `` {port}")),
            (
                "user,tcp=22",
                "`tcp=22`: say this machine's port and the guest's, such as tcp=2222:22".to_owned(),
            ),
            (
                "user,tcp=1:2,tcp=1:3",
                "port 1 of this machine is forwarded twice".to_owned(),
            ),
            (
                "user,in=file",
                "`in=file` is nothing that `user` has; say user, or user,tcp=HOST:GUEST such as user,tcp=2222:22".to_owned(),
            ),
        ] {
            assert_eq!(net(text), Err(reason));
        }
    }

    #[test]
    fn any_text_is_read_or_refused() {
        let corpus =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/network");
        for entry in std::fs::read_dir(corpus).expect("the corpus") {
            let path = entry.expect("an entry").path();
            crate::testing::try_network(&std::fs::read_to_string(path).expect("a text"));
        }
    }
}
