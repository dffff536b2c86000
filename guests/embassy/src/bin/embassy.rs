//! Two asynchronous tasks: one wakes a thousand times a second, the other communicates with a second VM by a channel.
//! The same program answers at the channel's other end.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::signal::Signal;
use embassy_time::{Duration, Instant, Ticker, Timer, with_timeout};
use tactus_embassy::{Doorbell, activity};
use tactus_guest::channel::{Channel, Consumer, End, Producer, ReceiveError};
use tactus_guest::{power, println, record, start, time};

tactus_guest::entry!(main);

/// Number of wake-ups of the first task.
const BEATS: usize = 50;
/// Number of questions of the second task.
const QUESTIONS: u64 = 20;

static LATE: [AtomicU64; BEATS] = [const { AtomicU64::new(0) }; BEATS];
static ROUND_TRIP: AtomicU64 = AtomicU64::new(0);
static DONE: AtomicUsize = AtomicUsize::new(0);
static ALL_DONE: Signal<CriticalSectionRawMutex, ()> = Signal::new();

fn main() -> ! {
    let channel = Channel::find(0).expect("the system gives this VM a channel");
    tactus_embassy::run(|spawner| {
        if channel.end() == Some(End::Second) {
            spawner.spawn(answer(channel).expect("it is spawned once"));
        } else {
            spawner.spawn(beat().expect("it is spawned once"));
            spawner.spawn(ask(channel).expect("it is spawned once"));
            spawner.spawn(conclude().expect("it is spawned once"));
        }
    })
}

/// Wakes every millisecond, and records its latency.
#[embassy_executor::task]
async fn beat() {
    let period = Duration::from_millis(1);
    let mut due = Instant::now();
    let mut ticker = Ticker::every(period);
    for late in &LATE {
        due += period;
        ticker.next().await;
        late.store((Instant::now() - due).as_ticks(), Relaxed);
    }
    done();
}

/// Sends questions, and waits for each answer.
#[embassy_executor::task]
async fn ask(channel: Channel) {
    let mut bell = Doorbell::of(channel);
    let (mut producer, mut consumer) = channel.rings().expect("there is room for rings");
    for question in 0..QUESTIONS {
        let begin = Instant::now();
        send(channel, &mut producer, question);
        let answer = with_timeout(Duration::from_secs(1), receive(&mut bell, &mut consumer)).await;
        assert_eq!(answer, Ok(question * question));
        ROUND_TRIP.fetch_max((Instant::now() - begin).as_ticks(), Relaxed);
        Timer::after_millis(2).await;
    }
    done();
}

fn done() {
    if DONE.fetch_add(1, Relaxed) + 1 == 2 {
        ALL_DONE.signal(());
    }
}

/// Reports when both tasks are done, and powers off.
#[embassy_executor::task]
async fn conclude() {
    let begin = time::now();
    ALL_DONE.wait().await;
    let elapsed = time::now() - begin;
    let seen = activity();
    println!("{} passes, {} waits", seen.passes, seen.waits);
    record::samples(
        "wake_lateness",
        "run",
        "ticks",
        LATE.iter().map(|late| late.load(Relaxed)),
    );
    record::metric("answers", QUESTIONS, "count");
    record::metric("round_trip_max", ROUND_TRIP.load(Relaxed), "ticks");
    record::metric("passes", seen.passes, "count");
    record::metric("waits", seen.waits, "count");
    record::metric("waiting", seen.waited * 100 / elapsed, "percent");
    // Each beat, answer and pause wakes the vCPU at most once, and the vCPU waits before each; the first and the last
    // pass are additional.
    let events = BEATS as u64 + 2 * QUESTIONS;
    if seen.passes <= events + 2 && seen.waits + 1 >= seen.passes {
        record::pass("idles");
    } else {
        record::fail(
            "idles",
            format_args!("{} passes for {events} events", seen.passes),
        );
    }
    record::pass(start::program());
    power::off()
}

/// The task of the other end.
#[embassy_executor::task]
async fn answer(channel: Channel) {
    let mut bell = Doorbell::of(channel);
    let (mut producer, mut consumer) = channel.rings().expect("there is room for rings");
    for _ in 0..QUESTIONS {
        let question = receive(&mut bell, &mut consumer).await;
        send(channel, &mut producer, question * question);
    }
    record::pass(start::program());
    power::off()
}

/// Sends a record and rings the other end.
fn send(channel: Channel, producer: &mut Producer<'_>, value: u64) {
    producer
        .send(&value.to_le_bytes())
        .expect("the ring has room: the other end has taken what was sent before");
    channel.ring();
}

/// Waits for the next record of the other end.
async fn receive(bell: &mut Doorbell, consumer: &mut Consumer<'_>) -> u64 {
    let mut bytes = [0; 8];
    loop {
        match consumer.receive(&mut bytes) {
            Ok(_) => return u64::from_le_bytes(bytes),
            Err(ReceiveError::Empty) => bell.rung().await,
            // The other end has restarted: its new records may be there already.
            Err(ReceiveError::Restarted) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
}
