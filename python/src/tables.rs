//! What a run has recorded, as tables.

use tactus::report::unit::Clocks;
use tactus::run::board::Facts;
use tactus::run::board::live::Live;
use tactus::run::board::probe::ARGUMENTS;
use tactus::run::console::Source;
use tactus::run::journal::{Journal, RecordLine};
use tactus::run::record::{self, GuestRecord};
use tactus_board::time::Clock;

use pyo3::PyResult;

use crate::table::{Columns, Table};
use crate::until::HYPERVISOR;

fn writer<'j>(journal: &'j Journal, line: &RecordLine) -> &'j str {
    match line.source {
        Source::Vm(vm) => journal.vms.get(vm).map_or("", |vm| vm.name.as_str()),
        _ => HYPERVISOR,
    }
}

/// All records, a line each.
pub fn records(live: &Live) -> PyResult<Table> {
    let journal = live.journal();
    let lines = || live.records().map(|(_, line)| line);
    let texts: Vec<_> = lines().map(|line| Some(&line.text)).collect();
    Columns::default()
        .figures(
            "seconds",
            live.records().map(|(time, _)| time.as_seconds()).collect(),
        )
        .names("source", lines().map(|line| writer(journal, line)))
        .names("kind", lines().map(|line| record::fields(&line.text).0))
        .texts("text", &texts)
        .table()
}

/// The records of a kind, with a column for each of their fields: numbers where all of them are.
pub fn records_of(live: &Live, kind: &str) -> PyResult<Table> {
    let journal = live.journal();
    let mut keys: Vec<&str> = Vec::new();
    let mut rows = Vec::new();
    for (time, line) in live.records() {
        let (its_kind, fields) = record::fields(&line.text);
        if its_kind != kind {
            continue;
        }
        for (key, _) in &fields {
            if !keys.contains(key) && keys.len() < COLUMNS_MAX {
                keys.push(key);
            }
        }
        rows.push((time, line, fields));
    }
    let mut columns = Columns::default()
        .figures(
            "seconds",
            rows.iter().map(|(time, ..)| time.as_seconds()).collect(),
        )
        .names(
            "source",
            rows.iter().map(|(_, line, _)| writer(journal, line)),
        );
    for key in keys {
        let values: Vec<Option<&str>> = rows
            .iter()
            .map(|(.., fields)| fields.iter().find_map(|(k, v)| (*k == key).then_some(*v)))
            .collect();
        // The names of the first two are taken.
        let name = match key {
            "seconds" | "source" => format!("{key}_"),
            _ => key.to_owned(),
        };
        columns = column(columns, &name, &values);
    }
    columns.table()
}

/// Fields that a table of records has at most: what a guest writes is not trusted.
const COLUMNS_MAX: usize = 64;

fn column(columns: Columns, name: &str, values: &[Option<&str>]) -> Columns {
    let all = |is: &dyn Fn(&str) -> bool| values.iter().flatten().all(|value| is(value));
    if all(&|text| record::parse_number(text).is_some()) {
        let numbers = values
            .iter()
            .map(|value| value.and_then(record::parse_number));
        columns.some_numbers(name, numbers.collect())
    } else if all(&|text| text.parse::<f64>().is_ok()) {
        let figures = values
            .iter()
            .map(|value| value.and_then(|text| text.parse().ok()));
        columns.some_figures(name, figures.collect())
    } else {
        columns.texts(name, values)
    }
}

/// All samples, in the order in which they were taken.
pub fn samples(journal: &Journal) -> PyResult<Table> {
    let clocks: Clocks = journal.clocks();
    let mut series = Vec::new();
    for line in &journal.records {
        let Source::Vm(vm) = line.source else {
            continue;
        };
        let Ok(GuestRecord::Samples {
            name,
            phase,
            unit,
            values,
        }) = record::parse_guest(&line.text)
        else {
            continue;
        };
        let vm = journal.vms.get(vm).map_or("", |vm| vm.name.as_str());
        series.push((vm, name, phase, unit, values));
    }
    let (mut figures, mut times) = (Vec::new(), Vec::new());
    for (.., unit, values) in &series {
        let nanoseconds = unit.nanoseconds(clocks);
        figures.extend_from_slice(values);
        times.extend(
            values
                .iter()
                .map(|value| nanoseconds.map(|one| *value as f64 * one)),
        );
    }
    let each = || {
        series
            .iter()
            .flat_map(|one| std::iter::repeat_n(one, one.4.len()))
    };
    Columns::default()
        .names("vm", each().map(|one| one.0))
        .names("name", each().map(|one| one.1.as_str()))
        .names("phase", each().map(|one| one.2.as_str()))
        .names("unit", each().map(|one| one.3.name()))
        .numbers("value", figures)
        .some_figures("ns", times)
        .table()
}

/// Who had the cycles of each hart since reset.
pub fn cycles(facts: &Facts, vms: &[String]) -> PyResult<Table> {
    let rows: Vec<_> = (0_u32..)
        .zip(&facts.harts)
        .flat_map(|(index, hart)| hart.work.iter().map(move |work| (index, hart, work)))
        .collect();
    let names: Vec<_> = rows
        .iter()
        .map(|(.., (worker, _))| worker.name(vms))
        .collect();
    let of = |get: fn(&tactus::run::board::Work) -> u64| {
        rows.iter().map(|(.., (_, work))| get(work)).collect()
    };
    let share = |(_, hart, (_, work)): &(
        u32,
        &tactus::run::board::HartFacts,
        &(_, tactus::run::board::Work),
    )| { work.cycles as f64 / hart.cycles.max(1) as f64 };
    Columns::default()
        .small_numbers("hart", rows.iter().map(|(index, ..)| *index).collect())
        .names("who", names.iter().map(String::as_str))
        .numbers("cycles", of(|work| work.cycles))
        .numbers("instructions", of(|work| work.instructions))
        .figures("share", rows.iter().map(share).collect())
        .table()
}

/// When harts came to probes, with the argument registers that were wanted.
pub fn hits(live: &Live) -> PyResult<Table> {
    let hits = live.hits();
    let clock = live.board().clock();
    let kept = &hits.kept;
    let name = |index: usize| {
        hits.probes
            .get(index)
            .map_or("", |probe| probe.place.name.as_str())
    };
    let mut columns = Columns::default()
        .names("probe", kept.iter().map(|hit| name(hit.probe)))
        .figures(
            "seconds",
            kept.iter()
                .map(|hit| clock.time_of(hit.cycle).as_seconds())
                .collect(),
        )
        .numbers("cycle", kept.iter().map(|hit| hit.cycle).collect())
        .small_numbers("hart", kept.iter().map(|hit| hit.hart.into()).collect());
    let shown = hits.probes.iter().map(|probe| probe.arguments).max();
    for argument in 0..shown.unwrap_or(0).min(ARGUMENTS) {
        let value = |hit: &tactus::run::board::probe::Hit| {
            let probe = hits.probes.get(hit.probe)?;
            (argument < probe.arguments).then_some(hit.arguments[argument])
        };
        columns = columns.some_numbers(&format!("a{argument}"), kept.iter().map(value).collect());
    }
    columns.table()
}

/// When pins changed, and all levels from then on.
pub fn pins(changes: &[(u64, u32)], fabric: Clock) -> PyResult<Table> {
    let seconds = changes
        .iter()
        .map(|(cycle, _)| fabric.time_of(*cycle).as_seconds());
    Columns::default()
        .figures("seconds", seconds.collect())
        .numbers("cycle", changes.iter().map(|(cycle, _)| *cycle).collect())
        .small_numbers(
            "levels",
            changes.iter().map(|(_, levels)| *levels).collect(),
        )
        .table()
}
