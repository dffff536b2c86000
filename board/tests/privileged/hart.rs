//! A hart under test: its privileged state, and the signals that a board would drive.

use tactus_board::privileged::number as csr;
use tactus_board::privileged::{
    Counters, CsrOperation, Effects, Event, Exception, Mode, Privileged, Trap,
};

/// All modes, M first.
pub const MODES: [Mode; 5] = [
    Mode::MACHINE,
    Mode::SUPERVISOR,
    Mode::USER,
    Mode::VIRTUAL_SUPERVISOR,
    Mode::VIRTUAL_USER,
];

/// The instruction bits of the tests' accesses.
pub const BITS: u32 = 0x1234_5673;

pub struct Hart {
    pub state: Privileged,
    pub cycle: u64,
    pub instructions: u64,
    pub time: u64,
    pub events: [u64; Event::COUNT],
    pub wires: u64,
}

impl Hart {
    pub fn new() -> Self {
        Self {
            state: Privileged::new(0),
            cycle: 0,
            instructions: 0,
            time: 0,
            events: [0; Event::COUNT],
            wires: 0,
        }
    }

    /// A hart in `mode`, which may access all counters and comparators.
    pub fn open(mode: Mode) -> Self {
        let mut hart = Self::new();
        for enable in [csr::MCOUNTEREN, csr::SCOUNTEREN, csr::HCOUNTEREN] {
            hart.poke(enable, u64::MAX);
        }
        hart.poke(csr::MENVCFG, u64::MAX);
        hart.poke(csr::HENVCFG, u64::MAX);
        hart.poke(csr::STIMECMP, u64::MAX);
        hart.poke(csr::VSTIMECMP, u64::MAX);
        hart.poke(csr::MSTATUS, 1 << 13);
        hart.poke(csr::VSSTATUS, 1 << 13);
        hart.state.mode = mode;
        hart
    }

    fn counters(&self) -> Counters<'_> {
        Counters {
            cycle: self.cycle,
            instructions: self.instructions,
            time: self.time,
            events: &self.events,
        }
    }

    pub fn access(
        &mut self,
        number: u16,
        write: Option<(CsrOperation, u64)>,
    ) -> Result<(u64, Effects), Trap> {
        let counters = Counters {
            cycle: self.cycle,
            instructions: self.instructions,
            time: self.time,
            events: &self.events,
        };
        self.state.csr(number, write, BITS, &counters, self.wires)
    }

    /// `csrr` in the current mode.
    pub fn read(&mut self, number: u16) -> Result<u64, Exception> {
        self.access(number, None)
            .map(|(value, _)| value)
            .map_err(cause)
    }

    /// `csrw` in the current mode.
    pub fn write(&mut self, number: u16, value: u64) -> Result<Effects, Exception> {
        self.access(number, Some((CsrOperation::Write, value)))
            .map(|(_, effects)| effects)
            .map_err(cause)
    }

    /// The value of a CSR, in any mode.
    pub fn peek(&self, number: u16) -> u64 {
        self.state
            .peek(number, &self.counters(), self.wires)
            .expect("a CSR that exists")
    }

    /// Writes a CSR, in any mode.
    pub fn poke(&mut self, number: u16, value: u64) {
        let counters = Counters {
            cycle: self.cycle,
            instructions: self.instructions,
            time: self.time,
            events: &self.events,
        };
        self.state
            .poke(number, value, &counters)
            .expect("a CSR that can be written");
    }

    /// Writes a CSR and reads it back.
    pub fn stored(&mut self, number: u16, value: u64) -> u64 {
        self.poke(number, value);
        self.peek(number)
    }
}

/// A trap of a CSR access reports the instruction, and nothing else.
fn cause(trap: Trap) -> Exception {
    assert_eq!(
        (trap.value, trap.value2, trap.instruction),
        (u64::from(BITS), 0, 0)
    );
    assert!(!trap.guest_address);
    trap.cause
}
