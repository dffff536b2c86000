//! The real-time clock: Android's Goldfish RTC, as Linux's `rtc-goldfish` and QEMU's `virt` know it.
//!
//! It counts nanoseconds since 1970-01-01T00:00:00Z. The date at which a run starts is the board's to choose; from
//! then on virtual time passes.

use super::state;
use crate::bus::{BadState, Device, Port, Refused};
use crate::time::Femtoseconds;
use serde::{Deserialize, Serialize};

const NANOSECOND: u64 = Femtoseconds::SECOND.0 / 1_000_000_000;

/// Reading the low half keeps the high half of the same moment for the read that follows.
const TIME_LOW: u64 = 0x00;
const TIME_HIGH: u64 = 0x04;
/// Writing the low half sets the alarm; the high half is written before.
const ALARM_LOW: u64 = 0x08;
const ALARM_HIGH: u64 = 0x0c;
const INTERRUPT_ENABLE: u64 = 0x10;
const CLEAR_ALARM: u64 = 0x14;
const ALARM_STATUS: u64 = 0x18;
const CLEAR_INTERRUPT: u64 = 0x1c;
/// Where its registers end.
const END: u64 = 0x24;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    /// The date at time 0, in nanoseconds, modulo 2^64.
    origin: u64,
    high: u32,
    alarm: u64,
    /// When the alarm that is set comes, in nanoseconds of virtual time. Setting the date does not move it.
    due: Option<u64>,
    pending: bool,
    enabled: bool,
}

/// The real-time clock.
#[derive(Clone, Debug)]
pub struct Rtc {
    line: u32,
    state: State,
}

impl Rtc {
    /// Where runs start unless told otherwise: 2026-01-01T00:00:00Z, in seconds since 1970.
    pub const START: u64 = 1_767_225_600;

    /// A clock that interrupts on `line`, and shows `start` (seconds since 1970) at time 0.
    #[must_use]
    pub const fn new(line: u32, start: u64) -> Self {
        let state = State {
            origin: start.wrapping_mul(1_000_000_000),
            high: 0,
            alarm: 0,
            due: None,
            pending: false,
            enabled: false,
        };
        Self { line, state }
    }

    /// Resets its alarm and interrupt. The date continues.
    pub fn reset(&mut self, port: &mut Port<'_>) {
        let origin = self.state.origin;
        self.state = Self::new(self.line, 0).state;
        self.state.origin = origin;
        self.update(port);
    }

    const fn date(&self, now: Femtoseconds) -> u64 {
        self.state.origin.wrapping_add(now.0 / NANOSECOND)
    }

    /// Lets an alarm come that is due, and asks to be woken for one that is not.
    fn update(&mut self, port: &mut Port<'_>) {
        if self
            .state
            .due
            .is_some_and(|due| due <= port.now().0 / NANOSECOND)
        {
            self.state.due = None;
            self.state.pending = true;
        }
        let next = self.state.due.map_or(Femtoseconds::NEVER, |due| {
            Femtoseconds(due.saturating_mul(NANOSECOND))
        });
        port.interrupt(self.line, self.state.pending && self.state.enabled);
        port.wake_at(next);
    }

    const fn set_date(&mut self, now: Femtoseconds, date: u64) {
        let change = date.wrapping_sub(self.date(now));
        self.state.origin = self.state.origin.wrapping_add(change);
    }
}

const fn with_low(value: u64, low: u64) -> u64 {
    value & !0xffff_ffff | low & 0xffff_ffff
}

const fn with_high(value: u64, high: u64) -> u64 {
    value & 0xffff_ffff | high << 32
}

impl Device for Rtc {
    fn read(&mut self, offset: u64, size: u8, port: &mut Port<'_>) -> Result<u64, Refused> {
        if size != 4 || offset >= END {
            return Err(Refused);
        }
        Ok(match offset {
            TIME_LOW => {
                let date = self.date(port.now());
                self.state.high = (date >> 32) as u32;
                date & 0xffff_ffff
            }
            TIME_HIGH => self.state.high.into(),
            ALARM_LOW => self.state.alarm & 0xffff_ffff,
            ALARM_HIGH => self.state.alarm >> 32,
            INTERRUPT_ENABLE => self.state.enabled.into(),
            ALARM_STATUS => self.state.due.is_some().into(),
            _ => 0,
        })
    }

    fn write(
        &mut self,
        offset: u64,
        size: u8,
        value: u64,
        port: &mut Port<'_>,
    ) -> Result<(), Refused> {
        if size != 4 || offset >= END {
            return Err(Refused);
        }
        let now = port.now();
        match offset {
            TIME_LOW => self.set_date(now, with_low(self.date(now), value)),
            TIME_HIGH => self.set_date(now, with_high(self.date(now), value)),
            ALARM_LOW => {
                self.state.alarm = with_low(self.state.alarm, value);
                // One of the past comes at once.
                let wait = self.state.alarm.saturating_sub(self.date(now));
                self.state.due = Some((now.0 / NANOSECOND).saturating_add(wait));
            }
            ALARM_HIGH => self.state.alarm = with_high(self.state.alarm, value),
            INTERRUPT_ENABLE => self.state.enabled = value & 1 != 0,
            CLEAR_ALARM => self.state.due = None,
            CLEAR_INTERRUPT => self.state.pending = false,
            _ => {}
        }
        self.update(port);
        Ok(())
    }

    fn wake(&mut self, port: &mut Port<'_>) {
        self.update(port);
    }

    fn save(&self) -> Vec<u8> {
        state::save(&self.state)
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), BadState> {
        self.state = state::restore("rtc", bytes)?;
        Ok(())
    }

    /// It has a battery, by which the date goes on.
    fn lose_power(&mut self, at_power_on: &[u8]) -> Result<(), BadState> {
        let origin = self.state.origin;
        self.restore(at_power_on)?;
        self.state.origin = origin;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::testing::Bench;
    use proptest::prelude::*;

    fn write(bench: &mut Bench, rtc: &mut Rtc, offset: u64, value: u64) {
        bench.call(|port| assert_eq!(rtc.write(offset, 4, value, port), Ok(())));
    }

    fn read(bench: &mut Bench, rtc: &mut Rtc, offset: u64) -> u64 {
        let mut value = Err(Refused);
        bench.call(|port| value = rtc.read(offset, 4, port));
        value.expect("a register")
    }

    fn date(bench: &mut Bench, rtc: &mut Rtc) -> u64 {
        read(bench, rtc, TIME_LOW) | read(bench, rtc, TIME_HIGH) << 32
    }

    #[test]
    fn the_date_is_the_start_and_virtual_time() {
        let mut bench = Bench::new();
        let mut rtc = Rtc::new(11, Rtc::START);
        assert_eq!(date(&mut bench, &mut rtc), Rtc::START * 1_000_000_000);
        bench.now = Femtoseconds(2_999_999);
        assert_eq!(date(&mut bench, &mut rtc), Rtc::START * 1_000_000_000 + 2);
        // As Linux sets it: high, then low.
        write(&mut bench, &mut rtc, TIME_HIGH, 1);
        write(&mut bench, &mut rtc, TIME_LOW, 7);
        assert_eq!(date(&mut bench, &mut rtc), 1 << 32 | 7);
    }

    #[test]
    fn an_alarm_is_raised_at_its_time() {
        let mut bench = Bench::new();
        let mut rtc = Rtc::new(11, Rtc::START);
        let alarm = Rtc::START * 1_000_000_000 + 5000;
        write(&mut bench, &mut rtc, ALARM_HIGH, alarm >> 32);
        assert_eq!(read(&mut bench, &mut rtc, ALARM_STATUS), 0);
        write(&mut bench, &mut rtc, ALARM_LOW, alarm & 0xffff_ffff);
        assert_eq!(read(&mut bench, &mut rtc, ALARM_STATUS), 1);
        write(&mut bench, &mut rtc, INTERRUPT_ENABLE, 1);
        assert_eq!(bench.wake_at, Femtoseconds(5000 * NANOSECOND));
        bench.now = Femtoseconds(bench.wake_at.0 - 1);
        bench.call(|port| rtc.wake(port));
        assert!(!bench.line(11));
        bench.now = bench.wake_at;
        bench.call(|port| rtc.wake(port));
        assert!(bench.line(11));
        assert_eq!(read(&mut bench, &mut rtc, ALARM_STATUS), 0);
        assert_eq!(bench.wake_at, Femtoseconds::NEVER);
        write(&mut bench, &mut rtc, CLEAR_INTERRUPT, 1);
        assert!(!bench.line(11));
    }

    #[test]
    fn an_alarm_can_be_withdrawn_and_one_of_the_past_is_raised_at_once() {
        let mut bench = Bench::new();
        let mut rtc = Rtc::new(11, Rtc::START);
        write(&mut bench, &mut rtc, ALARM_HIGH, u64::from(u32::MAX));
        write(&mut bench, &mut rtc, ALARM_LOW, u64::from(u32::MAX));
        assert_eq!(bench.wake_at, Femtoseconds::NEVER);
        write(&mut bench, &mut rtc, CLEAR_ALARM, 0);
        assert_eq!(read(&mut bench, &mut rtc, ALARM_STATUS), 0);
        write(&mut bench, &mut rtc, ALARM_HIGH, 0);
        write(&mut bench, &mut rtc, ALARM_LOW, 1);
        assert!(!bench.line(11));
        write(&mut bench, &mut rtc, INTERRUPT_ENABLE, 1);
        assert!(bench.line(11));
    }

    #[test]
    fn reset_keeps_the_date() {
        let mut bench = Bench::new();
        let mut rtc = Rtc::new(11, Rtc::START);
        write(&mut bench, &mut rtc, ALARM_LOW, 1);
        write(&mut bench, &mut rtc, INTERRUPT_ENABLE, 1);
        assert!(bench.line(11));
        bench.call(|port| rtc.reset(port));
        assert!(!bench.line(11));
        assert_eq!(read(&mut bench, &mut rtc, INTERRUPT_ENABLE), 0);
        assert_eq!(date(&mut bench, &mut rtc), Rtc::START * 1_000_000_000);
    }

    #[test]
    fn only_words_within_its_registers() {
        let mut bench = Bench::new();
        let mut rtc = Rtc::new(11, Rtc::START);
        bench.call(|port| {
            for (offset, size) in [(0, 8), (0, 2), (END, 4)] {
                assert_eq!(rtc.read(offset, size, port), Err(Refused));
                assert_eq!(rtc.write(offset, size, 0, port), Err(Refused));
            }
        });
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn it_never_sleeps_through_an_alarm(
            accesses in prop::collection::vec((0..8u64, any::<u32>(), 0..10_000_000_000u64), 1..60)
        ) {
            let mut bench = Bench::new();
            let mut rtc = Rtc::new(11, 0);
            for (register, value, later) in accesses {
                bench.now += Femtoseconds(later);
                if bench.wake_at <= bench.now {
                    bench.call(|port| rtc.wake(port));
                }
                write(&mut bench, &mut rtc, register * 4, value.into());
                let due = rtc.state.due.map(|due| Femtoseconds(due.saturating_mul(NANOSECOND)));
                prop_assert_eq!(bench.wake_at, due.unwrap_or(Femtoseconds::NEVER));
                prop_assert!(bench.wake_at > bench.now);
                prop_assert_eq!(bench.line(11), rtc.state.pending && rtc.state.enabled);
                let mut other = Rtc::new(11, 1);
                prop_assert_eq!(other.restore(&rtc.save()), Ok(()));
                prop_assert_eq!(&other.state, &rtc.state);
            }
        }
    }
}
