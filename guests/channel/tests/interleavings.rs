//! All interleavings of the two ends, and all values that the memory model lets a load see, for short runs: with `--cfg
//! loom`.
//!
//! ```console
//! $ RUSTFLAGS="--cfg loom" cargo test --release -p tactus-channel --test interleavings
//! ```
//!
//! loom does not try loads that observe a future store. The pair of `Release` in `Consumer::publish` and `Acquire` in
//! `Producer::look` ensures that the producer does not overwrite data that is still being copied.
#![cfg(loom)]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;
use tactus_channel::{Consumer, End, Producer, ReceiveError, SendError, open, ring};

/// Four words per ring. A record of two words takes three, so a second one waits for the first, and wraps around the
/// end.
const SIZE: usize = ring::CONTROL + 2 * 32;

fn memory() -> Arc<Vec<AtomicU64>> {
    Arc::new((0..SIZE / 8).map(|_| AtomicU64::new(0)).collect())
}

/// Explores every interleaving with at most this many switches from a thread that could continue.
fn explore(preemptions: usize, test: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(test);
}

fn sender(memory: &[AtomicU64]) -> Producer<'_> {
    open(memory, End::First).expect("large enough").0
}

fn receiver(memory: &[AtomicU64]) -> Consumer<'_> {
    open(memory, End::Second).expect("large enough").1
}

/// A record of two equal words, so that a mixture of two records is detected.
fn record(number: u8) -> [u8; 16] {
    [number; 16]
}

fn receive(consumer: &mut Consumer<'_>) -> Result<u8, ReceiveError> {
    let mut buffer = [0; 16];
    let length = consumer.receive(&mut buffer)?;
    assert_eq!(length, buffer.len());
    assert!(buffer.iter().all(|byte| *byte == buffer[0]), "{buffer:?}");
    Ok(buffer[0])
}

/// The second record overwrites the space of the first, across the ring's end.
#[test]
fn records_arrive_whole_and_in_order() {
    explore(4, || {
        let memory = memory();
        let other = Arc::clone(&memory);
        let mut consumer = receiver(&memory);
        let thread = thread::spawn(move || {
            let mut producer = sender(&other);
            let mut sent = 0;
            for number in 1..=2 {
                match producer.send(&record(number)) {
                    Ok(()) => sent = number,
                    Err(SendError::Full) => break,
                    Err(error) => panic!("{error:?}"),
                }
            }
            sent
        });
        let mut last = 0;
        let mut take = |consumer: &mut Consumer<'_>| match receive(consumer) {
            Ok(number) => {
                assert_eq!(number, last + 1);
                last = number;
                true
            }
            Err(ReceiveError::Empty) => false,
            Err(error) => panic!("{error:?}"),
        };
        for _ in 0..3 {
            take(&mut consumer);
        }
        let sent = thread.join().expect("no panic");
        while take(&mut consumer) {}
        assert_eq!(last, sent);
    });
}

/// The producer restarts while the consumer copies: no received record mixes data of both epochs.
#[test]
fn a_restarted_producer_tears_nothing() {
    explore(3, || {
        let memory = memory();
        let other = Arc::clone(&memory);
        sender(&memory).send(&record(1)).expect("there is room");
        let mut consumer = receiver(&memory);
        let thread = thread::spawn(move || {
            let mut producer = sender(&other);
            producer.send(&record(2)).expect("its ring is empty");
        });
        let mut last = 0;
        for _ in 0..3 {
            match receive(&mut consumer) {
                Ok(number) => {
                    assert!(number > last, "{number} after {last}");
                    last = number;
                }
                Err(ReceiveError::Empty | ReceiveError::Restarted) => {}
                Err(error) => panic!("{error:?}"),
            }
        }
        thread.join().expect("no panic");
        // At most one restart is reported, and then the producer's record, unless that was received.
        let rest = (0..2).filter_map(|_| receive(&mut consumer).ok()).max();
        assert_eq!(rest.unwrap_or(last), 2);
    });
}

/// The consumer restarts while the producer sends: no record is lost or torn; records that were not acknowledged may be
/// received again.
#[test]
fn a_restarted_consumer_continues() {
    explore(3, || {
        let memory = memory();
        let other = Arc::clone(&memory);
        let mut producer = sender(&memory);
        producer.send(&record(1)).expect("there is room");
        let thread = thread::spawn(move || {
            let mut got = Vec::new();
            for _ in 0..2 {
                got.extend(receive(&mut receiver(&other)));
            }
            got
        });
        let second = producer.send(&record(2)).is_ok();
        let mut got = thread.join().expect("no panic");
        let mut consumer = receiver(&memory);
        got.extend((0..2).filter_map(|_| receive(&mut consumer).ok()));
        assert_eq!(got, if second { vec![1, 2] } else { vec![1] });
    });
}

/// The other end writes invalid data at any moment: all calls return, and both ends agree again afterwards.
#[test]
fn nonsense_does_no_harm() {
    for nonsense in [
        (ring::produced_at(0), 0x1_ffff_f008),
        (ring::produced_at(0), 0x1_ffff_f010),
        (ring::produced_at(0), u64::MAX),
        (ring::consumed_at(0), 0x1_ffff_f100),
        (ring::records_at(0, 32), 9),
        (ring::records_at(0, 32), u64::MAX),
    ] {
        explore(2, move || {
            let memory = memory();
            let hostile = Arc::clone(&memory);
            let other = Arc::clone(&memory);
            let mut consumer = receiver(&memory);
            let enemy = thread::spawn(move || {
                hostile[nonsense.0 / 8].store(nonsense.1, Ordering::Relaxed);
            });
            let sends = thread::spawn(move || {
                let mut producer = sender(&other);
                let _ = producer.send(&[1; 16]);
            });
            let mut buffer = [0; 32];
            for _ in 0..2 {
                if let Ok(length) = consumer.receive(&mut buffer) {
                    assert!(length <= ring::record_max(32));
                }
            }
            enemy.join().expect("no panic");
            sends.join().expect("no panic");
        });
    }
}
