//! An end of a channel beside memory that changes according to a fuzzer's input. Used by `tests/saved_inputs.rs` and
//! the fuzz target `channel_ring`.

use std::sync::atomic::{AtomicU64, Ordering};

use tactus_channel::{End, open, ring};

/// Bytes of the channel.
const SIZE: usize = 512;
/// Calls in one run.
const CALLS: usize = 4096;

/// Interprets the input as calls and as stores of the other end between them. No call may fail, write to the other
/// end's memory, or return impossible lengths.
pub fn feed(input: &[u8]) {
    let memory: Vec<AtomicU64> = (0..SIZE / 8).map(|_| AtomicU64::new(0)).collect();
    let capacity = ring::capacity(SIZE);
    let theirs = [
        ring::produced_at(1) / 8,
        ring::consumed_at(0) / 8,
        ring::records_at(1, capacity) / 8,
    ];
    let (mut producer, mut consumer) = open(&memory, End::First).expect("large enough");
    let mut input = input.iter().copied();
    let mut buffer = [0; SIZE];
    for _ in 0..CALLS {
        let (Some(what), Some(number)) = (input.next(), input.next()) else {
            break;
        };
        let theirs_before = theirs.map(|word| memory[word].load(Ordering::Relaxed));
        let length = usize::from(number);
        match what % 8 {
            0 => {
                let sent = producer.send(&buffer[..length]);
                assert!(sent.is_err() || length <= producer.record_max());
            }
            1 => {
                if let Ok(received) = consumer.receive(&mut buffer[..length]) {
                    assert!(received <= length);
                }
            }
            2 => {
                if let Ok(skipped) = consumer.skip() {
                    assert!(skipped <= consumer.record_max());
                }
            }
            3 if what & 8 == 0 => producer.begin(),
            3 => (producer, consumer) = open(&memory, End::First).expect("as before"),
            // A small change of the present word, or any word.
            4 => {
                let word = &memory[length % memory.len()];
                word.fetch_add(u64::from(what), Ordering::Relaxed);
                continue;
            }
            5 => {
                let from = &memory[length % memory.len()];
                let to = &memory[theirs[usize::from(what / 8) % theirs.len()]];
                to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
                continue;
            }
            6 => {
                let from = memory[theirs[0]].load(Ordering::Relaxed);
                memory[theirs[0]].store(from.wrapping_add(u64::from(number)), Ordering::Relaxed);
                continue;
            }
            _ => {
                let bytes = [0; 8].map(|_: u8| input.next().unwrap_or(0));
                memory[length % memory.len()].store(u64::from_le_bytes(bytes), Ordering::Relaxed);
                continue;
            }
        }
        let theirs_now = theirs.map(|word| memory[word].load(Ordering::Relaxed));
        assert_eq!(theirs_before, theirs_now);
    }
}
