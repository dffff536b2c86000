//! The commands that gdb hands on to the board: `monitor ...`.

use std::fmt::{self, Write};

use super::target::{Addresses, Debuggee};
use crate::time::Femtoseconds;

const HELP: &str = "\
help                        this list
physical [on|off|guest]     whether memory is read and written by physical addresses: the board's, or the guest's
translate ADDRESS [HART]    the physical address behind a virtual one of the current inferior
vms                         the guests: inferior, VMID, and the harts that they are on
harts                       where each hart is, and what it has done
time                        how far the board is, and the hash of the run so far
devices                     the devices and their addresses
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
                match self.addresses {
                    Addresses::Virtual => "off",
                    Addresses::GuestPhysical => "guest",
                    Addresses::Physical => "on",
                }
            )?,
            ["physical", "on"] => self.addresses = Addresses::Physical,
            ["physical", "off"] => self.addresses = Addresses::Virtual,
            ["physical", "guest"] => self.addresses = Addresses::GuestPhysical,
            ["vms"] => self.list_guests(out)?,
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
            Some(hart) => {
                let process = self.general();
                let whose = match self.name(process) {
                    Some(name) => format!("{name} on hart {hart}"),
                    None => format!("hart {hart}"),
                };
                let Some(space) = self.space(process, hart) else {
                    return writeln!(
                        out,
                        "{whose} has not run yet: its page tables are not known"
                    );
                };
                match self.board.physical_in(hart, space, address) {
                    Some(physical) => writeln!(out, "{physical:#x}"),
                    None => writeln!(out, "{whose} has nothing at {address:#x}"),
                }
            }
        }
    }

    /// The guests that gdb has an inferior for.
    fn list_guests(&self, out: &mut String) -> fmt::Result {
        if self.name(0).is_none() {
            return writeln!(
                out,
                "no guest has an inferior of its own: the board was told of none, or gdb has one inferior alone"
            );
        }
        for process in 0..=self.guests().len() {
            let on: Vec<String> = (0..self.board.harts())
                .filter(|hart| self.process_of(*hart) == process)
                .map(|hart| hart.to_string())
                .collect();
            let on = if on.is_empty() {
                "on no hart".to_owned()
            } else {
                format!("on hart {}", on.join(", "))
            };
            let name = self.name(process).unwrap_or_default();
            match process.checked_sub(1) {
                None => writeln!(out, "inferior 1: all that is not a guest, {on}")?,
                Some(guest) => writeln!(
                    out,
                    "inferior {}: {name}, VMID {}, {on}",
                    process + 1,
                    self.guests()[guest].vmid
                )?,
            }
        }
        Ok(())
    }
}
