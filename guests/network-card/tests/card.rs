//! The driver with the device of `virtio/` behind its registers, and with one that writes anything.

mod machine;

use machine::{Machine, hostile};
use proptest::prelude::*;
use tactus_network_card::{FRAME_MAX, FRAMES, SendError, StartError};
use tactus_virtio::switch::WAITING_MAX;

/// A frame from a machine to another one, which is `length` bytes of `tag` behind its addresses.
fn frame(to: u8, from: u8, length: usize, tag: u8) -> Vec<u8> {
    let mut frame = vec![tag; length];
    frame[..6].copy_from_slice(&Machine::address(to));
    frame[6..12].copy_from_slice(&Machine::address(from));
    frame[12..14].copy_from_slice(&[8, 0]);
    frame
}

#[test]
fn frames_of_all_lengths_arrive_whole_and_in_order() {
    let mut machine = Machine::new();
    assert_eq!(machine.cards[1].address(), Machine::address(1));
    for length in 14..=FRAME_MAX {
        let sent = frame(1, 0, length, length as u8);
        assert_eq!(machine.cards[0].send(&sent), Ok(()));
        machine.cards[1].acknowledge().expect("sound");
        assert_eq!(machine.receive(1), Some(sent));
        assert_eq!(machine.receive(1), None);
    }
}

#[test]
fn a_frame_that_is_too_long_is_not_sent() {
    let mut machine = Machine::new();
    let frame = frame(1, 0, FRAME_MAX + 1, 0);
    assert_eq!(machine.cards[0].send(&frame), Err(SendError::TooLong));
    assert_eq!(machine.receive(1), None);
}

/// More frames than the driver's queue has buffers for: those that the switch keeps come when there are buffers again.
#[test]
fn what_waits_in_the_switch_follows() {
    let mut machine = Machine::new();
    for number in 0..FRAMES {
        let sent = frame(1, 0, 60, number as u8);
        assert_eq!(machine.cards[0].send(&sent), Ok(()));
    }
    machine.cards[1].acknowledge().expect("sound");
    for number in FRAMES..FRAMES + WAITING_MAX {
        let sent = frame(1, 0, 60, number as u8);
        assert_eq!(machine.cards[0].send(&sent), Ok(()));
    }
    let tags: Vec<u8> = std::iter::from_fn(|| machine.receive(1))
        .map(|frame| frame[20])
        .collect();
    assert_eq!(tags, Vec::from_iter(0..(FRAMES + WAITING_MAX) as u8));
}

#[test]
fn a_device_that_is_none_is_absent() {
    for (offset, value) in [(0, 0), (4, 1), (8, 2)] {
        assert_eq!(
            machine::start_with(offset, value),
            Err(StartError::Absent),
            "{offset:#x}"
        );
    }
    // No features, and queues that are too small.
    assert_eq!(machine::start_with(0x10, 0), Err(StartError::Features));
    assert_eq!(machine::start_with(0x34, 8), Err(StartError::Queues));
}

#[test]
fn a_card_that_starts_again_works_again() {
    let mut machine = Machine::new();
    assert_eq!(machine.cards[0].send(&frame(1, 0, 60, 1)), Ok(()));
    machine.restart(1);
    machine.restart(0);
    assert_eq!(machine.cards[0].send(&frame(1, 0, 61, 2)), Ok(()));
    // The switch has kept the first one.
    assert_eq!(machine.receive(1), Some(frame(1, 0, 60, 1)));
    assert_eq!(machine.receive(1), Some(frame(1, 0, 61, 2)));
}

/// The driver notices nothing of a device that begins another life, whatever it was at.
#[test]
fn a_device_that_restarts_goes_on() {
    let mut machine = Machine::new();
    for number in 0..100u8 {
        let sent = frame(1, 0, 60 + usize::from(number), number);
        assert_eq!(machine.cards[0].send(&sent), Ok(()));
        machine.restart_device(usize::from(number % 3 == 0));
        machine.cards[1].acknowledge().expect("sound");
        machine.restart_device(usize::from(number % 2));
        assert_eq!(machine.receive(1), Some(sent));
    }
}

#[test]
fn saved_devices_do_no_harm() {
    let corpus = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fuzz/corpus/network_card"
    );
    let entries: Vec<_> = std::fs::read_dir(corpus).expect("it is there").collect();
    assert!(!entries.is_empty());
    for entry in entries {
        hostile(&std::fs::read(entry.expect("an entry").path()).expect("a file"));
    }
}

proptest! {
    /// Whatever the order of sending, looking and receiving: what arrives was sent, in order, and nothing is lost that
    /// the switch has room for.
    #[test]
    fn no_frame_is_lost_or_changed(steps in prop::collection::vec((0u8..5, 14usize..=FRAME_MAX), 0..200)) {
        let mut machine = Machine::new();
        let mut sent = std::collections::VecDeque::new();
        for (tag, (kind, length)) in steps.into_iter().enumerate() {
            match kind {
                0..2 if sent.len() < WAITING_MAX => {
                    let frame = frame(1, 0, length, tag as u8);
                    prop_assert_eq!(machine.cards[0].send(&frame), Ok(()));
                    sent.push_back(frame);
                }
                2 => machine.cards[1].acknowledge().expect("sound"),
                _ => {
                    if let Some(frame) = machine.receive(1) {
                        prop_assert_eq!(Some(frame), sent.pop_front());
                    }
                }
            }
        }
        machine.cards[1].acknowledge().expect("sound");
        while let Some(frame) = machine.receive(1) {
            prop_assert_eq!(Some(frame), sent.pop_front());
        }
        prop_assert!(sent.is_empty());
    }

    #[test]
    fn a_hostile_device_does_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        hostile(&bytes);
    }
}
