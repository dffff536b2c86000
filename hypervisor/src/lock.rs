//! Locks between harts: first come, first served, so that the wait is bounded by the number of harts times the
//! longest time one is held (a ticket lock: Mellor-Crummey and Scott, ACM TOCS 9, 1991, section 2.2). Interrupts are
//! always off in the hypervisor; nothing waits while holding one, but for the bounded time of an answer of the region
//! allocator (`accelerators/allocation.rs`).
//!
//! What is compiled into most places that lock is a call. `tests/lock.rs` tries all interleavings.

use core::cell::UnsafeCell;
use core::ops::{Deref, DerefMut};

#[cfg(not(loom))]
use core::hint::spin_loop;
#[cfg(not(loom))]
use core::sync::atomic::{AtomicU32, Ordering};
#[cfg(loom)]
use loom::sync::atomic::{AtomicU32, Ordering};
#[cfg(loom)]
use loom::thread::yield_now as spin_loop;

/// A value that one hart uses at a time.
#[repr(C)]
pub struct Lock<T> {
    turns: Turns,
    value: UnsafeCell<T>,
}

// Safety: `Guard` is the only way to the value, and there is one at a time.
unsafe impl<T: Send> Sync for Lock<T> {}

/// The ticket counters: both count up for ever, and wrap.
struct Turns {
    /// The ticket of the next hart that asks.
    next: AtomicU32,
    /// The ticket of the hart whose turn it is.
    now: AtomicU32,
}

impl Turns {
    /// Takes a turn, and waits for it.
    #[inline(always)]
    fn begin(&self) {
        let mine = self.next.fetch_add(1, Ordering::Relaxed);
        if self.now.load(Ordering::Acquire) != mine {
            self.wait(mine);
        }
    }

    #[cold]
    #[inline(never)]
    fn wait(&self, mine: u32) {
        while self.now.load(Ordering::Acquire) != mine {
            spin_loop();
        }
    }

    /// As [`Turns::begin`], compiled once.
    #[inline(never)]
    fn begin_by_call(&self) {
        self.begin();
    }

    /// Takes a turn if it begins at once. A turn ends before the next one is taken: `next` equal to an old `now` means
    /// that `now` is still the same.
    #[inline(always)]
    fn try_begin(&self) -> bool {
        let now = self.now.load(Ordering::Acquire);
        let taken = self.next.compare_exchange(
            now,
            now.wrapping_add(1),
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        taken.is_ok()
    }

    /// Ends the turn of the hart that has it.
    #[inline]
    fn end(&self) {
        let mine = self.now.load(Ordering::Relaxed);
        self.now.store(mine.wrapping_add(1), Ordering::Release);
    }
}

impl<T> Lock<T> {
    /// An open lock.
    #[cfg(not(loom))]
    pub const fn new(value: T) -> Self {
        Self {
            turns: Turns {
                next: AtomicU32::new(0),
                now: AtomicU32::new(0),
            },
            value: UnsafeCell::new(value),
        }
    }

    /// An open lock.
    #[cfg(loom)]
    pub fn new(value: T) -> Self {
        Self {
            turns: Turns {
                next: AtomicU32::new(0),
                now: AtomicU32::new(0),
            },
            value: UnsafeCell::new(value),
        }
    }

    /// Waits until all harts that asked before have used the value; it is the caller's until the guard is dropped. A
    /// hart that locks what it has locked already waits for ever.
    #[inline]
    pub fn lock(&self) -> Guard<'_, T> {
        self.turns.begin_by_call();
        Guard { lock: self }
    }

    /// The same, on a path that is measured.
    #[inline(always)]
    pub fn lock_inlined(&self) -> Guard<'_, T> {
        self.turns.begin();
        Guard { lock: self }
    }

    /// The value, unless a hart uses it or waits for it; on a path that is measured.
    #[inline(always)]
    pub fn try_lock(&self) -> Option<Guard<'_, T>> {
        if self.turns.try_begin() {
            Some(Guard { lock: self })
        } else {
            None
        }
    }
}

/// The right to use a locked value.
pub struct Guard<'a, T> {
    lock: &'a Lock<T>,
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // Safety: it is this guard's turn.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // Safety: it is this guard's turn, and it is borrowed for as long as the reference is.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.lock.turns.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;
    use std::thread;

    const THREADS: usize = 4;
    const ROUNDS: usize = 50;

    #[test]
    fn one_has_the_value_at_a_time() {
        let counts = Lock::new((0, 0));
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for _ in 0..ROUNDS {
                        let mut counts = counts.lock();
                        assert_eq!(counts.0, counts.1);
                        counts.0 += 1;
                        thread::yield_now();
                        counts.1 += 1;
                    }
                });
            }
        });
        assert_eq!(*counts.lock(), (THREADS * ROUNDS, THREADS * ROUNDS));
    }

    #[test]
    fn a_try_takes_a_free_lock_only() {
        let counts = Lock::new((0, 0));
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for round in 0..ROUNDS {
                        let mut counts = loop {
                            if round % 3 == 0 {
                                break counts.lock();
                            }
                            match counts.try_lock() {
                                Some(guard) => break guard,
                                None => thread::yield_now(),
                            }
                        };
                        assert_eq!(counts.0, counts.1);
                        counts.0 += 1;
                        thread::yield_now();
                        counts.1 += 1;
                    }
                });
            }
        });
        let guard = counts.lock();
        assert_eq!(*guard, (THREADS * ROUNDS, THREADS * ROUNDS));
        assert!(counts.try_lock().is_none());
    }

    #[test]
    fn turns_wrap() {
        let lock = Lock {
            turns: Turns {
                next: AtomicU32::new(u32::MAX),
                now: AtomicU32::new(u32::MAX),
            },
            value: UnsafeCell::new(0),
        };
        *lock.lock() += 1;
        *lock.lock() += 1;
        assert_eq!(*lock.lock(), 2);
    }

    #[test]
    fn turns_are_in_the_order_of_requests() {
        let order = Lock::new(std::vec::Vec::new());
        let first = order.lock();
        thread::scope(|scope| {
            for (place, turn) in (0..THREADS).zip(1..) {
                let order = &order;
                scope.spawn(move || order.lock().push(place));
                // The next one comes when this one has its turn.
                while order.turns.next.load(Ordering::Relaxed) <= turn {
                    thread::yield_now();
                }
            }
            drop(first);
        });
        assert_eq!(*order.lock(), [0, 1, 2, 3]);
    }
}
