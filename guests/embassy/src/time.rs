//! Embassy's time driver: the `time` CSR and the timer of the calling vCPU.

use core::cell::RefCell;
use core::sync::atomic::{AtomicU64, Ordering};
use core::task::Waker;

use critical_section::{CriticalSection, Mutex};
use embassy_time_driver::{Driver, TICK_HZ};
use embassy_time_queue_utils::Queue;
use tactus_guest::{time, trap};

struct Clock {
    queue: Mutex<RefCell<Queue>>,
    /// Frequency of the `time` CSR; 0: not known yet.
    hz: AtomicU64,
}

embassy_time_driver::time_driver_impl!(static CLOCK: Clock = Clock {
    queue: Mutex::new(RefCell::new(Queue::new())),
    hz: AtomicU64::new(0),
});

/// Enables the timer's interrupt on the running vCPU.
pub(crate) fn enable() {
    trap::on_timer(|| critical_section::with(|section| CLOCK.advance(section)));
}

impl Clock {
    /// Ticks per second; the devicetree is read once.
    fn hz(&self) -> u64 {
        match self.hz.load(Ordering::Relaxed) {
            0 => {
                let hz = time::hz();
                self.hz.store(hz, Ordering::Relaxed);
                hz
            }
            hz => hz,
        }
    }

    /// Wakes due tasks, and sets the timer to the next deadline.
    fn advance(&self, section: CriticalSection<'_>) {
        let next = self
            .queue
            .borrow_ref_mut(section)
            .next_expiration(self.now());
        // A deadline that has passed meanwhile interrupts at once.
        time::set_deadline(to_csr(next, self.hz()));
    }
}

/// Converts Embassy's ticks to those of the CSR, rounded up; infinity stays infinity.
fn to_csr(ticks: u64, hz: u64) -> u64 {
    if ticks == u64::MAX || hz == TICK_HZ {
        return ticks;
    }
    let exact = (u128::from(ticks) * u128::from(hz)).div_ceil(u128::from(TICK_HZ));
    u64::try_from(exact).unwrap_or(time::NEVER)
}

impl Driver for Clock {
    fn now(&self) -> u64 {
        let hz = self.hz();
        if hz == TICK_HZ {
            return time::now();
        }
        // The quotient fits for as long as the CSR counts, if `hz` is at least 1/1,000 of TICK_HZ.
        (u128::from(time::now()) * u128::from(TICK_HZ) / u128::from(hz)) as u64
    }

    fn schedule_wake(&self, at: u64, waker: &Waker) {
        critical_section::with(|section| {
            let earlier = self.queue.borrow_ref_mut(section).schedule_wake(at, waker);
            if earlier {
                self.advance(section);
            }
        });
    }
}
