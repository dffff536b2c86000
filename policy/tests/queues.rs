//! The queues against simple reference models.

use proptest::prelude::*;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use tactus_abi::blob;
use tactus_policy::deadline::Deadlines;
use tactus_policy::hardware::{Failure, Ports, Scheme, SystemQueue};
use tactus_policy::ready::{Handle, ListQueue, ReadyQueue};

const HANDLES: usize = 24;

#[derive(Clone, Copy, Debug)]
enum Operation {
    InsertHead(Handle, u8),
    InsertTail(Handle, u8),
    Remove(Handle),
    Pop,
    /// Pops the first handle with this remainder modulo three.
    PopWhere(Handle),
}

fn operation() -> impl Strategy<Value = Operation> {
    let handle = 0..HANDLES as Handle;
    // Few priorities, so that lists grow, and those at the ends and at the bitmap's word boundaries.
    let priority = prop::sample::select(vec![0, 1, 63, 64, 127, 128, 191, 192, 254, 255]);
    prop_oneof![
        (handle.clone(), priority.clone()).prop_map(|(h, p)| Operation::InsertHead(h, p)),
        (handle.clone(), priority).prop_map(|(h, p)| Operation::InsertTail(h, p)),
        handle.prop_map(Operation::Remove),
        Just(Operation::Pop),
        (0..3 as Handle).prop_map(Operation::PopWhere),
    ]
}

/// Handles in the order of their removal, with their priorities.
#[derive(Default)]
struct Model(Vec<(Handle, u8)>);

impl Model {
    fn holds(&self, handle: Handle) -> bool {
        self.0.iter().any(|(h, _)| *h == handle)
    }

    fn insert(&mut self, handle: Handle, priority: u8, head: bool) {
        let before = |other: u8| {
            if head {
                other > priority
            } else {
                other >= priority
            }
        };
        let place = self.0.iter().take_while(|(_, p)| before(*p)).count();
        self.0.insert(place, (handle, priority));
    }

    fn take(&mut self, fits: impl Fn(Handle) -> bool) -> Option<(Handle, u8)> {
        let place = self.0.iter().position(|(h, _)| fits(*h))?;
        Some(self.0.remove(place))
    }
}

/// A model of the fabric's queue, its registers and its doubleword, which completes each access at once and in order.
#[derive(Clone)]
struct Fabric(Rc<RefCell<State>>);

#[derive(Default)]
struct State {
    queue: Model,
    /// The handle after which the next read of `NEXT` continues.
    last_read: Option<Handle>,
    commands: u32,
    access: u32,
    words: [u32; 2],
    /// The failure, and the access of the page or the doubleword at which it begins.
    fault: Option<(u32, Fault)>,
    accesses: u32,
    /// A command in memory failed, by its answer.
    refused: bool,
    failed: Option<Failure>,
}

/// A failure of the fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// Reads of the page fail, and commands are ignored.
    BusError,
    /// Commands are ignored, but the state can be read.
    IgnoresCommands,
    /// The fabric returns vCPUs that are not queued: these bits of the first words are inverted.
    InvertsBits(u32),
    /// The fabric loses the first vCPU.
    LosesFirst,
}

/// A handle out of range; one that may be queued, but not at that priority; the right one, at another priority.
const INVERSIONS: [Fault; 3] = [
    Fault::InvertsBits(0x105),
    Fault::InvertsBits(0x2_0001),
    Fault::InvertsBits(0x1_0000),
];

impl Fault {
    /// The inverted bits of a first word.
    fn inverted_bits(broken: Option<Self>) -> u32 {
        match broken {
            Some(Self::InvertsBits(bits)) => bits,
            _ => 0,
        }
    }
}

impl State {
    fn first(&self) -> u32 {
        self.queue
            .0
            .first()
            .map_or(0, |&(handle, priority)| word(handle, priority))
    }

    /// Executes a command, numbered as in memory; returns its answer in the format of the page.
    fn command(&mut self, command: u32, priority: u8, handle: Handle) -> Option<u32> {
        self.commands = self.commands.wrapping_add(1);
        let taken = match command {
            0 | 1 if self.queue.holds(handle) => None,
            0 | 1 => {
                self.queue.insert(handle, priority, command == 1);
                Some((handle, priority))
            }
            2 => self.queue.take(|other| other == handle),
            3 => {
                let at = self
                    .queue
                    .0
                    .iter()
                    .position(|(h, _)| Some(*h) == self.last_read);
                self.queue.0.get(at? + 1).copied()
            }
            6 => self.queue.take(|_| true),
            7 => self.queue.0.first().copied(),
            _ => unreachable!("not used"),
        };
        if matches!(command, 3 | 7) {
            self.last_read = taken.map(|(handle, _)| handle);
        }
        self.update();
        taken.map(|(handle, priority)| word(handle, priority))
    }

    /// Updates the doubleword in memory.
    fn update(&mut self) {
        if self.access & 3 != 0 {
            self.words[1] = self.first();
        }
        if self.access & 3 == 1 {
            self.words[0] = self.commands;
        }
    }

    /// Counts an access; returns the failure, if the fabric has one by now.
    fn broken(&mut self) -> Option<Fault> {
        self.accesses += 1;
        let (from, how) = self.fault?;
        if self.accesses == from && how == Fault::LosesFirst {
            self.queue.take(|_| true);
            self.update();
        }
        (self.accesses >= from).then_some(how)
    }
}

const fn word(handle: Handle, priority: u8) -> u32 {
    1 << 31 | (priority as u32) << 16 | handle as u32
}

impl Ports for Fabric {
    fn read(&mut self, offset: u32) -> Option<u32> {
        let mut state = self.0.borrow_mut();
        let broken = state.broken();
        if broken == Some(Fault::BusError) {
            return None;
        }
        let answer = match offset {
            0x800 => state.command(6, 0, 0).unwrap_or(0),
            0x804 => state.command(7, 0, 0).unwrap_or(0),
            0x80c => state.command(3, 0, 0).unwrap_or(0),
            0x810 => return Some(0x5251_0001),
            0x814 => return Some(1024),
            0x818 => return Some(1),
            0x828 => return Some(state.commands),
            _ => panic!("a read of {offset:#x}"),
        };
        Some(answer ^ Fault::inverted_bits(broken))
    }

    fn write(&mut self, offset: u32, value: u32) {
        let mut state = self.0.borrow_mut();
        if matches!(
            state.broken(),
            Some(Fault::BusError | Fault::IgnoresCommands)
        ) {
            return;
        }
        let handle = value as Handle;
        match offset {
            0..0x800 => {
                state.command(offset >> 2 & 1, (offset >> 3) as u8, handle);
            }
            0x808 => {
                state.command(2, 0, handle);
            }
            0x81c => state.queue.0.clear(),
            0x820 => {
                state.access = value;
                state.update();
            }
            _ => panic!("a write of {offset:#x}"),
        }
    }

    fn settle(&mut self) {}

    fn load(&mut self) -> u64 {
        let mut state = self.0.borrow_mut();
        let inverted = Fault::inverted_bits(state.broken());
        let [lower, upper] = state.words;
        u64::from(upper ^ inverted) << 32 | u64::from(lower)
    }

    fn store(&mut self, word: usize, value: u32) {
        self.0.borrow_mut().words[word] = value;
    }

    fn publish(&mut self) {
        let state = &mut *self.0.borrow_mut();
        let broken = matches!(
            state.broken(),
            Some(Fault::BusError | Fault::IgnoresCommands)
        );
        let command = state.words[0];
        // With ACP the fabric waits for the event.
        if state.access & 3 == 3 && command >> 31 != 0 && !broken {
            state.fetch(command);
        }
    }

    fn event(&mut self) {
        let state = &mut *self.0.borrow_mut();
        let broken = matches!(
            state.broken(),
            Some(Fault::BusError | Fault::IgnoresCommands)
        );
        let command = state.words[0];
        assert_eq!(state.access & 3, 2, "only ACP has events");
        if command >> 31 != 0 && !broken {
            state.fetch(command);
        }
    }

    fn doubleword(&self) -> u32 {
        0x8000_0040
    }

    fn failed(&mut self, why: Failure) {
        let before = self.0.borrow_mut().failed.replace(why);
        assert_eq!(before, None, "it fails once");
    }
}

impl State {
    fn fetch(&mut self, command: u32) {
        let answer = self.command(command >> 28 & 7, (command >> 16) as u8, command as Handle);
        self.refused |= answer.is_none();
        // The answer for an absent vCPU, as far as the driver distinguishes it.
        self.words[0] = answer.map_or(3 << 28, |answer| answer & !(1 << 31));
    }
}

/// A queue of this kind, and its hardware, if it has any.
fn system_queue(kind: blob::ReadyQueue) -> (SystemQueue<Fabric, HANDLES>, Option<Fabric>) {
    let lists = match kind {
        blob::ReadyQueue::Linear => ListQueue::linear(),
        _ => ListQueue::bitmap(),
    };
    let mut queue = SystemQueue::software(lists);
    let fabric = Scheme::of(kind).map(|scheme| {
        let fabric = Fabric(Rc::default());
        // A vCPU from the system that ran before.
        fabric.0.borrow_mut().queue.insert(5, 9, false);
        queue.try_hardware(fabric.clone(), scheme);
        fabric
    });
    (queue, fabric)
}

/// Applies the operations to a queue and to a model, and asserts that all results agree.
///
/// If the hardware `may_fail`, only the set of the queued vCPUs must agree.
fn compare(
    queue: &mut SystemQueue<Fabric, HANDLES>,
    operations: &[Operation],
    may_fail: bool,
) -> Result<(), TestCaseError> {
    let mut model = Model::default();
    for operation in operations {
        let exact = !may_fail;
        match *operation {
            // The caller never queues a handle twice.
            Operation::InsertHead(h, _) | Operation::InsertTail(h, _) if model.holds(h) => {}
            Operation::InsertHead(h, p) => {
                queue.insert(h, p, true);
                model.insert(h, p, true);
            }
            Operation::InsertTail(h, p) => {
                queue.insert(h, p, false);
                model.insert(h, p, false);
            }
            Operation::Remove(h) => {
                prop_assert_eq!(queue.remove(h), model.take(|other| other == h).is_some());
            }
            Operation::Pop if exact => {
                prop_assert_eq!(queue.pop(), model.take(|_| true).map(|(h, _)| h));
            }
            Operation::PopWhere(class) if exact => {
                let mut fits = |h: Handle| h % 3 == class;
                prop_assert_eq!(queue.pop_where(&mut fits), model.take(fits));
            }
            Operation::Pop => {
                let popped = queue.pop();
                match popped {
                    Some(h) => prop_assert!(model.take(|other| other == h).is_some()),
                    None => prop_assert!(model.0.is_empty()),
                }
            }
            Operation::PopWhere(class) => {
                let popped = queue.pop_where(&mut |h| h % 3 == class);
                match popped {
                    Some(entry) => {
                        prop_assert_eq!(entry.0 % 3, class);
                        prop_assert_eq!(model.take(|other| other == entry.0), Some(entry));
                    }
                    None => prop_assert!(!model.0.iter().any(|(h, _)| h % 3 == class)),
                }
            }
        }
        if exact {
            prop_assert_eq!(queue.highest(), model.0.first().map(|(_, p)| *p));
        }
        let mut seen = Vec::new();
        queue.visit(&mut |handle| seen.push(handle));
        let mut there: Vec<Handle> = model.0.iter().map(|(h, _)| *h).collect();
        seen.sort_unstable();
        there.sort_unstable();
        prop_assert_eq!(seen, there);
    }
    while let Some(handle) = queue.pop() {
        prop_assert!(model.take(|other| other == handle).is_some());
    }
    prop_assert!(model.0.is_empty());
    Ok(())
}

proptest! {
    #[test]
    fn each_ready_queue_is_a_priority_queue(
        kind in prop::sample::select(blob::ReadyQueue::ALL.to_vec()),
        operations in prop::collection::vec(operation(), 0..200),
    ) {
        let (mut queue, fabric) = system_queue(kind);
        prop_assert_eq!(queue.is_in_hardware(), kind.is_in_hardware());
        compare(&mut queue, &operations, false)?;
        prop_assert_eq!(queue.is_in_hardware(), kind.is_in_hardware());
        prop_assert!(fabric.is_none_or(|fabric| fabric.0.borrow().failed.is_none()));
    }

    #[test]
    fn no_vcpu_is_lost_or_duplicated_when_the_hardware_fails(
        kind in prop::sample::select(blob::ReadyQueue::ALL[2..].to_vec()),
        operations in prop::collection::vec(operation(), 0..200),
        after in 0..300_u32,
        how in prop::sample::select([&[Fault::BusError, Fault::IgnoresCommands, Fault::LosesFirst], &INVERSIONS[..]].concat()),
    ) {
        let (mut queue, fabric) = system_queue(kind);
        let fabric = fabric.expect("in hardware");
        {
            let mut state = fabric.0.borrow_mut();
            state.fault = Some((state.accesses + 1 + after, how));
        }
        compare(&mut queue, &operations, true)?;
        let state = fabric.0.borrow();
        prop_assert_eq!(queue.is_in_hardware(), state.failed.is_none());
        prop_assert!(state.failed.is_some() || !state.refused);
    }

    #[test]
    fn hardware_that_does_not_work_is_not_used(
        kind in prop::sample::select(blob::ReadyQueue::ALL[2..].to_vec()),
        from in 1..8_u32,
        how in prop::sample::select([&[Fault::BusError, Fault::IgnoresCommands], &INVERSIONS[..]].concat()),
        operations in prop::collection::vec(operation(), 0..50),
    ) {
        let fabric = Fabric(Rc::default());
        fabric.0.borrow_mut().fault = Some((from, how));
        let mut queue = SystemQueue::software(ListQueue::bitmap());
        queue.try_hardware(fabric.clone(), Scheme::of(kind).expect("in hardware"));
        prop_assert!(!queue.is_in_hardware());
        prop_assert!(fabric.0.borrow().failed.is_some());
        compare(&mut queue, &operations, false)?;
    }

    #[test]
    fn deadlines_are_ordered(
        operations in prop::collection::vec((0..HANDLES as Handle, prop::option::of(0..50_u64)), 0..300),
        now in 0..60_u64,
    ) {
        let mut deadlines = Deadlines::<HANDLES>::new();
        let mut model = BTreeMap::new();
        for (handle, deadline) in operations {
            match deadline {
                Some(deadline) => {
                    deadlines.set(handle, deadline);
                    model.insert(handle, deadline);
                }
                None => {
                    deadlines.clear(handle);
                    model.remove(&handle);
                }
            }
            let (deadline, handle) = deadlines.earliest();
            prop_assert_eq!(deadline, model.values().min().copied().unwrap_or(u64::MAX));
            prop_assert_eq!(deadlines.is_empty(), model.is_empty());
            if !model.is_empty() {
                prop_assert_eq!(model.get(&handle), Some(&deadline));
            }
        }
        // All due ones, and no others, are removed, the earliest first.
        let mut last = 0;
        while let Some(handle) = deadlines.pop_until(now) {
            let deadline = model.remove(&handle);
            prop_assert!(deadline.is_some_and(|d| last <= d && d <= now));
            last = deadline.unwrap_or(last);
        }
        prop_assert!(model.values().all(|deadline| *deadline > now));
        // All others follow, in order.
        while let Some(handle) = deadlines.pop() {
            let deadline = model.remove(&handle);
            prop_assert!(deadline.is_some_and(|d| last <= d));
            last = deadline.unwrap_or(last);
        }
        prop_assert!(model.is_empty() && deadlines.earliest().0 == u64::MAX);
    }
}

/// Every single priority alone, and every pair.
#[test]
fn any_two_priorities_are_ordered() {
    for a in 0..=255_u8 {
        for b in 0..=255_u8 {
            let mut queue = ListQueue::<2>::bitmap();
            queue.insert(0, a, false);
            queue.insert(1, b, false);
            assert_eq!(queue.highest(), Some(a.max(b)));
            let order = [queue.pop(), queue.pop(), queue.pop()];
            let expected = if b > a { [1, 0] } else { [0, 1] };
            assert_eq!(order, [Some(expected[0]), Some(expected[1]), None]);
        }
    }
}
