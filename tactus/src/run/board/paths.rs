//! Paths below the guests: how long a hart does not look whether an interrupt waits.
//!
//! The hypervisor runs with interrupts off. It *looks* at those that wait where its program says so ([`looks`]), and
//! serves them there; and whatever waits is taken when the hart enters a guest or waits. A *stretch* goes from a trap
//! out of a guest, from the end of a wait, or from a look, to the next look, guest or wait: an interrupt that comes
//! meanwhile is not served before its end. Stretches of the same cause and the same kind of end are a path.

use std::collections::BTreeMap;
use std::fmt;

use object::{Object, ObjectSection};
use serde::Deserialize;
use tactus_abi::{hypercall, map};
use tactus_board::account::Doing;
use tactus_board::privileged::{Exception, Privilege};
use tactus_board::timing::{Lines, Worst};
use tactus_board::trace::{Event, EventKind};

use super::Worker;
use super::spent::Spent;
use crate::image::Image;
use crate::walk::{self, Bounds, Costs, Start};

/// Where the hypervisor's program says at which addresses it looks at the interrupts that wait.
const LOOKS: &str = ".tactus.looks";

/// `wfi`, as the trap value shows it.
const WFI: u64 = 0x1050_0073;
/// `sret`.
const SRET: u64 = 0x1020_0073;

/// Addresses at which a hypervisor's program (an ELF file) looks at the interrupts that wait.
///
/// # Errors
/// It does not say; says why.
pub fn looks(program: &[u8]) -> Result<Vec<u64>, String> {
    let file = object::File::parse(program).map_err(|error| error.to_string())?;
    let section = file
        .section_by_name(LOOKS)
        .ok_or_else(|| format!("it has no section `{LOOKS}`"))?;
    let data = section.data().map_err(|error| error.to_string())?;
    let mut looks: Vec<u64> = data
        .chunks_exact(8)
        .map(|bytes| {
            bytes
                .iter()
                .rev()
                .fold(0, |word, byte| word << 8 | u64::from(*byte))
        })
        // What the linker has left out is at 0.
        .filter(|address| *address != 0)
        .collect();
    looks.sort_unstable();
    looks.dedup();
    if looks.is_empty() {
        return Err(format!("its section `{LOOKS}` is empty"));
    }
    Ok(looks)
}

/// What to collect paths with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watch {
    /// Addresses at which the hypervisor looks.
    pub looks: Vec<u64>,
    /// Of each VM, the harts, as bits, that may run a real-time vCPU of its configuration.
    pub real_time: Vec<u64>,
    /// The bounds that the hypervisor's program has; without, why there are none.
    pub bounds: Result<Bounds, String>,
}

impl Default for Watch {
    fn default() -> Self {
        Self {
            looks: Vec::new(),
            real_time: Vec::new(),
            bounds: Err("the program was not read".to_owned()),
        }
    }
}

impl Watch {
    /// What a system's image says, for a board with these costs. `None`: it has no caches.
    ///
    /// # Errors
    /// The hypervisor's file cannot be read, or does not say where it looks.
    pub fn of(image: &Image, costs: Option<&Costs>) -> miette::Result<Self> {
        let path = &image.hypervisor;
        let program = std::fs::read(path).map_err(|error| error.to_string());
        let fault = |reason: String| miette::miette!("{}: {reason}", path.display());
        let program = program.map_err(fault)?;
        let looks = looks(&program).map_err(fault)?;
        let bounds = costs.ok_or_else(|| "the board has no caches".to_owned());
        let bounds = bounds
            .and_then(|costs| Bounds::of(&program, &looks, costs, image.vcpus as u64))
            .map_err(|reason| format!("{}: {reason}", path.display()));
        Ok(Self {
            bounds,
            looks,
            real_time: image.real_time.clone(),
        })
    }
}

/// What brought the hart below the guests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// A call: extension and function; functions that no extension has count as one.
    Call(u64, Option<u64>),
    /// An access without memory behind it.
    Access(Kind, Target),
    /// `wfi`, and there is more to do.
    Wait,
    /// `sret`, while it is watched.
    Return,
    /// Another instruction that is not the guest's.
    Virtual,
    /// An instruction that is none, or one of the floating-point unit while that is another's.
    Illegal,
    /// Another exception.
    Exception(u64),
    /// An interrupt, by its number.
    Interrupt(u8),
    /// An interrupt that the hart waited for.
    Wake,
}

/// Kinds of access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum Kind {
    Fetch,
    Load,
    Store,
}

/// What is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum Target {
    Plic,
    Uart,
    Finisher,
    Doorbell,
    CallPage,
    Accelerator,
    Outside,
}

/// How a stretch ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// In the VM that the hart came from, which may have a real-time vCPU there.
    Back,
    /// In the VM that the hart came from, which has no real-time vCPU there.
    BackBestEffort,
    /// In another VM, which may have a real-time vCPU there.
    RealTime,
    /// In another VM, which has none.
    BestEffort,
    /// The hart waits.
    Idle,
    /// With a look.
    Look,
}

/// When in a run a stretch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Before each VM of the system has had a hart: some are still to be loaded.
    Loading,
    /// From then on. VMs that end are loaded again in this phase.
    Steady,
}

/// What a stretch is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path {
    /// What brought the hart below the guests.
    pub cause: Cause,
    /// Whether it has looked since.
    pub looked: bool,
    /// How the stretch ends.
    pub end: End,
}

impl Path {
    /// Where its stretches begin and end, as the walk tells them apart.
    fn walked(&self) -> (Start, walk::End) {
        let start = match self.cause {
            _ if self.looked => Start::Look,
            Cause::Wake => Start::Wake,
            Cause::Call(..) => Start::Trap("tactus_call"),
            Cause::Interrupt(5) => Start::Trap("tactus_timer"),
            Cause::Interrupt(_) => Start::Trap("tactus_interrupt"),
            Cause::Access(Kind::Store, _) => Start::Trap("tactus_doorbell"),
            Cause::Wait | Cause::Return | Cause::Virtual => {
                Start::Trap("tactus_virtual_instruction")
            }
            Cause::Access(..) | Cause::Illegal | Cause::Exception(_) => {
                Start::Trap("tactus_exception")
            }
        };
        let end = match self.end {
            End::Look => walk::End::Look,
            End::Idle => walk::End::Idle,
            End::Back | End::BackBestEffort | End::RealTime | End::BestEffort => walk::End::Guest,
        };
        (start, end)
    }
}

/// The stretches of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretches {
    /// How many.
    pub count: u64,
    /// Cycles of all.
    pub cycles: u64,
    /// Cycles of the longest.
    pub max: u64,
    /// Cycle at which the longest began.
    pub at: u64,
    /// On which hart.
    pub hart: u16,
    /// What its cycles went into.
    pub spent: Spent,
    /// The cache lines that it touched.
    pub lines: Lines,
    /// Lines of instructions of all.
    pub code: Tally,
    /// Lines of data of all.
    pub data: Tally,
    /// Cycles of those that read no line from memory.
    pub warm: Tally,
    /// Cycles of the longest if each of its lines had come from memory at the greatest cost; 0 where there are no
    /// lines.
    pub cold: u64,
    /// How many were longer than that.
    pub past_cold: u64,
    /// Cycles of those that stayed within the code that is walked.
    pub walked: Tally,
    /// The greatest of their bounds; 0 where there is none.
    pub bound: u64,
    /// How many of them were longer than their bounds, or have none.
    pub past_bound: u64,
}

/// A figure of several stretches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Of how many.
    pub count: u64,
    /// Their sum.
    pub sum: u64,
    /// The greatest.
    pub max: u64,
}

impl Tally {
    const fn of(figure: u64) -> Self {
        Self {
            count: 1,
            sum: figure,
            max: figure,
        }
    }

    fn if_so(counts: bool, figure: u64) -> Self {
        if counts {
            Self::of(figure)
        } else {
            Self::default()
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            sum: self.sum + other.sum,
            max: self.max.max(other.max),
        }
    }

    /// The mean, of any at all.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.count as f64
    }
}

/// What a stretch would take if each line that it touched had come from memory, and all else had been as slow as it
/// can be: lines that it lost and read again count again, and what was under way when it began is waited for.
fn cold_of(spent: &Spent, lines: &Lines, worst: &Worst) -> u64 {
    let Lines {
        code,
        data,
        again,
        devices,
        ..
    } = *lines;
    let lines = u64::from(code) + u64::from(data) + u64::from(again);
    let devices = (u64::from(devices) * worst.device).max(spent.device);
    let run = spent.running + spent.branch + spent.translation + spent.firmware;
    run + devices + lines * worst.line + worst.under_way
}

/// All paths of a run.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    watch: Watch,
    /// The board's greatest costs, if it has caches.
    worst: Option<Worst>,
    paths: BTreeMap<(Path, Phase), Stretches>,
    harts: Vec<Hart>,
    /// VMs that have begun, as bits.
    begun: u64,
    /// Stretches that begin before this cycle do not count; `None`: none do.
    from: Option<u64>,
}

/// A hart, as far as its stretches are concerned.
#[derive(Clone, Debug, Default)]
struct Hart {
    /// Who had it last, if anybody had, or it was waiting below.
    from: Option<Worker>,
    /// Whether it is the hypervisor that it does something for now, or the firmware on its behalf.
    below: bool,
    /// The last trap: its cycle and what it was.
    trap: Option<(u64, Cause)>,
    /// The present one.
    stretch: Option<Stretch>,
}

/// A stretch that is not over.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    /// Since when.
    since: u64,
    /// What the hart had spent then.
    spent: Spent,
    cause: Cause,
    /// Whether there was a look.
    looked: bool,
    phase: Phase,
}

impl Stretches {
    /// These and those.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let longest = if other.max > self.max { other } else { self };
        Self {
            count: self.count + other.count,
            cycles: self.cycles + other.cycles,
            code: self.code.and(other.code),
            data: self.data.and(other.data),
            warm: self.warm.and(other.warm),
            cold: self.cold.max(other.cold),
            past_cold: self.past_cold + other.past_cold,
            walked: self.walked.and(other.walked),
            bound: self.bound.max(other.bound),
            past_bound: self.past_bound + other.past_bound,
            ..longest
        }
    }

    /// Cycles on average.
    pub fn mean(&self) -> f64 {
        self.cycles as f64 / self.count as f64
    }
}

impl Paths {
    /// Nothing yet, on a board with these greatest costs.
    pub fn new(watch: Watch, worst: Option<Worst>) -> Self {
        Self {
            watch,
            worst,
            from: Some(0),
            ..Self::default()
        }
    }

    /// Stretches that begin at `cycle` or later count.
    pub fn count_from(&mut self, cycle: u64) {
        self.from = Some(cycle);
    }

    /// Stretches that end from now on do not count.
    pub fn count_no_more(&mut self) {
        self.from = None;
    }

    /// Why there are no bounds of them, if there are none.
    pub fn unbounded(&self) -> Option<&str> {
        self.watch.bounds.as_ref().err().map(String::as_str)
    }

    /// They, in a fixed order.
    pub fn iter(&self) -> impl Iterator<Item = (Path, Stretches)> {
        self.iter_in(None)
    }

    /// Those that began in a phase, or all.
    pub fn iter_in(&self, phase: Option<Phase>) -> impl Iterator<Item = (Path, Stretches)> {
        let mut found: BTreeMap<Path, Stretches> = BTreeMap::new();
        let wanted = |of: Phase| phase.is_none_or(|phase| phase == of);
        for ((path, _), stretches) in self.paths.iter().filter(|((_, of), _)| wanted(*of)) {
            take(&mut found, *path, *stretches);
        }
        found.into_iter()
    }

    /// Adds those of another run.
    pub fn merge(&mut self, other: &Self) {
        if self.paths.is_empty() || other.watch.bounds.is_err() {
            self.watch.bounds.clone_from(&other.watch.bounds);
        }
        for (key, stretches) in &other.paths {
            take(&mut self.paths, *key, *stretches);
        }
    }

    fn hart(&mut self, hart: u16) -> &mut Hart {
        let hart = usize::from(hart);
        if self.harts.len() <= hart {
            self.harts.resize(hart + 1, Hart::default());
        }
        &mut self.harts[hart]
    }

    /// Takes what happened to a hart, which has spent so much so far. Probes from number `looks` on are looks. Cycles
    /// of a hart never go back.
    pub fn event(&mut self, event: &Event, spent: &Spent, looks: u32) {
        let (cycle, hart) = (event.cycle, event.hart);
        match event.kind {
            EventKind::Turn(doing) => self.turn(cycle, hart, (spent, &event.lines), doing),
            EventKind::Interrupt { interrupt, .. } => {
                self.trap(cycle, hart, Cause::Interrupt(interrupt.number))
            }
            EventKind::Exception {
                cause,
                value,
                guest_physical,
                call,
                ..
            } => {
                self.trap(cycle, hart, Cause::of(cause, value, guest_physical, call));
            }
            EventKind::Probe { probe, on, .. }
                if probe >= looks && Worker::of(on, 0) == Worker::Hypervisor =>
            {
                self.look(cycle, hart, (spent, &event.lines));
            }
            EventKind::Probe { .. } | EventKind::Access { .. } | EventKind::PowerLoss => {}
        }
    }

    fn trap(&mut self, cycle: u64, hart: u16, cause: Cause) {
        let hart = self.hart(hart);
        hart.trap = Some((cycle, cause));
        // The turn that it leads to may be told before.
        if let Some(stretch) = &mut hart.stretch
            && stretch.since == cycle
            && stretch.cause == Cause::Wake
            && hart.from != Some(Worker::Idle)
        {
            stretch.cause = cause;
        }
    }

    fn phase(&self) -> Phase {
        if self.begun.count_ones() as usize == self.watch.real_time.len() {
            Phase::Steady
        } else {
            Phase::Loading
        }
    }

    /// A hart does something else from `cycle` on.
    fn turn(&mut self, cycle: u64, hart: u16, used: (&Spent, &Lines), doing: Doing) {
        let index = hart;
        let to = Worker::of(doing, self.watch.real_time.len());
        let real_time =
            matches!(&to, Worker::Vm(vm) if self.watch.real_time[*vm] >> index & 1 != 0);
        if let Worker::Vm(vm) = to {
            self.begun |= 1 << vm;
        }
        let phase = self.phase();
        let hart = self.hart(hart);
        match (&to, doing) {
            (Worker::Hypervisor | Worker::Firmware | Worker::User, _) => {
                if hart.stretch.is_none() && hart.from.is_some() {
                    let cause = match hart.trap {
                        Some((at, cause)) if at == cycle && hart.from != Some(Worker::Idle) => {
                            cause
                        }
                        _ => Cause::Wake,
                    };
                    hart.stretch = Some(Stretch {
                        since: cycle,
                        spent: *used.0,
                        cause,
                        looked: false,
                        phase,
                    });
                }
                hart.below = matches!(
                    doing,
                    Doing::Running {
                        privilege: Privilege::Supervisor,
                        ..
                    }
                );
            }
            _ => {
                let idle = to == Worker::Idle;
                let end = match (&to, &hart.from) {
                    (Worker::Idle, _) => End::Idle,
                    (to, Some(from)) if to == from && real_time => End::Back,
                    (to, Some(from)) if to == from => End::BackBestEffort,
                    _ if real_time => End::RealTime,
                    _ => End::BestEffort,
                };
                let stretch = hart.stretch.take();
                // A wait of the firmware's, before there is a hypervisor, is none.
                hart.from = (!idle || hart.below).then_some(to);
                if let Some(stretch) = stretch {
                    self.add(&stretch, end, (cycle, index), used);
                }
            }
        }
    }

    /// The hypervisor looks, on a hart.
    fn look(&mut self, cycle: u64, hart: u16, used: (&Spent, &Lines)) {
        let phase = self.phase();
        // While it boots, it checks for no interrupt.
        let Some(stretch) = &mut self.hart(hart).stretch else {
            return;
        };
        let next = Stretch {
            since: cycle,
            spent: *used.0,
            cause: stretch.cause,
            looked: true,
            phase,
        };
        let over = std::mem::replace(stretch, next);
        self.add(&over, End::Look, (cycle, hart), used);
    }

    /// A stretch has ended, at this cycle of this hart, which had spent so much by then; the lines are the stretch's.
    fn add(
        &mut self,
        stretch: &Stretch,
        end: End,
        (cycle, hart): (u64, u16),
        (spent, lines): (&Spent, &Lines),
    ) {
        if self.from.is_none_or(|from| stretch.since < from) {
            return;
        }
        let path = Path {
            cause: stretch.cause,
            looked: stretch.looked,
            end,
        };
        let cycles = cycle.saturating_sub(stretch.since);
        let spent = spent.since(&stretch.spent);
        let cold = self.worst.as_ref();
        let cold = cold.map_or(0, |worst| cold_of(&spent, lines, worst));
        let bounds = self.watch.bounds.as_ref().ok();
        let is_walked = bounds.is_some() && lines.outside == 0;
        let bound = bounds.and_then(|bounds| bounds.of.get(&path.walked()));
        let bound = bound.map_or(0, |bound| bound.cycles);
        let is_warm = lines.code_from_memory == 0 && lines.data_from_memory == 0;
        let one = Stretches {
            count: 1,
            cycles,
            max: cycles,
            at: stretch.since,
            hart,
            spent,
            lines: *lines,
            code: Tally::of(lines.code.into()),
            data: Tally::of(lines.data.into()),
            warm: Tally::if_so(is_warm, cycles),
            cold,
            past_cold: u64::from(self.worst.is_some() && cycles > cold),
            walked: Tally::if_so(is_walked, cycles),
            bound: if is_walked { bound } else { 0 },
            past_bound: u64::from(is_walked && cycles > bound),
        };
        take(&mut self.paths, (path, stretch.phase), one);
    }
}

/// Adds stretches to those that there are of the same key.
fn take<K: Ord>(all: &mut BTreeMap<K, Stretches>, key: K, stretches: Stretches) {
    all.entry(key)
        .and_modify(|known| *known = known.and(stretches))
        .or_insert(stretches);
}

/// Extensions with their names and those of their functions, from 0 on.
const CALLS: [(u64, &str, &[&str]); 12] = [
    (0x00, "legacy set_timer", &[]),
    (0x01, "legacy console_putchar", &[]),
    (0x02, "legacy console_getchar", &[]),
    (0x08, "legacy shutdown", &[]),
    (
        0x10,
        "base",
        &[
            "get_spec_version",
            "get_impl_id",
            "get_impl_version",
            "probe_extension",
            "get_mvendorid",
            "get_marchid",
            "get_mimpid",
        ],
    ),
    (0x5449_4d45, "TIME", &["set_timer"]),
    (0x0073_5049, "IPI", &["send_ipi"]),
    (
        0x5246_4e43,
        "RFENCE",
        &["fence_i", "sfence_vma", "sfence_vma_asid"],
    ),
    (
        0x0048_534d,
        "HSM",
        &["hart_start", "hart_stop", "hart_get_status", "hart_suspend"],
    ),
    (0x5352_5354, "SRST", &["system_reset"]),
    (
        0x4442_434e,
        "DBCN",
        &["console_write", "console_read", "console_write_byte"],
    ),
    (
        hypercall::EXTENSION as u64,
        "Tactus",
        &[
            "version",
            "channel_notify",
            "vm_status",
            "vm_restart",
            "cpu_time",
            "rt_create",
            "rt_query",
            "rt_change",
            "rt_delete",
            "rt_yield",
            "message_send",
            "message_receive",
            "interrupt_page",
            "interrupt_end",
            "accelerator_requests",
        ],
    ),
];
/// Stands for all extensions that there are not.
const UNKNOWN: u64 = u64::MAX;

impl Cause {
    /// That of an exception, with its trap value, the guest-physical address of a guest-page fault, and `a6` and `a7`.
    pub fn of(
        exception: Exception,
        value: u64,
        guest_physical: u64,
        [function, extension]: [u64; 2],
    ) -> Self {
        let access = |kind| Self::Access(kind, Target::of(guest_physical));
        match exception {
            Exception::VirtualSupervisorEnvironmentCall => {
                let known = CALLS.iter().find(|(known, ..)| *known == extension);
                match known {
                    None => Self::Call(UNKNOWN, None),
                    Some((_, _, functions)) => Self::Call(
                        extension,
                        Some(function).filter(|function| *function < functions.len() as u64),
                    ),
                }
            }
            Exception::InstructionGuestPageFault => access(Kind::Fetch),
            Exception::LoadGuestPageFault => access(Kind::Load),
            Exception::StoreGuestPageFault => access(Kind::Store),
            Exception::VirtualInstruction if value == WFI => Self::Wait,
            Exception::VirtualInstruction if value == SRET => Self::Return,
            Exception::VirtualInstruction => Self::Virtual,
            Exception::IllegalInstruction => Self::Illegal,
            other => Self::Exception(other as u64),
        }
    }

    /// Every call that there is, each of whose causes a driver has to bring about.
    pub fn calls() -> impl Iterator<Item = Self> {
        CALLS.into_iter().flat_map(|(extension, _, functions)| {
            let named = (0..functions.len() as u64)
                .map(move |function| Self::Call(extension, Some(function)));
            let alone = functions.is_empty().then_some(Self::Call(extension, None));
            named.chain(alone)
        })
    }
}

impl Target {
    fn of(address: u64) -> Self {
        let within = |base: u64, size: u64| (base..base + size).contains(&address);
        if within(map::PLIC_BASE, map::PLIC_SIZE) {
            Self::Plic
        } else if within(map::UART_BASE, map::UART_SIZE) {
            Self::Uart
        } else if within(map::FINISHER_BASE, map::PAGE_SIZE) {
            Self::Finisher
        } else if within(map::CALL_BASE, 8) {
            Self::CallPage
        } else if within(map::DOORBELL_BASE, map::PAGE_SIZE) {
            Self::Doorbell
        } else if (map::ACCELERATOR_BASE..map::ACCELERATOR_END).contains(&address) {
            Self::Accelerator
        } else {
            Self::Outside
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Plic => "interrupt controller",
            Self::Uart => "UART",
            Self::Finisher => "finisher",
            Self::Doorbell => "doorbell page",
            Self::CallPage => "call by memory",
            Self::Accelerator => "accelerator",
            Self::Outside => "outside",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Call(extension, function) => {
                let known = CALLS.iter().find(|(known, ..)| *known == extension);
                let Some((_, name, functions)) = known else {
                    return f.write_str("call: unknown extension");
                };
                let function = function.and_then(|function| functions.get(function as usize));
                match function {
                    Some(function) => write!(f, "call: {name} {function}"),
                    None if functions.is_empty() => write!(f, "call: {name}"),
                    None => write!(f, "call: {name}, unknown function"),
                }
            }
            Self::Access(kind, target) => {
                let kind = match kind {
                    Kind::Fetch => "fetch",
                    Kind::Load => "load",
                    Kind::Store => "store",
                };
                write!(f, "{kind}: {}", target.name())
            }
            Self::Wait => f.write_str("wfi"),
            Self::Return => f.write_str("sret, watched"),
            Self::Virtual => f.write_str("virtual instruction"),
            Self::Illegal => f.write_str("illegal instruction, or floating point"),
            Self::Exception(code) => write!(f, "exception: {}", crate::report::cause(code)),
            Self::Interrupt(number) => f.write_str(match number {
                1 => "interrupt: from another hart",
                5 => "interrupt: timer",
                9 => "interrupt: device",
                3 => "interrupt of the firmware: from another hart",
                7 => "interrupt of the firmware: timer",
                _ => "interrupt: other",
            }),
            Self::Wake => f.write_str("interrupt while idle"),
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cause, looked, end } = self;
        let looked = if *looked { ", after a look" } else { "" };
        write!(f, "{cause}{looked} to {end}")
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Back => "back, RT",
            Self::BackBestEffort => "back, BE",
            Self::RealTime => "other VM, RT",
            Self::BestEffort => "other VM, BE",
            Self::Idle => "idle",
            Self::Look => "look",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYPERVISOR: Doing = Doing::Running {
        guest: None,
        privilege: Privilege::Supervisor,
    };
    const FIRMWARE: Doing = Doing::Running {
        guest: None,
        privilege: Privilege::Machine,
    };

    fn guest(vm: u16) -> Doing {
        Doing::Running {
            guest: Some(vm + 1),
            privilege: Privilege::Supervisor,
        }
    }

    #[test]
    fn stretches_count_within_the_window() {
        let watch = Watch {
            real_time: vec![0],
            ..Watch::default()
        };
        let mut paths = Paths::new(watch, None);
        let used = (&Spent::default(), &Lines::default());
        let stretch = |paths: &mut Paths, from, to| {
            paths.trap(from, 0, Cause::Wait);
            paths.turn(from, 0, used, HYPERVISOR);
            paths.turn(to, 0, used, guest(0));
        };
        paths.turn(1, 0, used, guest(0));
        paths.count_no_more();
        stretch(&mut paths, 10, 100);
        paths.count_from(200);
        stretch(&mut paths, 199, 290);
        stretch(&mut paths, 300, 330);
        paths.trap(400, 0, Cause::Wait);
        paths.turn(400, 0, used, HYPERVISOR);
        paths.count_no_more();
        paths.turn(490, 0, used, guest(0));
        let found: Vec<(u64, u64)> = paths
            .iter()
            .map(|(_, stretches)| (stretches.count, stretches.max))
            .collect();
        assert_eq!(found, [(1, 30)]);
    }

    #[test]
    fn a_stretch_ends_with_a_look_a_guest_or_a_wait() {
        let watch = Watch {
            real_time: vec![0b01, 0],
            ..Watch::default()
        };
        let mut paths = Paths::new(watch, None);
        let used = (&Spent::default(), &Lines::default());
        let call = Cause::Call(0x10, Some(3));
        let timer = Cause::Interrupt(5);
        // The firmware's wait and the hypervisor's boot are no stretches.
        paths.turn(1, 0, used, Doing::Waiting);
        paths.turn(2, 0, used, FIRMWARE);
        paths.turn(3, 0, used, HYPERVISOR);
        paths.look(5, 0, used);
        paths.turn(10, 0, used, guest(1));
        // A call that the firmware has a part in.
        paths.trap(100, 0, call);
        paths.turn(100, 0, used, HYPERVISOR);
        paths.trap(110, 0, Cause::Exception(9));
        paths.turn(110, 0, used, FIRMWARE);
        paths.turn(120, 0, used, HYPERVISOR);
        paths.turn(130, 0, used, guest(1));
        // Told after its turn; with a look.
        paths.turn(200, 0, used, HYPERVISOR);
        paths.trap(200, 0, timer);
        paths.look(207, 0, used);
        paths.turn(250, 0, used, guest(0));
        // A guest's own exception, a call that waits, the wake.
        paths.trap(270, 0, Cause::Illegal);
        paths.trap(300, 0, call);
        paths.turn(300, 0, used, HYPERVISOR);
        paths.turn(320, 0, used, Doing::Waiting);
        paths.turn(400, 0, used, HYPERVISOR);
        paths.look(409, 0, used);
        paths.turn(430, 0, used, guest(1));
        // Another hart is below for ever.
        paths.turn(440, 1, used, HYPERVISOR);
        let all = |phase| {
            let stretches = paths.iter_in(phase).map(|(_, stretches)| stretches.count);
            stretches.sum::<u64>()
        };
        // Both VMs have had a hart from 250 on.
        assert_eq!(
            [None, Some(Phase::Loading), Some(Phase::Steady)].map(all),
            [6, 3, 3]
        );
        let found: Vec<(String, u64, u64)> = paths
            .iter()
            .map(|(path, stretches)| (path.to_string(), stretches.max, stretches.at))
            .collect();
        let wanted = [
            ("call: base probe_extension to back, BE", 30, 100),
            ("call: base probe_extension to idle", 20, 300),
            ("interrupt: timer to look", 7, 200),
            ("interrupt: timer, after a look to other VM, RT", 43, 207),
            ("interrupt while idle to look", 9, 400),
            (
                "interrupt while idle, after a look to other VM, BE",
                21,
                409,
            ),
        ];
        let wanted = wanted.map(|(path, max, at)| (path.to_owned(), max, at));
        assert_eq!(found, wanted);
        let mut twice = paths.clone();
        twice.merge(&paths);
        assert!(twice.iter().all(|(_, stretches)| stretches.count == 2));
    }

    #[test]
    fn stretches_past_their_bounds_are_counted() {
        let bounds = |cycles| {
            let bound = walk::Bound {
                cycles,
                ..walk::Bound::default()
            };
            Bounds {
                of: BTreeMap::from([((Start::Trap("tactus_call"), walk::End::Guest), bound)]),
                walked: Vec::new(),
            }
        };
        let past = |bound: u64, worst: Worst, lines: Lines| {
            let watch = Watch {
                real_time: vec![0],
                bounds: Ok(bounds(bound)),
                ..Watch::default()
            };
            let mut paths = Paths::new(watch, Some(worst));
            let spent = |running| Spent {
                running,
                ..Spent::default()
            };
            paths.turn(10, 0, (&spent(0), &Lines::default()), guest(0));
            paths.trap(100, 0, Cause::Call(0x10, Some(3)));
            paths.turn(100, 0, (&spent(0), &Lines::default()), HYPERVISOR);
            // Of 90 cycles it waits 60 for lines.
            paths.turn(190, 0, (&spent(30), &lines), guest(0));
            let (_, stretches) = paths.iter().next().expect("there is one");
            (stretches.past_bound, stretches.past_cold)
        };
        let profile = tactus_board::profile::Profile::named("soc").expect("it is there");
        let worst = Worst {
            line: 20,
            under_way: 0,
            ..Worst::of(&profile.timing, 2).expect("it has caches")
        };
        let lines = Lines {
            code: 2,
            data: 1,
            ..Lines::default()
        };
        assert_eq!(past(90, worst, lines), (0, 0));
        assert_eq!(past(89, worst, lines), (1, 0));
        assert_eq!(past(90, Worst { line: 19, ..worst }, lines), (0, 1));
        // One that was elsewhere, too, has another bound.
        let outside = Lines {
            outside: 1,
            ..lines
        };
        assert_eq!(past(1, worst, outside), (0, 0));
    }

    #[test]
    fn causes_are_told_apart() {
        let of = |exception, value, address, call| {
            Cause::of(exception, value, address, call).to_string()
        };
        let ecall = Exception::VirtualSupervisorEnvironmentCall;
        let tactus = hypercall::EXTENSION as u64;
        assert_eq!(of(ecall, 0, 0, [9, tactus]), "call: Tactus rt_yield");
        assert_eq!(
            of(ecall, 0, 0, [99, tactus]),
            "call: Tactus, unknown function"
        );
        assert_eq!(of(ecall, 0, 0, [7, 1]), "call: legacy console_putchar");
        assert_eq!(of(ecall, 0, 0, [0, 77]), "call: unknown extension");
        let store = Exception::StoreGuestPageFault;
        assert_eq!(
            of(store, 1, map::CALL_BASE, [0; 2]),
            "store: call by memory"
        );
        assert_eq!(
            of(store, 1, map::DOORBELL_BASE + 8, [0; 2]),
            "store: doorbell page"
        );
        assert_eq!(of(store, 1, 0, [0; 2]), "store: outside");
        let virtual_instruction = Exception::VirtualInstruction;
        assert_eq!(of(virtual_instruction, WFI, 0, [0; 2]), "wfi");
        assert_eq!(of(virtual_instruction, 1, 0, [0; 2]), "virtual instruction");
    }
}
