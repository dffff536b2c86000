//! The queues against models that are too simple to be wrong.

use proptest::prelude::*;
use std::collections::BTreeMap;
use tactus_policy::deadline::Deadlines;
use tactus_policy::ready::{BitmapQueue, Handle, ReadyQueue};

const HANDLES: usize = 24;

#[derive(Clone, Copy, Debug)]
enum Operation {
    InsertHead(Handle, u8),
    InsertTail(Handle, u8),
    Remove(Handle),
    Pop,
    /// Pops the first handle that has this remainder modulo three.
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

/// Handles in the order in which they are to be popped, with their priorities.
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

proptest! {
    #[test]
    fn the_bitmap_queue_is_a_priority_queue(operations in prop::collection::vec(operation(), 0..200)) {
        let mut queue = BitmapQueue::<HANDLES>::new();
        let mut model = Model::default();
        for operation in operations {
            match operation {
                // A handle is queued once: that is the caller's part.
                Operation::InsertHead(h, _) | Operation::InsertTail(h, _) if model.holds(h) => {}
                Operation::InsertHead(h, p) => {
                    queue.insert_head(h, p);
                    model.insert(h, p, true);
                }
                Operation::InsertTail(h, p) => {
                    queue.insert_tail(h, p);
                    model.insert(h, p, false);
                }
                Operation::Remove(h) => {
                    prop_assert_eq!(queue.remove(h), model.take(|other| other == h).is_some());
                }
                Operation::Pop => {
                    prop_assert_eq!(queue.pop(), model.take(|_| true).map(|(h, _)| h));
                }
                Operation::PopWhere(class) => {
                    let mut fits = |h: Handle| h % 3 == class;
                    prop_assert_eq!(queue.pop_where(&mut fits), model.take(fits));
                }
            }
            prop_assert_eq!(queue.highest(), model.0.first().map(|(_, p)| *p));
        }
        while let Some((handle, _)) = model.take(|_| true) {
            prop_assert_eq!(queue.pop(), Some(handle));
        }
        prop_assert_eq!(queue.pop(), None);
    }

    #[test]
    fn deadlines_come_in_order(
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
        // Those due, and no others, come out, the earliest first.
        let mut last = 0;
        while let Some(handle) = deadlines.pop_until(now) {
            let deadline = model.remove(&handle);
            prop_assert!(deadline.is_some_and(|d| last <= d && d <= now));
            last = deadline.unwrap_or(last);
        }
        prop_assert!(model.values().all(|deadline| *deadline > now));
        // All others follow.
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
            let mut queue = BitmapQueue::<2>::new();
            queue.insert_tail(0, a);
            queue.insert_tail(1, b);
            assert_eq!(queue.highest(), Some(a.max(b)));
            let order = [queue.pop(), queue.pop(), queue.pop()];
            let expected = if b > a { [1, 0] } else { [0, 1] };
            assert_eq!(order, [Some(expected[0]), Some(expected[1]), None]);
        }
    }
}
