//! Sees what tiles ask the I/O hypervisor for, and how long each waits for its answer: at their ports, whatever their
//! software says.

use std::collections::VecDeque;

use super::Given;
use crate::io_bounds;
use tactus_board::fabric::{Fabric, GpInputs, GpOutputs, Outputs, Seen, TILES, Watched, Watcher};

/// Registers of a tile's interface (`fabric/regs/mesh_interface.rdl`).
const HEADER: u32 = 0x14;
const RESPONSE: u32 = 0x18;
/// Of a packet's first word: where it goes, and the I/O hypervisor's place, (0, 4); whether it is a request without an
/// answer.
const TO: u32 = 26;
const IO: u32 = 4 << 3;
const QUIET: u32 = 1 << 14;
/// Of an answer's first word.
const VALID: u32 = 1 << 31;

/// A request to the I/O hypervisor that was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Who asked.
    pub tile: usize,
    /// The packet's first word (`docs/src/reference/io-hypervisor.md`, "bits of a request").
    pub header: u32,
    /// The cycle in which the tile sent it.
    pub asked: u64,
    /// That in which it took the first word of the answer.
    pub answered: u64,
}

impl Request {
    /// How long the tile waited, in cycles.
    pub const fn waited(self) -> u64 {
        self.answered - self.asked
    }

    /// What it asked for. `None`: nothing that there is.
    pub(crate) const fn kind(self, given: &Given) -> Option<io_bounds::Request> {
        use io_bounds::Request;
        let length = (self.header & 0x7ff) as u64;
        let (device, op) = (self.header >> 17 & 7, self.header >> 15 & 3);
        Some(match (device, op) {
            (1, 0) => Request::UartRead,
            (1, 1) => Request::UartWrite(length),
            (2, 0) => Request::FlashRead(length),
            (2, 1) => Request::FlashWrite(length),
            (2, 2) => Request::FlashErase,
            (3, 1) => Request::VgaWrite(length),
            (3, 2) => match given.window {
                Some([_, _, width, height]) => Request::VgaFill((width * height) as u64),
                None => return None,
            },
            (4, 0) => Request::EthernetRead(length),
            (4, 1) => Request::EthernetWrite(length),
            _ => return None,
        })
    }
}

/// Those that were seen, in the order of their answers.
pub(super) type Answered = Seen<Vec<Request>>;

/// What is known of a tile.
#[derive(Clone, Debug, Default)]
struct Tile {
    /// Requests that wait for their answer: the first word, and when it was sent.
    open: VecDeque<(u32, u64)>,
    /// Where the read that is under way is.
    reading: u32,
    /// Words of an answer that follow.
    rest: u32,
}

/// Watches the tiles' ports.
pub(super) struct Ports {
    tiles: [Tile; TILES],
    answered: Answered,
}

/// Has a fabric's requests watched.
pub(super) fn watched(fabric: Box<dyn Fabric>) -> (Watched<Ports>, Answered) {
    let answered = Answered::default();
    let ports = Ports {
        tiles: Default::default(),
        answered: answered.clone(),
    };
    (Watched::by(fabric, ports), answered)
}

impl Watcher for Ports {
    fn look(&mut self, _: u64, _: &Outputs) {}

    fn look_at_tiles(&mut self, cycle: u64, tiles: &[GpInputs; TILES], ports: &[GpOutputs; TILES]) {
        for (number, (asks, port)) in tiles.iter().zip(ports).enumerate() {
            let tile = &mut self.tiles[number];
            let read = asks.rready & port.rvalid != 0 && tile.reading == RESPONSE;
            let answer = read.then_some(port.rdata);
            if let Some(request) = answer.and_then(|word| tile.take(number, word, cycle)) {
                self.answered.with(|all| all.push(request));
            }
            if asks.arvalid & port.arready != 0 {
                tile.reading = asks.araddr;
            }
            let written = asks.awvalid & port.awready & asks.wvalid & port.wready != 0;
            if written && asks.awaddr == HEADER && asks.wdata >> TO == IO && asks.wdata & QUIET == 0
            {
                tile.open.push_back((asks.wdata, cycle));
            }
        }
    }
}

impl Tile {
    /// Takes a word of an answer; gives the request that it is the first word of the answer to.
    fn take(&mut self, tile: usize, word: u32, cycle: u64) -> Option<Request> {
        if self.rest > 0 {
            self.rest -= 1;
            return None;
        }
        if word & VALID == 0 {
            return None;
        }
        let (status, length) = (word >> 13 & 15, word & 0x7ff);
        if status == 0 {
            self.rest = length.div_ceil(4);
        } else if length & 1 != 0 {
            // That of a quiet one.
            return None;
        }
        let (header, asked) = self.open.pop_front()?;
        Some(Request {
            tile,
            header,
            asked,
            answered: cycle,
        })
    }
}
