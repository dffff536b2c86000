//! A system of two harts and up to four vCPUs, scheduled by [`tactus_policy::schedule`] with the real queues.
//!
//! The model carries out decisions as `hypervisor/src/sched` does: the same steps in the same order, without registers,
//! locks and time. A switch has several steps, between which the other hart continues. A hart publishes its current
//! precedence ([`Hart::runs`]) as late as there, and receives an offer later than it is sent.

use crate::rules::Rules;
use tactus_abi::blob::Class::{self, BestEffort, RealTime};
use tactus_policy::deadline::Deadlines;
use tactus_policy::ready::{Handle, ListQueue, ReadyQueue};
use tactus_policy::schedule::{
    Affinity, Descheduled, End, Preemption, Requeue, SliceEnd, Wakeup, precedence,
};

pub const HARTS: usize = 2;
pub const VCPUS: usize = 4;

/// The configuration of a vCPU.
#[derive(Clone, Copy, Debug)]
pub struct Vcpu {
    pub class: Class,
    pub priority: u8,
    /// A bit for each hart on which it may run. A real-time vCPU has one.
    pub harts: u8,
    /// Real time: the vCPU has a budget, which can be spent.
    pub reserved: bool,
}

/// A best-effort vCPU.
pub const fn best_effort(priority: u8, harts: u8) -> Vcpu {
    Vcpu {
        class: BestEffort,
        priority,
        harts,
        reserved: false,
    }
}

/// A real-time vCPU.
pub const fn real_time(priority: u8, hart: usize, reserved: bool) -> Vcpu {
    Vcpu {
        class: RealTime,
        priority,
        harts: 1 << hart,
        reserved,
    }
}

/// A system.
#[derive(Clone, Debug)]
pub struct System {
    pub vcpus: Vec<Vcpu>,
    /// Real-time vCPUs run by deadline.
    pub by_deadline: bool,
}

/// Handles in the order of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct Order {
    len: u8,
    handles: [u8; VCPUS],
}

impl Order {
    fn iter(&self) -> impl Iterator<Item = usize> {
        let (len, handles) = (usize::from(self.len), self.handles);
        (0..len).map(move |place| usize::from(handles[place]))
    }

    fn push(&mut self, vcpu: usize) {
        self.handles[usize::from(self.len)] = vcpu as u8;
        self.len += 1;
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Activity {
    Waiting,
    Ready,
    Running,
}

/// A vCPU's state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct VcpuState {
    activity: Activity,
    /// The vCPU waits, and has not been woken.
    waits: bool,
    /// The hart that wakes the vCPU.
    home: u8,
    slice_left: bool,
    budget_left: bool,
    deadline: u8,
    /// The slices that each other vCPU of its priority began on a hart of this one, since this one was queued.
    passed_by: [u8; VCPUS],
}

/// A hart's position in the scheduler's code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Phase {
    /// The hart runs the guest of its current vCPU.
    Guest,
    /// The current vCPU has to leave the hart: `needs_resched`.
    Resched,
    /// `switch_fast` and `preempt`: `to` has left its queue, and will replace the current vCPU.
    Switching { to: u8 },
    /// The same: `from` has not been requeued yet.
    Requeueing { from: u8, waits: bool },
    /// `pick_next_or_idle`: no vCPU is current.
    Picking,
    /// The same: `to` has left its queue.
    Picked { to: u8 },
    /// The hart has found no vCPU, and has not published that yet.
    BecomingIdle,
    /// The hart waits for an interrupt.
    Idle,
}

/// A hart's state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Hart {
    phase: Phase,
    current: Option<u8>,
    next: Option<u8>,
    soft_affine: Option<u8>,
    /// The precedence of the current vCPU as other harts see it.
    runs: u32,
    /// An offer has been sent to the hart.
    offered: bool,
    /// The hart has queued a best-effort vCPU, and has not offered it to other harts.
    unoffered: bool,
    /// Queued real-time vCPUs.
    real_time: Order,
}

/// A step of a hart or of its guest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// A notification reaches the vCPU's home hart, with the deadline of the vCPU's job.
    Notify { vcpu: usize, deadline: u8 },
    /// The timeout of a waiting best-effort vCPU expires.
    Timeout { vcpu: usize },
    /// The deferral period of the hart is over.
    Deferral { hart: usize },
    /// The current vCPU waits.
    Wait { hart: usize },
    /// The slice ends, and the timer interrupts.
    SliceEnds { hart: usize },
    /// The slice ends while the vCPU is about to leave the hart.
    SliceRunsOut { hart: usize },
    /// The budget is spent.
    BudgetEnds { hart: usize },
    /// The hart handles an offer.
    TakeOffer { hart: usize },
    /// The hart's next step in the scheduler.
    Step { hart: usize },
    /// The same, on the slow path, for a reason that the model does not have.
    Deschedule { hart: usize },
}

impl Event {
    /// Whether the event needs neither a guest nor time, and so happens soon.
    pub fn is_internal(self) -> bool {
        matches!(
            self,
            Self::TakeOffer { .. } | Self::Step { .. } | Self::Deschedule { .. }
        )
    }
}

/// A property that must not occur.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Violation {
    /// A vCPU is in no place or in two, or its activity is not that of its place.
    NotInOnePlace,
    /// A real-time vCPU waits while its home hart runs a less urgent one, a best-effort one or nothing.
    RealTimeWaits,
    /// A best-effort vCPU has a soft affinity to a hart that runs no real-time vCPU.
    AffinityOutlivesRealTime,
    /// A vCPU runs on a hart outside its affinity.
    WrongHart,
    /// A vCPU gets a hart while it waits.
    RunsWithoutWakeup,
    /// A vCPU runs without budget.
    RunsWithoutBudget,
    /// In a quiescent state, a best-effort vCPU is queued although a hart of its affinity is idle.
    IdleBesideQueued,
    /// In a quiescent state, a best-effort vCPU is queued although a hart of its affinity runs one of lower priority.
    PriorityInverted,
    /// A vCPU was queued while another one of its priority began two slices on harts of its affinity.
    PassedOverTwice,
    /// Steps of harts continue for ever without a guest.
    Livelock,
}

impl Violation {
    /// Whether the model cannot continue after the violation.
    pub fn ends_model(self) -> bool {
        matches!(
            self,
            Self::NotInOnePlace | Self::RunsWithoutWakeup | Self::PassedOverTwice
        )
    }
}

/// The state of a system.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State {
    vcpus: [VcpuState; VCPUS],
    harts: [Hart; HARTS],
    /// Queued best-effort vCPUs.
    queue: Order,
}

impl State {
    /// The state in which all vCPUs wait.
    pub fn new(system: &System) -> Self {
        let mut vcpus = [VcpuState {
            activity: Activity::Waiting,
            waits: true,
            home: 0,
            slice_left: true,
            budget_left: true,
            deadline: 0,
            passed_by: [0; VCPUS],
        }; VCPUS];
        for (state, vcpu) in vcpus.iter_mut().zip(&system.vcpus) {
            state.home = vcpu.harts.trailing_zeros() as u8;
        }
        Self {
            vcpus,
            harts: [Hart {
                phase: Phase::Idle,
                current: None,
                next: None,
                soft_affine: None,
                runs: precedence::IDLE,
                offered: false,
                unoffered: false,
                real_time: Order::default(),
            }; HARTS],
            queue: Order::default(),
        }
    }
}

/// A state, the system and the rules of its transitions.
pub struct Model<'a, R: Rules> {
    pub system: &'a System,
    pub rules: &'a R,
    pub state: State,
    /// A violation found during a step.
    pub violation: Option<Violation>,
}

impl<R: Rules> Model<'_, R> {
    fn vcpu(&self, vcpu: usize) -> Vcpu {
        self.system.vcpus[vcpu]
    }

    fn precedence(&self, vcpu: usize) -> u32 {
        let Vcpu {
            class, priority, ..
        } = self.vcpu(vcpu);
        precedence::of(class, priority)
    }

    fn may_run_on(&self, vcpu: usize, hart: usize) -> bool {
        self.vcpu(vcpu).harts >> hart & 1 != 0
    }

    fn current(&self, hart: usize) -> Option<usize> {
        self.state.harts[hart].current.map(usize::from)
    }

    fn runs_real_time(&self, hart: usize) -> bool {
        self.current(hart)
            .is_some_and(|vcpu| self.vcpu(vcpu).class == RealTime)
    }

    /// All events that may come next.
    pub fn events(&self) -> Vec<Event> {
        let mut events = Vec::with_capacity(16);
        for vcpu in 0..self.system.vcpus.len() {
            let VcpuState { activity, home, .. } = self.state.vcpus[vcpu];
            let hart = usize::from(home);
            if activity != Activity::Waiting
                || self.is_leaving(vcpu)
                || !self.takes_interrupts(hart)
            {
                continue;
            }
            let deadlines = if self.system.by_deadline && self.vcpu(vcpu).class == RealTime {
                // Different for each vCPU, so that no two are equally urgent.
                1..3
            } else {
                0..1
            };
            for late in deadlines {
                let deadline = if late == 0 {
                    0
                } else {
                    late * VCPUS as u8 + vcpu as u8
                };
                events.push(Event::Notify { vcpu, deadline });
            }
            if self.vcpu(vcpu).class == BestEffort && self.does_deferred_work(hart) {
                events.push(Event::Timeout { vcpu });
            }
        }
        for hart in 0..HARTS {
            self.events_of(hart, &mut events);
        }
        events
    }

    fn events_of(&self, hart: usize, events: &mut Vec<Event>) {
        let state = &self.state.harts[hart];
        let current = state.current.map(usize::from);
        if state.offered && self.takes_interrupts(hart) {
            events.push(Event::TakeOffer { hart });
        }
        if state.phase == Phase::Guest {
            events.push(Event::Wait { hart });
            if !self.runs_real_time(hart) {
                events.push(Event::SliceEnds { hart });
            } else if state.soft_affine.is_some() || state.unoffered {
                events.push(Event::Deferral { hart });
            }
        }
        if let (Phase::Guest | Phase::Resched, Some(vcpu)) = (state.phase, current) {
            let reserved = self.vcpu(vcpu).reserved;
            if reserved && self.state.vcpus[vcpu].budget_left {
                events.push(Event::BudgetEnds { hart });
            }
        }
        if let (Phase::Resched, Some(vcpu)) = (state.phase, current) {
            if self.vcpu(vcpu).class == BestEffort && self.state.vcpus[vcpu].slice_left {
                events.push(Event::SliceRunsOut { hart });
            }
            events.push(Event::Deschedule { hart });
        }
        if !matches!(state.phase, Phase::Guest | Phase::Idle) {
            events.push(Event::Step { hart });
        }
    }

    /// Whether the hart serves interrupts in this phase, or before its next step.
    fn takes_interrupts(&self, hart: usize) -> bool {
        matches!(
            self.state.harts[hart].phase,
            Phase::Guest | Phase::Resched | Phase::Picking | Phase::Idle
        )
    }

    /// Whether the vCPU waits, and has not left its hart yet.
    fn is_leaving(&self, vcpu: usize) -> bool {
        self.state.harts.iter().any(|hart| {
            let from = match hart.phase {
                Phase::Requeueing { from, .. } => Some(from),
                _ => None,
            };
            hart.current == Some(vcpu as u8) || from == Some(vcpu as u8)
        })
    }

    fn does_deferred_work(&self, hart: usize) -> bool {
        let state = &self.state.harts[hart];
        self.rules.does_deferred_work(
            state.next.is_some(),
            state.phase == Phase::Resched,
            self.runs_real_time(hart),
            true,
        )
    }

    /// Applies one of [`Model::events`].
    pub fn apply(&mut self, event: Event) {
        match event {
            Event::Notify { vcpu, deadline } => {
                let hart = usize::from(self.state.vcpus[vcpu].home);
                self.state.vcpus[vcpu].deadline = deadline;
                self.interrupt(hart);
                if self.wake(hart, vcpu) {
                    self.push_to_hart(hart, vcpu);
                    self.offer_queued_unless_real_time(hart);
                }
            }
            Event::Timeout { vcpu } => {
                let hart = usize::from(self.state.vcpus[vcpu].home);
                self.interrupt(hart);
                self.do_deferred_work(hart, Some(vcpu));
            }
            Event::Deferral { hart } => {
                if self.does_deferred_work(hart) {
                    self.do_deferred_work(hart, None);
                }
            }
            Event::Wait { hart } => {
                if let Some(vcpu) = self.current(hart) {
                    self.state.vcpus[vcpu].activity = Activity::Waiting;
                    self.state.vcpus[vcpu].waits = true;
                }
                self.resched(hart);
            }
            Event::SliceEnds { hart } => self.end_slice(hart),
            Event::SliceRunsOut { hart } => {
                if let Some(vcpu) = self.current(hart) {
                    self.state.vcpus[vcpu].slice_left = false;
                }
            }
            Event::BudgetEnds { hart } => {
                if let Some(vcpu) = self.current(hart) {
                    self.state.vcpus[vcpu].budget_left = false;
                }
                self.resched(hart);
            }
            Event::TakeOffer { hart } => self.take_offer(hart),
            Event::Step { hart } => self.step(hart),
            Event::Deschedule { hart } => {
                if let Some(vcpu) = self.current(hart) {
                    self.deschedule(hart, vcpu);
                }
            }
        }
    }

    /// Ends the wait of an idle hart by an interrupt.
    fn interrupt(&mut self, hart: usize) {
        let phase = &mut self.state.harts[hart].phase;
        if *phase == Phase::Idle {
            *phase = Phase::Picking;
        }
    }

    fn resched(&mut self, hart: usize) {
        let phase = &mut self.state.harts[hart].phase;
        if *phase == Phase::Guest {
            *phase = Phase::Resched;
        }
    }

    /// `block::wake`; returns whether the vCPU may be offered to another hart.
    fn wake(&mut self, hart: usize, vcpu: usize) -> bool {
        self.state.vcpus[vcpu].budget_left = true;
        self.state.vcpus[vcpu].waits = false;
        let Hart { next, current, .. } = self.state.harts[hart];
        let ahead = next.or(current).map(usize::from);
        let wakeup = self.rules.wake(
            self.vcpu(vcpu).class,
            ahead.map(|ahead| self.vcpu(ahead).class),
            ahead.is_some_and(|ahead| self.comes_before(vcpu, ahead)),
            self.state.harts[hart].real_time.len > 0,
            self.may_run_on(vcpu, hart),
        );
        match wakeup {
            Wakeup::Preempts => {
                self.state.vcpus[vcpu].activity = Activity::Ready;
                let other = self.state.harts[hart].next.replace(vcpu as u8);
                if let Some(other) = other {
                    self.enqueue(hart, usize::from(other), End::Head);
                }
                self.resched(hart);
                return false;
            }
            Wakeup::Queued | Wakeup::Reschedules | Wakeup::Offered => {
                self.enqueue(hart, vcpu, End::Tail);
            }
        }
        if wakeup == Wakeup::Reschedules {
            self.resched(hart);
        }
        wakeup == Wakeup::Offered
    }

    fn comes_before(&self, vcpu: usize, other: usize) -> bool {
        let by_deadline = self.system.by_deadline && self.vcpu(vcpu).class == RealTime;
        let deadline = |vcpu: usize| u64::from(self.state.vcpus[vcpu].deadline);
        self.rules.comes_before(
            by_deadline,
            [self.precedence(vcpu), self.precedence(other)],
            [deadline(vcpu), deadline(other)],
        )
    }

    /// `run_queue::enqueue`.
    fn enqueue(&mut self, hart: usize, vcpu: usize, end: End) {
        self.state.vcpus[vcpu].activity = Activity::Ready;
        let Vcpu {
            class, priority, ..
        } = self.vcpu(vcpu);
        let (handle, head) = (vcpu as Handle, end == End::Head);
        match class {
            RealTime if self.system.by_deadline => {
                let deadline = u64::from(self.state.vcpus[vcpu].deadline);
                self.with_edf(hart, |queue| queue.set(handle, deadline));
            }
            RealTime => {
                self.with_real_time(hart, |queue| queue.insert(handle, priority, head));
            }
            BestEffort => {
                self.state.vcpus[vcpu].passed_by = [0; VCPUS];
                self.with_best_effort(|queue| queue.insert(handle, priority, head));
                self.state.harts[hart].unoffered = R::OFFERS_AFTER_CHOICE;
            }
        }
    }

    /// Applies an operation to the shared queue, which is built from its order and stored as its order again.
    fn with_best_effort<T>(&mut self, act: impl FnOnce(&mut ListQueue<VCPUS>) -> T) -> T {
        let mut order = self.state.queue;
        let result = self.with_queue(&mut order, act);
        self.state.queue = order;
        result
    }

    fn with_real_time<T>(
        &mut self,
        hart: usize,
        act: impl FnOnce(&mut ListQueue<VCPUS>) -> T,
    ) -> T {
        let mut order = self.state.harts[hart].real_time;
        let result = self.with_queue(&mut order, act);
        self.state.harts[hart].real_time = order;
        result
    }

    fn with_queue<T>(&self, order: &mut Order, act: impl FnOnce(&mut ListQueue<VCPUS>) -> T) -> T {
        let mut queue = ListQueue::bitmap();
        for vcpu in order.iter() {
            queue.insert(vcpu as Handle, self.vcpu(vcpu).priority, false);
        }
        let result = act(&mut queue);
        *order = Order::default();
        while let Some(handle) = queue.pop() {
            order.push(usize::from(handle));
        }
        result
    }

    fn with_edf<T>(&mut self, hart: usize, act: impl FnOnce(&mut Deadlines<VCPUS>) -> T) -> T {
        let mut queue = Deadlines::new();
        for vcpu in self.state.harts[hart].real_time.iter() {
            queue.set(vcpu as Handle, u64::from(self.state.vcpus[vcpu].deadline));
        }
        let result = act(&mut queue);
        let order = &mut self.state.harts[hart].real_time;
        *order = Order::default();
        while let Some(handle) = queue.pop() {
            order.push(usize::from(handle));
        }
        result
    }

    fn highest(&mut self) -> Option<u8> {
        self.with_best_effort(|queue| ListQueue::highest(queue))
    }

    /// `run_queue::pick_next`.
    fn pick_next(&mut self, hart: usize) -> Option<usize> {
        let real_time = if self.system.by_deadline {
            self.with_edf(hart, Deadlines::pop)
        } else {
            self.with_real_time(hart, ReadyQueue::pop)
        };
        if let Some(handle) = real_time {
            return Some(usize::from(handle));
        }
        if R::CHOOSES_AS_IDLE {
            // vCPUs that are queued from here on are offered to this hart, which has not published its choice.
            self.state.harts[hart].runs = precedence::IDLE;
        }
        if let Some(held) = self.state.harts[hart].soft_affine.take().map(usize::from) {
            let slice_left = self.state.vcpus[held].slice_left;
            let highest = self.highest();
            match self
                .rules
                .resume_affine(self.vcpu(held).priority, slice_left, highest)
            {
                Affinity::Resumes => return Some(held),
                Affinity::Ends(end) => self.enqueue(hart, held, end),
            }
        }
        let vcpus = &self.system.vcpus;
        let mut queue = self.state.queue;
        let picked = self.with_queue(&mut queue, |queue| {
            queue.pop_where(&mut |handle| vcpus[usize::from(handle)].harts >> hart & 1 != 0)
        });
        self.state.queue = queue;
        picked.map(|(handle, _)| usize::from(handle))
    }

    /// `run_queue::push_to_hart`.
    fn push_to_hart(&mut self, hart: usize, vcpu: usize) {
        if R::OFFERS_AFTER_CHOICE {
            return;
        }
        let harts = (0..HARTS)
            .filter(|other| *other != hart && self.may_run_on(vcpu, *other))
            .map(|other| (other, self.state.harts[other].runs))
            .collect();
        if let Some(other) = self.rules.choose_hart(self.precedence(vcpu), harts) {
            self.state.harts[other].offered = true;
        }
    }

    /// `run_queue::kick_idle_harts`.
    fn kick_idle_harts(&mut self, hart: usize) {
        if R::OFFERS_AFTER_CHOICE {
            return;
        }
        for other in (0..HARTS).filter(|other| *other != hart) {
            let has_work = self.has_queued_work(other);
            if self.rules.is_kicked(self.state.harts[other].runs, has_work) {
                self.state.harts[other].offered = true;
            }
        }
    }

    /// After a choice: offers the vCPUs that the hart has queued to harts that run less urgent ones.
    fn offer_queued(&mut self, hart: usize) {
        if !std::mem::take(&mut self.state.harts[hart].unoffered) {
            return;
        }
        for other in (0..HARTS).filter(|other| *other != hart) {
            let queued = self.state.queue.iter();
            let here = queued.filter(|vcpu| self.may_run_on(*vcpu, other));
            let highest = here.map(|vcpu| self.vcpu(vcpu).priority).max();
            let runs = self.state.harts[other].runs;
            if self.rules.accepts_offer(highest, runs) {
                self.state.harts[other].offered = true;
            }
        }
    }

    /// The same without delay for a real-time vCPU, whose hart offers with the deferred work.
    fn offer_queued_unless_real_time(&mut self, hart: usize) {
        if !self.runs_real_time(hart) {
            self.offer_queued(hart);
        }
    }

    fn has_queued_work(&self, hart: usize) -> bool {
        self.state
            .queue
            .iter()
            .any(|vcpu| self.may_run_on(vcpu, hart))
    }

    /// `deferred::do_deferred_work`, and the vCPU's wake-up.
    fn do_deferred_work(&mut self, hart: usize, vcpu: Option<usize>) {
        let mut for_others = self.runs_real_time(hart) && self.state.harts[hart].unoffered;
        if self.runs_real_time(hart)
            && let Some(held) = self.state.harts[hart].soft_affine.take()
        {
            let held = usize::from(held);
            let end = self
                .rules
                .expire_affinity(self.state.vcpus[held].slice_left);
            self.enqueue(hart, held, end);
            for_others = true;
        }
        if let Some(vcpu) = vcpu {
            for_others |= self.wake(hart, vcpu);
        }
        if for_others {
            self.kick_idle_harts(hart);
            if self.runs_real_time(hart) {
                self.delegate_offers(hart);
            } else {
                self.offer_queued(hart);
            }
        }
    }

    /// `run_queue::delegate_offers`.
    fn delegate_offers(&mut self, hart: usize) {
        let other = (0..HARTS)
            .filter(|other| *other != hart)
            .find(|other| self.state.harts[*other].runs < precedence::REAL_TIME);
        if let Some(other) = other
            && std::mem::take(&mut self.state.harts[hart].unoffered)
        {
            self.state.harts[other].offered = true;
        }
    }

    fn end_slice(&mut self, hart: usize) {
        let Some(vcpu) = self.current(hart) else {
            return;
        };
        let Vcpu {
            class, priority, ..
        } = self.vcpu(vcpu);
        let highest = self.highest();
        match self.rules.end_slice(class, priority, highest) {
            SliceEnd::Renewed => self.begin_slice(hart, vcpu),
            SliceEnd::Yields => {
                self.state.vcpus[vcpu].slice_left = false;
                self.resched(hart);
            }
        }
    }

    /// Begins a whole slice, which passes over the queued vCPUs of its priority that may run on the hart.
    fn begin_slice(&mut self, hart: usize, vcpu: usize) {
        self.state.vcpus[vcpu].slice_left = true;
        for queued in self.state.queue.iter() {
            let equal = self.precedence(queued) == self.precedence(vcpu);
            if equal && self.may_run_on(queued, hart) {
                let passed = &mut self.state.vcpus[queued].passed_by[vcpu];
                *passed += 1;
                if *passed > 1 {
                    self.violation = Some(Violation::PassedOverTwice);
                }
            }
        }
    }

    /// `run_queue::consider_offer`.
    fn take_offer(&mut self, hart: usize) {
        self.state.harts[hart].offered = false;
        let highest = self.highest();
        let runs = self
            .current(hart)
            .map_or(precedence::IDLE, |vcpu| self.precedence(vcpu));
        self.state.harts[hart].unoffered = R::OFFERS_AFTER_CHOICE;
        if self.rules.accepts_offer(highest, runs) {
            self.resched(hart);
        } else if runs < precedence::REAL_TIME {
            self.offer_queued(hart);
        }
        self.interrupt(hart);
    }

    /// Carries out the hart's next step in the scheduler.
    fn step(&mut self, hart: usize) {
        let Hart { phase, current, .. } = self.state.harts[hart];
        match (phase, current.map(usize::from)) {
            (Phase::Resched, Some(vcpu)) => self.schedule(hart, vcpu),
            (Phase::Switching { to }, Some(vcpu)) => {
                let waits = self.state.vcpus[vcpu].activity == Activity::Waiting;
                self.set_current(hart, usize::from(to));
                let from = vcpu as u8;
                self.state.harts[hart].phase = Phase::Requeueing { from, waits };
            }
            (Phase::Requeueing { from, waits }, Some(next)) => {
                let from = usize::from(from);
                self.state.harts[hart].phase = Phase::Guest;
                self.requeue(hart, from);
                let class = self.vcpu(from).class;
                if !waits && class == BestEffort {
                    self.kick_idle_harts(hart);
                }
                self.offer_queued_unless_real_time(hart);
                let (before, now) = (self.precedence(from), self.precedence(next));
                if self.rules.is_inverted(class, waits, before, now) {
                    self.resched(hart);
                }
            }
            (Phase::Picking, _) => {
                let next = self.state.harts[hart].next.take().map(usize::from);
                self.state.harts[hart].phase = match next.or_else(|| self.pick_next(hart)) {
                    Some(to) => Phase::Picked { to: to as u8 },
                    None => Phase::BecomingIdle,
                };
            }
            (Phase::Picked { to }, _) => {
                self.set_current(hart, usize::from(to));
                if self.vcpu(usize::from(to)).class == BestEffort {
                    self.kick_idle_harts(hart);
                }
                self.offer_queued_unless_real_time(hart);
            }
            (Phase::BecomingIdle, _) => {
                self.state.harts[hart].runs = precedence::IDLE;
                self.state.harts[hart].unoffered = false;
                self.state.harts[hart].phase = if self.has_queued_work(hart) {
                    Phase::Picking
                } else {
                    Phase::Idle
                };
            }
            other => unreachable!("{other:?}"),
        }
    }

    /// `schedule`: `preempt` or `switch_fast`.
    fn schedule(&mut self, hart: usize, vcpu: usize) {
        let VcpuState {
            activity,
            slice_left,
            budget_left,
            ..
        } = self.state.vcpus[vcpu];
        let Vcpu {
            class, reserved, ..
        } = self.vcpu(vcpu);
        let waits = activity == Activity::Waiting;
        if let Some(next) = self.state.harts[hart].next.take() {
            let is_free = self.state.harts[hart].soft_affine.is_none();
            match self.rules.preempt(class, !waits, is_free) {
                Preemption::KeepsAffinity => {
                    self.state.harts[hart].soft_affine = Some(vcpu as u8);
                    self.state.vcpus[vcpu].activity = Activity::Ready;
                    self.set_current(hart, usize::from(next));
                    self.offer_queued_unless_real_time(hart);
                }
                Preemption::Requeues => {
                    self.state.harts[hart].phase = Phase::Switching { to: next };
                }
            }
        } else if self
            .rules
            .may_switch(class, waits, !slice_left, reserved && !budget_left)
            && let Some(next) = self.pick_next(hart)
        {
            self.state.harts[hart].phase = Phase::Switching { to: next as u8 };
        } else {
            self.deschedule(hart, vcpu);
        }
    }

    /// `deschedule`, up to `pick_next_or_idle`.
    fn deschedule(&mut self, hart: usize, vcpu: usize) {
        self.state.harts[hart].current = None;
        self.state.harts[hart].phase = Phase::Picking;
        self.requeue(hart, vcpu);
    }

    /// `switch::set_current`.
    fn set_current(&mut self, hart: usize, vcpu: usize) {
        if self.state.vcpus[vcpu].waits {
            self.violation = Some(Violation::RunsWithoutWakeup);
        }
        self.state.vcpus[vcpu].activity = Activity::Running;
        self.state.vcpus[vcpu].home = hart as u8;
        self.state.vcpus[vcpu].passed_by = [0; VCPUS];
        if !self.state.vcpus[vcpu].slice_left {
            self.begin_slice(hart, vcpu);
        }
        let runs = self.precedence(vcpu);
        let state = &mut self.state.harts[hart];
        state.current = Some(vcpu as u8);
        state.runs = runs;
        state.phase = Phase::Guest;
    }

    /// `switch::requeue`.
    fn requeue(&mut self, hart: usize, vcpu: usize) {
        let Vcpu {
            class, reserved, ..
        } = self.vcpu(vcpu);
        let VcpuState {
            activity,
            slice_left,
            budget_left,
            ..
        } = self.state.vcpus[vcpu];
        let Hart {
            next, soft_affine, ..
        } = self.state.harts[hart];
        let descheduled = Descheduled {
            class,
            waits: activity == Activity::Waiting,
            slice_left,
            may_keep_affinity: next.is_some() && soft_affine.is_none(),
        };
        match self
            .rules
            .requeue(descheduled, reserved, reserved && !budget_left)
        {
            Requeue::Blocks | Requeue::EndsJob | Requeue::Throttled => {
                self.state.vcpus[vcpu].activity = Activity::Waiting;
                self.state.vcpus[vcpu].waits = true;
            }
            Requeue::KeepsAffinity => {
                self.state.vcpus[vcpu].activity = Activity::Ready;
                self.state.harts[hart].soft_affine = Some(vcpu as u8);
            }
            Requeue::Queued(end) => {
                self.enqueue(hart, vcpu, end);
                if class == BestEffort && !self.may_run_on(vcpu, hart) {
                    self.push_to_hart(hart, vcpu);
                }
            }
        }
    }

    /// The first violation in the state.
    pub fn check(&self) -> Option<Violation> {
        self.violation
            .or_else(|| self.check_places())
            .or_else(|| (0..HARTS).find_map(|hart| self.check_hart(hart)))
            .or_else(|| self.check_quiescence())
    }

    fn check_places(&self) -> Option<Violation> {
        for vcpu in 0..self.system.vcpus.len() {
            let is = |slot: Option<u8>| usize::from(slot == Some(vcpu as u8));
            let mut running = 0;
            let mut ready = self
                .state
                .queue
                .iter()
                .filter(|other| *other == vcpu)
                .count();
            let mut leaving = 0;
            for hart in &self.state.harts {
                running += is(hart.current);
                ready += is(hart.next) + is(hart.soft_affine);
                ready += hart.real_time.iter().filter(|other| *other == vcpu).count();
                match hart.phase {
                    Phase::Switching { to } | Phase::Picked { to } => ready += is(Some(to)),
                    Phase::Requeueing { from, .. } => leaving += is(Some(from)),
                    _ => {}
                }
            }
            let right = match self.state.vcpus[vcpu].activity {
                // A vCPU that waits may still be current until it has left its hart.
                Activity::Waiting => ready == 0 && running + leaving <= 1,
                Activity::Ready => ready == 1 && running + leaving == 0,
                Activity::Running => running + leaving == 1 && ready == 0,
            };
            if !right {
                return Some(Violation::NotInOnePlace);
            }
        }
        None
    }

    fn check_hart(&self, hart: usize) -> Option<Violation> {
        let state = &self.state.harts[hart];
        let current = state.current.map(usize::from);
        if current.is_some_and(|vcpu| !self.may_run_on(vcpu, hart)) {
            return Some(Violation::WrongHart);
        }
        if !matches!(state.phase, Phase::Guest | Phase::Idle) {
            return None;
        }
        let aside = [state.next, state.soft_affine].into_iter().flatten();
        let aside = aside
            .map(usize::from)
            .filter(|vcpu| self.vcpu(*vcpu).class == RealTime);
        let mut waits = state.real_time.iter().chain(aside);
        let urgent = |vcpu: usize| match current {
            Some(current) if self.vcpu(current).class == RealTime => {
                self.is_more_urgent(vcpu, current)
            }
            _ => true,
        };
        if waits.any(urgent) {
            return Some(Violation::RealTimeWaits);
        }
        if state.soft_affine.is_some() && !self.runs_real_time(hart) {
            return Some(Violation::AffinityOutlivesRealTime);
        }
        let without = current
            .is_some_and(|vcpu| self.vcpu(vcpu).reserved && !self.state.vcpus[vcpu].budget_left);
        without.then_some(Violation::RunsWithoutBudget)
    }

    /// The specification of the order among real-time vCPUs.
    fn is_more_urgent(&self, vcpu: usize, other: usize) -> bool {
        if self.system.by_deadline {
            self.state.vcpus[vcpu].deadline < self.state.vcpus[other].deadline
        } else {
            self.vcpu(vcpu).priority > self.vcpu(other).priority
        }
    }

    /// Whether nothing happens until a guest runs or time advances.
    fn is_quiescent(&self) -> bool {
        (0..HARTS).all(|hart| {
            let Hart {
                phase,
                offered,
                unoffered,
                ..
            } = self.state.harts[hart];
            let deferral_is_due = unoffered && self.runs_real_time(hart);
            matches!(phase, Phase::Guest | Phase::Idle) && !offered && !deferral_is_due
        })
    }

    fn check_quiescence(&self) -> Option<Violation> {
        if !self.is_quiescent() {
            return None;
        }
        let mut found = None;
        for queued in self.state.queue.iter() {
            for hart in (0..HARTS).filter(|hart| self.may_run_on(queued, *hart)) {
                let lower = |vcpu: usize| {
                    self.vcpu(vcpu).class == BestEffort
                        && self.vcpu(vcpu).priority < self.vcpu(queued).priority
                };
                match self.current(hart) {
                    None => return Some(Violation::IdleBesideQueued),
                    Some(vcpu) if lower(vcpu) => found = Some(Violation::PriorityInverted),
                    Some(_) => {}
                }
            }
        }
        found
    }
}
