//! Where everything is in physical memory: firmware, boot image, the hypervisor's pool, channels, VMs.

use tactus_abi::blob::{ChannelEnd, Hart, Header, Interrupt, Region, Segment, Vcpu, Vm};
use tactus_abi::map::{MEGAPAGE_SIZE, PAGE_SIZE, RAM_BASE};
use tactus_planning::placement::{Extent, Place, Request, place};
use tactus_planning::stage2::{Mapping, pool_pages};

use super::judge::Judge;
use super::platform::Platform;
use crate::config::{Address, Size};
use crate::guest_image::extent_text;
use crate::problem::{Code, Problem, count};

/// What the hypervisor takes from its pool beside page tables.
const POOL_FIXED: u64 = 64 << 10;
const POOL_PER_HART: u64 = 32 << 10;
const POOL_PER_VCPU: u64 = 4 << 10;
/// Steps in which a larger memory is proposed.
const MEMORY_STEP: u64 = 256 << 20;
/// What each end of a channel takes beside its messages.
const POOL_PER_MAILBOX: u64 = 4 << 10;

/// How much there is of everything, from which the sizes of boot image and pool follow.
pub(super) struct Amounts {
    /// Bytes of the hypervisor, up to the blob.
    pub(super) hypervisor: u64,
    pub(super) harts: usize,
    pub(super) vcpus: usize,
    pub(super) interrupts: usize,
    /// For each VM the mappings of devices, and the guest addresses of channels.
    pub(super) vms: Vec<VmAmounts>,
    /// Bytes of each channel.
    pub(super) channels: Vec<u64>,
    /// Messages that may wait at each end of each channel, and the bytes of one.
    pub(super) messages: Vec<(u32, u32)>,
}

/// How much there is of a VM.
pub(super) struct VmAmounts {
    pub(super) memory: Size,
    /// Bytes of each segment.
    pub(super) segments: Vec<u64>,
    pub(super) devices: Vec<Mapping>,
    pub(super) channels: Vec<Extent>,
}

/// Where the parts are.
pub(super) struct Placement {
    pub(super) image: Extent,
    pub(super) pool: Extent,
    /// First address of each channel's memory.
    pub(super) channels: Vec<u64>,
    /// First address of each VM's memory.
    pub(super) vms: Vec<u64>,
}

/// Bytes of a blob with that much in it.
fn blob_size(amounts: &Amounts) -> u64 {
    let vms = &amounts.vms;
    let channels: usize = vms.iter().map(|vm| vm.channels.len()).sum();
    let devices: usize = vms.iter().map(|vm| vm.devices.len()).sum();
    let segments: usize = vms.iter().map(|vm| vm.segments.len()).sum();
    let size = size_of::<Header>()
        + amounts.harts * size_of::<Hart>()
        + vms.len() * size_of::<Vm>()
        + amounts.vcpus * size_of::<Vcpu>()
        + (vms.len() + devices + channels) * size_of::<Region>()
        + segments * size_of::<Segment>()
        + amounts.interrupts * size_of::<Interrupt>()
        + channels * size_of::<ChannelEnd>();
    size as u64
}

/// Bytes of the whole boot image.
fn image_size(amounts: &Amounts) -> u64 {
    let segments = amounts.vms.iter().flat_map(|vm| &vm.segments);
    let pages = |bytes: u64| bytes.next_multiple_of(PAGE_SIZE);
    amounts.hypervisor
        + pages(blob_size(amounts))
        + segments.map(|&bytes| pages(bytes)).sum::<u64>()
}

/// Bytes of the pool. The VMs are not placed yet, so their memory counts as mapped by 2 MiB pages.
fn pool_size(amounts: &Amounts) -> u64 {
    let tables: usize = amounts
        .vms
        .iter()
        .map(|vm| {
            let memory = Mapping {
                guest: RAM_BASE,
                host: RAM_BASE + MEGAPAGE_SIZE,
                size: vm.memory.0,
            };
            // Of unknown alignment: mapped by 4 KiB pages.
            let channels = vm.channels.iter().map(|guest| Mapping {
                guest: guest.start,
                host: guest.start + PAGE_SIZE,
                size: guest.size(),
            });
            let mappings: Vec<_> = std::iter::once(memory)
                .chain(vm.devices.iter().copied())
                .chain(channels)
                .collect();
            pool_pages(&mappings)
        })
        .sum();
    let queue = |&(messages, size): &(u32, u32)| {
        let each = u64::from(size).next_multiple_of(8);
        let all = (u64::from(messages) * each).next_multiple_of(PAGE_SIZE);
        2 * (POOL_PER_MAILBOX + all)
    };
    tables as u64 * PAGE_SIZE
        + amounts.messages.iter().map(queue).sum::<u64>()
        + POOL_FIXED
        + POOL_PER_HART * amounts.harts as u64
        + POOL_PER_VCPU * amounts.vcpus as u64
}

/// Places everything. `None`, noted, when not all of it fits.
pub(super) fn check(
    judge: &mut Judge<'_>,
    platform: &Platform,
    amounts: &Amounts,
) -> Option<Placement> {
    let base = platform.profile.image_base();
    let image = Extent::new(base, image_size(amounts));
    let pool = Extent::new(image.end, pool_size(amounts));
    let channels: u64 = amounts.channels.iter().sum();
    let whole = Extent {
        start: base,
        end: pool.end.saturating_add(channels),
    };
    if !platform.memory.contains(whole) {
        image_too_large(judge, platform, whole, amounts);
        return None;
    }
    let taken = [
        (platform.profile.firmware.extent(), "the firmware"),
        (
            whole,
            "the hypervisor, with the guests' images and the channels,",
        ),
    ];
    if !fixed(judge, platform, &taken) {
        return None;
    }
    let vms = place_vms(judge, platform, &taken, amounts)?;
    let mut next = pool.end;
    let channels = amounts.channels.iter().map(|size| {
        let start = next;
        next += size;
        start
    });
    Some(Placement {
        image,
        pool,
        channels: channels.collect(),
        vms,
    })
}

/// Judges fixed addresses alone, when the sizes of everything else are not known.
pub(super) fn check_fixed(judge: &mut Judge<'_>, platform: &Platform) {
    let firmware = (platform.profile.firmware.extent(), "the firmware");
    fixed(judge, platform, &[firmware]);
}

fn image_too_large(judge: &mut Judge<'_>, platform: &Platform, whole: Extent, amounts: &Amounts) {
    let taken = [platform.profile.firmware.extent(), whole];
    let needed = least_memory(platform, &taken, &requests(judge, amounts));
    let system = &judge.config.system;
    let span = system
        .memory
        .as_ref()
        .map_or(&system.span, |memory| &memory.span)
        .clone();
    judge.note(
        Code::NoRoom,
        &span,
        Size(platform.memory.size()).to_string(),
        format!(
            "the hypervisor, with the guests' images and the channels, takes {} and does not fit the memory, {}",
            extent_text(whole),
            extent_text(platform.memory)
        ),
        if let Some(needed) = needed {
            format!(
                "give the system more: `memory = \"{}\"` in `[system]`",
                needed.to_string().replace(' ', "")
            )
        } else {
            "use smaller images or channels: the platform cannot have so much memory".to_owned()
        },
    );
}

/// Judges the VMs whose address the description gives.
fn fixed(judge: &mut Judge<'_>, platform: &Platform, taken: &[(Extent, &str)]) -> bool {
    let config = judge.config;
    let mut fit = true;
    let mut earlier: Vec<(Extent, String, &crate::config::Span)> = Vec::new();
    for vm in &config.vms {
        let (Some(address), Some(memory)) = (&vm.host_address, &vm.memory) else {
            continue;
        };
        let show = |address| Address(address).to_string();
        let what = format!("{}: `host_address`", vm.title());
        // Where it meets nothing whose place is known.
        let free = |address: u64| {
            let extent = Extent {
                start: address,
                end: address.saturating_add(memory.value.0),
            };
            let of_vms = config.vms.iter().filter(|other| !std::ptr::eq(*other, vm));
            let of_vms = of_vms.filter_map(|other| {
                let (address, memory) = (other.host_address.as_ref()?, other.memory.as_ref()?);
                Some(Extent {
                    start: address.value.0,
                    end: address.value.0.saturating_add(memory.value.0),
                })
            });
            let mut taken = of_vms.chain(taken.iter().map(|(extent, _)| *extent));
            platform.memory.contains(extent) && !taken.any(|other| other.overlaps(extent))
        };
        let (start, span) = (address.value.0, &address.span);
        if !judge.is_multiple(start, MEGAPAGE_SIZE, span, &what, show, free) {
            fit = false;
            continue;
        }
        let extent = Extent {
            start,
            end: start.saturating_add(memory.value.0),
        };
        if !platform.memory.contains(extent) {
            judge.note(
                Code::OutsideMemory,
                &address.span,
                extent_text(extent),
                format!(
                    "the memory of {}, {}, is not all within the system's, {}",
                    vm.title(),
                    extent_text(extent),
                    extent_text(platform.memory)
                ),
                "leave `host_address` out to have a place chosen, or give the system more `memory`",
            );
            fit = false;
        }
        let clear = taken.iter().map(|(other, _)| other.end).max().unwrap_or(0);
        let clear = clear.next_multiple_of(MEGAPAGE_SIZE);
        for (other, what) in taken.iter().filter(|(other, _)| other.overlaps(extent)) {
            judge.note(
                Code::MemoryOverlap,
                &address.span,
                extent_text(extent),
                format!(
                    "the memory of {} overlaps {what} at {}",
                    vm.title(),
                    extent_text(*other)
                ),
                if free(clear) {
                    format!(
                        "leave `host_address` out to have a place chosen, or use {}",
                        Address(clear)
                    )
                } else {
                    "leave `host_address` out to have a place chosen".to_owned()
                },
            );
            fit = false;
        }
        for (other, title, span) in earlier.iter().filter(|(other, ..)| other.overlaps(extent)) {
            let problem = Problem::new(
                Code::MemoryOverlap,
                format!("the memory of {} overlaps that of {title}", vm.title()),
                "leave `host_address` out to have places chosen, or move one of them",
            );
            let problem = problem
                .at(judge.source(), &address.span, extent_text(extent))
                .at(judge.source(), span, extent_text(*other));
            judge.add(problem);
            fit = false;
        }
        earlier.push((extent, vm.title(), &address.span));
    }
    fit
}

/// What the VMs want of memory.
fn requests(judge: &Judge<'_>, amounts: &Amounts) -> Vec<Request> {
    let vms = judge.config.vms.iter().zip(&amounts.vms);
    vms.map(|(vm, amount)| Request {
        size: amount.memory.0,
        place: vm
            .host_address
            .as_ref()
            .map_or(Place::Open, |address| Place::Fixed(address.value.0)),
    })
    .collect()
}

/// The least memory of the platform in which all that is asked for has a place beside what is `taken`; `None`: it cannot have so much.
fn least_memory(platform: &Platform, taken: &[Extent], asked: &[Request]) -> Option<Size> {
    let start = platform.memory.start;
    let end = taken.iter().map(|extent| extent.end).max().unwrap_or(start);
    let wanted: u64 = asked.iter().map(|request| request.size).sum();
    (1..=platform.profile.memory.max.0 / MEMORY_STEP)
        .map(|steps| Size(steps * MEMORY_STEP))
        .filter(|size| size.0 >= wanted)
        .find(|size| {
            let memory = Extent::new(start, size.0);
            let mut again = asked.to_vec();
            memory.contains(Extent { start, end }) && place(memory, taken, &mut again)
        })
}

fn place_vms(
    judge: &mut Judge<'_>,
    platform: &Platform,
    taken: &[(Extent, &str)],
    amounts: &Amounts,
) -> Option<Vec<u64>> {
    let config = judge.config;
    let mut requests = requests(judge, amounts);
    let extents: Vec<Extent> = taken.iter().map(|(extent, _)| *extent).collect();
    let asked = requests.clone();
    if place(platform.memory, &extents, &mut requests) {
        let addresses = requests
            .iter()
            .map(|request| request.extent().map(|e| e.start));
        return addresses.collect();
    }
    let homeless: Vec<_> = config
        .vms
        .iter()
        .zip(&requests)
        .filter(|(_, request)| request.place == Place::Nowhere)
        .collect();
    let names: Vec<String> = homeless.iter().map(|(vm, _)| vm.title()).collect();
    let wanted: u64 = requests.iter().map(|request| request.size).sum();
    let kept: u64 = extents.iter().map(|extent| extent.size()).sum();
    let most = platform.profile.memory.max;
    let needed = least_memory(platform, &extents, &asked);
    let mut problem = Problem::new(
        Code::NoRoom,
        format!(
            "no room for {}: of {} of memory, firmware and hypervisor take {}, and {} want {}",
            names.join(", "),
            Size(platform.memory.size()),
            Size(kept.next_multiple_of(MEGAPAGE_SIZE)),
            count(requests.len(), "VM"),
            Size(wanted)
        ),
        match needed {
            Some(needed) => format!(
                "give the VMs less memory, or the system more: `memory = \"{}\"` in `[system]`",
                needed.to_string().replace(' ', "")
            ),
            None => format!(
                "give the VMs less memory: platform `{}` has at most {most}",
                platform.profile.name
            ),
        },
    );
    for (vm, _) in homeless {
        let span = vm.memory.as_ref().map_or(&vm.span, |memory| &memory.span);
        problem = problem.at(judge.source(), span, "does not fit");
    }
    judge.add(problem);
    None
}
