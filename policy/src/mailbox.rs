//! Messages copied between two VMs: the queue at the receiving end of a channel.
//!
//! A slot is free, being written by a sender, full, or being read by a receiver. Copying takes a while, and whoever copies may be
//! interrupted, or stopped for good; so the mailbox knows which vCPU has which slot. A vCPU has at most one slot of a mailbox, or
//! waits in at most one of its queues. Those who wait are served by priority, and among equals the first to come first: a slot that
//! becomes free, or full, is theirs at once, so that while one waits there is none to be had.
//!
//! Every operation takes a fixed number of steps. The vCPUs that send are of one VM, those that receive of another.

use crate::ready::{BitmapQueue, Handle, ReadyQueue};
use tactus_abi::blob::limit;

/// Of vCPUs, or of slots: with the scheduler's queues they have one size, and so one code.
type Queue = BitmapQueue<{ limit::VCPUS }>;

/// What a vCPU without a slot holds.
const NONE: u8 = u8::MAX;

/// What a caller that wants to receive gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// There is no message.
    Nothing,
    /// This one, to be copied; then [`Mailbox::vacate`] is called.
    Message {
        /// The slot it is in.
        slot: usize,
        /// Its bytes.
        length: u32,
    },
    /// The first message has more bytes than the caller takes. It stays.
    TooLong {
        /// How many.
        length: u32,
        /// Another vCPU that waits has it now, and is to be woken.
        wake: Option<Handle>,
    },
}

/// What a complete message brings about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// None was waiting: the doorbell is to be rung.
    pub first: bool,
    /// A vCPU that waits has it now, and is to be woken.
    pub wake: Option<Handle>,
}

/// A mailbox.
pub struct Mailbox {
    /// By slot: its message's bytes, and priority.
    lengths: [u32; limit::MESSAGES],
    priorities: [u8; limit::MESSAGES],
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
    /// An empty mailbox for so many messages, at most [`limit::MESSAGES`].
    pub fn new(messages: u32) -> Self {
        Self {
            lengths: [0; limit::MESSAGES],
            priorities: [0; limit::MESSAGES],
            free: ((1u128 << messages) - 1) as u64,
            full: empty(),
            senders: empty(),
            receivers: empty(),
            held: [NONE; limit::VCPUS],
        }
    }

    /// A vCPU wants to send a message of so many bytes: the slot that it is to write, after which it calls [`Mailbox::deliver`]. `None`: there
    /// is none; if it `waits`, it is in the queue, and asks again when it is woken or its time is over.
    pub fn send(&mut self, vcpu: Handle, length: u32, priority: u8, waits: bool) -> Option<usize> {
        let mut held = self.held(vcpu);
        if held.is_none() && self.free != 0 {
            let slot = self.free.trailing_zeros() as usize;
            self.free &= self.free - 1;
            self.held[usize::from(vcpu)] = slot as u8;
            held = Some(slot);
        }
        match held {
            Some(slot) => (self.lengths[slot], self.priorities[slot]) = (length, priority),
            None => wait(&mut self.senders, vcpu, priority, waits),
        }
        held
    }

    /// A vCPU wants to receive a message of at most `capacity` bytes. If there is none and it `waits`, it is in the queue, and asks again
    /// when it is woken or its time is over.
    pub fn receive(&mut self, vcpu: Handle, capacity: u64, waits: bool) -> Received {
        let mut held = self.held(vcpu);
        if let Some(slot) = held
            && self.full.highest() > Some(self.priorities[slot])
        {
            // One has come, since it was woken, that goes first.
            insert(&mut self.full, slot as Handle, self.priorities[slot], true);
            held = None;
        }
        let Some(slot) = held.or_else(|| self.full.pop().map(usize::from)) else {
            wait(&mut self.receivers, vcpu, 0, waits);
            return Received::Nothing;
        };
        self.held[usize::from(vcpu)] = slot as u8;
        let length = self.lengths[slot];
        if u64::from(length) > capacity {
            let Arrival { wake, .. } = self.deliver(vcpu, true);
            return Received::TooLong { length, wake };
        }
        Received::Message { slot, length }
    }

    /// A message is complete: all of it is in the slot of the vCPU that sends it; or it is there `still`, as the vCPU that was to receive
    /// it does not, or no longer waits for any.
    pub fn deliver(&mut self, vcpu: Handle, still: bool) -> Arrival {
        self.receivers.remove(vcpu);
        let mut arrival = Arrival {
            first: false,
            wake: None,
        };
        if let Some(slot) = self.let_go(vcpu) {
            arrival.first = self.full.highest().is_none();
            arrival.wake = self.receivers.pop();
            match arrival.wake {
                Some(vcpu) => self.held[usize::from(vcpu)] = slot as u8,
                // It goes behind the others of its priority, or back to its place before them.
                None => insert(&mut self.full, slot as Handle, self.priorities[slot], still),
            }
        }
        arrival
    }

    /// There is no message in a vCPU's slot: it has been received; or the vCPU does not send it after all, or no longer waits for a slot.
    /// Another vCPU that waits, and has the slot now, is to be woken.
    pub fn vacate(&mut self, vcpu: Handle) -> Option<Handle> {
        self.senders.remove(vcpu);
        let slot = self.let_go(vcpu)?;
        let sender = self.senders.pop();
        match sender {
            Some(vcpu) => self.held[usize::from(vcpu)] = slot as u8,
            None => self.free |= 1 << slot,
        }
        sender
    }

    fn held(&self, vcpu: Handle) -> Option<usize> {
        match self.held[usize::from(vcpu)] {
            NONE => None,
            slot => Some(usize::from(slot)),
        }
    }

    fn let_go(&mut self, vcpu: Handle) -> Option<usize> {
        let slot = self.held(vcpu);
        self.held[usize::from(vcpu)] = NONE;
        slot
    }
}

/// Puts a vCPU into a queue, where it keeps its place if it is there already; or takes it out.
fn wait(queue: &mut Queue, vcpu: Handle, priority: u8, waits: bool) {
    if !waits {
        queue.remove(vcpu);
    } else if !queue.contains(vcpu) {
        insert(queue, vcpu, priority, false);
    }
}

/// A queue with nothing in it. One piece of code for all of them, as `insert`.
#[inline(never)]
fn empty() -> Queue {
    Queue::new()
}

/// Puts a handle into a queue.
#[inline(never)]
fn insert(queue: &mut Queue, handle: Handle, priority: u8, head: bool) {
    if head {
        queue.insert_head(handle, priority);
    } else {
        queue.insert_tail(handle, priority);
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

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Message {
        number: u64,
        length: u32,
        priority: u8,
    }

    /// What a vCPU does: the other half of the hypervisor.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Vcpu {
        Idle,
        /// Copies to this slot.
        Sends(Message, usize),
        SendWaits(Message),
        /// Copies from this slot, and has so many bytes of so many.
        Receives(usize, u32, u32),
        ReceiveWaits(u64),
    }

    #[derive(Clone, Copy, Debug)]
    enum Step {
        /// Begins something, if it is idle: `priority` and `length` of a message, or a capacity.
        Begin(Handle, u8, u32, bool),
        /// Goes on for a while, and completes the call if it has all.
        Run(Handle, u32),
        /// Its time is over.
        TimeOut(Handle),
        /// It is stopped.
        Kill(Handle),
    }

    fn step() -> impl Strategy<Value = Step> {
        let vcpu = 0..VCPUS;
        let (priority, length) = (0u8..3, 0u32..4);
        prop_oneof![
            6 => (vcpu.clone(), priority, length, any::<bool>())
                .prop_map(|(v, p, l, w)| Step::Begin(v, p, l, w)),
            8 => (vcpu.clone(), 0u32..4).prop_map(|(v, n)| Step::Run(v, n)),
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
        /// Of each slot: the message that each of its bytes is of.
        contents: BTreeMap<usize, Vec<u64>>,
        /// Complete messages not yet received, in the order in which they became so.
        sent: Vec<Message>,
        calls: u64,
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

        fn send(&mut self, vcpu: Handle, message: Message, waits: bool) -> Vcpu {
            let Message {
                length, priority, ..
            } = message;
            match self.mailbox.send(vcpu, length, priority, waits) {
                Some(slot) => {
                    self.contents.insert(slot, Vec::new());
                    self.go_on_sending(vcpu, message, slot, 0)
                }
                None => {
                    assert_eq!(self.mailbox.free, 0);
                    if waits {
                        Vcpu::SendWaits(message)
                    } else {
                        Vcpu::Idle
                    }
                }
            }
        }

        /// Copies up to so many bytes.
        fn go_on_sending(
            &mut self,
            vcpu: Handle,
            message: Message,
            slot: usize,
            bytes: u32,
        ) -> Vcpu {
            let copy = self.contents.get_mut(&slot).expect("begun");
            let length = (copy.len() as u32 + bytes).min(message.length);
            copy.resize(length as usize, message.number);
            if length < message.length {
                return Vcpu::Sends(message, slot);
            }
            assert!(copy.iter().all(|byte| *byte == message.number));
            let arrival = self.mailbox.deliver(vcpu, false);
            assert!(!arrival.first || self.sent.iter().all(|other| self.is_held(other)));
            self.sent.push(message);
            self.wake(arrival.wake);
            Vcpu::Idle
        }

        /// Some receiver has the message already. Empty ones look alike, and count as held.
        fn is_held(&self, message: &Message) -> bool {
            message.length == 0
                || (SENDERS..VCPUS)
                    .filter_map(|vcpu| self.mailbox.held(vcpu))
                    .any(|slot| self.contents[&slot].first() == Some(&message.number))
        }

        fn receive(&mut self, vcpu: Handle, capacity: u64, waits: bool) -> Vcpu {
            let before = self.mailbox.held(vcpu);
            match self.mailbox.receive(vcpu, capacity, waits) {
                Received::Nothing => {
                    assert_eq!(self.mailbox.full.highest(), None);
                    assert_eq!(before, None);
                    if waits {
                        Vcpu::ReceiveWaits(capacity)
                    } else {
                        Vcpu::Idle
                    }
                }
                Received::TooLong { length, wake } => {
                    assert!(u64::from(length) > capacity);
                    self.put_back = true;
                    self.wake(wake);
                    Vcpu::Idle
                }
                Received::Message { slot, length } => {
                    assert!(u64::from(length) <= capacity);
                    let priority = self.mailbox.priorities[slot];
                    assert!(self.mailbox.full.highest() <= Some(priority));
                    self.go_on_receiving(vcpu, slot, length, 0, 0)
                }
            }
        }

        /// Copies up to so many bytes.
        fn go_on_receiving(
            &mut self,
            vcpu: Handle,
            slot: usize,
            length: u32,
            done: u32,
            bytes: u32,
        ) -> Vcpu {
            let done = length.min(done + bytes);
            if done < length {
                return Vcpu::Receives(slot, length, done);
            }
            let priority = self.mailbox.priorities[slot];
            let copy = &self.contents[&slot];
            let is_it = |message: &Message| {
                message.length == length
                    && message.priority == priority
                    && copy.iter().all(|byte| *byte == message.number)
            };
            let found = self.sent.iter().position(is_it);
            let found = found.expect("it was sent, and not received before");
            let mut others = (SENDERS..VCPUS).filter(|other| *other != vcpu);
            let one_receiver = others.all(|other| self.vcpus[usize::from(other)] == Vcpu::Idle);
            if one_receiver && !self.put_back {
                let mut before = self.sent[..found].iter();
                assert!(!before.any(|older| older.priority == priority), "order");
            }
            self.sent.remove(found);
            let wake = self.mailbox.vacate(vcpu);
            self.wake(wake);
            Vcpu::Idle
        }

        fn run(&mut self, vcpu: Handle, bytes: u32) {
            let woken = self.woken.remove(&vcpu);
            let next = match self.vcpus[usize::from(vcpu)] {
                Vcpu::Sends(message, slot) => self.go_on_sending(vcpu, message, slot, bytes),
                Vcpu::Receives(slot, length, done) => {
                    self.go_on_receiving(vcpu, slot, length, done, bytes)
                }
                Vcpu::SendWaits(message) if woken => self.send(vcpu, message, true),
                Vcpu::ReceiveWaits(capacity) if woken => self.receive(vcpu, capacity, true),
                other => other,
            };
            self.vcpus[usize::from(vcpu)] = next;
        }

        fn abandon(&mut self, vcpu: Handle) {
            let wake = if vcpu < SENDERS {
                self.mailbox.vacate(vcpu)
            } else {
                self.put_back = true;
                self.mailbox.deliver(vcpu, true).wake
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
                    self.calls += 1;
                    let message = Message {
                        number: self.calls,
                        length,
                        priority,
                    };
                    self.vcpus[usize::from(vcpu)] = if vcpu < SENDERS {
                        self.send(vcpu, message, waits)
                    } else {
                        self.receive(vcpu, length.into(), waits)
                    };
                }
                Step::Run(vcpu, budget) => self.run(vcpu, budget),
                Step::TimeOut(vcpu) => match self.vcpus[usize::from(vcpu)] {
                    Vcpu::SendWaits(message) => {
                        self.woken.remove(&vcpu);
                        self.vcpus[usize::from(vcpu)] = self.send(vcpu, message, false);
                    }
                    Vcpu::ReceiveWaits(capacity) => {
                        self.woken.remove(&vcpu);
                        self.vcpus[usize::from(vcpu)] = self.receive(vcpu, capacity, false);
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
                let full = self.mailbox.full.contains(slot as Handle);
                let held = held.iter().filter(|held| **held == slot).count();
                assert_eq!(usize::from(free) + usize::from(full) + held, 1);
            }
            assert_eq!(self.mailbox.free >> (self.slots - 1) >> 1, 0);
            for (vcpu, state) in (0..).zip(self.vcpus) {
                let queued = [&self.mailbox.senders, &self.mailbox.receivers]
                    .map(|queue| queue.contains(vcpu));
                let holds = self.mailbox.held(vcpu).is_some();
                match state {
                    Vcpu::Idle => assert!(!holds && queued == [false; 2]),
                    Vcpu::Sends(..) | Vcpu::Receives(..) => assert!(holds && queued == [false; 2]),
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
                if let Vcpu::Receives(slot, length, _) = self.receive(SENDERS, 10, false) {
                    self.go_on_receiving(SENDERS, slot, length, length, 0);
                }
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

    /// Sends an empty message of this priority, and tells its slot.
    fn post(mailbox: &mut Mailbox, vcpu: Handle, priority: u8) -> usize {
        let slot = mailbox.send(vcpu, 0, priority, false);
        mailbox.deliver(vcpu, false);
        slot.expect("there is room")
    }

    fn take(mailbox: &mut Mailbox, vcpu: Handle) -> (usize, Option<Handle>) {
        let Received::Message { slot, .. } = mailbox.receive(vcpu, 0, false) else {
            panic!("there is one");
        };
        (slot, mailbox.vacate(vcpu))
    }

    #[test]
    fn higher_priorities_come_first_and_equal_ones_in_order() {
        let mut mailbox = Mailbox::new(64);
        let slots = [5, 255, 0, 5, 255, 7].map(|priority| post(&mut mailbox, 1, priority));
        for expected in [1, 4, 5, 0, 3, 2] {
            assert_eq!(take(&mut mailbox, 2), (slots[expected], None));
        }
        assert_eq!(mailbox.receive(2, 0, false), Received::Nothing);
    }

    #[test]
    fn only_the_first_message_rings() {
        let mut mailbox = Mailbox::new(3);
        for first in [true, false, false] {
            mailbox.send(1, 0, 0, false).expect("there is room");
            assert_eq!(mailbox.deliver(1, false).first, first);
        }
    }

    #[test]
    fn waiting_senders_are_served_by_priority() {
        let mut mailbox = Mailbox::new(1);
        post(&mut mailbox, 0, 0);
        for (vcpu, priority) in [(1, 3), (2, 9), (3, 3)] {
            assert_eq!(mailbox.send(vcpu, 0, priority, true), None);
        }
        // It waits already: it keeps its place.
        assert_eq!(mailbox.send(1, 0, 3, true), None);
        for expected in [2, 1, 3] {
            assert_eq!(take(&mut mailbox, 4).1, Some(expected));
            // Others do not get what is kept for it.
            assert_eq!(mailbox.send(0, 0, 255, false), None);
            post(&mut mailbox, expected, 1);
        }
    }

    #[test]
    fn what_comes_while_a_receiver_wakes_goes_first_if_it_is_more_urgent() {
        let mut mailbox = Mailbox::new(4);
        assert_eq!(mailbox.receive(4, 0, true), Received::Nothing);
        let low = post(&mut mailbox, 0, 1);
        let high = post(&mut mailbox, 0, 2);
        assert_eq!(take(&mut mailbox, 4).0, high);
        assert_eq!(take(&mut mailbox, 4).0, low);
    }

    #[test]
    fn what_is_too_long_stays() {
        let mut mailbox = Mailbox::new(2);
        mailbox.send(0, 100, 0, false).expect("there is room");
        mailbox.deliver(0, false);
        let too_long = Received::TooLong {
            length: 100,
            wake: None,
        };
        assert_eq!(mailbox.receive(4, 99, false), too_long);
        assert!(matches!(
            mailbox.receive(4, 100, false),
            Received::Message { length: 100, .. }
        ));
    }
}
