//! Devices that VMs emulate for others.

use tactus_abi::blob::calls::{PEER_BASE, WINDOW_BASE};
use tactus_abi::map::{GIGAPAGE_SIZE, PAGE_SIZE, PCI_ECAM_BASE, PCI_ECAM_SIZE};
use tactus_planning::placement::Extent;

use super::channels::Channels;
use super::devices::fixed_map;
use super::judge::Judge;
use super::parts;
use crate::config::{self, Address, HypervisorMemory, Size, Span};
use crate::guest_image::extent_text;
use crate::plan::{self, EmulatedDevice, Function};
use crate::problem::Code;

/// The largest window.
const WINDOW_MAX: Size = Size(16 << 20);
/// One past the last guest-physical address that Sv39x4 reaches.
const GUEST_END: u64 = 1 << 41;
/// What a device is called if the description does not say.
const COMPATIBLE: &str = "tactus,device";
/// One past the last address of a PCI host's memory: its functions' registers have addresses of 32 bits.
const PCI_END: u64 = 1 << 32;
/// Bytes of such a name, as Linux's tables of drivers have them.
const COMPATIBLE_MAX: usize = 127;

/// The device of a channel, which has this number at its first end. The place of the first VM's memory in the second is
/// chosen later.
pub(super) fn device(
    judge: &mut Judge<'_>,
    channel: &config::Channel,
    title: &str,
    number: usize,
) -> Option<EmulatedDevice> {
    let device = channel.device.as_ref()?;
    if channel.calls.is_none() && !judge.config.is_wrong(&channel.span, "calls") {
        judge.note(
            Code::MissingKey,
            &device.span,
            "without `calls`",
            format!("{title} has a `device` and no `calls`, by which its accesses are served"),
            "add a line such as `calls = \"50us\"`",
        );
    }
    let what = |key: &str| format!("`device` of {title}: `{key}`");
    let mut sound = true;
    let is_pci_host = device
        .compatible
        .as_ref()
        .is_some_and(|name| name.value == EmulatedDevice::PCI_HOST);
    // A PCI host has the registers of its functions behind their configuration spaces: a page, if nothing else is said.
    let (least, most, chosen, cure) = if is_pci_host {
        (
            PCI_ECAM_SIZE + PAGE_SIZE,
            PCI_END,
            PCI_ECAM_BASE,
            "leave `size` out for the configuration spaces of a bus, 1 MiB, and a page of registers",
        )
    } else {
        (
            PAGE_SIZE,
            GUEST_END,
            WINDOW_BASE + number as u64 * PAGE_SIZE,
            "leave `size` out for a page; memory that both VMs have is the channel's own",
        )
    };
    let size = device.size.as_ref();
    if let Some(size) = size {
        let show = |bytes| Size(bytes).to_string();
        let fits = |bytes| bytes <= WINDOW_MAX.0;
        sound &= judge.is_multiple(
            size.value.0,
            PAGE_SIZE,
            &size.span,
            &what("size"),
            show,
            fits,
        );
        if sound && !(least..=WINDOW_MAX.0).contains(&size.value.0) {
            judge.note(
                Code::OutOfRange,
                &size.span,
                format!("{} to {WINDOW_MAX}", Size(least)),
                format!("the window of {title} cannot have {}", size.value),
                cure,
            );
            sound = false;
        }
    }
    let size = size.map_or(least, |size| size.value.0);
    let start = match &device.address {
        Some(address) => {
            let show = |address| Address(address).to_string();
            let fits = |address| address <= most - PAGE_SIZE;
            let start = address.value.0;
            let span = &address.span;
            sound &= judge.is_multiple(start, PAGE_SIZE, span, &what("address"), show, fits);
            if sound && start.checked_add(size).is_none_or(|end| end > most) {
                let last = if is_pci_host {
                    "the last address of 32 bits"
                } else {
                    "the last guest-physical address"
                };
                judge.note(
                    Code::OutOfRange,
                    span,
                    "too high",
                    format!(
                        "the window of {title} ends past {last}, {}",
                        Address(most - 1)
                    ),
                    "choose a lower `address`, or leave it out",
                );
                sound = false;
            }
            start
        }
        None => chosen,
    };
    let compatible = device.compatible.as_ref();
    if let Some(name) = compatible
        && !is_compatible(&name.value)
    {
        judge.note(
            Code::BadName,
            &name.span,
            "not a name",
            format!(
                "{}: `{}` is no name of a device",
                what("compatible"),
                name.value
            ),
            "write the manufacturer and the model, as in `compatible = \"virtio,mmio\"`",
        );
        sound = false;
    }
    sound.then(|| EmulatedDevice {
        compatible: compatible.map_or(COMPATIBLE, |name| &name.value).to_owned(),
        window: Extent::new(start, size),
        memory: None,
    })
}

/// Whether a text can be `compatible` (Devicetree Specification 0.4, section 2.3.1).
fn is_compatible(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_,.+".contains(c);
    (1..=COMPATIBLE_MAX).contains(&text.len()) && text.chars().all(allowed)
}

/// Chooses where VMs have the memory of those that they emulate devices for.
pub(super) fn place_memory(judge: &Judge<'_>, channels: &mut Channels) {
    let vms = &judge.config.vms;
    for ends in &channels.ends {
        let mut next = PEER_BASE;
        for end in ends {
            let channel = &mut channels.channels[end.channel];
            let (client, _) = channel.ends[0];
            let described = judge.config.channels.iter().find(|described| {
                let name = described.name.as_ref();
                name.is_some_and(|name| name.value == channel.name)
            });
            let wants = described.and_then(|described| described.device.as_ref());
            let memory = vms[client].memory.as_ref();
            if let (Some(device), Some(memory), true, Some(_)) = (
                &mut channel.device,
                memory,
                client == end.peer,
                wants.filter(|wants| wants.memory),
            ) {
                device.memory = Some(Extent::new(next, memory.value.0));
                next = (next + memory.value.0).next_multiple_of(GIGAPAGE_SIZE);
            }
        }
    }
}

/// Judges whether the hypervisor forwards, and whether each window is at addresses of its own.
pub(super) fn check(
    judge: &mut Judge<'_>,
    channels: &Channels,
    devices: &[Vec<plan::Device>],
    functions: &[Vec<Function>],
) {
    let config = judge.config;
    let Some(first) = config
        .channels
        .iter()
        .find_map(|channel| channel.device.as_ref())
    else {
        return;
    };
    is_forwarded(judge, &first.span);
    let spans = |name: &str| {
        let is_it =
            |channel: &&config::Channel| channel.name.as_ref().is_some_and(|own| own.value == name);
        let device = config.channels.iter().find(is_it)?.device.as_ref()?;
        Some(
            device
                .address
                .as_ref()
                .map_or(&device.span, |address| &address.span),
        )
    };
    for (index, vm) in config.vms.iter().enumerate() {
        let mut taken: Vec<(Extent, String)> = fixed_map(vm)
            .into_iter()
            .map(|(extent, what, _)| (extent, what))
            .collect();
        let own = devices.get(index).into_iter().flatten();
        taken.extend(own.map(|device| (device.guest, format!("device `{}`", device.name))));
        let own = functions.get(index).into_iter().flatten();
        taken.extend(own.map(|function| {
            (
                function.window,
                format!("the PCI function in slot {}", function.slot),
            )
        }));
        if functions.get(index).is_some_and(|own| !own.is_empty()) {
            let spaces = Extent::new(PCI_ECAM_BASE, PCI_ECAM_SIZE);
            taken.push((
                spaces,
                "the configuration spaces of its PCI functions".into(),
            ));
        }
        for channel in &channels.channels {
            let Some(device) = channel
                .device
                .as_ref()
                .filter(|_| channel.ends[0].0 == index)
            else {
                continue;
            };
            let other = taken
                .iter()
                .find(|(extent, _)| extent.overlaps(device.window));
            if let (Some((extent, what)), Some(span)) = (other, spans(&channel.name)) {
                judge.note(
                    Code::GuestOverlap,
                    span,
                    format!("overlaps {what}"),
                    format!(
                        "the window of channel `{}` would lie at {} in {}, which is taken by {what}, {}",
                        channel.name,
                        extent_text(device.window),
                        vm.title(),
                        extent_text(*extent)
                    ),
                    "choose another `address` for it",
                );
            }
            taken.push((
                device.window,
                format!("the window of channel `{}`", channel.name),
            ));
        }
    }
}

/// No hypervisor that forwards is in on-chip memory.
fn is_forwarded(judge: &mut Judge<'_>, span: &Span) {
    if parts::memory(judge.config) == HypervisorMemory::Onchip {
        judge.note(
            Code::NoForwarding,
            span,
            "not with this hypervisor",
            "the hypervisor for on-chip memory has no emulated devices",
            "remove `hypervisor_memory`, or the device",
        );
    }
}
