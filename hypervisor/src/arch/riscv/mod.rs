//! RISC-V RV64 with the hypervisor extension (privileged specification, chapter "H" Extension) and Sstc.

pub mod context;
pub mod csr;
pub mod entry;
pub mod firmware;
#[cfg(feature = "pci")]
pub mod iommu;
pub mod memory;
#[cfg(feature = "onchip")]
pub mod onchip;
pub mod platform;
#[cfg(feature = "calls")]
pub mod service;
pub mod stage2;
#[cfg(feature = "dispatch-ahead")]
pub mod warm;

use csr::{read, write};

/// Now, in ticks of the `time` CSR.
pub fn now() -> u64 {
    read!(csr::TIME)
}

/// Interrupts this hart at `deadline` (ticks); `u64::MAX`: never.
pub fn set_timer(deadline: u64) {
    write!(csr::STIMECMP, deadline);
}

/// When the timer interrupts this hart, in ticks.
pub fn timer() -> u64 {
    read!(csr::STIMECMP)
}

/// Orders earlier stores to memory before the stores to devices that follow.
pub fn fence_device() {
    // Safety: a fence.
    unsafe { core::arch::asm!("fence w, o", options(nostack)) }
}

/// What has been stored to a device is there before others see a store to memory that follows.
pub fn fence_after_device() {
    // Safety: a fence.
    unsafe { core::arch::asm!("fence o, w", options(nostack)) }
}

/// What a device had written to memory before it said so in a register that was read, is there.
pub fn fence_from_device() {
    // Safety: a fence.
    unsafe { core::arch::asm!("fence i, r", options(nostack)) }
}

/// Waits for an interrupt that is enabled in `sie`, or less.
pub fn wait_for_interrupt() {
    // Safety: only stalls the hart; interrupts stay pending, since sstatus.SIE is 0 in the hypervisor.
    unsafe { core::arch::asm!("wfi", options(nomem, nostack)) }
}

/// Interrupts that wait for the hypervisor, as bits of `sip`. The caller serves them, so that no interrupt waits
/// longer than from one such place, or a guest, to the next: the places' addresses are in a section of their own, which
/// is not loaded, for the tool that measures that.
#[inline(always)]
pub fn pending_interrupts() -> u64 {
    let pending: u64;
    // Safety: reading the CSR has no side effects.
    unsafe {
        core::arch::asm!(
            "9: csrr {0}, {1}",
            ".pushsection .tactus.looks, \"\", @progbits",
            ".8byte 9b",
            ".popsection",
            out(reg) pending,
            const csr::SIP,
            options(nomem, nostack)
        );
    }
    pending & (csr::SSI | csr::STI | csr::SEI)
}

/// Whether the hart's timer is due.
pub fn timer_is_due() -> bool {
    read!(csr::SIP) & csr::STI != 0
}

/// Whether another hart interrupts this one.
pub fn is_interrupted() -> bool {
    read!(csr::SIP) & csr::SSI != 0
}

/// Acknowledges an interprocessor interrupt.
pub fn clear_software_interrupt() {
    csr::clear!(csr::SIP, csr::SSI);
}

/// Interrupts this hart as another one would.
pub fn raise_software_interrupt() {
    csr::set!(csr::SIP, csr::SSI);
}

/// Drops what this hart's translation cache holds of the current VM's own (VS-stage) translations; `instructions`: and
/// makes the hart fetch what has been stored as instructions, which empties its L1 cache of them.
#[inline(always)]
pub fn fence_guest(instructions: bool) {
    // Safety: a fence; drops cached state only.
    unsafe {
        core::arch::asm!(
            ".option push",
            ".option arch, +h",
            "hfence.vvma x0, x0",
            ".option pop",
            options(nostack)
        );
        if instructions {
            core::arch::asm!("fence.i", options(nostack));
        }
    }
}

/// Drops the second-stage translations of the current VM that this hart has cached.
pub fn fence_own_stage2() {
    // Safety: a fence; drops cached state only. Its operand is the VMID, from its place in `hgatp` (bits 57:44).
    unsafe {
        core::arch::asm!(
            ".option push",
            ".option arch, +h",
            "csrr {0}, hgatp",
            "slli {0}, {0}, 6",
            "srli {0}, {0}, 50",
            "hfence.gvma x0, {0}",
            ".option pop",
            out(reg) _,
            options(nostack)
        );
    }
}

/// Drops all second-stage translations this hart has cached.
pub fn fence_stage2() {
    // Safety: a fence; drops cached state only.
    unsafe {
        core::arch::asm!(
            ".option push",
            ".option arch, +h",
            "hfence.gvma x0, x0",
            ".option pop",
            options(nostack)
        );
    }
}

/// Fetches the instruction at the guest's virtual address `pc`, as the guest that trapped last would.
/// `None`: it can no longer be fetched (another vCPU has changed the mapping since).
#[inline(never)]
pub fn fetch_guest_instruction(pc: u64) -> Option<u32> {
    let low = entry::probe_guest_fetch(pc)?;
    if low & 3 != 3 {
        return Some(low.into());
    }
    let high = entry::probe_guest_fetch(pc.wrapping_add(2))?;
    Some(u32::from(low) | u32::from(high) << 16)
}
