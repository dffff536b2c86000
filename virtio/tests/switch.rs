//! A network switch: who receives what, and what a port may send.

mod driver;

use std::cell::RefCell;

use driver::{AVAILABLE, BASE, BUFFERS, DESCRIPTORS, Kept, MEMORY, Mortal, SIZE, USED, window};
use proptest::prelude::*;
use tactus_virtio::memory::Memory as _;
use tactus_virtio::mmio::{Port, register};
use tactus_virtio::switch::{
    Address, Bucket, Card, Counters, FRAME_MAX, PortSettings, Switch, WAITING_MAX,
};

const HZ: u32 = 1000;
const ALL: Address = [0xff; 6];

const fn address(port: u8) -> Address {
    [2, 0, 0, 0, 0, port]
}

fn settings(port: u8, vlan: u16) -> PortSettings {
    PortSettings {
        address: address(port),
        vlan,
        bytes: Bucket::new(0, 0, HZ),
        group_frames: Bucket::new(0, 0, HZ),
    }
}

/// Ports 0 to 2 of one VLAN, and 3 of another.
fn switch() -> Box<Switch> {
    let mut switch = Box::new(Switch::new());
    for (port, vlan) in [(0, 1), (1, 1), (2, 1), (3, 2)] {
        assert!(switch.add(port.into(), settings(port, vlan)));
    }
    switch
}

fn frame(to: Address, from: Address, length: usize) -> Vec<u8> {
    let mut frame = vec![0; length];
    frame[..6].copy_from_slice(&to);
    frame[6..12].copy_from_slice(&from);
    frame[12] = 8;
    frame
}

#[test]
fn a_frame_goes_where_its_address_is() {
    let mut switch = switch();
    switch.send(0, &frame(address(1), address(0), 60));
    assert_eq!(switch.take_woken(), 0b10);
    // For its own port, for one of another VLAN, and for none.
    for to in [address(0), address(3), address(9)] {
        switch.send(0, &frame(to, address(0), 60));
        assert_eq!(switch.take_woken(), 0);
    }
    switch.send(0, &frame(ALL, address(0), 60));
    // Port 1 has frames already, and was told so.
    assert_eq!(switch.take_woken(), 0b100);
    let counters = switch.counters(0);
    assert_eq!((counters.sent, counters.refused), (2, 3));
}

/// No port takes what is another's by sending from its address.
#[test]
fn an_address_stays_with_its_port() {
    let mut switch = switch();
    switch.send(2, &frame(address(0), address(1), 60));
    assert_eq!((switch.take_woken(), switch.counters(2).refused), (0, 1));
    // An address of no port is the first one's that sends from it; a port may have four.
    for extra in 20..24 {
        switch.send(0, &frame(address(1), address(extra), 60));
    }
    switch.send(0, &frame(address(1), address(24), 60));
    assert_eq!(
        switch.counters(0),
        Counters {
            sent: 4,
            refused: 1,
            ..Counters::default()
        }
    );
    let _ = switch.take_woken();
    switch.send(1, &frame(address(20), address(1), 60));
    assert_eq!(switch.take_woken(), 0b1);
    switch.send(2, &frame(address(1), address(20), 60));
    assert_eq!(switch.counters(2).refused, 2);
}

#[test]
fn what_is_no_frame_is_refused() {
    let mut switch = switch();
    let mut tagged = frame(address(1), address(0), 60);
    (tagged[12], tagged[13]) = (0x81, 0);
    for refused in [
        Vec::new(),
        vec![0; 13],
        frame(address(1), address(0), FRAME_MAX + 1),
        frame(address(1), ALL, 60),
        tagged,
    ] {
        switch.send(0, &refused);
    }
    assert_eq!(
        switch.counters(0),
        Counters {
            refused: 5,
            ..Counters::default()
        }
    );
    assert_eq!(switch.take_woken(), 0);
}

#[test]
fn a_port_that_takes_nothing_loses_frames_alone() {
    let mut switch = switch();
    for _ in 0..WAITING_MAX + 5 {
        switch.send(0, &frame(ALL, address(0), 60));
    }
    assert_eq!([1, 2].map(|port| switch.counters(port).lost), [5, 5]);
    assert_eq!(switch.counters(0).lost, 0);
}

#[test]
fn a_port_keeps_to_its_rates() {
    let mut switch = Box::new(Switch::new());
    let limited = PortSettings {
        bytes: Bucket::new(6000, 600, HZ),
        group_frames: Bucket::new(10, 2, HZ),
        ..settings(0, 1)
    };
    assert!(switch.add(0, limited) && switch.add(1, settings(1, 1)));
    // 6,000 bytes in a second are 60 in a hundredth.
    let sent = |switch: &Switch| switch.counters(0).sent;
    (0..20).for_each(|_| switch.send(0, &frame(address(1), address(0), 60)));
    assert_eq!(sent(&switch), 10);
    switch.set_time(u64::from(HZ) / 100);
    (0..20).for_each(|_| switch.send(0, &frame(address(1), address(0), 60)));
    assert_eq!(sent(&switch), 11);
    switch.set_time(10 * u64::from(HZ));
    (0..9).for_each(|_| switch.send(0, &frame(ALL, address(0), 60)));
    assert_eq!(sent(&switch), 13);
}

/// Two drivers, each with its card: a frame of the first is in the memory of the second when that has looked.
#[test]
fn a_driver_receives_in_its_own_time() {
    let switch = RefCell::new(switch());
    let switch: &RefCell<Switch> = Box::leak(Box::new(RefCell::new(*switch.into_inner())));
    let memories = [0, 1].map(|_| window(MEMORY, BASE));
    let mut cards = [0, 1].map(|number| {
        Port::new(
            Card::new(switch, number),
            Mortal::new(memories[number]),
            Kept::default(),
        )
    });
    for (card, memory) in cards.iter_mut().zip(memories) {
        let mut write = |offset, value: u64| {
            card.access(offset, 4, Some(value));
        };
        write(register::DRIVER_FEATURES_SELECT, 1);
        write(register::DRIVER_FEATURES, 1);
        write(register::STATUS, 11);
        for queue in [0, 1u64] {
            write(register::QUEUE_SELECT, queue);
            write(register::QUEUE_SIZE, SIZE.into());
            write(register::QUEUE_DESCRIPTORS, DESCRIPTORS + 0x400 * queue);
            write(register::QUEUE_AVAILABLE, AVAILABLE + 0x400 * queue);
            write(register::QUEUE_USED, USED + 0x400 * queue);
            write(register::QUEUE_READY, 1);
        }
        write(register::STATUS, 15);
        // A buffer of 2 KiB in each queue: for the device to write, and to read.
        for (queue, writable) in [(0, 2u64), (1, 0)] {
            let at = DESCRIPTORS + 0x400 * queue;
            let length = if writable == 0 { 12 + 60 } else { 2048 };
            memory
                .write(at, &(BUFFERS + 0x800 * queue).to_le_bytes())
                .expect("within");
            memory
                .write(at + 8, &(length | writable << 32).to_le_bytes())
                .expect("within");
        }
    }
    let [left, right] = &mut cards;
    memories[0]
        .write(BUFFERS + 0x800 + 12, &frame(address(1), address(0), 60))
        .expect("within");
    memories[0]
        .store_index(AVAILABLE + 0x400 + 2, 1)
        .expect("within");
    memories[1].store_index(AVAILABLE + 2, 1).expect("within");
    left.access(register::QUEUE_NOTIFY, 4, Some(1));
    assert_eq!(switch.borrow_mut().take_woken(), 0b10);
    // Nothing of it is in the other driver's memory before that makes an access.
    assert_eq!(memories[1].load_index(USED + 2), Ok(0));
    assert_eq!(right.access(register::INTERRUPT_STATUS, 4, None).value, 1);
    let mut received = [0; 12 + 60];
    memories[1].read(BUFFERS, &mut received).expect("within");
    assert_eq!(received[12..], frame(address(1), address(0), 60));
    assert_eq!(memories[1].load_index(USED + 2), Ok(1));
}

proptest! {
    /// Whatever a port sends, no other one receives what is for a third.
    #[test]
    fn no_port_sees_what_is_for_another(
        frames in prop::collection::vec((0..5usize, 0..6u8, 0..6u8, 0..70usize), 0..100),
    ) {
        let mut switch = switch();
        for (port, to, from, length) in frames {
            let from = if length % 3 == 0 { address(port as u8) } else { address(from) };
            let frame = frame(address(to), from, length.max(14));
            switch.send(port, &frame);
            // A frame for a port's own address wakes no other port; the rest is addresses of no port at first.
            let woken = switch.take_woken();
            if to < 4 {
                prop_assert_eq!(woken & !(1 << to), 0);
            } else {
                prop_assert!(woken.count_ones() <= 1);
            }
        }
    }
}
