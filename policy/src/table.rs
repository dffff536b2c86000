//! Slices and arrays with a cheap bounds check, for indices that are in range by construction.
//!
//! Most of the cost of a slice's own check is the location for its panic message: some twenty bytes of code at each
//! place. Here the check costs four, and the message names this file.

use core::ops::{Deref, DerefMut, Index, IndexMut};

/// A slice.
#[derive(Debug)]
#[repr(transparent)]
pub struct Table<T>([T]);

impl<T> Table<T> {
    /// The elements as a table.
    #[inline]
    pub const fn new(elements: &[T]) -> &Self {
        // Safety: the same layout, by `repr(transparent)`.
        unsafe { &*(core::ptr::from_ref(elements) as *const Self) }
    }
}

impl<'a, T> IntoIterator for &'a Table<T> {
    type Item = &'a T;
    type IntoIter = core::slice::Iter<'a, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T> Default for &Table<T> {
    fn default() -> Self {
        Table::new(&[])
    }
}

impl<T> Deref for Table<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> Index<usize> for Table<T> {
    type Output = T;

    #[inline]
    fn index(&self, index: usize) -> &T {
        match self.0.get(index) {
            Some(element) => element,
            None => absent(),
        }
    }
}

/// An array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Array<T, const N: usize>(pub [T; N]);

impl<T, const N: usize> Deref for Array<T, N> {
    type Target = [T; N];

    #[inline]
    fn deref(&self) -> &[T; N] {
        &self.0
    }
}

impl<T, const N: usize> DerefMut for Array<T, N> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T; N] {
        &mut self.0
    }
}

impl<T, const N: usize> Index<usize> for Array<T, N> {
    type Output = T;

    #[inline]
    fn index(&self, index: usize) -> &T {
        match self.0.get(index) {
            Some(element) => element,
            None => absent(),
        }
    }
}

impl<T, const N: usize> IndexMut<usize> for Array<T, N> {
    #[inline]
    fn index_mut(&mut self, index: usize) -> &mut T {
        match self.0.get_mut(index) {
            Some(element) => element,
            None => absent(),
        }
    }
}

#[cold]
#[inline(never)]
fn absent() -> ! {
    panic!("an index is out of its table")
}

/// The numbers of the bits of a set, ascending: one step for each that is in it.
#[inline(always)]
pub fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let rest = set.checked_sub(1)?;
        let bit = set.trailing_zeros() as usize;
        set &= rest;
        Some(bit)
    })
}

/// The member of a set, as a bit, whose turn is next; 0: there is none. `up_to`: all up to the one whose turn was
/// last.
pub const fn take_turn(set: u64, up_to: &mut u64) -> u64 {
    let after = set & !*up_to;
    let next = if after == 0 { set } else { after };
    let first = next & next.wrapping_neg();
    *up_to = first | first.wrapping_sub(1);
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever the set becomes meanwhile: whose turn it is is a member, and who stays one has a turn before
        /// another has a second.
        #[test]
        fn no_member_is_passed_over(sets in prop::collection::vec(any::<u64>(), 1..200), lasting in any::<u64>()) {
            let mut up_to = 0;
            let mut since = [0; 64];
            for set in sets {
                let set = set | lasting;
                let turn = take_turn(set, &mut up_to);
                prop_assert_eq!(turn.count_ones(), u32::from(set != 0));
                prop_assert_eq!(turn & !set, 0);
                for (bit, turns) in since.iter_mut().enumerate() {
                    if turn >> bit & 1 != 0 || lasting >> bit & 1 == 0 {
                        *turns = 0;
                    } else {
                        prop_assert_eq!(*turns & turn, 0, "{} waits", bit);
                        *turns |= turn;
                    }
                }
            }
        }
    }

    #[test]
    fn all_have_turns_in_order() {
        let mut up_to = 0;
        let set = 1 << 63 | 0b101;
        let turns: [u64; 4] = core::array::from_fn(|_| take_turn(set, &mut up_to));
        assert_eq!(turns, [1, 0b100, 1 << 63, 1]);
        assert_eq!(take_turn(0, &mut up_to), 0);
        assert_eq!(take_turn(set, &mut up_to), 1);
    }
}
