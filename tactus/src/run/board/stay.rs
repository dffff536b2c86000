//! How long harts stay below the guests, in the hypervisor and the firmware, on the way from one guest to the next.

use std::collections::BTreeMap;

use super::Worker;
use super::spent::Spent;

/// The stays between two workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stay {
    /// How many.
    pub count: u64,
    /// Cycles of all.
    pub cycles: u64,
    /// Cycles of the shortest.
    pub min: u64,
    /// Cycles of the longest.
    pub max: u64,
    /// Cycle at which the longest began.
    pub at: u64,
    /// What its cycles went into.
    pub spent: Spent,
}

/// All stays of a run, by whom the hart came from and whom it went to: VMs, or [`Worker::Idle`]; and whether an
/// interrupt had begun it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stays {
    between: BTreeMap<(Worker, Worker, bool), Stay>,
    harts: Vec<Hart>,
    /// Stays that begin before this cycle do not count; `None`: none do.
    from: Option<u64>,
}

/// A hart between two of its turns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Hart {
    /// Who had it last; `None`: no VM yet.
    from: Option<Worker>,
    /// Since when it is below the guests, and what it had spent then.
    since: Option<(u64, Spent)>,
    /// The first trap of the present stay, or the last before it: its cycle, and whether it was an interrupt.
    trap: Option<(u64, bool)>,
}

impl Stay {
    /// These and those.
    pub fn and(self, other: Self) -> Self {
        let longest = if other.max > self.max { other } else { self };
        Self {
            count: self.count + other.count,
            cycles: self.cycles + other.cycles,
            min: self.min.min(other.min),
            max: longest.max,
            at: longest.at,
            spent: longest.spent,
        }
    }
}

impl Stays {
    fn hart(&mut self, hart: u16) -> &mut Hart {
        let hart = usize::from(hart);
        if self.harts.len() <= hart {
            self.harts.resize(hart + 1, Hart::default());
        }
        &mut self.harts[hart]
    }

    /// Stays that begin at `cycle` or later count.
    pub fn count_from(&mut self, cycle: u64) {
        self.from = Some(cycle);
    }

    /// Stays that end from now on do not count.
    pub fn count_no_more(&mut self) {
        self.from = None;
    }

    /// A hart takes a trap: an interrupt or an exception. Whether it is told before or after the turn that it leads to
    /// does not matter.
    pub fn trap(&mut self, cycle: u64, hart: u16, interrupt: bool) {
        let hart = self.hart(hart);
        if hart.since.is_none_or(|(since, _)| since == cycle) {
            hart.trap = Some((cycle, interrupt));
        }
    }

    /// A hart, which has spent so much so far, does something else from `cycle` on. Cycles of a hart never go back.
    pub fn turn(&mut self, cycle: u64, hart: u16, spent: &Spent, to: Worker) {
        let hart = self.hart(hart);
        if matches!(to, Worker::Hypervisor | Worker::Firmware | Worker::User) {
            hart.since.get_or_insert((cycle, *spent));
            return;
        }
        if let (Some(from), Some((since, before))) = (hart.from.take(), hart.since.take()) {
            let interrupted = hart.trap == Some((since, true));
            hart.from = Some(to.clone());
            if self.from.is_none_or(|from| since < from) {
                return;
            }
            let stay = Stay {
                count: 1,
                cycles: cycle - since,
                min: cycle - since,
                max: cycle - since,
                at: since,
                spent: spent.since(&before),
            };
            self.between
                .entry((from, to, interrupted))
                .and_modify(|all| *all = all.and(stay))
                .or_insert(stay);
            return;
        }
        hart.from = Some(to);
        hart.since = None;
    }

    /// Those on the way from one worker to another, if there were any; only those that an interrupt had begun, or had
    /// not, where that is said.
    pub fn between(&self, from: &Worker, to: &Worker, interrupted: Option<bool>) -> Option<Stay> {
        [true, false]
            .into_iter()
            .filter(|kind| interrupted.is_none_or(|wanted| wanted == *kind))
            .filter_map(|kind| self.between.get(&(from.clone(), to.clone(), kind)).copied())
            .reduce(Stay::and)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tactus_board::account::Doing;
    use tactus_board::privileged::Privilege;

    fn running(guest: Option<u16>, privilege: Privilege) -> Doing {
        Doing::Running { guest, privilege }
    }

    #[test]
    fn a_stay_is_from_guest_to_guest() {
        let hypervisor = running(None, Privilege::Supervisor);
        let firmware = running(None, Privilege::Machine);
        let guest = |vm: u16| running(Some(vm + 1), Privilege::Supervisor);
        let mut stays = Stays::default();
        stays.count_from(0);
        // An interrupt begins the stay that it is told of first, and no other.
        // What comes before the first guest is no stay.
        for (cycle, hart, doing) in [
            (0, 0, firmware),
            (10, 0, hypervisor),
            (20, 0, guest(0)),
            (100, 0, hypervisor),
            (110, 0, firmware),
            (120, 0, hypervisor),
            (130, 0, guest(1)),
            (140, 1, hypervisor),
            (200, 0, hypervisor),
            (207, 0, Doing::Waiting),
            (300, 0, hypervisor),
            (301, 0, guest(1)),
            (400, 0, hypervisor),
            (409, 0, guest(0)),
            (500, 0, hypervisor),
            (520, 0, guest(1)),
        ] {
            if (cycle, hart) == (100, 0) {
                stays.trap(100, 0, true);
            }
            stays.turn(cycle, hart, &Spent::default(), Worker::of(doing, 2));
        }
        stays.trap(600, 0, false);
        stays.turn(600, 0, &Spent::default(), Worker::of(hypervisor, 2));
        stays.trap(600, 0, true);
        stays.trap(605, 0, false);
        stays.turn(650, 0, &Spent::default(), Worker::of(guest(0), 2));
        stays.turn(700, 0, &Spent::default(), Worker::of(hypervisor, 2));
        stays.count_from(701);
        stays.turn(900, 0, &Spent::default(), Worker::of(guest(0), 2));
        stays.turn(910, 0, &Spent::default(), Worker::of(hypervisor, 2));
        stays.count_no_more();
        stays.turn(2000, 0, &Spent::default(), Worker::of(guest(0), 2));
        let between = |from, to, interrupted| {
            stays
                .between(&from, &to, interrupted)
                .map(|stay| (stay.count, stay.min, stay.max, stay.at))
        };
        let vm = Worker::Vm;
        let first = Some((1, 30, 30, 100));
        assert_eq!(between(vm(0), vm(1), None), Some((2, 20, 30, 100)));
        assert_eq!(between(vm(0), vm(1), Some(true)), first);
        assert_eq!(between(vm(0), vm(1), Some(false)), Some((1, 20, 20, 500)));
        assert_eq!(between(vm(1), Worker::Idle, None), Some((1, 7, 7, 200)));
        assert_eq!(between(Worker::Idle, vm(1), None), Some((1, 1, 1, 300)));
        assert_eq!(between(vm(1), vm(0), None), Some((2, 9, 50, 600)));
        assert_eq!(between(vm(1), vm(0), Some(true)), Some((1, 50, 50, 600)));
        assert_eq!(between(vm(0), vm(0), None), None);
    }
}
