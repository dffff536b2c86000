//! Messages copied between two VMs: the queue at the receiving end of a channel.
//!
//! A slot is free, being written by a sender, full, or being read by a receiver. Copying takes a while, and whoever copies may be
//! interrupted, or stopped for good; so the mailbox knows which vCPU has which slot. A vCPU has at most one slot of a mailbox, or
//! waits in at most one of its queues. Those who wait are served by priority, and among equals the first to come first: a slot that
//! becomes free, or full, is theirs at once, so that while one waits there is none to be had.
//!
//! The vCPUs that send are of one VM, those that receive of another. Every operation takes at most a few steps for each that waits.

use crate::ready::Handle;
use crate::table::Array;
use tactus_abi::blob::limit;

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

/// What follows when a vCPU is done with a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// A message has come, and none was waiting: the doorbell is to be rung.
    pub first: bool,
    /// A vCPU that waits has the slot now, and is to be woken.
    pub wake: Option<Handle>,
}

/// A mailbox.
pub struct Mailbox {
    /// By slot: its message's bytes, and priority.
    lengths: Array<u32, { limit::MESSAGES }>,
    priorities: Array<u8, { limit::MESSAGES }>,
    /// Free slots, as bits.
    free: u64,
    /// Full slots.
    full: Queue,
    /// vCPUs that wait for a free slot, by the priority of their message.
    senders: Queue,
    /// vCPUs that wait for a message.
    receivers: Queue,
    /// By vCPU: the slot that it writes or reads, plus one; 0: none.
    held: Array<u8, { limit::VCPUS }>,
}

impl Mailbox {
    /// An empty mailbox for so many messages, at most [`limit::MESSAGES`].
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

    /// A vCPU wants to send a message of so many bytes: the slot that it is to write, after which it calls [`Mailbox::deliver`]. `None`: there
    /// is none; if it `waits`, it is in the queue, and asks again when it is woken or its time is over.
    pub fn send(&mut self, vcpu: Handle, length: u32, priority: u8, waits: bool) -> Option<usize> {
        let mut held = self.held(vcpu);
        if held.is_none() && self.free != 0 {
            let slot = self.free.trailing_zeros() as usize;
            self.free &= self.free - 1;
            self.hold(vcpu, slot);
            held = Some(slot);
        }
        match held {
            Some(slot) => (self.lengths[slot], self.priorities[slot]) = (length, priority),
            None => self.senders.wait(vcpu, priority, waits),
        }
        held
    }

    /// A vCPU wants to receive a message of at most `capacity` bytes. If there is none and it `waits`, it is in the queue, and asks again
    /// when it is woken or its time is over.
    pub fn receive(&mut self, vcpu: Handle, capacity: u64, waits: bool) -> Received {
        if let Some(slot) = self.let_go(vcpu) {
            // It was woken with this one; meanwhile one may have come that goes first.
            self.full
                .insert(slot as Handle, self.priorities[slot], true);
        }
        let Some(slot) = self.full.pop() else {
            self.receivers.wait(vcpu, 0, waits);
            return Received::Nothing;
        };
        let slot = usize::from(slot);
        self.hold(vcpu, slot);
        let length = self.lengths[slot];
        if u64::from(length) > capacity {
            let Outcome { wake, .. } = self.deliver(vcpu, true);
            return Received::TooLong { length, wake };
        }
        Received::Message { slot, length }
    }

    /// There is a message in a vCPU's slot: all that it sends; or it is there `still`, as the vCPU that was to receive it does not, or no
    /// longer waits for any.
    pub fn deliver(&mut self, vcpu: Handle, still: bool) -> Outcome {
        self.receivers.remove(vcpu);
        let mut outcome = Outcome::default();
        if let Some(slot) = self.let_go(vcpu) {
            outcome.first = self.full.is_empty();
            outcome.wake = self.receivers.pop();
            match outcome.wake {
                Some(vcpu) => self.hold(vcpu, slot),
                // It goes behind the others of its priority, or back to its place before them.
                None => self
                    .full
                    .insert(slot as Handle, self.priorities[slot], still),
            }
        }
        outcome
    }

    /// There is no message in a vCPU's slot: it has been received; or the vCPU does not send it after all, or no longer waits for a slot.
    pub fn vacate(&mut self, vcpu: Handle) -> Outcome {
        self.senders.remove(vcpu);
        let mut outcome = Outcome::default();
        if let Some(slot) = self.let_go(vcpu) {
            outcome.wake = self.senders.pop();
            match outcome.wake {
                Some(vcpu) => self.hold(vcpu, slot),
                None => self.free |= 1 << slot,
            }
        }
        outcome
    }

    fn held(&self, vcpu: Handle) -> Option<usize> {
        usize::from(self.held[usize::from(vcpu)]).checked_sub(1)
    }

    fn hold(&mut self, vcpu: Handle, slot: usize) {
        self.held[vcpu as usize] = slot as u8 + 1;
    }

    fn let_go(&mut self, vcpu: Handle) -> Option<usize> {
        let slot = self.held(vcpu);
        self.held[usize::from(vcpu)] = 0;
        slot
    }
}

/// Slots or vCPUs by priority, first in, first out within one. Made for a few: what the scheduler's queues do in a fixed number of
/// steps takes one for each here, in a tenth of the memory and the code.
struct Queue {
    count: usize,
    /// The first to be taken is the last.
    entries: [Entry; limit::VCPUS],
}

/// The priority, and below it the handle, in one word.
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

    /// Puts in a handle that is not: behind the others of its priority, or before them.
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

    fn place(&self, handle: Handle) -> Option<usize> {
        let entries = self.entries.get(..self.count)?;
        entries.iter().position(|entry| entry.handle() == handle)
    }

    /// Takes a handle out, if it is in.
    #[inline(never)]
    fn remove(&mut self, handle: Handle) {
        if let Some(mut at) = self.place(handle) {
            self.count -= 1;
            // At most one step for each in the queue.
            while at < self.count && at + 1 < limit::VCPUS {
                self.entries[at] = self.entries[at + 1];
                at += 1;
            }
        }
    }

    /// Puts in a vCPU, which keeps its place if it is in already; or takes it out.
    #[inline(never)]
    fn wait(&mut self, vcpu: Handle, priority: u8, waits: bool) {
        if !waits {
            self.remove(vcpu);
        } else if self.place(vcpu).is_none() {
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

    fn highest(queue: &Queue) -> Option<u8> {
        queue.entries[..queue.count]
            .last()
            .map(|entry| entry.priority())
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
                    // The one that it was woken with is back before the others, and another receiver may have one of those.
                    self.put_back |= before.is_some_and(|before| before != slot);
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
            let wake = self.mailbox.vacate(vcpu).wake;
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

        /// Each slot is in one place, and while somebody waits there is nothing to be had.
        fn check(&self) {
            let held: Vec<usize> = (0..VCPUS).filter_map(|v| self.mailbox.held(v)).collect();
            for slot in 0..self.slots as usize {
                let free = self.mailbox.free >> slot & 1 != 0;
                let full = self.mailbox.full.place(slot as Handle).is_some();
                let held = held.iter().filter(|held| **held == slot).count();
                assert_eq!(usize::from(free) + usize::from(full) + held, 1);
            }
            assert_eq!(self.mailbox.free >> (self.slots - 1) >> 1, 0);
            for (vcpu, state) in (0..).zip(self.vcpus) {
                let queued = [&self.mailbox.senders, &self.mailbox.receivers]
                    .map(|queue| queue.place(vcpu).is_some());
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
            if !self.mailbox.senders.is_empty() {
                assert_eq!(self.mailbox.free, 0);
            }
            if !self.mailbox.receivers.is_empty() {
                assert!(self.mailbox.full.is_empty());
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
        (slot, mailbox.vacate(vcpu).wake)
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
