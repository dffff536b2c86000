//! The arithmetic of the F and D extensions, as functions of register values alone.
//!
//! Section numbers are of The RISC-V Instruction Set Manual, Volume I, 20191213, chapters 11 (F) and 12 (D).
//!
//! Every operation of the two extensions but loads and stores is a function from the raw values of its source
//! registers and a rounding mode to the raw value of its destination register and the exception flags that it
//! raises ([`Compute`]). They stand in [`operation`], named after their mnemonics: [`operation::fadd_d`] is
//! `fadd.d`. [`lookup`] gives the function of a decoded [`Operation`](crate::decode::Operation), and which register
//! file each value belongs to.
//!
//! ```
//! use tactus_board::decode::Operation;
//! use tactus_board::float::{Flags, Rounding, lookup, operation};
//!
//! let (one, three) = (1f64.to_bits(), 3f64.to_bits());
//! let (third, flags) = operation::fdiv_d(one, three, 0, Rounding::NearestEven);
//! assert_eq!(f64::from_bits(third), 1.0 / 3.0);
//! assert_eq!(flags, Flags::NX);
//!
//! let division = lookup(Operation::FdivD).expect("floating point");
//! assert_eq!((division.compute)(one, three, 0, Rounding::NearestEven), (third, flags));
//! ```
//!
//! # How it is computed
//!
//! Where the result must be rounded, Berkeley SoftFloat computes it (`float/soft.rs`). Its rounding mode and flags
//! are variables of each thread, set before and read after every call; nothing of one call is left to the next, so
//! boards may run in as many threads as there are.
//!
//! Rounding to nearest, ties to even, is what the host does too. There the host computes, wherever it can be told
//! exactly whether its result is inexact and nothing else can have happened (`float/host.rs`); SoftFloat has the rest.
//! This relies on the host's floating-point unit as Rust's own arithmetic does: IEEE 754 with subnormal numbers,
//! rounding to nearest even. Its flags are never read.
//!
//! Comparisons, minimum and maximum, sign injection and classification are integer arithmetic (`float/format.rs`).

use crate::decode::RoundingMode;

mod format;
mod host;
pub mod operation;
mod soft;

pub use format::{box_single, unbox_single};
pub use operation::lookup;

bitflags::bitflags! {
    /// Exception flags, as the CSR `fflags` has them (figure 11.2).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Flags: u8 {
        /// Inexact.
        const NX = 1;
        /// Underflow: tiny after rounding, and inexact (section 11.4).
        const UF = 2;
        /// Overflow.
        const OF = 4;
        /// Divide by zero.
        const DZ = 8;
        /// Invalid operation.
        const NV = 16;
    }
}

/// How a result is rounded (table 11.1), when it is no longer to be asked whether the mode is dynamic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Rounding {
    /// To nearest, ties to even.
    NearestEven = 0,
    /// Towards zero.
    Zero = 1,
    /// Down, towards minus infinity.
    Down = 2,
    /// Up, towards plus infinity.
    Up = 3,
    /// To nearest, ties to the larger magnitude.
    NearestMaxMagnitude = 4,
}

impl Rounding {
    /// Every mode, in the order of their encodings.
    pub const ALL: [Self; 5] = [
        Self::NearestEven,
        Self::Zero,
        Self::Down,
        Self::Up,
        Self::NearestMaxMagnitude,
    ];

    /// The mode that the CSR `frm` holds. `None`: 5, 6 and 7, with which an instruction whose rounding is dynamic is
    /// illegal (section 11.2). Only the low three bits count.
    #[inline]
    #[must_use]
    pub const fn from_frm(frm: u8) -> Option<Self> {
        Some(match frm & 7 {
            0 => Self::NearestEven,
            1 => Self::Zero,
            2 => Self::Down,
            3 => Self::Up,
            4 => Self::NearestMaxMagnitude,
            _ => return None,
        })
    }

    /// The mode of an instruction, while the CSR `frm` is as given. `None`: the instruction is illegal, since its
    /// mode is dynamic and `frm` holds a reserved one.
    #[inline]
    #[must_use]
    pub const fn of(instruction: RoundingMode, frm: u8) -> Option<Self> {
        match instruction {
            RoundingMode::Dynamic => Self::from_frm(frm),
            fixed => Self::from_frm(fixed as u8),
        }
    }
}

/// One operation: from the values of the source registers (0 where it has fewer than three) and the rounding mode
/// to the value of the destination register and the flags raised.
///
/// Operations without rounding ignore the mode; every operation ignores the sources that it does not have.
pub type Compute = fn(u64, u64, u64, Rounding) -> (u64, Flags);

/// A register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum File {
    /// The integer registers, `x0` to `x31`.
    Integer,
    /// The floating-point registers, `f0` to `f31`.
    Float,
}

/// The description of an operation for an engine.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The operation itself.
    pub compute: Compute,
    /// The files of `rs1`, `rs2` and `rs3`, as many as it has.
    pub sources: &'static [File],
    /// The file of `rd`.
    pub destination: File,
}
