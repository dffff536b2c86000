//! Systems whose real-time vCPUs a guest makes, changes and deletes near the limit, and the hypervisor moves between
//! harts.

use std::path::Path;

use fastrand::Rng;
use miette::{WrapErr, miette};
use serde_json::{Map, Value, json};
use tactus_board::profile::Profile;

use super::super::run::Unfit;
use super::super::verdict::Finding;
use super::set::PROFILES;
use crate::artifacts::Artifacts;
use crate::check;
use crate::config::{Config, Nanoseconds, Source};
use crate::image;
use crate::run::Boot;
use crate::run::board::{Marker, Options};
use crate::run::machine::Platform;
use crate::run::session::{Outcome, Session, Unwatched};

/// The VM that makes them.
const MAKER: &str = "maker";
/// Virtual time that a change takes at most, on the mean, and that the board takes to start.
const TURN: Nanoseconds = Nanoseconds(100_000_000);
const START: Nanoseconds = Nanoseconds(2_000_000_000);
/// Milliseconds of a run for each change: the maker waits for 10 on the mean.
const MS_PER_TURN: u64 = 10;
/// Ticks of a budget that a job does not execute: it asks for its reservation in them, and is charged what its VM's own
/// calls for its other vCPUs take.
const MARGIN: u64 = 1_000;
/// What the maker counts that must not be.
const WRONG: [(&str, &str); 5] = [
    ("late", "jobs were later than their deadlines"),
    ("off_grid", "jobs were not released a period after the last"),
    (
        "cut_off",
        "jobs were cut off that execute less than their budgets",
    ),
    (
        "missed",
        "jobs executed after their deadlines, as the hypervisor counts",
    ),
    ("skipped", "releases did not come, as the hypervisor counts"),
];
/// What else it counts.
const COUNTED: [&str; 7] = [
    "made",
    "changed",
    "moved",
    "deleted",
    "refused",
    "jobs",
    "response_permille_max",
];

/// What such a system has shown.
#[derive(Clone, Debug)]
pub struct Made {
    /// Its seed.
    pub seed: u64,
    /// The board.
    pub profile: &'static str,
    counts: Map<String, Value>,
    /// What must not be.
    pub findings: Vec<Finding>,
    /// Its description.
    pub text: String,
}

impl Made {
    /// What the maker has counted under that name.
    pub fn count(&self, name: &str) -> u64 {
        self.counts.get(name).and_then(Value::as_u64).unwrap_or(0)
    }

    /// For programs, without its text.
    pub fn to_json(&self) -> Value {
        let mut all = self.counts.clone();
        all.insert("seed".to_owned(), json!(self.seed));
        all.insert("profile".to_owned(), json!(self.profile));
        let findings = self.findings.iter().map(Finding::to_json);
        all.insert("findings".to_owned(), findings.collect());
        Value::Object(all)
    }
}

/// Runs the system of a seed: as many changes as its vCPUs have time for in about so many milliseconds.
///
/// # Errors
/// It is refused, as its guests cannot be built; or the machine cannot be run.
pub fn run(seed: u64, ms: u64) -> Result<Made, Unfit> {
    let mut random = Rng::with_seed(seed);
    let name = PROFILES[random.usize(..PROFILES.len())];
    let profile = Profile::named(name).ok_or_else(|| miette!("there is no board `{name}`"))?;
    let cycles = profile.clock_hz / profile.timebase_hz;
    let turns = (ms / MS_PER_TURN).max(1);
    let slice = ["1ms", "10ms", "100ms", "1s"][random.usize(..4)];
    let text = format!(
        "[system]\nplatform = \"{name}\"\nharts = 2\nslice = \"{slice}\"\nbe_reserve = \"5%\"\n\n\
         [[vm]]\nname = \"{MAKER}\"\nimage = \"@limit-maker\"\ncounters = true\nmemory = \"4MiB\"\n\
         bootargs = \"turns={turns} seed={seed} cycles={cycles} margin={MARGIN}\"\n\
         rt_vcpus = 6\nrt_share = \"95%\"\n\n[[vm.vcpu]]\nclass = \"be\"\npriority = 10\n\n\
         [[vm]]\nname = \"load\"\nimage = \"@bench-load\"\nmemory = \"4MiB\"\nbootargs = \"load=compute\"\n\n\
         [[vm.vcpu]]\nclass = \"be\"\nharts = [0]\n\n[[vm.vcpu]]\nclass = \"be\"\nharts = [1]\n"
    );
    let read = Config::parse(Source::new("made.toml", text.clone()), Path::new(""));
    let verdict = check::verdict("made.toml".to_owned(), read, &Artifacts::chosen());
    if verdict.plan.is_none() {
        return Err(Unfit::Refused(Box::new(verdict)));
    }
    let boot = Boot::of_image(image::build(verdict).map_err(miette::Report::new)?)?;
    let mut options = Options::new(profile);
    options.seed = seed;
    options.timed_from = Some(Marker::Phase("making".to_owned()));
    let limit = Nanoseconds(START.0 + turns * TURN.0);
    let plan = boot.plan.clone().limit(limit).until(MAKER);
    let plan = plan.map_err(miette::Report::new)?;
    let plan = plan.on(Platform::Board(Box::new(options)));
    let outcome = Session::start(plan)
        .map_err(miette::Report::new)
        .wrap_err("the board does not start")?
        .finish(&mut Unwatched)
        .map_err(miette::Report::new)?;
    let (counts, findings) = judge(&outcome);
    Ok(Made {
        seed,
        profile: name,
        counts,
        findings,
        text,
    })
}

/// What the maker has counted, and what of it must not be.
fn judge(outcome: &Outcome) -> (Map<String, Value>, Vec<Finding>) {
    let mut counts = Map::new();
    let mut findings = Vec::new();
    let mut note = |kind, text| {
        findings.push(Finding {
            kind,
            whom: MAKER.to_owned(),
            text,
        });
    };
    let mut vms = outcome.journal.vms.iter();
    let maker = vms.find(|vm| vm.name == MAKER);
    let metric = |name: &str| maker.and_then(|vm| vm.metrics.get(name));
    if maker.is_none_or(|vm| vm.failed() || vm.passed.is_empty()) {
        note("state", format!("it has not ended: {}", outcome.reason()));
    }
    for name in COUNTED.into_iter().chain(WRONG.map(|(name, _)| name)) {
        let value = metric(name).map_or(0, |metric| metric.value as u64);
        counts.insert(name.to_owned(), json!(value));
        let wrong = WRONG.iter().find(|(wrong, _)| *wrong == name && value > 0);
        if let Some((kind, words)) = wrong {
            note(kind, format!("{value} {words}"));
        }
    }
    (counts, findings)
}
