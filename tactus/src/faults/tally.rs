//! How often which verdict is, by kind of fault, kept up to date as runs end.

use std::collections::{BTreeMap, BTreeSet};

use super::judge::Verdict;
use super::run::Row;

/// Runs that are remembered of each verdict: those with the lowest numbers.
pub const REMEMBERED: usize = 20;

/// How often each verdict is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([usize; Verdict::ALL.len()]);

impl Counts {
    /// How often this one is.
    pub const fn of(&self, verdict: Verdict) -> usize {
        self.0[verdict as usize]
    }

    /// All runs.
    pub fn runs(&self) -> usize {
        self.0.iter().sum()
    }

    /// Runs whose fault has happened.
    pub fn placed(&self) -> usize {
        self.runs() - self.of(Verdict::NotPlaced)
    }

    /// Runs that break what is promised.
    pub fn bad(&self) -> usize {
        let bad = Verdict::ALL.into_iter().filter(|verdict| verdict.is_bad());
        bad.map(|verdict| self.of(verdict)).sum()
    }

    fn add(&mut self, other: &Self) {
        for (sum, count) in self.0.iter_mut().zip(other.0) {
            *sum += count;
        }
    }
}

/// How often each verdict is, by kind of fault.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    by_kind: BTreeMap<String, Counts>,
    first: [BTreeSet<u32>; Verdict::ALL.len()],
}

impl Tally {
    /// Of these runs.
    pub fn of<'r>(rows: impl IntoIterator<Item = &'r Row>) -> Self {
        let mut tally = Self::default();
        for row in rows {
            tally.add(row);
        }
        tally
    }

    /// Counts a run, which is not counted yet.
    pub fn add(&mut self, row: &Row) {
        let verdict = row.verdict as usize;
        // Most runs are of a kind that is there, whose name needs no copy.
        match self.by_kind.get_mut(&row.fault) {
            Some(counts) => counts.0[verdict] += 1,
            None => self.by_kind.entry(row.fault.clone()).or_default().0[verdict] += 1,
        }
        let first = &mut self.first[verdict];
        first.insert(row.run);
        if first.len() > REMEMBERED {
            first.pop_last();
        }
    }

    /// Of the faults of a kind.
    pub fn kind(&self, name: &str) -> Counts {
        self.by_kind.get(name).copied().unwrap_or_default()
    }

    /// Of all faults.
    pub fn all(&self) -> Counts {
        let mut all = Counts::default();
        for counts in self.by_kind.values() {
            all.add(counts);
        }
        all
    }

    /// The first runs of a verdict, by their numbers, at most [`REMEMBERED`].
    pub fn first(&self, verdict: Verdict) -> impl Iterator<Item = u32> {
        self.first[verdict as usize].iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::row;
    use super::*;

    #[test]
    fn runs_are_counted_by_kind_and_verdict() {
        let rows = [
            row(9, "memory of a", Verdict::Masked),
            row(3, "memory of a", Verdict::Escaped),
            row(5, "registers of a", Verdict::Hang),
            row(1, "registers of a", Verdict::NotPlaced),
        ];
        let tally = Tally::of(&rows);
        let all = tally.all();
        assert_eq!((all.runs(), all.placed(), all.bad()), (4, 3, 2));
        assert_eq!(tally.kind("memory of a").of(Verdict::Escaped), 1);
        assert_eq!(tally.kind("registers of a").of(Verdict::Escaped), 0);
        assert_eq!(tally.kind("another").runs(), 0);
        assert_eq!(tally.first(Verdict::Hang).collect::<Vec<_>>(), [5]);
    }

    #[test]
    fn the_first_runs_are_remembered_in_whatever_order_they_end() {
        let rows: Vec<Row> = (0..200)
            .rev()
            .map(|run| row(run, "crash of a", Verdict::Escaped))
            .collect();
        let tally = Tally::of(&rows);
        assert!(tally.first(Verdict::Escaped).eq(0..REMEMBERED as u32));
        assert_eq!(tally.all().bad(), 200);
    }
}
