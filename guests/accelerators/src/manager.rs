//! The device manager: the handling of each request, step by step.
//!
//! The paper's Figures 10 and 11, as a state machine whose state can be recovered. A VM's request is in its interface,
//! and the assignment of a region is in the region. Both outlive the manager: a new one
//! ([`Manager::begin`]) reads all of it there. Events only say where to look, so that a late, duplicate or spurious
//! event does no harm.
//!
//! Each event is one bounded piece of work, of at most [`OPERATIONS_MAX`] operations, and the most urgent is handled
//! first ([`Manager::next`]): so a real-time VM waits for at most one piece of work for a best-effort VM. Work in
//! progress for a lower priority is put aside: a region in transition is reassigned to the device with the higher
//! priority, and the other device waits again.

use crate::{
    Command, Descriptor, Fabric, Guests, INTERFACES, Interface, REGIONS, Signal, Solution, State,
    TASKS,
};

/// The most operations of [`Fabric`] and [`Guests`] in one event; a test checks it.
pub const OPERATIONS_MAX: u32 = 24;
/// Number of immediate searches after commands that came too late for a solution; then other events are handled
/// first.
const TRIES: u32 = 2;
/// The priority of a device during its turn: above that of every device.
const IN_TURN: u8 = u8::MAX;
/// Ticks after which a region that was not drained is checked again.
pub const RELEASE_TICKS: u64 = 10;

/// The virtual device at an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// The task; 1 to 7.
    pub task: u8,
    /// The priority of its VM, higher first; less than 255.
    pub priority: u8,
    /// Cycles of the fabric for which an unused region is held for it.
    pub hold: u32,
}

/// A turn prevents starvation: a device that has waited for `wait`, and does not have the highest priority of all,
/// gets a region before all others, and is not preempted there for `length`. One turn at a time, and one every `wait`
/// at most. In ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Waiting time after which a device has its turn.
    pub wait: u64,
    /// Time for which the device is not preempted.
    pub length: u64,
}

/// The manager's policy where the paper leaves a choice. Times in ticks.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// The regions that each task fits into, a bit each.
    pub fits: [u8; TASKS],
    /// Time for which each task may continue after it was told to stop: then it is killed, and its computation ends
    /// with error 14.
    pub stop: [u64; TASKS],
    /// Time after which a region that memory still owes an answer is left alone until it is drained.
    pub drain: u64,
    /// Time after which a waiting request ends with error 15; `None`: never.
    pub give_up: Option<u64>,
    /// Turns; `None`: a higher priority always has precedence.
    pub turn: Option<Turn>,
}

/// A reason to check the registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A VM has written to the page of a virtual device that has no region.
    Request(u8),
    /// A VM has cancelled its device's computation.
    Cancel(u8),
    /// A device's VM has ended, or restarts: its computation is dropped.
    Ended(u8),
    /// *IRQ_PRR_Stop*: a region's task has stopped.
    Stopped(u8),
    /// *IRQ_PCAP_Over*: a configuration has ended.
    Configured,
    /// *IRQ_New_Solution*: there is a region for a waiting request.
    Found,
    /// The time of [`Manager::deadline`] has been reached.
    Time,
}

/// Events that have not been handled; a bit for each interface or region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pending {
    /// [`Event::Request`].
    pub requests: u8,
    /// [`Event::Cancel`].
    pub cancels: u8,
    /// [`Event::Ended`].
    pub ended: u8,
    /// [`Event::Stopped`].
    pub stopped: u8,
    /// [`Event::Configured`].
    pub configured: bool,
    /// [`Event::Found`].
    pub found: bool,
}

/// Statistics of a device since the manager's start. Times in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Number of regions that it got.
    pub served: u64,
    /// Number of preemptions with an unfinished computation.
    pub preempted: u64,
    /// Requests that ended with an error.
    pub failed: u64,
    /// The longest time that it waited before it got a region.
    pub waited_max: u64,
}

/// State of a device's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Want {
    Nothing,
    /// It waits: in the monitor's list, or for [`Manager::again`].
    Waiting,
    /// This region is being prepared for it.
    Coming(u8),
}

/// State of the manager's work on a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// None: the region is its client's, or free.
    Rest,
    /// Its task, which is this one, has been told to stop.
    Stopping(u8),
    /// It is in Switch, and waits for the configuration port.
    Queued,
    /// It is being configured, with this task.
    Loading(u8),
    /// It is in Switch, and memory still owes an answer.
    Draining,
}

#[derive(Clone, Copy, Debug)]
struct Work {
    phase: Phase,
    /// The interface that gets the region; `None`: the most urgent waiting one at that time.
    target: Option<u8>,
    /// Start of this phase.
    since: u64,
    /// Time of the next check, unless an event occurs before.
    due: u64,
}

const REST: Work = Work {
    phase: Phase::Rest,
    target: None,
    since: 0,
    due: u64::MAX,
};

/// The current turn, or the last one.
#[derive(Clone, Copy, Debug)]
struct InTurn {
    /// The device; `None`: the turn is over.
    interface: Option<u8>,
    /// The earliest start of the next turn.
    next: u64,
    /// Its region and its end, once it has a region.
    at: Option<(u8, u64)>,
}

/// The device manager's decisions.
#[derive(Clone, Debug)]
pub struct Manager {
    policy: Policy,
    devices: [Option<Device>; INTERFACES],
    regions: u8,
    wants: [Want; INTERFACES],
    /// Start of each interface's wait.
    since: [u64; INTERFACES],
    works: [Work; REGIONS],
    /// Interfaces whose request is to be searched for again.
    again: u8,
    /// Interfaces that have been sent Wait, and no other signal since.
    told: u8,
    turn: Option<InTurn>,
    statistics: [Statistics; INTERFACES],
}

const fn bit(number: u8) -> u8 {
    1 << number
}

/// The numbers of the bits that are set.
fn bits(mut mask: u8) -> impl Iterator<Item = u8> {
    core::iter::from_fn(move || {
        let number = (mask != 0).then(|| mask.trailing_zeros() as u8);
        mask &= mask.wrapping_sub(1);
        number
    })
}

impl Manager {
    /// Creates a manager of these devices and the first `regions` regions, at most [`REGIONS`]. It does nothing before
    /// [`Manager::begin`].
    pub const fn new(policy: Policy, devices: [Option<Device>; INTERFACES], regions: u8) -> Self {
        assert!(regions as usize <= REGIONS);
        Self {
            policy,
            devices,
            regions,
            wants: [Want::Nothing; INTERFACES],
            since: [0; INTERFACES],
            works: [REST; REGIONS],
            again: 0,
            told: 0,
            turn: None,
            statistics: [Statistics {
                served: 0,
                preempted: 0,
                failed: 0,
                waited_max: 0,
            }; INTERFACES],
        }
    }

    /// Starts, after reset or after a manager that has crashed at any point. Requests keep their priority; their
    /// arrival is now.
    pub fn begin<W: Fabric + Guests>(&mut self, world: &mut W, now: u64) {
        world.set_compatibility(&self.policy.fits);
        for interface in 0..INTERFACES as u8 {
            world.withdraw(interface);
        }
        // Asked first: a configuration of this manager's port that ends meanwhile is noticed by its interrupt.
        let is_configuring = world.is_configuring();
        for region in 0..self.regions {
            let descriptor = world.region(region);
            match descriptor.state {
                State::Idle | State::Busy | State::Hold => {
                    let device = self.device(descriptor.client);
                    let own = device.map_or(0, |device| device.priority);
                    if descriptor.connected && descriptor.priority != own {
                        // It was in its turn, which is over.
                        self.turn = Some(InTurn {
                            interface: Some(descriptor.client),
                            next: now,
                            at: Some((region, now)),
                        });
                    }
                }
                State::Preempt => self.set_stopping(world, region, descriptor.loaded),
                // Otherwise the region allocator has it.
                State::Reconfig if is_configuring => {
                    self.set_phase(region, Phase::Loading(0), now);
                }
                State::Reconfig => {}
                State::Switch => self.release(world, region, now),
            }
        }
        for interface in 0..INTERFACES as u8 {
            if self.device(interface).is_none() {
                continue;
            }
            let state = world.interface(interface);
            if state.connected {
                // A region that was connected just before the last manager crashed.
                world.permit(interface, true);
                self.resume(world, interface, state);
            } else {
                self.lose(world, interface, now);
            }
        }
    }

    /// Takes the most urgent event from `pending`; `None`: there is no work before
    /// [`Manager::deadline`].
    pub fn next(&self, pending: &mut Pending, now: u64) -> Option<Event> {
        if self.deadline().is_some_and(|deadline| deadline <= now) {
            return Some(Event::Time);
        }
        let waiting = || self.most_urgent(|want| want == Want::Waiting);
        let mut best: Option<(u8, Event)> = None;
        let mut offer = |level: u8, event: Event| {
            if best.is_none_or(|(other, _)| level > other) {
                best = Some((level, event));
            }
        };
        for region in bits(pending.stopped) {
            let target = self.work(region).target;
            let level = target.map_or_else(waiting, |interface| self.level(interface));
            offer(level, Event::Stopped(region));
        }
        if pending.configured {
            let coming = self.most_urgent(|want| matches!(want, Want::Coming(_)));
            offer(coming.max(waiting()), Event::Configured);
        }
        if pending.found {
            offer(waiting(), Event::Found);
        }
        for interface in bits(pending.requests | self.again) {
            offer(self.level(interface), Event::Request(interface));
        }
        for interface in bits(pending.cancels) {
            offer(self.level(interface), Event::Cancel(interface));
        }
        for interface in bits(pending.ended) {
            offer(self.level(interface), Event::Ended(interface));
        }
        let (_, event) = best?;
        match event {
            Event::Request(interface) => pending.requests &= !bit(interface),
            Event::Cancel(interface) => pending.cancels &= !bit(interface),
            Event::Ended(interface) => pending.ended &= !bit(interface),
            Event::Stopped(region) => pending.stopped &= !bit(region),
            Event::Configured => pending.configured = false,
            Event::Found => pending.found = false,
            Event::Time => {}
        }
        Some(event)
    }

    /// Handles an event; a spurious one does no harm.
    pub fn handle<W: Fabric + Guests>(&mut self, world: &mut W, event: Event, now: u64) {
        match event {
            Event::Request(interface) => self.requested(world, interface, now),
            Event::Cancel(interface) => self.cancelled(world, interface),
            Event::Ended(interface) => self.ended(world, interface, now),
            Event::Stopped(region) => self.stopped(world, region, now),
            Event::Configured => self.configured(world, now),
            Event::Found => self.found(world, now),
            Event::Time => self.timed(world, now),
        }
    }

    /// The time at which [`Event::Time`] is due, in ticks.
    pub fn deadline(&self) -> Option<u64> {
        let works = self.works.iter().map(|work| work.due).min();
        let works = works.filter(|&due| due != u64::MAX);
        // The rest concerns waiting interfaces.
        if self.wants.iter().all(|&want| want != Want::Waiting) {
            return works;
        }
        let waits = (0..INTERFACES as u8)
            .filter(|&interface| self.is_waiting(interface))
            .flat_map(|interface| {
                let since = self.since[usize::from(interface)];
                let give_up = self.policy.give_up.map(|time| since + time);
                [give_up, self.turn_deadline(interface)]
            })
            .flatten();
        waits.chain(works).chain(self.turn_end()).min()
    }

    /// The interfaces, a bit each, whose VMs' requests would be new: those without a request in progress.
    pub fn listens(&self) -> u8 {
        let idle = (0..INTERFACES as u8)
            .filter(|&i| self.device(i).is_some() && self.wants[usize::from(i)] == Want::Nothing);
        idle.fold(0, |all, interface| all | bit(interface))
    }

    /// The region that is being prepared for an interface.
    pub fn on_its_way(&self, interface: u8) -> Option<u8> {
        match self.wants.get(usize::from(interface)) {
            Some(&Want::Coming(region)) => Some(region),
            _ => None,
        }
    }

    /// Statistics of an interface.
    pub fn statistics(&self, interface: u8) -> Statistics {
        self.statistics
            .get(usize::from(interface))
            .copied()
            .unwrap_or_default()
    }

    // Requests of devices.

    fn device(&self, interface: u8) -> Option<Device> {
        self.devices.get(usize::from(interface)).copied().flatten()
    }

    fn is_waiting(&self, interface: u8) -> bool {
        self.wants.get(usize::from(interface)) == Some(&Want::Waiting)
    }

    /// The effective priority of a device: its VM's, or one above all during its turn.
    fn level(&self, interface: u8) -> u8 {
        let own = self.device(interface).map_or(0, |device| device.priority);
        match self.turn {
            Some(turn) if turn.interface == Some(interface) => IN_TURN,
            _ => own,
        }
    }

    /// The highest priority of all devices.
    fn top(&self) -> u8 {
        let priorities = self.devices.iter().flatten().map(|device| device.priority);
        priorities.max().unwrap_or(0)
    }

    fn most_urgent(&self, which: impl Fn(Want) -> bool) -> u8 {
        let interfaces = (0..INTERFACES as u8).filter(|&i| which(self.wants[usize::from(i)]));
        interfaces.map(|i| self.level(i)).max().unwrap_or(0)
    }

    fn work(&self, region: u8) -> Work {
        self.works.get(usize::from(region)).copied().unwrap_or(REST)
    }

    /// A region's task has just been told to stop: its time starts now, and not at the start of the event that has
    /// led here.
    fn set_stopping(&mut self, fabric: &mut impl Fabric, region: u8, task: u8) {
        // Rounded up: the current time is within this tick.
        let now = fabric.now() + 1;
        self.set_phase(region, Phase::Stopping(task), now);
    }

    fn set_phase(&mut self, region: u8, phase: Phase, now: u64) {
        let work = &mut self.works[usize::from(region)];
        work.phase = phase;
        work.since = now;
        work.due = match phase {
            Phase::Stopping(task) => {
                now.saturating_add(self.policy.stop[usize::from(task) % TASKS])
            }
            Phase::Draining => now + RELEASE_TICKS,
            Phase::Rest | Phase::Queued | Phase::Loading(_) => u64::MAX,
        };
    }

    fn assign(&mut self, region: u8, interface: u8) {
        self.works[usize::from(region)].target = Some(interface);
        self.wants[usize::from(interface)] = Want::Coming(region);
        self.again &= !bit(interface);
    }

    /// Makes a device wait, and marks its request to be searched for again.
    fn wait_again(&mut self, interface: u8) {
        self.wants[usize::from(interface)] = Want::Waiting;
        self.again |= bit(interface);
    }

    fn fits(&self, task: u8, region: u8) -> bool {
        region < self.regions && self.policy.fits[usize::from(task) % TASKS] & bit(region) != 0
    }

    fn is_loading(&self) -> bool {
        self.works
            .iter()
            .any(|work| matches!(work.phase, Phase::Loading(_)))
    }

    // Requests.

    /// `Run_Solution()`.
    fn requested<W: Fabric + Guests>(&mut self, world: &mut W, interface: u8, now: u64) {
        let is_again = self.again & bit(interface) != 0;
        self.again &= !bit(interface);
        let Some(device) = self.device(interface) else {
            return;
        };
        if !is_again {
            if self.wants[usize::from(interface)] != Want::Nothing {
                return;
            }
            self.since[usize::from(interface)] = now;
        }
        if world.interface(interface).connected {
            return self.is_served(world, interface);
        }
        self.wants[usize::from(interface)] = Want::Waiting;
        for _ in 0..TRIES {
            match world.request(interface, device.task, self.level(interface)) {
                Solution::Assign(region) | Solution::Preempt(region) => {
                    if self.take(world, interface, region, now) {
                        return self.tell_to_wait(world, interface);
                    }
                }
                Solution::Unavailable => {
                    self.put_aside(world, interface, now);
                    return self.tell_to_wait(world, interface);
                }
                Solution::NoRoom => break,
            }
        }
        self.wait_again(interface);
    }

    /// The region allocator has given the interface a region.
    fn is_served<W: Fabric + Guests>(&mut self, world: &mut W, interface: u8) {
        if self.wants[usize::from(interface)] == Want::Waiting {
            world.withdraw(interface);
        }
        self.wants[usize::from(interface)] = Want::Nothing;
        self.again &= !bit(interface);
        if self.told & bit(interface) != 0 {
            self.told &= !bit(interface);
            world.signal(interface, Signal::Ready);
        }
    }

    fn tell_to_wait(&mut self, world: &mut impl Guests, interface: u8) {
        let waits = self.wants[usize::from(interface)] != Want::Nothing;
        if waits && self.told & bit(interface) == 0 {
            self.told |= bit(interface);
            world.signal(interface, Signal::Wait);
        }
    }

    /// Takes a region for an interface, if it is idle or computes for a lower priority. `false`: it no longer is.
    fn take<W: Fabric + Guests>(
        &mut self,
        world: &mut W,
        interface: u8,
        region: u8,
        now: u64,
    ) -> bool {
        if matches!(self.work(region).phase, Phase::Loading(_)) {
            // It is free: its bitstream was refused, and its interface has not been notified yet.
            self.configured(world, now);
        }
        let descriptor = world.region(region);
        match descriptor.state {
            State::Idle if world.command(region, Command::Take) => {
                self.assign(region, interface);
                // The region allocator may have given it to another client before it was taken.
                let client = world.region(region).client;
                if descriptor.connected || client != descriptor.client {
                    self.lose(world, client, now);
                }
                self.prepare(world, region, now);
                true
            }
            State::Busy if world.command(region, Command::Preempt) => {
                self.assign(region, interface);
                self.set_stopping(world, region, descriptor.loaded);
                true
            }
            _ => false,
        }
    }

    /// Without a region for an interface: reassigns one that is being prepared for a lower priority, or that a device
    /// has had for a whole turn.
    fn put_aside<W: Fabric + Guests>(&mut self, world: &mut W, interface: u8, now: u64) {
        let Some(device) = self.device(interface) else {
            return;
        };
        let level = self.level(interface);
        let candidates = (0..self.regions).filter(|&region| self.fits(device.task, region));
        // The region that is available earliest; among equal ones the smaller.
        let best = candidates
            .filter_map(|region| {
                let work = self.work(region);
                let wait = match work.phase {
                    Phase::Rest => None,
                    Phase::Queued => Some(0),
                    Phase::Draining => Some(1),
                    Phase::Stopping(_) => Some(2),
                    Phase::Loading(_) => Some(3),
                };
                let lower = work.target.is_some_and(|target| self.level(target) < level);
                wait.filter(|_| lower).map(|wait| (wait, region))
            })
            .min();
        if let Some((_, region)) = best {
            if let Some(other) = self.work(region).target {
                self.wait_again(other);
            }
            world.withdraw(interface);
            self.assign(region, interface);
            if matches!(self.work(region).phase, Phase::Queued | Phase::Draining) {
                self.prepare(world, region, now);
            }
            return;
        }
        let Some((other, region)) = self.overdue(now) else {
            return;
        };
        let Some(own) = self.device(other) else {
            return;
        };
        if own.priority < level
            && self.fits(device.task, region)
            && self.work(region).phase == Phase::Rest
            && world.command(region, Command::Preempt)
        {
            world.withdraw(interface);
            self.assign(region, interface);
            self.set_stopping(world, region, own.task);
        }
    }

    /// An interface has lost its region: its VM may not write any more, and its unfinished computation waits.
    fn lose<W: Fabric + Guests>(&mut self, world: &mut W, interface: u8, now: u64) {
        if self.device(interface).is_none() {
            return;
        }
        self.end_turn(interface);
        world.permit(interface, false);
        world.save(interface);
        // Everything written until the page was closed is visible.
        let state = world.interface(interface);
        if state.unfinished {
            self.statistics[usize::from(interface)].preempted += 1;
            self.told |= bit(interface);
            world.signal(interface, Signal::Preempt);
        }
        if state.unfinished || state.asked {
            self.since[usize::from(interface)] = now;
            self.wait_again(interface);
        }
    }

    /// Ends a request with an error, or because it was cancelled.
    fn end(&mut self, world: &mut impl Fabric, interface: u8) {
        self.wants[usize::from(interface)] = Want::Nothing;
        self.again &= !bit(interface);
        self.told &= !bit(interface);
        self.end_turn(interface);
        world.fail(interface);
    }

    fn cancelled<W: Fabric + Guests>(&mut self, world: &mut W, interface: u8) {
        if self.device(interface).is_none() {
            return;
        }
        match self.wants[usize::from(interface)] {
            Want::Nothing => {}
            Want::Waiting => world.withdraw(interface),
            Want::Coming(region) => {
                let work = &mut self.works[usize::from(region)];
                work.target = None;
                if matches!(work.phase, Phase::Queued) {
                    *work = REST;
                    world.command(region, Command::Release);
                }
            }
        }
        self.end(world, interface);
    }

    /// Drops the request of a VM that has ended, and kills its computation. An idle region stays connected
    /// until a device requests it.
    fn ended<W: Fabric + Guests>(&mut self, world: &mut W, interface: u8, now: u64) {
        if self.wants[usize::from(interface)] != Want::Nothing {
            self.cancelled(world, interface);
        }
        let has = |descriptor: Descriptor| descriptor.connected && descriptor.client == interface;
        let Some(region) = (0..self.regions).find(|&region| has(world.region(region))) else {
            return;
        };
        if world.command(region, Command::Kill) {
            // Also a computation requested behind that one.
            world.fail(interface);
            self.vacated(world, region, now);
        } else {
            // The hypervisor has closed the page.
            world.permit(interface, true);
        }
    }

    // Regions.

    /// Prepares a region in Switch for an interface: connects it, or starts its configuration.
    fn prepare<W: Fabric + Guests>(&mut self, world: &mut W, region: u8, now: u64) {
        let target = self.work(region).target;
        let Some((interface, device)) = target.and_then(|i| Some((i, self.device(i)?))) else {
            return self.release(world, region, now);
        };
        let descriptor = world.region(region);
        if descriptor.loaded != device.task {
            self.set_phase(region, Phase::Queued, now);
            return self.feed_port(world, now);
        }
        if !descriptor.drained {
            if self.work(region).phase != Phase::Draining {
                self.set_phase(region, Phase::Draining, now);
            }
            return;
        }
        self.works[usize::from(region)] = REST;
        if !world.restore(interface) {
            self.statistics[usize::from(interface)].failed += 1;
            self.end(world, interface);
            world.command(region, Command::Release);
            return;
        }
        world.set_client(region, interface, self.level(interface), device.hold);
        if !world.command(region, Command::Connect) {
            // The interface has another region, from the region allocator: that is found when the request is made
            // again.
            world.command(region, Command::Release);
            self.wait_again(interface);
            return;
        }
        self.connected(world, interface, region, now);
    }

    fn connected<W: Fabric + Guests>(
        &mut self,
        world: &mut W,
        interface: u8,
        region: u8,
        now: u64,
    ) {
        self.wants[usize::from(interface)] = Want::Nothing;
        let waited = now.saturating_sub(self.since[usize::from(interface)]);
        let statistics = &mut self.statistics[usize::from(interface)];
        statistics.served += 1;
        statistics.waited_max = statistics.waited_max.max(waited);
        if let (Some(turn), Some(rule)) = (&mut self.turn, self.policy.turn)
            && turn.interface == Some(interface)
        {
            turn.at = Some((region, now + rule.length));
        }
        world.permit(interface, true);
        let state = world.interface(interface);
        self.resume(world, interface, state);
        if self.told & bit(interface) != 0 {
            self.told &= !bit(interface);
            world.signal(interface, Signal::Ready);
        }
    }

    fn resume(&mut self, world: &mut impl Fabric, interface: u8, state: Interface) {
        if state.unfinished && !state.running {
            world.resume(interface);
        }
    }

    /// Cancels the assignment of a region in Switch: the most urgent interface that waits then gets it.
    fn release<W: Fabric + Guests>(&mut self, world: &mut W, region: u8, now: u64) {
        if world.region(region).drained {
            self.works[usize::from(region)] = REST;
            world.command(region, Command::Release);
        } else if self.work(region).phase != Phase::Draining {
            self.set_phase(region, Phase::Draining, now);
        }
    }

    /// Assigns the configuration port, when it is free, to the most urgent region that waits for it.
    fn feed_port<W: Fabric + Guests>(&mut self, world: &mut W, now: u64) {
        if self.is_loading() || world.is_configuring() {
            return;
        }
        let queued = (0..self.regions).filter_map(|region| {
            let work = self.work(region);
            let target = work.target.filter(|_| work.phase == Phase::Queued)?;
            let device = self.device(target)?;
            let order = (self.level(target), core::cmp::Reverse(work.since));
            Some((order, region, device.task))
        });
        if let Some((_, region, task)) = queued.max_by_key(|&(order, ..)| order) {
            self.set_phase(region, Phase::Loading(task), now);
            world.configure(region, task);
        }
    }

    /// The service routine of *IRQ_PRR_Stop*.
    fn stopped<W: Fabric + Guests>(&mut self, world: &mut W, region: u8, now: u64) {
        let is_stopping = matches!(self.work(region).phase, Phase::Stopping(_));
        if is_stopping && world.region(region).state == State::Switch {
            self.vacated(world, region, now);
        }
    }

    /// A region has changed to Switch from its client.
    fn vacated<W: Fabric + Guests>(&mut self, world: &mut W, region: u8, now: u64) {
        let client = world.region(region).client;
        self.lose(world, client, now);
        self.set_phase(region, Phase::Rest, now);
        self.prepare(world, region, now);
    }

    /// The service routine of *IRQ_PCAP_Over*.
    fn configured<W: Fabric + Guests>(&mut self, world: &mut W, now: u64) {
        let loading = (0..self.regions).find_map(|region| match self.work(region).phase {
            Phase::Loading(task) => Some((region, task)),
            _ => None,
        });
        if let Some((region, task)) = loading {
            if world.is_configuring() {
                return;
            }
            match world.region(region).state {
                State::Switch => {
                    self.set_phase(region, Phase::Rest, now);
                    self.prepare(world, region, now);
                }
                // The bitstream was refused, and the region is free.
                State::Idle => {
                    let target = self.work(region).target;
                    self.works[usize::from(region)] = REST;
                    if let Some(interface) = target {
                        self.refused(world, interface, task);
                    }
                }
                // The region allocator works at the region, or has given it to another device.
                _ => {
                    let target = self.work(region).target;
                    self.works[usize::from(region)] = REST;
                    if let Some(interface) = target {
                        self.wait_again(interface);
                    }
                }
            }
        }
        self.feed_port(world, now);
    }

    /// Handles a refused bitstream of a task, for a region that was being prepared for an interface.
    fn refused(&mut self, world: &mut impl Fabric, interface: u8, task: u8) {
        if self
            .device(interface)
            .is_some_and(|device| device.task == task)
        {
            self.statistics[usize::from(interface)].failed += 1;
            self.end(world, interface);
        } else {
            // The configuration was started for another interface.
            self.wait_again(interface);
        }
    }

    /// The service routine of *IRQ_New_Solution*.
    fn found<W: Fabric + Guests>(&mut self, world: &mut W, now: u64) {
        let Some(found) = world.found() else {
            return;
        };
        if !self.is_waiting(found.interface) || found.region >= self.regions {
            world.withdraw(found.interface);
        } else if world.interface(found.interface).connected {
            self.is_served(world, found.interface);
        } else if self.take(world, found.interface, found.region, now) {
            self.again &= !bit(found.interface);
            world.withdraw(found.interface);
        } else {
            // The region has changed since the monitor found it, and may still be suitable, of which the monitor sends
            // no notice.
            self.again |= bit(found.interface);
        }
    }

    // Time.

    /// The time at which a waiting device has its turn.
    fn turn_deadline(&self, interface: u8) -> Option<u64> {
        let rule = self.policy.turn?;
        if self.device(interface)?.priority == self.top() {
            return None;
        }
        let after = match self.turn {
            None => 0,
            Some(InTurn {
                interface: None,
                next,
                ..
            }) => next,
            Some(InTurn {
                at: Some((_, end)),
                next,
                ..
            }) => next.max(end),
            // It is waiting for its region.
            Some(_) => return None,
        };
        Some(after.max(self.since[usize::from(interface)] + rule.wait))
    }

    /// The interface that has had a region for a whole turn and still has it, and the region.
    fn overdue(&self, now: u64) -> Option<(u8, u8)> {
        let turn = self.turn?;
        let (region, end) = turn.at?;
        turn.interface
            .filter(|_| end <= now)
            .map(|interface| (interface, region))
    }

    /// The most urgent interface that waits for the end of a turn.
    fn awaits_turn_end(&self) -> Option<u8> {
        let turn = self.turn?;
        let (region, _) = turn.at?;
        let own = self.device(turn.interface?)?.priority;
        if self.work(region).phase != Phase::Rest {
            return None;
        }
        let waiting = (0..INTERFACES as u8).filter(|&i| {
            let device = self.device(i);
            let fits = device.is_some_and(|device| self.fits(device.task, region));
            self.is_waiting(i) && self.level(i) > own && fits
        });
        waiting.max_by_key(|&i| self.level(i))
    }

    fn turn_end(&self) -> Option<u64> {
        self.awaits_turn_end()?;
        self.turn?.at.map(|(_, end)| end)
    }

    fn end_turn(&mut self, interface: u8) {
        if let Some(turn) = &mut self.turn
            && turn.interface == Some(interface)
        {
            turn.interface = None;
            turn.at = None;
        }
    }

    /// Reclaims the region from an interface that has had it for a whole turn. `false`: not possible yet.
    fn evict<W: Fabric + Guests>(&mut self, world: &mut W, region: u8, now: u64) -> bool {
        if self.work(region).phase != Phase::Rest {
            return true;
        }
        let descriptor = world.region(region);
        match descriptor.state {
            State::Busy if world.command(region, Command::Preempt) => {
                self.set_stopping(world, region, descriptor.loaded);
                true
            }
            State::Idle if world.command(region, Command::Take) => {
                self.lose(world, descriptor.client, now);
                self.release(world, region, now);
                true
            }
            _ => false,
        }
    }

    /// Handles one due deadline.
    fn timed<W: Fabric + Guests>(&mut self, world: &mut W, now: u64) {
        let is_due = |time: Option<u64>| time.is_some_and(|time| time <= now);
        if let Some(region) = (0..self.regions).find(|&region| self.work(region).due <= now) {
            return match self.work(region).phase {
                Phase::Stopping(_) => self.kill(world, region, now),
                _ => self.drain(world, region, now),
            };
        }
        let waiting = (0..INTERFACES as u8).filter(|&interface| self.is_waiting(interface));
        let due = waiting.filter_map(|interface| {
            let since = self.since[usize::from(interface)];
            let gives_up = is_due(self.policy.give_up.map(|time| since + time));
            (gives_up || is_due(self.turn_deadline(interface))).then_some((interface, gives_up))
        });
        // The one that has waited longest.
        if let Some((interface, gives_up)) =
            due.min_by_key(|(interface, _)| self.since[usize::from(*interface)])
        {
            return if gives_up {
                self.statistics[usize::from(interface)].failed += 1;
                world.withdraw(interface);
                self.end(world, interface);
            } else {
                self.begin_turn(world, interface, now);
            };
        }
        if is_due(self.turn_end())
            && let Some(interface) = self.awaits_turn_end()
        {
            self.put_aside(world, interface, now);
            if self.is_waiting(interface) {
                self.postpone(now);
            }
        }
    }

    /// The region of a turn is held now: it is checked again later.
    fn postpone(&mut self, now: u64) {
        if let Some((_, end)) = self.turn.as_mut().and_then(|turn| turn.at.as_mut()) {
            *end = now + RELEASE_TICKS;
        }
    }

    fn begin_turn<W: Fabric + Guests>(&mut self, world: &mut W, interface: u8, now: u64) {
        let Some(rule) = self.policy.turn else {
            return;
        };
        if let Some((_, region)) = self.overdue(now)
            && !self.evict(world, region, now)
        {
            return self.postpone(now);
        }
        self.turn = Some(InTurn {
            interface: Some(interface),
            next: now + rule.wait,
            at: None,
        });
        // With the highest priority now.
        self.again |= bit(interface);
    }

    /// Kills a task that has been told to stop and did not.
    fn kill<W: Fabric + Guests>(&mut self, world: &mut W, region: u8, now: u64) {
        // Refused if the task has just stopped.
        world.command(region, Command::Kill);
        if world.region(region).state == State::Switch {
            return self.vacated(world, region, now);
        }
        let target = self.work(region).target;
        self.works[usize::from(region)] = REST;
        if let Some(interface) = target {
            self.wait_again(interface);
        }
    }

    /// Checks a region that was not drained.
    fn drain<W: Fabric + Guests>(&mut self, world: &mut W, region: u8, now: u64) {
        let drain = self.policy.drain;
        let work = &mut self.works[usize::from(region)];
        let so_far = now.saturating_sub(work.since);
        // The interval of checks grows while memory does not answer.
        let next = if so_far < drain { 0 } else { so_far };
        work.due = now + next.max(RELEASE_TICKS);
        let target = work.target;
        if target.is_some() && so_far >= drain {
            work.target = None;
            if let Some(interface) = target {
                self.wait_again(interface);
            }
        } else {
            self.prepare(world, region, now);
        }
    }
}
