//! A sweep as data: its file, read and judged.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use miette::{Diagnostic, LabeledSpan, SourceCode};
use serde::Deserialize;
use toml::{Spanned, Value};
use toml_edit::DocumentMut;

use super::factor::{self, Factor, Level, Target, item};
use super::measure::{self, Measure};
use super::settings::Settings;
use crate::config::{Place, Source, Span};
use crate::problem::io_reason;
use crate::profile;
use crate::run::board::DEFAULT_PROFILE;

/// Runs that a sweep has at most.
pub const RUNS_MAX: u64 = 1_000_000;
/// Probability that a confidence interval has the true mean, where the file does not say.
pub const CONFIDENCE: f64 = 0.95;
/// The fewest runs that an interval is made of, where the file does not say.
const AT_LEAST: u32 = 3;
/// Columns that all results have, beside those of factors and measures. `profile` and `seed` are those of the run.
pub const COLUMNS: [&str; 10] = [
    "point",
    "replicate",
    "profile",
    "seed",
    "verdict",
    "message",
    "virtual_seconds",
    "configuration_hash",
    "image_hash",
    "trace_hash",
];
/// Columns of [`COLUMNS`] that a factor may vary itself.
const SHARED: [&str; 2] = ["profile", "seed"];

/// Something in a sweep's file that is not in order.
#[derive(Clone, Debug)]
pub struct Invalid {
    message: String,
    help: String,
    source: Source,
    span: Span,
}

impl std::fmt::Display for Invalid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (line, _) = self.source.line_column(self.span.start);
        write!(f, "{}, line {line}: {}", self.source.name(), self.message)
    }
}

impl std::error::Error for Invalid {}

impl Diagnostic for Invalid {
    fn help(&self) -> Option<Box<dyn std::fmt::Display + '_>> {
        Some(Box::new(&self.help))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let label = LabeledSpan::at(self.span.clone(), "here");
        Some(Box::new(std::iter::once(label)))
    }
}

/// What refuses parts of a file by their places.
#[derive(Clone, Debug)]
pub struct Reader {
    source: Source,
}

impl Reader {
    /// Of a file with this text.
    pub const fn new(source: Source) -> Self {
        Self { source }
    }

    /// The error at a place of the file.
    pub fn at(
        &self,
        span: &Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Invalid {
        let length = self.source.text().len();
        Invalid {
            message: message.into(),
            help: help.into(),
            source: self.source.clone(),
            span: span.start.min(length)..span.end.min(length),
        }
    }
}

/// The file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    system: Option<Spanned<PathBuf>>,
    profile: Option<Spanned<Value>>,
    pace: Option<Spanned<Value>>,
    timed_from: Option<Spanned<Value>>,
    quantum: Option<Spanned<Value>>,
    memory_model: Option<Spanned<Value>>,
    until: Option<Spanned<Value>>,
    limit: Option<Spanned<Value>>,
    seed: Option<Spanned<Value>>,
    #[serde(default = "yes")]
    run: bool,
    #[serde(default)]
    design: Design,
    replicates: Option<Spanned<u32>>,
    #[serde(default)]
    pairing: Pairing,
    #[serde(default, rename = "factor")]
    factors: Vec<Spanned<factor::Raw>>,
    #[serde(default, rename = "measure")]
    measures: Vec<Spanned<measure::Raw>>,
    stop: Option<Spanned<RawStop>>,
}

fn yes() -> bool {
    true
}

/// Which combinations of levels are points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Design {
    /// All.
    #[default]
    Full,
    /// All first levels, and what differs from them in one factor.
    OneAtATime,
}

/// Which seeds the points' runs have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pairing {
    /// The same ones at each point, so that differences between points are those of runs with the same chance.
    #[default]
    Common,
    /// None twice.
    Independent,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStop {
    measure: Spanned<String>,
    half_width: Option<Spanned<f64>>,
    relative: Option<Spanned<f64>>,
    confidence: Option<Spanned<f64>>,
    at_least: Option<Spanned<u32>>,
}

/// When a point has enough runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Stop {
    /// The measure, by its number.
    pub measure: usize,
    /// How wide half of its interval is at most.
    pub width: Width,
    /// The probability that the interval has the true mean.
    pub confidence: f64,
    /// The fewest runs.
    pub at_least: u32,
}

/// How wide half of an interval is at most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Width {
    /// So much, in the measure's unit.
    Absolute(f64),
    /// That part of the mean.
    Relative(f64),
}

/// The description of what is swept.
#[derive(Clone, Debug)]
pub struct Base {
    /// What messages call it.
    pub name: String,
    /// What paths in it are relative to.
    pub directory: PathBuf,
    /// What it says.
    pub document: DocumentMut,
}

/// A sweep.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The text of its file.
    pub text: String,
    /// The system before anything is varied.
    pub base: Base,
    /// The options of all runs.
    pub settings: Settings,
    /// What profiles' files are relative to.
    pub directory: PathBuf,
    /// Whether systems are run, and not only checked.
    pub runs: bool,
    /// Which combinations of levels are points.
    pub design: Design,
    /// Runs of each point, at most.
    pub replicates: u32,
    /// Which seeds they have.
    pub pairing: Pairing,
    /// What is varied.
    pub factors: Vec<Factor>,
    /// What is measured.
    pub measures: Vec<Measure>,
    /// When a point has enough runs.
    pub stop: Option<Stop>,
}

impl Sweep {
    /// Reads the file of a sweep.
    ///
    /// # Errors
    /// It cannot be read or is not in order, or its system cannot be read.
    pub fn read(path: &Path) -> miette::Result<Self> {
        let text = text(path, "a sweep")?;
        let directory = path.parent().unwrap_or(Path::new(""));
        Ok(Self::parse(&path.to_string_lossy(), text, directory, None)?)
    }

    /// Reads a sweep from its text, which messages call `name`. Paths in it are relative to `directory`. `system`:
    /// that in place of the one that the text names.
    ///
    /// # Errors
    /// It is not in order, or its system cannot be read.
    pub fn parse(
        name: &str,
        text: String,
        directory: &Path,
        system: Option<Base>,
    ) -> Result<Self, Invalid> {
        let reader = Reader::new(Source::new(name, text.clone()));
        let file: File = toml::from_str(&text).map_err(|error| {
            let help = "the keys of a sweep are in `docs/src/reference/sweep.md`";
            reader.at(&error.span().unwrap_or(0..0), error.message(), help)
        })?;
        let base = match (system, &file.system) {
            (Some(base), _) => base,
            (None, Some(path)) => base(&reader, path, directory)?,
            (None, None) => {
                let help = "say `system = \"my.toml\"`, relative to this file";
                return Err(reader.at(&(0..0), "the sweep has no `system`", help));
            }
        };
        let settings = settings(&reader, &file, directory)?;
        let mut factors = Vec::new();
        let mut spans = Vec::new();
        for raw in file.factors {
            let span = raw.span();
            factors.push(raw.into_inner().read(&reader, &span)?);
            spans.push(span);
        }
        let mut measures = Vec::new();
        for raw in file.measures {
            let span = raw.span();
            let measure = raw.into_inner().read(&reader, &span)?;
            if !file.run && measure.source.of_run() {
                let message = format!("measure `{}` is of a run, and there is none", measure.name);
                return Err(reader.at(&span, message, "leave `run = false` out"));
            }
            measures.push(measure);
            spans.push(span);
        }
        check_names(&reader, &factors, &measures, &spans)?;
        let stop = file.stop.as_ref();
        let stop = stop
            .map(|stop| stop_rule(&reader, stop, &measures))
            .transpose()?;
        let replicates = file.replicates.as_ref().map_or(1, |given| *given.get_ref());
        let span = file.replicates.as_ref().map_or(0..0, Spanned::span);
        if replicates == 0 {
            return Err(reader.at(&span, "`replicates` is at least 1", "leave it out for one"));
        }
        let varies_seed = factors
            .iter()
            .any(|factor| factor.target == Target::Option("seed"));
        if replicates > 1 && (varies_seed || !file.run) {
            let message = match varies_seed {
                true => "replicates differ in their seeds, and a factor varies the seed",
                false => "nothing differs between replicates that are not run",
            };
            return Err(reader.at(&span, message, "leave `replicates` out"));
        }
        if let (Some(rule), Some(given)) = (&stop, &file.stop)
            && replicates < rule.at_least
        {
            let message = format!(
                "`stop` decides after {} runs of a point, and it has {replicates}",
                rule.at_least
            );
            let help = "say with `replicates` how many runs a point has at most";
            return Err(reader.at(&given.span(), message, help));
        }
        let sweep = Self {
            text,
            base,
            settings,
            directory: directory.to_owned(),
            runs: file.run,
            design: file.design,
            replicates,
            pairing: file.pairing,
            factors,
            measures,
            stop,
        };
        if sweep.runs_max().is_none_or(|runs| runs > RUNS_MAX) {
            let message = format!("a sweep has {RUNS_MAX} runs at most");
            let help = "take fewer levels or `replicates`, or `design = \"one_at_a_time\"`";
            return Err(reader.at(&(0..0), message, help));
        }
        sweep.try_levels(&reader, &spans)?;
        Ok(sweep)
    }

    /// How many points there are; `None`: more than can be counted.
    fn points_max(&self) -> Option<u64> {
        let mut levels = self.factors.iter().map(|factor| factor.levels.len() as u64);
        match self.design {
            Design::Full => levels.try_fold(1_u64, u64::checked_mul),
            Design::OneAtATime => levels.try_fold(1_u64, |sum, levels| sum.checked_add(levels - 1)),
        }
    }

    fn runs_max(&self) -> Option<u64> {
        self.points_max()?.checked_mul(self.replicates.into())
    }

    /// How many points there are.
    pub fn points(&self) -> usize {
        self.points_max().unwrap_or(u64::MAX) as usize
    }

    /// The level of each factor at a point, by number. The last factor's goes fastest.
    pub fn levels(&self, point: usize) -> Vec<usize> {
        let mut levels = vec![0; self.factors.len()];
        let mut rest = point;
        match self.design {
            Design::Full => {
                for (level, factor) in levels.iter_mut().zip(&self.factors).rev() {
                    *level = rest % factor.levels.len();
                    rest /= factor.levels.len();
                }
            }
            Design::OneAtATime => {
                for (level, factor) in levels.iter_mut().zip(&self.factors) {
                    let others = factor.levels.len() - 1;
                    if rest <= others {
                        *level = rest;
                        break;
                    }
                    rest -= others;
                }
            }
        }
        levels
    }

    /// Tries each place, and each level of an option, so that what can never be is told before any run.
    fn try_levels(&self, reader: &Reader, spans: &[Range<usize>]) -> Result<(), Invalid> {
        for (number, (factor, span)) in self.factors.iter().zip(spans).enumerate() {
            let refuse = |(reason, help): (String, String)| {
                reader.at(span, format!("factor `{}`: {reason}", factor.name), help)
            };
            // With the others at their first levels.
            let mut levels = vec![0; self.factors.len()];
            match factor.target {
                Target::Option(name) if name != "profile" => {
                    for level in &factor.levels {
                        let mut settings = self.settings.clone();
                        self.set(&mut settings, name, level).map_err(refuse)?;
                    }
                }
                Target::Option(_) => {
                    for level in 0..factor.levels.len() {
                        levels[number] = level;
                        self.put(&levels).map_err(refuse)?;
                    }
                }
                Target::System(_) | Target::Profile(_) => {
                    self.put(&levels).map_err(refuse)?;
                }
            }
        }
        Ok(())
    }

    fn set(
        &self,
        settings: &mut Settings,
        name: &str,
        level: &Level,
    ) -> Result<(), (String, String)> {
        let set = settings.set(name, &level.put, &self.directory);
        set.map_err(|wants| {
            let given = factor::shown(&level.put);
            let message = format!("`{name}` is {wants}, not `{given}`");
            (message, "correct the level".to_owned())
        })
    }

    /// The system's text, the profile's text where factors change that, and the options, all with these levels.
    ///
    /// # Errors
    /// What cannot be put there, and what to do about it.
    pub fn put(&self, levels: &[usize]) -> Result<Varied, (String, String)> {
        let mut system = self.base.document.clone();
        let mut settings = self.settings.clone();
        let mut of_profile = Vec::new();
        for (factor, level) in self.factors.iter().zip(levels) {
            let level = &factor.levels[*level];
            match &factor.target {
                Target::System(places) => {
                    let help = "name a place that the description has, as `tactus check` knows it";
                    set_all(&mut system, places, &level.put)
                        .map_err(|reason| (reason, help.to_owned()))?;
                }
                Target::Profile(places) => of_profile.push((places, &level.put)),
                Target::Option(name) => self.set(&mut settings, name, level)?,
            }
        }
        settings.check()?;
        let (name, text) = self.profile(&settings, &system)?;
        let profile = if of_profile.is_empty() {
            Profile {
                name,
                text,
                is_changed: false,
            }
        } else {
            let help = || "profiles are described in `docs/src/reference/profiles.md`".to_owned();
            let parsed = text.parse::<DocumentMut>();
            let mut profile = parsed.map_err(|error| (format!("{name}: {error}"), help()))?;
            for (places, put) in of_profile {
                set_all(&mut profile, places, put)
                    .map_err(|reason| (format!("profile {name}: {reason}"), help()))?;
            }
            Profile {
                name,
                text: profile.to_string(),
                is_changed: true,
            }
        };
        Ok(Varied {
            system: system.to_string(),
            profile,
            settings,
        })
    }

    /// The profile's name and text.
    fn profile(
        &self,
        settings: &Settings,
        system: &DocumentMut,
    ) -> Result<(String, String), (String, String)> {
        let platform = system
            .get("system")
            .and_then(|system| system.get("platform"));
        let platform = platform.and_then(|platform| platform.as_str());
        let named = settings.profile.as_deref().or(platform).unwrap_or_default();
        let name = match tactus_board::profile::Profile::named(named) {
            None if settings.profile.is_none() => DEFAULT_PROFILE,
            _ => named,
        };
        if let Some(text) = profile::Profile::text(name) {
            return Ok((name.to_owned(), text.to_owned()));
        }
        let text = fs::read_to_string(name).map_err(|error| {
            let message = format!("the profile {name} cannot be read: {}", io_reason(&error));
            let known: Vec<&str> = tactus_board::profile::Profile::names().collect();
            let help = format!("name one of {}, or the path of a file", known.join(", "));
            (message, help)
        })?;
        Ok((name.to_owned(), text))
    }

    /// The seed of a run.
    pub fn seed(&self, first: u64, point: usize, replicate: u32) -> u64 {
        let skipped = match self.pairing {
            Pairing::Common => 0,
            Pairing::Independent => (point as u64).wrapping_mul(self.replicates.into()),
        };
        first.wrapping_add(skipped).wrapping_add(replicate.into())
    }
}

/// What a board is like.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Its name, or its file.
    pub name: String,
    /// What it says.
    pub text: String,
    /// Whether factors have changed it.
    pub is_changed: bool,
}

/// What a point's runs are made of.
#[derive(Clone, Debug)]
pub struct Varied {
    /// The system's text.
    pub system: String,
    /// The board's profile.
    pub profile: Profile,
    /// The options; its seed is that of the first run.
    pub settings: Settings,
}

fn set_all(document: &mut DocumentMut, places: &[Place], put: &Value) -> Result<(), String> {
    for place in places {
        let set = place.set(document, item(put));
        set.map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// What is in the file that describes `what`.
///
/// # Errors
/// It cannot be read.
pub(crate) fn text(path: &Path, what: &str) -> miette::Result<String> {
    fs::read_to_string(path).map_err(|error| {
        miette::miette!(
            help = format!("name a file that describes {what}"),
            "{} cannot be read: {}",
            path.display(),
            io_reason(&error)
        )
    })
}

/// The description of the system in the file that `path` names, relative to `directory`.
///
/// # Errors
/// It cannot be read, or is not TOML.
pub(crate) fn base(
    reader: &Reader,
    path: &Spanned<PathBuf>,
    directory: &Path,
) -> Result<Base, Invalid> {
    let file = directory.join(path.get_ref());
    let name = file.to_string_lossy().into_owned();
    let text = fs::read_to_string(&file).map_err(|error| {
        let message = format!("the system {name} cannot be read: {}", io_reason(&error));
        let help = "`system` is a path relative to this file";
        reader.at(&path.span(), message, help)
    })?;
    Base::parse(name, text, file.parent().unwrap_or(Path::new(""))).map_err(|reason| {
        let help = "`tactus check` shows what is wrong with it";
        reader.at(&path.span(), reason, help)
    })
}

impl Base {
    /// A description from its text.
    ///
    /// # Errors
    /// It is not TOML.
    pub fn parse(name: String, text: String, directory: &Path) -> Result<Self, String> {
        match text.parse::<DocumentMut>() {
            Ok(document) => Ok(Self {
                name,
                directory: directory.to_owned(),
                document,
            }),
            Err(error) => Err(format!(
                "the system {name} is not TOML: {}",
                error.message()
            )),
        }
    }
}

fn settings(reader: &Reader, file: &File, directory: &Path) -> Result<Settings, Invalid> {
    let mut settings = Settings::default();
    let given = [
        ("profile", &file.profile),
        ("pace", &file.pace),
        ("timed_from", &file.timed_from),
        ("quantum", &file.quantum),
        ("memory_model", &file.memory_model),
        ("until", &file.until),
        ("limit", &file.limit),
        ("seed", &file.seed),
    ];
    for (name, value) in given {
        let Some(value) = value else { continue };
        settings
            .set(name, value.get_ref(), directory)
            .map_err(|wants| {
                let shown = factor::shown(value.get_ref());
                let message = format!("`{name}` is {wants}, not `{shown}`");
                reader.at(&value.span(), message, "correct it, or leave it out")
            })?;
    }
    let span = file.timed_from.as_ref().map_or(0..0, Spanned::span);
    let checked = settings.check();
    checked.map_err(|(message, help)| reader.at(&span, message, help))?;
    Ok(settings)
}

/// Each column has a name of its own.
fn check_names(
    reader: &Reader,
    factors: &[Factor],
    measures: &[Measure],
    spans: &[Range<usize>],
) -> Result<(), Invalid> {
    let of_factors = factors.iter().map(|factor| {
        let shares = matches!(factor.target, Target::Option(option) if option == factor.name);
        (
            &factor.name,
            shares && SHARED.contains(&factor.name.as_str()),
        )
    });
    let of_measures = measures.iter().map(|measure| (&measure.name, false));
    let mut known: Vec<&str> = Vec::new();
    for ((name, shares), span) in of_factors.chain(of_measures).zip(spans) {
        if COLUMNS.contains(&name.as_str()) && !shares {
            let message = format!("`{name}` is the name of a column that all results have");
            return Err(reader.at(span, message, "give it another `name`"));
        }
        if known.contains(&name.as_str()) {
            let message = format!("two columns would be called `{name}`");
            return Err(reader.at(span, message, "give one another `name`"));
        }
        known.push(name);
    }
    Ok(())
}

fn stop_rule(
    reader: &Reader,
    stop: &Spanned<RawStop>,
    measures: &[Measure],
) -> Result<Stop, Invalid> {
    let RawStop {
        measure,
        half_width,
        relative,
        confidence,
        at_least,
    } = stop.get_ref();
    let named = measures
        .iter()
        .position(|known| known.name == *measure.get_ref());
    let named = named.ok_or_else(|| {
        let known: Vec<&str> = measures
            .iter()
            .map(|measure| measure.name.as_str())
            .collect();
        let help = crate::config::cure_of_unknown(measure.get_ref(), &known);
        let message = format!("there is no measure `{}`", measure.get_ref());
        reader.at(&measure.span(), message, help)
    })?;
    let (given, width) = match (half_width, relative) {
        (Some(width), None) => (width, Width::Absolute(*width.get_ref())),
        (None, Some(part)) => (part, Width::Relative(*part.get_ref())),
        _ => {
            let help = "say `half_width = 0.5`, in the measure's unit, or `relative = 0.05`, a part of the mean";
            let message = "`stop` has either a `half_width` or a `relative` one";
            return Err(reader.at(&stop.span(), message, help));
        }
    };
    if !(given.get_ref().is_finite() && *given.get_ref() >= 0.0) {
        let message = "half of a width is a number that is not negative";
        return Err(reader.at(&given.span(), message, "correct it"));
    }
    let probability = confidence
        .as_ref()
        .map_or(CONFIDENCE, |given| *given.get_ref());
    if !(0.5..1.0).contains(&probability) {
        let span = confidence.as_ref().map_or(0..0, Spanned::span);
        let message = "`confidence` is a probability from 0.5 to below 1";
        return Err(reader.at(&span, message, "write 0.95 for 95 %"));
    }
    let fewest = at_least.as_ref().map_or(AT_LEAST, |given| *given.get_ref());
    if fewest < 2 {
        let span = at_least.as_ref().map_or(0..0, Spanned::span);
        let message = "an interval is of two runs at least";
        return Err(reader.at(&span, message, "make `at_least` 2 or more"));
    }
    Ok(Stop {
        measure: named,
        width,
        confidence: probability,
        at_least: fewest,
    })
}
