//! Timed I/O (`docs/src/reference/timed-io.md`): programs that change and sample the VM's pins on exact cycles of the
//! fabric.

use tactus_registers::Memory;
use tactus_registers::timed_io::TimedIo as Registers;

use crate::devicetree;

/// Words of the program memory.
pub const WORDS: usize = 64;
/// Most cycles to program a schedule without interruption: from reading the time to writing the last register.
pub const AHEAD: u64 = 2_000;

/// Cycles after a run until its reports can be read: two rounds through four VMs, of 10 cycles each, and a margin.
const REPORTED: u64 = 100;

/// Why a schedule was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It would be late; the engine reports that, too.
    Late,
    /// A schedule is active.
    Scheduled,
    /// The period is too short.
    Short,
}

/// Why an action did not take place on its cycle, and was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The schedule was made too late.
    LateSchedule,
    /// The time of an `until` had passed.
    LateCommand,
    /// A write to a line without a pin.
    NoPin,
    /// The previous run was still in progress.
    Overrun,
    /// The sample buffer was full.
    NoRoom,
    /// The program has no end.
    NoEnd,
    /// A cause unknown to this driver.
    Unknown(u8),
}

/// An engine.
pub struct TimedIo {
    registers: Registers<'static>,
    lines: u32,
}

impl TimedIo {
    /// The VM's engine; `None`: it has none. Earlier schedules are cancelled. Waits for the I/O manager to assign the
    /// pins; all lines are low then.
    pub fn find() -> Option<Self> {
        let page = devicetree::page("tactus,timed-io", 0)?;
        let timed = Self {
            // SAFETY: the devicetree is the system's own description of what it gives the VM.
            registers: unsafe { Registers::from_ptr(page.registers as *mut ()) },
            lines: page.cells("tactus,lines").map_or(0, |[lines]| lines),
        };
        if timed.registers.id().read().kind() != 0x5449 {
            return None;
        }
        timed.registers.cancel().write(|r| {
            r.set_stop(true);
            r.set_clear(true);
        });
        // Each line low, and the end.
        timed.store(0, &[0x1_0000 | timed.lines << 8, 0]);
        loop {
            while timed.take_report().is_some() {}
            let start = timed.now() + AHEAD;
            if timed.run(0, start, 0, 1).is_err() {
                continue;
            }
            timed.await_end();
            if timed.take_report().is_none() {
                return Some(timed);
            }
        }
    }

    /// The lines that have pins, a bit each.
    pub const fn lines(&self) -> u32 {
        self.lines
    }

    /// The time: cycles of the fabric since reset, the same for all VMs.
    pub fn now(&self) -> u64 {
        self.registers.now().read().cycle()
    }

    /// Stores words of a program from index `from` on, as `tactus timed-io assemble` prints them.
    ///
    /// # Panics
    ///
    /// When the words exceed the program memory.
    pub fn store(&self, from: usize, words: &[u32]) {
        for (place, word) in (from..).zip(words) {
            self.registers.program().index(place).write(*word);
        }
    }

    /// Schedules the program at word `entry`: at `start`, and then every `period` cycles, `runs` times in all; 0:
    /// without end.
    ///
    /// # Errors
    ///
    /// The schedule was refused.
    pub fn run(&self, entry: u8, start: u64, period: u32, runs: u32) -> Result<(), Refusal> {
        let registers = &self.registers;
        // The registers must not be written then.
        let status = registers.status().read();
        if status.scheduled() || status.armed() {
            return Err(Refusal::Scheduled);
        }
        registers.start().write(|r| r.set_cycle(start));
        registers.period().write(|r| r.set_cycles(period));
        registers.runs().write(|r| r.set_count(runs));
        registers.run().write(|r| r.set_entry(entry));
        match registers.status().read().answer() {
            0 => Ok(()),
            1 => Err(Refusal::Late),
            2 => Err(Refusal::Scheduled),
            _ => Err(Refusal::Short),
        }
    }

    /// Whether a run is in progress or scheduled.
    pub fn is_busy(&self) -> bool {
        let status = self.registers.status().read();
        status.scheduled() || status.armed() || status.running()
    }

    /// Waits until no run is in progress or scheduled, and all reports are available.
    pub fn await_end(&self) {
        while self.is_busy() {
            core::hint::spin_loop();
        }
        let over = self.now();
        while self.now() < over + REPORTED {
            core::hint::spin_loop();
        }
    }

    /// Cancels the schedule, with `stop` also the run in progress. Lines keep their levels.
    pub fn cancel(&self, stop: bool) {
        self.registers.cancel().write(|r| r.set_stop(stop));
    }

    /// The oldest sample: the lines' levels.
    pub fn sample(&self) -> Option<u8> {
        let sample = self.registers.sample().read();
        sample.valid().then(|| sample.lines())
    }

    /// Removes the oldest report: the cause of the dropped action, and its cycle.
    pub fn take_report(&self) -> Option<(Cause, u64)> {
        let report = self.registers.report().read();
        if !report.valid() {
            return None;
        }
        let time = self.registers.report_time().read().cycle();
        self.registers.report().write(|r| r.set_valid(true));
        let cause = match report.cause() {
            1 => Cause::LateSchedule,
            2 => Cause::LateCommand,
            3 => Cause::NoPin,
            4 => Cause::Overrun,
            5 => Cause::NoRoom,
            6 => Cause::NoEnd,
            other => Cause::Unknown(other),
        };
        Some((cause, time))
    }
}
