//! The programmable logic, coupled with the board: software reaches it through its general-purpose port, and it
//! reaches memory as a bus master.
//!
//! [`Fabric`] is what is in it, one cycle of its clock after the other: a [`Model`] compiled from RTL, or anything else
//! that drives the same [`Outputs`]. [`Coupling`] is the device around it: ports, crossings between the clocks, time.

mod coupling;
mod gp;
mod master;
mod model;
mod tile;
mod watch;
mod waves;

use std::path::Path;

pub use coupling::{Activity, Coupling, Settings};
pub(crate) use coupling::{EventFault, PortFault};
pub(crate) use gp::{Gp, Request};
pub use model::{Model, ModelError};
pub(crate) use tile::TilePort;
pub use watch::{
    COLUMNS, Display, Ethernet, Frames, Picture, PinChanges, Pins, PinsAt, ROWS, Seen, Watched,
    Watcher,
};
pub(crate) use waves::Recorder;
pub use waves::Waves;

use crate::bus::BadState;

/// Bytes of the general-purpose port.
pub const GP_SIZE: u64 = 0x10_0000;
/// The registers of the port itself lie behind it, in a page.
pub const PORT_SIZE: u64 = 0x1000;
/// How many interrupt lines come out of a fabric.
pub const INTERRUPTS: u32 = 16;
/// As [`Outputs::quiet`]: until something comes in.
pub const QUIET_FOR_EVER: u32 = u32::MAX;

/// A port between the fabric and the rest of the chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum FabricPort {
    /// The general-purpose port, whose master is software.
    Gp,
    /// The accelerator coherency port, whose master is the fabric: what it reads and writes is what the caches have.
    Acp,
    /// The high-performance port, whose master is the fabric: past the caches.
    Hp,
}

/// The ports of a design that has them for tiles: [`tiles`](crate::tiles).
pub const TILES: usize = 16;

/// Requests of software during a cycle, at one port (AXI4-Lite, 32 bits; ARM IHI 0022E, part B).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GpInputs {
    /// The address of a write, in bytes from the port's begin.
    pub awaddr: u32,
    /// The word to write.
    pub wdata: u32,
    /// The address of a read.
    pub araddr: u32,
    /// There is an address of a write.
    pub awvalid: u8,
    /// There is a word to write.
    pub wvalid: u8,
    /// Which of its bytes are written.
    pub wstrb: u8,
    /// An answer to a write is taken.
    pub bready: u8,
    /// There is an address of a read.
    pub arvalid: u8,
    /// A word read is taken.
    pub rready: u8,
    /// Nothing: they fill a word.
    pub unused: [u8; 2],
}

/// Answers of the fabric.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GpOutputs {
    /// The word read.
    pub rdata: u32,
    /// The address of a write is taken.
    pub awready: u8,
    /// The word to write is taken.
    pub wready: u8,
    /// A write is answered.
    pub bvalid: u8,
    /// How, as AXI says it.
    pub bresp: u8,
    /// The address of a read is taken.
    pub arready: u8,
    /// The word read is there.
    pub rvalid: u8,
    /// How it was read.
    pub rresp: u8,
    /// Nothing: it fills a word.
    pub unused: u8,
}

/// Answers of memory to the fabric during a cycle (AXI4, 64 bits; ARM IHI 0022E). 0 or 1 where nothing is said.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    /// A word read.
    pub rdata: u64,
    /// The address of a write is taken.
    pub awready: u8,
    /// A word of a write is taken.
    pub wready: u8,
    /// A write is answered.
    pub bvalid: u8,
    /// How: 0 as it should be, 2 or 3 an error.
    pub bresp: u8,
    /// The address of a read is taken.
    pub arready: u8,
    /// A word read is there.
    pub rvalid: u8,
    /// How it was read.
    pub rresp: u8,
    /// It is the last of its burst.
    pub rlast: u8,
}

/// Inputs of the fabric during a cycle.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    /// GP: the address of a write, in bytes from the port's begin.
    pub gp_awaddr: u32,
    /// GP: the word to write.
    pub gp_wdata: u32,
    /// GP: the address of a read.
    pub gp_araddr: u32,
    /// GP: there is an address of a write.
    pub gp_awvalid: u8,
    /// GP: there is a word to write.
    pub gp_wvalid: u8,
    /// GP: which of its bytes are written.
    pub gp_wstrb: u8,
    /// GP: an answer to a write is taken.
    pub gp_bready: u8,
    /// GP: there is an address of a read.
    pub gp_arvalid: u8,
    /// GP: a word read is taken.
    pub gp_rready: u8,
    /// Software's event, for a cycle.
    pub event: u8,
    unused: u8,
    unused2: u32,
    /// At the coherent port.
    pub acp: Answers,
    /// At the port past the caches.
    pub hp: Answers,
}

impl Inputs {
    /// Puts in what software asks for at the general-purpose port.
    pub(crate) const fn at_gp(&mut self, gp: &GpInputs) {
        self.gp_awaddr = gp.awaddr;
        self.gp_wdata = gp.wdata;
        self.gp_araddr = gp.araddr;
        self.gp_awvalid = gp.awvalid;
        self.gp_wvalid = gp.wvalid;
        self.gp_wstrb = gp.wstrb;
        self.gp_bready = gp.bready;
        self.gp_arvalid = gp.arvalid;
        self.gp_rready = gp.rready;
    }
}

/// Requests of the fabric to memory during a cycle (AXI4, 64 bits, incrementing bursts of whole words).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    /// The address of a write.
    pub awaddr: u64,
    /// A word to write.
    pub wdata: u64,
    /// The address of a read.
    pub araddr: u64,
    /// There is an address of a write.
    pub awvalid: u8,
    /// The words of the write, less one.
    pub awlen: u8,
    /// There is a word to write.
    pub wvalid: u8,
    /// Which of its bytes are written.
    pub wstrb: u8,
    /// It is the last of its burst.
    pub wlast: u8,
    /// An answer to a write is taken.
    pub bready: u8,
    /// There is an address of a read.
    pub arvalid: u8,
    /// The words of the read, less one.
    pub arlen: u8,
    /// A word read is taken.
    pub rready: u8,
    unused: [u8; 7],
}

/// Outputs of the fabric during a cycle.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outputs {
    /// GP: the word read.
    pub gp_rdata: u32,
    /// The levels of the interrupt lines.
    pub irq: u32,
    /// In so many cycles at least nothing but counters of cycles changes, as long as nothing comes in;
    /// [`QUIET_FOR_EVER`]: in no cycle.
    pub quiet: u32,
    /// GP: the address of a write is taken.
    pub gp_awready: u8,
    /// GP: the word to write is taken.
    pub gp_wready: u8,
    /// GP: a write is answered.
    pub gp_bvalid: u8,
    /// GP: how, as AXI says it.
    pub gp_bresp: u8,
    /// GP: the address of a read is taken.
    pub gp_arready: u8,
    /// GP: the word read is there.
    pub gp_rvalid: u8,
    /// GP: how it was read.
    pub gp_rresp: u8,
    unused: u8,
    unused2: u32,
    /// At the coherent port.
    pub acp: Requests,
    /// At the port past the caches.
    pub hp: Requests,
}

impl Outputs {
    /// Answers at the general-purpose port.
    pub(crate) const fn gp(&self) -> GpOutputs {
        GpOutputs {
            rdata: self.gp_rdata,
            awready: self.gp_awready,
            wready: self.gp_wready,
            bvalid: self.gp_bvalid,
            bresp: self.gp_bresp,
            arready: self.gp_arready,
            rvalid: self.gp_rvalid,
            rresp: self.gp_rresp,
            unused: 0,
        }
    }
}

/// The design in the fabric. No output depends on an input of the same cycle.
pub trait Fabric: Send {
    /// The name of the design; states of different names are different.
    fn name(&self) -> &str;

    /// The outputs in the current cycle.
    fn outputs(&self) -> &Outputs;

    /// Lets a cycle pass: `inputs` go in up to the rising edge at its end, which is `picoseconds` after reset.
    fn cycle(&mut self, inputs: &Inputs, picoseconds: u64);

    /// The outputs at the tiles' ports in the current cycle; all zeros in a design without any.
    fn tile_outputs(&self) -> &[GpOutputs; TILES] {
        const NONE: [GpOutputs; TILES] = [GpOutputs {
            rdata: 0,
            awready: 0,
            wready: 0,
            bvalid: 0,
            bresp: 0,
            arready: 0,
            rvalid: 0,
            rresp: 0,
            unused: 0,
        }; TILES];
        &NONE
    }

    /// Whether the design has ports for tiles.
    fn has_tiles(&self) -> bool {
        false
    }

    /// As [`cycle`](Self::cycle), with what goes in at the tiles' ports.
    fn cycle_with_tiles(&mut self, inputs: &Inputs, tiles: &[GpInputs; TILES], picoseconds: u64) {
        let _ = tiles;
        self.cycle(inputs, picoseconds);
    }

    /// Lets as many cycles pass as it said that it is quiet for, or fewer.
    fn skip(&mut self, cycles: u64);

    /// The supply fails, and comes again after so many cycles. All is as after reset then, but for what keeps its state
    /// without power; of that, what is being written is torn, as is drawn from `seed`.
    fn lose_power(&mut self, seed: u64, cycles: u64);

    /// All of its state.
    fn save(&self) -> Vec<u8>;

    /// Takes back what [`save`](Self::save) gave.
    ///
    /// # Errors
    ///
    /// When the bytes are not such a state; nothing has changed then.
    fn restore(&mut self, state: &[u8]) -> Result<(), BadState>;

    /// Writes waveforms of the cycles from here on to a file, with a clock of this period.
    ///
    /// # Errors
    ///
    /// When the file can't be written, or what is in the fabric has no waveforms: why.
    fn begin_waves(&mut self, file: &Path, period_picoseconds: u64) -> Result<(), String>;

    /// Ends the waveforms; the file is whole then.
    fn end_waves(&mut self) {}
}
