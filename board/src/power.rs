//! The supply: what a board was when it got power, and what is left when the supply has failed.
//!
//! Harts, caches and devices are reset, and memory has what was loaded. All other pages that were written have any
//! bits: software must not rely on what DRAM still has, or on zeros. The fabric's flash and the real-time clock, which
//! has a battery, keep what they have.

use crate::board::Board;
use crate::machine::Part;
use crate::random::Random;
use crate::snapshot::{State, power_up};
use crate::time::Femtoseconds;

/// Bytes of a page of memory, and of the words that it is filled with.
const PAGE: usize = 4096;
const WORD: usize = 8;

impl Board {
    /// Keeps all that the board is now, as what it is whenever it gets power: [`Fault::PowerLoss`] goes back to it. It
    /// is called when software has been loaded, and before the board runs. It is part of snapshots.
    ///
    /// [`Fault::PowerLoss`]: crate::fault::Fault::PowerLoss
    pub fn keep_power_on(&mut self) {
        self.power_on = None;
        let faults = std::mem::take(&mut self.faults);
        // Zeros that are loaded are not what memory happens to have.
        let snapshot = self.snapshot_of(|_| true);
        self.faults = faults;
        self.power_on = Some(snapshot.into());
    }

    /// Whether devices hold state that no supply takes away, and that would be lost with one: PCI functions.
    pub(crate) fn has_functions(&self) -> bool {
        let devices = &self.machine.devices;
        devices.iter().any(|attached| match &attached.device {
            Part::Pci(host) => host.has_functions(),
            _ => false,
        })
    }

    /// Has no power from `time` on, for so long.
    pub(crate) fn lose_power(&mut self, time: Femtoseconds, off: Femtoseconds, seed: u64) {
        let Some(power_on) = self.power_on.clone() else {
            return;
        };
        // It was read when it came from outside, or made here.
        let Ok((state, contents)) = self.read_snapshot(&power_on) else {
            return;
        };
        let on = time.saturating_add(off);
        let cycle = self.machine.clock.cycle_at(time);
        self.machine.trace.power_loss(&self.machine.timing, cycle);
        self.stop_harts();
        self.machine
            .call_fabric(time, |fabric, at| fabric.lose_power(seed, on, at));
        self.lose_memory(&state, &contents, seed);
        self.machine.timing.forget();
        self.machine.lines = state.lines;
        self.machine.wires = state.wires;
        self.machine.reservations = state.reservations;
        self.machine.weak = state.weak;
        for (index, saved) in state.devices.iter().enumerate() {
            let attached = &mut self.machine.devices[index];
            if !matches!(attached.device, Part::Fabric(_)) {
                // A state of this very device.
                let _ = attached.device.device().lose_power(&saved.state);
                attached.wake = on;
            }
        }
        self.machine.code.clear();
        let begin = self.machine.clock.cycle_from(on);
        for (hart, saved) in self.harts.iter_mut().zip(state.harts) {
            let cycle = hart.cycle().max(begin);
            power_up(hart, saved, cycle);
            self.machine.note_activity(hart);
        }
        self.machine.reset_time(on);
        self.machine.find_next_wake();
    }

    /// Lets no hart do anything any more.
    fn stop_harts(&mut self) {
        self.turn = None;
        for hart in &mut self.harts {
            hart.waiting = true;
            self.machine.note_activity(hart);
        }
    }

    /// Gives memory what was loaded, and any bits where it was written and nothing was loaded.
    fn lose_memory(&mut self, state: &State, contents: &[u8], seed: u64) {
        let memory = &self.machine.memory;
        let mut page = [0; PAGE];
        for (number, address) in memory.given() {
            if state.pages.binary_search(&number).is_err()
                && memory.read(address, &mut page).is_ok()
                && page != [0; PAGE]
            {
                let mut random = Random::new(seed, number.into());
                for word in page.chunks_exact_mut(WORD) {
                    word.copy_from_slice(&random.next().to_le_bytes());
                }
                // It is there: it was read.
                let _ = memory.write(address, &page);
            }
        }
        for (number, saved) in state.pages.iter().zip(contents.chunks_exact(PAGE)) {
            // As above.
            let _ = memory.write(memory.page(*number), saved);
        }
        memory.take_written(|_| {});
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::{BadFault, Fault, OFF_MAX};
    use crate::profile::Profile;
    use crate::setup;
    use crate::trace::EventKind;

    const BASE: u64 = 0x8000_0000;
    const DATA: u64 = BASE + 0x1_0000;
    const UNTOUCHED: u64 = BASE + 0x8_0000;
    const ZEROS: u64 = BASE + 0x2_0000;
    const OFF: Femtoseconds = Femtoseconds(5 * Femtoseconds::SECOND.0 / 1_000_000);

    /// A board with two harts that count in a0 from 0, and the one behind in a word of memory, too, and in a0's step.
    fn loaded() -> Board {
        let profile = Profile::named("soc").expect("a profile");
        let options = setup::Options {
            harts: Some(2),
            memory: Some(1 << 20),
            ..Default::default()
        };
        let (mut board, _) = setup::board(&profile, &options, Vec::new()).expect("a board");
        // addi a0, a0, 1; sd a0, 0(a1); addi a2, zero, 5; sw a2, 16(a3); j .-16; a word.
        let code: [u32; 6] = [
            0x0015_0513,
            0x00a5_b023,
            0x0050_0613,
            0x00c6_a823,
            0xff1f_f06f,
            7,
        ];
        board
            .write(BASE, &code.map(u32::to_le_bytes).concat())
            .expect("memory");
        board.write(ZEROS, &[0; PAGE]).expect("memory");
        for hart in 0..2 {
            board.set_pc(hart, BASE);
            board.set_x(hart, 11, DATA + 8 * hart as u64);
            board.set_x(hart, 13, BASE + 4);
        }
        board.keep_power_on();
        board
    }

    fn word(board: &Board, address: u64) -> u64 {
        let mut bytes = [0; 8];
        board.memory().read(address, &mut bytes).expect("memory");
        u64::from_le_bytes(bytes)
    }

    fn lose(board: &mut Board, cycle: u64, seed: u64) {
        let at = board.clock().time_of(cycle);
        let fault = Fault::PowerLoss { off: OFF, seed };
        board.inject(at, fault).expect("it has been kept");
    }

    #[test]
    fn all_is_as_at_first_when_power_comes_again() {
        let mut board = loaded();
        board.record(true);
        lose(&mut board, 10_000, 3);
        let on = board.clock().time_of(10_000) + OFF;
        board.run(board.clock().time_of(9_990));
        board.write(ZEROS + 8, &[1]).expect("memory");
        let counted = board.x(0, 10);
        assert!(counted > 100 && word(&board, DATA) == counted);
        assert_eq!(word(&board, BASE + 16) >> 32, 5, "the word has changed");
        board.run(on);
        assert_eq!([board.x(0, 10), board.x(1, 10), board.x(0, 12)], [0; 3]);
        assert_eq!([board.pc(0), board.pc(1)], [BASE; 2]);
        // What was loaded is there again; what was written is no more, and not zero; the rest is as ever.
        assert_eq!(word(&board, BASE + 16) >> 32, 7);
        assert!(![0, counted, counted + 1].contains(&word(&board, DATA)));
        assert_ne!(word(&board, DATA + 0x800), 0);
        assert_eq!([word(&board, UNTOUCHED), word(&board, ZEROS + 8)], [0; 2]);
        let since = board.cycle(0);
        board.run(on + OFF);
        assert!(board.x(0, 10) > 100 && board.x(0, 10) < counted * 20);
        assert_eq!(word(&board, DATA), board.x(0, 10));
        assert!(board.cycle(0) > since && board.time() >= on);
        let (events, _) = board.take_events();
        let lost = events.iter().filter(|one| one.kind == EventKind::PowerLoss);
        assert_eq!(lost.map(|one| one.cycle).collect::<Vec<_>>(), [10_000]);
    }

    #[test]
    fn time_begins_at_0_again() {
        let mut board = loaded();
        lose(&mut board, 10_000, 3);
        let on = board.clock().time_of(10_000) + OFF;
        board.run(on + OFF);
        let since = board.clock().time_of(board.cycle(0)) - on;
        let ticks = board.machine.ticks(board.cycle(0));
        let expected = board.machine.timebase.cycle_at(since);
        assert!(ticks.abs_diff(expected) <= 1, "{ticks} {expected}");
    }

    #[test]
    fn the_same_seed_gives_the_same_and_snapshots_go_on_alike() {
        let run = |seed, through_snapshot| {
            let mut board = loaded();
            lose(&mut board, 10_000, seed);
            if through_snapshot {
                board.run(board.clock().time_of(5_000));
                let snapshot = board.snapshot();
                board = loaded();
                board.power_on = None;
                board.restore(&snapshot).expect("the same board");
                let mut copy = loaded();
                copy.power_on = None;
                copy.copy_from(&mut board).expect("the same board");
                board = copy;
            }
            board.run(board.clock().time_of(30_000));
            (board.trace_hash(), word(&board, DATA + 0x800))
        };
        let first = run(1, false);
        assert_eq!(run(1, false), first);
        assert_eq!(run(1, true), first);
        assert_ne!(run(2, false).1, first.1);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let mut board = loaded();
        let at = Femtoseconds(0);
        for off in [Femtoseconds(0), Femtoseconds(OFF_MAX.0 + 1)] {
            let fault = Fault::PowerLoss { off, seed: 0 };
            assert_eq!(board.inject(at, fault), Err(BadFault::Off(off)));
        }
        lose(&mut board, 10_000, 0);
        let snapshot = board.snapshot();
        board.power_on = None;
        let fault = Fault::PowerLoss { off: OFF, seed: 0 };
        assert_eq!(board.inject(at, fault), Err(BadFault::NoPowerOn));
        // A fault of a board that does not know what it was is no sound state.
        let without = board.snapshot();
        assert!(loaded().restore(&without).is_err());
        assert!(loaded().restore(&snapshot).is_ok());
    }
}
