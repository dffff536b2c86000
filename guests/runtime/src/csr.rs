//! Control and status registers by their number (RISC-V privileged specification, "CSR Listing").

use core::arch::asm;

/// Supervisor status.
pub const SSTATUS: u16 = 0x100;
/// Supervisor interrupt enables.
pub const SIE: u16 = 0x104;
/// Supervisor trap vector.
pub const STVEC: u16 = 0x105;
/// Scratch register for trap handlers.
pub const SSCRATCH: u16 = 0x140;
/// Program counter of the last trap.
pub const SEPC: u16 = 0x141;
/// Cause of the last trap.
pub const SCAUSE: u16 = 0x142;
/// Address or instruction of the last trap.
pub const STVAL: u16 = 0x143;
/// Supervisor interrupts pending.
pub const SIP: u16 = 0x144;
/// Supervisor timer deadline (extension Sstc).
pub const STIMECMP: u16 = 0x14d;
/// Address translation and protection.
pub const SATP: u16 = 0x180;
/// Cycles counted.
pub const CYCLE: u16 = 0xc00;
/// The clock, in ticks.
pub const TIME: u16 = 0xc01;

/// `sstatus.SIE`: interrupts are taken in supervisor mode.
pub const SSTATUS_SIE: usize = 1 << 1;
/// `sstatus.SPIE`: `SIE` before the last trap.
pub const SSTATUS_SPIE: usize = 1 << 5;
/// `sstatus.SPP`: the last trap came from supervisor mode.
pub const SSTATUS_SPP: usize = 1 << 8;
/// `sstatus.FS`: state of the floating-point unit; 0 is off.
pub const SSTATUS_FS: usize = 3 << 13;
/// The software interrupt's bit in `sie` and `sip`.
pub const INTERRUPT_SOFTWARE: usize = 1 << 1;
/// The timer interrupt's bit in `sie` and `sip`.
pub const INTERRUPT_TIMER: usize = 1 << 5;
/// The external interrupt's bit in `sie` and `sip`.
pub const INTERRUPT_EXTERNAL: usize = 1 << 9;

/// Reads a register. One that does not exist, or is not the guest's, raises an illegal-instruction exception.
#[inline(always)]
pub fn read<const CSR: u16>() -> usize {
    let value;
    // SAFETY: reading a CSR touches no memory and changes no register but its destination. It is not
    // `pure`: counters change by themselves.
    unsafe { asm!("csrr {}, {}", out(reg) value, const CSR, options(nomem, nostack)) };
    value
}

/// Writes a register.
///
/// # Safety
///
/// The new value must leave the running program valid: `stvec` a trap vector, `satp` a translation under which all that
/// Rust refers to keeps its address, `sie` no interrupt without a handler, and so on.
#[inline(always)]
pub unsafe fn write<const CSR: u16>(value: usize) {
    // SAFETY: the caller vouches for the value. Memory is clobbered: interrupts or translation may change.
    unsafe { asm!("csrw {}, {}", const CSR, in(reg) value, options(nostack)) };
}

/// Sets the bits of `mask`.
///
/// # Safety
///
/// As [`write()`].
#[inline(always)]
pub unsafe fn set<const CSR: u16>(mask: usize) {
    // SAFETY: as `write`.
    unsafe { asm!("csrs {}, {}", const CSR, in(reg) mask, options(nostack)) };
}

/// Clears the bits of `mask`.
///
/// # Safety
///
/// As [`write()`].
#[inline(always)]
pub unsafe fn clear<const CSR: u16>(mask: usize) {
    // SAFETY: as `write`.
    unsafe { asm!("csrc {}, {}", const CSR, in(reg) mask, options(nostack)) };
}
