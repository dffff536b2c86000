//! A hart, tick by tick: too simple to be wrong. What vCPUs and hypervisor do within their rights is for the test to choose.

#![allow(dead_code)] // Each test uses its part.

use tactus_abi::blob::Overheads;
use tactus_policy::reservation::{Account, Kind, Reservation, Wake};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Not begun: the test chooses when.
    Unborn,
    /// It has something to do.
    Ready,
    /// A server that waits: the test chooses until when.
    Waiting,
    /// Its next job is released then.
    Ended(u64),
    /// Its reservation begins then.
    Held(u64),
}

#[derive(Clone, Debug)]
pub struct Vcpu {
    pub name: usize,
    pub account: Account,
    pub mode: Mode,
    /// The present job has not waited, so its whole budget is due by its deadline.
    pub full: bool,
    /// What the hypervisor still takes for the present job.
    pub overhead: u64,
    /// Of a fixed-priority hart.
    pub priority: u64,
    /// It is to move or to change: when it waits, its job ends.
    pub leaving: bool,
}

/// What is chosen for a tick. All but `begin` is ignored where it is not allowed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Choice {
    /// Bit `n`: the `n`-th vCPU begins, or wakes.
    pub begin: u64,
    /// Who runs waits after this tick.
    pub wait: bool,
    /// From now on nothing else is looked at for as long as that may be.
    pub block: bool,
    /// The hypervisor serves best-effort vCPUs.
    pub serve: bool,
    /// Of several with the same deadline the last is first.
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
    /// Who has run last, by name.
    pub running: Option<usize>,
    blocked: u64,
    serving: u64,
    serves_from: u64,
    /// The longest time from release to having had the budget, by name.
    pub responses: Vec<u64>,
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
            serving: 0,
            serves_from: 0,
            responses: vec![0; 64],
        }
    }

    pub fn add(&mut self, name: usize, reservation: Reservation, kind: Kind) {
        self.vcpus.push(Vcpu {
            name,
            account: Account::new(reservation, kind, 0).with_overhead(self.overheads.job),
            mode: Mode::Unborn,
            full: true,
            overhead: 0,
            priority: 0,
            leaving: false,
        });
    }

    /// It is no more. If the hypervisor was at work for it, that ends.
    pub fn remove(&mut self, name: usize) {
        self.vcpus.retain(|v| v.name != name);
        if self.running == Some(name) {
            self.blocked = 0;
        }
    }

    /// Has any vCPU something to do, at the end of the tick before?
    pub fn busy(&self) -> bool {
        self.vcpus.iter().any(|v| v.mode == Mode::Ready)
    }

    /// Whom to run: an index.
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
        for (i, v) in self.vcpus.iter_mut().enumerate() {
            match v.mode {
                Mode::Ended(at) if at <= now => {
                    v.account.renew(now);
                    (v.mode, v.full, v.overhead) = (Mode::Ready, true, job);
                }
                Mode::Held(at) if at <= now => {
                    v.account.renew_as(v.account.reservation(), now);
                    (v.mode, v.full, v.overhead, v.leaving) = (Mode::Ready, true, job, false);
                }
                Mode::Unborn if choice.begin >> i & 1 != 0 => {
                    v.account = Account::new(v.account.reservation(), v.account.kind(), now)
                        .with_overhead(job);
                    (v.mode, v.full, v.overhead) = (Mode::Ready, true, job);
                }
                Mode::Waiting if choice.begin >> i & 1 != 0 => {
                    let job_before = v.account.jobs;
                    v.mode = match v.account.wake(now) {
                        Wake::Now => Mode::Ready,
                        Wake::At(at) => Mode::Ended(at),
                    };
                    (v.full, v.overhead) = (v.account.jobs != job_before, job);
                }
                _ => {}
            }
            // A server that has waited is only owed its deadline where nothing blocks.
            let owed = v.full || (self.overheads.blocking == 0 && self.overheads.service == 0);
            if v.mode == Mode::Ready && owed && now >= v.account.deadline() && !self.fixed_priority
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
        if choice.block && self.blocked == 0 && self.overheads.blocking > 0 {
            // Whoever comes at the next tick waits for all of it.
            self.blocked = self.overheads.blocking + 1;
        }
        let may_serve = self.overheads.service > 0 && now >= self.serves_from && self.busy();
        if choice.serve && self.serving == 0 && may_serve {
            self.serving = self.overheads.service;
            self.serves_from = now + self.overheads.service_period;
        }
        self.now += 1;
        if self.serving > 0 {
            self.serving -= 1;
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
        v.account.charge(1);
        if v.account.left() == 0 {
            if v.full {
                let response = &mut self.responses[v.name];
                *response = (*response).max(self.now - v.account.release());
            }
            v.mode = Mode::Ended(v.account.cut_off(self.now));
        } else if choice.wait {
            v.mode = if v.account.kind() == Kind::Server && !v.leaving {
                Mode::Waiting
            } else {
                Mode::Ended(v.account.done(self.now))
            };
        }
        if v.mode != Mode::Ready {
            self.blocked = 0;
        }
        Ok(())
    }

    /// The choices that make a difference in the next tick.
    pub fn choices(&self) -> Vec<Choice> {
        let begin: Vec<usize> = (0..self.vcpus.len())
            .filter(|i| matches!(self.vcpus[*i].mode, Mode::Unborn | Mode::Waiting))
            .collect();
        let flags = |allowed: bool| {
            if allowed {
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
                for serve in flags(self.overheads.service > 0 && self.now >= self.serves_from) {
                    for (wait, last) in [(false, false), (true, false), (false, true), (true, true)]
                    {
                        choices.push(Choice {
                            begin,
                            wait,
                            block,
                            serve,
                            last,
                        });
                    }
                }
            }
        }
        choices
    }

    /// What the future depends on.
    pub fn key(&self) -> Vec<u8> {
        let now = self.now;
        let mut key = vec![
            self.running.map_or(0, |r| r as u8 + 1),
            self.blocked as u8,
            self.serving as u8,
            self.serves_from.saturating_sub(now) as u8,
        ];
        for v in &self.vcpus {
            let age = (now - v.account.release()) as u8;
            let left = v.account.left() as u8;
            let period = v.account.reservation().period as u8;
            key.extend(match v.mode {
                Mode::Unborn => [0, 0, 0, 0],
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

/// Explores everything that may happen, from vCPUs that have not begun on. Returns the first miss, and the longest responses.
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

/// xorshift64*: what a seed chooses.
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

    /// True once in so many times.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    pub fn choice(&mut self) -> Choice {
        Choice {
            begin: self.next() & self.next(),
            wait: self.once_in(4),
            block: self.once_in(3),
            serve: self.once_in(2),
            last: self.once_in(2),
        }
    }
}
