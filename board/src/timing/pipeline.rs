//! The pipeline: how many cycles each instruction of a block takes to issue, memory and branches aside.
//!
//! In order, one or two a cycle. An instruction issues when its sources are there, when the unit that it needs is
//! free, and when it cannot overtake an earlier write of its destination. Two issue in the same cycle when the second
//! does not need the first and they need different units: there are two for integer operations, and one each for
//! memory, branches, multiplication and division, and floating point.
//!
//! A block begins with all results there: what is still under way from the block before is not seen.

use super::parameters::Pipeline;
use super::uses::Registers;
use crate::decode::{Instruction, Operation};

/// a0 to a7, which a call to a higher level hands over.
const ARGUMENTS: u64 = 0xff << 10;

/// The execution unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Integer,
    Memory,
    Branch,
    /// Multiplier and divider.
    Multiplier,
    Float,
    /// The whole pipeline: issues alone, after all before are done.
    All,
}

/// The registers that a number names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum File {
    None,
    Integer,
    Float,
}

impl File {
    /// Index over both files; 0 is `x0`, for which no instruction waits.
    const fn index(self, register: u8) -> usize {
        match self {
            Self::None => 0,
            Self::Integer => (register & 31) as usize,
            Self::Float => 32 + (register & 31) as usize,
        }
    }
}

/// The resources of an operation.
#[derive(Clone, Copy, Debug)]
struct Needs {
    unit: Unit,
    /// To the result; where the unit is [`All`](Unit::All), to the next instruction.
    latency: u32,
    /// Whether the unit takes nothing else meanwhile.
    blocks: bool,
    /// Destination.
    rd: File,
    /// Sources.
    rs1: File,
    rs2: File,
    rs3: File,
}

impl Needs {
    const fn of(operation: Operation, costs: &Pipeline) -> Self {
        use File::{Float, Integer, None};
        use Operation::*;
        let (unit, latency, [rd, rs1, rs2]) = match operation {
            Lui | Auipc => (Unit::Integer, costs.alu, [Integer, None, None]),
            Addi | Slti | Sltiu | Xori | Ori | PrefetchI | PrefetchR | PrefetchW | Andi | Slli
            | Srli | Srai | Addiw | Slliw | Srliw | Sraiw | SlliUw | Clz | Clzw | Ctz | Ctzw
            | Cpop | Cpopw | SextB | SextH | ZextH | Rori | Roriw | OrcB | Rev8 | Bclri | Bexti
            | Binvi | Bseti => (Unit::Integer, costs.alu, [Integer, Integer, None]),
            Add | Sub | Sll | Slt | Sltu | Xor | Srl | Sra | Or | And | Addw | Subw | Sllw
            | Srlw | Sraw | AddUw | Sh1add | Sh2add | Sh3add | Sh1addUw | Sh2addUw | Sh3addUw
            | Andn | Orn | Xnor | Max | Maxu | Min | Minu | Rol | Rolw | Ror | Rorw | Bclr
            | Bext | Binv | Bset => (Unit::Integer, costs.alu, [Integer, Integer, Integer]),
            Jal => (Unit::Branch, 1, [Integer, None, None]),
            Jalr => (Unit::Branch, 1, [Integer, Integer, None]),
            Beq | Bne | Blt | Bge | Bltu | Bgeu => (Unit::Branch, 1, [None, Integer, Integer]),
            Lb | Lh | Lw | Ld | Lbu | Lhu | Lwu | HlvB | HlvBu | HlvH | HlvHu | HlvxHu | HlvW
            | HlvWu | HlvxWu | HlvD => (Unit::Memory, costs.load, [Integer, Integer, None]),
            Flw | Fld => (Unit::Memory, costs.load, [Float, Integer, None]),
            Sb | Sh | Sw | Sd | HsvB | HsvH | HsvW | HsvD => {
                (Unit::Memory, 1, [None, Integer, Integer])
            }
            CboInval | CboClean | CboFlush | CboZero => (Unit::Memory, 1, [None, Integer, None]),
            Fsw | Fsd => (Unit::Memory, 1, [None, Integer, Float]),
            Mul | Mulh | Mulhsu | Mulhu | Mulw => (
                Unit::Multiplier,
                costs.multiply,
                [Integer, Integer, Integer],
            ),
            Div | Divu | Rem | Remu => {
                (Unit::Multiplier, costs.divide, [Integer, Integer, Integer])
            }
            Divw | Divuw | Remw | Remuw => (
                Unit::Multiplier,
                costs.divide_word,
                [Integer, Integer, Integer],
            ),
            FaddS | FsubS | FaddD | FsubD => (Unit::Float, costs.float_add, [Float, Float, Float]),
            FmulS | FmulD => (Unit::Float, costs.float_multiply, [Float, Float, Float]),
            FmaddS | FmsubS | FnmsubS | FnmaddS | FmaddD | FmsubD | FnmsubD | FnmaddD => {
                (Unit::Float, costs.float_fused, [Float, Float, Float])
            }
            FdivS => (
                Unit::Float,
                costs.float_divide_single,
                [Float, Float, Float],
            ),
            FdivD => (
                Unit::Float,
                costs.float_divide_double,
                [Float, Float, Float],
            ),
            FsqrtS => (Unit::Float, costs.float_root_single, [Float, Float, None]),
            FsqrtD => (Unit::Float, costs.float_root_double, [Float, Float, None]),
            FsgnjS | FsgnjnS | FsgnjxS | FminS | FmaxS | FsgnjD | FsgnjnD | FsgnjxD | FminD
            | FmaxD => (Unit::Float, costs.float_move, [Float, Float, Float]),
            FcvtSD | FcvtDS => (Unit::Float, costs.float_move, [Float, Float, None]),
            FeqS | FltS | FleS | FeqD | FltD | FleD => {
                (Unit::Float, costs.float_move, [Integer, Float, Float])
            }
            FcvtWS | FcvtWuS | FcvtLS | FcvtLuS | FmvXW | FclassS | FcvtWD | FcvtWuD | FcvtLD
            | FcvtLuD | FmvXD | FclassD => (Unit::Float, costs.float_move, [Integer, Float, None]),
            FcvtSW | FcvtSWu | FcvtSL | FcvtSLu | FmvWX | FcvtDW | FcvtDWu | FcvtDL | FcvtDLu
            | FmvDX => (Unit::Float, costs.float_move, [Float, Integer, None]),
            Fence | FenceTso => (Unit::All, costs.fence, [None, None, None]),
            FenceI => (Unit::All, costs.fence_i, [None, None, None]),
            SfenceVma | HfenceVvma | HfenceGvma => {
                (Unit::All, costs.translation_fence, [None, Integer, Integer])
            }
            Csrrw | Csrrs | Csrrc => (Unit::All, costs.csr, [Integer, Integer, None]),
            Csrrwi | Csrrsi | Csrrci => (Unit::All, costs.csr, [Integer, None, None]),
            LrW | LrD => (Unit::All, costs.atomic, [Integer, Integer, None]),
            ScW | AmoswapW | AmoaddW | AmoxorW | AmoandW | AmoorW | AmominW | AmomaxW
            | AmominuW | AmomaxuW | ScD | AmoswapD | AmoaddD | AmoxorD | AmoandD | AmoorD
            | AmominD | AmomaxD | AmominuD | AmomaxuD => {
                (Unit::All, costs.atomic, [Integer, Integer, Integer])
            }
            Sret | Mret => (Unit::All, costs.trap_return, [None, None, None]),
            // What a trap costs is charged when it is taken, and how long a hart waits is for the engine to say.
            Ecall | Ebreak | Wfi => (Unit::All, 1, [None, None, None]),
        };
        let rs3 = match operation {
            FmaddS | FmsubS | FnmsubS | FnmaddS | FmaddD | FmsubD | FnmsubD | FnmaddD => Float,
            _ => None,
        };
        let blocks = matches!(
            operation,
            Div | Divu | Rem | Remu | Divw | Divuw | Remw | Remuw | FdivS | FdivD | FsqrtS | FsqrtD
        );
        Self {
            unit,
            latency,
            blocks,
            rd,
            rs1,
            rs2,
            rs3,
        }
    }
}

impl Needs {
    /// The registers that an instruction of these needs reads, a bit each: x0 to x31, f0 to f31.
    fn read(&self, instruction: &Instruction) -> u64 {
        let read = 1 << self.rs1.index(instruction.rs1)
            | 1 << self.rs2.index(instruction.rs2)
            | 1 << self.rs3.index(instruction.rs3);
        let handed_over = match instruction.operation {
            Operation::Ecall => ARGUMENTS,
            _ => 0,
        };
        // x0 stands for none.
        read & !1 | handed_over
    }

    /// Those that it writes.
    const fn written(&self, instruction: &Instruction) -> u64 {
        (1 << self.rd.index(instruction.rd)) & !1
    }
}

/// A walk over the instructions of a block, which gives each its cycles.
///
/// ```
/// use tactus_board::decode::decode;
/// use tactus_board::profile::Profile;
/// use tactus_board::timing::Schedule;
///
/// let profile = Profile::named("mpsoc").expect("it comes with the crate");
/// let mut schedule = Schedule::new(&profile.timing.pipeline);
/// let addi = decode(0x0010_0093).expect("addi x1,x0,1");
/// assert_eq!((schedule.next(&addi), schedule.next(&addi)), (1, 1));
/// ```
#[derive(Clone, Debug)]
pub struct Schedule<'a> {
    costs: &'a Pipeline,
    /// The cycle in which the last instruction issued; the first of a block is cycle 1.
    now: u32,
    /// How many issued in it.
    issued: u32,
    /// The units that these took, one bit each.
    taken: u8,
    /// When the last of all results so far is there.
    all_done: u32,
    /// When divider and floating-point divider are free.
    divider_free: [u32; 2],
    /// When each register's value is there.
    ready: [u32; 64],
    /// The registers that are used.
    registers: Registers,
}

impl<'a> Schedule<'a> {
    /// The start of a block.
    #[must_use]
    pub const fn new(costs: &'a Pipeline) -> Self {
        Self {
            costs,
            now: 0,
            issued: costs.issue,
            taken: 0,
            all_done: 0,
            divider_free: [0; 2],
            ready: [0; 64],
            registers: Registers {
                read: 0,
                written: 0,
            },
        }
    }

    /// The registers that the block uses so far.
    pub(crate) const fn registers(&self) -> Registers {
        self.registers
    }

    /// The block's next instruction is an illegal one: it takes a cycle, and what handles it may look at all registers.
    pub(crate) fn illegal(&mut self) -> u32 {
        self.registers.add(u64::MAX, 0);
        1
    }

    /// The cycles that the block's next instruction adds: from the issue of the one before to its own, 0 when both
    /// issue together. One that issues alone has all the cycles until the next can issue.
    ///
    /// The sum over a block is the number of cycles in which it issues, so at least 1. Where a trap ends the block
    /// early, the sum up to there is what it took.
    pub fn next(&mut self, instruction: &Instruction) -> u32 {
        let needs = Needs::of(instruction.operation, self.costs);
        self.registers
            .add(needs.read(instruction), needs.written(instruction));
        let mut at = self.now;
        for (file, register) in [
            (needs.rs1, instruction.rs1),
            (needs.rs2, instruction.rs2),
            (needs.rs3, instruction.rs3),
        ] {
            at = at.max(self.ready[file.index(register)]);
        }
        let rd = needs.rd.index(instruction.rd);
        // Its result comes after an earlier one to the same register.
        at = at.max((self.ready[rd] + 1).saturating_sub(needs.latency));
        let divider = usize::from(needs.unit == Unit::Float);
        if matches!(needs.unit, Unit::Multiplier | Unit::Float) {
            at = at.max(self.divider_free[divider]);
        }
        let alone = needs.unit == Unit::All;
        if alone {
            at = at.max(self.all_done);
        }
        let unit = 1_u8 << needs.unit as u8;
        let shared = unit & !(1 << Unit::Integer as u8) & self.taken;
        if at == self.now && (self.issued >= self.costs.issue || shared != 0 || alone) {
            at += 1;
        }
        let done = at + needs.latency;
        let before = self.now;
        if alone {
            // The next may issue when it is done, and not beside it.
            self.now = done - 1;
            self.issued = self.costs.issue;
        } else {
            if at > self.now {
                self.issued = 0;
                self.taken = 0;
            }
            self.now = at;
            self.issued += 1;
            self.taken |= unit;
        }
        if rd != 0 {
            self.ready[rd] = done;
        }
        self.all_done = self.all_done.max(done);
        if needs.blocks {
            self.divider_free[divider] = done;
        }
        self.now - before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::decode;
    use crate::profile::Profile;

    #[test]
    fn a_call_hands_over_its_arguments_and_an_illegal_instruction_all() {
        let profile = Profile::named("mpsoc").expect("it comes with the crate");
        let mut schedule = Schedule::new(&profile.timing.pipeline);
        let [ecall, addi] = [0x0000_0073, 0x0010_0513].map(|bits| decode(bits).expect("it is one"));
        // addi a0,x0,1
        schedule.next(&addi);
        schedule.next(&ecall);
        let a0 = 1 << 10;
        assert_eq!(schedule.registers().read, ARGUMENTS & !a0);
        assert_eq!(schedule.registers().written, a0);
        schedule.illegal();
        assert_eq!(schedule.registers().read, !a0);
    }
}
