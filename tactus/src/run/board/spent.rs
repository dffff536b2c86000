//! What cycles below the guests go into.

use std::fmt;

use tactus_board::timing::Stalls;
use tactus_board::trace::{Event, EventKind};

use super::Worker;

/// Cycles of a hart, by what they went into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Instructions that run, control and status registers and what depends on an earlier result with them.
    pub running: u64,
    /// Waiting for instructions.
    pub fetch: u64,
    /// Waiting for loads.
    pub load: u64,
    /// Waiting for stores, atomics and fences.
    pub store: u64,
    /// Branches that went another way than expected.
    pub branch: u64,
    /// Looking for translations.
    pub translation: u64,
    /// Waiting for devices.
    pub device: u64,
    /// The firmware, whatever it does.
    pub firmware: u64,
}

impl Spent {
    /// The cycles, each under its name.
    pub const fn parts(&self) -> [(&'static str, u64); 8] {
        [
            ("running", self.running),
            ("fetches", self.fetch),
            ("loads", self.load),
            ("stores", self.store),
            ("branches", self.branch),
            ("translation", self.translation),
            ("devices", self.device),
            ("firmware", self.firmware),
        ]
    }

    /// What was spent since `earlier`.
    #[must_use]
    pub const fn since(&self, earlier: &Self) -> Self {
        Self {
            running: self.running.saturating_sub(earlier.running),
            fetch: self.fetch.saturating_sub(earlier.fetch),
            load: self.load.saturating_sub(earlier.load),
            store: self.store.saturating_sub(earlier.store),
            branch: self.branch.saturating_sub(earlier.branch),
            translation: self.translation.saturating_sub(earlier.translation),
            device: self.device.saturating_sub(earlier.device),
            firmware: self.firmware.saturating_sub(earlier.firmware),
        }
    }
}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = self.parts().into_iter().filter(|(_, cycles)| *cycles != 0);
        let Some((name, cycles)) = parts.next() else {
            return f.write_str("nothing");
        };
        write!(f, "{name} {cycles}")?;
        parts.try_for_each(|(name, cycles)| write!(f, ", {name} {cycles}"))
    }
}

/// What a hart has spent so far.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    /// At the last event.
    cycle: u64,
    stalls: Stalls,
    in_firmware: bool,
    spent: Spent,
}

impl Meter {
    /// Takes the hart's next event, and gives what it has spent up to it. Cycles of a hart never go back.
    pub fn read(&mut self, event: &Event) -> Spent {
        let cycles = event.cycle.saturating_sub(self.cycle);
        let (now, before) = (event.stalls, self.stalls);
        (self.cycle, self.stalls) = (event.cycle, now);
        let spent = &mut self.spent;
        if self.in_firmware {
            spent.firmware += cycles;
        } else {
            let mut stalled = 0;
            let mut add = |part: &mut u64, now: u32, before: u32| {
                // An event may be told with the stalls of a later one of the same cycle.
                let stall = u64::from(now.wrapping_sub(before).cast_signed().max(0).unsigned_abs());
                *part += stall;
                stalled += stall;
            };
            add(&mut spent.fetch, now.fetch, before.fetch);
            add(&mut spent.load, now.load, before.load);
            add(&mut spent.store, now.store, before.store);
            add(&mut spent.branch, now.branch, before.branch);
            add(&mut spent.translation, now.translation, before.translation);
            add(&mut spent.device, now.device, before.device);
            spent.running += cycles.saturating_sub(stalled);
        }
        if let EventKind::Turn(doing) = event.kind {
            self.in_firmware = Worker::of(doing, 0) == Worker::Firmware;
        }
        self.spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tactus_board::account::Doing;
    use tactus_board::privileged::Privilege;
    use tactus_board::timing::Lines;

    #[test]
    fn cycles_are_told_apart() {
        let running = |privilege| {
            EventKind::Turn(Doing::Running {
                guest: None,
                privilege,
            })
        };
        let mut meter = Meter::default();
        let mut read = |cycle, fetch, load, kind| {
            meter.read(&Event {
                cycle,
                hart: 0,
                stalls: Stalls {
                    fetch,
                    load,
                    ..Stalls::default()
                },
                lines: Lines::default(),
                kind,
            })
        };
        // The counters wrap.
        let begin = read(100, u32::MAX - 9, 7, running(Privilege::Supervisor));
        read(200, 20, 27, running(Privilege::Machine));
        read(300, 70, 57, running(Privilege::Supervisor));
        let spent = read(350, 80, 57, running(Privilege::Supervisor)).since(&begin);
        let wanted = Spent {
            running: 50 + 40,
            fetch: 30 + 10,
            load: 20,
            firmware: 100,
            ..Spent::default()
        };
        assert_eq!(spent, wanted);
        assert_eq!(
            spent.to_string(),
            "running 90, fetches 40, loads 20, firmware 100"
        );
        assert_eq!(spent.since(&spent).to_string(), "nothing");
    }
}
