//! Systems of tiles: VMs that have a tile each, and share what the I/O hypervisor and timed I/O of the fabric give
//! them.

use tactus_board::profile::Profile;
use tactus_board::tiles::ARGUMENTS;
use tactus_planning::placement::Extent;

use super::judge::Judge;
use super::{files, io, names};
use crate::artifacts::Artifacts;
use crate::config::{At, Size, Vm, cure_of_unknown};
use crate::fabric;
use crate::guest_image::{GuestImage, extent_text};
use crate::plan::{Tile, Tiles};
use crate::problem::{Code, Problem};

/// The device of a design that has an I/O hypervisor for tiles, and timed I/O.
const MANAGER: &str = "mesh-manager";
/// Pins of timed I/O (`fabric/designs/manycore_design.sv`).
const PINS: u32 = 24;

/// Judges a system on a board of tiles. `None`: something speaks against it, which is noted.
pub(super) fn check(
    judge: &mut Judge<'_>,
    profile: &Profile,
    artifacts: &Artifacts,
) -> Option<Tiles> {
    let config = judge.config;
    names::check(judge);
    let design = design(judge, profile);
    let devices = design.as_deref().and_then(fabric::devices);
    let shares = devices.is_some_and(|devices| devices.iter().any(|d| d.name == MANAGER));
    if design.is_some() && !shares {
        unshared(judge);
    }
    let numbers = numbers(judge, profile.harts.max);
    let memory = Extent::new(profile.memory.base, profile.memory.default - ARGUMENTS);
    let mut given = io::Devices::new(PINS);
    let mut images = files::images(judge, artifacts).into_iter();
    let mut tiles = Vec::new();
    for (index, vm) in config.vms.iter().enumerate() {
        let number = numbers[index];
        let image = images.next().flatten();
        let image = image.filter(|(_, image)| fits(judge, vm, image, memory));
        if let Some(second) = vm.io_ports.get(1) {
            judge.note(
                Code::TooMany,
                &second.span,
                "number 2",
                format!(
                    "{} has more than one I/O port, and its tile has one",
                    vm.title()
                ),
                "say all that it may use in one",
            );
        }
        let written = vm.io_ports.first();
        let port = written.map(|written| {
            io::port(
                judge,
                &mut given,
                index,
                vm,
                written,
                number.unwrap_or(0) as usize,
            )
        });
        let written = vm.timed_io.as_ref();
        let engine = written.map(|written| io::engine(judge, &mut given, index, vm, written));
        let bootargs = bootargs(judge, vm);
        let talks_to = talks_to(judge, vm, &numbers);
        tiles.push((|| {
            Some(Tile {
                number: number?,
                vm: vm.name.as_ref()?.value.clone(),
                image: image?.0,
                bootargs,
                talks_to,
                port,
                pins: engine.map(|engine| engine.pins).unwrap_or_default(),
            })
        })());
    }
    let written = config.io.as_ref();
    let policies = written.map(|io| io::policies(&io.policies));
    Some(Tiles {
        platform: profile.name.clone(),
        design: design?,
        policies: shares.then(|| policies.unwrap_or_default()),
        reader: given.reader().map(|tile| tile as u32),
        tiles: tiles.into_iter().collect::<Option<_>>()?,
    })
}

/// The design, which has a port for each tile.
fn design(judge: &mut Judge<'_>, profile: &Profile) -> Option<String> {
    let known = fabric::of_tiles();
    let names: Vec<&str> = known.iter().map(String::as_str).collect();
    let Some(design) = &judge.config.design else {
        let problem = Problem::new(
            Code::MissingKey,
            format!(
                "platform `{}` does nothing without a design in its fabric",
                profile.name
            ),
            "add a table `[fabric]` with `design = \"manycore\"`",
        );
        judge.add(problem.at(
            judge.source(),
            &judge.config.system.span,
            "`[fabric]` is missing",
        ));
        return None;
    };
    if !names.contains(&design.value.as_str()) {
        judge.note(
            Code::UnknownDesign,
            &design.span,
            "not for tiles",
            format!("there is no design `{}` with ports for tiles", design.value),
            cure_of_unknown(&design.value, &names),
        );
        return None;
    }
    Some(design.value.clone())
}

/// Notes what is to be shared, in a design that has nothing for it.
fn unshared(judge: &mut Judge<'_>) {
    let config = judge.config;
    let ports = config
        .vms
        .iter()
        .flat_map(|vm| &vm.io_ports)
        .map(|port| &port.span);
    let engines = config
        .vms
        .iter()
        .filter_map(|vm| vm.timed_io.as_ref())
        .map(|io| &io.span);
    let table = config.io.iter().map(|io| &io.span);
    if let Some(span) = table.chain(ports).chain(engines).next() {
        judge.note(
            Code::NoIo,
            span,
            "there is nothing to give",
            "I/O ports and timed I/O need a fabric that has them",
            "load the fabric with one: `[fabric]` and `design = \"manycore\"`",
        );
    }
}

/// Each VM's tile; `None`, noted, where it has none.
fn numbers(judge: &mut Judge<'_>, tiles: u32) -> Vec<Option<u32>> {
    let config = judge.config;
    let mut taken: Vec<(u32, &At<u32>)> = Vec::new();
    for tile in config.vms.iter().filter_map(|vm| vm.tile.as_ref()) {
        if tile.value >= tiles {
            judge.note(
                Code::OutOfRange,
                &tile.span,
                format!("0 to {}", tiles - 1),
                format!("there is no tile {}", tile.value),
                "choose another, or leave it out",
            );
        }
        if let Some((_, first)) = taken.iter().find(|(number, _)| *number == tile.value) {
            let problem = Problem::new(
                Code::TileTwice,
                format!("two VMs have tile {}", tile.value),
                "give each a tile of its own, or leave it out",
            );
            let problem = problem.at(judge.source(), &tile.span, "again here");
            judge.add(problem.at(judge.source(), &first.span, "first here"));
        }
        taken.push((tile.value, tile));
    }
    let mut free = (0..tiles).filter(|number| !taken.iter().any(|(other, _)| other == number));
    let mut numbers = Vec::new();
    for vm in &config.vms {
        let number = vm
            .tile
            .as_ref()
            .map_or_else(|| free.next(), |tile| Some(tile.value));
        if number.is_none() {
            judge.note(
                Code::TooMany,
                vm.place(),
                format!("number {}", numbers.len() + 1),
                format!("there are more VMs than tiles, of which there are {tiles}"),
                "remove some",
            );
        }
        numbers.push(number);
    }
    numbers
}

/// The tiles of the VMs that one may send messages to.
fn talks_to(judge: &mut Judge<'_>, vm: &Vm, numbers: &[Option<u32>]) -> Vec<u32> {
    let names = vm.talks_to.iter().flat_map(|names| &names.value);
    let what = format!("`talks_to` of {}", vm.title());
    let mut tiles = Vec::new();
    for name in names {
        let other = judge.resolve_vm(name, &what, &[]);
        tiles.extend(other.and_then(|other| numbers[other]));
    }
    tiles
}

/// What its software is told.
fn bootargs(judge: &mut Judge<'_>, vm: &Vm) -> String {
    let Some(bootargs) = &vm.bootargs else {
        return String::new();
    };
    let most = ARGUMENTS as usize - 1;
    if bootargs.value.len() > most || bootargs.value.contains('\0') {
        judge.note(
            Code::OutOfRange,
            &bootargs.span,
            format!("{} bytes", bootargs.value.len()),
            format!(
                "`bootargs` of {} may have {most} bytes, none of them zero",
                vm.title()
            ),
            "shorten them",
        );
    }
    bootargs.value.clone()
}

/// Whether all of an image lies in a tile's memory; noted when not.
fn fits(judge: &mut Judge<'_>, vm: &Vm, image: &GuestImage, memory: Extent) -> bool {
    let beyond = image.segments.iter().map(|segment| segment.extent());
    let Some(beyond) = beyond.into_iter().find(|extent| !memory.contains(*extent)) else {
        return true;
    };
    let span = vm.image.as_ref().map_or(&vm.span, |image| &image.span);
    judge.note(
        Code::ImageFit,
        span,
        "does not fit",
        format!(
            "the image of {} has {}, and a tile's memory for it is {}, {}",
            vm.title(),
            extent_text(beyond),
            extent_text(memory),
            Size(memory.size())
        ),
        "link it for a tile (docs/src/reference/manycore-guests.md), or make it smaller",
    );
    false
}
