//! Boards that run in several threads: rounding modes and flags of one must not affect another.

use std::sync::Barrier;
use std::thread;

use tactus_board::float::{Flags, Rounding, operation as op};

/// Operations that SoftFloat computes in these modes, of operands whose flags differ.
fn results(mode: Rounding) -> Vec<(u64, Flags)> {
    let number = |index: u32| (1.0 / f64::from(index % 7)).to_bits();
    (0..20_000)
        .map(|index| match index % 3 {
            0 => op::fdiv_d(number(index), number(index + 3), 0, mode),
            1 => op::fmul_d(number(index), number(index + 1), 0, mode),
            _ => op::fsqrt_d(number(index) ^ u64::from(index & 1) << 63, 0, 0, mode),
        })
        .collect()
}

#[test]
fn threads_with_different_modes_do_not_disturb_one_another() {
    let alone = Rounding::ALL.map(results);
    // The modes differ in their results, so a mode taken from another thread would show.
    assert_ne!(alone[Rounding::Down as usize], alone[Rounding::Up as usize]);
    let barrier = Barrier::new(Rounding::ALL.len());
    thread::scope(|scope| {
        let threads = Rounding::ALL.map(|mode| {
            let barrier = &barrier;
            scope.spawn(move || {
                barrier.wait();
                results(mode)
            })
        });
        for (thread, expected) in threads.into_iter().zip(&alone) {
            assert_eq!(&thread.join().expect("a thread that ends"), expected);
        }
    });
}
