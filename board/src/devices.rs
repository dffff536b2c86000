//! The devices of the board, at the addresses and with the interrupt lines that QEMU's `virt` machine gives them.
//!
//! Each is a [`Device`](crate::bus::Device). All may be woken at any time, not only when they asked for it: they
//! look at what is due and ask for their next waking again.

mod clint;
mod console;
pub(crate) mod dma;
mod finisher;
pub mod pci;
mod plic;
mod random;
mod rtc;
mod sswi;
pub(crate) mod state;
mod storms;
#[cfg(test)]
mod testing;
mod uart;
pub mod virtio;

pub use clint::Clint;
pub use console::Console;
pub use finisher::Finisher;
pub use pci::{Iommu, Pci};
pub use plic::Plic;
pub use random::Random;
pub use rtc::Rtc;
pub use sswi::Sswi;
pub use storms::Storm;
pub use uart::Uart;
pub use virtio::Virtio;

/// Where things are.
pub mod map {
    /// The finisher.
    pub const FINISHER: u64 = 0x10_0000;
    /// Bytes of the finisher's range.
    pub const FINISHER_SIZE: u64 = 0x1000;
    /// The real-time clock.
    pub const RTC: u64 = 0x10_1000;
    /// Bytes of the real-time clock's range in the devicetree.
    pub const RTC_SIZE: u64 = 0x1000;
    /// The real-time clock's interrupt line.
    pub const RTC_LINE: u32 = 11;
    /// Software interrupts of the harts' supervisor levels, where QEMU's `virt` has them with `aclint=on`.
    pub const SSWI: u64 = 0x2f0_0000;
    /// Bytes of their range.
    pub const SSWI_SIZE: u64 = 0x4000;
    /// The core-local interruptor.
    pub const CLINT: u64 = 0x200_0000;
    /// Bytes of the core-local interruptor's range.
    pub const CLINT_SIZE: u64 = 0x1_0000;
    /// The platform-level interrupt controller.
    pub const PLIC: u64 = 0xc00_0000;
    /// Bytes of the interrupt controller's range.
    pub const PLIC_SIZE: u64 = 0x60_0000;
    /// Interrupt sources of the controller, counting source 0, which does not exist.
    pub const PLIC_SOURCES: u32 = 96;
    /// The serial line.
    pub const UART: u64 = 0x1000_0000;
    /// Bytes of the serial line's range in the devicetree.
    pub const UART_SIZE: u64 = 0x100;
    /// The serial line's interrupt line.
    pub const UART_LINE: u32 = 10;
    /// The frequency that the serial line's divisor counts from, in hertz.
    pub const UART_CLOCK_HZ: u32 = 3_686_400;
    /// The spare serial line, which QEMU's `virt` lacks.
    pub const SPARE_UART: u64 = 0x1000_9000;
    /// The spare serial line's interrupt line.
    pub const SPARE_UART_LINE: u32 = 12;
    /// The first virtio transport; others follow at a distance of [`VIRTIO_SIZE`].
    pub const VIRTIO: u64 = 0x1000_1000;
    /// Bytes of each transport's range.
    pub const VIRTIO_SIZE: u64 = 0x1000;
    /// How many transports there are.
    pub const VIRTIO_SLOTS: u32 = 8;
    /// The first transport's interrupt line; others follow.
    pub const VIRTIO_LINE: u32 = 1;
    /// The fabric's general-purpose port, and behind it the registers of the port itself.
    pub const FABRIC: u64 = 0x4000_0000;
    /// The fabric's first interrupt line; others follow, and then that of the port.
    pub const FABRIC_LINE: u32 = 40;
    /// Main memory.
    pub const MEMORY: u64 = 0x8000_0000;
}
