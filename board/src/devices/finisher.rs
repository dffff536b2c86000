//! The finisher: a register by which software ends the run, as SiFive's test device.

use super::state;
use crate::bus::{BadState, Device, Port, Refused, Stop};

/// Written to the register's low half: success, power off.
const PASS: u64 = 0x5555;
/// Failure, with the code in the high half.
const FAIL: u64 = 0x3333;
/// Reset.
const RESET: u64 = 0x7777;

/// The finisher. It has no state.
#[derive(Clone, Copy, Debug, Default)]
pub struct Finisher;

impl Finisher {
    /// A finisher.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

impl Device for Finisher {
    fn read(&mut self, _offset: u64, size: u8, _port: &mut Port<'_>) -> Result<u64, Refused> {
        if matches!(size, 2 | 4) {
            Ok(0)
        } else {
            Err(Refused)
        }
    }

    fn write(
        &mut self,
        offset: u64,
        size: u8,
        value: u64,
        port: &mut Port<'_>,
    ) -> Result<(), Refused> {
        if !matches!(size, 2 | 4) {
            return Err(Refused);
        }
        if offset == 0 {
            match value & 0xffff {
                PASS => port.stop(Stop::PowerOff),
                FAIL => port.stop(Stop::Failure((value >> 16) as u16)),
                RESET => port.stop(Stop::Reset),
                // What else is written means nothing.
                _ => {}
            }
        }
        Ok(())
    }

    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), BadState> {
        state::require(state.is_empty(), "finisher", "it has no state")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::testing::Bench;

    #[test]
    fn each_word_ends_the_run_its_way() {
        let mut bench = Bench::new();
        let mut finisher = Finisher::new();
        for (value, size, stop) in [
            (0x5555, 4, Some(Stop::PowerOff)),
            (0x5555, 2, Some(Stop::PowerOff)),
            (0x7777, 4, Some(Stop::Reset)),
            (0x002a_3333, 4, Some(Stop::Failure(42))),
            (0x3333, 2, Some(Stop::Failure(0))),
            (0, 4, None),
            (0x1_0000, 4, None),
        ] {
            let effects =
                bench.call(|port| assert_eq!(finisher.write(0, size, value, port), Ok(())));
            assert_eq!(effects.stop, stop, "{value:#x}");
        }
    }

    #[test]
    fn other_registers_and_sizes_do_nothing() {
        let mut bench = Bench::new();
        let mut finisher = Finisher::new();
        let effects = bench.call(|port| {
            assert_eq!(finisher.write(4, 4, 0x5555, port), Ok(()));
            assert_eq!(finisher.write(0, 8, 0x5555, port), Err(Refused));
            assert_eq!(finisher.write(0, 1, 0x55, port), Err(Refused));
            assert_eq!(finisher.read(0, 4, port), Ok(0));
            assert_eq!(finisher.read(0, 1, port), Err(Refused));
        });
        assert_eq!(effects.stop, None);
    }
}
