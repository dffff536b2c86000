//! Ready queues in hardware: how the fabric's `ready_queue_top` is driven, by each of its four schemes, and what takes its place when
//! it fails. `docs/src/reference/ready-queue.md` has its registers, its doubleword in memory, and the rules that are followed here.
//!
//! The hardware is not trusted. The first word that it has to give for each vCPU that is queued is noted here as well: what comes back is one of these or
//! the hardware has failed, as it has when nothing comes back and one is noted. Then all that are noted go to a queue in software, in order of
//! their handles: nobody is lost, and nobody is there twice.
//!
//! Whoever comes first is looked at, and removed by his handle: so all schemes take in the same way, and one that does not fit stays where he is.

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

/// Registers of the page, by their offsets; a priority's words, by which it is inserted, are before them.
pub mod register {
    /// Reading takes out whoever comes first.
    pub const TAKE_HIGHEST: u32 = 0x800;
    /// Reading looks at whoever comes first.
    pub const PEEK_HIGHEST: u32 = 0x804;
    /// Writing removes a handle.
    pub const REMOVE: u32 = 0x808;
    /// Reading looks at who comes behind the one that was looked at last.
    pub const NEXT: u32 = 0x80c;
    /// Which block this is.
    pub const ID: u32 = 0x810;
    /// Handles that there are.
    pub const DEPTH: u32 = 0x814;
    /// [`READY`](super::READY), [`PENDING`](super::PENDING).
    pub const STATUS: u32 = 0x818;
    /// Writing 1 empties the queue.
    pub const CONTROL: u32 = 0x81c;
    /// The scheme, and the doubleword's address.
    pub const ACCESS: u32 = 0x820;
    /// Commands carried out so far.
    pub const COMMANDS: u32 = 0x828;

    /// Where writing a handle inserts it, behind the others of the priority or before them.
    #[inline]
    pub const fn insert(priority: u8, head: bool) -> u32 {
        priority as u32 * 8 + head as u32 * 4
    }
}

/// Of [`register::ID`].
pub const ID: u32 = 0x5251_0001;
/// Of [`register::STATUS`]: the queue has begun.
pub const READY: u32 = 1 << 0;
/// Of [`register::STATUS`]: a change of the scheme is not over.
pub const PENDING: u32 = 1 << 2;
/// Bit 31 of a command, and of a first word.
pub const VALID: u32 = 1 << 31;
/// What the fabric never writes to the upper word.
pub const UNWRITTEN: u32 = u32::MAX;
/// A bit of the doubleword by which it is known.
const NO_FIRST_WORD: u64 = 1 << 62;

/// A command in memory: bits 30 to 28 of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Command {
    /// And of the head one more.
    InsertTail = 0,
    /// A handle, wherever it is.
    Remove = 2,
    /// Whoever comes first.
    TakeHighest = 6,
}

/// How often at most is looked for something that the hardware is to do; twenty times what it needs.
const LOOKS: usize = 2048;

/// vCPUs at most, as there are handles of the hardware.
const HANDLES: usize = 1024;

/// The first word of a handle that is queued.
#[inline]
const fn first_word(handle: Handle, priority: u8) -> u32 {
    VALID | (priority as u32) << 16 | handle as u32
}

/// The handle, and its priority, of one that says that there is one.
#[inline]
const fn whose(first: u32) -> Option<(Handle, u8)> {
    if first == 0 {
        return None;
    }
    Some((first as Handle, (first >> 16) as u8))
}

/// The hardware's queue, and what is known of it.
struct Hardware<P, const N: usize> {
    ports: P,
    /// Why it failed, when it has: then what was asked of it is `None`.
    why: Failure,
    scheme: Scheme,
    /// GP, hybrid: the commands given, as the hardware counts them. ACP: the answer to the last one.
    expected: u32,
    /// How many handles are queued.
    count: u32,
    /// Their first words; 0: not queued.
    noted: Array<u32, N>,
}

impl<P: Ports, const N: usize> Hardware<P, N> {
    #[cold]
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
        let given = self.read(register::COMMANDS)?;
        self.expected = if self.is_by_page() { given } else { 0 };
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
        for left in [2, 1] {
            if self.first()? as Handle != left {
                return self.fails(Failure::Wrong);
            }
            self.remove(left)?;
        }
        self.first()?;
        Some(())
    }

    #[inline(never)]
    fn read(&mut self, offset: u32) -> Option<u32> {
        let word = self.ports.read(offset);
        if word.is_none() {
            self.why = Failure::Bus;
        }
        word
    }

    /// Looks at somebody by a command's register.
    #[inline(never)]
    fn peek(&mut self, offset: u32) -> Option<u32> {
        if self.is_by_page() {
            self.expected = self.expected.wrapping_add(1);
        }
        let first = self.read(offset)?;
        self.check(first)
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

    /// The upper word, once the answer to the last command is there. By memory.
    #[inline(never)]
    fn answered(&mut self) -> Option<u32> {
        let word = self.look(VALID.into(), 0)?;
        if word as u32 != self.expected {
            return self.fails(Failure::Wrong);
        }
        Some((word >> 32) as u32)
    }

    /// Whether commands are given by the page.
    #[inline]
    const fn is_by_page(&self) -> bool {
        self.scheme as u32 <= Scheme::Hybrid as u32
    }

    /// Gives a command that has to do with this first word: by a write to the page, at this offset, or by memory.
    #[inline(always)]
    fn give(&mut self, offset: u32, command: u32, first: u32) -> Option<()> {
        if !self.is_by_page() {
            return self.give_by_memory(command, first);
        }
        self.ports.write(offset, first & 0xffff);
        self.expected = self.expected.wrapping_add(1);
        self.ports.settle();
        Some(())
    }

    #[inline(never)]
    fn give_by_memory(&mut self, command: u32, first: u32) -> Option<()> {
        self.answered()?;
        self.ports.store(0, command << 28 | first);
        self.ports.publish();
        if self.scheme == Scheme::Acp {
            self.ports.event();
        }
        self.expected = first & !VALID;
        Some(())
    }

    /// `handle` is one of the `N`.
    #[inline(never)]
    fn insert(&mut self, handle: Handle, priority: u8, head: bool) -> Option<()> {
        let first = first_word(handle, priority);
        // If it fails it has been noted before.
        self.noted[usize::from(handle)] = first;
        self.count += 1;
        let command = Command::InsertTail as u32 + u32::from(head);
        self.give(register::insert(priority, head), command, first)
    }

    /// Whether this is the first word of one that is queued.
    #[inline(always)]
    fn is_noted(&self, first: u32) -> bool {
        let noted = self.noted.get(usize::from(first as Handle));
        first != 0 && noted == Some(&first)
    }

    /// A first word is that of one that is queued, or 0 if nobody is.
    #[inline(never)]
    fn check(&mut self, first: u32) -> Option<u32> {
        if self.is_noted(first) || first == 0 && self.count == 0 {
            Some(first)
        } else {
            self.fails(Failure::Wrong)
        }
    }

    /// Takes whoever comes first, if he fits; 0: he does not, or there is something else to be said about it. Hybrid.
    #[inline(always)]
    fn take_from_memory(&mut self, fits: &mut dyn FnMut(Handle) -> bool) -> Option<u32> {
        let mut both = self.ports.load();
        if both as u32 != self.expected {
            both = self.look(u32::MAX.into(), self.expected.into())?;
        }
        let first = (both >> 32) as u32;
        let noted = self.noted.get_mut(usize::from(first as Handle));
        let Some(noted) = noted.filter(|noted| **noted == first && first != 0) else {
            return Some(0);
        };
        if !fits(first as Handle) {
            return Some(0);
        }
        self.ports.write(register::REMOVE, first & 0xffff);
        *noted = 0;
        self.count -= 1;
        self.expected = self.expected.wrapping_add(1);
        self.ports.settle();
        Some(first)
    }

    /// Whoever comes first.
    #[inline(never)]
    fn first(&mut self) -> Option<u32> {
        let first = match self.scheme {
            Scheme::Hybrid => (self.look(u32::MAX.into(), self.expected.into())? >> 32) as u32,
            Scheme::Gp => return self.peek(register::PEEK_HIGHEST),
            Scheme::Acp | Scheme::Polling => self.answered()?,
        };
        self.check(first)
    }

    /// Takes the first one that fits.
    #[inline(always)]
    fn take(&mut self, fits: &mut dyn FnMut(Handle) -> bool) -> Option<u32> {
        if self.scheme == Scheme::Hybrid {
            let taken = self.take_from_memory(fits)?;
            if taken != 0 {
                return Some(taken);
            }
        }
        let mut first = self.first()?;
        if first != 0 && !fits(first as Handle) {
            first = self.search(fits)?;
        }
        if first != 0 {
            self.leave(first)?;
        }
        Some(first)
    }

    /// Looks through the queue, in its order, by the page.
    #[inline(never)]
    fn search(&mut self, fits: &mut dyn FnMut(Handle) -> bool) -> Option<u32> {
        if !self.is_by_page() {
            self.answered()?;
        }
        let mut first = self.peek(register::PEEK_HIGHEST)?;
        let mut left = self.count;
        while first != 0 && !fits(first as Handle) {
            left -= 1;
            if left == 0 {
                return Some(0);
            }
            first = self.peek(register::NEXT)?;
        }
        Some(first)
    }

    /// Removes one that is queued, whose first word this is.
    #[inline(always)]
    fn leave(&mut self, first: u32) -> Option<()> {
        self.give(register::REMOVE, Command::Remove as u32, first)?;
        self.noted[usize::from(first as Handle)] = 0;
        self.count -= 1;
        Some(())
    }

    /// `false`: it is not queued.
    #[inline(never)]
    fn remove(&mut self, handle: Handle) -> Option<bool> {
        let first = self.noted[usize::from(handle)];
        if first != 0 {
            self.leave(first)?;
        }
        Some(first != 0)
    }

    /// Goes through what is queued, in order of handles.
    fn visit(&self, look: &mut dyn FnMut(Handle, u8)) {
        for (handle, priority) in self.noted.iter().filter_map(|first| whose(*first)) {
            look(handle, priority);
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
            expected: 0,
            count: 0,
            noted: Array([0; N]),
        });
        if hardware.begin().is_none() {
            hardware.noted = Array([0; N]);
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
            hardware.visit(&mut |handle, priority| self.lists.insert(handle, priority, false));
            hardware.ports.failed(hardware.why);
            self.hardware = None;
        }
    }

    /// Asks the hardware; `None`: there is none, or none any more.
    #[inline(always)]
    fn ask<T>(&mut self, what: impl FnOnce(&mut Hardware<P, N>) -> Option<T>) -> Option<T> {
        let answer = what(self.hardware.as_mut()?);
        if answer.is_none() {
            self.fail();
        }
        answer
    }

    #[inline(never)]
    fn take_there(&mut self, fits: &mut dyn FnMut(Handle) -> bool) -> Option<u32> {
        self.ask(|hardware| hardware.take(fits))
    }
}

impl<P: Ports, const N: usize> ReadyQueue for SystemQueue<P, N> {
    #[inline]
    fn insert(&mut self, handle: Handle, priority: u8, head: bool) {
        match &mut self.hardware {
            None => self.lists.insert(handle, priority, head),
            Some(hardware) => {
                if hardware.insert(handle, priority, head).is_none() {
                    self.fail();
                }
            }
        }
    }

    #[inline(never)]
    fn remove(&mut self, handle: Handle) -> bool {
        self.ask(|hardware| hardware.remove(handle))
            .unwrap_or_else(|| self.lists.remove(handle))
    }

    #[inline(never)]
    fn highest(&mut self) -> Option<u8> {
        match self.ask(Hardware::first) {
            Some(first) => whose(first).map(|(_, priority)| priority),
            None => self.lists.highest(),
        }
    }

    fn pop(&mut self) -> Option<Handle> {
        self.pop_where(&mut |_| true).map(|(handle, _)| handle)
    }

    #[inline]
    fn pop_where(&mut self, fits: &mut dyn FnMut(Handle) -> bool) -> Option<(Handle, u8)> {
        if self.hardware.is_some()
            && let Some(taken) = self.take_there(fits)
        {
            return whose(taken);
        }
        self.lists.pop_where(fits)
    }

    fn visit(&mut self, look: &mut dyn FnMut(Handle)) {
        match &self.hardware {
            Some(hardware) => hardware.visit(&mut |handle, _| look(handle)),
            None => self.lists.visit(look),
        }
    }
}
