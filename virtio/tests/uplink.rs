//! The uplink of a switch: what leaves by it, who receives what comes by it, and a card that lies.

mod driver;

use std::cell::Cell;

use driver::window;
use proptest::prelude::*;
use tactus_virtio::memory::{Memory, Window};
use tactus_virtio::passed::Bell;
use tactus_virtio::queue::{Chain, Queue};
use tactus_virtio::switch::{Address, Bucket, FRAME_MAX, PORTS, PortSettings, Switch};
use tactus_virtio::uplink::{
    ENTRIES, INBOX, INBOX_MAX, Inbox, MEMORY, RECEIVE, Receiver, Sender, Settings, TRANSMIT,
    Target, parts,
};

const DMA: u64 = 0x9000_0000;
const HZ: u32 = 1000;
const ALL: Address = [0xff; 6];
/// A station behind the uplink.
const OUTER: Address = [0x52, 0x55, 10, 0, 2, 2];

thread_local! {
    static RUNG: Cell<u32> = const { Cell::new(0) };
}

#[derive(Debug)]
struct Counting;

impl Bell for Counting {
    fn ring(&self) {
        RUNG.set(RUNG.get() + 1);
    }
}

const fn address(port: u8) -> Address {
    [2, 0, 0, 0, 0, port]
}

const FREE: Bucket = Bucket::new(0, 0, HZ);

/// The card: what it has sent, and its queues.
struct Card {
    memory: Window,
    queues: [Queue; 2],
}

impl Card {
    fn new(memory: Window) -> Self {
        let queue = |number| {
            let parts = parts(DMA, number);
            Queue {
                size: ENTRIES,
                ready: true,
                descriptors: parts.descriptors,
                available: parts.available,
                used: parts.used,
                next: 0,
            }
        };
        Self {
            memory,
            queues: [queue(RECEIVE), queue(TRANSMIT)],
        }
    }

    /// Sends the next frame that is to be sent.
    fn send(&mut self) -> Option<Vec<u8>> {
        let mut chain = Chain::EMPTY;
        let queue = &mut self.queues[usize::from(TRANSMIT)];
        if !queue.peek(&self.memory, &mut chain).expect("in order") {
            return None;
        }
        let [buffer] = *chain.buffers() else {
            panic!("one buffer");
        };
        assert!(!buffer.writable);
        let mut frame = vec![0; buffer.length as usize];
        self.memory
            .read(buffer.address, &mut frame)
            .expect("within");
        let interrupts = queue.complete(&self.memory, &chain, 0);
        assert_eq!(interrupts, Ok(false));
        assert_eq!(frame[..12], [0; 12]);
        Some(frame.split_off(12))
    }

    /// Receives a frame. `false`: it has no buffer.
    fn receive(&mut self, frame: &[u8]) -> bool {
        let mut chain = Chain::EMPTY;
        let queue = &mut self.queues[usize::from(RECEIVE)];
        if !queue.peek(&self.memory, &mut chain).expect("in order") {
            return false;
        }
        let [buffer] = *chain.buffers() else {
            panic!("one buffer");
        };
        assert!(buffer.writable && buffer.length as usize >= 12 + FRAME_MAX);
        self.memory
            .write(buffer.address + 12, frame)
            .expect("within");
        let written = 12 + frame.len() as u32;
        queue
            .complete(&self.memory, &chain, written)
            .expect("within");
        true
    }
}

/// Ports 0 and 1 of the uplink's VLAN, and 2 of another.
struct Machine {
    switch: Box<Switch>,
    receiver: Receiver,
    inboxes: [Inbox<Window>; 3],
    card: Card,
}

impl Machine {
    fn new(bytes: Bucket, group_frames: Bucket) -> Self {
        let memory = window(MEMORY.next_multiple_of(8), DMA);
        let inboxes = window((INBOX * PORTS).next_multiple_of(8), 0);
        let mut switch = Box::new(Switch::new());
        let mut targets = [None; PORTS];
        for (number, vlan) in [(0, 1), (1, 1), (2, 2)] {
            let settings = PortSettings {
                address: address(number),
                vlan,
                bytes: FREE,
                group_frames: FREE,
            };
            let number = usize::from(number);
            assert!(switch.add(number, settings));
            targets[number] = Some(Target {
                address: settings.address,
                vlan,
                inbox: Inbox::new(inboxes.part(number * INBOX, INBOX)),
            });
        }
        let sender = Sender::new(memory, DMA, &Counting).expect("within");
        let settings = Settings {
            vlan: 1,
            bytes,
            group_frames,
        };
        let receiver = Receiver::new(memory, DMA, &Counting, settings, targets).expect("within");
        let all = targets.map(|target| target.map(|target| target.inbox));
        switch.add_uplink(sender, 1, all);
        Self {
            switch,
            receiver,
            inboxes: [0, 1, 2].map(|number| all[number].expect("three")),
            card: Card::new(memory),
        }
    }

    fn free() -> Self {
        Self::new(FREE, FREE)
    }

    /// What waits for the ports.
    fn taken(&self) -> [usize; 3] {
        self.inboxes.map(|inbox| {
            let mut frame = [0; FRAME_MAX];
            (0..).map_while(|_| inbox.pop(&mut frame)).count()
        })
    }
}

fn frame(to: Address, from: Address, length: usize) -> Vec<u8> {
    let mut frame = vec![0x5a; length];
    frame[..6].copy_from_slice(&to);
    frame[6..12].copy_from_slice(&from);
    frame[12] = 8;
    frame
}

#[test]
fn what_is_for_no_port_leaves() {
    let mut machine = Machine::free();
    let out = frame(OUTER, address(0), FRAME_MAX);
    machine.switch.send(0, &out);
    assert_eq!(machine.card.send(), Some(out));
    // To a port, and to all.
    machine.switch.send(0, &frame(address(1), address(0), 60));
    assert_eq!(
        (machine.card.send(), machine.switch.take_woken()),
        (None, 2)
    );
    let all = frame(ALL, address(1), 60);
    machine.switch.send(1, &all);
    assert_eq!(
        (machine.card.send(), machine.switch.take_woken()),
        (Some(all), 1)
    );
    // Of another VLAN.
    machine.switch.send(2, &frame(OUTER, address(2), 60));
    machine.switch.send(2, &frame(ALL, address(2), 60));
    assert_eq!(machine.card.send(), None);
    assert_eq!(machine.switch.counters(2).refused, 1);
}

/// A port has its own address alone: none of a station behind the uplink, and none besides.
#[test]
fn a_port_has_no_other_address() {
    let mut machine = Machine::free();
    for from in [OUTER, address(1), address(7)] {
        machine.switch.send(0, &frame(address(1), from, 60));
        machine.switch.send(0, &frame(OUTER, from, 60));
    }
    assert_eq!(
        (machine.card.send(), machine.switch.take_woken()),
        (None, 0)
    );
    assert_eq!(machine.switch.counters(0).refused, 6);
    // What comes from a port's address is not from there.
    assert!(machine.card.receive(&frame(address(1), address(0), 60)));
    assert_eq!(machine.receiver.receive(0), (0, false));
    assert_eq!(machine.receiver.counters().refused, 1);
}

#[test]
fn each_port_receives_what_is_for_it() {
    let mut machine = Machine::free();
    for (to, woken, taken) in [
        (address(0), 0b01, [1, 0, 0]),
        (address(1), 0b10, [0, 1, 0]),
        (ALL, 0b11, [1, 1, 0]),
        (address(2), 0, [0, 0, 0]),
        (address(9), 0, [0, 0, 0]),
    ] {
        assert!(machine.card.receive(&frame(to, OUTER, 60)));
        assert_eq!(machine.receiver.receive(0), (woken, false), "{to:x?}");
        assert_eq!(machine.taken(), taken, "{to:x?}");
    }
    let mut tagged = frame(address(0), OUTER, 60);
    (tagged[12], tagged[13]) = (0x81, 0);
    for refused in [tagged, frame(address(0), ALL, 60), vec![2; 13], Vec::new()] {
        assert!(machine.card.receive(&refused));
        assert_eq!(machine.receiver.receive(0), (0, false));
    }
    let whole = frame(address(0), OUTER, FRAME_MAX);
    assert!(machine.card.receive(&whole));
    assert_eq!(machine.receiver.receive(0), (1, false));
    let mut found = [0; FRAME_MAX];
    assert_eq!(machine.inboxes[0].pop(&mut found), Some(FRAME_MAX));
    assert_eq!(found[..], whole);
}

/// A port that takes nothing loses what is for it, and the other one nothing; buffers come back to the card.
#[test]
fn a_port_that_takes_nothing_delays_no_other_one() {
    let mut machine = Machine::free();
    for _ in 0..10 * ENTRIES {
        assert!(machine.card.receive(&frame(address(0), OUTER, 60)));
        assert_eq!(machine.receiver.receive(0).0, 1);
    }
    assert!(machine.card.receive(&frame(address(1), OUTER, 60)));
    assert_eq!(machine.receiver.receive(0).0, 2);
    let lost = u32::from(10 * ENTRIES - INBOX_MAX);
    assert_eq!(machine.receiver.counters().lost, lost);
    assert_eq!(machine.taken(), [INBOX_MAX.into(), 1, 0]);
}

/// So many frames at once are as many as the card has buffers for, and are taken in one step.
#[test]
fn a_step_is_bounded() {
    let mut machine = Machine::free();
    for _ in 0..ENTRIES {
        assert!(machine.card.receive(&frame(address(9), OUTER, 60)));
    }
    assert!(!machine.card.receive(&frame(address(9), OUTER, 60)));
    assert_eq!(machine.receiver.receive(0), (0, true));
    assert_eq!(machine.receiver.receive(0), (0, false));
    assert_eq!(machine.receiver.counters().refused, ENTRIES.into());
}

#[test]
fn an_uplink_keeps_to_its_rates() {
    let mut machine = Machine::new(Bucket::new(6000, 600, HZ), Bucket::new(10, 2, HZ));
    let mut send = |to, now| {
        assert!(machine.card.receive(&frame(to, OUTER, 60)));
        machine.receiver.receive(now).0 != 0
    };
    assert_eq!((0..20).filter(|_| send(address(0), 0)).count(), 10);
    assert_eq!((0..20).filter(|_| send(ALL, 10_000)).count(), 2);
}

/// A card that sends nothing has no room for more, and the switch goes on.
#[test]
fn a_card_that_does_not_send_loses_frames() {
    let mut machine = Machine::free();
    for _ in 0..u32::from(ENTRIES) + 5 {
        machine.switch.send(0, &frame(OUTER, address(0), 60));
    }
    assert_eq!(machine.switch.lost_at_uplink(), 5);
    assert!(machine.card.send().is_some());
    machine.switch.send(0, &frame(OUTER, address(0), 60));
    assert_eq!(machine.switch.lost_at_uplink(), 5);
    machine.switch.send(0, &frame(address(1), address(0), 60));
    assert_eq!(machine.switch.take_woken(), 2);
}

proptest! {
    /// Whatever the card writes into its rings and buffers, no port but those of its VLAN gets anything, each step
    /// ends, and the switch sends.
    #[test]
    fn a_card_may_write_anything(
        writes in proptest::collection::vec((0..MEMORY as u64 - 8, any::<[u8; 8]>()), 0..40),
        indices in any::<[u16; 2]>(),
    ) {
        let mut machine = Machine::free();
        let memory = machine.card.memory;
        for (at, bytes) in writes {
            memory.write(DMA + at, &bytes).expect("within");
        }
        for (queue, index) in [RECEIVE, TRANSMIT].into_iter().zip(indices) {
            memory.store_index(parts(DMA, queue).used + 2, index).expect("within");
        }
        for _ in 0..3 {
            let (woken, _) = machine.receiver.receive(0);
            prop_assert_eq!(woken & !3, 0);
            machine.switch.send(0, &frame(OUTER, address(0), 60));
        }
        prop_assert_eq!(machine.taken()[2], 0);
    }

    /// Frames come out of an inbox as they went in.
    #[test]
    fn an_inbox_is_a_queue(steps in proptest::collection::vec((any::<bool>(), 0..=FRAME_MAX), 0..200)) {
        let inbox = Inbox::new(window(INBOX.next_multiple_of(8), 0));
        let mut wanted = std::collections::VecDeque::new();
        for (number, (pushes, length)) in steps.into_iter().enumerate() {
            if pushes {
                let frame = vec![number as u8; length];
                prop_assert_eq!(inbox.push(&frame), wanted.len() < INBOX_MAX.into());
                if wanted.len() < INBOX_MAX.into() {
                    wanted.push_back(frame);
                }
            } else {
                let mut frame = [0; FRAME_MAX];
                let length = inbox.pop(&mut frame);
                let found = length.map(|length| frame[..length].to_vec());
                prop_assert_eq!(found, wanted.pop_front());
            }
            prop_assert_eq!(inbox.is_empty(), wanted.is_empty());
        }
    }
}
