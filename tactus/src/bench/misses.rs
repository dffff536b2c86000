//! Known misses: limits that are out of reach for now. `bench/known-misses.toml` records the present figure of each,
//! which may only get better.

use std::fmt;
use std::path::{Path, PathBuf};

use miette::{IntoDiagnostic, WrapErr, miette};
use serde::Deserialize;
use toml::Spanned;

use super::experiment::{Extent, Metric};
use super::result::{Findings, Verdict};
use crate::config::cure_of_unknown;
use crate::report::unit::figure as shown;

/// The file, relative to the project's root.
pub const FILE: &str = "bench/known-misses.toml";
/// Its name among the experiments' files.
pub const STEM: &str = "known-misses";

/// How far a figure may be from its record, as part of the record, before it has to be acted on.
pub const TOLERANCE: f64 = 0.02;

/// The file.
#[derive(Clone, Debug, Default)]
pub struct Misses {
    path: PathBuf,
    text: String,
    entries: Vec<Spanned<Entry>>,
}

/// What the file says.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entries {
    #[serde(default)]
    miss: Vec<Spanned<Entry>>,
}

/// One known miss.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// The experiment.
    experiment: String,
    /// Its metric.
    metric: String,
    /// The form of the experiment; all forms without an entry of their own, unless given.
    form: Option<Form>,
    /// The figure of the last record, in the metric's unit.
    figure: Spanned<f64>,
    /// Why the limit is out of reach.
    reason: String,
}

/// A form of an experiment, as the file and the messages name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Form {
    Quick,
    Default,
    Full,
}

impl From<Extent> for Form {
    fn from(extent: Extent) -> Self {
        match extent {
            Extent::Quick => Self::Quick,
            Extent::Usual => Self::Default,
            Extent::Full => Self::Full,
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Quick => "quick",
            Self::Default => "default",
            Self::Full => "full",
        })
    }
}

/// The record of one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Miss {
    /// The recorded figure, in the metric's unit.
    pub figure: f64,
    /// Why the limit is out of reach.
    pub reason: String,
}

impl Misses {
    /// Reads the file of the project at `root`; without one there are no known misses.
    ///
    /// # Errors
    /// The file cannot be read, or an entry is not complete.
    pub fn read(root: &Path) -> miette::Result<Self> {
        let path = root.join(FILE);
        match std::fs::read_to_string(&path) {
            Ok(text) => Self::parse(path, text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self {
                path,
                ..Self::default()
            }),
            Err(error) => Err(error)
                .into_diagnostic()
                .wrap_err_with(|| format!("{} cannot be read", path.display())),
        }
    }

    fn parse(path: PathBuf, text: String) -> miette::Result<Self> {
        let entries: Entries = toml::from_str(&text)
            .map_err(|error| miette!("{error}"))
            .wrap_err_with(|| format!("{FILE} is not a list of known misses"))?;
        let misses = Self {
            path,
            text,
            entries: entries.miss,
        };
        for (number, spanned) in misses.entries.iter().enumerate() {
            let (line, entry) = (misses.line(spanned), spanned.get_ref());
            if entry.metric.trim().is_empty() {
                return Err(miette!(
                    help = "name one metric; a miss of a whole experiment cannot be recorded",
                    "{FILE}, line {line}: `metric` is empty"
                ));
            }
            if entry.reason.trim().is_empty() {
                return Err(miette!(
                    help = "write into `reason` why the limit is out of reach for now",
                    "{FILE}, line {line}: the known miss `{}` of `{}` has no reason",
                    entry.metric,
                    entry.experiment
                ));
            }
            let same = |other: &&Spanned<Entry>| {
                let other = other.get_ref();
                (&other.experiment, &other.metric, other.form)
                    == (&entry.experiment, &entry.metric, entry.form)
            };
            if let Some(first) = misses.entries[..number].iter().find(same) {
                return Err(miette!(
                    help = "remove one of them",
                    "{FILE}, line {line}: `{}` of `{}` is recorded in line {} already",
                    entry.metric,
                    entry.experiment,
                    misses.line(first)
                ));
            }
        }
        Ok(misses)
    }

    /// The line of an entry's figure, which every entry has.
    fn line(&self, entry: &Spanned<Entry>) -> usize {
        let start = entry.get_ref().figure.span().start;
        self.text[..start].matches('\n').count() + 1
    }

    /// Refuses entries of experiments that are not there, and those of experiment `name` that no metric with a limit
    /// has the name of.
    ///
    /// # Errors
    /// The first such entry.
    pub fn check(
        &self,
        experiments: &[String],
        name: &str,
        metrics: &[Metric],
    ) -> miette::Result<()> {
        for spanned in &self.entries {
            let (line, entry) = (self.line(spanned), spanned.get_ref());
            if !experiments.contains(&entry.experiment) {
                let known: Vec<&str> = experiments.iter().map(String::as_str).collect();
                return Err(miette!(
                    help = cure_of_unknown(&entry.experiment, &known),
                    "{FILE}, line {line}: there is no experiment `{}`",
                    entry.experiment
                ));
            }
            if entry.experiment != name {
                continue;
            }
            let Some(metric) = metrics.iter().find(|metric| metric.name == entry.metric) else {
                let known: Vec<&str> = metrics.iter().map(|metric| metric.name.as_str()).collect();
                return Err(miette!(
                    help = cure_of_unknown(&entry.metric, &known),
                    "{FILE}, line {line}: experiment `{name}` has no metric `{}`",
                    entry.metric
                ));
            };
            if !metric.limited() {
                return Err(miette!(
                    help = "remove the entry",
                    "{FILE}, line {line}: metric `{}` of `{name}` has no limit that it could miss",
                    entry.metric
                ));
            }
        }
        Ok(())
    }

    /// Lays the records for this form beside the figures.
    pub fn apply(&self, findings: &mut Findings, extent: Extent) {
        for found in &mut findings.found {
            found.miss = self
                .entry(&findings.name, &found.metric.name, extent)
                .map(|entry| Miss {
                    figure: *entry.figure.get_ref(),
                    reason: entry.reason.clone(),
                });
        }
    }

    /// The entry for this form, or else the one for all forms.
    fn entry(&self, experiment: &str, metric: &str, extent: Extent) -> Option<&Entry> {
        let of = |form: Option<Form>| {
            self.entries.iter().map(Spanned::get_ref).find(|entry| {
                (entry.experiment.as_str(), entry.metric.as_str(), entry.form)
                    == (experiment, metric, form)
            })
        };
        of(Some(extent.into())).or_else(|| of(None))
    }

    /// Records the present figures of this form: those of the entries that are there are renewed, and a metric that is
    /// past its limit without one gets an entry whose reason is left to be written. Gives a line for each change, and
    /// for each entry that is to be removed.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn record(&self, findings: &Findings, extent: Extent) -> miette::Result<Vec<String>> {
        let mut said = Vec::new();
        let mut figures = Vec::new();
        let mut added = String::new();
        for found in &findings.found {
            let (metric, Some(value)) = (&found.metric, found.value) else {
                continue;
            };
            let name = format!("`{}` of `{}`", metric.name, findings.name);
            match (
                self.entry(&findings.name, &metric.name, extent),
                found.verdict(),
            ) {
                (Some(_), Verdict::Reached) => {
                    said.push(format!("{name} meets its limit: remove its entry"));
                }
                (Some(entry), _) if *entry.figure.get_ref() != rounded(value) => {
                    let was = *entry.figure.get_ref();
                    let direction = if metric.worse_by(was, value) > 0.0 {
                        "worse; say why in the commit"
                    } else {
                        "better"
                    };
                    said.push(format!(
                        "{name}: {} -> {}, {direction}",
                        shown(was),
                        shown(value)
                    ));
                    figures.push((entry.figure.span(), rounded(value)));
                }
                (None, Verdict::Past) => {
                    said.push(format!("{name}: {}, new; write its reason", shown(value)));
                    added.push_str(&format!(
                        "\n[[miss]]\nexperiment = \"{}\"\nmetric = \"{}\"\nform = \"{}\"\nfigure = {}\nreason = \"\"\n",
                        findings.name,
                        metric.name,
                        Form::from(extent),
                        rounded(value)
                    ));
                }
                _ => {}
            }
        }
        let mut text = self.text.clone();
        // From the end, so that the places before stay where they are.
        figures.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
        for (span, value) in figures {
            text.replace_range(span, &value.to_string());
        }
        text.push_str(&added);
        if text != self.text {
            std::fs::write(&self.path, text)
                .into_diagnostic()
                .wrap_err_with(|| format!("{} cannot be written", self.path.display()))?;
        }
        Ok(said)
    }
}

/// A figure as the file has it: six digits, which is far below the tolerance.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::experiment;
    use crate::bench::result::Found;

    const ONE: &str = "[[miss]]\nexperiment = \"e\"\nmetric = \"most\"\nfigure = 902 # of a run\nreason = \"r\"\n";

    fn metrics() -> Vec<Metric> {
        let text = r#"
            title = "t"
            profile = "qemu-virt"
            [[run]]
            name = "r"
            system = "s.toml"
            [[metric]]
            name = "most"
            text = "t"
            unit = "instructions"
            limit = 900
            record = { run = "r", vm = "g" }
            [[metric]]
            name = "least"
            text = "t"
            unit = "count"
            least = 7
            record = { run = "r", vm = "g" }
            [[metric]]
            name = "free"
            text = "t"
            unit = "count"
            record = { run = "r", vm = "g" }
        "#;
        experiment::parse(text).expect("it is in order").metrics
    }

    fn findings(values: [f64; 3]) -> Findings {
        let found = metrics().into_iter().zip(values);
        Findings {
            name: "e".to_owned(),
            title: "t".to_owned(),
            profile: "p".to_owned(),
            seed: 1,
            found: found
                .map(|(metric, value)| Found::of(metric, Some(value)))
                .collect(),
            left_out: Vec::new(),
        }
    }

    fn parse(text: &str) -> miette::Result<Misses> {
        Misses::parse(PathBuf::from("unused"), text.to_owned())
    }

    /// What becomes of figures beside records: verdicts, and what is said of each.
    fn judged(records: &str, values: [f64; 3]) -> (bool, Vec<String>) {
        let mut findings = findings(values);
        let misses = parse(records).expect("it is in order");
        misses.apply(&mut findings, Extent::Quick);
        (findings.good(), findings.remarks(Extent::Quick))
    }

    #[test]
    fn a_miss_without_a_record_fails() {
        assert_eq!(
            judged("", [902.0, 7.0, 0.0]),
            (
                false,
                vec!["`most` is 902 instructions, past its limit of 900".to_owned()]
            )
        );
        assert_eq!(
            judged("", [900.0, 6.5, 0.0]),
            (
                false,
                vec!["`least` is 6.5 count, past its limit of at least 7".to_owned()]
            )
        );
        assert_eq!(judged("", [900.0, 7.0, 0.0]), (true, vec![]));
    }

    #[test]
    fn a_known_miss_may_be_worse_by_the_tolerance_and_no_more() {
        for value in [902.0, 920.0, 884.1 + 17.0] {
            let (good, said) = judged(ONE, [value, 7.0, 0.0]);
            assert!(good, "{value}");
            let shown = shown(value);
            assert_eq!(
                said,
                [format!(
                    "`most` is {shown} instructions, past its limit of 900: a known miss of 902"
                )]
            );
        }
        assert_eq!(
            judged(ONE, [930.0, 7.0, 0.0]),
            (
                false,
                vec!["`most` is 930 instructions, 3.1 % worse than its known miss of 902 (limit 900); at most 2 % is allowed".to_owned()]
            )
        );
    }

    #[test]
    fn a_better_figure_asks_for_a_lower_record() {
        let record = ONE.replace("902", "950");
        assert_eq!(
            judged(&record, [910.0, 7.0, 0.0]),
            (
                true,
                vec!["`most` is 910 instructions, 4.2 % better than its known miss of 950: lower the record in bench/known-misses.toml (`tactus bench e --quick --record-misses` does)".to_owned()]
            )
        );
        let least = ONE.replace("most", "least").replace("902", "3");
        let (good, said) = judged(&least, [900.0, 3.5, 0.0]);
        assert!(good);
        assert!(
            said[0].starts_with("`least` is 3.5 count, 16.7 % better than its known miss of 3:"),
            "{said:?}"
        );
        assert!(!judged(&least, [900.0, 2.9, 0.0]).0);
    }

    #[test]
    fn a_limit_that_is_met_is_no_known_miss_any_more() {
        assert_eq!(
            judged(ONE, [900.0, 7.0, 0.0]),
            (
                false,
                vec!["`most` is 900 instructions, within its limit of 900: it is no known miss any more; remove it from bench/known-misses.toml".to_owned()]
            )
        );
    }

    #[test]
    fn a_missing_figure_is_never_a_known_miss() {
        let mut findings = findings([902.0, 7.0, 0.0]);
        findings.found[0].value = None;
        parse(ONE)
            .expect("it is in order")
            .apply(&mut findings, Extent::Quick);
        assert!(!findings.good());
        assert_eq!(
            findings.remarks(Extent::Quick),
            ["`most` has no figure: its run did not give it"]
        );
    }

    #[test]
    fn records_are_of_a_form() {
        let text = format!(
            "{ONE}{}",
            ONE.replace("figure", "form = \"full\"\nfigure")
                .replace("902", "990")
        );
        let misses = parse(&text).expect("it is in order");
        let figure = |extent| {
            let mut findings = findings([960.0, 7.0, 0.0]);
            misses.apply(&mut findings, extent);
            findings.found[0].miss.as_ref().map(|miss| miss.figure)
        };
        assert_eq!(figure(Extent::Quick), Some(902.0));
        assert_eq!(figure(Extent::Full), Some(990.0));
        let only =
            parse(&ONE.replace("figure", "form = \"full\"\nfigure")).expect("it is in order");
        assert!(only.entry("e", "most", Extent::Usual).is_none());
    }

    #[test]
    fn entries_that_mean_nothing_are_refused() {
        let error = |text: &str| {
            let report = match parse(text) {
                Err(report) => report,
                Ok(misses) => {
                    let known = ["e".to_owned(), "platform".to_owned()];
                    misses
                        .check(&known, "e", &metrics())
                        .expect_err("it is refused")
                }
            };
            let chain: Vec<String> = report.chain().map(ToString::to_string).collect();
            (chain.join(": "), report.help().map(|help| help.to_string()))
        };
        let (text, _) = error(&ONE.replace("metric = \"most\"\n", ""));
        assert!(
            text.starts_with("bench/known-misses.toml is not a list of known misses: "),
            "{text}"
        );
        assert!(text.contains("missing field `metric`"), "{text}");
        let help = |text: &str| Some(text.to_owned());
        assert_eq!(
            error(&ONE.replace("\"most\"", "\"\"")),
            (
                "bench/known-misses.toml, line 4: `metric` is empty".to_owned(),
                help("name one metric; a miss of a whole experiment cannot be recorded")
            )
        );
        assert_eq!(
            error(&ONE.replace("\"most\"", "\"mots\"")),
            (
                "bench/known-misses.toml, line 4: experiment `e` has no metric `mots`".to_owned(),
                help("did you mean `most`?")
            )
        );
        assert_eq!(
            error(&ONE.replace("\"e\"", "\"platfrom\"")),
            (
                "bench/known-misses.toml, line 4: there is no experiment `platfrom`".to_owned(),
                help("did you mean `platform`?")
            )
        );
        assert_eq!(
            error(&ONE.replace("\"most\"", "\"free\"")),
            (
                "bench/known-misses.toml, line 4: metric `free` of `e` has no limit that it could miss".to_owned(),
                help("remove the entry")
            )
        );
        assert_eq!(
            error(&ONE.replace("\"r\"", "\" \"")),
            (
                "bench/known-misses.toml, line 4: the known miss `most` of `e` has no reason"
                    .to_owned(),
                help("write into `reason` why the limit is out of reach for now")
            )
        );
        assert_eq!(
            error(&format!("{ONE}{ONE}")),
            (
                "bench/known-misses.toml, line 9: `most` of `e` is recorded in line 4 already"
                    .to_owned(),
                help("remove one of them")
            )
        );
    }

    #[test]
    fn recording_renews_figures_and_leaves_reasons_to_be_written() {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let path = directory.path().join("known-misses.toml");
        let misses = Misses::parse(path.clone(), ONE.to_owned()).expect("it is in order");
        let record = |values| {
            let mut findings = findings(values);
            misses.apply(&mut findings, Extent::Quick);
            misses
                .record(&findings, Extent::Quick)
                .expect("it can be written")
        };
        let said = record([904.0, 3.4, 0.0]);
        assert_eq!(
            said,
            [
                "`most` of `e`: 902 -> 904, worse; say why in the commit",
                "`least` of `e`: 3.4, new; write its reason"
            ]
        );
        let text = std::fs::read_to_string(&path).expect("it was written");
        let new = "\n[[miss]]\nexperiment = \"e\"\nmetric = \"least\"\nform = \"quick\"\nfigure = 3.4\nreason = \"\"\n";
        assert_eq!(text, format!("{}{new}", ONE.replace("902 #", "904 #")));
        // Until a reason is written.
        let error = Misses::parse(path.clone(), text).expect_err("a reason is missing");
        assert!(
            error
                .to_string()
                .ends_with("the known miss `least` of `e` has no reason")
        );

        std::fs::remove_file(&path).expect("it is there");
        assert_eq!(
            record([900.0, 7.0, 0.0]),
            ["`most` of `e` meets its limit: remove its entry"]
        );
        assert!(record([902.0, 7.0, 0.0]).is_empty());
        assert!(!path.exists(), "nothing was written");
    }

    #[test]
    fn projects_own_records_are_of_metrics_with_limits() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let misses = Misses::read(&root).expect("it is in order");
        let experiments = experiment::names(&root);
        for name in &experiments {
            let text = std::fs::read_to_string(root.join("bench").join(format!("{name}.toml")));
            let text = text.expect("it can be read");
            let metrics = crate::bench::metrics_of(name == crate::bench::board::NAME, &text)
                .expect("it is in order");
            misses
                .check(&experiments, name, &metrics)
                .expect("it is in order");
        }
    }
}
