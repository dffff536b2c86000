//! How a run's samples are distributed, as a picture.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use miette::{IntoDiagnostic, WrapErr, miette};

use super::experiment::Histogram;
use super::prepared::Done;
use super::result::Findings;
use crate::report::picture::Picture;

/// Draws a histogram into a directory, as SVG and PNG, and gives the files; none where none of its runs was carried out. A run that was and
/// gave no samples is left out, as a metric has said already.
///
/// # Errors
/// The samples are of another kind than the picture, or the files cannot be written.
pub fn draw(
    histogram: &Histogram,
    done: &BTreeMap<String, Done>,
    findings: &Findings,
    directory: &Path,
) -> miette::Result<Vec<PathBuf>> {
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
    if phases.is_empty() {
        return Ok(Vec::new());
    }
    let picture = Picture {
        title: histogram.title.clone(),
        axis: format!("{} ({})", histogram.x, histogram.unit.name()),
        phases,
        factor,
        marks,
    };
    std::fs::create_dir_all(directory)
        .into_diagnostic()
        .wrap_err_with(|| format!("{} cannot be made", directory.display()))?;
    let path = |extension| directory.join(format!("{}.{extension}", histogram.name));
    let (svg, png) = (path("svg"), path("png"));
    picture.svg(&svg).into_diagnostic()?;
    picture.png(&png).into_diagnostic()?;
    Ok(vec![svg, png])
}
