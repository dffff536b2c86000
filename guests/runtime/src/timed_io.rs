//! Timed I/O (`docs/src/reference/timed-io.md`): programs that change and read the VM's pins on exact cycles of the fabric.

use tactus_registers::Memory;
use tactus_registers::timed_io::TimedIo as Registers;

use crate::devicetree;

/// Words of the program memory.
pub const WORDS: usize = 64;
/// Cycles within which a schedule is made where nothing comes between: from reading the time to writing the last register.
pub const AHEAD: u64 = 2_000;

/// Cycles after which what a run had to report can be read: two rounds through four VMs, of 10 cycles each, and some.
const REPORTED: u64 = 100;

/// Why there is no schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It would be late; that is reported too.
    Late,
    /// One is there already.
    Scheduled,
    /// The period is too short.
    Short,
}

/// Why something was not done on its cycle, and so not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The schedule was made too late.
    LateSchedule,
    /// An `until` was over.
    LateCommand,
    /// A line without a pin was to be written.
    NoPin,
    /// The run before was still under way.
    Overrun,
    /// There was no room for a sample.
    NoRoom,
    /// The program has no end.
    NoEnd,
    /// One that this driver does not know.
    Unknown(u8),
}

/// An engine.
pub struct TimedIo {
    registers: Registers<'static>,
    lines: u32,
}

impl TimedIo {
    /// The VM's; `None`: it has none. What was asked of it before is ended; the I/O manager is waited for, which gives the pins, and all lines are low
    /// then.
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

    /// Stores words of a program from a place of the memory on, as `tactus timed-io assemble` prints them.
    ///
    /// # Panics
    ///
    /// They are more than there is room for.
    pub fn store(&self, from: usize, words: &[u32]) {
        for (place, word) in (from..).zip(words) {
            self.registers.program().index(place).write(*word);
        }
    }

    /// Has the program that begins at the word `entry` run at `start`, and then so many times in all each `period` cycles; 0 runs: without end.
    ///
    /// # Errors
    ///
    /// There is no such schedule.
    pub fn run(&self, entry: u8, start: u64, period: u32, runs: u32) -> Result<(), Refusal> {
        let registers = &self.registers;
        // Its registers are nobody's to write then.
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

    /// Whether a run is under way, or is to come.
    pub fn is_busy(&self) -> bool {
        let status = self.registers.status().read();
        status.scheduled() || status.armed() || status.running()
    }

    /// Waits until no run is under way or to come, and all reports are there.
    pub fn await_end(&self) {
        while self.is_busy() {
            core::hint::spin_loop();
        }
        let over = self.now();
        while self.now() < over + REPORTED {
            core::hint::spin_loop();
        }
    }

    /// Ends the schedule; the run under way, too, if it is to `stop`. Lines stay as they are.
    pub fn cancel(&self, stop: bool) {
        self.registers.cancel().write(|r| r.set_stop(stop));
    }

    /// The oldest sample: the lines' levels.
    pub fn sample(&self) -> Option<u8> {
        let sample = self.registers.sample().read();
        sample.valid().then(|| sample.lines())
    }

    /// Takes the oldest report: what was not done, and the cycle.
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
