//! The schedule of the paper's Figure 6: two harts, two best-effort vCPUs, and four real-time ones whose periods and
//! capacities are given in ticks of 10 ms. Every running vCPU repeatedly calls [`figure6_mark`], by which an observer
//! outside sees that it runs.

use core::hint::black_box;

use tactus_guest::rt::{self, Reservation, RtStack};
use tactus_guest::{start, time};

use crate::refuse;

/// Ticks of the clock in one tick of the paper.
const TICK: u64 = 100_000;
/// Period and capacity of the real-time vCPUs, in the paper's order.
const VCPUS: [(u64, u64); 4] = [(5, 3), (4, 1), (5, 2), (4, 1)];
/// The paper's ticks after which all periods start together again.
const HYPERPERIOD: u64 = 20;
/// Ticks of the clock between the creation of two vCPUs. Where jobs of both harts end in the same tick of the paper,
/// the first hart's ends first, and takes the first best-effort vCPU, as in the paper. A job of a tick ends later by
/// what the hypervisor does for others in it, which is less than this.
const APART: u64 = 2_000;
/// Number of the best-effort vCPU 0 in its marks; the other's is the next.
const BEST_EFFORT: u64 = 4;
/// Iterations of a loop between two marks: some microseconds.
const PAUSE: usize = 300;

/// Parameters of a real-time vCPU.
struct Task {
    number: u64,
    stack: RtStack<4096>,
}

static TASKS: [Task; VCPUS.len()] = [task(0), task(1), task(2), task(3)];
/// The start of the schedule; 0 before it is known.
static BEGIN: core::sync::atomic::AtomicU64 = core::sync::atomic::AtomicU64::new(0);

const fn task(number: u64) -> Task {
    Task {
        number,
        stack: RtStack::new(),
    }
}

/// Marks that a vCPU runs, `since` ticks of the clock after the schedule's start.
// SAFETY: no other symbol has this name.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn figure6_mark(vcpu: u64, since: u64) {
    black_box((vcpu, since));
}

/// Calls the mark until the schedule has ended.
fn runs(vcpu: u64, begin: u64) {
    loop {
        let since = time::now().saturating_sub(begin);
        if since >= HYPERPERIOD * TICK {
            return;
        }
        figure6_mark(vcpu, since);
        for _ in 0..PAUSE {
            core::hint::spin_loop();
        }
    }
}

fn task_main(task: &'static Task) {
    use core::sync::atomic::Ordering;
    loop {
        let release = rt::yield_now();
        let begin = BEGIN.load(Ordering::Acquire);
        // Its releases lag the schedule only by the delay of its creation, which is small.
        if begin != 0 && release >= begin {
            return runs(task.number, begin);
        }
    }
}

fn other_best_effort() -> ! {
    use core::sync::atomic::Ordering;
    loop {
        let begin = BEGIN.load(Ordering::Acquire);
        if begin != 0 && time::now() >= begin {
            runs(BEST_EFFORT + 1, begin);
            loop {
                tactus_guest::trap::wait_for_interrupt();
            }
        }
        core::hint::spin_loop();
    }
}

/// Runs the schedule. All real-time vCPUs are created at nearly the same time, and skip their jobs until all periods
/// start together.
pub fn run() {
    if let Err(error) = start::start_hart(1, other_best_effort) {
        refuse(format_args!("vCPU 1: {error:?}"));
    }
    let made = time::now();
    for (task, (period, capacity)) in TASKS.iter().zip(VCPUS) {
        time::busy_wait(APART);
        let reservation = Reservation::new(period * TICK, capacity * TICK);
        if let Err(error) = rt::create(task_main, task, &task.stack, reservation) {
            refuse(format_args!("vCPU {}: {error}", task.number));
        }
    }
    let begin = made + HYPERPERIOD * TICK;
    BEGIN.store(begin, core::sync::atomic::Ordering::Release);
    while time::now() < begin {
        core::hint::spin_loop();
    }
    runs(BEST_EFFORT, begin);
}
