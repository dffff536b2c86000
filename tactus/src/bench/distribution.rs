//! How a run's samples are distributed, as a picture.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use miette::{IntoDiagnostic, WrapErr, miette};

use super::experiment::Histogram;
use super::prepared::Done;
use super::result::Findings;
use crate::report::page::bench;
use crate::report::picture::Picture;
use crate::report::samples::Series;
use crate::report::unit::Unit;

/// Samples of some runs beside each other.
#[derive(Debug)]
pub struct Distribution<'a> {
    histogram: &'a Histogram,
    unit: Unit,
    factor: f64,
    phases: Vec<(&'a str, &'a Series)>,
    marks: Vec<(&'a str, f64)>,
}

impl<'a> Distribution<'a> {
    /// The samples that a histogram is of; none where none of its runs was carried out. A run that was and gave no
    /// samples is left out, as a metric has said already.
    ///
    /// # Errors
    /// The samples are of another kind than the picture.
    pub fn find(
        histogram: &'a Histogram,
        done: &'a BTreeMap<String, Done>,
        findings: &Findings,
    ) -> miette::Result<Option<Self>> {
        let mut phases = Vec::new();
        let (mut factor, mut marks) = (1.0, Vec::new());
        for wanted in &histogram.series {
            let Some(done) = done.get(&wanted.run) else {
                continue;
            };
            let vm = done.outcome.journal.vm(&wanted.vm);
            let Some(series) = vm.and_then(|vm| vm.series(&wanted.samples, &wanted.phase)) else {
                continue;
            };
            let clocks = done.outcome.journal.clocks();
            let converted = series.unit().factor_to(histogram.unit, clocks);
            factor = converted.ok_or_else(|| {
                miette!(
                    "histogram `{}`: {} cannot be had in {}",
                    histogram.name,
                    series.unit().name(),
                    histogram.unit.name()
                )
            })?;
            marks = histogram
                .marks
                .iter()
                .filter_map(|mark| {
                    let value = findings.value(&mark.metric, histogram.unit, clocks)?;
                    Some((mark.name.as_str(), value))
                })
                .collect();
            phases.push((wanted.name.as_str(), series));
        }
        let found = Self {
            histogram,
            unit: histogram.unit,
            factor,
            phases,
            marks,
        };
        Ok((!found.phases.is_empty()).then_some(found))
    }

    /// Draws them into a directory, as SVG and PNG, and gives the files.
    ///
    /// # Errors
    /// The files cannot be written.
    pub fn draw(
        &self,
        name: &str,
        subtitle: &str,
        directory: &Path,
    ) -> miette::Result<Vec<PathBuf>> {
        let picture = Picture {
            title: self.histogram.title.clone(),
            subtitle: subtitle.to_owned(),
            axis: format!("{} ({})", self.histogram.x, self.unit.symbol()),
            unit: self.unit.symbol(),
            phases: self.phases.clone(),
            factor: self.factor,
            marks: self.marks.clone(),
        };
        std::fs::create_dir_all(directory)
            .into_diagnostic()
            .wrap_err_with(|| format!("{} cannot be made", directory.display()))?;
        let path = |extension| directory.join(format!("{name}.{extension}"));
        let (svg, png) = (path("svg"), path("png"));
        picture.svg(&svg).into_diagnostic()?;
        picture.png(&png).into_diagnostic()?;
        Ok(vec![svg, png])
    }

    /// The same for the report's page.
    pub fn page(self) -> bench::Distribution<'a> {
        let factor = self.factor;
        let series = self.phases.into_iter();
        bench::Distribution {
            title: self.histogram.title.clone(),
            x: self.histogram.x.clone(),
            unit: self.unit.symbol(),
            series: series
                .map(|(name, series)| (name, series, factor))
                .collect(),
            marks: self.marks,
        }
    }
}
