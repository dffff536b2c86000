//! `tactus check`: judges a system before it boots.
//!
//! Every part of the check notes what it finds and goes on with what can still be judged, so that one run
//! names all errors. Only a system without any becomes a [`Plan`].

mod accelerators;
mod ahead;
mod allowance;
mod calls;
mod chains;
mod channels;
mod colours;
mod command;
mod criticality;
mod devices;
mod draft;
mod emulation;
mod files;
mod fit;
mod guarantee;
mod inside;
mod io;
mod judge;
mod management;
mod memory;
mod migration;
mod names;
mod onchip;
mod parts;
mod pci;
mod platform;
mod reloads;
mod report;
mod reservation;
mod separation;
mod summary;
mod tasks;
mod tiles;
mod time;
mod vcpus;
mod warm;

#[cfg(test)]
mod cures;
#[cfg(test)]
mod page;
#[cfg(test)]
mod page_inside;
#[cfg(test)]
pub(crate) mod tests;

use std::path::{Path, PathBuf};

use tactus_abi::blob::limit;
use tactus_board::profile::Profile;

use crate::artifacts::Artifacts;
use crate::config::{At, Config, FileName, Size};
use crate::pci::Slots;
use crate::plan::{Plan, Tiles};
use crate::problem::{Code, Problem, Weight, count};
use draft::Parts;
use judge::Judge;

pub use calls::{Bound as CallBound, bounds as call_bounds};
pub use chains::Chain;
pub use command::command;
pub(crate) use command::{exit_code, print_problems, to_json};
pub use guarantee::{Answer, BestEffort, Guarantee, Hart, Sensitivity, Vcpu, WINDOWS_MS};
pub use inside::report as report_of_tasks;
pub(crate) use inside::{chains_json, reloads_json, tasks_json};
pub use report::report;
pub(crate) use report::{sensitivity_json, to_json as guarantee_json};
pub use summary::{of_tiles, summary};
pub(crate) use summary::{row, table};
pub use tasks::Tasks;
pub(crate) use time::{kind_text, percent, time_text};

/// The verdict on a system.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The file.
    pub file: String,
    /// What was found, warnings included, in the order of the file.
    pub problems: Vec<Problem>,
    /// The system, when nothing speaks against it.
    pub plan: Option<Plan>,
    /// The same of a system of tiles.
    pub tiles: Option<Tiles>,
    /// What the machine has on its PCI bus, where that is known.
    pub machine: Option<Slots>,
    /// The hypervisor's file, when it was found.
    pub hypervisor: Option<PathBuf>,
    /// Each VM's image file, when it was found.
    pub guests: Vec<Option<PathBuf>>,
    /// Each VM's initrd file, when it was found.
    pub initrds: Vec<Option<PathBuf>>,
    /// What it guarantees, as far as that could be judged.
    pub guarantee: Option<Guarantee>,
    /// What it guarantees to the tasks within the VMs, as far as that could be judged.
    pub tasks: Tasks,
    /// When each chain has ended, as far as that could be judged.
    pub chains: Vec<Chain>,
    /// What each VM's image and initrd are called in the description, for the summary.
    pub files: Vec<[Option<String>; 2]>,
}

impl Verdict {
    /// The problems of that weight.
    pub fn of_weight(&self, weight: Weight) -> impl Iterator<Item = &Problem> {
        self.problems
            .iter()
            .filter(move |p| p.kind().weight() == weight)
    }

    /// How many problems there are of that weight.
    pub fn count(&self, weight: Weight) -> usize {
        self.of_weight(weight).count()
    }
}

/// Reads and judges the system that `file` describes.
pub fn check_file(file: &Path, artifacts: &Artifacts) -> Verdict {
    check_file_for(file, artifacts, None)
}

/// The same on a machine with these PCI functions; `None`: they are not known.
pub fn check_file_for(file: &Path, artifacts: &Artifacts, machine: Option<Slots>) -> Verdict {
    check_changed(file, artifacts, machine, |_| ())
}

/// The same, after `change` changed the description, if it could be read.
pub fn check_changed(
    file: &Path,
    artifacts: &Artifacts,
    machine: Option<Slots>,
    change: impl FnOnce(&mut Config),
) -> Verdict {
    let mut read = Config::read(file);
    if let Ok((config, _)) = &mut read {
        config.machine = machine;
        change(config);
    }
    verdict(file.to_string_lossy().into_owned(), read, artifacts)
}

/// Judges a description that was read before, with what was found wrong then.
pub fn verdict(
    file: String,
    read: Result<(Config, Vec<Problem>), Vec<Problem>>,
    artifacts: &Artifacts,
) -> Verdict {
    let mut verdict = Verdict {
        file,
        problems: Vec::new(),
        plan: None,
        tiles: None,
        machine: None,
        hypervisor: None,
        guests: Vec::new(),
        initrds: Vec::new(),
        guarantee: None,
        tasks: Tasks::default(),
        chains: Vec::new(),
        files: Vec::new(),
    };
    match read {
        Err(problems) => verdict.problems = problems,
        Ok((config, problems)) => {
            let mut judge = Judge::new(&config, problems);
            let platform = config.system.platform.as_ref();
            let profile = platform.and_then(|name| Profile::named(&name.value));
            let of_tiles = profile.filter(|profile| profile.tiles);
            let plan = match &of_tiles {
                Some(profile) => {
                    verdict.tiles = tiles::check(&mut judge, profile, artifacts);
                    None
                }
                None => judge_system(&mut judge, artifacts, &mut verdict),
            };
            verdict.files = config
                .vms
                .iter()
                .map(|vm| [&vm.image, &vm.initrd].map(file_text))
                .collect();
            verdict.problems = judge.into_problems();
            verdict.plan = plan;
            verdict.machine = config.machine;
        }
    }
    // By place, those of the description before those of files that it names; what has none comes last.
    let file = verdict.file.clone();
    verdict.problems.sort_by_cached_key(|problem| {
        let place = problem.place();
        let place = place.map(|(name, line, column)| (name != file, name.to_owned(), line, column));
        (place.is_none(), place)
    });
    if verdict
        .problems
        .iter()
        .any(|p| p.kind().weight() != Weight::Warning)
    {
        (verdict.plan, verdict.tiles) = (None, None);
    }
    verdict
}

fn file_text(name: &Option<At<FileName>>) -> Option<String> {
    name.as_ref().map(|name| match &name.value {
        FileName::Artifact(name) => format!("@{name}"),
        FileName::Path(path) => path.display().to_string(),
    })
}

/// Judges everything; the plan is complete when no problem but warnings was noted.
fn judge_system(
    judge: &mut Judge<'_>,
    artifacts: &Artifacts,
    verdict: &mut Verdict,
) -> Option<Plan> {
    let config = judge.config;
    vm_count(judge);
    names::check(judge);
    let platform = platform::check(judge);
    if let Some(platform) = &platform {
        onchip::check(judge, platform);
    }
    let mut vcpus = vcpus::check(judge, platform.as_ref());
    let harts = platform.as_ref().map(vcpus::Harts::of);
    let moves = migration::check(judge, &vcpus.seen, harts);
    let separation = separation::check(judge, &vcpus.seen);
    let allowances = allowance::check(judge, platform.as_ref(), &vcpus);
    verdict.guarantee = platform
        .as_ref()
        .map(|platform| guarantee::check(judge, platform, &mut vcpus, &allowances));
    let sharing = accelerators::check(judge, platform.as_ref(), &vcpus, verdict.guarantee.as_ref());
    let io = io::check(judge, platform.as_ref());
    let guarantee = verdict.guarantee.as_ref();
    verdict.tasks = tasks::check(judge, platform.as_ref(), guarantee);
    verdict.chains = chains::check(
        judge,
        platform.as_ref(),
        guarantee,
        &verdict.tasks,
        sharing.as_ref().map(|sharing| &sharing.accelerators),
        io.as_ref().map(|io| &io.io),
    );
    let channels = channels::check(judge);
    let base = platform
        .as_ref()
        .map(|platform| platform.profile.image_base());
    let most = platform
        .as_ref()
        .map_or(Size(u64::MAX), |platform| platform.profile.memory.max);
    let contents = files::read(judge, artifacts, base);
    verdict.guests = contents
        .guests
        .iter()
        .map(|guest| guest.path.clone())
        .collect();
    verdict.initrds = contents
        .guests
        .iter()
        .map(|guest| guest.initrd_path.clone())
        .collect();
    let warm = warm::check(judge, &contents.guests);
    let layouts: Vec<_> = contents
        .guests
        .into_iter()
        .enumerate()
        .map(|(index, guest)| {
            let kept = sharing
                .as_ref()
                .filter(|sharing| sharing.accelerators.manager == index);
            let bitstreams = kept.map_or(&[][..], |sharing| &sharing.accelerators.bitstreams.bytes);
            fit::check(judge, index, guest, bitstreams, most)
        })
        .collect();
    let on_faults: Vec<_> = (0..config.vms.len())
        .map(|index| names::on_fault(judge, index))
        .collect();
    let managed = management::check(judge);
    // Without a platform there are no devices and no addresses to judge.
    let platform = platform?;
    let pages = sharing.iter().flat_map(|sharing| &sharing.pages);
    let pages: Vec<_> = pages.chain(io.iter().flat_map(|io| &io.pages)).collect();
    let devices = devices::check(judge, &platform, &pages);
    let functions = pci::check(judge, &platform, &devices);
    emulation::check(judge, &channels, &devices, &functions);
    let colours = colours::check(judge, &platform);

    let complete = channels.channels.len() == config.channels.len();
    let layouts: Option<Vec<_>> = layouts.into_iter().collect();
    let (Some((path, hypervisor)), Some(layouts), true) = (contents.hypervisor, layouts, complete)
    else {
        memory::check_fixed(judge, &platform);
        return None;
    };
    onchip::check_fit(judge, &platform, &hypervisor);
    verdict.hypervisor = Some(path);
    let mut vcpus_of: Vec<_> = (0..config.vms.len()).map(|vm| vcpus.of_vm(vm)).collect();
    let cache_line = warm.line;
    warm.give(&mut vcpus_of);
    let parts = Parts {
        hypervisor,
        layouts,
        on_faults,
        managed,
        vcpus: vcpus_of,
        policies: vcpus.policies,
        cache_line,
        overheads: verdict.guarantee.as_ref()?.overheads,
        separation,
        moves,
        allowances,
        devices,
        functions,
        accelerators: sharing.map(|sharing| sharing.accelerators),
        io: io.map(|io| io.io),
        channels,
        colours,
    };
    parts.into_plan(judge, platform)
}

fn vm_count(judge: &mut Judge<'_>) {
    let config = judge.config;
    if let Some(beyond) = config.vms.get(limit::VMS) {
        judge.note(
            Code::TooMany,
            beyond.place(),
            format!("number {}", limit::VMS + 1),
            format!("the system has more than {}", count(limit::VMS, "VM")),
            "remove some",
        );
    }
}
