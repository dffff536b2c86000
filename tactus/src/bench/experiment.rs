//! An experiment as data: `bench/NAME.toml` says what to run and which figures to take from it, once for all that
//! differs in [`factors`] only.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use miette::{IntoDiagnostic, WrapErr, miette};
use serde::{Deserialize, Deserializer, de};

use super::area::AreaSource;
use super::{factors, misses};
use crate::artifacts::{self, Artifacts};
use crate::config::{IoPolicy, Nanoseconds};
use crate::profile::{self, Profile};
use crate::report::unit::Unit;
use crate::run::board::paths::Phase;
use crate::run::board::sharing::Part;
use crate::run::functions::Card;

/// Directory of the experiments, in the project's root.
const DIRECTORY: &str = "bench";

/// An experiment.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// What it finds out.
    pub title: String,
    /// Profile of the platform that its figures are for.
    pub profile: String,
    /// What is run. Two at a time are begun, in this order.
    #[serde(rename = "run")]
    pub runs: Vec<Run>,
    /// What is taken from the runs.
    #[serde(rename = "metric")]
    pub metrics: Vec<Metric>,
    /// What is drawn of it.
    #[serde(default, rename = "picture")]
    pub pictures: Vec<Picture>,
    /// How samples are distributed, as pictures.
    #[serde(default, rename = "histogram")]
    pub histograms: Vec<Histogram>,
}

impl Experiment {
    /// Whether a run's paths are listed on the page of paths: of all runs, if no metric compares with a page.
    pub fn is_of_page(&self, run: &Run) -> bool {
        let sources = self.metrics.iter().flat_map(|metric| &metric.paths);
        let mut compared = sources.filter(|source| source.past.is_some()).peekable();
        compared.peek().is_none() || compared.any(|source| source.runs.contains(&run.name))
    }

    /// The same without limits for figures in host time, which are reported only.
    pub fn without_host_limits(mut self) -> Self {
        for metric in &mut self.metrics {
            if metric.coupling.is_some() {
                (metric.limit, metric.least) = (None, None);
            }
        }
        self
    }
}

/// Virtual time, in seconds, after which a run hangs: longer than any takes. That it is virtual time makes a run's end
/// the same on each host, however fast or busy.
pub const LIMIT_SECONDS: u64 = 600;

/// One run of an experiment: a system, on the platform that it names, or a guest without the hypervisor, on that of the
/// experiment's profile. On the virtual board all costs are charged, from reset on.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// What metrics call it.
    pub name: String,
    /// The system's file, relative to the project's root.
    pub system: Option<PathBuf>,
    /// The VM that the run ends with; otherwise it ends with the machine.
    pub until: Option<String>,
    /// The guest (an artifact's name) that runs directly under the firmware.
    pub guest: Option<String>,
    /// The initial RAM disk (an artifact's name) of that guest, a kernel.
    pub initrd: Option<String>,
    /// The machine's disks, PCI functions from slot 1 on: empty ones of so many MiB.
    #[serde(default)]
    pub disks: Vec<u64>,
    /// The network cards behind them, as for `tactus run --pci-net`.
    #[serde(default)]
    pub cards: Vec<String>,
    /// The tiles of the many-core board that run.
    pub tiles: Option<TilesRun>,
    /// The design that the fabric is loaded with, for a guest directly under the firmware. A system names its own.
    pub fabric: Option<String>,
    /// Harts of a machine without the hypervisor; of a system: in place of those that it names.
    pub harts: Option<u32>,
    /// Command lines of the system's VMs, by name, in place of those that it gives them; or of the guest, by its name.
    /// Tiles are `tileN`, and what is for none of these is for `tiles`; `server` is the server.
    #[serde(default)]
    pub bootargs: BTreeMap<String, String>,
    /// The same with `--quick`, where they differ.
    #[serde(default)]
    pub quick_bootargs: BTreeMap<String, String>,
    /// The same with `--full`, where they differ.
    #[serde(default)]
    pub full_bootargs: BTreeMap<String, String>,
    /// What stands in the system's file in place of other text, by that text.
    #[serde(default)]
    pub replace: BTreeMap<String, String>,
    /// The same with `--quick`, where it differs.
    #[serde(default)]
    pub quick_replace: BTreeMap<String, String>,
    /// The same with `--full`, where it differs.
    #[serde(default)]
    pub full_replace: BTreeMap<String, String>,
    /// Whether the board takes a cycle for each instruction, and charges no other costs.
    #[serde(default)]
    pub fast: bool,
    /// From when on the costs are charged, where it is not from reset on: as for `tactus run --timed-from`.
    pub timed_from: Option<String>,
    /// Where metrics of the kind `stay` begin and end to count, as `[VM/]SYMBOL`: when a hart first comes there.
    pub stays: Option<[String; 2]>,
    /// Whether metrics of the kind `paths` are of it.
    #[serde(default)]
    pub paths: bool,
    /// Whether metrics of the kinds `cost`, `region` and `waited` are of it.
    #[serde(default)]
    pub sharing: bool,
    /// Virtual time after which the run has failed, where it is not [`LIMIT_SECONDS`].
    pub limit_seconds: Option<u64>,
    /// Whether `--quick` runs it.
    #[serde(default = "yes")]
    pub quick: bool,
    /// Whether it takes `--full` to run it.
    #[serde(default)]
    pub only_full: bool,
}

/// Tiles from 0 on, all with the same image.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TilesRun {
    /// The design: `manycore`, whose I/O hypervisor gives each tile an area, a window, an address and pins, or
    /// `manycore_baseline`.
    pub design: String,
    /// How many tiles.
    pub number: usize,
    /// Their image.
    pub image: String,
    /// Whose request each device of the I/O hypervisor takes next.
    #[serde(default)]
    pub policy: IoPolicy,
    /// Pins of timed I/O, a bit each, by the name of their tile.
    #[serde(default)]
    pub pins: BTreeMap<String, u32>,
    /// Whether the flash is read-only.
    #[serde(default)]
    pub read_only: bool,
    /// Those that mean no good, and have an image of their own; they are told what is for `hostile`.
    #[serde(default)]
    pub hostile: Vec<usize>,
    /// Whether the frames on the wire are seen.
    #[serde(default)]
    pub frames: bool,
    /// Whether files of what was seen at the ends of the wires are left: of the pins, the frames and the display.
    #[serde(default)]
    pub ends: bool,
    /// Cycles after which it has failed.
    pub cycles: u64,
}

/// How much of an experiment is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// What takes a minute.
    Quick,
    /// What takes ten.
    #[default]
    Usual,
    /// As much as was published.
    Full,
}

impl Extent {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Usual => "default",
            Self::Full => "full",
        }
    }

    /// What is said on the command line for it, with a blank before it.
    pub fn option(self) -> &'static str {
        match self {
            Self::Quick => " --quick",
            Self::Usual => "",
            Self::Full => " --full",
        }
    }
}

impl Run {
    /// Whether it belongs to that much.
    pub fn wanted(&self, extent: Extent) -> bool {
        match extent {
            Extent::Quick => self.quick && !self.only_full,
            Extent::Usual => !self.only_full,
            Extent::Full => true,
        }
    }

    /// The machine's network cards.
    ///
    /// # Errors
    /// One is none; says why.
    pub fn cards(&self) -> Result<Vec<Card>, String> {
        self.cards
            .iter()
            .map(|text| Card::from_text(text))
            .collect()
    }

    /// What is replaced in its system's file then.
    pub fn replaced(&self, extent: Extent) -> BTreeMap<String, String> {
        let mut replaced = self.replace.clone();
        replaced.extend(match extent {
            Extent::Quick => self.quick_replace.clone(),
            Extent::Usual => BTreeMap::new(),
            Extent::Full => self.full_replace.clone(),
        });
        replaced
    }
}

/// A figure of an experiment.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// Its name.
    pub name: String,
    /// What it is, for people.
    pub text: String,
    /// Its unit.
    #[serde(deserialize_with = "unit")]
    pub unit: Unit,
    /// The published figure that it repeats.
    pub paper: Option<f64>,
    /// The greatest value that this project allows itself.
    pub limit: Option<f64>,
    /// The smallest value that this project allows itself, where more is better; instead of `limit`.
    pub least: Option<f64>,
    /// Whether `--quick` takes it, where it is of no run.
    #[serde(default = "yes")]
    pub quick: bool,
    /// The greatest value is what the experiment's profile states of the hypervisor's own time; instead of `limit`.
    pub limit_overhead: Option<Overhead>,
    /// Figures of others, by name.
    #[serde(default)]
    pub known: BTreeMap<String, f64>,
    /// It is what a guest reports.
    pub record: Option<RecordSource>,
    /// It is how much what a guest reports is of what another one does.
    pub ratio: Option<RatioSource>,
    /// It is how much more a figure is than another one.
    pub more: Option<MoreSource>,
    /// It is how much less it is.
    pub less: Option<MoreSource>,
    /// It is how many times as much a figure is as others together.
    pub times: Option<TimesSource>,
    /// It is what guests report together.
    #[serde(default)]
    pub sum: Vec<RecordSource>,
    /// It is what is said of a guest's samples.
    pub samples: Option<SamplesSource>,
    /// It is how long a virtual device waits for its region at most, as `tactus check` says.
    pub bound: Option<BoundSource>,
    /// It is how many of a guest's samples are greater than that.
    pub beyond: Option<BeyondSource>,
    /// It is what a part of a way to a region takes; the limit is what the system says of it.
    pub cost: Option<CostSource>,
    /// It is what a region does, as part of the time.
    pub region: Option<RegionSource>,
    /// It is the longest that a VM's virtual devices have waited for a region.
    pub waited: Option<WaitedSource>,
    /// It is how many computations were asked for and have not ended in the end.
    pub unfinished: Option<TextSource>,
    /// It is what a program of the project counts.
    pub counted: Option<CountedSource>,
    /// It is how large an image is, in percent more than another one.
    pub image: Option<ImageSource>,
    /// It is what the fabric's blocks take in hardware.
    pub area: Option<AreaSource>,
    /// It is how fast the board is with a fabric, in host time.
    pub coupling: Option<Coupling>,
    /// It is the size of the hypervisor's executable sections.
    pub hypervisor_text: Option<TextSource>,
    /// It is how long calls of functions take.
    pub calls: Option<CallsSource>,
    /// It is how long it takes from one place to another.
    pub passage: Option<PassageSource>,
    /// It is how long harts stay in the hypervisor.
    pub stay: Option<StaySource>,
    /// It is how long harts do not look whether an interrupt waits, or how often it is longer than a page states.
    pub paths: Option<PathsSource>,
}

/// A guest's `metric` record.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordSource {
    /// In which run.
    pub run: String,
    /// Of which VM; a guest without the hypervisor has its own name.
    pub vm: String,
    /// The record's name, when it is not the metric's.
    pub name: Option<String>,
}

/// The bytes that an image has in memory, in percent more than another one has.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageSource {
    /// The one.
    pub of: String,
    /// The other.
    pub than: String,
}

/// A guest's `metric` record in percent of another one, perhaps of another run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RatioSource {
    /// The one.
    pub of: RecordSource,
    /// What is 100 percent.
    pub to: RecordSource,
}

/// How much more, or less, one figure of the experiment is than another one: in their unit, or in percent of the latter
/// if that is the metric's.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MoreSource {
    /// The one.
    pub of: Figure,
    /// The other.
    pub than: Figure,
}

/// How many times as much one figure is as others of the same unit together.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimesSource {
    /// The one.
    pub of: RecordSource,
    /// The others.
    pub than: Vec<RecordSource>,
}

/// A virtual device.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoundSource {
    /// In the system of which run.
    pub run: String,
    /// Of which VM.
    pub vm: String,
    /// Its task.
    pub task: String,
}

/// Samples of a VM's virtual devices, each against its own bound.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BeyondSource {
    /// In which run.
    pub run: String,
    /// Of which VM.
    pub vm: String,
    /// What was sampled: followed by `_` and the task.
    pub samples: String,
}

/// What the device manager, or the hypervisor around it, takes for a part of its work, on the board.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostSource {
    /// In which runs, of systems that say the same of it.
    pub runs: Vec<String>,
    /// Which part.
    pub of: Part,
    /// Of all times.
    #[serde(default)]
    pub take: Statistic,
}

/// A region of the fabric, on the board.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegionSource {
    /// In which run.
    pub run: String,
    /// Its number.
    pub number: usize,
    /// What it does.
    pub does: Does,
}

/// What a region does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Does {
    /// It computes.
    Computing,
    /// It is configured.
    Configuring,
    /// Neither.
    Resting,
}

/// A VM with virtual devices, on the board.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaitedSource {
    /// In which run.
    pub run: String,
    /// The VM.
    pub vm: String,
}

/// A guest's figure: a `metric` record, or what is said of samples.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Figure {
    /// Of samples. (First, as it has more to name.)
    Samples(SamplesSource),
    /// Of a record.
    Record(RecordSource),
}

impl Figure {
    /// The run that it is of.
    pub fn run(&self) -> &String {
        match self {
            Self::Samples(source) => &source.run,
            Self::Record(source) => &source.run,
        }
    }
}

/// A guest's `samples` records.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SamplesSource {
    /// In which run.
    pub run: String,
    /// Of which VM; a guest without the hypervisor has its own name.
    pub vm: String,
    /// What was sampled.
    pub samples: String,
    /// In which phase.
    #[serde(default = "all")]
    pub phase: String,
    /// Of all samples.
    #[serde(default)]
    pub take: Statistic,
}

/// What a program prints, as a number.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountedSource {
    /// The run whose guests it is about; none, where it is about no guest.
    pub run: Option<String>,
    /// The program, relative to the project's root. It fails if there is no such number.
    pub by: PathBuf,
    /// What it is told.
    #[serde(default)]
    pub arguments: Vec<String>,
}

/// How fast the board is with a fabric: [`coupling`](super::coupling).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Coupling {
    /// Thousands of cycles of a fabric at work that the host simulates in a second.
    Active,
    /// How much longer the board takes with a fabric that has nothing to do than without one, in percent.
    Quiet,
}

/// The hypervisor's program.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextSource {
    /// As in the image of this run.
    pub run: String,
}

/// Calls of functions, from the first instruction to the return, on the board; of several functions, their sum.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallsSource {
    /// In which run.
    pub run: String,
    /// The functions, as `[VM/]SYMBOL`.
    pub of: Vec<String>,
    /// Of all calls of each.
    #[serde(default)]
    pub take: Statistic,
}

/// The way from one place to another, whatever hart is there, on the board. Of several passages through the first, the
/// last before the second counts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PassageSource {
    /// In which run.
    pub run: String,
    /// The first place, as `[VM/]SYMBOL`.
    pub from: String,
    /// The second.
    pub to: String,
    /// So many passages do not count: the first ones.
    #[serde(default)]
    pub skip: usize,
    /// Of all others.
    #[serde(default)]
    pub take: Statistic,
}

/// What harts spend in the hypervisor and the firmware on the way from one guest to the next, on the board.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StaySource {
    /// In which run.
    pub run: String,
    /// The ways, as `FROM>TO`: names of VMs, or `idle`. Of a list of them the longest counts, and one that was not
    /// taken is of no length; of several lists, the sum.
    pub ways: Vec<Vec<String>>,
    /// What began them; without, whatever did.
    pub by: Option<Beginning>,
    /// Of all stays of the ways of a list.
    #[serde(default)]
    pub take: Statistic,
}

/// Paths below the guests, on which no interrupt is served, on the board.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathsSource {
    /// In which runs.
    pub runs: Vec<String>,
    /// Only those whose cause, as the list of paths names it, begins so.
    #[serde(default)]
    pub cause: String,
    /// Only those that end so, in the list's words.
    pub end: Option<String>,
    /// Only those that begin with a look, or only those that do not.
    pub looked: Option<bool>,
    /// Only those that begin in this phase of a run.
    pub phase: Option<Phase>,
    /// What of each stretch.
    #[serde(default)]
    pub of: PathFigure,
    /// Of all stretches.
    #[serde(default)]
    pub take: Statistic,
    /// A page of paths in the project: the figure is how many paths of the runs exceed their bounds there.
    pub past: Option<String>,
}

/// A figure of the stretches of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PathFigure {
    /// Cycles.
    #[default]
    Cycles,
    /// Cache lines of instructions.
    Code,
    /// Cache lines of data.
    Data,
    /// Cycles of those that read no line from memory.
    Warm,
    /// Cycles with each of their lines from memory at the greatest cost.
    Cold,
    /// How many were longer than with each of their lines from memory at the greatest cost, which none can be.
    #[serde(rename = "past-cold")]
    PastCold,
    /// How many of those that stayed in the hypervisor's hot code were longer than what is computed of its program.
    #[serde(rename = "past-computed")]
    PastComputed,
}

/// What begins a stay in the hypervisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Beginning {
    /// An interrupt.
    Interrupt,
    /// What the guest did.
    Exception,
}

/// The hypervisor's own time, as a profile states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Overhead {
    /// Added to the budget of every job.
    Job,
    /// The longest time between two checks for more urgent work.
    Blocking,
    /// What is left of it for the longest stretch, without the interrupt that may be under way.
    #[serde(rename = "blocking-interrupt")]
    BlockingLessInterrupt,
    /// What it does at most at a time for best-effort vCPUs.
    Service,
    /// An interruption by what is sent to another real-time vCPU.
    Interrupt,
    /// Such an interruption and that work together: one may fall due in the midst of the other.
    #[serde(rename = "service+interrupt")]
    ServiceAndInterrupt,
}

impl Overhead {
    /// What the profile states.
    pub fn of(self, profile: &Profile) -> Nanoseconds {
        let overheads = &profile.overheads;
        match self {
            Self::Job => overheads.job,
            Self::Blocking => overheads.blocking,
            Self::BlockingLessInterrupt => {
                Nanoseconds(overheads.blocking.0.saturating_sub(overheads.interrupt.0))
            }
            Self::Service => overheads.service,
            Self::Interrupt => overheads.interrupt,
            Self::ServiceAndInterrupt => Nanoseconds(overheads.service.0 + overheads.interrupt.0),
        }
    }
}

/// What is taken of several figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Statistic {
    /// The greatest.
    #[default]
    Max,
    /// The least.
    Min,
    /// The mean.
    Mean,
    /// The median, to three digits.
    P50,
    /// What 99 of 100 do not exceed, to three digits.
    P99,
    /// What 999 of 1,000 do not exceed, to three digits.
    P999,
    /// How many there are.
    Count,
}

impl Metric {
    /// Whether it has a limit, whatever that comes to.
    pub fn limited(&self) -> bool {
        self.limit.is_some()
            || self.least.is_some()
            || self.limit_overhead.is_some()
            || self.cost.is_some()
    }

    /// By which part of the first figure the second is worse; negative where it is better.
    pub fn worse_by(&self, first: f64, second: f64) -> f64 {
        let more = (second - first) / first.abs().max(f64::MIN_POSITIVE);
        if self.least.is_some() { -more } else { more }
    }

    /// Names of the runs that it comes from.
    pub fn runs(&self) -> impl Iterator<Item = &str> {
        let sources = self.sources().into_iter().flatten();
        let other = self.ratio.iter().map(|source| &source.to.run);
        let further = self
            .paths
            .iter()
            .flat_map(|source| source.runs.iter().skip(1));
        let compared = self.more.iter().chain(&self.less);
        let than = compared.map(|source| source.than.run());
        let times = self.times.iter().flat_map(|source| &source.than);
        let costs = self.cost.iter();
        let costs = costs.flat_map(|source| source.runs.iter().skip(1));
        let sources = sources.chain(other).chain(than).chain(further);
        let sum = self.sum.iter().skip(1).map(|source| &source.run);
        let sources = sources.chain(times.map(|source| &source.run)).chain(costs);
        let sources = sources.chain(sum);
        sources.map(String::as_str)
    }

    /// Whether it is seen in how accelerators are shared.
    fn of_sharing(&self) -> bool {
        self.cost.is_some()
            || self.region.is_some()
            || self.waited.is_some()
            || self.unfinished.is_some()
    }

    /// Whether it is of no run.
    pub fn apart(&self) -> bool {
        let counted = self.counted.as_ref();
        self.coupling.is_some()
            || self.image.is_some()
            || self.area.is_some()
            || counted.is_some_and(|source| source.run.is_none())
    }

    /// The run, or the first one, of each kind of source that is given.
    fn sources(&self) -> [Option<&String>; 19] {
        [
            self.record.as_ref().map(|source| &source.run),
            self.ratio.as_ref().map(|source| &source.of.run),
            self.more.as_ref().map(|source| source.of.run()),
            self.less.as_ref().map(|source| source.of.run()),
            self.samples.as_ref().map(|source| &source.run),
            self.counted.as_ref().and_then(|source| source.run.as_ref()),
            self.hypervisor_text.as_ref().map(|source| &source.run),
            self.calls.as_ref().map(|source| &source.run),
            self.passage.as_ref().map(|source| &source.run),
            self.stay.as_ref().map(|source| &source.run),
            self.paths.as_ref().and_then(|source| source.runs.first()),
            self.times.as_ref().map(|source| &source.of.run),
            self.bound.as_ref().map(|source| &source.run),
            self.beyond.as_ref().map(|source| &source.run),
            self.cost.as_ref().and_then(|source| source.runs.first()),
            self.region.as_ref().map(|source| &source.run),
            self.waited.as_ref().map(|source| &source.run),
            self.unfinished.as_ref().map(|source| &source.run),
            self.sum.first().map(|source| &source.run),
        ]
    }
}

/// A picture of some metrics over a quantity that the runs differ in.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Picture {
    /// Its file's name, without extension.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// What the runs differ in.
    pub x: String,
    /// The values of that.
    pub at: Vec<f64>,
    /// What the metrics are.
    pub y: String,
    /// The lines.
    #[serde(rename = "line")]
    pub lines: Vec<LineOfMetrics>,
}

/// A line of a picture, with the published one where the metrics have published figures.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LineOfMetrics {
    /// What it is.
    pub name: String,
    /// One metric for each value of the horizontal axis.
    pub metrics: Vec<String>,
}

/// A picture of how samples of some runs are distributed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Histogram {
    /// Its file's name, without extension.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// What was sampled.
    pub x: String,
    /// In which unit it is shown.
    #[serde(deserialize_with = "unit")]
    pub unit: Unit,
    /// The samples, over each other.
    #[serde(rename = "of")]
    pub series: Vec<NamedSamples>,
    /// Values that are marked in it.
    #[serde(default, rename = "mark")]
    pub marks: Vec<Mark>,
}

/// A metric's value in a histogram.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// What it is called.
    pub name: String,
    /// The metric.
    pub metric: String,
}

/// Samples of a histogram.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedSamples {
    /// What they are called.
    pub name: String,
    /// In which run.
    pub run: String,
    /// Of which VM.
    pub vm: String,
    /// What was sampled.
    pub samples: String,
    /// In which phase.
    #[serde(default = "all")]
    pub phase: String,
}

/// An experiment's file and the project's root that its paths are relative to.
#[derive(Clone, Debug)]
pub struct Found {
    /// What it is called: as its file, without the extension.
    pub name: String,
    /// What the file says.
    pub text: String,
    /// The file.
    pub path: PathBuf,
    /// The root.
    pub root: PathBuf,
    /// Of a file that is none of the project's: its folder, in which its systems are looked for first.
    pub folder: Option<PathBuf>,
}

impl Found {
    /// The experiment, with the paths of systems that are in the file's own folder.
    ///
    /// # Errors
    /// It is none.
    pub fn experiment(&self) -> miette::Result<Experiment> {
        let mut experiment = parse(&self.text)
            .wrap_err_with(|| format!("{} is not an experiment", self.path.display()))?;
        if let Some(folder) = &self.folder {
            for system in experiment
                .runs
                .iter_mut()
                .filter_map(|run| run.system.as_mut())
            {
                let own = folder.join(&*system);
                if own.is_file() {
                    *system = std::path::absolute(own).into_diagnostic()?;
                }
            }
        }
        Ok(experiment)
    }
}

/// The project around the current directory, or else the one that this program was built in.
fn root() -> miette::Result<PathBuf> {
    let current = std::env::current_dir().unwrap_or_default();
    let built_in = Path::new(env!("CARGO_MANIFEST_DIR"));
    let chosen = Artifacts::chosen();
    let root = chosen
        .directory()
        .into_iter()
        .chain(current.ancestors())
        .chain(built_in.ancestors())
        .find(|directory| directory.join(DIRECTORY).join("platform.toml").is_file());
    Ok(root.ok_or_else(artifacts::no_clone)?.to_owned())
}

/// The project's experiment called `name`; or that in the file `name`, which is a path where it has a `/` or ends in
/// `.toml`.
///
/// # Errors
/// There is none, or it cannot be read.
pub fn find(name: &str) -> miette::Result<Found> {
    let root = root()?;
    let read = |path: &Path| {
        std::fs::read_to_string(path)
            .into_diagnostic()
            .wrap_err_with(|| format!("{} cannot be read", path.display()))
    };
    let directory = root.join(DIRECTORY);
    let is_path = name.contains('/') || name.ends_with(".toml");
    let (name, path, folder) = if is_path {
        let path = PathBuf::from(name);
        let stem = path.file_stem().unwrap_or_default();
        let folder = match path.parent() {
            Some(parent) if parent != Path::new("") => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        let is_projects = match (folder.canonicalize(), directory.canonicalize()) {
            (Ok(folder), Ok(directory)) => folder == directory,
            _ => false,
        };
        let name = stem.to_string_lossy().into_owned();
        (name, path, (!is_projects).then_some(folder))
    } else {
        let path = directory.join(format!("{name}.toml"));
        (name.to_owned(), path, None)
    };
    let names = names(&root);
    if folder.is_none() && !names.contains(&name) {
        return Err(miette!(
            help = format!(
                "the experiments are: {}; one of your own is named by its path, such as ./mine.toml",
                names.join(", ")
            ),
            "there is no experiment `{name}`"
        ));
    }
    Ok(Found {
        text: read(&path)?,
        name,
        path,
        root,
        folder,
    })
}

/// Names of all experiments in the project at `root`, sorted.
pub fn names(root: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(root.join(DIRECTORY))
        .into_iter()
        .flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let is_experiment = path
                .extension()
                .is_some_and(|extension| extension == "toml");
            let name = path.file_stem()?.to_str()?.to_owned();
            (is_experiment && name != misses::STEM).then_some(name)
        })
        .collect();
    names.sort();
    names
}

/// Reads an experiment and checks that it makes sense.
///
/// # Errors
/// It does not; says where.
pub fn parse(text: &str) -> miette::Result<Experiment> {
    let table: toml::Table = toml::from_str(text).into_diagnostic()?;
    let experiment: Experiment = if table.contains_key("factor") {
        factors::expand(table)?.try_into().into_diagnostic()?
    } else {
        // With the place of what is wrong.
        toml::from_str(text).into_diagnostic()?
    };
    let mut names = BTreeSet::new();
    let runs = experiment.runs.iter().map(|run| ("run", &run.name));
    let metrics = experiment
        .metrics
        .iter()
        .map(|metric| ("metric", &metric.name));
    for (kind, name) in runs.chain(metrics) {
        if !names.insert((kind, name)) {
            return Err(miette!("there are two of {kind} `{name}`"));
        }
    }
    for run in &experiment.runs {
        let alone = run.guest.is_some();
        let kinds = [run.system.is_some(), alone, run.tiles.is_some()];
        if kinds.into_iter().filter(|given| *given).count() != 1 {
            return Err(miette!(
                "run `{}` needs one of `system`, `guest` and `tiles`",
                run.name
            ));
        }
        let of_systems = run.until.is_some()
            || run.timed_from.is_some()
            || ![&run.replace, &run.quick_replace, &run.full_replace]
                .iter()
                .all(|replace| replace.is_empty());
        if let Err(reason) = run.cards() {
            return Err(miette!("run `{}`: `cards`: {reason}", run.name));
        }
        if !alone && run.initrd.is_some() {
            return Err(miette!(
                "run `{}`: `initrd` goes with `guest`; a system says it itself",
                run.name
            ));
        }
        if run.tiles.is_some() && !(run.disks.is_empty() && run.cards.is_empty()) {
            return Err(miette!("run `{}`: tiles have no PCI functions", run.name));
        }
        if !alone && run.fabric.is_some() {
            return Err(miette!(
                "run `{}`: a system says in `[fabric]` what its fabric is loaded with",
                run.name
            ));
        }
        if alone && (run.harts.is_none() || of_systems) {
            return Err(miette!(
                "run `{}`: with `guest` goes `harts`, but not `until`, `timed_from` or `replace`",
                run.name
            ));
        }
    }
    if Profile::named(&experiment.profile).is_none() && !profile::is_of_tiles(&experiment.profile) {
        return Err(miette!(
            "there is no profile `{}`; the profiles are: {}",
            experiment.profile,
            Profile::names().collect::<Vec<_>>().join(", ")
        ));
    }
    for metric in &experiment.metrics {
        let sources = metric.sources().iter().flatten().count();
        if sources + usize::from(metric.apart()) != 1 {
            return Err(miette!(
                "metric `{}` needs one of `record`, `ratio`, `more`, `less`, `times`, `sum`, `samples`, `bound`, `beyond`, `cost`, `region`, `waited`, `unfinished`, `counted`, `coupling`, `image`, `area`, `hypervisor_text`, `calls`, `passage`, `stay` and `paths`",
                metric.name
            ));
        }
        let limits = [
            metric.limit.is_some(),
            metric.least.is_some(),
            metric.limit_overhead.is_some(),
        ];
        if limits.into_iter().filter(|given| *given).count() > 1 {
            return Err(miette!(
                "metric `{}` has more than one of `limit`, `least` and `limit_overhead`",
                metric.name
            ));
        }
        for name in metric.runs() {
            let Some(run) = experiment.runs.iter().find(|run| run.name == name) else {
                return Err(miette!(
                    "metric `{}` is of a run that the experiment does not have",
                    metric.name
                ));
            };
            if metric.paths.is_some() && !run.paths {
                return Err(miette!(
                    "metric `{}` needs `paths = true` in run `{}`",
                    metric.name,
                    run.name
                ));
            }
            if metric.of_sharing() && !run.sharing {
                return Err(miette!(
                    "metric `{}` needs `sharing = true` in run `{}`",
                    metric.name,
                    run.name
                ));
            }
            if metric.stay.is_some() && run.stays.is_none() {
                return Err(miette!(
                    "metric `{}` needs `stays` in run `{}`",
                    metric.name,
                    run.name
                ));
            }
        }
    }
    for histogram in &experiment.histograms {
        for series in &histogram.series {
            if !experiment.runs.iter().any(|run| run.name == series.run) {
                return Err(miette!(
                    "histogram `{}` is of a run that the experiment does not have",
                    histogram.name
                ));
            }
        }
        for mark in &histogram.marks {
            if !experiment.metrics.iter().any(|one| one.name == mark.metric) {
                return Err(miette!(
                    "histogram `{}`: there is no metric `{}`",
                    histogram.name,
                    mark.metric
                ));
            }
        }
    }
    for picture in &experiment.pictures {
        for line in &picture.lines {
            if line.metrics.len() != picture.at.len() {
                return Err(miette!(
                    "picture `{}`: line `{}` needs as many metrics as `at` has values",
                    picture.name,
                    line.name
                ));
            }
            for name in &line.metrics {
                if !experiment.metrics.iter().any(|known| known.name == *name) {
                    return Err(miette!(
                        "picture `{}`: there is no metric `{name}`",
                        picture.name
                    ));
                }
            }
        }
    }
    Ok(experiment)
}

fn yes() -> bool {
    true
}

/// The phase of guests that have only one.
fn all() -> String {
    "all".to_owned()
}

pub(super) fn unit<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Unit, D::Error> {
    let name = String::deserialize(deserializer)?;
    Unit::parse(&name).ok_or_else(|| de::Error::custom(format!("`{name}` is not a unit")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const GOOD: &str = r#"
        title = "t"
        profile = "qemu-virt"
        [[run]]
        name = "native"
        guest = "g"
        harts = 1
        [[metric]]
        name = "m"
        text = "t"
        unit = "s"
        record = { run = "native", vm = "g" }
    "#;

    #[test]
    fn experiment_is_read() {
        let experiment = parse(GOOD).expect("it is in order");
        assert!(experiment.runs[0].quick);
        assert_eq!(experiment.metrics[0].runs().collect::<Vec<_>>(), ["native"]);
    }

    #[test]
    fn contradictions_are_named() {
        let error = |from: &str, to: &str| {
            assert!(GOOD.contains(from));
            parse(&GOOD.replace(from, to))
                .expect_err("it is not in order")
                .to_string()
        };
        assert_eq!(
            error("guest = \"g\"", ""),
            "run `native` needs one of `system`, `guest` and `tiles`"
        );
        assert_eq!(
            error("harts = 1", ""),
            "run `native`: with `guest` goes `harts`, but not `until`, `timed_from` or `replace`"
        );
        assert_eq!(
            error("run = \"native\",", "run = \"other\","),
            "metric `m` is of a run that the experiment does not have"
        );
        let ratio = "ratio = { of = { run = \"native\", vm = \"g\" }, to = { run = \"other\", vm = \"g\" } }";
        assert_eq!(
            error("record = { run = \"native\", vm = \"g\" }", ratio),
            "metric `m` is of a run that the experiment does not have"
        );
        assert_eq!(
            error(
                "record =",
                "stay = { run = \"native\", ways = [[\"a>b\"]] }\nrecord ="
            ),
            "metric `m` needs one of `record`, `ratio`, `more`, `less`, `times`, `sum`, `samples`, `bound`, `beyond`, `cost`, `region`, `waited`, `unfinished`, `counted`, `coupling`, `image`, `area`, `hypervisor_text`, `calls`, `passage`, `stay` and `paths`"
        );
        let picture = |at: &str, metrics: &str| {
            let line = format!("line = [{{ name = \"l\", metrics = {metrics} }}]");
            let text = "[[picture]]\nname = \"p\"\ntitle = \"t\"\nx = \"x\"\ny = \"y\"";
            parse(&format!("{GOOD}\n{text}\nat = {at}\n{line}"))
        };
        assert!(picture("[1]", "[\"m\"]").is_ok());
        let error_of = |at, metrics| picture(at, metrics).expect_err("no such").to_string();
        assert!(error_of("[1, 2]", "[\"m\"]").contains("as many metrics"));
        assert!(error_of("[1]", "[\"n\"]").contains("no metric `n`"));
        assert!(error("\"s\"", "\"parsec\"").contains("`parsec` is not a unit"));
        assert!(error("qemu-virt", "qmeu").contains("no profile `qmeu`"));
        assert!(error("title", "tilte").contains("tilte"));
    }

    #[test]
    fn only_limits_of_host_time_can_be_left_out() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let text = fs::read_to_string(root.join("bench/sched.toml")).expect("it is there");
        let limits = |experiment: &Experiment| {
            let limited = experiment
                .metrics
                .iter()
                .filter(|metric| metric.limit.or(metric.least).is_some());
            limited
                .map(|metric| (metric.name.clone(), metric.coupling.is_some()))
                .collect::<Vec<_>>()
        };
        let experiment = parse(&text).expect("it is in order");
        let all = limits(&experiment);
        let left = limits(&experiment.without_host_limits());
        assert!(left.iter().all(|(_, of_host)| !of_host), "{left:?}");
        assert_eq!(
            all.iter().filter(|(_, of_host)| *of_host).count(),
            2,
            "{all:?}"
        );
        assert_eq!(all.len(), left.len() + 2);
    }

    #[test]
    fn projects_own_experiments_are_in_order() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let names = names(&root);
        assert!(names.contains(&"platform".to_owned()));
        // Of another kind; its own module looks at it.
        assert!(names.iter().any(|name| name == crate::bench::board::NAME));
        for name in names
            .iter()
            .filter(|name| *name != crate::bench::board::NAME)
        {
            let path = root.join(DIRECTORY).join(format!("{name}.toml"));
            let text = std::fs::read_to_string(path).expect("it can be read");
            parse(&text).expect("it is in order");
        }
    }
}
