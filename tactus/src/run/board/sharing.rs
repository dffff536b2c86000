//! How accelerators are shared, as the harts' accesses to the fabric's registers show it
//! (`docs/src/reference/regions.md`): what the device manager takes for each part of its work, what regions do, and how
//! long virtual devices wait for them. Nothing is added to the run for it.
//!
//! A *visit* of the manager goes from its first instruction after another VM had the hart to the trap by which it
//! yields it again. What it does in it shows in the registers that it accesses. A visit with several events is cut
//! where another one begins: a request, or an interrupt that is taken back; what is left to do of the event before then
//! counts for the other one. Interrupts one right after the other count as none of the parts. What was before the first
//! request of a real-time VM does not count: VMs were being started.
//!
//! What the region allocator does shows where the hypervisor or a VM reads a virtual device's `STAT`. Its
//! configurations do not show.

use tactus_accelerators::latency::Costs;
use tactus_accelerators::{INTERFACES, REGIONS};
use tactus_board::profile::Profile;
use tactus_board::trace::{Event, EventKind};

use super::Worker;
use crate::plan::Accelerators;

/// Where the pages are, from the start of the fabric's port on; the region monitor's is the first.
const PORT: u64 = 0x1000;
const FIRST_REGION: u64 = 0x2000;
const FIRST_INTERFACE: u64 = 0x8000;
const FIRST_DEVICE: u64 = 0x1_0000;
const PAGE: u64 = 0x1000;
/// Bits of a virtual device's `STAT`, and where the region's number begins.
const STAT_CONNECTED: u64 = 1 << 0;
const STAT_UNFINISHED: u64 = 1 << 2;
const STAT_REGION: u32 = 16;
/// Bits of a region's `COMMAND`.
const TAKE: u64 = 1 << 0;
const PREEMPT: u64 = 1 << 1;
const CONNECT: u64 = 1 << 3;
/// Bit of the port's `TARGET` that begins a configuration.
const GO: u64 = 1 << 31;

/// Parts of the ways to a region: Ker-ONE's Table 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// *T_trap*: below the guests, from a VM's store to the manager.
    Trap,
    /// *T_resume*: below the guests, from the manager to a VM.
    Resume,
    /// *T_PL_irq*: below the guests, from an interrupt to the manager.
    Interrupt,
    /// *T_Search*: from the manager's first instruction to its reading of the solution; where there is none, its whole
    /// visit.
    Search,
    /// *T_Solution(1)*: from there, or where a region has stopped from when its client has lost it, to the end of the
    /// visit.
    Assign,
    /// *T_Solution(2)*, likewise.
    AssignConfigure,
    /// *T_Solution(3)*, likewise.
    Preempt,
    /// *T_irq_pcap*: a visit in which what has been configured is connected.
    Configured,
    /// *T_irq_stop*: from the manager's first instruction to when the client of a region that has stopped has lost it.
    Stopped,
}

/// How many there are.
const PARTS: usize = 9;

/// How long something took, in cycles of the harts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// How often.
    pub count: u64,
    /// All together.
    pub sum: u64,
    /// The shortest.
    pub min: u64,
    /// The longest.
    pub max: u64,
}

impl Part {
    /// What a system says of it.
    pub const fn stated(self, costs: &Costs) -> u64 {
        match self {
            Self::Trap => costs.trap,
            Self::Resume => costs.resume,
            Self::Interrupt => costs.interrupt,
            Self::Search => costs.search,
            Self::Assign => costs.assign,
            Self::AssignConfigure => costs.assign_configure,
            Self::Preempt => costs.preempt,
            Self::Configured => costs.configured,
            Self::Stopped => costs.stopped,
        }
    }
}

impl Times {
    /// These and those.
    pub fn and(self, other: Self) -> Self {
        match (self.count, other.count) {
            (0, _) => other,
            (_, 0) => self,
            _ => Self {
                count: self.count + other.count,
                sum: self.sum + other.sum,
                min: self.min.min(other.min),
                max: self.max.max(other.max),
            },
        }
    }

    fn add(&mut self, time: u64) {
        *self = self.and(Self {
            count: 1,
            sum: time,
            min: time,
            max: time,
        });
    }
}

/// Whose accesses are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    /// The VM that is the device manager.
    pub manager: usize,
    /// The interfaces of real-time VMs, a bit each.
    pub real_time: u8,
    /// The clocks of the harts and of the fabric.
    pub clocks_hz: [u64; 2],
}

impl Watch {
    /// A manager's on a board; `None`: it has no fabric.
    pub fn of(profile: &Profile, shared: &Accelerators) -> Option<Self> {
        let fabric = profile.fabric.as_ref()?;
        let real_time = shared.devices.iter().filter(|device| device.real_time);
        Some(Self {
            manager: shared.manager,
            real_time: real_time.fold(0, |all, device| all | 1 << device.interface),
            clocks_hz: [profile.clock_hz, fabric.clock_hz],
        })
    }
}

/// What a region does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Region {
    client: usize,
    computing: u64,
    configuring: u64,
}

/// What stands behind a virtual device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Interface {
    /// A computation has been asked for and its result has not been seen.
    asked: bool,
    region: Option<usize>,
    /// Since when it computes, and for how long it has in regions from which it was stopped.
    since: Option<u64>,
    before: u64,
    /// The region that was taken from it when it was done.
    done_in: Option<usize>,
    /// Since when it waits.
    waits: Option<u64>,
    longest: u64,
}

/// A hart between two of its turns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Hart {
    at: Option<Worker>,
    /// Since when it is below the guests, and whether it was woken.
    below: Option<(u64, bool)>,
    /// The first trap since then, or the last before: its cycle, and whether it was an interrupt.
    trap: Option<(u64, bool)>,
}

/// A visit, or from an event to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Visit {
    began: u64,
    /// There was an event.
    known: bool,
    /// There were several interrupts before anything was done about them.
    mixed: bool,
    /// Something was done about it.
    worked: bool,
    /// Since when the solution is known.
    solution: Option<u64>,
    stopped: bool,
    configured: bool,
    /// Since when a client has lost its region.
    lost: Option<u64>,
    connects: bool,
    configures: bool,
    preempts: bool,
}

/// What was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sharing {
    watch: Option<Watch>,
    /// The fabric's place among the board's devices.
    device: Option<u16>,
    vms: usize,
    parts: [Times; PARTS],
    /// Visits with several events.
    several: Times,
    harts: Vec<Hart>,
    visit: Option<Visit>,
    regions: [Region; REGIONS],
    interfaces: [Interface; INTERFACES],
    /// All interfaces as they were before the last region was taken, which may have been refused.
    before_take: Option<[Interface; INTERFACES]>,
    loading: Option<(usize, u64)>,
    requests: u64,
    results: u64,
    /// From the first request of a real-time VM to the last access.
    from: Option<u64>,
    to: u64,
}

impl Sharing {
    /// Nothing yet. `device` is the fabric's place among the board's devices, and `vms` how many VMs there are.
    pub fn new(watch: Option<Watch>, device: Option<u16>, vms: usize) -> Self {
        Self {
            watch,
            device,
            vms,
            ..Self::default()
        }
    }

    /// How long a part took.
    pub const fn part(&self, part: Part) -> Times {
        self.parts[part as usize]
    }

    /// The visits in which the manager handled several events.
    pub const fn several(&self) -> Times {
        self.several
    }

    /// Computations that were asked for, and those whose end was seen.
    pub const fn computations(&self) -> [u64; 2] {
        [self.requests, self.results]
    }

    /// Cycles in which a region was looked at; and in which of them it computed or was on its way to or from that, and
    /// was configured.
    pub fn region(&self, region: usize) -> Option<[u64; 3]> {
        let all = self.to - self.from?;
        let region = self.regions.get(region)?;
        Some([all, region.computing, region.configuring])
    }

    /// The longest that an interface has waited for a region, with a computation asked for or unfinished; one that
    /// waits at the end has waited until then.
    pub fn waited(&self, interface: usize) -> Option<u64> {
        let one = self.interfaces.get(interface)?;
        let from = self.from?;
        let now = one.waits.map_or(0, |since| self.to - since.max(from));
        Some(one.longest.max(now))
    }

    /// Whether there is something to look at.
    pub const fn wanted(&self) -> bool {
        self.watch.is_some()
    }

    /// What has happened to a hart. Cycles never go back.
    pub fn event(&mut self, event: &Event) {
        let Some(watch) = self.watch else { return };
        let index = usize::from(event.hart);
        if self.harts.len() <= index {
            self.harts.resize(index + 1, Hart::default());
        }
        match event.kind {
            EventKind::Turn(doing) => {
                self.turn(event.cycle, index, Worker::of(doing, self.vms), watch)
            }
            EventKind::Interrupt { .. } => self.trap(event.cycle, index, true),
            EventKind::Exception { .. } => self.trap(event.cycle, index, false),
            EventKind::Access {
                device,
                offset,
                write,
                value,
            } if Some(device) == self.device => {
                self.access(event.cycle, offset, write.then_some(value), value, watch);
            }
            _ => {}
        }
    }

    /// Whether it is told before or after the turn that it leads to does not matter.
    fn trap(&mut self, cycle: u64, hart: usize, interrupt: bool) {
        let own = &mut self.harts[hart];
        if own.below.is_none_or(|(since, _)| since == cycle) {
            own.trap = Some((cycle, interrupt));
        }
    }

    fn turn(&mut self, cycle: u64, hart: usize, to: Worker, watch: Watch) {
        let own = &mut self.harts[hart];
        if matches!(to, Worker::Hypervisor | Worker::Firmware | Worker::User) {
            // What ends a wait is an interrupt, taken or not.
            let woken = own.at == Some(Worker::Idle);
            own.below.get_or_insert((cycle, woken));
            return;
        }
        let below = own.below.take();
        let from = own.at.replace(to.clone());
        let manager = Worker::Vm(watch.manager);
        let (Some(from), Some((since, woken))) = (from, below) else {
            return;
        };
        let interrupt = woken || own.trap == Some((since, true));
        if from == manager && to != manager {
            if let Some(visit) = self.visit.take() {
                self.visited(visit, since);
            }
            if matches!(to, Worker::Vm(_)) {
                self.add(Part::Resume, cycle - since);
            }
        } else if from != manager && to == manager {
            let part = if interrupt {
                Part::Interrupt
            } else {
                Part::Trap
            };
            self.add(part, cycle - since);
            self.visit = Some(Visit {
                began: cycle,
                ..Visit::default()
            });
        }
    }

    /// What is before the first request of a real-time VM does not count.
    fn add(&mut self, part: Part, time: u64) {
        if self.from.is_some() {
            self.parts[part as usize].add(time);
        }
    }

    fn visited(&mut self, visit: Visit, end: u64) {
        let whole = end - visit.began;
        if visit.mixed {
            if self.from.is_some() {
                self.several.add(whole);
            }
            return;
        }
        let solution = if visit.configures {
            Some(Part::AssignConfigure)
        } else if visit.connects {
            Some(Part::Assign)
        } else if visit.preempts {
            Some(Part::Preempt)
        } else {
            None
        };
        let (first, known) = if visit.configured {
            (Part::Configured, None)
        } else if visit.stopped {
            (Part::Stopped, visit.lost)
        } else if visit.known || visit.solution.is_some() {
            (Part::Search, visit.solution)
        } else {
            return;
        };
        match (known, solution) {
            (Some(known), Some(solution)) => {
                self.add(first, known - visit.began);
                self.add(solution, end - known);
            }
            _ => self.add(first, whole),
        }
    }

    /// Another event begins; `interrupt`: one is taken back.
    fn begins(&mut self, cycle: u64, interrupt: bool) {
        let Some(visit) = &mut self.visit else { return };
        if !visit.known {
            visit.known = true;
        } else if visit.worked || !interrupt {
            let before = std::mem::take(visit);
            visit.began = cycle;
            visit.known = true;
            self.visited(before, cycle);
        } else {
            visit.mixed = true;
        }
    }

    fn access(&mut self, cycle: u64, offset: u64, written: Option<u64>, value: u64, watch: Watch) {
        let place = |first: u64| ((offset - first) / PAGE) as usize;
        let register = offset % PAGE;
        self.to = self.to.max(cycle);
        match offset {
            FIRST_DEVICE.. => {
                let Some(interface) = self.interfaces.get_mut(place(FIRST_DEVICE)) else {
                    return;
                };
                match (register, written) {
                    (0x08, Some(value)) if value & 1 != 0 && !interface.asked => {
                        interface.asked = true;
                        self.requests += 1;
                        if watch.real_time >> place(FIRST_DEVICE) & 1 != 0 && self.from.is_none() {
                            self.from = Some(cycle);
                            for region in &mut self.regions {
                                (region.computing, region.configuring) = (0, 0);
                            }
                        }
                        match interface.region {
                            Some(_) => interface.since = Some(cycle),
                            None => interface.waits = Some(cycle),
                        }
                    }
                    (0x04, None) => self.status(cycle, place(FIRST_DEVICE), value),
                    // Of two words, read as one or one by one, the cycles are the second; they are never 0.
                    (0x20, None) if interface.asked && value >> 32 != 0 => {
                        self.result(cycle, place(FIRST_DEVICE), value >> 32, watch);
                    }
                    (0x24, None) if interface.asked => {
                        self.result(cycle, place(FIRST_DEVICE), value, watch);
                    }
                    _ => {}
                }
            }
            FIRST_INTERFACE.. => {
                if let (0x04, None, Some(visit)) = (register, written, &mut self.visit) {
                    visit.lost.get_or_insert(cycle);
                    visit.worked = true;
                }
            }
            FIRST_REGION.. => {
                let number = place(FIRST_REGION);
                if (register, written, value & 1) == (0x10, None, 1)
                    && let Some(interfaces) = self.before_take.take()
                {
                    self.interfaces = interfaces;
                }
                self.region_access(cycle, number, register, written);
            }
            PORT.. => self.port_access(cycle, register, written),
            _ => {
                if let (0x08 | 0x20, Some(_)) = (register, written) {
                    self.begins(cycle, register == 0x20);
                }
                if let (0x0c | 0x10, None, Some(visit)) = (register, written, &mut self.visit) {
                    visit.solution = Some(cycle);
                    visit.worked = true;
                }
            }
        }
    }

    /// A virtual device's `STAT` has been read. Where the manager has not given or taken a region, the allocator has.
    fn status(&mut self, cycle: u64, number: usize, value: u64) {
        let region = (value >> STAT_REGION & 0xf) as usize;
        let interface = &mut self.interfaces[number];
        if value & STAT_CONNECTED != 0 {
            if interface.region == Some(region) || region >= self.regions.len() {
                return;
            }
            self.regions[region].client = number;
            self.lose(cycle, region, false);
            self.connect(cycle, number, region);
        } else if let Some(region) = interface.region {
            self.lose(cycle, region, value & STAT_UNFINISHED != 0);
        } else if value & STAT_UNFINISHED != 0 && interface.done_in.take().is_some() {
            // It was taken for done, and is stopped.
            interface.waits = Some(cycle);
        }
    }

    /// A region has become an interface's.
    fn connect(&mut self, cycle: u64, number: usize, region: usize) {
        let interface = &mut self.interfaces[number];
        interface.region = Some(region);
        if interface.asked {
            interface.since = Some(cycle);
        }
        if let (Some(since), Some(from)) = (interface.waits.take(), self.from) {
            let since = since.max(from);
            interface.longest = interface.longest.max(cycle - since);
        }
    }

    fn port_access(&mut self, cycle: u64, register: u64, written: Option<u64>) {
        match (register, written) {
            (0x14, Some(target)) if target & GO != 0 => {
                self.loading = Some(((target & 7) as usize, cycle));
                if let Some(visit) = &mut self.visit {
                    (visit.configures, visit.worked) = (true, true);
                }
            }
            (0x24, Some(_)) => {
                if let Some((region, since)) = self.loading.take()
                    && let Some(region) = self.regions.get_mut(region)
                {
                    region.configuring += cycle - since;
                }
                self.begins(cycle, true);
                if let Some(visit) = &mut self.visit {
                    visit.configured = true;
                }
            }
            _ => {}
        }
    }

    fn region_access(&mut self, cycle: u64, number: usize, register: u64, written: Option<u64>) {
        let (Some(region), Some(value)) = (self.regions.get_mut(number), written) else {
            return;
        };
        match register {
            0x08 => region.client = (value & 7) as usize,
            0x0c => {
                if let Some(visit) = &mut self.visit {
                    visit.worked = true;
                    visit.connects |= value & CONNECT != 0;
                    visit.preempts |= value & PREEMPT != 0;
                }
                self.before_take = (value & TAKE != 0).then_some(self.interfaces);
                if value & TAKE != 0 {
                    self.lose(cycle, number, false);
                }
                let Some(region) = self.regions.get(number) else {
                    return;
                };
                if value & CONNECT != 0 {
                    let client = region.client;
                    self.connect(cycle, client, number);
                }
            }
            0x20 if value & 1 != 0 => {
                self.begins(cycle, true);
                if let Some(visit) = &mut self.visit {
                    visit.stopped = true;
                }
                self.lose(cycle, number, true);
            }
            _ => {}
        }
    }

    /// A region's device loses it; its task was stopped, or had nothing to do.
    fn lose(&mut self, cycle: u64, number: usize, stopped: bool) {
        for interface in &mut self.interfaces {
            if interface.region != Some(number) {
                continue;
            }
            interface.region = None;
            match interface.since.take() {
                Some(since) if stopped => {
                    interface.before += cycle - since;
                    self.regions[number].computing += cycle - since;
                }
                Some(_) => {
                    interface.done_in = Some(number);
                    continue;
                }
                None => {}
            }
            if interface.asked {
                interface.waits = Some(cycle);
            }
        }
    }

    /// A computation is over, in which it computed for so many cycles of the fabric in all regions.
    fn result(&mut self, cycle: u64, number: usize, cycles: u64, watch: Watch) {
        let interface = &mut self.interfaces[number];
        let [harts, fabric] = watch.clocks_hz.map(u128::from);
        let all = u128::from(cycles) * harts / fabric.max(1);
        let here = (all as u64).saturating_sub(interface.before);
        if let (Some(since), Some(from)) = (interface.waits, self.from) {
            // When its region became its own was not seen: no later than it has begun.
            let waited = cycle.saturating_sub(since.max(from) + here);
            interface.longest = interface.longest.max(waited);
        }
        if let Some(region) = interface.region.or(interface.done_in) {
            self.regions[region].computing += here;
        }
        *interface = Interface {
            region: interface.region,
            longest: interface.longest,
            ..Interface::default()
        };
        self.results += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tactus_board::account::Doing;
    use tactus_board::privileged::Privilege;
    use tactus_board::timing::{Lines, Stalls};

    const FABRIC: u16 = 3;

    /// Two VMs, the manager first, whose harts are ten times as fast as the fabric.
    fn sharing() -> Sharing {
        let watch = Watch {
            manager: 0,
            real_time: 1,
            clocks_hz: [1000, 100],
        };
        Sharing::new(Some(watch), Some(FABRIC), 2)
    }

    fn event(sharing: &mut Sharing, cycle: u64, kind: EventKind) {
        sharing.event(&Event {
            cycle,
            hart: 0,
            stalls: Stalls::default(),
            lines: Lines::default(),
            kind,
        });
    }

    fn turn(sharing: &mut Sharing, cycle: u64, guest: Option<u16>) {
        let doing = Doing::Running {
            guest: guest.map(|vm| vm + 1),
            privilege: Privilege::Supervisor,
        };
        event(sharing, cycle, EventKind::Turn(doing));
    }

    fn access(sharing: &mut Sharing, cycle: u64, offset: u64, write: bool, value: u64) {
        let device = FABRIC;
        event(
            sharing,
            cycle,
            EventKind::Access {
                device,
                offset,
                write,
                value,
            },
        );
    }

    /// The VM asks, the manager assigns a region at once; then it is stopped there, and another region is configured
    /// for it.
    #[test]
    fn parts_are_what_the_registers_say() {
        let mut all = sharing();
        turn(&mut all, 0, Some(1));
        turn(&mut all, 100, None);
        access(&mut all, 105, 0x1_0008, true, 1);
        turn(&mut all, 110, Some(0));
        access(&mut all, 120, 0x0008, true, 1 << 16);
        access(&mut all, 125, 0x000c, false, 0x100);
        access(&mut all, 130, 0x2008, true, 0);
        access(&mut all, 131, 0x200c, true, CONNECT);
        access(&mut all, 132, 0x8004, false, 1);
        turn(&mut all, 140, None);
        turn(&mut all, 147, Some(1));
        let part = |all: &Sharing, part| (all.part(part).count, all.part(part).max);
        assert_eq!(part(&all, Part::Trap), (1, 10));
        assert_eq!(part(&all, Part::Search), (1, 15));
        assert_eq!(part(&all, Part::Assign), (1, 15));
        assert_eq!(part(&all, Part::Resume), (1, 7));
        assert_eq!(all.waited(0), Some(26));

        // It is stopped after 69 cycles, and another region is configured.
        turn(&mut all, 200, None);
        turn(&mut all, 204, Some(0));
        access(&mut all, 200, 0x2020, true, 1);
        access(&mut all, 210, 0x8004, false, 0);
        access(&mut all, 214, 0x1014, true, GO | 1);
        turn(&mut all, 220, None);
        turn(&mut all, 222, Some(1));
        assert_eq!(part(&all, Part::Stopped), (1, 6));
        assert_eq!(part(&all, Part::AssignConfigure), (1, 10));
        turn(&mut all, 300, None);
        turn(&mut all, 304, Some(0));
        access(&mut all, 305, 0x1024, true, 1);
        access(&mut all, 310, 0x3008, true, 0);
        access(&mut all, 312, 0x300c, true, CONNECT);
        turn(&mut all, 320, None);
        turn(&mut all, 321, Some(1));
        assert_eq!(part(&all, Part::Configured), (1, 16));
        assert_eq!(all.waited(0), Some(112));
        // It has computed for 9 cycles of the fabric in all.
        access(&mut all, 345, 0x1_0020, false, 9 << 32);
        assert_eq!(all.region(0), Some([240, 69, 0]));
        assert_eq!(all.region(1), Some([240, 21, 91]));
        assert_eq!(all.computations(), [1, 1]);
        assert_eq!(all.several().count, 0);
    }

    /// The region allocator gives a region, and takes it from a task that has not ended.
    #[test]
    fn what_the_allocator_does_shows_in_the_status() {
        let mut all = sharing();
        access(&mut all, 100, 0x1_0008, true, 1);
        access(&mut all, 130, 0x1_0004, false, 1 << 16 | STAT_CONNECTED);
        assert_eq!(all.interfaces[0].region, Some(1));
        assert_eq!(all.waited(0), Some(30));
        access(&mut all, 200, 0x1_0004, false, STAT_UNFINISHED);
        assert_eq!(all.interfaces[0].region, None);
        access(&mut all, 250, 0x1_0004, false, STAT_CONNECTED);
        assert_eq!(all.waited(0), Some(50));
        // It has computed for 9 cycles of the fabric in all.
        access(&mut all, 300, 0x1_0020, false, 9 << 32);
        assert_eq!(all.region(1), Some([200, 70, 0]));
        assert_eq!(all.region(0), Some([200, 20, 0]));
        // Another one's that is taken for done.
        access(&mut all, 310, 0x1_1004, false, STAT_CONNECTED);
        assert_eq!(all.interfaces[0].region, None);
    }

    /// A region that is refused in the end is given to no other device.
    #[test]
    fn what_is_refused_has_not_happened() {
        let mut all = sharing();
        access(&mut all, 10, 0x2008, true, 5);
        access(&mut all, 11, 0x200c, true, CONNECT);
        let before = all.clone();
        access(&mut all, 12, 0x200c, true, TAKE);
        assert_ne!(all.interfaces, before.interfaces);
        access(&mut all, 13, 0x2010, false, 1);
        assert_eq!(all.interfaces, before.interfaces);
    }
}
