//! What a fault has done first: where a run and the one without the fault part.

use std::fmt;

use tactus_board::time::Femtoseconds;

use super::run::{Struck, Subject};
use crate::run::board::Worker;
use crate::run::board::live::{Live, Until};
use crate::symbols::Symbols;

/// Parts that a time is divided into in the search for where two runs part.
const PARTS: u64 = 64;
/// Registers that are named of those that differ.
const NAMED: usize = 6;

/// Where two runs part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parting {
    /// The hart's cycle, of the run without the fault.
    pub cycle: u64,
    /// The hart.
    pub hart: usize,
    /// Who has it then: with the fault, and without.
    pub who: [String; 2],
    /// Where it is then, likewise.
    pub places: [String; 2],
    /// Registers that differ: name, value with the fault, value without.
    pub registers: Vec<(String, u64, u64)>,
}

impl fmt::Display for Parting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [who, usual] = &self.who;
        let [place, usual_place] = &self.places;
        write!(
            f,
            "cycle {}, hart {}: {who} is at {place}",
            self.cycle, self.hart
        )?;
        if (who, place) != (usual, usual_place) {
            write!(f, ", without the fault {usual} at {usual_place}")?;
        }
        for (name, now, before) in self.registers.iter().take(NAMED) {
            write!(f, "; {name} is {now:#x}, not {before:#x}")?;
        }
        match self.registers.len() {
            0..=NAMED => Ok(()),
            many => write!(f, "; {} more registers differ", many - NAMED),
        }
    }
}

/// A run with a fault and the same without it, and their copies.
type Pair = [Live; 2];

fn copied(pair: &mut Pair) -> miette::Result<Pair> {
    let [with, without] = pair;
    Ok([with.fork()?, without.fork()?])
}

fn run_to(pair: &mut Pair, time: Femtoseconds) {
    for live in pair {
        live.run(&Until::Time(time), None, &mut || true);
    }
}

/// Where registers of a run first differ from those without its fault, up to `end`; `None`: nowhere. They are compared
/// at 64 times, then at as many up to the first of these, and so on: what has passed between two of them is not seen.
///
/// # Errors
/// There is no memory for a copy.
pub fn of_registers(
    subject: &Subject,
    struck: &mut Struck,
    end: Femtoseconds,
) -> miette::Result<Option<Parting>> {
    let mut pair = [struck.with.fork()?, struck.without.fork()?];
    let clock = pair[1].board().clock();
    let mut from = clock.cycle_at(pair[1].now());
    let mut to = clock.cycle_at(end);
    loop {
        let step = (to - from).div_ceil(PARTS).max(1);
        let mut before = copied(&mut pair)?;
        let mut found = None;
        let mut at = from;
        while at < to && found.is_none() {
            if at > from {
                before = copied(&mut pair)?;
            }
            at += step;
            run_to(&mut pair, clock.time_of(at));
            found = differing(&pair);
        }
        let Some(hart) = found else {
            return Ok(None);
        };
        if step == 1 {
            return Ok(Some(told(subject, &pair, hart)));
        }
        (from, to) = (at - step, at);
        pair = before;
    }
}

/// The first event of a run that is other than without its fault, up to `end`: what a hart does, an interrupt, an
/// exception or an access to a device. `None`: all are the same.
///
/// # Errors
/// There is no memory for a copy.
pub fn of_events(
    subject: &Subject,
    struck: &mut Struck,
    end: Femtoseconds,
) -> miette::Result<Option<Parting>> {
    let mut pair = [struck.with.fork()?, struck.without.fork()?];
    let clock = pair[1].board().clock();
    let differ = |[with, without]: &Pair| with.board().event_hash() != without.board().event_hash();
    let mut from = clock.cycle_at(pair[1].now());
    let mut to = clock.cycle_at(end);
    let mut last = copied(&mut pair)?;
    run_to(&mut last, clock.time_of(to));
    if !differ(&last) {
        return Ok(None);
    }
    while to - from > 1 {
        let middle = u64::midpoint(from, to);
        let mut there = copied(&mut pair)?;
        run_to(&mut there, clock.time_of(middle));
        if differ(&there) {
            (to, last) = (middle, there);
        } else {
            (from, pair) = (middle, there);
        }
    }
    let hart = differing(&last).unwrap_or(0);
    Ok(Some(told(subject, &last, hart)))
}

/// The first hart on which two runs differ in a register, or in the program counter.
fn differing([now, before]: &Pair) -> Option<usize> {
    let (now, before) = (now.board(), before.board());
    (0..before.harts()).find(|&hart| {
        now.pc(hart) != before.pc(hart)
            || (1..32).any(|number| now.x(hart, number) != before.x(hart, number))
            || (0..32).any(|number| now.f(hart, number) != before.f(hart, number))
    })
}

fn told(subject: &Subject, pair: &Pair, hart: usize) -> Parting {
    let image = &subject.boot().image;
    let who = |live: &Live| Worker::of(live.board().doing(hart), image.vms.len());
    let place = |live: &Live| {
        let file = match who(live) {
            Worker::Vm(vm) => image.guests[vm].as_ref(),
            Worker::Hypervisor | Worker::Idle => Some(&image.hypervisor),
            _ => None,
        };
        let pc = live.board().pc(hart);
        let bytes = file.and_then(|file| std::fs::read(file).ok());
        let symbols = bytes.map(|bytes| Symbols::of(&bytes)).unwrap_or_default();
        let Some(named) = symbols.place(pc) else {
            return format!("{pc:#x}");
        };
        // The hypervisor copies for many callers: who has called is in the return address, unless it has been reused.
        let returns = symbols.place(live.board().x(hart, 1));
        match returns.filter(|_| who(live) == Worker::Hypervisor) {
            Some(returns) => format!("{pc:#x}, {named}, x1 is in {returns}"),
            None => format!("{pc:#x}, {named}"),
        }
    };
    let [now, before] = pair;
    let mut registers = Vec::new();
    for number in 1..32 {
        let values = (now.board().x(hart, number), before.board().x(hart, number));
        registers.push((format!("x{number}"), values.0, values.1));
    }
    for number in 0..32 {
        let values = (now.board().f(hart, number), before.board().f(hart, number));
        registers.push((format!("f{number}"), values.0, values.1));
    }
    registers.retain(|(_, now, before)| now != before);
    Parting {
        cycle: before.board().cycle(hart),
        hart,
        who: [who(now).name(&image.vms), who(before).name(&image.vms)],
        places: [place(now), place(before)],
        registers,
    }
}
