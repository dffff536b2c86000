//! How long a request to a device behind the I/O hypervisor takes at most: from the cycle in which it is asked to that
//! in which its response is there, whatever all others do. `docs/src/reference/io-hypervisor.md` has the arbiter's
//! rules, `io-devices.md` the times at the devices, `mesh.md` those of packets.

use std::fmt;

use crate::config::IoPolicy;
use crate::plan;
use crate::problem::count;

pub(crate) use memory::{Memory, Transfers};
pub(crate) use mesh::Mesh;

/// The longest request.
pub(crate) const LENGTH_MAX: u64 = 1536;
/// The longest frame.
pub(crate) const FRAME_MAX: u64 = 1514;
/// Cycles of a bit of the UART in the designs, and what waits of what came.
const DIVISOR: u64 = 868;
const QUEUE_BYTES: u64 = 64;
/// Bytes of a page of the flash.
const PAGE: u64 = 256;
/// Bytes of a word of data: between two of them a request is suspended.
const WORD: u64 = 4;
/// The longest times of the part, with the tenth that the driver waits longer, in cycles of 100 MHz: programming a
/// page, erasing 64 KiB.
const PROGRAM: u64 = 330_000;
const ERASE: u64 = 220_000_000;
/// Until the part is known not to be busy any more with a page, which the answer to a write of which more follows does
/// not wait for.
const PENDING: u64 = PROGRAM + 64 + 18;

/// On its way through a port's page, its engine and the arbiter.
const PORT_WAY: u64 = 16;
/// Between two turns; from a request to the first turn.
const BETWEEN: u64 = 5;
const BEFORE: u64 = 4;

/// What a port may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Port {
    /// The UART, and whether it has what comes there.
    pub(crate) uart: Option<bool>,
    /// A part of the flash, and whether it may change it.
    pub(crate) flash: Option<bool>,
    /// A window of the display, of so many pixels.
    pub(crate) window: Option<u64>,
    /// Ethernet.
    pub(crate) ethernet: bool,
}

impl Port {
    /// That of a description.
    pub(crate) fn of(port: &plan::IoPort, reads: bool) -> Self {
        Self {
            uart: port.uart.then_some(reads),
            flash: port.flash.map(|area| area.writable),
            window: port.window.map(|window| window.x.size() * window.y.size()),
            ethernet: port.station.is_some(),
        }
    }
}

/// A request to a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    UartRead,
    UartWrite(u64),
    FlashRead(u64),
    FlashWrite(u64),
    FlashErase,
    VgaWrite(u64),
    /// A rectangle of so many pixels.
    VgaFill(u64),
    EthernetRead(u64),
    EthernetWrite(u64),
}

impl Request {
    /// Index of the device: UART, flash, VGA, Ethernet.
    pub(crate) const fn device(self) -> usize {
        match self {
            Self::UartRead | Self::UartWrite(_) => 0,
            Self::FlashRead(_) | Self::FlashWrite(_) | Self::FlashErase => 1,
            Self::VgaWrite(_) | Self::VgaFill(_) => 2,
            Self::EthernetRead(_) | Self::EthernetWrite(_) => 3,
        }
    }

    /// Cycles that the device has to do with it at most (`docs/src/reference/io-devices.md`).
    pub(crate) const fn turn(self) -> u64 {
        match self {
            Self::UartRead => QUEUE_BYTES + 8,
            Self::UartWrite(length) => length * (10 * DIVISOR + 1) + 6,
            Self::FlashRead(length) => 4 * (10 + length) + 10,
            Self::FlashWrite(length) => {
                let pages = length / PAGE + 2;
                program(length, pages)
            }
            Self::FlashErase => 160 + 52 + ERASE,
            Self::VgaWrite(length) => length + 10,
            Self::VgaFill(pixels) => pixels + 20,
            Self::EthernetRead(length) => length + 8,
            Self::EthernetWrite(length) => length + 78,
        }
    }

    /// Cycles for which the device goes on with it at most when a request of a higher priority comes, by fixed
    /// priority: until it is done, or suspended.
    const fn piece(self) -> u64 {
        const fn least(length: u64, piece: u64) -> u64 {
            if length < piece { length } else { piece }
        }
        match self {
            // To the end of a word, which may be the next but one when the device notices.
            Self::FlashRead(length) => Self::FlashRead(least(length, 2 * WORD)).turn(),
            // The page, which is programmed when the one before is, and the words that the device has taken.
            Self::FlashWrite(length) => program(least(length, PAGE + 2 * WORD), 2),
            _ => self.turn(),
        }
    }

    /// Its accesses to memory, where its data are there (`docs/src/reference/io-hypervisor.md`).
    pub(crate) const fn transfers(self) -> Transfers {
        match self {
            Self::UartRead => Transfers::to_memory(QUEUE_BYTES),
            Self::FlashRead(length) | Self::EthernetRead(length) => Transfers::to_memory(length),
            Self::UartWrite(length)
            | Self::FlashWrite(length)
            | Self::VgaWrite(length)
            | Self::EthernetWrite(length) => Transfers::from_memory(length),
            // The rectangle's size and colour.
            Self::VgaFill(_) => Transfers::from_memory(5),
            Self::FlashErase => Transfers::from_memory(0),
        }
    }

    /// All kinds that a port may ask, for which a bound is of interest; what takes a device longest is among them.
    pub(crate) fn all(port: Port) -> Vec<Self> {
        let mut all = Vec::new();
        if let Some(reads) = port.uart {
            all.extend(reads.then_some(Self::UartRead));
            all.extend([Self::UartWrite(1), Self::UartWrite(LENGTH_MAX)]);
        }
        if let Some(writable) = port.flash {
            all.extend([4, PAGE, LENGTH_MAX].map(Self::FlashRead));
            if writable {
                all.extend([Self::FlashWrite(LENGTH_MAX), Self::FlashErase]);
            }
        }
        if let Some(pixels) = port.window {
            all.extend([Self::VgaWrite(1), Self::VgaWrite(LENGTH_MAX)]);
            all.push(Self::VgaFill(pixels));
        }
        if port.ethernet {
            all.extend([
                Self::EthernetRead(FRAME_MAX),
                Self::EthernetWrite(FRAME_MAX),
            ]);
        }
        all
    }
}

/// Cycles that bytes take to become part of so many pages of the flash at most.
const fn program(length: u64, pages: u64) -> u64 {
    17 * length + 16 + 18 + pages * (144 + 38 + PROGRAM)
}

impl fmt::Display for Request {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = |number: u64| count(number as usize, "byte");
        match self {
            Self::UartRead => write!(formatter, "UART: read"),
            Self::UartWrite(length) => write!(formatter, "UART: write {}", bytes(*length)),
            Self::FlashRead(length) => write!(formatter, "flash: read {}", bytes(*length)),
            Self::FlashWrite(length) => write!(formatter, "flash: write {}", bytes(*length)),
            Self::FlashErase => write!(formatter, "flash: erase 64 KiB"),
            Self::VgaWrite(length) => {
                write!(formatter, "VGA: draw {}", count(*length as usize, "pixel"))
            }
            Self::VgaFill(pixels) => {
                write!(formatter, "VGA: fill {}", count(*pixels as usize, "pixel"))
            }
            Self::EthernetRead(length) => {
                write!(formatter, "Ethernet: read a frame of {}", bytes(*length))
            }
            Self::EthernetWrite(length) => {
                write!(formatter, "Ethernet: send a frame of {}", bytes(*length))
            }
        }
    }
}

/// How long a port uses a device at most, in cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    /// Of its longest request.
    turn: u64,
    /// When a request of a higher priority comes.
    piece: u64,
}

/// The longest time for which others keep a request waiting, when each that may use the device, by its place in the
/// order of priority, uses it so long at most. `None`: there is no such time, as those before it may ask again and
/// again.
pub(crate) fn wait(policy: IoPolicy, users: &[Use], own: usize) -> Option<u64> {
    let others = || {
        let others = users.iter().enumerate().filter(|(port, _)| *port != own);
        others.map(|(_, user)| user)
    };
    let before = match policy {
        // One that is under way, and each other one once.
        IoPolicy::RoundRobin | IoPolicy::Fifo => {
            let longest = others().map(|user| user.turn).max().unwrap_or(0);
            longest + others().map(|user| user.turn + BETWEEN).sum::<u64>()
        }
        // It preempts the one that is under way.
        IoPolicy::FixedPriority if own == 0 => others().map(|user| user.piece).max().unwrap_or(0),
        IoPolicy::FixedPriority => return None,
    };
    Some(before + BETWEEN + BEFORE)
}

/// How requests come.
#[derive(Clone, Debug)]
pub(crate) enum Way {
    /// By a page of the port, with data in its buffers or in memory.
    Page(Memory),
    /// By packets from tiles. Ports are numbered as they are.
    Mesh(Mesh),
}

/// The ports that share the devices.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    /// Of UART, flash, VGA and Ethernet.
    pub(crate) policies: [IoPolicy; 4],
    /// How requests come.
    pub(crate) way: Way,
    /// Each with its number, ascending.
    pub(crate) ports: Vec<(usize, Port)>,
}

impl Shared {
    /// How long a request's data are on their way between port and memory at most, in cycles of the fabric, whatever
    /// the others ask for. `None`: by this way no data are in memory.
    pub(crate) fn in_memory(&self, number: usize, request: Request) -> Option<u64> {
        let Way::Page(memory) = &self.way else {
            return None;
        };
        let others = self.ports.iter().filter(|(port, _)| *port != number);
        Some(memory.time(request.transfers(), memory::before(number, others.count())))
    }

    /// The longest that a request of a port, by its number, takes, in cycles of the fabric, whatever the others ask for
    /// that they may, wherever its data are. `None`: that is not bounded, or there is no such port.
    pub(crate) fn bound(&self, number: usize, request: Request) -> Option<u64> {
        let flash = Request::FlashErase.device();
        // Bytes of a page that a writer has left joined are programmed first.
        let kept = |port: Port| {
            let keeps = request.device() == flash && port.flash == Some(true);
            if keeps { program(PAGE - 1, 1) } else { 0 }
        };
        let longest = |port: Port| {
            let mut all = Request::all(port);
            all.retain(|other| other.device() == request.device());
            Some(Use {
                turn: kept(port) + all.iter().map(|other| other.turn()).max()?,
                piece: kept(port) + all.iter().map(|other| other.piece()).max()?,
            })
        };
        let users = self.ports.iter();
        let users: Vec<(usize, Use)> = users
            .filter_map(|(number, port)| Some((*number, longest(*port)?)))
            .collect();
        let own = users.iter().position(|(user, _)| *user == number)?;
        let mut all = self.ports.iter();
        let (_, port) = all.find(|(user, _)| *user == number)?;
        // A page may be left of a write before all of these.
        let changes = self.ports.iter().any(|(_, port)| port.flash == Some(true));
        let pending = if request.device() == flash && changes {
            PENDING
        } else {
            0
        };
        let uses: Vec<Use> = users.iter().map(|(_, user)| *user).collect();
        let way = match &self.way {
            Way::Page(_) => PORT_WAY,
            Way::Mesh(mesh) => {
                // All others' responses may go before.
                let back = self.ports.iter().map(|(tile, _)| mesh.back[*tile]);
                mesh.there[number] + mesh::REST + back.sum::<u64>()
            }
        };
        let wait = wait(self.policies[request.device()], &uses, own)?;
        let in_memory = self.in_memory(number, request).unwrap_or(0);
        Some(way + pending + in_memory + wait + kept(*port) + request.turn())
    }
}

/// Data between a port and its VM's memory, by the tree of four ports (`docs/src/reference/memory-tree.md`) and the
/// coherent port.
///
/// A port's engine has one access under way: a line of 64 bytes that is read, or a row of 8 bytes that is written. It
/// fetches all data of a request before it asks for the device, and stores what came back after the device is done: no
/// port has a device while its data are on their way, and the times add up. An access takes
///
/// * what the engine and the tree take, where nothing waits: [`ENGINE`](memory::ENGINE);
/// * for each access of another port that goes before, the longest that the tree's root is busy with one;
/// * as long as the root is busy with it.
mod memory {
    use tactus_board::profile::Profile;
    use tactus_board::timing::parameters;

    /// Bytes that one access reads, and that one writes.
    const LINE: u64 = 64;
    const ROW: u64 = 8;
    /// Cycles of an access beside its root's: `Locate`, `Load`, the register of each of the tree's two levels, the
    /// register of replies, `Reply`.
    pub(super) const ENGINE: u64 = 6;
    /// Cycles of the root beside memory's, of a read and of a write: until the last of its registers shows the access
    /// at the port (`axi_master`); the words of a line, or the answer.
    const ROOT_READ: u64 = 2 + LINE / ROW;
    const ROOT_WRITE: u64 = 3 + 1;

    /// The accesses to memory of a request.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) struct Transfers {
        reads: u64,
        writes: u64,
    }

    impl Transfers {
        pub(super) const fn from_memory(bytes: u64) -> Self {
            Self {
                reads: bytes.div_ceil(LINE),
                writes: 0,
            }
        }

        pub(super) const fn to_memory(bytes: u64) -> Self {
            Self {
                reads: 0,
                writes: bytes.div_ceil(ROW),
            }
        }
    }

    /// How many accesses of other ports, of so many, go before one of a port at most, with the one that is under way.
    /// The tree's nodes let an access pass one of the other side; each port has one access. Those on the right may be
    /// passed at the root once more (`no_access_waits_for_more_others_than_stated` tries all that can happen).
    pub(super) const fn before(port: usize, others: usize) -> u64 {
        let again = port >= 2 && others >= 2;
        others as u64 + again as u64
    }

    /// How long the root is busy with an access at most, in cycles of the fabric.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) struct Memory {
        read: u64,
        write: u64,
    }

    impl Memory {
        /// That of a board: each line of the L2 cache is found in another L1 cache, or comes from memory, where all
        /// other masters' requests go before. `None`: it has no fabric.
        pub(crate) fn of(profile: &Profile) -> Option<Self> {
            let fabric = profile.fabric.as_ref()?;
            let timing = &profile.timing;
            let masters = u64::from(profile.harts.max) + 1;
            let access = longest_access(&timing.memory, masters);
            // Without caches, words stand for lines.
            let (line, read, write) =
                timing
                    .caches
                    .as_ref()
                    .map_or((ROW, access, access), |caches| {
                        let l2 = u64::from(caches.l2_latency);
                        let copies = u64::from(caches.intervention.max(caches.snoop));
                        let invalidated = copies.max(caches.invalidation.into());
                        let line = caches.l1d.line;
                        (line, l2 + access.max(copies), l2 + access.max(invalidated))
                    });
            // To the harts' clock and back: each side sees a signal at its next edge, and `crossing` cycles later.
            let hart_cycles = |cycles: u64| {
                let cycles = u128::from(1 + fabric.crossing + cycles);
                let there =
                    (cycles * u128::from(fabric.clock_hz)).div_ceil(profile.clock_hz.into());
                there as u64 + fabric.crossing
            };
            Some(Self {
                read: ROOT_READ + hart_cycles(LINE.div_ceil(line) * read),
                write: ROOT_WRITE + hart_cycles(write),
            })
        }

        /// That of transfers of which each waits for so many accesses of others.
        pub(super) const fn time(self, transfers: Transfers, before: u64) -> u64 {
            let longest = if self.read > self.write {
                self.read
            } else {
                self.write
            };
            let around = ENGINE + before * longest;
            transfers.reads * (around + self.read) + transfers.writes * (around + self.write)
        }
    }

    /// Of main memory, in cycles of the harts, while each of the masters has a request there.
    fn longest_access(memory: &parameters::Memory, masters: u64) -> u64 {
        let sum = |costs: &[u32]| costs.iter().map(|cost| u64::from(*cost)).sum::<u64>();
        match memory {
            parameters::Memory::Fixed(fixed) => {
                masters * u64::from(fixed.transfer) + u64::from(fixed.latency)
            }
            parameters::Memory::OpenRow(row) => {
                let latency = row.row_hit.max(row.row_closed).max(row.row_conflict);
                masters * u64::from(row.transfer.max(row.bank_busy))
                    + sum(&[row.refresh_cycles, row.controller, latency])
            }
        }
    }
}

/// Packets between tiles and the I/O hypervisor, which is at place (0, 4) of a mesh of 4 x 5
/// (`docs/src/reference/mesh.md`).
///
/// At a router a packet waits for one packet of each other input by which packets come that leave by the same output.
/// One that has an output keeps it until its last flit has gone, and so for as long as it waits for, and takes, the
/// output of the next router. Hence it takes, from the last router to the first, as often as long as there are such
/// inputs.
mod mesh {
    use std::collections::BTreeSet;

    use tactus_board::fabric::TILES;

    /// Besides the routers: of a tile's interface and of the I/O hypervisor's.
    pub(super) const REST: u64 = 24;
    /// Of a flit through a router.
    const ROUTER: u64 = 4;
    /// The longest packet: five cycles for four flits.
    const PACKET: u64 = 513 * 5 / 4 + 1;
    /// The I/O hypervisor, and timed I/O: they send to tiles only.
    const IO: [usize; 2] = [0, 4];
    const TIMED: [usize; 2] = [1, 4];

    /// A side of a router, as the way that a packet goes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    enum Way {
        East,
        West,
        Up,
        Down,
        Local,
    }

    /// From which side to which a packet goes through the router at a place.
    type Hop = ([usize; 2], Way, Way);

    /// The routers between two places: first along X, then along Y.
    fn path(from: [usize; 2], to: [usize; 2]) -> Vec<Hop> {
        let (mut at, mut came) = (from, Way::Local);
        let mut path = Vec::new();
        loop {
            let here = at;
            let way = if to[0] > at[0] {
                at[0] += 1;
                Way::East
            } else if to[0] < at[0] {
                at[0] -= 1;
                Way::West
            } else if to[1] > at[1] {
                at[1] += 1;
                Way::Up
            } else if to[1] < at[1] {
                at[1] -= 1;
                Way::Down
            } else {
                path.push((here, came, Way::Local));
                return path;
            };
            path.push((here, came, way));
            came = way;
        }
    }

    /// How long packets travel at most in a mesh in which some tiles send whatever they like to each other and to the
    /// I/O.
    #[derive(Clone, Debug)]
    pub(crate) struct Mesh {
        /// A request, by the tile that sends it.
        pub(crate) there: Vec<u64>,
        /// A response, by the tile that it goes to.
        pub(crate) back: Vec<u64>,
    }

    impl Mesh {
        pub(crate) fn of(tiles: &[usize]) -> Self {
            let places: Vec<[usize; 2]> = tiles.iter().map(|tile| place(*tile)).collect();
            let mut hops = BTreeSet::new();
            for tile in &places {
                for io in [IO, TIMED] {
                    hops.extend(path(*tile, io));
                    hops.extend(path(io, *tile));
                }
                for other in &places {
                    hops.extend(path(*tile, *other));
                }
            }
            let all = || (0..TILES).map(place);
            Self {
                there: all().map(|tile| travel(&hops, tile, IO)).collect(),
                back: all().map(|tile| travel(&hops, IO, tile)).collect(),
            }
        }
    }

    fn travel(hops: &BTreeSet<Hop>, from: [usize; 2], to: [usize; 2]) -> u64 {
        path(from, to)
            .into_iter()
            .rev()
            .fold(PACKET, |after, (at, _, to)| {
                let same = hops.iter().filter(|hop| hop.0 == at && hop.2 == to);
                same.count() as u64 * (after + ROUTER)
            })
    }

    const fn place(tile: usize) -> [usize; 2] {
        [tile % 4, tile / 4]
    }
}

#[cfg(test)]
mod measured;

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    /// What the arbiter does: ports ask, and each turn begins as late as it may. By fixed priority a turn ends, and
    /// what is left asks again, when a port with a lower number has asked for `piece` cycles. Gives how long port `own`
    /// waited for each of its requests' first turns.
    fn arbitrated(policy: IoPolicy, asks: &[Vec<(u64, u64)>], piece: u64, own: usize) -> Vec<u64> {
        let mut next = vec![0; asks.len()];
        // A port asks again when its turn is over; what is left of a request that is suspended.
        let mut free = vec![0; asks.len()];
        let mut left: Vec<Option<u64>> = vec![None; asks.len()];
        let (mut now, mut last) = (0, asks.len() - 1);
        let mut waited = Vec::new();
        loop {
            let since = |port: usize| {
                let (after, _) = asks[port].get(next[port])?;
                Some(free[port] + left[port].map_or(*after, |_| 0))
            };
            let open: Vec<(usize, u64)> = (0..asks.len())
                .filter_map(|port| Some((port, since(port)?)))
                .collect();
            let Some(first) = open.iter().map(|(_, since)| *since).min() else {
                return waited;
            };
            now = now.max(first);
            let asking = open.iter().filter(|(_, since)| *since <= now);
            let (port, since) = *match policy {
                IoPolicy::RoundRobin => {
                    asking.min_by_key(|(port, _)| (port + asks.len() - last - 1) % asks.len())
                }
                IoPolicy::FixedPriority => asking.min_by_key(|(port, _)| *port),
                IoPolicy::Fifo => asking.min_by_key(|(port, since)| (*since, *port)),
            }
            .expect("one that asks");
            if port == own && left[port].is_none() {
                waited.push(now - since);
            }
            let end = now + left[port].unwrap_or(asks[port][next[port]].1);
            let preempting = open.iter().filter(|(other, _)| *other < port);
            let preempted = preempting.map(|(_, since)| since + piece).min();
            now = match preempted {
                Some(at) if policy == IoPolicy::FixedPriority && at < end => {
                    left[port] = Some(end - at);
                    at
                }
                _ => {
                    left[port] = None;
                    next[port] += 1;
                    end
                }
            } + BETWEEN;
            free[port] = now;
            last = port;
        }
    }

    fn policies() -> impl Strategy<Value = IoPolicy> {
        prop_oneof![
            Just(IoPolicy::RoundRobin),
            Just(IoPolicy::FixedPriority),
            Just(IoPolicy::Fifo)
        ]
    }

    proptest! {
        #[test]
        fn no_port_waits_longer_than_the_bound(
            policy in policies(),
            asks in prop::collection::vec(prop::collection::vec((0_u64..60, 1_u64..50), 1..30), 1..6),
            piece in 1_u64..50,
            own in any::<prop::sample::Index>(),
        ) {
            let own = own.index(asks.len());
            let longest_turn = |asks: &Vec<(u64, u64)>| asks.iter().map(|(_, turn)| *turn).max().unwrap_or(0);
            let turns = asks.iter().map(longest_turn);
            let users: Vec<Use> = turns.map(|turn| Use { turn, piece: turn.min(piece) }).collect();
            let longest = arbitrated(policy, &asks, piece, own).into_iter().max().unwrap_or(0);
            match wait(policy, &users, own) {
                Some(bound) => prop_assert!(longest <= bound, "{longest} of {bound}"),
                None => prop_assert!(policy == IoPolicy::FixedPriority && own > 0),
            }
        }
    }

    #[test]
    fn the_bound_is_no_longer_than_it_has_to_be() {
        // One turn has just begun, and all others ask at once: those above come before, and then the one that was under
        // way again.
        let whole = [100, 10, 20, 30].map(|turn| Use { turn, piece: turn });
        assert_eq!(
            wait(IoPolicy::RoundRobin, &whole, 0),
            Some(30 + 60 + 4 * 5 + 4)
        );
        assert_eq!(wait(IoPolicy::FixedPriority, &whole, 0), Some(30 + 5 + 4));
        assert_eq!(wait(IoPolicy::FixedPriority, &whole, 1), None);
        assert_eq!(wait(IoPolicy::Fifo, &whole[..1], 0), Some(9));
        // By fixed priority one that can be suspended is.
        let cut = whole.map(|user| Use { piece: 3, ..user });
        assert_eq!(wait(IoPolicy::FixedPriority, &cut, 0), Some(3 + 5 + 4));
        assert_eq!(
            wait(IoPolicy::RoundRobin, &cut, 0),
            Some(30 + 60 + 4 * 5 + 4)
        );
    }

    #[test]
    fn a_request_is_suspended_within_a_word_or_a_page() {
        let read = |length| Request::FlashRead(length).piece();
        assert_eq!(read(LENGTH_MAX), Request::FlashRead(8).turn());
        assert_eq!(read(4), Request::FlashRead(4).turn());
        let write = Request::FlashWrite(LENGTH_MAX).piece();
        assert!(write > 2 * PROGRAM && write < 3 * PROGRAM);
        for length in [1, 255, 256, 257, LENGTH_MAX] {
            let write = Request::FlashWrite(length);
            assert!(write.piece() <= write.turn());
        }
        // What the device does not suspend.
        assert_eq!(Request::FlashErase.piece(), Request::FlashErase.turn());
        let frame = Request::EthernetWrite(FRAME_MAX);
        assert_eq!(frame.piece(), frame.turn());
    }

    /// The memory tree of four ports (`memory_tree_node.sv`, `BLOCKED_MAX` = 1), of which each has one access: the
    /// registers of the left and the right node and of the root node, how often what waits on the right of each has
    /// been passed, the access that the root is busy with, and those that are offered.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
    struct Tree {
        registers: [Option<u8>; 3],
        passed: [bool; 3],
        busy: Option<u8>,
        offered: u8,
    }

    /// The access that a node's register takes: the left one, or the right one if it is alone or has been passed.
    fn select(left: Option<u8>, right: Option<u8>, passed: &mut bool) -> Option<u8> {
        let takes_right = right.is_some() && (left.is_none() || *passed);
        *passed = right.is_some() && !takes_right;
        if takes_right { right } else { left }
    }

    impl Tree {
        fn has(&self, port: u8) -> bool {
            let registers = self.registers.iter().chain([&self.busy]);
            self.offered >> port & 1 != 0 || registers.flatten().any(|own| *own == port)
        }

        /// A cycle of the tree, in which the root takes an access if it is idle. Gives that.
        fn cycle(mut self) -> (Self, Option<u8>) {
            let taken = self.registers[2].filter(|_| self.busy.is_none());
            self.busy = self.busy.or(taken);
            if taken.is_some() {
                self.registers[2] = None;
            }
            let mut room = [self.registers[0].is_none(), self.registers[1].is_none()];
            if self.registers[2].is_none() {
                let [left, right, _] = self.registers;
                let selected = select(left, right, &mut self.passed[2]);
                self.registers[2] = selected;
                for side in [0, 1] {
                    if selected.is_some() && self.registers[side] == selected {
                        self.registers[side] = None;
                        room[side] = true;
                    }
                }
            }
            for side in [0, 1] {
                if room[side] {
                    let offers = |port: u8| (self.offered >> port & 1 != 0).then_some(port);
                    let (left, right) = (offers(2 * side as u8), offers(2 * side as u8 + 1));
                    let selected = select(left, right, &mut self.passed[side]);
                    self.registers[side] = selected;
                    self.offered &= !selected.map_or(0, |port| 1 << port);
                }
            }
            (self, taken)
        }

        /// All that can follow in a cycle, when any of `ports` without an access may offer one, and the access under
        /// way may end.
        fn next(self, ports: u8) -> Vec<(Self, Option<u8>)> {
            let idle = (0..4).filter(|port| ports >> port & 1 != 0 && !self.has(*port));
            let idle = idle.fold(0, |all: u8, port| all | 1 << port);
            let mut all = Vec::new();
            for more in (0..16).filter(|more| more & !idle == 0) {
                let (next, taken) = Self {
                    offered: self.offered | more,
                    ..self
                }
                .cycle();
                all.push((next, taken));
                if self.busy.is_some() {
                    all.push((Self { busy: None, ..next }, taken));
                }
            }
            all
        }
    }

    /// All that the tree can come to from some states.
    fn reached(from: BTreeSet<Tree>, next: impl Fn(Tree) -> Vec<Tree>) -> BTreeSet<Tree> {
        let mut all = from.clone();
        let mut open: Vec<Tree> = from.into_iter().collect();
        while let Some(state) = open.pop() {
            open.extend(next(state).into_iter().filter(|next| all.insert(*next)));
        }
        all
    }

    /// Accesses that the root is busy with, from the offer of a port's access until it takes that, at most.
    fn most_before(own: u8, ports: u8) -> u64 {
        let states = |next: Vec<(Tree, _)>| next.into_iter().map(|(next, _)| next).collect();
        let all = reached([Tree::default()].into(), |state| states(state.next(ports)));
        let offered = all.into_iter().filter(|state| !state.has(own));
        let offered: BTreeSet<Tree> = offered
            .map(|state| Tree {
                offered: state.offered | 1 << own,
                ..state
            })
            .collect();
        let others = ports & !(1 << own);
        let waits = |state: Tree| {
            let mut next = state.next(others);
            next.retain(|(_, taken)| *taken != Some(own));
            next
        };
        let all = reached(offered.clone(), |state| states(waits(state)));
        // The longest way, by as many rounds as it has steps.
        let mut most: BTreeMap<Tree, u64> = all.iter().map(|state| (*state, 0)).collect();
        for _ in 0..100 {
            let mut changed = false;
            for state in &all {
                let next = waits(*state).into_iter();
                let here = next
                    .map(|(next, taken)| most[&next] + u64::from(taken.is_some()))
                    .max();
                changed |= here > Some(most[state]);
                most.insert(*state, here.unwrap_or(0).max(most[state]));
            }
            if !changed {
                let under_way = |state: &Tree| u64::from(state.busy.is_some());
                let from = offered.iter();
                return from
                    .map(|state| most[state] + under_way(state))
                    .max()
                    .expect("some");
            }
        }
        panic!("port {own} of {ports:#06b} may wait for ever");
    }

    #[test]
    fn no_access_waits_for_more_others_than_stated() {
        for ports in 1_u8..16 {
            for own in (0..4).filter(|own| ports >> own & 1 != 0) {
                let others = ports.count_ones() as usize - 1;
                let (most, stated) = (most_before(own, ports), memory::before(own.into(), others));
                assert!(most <= stated, "{own} of {ports:#06b}: {most}");
                // With all ports it is no more than it has to be.
                assert!(most == stated || ports != 15, "{own}: {most}");
            }
        }
    }

    #[test]
    fn who_is_far_away_may_wait_longer_on_the_mesh() {
        let all: Vec<usize> = (0..16).collect();
        let mesh = Mesh::of(&all);
        for tile in 0..16 {
            let column = tile % 4;
            assert!(
                column == 0 || mesh.there[tile] >= mesh.there[tile - 1],
                "{tile}"
            );
            assert!(
                tile < 4 || mesh.there[tile] < mesh.there[tile - 4],
                "{tile}"
            );
        }
        // Two routers: at the first the tile itself, and those above and beside it; at the second only who comes from
        // there.
        assert_eq!(mesh.there[12], 3 * (642 + 4 + 4));
        // A single port waits for no other.
        assert_eq!(Mesh::of(&[12]).there[12], 642 + 4 + 4);
    }
}
