//! The guarantees of the rings, for each library against each, and against an end that writes anything anywhere.
#![cfg(not(loom))]

mod ends;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use ends::{Language, Outcome, PAIRS, open};
use proptest::prelude::*;
use tactus_channel::{End, ring};

fn memory(size: usize) -> Vec<AtomicU64> {
    (0..size / 8).map(|_| AtomicU64::new(0)).collect()
}

fn words(memory: &[AtomicU64]) -> Vec<u64> {
    memory
        .iter()
        .map(|word| word.load(Ordering::Relaxed))
        .collect()
}

/// A record whose bytes depend on its number and length.
fn record(number: usize, length: usize) -> Vec<u8> {
    (0..length)
        .map(|i| (number * 31 + length * 7 + i) as u8)
        .collect()
}

/// Bytes in a buffer that starts `offset` bytes behind a multiple of 8.
fn at_offset<R>(bytes: &[u8], offset: usize, use_it: impl FnOnce(&mut [u8]) -> R) -> R {
    let mut words = vec![0u64; bytes.len() / 8 + 2];
    let buffer = zerocopy::IntoBytes::as_mut_bytes(words.as_mut_slice());
    let buffer = &mut buffer[offset..][..bytes.len()];
    buffer.copy_from_slice(bytes);
    use_it(buffer)
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Send(usize),
    Receive(usize),
    Skip,
    Begin,
    RestartProducer,
    RestartConsumer,
    Poke(usize, u64),
}

fn friendly() -> impl Strategy<Value = Step> {
    prop_oneof![
        30 => (0usize..140).prop_map(Step::Send),
        30 => (0usize..140).prop_map(Step::Receive),
        2 => Just(Step::Skip),
        1 => Just(Step::Begin),
        1 => Just(Step::RestartProducer),
        1 => Just(Step::RestartConsumer),
    ]
}

/// A word's value as a hostile end may choose it: arbitrary, or nearly valid.
fn nonsense() -> impl Strategy<Value = u64> {
    let near = prop_oneof![Just(0u32), Just(ring::FIRST), any::<u32>()];
    prop_oneof![
        any::<u64>(),
        0u64..200,
        (0u32..4, near, -200i32..200).prop_map(|(epoch, base, offset)| {
            u64::from(epoch) << 32 | u64::from(base.wrapping_add_signed(offset))
        }),
    ]
}

fn hostile(words: usize) -> impl Strategy<Value = Step> {
    let word = prop_oneof![
        Just(ring::produced_at(0) / 8),
        Just(ring::consumed_at(0) / 8),
        0..words
    ];
    prop_oneof![
        friendly(),
        (word, nonsense()).prop_map(|(word, value)| Step::Poke(word, value)),
    ]
}

/// Compares ring 0's ends with a queue as the model.
fn follows_the_model((from, to): (Language, Language), size: usize, steps: &[Step]) {
    let memory = memory(size);
    let capacity = ring::capacity(size);
    let mut sender = open(from, &memory, End::First).expect("large enough").0;
    let mut receiver = open(to, &memory, End::Second).expect("large enough").1;
    let mut model: VecDeque<Vec<u8>> = VecDeque::new();
    // Space of received records counts as free as soon as the producer reads the position.
    let mut used = 0;
    // Whether the consumer has started in some epoch, and in the present one.
    let (mut begun, mut current) = (false, false);
    for (number, step) in steps.iter().enumerate() {
        match *step {
            Step::Send(length) => {
                let record = record(number, length);
                let expected = if length > sender.record_max() {
                    Outcome::TooLong
                } else if used + ring::record_size(length) > capacity {
                    Outcome::Full
                } else {
                    used += ring::record_size(length);
                    model.push_back(record.clone());
                    Outcome::Ok
                };
                let sent = at_offset(&record, number % 8, |bytes| sender.send(bytes));
                assert_eq!(sent, expected, "step {number}");
            }
            Step::Receive(_) | Step::Skip if begun && !current => {
                assert_eq!(receiver.skip().0, Outcome::Restarted, "step {number}");
                current = true;
            }
            Step::Receive(room) => {
                (begun, current) = (true, true);
                let before = vec![0xa5; room + 8];
                let (result, got) = at_offset(&before, number % 8, |bytes| {
                    (receiver.receive(&mut bytes[..room]), bytes.to_vec())
                });
                let expected = match model.front() {
                    None => (Outcome::Empty, 0),
                    Some(first) if first.len() > room => (Outcome::TooLong, first.len()),
                    Some(first) => {
                        assert_eq!(got[..first.len()], first[..], "step {number}");
                        (Outcome::Ok, first.len())
                    }
                };
                assert_eq!(result, expected, "step {number}");
                assert_eq!(got[room..], [0xa5; 8], "step {number}: past the buffer");
                if result.0 == Outcome::Ok {
                    used -= ring::record_size(result.1);
                    model.pop_front();
                }
            }
            Step::Skip => {
                (begun, current) = (true, true);
                let expected = match model.pop_front() {
                    None => (Outcome::Empty, 0),
                    Some(first) => {
                        used -= ring::record_size(first.len());
                        (Outcome::Ok, first.len())
                    }
                };
                assert_eq!(receiver.skip(), expected, "step {number}");
            }
            Step::Begin | Step::RestartProducer => {
                if matches!(step, Step::Begin) {
                    sender.begin();
                } else {
                    sender = open(from, &memory, End::First).expect("as before").0;
                }
                model.clear();
                used = 0;
                current = false;
            }
            Step::RestartConsumer => {
                receiver = open(to, &memory, End::Second).expect("as before").1;
                // It resumes its position, or, without one, starts without an error.
                begun = current;
            }
            Step::Poke(..) => unreachable!("no end is hostile"),
        }
    }
}

/// Each end writes only its own data, whatever the other writes; when the attack ends, records are received
/// again.
fn stands_it((from, to): (Language, Language), size: usize, steps: &[Step]) {
    let memory = memory(size);
    let capacity = ring::capacity(size);
    let (produced, consumed) = (ring::produced_at(0) / 8, ring::consumed_at(0) / 8);
    let records = ring::records_at(0, capacity) / 8..ring::records_at(1, capacity) / 8;
    let check = |before: &[u64], own: &dyn Fn(usize) -> bool| {
        for (index, (before, now)) in before.iter().zip(words(&memory)).enumerate() {
            assert!(*before == now || own(index), "word {index} was written");
        }
    };
    let produces = |index: usize| index == produced || records.contains(&index);
    let consumes = |index: usize| index == consumed;
    let mut sender = open(from, &memory, End::First).expect("large enough").0;
    let mut receiver = open(to, &memory, End::Second).expect("large enough").1;
    for (number, step) in steps.iter().enumerate() {
        let before = words(&memory);
        match *step {
            Step::Send(length) => {
                sender.send(&record(number, length));
                check(&before, &produces);
            }
            Step::Receive(room) => {
                let mut buffer = vec![0xa5; room + 8];
                let (outcome, length) = receiver.receive(&mut buffer[..room]);
                assert!(outcome != Outcome::Ok || length <= room);
                assert!(length <= ring::record_max(capacity));
                assert_eq!(buffer[room..], [0xa5; 8]);
                check(&before, &consumes);
            }
            Step::Skip => {
                receiver.skip();
                check(&before, &consumes);
            }
            Step::Begin => {
                sender.begin();
                check(&before, &produces);
            }
            Step::RestartProducer => {
                // The other ring's consumer is part of it, and has no position to write yet.
                sender = open(from, &memory, End::First).expect("as before").0;
                check(&before, &produces);
            }
            Step::RestartConsumer => {
                receiver = open(to, &memory, End::Second).expect("as before").1;
                check(&before, &|index| index == ring::produced_at(1) / 8);
            }
            Step::Poke(word, value) => memory[word].store(value, Ordering::Relaxed),
        }
    }
    // Each error is reported once, and each side has at most two.
    let last = record(1, 5);
    let mut buffer = [0; 1024];
    let arrived = (0..6).any(|_| {
        let sent = sender.send(&last);
        let mut found = false;
        // As many records as the ring can hold, and the errors.
        for _ in 0..capacity / 8 + 2 {
            let (outcome, length) = receiver.receive(&mut buffer);
            found |= outcome == Outcome::Ok && sent == Outcome::Ok && buffer[..length] == last;
        }
        found
    });
    assert!(arrived, "the rings do not recover");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn records_arrive_whole_and_in_order(
        size in (288usize..900).prop_map(|size| size / 8 * 8),
        steps in prop::collection::vec(friendly(), 1..300),
    ) {
        for pair in PAIRS {
            follows_the_model(pair, size, &steps);
        }
    }

    #[test]
    fn any_content_from_the_other_end_is_tolerated(
        (size, steps) in (288usize..900).prop_map(|size| size / 8 * 8)
            .prop_flat_map(|size| (Just(size), prop::collection::vec(hostile(size / 8), 1..200))),
    ) {
        for pair in PAIRS {
            stands_it(pair, size, &steps);
        }
    }
}

#[test]
fn the_libraries_agree_on_the_layout() {
    for size in (0..70_000).step_by(8) {
        let memory = memory(size);
        let maxima = [Language::Rust, Language::C].map(|language| {
            open(language, &memory, End::First).map(|(sender, _)| sender.record_max())
        });
        assert_eq!(maxima[0], maxima[1], "{size} bytes");
        let capacity = ring::capacity(size);
        assert_eq!(
            maxima[0],
            (capacity != 0).then(|| ring::record_max(capacity))
        );
    }
}

#[test]
fn records_go_both_ways() {
    for (first, second) in PAIRS {
        let memory = memory(4096);
        let (mut a, mut from_b) = open(first, &memory, End::First).expect("large enough");
        let (mut b, mut from_a) = open(second, &memory, End::Second).expect("large enough");
        let mut buffer = [0; 1016];
        for round in 0..100 {
            assert_eq!(a.send(&record(round, 1016)), Outcome::Ok);
            assert_eq!(b.send(&record(round, 3)), Outcome::Ok);
            assert_eq!(from_a.receive(&mut buffer), (Outcome::Ok, 1016));
            assert_eq!(buffer[..], record(round, 1016)[..]);
            assert_eq!(from_b.receive(&mut buffer), (Outcome::Ok, 3));
            assert_eq!(buffer[..3], record(round, 3)[..]);
        }
    }
}

/// Two threads, and a hostile third if requested; both ends then restart from time to time.
fn run_threads((from, to): (Language, Language), hostile: bool) {
    let records = if hostile { 2_000 } else { 30_000 };
    let memory = memory(1024);
    let memory = memory.as_slice();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut sender = open(from, memory, End::First).expect("large enough").0;
            for number in 0..records {
                if hostile && number % 100 == 99 {
                    sender = open(from, memory, End::First).expect("as before").0;
                }
                let mut tries = 0;
                while sender.send(&record(number, number % 201)) != Outcome::Ok {
                    std::thread::yield_now();
                    tries += 1;
                    if hostile && tries == 10 {
                        break;
                    }
                }
            }
            stop.store(true, Ordering::Relaxed);
        });
        if hostile {
            scope.spawn(|| {
                let mut random = 0x1234_5678_9abc_def1u64;
                while !stop.load(Ordering::Relaxed) {
                    random ^= random << 13;
                    random ^= random >> 7;
                    random ^= random << 17;
                    let index = (random >> 32) as usize % (2 * memory.len());
                    let index = if index < memory.len() {
                        index
                    } else {
                        index % 2 * 8
                    };
                    memory[index].store(random >> (random & 63), Ordering::Relaxed);
                    std::thread::yield_now();
                }
            });
        }
        let mut receiver = open(to, memory, End::Second).expect("large enough").1;
        let mut buffer = [0; 201];
        let mut number = 0;
        while !stop.load(Ordering::Relaxed) || !hostile && number < records {
            let (outcome, length) = receiver.receive(&mut buffer);
            match outcome {
                Outcome::Ok if hostile => assert!(length <= buffer.len()),
                Outcome::Ok => {
                    assert_eq!(buffer[..length], record(number, number % 201)[..]);
                    number += 1;
                }
                Outcome::Empty => std::thread::yield_now(),
                outcome if hostile => {
                    if outcome == Outcome::TooLong {
                        receiver.skip();
                    }
                }
                outcome => panic!("{outcome:?}"),
            }
        }
    });
}

#[test]
fn threads_lose_nothing() {
    for pair in PAIRS {
        run_threads(pair, false);
    }
}

#[test]
fn threads_stand_a_hostile_one() {
    for pair in PAIRS {
        run_threads(pair, true);
    }
}
