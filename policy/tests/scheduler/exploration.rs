//! Checks every reachable state of a system, in every order of events ([`Violation`]).
//!
//! States are explored breadth first, each once: with `--release` until there are no others, otherwise up to a number
//! of events that takes some seconds. The first violation found is therefore a shortest case.

use crate::model::{Event, Model, State, System, Vcpu, Violation, best_effort, real_time};
use crate::rules::{Rules, Unchanged, mutants};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

const BOTH: u8 = 0b11;
const FIRST: u8 = 0b01;
const SECOND: u8 = 0b10;

/// Systems of two harts, with vCPUs of mixed classes, priorities and harts.
mod systems {
    use super::*;

    pub fn three_priorities() -> System {
        System {
            by_deadline: false,
            vcpus: vec![
                best_effort(1, BOTH),
                best_effort(2, BOTH),
                best_effort(3, FIRST),
                real_time(1, 0, false),
            ],
        }
    }

    pub fn round_robin() -> System {
        System {
            by_deadline: false,
            vcpus: vec![
                best_effort(1, BOTH),
                best_effort(1, BOTH),
                best_effort(1, FIRST),
                real_time(1, 0, false),
            ],
        }
    }

    pub fn bound_to_each_hart() -> System {
        System {
            by_deadline: false,
            vcpus: vec![
                best_effort(1, BOTH),
                best_effort(1, FIRST),
                best_effort(2, SECOND),
                real_time(1, 0, true),
            ],
        }
    }

    pub fn two_real_time_priorities() -> System {
        System {
            by_deadline: false,
            vcpus: vec![
                best_effort(1, BOTH),
                best_effort(2, FIRST),
                real_time(2, 0, true),
                real_time(1, 0, false),
            ],
        }
    }

    pub fn three_real_time_priorities() -> System {
        System {
            by_deadline: false,
            vcpus: vec![
                best_effort(1, BOTH),
                real_time(3, 0, false),
                real_time(2, 0, false),
                real_time(1, 0, true),
            ],
        }
    }

    pub fn real_time_on_each_hart() -> System {
        System {
            by_deadline: false,
            vcpus: vec![
                best_effort(1, BOTH),
                best_effort(2, BOTH),
                real_time(1, 0, false),
                real_time(1, 1, true),
            ],
        }
    }

    pub fn two_deadlines() -> System {
        System {
            by_deadline: true,
            vcpus: vec![
                best_effort(1, BOTH),
                best_effort(2, FIRST),
                real_time(0, 0, true),
                real_time(0, 0, true),
            ],
        }
    }

    pub fn three_deadlines() -> System {
        System {
            by_deadline: true,
            vcpus: vec![
                best_effort(1, FIRST),
                real_time(0, 0, true),
                real_time(0, 0, true),
                real_time(0, 0, true),
            ],
        }
    }
}

/// The states of a system.
#[derive(Default)]
struct Exploration {
    states: Vec<State>,
    /// The predecessor and the event by which each state was found first.
    from: Vec<(u32, Option<Event>)>,
    known: HashMap<State, u32>,
    /// Steps that need neither a guest nor time.
    internal: Vec<(u32, u32)>,
    /// A shortest trace to each violation.
    found: HashMap<Violation, Vec<Event>>,
}

impl Exploration {
    /// Explores all states within `depth` events of the first, or those before `sought` is found.
    fn run<R: Rules>(system: &System, rules: &R, depth: usize, sought: Option<Violation>) -> Self {
        let mut this = Self::default();
        this.enter(State::new(system), 0, None);
        let mut level = 0..1;
        for _ in 0..depth {
            for index in level.clone() {
                this.follow(system, rules, index);
                if sought.is_some_and(|sought| this.found.contains_key(&sought)) {
                    return this;
                }
            }
            level = level.end..this.states.len();
            if level.is_empty() {
                break;
            }
        }
        if let Some(index) = this.on_a_cycle() {
            let trace = this.trace(index, None);
            this.found.insert(Violation::Livelock, trace);
        }
        this
    }

    fn follow<R: Rules>(&mut self, system: &System, rules: &R, index: usize) {
        let mut model = Model {
            system,
            rules,
            state: self.states[index].clone(),
            violation: None,
        };
        for event in model.events() {
            model.state = self.states[index].clone();
            model.violation = None;
            model.apply(event);
            if let Some(violation) = model.check() {
                if !self.found.contains_key(&violation) {
                    let trace = self.trace(index, Some(event));
                    self.found.insert(violation, trace);
                }
                // After such a violation, the model no longer describes the scheduler.
                if violation.ends_model() {
                    continue;
                }
            }
            let to = self.enter(model.state.clone(), index, Some(event));
            if event.is_internal() {
                self.internal.push((index as u32, to));
            }
        }
    }

    fn enter(&mut self, state: State, from: usize, event: Option<Event>) -> u32 {
        match self.known.entry(state) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                let index = self.states.len() as u32;
                self.states.push(entry.key().clone());
                self.from.push((from as u32, event));
                entry.insert(index);
                index
            }
        }
    }

    /// The events that lead to a state, and one more.
    fn trace(&self, mut index: usize, last: Option<Event>) -> Vec<Event> {
        let mut trace = Vec::from_iter(last);
        while let (from, Some(event)) = self.from[index] {
            trace.push(event);
            index = from as usize;
        }
        trace.reverse();
        trace
    }

    /// A state on a cycle of internal steps, or leading to one.
    ///
    /// It is a state that remains when states without such steps are removed repeatedly.
    fn on_a_cycle(&self) -> Option<usize> {
        let mut outgoing = vec![0; self.states.len()];
        let mut incoming = vec![vec![]; self.states.len()];
        for (from, to) in &self.internal {
            outgoing[*from as usize] += 1;
            incoming[*to as usize].push(*from as usize);
        }
        let mut ends: Vec<_> = (0..outgoing.len()).filter(|i| outgoing[*i] == 0).collect();
        while let Some(index) = ends.pop() {
            for from in &incoming[index] {
                outgoing[*from] -= 1;
                if outgoing[*from] == 0 {
                    ends.push(*from);
                }
            }
        }
        outgoing.iter().position(|count| *count > 0)
    }
}

/// The most events to explore: all with optimisation, otherwise as many as take some seconds.
const DEPTH: usize = if cfg!(debug_assertions) {
    12
} else {
    usize::MAX
};

/// Checks every reachable state of the system.
fn explore(system: &System) {
    let exploration = Exploration::run(system, &Unchanged, DEPTH, None);
    println!("{} states", exploration.states.len());
    for (violation, trace) in &exploration.found {
        println!("{violation:?} after");
        for event in trace {
            println!("    {event:?}");
        }
    }
    assert!(exploration.found.is_empty());
}

macro_rules! explored {
    ($($name:ident in $system:ident;)*) => {
        $(
            #[test]
            fn $name() {
                explore(&systems::$system());
            }
        )*
    };
}

explored! {
    invariants_hold_with_three_priorities in three_priorities;
    invariants_hold_in_round_robin in round_robin;
    invariants_hold_with_vcpus_bound_to_each_hart in bound_to_each_hart;
    invariants_hold_with_two_real_time_priorities in two_real_time_priorities;
    invariants_hold_with_three_real_time_priorities in three_real_time_priorities;
    invariants_hold_with_real_time_on_each_hart in real_time_on_each_hart;
    invariants_hold_with_two_deadlines in two_deadlines;
    invariants_hold_with_three_deadlines in three_deadlines;
}

/// The most events after which a wrong rule must show.
const MUTANT_DEPTH: usize = 17;

/// Asserts that a wrong rule leads to the expected violation in a system.
fn find_out<R: Rules>(rules: &R, system: &System, expected: Violation) {
    let exploration = Exploration::run(system, rules, MUTANT_DEPTH, Some(expected));
    let trace = exploration.found.get(&expected);
    let events = trace.expect("the wrong rule is found out").len();
    println!("{expected:?} after {events} events");
}

/// Makes a test of each wrong rule.
///
/// Wrong versions of [`tactus_policy::schedule::may_switch`] and [`tactus_policy::schedule::does_deferred_work`] may
/// show no violation: these choose between a fast path and a slow one, and between now and later.
macro_rules! found_out {
    ($($name:ident: $rule:ident is $violation:ident in $system:ident;)*) => {
        $(
            #[test]
            fn $name() {
                find_out(&mutants::$rule, &systems::$system(), Violation::$violation);
            }
        )*
    };
}

found_out! {
    reversed_order_is_found: OrderReversed is RealTimeWaits in two_real_time_priorities;
    ignored_deadlines_are_found: DeadlineIgnored is RealTimeWaits in two_deadlines;
    missing_preemption_is_found: NeverPreempts is RealTimeWaits in three_priorities;
    missing_reschedule_is_found: NeverReschedules is PriorityInverted in three_priorities;
    second_soft_affinity_is_found: AffinityTaken is NotInOnePlace in three_priorities;
    soft_affinity_of_real_time_is_found: RealTimeKeepsAffinity is RealTimeWaits in two_real_time_priorities;
    ignored_budget_is_found: BudgetIgnored is RunsWithoutBudget in bound_to_each_hart;
    ignored_wait_is_found: WaitIgnored is RunsWithoutWakeup in three_priorities;
    used_up_slice_at_the_head_is_found: SliceOverAtHead is PassedOverTwice in round_robin;
    soft_affinity_before_priority_is_found: AffinityFirst is PriorityInverted in three_priorities;
    slice_renewed_by_soft_affinity_is_found: AffinityRenewsSlice is PassedOverTwice in round_robin;
    uncorrected_inversion_is_found: InversionStays is PriorityInverted in three_priorities;
    yielding_to_higher_only_is_found: YieldsToHigher is PassedOverTwice in round_robin;
    busy_harts_that_decline_are_found: OnlyIdleAccept is PriorityInverted in three_priorities;
    idle_harts_that_decline_are_found: IdleDecline is IdleBesideQueued in three_priorities;
    offers_of_equal_urgency_are_found: EqualOfferAccepted is Livelock in round_robin;
}

// Defects of `hypervisor/src/sched`, each as a rule that it has now and found in the same way. `Unchanged` has the
// right rule. Once the hypervisor has it, too, its old rule is one more wrong rule here.
found_out! {
    defect_real_time_queue_is_not_asked_on_an_empty_hart: FirstOnEmptyHart is RealTimeWaits in three_real_time_priorities;
    defect_queued_vcpu_is_not_offered_to_an_idle_hart: FewOffers is IdleBesideQueued in three_priorities;
    defect_preempted_vcpu_is_not_offered_to_a_less_urgent_hart: FewOffers is PriorityInverted in three_priorities;
    defect_vcpu_queued_while_a_hart_chooses_is_not_offered: ChoosesUnseen is PriorityInverted in real_time_on_each_hart;
    defect_expired_soft_affinity_keeps_its_place_without_a_slice: ExpiresAtHead is PassedOverTwice in round_robin;
}

/// The violation, if any, after a sequence of possible events with these rules.
fn leads_to<R: Rules>(rules: &R, vcpus: [Vcpu; 4], events: &[Event]) -> Option<Violation> {
    let system = &System {
        vcpus: vcpus.to_vec(),
        by_deadline: false,
    };
    let state = State::new(system);
    let mut model = Model {
        system,
        rules,
        state,
        violation: None,
    };
    for event in events {
        assert!(model.events().contains(event), "{event:?} is not possible");
        model.apply(*event);
    }
    model.check()
}

/// A real-time vCPU that wakes while its hart is between two vCPUs gets the hart before a more urgent queued one.
///
/// It keeps the hart until it waits. The hart is between two vCPUs, without a current one, when it takes the slow path
/// and serves interrupts before it chooses: an overrun is to be reported, a VM ends, or a reservation has departed. It
/// also is when a late job ends whose successor is due already.
#[test]
fn defect_less_urgent_release_overtakes_the_queue() {
    let vcpus = [
        real_time(3, 0, false),
        real_time(2, 0, false),
        real_time(1, 0, false),
        best_effort(1, BOTH),
    ];
    let (notify, step) = (
        |vcpu| Event::Notify { vcpu, deadline: 0 },
        Event::Step { hart: 0 },
    );
    let events = [
        notify(0),
        step,
        step,
        notify(1),
        Event::Wait { hart: 0 },
        Event::Deschedule { hart: 0 },
        notify(2),
        step,
        step,
    ];
    let found = leads_to(&mutants::FirstOnEmptyHart, vcpus, &events);
    assert_eq!(found, Some(Violation::RealTimeWaits));
    assert_eq!(leads_to(&Unchanged, vcpus, &events), None);
}

/// A best-effort vCPU that wakes just before a real-time one on its hart is not offered to an idle hart.
///
/// It stays queued until the real-time vCPU waits.
#[test]
fn defect_vcpu_woken_before_a_real_time_one_waits_beside_an_idle_hart() {
    let vcpus = [
        best_effort(1, BOTH),
        real_time(1, 0, false),
        best_effort(1, BOTH),
        best_effort(1, BOTH),
    ];
    let (notify, step) = (
        |vcpu| Event::Notify { vcpu, deadline: 0 },
        Event::Step { hart: 0 },
    );
    let events = [notify(0), notify(1), step, step];
    let found = leads_to(&mutants::FewOffers, vcpus, &events);
    assert_eq!(found, Some(Violation::IdleBesideQueued));
    assert_eq!(leads_to(&Unchanged, vcpus, &events), None);
}
