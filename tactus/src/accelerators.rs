//! What a design of the fabric shares between VMs: its regions, and the tasks that fit into them
//! (`fabric/accelerators.toml`).

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use tactus_abi::bitstream::{self, HEADER, Header};
use tactus_accelerators::{TASKS, latency};

use crate::config::Nanoseconds;

/// The designs with regions that come with the project.
const SHARED: &str = include_str!("../../fabric/accelerators.toml");

/// What a design shares.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shared {
    /// Interfaces: virtual devices that there can be.
    pub interfaces: usize,
    clock_mhz: u64,
    configuration: u64,
    drain: u64,
    #[serde(rename = "region")]
    regions: Vec<Region>,
    /// The tasks that fit into them.
    #[serde(rename = "task")]
    pub tasks: Vec<Task>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Region {
    bitstream: u64,
}

/// A hardware task.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// What `system.toml` calls it.
    pub name: String,
    /// Its number in bitstreams and registers.
    pub number: u8,
    /// The regions that it fits into.
    pub fits: Vec<u8>,
    /// The longest that it takes to stop.
    #[serde(deserialize_with = "time")]
    pub stop: Nanoseconds,
}

fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Nanoseconds, D::Error> {
    let text = String::deserialize(deserializer)?;
    Nanoseconds::from_text(&text).ok_or_else(|| serde::de::Error::custom("not a time"))
}

fn designs() -> BTreeMap<String, Shared> {
    // A test reads them.
    toml::from_str(SHARED)
        .unwrap_or_else(|error| panic!("the accelerators within the tool: {error}"))
}

/// The names of the designs that share something.
pub fn names() -> Vec<String> {
    designs().into_keys().collect()
}

/// What a design shares; `None`: nothing.
pub fn shared(design: &str) -> Option<Shared> {
    designs().remove(design)
}

impl Shared {
    /// How many regions there are.
    pub const fn regions(&self) -> usize {
        self.regions.len()
    }

    /// A time in cycles of the fabric.
    pub const fn cycles_of(&self, time: Nanoseconds) -> u64 {
        time.0 * self.clock_mhz / 1_000
    }

    /// A bitstream of a task for one of its regions, as the configuration port takes it. What is behind the header
    /// stands for what would configure a real region: in simulation nothing listens to it but the checksum.
    pub fn bitstream(&self, task: &Task, region: u8) -> Vec<u8> {
        let length = self.regions[usize::from(region)].bitstream as usize;
        let seed = u32::from(task.number) << 8 | u32::from(region);
        let words = (0..(length - HEADER).div_ceil(4) as u32)
            .map(|index| (index ^ seed << 16).wrapping_mul(0x9e37_79b1));
        let mut bytes = vec![0; HEADER];
        bytes.extend(words.flat_map(u32::to_le_bytes));
        let header = Header {
            task: task.number,
            region,
        };
        bitstream::seal(&mut bytes, header)
            .unwrap_or_else(|error| panic!("a bitstream of `{}`: {error}", task.name));
        bytes
    }

    fn cycles(&self, cycles: u64) -> u64 {
        (cycles * 1_000).div_ceil(self.clock_mhz)
    }

    /// The task of that name.
    pub fn task(&self, name: &str) -> Option<&Task> {
        self.tasks.iter().find(|task| task.name == name)
    }

    /// How long each region takes to be configured, in nanoseconds.
    pub fn region_times(&self) -> Vec<u64> {
        let cycles = |region: &Region| region.bitstream.div_ceil(4) + self.configuration;
        let regions = self.regions.iter();
        regions.map(|region| self.cycles(cycles(region))).collect()
    }

    /// The tasks by number, times in nanoseconds.
    pub fn task_times(&self) -> [latency::Task; TASKS] {
        let mut all = [latency::Task::default(); TASKS];
        for task in &self.tasks {
            all[usize::from(task.number) % TASKS] = latency::Task {
                fits: task.fits.iter().fold(0, |all, region| all | 1 << region),
                stop: task.stop.0,
            };
        }
        all
    }

    /// The longest until memory is rid of a killed task and the device manager has seen so, in nanoseconds.
    pub fn drain(&self) -> u64 {
        self.cycles(self.drain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tactus_accelerators::{INTERFACES, REGIONS};

    #[test]
    fn every_design_is_read_and_makes_sense() {
        assert!(names().contains(&"accelerators".to_owned()));
        for name in names() {
            let shared = shared(&name).expect("a listed design");
            assert!(shared.interfaces <= INTERFACES && shared.regions.len() <= REGIONS);
            for (place, task) in shared.tasks.iter().enumerate() {
                assert!(
                    (1..TASKS).contains(&usize::from(task.number)),
                    "{}",
                    task.name
                );
                assert!(
                    task.fits
                        .iter()
                        .all(|&region| usize::from(region) < shared.regions.len())
                );
                assert!(!task.fits.is_empty());
                let before = &shared.tasks[..place];
                assert!(
                    before
                        .iter()
                        .all(|one| one.number != task.number && one.name != task.name)
                );
            }
        }
        assert!(shared("nothing").is_none());
    }

    /// The tasks fit where the design has them.
    #[test]
    fn tasks_fit_where_the_design_has_them() {
        for (name, design) in [
            (
                "accelerators",
                include_str!("../../fabric/designs/accelerators_design.sv"),
            ),
            (
                "coprocessors",
                include_str!("../../fabric/designs/coprocessors_design.sv"),
            ),
        ] {
            tasks_fit_where_it_has_them(name, design);
        }
    }

    fn tasks_fit_where_it_has_them(name: &str, design: &str) {
        let list = |name: &str| {
            let (_, list) = design.split_once(name).expect("the parameter");
            let (_, list) = list.split_once("'{").expect("its begin");
            let (list, _) = list.split_once("};").expect("its end");
            list.to_owned()
        };
        // In each region so many from the right of its list.
        let counts = list("Tasks [Regions]");
        let counts = counts
            .split(',')
            .map(|count| count.trim().parse().expect("a number"));
        let fits = list("Fits [Regions]");
        let fits: Vec<Vec<String>> = fits
            .split('}')
            .map(|names| names.trim_start_matches([',', ' ', '\n', '{']))
            .zip(counts)
            .map(|(names, count): (_, usize)| {
                let names = names.rsplit(',').take(count);
                names.map(|name| name.trim().to_lowercase()).collect()
            })
            .collect();
        let shared = shared(name).expect("the design");
        assert_eq!(fits.len(), shared.regions());
        for (region, names) in fits.iter().enumerate() {
            let own = shared.tasks.iter();
            let own = own.filter(|task| task.fits.contains(&(region as u8)));
            let mut own: Vec<&str> = own.map(|task| task.name.as_str()).collect();
            // One is there for tests of what a task can do, and no VM is offered it.
            let names = names.iter().map(String::as_str);
            let mut names: Vec<&str> = names.filter(|name| *name != "hostile").collect();
            own.sort_unstable();
            names.sort_unstable();
            assert_eq!(own, names, "region {region}");
        }
    }

    /// The lengths of the bitstreams are those that the port is made for.
    #[test]
    fn bitstreams_are_as_long_as_the_port_wants_them() {
        let port = include_str!("../../fabric/rtl/configuration_port.sv");
        let (_, lengths) = port.split_once("REGION_BYTES = {").expect("the parameter");
        let (lengths, _) = lengths.split_once('}').expect("its end");
        let mut lengths: Vec<u64> = lengths
            .split(',')
            .map(|length| {
                length
                    .trim()
                    .trim_start_matches("32'd")
                    .parse()
                    .expect("a length")
            })
            .collect();
        // The largest region comes first there.
        lengths.reverse();
        for name in names() {
            let regions = shared(&name).expect("the design").regions;
            let own: Vec<u64> = regions.iter().map(|region| region.bitstream).collect();
            assert_eq!(own, lengths, "{name}");
        }
    }
}
