//! The system blob of a plan: `abi`'s tables, filled in.

use std::collections::BTreeSet;

use tactus_abi::blob::management::MANAGEMENT;
use tactus_abi::blob::pci::{PciFunction, PciHost};
use tactus_abi::blob::warm::WarmRange;
use tactus_abi::blob::{
    self, Blob, ChannelEnd, Class, Hart, Header, Interrupt, MAGIC, NONE, Name, OnFault, Region,
    Segment, VERSION, Vcpu, Vm, checksum, limit, part,
};
use tactus_planning::analysis::Criticality;
use tactus_planning::colours::Colours;
use tactus_policy::reservation::Kind;
use zerocopy::{Immutable, IntoBytes};

use crate::config;
use crate::fabric;
use crate::plan::{self, ConsoleLine, Plan};

/// The blob of a plan. `sources` holds for each VM the physical address of each segment's copy in
/// the boot image.
///
/// # Errors
/// The hypervisor's own reader refuses the result; this would be a defect of this program.
pub(super) fn blob(plan: &Plan, sources: &[Vec<u64>]) -> Result<Vec<u8>, blob::Error> {
    let mut tables = Tables::default();
    for (index, (vm, sources)) in (0u32..).zip(plan.vms.iter().zip(sources)) {
        tables.add_vm(plan, index, vm, sources);
    }
    tables.add_pci(plan);
    if plan.parts & MANAGEMENT != 0 {
        let sets = plan.vms.iter().map(|vm| &vm.manages);
        let bits = |managed: &Vec<usize>| managed.iter().fold(0, |set, vm| set | 1 << vm);
        tables.managed.extend(sets.map(bits));
    }
    for hart in 0..plan.harts {
        tables.harts.push(Hart {
            id: plan.profile.harts.first_id + u64::from(hart),
            plic_context: plan.profile.plic.supervisor_context(hart),
            policy: plan.policies[hart as usize] as u32,
        });
    }
    let body = tables.bytes();
    let header = header(plan, &tables, size_of::<Header>() + body.len());
    let mut bytes = header.as_bytes().to_vec();
    bytes.extend(body);
    let crc32 = checksum(&bytes);
    let field = std::mem::offset_of!(Header, crc32);
    bytes[field..field + 4].copy_from_slice(&crc32.to_le_bytes());
    Blob::parse(&aligned(&bytes))?;
    Ok(bytes)
}

/// The bytes in memory that is aligned as the hypervisor's is.
pub(super) fn aligned(bytes: &[u8]) -> Aligned {
    let mut words = vec![0u64; bytes.len().div_ceil(8)];
    words.as_mut_bytes()[..bytes.len()].copy_from_slice(bytes);
    Aligned(words)
}

/// Bytes aligned to 8.
pub(super) struct Aligned(Vec<u64>);

impl std::ops::Deref for Aligned {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

#[derive(Default)]
struct Tables {
    harts: Vec<Hart>,
    vms: Vec<Vm>,
    vcpus: Vec<Vcpu>,
    regions: Vec<Region>,
    segments: Vec<Segment>,
    interrupts: Vec<Interrupt>,
    channel_ends: Vec<ChannelEnd>,
    warm_ranges: Vec<WarmRange>,
    /// One, where VMs have functions.
    pci_host: Vec<PciHost>,
    pci_functions: Vec<PciFunction>,
    /// For each VM those that it manages, where one manages any.
    managed: Vec<u64>,
}

impl Tables {
    fn add_vm(&mut self, plan: &Plan, index: u32, vm: &plan::Vm, sources: &[u64]) {
        let (on_fault, signal_vm) = match vm.on_fault {
            plan::OnFault::Halt => (OnFault::Halt, NONE),
            plan::OnFault::Restart => (OnFault::Restart, NONE),
            plan::OnFault::Signal(target) => (OnFault::Signal, target as u32),
        };
        let regions = plan.regions(vm);
        self.vms.push(Vm {
            name: name(&vm.name),
            entry: vm.entry,
            devicetree: vm.devicetree(),
            first_vcpu: self.vcpus.len() as u32,
            vcpus: vm.vcpus.len() as u32,
            first_region: self.regions.len() as u32,
            regions: regions.len() as u32,
            first_segment: self.segments.len() as u32,
            segments: vm.segments.len() as u32,
            first_channel_end: self.channel_ends.len() as u32,
            channel_ends: vm.channels.len() as u32,
            on_fault: on_fault as u32,
            signal_vm,
            console: vm.console.into(),
            rt_vcpus: vm.rt_vcpus,
            rt_share: if plan.parts & part::RESERVATION_CALLS != 0 {
                vm.rt_share.0
            } else {
                // The hypervisor may have the calls for the sake of other systems. With no share it refuses them, so
                // that the responses which `check` states hold.
                0
            },
            counters: vm.counters.into(),
        });
        self.add_vcpus(plan, index, vm);
        self.regions.extend(regions.iter().map(region_of));
        self.segments.extend(
            vm.segments
                .iter()
                .zip(sources)
                .map(|(segment, &source)| Segment {
                    guest: segment.guest,
                    source,
                    size: segment.bytes.len() as u64,
                }),
        );
        let devices = vm.devices.iter().flat_map(|device| &device.interrupts);
        let functions = vm.functions.iter().map(|function| function.interrupt);
        // Functions of one VM may share a line.
        let lines: BTreeSet<u32> = functions.collect();
        let own = devices.copied().chain(lines);
        self.interrupts
            .extend(own.map(|source| Interrupt { source, vm: index }));
        self.channel_ends
            .extend(vm.channels.iter().map(|end| ChannelEnd {
                peer_vm: end.peer as u32,
                peer_channel: end.peer_number as u32,
                messages: plan.channels[end.channel].messages as u16,
                message_size: plan.channels[end.channel].message_size as u16,
                call_ticks: call_ticks(plan, index, end),
            }));
    }

    /// The PCI host and the functions that VMs have, by slot.
    fn add_pci(&mut self, plan: &Plan) {
        for (vm, of) in (0u32..).zip(&plan.vms) {
            let functions = of.functions.iter().map(|function| PciFunction {
                vm,
                slot: function.slot,
                window: function.window.start,
                window_size: function.window.size(),
            });
            self.pci_functions.extend(functions);
        }
        self.pci_functions.sort_by_key(|function| function.slot);
        let host = plan.profile.pci.as_ref();
        let host = host.filter(|_| !self.pci_functions.is_empty());
        let host = host.and_then(|host| Some((host, host.iommu.as_ref()?)));
        self.pci_host.extend(host.map(|(host, iommu)| PciHost {
            ecam: host.ecam.0,
            iommu: iommu.address.0,
            functions: self.pci_functions.len() as u64,
        }));
    }

    /// The VM's vCPUs, and the places of those that it may make at run time.
    fn add_vcpus(&mut self, plan: &Plan, vm_index: u32, vm: &plan::Vm) {
        for (index, vcpu) in (self.vcpus.len() as u32..).zip(&vm.vcpus) {
            let ranges = vcpu.warm.iter().map(|range| WarmRange {
                guest: range.guest,
                vcpu: index,
                lines: range.lines,
                code: range.code.into(),
            });
            self.warm_ranges.extend(ranges);
        }
        let configured = vm.vcpus.iter().map(|vcpu| {
            let reservation = vcpu.reservation.as_ref();
            Vcpu {
                vm: vm_index,
                index: 0,
                class: match vcpu.class {
                    config::Class::Rt => Class::RealTime,
                    config::Class::Be => Class::BestEffort,
                } as u32,
                priority: vcpu.priority.unwrap_or(u8::MAX).into(),
                periodic: (vcpu.kind == Kind::Periodic).into(),
                low: (vcpu.criticality == Criticality::Low).into(),
                harts: mask(&mut vcpu.harts.iter().copied()),
                period: reservation.map_or(0, |times| times.period),
                budget: reservation.map_or(0, |times| times.budget),
                deadline: reservation.map_or(0, |times| times.deadline),
                more: match (vcpu.criticality, reservation) {
                    (Criticality::High { budget: Some(high) }, Some(times)) => high - times.budget,
                    _ => 0,
                },
                lead: vcpu.lead,
                interrupt_distance: vcpu.interrupt_distance,
            }
        });
        let place = Vcpu {
            vm: vm_index,
            index: 0,
            class: Class::RealTime as u32,
            priority: u8::MAX.into(),
            periodic: 0,
            low: 0,
            harts: mask(&mut plan.deadline_harts()),
            period: 0,
            budget: 0,
            deadline: 0,
            more: 0,
            lead: 0,
            interrupt_distance: plan.overheads.service_period,
        };
        let places = std::iter::repeat_n(place, vm.rt_vcpus as usize);
        let numbered = (0..).zip(configured.chain(places));
        self.vcpus
            .extend(numbered.map(|(index, vcpu)| Vcpu { index, ..vcpu }));
    }

    /// All tables in the order of the layout.
    fn bytes(&self) -> Vec<u8> {
        fn of<T: IntoBytes + Immutable>(table: &[T]) -> &[u8] {
            table.as_bytes()
        }
        [
            of(&self.harts),
            of(&self.vms),
            of(&self.vcpus),
            of(&self.regions),
            of(&self.segments),
            of(&self.interrupts),
            of(&self.channel_ends),
            of(&self.warm_ranges),
            of(&self.pci_host),
            of(&self.pci_functions),
            of(&self.managed),
        ]
        .concat()
    }
}

fn header(plan: &Plan, tables: &Tables, length: usize) -> Header {
    let console = match plan.line {
        ConsoleLine::Uart => plan.profile.device(&plan.profile.console.device),
        ConsoleLine::Spare(_) => plan.profile.spare_uart(),
        ConsoleLine::Shared(_) => None,
    };
    let (uart_base, uart_source) = console.map_or((0, 0), |uart| {
        (
            uart.address.0,
            uart.interrupts.first().copied().unwrap_or(0),
        )
    });
    let (ready_queue_page, ready_queue_event) = match plan.profile.device(fabric::READY_QUEUE) {
        Some(device) if plan.ready_queue.is_in_hardware() => (device.address.0, fabric::EVENT),
        _ => (0, 0),
    };
    let harts = &plan.profile.harts;
    let shared = plan.accelerators.as_ref();
    let allocator = shared.and_then(|shared| shared.allocator.as_ref());
    Header {
        magic: MAGIC,
        version: VERSION,
        crc32: 0,
        length: length as u32,
        harts: tables.harts.len() as u32,
        vms: tables.vms.len() as u32,
        vcpus: tables.vcpus.len() as u32,
        regions: tables.regions.len() as u32,
        segments: tables.segments.len() as u32,
        interrupts: tables.interrupts.len() as u32,
        channel_ends: tables.channel_ends.len() as u32,
        ram_base: plan.memory.start,
        ram_size: plan.memory.size(),
        pool_base: plan.pool.start,
        pool_size: plan.pool.size(),
        plic_base: plan.profile.plic.address.0,
        uart_base,
        uart_source,
        timebase_hz: plan.profile.timebase_hz,
        slice_ticks: plan.slice_ticks,
        overheads: plan.overheads,
        interrupt_ticks: plan.profile.ticks_for(plan.profile.overheads.interrupt),
        way_ticks: plan.profile.ticks_for(plan.profile.overheads.way),
        guard_ticks: guard(plan),
        reserve: plan.reserve.0,
        migration: plan.migration as u32,
        user_only: mask(&mut plan.user_only.iter().copied()),
        separation: plan.separation.into(),
        ready_queue: plan.ready_queue as u32,
        ready_queue_page,
        ready_queue_event,
        allocator: allocator.map_or(0, |allocator| allocator.page),
        allocator_source: allocator.map_or(0, |allocator| allocator.source.into()),
        device_manager: match &plan.accelerators {
            Some(accelerators) => accelerators.manager as u32,
            None => NONE,
        },
        parts: plan.parts,
        warm_ranges: tables.warm_ranges.len() as u32,
        cache_line: plan.cache_line as u16,
        prefetches: harts.extensions.iter().any(|name| name == "zicbop").into(),
    }
}

/// How long a call by this end of a channel may take; 0: its VM does not call.
fn call_ticks(plan: &Plan, vm: u32, end: &plan::ChannelEnd) -> u32 {
    let channel = &plan.channels[end.channel];
    let [(caller, _), _] = channel.ends;
    if caller == vm as usize {
        plan.profile.ticks_for(channel.calls) as u32
    } else {
        0
    }
}

/// How long before a dispatch ahead of a deadline nothing is begun for best-effort vCPUs; 0: there is none.
fn guard(plan: &Plan) -> u64 {
    let mut vcpus = plan.vms.iter().flat_map(|vm| &vm.vcpus);
    let guard = plan.profile.overheads.guard;
    match (vcpus.any(|vcpu| vcpu.lead != 0), guard) {
        (true, Some(guard)) => plan.profile.ticks_for(guard),
        _ => 0,
    }
}

/// A region as the blob has it.
pub(crate) fn region_of(region: &plan::Region) -> Region {
    let colours = region.colours.map(Colours::region);
    Region {
        guest: region.mapping.guest,
        host: region.mapping.host,
        size: region.mapping.size,
        flags: region.kind,
        run: colours.map_or(0, |colours| colours.run),
        spread: colours.map_or(0, |colours| colours.spread),
        interface: region.interface,
        priority: region.priority,
        tables: region.tables,
    }
}

/// Harts as bits.
fn mask(harts: &mut dyn Iterator<Item = u32>) -> u64 {
    harts.fold(0, |mask, hart| mask | 1 << hart)
}

/// A name, padded; the check has seen to it that it fits.
fn name(text: &str) -> Name {
    let mut name = [0; limit::NAME];
    for (to, from) in name.iter_mut().zip(text.bytes()) {
        *to = from;
    }
    name
}
