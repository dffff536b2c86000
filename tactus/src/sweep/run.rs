//! One run of a sweep: a pure function of the sweep, its point and the number of the run there.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::Value;
use sha2::{Digest, Sha256};
use tactus_board::profile::Profile;

use super::description::{Sweep, Varied};
use super::measure::{Source, Taken};
use super::settings::Settings;
use crate::artifacts::Artifacts;
use crate::bench::experiment::LIMIT_SECONDS;
use crate::check::{self, Verdict};
use crate::config::{self, Config, Nanoseconds, Place};
use crate::fabric;
use crate::image::{self, Image};
use crate::problem::{Problem, Weight, count};
use crate::report::{self, verdict_words};
use crate::run::board::Options;
use crate::run::journal::Journal;
use crate::run::machine::Platform;
use crate::run::session::{self, Ending, Outcome, Session, Watcher};
use crate::run::{self, Boot};

/// The verdict on a system that is not in order.
pub const REFUSED: &str = "refused";
/// The verdict on a run that could not be carried out.
pub const NOT_RUN: &str = "not run";
/// The verdict on a system that is in order and was not to be run.
pub const FINE: &str = "fine";

/// A line of the results.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The point, from 0.
    pub point: usize,
    /// The number of the run there, from 0.
    pub replicate: u32,
    /// The board's profile.
    pub profile: String,
    /// What everything random was made of.
    pub seed: u64,
    /// How it went: as the report calls it, or [`REFUSED`], [`NOT_RUN`] or [`FINE`].
    pub verdict: &'static str,
    /// Why, where it is not as it should be.
    pub message: Option<String>,
    /// The virtual time at its end.
    pub virtual_seconds: Option<f64>,
    /// SHA-256 of the system's description, the profile and all options but the seed.
    pub configuration_hash: String,
    /// SHA-256 of the boot image.
    pub image_hash: Option<String>,
    /// The hash of all that happened.
    pub trace_hash: Option<String>,
    /// The measures.
    pub taken: Vec<Taken>,
    /// Whether all runs of its point would be like it, because there is none.
    pub is_settled: bool,
}

impl Row {
    /// Whether the system, or the run, is not as it should be. That the time was up is no fault.
    pub fn is_error(&self) -> bool {
        let words = verdict_words;
        let fine = [
            FINE,
            words(session::Verdict::Good),
            words(session::Verdict::Timeout),
        ];
        !fine.contains(&self.verdict)
    }
}

/// Why a point cannot be judged at all: something is missing that all points need.
pub type Missing = miette::Report;

/// A point's configuration, judged and built.
#[derive(Debug)]
pub struct Prepared {
    point: usize,
    profile: String,
    seed: u64,
    configuration_hash: String,
    image_hash: Option<String>,
    check: Value,
    work: Work,
}

/// What there is to do for a run of a point.
#[derive(Debug)]
enum Work {
    /// Nothing, for this reason.
    None(&'static str, Option<String>),
    /// To boot it.
    Run(Box<Ready>),
}

#[derive(Debug)]
struct Ready {
    boot: Boot,
    options: Options,
    settings: Settings,
}

/// In hexadecimal.
fn hex(digest: Sha256) -> String {
    let bytes = digest.finalize();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Prepared {
    /// Judges and builds the configuration of a point.
    ///
    /// # Errors
    /// Something that all points need is missing.
    pub fn of(sweep: &Sweep, point: usize, artifacts: &Artifacts) -> Result<Self, Missing> {
        let mut prepared = Self {
            point,
            profile: String::new(),
            seed: sweep.settings.seed,
            configuration_hash: String::new(),
            image_hash: None,
            check: Value::Null,
            work: Work::None(REFUSED, None),
        };
        let varied = match sweep.put(&sweep.levels(point)) {
            Ok(varied) => varied,
            Err((reason, help)) => {
                prepared.work = Work::None(REFUSED, Some(format!("{reason}; {help}")));
                return Ok(prepared);
            }
        };
        prepared.seed = varied.settings.seed;
        let judged = sweep.judge(&varied, artifacts);
        let environment = judged.of_weight(Weight::Environment).next();
        if let Some(missing) = environment {
            return Err(missing.clone().into());
        }
        if sweep
            .measures
            .iter()
            .any(|measure| !measure.source.of_run())
        {
            prepared.check = check::to_json(&judged);
        }
        prepared.configuration_hash = configuration_hash(&varied);
        prepared.profile.clone_from(&varied.profile.name);
        let image = match image::build(judged) {
            Ok(image) => image,
            Err(refusal) => {
                prepared.work = Work::None(REFUSED, Some(reasons(refusal.problems())));
                return Ok(prepared);
            }
        };
        let mut digest = Sha256::new();
        digest.update(&image.bytes);
        prepared.image_hash = Some(hex(digest));
        prepared.work = if sweep.runs {
            match ready(image, varied, sweep.wants_pins()) {
                Ok(ready) => Work::Run(Box::new(ready)),
                Err(report) => Work::None(NOT_RUN, Some(in_a_line(&report))),
            }
        } else {
            Work::None(FINE, None)
        };
        Ok(prepared)
    }

    /// Why there is no run of it, where there is none: the verdict and its reason.
    pub fn refusal(&self) -> Option<(&'static str, &str)> {
        match &self.work {
            Work::None(verdict, Some(message)) => Some((verdict, message)),
            Work::None(_, None) | Work::Run(_) => None,
        }
    }

    /// Carries out a run of the point. `None`: it was interrupted, as `cancel` says.
    pub fn row(&self, sweep: &Sweep, replicate: u32, cancel: &Arc<AtomicBool>) -> Option<Row> {
        let seed = sweep.seed(self.seed, self.point, replicate);
        let mut row = Row {
            point: self.point,
            replicate,
            profile: self.profile.clone(),
            seed,
            verdict: NOT_RUN,
            message: None,
            virtual_seconds: None,
            configuration_hash: self.configuration_hash.clone(),
            image_hash: self.image_hash.clone(),
            trace_hash: None,
            taken: Vec::new(),
            is_settled: false,
        };
        let measures = || sweep.measures.iter().map(|measure| &measure.source);
        let checked = || {
            measures()
                .map(|source| source.take_checked(&self.check))
                .collect()
        };
        let ready = match &self.work {
            Work::Run(ready) => ready,
            Work::None(verdict, message) => {
                row.is_settled = true;
                row.verdict = verdict;
                row.message.clone_from(message);
                row.taken = checked();
                return Some(row);
            }
        };
        // A defect of the tool costs a row, and not the sweep.
        let outcome = catch_unwind(AssertUnwindSafe(|| ready.run(seed, cancel)));
        match outcome {
            Ok(Ok(outcome)) if outcome.ending == Ending::Interrupted => return None,
            Ok(Ok(outcome)) => {
                let json = if measures().any(|source| source.of_report()) {
                    report::report_json(&outcome, &sweep.base.name)
                } else {
                    Value::Null
                };
                row.verdict = verdict_words(outcome.verdict());
                row.message = row.is_error().then(|| outcome.reason());
                row.virtual_seconds = outcome.end_time.map(|end| end.0 as f64 / 1e9);
                let facts = outcome.board.as_ref();
                row.trace_hash = facts.map(|facts| format!("{:016x}", facts.trace_hash));
                row.taken = measures()
                    .map(|source| source.take(&outcome, &json, &self.check))
                    .collect();
            }
            Ok(Err(report)) => {
                row.message = Some(in_a_line(&report));
                row.taken = checked();
            }
            Err(_) => {
                let message = "the tool has failed, as stderr says; please report it";
                row.message = Some(message.to_owned());
                row.taken = checked();
            }
        }
        Some(row)
    }
}

impl Ready {
    fn run(&self, seed: u64, cancel: &Arc<AtomicBool>) -> miette::Result<Outcome> {
        let mut options = self.options.clone();
        options.seed = seed;
        options.now = Arc::new(AtomicU64::new(0));
        let limit = self.settings.limit;
        let limit = limit.unwrap_or(Nanoseconds(LIMIT_SECONDS * 1_000_000_000));
        let mut plan = self.boot.plan.clone().limit(limit);
        plan = plan.on(Platform::Board(Box::new(options)));
        if let Some(vm) = &self.settings.until {
            plan = plan.until(vm)?;
        }
        let session = Session::start(plan)?;
        let mut watcher = Cancel {
            flag: Arc::clone(cancel),
            stop: session.stop(),
        };
        Ok(session.finish(&mut watcher)?)
    }
}

/// Ends a run when the sweep is cancelled.
struct Cancel {
    flag: Arc<AtomicBool>,
    stop: session::Stop,
}

impl Watcher for Cancel {
    fn tick(&mut self, _: &Journal) {
        if self.flag.load(Ordering::Relaxed) {
            self.stop.interrupt();
        }
    }
}

impl Sweep {
    /// Whether a measure compares the fabric's pins with what guests wanted of them.
    fn wants_pins(&self) -> bool {
        let first =
            |place: &Place| place.parts().first().map(String::as_str) == Some("timed_output");
        let mut measures = self.measures.iter();
        measures.any(|measure| matches!(&measure.source, Source::Report(place) if first(place)))
    }

    /// The verdict of `tactus check` on a point's system.
    fn judge(&self, varied: &Varied, artifacts: &Artifacts) -> Verdict {
        let source = config::Source::new(&self.base.name, varied.system.clone());
        let read = Config::parse(source, Path::new(&self.base.directory));
        check::verdict(self.base.name.clone(), read, artifacts)
    }
}

/// What a board runs of an image.
fn ready(image: Image, varied: Varied, wants_pins: bool) -> miette::Result<Ready> {
    let Varied {
        profile, settings, ..
    } = varied;
    let mut options = Options::of(&image, Some(&profile.name))?;
    if profile.is_changed {
        let parsed = Profile::parse(&profile.name, &profile.text);
        options.profile = Arc::new(parsed.map_err(|error| miette::miette!("{error}"))?);
    }
    options.pace = settings.pace;
    if let Some(marker) = &settings.timed_from {
        options.timed_from = Some(run::marker(marker, &image)?);
    }
    if let Some(design) = image.design.as_deref().filter(|_| wants_pins) {
        (options.ends.pins, options.ends.pins_at) = fabric::pins(design);
    }
    options.quantum = settings.quantum;
    options.memory_model = settings.memory_model;
    let boot = Boot::of_image(image)?;
    if let Some(vm) = &settings.until {
        boot.plan.vm_index(vm)?;
    }
    Ok(Ready {
        boot,
        options,
        settings,
    })
}

fn configuration_hash(varied: &Varied) -> String {
    let mut digest = Sha256::new();
    let (system, profile) = (&varied.system, &varied.profile.text);
    for text in [system, profile, &varied.settings.text()] {
        digest.update((text.len() as u64).to_le_bytes());
        digest.update(text);
    }
    hex(digest)
}

/// Problems in a line, the first of them.
fn reasons(problems: &[Problem]) -> String {
    const SHOWN: usize = 3;
    let mut texts: Vec<String> = problems
        .iter()
        .take(SHOWN)
        .map(Problem::in_a_line)
        .collect();
    if problems.len() > SHOWN {
        texts.push(format!(
            "and {}",
            count(problems.len() - SHOWN, "further problem")
        ));
    }
    texts.join(" | ")
}

fn in_a_line(report: &miette::Report) -> String {
    let causes: Vec<String> = report.chain().map(|cause| cause.to_string()).collect();
    let help = report.help().map(|help| format!("; {help}"));
    causes.join(": ") + &help.unwrap_or_default()
}
