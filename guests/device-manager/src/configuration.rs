//! The configuration of the regions and of the devices that share them: the node `/accelerators` of the devicetree.
//!
//! | property | cells |
//! |---|---|
//! | `tactus,fabric` | 2: address of the fabric's pages |
//! | `tactus,regions` | 1: number of regions |
//! | `tactus,devices` | for each interface 6: task, priority, first page and number of pages of its VM's memory, channel to its VM (or all ones), hold time in cycles |
//! | `tactus,tasks` | for each task 3: number, regions that it fits into, ticks that it takes to stop |
//! | `tactus,bitstreams` | for each 5: task, region, physical address (2), bytes |
//! | `tactus,drain` | 1: ticks |
//! | `tactus,give-up` | 1: ticks; 0: never |
//! | `tactus,allocator` | 1: cycles that the region allocator gives a task to stop; 0: it is not used, and its table is not there |
//! | `tactus,turn` | 2: ticks between turns, ticks of one; 0: none |

use tactus_accelerators::{Device, INTERFACES, Policy, REGIONS, TASKS, Turn};

/// A bitstream in memory: physical address and bytes.
pub type Bitstream = (u64, u32);

/// The configuration of the manager.
pub struct Configuration {
    /// Address of the fabric's pages.
    pub fabric: usize,
    /// Number of regions.
    pub regions: u8,
    /// The device at each interface.
    pub devices: [Option<Device>; INTERFACES],
    /// The memory of each interface's VM: first page, number of pages.
    pub windows: [(u32, u32); INTERFACES],
    /// The channel to each interface's VM.
    pub channels: [Option<u32>; INTERFACES],
    /// Bitstreams by task and region.
    pub bitstreams: [[Option<Bitstream>; REGIONS]; TASKS],
    /// Cycles of the fabric that the region allocator gives a task to stop; 0: it is not used.
    pub allocator: u32,
    /// The policy of allocation.
    pub policy: Policy,
}

/// Big-endian cells of 32 bits.
fn cells<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u32; N]> {
    let cell = |four: &[u8]| four.iter().fold(0, |all, &byte| all << 8 | u32::from(byte));
    bytes.chunks_exact(4 * N).map(move |group| {
        let mut values = [0; N];
        for (value, four) in values.iter_mut().zip(group.chunks_exact(4)) {
            *value = cell(four);
        }
        values
    })
}

const fn long([upper, lower]: [u32; 2]) -> u64 {
    (upper as u64) << 32 | lower as u64
}

impl Configuration {
    /// Parses the node, whose properties `property` returns by name; an absent one is empty.
    ///
    /// # Errors
    ///
    /// The property that is missing or invalid.
    pub fn of<'n>(property: impl Fn(&str) -> &'n [u8]) -> Result<Self, &'static str> {
        let one = |name: &str| cells::<1>(property(name)).next().map(|[value]| value);
        let fabric = cells::<2>(property("tactus,fabric")).next();
        let fabric = fabric.ok_or("no tactus,fabric")?;
        let regions = one("tactus,regions").ok_or("no tactus,regions")?;
        if regions == 0 || regions as usize > REGIONS {
            return Err("tactus,regions is out of range");
        }
        let mut fits = [0; TASKS];
        let mut stop = [0; TASKS];
        for [task, regions, ticks] in cells(property("tactus,tasks")) {
            let task = task as usize;
            if task == 0 || task >= TASKS {
                return Err("a task is out of range");
            }
            fits[task] = regions as u8;
            stop[task] = ticks.into();
        }
        let turn = cells::<2>(property("tactus,turn")).next();
        let turn = turn
            .filter(|[wait, _]| *wait != 0)
            .map(|[wait, length]| Turn {
                wait: wait.into(),
                length: length.into(),
            });
        let mut configuration = Self {
            fabric: long(fabric) as usize,
            regions: regions as u8,
            devices: [None; INTERFACES],
            windows: [(0, 0); INTERFACES],
            channels: [None; INTERFACES],
            bitstreams: [[None; REGIONS]; TASKS],
            allocator: one("tactus,allocator").unwrap_or(0),
            policy: Policy {
                fits,
                stop,
                drain: one("tactus,drain").unwrap_or(0).into(),
                give_up: one("tactus,give-up")
                    .filter(|&ticks| ticks != 0)
                    .map(u64::from),
                turn,
            },
        };
        configuration.read_devices(property("tactus,devices"))?;
        for [task, region, upper, lower, bytes] in cells(property("tactus,bitstreams")) {
            let of_task = configuration.bitstreams.get_mut(task as usize);
            let place = of_task.and_then(|regions| regions.get_mut(region as usize));
            *place.ok_or("a bitstream is for no task or no region")? =
                Some((long([upper, lower]), bytes));
        }
        Ok(configuration)
    }

    fn read_devices(&mut self, bytes: &[u8]) -> Result<(), &'static str> {
        let all = cells(bytes).enumerate();
        for (interface, [task, priority, page, pages, channel, hold]) in all {
            if interface >= INTERFACES || task == 0 || task as usize >= TASKS || priority > 254 {
                return Err("a device is out of range");
            }
            self.devices[interface] = Some(Device {
                task: task as u8,
                priority: priority as u8,
                hold,
            });
            self.windows[interface] = (page, pages);
            self.channels[interface] = (channel != u32::MAX).then_some(channel);
        }
        Ok(())
    }
}
