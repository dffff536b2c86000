//! Admission at run time: vCPUs are created, changed, moved and deleted in random order. No admitted vCPU ever misses a
//! deadline, and the reservations stay within shares, reserve and table sizes.

mod simulator;

use proptest::prelude::*;
use simulator::{Hart, Mode, Random, Vcpu, reservation};
use std::rc::Rc;
use tactus_abi::blob::Overheads;
use tactus_policy::admission::{Decision, Ledger, Request, TERMS_MAX};
use tactus_policy::ready::Handle;
use tactus_policy::reservation::{Account, Kind, Reservation, Task};

const HARTS: usize = 3;
const VCPUS: usize = 12;
const VMS: usize = 2;

struct World {
    ledger: Ledger<HARTS, VCPUS>,
    harts: Vec<Hart>,
    /// The pending move or change of each vCPU, effective from its next release on.
    plans: Vec<Option<Plan>>,
    /// A reservation has departed from the hart, and the hart has not been idle since.
    awaiting_idle: [bool; HARTS],
    tasks: Vec<Option<(Task, usize)>>,
    share: u64,
    reserve: u64,
    overheads: Overheads,
    now: u64,
    random: Random,
    log: Vec<String>,
    counts: Counts,
}

#[derive(Clone, Copy)]
struct Plan {
    hart: usize,
    change: Option<Reservation>,
}

#[derive(Debug, Default)]
struct Counts {
    accepted: u32,
    refused: u32,
    moved: u32,
    changed: u32,
    deleted: u32,
}

impl World {
    fn new(overheads: Overheads, share: u32, reserve: u32, seed: u64) -> Self {
        let mut ledger = Ledger::new();
        ledger.configure(overheads, reserve, HARTS, TERMS_MAX);
        (0..HARTS).for_each(|hart| ledger.open_hart(hart));
        (0..VMS).for_each(|vm| ledger.set_share(vm, share));
        Self {
            ledger,
            harts: vec![Hart::new(overheads); HARTS],
            plans: vec![None; VCPUS],
            awaiting_idle: [false; HARTS],
            tasks: vec![None; VCPUS],
            share: share.into(),
            reserve: reserve.into(),
            overheads,
            now: 0,
            random: Random(seed | 1),
            log: Vec::new(),
            counts: Counts::default(),
        }
    }

    fn task(&mut self) -> Task {
        let periods = [4_u64, 5, 6, 8, 10, 12, 15, 20, 24];
        let period = periods[self.random.below(periods.len() as u64) as usize];
        let budget = 1 + self.random.below(period.div_ceil(2));
        let slack = self.random.below(period - budget + 1);
        let deadline = if self.random.once_in(3) {
            period
        } else {
            period - slack
        };
        Task {
            reservation: reservation((period, budget, deadline)),
            kind: if self.random.once_in(2) {
                Kind::Server
            } else {
                Kind::Periodic
            },
        }
    }

    fn find(&mut self, name: usize) -> (usize, &mut Vcpu) {
        let hart = (0..HARTS).find(|h| self.harts[*h].vcpus.iter().any(|v| v.name == name));
        let hart = hart.expect("it is on a hart");
        let vcpu = self.harts[hart].vcpus.iter_mut().find(|v| v.name == name);
        (hart, vcpu.expect("it is here"))
    }

    /// Whether all departing reservations have departed, and the hart has been idle since.
    fn settled(&self, hart: usize) -> bool {
        let here = |v: &Vcpu| self.plans[v.name].is_some();
        !self.awaiting_idle[hart] && !self.harts[hart].vcpus.iter().any(here)
    }

    fn act(&mut self) {
        let handle = self.random.below(VCPUS as u64) as usize;
        if self.tasks[handle].is_some() && self.random.once_in(3) {
            let (hart, _) = self.find(handle);
            self.harts[hart].remove(handle);
            self.ledger.leave(handle as Handle);
            self.awaiting_idle[hart] = true;
            self.log
                .push(format!("{}: {handle} leaves {hart}", self.now));
            (self.tasks[handle], self.plans[handle]) = (None, None);
            self.counts.deleted += 1;
            return;
        }
        if self.tasks[handle].is_some() && self.plans[handle].is_some() {
            return;
        }
        let mut task = self.task();
        let vm = handle % VMS;
        if let Some((old, _)) = self.tasks[handle] {
            // The kind does not change; in half of the cases only the budget does.
            task.kind = old.kind;
            if self.random.once_in(2) {
                let Reservation {
                    period, deadline, ..
                } = old.reservation;
                let budget = 1 + self.random.below(deadline);
                task.reservation = reservation((period, budget, deadline));
            }
        }
        let request = Request {
            handle: handle as Handle,
            vm,
            task,
            harts: 1 + self.random.below((1 << HARTS) - 1),
        };
        let settled = (0..HARTS)
            .filter(|h| self.settled(*h))
            .fold(0, |all, h| all | 1 << h);
        match self.ledger.decide(&request, settled) {
            Ok(decision)
                if decision
                    .moved
                    .is_some_and(|(m, _)| self.plans[usize::from(m)].is_some()) => {}
            Ok(decision) => self.accept(&request, decision),
            Err(_) => self.counts.refused += 1,
        }
        self.check();
    }

    fn accept(&mut self, request: &Request, decision: Decision) {
        let name = usize::from(request.handle);
        let known = self.tasks[name].is_some();
        self.ledger.commit(request, decision);
        self.log.push(format!(
            "{}: {:?} {decision:?}",
            self.now,
            (name, request.task)
        ));
        self.tasks[name] = Some((request.task, request.vm));
        if let Some((moved, hart)) = decision.moved {
            let change = None;
            let (_, v) = self.find(moved.into());
            v.leaving = true;
            self.plans[usize::from(moved)] = Some(Plan { hart, change });
            self.counts.moved += 1;
        }
        if known {
            let (_, v) = self.find(name);
            v.leaving = true;
            self.plans[name] = Some(Plan {
                hart: decision.hart,
                change: Some(request.task.reservation),
            });
            self.counts.changed += 1;
            return;
        }
        let Task { reservation, kind } = request.task;
        let account = Account::new(reservation, kind, 0).with_overhead(self.overheads.job);
        self.harts[decision.hart].vcpus.push(Vcpu {
            name,
            account,
            record: Rc::default(),
            executed: 0,
            mode: Mode::Held(self.now),
            full: true,
            overhead: 0,
            priority: 0,
            leaving: false,
        });
        self.counts.accepted += 1;
    }

    /// Moves and changes take effect between two jobs.
    fn apply_plans(&mut self) {
        for name in 0..VCPUS {
            let Some(plan) = self.plans[name] else {
                continue;
            };
            let (job, now) = (self.overheads.job, self.now);
            let (hart, v) = self.find(name);
            if v.mode == Mode::Ready {
                continue;
            }
            v.leaving = false;
            if let Some(reservation) = plan.change {
                let begin = match v.mode {
                    Mode::Held(_) => now,
                    _ => now.max(v.account.next_release()),
                };
                v.account = Account::new(reservation, v.account.kind(), 0).with_overhead(job);
                v.mode = Mode::Held(begin);
            }
            let v = v.clone();
            self.harts[hart].vcpus.retain(|v| v.name != name);
            self.harts[plan.hart].vcpus.push(v);
            self.plans[name] = None;
            self.awaiting_idle[hart] = true;
        }
        for hart in 0..HARTS {
            let leaving = |v: &Vcpu| self.plans[v.name].is_some();
            if !self.harts[hart].busy() && !self.harts[hart].vcpus.iter().any(leaving) {
                self.awaiting_idle[hart] = false;
            }
            let (settled, now) = (self.settled(hart), self.now);
            for v in self.harts[hart].vcpus.iter_mut().filter(|_| !settled) {
                if let Mode::Held(at) = v.mode {
                    v.mode = Mode::Held(at.max(now + 1));
                }
            }
        }
    }

    /// The reservations fit the shares of the VMs and the limits of the harts.
    fn check(&self) {
        // As a fraction with the product of all periods as denominator: exact.
        let scale: u128 = [4, 5, 6, 8, 10, 12, 15, 20, 24].iter().product();
        let part = |budget: u64, period: u64| u128::from(budget) * scale / u128::from(period);
        let slack = scale >> 26;
        let (mut vms, mut harts) = ([0; VMS], [0; HARTS]);
        for (handle, task) in self.tasks.iter().enumerate() {
            let hart = self.ledger.hart_of(handle as Handle);
            assert_eq!(hart.is_some(), task.is_some());
            if let (Some(hart), Some((task, vm))) = (hart, task) {
                let Reservation { period, budget, .. } = task.reservation;
                vms[*vm] += part(budget, period);
                harts[hart] += part(budget + self.overheads.job, period);
            }
        }
        for vm in vms {
            let share = u128::from(self.share * HARTS as u64);
            assert!(vm * 1000 <= share * scale + 1000 * slack);
        }
        for hart in harts {
            assert!(hart * 1000 <= u128::from(1000 - self.reserve) * scale + 1000 * slack);
        }
    }

    fn run(&mut self, ticks: u64) {
        for now in 0..ticks {
            self.now = now;
            if self.random.once_in(6) {
                self.act();
            }
            self.apply_plans();
            for (index, hart) in self.harts.iter_mut().enumerate() {
                hart.now = now;
                let choice = self.random.choice();
                if let Err(miss) = hart.tick(choice) {
                    panic!(
                        "{miss:?} on hart {index}: {:#?} {:#?}",
                        hart.vcpus, self.log
                    );
                }
            }
        }
    }
}

fn overheads() -> impl Strategy<Value = Overheads> {
    let one = |job, blocking, service_period, service| Overheads {
        job,
        blocking,
        service_period,
        service,
        release: 0,
    };
    prop::sample::select(vec![
        one(0, 0, 0, 0),
        one(0, 0, 0, 0),
        one(1, 0, 0, 0),
        one(0, 1, 0, 0),
        one(0, 1, 10, 1),
        one(1, 1, 15, 1),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn no_deadline_is_missed(
        overheads in overheads(),
        share in prop::sample::select(vec![300_u32, 500, 1000]),
        reserve in prop::sample::select(vec![0_u32, 0, 100]),
        seed: u64,
    ) {
        let mut world = World::new(overheads, share, reserve, seed);
        world.run(2000);
        prop_assert!(world.counts.accepted > 0);
    }
}

/// The worlds above include all kinds of change.
#[test]
fn all_kinds_of_change_occur() {
    let mut world = World::new(Overheads::default(), 1000, 0, 7);
    world.run(20_000);
    let Counts {
        accepted,
        refused,
        moved,
        changed,
        deleted,
    } = world.counts;
    assert!(
        accepted > 300 && refused > 300 && moved > 20 && changed > 100 && deleted > 300,
        "{:?}",
        world.counts
    );
}
