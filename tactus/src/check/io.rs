//! What VMs are given of the devices behind the I/O hypervisor, and of timed I/O: all of it once.

use tactus_abi::map;
use tactus_planning::placement::Extent;

use super::devices::{Page, page_at};
use super::judge::{Judge, nearest_multiples};
use super::platform::Platform;
use crate::config::{
    Address, At, FlashArea, Io, IoPolicies, IoPolicy, IoPort, Size, Span, Station, TimedIo,
    UartUse, Vm, Window,
};
use crate::guest_image::extent_text;
use crate::plan::{self, Plan, Role};
use crate::problem::{Code, Problem};

/// The managers' devices of a design that has an I/O hypervisor, or timed I/O, and what begins the names of the VMs'
/// (`fabric/designs.toml`).
const MANAGER: &str = "io-manager";
const TIMED_MANAGER: &str = "timed-io-manager";
const PORT: &str = "io-port-";
const ENGINE: &str = "timed-io-";
/// Designs that have both, and timed I/O alone, for messages.
const DESIGN: &str = "io";
const TIMED_DESIGN: &str = "accelerators";

/// What there is (`fabric/designs/io_design.sv`): bytes of the flash and of its sectors, pixels of the display's
/// buffer, pins, which [`TIMED_DESIGN`] has as many of.
const FLASH: Extent = Extent::new(0, 4 << 20);
const SECTOR: u64 = 4096;
const COLUMNS: Extent = Extent::new(0, 320);
const ROWS: Extent = Extent::new(0, 240);
const PINS: u32 = 8;
/// Physical addresses that ports reach.
const REACH: Extent = Extent::new(0, 1 << 32);

/// What is shared, and the pages by which it is reached.
pub(super) struct Sharing {
    pub(super) io: plan::Io,
    pub(super) pages: Vec<Page>,
}

/// What has been given so far, and where the file says so.
struct Given<T>(Vec<(T, Span)>);

impl<T> Given<T> {
    const fn new() -> Self {
        Self(Vec::new())
    }

    /// Gives it; noted where one that was given before `is_same`.
    fn give(
        &mut self,
        judge: &mut Judge<'_>,
        what: T,
        span: &Span,
        is_same: impl Fn(&T, &T) -> bool,
        [message, cure]: [String; 2],
    ) {
        if let Some((_, first)) = self.0.iter().find(|(given, _)| is_same(given, &what)) {
            let problem = Problem::new(Code::IoTwice, message, cure);
            let problem = problem.at(judge.source(), span, "again here");
            judge.add(problem.at(judge.source(), first, "first here"));
        }
        self.0.push((what, span.clone()));
    }
}

/// What has been given of the devices and of the pins.
pub(super) struct Devices {
    /// How many pins there are.
    pin_count: u32,
    pins: Given<u32>,
    readers: Given<usize>,
    areas: Given<Extent>,
    windows: Given<plan::Window>,
    stations: Given<Station>,
}

impl Devices {
    /// Nothing, of so many pins.
    pub(super) const fn new(pin_count: u32) -> Self {
        Self {
            pin_count,
            pins: Given::new(),
            readers: Given::new(),
            areas: Given::new(),
            windows: Given::new(),
            stations: Given::new(),
        }
    }

    /// The port that reads what comes to the UART.
    pub(super) fn reader(&self) -> Option<usize> {
        self.readers.0.first().map(|(port, _)| *port)
    }
}

/// Whose request each device takes next.
pub(super) fn policies(written: &IoPolicies) -> [IoPolicy; 4] {
    let policies = [
        &written.uart,
        &written.flash,
        &written.vga,
        &written.ethernet,
    ];
    policies.map(|policy| policy.as_ref().map(|at| at.value).unwrap_or_default())
}

/// Judges `[io]`, all `[[vm.io_port]]` and all `[vm.timed_io]`. `None`: there are none, or they cannot be judged.
pub(super) fn check(judge: &mut Judge<'_>, platform: Option<&Platform>) -> Option<Sharing> {
    let config = judge.config;
    let Some(table) = &config.io else {
        unmanaged(judge);
        return None;
    };
    let manager = manager(judge, table);
    let mut devices = Devices::new(PINS);
    let (mut ports, mut engines) = (Vec::new(), Vec::new());
    for (index, vm) in config.vms.iter().enumerate() {
        for written in &vm.io_ports {
            let number = ports.len();
            ports.push((
                port(judge, &mut devices, index, vm, written, number),
                written,
            ));
        }
        if let Some(written) = &vm.timed_io {
            engines.push((engine(judge, &mut devices, index, vm, written), written));
        }
    }
    let platform = platform?;
    has_design(judge, platform, table)?;
    let pages = pages(judge, platform, table, manager?, &ports, &engines)?;
    Some(Sharing {
        io: plan::Io {
            manager: manager?,
            policies: policies(&table.policies),
            reader: devices.reader(),
            ports: ports.into_iter().map(|(port, _)| port).collect(),
            engines: engines.into_iter().map(|(engine, _)| engine).collect(),
        },
        pages,
    })
}

/// Notes what VMs have although no manager assigns it.
fn unmanaged(judge: &mut Judge<'_>) {
    let config = judge.config;
    let first = config.vms.iter().find_map(|vm| {
        let port = vm.io_ports.first().map(|port| (&port.span, "an I/O port"));
        port.or_else(|| {
            vm.timed_io
                .as_ref()
                .map(|engine| (&engine.span, "timed I/O"))
        })
    });
    if let Some((span, what)) = first {
        judge.note(
            Code::NoIo,
            span,
            "without `[io]`",
            format!("a VM has {what}, but nothing says which VM gives it"),
            "add a table `[io]` with `manager = \"io-manager\"`, say: the VM that gives ports and pins to the others",
        );
    }
}

fn manager(judge: &mut Judge<'_>, table: &Io) -> Option<usize> {
    let name = table.manager.as_ref()?;
    let vms = &judge.config.vms;
    let have = vms
        .iter()
        .filter(|vm| !vm.io_ports.is_empty() || vm.timed_io.is_some())
        .filter_map(|vm| Some(vm.name.as_ref()?.value.as_str()));
    let have: Vec<&str> = have.collect();
    let manager = judge.resolve_vm(name, "`manager` of `[io]`", &have)?;
    let vm = &judge.config.vms[manager];
    let own = vm.io_ports.first().map(|port| &port.span);
    if let Some(own) = own.or(vm.timed_io.as_ref().map(|engine| &engine.span)) {
        let problem = Problem::new(
            Code::SelfReference,
            format!(
                "VM `{}` gives ports and pins, and has some itself",
                name.value
            ),
            "give them to another VM, or let another one be the manager",
        );
        let problem = problem.at(judge.source(), own, "its own");
        judge.add(problem.at(judge.source(), &name.span, "the manager"));
    }
    Some(manager)
}

/// Whether the platform has what is given; noted when not.
fn has_design(judge: &mut Judge<'_>, platform: &Platform, table: &Io) -> Option<()> {
    let has = |name: &str| platform.profile.device(name).is_some();
    let (ports, engines) = (has(MANAGER), has(&format!("{ENGINE}0")));
    let config = judge.config;
    let policies = &table.policies;
    let policies = [
        &policies.uart,
        &policies.flash,
        &policies.vga,
        &policies.ethernet,
    ];
    let policy = policies.into_iter().flatten().next();
    let port = config.vms.iter().find_map(|vm| vm.io_ports.first());
    let (message, design, span, label) = match (port, policy) {
        _ if !ports && !engines => (
            "I/O ports and timed I/O need a fabric that has them",
            format!("`design = \"{DESIGN}\"`, or `\"{TIMED_DESIGN}\"` for timed I/O alone"),
            &table.span,
            "there is nothing to give",
        ),
        (Some(port), _) if !ports => (
            "an I/O port needs a fabric with an I/O hypervisor",
            format!("`design = \"{DESIGN}\"`"),
            &port.span,
            "there is no such port",
        ),
        (None, Some(policy)) if !ports => (
            "a policy needs a fabric with an I/O hypervisor, whose devices have one each",
            format!("`design = \"{DESIGN}\"`"),
            &policy.span,
            "there is no such device",
        ),
        _ => return Some(()),
    };
    // A design that is not known is noted already.
    if platform.design.is_some() || config.design.is_none() {
        let cure = format!(
            "load the fabric with one: `[fabric]` and {design}, on a platform that has a fabric, such as `soc`"
        );
        let problem = Problem::new(Code::NoIo, message, cure).at(judge.source(), span, label);
        judge.add(match &config.design {
            Some(design) => problem.at(judge.source(), &design.span, "this design has none"),
            None => problem,
        });
    }
    None
}

/// What a port is given.
pub(super) fn port(
    judge: &mut Judge<'_>,
    devices: &mut Devices,
    index: usize,
    vm: &Vm,
    written: &IoPort,
    number: usize,
) -> plan::IoPort {
    let title = format!("an I/O port of {}", vm.title());
    if let Some(uart) = &written.uart
        && uart.value == UartUse::ReadWrite
    {
        let words = [
            format!("{title} reads the UART, and another one does"),
            "let one of them `\"write\"` only: what comes goes to one port".to_owned(),
        ];
        let readers = &mut devices.readers;
        readers.give(judge, number, &uart.span, |_, _| true, words);
    }
    let flash = written.flash.as_ref();
    let flash = flash.and_then(|area| flash_area(judge, &mut devices.areas, area, &title));
    let window = written.vga.as_ref();
    let window = window.and_then(|vga| display(judge, &mut devices.windows, vga, &title));
    if let Some(station) = &written.ethernet {
        let words = [
            format!(
                "{title} has the Ethernet address {}, and another one has it",
                station.value
            ),
            "give each port an address of its own".to_owned(),
        ];
        let stations = &mut devices.stations;
        stations.give(judge, station.value, &station.span, |a, b| a == b, words);
    }
    let IoPort {
        span,
        uart,
        flash: area,
        vga,
        ethernet,
    } = written;
    let is_wrong = |key| judge.config.is_wrong(span, key);
    let has_device = uart.is_some() || area.is_some() || vga.is_some() || ethernet.is_some();
    if !has_device && !["uart", "ethernet"].into_iter().any(is_wrong) {
        judge.note(
            Code::MissingKey,
            span,
            "no device",
            format!("{title} has no device"),
            "say what it may use: `uart`, `flash`, `vga` or `ethernet`",
        );
    }
    plan::IoPort {
        vm: index,
        uart: uart.is_some(),
        flash,
        window,
        station: ethernet.as_ref().map(|station| station.value),
    }
}

fn flash_area(
    judge: &mut Judge<'_>,
    areas: &mut Given<Extent>,
    written: &FlashArea,
    title: &str,
) -> Option<plan::FlashArea> {
    let (address, size) = (written.address.as_ref()?, written.size.as_ref()?);
    let show = |bytes| Size(bytes).to_string();
    let what = format!("{title}: `size` of its flash");
    let begin = address.value.0 / SECTOR * SECTOR;
    let in_flash = |size| FLASH.contains(Extent::new(begin.min(FLASH.end - SECTOR), size));
    let mut whole = judge.is_multiple(size.value.0, SECTOR, &size.span, &what, show, in_flash);
    if !address.value.0.is_multiple_of(SECTOR) {
        judge.note(
            Code::Unaligned,
            &address.span,
            "not a multiple",
            format!(
                "{title}: `address` of its flash must be a multiple of {}",
                Address(SECTOR)
            ),
            nearest_multiples(
                address.value.0,
                SECTOR,
                |address| Address(address).to_string(),
                |address| {
                    let size = size.value.0.next_multiple_of(SECTOR);
                    FLASH.contains(Extent::new(address, size))
                },
            ),
        );
        whole = false;
    }
    if !whole {
        return None;
    }
    let extent = Extent::new(address.value.0, size.value.0);
    if !FLASH.contains(extent) {
        judge.note(
            Code::OutOfRange,
            &written.span,
            format!("the flash has {}", Size(FLASH.size())),
            format!(
                "{title} has {} of the flash, which is not all there",
                extent_text(extent)
            ),
            "choose a lower `address` or a smaller `size`",
        );
        return None;
    }
    let words = [
        format!(
            "{title} has {} of the flash, part of which another one has",
            extent_text(extent)
        ),
        "give each port an area of its own; VMs share memory through a `[[channel]]`".to_owned(),
    ];
    areas.give(judge, extent, &written.span, |a, b| a.overlaps(*b), words);
    Some(plan::FlashArea {
        extent,
        writable: written.writable,
    })
}

fn display(
    judge: &mut Judge<'_>,
    windows: &mut Given<plan::Window>,
    written: &Window,
    title: &str,
) -> Option<plan::Window> {
    let value = |number: &Option<At<u32>>| number.as_ref().map(|at| u64::from(at.value));
    let window = plan::Window {
        x: Extent::new(value(&written.x)?, value(&written.width)?),
        y: Extent::new(value(&written.y)?, value(&written.height)?),
    };
    let is_empty = window.x.size() == 0 || window.y.size() == 0;
    if is_empty || !COLUMNS.contains(window.x) || !ROWS.contains(window.y) {
        judge.note(
            Code::OutOfRange,
            &written.span,
            format!("the display has {} x {}", COLUMNS.size(), ROWS.size()),
            format!(
                "{title} has a window of {} x {} pixels at ({}, {}), which is empty or not all on the display",
                window.x.size(),
                window.y.size(),
                window.x.start,
                window.y.start
            ),
            "make it smaller, or at least one pixel, or move it to the upper left",
        );
        return None;
    }
    let meet = |a: &plan::Window, b: &plan::Window| a.x.overlaps(b.x) && a.y.overlaps(b.y);
    let words = [
        format!("{title} has a window of the display that meets another one's"),
        "move one of them: what one VM draws is no other's to draw over".to_owned(),
    ];
    windows.give(judge, window, &written.span, meet, words);
    Some(window)
}

/// What an engine of timed I/O is given.
pub(super) fn engine(
    judge: &mut Judge<'_>,
    devices: &mut Devices,
    index: usize,
    vm: &Vm,
    written: &TimedIo,
) -> plan::Engine {
    let most = devices.pin_count - 1;
    let title = format!("timed I/O of {}", vm.title());
    let pins = written.pins.as_ref().map_or(&[][..], |pins| &pins.value);
    if let Some(list) = written.pins.as_ref().filter(|list| list.value.is_empty()) {
        judge.note(
            Code::OutOfRange,
            &list.span,
            "no pin",
            format!("{title} has no pin"),
            format!("name some of 0 to {}, as in `pins = [0, 1]`", most),
        );
    }
    for pin in pins {
        if pin.value > most {
            judge.note(
                Code::OutOfRange,
                &pin.span,
                format!("0 to {}", most),
                format!(
                    "{title} has pin {}, and there are {}",
                    pin.value, devices.pin_count
                ),
                format!("name pins of 0 to {}", most),
            );
            continue;
        }
        let words = [
            format!("{title} has pin {}, which is given already", pin.value),
            "a pin is one VM's, and named once".to_owned(),
        ];
        let given = &mut devices.pins;
        given.give(judge, pin.value, &pin.span, |a, b| a == b, words);
    }
    plan::Engine {
        vm: index,
        pins: pins.iter().map(|pin| pin.value).collect(),
    }
}

/// The manager's pages, where they are, and the VMs'. `None`, noted: more are wanted than the design has.
fn pages(
    judge: &mut Judge<'_>,
    platform: &Platform,
    table: &Io,
    manager: usize,
    ports: &[(plan::IoPort, &IoPort)],
    engines: &[(plan::Engine, &TimedIo)],
) -> Option<Vec<Page>> {
    let mut pages = Vec::new();
    for name in [MANAGER, TIMED_MANAGER] {
        // A design may have one of them alone.
        let Some(part_of) = platform.profile.device(name) else {
            continue;
        };
        pages.push(Page {
            vm: manager,
            device: page_at(name.to_owned(), part_of, part_of.address.0, Role::Device),
            what: "a page of the I/O manager",
            span: table.span.clone(),
        });
    }
    let vms = ports.iter().map(|(port, _)| port.vm);
    let vms: Vec<usize> = vms.collect();
    for (number, (port, written)) in ports.iter().enumerate() {
        let Some(part_of) = platform.profile.device(&format!("{PORT}{number}")) else {
            too_many(judge, &written.span, number, ports.len(), "I/O ports");
            return None;
        };
        let before = vms[..number].iter().filter(|vm| **vm == port.vm).count();
        let guest = map::IO_PORT_BASE + before as u64 * map::PAGE_SIZE;
        let role = Role::IoPort { number };
        pages.push(Page {
            vm: port.vm,
            device: page_at("io-port".to_owned(), part_of, guest, role),
            what: "an I/O port's page",
            span: written.span.clone(),
        });
    }
    for (number, (engine, written)) in engines.iter().enumerate() {
        let Some(part_of) = platform.profile.device(&format!("{ENGINE}{number}")) else {
            too_many(
                judge,
                &written.span,
                number,
                engines.len(),
                "engines of timed I/O",
            );
            return None;
        };
        let role = Role::TimedIo { number };
        let name = "timed-io".to_owned();
        pages.push(Page {
            vm: engine.vm,
            device: page_at(name, part_of, map::TIMED_IO_BASE, role),
            what: "the page of timed I/O",
            span: written.span.clone(),
        });
    }
    Some(pages)
}

/// Notes the first one that the design has not.
fn too_many(judge: &mut Judge<'_>, span: &Span, there: usize, wanted: usize, what: &str) {
    judge.note(
        Code::TooMany,
        span,
        format!("number {}", there + 1),
        format!("the VMs have {wanted} {what}, and the design has {there}"),
        "remove some",
    );
}

/// Whether ports reach all of their VMs' memory, now that its place is known; `None`, noted: not all do.
pub(super) fn within_reach(judge: &mut Judge<'_>, plan: &Plan) -> Option<()> {
    let mut fine = Some(());
    let written = judge.config.vms.iter();
    for (vm, written) in plan.vms.iter().zip(written) {
        let memory = Extent::new(vm.host, vm.memory.0);
        if written.io_ports.is_empty() || REACH.contains(memory) {
            continue;
        }
        judge.note(
            Code::OutsideMemory,
            written.place(),
            "too high for its I/O port",
            format!(
                "the memory of {} would be {}, and I/O ports reach addresses of 32 bits",
                written.title(),
                extent_text(memory)
            ),
            "give it a lower `host_address`, or VMs before it less memory",
        );
        fine = None;
    }
    fine
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the design says of itself, in its source.
    #[test]
    fn the_design_has_what_is_given_of_it() {
        let design = include_str!("../../../fabric/designs/io_design.sv");
        assert!(design.contains(&format!(".PINS({PINS})")));
        assert_eq!(crate::fabric::pins(DESIGN).0, PINS);
        assert!(design.contains("W25Q32JV"), "4 MiB in sectors of 4 KiB");
        let timed = include_str!("../../../fabric/designs/accelerators_design.sv");
        assert!(timed.contains(&format!("Pins       = {PINS};")));
        assert_eq!(crate::fabric::pins(TIMED_DESIGN).0, PINS);
        let vga = include_str!("../../../fabric/rtl/vga.sv");
        let buffer = format!("{} x {}", COLUMNS.size(), ROWS.size());
        assert!(vga.contains(&buffer), "{buffer}");
        let names = crate::fabric::devices(DESIGN).expect("the design");
        let has = |name: &str| names.iter().any(|device| device.name == name);
        assert!(has(MANAGER) && has(TIMED_MANAGER));
        assert!(has(&format!("{PORT}0")) && has(&format!("{ENGINE}0")));
        let names = crate::fabric::devices(TIMED_DESIGN).expect("the design");
        let has = |name: &str| names.iter().any(|device| device.name == name);
        assert!(!has(MANAGER) && has(TIMED_MANAGER) && has(&format!("{ENGINE}0")));
    }
}
