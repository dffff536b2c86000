//! From the judged parts of a system to its plan: first all that does not depend on physical addresses, whose
//! sizes then decide those.

use tactus_abi::blob::{Overheads, RealTimePolicy};
use tactus_abi::map::{DEVICETREE_SIZE, MEGAPAGE_SIZE, PAGE_SIZE};
use tactus_planning::colours::{Block, Colours};
use tactus_planning::placement::Extent;
use tactus_planning::stage2::Mapping;

use super::allowance::Allowance;
use super::channels::Channels;
use super::colours;
use super::fit::Layout;
use super::io;
use super::judge::Judge;
use super::memory::{self, Amounts, ChannelAmounts, VmAmounts};
use super::migration::Moves;
use super::onchip;
use super::parts;
use super::platform::Platform;
use crate::devicetree::devicetree;
use crate::hypervisor::Hypervisor;
use crate::plan::{self, ConsoleLine, LoadSegment, Plan};
use crate::problem::Code;

/// What the parts of the check made of a system; the lists have an entry for each VM.
pub(super) struct Parts {
    pub(super) hypervisor: Hypervisor,
    pub(super) layouts: Vec<Layout>,
    pub(super) on_faults: Vec<plan::OnFault>,
    pub(super) managed: Vec<Vec<usize>>,
    pub(super) vcpus: Vec<Vec<plan::Vcpu>>,
    pub(super) policies: Vec<RealTimePolicy>,
    pub(super) cache_line: u32,
    pub(super) overheads: Overheads,
    pub(super) separation: bool,
    pub(super) moves: Moves,
    pub(super) allowances: Vec<Allowance>,
    pub(super) devices: Vec<Vec<plan::Device>>,
    pub(super) functions: Vec<Vec<plan::Function>>,
    pub(super) accelerators: Option<plan::Accelerators>,
    pub(super) io: Option<plan::Io>,
    pub(super) channels: Channels,
    /// Of each VM, if the cache is divided.
    pub(super) colours: Option<Vec<Colours>>,
}

impl Parts {
    /// The plan with all addresses; `None`, noted, when something does not fit.
    pub(super) fn into_plan(self, judge: &mut Judge<'_>, platform: Platform) -> Option<Plan> {
        let mut plan = self.without_addresses(judge, &platform)?;
        onchip::place(judge, &platform, &mut plan)?;
        for index in 0..plan.vms.len() {
            let segment = devicetree_segment(judge, &plan, index)?;
            plan.vms[index].segments.push(segment);
        }
        let placement = memory::check(judge, &platform, &amounts(&plan))?;
        plan.image = placement.image;
        plan.pool = placement.pool;
        for (vm, host) in plan.vms.iter_mut().zip(placement.vms) {
            vm.host = host;
        }
        for (channel, host) in plan.channels.iter_mut().zip(placement.channels) {
            channel.host = host;
        }
        io::within_reach(judge, &plan)?;
        // The managers' have physical addresses in them, which take as much room whatever they are.
        let managers = [
            plan.accelerators.as_ref().map(|shared| shared.manager),
            plan.io.as_ref().map(|io| io.manager),
        ];
        for manager in managers.into_iter().flatten() {
            let segment = devicetree_segment(judge, &plan, manager)?;
            *plan.vms[manager].segments.last_mut()? = segment;
        }
        Some(plan)
    }

    /// The plan with every physical address as zero, and without devicetrees.
    fn without_addresses(mut self, judge: &Judge<'_>, platform: &Platform) -> Option<Plan> {
        if let Some(shared) = &mut self.accelerators {
            shared.bitstreams.guest = self.layouts.get(shared.manager)?.bitstreams;
        }
        let parts = self
            .layouts
            .into_iter()
            .zip(self.on_faults)
            .zip(self.managed)
            .zip(self.vcpus)
            .zip(self.allowances)
            .zip(self.devices)
            .zip(self.functions)
            .zip(self.channels.ends);
        let colours = self.colours.as_deref();
        let mut vms = Vec::new();
        for (
            vm,
            (((((((layout, on_fault), manages), vcpus), allowance), devices), functions), channels),
        ) in judge.config.vms.iter().zip(parts)
        {
            vms.push(plan::Vm {
                name: vm.name.as_ref()?.value.clone(),
                memory: layout.memory,
                host: 0,
                onchip: None,
                colours: colours.map(|colours| colours[vms.len()]),
                entry: layout.entry,
                segments: layout.segments,
                initrd: layout.initrd,
                bootargs: vm.bootargs.as_ref().map(|bootargs| bootargs.value.clone()),
                console: vm.console,
                counters: vm.counters,
                on_fault,
                manages,
                vcpus,
                rt_vcpus: allowance.rt_vcpus,
                rt_share: allowance.rt_share,
                rt_memory: layout.rt_memory,
                devices,
                functions,
                channels,
            });
        }
        let channels = self
            .channels
            .channels
            .into_iter()
            .map(|channel| plan::Channel {
                name: channel.name,
                size: channel.size,
                host: 0,
                colours: colours.map(|colours| {
                    let ends = channel.ends.map(|(vm, _)| vm);
                    colours::of_channel(&judge.config.vms, colours, ends)
                }),
                messages: channel.messages,
                message_size: channel.message_size,
                calls: channel.calls,
                device: channel.device,
                reserved_memory: channel.reserved_memory,
                ends: channel.ends,
            });
        let nowhere = Extent::new(0, 0);
        Some(Plan {
            harts: platform.harts,
            memory: platform.memory,
            slice_ticks: platform.slice_ticks,
            overheads: self.overheads,
            reserve: platform.reserve,
            separation: self.separation,
            parts: parts::needed(judge.config),
            migration: self.moves.migration,
            user_only: self.moves.user_only,
            policies: self.policies,
            cache_line: self.cache_line,
            line: console_line(platform, &vms),
            hypervisor: self.hypervisor,
            vms,
            accelerators: self.accelerators,
            io: self.io,
            channels: channels.collect(),
            image: nowhere,
            pool: nowhere,
            profile: platform.profile.clone(),
            design: platform.design.clone(),
            ready_queue: platform.ready_queue,
        })
    }
}

/// What carries the consoles, which depends on whether a VM has the platform's UART.
fn console_line(platform: &Platform, vms: &[plan::Vm]) -> ConsoleLine {
    let profile = &platform.profile;
    let console = profile.device(&profile.console.device);
    let has_it = |vm: &plan::Vm| {
        let mut devices = vm.devices.iter();
        console.is_some_and(|uart| devices.any(|d| d.host_extent().overlaps(uart.extent())))
    };
    match vms.iter().position(has_it) {
        None => ConsoleLine::Uart,
        Some(vm) if profile.spare_uart().is_some() => ConsoleLine::Spare(vm),
        Some(vm) => ConsoleLine::Shared(vm),
    }
}

/// A VM's devicetree as a part of its memory.
fn devicetree_segment(judge: &mut Judge<'_>, plan: &Plan, index: usize) -> Option<LoadSegment> {
    let fit = devicetree(plan, index)
        .map_err(|error| error.to_string())
        .and_then(|bytes| match bytes.len() as u64 {
            0..=DEVICETREE_SIZE => Ok(bytes),
            size => Err(format!("{size} bytes of at most {DEVICETREE_SIZE}")),
        });
    let guest = plan.vms[index].devicetree();
    match fit {
        Ok(bytes) => Some(LoadSegment { guest, bytes }),
        Err(reason) => {
            let vm = &judge.config.vms[index];
            judge.note(
                Code::ImageFit,
                vm.place(),
                "of this VM",
                format!("the devicetree of {} cannot be made: {reason}", vm.title()),
                "shorten `bootargs`, or give the VM fewer devices",
            );
            None
        }
    }
}

/// A VM's windows, which take no tables, and its peers' memory.
fn emulated(plan: &Plan, vm: &plan::Vm) -> Vec<Mapping> {
    let windows = plan.windows(vm).map(|(_, device)| device.window);
    let memory = plan.peers(vm).map(|(guest, _)| guest);
    let mapping = |guest: Extent| Mapping {
        guest: guest.start,
        // As for a VM's own memory: the place is not known yet.
        host: MEGAPAGE_SIZE,
        size: guest.size(),
    };
    windows.chain(memory).map(mapping).collect()
}

/// The part of a VM's memory in on-chip memory, which is mapped by the smallest pages.
fn onchip_part(vm: &plan::Vm) -> Option<Mapping> {
    vm.onchip
        .map(|part| Mapping::of_pages(part.guest.start, part.guest.size()))
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
            .chain(vm.functions.iter().map(|function| Mapping {
                guest: function.window.start,
                host: function.window.start,
                size: function.window.size(),
            }))
            .chain(emulated(plan, vm))
            .chain(onchip_part(vm))
            .collect(),
        channels: vm.channels.iter().map(|end| end.guest).collect(),
        colours: vm.colours.map(|colours| Block {
            colours,
            size: vm.memory.0 + u64::from(plan.regions(vm)[0].tables) * PAGE_SIZE,
            host: None,
        }),
    };
    let devices = plan.vms.iter().flat_map(|vm| &vm.devices);
    let functions = plan.vms.iter().map(|vm| vm.functions.len()).sum();
    Amounts {
        hypervisor: plan.hypervisor.bytes.len() as u64,
        harts: plan.harts as usize,
        vcpus: plan.vms.iter().map(plan::Vm::most_vcpus).sum(),
        interrupts: devices.map(|device| device.interrupts.len()).sum::<usize>() + functions,
        functions,
        vms: plan.vms.iter().map(vm_amounts).collect(),
        channels: plan
            .channels
            .iter()
            .map(|channel| ChannelAmounts {
                size: channel.size.0,
                colours: channel.colours.map(|colours| Block {
                    colours,
                    size: channel.size.0,
                    host: None,
                }),
            })
            .collect(),
        messages: plan
            .channels
            .iter()
            .map(|channel| (channel.messages, channel.message_size))
            .collect(),
    }
}
