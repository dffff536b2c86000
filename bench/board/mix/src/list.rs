//! Pointers and unforeseeable branches: a linked list, sorted by merging.

use crate::Random;

/// Nodes of the list.
const NODES: usize = 240;
/// Link of the last node.
const END: u16 = u16::MAX;

#[derive(Clone, Copy, Debug)]
struct Node {
    key: u32,
    next: u16,
}

/// The nodes and where the list begins.
#[derive(Debug)]
pub struct List {
    nodes: [Node; NODES],
    first: u16,
}

impl List {
    /// An unsorted list of equal keys.
    pub fn new() -> Self {
        Self {
            nodes: [Node { key: 0, next: END }; NODES],
            first: 0,
        }
    }

    /// A round's work: fills the list, reverses it, sorts it, and sees that it is in order and has lost nothing.
    pub fn work(&mut self, seed: u32) -> Option<u32> {
        let sum = self.fill(seed);
        self.reverse();
        self.sort();
        self.walk(sum)
    }

    /// Gives every node a random key and a successor; returns the sum of the keys.
    fn fill(&mut self, seed: u32) -> u32 {
        let mut random = Random::new(seed);
        // A step that has no divisor in common with the number of nodes visits them all.
        const STRIDE: usize = 97;
        let mut at = 0;
        let mut sum = 0u32;
        self.first = 0;
        for index in 0..NODES {
            let next = (at + STRIDE) % NODES;
            let last = index == NODES - 1;
            self.nodes[at] = Node {
                key: random.draw(),
                next: if last { END } else { next as u16 },
            };
            sum = sum.wrapping_add(self.nodes[at].key);
            at = next;
        }
        sum
    }

    fn reverse(&mut self) {
        let mut done = END;
        let mut rest = self.first;
        while rest != END {
            let node = &mut self.nodes[usize::from(rest)];
            let next = node.next;
            node.next = done;
            done = rest;
            rest = next;
        }
        self.first = done;
    }

    /// Merges runs of 1, 2, 4, ... nodes until one run is left.
    fn sort(&mut self) {
        let mut width = 1;
        while width < NODES {
            let mut rest = self.first;
            let mut last = END;
            while rest != END {
                let left = rest;
                let right = self.cut(left, width);
                rest = self.cut(right, width);
                last = self.merge(left, right, last);
            }
            width *= 2;
        }
    }

    /// Ends a run after `width` nodes; returns the node behind it.
    fn cut(&mut self, first: u16, width: usize) -> u16 {
        let mut at = first;
        for _ in 1..width {
            if at == END {
                return END;
            }
            at = self.nodes[usize::from(at)].next;
        }
        match self.nodes.get_mut(usize::from(at)) {
            Some(node) => core::mem::replace(&mut node.next, END),
            None => END,
        }
    }

    /// Appends two runs, merged, behind the node `last`; returns the new last node.
    fn merge(&mut self, mut left: u16, mut right: u16, mut last: u16) -> u16 {
        while left != END || right != END {
            let from_left = right == END
                || (left != END
                    && self.nodes[usize::from(left)].key <= self.nodes[usize::from(right)].key);
            let taken = if from_left { &mut left } else { &mut right };
            let node = *taken;
            *taken = self.nodes[usize::from(node)].next;
            match self.nodes.get_mut(usize::from(last)) {
                Some(last) => last.next = node,
                None => self.first = node,
            }
            last = node;
        }
        last
    }

    /// A number that depends on the order, if the list is sorted and has all nodes with this sum.
    fn walk(&self, sum: u32) -> Option<u32> {
        let mut found = 0u32;
        let mut number = 0u32;
        let mut count = 0;
        let mut least = 0;
        let mut at = self.first;
        while at != END && count < NODES {
            let node = &self.nodes[usize::from(at)];
            if node.key < least {
                return None;
            }
            least = node.key;
            found = found.wrapping_add(node.key);
            number = number.rotate_left(3) ^ u32::from(at);
            count += 1;
            at = node.next;
        }
        (at == END && count == NODES && found == sum).then_some(number)
    }
}

impl Default for List {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_comes_out_sorted() {
        let mut list = List::new();
        let sum = list.fill(9);
        assert_eq!(list.walk(sum), None, "random keys are in no order");
        list.sort();
        assert!(list.walk(sum).is_some());
    }

    #[test]
    fn a_lost_node_is_noticed() {
        let mut list = List::new();
        let sum = list.fill(9);
        list.sort();
        let second = list.nodes[usize::from(list.first)].next;
        list.first = second;
        assert_eq!(list.walk(sum), None);
    }

    #[test]
    fn reversing_twice_changes_nothing() {
        let mut list = List::new();
        list.fill(9);
        let keys = |list: &List| {
            let mut keys = std::vec::Vec::new();
            let mut at = list.first;
            while at != END {
                keys.push(list.nodes[usize::from(at)].key);
                at = list.nodes[usize::from(at)].next;
            }
            keys
        };
        let before = keys(&list);
        list.reverse();
        assert_ne!(keys(&list), before);
        list.reverse();
        assert_eq!(keys(&list), before);
    }
}
