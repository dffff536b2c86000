//! Timeouts and deadlines of the vCPUs of a hart, the earliest first.

use crate::ready::Handle;
use crate::table::Array;

const ABSENT: u16 = u16::MAX;

/// A binary heap of deadlines with at most one for each of `N` vCPUs: setting and clearing one takes
/// O(log n) steps for n deadlines set, reading the earliest one step.
#[repr(C)]
pub struct Deadlines<const N: usize> {
    len: usize,
    /// Heap order: each entry is no later than those at twice its index plus one and plus two. When the heap is empty,
    /// the first is `u64::MAX`.
    heap: Array<(u64, Handle), N>,
    /// By vCPU: the index of its entry in the heap.
    position: Array<u16, N>,
}

impl<const N: usize> Default for Deadlines<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> Deadlines<N> {
    /// No deadlines.
    #[inline(never)]
    pub const fn new() -> Self {
        assert!(N < ABSENT as usize);
        Self {
            heap: Array([(u64::MAX, 0); N]),
            len: 0,
            position: Array([ABSENT; N]),
        }
    }

    /// The earliest deadline and its vCPU; `u64::MAX`: none.
    #[inline]
    pub const fn earliest(&self) -> (u64, Handle) {
        self.heap.0[0]
    }

    /// Whether no vCPU has a deadline.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Removes the vCPU of the earliest deadline if that is due at `now`, which is less than `u64::MAX`.
    #[inline]
    pub fn pop_until(&mut self, now: u64) -> Option<Handle> {
        let (due, handle) = self.earliest();
        if due > now {
            return None;
        }
        self.remove_earliest();
        Some(handle)
    }

    /// Removes the vCPU of the earliest deadline.
    pub fn pop(&mut self) -> Option<Handle> {
        let first = (self.len > 0).then_some(self.heap[0].1);
        self.remove_earliest();
        first
    }

    /// As [`Deadlines::pop`], where it is known. Calls nothing but for its end, so that it needs no stack.
    #[inline(never)]
    pub fn remove_earliest(&mut self) {
        let (_, handle) = self.heap[0];
        // Without any the first one's vCPU has none already.
        let rest = self.len.saturating_sub(1);
        self.len = rest;
        if let Some(place) = self.position.get_mut(usize::from(handle)) {
            *place = ABSENT;
        }
        self.heap[0].0 = u64::MAX;
        // The last entry replaces the first, and is sifted down.
        if let (1.., Some(&last)) = (rest, self.heap.get(rest)) {
            self.sift_down(0, last);
        }
    }

    /// Sets or moves a vCPU's deadline.
    pub fn set(&mut self, handle: Handle, deadline: u64) {
        let place = self.position[usize::from(handle)];
        if place == ABSENT {
            self.len += 1;
            self.sift_up(self.len - 1, (deadline, handle));
        } else {
            self.sift(usize::from(place), (deadline, handle));
        }
    }

    /// Removes the deadline of a vCPU, if it has one.
    pub fn clear(&mut self, handle: Handle) {
        let place = self.position[usize::from(handle)];
        if place == ABSENT {
            return;
        }
        let place = usize::from(place);
        self.position[usize::from(handle)] = ABSENT;
        self.len -= 1;
        if self.len == 0 {
            self.heap[0].0 = u64::MAX;
        }
        if place < self.len {
            self.sift(place, self.heap[self.len]);
        }
    }

    // Both indices are in range. Checks that panic would take more code, in each caller, than all the rest.
    fn store(&mut self, place: usize, entry: (u64, Handle)) {
        let slot = self.heap.get_mut(place);
        let back = self.position.get_mut(usize::from(entry.1));
        if let (Some(slot), Some(back)) = (slot, back) {
            *slot = entry;
            *back = place as u16;
        }
    }

    /// Replaces the entry at an index and restores the heap order.
    fn sift(&mut self, place: usize, entry: (u64, Handle)) {
        if place > 0 && self.heap[(place - 1) / 2].0 > entry.0 {
            self.sift_up(place, entry);
        } else {
            self.sift_down(place, entry);
        }
    }

    /// Stores an entry at a free index or at an ancestor of it; the ancestors passed move down.
    fn sift_up(&mut self, mut place: usize, entry: (u64, Handle)) {
        while place > 0 {
            let parent = (place - 1) / 2;
            let Some(&above) = self.heap.get(parent).filter(|above| above.0 > entry.0) else {
                break;
            };
            self.store(place, above);
            place = parent;
        }
        self.store(place, entry);
    }

    /// Stores an entry at a free index or at a descendant of it; the descendants passed move up.
    #[inline(never)]
    fn sift_down(&mut self, mut place: usize, entry: (u64, Handle)) {
        let Some(heap) = self.heap.get_mut(..self.len) else {
            return;
        };
        loop {
            let first = 2 * place + 1;
            let Some(&left) = heap.get(first) else {
                break;
            };
            let (child, below) = match heap.get(first + 1) {
                Some(&right) if right.0 < left.0 => (first + 1, right),
                _ => (first, left),
            };
            if entry.0 <= below.0 {
                break;
            }
            // The index is above one in range.
            heap[place] = below;
            self.position[usize::from(below.1)] = place as u16;
            place = child;
        }
        self.store(place, entry);
    }
}
