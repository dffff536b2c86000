//! Ready queues in hardware: how the fabric's `ready_queue_top` is driven, by each of its four schemes, and what takes its place when
//! it fails. `docs/src/reference/ready-queue.md` has its registers, its doubleword in memory, and the rules that are followed here.
//!
//! The hardware is not trusted. Which vCPUs are queued, and at which priority, is noted here as well: a handle that comes back is one of these or
//! the hardware has failed, as it has when none comes back and one is noted. Then all that are noted go to a queue in software, in order of
//! their handles: nobody is lost, and nobody is there twice.

use crate::ready::{Handle, ListQueue, ReadyQueue};
use crate::table::Array;
use tactus_abi::blob;

/// How the queue is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Scheme {
    /// Commands and answers by the page.
    Gp = 0,
    /// Commands by the page; whoever comes first is in memory.
    Hybrid = 1,
    /// Commands in memory, with an event for each; whoever comes first is there as well.
    Acp = 2,
    /// The same without events: the fabric looks for commands.
    Polling = 3,
}

impl Scheme {
    /// The one that a system's ready queue is reached by; `None`: it is in software.
    pub const fn of(queue: blob::ReadyQueue) -> Option<Self> {
        match queue {
            blob::ReadyQueue::Bitmap | blob::ReadyQueue::Linear => None,
            blob::ReadyQueue::Gp => Some(Self::Gp),
            blob::ReadyQueue::Hybrid => Some(Self::Hybrid),
            blob::ReadyQueue::Acp => Some(Self::Acp),
            blob::ReadyQueue::AcpPolling => Some(Self::Polling),
        }
    }
}

/// The way to the hardware.
pub trait Ports {
    /// Reads a register of the page. `None`: the bus has answered with an error, or not at all.
    fn read(&mut self, offset: u32) -> Option<u32>;
    /// Writes a register of the page; nobody waits for that.
    fn write(&mut self, offset: u32, value: u32);
    /// Before whatever follows can be seen by other harts, what was written to the page is there.
    fn settle(&mut self);
    /// Loads the doubleword, at once.
    fn load(&mut self) -> u64;
    /// Stores the lower word of the doubleword (0) or the upper one (1).
    fn store(&mut self, word: usize, value: u32);
    /// What was stored to the doubleword is seen by the fabric before what follows.
    fn publish(&mut self);
    /// Raises the event.
    fn event(&mut self);
    /// The doubleword's physical address, as the fabric has it.
    fn doubleword(&self) -> u32;
    /// The hardware has failed, and is not used any more.
    fn failed(&mut self, why: Failure);
}

/// Why the hardware is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// There is none, or another version.
    Absent,
    /// It has too few handles.
    Small,
    /// A read of the page failed.
    Bus,
    /// It has not answered in time.
    Late,
    /// It has given a wrong answer.
    Wrong,
}

impl Failure {
    /// The reason in words.
    pub const fn message(self) -> &'static str {
        match self {
            Self::Absent => "there is none",
            Self::Small => "it has too few handles",
            Self::Bus => "a read of its page failed",
            Self::Late => "it did not answer in time",
            Self::Wrong => "it gave a wrong answer",
        }
    }
}

/// Registers of the page.
mod register {
    pub const TAKE_HIGHEST: u32 = 0x800;
    pub const PEEK_HIGHEST: u32 = 0x804;
    pub const REMOVE: u32 = 0x808;
    pub const NEXT: u32 = 0x80c;
    pub const ID: u32 = 0x810;
    pub const DEPTH: u32 = 0x814;
    pub const STATUS: u32 = 0x818;
    pub const CONTROL: u32 = 0x81c;
    pub const ACCESS: u32 = 0x820;
    pub const COMMANDS: u32 = 0x828;
}

/// Of [`register::ID`].
const ID: u32 = 0x5251_0001;
/// Of [`register::STATUS`].
const READY: u32 = 1 << 0;
const PENDING: u32 = 1 << 2;
/// Bit 31 of a command, and of a first word.
const VALID: u32 = 1 << 31;
/// What the fabric never writes to the upper word, and a bit of the doubleword by which it is known.
const UNWRITTEN: u32 = u32::MAX;
const NO_FIRST_WORD: u64 = 1 << 62;

/// A command in memory.
#[derive(Clone, Copy)]
enum Command {
    /// And of the head one more.
    InsertTail = 0,
    Remove = 2,
    TakeHighest = 6,
}

/// How often at most is looked for something that the hardware is to do; twenty times what it needs.
const LOOKS: usize = 2048;

/// Handles noted in one word.
const BITS: usize = u64::BITS as usize;
/// Handles at most, as there are of the hardware.
const HANDLES: usize = 1024;

/// A priority and a handle, as in a first word or an answer.
const fn entry(handle: Handle, priority: u8) -> u32 {
    (priority as u32) << 16 | handle as u32
}

/// The priority in one.
const fn priority(entry: u32) -> u8 {
    (entry >> 16) as u8
}

/// The hardware's queue, and what is known of it.
struct Hardware<P, const N: usize> {
    ports: P,
    /// Why it failed, when it has: then what was asked of it is `None`.
    why: Failure,
    scheme: Scheme,
    /// GP, hybrid: the commands given, as the hardware counts them.
    given: u32,
    /// ACP: the answer to the last command.
    answer: u32,
    /// How many handles are queued.
    count: u32,
    /// Which, as bits.
    queued: Array<u64, { HANDLES / BITS }>,
    /// Their priorities.
    priority: Array<u8, N>,
}

impl<P: Ports, const N: usize> Hardware<P, N> {
    fn fails<T>(&mut self, why: Failure) -> Option<T> {
        self.why = why;
        None
    }

    /// Begins with an empty queue, when a few commands have shown that it works.
    fn begin(&mut self) -> Option<()> {
        if self.ports.read(register::ID) != Some(ID) {
            return self.fails(Failure::Absent);
        }
        if (self.read(register::DEPTH)? as usize) < N {
            return self.fails(Failure::Small);
        }
        self.ports.write(register::CONTROL, 1);
        self.ports.write(register::ACCESS, Scheme::Gp as u32);
        let mut looks = LOOKS;
        while self.read(register::STATUS)? & (READY | PENDING) != READY {
            looks -= 1;
            if looks == 0 {
                return self.fails(Failure::Late);
            }
        }
        self.given = self.read(register::COMMANDS)?;
        self.ports.store(0, 0);
        self.ports.store(1, UNWRITTEN);
        self.ports.publish();
        let access = self.ports.doubleword() | self.scheme as u32;
        self.ports.write(register::ACCESS, access);
        if self.scheme != Scheme::Gp {
            self.look(NO_FIRST_WORD, 0)?;
        }
        self.insert(0, 200, false)?;
        self.insert(1, 200, true)?;
        self.insert(2, 201, false)?;
        self.remove(0)?;
        // The last look finds that nobody is left.
        let good = self.take()? as Handle == 2 && self.take()? as Handle == 1 && self.take()? == 0;
        if good {
            Some(())
        } else {
            self.fails(Failure::Wrong)
        }
    }

    fn read(&mut self, offset: u32) -> Option<u32> {
        let word = self.ports.read(offset);
        if word.is_none() {
            self.why = Failure::Bus;
        }
        word
    }

    /// Reads a command's register.
    fn read_command(&mut self, offset: u32) -> Option<u32> {
        self.given = self.given.wrapping_add(1);
        self.read(offset)
    }

    /// Loads the doubleword until these bits are so.
    #[inline(never)]
    fn look(&mut self, bits: u64, so: u64) -> Option<u64> {
        for _ in 0..LOOKS {
            let word = self.ports.load();
            if word & bits == so {
                return Some(word);
            }
        }
        self.fails(Failure::Late)
    }

    /// The upper word, once the answer to the last command is there.
    #[inline(never)]
    fn upper(&mut self) -> Option<u32> {
        let (bits, so) = match self.scheme {
            Scheme::Hybrid => (u32::MAX, self.given),
            _ => (VALID, 0),
        };
        let word = self.look(bits.into(), so.into())?;
        if !self.is_by_page() && word as u32 != self.answer {
            return self.fails(Failure::Wrong);
        }
        Some((word >> 32) as u32)
    }

    /// Whether commands are given by the page.
    #[inline]
    const fn is_by_page(&self) -> bool {
        self.scheme as u32 <= Scheme::Hybrid as u32
    }

    /// Gives a command: by a write to the page, at this offset, or by memory. Its answer is to be `entry`.
    #[inline(never)]
    fn give(&mut self, offset: u32, command: u32, entry: u32) {
        if self.is_by_page() {
            self.ports.write(offset, entry & 0xffff);
            self.given = self.given.wrapping_add(1);
            self.ports.settle();
        } else {
            self.ports.store(0, VALID | command << 28 | entry);
            self.ports.publish();
            if self.scheme == Scheme::Acp {
                self.ports.event();
            }
            self.answer = entry;
        }
    }

    /// Before a command by memory: the answer to the last one is there.
    #[inline]
    fn before(&mut self) -> Option<()> {
        if !self.is_by_page() {
            self.upper()?;
        }
        Some(())
    }

    /// `handle` is one of the `N`.
    #[inline(never)]
    fn insert(&mut self, handle: Handle, priority: u8, head: bool) -> Option<()> {
        let at = usize::from(handle);
        self.priority[at] = priority;
        self.queued[at / BITS] |= 1 << (at % BITS);
        self.count += 1;
        self.before()?;
        let command = Command::InsertTail as u32 + u32::from(head);
        let offset = u32::from(priority) * 8 + u32::from(head) * 4;
        self.give(offset, command, entry(handle, priority));
        Some(())
    }

    /// What the first word of a handle is, if that is queued.
    #[inline]
    fn known(&self, handle: Handle) -> Option<u32> {
        let at = usize::from(handle);
        let priority = self.priority.get(at)?;
        let queued = self.queued[at / BITS] >> (at % BITS) & 1 != 0;
        queued.then_some(VALID | entry(handle, *priority))
    }

    /// A first word is that of one that is queued, or 0 if nobody is.
    #[inline(never)]
    fn check(&mut self, word: u32) -> Option<u32> {
        if self.known(word as Handle) == Some(word) || word == 0 && self.count == 0 {
            Some(word)
        } else {
            self.fails(Failure::Wrong)
        }
    }

    /// Whoever comes first; by GP this is told by a read of that register.
    #[inline(never)]
    fn first(&mut self, offset: u32) -> Option<u32> {
        let word = if self.scheme == Scheme::Gp {
            self.read_command(offset)?
        } else {
            self.upper()?
        };
        self.check(word)
    }

    #[inline(never)]
    fn take(&mut self) -> Option<u32> {
        let first = self.first(register::TAKE_HIGHEST)?;
        if first != 0 {
            self.forget(first as Handle);
            if self.scheme != Scheme::Gp {
                self.give(
                    register::REMOVE,
                    Command::TakeHighest as u32,
                    first & !VALID,
                );
            }
        }
        Some(first)
    }

    /// Looks through the queue, in its order, by the page.
    #[inline(never)]
    fn search(&mut self, fits: &mut dyn FnMut(Handle) -> bool) -> Option<u32> {
        self.before()?;
        let mut word = self.read_command(register::PEEK_HIGHEST)?;
        for _ in 0..self.count {
            self.check(word)?;
            if fits(word as Handle) {
                self.remove(word as Handle)?;
                return Some(word);
            }
            word = self.read_command(register::NEXT)?;
        }
        Some(0)
    }

    #[inline(never)]
    fn remove(&mut self, handle: Handle) -> Option<bool> {
        let Some(word) = self.known(handle) else {
            return Some(false);
        };
        self.before()?;
        self.give(register::REMOVE, Command::Remove as u32, word & !VALID);
        self.forget(handle);
        Some(true)
    }

    #[inline]
    fn forget(&mut self, handle: Handle) {
        let at = usize::from(handle);
        self.queued[at / BITS] &= !(1 << (at % BITS));
        self.count -= 1;
    }

    /// Goes through what is queued, in order of handles.
    #[inline(never)]
    fn visit(&self, look: &mut dyn FnMut(Handle)) {
        for (word, mut bits) in self.queued.iter().copied().enumerate() {
            while bits != 0 {
                look((word * BITS) as Handle + bits.trailing_zeros() as Handle);
                bits &= bits - 1;
            }
        }
    }
}

/// A queue in hardware while that works, in software otherwise. `N` is the number of vCPUs there are, at most 1,024.
pub struct SystemQueue<P, const N: usize> {
    hardware: Option<Hardware<P, N>>,
    lists: ListQueue<N>,
}

impl<P: Ports, const N: usize> SystemQueue<P, N> {
    /// An empty queue in software.
    pub const fn software(lists: ListQueue<N>) -> Self {
        assert!(N <= HANDLES);
        Self {
            hardware: None,
            lists,
        }
    }

    /// Begins to use the hardware, when a few commands have shown that it is there and works; otherwise it has [`Ports::failed`]. The queue is empty.
    pub fn try_hardware(&mut self, ports: P, scheme: Scheme) {
        let hardware = self.hardware.insert(Hardware {
            ports,
            why: Failure::Absent,
            scheme,
            given: 0,
            answer: 0,
            count: 0,
            queued: Array([0; _]),
            priority: Array([0; N]),
        });
        if hardware.begin().is_none() {
            hardware.count = 0;
            hardware.queued = Array([0; _]);
            self.fail();
        }
    }

    /// Whether the hardware is used.
    pub const fn is_in_hardware(&self) -> bool {
        self.hardware.is_some()
    }

    /// The hardware has failed: the software takes over.
    #[cold]
    #[inline(never)]
    fn fail(&mut self) {
        if let Some(hardware) = &mut self.hardware {
            hardware.visit(&mut |handle| {
                let priority = hardware.priority[usize::from(handle)];
                self.lists.insert(handle, priority, false);
            });
            hardware.ports.failed(hardware.why);
            self.hardware = None;
        }
    }

    #[inline(never)]
    fn insert_there(&mut self, handle: Handle, priority: u8, head: bool) {
        // If it fails it has been noted before.
        self.ask(|hardware| hardware.insert(handle, priority, head));
    }

    /// Asks the hardware; `None`: there is none, or none any more.
    #[inline]
    fn ask<T>(&mut self, what: impl FnOnce(&mut Hardware<P, N>) -> Option<T>) -> Option<T> {
        let answer = what(self.hardware.as_mut()?);
        if answer.is_none() {
            self.fail();
        }
        answer
    }

    #[inline(never)]
    fn take_there_where(&mut self, fits: &mut dyn FnMut(Handle) -> bool) -> Option<u32> {
        let word = self.ask(Hardware::take)?;
        if word == 0 || fits(word as Handle) {
            return Some(word);
        }
        // It goes back, and somebody else is looked for.
        self.insert_there(word as Handle, priority(word), true);
        self.ask(|hardware| hardware.search(fits))
    }
}

impl<P: Ports, const N: usize> ReadyQueue for SystemQueue<P, N> {
    #[inline]
    fn insert(&mut self, handle: Handle, priority: u8, head: bool) {
        if self.hardware.is_some() {
            return self.insert_there(handle, priority, head);
        }
        self.lists.insert(handle, priority, head);
    }

    #[inline(never)]
    fn remove(&mut self, handle: Handle) -> bool {
        self.ask(|hardware| hardware.remove(handle))
            .unwrap_or_else(|| self.lists.remove(handle))
    }

    #[inline(never)]
    fn highest(&mut self) -> Option<u8> {
        let first = self.ask(|hardware| hardware.first(register::PEEK_HIGHEST));
        if let Some(first) = first {
            return (first != 0).then_some(priority(first));
        }
        self.lists.highest()
    }

    fn pop(&mut self) -> Option<Handle> {
        self.pop_where(&mut |_| true).map(|(handle, _)| handle)
    }

    #[inline]
    fn pop_where(&mut self, fits: &mut dyn FnMut(Handle) -> bool) -> Option<(Handle, u8)> {
        if self.hardware.is_some()
            && let Some(taken) = self.take_there_where(fits)
        {
            return (taken != 0).then_some((taken as Handle, priority(taken)));
        }
        self.lists.pop_where(fits)
    }

    fn visit(&mut self, look: &mut dyn FnMut(Handle)) {
        match &self.hardware {
            Some(hardware) => hardware.visit(look),
            None => self.lists.visit(look),
        }
    }
}
