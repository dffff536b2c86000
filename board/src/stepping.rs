//! Running a board a little at a time: single instructions, and to a place.

use crate::board::{Board, Outcome};
use crate::time::Femtoseconds;

/// How often a hart is let go on for one instruction. More than once it needs to when it has to wait for the
/// instruction's fetch first.
const ATTEMPTS: usize = 16;

impl Board {
    /// Lets one hart do one thing while the others stand still: execute an instruction, take the exception that it
    /// raises, or take an interrupt that is due before it. A hart that waits is taken to the next moment at which its
    /// own timer or a device may wake it. Devices are woken up to where the hart has come.
    ///
    /// Stops at the hart's next instruction do not hold it. The outcome is [`Outcome::Condition`], or what ended the
    /// run: [`Outcome::Stop`], or [`Outcome::Deadlock`] for a hart that waits and that only another hart can wake.
    ///
    /// ```
    /// # use tactus_board::board::Outcome;
    /// # let profile = tactus_board::profile::Profile::named("mpsoc").unwrap();
    /// # let (mut board, _) = tactus_board::setup::board(&profile, &Default::default(), Vec::new()).unwrap();
    /// # board.set_pc(0, 0x8000_0000);
    /// // addi a0, a0, 1
    /// board.write(0x8000_0000, &0x0015_0513_u32.to_le_bytes())?;
    /// assert_eq!(board.step(0), Outcome::Condition);
    /// assert_eq!((board.x(0, 10), board.pc(0), board.cycle(0)), (1, 0x8000_0004, 1));
    /// # Ok::<(), tactus_board::memory::NoMemory>(())
    /// ```
    ///
    /// # Panics
    ///
    /// When there is no such hart.
    pub fn step(&mut self, hart: usize) -> Outcome {
        while self.next_event() <= self.cycle(hart) {
            self.see_to_event();
        }
        if self.harts[hart].waiting {
            let (ready, event) = (self.ready_cycle(hart), self.next_event());
            if ready.min(event) == u64::MAX {
                return Outcome::Deadlock;
            }
            if event < ready {
                self.see_to_event();
                let hart = &mut self.harts[hart];
                if hart.waiting && hart.cycle() < event {
                    hart.set_cycle(event);
                }
                return self.after_step();
            }
            if ready > self.cycle(hart) {
                self.harts[hart].set_cycle(ready);
            }
        }
        if self.take_interrupt(hart) {
            return self.after_step();
        }
        let (pc, instructions) = (self.pc(hart), self.instructions(hart));
        self.machine.probes.pass(hart, pc, instructions);
        let traps = self.machine.trace.traps();
        for _ in 0..ATTEMPTS {
            let cycle = self.cycle(hart);
            self.run_hart(hart, cycle, cycle.saturating_add(1));
            // An exception counts no instruction, and may lead to where it came from.
            if self.instructions(hart) != instructions || self.machine.trace.traps() != traps {
                break;
            }
        }
        self.after_step()
    }

    /// The hart that goes on next: the one whose turn a stop interrupted, or the one furthest behind. `None`: all wait
    /// for what is not their own timer.
    #[must_use]
    pub fn next(&self) -> Option<usize> {
        if let Some((hart, _)) = self.interrupted_turn() {
            return Some(hart);
        }
        let (hart, cycle, _) = self.next_hart();
        (cycle != u64::MAX).then_some(hart)
    }

    /// Runs until a hart is about to execute at the virtual `address`, until `limit`, or until something ends the run
    /// before. From the place itself it goes on only if it has stopped there before.
    ///
    /// ```
    /// # use tactus_board::board::Outcome;
    /// # use tactus_board::time::Femtoseconds;
    /// # let profile = tactus_board::profile::Profile::named("mpsoc").unwrap();
    /// # let (mut board, _) = tactus_board::setup::board(&profile, &Default::default(), Vec::new()).unwrap();
    /// # board.set_pc(0, 0x8000_0000);
    /// // nop; nop; j .
    /// board.write(0x8000_0000, &[0x13_u32, 0x13, 0x6f].map(u32::to_le_bytes).concat())?;
    /// let outcome = board.run_to(0x8000_0008, Femtoseconds::SECOND);
    /// assert_eq!(outcome, Outcome::Breakpoint { hart: 0, pc: 0x8000_0008 });
    /// assert_eq!(board.instructions(0), 2);
    /// # Ok::<(), tactus_board::memory::NoMemory>(())
    /// ```
    pub fn run_to(&mut self, address: u64, limit: Femtoseconds) -> Outcome {
        let there = self.stops_at(address);
        self.stop_at(address);
        let outcome = self.run(limit);
        if !there {
            self.remove_stop(address);
        }
        outcome
    }

    /// Takes the interrupt that is due for a hart, if one is.
    fn take_interrupt(&mut self, index: usize) -> bool {
        let hart = &mut self.harts[index];
        let time = self.machine.ticks(hart.cycle());
        if hart.privileged.interrupt(self.machine.wires[index], time).is_none() {
            return false;
        }
        hart.until = hart.cycle().saturating_add(1);
        self.machine.attend(hart);
        true
    }

    fn after_step(&mut self) -> Outcome {
        self.machine.stopped_at = None;
        self.machine.stop.take().map_or(Outcome::Condition, Outcome::Stop)
    }
}
