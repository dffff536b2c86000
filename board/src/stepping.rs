//! Running a board a little at a time: single instructions, and to a place.

use crate::board::{Board, Outcome};
use crate::time::Femtoseconds;

/// How often a hart is let continue for one instruction. More than once it needs to when it has to wait for the
/// instruction's fetch first.
const ATTEMPTS: usize = 16;

impl Board {
    /// Lets one hart do one thing while the others stand still: execute an instruction, take the exception that it
    /// raises, or take an interrupt that is due before it. A hart that waits is taken to the next moment at which its
    /// own timer or a device may wake it. Devices are woken up to where the hart has come.
    ///
    /// Stops at the hart's next instruction do not hold it. The outcome is [`Outcome::Condition`], or what ended the
    /// run: [`Outcome::Stop`], [`Outcome::Watchpoint`], or [`Outcome::Deadlock`] for a hart that waits and that only
    /// another hart can wake.
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
            self.handle_event();
        }
        if self.harts[hart].waiting {
            let (ready, event) = (self.ready_cycle(hart), self.next_event());
            if ready.min(event) == u64::MAX {
                return Outcome::Deadlock;
            }
            if event < ready {
                self.handle_event();
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
        self.machine.begin_turn(self.cycle(hart));
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
        if !self.machine.is_interrupt_due(hart) {
            return false;
        }
        hart.until = hart.cycle().saturating_add(1);
        self.machine.handle_attention(hart);
        true
    }

    fn after_step(&mut self) -> Outcome {
        self.machine.stopped_at = None;
        let watched = self.machine.watched_at.take();
        match (self.machine.stop.take(), watched) {
            (Some(stop), _) => Outcome::Stop(stop),
            (None, Some((hart, address, write))) => Outcome::Watchpoint {
                hart,
                address,
                write,
            },
            (None, None) => Outcome::Condition,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;
    use crate::setup;

    const BASE: u64 = 0x8000_0000;

    fn board(harts: usize, code: &[u32]) -> Board {
        let profile = Profile::named("mpsoc").expect("a profile");
        let options = setup::Options {
            harts: Some(harts),
            memory: Some(1 << 20),
            quantum: Some(7),
            ..Default::default()
        };
        let (mut board, _) = setup::board(&profile, &options, Vec::new()).expect("a board");
        board
            .write(
                BASE,
                &code
                    .iter()
                    .flat_map(|word| word.to_le_bytes())
                    .collect::<Vec<_>>(),
            )
            .expect("memory");
        (0..harts).for_each(|hart| board.set_pc(hart, BASE));
        board
    }

    /// addi a0, a0, 1; j .-4
    const COUNT: [u32; 2] = [0x0015_0513, 0xffdf_f06f];

    #[test]
    fn a_step_moves_one_hart_by_one_instruction() {
        let mut board = board(2, &COUNT);
        for step in 1..=9 {
            assert_eq!(board.step(1), Outcome::Condition);
            assert_eq!((board.cycle(1), board.instructions(1)), (step, step));
            assert_eq!((board.cycle(0), board.pc(0)), (0, BASE));
        }
        assert_eq!((board.x(1, 10), board.x(0, 10)), (5, 0));
    }

    #[test]
    fn a_step_takes_an_exception_even_one_that_leads_to_itself() {
        // mtvec is 0 where there is no memory: each fetch there faults and leads there again.
        let mut board = board(1, &[0x0000_0073]);
        assert_eq!(board.step(0), Outcome::Condition);
        assert_eq!(
            (board.pc(0), board.csr(0, 0x342), board.csr(0, 0x341)),
            (0, Some(11), Some(BASE))
        );
        for _ in 0..3 {
            assert_eq!(board.step(0), Outcome::Condition);
            assert_eq!(
                (board.pc(0), board.csr(0, 0x342), board.instructions(0)),
                (0, Some(1), 0)
            );
        }
    }

    #[test]
    fn a_step_takes_a_due_interrupt_before_an_instruction() {
        let mut board = board(1, &COUNT);
        // The software interrupt of the core-local interruptor, enabled, to a handler 256 bytes on.
        for (number, value) in [(0x305, BASE + 256), (0x304, 8), (0x300, 8)] {
            board.set_csr(0, number, value).expect("a CSR");
        }
        board
            .write(BASE + 256, &0x3020_0073_u32.to_le_bytes())
            .expect("memory");
        board.machine.wires[0] = 8;
        assert_eq!(board.step(0), Outcome::Condition);
        assert_eq!((board.pc(0), board.instructions(0)), (BASE + 256, 0));
        board.machine.wires[0] = 0;
        board.step(0);
        assert_eq!((board.pc(0), board.instructions(0)), (BASE, 1));
    }

    #[test]
    fn a_step_takes_a_waiting_hart_to_its_timer_and_not_to_others() {
        // wfi; nop
        let mut board = board(2, &[0x1050_0073, 0x13]);
        board.step(0);
        assert!(board.is_waiting(0));
        assert_eq!(board.step(0), Outcome::Deadlock);
        // stimecmp = 10 ticks, with menvcfg.STCE; mie.STIE.
        for (number, value) in [(0x30a, 1 << 63), (0x14d, 10), (0x304, 1 << 5)] {
            board.set_csr(0, number, value).expect("a CSR");
        }
        assert_eq!(board.step(0), Outcome::Condition);
        // A tick of 10 MHz is ten cycles of 100 MHz; then the instruction behind.
        assert_eq!(
            (board.cycle(0), board.pc(0), board.cycle(1)),
            (101, BASE + 8, 0)
        );
    }

    #[test]
    fn stepping_a_single_hart_is_running_it() {
        let mut one = board(1, &COUNT);
        let mut other = board(1, &COUNT);
        one.run(one.clock().time_of(100));
        (0..100).for_each(|_| assert_eq!(other.step(0), Outcome::Condition));
        assert_eq!(one.trace_hash(), other.trace_hash());
    }

    #[test]
    fn a_run_paused_anywhere_is_the_same_run() {
        for pace in [crate::board::Pace::Fast, crate::board::Pace::Timed] {
            for harts in [1, 3] {
                let mut whole = board(harts, &COUNT);
                whole.set_pace(pace);
                let end = whole.clock().time_of(5_000_000);
                assert_eq!(whole.run(end), Outcome::Limit);
                let mut pieces = board(harts, &COUNT);
                pieces.set_pace(pace);
                let mut asked = 0_u64;
                while pieces.run_until(end, |_| {
                    asked += 1;
                    asked.is_multiple_of(3)
                }) == Outcome::Condition
                {}
                assert!(asked > 3);
                assert_eq!(whole.trace_hash(), pieces.trace_hash());
            }
        }
    }

    #[test]
    fn a_stop_is_passed_once_and_stops_each_hart_each_time() {
        let mut board = board(2, &COUNT);
        board.stop_at(BASE);
        let mut seen = [0; 2];
        for _ in 0..20 {
            match board.run(Femtoseconds::SECOND) {
                Outcome::Breakpoint { hart, pc: BASE } => {
                    assert_eq!(board.x(hart, 10), seen[hart]);
                    seen[hart] += 1;
                }
                other => panic!("{other}"),
            }
        }
        assert!(seen[0] > 5 && seen[1] > 5);
    }
}
