//! What a design of the fabric shares between VMs: its regions, and the tasks that fit into them (`fabric/accelerators.toml`).

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use tactus_policy::accelerators::{TASKS, latency};

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
    /// The tasks.
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
    #[serde(deserialize_with = "time")]
    stop: Nanoseconds,
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
    use tactus_policy::accelerators::{INTERFACES, REGIONS};

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
        let regions = shared("accelerators").expect("the design").regions;
        let own: Vec<u64> = regions.iter().map(|region| region.bitstream).collect();
        assert_eq!(own, lengths);
    }
}
