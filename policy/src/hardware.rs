//! Ready queues in hardware: the driver of the fabric's `ready_queue_top`, for each of its four access schemes, and the
//! fallback to software when it fails. `docs/src/reference/ready-queue.md` defines its registers, its doubleword in
//! memory, and the rules that this driver follows.
//!
//! The hardware is not trusted. A shadow table holds the first word of each queued vCPU. An answer that is in no entry
//! of the table is a failure, as is an empty answer while the table is not empty. On a failure all entries of the table
//! move to a queue in software, in order of their handles: no vCPU is lost or duplicated.
//!
//! The driver reads the first vCPU and then removes it by its handle. So all schemes remove in the same way, and a vCPU
//! that does not fit stays queued.

use crate::ready::{Handle, ListQueue, ReadyQueue};
use crate::table::Array;
use tactus_abi::blob;

/// The access scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Scheme {
    /// Commands and answers by the register page.
    Gp = 0,
    /// Commands by the register page; the first vCPU is in memory.
    Hybrid = 1,
    /// Commands in memory, with an event for each; the first vCPU is in memory as well.
    Acp = 2,
    /// The same without events: the fabric polls for commands.
    Polling = 3,
}

impl Scheme {
    /// The scheme of a system's ready queue; `None`: it is in software.
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

/// Access to the hardware.
pub trait Ports {
    /// Reads a register of the page. `None`: the bus answered with an error, or not at all.
    fn read(&mut self, offset: u32) -> Option<u32>;
    /// Writes a register of the page, posted.
    fn write(&mut self, offset: u32, value: u32);
    /// Completes writes to the page before other harts observe later stores.
    fn settle(&mut self);
    /// Loads the doubleword atomically.
    fn load(&mut self) -> u64;
    /// Stores the lower word of the doubleword (0) or the upper one (1).
    fn store(&mut self, word: usize, value: u32);
    /// Makes stores to the doubleword visible to the fabric before later accesses.
    fn publish(&mut self);
    /// Raises the event.
    fn event(&mut self);
    /// The doubleword's physical address, as the fabric uses it.
    fn doubleword(&self) -> u32;
    /// Reports that the hardware has failed and is not used any more.
    fn failed(&mut self, why: Failure);
}

/// Why the hardware is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It is absent, or of another version.
    Absent,
    /// It has too few handles.
    TooSmall,
    /// A read of the page failed.
    Bus,
    /// It did not answer in time.
    Timeout,
    /// It gave a wrong answer.
    WrongAnswer,
}

impl Failure {
    /// The reason in words.
    pub const fn message(self) -> &'static str {
        match self {
            Self::Absent => "there is none",
            Self::TooSmall => "it has too few handles",
            Self::Bus => "a read of its page failed",
            Self::Timeout => "it did not answer in time",
            Self::WrongAnswer => "it gave a wrong answer",
        }
    }
}

/// Registers of the page, by their offsets. The words that insert at a priority are below them.
pub mod register {
    /// A read removes and returns the first vCPU.
    pub const TAKE_HIGHEST: u32 = 0x800;
    /// A read returns the first vCPU.
    pub const PEEK_HIGHEST: u32 = 0x804;
    /// A write removes a handle.
    pub const REMOVE: u32 = 0x808;
    /// A read returns the vCPU behind the one that was returned last.
    pub const NEXT: u32 = 0x80c;
    /// Identification of the block.
    pub const ID: u32 = 0x810;
    /// Number of handles.
    pub const DEPTH: u32 = 0x814;
    /// [`READY`](super::READY), [`PENDING`](super::PENDING).
    pub const STATUS: u32 = 0x818;
    /// A write of 1 empties the queue.
    pub const CONTROL: u32 = 0x81c;
    /// The scheme, and the doubleword's address.
    pub const ACCESS: u32 = 0x820;
    /// Commands completed so far.
    pub const COMMANDS: u32 = 0x828;

    /// Offset at which a write inserts a handle, behind the others of the priority or (`head`) before them.
    #[inline]
    pub const fn insert(priority: u8, head: bool) -> u32 {
        priority as u32 * 8 + head as u32 * 4
    }
}

/// Value of [`register::ID`].
pub const ID: u32 = 0x5251_0001;
/// Bit of [`register::STATUS`]: the queue is initialized.
pub const READY: u32 = 1 << 0;
/// Bit of [`register::STATUS`]: a change of the scheme is in progress.
pub const PENDING: u32 = 1 << 2;
/// Bit 31 of a command, and of a first word.
pub const VALID: u32 = 1 << 31;
/// A value that the fabric never writes to the upper word.
pub const UNWRITTEN: u32 = u32::MAX;
/// A bit of the doubleword that is set in [`UNWRITTEN`] only.
const UNWRITTEN_BIT: u64 = 1 << 62;

/// A command in memory: bits 30 to 28 of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Command {
    /// The command for the head is one more.
    InsertTail = 0,
    /// Removes a handle at any position.
    Remove = 2,
    /// The first vCPU.
    TakeHighest = 6,
}

/// Most polls for an answer of the hardware: twenty times what it needs.
const POLLS_MAX: usize = 2048;

/// Most vCPUs: the handles of the hardware.
const HANDLES: usize = 1024;

/// The first word of a handle that is queued.
#[inline]
const fn first_word(handle: Handle, priority: u8) -> u32 {
    VALID | (priority as u32) << 16 | handle as u32
}

/// Handle and priority of a first word; `None`: the word is 0, that of an empty queue.
#[inline]
const fn decode(first: u32) -> Option<(Handle, u8)> {
    if first == 0 {
        return None;
    }
    Some((first as Handle, (first >> 16) as u8))
}

/// The queue in hardware, and its shadow.
struct Hardware<P, const N: usize> {
    ports: P,
    /// The failure, when an operation has returned `None`.
    failure: Failure,
    scheme: Scheme,
    /// GP, hybrid: the number of commands issued, as the hardware counts them. ACP: the answer to the last command.
    expected: u32,
    /// Number of queued handles.
    count: u32,
    /// First words by handle; 0: not queued.
    shadow: Array<u32, N>,
}

impl<P: Ports, const N: usize> Hardware<P, N> {
    #[cold]
    fn fail_with<T>(&mut self, why: Failure) -> Option<T> {
        self.failure = why;
        None
    }

    /// Empties the queue and checks with a few commands that the hardware works.
    fn initialize(&mut self) -> Option<()> {
        if self.ports.read(register::ID) != Some(ID) {
            return self.fail_with(Failure::Absent);
        }
        if (self.read(register::DEPTH)? as usize) < N {
            return self.fail_with(Failure::TooSmall);
        }
        self.ports.write(register::CONTROL, 1);
        self.ports.write(register::ACCESS, Scheme::Gp as u32);
        let mut polls_left = POLLS_MAX;
        while self.read(register::STATUS)? & (READY | PENDING) != READY {
            polls_left -= 1;
            if polls_left == 0 {
                return self.fail_with(Failure::Timeout);
            }
        }
        let given = self.read(register::COMMANDS)?;
        self.expected = if self.uses_page() { given } else { 0 };
        self.ports.store(0, 0);
        self.ports.store(1, UNWRITTEN);
        self.ports.publish();
        let access = self.ports.doubleword() | self.scheme as u32;
        self.ports.write(register::ACCESS, access);
        if self.scheme != Scheme::Gp {
            self.poll(UNWRITTEN_BIT, 0)?;
        }
        self.insert(0, 200, false)?;
        self.insert(1, 200, true)?;
        self.insert(2, 201, false)?;
        self.remove(0)?;
        // The last read finds the queue empty.
        for left in [2, 1] {
            if self.first()? as Handle != left {
                return self.fail_with(Failure::WrongAnswer);
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
            self.failure = Failure::Bus;
        }
        word
    }

    /// Reads a first word by a command's register.
    #[inline(never)]
    fn peek(&mut self, offset: u32) -> Option<u32> {
        if self.uses_page() {
            self.expected = self.expected.wrapping_add(1);
        }
        let first = self.read(offset)?;
        self.check(first)
    }

    /// Polls the doubleword until the bits of `mask` are `expected`.
    #[inline(never)]
    fn poll(&mut self, mask: u64, expected: u64) -> Option<u64> {
        for _ in 0..POLLS_MAX {
            let word = self.ports.load();
            if word & mask == expected {
                return Some(word);
            }
        }
        self.fail_with(Failure::Timeout)
    }

    /// Waits for the answer to the last command in memory; returns the upper word.
    #[inline(never)]
    fn wait_for_answer(&mut self) -> Option<u32> {
        let word = self.poll(VALID.into(), 0)?;
        if word as u32 != self.expected {
            return self.fail_with(Failure::WrongAnswer);
        }
        Some((word >> 32) as u32)
    }

    /// Whether commands are issued by the register page.
    #[inline]
    const fn uses_page(&self) -> bool {
        self.scheme as u32 <= Scheme::Hybrid as u32
    }

    /// Issues a command for this first word: by a write to the page at this offset, or by memory.
    #[inline(always)]
    fn issue(&mut self, offset: u32, command: u32, first: u32) -> Option<()> {
        if !self.uses_page() {
            return self.issue_by_memory(command, first);
        }
        self.ports.write(offset, first & 0xffff);
        self.expected = self.expected.wrapping_add(1);
        self.ports.settle();
        Some(())
    }

    #[inline(never)]
    fn issue_by_memory(&mut self, command: u32, first: u32) -> Option<()> {
        self.wait_for_answer()?;
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
        // In the shadow table first, so that a failure does not lose it.
        self.shadow[usize::from(handle)] = first;
        self.count += 1;
        let command = Command::InsertTail as u32 + u32::from(head);
        self.issue(register::insert(priority, head), command, first)
    }

    /// Whether this is the first word of a queued vCPU.
    #[inline(always)]
    fn is_queued(&self, first: u32) -> bool {
        let shadow = self.shadow.get(usize::from(first as Handle));
        first != 0 && shadow == Some(&first)
    }

    /// Checks a first word: it is that of a queued vCPU, or 0 if none is queued.
    #[inline(never)]
    fn check(&mut self, first: u32) -> Option<u32> {
        if self.is_queued(first) || first == 0 && self.count == 0 {
            Some(first)
        } else {
            self.fail_with(Failure::WrongAnswer)
        }
    }

    /// Hybrid: removes the first vCPU if it fits; 0: it does not, or the slow path has to decide.
    #[inline(always)]
    fn take_from_memory(&mut self, fits: &mut dyn FnMut(Handle) -> bool) -> Option<u32> {
        let mut both = self.ports.load();
        if both as u32 != self.expected {
            both = self.poll(u32::MAX.into(), self.expected.into())?;
        }
        let first = (both >> 32) as u32;
        let shadow = self.shadow.get_mut(usize::from(first as Handle));
        let Some(shadow) = shadow.filter(|shadow| **shadow == first && first != 0) else {
            return Some(0);
        };
        if !fits(first as Handle) {
            return Some(0);
        }
        self.ports.write(register::REMOVE, first & 0xffff);
        *shadow = 0;
        self.count -= 1;
        self.expected = self.expected.wrapping_add(1);
        self.ports.settle();
        Some(first)
    }

    /// The first vCPU.
    #[inline(never)]
    fn first(&mut self) -> Option<u32> {
        let first = match self.scheme {
            Scheme::Hybrid => (self.poll(u32::MAX.into(), self.expected.into())? >> 32) as u32,
            Scheme::Gp => return self.peek(register::PEEK_HIGHEST),
            Scheme::Acp | Scheme::Polling => self.wait_for_answer()?,
        };
        self.check(first)
    }

    /// Removes the first vCPU that fits.
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
            first = self.find(fits)?;
        }
        if first != 0 {
            self.remove_queued(first)?;
        }
        Some(first)
    }

    /// Finds the first vCPU that fits, by the register page.
    #[inline(never)]
    fn find(&mut self, fits: &mut dyn FnMut(Handle) -> bool) -> Option<u32> {
        if !self.uses_page() {
            self.wait_for_answer()?;
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

    /// Removes the queued vCPU with this first word.
    #[inline(always)]
    fn remove_queued(&mut self, first: u32) -> Option<()> {
        self.issue(register::REMOVE, Command::Remove as u32, first)?;
        self.shadow[usize::from(first as Handle)] = 0;
        self.count -= 1;
        Some(())
    }

    /// Removes a handle; `false`: it is not queued.
    #[inline(never)]
    fn remove(&mut self, handle: Handle) -> Option<bool> {
        let first = self.shadow[usize::from(handle)];
        if first != 0 {
            self.remove_queued(first)?;
        }
        Some(first != 0)
    }

    /// Visits the queued vCPUs, in order of handles.
    fn visit(&self, look: &mut dyn FnMut(Handle, u8)) {
        for (handle, priority) in self.shadow.iter().filter_map(|first| decode(*first)) {
            look(handle, priority);
        }
    }
}

/// A queue in hardware, with fallback to software when that fails. `N` is the number of vCPUs, at most 1,024.
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

    /// Uses the hardware if a few commands show that it is present and works; otherwise reports the failure
    /// ([`Ports::failed`]). The queue must be empty.
    pub fn try_hardware(&mut self, ports: P, scheme: Scheme) {
        let hardware = self.hardware.insert(Hardware {
            ports,
            failure: Failure::Absent,
            scheme,
            expected: 0,
            count: 0,
            shadow: Array([0; N]),
        });
        if hardware.initialize().is_none() {
            hardware.shadow = Array([0; N]);
            self.fail();
        }
    }

    /// Whether the hardware is used.
    pub const fn is_in_hardware(&self) -> bool {
        self.hardware.is_some()
    }

    /// Falls back to software after a failure of the hardware.
    #[cold]
    #[inline(never)]
    fn fail(&mut self) {
        if let Some(hardware) = &mut self.hardware {
            hardware.visit(&mut |handle, priority| self.lists.insert(handle, priority, false));
            hardware.ports.failed(hardware.failure);
            self.hardware = None;
        }
    }

    /// Performs an operation in hardware; `None`: there is none, or it has failed now.
    #[inline(always)]
    fn in_hardware<T>(
        &mut self,
        operation: impl FnOnce(&mut Hardware<P, N>) -> Option<T>,
    ) -> Option<T> {
        let answer = operation(self.hardware.as_mut()?);
        if answer.is_none() {
            self.fail();
        }
        answer
    }

    #[inline(never)]
    fn pop_from_hardware(&mut self, fits: &mut dyn FnMut(Handle) -> bool) -> Option<u32> {
        self.in_hardware(|hardware| hardware.take(fits))
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
        self.in_hardware(|hardware| hardware.remove(handle))
            .unwrap_or_else(|| self.lists.remove(handle))
    }

    #[inline(never)]
    fn highest(&mut self) -> Option<u8> {
        match self.in_hardware(Hardware::first) {
            Some(first) => decode(first).map(|(_, priority)| priority),
            None => self.lists.highest(),
        }
    }

    fn pop(&mut self) -> Option<Handle> {
        self.pop_where(&mut |_| true).map(|(handle, _)| handle)
    }

    #[inline]
    fn pop_where(&mut self, fits: &mut dyn FnMut(Handle) -> bool) -> Option<(Handle, u8)> {
        if self.hardware.is_some()
            && let Some(taken) = self.pop_from_hardware(fits)
        {
            return decode(taken);
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
