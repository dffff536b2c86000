//! PCI functions that VMs have. A VM sees its own functions, all on bus 0, in configuration spaces that are made here
//! ([`tactus_policy::pci`]); their registers are mapped in its second stage, and its second stage translates what they
//! access, by the IOMMU.
//!
//! A VM's access to a configuration space costs its own time, and at most one access to the function. What the IOMMU
//! refuses is reported in the time of VMs that have functions: at their accesses to configuration spaces, at the ends
//! of their slices, and at their ends.

use crate::arch::iommu::{Iommu, Lack};
use crate::arch::{entry, now};
use crate::arena::{Arena, Exhausted};
use crate::log::Line;
use crate::system::system;
use crate::vm::Vm;
use core::ptr::{read_volatile, write_volatile};
use core::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use tactus_abi::blob::Blob;
use tactus_abi::map::{PCI_ECAM_BASE, PCI_ECAM_SIZE};
use tactus_policy::pci::{BARS, Effect, Space, Unfit, WORDS};
use tactus_policy::table::Table;

/// Registers of a function: its header,
const IDENTITY: u64 = 0;
const COMMAND: u64 = 4;
const FIRST_BAR: u64 = 16;
/// and from the start of its capability PCI Express (PCI Express Base Specification 5.0, section 7.5.3).
const DEVICE_CAPABILITIES: u64 = 4;
const DEVICE_CONTROL: u64 = 8;
const DEVICE_STATUS: u64 = 10;
/// Bits there: it has a function-level reset; begin it; accesses of its own are under way.
const HAS_RESET: u32 = 1 << 28;
const RESET: u16 = 1 << 15;
const IS_PENDING: u16 = 1 << 5;
/// In `Command`: no access of its own, no interrupt.
const QUIET: u16 = 1 << 10;

/// How long a function has to be quiet, and to be back after a reset (section 6.6.2): a tenth of a second. The IOMMU
/// has as long for what it is told.
const PATIENCE_PARTS: u64 = 10;
/// Records of the fault queue that are taken at a time.
const RECORDS: usize = 8;

/// Where a function is between its VM's end and the next start.
mod stage {
    /// Its VM has it.
    pub const IN_USE: u8 = 0;
    /// It is refused everything; its accesses from before end.
    pub const DRAINS: u8 = 1;
    /// It is reset.
    pub const RESETS: u8 = 2;
    /// It is permitted again.
    pub const RETURNS: u8 = 3;
}

/// The translation control of a function that cannot be given away; the system does not boot.
static NOWHERE: AtomicU64 = AtomicU64::new(0);

/// Why no system with PCI functions can be.
#[derive(Clone, Copy, Debug)]
pub enum Refusal {
    /// The function in this slot cannot be given away.
    Function(u32, Unfit),
    /// The IOMMU.
    Iommu(Lack),
}

impl Refusal {
    /// Goes on with what is said of it.
    pub fn explain<'l>(&self, line: &'l mut Line) -> &'l mut Line {
        match self {
            Self::Function(slot, unfit) => line
                .words("PCI slot ")
                .decimal((*slot).into())
                .words(match unfit {
                    Unfit::Absent => " has no function",
                    Unfit::Header => {
                        " has a bridge, or several functions, which are not isolated from each other"
                    }
                    Unfit::Pin => " interrupts by another line than INTA",
                    Unfit::Capabilities => " has a damaged list of capabilities",
                    Unfit::Room => " has registers that do not fit into its window",
                }),
            Self::Iommu(lack) => line.words(match lack {
                Lack::Iommu => "there is no IOMMU of version 1.0 with second stages of Sv39x4",
                Lack::TimeOut => "the IOMMU does not answer",
                Lack::Pool => "the hypervisor's memory pool is too small",
            }),
        }
    }
}

impl From<Exhausted> for Refusal {
    fn from(_: Exhausted) -> Self {
        Self::Iommu(Lack::Pool)
    }
}

impl From<Lack> for Refusal {
    fn from(lack: Lack) -> Self {
        Self::Iommu(lack)
    }
}

/// A function that a VM has.
struct Function {
    vm: usize,
    slot: u32,
    registers: Registers,
    space: Space,
    /// Base address registers, as bits, that read as their sizes.
    sizing: AtomicU8,
    /// Its context's translation control.
    control: &'static AtomicU64,
    /// Accesses of it that were refused, as far as they are known.
    refused: AtomicU32,
    /// Of [`stage`]; the other two belong to it.
    stage: AtomicU8,
    since: AtomicU64,
    fence: AtomicU32,
}

/// The functions that VMs have, and their IOMMU.
pub struct Host {
    functions: &'static Table<Function>,
    iommu: Iommu,
    patience: u64,
}

/// A register of a configuration space.
#[derive(Clone, Copy)]
pub struct Register {
    /// The VM has it; otherwise nothing is there.
    function: Option<&'static Function>,
    offset: u32,
}

/// The configuration space of a function, by its physical address.
#[derive(Clone, Copy)]
struct Registers(u64);

impl Registers {
    fn read(self, offset: u64) -> u32 {
        // Safety: of the configuration space of a function that is there, which no guest reaches.
        unsafe { read_volatile((self.0 + offset) as *const u32) }
    }

    fn read_half(self, offset: u64) -> u16 {
        // Safety: as above.
        unsafe { read_volatile((self.0 + offset) as *const u16) }
    }

    fn write(self, offset: u64, value: u32) {
        // Safety: as above.
        unsafe { write_volatile((self.0 + offset) as *mut u32, value) }
    }

    fn write_half(self, offset: u64, value: u16) {
        // Safety: as above.
        unsafe { write_volatile((self.0 + offset) as *mut u16, value) }
    }

    /// The space as the VM sees it. The function is quiet then.
    fn space(self, window: core::ops::Range<u32>) -> Result<Space, Unfit> {
        // Safety: a configuration space, or nothing's address.
        if unsafe { entry::probe_register(self.0) }.is_none() {
            return Err(Unfit::Absent);
        }
        self.write_half(COMMAND, QUIET);
        let raw: [u32; WORDS] = core::array::from_fn(|word| self.read(4 * word as u64));
        let ones: [u32; BARS] = core::array::from_fn(|bar| {
            let register = FIRST_BAR + 4 * bar as u64;
            self.write(register, u32::MAX);
            self.read(register)
        });
        Space::new(&raw, &ones, window)
    }
}

impl Function {
    /// Its number for the IOMMU: on bus 0, function 0.
    const fn device(&self) -> u32 {
        self.slot << 3
    }

    /// Puts its registers where its VM finds them.
    fn place(&self) {
        for bar in 0..BARS {
            self.registers
                .write(FIRST_BAR + 4 * bar as u64, self.space.bar(bar));
        }
        self.registers.write_half(COMMAND, QUIET);
    }

    /// A register of its capability PCI Express, if it has that.
    fn express(&self, offset: u64) -> Option<u64> {
        self.space.express().map(|at| u64::from(at) + offset)
    }

    fn is_in(&self, stage: u8) -> bool {
        self.stage.load(Ordering::Relaxed) == stage
    }

    /// Enters a stage, which ends with `fence`, or by itself.
    fn enter(&self, stage: u8, fence: u32) {
        self.fence.store(fence, Ordering::Relaxed);
        self.since.store(now(), Ordering::Relaxed);
        self.stage.store(stage, Ordering::Relaxed);
    }

    /// Goes on to the next stage, if it can. `true`: it is its VM's again.
    fn step(&self, host: &Host) -> bool {
        let is_late = now() - self.since.load(Ordering::Relaxed) > host.patience;
        let is_fenced = host.iommu.is_done(self.fence.load(Ordering::Relaxed));
        if is_late && !is_fenced {
            // What it still accesses may reach memory that is about to be another's.
            crate::defect("the IOMMU does not answer");
        }
        match self.stage.load(Ordering::Relaxed) {
            stage::DRAINS => {
                let status = self.express(DEVICE_STATUS);
                let is_pending =
                    status.is_some_and(|at| self.registers.read_half(at) & IS_PENDING != 0);
                if is_fenced && (is_late || !is_pending) {
                    let capabilities = self.express(DEVICE_CAPABILITIES);
                    let has_reset = |at| self.registers.read(at) & HAS_RESET != 0;
                    if capabilities.is_some_and(has_reset)
                        && let Some(control) = self.express(DEVICE_CONTROL)
                    {
                        self.registers.write_half(control, RESET);
                    }
                    self.enter(stage::RESETS, self.fence.load(Ordering::Relaxed));
                }
            }
            stage::RESETS => {
                let identity = self.space.read(IDENTITY as u32, 4, 0, || 0);
                if Some(self.registers.read(IDENTITY)) == identity {
                    self.place();
                    self.sizing.store(0, Ordering::Relaxed);
                    self.enter(stage::RETURNS, host.iommu.permit(self.control, true));
                } else if is_late {
                    // It does not come back, and is refused everything from now on.
                    self.enter(stage::IN_USE, self.fence.load(Ordering::Relaxed));
                }
            }
            stage::RETURNS if is_fenced => {
                self.enter(stage::IN_USE, self.fence.load(Ordering::Relaxed))
            }
            _ => {}
        }
        self.is_in(stage::IN_USE)
    }
}

impl Host {
    /// All functions of the blob, ready for their VMs, whose second stages are `roots` (as in `hgatp`). Made at boot.
    pub fn new(arena: &Arena, blob: &Blob, roots: &[u64]) -> Result<Option<Self>, Refusal> {
        let Some((host, configured)) = blob.pci() else {
            return Ok(None);
        };
        let patience = u64::from(blob.header.timebase_hz) / PATIENCE_PARTS;
        let last = configured.last().map_or(0, |function| function.slot << 3);
        // Safety: the tool gives the IOMMU to no guest.
        let mut iommu = unsafe { Iommu::new(arena, host.iommu, last, patience) }?;
        let mut failed = None;
        let functions = arena.slice(configured.len(), |index| {
            let config = &Table::new(configured)[index];
            let registers = Registers(host.ecam + (u64::from(config.slot) << 15));
            let window = config.window as u32..(config.window + config.window_size) as u32;
            let space = registers.space(window).unwrap_or_else(|unfit| {
                failed = failed.or(Some(Refusal::Function(config.slot, unfit)));
                Space::NONE
            });
            let root = Table::new(roots)[config.vm as usize];
            let control = iommu
                .add(arena, config.slot << 3, root)
                .unwrap_or_else(|lack| {
                    failed = failed.or(Some(lack.into()));
                    &NOWHERE
                });
            Function {
                vm: config.vm as usize,
                slot: config.slot,
                registers,
                space,
                sizing: AtomicU8::new(0),
                control,
                refused: AtomicU32::new(0),
                stage: AtomicU8::new(stage::IN_USE),
                since: AtomicU64::new(0),
                fence: AtomicU32::new(0),
            }
        })?;
        if let Some(failed) = failed {
            return Err(failed);
        }
        let own = Self {
            functions,
            iommu,
            patience,
        };
        for function in functions {
            function.place();
            function.enter(stage::RETURNS, own.iommu.permit(function.control, true));
            while !function.step(&own) {}
        }
        Ok(Some(own))
    }

    /// The functions of a VM.
    fn of(&self, vm: &Vm) -> impl Iterator<Item = &'static Function> {
        let vm = vm.index;
        self.functions.into_iter().filter(move |one| one.vm == vm)
    }

    /// Writes one line at most.
    fn report(&self) {
        for _ in 0..RECORDS {
            let Some(fault) = self.iommu.take_fault() else {
                return;
            };
            let mut all = self.functions.into_iter();
            let Some(function) = all.find(|one| one.device() == fault.device) else {
                // Of no VM, and so without one that it is to be told of.
                continue;
            };
            let count = function.refused.load(Ordering::Relaxed).saturating_add(1);
            function.refused.store(count, Ordering::Relaxed);
            // A VM can bring about as many as its function makes accesses.
            if count.is_power_of_two() {
                Line::new()
                    .begin_of("dma", system().vms[function.vm].name)
                    .number("slot", function.slot.into())
                    .number("cause", fault.cause)
                    .hex("address", fault.address)
                    .number("count", count.into())
                    .time()
                    .send();
                return;
            }
        }
    }
}

/// The register of a configuration space at a guest-physical address, for a VM that has functions.
pub fn at(vm: &Vm, address: u64) -> Option<Register> {
    let offset = address.wrapping_sub(PCI_ECAM_BASE);
    let host = system().pci.as_ref()?;
    if offset >= PCI_ECAM_SIZE || host.of(vm).next().is_none() {
        return None;
    }
    // Bits 19:15 are the device, 14:12 the function (PCI Express Base Specification 5.0, section 7.2.2).
    let number = (offset >> 12) as u32;
    Some(Register {
        function: host.of(vm).find(|one| one.device() == number),
        offset: offset as u32 & 0xfff,
    })
}

/// Reads `size` bytes of a configuration space; `None`: a bus error.
pub fn read(register: Register, size: u8) -> Option<u64> {
    let Register { function, offset } = register;
    let Some(function) = function else {
        return (size <= 4).then_some(u64::MAX >> (64 - 8 * size));
    };
    let sizing = function.sizing.load(Ordering::Relaxed);
    let live = || function.registers.read(COMMAND);
    let value = function.space.read(offset, size, sizing, live)?;
    Some(value.into())
}

/// Writes `size` bytes of a configuration space; `None`: a bus error.
pub fn write(register: Register, size: u8, value: u64) -> Option<()> {
    let Register { function, offset } = register;
    let Some(function) = function else {
        return (size <= 4).then_some(());
    };
    let live = || function.registers.read_half(COMMAND);
    match function.space.write(offset, size, value as u32, live)? {
        Effect::None => {}
        Effect::Command(command) => function.registers.write_half(COMMAND, command),
        Effect::Size(bar, true) => {
            function.sizing.fetch_or(1 << bar, Ordering::Relaxed);
        }
        Effect::Size(bar, false) => {
            function.sizing.fetch_and(!(1 << bar), Ordering::Relaxed);
        }
    }
    Some(())
}

/// Reports what of the functions of VMs the IOMMU has refused, in the time of a VM that has some.
pub fn report_faults(vm: &Vm) {
    if let Some(host) = &system().pci
        && host.of(vm).next().is_some()
    {
        host.report();
    }
}

/// All vCPUs of a VM have stopped: its functions end what they do, and start again. [`has_ended`] says when.
pub fn end(vm: &Vm) {
    if let Some(host) = &system().pci {
        for function in host.of(vm) {
            function.registers.write_half(COMMAND, QUIET);
            // The write has arrived when the function has answered.
            function.registers.read(COMMAND);
            function.enter(stage::DRAINS, host.iommu.permit(function.control, false));
        }
    }
    report_faults(vm);
}

/// Whether the VM's functions access nothing any more, so that its memory can be cleared.
pub fn has_ended(vm: &Vm) -> bool {
    match &system().pci {
        Some(host) => host.of(vm).fold(true, |all, one| one.step(host) & all),
        None => true,
    }
}
