//! `memcpy` and `memset` (C11, 7.24.2.1 and 7.24.6.1), which the compiler makes calls of, in a sixth of the text that
//! its own library's take: a doubleword at a time where both addresses are aligned, as those of urgent copies are, or a
//! byte; and doublewords of zeros only.

use core::arch::global_asm;

unsafe extern "C" {
    #[link_name = "memcpy"]
    fn copy_bytes(to: *mut u8, from: *const u8, count: usize) -> *mut u8;
}

/// Copies bytes of which some are a guest's memory, by physical addresses. The guest may read and write them meanwhile:
/// the copy is made by assembly, so that the language knows of no race, and what arrives is any mixture of what was
/// there.
///
/// # Safety
/// Both ranges are memory of guests, or objects that nothing else uses and for which any bits are valid.
pub unsafe fn copy_shared(from: u64, to: u64, count: u64) {
    // Safety: the caller's promise.
    unsafe { copy_bytes(to as *mut u8, from as *const u8, count as usize) };
}

/// How many bytes are copied between two addresses in no more than about the time of `aligned` ones between aligned
/// addresses: for a caller that copies in pieces.
pub const fn piece(from: u64, to: u64, aligned: u64) -> u64 {
    if (from | to).is_multiple_of(8) {
        aligned
    } else {
        aligned / 8
    }
}

global_asm!(
    ".section .text.memory, \"ax\"",
    ".global memcpy",
    "memcpy:",
    "    mv      a3, a0",
    "    add     a2, a2, a0",
    "    or      a4, a0, a1",
    "    andi    a4, a4, 7",
    "    bnez    a4, 3f",
    // The end of the last whole doubleword.
    "    andi    a5, a2, -8",
    "    j       2f",
    "1:  ld      a4, 0(a1)",
    "    sd      a4, 0(a3)",
    "    addi    a1, a1, 8",
    "    addi    a3, a3, 8",
    "2:  bltu    a3, a5, 1b",
    "    j       3f",
    "4:  lbu     a4, 0(a1)",
    "    sb      a4, 0(a3)",
    "    addi    a1, a1, 1",
    "    addi    a3, a3, 1",
    "3:  bltu    a3, a2, 4b",
    "    ret",
    ".global memset",
    "memset:",
    "    mv      a3, a0",
    "    add     a2, a2, a0",
    "    andi    a4, a0, 7",
    "    or      a4, a4, a1",
    "    bnez    a4, 3f",
    "    andi    a5, a2, -8",
    "    j       2f",
    "1:  sd      zero, 0(a3)",
    "    addi    a3, a3, 8",
    "2:  bltu    a3, a5, 1b",
    "    j       3f",
    "4:  sb      a1, 0(a3)",
    "    addi    a3, a3, 1",
    "3:  bltu    a3, a2, 4b",
    "    ret",
);
