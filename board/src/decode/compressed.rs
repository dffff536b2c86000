//! The 16-bit instructions of the C extension on RV64 with F and D, as the operations they expand to.
//!
//! One line each, from tables 16.5 to 16.7 of Volume I, 20191213. The mnemonics are for the reader: an
//! expanded instruction shows as what it expanded to.
//!
//! HINTs (section 16.7: rd = x0 or a zero shift or increment where that makes no sense) expand to instructions
//! that do nothing, and are legal.

use super::operand::field;
use super::pattern::Pattern;
use super::{Instruction, Operation, RoundingMode};

use Immediate::{
    Addi4spn, Addi16sp, B, Ci, J, Ld, LdSp, Lui, Lw, LwSp, Nothing, SdSp, Shift, SwSp,
};

/// Where a register's number comes from: bits from `shift` up through `mask`, and the bits of `base` set. Data, not
/// cases, because a mispredicted branch of the host would cost more than the rest of decoding.
#[derive(Clone, Copy)]
struct Register {
    shift: u8,
    mask: u8,
    base: u8,
}

impl Register {
    /// It is x0, or there is none.
    const ZERO: Self = Self {
        shift: 0,
        mask: 0,
        base: 0,
    };
    /// It is x1.
    const RA: Self = Self {
        shift: 0,
        mask: 0,
        base: 1,
    };
    /// It is x2.
    const SP: Self = Self {
        shift: 0,
        mask: 0,
        base: 2,
    };
    /// Bits 11:7.
    const HIGH: Self = Self {
        shift: 7,
        mask: 31,
        base: 0,
    };
    /// Bits 6:2.
    const LOW: Self = Self {
        shift: 2,
        mask: 31,
        base: 0,
    };
    /// Bits 9:7, x8 to x15 (table 16.2).
    const HIGH3: Self = Self {
        shift: 7,
        mask: 7,
        base: 8,
    };
    /// Bits 4:2, x8 to x15.
    const LOW3: Self = Self {
        shift: 2,
        mask: 7,
        base: 8,
    };

    #[inline]
    const fn of(self, bits: u32) -> u8 {
        (bits >> self.shift) as u8 & self.mask | self.base
    }
}

/// How an immediate is spread over the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Immediate {
    /// It is 0, or there is none.
    Nothing,
    /// `imm[5] | imm[4:0]` in bits 12 and 6:2, signed.
    Ci,
    /// The same, not signed: a shift amount.
    Shift,
    /// `nzimm[17] | nzimm[16:12]` in bits 12 and 6:2, signed.
    Lui,
    /// `nzimm[9] | nzimm[4|6|8:7|5]` in bits 12 and 6:2, signed.
    Addi16sp,
    /// `nzuimm[5:4|9:6|2|3]` in bits 12:5.
    Addi4spn,
    /// `uimm[5] | uimm[4:2|7:6]` in bits 12 and 6:2.
    LwSp,
    /// `uimm[5] | uimm[4:3|8:6]` in bits 12 and 6:2.
    LdSp,
    /// `uimm[5:2|7:6]` in bits 12:7.
    SwSp,
    /// `uimm[5:3|8:6]` in bits 12:7.
    SdSp,
    /// `uimm[5:3] | uimm[2|6]` in bits 12:10 and 6:5.
    Lw,
    /// `uimm[5:3] | uimm[7:6]` in bits 12:10 and 6:5.
    Ld,
    /// `imm[8|4:3] | imm[7:6|2:1|5]` in bits 12:10 and 6:2, signed.
    B,
    /// `imm[11|4|9:8|10|6|7|3:1|5]` in bits 12:2, signed.
    J,
}

impl Immediate {
    /// The immediate of an instruction.
    #[inline]
    fn of(self, bits: u32) -> i32 {
        let part = |high, low, to| field(bits, high, low, to);
        // Bit 12 is the sign of every signed immediate: minus one or zero, to be shifted to its place.
        let sign = -field(bits, 12, 12, 0);
        match self {
            Nothing => 0,
            Ci => sign << 5 | part(6, 2, 0),
            Shift => part(12, 12, 5) | part(6, 2, 0),
            Lui => sign << 17 | part(6, 2, 12),
            Addi16sp => sign << 9 | part(6, 6, 4) | part(5, 5, 6) | part(4, 3, 7) | part(2, 2, 5),
            Addi4spn => part(12, 11, 4) | part(10, 7, 6) | part(6, 6, 2) | part(5, 5, 3),
            LwSp => part(12, 12, 5) | part(6, 4, 2) | part(3, 2, 6),
            LdSp => part(12, 12, 5) | part(6, 5, 3) | part(4, 2, 6),
            SwSp => part(12, 9, 2) | part(8, 7, 6),
            SdSp => part(12, 10, 3) | part(9, 7, 6),
            Lw => part(12, 10, 3) | part(6, 6, 2) | part(5, 5, 6),
            Ld => part(12, 10, 3) | part(6, 5, 6),
            B => sign << 8 | part(11, 10, 3) | part(6, 5, 6) | part(4, 3, 1) | part(2, 2, 5),
            J => {
                sign << 11
                    | part(11, 11, 4)
                    | part(10, 9, 8)
                    | part(8, 8, 10)
                    | part(7, 7, 6)
                    | part(6, 6, 7)
                    | part(5, 3, 1)
                    | part(2, 2, 5)
            }
        }
    }
}

/// When an encoding of the pattern is reserved nonetheless: when what the bit stands for is zero.
#[derive(Clone, Copy)]
#[repr(u8)]
enum Reserved {
    Never = 0,
    ImmediateZero = 1,
    RdZero = 2,
    Rs1Zero = 4,
}

/// One compressed instruction.
struct Row {
    pattern: Pattern,
    operation: Operation,
    rd: Register,
    rs1: Register,
    rs2: Register,
    immediate: Immediate,
    reserved: Reserved,
}

macro_rules! compressed {
    ($($mnemonic:literal $pattern:literal => $operation:ident($rd:ident, $rs1:ident, $rs2:ident, $immediate:ident)
        reserved $reserved:ident;)+) => {
        const TABLE: [Row; [$($mnemonic,)+].len()] = [$(Row {
            pattern: Pattern::parse($pattern, 16),
            operation: Operation::$operation,
            rd: Register::$rd,
            rs1: Register::$rs1,
            rs2: Register::$rs2,
            immediate: Immediate::$immediate,
            reserved: Reserved::$reserved,
        },)+];
        static ROWS: [Row; TABLE.len()] = TABLE;
    };
}

// In the order of bits 1:0 and 15:13, by which rows are found. Where patterns overlap the first row counts, also
// when it says that the encoding is reserved.
compressed! {
    // Quadrant 0. All zero bits are the illegal instruction, which is reserved as c.addi4spn of 0.
    "c.addi4spn" "000 ........ ... 00"      => Addi(LOW3, SP, ZERO, Addi4spn)      reserved ImmediateZero;
    "c.fld"      "001 ... ... .. ... 00"    => Fld(LOW3, HIGH3, ZERO, Ld)          reserved Never;
    "c.lw"       "010 ... ... .. ... 00"    => Lw(LOW3, HIGH3, ZERO, Lw)           reserved Never;
    "c.ld"       "011 ... ... .. ... 00"    => Ld(LOW3, HIGH3, ZERO, Ld)           reserved Never;
    "c.fsd"      "101 ... ... .. ... 00"    => Fsd(ZERO, HIGH3, LOW3, Ld)          reserved Never;
    "c.sw"       "110 ... ... .. ... 00"    => Sw(ZERO, HIGH3, LOW3, Lw)           reserved Never;
    "c.sd"       "111 ... ... .. ... 00"    => Sd(ZERO, HIGH3, LOW3, Ld)           reserved Never;
    // Quadrant 1. c.addi with rd = x0 is c.nop.
    "c.addi"     "000 . ..... ..... 01"     => Addi(HIGH, HIGH, ZERO, Ci)          reserved Never;
    "c.addiw"    "001 . ..... ..... 01"     => Addiw(HIGH, HIGH, ZERO, Ci)         reserved RdZero;
    "c.li"       "010 . ..... ..... 01"     => Addi(HIGH, ZERO, ZERO, Ci)          reserved Never;
    "c.addi16sp" "011 . 00010 ..... 01"     => Addi(SP, SP, ZERO, Addi16sp)        reserved ImmediateZero;
    "c.lui"      "011 . ..... ..... 01"     => Lui(HIGH, ZERO, ZERO, Lui)          reserved ImmediateZero;
    "c.srli"     "100 . 00 ... ..... 01"    => Srli(HIGH3, HIGH3, ZERO, Shift)     reserved Never;
    "c.srai"     "100 . 01 ... ..... 01"    => Srai(HIGH3, HIGH3, ZERO, Shift)     reserved Never;
    "c.andi"     "100 . 10 ... ..... 01"    => Andi(HIGH3, HIGH3, ZERO, Ci)        reserved Never;
    "c.sub"      "100 0 11 ... 00 ... 01"   => Sub(HIGH3, HIGH3, LOW3, Nothing)    reserved Never;
    "c.xor"      "100 0 11 ... 01 ... 01"   => Xor(HIGH3, HIGH3, LOW3, Nothing)    reserved Never;
    "c.or"       "100 0 11 ... 10 ... 01"   => Or(HIGH3, HIGH3, LOW3, Nothing)     reserved Never;
    "c.and"      "100 0 11 ... 11 ... 01"   => And(HIGH3, HIGH3, LOW3, Nothing)    reserved Never;
    "c.subw"     "100 1 11 ... 00 ... 01"   => Subw(HIGH3, HIGH3, LOW3, Nothing)   reserved Never;
    "c.addw"     "100 1 11 ... 01 ... 01"   => Addw(HIGH3, HIGH3, LOW3, Nothing)   reserved Never;
    "c.j"        "101 ........... 01"       => Jal(ZERO, ZERO, ZERO, J)            reserved Never;
    "c.beqz"     "110 ... ... ..... 01"     => Beq(ZERO, HIGH3, ZERO, B)           reserved Never;
    "c.bnez"     "111 ... ... ..... 01"     => Bne(ZERO, HIGH3, ZERO, B)           reserved Never;
    // Quadrant 2.
    "c.slli"     "000 . ..... ..... 10"     => Slli(HIGH, HIGH, ZERO, Shift)       reserved Never;
    "c.fldsp"    "001 . ..... ..... 10"     => Fld(HIGH, SP, ZERO, LdSp)           reserved Never;
    "c.lwsp"     "010 . ..... ..... 10"     => Lw(HIGH, SP, ZERO, LwSp)            reserved RdZero;
    "c.ldsp"     "011 . ..... ..... 10"     => Ld(HIGH, SP, ZERO, LdSp)            reserved RdZero;
    "c.jr"       "100 0 ..... 00000 10"     => Jalr(ZERO, HIGH, ZERO, Nothing)     reserved Rs1Zero;
    "c.mv"       "100 0 ..... ..... 10"     => Add(HIGH, ZERO, LOW, Nothing)       reserved Never;
    "c.ebreak"   "100 1 00000 00000 10"     => Ebreak(ZERO, ZERO, ZERO, Nothing)   reserved Never;
    "c.jalr"     "100 1 ..... 00000 10"     => Jalr(RA, HIGH, ZERO, Nothing)       reserved Never;
    "c.add"      "100 1 ..... ..... 10"     => Add(HIGH, HIGH, LOW, Nothing)       reserved Never;
    "c.fsdsp"    "101 ...... ..... 10"      => Fsd(ZERO, SP, LOW, SdSp)            reserved Never;
    "c.swsp"     "110 ...... ..... 10"      => Sw(ZERO, SP, LOW, SwSp)             reserved Never;
    "c.sdsp"     "111 ...... ..... 10"      => Sd(ZERO, SP, LOW, SdSp)             reserved Never;
}

/// Quadrants 0 to 2 with 8 functions each.
const SLOTS: usize = 3 * 8;

/// First row of each slot, and the table's end: bits 1:0 and 15:13 are fixed in every pattern.
static STARTS: [u8; SLOTS + 1] = starts();

const fn slot(bits: u32) -> usize {
    ((bits & 3) << 3 | bits >> 13 & 7) as usize
}

const fn starts() -> [u8; SLOTS + 1] {
    let mut starts = [0; SLOTS + 1];
    let (mut wanted, mut row) = (0, 0);
    while wanted <= SLOTS {
        while row < TABLE.len() && slot(TABLE[row].pattern.bits) < wanted {
            assert!(
                TABLE[row].pattern.mask & 0xe003 == 0xe003,
                "a compressed pattern fixes bits 15:13 and 1:0"
            );
            row += 1;
            assert!(
                row == TABLE.len()
                    || slot(TABLE[row].pattern.bits) >= slot(TABLE[row - 1].pattern.bits),
                "compressed instructions are listed in the order of bits 1:0 and 15:13"
            );
        }
        starts[wanted] = row as u8;
        wanted += 1;
    }
    starts
}

/// Decodes a 16-bit instruction, whose bits 1:0 are not 11. `None`: the encoding is reserved.
#[inline]
pub(super) fn decode(bits: u16) -> Option<Instruction> {
    let bits = u32::from(bits);
    let slot = slot(bits);
    let rows = &ROWS[usize::from(STARTS[slot])..usize::from(STARTS[slot + 1])];
    let row = rows.iter().find(|row| row.pattern.matches(bits))?;
    let instruction = Instruction {
        operation: row.operation,
        rd: row.rd.of(bits),
        rs1: row.rs1.of(bits),
        rs2: row.rs2.of(bits),
        rs3: 0,
        rounding: RoundingMode::NearestEven,
        length: 2,
        immediate: row.immediate.of(bits),
    };
    let zero = |is: bool, what: Reserved| u8::from(is) * what as u8;
    let zeros = zero(instruction.immediate == 0, Reserved::ImmediateZero)
        | zero(instruction.rd == 0, Reserved::RdZero)
        | zero(instruction.rs1 == 0, Reserved::Rs1Zero);
    (row.reserved as u8 & zeros == 0).then_some(instruction)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An immediate, whether it is signed, and from bit 15 down which bit of the value an instruction's bit is, as
    /// tables 16.5 to 16.7 label the columns. The first one listed is the sign where the value is signed.
    type Labels = (Immediate, bool, &'static [(u32, u32)]);

    const LABELS: [Labels; 13] = [
        (Ci, true, &[(12, 5), (6, 4), (5, 3), (4, 2), (3, 1), (2, 0)]),
        (
            Shift,
            false,
            &[(12, 5), (6, 4), (5, 3), (4, 2), (3, 1), (2, 0)],
        ),
        (
            Lui,
            true,
            &[(12, 17), (6, 16), (5, 15), (4, 14), (3, 13), (2, 12)],
        ),
        (
            Addi16sp,
            true,
            &[(12, 9), (6, 4), (5, 6), (4, 8), (3, 7), (2, 5)],
        ),
        (
            Addi4spn,
            false,
            &[
                (12, 5),
                (11, 4),
                (10, 9),
                (9, 8),
                (8, 7),
                (7, 6),
                (6, 2),
                (5, 3),
            ],
        ),
        (
            LwSp,
            false,
            &[(12, 5), (6, 4), (5, 3), (4, 2), (3, 7), (2, 6)],
        ),
        (
            LdSp,
            false,
            &[(12, 5), (6, 4), (5, 3), (4, 8), (3, 7), (2, 6)],
        ),
        (
            SwSp,
            false,
            &[(12, 5), (11, 4), (10, 3), (9, 2), (8, 7), (7, 6)],
        ),
        (
            SdSp,
            false,
            &[(12, 5), (11, 4), (10, 3), (9, 8), (8, 7), (7, 6)],
        ),
        (Lw, false, &[(12, 5), (11, 4), (10, 3), (6, 2), (5, 6)]),
        (Ld, false, &[(12, 5), (11, 4), (10, 3), (6, 7), (5, 6)]),
        (
            B,
            true,
            &[
                (12, 8),
                (11, 4),
                (10, 3),
                (6, 7),
                (5, 6),
                (4, 2),
                (3, 1),
                (2, 5),
            ],
        ),
        (
            J,
            true,
            &[
                (12, 11),
                (11, 4),
                (10, 9),
                (9, 8),
                (8, 10),
                (7, 6),
                (6, 7),
                (5, 3),
                (4, 2),
                (3, 1),
                (2, 5),
            ],
        ),
    ];

    #[test]
    fn every_immediate_of_every_encoding_matches_the_tables() {
        for (immediate, signed, labels) in LABELS {
            for bits in 0..=u32::from(u16::MAX) {
                let magnitude: i32 = labels
                    .iter()
                    .map(|&(from, to)| ((bits >> from & 1) as i32) << to)
                    .sum();
                let sign = labels[0];
                // A sign bit counts as minus its weight, not plus.
                let negative = signed && bits >> sign.0 & 1 == 1;
                let value = magnitude - if negative { 2 << sign.1 } else { 0 };
                assert_eq!(immediate.of(bits), value, "{immediate:?} of {bits:#06x}");
            }
        }
    }

    #[test]
    fn popular_registers_are_x8_to_x15() {
        assert_eq!(Register::HIGH3.of(0b111 << 7), 15);
        assert_eq!(Register::LOW3.of(0), 8);
    }

    #[test]
    fn every_row_is_reachable() {
        for (number, row) in ROWS.iter().enumerate() {
            let hit = (0..=u32::from(u16::MAX)).any(|bits| {
                row.pattern.matches(bits)
                    && !ROWS[..number]
                        .iter()
                        .any(|earlier| earlier.pattern.matches(bits))
            });
            assert!(hit, "row {number} is hidden by earlier ones");
        }
    }
}
