//! Ready queues: which vCPU runs next.
//!
//! 256 priorities, 255 the highest; first in, first out within a priority.

use crate::table::Array;

/// A vCPU: its index in the system's vCPU table.
pub type Handle = u16;

/// Number of priorities.
pub const PRIORITIES: usize = 256;

const NONE: Handle = Handle::MAX;

/// A queue of ready vCPUs. A handle is in a queue at most once.
pub trait ReadyQueue {
    /// Inserts a vCPU before the others of its priority (`head`), or behind them.
    fn insert(&mut self, handle: Handle, priority: u8, head: bool);
    /// Removes a vCPU; `false`: it was not queued.
    fn remove(&mut self, handle: Handle) -> bool;
    /// The highest queued priority.
    fn highest(&mut self) -> Option<u8>;
    /// Removes the first vCPU of the highest priority.
    fn pop(&mut self) -> Option<Handle>;
    /// Removes the first vCPU, in the order of the queue, that `fits`, and returns it with its priority. `fits` may be
    /// called twice for one vCPU. Linear in the vCPUs queued.
    fn pop_where(&mut self, fits: &mut dyn FnMut(Handle) -> bool) -> Option<(Handle, u8)>;
    /// Visits each queued vCPU, in any order. Linear in the vCPUs queued.
    fn visit(&mut self, look: &mut dyn FnMut(Handle));
}

#[derive(Clone, Copy)]
struct Link {
    next: Handle,
    previous: Handle,
    priority: u8,
    queued: bool,
}

/// A doubly linked list for each priority, and a bitmap of two levels that marks the lists that are not empty: every
/// operation except [`ReadyQueue::pop_where`] takes a constant number of steps. For comparison, there is a variant
/// without the bitmap, which finds the highest priority by a scan of the lists. `N` is the number of vCPUs, at most
/// 65,535.
pub struct ListQueue<const N: usize> {
    /// The variant without the bitmap, which then is empty.
    linear: bool,
    summary: u8,
    bitmap: [u64; PRIORITIES / 64],
    head: [Handle; PRIORITIES],
    tail: [Handle; PRIORITIES],
    links: Array<Link, N>,
}

impl<const N: usize> ListQueue<N> {
    /// An empty queue with a bitmap.
    pub const fn bitmap() -> Self {
        Self::new(false)
    }

    /// An empty queue without a bitmap.
    pub const fn linear() -> Self {
        Self::new(true)
    }

    #[inline(never)]
    const fn new(linear: bool) -> Self {
        assert!(N < NONE as usize);
        Self {
            linear,
            summary: 0,
            bitmap: [0; PRIORITIES / 64],
            head: [NONE; PRIORITIES],
            tail: [NONE; PRIORITIES],
            links: Array(
                [Link {
                    next: NONE,
                    previous: NONE,
                    priority: 0,
                    queued: false,
                }; N],
            ),
        }
    }

    fn mark(&mut self, priority: u8) {
        if self.linear {
            return;
        }
        let word = usize::from(priority / 64);
        self.bitmap[word] |= 1 << (priority % 64);
        self.summary |= 1 << word;
    }

    fn unmark(&mut self, priority: u8) {
        if self.linear {
            return;
        }
        let word = usize::from(priority / 64);
        self.bitmap[word] &= !(1 << (priority % 64));
        if self.bitmap[word] == 0 {
            self.summary &= !(1 << word);
        }
    }

    /// The highest queued priority.
    #[inline]
    pub fn highest(&self) -> Option<u8> {
        if self.summary == 0 {
            return if self.linear { self.scan(255) } else { None };
        }
        let word = (7 - self.summary.leading_zeros() as usize) % self.bitmap.len();
        Some((word * 64) as u8 + 63 - self.bitmap[word].leading_zeros() as u8)
    }

    /// The highest queued priority that is at most `limit`.
    #[inline(never)]
    fn highest_to(&self, limit: u8) -> Option<u8> {
        let mut word = usize::from(limit / 64);
        let mut bits = self.bitmap[word] & (u64::MAX >> (63 - limit % 64));
        while bits == 0 {
            if word == 0 {
                return if self.linear { self.scan(limit) } else { None };
            }
            word -= 1;
            bits = self.bitmap[word];
        }
        Some((word * 64) as u8 + 63 - bits.leading_zeros() as u8)
    }

    /// The same, by a scan of the lists.
    #[inline(never)]
    fn scan(&self, limit: u8) -> Option<u8> {
        (0..=limit)
            .rev()
            .find(|&priority| self.head[usize::from(priority)] != NONE)
    }
}

impl<const N: usize> ReadyQueue for ListQueue<N> {
    #[inline(never)]
    fn insert(&mut self, handle: Handle, priority: u8, head: bool) {
        let list = usize::from(priority);
        let (mut next, mut previous) = (NONE, self.tail[list]);
        if head {
            (next, previous) = (self.head[list], NONE);
        }
        debug_assert!(!self.links[usize::from(handle)].queued);
        self.links[usize::from(handle)] = Link {
            next,
            previous,
            priority,
            queued: true,
        };
        match previous {
            NONE => self.head[list] = handle,
            previous => self.links[usize::from(previous)].next = handle,
        }
        match next {
            NONE => self.tail[list] = handle,
            next => self.links[usize::from(next)].previous = handle,
        }
        self.mark(priority);
    }

    fn remove(&mut self, handle: Handle) -> bool {
        let link = self.links[usize::from(handle)];
        if !link.queued {
            return false;
        }
        let list = usize::from(link.priority);
        match link.previous {
            NONE => self.head[list] = link.next,
            previous => self.links[usize::from(previous)].next = link.next,
        }
        match link.next {
            NONE => self.tail[list] = link.previous,
            next => self.links[usize::from(next)].previous = link.previous,
        }
        if self.head[list] == NONE {
            self.unmark(link.priority);
        }
        self.links[usize::from(handle)].queued = false;
        true
    }

    #[inline]
    fn highest(&mut self) -> Option<u8> {
        Self::highest(self)
    }

    fn pop(&mut self) -> Option<Handle> {
        let handle = self.head[usize::from(ListQueue::highest(self)?)];
        self.remove(handle);
        Some(handle)
    }

    #[inline(never)]
    fn pop_where(&mut self, fits: &mut dyn FnMut(Handle) -> bool) -> Option<(Handle, u8)> {
        let mut limit = 255;
        // At most N handles over all lists, and 256 lists.
        while let Some(priority) = self.highest_to(limit) {
            let mut handle = self.head[usize::from(priority)];
            while handle != NONE {
                if fits(handle) {
                    self.remove(handle);
                    return Some((handle, priority));
                }
                handle = self.links[usize::from(handle)].next;
            }
            limit = priority.checked_sub(1)?;
        }
        None
    }

    fn visit(&mut self, look: &mut dyn FnMut(Handle)) {
        self.pop_where(&mut |handle| {
            look(handle);
            false
        });
    }
}
