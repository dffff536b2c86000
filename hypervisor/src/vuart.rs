//! A VM's virtual 16550 UART (National Semiconductor PC16550D data sheet), its console.
//!
//! The line is as fast as the console's buffer: a byte written is sent at once when there is
//! room, and "transmitter empty" is the presence of room. Modem lines are always up, errors never happen.

use crate::ring::Ring;
use tactus_abi::uart::*;

/// Bytes of input that wait for the guest, whose hardware's FIFO would have 16: what is typed or sent to a guest that
/// boots, or is behind, waits here. It is the VM's own and no more than this, and the line is never held for it: that
/// would let one guest that does not read keep the input of all others.
const INPUT: usize = 1024;

/// There is room: as if all that was written had been sent.
const LSR_EMPTY: u8 = LSR_TRANSMITTER_EMPTY | LSR_TRANSMITTER_IDLE;

/// The UART's state.
#[derive(Debug)]
pub struct Vuart {
    ier: u8,
    fcr: u8,
    lcr: u8,
    mcr: u8,
    scr: u8,
    divisor: [u8; 2],
    /// "Transmitter empty" has become true and has not been acknowledged.
    transmit_event: bool,
    input: Ring<INPUT>,
}

impl Default for Vuart {
    fn default() -> Self {
        Self::new()
    }
}

impl Vuart {
    /// A UART after reset.
    pub const fn new() -> Self {
        Self {
            ier: 0,
            fcr: 0,
            lcr: 0,
            mcr: 0,
            scr: 0,
            divisor: [0; 2],
            transmit_event: false,
            input: Ring::new(),
        }
    }

    /// Brings it into the state after reset, in place: a new one would be made on the stack and copied.
    pub fn reset(&mut self) {
        self.ier = 0;
        self.fcr = 0;
        self.lcr = 0;
        self.mcr = 0;
        self.scr = 0;
        self.divisor = [0; 2];
        self.transmit_event = false;
        self.input.clear();
    }

    /// A byte arrives from outside; `false`: the guest is behind and the byte is lost (an overrun).
    pub fn receive(&mut self, byte: u8) -> bool {
        self.input.push(byte)
    }

    /// Takes the oldest byte of input, as software below the guest's driver does.
    pub fn take_input(&mut self) -> Option<u8> {
        self.input.pop()
    }

    /// The interrupt line.
    pub const fn line(&self) -> bool {
        self.ier & IER_RECEIVED != 0 && !self.input.is_empty()
            || self.ier & IER_TRANSMITTER_EMPTY != 0 && self.transmit_event
    }

    /// There is room in the console's buffer again.
    pub const fn room(&mut self) {
        self.transmit_event = true;
    }

    /// Reads the register at `offset` (0..8). `room`: the console's buffer can take a byte.
    pub fn read(&mut self, offset: u64, room: bool) -> u8 {
        match offset {
            DATA if self.lcr & LCR_DIVISOR != 0 => self.divisor[0],
            DATA => self.input.pop().unwrap_or(0),
            IER if self.lcr & LCR_DIVISOR != 0 => self.divisor[1],
            IER => self.ier,
            IIR_FCR => {
                let fifo = if self.fcr & FCR_ENABLE != 0 {
                    IIR_FIFO
                } else {
                    0
                };
                fifo | self.interrupt_identification()
            }
            LCR => self.lcr,
            MCR => self.mcr,
            LSR => {
                let data = if self.input.is_empty() {
                    0
                } else {
                    LSR_RECEIVED
                };
                data | if room { LSR_EMPTY } else { 0 }
            }
            // Carrier, ready to send, data set ready; in loop-back what the guest set in MCR.
            MSR if self.mcr & MCR_LOOP != 0 => {
                let mcr = self.mcr;
                (mcr & 0x0c) << 4 | (mcr & 0x02) << 3 | (mcr & 0x01) << 5
            }
            MSR => 0xb0,
            SCR => self.scr,
            _ => 0,
        }
    }

    /// Writes the register at `offset` (0..8). Returns a byte that the guest sends. A byte sent while there is no
    /// `room` is lost, as on hardware when software does not ask LSR first.
    pub fn write(&mut self, offset: u64, value: u8, room: bool) -> Option<u8> {
        match offset {
            DATA if self.lcr & LCR_DIVISOR != 0 => self.divisor[0] = value,
            DATA if self.mcr & MCR_LOOP != 0 => {
                self.input.push(value);
            }
            DATA => {
                self.transmit_event = room;
                return room.then_some(value);
            }
            IER if self.lcr & LCR_DIVISOR != 0 => self.divisor[1] = value,
            IER => {
                let old = self.ier;
                self.ier = value & IER_MASK;
                // Enabling the transmitter's interrupt while it is empty interrupts at once.
                if self.ier & !old & IER_TRANSMITTER_EMPTY != 0 {
                    self.transmit_event = room;
                }
            }
            IIR_FCR => {
                self.fcr = value;
                if value & FCR_CLEAR_RECEIVER != 0 {
                    self.input.clear();
                }
            }
            LCR => self.lcr = value,
            MCR => self.mcr = value & MCR_MASK,
            SCR => self.scr = value,
            _ => {}
        }
        None
    }

    fn interrupt_identification(&mut self) -> u8 {
        if self.ier & IER_RECEIVED != 0 && !self.input.is_empty() {
            IIR_RECEIVED
        } else if self.ier & IER_TRANSMITTER_EMPTY != 0 && self.transmit_event {
            // Reading it acknowledges it.
            self.transmit_event = false;
            IIR_TRANSMITTER_EMPTY
        } else {
            IIR_NONE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reset_one_is_as_new() {
        let mut uart = Vuart::new();
        uart.receive(b'x');
        for (register, value) in [(IER, 0x0f), (IIR_FCR, 1), (LCR, 0x83), (MCR, 3), (SCR, 7)] {
            uart.write(register, value, true);
        }
        uart.write(DATA, 5, true);
        uart.reset();
        for register in 0..8 {
            let new = Vuart::new().read(register, true);
            assert_eq!(uart.read(register, true), new, "register {register}");
        }
        assert!(!uart.line());
    }

    #[test]
    fn transmit_interrupt_is_raised_by_enabling_and_acknowledged_by_iir() {
        let mut uart = Vuart::new();
        assert!(!uart.line());
        uart.write(IER, IER_TRANSMITTER_EMPTY, true);
        assert!(uart.line());
        assert_eq!(uart.read(IIR_FCR, true), IIR_TRANSMITTER_EMPTY);
        assert!(!uart.line());
        assert_eq!(uart.write(DATA, b'x', true), Some(b'x'));
        assert!(uart.line());
    }

    #[test]
    fn full_buffer_holds_the_transmitter_until_there_is_room() {
        let mut uart = Vuart::new();
        uart.write(IER, IER_TRANSMITTER_EMPTY, false);
        assert_eq!(uart.write(DATA, b'x', false), None);
        assert_eq!(uart.read(LSR, false) & LSR_EMPTY, 0);
        assert!(!uart.line());
        uart.room();
        assert!(uart.line());
    }

    #[test]
    fn input_is_read_in_order_and_interrupts_while_any_is_left() {
        let mut uart = Vuart::new();
        uart.write(IER, IER_RECEIVED, true);
        uart.receive(b'a');
        uart.receive(b'b');
        assert_eq!(uart.read(IIR_FCR, true), IIR_RECEIVED);
        assert_eq!(uart.read(DATA, true), b'a');
        assert!(uart.line());
        assert_eq!(uart.read(DATA, true), b'b');
        assert!(!uart.line());
        assert_eq!(uart.read(LSR, true), LSR_EMPTY);
    }

    #[test]
    fn what_arrives_before_the_guest_reads_is_kept() {
        let mut uart = Vuart::new();
        // A screen of 80 columns and 12 lines.
        let screen = (0..80 * 12).map(|i| i as u8);
        assert!(screen.clone().all(|byte| uart.receive(byte)));
        assert!(screen.into_iter().all(|byte| uart.read(DATA, true) == byte));
        assert_eq!(uart.read(LSR, true), LSR_EMPTY);
    }

    #[test]
    fn overrun_loses_the_newest_byte_only() {
        let mut uart = Vuart::new();
        for i in 0..INPUT {
            assert!(uart.receive(i as u8));
        }
        assert!(!uart.receive(0xff));
        assert!((0..INPUT).all(|i| uart.read(DATA, true) == i as u8));
    }

    #[test]
    fn divisor_and_loop_back_do_not_reach_the_line() {
        let mut uart = Vuart::new();
        uart.write(LCR, LCR_DIVISOR, true);
        assert_eq!(uart.write(DATA, 3, true), None);
        assert_eq!(uart.read(DATA, true), 3);
        uart.write(LCR, 3, true);
        uart.write(MCR, MCR_LOOP | 0x0a, true);
        assert_eq!(uart.read(MSR, true), 0x90);
        assert_eq!(uart.write(DATA, b'l', true), None);
        assert_eq!(uart.read(DATA, true), b'l');
    }
}
