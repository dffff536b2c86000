//! The way into the hypervisor and out of it.
//!
//! A trap saves only what a function call may destroy, so that calls and interrupts that return to
//! the same guest stay short; the rest is saved where a handler needs it (any exception that is decoded)
//! or when another vCPU takes the hart.
//!
//! The handlers are known here by the names of their symbols: they are above this module.
//!
//! While a guest runs, `sscratch` holds its [`Context`]; its first fields are known here by offset.

use super::context::Context;
use core::arch::global_asm;
use core::ffi::c_void;
use core::mem::offset_of;
use tactus_abi::console::{LOG_STREAM, SELECT, STREAM_BASE};

global_asm!(
    ".option push",
    ".option norelax",
    ".option arch, +h",
    // Saves (sd) or loads (ld) of the context in sp, where each takes two bytes, the registers that a function call may
    // destroy but for sp.
    ".macro called op",
    "    \\op     ra, 1*8(sp)",
    "    \\op     t0, 5*8(sp)",
    "    \\op     t1, 6*8(sp)",
    "    \\op     t2, 7*8(sp)",
    "    \\op     a0, 10*8(sp)",
    "    \\op     a1, 11*8(sp)",
    "    \\op     a2, 12*8(sp)",
    "    \\op     a3, 13*8(sp)",
    "    \\op     a4, 14*8(sp)",
    "    \\op     a5, 15*8(sp)",
    "    \\op     a6, 16*8(sp)",
    "    \\op     a7, 17*8(sp)",
    "    \\op     t3, 28*8(sp)",
    "    \\op     t4, 29*8(sp)",
    "    \\op     t5, 30*8(sp)",
    "    \\op     t6, 31*8(sp)",
    ".endm",
    // The same with all others.
    ".macro others op",
    "    \\op     gp, 3*8(sp)",
    "    \\op     tp, 4*8(sp)",
    "    \\op     s0, 8*8(sp)",
    "    \\op     s1, 9*8(sp)",
    "    \\op     s2, 18*8(sp)",
    "    \\op     s3, 19*8(sp)",
    "    \\op     s4, 20*8(sp)",
    "    \\op     s5, 21*8(sp)",
    "    \\op     s6, 22*8(sp)",
    "    \\op     s7, 23*8(sp)",
    "    \\op     s8, 24*8(sp)",
    "    \\op     s9, 25*8(sp)",
    "    \\op     s10, 26*8(sp)",
    "    \\op     s11, 27*8(sp)",
    ".endm",
    // First instruction of the image. The firmware enters with the hart's id in a0 and the platform's devicetree in a1.
    ".section .text.start, \"ax\"",
    ".global _start",
    "_start:",
    "    la      t0, boot_trap",
    "    csrw    stvec, t0",
    "    la      sp, __boot_stack_top",
    "    tail    tactus_boot",
    // A further hart: a1 holds its Hart, whose first field is the top of its stack.
    ".global secondary_start",
    "secondary_start:",
    "    la      t0, boot_trap",
    "    csrw    stvec, t0",
    "    mv      a0, a1",
    // Takes a Hart in a0 and makes the hart run guests.
    ".global run_hart",
    "run_hart:",
    "    ld      sp, 0(a0)",
    "    call    tactus_hart_main",
    "    j       resume",
    // A trap before the hart can take any: its compiled code uses extensions that the hart may not have, before it can
    // ask for them. Says so by the oldest of the firmware's calls (SBI specification, "Console Putchar"), and powers
    // off ("System reset").
    ".balign 4",
    "boot_trap:",
    "    la      s0, 8f",
    "7:  lbu     a0, 0(s0)",
    "    beqz    a0, 9f",
    "    li      a7, 1",
    "    ecall",
    "    addi    s0, s0, 1",
    "    j       7b",
    "9:  li      a0, 0",
    "    li      a1, 0",
    "    li      a6, 0",
    "    li      a7, 0x53525354",
    "    ecall",
    "    j       9b",
    // The log's stream is selected first.
    ".pushsection .rodata",
    "8:  .byte   {select}, {log_stream}",
    "    .asciz  \"refused reason=a hart trapped while it booted; it may lack one of Zba, Zbb, Zbs\\n\"",
    ".popsection",
    ".section .text.trap, \"ax\"",
    ".balign 64",
    ".global guest_trap",
    "guest_trap:",
    "    csrrw   sp, sscratch, sp",
    "    called  sd",
    "    csrrw   t0, sscratch, sp",
    "    sd      t0, 2*8(sp)",
    "    mv      a0, sp",
    "    ld      sp, {host_stack}(sp)",
    "    csrr    a1, scause",
    "    addi    t0, a1, -{ecall_vs}",
    "    bnez    t0, 1f",
    "    call    tactus_call",
    "    bnez    a0, 2f",
    // Another vCPU is to run, perhaps.
    "5:  csrr    a0, sscratch",
    "    mv      sp, a0",
    "    others  sd",
    "    ld      sp, {host_stack}(sp)",
    "6:  call    tactus_schedule",
    // Enters the guest of the context in a0 with all its registers; if that is null, the vCPU in a1 leaves the hart
    // first.
    ".global resume",
    "resume:",
    "    beqz    a0, 10f",
    "    csrw    sscratch, a0",
    "7:  mv      sp, a0",
    "    others  ld",
    // The same with those only that a function call destroys.
    "2:  mv      sp, a0",
    "    called  ld",
    "    ld      sp, 2*8(sp)",
    "    sret",
    "10: mv      a0, a1",
    "    j       6b",
    // The hart's timer: most often another vCPU is to run.
    "11: mv      sp, a0",
    "    others  sd",
    "    ld      sp, {host_stack}(sp)",
    "    call    tactus_timer",
    "    j       resume",
    "1:  bgez    a1, 3f",
    // Of the three that there are, the only one with this bit in its code.
    "    andi    t0, a1, {timer_bit}",
    "    bnez    t0, 11b",
    "    call    tactus_interrupt",
    "    bnez    a0, 2b",
    "    j       5b",
    // Of exceptions that are decoded, and may need any register, all registers are saved before and loaded after.
    "3:  addi    t0, a1, -{virtual_instruction}",
    "    beqz    t0, 4f",
    "    addi    t0, a1, -{store}",
    "    bnez    t0, 9f",
    "    call    tactus_doorbell",
    "    beqz    a1, 8f",
    "    bnez    a0, 2b",
    "    j       5b",
    "8:  csrr    a0, sscratch",
    "    csrr    a1, scause",
    "9:  mv      sp, a0",
    "    others  sd",
    "    ld      sp, {host_stack}(sp)",
    "    call    tactus_exception",
    "    bnez    a0, 7b",
    "    csrr    a0, sscratch",
    "    j       6b",
    "4:  call    tactus_virtual_instruction",
    "    beqz    a1, 8b",
    "    bnez    a0, 2b",
    "    j       5b",
    // u64 pair probe(address): half-word fetched through the guest's translation, or a1 = 1. A fault overwrites trap
    // CSRs; those that the way back to the guest needs are kept.
    // Apart from the way in and out: the two have other lines of the cache.
    ".balign 32",
    ".global probe_guest_fetch",
    "probe_guest_fetch:",
    "    csrr    t1, sepc",
    "    csrr    t2, sstatus",
    "    csrr    t3, hstatus",
    "    la      t0, 9f",
    "    csrrw   t0, stvec, t0",
    "    li      a1, 1",
    "    hlvx.hu a0, (a0)",
    "    li      a1, 0",
    ".balign 4",
    "9:  csrw    stvec, t0",
    "    csrw    hstatus, t3",
    "    csrw    sstatus, t2",
    "    csrw    sepc, t1",
    "    ret",
    // u64 pair probe_word(address): the 32 bits at a physical address, or a1 = 1. Likewise.
    ".global probe_word",
    "probe_word:",
    "    csrr    t1, sepc",
    "    csrr    t2, sstatus",
    "    csrr    t3, hstatus",
    "    la      t0, 9f",
    "    csrrw   t0, stvec, t0",
    "    lwu     a0, 0(a0)",
    "    csrw    stvec, t0",
    "    li      a1, 0",
    "    ret",
    ".balign 4",
    "9:  csrw    stvec, t0",
    "    csrw    hstatus, t3",
    "    csrw    sstatus, t2",
    "    csrw    sepc, t1",
    "    li      a1, 1",
    "    ret",
    ".purgem  called",
    ".purgem  others",
    ".option pop",
    select = const SELECT,
    log_stream = const STREAM_BASE + LOG_STREAM,
    timer_bit = const super::context::cause::TIMER & 4,
    host_stack = const offset_of!(Context, host_stack),
    ecall_vs = const super::context::cause::ECALL_VS,
    store = const super::context::cause::STORE_GUEST_PAGE,
    virtual_instruction = const super::context::cause::VIRTUAL_INSTRUCTION,
);

#[repr(C)]
struct Probe {
    value: u64,
    fault: u64,
}

unsafe extern "C" {
    fn secondary_start();
    fn run_hart(hart: *const c_void) -> !;
    #[link_name = "probe_guest_fetch"]
    fn probe(address: u64) -> Probe;
    #[link_name = "probe_word"]
    fn probe_word(address: u64) -> Probe;
}

/// Where the firmware starts a further hart, with its `Hart` as the opaque argument.
pub fn secondary_entry() -> u64 {
    secondary_start as *const () as u64
}

/// Leaves the boot stack and makes this hart run guests.
///
/// # Safety
/// `hart` is this hart's `Hart`, whose first field is the top of its stack.
pub unsafe fn enter(hart: *const c_void) -> ! {
    // Safety: the hart has a stack of its own; nothing on the boot stack is used again.
    unsafe { run_hart(hart) }
}

/// Fetches 16 bits at a guest's virtual address.
pub fn probe_guest_fetch(address: u64) -> Option<u16> {
    // Safety: reads through the guest's own translation with the guest's rights; faults are caught.
    let result = unsafe { probe(address) };
    (result.fault == 0).then_some(result.value as u16)
}

/// Reads a register of a device that may not be there, or not answer; then `None`.
///
/// # Safety
/// The address is a device's, or nothing's.
pub unsafe fn probe_register(address: u64) -> Option<u32> {
    // Safety: the caller's promise; a fault is caught.
    let result = unsafe { probe_word(address) };
    (result.fault == 0).then_some(result.value as u32)
}
