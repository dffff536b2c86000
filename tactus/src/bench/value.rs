//! A metric's value, out of its run.

use std::process::{Command, Stdio};

use miette::{IntoDiagnostic, WrapErr};
use object::{Object, ObjectSection, ObjectSegment, SectionKind};

use crate::artifacts::Artifacts;
use crate::report::samples::Series;
use crate::report::unit::Unit;
use crate::run::board::paths::{Path, Paths, Phase, Stretches, Tally};
use crate::run::board::sharing::{Sharing, Times};
use crate::run::board::stay::Stay;
use crate::run::board::{Facts, Worker};
use crate::run::session::Verdict;

use super::experiment::{
    Beginning, BeyondSource, CallsSource, CostSource, CountedSource, Does, Extent, Figure,
    ImageSource, Metric, PassageSource, PathFigure, PathsSource, RecordSource, RegionSource,
    SamplesSource, Statistic, StaySource, WaitedSource,
};
use super::prepared::Done;
use super::{area, coupling};

/// The value, in the metric's unit, out of its run in the project at `root` and the others that it is of; `None` when
/// they did not give it, which stderr is told.
///
/// # Errors
/// The hypervisor's file cannot be read.
pub fn value(
    metric: &Metric,
    root: &std::path::Path,
    done: &Done,
    others: &[&Done],
) -> miette::Result<Option<f64>> {
    if let (Some(_), Some(hypervisor)) = (&metric.hypervisor_text, &done.hypervisor) {
        return text_bytes(hypervisor).map(|bytes| Some(bytes as f64));
    }
    // A failed run's figures may be of anything.
    let failed = |done: &Done| done.outcome.verdict() != Verdict::Good;
    if failed(done) || others.iter().any(|done| failed(done)) {
        return Ok(None);
    }
    let figure = figure(metric, root, done, others).and_then(|(value, unit)| {
        let clocks = done.outcome.journal.clocks();
        unit.convert(value, metric.unit, clocks).ok_or_else(|| {
            format!(
                "it is in {}, which cannot be had in {}",
                unit.name(),
                metric.unit.name()
            )
        })
    });
    Ok(figure
        .inspect_err(|reason| {
            let runs: Vec<&str> = metric.runs().collect();
            eprintln!(
                "run `{}` gave no `{}`: {reason}",
                runs.join("`, `"),
                metric.name
            );
        })
        .ok())
}

/// What the run gave, in a unit of its own, or why it gave nothing.
fn figure(
    metric: &Metric,
    root: &std::path::Path,
    done: &Done,
    others: &[&Done],
) -> Result<(f64, Unit), String> {
    if let Some(source) = &metric.record {
        return record(metric, source, done);
    }
    if let (Some(source), [other]) = (&metric.ratio, others) {
        return ratio(
            record(metric, &source.of, done)?,
            record(metric, &source.to, other)?,
        );
    }
    if let Some(source) = &metric.paths {
        let runs = || std::iter::once(done).chain(others.iter().copied());
        // A run that has ended before would be passed over in silence.
        if source.phase == Some(Phase::Steady) && runs().any(is_never_steady) {
            return Err("in one of the runs some VM has not begun".to_owned());
        }
        let all = merged(runs());
        return match &source.past {
            Some(page) => Ok((past(&root.join(page), &all)?.len() as f64, Unit::Count)),
            None => Ok((paths(source, &all)?, source.of.unit())),
        };
    }
    let (compared, sign) = match &metric.less {
        Some(source) => (Some(source), -1.0),
        None => (metric.more.as_ref(), 1.0),
    };
    if let (Some(source), [other]) = (compared, others) {
        let (value, unit) = more(
            guests(metric, &source.of, done)?,
            guests(metric, &source.than, other)?,
            metric.unit,
        )?;
        return Ok((sign * value, unit));
    }
    if let Some(source) = &metric.samples {
        return samples(source, done);
    }
    if let Some(source) = &metric.times {
        let mut all = Vec::new();
        for (source, done) in source.than.iter().zip(others) {
            all.push(record(metric, source, done)?);
        }
        return times(record(metric, &source.of, done)?, &all);
    }
    if let Some((first, rest)) = metric.sum.split_first() {
        let mut sum = record(metric, first, done)?;
        for (source, done) in rest.iter().zip(others) {
            let (value, unit) = record(metric, source, done)?;
            if unit != sum.1 {
                return Err("they are not in one unit".to_owned());
            }
            sum.0 += value;
        }
        return Ok(sum);
    }
    if let Some(source) = &metric.bound {
        let bound = bound(done, &source.vm, Some(&source.task))?;
        return Ok((
            bound.iter().map(|(_, bound)| *bound).sum(),
            Unit::Nanoseconds,
        ));
    }
    if let Some(source) = &metric.beyond {
        return Ok((beyond(source, done)?, Unit::Count));
    }
    if let Some(source) = &metric.counted {
        return counted(source, root);
    }
    let facts = done.outcome.board.as_ref();
    let facts = facts.ok_or("only the board knows it")?;
    let own = (&facts.sharing, done);
    if let Some(source) = &metric.region {
        return region(source, own.0);
    }
    if let Some(source) = &metric.waited {
        return Ok((waited(source, own)?, Unit::Cycles));
    }
    if metric.unfinished.is_some() {
        let [asked, ended] = own.0.computations();
        return Ok((asked as f64 - ended as f64, Unit::Count));
    }
    let (figure, take) = if let Some(source) = &metric.cost {
        (cost(source, done, others), source.take)
    } else if let Some(source) = &metric.calls {
        (calls(source, facts, done), source.take)
    } else if let Some(source) = &metric.passage {
        (passage(source, facts, done), source.take)
    } else if let Some(source) = &metric.stay {
        (stay(source, facts, done), source.take)
    } else {
        (Err("it has no source".to_owned()), Statistic::default())
    };
    let unit = match take {
        Statistic::Count => Unit::Count,
        _ => Unit::Cycles,
    };
    Ok((figure?, unit))
}

fn record(metric: &Metric, source: &RecordSource, done: &Done) -> Result<(f64, Unit), String> {
    let name = source.name.as_deref().unwrap_or(&metric.name);
    let vm = done.outcome.journal.vm(&source.vm);
    let record = vm.and_then(|vm| vm.metrics.get(name));
    let record = record.ok_or_else(|| format!("VM `{}` did not report `{name}`", source.vm))?;
    Ok((record.value, record.unit))
}

fn guests(metric: &Metric, figure: &Figure, done: &Done) -> Result<(f64, Unit), String> {
    match figure {
        Figure::Record(source) => record(metric, source, done),
        Figure::Samples(source) => samples(source, done),
    }
}

fn samples(source: &SamplesSource, done: &Done) -> Result<(f64, Unit), String> {
    let vm = done.outcome.journal.vm(&source.vm);
    let series = vm.and_then(|vm| vm.series(&source.samples, &source.phase));
    let of = series.and_then(|series| source.take.of_series(series));
    of.ok_or_else(|| format!("VM `{}` gave no samples of `{}`", source.vm, source.samples))
}

/// What there is of a metric that is of no run.
pub enum Apart {
    /// Its figure and what else there is to say of it; no figure where it could not be had, which stderr is told.
    Figure(Option<f64>, Option<String>),
    /// It takes work that this form of the experiment does not do: why, and who does it.
    LeftOut(String),
}

/// A metric that is of no run, of the project at `root`.
pub fn apart(metric: &Metric, root: &std::path::Path, extent: Extent) -> Apart {
    let alone = |figure: Result<f64, String>| figure.map(|value| (value, None));
    let figure = if let Some(source) = &metric.counted {
        alone(counted(source, root).map(|(value, _)| value))
    } else if let Some(what) = metric.coupling {
        alone(coupling::measure(what))
    } else if let Some(source) = &metric.image {
        alone(growth(source))
    } else if let Some(source) = &metric.area {
        match area::measure(source, root, extent) {
            Err(area::Error::NotSynthesised(reason)) => return Apart::LeftOut(reason),
            Err(area::Error::Failed(reason)) => Err(reason),
            Ok(figure) => Ok(figure),
        }
    } else {
        Err("it has no source".to_owned())
    };
    match figure {
        Ok((value, note)) => Apart::Figure(Some(value), note),
        Err(reason) => {
            eprintln!("there is no `{}`: {reason}", metric.name);
            Apart::Figure(None, None)
        }
    }
}

/// By how many percent an image takes more memory than another one.
fn growth(source: &ImageSource) -> Result<f64, String> {
    let size = |name: &str| -> Result<f64, String> {
        let file = Artifacts::chosen().file(name);
        let file = file.map_err(|missing| missing.reason)?;
        let bytes = std::fs::read(&file).map_err(|error| error.to_string())?;
        let elf = object::File::parse(&*bytes).map_err(|error| format!("{name}: {error}"))?;
        Ok(elf.segments().map(|segment| segment.size()).sum::<u64>() as f64)
    };
    Ok(100.0 * (size(&source.of)? / size(&source.than)? - 1.0))
}

fn counted(source: &CountedSource, root: &std::path::Path) -> Result<(f64, Unit), String> {
    Ok((
        printed(&root.join(&source.by), &source.arguments)?,
        Unit::Count,
    ))
}

/// The number that a program prints; its complaints go to stderr.
fn printed(program: &std::path::Path, arguments: &[String]) -> Result<f64, String> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output();
    let output = output.map_err(|error| format!("{}: {error}", program.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    match text.trim().parse() {
        Ok(number) if output.status.success() => Ok(number),
        _ => Err(format!("{} gave no number", program.display())),
    }
}

/// How much more one figure is than another of the same unit: in that unit, or in percent of the other one.
fn more(
    (of, unit): (f64, Unit),
    (than, other): (f64, Unit),
    wanted: Unit,
) -> Result<(f64, Unit), String> {
    if wanted == Unit::Percent {
        let (percent, unit) = ratio((of, unit), (than, other))?;
        return Ok((percent - 100.0, unit));
    }
    if unit != other {
        return Err(format!(
            "{} and {} do not compare",
            unit.name(),
            other.name()
        ));
    }
    Ok((of - than, unit))
}

/// How many times as much one figure is as others of the same unit together.
fn times((of, unit): (f64, Unit), than: &[(f64, Unit)]) -> Result<(f64, Unit), String> {
    let sum: f64 = than.iter().map(|(value, _)| value).sum();
    if sum == 0.0 || than.iter().any(|(_, other)| *other != unit) {
        return Err(format!(
            "{of} {} and the others do not compare",
            unit.name()
        ));
    }
    Ok((of / sum, Unit::Count))
}

/// The bounds of a VM's virtual devices, or of that with one task, in nanoseconds.
fn bound(done: &Done, vm: &str, task: Option<&str>) -> Result<Vec<(String, f64)>, String> {
    let shared = done.accelerators.as_ref();
    let shared = shared.ok_or("the system shares no accelerators")?;
    let number = number(done, vm)?;
    let devices = shared.devices.iter().filter(|one| one.vm == number);
    let devices = devices.filter(|one| task.is_none_or(|task| one.task == task));
    let bounds = devices.map(|one| {
        let bound = one.latency.and_then(|latency| latency.bound);
        let bound = bound.ok_or_else(|| format!("there is no bound for `{}`", one.task))?;
        Ok((one.task.clone(), bound as f64))
    });
    let bounds: Vec<_> = bounds.collect::<Result<_, String>>()?;
    if bounds.is_empty() {
        return Err(format!("VM `{vm}` has no such accelerator"));
    }
    Ok(bounds)
}

fn number(done: &Done, vm: &str) -> Result<usize, String> {
    let vms = &done.outcome.journal.vms;
    let number = vms.iter().position(|one| one.name == vm);
    number.ok_or_else(|| format!("there is no VM `{vm}`"))
}

fn beyond(source: &BeyondSource, done: &Done) -> Result<f64, String> {
    let clocks = done.outcome.journal.clocks();
    let vm = done.outcome.journal.vm(&source.vm);
    let mut count = 0;
    for (task, bound) in bound(done, &source.vm, None)? {
        let name = format!("{}_{task}", source.samples);
        let series = vm.and_then(|vm| vm.series(&name, "all"));
        let series = series.ok_or_else(|| format!("there are no samples of `{name}`"))?;
        let factor = series.unit().factor_to(Unit::Nanoseconds, clocks);
        let factor = factor.ok_or_else(|| format!("`{name}` is in {}", series.unit().name()))?;
        count += series.above((bound / factor) as u64);
    }
    Ok(count as f64)
}

fn region(source: &RegionSource, sharing: &Sharing) -> Result<(f64, Unit), String> {
    let [all, computing, configuring] = sharing
        .region(source.number)
        .filter(|[all, ..]| *all > 0)
        .ok_or("no region was requested")?;
    let time = match source.does {
        Does::Computing => computing,
        Does::Configuring => configuring,
        Does::Resting => all.saturating_sub(computing + configuring),
    };
    Ok((100.0 * time as f64 / all as f64, Unit::Percent))
}

fn waited(source: &WaitedSource, (sharing, done): (&Sharing, &Done)) -> Result<f64, String> {
    let number = number(done, &source.vm)?;
    let devices = done.accelerators.iter().flat_map(|shared| &shared.devices);
    let own = devices.filter(|device| device.vm == number);
    let waits = own.filter_map(|device| sharing.waited(device.interface.into()));
    let longest = waits.max();
    let longest = longest.ok_or_else(|| format!("VM `{}` has no accelerator", source.vm))?;
    Ok(longest as f64)
}

fn cost(source: &CostSource, done: &Done, others: &[&Done]) -> Result<f64, String> {
    let all = std::iter::once(done).chain(others.iter().copied());
    let facts = all.filter_map(|done| done.outcome.board.as_ref());
    let times = facts.map(|facts| facts.sharing.part(source.of));
    let times = times.reduce(Times::and).unwrap_or_default();
    if times.count == 0 && source.take != Statistic::Count {
        return Err("it did not happen by itself".to_owned());
    }
    source
        .take
        .of_all(times.count, times.sum, times.min, times.max)
}

/// What the system says of a part, in nanoseconds.
pub fn stated(source: &CostSource, done: &Done) -> Option<f64> {
    let costs = done.accelerators.as_ref()?.costs?;
    Some(source.of.stated(&costs) as f64)
}

/// One figure in percent of another of the same unit.
fn ratio((of, unit): (f64, Unit), (to, other): (f64, Unit)) -> Result<(f64, Unit), String> {
    if unit != other || to == 0.0 {
        return Err(format!(
            "{of} {} are no part of {to} {}",
            unit.name(),
            other.name()
        ));
    }
    Ok((100.0 * of / to, Unit::Percent))
}

fn calls(source: &CallsSource, facts: &Facts, done: &Done) -> Result<f64, String> {
    let of = source.of.iter().map(|function| {
        let calls = done.watched.calls(&facts.hits, function)?;
        source
            .take
            .of(&calls)
            .ok_or_else(|| format!("`{function}` was not called"))
    });
    of.sum()
}

fn passage(source: &PassageSource, facts: &Facts, done: &Done) -> Result<f64, String> {
    let PassageSource { from, to, skip, .. } = source;
    let passages = done.watched.passages(&facts.hits, from, to)?;
    passages
        .get(*skip..)
        .and_then(|counted| source.take.of(counted))
        .ok_or_else(|| match skip {
            0 => format!("no hart went from `{from}` to `{to}`"),
            _ => format!(
                "harts went {} times from `{from}` to `{to}`",
                passages.len()
            ),
        })
}

fn stay(source: &StaySource, facts: &Facts, done: &Done) -> Result<f64, String> {
    let mut sum = 0.0;
    for all in stays(source, facts, done)? {
        sum += source
            .take
            .of_all(all.count, all.cycles, all.min, all.max)?;
    }
    Ok(sum)
}

/// The stays of each list of ways; none of one whose ways were not taken.
fn stays(source: &StaySource, facts: &Facts, done: &Done) -> Result<Vec<Stay>, String> {
    let vms = &done.outcome.journal.vms;
    let worker = |name: &str| match vms.iter().position(|vm| vm.name == name) {
        Some(vm) => Ok(Worker::Vm(vm)),
        None if name == "idle" => Ok(Worker::Idle),
        None => Err(format!("there is no VM `{name}`")),
    };
    let interrupted = source.by.map(|by| by == Beginning::Interrupt);
    let length = |way: &String| -> Result<Option<Stay>, String> {
        let (from, to) = way
            .split_once('>')
            .ok_or_else(|| format!("`{way}` is no way from one guest to another"))?;
        let (from, to) = (worker(from)?, worker(to)?);
        Ok(facts.stays.between(&from, &to, interrupted))
    };
    let mut found = Vec::new();
    for ways in &source.ways {
        let stays: Result<Vec<_>, String> = ways.iter().map(length).collect();
        found.extend(stays?.into_iter().flatten().reduce(Stay::and));
    }
    Ok(found)
}

/// The paths that exceed their bounds on a page, a line each.
fn past(page: &std::path::Path, paths: &Paths) -> Result<Vec<String>, String> {
    let text = std::fs::read_to_string(page)
        .map_err(|error| format!("{} cannot be read: {error}", page.display()))?;
    Ok(super::paths::broken(&text, paths))
}

/// Whether some VM of a run has not begun.
fn is_never_steady(done: &Done) -> bool {
    let facts = done.outcome.board.as_ref();
    let steady = |facts: &Facts| facts.paths.iter_in(Some(Phase::Steady)).next().is_some();
    !facts.is_some_and(steady)
}

fn paths(source: &PathsSource, all: &Paths) -> Result<f64, String> {
    let wanted = all.iter_in(source.phase);
    let stretches = wanted
        .filter(|(path, _)| source.wants(path))
        .map(|(_, stretches)| stretches)
        .reduce(Stretches::and)
        .ok_or("there was no such path")?;
    if source.take == Statistic::Min {
        return Err("the least of all stretches is not known".to_owned());
    }
    let Stretches {
        count, cycles, max, ..
    } = stretches;
    let of_all = |tally: Tally| source.take.of_all(tally.count, tally.sum, 0, tally.max);
    match source.of {
        PathFigure::Cycles => source.take.of_all(count, cycles, 0, max),
        PathFigure::Code => of_all(stretches.code),
        PathFigure::Data => of_all(stretches.data),
        PathFigure::Warm if stretches.warm.count == 0 => {
            Err("each stretch read a line from memory".to_owned())
        }
        PathFigure::Warm => of_all(stretches.warm),
        PathFigure::Cold if source.take != Statistic::Max => {
            Err("of the bounds with all lines cold the greatest alone is known".to_owned())
        }
        PathFigure::Cold => Ok(stretches.cold as f64),
        PathFigure::PastCold => Ok(stretches.past_cold as f64),
        PathFigure::PastComputed => match all.unbounded() {
            Some(reason) => Err(reason.to_owned()),
            None => Ok(stretches.past_bound as f64),
        },
    }
}

impl PathFigure {
    const fn unit(self) -> Unit {
        match self {
            Self::Cycles | Self::Warm | Self::Cold => Unit::Cycles,
            Self::Code | Self::Data | Self::PastCold | Self::PastComputed => Unit::Count,
        }
    }
}

/// The paths of all these runs.
pub fn merged<'a>(runs: impl Iterator<Item = &'a Done>) -> Paths {
    let mut all = Paths::default();
    for facts in runs.filter_map(|done| done.outcome.board.as_ref()) {
        all.merge(&facts.paths);
    }
    all
}

/// Of a metric that is the greatest of some paths or stays: what its cycles went into. Of one that counts paths past
/// their bounds: which those are.
pub fn worst(metric: &Metric, root: &std::path::Path, runs: &[&Done]) -> Option<String> {
    if let Some(source) = &metric.paths {
        let all = merged(runs.iter().copied());
        if let Some(page) = &source.past {
            let past = past(&root.join(page), &all).ok()?;
            return (!past.is_empty()).then(|| past.join("; "));
        }
        let wanted = all.iter_in(source.phase);
        let wanted = wanted.filter(|(path, _)| source.wants(path));
        if source.of == PathFigure::Cold {
            let (path, _) = wanted.max_by_key(|(_, stretches)| stretches.cold)?;
            return Some(path.to_string());
        }
        let (path, stretches) = wanted.max_by_key(|(_, stretches)| stretches.max)?;
        return (source.take == Statistic::Max && source.of == PathFigure::Cycles)
            .then(|| format!("{path}: {}", stretches.spent));
    }
    let source = metric.stay.as_ref()?;
    let done = runs.first()?;
    let stays = stays(source, done.outcome.board.as_ref()?, done).ok()?;
    let each = stays.iter().map(|stay| stay.spent.to_string());
    (source.take == Statistic::Max).then(|| each.collect::<Vec<_>>().join("; "))
}

impl PathsSource {
    fn wants(&self, path: &Path) -> bool {
        let end = self.end.as_ref();
        path.cause.to_string().starts_with(&self.cause)
            && end.is_none_or(|end| *end == path.end.to_string())
            && self.looked.is_none_or(|looked| looked == path.looked)
    }
}

impl Statistic {
    /// It, of so many figures of which only the sum, the least and the greatest are known.
    fn of_all(self, count: u64, sum: u64, min: u64, max: u64) -> Result<f64, String> {
        match self {
            Self::Max => Ok(max as f64),
            Self::Min => Ok(min as f64),
            Self::Mean => Ok(sum as f64 / count as f64),
            Self::Count => Ok(count as f64),
            Self::P50 | Self::P99 | Self::P999 => Err("they are not known one by one".to_owned()),
        }
    }

    /// It, of these; `None` of none.
    fn of(self, figures: &[u64]) -> Option<f64> {
        match self {
            Self::Max => figures.iter().max().map(|max| *max as f64),
            Self::Min => figures.iter().min().map(|min| *min as f64),
            Self::Mean if figures.is_empty() => None,
            Self::Mean => Some(figures.iter().sum::<u64>() as f64 / figures.len() as f64),
            Self::P50 => quantile(figures, 500),
            Self::P99 => quantile(figures, 990),
            Self::P999 => quantile(figures, 999),
            Self::Count => Some(figures.len() as f64),
        }
    }

    /// It, of samples, with its unit; `None` without any.
    pub(crate) fn of_series(self, series: &Series) -> Option<(f64, Unit)> {
        let summary = series.summary(1.0)?;
        Some(match self {
            Self::Max => (summary.max, series.unit()),
            Self::Min => (summary.min, series.unit()),
            Self::Mean => (summary.mean, series.unit()),
            Self::P50 => (summary.p50, series.unit()),
            Self::P99 => (summary.p99, series.unit()),
            Self::P999 => (summary.p999, series.unit()),
            Self::Count => (summary.samples as f64, Unit::Count),
        })
    }
}

/// What so many of 1,000 figures do not exceed; `None` of none.
fn quantile(figures: &[u64], of_thousand: usize) -> Option<f64> {
    let last = (figures.len() * of_thousand)
        .div_ceil(1000)
        .checked_sub(1)?;
    let mut sorted = figures.to_vec();
    sorted.sort_unstable();
    Some(sorted[last] as f64)
}

/// Bytes of an ELF file's executable sections.
fn text_bytes(path: &std::path::Path) -> miette::Result<u64> {
    let data = std::fs::read(path)
        .into_diagnostic()
        .wrap_err_with(|| format!("{} cannot be read", path.display()))?;
    let file = object::File::parse(&*data)
        .into_diagnostic()
        .wrap_err_with(|| format!("{} is not an ELF file", path.display()))?;
    Ok(file
        .sections()
        .filter(|section| section.kind() == SectionKind::Text)
        .map(|section| section.size())
        .sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_of_like_to_like() {
        let count = |value| (value, Unit::Count);
        assert_eq!(ratio(count(49.0), count(50.0)), Ok((98.0, Unit::Percent)));
        assert!(ratio(count(1.0), count(0.0)).is_err());
        assert!(ratio(count(1.0), (1.0, Unit::Cycles)).is_err());
    }

    #[test]
    fn times_are_of_all_the_others_together() {
        let us = |value| (value, Unit::Microseconds);
        let three = times(us(60.0), &[us(15.0), us(5.0)]);
        assert_eq!(three, Ok((3.0, Unit::Count)));
        assert!(times(us(60.0), &[]).is_err());
        assert!(times(us(60.0), &[(1.0, Unit::Count)]).is_err());
    }

    #[test]
    fn programs_count_or_fail() {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        assert!(printed(&directory.path().join("none"), &[]).is_err());
        assert!(
            printed(std::path::Path::new("/bin/true"), &[]).is_err(),
            "it prints nothing"
        );
        assert!(printed(std::path::Path::new("/bin/false"), &[]).is_err());
        let said = printed(std::path::Path::new("/bin/echo"), &["7".to_owned()]);
        assert_eq!(said, Ok(7.0));
    }

    #[test]
    fn more_is_in_the_figures_unit_or_in_percent() {
        let ns = |value| (value, Unit::Nanoseconds);
        let us = Unit::Microseconds;
        assert_eq!(more(ns(900.0), ns(250.0), us), Ok(ns(650.0)));
        assert_eq!(
            more(ns(202.0), ns(200.0), Unit::Percent),
            Ok((1.0, Unit::Percent))
        );
        assert!(more(ns(1.0), (1.0, Unit::Count), us).is_err());
    }

    #[test]
    fn statistics_are_of_all_figures() {
        let figures: Vec<u64> = (1..=2000).rev().collect();
        let of = |statistic: Statistic| statistic.of(&figures);
        assert_eq!(of(Statistic::Max), Some(2000.0));
        assert_eq!(of(Statistic::Min), Some(1.0));
        assert_eq!(of(Statistic::Mean), Some(1000.5));
        assert_eq!(of(Statistic::P999), Some(1998.0));
        assert_eq!(of(Statistic::P99), Some(1980.0));
        assert_eq!(of(Statistic::P50), Some(1000.0));
        assert_eq!(of(Statistic::Count), Some(2000.0));
        assert_eq!(Statistic::P999.of(&[7]), Some(7.0));
        assert_eq!(Statistic::P999.of(&[]), None);
    }
}
