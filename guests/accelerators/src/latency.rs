//! The worst-case latency until a device has its region: Ker-ONE's equations 5 to 8, and terms that they omit.
//!
//! The *allocation latency* is the time from the requesting write until the device has the region, on one of four paths
//! (the paper's Figure 15): an idle region is assigned (1), or configured first (2), or it is preempted first (3), or
//! both (4). Each is a sum of [`Costs`], of the time that a task takes to stop, and of the time to configure a region.
//! The bound is the longest path (equation 5), plus work for other devices in progress at the request: an event that
//! the manager handles, configurations, a region that is held. The paper has none of these terms; without them
//! no figure is a bound.
//!
//! It holds for devices of the highest priority. The others may wait for ever, or for their [`Turn`].
//!
//! All times are in the same unit, which is arbitrary.

use crate::{INTERFACES, REGIONS, TASKS, Turn};

/// Execution times of the paths' parts: the paper's Table 4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// *T_trap*: from a VM's write to the manager's first instruction.
    pub trap: u64,
    /// *T_resume*: from the manager back to a VM.
    pub resume: u64,
    /// *T_PL_irq*: from an interrupt of the fabric to the manager.
    pub interrupt: u64,
    /// *T_Search*: the manager finds a request's solution.
    pub search: u64,
    /// *T_Solution(1)*: it assigns a region.
    pub assign: u64,
    /// *T_Solution(2)*: it takes a region and starts its configuration.
    pub assign_configure: u64,
    /// *T_Solution(3)*: it starts a preemption.
    pub preempt: u64,
    /// *T_irq_pcap*: it connects a region that has been configured.
    pub configured: u64,
    /// *T_irq_stop*: it disconnects a region that has stopped.
    pub stopped: u64,
    /// How long the manager may wait for its hart once there is work for it: 0 where it has the hart at once, as the
    /// paper's does.
    pub wait: u64,
}

impl Costs {
    /// The four paths, without the preemption and the reconfiguration themselves: equation 6.
    ///
    /// The published sum of the fourth has one more *T_Solution(1)* than this one, beside *T_irq_pcap*, which alone
    /// connects a region here.
    pub const fn ways(&self) -> [u64; 4] {
        let interrupt = self.interrupt + self.wait;
        let begin = self.trap + self.wait + self.search;
        let stop = begin + self.preempt + self.resume + interrupt + self.stopped;
        let configure = self.assign_configure + self.resume + interrupt + self.configured;
        [
            begin + self.assign + self.resume,
            begin + configure + self.resume,
            stop + self.assign + self.resume,
            stop + configure + self.resume,
        ]
    }

    /// The longest time for which the manager handles one event.
    pub fn event(&self) -> u64 {
        let ends = [self.assign, self.assign_configure, self.preempt];
        let end = ends.into_iter().max().unwrap_or(0);
        (self.search.max(self.stopped) + end).max(self.configured)
    }
}

/// A hardware task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Task {
    /// The regions that it fits into, a bit each.
    pub fits: u8,
    /// δ_pre: the longest time that it takes to stop. The manager then kills it.
    pub stop: u64,
}

/// A virtual device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// Its VM.
    pub vm: usize,
    /// Its task; 1 to 7.
    pub task: u8,
    /// Its VM's priority.
    pub priority: u8,
    /// Time for which a region is held for it.
    pub hold: u64,
}

/// The devices, tasks and regions.
#[derive(Clone, Copy, Debug)]
pub struct System<'a> {
    /// The manager's and the hypervisor's times.
    pub costs: Costs,
    /// *T_RCFG* of each region, at most [`REGIONS`].
    pub regions: &'a [u64],
    /// The tasks by number.
    pub tasks: &'a [Task; TASKS],
    /// The devices, at most [`INTERFACES`].
    pub devices: &'a [Device],
    /// The longest time until a killed task's region is drained and the manager has detected this, at most
    /// [`crate::RELEASE_TICKS`] later.
    pub drain: u64,
    /// Turns of devices that would starve.
    pub turn: Option<Turn>,
}

/// Latencies of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    /// The four paths with their worst-case times. `None`: the path is never taken, as there is no device to preempt.
    pub ways: [Option<u64>; 4],
    /// *T_preempt(WCET)*, equation 7.
    pub preempt: u64,
    /// *T_RCFG(WCET)*, equation 8.
    pub reconfigure: u64,
    /// Work for other devices that may be in progress before.
    pub before: u64,
    /// Delay by the turns of other devices.
    pub turns: u64,
    /// The bound with all terms, while the VM uses at most [`Latency::together`] of its devices at a
    /// time. `None`: there is no bound.
    pub bound: Option<u64>,
    /// Number of the VM's devices, this one included, that it may use at a time such that a region is left for this
    /// one. 0: not even with this one alone.
    pub together: usize,
}

impl System<'_> {
    fn task(&self, device: &Device) -> Task {
        self.tasks
            .get(usize::from(device.task))
            .copied()
            .unwrap_or_default()
    }

    /// *T_RCFG(WCET)* of a device.
    fn reconfigure(&self, device: &Device) -> u64 {
        let fits = self.task(device).fits;
        let regions = (0..REGIONS).zip(self.regions);
        let times = regions.filter(|(region, _)| fits >> region & 1 != 0);
        times.map(|(_, &time)| time).max().unwrap_or(0)
    }

    /// Latencies of a device; `None`: there is no such device.
    pub fn latency(&self, which: usize) -> Option<Latency> {
        let device = self.devices.get(which)?;
        let fits = self.task(device).fits;
        let others = || {
            let all = self.devices.iter().enumerate();
            all.filter(move |(other, _)| *other != which)
                .map(|(_, one)| one)
        };
        let is_below =
            |other: &&Device| other.priority < device.priority && self.task(other).fits & fits != 0;
        let stops = others()
            .filter(is_below)
            .map(|other| self.task(other).stop + self.drain);
        let preempt = stops.max();
        let reconfigure = self.reconfigure(device);
        let costs = self.costs.ways();
        let ways = [
            Some(costs[0]),
            Some(costs[1] + reconfigure),
            preempt.map(|preempt| costs[2] + preempt),
            preempt.map(|preempt| costs[3] + preempt + reconfigure),
        ];
        let together = self.together(which);
        let before = self.before(which, device);
        let (turns, bound) = match ways.iter().flatten().max() {
            Some(longest) if together > 0 && self.is_highest(device) => {
                match self.with_turns(which, longest + before) {
                    Some(turns) => (turns, Some(longest + before + turns)),
                    None => (0, None),
                }
            }
            _ => (0, None),
        };
        Some(Latency {
            ways,
            preempt: preempt.unwrap_or(0),
            reconfigure,
            before,
            turns,
            bound,
            together,
        })
    }

    fn is_highest(&self, device: &Device) -> bool {
        let mut all = self.devices.iter();
        all.all(|other| other.priority <= device.priority)
    }

    /// Work that may be in progress at a device's request.
    fn before(&self, which: usize, device: &Device) -> u64 {
        let all = self.devices.iter().enumerate();
        let others = all.filter(|(other, _)| *other != which);
        let (mut equal, mut lower, mut hold) = (0, 0, None);
        for (_, other) in others {
            let time = self.reconfigure(other);
            if other.priority < device.priority {
                // The port completes the configuration in progress.
                lower = lower.max(time + self.costs.wait);
                if self.task(other).fits & self.task(device).fits != 0 {
                    hold = hold.max(Some(other.hold));
                }
            } else {
                // Requests of equal devices have arrived earlier.
                let costs = &self.costs;
                equal += time + costs.wait + costs.configured + costs.assign_configure;
            }
        }
        // When the hold ends, the monitor finds the region, and the manager handles its interrupt.
        let costs = &self.costs;
        let held = hold.map_or(0, |hold| {
            hold + costs.wait + costs.interrupt + costs.search + costs.resume
        });
        costs.event() + lower + equal + held
    }

    /// Delay of a device's region by turns of lower devices, one every [`Turn::wait`] at most. `None`:
    /// unbounded.
    fn with_turns(&self, which: usize, latency: u64) -> Option<u64> {
        let Some(turn) = self.turn else {
            return Some(0);
        };
        let highest = self.devices.get(which)?.priority;
        let lower = self.devices.iter().filter(|one| one.priority < highest);
        // The region is taken and configured for the turn's device, held, used, and told to stop.
        let times = lower.map(|one| {
            let stops = self.tasks.iter().map(|task| task.stop).max().unwrap_or(0) + self.drain;
            let ways = self.costs.ways();
            ways[3] + ways[2] + 2 * stops + self.reconfigure(one) + one.hold + turn.length
        });
        let Some(time) = times.max() else {
            return Some(0);
        };
        // Each turn may permit a further one: the least n with n >= (latency + n * time) / wait.
        let rest = turn.wait.checked_sub(time).filter(|&rest| rest > 0)?;
        latency.div_ceil(rest).checked_mul(time)
    }

    /// The fewest devices of the same VM with which other devices may occupy all regions of a device. Devices of other
    /// VMs with the same or a higher priority are not counted.
    fn together(&self, which: usize) -> usize {
        let Some(device) = self.devices.get(which) else {
            return 0;
        };
        let own = self.devices.iter().filter(|one| one.vm == device.vm);
        let regions = self.task(device).fits & ((1 << self.regions.len().min(REGIONS)) - 1);
        self.cover(device, regions, 1 << (which % INTERFACES))
            .unwrap_or_else(|| own.count())
    }

    /// The fewest devices of the same VM with which all of these regions are assigned; `used` are those that have one.
    /// `None`: they cannot be.
    fn cover(&self, device: &Device, regions: u8, used: u8) -> Option<usize> {
        if regions == 0 {
            return Some(0);
        }
        let region = regions.trailing_zeros();
        let rest = regions & (regions - 1);
        let mut best: Option<usize> = None;
        for (number, other) in self.devices.iter().enumerate().take(INTERFACES) {
            let fits = self.task(other).fits >> region & 1 != 0;
            if used >> number & 1 != 0 || !fits || other.priority < device.priority {
                continue;
            }
            if let Some(more) = self.cover(device, rest, used | 1 << number) {
                let all = more + usize::from(other.vm == device.vm);
                best = Some(best.map_or(all, |best| best.min(all)));
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's Table 4, in hundredths of a microsecond.
    const COSTS: Costs = Costs {
        trap: 76,
        resume: 64,
        interrupt: 81,
        search: 50,
        assign: 113,
        assign_configure: 277,
        preempt: 34,
        configured: 64,
        stopped: 28,
        wait: 0,
    };
    /// Table 5: *T_RCFG* of each region; δ_pre and regions of QAM-16, QAM-64, FFT-512 and FFT-1024.
    const REGION_TIMES: [u64; 3] = [23_100, 81_000, 120_600];
    const TASK_TIMES: [Task; TASKS] = {
        const fn task(fits: u8, stop: u64) -> Task {
            Task { fits, stop }
        }
        let none = task(0, 0);
        [
            none,
            none,
            task(0b011, 4_700),
            task(0b011, 3_100),
            task(0b110, 2_410),
            task(0b100, 3_360),
            none,
            none,
        ]
    };

    const fn device(vm: usize, task: u8, priority: u8) -> Device {
        Device {
            vm,
            task,
            priority,
            hold: 0,
        }
    }

    /// The experiment's two VMs with four devices each, the real-time one first.
    const DEVICES: [Device; 8] = [
        device(0, 2, 1),
        device(0, 3, 1),
        device(0, 4, 1),
        device(0, 5, 1),
        device(1, 2, 0),
        device(1, 3, 0),
        device(1, 4, 0),
        device(1, 5, 0),
    ];

    const fn paper(devices: &[Device]) -> System<'_> {
        System {
            costs: COSTS,
            regions: &REGION_TIMES,
            tasks: &TASK_TIMES,
            devices,
            drain: 0,
            turn: None,
        }
    }

    /// Equation 6. The published sum of the fourth path has one *T_Solution(1)* more.
    #[test]
    fn the_ways_are_the_papers() {
        assert_eq!(COSTS.ways(), [303, 676, 510, 996 - COSTS.assign]);
    }

    /// Equations 7, 8 and 5 for QAM-16, and the results of Table 5 for the others.
    #[test]
    fn the_worst_cases_are_the_papers() {
        let system = paper(&DEVICES);
        let qam16 = system.latency(0).expect("a device");
        assert_eq!((qam16.preempt, qam16.reconfigure), (4_700, 81_000));
        assert_eq!(
            qam16.ways,
            [
                Some(303),
                Some(676 + 81_000),
                Some(510 + 4_700),
                Some(883 + 4_700 + 81_000)
            ]
        );
        let worst = |which| {
            let latency: Latency = system.latency(which).expect("a device");
            (latency.preempt, latency.reconfigure)
        };
        assert_eq!(worst(1), (4_700, 81_000));
        // FFT-512 shares its regions with all other tasks.
        assert_eq!(worst(2), (4_700, 120_600));
        assert_eq!(worst(3), (3_360, 120_600));
        assert_eq!(system.latency(8), None);
    }

    /// Each time that the manager is woken it may wait: at the request and at each interrupt.
    #[test]
    fn a_manager_that_waits_is_waited_for() {
        let costs = Costs {
            wait: 1_000,
            ..COSTS
        };
        let later = [1, 2, 2, 3].map(|times| times * costs.wait);
        let at_once = COSTS.ways();
        let ways = costs.ways();
        assert_eq!([0, 1, 2, 3].map(|way| ways[way] - at_once[way]), later);
        let mut system = paper(&DEVICES);
        let bound = |system: &System<'_>| system.latency(0).and_then(|one| one.bound);
        let before = bound(&system).expect("it is of the highest priority");
        system.costs = costs;
        // The longest way, three equal devices, a configuration for a lower one, and a region that is held.
        assert_eq!(bound(&system), Some(before + (3 + 3 + 1 + 1) * costs.wait));
    }

    /// With four devices and three regions a VM cannot use all devices at a time; and best effort has no bound.
    #[test]
    fn some_devices_exclude_each_other() {
        let system = paper(&DEVICES);
        let together = |which| system.latency(which).expect("a device").together;
        assert_eq!([0, 1, 2, 3].map(together), [2, 2, 2, 1]);
        assert_eq!(system.latency(4).and_then(|one| one.bound), None);
        // Another VM's FFT-512 may occupy the only region of the FFT-1024.
        let devices = [device(0, 5, 1), device(1, 4, 1)];
        let latency = paper(&devices).latency(0).expect("a device");
        assert_eq!((latency.together, latency.bound), (0, None));
        // Unless it has a lower priority.
        let devices = [device(0, 5, 1), device(1, 4, 0)];
        let latency = paper(&devices).latency(0).expect("a device");
        assert_eq!(latency.together, 1);
        assert!(latency.bound.is_some());
    }

    /// One device alone waits only for the manager's own work.
    #[test]
    fn alone_there_is_little_to_wait_for() {
        let devices = [device(0, 2, 1)];
        let latency = paper(&devices).latency(0).expect("a device");
        assert_eq!(latency.ways[2..], [None, None]);
        assert_eq!(latency.before, COSTS.search + COSTS.assign_configure);
        assert_eq!(latency.bound, Some(676 + 81_000 + latency.before));
    }

    /// A request waits for a configuration in progress, those of equal devices, and a region that is held.
    #[test]
    fn others_come_first() {
        let before = |devices: &[Device]| paper(devices).latency(0).map_or(0, |one| one.before);
        let alone = before(&[device(0, 2, 1)]);
        let equal = before(&[device(0, 2, 1), device(0, 3, 1)]);
        assert_eq!(
            equal - alone,
            81_000 + COSTS.configured + COSTS.assign_configure
        );
        let lower = before(&[device(0, 2, 1), device(1, 5, 0)]);
        assert_eq!(lower - alone, 120_600);
        let mut held = [device(0, 2, 1), device(1, 3, 0)];
        held[1].hold = 1_000;
        assert_eq!(
            before(&held) - alone,
            81_000 + 1_000 + COSTS.interrupt + COSTS.search + COSTS.resume
        );
    }

    /// A rare turn costs its own time once; when turns follow each other without a gap there is no bound.
    #[test]
    fn turns_cost_their_length() {
        let with = |wait| {
            let turn = Some(Turn {
                wait,
                length: 10_000,
            });
            System {
                turn,
                ..paper(&DEVICES)
            }
            .latency(0)
            .expect("a device")
        };
        let none = paper(&DEVICES).latency(0).expect("a device");
        let rare = with(10_000_000);
        assert!(rare.turns > 10_000);
        assert_eq!(rare.bound, none.bound.map(|bound| bound + rare.turns));
        // The rest between two turns is used up by half.
        let latency = none.bound.expect("a bound");
        assert_eq!(with(rare.turns + latency.div_ceil(2)).turns, 2 * rare.turns);
        assert_eq!(with(10_000).bound, None);
    }
}
