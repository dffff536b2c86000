//! The host-target interface (HTIF) of RISC-V's test suites: words in memory, `tohost` that the program writes and
//! `fromhost` that it reads.
//!
//! Bits 63:56 of a word are a device, bits 55:48 a command, the rest its payload.
//!
//! | device | command | what is done |
//! |---|---|---|
//! | 0 | 0, payload odd | the program ends; the payload without its lowest bit is its exit code |
//! | 0 | 0, payload even | a system call: the payload is the address of its number and arguments. `write` (64) to file 1 or 2 and `exit` (93) are carried out, others give `-ENOSYS` |
//! | 1 | 0 | the console's next character of input; answered when there is one |
//! | 1 | 1 | the low byte is printed |
//!
//! `tohost` is set to 0 when the word has been taken. A character that was printed and one of input are answered in
//! `fromhost` by the same device and command with 0x100 and the character, a system call by 1, as QEMU's `spike`
//! board does. An answer waits until the program has set `fromhost` to 0.

use std::collections::VecDeque;

use crate::board::{Board, Outcome};
use crate::devices::Console;
use crate::memory::NoMemory;
use crate::time::Femtoseconds;

/// How often the words are looked at, in cycles of the harts.
const LOOK: u64 = 2000;
/// How soon after one was taken: the program most likely has the next.
const LOOK_AGAIN: u64 = 200;
/// System calls, and the error that others give.
const SYS_WRITE: u64 = 64;
const SYS_EXIT: u64 = 93;
const ENOSYS: u64 = 38;
/// Bytes that one system call writes at most; it says how many it wrote.
const WRITE_MAX: u64 = 1 << 20;
/// The value that `riscv-tests` adds to `tohost` on an exception that the test case did not expect.
const UNEXPECTED: u64 = 1337;

/// Where the words are: physical addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words {
    /// Written by the program.
    pub tohost: u64,
    /// Read by it; without, nothing is answered but that `tohost` becomes 0.
    pub fromhost: Option<u64>,
}

/// Why a run under the interface ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The program said that it is done, with this exit code: 0 is a pass.
    Exit(u64),
    /// The run ended otherwise.
    Board(Outcome),
}

/// The meaning of the exit code of a test of `riscv-tests`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestResult {
    /// All test cases passed.
    Passed,
    /// The test case of this number failed.
    Failed(u64),
    /// An exception came that the test did not expect.
    UnexpectedException,
}

impl TestResult {
    /// The convention's reading of an exit code: `tohost` is the number of the test case, shifted left by one, and 1;
    /// or 1337 set in it.
    #[must_use]
    pub const fn of(exit_code: u64) -> Self {
        match exit_code {
            0 => Self::Passed,
            code if (code << 1 | 1) & UNEXPECTED == UNEXPECTED => Self::UnexpectedException,
            code => Self::Failed(code),
        }
    }
}

/// The interface's state between looks.
struct Htif<P> {
    words: Words,
    /// For `fromhost`, in order.
    answers: VecDeque<u64>,
    /// Reads of the console that wait for a character.
    reads: VecDeque<u64>,
    print: P,
}

/// Runs a board until the program ends by the interface, or until the run ends otherwise, at `limit` at the latest.
/// Output goes to `print`; input comes from `console`, which no device of the board uses.
///
/// # Errors
///
/// When there is no memory at the words.
pub fn run(
    board: &mut Board,
    words: Words,
    limit: Femtoseconds,
    console: &Console,
    print: impl FnMut(&[u8]),
) -> Result<Ending, NoMemory> {
    let mut htif = Htif {
        words,
        answers: VecDeque::new(),
        reads: VecDeque::new(),
        print,
    };
    let mut cycles = LOOK;
    loop {
        let next = board
            .time()
            .saturating_add(board.clock().time_of(cycles))
            .min(limit);
        let outcome = board.run(next);
        let taken = match htif.take(board)? {
            Taken::Exit(code) => return Ok(Ending::Exit(code)),
            Taken::Command => true,
            Taken::Nothing => false,
        };
        htif.read(console, board.time());
        let answered = htif.answer(board)?;
        if outcome != Outcome::Limit || next == limit {
            return Ok(Ending::Board(outcome));
        }
        cycles = if taken || answered { LOOK_AGAIN } else { LOOK };
    }
}

/// The value of `tohost`.
enum Taken {
    Nothing,
    Command,
    Exit(u64),
}

/// A word of memory.
fn word(board: &Board, address: u64) -> Result<u64, NoMemory> {
    let mut bytes = [0; 8];
    board.memory().read(address, &mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

impl<P: FnMut(&[u8])> Htif<P> {
    /// Takes the word in `tohost` and carries it out.
    fn take(&mut self, board: &mut Board) -> Result<Taken, NoMemory> {
        let word = word(board, self.words.tohost)?;
        let payload = word & ((1 << 48) - 1);
        match word >> 48 {
            0 if word == 0 => return Ok(Taken::Nothing),
            0 if payload & 1 == 1 => return Ok(Taken::Exit(payload >> 1)),
            0 => {
                if let Some(code) = self.system_call(board, payload) {
                    return Ok(Taken::Exit(code));
                }
            }
            0x0100 => self.reads.push_back(word),
            0x0101 => {
                (self.print)(&[word as u8]);
                self.answers
                    .push_back(word >> 48 << 48 | 0x100 | word & 0xff);
            }
            // Another device, which does not exist: there is no answer.
            _ => {}
        }
        board.write(self.words.tohost, &[0; 8])?;
        Ok(Taken::Command)
    }

    /// Carries out the system call at an address, and writes its result there. Gives the exit code, if it was `exit`.
    fn system_call(&mut self, board: &mut Board, address: u64) -> Option<u64> {
        let argument = |index: u64| word(board, address + 8 * index).unwrap_or_default();
        let [number, file, from, length] = [0, 1, 2, 3].map(argument);
        let result = match (number, file) {
            (SYS_EXIT, code) => return Some(code),
            (SYS_WRITE, 1 | 2) => {
                let length = length.min(WRITE_MAX);
                let mut bytes = vec![0; length as usize];
                match board.memory().read(from, &mut bytes) {
                    Ok(()) => {
                        (self.print)(&bytes);
                        length
                    }
                    Err(_) => ENOSYS.wrapping_neg(),
                }
            }
            _ => ENOSYS.wrapping_neg(),
        };
        // Without memory there, the result is dropped.
        let _ = board.write(address, &result.to_le_bytes());
        self.answers.push_back(1);
        None
    }

    /// Answers a read of the console, if there is input.
    fn read(&mut self, console: &Console, now: Femtoseconds) {
        if let Some(&command) = self.reads.front()
            && let Some(byte) = console.get(now)
        {
            self.reads.pop_front();
            self.answers
                .push_back(command >> 48 << 48 | 0x100 | u64::from(byte));
        }
    }

    /// Puts the next answer into `fromhost`, if the program has taken the last.
    fn answer(&mut self, board: &mut Board) -> Result<bool, NoMemory> {
        let Some(fromhost) = self.words.fromhost else {
            self.answers.clear();
            return Ok(false);
        };
        if self.answers.is_empty() || word(board, fromhost)? != 0 {
            // A program that never looks prints without end: what it does not want is not kept.
            self.answers.truncate(64);
            return Ok(false);
        }
        let answer = self.answers.pop_front().unwrap_or_default();
        board.write(fromhost, &answer.to_le_bytes())?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_name_the_test_case() {
        assert_eq!(TestResult::of(0), TestResult::Passed);
        assert_eq!(TestResult::of(3), TestResult::Failed(3));
        assert_eq!(TestResult::of(1337 >> 1), TestResult::UnexpectedException);
        assert_eq!(
            TestResult::of((2 | 1337) >> 1),
            TestResult::UnexpectedException
        );
    }
}
