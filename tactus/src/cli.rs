//! The command line: arguments in, exit code out.

use std::ops::Range;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::artifacts::Artifacts;
use crate::config::Nanoseconds;
use crate::run::ends::Files;
use crate::{bench, boot, build, check, report, run, timed_io};

/// What the process's exit codes mean; printed by `--help`.
const EXIT_CODES: &str = "\
Exit codes:
  0  fine
  1  the answer is no: contradictions found, a guest failed, a metric past its limit
  2  wrong usage, or something needed is missing or cannot be read";

/// Describe, check, build, run and measure systems of the Tactus real-time hypervisor.
#[derive(Debug, Parser)]
#[command(version, after_help = EXIT_CODES, propagate_version = true)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check a system: every contradiction with file, line, reason and cure
    #[command(after_help = EXIT_CODES)]
    Check(CheckArguments),
    /// Check a system and make its boot image
    #[command(after_help = EXIT_CODES)]
    Build(BuildArguments),
    /// Build a system and boot it
    #[command(after_help = run::EXIT_CODES)]
    Run(RunArguments),
    /// Boot any software on the virtual board: firmware, kernels, bare programs, test suites
    #[command(after_help = boot::EXIT_CODES)]
    Boot(BootArguments),
    /// Run an experiment and compare it with the published figures
    #[command(after_help = bench::EXIT_CODES)]
    Bench(BenchArguments),
    /// Make a report's HTML page again, or one that compares two reports
    #[command(after_help = EXIT_CODES)]
    Report(ReportArguments),
    /// Assemble a program of the fabric's timed I/O, or read one back
    #[command(after_help = EXIT_CODES)]
    TimedIo(TimedIoArguments),
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

/// Arguments of `tactus check`.
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// The system's description
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Print what is guaranteed too, in numbers: also of a system that is refused, as far as it goes
    #[arg(long)]
    pub report: bool,
    /// Print one JSON object on stdout and nothing else there
    #[arg(long)]
    pub json: bool,
    /// Where the artifacts come from
    #[command(flatten)]
    pub artifacts: ArtifactArguments,
}

/// Where the artifacts come from.
#[derive(Debug, Args)]
pub struct ArtifactArguments {
    /// Take the hypervisor and the `@` artifacts from this directory instead of building them
    #[arg(long = "artifacts", value_name = "DIR")]
    pub directory: Option<PathBuf>,
}

impl ArtifactArguments {
    /// The source of artifacts that is meant.
    pub fn source(&self) -> Artifacts {
        match &self.directory {
            Some(directory) => Artifacts::Directory(directory.clone()),
            None => Artifacts::Workspace,
        }
    }
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
    /// Where the artifacts come from
    #[command(flatten)]
    pub artifacts: ArtifactArguments,
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
    /// End as soon as this VM is off
    #[arg(long, value_name = "VM")]
    pub until: Option<String>,
    /// End after this much host time, as a failure
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,
    /// Write the report into this directory: report.html, and files for programs
    #[arg(long, value_name = "DIR")]
    pub report: Option<PathBuf>,
    /// Show the firmware's output and all records too
    #[arg(short, long, conflicts_with = "console")]
    pub verbose: bool,
    /// Which board
    #[command(flatten)]
    pub board: BoardArguments,
}

/// Arguments of `tactus run` for the board alone.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "On the board")]
pub struct BoardArguments {
    /// What the board is like: soc, mpsoc, or a profile's file [default: the system's platform, or else soc]
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
    /// The board: soc, mpsoc, or the path of a profile
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
    /// The experiment
    #[arg(value_name = "NAME")]
    pub name: String,
    /// What the experiment must run on [default: what it does run on]
    #[arg(long, value_enum)]
    pub platform: Option<Platform>,
    /// Where pictures go [default: build/bench/NAME]
    #[arg(long, value_name = "DIR")]
    pub pictures: Option<PathBuf>,
    /// Write the report into this directory: report.html
    #[arg(long, value_name = "DIR")]
    pub report: Option<PathBuf>,
    /// Fewer samples: at most a minute
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// As many samples as the published experiment took
    #[arg(long)]
    pub full: bool,
    /// Print one JSON object on stdout and nothing else there
    #[arg(long)]
    pub json: bool,
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

fn seconds(text: &str) -> Result<Duration, String> {
    text.parse()
        .map_err(|e: std::num::ParseFloatError| e.to_string())
        .and_then(|s| Duration::try_from_secs_f64(s).map_err(|e| e.to_string()))
}

/// Runs the command that the process's arguments name; the exit code is as `--help` says.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match arguments.command {
        Command::Check(arguments) => check::command(&arguments),
        Command::Build(arguments) => build::command(&arguments),
        Command::Run(arguments) => run::command(&arguments),
        Command::Boot(arguments) => boot::command(&arguments),
        Command::Bench(arguments) => bench::command(&arguments),
        Command::Report(arguments) => report::command::command(&arguments),
        Command::TimedIo(arguments) => timed_io::command(&arguments),
    }
}
