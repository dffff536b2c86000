//! A generator of random bytes beside a model, and an entropy device before a driver: an orderly one and a hostile one.

mod driver;

use driver::any::AnyMachine;
use driver::{BASE, BUFFERS, MEMORY, SIZE};
use proptest::prelude::*;
use tactus_virtio::entropy::{self, BYTES_MAX, Entropy, Generator, KEY};
use tactus_virtio::mmio::register;

/// The first 64 bytes of ChaCha20's stream for a key, a counter and a nonce of 64 bits each, as Bernstein describes it.
fn block(key: &[u8; KEY], counter: u64, nonce: u64) -> Vec<u8> {
    let mut state = [0u32; 16];
    let start = b"expand 32-byte k".iter().chain(key).copied();
    let rest = counter.to_le_bytes().into_iter().chain(nonce.to_le_bytes());
    let bytes: Vec<u8> = start.chain(rest).collect();
    for (word, bytes) in state.iter_mut().zip(bytes.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    let mut own = state;
    let columns = [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15]];
    let diagonals = [[0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14]];
    for _ in 0..10 {
        for [a, b, c, d] in columns.into_iter().chain(diagonals) {
            for (to, from, target, bits) in
                [(a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)]
            {
                own[to] = own[to].wrapping_add(own[from]);
                own[target] = (own[target] ^ own[to]).rotate_left(bits);
            }
        }
    }
    let words = own
        .iter()
        .zip(state)
        .map(|(own, state)| own.wrapping_add(state));
    words.flat_map(u32::to_le_bytes).collect()
}

/// A generator, as slowly as it can be.
struct Model([u8; KEY]);

impl Model {
    fn new(seed: [u8; KEY], life: u64) -> Self {
        let mut own = Self(seed);
        own.batch(life);
        own
    }

    fn batch(&mut self, nonce: u64) -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..4)
            .flat_map(|counter| block(&self.0, counter, nonce))
            .collect();
        let rest = bytes.split_off(KEY);
        self.0.copy_from_slice(&bytes);
        rest
    }

    fn fill(&mut self, to: &mut [u8]) {
        for part in to.chunks_mut(BYTES_MAX) {
            part.copy_from_slice(&self.batch(0)[..part.len()]);
        }
    }
}

/// The first test vector of Bernstein's "ChaCha, a variant of Salsa20", for 20 rounds and a key of zeros.
#[test]
fn the_model_is_the_cipher() {
    let wanted = [
        0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90, 0x40, 0x5d, 0x6a, 0xe5, 0x53, 0x86, 0xbd,
        0x28,
    ];
    assert_eq!(block(&[0; KEY], 0, 0)[..16], wanted);
}

/// Each life, and each generator that another was split from, has bytes of its own.
#[test]
fn no_generator_has_bytes_of_another() {
    let mut seen = std::collections::HashSet::new();
    for life in 0..20 {
        let mut root = Generator::new(&[7; KEY], life);
        let mut all: Vec<Generator> = (0..8).map(|_| root.split()).collect();
        all.push(root);
        for generator in &mut all {
            let mut bytes = [0; 1000];
            generator.fill(&mut bytes);
            for part in bytes.as_chunks::<8>().0 {
                assert!(seen.insert(*part), "the same eight bytes twice");
            }
        }
    }
}

/// What was given out, and the keys that it was made of, are nowhere in a generator or on the stack afterwards.
#[test]
fn nothing_is_left_of_what_was_given_out() {
    const DEPTH: usize = 3500;

    /// The bytes of the stack that its callee's frames have been in.
    #[inline(never)]
    fn stack() -> Vec<u8> {
        let mut here = [0u8; 16];
        let top = std::hint::black_box(here.as_mut_ptr()) as usize;
        (top - DEPTH..top)
            // SAFETY: a byte of this thread's stack, below what is in use, of whatever value.
            .map(|at| unsafe { (at as *const u8).read_volatile() })
            .collect()
    }
    let has = |bytes: &[u8], part: &[u8]| bytes.windows(part.len()).any(|window| window == part);

    let mut model = Model::new([7; KEY], 3);
    let mut generator = Generator::new(&[7; KEY], 3);
    let mut own = [0; BYTES_MAX];
    for _ in 0..4 {
        let key = model.0;
        generator.fill(&mut own);
        let left = stack();
        let mut wanted = [0; BYTES_MAX];
        model.fill(&mut wanted);
        assert_eq!(own, wanted);
        entropy::wipe(&mut own);
        // SAFETY: it is plain bytes.
        let state: [u8; KEY] = unsafe { std::mem::transmute_copy(&generator) };
        assert_eq!(state, model.0);
        for secret in [&key[..], &key[..8], &wanted[..8], &wanted[200..208]] {
            assert!(!has(&left, secret) && !has(&state, secret));
        }
    }
}

fn started() -> AnyMachine<Entropy> {
    let mut machine = AnyMachine::new(driver::any::entropy);
    machine.start();
    machine
}

#[test]
fn a_driver_gets_bytes() {
    let mut machine = started();
    assert_eq!(machine.read(register::DEVICE), 4);
    assert_eq!(machine.read(register::CONFIGURATION), 0);
    machine.request(0, &[(BUFFERS, 64, true)]);
    machine.request(0, &[(BUFFERS + 0x100, 5000, true)]);
    // The first buffer that is one; the rest stays as it is.
    machine.request(
        0,
        &[
            (BUFFERS + 0x2000, 0, true),
            (BUFFERS + 0x2000, 3, true),
            (BUFFERS + 0x3000, 9, true),
        ],
    );
    machine.write(register::QUEUE_NOTIFY, 0);
    assert_eq!(machine.completed(0), (3, 3));
    assert_eq!(machine.interrupts, 1);
    let mut model = Model::new([1; KEY], 5);
    for (at, length, room) in [
        (0, 64, 0x100),
        (0x100, BYTES_MAX, 0x1f00),
        (0x2000, 3, 0x1000),
        (0x3000, 0, 9),
    ] {
        let mut wanted = vec![0; room];
        model.fill(&mut wanted[..length]);
        assert_eq!(machine.bytes(BUFFERS + at, room), wanted, "{at:#x}");
    }
}

/// A request that is not in order changes nothing but that its device needs to be reset, and works then.
#[test]
fn a_wrong_request_is_refused() {
    let end = BASE + MEMORY as u64;
    for wrong in [
        // To be read, empty, outside, partly outside, and with an end that wraps.
        &[(BUFFERS, 64, false)][..],
        &[(BUFFERS, 64, false), (BUFFERS + 64, 64, true)],
        &[(BUFFERS, 0, true)],
        &[(BUFFERS, 0, true), (BUFFERS + 64, 0, true)],
        &[(0, 64, true)],
        &[(end, 1, true)],
        &[(end - 8, 9, true)],
        &[(u64::MAX - 8, 64, true)],
    ] {
        let mut machine = started();
        let before = machine.bytes(BUFFERS, (end - BUFFERS) as usize);
        machine.request(0, wrong);
        machine.write(register::QUEUE_NOTIFY, 0);
        assert!(machine.needs_reset(), "{wrong:x?}");
        assert_eq!(machine.completed(0).0, 0, "{wrong:x?}");
        assert_eq!(machine.bytes(BUFFERS, before.len()), before, "{wrong:x?}");
        machine.start();
        machine.request(0, &[(BUFFERS, 64, true)]);
        machine.write(register::QUEUE_NOTIFY, 0);
        assert_eq!(machine.completed(0), (1, 64), "{wrong:x?}");
    }
}

/// A request in progress is done by the next life, whatever access this one ends at.
#[test]
fn a_device_that_dies_goes_on() {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    let mut deaths = 0;
    for left in 0..40 {
        let mut machine = started();
        for number in 0..3 {
            machine.request(0, &[(BUFFERS + 0x100 * number, 64, true)]);
        }
        machine.memory.left.set(Some(left));
        let life = AssertUnwindSafe(|| machine.write(register::QUEUE_NOTIFY, 0));
        deaths += u32::from(catch_unwind(life).is_err());
        machine.restart();
        assert_eq!(machine.read(register::INTERRUPT_STATUS), 1, "{left}");
        assert_eq!(machine.completed(0), (3, 64), "{left}");
        for number in 0..3 {
            assert_ne!(
                machine.bytes(BUFFERS + 0x100 * number, 64),
                [0; 64],
                "{left}"
            );
        }
    }
    assert!((15..40).contains(&deaths), "{deaths}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_generator_is_its_model(
        seed in prop::array::uniform32(any::<u8>()),
        life in any::<u64>(),
        lengths in prop::collection::vec(0..600usize, 0..10),
    ) {
        let (mut generator, mut model) = (Generator::new(&seed, life), Model::new(seed, life));
        for length in lengths {
            let (mut own, mut wanted) = (vec![0; length], vec![0; length]);
            generator.fill(&mut own);
            model.fill(&mut wanted);
            prop_assert_eq!(own, wanted);
        }
    }

    /// A seed is what its digits are, and nothing else is one.
    #[test]
    fn a_seed_is_its_digits(seed in prop::array::uniform32(any::<u8>()), at in 0..64usize, other in any::<char>()) {
        let digits: String = seed.iter().map(|byte| format!("{byte:02x}")).collect();
        prop_assert_eq!(entropy::seed(&digits), Some(seed));
        prop_assert_eq!(entropy::seed(&digits.to_uppercase()), Some(seed));
        prop_assert_eq!(entropy::seed(&digits[1..]), None);
        let longer = format!("{digits}0");
        prop_assert_eq!(entropy::seed(&longer), None);
        let changed = format!("{}{other}{}", &digits[..at], &digits[at + 1..]);
        prop_assert_eq!(entropy::seed(&changed).is_some(), other.is_ascii_hexdigit());
    }

    /// Whatever requests there are: each that is completed has as many bytes as its first buffer has room for, up to
    /// the most, and no other byte of memory is written.
    #[test]
    fn only_what_is_said_to_be_written_is(
        requests in prop::collection::vec((0..0xa000u64, 0..1000u32, any::<bool>()), 1..8),
    ) {
        let mut machine = started();
        let mut wanted = machine.bytes(BUFFERS, MEMORY - 0x4000);
        for (number, (at, length, writable)) in requests.into_iter().enumerate() {
            machine.request(0, &[(BUFFERS + at, length, writable || number % 4 > 0)]);
            machine.write(register::QUEUE_NOTIFY, 0);
            if machine.needs_reset() {
                prop_assert!(length == 0 || !writable);
                prop_assert_eq!(usize::from(machine.completed(0).0), number);
                break;
            }
            let written = machine.completed(0).1 as usize;
            prop_assert_eq!(written, BYTES_MAX.min(length as usize));
            let range = at as usize..at as usize + written;
            wanted[range.clone()].copy_from_slice(&machine.bytes(BUFFERS + at, written));
        }
        prop_assert_eq!(machine.bytes(BUFFERS, wanted.len()), wanted);
    }

    #[test]
    fn a_hostile_driver_harms_itself_only(bytes in prop::collection::vec(any::<u8>(), 0..11 * 60)) {
        driver::any::hostile_entropy(&bytes);
    }
}

#[test]
fn a_full_queue_is_served() {
    let mut machine = started();
    for _ in 0..SIZE {
        machine.request(0, &[(BUFFERS, 64, true)]);
    }
    machine.write(register::QUEUE_NOTIFY, 0);
    assert_eq!(machine.completed(0).0, SIZE);
}

/// What the fuzzer begins with, and has found.
#[test]
fn the_corpus_harms_nothing() {
    let count = driver::any::each_of_corpus("served_entropy", driver::any::hostile_entropy);
    assert!(count >= 3, "the corpus has {count} files");
}
