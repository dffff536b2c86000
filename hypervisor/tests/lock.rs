//! The lock between harts (`src/lock.rs`): all interleavings of harts that lock, and that try to. Loom finds two that use the value at once, and a
//! value that the next hart does not see as the last one left it.
//!
//! ```console
//! $ RUSTFLAGS="--cfg loom" cargo test --release -p tactus-hypervisor --test lock
//! ```
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use tactus_hypervisor::lock::Lock;

/// A locked value whose uses loom checks.
fn counter() -> Arc<Lock<UnsafeCell<u32>>> {
    Arc::new(Lock::new(UnsafeCell::new(0)))
}

fn count(value: &UnsafeCell<u32>) {
    value.with_mut(|count| unsafe { *count += 1 });
}

/// All interleavings with so many changes of threads where none has to wait: spinning has no end otherwise.
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
            // Twice: the second one may find the turns of another hart's lock and unlock.
            let once = || trying.try_lock().map(|value| count(&value)).is_some();
            u32::from(once()) + u32::from(once())
        });
        count(&lock.lock());
        count(&lock.lock());
        let taken = tries.join().expect("it ends");
        lock.lock()
            .with(|count| assert_eq!(unsafe { *count }, 2 + taken));
        // Nothing is left locked.
        assert!(lock.try_lock().is_some());
    });
}
