//! The board as gdb's protocol sees it: threads with registers, memory, and places to stop at.

use std::collections::BTreeSet;
use std::convert::Infallible;

use gdbstub::common::{Signal, Tid};
use gdbstub::stub::MultiThreadStopReason;
use gdbstub::target::ext::base::BaseOps;
use gdbstub::target::ext::base::multithread::{
    MultiThreadBase, MultiThreadRangeStepping, MultiThreadRangeSteppingOps, MultiThreadResume,
    MultiThreadResumeOps, MultiThreadSchedulerLocking, MultiThreadSchedulerLockingOps,
    MultiThreadSingleStep, MultiThreadSingleStepOps,
};
use gdbstub::target::ext::base::single_register_access::{
    SingleRegisterAccess, SingleRegisterAccessOps,
};
use gdbstub::target::ext::breakpoints::{
    Breakpoints, BreakpointsOps, HwBreakpoint, HwBreakpointOps, HwWatchpoint, HwWatchpointOps,
    SwBreakpoint, SwBreakpointOps, WatchKind,
};
use gdbstub::target::ext::monitor_cmd::{ConsoleOutput, MonitorCmd, MonitorCmdOps};
use gdbstub::target::ext::target_description_xml_override::{
    TargetDescriptionXmlOverride, TargetDescriptionXmlOverrideOps,
};
use gdbstub::target::ext::thread_extra_info::{ThreadExtraInfo, ThreadExtraInfoOps};
use gdbstub::target::{Target, TargetError, TargetResult};
use gdbstub_arch::riscv::reg::RiscvCoreRegs;

use super::registers::{Number, Rv64, description};
use crate::board::{Board, BuildError, MemoryModel, Outcome, Parts, Watch};
use crate::inspect::AddressSpace;
use crate::privileged::Extensions;
use crate::privileged::number as csr;
use crate::privileged::{Mode, Privilege};
use crate::profile::Profile;
use crate::time::Femtoseconds;

/// Error numbers that answers carry (gdb's manual, "Errno Values").
const NO_SUCH_THREAD: u8 = 3;
const BAD_ADDRESS: u8 = 14;
const BAD_VALUE: u8 = 22;

/// How many instructions may pass, and how many turns of harts, before the wire is looked at.
const SLICE_INSTRUCTIONS: u64 = 1 << 20;
const SLICE_TURNS: u32 = 4096;
/// Most watchpoints at a time: every slow access looks through them.
const WATCHES: usize = 64;
/// How many single steps may be made before the wire is looked at.
const SLICE_STEPS: u32 = 4096;
/// The protocol's library adds to the addresses of long reads without a look at the end of the address space.
const SHORT: usize = 1024;

/// Most harts: so many numbers of threads a process has.
pub(super) const HARTS_MAX: usize = 1 << 10;

/// A guest that gdb has a process for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guest {
    /// The VMID of its `hgatp`.
    pub vmid: u16,
    /// Its name in messages.
    pub name: String,
}

/// A place in an address space: the process, counted from 0, and the virtual address.
type Place = (usize, u64);

/// The action of one hart when the board runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Continue,
    Step,
    /// Steps while in this range of addresses.
    StepIn(u64, u64),
}

/// How a slice of a run ended.
pub(super) enum Slice {
    /// It is time to look at the wire.
    Over,
    /// gdb is to be told.
    Stopped(MultiThreadStopReason<u64>),
    /// The run is at an end.
    Ended(Outcome),
}

/// A board under a debugger.
pub(super) struct Debuggee {
    /// The board, while a run is under way; else one that stands in for it.
    pub(super) board: Board,
    /// The interpretation of memory addresses.
    pub(super) addresses: Addresses,
    /// The guests that gdb has a process for; the process of each is one more than its place here.
    guests: Vec<Guest>,
    /// Whether gdb tells processes apart. Else all is one.
    multiprocess: bool,
    /// The process that packets without a thread are about.
    general: usize,
    /// By guest, its address space when it was last seen on a hart.
    seen: Vec<Option<AddressSpace>>,
    /// Places of either kind.
    software: BTreeSet<Place>,
    hardware: BTreeSet<Place>,
    /// Stops that were there before gdb asked for them.
    others: BTreeSet<u64>,
    /// Watchpoints: process, address, length and kind.
    watches: Vec<(usize, u64, u64, Watch)>,
    /// By hart, what it was told to do, and as a thread of which process.
    actions: Vec<Option<(Action, usize)>>,
    /// Whether harts that were told nothing stand still.
    locked: bool,
    /// Where a step left its process.
    left_at: Option<u64>,
    /// No hart has moved since the board was told to run.
    fresh: bool,
    description: String,
}

/// The interpretation of memory addresses, set by `monitor physical`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Addresses {
    /// Virtual, of the thread's process.
    Virtual,
    /// Guest-physical, of the thread's process.
    GuestPhysical,
    /// Physical.
    Physical,
}

/// The number of the thread that a hart is in a process, both counted from 0.
pub(super) const fn number(process: usize, hart: usize) -> usize {
    process * HARTS_MAX + hart + 1
}

/// The process of the thread with this number.
pub(super) const fn process_of_number(number: usize) -> usize {
    number.saturating_sub(1) / HARTS_MAX
}

fn thread(process: usize, hart: usize) -> Tid {
    Tid::MIN.saturating_add(number(process, hart) - 1)
}

impl Debuggee {
    pub(super) fn new() -> Result<Self, BuildError> {
        Ok(Self {
            board: stand_in()?,
            addresses: Addresses::Virtual,
            guests: Vec::new(),
            multiprocess: false,
            general: 0,
            seen: Vec::new(),
            software: BTreeSet::new(),
            hardware: BTreeSet::new(),
            others: BTreeSet::new(),
            watches: Vec::new(),
            actions: Vec::new(),
            locked: false,
            left_at: None,
            fresh: true,
            description: description(),
        })
    }

    /// Takes a board for a run, or gives it back.
    pub(super) fn swap(&mut self, board: &mut Board) {
        std::mem::swap(&mut self.board, board);
        self.actions
            .resize(self.board.harts().max(self.actions.len()), None);
    }

    pub(super) fn name_guests(&mut self, guests: Vec<Guest>) {
        self.seen = vec![None; guests.len()];
        self.guests = guests;
    }

    pub(super) fn guests(&self) -> &[Guest] {
        &self.guests
    }

    /// Whether gdb tells processes apart, and which one the next packet is about.
    pub(super) fn about(&mut self, multiprocess: bool, process: usize) {
        self.multiprocess = multiprocess;
        self.general = process;
    }

    /// The process that the next packet is about.
    pub(super) const fn general(&self) -> usize {
        self.general
    }

    /// The name of a process in messages. `None`: it is the only one.
    pub(super) fn name(&self, process: usize) -> Option<&str> {
        if !self.multiprocess {
            return None;
        }
        Some(match process.checked_sub(1) {
            None => "host",
            Some(guest) => self.guests.get(guest).map_or("", |guest| &guest.name),
        })
    }

    /// The process that a hart is in.
    pub(super) fn process_of(&self, hart: usize) -> usize {
        if !self.multiprocess || !self.board.mode(hart).v {
            return 0;
        }
        self.process_of_guest(self.board.address_space(hart).vmid())
    }

    /// The process of the guest with this VMID. One without a name belongs to the first.
    fn process_of_guest(&self, vmid: u16) -> usize {
        let place = self.guests.iter().position(|guest| guest.vmid == vmid);
        place.map_or(0, |guest| guest + 1)
    }

    /// The thread that a hart is now.
    pub(super) fn thread_of(&self, hart: usize) -> Tid {
        thread(self.process_of(hart), hart)
    }

    /// The address space of a process, for a hart, and the hart whose it is: the hart's own where that is in the
    /// process; else another hart's that is, or has the guest's page tables still; else the one that the guest was last
    /// seen with.
    pub(super) fn space(&self, process: usize, hart: usize) -> Option<AddressSpace> {
        if self.process_of(hart) == process {
            return Some(self.board.address_space(hart));
        }
        let register = |hart, number| self.board.csr(hart, number).unwrap_or_default();
        if process == 0 {
            return Some(AddressSpace {
                root: register(hart, csr::SATP),
                guest_root: 0,
            });
        }
        let harts = || std::iter::once(hart).chain(0..self.board.harts());
        if let Some(hart) = harts().find(|hart| self.process_of(*hart) == process) {
            return Some(self.board.address_space(hart));
        }
        let loaded = harts().map(|hart| AddressSpace {
            root: register(hart, csr::VSATP),
            guest_root: register(hart, csr::HGATP),
        });
        loaded
            .into_iter()
            .find(|space| space.guest_root != 0 && self.process_of_guest(space.vmid()) == process)
            .or_else(|| self.seen.get(process - 1).copied().flatten())
    }

    /// Notes the address spaces of the guests that are on a hart.
    fn look(&mut self) {
        if !self.multiprocess {
            return;
        }
        for hart in 0..self.board.harts() {
            if let Some(guest) = self.process_of(hart).checked_sub(1) {
                self.seen[guest] = Some(self.board.address_space(hart));
            }
        }
    }

    /// The physical address behind one of a process, as `monitor physical` has it.
    fn physical(&self, process: usize, hart: usize, address: u64) -> Option<u64> {
        if self.addresses == Addresses::Physical {
            return Some(address);
        }
        let space = self.space(process, hart)?;
        let root = match self.addresses {
            Addresses::GuestPhysical if process > 0 => 0,
            _ => space.root,
        };
        self.board
            .physical_in(hart, AddressSpace { root, ..space }, address)
    }

    /// Takes back all that a debugger set.
    pub(super) fn detach(&mut self) {
        let places = [&mut self.software, &mut self.hardware].map(std::mem::take);
        let addresses: BTreeSet<u64> = places
            .iter()
            .flatten()
            .map(|(_, address)| *address)
            .collect();
        for address in addresses {
            if !self.others.contains(&address) {
                self.board.remove_stop(address);
            }
        }
        self.others.clear();
        for (_, address, length, watch) in std::mem::take(&mut self.watches) {
            self.board.unwatch(address, length, watch);
        }
        self.actions.fill(None);
        self.locked = false;
        self.addresses = Addresses::Virtual;
        self.multiprocess = false;
        self.general = 0;
        self.seen.fill(None);
    }

    fn hart(&self, thread: Tid) -> Option<usize> {
        let process = process_of_number(thread.get());
        let known = process == 0 || self.multiprocess && process <= self.guests.len();
        Some((thread.get() - 1) % HARTS_MAX).filter(|hart| known && *hart < self.board.harts())
    }

    /// Whether the hart of a thread is in another process now.
    fn is_elsewhere(&self, thread: Tid) -> bool {
        self.hart(thread)
            .is_some_and(|hart| self.process_of(hart) != process_of_number(thread.get()))
    }

    /// A description of a hart's activity.
    pub(super) fn describe(&self, hart: usize) -> String {
        let Mode { privilege, v } = self.board.mode(hart);
        let mode = match (privilege, v) {
            (Privilege::Machine, _) => "M",
            (Privilege::Supervisor, false) => "HS",
            (Privilege::User, false) => "U",
            (Privilege::Supervisor, true) => "VS",
            (Privilege::User, true) => "VU",
        };
        let waiting = if self.board.is_waiting(hart) {
            ", waiting"
        } else {
            ""
        };
        format!("{mode}-mode{waiting}")
    }

    /// Runs as gdb has asked, for a while.
    pub(super) fn run(&mut self, limit: Femtoseconds) -> Slice {
        let actions = &self.actions[..self.board.harts()];
        let stepping = actions
            .iter()
            .enumerate()
            .find_map(|(hart, action)| match action {
                Some((Action::Step | Action::StepIn(..), process)) => Some((hart, *process)),
                _ => None,
            });
        let slice = match stepping {
            Some((hart, process)) => self.run_step(hart, process, limit),
            None if self.locked => self.run_some(limit),
            None => {
                let outcome = run_slice(&mut self.board, limit, |_| false);
                self.told(outcome)
            }
        };
        self.fresh = false;
        self.look();
        slice
    }

    /// The stop reason for gdb of an outcome.
    fn told(&self, outcome: Outcome) -> Slice {
        match outcome {
            Outcome::Condition => Slice::Over,
            Outcome::Breakpoint { hart, pc } => match self.stopped_at(hart, pc) {
                Some(reason) => Slice::Stopped(reason),
                // Of another process than the hart is in.
                None if self.is_place(pc) && !self.others.contains(&pc) => Slice::Over,
                None => Slice::Ended(outcome),
            },
            Outcome::Watchpoint {
                hart,
                address,
                write,
            } => {
                let process = self.process_of(hart);
                let of = |process: Option<usize>| self.watches(process, address);
                match (of(Some(process)), of(None)) {
                    (true, _) => Slice::Stopped(MultiThreadStopReason::Watch {
                        tid: thread(process, hart),
                        kind: if write {
                            WatchKind::Write
                        } else {
                            WatchKind::Read
                        },
                        addr: address,
                    }),
                    (false, true) => Slice::Over,
                    (false, false) => Slice::Ended(outcome),
                }
            }
            // The run cannot continue, but its state can be inspected.
            Outcome::Deadlock => Slice::Stopped(MultiThreadStopReason::SignalWithThread {
                tid: self.thread_of(0),
                signal: Signal::SIGSTOP,
            }),
            // Stops that are not gdb's are the caller's.
            _ => Slice::Ended(outcome),
        }
    }

    /// Whether gdb watches the byte, for this process or for any.
    fn watches(&self, process: Option<usize>, address: u64) -> bool {
        self.watches.iter().any(|(of, begin, length, _)| {
            process.is_none_or(|process| process == *of) && address.wrapping_sub(*begin) < *length
        })
    }

    /// The processes that a place of gdb's can be in.
    fn processes(&self) -> std::ops::RangeInclusive<usize> {
        0..=self.guests.len()
    }

    /// Whether gdb has a breakpoint at the address in any process.
    fn is_place(&self, address: u64) -> bool {
        self.processes().any(|process| {
            self.software.contains(&(process, address))
                || self.hardware.contains(&(process, address))
        })
    }

    /// Why a hart stops there, if it does.
    fn stopped_at(&self, hart: usize, pc: u64) -> Option<MultiThreadStopReason<u64>> {
        let process = self.process_of(hart);
        let tid = thread(process, hart);
        if self.software.contains(&(process, pc)) {
            Some(MultiThreadStopReason::SwBreak(tid))
        } else if self.hardware.contains(&(process, pc)) {
            Some(MultiThreadStopReason::HwBreak(tid))
        } else {
            None
        }
    }

    /// Steps a hart as a thread of a process; others run along unless they are locked. What the hart does in other
    /// processes until it is back belongs to the step.
    fn run_step(&mut self, hart: usize, process: usize, limit: Femtoseconds) -> Slice {
        for _ in 0..SLICE_STEPS {
            if !self.locked {
                let outcome = run_slice(&mut self.board, limit, |board| board.next() == Some(hart));
                if outcome != Outcome::Condition {
                    return self.told(outcome);
                }
                if self.board.next() != Some(hart) {
                    return Slice::Over;
                }
            }
            let (begins, before) = (self.process_of(hart) == process, self.board.pc(hart));
            match self.board.step(hart) {
                Outcome::Condition => {}
                other => return self.told(other),
            }
            let pc = self.board.pc(hart);
            let ends = self.process_of(hart) == process;
            match self.actions[hart] {
                // An interrupt or a page fault: the instruction has still to be executed.
                _ if begins && !ends => self.left_at = Some(before),
                _ if !ends => {}
                Some((Action::StepIn(begin, end), _)) if (begin..end).contains(&pc) => {}
                _ if !begins && self.left_at.take() == Some(pc) => {}
                _ => {
                    self.left_at = None;
                    return Slice::Stopped(MultiThreadStopReason::SignalWithThread {
                        tid: thread(process, hart),
                        signal: Signal::SIGTRAP,
                    });
                }
            }
            if let Some(reason) = self.stopped_at(hart, pc) {
                self.left_at = None;
                return Slice::Stopped(reason);
            }
        }
        Slice::Over
    }

    /// Runs only the harts that were told to continue.
    fn run_some(&mut self, limit: Femtoseconds) -> Slice {
        for _ in 0..SLICE_STEPS {
            let chosen = (0..self.board.harts()).filter(|hart| self.actions[*hart].is_some());
            let Some(hart) = chosen.min_by_key(|hart| self.board.cycle(*hart)) else {
                return Slice::Over;
            };
            if self.board.clock().time_of(self.board.cycle(hart)) >= limit {
                return Slice::Ended(Outcome::Limit);
            }
            let pc = self.board.pc(hart);
            if !std::mem::take(&mut self.fresh)
                && let Some(reason) = self.stopped_at(hart, pc)
            {
                return Slice::Stopped(reason);
            }
            match self.board.step(hart) {
                Outcome::Condition => {}
                other => return self.told(other),
            }
        }
        Slice::Over
    }

    fn add_stop(&mut self, address: u64, software: bool) -> bool {
        if !self.is_place(address) {
            if self.board.stops_at(address) {
                self.others.insert(address);
            }
            self.board.stop_at(address);
        }
        let place = (self.general, address);
        if software {
            self.software.insert(place)
        } else {
            self.hardware.insert(place)
        };
        true
    }

    fn remove_stop(&mut self, address: u64, software: bool) -> bool {
        let place = (self.general, address);
        let there = if software {
            self.software.remove(&place)
        } else {
            self.hardware.remove(&place)
        };
        if there && !self.is_place(address) && !self.others.remove(&address) {
            self.board.remove_stop(address);
        }
        there
    }
}

/// The smallest board there can be.
fn stand_in() -> Result<Board, BuildError> {
    let timing = Profile::named("mpsoc")
        .expect("a profile that comes with the crate")
        .timing;
    Board::new(&Parts {
        harts: 1,
        first_id: 0,
        clock_hz: 1,
        timebase_hz: 1,
        memory_base: 0,
        memory_size: 4096,
        onchip: None,
        quantum: 1,
        fast_quantum: 1,
        seed: 0,
        memory_model: MemoryModel::Sequential,
        extensions: Extensions::empty(),
        timing,
    })
}

/// Runs a board until `condition` holds, or it is time to look at the wire.
fn run_slice(
    board: &mut Board,
    limit: Femtoseconds,
    mut condition: impl FnMut(&Board) -> bool,
) -> Outcome {
    let instructions = |board: &Board| {
        (0..board.harts())
            .map(|hart| board.instructions(hart))
            .sum::<u64>()
    };
    let end = instructions(board).saturating_add(SLICE_INSTRUCTIONS);
    let mut turns = 0;
    board.run_until(limit, |board| {
        turns += 1;
        condition(board) || turns > SLICE_TURNS || instructions(board) >= end
    })
}

impl Target for Debuggee {
    type Arch = Rv64;
    type Error = Infallible;

    fn base_ops(&mut self) -> BaseOps<'_, Rv64, Infallible> {
        BaseOps::MultiThread(self)
    }

    fn support_breakpoints(&mut self) -> Option<BreakpointsOps<'_, Self>> {
        Some(self)
    }

    fn support_monitor_cmd(&mut self) -> Option<MonitorCmdOps<'_, Self>> {
        Some(self)
    }

    fn support_target_description_xml_override(
        &mut self,
    ) -> Option<TargetDescriptionXmlOverrideOps<'_, Self>> {
        Some(self)
    }
}

impl MultiThreadBase for Debuggee {
    fn read_registers(
        &mut self,
        registers: &mut RiscvCoreRegs<u64>,
        thread: Tid,
    ) -> TargetResult<(), Self> {
        let hart = self
            .hart(thread)
            .ok_or(TargetError::Errno(NO_SUCH_THREAD))?;
        if self.is_elsewhere(thread) {
            // Its registers are wherever the software has put them.
            *registers = RiscvCoreRegs::default();
            return Ok(());
        }
        registers.x = std::array::from_fn(|number| self.board.x(hart, number));
        registers.pc = self.board.pc(hart);
        Ok(())
    }

    fn write_registers(
        &mut self,
        registers: &RiscvCoreRegs<u64>,
        thread: Tid,
    ) -> TargetResult<(), Self> {
        let hart = self
            .hart(thread)
            .ok_or(TargetError::Errno(NO_SUCH_THREAD))?;
        if self.is_elsewhere(thread) {
            return Err(TargetError::Errno(NO_SUCH_THREAD));
        }
        for (number, value) in registers.x.iter().enumerate() {
            self.board.set_x(hart, number, *value);
        }
        self.board.set_pc(hart, registers.pc);
        Ok(())
    }

    fn support_single_register_access(&mut self) -> Option<SingleRegisterAccessOps<'_, Tid, Self>> {
        Some(self)
    }

    /// Reads as many bytes as there are, one at least.
    fn read_addrs(
        &mut self,
        address: u64,
        bytes: &mut [u8],
        thread: Tid,
    ) -> TargetResult<usize, Self> {
        let hart = self
            .hart(thread)
            .ok_or(TargetError::Errno(NO_SUCH_THREAD))?;
        if bytes.len() > SHORT && address.checked_add(bytes.len() as u64).is_none() {
            return Err(TargetError::Errno(BAD_ADDRESS));
        }
        let process = process_of_number(thread.get());
        let mut done = 0;
        while done < bytes.len() {
            let at = address.wrapping_add(done as u64);
            // To the end of the page, which is there or not as a whole.
            let length = (bytes.len() - done).min(4096 - (at % 4096) as usize);
            let piece = &mut bytes[done..done + length];
            let read = self
                .physical(process, hart, at)
                .and_then(|physical| self.board.memory().read(physical, piece).ok());
            if read.is_none() {
                break;
            }
            done += length;
        }
        if done == 0 && !bytes.is_empty() {
            Err(TargetError::Errno(BAD_ADDRESS))
        } else {
            Ok(done)
        }
    }

    fn write_addrs(&mut self, address: u64, bytes: &[u8], thread: Tid) -> TargetResult<(), Self> {
        let hart = self
            .hart(thread)
            .ok_or(TargetError::Errno(NO_SUCH_THREAD))?;
        let process = process_of_number(thread.get());
        let written = if self.addresses == Addresses::Physical {
            self.board.write(address, bytes).is_ok()
        } else {
            self.space(process, hart).is_some_and(|mut space| {
                if self.addresses == Addresses::GuestPhysical && process > 0 {
                    space.root = 0;
                }
                self.board.write_in(hart, space, address, bytes).is_ok()
            })
        };
        if written {
            Ok(())
        } else {
            Err(TargetError::Errno(BAD_ADDRESS))
        }
    }

    fn list_active_threads(&mut self, each: &mut dyn FnMut(Tid)) -> Result<(), Infallible> {
        let processes = if self.multiprocess {
            self.processes()
        } else {
            0..=0
        };
        let harts = self.board.harts();
        processes
            .flat_map(|process| (0..harts).map(move |hart| thread(process, hart)))
            .for_each(each);
        Ok(())
    }

    fn support_resume(&mut self) -> Option<MultiThreadResumeOps<'_, Self>> {
        Some(self)
    }

    fn support_thread_extra_info(&mut self) -> Option<ThreadExtraInfoOps<'_, Self>> {
        Some(self)
    }
}

impl SingleRegisterAccess<Tid> for Debuggee {
    fn read_register(
        &mut self,
        thread: Tid,
        number: Number,
        bytes: &mut [u8],
    ) -> TargetResult<usize, Self> {
        let hart = self
            .hart(thread)
            .ok_or(TargetError::Errno(NO_SUCH_THREAD))?;
        // gdb shows what is not there as unavailable.
        if self.is_elsewhere(thread) && !matches!(number, Number::X(_) | Number::Pc) {
            return Ok(0);
        }
        let value = match number {
            Number::X(_) | Number::Pc if self.is_elsewhere(thread) => 0,
            Number::X(register) => self.board.x(hart, register),
            Number::Pc => self.board.pc(hart),
            Number::F(register) => self.board.f(hart, register),
            Number::Csr(register) => match self.board.csr(hart, register) {
                Some(value) => value,
                None => return Ok(0),
            },
            Number::Privilege => self.board.mode(hart).privilege as u64,
            Number::Virtual => u64::from(self.board.mode(hart).v),
        };
        let length = bytes.len().min(8);
        bytes[..length].copy_from_slice(&value.to_le_bytes()[..length]);
        Ok(length)
    }

    fn write_register(
        &mut self,
        thread: Tid,
        number: Number,
        bytes: &[u8],
    ) -> TargetResult<(), Self> {
        let hart = self
            .hart(thread)
            .ok_or(TargetError::Errno(NO_SUCH_THREAD))?;
        if self.is_elsewhere(thread) {
            return Err(TargetError::Errno(NO_SUCH_THREAD));
        }
        if bytes.len() != number.size() {
            return Err(TargetError::Errno(BAD_VALUE));
        }
        let mut value = [0; 8];
        value[..bytes.len()].copy_from_slice(bytes);
        let value = u64::from_le_bytes(value);
        let mode = self.board.mode(hart);
        match number {
            Number::X(register) => self.board.set_x(hart, register, value),
            Number::Pc => self.board.set_pc(hart, value),
            Number::F(register) => self.board.set_f(hart, register, value),
            Number::Csr(register) => {
                self.board
                    .set_csr(hart, register, value)
                    .map_err(|_| TargetError::Errno(BAD_VALUE))?;
            }
            Number::Privilege => {
                let privilege = match value {
                    0 => Privilege::User,
                    1 => Privilege::Supervisor,
                    3 => Privilege::Machine,
                    _ => return Err(TargetError::Errno(BAD_VALUE)),
                };
                self.board.set_mode(hart, Mode { privilege, ..mode });
            }
            Number::Virtual => self.board.set_mode(
                hart,
                Mode {
                    v: value & 1 != 0,
                    ..mode
                },
            ),
        }
        Ok(())
    }
}

impl ThreadExtraInfo for Debuggee {
    fn thread_extra_info(&self, thread: Tid, buffer: &mut [u8]) -> Result<usize, Infallible> {
        let text = self
            .hart(thread)
            .map(|hart| {
                let name = match self.name(process_of_number(thread.get())) {
                    Some(name) => format!("{name}, "),
                    None => String::new(),
                };
                if self.is_elsewhere(thread) {
                    format!("{name}not on hart {hart}")
                } else {
                    format!("{name}hart {hart}: {}", self.describe(hart))
                }
            })
            .unwrap_or_default();
        let length = text.len().min(buffer.len());
        buffer[..length].copy_from_slice(&text.as_bytes()[..length]);
        Ok(length)
    }
}

impl MultiThreadResume for Debuggee {
    fn resume(&mut self) -> Result<(), Infallible> {
        self.fresh = true;
        Ok(())
    }

    fn clear_resume_actions(&mut self) -> Result<(), Infallible> {
        self.actions.fill(None);
        self.locked = false;
        self.left_at = None;
        Ok(())
    }

    fn set_resume_action_continue(
        &mut self,
        thread: Tid,
        _: Option<Signal>,
    ) -> Result<(), Infallible> {
        self.act(thread, Action::Continue)
    }

    fn support_single_step(&mut self) -> Option<MultiThreadSingleStepOps<'_, Self>> {
        Some(self)
    }

    fn support_range_step(&mut self) -> Option<MultiThreadRangeSteppingOps<'_, Self>> {
        Some(self)
    }

    fn support_scheduler_locking(&mut self) -> Option<MultiThreadSchedulerLockingOps<'_, Self>> {
        Some(self)
    }
}

impl Debuggee {
    fn act(&mut self, thread: Tid, action: Action) -> Result<(), Infallible> {
        if let Some(hart) = self.hart(thread) {
            // The first action that names a thread counts (gdb's manual, "vCont").
            self.actions[hart].get_or_insert((action, process_of_number(thread.get())));
        }
        Ok(())
    }
}

impl MultiThreadSingleStep for Debuggee {
    fn set_resume_action_step(&mut self, thread: Tid, _: Option<Signal>) -> Result<(), Infallible> {
        self.act(thread, Action::Step)
    }
}

impl MultiThreadRangeStepping for Debuggee {
    fn set_resume_action_range_step(
        &mut self,
        thread: Tid,
        begin: u64,
        end: u64,
    ) -> Result<(), Infallible> {
        self.act(thread, Action::StepIn(begin, end))
    }
}

impl MultiThreadSchedulerLocking for Debuggee {
    fn set_resume_action_scheduler_lock(&mut self) -> Result<(), Infallible> {
        self.locked = true;
        Ok(())
    }
}

impl Breakpoints for Debuggee {
    fn support_sw_breakpoint(&mut self) -> Option<SwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_breakpoint(&mut self) -> Option<HwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_watchpoint(&mut self) -> Option<HwWatchpointOps<'_, Self>> {
        Some(self)
    }
}

/// The board's word for a kind of watchpoint.
const fn watch_of(kind: WatchKind) -> Watch {
    match kind {
        WatchKind::Write => Watch::Writes,
        WatchKind::Read => Watch::Reads,
        WatchKind::ReadWrite => Watch::Accesses,
    }
}

impl HwWatchpoint for Debuggee {
    fn add_hw_watchpoint(
        &mut self,
        address: u64,
        length: u64,
        kind: WatchKind,
    ) -> TargetResult<bool, Self> {
        if self.watches.len() >= WATCHES {
            return Ok(false);
        }
        self.watches
            .push((self.general, address, length, watch_of(kind)));
        self.board.watch(address, length, watch_of(kind));
        Ok(true)
    }

    fn remove_hw_watchpoint(
        &mut self,
        address: u64,
        length: u64,
        kind: WatchKind,
    ) -> TargetResult<bool, Self> {
        let watch = (self.general, address, length, watch_of(kind));
        let Some(place) = self.watches.iter().position(|other| *other == watch) else {
            return Ok(false);
        };
        self.watches.remove(place);
        Ok(self.board.unwatch(address, length, watch_of(kind)))
    }
}

impl SwBreakpoint for Debuggee {
    fn add_sw_breakpoint(&mut self, address: u64, _: usize) -> TargetResult<bool, Self> {
        Ok(self.add_stop(address, true))
    }

    fn remove_sw_breakpoint(&mut self, address: u64, _: usize) -> TargetResult<bool, Self> {
        Ok(self.remove_stop(address, true))
    }
}

impl HwBreakpoint for Debuggee {
    fn add_hw_breakpoint(&mut self, address: u64, _: usize) -> TargetResult<bool, Self> {
        Ok(self.add_stop(address, false))
    }

    fn remove_hw_breakpoint(&mut self, address: u64, _: usize) -> TargetResult<bool, Self> {
        Ok(self.remove_stop(address, false))
    }
}

impl MonitorCmd for Debuggee {
    fn handle_monitor_cmd(
        &mut self,
        command: &[u8],
        mut out: ConsoleOutput<'_>,
    ) -> Result<(), Infallible> {
        let answer = self.monitor(&String::from_utf8_lossy(command));
        out.write_raw(answer.as_bytes());
        Ok(())
    }
}

impl TargetDescriptionXmlOverride for Debuggee {
    fn target_description_xml(
        &self,
        annex: &[u8],
        offset: u64,
        length: usize,
        buffer: &mut [u8],
    ) -> TargetResult<usize, Self> {
        if annex != b"target.xml" {
            return Err(TargetError::Errno(BAD_VALUE));
        }
        let rest = usize::try_from(offset)
            .ok()
            .and_then(|offset| self.description.as_bytes().get(offset..));
        let rest = rest.unwrap_or_default();
        let length = rest.len().min(length).min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        Ok(length)
    }
}
