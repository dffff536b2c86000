//! A board for many harts: tiles, each a hart with memory and devices of its own, around one fabric.
//!
//! A *tile* is a [`Board`] of one hart, whose `mhartid` is its number. No tile reaches another's memory or devices:
//! what they share is the fabric, which each has a port of its own into, and an interrupt from. All are in one clock,
//! and time is the same for all of them.
//!
//! A tile's access to its port is at the port in the cycle after its instruction began. Reads last until the fabric
//! answers, writes are posted, and the tile continues in the cycle after the answer. Everything comes in its order: the
//! fabric is in a cycle when all tiles have done what they do before it ends. Only a tile that takes no external
//! interrupt is let run ahead, by a quantum at most, up to its next access.

use std::hash::Hasher;

use siphasher::sip::SipHasher13;

use crate::board::{Board, Outcome};
use crate::bus::{Refused, Stop};
use crate::devices::Console;
use crate::fabric::{Fabric, Gp, GpInputs, Inputs, Recorder, Request, TILES, Waves};
use crate::time::{Clock, DriftingClock};

/// `mie`, and its bit of the external interrupt, which is that of `mip` as well.
const MIE: u16 = 0x304;
const EXTERNAL: u64 = 1 << 11;
/// Cycles after which an access from outside the run gets no answer any more.
const PATIENCE: u64 = 4096;
/// What a tile is told when it starts has this much room, at the end of its memory.
pub const ARGUMENTS: u64 = 4096;

/// Why a run of tiles ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All tiles that were started are off, or have failed.
    Off,
    /// The cycle has come that it was to run to.
    Limit,
}

/// A hart with what is its own.
struct Tile {
    board: Board,
    console: Console,
    /// It has software.
    started: bool,
    /// How it ended.
    ended: Option<Stop>,
    /// It stands before an access.
    blocked: bool,
    /// All that it does before this cycle is done, or it does nothing.
    reached: u64,
}

impl Tile {
    const fn runs(&self) -> bool {
        self.started && self.ended.is_none()
    }

    /// Whether there is nothing that it does in `cycle` or later, nor the fabric for it.
    fn is_over(&mut self, cycle: u64) -> bool {
        !self.runs()
            && self.reached <= cycle
            && self.board.tile_port().is_none_or(|port| port.is_idle())
    }

    /// Lets it do what it does before the end of `cycle`, and more where nothing can come between.
    fn advance(&mut self, cycle: u64, clock: Clock, quantum: u64) {
        let interruptible = self
            .board
            .csr(0, MIE)
            .is_some_and(|mie| mie & EXTERNAL != 0);
        let limit = cycle + if interruptible { 1 } else { quantum };
        match self.board.run(clock.time_of(limit)) {
            Outcome::Stop(stop) => {
                self.ended = Some(stop);
                self.reached = self.board.cycle(0);
            }
            // Nothing else is waited for.
            Outcome::Condition => self.blocked = true,
            _ => {
                self.reached = limit;
                if self.board.is_waiting(0) {
                    let timer = self.board.ready_cycle(0).min(self.board.next_event());
                    self.reached = timer.max(limit);
                }
            }
        }
    }

    /// Lets its external interrupt be so from `cycle` on.
    fn interrupt(&mut self, level: bool, cycle: u64, clock: Clock) {
        if !self.runs() {
            return;
        }
        if self.board.is_waiting(0) && !self.blocked {
            // It has waited until then.
            self.board.run(clock.time_of(cycle));
            self.reached = cycle;
        }
        let wires = &mut self.board.machine.wires[0];
        *wires = if level {
            *wires | EXTERNAL
        } else {
            *wires & !EXTERNAL
        };
    }
}

/// The board.
pub struct Tiles {
    tiles: Vec<Tile>,
    fabric: Box<dyn Fabric>,
    clock: Clock,
    quantum: u64,
    /// The fabric is in this cycle.
    cycle: u64,
    irq: u32,
    /// Requests from outside the run.
    gp: Gp,
    recorder: Recorder,
}

impl Tiles {
    /// Tiles around a fabric, at reset. Those without software do nothing.
    pub(crate) fn new(
        tiles: Vec<(Board, Console)>,
        fabric: Box<dyn Fabric>,
        clock: Clock,
        quantum: u64,
    ) -> Self {
        let irq = fabric.outputs().irq;
        let tiles = tiles.into_iter().map(|(board, console)| Tile {
            board,
            console,
            started: false,
            ended: None,
            blocked: false,
            reached: 0,
        });
        Self {
            tiles: tiles.collect(),
            fabric,
            clock,
            quantum,
            cycle: 0,
            irq,
            gp: Gp::default(),
            recorder: Recorder::default(),
        }
    }

    /// How many tiles there are.
    #[must_use]
    pub fn number(&self) -> usize {
        self.tiles.len()
    }

    /// The cycle that the fabric, and all tiles at least, have come to.
    #[must_use]
    pub const fn cycle(&self) -> u64 {
        self.cycle
    }

    /// A tile's own board.
    ///
    /// # Panics
    ///
    /// When there is no such tile.
    #[must_use]
    pub fn tile(&self, tile: usize) -> &Board {
        &self.tiles[tile].board
    }

    /// The output of a tile's software.
    ///
    /// # Panics
    ///
    /// When there is no such tile.
    #[must_use]
    pub fn console(&self, tile: usize) -> &Console {
        &self.tiles[tile].console
    }

    /// How a tile ended. `None`: it has not.
    ///
    /// # Panics
    ///
    /// When there is no such tile.
    #[must_use]
    pub fn ended(&self, tile: usize) -> Option<Stop> {
        self.tiles[tile].ended
    }

    /// How many of a tile's writes the fabric has not carried out.
    ///
    /// # Panics
    ///
    /// When there is no such tile.
    pub fn refused(&mut self, tile: usize) -> u64 {
        let port = self.tiles[tile].board.tile_port();
        port.map_or(0, |port| port.refused())
    }

    /// A tile's board, to put software into it.
    pub(crate) fn board_mut(&mut self, tile: usize) -> &mut Board {
        &mut self.tiles[tile].board
    }

    /// Lets a tile, which has software now, begin.
    pub(crate) fn begin(&mut self, tile: usize) {
        self.tiles[tile].started = true;
    }

    /// Writes waveforms of a part of the run, of the fabric alone. It makes no difference to the run.
    pub fn record(&mut self, waves: Waves) {
        self.recorder.record(&mut *self.fabric, waves);
    }

    /// Ends waveforms; what there is is whole then.
    ///
    /// # Errors
    ///
    /// Why they could not be written.
    pub fn take_waves(&mut self) -> Result<(), String> {
        self.recorder.take(&mut *self.fabric)
    }

    /// Writes a word through the fabric's general-purpose port, as what boots the board does. It takes some cycles,
    /// which tiles that have not begun to run begin after.
    ///
    /// # Errors
    ///
    /// The fabric refuses it, or does not answer.
    pub fn write_gp(&mut self, address: u32, value: u32) -> Result<(), Refused> {
        self.access(true, address, value)?;
        Ok(())
    }

    /// Reads a word, likewise.
    ///
    /// # Errors
    ///
    /// The fabric refuses it, or does not answer.
    pub fn read_gp(&mut self, address: u32) -> Result<u32, Refused> {
        self.access(false, address, 0)
    }

    fn access(&mut self, write: bool, address: u32, data: u32) -> Result<u32, Refused> {
        self.gp.push(Request {
            write,
            address,
            data,
            strobe: 0xf,
            due: self.cycle,
            awaited: true,
        });
        // It is over after the patience at the latest.
        loop {
            if let Some(answer) = self.step() {
                return answer.ok_or(Refused);
            }
        }
    }

    /// Runs until a cycle, or until all tiles that have software are off.
    pub fn run(&mut self, end: u64) -> Ended {
        for tile in &mut self.tiles {
            let hart = &mut tile.board.harts[0];
            if tile.started && hart.instructions == 0 && hart.cycle() < self.cycle {
                hart.set_cycle(self.cycle);
            }
        }
        loop {
            if self.tiles.iter_mut().all(|tile| tile.is_over(self.cycle)) {
                return Ended::Off;
            }
            if self.cycle >= end {
                return Ended::Limit;
            }
            for tile in &mut self.tiles {
                if tile.reached <= self.cycle && !tile.blocked && tile.runs() {
                    tile.advance(self.cycle, self.clock, self.quantum);
                }
            }
            self.step();
        }
    }

    /// Lets so many cycles of the fabric pass in which no tile does anything.
    pub fn pass(&mut self, cycles: u64) {
        for _ in 0..cycles {
            self.step();
        }
    }

    /// Lets a cycle of the fabric pass. Gives the answer to an access from outside the run, if it comes by that: a
    /// word, or that there is none.
    fn step(&mut self) -> Option<Option<u32>> {
        let cycle = self.cycle;
        let gp = self.gp.drive(cycle);
        let before = self.fabric.outputs().gp();
        let mut inputs = Inputs::default();
        inputs.at_gp(&gp);
        let mut asked = [GpInputs::default(); TILES];
        let mut busy = 0_u32;
        for (number, tile) in self.tiles.iter_mut().enumerate() {
            if let Some(port) = tile.board.tile_port().filter(|port| !port.is_idle()) {
                asked[number] = port.drive(cycle);
                busy |= 1 << number;
            }
        }
        let outputs = *self.fabric.tile_outputs();
        let clock = DriftingClock::steady(self.clock);
        self.recorder.turn(&mut *self.fabric, clock, cycle + 1);
        let time = self.clock.time_of(cycle + 1);
        self.fabric
            .cycle_with_tiles(&inputs, &asked, time.as_picoseconds());
        self.cycle = cycle + 1;
        for (number, tile) in self.tiles.iter_mut().enumerate() {
            if busy >> number & 1 == 0 {
                continue;
            }
            let port = tile.board.tile_port();
            let goes_on =
                port.is_some_and(|port| port.edge(cycle, &outputs[number], &asked[number]));
            if goes_on && std::mem::take(&mut tile.blocked) {
                // The access is carried out in what is left of this cycle.
                tile.board.harts[0].set_cycle(cycle);
                tile.reached = self.cycle;
            }
        }
        let irq = self.fabric.outputs().irq;
        let changed = std::mem::replace(&mut self.irq, irq) ^ irq;
        for (number, tile) in self.tiles.iter_mut().enumerate() {
            if changed >> number & 1 != 0 {
                tile.interrupt(irq >> number & 1 != 0, self.cycle, self.clock);
            }
        }
        let answer = self.gp.edge(cycle, &before, &gp, PATIENCE)?;
        Some(answer.data)
    }

    /// The hash of all that the tiles did: the same number, the same run.
    #[must_use]
    pub fn trace_hash(&self) -> u64 {
        let mut hash = SipHasher13::new();
        for tile in &self.tiles {
            hash.write_u64(tile.board.trace_hash());
        }
        hash.write_u64(self.cycle);
        hash.finish()
    }
}
