//! The uplink of a switch ([`crate::switch`]): a network card that the service VM has itself, a virtio network device
//! behind two queues ([`crate::requester`]). Its two sides are used at the same time: a port's driver sends, while its
//! access is served, and the service VM receives, in its own time.
//!
//! What is received waits in the inbox of the port that it is for, until the port's driver takes it, in that driver's
//! time. A port whose driver takes nothing loses what is for it, and delays no other one.
//!
//! **Protocol Q3, inboxes.** One writer and one reader. The writer writes a frame, its length, and then, with release,
//! the index of the end; the reader reads that with acquire, then the frame, and writes with release the index of the
//! beginning, which the writer reads with acquire.

use crate::memory::{Memory, Outside, Window};
use crate::passed::Bell;
use crate::queue::Buffer;
use crate::requester::{Parts, Requester, UsedRing};
use crate::switch::{Address, Bucket, Counters, FRAME_MAX, HEADER, PORTS, addresses, is_group};

/// Entries of each of the card's queues: one frame each.
pub const ENTRIES: u16 = 32;
/// The card's queues (virtio 1.2, section 5.1.2).
pub const RECEIVE: u16 = 0;
/// ... of frames that are sent.
pub const TRANSMIT: u16 = 1;

/// Bytes of a frame with the header in front of it.
const BUFFER: u64 = (HEADER + FRAME_MAX).next_multiple_of(64) as u64;
/// Where a side's buffers are, behind its queue.
const FIRST_BUFFER: u64 = Parts::bytes(ENTRIES).next_multiple_of(64);
/// Bytes of memory of a side.
const SIDE: u64 = FIRST_BUFFER + BUFFER * ENTRIES as u64;
/// Bytes of memory that the card accesses.
pub const MEMORY: usize = 2 * SIDE as usize;

/// Frames of an inbox, at most.
pub const INBOX_MAX: u16 = 16;
/// Where the parts of an inbox are: the indices of the end and of the beginning, each in a cache line of its own, and
/// frames with their lengths in front.
const END: u64 = 0;
const BEGINNING: u64 = 64;
const FRAMES: u64 = 128;
const FRAME: u64 = (8 + FRAME_MAX).next_multiple_of(8) as u64;
/// Bytes of memory of an inbox.
pub const INBOX: usize = (FRAMES + FRAME * INBOX_MAX as u64) as usize;

/// Frames that wait for a port.
#[derive(Clone, Copy, Debug)]
pub struct Inbox<M> {
    memory: M,
}

impl<M: Memory> Inbox<M> {
    /// The inbox in [`INBOX`] bytes of memory, whose addresses begin with 0, and which begin as zeroes.
    pub const fn new(memory: M) -> Self {
        Self { memory }
    }

    fn waiting(&self) -> Result<(u16, u16), Outside> {
        let end = self.memory.load_index(END)?;
        let beginning = self.memory.load_index(BEGINNING)?;
        Ok((end, end.wrapping_sub(beginning).min(INBOX_MAX)))
    }

    const fn frame(index: u16) -> u64 {
        FRAMES + FRAME * (index % INBOX_MAX) as u64
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting().map_or(true, |(_, count)| count == 0)
    }

    /// The writer adds a frame, no longer than any. `false`: there is no room.
    pub fn push(&self, frame: &[u8]) -> bool {
        let push = || {
            let (end, count) = self.waiting()?;
            if count == INBOX_MAX || frame.len() > FRAME_MAX {
                return Err(Outside);
            }
            let at = Self::frame(end);
            let length = frame.len() as u64;
            self.memory.write(at, &length.to_le_bytes())?;
            self.memory.write(at + 8, frame)?;
            self.memory.store_index(END, end.wrapping_add(1))
        };
        push().is_ok()
    }

    /// The reader takes a frame, if there is one, and gets its length.
    pub fn pop(&self, to: &mut [u8; FRAME_MAX]) -> Option<usize> {
        let mut pop = || {
            let (end, count) = self.waiting()?;
            if count == 0 {
                return Err(Outside);
            }
            let beginning = end.wrapping_sub(count);
            let at = Self::frame(beginning);
            let mut length = [0; 8];
            self.memory.read(at, &mut length)?;
            let length = (u64::from_le_bytes(length) as usize).min(FRAME_MAX);
            self.memory.read(at + 8, &mut to[..length])?;
            self.memory
                .store_index(BEGINNING, beginning.wrapping_add(1))?;
            Ok(length)
        };
        pop().ok()
    }
}

/// Where the parts of the card's queue of that number are, in memory from the address `first` on.
pub const fn parts(first: u64, queue: u16) -> Parts {
    Parts::at(first + SIDE * queue as u64, ENTRIES)
}

/// The side that sends.
#[derive(Debug)]
pub struct Sender {
    memory: Window,
    first: u64,
    queue: Requester<Window>,
    used: UsedRing<Window>,
    /// Buffers before the card, as bits.
    busy: u32,
    bell: &'static dyn Bell,
}

impl Sender {
    /// The side of the card in that memory ([`MEMORY`] bytes from the address `first` on), with a queue that is to be
    /// given to the card.
    ///
    /// # Errors
    ///
    /// The memory is smaller.
    pub fn new(memory: Window, first: u64, bell: &'static dyn Bell) -> Result<Self, Outside> {
        let queue = Requester::new(memory, first + SIDE, ENTRIES)?;
        // It looks by itself which frames were sent.
        queue.want_no_interrupts()?;
        Ok(Self {
            memory,
            first: first + SIDE + FIRST_BUFFER,
            used: queue.used(),
            queue,
            busy: 0,
            bell,
        })
    }

    /// Sends a frame, no longer than any. `false`: the card has too many.
    pub fn send(&mut self, frame: &[u8]) -> bool {
        for _ in 0..ENTRIES {
            match self.used.next() {
                Some(used) if used.first < ENTRIES.into() => self.busy &= !(1 << used.first),
                Some(_) => {}
                None => break,
            }
        }
        let free = self.busy.trailing_ones();
        if free >= ENTRIES.into() || frame.len() > FRAME_MAX {
            return false;
        }
        let at = self.first + BUFFER * u64::from(free);
        let mut send = || {
            self.memory.write(at, &[0; HEADER])?;
            self.memory.write(at + HEADER as u64, frame)?;
            let buffer = Buffer {
                address: at,
                length: (HEADER + frame.len()) as u32,
                writable: false,
            };
            self.queue.add(free as u16, &[buffer])
        };
        if send().is_err() {
            return false;
        }
        self.busy |= 1 << free;
        self.bell.ring();
        true
    }
}

/// A port, as far as the side that receives has to know it.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The port's address.
    pub address: Address,
    /// Its VLAN.
    pub vlan: u16,
    /// What waits for it.
    pub inbox: Inbox<Window>,
}

/// How the uplink is described.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// It sends to, and receives from, ports of the same number only.
    pub vlan: u16,
    /// Bytes that may come from it.
    pub bytes: Bucket,
    /// Frames for many that may.
    pub group_frames: Bucket,
}

/// The side that receives.
#[derive(Debug)]
pub struct Receiver {
    memory: Window,
    first: u64,
    queue: Requester<Window>,
    used: UsedRing<Window>,
    bell: &'static dyn Bell,
    settings: Settings,
    targets: [Option<Target>; PORTS],
    /// `sent`: what went to some port; `lost`: frames for ports whose inboxes were full.
    counters: Counters,
}

impl Receiver {
    /// The side of the card in that memory, as for [`Sender::new`], whose frames are for these ports.
    ///
    /// # Errors
    ///
    /// The memory is smaller.
    pub fn new(
        memory: Window,
        first: u64,
        bell: &'static dyn Bell,
        settings: Settings,
        targets: [Option<Target>; PORTS],
    ) -> Result<Self, Outside> {
        let queue = Requester::new(memory, first, ENTRIES)?;
        let mut own = Self {
            memory,
            first: first + FIRST_BUFFER,
            used: queue.used(),
            queue,
            bell,
            settings,
            targets,
            counters: Counters::default(),
        };
        for number in 0..ENTRIES {
            own.offer(number)?;
        }
        Ok(own)
    }

    /// What became of its frames.
    pub const fn counters(&self) -> Counters {
        self.counters
    }

    const fn buffer(&self, number: u16) -> u64 {
        self.first + BUFFER * number as u64
    }

    /// Gives the card a buffer.
    fn offer(&mut self, number: u16) -> Result<(), Outside> {
        let buffer = Buffer {
            address: self.buffer(number),
            length: (HEADER + FRAME_MAX) as u32,
            writable: true,
        };
        self.queue.add(number, &[buffer])
    }

    /// The card has buffers: it is told so. To be called when it has begun to serve its queues.
    pub fn begin(&self) {
        self.bell.ring();
    }

    /// Takes at most [`ENTRIES`] frames at a time in ticks, and says which ports some are for, as bits, and whether
    /// there may be more.
    pub fn receive(&mut self, now: u64) -> (u32, bool) {
        let mut woken = 0;
        for count in 0..ENTRIES {
            let Some(used) = self.used.next() else {
                if count > 0 {
                    self.bell.ring();
                }
                return (woken, false);
            };
            let Some(number) = u16::try_from(used.first)
                .ok()
                .filter(|number| *number < ENTRIES)
            else {
                continue;
            };
            let mut bytes = [0; FRAME_MAX];
            let length = (used.written as usize).saturating_sub(HEADER);
            let at = self.buffer(number) + HEADER as u64;
            if let Some(frame) = bytes.get_mut(..length)
                && self.memory.read(at, frame).is_ok()
            {
                woken |= self.distribute(frame, now);
            } else {
                self.refuse();
            }
            // Within the queue, as at first.
            let _ = self.offer(number);
        }
        self.bell.ring();
        (woken, true)
    }

    fn refuse(&mut self) {
        self.counters.refused = self.counters.refused.saturating_add(1);
    }

    /// Gives a frame to those that it is for, and says which these are.
    fn distribute(&mut self, frame: &[u8], now: u64) -> u32 {
        let woken = self.targets_of(frame, now).unwrap_or(0);
        if woken == 0 {
            self.refuse();
            return 0;
        }
        self.counters.sent = self.counters.sent.saturating_add(1);
        for (number, target) in self.targets.iter().enumerate() {
            if let Some(target) = target
                && woken >> number & 1 != 0
                && !target.inbox.push(frame)
            {
                self.counters.lost = self.counters.lost.saturating_add(1);
            }
        }
        // Those without room are told, too: what waits there is for their drivers to take.
        woken
    }

    /// The ports that a frame is for, as bits. `None`: it is not in order, or beyond a rate.
    fn targets_of(&mut self, frame: &[u8], now: u64) -> Option<u32> {
        let (to, from) = addresses(frame)?;
        let has_address = |address: &Address| {
            let mut targets = self.targets.iter().flatten();
            targets.any(|target| target.address == *address)
        };
        if has_address(from)
            || !self.settings.bytes.take(frame.len() as u64, now)
            || is_group(to) && !self.settings.group_frames.take(1, now)
        {
            return None;
        }
        let vlan = self.settings.vlan;
        let is_for =
            |target: &Target| target.vlan == vlan && (is_group(to) || target.address == *to);
        let bits = self.targets.iter().enumerate();
        let bits = bits.filter(|(_, target)| target.as_ref().is_some_and(is_for));
        Some(bits.fold(0, |all, (number, _)| all | 1 << number))
    }
}
