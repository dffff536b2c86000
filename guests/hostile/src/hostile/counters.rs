//! Reads every counter, to learn what others do: their number of cycles and instructions, and events of the hart.
//!
//! What it learns is counted in bits. For each counter and each privilege level it makes the same computation again and
//! again, between two reads. The outcome is the difference, or that a read was refused; with one outcome only it learns
//! nothing. `time` is no secret.

use tactus_guest::record;

use super::{
    arena::{self, Arena},
    probe::Level,
    progress::Progress,
};

/// The first counter, `cycle`, and how many there are.
const FIRST: u32 = 0xc00;
const COUNTERS: u64 = 32;
/// The counter that every guest may read: `time`.
const TIME: u32 = 0xc01;
const LEVELS: [Level; 2] = [Level::Supervisor, Level::User];
/// Computations between two reads of a counter.
const ROUNDS: usize = 64;
/// Steps of a computation: long enough that a real-time guest of the hart preempts some.
const STEPS: u64 = 10_000;

/// Reads all counters, and reports the bits that it has learned.
pub fn attack(progress: Progress) {
    let arena = Arena::new(arena::SMALL);
    let mut bits = 0;
    while let Some(step) = progress.next(COUNTERS * LEVELS.len() as u64) {
        let counter = FIRST + (step % COUNTERS) as u32;
        if counter == TIME {
            continue;
        }
        let level = LEVELS[(step / COUNTERS) as usize];
        let mut outcomes = [None; ROUNDS];
        for outcome in &mut outcomes {
            let Some(before) = read(&arena, counter, level) else {
                continue;
            };
            for step in 0..STEPS {
                core::hint::black_box(step);
            }
            *outcome = read(&arena, counter, level).map(|after| after.wrapping_sub(before));
        }
        if outcomes.contains(&None) {
            progress.trapped();
        } else {
            progress.through();
        }
        bits += bits_of(&mut outcomes);
    }
    record::metric("hostile_leaked_bits", bits, "count");
}

/// The bits that outcomes tell: the logarithm, rounded up, of how many there are.
fn bits_of(outcomes: &mut [Option<usize>]) -> u64 {
    outcomes.sort_unstable();
    let changes = outcomes.windows(2).filter(|pair| pair[0] != pair[1]);
    (changes.count() + 1).next_power_of_two().ilog2().into()
}

/// Reads a counter; `None` where that is refused.
fn read(arena: &Arena, counter: u32, level: Level) -> Option<usize> {
    // `csrrs t0, counter, zero`.
    let instruction = counter << 20 | 2 << 12 | 5 << 7 | 0x73;
    let end = arena.run_to_its_end(instruction, 4, level, &arena.registers());
    arena.went_through(end, 4).then_some(end.t0)
}
