//! Code shared by both conformance guests: checks with a verdict each, registers, and a trap vector with an interrupt
//! stack.
//!
//! The guests use SBI, CSRs, PLIC and 16550 register by register as the drivers of Zephyr and NuttX do, so that a
//! change of the hypervisor that would break such a system fails a test. Each check names the driver's file. The
//! sequences are written from the drivers' behaviour; no code is copied. The guests use only the runtime's start,
//! records and devicetree.
#![no_std]
#![cfg(target_arch = "riscv64")]

pub mod trap;

use core::fmt::{self, Display};

use tactus_guest::{abi::map, record, sbi, start};

/// The value that a check has found in place of the expected one.
#[derive(Clone, Copy, Debug)]
pub struct Wrong {
    what: &'static str,
    seen: u64,
    wanted: u64,
}

impl Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, seen, wanted } = self;
        write!(f, "{what} is {seen:#x}, not {wanted:#x}")
    }
}

/// The result of a check.
pub type Check = Result<(), Wrong>;

/// Checks that a value equals another one.
///
/// # Errors
/// The values differ.
pub fn expect(what: &'static str, seen: u64, wanted: u64) -> Check {
    if seen == wanted {
        Ok(())
    } else {
        Err(Wrong { what, seen, wanted })
    }
}

/// Checks that a value is at least another one.
///
/// # Errors
/// The value is lower.
pub fn expect_at_least(what: &'static str, seen: u64, wanted: u64) -> Check {
    expect(what, seen.min(wanted), wanted)
}

/// A check and its name.
pub type Named = (&'static str, fn() -> Check);

/// Runs the checks in order, and records the verdict of each.
pub fn run(checks: &[Named]) {
    let mut failed = 0;
    for (name, check) in checks {
        match check() {
            Ok(()) => record::pass(name),
            Err(wrong) => {
                failed += 1;
                record::fail(name, wrong);
            }
        }
    }
    if failed == 0 {
        record::pass(start::program());
    }
}

/// Loads a 32-bit register.
pub fn read32(address: u64) -> u32 {
    // SAFETY: callers pass registers of the PLIC, which belongs to the guest.
    unsafe { (address as *const u32).read_volatile() }
}

/// Stores to a 32-bit register.
pub fn write32(address: u64, value: u32) {
    // SAFETY: as `read32`.
    unsafe { (address as *mut u32).write_volatile(value) };
}

/// Loads a register of the 16550.
pub fn uart_read(register: u64) -> u8 {
    // SAFETY: the UART belongs to the guest, and the register is one of its eight.
    unsafe { ((map::UART_BASE + register) as *const u8).read_volatile() }
}

/// Stores to a register of the 16550.
pub fn uart_write(register: u64, value: u8) {
    // SAFETY: as `uart_read`.
    unsafe { ((map::UART_BASE + register) as *mut u8).write_volatile(value) };
}

/// Registers of the PLIC (specification 1.0.0, "Memory Map").
pub mod plic {
    use tactus_guest::abi::map::{PLIC_BASE, plic_context};

    /// The source's priority.
    pub const fn priority(source: u32) -> u64 {
        PLIC_BASE + 4 * source as u64
    }

    /// Word `index` of the enables of a hart's supervisor context.
    pub const fn enables(hart: usize, index: u32) -> u64 {
        PLIC_BASE + 0x2000 + 0x80 * plic_context(hart as u32) as u64 + 4 * index as u64
    }

    /// The hart's threshold.
    pub const fn threshold(hart: usize) -> u64 {
        PLIC_BASE + 0x20_0000 + 0x1000 * plic_context(hart as u32) as u64
    }

    /// The address at which the hart claims and completes.
    pub const fn claim(hart: usize) -> u64 {
        threshold(hart) + 4
    }
}

/// Registers and bits of the 16550, beyond those of `tactus_abi::uart` (data sheet "PC16550D", section 8).
pub mod uart {
    pub use tactus_guest::abi::uart::*;

    /// The identification's bits.
    pub const IIR_ID: u8 = 0x0e;
    /// Bytes have waited in the FIFO for a while.
    pub const IIR_TIMEOUT: u8 = 0x0c;
    /// Modem lines: OUT2, request to send, data terminal ready.
    pub const MCR_OUT2: u8 = 1 << 3;
    /// See [`MCR_OUT2`].
    pub const MCR_RTS: u8 = 1 << 1;
    /// See [`MCR_OUT2`].
    pub const MCR_DTR: u8 = 1 << 0;
    /// Eight bits, no parity, one stop bit.
    pub const LCR_8N1: u8 = 0x03;
    /// Empties the transmitter's FIFO.
    pub const FCR_CLEAR_TRANSMITTER: u8 = 1 << 2;
    /// The receiver interrupts at eight bytes.
    pub const FCR_TRIGGER_8: u8 = 0x80;
    /// Bytes that the transmitter's FIFO holds.
    pub const FIFO: usize = 16;
}

/// Makes a call to the SBI: extension, function, arguments. Returns the error and the value.
pub fn ecall(extension: usize, function: usize, arguments: [usize; 3]) -> (usize, usize) {
    let [a, b, c] = arguments;
    // SAFETY: none of these guests' calls reads or writes memory.
    let answer = unsafe { sbi::call_raw(extension, function, [a, b, c, 0, 0, 0]) };
    (answer.error as usize, answer.value)
}
