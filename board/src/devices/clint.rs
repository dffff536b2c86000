//! The core-local interruptor: the board's time, each hart's timer and software interrupt.
//!
//! Registers as SiFive's CLINT and the RISC-V Advanced Core Local Interruptor specification 1.0-rc4 have them (MSWI,
//! section 3; MTIMER, section 2). Where that leaves open what happens, it is what QEMU's `virt` does: registers of
//! harts that do not exist read as zero, and `mtimecmp` is zero after reset, so that a timer interrupt is pending
//! until software writes it.

use super::state;
use crate::bus::{BadState, Device, Port, Refused};
use crate::time::{Clock, Femtoseconds};
use serde::{Deserialize, Serialize};

/// `mip.MSIP`.
const MSIP: u64 = 1 << 3;
/// `mip.MTIP`.
const MTIP: u64 = 1 << 7;

/// `mtimecmp` of hart 0; below it are the `msip` registers, four bytes each.
const COMPARE: u64 = 0x4000;
/// `mtime`.
const TIME: u64 = 0xbff8;
/// Where the registers end.
const END: u64 = 0xc000;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Hart {
    software: bool,
    compare: u64,
    /// Whether its timer's wire is high.
    due: bool,
}

impl Hart {
    const fn new() -> Self {
        Self {
            software: false,
            compare: 0,
            due: false,
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    timebase: u64,
    /// The offset of `mtime` to the cycles since reset, modulo 2^64, set by writes.
    offset: u64,
    harts: Vec<Hart>,
}

/// The core-local interruptor.
#[derive(Clone, Debug)]
pub struct Clint {
    clock: Clock,
    /// Whose registers the first of the harts has.
    first: usize,
    state: State,
}

impl Clint {
    /// Timers and software interrupts for `harts` harts, with a time that counts `timebase` ticks a second (1 to
    /// 10^15).
    ///
    /// # Panics
    ///
    /// When there is no such timebase.
    #[must_use]
    pub fn new(harts: usize, timebase: u64) -> Self {
        Self {
            clock: Clock::from_hertz(timebase),
            first: 0,
            state: State {
                timebase,
                offset: 0,
                harts: vec![Hart::new(); harts],
            },
        }
    }

    /// The same whose first hart has the registers of number `first`; those of harts below it are not there.
    #[must_use]
    pub const fn from_hart(mut self, first: usize) -> Self {
        self.first = first;
        self
    }

    /// Resets it: the time is 0 from now on, as on `virt`, and no hart is interrupted by software.
    pub fn reset(&mut self, port: &mut Port<'_>) {
        for (index, hart) in self.state.harts.iter_mut().enumerate() {
            port.wire(index, MSIP | MTIP, false);
            *hart = Hart::new();
        }
        let cycles = self.clock.cycle_at(port.now());
        self.state.offset = 0u64.wrapping_sub(cycles);
        self.update(port);
    }

    /// The time: `mtime`, and the `time` CSR. It changes with `now` and with writes of `mtime` alone.
    #[must_use]
    pub const fn time(&self, now: Femtoseconds) -> u64 {
        self.clock.cycle_at(now).wrapping_add(self.state.offset)
    }

    /// The first moment from `now` on at which the time is `value` or more. What waits for such a moment has to ask
    /// again when [`offset`](Self::offset) has changed.
    #[must_use]
    pub const fn when(&self, now: Femtoseconds, value: u64) -> Femtoseconds {
        let time = self.time(now);
        if time >= value {
            return now;
        }
        self.after(now, value - time)
    }

    /// The offset of `mtime` to the ticks since reset, modulo 2^64, set by writes.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.state.offset
    }

    /// When the tick that is `ticks` after the one under way begins.
    const fn after(&self, now: Femtoseconds, ticks: u64) -> Femtoseconds {
        self.clock
            .time_of(self.clock.cycle_at(now).saturating_add(ticks))
    }

    /// Drives the timers' wires as the time demands, and asks to be woken when the next one changes.
    fn update(&mut self, port: &mut Port<'_>) {
        let now = port.now();
        let time = self.time(now);
        let mut next: Option<u64> = None;
        for (index, hart) in self.state.harts.iter_mut().enumerate() {
            let due = time >= hart.compare;
            if due != hart.due {
                hart.due = due;
                port.wire(index, MTIP, due);
            }
            // One that is due stays so until the time wraps.
            let ticks = if due {
                0u64.wrapping_sub(time)
            } else {
                hart.compare - time
            };
            // A time of 0 wraps after 2^64 ticks, which is never.
            if ticks != 0 {
                next = Some(next.map_or(ticks, |next| next.min(ticks)));
            }
        }
        port.wake_at(next.map_or(Femtoseconds::NEVER, |ticks| self.after(now, ticks)));
    }

    fn hart_of(&self, offset: u64, base: u64, stride: u64) -> Option<usize> {
        let number = usize::try_from(offset.checked_sub(base)? / stride).ok()?;
        let index = number.checked_sub(self.first)?;
        (index < self.state.harts.len()).then_some(index)
    }
}

/// The part of a register of 64 bits that an access of `size` bytes at `offset` reads.
const fn part(value: u64, offset: u64, size: u8) -> u64 {
    if size == 8 {
        value
    } else {
        value >> ((offset & 4) * 8) & 0xffff_ffff
    }
}

/// The register after a write of `size` bytes at `offset`.
const fn patched(old: u64, offset: u64, size: u8, value: u64) -> u64 {
    if size == 8 {
        return value;
    }
    let shift = (offset & 4) * 8;
    old & !(0xffff_ffff << shift) | (value & 0xffff_ffff) << shift
}

/// Software interrupts are accessed in 4 bytes, all else in 4 or 8.
const fn check(offset: u64, size: u8) -> Result<(), Refused> {
    if offset < END && (size == 4 || size == 8 && offset >= COMPARE) {
        Ok(())
    } else {
        Err(Refused)
    }
}

impl Device for Clint {
    fn read(&mut self, offset: u64, size: u8, port: &mut Port<'_>) -> Result<u64, Refused> {
        check(offset, size)?;
        if offset < COMPARE {
            let hart = self.hart_of(offset, 0, 4);
            return Ok(hart.map_or(0, |hart| self.state.harts[hart].software.into()));
        }
        if offset & !7 == TIME {
            return Ok(part(self.time(port.now()), offset, size));
        }
        let hart = self.hart_of(offset, COMPARE, 8);
        Ok(hart.map_or(0, |hart| part(self.state.harts[hart].compare, offset, size)))
    }

    fn write(
        &mut self,
        offset: u64,
        size: u8,
        value: u64,
        port: &mut Port<'_>,
    ) -> Result<(), Refused> {
        check(offset, size)?;
        if offset < COMPARE {
            if let Some(index) = self.hart_of(offset, 0, 4) {
                let level = value & 1 != 0;
                if std::mem::replace(&mut self.state.harts[index].software, level) != level {
                    port.wire(index, MSIP, level);
                }
            }
            return Ok(());
        }
        if offset & !7 == TIME {
            let time = self.time(port.now());
            let change = patched(time, offset, size, value).wrapping_sub(time);
            self.state.offset = self.state.offset.wrapping_add(change);
        } else if let Some(hart) = self.hart_of(offset, COMPARE, 8) {
            let compare = &mut self.state.harts[hart].compare;
            *compare = patched(*compare, offset, size, value);
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
        let new: State = state::restore("clint", bytes)?;
        let same = new.harts.len() == self.state.harts.len() && new.timebase == self.state.timebase;
        state::require(same, "clint", "it is of other harts or another timebase")?;
        self.state = new;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::testing::Bench;
    use proptest::prelude::*;

    const HERTZ: u64 = 10_000_000;
    /// One tick.
    const TICK: u64 = Femtoseconds::SECOND.0 / HERTZ;

    fn write(bench: &mut Bench, clint: &mut Clint, offset: u64, size: u8, value: u64) {
        bench.call(|port| assert_eq!(clint.write(offset, size, value, port), Ok(())));
    }

    fn read(bench: &mut Bench, clint: &mut Clint, offset: u64, size: u8) -> u64 {
        let mut value = Err(Refused);
        bench.call(|port| value = clint.read(offset, size, port));
        value.expect("a register")
    }

    #[test]
    fn after_reset_all_timers_are_due_as_on_virt() {
        let mut bench = Bench::new();
        let mut clint = Clint::new(2, HERTZ);
        bench.call(|port| clint.wake(port));
        assert_eq!((bench.mip(0), bench.mip(1)), (MTIP, MTIP));
        assert_eq!(read(&mut bench, &mut clint, 0x4000, 8), 0);
    }

    #[test]
    fn a_software_interrupt_is_bit_0_of_its_register() {
        let mut bench = Bench::new();
        let mut clint = Clint::new(2, HERTZ);
        write(&mut bench, &mut clint, 4, 4, 0xffff_ffff);
        assert_eq!((bench.mip(0), bench.mip(1)), (0, MSIP));
        assert_eq!(read(&mut bench, &mut clint, 4, 4), 1);
        assert_eq!(read(&mut bench, &mut clint, 0, 4), 0);
        write(&mut bench, &mut clint, 4, 4, 0xfffe);
        assert_eq!(bench.mip(1), 0);
        // A hart that does not exist.
        write(&mut bench, &mut clint, 8, 4, 1);
        assert_eq!(read(&mut bench, &mut clint, 8, 4), 0);
    }

    #[test]
    fn sizes_that_virt_refuses_are_refused() {
        let mut bench = Bench::new();
        let mut clint = Clint::new(1, HERTZ);
        bench.call(|port| {
            for (offset, size) in [(0, 8), (0, 1), (0x4000, 2), (0xbff8, 1), (0xc000, 4)] {
                assert_eq!(clint.read(offset, size, port), Err(Refused));
                assert_eq!(clint.write(offset, size, 0, port), Err(Refused));
            }
        });
    }

    #[test]
    fn time_counts_ticks_and_can_be_set_in_halves() {
        let mut bench = Bench::new();
        let mut clint = Clint::new(1, HERTZ);
        bench.now = Femtoseconds(5 * TICK - 1);
        assert_eq!(read(&mut bench, &mut clint, 0xbff8, 8), 4);
        bench.now = Femtoseconds(5 * TICK);
        assert_eq!(read(&mut bench, &mut clint, 0xbff8, 8), 5);
        write(&mut bench, &mut clint, 0xbffc, 4, 7);
        assert_eq!(read(&mut bench, &mut clint, 0xbff8, 8), 7 << 32 | 5);
        write(&mut bench, &mut clint, 0xbff8, 4, 1);
        assert_eq!(read(&mut bench, &mut clint, 0xbff8, 8), 7 << 32 | 1);
        assert_eq!(read(&mut bench, &mut clint, 0xbffc, 4), 7);
        bench.now = Femtoseconds(6 * TICK);
        assert_eq!(clint.time(bench.now), 7 << 32 | 2);
    }

    #[test]
    fn it_is_woken_for_the_earliest_timer_and_then_for_the_next() {
        let mut bench = Bench::new();
        let mut clint = Clint::new(3, HERTZ);
        write(&mut bench, &mut clint, 0x4000, 8, 300);
        write(&mut bench, &mut clint, 0x4008, 8, 100);
        write(&mut bench, &mut clint, 0x4010, 8, u64::MAX);
        assert_eq!(bench.wake_at, Femtoseconds(100 * TICK));
        assert_eq!((bench.mip(0), bench.mip(1), bench.mip(2)), (0, 0, 0));
        bench.now = bench.wake_at;
        bench.call(|port| clint.wake(port));
        assert_eq!((bench.mip(0), bench.mip(1), bench.mip(2)), (0, MTIP, 0));
        assert_eq!(bench.wake_at, Femtoseconds(300 * TICK));
        // Halves, as RV32 software writes them.
        write(&mut bench, &mut clint, 0x400c, 4, 1);
        assert_eq!(bench.mip(1), 0);
        assert_eq!(read(&mut bench, &mut clint, 0x4008, 8), 1 << 32 | 100);
    }

    #[test]
    fn setting_the_time_moves_timers() {
        let mut bench = Bench::new();
        let mut clint = Clint::new(1, HERTZ);
        write(&mut bench, &mut clint, 0x4000, 8, 1000);
        write(&mut bench, &mut clint, 0xbff8, 8, 990);
        assert_eq!(bench.wake_at, Femtoseconds(10 * TICK));
        assert_eq!(clint.when(bench.now, 1000), bench.wake_at);
        write(&mut bench, &mut clint, 0xbff8, 8, 1000);
        assert_eq!(bench.mip(0), MTIP);
        // Close to the end, the time wraps and the timer is no longer due.
        write(&mut bench, &mut clint, 0xbff8, 8, u64::MAX);
        assert_eq!(bench.wake_at, Femtoseconds(TICK));
        bench.now = bench.wake_at;
        bench.call(|port| clint.wake(port));
        assert_eq!(bench.mip(0), 0);
    }

    #[test]
    fn reset_restarts_time() {
        let mut bench = Bench::new();
        let mut clint = Clint::new(2, HERTZ);
        bench.now = Femtoseconds(7 * TICK);
        write(&mut bench, &mut clint, 0, 4, 1);
        write(&mut bench, &mut clint, 0x4008, 8, 1000);
        bench.call(|port| clint.reset(port));
        assert_eq!((bench.mip(0), bench.mip(1)), (MTIP, MTIP));
        assert_eq!(read(&mut bench, &mut clint, 0, 4), 0);
        bench.now = Femtoseconds(9 * TICK);
        assert_eq!(read(&mut bench, &mut clint, 0xbff8, 8), 2);
    }

    #[test]
    fn a_state_of_another_geometry_is_refused() {
        let mut clint = Clint::new(2, HERTZ);
        assert!(clint.restore(&Clint::new(3, HERTZ).save()).is_err());
        assert!(clint.restore(&Clint::new(2, HERTZ + 1).save()).is_err());
        assert!(clint.restore(&[]).is_err());
        let mut long = clint.save();
        assert_eq!(clint.restore(&long), Ok(()));
        long.push(0);
        assert!(clint.restore(&long).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Whatever is written and whenever: the wires are what the registers say, and no change is slept through.
        #[test]
        fn wires_follow_registers(accesses in prop::collection::vec(
            (0..4u64, prop_oneof![0..3000u64, any::<u64>()], 0..200 * TICK, any::<bool>()), 1..40)
        ) {
            let mut bench = Bench::new();
            let mut clint = Clint::new(2, HERTZ);
            bench.call(|port| clint.wake(port));
            for (register, value, later, half) in accesses {
                let end = bench.now + Femtoseconds(later);
                while bench.wake_at <= end {
                    // Just before, nothing has changed.
                    let before = Femtoseconds(bench.wake_at.0.max(1) - 1).max(bench.now);
                    for hart in 0..2 {
                        let compare = clint.state.harts[hart].compare;
                        prop_assert_eq!(bench.mip(hart) == MTIP, clint.time(before) >= compare);
                    }
                    bench.now = bench.wake_at;
                    bench.call(|port| clint.wake(port));
                    prop_assert!(bench.wake_at > bench.now);
                }
                bench.now = end;
                let offset = [0x4000, 0x4008, 0xbff8, 0xbff8][register as usize];
                if half {
                    write(&mut bench, &mut clint, offset + register % 2 * 4, 4, value & 0xffff_ffff);
                } else {
                    write(&mut bench, &mut clint, offset, 8, value);
                    prop_assert_eq!(read(&mut bench, &mut clint, offset, 8), value);
                }
                for hart in 0..2 {
                    let compare = clint.state.harts[hart].compare;
                    prop_assert_eq!(bench.mip(hart) == MTIP, clint.time(bench.now) >= compare);
                }
                let saved = clint.save();
                let mut other = Clint::new(2, HERTZ);
                prop_assert_eq!(other.restore(&saved), Ok(()));
                prop_assert_eq!(other.save(), saved);
            }
        }
    }
}
