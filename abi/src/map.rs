//! The guest-physical memory map. It is that of QEMU's `virt` machine where the two overlap, so that
//! supervisor-mode software made for `virt` runs in a VM unchanged.

/// Bytes in the smallest page of either translation stage (RISC-V privileged specification, Sv39).
pub const PAGE_SIZE: u64 = 4096;
/// Bytes in a Sv39 megapage; VM memory is placed and sized in multiples of it.
pub const MEGAPAGE_SIZE: u64 = 2 << 20;
/// Bytes in a Sv39 gigapage.
pub const GIGAPAGE_SIZE: u64 = 1 << 30;

/// The finisher ("sifive_test"): a 32-bit store of [`FINISHER_PASS`] powers the VM off,
/// [`FINISHER_RESET`] restarts it, `code << 16 | FINISHER_FAIL` powers it off as failed.
pub const FINISHER_BASE: u64 = 0x10_0000;
/// Value stored to the finisher for an orderly end.
pub const FINISHER_PASS: u32 = 0x5555;
/// Low half of the value stored to the finisher to end with a failure code in the upper half.
pub const FINISHER_FAIL: u32 = 0x3333;
/// Value stored to the finisher for a restart of the VM.
pub const FINISHER_RESET: u32 = 0x7777;

/// The virtual PLIC's register page range (RISC-V PLIC specification 1.0).
pub const PLIC_BASE: u64 = 0x0c00_0000;
/// Size of the virtual PLIC's range.
pub const PLIC_SIZE: u64 = 0x60_0000;
/// Interrupt sources of a virtual PLIC, source 0 (never used) included.
pub const PLIC_SOURCES: u32 = 96;
/// Highest priority of a virtual PLIC source; 0 means "never interrupt".
pub const PLIC_PRIORITY_MAX: u32 = 7;

/// The PLIC context of a vCPU's supervisor level: as on `virt`, even contexts are the (absent)
/// machine levels.
pub const fn plic_context(vcpu_index: u32) -> u32 {
    2 * vcpu_index + 1
}

/// The virtual 16550 UART that is a VM's console.
pub const UART_BASE: u64 = 0x1000_0000;
/// Size of the UART's range: eight byte-wide registers, in a page of their own.
pub const UART_SIZE: u64 = 0x1000;
/// The virtual UART's PLIC source, as on `virt`.
pub const UART_SOURCE: u32 = 10;

/// Highest PLIC source that can be passed through, under the number of the physical source.
pub const PASSTHROUGH_SOURCE_MAX: u32 = 62;
/// Raised in a VM that another VM's `on_fault = { signal = ... }` names.
pub const FAULT_SOURCE: u32 = 63;
/// PLIC source of a VM's channel 0; channel `n` has `CHANNEL_SOURCE + n`.
pub const CHANNEL_SOURCE: u32 = 64;
/// Channels a VM may have.
pub const CHANNELS_MAX: u32 = PLIC_SOURCES - CHANNEL_SOURCE;

/// Virtual devices of accelerators: that of hardware task `n` is `n` pages above, in each VM that has it.
pub const ACCELERATOR_BASE: u64 = 0x2800_0000;
/// End of the range kept for them: tasks 1 to 7.
pub const ACCELERATOR_END: u64 = ACCELERATOR_BASE + 8 * PAGE_SIZE;

/// Ports to the I/O hypervisor: a VM's port `n`, counted from 0 in the order of its description, is `n` pages above.
pub const IO_PORT_BASE: u64 = 0x2801_0000;
/// A VM's page of timed I/O.
pub const TIMED_IO_BASE: u64 = 0x2802_0000;

/// Configuration spaces of the PCI functions that a VM has, all on bus 0.
pub const PCI_ECAM_BASE: u64 = 0x2900_0000;
/// Bytes of the configuration spaces of a bus.
pub const PCI_ECAM_SIZE: u64 = 1 << 20;

/// A page of doorbells: a 32-bit store of anything at offset `4 * n` rings the other end of the
/// VM's channel `n`. It does what the `channel_notify` hypercall does, for code that can store
/// but not call (Linux user space).
pub const DOORBELL_BASE: u64 = 0x3000_0000;
/// A 64-bit store here makes the call whose [`crate::hypercall::CallBlock`] is at the guest-physical address stored; in
/// the page of the doorbells.
pub const CALL_BASE: u64 = DOORBELL_BASE + 0x800;
/// Shared memory of a VM's channels: channel 0 first, each following the one before it.
pub const CHANNEL_BASE: u64 = 0x3000_1000;
/// End of the range kept for channels.
pub const CHANNEL_END: u64 = 0x4000_0000;

/// Where every VM's memory begins.
pub const RAM_BASE: u64 = 0x8000_0000;
/// Where a raw guest image is loaded and entered.
pub const RAW_IMAGE_BASE: u64 = 0x8020_0000;
/// Bytes reserved at the end of a VM's memory for its devicetree; `a1` points to their start.
pub const DEVICETREE_SIZE: u64 = 0x1_0000;
