//! One run of a system on the timed board, attacked or not.
//!
//! The system boots on the fast pace. From when the victims have started and the attack begins, all costs are charged,
//! and the run lasts the time that is asked for.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use miette::{WrapErr, miette};
use tactus_board::profile::Profile;
use tactus_planning::analysis::Criticality;
use tactus_policy::reservation::Kind;

use crate::artifacts::Artifacts;
use crate::check::{self, Guarantee};
use crate::config::{At, Class, Config, Nanoseconds};
use crate::evidence::Inputs;
use crate::image;
use crate::plan::{self, Plan};
use crate::problem::{Problem, Refusal, Weight};
use crate::run::Boot;
use crate::run::board::jobs::{Summary, Watch};
use crate::run::board::probe::{Place, Probe};
use crate::run::board::{Fabric, Marker, Options, jobs};
use crate::run::console::Line;
use crate::run::journal::{Journal, Seen};
use crate::run::machine::Platform;
use crate::run::session::{Ending, Outcome, Session, Stop, Unwatched, Watcher};

use super::plan::{Candidate, Run};
use super::replace::{self, replace};
use super::verdict::{Watched, bound};

/// The board of a system of another machine, and of random ones.
pub const PROFILE: &str = "soc";
/// Virtual time within which victims start, and then the attacker.
const START_MAX: Nanoseconds = Nanoseconds(10_000_000_000);
/// Where the hypervisor cuts a job off.
pub const CUT_OFF: &str = "sched::jobs::throttle";
/// What the attacker says when it begins.
const PHASE: &str = "attack";

/// A system that can be attacked.
#[derive(Debug)]
pub struct Lab {
    file: String,
    config: Config,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
    profile: Profile,
    plan: Plan,
    guarantee: Guarantee,
    fabric: Option<Fabric>,
    seed: u64,
    length: Nanoseconds,
    /// The verdict on it.
    verdict: check::Verdict,
}

/// What a run has shown.
#[derive(Debug)]
pub struct Shown {
    /// All of it.
    pub outcome: Outcome,
    /// The jobs of each vCPU that was watched.
    pub jobs: Vec<(Watched, Summary)>,
}

impl Shown {
    /// What a run shows in which these vCPUs were watched, in their order.
    pub fn of(outcome: Outcome, watched: Vec<Watched>) -> Self {
        let facts = outcome.board.as_ref();
        let seen: Vec<Summary> =
            facts.map_or_else(Vec::new, |facts| facts.jobs.summaries().collect());
        let jobs = watched.into_iter().zip(seen).map(|(vcpu, seen)| {
            let ended = outcome.journal.vms[vcpu.vm].off.is_some();
            let seen = if ended {
                seen
            } else {
                seen.with_unfinished(vcpu.deadline)
            };
            (vcpu, seen)
        });
        Self {
            jobs: jobs.collect(),
            outcome,
        }
    }
}

/// Why a system cannot be attacked.
#[derive(Debug)]
pub enum Unfit {
    /// It has errors: these, for `tactus check`'s exit code.
    Refused(Box<check::Verdict>),
    /// Something else.
    Other(miette::Report),
}

impl Unfit {
    /// Says it on stderr, and gives the exit code for it.
    pub fn tell(self) -> ExitCode {
        match self {
            Self::Refused(verdict) => {
                check::print_problems(&verdict.problems);
                check::exit_code(&verdict)
            }
            Self::Other(report) => {
                eprintln!("{report:?}");
                ExitCode::from(2)
            }
        }
    }
}

impl From<miette::Report> for Unfit {
    fn from(report: miette::Report) -> Self {
        Self::Other(report)
    }
}

impl Lab {
    /// Reads and judges the system in `file`. Each run lasts `length`, from `seed`.
    ///
    /// # Errors
    /// The system has errors, is none of harts that VMs share, or needs what is not to be had.
    pub fn open(file: &Path, seed: u64, length: Nanoseconds) -> Result<Self, Unfit> {
        let lab = Self::read(
            file.to_string_lossy().into_owned(),
            Config::read(file),
            seed,
            length,
        )?;
        for warning in &lab.warnings {
            eprintln!("warning: {}", warning.in_a_line());
        }
        Ok(lab)
    }

    /// The same of a system that was read, and is called `name`; warnings are not told.
    ///
    /// # Errors
    /// As [`Lab::open`].
    pub fn read(
        name: String,
        read: Result<(Config, Vec<Problem>), Vec<Problem>>,
        seed: u64,
        length: Nanoseconds,
    ) -> Result<Self, Unfit> {
        let read = read.map(|(mut config, problems)| {
            on_board(&mut config);
            (config, problems)
        });
        Self::of(name, read, seed, length)
    }

    /// Judges a system that was read, and is called `name`.
    ///
    /// # Errors
    /// As [`Lab::open`].
    pub fn of(
        name: String,
        read: Result<(Config, Vec<Problem>), Vec<Problem>>,
        seed: u64,
        length: Nanoseconds,
    ) -> Result<Self, Unfit> {
        let artifacts = Artifacts::chosen();
        let verdict = check::verdict(name.clone(), read.clone(), &artifacts);
        if verdict.tiles.is_some() {
            return Err(Unfit::Other(miette!(
                help = "`tactus bench mpsoc` and `blueio` attack such systems",
                "{name} is a system of tiles: no two VMs share a hart, or have a bound to hold"
            )));
        }
        let (Ok((config, problems)), Some(plan), Some(guarantee)) =
            (read, verdict.plan.clone(), verdict.guarantee.clone())
        else {
            return Err(Unfit::Refused(Box::new(verdict)));
        };
        let warnings = verdict.of_weight(Weight::Warning).cloned().collect();
        let no_board = || miette!("the platform `{}` is no board", plan.profile.name);
        let profile = Profile::named(&plan.profile.name).ok_or_else(no_board)?;
        let fabric = plan.design.as_deref().map(Fabric::of).transpose()?;
        Ok(Self {
            file: name,
            config,
            problems,
            warnings,
            profile,
            plan,
            guarantee,
            fabric,
            seed,
            length,
            verdict,
        })
    }

    /// What the system is made of.
    ///
    /// # Errors
    /// A file cannot be read any more.
    pub fn inputs(&self) -> miette::Result<Inputs> {
        Inputs::of(self.config.source.text(), &self.verdict)
    }

    /// The VMs.
    pub fn candidates(&self) -> Vec<Candidate> {
        Candidate::of_system(&self.config, &self.plan)
    }

    /// The harts of the system.
    pub fn harts(&self) -> u32 {
        self.plan.harts
    }

    /// The board's profile.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The system as it is, until the VMs `victims` have started: when that is.
    ///
    /// # Errors
    /// They do not start, or the machine cannot be run.
    pub fn start_of(&self, victims: &[usize]) -> miette::Result<Nanoseconds> {
        let boot = self.boot(None)?;
        let mut options = Options::new(self.profile.clone());
        options.seed = self.seed;
        options.fabric.clone_from(&self.fabric);
        let plan = boot.plan.clone().limit(START_MAX);
        let session = Session::start(plan.on(Platform::Board(Box::new(options))))?;
        let mut starts = Starts {
            victims,
            stop: session.stop(),
        };
        let outcome = session.finish(&mut starts)?;
        let mut latest = 0;
        for &victim in victims {
            let vm = &outcome.journal.vms[victim];
            latest = latest.max(vm.started.ok_or_else(|| {
                miette!(
                    help = "see what it waits for with `tactus run`",
                    "VM `{}` does not start within {START_MAX} of virtual time: {}",
                    vm.name,
                    outcome.reason()
                )
            })?);
        }
        let nanoseconds =
            u128::from(latest) * 1_000_000_000 / u128::from(outcome.journal.timebase_hz);
        Ok(Nanoseconds(nanoseconds as u64))
    }

    /// Runs the system, whose victims have started at `start`; attacked as `run` says, or as it is.
    ///
    /// # Errors
    /// The hostile guest does not fit the VM, does not begin, or the machine cannot be run.
    pub fn run(
        &self,
        run: Option<&Run>,
        victims: &[usize],
        start: Nanoseconds,
    ) -> miette::Result<Shown> {
        let after = self.plan.profile.ticks_for(start);
        let boot = self.boot(run.map(|run| (run, after)))?;
        let cycle = self.cycles(after);
        let (mut options, watched) = self.watching(&boot, victims, run.map(|run| run.attacker))?;
        // The phase of a VM without a console is not heard.
        let speaks = run.is_some_and(|run| self.config.vms[run.attacker].console);
        options.timed_from = Some(if speaks {
            Marker::Phase(PHASE.to_owned())
        } else {
            Marker::Cycle(cycle)
        });
        options.timed_for = Some(self.length);
        let limit = Nanoseconds(start.0 + START_MAX.0 + self.length.0);
        let plan = boot.plan.clone().limit(limit);
        let plan = plan.on(Platform::Board(Box::new(options)));
        let outcome = Session::start(plan)?.finish(&mut Unwatched)?;
        let facts = outcome.board.as_ref();
        let timed = facts.is_some_and(|facts| facts.timed_since.is_some());
        if let (Some(run), false, Ending::Limit) = (run, timed, &outcome.ending) {
            return Err(miette!(
                help = "see what it waits for with `tactus run`; a real-time vCPU without a budget may have its hart",
                "the attacker in VM `{}` does not begin within {START_MAX} of virtual time",
                self.plan.vms[run.attacker].name
            ));
        }
        Ok(Shown::of(outcome, watched))
    }

    /// The boot image of the system as it is.
    ///
    /// # Errors
    /// It cannot be built any more.
    pub fn as_is(&self) -> miette::Result<Boot> {
        self.boot(None)
    }

    /// What is planned.
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The VM as it is planned with the hostile guest as its image, in all of its memory, and that image's file.
    ///
    /// # Errors
    /// The image does not fit, or is not there.
    pub fn taken_over(&self, vm: usize) -> Result<(plan::Vm, Option<PathBuf>), Refusal> {
        let mut config = self.config.clone();
        if let Some(vm) = config.vms.get_mut(vm) {
            replace::take_image(vm, String::new());
        }
        let read = Ok((config, self.problems.clone()));
        let mut verdict = check::verdict(self.file.clone(), read, &Artifacts::chosen());
        match verdict.plan {
            Some(mut plan) => {
                let file = verdict.guests.get_mut(vm).and_then(Option::take);
                Ok((plan.vms.swap_remove(vm), file))
            }
            None => Err(Refusal::new(verdict.file, verdict.problems)),
        }
    }

    /// A board that sees the jobs of the reserved vCPUs of `victims` when it is timed, and which vCPUs these are.
    ///
    /// # Errors
    /// The hypervisor is another one.
    pub fn watching(
        &self,
        boot: &Boot,
        victims: &[usize],
        attacker: Option<usize>,
    ) -> miette::Result<(Options, Vec<Watched>)> {
        let mut options = Options::new(self.profile.clone());
        options.seed = self.seed;
        options.fabric.clone_from(&self.fabric);
        options.probes.push(Probe {
            place: Place::find(CUT_OFF, &boot.image)?,
            arguments: 0,
        });
        let watched = self.watched(victims, attacker);
        options.jobs = Some(Watch {
            vcpus: watched.iter().map(|(_, jobs)| jobs.clone()).collect(),
            best_effort: self.best_effort(),
            cut_off: 0,
            keeps_stays: false,
        });
        Ok((options, watched.into_iter().map(|(vcpu, _)| vcpu).collect()))
    }

    /// The boot image, with the hostile guest where there is a run.
    fn boot(&self, run: Option<(&Run, u64)>) -> miette::Result<Boot> {
        let mut config = self.config.clone();
        if let Some((run, after)) = run {
            replace(&mut config, run, self.seed, after);
        }
        let read = Ok((config, self.problems.clone()));
        let verdict = check::verdict(self.file.clone(), read, &Artifacts::chosen());
        let image = image::build(verdict).map_err(miette::Report::new);
        let image = match run {
            None => image?,
            Some((run, _)) => image.wrap_err_with(|| {
                let name = &self.plan.vms[run.attacker].name;
                format!(
                    "the hostile guest does not fit VM `{name}`; leave it out with --trust {name}"
                )
            })?,
        };
        Boot::of_image(image)
    }

    /// Cycles of the harts in so many ticks of the `time` CSR.
    fn cycles(&self, ticks: u64) -> u64 {
        let product = u128::from(ticks) * u128::from(self.profile.clock_hz);
        (product / u128::from(self.profile.timebase_hz)) as u64
    }

    /// The vCPUs of these VMs that have reservations. Those of low criticality are left out: nothing is promised to
    /// them when a job of another one overruns.
    fn watched(&self, victims: &[usize], attacker: Option<usize>) -> Vec<(Watched, jobs::Watched)> {
        let guarantee = &self.guarantee;
        let mut all = Vec::new();
        for &vm in victims {
            let mut channels = self.plan.vms[vm].channels.iter();
            let linked = channels.any(|end| Some(end.peer) == attacker);
            for (number, vcpu) in self.plan.vms[vm].vcpus.iter().enumerate() {
                let Some(times) = vcpu.reservation else {
                    continue;
                };
                let budget = match vcpu.criticality {
                    Criticality::Low => continue,
                    // A job is cut off when it has used up this one.
                    Criticality::High { budget } => budget.unwrap_or(times.budget),
                };
                let name = format!("{}.{number}", self.plan.vms[vm].name);
                let watched = Watched {
                    linked,
                    period: self.cycles(times.period),
                    deadline: self.cycles(times.deadline),
                    budget: self.cycles(budget),
                    bound: bound(guarantee, &name).map(|ticks| self.cycles(ticks)),
                    name,
                    vm,
                };
                let harts = vcpu.harts.iter().map(|&hart| hart as u16);
                let jobs = jobs::Watched {
                    vm,
                    harts: harts
                        .filter(|&hart| self.plan.is_alone(vm, number, hart.into()))
                        .collect(),
                    period: watched.period,
                    deadline: watched.deadline,
                    // A way out of the guest and into it with cold caches may be longer than the profile's `way`, and
                    // what was sent to the vCPU before may come in this one's time.
                    least: self.cycles(budget.saturating_sub(guarantee.interrupt)),
                    periodic: vcpu.kind == Kind::Periodic,
                };
                all.push((watched, jobs));
            }
        }
        all
    }

    /// The VMs of which only best-effort vCPUs may run on a hart, with the hart.
    fn best_effort(&self) -> Vec<(usize, u16)> {
        let mut all = Vec::new();
        for (index, vm) in self.plan.vms.iter().enumerate() {
            for hart in 0..self.plan.harts as u16 {
                let here = vm.vcpus.iter().enumerate();
                let mut here = here.filter(|(_, vcpu)| vcpu.harts.contains(&u32::from(hart)));
                let real_time = here.any(|(_, vcpu)| vcpu.class == Class::Rt);
                if !real_time && vm.rt_vcpus == 0 {
                    all.push((index, hart));
                }
            }
        }
        all
    }
}

/// A system of another machine is attacked on the default board.
fn on_board(config: &mut Config) {
    if let Some(At { value, .. }) = &mut config.system.platform
        && crate::profile::Profile::named(value).is_some()
        && Profile::named(value).is_none()
    {
        PROFILE.clone_into(value);
    }
}

/// Ends a run when these VMs have started.
struct Starts<'v> {
    victims: &'v [usize],
    stop: Stop,
}

impl Watcher for Starts<'_> {
    fn line(&mut self, _: &Line, _: &Seen, journal: &Journal) {
        let started = |vm: &usize| journal.vms[*vm].started.is_some();
        if self.victims.iter().all(started) {
            self.stop.leave();
        }
    }
}
