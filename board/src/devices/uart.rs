//! The serial line: a 16550A (National Semiconductor PC16550D data sheet, section 8), byte registers at offsets 0 to 7.
//!
//! As on QEMU's `virt`, sending takes no time: the transmitter is empty again when the write returns. Input is
//! taken from the [`Console`] only while the receiver has room (up to the trigger level of the FIFO), so
//! nothing overruns but in loopback. The time-out of the receive FIFO is four characters at the rate set.

use super::console::Console;
use super::map::UART_CLOCK_HZ;
use super::state;
use crate::bus::{BadState, Device, Port, Refused};
use crate::time::Femtoseconds;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Bytes that the receive FIFO holds.
const FIFO: usize = 16;

/// Interrupt enable register (section 8.7).
mod ier {
    pub const RECEIVED: u8 = 1;
    pub const TRANSMIT_EMPTY: u8 = 2;
    pub const LINE_STATUS: u8 = 4;
    pub const MODEM_STATUS: u8 = 8;
    pub const ALL: u8 = 15;
}

/// Interrupt identification register (section 8.6), by priority.
mod iir {
    pub const LINE_STATUS: u8 = 6;
    pub const TIMEOUT: u8 = 12;
    pub const RECEIVED: u8 = 4;
    pub const TRANSMIT_EMPTY: u8 = 2;
    pub const MODEM_STATUS: u8 = 0;
    pub const NONE: u8 = 1;
    /// FIFOs are on.
    pub const FIFOS: u8 = 0xc0;
}

/// FIFO control register (section 8.5).
mod fcr {
    pub const ENABLE: u8 = 1;
    pub const CLEAR_RECEIVED: u8 = 2;
    pub const CLEAR_TRANSMIT: u8 = 4;
    /// The bits that are stored: enable, mode, trigger level.
    pub const KEPT: u8 = 0xc9;
}

/// Line control register (section 8.1).
mod lcr {
    pub const TWO_STOPS: u8 = 4;
    pub const PARITY: u8 = 8;
    pub const DIVISOR: u8 = 0x80;
}

/// Modem control register (section 8.8).
mod mcr {
    pub const DTR: u8 = 1;
    pub const RTS: u8 = 2;
    pub const OUT1: u8 = 4;
    pub const OUT2: u8 = 8;
    pub const LOOP: u8 = 16;
    pub const ALL: u8 = 31;
}

/// Line status register (section 8.4).
mod lsr {
    pub const READY: u8 = 1;
    pub const OVERRUN: u8 = 2;
    pub const BREAK: u8 = 16;
    pub const TRANSMIT_EMPTY: u8 = 0x20;
    pub const IDLE: u8 = 0x40;
    /// The conditions of the line status interrupt.
    pub const ERRORS: u8 = 0x1e;
}

/// Modem status register (section 8.9).
mod msr {
    pub const CTS: u8 = 0x10;
    pub const DSR: u8 = 0x20;
    pub const RI: u8 = 0x40;
    pub const DCD: u8 = 0x80;
    pub const CHANGES: u8 = 15;
}

/// One bit at a divisor of 1: 16 periods of the clock.
const BIT: u64 = 16 * Femtoseconds::SECOND.0 / UART_CLOCK_HZ as u64;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    ier: u8,
    fcr: u8,
    lcr: u8,
    mcr: u8,
    /// All but READY, which follows from what has been received.
    lsr: u8,
    msr: u8,
    scratch: u8,
    divisor: u16,
    /// Received and not read; one byte while FIFOs are off.
    received: VecDeque<u8>,
    /// The content of the holding register while FIFOs are off, also after a read.
    holding: u8,
    /// The transmitter became empty, and this has not been acknowledged.
    transmit_empty: bool,
    timeout: bool,
    timeout_at: Femtoseconds,
    input: Vec<(Femtoseconds, u8)>,
}

impl State {
    const fn new() -> Self {
        Self {
            ier: 0,
            fcr: 0,
            lcr: 0,
            mcr: mcr::OUT2,
            lsr: lsr::TRANSMIT_EMPTY | lsr::IDLE,
            msr: msr::DCD | msr::DSR | msr::CTS,
            scratch: 0,
            divisor: 12,
            received: VecDeque::new(),
            holding: 0,
            transmit_empty: false,
            timeout: false,
            timeout_at: Femtoseconds::NEVER,
            input: Vec::new(),
        }
    }
}

/// The serial line.
#[derive(Debug)]
pub struct Uart {
    line: u32,
    console: Console,
    state: State,
    /// Its last request.
    wake_at: Femtoseconds,
}

impl Uart {
    /// A serial line that interrupts on `line`, and its far end.
    #[must_use]
    pub fn new(line: u32) -> (Self, Console) {
        let console = Console::new();
        (Self::with(line, console.clone()), console)
    }

    /// A serial line that interrupts on `line`, whose far end is `console`.
    #[must_use]
    pub const fn with(line: u32, console: Console) -> Self {
        Self {
            line,
            console,
            state: State::new(),
            wake_at: Femtoseconds::NEVER,
        }
    }

    /// Resets its registers. Input that has not arrived is still to come.
    pub fn reset(&mut self, port: &mut Port<'_>) {
        self.state = State::new();
        self.wake(port);
    }

    const fn fifos(&self) -> bool {
        self.state.fcr & fcr::ENABLE != 0
    }

    /// How many bytes make the receiver interrupt.
    const fn trigger(&self) -> usize {
        match (self.fifos(), self.state.fcr >> 6) {
            (false, _) | (true, 0) => 1,
            (true, 1) => 4,
            (true, 2) => 8,
            _ => 14,
        }
    }

    /// The time that one character takes on the line.
    fn character(&self) -> Femtoseconds {
        let data = 5 + u64::from(self.state.lcr & 3);
        let parity = u64::from(self.state.lcr & lcr::PARITY != 0);
        let stops = 1 + u64::from(self.state.lcr & lcr::TWO_STOPS != 0);
        // A divisor of 0 is none; the line then keeps the highest rate.
        let divisor = u64::from(self.state.divisor.max(1));
        Femtoseconds(BIT * divisor * (1 + data + parity + stops))
    }

    fn line_status(&self) -> u8 {
        let ready = if self.state.received.is_empty() {
            0
        } else {
            lsr::READY
        };
        self.state.lsr | ready
    }

    /// The low bits of the identification register.
    fn identification(&self) -> u8 {
        let enabled = |interrupt| self.state.ier & interrupt != 0;
        if enabled(ier::LINE_STATUS) && self.state.lsr & lsr::ERRORS != 0 {
            iir::LINE_STATUS
        } else if enabled(ier::RECEIVED) && self.state.timeout {
            iir::TIMEOUT
        } else if enabled(ier::RECEIVED) && self.state.received.len() >= self.trigger() {
            iir::RECEIVED
        } else if enabled(ier::TRANSMIT_EMPTY) && self.state.transmit_empty {
            iir::TRANSMIT_EMPTY
        } else if enabled(ier::MODEM_STATUS) && self.state.msr & msr::CHANGES != 0 {
            iir::MODEM_STATUS
        } else {
            iir::NONE
        }
    }

    /// A byte has come in.
    fn receive(&mut self, byte: u8, now: Femtoseconds) {
        if self.fifos() {
            if self.state.received.len() < FIFO {
                self.state.received.push_back(byte);
            } else {
                self.state.lsr |= lsr::OVERRUN;
            }
            self.restart_timeout(now);
        } else {
            // The holding register is overwritten.
            if self.state.received.pop_front().is_some() {
                self.state.lsr |= lsr::OVERRUN;
            }
            self.state.received.push_back(byte);
            self.state.holding = byte;
        }
    }

    fn restart_timeout(&mut self, now: Femtoseconds) {
        let wait = Femtoseconds(4 * self.character().0);
        self.state.timeout_at = now.saturating_add(wait);
    }

    fn clear_received(&mut self) {
        self.state.received.clear();
        self.state.lsr &= !lsr::BREAK;
        self.state.timeout = false;
        self.state.timeout_at = Femtoseconds::NEVER;
    }

    fn takes_input(&self) -> bool {
        self.state.mcr & mcr::LOOP == 0 && self.state.received.len() < self.trigger()
    }

    /// Does what has become due.
    fn advance(&mut self, now: Femtoseconds) {
        if now >= self.state.timeout_at {
            self.state.timeout_at = Femtoseconds::NEVER;
            self.state.timeout = !self.state.received.is_empty();
        }
        self.take_input(now);
    }

    fn take_input(&mut self, now: Femtoseconds) {
        while self.takes_input() {
            let Some(byte) = self.console.get(now) else {
                break;
            };
            self.receive(byte, now);
        }
    }

    /// Drives the line, and asks for the next waking if that has changed.
    fn settle(&mut self, port: &mut Port<'_>) {
        port.interrupt(self.line, self.identification() != iir::NONE);
        let mut next = self.state.timeout_at;
        if self.takes_input() {
            next = next.min(self.console.next().unwrap_or(Femtoseconds::NEVER));
        }
        if next != self.wake_at {
            self.wake_at = next;
            port.wake_at(next);
        }
    }

    fn read_received(&mut self, now: Femtoseconds) -> u8 {
        let received = self.state.received.pop_front();
        let byte = if self.fifos() {
            received.unwrap_or(0)
        } else {
            self.state.holding
        };
        if self.fifos() {
            self.state.timeout = false;
            if self.state.received.is_empty() {
                self.state.timeout_at = Femtoseconds::NEVER;
            } else {
                self.restart_timeout(now);
            }
        }
        if self.state.received.is_empty() {
            self.state.lsr &= !lsr::BREAK;
        }
        self.take_input(now);
        byte
    }

    fn transmit(&mut self, byte: u8, now: Femtoseconds) {
        if self.state.mcr & mcr::LOOP != 0 {
            self.receive(byte, now);
        } else {
            self.console.put(&[byte]);
        }
        // It is empty again at once.
        self.state.transmit_empty = true;
    }

    fn write_ier(&mut self, value: u8) {
        let changed = (self.state.ier ^ value) & ier::ALL;
        self.state.ier = value & ier::ALL;
        // Turned on while the transmitter is empty, this interrupt comes at once, even where it was seen before:
        // drivers start sending by that.
        if changed & ier::TRANSMIT_EMPTY != 0 {
            self.state.transmit_empty = self.state.ier & ier::TRANSMIT_EMPTY != 0;
        }
    }

    fn write_fcr(&mut self, value: u8) {
        let switched = (self.state.fcr ^ value) & fcr::ENABLE != 0;
        if switched || value & fcr::CLEAR_RECEIVED != 0 {
            self.clear_received();
        }
        if switched || value & fcr::CLEAR_TRANSMIT != 0 {
            self.state.transmit_empty = true;
        }
        self.state.fcr = value & fcr::KEPT;
    }

    /// In loopback, the outputs are the inputs (section 8.8).
    fn modem_status(&mut self) -> u8 {
        let outputs = self.state.mcr;
        if outputs & mcr::LOOP == 0 {
            let status = self.state.msr;
            self.state.msr &= !msr::CHANGES;
            return status;
        }
        let pairs = [
            (mcr::DTR, msr::DSR),
            (mcr::RTS, msr::CTS),
            (mcr::OUT1, msr::RI),
            (mcr::OUT2, msr::DCD),
        ];
        let wired = |status, &(output, input): &(u8, u8)| {
            if outputs & output != 0 {
                status | input
            } else {
                status
            }
        };
        pairs.iter().fold(0, wired)
    }
}

impl Device for Uart {
    fn read(&mut self, offset: u64, _size: u8, port: &mut Port<'_>) -> Result<u64, Refused> {
        if offset > 7 {
            return Err(Refused);
        }
        let now = port.now();
        self.advance(now);
        let divisor = self.state.lcr & lcr::DIVISOR != 0;
        let value = match offset {
            0 if divisor => self.state.divisor as u8,
            1 if divisor => (self.state.divisor >> 8) as u8,
            0 => self.read_received(now),
            1 => self.state.ier,
            2 => {
                let identification = self.identification();
                if identification == iir::TRANSMIT_EMPTY {
                    self.state.transmit_empty = false;
                }
                identification | if self.fifos() { iir::FIFOS } else { 0 }
            }
            3 => self.state.lcr,
            4 => self.state.mcr,
            5 => {
                let status = self.line_status();
                self.state.lsr &= !lsr::ERRORS;
                status
            }
            6 => self.modem_status(),
            _ => self.state.scratch,
        };
        self.settle(port);
        Ok(value.into())
    }

    fn write(
        &mut self,
        offset: u64,
        _size: u8,
        value: u64,
        port: &mut Port<'_>,
    ) -> Result<(), Refused> {
        if offset > 7 {
            return Err(Refused);
        }
        let now = port.now();
        let value = value as u8;
        self.advance(now);
        let divisor = self.state.lcr & lcr::DIVISOR != 0;
        match offset {
            0 if divisor => self.state.divisor = self.state.divisor & 0xff00 | u16::from(value),
            1 if divisor => self.state.divisor = self.state.divisor & 0xff | u16::from(value) << 8,
            0 => self.transmit(value, now),
            1 => self.write_ier(value),
            2 => self.write_fcr(value),
            3 => self.state.lcr = value,
            4 => self.state.mcr = value & mcr::ALL,
            7 => self.state.scratch = value,
            // The status registers cannot be written.
            _ => {}
        }
        // There may be room now.
        self.take_input(now);
        self.settle(port);
        Ok(())
    }

    fn wake(&mut self, port: &mut Port<'_>) {
        self.advance(port.now());
        // The waking that was asked for is over; the next one is asked for in any case.
        self.wake_at = Femtoseconds::NEVER;
        port.wake_at(Femtoseconds::NEVER);
        self.settle(port);
    }

    fn save(&self) -> Vec<u8> {
        let input = self.console.input();
        state::save(&State {
            input,
            ..self.state.clone()
        })
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), BadState> {
        let mut new: State = state::restore("uart", bytes)?;
        let room = if new.fcr & fcr::ENABLE != 0 { FIFO } else { 1 };
        let good = new.received.len() <= room
            && new.ier <= ier::ALL
            && new.mcr <= mcr::ALL
            && new.fcr & !fcr::KEPT == 0
            && new.lsr & lsr::READY == 0;
        state::require(good, "uart", "its registers hold what they cannot")?;
        self.console.set_input(std::mem::take(&mut new.input));
        self.state = new;
        self.wake_at = Femtoseconds::NEVER;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::testing::Bench;
    use proptest::prelude::*;

    struct Line {
        bench: Bench,
        uart: Uart,
        console: Console,
    }

    impl Line {
        fn new() -> Self {
            let (uart, console) = Uart::new(10);
            let bench = Bench::new();
            Self {
                bench,
                uart,
                console,
            }
        }

        fn write(&mut self, register: u64, value: u8) {
            let uart = &mut self.uart;
            self.bench
                .call(|port| assert_eq!(uart.write(register, 1, value.into(), port), Ok(())));
        }

        fn read(&mut self, register: u64) -> u8 {
            let (uart, mut value) = (&mut self.uart, Err(Refused));
            self.bench.call(|port| value = uart.read(register, 1, port));
            value.expect("a register") as u8
        }

        fn wake(&mut self) {
            let uart = &mut self.uart;
            self.bench.call(|port| uart.wake(port));
        }

        fn interrupt(&self) -> bool {
            self.bench.line(10)
        }
    }

    #[test]
    fn registers_after_reset() {
        let mut line = Line::new();
        let values: Vec<u8> = (0..8).map(|register| line.read(register)).collect();
        assert_eq!(values, [0, 0, 1, 0, 8, 0x60, 0xb0, 0]);
        assert!(!line.interrupt());
    }

    #[test]
    fn registers_keep_what_they_hold() {
        let mut line = Line::new();
        for (register, written, kept) in [
            (1, 0xff, 0x0f),
            (3, 0x7f, 0x7f),
            (4, 0xef, 0x0f),
            (7, 0xa5, 0xa5),
        ] {
            line.write(register, written);
            assert_eq!(line.read(register), kept);
        }
        line.write(3, 0x83);
        line.write(0, 0x34);
        line.write(1, 0x12);
        assert_eq!((line.read(0), line.read(1)), (0x34, 0x12));
        line.write(3, 3);
        assert_eq!(line.read(1), 0x0f);
        // The divisor was not sent.
        assert_eq!(line.console.take_output(), b"");
    }

    #[test]
    fn registers_repeat_nowhere() {
        let mut line = Line::new();
        let (uart, bench) = (&mut line.uart, &mut line.bench);
        bench.call(|port| {
            assert_eq!(uart.read(8, 1, port), Err(Refused));
            assert_eq!(uart.write(8, 1, 0, port), Err(Refused));
        });
    }

    #[test]
    fn what_is_written_is_sent_at_once() {
        let mut line = Line::new();
        for &byte in b"hello" {
            line.write(0, byte);
            assert_eq!(line.read(5), 0x60);
        }
        assert_eq!(line.console.take_output(), b"hello");
    }

    #[test]
    fn the_transmitter_interrupts_until_it_is_identified() {
        let mut line = Line::new();
        line.write(1, ier::TRANSMIT_EMPTY);
        assert!(line.interrupt());
        assert_eq!(line.read(2), 2);
        assert!(!line.interrupt());
        assert_eq!(line.read(2), 1);
        // Sending makes it empty again.
        line.write(0, b'x');
        assert!(line.interrupt());
        // So does enabling it again, and only a change counts.
        assert_eq!(line.read(2), 2);
        line.write(1, ier::TRANSMIT_EMPTY);
        assert!(!line.interrupt());
        line.write(1, 0);
        line.write(1, ier::TRANSMIT_EMPTY);
        assert!(line.interrupt());
    }

    #[test]
    fn a_byte_without_fifos() {
        let mut line = Line::new();
        line.write(1, ier::RECEIVED);
        line.console.send(b"ab");
        line.wake();
        assert!(line.interrupt());
        assert_eq!(line.read(2), 4);
        assert_eq!(line.read(5), 0x61);
        assert_eq!(line.read(0), b'a');
        // The next one waited for room.
        assert_eq!(line.read(0), b'b');
        assert!(!line.interrupt());
        assert_eq!(line.read(5), 0x60);
        assert_eq!(line.read(0), b'b');
    }

    #[test]
    fn the_fifo_interrupts_at_its_trigger_level_and_after_a_while() {
        let mut line = Line::new();
        line.write(3, 0x83);
        line.write(0, 2);
        line.write(1, 0);
        line.write(3, 3);
        line.write(2, 0x41);
        line.write(1, ier::RECEIVED);
        let arrival = Femtoseconds(1000);
        line.console.send_at(arrival, b"abcde");
        line.wake();
        assert_eq!(line.bench.wake_at, arrival);
        line.bench.now = arrival;
        line.wake();
        assert!(line.interrupt());
        assert_eq!(line.read(2), 0xc4);
        assert_eq!(line.read(0), b'a');
        // The fifth byte took the place of the first.
        assert_eq!(line.read(2), 0xc4);
        assert_eq!(line.read(0), b'b');
        assert_eq!(line.read(2), 0xc1);
        assert!(!line.interrupt());
        // Four characters of ten bits at 115200 baud: 347 microseconds.
        let wait = line.bench.wake_at - arrival;
        assert_eq!(wait.0 / 1_000_000_000, 347);
        line.bench.now = line.bench.wake_at;
        line.wake();
        assert!(line.interrupt());
        assert_eq!(line.read(2), 0xcc);
        let rest: Vec<u8> = (0..4).map(|_| line.read(0)).collect();
        assert_eq!(rest, b"cde\0");
        assert!(!line.interrupt());
        assert_eq!(line.bench.wake_at, Femtoseconds::NEVER);
    }

    #[test]
    fn switching_fifos_clears_them() {
        let mut line = Line::new();
        line.write(2, 0xc1);
        line.console.send(b"abc");
        line.wake();
        assert_eq!(line.read(5) & 1, 1);
        line.write(2, 0xc3);
        assert_eq!(line.read(5) & 1, 0);
        line.write(2, 0);
        assert_eq!(line.read(2), 1);
    }

    #[test]
    fn loopback_receives_what_is_sent_and_may_overrun() {
        let mut line = Line::new();
        line.write(2, 1);
        line.write(4, mcr::LOOP | mcr::RTS | mcr::OUT1);
        assert_eq!(line.read(6), 0x50);
        line.write(4, mcr::LOOP | mcr::DTR | mcr::OUT2);
        assert_eq!(line.read(6), 0xa0);
        line.console.send(b"outside");
        line.write(1, ier::LINE_STATUS);
        for byte in 0..17 {
            line.write(0, byte);
        }
        assert!(line.interrupt());
        assert_eq!(line.read(2), 0xc6);
        assert_eq!(line.read(5), 0x63);
        assert_eq!(line.read(5), 0x61);
        assert!(!line.interrupt());
        let received: Vec<u8> = (0..16).map(|_| line.read(0)).collect();
        assert_eq!(received, Vec::from_iter(0..16));
        assert_eq!(line.console.take_output(), b"");
        // Out of loopback, the outside is heard.
        line.write(4, 0);
        assert_eq!(line.read(0), b'o');
    }

    #[test]
    fn reset_leaves_the_far_end_as_it_is() {
        let mut line = Line::new();
        line.write(2, 0xc1);
        line.write(1, ier::TRANSMIT_EMPTY);
        line.write(0, b'x');
        line.console.send_at(Femtoseconds(70), b"later");
        assert!(line.interrupt());
        let uart = &mut line.uart;
        line.bench.call(|port| uart.reset(port));
        assert!(!line.interrupt());
        assert_eq!(line.bench.wake_at, Femtoseconds(70));
        assert_eq!(line.read(2), 1);
        assert_eq!(line.console.waiting(), 5);
        assert_eq!(line.console.take_output(), b"x");
    }

    #[test]
    fn a_state_comes_back_with_the_input_that_waits() {
        let mut line = Line::new();
        line.write(2, 0xc1);
        line.write(7, 77);
        line.console.send_at(Femtoseconds(50), b"later");
        let saved = line.uart.save();
        let mut other = Line::new();
        assert_eq!(other.uart.restore(&saved), Ok(()));
        assert_eq!(other.uart.save(), saved);
        other.wake();
        assert_eq!(other.bench.wake_at, Femtoseconds(50));
        assert!(other.uart.restore(&saved[1..]).is_err());
        assert!(other.uart.restore(&[0xff; 64]).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Whatever software does: the line is high exactly while an interrupt is identified, and a state that
        /// was saved is one that can be taken back.
        #[test]
        fn the_line_says_what_the_register_says(
            accesses in prop::collection::vec((0..8u64, any::<u8>(), 0..3u8, 0..200u64), 1..200)
        ) {
            let mut line = Line::new();
            for (register, value, kind, later) in accesses {
                line.bench.now += Femtoseconds(later * 1_000_000_000);
                match kind {
                    0 => line.write(register, value),
                    1 => { line.read(register); }
                    _ => {
                        line.console.send_at(Femtoseconds(line.bench.now.0 + u64::from(value)), &[value; 3]);
                        line.wake();
                    }
                }
                let before = line.interrupt();
                let identified = line.read(2) & 15;
                prop_assert_eq!(before, identified != 1);
                prop_assert!(line.uart.state.received.len() <= FIFO);
                let saved = line.uart.save();
                prop_assert_eq!(line.uart.restore(&saved), Ok(()));
            }
        }

        /// A driver that reads whenever it is interrupted gets every byte, in order, and sleeps otherwise.
        #[test]
        fn nothing_is_lost(
            trigger in 0..4u8,
            bytes in prop::collection::vec((any::<u8>(), 0..400_000u64), 1..100),
        ) {
            let mut line = Line::new();
            line.write(2, trigger << 6 | 1);
            line.write(1, ier::RECEIVED);
            let mut time = 0;
            for &(byte, later) in &bytes {
                time += later * 1_000_000;
                line.console.send_at(Femtoseconds(time), &[byte]);
            }
            let mut received = Vec::new();
            line.wake();
            loop {
                while line.interrupt() {
                    received.push(line.read(0));
                }
                if line.bench.wake_at == Femtoseconds::NEVER {
                    break;
                }
                prop_assert!(line.bench.wake_at > line.bench.now);
                line.bench.now = line.bench.wake_at;
                line.wake();
            }
            let sent: Vec<u8> = bytes.iter().map(|&(byte, _)| byte).collect();
            prop_assert_eq!(received, sent);
        }
    }
}
