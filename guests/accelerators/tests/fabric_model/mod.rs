//! A model of the fabric's registers as `docs/src/reference/regions.md` describes them, with VMs and tasks. Time
//! advances in ticks; a computation of a given length takes as many, and can be stopped at fixed intervals.

use std::cmp::Reverse;
use std::panic::resume_unwind;

use tactus_accelerators::{
    Command, Descriptor, Device, Fabric, Found, Guests, INTERFACES, Interface, Pending, Signal,
    Solution, State, TASKS,
};

/// A region.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    pub state: State,
    pub connected: bool,
    pub client: u8,
    pub priority: u8,
    pub loaded: u8,
    /// Parameters of the next connection: interface, priority, hold time.
    next: (u8, u8, u32),
    hold: u32,
    drained_at: u64,
}

/// An interface, and its computation.
#[derive(Clone, Debug, Default)]
pub struct Virtual {
    pub asked: bool,
    pub running: bool,
    pub unfinished: bool,
    pub writable: bool,
    /// Ticks that the computation still takes; and ticks since its last consistency point.
    pub left: u64,
    since_point: u64,
    /// Length of the next computation.
    length: u64,
    /// It neither ends nor stops when told.
    pub stubborn: bool,
    /// Number of requested computations, and the results of those that have ended.
    pub asks: u32,
    pub ends: Vec<u8>,
    /// Start of the wait for a region, and the longest such wait.
    wanted: Option<u64>,
    pub waited_max: u64,
    pub signals: Vec<Signal>,
}

/// The payload of a crash's unwinding.
pub struct Crash;

#[derive(Clone, Debug)]
pub struct Model {
    pub now: u64,
    pub regions: Vec<Region>,
    pub interfaces: Vec<Virtual>,
    pub devices: [Option<Device>; INTERFACES],
    pub fits: [u8; TASKS],
    /// Ticks between a task's consistency points, to configure each region, and until memory answers a
    /// killed task.
    pub block: u64,
    pub configuration: Vec<u64>,
    pub drain: u64,
    /// Bitstreams that are refused: task, region.
    pub corrupt: Vec<(u8, u8)>,
    /// Interfaces whose context the user's routine rejects.
    pub bad_context: u8,
    /// A device may be preempted by devices of equal priority, in turns.
    pub turns: bool,
    port: Option<(u8, u8, u64)>,
    compatibility: [u8; TASKS],
    list: Vec<(u8, u8, u8)>,
    last_found: Option<Found>,
    pub pending: Pending,
    pub operations: u32,
    /// Ticks that an operation of the manager takes.
    pub slowness: u64,
    /// Operations until the next crash.
    pub fuse: Option<u32>,
}

impl Model {
    pub fn new(
        devices: [Option<Device>; INTERFACES],
        fits: [u8; TASKS],
        configuration: Vec<u64>,
        block: u64,
    ) -> Self {
        let region = Region {
            state: State::Idle,
            connected: false,
            client: 0,
            priority: 0,
            loaded: 0,
            next: (0, 0, 0),
            hold: 0,
            drained_at: 0,
        };
        Self {
            now: 0,
            regions: vec![region; configuration.len()],
            interfaces: vec![Virtual::default(); INTERFACES],
            devices,
            fits,
            block,
            configuration,
            drain: 0,
            corrupt: Vec::new(),
            bad_context: 0,
            turns: false,
            port: None,
            compatibility: [0; TASKS],
            list: Vec::new(),
            last_found: None,
            pending: Pending::default(),
            operations: 0,
            slowness: 0,
            fuse: None,
        }
    }

    fn device(&self, interface: u8) -> Device {
        self.devices[usize::from(interface)].expect("a device")
    }

    /// The region that an interface is connected to.
    pub fn region_of(&self, interface: u8) -> Option<usize> {
        let mut all = (0..self.regions.len())
            .filter(|&r| self.regions[r].connected && self.regions[r].client == interface);
        let first = all.next();
        assert!(
            all.next().is_none(),
            "interface {interface} has two regions"
        );
        first
    }

    fn fits(&self, interface: u8, region: usize) -> bool {
        self.fits[usize::from(self.device(interface).task)] >> region & 1 != 0
    }

    // The VMs.

    /// A VM writes to its page; without a region the hypervisor traps the write and notifies the manager.
    pub fn write(&mut self, interface: u8) {
        if !self.interfaces[usize::from(interface)].writable {
            self.pending.requests |= 1 << interface;
        }
    }

    /// A VM requests a computation.
    pub fn start(&mut self, interface: u8, length: u64) {
        let now = self.now;
        let one = &mut self.interfaces[usize::from(interface)];
        if !one.asked {
            one.asked = true;
            one.asks += 1;
            one.length = length.max(1);
            one.wanted.get_or_insert(now);
        }
        self.write(interface);
        self.settle();
    }

    /// Ends the interface's VM.
    pub fn end(&mut self, interface: u8) {
        self.interfaces[usize::from(interface)].writable = false;
        self.pending.ended |= 1 << interface;
    }

    // The fabric.

    /// Performs all transitions that take no time.
    fn settle(&mut self) {
        for at in 0..self.regions.len() {
            let region = self.regions[at];
            let one = &mut self.interfaces[usize::from(region.client)];
            let may = region.connected && matches!(region.state, State::Idle | State::Hold);
            if may && one.asked && !one.running && !one.unfinished {
                one.asked = false;
                one.left = one.length;
                one.since_point = 0;
                self.run(at);
            }
        }
        let found = self.find();
        if found.is_some() && found != self.last_found {
            self.pending.found = true;
        }
        self.last_found = found;
    }

    fn run(&mut self, at: usize) {
        let client = self.regions[at].client;
        let one = &mut self.interfaces[usize::from(client)];
        one.running = true;
        if let Some(since) = one.wanted.take() {
            one.waited_max = one.waited_max.max(self.now - since);
        }
        self.regions[at].state = State::Busy;
    }

    fn finish(&mut self, interface: u8, error: u8) {
        let now = self.now;
        let one = &mut self.interfaces[usize::from(interface)];
        one.ends.push(error);
        one.running = false;
        one.wanted = one.asked.then_some(now);
    }

    fn stop(&mut self, at: usize) {
        self.regions[at].state = State::Switch;
        self.regions[at].connected = false;
        self.pending.stopped |= 1 << at;
    }

    pub fn tick(&mut self) {
        self.now += 1;
        for at in 0..self.regions.len() {
            let region = self.regions[at];
            match region.state {
                State::Busy | State::Preempt => {
                    let client = usize::from(region.client);
                    let one = &mut self.interfaces[client];
                    if one.stubborn {
                        continue;
                    }
                    one.left -= 1;
                    one.since_point += 1;
                    let is_point = one.since_point == self.block;
                    if is_point {
                        one.since_point = 0;
                    }
                    let stops = region.state == State::Preempt;
                    if one.left == 0 {
                        self.finish(region.client, 0);
                        self.regions[at].state = State::Idle;
                        if stops {
                            self.stop(at);
                        }
                    } else if is_point && stops {
                        one.running = false;
                        one.unfinished = true;
                        one.wanted = Some(self.now);
                        self.stop(at);
                    }
                }
                State::Hold if region.hold == 0 => self.regions[at].state = State::Idle,
                State::Hold => self.regions[at].hold -= 1,
                State::Idle | State::Switch | State::Reconfig => {}
            }
        }
        if let Some((region, task, left)) = &mut self.port {
            *left -= 1;
            if *left == 0 {
                let (at, task) = (*region, *task);
                let is_good = !self.corrupt.contains(&(task, at));
                let region = &mut self.regions[usize::from(at)];
                (region.loaded, region.state) = if is_good {
                    (task, State::Switch)
                } else {
                    (0, State::Idle)
                };
                self.port = None;
                self.pending.configured = true;
            }
        }
        self.settle();
    }

    /// The monitor's policy: `fabric/test/region_monitor_model.py`.
    fn solve(&self, task: u8, priority: u8) -> Solution {
        let fits: Vec<usize> = (0..self.regions.len())
            .filter(|&r| self.compatibility[usize::from(task)] >> r & 1 != 0)
            .collect();
        let with = |test: &dyn Fn(&Region) -> bool| {
            let found = fits.iter().find(|&&r| test(&self.regions[r]));
            found.map(|&r| r as u8)
        };
        let idle = with(&|r| r.state == State::Idle && r.loaded == task)
            .or_else(|| with(&|r| r.state == State::Idle));
        let lower = with(&|r| r.state == State::Busy && r.priority < priority);
        match (idle, lower) {
            (Some(region), _) => Solution::Assign(region),
            (None, Some(region)) => Solution::Preempt(region),
            (None, None) => Solution::Unavailable,
        }
    }

    fn find(&self) -> Option<Found> {
        self.list.iter().find_map(
            |&(interface, task, priority)| match self.solve(task, priority) {
                Solution::Assign(region) | Solution::Preempt(region) => {
                    Some(Found { interface, region })
                }
                Solution::Unavailable | Solution::NoRoom => None,
            },
        )
    }

    /// Called by each operation of the manager, which may crash there.
    fn operation(&mut self) {
        self.operations += 1;
        if let Some(fuse) = &mut self.fuse {
            if *fuse == 0 {
                resume_unwind(Box::new(Crash));
            }
            *fuse -= 1;
        }
        for _ in 0..self.slowness {
            self.tick();
        }
    }

    // Invariants.

    /// Whether an interface wants a region and has none.
    pub fn wants(&self, interface: u8) -> bool {
        let one = &self.interfaces[usize::from(interface)];
        (one.asked || one.unfinished) && self.region_of(interface).is_none()
    }

    /// Checks the state after the manager's work: pages match regions, and no interface waits for an available
    /// region, except those for which a region is being prepared.
    pub fn check(&self, is_on_its_way: impl Fn(u8) -> bool) {
        for interface in 0..INTERFACES as u8 {
            let one = &self.interfaces[usize::from(interface)];
            let region = self.region_of(interface);
            assert_eq!(one.writable, region.is_some(), "page of {interface}");
            if self.devices[usize::from(interface)].is_none()
                || !self.wants(interface)
                || is_on_its_way(interface)
            {
                continue;
            }
            let priority = self.device(interface).priority;
            for (at, region) in self.regions.iter().enumerate() {
                let is_free = match region.state {
                    State::Idle => true,
                    State::Busy => region.priority < priority,
                    _ => false,
                };
                assert!(
                    !is_free || !self.fits(interface, at),
                    "{interface} waits though it could have region {at}: {region:?}"
                );
            }
        }
    }
}

impl Fabric for Model {
    fn now(&mut self) -> u64 {
        self.now
    }

    fn region(&mut self, region: u8) -> Descriptor {
        self.operation();
        let one = self.regions[usize::from(region)];
        Descriptor {
            state: one.state,
            connected: one.connected,
            client: one.client,
            priority: one.priority,
            loaded: one.loaded,
            drained: self.now >= one.drained_at,
        }
    }

    fn command(&mut self, region: u8, command: Command) -> bool {
        self.operation();
        let at = usize::from(region);
        let one = self.regions[at];
        let done = match (command, one.state) {
            (Command::Take, State::Idle) => {
                self.regions[at].state = State::Switch;
                self.regions[at].connected = false;
                true
            }
            (Command::Preempt, State::Busy) => {
                // There is a device for which.
                let own = self.device(one.client).priority;
                assert!(
                    self.turns
                        || (0..INTERFACES as u8).any(|i| self.devices[usize::from(i)].is_some()
                            && self.device(i).priority > own
                            && self.fits(i, at)),
                    "{} was preempted for no other device",
                    one.client
                );
                self.regions[at].state = State::Preempt;
                true
            }
            (Command::Kill, State::Busy | State::Preempt) => {
                self.regions[at].state = State::Switch;
                self.regions[at].connected = false;
                self.regions[at].drained_at = self.now + self.drain;
                self.finish(one.client, 14);
                true
            }
            (Command::Connect, State::Switch) if one.loaded != 0 && self.now >= one.drained_at => {
                let (client, priority, hold) = one.next;
                assert_eq!(one.loaded, self.device(client).task);
                assert_eq!(self.region_of(client), None);
                let one = &mut self.regions[at];
                (one.client, one.priority, one.hold) = (client, priority, hold);
                one.connected = true;
                one.state = State::Hold;
                true
            }
            (Command::Release, State::Switch) => {
                self.regions[at].state = State::Idle;
                true
            }
            _ => false,
        };
        self.settle();
        done
    }

    fn set_client(&mut self, region: u8, interface: u8, priority: u8, hold: u32) {
        self.operation();
        self.regions[usize::from(region)].next = (interface, priority, hold);
    }

    fn request(&mut self, interface: u8, task: u8, priority: u8) -> Solution {
        self.operation();
        self.list.retain(|&(one, ..)| one != interface);
        let solution = self.solve(task, priority);
        if solution == Solution::Unavailable {
            self.list.push((interface, task, priority));
            self.list.sort_by_key(|&(.., priority)| Reverse(priority));
        }
        self.settle();
        solution
    }

    fn found(&mut self) -> Option<Found> {
        self.operation();
        self.find()
    }

    fn withdraw(&mut self, interface: u8) {
        self.operation();
        self.list.retain(|&(one, ..)| one != interface);
        // The monitor checks again.
        self.last_found = None;
        self.settle();
    }

    fn set_compatibility(&mut self, fits: &[u8; TASKS]) {
        self.operation();
        self.compatibility = *fits;
    }

    fn is_configuring(&mut self) -> bool {
        self.operation();
        self.port.is_some()
    }

    fn configure(&mut self, region: u8, task: u8) {
        self.operation();
        let one = &mut self.regions[usize::from(region)];
        assert!(self.port.is_none() && one.state == State::Switch);
        one.state = State::Reconfig;
        one.loaded = 0;
        self.port = Some((region, task, self.configuration[usize::from(region)]));
    }

    fn interface(&mut self, interface: u8) -> Interface {
        self.operation();
        let one = &self.interfaces[usize::from(interface)];
        Interface {
            connected: self.region_of(interface).is_some(),
            running: one.running,
            unfinished: one.unfinished,
            asked: one.asked,
        }
    }

    fn resume(&mut self, interface: u8) {
        self.operation();
        let region = self.region_of(interface);
        let one = &mut self.interfaces[usize::from(interface)];
        if let Some(at) = region.filter(|_| one.unfinished && !one.running) {
            one.unfinished = false;
            self.run(at);
        }
        self.settle();
    }

    fn fail(&mut self, interface: u8) {
        self.operation();
        let one = &mut self.interfaces[usize::from(interface)];
        if !one.running && (one.asked || one.unfinished) {
            // As in the hardware: both end together, with one result. The request behind the first does not count.
            if one.asked && one.unfinished {
                one.asks -= 1;
            }
            one.asked = false;
            one.unfinished = false;
            self.finish(interface, 15);
        }
    }
}

impl Guests for Model {
    fn permit(&mut self, interface: u8, writable: bool) {
        self.operation();
        assert!(!writable || self.region_of(interface).is_some());
        self.interfaces[usize::from(interface)].writable = writable;
    }

    fn signal(&mut self, interface: u8, signal: Signal) {
        self.operation();
        self.interfaces[usize::from(interface)].signals.push(signal);
    }

    fn save(&mut self, interface: u8) {
        self.operation();
        assert_eq!(self.region_of(interface), None);
    }

    fn restore(&mut self, interface: u8) -> bool {
        self.operation();
        assert_eq!(self.region_of(interface), None);
        self.bad_context >> interface & 1 == 0
    }
}
