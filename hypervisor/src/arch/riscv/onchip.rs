//! Executing from on-chip memory: how text and constants get there, and what is left of it.

use core::arch::global_asm;

global_asm!(
    // First instruction of the image, in place of `_start`: brings what is linked for the on-chip memory there. The
    // firmware enters with the hart's id in a0 and the platform's devicetree in a1, which are handed on.
    ".section .load, \"ax\"",
    ".global load",
    "load:",
    "    lla     t0, __onchip_load",
    "    lla     t1, __onchip_begin",
    "    lla     t2, __onchip_end",
    "1:  ld      t3, 0(t0)",
    "    sd      t3, 0(t1)",
    "    addi    t0, t0, 8",
    "    addi    t1, t1, 8",
    "    bltu    t1, t2, 1b",
    "    fence.i",
    "    lla     t0, _start",
    "    jr      t0",
);

unsafe extern "C" {
    static __onchip_begin: u8;
    static __onchip_rest: u8;
}

/// What text and constants leave of the on-chip memory, of which there are `size` bytes: its first address, and its
/// end.
pub fn rest(size: u64) -> (u64, u64) {
    let (begin, rest) = (&raw const __onchip_begin, &raw const __onchip_rest);
    (rest as u64, begin as u64 + size)
}

/// Gives the program's file a symbol whose value is a number, for the tool.
macro_rules! tell {
    ($symbol:literal, $number:expr) => {
        core::arch::global_asm!(
            concat!(".global ", $symbol),
            concat!(".set ", $symbol, ", {number}"),
            number = const $number,
        );
    };
}

pub(crate) use tell;
