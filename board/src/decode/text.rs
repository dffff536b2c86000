//! Instructions as text, in the way of GNU `objdump -d -M no-aliases,numeric`.

use std::fmt::{self, Display, Formatter};

use super::operand::Operand;
use super::table::ROWS;
use super::{Instruction, RoundingMode};

/// An instruction at its address; displays branch and jump targets as addresses.
#[derive(Clone, Copy, Debug)]
pub struct At {
    instruction: Instruction,
    address: u64,
}

impl Instruction {
    /// This instruction for display where it stands: at `address`, to which its targets are relative.
    ///
    /// ```
    /// let jump = tactus_board::decode::decode(0xff9f_f06f).expect("a jump back by 8");
    /// assert_eq!(jump.at(0x8020_0010).to_string(), "jal x0,0x80200008");
    /// assert_eq!(jump.to_string(), "jal x0,.-8");
    /// ```
    #[must_use]
    pub const fn at(self, address: u64) -> At {
        At {
            instruction: self,
            address,
        }
    }
}

/// Displays with relative targets: `.+16` is 16 bytes further than this instruction.
impl Display for Instruction {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write(f, self, None)
    }
}

impl Display for At {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write(f, &self.instruction, Some(self.address))
    }
}

fn write(f: &mut Formatter<'_>, instruction: &Instruction, address: Option<u64>) -> fmt::Result {
    let row = &ROWS[instruction.operation as usize];
    f.write_str(row.mnemonic)?;
    let mut separator = " ";
    for operand in row.operands {
        match operand {
            Operand::Ordering => {
                f.write_str(["", ".rl", ".aq", ".aqrl"][instruction.immediate as usize & 3])?;
                continue;
            }
            Operand::Rounding if instruction.rounding == RoundingMode::Dynamic => continue,
            _ => {}
        }
        f.write_str(separator)?;
        separator = ",";
        write_operand(f, *operand, instruction, address)?;
    }
    Ok(())
}

fn write_operand(
    f: &mut Formatter<'_>,
    operand: Operand,
    instruction: &Instruction,
    address: Option<u64>,
) -> fmt::Result {
    let &Instruction {
        rd,
        rs1,
        rs2,
        rs3,
        immediate,
        ..
    } = instruction;
    match operand {
        Operand::Rd => write!(f, "x{rd}"),
        Operand::Rs1 => write!(f, "x{rs1}"),
        Operand::Rs2 => write!(f, "x{rs2}"),
        Operand::Fd => write!(f, "f{rd}"),
        Operand::Fs1 => write!(f, "f{rs1}"),
        Operand::Fs2 => write!(f, "f{rs2}"),
        Operand::Fs3 => write!(f, "f{rs3}"),
        Operand::Address => write!(f, "(x{rs1})"),
        Operand::Load | Operand::Store | Operand::Prefetch => write!(f, "{immediate}(x{rs1})"),
        Operand::Immediate => write!(f, "{immediate}"),
        Operand::Upper => write!(f, "{:#x}", immediate as u32 >> 12),
        Operand::Branch | Operand::Jump => match address {
            Some(address) => write!(f, "{:#x}", address.wrapping_add_signed(immediate.into())),
            None => write!(f, ".{immediate:+}"),
        },
        Operand::Shift5 | Operand::Shift6 | Operand::Csr => write!(f, "{immediate:#x}"),
        Operand::CsrImmediate => write!(f, "{rs1}"),
        Operand::Ordering => Ok(()),
        Operand::Fence => {
            write_set(f, immediate >> 4)?;
            f.write_str(",")?;
            write_set(f, immediate)
        }
        Operand::Rounding => f.write_str(match instruction.rounding {
            RoundingMode::NearestEven => "rne",
            RoundingMode::Zero => "rtz",
            RoundingMode::Down => "rdn",
            RoundingMode::Up => "rup",
            RoundingMode::NearestMaxMagnitude => "rmm",
            RoundingMode::Dynamic => "dyn",
        }),
    }
}

/// One of a fence's sets: the low four bits of `set` say input, output, reads, writes.
fn write_set(f: &mut Formatter<'_>, set: i32) -> fmt::Result {
    if set & 15 == 0 {
        return f.write_str("0");
    }
    for (bit, name) in [(8, "i"), (4, "o"), (2, "r"), (1, "w")] {
        if set & bit != 0 {
            f.write_str(name)?;
        }
    }
    Ok(())
}
