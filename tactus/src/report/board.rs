//! What only the board knows of a run: who had each cycle, what probes saw, and the run's hash.

use serde_json::{Map, Value, json};
use tactus_board::board::MemoryModel;
use tactus_board::timing::Counts;

use super::table::Table;
use super::unit::figure;
use crate::run::board::reloads::{Paid, mean, microseconds};
use crate::run::board::storms::Found;
use crate::run::board::{Facts, Work, Worker};
use crate::run::journal::Journal;

/// Everyone who had cycles, in a fixed order, with what they had of each hart.
pub(super) fn workers(facts: &Facts) -> Vec<(Worker, Vec<Work>)> {
    let mut all: Vec<&Worker> = facts
        .harts
        .iter()
        .flat_map(|hart| hart.work.iter().map(|(worker, _)| worker))
        .collect();
    all.sort();
    all.dedup();
    let of = |worker: &Worker| {
        let work = |hart: &crate::run::board::HartFacts| {
            hart.work
                .iter()
                .find(|(other, _)| other == worker)
                .map(|(_, work)| *work)
                .unwrap_or_default()
        };
        facts.harts.iter().map(work).collect()
    };
    all.into_iter()
        .map(|worker| (worker.clone(), of(worker)))
        .collect()
}

pub(super) fn names(journal: &Journal) -> Vec<String> {
    journal.names().map(str::to_owned).collect()
}

/// What time passed in it.
pub(super) fn pace(facts: &Facts) -> String {
    match (facts.timed_since, &facts.timed_from) {
        (Some(since), _) if since.0 == 0 => "timed".to_owned(),
        (Some(since), Some(from)) => {
            format!("fast, from {from} at {:.6} s on timed", since.as_seconds())
        }
        (None, Some(from)) => format!("fast ({from} never came)"),
        _ => "fast".to_owned(),
    }
}

/// The seed, and how memory was ordered by it, where it was not in order.
pub(super) fn seed(facts: &Facts) -> String {
    let seed = facts.seed;
    match facts.memory_model {
        MemoryModel::Sequential => format!("seed {seed}"),
        MemoryModel::Weak => format!("weak memory, seed {seed}"),
    }
}

/// Which board it was and how it went, in a sentence.
pub fn sentence(facts: &Facts) -> String {
    let megahertz = figure(facts.clock_hz as f64 / 1e6);
    let pace = pace(facts);
    format!(
        "Board {} at {megahertz} MHz, {pace}, {}.",
        facts.profile,
        seed(facts)
    )
}

/// The table of cycles by who had them.
pub fn cycle_table(facts: &Facts, journal: &Journal) -> Table {
    let mut table = Table::new("Cycles since reset", ["who"]);
    for hart in 0..facts.harts.len() {
        table
            .head
            .extend([format!("hart {hart}"), "share".to_owned()]);
    }
    table
        .head
        .extend(["instructions".to_owned(), "per cycle".to_owned()]);
    let names = names(journal);
    for (worker, work) in workers(facts) {
        let mut row = vec![worker.name(&names)];
        for (work, hart) in work.iter().zip(&facts.harts) {
            row.extend([
                figure(work.cycles as f64),
                super::percent(work.cycles, hart.cycles),
            ]);
        }
        let instructions: u64 = work.iter().map(|work| work.instructions).sum();
        let cycles: u64 = work.iter().map(|work| work.cycles).sum();
        let rate = if instructions == 0 {
            "-".to_owned()
        } else {
            figure(instructions as f64 / cycles.max(1) as f64)
        };
        row.extend([figure(instructions as f64), rate]);
        table.row(row);
    }
    table
}

/// The table of what was counted while the pace was timed; `None` when it never was.
pub fn event_table(facts: &Facts) -> Option<Table> {
    facts.timed_since?;
    let mut table = Table::new("Events while timed", ["event"]);
    table
        .head
        .extend((0..facts.harts.len()).map(|hart| format!("hart {hart}")));
    for (index, name) in Counts::NAMES.iter().enumerate() {
        let counts = facts
            .harts
            .iter()
            .map(|hart| figure(hart.counts.values()[index] as f64));
        table.row(std::iter::once((*name).to_owned()).chain(counts));
    }
    Some(table)
}

/// The tables of what probes saw: how often, and how long from one to the next.
pub fn probe_tables(facts: &Facts) -> Vec<Table> {
    let hits = &facts.hits;
    if hits.probes.is_empty() {
        return Vec::new();
    }
    let mut counts = Table::new("Probes", ["probe", "address", "hits"]);
    for (probe, count) in hits.probes.iter().zip(&hits.counts) {
        counts.row([
            probe.place.name.clone(),
            format!("{:#x}", probe.place.address),
            figure(*count as f64),
        ]);
    }
    let head = ["from, to", "samples", "min", "mean", "p50", "p99", "max"];
    let mut intervals = Table::new("Cycles between probes, on the same hart", head);
    for (pair, series) in hits.probes.windows(2).zip(hits.intervals.iter().skip(1)) {
        if let Some(s) = series.as_ref().and_then(|series| series.summary(1.0)) {
            let figures = [s.samples as f64, s.min, s.mean, s.p50, s.p99, s.max];
            let name = format!("{}, {}", pair[0].place.name, pair[1].place.name);
            intervals.row(std::iter::once(name).chain(figures.map(figure)));
        }
    }
    let mut tables = vec![counts];
    if !intervals.rows.is_empty() {
        tables.push(intervals);
    }
    tables
}

/// The table of what vCPUs have paid to reload cache lines; `None` where none was stopped while the pace was timed.
pub fn reload_table(facts: &Facts) -> Option<Table> {
    let stopped = |paid: &Paid| paid.kinds().iter().any(|(_, cost)| cost.stops > 0);
    if !facts.reloads.iter().any(stopped) {
        return None;
    }
    let head = [
        "vCPU", "for each", "times", "lines", "at most", "cycles", "at most", "µs", "at most",
    ];
    let mut table = Table::new("Cache lines that vCPUs reloaded", head).text_columns([0, 1]);
    for paid in &facts.reloads {
        for (kind, cost) in paid.kinds() {
            let cycles = mean(cost.cycles, cost.stops);
            let us = |cycles| figure(microseconds(cycles, facts.clock_hz));
            let figures = [
                figure(cost.stops as f64),
                figure(mean(cost.lines, cost.stops)),
                figure(cost.lines_max as f64),
                figure(cycles),
                figure(cost.cycles_max as f64),
                us(cycles),
                us(cost.cycles_max as f64),
            ];
            table.row(
                [paid.vcpu.clone(), kind.to_owned()]
                    .into_iter()
                    .chain(figures),
            );
        }
    }
    Some(table)
}

/// What the reader should know of it.
pub fn remarks(facts: &Facts) -> Vec<String> {
    let mut lines: Vec<String> = facts.storms.iter().map(Found::sentence).collect();
    let hits: u64 = facts.hits.counts.iter().sum();
    let missing = hits - facts.hits.kept.len() as u64;
    if missing > 0 {
        lines.push(format!(
            "probes: {missing} hits are counted, but not in probes.csv"
        ));
    }
    if facts.lost > 0 {
        lines.push(format!(
            "{} events were more than could be kept, and lost",
            facts.lost
        ));
    }
    lines.extend(
        facts
            .trace_error
            .as_ref()
            .map(|error| format!("the trace is not whole: {error}")),
    );
    lines
}

/// The line that says whether two runs were the same.
pub fn hash(facts: &Facts) -> String {
    format!("Trace hash {:016x}", facts.trace_hash)
}

/// The same for programs. Nothing in it depends on the host.
pub fn json(facts: &Facts, journal: &Journal) -> Value {
    let names = names(journal);
    let cycles: Vec<Value> = workers(facts)
        .iter()
        .map(|(worker, work)| {
            let cycles: Vec<u64> = work.iter().map(|work| work.cycles).collect();
            let instructions: Vec<u64> = work.iter().map(|work| work.instructions).collect();
            json!({ "who": worker.name(&names), "cycles": cycles, "instructions": instructions })
        })
        .collect();
    let events: Map<String, Value> = Counts::NAMES
        .iter()
        .enumerate()
        .map(|(index, name)| {
            let counts: Vec<u64> = facts
                .harts
                .iter()
                .map(|hart| hart.counts.values()[index])
                .collect();
            ((*name).to_owned(), json!(counts))
        })
        .collect();
    let hits = &facts.hits;
    let probes: Vec<Value> = hits
        .probes
        .iter()
        .zip(&hits.counts)
        .zip(&hits.intervals)
        .map(|((probe, count), interval)| {
            json!({
                "probe": probe.place.name,
                "address": format!("{:#x}", probe.place.address),
                "hits": count,
                "cycles_since_the_one_before": interval.as_ref().and_then(|series| series.summary(1.0)),
            })
        })
        .collect();
    let reloads: Vec<Value> = facts
        .reloads
        .iter()
        .map(|paid| paid.json(facts.clock_hz))
        .collect();
    let storms: Vec<Value> = facts
        .storms
        .iter()
        .map(|found| {
            json!({
                "vm": found.vm,
                "device": found.device,
                "source": found.storm.source,
                "since_seconds": found.storm.since.as_seconds(),
                "until_seconds": found.storm.until.as_seconds(),
                "interrupts": found.storm.services,
            })
        })
        .collect();
    json!({
        "profile": facts.profile,
        "clock_hz": facts.clock_hz,
        "seed": facts.seed,
        "memory_model": facts.memory_model,
        "timed_from": facts.timed_from,
        "timed_since_seconds": facts.timed_since.map(|time| time.as_seconds()),
        "cycles": cycles,
        "events_while_timed": events,
        "probes": probes,
        "reloads": reloads,
        "storms": storms,
        "trace_hash": format!("{:016x}", facts.trace_hash),
    })
}
