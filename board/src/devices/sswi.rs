//! Supervisor-level software interrupts: a store to a hart's register interrupts it at supervisor level, without its
//! machine level (RISC-V Advanced Core Local Interruptor specification 1.0-rc4, section 4: SSWI).

use super::state;
use crate::bus::{BadState, Device, Port, Refused};

/// `mip.SSIP`.
const SSIP: u64 = 1 << 1;

/// The device. It has no state: what it sets is in the hart.
#[derive(Clone, Copy, Debug)]
pub struct Sswi {
    harts: usize,
}

impl Sswi {
    /// A register for each of `harts` harts.
    #[must_use]
    pub const fn new(harts: usize) -> Self {
        Self { harts }
    }
}

impl Device for Sswi {
    fn read(&mut self, _offset: u64, size: u8, _port: &mut Port<'_>) -> Result<u64, Refused> {
        if size == 4 { Ok(0) } else { Err(Refused) }
    }

    fn write(
        &mut self,
        offset: u64,
        size: u8,
        value: u64,
        port: &mut Port<'_>,
    ) -> Result<(), Refused> {
        if size != 4 {
            return Err(Refused);
        }
        let hart = usize::try_from(offset / 4).map_err(|_| Refused)?;
        if hart < self.harts && value & 1 != 0 {
            port.wire(hart, SSIP, true);
        }
        Ok(())
    }

    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), BadState> {
        state::require(state.is_empty(), "sswi", "it has no state")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::testing::Bench;

    #[test]
    fn a_store_of_an_odd_word_interrupts_that_hart() {
        let mut bench = Bench::new();
        let mut sswi = Sswi::new(2);
        for (offset, value, wires) in [
            (0, 1, vec![(0, SSIP, true)]),
            (4, 3, vec![(1, SSIP, true)]),
            (4, 2, vec![]),
            (8, 1, vec![]),
        ] {
            let effects = bench.call(|port| assert_eq!(sswi.write(offset, 4, value, port), Ok(())));
            assert_eq!(effects.wires, wires, "{offset}: {value}");
        }
        bench.call(|port| {
            assert_eq!(sswi.read(0, 4, port), Ok(0));
            assert_eq!(sswi.read(0, 8, port), Err(Refused));
            assert_eq!(sswi.write(0, 8, 1, port), Err(Refused));
        });
    }
}
