//! The device manager against a model of the fabric: for any behaviour of VMs, tasks and bitstreams, and a crash of the
//! manager at any point.

mod fabric_model;

use std::panic::{AssertUnwindSafe, catch_unwind};

use fabric_model::{Crash, Model};
use proptest::prelude::*;
use tactus_accelerators::{
    Device, INTERFACES, Manager, OPERATIONS_MAX, Pending, Policy, Signal, State, TASKS, Turn,
    latency,
};

/// The regions that the four tasks of the paper's experiment fit into: Table 5, and the tasks' numbers in the fabric.
const FITS: [u8; TASKS] = [0, 0b111, 0b011, 0b011, 0b110, 0b100, 0, 0];
const CONFIGURATION: [u64; 3] = [8, 28, 42];
const BLOCK: u64 = 5;
const REGIONS: u8 = 3;

const POLICY: Policy = Policy {
    fits: FITS,
    stop: [20; TASKS],
    drain: 30,
    give_up: None,
    turn: None,
};

/// A manager with its fabric.
struct Bench {
    model: Model,
    policy: Policy,
    manager: Manager,
    crashes: u32,
    /// The most operations in one event.
    operations_max: u32,
    events: u32,
}

impl Bench {
    fn new(devices: [Option<Device>; INTERFACES], policy: Policy) -> Self {
        let mut model = Model::new(devices, policy.fits, CONFIGURATION.to_vec(), BLOCK);
        model.turns = policy.turn.is_some();
        let manager = Manager::new(policy, devices, REGIONS);
        let mut bench = Self {
            model,
            policy,
            manager,
            crashes: 0,
            operations_max: 0,
            events: 0,
        };
        bench.begin();
        bench
    }

    /// Starts a manager, again after each crash during its start.
    fn begin(&mut self) {
        loop {
            self.manager = Manager::new(self.policy, self.model.devices, REGIONS);
            // Its pending events are lost with it.
            self.model.pending = Pending::default();
            let (manager, model) = (&mut self.manager, &mut self.model);
            let now = model.now;
            if survives(|| manager.begin(model, now)) {
                return;
            }
            self.model.fuse = None;
            self.crashes += 1;
        }
    }

    /// Handles all events that are due now.
    fn handle(&mut self) {
        // Far more iterations than there are events.
        for _ in 0..500 {
            let (manager, model) = (&mut self.manager, &mut self.model);
            let now = model.now;
            let Some(event) = manager.next(&mut model.pending, now) else {
                return;
            };
            model.operations = 0;
            self.events += 1;
            if survives(|| manager.handle(model, event, now)) {
                self.operations_max = self.operations_max.max(model.operations);
            } else {
                self.model.fuse = None;
                self.crashes += 1;
                self.begin();
            }
        }
        panic!("the manager is never done");
    }

    fn run(&mut self, ticks: u64) {
        for _ in 0..ticks {
            self.model.tick();
            self.handle();
            self.check();
        }
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Start(i, length) if self.has(i) => self.model.start(i, length),
            Step::Write(i) if self.has(i) => self.model.write(i),
            Step::Cancel(i) if self.has(i) => self.model.pending.cancels |= 1 << i,
            Step::End(i) if self.has(i) => self.model.end(i),
            Step::Stubborn(i) => self.model.interfaces[usize::from(i)].stubborn = true,
            Step::Sleep(ticks) => (0..ticks).for_each(|_| self.model.tick()),
            Step::Crash(after) => self.model.fuse = Some(after),
            Step::Corrupt(task, region) => self.model.corrupt.push((task, region)),
            Step::BadContext(interfaces) => self.model.bad_context = interfaces,
            Step::Run(ticks) => return self.run(ticks),
            Step::Start(..) | Step::Write(_) | Step::Cancel(_) | Step::End(_) => {}
        }
        if !matches!(step, Step::Sleep(_)) {
            self.handle();
            self.check();
        }
    }

    /// Checks the invariants if there are no unhandled events; at the end there are none.
    fn check(&self) {
        if self.model.slowness > 0 {
            return;
        }
        self.model
            .check(|interface| self.manager.on_its_way(interface).is_some());
    }

    fn has(&self, interface: u8) -> bool {
        self.model.devices[usize::from(interface)].is_some()
    }

    fn is_done(&self) -> bool {
        let interfaces = &self.model.interfaces;
        (0..)
            .zip(interfaces)
            .all(|(interface, one)| !self.model.wants(interface) && (!one.running || one.stubborn))
    }

    /// Runs until all computations have ended, and checks that each request had one result.
    fn finish(&mut self, ticks: u64) {
        self.model.fuse = None;
        for _ in 0..ticks {
            if self.is_done() {
                break;
            }
            self.run(1);
        }
        for (interface, one) in (0..).zip(&self.model.interfaces) {
            assert!(!self.model.wants(interface), "{interface} waits: {one:?}");
            assert!(!one.running || one.stubborn, "{interface}: {one:?}");
            // A request behind a computation that never ends has no result.
            let rest = u32::from(one.running) + u32::from(one.asked);
            assert_eq!(one.ends.len() as u32 + rest, one.asks, "{interface}");
        }
        assert!(
            self.operations_max <= OPERATIONS_MAX,
            "{} operations",
            self.operations_max
        );
    }
}

/// Whether the closure returned without a crash. Other panics propagate.
fn survives(what: impl FnOnce()) -> bool {
    match catch_unwind(AssertUnwindSafe(what)) {
        Ok(()) => true,
        Err(cause) if cause.is::<Crash>() => false,
        Err(cause) => std::panic::resume_unwind(cause),
    }
}

fn device(task: u8, priority: u8) -> Option<Device> {
    Some(Device {
        task,
        priority,
        hold: 6,
    })
}

#[derive(Clone, Debug)]
enum Step {
    Start(u8, u64),
    Write(u8),
    Cancel(u8),
    /// The VM ends, or restarts.
    End(u8),
    Stubborn(u8),
    /// The manager is not scheduled.
    Sleep(u64),
    Run(u64),
    Crash(u32),
    Corrupt(u8, u8),
    BadContext(u8),
}

fn any_device() -> impl Strategy<Value = Option<Device>> {
    prop_oneof![
        1 => Just(None),
        4 => (1..=5_u8, 0..3_u8).prop_map(|(task, priority)| device(task, priority)),
    ]
}

fn any_step() -> impl Strategy<Value = Step> {
    let interface = 0..INTERFACES as u8;
    prop_oneof![
        8 => (interface.clone(), 1..60_u64).prop_map(|(i, length)| Step::Start(i, length)),
        2 => interface.clone().prop_map(Step::Write),
        1 => interface.prop_map(Step::Cancel),
        2 => (1..10_u64).prop_map(Step::Sleep),
        6 => (1..40_u64).prop_map(Step::Run),
    ]
}

/// Faults: stubborn tasks, refused bitstreams and contexts, crashes.
fn any_fault() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => any_step(),
        1 => (0..INTERFACES as u8).prop_map(Step::End),
        1 => (0..INTERFACES as u8).prop_map(Step::Stubborn),
        2 => (0..60_u32).prop_map(Step::Crash),
        1 => (1..=5_u8, 0..REGIONS).prop_map(|(task, region)| Step::Corrupt(task, region)),
        1 => any::<u8>().prop_map(Step::BadContext),
    ]
}

fn any_turn() -> impl Strategy<Value = Option<Turn>> {
    prop::option::of((50..200_u64, 5..50_u64).prop_map(|(wait, length)| Turn { wait, length }))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// For any sequence of requests each computation completes, and no interface waits for a region that is available.
    /// A slow manager, during whose work the fabric continues, kills no task that stops in time.
    #[test]
    fn everybody_is_served(
        devices in prop::array::uniform8(any_device()),
        steps in prop::collection::vec(any_step(), 1..60),
        slowness in 0..4_u64,
    ) {
        let policy = Policy { stop: [BLOCK + 1; TASKS], ..POLICY };
        let mut bench = Bench::new(devices, policy);
        bench.model.slowness = slowness;
        steps.iter().for_each(|step| bench.step(step));
        bench.finish(5_000);
        let cancels = steps.iter().any(|step| matches!(step, Step::Cancel(_)));
        for error in bench.model.interfaces.iter().flat_map(|one| &one.ends) {
            prop_assert!(*error == 0 || cancels && *error == 15, "{}", error);
        }
    }

    /// Tasks that never stop, bitstreams and contexts that are refused, a manager that crashes: each requested
    /// computation still ends once.
    #[test]
    fn everything_ends(
        devices in prop::array::uniform8(any_device()),
        steps in prop::collection::vec(any_fault(), 1..60),
        drain in prop_oneof![3 => 0..50_u64, 1 => Just(100_000)],
        turn in any_turn(),
    ) {
        let policy = Policy { give_up: Some(600), turn, ..POLICY };
        let mut bench = Bench::new(devices, policy);
        bench.model.drain = drain;
        steps.iter().for_each(|step| bench.step(step));
        bench.finish(8_000);
    }
}

/// Two VMs contend for everything, with a reconfiguration, a preemption and a kill on the way.
fn scenario(crash: Option<u32>) -> Bench {
    let mut devices = [None; INTERFACES];
    devices[0] = device(2, 0);
    devices[1] = device(3, 0);
    devices[2] = device(4, 0);
    devices[4] = device(2, 1);
    devices[5] = device(4, 1);
    devices[6] = device(5, 1);
    let mut bench = Bench::new(devices, POLICY);
    bench.model.fuse = crash;
    let steps = [
        Step::Start(0, 80),
        Step::Start(1, 80),
        Step::Start(2, 80),
        Step::Run(60),
        Step::Start(4, 10),
        Step::Start(5, 10),
        Step::Run(3),
        Step::Start(6, 10),
        Step::Stubborn(1),
        Step::Run(100),
        Step::Start(4, 10),
        Step::Write(5),
        Step::Run(50),
        Step::End(0),
        Step::Start(0, 30),
        Step::Start(6, 10),
    ];
    steps.iter().for_each(|step| bench.step(step));
    bench.finish(3_000);
    bench
}

/// The manager crashes at each of its operations in turn, and no request is lost.
#[test]
fn it_may_die_anywhere() {
    let bench = scenario(None);
    assert_eq!(bench.crashes, 0);
    let errors: Vec<u8> = bench
        .model
        .interfaces
        .iter()
        .flat_map(|one| one.ends.clone())
        .collect();
    assert_eq!(errors.iter().filter(|&&error| error == 14).count(), 1);
    let mut died = 0;
    for operation in 0.. {
        let bench = scenario(Some(operation));
        if bench.crashes == 0 {
            break;
        }
        died += bench.crashes;
    }
    assert!(died > 150, "{died}");
}

/// A real-time device preempts best-effort ones, which continue afterwards; devices of equal priority wait.
#[test]
fn real_time_wins_and_equals_wait() {
    let mut devices = [None; INTERFACES];
    devices[0] = device(5, 0);
    devices[1] = device(5, 1);
    devices[2] = device(5, 1);
    let mut bench = Bench::new(devices, POLICY);
    bench.step(&Step::Start(0, 50));
    bench.step(&Step::Run(CONFIGURATION[2] + 7));
    assert_eq!(bench.model.region_of(0), Some(2));
    bench.step(&Step::Start(1, 50));
    bench.step(&Step::Run(BLOCK));
    assert_eq!(bench.model.region_of(1), Some(2));
    bench.step(&Step::Start(2, 50));
    bench.step(&Step::Run(45));
    assert_eq!(bench.model.region_of(1), Some(2));
    bench.finish(1_000);
    assert_eq!(bench.model.interfaces[0].ends, [0]);
    assert_eq!(
        bench.model.interfaces[0].signals,
        [Signal::Wait, Signal::Ready, Signal::Preempt, Signal::Ready]
    );
    assert_eq!(bench.manager.statistics(0).preempted, 1);
}

/// A region that is being prepared for a best-effort device is reassigned to a real-time one that requests it.
#[test]
fn work_for_best_effort_is_put_aside() {
    let mut devices = [None; INTERFACES];
    devices[0] = device(5, 0);
    devices[1] = device(5, 1);
    let mut bench = Bench::new(devices, POLICY);
    bench.step(&Step::Start(0, 50));
    bench.step(&Step::Run(20));
    assert_eq!(bench.model.regions[2].state, State::Reconfig);
    bench.step(&Step::Start(1, 10));
    bench.step(&Step::Run(CONFIGURATION[2] - 20));
    // It waits only for the rest of the configuration.
    assert_eq!(bench.model.region_of(1), Some(2));
    bench.finish(200);
}

/// Memory that does not answer a killed task for long keeps its region unavailable, but does not block the manager.
#[test]
fn a_region_that_is_not_drained_is_left_alone() {
    let mut devices = [None; INTERFACES];
    devices[0] = device(5, 0);
    devices[1] = device(5, 1);
    let mut bench = Bench::new(devices, POLICY);
    bench.model.drain = 50_000;
    bench.step(&Step::Start(0, 50));
    bench.step(&Step::Run(CONFIGURATION[2] + 1));
    bench.step(&Step::Stubborn(0));
    bench.step(&Step::Start(1, 10));
    bench.step(&Step::Run(100));
    assert_eq!(bench.model.interfaces[0].ends, [14]);
    assert_eq!(bench.model.regions[2].state, State::Switch);
    assert_eq!(bench.manager.on_its_way(1), None);
    let before = bench.events;
    bench.finish(120_000);
    assert_eq!(bench.model.interfaces[1].ends, [0]);
    let events = bench.events - before;
    assert!(events < 40, "{events} events");
}

/// A refused bitstream ends the request with an error, and the next request is served.
#[test]
fn a_corrupt_bitstream_ends_its_request() {
    let mut devices = [None; INTERFACES];
    devices[0] = device(5, 0);
    let mut bench = Bench::new(devices, POLICY);
    bench.model.corrupt.push((5, 2));
    bench.step(&Step::Start(0, 50));
    bench.step(&Step::Run(100));
    assert_eq!(bench.model.interfaces[0].ends, [15]);
    bench.model.corrupt.clear();
    bench.step(&Step::Start(0, 50));
    bench.finish(200);
    assert_eq!(bench.model.interfaces[0].ends, [15, 0]);
    assert_eq!(bench.manager.statistics(0).failed, 1);
}

/// The wait of a best-effort device while a real-time device computes without pause.
fn starved(turn: Option<Turn>) -> (u64, usize, u64) {
    let mut devices = [None; INTERFACES];
    devices[0] = device(5, 0);
    devices[1] = device(5, 1);
    let mut bench = Bench::new(devices, Policy { turn, ..POLICY });
    bench.step(&Step::Start(1, 20));
    bench.step(&Step::Start(0, 20));
    for _ in 0..5_000 {
        if !bench.model.interfaces[0].asked {
            bench.step(&Step::Start(0, 20));
        }
        if !bench.model.interfaces[1].asked {
            bench.step(&Step::Start(1, 20));
        }
        bench.run(1);
    }
    let waited = bench.manager.statistics(0).waited_max;
    let done = bench.model.interfaces[0].ends.len();
    (waited, done, bench.model.interfaces[1].waited_max)
}

/// Best effort starves only without turns; a turn delays a real-time device by its length.
#[test]
fn turns_bound_starvation() {
    assert_eq!(starved(None).1, 0);
    let turn = Turn {
        wait: 300,
        length: 30,
    };
    let (waited, done, real_time) = starved(Some(turn));
    // It waits for its turn, for the computation in progress and the one requested before, and for its
    // configuration; so does the other device.
    assert!(waited <= 300 + 2 * 20 + CONFIGURATION[2], "{waited}");
    assert!(done >= 10, "{done}");
    assert!(
        real_time <= 20 + 30 + 2 * CONFIGURATION[2] + BLOCK + 6,
        "{real_time}"
    );
}

/// Best-effort devices, the tasks of a real-time VM's devices, and the steps of all.
#[derive(Clone, Debug)]
struct Contention {
    best_effort: Vec<Option<Device>>,
    real_time: Vec<u8>,
    steps: Vec<Step>,
}

fn any_contention() -> impl Strategy<Value = Contention> {
    let best_effort = prop::collection::vec(prop::option::of(1..=5_u8), 5);
    let real_time = prop::collection::vec(1..=5_u8, 3);
    let faults = prop_oneof![
        6 => any_step(),
        1 => (0..5_u8).prop_map(Step::Stubborn),
    ];
    let steps = prop::collection::vec(faults, 20..120);
    (best_effort, real_time, steps).prop_map(|(best_effort, real_time, steps)| Contention {
        best_effort: best_effort
            .into_iter()
            .map(|task| task.and_then(|task| device(task, 0)))
            .collect(),
        real_time,
        steps,
    })
}

/// The analysis' bound of each interface, with a tick for each part of the manager.
fn latency_bounds(bench: &Bench) -> Vec<Option<u64>> {
    let used: Vec<usize> = (0..INTERFACES)
        .filter(|&i| bench.model.devices[i].is_some())
        .collect();
    let devices: Vec<latency::Device> = used
        .iter()
        .filter_map(|&i| bench.model.devices[i])
        .map(|one| latency::Device {
            vm: usize::from(one.priority),
            task: one.task,
            priority: one.priority,
            hold: u64::from(one.hold),
        })
        .collect();
    let tasks = std::array::from_fn(|task| latency::Task {
        fits: FITS[task],
        stop: bench.policy.stop[task],
    });
    let system = latency::System {
        costs: latency::Costs {
            trap: 1,
            resume: 1,
            interrupt: 1,
            search: 1,
            assign: 1,
            assign_configure: 1,
            preempt: 1,
            configured: 1,
            stopped: 1,
            wait: 0,
        },
        regions: &CONFIGURATION,
        tasks: &tasks,
        devices: &devices,
        drain: bench.model.drain,
        turn: bench.policy.turn,
    };
    let mut bounds = vec![None; INTERFACES];
    for (number, &interface) in used.iter().enumerate() {
        bounds[interface] = system.latency(number).and_then(|one| one.bound);
    }
    bounds
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// A real-time VM that uses one of its devices at a time never waits longer than the analysis' bound, for any
    /// behaviour of best-effort VMs.
    #[test]
    fn no_bound_is_violated(
        contention in any_contention(),
        turn in prop::option::of((250..1_000_u64, 5..50_u64)),
    ) {
        let turn = turn.map(|(wait, length)| Turn { wait, length });
        let mut devices = [None; INTERFACES];
        for (i, one) in contention.best_effort.iter().enumerate() {
            devices[i] = *one;
        }
        for (i, task) in contention.real_time.iter().enumerate() {
            devices[5 + i] = device(*task, 1);
        }
        let mut bench = Bench::new(devices, Policy { turn, ..POLICY });
        for step in &contention.steps {
            match *step {
                // One at a time.
                Step::Start(i, _) if i >= 5 && (5..8).any(|other| {
                    let one = &bench.model.interfaces[other];
                    one.asked || one.running || one.unfinished
                }) => {}
                Step::Write(i) | Step::Cancel(i) if i >= 5 => {}
                // The manager is scheduled in time.
                Step::Sleep(ticks) => bench.step(&Step::Run(ticks)),
                ref other => bench.step(other),
            }
        }
        bench.run(600);
        let bounds = latency_bounds(&bench);
        for (interface, bound) in (0..).zip(bounds).skip(5) {
            let waited = bench.model.interfaces[usize::from(interface)].waited_max;
            if let Some(bound) = bound {
                prop_assert!(waited <= bound, "{interface}: {waited} of {bound}");
                prop_assert!(!bench.model.wants(interface) || turn.is_some());
            } else {
                // Only turns that follow each other without a gap have no bound.
                prop_assert!(turn.is_some());
            }
        }
    }
}
/// The time that a task has to stop starts when it is told to, and not when the manager starts to handle the request
/// for its region.
#[test]
fn a_slow_manager_kills_no_task_that_stops_in_time() {
    for slowness in 0..BLOCK {
        let mut devices = [None; INTERFACES];
        devices[0] = device(5, 0);
        devices[1] = device(5, 1);
        let policy = Policy {
            stop: [BLOCK + 1; TASKS],
            ..POLICY
        };
        let mut bench = Bench::new(devices, policy);
        bench.model.slowness = slowness;
        bench.step(&Step::Start(0, 500));
        bench.step(&Step::Run(CONFIGURATION[2] + 67));
        assert_eq!(bench.model.region_of(0), Some(2));
        bench.step(&Step::Start(1, 50));
        bench.finish(3_000);
        let ends = [0, 1].map(|interface| bench.model.interfaces[interface].ends.clone());
        assert_eq!(ends, [[0], [0]], "{slowness} ticks an operation");
        assert!(bench.model.interfaces[0].signals.contains(&Signal::Preempt));
    }
}
