//! `tactus attack --random --near-limit`: random sets of real-time vCPUs with the largest budgets that `tactus check`
//! admits, each job compared with what is stated of it; and systems whose vCPUs are [`made`] near the limit at run
//! time.
//!
//! [`set`] makes the systems, [`schedule`] finds bad releases, [`seen`] makes jobs of what the board saw, [`model`]
//! says when each has to be over, [`judge`] compares, and [`report`] says so.

pub mod judge;
pub mod made;
pub mod model;
pub mod report;
pub mod schedule;
pub mod seen;
pub mod set;

use miette::{WrapErr, miette};
use tactus_board::profile::Profile;
use tactus_policy::reservation::Kind;

use crate::check::Verdict;
use crate::cli::AttackArguments;
use crate::config::Nanoseconds;
use crate::image;
use crate::run::Boot;
use crate::run::board::jobs::{Watch, Watched};
use crate::run::board::probe::{Hit, Place, Probe};
use crate::run::board::{Marker, Options};
use crate::run::machine::Platform;
use crate::run::session::{Outcome, Session, Unwatched};
use crate::sweep::workers;

use super::many;
use super::run::{CUT_OFF, Unfit};
use judge::Judged;
use report::Report;
use seen::Seen;
use set::{LOAD, Set, vm};

/// One of so many seeds has a system whose vCPUs are made at run time.
const MADE_EVERY: u64 = 4;
/// A tick.
const TICK: Nanoseconds = Nanoseconds(100);
/// Ticks before the first release from which all costs are charged.
const TIMED_BEFORE: u64 = 10_000;

/// Runs the systems of `count` seeds, from that of the command line on: sets, and one in four whose vCPUs are made.
///
/// # Errors
/// Guests cannot be built, or the machine cannot be run.
pub fn campaign(arguments: &AttackArguments, count: u64) -> Result<Report, Unfit> {
    enum Came {
        Made(Box<made::Made>),
        Set(Box<Judged>),
    }
    let jobs = arguments.jobs.unwrap_or_else(workers);
    let all = many::of_seeds(arguments.seed, count, jobs, |seed| {
        if seed.is_multiple_of(MADE_EVERY) {
            let made = made::run(seed, arguments.ms())?;
            return Ok(Came::Made(Box::new(made)));
        }
        let length = Nanoseconds(arguments.ms() * 1_000_000);
        Ok(Came::Set(Box::new(near_limit(seed, length)?)))
    })?;
    let mut report = Report::new(arguments.ms());
    for came in all {
        match came {
            Came::Made(made) => report.made.push(*made),
            Came::Set(set) => report.sets.push(*set),
        }
    }
    Ok(report)
}

/// Runs the set of a seed for so long.
fn near_limit(seed: u64, length: Nanoseconds) -> Result<Judged, Unfit> {
    let (set, refused) = Set::near_limit(seed, length.0 / TICK.0)?;
    let verdict = set.verdict();
    let run = Run::of(&set, &verdict, seed, length);
    let run = run.wrap_err_with(|| format!("the set of seed {seed}"))?;
    Ok(judge::judge(seed, &set, refused, &run))
}

/// A run of a set, and what was seen.
#[derive(Debug)]
pub struct Run<'s> {
    verdict: &'s Verdict,
    profile: Profile,
    outcome: Outcome,
    /// The jobs of each vCPU.
    seen: Vec<Seen>,
    /// Times at which a best-effort vCPU had the hart, in cycles.
    idle: Vec<[u64; 2]>,
}

impl<'s> Run<'s> {
    fn of(set: &Set, verdict: &'s Verdict, seed: u64, length: Nanoseconds) -> miette::Result<Self> {
        let profile = Profile::named(set.profile).ok_or_else(|| miette!("there is no board"))?;
        let cycles = |ticks: u64| cycles(&profile, ticks);
        let image = image::build(set.verdict()).map_err(miette::Report::new)?;
        let boot = Boot::of_image(image)?;
        let mut options = Options::new(profile.clone());
        options.seed = seed;
        options.timed_from = Some(Marker::Cycle(cycles(set.start - TIMED_BEFORE)));
        options.timed_for = Some(length);
        let vms = &boot.image.vms;
        let probe = |text: &str| {
            let place = Place::find(text, &boot.image);
            place.map(|place| Probe {
                place,
                arguments: 5,
            })
        };
        options.probes.push(probe(CUT_OFF)?);
        for index in 0..set.subjects.len() {
            options
                .probes
                .push(probe(&format!("{}/limit_released", vm(index)))?);
            options
                .probes
                .push(probe(&format!("{}/limit_counted", vm(index)))?);
        }
        let load = vms.iter().position(|name| name == LOAD);
        let load = load.ok_or_else(|| miette!("there is no VM `{LOAD}`"))?;
        let mut vcpus: Vec<Watched> = Vec::new();
        for (index, subject) in set.subjects.iter().enumerate() {
            let own = vms.iter().position(|name| *name == vm(index));
            vcpus.push(Watched {
                vm: own.ok_or_else(|| miette!("there is no VM `{}`", vm(index)))?,
                harts: vec![0],
                period: cycles(subject.period),
                deadline: cycles(subject.deadline),
                least: cycles(subject.budget) / 2,
                periodic: subject.kind == Kind::Periodic,
            });
        }
        vcpus.push(Watched {
            vm: load,
            harts: vec![0],
            period: u64::MAX / 4,
            deadline: u64::MAX / 4,
            least: 0,
            periodic: false,
        });
        options.jobs = Some(Watch {
            vcpus,
            best_effort: vec![(load, 0)],
            cut_off: 0,
            keeps_stays: true,
        });
        let plan = boot.plan.clone().on(Platform::Board(Box::new(options)));
        let outcome = Session::start(plan)?.finish(&mut Unwatched)?;
        let facts = outcome.board.as_ref();
        let facts = facts.ok_or_else(|| miette!("the board has seen nothing"))?;
        let hits = |probe: usize| -> Vec<Hit> {
            let all = facts.hits.kept.iter();
            all.filter(|hit| hit.probe == probe).copied().collect()
        };
        let subjects = set.subjects.iter().enumerate();
        let seen = subjects.map(|(index, subject)| {
            let (released, counted) = (hits(1 + 2 * index), hits(2 + 2 * index));
            Seen::of(
                subject,
                facts.jobs.stays(index),
                &released,
                &counted,
                cycles,
            )
        });
        let seen: Vec<Seen> = seen.collect();
        let stays = facts.jobs.stays(set.subjects.len()).iter();
        let idle = stays.map(|stay| [stay.from, stay.to]).collect();
        Ok(Self {
            verdict,
            profile: profile.clone(),
            seen,
            idle,
            outcome,
        })
    }
}

/// Cycles of a hart in so many ticks.
fn cycles(profile: &Profile, ticks: u64) -> u64 {
    let product = u128::from(ticks) * u128::from(profile.clock_hz);
    (product / u128::from(profile.timebase_hz)) as u64
}
