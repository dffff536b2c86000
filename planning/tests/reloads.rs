//! How often a job goes on after others had its hart, against simulated schedules of random harts.

#[path = "../../policy/tests/simulator/mod.rs"]
mod simulator;
mod tasks;

use simulator::{Choice, Hart, Mode, Random};
use tactus_abi::blob::Overheads;
use tactus_planning::analysis::{self, Ranked};
use tactus_planning::reloads::{Order, Other, preemptions, window};
use tactus_planning::supply::GuestTask;
use tactus_policy::demand::Verdict;
use tactus_policy::record::Figure;
use tactus_policy::reservation::{Kind, Task};
use tasks::{NONE, task};

/// A set, of which the first vCPU is looked at; and how long apart the wake-ups of each other are.
struct Set {
    tasks: Vec<Task>,
    apart: Vec<u64>,
}

impl Set {
    fn random(random: &mut Random) -> Self {
        let vcpus = 2 + random.below(2);
        let tasks = (0..vcpus).map(|_| {
            let period = 3 + random.below(25);
            let budget = 1 + random.below(period.div_ceil(2));
            let deadline = budget + random.below(period - budget + 1);
            let kind = if random.once_in(2) {
                Kind::Server
            } else {
                Kind::Periodic
            };
            task((period, budget, deadline), kind)
        });
        Self {
            tasks: tasks.collect(),
            apart: (0..vcpus).map(|_| 2 + random.below(12)).collect(),
        }
    }

    /// When the first has its budget; `None`: they do not fit.
    fn within(&self, overheads: &Overheads, order: Order) -> Option<u64> {
        if order == Order::Deadlines {
            let fits = analysis::verdict(self.tasks.iter().copied(), overheads);
            let response = analysis::earliest_deadline_response(&self.tasks, 0, overheads)?;
            return (fits == Verdict::Fits).then_some(response.ticks);
        }
        let ranked = (0..).zip(&self.tasks);
        let ranked = ranked.map(|(priority, &task)| Ranked::new(priority, Some(task)));
        let ranked: Vec<Ranked> = ranked.collect();
        let response = |which| analysis::fixed_priority_response(&ranked, which, overheads);
        let all: Option<Vec<_>> = (0..ranked.len()).map(response).collect();
        Some(all?[0].ticks)
    }

    /// How often all others preempt a job of the first.
    fn bound(&self, within: u64, order: Order) -> u64 {
        let own = self.tasks[0];
        let others = self.tasks.iter().zip(&self.apart).skip(1);
        others
            .map(|(task, apart)| {
                let woken = GuestTask {
                    period: *apart,
                    wcet: 0,
                    deadline: *apart,
                    jitter: 0,
                    priority: 0,
                };
                let other = Other {
                    task: *task,
                    tasks: &[woken],
                };
                preemptions(own, window(own, within), order, other).expect("its tasks are known")
            })
            .sum()
    }

    /// The most preemptions of a job of the first in a random schedule.
    fn simulate(&self, random: &mut Random, overheads: Overheads, order: Order) -> u64 {
        let mut hart = Hart::new(overheads);
        hart.fixed_priority = order == Order::Priorities;
        for (name, task) in self.tasks.iter().enumerate() {
            hart.add(name, task.reservation, task.kind);
            hart.vcpus[name].priority = name as u64;
        }
        let mut woken = vec![None; self.tasks.len()];
        let rarely_waits = 1 + random.below(6);
        let last = random.once_in(2);
        let (mut most, mut here, mut job) = (0, 0, 0);
        // Whether it has executed since it was released or woken, and others had the hart since.
        let (mut executed, mut others) = (false, false);
        for _ in 0..600 {
            let mut begin = 0;
            for (name, woken) in woken.iter_mut().enumerate() {
                let may = woken.is_none_or(|at| at + self.apart[name] <= hart.now);
                let idle = matches!(hart.vcpus[name].mode, Mode::NotStarted | Mode::Waiting);
                if idle && may && random.once_in(3) {
                    begin |= 1 << name;
                    *woken = Some(hart.now);
                }
            }
            let choice = Choice {
                begin,
                wait: random.once_in(rarely_waits),
                block: random.once_in(3),
                does_deferred: random.once_in(3),
                last,
            };
            let before = hart.vcpus[0].executed;
            hart.tick(choice).expect("an accepted set");
            let own = &hart.vcpus[0];
            if own.record.get(Figure::Jobs) != job {
                (job, here) = (own.record.get(Figure::Jobs), 0);
                (executed, others) = (false, false);
            }
            if own.executed > before {
                here += u64::from(executed && others);
                most = most.max(here);
                (executed, others) = (true, false);
            } else if hart.running != Some(0) {
                others = true;
            }
            if own.mode != Mode::Ready {
                executed = false;
            }
        }
        most
    }
}

/// No schedule preempts a job more often than said, and some do as often.
fn check(order: Order, seed: u64) {
    let random = &mut Random(seed);
    let some = Overheads {
        job: 1,
        blocking: 1,
        service_period: 9,
        service: 1,
        release: 0,
    };
    let (mut fits, mut reached) = (0, 0);
    for step in 0..20_000 {
        let overheads = if step % 2 == 0 { NONE } else { some };
        let set = Set::random(random);
        let Some(within) = set.within(&overheads, order) else {
            continue;
        };
        let bound = set.bound(within, order);
        let most = set.simulate(random, overheads, order);
        assert!(
            most <= bound,
            "{:?} {:?} {overheads:?}: {most} preemptions, bound {bound}",
            set.tasks,
            set.apart
        );
        fits += 1;
        reached += u64::from(most == bound && bound > 0);
    }
    assert!(fits > 1_000 && reached > 100, "{reached} of {fits}");
}

#[test]
fn by_deadlines_no_job_is_preempted_more_often() {
    check(Order::Deadlines, 1);
}

#[test]
fn by_priorities_no_job_is_preempted_more_often() {
    check(Order::Priorities, 2);
}

#[test]
fn a_server_whose_tasks_are_not_known_has_no_bound() {
    let own = task((20, 5, 20), Kind::Periodic);
    for order in [Order::Deadlines, Order::Priorities] {
        let other = Other {
            task: task((10, 2, 10), Kind::Server),
            tasks: &[],
        };
        assert_eq!(preemptions(own, 12, order, other), None);
        let periodic = Other {
            task: task((10, 2, 10), Kind::Periodic),
            ..other
        };
        let times = if order == Order::Deadlines { 1 } else { 2 };
        assert_eq!(preemptions(own, 12, order, periodic), Some(times));
    }
}
