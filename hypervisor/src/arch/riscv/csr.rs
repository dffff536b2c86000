//! Control and status registers by number (privileged specification, "CSR Listing"), and their bits.

/// `sstatus`.
pub const SSTATUS: u16 = 0x100;
/// `sie`.
pub const SIE: u16 = 0x104;
/// `stvec`.
pub const STVEC: u16 = 0x105;
/// `scounteren`: shared with the guest.
pub const SCOUNTEREN: u16 = 0x106;
/// `senvcfg`: shared with the guest.
pub const SENVCFG: u16 = 0x10a;
/// `sepc`.
pub const SEPC: u16 = 0x141;
/// `stval`.
pub const STVAL: u16 = 0x143;
/// `sip`.
pub const SIP: u16 = 0x144;
/// `stimecmp` (Sstc).
pub const STIMECMP: u16 = 0x14d;
/// `satp`.
pub const SATP: u16 = 0x180;
/// `vsstatus`.
pub const VSSTATUS: u16 = 0x200;
/// `vsie`.
pub const VSIE: u16 = 0x204;
/// `vstvec`.
pub const VSTVEC: u16 = 0x205;
/// `vsscratch`.
pub const VSSCRATCH: u16 = 0x240;
/// `vsepc`.
pub const VSEPC: u16 = 0x241;
/// `vscause`.
pub const VSCAUSE: u16 = 0x242;
/// `vstval`.
pub const VSTVAL: u16 = 0x243;
/// `vstimecmp` (Sstc).
pub const VSTIMECMP: u16 = 0x24d;
/// `vsatp`.
pub const VSATP: u16 = 0x280;
/// `hstatus`.
pub const HSTATUS: u16 = 0x600;
/// `hedeleg`.
pub const HEDELEG: u16 = 0x602;
/// `hideleg`.
pub const HIDELEG: u16 = 0x603;
/// `hie`.
pub const HIE: u16 = 0x604;
/// `hip`.
pub const HIP: u16 = 0x644;
/// `hgeie`.
pub const HGEIE: u16 = 0x607;
/// `htimedelta`.
pub const HTIMEDELTA: u16 = 0x605;
/// `hcounteren`.
pub const HCOUNTEREN: u16 = 0x606;
/// In `hcounteren` and `scounteren`: `time`.
pub const COUNTEREN_TM: u64 = 1 << 1;
/// In `hcounteren` and `scounteren`: `cycle`, `time` and `instret`.
pub const COUNTEREN_ALL: u64 = 0b111;
/// `henvcfg`.
pub const HENVCFG: u16 = 0x60a;
/// `htval`.
pub const HTVAL: u16 = 0x643;
/// `hvip`.
pub const HVIP: u16 = 0x645;
/// `htinst`.
pub const HTINST: u16 = 0x64a;
/// `hgatp`.
pub const HGATP: u16 = 0x680;
/// `time`.
pub const TIME: u16 = 0xc01;

/// `sstatus.SPP`: the trap came from supervisor level.
pub const SSTATUS_SPP: u64 = 1 << 8;
/// `sstatus.SPIE`.
pub const SSTATUS_SPIE: u64 = 1 << 5;
/// `sstatus.SIE`.
pub const SSTATUS_SIE: u64 = 1 << 1;
/// `sstatus.FS`: state of the floating-point unit.
pub const SSTATUS_FS: u64 = 3 << 13;
/// `sstatus.FS` = Clean.
pub const SSTATUS_FS_CLEAN: u64 = 2 << 13;
/// `sstatus.VS`: state of the vector unit, always off here.
pub const SSTATUS_VS: u64 = 3 << 9;

/// `hstatus.SPV`: the trap came from a guest.
pub const HSTATUS_SPV: u64 = 1 << 7;
/// `hstatus.SPVP`: ... from its supervisor level.
pub const HSTATUS_SPVP: u64 = 1 << 8;
/// `hstatus.VTW`: a guest's `wfi` traps.
pub const HSTATUS_VTW: u64 = 1 << 21;
/// `hstatus.VTSR`: a guest's `sret` traps.
pub const HSTATUS_VTSR: u64 = 1 << 22;
/// `hstatus.VSXL` = 64 bits.
pub const HSTATUS_VSXL_64: u64 = 2 << 32;

/// `henvcfg.STCE`: the guest has `stimecmp`.
pub const HENVCFG_STCE: u64 = 1 << 63;

/// Supervisor software interrupt, in `sip` and `sie`.
pub const SSI: u64 = 1 << 1;
/// Supervisor timer interrupt.
pub const STI: u64 = 1 << 5;
/// Supervisor external interrupt.
pub const SEI: u64 = 1 << 9;
/// The same three of the guest, in `hvip` and `hideleg`.
pub const VSSI: u64 = 1 << 2;
/// Guest timer interrupt.
pub const VSTI: u64 = 1 << 6;
/// Guest external interrupt.
pub const VSEI: u64 = 1 << 10;

/// Reads a CSR.
macro_rules! read {
    ($csr:expr) => {{
        let value: u64;
        // Safety: the CSRs named in this module have no side effects when read.
        unsafe {
            core::arch::asm!("csrr {0}, {1}", out(reg) value, const $csr, options(nomem, nostack));
        }
        value
    }};
}

/// Writes a CSR.
macro_rules! write {
    ($csr:expr, $value:expr) => {{
        let value: u64 = $value;
        // Safety: the hypervisor's own memory is reached without translation and its interrupts stay off, so
        // that no value of the CSRs written this way changes what Rust code of this hart relies on.
        unsafe {
            core::arch::asm!("csrw {1}, {0}", in(reg) value, const $csr, options(nostack));
        }
    }};
}

/// Writes a CSR and gives its old value.
macro_rules! swap {
    ($csr:expr, $value:expr) => {{
        let new: u64 = $value;
        let old: u64;
        // Safety: as for `write!`.
        unsafe {
            core::arch::asm!("csrrw {0}, {2}, {1}", out(reg) old, in(reg) new, const $csr, options(nostack));
        }
        old
    }};
}

/// Sets bits of a CSR.
macro_rules! set {
    ($csr:expr, $bits:expr) => {{
        let bits: u64 = $bits;
        // Safety: as for `write!`.
        unsafe {
            core::arch::asm!("csrs {1}, {0}", in(reg) bits, const $csr, options(nostack));
        }
    }};
}

/// Clears bits of a CSR.
macro_rules! clear {
    ($csr:expr, $bits:expr) => {{
        let bits: u64 = $bits;
        // Safety: as for `write!`.
        unsafe {
            core::arch::asm!("csrc {1}, {0}", in(reg) bits, const $csr, options(nostack));
        }
    }};
}

pub(crate) use {clear, read, set, swap, write};
