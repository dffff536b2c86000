//! The operations of the hypervisor's scheduler on its ready queue, measured alone: each operation of each queue, and
//! its parts. Queues in hardware are measured twice: the schemes alone, as in the paper, and (`checked`) as the
//! hypervisor uses them, which records the queued vCPUs and validates every answer. Runs directly under the firmware,
//! with the design `ready_queue` in the fabric. `samples=` is the number of samples, after 16 rounds that are not
//! counted, and `cold=` the number with empty caches.
//!
//! A figure is the median of the cycles from before an operation to behind it, less the cost of reading the counter:
//! the hart's time for it. Before each operation the fabric has finished the previous one, except for `both`, where
//! removal follows insertion at once.
#![no_std]
#![no_main]

mod queues;
mod schemes;

use core::arch::asm;
use core::hint::black_box;
use core::sync::atomic::{AtomicU64, Ordering};

use tactus_bench::{Samples, evict};
use tactus_guest::{devicetree, power, println, record, start};
use tactus_policy::hardware::{Scheme, SystemQueue};
use tactus_policy::ready::ListQueue;

use queues::{Acp, Direct, Gp, HANDLES, Hybrid, Own, Queue};

tactus_guest::entry!(main);

/// Rounds before those that are counted.
const WARM: usize = 16;
/// Cycles for which the fabric is left to finish a command: more than any takes.
const SETTLE: u64 = 1500;
/// The handle of the queued vCPU.
const HANDLE: u16 = 5;

/// The hypervisor's queue in software.
type Software = ListQueue<HANDLES>;

/// Reads `cycle` after all earlier accesses and before all later ones.
#[inline(always)]
fn cycle() -> u64 {
    let cycle;
    // SAFETY: reads a counter. Not `nomem`: the measured code must not be moved across it.
    unsafe { asm!("csrr {}, cycle", out(reg) cycle, options(nostack)) };
    cycle
}

/// Waits for some cycles, without memory accesses: a varying number, so that samples meet all phases of the fabric's
/// clock.
#[inline(never)]
fn settle() {
    static TIMES: AtomicU64 = AtomicU64::new(0);
    let times = TIMES.fetch_add(1, Ordering::Relaxed);
    let begin = cycle();
    while cycle() - begin < SETTLE {}
    for _ in 0..times * 7 % 20 {
        core::hint::spin_loop();
    }
}

/// Parameters of a measurement.
struct Bench {
    /// Cost of reading `cycle` twice.
    overhead: u64,
    /// Rounds before those that count; none where each starts with empty caches.
    warm: usize,
    /// Rounds that count.
    rounds: usize,
    /// Whether each starts with empty caches.
    cold: bool,
}

impl Bench {
    fn new(rounds: usize, cold: bool) -> Self {
        let mut bench = Self {
            overhead: 0,
            warm: WARM,
            rounds,
            cold: false,
        };
        let mut samples = bench.samples();
        for _ in 0..bench.warm + rounds {
            samples.add(bench.cycles(|| ()));
        }
        bench.overhead = samples.quartile(2);
        if cold {
            (bench.warm, bench.cold) = (0, true);
        }
        bench
    }

    fn samples(&self) -> Samples {
        Samples::new(self.warm)
    }

    /// Measures the cycles of an operation.
    #[inline(always)]
    fn cycles<T>(&self, operation: impl FnOnce() -> T) -> u64 {
        if self.cold {
            evict();
        }
        settle();
        let begin = cycle();
        let given = operation();
        let end = cycle();
        black_box(given);
        (end - begin).saturating_sub(self.overhead)
    }

    #[inline(never)]
    fn report(&self, name: &str, operation: &str, samples: &Samples) {
        let suffix = if self.cold { "_cold" } else { "" };
        record::metric(
            format_args!("{operation}_cycles_{name}{suffix}"),
            samples.quartile(2),
            "cycles",
        );
    }

    /// Measures a queue that holds no vCPU or one, of that priority: insertion, removal of the highest, and both
    /// without a pause in between.
    // Not inlined into the caller, whose stack would otherwise hold the samples of all queues.
    #[inline(never)]
    fn queue(&self, name: &str, queue: &mut impl Queue, priority: u8) {
        let (mut insert, mut take, mut both) = (self.samples(), self.samples(), self.samples());
        for _ in 0..self.warm + self.rounds {
            let (handle, priority) = (black_box(HANDLE), black_box(priority));
            insert.add(self.cycles(|| queue.insert(handle, priority)));
            let mut taken = None;
            take.add(self.cycles(|| taken = queue.take_highest()));
            check(name, taken);
        }
        for _ in 0..self.warm + self.rounds {
            let (handle, priority) = (black_box(HANDLE), black_box(priority));
            let mut taken = None;
            both.add(self.cycles(|| {
                queue.insert(handle, priority);
                taken = queue.take_highest();
            }));
            check(name, taken);
        }
        self.report(name, "insert", &insert);
        self.report(name, "remove", &take);
        self.report(name, "both", &both);
        let suffix = if self.cold { "_cold" } else { "" };
        record::metric(
            format_args!("insert_remove_cycles_{name}{suffix}"),
            insert.quartile(2) + take.quartile(2),
            "cycles",
        );
    }

    /// Measures a part of a scheme, each time after `before`.
    #[inline(never)]
    fn primitive<T>(&self, name: &str, before: impl Fn(), operation: impl Fn() -> T) {
        let mut samples = self.samples();
        for _ in 0..self.warm + self.rounds {
            before();
            samples.add(self.cycles(&operation));
        }
        self.report(name, "primitive", &samples);
    }

    /// Measures all queues.
    fn queues(&self) {
        let mut linear = Own(Software::linear());
        self.queue("linear_255", &mut linear, 255);
        self.queue("linear_0", &mut linear, 0);
        self.queue("bitmap", &mut Own(Software::bitmap()), 255);
        begin(Scheme::Gp);
        self.queue("gp", &mut Gp, 255);
        begin(Scheme::Acp);
        self.queue("acp", &mut Acp::<true>, 255);
        begin(Scheme::Polling);
        self.queue("acp_polling", &mut Acp::<false>, 255);
        begin(Scheme::Hybrid);
        let commands = schemes::load() as u32;
        self.queue("hybrid", &mut Hybrid { commands }, 255);
        for (name, scheme) in [
            ("gp_checked", Scheme::Gp),
            ("acp_checked", Scheme::Acp),
            ("acp_polling_checked", Scheme::Polling),
            ("hybrid_checked", Scheme::Hybrid),
        ] {
            let mut queue = SystemQueue::<_, HANDLES>::software(Software::bitmap());
            queue.try_hardware(Direct, scheme);
            self.queue(name, &mut Own(queue), 255);
        }
    }

    /// Measures the parts of the schemes.
    fn primitives(&self) {
        let nothing = || ();
        begin(Scheme::Gp);
        self.primitive("gp_read", nothing, schemes::take_highest);
        self.primitive("gp_write", nothing, || schemes::remove(HANDLE));
        self.primitive("barrier", nothing, schemes::barrier);
        self.primitive("event", nothing, schemes::event);
        self.primitive("cached_read", nothing, schemes::load);
        begin(Scheme::Hybrid);
        // Each command makes the fabric write the doubleword that is read then.
        let command = || schemes::remove(HANDLE);
        self.primitive("coherent_read", command, schemes::load);
        begin(Scheme::Acp);
        // From before a command to its answer, including everything in between.
        self.primitive("acp_answer", nothing, || {
            schemes::command_take_highest();
            schemes::barrier();
            schemes::event();
            schemes::answer()
        });
        begin(Scheme::Polling);
        self.primitive("acp_polling_answer", nothing, || {
            schemes::command_take_highest();
            schemes::barrier();
            schemes::answer()
        });
    }
}

/// Starts a scheme.
fn begin(scheme: Scheme) {
    if !schemes::begin(scheme) {
        record::fail(start::program(), "the ready queue is not there");
        power::off_failed();
    }
}

/// Checks that the vCPU removed is the one inserted.
fn check(name: &str, taken: Option<u16>) {
    if taken != Some(HANDLE) {
        record::fail(start::program(), format_args!("{name} gave {taken:?}"));
        power::off_failed();
    }
}

fn main() {
    let samples = devicetree::number("samples", 250) as usize;
    let cold = devicetree::number("cold", 0) as usize;
    println!("bench-sched, {samples} samples, {cold} of them cold");
    let hot = Bench::new(samples, false);
    hot.queues();
    hot.primitives();
    if cold > 0 {
        Bench::new(cold, true).queues();
    }
    record::pass(start::program());
}
