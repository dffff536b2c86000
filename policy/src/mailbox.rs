//! Messages copied between two VMs: the queue at the receiving end of a channel.
//!
//! A slot is free, being written by a sender, full, or being read by a receiver. Copying takes a while and may be interrupted, for good
//! too; so the mailbox knows which vCPU has which slot, and how far it is, and whoever copies comes back to it with the same call. A vCPU
//! has at most one slot of a mailbox, and waits in at most one of its queues. Those who wait are served by priority, the first to
//! come first: a slot that becomes free, or full, is theirs at once, so that while one waits there is none to be had.
//!
//! Every operation takes a fixed number of steps. The vCPUs that send are of one VM, those that receive of another.

use crate::ready::{BitmapQueue, Handle, ReadyQueue};
use tactus_abi::blob::limit;

/// Of vCPUs, or of slots: with the scheduler's queues they have one size, and so one code.
type Queue = BitmapQueue<{ limit::VCPUS }>;

/// What a vCPU without a slot holds.
const NONE: u8 = u8::MAX;

/// A message that a caller sends, as the call says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Where it is, in the caller's memory.
    pub address: u64,
    /// Its length in bytes.
    pub length: u32,
    /// Higher first.
    pub priority: u8,
}

/// A copy to be made, or to be continued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The slot.
    pub slot: usize,
    /// Bytes of the message.
    pub length: u32,
    /// Bytes copied already.
    pub done: u32,
}

/// What a caller that wants to receive gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// There is no message.
    Nothing,
    /// This one; see [`Mailbox::received`].
    Message(Transfer),
    /// The first message has so many bytes, more than the caller takes. It stays; the vCPU, if any, that waits and now has it is to be
    /// woken.
    TooLong(u32, Option<Handle>),
}

/// What a complete message brings about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// None was waiting: the doorbell is to be rung.
    pub first: bool,
    /// A vCPU that waits for it, to be woken.
    pub wake: Option<Handle>,
}

#[derive(Clone, Copy)]
struct Slot {
    message: Message,
    /// Where its reader wants it.
    to: u64,
    done: u32,
}

/// A mailbox.
pub struct Mailbox {
    slots: [Slot; limit::MESSAGES],
    /// Free slots, as bits.
    free: u64,
    /// Full slots.
    full: Queue,
    /// vCPUs that wait for a free slot, by the priority of their message.
    senders: Queue,
    /// vCPUs that wait for a message.
    receivers: Queue,
    /// By vCPU: the slot that it writes or reads, or [`NONE`].
    held: [u8; limit::VCPUS],
}

impl Mailbox {
    /// An empty mailbox for so many messages, 1 to [`limit::MESSAGES`].
    pub const fn new(messages: u32) -> Self {
        assert!(0 < messages && messages as usize <= limit::MESSAGES);
        let nothing = Message {
            address: 0,
            length: 0,
            priority: 0,
        };
        Self {
            slots: [Slot {
                message: nothing,
                to: 0,
                done: 0,
            }; limit::MESSAGES],
            free: u64::MAX >> (64 - messages),
            full: Queue::new(),
            senders: Queue::new(),
            receivers: Queue::new(),
            held: [NONE; limit::VCPUS],
        }
    }

    /// A vCPU calls to send, perhaps again. `None`: there is no slot; if it `waits`, it is in the queue for one.
    pub fn send(&mut self, vcpu: Handle, message: Message, waits: bool) -> Option<Transfer> {
        let slot = match self.held(vcpu) {
            Some(slot) => slot,
            None if self.free != 0 => {
                let slot = self.free.trailing_zeros() as usize;
                self.free &= self.free - 1;
                self.hold(vcpu, slot);
                slot
            }
            None => {
                if !waits {
                    self.senders.remove(vcpu);
                } else if self.senders.priority(vcpu) != Some(message.priority) {
                    self.senders.remove(vcpu);
                    self.senders.insert_tail(vcpu, message.priority);
                }
                return None;
            }
        };
        let place = &mut self.slots[slot];
        if place.message != message || place.done == 0 {
            // The vCPU makes another call than the one that was interrupted; or its first.
            place.message = message;
            place.done = 0;
        }
        Some(self.transfer(slot))
    }

    /// All of a vCPU's message is in its slot.
    pub fn sent(&mut self, vcpu: Handle) -> Option<Arrival> {
        let slot = self.let_go(vcpu)?;
        let first = self.full.highest().is_none();
        let priority = self.slots[slot].message.priority;
        Some(Arrival {
            first,
            wake: self.deliver(slot, |full| full.insert_tail(slot as Handle, priority)),
        })
    }

    /// A vCPU calls to receive, perhaps again, up to `capacity` bytes, which are to be written to its address `to`. If there
    /// is nothing and it `waits`, it is in the queue.
    pub fn receive(&mut self, vcpu: Handle, to: u64, capacity: u64, waits: bool) -> Received {
        let mut held = self.held(vcpu);
        if let Some(slot) = held {
            let Slot { message, done, .. } = self.slots[slot];
            let begun = done != 0 && self.slots[slot].to == to;
            if !begun && self.full.highest() > Some(message.priority) {
                // One has come that goes before it.
                self.let_go(vcpu);
                self.full.insert_head(slot as Handle, message.priority);
                held = None;
            } else if !begun {
                self.slots[slot].done = 0;
            }
        }
        let slot = match held {
            Some(slot) => slot,
            None => match self.full.pop() {
                Some(slot) => {
                    self.receivers.remove(vcpu);
                    self.hold(vcpu, usize::from(slot));
                    usize::from(slot)
                }
                None => {
                    if !waits {
                        self.receivers.remove(vcpu);
                    } else if self.receivers.priority(vcpu).is_none() {
                        self.receivers.insert_tail(vcpu, 0);
                    }
                    return Received::Nothing;
                }
            },
        };
        let transfer = self.transfer(slot);
        if u64::from(transfer.length) > capacity {
            return Received::TooLong(transfer.length, self.abandon_receive(vcpu));
        }
        self.slots[slot].to = to;
        Received::Message(transfer)
    }

    /// All of a message has been copied to a vCPU that receives. A vCPU that waits for the slot is to be woken.
    pub fn received(&mut self, vcpu: Handle) -> Option<Handle> {
        let slot = self.let_go(vcpu)?;
        self.vacate(slot)
    }

    /// A vCPU is interrupted when it has copied so many bytes.
    pub fn pause(&mut self, vcpu: Handle, done: u32) {
        if let Some(slot) = self.held(vcpu) {
            self.slots[slot].done = done;
        }
    }

    /// A vCPU does not send after all. Another one that waits, and has its slot now, is to be woken.
    pub fn abandon_send(&mut self, vcpu: Handle) -> Option<Handle> {
        self.senders.remove(vcpu);
        let slot = self.let_go(vcpu)?;
        self.vacate(slot)
    }

    /// A vCPU does not receive after all. Another one that waits, and has its message now, is to be woken.
    pub fn abandon_receive(&mut self, vcpu: Handle) -> Option<Handle> {
        self.receivers.remove(vcpu);
        let slot = self.let_go(vcpu)?;
        let priority = self.slots[slot].message.priority;
        self.deliver(slot, |full| full.insert_head(slot as Handle, priority))
    }

    fn held(&self, vcpu: Handle) -> Option<usize> {
        match self.held[usize::from(vcpu)] {
            NONE => None,
            slot => Some(usize::from(slot)),
        }
    }

    fn hold(&mut self, vcpu: Handle, slot: usize) {
        self.held[usize::from(vcpu)] = slot as u8;
        self.slots[slot].done = 0;
    }

    fn let_go(&mut self, vcpu: Handle) -> Option<usize> {
        let slot = self.held(vcpu);
        self.held[usize::from(vcpu)] = NONE;
        slot
    }

    fn transfer(&self, slot: usize) -> Transfer {
        let Slot { message, done, .. } = self.slots[slot];
        Transfer {
            slot,
            length: message.length,
            done,
        }
    }

    /// A full slot goes to a receiver that waits, or to the queue.
    fn deliver(&mut self, slot: usize, queue: impl FnOnce(&mut Queue)) -> Option<Handle> {
        let receiver = self.receivers.pop();
        match receiver {
            Some(vcpu) => self.hold(vcpu, slot),
            None => queue(&mut self.full),
        }
        receiver
    }

    /// An empty slot goes to a sender that waits, or is free.
    fn vacate(&mut self, slot: usize) -> Option<Handle> {
        let sender = self.senders.pop();
        match sender {
            Some(vcpu) => self.hold(vcpu, slot),
            None => self.free |= 1 << slot,
        }
        sender
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};
    use std::vec::Vec;

    const SENDERS: Handle = 4;
    const VCPUS: Handle = 7;

    /// What a vCPU does: the other half of the hypervisor.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Vcpu {
        Idle,
        Sends(Message),
        SendWaits(Message),
        Receives(u64),
        ReceiveWaits(u64),
    }

    #[derive(Clone, Copy, Debug)]
    enum Step {
        /// Begins something, if it is idle: `priority` and `length` of a message, or a capacity.
        Begin(Handle, u8, u32, bool),
        /// Goes on for a while, and completes the call if it has all.
        Run(Handle, u32),
        /// Another call from an interrupt handler, before the interrupted one is made again.
        Interject(Handle, u8, u32),
        /// Its time is over.
        TimeOut(Handle),
        /// It is stopped.
        Kill(Handle),
    }

    fn step() -> impl Strategy<Value = Step> {
        let vcpu = 0..VCPUS;
        let (priority, length) = (0u8..3, 0u32..4);
        prop_oneof![
            6 => (vcpu.clone(), priority.clone(), length.clone(), any::<bool>())
                .prop_map(|(v, p, l, w)| Step::Begin(v, p, l, w)),
            8 => (vcpu.clone(), 0u32..4).prop_map(|(v, n)| Step::Run(v, n)),
            1 => (vcpu.clone(), priority, length).prop_map(|(v, p, l)| Step::Interject(v, p, l)),
            1 => vcpu.clone().prop_map(Step::TimeOut),
            1 => vcpu.prop_map(Step::Kill),
        ]
    }

    /// Mailbox, and what is true of it.
    struct World {
        mailbox: Mailbox,
        slots: u32,
        vcpus: [Vcpu; VCPUS as usize],
        woken: BTreeSet<Handle>,
        /// Of each slot: the call that wrote each of its bytes.
        contents: BTreeMap<usize, Vec<u64>>,
        /// Complete messages not yet received: number of the call that sent it, and the message.
        sent: Vec<(u64, Message)>,
        calls: u64,
        /// By vCPU, the number of its present call.
        number: [u64; VCPUS as usize],
        /// A receiver has put a message back: those of one priority may have changed places.
        put_back: bool,
    }

    impl World {
        fn new(slots: u32) -> Self {
            Self {
                mailbox: Mailbox::new(slots),
                slots,
                vcpus: [Vcpu::Idle; VCPUS as usize],
                woken: BTreeSet::new(),
                contents: BTreeMap::new(),
                sent: Vec::new(),
                calls: 0,
                number: [0; VCPUS as usize],
                put_back: false,
            }
        }

        fn wake(&mut self, vcpu: Option<Handle>) {
            let Some(vcpu) = vcpu else { return };
            let waits = matches!(
                self.vcpus[usize::from(vcpu)],
                Vcpu::SendWaits(_) | Vcpu::ReceiveWaits(_)
            );
            assert!(waits, "{vcpu} is woken and does not wait");
            self.woken.insert(vcpu);
        }

        /// Makes the call; `budget`: bytes that it copies before it is interrupted.
        fn send(&mut self, vcpu: Handle, message: Message, waits: bool, budget: u32) -> Vcpu {
            let Some(transfer) = self.mailbox.send(vcpu, message, waits) else {
                assert_eq!(self.mailbox.free, 0);
                return if waits {
                    Vcpu::SendWaits(message)
                } else {
                    Vcpu::Idle
                };
            };
            assert_eq!(transfer.length, message.length);
            let number = self.number[usize::from(vcpu)];
            let bytes = self.contents.entry(transfer.slot).or_default();
            bytes.truncate(transfer.done as usize);
            let end = transfer.length.min(transfer.done + budget);
            bytes.resize(end as usize, number);
            if end < transfer.length {
                self.mailbox.pause(vcpu, end);
                return Vcpu::Sends(message);
            }
            assert!(bytes.iter().all(|byte| *byte == number), "of two calls");
            let arrival = self.mailbox.sent(vcpu).expect("it has a slot");
            self.sent.push((number, message));
            self.wake(arrival.wake);
            Vcpu::Idle
        }

        fn receive(&mut self, vcpu: Handle, capacity: u64, waits: bool, budget: u32) -> Vcpu {
            let before = self.mailbox.held(vcpu);
            match self.mailbox.receive(vcpu, capacity, capacity, waits) {
                Received::Nothing => {
                    assert_eq!(self.mailbox.full.highest(), None);
                    assert_eq!(before, None);
                    if waits {
                        Vcpu::ReceiveWaits(capacity)
                    } else {
                        Vcpu::Idle
                    }
                }
                Received::TooLong(length, wake) => {
                    assert!(u64::from(length) > capacity);
                    self.put_back = true;
                    self.wake(wake);
                    Vcpu::Idle
                }
                Received::Message(transfer) => {
                    let priority = self.mailbox.slots[transfer.slot].message.priority;
                    if transfer.done == 0 {
                        assert!(
                            self.mailbox.full.highest() <= Some(priority),
                            "not the first"
                        );
                    }
                    let end = transfer.length.min(transfer.done + budget);
                    if end < transfer.length {
                        self.mailbox.pause(vcpu, end);
                        return Vcpu::Receives(capacity);
                    }
                    let bytes = &self.contents[&transfer.slot];
                    let found = self
                        .sent
                        .iter()
                        .position(|(number, message)| {
                            message.length == transfer.length
                                && message.priority == priority
                                && bytes.iter().all(|byte| byte == number)
                        })
                        .expect("it was sent, and not received before");
                    let (number, message) = self.sent.remove(found);
                    let mut others = (SENDERS..VCPUS).filter(|other| *other != vcpu);
                    let one_receiver =
                        others.all(|other| self.vcpus[usize::from(other)] == Vcpu::Idle);
                    if one_receiver && !self.put_back {
                        let like = |(_, of): &(u64, Message)| of.priority == message.priority;
                        let older = self.sent[..found].iter().any(like);
                        assert!(!older, "{number} before one that came first");
                    }
                    let wake = self.mailbox.received(vcpu);
                    self.wake(wake);
                    Vcpu::Idle
                }
            }
        }

        fn message(&mut self, vcpu: Handle, priority: u8, length: u32) -> Message {
            self.calls += 1;
            self.number[usize::from(vcpu)] = self.calls;
            Message {
                address: self.calls,
                length,
                priority,
            }
        }

        fn run(&mut self, vcpu: Handle, budget: u32) {
            let waits = self.woken.remove(&vcpu);
            let next = match self.vcpus[usize::from(vcpu)] {
                Vcpu::Sends(message) => self.send(vcpu, message, true, budget),
                Vcpu::Receives(capacity) => self.receive(vcpu, capacity, true, budget),
                Vcpu::SendWaits(message) if waits => self.send(vcpu, message, true, budget),
                Vcpu::ReceiveWaits(capacity) if waits => self.receive(vcpu, capacity, true, budget),
                other => other,
            };
            self.vcpus[usize::from(vcpu)] = next;
        }

        fn abandon(&mut self, vcpu: Handle) {
            let wake = if vcpu < SENDERS {
                self.mailbox.abandon_send(vcpu)
            } else {
                self.put_back = true;
                self.mailbox.abandon_receive(vcpu)
            };
            self.vcpus[usize::from(vcpu)] = Vcpu::Idle;
            self.woken.remove(&vcpu);
            self.wake(wake);
        }

        fn step(&mut self, step: Step) {
            match step {
                Step::Begin(vcpu, priority, length, waits) => {
                    if self.vcpus[usize::from(vcpu)] != Vcpu::Idle {
                        return;
                    }
                    self.vcpus[usize::from(vcpu)] = if vcpu < SENDERS {
                        let message = self.message(vcpu, priority, length);
                        self.send(vcpu, message, waits, 1)
                    } else {
                        self.receive(vcpu, length.into(), waits, 1)
                    };
                }
                Step::Run(vcpu, budget) => self.run(vcpu, budget),
                Step::Interject(vcpu, priority, length) => {
                    // The interrupted call is made again afterwards, with a number of its own: the copy begins anew.
                    let Vcpu::Sends(interrupted) = self.vcpus[usize::from(vcpu)] else {
                        return;
                    };
                    let number = self.number[usize::from(vcpu)];
                    let message = self.message(vcpu, priority, length);
                    self.vcpus[usize::from(vcpu)] = self.send(vcpu, message, false, u32::MAX);
                    assert_eq!(self.vcpus[usize::from(vcpu)], Vcpu::Idle, "it had a slot");
                    self.number[usize::from(vcpu)] = number;
                    self.vcpus[usize::from(vcpu)] = self.send(vcpu, interrupted, true, 0);
                }
                Step::TimeOut(vcpu) => match self.vcpus[usize::from(vcpu)] {
                    Vcpu::SendWaits(message) => {
                        self.woken.remove(&vcpu);
                        self.vcpus[usize::from(vcpu)] = self.send(vcpu, message, false, 1);
                    }
                    Vcpu::ReceiveWaits(capacity) => {
                        self.woken.remove(&vcpu);
                        self.vcpus[usize::from(vcpu)] = self.receive(vcpu, capacity, false, 1);
                    }
                    _ => {}
                },
                Step::Kill(vcpu) => self.abandon(vcpu),
            }
            self.check();
        }

        /// Each slot is in one place, and while somebody waits there is nothing to be had.
        fn check(&self) {
            let held: Vec<usize> = (0..VCPUS).filter_map(|v| self.mailbox.held(v)).collect();
            for slot in 0..self.slots as usize {
                let free = self.mailbox.free >> slot & 1 != 0;
                let full = self.mailbox.full.priority(slot as Handle).is_some();
                let held = held.iter().filter(|held| **held == slot).count();
                assert_eq!(usize::from(free) + usize::from(full) + held, 1);
            }
            assert_eq!(self.mailbox.free >> (self.slots - 1) >> 1, 0);
            for (vcpu, state) in (0..).zip(self.vcpus) {
                let queued = [&self.mailbox.senders, &self.mailbox.receivers]
                    .map(|queue| queue.priority(vcpu).is_some());
                let holds = self.mailbox.held(vcpu).is_some();
                match state {
                    Vcpu::Idle => assert!(!holds && queued == [false; 2]),
                    Vcpu::Sends(_) | Vcpu::Receives(_) => assert!(holds && queued == [false; 2]),
                    Vcpu::SendWaits(_) | Vcpu::ReceiveWaits(_) => {
                        assert_eq!(holds, self.woken.contains(&vcpu), "{vcpu} waits for ever");
                        assert_eq!(
                            queued,
                            [!holds && vcpu < SENDERS, !holds && vcpu >= SENDERS]
                        );
                    }
                }
            }
            if self.mailbox.senders.highest().is_some() {
                assert_eq!(self.mailbox.free, 0);
            }
            if self.mailbox.receivers.highest().is_some() {
                assert_eq!(self.mailbox.full.highest(), None);
            }
        }

        /// Everybody finishes or gives up; then everything that was sent is received, and every slot is free.
        fn finish(&mut self) {
            for vcpu in 0..VCPUS {
                self.abandon(vcpu);
                self.check();
            }
            while !self.sent.is_empty() {
                assert_eq!(self.receive(SENDERS, 10, false, u32::MAX), Vcpu::Idle);
            }
            assert_eq!(self.mailbox.free.count_ones(), self.slots);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        #[test]
        fn nothing_is_lost_torn_or_leaked(
            slots in 1u32..5,
            steps in prop::collection::vec(step(), 1..120),
        ) {
            let mut world = World::new(slots);
            for step in steps {
                world.step(step);
            }
            world.finish();
        }
    }

    fn message(address: u64, priority: u8) -> Message {
        Message {
            address,
            length: 0,
            priority,
        }
    }

    #[test]
    fn higher_priorities_come_first_and_equal_ones_in_order() {
        let mut mailbox = Mailbox::new(64);
        for (number, priority) in [5, 255, 0, 5, 255, 7].into_iter().enumerate() {
            let message = message(number as u64, priority);
            mailbox.send(1, message, false).expect("there is room");
            let arrival = mailbox.sent(1).expect("it has a slot");
            assert_eq!(arrival.first, number == 0);
        }
        for expected in [1, 4, 5, 0, 3, 2] {
            let Received::Message(transfer) = mailbox.receive(2, 0, 0, false) else {
                panic!("there is one");
            };
            assert_eq!(mailbox.slots[transfer.slot].message.address, expected);
            assert_eq!(mailbox.received(2), None);
        }
        assert_eq!(mailbox.receive(2, 0, 0, false), Received::Nothing);
    }

    #[test]
    fn waiting_senders_are_served_by_priority() {
        let mut mailbox = Mailbox::new(1);
        mailbox.send(0, message(0, 0), false).expect("room");
        mailbox.sent(0);
        for (vcpu, priority) in [(1, 3), (2, 9), (3, 3)] {
            assert_eq!(mailbox.send(vcpu, message(9, priority), true), None);
        }
        // It waits already: it keeps its place.
        assert_eq!(mailbox.send(1, message(9, 3), true), None);
        for expected in [2, 1, 3] {
            assert!(matches!(
                mailbox.receive(4, 0, 0, false),
                Received::Message(_)
            ));
            assert_eq!(mailbox.received(4), Some(expected));
            // Others do not get what is kept for it.
            assert_eq!(mailbox.send(0, message(5, 255), false), None);
            mailbox.send(expected, message(9, 1), false).expect("kept");
            mailbox.sent(expected);
        }
    }

    #[test]
    fn what_is_too_long_stays() {
        let mut mailbox = Mailbox::new(2);
        let long = Message {
            address: 1,
            length: 100,
            priority: 0,
        };
        mailbox.send(0, long, false).expect("room");
        mailbox.sent(0);
        assert_eq!(
            mailbox.receive(4, 0, 99, false),
            Received::TooLong(100, None)
        );
        assert!(matches!(
            mailbox.receive(4, 0, 100, false),
            Received::Message(Transfer { length: 100, .. })
        ));
    }
}
