//! How long harts stay below the guests, in the hypervisor and the firmware, on the way from one guest to the next.

use std::collections::BTreeMap;

use tactus_board::account::Doing;

use super::Worker;

/// The stays between two workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stay {
    /// How many.
    pub count: u64,
    /// Cycles of the shortest.
    pub min: u64,
    /// Cycles of the longest.
    pub max: u64,
    /// Cycle at which the longest began.
    pub at: u64,
}

/// All stays of a run, by whom the hart came from and whom it went to: VMs, or [`Worker::Idle`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stays {
    between: BTreeMap<(Worker, Worker), Stay>,
    harts: Vec<Hart>,
}

/// A hart between two of its turns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Hart {
    /// Who had it last; `None`: nobody yet.
    from: Option<Worker>,
    /// Since when it is below the guests.
    since: Option<u64>,
}

impl Stays {
    /// A hart does something else from `cycle` on, in a system of so many VMs. Cycles of a hart never go back.
    pub fn turn(&mut self, cycle: u64, hart: u16, doing: Doing, vms: usize) {
        let hart = usize::from(hart);
        if self.harts.len() <= hart {
            self.harts.resize(hart + 1, Hart::default());
        }
        let hart = &mut self.harts[hart];
        let to = Worker::of(doing, vms);
        if matches!(to, Worker::Hypervisor | Worker::Firmware | Worker::User) {
            hart.since.get_or_insert(cycle);
            return;
        }
        if let (Some(from), Some(since)) = (hart.from.take(), hart.since.take()) {
            let cycles = cycle - since;
            let stay = self.between.entry((from, to.clone())).or_insert(Stay {
                count: 0,
                min: u64::MAX,
                max: 0,
                at: since,
            });
            stay.count += 1;
            stay.min = stay.min.min(cycles);
            if cycles > stay.max {
                (stay.max, stay.at) = (cycles, since);
            }
        }
        hart.from = Some(to);
        hart.since = None;
    }

    /// Those on the way from one worker to another, if there were any.
    pub fn between(&self, from: &Worker, to: &Worker) -> Option<Stay> {
        self.between.get(&(from.clone(), to.clone())).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tactus_board::privileged::Privilege;

    fn running(guest: Option<u16>, privilege: Privilege) -> Doing {
        Doing::Running { guest, privilege }
    }

    #[test]
    fn a_stay_is_from_guest_to_guest() {
        let hypervisor = running(None, Privilege::Supervisor);
        let firmware = running(None, Privilege::Machine);
        let guest = |vm| running(Some(vm + 1), Privilege::Supervisor);
        let mut stays = Stays::default();
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
            stays.turn(cycle, hart, doing, 2);
        }
        let between = |from, to| {
            stays
                .between(&from, &to)
                .map(|stay| (stay.count, stay.min, stay.max, stay.at))
        };
        let vm = Worker::Vm;
        assert_eq!(between(vm(0), vm(1)), Some((2, 20, 30, 100)));
        assert_eq!(between(vm(1), Worker::Idle), Some((1, 7, 7, 200)));
        assert_eq!(between(Worker::Idle, vm(1)), Some((1, 1, 1, 300)));
        assert_eq!(between(vm(1), vm(0)), Some((1, 9, 9, 400)));
        assert_eq!(between(vm(0), vm(0)), None);
    }
}
