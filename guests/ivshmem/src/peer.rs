//! A peer of an ivshmem link that tries it, with the VM at the other end.
//!
//! Boot argument `role`:
//!
//! | | |
//! |---|---|
//! | `answer` | inverts what the other peer puts into the shared memory, and says so by an interrupt and its state (`guests/linux/tactus-ivshmem.c`, or `ask`) |
//! | `ask` | has that done, by interrupts alone; one-shot interrupts, and both output sections |
//! | `reboot` | as `answer`, and restarts when that was done once, before it says so |
//! | `guard` | finds its registers and its state as it has left them, whatever the other peer does |
//! | `plain` | inverts a word of the memory of a function of version 1, until that is 2 (`guests/linux/disk`) |
//! | `hostile` | makes any accesses in its window, and is off |
//!
//! With `one_shot=no` a peer that asks does not use the one-shot mode, and the service may have faults meanwhile.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use tactus_guest::{devicetree, power, record, start, time, trap};
use tactus_guest_ivshmem::Ivshmem;

tactus_guest::entry!(main);

/// States. The same in `guests/linux/tactus-ivshmem.c`.
mod state {
    /// A peer is there.
    pub const READY: u32 = 1;
    /// There is a question, or its answer.
    pub const DONE: u32 = 2;
    /// It is over.
    pub const END: u32 = 3;
}
/// Doublewords of a question.
const WORDS: usize = 64;
/// Questions that are asked.
const ROUNDS: u64 = 100;
/// For how many ticks of 100 ns the other peer may keep this one waiting.
const WAIT_TICKS: u64 = 200_000_000;
/// Rounds of a guard, and accesses of a hostile peer.
const GUARD_ROUNDS: u32 = 3_000;
const HOSTILE_ACCESSES: u64 = 30_000;

static INTERRUPTS: AtomicU32 = AtomicU32::new(0);

/// What `find` finds; the service may start later.
fn found<T>(find: impl Fn() -> Option<T>) -> T {
    let end = time::now() + WAIT_TICKS;
    loop {
        match find() {
            Some(found) => return found,
            None if time::now() < end => {}
            None => record::give_up("there is no ivshmem function"),
        }
    }
}

fn main() {
    if devicetree::argument("role") == Some("plain") {
        plain(found(tactus_guest_ivshmem::find_plain));
        power::off();
    }
    let link = found(Ivshmem::find);
    let other = 1 - link.id().min(1);
    match devicetree::argument("role") {
        Some("answer") => answer(&link, other, false),
        Some("reboot") => answer(&link, other, true),
        Some("ask") => ask(&link, other),
        Some("guard") => guard(&link),
        Some("hostile") => hostile(&link),
        _ => record::give_up(
            "the boot argument role= is answer, ask, reboot, guard, plain or hostile",
        ),
    }
    power::off();
}

/// Waits, by interrupts alone, until that holds.
fn wait(what: &str, holds: impl Fn() -> bool) {
    let end = time::now() + WAIT_TICKS;
    while !trap::without_interrupts(|| {
        let holds = holds();
        if !holds {
            // Pending interrupts end it, and are taken below.
            time::set_deadline(end);
            trap::wait_for_interrupt();
        }
        holds
    }) {
        trap::enable_interrupts();
        trap::disable_interrupts();
        if time::now() >= end {
            record::give_up(what);
        }
    }
}

/// Has a state; the service may have lost an access.
fn tell(link: &Ivshmem, state: u32) {
    let end = time::now() + WAIT_TICKS;
    while {
        link.set_state(state);
        link.own_state() != state
    } {
        if time::now() >= end {
            record::give_up("the state is not kept");
        }
    }
}

/// Takes interrupts, and is there.
fn begin(link: &Ivshmem) {
    trap::on_timer(|| time::set_deadline(time::NEVER));
    trap::on_external(|_| {
        INTERRUPTS.fetch_add(1, Ordering::Relaxed);
    });
    link.enable_interrupts(1);
    tell(link, state::READY);
}

/// The number of the question that is asked, or answered.
fn number(link: &Ivshmem, index: usize) -> u64 {
    link.shared()[index].load(Ordering::Acquire)
}

/// Where a question's number is, and that of the last answer; the question is behind them.
const ASKED: usize = 0;
const ANSWERED: usize = 1;
const TEXT: usize = 8;

fn answer(link: &Ivshmem, other: usize, reboots: bool) {
    if link.shared().len() < TEXT + WORDS {
        record::give_up("the shared memory is too small");
    }
    // A life before this one has answered.
    let is_first = number(link, ANSWERED) == 0;
    begin(link);
    if !is_first {
        // It may not have said so.
        link.ring(other);
        tell(link, state::DONE);
    }
    loop {
        wait("nothing is asked", || {
            number(link, ASKED) > number(link, ANSWERED) || link.state(other) == state::END
        });
        if link.state(other) == state::END {
            break;
        }
        let asked = number(link, ASKED);
        for word in &link.shared()[TEXT..TEXT + WORDS] {
            word.store(!word.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        for (own, word) in link.output(link.id()).iter().zip(link.output(other)) {
            own.store(!word.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        link.shared()[ANSWERED].store(asked, Ordering::Release);
        if reboots && is_first {
            power::restart();
        }
        link.ring(other);
        tell(link, state::DONE);
    }
    record::metric("interrupts", INTERRUPTS.load(Ordering::Relaxed), "count");
    record::pass(start::program());
    // A peer that asks waits for it.
    tell(link, state::END);
}

fn ask(link: &Ivshmem, other: usize) {
    if link.shared().len() < TEXT + WORDS {
        record::give_up("the shared memory is too small");
    }
    let has_one_shot = devicetree::argument("one_shot") != Some("no");
    begin(link);
    wait("the other peer does not come", || link.state(other) != 0);
    let mut longest = 0;
    for round in 1..=ROUNDS {
        if has_one_shot {
            link.set_one_shot(round % 2 == 0);
        }
        let pattern = |word: usize| round << 32 | word as u64;
        for (index, word) in link.shared()[TEXT..TEXT + WORDS].iter().enumerate() {
            word.store(pattern(index), Ordering::Relaxed);
        }
        for (index, word) in link.output(link.id()).iter().enumerate() {
            word.store(pattern(index), Ordering::Relaxed);
        }
        link.shared()[ASKED].store(round, Ordering::Release);
        let begin = time::now();
        link.ring(other);
        wait("the other peer does not answer", || {
            number(link, ANSWERED) == round && link.state(other) == state::DONE
        });
        longest = longest.max(time::now() - begin);
        let is_inverse = |words: &[AtomicU64]| {
            let mut words = words.iter().enumerate();
            words.all(|(index, word)| word.load(Ordering::Relaxed) == !pattern(index))
        };
        if !is_inverse(&link.shared()[TEXT..TEXT + WORDS]) || !is_inverse(link.output(other)) {
            record::give_up("an answer is wrong");
        }
        if has_one_shot {
            // An interrupt came, and has disabled the next ones in one-shot mode.
            wait("no interrupt", || INTERRUPTS.load(Ordering::Relaxed) > 0);
            if link.interrupts_are_enabled() == (round % 2 == 0) {
                record::give_up("one-shot interrupts are not what they should be");
            }
            INTERRUPTS.store(0, Ordering::Relaxed);
            link.enable_interrupts(1);
        }
    }
    record::metric("answer_max", longest * 1_000_000 / time::hz(), "us");
    tell(link, state::END);
    wait("the other peer does not end", || {
        link.state(other) == state::END
    });
    record::pass(start::program());
}

fn guard(link: &Ivshmem) {
    begin(link);
    trap::enable_interrupts();
    let id = link.id();
    for round in 1..=GUARD_ROUNDS {
        link.set_state(round);
        if link.own_id() != id
            || link.own_state() != round
            || link.state(id) != round
            || !link.interrupts_are_enabled()
        {
            record::give_up("a register or the state table is not as it was left");
        }
    }
    record::metric("interrupts", INTERRUPTS.load(Ordering::Relaxed), "count");
    record::pass(start::program());
}

fn plain(shared: &[AtomicU64]) {
    let end = time::now() + WAIT_TICKS;
    loop {
        match shared[0].load(Ordering::Acquire) {
            2 => break,
            word => shared[1].store(!word, Ordering::Release),
        }
        if time::now() >= end {
            record::give_up("nothing is asked");
        }
    }
    record::pass(start::program());
}

fn hostile(link: &Ivshmem) {
    let mut seed = devicetree::number("seed", 1) | 1;
    // xorshift64.
    let mut next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    for _ in 0..HOSTILE_ACCESSES {
        let (what, value) = (next(), next());
        // Most often a register; else anything in the window.
        let offset = match what >> 8 & 3 {
            0 => value as u32 % 0x80,
            1 | 2 => tactus_ivshmem::ECAM + value as u32 % 0x20,
            _ => value as u32,
        };
        // Most often with the registers decoded.
        if what >> 16 & 15 == 0 {
            link.access_anyhow(0x10, 6, 0x2910_0000);
            link.access_anyhow(4, 6, 2);
        }
        let value = match what >> 20 & 3 {
            0 => value >> 16,
            // A doorbell.
            1 => value >> 16 & 1 << 16,
            _ => value >> 16 & 7,
        };
        link.access_anyhow(offset, what as u8, value);
    }
    record::pass(start::program());
}
