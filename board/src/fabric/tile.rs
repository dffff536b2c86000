//! A tile's port into the fabric: [`tiles`](crate::tiles).
//!
//! To the tile's hart it is a device. What it is asked for is carried out when the fabric's cycles pass: a
//! read is postponed until its answer is there, a write only while there are too many on their way.

use super::gp::{Gp, Request};
use super::{GpInputs, GpOutputs};
use crate::bus::{BadState, Device, Port, Refused};
use crate::time::Clock;

/// The device.
pub(crate) struct TilePort {
    clock: Clock,
    /// Writes on their way at most.
    writes: usize,
    /// Cycles after which an access times out.
    timeout: u64,
    gp: Gp,
    /// A read is under way: its answer, when it is there.
    reading: Option<Option<Answered>>,
    /// Writes that were not carried out.
    refused: u64,
}

/// How a read went.
type Answered = Result<u32, Refused>;

impl TilePort {
    /// A port in a clock that is the hart's as well.
    pub(crate) fn new(clock: Clock, writes: usize, timeout: u64) -> Self {
        Self {
            clock,
            writes,
            timeout,
            gp: Gp::default(),
            reading: None,
            refused: 0,
        }
    }

    /// Whether there is nothing that goes in or may come out.
    pub(crate) fn is_idle(&self) -> bool {
        self.gp.waiting() == 0
    }

    /// The inputs during a cycle.
    pub(crate) fn drive(&mut self, cycle: u64) -> GpInputs {
        self.gp.drive(cycle)
    }

    /// What happened at the edge at its end. Whether an access that the hart waits for can continue.
    pub(crate) fn edge(&mut self, cycle: u64, outputs: &GpOutputs, inputs: &GpInputs) -> bool {
        let Some(answer) = self.gp.edge(cycle, outputs, inputs, self.timeout) else {
            return false;
        };
        if answer.request.awaited {
            self.reading = Some(Some(answer.data.ok_or(Refused)));
        } else {
            self.refused += u64::from(answer.data.is_none());
        }
        // With a read under way it is the read that is waited for.
        !matches!(self.reading, Some(None))
    }

    /// How many writes were not carried out.
    pub(crate) const fn refused(&self) -> u64 {
        self.refused
    }

    fn push(&mut self, write: bool, offset: u64, data: u64, port: &Port<'_>) {
        self.gp.push(Request {
            write,
            address: offset as u32,
            data: data as u32,
            strobe: 0xf,
            due: self.clock.cycle_at(port.now()),
            awaited: !write,
        });
    }
}

/// Its registers are words, and only those.
fn word(size: u8) -> Result<(), Refused> {
    if size == 4 { Ok(()) } else { Err(Refused) }
}

impl Device for TilePort {
    fn read(&mut self, offset: u64, size: u8, port: &mut Port<'_>) -> Result<u64, Refused> {
        word(size)?;
        match self.reading {
            Some(Some(answer)) => {
                self.reading = None;
                return answer.map(u64::from);
            }
            Some(None) => {}
            None => {
                self.push(false, offset, 0, port);
                self.reading = Some(None);
            }
        }
        port.postpone();
        Err(Refused)
    }

    fn write(
        &mut self,
        offset: u64,
        size: u8,
        value: u64,
        port: &mut Port<'_>,
    ) -> Result<(), Refused> {
        word(size)?;
        if self.gp.waiting() >= self.writes {
            port.postpone();
            return Err(Refused);
        }
        self.push(true, offset, value, port);
        Ok(())
    }

    /// Tiles are not saved.
    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    fn restore(&mut self, _: &[u8]) -> Result<(), BadState> {
        Err(BadState(
            "a tile's port has no state to take back".to_owned(),
        ))
    }
}
