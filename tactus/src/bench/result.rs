//! What an experiment found, beside the published figures and the limits.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use miette::{IntoDiagnostic, WrapErr};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value, json};

use super::experiment::{Extent, Metric, Picture};
use super::misses::{FILE, Miss, TOLERANCE};
use crate::columns::{Columns, Values};
use crate::junit::{Case, Ended, Suite};
use crate::report::lines::{Line, Lines};
use crate::report::page::bench as page;
use crate::report::provenance::Commit;
use crate::report::table::Table;
use crate::report::unit::{Clocks, Unit, figure};

/// A metric and what was found of it.
#[derive(Clone, Debug)]
pub struct Found {
    /// The metric.
    pub metric: Metric,
    /// Its value, in the metric's unit; what is missing is as bad as past the limit.
    pub value: Option<f64>,
    /// Where it was found, in a word or two.
    pub note: Option<String>,
    /// Its record as a known miss.
    pub miss: Option<Miss>,
}

/// How a figure stands to its limit and its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It has no limit.
    Unlimited,
    /// It is within its limit.
    Within,
    /// Its run did not give it.
    Missing,
    /// It is past its limit.
    Past,
    /// It is past its limit, as recorded.
    KnownMiss,
    /// It is past its limit by less than recorded, and the record is to be lowered.
    Better,
    /// It is past its limit by more than recorded.
    Worse,
    /// It is within its limit, and recorded as a miss all the same.
    Reached,
}

impl Verdict {
    /// What files for programs call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unlimited => "unlimited",
            Self::Within => "within",
            Self::Missing => "missing",
            Self::Past => "past",
            Self::KnownMiss => "known_miss",
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Reached => "reached",
        }
    }
}

impl Found {
    /// A figure without a note and without a record.
    pub fn of(metric: Metric, value: Option<f64>) -> Self {
        Self {
            metric,
            value,
            note: None,
            miss: None,
        }
    }

    /// Whether it passes: it is within its limit, or a known miss.
    pub fn good(&self) -> bool {
        use Verdict::*;
        matches!(self.verdict(), Unlimited | Within | KnownMiss | Better)
    }

    /// How it stands to its limit and its record.
    pub fn verdict(&self) -> Verdict {
        let Some(value) = self.value else {
            return Verdict::Missing;
        };
        let metric = &self.metric;
        // Also where a limit is missed that this run is not held to.
        if metric.limit.or(metric.least).is_none() {
            return Verdict::Unlimited;
        }
        let within = metric.limit.is_none_or(|limit| value <= limit)
            && metric.least.is_none_or(|least| value >= least);
        match &self.miss {
            None if within => Verdict::Within,
            None => Verdict::Past,
            Some(_) if within => Verdict::Reached,
            Some(miss) => {
                let worse = metric.worse_by(miss.figure, value);
                if worse > TOLERANCE {
                    Verdict::Worse
                } else if worse < -TOLERANCE {
                    Verdict::Better
                } else {
                    Verdict::KnownMiss
                }
            }
        }
    }

    /// What the table says of the verdict.
    fn mark(&self) -> String {
        let record = || self.miss.as_ref().map_or(0.0, |miss| miss.figure);
        match self.verdict() {
            Verdict::Unlimited => String::new(),
            Verdict::Within => "ok".to_owned(),
            Verdict::Missing => "missing".to_owned(),
            Verdict::Past => "past its limit".to_owned(),
            Verdict::KnownMiss => "known miss".to_owned(),
            Verdict::Better => format!("known miss, {} before", figure(record())),
            Verdict::Worse => format!("worse than its known miss of {}", figure(record())),
            Verdict::Reached => "ok, no known miss any more".to_owned(),
        }
    }

    /// What the user has to know or do about it, as one line; nothing, where it is as it should be.
    pub fn remark(&self, experiment: &str, extent: Extent) -> Option<String> {
        let metric = &self.metric;
        let name = format!("`{}`", metric.name);
        let Some(value) = self.value else {
            return Some(format!("{name} has no figure: its run did not give it"));
        };
        let limit = match (metric.least, metric.limit) {
            (Some(least), _) => format!("at least {}", figure(least)),
            (None, limit) => figure(limit.unwrap_or_default()),
        };
        let is = format!("{name} is {} {}", figure(value), metric.unit.name());
        let record = self.miss.as_ref().map_or(0.0, |miss| miss.figure);
        let percent = format!("{:.1} %", 100.0 * metric.worse_by(record, value).abs());
        let record = figure(record);
        match self.verdict() {
            Verdict::Unlimited | Verdict::Within | Verdict::Missing => None,
            Verdict::Past => Some(format!("{is}, past its limit of {limit}")),
            Verdict::KnownMiss => Some(format!(
                "{is}, past its limit of {limit}: a known miss of {record}"
            )),
            Verdict::Better => Some(format!(
                "{is}, {percent} better than its known miss of {record}: lower the record in {FILE} (`tactus bench {experiment}{} --record-misses` does)",
                extent.option()
            )),
            Verdict::Worse => Some(format!(
                "{is}, {percent} worse than its known miss of {record} (limit {limit}); at most {} % is allowed",
                100.0 * TOLERANCE
            )),
            Verdict::Reached => Some(format!(
                "{is}, within its limit of {limit}: it is no known miss any more; remove it from {FILE}"
            )),
        }
    }
}

impl Found {
    /// Where it was found, and other known figures.
    fn notes(&self) -> String {
        let known = self.metric.known.iter();
        let known = known.map(|(name, value)| format!("{name} {}", figure(*value)));
        let notes: Vec<String> = self.note.iter().cloned().chain(known).collect();
        notes.join(", ")
    }
}

/// What an experiment found.
#[derive(Clone, Debug)]
pub struct Findings {
    /// The experiment's name.
    pub name: String,
    /// What it finds out.
    pub title: String,
    /// Profile of the platform.
    pub profile: String,
    /// Seed of the machine.
    pub seed: u64,
    /// The figures, in the experiment's order.
    pub found: Vec<Found>,
    /// Metrics that could not be had without work that this form does not do, and why; they are no figures.
    pub left_out: Vec<(String, String)>,
}

impl Findings {
    /// Whether every figure is there and within its limit, or a known miss.
    pub fn good(&self) -> bool {
        self.found.iter().all(Found::good)
    }

    /// What the user has to know or do about the figures, a line each; then why some were left out.
    pub fn remarks(&self, extent: Extent) -> Vec<String> {
        let figures = self.found.iter();
        let figures = figures.filter_map(|found| found.remark(&self.name, extent));
        let reasons: BTreeSet<&String> = self.left_out.iter().map(|(_, reason)| reason).collect();
        let left_out = reasons.into_iter().map(|reason| {
            let of = self.left_out.iter().filter(|(_, other)| other == reason);
            format!("metrics left out: {}; {reason}", of.count())
        });
        figures.chain(left_out).collect()
    }

    /// As a suite of a JUnit file: a case for each metric that has a limit, or no value.
    pub fn suite(&self, extent: Extent) -> Suite {
        let case = |found: &Found| {
            let metric = &found.metric;
            let ended = match found.value {
                None => Ended::Error("no value was found".to_owned()),
                Some(_) if found.good() => Ended::Passed,
                Some(_) => {
                    let said = found.remark(&self.name, extent);
                    Ended::Failed(said.unwrap_or_else(|| "past its limit".to_owned()))
                }
            };
            Case::new(metric.name.as_str(), ended)
        };
        let judged = |found: &&Found| {
            found.value.is_none() || found.metric.limit.or(found.metric.least).is_some()
        };
        Suite {
            name: self.name.clone(),
            cases: self.found.iter().filter(judged).map(case).collect(),
        }
    }

    /// A metric's value in some unit, if it was found and can be had in that.
    pub fn value(&self, metric: &str, unit: Unit, clocks: Clocks) -> Option<f64> {
        let found = self
            .found
            .iter()
            .find(|found| found.metric.name == metric)?;
        found.metric.unit.convert(found.value?, unit, clocks)
    }

    /// What pictures say of where they come from: commit, profile, seed.
    pub fn subtitle(&self) -> String {
        let commit = Commit::find().map(|commit| format!("commit {}", commit.short()));
        let platform = format!("board {}, seed {}", self.profile, self.seed);
        let parts: Vec<String> = commit.into_iter().chain([platform]).collect();
        parts.join(" · ")
    }

    /// The figures of a picture; `None` where none was found.
    pub fn lines(&self, picture: &Picture) -> Option<Lines> {
        let found = |name: &String| self.found.iter().find(|f| f.metric.name == *name);
        let lines: Vec<Line> = picture
            .lines
            .iter()
            .map(|line| {
                let values = |value: fn(&Found) -> Option<f64>| -> Vec<Option<f64>> {
                    let found = line.metrics.iter().map(found);
                    found.map(|found| found.and_then(value)).collect()
                };
                Line {
                    name: line.name.clone(),
                    own: values(|f| f.value),
                    paper: values(|f| f.metric.paper),
                }
            })
            .collect();
        let any = lines
            .iter()
            .any(|line| line.own.iter().any(Option::is_some));
        any.then(|| Lines {
            title: picture.title.clone(),
            x: picture.x.clone(),
            at: picture.at.clone(),
            y: picture.y.clone(),
            lines,
        })
    }

    /// As columns, with a row for each figure.
    pub fn columns(&self, extent: Extent) -> Columns {
        let texts = |of: &dyn Fn(&Found) -> Option<String>| {
            Values::Texts(self.found.iter().map(of).collect())
        };
        let figures = |of: &dyn Fn(&Found) -> Option<f64>| {
            Values::Figures(self.found.iter().map(|found| of(found).map(tidy)).collect())
        };
        let commit = Commit::find().map(|commit| commit.short().to_owned());
        Columns::default()
            .with("experiment", texts(&|_| Some(self.name.clone())))
            .with("form", texts(&|_| Some(extent.name().to_owned())))
            .with("metric", texts(&|found| Some(found.metric.name.clone())))
            .with("value", figures(&|found| found.value))
            .with(
                "unit",
                texts(&|found| Some(found.metric.unit.name().to_owned())),
            )
            .with(
                "verdict",
                texts(&|found| Some(found.verdict().name().to_owned())),
            )
            .with("limit", figures(&|found| found.metric.limit))
            .with("least", figures(&|found| found.metric.least))
            .with("paper", figures(&|found| found.metric.paper))
            .with(
                "known_miss",
                figures(&|found| Some(found.miss.as_ref()?.figure)),
            )
            .with("text", texts(&|found| Some(found.metric.text.clone())))
            .with("note", texts(&|found| found.note.clone()))
            .with("profile", texts(&|_| Some(self.profile.clone())))
            .with(
                "seed",
                Values::Numbers(vec![Some(self.seed); self.found.len()]),
            )
            .with("commit", texts(&|_| commit.clone()))
            .noted("tactus.version", env!("CARGO_PKG_VERSION"))
    }

    /// What the report's page shows of it.
    pub fn page(&self, extent: Extent) -> page::Experiment<'static> {
        let figure = |found: &Found| {
            let metric = &found.metric;
            page::Figure {
                name: metric.name.clone(),
                text: metric.text.clone(),
                value: found.value,
                unit: metric.unit.symbol(),
                limit: metric.limit,
                least: metric.least,
                paper: metric.paper,
                good: found.good(),
                mark: found.mark(),
                reason: found.miss.as_ref().map(|miss| miss.reason.clone()),
                notes: found.notes(),
            }
        };
        page::Experiment {
            name: self.name.clone(),
            title: self.title.clone(),
            form: extent.name(),
            profile: self.profile.clone(),
            seed: self.seed,
            good: self.good(),
            left_out: self.left_out.clone(),
            figures: self.found.iter().map(figure).collect(),
            ..page::Experiment::default()
        }
    }

    /// Draws a picture of figures into a directory, as SVG and PNG, and gives the files; none where no figure was
    /// found.
    ///
    /// # Errors
    /// The files cannot be written.
    pub fn draw(
        &self,
        picture: &Picture,
        subtitle: &str,
        directory: &Path,
    ) -> miette::Result<Vec<PathBuf>> {
        let Some(lines) = self.lines(picture) else {
            return Ok(Vec::new());
        };
        std::fs::create_dir_all(directory)
            .into_diagnostic()
            .wrap_err_with(|| format!("{} cannot be made", directory.display()))?;
        let path = |extension| directory.join(format!("{}.{extension}", picture.name));
        let (svg, png) = (path("svg"), path("png"));
        lines.svg(subtitle, &svg).into_diagnostic()?;
        lines.png(subtitle, &png).into_diagnostic()?;
        Ok(vec![svg, png])
    }

    /// The table for people.
    pub fn table(&self) -> Table {
        let title = format!("{}: {} ({})", self.name, self.title, self.profile);
        let head = ["metric", "value", "unit", "limit", "", "paper", "notes"];
        let mut table = Table::new(title, head).text_columns([0, 2, 4, 6]);
        for found in &self.found {
            let metric = &found.metric;
            let optional = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), figure);
            table.row([
                metric.name.clone(),
                optional(found.value),
                metric.unit.symbol().to_owned(),
                match metric.least {
                    Some(least) => format!(">= {}", figure(least)),
                    None => optional(metric.limit),
                },
                found.mark(),
                optional(metric.paper),
                found.notes(),
            ]);
        }
        table
    }
}

/// As `tactus bench --json` prints it.
impl Serialize for Findings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("profile", &self.profile)?;
        map.serialize_entry("seed", &self.seed)?;
        map.serialize_entry("metrics", &InOrder(&self.found))?;
        map.end()
    }
}

/// Metrics as an object in their own order.
struct InOrder<'a>(&'a [Found]);

impl Serialize for InOrder<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|found| {
            let metric = &found.metric;
            let mut value = json!({
                "value": found.value.map(number),
                "unit": metric.unit,
                "paper": metric.paper.map(number),
                "limit": metric.limit.or(metric.least).map(number),
            });
            if let Some(miss) = &found.miss {
                value["known_miss"] = json!({
                    "figure": number(miss.figure),
                    "reason": miss.reason,
                });
            }
            (&metric.name, value)
        }))
    }
}

/// A figure without the digits that only come of conversions between units.
fn tidy(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value)
}

/// A number, whole where it is whole, and tidy.
fn number(value: f64) -> Value {
    let value = tidy(value);
    // Beyond 2^53 whole numbers have gaps.
    if value == value.trunc() && value.abs() < (1u64 << 53) as f64 {
        json!(value as i64)
    } else {
        json!(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::experiment;

    fn findings(value: Option<f64>) -> Findings {
        let experiment = experiment::parse(
            r#"
            title = "t"
            profile = "qemu-virt"
            [[run]]
            name = "r"
            system = "s.toml"
            [[metric]]
            name = "z"
            text = "t"
            unit = "instructions"
            limit = 120
            known = { Bao = 240 }
            record = { run = "r", vm = "g" }
            [[metric]]
            name = "a"
            text = "t"
            unit = "s"
            record = { run = "r", vm = "g" }
            "#,
        )
        .expect("it is in order");
        Findings {
            name: "e".to_owned(),
            title: experiment.title,
            profile: experiment.profile,
            seed: 1,
            found: experiment
                .metrics
                .into_iter()
                .zip([value, Some(0.25)])
                .map(|(metric, value)| Found::of(metric, value))
                .collect(),
            left_out: Vec::new(),
        }
    }

    #[test]
    fn json_has_the_agreed_form() {
        assert_eq!(
            serde_json::to_string(&findings(Some(120.0))).expect("it can be written"),
            concat!(
                r#"{"name":"e","profile":"qemu-virt","seed":1,"metrics":{"#,
                r#""z":{"limit":120,"paper":null,"unit":"instructions","value":120},"#,
                r#""a":{"limit":null,"paper":null,"unit":"s","value":0.25}}}"#
            )
        );
    }

    #[test]
    fn columns_have_a_row_for_each_figure() {
        let csv = findings(Some(120.5)).columns(Extent::Quick).csv();
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(
            lines[0],
            "experiment,form,metric,value,unit,verdict,limit,least,paper,known_miss,text,note,profile,seed,commit"
        );
        assert!(
            lines[1].starts_with("e,quick,z,120.5,instructions,past,120,,,,t,,qemu-virt,1,"),
            "{csv}"
        );
        assert!(
            lines[2].starts_with("e,quick,a,0.25,s,unlimited,,,,,t,,"),
            "{csv}"
        );
        assert_eq!(lines.len(), 3);
    }

    #[test]
    fn json_and_table_show_a_known_miss() {
        let mut findings = findings(Some(121.0));
        findings.found[0].miss = Some(Miss {
            figure: 121.0,
            reason: "r".to_owned(),
        });
        let json = serde_json::to_string(&findings).expect("it can be written");
        let shown =
            r#""z":{"known_miss":{"figure":121,"reason":"r"},"limit":120,"paper":null,"unit":"#;
        assert!(json.contains(shown), "{json}");
        let text = findings.table().text();
        assert!(text.contains(" known miss "), "{text}");
        assert!(!text.contains("past its limit"), "{text}");
        findings.found[0].value = Some(124.0);
        let text = findings.table().text();
        assert!(text.contains("worse than its known miss of 121"), "{text}");
        // Not held to its limit, it is only reported.
        findings.found[0].metric.limit = None;
        assert!(findings.good());
        assert_eq!(findings.found[0].verdict(), Verdict::Unlimited);
    }

    #[test]
    fn what_is_left_out_is_counted_by_its_reason() {
        let mut findings = findings(Some(120.0));
        findings.left_out = vec![("x".to_owned(), "say so".to_owned()); 3];
        assert!(findings.good());
        assert_eq!(
            findings.remarks(Extent::Quick),
            ["metrics left out: 3; say so"]
        );
    }

    #[test]
    fn numbers_have_no_noise() {
        assert_eq!(number(343.035 * 0.01), json!(3.43035));
        assert_eq!(number(138_687.0), json!(138_687));
        assert_eq!(number(0.0), json!(0));
    }

    #[test]
    fn only_values_within_their_limits_are_good() {
        assert!(findings(Some(120.0)).good());
        assert!(!findings(Some(120.5)).good());
        assert!(!findings(None).good());
    }

    #[test]
    fn where_more_is_better_less_is_past_the_limit() {
        let mut findings = findings(Some(5.0));
        findings.found[0].metric.limit = None;
        findings.found[0].metric.least = Some(5.0);
        assert!(findings.good());
        assert!(findings.table().text().contains(">= 5"));
        findings.found[0].value = Some(4.9);
        assert!(!findings.good());
        let json = serde_json::to_string(&findings).expect("it can be written");
        assert!(json.contains(r#""limit":5,"#), "{json}");
    }

    #[test]
    fn table_says_which_metric_is_past_its_limit() {
        let text = findings(Some(121.0)).table().text();
        assert!(text.contains("past its limit"), "{text}");
        assert!(text.contains("Bao 240"), "{text}");
        assert!(findings(None).table().text().contains("missing"));
    }

    #[test]
    fn figures_with_limits_are_junit_cases() {
        let ended = |value| {
            let suite = findings(value).suite(Extent::Usual);
            assert_eq!(suite.name, "e");
            let [case] = &suite.cases[..] else {
                panic!("{suite:?}")
            };
            assert_eq!(case.name, "z");
            case.ended.clone()
        };
        assert_eq!(ended(Some(120.0)), Ended::Passed);
        let Ended::Failed(past) = ended(Some(121.0)) else {
            panic!("the figure is past its limit")
        };
        assert!(past.starts_with("`z` is 121 instructions"), "{past}");
        let none = "no value was found";
        assert_eq!(ended(None), Ended::Error(none.to_owned()));
    }

    #[test]
    fn pictures_have_the_papers_line_beside_ones_own() {
        let mut findings = findings(Some(120.0));
        findings.found[0].metric.paper = Some(5000.0);
        let picture = Picture {
            name: "p".to_owned(),
            title: "Title".to_owned(),
            x: "x".to_owned(),
            at: vec![1.0, 2.0],
            y: "y".to_owned(),
            lines: vec![experiment::LineOfMetrics {
                name: "one".to_owned(),
                metrics: vec!["z".to_owned(), "a".to_owned()],
            }],
        };
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let below = directory.path().join("bench/e");
        let paths = findings
            .draw(&picture, "board soc", &below)
            .expect("it can be drawn");
        assert_eq!(paths, [below.join("p.svg"), below.join("p.png")]);
        let svg = std::fs::read_to_string(&paths[0]).expect("it was written");
        for text in ["one, paper", "5,000", "one", "0.25", "board soc"] {
            assert!(svg.contains(text), "{text}: {svg}");
        }
        // With `--quick` a picture's runs may be left out.
        findings.found.clear();
        let none = findings
            .draw(&picture, "board soc", &below)
            .expect("there is nothing to draw");
        assert!(none.is_empty());
    }
}
