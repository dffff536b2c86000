//! The device manager: what is done about each request, step by step.
//!
//! The paper's Figures 10 and 11, as a state machine without a state that must not be lost. What a VM has asked for is
//! in its interface, who has a region is in the region, and both outlive the manager: one that begins
//! ([`Manager::begin`]) finds all of it there. Events only tell where to look, so that one that is late, doubled or
//! never happened does no harm.
//!
//! Each event is one bounded piece of work, of at most [`OPERATIONS_MAX`] operations, and the most urgent is first
//! ([`Manager::next`]): so work for a best-effort VM keeps a real-time one waiting for one piece of it. What has been
//! begun for a lower priority is put aside: a region in transition is reassigned to the device with the higher
//! priority, and the other waits again.

use crate::{
    Command, Descriptor, Fabric, Guests, INTERFACES, Interface, REGIONS, Signal, Solution, State,
    TASKS,
};

/// The most operations of [`Fabric`] and [`Guests`] that one event leads to; a test holds it.
pub const OPERATIONS_MAX: u32 = 24;
/// How often a command that came too late for one solution is followed by another search at once; then other events
/// come first.
const TRIES: u32 = 2;
/// The priority of a device in its turn: above that of every device.
const IN_TURN: u8 = u8::MAX;
/// Ticks after which a region that was not drained is looked at again.
pub const RELEASE_TICKS: u64 = 10;

/// What stands behind an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// The task; 1 to 7.
    pub task: u8,
    /// The priority of its VM, higher first; less than 255.
    pub priority: u8,
    /// For how many cycles of the fabric a region is held for it without being used.
    pub hold: u32,
}

/// A turn prevents starvation: a device that has waited for `wait`, and is not of the highest priority that there is,
/// gets a region before all others, and is not preempted there for `length`. One at a time, and one every `wait` at
/// most. In ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// After so long without a region it has its turn.
    pub wait: u64,
    /// Time for which it is not preempted.
    pub length: u64,
}

/// What the manager does where the paper leaves a choice. Times in ticks.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// Which regions each task fits into, a bit each.
    pub fits: [u8; TASKS],
    /// For how long each task may continue when it has been told to stop: then it is killed, and its computation ends
    /// with error 14.
    pub stop: [u64; TASKS],
    /// A region that memory still owes an answer after so long is left alone until it does not.
    pub drain: u64,
    /// A request that has waited for so long ends with error 15; `None`: none does.
    pub give_up: Option<u64>,
    /// Turns; `None`: a higher priority always comes first.
    pub turn: Option<Turn>,
}

/// Something to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A VM has written to the page of a virtual device that has no region.
    Request(u8),
    /// A VM does not want its device's computation any more.
    Cancel(u8),
    /// A device's VM has ended, or restarts: its computation is dropped.
    Ended(u8),
    /// *IRQ_PRR_Stop*: a region's task has stopped.
    Stopped(u8),
    /// *IRQ_PCAP_Over*: a configuration is over.
    Configured,
    /// *IRQ_New_Solution*: there is a region for a request that waits.
    Found,
    /// The time of [`Manager::deadline`] has come.
    Time,
}

/// Events that have come and have not been handled; a bit for each interface or region.
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

/// What a device has met so far, since the manager began. Times in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Times that it got a region.
    pub served: u64,
    /// Times that its region was taken with a computation unfinished.
    pub preempted: u64,
    /// Requests that ended with an error.
    pub failed: u64,
    /// The longest that it waited for a region and got it.
    pub waited_max: u64,
}

/// What is being done for a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Want {
    Nothing,
    /// It waits: in the monitor's list, or for [`Manager::again`].
    Waiting,
    /// This region is on its way to it.
    Coming(u8),
}

/// What is being done with a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing: its client's, or free.
    Rest,
    /// Its task, which is this one, has been told to stop.
    Stopping(u8),
    /// It is in Switch, and its turn at the configuration port has not come.
    Queued,
    /// It is being configured, with this task.
    Loading(u8),
    /// It is in Switch, and memory still owes an answer.
    Draining,
}

#[derive(Clone, Copy, Debug)]
struct Work {
    phase: Phase,
    /// The interface that gets the region; `None`: the most urgent one that waits then.
    target: Option<u8>,
    /// Since when it is in this phase.
    since: u64,
    /// When to look at it, if nothing happens before.
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
    /// `None`: it is over.
    interface: Option<u8>,
    /// When the next one may begin.
    next: u64,
    /// Its region and its end, when it has one.
    at: Option<(u8, u64)>,
}

/// The device manager's decisions.
#[derive(Clone, Debug)]
pub struct Manager {
    policy: Policy,
    devices: [Option<Device>; INTERFACES],
    regions: u8,
    wants: [Want; INTERFACES],
    /// Since when each has been waiting.
    since: [u64; INTERFACES],
    works: [Work; REGIONS],
    /// Those whose request is to be searched for again.
    again: u8,
    /// Those that have been told to wait, and not yet that they need not.
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
    /// A manager of these devices and the first `regions` regions, at most [`REGIONS`]. Nothing is done before
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

    /// Begins, after reset or after a manager that has died anywhere in its work. Requests keep their priority; their
    /// arrival is now.
    pub fn begin<W: Fabric + Guests>(&mut self, world: &mut W, now: u64) {
        world.set_compatibility(&self.policy.fits);
        for interface in 0..INTERFACES as u8 {
            world.withdraw(interface);
        }
        for region in 0..self.regions {
            let descriptor = world.region(region);
            match descriptor.state {
                State::Idle | State::Busy | State::Hold => {
                    let device = self.device(descriptor.client);
                    let own = device.map_or(0, |device| device.priority);
                    if descriptor.connected && descriptor.priority != own {
                        // It was having its turn, which is over.
                        self.turn = Some(InTurn {
                            interface: Some(descriptor.client),
                            next: now,
                            at: Some((region, now)),
                        });
                    }
                }
                State::Preempt => self.set_stopping(world, region, descriptor.loaded),
                State::Reconfig => self.set_phase(region, Phase::Loading(0), now),
                State::Switch => self.release(world, region, now),
            }
        }
        for interface in 0..INTERFACES as u8 {
            if self.device(interface).is_none() {
                continue;
            }
            let state = world.interface(interface);
            if state.connected {
                // What had just been connected when the last manager died.
                world.permit(interface, true);
                self.resume(world, interface, state);
            } else {
                self.lose(world, interface, now);
            }
        }
    }

    /// The most urgent of the events, which is not pending any more; `None`: there is nothing to do before
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

    /// Handles an event, which need not have happened.
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

    /// When [`Event::Time`] is due, in ticks.
    pub fn deadline(&self) -> Option<u64> {
        let works = self.works.iter().map(|work| work.due).min();
        let works = works.filter(|&due| due != u64::MAX);
        // What follows is for those that wait.
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

    /// The interfaces, a bit each, whose VMs' requests would be news: those for which nothing is being done.
    pub fn listens(&self) -> u8 {
        let idle = (0..INTERFACES as u8)
            .filter(|&i| self.device(i).is_some() && self.wants[usize::from(i)] == Want::Nothing);
        idle.fold(0, |all, interface| all | bit(interface))
    }

    /// The region that is on its way to an interface.
    pub fn on_its_way(&self, interface: u8) -> Option<u8> {
        match self.wants.get(usize::from(interface)) {
            Some(&Want::Coming(region)) => Some(region),
            _ => None,
        }
    }

    /// What an interface has met.
    pub fn statistics(&self, interface: u8) -> Statistics {
        self.statistics
            .get(usize::from(interface))
            .copied()
            .unwrap_or_default()
    }

    // Who wants what.

    fn device(&self, interface: u8) -> Option<Device> {
        self.devices.get(usize::from(interface)).copied().flatten()
    }

    fn is_waiting(&self, interface: u8) -> bool {
        self.wants.get(usize::from(interface)) == Some(&Want::Waiting)
    }

    /// The priority by which a device is served: its VM's, or one above all while it has its turn.
    fn level(&self, interface: u8) -> u8 {
        let own = self.device(interface).map_or(0, |device| device.priority);
        match self.turn {
            Some(turn) if turn.interface == Some(interface) => IN_TURN,
            _ => own,
        }
    }

    /// The highest priority of all.
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

    /// A region's task has just been told to stop: its time begins now, and not when the manager began with what has
    /// led here.
    fn set_stopping(&mut self, fabric: &mut impl Fabric, region: u8, task: u8) {
        // Somewhere within this tick.
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

    /// A device waits, and its request is to be searched for again.
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
            let is_served = self.wants[usize::from(interface)] != Want::Nothing;
            if is_served || world.interface(interface).connected {
                return;
            }
            self.since[usize::from(interface)] = now;
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

    fn tell_to_wait(&mut self, world: &mut impl Guests, interface: u8) {
        let waits = self.wants[usize::from(interface)] != Want::Nothing;
        if waits && self.told & bit(interface) == 0 {
            self.told |= bit(interface);
            world.signal(interface, Signal::Wait);
        }
    }

    /// Takes a region that is idle, or computes for less, for an interface. `false`: it is neither any more.
    fn take<W: Fabric + Guests>(
        &mut self,
        world: &mut W,
        interface: u8,
        region: u8,
        now: u64,
    ) -> bool {
        if matches!(self.work(region).phase, Phase::Loading(_)) {
            // It is free, so its bitstream was refused, and its interface has not been notified yet.
            self.configured(world, now);
        }
        let descriptor = world.region(region);
        match descriptor.state {
            State::Idle if world.command(region, Command::Take) => {
                self.assign(region, interface);
                if descriptor.connected {
                    self.lose(world, descriptor.client, now);
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

    /// There is no region for an interface: one that is on its way to a lower priority, or that has been somebody's for
    /// a whole turn, is.
    fn put_aside<W: Fabric + Guests>(&mut self, world: &mut W, interface: u8, now: u64) {
        let Some(device) = self.device(interface) else {
            return;
        };
        let level = self.level(interface);
        let candidates = (0..self.regions).filter(|&region| self.fits(device.task, region));
        // The sooner it can be had the better; of equal ones the smaller.
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

    /// An interface has no region: its VM writes no more, and what it has not done waits.
    fn lose<W: Fabric + Guests>(&mut self, world: &mut W, interface: u8, now: u64) {
        if self.device(interface).is_none() {
            return;
        }
        self.end_turn(interface);
        world.permit(interface, false);
        world.save(interface);
        // What was written until just now is there.
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

    /// A request ends with an error, or because it is not wanted.
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

    /// What a VM that has ended was waiting for is not wanted, and what it computes is killed. An idle region stays its
    /// own until a device requests it.
    fn ended<W: Fabric + Guests>(&mut self, world: &mut W, interface: u8, now: u64) {
        self.cancelled(world, interface);
        let has = |descriptor: Descriptor| descriptor.connected && descriptor.client == interface;
        let Some(region) = (0..self.regions).find(|&region| has(world.region(region))) else {
            return;
        };
        if world.command(region, Command::Kill) {
            // Also what it has asked for behind that.
            world.fail(interface);
            self.vacated(world, region, now);
        } else {
            // The hypervisor has closed it.
            world.permit(interface, true);
        }
    }

    // Regions.

    /// A region in Switch, for an interface: connects it, or starts its configuration.
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
            // Not in Switch: nothing but a fault of the fabric.
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

    /// Gives the configuration port, when it is free, to the most urgent region that waits for it.
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

    /// A region has come to Switch from its client.
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
                // It was refused, and the region is free.
                State::Idle => {
                    let target = self.work(region).target;
                    self.works[usize::from(region)] = REST;
                    if let Some(interface) = target {
                        self.refused(world, interface, task);
                    }
                }
                _ => return,
            }
        }
        self.feed_port(world, now);
    }

    /// A bitstream of a task was refused while the region was on its way to an interface.
    fn refused(&mut self, world: &mut impl Fabric, interface: u8, task: u8) {
        if self
            .device(interface)
            .is_some_and(|device| device.task == task)
        {
            self.statistics[usize::from(interface)].failed += 1;
            self.end(world, interface);
        } else {
            // It was begun for another interface.
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
        } else if self.take(world, found.interface, found.region, now) {
            self.again &= !bit(found.interface);
            world.withdraw(found.interface);
        } else {
            // It has changed under the manager's hands, and may be just as good as it is now, of which the monitor says
            // nothing.
            self.again |= bit(found.interface);
        }
    }

    // Time.

    /// When a device that waits has its turn.
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

    /// Who has had a region for a whole turn and still has it, and the region.
    fn overdue(&self, now: u64) -> Option<(u8, u8)> {
        let turn = self.turn?;
        let (region, end) = turn.at?;
        turn.interface
            .filter(|_| end <= now)
            .map(|interface| (interface, region))
    }

    /// Who waits for the end of a turn: the most urgent.
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

    /// One thing whose time has come.
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
        // Who has waited longest.
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

    /// The region of a turn is held at the moment: it is looked at again later.
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

    /// A task that has been told to stop and did not.
    fn kill<W: Fabric + Guests>(&mut self, world: &mut W, region: u8, now: u64) {
        // Refused where it has just stopped.
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

    /// A region that was not drained.
    fn drain<W: Fabric + Guests>(&mut self, world: &mut W, region: u8, now: u64) {
        let drain = self.policy.drain;
        let work = &mut self.works[usize::from(region)];
        let so_far = now.saturating_sub(work.since);
        // Memory that does not answer for long is looked at less and less often.
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
