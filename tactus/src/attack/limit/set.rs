//! Random sets of real-time vCPUs whose budgets are as large as `tactus check` admits, with releases as bad for one of
//! them as can be found.

use std::fmt::Write;
use std::path::Path;

use fastrand::Rng;
use miette::miette;
use tactus_policy::reservation::Kind;

use crate::artifacts::Artifacts;
use crate::check::{self, Verdict};
use crate::config::{Config, Source};

use super::super::run::Unfit;
use super::schedule::{self, Member};

/// Boards that the systems run on.
pub const PROFILES: [&str; 2] = ["mpsoc", "soc"];
/// Most vCPUs of a set; the ringer has as many channels.
const COUNT_MAX: usize = 8;
/// Periods of 1 to 100 ms, in ticks of 100 ns.
const PERIODS: [f64; 2] = [10_000.0, 1_000_000.0];
/// Budgets are scaled in such parts.
const SCALE: u64 = 4096;
/// The least budgets, in ticks: what `tactus check` admits, and what starting takes.
const BUDGET_MIN: u64 = 500;
/// Shapes that are drawn until one is admitted with the least budgets.
const DRAWS_MAX: usize = 100;
/// Ticks of the board's start, and of that of each VM, on the slower of the profiles.
const START: [u64; 2] = [1_500_000, 250_000];
/// Ticks from one ring to the next for a vCPU that is not woken by it: each makes an interrupt on the hart, as often as
/// the hypervisor lets it, once in a deferral period.
const NOISE_PERIOD: u64 = 5_001;
/// Ticks by which a vCPU that is woken is started sooner than two of its periods before its first job.
const LEAD: u64 = 10_000;

/// What a vCPU's jobs are like, as the guest `limit` knows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jobs {
    /// They never end by themselves.
    Cut,
    /// Each executes its budget, and ends with `rt_yield`.
    Yield,
    /// The vCPU's timer wakes it.
    Timer,
    /// A doorbell wakes it.
    Ring,
}

impl Jobs {
    /// Its name in boot arguments.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cut => "cut",
            Self::Yield => "yield",
            Self::Timer => "timer",
            Self::Ring => "ring",
        }
    }

    /// Whether something wakes the vCPU for each, at a time that is not on a grid of the hypervisor's.
    pub fn are_woken(self) -> bool {
        matches!(self, Self::Timer | Self::Ring)
    }
}

/// A vCPU of a set. Times in ticks.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    /// From a release to the next.
    pub period: u64,
    /// Of each job.
    pub budget: u64,
    /// From a release.
    pub deadline: u64,
    /// What waiting means.
    pub kind: Kind,
    /// What its jobs are like.
    pub jobs: Jobs,
    /// The first release, counted from that of the set.
    pub phase: u64,
}

/// A set of them, the most urgent first, with all else of its system.
#[derive(Clone, Debug)]
pub struct Set {
    /// The board.
    pub profile: &'static str,
    /// Whether the hart goes by priorities.
    pub by_priority: bool,
    /// The vCPUs.
    pub subjects: Vec<Subject>,
    /// The one for which the phases are as bad as can be found.
    pub target: usize,
    /// Ticks of its longest response that is found, where the hypervisor takes nothing.
    pub undisturbed: u64,
    /// When the first job is released, in ticks.
    pub start: u64,
    /// Best-effort slices.
    slice: &'static str,
    /// What the best-effort vCPU on the same hart does.
    load: &'static str,
    /// Part of the hart that each has, before scaling.
    shares: Vec<f64>,
    /// vCPUs have their harts ahead of their jobs.
    pub ahead: bool,
}

impl Set {
    /// The set of a seed, to run for so many ticks; and how many were drawn before it that do not fit with the least
    /// budgets.
    ///
    /// # Errors
    /// One has another error, as its guests cannot be built; or none fits.
    pub fn near_limit(seed: u64, length: u64) -> Result<(Self, usize), Unfit> {
        let mut random = Rng::with_seed(seed);
        // Drawn by itself, so that the rest of a seed's sets stays as it was before.
        let mut ahead = Rng::with_seed(!seed);
        for refused in 0..DRAWS_MAX {
            let mut set = Self::drawn(&mut random);
            set.ahead = !set.by_priority && ahead.u8(..3) == 0;
            if set.scale_up()? {
                set.choose_phases(&mut random, length);
                return Ok((set, refused));
            }
        }
        Err(miette!("no set of seed {seed} is admitted; please report it").into())
    }

    fn drawn(random: &mut Rng) -> Self {
        let count = random.usize(2..=COUNT_MAX);
        let part = [0.7, 0.3, 1.0][random.usize(..3)];
        let kinds: &[Kind] = match random.u8(..3) {
            0 => &[Kind::Periodic],
            1 => &[Kind::Server],
            _ => &[Kind::Periodic, Kind::Server],
        };
        let mut left = 1.0;
        let mut rows: Vec<(Subject, f64)> = (0..count)
            .map(|index| {
                let others = count - index - 1;
                let rest = if others > 0 {
                    left * random.f64().powf(1.0 / others as f64)
                } else {
                    0.0
                };
                let share = left - rest;
                left = rest;
                let [low, high] = PERIODS;
                let period = (low * (high / low).powf(random.f64())) as u64;
                let deadline = period as f64 * (part + (1.0 - part) * random.f64());
                let kind = kinds[random.usize(..kinds.len())];
                let jobs: &[Jobs] = match kind {
                    Kind::Periodic => &[Jobs::Cut, Jobs::Yield],
                    Kind::Server => &[Jobs::Cut, Jobs::Timer, Jobs::Ring, Jobs::Ring],
                };
                let subject = Subject {
                    period,
                    budget: 0,
                    deadline: (deadline as u64).clamp(BUDGET_MIN, period),
                    kind,
                    jobs: jobs[random.usize(..jobs.len())],
                    phase: 0,
                };
                (subject, share)
            })
            .collect();
        rows.sort_by_key(|(subject, _)| subject.deadline);
        let (subjects, shares): (Vec<Subject>, Vec<f64>) = rows.into_iter().unzip();
        let woken = subjects.iter().filter(|subject| subject.jobs.are_woken());
        let longest = woken.map(|subject| subject.period).max().unwrap_or(0);
        Self {
            profile: PROFILES[random.usize(..PROFILES.len())],
            by_priority: random.bool(),
            subjects,
            target: random.usize(..count),
            undisturbed: 0,
            start: START[0] + START[1] * (count as u64 + 2) + 2 * longest + LEAD,
            slice: ["1ms", "10ms", "100ms", "1s"][random.usize(..4)],
            load: ["compute", "memory"][random.usize(..2)],
            shares,
            ahead: false,
        }
    }

    /// Gives all the largest budgets in proportion to their shares that are admitted. `false`: not even the least are.
    fn scale_up(&mut self) -> Result<bool, Unfit> {
        let (mut admitted, mut refused) = (0, SCALE + 1);
        if !self.is_admitted_scaled(admitted)? {
            return Ok(false);
        }
        while refused - admitted > 1 {
            let middle = admitted + (refused - admitted) / 2;
            if self.is_admitted_scaled(middle)? {
                admitted = middle;
            } else {
                refused = middle;
            }
        }
        self.is_admitted_scaled(admitted)
    }

    /// Gives all budgets of so many parts of their shares.
    fn is_admitted_scaled(&mut self, scale: u64) -> Result<bool, Unfit> {
        for (subject, share) in self.subjects.iter_mut().zip(&self.shares) {
            let budget = subject.period as f64 * share * scale as f64 / SCALE as f64;
            subject.budget = (budget as u64).max(BUDGET_MIN);
        }
        let fits = |subject: &Subject| subject.budget <= subject.deadline;
        if !self.subjects.iter().all(fits) {
            return Ok(false);
        }
        let verdict = self.verdict();
        let guarantee = verdict.guarantee.as_ref();
        let is_misfit = guarantee.is_some_and(|guarantee| !guarantee.refused.is_empty());
        match (&verdict.plan, is_misfit) {
            (Some(_), _) => Ok(true),
            (None, true) => Ok(false),
            (None, false) => Err(Unfit::Refused(Box::new(verdict))),
        }
    }

    /// What `tactus check` says of it.
    pub fn verdict(&self) -> Verdict {
        let source = Source::new("limit.toml", self.text());
        let read = Config::parse(source, Path::new(""));
        check::verdict("limit.toml".to_owned(), read, &Artifacts::chosen())
    }

    /// All are released together, and the target such that its response is the longest that is found in so many ticks.
    fn choose_phases(&mut self, random: &mut Rng, length: u64) {
        let member = |(index, subject): (usize, &Subject)| Member {
            period: subject.period,
            cost: subject.budget,
            deadline: subject.deadline,
            priority: self.by_priority.then_some(index),
        };
        let members: Vec<Member> = self.subjects.iter().enumerate().map(member).collect();
        let worst = schedule::worst(&members, self.target, length, random);
        self.subjects[self.target].phase = worst.phase;
        self.undisturbed = worst.response;
    }

    /// Its description.
    pub fn text(&self) -> String {
        let mut text = format!(
            "[system]\nplatform = \"{}\"\nharts = 2\nslice = \"{}\"\nbe_reserve = \"1%\"\n{}",
            self.profile,
            self.slice,
            if self.ahead {
                "dispatch_ahead = true\n"
            } else {
                ""
            }
        );
        let mut rings = String::new();
        let mut channels = String::new();
        for (index, subject) in self.subjects.iter().enumerate() {
            let (first, period) = match subject.jobs {
                Jobs::Ring => (self.start + subject.phase, subject.period),
                _ => (self.start, NOISE_PERIOD),
            };
            let _ = write!(rings, " first{index}={first} period{index}={period}");
            let _ = write!(
                channels,
                "\n[[channel]]\nname = \"rings{index}\"\nbetween = [\"ringer\", \"{}\"]\nsize = \"4KiB\"\n",
                vm(index)
            );
        }
        for (index, subject) in self.subjects.iter().enumerate() {
            self.add(&mut text, index, subject);
        }
        let _ = write!(
            text,
            "\n[[vm]]\nname = \"{LOAD}\"\nimage = \"@bench-load\"\nmemory = \"4MiB\"\nbootargs = \"load={}\"\n\n\
             [[vm.vcpu]]\nclass = \"be\"\nharts = [0]\n",
            self.load
        );
        let _ = write!(
            text,
            "\n[[vm]]\nname = \"ringer\"\nimage = \"@limit\"\ncounters = true\nmemory = \"4MiB\"\n\
             bootargs = \"jobs=ringer{rings}\"\n\n[[vm.vcpu]]\nclass = \"be\"\nharts = [1]\npriority = 1\n"
        );
        text + &channels
    }

    fn add(&self, text: &mut String, index: usize, subject: &Subject) {
        let Subject {
            period,
            budget,
            deadline,
            ..
        } = *subject;
        let first = self.start + subject.phase;
        let bootargs = if subject.jobs.are_woken() {
            let work = self.work(subject);
            let start = self.start - 2 * period - LEAD;
            format!("start={start} first={first} period={period} work={work}")
        } else {
            format!("start={first} period={period} work={}", self.work(subject))
        };
        let kind = match subject.kind {
            Kind::Periodic => "periodic",
            Kind::Server => "server",
        };
        let priority = if self.by_priority {
            format!("priority = {}\n", 100 - index)
        } else {
            String::new()
        };
        let _ = write!(
            text,
            "\n[[vm]]\nname = \"{}\"\nimage = \"@limit\"\ncounters = true\nmemory = \"4MiB\"\n\
             bootargs = \"jobs={} {bootargs}\"\n\n[[vm.vcpu]]\nclass = \"be\"\nharts = [1]\n\n\
             [[vm.vcpu]]\nclass = \"rt\"\nhart = 0\n{priority}kind = \"{kind}\"\n\
             period = \"{}ns\"\nbudget = \"{}ns\"\ndeadline = \"{}ns\"\n",
            vm(index),
            subject.jobs.name(),
            period * 100,
            budget * 100,
            deadline * 100,
        );
    }

    /// Cycles that a job executes which ends by itself: the budget, but for what it takes to begin and to wait.
    fn work(&self, subject: &Subject) -> u64 {
        let (per_tick, around) = match self.profile {
            "soc" => (66, 7_000),
            _ => (10, 1_200),
        };
        (subject.budget * per_tick).saturating_sub(around)
    }
}

/// The best-effort VM on the hart of the set.
pub const LOAD: &str = "load";

/// The VM of a vCPU, whose number there is 1.
pub fn vm(index: usize) -> String {
    format!("s{index}")
}
