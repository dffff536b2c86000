//! Message queue at the receiving end of a channel between two VMs.
//!
//! A slot is free, being written by a sender, full, or being read by a receiver. A copy takes a while, and the vCPU
//! that copies may be interrupted or stopped for good. So the mailbox records which vCPU owns which slot. A vCPU owns
//! at most one slot of a mailbox, or waits in at most one of its queues. Waiting vCPUs are served by priority, and
//! first in, first out within a priority. A slot that becomes free, or full, is assigned to the first waiting vCPU at
//! once: while one waits, no slot is available.
//!
//! All senders are of one VM, all receivers of another. Every operation takes at most a few steps for each waiting
//! vCPU.

use crate::ready::Handle;
use crate::table::Array;
use tactus_abi::blob::limit;

/// The result of [`Mailbox::receive`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// No message is available.
    Nothing,
    /// A message for the caller to copy; then it calls [`Mailbox::vacate`].
    Message {
        /// Its slot.
        slot: usize,
        /// Its length in bytes.
        length: u32,
    },
    /// The first message is longer than the caller accepts. It stays queued.
    TooLong {
        /// Its length in bytes.
        length: u32,
        /// A waiting vCPU that has been assigned the message, and is to be woken.
        wake: Option<Handle>,
    },
}

/// The actions after a vCPU has released a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// A message has arrived in an empty queue: the doorbell is to be rung.
    pub first: bool,
    /// A waiting vCPU that has been assigned the slot, and is to be woken.
    pub wake: Option<Handle>,
}

/// A mailbox.
pub struct Mailbox {
    /// By slot: length and priority of its message.
    lengths: Array<u32, { limit::MESSAGES }>,
    priorities: Array<u8, { limit::MESSAGES }>,
    /// Free slots, as bits.
    free: u64,
    /// Full slots.
    full: Queue,
    /// vCPUs that wait for a free slot, ordered by the priority of their message.
    senders: Queue,
    /// vCPUs that wait for a message.
    receivers: Queue,
    /// By vCPU: the slot that it owns, plus one; 0: none.
    held: Array<u8, { limit::VCPUS }>,
}

impl Mailbox {
    /// An empty mailbox with `messages` slots, at most [`limit::MESSAGES`].
    pub const fn new(messages: u32) -> Self {
        Self {
            lengths: Array([0; limit::MESSAGES]),
            priorities: Array([0; limit::MESSAGES]),
            free: ((1u128 << messages) - 1) as u64,
            full: Queue::new(),
            senders: Queue::new(),
            receivers: Queue::new(),
            held: Array([0; limit::VCPUS]),
        }
    }

    /// Assigns a slot to a vCPU that sends a message of `length` bytes. The vCPU writes the slot and then calls
    /// [`Mailbox::deliver`]. `None`: no slot is free; if it `waits`, it is queued, and calls again when it is woken or
    /// its timeout is over.
    pub fn send(&mut self, vcpu: Handle, length: u32, priority: u8, waits: bool) -> Option<usize> {
        let mut held = self.slot_of(vcpu);
        if held.is_none() && self.free != 0 {
            let slot = self.free.trailing_zeros() as usize;
            self.free &= self.free - 1;
            self.assign(vcpu, slot);
            held = Some(slot);
        }
        match held {
            Some(slot) => (self.lengths[slot], self.priorities[slot]) = (length, priority),
            None => self.senders.set_waiting(vcpu, priority, waits),
        }
        held
    }

    /// Assigns the first message to a vCPU that receives at most `capacity` bytes. If there is none and it `waits`, it
    /// is queued, and calls again when it is woken or its timeout is over.
    pub fn receive(&mut self, vcpu: Handle, capacity: u64, waits: bool) -> Received {
        if let Some(slot) = self.release_slot(vcpu) {
            // It was woken with this one; a more urgent one may have arrived since.
            self.full
                .insert(slot as Handle, self.priorities[slot], true);
        }
        let Some(slot) = self.full.pop() else {
            self.receivers.set_waiting(vcpu, 0, waits);
            return Received::Nothing;
        };
        let slot = usize::from(slot);
        self.assign(vcpu, slot);
        let length = self.lengths[slot];
        if u64::from(length) > capacity {
            let Outcome { wake, .. } = self.deliver(vcpu, true);
            return Received::TooLong { length, wake };
        }
        Received::Message { slot, length }
    }

    /// Releases a vCPU's slot with a message in it: a sender has written it; or (`still`) the receiver does not take
    /// it, or does not wait for one any more.
    pub fn deliver(&mut self, vcpu: Handle, still: bool) -> Outcome {
        self.receivers.remove(vcpu);
        let mut outcome = Outcome::default();
        if let Some(slot) = self.release_slot(vcpu) {
            outcome.first = self.full.is_empty();
            outcome.wake = self.receivers.pop();
            match outcome.wake {
                Some(vcpu) => self.assign(vcpu, slot),
                // Behind the others of its priority, or back to its position before them.
                None => self
                    .full
                    .insert(slot as Handle, self.priorities[slot], still),
            }
        }
        outcome
    }

    /// Releases a vCPU's slot without a message in it: the message has been received; or the sender gives up, or does
    /// not wait for a slot any more.
    pub fn vacate(&mut self, vcpu: Handle) -> Outcome {
        self.senders.remove(vcpu);
        let mut outcome = Outcome::default();
        if let Some(slot) = self.release_slot(vcpu) {
            outcome.wake = self.senders.pop();
            match outcome.wake {
                Some(vcpu) => self.assign(vcpu, slot),
                None => self.free |= 1 << slot,
            }
        }
        outcome
    }

    fn slot_of(&self, vcpu: Handle) -> Option<usize> {
        usize::from(self.held[usize::from(vcpu)]).checked_sub(1)
    }

    fn assign(&mut self, vcpu: Handle, slot: usize) {
        self.held[vcpu as usize] = slot as u8 + 1;
    }

    fn release_slot(&mut self, vcpu: Handle) -> Option<usize> {
        let slot = self.slot_of(vcpu);
        self.held[usize::from(vcpu)] = 0;
        slot
    }
}

/// Slots or vCPUs by priority, first in, first out within a priority. Meant for a few entries: operations are linear,
/// and need a tenth of the memory and code of the scheduler's queues.
struct Queue {
    count: usize,
    /// In reverse order: the first to be removed is the last.
    entries: [Entry; limit::VCPUS],
}

/// Priority (upper half) and handle (lower half).
#[derive(Clone, Copy)]
struct Entry(u32);

impl Entry {
    const fn new(handle: Handle, priority: u8) -> Self {
        Self((priority as u32) << 16 | handle as u32)
    }

    const fn handle(self) -> Handle {
        self.0 as Handle
    }

    const fn priority(self) -> u8 {
        (self.0 >> 16) as u8
    }
}

impl Queue {
    const fn new() -> Self {
        Self {
            count: 0,
            entries: [Entry(0); limit::VCPUS],
        }
    }

    const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Inserts a handle that is not queued: behind the others of its priority, or before them.
    #[inline(never)]
    fn insert(&mut self, handle: Handle, priority: u8, before: bool) {
        let mut at = self.count;
        // At most one step for each in the queue.
        while at > 0 && at < limit::VCPUS {
            let other = self.entries[at - 1];
            if other.priority() < priority || before && other.priority() == priority {
                break;
            }
            self.entries[at] = other;
            at -= 1;
        }
        if let Some(entry) = self.entries.get_mut(at) {
            *entry = Entry::new(handle, priority);
            self.count += 1;
        }
    }

    fn pop(&mut self) -> Option<Handle> {
        self.count = self.count.checked_sub(1)?;
        self.entries.get(self.count).map(|entry| entry.handle())
    }

    fn position(&self, handle: Handle) -> Option<usize> {
        let entries = self.entries.get(..self.count)?;
        entries.iter().position(|entry| entry.handle() == handle)
    }

    /// Removes a handle, if it is queued.
    #[inline(never)]
    fn remove(&mut self, handle: Handle) {
        if let Some(mut at) = self.position(handle) {
            self.count -= 1;
            // At most one step for each in the queue.
            while at < self.count && at + 1 < limit::VCPUS {
                self.entries[at] = self.entries[at + 1];
                at += 1;
            }
        }
    }

    /// Queues a vCPU, which keeps its position if it is queued already; or removes it.
    #[inline(never)]
    fn set_waiting(&mut self, vcpu: Handle, priority: u8, waits: bool) {
        if !waits {
            self.remove(vcpu);
        } else if self.position(vcpu).is_none() {
            self.insert(vcpu, priority, false);
        }
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

    /// The state of a vCPU: the model of the hypervisor's half.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Vcpu {
        Idle,
        /// Copies to this slot.
        Sends(Message, usize),
        SendWaits(Message),
        /// Copies from this slot: length, and bytes copied so far.
        Receives(usize, u32, u32),
        ReceiveWaits(u64),
    }

    #[derive(Clone, Copy, Debug)]
    enum Step {
        /// Starts a call, if it is idle: `priority` and `length` of a message, or a capacity.
        Begin(Handle, u8, u32, bool),
        /// Copies some bytes, and completes the call after the last.
        Run(Handle, u32),
        /// Its timeout is over.
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

    fn highest(queue: &Queue) -> Option<u8> {
        queue.entries[..queue.count]
            .last()
            .map(|entry| entry.priority())
    }

    /// A mailbox and the model of its contents.
    struct World {
        mailbox: Mailbox,
        slots: u32,
        vcpus: [Vcpu; VCPUS as usize],
        woken: BTreeSet<Handle>,
        /// By slot: the message that each of its bytes belongs to.
        contents: BTreeMap<usize, Vec<u64>>,
        /// Delivered messages not yet received, in order of delivery.
        sent: Vec<Message>,
        calls: u64,
        /// A receiver has returned a message: the order within a priority may have changed.
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
                    self.continue_sending(vcpu, message, slot, 0)
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
        fn continue_sending(
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
                    .filter_map(|vcpu| self.mailbox.slot_of(vcpu))
                    .any(|slot| self.contents[&slot].first() == Some(&message.number))
        }

        fn receive(&mut self, vcpu: Handle, capacity: u64, waits: bool) -> Vcpu {
            let before = self.mailbox.slot_of(vcpu);
            match self.mailbox.receive(vcpu, capacity, waits) {
                Received::Nothing => {
                    assert!(self.mailbox.full.is_empty());
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
                    assert!(highest(&self.mailbox.full) <= Some(priority));
                    // The one that it was woken with is back before the others, and another receiver may have one of
                    // those.
                    self.put_back |= before.is_some_and(|before| before != slot);
                    self.continue_receiving(vcpu, slot, length, 0, 0)
                }
            }
        }

        /// Copies up to so many bytes.
        fn continue_receiving(
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
            let wake = self.mailbox.vacate(vcpu).wake;
            self.wake(wake);
            Vcpu::Idle
        }

        fn run(&mut self, vcpu: Handle, bytes: u32) {
            let woken = self.woken.remove(&vcpu);
            let next = match self.vcpus[usize::from(vcpu)] {
                Vcpu::Sends(message, slot) => self.continue_sending(vcpu, message, slot, bytes),
                Vcpu::Receives(slot, length, done) => {
                    self.continue_receiving(vcpu, slot, length, done, bytes)
                }
                Vcpu::SendWaits(message) if woken => self.send(vcpu, message, true),
                Vcpu::ReceiveWaits(capacity) if woken => self.receive(vcpu, capacity, true),
                other => other,
            };
            self.vcpus[usize::from(vcpu)] = next;
        }

        fn abandon(&mut self, vcpu: Handle) {
            let wake = if vcpu < SENDERS {
                self.mailbox.vacate(vcpu).wake
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

        /// Each slot has one state, and while a vCPU waits no slot is available.
        fn check(&self) {
            let held: Vec<usize> = (0..VCPUS).filter_map(|v| self.mailbox.slot_of(v)).collect();
            for slot in 0..self.slots as usize {
                let free = self.mailbox.free >> slot & 1 != 0;
                let full = self.mailbox.full.position(slot as Handle).is_some();
                let held = held.iter().filter(|held| **held == slot).count();
                assert_eq!(usize::from(free) + usize::from(full) + held, 1);
            }
            assert_eq!(self.mailbox.free >> (self.slots - 1) >> 1, 0);
            for (vcpu, state) in (0..).zip(self.vcpus) {
                let queued = [&self.mailbox.senders, &self.mailbox.receivers]
                    .map(|queue| queue.position(vcpu).is_some());
                let holds = self.mailbox.slot_of(vcpu).is_some();
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
            if !self.mailbox.senders.is_empty() {
                assert_eq!(self.mailbox.free, 0);
            }
            if !self.mailbox.receivers.is_empty() {
                assert!(self.mailbox.full.is_empty());
            }
        }

        /// All vCPUs give up; then all delivered messages are received, and every slot is free.
        fn finish(&mut self) {
            for vcpu in 0..VCPUS {
                self.abandon(vcpu);
                self.check();
            }
            while !self.sent.is_empty() {
                if let Vcpu::Receives(slot, length, _) = self.receive(SENDERS, 10, false) {
                    self.continue_receiving(SENDERS, slot, length, length, 0);
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

    /// Sends an empty message of this priority, and returns its slot.
    fn post(mailbox: &mut Mailbox, vcpu: Handle, priority: u8) -> usize {
        let slot = mailbox.send(vcpu, 0, priority, false);
        mailbox.deliver(vcpu, false);
        slot.expect("there is room")
    }

    fn take(mailbox: &mut Mailbox, vcpu: Handle) -> (usize, Option<Handle>) {
        let Received::Message { slot, .. } = mailbox.receive(vcpu, 0, false) else {
            panic!("there is one");
        };
        (slot, mailbox.vacate(vcpu).wake)
    }

    #[test]
    fn messages_are_ordered_by_priority_then_fifo() {
        let mut mailbox = Mailbox::new(64);
        let slots = [5, 255, 0, 5, 255, 7].map(|priority| post(&mut mailbox, 1, priority));
        for expected in [1, 4, 5, 0, 3, 2] {
            assert_eq!(take(&mut mailbox, 2), (slots[expected], None));
        }
        assert_eq!(mailbox.receive(2, 0, false), Received::Nothing);
    }

    #[test]
    fn only_the_first_message_rings_the_doorbell() {
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
        // It waits already: it keeps its position.
        assert_eq!(mailbox.send(1, 0, 3, true), None);
        for expected in [2, 1, 3] {
            assert_eq!(take(&mut mailbox, 4).1, Some(expected));
            // Others do not get the slot assigned to it.
            assert_eq!(mailbox.send(0, 0, 255, false), None);
            post(&mut mailbox, expected, 1);
        }
    }

    #[test]
    fn more_urgent_message_overtakes_the_one_assigned_to_a_woken_receiver() {
        let mut mailbox = Mailbox::new(4);
        assert_eq!(mailbox.receive(4, 0, true), Received::Nothing);
        let low = post(&mut mailbox, 0, 1);
        let high = post(&mut mailbox, 0, 2);
        assert_eq!(take(&mut mailbox, 4).0, high);
        assert_eq!(take(&mut mailbox, 4).0, low);
    }

    #[test]
    fn message_that_is_too_long_stays_queued() {
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
