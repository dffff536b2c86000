//! The deadlines a hart keeps for the vCPUs that wait on it, the earliest first.

use crate::ready::Handle;

const ABSENT: u16 = u16::MAX;

/// A binary heap of deadlines with at most one for each of `N` vCPUs: setting and clearing one takes
/// O(log n) steps for n deadlines set, reading the earliest one step.
pub struct Deadlines<const N: usize> {
    /// Heap order: each entry is no later than the two at twice its index plus one and plus two.
    heap: [(u64, Handle); N],
    len: usize,
    /// Where a vCPU's entry is in the heap.
    place: [u16; N],
}

impl<const N: usize> Default for Deadlines<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> Deadlines<N> {
    /// No deadlines.
    pub const fn new() -> Self {
        assert!(N < ABSENT as usize);
        Self {
            heap: [(0, 0); N],
            len: 0,
            place: [ABSENT; N],
        }
    }

    /// The earliest deadline and whose it is.
    pub fn earliest(&self) -> Option<(u64, Handle)> {
        (self.len > 0).then(|| self.heap[0])
    }

    /// Takes out the vCPU of the earliest deadline, if that is no later than `now`.
    pub fn pop_until(&mut self, now: u64) -> Option<Handle> {
        let (deadline, handle) = self.earliest()?;
        if deadline > now {
            return None;
        }
        self.clear(handle);
        Some(handle)
    }

    /// Sets or moves a vCPU's deadline.
    pub fn set(&mut self, handle: Handle, deadline: u64) {
        self.clear(handle);
        let place = self.len;
        self.len += 1;
        self.put(place, (deadline, handle));
        self.rise(place);
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
        if place < self.len {
            let moved = self.heap[self.len];
            self.put(place, moved);
            self.rise(place);
            self.sink(place);
        }
    }

    fn put(&mut self, place: usize, entry: (u64, Handle)) {
        self.heap[place] = entry;
        self.place[usize::from(entry.1)] = place as u16;
    }

    fn swap(&mut self, a: usize, b: usize) {
        let (entry_a, entry_b) = (self.heap[a], self.heap[b]);
        self.put(a, entry_b);
        self.put(b, entry_a);
    }

    fn rise(&mut self, mut place: usize) {
        while place > 0 {
            let parent = (place - 1) / 2;
            if self.heap[parent].0 <= self.heap[place].0 {
                break;
            }
            self.swap(parent, place);
            place = parent;
        }
    }

    fn sink(&mut self, mut place: usize) {
        loop {
            let left = 2 * place + 1;
            if left >= self.len {
                break;
            }
            let right = left + 1;
            let child = if right < self.len && self.heap[right].0 < self.heap[left].0 {
                right
            } else {
                left
            };
            if self.heap[place].0 <= self.heap[child].0 {
                break;
            }
            self.swap(place, child);
            place = child;
        }
    }
}
