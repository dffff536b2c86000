//! Faults on a plan: what goes wrong on a board, and when.
//!
//! A fault is part of the run. It happens when every hart has come to its time, so that the same plan gives the same
//! run, and it is part of snapshots. It leaves no trace of its own: a run whose trace hash is that of the run
//! without the fault was not affected by it.

use serde::{Deserialize, Serialize};

use crate::fabric::FabricPort;
use crate::time::Femtoseconds;

/// A register of a hart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Register {
    /// The integer register of this number, 1 to 31.
    X(u8),
    /// The floating-point register of this number, 0 to 31.
    F(u8),
    /// The address of the next instruction; bit 0 stays 0.
    Pc,
    /// The CSR of this number; fields take what they can hold.
    Csr(u16),
}

/// A cache of the timed mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cache {
    /// A hart's L1 data cache.
    Data,
    /// A hart's L1 instruction cache.
    Code,
    /// The L2 cache, which all harts share.
    Level2,
}

/// Something that goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Fault {
    /// Bits of a byte of main memory change.
    Memory {
        /// The byte's physical address.
        address: u64,
        /// Those that change, as ones.
        bits: u8,
    },
    /// Bits of a hart's register change.
    Register {
        /// The hart.
        hart: usize,
        /// The register.
        register: Register,
        /// Those that change, as ones.
        bits: u64,
    },
    /// An interrupt line is held at a level, whatever its device does: low, and its interrupts are lost; high, and it
    /// interrupts again and again.
    HoldLine {
        /// The line, 1 to 1023.
        line: u32,
        /// The level.
        level: bool,
    },
    /// The next answer at a port of the fabric is an error: to software at [`FabricPort::Gp`], to the fabric at the
    /// others.
    FabricError {
        /// The port.
        port: FabricPort,
    },
    /// Nothing gets through a port of the fabric any more, in either direction.
    FabricHang {
        /// The port.
        port: FabricPort,
    },
    /// A port of the fabric that hung works again.
    FabricRelease {
        /// The port.
        port: FabricPort,
    },
    /// The next event that software raises does not come to the fabric.
    FabricEventLost,
    /// An event without a cause arrives at the fabric.
    FabricEventExtra,
    /// The fabric's clock drifts from the harts': from its next edge on, its period is the profile's, longer by so many
    /// millionths. 0: as it was.
    FabricDrift {
        /// The millionths: less than [`DRIFT_MAX`], and more than the same below zero.
        ppm: i32,
    },
    /// A bit of a tag of a cache changes. A place without a line has no tag, and nothing happens; nor in fast mode.
    ///
    /// Caches have no data here, which always comes from memory, so that this costs time alone: the line is not found
    /// any more, and an access to the line that the tag now names hits. The directory in the L2 cache knows nothing
    /// of it.
    Tag {
        /// The cache.
        cache: Cache,
        /// The hart whose cache it is; of the L2 cache, 0.
        hart: usize,
        /// The place, from 0: set by set, and within a set as its lines lie there.
        place: usize,
        /// The bit of the line's physical address that changes: one of its [`tags`](crate::board::Board::tags).
        bit: u32,
    },
    /// An interrupt line that was held follows its device again.
    ReleaseLine {
        /// The line, 1 to 1023.
        line: u32,
    },
    /// The supply fails, and comes again after a time. What the fabric's flash programs or erases is torn, and of all
    /// other state that of [`Board::keep_power_on`](crate::board::Board::keep_power_on) is there when it comes: software
    /// as it was loaded, harts, devices and fabric after reset. The flash keeps all else, and the real-time clock its
    /// date. Pages of memory that were written, and in which no software was loaded, have any bits. `time` begins at 0.
    PowerLoss {
        /// How long there is no power: from [`OFF_MIN`] to [`OFF_MAX`].
        off: Femtoseconds,
        /// What torn flash and lost memory are drawn from.
        seed: u64,
    },
    /// A hart does nothing for a time, as one whose memory does not answer, or that its firmware keeps. Its clock goes
    /// on.
    Stall {
        /// The hart.
        hart: usize,
        /// Cycles of that.
        cycles: u32,
    },
}

/// Millionths that the fabric's clock can drift by, and one more: a tenth.
pub const DRIFT_MAX: i32 = 100_001;

/// The shortest time without power: capacitors and supervisors of supplies do not react faster.
pub const OFF_MIN: Femtoseconds = Femtoseconds(Femtoseconds::SECOND.0 / 1_000_000);
/// The longest time without power.
pub const OFF_MAX: Femtoseconds = Femtoseconds(Femtoseconds::SECOND.0 * 60);

/// A fault that can't be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadFault {
    /// No memory there.
    #[error("no memory at {0:#x} that could change")]
    Memory(u64),
    /// No such hart.
    #[error("the board has no hart {0}")]
    Hart(usize),
    /// No such register, or one that can't be set.
    #[error("hart {hart} has no register {register:?} that could change")]
    Register {
        /// The hart.
        hart: usize,
        /// The register.
        register: Register,
    },
    /// No such line.
    #[error("there is no interrupt line {0}")]
    Line(u32),
    /// Too much.
    #[error("a clock that drifts by {0} millionths: less than {DRIFT_MAX} can be")]
    Drift(i32),
    /// No such cache, place or bit.
    #[error("there is no tag {place} with address bit {bit} in {cache:?} of hart {hart}")]
    Tag {
        /// The cache.
        cache: Cache,
        /// The hart.
        hart: usize,
        /// The place.
        place: usize,
        /// The bit.
        bit: u32,
    },
    /// Too short or too long without power.
    #[error("{0} without power: 1 us to 60 s can be")]
    Off(Femtoseconds),
    /// Nothing is known of the board when it got power.
    #[error("the board does not know what it was when it got power (Board::keep_power_on)")]
    NoPowerOn,
    /// Disks and network cards that would lose what they hold.
    #[error(
        "the board has PCI functions, of which it is not modelled what they keep without power"
    )]
    Functions,
    /// No fabric.
    #[error("the board has no fabric that could fail")]
    NoFabric,
}

/// The faults that are still to come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FaultPlan {
    /// By time; at the same time in the order in which they were planned.
    to_come: Vec<(Femtoseconds, Fault)>,
}

impl FaultPlan {
    /// When the next one happens.
    pub(crate) fn next(&self) -> Femtoseconds {
        self.to_come
            .first()
            .map_or(Femtoseconds::NEVER, |(time, _)| *time)
    }

    pub(crate) fn add(&mut self, time: Femtoseconds, fault: Fault) {
        let place = self.to_come.partition_point(|(other, _)| *other <= time);
        self.to_come.insert(place, (time, fault));
    }

    /// Takes the next one, and when it is to happen.
    pub(crate) fn take(&mut self) -> Option<(Femtoseconds, Fault)> {
        (!self.to_come.is_empty()).then(|| self.to_come.remove(0))
    }

    /// Whether these, read from outside, are in order and each can be.
    pub(crate) fn is_sound(&self, check: impl Fn(&Fault) -> bool) -> bool {
        self.to_come.is_sorted_by_key(|(time, _)| *time)
            && self.to_come.iter().all(|(_, fault)| check(fault))
    }
}
