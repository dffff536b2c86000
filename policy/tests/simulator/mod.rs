//! A hart, simulated tick by tick: a simple reference. The test chooses the behaviour of vCPUs and hypervisor.

#![allow(dead_code)] // Each test uses its part.

use std::rc::Rc;
use tactus_abi::blob::Overheads;
use tactus_policy::record::{Figure, Record};
use tactus_policy::reservation::{Account, Kind, Reservation, Wake};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Not started: the test chooses when.
    NotStarted,
    /// Ready to run.
    Ready,
    /// A server that waits: the test chooses until when.
    Waiting,
    /// Waits for the release of its next job at this time.
    Ended(u64),
    /// Its reservation starts at this time.
    Held(u64),
}

#[derive(Clone, Debug)]
pub struct Vcpu {
    pub name: usize,
    pub account: Account,
    pub record: Rc<Record>,
    /// Ticks in all.
    pub executed: u64,
    pub mode: Mode,
    /// The current job has not waited, so that its whole budget is due by its deadline.
    pub full: bool,
    /// Overhead left of the current job.
    pub overhead: u64,
    /// Priority, on a fixed-priority hart.
    pub priority: u64,
    /// A move or change is pending: waiting ends its job.
    pub leaving: bool,
}

/// The choices of a tick. All but `begin` are ignored where they are not possible.
#[derive(Clone, Copy, Debug, Default)]
pub struct Choice {
    /// Bit `n`: the `n`-th vCPU starts, or wakes.
    pub begin: u64,
    /// The running vCPU waits after this tick.
    pub wait: bool,
    /// The hypervisor does not check for more urgent vCPUs for the longest blocking time.
    pub block: bool,
    /// The hypervisor does deferred best-effort work.
    pub does_deferred: bool,
    /// Of several vCPUs with the same deadline the last is picked.
    pub last: bool,
}

/// A job had less than its budget by its deadline.
#[derive(Debug, PartialEq, Eq)]
pub struct Miss {
    pub name: usize,
    pub at: u64,
}

#[derive(Clone, Debug)]
pub struct Hart {
    pub now: u64,
    pub vcpus: Vec<Vcpu>,
    pub overheads: Overheads,
    pub fixed_priority: bool,
    /// The vCPU that ran last, by name.
    pub running: Option<usize>,
    blocked: u64,
    deferred_left: u64,
    deferred_from: u64,
    /// By name: the longest time from a release until the budget has been spent; or until its first tick, if `starts`.
    pub responses: Vec<u64>,
    pub starts: bool,
}

pub fn reservation((period, budget, deadline): (u64, u64, u64)) -> Reservation {
    Reservation::new(period, budget, deadline).expect("in order")
}

impl Hart {
    pub fn new(overheads: Overheads) -> Self {
        Self {
            now: 0,
            vcpus: Vec::new(),
            overheads,
            fixed_priority: false,
            running: None,
            blocked: 0,
            deferred_left: 0,
            deferred_from: 0,
            responses: vec![0; 64],
            starts: false,
        }
    }

    pub fn add(&mut self, name: usize, reservation: Reservation, kind: Kind) {
        self.vcpus.push(Vcpu {
            name,
            account: Account::new(reservation, kind, 0).with_overhead(self.overheads.job),
            record: Rc::default(),
            executed: 0,
            mode: Mode::NotStarted,
            full: true,
            overhead: 0,
            priority: 0,
            leaving: false,
        });
    }

    /// Removes a vCPU, and ends the blocking on its behalf.
    pub fn remove(&mut self, name: usize) {
        self.vcpus.retain(|v| v.name != name);
        if self.running == Some(name) {
            self.blocked = 0;
        }
    }

    /// Whether any vCPU was ready at the end of the last tick.
    pub fn busy(&self) -> bool {
        self.vcpus.iter().any(|v| v.mode == Mode::Ready)
    }

    /// The index of the vCPU to run.
    fn pick(&self, last: bool) -> Option<usize> {
        let urgency = |v: &Vcpu| {
            if self.fixed_priority {
                u64::MAX - v.priority
            } else {
                v.account.deadline()
            }
        };
        let ready = self.vcpus.iter().enumerate();
        ready
            .filter(|(_, v)| v.mode == Mode::Ready)
            .min_by_key(|(i, v)| (urgency(v), if last { usize::MAX - i } else { *i }))
            .map(|(i, _)| i)
    }

    pub fn tick(&mut self, choice: Choice) -> Result<(), Miss> {
        let (now, job) = (self.now, self.overheads.job);
        let ready_before: Vec<bool> = self.vcpus.iter().map(|v| v.mode == Mode::Ready).collect();
        for (i, v) in self.vcpus.iter_mut().enumerate() {
            match v.mode {
                Mode::Ended(at) if at <= now => {
                    v.account.release_next(now, &v.record);
                    (v.mode, v.full, v.overhead) = (Mode::Ready, true, job);
                }
                Mode::Held(at) if at <= now => {
                    v.account
                        .release_with(v.account.reservation(), now, &v.record);
                    (v.mode, v.full, v.overhead, v.leaving) = (Mode::Ready, true, job, false);
                }
                Mode::NotStarted if choice.begin >> i & 1 != 0 => {
                    v.account = Account::new(v.account.reservation(), v.account.kind(), now)
                        .with_overhead(job);
                    (v.mode, v.full, v.overhead) = (Mode::Ready, true, job);
                }
                Mode::Waiting if choice.begin >> i & 1 != 0 => {
                    let job_before = v.record.get(Figure::Jobs);
                    v.mode = match v.account.wake(now, &v.record) {
                        Wake::Now => Mode::Ready,
                        Wake::At(at) => Mode::Ended(at),
                    };
                    (v.full, v.overhead) = (v.record.get(Figure::Jobs) != job_before, job);
                }
                _ => {}
            }
            // The deadline of a server that has waited is guaranteed only without blocking.
            let is_due = v.full || (self.overheads.blocking == 0 && self.overheads.service == 0);
            if v.mode == Mode::Ready
                && is_due
                && now >= v.account.deadline()
                && !self.fixed_priority
            {
                let name = v.name;
                return Err(Miss { name, at: now });
            }
        }
        let running = if self.blocked > 0 {
            let name = self.running;
            self.vcpus.iter().position(|v| Some(v.name) == name)
        } else {
            self.pick(choice.last)
        };
        self.running = running.map(|i| self.vcpus[i].name);
        let release = self.overheads.release.min(job);
        for (i, v) in self.vcpus.iter_mut().enumerate() {
            // One that does not take the hart is released in the time of the one that has it: a part of its overhead.
            if v.mode == Mode::Ready && !ready_before[i] && running != Some(i) && v.overhead == job
            {
                v.overhead -= release;
                self.deferred_left += release;
            }
        }
        if choice.block && self.blocked == 0 && self.overheads.blocking > 0 {
            // A vCPU that becomes ready at the next tick waits for all of it.
            self.blocked = self.overheads.blocking + 1;
        }
        let may_do_deferred =
            self.overheads.service > 0 && now >= self.deferred_from && self.busy();
        if choice.does_deferred && self.deferred_left == 0 && may_do_deferred {
            self.deferred_left = self.overheads.service;
            self.deferred_from = now + self.overheads.service_period;
        }
        self.now += 1;
        if self.deferred_left > 0 {
            self.deferred_left -= 1;
            return Ok(());
        }
        self.blocked = self.blocked.saturating_sub(1);
        let Some(v) = running.map(|i| &mut self.vcpus[i]) else {
            return Ok(());
        };
        if v.overhead > 0 {
            v.overhead -= 1;
            return Ok(());
        }
        if self.starts && v.full && v.account.left() == v.account.reservation().budget {
            let start = &mut self.responses[v.name];
            *start = (*start).max(now - v.account.release());
        }
        v.account.charge(1, self.now, &v.record);
        v.executed += 1;
        if v.account.left() == 0 {
            if v.full && !self.starts {
                let response = &mut self.responses[v.name];
                *response = (*response).max(self.now - v.account.release());
            }
            v.mode = Mode::Ended(v.account.throttle(&v.record));
        } else if choice.wait {
            v.mode = if v.account.kind() == Kind::Server && !v.leaving {
                Mode::Waiting
            } else {
                Mode::Ended(v.account.end_job())
            };
        }
        if v.mode != Mode::Ready {
            self.blocked = 0;
        }
        Ok(())
    }

    /// The choices that affect the next tick.
    pub fn choices(&self) -> Vec<Choice> {
        let begin: Vec<usize> = (0..self.vcpus.len())
            .filter(|i| matches!(self.vcpus[*i].mode, Mode::NotStarted | Mode::Waiting))
            .collect();
        let flags = |allis_due: bool| {
            if allis_due {
                vec![false, true]
            } else {
                vec![false]
            }
        };
        let mut choices = Vec::new();
        for set in 0_u64..1 << begin.len() {
            let begin = (0..)
                .zip(&begin)
                .fold(0, |all, (bit, i)| all | (set >> bit & 1) << i);
            for block in flags(self.overheads.blocking > 0 && self.blocked == 0) {
                for does_deferred in
                    flags(self.overheads.service > 0 && self.now >= self.deferred_from)
                {
                    for (wait, last) in [(false, false), (true, false), (false, true), (true, true)]
                    {
                        choices.push(Choice {
                            begin,
                            wait,
                            block,
                            does_deferred,
                            last,
                        });
                    }
                }
            }
        }
        choices
    }

    /// The state, as far as the future depends on it.
    pub fn key(&self) -> Vec<u8> {
        let now = self.now;
        let mut key = vec![
            self.running.map_or(0, |r| r as u8 + 1),
            self.blocked as u8,
            self.deferred_left as u8,
            self.deferred_from.saturating_sub(now) as u8,
        ];
        for v in &self.vcpus {
            let age = (now - v.account.release()) as u8;
            let left = v.account.left() as u8;
            let period = v.account.reservation().period as u8;
            key.extend(match v.mode {
                Mode::NotStarted => [0, 0, 0, 0],
                Mode::Ready => [1 + u8::from(v.full), age, left, v.overhead as u8],
                Mode::Waiting if age >= period => [3, period, 0, 0],
                Mode::Waiting => [3, age, left, 0],
                Mode::Held(at) | Mode::Ended(at) => {
                    [4, at.saturating_sub(now) as u8, (at < now) as u8, 0]
                }
            });
        }
        key
    }
}

/// Explores all executions, from vCPUs that have not started. Returns the first miss, and the longest responses.
pub fn explore(hart: &Hart) -> (Option<Miss>, Vec<u64>) {
    let mut known = std::collections::HashSet::new();
    let mut open = vec![hart.clone()];
    let mut longest = hart.responses.clone();
    known.insert(hart.key());
    while let Some(hart) = open.pop() {
        for choice in hart.choices() {
            let mut next = hart.clone();
            if let Err(miss) = next.tick(choice) {
                return (Some(miss), longest);
            }
            for (all, one) in longest.iter_mut().zip(&next.responses) {
                *all = (*all).max(*one);
            }
            if known.insert(next.key()) {
                open.push(next);
            }
        }
    }
    (None, longest)
}

/// Pseudo-random numbers: xorshift64*.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Below a limit.
    pub fn below(&mut self, limit: u64) -> u64 {
        (self.next() >> 32) % limit
    }

    /// True once in `times` calls on average.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    pub fn choice(&mut self) -> Choice {
        Choice {
            begin: self.next() & self.next(),
            wait: self.once_in(4),
            block: self.once_in(3),
            does_deferred: self.once_in(2),
            last: self.once_in(2),
        }
    }
}
