//! What a sweep has found: all rows as columns, and each point in a line.

use super::description::{CONFIDENCE, Sweep};
use super::factor::{Target, shown};
use super::interval::{half_width, mean};
use super::run::Row;
use crate::columns::{Columns, Values};
use crate::problem::count;
use crate::report::table::Table;
use crate::report::unit::figure;
use toml::Value;

/// Points that are printed.
const POINTS_SHOWN: usize = 50;
/// Half of an interval is shown from so many runs on.
const RUNS_SHOWN: usize = 2;

/// All rows as columns: the point, the factors, how it went, the measures.
pub fn columns(sweep: &Sweep, rows: &[Row]) -> Columns {
    let numbers =
        |of: &dyn Fn(&Row) -> u64| Values::Numbers(rows.iter().map(|row| Some(of(row))).collect());
    let texts = |of: &dyn Fn(&Row) -> Option<String>| Values::Texts(rows.iter().map(of).collect());
    let mut columns = Columns::default()
        .with("point", numbers(&|row| row.point as u64))
        .with("replicate", numbers(&|row| row.replicate.into()));
    let own = ["profile", "seed"];
    for (number, factor) in sweep.factors.iter().enumerate() {
        if !own.contains(&factor.name.as_str()) {
            let values: Vec<&Value> = factor.levels.iter().map(|level| &level.shown).collect();
            let levels: Vec<usize> = rows
                .iter()
                .map(|row| sweep.levels(row.point)[number])
                .collect();
            columns = columns.with(&factor.name, of_levels(&values, &levels));
        }
    }
    columns = columns
        .with("profile", texts(&|row| Some(row.profile.clone())))
        .with("seed", numbers(&|row| row.seed))
        .with("verdict", texts(&|row| Some(row.verdict.to_owned())))
        .with("message", texts(&|row| row.message.clone()))
        .with(
            "virtual_seconds",
            Values::Figures(rows.iter().map(|row| row.virtual_seconds).collect()),
        );
    for (number, measure) in sweep.measures.iter().enumerate() {
        let taken = |row: &Row| row.taken.get(number)?.as_ref().ok().copied();
        let values = rows.iter().map(taken).collect();
        columns = columns.with(&measure.name, Values::Figures(values));
    }
    columns
        .with(
            "configuration_hash",
            texts(&|row| Some(row.configuration_hash.clone())),
        )
        .with("image_hash", texts(&|row| row.image_hash.clone()))
        .with("trace_hash", texts(&|row| row.trace_hash.clone()))
        .noted("tactus.version", env!("CARGO_PKG_VERSION"))
        .noted("tactus.sweep", &sweep.text)
        .noted("tactus.system", sweep.base.document.to_string())
}

/// A factor's column: of the kind that all its levels have; else of texts.
fn of_levels(values: &[&Value], levels: &[usize]) -> Values {
    fn each<T: Clone>(
        values: &[&Value],
        levels: &[usize],
        of: impl Fn(&Value) -> Option<T>,
    ) -> Option<Vec<Option<T>>> {
        let values: Vec<T> = values
            .iter()
            .map(|value| of(value))
            .collect::<Option<_>>()?;
        Some(
            levels
                .iter()
                .map(|level| Some(values[*level].clone()))
                .collect(),
        )
    }
    let figure = |value: &Value| match value {
        Value::Integer(number) => Some(*number as f64),
        other => other.as_float(),
    };
    if let Some(values) = each(values, levels, Value::as_integer) {
        return Values::Integers(values);
    }
    if let Some(values) = each(values, levels, figure) {
        return Values::Figures(values);
    }
    if let Some(values) = each(values, levels, Value::as_bool) {
        return Values::Flags(values);
    }
    Values::Texts(each(values, levels, |value| Some(shown(value))).unwrap_or_default())
}

/// Each point in a line: its levels, its runs, and each measure's mean, with half of its interval behind it.
pub fn summary(sweep: &Sweep, rows: &[Row]) -> String {
    let confidence = sweep
        .stop
        .as_ref()
        .map_or(CONFIDENCE, |stop| stop.confidence);
    let names = sweep.factors.iter().map(|factor| factor.name.clone());
    let measures = sweep.measures.iter().map(|measure| measure.name.clone());
    let mut head = vec!["point".to_owned()];
    head.extend(names);
    head.push("runs".to_owned());
    head.extend(measures);
    head.push(String::new());
    let mut table = Table::new(title(sweep, rows), []);
    table.text_columns = (1..=sweep.factors.len())
        .filter(|number| is_text(sweep, number - 1))
        .collect();
    table.text_columns.push(head.len() - 1);
    table.head = head;
    let points: Vec<&[Row]> = rows.chunk_by(|a, b| a.point == b.point).collect();
    for rows in points.iter().take(POINTS_SHOWN) {
        table.row(line(sweep, rows, confidence));
    }
    let mut text = table.text();
    if points.len() > POINTS_SHOWN {
        let others = count(points.len() - POINTS_SHOWN, "further point");
        text += &format!("  and {others}, which are in the file\n");
    }
    if rows.len() > points.len() {
        let percent = figure(confidence * 100.0);
        text += &format!("Behind a mean: half of its {percent} % confidence interval.\n");
    }
    text
}

fn is_text(sweep: &Sweep, factor: usize) -> bool {
    let levels = &sweep.factors[factor].levels;
    !levels
        .iter()
        .all(|level| matches!(level.shown, Value::Integer(_) | Value::Float(_)))
}

fn title(sweep: &Sweep, rows: &[Row]) -> String {
    let bad = rows.iter().filter(|row| row.is_error()).count();
    let bad = match bad {
        0 => String::new(),
        number => format!(", {number} of them not good"),
    };
    format!(
        "{}: {}, {}{bad}",
        sweep.base.name,
        count(sweep.points(), "point"),
        count(rows.len(), "run"),
    )
}

/// The levels of a point, as texts.
pub fn levels(sweep: &Sweep, point: usize) -> impl Iterator<Item = String> {
    let levels = sweep.levels(point);
    let factors = sweep.factors.iter().zip(levels);
    factors.map(|(factor, level)| shown(&factor.levels[level].shown))
}

fn line(sweep: &Sweep, rows: &[Row], confidence: f64) -> Vec<String> {
    let point = rows.first().map_or(0, |row| row.point);
    let mut cells = vec![point.to_string()];
    cells.extend(levels(sweep, point));
    cells.push(rows.len().to_string());
    for number in 0..sweep.measures.len() {
        let taken = |row: &Row| row.taken.get(number)?.as_ref().ok().copied();
        let values: Vec<f64> = rows.iter().filter_map(taken).collect();
        cells.push(match half_width(&values, confidence) {
            _ if values.is_empty() => "-".to_owned(),
            Some(width) if values.len() >= RUNS_SHOWN => {
                format!("{} ± {}", figure(mean(&values)), figure(width))
            }
            _ => figure(mean(&values)),
        });
    }
    let bad: Vec<&Row> = rows.iter().filter(|row| row.is_error()).collect();
    cells.push(match bad.as_slice() {
        [] => String::new(),
        [first, ..] if rows.len() == 1 => first.verdict.to_owned(),
        [first, ..] => format!("{} of {}: {}", bad.len(), rows.len(), first.verdict),
    });
    cells
}

/// The first reason for each measure that no run has given, and for each kind of row that is not as it should be.
pub fn remarks(sweep: &Sweep, rows: &[Row]) -> Vec<String> {
    let mut remarks = Vec::new();
    for (number, measure) in sweep.measures.iter().enumerate() {
        let taken = || {
            rows.iter()
                .filter_map(|row| Some((row, row.taken.get(number)?)))
        };
        if taken().any(|(_, taken)| taken.is_ok()) {
            continue;
        }
        let ran = taken()
            .find(|(row, _)| !row.is_settled)
            .or_else(|| taken().next());
        if let Some((_, Err(reason))) = ran {
            remarks.push(format!("measure `{}` has no value: {reason}", measure.name));
        }
    }
    let mut told: Vec<&str> = Vec::new();
    for row in rows.iter().filter(|row| row.is_error()) {
        if told.contains(&row.verdict) {
            continue;
        }
        told.push(row.verdict);
        remarks.push(bad(sweep, row));
    }
    remarks
}

/// A row that is not as it should be, in a sentence.
pub fn bad(sweep: &Sweep, row: &Row) -> String {
    let of_point = |(factor, level): (&super::factor::Factor, String)| match factor.target {
        Target::Option("seed") => None,
        _ => Some(format!("{} = {level}", factor.name)),
    };
    let levels = sweep.factors.iter().zip(levels(sweep, row.point));
    let levels: Vec<String> = levels.filter_map(of_point).collect();
    let levels = match levels.as_slice() {
        [] => String::new(),
        levels => format!(" ({})", levels.join(", ")),
    };
    format!(
        "point {}{levels}, seed {}: {}: {}",
        row.point,
        row.seed,
        row.verdict,
        row.message.as_deref().unwrap_or_default()
    )
}
