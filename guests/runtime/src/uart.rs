//! The 16550 UART: the virtual one of every VM with a console, or `virt`'s.

use core::fmt;

use tactus_abi::{map, uart};

pub use tactus_abi::uart::{IER_RECEIVED, IER_TRANSMITTER_EMPTY};

/// A 16550 with byte-wide registers. Line settings are left as they are: neither the virtual nor the emulated one has a
/// line.
#[derive(Clone, Copy, Debug)]
pub struct Uart {
    base: usize,
}

impl Uart {
    /// The console of `virt` and of every VM.
    pub const CONSOLE: Self = Self {
        base: map::UART_BASE as usize,
    };

    /// A UART whose registers begin at `base`.
    ///
    /// # Safety
    ///
    /// There is a 16550 at this address, for as long as the value is used.
    pub const unsafe fn at(base: usize) -> Self {
        Self { base }
    }

    /// Sends a byte, and waits until the UART can take it.
    pub fn send(self, byte: u8) {
        while self.read(uart::LSR) & uart::LSR_TRANSMITTER_EMPTY == 0 {
            core::hint::spin_loop();
        }
        self.write(uart::DATA, byte);
    }

    /// The next received byte, if one is there.
    pub fn receive(self) -> Option<u8> {
        (self.read(uart::LSR) & uart::LSR_RECEIVED != 0).then(|| self.read(uart::DATA))
    }

    /// Sets which conditions interrupt, a sum of the `IER_` constants.
    pub fn enable_interrupts(self, conditions: u8) {
        self.write(uart::IER, conditions);
    }

    /// Reads the interrupt identification register, which clears the interrupt.
    pub fn interrupt_reason(self) -> u8 {
        self.read(uart::IIR_FCR)
    }

    /// Address of the interrupt enable register, for code that counts instructions.
    pub const fn interrupt_enable_address(self) -> usize {
        self.base + uart::IER as usize
    }

    fn read(self, register: u64) -> u8 {
        // SAFETY: there is a UART at the base (`at`, memory map), and the register is one of its eight.
        unsafe { ((self.base + register as usize) as *const u8).read_volatile() }
    }

    fn write(self, register: u64, value: u8) {
        // SAFETY: as `read`.
        unsafe { ((self.base + register as usize) as *mut u8).write_volatile(value) };
    }
}

impl fmt::Write for Uart {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.send(byte);
        }
        Ok(())
    }
}
