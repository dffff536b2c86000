//! Measures: what is taken from each run, by the names that records, reports and `tactus check` have.

use serde::Deserialize;
use serde_json::Value;
use toml::Spanned;

use super::description::{Invalid, Reader};
use crate::bench::experiment::Statistic;
use crate::config::Place;
use crate::report::unit::Unit;
use crate::run::session::Outcome;

/// Keys by which elements of lists in JSON are named.
const KEYS: [&str; 8] = [
    "name", "vcpu", "vm", "consumer", "phase", "task", "chain", "check",
];

/// A measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// What its column is called.
    pub name: String,
    /// Where it comes from.
    pub source: Source,
}

/// Where a measure comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A figure that a guest reports.
    Record {
        /// Of which VM.
        vm: String,
        /// The record's name.
        name: String,
        /// In which unit it is wanted.
        unit: Unit,
    },
    /// What is said of a guest's samples.
    Samples {
        /// Of which VM.
        vm: String,
        /// What was sampled.
        name: String,
        /// In which phase.
        phase: String,
        /// Of all samples.
        take: Statistic,
        /// In which unit it is wanted.
        unit: Unit,
    },
    /// A figure of the report, as `tactus run --json` prints it.
    Report(Place),
    /// A figure of what `tactus check --json` prints.
    Check(Place),
}

/// A measure as the file has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Raw {
    name: Spanned<String>,
    unit: Option<Spanned<String>>,
    record: Option<RawRecord>,
    samples: Option<RawSamples>,
    report: Option<Spanned<String>>,
    check: Option<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRecord {
    vm: String,
    name: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSamples {
    vm: String,
    samples: String,
    #[serde(default = "all")]
    phase: String,
    #[serde(default)]
    take: Statistic,
}

fn all() -> String {
    "all".to_owned()
}

impl Raw {
    /// The measure.
    ///
    /// # Errors
    /// It has no source or two, no unit, or one that means nothing.
    pub fn read(self, reader: &Reader, span: &std::ops::Range<usize>) -> Result<Measure, Invalid> {
        let name = self.name.get_ref().clone();
        if name.is_empty() {
            let help = "name the measure's column";
            return Err(reader.at(&self.name.span(), "`name` is empty", help));
        }
        let sources = [
            self.record.is_some(),
            self.samples.is_some(),
            self.report.is_some(),
            self.check.is_some(),
        ];
        if sources.iter().filter(|given| **given).count() != 1 {
            let message =
                format!("measure `{name}` needs one of `record`, `samples`, `report` and `check`");
            let help = "say such as `record = { vm = \"first\", name = \"latency\" }`";
            return Err(reader.at(span, message, help));
        }
        let place = |text: &Spanned<String>| {
            text.get_ref().parse::<Place>().map_err(|_| {
                let help = "write one such as `vms.first.off_seconds`, or with quotes `vcpus.\"rt.0\".response_us`";
                reader.at(&text.span(), "that is no place", help)
            })
        };
        if let Some(text) = self.report.as_ref().or(self.check.as_ref()) {
            if let Some(unit) = &self.unit {
                let message =
                    "`unit` is for records and samples; other figures are as they are printed";
                return Err(reader.at(&unit.span(), message, "remove it"));
            }
            let place = place(text)?;
            let source = match self.report {
                Some(_) => Source::Report(place),
                None => Source::Check(place),
            };
            return Ok(Measure { name, source });
        }
        let counts = self
            .samples
            .as_ref()
            .is_some_and(|samples| samples.take == Statistic::Count);
        let unit = match &self.unit {
            None if counts => Unit::Count,
            None => {
                let message = format!("measure `{name}` has no `unit`");
                let help = "say which, such as `unit = \"us\"`; times are converted";
                return Err(reader.at(span, message, help));
            }
            Some(unit) => Unit::parse(unit.get_ref()).ok_or_else(|| {
                let message = format!("`{}` is not a unit", unit.get_ref());
                let help = "units are ns, us, ms, s, ticks, cycles, instructions, bytes, count and percent";
                reader.at(&unit.span(), message, help)
            })?,
        };
        let source = match (self.record, self.samples) {
            (Some(record), _) => Source::Record {
                vm: record.vm,
                name: record.name.unwrap_or_else(|| name.clone()),
                unit,
            },
            (None, Some(samples)) => Source::Samples {
                vm: samples.vm,
                name: samples.samples,
                phase: samples.phase,
                take: samples.take,
                unit,
            },
            (None, None) => return Err(reader.at(span, "it has no source", "name one")),
        };
        Ok(Measure { name, source })
    }
}

/// A measure's value, or why there is none.
pub type Taken = Result<f64, String>;

impl Source {
    /// Whether it needs a run.
    pub fn of_run(&self) -> bool {
        !matches!(self, Self::Check(_))
    }

    /// Whether it needs the run's report.
    pub fn of_report(&self) -> bool {
        matches!(self, Self::Report(_))
    }

    /// Its value in a run, whose report is `report`; `check` has what `tactus check --json` prints of the system.
    pub fn take(&self, outcome: &Outcome, report: &Value, check: &Value) -> Taken {
        let journal = &outcome.journal;
        let clocks = journal.clocks();
        let known = |vm: &str| {
            journal.vm(vm).ok_or_else(|| {
                let names: Vec<&str> = journal.names().collect();
                format!("there is no VM `{vm}`; there are {}", names.join(", "))
            })
        };
        let convert = |value: f64, from: Unit, to: Unit| {
            from.convert(value, to, clocks)
                .ok_or_else(|| format!("{} are not {}", from.name(), to.name()))
        };
        match self {
            Self::Record { vm, name, unit } => {
                let metric = known(vm)?.metrics.get(name);
                let metric = metric.ok_or_else(|| format!("VM `{vm}` did not report `{name}`"))?;
                convert(metric.value, metric.unit, *unit)
            }
            Self::Samples {
                vm,
                name,
                phase,
                take,
                unit,
            } => {
                let journal = known(vm)?;
                let series = journal.series(name, phase);
                let taken = series.and_then(|series| take.of_series(series));
                let (value, of) = taken.ok_or_else(|| {
                    let mut others = journal.series.iter().filter(|other| other.name == *name);
                    let phases: Vec<&str> = others.by_ref().map(|other| other.phase.as_str()).collect();
                    match phases.as_slice() {
                        [] => format!("VM `{vm}` gave no samples of `{name}`"),
                        phases => format!(
                            "VM `{vm}` gave no samples of `{name}` in phase `{phase}`; its phases are {}",
                            phases.join(", ")
                        ),
                    }
                })?;
                convert(value, of, *unit)
            }
            Self::Report(place) => figure(report, place, "the report"),
            Self::Check(place) => figure(check, place, "the check"),
        }
    }

    /// Its value where there is no run.
    pub fn take_checked(&self, check: &Value) -> Taken {
        match self {
            Self::Check(place) => figure(check, place, "the check"),
            _ => Err("there was no run".to_owned()),
        }
    }
}

/// The figure at a place of a JSON value that messages call `what`.
fn figure(json: &Value, place: &Place, what: &str) -> Taken {
    let mut value = json;
    for part in place.parts() {
        let next = match value {
            Value::Object(object) => object.get(part),
            Value::Array(elements) => named(elements, part),
            _ => None,
        };
        value = next.ok_or_else(|| format!("{what} has no {place}: no `{part}` there"))?;
    }
    match value {
        Value::Number(number) => number
            .as_f64()
            .ok_or_else(|| format!("{place} is too large")),
        Value::Bool(flag) => Ok(f64::from(u8::from(*flag))),
        Value::Null => Err(format!("{place} of {what} is null")),
        _ => Err(format!("{place} of {what} is no figure")),
    }
}

/// The element that a part of a place names: by one of its [`KEYS`], or by its number.
fn named<'j>(elements: &'j [Value], part: &str) -> Option<&'j Value> {
    let is_it = |element: &&Value| {
        let mut names = KEYS.iter().filter_map(|key| element.get(key)?.as_str());
        names.next() == Some(part)
    };
    let found = elements.iter().find(is_it);
    found.or_else(|| elements.get(part.parse::<usize>().ok()?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn figures_of_json_are_found_by_names_and_numbers() {
        let json = json!({
            "vms": [{ "name": "a", "faults": 1 }, { "name": "b", "faults": 2, "failed": true }],
            "cpu": { "use": [{ "consumer": "(idle)", "seconds": [0.5, null] }] },
        });
        let of = |place: &str| figure(&json, &place.parse().expect("it is a place"), "the report");
        assert_eq!(of("vms.b.faults"), Ok(2.0));
        assert_eq!(of("vms.0.faults"), Ok(1.0));
        assert_eq!(of("vms.b.failed"), Ok(1.0));
        assert_eq!(of("cpu.use.\"(idle)\".seconds.0"), Ok(0.5));
        let error = |place| of(place).expect_err("it is no figure");
        assert_eq!(
            error("vms.c.faults"),
            "the report has no vms.c.faults: no `c` there"
        );
        assert_eq!(error("vms.a.name"), "vms.a.name of the report is no figure");
        assert_eq!(
            error("cpu.use.0.seconds.1"),
            "cpu.use.0.seconds.1 of the report is null"
        );
    }
}
