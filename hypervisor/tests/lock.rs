//! The lock between harts (`src/lock.rs`): all interleavings of harts that lock and that try to.
//!
//! Loom finds two harts that use the value at once, and a hart that does not see the value of the previous owner.
//!
//! ```console
//! $ RUSTFLAGS="--cfg loom" cargo test --release -p tactus-hypervisor --test lock
//! ```
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use tactus_hypervisor::lock::Lock;

/// A locked value whose accesses loom checks.
fn counter() -> Arc<Lock<UnsafeCell<u32>>> {
    Arc::new(Lock::new(UnsafeCell::new(0)))
}

fn count(value: &UnsafeCell<u32>) {
    value.with_mut(|count| unsafe { *count += 1 });
}

/// Explores all interleavings with a bounded number of preemptions, because spinning would be unbounded otherwise.
fn explore(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

#[test]
fn one_hart_uses_the_value_at_a_time() {
    explore(|| {
        let lock = counter();
        let locking = lock.clone();
        let other = thread::spawn(move || {
            count(&locking.lock());
            count(&locking.lock());
        });
        count(&lock.lock_inlined());
        count(&lock.lock_inlined());
        other.join().expect("it ends");
        lock.lock().with(|count| assert_eq!(unsafe { *count }, 4));
    });
}

#[test]
fn a_try_excludes_the_others() {
    explore(|| {
        let lock = counter();
        let trying = lock.clone();
        let tries = thread::spawn(move || {
            // Twice, because the second attempt may find the ticket counters changed by another hart's lock and unlock.
            let once = || trying.try_lock().map(|value| count(&value)).is_some();
            u32::from(once()) + u32::from(once())
        });
        count(&lock.lock());
        count(&lock.lock());
        let taken = tries.join().expect("it ends");
        lock.lock()
            .with(|count| assert_eq!(unsafe { *count }, 2 + taken));
        // The lock is free at the end.
        assert!(lock.try_lock().is_some());
    });
}
