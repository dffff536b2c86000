//! Decoding: from the bits of an instruction to its operation and operands.
//!
//! Covered are RV64I, M, A, F, D, C, Zicsr, Zifencei, Zba, Zbb, Zbs, Zicbom, Zicbop, Zicboz, the privileged
//! instructions, and those of the hypervisor extension. [`decode`] gives `None` for everything else: reserved and
//! custom encodings, reserved rounding modes, instructions longer than 32 bits and extensions that no board has. All of
//! these raise an illegal-instruction exception when executed. HINTs other than prefetches decode as the instructions
//! that they look like, which change nothing.
//!
//! Decoding depends on nothing but the bits. What the hart's state forbids (a CSR that does not exist or may not be
//! accessed, floating point that is off, an [extension](crate::privileged::Extensions) that the profile's harts do not
//! have, a dynamic rounding mode that is reserved, an instruction of another privilege mode) is for execution to find
//! out.
//!
//! The instructions stand in two tables: `decode/table.rs` for those of 32 bits, from which also their texts
//! come, and `decode/compressed.rs` for those of 16 bits, each as the operation that it expands to.

mod compressed;
mod index;
mod operand;
mod pattern;
mod table;
mod text;

pub use table::Operation;
pub use text::At;

/// A decoded instruction: 12 bytes, made to be kept in blocks of decoded code.
///
/// Register numbers are 0 to 31, and 0 where the instruction has no such operand. Whether they name integer or
/// floating-point registers is part of the operation's meaning.
///
/// A compressed instruction differs from the one that it expands to in its `length` alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Instruction {
    /// Its operation.
    pub operation: Operation,
    /// Destination register.
    pub rd: u8,
    /// First source register; for `csrrwi`, `csrrsi` and `csrrci` the unsigned immediate of 5 bits.
    pub rs1: u8,
    /// Second source register.
    pub rs2: u8,
    /// Third source register (fused multiply-add alone).
    pub rs3: u8,
    /// Rounding mode; [`RoundingMode::NearestEven`] where the instruction has none.
    pub rounding: RoundingMode,
    /// Length in bytes: 2 or 4.
    pub length: u8,
    /// The immediate, by the kind of instruction (0 where there is none):
    ///
    /// * computation, loads, stores, `jalr`, prefetches: the value, sign-extended;
    /// * branches and `jal`: distance in bytes from this instruction to the target;
    /// * `lui` and `auipc`: the value with its low 12 bits zero, sign-extended;
    /// * shifts, rotations and single bits by an immediate: the amount, 0 to 63;
    /// * CSR instructions: the CSR's number, 0 to 4095;
    /// * atomics: bit 1 is `aq`, bit 0 is `rl`;
    /// * `fence`: bits 11:8 the mode `fm`, 7:4 the predecessors, 3:0 the successors.
    pub immediate: i32,
}

const _: () = assert!(size_of::<Instruction>() == 12);

/// How floating-point results are rounded: the `rm` field (Volume I, 20191213, table 11.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum RoundingMode {
    /// `rne`: to nearest, ties to even.
    NearestEven = 0,
    /// `rtz`: towards zero.
    Zero = 1,
    /// `rdn`: down, towards minus infinity.
    Down = 2,
    /// `rup`: up, towards plus infinity.
    Up = 3,
    /// `rmm`: to nearest, ties to the larger magnitude.
    NearestMaxMagnitude = 4,
    /// `dyn`: as the CSR `frm` says when the instruction executes.
    Dynamic = 7,
}

impl RoundingMode {
    /// The mode of the low three bits of `field`. `None`: 5 and 6, which are reserved.
    #[must_use]
    pub const fn from_field(field: u32) -> Option<Self> {
        Some(match field & 7 {
            0 => Self::NearestEven,
            1 => Self::Zero,
            2 => Self::Down,
            3 => Self::Up,
            4 => Self::NearestMaxMagnitude,
            7 => Self::Dynamic,
            _ => return None,
        })
    }
}

impl Operation {
    /// The name in assembly language, without the suffixes that atomics have for their ordering.
    #[must_use]
    pub const fn mnemonic(self) -> &'static str {
        table::ROWS[self as usize].mnemonic
    }

    /// The encoding's fixed bits as `(mask, bits)`: a word can be this operation when `word & mask == bits`. It is,
    /// unless its rounding mode is reserved or a more specific encoding covers it (`fence.tso` within `fence`).
    #[must_use]
    pub const fn encoding(self) -> (u32, u32) {
        let pattern = table::ROWS[self as usize].pattern;
        (pattern.mask, pattern.bits)
    }
}

/// Length in bytes of the instruction whose low 16 bits are given: 4 when bits 1:0 are 11, else 2 (Volume I,
/// 20191213, section 1.5). Instructions longer than 32 bits count as 4; [`decode`] has none of them.
#[must_use]
pub const fn length(low: u16) -> u8 {
    if low & 3 == 3 { 4 } else { 2 }
}

/// Decodes an instruction. Of `bits` the low 16 count where they are a compressed instruction, else all.
///
/// `None`: executing these bits raises an illegal-instruction exception, whatever the hart's state.
///
/// ```
/// use tactus_board::decode::{Operation, decode};
///
/// let instruction = decode(0x0010_0093).expect("addi x1,x0,1");
/// assert_eq!(instruction.operation, Operation::Addi);
/// assert_eq!((instruction.rd, instruction.rs1, instruction.immediate), (1, 0, 1));
/// // The compressed form is the same operation, of 2 bytes.
/// let compressed = decode(0x4085).expect("c.li x1,1");
/// assert_eq!(compressed.to_string(), "addi x1,x0,1");
/// assert_eq!(compressed.length, 2);
/// // All zero bits are illegal, so that running into cleared memory traps.
/// assert!(decode(0).is_none());
/// ```
#[must_use]
pub fn decode(bits: u32) -> Option<Instruction> {
    if length(bits as u16) == 2 {
        return compressed::decode(bits as u16);
    }
    let operation = index::operation(bits)?;
    let fields = &table::ROWS[operation as usize].fields;
    let rounding = if fields.rounding {
        // Reserved in every instruction that has the field, also where nothing needs rounding (Volume I, 20191213,
        // section 11.2).
        RoundingMode::from_field(bits >> 12)?
    } else {
        RoundingMode::NearestEven
    };
    Some(Instruction {
        operation,
        rd: (bits >> 7) as u8 & fields.rd,
        rs1: (bits >> 15) as u8 & fields.rs1,
        rs2: (bits >> 20) as u8 & fields.rs2,
        rs3: (bits >> 27) as u8 & fields.rs3,
        rounding,
        length: 4,
        immediate: fields.immediate.of(bits),
    })
}
