//! Every 32-bit instruction, one a line: the single source of what is decoded and how it is shown.
//!
//! To add an instruction, add its line: operation, mnemonic, operands ([`lists`](super::operand::lists)), and
//! the encoding as the specification's table shows it, from bit 31 down to bit 0. Where two encodings overlap
//! the more specific one stands first.
//!
//! Section numbers: "I" is The RISC-V Instruction Set Manual, Volume I, 20191213; "II" is Volume II, 20211203;
//! "B" is RISC-V Bit-Manipulation ISA-extensions, 1.0.0; "C" is the chapter "CMO" of Volume I, 20240411, by its
//! sections.

use super::operand::{Fields, Operand, lists::*};
use super::pattern::Pattern;

/// One instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// Which words are this instruction.
    pub pattern: Pattern,
    /// Its name in assembly language.
    pub mnemonic: &'static str,
    /// Its operands, in the order of assembly language.
    pub operands: &'static [Operand],
    /// Where those operands are.
    pub fields: Fields,
}

macro_rules! operations {
    ($($operation:ident $mnemonic:literal $operands:ident $pattern:literal;)+) => {
        /// The operation of an instruction. One variant for each instruction of the 32-bit encodings; a compressed
        /// instruction has the operation that it expands to.
        ///
        /// The variants are numbered from 0 without gaps ([`Operation::COUNT`] of them), so that
        /// `operation as usize` indexes a dispatch table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum Operation {
            $(#[doc = concat!("`", $mnemonic, "`")] $operation,)+
        }

        impl Operation {
            /// Every operation, in the order of their numbers.
            pub const ALL: [Self; Self::COUNT] = [$(Self::$operation,)+];
            /// How many operations there are.
            pub const COUNT: usize = [$($mnemonic,)+].len();
        }

        /// The table, indexed by operation.
        pub(super) static ROWS: [Row; Operation::COUNT] = TABLE;

        /// The same for use while compiling.
        pub(super) const TABLE: [Row; Operation::COUNT] = [$(Row {
            pattern: Pattern::parse($pattern, 32),
            mnemonic: $mnemonic,
            operands: $operands,
            fields: Fields::of($operands),
        },)+];
    };
}

operations! {
    // Integer computation, I 2.4 and 5.2. With rd = x0 these are HINTs (I 2.9), which do nothing and are legal.
    Lui       "lui"       U            ".................... ..... 0110111";
    Auipc     "auipc"     U            ".................... ..... 0010111";
    Addi      "addi"      I            "............ ..... 000 ..... 0010011";
    Slti      "slti"      I            "............ ..... 010 ..... 0010011";
    Sltiu     "sltiu"     I            "............ ..... 011 ..... 0010011";
    Xori      "xori"      I            "............ ..... 100 ..... 0010011";
    // Zicbop, C 6.3: within the HINTs of `ori` with rd = x0, so that a hart without it does nothing.
    PrefetchI "prefetch.i" PREFETCH    "....... 00000 ..... 110 00000 0010011";
    PrefetchR "prefetch.r" PREFETCH    "....... 00001 ..... 110 00000 0010011";
    PrefetchW "prefetch.w" PREFETCH    "....... 00011 ..... 110 00000 0010011";
    Ori       "ori"       I            "............ ..... 110 ..... 0010011";
    Andi      "andi"      I            "............ ..... 111 ..... 0010011";
    Slli      "slli"      SHIFT6       "000000 ...... ..... 001 ..... 0010011";
    Srli      "srli"      SHIFT6       "000000 ...... ..... 101 ..... 0010011";
    Srai      "srai"      SHIFT6       "010000 ...... ..... 101 ..... 0010011";
    Add       "add"       R            "0000000 ..... ..... 000 ..... 0110011";
    Sub       "sub"       R            "0100000 ..... ..... 000 ..... 0110011";
    Sll       "sll"       R            "0000000 ..... ..... 001 ..... 0110011";
    Slt       "slt"       R            "0000000 ..... ..... 010 ..... 0110011";
    Sltu      "sltu"      R            "0000000 ..... ..... 011 ..... 0110011";
    Xor       "xor"       R            "0000000 ..... ..... 100 ..... 0110011";
    Srl       "srl"       R            "0000000 ..... ..... 101 ..... 0110011";
    Sra       "sra"       R            "0100000 ..... ..... 101 ..... 0110011";
    Or        "or"        R            "0000000 ..... ..... 110 ..... 0110011";
    And       "and"       R            "0000000 ..... ..... 111 ..... 0110011";
    Addiw     "addiw"     I            "............ ..... 000 ..... 0011011";
    Slliw     "slliw"     SHIFT5       "0000000 ..... ..... 001 ..... 0011011";
    Srliw     "srliw"     SHIFT5       "0000000 ..... ..... 101 ..... 0011011";
    Sraiw     "sraiw"     SHIFT5       "0100000 ..... ..... 101 ..... 0011011";
    Addw      "addw"      R            "0000000 ..... ..... 000 ..... 0111011";
    Subw      "subw"      R            "0100000 ..... ..... 000 ..... 0111011";
    Sllw      "sllw"      R            "0000000 ..... ..... 001 ..... 0111011";
    Srlw      "srlw"      R            "0000000 ..... ..... 101 ..... 0111011";
    Sraw      "sraw"      R            "0100000 ..... ..... 101 ..... 0111011";

    // Control transfer, I 2.5.
    Jal       "jal"       J            ".................... ..... 1101111";
    Jalr      "jalr"      LOAD         "............ ..... 000 ..... 1100111";
    Beq       "beq"       B            "....... ..... ..... 000 ..... 1100011";
    Bne       "bne"       B            "....... ..... ..... 001 ..... 1100011";
    Blt       "blt"       B            "....... ..... ..... 100 ..... 1100011";
    Bge       "bge"       B            "....... ..... ..... 101 ..... 1100011";
    Bltu      "bltu"      B            "....... ..... ..... 110 ..... 1100011";
    Bgeu      "bgeu"      B            "....... ..... ..... 111 ..... 1100011";

    // Loads and stores, I 2.6 and 5.3.
    Lb        "lb"        LOAD         "............ ..... 000 ..... 0000011";
    Lh        "lh"        LOAD         "............ ..... 001 ..... 0000011";
    Lw        "lw"        LOAD         "............ ..... 010 ..... 0000011";
    Ld        "ld"        LOAD         "............ ..... 011 ..... 0000011";
    Lbu       "lbu"       LOAD         "............ ..... 100 ..... 0000011";
    Lhu       "lhu"       LOAD         "............ ..... 101 ..... 0000011";
    Lwu       "lwu"       LOAD         "............ ..... 110 ..... 0000011";
    Sb        "sb"        STORE        "....... ..... ..... 000 ..... 0100011";
    Sh        "sh"        STORE        "....... ..... ..... 001 ..... 0100011";
    Sw        "sw"        STORE        "....... ..... ..... 010 ..... 0100011";
    Sd        "sd"        STORE        "....... ..... ..... 011 ..... 0100011";

    // Fences, I 2.7 and 3. Base implementations ignore rd and rs1 of all three and the immediate of fence.i, and
    // take a reserved mode for 0; so all of these words are legal. The `pause` HINT is a fence too.
    FenceTso  "fence.tso" NONE         "1000 0011 0011 ..... 000 ..... 0001111";
    Fence     "fence"     FENCE        ".... .... .... ..... 000 ..... 0001111";
    FenceI    "fence.i"   NONE         "............ ..... 001 ..... 0001111";

    // Zicbom, C 6.1, and Zicboz, C 6.2.
    CboInval  "cbo.inval" BLOCK        "000000000000 ..... 010 00000 0001111";
    CboClean  "cbo.clean" BLOCK        "000000000001 ..... 010 00000 0001111";
    CboFlush  "cbo.flush" BLOCK        "000000000010 ..... 010 00000 0001111";
    CboZero   "cbo.zero"  BLOCK        "000000000100 ..... 010 00000 0001111";

    // Environment, I 2.8.
    Ecall     "ecall"     NONE         "000000000000 00000 000 00000 1110011";
    Ebreak    "ebreak"    NONE         "000000000001 00000 000 00000 1110011";

    // Zicsr, I 9.1. Which registers there are is for execution to say.
    Csrrw     "csrrw"     CSR          "............ ..... 001 ..... 1110011";
    Csrrs     "csrrs"     CSR          "............ ..... 010 ..... 1110011";
    Csrrc     "csrrc"     CSR          "............ ..... 011 ..... 1110011";
    Csrrwi    "csrrwi"    CSR_IMMEDIATE "............ ..... 101 ..... 1110011";
    Csrrsi    "csrrsi"    CSR_IMMEDIATE "............ ..... 110 ..... 1110011";
    Csrrci    "csrrci"    CSR_IMMEDIATE "............ ..... 111 ..... 1110011";

    // M, I 7.
    Mul       "mul"       R            "0000001 ..... ..... 000 ..... 0110011";
    Mulh      "mulh"      R            "0000001 ..... ..... 001 ..... 0110011";
    Mulhsu    "mulhsu"    R            "0000001 ..... ..... 010 ..... 0110011";
    Mulhu     "mulhu"     R            "0000001 ..... ..... 011 ..... 0110011";
    Div       "div"       R            "0000001 ..... ..... 100 ..... 0110011";
    Divu      "divu"      R            "0000001 ..... ..... 101 ..... 0110011";
    Rem       "rem"       R            "0000001 ..... ..... 110 ..... 0110011";
    Remu      "remu"      R            "0000001 ..... ..... 111 ..... 0110011";
    Mulw      "mulw"      R            "0000001 ..... ..... 000 ..... 0111011";
    Divw      "divw"      R            "0000001 ..... ..... 100 ..... 0111011";
    Divuw     "divuw"     R            "0000001 ..... ..... 101 ..... 0111011";
    Remw      "remw"      R            "0000001 ..... ..... 110 ..... 0111011";
    Remuw     "remuw"     R            "0000001 ..... ..... 111 ..... 0111011";

    // A, I 8.2 and 8.4. The two bits after the function are aq and rl.
    LrW       "lr.w"      LR           "00010 .. 00000 ..... 010 ..... 0101111";
    ScW       "sc.w"      AMO          "00011 .. ..... ..... 010 ..... 0101111";
    AmoswapW  "amoswap.w" AMO          "00001 .. ..... ..... 010 ..... 0101111";
    AmoaddW   "amoadd.w"  AMO          "00000 .. ..... ..... 010 ..... 0101111";
    AmoxorW   "amoxor.w"  AMO          "00100 .. ..... ..... 010 ..... 0101111";
    AmoandW   "amoand.w"  AMO          "01100 .. ..... ..... 010 ..... 0101111";
    AmoorW    "amoor.w"   AMO          "01000 .. ..... ..... 010 ..... 0101111";
    AmominW   "amomin.w"  AMO          "10000 .. ..... ..... 010 ..... 0101111";
    AmomaxW   "amomax.w"  AMO          "10100 .. ..... ..... 010 ..... 0101111";
    AmominuW  "amominu.w" AMO          "11000 .. ..... ..... 010 ..... 0101111";
    AmomaxuW  "amomaxu.w" AMO          "11100 .. ..... ..... 010 ..... 0101111";
    LrD       "lr.d"      LR           "00010 .. 00000 ..... 011 ..... 0101111";
    ScD       "sc.d"      AMO          "00011 .. ..... ..... 011 ..... 0101111";
    AmoswapD  "amoswap.d" AMO          "00001 .. ..... ..... 011 ..... 0101111";
    AmoaddD   "amoadd.d"  AMO          "00000 .. ..... ..... 011 ..... 0101111";
    AmoxorD   "amoxor.d"  AMO          "00100 .. ..... ..... 011 ..... 0101111";
    AmoandD   "amoand.d"  AMO          "01100 .. ..... ..... 011 ..... 0101111";
    AmoorD    "amoor.d"   AMO          "01000 .. ..... ..... 011 ..... 0101111";
    AmominD   "amomin.d"  AMO          "10000 .. ..... ..... 011 ..... 0101111";
    AmomaxD   "amomax.d"  AMO          "10100 .. ..... ..... 011 ..... 0101111";
    AmominuD  "amominu.d" AMO          "11000 .. ..... ..... 011 ..... 0101111";
    AmomaxuD  "amomaxu.d" AMO          "11100 .. ..... ..... 011 ..... 0101111";

    // F, I 11.5 to 11.9.
    Flw       "flw"       FLOAT_LOAD   "............ ..... 010 ..... 0000111";
    Fsw       "fsw"       FLOAT_STORE  "....... ..... ..... 010 ..... 0100111";
    FmaddS    "fmadd.s"   F3_ROUND     "..... 00 ..... ..... ... ..... 1000011";
    FmsubS    "fmsub.s"   F3_ROUND     "..... 00 ..... ..... ... ..... 1000111";
    FnmsubS   "fnmsub.s"  F3_ROUND     "..... 00 ..... ..... ... ..... 1001011";
    FnmaddS   "fnmadd.s"  F3_ROUND     "..... 00 ..... ..... ... ..... 1001111";
    FaddS     "fadd.s"    F2_ROUND     "0000000 ..... ..... ... ..... 1010011";
    FsubS     "fsub.s"    F2_ROUND     "0000100 ..... ..... ... ..... 1010011";
    FmulS     "fmul.s"    F2_ROUND     "0001000 ..... ..... ... ..... 1010011";
    FdivS     "fdiv.s"    F2_ROUND     "0001100 ..... ..... ... ..... 1010011";
    FsqrtS    "fsqrt.s"   F1_ROUND     "0101100 00000 ..... ... ..... 1010011";
    FsgnjS    "fsgnj.s"   F2           "0010000 ..... ..... 000 ..... 1010011";
    FsgnjnS   "fsgnjn.s"  F2           "0010000 ..... ..... 001 ..... 1010011";
    FsgnjxS   "fsgnjx.s"  F2           "0010000 ..... ..... 010 ..... 1010011";
    FminS     "fmin.s"    F2           "0010100 ..... ..... 000 ..... 1010011";
    FmaxS     "fmax.s"    F2           "0010100 ..... ..... 001 ..... 1010011";
    FcvtWS    "fcvt.w.s"  TO_X_ROUND   "1100000 00000 ..... ... ..... 1010011";
    FcvtWuS   "fcvt.wu.s" TO_X_ROUND   "1100000 00001 ..... ... ..... 1010011";
    FcvtLS    "fcvt.l.s"  TO_X_ROUND   "1100000 00010 ..... ... ..... 1010011";
    FcvtLuS   "fcvt.lu.s" TO_X_ROUND   "1100000 00011 ..... ... ..... 1010011";
    FmvXW     "fmv.x.w"   TO_X         "1110000 00000 ..... 000 ..... 1010011";
    FeqS      "feq.s"     COMPARE      "1010000 ..... ..... 010 ..... 1010011";
    FltS      "flt.s"     COMPARE      "1010000 ..... ..... 001 ..... 1010011";
    FleS      "fle.s"     COMPARE      "1010000 ..... ..... 000 ..... 1010011";
    FclassS   "fclass.s"  TO_X         "1110000 00000 ..... 001 ..... 1010011";
    FcvtSW    "fcvt.s.w"  FROM_X_ROUND "1101000 00000 ..... ... ..... 1010011";
    FcvtSWu   "fcvt.s.wu" FROM_X_ROUND "1101000 00001 ..... ... ..... 1010011";
    FcvtSL    "fcvt.s.l"  FROM_X_ROUND "1101000 00010 ..... ... ..... 1010011";
    FcvtSLu   "fcvt.s.lu" FROM_X_ROUND "1101000 00011 ..... ... ..... 1010011";
    FmvWX     "fmv.w.x"   FROM_X       "1111000 00000 ..... 000 ..... 1010011";

    // D, I 12.3 to 12.7.
    Fld       "fld"       FLOAT_LOAD   "............ ..... 011 ..... 0000111";
    Fsd       "fsd"       FLOAT_STORE  "....... ..... ..... 011 ..... 0100111";
    FmaddD    "fmadd.d"   F3_ROUND     "..... 01 ..... ..... ... ..... 1000011";
    FmsubD    "fmsub.d"   F3_ROUND     "..... 01 ..... ..... ... ..... 1000111";
    FnmsubD   "fnmsub.d"  F3_ROUND     "..... 01 ..... ..... ... ..... 1001011";
    FnmaddD   "fnmadd.d"  F3_ROUND     "..... 01 ..... ..... ... ..... 1001111";
    FaddD     "fadd.d"    F2_ROUND     "0000001 ..... ..... ... ..... 1010011";
    FsubD     "fsub.d"    F2_ROUND     "0000101 ..... ..... ... ..... 1010011";
    FmulD     "fmul.d"    F2_ROUND     "0001001 ..... ..... ... ..... 1010011";
    FdivD     "fdiv.d"    F2_ROUND     "0001101 ..... ..... ... ..... 1010011";
    FsqrtD    "fsqrt.d"   F1_ROUND     "0101101 00000 ..... ... ..... 1010011";
    FsgnjD    "fsgnj.d"   F2           "0010001 ..... ..... 000 ..... 1010011";
    FsgnjnD   "fsgnjn.d"  F2           "0010001 ..... ..... 001 ..... 1010011";
    FsgnjxD   "fsgnjx.d"  F2           "0010001 ..... ..... 010 ..... 1010011";
    FminD     "fmin.d"    F2           "0010101 ..... ..... 000 ..... 1010011";
    FmaxD     "fmax.d"    F2           "0010101 ..... ..... 001 ..... 1010011";
    FcvtSD    "fcvt.s.d"  F1_ROUND     "0100000 00001 ..... ... ..... 1010011";
    FcvtDS    "fcvt.d.s"  F1_ROUND     "0100001 00000 ..... ... ..... 1010011";
    FeqD      "feq.d"     COMPARE      "1010001 ..... ..... 010 ..... 1010011";
    FltD      "flt.d"     COMPARE      "1010001 ..... ..... 001 ..... 1010011";
    FleD      "fle.d"     COMPARE      "1010001 ..... ..... 000 ..... 1010011";
    FclassD   "fclass.d"  TO_X         "1110001 00000 ..... 001 ..... 1010011";
    FcvtWD    "fcvt.w.d"  TO_X_ROUND   "1100001 00000 ..... ... ..... 1010011";
    FcvtWuD   "fcvt.wu.d" TO_X_ROUND   "1100001 00001 ..... ... ..... 1010011";
    FcvtLD    "fcvt.l.d"  TO_X_ROUND   "1100001 00010 ..... ... ..... 1010011";
    FcvtLuD   "fcvt.lu.d" TO_X_ROUND   "1100001 00011 ..... ... ..... 1010011";
    FmvXD     "fmv.x.d"   TO_X         "1110001 00000 ..... 000 ..... 1010011";
    FcvtDW    "fcvt.d.w"  FROM_X_ROUND "1101001 00000 ..... ... ..... 1010011";
    FcvtDWu   "fcvt.d.wu" FROM_X_ROUND "1101001 00001 ..... ... ..... 1010011";
    FcvtDL    "fcvt.d.l"  FROM_X_ROUND "1101001 00010 ..... ... ..... 1010011";
    FcvtDLu   "fcvt.d.lu" FROM_X_ROUND "1101001 00011 ..... ... ..... 1010011";
    FmvDX     "fmv.d.x"   FROM_X       "1111001 00000 ..... 000 ..... 1010011";

    // Zba, B 1.1.
    AddUw     "add.uw"    R            "0000100 ..... ..... 000 ..... 0111011";
    Sh1add    "sh1add"    R            "0010000 ..... ..... 010 ..... 0110011";
    Sh2add    "sh2add"    R            "0010000 ..... ..... 100 ..... 0110011";
    Sh3add    "sh3add"    R            "0010000 ..... ..... 110 ..... 0110011";
    Sh1addUw  "sh1add.uw" R            "0010000 ..... ..... 010 ..... 0111011";
    Sh2addUw  "sh2add.uw" R            "0010000 ..... ..... 100 ..... 0111011";
    Sh3addUw  "sh3add.uw" R            "0010000 ..... ..... 110 ..... 0111011";
    SlliUw    "slli.uw"   SHIFT6       "000010 ...... ..... 001 ..... 0011011";

    // Zbb, B 1.2.
    Andn      "andn"      R            "0100000 ..... ..... 111 ..... 0110011";
    Orn       "orn"       R            "0100000 ..... ..... 110 ..... 0110011";
    Xnor      "xnor"      R            "0100000 ..... ..... 100 ..... 0110011";
    Clz       "clz"       R1           "0110000 00000 ..... 001 ..... 0010011";
    Clzw      "clzw"      R1           "0110000 00000 ..... 001 ..... 0011011";
    Ctz       "ctz"       R1           "0110000 00001 ..... 001 ..... 0010011";
    Ctzw      "ctzw"      R1           "0110000 00001 ..... 001 ..... 0011011";
    Cpop      "cpop"      R1           "0110000 00010 ..... 001 ..... 0010011";
    Cpopw     "cpopw"     R1           "0110000 00010 ..... 001 ..... 0011011";
    SextB     "sext.b"    R1           "0110000 00100 ..... 001 ..... 0010011";
    SextH     "sext.h"    R1           "0110000 00101 ..... 001 ..... 0010011";
    ZextH     "zext.h"    R1           "0000100 00000 ..... 100 ..... 0111011";
    Max       "max"       R            "0000101 ..... ..... 110 ..... 0110011";
    Maxu      "maxu"      R            "0000101 ..... ..... 111 ..... 0110011";
    Min       "min"       R            "0000101 ..... ..... 100 ..... 0110011";
    Minu      "minu"      R            "0000101 ..... ..... 101 ..... 0110011";
    Rol       "rol"       R            "0110000 ..... ..... 001 ..... 0110011";
    Rolw      "rolw"      R            "0110000 ..... ..... 001 ..... 0111011";
    Ror       "ror"       R            "0110000 ..... ..... 101 ..... 0110011";
    Rorw      "rorw"      R            "0110000 ..... ..... 101 ..... 0111011";
    Rori      "rori"      SHIFT6       "011000 ...... ..... 101 ..... 0010011";
    Roriw     "roriw"     SHIFT5       "0110000 ..... ..... 101 ..... 0011011";
    OrcB      "orc.b"     R1           "001010000111 ..... 101 ..... 0010011";
    Rev8      "rev8"      R1           "011010111000 ..... 101 ..... 0010011";

    // Zbs, B 1.4.
    Bclr      "bclr"      R            "0100100 ..... ..... 001 ..... 0110011";
    Bclri     "bclri"     SHIFT6       "010010 ...... ..... 001 ..... 0010011";
    Bext      "bext"      R            "0100100 ..... ..... 101 ..... 0110011";
    Bexti     "bexti"     SHIFT6       "010010 ...... ..... 101 ..... 0010011";
    Binv      "binv"      R            "0110100 ..... ..... 001 ..... 0110011";
    Binvi     "binvi"     SHIFT6       "011010 ...... ..... 001 ..... 0010011";
    Bset      "bset"      R            "0010100 ..... ..... 001 ..... 0110011";
    Bseti     "bseti"     SHIFT6       "001010 ...... ..... 001 ..... 0010011";

    // Privileged, II 3.3.2, 3.3.3 and 4.2.1.
    Sret      "sret"      NONE         "0001000 00010 00000 000 00000 1110011";
    Mret      "mret"      NONE         "0011000 00010 00000 000 00000 1110011";
    Wfi       "wfi"       NONE         "0001000 00101 00000 000 00000 1110011";
    SfenceVma "sfence.vma" TRANSLATION_FENCE "0001001 ..... ..... 000 00000 1110011";

    // Hypervisor loads and stores, II 8.3.1, and fences, II 8.3.2.
    HlvB      "hlv.b"     HYPERVISOR_LOAD  "0110000 00000 ..... 100 ..... 1110011";
    HlvBu     "hlv.bu"    HYPERVISOR_LOAD  "0110000 00001 ..... 100 ..... 1110011";
    HlvH      "hlv.h"     HYPERVISOR_LOAD  "0110010 00000 ..... 100 ..... 1110011";
    HlvHu     "hlv.hu"    HYPERVISOR_LOAD  "0110010 00001 ..... 100 ..... 1110011";
    HlvxHu    "hlvx.hu"   HYPERVISOR_LOAD  "0110010 00011 ..... 100 ..... 1110011";
    HlvW      "hlv.w"     HYPERVISOR_LOAD  "0110100 00000 ..... 100 ..... 1110011";
    HlvWu     "hlv.wu"    HYPERVISOR_LOAD  "0110100 00001 ..... 100 ..... 1110011";
    HlvxWu    "hlvx.wu"   HYPERVISOR_LOAD  "0110100 00011 ..... 100 ..... 1110011";
    HlvD      "hlv.d"     HYPERVISOR_LOAD  "0110110 00000 ..... 100 ..... 1110011";
    HsvB      "hsv.b"     HYPERVISOR_STORE "0110001 ..... ..... 100 00000 1110011";
    HsvH      "hsv.h"     HYPERVISOR_STORE "0110011 ..... ..... 100 00000 1110011";
    HsvW      "hsv.w"     HYPERVISOR_STORE "0110101 ..... ..... 100 00000 1110011";
    HsvD      "hsv.d"     HYPERVISOR_STORE "0110111 ..... ..... 100 00000 1110011";
    HfenceVvma "hfence.vvma" TRANSLATION_FENCE "0010001 ..... ..... 000 00000 1110011";
    HfenceGvma "hfence.gvma" TRANSLATION_FENCE "0110001 ..... ..... 000 00000 1110011";
}
