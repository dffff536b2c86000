//! A network switch: frames from one port to others, each port with a VLAN, a rate and a bounded queue.
//!
//! No port receives what is for another: an address belongs to the port that had it first, from the beginning to the
//! one that is given it; a frame for an address of no port is dropped. Frames for many are bounded by a rate of their
//! own. A port that takes no frames loses those that its queue has no room for, and delays no other one.
//!
//! With an uplink ([`crate::uplink`]), a frame for an address of no port leaves by that, and a port sends from its own
//! address alone: otherwise one that had an outer address first would get what is for that.

use core::cell::RefCell;

use crate::capture::Recorder;
use crate::memory::{Memory, Window};
use crate::mmio::{Device, Served};
use crate::queue::{Buffer, Chain, Fault, Queue};
use crate::uplink::{Inbox, Sender};

/// Ports of a switch, at most.
pub const PORTS: usize = 8;
/// The longest frame, without its check sequence: 1,500 bytes of payload, two addresses, and its type (IEEE 802.3).
pub const FRAME_MAX: usize = 1514;
/// Frames that wait for a port, at most.
pub const WAITING_MAX: usize = 16;
/// Addresses of a port beside its own, at most.
const LEARNT_MAX: usize = 4;
/// Entries of the table of addresses.
const TABLE: usize = PORTS * (1 + LEARNT_MAX);

/// The shortest frame: two addresses and a type.
const FRAME_MIN: usize = 14;
/// The type of frames with a VLAN's tag (IEEE 802.1Q), which ports neither send nor receive.
const TAGGED: [u8; 2] = [0x81, 0x00];
/// Bytes of the header in front of a frame (virtio 1.2, section 5.1.6), all zero but for the number of buffers.
pub(crate) const HEADER: usize = 12;
/// `VIRTIO_NET_F_MAC` (section 5.1.3).
const FEATURE_MAC: u64 = 1 << 5;
/// The queues of a port (section 5.1.2).
const RECEIVE: usize = 0;

/// An Ethernet address.
pub type Address = [u8; 6];

/// Whether an address is for many.
pub(crate) const fn is_group(address: &Address) -> bool {
    address[0] & 1 != 0
}

/// The addresses that a frame is for, and from. `None`: it is too short or too long, tagged, or from an address for
/// many.
#[inline]
pub(crate) fn addresses(frame: &[u8]) -> Option<(&Address, &Address)> {
    let (to, rest) = frame.split_first_chunk()?;
    let (from, rest) = rest.split_first_chunk()?;
    let is_sound = (FRAME_MIN..=FRAME_MAX).contains(&frame.len())
        && !rest.starts_with(&TAGGED)
        && !is_group(from);
    is_sound.then_some((to, from))
}

/// How much of something there may be in a time: it fills up at a rate, to a burst.
#[derive(Clone, Copy, Debug)]
pub struct Bucket {
    /// Units in a second; 0: as many as there are.
    rate: u64,
    burst: u64,
    /// Units that are left, times the ticks in a second.
    left: u64,
    ticks_per_second: u32,
    since: u64,
}

impl Bucket {
    /// A full one: `rate` units in a second, and `burst` at once; a rate of 0 is no limit.
    pub const fn new(rate: u32, burst: u32, ticks_per_second: u32) -> Self {
        Self {
            rate: rate as u64,
            burst: burst as u64 * ticks_per_second as u64,
            left: burst as u64 * ticks_per_second as u64,
            ticks_per_second,
            since: 0,
        }
    }

    /// Takes `units` at a time in ticks, if they are there.
    pub fn take(&mut self, units: u64, now: u64) -> bool {
        if self.rate == 0 {
            return true;
        }
        let passed = now.saturating_sub(self.since);
        self.since = now;
        self.left = self
            .left
            .saturating_add(passed.saturating_mul(self.rate))
            .min(self.burst);
        let wanted = units.saturating_mul(self.ticks_per_second.into());
        let enough = wanted <= self.left;
        if enough {
            self.left -= wanted;
        }
        enough
    }
}

/// A port as its system has it.
#[derive(Clone, Copy, Debug)]
pub struct PortSettings {
    /// Its own address.
    pub address: Address,
    /// It sends to, and receives from, ports of the same number only.
    pub vlan: u16,
    /// Bytes that it may send.
    pub bytes: Bucket,
    /// Frames for many that it may send.
    pub group_frames: Bucket,
}

/// What became of a port's frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Frames from its driver that went somewhere.
    pub sent: u32,
    /// Frames for its driver.
    pub received: u32,
    /// Frames from its driver that went nowhere: too short or too long, tagged, from an address of another port, for an
    /// address of no port, or beyond its rates.
    pub refused: u32,
    /// Frames for its driver that found its queue full.
    pub lost: u32,
}

/// A frame in a queue.
#[derive(Clone, Copy, Debug)]
struct Frame {
    length: u16,
    bytes: [u8; FRAME_MAX],
}

const NO_FRAME: Frame = Frame {
    length: 0,
    bytes: [0; FRAME_MAX],
};

/// A port.
#[derive(Debug)]
struct Port {
    settings: PortSettings,
    /// The first frame that waits, in its part of [`Switch::waiting`], and how many do.
    first: usize,
    count: usize,
    counters: Counters,
}

/// A switch. What it has of frames is lost with it, as with any other.
#[derive(Debug)]
pub struct Switch {
    ports: [Option<Port>; PORTS],
    waiting: [[Frame; WAITING_MAX]; PORTS],
    table: [Option<(Address, u8)>; TABLE],
    /// The present time.
    now: u64,
    /// Ports, as bits, that frames have come for since [`Switch::take_woken`], which had none.
    woken: u32,
    /// What records frames, if anything does.
    recorder: Option<Recorder>,
    uplink: Option<Uplink>,
}

/// What leads to an uplink, and from it.
#[derive(Debug)]
struct Uplink {
    sender: Sender,
    vlan: u16,
    /// What has come for each port.
    inboxes: [Option<Inbox<Window>>; PORTS],
    /// Frames that the card had no room for.
    lost: u32,
}

impl Switch {
    /// One without ports.
    #[expect(clippy::new_without_default, reason = "it is for a static")]
    pub const fn new() -> Self {
        Self {
            ports: [const { None }; PORTS],
            waiting: [[NO_FRAME; WAITING_MAX]; PORTS],
            table: [None; TABLE],
            now: 0,
            woken: 0,
            recorder: None,
            uplink: None,
        }
    }

    /// Adds an uplink for the ports of that VLAN: by `sender`, and by the inbox of each.
    pub fn add_uplink(
        &mut self,
        sender: Sender,
        vlan: u16,
        inboxes: [Option<Inbox<Window>>; PORTS],
    ) {
        self.uplink = Some(Uplink {
            sender,
            vlan,
            inboxes,
            lost: 0,
        });
    }

    /// Frames that were for the uplink, and that its card had no room for.
    pub fn lost_at_uplink(&self) -> u32 {
        self.uplink.as_ref().map_or(0, |uplink| uplink.lost)
    }

    /// Sends a frame of a port of that VLAN by the uplink. `false`: there is none for it.
    fn leave(&mut self, vlan: u16, frame: &[u8]) -> bool {
        let uplink = self.uplink.as_mut().filter(|uplink| uplink.vlan == vlan);
        let Some(uplink) = uplink else {
            return false;
        };
        if !uplink.sender.send(frame) {
            uplink.lost = uplink.lost.saturating_add(1);
        }
        true
    }

    /// Puts what has come for a port by the uplink into its queue: one frame, if there is room. Returns whether there
    /// is more.
    fn fetch(&mut self, number: usize) -> bool {
        let inboxes = self.uplink.as_ref().map(|uplink| &uplink.inboxes);
        let inbox = inboxes.and_then(|inboxes| *inboxes.get(number)?);
        let (Some(inbox), Some(Some(port))) = (inbox, self.ports.get_mut(number)) else {
            return false;
        };
        if port.count < WAITING_MAX {
            let slot = &mut self.waiting[number][(port.first + port.count) % WAITING_MAX];
            if let Some(length) = inbox.pop(&mut slot.bytes) {
                slot.length = length as u16;
                port.count += 1;
            }
        }
        !inbox.is_empty()
    }

    /// Records from now on what its ports' drivers send, refused frames included, and receive.
    pub fn record(&mut self, recorder: Recorder) {
        self.recorder = Some(recorder);
    }

    /// Adds a port with that number. `false`: there is one, or one with the same address, or there can be none.
    pub fn add(&mut self, number: usize, settings: PortSettings) -> bool {
        let is_known = self.port_of(&settings.address).is_some();
        let (Some(port @ None), false) = (self.ports.get_mut(number), is_known) else {
            return false;
        };
        *port = Some(Port {
            settings,
            first: 0,
            count: 0,
            counters: Counters::default(),
        });
        self.learn(&settings.address, number)
    }

    /// The time, in ticks, of what follows.
    pub const fn set_time(&mut self, now: u64) {
        self.now = now;
    }

    /// The ports, as bits, whose drivers are to be interrupted, since frames wait for them.
    pub const fn take_woken(&mut self) -> u32 {
        core::mem::replace(&mut self.woken, 0)
    }

    /// What became of a port's frames.
    pub fn counters(&self, number: usize) -> Counters {
        let port = self.ports.get(number).and_then(Option::as_ref);
        port.map_or_else(Counters::default, |port| port.counters)
    }

    fn port_of(&self, address: &Address) -> Option<usize> {
        let mut entries = self.table.iter().flatten();
        let found = entries.find(|(known, _)| known == address);
        found.map(|(_, port)| usize::from(*port))
    }

    /// An address that no port has is that port's from now on, if it does not have too many. `false`: it does.
    fn learn(&mut self, address: &Address, number: usize) -> bool {
        let own = self
            .table
            .iter()
            .flatten()
            .filter(|(_, port)| usize::from(*port) == number);
        if own.count() > LEARNT_MAX {
            return false;
        }
        let Some(free) = self.table.iter_mut().find(|entry| entry.is_none()) else {
            return false;
        };
        *free = Some((*address, number as u8));
        true
    }

    /// A port sends a frame.
    pub fn send(&mut self, number: usize, frame: &[u8]) {
        if let Some(recorder) = &mut self.recorder {
            recorder.record(number, self.now, frame);
        }
        let is_sent = self.forward(number, frame);
        if let Some(Some(port)) = self.ports.get_mut(number) {
            let counter = if is_sent {
                &mut port.counters.sent
            } else {
                &mut port.counters.refused
            };
            *counter = counter.saturating_add(1);
        }
    }

    fn forward(&mut self, number: usize, frame: &[u8]) -> bool {
        let now = self.now;
        let Some((to, from)) = addresses(frame) else {
            return false;
        };
        let Some(Some(port)) = self.ports.get_mut(number) else {
            return false;
        };
        if !port.settings.bytes.take(frame.len() as u64, now) {
            return false;
        }
        let vlan = port.settings.vlan;
        if is_group(to) && !port.settings.group_frames.take(1, now) {
            return false;
        }
        match self.port_of(from) {
            Some(owner) if owner != number => return false,
            Some(_) => {}
            None if self.uplink.is_some() => return false,
            None if !self.learn(from, number) => return false,
            None => {}
        }
        if !is_group(to) {
            return match self.port_of(to) {
                Some(owner) => owner != number && self.deliver(owner, vlan, frame),
                None => self.leave(vlan, frame),
            };
        }
        for other in (0..PORTS).filter(|other| *other != number) {
            self.deliver(other, vlan, frame);
        }
        self.leave(vlan, frame);
        true
    }

    /// Puts a frame into a port's queue. `false`: the port is not of that VLAN.
    fn deliver(&mut self, number: usize, vlan: u16, frame: &[u8]) -> bool {
        let Some(Some(port)) = self.ports.get_mut(number) else {
            return false;
        };
        if port.settings.vlan != vlan {
            return false;
        }
        if port.count == WAITING_MAX {
            port.counters.lost = port.counters.lost.saturating_add(1);
            return true;
        }
        if port.count == 0 {
            self.woken |= 1 << number;
        }
        let slot = &mut self.waiting[number][(port.first + port.count) % WAITING_MAX];
        slot.length = frame.len() as u16;
        slot.bytes[..frame.len()].copy_from_slice(frame);
        port.count += 1;
        true
    }
}

/// The network card by which a driver uses a port.
#[derive(Debug)]
pub struct Card<'s> {
    /// The switch.
    switch: &'s RefCell<Switch>,
    number: usize,
    /// The frame that is being sent, with its header.
    frame: [u8; HEADER + FRAME_MAX],
}

impl<'s> Card<'s> {
    /// That of the port of that number.
    pub const fn new(switch: &'s RefCell<Switch>, number: usize) -> Self {
        Self {
            switch,
            number,
            frame: [0; HEADER + FRAME_MAX],
        }
    }

    /// The driver sends a frame. What is longer than any frame is refused, as it is by the switch.
    fn send(&mut self, chain: &Chain, memory: &impl Memory) -> Result<(), Fault> {
        let bytes = &mut self.frame;
        let mut length = 0;
        for Buffer {
            address,
            length: more,
            writable,
        } in chain.buffers().iter().copied()
        {
            let Some(to) = bytes[length..].get_mut(..more as usize) else {
                self.switch.borrow_mut().send(self.number, &[]);
                return Ok(());
            };
            if writable {
                return Err(Fault::Request);
            }
            memory.read(address, to)?;
            length += more as usize;
        }
        let frame = bytes[..length].get(HEADER..).ok_or(Fault::Request)?;
        self.switch.borrow_mut().send(self.number, frame);
        Ok(())
    }

    /// Gives the driver the first frame that waits, in the buffers of a request, and says how many bytes that were.
    fn receive(frame: &Frame, chain: &Chain, memory: &impl Memory) -> Result<u32, Fault> {
        let mut header = [0; HEADER];
        // The number of buffers (section 5.1.6).
        header[HEADER - 2] = 1;
        let mut rest = [&header[..], &frame.bytes[..frame.length.into()]];
        let mut done = 0;
        for buffer in chain.buffers() {
            if !buffer.writable {
                return Err(Fault::Request);
            }
            let (mut address, mut room) = (buffer.address, buffer.length as usize);
            for part in &mut rest {
                let (now, later) = part.split_at(part.len().min(room));
                memory.write(address, now)?;
                // Within the buffer, which was found to be in memory.
                address = address.wrapping_add(now.len() as u64);
                room -= now.len();
                done += now.len();
                *part = later;
            }
        }
        // Its buffers hold the longest frame (section 5.1.6.3.1).
        if rest.iter().all(|part| part.is_empty()) {
            Ok(done as u32)
        } else {
            Err(Fault::Request)
        }
    }
}

impl Device for Card<'_> {
    const KIND: u32 = 1;
    const QUEUES: usize = 2;

    fn features(&self) -> u64 {
        FEATURE_MAC
    }

    fn configuration(&self, offset: u32, size: u8) -> u64 {
        let switch = self.switch.borrow();
        let port = switch.ports.get(self.number).and_then(Option::as_ref);
        let address = port.map_or([0; 6], |port| port.settings.address);
        let mut value = [0; 8];
        for (at, byte) in value.iter_mut().enumerate().take(size.into()) {
            *byte = address.get(offset as usize + at).copied().unwrap_or(0);
        }
        u64::from_le_bytes(value)
    }

    fn serve(
        &mut self,
        number: usize,
        queue: &mut Queue,
        memory: &impl Memory,
    ) -> Result<Served, Fault> {
        if number != RECEIVE {
            let mut chain = Chain::EMPTY;
            if !queue.peek(memory, &mut chain)? {
                return Ok(Served::default());
            }
            self.send(&chain, memory)?;
            let interrupts = queue.complete(memory, &chain, 0)?;
            return Ok(Served {
                interrupts,
                more: queue.waiting(memory)? > 0,
            });
        }
        let switch = &mut *self.switch.borrow_mut();
        let has_more = switch.fetch(self.number);
        let Some(Some(port)) = switch.ports.get_mut(self.number) else {
            return Ok(Served::default());
        };
        if port.count == 0 {
            return Ok(Served::default());
        }
        let mut chain = Chain::EMPTY;
        if !queue.peek(memory, &mut chain)? {
            return Ok(Served::default());
        }
        let frame = &switch.waiting[self.number][port.first];
        let written = Self::receive(frame, &chain, memory)?;
        // Whatever the driver wants: it has looked why it was interrupted, and is told.
        queue.complete(memory, &chain, written)?;
        if let Some(recorder) = &mut switch.recorder {
            let bytes = &frame.bytes[..frame.length.into()];
            recorder.record(self.number, switch.now, bytes);
        }
        port.first = (port.first + 1) % WAITING_MAX;
        port.count -= 1;
        port.counters.received = port.counters.received.saturating_add(1);
        Ok(Served {
            interrupts: true,
            more: (port.count > 0 || has_more) && queue.waiting(memory)? > 0,
        })
    }
}
