//! `tactus check`: judges a system before it boots.
//!
//! Every part of the check notes what it finds and goes on with what can still be judged, so that one run
//! names all contradictions. Only a system without any becomes a [`Plan`].

mod channels;
mod command;
mod devices;
mod files;
mod fit;
mod judge;
mod memory;
mod names;
mod platform;
mod summary;
mod vcpus;

#[cfg(test)]
pub(crate) mod tests;

use std::path::{Path, PathBuf};

use tactus_abi::blob::limit;
use tactus_abi::map::DEVICETREE_SIZE;
use tactus_policy::stage2::Mapping;

use crate::artifacts::Artifacts;
use crate::config::{At, Config, FileName};
use crate::devicetree::devicetree;
use crate::plan::{self, LoadSegment, Plan};
use crate::problem::{Code, Problem, Weight, count};
use judge::Judge;
use memory::{Amounts, VmAmounts};

pub use command::command;
pub(crate) use command::{exit_code, print_problems};
pub use summary::summary;

/// The verdict on a system.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The file.
    pub file: String,
    /// What was found, warnings included, in the order of the file.
    pub problems: Vec<Problem>,
    /// The system, when nothing speaks against it.
    pub plan: Option<Plan>,
    /// The hypervisor's file, when it was found.
    pub hypervisor: Option<PathBuf>,
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
    verdict(
        file.to_string_lossy().into_owned(),
        Config::read(file),
        artifacts,
    )
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
        hypervisor: None,
        files: Vec::new(),
    };
    match read {
        Err(problems) => verdict.problems = problems,
        Ok((config, problems)) => {
            let mut judge = Judge::new(&config, problems);
            let plan = judge_system(&mut judge, artifacts, &mut verdict.hypervisor);
            verdict.files = config
                .vms
                .iter()
                .map(|vm| [&vm.image, &vm.initrd].map(file_text))
                .collect();
            verdict.problems = judge.into_problems();
            verdict.plan = plan;
        }
    }
    // By place; what has none comes last.
    verdict.problems.sort_by_key(|problem| {
        problem
            .place()
            .map_or((usize::MAX, 0), |(_, line, column)| (line, column))
    });
    if verdict
        .problems
        .iter()
        .any(|p| p.kind().weight() != Weight::Warning)
    {
        verdict.plan = None;
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
    hypervisor_file: &mut Option<PathBuf>,
) -> Option<Plan> {
    let config = judge.config;
    vm_count(judge);
    names::check(judge);
    let platform = platform::check(judge);
    let vcpus = vcpus::check(judge, platform.as_ref().map(|platform| platform.harts));
    let channels = channels::check(judge);
    let base = platform
        .as_ref()
        .map(|platform| platform.profile.image_base());
    let mut contents = files::read(judge, artifacts, base);

    let mut layouts = Vec::new();
    let mut memories = Vec::new();
    let mut on_faults = Vec::new();
    for index in 0..config.vms.len() {
        fit::bootargs(judge, index);
        let memory = fit::memory(judge, index);
        let image = contents.images[index].take();
        let initrd = contents.initrds[index].take();
        let layout = memory.and_then(|memory| fit::check(judge, index, memory, image, initrd));
        memories.push(memory);
        layouts.push(layout);
        on_faults.push(names::on_fault(judge, index));
    }
    let platform = platform?;
    let devices = devices::check(judge, &platform);
    let complete = layouts.iter().all(Option::is_some)
        && contents.hypervisor.is_some()
        && channels.channels.len() == config.channels.len();
    let (Some((path, hypervisor)), true) = (contents.hypervisor, complete) else {
        memory::check(judge, &platform, None);
        return None;
    };
    *hypervisor_file = Some(path);

    // Everything but physical addresses, which the sizes of all this decide.
    let parts = layouts
        .into_iter()
        .flatten()
        .zip(devices)
        .zip(channels.ends);
    let mut vms = Vec::new();
    for (index, ((layout, devices), channels)) in parts.enumerate() {
        let vm = &config.vms[index];
        vms.push(plan::Vm {
            name: vm.name.as_ref()?.value.clone(),
            memory: memories[index]?,
            host: 0,
            entry: layout.entry,
            segments: layout.segments,
            initrd: layout.initrd,
            bootargs: vm.bootargs.as_ref().map(|bootargs| bootargs.value.clone()),
            console: vm.console,
            on_fault: on_faults[index],
            vcpus: vcpus[index].clone(),
            devices,
            channels,
        });
    }
    let console = platform
        .profile
        .device(&platform.profile.console.device)?
        .extent();
    let passed = |device: &plan::Device| device.host_extent().overlaps(console);
    let mut plan = Plan {
        harts: platform.harts,
        memory: platform.memory,
        slice_ticks: platform.slice_ticks,
        uart: !vms.iter().flat_map(|vm| &vm.devices).any(passed),
        hypervisor,
        vms,
        channels: channels
            .channels
            .into_iter()
            .map(|channel| plan::Channel {
                name: channel.name,
                size: channel.size,
                host: 0,
                ends: channel.ends,
            })
            .collect(),
        image: platform.memory,
        pool: platform.memory,
        profile: platform.profile.clone(),
    };
    add_devicetrees(judge, &mut plan)?;
    let placement = memory::check(judge, &platform, Some(&amounts(&plan)))?;
    plan.image = placement.image;
    plan.pool = placement.pool;
    for (vm, host) in plan.vms.iter_mut().zip(placement.vms) {
        vm.host = host;
    }
    for (channel, host) in plan.channels.iter_mut().zip(placement.channels) {
        channel.host = host;
    }
    Some(plan)
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

fn add_devicetrees(judge: &mut Judge<'_>, plan: &mut Plan) -> Option<()> {
    for index in 0..plan.vms.len() {
        let fit = devicetree(plan, index)
            .map_err(|error| error.to_string())
            .and_then(|bytes| match bytes.len() as u64 {
                0..=DEVICETREE_SIZE => Ok(bytes),
                size => Err(format!("{size} bytes of at most {DEVICETREE_SIZE}")),
            });
        let guest = plan.vms[index].devicetree();
        match fit {
            Ok(bytes) => plan.vms[index].segments.push(LoadSegment { guest, bytes }),
            Err(reason) => {
                let vm = &judge.config.vms[index];
                judge.note(
                    Code::ImageFit,
                    vm.place(),
                    "of this VM",
                    format!("the devicetree of {} cannot be made: {reason}", vm.title()),
                    "shorten `bootargs`, or give the VM fewer devices",
                );
                return None;
            }
        }
    }
    Some(())
}

fn amounts(plan: &Plan) -> Amounts {
    let vm_amounts = |vm: &plan::Vm| VmAmounts {
        memory: vm.memory,
        segments: vm
            .segments
            .iter()
            .map(|segment| segment.bytes.len() as u64)
            .collect(),
        devices: vm
            .devices
            .iter()
            .map(|device| Mapping {
                guest: device.guest.start,
                host: device.host,
                size: device.guest.size(),
            })
            .collect(),
        channels: vm.channels.iter().map(|end| end.guest).collect(),
    };
    let devices = plan.vms.iter().flat_map(|vm| &vm.devices);
    Amounts {
        hypervisor: plan.hypervisor.bytes.len() as u64,
        harts: plan.harts as usize,
        vcpus: plan.vms.iter().map(|vm| vm.vcpus.len()).sum(),
        interrupts: devices.map(|device| device.interrupts.len()).sum(),
        vms: plan.vms.iter().map(vm_amounts).collect(),
        channels: plan.channels.iter().map(|channel| channel.size.0).collect(),
    }
}
