//! The fault of each run: drawn from the campaign and the run's number alone.

use fastrand::Rng;
use tactus_abi::blob::Region;
use tactus_board::board::Board;
use tactus_board::fabric::FabricPort;
use tactus_board::fault::{Fault as BoardFault, Register};
use tactus_board::time::Femtoseconds;

use super::description::{Among, Campaign, FabricFault, Fault, Kind, Stall};
use crate::config::Nanoseconds;
use crate::image::Image;

/// Bytes of a line of memory that is used or not.
const LINE: u64 = 64;
/// Registers that a bit may change in: the program counter, x1 to x31 and f0 to f31.
const REGISTERS: u8 = 64;

/// What is drawn for a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// The kind of fault, by its number.
    pub kind: usize,
    /// Femtoseconds from the beginning of the window.
    pub at: Femtoseconds,
    /// What goes wrong.
    pub what: What,
}

/// What goes wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// This, at that time.
    Fault(BoardFault),
    /// A bit of a byte of a VM's memory changes.
    Memory {
        /// The byte's physical address.
        address: u64,
        /// The same for the VM.
        guest: u64,
        /// The bit.
        bit: u8,
    },
    /// A line is held, and let go again after so long.
    Pulse(BoardFault, Femtoseconds, BoardFault),
    /// A register of the hart that a VM has then, or has next.
    Register {
        /// The VM.
        vm: usize,
        /// The register.
        register: Register,
        /// Its bit.
        bit: u8,
    },
}

/// What the faults of a campaign are drawn from.
#[derive(Debug)]
pub struct Space {
    length: Femtoseconds,
    seed: u64,
    kinds: Vec<(Fault, Source)>,
    weights: u64,
}

/// What a kind is drawn from.
#[derive(Debug)]
enum Source {
    /// Bytes of a VM's memory; of these lines, by their offsets, or all.
    Memory(Region, Option<Vec<u64>>),
    /// Registers of a VM's harts.
    Registers(usize),
    /// One and the same.
    Fixed(What),
}

impl Space {
    /// The space of a campaign. `board` is at the beginning of the window.
    ///
    /// # Errors
    /// What a kind names is not there: why, and what to do about it.
    pub fn of(campaign: &Campaign, image: &Image, board: &Board) -> Result<Self, [String; 2]> {
        let mut kinds = Vec::new();
        for fault in &campaign.faults {
            for vm in &fault.affects {
                index(image, vm)?;
            }
            let source = match &fault.kind {
                Kind::Memory { vm, among } => {
                    memory(&image.memories[index(image, vm)?], *among, board, vm)?
                }
                Kind::Registers { vm } => Source::Registers(index(image, vm)?),
                Kind::Line {
                    number,
                    high,
                    lasts,
                } => Source::Fixed(line(*number, *high, *lasts)),
                Kind::Stall(Stall { hart, cycles }) => {
                    let (hart, cycles) = (*hart, *cycles);
                    Source::Fixed(What::Fault(BoardFault::Stall { hart, cycles }))
                }
                Kind::Fabric(fault) => Source::Fixed(What::Fault(of_fabric(*fault))),
            };
            kinds.push((fault.clone(), source));
        }
        Ok(Self {
            length: femtoseconds(campaign.length.0),
            seed: campaign.seed,
            weights: campaign
                .faults
                .iter()
                .map(|fault| u64::from(fault.weight))
                .sum(),
            kinds,
        })
    }

    /// The fault of a run.
    pub fn draw(&self, run: u32) -> Drawn {
        let mut random = Rng::with_seed(self.seed.rotate_left(32) ^ u64::from(run));
        // Seeds that are near each other begin alike.
        let mut random = Rng::with_seed(random.u64(..));
        let mut left = random.u64(..self.weights);
        let mut kind = 0;
        while let Some(rest) = left.checked_sub(self.kinds[kind].0.weight.into()) {
            left = rest;
            kind += 1;
        }
        let at = Femtoseconds(random.u64(..self.length.0));
        let what = match &self.kinds[kind] {
            (_, Source::Memory(region, lines)) => {
                let offset = match lines {
                    Some(lines) => lines[random.usize(..lines.len())] + random.u64(..LINE),
                    None => random.u64(..region.size),
                };
                What::Memory {
                    address: region.host_at(offset),
                    guest: region.guest + offset,
                    bit: random.u8(..8),
                }
            }
            (_, Source::Registers(vm)) => {
                let (register, least) = match random.u8(..REGISTERS) {
                    // Bit 0 of the program counter is always 0.
                    0 => (Register::Pc, 1),
                    number @ 1..32 => (Register::X(number), 0),
                    number => (Register::F(number - 32), 0),
                };
                What::Register {
                    vm: *vm,
                    register,
                    bit: random.u8(least..64),
                }
            }
            (_, Source::Fixed(what)) => what.clone(),
        };
        Drawn { kind, at, what }
    }

    /// The kinds for which nothing is drawn, each with what goes wrong first.
    pub fn fixed(&self) -> impl Iterator<Item = (&Kind, BoardFault)> {
        self.kinds
            .iter()
            .filter_map(|(fault, source)| match source {
                Source::Fixed(What::Fault(first) | What::Pulse(first, ..)) => {
                    Some((&fault.kind, *first))
                }
                _ => None,
            })
    }

    /// A kind of fault.
    pub fn kind(&self, number: usize) -> &Fault {
        &self.kinds[number].0
    }
}

fn line(number: u32, high: bool, lasts: Option<Nanoseconds>) -> What {
    let hold = BoardFault::HoldLine {
        line: number,
        level: high,
    };
    match lasts {
        None => What::Fault(hold),
        Some(lasts) => {
            let release = BoardFault::ReleaseLine { line: number };
            What::Pulse(hold, femtoseconds(lasts.0), release)
        }
    }
}

const fn of_fabric(fault: FabricFault) -> BoardFault {
    use FabricPort::{Acp, Gp, Hp};
    match fault {
        FabricFault::GpError => BoardFault::FabricError { port: Gp },
        FabricFault::AcpError => BoardFault::FabricError { port: Acp },
        FabricFault::HpError => BoardFault::FabricError { port: Hp },
        FabricFault::GpHang => BoardFault::FabricHang { port: Gp },
        FabricFault::AcpHang => BoardFault::FabricHang { port: Acp },
        FabricFault::HpHang => BoardFault::FabricHang { port: Hp },
        FabricFault::EventLost => BoardFault::FabricEventLost,
        FabricFault::EventExtra => BoardFault::FabricEventExtra,
    }
}

/// A VM by its name.
fn index(image: &Image, name: &str) -> Result<usize, [String; 2]> {
    let found = image.vms.iter().position(|vm| vm == name);
    found.ok_or_else(|| {
        [
            format!("there is no VM `{name}`"),
            format!("the system has {}", image.vms.join(", ")),
        ]
    })
}

fn memory(region: &Region, among: Among, board: &Board, vm: &str) -> Result<Source, [String; 2]> {
    if among == Among::All {
        return Ok(Source::Memory(*region, None));
    }
    let mut line = [0; LINE as usize];
    let is_used = |offset: &u64| {
        // What is not there is not used.
        let read = board.memory().read(region.host_at(*offset), &mut line);
        read.is_ok() && line.iter().any(|byte| *byte != 0)
    };
    let used: Vec<u64> = (0..region.size)
        .step_by(LINE as usize)
        .filter(is_used)
        .collect();
    if used.is_empty() {
        return Err([
            format!("all memory of VM `{vm}` is zero when the window begins"),
            "begin later, or say `among = \"all\"`".to_owned(),
        ]);
    }
    Ok(Source::Memory(*region, Some(used)))
}

/// The same time in the board's unit.
pub fn femtoseconds(nanoseconds: u64) -> Femtoseconds {
    Femtoseconds(nanoseconds * (Femtoseconds::SECOND.0 / 1_000_000_000))
}
