//! The fault of each run: drawn from the campaign and the run's number alone.

use std::ops::Range;

use fastrand::Rng;
use tactus_abi::blob::onchip::Memory;
use tactus_board::board::Board;
use tactus_board::fabric::FabricPort;
use tactus_board::fault::{Cache, Fault as BoardFault, Register};
use tactus_board::time::{Clock, Femtoseconds};
use tactus_board::timing::{RegisterOf, Uses};

use super::description::{
    Among, Campaign, Drift, FabricFault, Fault, Kind, Power, Stall, Tag, cache_name,
};
use super::lives::{self, Lives, number_of, register_of};
use super::takeover::Takeover;
use crate::attack::catalog::Attack;
use crate::config::Nanoseconds;
use crate::image::Image;
use crate::sweep::description::Invalid;

/// Bytes of a line of memory that is used or not.
const LINE: u64 = 64;
/// Parts of a whole, in which [`Drawn::share`] counts.
pub const SHARES: u64 = 1_000_000_000;
/// Seeds that a hostile guest's is drawn from.
const SEEDS: u64 = 1 << 32;
/// Registers that a bit may change in: the program counter, x1 to x31 and f0 to f31.
const REGISTERS: u8 = 64;
/// Those of them that are followed: all but the program counter.
const FOLLOWED: u64 = 63;

/// What is drawn for a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// The kind of fault, by its number.
    pub kind: usize,
    /// Femtoseconds from the beginning of the window.
    pub at: Femtoseconds,
    /// What goes wrong.
    pub what: What,
    /// Of all places and times of the kind, the part that it is drawn from, in [`SHARES`]: faults in the rest change
    /// nothing.
    pub share: u64,
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
    /// The hart that a VM has then, or has next, goes on in a hostile guest.
    Hostile {
        /// The VM.
        vm: usize,
        /// What it does.
        attack: &'static Attack,
        /// What its random numbers are made of.
        seed: u64,
    },
    /// A register of the hart that a VM has then, or has next.
    Register {
        /// The VM.
        vm: usize,
        /// The register.
        register: Register,
        /// Its bit; `None`: it becomes 0.
        bit: Option<u8>,
        /// This hart; `None`: the first that the VM has.
        hart: Option<usize>,
    },
}

/// What the faults of a campaign are drawn from.
#[derive(Debug)]
pub struct Space {
    begin: Femtoseconds,
    length: Femtoseconds,
    clock: Clock,
    seed: u64,
    kinds: Vec<(Fault, Source)>,
    weights: u64,
}

/// What a kind is drawn from.
#[derive(Debug)]
enum Source {
    /// A bit of a byte of a VM's memory.
    Memory(Bytes, Option<u8>),
    /// A bit of a byte of a VM's memory that is read later.
    LiveMemory(Memory, Lives<u64>, Option<u8>, u64),
    /// A register of a VM's harts, and its bit.
    Registers(Registers),
    /// The same of one that is read later.
    LiveRegisters(usize, Lives<RegisterOf>, Option<u8>, u64),
    /// A bit of a tag of a cache.
    Tag(Tags),
    /// A VM that turns hostile by one of these, and its seed.
    Hostile(usize, Vec<&'static Attack>, Option<u64>),
    /// So long without power, and what is drawn from then.
    Power(Femtoseconds, Option<u64>),
    /// One and the same.
    Fixed(What),
}

/// Registers of a VM's harts.
#[derive(Debug)]
struct Registers {
    vm: usize,
    register: Option<Register>,
    bit: Option<u8>,
    hart: Option<usize>,
}

/// Tags of a cache.
#[derive(Debug)]
struct Tags {
    cache: Cache,
    hart: usize,
    places: Range<usize>,
    /// Of a line's physical address.
    bits: Range<u32>,
}

/// Bytes of a VM's memory, by their offsets.
#[derive(Debug)]
struct Bytes {
    memory: Memory,
    range: Range<u64>,
    /// Of lines that begin there, as far as they are in the range; `None`: of all.
    lines: Option<Vec<u64>>,
}

impl Bytes {
    fn draw(&self, random: &mut Rng) -> u64 {
        let Range { start, end } = self.range;
        match &self.lines {
            None => random.u64(start..end),
            Some(lines) => {
                let line = lines[random.usize(..lines.len())];
                random.u64(line.max(start)..(line + LINE).min(end))
            }
        }
    }
}

impl Space {
    /// The space of a campaign. `board` is at the beginning of the window; `uses` are those of the run without a fault
    /// from there to its end. `takeovers`: of each kind, what it needs if a VM turns hostile by it.
    ///
    /// # Errors
    /// What a kind names is not there.
    pub fn of(
        campaign: &Campaign,
        image: &Image,
        board: &Board,
        uses: &Uses,
        takeovers: &[Option<Takeover>],
    ) -> Result<Self, Invalid> {
        let begin = board.time();
        let length = femtoseconds(campaign.length.0);
        let clock = board.clock();
        let window = clock.cycle_at(begin)..clock.cycle_at(begin.saturating_add(length));
        let source = |fault: &Fault, takeover: Option<&Takeover>| {
            if let Some(at) = fault.at
                && !(begin..begin.saturating_add(length)).contains(&at)
            {
                let ms = |time: Femtoseconds| time.0 as f64 / 1e12;
                let (from, to) = (ms(begin), ms(begin.saturating_add(length)));
                return Err([
                    format!("`{}` at {:.6} ms is not in the window", fault.kind, ms(at)),
                    format!("it is from {from:.6} to {to:.6} ms"),
                ]);
            }
            for vm in &fault.affects {
                index(image, vm)?;
            }
            Ok(match &fault.kind {
                Kind::Memory {
                    vm,
                    among,
                    range,
                    bit,
                } => {
                    let memory = &image.memories[index(image, vm)?];
                    let range = offsets(memory, *range, vm)?;
                    if *among == Among::Live {
                        let lives = lives::of_memory(uses, memory, &range, &window);
                        let all = (range.end - range.start) * (window.end - window.start);
                        let share = share(&lives, all, &fault.kind)?;
                        Source::LiveMemory(*memory, lives, *bit, share)
                    } else {
                        Source::Memory(bytes(memory, range, *among, board, vm)?, *bit)
                    }
                }
                Kind::Registers {
                    vm,
                    register,
                    bit,
                    hart,
                    is_live,
                } => {
                    let vm = index(image, vm)?;
                    if let Some(hart) = hart.filter(|hart| *hart >= board.harts()) {
                        return Err([
                            format!("there is no hart {hart}"),
                            format!("the board has {}, from 0", board.harts()),
                        ]);
                    }
                    if *is_live {
                        let number = register.and_then(number_of);
                        let wanted = |of: RegisterOf| {
                            of.number != 0
                                && number.is_none_or(|number| number == of.number)
                                && hart.is_none_or(|hart| hart == of.hart)
                        };
                        let vms = image.vms.len();
                        let lives = lives::of_registers(uses, (vm, vms), wanted, &window);
                        let all = lives::cycles_of(uses, (vm, vms), *hart, &window)
                            * if number.is_some() { 1 } else { FOLLOWED };
                        let share = share(&lives, all, &fault.kind)?;
                        Source::LiveRegisters(vm, lives, *bit, share)
                    } else {
                        Source::Registers(Registers {
                            vm,
                            register: *register,
                            bit: *bit,
                            hart: *hart,
                        })
                    }
                }
                Kind::Crash { vm } => Source::Fixed(What::Register {
                    vm: index(image, vm)?,
                    register: Register::Pc,
                    bit: None,
                    hart: None,
                }),
                Kind::Hostile { vm, seed, .. } => {
                    let attacks = takeover.map_or(&[][..], Takeover::attacks);
                    Source::Hostile(index(image, vm)?, attacks.to_vec(), *seed)
                }
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
                Kind::Drift(Drift { ppm }) => {
                    Source::Fixed(What::Fault(BoardFault::FabricDrift { ppm: *ppm }))
                }
                Kind::Tag(tag) => Source::Tag(tags(tag, board)?),
                Kind::Power(Power { off, seed, keeps }) => {
                    for keep in keeps {
                        index(image, &keep.vm)?;
                    }
                    Source::Power(femtoseconds(off.0), *seed)
                }
            })
        };
        let mut kinds = Vec::new();
        for (fault, takeover) in campaign.faults.iter().zip(takeovers) {
            let source =
                source(fault, takeover.as_ref()).map_err(|why| fault.invalid(campaign, why))?;
            kinds.push((fault.clone(), source));
        }
        Ok(Self {
            begin,
            length,
            clock,
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
        let (fault, source) = &self.kinds[kind];
        let any = Femtoseconds(random.u64(..self.length.0));
        let mut share = SHARES;
        let since = |cycle| Femtoseconds(self.clock.time_of(cycle).0.saturating_sub(self.begin.0));
        let mut at = fault
            .at
            .map_or(any, |at| Femtoseconds(at.0.saturating_sub(self.begin.0)));
        let what = match source {
            Source::Memory(bytes, bit) => {
                let offset = bytes.draw(&mut random);
                let any = random.u8(..8);
                What::Memory {
                    address: bytes.memory.host_at(offset),
                    guest: bytes.memory.guest + offset,
                    bit: bit.unwrap_or(any),
                }
            }
            Source::LiveMemory(memory, lives, bit, part) => {
                let (offset, cycle) = lives.draw(&mut random);
                let any = random.u8(..8);
                (at, share) = (since(cycle), *part);
                What::Memory {
                    address: memory.host_at(offset),
                    guest: memory.guest + offset,
                    bit: bit.unwrap_or(any),
                }
            }
            Source::LiveRegisters(vm, lives, bit, part) => {
                let (RegisterOf { hart, number }, cycle) = lives.draw(&mut random);
                let any = random.u8(..64);
                (at, share) = (since(cycle), *part);
                What::Register {
                    vm: *vm,
                    register: register_of(number),
                    bit: Some(bit.unwrap_or(any)),
                    hart: Some(hart),
                }
            }
            Source::Registers(Registers {
                vm,
                register,
                bit,
                hart,
            }) => {
                let any = match random.u8(..REGISTERS) {
                    0 => Register::Pc,
                    number @ 1..32 => Register::X(number),
                    number => Register::F(number - 32),
                };
                let register = register.unwrap_or(any);
                // Bit 0 of the program counter is always 0.
                let any = random.u8(u8::from(register == Register::Pc)..64);
                What::Register {
                    vm: *vm,
                    register,
                    bit: Some(bit.unwrap_or(any)),
                    hart: *hart,
                }
            }
            Source::Tag(tags) => What::Fault(BoardFault::Tag {
                cache: tags.cache,
                hart: tags.hart,
                place: random.usize(tags.places.clone()),
                bit: random.u32(tags.bits.clone()),
            }),
            Source::Hostile(vm, attacks, seed) => {
                let attack = attacks[random.usize(..attacks.len())];
                let any = random.u64(..SEEDS);
                What::Hostile {
                    vm: *vm,
                    attack,
                    seed: seed.unwrap_or(any),
                }
            }
            Source::Power(off, seed) => What::Fault(BoardFault::PowerLoss {
                off: *off,
                seed: seed.unwrap_or_else(|| random.u64(..)),
            }),
            Source::Fixed(what) => what.clone(),
        };
        Drawn {
            kind,
            at,
            what,
            share,
        }
    }

    /// The physical addresses of the memory that faults of a campaign may change.
    ///
    /// # Errors
    /// There is no such VM.
    pub fn memory(campaign: &Campaign, image: &Image) -> Result<Vec<Range<u64>>, Invalid> {
        let mut all = Vec::new();
        for fault in &campaign.faults {
            let Kind::Memory { vm, .. } = &fault.kind else {
                continue;
            };
            let vm = index(image, vm).map_err(|why| fault.invalid(campaign, why))?;
            let extents = image.memories[vm].extents();
            let extents = extents.map(|(begin, end)| begin..end);
            all.extend(extents.into_iter().filter(|extent| !extent.is_empty()));
        }
        Ok(all)
    }

    /// The kinds of which it is to be tried whether they can be, each with what goes wrong first.
    pub fn fixed(&self) -> impl Iterator<Item = (&Kind, BoardFault)> {
        self.kinds
            .iter()
            .filter_map(|(fault, source)| match source {
                Source::Fixed(What::Fault(first) | What::Pulse(first, ..)) => {
                    Some((&fault.kind, *first))
                }
                Source::Power(off, _) => {
                    Some((&fault.kind, BoardFault::PowerLoss { off: *off, seed: 0 }))
                }
                _ => None,
            })
    }

    /// A kind of fault.
    pub fn kind(&self, number: usize) -> &Fault {
        &self.kinds[number].0
    }
}

/// The tags that a fault may be of: those of all places, and the bits in which lines of main memory differ.
fn tags(tag: &Tag, board: &Board) -> Result<Tags, [String; 2]> {
    let Tag {
        cache, place, bit, ..
    } = *tag;
    let hart = tag.hart.unwrap_or(0);
    let name = cache_name(cache);
    let there = board.tags(cache, hart).ok_or_else(|| {
        [
            format!("there is no cache `{name}` of hart {hart}"),
            "the profile `soc` has caches; its harts count from 0".to_owned(),
        ]
    })?;
    let last = board.memory().base() + (board.memory().size() - 1);
    let bits = there.bits.start..(u64::BITS - last.leading_zeros());
    let is_there = place.is_none_or(|place| place < there.places)
        && bit.is_none_or(|bit| there.bits.contains(&bit));
    if !is_there {
        let (places, first, end) = (there.places, there.bits.start, there.bits.end);
        return Err([
            format!("the cache `{name}` has no such tag"),
            format!(
                "it has {places} places, from 0, and bits {first} to {} of addresses",
                end - 1
            ),
        ]);
    }
    Ok(Tags {
        cache,
        hart,
        places: place.map_or(0..there.places, |place| place..place + 1),
        bits: bit.map_or(bits, |bit| bit..bit + 1),
    })
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

/// The part of `all` places and times that is live.
fn share<P: Copy>(lives: &Lives<P>, all: u64, kind: &Kind) -> Result<u64, [String; 2]> {
    if lives.cycles() == 0 {
        return Err([
            format!("of the {kind} nothing is read later in the window"),
            "begin elsewhere, or leave `among` out".to_owned(),
        ]);
    }
    let share = u128::from(lives.cycles()) * u128::from(SHARES) / u128::from(all.max(1));
    Ok((share as u64).clamp(1, SHARES))
}

/// The offsets of a VM's memory that addresses of its stand for.
fn offsets(
    memory: &Memory,
    range: Option<(u64, u64)>,
    vm: &str,
) -> Result<Range<u64>, [String; 2]> {
    let Some((first, size)) = range else {
        return Ok(0..memory.size);
    };
    let start = first.checked_sub(memory.guest);
    let end = start.and_then(|start| start.checked_add(size));
    match start.zip(end) {
        Some((start, end)) if end <= memory.size => Ok(start..end),
        _ => {
            let (from, to) = (memory.guest, memory.guest + memory.size);
            Err([
                format!("{size:#x} bytes at {first:#x} are not in the memory of VM `{vm}`"),
                format!("it is from {from:#x} to {to:#x}"),
            ])
        }
    }
}

fn bytes(
    memory: &Memory,
    range: Range<u64>,
    among: Among,
    board: &Board,
    vm: &str,
) -> Result<Bytes, [String; 2]> {
    if among == Among::All {
        return Ok(Bytes {
            memory: *memory,
            range,
            lines: None,
        });
    }
    let mut line = [0; LINE as usize];
    let is_used = |offset: &u64| {
        // What is not there is not used.
        let read = board.memory().read(memory.host_at(*offset), &mut line);
        read.is_ok() && line.iter().any(|byte| *byte != 0)
    };
    let used: Vec<u64> = (range.start / LINE * LINE..range.end)
        .step_by(LINE as usize)
        .filter(is_used)
        .collect();
    if used.is_empty() {
        return Err([
            format!("all memory of VM `{vm}` that may change is zero when the window begins"),
            "begin later, or say `among = \"all\"`".to_owned(),
        ]);
    }
    Ok(Bytes {
        memory: *memory,
        range,
        lines: Some(used),
    })
}

/// The same time in the board's unit.
pub fn femtoseconds(nanoseconds: u64) -> Femtoseconds {
    Femtoseconds(nanoseconds * (Femtoseconds::SECOND.0 / 1_000_000_000))
}
