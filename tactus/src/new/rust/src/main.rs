//! @NAME@, a guest of Tactus: prints, measures how late timer interrupts are, and talks with another VM by a channel.
//!
//! `system.toml` runs this program in two VMs, one at each end of a channel. The first end asks, the second one
//! answers.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tactus_guest::channel::{Channel, Consumer, End, Producer, ReceiveError};
use tactus_guest::{println, record, time, trap};

tactus_guest::entry!(main);

/// Number of timer interrupts to take.
const BEATS: usize = 100;
/// Their rate.
const BEATS_PER_SECOND: u64 = 1000;
/// Number of questions sent through the channel.
const QUESTIONS: u64 = 20;

static DEADLINE: AtomicU64 = AtomicU64::new(0);
static LATE: [AtomicU64; BEATS] = [const { AtomicU64::new(0) }; BEATS];
static BEATS_SEEN: AtomicUsize = AtomicUsize::new(0);

/// Returning from here powers the VM off. A panic powers it off as failed.
fn main() {
    let channel = Channel::find(0);
    if let Some(channel) = channel {
        // `receive` polls the ring after each wait, so a doorbell needs no handling of its own.
        trap::on_external(|_source| ());
        channel.enable_interrupt(1);
    }
    if let Some(channel) = channel.filter(|channel| channel.end() == Some(End::Second)) {
        println!("@NAME@ answers.");
        answer(channel);
    } else {
        println!("Hello from @NAME@, {} ticks a second.", time::hz());
        measure_timer();
        if let Some(channel) = channel {
            ask(channel);
        }
    }
    record::pass("@NAME@");
}

fn measure_timer() {
    trap::on_timer(beat);
    let first = time::now() + time::hz() / BEATS_PER_SECOND;
    DEADLINE.store(first, Ordering::Relaxed);
    time::set_deadline(first);
    wait_until(|| BEATS_SEEN.load(Ordering::Relaxed) == BEATS);
    let late = LATE.iter().map(|late| late.load(Ordering::Relaxed));
    record::samples("timer_lateness", "run", "ticks", late);
    record::metric("beats", BEATS, "count");
}

/// Timer interrupt handler: records its lateness and sets the next deadline.
fn beat() {
    let deadline = DEADLINE.load(Ordering::Relaxed);
    let beat = BEATS_SEEN.load(Ordering::Relaxed);
    LATE[beat].store(time::now() - deadline, Ordering::Relaxed);
    BEATS_SEEN.store(beat + 1, Ordering::Relaxed);
    if beat + 1 < BEATS {
        let next = deadline + time::hz() / BEATS_PER_SECOND;
        DEADLINE.store(next, Ordering::Relaxed);
        time::set_deadline(next);
    }
}

/// Sleeps until `condition` holds. Interrupts are off while it is evaluated: one that arrives before the wait ends it
/// at once.
fn wait_until(mut condition: impl FnMut() -> bool) {
    trap::disable_interrupts();
    while !condition() {
        trap::wait_for_interrupt();
        trap::enable_interrupts();
        trap::disable_interrupts();
    }
}

fn ask(channel: Channel) {
    let (mut producer, mut consumer) = channel.rings().expect("the channel has room for rings");
    let mut longest = 0;
    for question in 0..QUESTIONS {
        let begin = time::now();
        send(channel, &mut producer, question);
        assert_eq!(receive(&mut consumer), question * question);
        longest = longest.max(time::now() - begin);
    }
    record::metric("answers", QUESTIONS, "count");
    record::metric("round_trip_max", longest, "ticks");
}

fn answer(channel: Channel) {
    let (mut producer, mut consumer) = channel.rings().expect("the channel has room for rings");
    for _ in 0..QUESTIONS {
        let question = receive(&mut consumer);
        send(channel, &mut producer, question * question);
    }
}

/// Sends a record and rings the other end.
fn send(channel: Channel, producer: &mut Producer<'_>, value: u64) {
    producer
        .send(&value.to_le_bytes())
        .expect("the ring has room: the other end has taken what was sent before");
    channel.ring();
}

/// Waits for the next record of the other end, for a second at most.
fn receive(consumer: &mut Consumer<'_>) -> u64 {
    let end = time::now() + time::hz();
    let mut value = None;
    // The interrupt ends the wait; nothing else is to be done.
    trap::on_timer(|| ());
    time::set_deadline(end);
    wait_until(|| {
        value = take(consumer);
        value.is_some() || time::now() >= end
    });
    time::set_deadline(time::NEVER);
    value.expect("the other end sends within a second")
}

/// The next record, if it is there.
fn take(consumer: &mut Consumer<'_>) -> Option<u64> {
    let mut bytes = [0; 8];
    loop {
        match consumer.receive(&mut bytes) {
            Ok(8) => return Some(u64::from_le_bytes(bytes)),
            Ok(length) => panic!("a record of {length} bytes"),
            Err(ReceiveError::Empty) => return None,
            // The other end has restarted; it may have sent records since.
            Err(ReceiveError::Restarted) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
}
