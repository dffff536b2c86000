//! The deadlines a hart keeps for the vCPUs that wait on it, the earliest first.

use crate::ready::Handle;
use crate::table::Array;

const ABSENT: u16 = u16::MAX;

/// A binary heap of deadlines with at most one for each of `N` vCPUs: setting and clearing one takes
/// O(log n) steps for n deadlines set, reading the earliest one step.
#[repr(C)]
pub struct Deadlines<const N: usize> {
    len: usize,
    /// Heap order: each entry is no later than the two at twice its index plus one and plus two. Empty: the first is `u64::MAX`.
    heap: Array<(u64, Handle), N>,
    /// Where a vCPU's entry is in the heap.
    place: Array<u16, N>,
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
            place: Array([ABSENT; N]),
        }
    }

    /// The earliest deadline and whose it is; `u64::MAX`: there is none.
    #[inline]
    pub const fn earliest(&self) -> (u64, Handle) {
        self.heap.0[0]
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Takes out the vCPU of the earliest deadline, if that is no later than `now`, which is less than `u64::MAX`.
    #[inline]
    pub fn pop_until(&mut self, now: u64) -> Option<Handle> {
        if self.heap[0].0 > now {
            return None;
        }
        self.pop()
    }

    /// Takes out the vCPU of the earliest deadline.
    #[inline(never)]
    pub fn pop(&mut self) -> Option<Handle> {
        let (_, handle) = self.heap[0];
        self.len = self.len.checked_sub(1)?;
        if let Some(place) = self.place.get_mut(usize::from(handle)) {
            *place = ABSENT;
        }
        self.heap[0].0 = u64::MAX;
        if self.len > 0 {
            // The last entry goes to the first place, or further down.
            self.sink(0, self.heap[self.len]);
        }
        Some(handle)
    }

    /// Sets or moves a vCPU's deadline.
    pub fn set(&mut self, handle: Handle, deadline: u64) {
        let place = self.place[usize::from(handle)];
        if place == ABSENT {
            self.len += 1;
            self.rise(self.len - 1, (deadline, handle));
        } else {
            self.settle(usize::from(place), (deadline, handle));
        }
    }

    /// Forgets a vCPU's deadline, if it has one.
    pub fn clear(&mut self, handle: Handle) {
        let place = self.place[usize::from(handle)];
        if place == ABSENT {
            return;
        }
        let place = usize::from(place);
        self.place[usize::from(handle)] = ABSENT;
        self.len -= 1;
        if self.len == 0 {
            self.heap[0].0 = u64::MAX;
        }
        if place < self.len {
            self.settle(place, self.heap[self.len]);
        }
    }

    // Both are there. To say it otherwise would take more code, in each of the callers, than all the rest.
    fn put(&mut self, place: usize, entry: (u64, Handle)) {
        let slot = self.heap.get_mut(place);
        let back = self.place.get_mut(usize::from(entry.1));
        if let (Some(slot), Some(back)) = (slot, back) {
            *slot = entry;
            *back = place as u16;
        }
    }

    /// Puts an entry in place of another.
    fn settle(&mut self, place: usize, entry: (u64, Handle)) {
        if place > 0 && self.heap[(place - 1) / 2].0 > entry.0 {
            self.rise(place, entry);
        } else {
            self.sink(place, entry);
        }
    }

    /// Puts an entry in a place that is free, or further up; those on its way move down.
    fn rise(&mut self, mut place: usize, entry: (u64, Handle)) {
        while place > 0 {
            let parent = (place - 1) / 2;
            let Some(&above) = self.heap.get(parent).filter(|above| above.0 > entry.0) else {
                break;
            };
            self.put(place, above);
            place = parent;
        }
        self.put(place, entry);
    }

    /// Puts an entry in a place that is free, or further down; those on its way move up.
    #[inline(never)]
    fn sink(&mut self, mut place: usize, entry: (u64, Handle)) {
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
            // Above one that is there.
            heap[place] = below;
            self.place[usize::from(below.1)] = place as u16;
            place = child;
        }
        self.put(place, entry);
    }
}
