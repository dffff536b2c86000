//! Devices passed through, and their interrupts.

use tactus_abi::map;
use tactus_planning::placement::Extent;
use tactus_planning::stage2::GUEST_END;

use super::judge::Judge;
use super::platform::Platform;
use crate::config::{Address, At, Device, Size, Span, Vm};
use crate::guest_image::extent_text;
use crate::plan;
use crate::problem::{Code, Problem};
use crate::profile;

/// A page of the fabric that a VM is given by what it shares with others.
pub(super) struct Page {
    pub(super) vm: usize,
    pub(super) device: plan::Device,
    /// What messages call it.
    pub(super) what: &'static str,
    /// What of the description it is there for.
    pub(super) span: Span,
}

/// All of a device of the platform, at a place of its own.
pub(super) fn page_at(
    name: String,
    part_of: &profile::Device,
    guest: u64,
    role: plan::Role,
) -> plan::Device {
    plan::Device {
        name,
        guest: Extent::new(guest, part_of.size.0),
        host: part_of.address.0,
        interrupts: part_of.interrupts.clone(),
        part_of: part_of.clone(),
        role,
    }
}

/// What has been given so far: to which VM, in which place of the file.
struct Given<T> {
    what: T,
    vm: String,
    span: Span,
}

/// Judges all devices of all VMs. `shared`: the pages that are given before all others.
pub(super) fn check(
    judge: &mut Judge<'_>,
    platform: &Platform,
    shared: &[&Page],
) -> Vec<Vec<plan::Device>> {
    let mut pages: Vec<Given<Extent>> = shared
        .iter()
        .map(|page| Given {
            what: page.device.host_extent(),
            vm: judge.config.vms[page.vm].title(),
            span: page.span.clone(),
        })
        .collect();
    let mut sources: Vec<Given<u32>> = Vec::new();
    let config = judge.config;
    let mut all = Vec::new();
    for (index, vm) in config.vms.iter().enumerate() {
        let mut taken = fixed_map(vm);
        let mut own = Vec::new();
        for page in shared.iter().filter(|page| page.vm == index) {
            let what = format!("`{}`, {}", page.device.name, page.what);
            taken.push((page.device.guest, what, ELSEWHERE));
            own.push(page.device.clone());
        }
        for device in &vm.devices {
            let title = title(device, vm);
            let Some((host, guest)) = extents(judge, platform, device, &title) else {
                continue;
            };
            guest_overlap(judge, device, &title, guest, &mut taken);
            let part_of = on_platform(judge, platform, device, &title, host);
            given_twice(judge, device, &title, vm, host, &mut pages);
            for source in &device.interrupts {
                interrupt(judge, vm, part_of, source, &title, &mut sources);
            }
            let Some(part_of) = part_of else {
                continue;
            };
            own.push(plan::Device {
                name: device
                    .name
                    .as_ref()
                    .map_or(&part_of.name, |name| &name.value)
                    .clone(),
                part_of: part_of.clone(),
                guest,
                host: host.start,
                interrupts: device
                    .interrupts
                    .iter()
                    .map(|source| source.value)
                    .collect(),
                role: plan::Role::Device,
            });
        }
        all.push(own);
    }
    all
}

fn title(device: &Device, vm: &Vm) -> String {
    match &device.name {
        Some(name) => format!("device `{}` of {}", name.value, vm.title()),
        None => format!("a device of {}", vm.title()),
    }
}

/// What is to be done about a device where something else is.
const ELSEWHERE: &str = "choose another `guest_address`";

/// What every VM has at fixed guest-physical addresses: where, what, and how to be rid of it.
pub(super) fn fixed_map(vm: &Vm) -> Vec<(Extent, String, &'static str)> {
    let memory = vm.memory.as_ref().map_or(0, |memory| memory.value.0);
    let mut fixed = vec![
        (
            Extent::new(map::FINISHER_BASE, map::PAGE_SIZE),
            "the finisher".to_owned(),
            ELSEWHERE,
        ),
        (
            Extent::new(map::PLIC_BASE, map::PLIC_SIZE),
            "the virtual PLIC".to_owned(),
            ELSEWHERE,
        ),
        (
            Extent {
                start: map::DOORBELL_BASE,
                end: map::CHANNEL_END,
            },
            "doorbells and channels".to_owned(),
            ELSEWHERE,
        ),
        (
            Extent::new(map::RAM_BASE, memory),
            "its memory".to_owned(),
            ELSEWHERE,
        ),
    ];
    if vm.console {
        fixed.push((
            Extent::new(map::UART_BASE, map::UART_SIZE),
            "its virtual UART".to_owned(),
            "choose another `guest_address`, or do without the virtual UART: `console = false`",
        ));
    }
    fixed
}

/// The physical and guest-physical addresses of a device, when they are whole pages.
fn extents(
    judge: &mut Judge<'_>,
    platform: &Platform,
    device: &Device,
    title: &str,
) -> Option<(Extent, Extent)> {
    let (address, size) = (device.address.as_ref()?, device.size.as_ref()?);
    let guest = device.guest_address.as_ref().unwrap_or(address);
    let on_device = |address: u64, size: u64| {
        let host = Extent {
            start: address,
            end: address.saturating_add(size),
        };
        let mut devices = platform.profile.devices.iter();
        devices.any(|device| device.extent().contains(host))
    };
    let begin = address.value.0 / map::PAGE_SIZE * map::PAGE_SIZE;
    let mut whole = judge.is_multiple(
        size.value.0,
        map::PAGE_SIZE,
        &size.span,
        &format!("{title}: `size`"),
        |bytes| Size(bytes).to_string(),
        |size| on_device(begin, size),
    );
    let places = [
        ("address", Some(address)),
        ("guest_address", device.guest_address.as_ref()),
    ];
    for (key, place) in places {
        let Some(place) = place else {
            continue;
        };
        let show = |address| Address(address).to_string();
        let what = format!("{title}: `{key}`");
        let fits = |address: u64| match key {
            "address" => on_device(address, size.value.0.min(map::PAGE_SIZE)),
            _ => address <= GUEST_END - map::PAGE_SIZE,
        };
        let span = &place.span;
        whole &= judge.is_multiple(place.value.0, map::PAGE_SIZE, span, &what, show, fits);
    }
    if !whole {
        return None;
    }
    let ends = guest.value.0.checked_add(size.value.0);
    if ends.is_none_or(|end| end > GUEST_END) || address.value.0.checked_add(size.value.0).is_none()
    {
        judge.note(
            Code::OutOfRange,
            &guest.span,
            "too high",
            format!(
                "{title} ends past the last guest-physical address, {}",
                Address(GUEST_END - 1)
            ),
            "choose a lower `guest_address`",
        );
        return None;
    }
    Some((
        Extent::new(address.value.0, size.value.0),
        Extent::new(guest.value.0, size.value.0),
    ))
}

fn guest_overlap(
    judge: &mut Judge<'_>,
    device: &Device,
    title: &str,
    guest: Extent,
    taken: &mut Vec<(Extent, String, &'static str)>,
) {
    if let Some((extent, what, cure)) = taken.iter().find(|(extent, ..)| extent.overlaps(guest)) {
        let place = device.guest_address.as_ref().or(device.address.as_ref());
        let span = place.map_or(&device.span, |place| &place.span);
        let message = format!(
            "{title} would lie at {}, which is taken by {what}, {}",
            extent_text(guest),
            extent_text(*extent)
        );
        let (label, cure) = (format!("overlaps {what}"), *cure);
        judge.note(Code::GuestOverlap, span, label, message, cure);
    }
    let cure = "choose another `guest_address` for one of them";
    taken.push((guest, title.to_owned(), cure));
}

/// The device of the profile that these addresses are part of, when a VM may have it.
fn on_platform<'p>(
    judge: &mut Judge<'_>,
    platform: &'p Platform,
    device: &Device,
    title: &str,
    host: Extent,
) -> Option<&'p profile::Device> {
    let profile = &platform.profile;
    let span = device
        .address
        .as_ref()
        .map_or(&device.span, |address| &address.span);
    if platform.memory.overlaps(host) {
        judge.note(
            Code::KeptDevice,
            span,
            "memory",
            format!("{title} is memory, {}", extent_text(platform.memory)),
            "name a device; VMs share memory through a `[[channel]]`",
        );
        return None;
    }
    for kept in profile.devices.iter().filter(|d| d.extent().overlaps(host)) {
        let Some(reason) = &kept.kept else {
            continue;
        };
        judge.note(
            Code::KeptDevice,
            span,
            format!("the {}", kept.name),
            format!(
                "{title} is the platform's {}, which no VM gets: {reason}",
                kept.name
            ),
            "remove this device",
        );
        return None;
    }
    // With a spare one, the hypervisor and the firmware do without it.
    let is_withheld = |d: &profile::Device| {
        d.name == profile.console.device && profile.spare_uart().is_none() && !device.trusted
    };
    let Some(found) = profile.devices.iter().find(|d| d.extent().contains(host)) else {
        let given_away = |d: &&profile::Device| {
            d.kept.is_none() && (profile.iommu || !d.bus_master) && !is_withheld(d)
        };
        let known: Vec<String> = profile
            .devices
            .iter()
            .filter(given_away)
            .map(|d| format!("{} at {} ({})", d.name, d.address, d.size))
            .collect();
        judge.note(
            Code::NoSuchDevice,
            span,
            "no device with all these addresses",
            format!(
                "{title} would be {}, which is no device of platform `{}`",
                extent_text(host),
                profile.name
            ),
            format!("it has: {}", known.join(", ")),
        );
        return None;
    };
    if found.bus_master && !profile.iommu {
        judge.note(
            Code::BusMaster,
            span,
            format!("{} masters the bus", found.name),
            format!(
                "{title} is {}, which reads and writes memory by itself: without an IOMMU, which platform `{}` lacks, its VM could reach all memory through it",
                found.name, profile.name
            ),
            "remove this device; no VM can have it and be isolated",
        );
        return None;
    }
    if is_withheld(found) {
        judge.note(
            Code::KeptDevice,
            span,
            "carries all consoles",
            format!(
                "{title} is the platform's {}, which carries the consoles of all VMs, the hypervisor's log and its records: the guest could forge them, or silence them by setting LCR.DLAB",
                found.name
            ),
            "remove this device, as each VM has a virtual UART of its own; or write `trusted = true` here, if the guest is trusted with the run's whole output",
        );
        return None;
    }
    Some(found)
}

fn given_twice(
    judge: &mut Judge<'_>,
    device: &Device,
    title: &str,
    vm: &Vm,
    host: Extent,
    given: &mut Vec<Given<Extent>>,
) {
    let span = device
        .address
        .as_ref()
        .map_or(&device.span, |address| &address.span);
    if let Some(first) = given.iter().find(|given| given.what.overlaps(host)) {
        let (message, cure) = if first.vm == vm.title() {
            let message = format!(
                "{title} has pages that the VM has already, {}",
                extent_text(host)
            );
            (message, "name each page once")
        } else {
            let message = format!(
                "{title} has pages that {} has too, {}",
                first.vm,
                extent_text(host)
            );
            (
                message,
                "a device belongs to one VM: remove it from the other",
            )
        };
        let problem = Problem::new(Code::DeviceTwice, message, cure);
        let problem = problem.at(judge.source(), span, "again here").at(
            judge.source(),
            &first.span,
            "first here",
        );
        judge.add(problem);
    }
    given.push(Given {
        what: host,
        vm: vm.title(),
        span: span.clone(),
    });
}

fn interrupt(
    judge: &mut Judge<'_>,
    vm: &Vm,
    part_of: Option<&profile::Device>,
    source: &At<u32>,
    title: &str,
    given: &mut Vec<Given<u32>>,
) {
    let (number, span) = (source.value, &source.span);
    if !(1..=map::PASSTHROUGH_SOURCE_MAX).contains(&number) {
        judge.note(
            Code::OutOfRange,
            span,
            format!("1 to {}", map::PASSTHROUGH_SOURCE_MAX),
            format!(
                "{title} has interrupt {number}; 1 to {} can be passed through",
                map::PASSTHROUGH_SOURCE_MAX
            ),
            "name a PLIC source of the device",
        );
        return;
    }
    if let Some(part_of) = part_of.filter(|part_of| !part_of.interrupts.contains(&number)) {
        let own: Vec<String> = part_of.interrupts.iter().map(u32::to_string).collect();
        judge.note(
            Code::BadInterrupt,
            span,
            format!("not of {}", part_of.name),
            format!(
                "{title} is {}, which never raises interrupt {number}",
                part_of.name
            ),
            if own.is_empty() {
                "remove it; the device has no interrupt".to_owned()
            } else {
                format!("write `interrupts = [{}]`", own.join(", "))
            },
        );
        return;
    }
    if vm.console && number == map::UART_SOURCE {
        judge.note(
            Code::InterruptTwice,
            span,
            "the virtual UART's as well",
            format!(
                "{title} has interrupt {number}, which the virtual UART of {} has",
                vm.title()
            ),
            "do without the virtual UART: `console = false`",
        );
    }
    if let Some(first) = given.iter().find(|given| given.what == number) {
        let (message, cure) = if first.vm == vm.title() {
            let message = format!("interrupt {number} is given to {} twice", first.vm);
            (message, "name it once")
        } else {
            let message = format!(
                "interrupt {number} is given to {} and to {}",
                first.vm,
                vm.title()
            );
            (
                message,
                "an interrupt goes to one VM: remove it from the other",
            )
        };
        let problem = Problem::new(Code::InterruptTwice, message, cure);
        let problem = problem.at(judge.source(), span, "again here").at(
            judge.source(),
            &first.span,
            "first here",
        );
        judge.add(problem);
    }
    given.push(Given {
        what: number,
        vm: vm.title(),
        span: span.clone(),
    });
}
