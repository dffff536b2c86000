//! A console before a driver: an orderly one, one whose device dies at any time, and a hostile one; and the rings that
//! its text waits in.

mod driver;

use std::panic::{AssertUnwindSafe, catch_unwind};

use driver::any::{AnyMachine, HZ, clear_rings, console, rings, set_time};
use driver::{BASE, BUFFERS, Death, MEMORY, Mortal, window};
use proptest::prelude::*;
use tactus_virtio::console::{Console, PATIENCE_MS};
use tactus_virtio::memory::{Memory as _, Window};
use tactus_virtio::mmio::register;
use tactus_virtio::text::{CAPACITY, Mark, Ring, SIZE};

/// A console whose rings are empty.
fn started() -> AnyMachine<Console> {
    clear_rings();
    let mut machine = AnyMachine::new(console);
    machine.start();
    machine
}

/// All text that waits.
fn take(ring: &Ring<Window>) -> Vec<u8> {
    let mut bytes = vec![0; CAPACITY];
    let count = ring.peek(0, &mut bytes);
    ring.skip(count);
    bytes.truncate(count);
    bytes
}

fn text(length: usize, first: usize) -> Vec<u8> {
    (first..first + length).map(|at| (at % 251) as u8).collect()
}

const RECEIVE: usize = 0;
const TRANSMIT: usize = 1;

impl AnyMachine<Console> {
    /// Announces text in these pieces, from `BUFFERS` on.
    fn say(&mut self, bytes: &[u8], pieces: &[usize]) {
        self.memory.memory.write(BUFFERS, bytes).expect("within");
        let mut at = BUFFERS;
        let mut buffers = Vec::new();
        for length in pieces {
            buffers.push((at, *length as u32, false));
            at += *length as u64;
        }
        self.request(TRANSMIT, &buffers);
    }
}

#[test]
fn text_is_what_was_written() {
    let mut machine = started();
    assert_eq!(machine.read(register::DEVICE), 3);
    machine.say(&text(1000, 0), &[1, 0, 600, 399]);
    machine.write(register::QUEUE_NOTIFY, TRANSMIT as u64);
    assert_eq!(machine.completed(TRANSMIT), (1, 0));
    let [output, _] = rings();
    assert_eq!(take(&output), text(1000, 0));
    // Nothing, which is done as well.
    machine.request(TRANSMIT, &[(BUFFERS, 0, false)]);
    machine.write(register::QUEUE_NOTIFY, TRANSMIT as u64);
    assert_eq!(machine.completed(TRANSMIT), (2, 0));
}

/// What is typed is in the driver's memory when that has looked.
#[test]
fn what_is_typed_is_read() {
    let mut machine = started();
    let [_, input] = rings();
    input.write(b"hello", Mark::default());
    // There is no buffer yet.
    assert_eq!(machine.read(register::INTERRUPT_STATUS), 0);
    machine.request(RECEIVE, &[(BUFFERS, 0, true), (BUFFERS, 3, true)]);
    machine.request(RECEIVE, &[(BUFFERS + 0x100, 4096, true)]);
    machine.request(RECEIVE, &[(BUFFERS + 0x200, 4096, true)]);
    machine.write(register::QUEUE_NOTIFY, RECEIVE as u64);
    assert_eq!(machine.completed(RECEIVE), (2, 2));
    assert_eq!(machine.bytes(BUFFERS, 4), b"hel\0");
    assert_eq!(machine.bytes(BUFFERS + 0x100, 3), b"lo\0");
    input.write(b"!", Mark::default());
    assert_eq!(machine.read(register::INTERRUPT_STATUS), 1);
    assert_eq!(machine.completed(RECEIVE), (3, 1));
    assert_eq!(machine.bytes(BUFFERS + 0x200, 2), b"!\0");
}

/// A driver waits for room in its own access, and no longer than it has to; text is dropped then, and a line says so.
#[test]
fn a_driver_waits_for_room() {
    set_time(0);
    let mut machine = started();
    let [output, _] = rings();
    let notify = (register::QUEUE_NOTIFY, Some(TRANSMIT as u64));
    machine.say(&text(3000, 0), &[3000]);
    assert_eq!(machine.access(notify.0, notify.1, 100), None);
    assert_eq!(machine.completed(TRANSMIT).0, 0);
    let mut shown = take(&output);
    assert_eq!(shown, text(CAPACITY, 0));
    // There is room: it goes on where it was.
    assert_eq!(machine.access(notify.0, notify.1, 100), Some(0));
    shown.extend(take(&output));
    assert_eq!(shown, text(3000, 0));
    machine.say(&text(CAPACITY + 50, 7), &[CAPACITY + 50]);
    assert_eq!(machine.access(notify.0, notify.1, 100), None);
    set_time(HZ * PATIENCE_MS / 1000);
    assert_eq!(machine.access(notify.0, notify.1, 100), None);
    set_time(HZ * PATIENCE_MS / 1000 + 1);
    assert_eq!(machine.access(notify.0, notify.1, 1), Some(0));
    // Who has waited does not wait again before there was room.
    machine.say(&text(9, 0), &[9]);
    assert_eq!(machine.access(notify.0, notify.1, 1), Some(0));
    assert_eq!(machine.completed(TRANSMIT).0, 3);
    assert_eq!(take(&output), text(CAPACITY, 7));
    machine.say(b"more", &[4]);
    machine.write(notify.0, TRANSMIT as u64);
    assert_eq!(take(&output), b"\n[59 bytes lost]\nmore");
}

/// A request that is not in order changes nothing but that its device needs to be reset, and works then.
#[test]
fn a_wrong_request_is_refused() {
    let end = BASE + MEMORY as u64;
    for (queue, wrong) in [
        (TRANSMIT, &[(BUFFERS, 64, true)][..]),
        (TRANSMIT, &[(BUFFERS, 64, false), (BUFFERS + 64, 64, true)]),
        (TRANSMIT, &[(BUFFERS, 64, false), (end, 1, false)]),
        (TRANSMIT, &[(BUFFERS, 64, false), (end - 8, 9, false)]),
        (TRANSMIT, &[(BUFFERS, 64, false), (u64::MAX - 8, 64, false)]),
        (TRANSMIT, &[(BUFFERS, u32::MAX, false)]),
        (TRANSMIT, &[(0, 1, false)]),
        (RECEIVE, &[(BUFFERS, 64, false)]),
        (RECEIVE, &[(BUFFERS, 64, false), (BUFFERS, 64, true)]),
        (RECEIVE, &[(BUFFERS, 0, true)]),
        (RECEIVE, &[(end - 1, 2, true)]),
        (RECEIVE, &[(u64::MAX, 2, true)]),
    ] {
        let mut machine = started();
        let [output, input] = rings();
        input.write(b"typed", Mark::default());
        let before = machine.bytes(BUFFERS, (end - BUFFERS) as usize);
        machine.request(queue, wrong);
        machine.write(register::QUEUE_NOTIFY, queue as u64);
        assert!(machine.needs_reset(), "{wrong:x?}");
        assert_eq!(machine.completed(queue).0, 0, "{wrong:x?}");
        assert_eq!(machine.bytes(BUFFERS, before.len()), before, "{wrong:x?}");
        assert_eq!((output.waiting(), input.waiting()), (0, 5), "{wrong:x?}");
        machine.start();
        machine.say(b"text", &[4]);
        machine.request(RECEIVE, &[(BUFFERS + 0x100, 64, true)]);
        machine.write(register::QUEUE_NOTIFY, TRANSMIT as u64);
        assert_eq!(machine.read(register::INTERRUPT_STATUS), 1, "{wrong:x?}");
        assert_eq!(take(&output), b"text", "{wrong:x?}");
        assert_eq!(machine.bytes(BUFFERS + 0x100, 6), b"typed\0", "{wrong:x?}");
    }
}

/// Whatever access a life ends at, the next one finishes what was begun, and no byte is there twice or not at all;
/// whether the driver makes another access or waits in a loop.
#[test]
fn a_device_that_dies_goes_on() {
    for resumes in [false, true] {
        let mut deaths = 0;
        for left in 0..60 {
            let mut machine = started();
            let [output, _] = rings();
            machine.say(&text(700, 0), &[300, 400]);
            machine.memory.left.set(Some(left));
            let life = AssertUnwindSafe(|| machine.write(register::QUEUE_NOTIFY, TRANSMIT as u64));
            let died = catch_unwind(life).is_err_and(|reason| reason.is::<Death>());
            deaths += u32::from(died);
            machine.restart();
            if resumes {
                while machine.device.resume().again {}
            } else {
                machine.read(register::INTERRUPT_STATUS);
            }
            assert_eq!(machine.completed(TRANSMIT), (1, 0), "{left}");
            assert_eq!(take(&output), text(700, 0), "{left}");
        }
        assert!((20..60).contains(&deaths), "{deaths}");
    }
}

/// The same for a ring's own memory: whatever step a writer dies before.
#[test]
fn a_writer_that_dies_goes_on() {
    let mut deaths = 0;
    for left in 0..60 {
        let memory = window(SIZE, 0);
        let mortal = Mortal::new(memory);
        let (writer, reader) = (Ring::new(mortal.clone()), Ring::new(memory));
        let wanted = text(500, 0);
        let all = |writer: &Ring<Mortal>| {
            let mut done = writer.done(9) as usize;
            while done < wanted.len() {
                let piece = &wanted[done..wanted.len().min(done + 128)];
                done += piece.len();
                let mark = Mark {
                    number: 9,
                    done: done as u32,
                };
                writer.write(piece, mark);
            }
        };
        mortal.left.set(Some(left));
        let life = AssertUnwindSafe(|| all(&writer));
        deaths += u32::from(catch_unwind(life).is_err());
        mortal.left.set(None);
        all(&writer);
        assert_eq!(take(&reader), wanted, "{left}");
    }
    assert!((15..60).contains(&deaths), "{deaths}");
}

/// A driver that resets its device in the middle of a request begins with the next one.
#[test]
fn a_reset_forgets_a_request() {
    let mut machine = started();
    let [output, _] = rings();
    machine.say(&text(3000, 0), &[3000]);
    let notify = Some(TRANSMIT as u64);
    assert_eq!(machine.access(register::QUEUE_NOTIFY, notify, 20), None);
    take(&output);
    machine.start();
    machine.say(b"new", &[3]);
    machine.write(register::QUEUE_NOTIFY, TRANSMIT as u64);
    assert_eq!(take(&output), b"new");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Requests of any lengths, read in any pieces, with lives that end in between.
    #[test]
    fn text_is_a_stream(
        steps in prop::collection::vec((0..900usize, 0..CAPACITY + 1, 0..4u8), 1..40),
    ) {
        set_time(0);
        let mut machine = started();
        let [output, _] = rings();
        let (mut said, mut shown) = (Vec::new(), Vec::new());
        for (length, read, restarts) in steps {
            let own = text(length, said.len());
            machine.say(&own, &[length / 3, length - length / 3]);
            said.extend(&own);
            while machine.access(register::QUEUE_NOTIFY, Some(TRANSMIT as u64), 8).is_none() {
                let mut bytes = vec![0; read.max(1)];
                let count = output.peek(0, &mut bytes);
                output.skip(count);
                shown.extend(&bytes[..count]);
                if restarts == 0 {
                    machine.restart();
                }
            }
        }
        shown.extend(take(&output));
        prop_assert_eq!(shown, said);
    }

    /// A ring holds what it says, whatever is in its memory.
    #[test]
    fn a_ring_is_within_its_memory(
        words in prop::collection::vec((0..SIZE as u64 / 8, any::<u64>()), 0..20),
        length in 0..=CAPACITY,
    ) {
        let memory = window(SIZE, 0);
        for (at, word) in words {
            memory.write(8 * at, &word.to_le_bytes()).expect("within");
        }
        let ring = Ring::new(memory);
        prop_assert_eq!(ring.waiting() + ring.room(), CAPACITY);
        let waits = take(&ring);
        prop_assert!(ring.waiting() + waits.len() <= 2 * CAPACITY);
        let room = ring.room().min(length);
        ring.write(&text(room, 0), Mark { number: 1, done: 5 });
        prop_assert_eq!(ring.done(1), 5);
        prop_assert_eq!(ring.done(2), 0);
    }

    #[test]
    fn a_hostile_driver_harms_itself_only(bytes in prop::collection::vec(any::<u8>(), 0..11 * 60)) {
        driver::any::hostile_console(&bytes);
    }
}

/// What the fuzzer begins with, and has found.
#[test]
fn the_corpus_harms_nothing() {
    let count = driver::any::each_of_corpus("served_console", driver::any::hostile_console);
    assert!(count >= 3, "the corpus has {count} files");
}
