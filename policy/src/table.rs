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
