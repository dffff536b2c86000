//! Integer computation: RV64I, M, Zba, Zbb and Zbs.

use super::next;
use crate::code::Block;
use crate::hart::Hart;
use crate::machine::Machine;
use crate::op::Op;
use crate::pace::Variant;

/// Handlers of two registers.
macro_rules! registers {
    ($($(#[$doc:meta])* $name:ident |$a:ident, $b:ident| $result:expr;)+) => { $(
        $(#[$doc])*
        pub(super) unsafe fn $name<V: Variant>(hart: &mut Hart, machine: &mut Machine, op: *const Op) -> *const Block {
            // Safety: the caller's.
            unsafe {
                let ($a, $b): (u64, u64) = (hart.get((*op).rs1), hart.get((*op).rs2));
                hart.set((*op).rd, $result);
                hart.computed::<V>(op);
                next(hart, machine, op)
            }
        }
    )+ };
}

/// Handlers of a register and an immediate.
macro_rules! immediates {
    ($($name:ident |$a:ident, $i:ident| $result:expr;)+) => { $(
        pub(super) unsafe fn $name<V: Variant>(hart: &mut Hart, machine: &mut Machine, op: *const Op) -> *const Block {
            // Safety: the caller's.
            unsafe {
                let $a: u64 = hart.get((*op).rs1);
                let $i: i32 = (*op).immediate;
                hart.set((*op).rd, $result);
                hart.computed::<V>(op);
                next(hart, machine, op)
            }
        }
    )+ };
}

/// A word's value as a register holds it.
#[inline(always)]
const fn word(value: u32) -> u64 {
    value as i32 as u64
}

/// An immediate's value.
#[inline(always)]
const fn wide(immediate: i32) -> u64 {
    immediate as u64
}

registers! {
    add |a, b| a.wrapping_add(b);
    sub |a, b| a.wrapping_sub(b);
    sll |a, b| a << (b & 63);
    slt |a, b| u64::from((a as i64) < b as i64);
    sltu |a, b| u64::from(a < b);
    xor |a, b| a ^ b;
    srl |a, b| a >> (b & 63);
    sra |a, b| (a as i64 >> (b & 63)) as u64;
    or |a, b| a | b;
    and |a, b| a & b;
    addw |a, b| word((a as u32).wrapping_add(b as u32));
    subw |a, b| word((a as u32).wrapping_sub(b as u32));
    sllw |a, b| word((a as u32) << (b & 31));
    srlw |a, b| word(a as u32 >> (b & 31));
    sraw |a, b| (a as i32 >> (b & 31)) as u64;

    // M (I 7).
    mul |a, b| a.wrapping_mul(b);
    mulh |a, b| ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64;
    mulhsu |a, b| ((i128::from(a as i64) * (u128::from(b) as i128)) >> 64) as u64;
    mulhu |a, b| ((u128::from(a) * u128::from(b)) >> 64) as u64;
    mulw |a, b| word((a as u32).wrapping_mul(b as u32));
    div |a, b| if b == 0 { u64::MAX } else { (a as i64).wrapping_div(b as i64) as u64 };
    divu |a, b| a.checked_div(b).unwrap_or(u64::MAX);
    rem |a, b| if b == 0 { a } else { (a as i64).wrapping_rem(b as i64) as u64 };
    remu |a, b| if b == 0 { a } else { a % b };
    divw |a, b| if b as u32 == 0 { u64::MAX } else { (a as i32).wrapping_div(b as i32) as u64 };
    divuw |a, b| (a as u32).checked_div(b as u32).map_or(u64::MAX, word);
    remw |a, b| if b as u32 == 0 { word(a as u32) } else { (a as i32).wrapping_rem(b as i32) as u64 };
    remuw |a, b| if b as u32 == 0 { word(a as u32) } else { word(a as u32 % b as u32) };

    // Zba (B 1.1).
    add_uw |a, b| u64::from(a as u32).wrapping_add(b);
    sh1add |a, b| (a << 1).wrapping_add(b);
    sh2add |a, b| (a << 2).wrapping_add(b);
    sh3add |a, b| (a << 3).wrapping_add(b);
    sh1add_uw |a, b| (u64::from(a as u32) << 1).wrapping_add(b);
    sh2add_uw |a, b| (u64::from(a as u32) << 2).wrapping_add(b);
    sh3add_uw |a, b| (u64::from(a as u32) << 3).wrapping_add(b);

    // Zbb (B 1.2).
    andn |a, b| a & !b;
    orn |a, b| a | !b;
    xnor |a, b| !(a ^ b);
    max |a, b| (a as i64).max(b as i64) as u64;
    maxu |a, b| a.max(b);
    min |a, b| (a as i64).min(b as i64) as u64;
    minu |a, b| a.min(b);
    rol |a, b| a.rotate_left(b as u32 & 63);
    ror |a, b| a.rotate_right(b as u32 & 63);
    rolw |a, b| word((a as u32).rotate_left(b as u32 & 31));
    rorw |a, b| word((a as u32).rotate_right(b as u32 & 31));

    // Zbs (B 1.4).
    bclr |a, b| a & !(1 << (b & 63));
    bext |a, b| a >> (b & 63) & 1;
    binv |a, b| a ^ 1 << (b & 63);
    bset |a, b| a | 1 << (b & 63);
}

immediates! {
    addi |a, i| a.wrapping_add(wide(i));
    slti |a, i| u64::from((a as i64) < i64::from(i));
    sltiu |a, i| u64::from(a < wide(i));
    xori |a, i| a ^ wide(i);
    ori |a, i| a | wide(i);
    andi |a, i| a & wide(i);
    slli |a, i| a << (i & 63);
    srli |a, i| a >> (i & 63);
    srai |a, i| (a as i64 >> (i & 63)) as u64;
    addiw |a, i| word((a as u32).wrapping_add(i as u32));
    slliw |a, i| word((a as u32) << (i & 31));
    srliw |a, i| word(a as u32 >> (i & 31));
    sraiw |a, i| (a as i32 >> (i & 31)) as u64;

    slli_uw |a, i| u64::from(a as u32) << (i & 63);

    clz |a, _i| u64::from(a.leading_zeros());
    clzw |a, _i| u64::from((a as u32).leading_zeros());
    ctz |a, _i| u64::from(a.trailing_zeros());
    ctzw |a, _i| u64::from((a as u32).trailing_zeros());
    cpop |a, _i| u64::from(a.count_ones());
    cpopw |a, _i| u64::from((a as u32).count_ones());
    sext_b |a, _i| a as i8 as u64;
    sext_h |a, _i| a as i16 as u64;
    zext_h |a, _i| u64::from(a as u16);
    orc_b |a, _i| or_combine(a);
    rev8 |a, _i| a.swap_bytes();
    rori |a, i| a.rotate_right(i as u32 & 63);
    roriw |a, i| word((a as u32).rotate_right(i as u32 & 31));

    bclri |a, i| a & !(1 << (i & 63));
    bexti |a, i| a >> (i & 63) & 1;
    binvi |a, i| a ^ 1 << (i & 63);
    bseti |a, i| a | 1 << (i & 63);
}

/// All ones in each byte that is not zero.
const fn or_combine(value: u64) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    // The top bit of each byte: set when any of its bits is.
    let any = (((value & LOW) + LOW) | value) & !LOW;
    (any >> 7) * 255
}

/// `lui`, and other constants.
pub(super) unsafe fn constant<V: Variant>(
    hart: &mut Hart,
    machine: &mut Machine,
    op: *const Op,
) -> *const Block {
    // Safety: the caller's.
    unsafe {
        hart.set((*op).rd, wide((*op).immediate));
        hart.computed::<V>(op);
        next(hart, machine, op)
    }
}

/// `auipc`.
pub(super) unsafe fn auipc<V: Variant>(
    hart: &mut Hart,
    machine: &mut Machine,
    op: *const Op,
) -> *const Block {
    // Safety: the caller's.
    unsafe {
        let pc = hart.pc_of(&*op);
        hart.set((*op).rd, pc.wrapping_add(wide((*op).immediate)));
        hart.computed::<V>(op);
        next(hart, machine, op)
    }
}

/// A register copied: `addi` with 0, what assemblers write `mv`.
pub(super) unsafe fn copy<V: Variant>(
    hart: &mut Hart,
    machine: &mut Machine,
    op: *const Op,
) -> *const Block {
    // Safety: the caller's.
    unsafe {
        hart.set((*op).rd, hart.get((*op).rs1));
        hart.computed::<V>(op);
        next(hart, machine, op)
    }
}

/// No operation: HINTs, and fences where memory is always in order.
pub(super) unsafe fn nothing(
    hart: &mut Hart,
    machine: &mut Machine,
    op: *const Op,
) -> *const Block {
    // Safety: the caller's.
    unsafe { next(hart, machine, op) }
}
