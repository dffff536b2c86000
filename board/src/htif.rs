//! The host-target interface that RISC-V's test suites end by: a word in memory, `tohost`, that the program writes.
//!
//! What counts is a word of which the upper 16 bits are 0 and bit 0 is 1: the program is done, and the rest is its exit
//! code. A word of device 1, command 1 prints the character in its low byte. There is no file system behind it.

use crate::board::{Board, Outcome};
use crate::memory::NoMemory;
use crate::time::Femtoseconds;

/// How often the word is looked at, in cycles of the harts: a program that prints waits that long for each character.
const LOOK: u64 = 2000;

/// Why a run under the interface ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The program said that it is done, with this exit code: 0 is a pass.
    Exit(u64),
    /// The run ended otherwise.
    Board(Outcome),
}

/// Runs a board until the program writes its exit code to the word at the physical address `tohost`, or until the run
/// ends otherwise, at `limit` at the latest. Characters go to `print`.
///
/// # Errors
///
/// When there is no memory at `tohost`.
pub fn run(
    board: &mut Board,
    tohost: u64,
    limit: Femtoseconds,
    mut print: impl FnMut(u8),
) -> Result<Ending, NoMemory> {
    loop {
        let next = board
            .time()
            .saturating_add(board.clock().time_of(LOOK))
            .min(limit);
        let outcome = board.run(next);
        let mut word = [0; 8];
        board.memory().read(tohost, &mut word)?;
        let word = u64::from_le_bytes(word);
        match (word >> 48, word & 1) {
            (0, 1) => return Ok(Ending::Exit(word >> 1)),
            (0x0101, _) => {
                print(word as u8);
                board.write(tohost, &[0; 8])?;
            }
            _ => {}
        }
        if outcome != Outcome::Limit || next == limit {
            return Ok(Ending::Board(outcome));
        }
    }
}
