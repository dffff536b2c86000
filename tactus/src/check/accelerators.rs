//! Accelerators that VMs share: who has which virtual device, and whether a real-time vCPU has its region in time.

use tactus_accelerators::{Turn, latency};

use tactus_abi::bitstream::ALIGN;
use tactus_abi::map;

use super::devices::{Page, page_at};
use super::guarantee::{Answer, Guarantee};
use super::judge::Judge;
use super::platform::Platform;
use super::time::time_text;
use super::vcpus::Vcpus;
use crate::accelerators::{self, Shared};
use crate::config::{
    Accelerator, Accelerators, Allocator, At, Class, Costs, DEFAULT_HOLD, Nanoseconds, Span, Vm,
    cure_of_unknown,
};
use crate::fabric::REGION_ALLOCATOR;
use crate::plan;
use crate::problem::{Code, Problem, count};

/// The longest time that is kept in the registers of the fabric, rounded down: 2^32 cycles of 10 ns.
const TIME_MAX: Nanoseconds = Nanoseconds(40_000_000_000);
/// The most often that a job may ask for one accelerator.
const PER_JOB_MAX: u32 = 1_000;
/// Nanoseconds in a second: the unit of the latencies.
const HZ: u32 = 1_000_000_000;

/// A virtual device that makes sense, and where it is written.
struct Seen<'c> {
    written: &'c Accelerator,
    vm: usize,
    title: String,
    /// Of the VM.
    real_time: bool,
    /// The vCPU that waits for it.
    vcpu: u32,
    number: u8,
    task: String,
}

impl Seen<'_> {
    /// Whether how long it waits is to have a bound.
    fn is_guaranteed(&self) -> bool {
        self.real_time || self.written.within.is_some()
    }
}

/// The accelerators, and the pages by which they are reached.
pub(super) struct Sharing {
    pub(super) accelerators: plan::Accelerators,
    pub(super) pages: Vec<Page>,
}

/// Judges `[accelerators]` and all `[[vm.accelerator]]`. `None`: there are none, or they cannot be judged.
pub(super) fn check(
    judge: &mut Judge<'_>,
    platform: Option<&Platform>,
    vcpus: &Vcpus<'_>,
    guarantee: Option<&Guarantee>,
) -> Option<Sharing> {
    let config = judge.config;
    let first = config.vms.iter().find_map(|vm| vm.accelerators.first());
    let Some(table) = &config.accelerators else {
        if let Some(first) = first {
            judge.note(
                Code::NoAccelerators,
                &first.span,
                "without a fabric",
                "a VM has an accelerator, but the system has no design of the fabric",
                "add a table `[fabric]` with `design = \"accelerators\"`, say",
            );
        }
        return None;
    };
    let manager = manager(judge, table);
    let turn = turn(judge, table);
    for time in [&table.hold, &table.give_up].into_iter().flatten() {
        in_range(judge, time, "of `[accelerators]`");
    }
    let platform = platform?;
    let shared = shared(judge, platform, table)?;
    let seen = devices(judge, &shared, vcpus);
    let allocator = allocator(platform, &shared, table, turn, &seen);
    let costs = table.costs.as_ref();
    let costs = costs.and_then(|costs| costs_of(judge, costs));
    // Without a reservation nothing bounds when the manager has its hart.
    let wait = manager.zip(guarantee).and_then(|(manager, guarantee)| {
        manager_wait(judge, guarantee, manager, costs.as_ref(), &seen)
    });
    let latencies = costs.map(|costs| {
        let system = System {
            shared: &shared,
            costs: latency::Costs {
                wait: wait.unwrap_or(0),
                ..costs
            },
            hold: hold(table),
            turn,
            allocator,
        };
        let mut latencies = system.latencies(&seen);
        if wait.is_none() {
            latencies.iter_mut().for_each(|one| one.bound = None);
        }
        latencies
    });
    match &latencies {
        Some(latencies) => {
            // What is wrong with the manager has been noted.
            for (one, latency) in seen.iter().zip(latencies).filter(|_| wait.is_some()) {
                in_time(judge, one, latency);
            }
            if let Some(guarantee) = guarantee {
                jobs(judge, platform, guarantee, &seen, latencies);
            }
        }
        None => no_costs(judge, table, &seen),
    }
    let mut latencies = latencies.unwrap_or_default().into_iter();
    let devices = (0..).zip(&seen).map(|(interface, one)| plan::Accelerator {
        vm: one.vm,
        interface,
        task: one.task.clone(),
        number: one.number,
        regions: shared
            .task(&one.task)
            .map(|task| task.fits.clone())
            .unwrap_or_default(),
        real_time: one.real_time,
        latency: latencies.next(),
    });
    let devices: Vec<_> = devices.collect();
    let manager = manager?;
    let pages = pages(platform, &shared, (manager, allocator), table, &seen)?;
    Some(Sharing {
        accelerators: plan::Accelerators {
            manager,
            fabric: platform.profile.device(REGION_MONITOR)?.address.0,
            regions: shared.regions() as u32,
            tasks: tasks(&shared),
            bitstreams: bitstreams(&shared, &devices),
            hold_cycles: u32::try_from(shared.cycles_of(hold(table))).unwrap_or(u32::MAX),
            drain: Nanoseconds(shared.drain()),
            give_up: table.give_up.as_ref().map(|time| time.value),
            turn,
            allocator,
            costs,
            devices,
        },
        pages,
    })
}

/// The device of a design with regions that comes first, and what begins the names of the others
/// (`fabric/designs.toml`).
const REGION_MONITOR: &str = "region-monitor";
const CONFIGURATION_PORT: &str = "configuration-port";
const REGION: &str = "region-";
const ALLOCATION_TABLE: &str = "allocation-table";
const INTERFACE: &str = "interface-";
const VIRTUAL_DEVICE: &str = "virtual-device-";
/// What messages call the pages.
const PAGE: &str = "an accelerator's page";

/// For how long a region is held.
fn hold(table: &Accelerators) -> Nanoseconds {
    let hold = table.hold.as_ref();
    hold.map_or(DEFAULT_HOLD, |hold| hold.value.min(TIME_MAX))
}

/// The longest time that the allocation table has, in cycles: 20 bits.
const STOP_CYCLES_MAX: u64 = (1 << 20) - 1;

/// The fabric's allocator, where there is one and it is used. A turn is the manager's to keep.
fn allocator(
    platform: &Platform,
    shared: &Shared,
    table: &Accelerators,
    turn: Option<Turn>,
    seen: &[Seen<'_>],
) -> Option<plan::Allocator> {
    let written = table.allocator.as_ref();
    if turn.is_some() || written.is_some_and(|word| word.value == Allocator::Off) {
        return None;
    }
    let device = platform.profile.device(REGION_ALLOCATOR)?;
    platform.profile.device(ALLOCATION_TABLE)?;
    let tasks = seen.iter().filter_map(|one| shared.task(&one.task));
    let stop = tasks.map(|task| task.stop.0).max().unwrap_or(0);
    let stop = Nanoseconds(stop.max(shared.drain()));
    Some(plan::Allocator {
        page: device.address.0,
        source: *device.interrupts.first()?,
        stop_cycles: shared.cycles_of(stop).min(STOP_CYCLES_MAX) as u32,
    })
}

/// The pages that the manager has, where they are, and the VMs' virtual devices. `None`: the platform has not all of
/// them.
fn pages(
    platform: &Platform,
    shared: &Shared,
    (manager, allocator): (usize, Option<plan::Allocator>),
    table: &Accelerators,
    seen: &[Seen<'_>],
) -> Option<Vec<Page>> {
    let numbered = |begin: &str, number: usize| format!("{begin}{number}");
    let regions = (0..shared.regions()).map(|region| numbered(REGION, region));
    let interfaces = (0..seen.len()).map(|interface| numbered(INTERFACE, interface));
    let managers = [REGION_MONITOR, CONFIGURATION_PORT].map(str::to_owned);
    let allocation = allocator.map(|_| ALLOCATION_TABLE.to_owned());
    let managers = managers.into_iter().chain(regions).chain(allocation);
    let managers = managers.chain(interfaces);
    let of_manager = managers.map(|name| {
        let part_of = platform.profile.device(&name)?;
        let at = part_of.address.0;
        Some(Page {
            vm: manager,
            device: page_at(name, part_of, at, plan::Role::Device),
            what: PAGE,
            span: table.span.clone(),
        })
    });
    let of_vms = seen.iter().enumerate().map(|(interface, one)| {
        let part_of = platform
            .profile
            .device(&numbered(VIRTUAL_DEVICE, interface))?;
        let guest = map::ACCELERATOR_BASE + u64::from(one.number) * map::PAGE_SIZE;
        let role = plan::Role::Accelerator {
            interface: interface as u8,
            task: one.number,
        };
        Some(Page {
            vm: one.vm,
            device: page_at(one.task.clone(), part_of, guest, role),
            what: PAGE,
            span: one.written.span.clone(),
        })
    });
    of_manager.chain(of_vms).collect()
}

fn tasks(shared: &Shared) -> Vec<plan::Task> {
    let tasks = shared.tasks.iter().map(|task| plan::Task {
        number: task.number,
        fits: task.fits.iter().fold(0, |all, region| all | 1 << region),
        stop: task.stop,
    });
    tasks.collect()
}

/// The bitstreams of the tasks that a VM has, for each region that they fit into.
fn bitstreams(shared: &Shared, devices: &[plan::Accelerator]) -> plan::Bitstreams {
    let mut bitstreams = plan::Bitstreams::default();
    let is_wanted = |number: u8| devices.iter().any(|device| device.number == number);
    for task in shared.tasks.iter().filter(|task| is_wanted(task.number)) {
        for &region in &task.fits {
            let bytes = shared.bitstream(task, region);
            bitstreams.all.push(plan::Bitstream {
                task: task.number,
                region,
                offset: bitstreams.bytes.len() as u64,
                length: bytes.len() as u32,
            });
            bitstreams.bytes.extend(bytes);
            let whole = bitstreams.bytes.len().next_multiple_of(ALIGN as usize);
            bitstreams.bytes.resize(whole, 0);
        }
    }
    bitstreams
}

fn manager(judge: &mut Judge<'_>, table: &Accelerators) -> Option<usize> {
    let name = table.manager.as_ref()?;
    let vms = &judge.config.vms;
    let have = vms
        .iter()
        .filter(|vm| !vm.accelerators.is_empty())
        .filter_map(|vm| Some(vm.name.as_ref()?.value.as_str()));
    let have: Vec<&str> = have.collect();
    let manager = judge.resolve_vm(name, "`manager` of `[accelerators]`", &have)?;
    let own = &judge.config.vms[manager].accelerators;
    if let Some(own) = own.first() {
        let problem = Problem::new(
            Code::SelfReference,
            format!(
                "VM `{}` manages accelerators and has one itself",
                name.value
            ),
            "give the accelerator to another VM, or let another one be the manager",
        );
        let problem = problem.at(judge.source(), &own.span, "its own");
        judge.add(problem.at(judge.source(), &name.span, "the manager"));
    }
    Some(manager)
}

/// The longest time, in nanoseconds, that the manager waits for its hart once there is work for it. `None`, noted where
/// something is to be guaranteed: it has no reservation that suffices, or nothing bounds when it has its budget.
///
/// Its budget may be spent when a period begins, since each time that it is woken costs it the overhead of a job. Then
/// it waits until the next begins, and from then on no longer than until it has all of its budget but what it needs.
fn manager_wait(
    judge: &mut Judge<'_>,
    guarantee: &Guarantee,
    manager: usize,
    costs: Option<&latency::Costs>,
    seen: &[Seen<'_>],
) -> Option<u64> {
    let vm = &judge.config.vms[manager];
    let name = format!("{}.0", vm.name.as_ref()?.value);
    let nanoseconds =
        |ticks: u64| (ticks * u64::from(HZ)).div_ceil(u64::from(guarantee.timebase_hz));
    let vcpu = guarantee.vcpu(&name);
    let times = vcpu.and_then(|vcpu| Some((vcpu.reservation?, &vcpu.answer)));
    let needs = costs.map_or(0, |costs| costs.trap + 2 * costs.event() + costs.resume);
    let needs = needs + nanoseconds(guarantee.overheads.job);
    let lacks = match times {
        Some((times, _)) if nanoseconds(times.budget) < needs => format!(
            "has a budget of {}, and may need {} for one request",
            time_text(times.budget, guarantee.timebase_hz),
            time_text(needs, HZ),
        ),
        Some((times, Answer::Within(answer))) => {
            return Some(nanoseconds(
                times.period + answer.saturating_sub(times.budget),
            ));
        }
        Some(_) => "may have its budget too late".into(),
        None => "has no reservation".into(),
    };
    let one = seen.iter().find(|one| one.is_guaranteed())?;
    let span = vm.vcpus.first().map_or(&vm.span, |vcpu| &vcpu.span);
    let problem = Problem::new(
        Code::LateAccelerator,
        format!(
            "{} cannot be guaranteed: the device manager, {}, {lacks}",
            one.title,
            vm.title()
        ),
        "give the manager's vCPU a `period` and a `budget` in which it can handle the requests of all VMs",
    );
    judge.add(problem.at(judge.source(), span, "the manager"));
    None
}

/// The turns; in nanoseconds.
fn turn(judge: &mut Judge<'_>, table: &Accelerators) -> Option<Turn> {
    let (length, wait) = match (&table.turn, &table.turn_every) {
        (None, None) => return None,
        (Some(length), Some(wait)) => (length, wait),
        (Some(there), None) => {
            return missing(judge, &table.span, &there.span, "turn", "turn_every");
        }
        (None, Some(there)) => {
            return missing(judge, &table.span, &there.span, "turn_every", "turn");
        }
    };
    let fine = in_range(judge, length, "of `[accelerators]`")
        & in_range(judge, wait, "of `[accelerators]`");
    fine.then_some(Turn {
        wait: wait.value.0,
        length: length.value.0,
    })
}

fn missing(
    judge: &mut Judge<'_>,
    table: &Span,
    span: &Span,
    there: &str,
    key: &str,
) -> Option<Turn> {
    if judge.config.is_wrong(table, key) {
        return None;
    }
    judge.note(
        Code::MissingKey,
        span,
        format!("without `{key}`"),
        format!("`[accelerators]` has `{there}` and no `{key}`"),
        if key == "turn" {
            "add its length in a line such as `turn = \"1ms\"`"
        } else {
            "add how often it comes in a line such as `turn_every = \"100ms\"`"
        },
    );
    None
}

/// Whether a time can be kept; noted when not.
fn in_range(judge: &mut Judge<'_>, time: &At<Nanoseconds>, of: &str) -> bool {
    let fine = (1..=TIME_MAX.0).contains(&time.value.0);
    if !fine {
        judge.note(
            Code::OutOfRange,
            &time.span,
            format!("1 ns to {TIME_MAX}"),
            format!("a time {of} is {}", time.value),
            format!("use at most {TIME_MAX}, and not 0"),
        );
    }
    fine
}

/// What the system's design shares.
fn shared(judge: &mut Judge<'_>, platform: &Platform, table: &Accelerators) -> Option<Shared> {
    let shared = platform.design.as_deref().and_then(accelerators::shared);
    // One that is not known is noted already.
    let is_known = platform.design.is_some() || judge.config.design.is_none();
    if shared.is_none() && is_known {
        let known = accelerators::names().join("` or `");
        let problem = Problem::new(
            Code::NoAccelerators,
            "accelerators need a fabric with regions",
            format!("set `design` of `[fabric]` to `{known}`, on a board such as `soc`"),
        );
        let problem = problem.at(
            judge.source(),
            &table.span,
            "there are none for it to manage",
        );
        judge.add(match &judge.config.design {
            Some(design) => problem.at(judge.source(), &design.span, "this design has none"),
            None => problem,
        });
    }
    shared
}

/// All virtual devices, in the order of the file.
fn devices<'c>(judge: &mut Judge<'c>, shared: &Shared, vcpus: &Vcpus<'_>) -> Vec<Seen<'c>> {
    let config = judge.config;
    let all = config.vms.iter().flat_map(|vm| &vm.accelerators);
    if let Some(beyond) = all.clone().nth(shared.interfaces) {
        judge.note(
            Code::TooMany,
            &beyond.span,
            format!("number {}", shared.interfaces + 1),
            format!(
                "the VMs have {}, and the design has {}",
                count(all.count(), "accelerator"),
                count(shared.interfaces, "interface")
            ),
            "remove some",
        );
    }
    let mut seen: Vec<Seen<'c>> = Vec::new();
    for (index, vm) in config.vms.iter().enumerate() {
        let real_time = vm.rt_vcpus.as_ref().is_some_and(|number| number.value > 0)
            || vcpus
                .of_vm(index)
                .iter()
                .any(|vcpu| vcpu.class == Class::Rt);
        for written in &vm.accelerators {
            let one = device(judge, shared, vm, written);
            let Some((task, number, vcpu)) = one.filter(|_| seen.len() < shared.interfaces) else {
                continue;
            };
            let before = seen.iter().find(|one| one.vm == index && one.task == task);
            if let Some(before) = before {
                let problem = Problem::new(
                    Code::DuplicateName,
                    format!("{} has two accelerators `{task}`", vm.title()),
                    "one is enough: a VM's programs take turns with it",
                );
                let problem = problem.at(judge.source(), &written.span, "again");
                judge.add(problem.at(judge.source(), &before.written.span, "the first"));
            }
            seen.push(Seen {
                written,
                vm: index,
                title: format!("accelerator `{task}` of {}", vm.title()),
                real_time,
                vcpu,
                number,
                task,
            });
        }
    }
    seen
}

/// A virtual device's task, its number, and the vCPU.
fn device(
    judge: &mut Judge<'_>,
    shared: &Shared,
    vm: &Vm,
    written: &Accelerator,
) -> Option<(String, u8, u32)> {
    let name = written.task.as_ref()?;
    let title = format!("accelerator `{}` of {}", name.value, vm.title());
    if let Some(within) = &written.within {
        in_range(judge, within, &format!("of {title}"));
    }
    if let Some(per_job) = &written.per_job
        && !(1..=PER_JOB_MAX).contains(&per_job.value)
    {
        judge.note(
            Code::OutOfRange,
            &per_job.span,
            format!("1 to {PER_JOB_MAX}"),
            format!("a job asks {} times for {title}", per_job.value),
            "count how often a job of the vCPU starts it",
        );
    }
    let vcpu = written.vcpu.as_ref().map_or(0, |vcpu| vcpu.value);
    if let Some(place) = &written.vcpu
        && vcpu as usize >= vm.vcpus.len()
    {
        judge.note(
            Code::OutOfRange,
            &place.span,
            "no such vCPU",
            format!(
                "{title} is for vCPU {vcpu}, but the VM has {}, counted from 0",
                count(vm.vcpus.len(), "vCPU")
            ),
            "name the one that waits for it",
        );
    }
    let Some(task) = shared.task(&name.value) else {
        let own = |task: &str| {
            let mut own = vm.accelerators.iter().filter_map(|one| one.task.as_ref());
            own.any(|own| own.value == task)
        };
        let names = shared.tasks.iter().map(|task| task.name.as_str());
        let known: Vec<&str> = names.filter(|name| !own(name)).collect();
        judge.note(
            Code::UnknownTask,
            &name.span,
            "no such task",
            format!(
                "{} has an accelerator `{}`, and the design has no such task",
                vm.title(),
                name.value
            ),
            cure_of_unknown(&name.value, &known),
        );
        return None;
    };
    Some((task.name.clone(), task.number, vcpu))
}

/// The costs in nanoseconds; `None`, noted: some are missing, or out of range.
fn costs_of(judge: &mut Judge<'_>, costs: &Costs) -> Option<latency::Costs> {
    let mut of = |time: &Option<At<Nanoseconds>>| {
        let time = time.as_ref()?;
        in_range(judge, time, "of `[accelerators.costs]`").then_some(time.value.0)
    };
    let trap = of(&costs.trap);
    let resume = of(&costs.resume);
    let interrupt = of(&costs.interrupt);
    let search = of(&costs.search);
    let assign = of(&costs.assign);
    let assign_configure = of(&costs.assign_configure);
    let preempt = of(&costs.preempt);
    let configured = of(&costs.configured);
    let stopped = of(&costs.stopped);
    Some(latency::Costs {
        trap: trap?,
        resume: resume?,
        interrupt: interrupt?,
        search: search?,
        assign: assign?,
        assign_configure: assign_configure?,
        preempt: preempt?,
        configured: configured?,
        stopped: stopped?,
        wait: 0,
    })
}

/// What the latencies follow from; times in nanoseconds.
struct System<'s> {
    shared: &'s Shared,
    costs: latency::Costs,
    hold: Nanoseconds,
    turn: Option<Turn>,
    allocator: Option<plan::Allocator>,
}

impl System<'_> {
    fn latencies(&self, seen: &[Seen<'_>]) -> Vec<latency::Latency> {
        let devices: Vec<latency::Device> = seen
            .iter()
            .map(|one| latency::Device {
                vm: one.vm,
                task: one.number,
                priority: one.real_time.into(),
                hold: self.hold.0,
            })
            .collect();
        let (regions, mut tasks) = (self.shared.region_times(), self.shared.task_times());
        if self.allocator.is_some() {
            // The allocator has one time to stop for all tasks, the longest.
            let own = |number: usize| seen.iter().any(|one| usize::from(one.number) == number);
            let stops = tasks.iter().enumerate().filter(|(number, _)| own(*number));
            let stop = stops.map(|(_, task)| task.stop).max().unwrap_or(0);
            tasks
                .iter_mut()
                .for_each(|task| task.stop = task.stop.max(stop));
        }
        let system = latency::System {
            costs: self.costs,
            regions: &regions,
            tasks: &tasks,
            devices: &devices,
            drain: self.shared.drain(),
            turn: self.turn,
        };
        (0..devices.len())
            .filter_map(|which| system.latency(which))
            .collect()
    }
}

/// Notes that nothing can be guaranteed, where something has to be.
fn no_costs(judge: &mut Judge<'_>, table: &Accelerators, seen: &[Seen<'_>]) {
    if table.costs.is_some() {
        // Noted: some of it is missing or wrong.
        return;
    }
    let wanted = seen.iter().find(|one| one.is_guaranteed());
    if let Some(one) = wanted {
        let problem = Problem::new(
            Code::MissingKey,
            format!(
                "{} cannot be guaranteed: what the device manager's steps take is not known",
                one.title
            ),
            "add a table `[accelerators.costs]` with measured times, as the reference of `system.toml` describes it",
        );
        let problem = problem.at(judge.source(), &table.span, "`costs` is missing here");
        judge.add(problem.at(judge.source(), &one.written.span, "for this one"));
    }
}

/// Why there is no bound.
fn no_bound(one: &Seen<'_>, latency: &latency::Latency) -> (&'static str, &'static str) {
    if !one.real_time {
        (
            "best effort may wait for ever",
            "remove `within`, or make a vCPU of the VM `class = \"rt\"`",
        )
    } else if latency.together == 0 {
        (
            "real-time accelerators of other VMs may have all of its regions",
            "give fewer VMs real-time accelerators that fit the same regions",
        )
    } else {
        (
            "turns of best-effort accelerators come one after the other",
            "make `turn_every` of `[accelerators]` longer, or `turn` shorter",
        )
    }
}

/// Notes an accelerator that is there later than the description wants it.
fn in_time(judge: &mut Judge<'_>, one: &Seen<'_>, latency: &latency::Latency) {
    let span = one.written.within.as_ref().map(|within| &within.span);
    match (latency.bound, &one.written.within) {
        (Some(bound), Some(within)) if bound > within.value.0 => judge.note(
            Code::LateAccelerator,
            &within.span,
            format!("it may take {}", time_text(bound, HZ)),
            format!(
                "{} is to be there within {}, and may take {}: {} before it is its turn, {} to be had, {} for turns of others",
                one.title,
                within.value,
                time_text(bound, HZ),
                time_text(latency.before, HZ),
                time_text(bound - latency.before - latency.turns, HZ),
                time_text(latency.turns, HZ),
            ),
            "allow more time, or let fewer VMs share its regions",
        ),
        (Some(_), _) => {}
        (None, None) if !one.real_time => {}
        (None, _) => {
            let (reason, cure) = no_bound(one, latency);
            judge.note(
                Code::LateAccelerator,
                span.unwrap_or(&one.written.span),
                "no bound",
                format!("how long {} waits has no bound: {reason}", one.title),
                cure,
            );
        }
    }
}

/// Notes real-time vCPUs that are late when they wait for their accelerators, as if they computed meanwhile.
fn jobs(
    judge: &mut Judge<'_>,
    platform: &Platform,
    guarantee: &Guarantee,
    seen: &[Seen<'_>],
    latencies: &[latency::Latency],
) {
    let config = judge.config;
    for (vm_index, vm) in config.vms.iter().enumerate() {
        for number in 0..vm.vcpus.len() as u32 {
            let own = || {
                let all = seen.iter().zip(latencies);
                all.filter(move |(one, _)| one.vm == vm_index && one.vcpu == number)
            };
            let Some((first, _)) = own().next() else {
                continue;
            };
            let waits: Option<u64> = own()
                .map(|(one, latency)| {
                    let per_job = one.written.per_job.as_ref().map_or(1, |times| times.value);
                    latency.bound?.checked_mul(u64::from(per_job))
                })
                .try_fold(0_u64, |sum, wait| sum.checked_add(wait?));
            let name = vm.name.as_ref().map_or("", |name| &name.value);
            let name = format!("{name}.{number}");
            let vcpu = guarantee.vcpu(&name);
            let (Some(waits), Some(vcpu)) = (waits, vcpu) else {
                continue;
            };
            let (Answer::Within(_), Some(slack)) = (&vcpu.answer, vcpu.slack) else {
                continue;
            };
            if platform.profile.ticks_for(Nanoseconds(waits)) <= slack {
                continue;
            }
            let problem = Problem::new(
                Code::LateAccelerator,
                format!(
                    "vCPU {number} of {} may wait {} for its accelerators in each job, and has no more than {} to spare",
                    vm.title(),
                    time_text(waits, HZ),
                    time_text(slack, guarantee.timebase_hz),
                ),
                "make its `period` or `deadline` longer or its `budget` smaller, ask for fewer accelerators in a job, or let fewer VMs share them",
            );
            let problem = problem.at(judge.source(), &vm.vcpus[number as usize].span, "this vCPU");
            judge.add(problem.at(judge.source(), &first.written.span, "waits for this"));
        }
    }
}
