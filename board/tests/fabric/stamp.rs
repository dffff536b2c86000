//! A second model of the block `stamp`, from its description and its documentation, to compare the compiled RTL with.

use std::path::Path;

use tactus_board::bus::BadState;
use tactus_board::fabric::{Fabric, Inputs, Outputs, QUIET_FOR_EVER};

const ID: u32 = 0x5354_0001;

/// The block.
#[derive(Clone, Default)]
pub struct Stamp {
    outputs: Outputs,
    cycles: u64,
    upper: u32,
    scratch: u32,
    compare: u64,
    /// A write of `compare` that takes effect at the next edge, and its lower half until the upper half arrives.
    written: Option<u64>,
    half: u64,
    half_bits: u64,
    enable: bool,
    pending: bool,
    clear: bool,
    address: Option<u32>,
    data: Option<(u32, u32)>,
    /// The number of cycles without activity on the bus, counted up to 3.
    settled: u8,
}

impl Stamp {
    pub fn new() -> Self {
        let mut stamp = Self {
            compare: u64::MAX,
            ..Self::default()
        };
        stamp.ready();
        stamp
    }

    fn ready(&mut self) {
        self.outputs.gp_awready = u8::from(self.address.is_none());
        self.outputs.gp_wready = u8::from(self.data.is_none());
        self.outputs.gp_arready = 1;
        let left = self.compare.wrapping_sub(self.cycles);
        self.outputs.quiet = if self.settled == 3 {
            left.min(u64::from(QUIET_FOR_EVER) - 1) as u32
        } else {
            0
        };
    }

    fn read(&self, address: u32) -> Option<u32> {
        Some(match address & 0xffc {
            0x00 => ID,
            0x04 => self.scratch,
            0x08 => self.cycles as u32,
            0x0c => self.upper,
            0x10 => self.compare as u32,
            0x14 => (self.compare >> 32) as u32,
            0x18 => self.enable.into(),
            0x1c => self.pending.into(),
            _ => return None,
        })
    }

    /// Whether there is such a register to write.
    fn write(&mut self, address: u32, data: u32, bits: u32) -> bool {
        match address & 0xffc {
            0x04 => self.scratch = self.scratch & !bits | data & bits,
            0x10 | 0x14 => {
                let shift = 8 * (address & 4);
                let bits = u64::from(bits) << shift;
                self.half = self.half & !bits | u64::from(data) << shift & bits;
                self.half_bits |= bits;
                if shift != 0 {
                    let kept = self.compare & !self.half_bits;
                    self.written = Some(kept | self.half & self.half_bits);
                    self.half_bits = 0;
                }
            }
            0x18 if bits & 1 != 0 => self.enable = data & 1 != 0,
            0x20 if bits & 1 != 0 => self.clear = data & 1 != 0,
            0x18 | 0x20 => {}
            _ => return false,
        }
        true
    }
}

impl Fabric for Stamp {
    fn name(&self) -> &str {
        "stamp"
    }

    fn outputs(&self) -> &Outputs {
        &self.outputs
    }

    fn cycle(&mut self, inputs: &Inputs, _: u64) {
        let before = self.clone();
        let out = before.outputs;
        // The interrupt sees the registers as they were.
        self.pending = before.pending && !before.clear || before.cycles == before.compare;
        self.outputs.irq = u32::from(self.pending && before.enable);
        self.clear = false;
        if let Some(compare) = self.written.take() {
            self.compare = compare;
        }
        if inputs.gp_bready != 0 {
            self.outputs.gp_bvalid = 0;
        }
        if inputs.gp_rready != 0 {
            self.outputs.gp_rvalid = 0;
        }
        if inputs.gp_awvalid & out.gp_awready != 0 {
            self.address = Some(inputs.gp_awaddr);
        }
        if inputs.gp_wvalid & out.gp_wready != 0 {
            let bits =
                (0..4).map(|byte| (u32::from(inputs.gp_wstrb) >> byte & 1) * (0xff << (8 * byte)));
            self.data = Some((inputs.gp_wdata, bits.sum()));
        }
        if let (Some(address), Some((data, bits))) = (self.address, self.data) {
            (self.address, self.data) = (None, None);
            self.outputs.gp_bvalid = 1;
            self.outputs.gp_bresp = if self.write(address, data, bits) {
                0
            } else {
                2
            };
        }
        if inputs.gp_arvalid & out.gp_arready != 0 {
            self.outputs.gp_rvalid = 1;
            let word = before.read(inputs.gp_araddr);
            if inputs.gp_araddr & 0xffc == 8 {
                self.upper = (self.cycles >> 32) as u32;
            }
            self.outputs.gp_rresp = if word.is_some() { 0 } else { 2 };
            self.outputs.gp_rdata = word.unwrap_or(0);
        }
        let asked = inputs.gp_awvalid | inputs.gp_wvalid | inputs.gp_arvalid;
        let busy = asked | out.gp_bvalid | out.gp_rvalid != 0;
        self.settled = if busy { 0 } else { (self.settled + 1).min(3) };
        self.cycles += 1;
        self.ready();
    }

    fn skip(&mut self, cycles: u64) {
        self.cycles += cycles;
        self.ready();
    }

    fn lose_power(&mut self, _: u64, cycles: u64) {
        self.skip(cycles);
    }

    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    fn restore(&mut self, _: &[u8]) -> Result<(), BadState> {
        Err(BadState("it is not kept".to_owned()))
    }

    fn begin_waves(&mut self, _: &Path, _: u64) -> Result<(), String> {
        Err("it has no waveforms".to_owned())
    }
}
