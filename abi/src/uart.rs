//! Registers of the 16550 UART (National Semiconductor PC16550D data sheet, section "Registers") at byte offsets, and
//! their bits, as far as drivers use and models implement them.

/// Receiver buffer (read) and transmitter holding register (write); low divisor byte while [`LCR_DIVISOR`] is set.
pub const DATA: u64 = 0;
/// Interrupt enable; high divisor byte while [`LCR_DIVISOR`] is set.
pub const IER: u64 = 1;
/// Interrupt identification (read) and FIFO control (write).
pub const IIR_FCR: u64 = 2;
/// Line control.
pub const LCR: u64 = 3;
/// Modem control.
pub const MCR: u64 = 4;
/// Line status.
pub const LSR: u64 = 5;
/// Modem status.
pub const MSR: u64 = 6;
/// Scratch.
pub const SCR: u64 = 7;

/// A byte has been received.
pub const IER_RECEIVED: u8 = 1 << 0;
/// The transmitter can take a byte.
pub const IER_TRANSMITTER_EMPTY: u8 = 1 << 1;
/// Bits of IER that exist.
pub const IER_MASK: u8 = 0x0f;
/// No interrupt.
pub const IIR_NONE: u8 = 0x01;
/// The transmitter can take a byte; cleared by a read of IIR.
pub const IIR_TRANSMITTER_EMPTY: u8 = 0x02;
/// A byte has been received.
pub const IIR_RECEIVED: u8 = 0x04;
/// The FIFOs are on.
pub const IIR_FIFO: u8 = 0xc0;
/// Turns the FIFOs on.
pub const FCR_ENABLE: u8 = 1 << 0;
/// Empties the receiver's FIFO.
pub const FCR_CLEAR_RECEIVER: u8 = 1 << 1;
/// The first two registers are the divisor's.
pub const LCR_DIVISOR: u8 = 1 << 7;
/// Loopback: sent bytes are received, and do not reach the line.
pub const MCR_LOOP: u8 = 1 << 4;
/// Bits of MCR that exist.
pub const MCR_MASK: u8 = 0x1f;
/// A byte can be read.
pub const LSR_RECEIVED: u8 = 1 << 0;
/// The transmitter's FIFO is empty.
pub const LSR_TRANSMITTER_EMPTY: u8 = 1 << 5;
/// The transmitter is empty, its shift register included.
pub const LSR_TRANSMITTER_IDLE: u8 = 1 << 6;
