//! The commands that gdb hands on to the board: `monitor ...`.

use std::fmt::{self, Write};

use super::target::Debuggee;
use crate::time::Femtoseconds;

const HELP: &str = "\
help                      this list
physical [on|off]         whether memory is read and written by physical addresses
translate ADDRESS [HART]  the physical address behind a hart's virtual one
harts                     where each hart is, and what it has done
time                      how far the board is, and the hash of the run so far
devices                   the devices and their addresses
";

impl Debuggee {
    /// Carries out a command. Gives what is to be shown.
    pub(super) fn monitor(&mut self, command: &str) -> String {
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = self.answer(command, &mut out);
        out
    }

    fn answer(&mut self, command: &str, out: &mut String) -> fmt::Result {
        let words: Vec<&str> = command.split_whitespace().collect();
        match words[..] {
            [] | ["help"] => out.push_str(HELP),
            ["physical"] => writeln!(
                out,
                "physical is {}",
                if self.physical { "on" } else { "off" }
            )?,
            ["physical", state @ ("on" | "off")] => self.physical = state == "on",
            ["translate", address] => self.translate(address, "0", out)?,
            ["translate", address, hart] => self.translate(address, hart, out)?,
            ["harts"] => {
                for hart in 0..self.board.harts() {
                    let board = &self.board;
                    let (pc, cycle, instructions) =
                        (board.pc(hart), board.cycle(hart), board.instructions(hart));
                    let state = self.describe(hart);
                    writeln!(
                        out,
                        "hart {hart}: {state}, pc {pc:#x}, cycle {cycle}, {instructions} instructions"
                    )?;
                }
            }
            ["time"] => {
                let Femtoseconds(time) = self.board.time();
                let (seconds, rest) =
                    (time / Femtoseconds::SECOND.0, time % Femtoseconds::SECOND.0);
                writeln!(
                    out,
                    "{seconds}.{rest:015} s, trace {:016x}",
                    self.board.trace_hash()
                )?;
            }
            ["devices"] => {
                let memory = self.board.memory();
                writeln!(out, "{:#012x} {:#12x} memory", memory.base(), memory.size())?;
                for (name, base, size) in self.board.devices() {
                    writeln!(out, "{base:#012x} {size:#12x} {name}")?;
                }
            }
            _ => writeln!(out, "no such command: {command}; `monitor help` lists them")?,
        }
        Ok(())
    }

    fn translate(&self, address: &str, hart: &str, out: &mut String) -> fmt::Result {
        let digits = address.strip_prefix("0x").unwrap_or(address);
        let Ok(address) = u64::from_str_radix(digits, 16) else {
            return writeln!(out, "{address} is no hexadecimal address");
        };
        match hart
            .parse::<usize>()
            .ok()
            .filter(|hart| *hart < self.board.harts())
        {
            None => writeln!(out, "there is no hart {hart}"),
            Some(hart) => match self.board.physical(hart, address) {
                Some(physical) => writeln!(out, "{physical:#x}"),
                None => writeln!(out, "hart {hart} has nothing at {address:#x}"),
            },
        }
    }
}
