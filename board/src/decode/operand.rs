//! Operands: where a 32-bit instruction keeps them, and the lists of them that instructions share.
//!
//! An instruction's operands are listed in the order of assembly language. The list decides both what decoding
//! extracts and what the text shows.

use Operand::{
    Address, Branch, Csr, CsrImmediate, Fd, Fence, Fs1, Fs2, Fs3, Immediate as Signed, Jump, Load,
    Ordering, Prefetch, Rd, Rounding, Rs1, Rs2, Shift5, Shift6, Store, Upper,
};

/// One operand of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    /// Integer register of bits 11:7, written.
    Rd,
    /// Integer register of bits 19:15.
    Rs1,
    /// Integer register of bits 24:20.
    Rs2,
    /// Floating-point register of bits 11:7, written.
    Fd,
    /// Floating-point register of bits 19:15.
    Fs1,
    /// Floating-point register of bits 24:20.
    Fs2,
    /// Floating-point register of bits 31:27.
    Fs3,
    /// Address in the integer register of bits 19:15: `(rs1)`.
    Address,
    /// `immediate(rs1)` with a load's offset.
    Load,
    /// `immediate(rs1)` with a store's offset.
    Store,
    /// `immediate(rs1)` with the offset of a prefetch, a multiple of 32.
    Prefetch,
    /// Signed immediate of 12 bits.
    Immediate,
    /// Upper 20 bits of a word.
    Upper,
    /// Branch target relative to this instruction.
    Branch,
    /// Jump target relative to this instruction.
    Jump,
    /// Shift amount below 32.
    Shift5,
    /// Shift amount below 64.
    Shift6,
    /// Number of a control and status register.
    Csr,
    /// Unsigned immediate of 5 bits in place of rs1.
    CsrImmediate,
    /// The `aq` and `rl` bits, which show as suffixes of the mnemonic.
    Ordering,
    /// A fence's mode, predecessors and successors.
    Fence,
    /// Rounding mode; not shown when it is dynamic.
    Rounding,
}

/// Lists of operands, named after the instruction formats of Volume I section 2.2 where there is such a format.
pub(super) mod lists {
    use super::*;

    type List = &'static [Operand];

    pub const NONE: List = &[];
    pub const R: List = &[Rd, Rs1, Rs2];
    pub const R1: List = &[Rd, Rs1];
    pub const I: List = &[Rd, Rs1, Signed];
    pub const SHIFT5: List = &[Rd, Rs1, Shift5];
    pub const SHIFT6: List = &[Rd, Rs1, Shift6];
    pub const LOAD: List = &[Rd, Load];
    pub const STORE: List = &[Rs2, Store];
    pub const PREFETCH: List = &[Prefetch];
    pub const BLOCK: List = &[Address];
    pub const B: List = &[Rs1, Rs2, Branch];
    pub const U: List = &[Rd, Upper];
    pub const J: List = &[Rd, Jump];
    pub const FENCE: List = &[Fence];
    pub const CSR: List = &[Rd, Csr, Rs1];
    pub const CSR_IMMEDIATE: List = &[Rd, Csr, CsrImmediate];
    pub const LR: List = &[Ordering, Rd, Address];
    pub const AMO: List = &[Ordering, Rd, Rs2, Address];
    pub const FLOAT_LOAD: List = &[Fd, Load];
    pub const FLOAT_STORE: List = &[Fs2, Store];
    /// Floating point, rounding: two sources, one, three.
    pub const F2_ROUND: List = &[Fd, Fs1, Fs2, Rounding];
    pub const F1_ROUND: List = &[Fd, Fs1, Rounding];
    pub const F3_ROUND: List = &[Fd, Fs1, Fs2, Fs3, Rounding];
    /// Floating point, nothing to round.
    pub const F2: List = &[Fd, Fs1, Fs2];
    /// From floating point to an integer register.
    pub const COMPARE: List = &[Rd, Fs1, Fs2];
    pub const TO_X_ROUND: List = &[Rd, Fs1, Rounding];
    pub const TO_X: List = &[Rd, Fs1];
    /// From an integer register to floating point.
    pub const FROM_X_ROUND: List = &[Fd, Rs1, Rounding];
    pub const FROM_X: List = &[Fd, Rs1];
    pub const TRANSLATION_FENCE: List = &[Rs1, Rs2];
    pub const HYPERVISOR_LOAD: List = &[Rd, Address];
    pub const HYPERVISOR_STORE: List = &[Rs2, Address];
}

/// Where a 32-bit instruction keeps its immediate, and what it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Immediate {
    /// None: the immediate is 0.
    None,
    /// Bits 31:20, sign-extended.
    I,
    /// Bits 31:25 and 11:7, sign-extended.
    S,
    /// Bits 31:25, times 32, sign-extended.
    Prefetch,
    /// Bits 31, 7, 30:25, 11:8, times 2, sign-extended.
    B,
    /// Bits 31:12 in their place, the others 0.
    U,
    /// Bits 31, 19:12, 20, 30:21, times 2, sign-extended.
    J,
    /// Bits 24:20.
    Shift5,
    /// Bits 25:20.
    Shift6,
    /// Bits 31:20, not sign-extended: a CSR's number, or a fence's mode and sets.
    Unsigned12,
    /// Bits 26:25, `aq` and `rl`.
    Ordering,
}

impl Immediate {
    /// The immediate of `word` (Volume I section 2.3, "Immediate Encoding Variants").
    #[inline]
    pub const fn of(self, word: u32) -> i32 {
        let signed = word as i32;
        // The sign bit is bit 31 in every format: an arithmetic shift extends it.
        match self {
            Self::None => 0,
            Self::I => signed >> 20,
            Self::S => signed >> 25 << 5 | field(word, 11, 7, 0),
            Self::Prefetch => signed >> 25 << 5,
            Self::B => {
                signed >> 31 << 12
                    | field(word, 7, 7, 11)
                    | field(word, 30, 25, 5)
                    | field(word, 11, 8, 1)
            }
            Self::U => signed >> 12 << 12,
            Self::J => {
                signed >> 31 << 20
                    | field(word, 19, 12, 12)
                    | field(word, 20, 20, 11)
                    | field(word, 30, 21, 1)
            }
            Self::Shift5 => field(word, 24, 20, 0),
            Self::Shift6 => field(word, 25, 20, 0),
            Self::Unsigned12 => field(word, 31, 20, 0),
            Self::Ordering => field(word, 26, 25, 0),
        }
    }
}

/// Bits `high:low` of `word`, moved so that the lowest of them becomes bit `to`. At most 30 bits.
pub(super) const fn field(word: u32, high: u32, low: u32, to: u32) -> i32 {
    ((word >> low & ((1 << (high - low + 1)) - 1)) << to) as i32
}

/// The fields that decoding extracts from a word: computed from a list of operands at compile time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields {
    /// 31 where the instruction has that register, 0 where it has not: masks for the extracted numbers.
    pub rd: u8,
    /// See `rd`.
    pub rs1: u8,
    /// See `rd`.
    pub rs2: u8,
    /// See `rd`.
    pub rs3: u8,
    /// Whether bits 14:12 are a rounding mode.
    pub rounding: bool,
    /// Which immediate there is.
    pub immediate: Immediate,
}

impl Fields {
    /// The fields that a list of operands occupies.
    pub const fn of(operands: &[Operand]) -> Self {
        let mut fields = Self {
            rd: 0,
            rs1: 0,
            rs2: 0,
            rs3: 0,
            rounding: false,
            immediate: Immediate::None,
        };
        let mut i = 0;
        while i < operands.len() {
            match operands[i] {
                Rd | Fd => fields.rd = 31,
                Rs1 | Fs1 | Address | CsrImmediate => fields.rs1 = 31,
                Rs2 | Fs2 => fields.rs2 = 31,
                Fs3 => fields.rs3 = 31,
                Load => {
                    fields.rs1 = 31;
                    fields.immediate = Immediate::I;
                }
                Store => {
                    fields.rs1 = 31;
                    fields.immediate = Immediate::S;
                }
                Prefetch => {
                    fields.rs1 = 31;
                    fields.immediate = Immediate::Prefetch;
                }
                Signed => fields.immediate = Immediate::I,
                Upper => fields.immediate = Immediate::U,
                Branch => fields.immediate = Immediate::B,
                Jump => fields.immediate = Immediate::J,
                Shift5 => fields.immediate = Immediate::Shift5,
                Shift6 => fields.immediate = Immediate::Shift6,
                Csr | Fence => fields.immediate = Immediate::Unsigned12,
                Ordering => fields.immediate = Immediate::Ordering,
                Rounding => fields.rounding = true,
            }
            i += 1;
        }
        fields
    }
}

#[cfg(test)]
mod tests {
    use super::Immediate;

    /// A format's name, whether its value is signed, and its bits: which bit of the value each bit of the
    /// instruction is, as figures 2.3 and 2.4 of Volume I, 20191213, label the columns. The highest stands first.
    type Labels = (Immediate, bool, Vec<(u32, u32)>);

    /// Bits `high` down to `low` of the instruction are bits `to` and down of the value.
    fn run(high: u32, low: u32, to: u32) -> impl Iterator<Item = (u32, u32)> {
        (low..=high)
            .rev()
            .map(move |from| (from, to - (high - from)))
    }

    fn labels() -> [Labels; 10] {
        [
            (Immediate::I, true, run(31, 20, 11).collect()),
            (
                Immediate::S,
                true,
                run(31, 25, 11).chain(run(11, 7, 4)).collect(),
            ),
            (Immediate::Prefetch, true, run(31, 25, 11).collect()),
            (
                Immediate::B,
                true,
                run(31, 31, 12)
                    .chain(run(30, 25, 10))
                    .chain(run(11, 8, 4))
                    .chain(run(7, 7, 11))
                    .collect(),
            ),
            (Immediate::U, true, run(31, 12, 31).collect()),
            (
                Immediate::J,
                true,
                run(31, 31, 20)
                    .chain(run(30, 21, 10))
                    .chain(run(20, 20, 11))
                    .chain(run(19, 12, 19))
                    .collect(),
            ),
            (Immediate::Shift5, false, run(24, 20, 4).collect()),
            (Immediate::Shift6, false, run(25, 20, 5).collect()),
            (Immediate::Unsigned12, false, run(31, 20, 11).collect()),
            (Immediate::Ordering, false, run(26, 25, 1).collect()),
        ]
    }

    #[test]
    fn every_value_of_every_immediate_matches_the_figures() {
        for (immediate, signed, labels) in labels() {
            let places: u32 = labels.iter().map(|&(from, _)| 1 << from).sum();
            // All values of the immediate's bits, with the instruction's other bits all zero and all one.
            for pattern in 0..1_u32 << labels.len() {
                let (mut word, mut value) = (0_u32, 0_i64);
                for (i, &(from, to)) in labels.iter().enumerate() {
                    let one = pattern >> i & 1;
                    word |= one << from;
                    let weight = if signed && i == 0 {
                        -(1_i64 << to)
                    } else {
                        1_i64 << to
                    };
                    value += weight * i64::from(one);
                }
                for word in [word, word | !places] {
                    assert_eq!(
                        i64::from(immediate.of(word)),
                        value,
                        "{immediate:?} of {word:#010x}"
                    );
                }
            }
        }
        assert_eq!(Immediate::None.of(u32::MAX), 0);
    }
}
