//! What a fault has done first: where a run and the one without the fault part.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use tactus_board::time::Femtoseconds;

use super::run::{Struck, Subject};
use crate::image::Image;
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
    struck: &mut Struck,
    names: &mut Names<'_>,
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
            return Ok(Some(told(names, &pair, hart)));
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
    struck: &mut Struck,
    names: &mut Names<'_>,
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
    Ok(Some(told(names, &last, hart)))
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

/// The names of a system's workers and of the places in their code.
#[derive(Debug)]
pub struct Names<'s> {
    image: &'s Image,
    /// The VM that has turned hostile, and the file of its guest.
    hostile: Option<(usize, Option<&'s Path>)>,
    known: BTreeMap<&'s Path, Symbols>,
}

impl<'s> Names<'s> {
    /// Those of a run with a fault of that kind, by its number, and of the one without.
    pub fn new(subject: &'s Subject, kind: usize) -> Self {
        Self {
            image: &subject.boot().image,
            hostile: subject.hostile(kind),
            known: BTreeMap::new(),
        }
    }

    /// What a worker is called.
    pub fn of(&self, worker: &Worker) -> String {
        worker.name(&self.image.vms)
    }

    /// The symbols of what a worker executes, `with` the fault or without.
    fn symbols(&mut self, with: bool, worker: &Worker) -> Option<&Symbols> {
        let file = match worker {
            Worker::Vm(vm) => match self.hostile.filter(|(hostile, _)| with && hostile == vm) {
                Some((_, file)) => file,
                None => self.image.guests[*vm].as_deref(),
            },
            Worker::Hypervisor | Worker::Idle => Some(&*self.image.hypervisor),
            _ => None,
        };
        let file = file?;
        Some(self.known.entry(file).or_insert_with(|| {
            let bytes = std::fs::read(file).ok();
            bytes.map(|bytes| Symbols::of(&bytes)).unwrap_or_default()
        }))
    }

    /// The symbol at or before an address in a worker's code.
    fn symbol(&mut self, with: bool, worker: &Worker, address: u64) -> Option<String> {
        self.symbols(with, worker)?.place(address)
    }

    /// An address in a worker's code, with its symbol where there is one.
    pub fn place(&mut self, with: bool, worker: &Worker, pc: u64) -> String {
        match self.symbol(with, worker, pc) {
            Some(named) => format!("{pc:#x}, {named}"),
            None => format!("{pc:#x}"),
        }
    }
}

fn told(names: &mut Names<'_>, pair: &Pair, hart: usize) -> Parting {
    let vms = names.image.vms.len();
    let who = |live: &Live| Worker::of(live.board().doing(hart), vms);
    let mut place = |live: &Live, with: bool| {
        let worker = who(live);
        let place = names.place(with, &worker, live.board().pc(hart));
        // The hypervisor copies for many callers: who has called is in the return address, unless it has been reused.
        let returns = names.symbol(with, &worker, live.board().x(hart, 1));
        match returns.filter(|_| worker == Worker::Hypervisor) {
            Some(returns) => format!("{place}, x1 is in {returns}"),
            None => place,
        }
    };
    let [now, before] = pair;
    let places = [place(now, true), place(before, false)];
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
        who: [names.of(&who(now)), names.of(&who(before))],
        places,
        registers,
    }
}
