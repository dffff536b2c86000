//! Where everything is in physical memory: firmware, boot image, the hypervisor's pool, channels, VMs.

use tactus_abi::blob::pci::{PciFunction, PciHost};
use tactus_abi::blob::{ChannelEnd, Hart, Header, Interrupt, Region, Segment, Vcpu, Vm};
use tactus_abi::map::{MEGAPAGE_SIZE, PAGE_SIZE, RAM_BASE};
use tactus_planning::colours::{self, Block};
use tactus_planning::placement::{Extent, Place, Request, place};
use tactus_planning::stage2::{Mapping, pool_pages};

use super::judge::Judge;
use super::platform::Platform;
use crate::config::{Address, Size, Vm as VmConfig};
use crate::guest_image::extent_text;
use crate::problem::{Code, Problem, count};

/// What the hypervisor takes from its pool beside page tables.
const POOL_FIXED: u64 = 64 << 10;
const POOL_PER_HART: u64 = 32 << 10;
const POOL_PER_VCPU: u64 = 4 << 10;
/// Steps in which a larger memory is proposed.
const MEMORY_STEP: u64 = 256 << 20;
/// What an IOMMU takes for its directory and its queues, and what is known of each function.
const POOL_IOMMU: u64 = 64 << 10;
const POOL_PER_FUNCTION: u64 = 4 << 10;
/// What each end of a channel takes beside its messages.
const POOL_PER_MAILBOX: u64 = 4 << 10;

/// How much there is of everything, from which the sizes of boot image and pool follow.
pub(super) struct Amounts {
    /// Bytes of the hypervisor, up to the blob.
    pub(super) hypervisor: u64,
    pub(super) harts: usize,
    pub(super) vcpus: usize,
    pub(super) interrupts: usize,
    /// PCI functions.
    pub(super) functions: usize,
    /// For each VM the mappings of devices, and the guest addresses of channels.
    pub(super) vms: Vec<VmAmounts>,
    pub(super) channels: Vec<ChannelAmounts>,
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
    /// Its memory, and behind it its second-stage tables, if the cache is divided.
    pub(super) colours: Option<Block>,
}

/// How much there is of a channel.
pub(super) struct ChannelAmounts {
    pub(super) size: u64,
    /// Its memory, if the cache is divided.
    pub(super) colours: Option<Block>,
}

impl Amounts {
    /// The memory that has colours: the VMs', then the channels'. Empty if the cache is not divided.
    fn blocks(&self) -> Vec<Block> {
        let vms = self.vms.iter().filter_map(|vm| vm.colours);
        let channels = self.channels.iter().filter_map(|channel| channel.colours);
        vms.chain(channels).collect()
    }

    /// Bytes of the channels that lie behind the pool.
    fn channels_behind_pool(&self) -> u64 {
        let behind = self
            .channels
            .iter()
            .filter(|channel| channel.colours.is_none());
        behind.map(|channel| channel.size).sum()
    }
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
        + channels * size_of::<ChannelEnd>()
        + match amounts.functions {
            0 => 0,
            functions => size_of::<PciHost>() + functions * size_of::<PciFunction>(),
        };
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
            if vm.colours.is_some() {
                // The other ones are behind its memory.
                return pool_pages(&[]);
            }
            // Of unknown alignment.
            let channels = vm.channels.iter();
            let channels = channels.map(|guest| Mapping::of_pages(guest.start, guest.size()));
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
        + match amounts.functions as u64 {
            0 => 0,
            functions => POOL_IOMMU + POOL_PER_FUNCTION * functions,
        }
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
    let whole = Extent {
        start: base,
        end: pool.end.saturating_add(amounts.channels_behind_pool()),
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
    let (vms, channels) = if amounts.blocks().is_empty() {
        let mut next = pool.end;
        let channels = amounts.channels.iter().map(|channel| {
            let start = next;
            next += channel.size;
            start
        });
        let channels = channels.collect();
        (place_vms(judge, platform, &taken, amounts)?, channels)
    } else {
        place_colours(judge, platform, &taken, amounts)?
    };
    Some(Placement {
        image,
        pool,
        channels,
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
    let needed = least_memory(platform, &taken, &wishes(judge, amounts));
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

/// What is to be placed beside the boot image and the pool.
enum Wishes {
    /// VMs, each in one piece.
    Whole(Vec<Request>),
    /// VMs and channels, with colours of the cache.
    Coloured(Vec<Block>),
}

impl Wishes {
    fn size(&self) -> u64 {
        match self {
            Self::Whole(requests) => requests.iter().map(|request| request.size).sum(),
            Self::Coloured(blocks) => blocks.iter().map(|block| block.size).sum(),
        }
    }

    fn fit(&self, memory: Extent, taken: &[Extent]) -> bool {
        match self {
            Self::Whole(requests) => place(memory, taken, &mut requests.clone()),
            Self::Coloured(blocks) => colours::place(memory, taken, &mut blocks.clone()),
        }
    }
}

fn wishes(judge: &Judge<'_>, amounts: &Amounts) -> Wishes {
    let blocks = amounts.blocks();
    if blocks.is_empty() {
        Wishes::Whole(requests(judge, amounts))
    } else {
        Wishes::Coloured(blocks)
    }
}

/// The least memory of the platform in which all that is asked for has a place beside what is `taken`; `None`: it
/// cannot have so much.
fn least_memory(platform: &Platform, taken: &[Extent], asked: &Wishes) -> Option<Size> {
    let start = platform.memory.start;
    let end = taken.iter().map(|extent| extent.end).max().unwrap_or(start);
    let wanted = asked.size();
    (1..=platform.profile.memory.max.0 / MEMORY_STEP)
        .map(|steps| Size(steps * MEMORY_STEP))
        .filter(|size| size.0 >= wanted)
        .find(|size| {
            let memory = Extent::new(start, size.0);
            memory.contains(Extent { start, end }) && asked.fit(memory, taken)
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
    if place(platform.memory, &extents, &mut requests) {
        let addresses = requests
            .iter()
            .map(|request| request.extent().map(|e| e.start));
        return addresses.collect();
    }
    let vms = config.vms.iter().zip(&requests);
    let homeless = vms.filter(|(_, request)| request.place == Place::Nowhere);
    let homeless: Vec<_> = homeless.map(|(vm, _)| vm).collect();
    no_room(judge, platform, &extents, amounts, &homeless);
    None
}

/// The addresses of VMs and channels with colours of the cache; `None`, noted, when not all fit.
fn place_colours(
    judge: &mut Judge<'_>,
    platform: &Platform,
    taken: &[(Extent, &str)],
    amounts: &Amounts,
) -> Option<(Vec<u64>, Vec<u64>)> {
    let config = judge.config;
    let extents: Vec<Extent> = taken.iter().map(|(extent, _)| *extent).collect();
    let mut blocks = amounts.blocks();
    colours::place(platform.memory, &extents, &mut blocks);
    let hosts: Option<Vec<u64>> = blocks.iter().map(|block| block.host).collect();
    if let Some(mut vms) = hosts {
        let channels = vms.split_off(config.vms.len());
        return Some((vms, channels));
    }
    // Where only a channel has none, all VMs are in its way.
    let has_none = |(_, block): &(&VmConfig, &Block)| block.host.is_none();
    let homeless: Vec<_> = config.vms.iter().zip(&blocks).filter(has_none).collect();
    let homeless: Vec<_> = match homeless.len() {
        0 => config.vms.iter().collect(),
        _ => homeless.into_iter().map(|(vm, _)| vm).collect(),
    };
    no_room(judge, platform, &extents, amounts, &homeless);
    None
}

fn no_room(
    judge: &mut Judge<'_>,
    platform: &Platform,
    taken: &[Extent],
    amounts: &Amounts,
    homeless: &[&VmConfig],
) {
    let names: Vec<String> = homeless.iter().map(|vm| vm.title()).collect();
    let kept: u64 = taken.iter().map(|extent| extent.size()).sum();
    let most = platform.profile.memory.max;
    let asked = wishes(judge, amounts);
    let needed = least_memory(platform, taken, &asked);
    let vms = count(amounts.vms.len(), "VM");
    let mut problem = Problem::new(
        Code::NoRoom,
        format!(
            "no room for {}: of {} of memory, firmware and hypervisor take {}, and {vms} want {}",
            names.join(", "),
            Size(platform.memory.size()),
            Size(kept.next_multiple_of(MEGAPAGE_SIZE)),
            match asked {
                Wishes::Whole(_) => Size(asked.size()).to_string(),
                Wishes::Coloured(_) => format!(
                    "{}, each in the pages of its colours alone",
                    Size(asked.size().next_multiple_of(MEGAPAGE_SIZE))
                ),
            }
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
    for vm in homeless {
        let span = vm.memory.as_ref().map_or(&vm.span, |memory| &memory.span);
        problem = problem.at(judge.source(), span, "does not fit");
    }
    judge.add(problem);
}
