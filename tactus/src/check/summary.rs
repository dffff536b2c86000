//! What a checked system looks like, for people.

use std::fmt::Write;

use tactus_abi::blob::{Migration, ReadyQueue};
use tactus_abi::map::{CHANNEL_SOURCE, GIGAPAGE_SIZE, MEGAPAGE_SIZE, PAGE_SIZE, RAM_BASE};
use tactus_board::profile::Profile;
use tactus_planning::stage2::{Mapping, leaf_size};

use tactus_planning::analysis::Criticality;
use tactus_policy::reservation::Kind;

use super::time::{reservation_text, time_text};
use super::{Verdict, command::tally};
use super::{calls, onchip, parts, pci};
use crate::config::{Address, Class, ColourRange, IoPolicy, Nanoseconds, Share, Size};
use crate::guest_image::extent_text;
use crate::io_bounds::{Memory, Mesh, Port, Request, Shared, Way};
use crate::pci::Model;
use crate::plan::{ConsoleLine, IoPort, OnFault, OnchipPart, Plan, Tiles, Vcpu, Vm};
use crate::problem::count;

/// The system in words and tables.
pub fn summary(plan: &Plan, verdict: &Verdict) -> String {
    let mut text = String::new();
    let warnings = tally(verdict);
    let separator = if warnings.is_empty() { "" } else { ", " };
    // Writing to a string does not fail.
    let _ = writeln!(text, "{}: fine{separator}{warnings}\n", verdict.file);
    let _ = writeln!(text, "{}", platform(plan));
    text.push_str(&vms(plan, verdict));
    text.push('\n');
    text.push_str(&harts(plan));
    text.push_str(&counters(plan));
    text.push_str(&managers(plan));
    text.push_str(&run_time(plan));
    text.push_str(&onchip_parts(plan));
    text.push_str(&cache(plan));
    text.push_str(&interrupts(plan));
    text.push_str(&functions(plan, verdict));
    text.push_str(&accelerators(plan));
    text.push_str(&io(plan));
    text.push_str(&channels(plan));
    text.push_str(&calls(plan));
    text
}

/// Rows with their columns aligned, two spaces apart.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

pub(crate) fn row(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|&cell| cell.to_owned()).collect()
}

fn platform(plan: &Plan) -> String {
    let slice = plan.slice_ticks * 1_000_000_000 / u64::from(plan.profile.timebase_hz);
    let mut rows = vec![
        vec!["platform".into(), plan.profile.name.clone()],
        vec![
            "hypervisor".into(),
            parts::title(plan.parts, plan.hypervisor.onchip.map(|there| there.text)),
        ],
        vec![
            "harts".into(),
            format!(
                "{}, best-effort time slice {}{}",
                plan.harts,
                Nanoseconds(slice),
                if plan.reserve == Share::default() {
                    String::new()
                } else {
                    format!(" and at least {} of each", plan.reserve)
                }
            ),
        ],
        vec![
            "memory".into(),
            format!(
                "{} at {}",
                Size(plan.memory.size()),
                Address(plan.memory.start)
            ),
        ],
        vec![
            "boot image".into(),
            format!("{} ({})", extent_text(plan.image), Size(plan.image.size())),
        ],
        vec![
            "pool".into(),
            format!("{} ({})", extent_text(plan.pool), Size(plan.pool.size())),
        ],
        vec!["on-chip memory".into(), onchip_memory(plan)],
        vec![
            "consoles".into(),
            match plan.line {
                ConsoleLine::Uart => format!("the platform's {}", plan.profile.console.device),
                ConsoleLine::Spare(vm) => format!(
                    "the platform's spare UART; {} has the {}",
                    plan.vms[vm].name, plan.profile.console.device
                ),
                ConsoleLine::Shared(vm) => format!(
                    "the firmware's, on the {} of {}, which can forge or silence all of them",
                    plan.profile.console.device, plan.vms[vm].name
                ),
            },
        ],
    ];
    rows.retain(|row| !row[1].is_empty());
    if !plan.separation {
        rows.push(vec![
            "separation".into(),
            "off: real-time vCPUs wait for what is done for best-effort VMs".into(),
        ]);
    }
    if plan.ready_queue != ReadyQueue::Bitmap {
        let place = if plan.ready_queue.is_in_hardware() {
            "in the fabric"
        } else {
            "in software"
        };
        rows.push(vec![
            "ready queue".into(),
            format!("{}, {place}", plan.ready_queue.name()),
        ]);
    }
    if plan.migration != Migration::Off {
        let harts: Vec<String> = plan.user_only.iter().map(u32::to_string).collect();
        let always = plan.migration == Migration::Always;
        let when = if always {
            "always"
        } else {
            "unless they call their kernel often"
        };
        rows.push(vec![
            "user level only".into(),
            format!(
                "hart {}: best-effort vCPUs go there {when}",
                harts.join(", ")
            ),
        ]);
    }
    table(&rows)
}

/// How many pages of which size map a VM's memory, of which a part may be in on-chip memory.
fn pages(memory: Mapping, onchip: Option<OnchipPart>) -> String {
    let sizes = [GIGAPAGE_SIZE, MEGAPAGE_SIZE, PAGE_SIZE];
    let mut numbers = [0u64; 3];
    let part = |first: u64, end: u64| Mapping {
        guest: first,
        host: memory.host + (first - memory.guest),
        size: end - first,
    };
    let end = memory.guest + memory.size;
    let pieces = match onchip {
        None => vec![memory],
        Some(OnchipPart { guest, host }) => vec![
            part(memory.guest, guest.start),
            Mapping {
                host: host.start,
                ..part(guest.start, guest.end)
            },
            part(guest.end, end),
        ],
    };
    for mapping in pieces {
        let mut done = 0;
        while done < mapping.size {
            let leaf = leaf_size(
                mapping.guest + done,
                mapping.host + done,
                mapping.size - done,
            );
            for (number, size) in numbers.iter_mut().zip(sizes) {
                *number += u64::from(size == leaf);
            }
            done += leaf;
        }
    }
    let used = numbers.iter().zip(sizes).filter(|(number, _)| **number > 0);
    let parts: Vec<String> = used
        .map(|(n, size)| format!("{n} x {}", Size(size)))
        .collect();
    parts.join(", ")
}

fn on_fault(plan: &Plan, vm: &Vm) -> String {
    match vm.on_fault {
        OnFault::Halt => "halt".into(),
        OnFault::Restart => "restart".into(),
        OnFault::Signal(target) => format!("signal {}", plan.vms[target].name),
    }
}

fn vms(plan: &Plan, verdict: &Verdict) -> String {
    let mut rows = vec![row(&[
        "VM", "memory", "guest", "host", "pages", "console", "on fault", "image",
    ])];
    for (vm, files) in plan.vms.iter().zip(&verdict.files) {
        let files: Vec<&str> = files.iter().flatten().map(String::as_str).collect();
        let memory = plan.regions(vm)[0].as_mapped();
        rows.push(vec![
            vm.name.clone(),
            vm.memory.to_string(),
            Address(RAM_BASE).to_string(),
            Address(vm.host).to_string(),
            pages(memory, vm.onchip),
            if vm.console { "yes" } else { "no" }.into(),
            on_fault(plan, vm),
            files.join(" + "),
        ]);
    }
    table(&rows)
}

/// What a vCPU's place among those of its class follows from.
fn order(plan: &Plan, vcpu: &Vcpu) -> String {
    let hz = plan.profile.timebase_hz;
    let times = vcpu.reservation.map(|times| reservation_text(times, hz));
    let parts = vcpu.priority.map(|priority| priority.to_string());
    let parts: Vec<String> = parts.into_iter().chain(times).collect();
    let kind = match vcpu.kind {
        Kind::Server => "",
        Kind::Periodic => ", periodic",
    };
    let level = match vcpu.criticality {
        Criticality::Low => ", of low criticality".into(),
        Criticality::High { budget: Some(high) } => {
            format!(", {} in the high mode", time_text(high, hz))
        }
        Criticality::High { budget: None } => String::new(),
    };
    parts.join(": ") + kind + &level
}

/// The VMs that may read what their harts do for others.
fn counters(plan: &Plan) -> String {
    let mut rows = vec![row(&["VM", "counters", "count"])];
    for vm in plan.vms.iter().filter(|vm| vm.counters) {
        rows.push(row(&[
            &vm.name,
            "cycle, instret",
            "what its harts do for other VMs, too",
        ]));
    }
    section(&rows)
}

/// The VMs that manage others.
fn managers(plan: &Plan) -> String {
    let mut rows = vec![row(&["VM", "manages"])];
    for vm in plan.vms.iter().filter(|vm| !vm.manages.is_empty()) {
        let names = vm.manages.iter().map(|vm| plan.vms[*vm].name.as_str());
        let names: Vec<&str> = names.collect();
        rows.push(row(&[&vm.name, &names.join(", ")]));
    }
    section(&rows)
}

/// Whose the on-chip memory is, where the hypervisor is there.
fn onchip_memory(plan: &Plan) -> String {
    let Some(shares) = onchip::Shares::of(plan) else {
        return String::new();
    };
    let kib = |bytes: u64| Size(bytes.next_multiple_of(1 << 10)).to_string();
    format!(
        "of {}: {} for text and constants, {} for harts, VMs and vCPUs, {} for VMs' memory, {} left for page tables",
        Size(shares.all),
        kib(shares.text),
        kib(shares.kept),
        if shares.vms == 0 {
            "none".into()
        } else {
            kib(shares.vms)
        },
        if shares.left() == 0 {
            "none".into()
        } else {
            kib(shares.left())
        },
    )
}

/// The VMs of whose memory a part is in on-chip memory.
fn onchip_parts(plan: &Plan) -> String {
    let mut rows = vec![row(&["VM", "in on-chip memory", "host"])];
    for vm in &plan.vms {
        if let Some(part) = vm.onchip {
            rows.push(vec![
                vm.name.clone(),
                extent_text(part.guest),
                extent_text(part.host),
            ]);
        }
    }
    section(&rows)
}

/// Which part of the cache each VM has, and what its tables take.
fn cache(plan: &Plan) -> String {
    let mut rows = vec![row(&[
        "VM",
        "colours",
        "of the cache",
        "shared with",
        "tables",
    ])];
    for vm in &plan.vms {
        let Some(colours) = vm.colours else {
            continue;
        };
        let range = ColourRange {
            first: colours.first,
            last: colours.last(),
        };
        let others = plan.vms.iter().filter(|other| !std::ptr::eq(*other, vm));
        let others = others.filter(|other| other.colours.is_some_and(|c| c.overlaps(colours)));
        let others: Vec<&str> = others.map(|other| other.name.as_str()).collect();
        rows.push(vec![
            vm.name.clone(),
            range.to_string(),
            format!("{} of {}", colours.count(), 1 << colours.of),
            if others.is_empty() {
                "-".into()
            } else {
                others.join(", ")
            },
            Size(u64::from(plan.regions(vm)[0].tables) * PAGE_SIZE).to_string(),
        ]);
    }
    section(&rows)
}

/// What VMs may have at run time.
fn run_time(plan: &Plan) -> String {
    let mut rows = vec![row(&["VM", "made at run time", "share", "memory for them"])];
    for vm in plan.vms.iter().filter(|vm| vm.rt_vcpus > 0) {
        rows.push(vec![
            vm.name.clone(),
            format!("up to {}", vm.rt_vcpus),
            vm.rt_share.to_string(),
            if vm.rt_memory == Size(0) {
                "-".into()
            } else {
                extent_text(vm.rt_extent())
            },
        ]);
    }
    section(&rows)
}

fn harts(plan: &Plan) -> String {
    let mut rows = vec![row(&["hart", "real time, highest first", "best effort"])];
    for hart in 0..plan.harts {
        let mut on_hart = Vec::new();
        for vm in &plan.vms {
            for (index, vcpu) in vm.vcpus.iter().enumerate() {
                let here = match vcpu.class {
                    Class::Rt => vcpu.harts.first() == Some(&hart),
                    Class::Be => vcpu.harts.contains(&hart),
                };
                if here {
                    on_hart.push((vcpu, format!("{}.{index} ({})", vm.name, order(plan, vcpu))));
                }
            }
        }
        // Stable: equals stay in the order of the file.
        on_hart.sort_by_key(|(vcpu, _)| std::cmp::Reverse(vcpu.priority));
        let of = |class: Class| {
            let names = on_hart.iter().filter(|(vcpu, _)| vcpu.class == class);
            let names: Vec<&str> = names.map(|(_, name)| name.as_str()).collect();
            if names.is_empty() {
                "-".to_owned()
            } else {
                names.join(", ")
            }
        };
        rows.push(vec![hart.to_string(), of(Class::Rt), of(Class::Be)]);
    }
    table(&rows)
}

fn interrupts(plan: &Plan) -> String {
    let mut rows = vec![row(&["device", "VM", "guest", "host", "interrupts"])];
    for vm in &plan.vms {
        for device in &vm.devices {
            let sources: Vec<String> = device.interrupts.iter().map(u32::to_string).collect();
            rows.push(vec![
                device.name.clone(),
                vm.name.clone(),
                extent_text(device.guest),
                extent_text(device.host_extent()),
                if sources.is_empty() {
                    "-".into()
                } else {
                    sources.join(", ")
                },
            ]);
        }
    }
    section(&rows)
}

/// The PCI functions that VMs have, and what they share with others.
fn functions(plan: &Plan, verdict: &Verdict) -> String {
    let mut rows = vec![row(&[
        "PCI slot",
        "VM",
        "function",
        "registers",
        "interrupt",
        "shared with",
        "reset",
    ])];
    for vm in &plan.vms {
        for function in &vm.functions {
            let sharers: Vec<String> = pci::sharers(plan, verdict.machine.as_deref(), function)
                .into_iter()
                .map(|(slot, vm)| format!("slot {slot} ({})", vm.unwrap_or("no VM")))
                .collect();
            rows.push(vec![
                function.slot.to_string(),
                vm.name.clone(),
                function.model.map_or_else(
                    || "not known".into(),
                    |model| format!("{} {}", model.id(), model.name()),
                ),
                extent_text(function.window),
                function.interrupt.to_string(),
                if sharers.is_empty() {
                    "-".into()
                } else {
                    sharers.join(", ")
                },
                match function.model.map(Model::has_reset) {
                    Some(true) => "its own",
                    Some(false) => "none: its bus mastering ends",
                    None => "its own, if any",
                }
                .into(),
            ]);
        }
    }
    if rows.len() == 1 {
        return String::new();
    }
    format!(
        "{}\nDMA of these functions shares the bus and the caches with all VMs. `{}` has no rate limit for it: no bound\n\
         of another VM's real-time vCPU has it counted in.\n",
        section(&rows),
        plan.profile.name
    )
}

/// When each accelerator can be had at the latest, by each way, and in all.
fn accelerators(plan: &Plan) -> String {
    let Some(accelerators) = &plan.accelerators else {
        return String::new();
    };
    let time =
        |time: Option<u64>| time.map_or_else(|| "-".into(), |ns| time_text(ns, 1_000_000_000));
    let mut rows = vec![row(&[
        "accelerator",
        "VM",
        "interface",
        "class",
        "regions",
        "assign",
        "configure",
        "preempt",
        "both",
        "within",
        "at a time",
    ])];
    for one in &accelerators.devices {
        let regions: Vec<String> = one.regions.iter().map(u8::to_string).collect();
        let way = |way: usize| time(one.latency.and_then(|latency| latency.ways[way]));
        let bound = one.latency.and_then(|latency| latency.bound);
        rows.push(vec![
            one.task.clone(),
            plan.vms[one.vm].name.clone(),
            one.interface.to_string(),
            if one.real_time { "rt" } else { "be" }.into(),
            regions.join(", "),
            way(0),
            way(1),
            way(2),
            way(3),
            bound.map_or_else(|| "no bound".into(), |bound| time(Some(bound))),
            match (bound, one.latency) {
                (Some(_), Some(latency)) => latency.together.to_string(),
                _ => "-".into(),
            },
        ]);
    }
    let manager = &plan.vms[accelerators.manager].name;
    format!("\naccelerators' manager  {manager}\n{}", section(&rows))
}

/// What each VM has of the devices behind the I/O hypervisor, and of timed I/O; how long its requests take at most.
fn io(plan: &Plan) -> String {
    let Some(io) = &plan.io else {
        return String::new();
    };
    let text = format!("\nI/O manager  {}\n", plan.vms[io.manager].name);
    let ports: Vec<Sharer<'_>> = io
        .ports
        .iter()
        .enumerate()
        .map(|(number, port)| Sharer {
            number,
            vm: &plan.vms[port.vm].name,
            port,
            reads: io.reader == Some(number),
        })
        .collect();
    let engines = io.engines.iter().enumerate();
    let engines = engines.map(|(number, engine)| {
        let vm = plan.vms[engine.vm].name.as_str();
        (number, vm, engine.pins.as_slice())
    });
    let platform = &plan.profile.name;
    let memory = Profile::named(platform).and_then(|profile| Memory::of(&profile));
    let way = memory.map(Way::Page);
    text + &shared(&ports, io.policies, way, platform) + &pins(engines)
}

/// A system of tiles in words and tables.
pub fn of_tiles(tiles: &Tiles, verdict: &Verdict) -> String {
    let warnings = tally(verdict);
    let separator = if warnings.is_empty() { "" } else { ", " };
    let mut text = format!("{}: fine{separator}{warnings}\n\n", verdict.file);
    let number = tiles.tiles.len();
    let mut rows = vec![
        row(&["platform", &tiles.platform]),
        row(&["design", &tiles.design]),
        vec!["tiles".into(), count(number, "VM")],
    ];
    text += &table(&rows);
    rows = vec![row(&["tile", "VM", "image", "told"])];
    for (tile, [image, _]) in tiles.tiles.iter().zip(&verdict.files) {
        rows.push(vec![
            tile.number.to_string(),
            tile.vm.clone(),
            image.clone().unwrap_or_default(),
            if tile.bootargs.is_empty() {
                "-"
            } else {
                &tile.bootargs
            }
            .into(),
        ]);
    }
    text += &section(&rows);
    let mut ports: Vec<Sharer<'_>> = tiles
        .tiles
        .iter()
        .filter_map(|tile| {
            Some(Sharer {
                number: tile.number as usize,
                vm: &tile.vm,
                port: tile.port.as_ref()?,
                reads: tiles.reader == Some(tile.number),
            })
        })
        .collect();
    ports.sort_by_key(|port| port.number);
    if let Some(policies) = tiles.policies {
        let senders: Vec<usize> = tiles
            .tiles
            .iter()
            .map(|tile| tile.number as usize)
            .collect();
        let way = Way::Mesh(Mesh::of(&senders));
        text += &shared(&ports, policies, Some(way), &tiles.platform);
    }
    let engines = tiles.tiles.iter().filter(|tile| !tile.pins.is_empty());
    text + &pins(engines.map(|tile| (tile.number as usize, tile.vm.as_str(), tile.pins.as_slice())))
}

/// Who shares what is behind the I/O hypervisor.
struct Sharer<'p> {
    number: usize,
    vm: &'p str,
    port: &'p IoPort,
    reads: bool,
}

/// What ports have, and how long their requests take at most. `way`: `None` where the platform's times are not known.
fn shared(
    ports: &[Sharer<'_>],
    policies: [IoPolicy; 4],
    way: Option<Way>,
    platform: &str,
) -> String {
    let mut rows = vec![row(&["I/O port", "VM", "UART", "flash", "VGA", "Ethernet"])];
    let nothing = || "-".to_owned();
    for Sharer {
        number,
        vm,
        port,
        reads,
    } in ports
    {
        let uart = match (port.uart, reads) {
            (false, _) => "-",
            (true, false) => "write",
            (true, true) => "read-write",
        };
        let flash = port.flash.map_or_else(nothing, |area| {
            let right = if area.writable { "" } else { ", to be read" };
            format!("{}{right}", extent_text(area.extent))
        });
        let window = port.window.map_or_else(nothing, |window| {
            let (x, y) = (window.x, window.y);
            format!("{} x {} at ({}, {})", x.size(), y.size(), x.start, y.start)
        });
        let station = port
            .station
            .map_or_else(nothing, |station| station.to_string());
        rows.push(vec![
            number.to_string(),
            (*vm).to_owned(),
            uart.into(),
            flash,
            window,
            station,
        ]);
    }
    if ports.is_empty() {
        return String::new();
    }
    let mut text = section(&rows);
    let Some(way) = way else {
        return text;
    };
    let all = Shared {
        policies,
        way,
        ports: ports
            .iter()
            .map(|sharer| (sharer.number, Port::of(sharer.port, sharer.reads)))
            .collect(),
    };
    let clock = Profile::named(platform).and_then(|profile| profile.fabric);
    let Some(hz) = clock.and_then(|fabric| u32::try_from(fabric.clock_hz).ok()) else {
        return text;
    };
    let by_page = matches!(all.way, Way::Page(_));
    let mut head = row(&["I/O port", "request", "at the device"]);
    head.extend(by_page.then(|| "data in memory".to_owned()));
    head.push("within".to_owned());
    rows = vec![head];
    for (number, port) in &all.ports {
        for request in Request::all(*port) {
            let bound = all.bound(*number, request);
            let mut line = vec![
                number.to_string(),
                request.to_string(),
                time_text(request.turn(), hz),
            ];
            let in_memory = all.in_memory(*number, request);
            line.extend(in_memory.map(|cycles| match cycles {
                0 => "-".to_owned(),
                _ => time_text(cycles, hz),
            }));
            line.push(bound.map_or_else(|| "no bound".into(), |bound| time_text(bound, hz)));
            rows.push(line);
        }
    }
    text += &section(&rows);
    text
}

/// Who has which pins of timed I/O.
fn pins<'p>(engines: impl Iterator<Item = (usize, &'p str, &'p [u32])>) -> String {
    let mut rows = vec![row(&["timed I/O", "VM", "pins"])];
    for (number, vm, pins) in engines {
        let pins: Vec<String> = pins.iter().map(u32::to_string).collect();
        rows.push(vec![number.to_string(), vm.to_owned(), pins.join(", ")]);
    }
    section(&rows)
}

fn channels(plan: &Plan) -> String {
    let mut rows = vec![row(&[
        "channel",
        "size",
        "host",
        "VM",
        "number",
        "guest",
        "interrupt",
    ])];
    for channel in &plan.channels {
        for (end, &(vm, number)) in channel.ends.iter().enumerate() {
            let guest = plan.vms[vm].channels[number].guest;
            let first = |text: String| if end == 0 { text } else { String::new() };
            rows.push(vec![
                first(channel.name.clone()),
                first(channel.size.to_string()),
                first(Address(channel.host).to_string()),
                plan.vms[vm].name.clone(),
                number.to_string(),
                Address(guest.start).to_string(),
                (CHANNEL_SOURCE as usize + number).to_string(),
            ]);
        }
    }
    section(&rows)
}

/// How long a call, or an access of an emulated device, takes its caller at most.
fn calls(plan: &Plan) -> String {
    let mut rows = vec![row(&[
        "calls",
        "by VM",
        "served by",
        "device",
        "waits at most",
        "takes at most",
        "done within",
    ])];
    for bound in calls::bounds(plan) {
        let channel = &plan.channels[bound.channel];
        let [caller, server] = channel.ends.map(|(vm, _)| plan.vms[vm].name.clone());
        let device = channel.device.as_ref();
        rows.push(vec![
            channel.name.clone(),
            caller,
            server,
            device.map_or_else(|| "-".into(), |device| device.compatible.clone()),
            bound.waits.to_string(),
            bound.takes.to_string(),
            bound.within().to_string(),
        ]);
    }
    section(&rows)
}

/// A table with an empty line before it, or nothing when only the heading is there.
fn section(rows: &[Vec<String>]) -> String {
    if rows.len() < 2 {
        return String::new();
    }
    format!("\n{}", table(rows))
}
