//! Sets of numbers as bits.

use proptest::prelude::*;
use tactus_policy::table::bits;

proptest! {
    /// Each bit that is set is told once, the lowest first, and no other.
    #[test]
    fn bits_are_told_in_their_order(set: u64) {
        let told: Vec<usize> = bits(set).collect();
        let set: Vec<usize> = (0..64).filter(|bit| set >> bit & 1 != 0).collect();
        prop_assert_eq!(told, set);
    }
}

#[test]
fn no_bit_and_all_bits() {
    assert_eq!(bits(0).next(), None);
    assert!(bits(u64::MAX).eq(0..64));
}
