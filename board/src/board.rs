//! The board: harts, memory and devices put together, and run.

use std::fmt;
use std::hash::Hasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::bus::{Device, Lines, Stop};
use crate::code::{Code, Draft, Scratch};
use crate::devices::{Clint, Pci, Plic, pci};
use crate::execute;
use crate::fabric::{Coupling, GP_SIZE, PORT_SIZE, TilePort};
use crate::fault::FaultPlan;
use crate::hart::Hart;
use crate::machine::{Attached, Machine, Part, RESERVATION_INSTRUCTIONS, Window};
use crate::memory::{Memory, NoMemory, Place};
pub use crate::pace::Pace;
use crate::pace::{Fast, Timed, Weak};
use crate::privileged::{Extensions, Privileged};
use crate::probe::Probes;
pub use crate::probe::Watch;
use crate::time::{Clock, Femtoseconds};
use crate::timing::{Counts, Timing, parameters::Parameters};
use crate::trace::Trace;
pub use crate::weak_memory::MemoryModel;
use crate::weak_memory::WeakMemory;

/// No hart runs past a multiple of this many cycles at once, so that a run can be looked at, and paused, while a hart
/// has the board to itself. It is part of every run: where a run is paused makes no difference to it.
const STRETCH: u64 = 1 << 20;

/// The configuration of a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// How many harts, 1 to 16.
    pub harts: usize,
    /// `mhartid` of the first; the others follow.
    pub first_id: u64,
    /// The harts' clock.
    pub clock_hz: u64,
    /// The frequency of `time`.
    pub timebase_hz: u64,
    /// Where main memory begins; a multiple of 4 KiB.
    pub memory_base: u64,
    /// Its bytes; a multiple of 4 KiB.
    pub memory_size: u64,
    /// Memory on the chip, apart from main memory.
    pub onchip: Option<Place>,
    /// For how many cycles a hart runs in timed mode before another one that is behind it, at least 1.
    pub quantum: u64,
    /// The same in fast mode.
    pub fast_quantum: u64,
    /// The seed of all random choices: replacement in caches, weak memory, and what the board's user makes of
    /// [`Board::seed`].
    pub seed: u64,
    /// How harts see each other's loads and stores.
    pub memory_model: MemoryModel,
    /// What the harts have beyond the instruction set of all boards.
    pub extensions: Extensions,
    /// The costs of the timed mode.
    pub timing: Parameters,
}

/// Bytes of a cache block of a board without caches.
const CACHE_BLOCK: u64 = 64;

/// A board that can't be.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Not so many harts.
    #[error("{0} harts: a board has 1 to 16")]
    Harts(usize),
    /// More harts than the profile's board has.
    #[error("{wanted} harts: the profile's board has at most {max}")]
    ProfileHarts {
        /// How many were asked for.
        wanted: usize,
        /// How many there can be.
        max: usize,
    },
    /// More memory than the profile's board has.
    #[error("{wanted:#x} bytes of memory: the profile's board has at most {max:#x}")]
    ProfileMemory {
        /// How much was asked for.
        wanted: u64,
        /// How much there can be.
        max: u64,
    },
    /// A board of tiles is asked for of a profile that has none, or a plain one of a profile that has.
    #[error("the profile's board {}", if *.0 { "is made of tiles" } else { "has no tiles" })]
    Tiles(bool),
    /// A design without ports for tiles.
    #[error("the design {0} has no ports for tiles")]
    NoTilePorts(String),
    /// A fabric for a board that has no place for one.
    #[error("the profile's board has no fabric")]
    NoFabric,
    /// PCI functions for a board that has no place for them.
    #[error("the profile's board has no PCI")]
    NoPci,
    /// Registers of PCI functions beyond the addresses that base address registers of 32 bits have.
    #[error("registers of PCI functions end at {0:#x}: they must end within 4 GiB")]
    PciWindow(u64),
    /// More PCI functions than there are slots.
    #[error("too many PCI functions: the board has {0} slots")]
    PciSlots(usize),
    /// More virtio devices than the profile's board has slots.
    #[error("{wanted} virtio devices: the profile's board has {max} slots")]
    VirtioSlots {
        /// How many were given.
        wanted: usize,
        /// How many there can be.
        max: usize,
    },
    /// The host has no room for the memory.
    #[error("no memory of {size:#x} bytes at {base:#x}: {reason}")]
    Memory {
        /// Where.
        base: u64,
        /// How much.
        size: u64,
        /// The error of the host.
        reason: std::io::Error,
    },
    /// Two things in the same place.
    #[error("{new} at {base:#x}, {size:#x} bytes, overlaps {old}")]
    Overlap {
        /// The device to attach.
        new: String,
        /// Where.
        base: u64,
        /// How many bytes.
        size: u64,
        /// The device present.
        old: String,
    },
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The time that it was to run for is over.
    Limit,
    /// The software stopped the board.
    Stop(Stop),
    /// All harts wait, and nothing will ever wake them.
    Deadlock,
    /// What was waited for has come ([`Board::run_until`]), or, of a [tile](crate::tiles), what it waits for has to
    /// come.
    Condition,
    /// A hart has touched what is watched ([`Board::watch`]).
    Watchpoint {
        /// Its number.
        hart: usize,
        /// The first watched byte that it touched.
        address: u64,
        /// Whether it wrote.
        write: bool,
    },
    /// A hart is about to execute at a stop that was set.
    Breakpoint {
        /// Its number.
        hart: usize,
        /// Where.
        pc: u64,
    },
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit => formatter.write_str("the time is over"),
            Self::Stop(Stop::PowerOff) => formatter.write_str("the software powered the board off"),
            Self::Stop(Stop::Failure(code)) => {
                write!(formatter, "the software reported failure {code}")
            }
            Self::Stop(Stop::Reset) => formatter.write_str("the software asked for a reset"),
            Self::Deadlock => formatter.write_str("all harts wait for ever"),
            Self::Condition => formatter.write_str("what was waited for has come"),
            Self::Watchpoint {
                hart,
                address,
                write: true,
            } => write!(formatter, "hart {hart} has written to {address:#x}"),
            Self::Watchpoint {
                hart,
                address,
                write: false,
            } => write!(formatter, "hart {hart} has read {address:#x}"),
            Self::Breakpoint { hart, pc } => {
                write!(formatter, "hart {hart} is at the stop {pc:#x}")
            }
        }
    }
}

/// A board.
pub struct Board {
    pub(crate) harts: Vec<Box<Hart>>,
    pub(crate) machine: Machine,
    /// Faults to inject, and their times.
    pub(crate) faults: FaultPlan,
    /// What it was when it got power, as a snapshot.
    pub(crate) power_on: Option<Arc<[u8]>>,
    /// The hart that a stop interrupted in its turn, and the cycle at which that ends: the run continues there.
    pub(crate) turn: Option<(usize, u64)>,
    quantum: u64,
    fast_quantum: u64,
    seed: u64,
    /// What says that input has come from outside, and the device to wake then.
    inputs: Vec<(String, Arc<AtomicBool>)>,
}

impl Board {
    /// Bytes of a cache block: a line of the caches, or 64 where there are none.
    #[must_use]
    pub const fn cache_block(&self) -> u32 {
        1 << self.machine.block_shift
    }

    /// A board of bare harts and memory, all zero; the harts are in M-mode at address 0.
    ///
    /// # Errors
    ///
    /// When there can't be such a board.
    pub fn new(parts: &Parts) -> Result<Self, BuildError> {
        if !(1..=16).contains(&parts.harts) {
            return Err(BuildError::Harts(parts.harts));
        }
        let (base, size) = (parts.memory_base, parts.memory_size);
        let memory = Memory::with_onchip(Place { base, size }, parts.onchip)
            .map_err(|reason| BuildError::Memory { base, size, reason })?;
        let machine = Machine {
            code: Code::new(&memory),
            memory,
            devices: Vec::new(),
            windows: Vec::new(),
            fabric: None,
            tile_port: None,
            lines: Lines::default(),
            wires: vec![0; parts.harts],
            reservations: vec![u64::MAX; parts.harts],
            disturbed: false,
            stop: None,
            postponed: false,
            stopped_at: None,
            watched_at: None,
            clock: Clock::from_hertz(parts.clock_hz),
            timebase: Clock::from_hertz(parts.timebase_hz),
            weak: (parts.memory_model == MemoryModel::Weak)
                .then(|| Box::new(WeakMemory::new(parts.harts, parts.seed))),
            block_shift: parts
                .timing
                .caches
                .as_ref()
                .map_or(CACHE_BLOCK, |caches| caches.l1d.line)
                .trailing_zeros(),
            timing: Timing::new(&parts.timing, parts.harts, parts.seed),
            timed: false,
            time_offset: 0,
            probes: Probes::default(),
            marks: None,
            trace: Trace::new(),
            next_wake: Femtoseconds::NEVER,
            fault_offset: 0,
            draft: Draft::default(),
            once: Scratch::new(),
        };
        let harts = (0..parts.harts)
            .map(|index| {
                let id = parts.first_id + index as u64;
                Hart::new(index, Privileged::new(id).with(parts.extensions))
            })
            .collect();
        Ok(Self {
            harts,
            machine,
            faults: FaultPlan::default(),
            power_on: None,
            turn: None,
            quantum: parts.quantum.max(1),
            fast_quantum: parts.fast_quantum.max(1),
            seed: parts.seed,
            inputs: Vec::new(),
        })
    }

    /// Puts a device at the physical addresses from `base` on.
    ///
    /// # Errors
    ///
    /// Where something is there already.
    pub fn attach(
        &mut self,
        name: &str,
        base: u64,
        size: u64,
        device: Box<dyn Device>,
    ) -> Result<(), BuildError> {
        self.attach_part(name, base, size, Part::Other(device))
    }

    /// Puts the core-local interruptor at `base`.
    ///
    /// # Errors
    ///
    /// Where something is there already.
    pub fn attach_clint(&mut self, base: u64, clint: Clint) -> Result<(), BuildError> {
        self.attach_part("clint", base, 0x1_0000, Part::Clint(clint))
    }

    /// Puts the interrupt controller at `base`.
    ///
    /// # Errors
    ///
    /// Where something is there already.
    pub fn attach_plic(&mut self, base: u64, plic: Plic) -> Result<(), BuildError> {
        self.attach_part("plic", base, 0x60_0000, Part::Plic(Box::new(plic)))
    }

    /// Puts a fabric at `base`, the first address of its general-purpose port. A board has one at most.
    ///
    /// # Errors
    ///
    /// Where something is there already, or the board has a fabric.
    pub fn attach_fabric(&mut self, base: u64, fabric: Coupling) -> Result<(), BuildError> {
        if let Some(index) = self.machine.fabric {
            let old = &self.machine.devices[index];
            return Err(BuildError::Overlap {
                new: "fabric".to_owned(),
                base,
                size: GP_SIZE + PORT_SIZE,
                old: format!("another one at {:#x}", old.base),
            });
        }
        // Fences have something to wait for now.
        self.drop_code();
        self.attach_part(
            "fabric",
            base,
            GP_SIZE + PORT_SIZE,
            Part::Fabric(Box::new(fabric)),
        )
    }

    /// Puts a PCI host at the addresses of its configuration spaces, those of its functions' registers (below 4 GiB),
    /// and those of its IOMMU's registers, if it has one.
    ///
    /// # Errors
    ///
    /// Where something is there already, or the functions' registers would be elsewhere.
    pub fn attach_pci(
        &mut self,
        ecam: u64,
        registers: Place,
        iommu: Option<u64>,
        host: Pci,
    ) -> Result<(), BuildError> {
        let end = registers.base.saturating_add(registers.size);
        if end > 1 << 32 {
            return Err(BuildError::PciWindow(end));
        }
        self.attach_part(pci::NAME, ecam, pci::ECAM_SIZE, Part::Pci(Box::new(host)))?;
        let offset = pci::window::MEMORY + registers.base;
        self.attach_window(pci::NAME, registers.base, registers.size, offset)?;
        if let Some(base) = iommu {
            self.attach_window(pci::NAME, base, pci::IOMMU_SIZE, pci::window::IOMMU)?;
        }
        Ok(())
    }

    /// The PCI host, where there is one.
    #[must_use]
    pub fn pci(&mut self) -> Option<&mut Pci> {
        let devices = self.machine.devices.iter_mut();
        devices
            .into_iter()
            .find_map(|attached| match &mut attached.device {
                Part::Pci(host) => Some(host.as_mut()),
                _ => None,
            })
    }

    /// The fabric, where there is one.
    #[must_use]
    pub fn fabric(&mut self) -> Option<&mut Coupling> {
        let index = self.machine.fabric?;
        match &mut self.machine.devices[index].device {
            Part::Fabric(fabric) => Some(fabric),
            _ => None,
        }
    }

    /// Puts a tile's port at `base`.
    pub(crate) fn attach_tile_port(
        &mut self,
        base: u64,
        size: u64,
        port: TilePort,
    ) -> Result<(), BuildError> {
        self.attach_part("fabric", base, size, Part::TilePort(Box::new(port)))
    }

    /// A tile's port, of a board that is a tile.
    pub(crate) fn tile_port(&mut self) -> Option<&mut TilePort> {
        let index = self.machine.tile_port?;
        match &mut self.machine.devices[index].device {
            Part::TilePort(port) => Some(port),
            _ => None,
        }
    }

    fn attach_part(
        &mut self,
        name: &str,
        base: u64,
        size: u64,
        device: Part,
    ) -> Result<(), BuildError> {
        self.check_free(name, base, size)?;
        let place = self.machine.devices.partition_point(|old| old.base < base);
        let attached = Attached {
            name: name.to_owned(),
            base,
            size,
            device,
            wake: Femtoseconds::NEVER,
        };
        self.machine.devices.insert(place, attached);
        for window in &mut self.machine.windows {
            window.device += usize::from(window.device >= place);
        }
        self.add_window(Window {
            base,
            size,
            device: place,
            offset: 0,
        });
        let devices = &self.machine.devices;
        let place_of = |is_it: fn(&Part) -> bool| devices.iter().position(|at| is_it(&at.device));
        self.machine.fabric = place_of(|part| matches!(part, Part::Fabric(_)));
        self.machine.tile_port = place_of(|part| matches!(part, Part::TilePort(_)));
        let now = self.time();
        let _ = self
            .machine
            .call(place, now, |device, port| device.wake(port));
        Ok(())
    }

    /// Lets a device that is attached answer at other addresses, too; it is told of the first one by `offset`.
    fn attach_window(
        &mut self,
        device: &str,
        base: u64,
        size: u64,
        offset: u64,
    ) -> Result<(), BuildError> {
        self.check_free(device, base, size)?;
        let devices = &self.machine.devices;
        if let Some(device) = devices.iter().position(|at| at.name == device) {
            self.add_window(Window {
                base,
                size,
                device,
                offset,
            });
        }
        Ok(())
    }

    fn add_window(&mut self, window: Window) {
        let windows = &mut self.machine.windows;
        let place = windows.partition_point(|old| old.base < window.base);
        windows.insert(place, window);
    }

    /// Whether nothing is at these addresses.
    fn check_free(&self, name: &str, base: u64, size: u64) -> Result<(), BuildError> {
        let overlaps = |begin: u64, length: u64| {
            base < begin.saturating_add(length) && begin < base.saturating_add(size)
        };
        let memory = &self.machine.memory;
        let old = if overlaps(memory.base(), memory.size()) {
            Some("memory".to_owned())
        } else {
            let windows = self.machine.windows.iter();
            windows
                .into_iter()
                .find(|old| overlaps(old.base, old.size))
                .map(|old| self.machine.devices[old.device].name.clone())
        };
        match old {
            None => Ok(()),
            Some(old) => Err(BuildError::Overlap {
                new: name.to_owned(),
                base,
                size,
                old,
            }),
        }
    }

    /// Memory.
    #[must_use]
    pub const fn memory(&self) -> &Memory {
        &self.machine.memory
    }

    /// Writes to memory, from outside the run.
    ///
    /// # Errors
    ///
    /// Where not all of it is memory; nothing is written then.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), NoMemory> {
        self.machine.memory.write(address, bytes)?;
        self.machine.invalidate_written_by_masters(self.time());
        Ok(())
    }

    /// The seed of all random choices.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// Keeps events from here on, or no longer ([`take_events`](Self::take_events)).
    pub fn record(&mut self, on: bool) {
        self.machine.trace.record(on);
    }

    /// The events since this was called last, those of a hart in order, and how many were lost because there were more
    /// than are kept (16 Mi).
    pub fn take_events(&mut self) -> (Vec<crate::trace::Event>, u64) {
        self.machine.trace.take()
    }

    /// Writes down from here on whenever a hart comes to the virtual `address`, whatever it does there. Gives the
    /// probe's number, by which its events are known: they are kept whether the board is recording or not. It
    /// does not disturb the run.
    pub fn probe(&mut self, address: u64) -> u32 {
        self.drop_code();
        self.machine.probes.record(address)
    }

    /// Stops the run from here on whenever a hart is about to execute at the virtual `address`.
    pub fn stop_at(&mut self, address: u64) {
        self.drop_code();
        self.machine.probes.stop(address);
    }

    /// Whether the run stops at the virtual `address`.
    #[must_use]
    pub fn stops_at(&self, address: u64) -> bool {
        self.machine.probes.stops_at(address)
    }

    /// Takes back [`stop_at`](Self::stop_at).
    pub fn remove_stop(&mut self, address: u64) {
        self.drop_code();
        self.machine.probes.remove_stop(address);
    }

    /// Stops the run from here on behind each access of a hart to any of the `length` bytes (at least 1) at the virtual
    /// `address`, in whatever address space. Until [`unwatch`](Self::unwatch) accesses to the pages around are slow;
    /// they take no longer on the board, and the run is the same.
    pub fn watch(&mut self, address: u64, length: u64, watch: Watch) {
        self.machine
            .probes
            .watch(address, last(address, length), watch);
        for hart in &mut self.harts {
            hart.drop_all();
        }
    }

    /// Takes back [`watch`](Self::watch) of the same bytes. Whether they were watched so.
    pub fn unwatch(&mut self, address: u64, length: u64, watch: Watch) -> bool {
        self.machine
            .probes
            .unwatch(address, last(address, length), watch)
    }

    /// What time passes from here on. At reset it is [`Pace::Fast`]. Where the timed mode begins, modelled caches,
    /// TLBs, predictors and store buffers are empty.
    pub fn set_pace(&mut self, pace: Pace) {
        let timed = pace == Pace::Timed;
        if timed != self.machine.timed {
            self.machine.timed = timed;
            self.machine.timing.forget();
            self.drop_code();
            for hart in &mut self.harts {
                // What the engine knows, the modelled TLBs may not.
                hart.drop_all();
            }
        }
    }

    /// The current pace.
    #[must_use]
    pub const fn pace(&self) -> Pace {
        if self.machine.timed {
            Pace::Timed
        } else {
            Pace::Fast
        }
    }

    /// For how many cycles a hart runs now before another one that is behind it.
    #[must_use]
    pub const fn quantum(&self) -> u64 {
        if self.machine.timed {
            self.quantum
        } else {
            self.fast_quantum
        }
    }

    /// How often things happened to a hart in timed mode, and what they cost. In fast mode these stand still.
    ///
    /// # Panics
    ///
    /// When there is no such hart.
    #[must_use]
    pub fn counts(&self, hart: usize) -> &Counts {
        self.machine.timing.counts(hart)
    }

    /// Keeps no more than about this many bytes of decoded code (192 MiB unless told). It changes nothing but speed.
    pub fn keep_code(&mut self, bytes: usize) {
        self.machine.code.capacity = bytes;
    }

    /// Forgets decoded code: it depends on what is watched, and on the mode.
    fn drop_code(&mut self) {
        for hart in &mut self.harts {
            hart.drop_jumps();
        }
        self.machine.code.clear();
    }

    /// The account of a hart's cycles so far.
    ///
    /// # Panics
    ///
    /// When there is no such hart.
    pub fn account(&mut self, hart: usize) -> Vec<crate::account::Spent> {
        let hart = &mut self.harts[hart];
        let (cycle, instructions) = (hart.cycle(), hart.instructions);
        hart.account.settle(cycle, instructions);
        hart.account.lines().to_vec()
    }

    /// How many harts there are.
    #[must_use]
    pub fn harts(&self) -> usize {
        self.harts.len()
    }

    /// An integer register (0 to 31) of a hart.
    ///
    /// # Panics
    ///
    /// When there is no such hart or register.
    #[must_use]
    pub fn x(&self, hart: usize, register: usize) -> u64 {
        self.harts[hart].x[..32][register]
    }

    /// Sets an integer register (x0 stays 0) of a hart.
    ///
    /// # Panics
    ///
    /// When there is no such hart or register.
    pub fn set_x(&mut self, hart: usize, register: usize, value: u64) {
        if register != 0 {
            self.harts[hart].x[..32][register] = value;
        }
    }

    /// The address of a hart's next instruction.
    ///
    /// # Panics
    ///
    /// When there is no such hart.
    #[must_use]
    pub fn pc(&self, hart: usize) -> u64 {
        self.harts[hart].pc
    }

    /// Lets a hart continue at `pc`.
    ///
    /// # Panics
    ///
    /// When there is no such hart.
    pub fn set_pc(&mut self, hart: usize, pc: u64) {
        self.harts[hart].pc = pc & !1;
    }

    /// The cycle that a hart has come to.
    ///
    /// # Panics
    ///
    /// When there is no such hart.
    #[must_use]
    pub fn cycle(&self, hart: usize) -> u64 {
        self.harts[hart].cycle()
    }

    /// How many instructions a hart has retired.
    ///
    /// # Panics
    ///
    /// When there is no such hart.
    #[must_use]
    pub fn instructions(&self, hart: usize) -> u64 {
        self.harts[hart].instructions
    }

    /// The harts' clock.
    #[must_use]
    pub const fn clock(&self) -> Clock {
        self.machine.clock
    }

    /// The time that the hart furthest behind has come to.
    #[must_use]
    pub fn time(&self) -> Femtoseconds {
        let cycle = self
            .harts
            .iter()
            .map(|hart| hart.cycle())
            .min()
            .unwrap_or(0);
        self.machine.clock.time_of(cycle)
    }

    /// The activity of a hart.
    ///
    /// # Panics
    ///
    /// When there is no such hart.
    #[must_use]
    pub fn doing(&self, hart: usize) -> crate::account::Doing {
        self.harts[hart].account.current()
    }

    /// Whether all harts wait, and nothing will ever wake them but what comes from outside.
    #[must_use]
    pub fn asleep(&self) -> bool {
        self.machine.stop.is_none()
            && self.next_event() == u64::MAX
            && (0..self.harts.len()).all(|hart| self.ready_cycle(hart) == u64::MAX)
    }

    /// The hash of all that happened, and of the harts' registers now: the same number, the same run.
    #[must_use]
    pub fn trace_hash(&self) -> u64 {
        let mut hash = self.machine.trace.hash();
        for hart in &self.harts {
            for value in hart.x[..32].iter().chain(&hart.f).chain(&[
                hart.pc,
                hart.cycle(),
                hart.instructions,
            ]) {
                hash.write(&value.to_le_bytes());
            }
        }
        hash.finish()
    }

    /// The hash of the events so far: what harts did in turn, their interrupts and exceptions, and their accesses to
    /// devices. Where those of two runs differ they differ from then on.
    #[must_use]
    pub fn event_hash(&self) -> u64 {
        self.machine.trace.hash().finish()
    }

    /// Runs until `limit`, a time since reset, or until something ends the run before.
    ///
    /// All harts come to `limit` at least. One that runs beside others may be past it by as much as a quantum: turns
    /// are not cut short where that would change their order. So it makes no difference in how many slices a run is
    /// carried out.
    pub fn run(&mut self, limit: Femtoseconds) -> Outcome {
        self.run_until(limit, |_| false)
    }

    /// Runs until `condition` holds, until `limit`, or until something ends the run before. The condition is asked at
    /// the start and whenever another hart may get its turn: after a quantum, or what is left of it when a device or
    /// another hart is concerned, and after 2^20 cycles at most. A run that is ended by its condition continues as if
    /// it had never been interrupted: the same instructions at the same cycles, and the same trace hash.
    ///
    /// ```
    /// # use tactus_board::board::Outcome;
    /// # use tactus_board::time::Femtoseconds;
    /// # let profile = tactus_board::profile::Profile::named("mpsoc").unwrap();
    /// # let (mut board, _) = tactus_board::setup::board(&profile, &Default::default(), Vec::new()).unwrap();
    /// # (0..board.harts()).for_each(|hart| board.set_pc(hart, 0x8000_0000));
    /// // addi a0, a0, 1; j .-4
    /// board.write(0x8000_0000, &[0x0015_0513_u32, 0xffdf_f06f].map(u32::to_le_bytes).concat())?;
    /// let outcome = board.run_until(Femtoseconds::SECOND, |board| board.x(0, 10) >= 1000);
    /// assert_eq!(outcome, Outcome::Condition);
    /// assert!(board.x(0, 10) >= 1000);
    /// # Ok::<(), tactus_board::memory::NoMemory>(())
    /// ```
    pub fn run_until(
        &mut self,
        limit: Femtoseconds,
        mut condition: impl FnMut(&Self) -> bool,
    ) -> Outcome {
        let end = self.machine.cycle_from(limit);
        self.wake_inputs();
        let mut now = 0;
        loop {
            if let Some(stop) = self.machine.stop.take() {
                self.wait_until(now);
                return Outcome::Stop(stop);
            }
            if std::mem::take(&mut self.machine.postponed) {
                return Outcome::Condition;
            }
            if let Some((hart, pc)) = self.machine.stopped_at.take() {
                return Outcome::Breakpoint { hart, pc };
            }
            if let Some((hart, address, write)) = self.machine.watched_at.take() {
                return Outcome::Watchpoint {
                    hart,
                    address,
                    write,
                };
            }
            if condition(self) {
                return Outcome::Condition;
            }
            let event = self.next_event();
            let turn = self.interrupted_turn();
            self.turn = None;
            let (first, least, second) = self.next_hart();
            let (hart, cycle, until) = match turn {
                Some((hart, until)) => (hart, self.harts[hart].cycle(), until.min(event)),
                None => (first, least, event.min(self.turn_end(least, second))),
            };
            // A turn is cut short only where no other hart waits for its end: the order of turns is the same
            // however a run is cut.
            let others = if hart == first { second } else { least };
            let until_here = if others > end { until.min(end) } else { until };
            if event <= cycle && event < end {
                now = event;
                self.handle_event();
                continue;
            }
            // A turn that a stop interrupted beyond the end is still to be finished.
            if least >= end && (turn.is_none() || until_here <= cycle) {
                self.turn = turn;
                if limit == Femtoseconds::NEVER && self.harts.iter().all(|hart| hart.waiting) {
                    return Outcome::Deadlock;
                }
                self.wait_until(end);
                return Outcome::Limit;
            }
            if turn.is_none() {
                self.machine.begin_turn(cycle);
            }
            self.run_hart(hart, cycle, until_here);
            now = self.harts[hart].cycle();
            let interrupted =
                self.machine.stopped_at.is_some() || self.machine.watched_at.is_some();
            // A turn that the hart ended itself, by what others have to see, is over: also where that took it past the
            // place at which it was cut.
            let cut = now >= until_here && !self.machine.disturbed;
            if (interrupted || cut) && now < until {
                self.turn = Some((hart, until));
            } else {
                self.expire_reservation(hart);
            }
        }
    }

    /// Where the turn of a hart ends that has come to the cycle `least`, while the next one has come to `second`.
    fn turn_end(&self, least: u64, second: u64) -> u64 {
        let quantum = self.quantum();
        match &self.machine.weak {
            None => {
                let stretch = (least | (STRETCH - 1)).saturating_add(1);
                second.saturating_add(quantum).min(stretch)
            }
            // A hart that has the board to itself comes to its stores' delays no later.
            Some(weak) => {
                let turn = weak.turn(quantum);
                second
                    .saturating_add(turn)
                    .min(least.saturating_add(quantum + turn))
            }
        }
    }

    /// The turn of a hart that a stop interrupted, unless it is over for another reason now.
    pub(crate) fn interrupted_turn(&self) -> Option<(usize, u64)> {
        self.turn.filter(|(hart, until)| {
            !self.harts[*hart].waiting && self.harts[*hart].cycle() < *until
        })
    }

    /// Takes back the reservation that a hart did not use in time.
    fn expire_reservation(&mut self, index: usize) {
        let hart = &self.harts[index];
        if self.machine.holds_any(index)
            && hart.instructions.wrapping_sub(hart.reserved_at) > RESERVATION_INSTRUCTIONS
        {
            self.machine.release(hart);
        }
    }

    /// The hart furthest behind, the cycle at which it continues, and that of the next one.
    pub(crate) fn next_hart(&self) -> (usize, u64, u64) {
        let (mut first, mut cycle, mut second) = (0, u64::MAX, u64::MAX);
        for index in 0..self.harts.len() {
            let ready = self.ready_cycle(index);
            if ready < cycle {
                (first, second, cycle) = (index, cycle, ready);
            } else {
                second = second.min(ready);
            }
        }
        (first, cycle, second)
    }

    /// The cycle of the next waking of a device or fault; none: the end of time.
    pub(crate) fn next_event(&self) -> u64 {
        self.machine
            .cycle_from(self.machine.next_wake.min(self.faults.next()))
    }

    /// Lets the next fault or waking of a device happen.
    pub(crate) fn handle_event(&mut self) {
        if self.faults.next() <= self.machine.next_wake {
            self.next_fault();
        } else {
            self.wake_device();
        }
    }

    /// Lets `device` be woken when a run begins and `input` is set, which is then cleared: for input that comes from
    /// outside while the board runs ([`Console::attention`](crate::devices::Console::attention)). Such runs are made of
    /// slices, as short as the input shall wait at most.
    pub fn wake_on_input(&mut self, device: &str, input: Arc<AtomicBool>) {
        self.inputs.push((device.to_owned(), input));
    }

    fn wake_inputs(&mut self) {
        for index in 0..self.inputs.len() {
            let (name, input) = &self.inputs[index];
            if input.swap(false, Ordering::Acquire) {
                let device = self
                    .machine
                    .devices
                    .iter()
                    .position(|device| device.name == *name);
                if let Some(device) = device {
                    let now = self.time();
                    let _ = self
                        .machine
                        .call(device, now, |device, port| device.wake(port));
                }
            }
        }
    }

    /// Lets the harts that wait have waited until `cycle`.
    fn wait_until(&mut self, cycle: u64) {
        for hart in &mut self.harts {
            if hart.waiting && hart.cycle() < cycle {
                hart.set_cycle(cycle);
            }
        }
    }

    /// The cycle at which a hart continues, if nothing happens before.
    pub(crate) fn ready_cycle(&self, index: usize) -> u64 {
        let hart = &self.harts[index];
        if !hart.waiting {
            return hart.cycle();
        }
        if hart.seen == (self.machine.wires[index], self.machine.time_offset) {
            // It has seen that nothing wakes it before.
            return hart.timer_cycle;
        }
        let time = self.machine.ticks(hart.cycle());
        if hart.privileged.wake(self.machine.wires[index], time) {
            return hart.cycle();
        }
        self.machine.timer_cycle(hart)
    }

    pub(crate) fn run_hart(&mut self, index: usize, cycle: u64, until: u64) {
        let hart = &mut self.harts[index];
        if cycle > hart.cycle() {
            hart.set_cycle(cycle);
        }
        let watched = self.machine.others_hold(index);
        if hart.watched != watched {
            hart.watch_stores(watched);
        }
        self.machine.disturbed = false;
        match (self.machine.weak.is_some(), self.machine.timed) {
            (false, false) => execute::run::<Fast>(hart, &mut self.machine, until),
            (false, true) => execute::run::<Timed>(hart, &mut self.machine, until),
            (true, false) => execute::run::<Weak<Fast>>(hart, &mut self.machine, until),
            (true, true) => execute::run::<Weak<Timed>>(hart, &mut self.machine, until),
        }
        if self.machine.disturbed {
            let now = self.harts[index].cycle();
            self.wake_waiting_at(now);
        }
    }

    /// Wakes the device whose time has come first.
    fn wake_device(&mut self) {
        let time = self.machine.next_wake;
        let Some(index) = self
            .machine
            .devices
            .iter()
            .position(|device| device.wake == time)
        else {
            self.machine.next_wake = Femtoseconds::NEVER;
            return;
        };
        self.machine.devices[index].wake = Femtoseconds::NEVER;
        self.machine.find_next_wake();
        let _ = self
            .machine
            .call(index, time, |device, port| device.wake(port));
        self.wake_waiting_at(self.machine.clock.cycle_from(time));
    }

    /// Whom something reached that happened at `cycle`, it reached no earlier.
    pub(crate) fn wake_waiting_at(&mut self, cycle: u64) {
        for index in 0..self.harts.len() {
            let hart = &self.harts[index];
            if hart.waiting && hart.cycle() < cycle && self.ready_cycle(index) == hart.cycle() {
                self.harts[index].set_cycle(cycle);
            }
        }
    }
}

/// The last of `length` bytes at `address`.
const fn last(address: u64, length: u64) -> u64 {
    address.saturating_add(length.saturating_sub(1))
}
