//! The ready queues under measurement: the hypervisor's own, and the fabric's by its four schemes
//! alone.

use tactus_guest::{record, start};
use tactus_policy::hardware::{Failure, Ports};
use tactus_policy::ready::{Handle, ReadyQueue};

use crate::schemes;

/// Number of vCPUs.
pub const HANDLES: usize = 64;

/// The most frequent operations of the scheduler: a vCPU becomes ready, and the next one is picked.
pub trait Queue {
    /// Inserts a vCPU behind the others of its priority.
    fn insert(&mut self, handle: Handle, priority: u8);
    /// Removes and returns the first vCPU of the highest priority.
    fn take_highest(&mut self) -> Option<Handle>;
}

/// The hypervisor's own queue: in software, or in hardware with all of its checks.
pub struct Own<Q>(pub Q);

impl<Q: ReadyQueue> Queue for Own<Q> {
    #[inline(always)]
    fn insert(&mut self, handle: Handle, priority: u8) {
        self.0.insert(handle, priority, false);
    }

    #[inline(always)]
    fn take_highest(&mut self) -> Option<Handle> {
        self.0.pop()
    }
}

/// The hypervisor's interface to the hardware, as implemented by this program.
pub struct Direct;

impl Ports for Direct {
    #[inline]
    fn read(&mut self, offset: u32) -> Option<u32> {
        Some(schemes::read(offset))
    }

    #[inline]
    fn write(&mut self, offset: u32, value: u32) {
        schemes::write(offset, value);
    }

    #[inline]
    fn settle(&mut self) {
        // Only one hart uses the queue.
    }

    #[inline]
    fn load(&mut self) -> u64 {
        schemes::load()
    }

    #[inline]
    fn store(&mut self, word: usize, value: u32) {
        schemes::store(word, value);
    }

    #[inline]
    fn publish(&mut self) {
        schemes::barrier();
    }

    #[inline]
    fn event(&mut self) {
        schemes::event();
    }

    fn doubleword(&self) -> u32 {
        schemes::address()
    }

    fn failed(&mut self, why: Failure) {
        record::fail(start::program(), why.message());
    }
}

/// The scheme with commands by registers.
pub struct Gp;

impl Queue for Gp {
    #[inline(always)]
    fn insert(&mut self, handle: Handle, priority: u8) {
        schemes::insert(handle, priority);
    }

    #[inline(always)]
    fn take_highest(&mut self) -> Option<Handle> {
        schemes::known(schemes::take_highest())
    }
}

/// The scheme with commands by registers, and the first vCPU in memory.
pub struct Hybrid {
    /// Commands given.
    pub commands: u32,
}

impl Queue for Hybrid {
    #[inline(always)]
    fn insert(&mut self, handle: Handle, priority: u8) {
        self.commands = self.commands.wrapping_add(1);
        schemes::insert(handle, priority);
    }

    #[inline(always)]
    fn take_highest(&mut self) -> Option<Handle> {
        let mut both = schemes::load();
        while both as u32 != self.commands {
            both = schemes::load();
        }
        let first = schemes::known((both >> 32) as u32)?;
        self.commands = self.commands.wrapping_add(1);
        schemes::remove(first);
        Some(first)
    }
}

/// Commands in memory, with an event each; without events (`EVENT` false) where the fabric polls.
pub struct Acp<const EVENT: bool>;

impl<const EVENT: bool> Queue for Acp<EVENT> {
    #[inline(always)]
    fn insert(&mut self, handle: Handle, priority: u8) {
        schemes::answer();
        schemes::command_insert(handle, priority);
        schemes::barrier();
        if EVENT {
            schemes::event();
        }
    }

    #[inline(always)]
    fn take_highest(&mut self) -> Option<Handle> {
        let first = schemes::known(schemes::answer())?;
        schemes::command_take_highest();
        if EVENT {
            schemes::barrier();
            schemes::event();
        }
        Some(first)
    }
}
