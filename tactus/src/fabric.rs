//! The designs that a fabric can be loaded with, as software sees them.

use std::collections::BTreeMap;

use serde::Deserialize;
use tactus_board::devices::map;
use tactus_board::fabric::{GP_SIZE, PinsAt};

use crate::accelerators;
use crate::config::{Address, Size};
use crate::profile;

/// The device of a profile that stands for the fabric's ports.
pub const DEVICE: &str = "fabric";
/// The device of a design by which the hypervisor reaches a ready queue in hardware.
pub const READY_QUEUE: &str = "ready-queue";
/// The device of a design by which the hypervisor requests regions.
pub const REGION_ALLOCATOR: &str = "region-allocator";
/// The register that raises the event: the first behind the general-purpose port.
pub const EVENT: u64 = map::FABRIC + GP_SIZE;
/// The designs that come with the project.
const DESIGNS: &str = include_str!("../../fabric/designs.toml");

/// A design. What it is made of is `fabric/flow.py`'s.
#[derive(Clone, Debug, Default, Deserialize)]
struct Design {
    /// Its pins, which it shows in the lowest bits of what it would write by a port.
    #[serde(default)]
    pins: u32,
    /// Which port that is.
    #[serde(default)]
    pins_at: PinsAt,
    /// It has a port for each tile.
    #[serde(default)]
    tiles: bool,
    /// It shows the ends of its Ethernet and its display beside.
    #[serde(default)]
    ends: bool,
    /// What software sees of it.
    #[serde(default, rename = "device")]
    devices: Vec<Device>,
}

/// A block that a guest can have.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Device {
    name: String,
    #[serde(default)]
    compatible: Vec<String>,
    /// From the start of the general-purpose port.
    offset: u64,
    #[serde(deserialize_with = "profile::size")]
    size: Size,
    /// Of the fabric's lines, counted from 0.
    #[serde(default)]
    interrupts: Vec<u32>,
    /// It reads and writes memory by itself, or lets others do so.
    #[serde(default)]
    bus_master: bool,
    /// But no more of memory than this one of the design's devices lets it, by which all memory can be reached.
    bounded_by: Option<String>,
}

fn designs() -> BTreeMap<String, Design> {
    // A test reads them.
    let mut designs: BTreeMap<String, Design> = toml::from_str(DESIGNS)
        .unwrap_or_else(|error| panic!("the designs within the tool: {error}"));
    for shared in accelerators::names() {
        designs.entry(shared).or_default();
    }
    designs
}

/// The names of all designs.
pub fn names() -> Vec<String> {
    designs().into_keys().collect()
}

/// The pins of a design that can be watched: how many, and where it shows them.
pub fn pins(design: &str) -> (u32, PinsAt) {
    let design = designs().remove(design).unwrap_or_default();
    (design.pins, design.pins_at)
}

/// The designs with a port for each tile.
pub fn of_tiles() -> Vec<String> {
    let all = designs().into_iter();
    all.filter_map(|(name, design)| design.tiles.then_some(name))
        .collect()
}

/// Whether what a design's Ethernet sends and its display shows can be watched.
pub fn has_ends(design: &str) -> bool {
    designs().remove(design).is_some_and(|design| design.ends)
}

/// What a design has of devices, where the board has its fabric. `None`: there is no such design.
pub fn devices(design: &str) -> Option<Vec<profile::Device>> {
    let design = designs().remove(design)?;
    let device = |device: Device| profile::Device {
        name: device.name,
        compatible: device.compatible,
        clock_frequency: None,
        address: Address(map::FABRIC + device.offset),
        size: device.size,
        interrupts: device
            .interrupts
            .iter()
            .map(|line| map::FABRIC_LINE + line)
            .collect(),
        bus_master: device.bus_master && device.bounded_by.is_none(),
        kept: None,
    };
    Some(design.devices.into_iter().map(device).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tactus_board::fabric::INTERRUPTS;

    #[test]
    fn every_design_is_read_and_makes_sense() {
        assert!(names().contains(&"stamp".to_owned()));
        for name in names() {
            let design = designs().remove(&name).expect("a listed design");
            for device in &design.devices {
                let Some(bound) = &device.bounded_by else {
                    continue;
                };
                // What is bounded masters the bus; and what bounds it is not to be had by just any VM.
                assert!(device.bus_master, "{name}: {}", device.name);
                let mut all = design.devices.iter();
                let bounding = all.find(|other| other.name == *bound);
                let trusted =
                    bounding.is_some_and(|other| other.bus_master && other.bounded_by.is_none());
                assert!(trusted, "{name}: {bound}");
            }
            let devices = devices(&name).expect("a listed design");
            let mut end = map::FABRIC;
            for device in &devices {
                assert!(device.address.0 >= end, "{name}: {}", device.name);
                end = device.extent().end;
                let lines = map::FABRIC_LINE..map::FABRIC_LINE + INTERRUPTS;
                assert!(device.interrupts.iter().all(|line| lines.contains(line)));
            }
            assert!(end <= map::FABRIC + GP_SIZE, "{name}");
        }
        assert!(devices("nothing").is_none());
    }
}
