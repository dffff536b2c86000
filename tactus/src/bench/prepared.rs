//! A run of an experiment, from what the experiment says to its outcome.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use miette::{IntoDiagnostic, WrapErr, miette};
use tactus_board::board::Pace;
use tactus_board::time::Clock;
use tempfile::NamedTempFile;

use crate::artifacts::Artifacts;
use crate::config::{At, Config, Nanoseconds};
use crate::fabric;
use crate::image::Image;
use crate::pci::Slots;
use crate::plan::Accelerators;
use crate::profile::Profile;
use crate::progress::Progress;
use crate::report;
use crate::run::board::paths;
use crate::run::board::probe::{Hits, Place, Probe};
use crate::run::board::sharing;
use crate::run::board::{Fabric, Options};
use crate::run::ends;
use crate::run::functions::{Disk, Functions};
use crate::run::machine::{Launch, Platform};
use crate::run::session::{Outcome, Plan, Session, Unwatched, Verdict};
use crate::run::{Boot, marker};
use crate::tiles::{self, Given, Limits, Tile};
use crate::walk::Costs;

use super::experiment::{Extent, LIMIT_SECONDS, Metric, Run, TilesRun};

/// Runs that go on at the same time, at most: each has a core of the host to itself.
const AT_ONCE: usize = 2;

/// A run that has been built.
#[derive(Debug)]
pub struct Prepared {
    name: String,
    work: Work,
    watched: Watched,
    hypervisor: Option<PathBuf>,
    accelerators: Option<Accelerators>,
    /// The boot image's file lives as long as this.
    _boot: Option<Boot>,
    /// So do the images of the machine's disks.
    _disks: Vec<NamedTempFile>,
}

/// What there is to do.
#[derive(Debug)]
enum Work {
    /// A machine that runs.
    Machine(Box<Plan>),
    /// Tiles, for so many cycles at most.
    Tiles(tiles::System, u64),
}

/// A run that has been carried out.
#[derive(Debug)]
pub struct Done {
    /// What came of it.
    pub outcome: Outcome,
    /// The places that were watched.
    pub watched: Watched,
    /// The hypervisor's ELF file; `None` without one.
    pub hypervisor: Option<PathBuf>,
    /// The accelerators that the system's VMs share.
    pub accelerators: Option<Accelerators>,
    /// What was seen at the ends of the fabric's wires, where files of it are wanted.
    pub ends: Option<Ends>,
}

/// What was seen at the ends of a design's wires.
#[derive(Debug)]
pub struct Ends {
    /// All of it.
    pub seen: ends::Seen,
    /// How many pins there are.
    pub pins: u32,
    /// The fabric's clock.
    pub clock: Clock,
}

/// Places that a run's metrics want to be watched, as numbers of probes.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    probes: Vec<Probe>,
    places: BTreeMap<String, usize>,
    /// Begin and returns.
    functions: BTreeMap<String, (usize, Vec<usize>)>,
}

impl Watched {
    fn of(run: &str, metrics: &[Metric], image: &Image) -> miette::Result<Self> {
        let mut watched = Self::default();
        for metric in metrics
            .iter()
            .filter(|metric| metric.runs().any(|of| of == run))
        {
            for function in metric.calls.iter().flat_map(|source| &source.of) {
                let (begin, returns) = Place::of_function(function, image)?;
                let begin = watched.add(begin);
                let returns = returns.into_iter().map(|place| watched.add(place));
                let returns = returns.collect();
                watched.functions.insert(function.clone(), (begin, returns));
            }
            for place in metric.passage.iter().flat_map(|p| [&p.from, &p.to]) {
                let probe = watched.add(Place::find(place, image)?);
                watched.places.insert(place.clone(), probe);
            }
        }
        Ok(watched)
    }

    fn add(&mut self, place: Place) -> usize {
        let is_it = |known: &Probe| {
            known.place.address == place.address && known.place.owner == place.owner
        };
        if let Some(known) = self.probes.iter().position(is_it) {
            return known;
        }
        self.probes.push(Probe {
            place,
            arguments: 0,
        });
        self.probes.len() - 1
    }

    /// Cycles of each call of a function, in the order of their ends.
    ///
    /// # Errors
    /// Not every call can be told; says why.
    pub fn calls(&self, hits: &Hits, function: &str) -> Result<Vec<u64>, String> {
        let (begin, returns) = self
            .functions
            .get(function)
            .ok_or_else(|| format!("`{function}` was not watched"))?;
        let mut since = BTreeMap::new();
        let mut calls = Vec::new();
        for hit in complete(hits)? {
            if hit.probe == *begin {
                if since.insert(hit.hart, hit.cycle).is_some() {
                    return Err(format!(
                        "a call of `{function}` did not end with a return of its own"
                    ));
                }
            } else if returns.contains(&hit.probe)
                && let Some(since) = since.remove(&hit.hart)
            {
                calls.push(hit.cycle - since);
            }
        }
        Ok(calls)
    }

    /// Cycles of each passage from one place to another, on whatever harts.
    ///
    /// # Errors
    /// Not every passage can be told; says why.
    pub fn passages(&self, hits: &Hits, from: &str, to: &str) -> Result<Vec<u64>, String> {
        let (Some(from), Some(to)) = (self.places.get(from), self.places.get(to)) else {
            return Err(format!("`{from}` and `{to}` were not watched"));
        };
        let mut since = None;
        let mut passages = Vec::new();
        for hit in complete(hits)? {
            if hit.probe == *from {
                since = Some(hit.cycle);
            } else if hit.probe == *to
                && let Some(since) = since.take()
            {
                passages.push(hit.cycle - since);
            }
        }
        Ok(passages)
    }
}

/// The hits, if all were kept.
fn complete(hits: &Hits) -> Result<&[crate::run::board::probe::Hit], String> {
    let all: u64 = hits.counts.iter().sum();
    if all != hits.kept.len() as u64 {
        return Err(format!(
            "of {all} passages of the places only {} were kept",
            hits.kept.len()
        ));
    }
    Ok(&hits.kept)
}

/// Builds a run of an experiment with those metrics, for the profile where the run has no system that names one.
///
/// # Errors
/// What it runs is not in order or not to be had.
pub fn prepare(
    run: &Run,
    metrics: &[Metric],
    root: &Path,
    profile: Option<&Profile>,
    extent: Extent,
) -> miette::Result<Prepared> {
    let limit = Nanoseconds(run.limit_seconds.unwrap_or(LIMIT_SECONDS) * 1_000_000_000);
    let alone = |work| Prepared {
        name: run.name.clone(),
        work,
        watched: Watched::default(),
        hypervisor: None,
        accelerators: None,
        _boot: None,
        _disks: Vec::new(),
    };
    let (functions, disks) = functions(run)?;
    let prepared = match (&run.tiles, profile, &run.system) {
        (Some(tiles), ..) => tiles_run(run, tiles, extent).map(alone),
        (None, None, _) => Err(miette!("the experiment's profile is one of tiles")),
        (None, Some(profile), Some(system)) => {
            let machine = functions.slots();
            system_run(run, &root.join(system), metrics, profile, extent, machine)
        }
        (None, Some(profile), None) => {
            let guest = run.guest.as_deref().unwrap_or_default();
            native_plan(run, guest, profile, extent)
                .map(|plan| alone(Work::Machine(Box::new(plan))))
        }
    };
    let mut prepared =
        prepared.wrap_err_with(|| format!("run `{}` could not be carried out", run.name))?;
    if let Work::Machine(mut plan) = prepared.work {
        plan.functions = functions;
        prepared._disks = disks;
        prepared.work = Work::Machine(Box::new(plan.limit(limit)));
    }
    Ok(prepared)
}

/// The machine's PCI functions, and the files of its disks. Software without the hypervisor has no driver of the IOMMU.
fn functions(run: &Run) -> miette::Result<(Functions, Vec<NamedTempFile>)> {
    let files = run.disks.iter().map(|mib| {
        let file = NamedTempFile::with_prefix("tactus-disk-")?;
        file.as_file().set_len(mib << 20)?;
        Ok(file)
    });
    let files: Vec<_> = files.collect::<io::Result<_>>().into_diagnostic()?;
    let disks = files
        .iter()
        .map(|file| Disk::virtio(file.path().to_owned()));
    let functions = Functions {
        disks: disks.collect(),
        nets: run.cards().map_err(|reason| miette!("{reason}"))?,
        direct: run.guest.is_some(),
    };
    Ok((functions, files))
}

/// The tile of a server, and its image.
const SERVER: usize = 15;
const SERVER_IMAGE: &str = "manycore-io-server";
/// The image of tiles that mean no good.
const HOSTILE_IMAGE: &str = "manycore-hostile";
/// The design with an I/O hypervisor.
const VIRTUALIZED: &str = "manycore";

fn tiles_run(run: &Run, wanted: &TilesRun, extent: Extent) -> miette::Result<Work> {
    let read = |name: &str| std::fs::read(image(name)?).into_diagnostic();
    let mut told = bootargs(run, extent);
    let mut pins = wanted.pins.clone();
    let mut all = Vec::new();
    let own = read(&wanted.image)?;
    let other = told.remove("tiles").unwrap_or_default();
    let hostile = told.remove("hostile").unwrap_or_default();
    for number in 0..wanted.number {
        let name = format!("tile{number}");
        let pins = pins.remove(&name).unwrap_or_default();
        let mut given = Given {
            pins,
            ..Given::usual(number)
        };
        if let Some((.., writable)) = &mut given.flash {
            *writable &= !wanted.read_only;
        }
        let is_hostile = wanted.hostile.contains(&number);
        let (arguments, image) = if is_hostile {
            (hostile.clone(), read(HOSTILE_IMAGE)?)
        } else {
            let own_words = told.remove(&name);
            (own_words.unwrap_or_else(|| other.clone()), own.clone())
        };
        all.push(Tile {
            number,
            arguments,
            image,
            given,
            name,
            measured: !is_hostile,
        });
    }
    if let Some(arguments) = told.remove("server") {
        all.push(Tile {
            number: SERVER,
            name: "server".to_owned(),
            image: read(SERVER_IMAGE)?,
            arguments,
            given: Given::default(),
            measured: true,
        });
    }
    if let Some(name) = told.keys().chain(pins.keys()).next() {
        return Err(miette!("it has something for `{name}`, which is not there"));
    }
    let (pins, pins_at) = fabric::pins(&wanted.design);
    let system = tiles::System {
        model: Fabric::of(&wanted.design)?.model,
        policies: (wanted.design == VIRTUALIZED).then_some([wanted.policy; 4]),
        reader: Some(0),
        tiles: all,
        ends: ends::Watched {
            pins,
            pins_at,
            frames: wanted.ends || wanted.frames,
            picture: wanted.ends,
        },
        waves: None,
    };
    Ok(Work::Tiles(system, wanted.cycles))
}

fn system_run(
    run: &Run,
    system: &Path,
    metrics: &[Metric],
    profile: &Profile,
    extent: Extent,
    machine: Slots,
) -> miette::Result<Prepared> {
    let (mut unknown, mut missing) = (Vec::new(), Vec::new());
    let boot = Boot::of_changed(
        system,
        |text| {
            let edited;
            (edited, missing) = edit(text, &run.replaced(extent));
            edited
        },
        |config| {
            unknown = change(config, run, extent);
            config.machine = Some(machine);
            // Paths are the experiment's machine's, whatever machine the system was made for.
            if let (true, Some(platform)) = (run.paths, &mut config.system.platform) {
                platform.value.clone_from(&profile.name);
            }
        },
    );
    // Before what else may be wrong with a system that is not the one that was meant.
    if let Some(text) = missing.first() {
        return Err(miette!(
            "it has something in place of `{text}`, which {} does not say",
            system.display()
        ));
    }
    let boot = boot?;
    if let Some(name) = unknown.first() {
        return Err(miette!(
            "it has command lines for VM `{name}`, which {} does not have",
            system.display()
        ));
    }
    let mut plan = boot.plan.clone();
    let mut watched = Watched::of(&run.name, metrics, &boot.image)?;
    if let Some(mut options) = timed_board(&boot.image.platform) {
        if run.fast {
            options.pace = Pace::Fast;
        }
        if let Some([from, to]) = &run.stays {
            let mut place =
                |text| Place::find(text, &boot.image).map(|place| watched.add(place) as u32);
            options.stays = Some([place(from)?, place(to)?]);
        }
        if let Some(text) = &run.timed_from {
            options.pace = Pace::Fast;
            options.timed_from = Some(marker(text, &boot.image)?);
        }
        if let Some(design) = &boot.image.design {
            options.fabric = Some(Fabric::of(design)?);
        }
        options.probes.clone_from(&watched.probes);
        if run.paths {
            let costs = Costs::of(&options.profile.timing, boot.image.harts);
            let watch = paths::Watch::of(&boot.image, costs.as_ref())?;
            options.paths = Some(Box::new(watch));
        }
        if run.sharing {
            options.sharing = boot
                .image
                .accelerators
                .as_ref()
                .and_then(|shared| sharing::Watch::of(&options.profile, shared));
            if options.sharing.is_none() {
                return Err(miette!("{} shares no accelerators", system.display()));
            }
        }
        plan = plan.on(Platform::Board(Box::new(options)));
    }
    if let Some(until) = &run.until {
        plan = plan.until(until)?;
    }
    Ok(Prepared {
        name: run.name.clone(),
        work: Work::Machine(Box::new(plan)),
        watched,
        hypervisor: Some(boot.image.hypervisor.clone()),
        accelerators: boot.image.accelerators.clone(),
        _boot: Some(boot),
        _disks: Vec::new(),
    })
}

/// The board of a profile with all costs charged from reset on; `None`: the profile is of another machine.
fn timed_board(profile: &str) -> Option<Options> {
    let mut options = Options::new(tactus_board::profile::Profile::named(profile)?);
    options.pace = Pace::Timed;
    Some(options)
}

/// A guest's image.
fn image(guest: &str) -> miette::Result<PathBuf> {
    Artifacts::chosen().file(guest).map_err(|missing| {
        miette!(
            help = missing.cure,
            "the guest `{guest}` is not to be had: {}",
            missing.reason
        )
    })
}

/// A system's text with other text in place of some, and what of that it does not say.
fn edit(text: String, replaced: &BTreeMap<String, String>) -> (String, Vec<String>) {
    let says_not = |from: &&String| !text.contains(from.as_str());
    let missing = replaced.keys().filter(says_not).cloned().collect();
    let edited = replaced
        .iter()
        .fold(text, |text, (from, to)| text.replace(from, to));
    (edited, missing)
}

/// Makes of a system what the run wants; gives the VMs that it wants something of and that are not there.
fn change(config: &mut Config, run: &Run, extent: Extent) -> Vec<String> {
    if let Some(value) = run.harts {
        let span = config.system.span.clone();
        config.system.harts = Some(At { value, span });
    }
    let mut bootargs = bootargs(run, extent);
    for vm in &mut config.vms {
        let given = vm
            .name
            .as_ref()
            .and_then(|name| bootargs.remove(&name.value));
        if let Some(value) = given {
            let span = vm.span.clone();
            vm.bootargs = Some(At { value, span });
        }
    }
    bootargs.into_keys().collect()
}

/// The command lines that a run gives, by the names of those they are for.
fn bootargs(run: &Run, extent: Extent) -> BTreeMap<String, String> {
    let mut bootargs = run.bootargs.clone();
    bootargs.extend(match extent {
        Extent::Quick => run.quick_bootargs.clone(),
        Extent::Usual => BTreeMap::new(),
        Extent::Full => run.full_bootargs.clone(),
    });
    bootargs
}

/// The run of a guest directly under the firmware, on the board of the profile or else on QEMU.
fn native_plan(run: &Run, guest: &str, profile: &Profile, extent: Extent) -> miette::Result<Plan> {
    let mut bootargs = bootargs(run, extent);
    let own = bootargs.remove(guest).unwrap_or_default();
    if let Some(name) = bootargs.keys().next() {
        return Err(miette!(
            "it has a command line for `{name}`, and runs `{guest}`"
        ));
    }
    let initrd = run.initrd.as_deref().map(image).transpose()?;
    let image = image(guest)?;
    let mut board = timed_board(&profile.name);
    if let (Some(options), Some(design)) = (&mut board, &run.fabric) {
        options.fabric = Some(Fabric::of(design)?);
    }
    if let Some(options) = &mut board {
        if run.fast {
            options.pace = Pace::Fast;
        }
        // It has no driver of the IOMMU. Its functions are the same ones, which say that they are behind one.
        let pci = Arc::make_mut(&mut options.profile).pci.as_mut();
        if let Some(iommu) = pci.and_then(|pci| pci.iommu.as_mut()) {
            iommu.bare = true;
        }
    }
    let launch = Launch {
        image,
        initrd,
        bootargs: own,
        harts: run.harts.unwrap_or(1),
        memory_bytes: profile.memory.default.0,
        platform: board.map_or(Platform::Qemu, |options| Platform::Board(Box::new(options))),
    };
    Ok(Plan::bare(launch, guest, profile.timebase_hz.into()))
}

impl Prepared {
    /// Whether it is on the virtual board.
    pub fn on_board(&self) -> bool {
        match &self.work {
            Work::Machine(plan) => matches!(plan.launch.platform, Platform::Board(_)),
            Work::Tiles(..) => true,
        }
    }

    fn carry_out(&self) -> miette::Result<Done> {
        let outcome = match &self.work {
            Work::Machine(plan) => Session::start(Plan::clone(plan))
                .and_then(|session| session.finish(&mut Unwatched))
                .map(|outcome| (outcome, None))
                .map_err(miette::Report::from),
            Work::Tiles(system, cycles) => {
                tiles::run(system, &Limits::cycles(*cycles), &mut Unwatched)
                    .map(|outcome| {
                        let (outcome, seen) = outcome.as_of_a_machine(system);
                        let ends = system.ends.picture.then(|| Ends {
                            seen,
                            pins: system.ends.pins,
                            clock: tiles::clock(),
                        });
                        (outcome, ends)
                    })
                    .map_err(|error| miette!("{error}"))
            }
        };
        let (outcome, ends) =
            outcome.wrap_err_with(|| format!("run `{}` could not be carried out", self.name))?;
        Ok(Done {
            outcome,
            watched: self.watched.clone(),
            hypervisor: self.hypervisor.clone(),
            accelerators: self.accelerators.clone(),
            ends,
        })
    }
}

/// Tells how many runs are done, and which ones go on.
struct Told<'a> {
    progress: Progress,
    all: usize,
    now: Mutex<(usize, Vec<&'a str>)>,
}

impl<'a> Told<'a> {
    fn start(all: usize) -> Self {
        Self {
            progress: Progress::start("running"),
            all,
            now: Mutex::default(),
        }
    }

    fn begin(&self, run: &'a str) {
        self.change(|_, running| running.push(run));
    }

    fn end(&self, run: &str) {
        self.change(|done, running| {
            *done += 1;
            running.retain(|other| *other != run);
        });
    }

    fn change(&self, change: impl FnOnce(&mut usize, &mut Vec<&'a str>)) {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        let (done, running) = &mut *now;
        change(done, running);
        let (all, running) = (self.all, running.join(", "));
        self.progress
            .status(format!("{done} of {all} runs done; now {running}"));
    }
}

/// Carries runs out, some at the same time, and gives what came of each by its name.
///
/// # Errors
/// A machine could not be started or read.
pub fn carry_out(runs: &[Prepared]) -> miette::Result<BTreeMap<String, Done>> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(BTreeMap::new());
    let all = runs.len();
    let told = Told::start(all);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let worked = thread::scope(|scope| {
        let work = || -> miette::Result<()> {
            while let Some(run) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
                told.begin(&run.name);
                let came = run.carry_out()?;
                told.end(&run.name);
                let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                done.insert(run.name.clone(), came);
            }
            Ok(())
        };
        let workers: Vec<_> = (0..cores.min(AT_ONCE)).map(|_| scope.spawn(work)).collect();
        let joined = workers.into_iter().map(|worker| {
            worker
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        joined.collect::<Vec<_>>()
    });
    drop(told);
    for result in worked {
        result?;
    }
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    for run in runs {
        if let Some(done) = done.get(&run.name) {
            complain(&run.name, &done.outcome);
        }
    }
    Ok(done)
}

/// Says on stderr what was wrong with a run.
fn complain(run: &str, outcome: &Outcome) {
    if outcome.verdict() != Verdict::Good {
        eprintln!("run `{run}` failed: {}", outcome.reason());
        for vm in &outcome.journal.vms {
            eprintln!("  VM {}: {}", vm.name, report::end_of(vm));
        }
    }
    for remark in report::remarks(&outcome.journal) {
        eprintln!("  run `{run}`: {remark}");
    }
}

#[cfg(test)]
mod tests {
    use tactus_board::account::Doing;
    use tactus_board::privileged::Privilege;

    use super::*;
    use crate::bench::experiment;
    use crate::config::Source;
    use crate::run::board::probe::Owner;

    const HYPERVISOR: Doing = Doing::Running {
        guest: None,
        privilege: Privilege::Supervisor,
    };

    fn place(address: u64) -> Place {
        Place {
            name: format!("{address:#x}"),
            address,
            owner: Owner::Hypervisor,
        }
    }

    /// Two functions that share a return, and two places, watched while this happened: address, cycle and hart.
    fn watched(happened: &[(u64, u64, u16)]) -> (Watched, Hits) {
        let mut watched = Watched::default();
        for (name, begin, returns) in [("f", 0x10, [0x14, 0x40]), ("g", 0x20, [0x24, 0x40])] {
            let begin = watched.add(place(begin));
            let returns = returns.map(|address| watched.add(place(address)));
            watched
                .functions
                .insert(name.to_owned(), (begin, returns.to_vec()));
        }
        for (name, address) in [("ring", 0x10), ("heard", 0x50)] {
            let probe = watched.add(place(address));
            watched.places.insert(name.to_owned(), probe);
        }
        let mut hits = Hits::new(&watched.probes);
        for &(address, cycle, hart) in happened {
            let is_it = |probe: &Probe| probe.place.address == address;
            let probe = watched.probes.iter().position(is_it).expect("it is known");
            hits.take(probe as u32, cycle, hart, HYPERVISOR, [0; 8]);
        }
        (watched, hits)
    }

    #[test]
    fn calls_are_from_their_begin_to_their_own_return() {
        let (watched, hits) = watched(&[
            (0x10, 100, 0),
            (0x20, 105, 1),
            (0x14, 130, 0),
            (0x40, 140, 1),
            // A return without a call, and one that is not over at the end.
            (0x40, 150, 0),
            (0x20, 160, 0),
            (0x24, 167, 0),
            (0x10, 170, 0),
        ]);
        assert_eq!(watched.probes.len(), 6, "each place is watched once");
        assert_eq!(watched.calls(&hits, "f"), Ok(vec![30]));
        assert_eq!(watched.calls(&hits, "g"), Ok(vec![35, 7]));
        assert!(watched.calls(&hits, "h").is_err());
    }

    #[test]
    fn a_call_without_a_return_of_its_own_is_not_guessed_at() {
        let (watched, hits) = watched(&[(0x10, 100, 0), (0x10, 110, 0), (0x14, 120, 0)]);
        let error = watched.calls(&hits, "f").expect_err("it is unclear");
        assert!(error.contains("return of its own"), "{error}");
    }

    #[test]
    fn passages_are_from_hart_to_hart() {
        let (watched, hits) = watched(&[
            (0x50, 90, 1),
            (0x10, 100, 0),
            (0x10, 110, 0),
            (0x50, 150, 1),
            (0x50, 160, 1),
        ]);
        assert_eq!(watched.passages(&hits, "ring", "heard"), Ok(vec![40]));
        assert!(watched.passages(&hits, "ring", "lost").is_err());
    }

    #[test]
    fn runs_say_other_things_than_their_system() {
        let map = |from: &str, to: &str| BTreeMap::from([(from.to_owned(), to.to_owned())]);
        let text = || "[system]\nharts = 2\nbootargs = \"work=idle\"\n".to_owned();
        let (edited, missing) = edit(text(), &map("[system]", "[system]\nkey = 1"));
        assert!(edited.starts_with("[system]\nkey = 1\nharts"));
        assert!(missing.is_empty());
        let (edited, missing) = edit(text(), &map("work=files", "work=none"));
        assert_eq!((edited, missing), (text(), vec!["work=files".to_owned()]));
    }

    #[test]
    fn runs_change_harts_and_command_lines() {
        let experiment = experiment::parse(
            r#"
            title = "t"
            profile = "mpsoc"
            metric = []
            [[run]]
            name = "r"
            system = "s.toml"
            harts = 2
            bootargs = { a = "rounds=1000", c = "x" }
            quick_bootargs = { a = "rounds=10" }
            "#,
        )
        .expect("it is in order");
        let text = "[system]\nplatform = \"mpsoc\"\nharts = 4\n\
            [[vm]]\nname = \"a\"\nbootargs = \"old\"\n[[vm]]\nname = \"b\"\nbootargs = \"own\"\n";
        for (extent, wanted) in [(Extent::Usual, "rounds=1000"), (Extent::Quick, "rounds=10")] {
            let source = Source::new("s.toml", text.to_owned());
            let (mut config, _) = Config::parse(source, Path::new("")).expect("it is TOML");
            let unknown = change(&mut config, &experiment.runs[0], extent);
            assert_eq!(unknown, ["c"]);
            assert_eq!(config.system.harts.map(|harts| harts.value), Some(2));
            let bootargs = |vm: usize| config.vms[vm].bootargs.as_ref().map(|b| &*b.value);
            assert_eq!((bootargs(0), bootargs(1)), (Some(wanted), Some("own")));
        }
    }
}
