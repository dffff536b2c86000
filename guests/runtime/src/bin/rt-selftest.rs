//! Real-time vCPUs made at run time prove themselves: `systems/rt.toml` says what this relies on, and
//! `tactus/tests/rt.rs` runs it.
#![no_std]
#![no_main]

use core::arch::asm;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use core::time::Duration;

use tactus_guest::abi::blob::limit;
use tactus_guest::abi::hypercall::{
    CHANNEL_NOTIFY, CallBlock, EXTENSION, RT_CHANGE, RT_CREATE, RT_DELETE, RT_QUERY, RT_SELF,
    RT_YIELD, VERSION,
};
use tactus_guest::rt::{self, Refusal, Reservation, RtError, RtStack, RtStatus, RtVcpu};
use tactus_guest::sbi::{self, Error, call_raw};
use tactus_guest::{abi::map, devicetree, hypervisor, println, record, start, time, trap};

tactus_guest::entry!(main);

/// What `systems/rt.toml` gives this VM: places for real-time vCPUs (`rt_vcpus`).
const PLACES: usize = 4;
/// How far a job may go beyond its budget until it is cut off, in ticks: 10 us on the platforms there are.
const CUT_OFF_TICKS: u64 = 100;

static STACKS: [RtStack<4096>; PLACES + 1] = [const { RtStack::new() }; PLACES + 1];

fn main() {
    if devicetree::argument("end") == Some("exception") {
        exceptions_are_the_guests();
    }
    for (name, test) in [
        ("rt-arguments", bad_arguments_are_refused as fn()),
        ("rt-refusals", vcpus_that_do_not_fit_are_refused),
        ("rt-releases", releases_are_on_the_grid),
        ("rt-overrun", overruns_are_cut_off),
        ("rt-change", changes_take_effect),
        ("rt-forgotten", changes_end_with_their_vcpu),
        ("rt-end", functions_that_return_end),
        ("rt-again", places_and_stacks_are_used_again),
        ("rt-float", registers_are_its_own),
        ("rt-by-memory", stores_make_calls),
    ] {
        println!("{name}");
        test();
        record::pass(name);
    }
    record::pass(start::program());
}

/// With `end=exception` in the boot arguments: what goes wrong on a real-time vCPU ends the guest, loudly.
fn exceptions_are_the_guests() {
    static NOTHING: () = ();
    // SAFETY: none is needed: the exception is what this is for, and there is no way back from it.
    let illegal = |_: &()| unsafe { asm!("unimp", options(nomem, nostack)) };
    made(illegal, &NOTHING, 0, every(1000, 500));
    wait(Duration::from_millis(100));
    panic!("the exception is lost");
}

fn every(period_us: u64, budget_us: u64) -> Reservation {
    Reservation::of(
        Duration::from_micros(period_us),
        Duration::from_micros(budget_us),
    )
}

fn by(reservation: Reservation, deadline_us: u64) -> Reservation {
    reservation.by(time::ticks(Duration::from_micros(deadline_us)))
}

fn wait(duration: Duration) {
    time::busy_wait(time::ticks(duration));
}

/// Makes a vCPU that must be admitted.
#[track_caller]
fn made<T: Sync>(
    entry: fn(&'static T),
    argument: &'static T,
    stack: usize,
    reservation: Reservation,
) -> RtVcpu {
    match rt::create(entry, argument, &STACKS[stack], reservation) {
        Ok(vcpu) => vcpu,
        Err(error) => panic!("{reservation:?}: {error}"),
    }
}

/// Waits until the condition holds, which it does within a second.
#[track_caller]
fn until(what: &str, condition: impl Fn() -> bool) {
    let end = time::now() + time::hz();
    while !condition() {
        assert!(time::now() < end, "{what}: not within a second");
        core::hint::spin_loop();
    }
}

/// What a call of the extension answers that is not expected to work.
fn error(function: usize, arguments: [usize; 6]) -> Option<Error> {
    // SAFETY: the callers give arguments that must be refused, or addresses of memory that nothing else uses.
    unsafe { call_raw(EXTENSION, function, arguments) }
        .result()
        .err()
}

fn bad_arguments_are_refused() {
    assert!(sbi::probe(EXTENSION), "this is no Tactus VM");
    let entry = start::image_end();
    let create = |entry: usize, period: u64, budget: u64, deadline: u64| {
        let times = [period, budget, deadline].map(|ticks| ticks as usize);
        error(RT_CREATE, [entry, 0, 0, times[0], times[1], times[2]])
    };
    let size = devicetree::memory_size().expect("a VM has memory");
    let end = (map::RAM_BASE + size) as usize;
    for bad in [
        0,
        1,
        entry | 1,
        end,
        end + 2,
        map::UART_BASE as usize,
        map::RAM_BASE as usize - 2,
        usize::MAX - 1,
        1 << 63,
    ] {
        assert_eq!(
            create(bad, 10_000, 1000, 10_000),
            Some(Error::InvalidAddress),
            "entry {bad:#x}"
        );
    }
    let longest = limit::PERIOD_TICKS;
    let out_of_order = [
        (0, 0, 0),
        (10_000, 0, 10_000),
        (10_000, 1000, 999),
        (10_000, 1000, 0),
        (10_000, 1000, 10_001),
        (10_000, 10_001, 10_000),
        (longest + 1, 1000, 10_000),
        (u64::MAX, 1, u64::MAX),
        (u64::MAX, u64::MAX, u64::MAX),
        (1 << 63, 1 << 62, 1 << 62),
        (1 << 32, 1, 1 << 31),
    ];
    for (period, budget, deadline) in out_of_order {
        assert_eq!(
            create(entry, period, budget, deadline),
            Some(Error::InvalidParam),
            "{period} {budget} {deadline}"
        );
    }

    let invalid = Some(Error::InvalidParam);
    let mut status = RtStatus::default();
    let address = &raw mut status as usize;
    let length = size_of::<RtStatus>();
    for number in [0, 1, 31, 32, 1000, 1 << 32, RT_SELF as usize] {
        let query = [number, address, length, 0, 0, 0];
        assert_eq!(error(RT_QUERY, query), invalid, "query of {number}");
        let delete = [number, 0, 0, 0, 0, 0];
        assert_eq!(error(RT_DELETE, delete), invalid, "end of {number}");
        let change = [number, 10_000, 1000, 10_000, 0, 0];
        assert_eq!(error(RT_CHANGE, change), invalid, "change of {number}");
    }
    // This vCPU is best effort.
    assert_eq!(error(RT_YIELD, [0; 6]), Some(Error::Denied));

    static LIVES: AtomicBool = AtomicBool::new(true);
    let vcpu = made(yield_while, &LIVES, 0, every(1000, 50));
    let number = vcpu.number() as usize;
    for bad in [
        0,
        address + 1,
        address + 4,
        end,
        end - 8,
        map::UART_BASE as usize,
        map::RAM_BASE as usize - 8,
        usize::MAX - 7,
        1 << 63,
    ] {
        assert_eq!(
            error(RT_QUERY, [number, bad, length, 0, 0, 0]),
            Some(Error::InvalidAddress),
            "query to {bad:#x}"
        );
    }
    for (period, budget, deadline) in out_of_order {
        let times = [period, budget, deadline].map(|ticks| ticks as usize);
        let change = [number, times[0], times[1], times[2], 0, 0];
        assert_eq!(error(RT_CHANGE, change), invalid, "{times:?}");
    }
    // A part of the status is a part.
    let mut words = [u64::MAX; 3];
    let query = [number, words.as_mut_ptr() as usize, 16, 0, 0, 0];
    // SAFETY: it writes to `words` only.
    let size = unsafe { call_raw(EXTENSION, RT_QUERY, query) }.result();
    assert_eq!(size, Ok(length));
    let reservation = every(1000, 50);
    let words = core::hint::black_box(words);
    assert_eq!(words, [reservation.period, reservation.budget, u64::MAX]);
    // Over the end of a page, behind which another one may be elsewhere in the machine's memory.
    static PAGES: TwoPages = TwoPages([const { AtomicU64::new(u64::MAX) }; 1024]);
    let first = 512 - 3;
    let query = [number, &raw const PAGES.0[first] as usize, length, 0, 0, 0];
    // SAFETY: it writes to `PAGES` only, which are atomics.
    let size = unsafe { call_raw(EXTENSION, RT_QUERY, query) }.result();
    assert_eq!(size, Ok(length));
    let end = first + length / size_of::<u64>();
    for (index, word) in PAGES.0.iter().enumerate() {
        let word = word.load(Ordering::Relaxed);
        let written = (first..end).contains(&index);
        assert_eq!(word != u64::MAX, written, "word {index}");
        if index == first {
            assert_eq!(word, reservation.period);
        }
    }
    let busy = rt::create(yield_while, &LIVES, &STACKS[0], reservation);
    assert_eq!(busy.err(), Some(RtError::StackInUse));
    LIVES.store(false, Ordering::Relaxed);
    until("its end", || !vcpu.is_alive());
}

/// Yields until it is told to stop.
fn yield_while(lives: &'static AtomicBool) {
    while lives.load(Ordering::Relaxed) {
        rt::yield_now();
    }
}

static ALWAYS: AtomicBool = AtomicBool::new(true);

fn vcpus_that_do_not_fit_are_refused() {
    let refused = |stack: usize, reservation: Reservation| match rt::create(
        yield_while,
        &ALWAYS,
        &STACKS[stack],
        reservation,
    ) {
        Ok(vcpu) => panic!("{reservation:?} was admitted as {}", vcpu.number()),
        Err(RtError::Refused(refusal)) => refusal,
        Err(error) => panic!("{reservation:?}: {error}"),
    };
    // More than a hart has beside its reserve for best effort.
    assert_eq!(refused(0, every(1000, 950)), Refusal::Utilisation);

    // One on each hart, with little time from release to deadline.
    let urgent = by(every(1000, 360), 500);
    let first = made(yield_while, &ALWAYS, 0, urgent);
    let second = made(yield_while, &ALWAYS, 1, urgent);
    let harts = [&first, &second].map(|vcpu| vcpu.status().expect("it lives").hart);
    assert_ne!(harts[0], harts[1]);
    assert_eq!(refused(2, by(every(1000, 180), 250)), Refusal::Demand);
    // The VM's share is the time of one hart.
    assert_eq!(refused(2, every(1000, 300)), Refusal::Share);
    let before = first.status().expect("it lives");
    assert_eq!(
        first.change(every(1000, 700)),
        Err(RtError::Refused(Refusal::Share))
    );
    let after = first.status().expect("it lives");
    assert_eq!(
        [after.period, after.budget, after.deadline],
        [before.period, before.budget, before.deadline]
    );
    for vcpu in [first, second] {
        assert_eq!(vcpu.delete(), Ok(()));
    }

    let small = every(1000, 20);
    let vcpus: [RtVcpu; PLACES] =
        core::array::from_fn(|stack| made(yield_while, &ALWAYS, stack, small));
    assert_eq!(refused(PLACES, small), Refusal::Count);
    for (i, vcpu) in vcpus.iter().enumerate() {
        for other in &vcpus[..i] {
            assert_ne!(vcpu.number(), other.number());
        }
    }
    for vcpu in vcpus {
        assert_eq!(vcpu.delete(), Ok(()));
    }
}

/// Releases, as a real-time vCPU saw them.
struct Releases {
    /// When it ran first, and then each release that [`rt::yield_now`] told.
    times: [AtomicU64; Self::COUNT],
    /// How late it was at each of them, in ticks.
    late: [AtomicU64; Self::COUNT],
    /// How many there are so far.
    count: AtomicU64,
}

impl Releases {
    const COUNT: usize = 100;

    const fn new() -> Self {
        Self {
            times: [const { AtomicU64::new(0) }; Self::COUNT],
            late: [const { AtomicU64::new(0) }; Self::COUNT],
            count: AtomicU64::new(0),
        }
    }

    fn add(&self, release: u64) {
        let late = time::now().wrapping_sub(release);
        let count = self.count.load(Ordering::Relaxed) as usize;
        self.times[count].store(release, Ordering::Relaxed);
        self.late[count].store(late, Ordering::Relaxed);
        self.count.store(count as u64 + 1, Ordering::Release);
    }

    fn count(&self) -> usize {
        self.count.load(Ordering::Acquire) as usize
    }

    fn time(&self, index: usize) -> u64 {
        self.times[index].load(Ordering::Relaxed)
    }
}

/// Writes down its releases until there is no more room.
fn write_down(releases: &'static Releases) {
    while releases.count() < Releases::COUNT {
        releases.add(rt::yield_now());
    }
}

fn releases_are_on_the_grid() {
    static RELEASES: [Releases; 2] = [const { Releases::new() }; 2];
    let periods = [every(1000, 100), every(1500, 100)];
    let vcpus = [0, 1].map(|i| made(write_down, &RELEASES[i], i, periods[i]));
    let names = ["rt_release_late_max", "rt_release_late_max_beside"];
    for (i, (vcpu, name)) in vcpus.iter().zip(names).enumerate() {
        let (releases, period) = (&RELEASES[i], periods[i].period);
        until("a hundred releases", || releases.count() == Releases::COUNT);
        until("its end", || !vcpu.is_alive());
        let mut worst = 0;
        for i in 0..Releases::COUNT {
            let release = releases.time(i);
            let late = releases.late[i].load(Ordering::Relaxed);
            assert_eq!(release, releases.time(0) + i as u64 * period, "release {i}");
            assert!(late < period, "release {i} was told {late} ticks late");
            worst = worst.max(late);
        }
        record::metric(name, worst, "ticks");
    }
}

/// Never yields; tells the longest time for which it had no hart.
struct Greedy {
    stop: AtomicBool,
    longest_pause: AtomicU64,
}

fn spin(greedy: &'static Greedy) {
    let mut before = time::now();
    while !greedy.stop.load(Ordering::Relaxed) {
        let now = time::now();
        greedy
            .longest_pause
            .fetch_max(now - before, Ordering::Relaxed);
        before = now;
    }
}

fn overruns_are_cut_off() {
    static GREEDY: Greedy = Greedy {
        stop: AtomicBool::new(false),
        longest_pause: AtomicU64::new(0),
    };
    static RELEASES: Releases = Releases::new();
    let reservation = every(1000, 200);
    let greedy = made(spin, &GREEDY, 0, reservation);
    let honest = made(write_down, &RELEASES, 1, every(1000, 100));
    until("a hundred releases", || RELEASES.count() == Releases::COUNT);
    let status = greedy.status().expect("it lives");
    let least = status.period - status.budget - CUT_OFF_TICKS;
    let pause = GREEDY.longest_pause.load(Ordering::Relaxed);
    assert!(pause >= least, "it was never away for {least} ticks");
    assert!(status.record.jobs >= Releases::COUNT as u64, "{status:?}");
    // Each of its jobs but the present one was cut off.
    assert!(
        status.record.overruns + 2 >= status.record.jobs,
        "{status:?}"
    );
    assert_eq!(status.record.missed, 0, "{status:?}");
    assert!(
        status.record.used_max <= reservation.budget + CUT_OFF_TICKS,
        "{status:?}"
    );
    assert!(
        status.record.used <= status.record.jobs * (reservation.budget + CUT_OFF_TICKS),
        "{status:?}"
    );
    record::metric(
        "rt_overrun_ticks_max",
        status.record.used_max.saturating_sub(reservation.budget),
        "ticks",
    );
    if let Ok(status) = honest.status() {
        assert_eq!(
            (status.record.overruns, status.record.missed),
            (0, 0),
            "{status:?}"
        );
    }
    GREEDY.stop.store(true, Ordering::Relaxed);
    until("their ends", || !greedy.is_alive() && !honest.is_alive());
}

fn changes_take_effect() {
    static RELEASES: Releases = Releases::new();
    let (before, after) = (every(1000, 100), every(2000, 300));
    let vcpu = made(write_down, &RELEASES, 0, before);
    until("some releases", || RELEASES.count() >= 20);
    assert_eq!(vcpu.change(after), Ok(()));
    let at = RELEASES.count();
    until("more releases", || RELEASES.count() >= at + 20);
    let status = vcpu.status().expect("it lives");
    assert_eq!(
        [status.period, status.budget, status.deadline],
        [after.period, after.budget, after.deadline]
    );
    let (last, end) = (at + 19, at + 3);
    for i in end..last {
        assert_eq!(
            RELEASES.time(i + 1) - RELEASES.time(i),
            after.period,
            "release {i}, changed at {at}"
        );
    }
    assert_eq!(
        (status.record.overruns, status.record.missed),
        (0, 0),
        "{status:?}"
    );
    assert_eq!(vcpu.delete(), Ok(()));
    let stopped = RELEASES.count();
    wait(Duration::from_millis(5));
    assert_eq!(RELEASES.count(), stopped, "it runs on after its end");
}

/// A change of a vCPU that is deleted before its next job says nothing about the one that is made in its place.
fn changes_end_with_their_vcpu() {
    static RELEASES: Releases = Releases::new();
    static GREEDY: Greedy = Greedy {
        stop: AtomicBool::new(false),
        longest_pause: AtomicU64::new(0),
    };
    let waits = made(write_down, &RELEASES, 0, every(50_000, 100));
    until("its first job", || RELEASES.count() == 1);
    // It waits now for a release that is far away.
    wait(Duration::from_millis(1));
    assert_eq!(waits.change(every(50_000, 20_000)), Ok(()));
    wait(Duration::from_millis(1));
    assert_eq!(waits.delete(), Ok(()));
    // Its place is free by then.
    wait(Duration::from_millis(1));
    let reservation = every(1000, 100);
    let greedy = made(spin, &GREEDY, 0, reservation);
    wait(Duration::from_millis(10));
    let status = greedy.status().expect("it lives");
    assert!(
        status.record.jobs >= 8 && status.record.used_max <= reservation.budget + CUT_OFF_TICKS,
        "{status:?}"
    );
    GREEDY.stop.store(true, Ordering::Relaxed);
    until("its end", || !greedy.is_alive());
}

fn functions_that_return_end() {
    static RUN: AtomicU64 = AtomicU64::new(0);
    let vcpu = made(
        |run: &AtomicU64| {
            let own = rt::status().expect("it is real time");
            run.store(own.budget, Ordering::Release);
        },
        &RUN,
        0,
        every(1000, 100),
    );
    let number = vcpu.number();
    until("its end", || !vcpu.is_alive());
    assert_eq!(RUN.load(Ordering::Acquire), every(1000, 100).budget);
    // It gives its stack back just before it goes.
    until("the hypervisor knows", || {
        rt::status_of(number) == Err(RtError::Call(Error::InvalidParam))
    });
    assert_eq!(vcpu.status(), Err(RtError::Ended));
    assert_eq!(vcpu.change(every(1000, 100)), Err(RtError::Ended));
    assert_eq!(vcpu.delete(), Err(RtError::Ended));
}

fn places_and_stacks_are_used_again() {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    const ROUNDS: u64 = 50;
    for round in 0..ROUNDS {
        let count = |count: &AtomicU64| {
            count.fetch_add(1, Ordering::Release);
            loop {
                rt::yield_now();
            }
        };
        let vcpu = made(count, &COUNT, 0, every(1000, 500));
        until("its first job", || {
            COUNT.load(Ordering::Acquire) == round + 1
        });
        assert_eq!(vcpu.delete(), Ok(()));
    }
}

fn registers_are_its_own() {
    static RUN: AtomicBool = AtomicBool::new(true);
    static SUMS: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];
    fn sum(step: f64, into: &AtomicU64) {
        let mut sum = 0.0;
        while RUN.load(Ordering::Relaxed) {
            for _ in 0..100 {
                sum += core::hint::black_box(step);
            }
            into.store(f64::to_bits(sum), Ordering::Relaxed);
            rt::yield_now();
        }
    }
    let one = made(|into| sum(1.0, into), &SUMS[0], 0, every(1000, 300));
    let two = made(|into| sum(3.0, into), &SUMS[1], 1, every(1100, 300));
    let mut own = 0.0;
    let end = time::now() + time::ticks(Duration::from_millis(50));
    while time::now() < end {
        own += core::hint::black_box(5.0);
    }
    RUN.store(false, Ordering::Relaxed);
    until("their ends", || !one.is_alive() && !two.is_alive());
    for (sum, step) in SUMS.iter().zip([1.0, 3.0]) {
        let sum = f64::from_bits(sum.load(Ordering::Relaxed));
        let jobs = sum / (100.0 * step);
        assert!(
            jobs >= 10.0 && jobs == f64::from(jobs as u32),
            "{sum} with steps of {step}"
        );
    }
    assert!(own > 0.0 && own % 5.0 == 0.0, "{own}");
}

/// The cause of the last exception, plus one.
static CAUSE: AtomicU64 = AtomicU64::new(0);

/// Stores a doubleword at an address; the cause of the exception that it raised, if it did.
fn store(address: u64, value: u64) -> Option<u64> {
    CAUSE.store(0, Ordering::Relaxed);
    // SAFETY: the callers name addresses at which the VM has no memory. An exception skips the instruction, of 4 bytes.
    unsafe {
        asm!(
            ".option push", ".option norvc",
            "sd {value}, 0({address})",
            ".option pop",
            value = in(reg) value, address = in(reg) address,
            options(nostack),
        );
    }
    CAUSE.load(Ordering::Relaxed).checked_sub(1)
}

/// Words that begin with a page.
#[repr(align(4096))]
struct TwoPages([AtomicU64; 1024]);

/// A block within a page.
#[repr(align(128))]
struct WithinPage(CallBlock);

/// Makes a call by memory.
fn call(function: usize, arguments: [u64; 6]) -> (i64, u64) {
    let mut block = WithinPage(CallBlock {
        function: function as u64,
        arguments,
        error: 1,
        value: 1,
    });
    assert_eq!(store(map::CALL_BASE, &raw mut block as u64), None);
    let WithinPage(block) = core::hint::black_box(block);
    assert_eq!(block.function, function as u64);
    assert_eq!(block.arguments, arguments);
    (block.error, block.value)
}

fn stores_make_calls() {
    const LOAD_ACCESS: u64 = 5;
    const STORE_ACCESS: u64 = 7;
    const INVALID_PARAM: i64 = -3;
    const DENIED: i64 = -4;
    const NOT_SUPPORTED: i64 = -2;
    trap::on_exception(|frame| {
        CAUSE.store(frame.cause as u64 + 1, Ordering::Relaxed);
        frame.pc += 4;
    });
    // Where there is no block, nothing is called.
    let mut blocks = [CallBlock::default(); 2];
    let block = blocks.as_mut_ptr() as u64;
    let size = devicetree::memory_size().expect("a VM has memory");
    let end = map::RAM_BASE + size;
    let length = size_of::<CallBlock>() as u64;
    for bad in [
        0,
        8,
        block + 1,
        block + 4,
        end - length + 8,
        end,
        // Over the end of a page.
        end - map::PAGE_SIZE - length + 8,
        end - map::PAGE_SIZE - 8,
        map::RAM_BASE - 8,
        map::CALL_BASE,
        u64::MAX,
        u64::MAX - 7,
        1 << 63,
    ] {
        assert_eq!(store(map::CALL_BASE, bad), Some(STORE_ACCESS), "{bad:#x}");
    }
    for beside in [map::CALL_BASE - 8, map::CALL_BASE + 8, map::CALL_BASE + 4] {
        assert_eq!(store(beside, block), Some(STORE_ACCESS), "{beside:#x}");
    }
    CAUSE.store(0, Ordering::Relaxed);
    // SAFETY: there is no memory at that address; see `store`.
    unsafe {
        asm!(
            ".option push", ".option norvc",
            "ld {value}, 0({address})",
            ".option pop",
            value = out(reg) _, address = in(reg) map::CALL_BASE,
            options(nostack),
        );
    }
    assert_eq!(CAUSE.load(Ordering::Relaxed), LOAD_ACCESS + 1);
    assert_eq!(core::hint::black_box(blocks), [CallBlock::default(); 2]);

    let version = hypervisor::version().expect("this is a Tactus VM");
    assert_eq!(call(VERSION, [u64::MAX; 6]), (0, version as u64));
    assert_eq!(call(CHANNEL_NOTIFY, [0; 6]), (INVALID_PARAM, 0));
    // No vCPU can wait, and there is no caller "itself".
    assert_eq!(call(RT_YIELD, [0; 6]), (NOT_SUPPORTED, 0));
    for function in [RT_QUERY, RT_CHANGE, RT_DELETE] {
        let arguments = [RT_SELF, block, 8, 8, 0, 0];
        assert_eq!(call(function, arguments), (INVALID_PARAM, 0), "{function}");
    }
    assert_eq!(call(1000, [0; 6]), (NOT_SUPPORTED, 0));
    assert_eq!(call(usize::MAX, [0; 6]), (NOT_SUPPORTED, 0));

    /// Where the vCPU that is made by a store begins: does nothing, again and again.
    #[unsafe(naked)]
    extern "C" fn idle() -> ! {
        core::arch::naked_asm!("1: wfi", "j 1b")
    }
    let Reservation { period, budget, .. } = every(1000, 100);
    let entry = idle as *const () as u64;
    assert_eq!(
        call(RT_CREATE, [entry, 0, 0, period, period + 1, period]),
        (INVALID_PARAM, 0)
    );
    let much = every(1000, 950).budget;
    assert_eq!(
        call(RT_CREATE, [entry, 0, 0, period, much, period]),
        (DENIED, Refusal::Utilisation as u64)
    );
    let (error, number) = call(RT_CREATE, [entry, 0, 0, period, budget, period]);
    assert_eq!(error, 0);
    wait(Duration::from_millis(10));
    let change = [number, 2 * period, budget, period, 0, 0];
    assert_eq!(call(RT_CHANGE, change).0, 0);
    let mut status = RtStatus::default();
    let length = size_of::<RtStatus>() as u64;
    let query = [number, &raw mut status as u64, length, 0, 0, 0];
    assert_eq!(call(RT_QUERY, query), (0, length));
    let status = core::hint::black_box(status);
    assert_eq!((status.period, status.deadline), (2 * period, period));
    // `wfi` ends a job as a yield does.
    assert!((9..=12).contains(&status.record.jobs), "{status:?}");
    assert_eq!(
        (status.record.overruns, status.record.missed),
        (0, 0),
        "{status:?}"
    );
    assert_eq!(call(RT_DELETE, [number, 0, 0, 0, 0, 0]).0, 0);
    until("its end", || call(RT_QUERY, query) == (INVALID_PARAM, 0));
    assert_eq!(call(RT_DELETE, [number, 0, 0, 0, 0, 0]), (INVALID_PARAM, 0));
}
