//! How long a device waits for its region at most: Ker-ONE's equations 5 to 8, and what they leave out.
//!
//! The *allocation latency* goes from the write that asks to when the region is the device's, in one of four ways (the
//! paper's Figure 15): an idle region is assigned (1), or configured first (2), or it is preempted first (3), or both
//! (4). Each is a sum of [`Costs`], of the time that a task takes to stop, and of the time to configure a region. The
//! bound is the longest way (equation 5), and before it what may be going on for others when the request comes: an
//! event that the manager has begun, configurations, a region that is held. The paper has none of these; without them
//! no figure is a bound.
//!
//! It holds for devices of the highest priority that there is. The others may wait for ever, or for their [`Turn`].
//!
//! All times in one unit, whatever that is.

use crate::{INTERFACES, REGIONS, TASKS, Turn};

/// Execution times of the ways' parts: the paper's Table 4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// *T_trap*: from a VM's write to the manager's first instruction.
    pub trap: u64,
    /// *T_resume*: from the manager back to a VM.
    pub resume: u64,
    /// *T_PL_irq*: from an interrupt of the fabric to the manager.
    pub interrupt: u64,
    /// *T_Search*: the manager has a request's solution.
    pub search: u64,
    /// *T_Solution(1)*: it assigns a region.
    pub assign: u64,
    /// *T_Solution(2)*: it takes a region and begins to configure it.
    pub assign_configure: u64,
    /// *T_Solution(3)*: it begins a preemption.
    pub preempt: u64,
    /// *T_irq_pcap*: it connects a region that has been configured.
    pub configured: u64,
    /// *T_irq_stop*: it disconnects a region that has stopped.
    pub stopped: u64,
}

impl Costs {
    /// The four ways, without preemption and reconfiguration themselves: equation 6.
    ///
    /// The published sum of the fourth has *T_Solution(1)* once more than this, beside *T_irq_pcap*, which here is all
    /// that connects a region.
    pub const fn ways(&self) -> [u64; 4] {
        let begin = self.trap + self.search;
        let stop = begin + self.preempt + self.resume + self.interrupt + self.stopped;
        let configure = self.assign_configure + self.resume + self.interrupt + self.configured;
        [
            begin + self.assign + self.resume,
            begin + configure + self.resume,
            stop + self.assign + self.resume,
            stop + configure + self.resume,
        ]
    }

    /// The longest that the manager is at one event.
    fn event(&self) -> u64 {
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
    /// δ_pre: the longest that it takes to stop. The manager kills it then.
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
    /// For how long a region is held for it.
    pub hold: u64,
}

/// All that share the regions.
#[derive(Clone, Copy, Debug)]
pub struct System<'a> {
    /// The manager's and the hypervisor's times.
    pub costs: Costs,
    /// *T_RCFG* of each region, at most [`REGIONS`].
    pub regions: &'a [u64],
    /// By number.
    pub tasks: &'a [Task; TASKS],
    /// At most [`INTERFACES`].
    pub devices: &'a [Device],
    /// The longest until a killed task's region is drained and the manager has seen so, [`crate::RELEASE_TICKS`] later
    /// at most.
    pub drain: u64,
    /// Turns of those that would starve.
    pub turn: Option<Turn>,
}

/// What a device can expect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    /// The four paths with their worst-case times. `None`: the path is never taken, as there is no device to preempt.
    pub ways: [Option<u64>; 4],
    /// *T_preempt(WCET)*, equation 7.
    pub preempt: u64,
    /// *T_RCFG(WCET)*, equation 8.
    pub reconfigure: u64,
    /// What may be going on for others before.
    pub before: u64,
    /// How much later it is for the turns of others.
    pub turns: u64,
    /// With all of it: no request waits longer, while its VM uses at most [`Latency::together`] of its devices at a
    /// time. `None`: there is no bound.
    pub bound: Option<u64>,
    /// With how many of the VM's devices at a time, this one included, there is a region left for it. 0: not even with
    /// this one alone.
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

    /// What a device can expect; `None`: there is no such device.
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

    /// What may be going on when a device's request comes.
    fn before(&self, which: usize, device: &Device) -> u64 {
        let all = self.devices.iter().enumerate();
        let others = all.filter(|(other, _)| *other != which);
        let (mut equal, mut lower, mut hold) = (0, 0, None);
        for (_, other) in others {
            let time = self.reconfigure(other);
            if other.priority < device.priority {
                // The port ends what it has begun.
                lower = time.max(lower);
                if self.task(other).fits & self.task(device).fits != 0 {
                    hold = hold.max(Some(other.hold));
                }
            } else {
                // Equal ones have come first.
                equal += time + self.costs.configured + self.costs.assign_configure;
            }
        }
        // When it is over, the monitor finds the region, and the manager has to look.
        let costs = &self.costs;
        let held = hold.map_or(0, |hold| {
            hold + costs.interrupt + costs.search + costs.resume
        });
        costs.event() + lower + equal + held
    }

    /// How much later a device has its region, for turns of lower ones; one comes every [`Turn::wait`] at most. `None`:
    /// more and more of them.
    fn with_turns(&self, which: usize, latency: u64) -> Option<u64> {
        let Some(turn) = self.turn else {
            return Some(0);
        };
        let highest = self.devices.get(which)?.priority;
        let lower = self.devices.iter().filter(|one| one.priority < highest);
        // The region is taken and configured for it, it is held and computes, and is told to stop.
        let times = lower.map(|one| {
            let stops = self.tasks.iter().map(|task| task.stop).max().unwrap_or(0) + self.drain;
            let ways = self.costs.ways();
            ways[3] + ways[2] + 2 * stops + self.reconfigure(one) + one.hold + turn.length
        });
        let Some(time) = times.max() else {
            return Some(0);
        };
        // Each turn may make room for the next: the least n with n >= (latency + n * time) / wait.
        let rest = turn.wait.checked_sub(time).filter(|&rest| rest > 0)?;
        latency.div_ceil(rest).checked_mul(time)
    }

    /// The fewest devices of the own VM with which all regions of a device may be others'. Those of other VMs with the
    /// same priority, or a higher one, come free.
    fn together(&self, which: usize) -> usize {
        let Some(device) = self.devices.get(which) else {
            return 0;
        };
        let own = self.devices.iter().filter(|one| one.vm == device.vm);
        let regions = self.task(device).fits & ((1 << self.regions.len().min(REGIONS)) - 1);
        self.cover(device, regions, 1 << (which % INTERFACES))
            .unwrap_or_else(|| own.count())
    }

    /// The fewest own devices with which all of these regions are assigned; `used` are those that have one. `None`:
    /// they cannot be.
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

    /// Equation 6. Of the fourth way the published sum has one *T_Solution(1)* more.
    #[test]
    fn the_ways_are_the_papers() {
        assert_eq!(COSTS.ways(), [303, 676, 510, 996 - COSTS.assign]);
    }

    /// Equations 7, 8 and 5 for QAM-16, and what Table 5 makes of the others.
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
        // FFT-512 shares its regions with all.
        assert_eq!(worst(2), (4_700, 120_600));
        assert_eq!(worst(3), (3_360, 120_600));
        assert_eq!(system.latency(8), None);
    }

    /// With four devices and three regions a VM cannot use all at a time; and best effort has no bound.
    #[test]
    fn some_devices_exclude_each_other() {
        let system = paper(&DEVICES);
        let together = |which| system.latency(which).expect("a device").together;
        assert_eq!([0, 1, 2, 3].map(together), [2, 2, 2, 1]);
        assert_eq!(system.latency(4).and_then(|one| one.bound), None);
        // Another VM's FFT-512 may have the only region of the FFT-1024.
        let devices = [device(0, 5, 1), device(1, 4, 1)];
        let latency = paper(&devices).latency(0).expect("a device");
        assert_eq!((latency.together, latency.bound), (0, None));
        // Unless it is less urgent.
        let devices = [device(0, 5, 1), device(1, 4, 0)];
        let latency = paper(&devices).latency(0).expect("a device");
        assert_eq!(latency.together, 1);
        assert!(latency.bound.is_some());
    }

    /// One device alone: nothing is before it but the manager's own work.
    #[test]
    fn alone_there_is_little_to_wait_for() {
        let devices = [device(0, 2, 1)];
        let latency = paper(&devices).latency(0).expect("a device");
        assert_eq!(latency.ways[2..], [None, None]);
        assert_eq!(latency.before, COSTS.search + COSTS.assign_configure);
        assert_eq!(latency.bound, Some(676 + 81_000 + latency.before));
    }

    /// What is before: a configuration that is going on, those of equals, a region that is held.
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

    /// A turn costs once what it takes, if it is rare enough; when turns follow each other there is no bound.
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
        // Between two there is room for a half of the rest.
        let latency = none.bound.expect("a bound");
        assert_eq!(with(rare.turns + latency.div_ceil(2)).turns, 2 * rare.turns);
        assert_eq!(with(10_000).bound, None);
    }
}
