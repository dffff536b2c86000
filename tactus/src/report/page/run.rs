//! What the page of a run shows.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::container::{Container, Sequences};
use super::{About, bound, cut};
use crate::report::samples::Series;
use crate::report::table::Table;
use crate::report::unit::Unit;
use crate::report::{self, Quantity, board, quantities};
use crate::run::board::timeline::{Requested, Timeline};
use crate::run::board::{Facts, Worker};
use crate::run::console::Source;
use crate::run::journal::{Journal, Transcript};
use crate::run::record::{self, GuestRecord, LogRecord};
use crate::run::session::Outcome;
use crate::run::show::irregular;

/// The samples of a VM's quantity in a phase, in the order in which they were taken.
type Orders = BTreeMap<(usize, String, String), Vec<u64>>;

/// What the page of a run is made of. Nothing in it depends on the host.
pub(in crate::report) fn content(outcome: &Outcome, about: &About) -> Container {
    let journal = &outcome.journal;
    let facts = outcome.board.as_ref();
    let mut sequences = Sequences::default();
    let orders = orders(journal);
    let quantities: Vec<Value> = quantities(journal)
        .iter()
        .map(|quantity| ordered_quantity_json(quantity, journal, about, &orders, &mut sequences))
        .collect();
    let timeline = facts.and_then(|facts| Some((facts, facts.timeline.as_ref()?)));
    let lines = match timeline {
        Some((_, timeline)) => timed_lines(timeline, &mut sequences),
        None => lines(journal, &mut sequences),
    };
    let vms: Vec<Value> = journal
        .vms
        .iter()
        .enumerate()
        .map(|(index, vm)| {
            let described = about.vms.get(index);
            json!({
                "name": vm.name,
                "end": report::end_of(vm),
                "bad": vm.failed(),
                "started": vm.started.map(|ticks| journal.seconds(ticks)),
                "off": vm.off.map(|off| journal.seconds(off.time)),
                "faults": vm.faults,
                "restarts": vm.restarts,
                "passed": vm.passed,
                "failed": vm.failed,
                "class": described.map(|vm| vm.class.as_str()),
                "memory": described.map(|vm| vm.memory.as_str()),
                "vcpus": described.map(|vm| &vm.vcpus),
            })
        })
        .collect();
    let distrust = outcome.distrust();
    let distrust = distrust.map(|distrust| format!("Not to be trusted: {distrust}"));
    let mut remarks: Vec<String> = distrust.into_iter().collect();
    remarks.extend(report::remarks(journal));
    remarks.extend(facts.map(board::remarks).unwrap_or_default());
    let verdict = outcome.verdict();
    let json = json!({
        "kind": "run",
        "title": about.system,
        "verdict": { "good": verdict as u8 == 0 && outcome.forger.is_none(), "text": report::verdict_words(verdict), "reason": outcome.reason() },
        "seconds": journal.seconds(journal.last_time),
        "ended": journal.ended.is_some(),
        "commit": about.commit,
        "command": about.command,
        "tactus": env!("CARGO_PKG_VERSION"),
        "hypervisor": journal.version,
        "platform": about.platform.as_deref().unwrap_or("QEMU virt, an instruction a nanosecond"),
        "hash": facts.map(|facts| facts.trace_hash).or(about.trace_hash).map(|hash| format!("{hash:016x}")),
        "board": facts.map(board_json),
        "vms": vms,
        "quantities": quantities,
        "cpu": cpu(outcome),
        "tables": tables(outcome),
        "timeline": timeline.map(|(facts, timeline)| timeline_json(timeline, facts, journal, &mut sequences)),
        "life": life(journal),
        "lines": lines,
        "remarks": remarks,
        "configuration": about.configuration,
    });
    Container::new(&json, &sequences)
}

fn board_json(facts: &Facts) -> Value {
    json!({
        "profile": facts.profile,
        "clock_hz": facts.clock_hz,
        "fabric_hz": facts.fabric_hz,
        "seed": facts.seed,
        "seconds": facts.time.as_seconds(),
        "pace": board::pace(facts),
        "timed_since": facts.timed_since.map(|since| since.as_seconds()),
    })
}

/// The tables that the page shows as they are.
fn tables(outcome: &Outcome) -> Vec<Value> {
    let journal = &outcome.journal;
    let mut tables: Vec<Table> = Vec::new();
    tables.extend(report::fault_table(journal));
    tables.extend(report::jobs_table(journal));
    tables.extend(report::metric_table(journal));
    tables.extend(report::timed_output_table(outcome));
    tables.extend(report::migration_table(journal));
    if let Some(facts) = &outcome.board {
        tables.extend(board::probe_tables(facts));
        tables.extend(board::reload_table(facts));
        tables.extend(board::event_table(facts));
    }
    tables.iter().map(super::table_json).collect()
}

/// Samples in their order, as far as records are kept and the page takes them.
fn orders(journal: &Journal) -> Orders {
    let mut orders = Orders::new();
    let mut room = bound::SAMPLES;
    for line in &journal.records {
        let Source::Vm(vm) = line.source else {
            continue;
        };
        if !line.text.starts_with("samples ") {
            continue;
        }
        if let Ok(GuestRecord::Samples {
            name,
            phase,
            values,
            ..
        }) = record::parse_guest(&line.text)
        {
            let taken = values.len().min(room);
            room -= taken;
            let order = orders.entry((vm, name, phase)).or_default();
            order.extend_from_slice(&values[..taken]);
        }
    }
    orders
}

/// A quantity with its samples in their order, and with the deadlines of the system's file.
fn ordered_quantity_json(
    quantity: &Quantity<'_>,
    journal: &Journal,
    about: &About,
    orders: &Orders,
    sequences: &mut Sequences,
) -> Value {
    let index = journal.vms.iter().position(|vm| vm.name == quantity.vm);
    let order = |phase: &str| {
        let key = (index?, quantity.name.to_owned(), phase.to_owned());
        orders.get(&key).map(Vec::as_slice)
    };
    let deadline = index.and_then(|vm| deadline(quantity, vm, journal, about));
    with_phases(quantity, deadline, order, sequences)
}

/// A quantity without the order of its samples, and with a deadline where the guest stated one.
pub(super) fn quantity_json(
    quantity: &Quantity<'_>,
    journal: &Journal,
    sequences: &mut Sequences,
) -> Value {
    let index = journal.vms.iter().position(|vm| vm.name == quantity.vm);
    let deadline = index.and_then(|vm| deadline(quantity, vm, journal, &About::default()));
    with_phases(quantity, deadline, |_| None, sequences)
}

fn with_phases<'o>(
    quantity: &Quantity<'_>,
    deadline: Option<Value>,
    order: impl Fn(&str) -> Option<&'o [u64]>,
    sequences: &mut Sequences,
) -> Value {
    let phases: Vec<Value> = quantity
        .phases
        .iter()
        .map(|(phase, series)| series_json(phase, series, quantity.factor, order(phase), sequences))
        .collect();
    json!({
        "vm": quantity.vm,
        "name": quantity.name,
        "unit": quantity.unit,
        "cycles": quantity.cycles.map(|cycles| cycles / quantity.factor),
        "deadline": deadline,
        "phases": phases,
    })
}

/// A series for the page: its summary, its distribution, and its samples in their order where they are known.
pub(super) fn series_json(
    name: &str,
    series: &Series,
    factor: f64,
    order: Option<&[u64]>,
    sequences: &mut Sequences,
) -> Value {
    let values = sequences.rising(series.occurrences().map(|(value, _)| value));
    let counts = sequences.numbers(series.occurrences().map(|(_, count)| count));
    json!({
        "name": name,
        "summary": series.summary(factor),
        "factor": factor,
        "values": values,
        "counts": counts,
        "order": order.map(|order| sequences.numbers(order.iter().copied())),
    })
}

/// What samples of a VM's quantity should not exceed: what the guest says, or the only deadline among the VM's vCPUs.
fn deadline(quantity: &Quantity<'_>, vm: usize, journal: &Journal, about: &About) -> Option<Value> {
    let clocks = journal.clocks();
    let (_, first) = quantity.phases.first()?;
    // The factor turns samples into what is shown, and so one sample's unit is 1 / factor of it.
    let shown = |value: f64, unit: Unit| {
        unit.factor_to(first.unit(), clocks)
            .map(|factor| value * factor * quantity.factor)
    };
    if let Some(stated) = journal.vms[vm].deadlines.get(quantity.name) {
        let value = shown(stated.value, stated.unit)?;
        return Some(json!({ "value": value, "of": "stated by the guest" }));
    }
    let ticks = about.vms.get(vm)?.deadline_ticks?;
    let value = shown(ticks as f64, Unit::Ticks)?;
    Some(json!({ "value": value, "of": "of the vCPU, in the system's file" }))
}

/// Who had how much of each hart: the board's own account where there is one, and otherwise the hypervisor's.
fn cpu(outcome: &Outcome) -> Value {
    let journal = &outcome.journal;
    let row = |name: String, kind: &str, share: Vec<f64>| json!({ "who": name, "kind": kind, "shares": share });
    if let Some(facts) = &outcome.board {
        let names = board::names(journal);
        let rows: Vec<Value> = board::workers(facts)
            .iter()
            .map(|(worker, work)| {
                let share = |(hart, work): (usize, &crate::run::board::Work)| {
                    work.cycles as f64 / facts.harts[hart].cycles.max(1) as f64
                };
                let shares = work.iter().enumerate().map(share).collect();
                row(worker.name(&names), kind(worker), shares)
            })
            .collect();
        return json!({ "of": "all cycles since reset, as the board counts them", "rows": rows });
    }
    let account = report::cpu_use(journal);
    let vms = journal.vms.len();
    let rows: Vec<Value> = account
        .rows
        .iter()
        .enumerate()
        .map(|(index, (name, ticks))| {
            let kind = match name.as_str() {
                _ if index < vms => "vm",
                "(hypervisor)" => "hypervisor",
                "(idle)" => "idle",
                _ => "open",
            };
            let share = |ticks: &u64| *ticks as f64 / account.elapsed.max(1) as f64;
            row(name.clone(), kind, ticks.iter().map(share).collect())
        })
        .collect();
    if account.harts.is_empty() {
        return Value::Null;
    }
    json!({ "of": "the time from the hypervisor's start to its account", "rows": rows })
}

/// What colour and order a worker has.
fn kind(worker: &Worker) -> &'static str {
    match worker {
        Worker::Vm(_) | Worker::UnknownVm(_) => "vm",
        Worker::Hypervisor => "hypervisor",
        Worker::User => "user",
        Worker::Firmware => "firmware",
        Worker::Idle => "idle",
    }
}

fn timeline_json(
    timeline: &Timeline,
    facts: &Facts,
    journal: &Journal,
    sequences: &mut Sequences,
) -> Value {
    let names = board::names(journal);
    let workers: Vec<Value> = timeline
        .workers
        .iter()
        .map(|worker| {
            let vm = match worker {
                Worker::Vm(vm) => Some(vm),
                _ => None,
            };
            json!({ "name": worker.name(&names), "kind": kind(worker), "vm": vm })
        })
        .collect();
    let harts: Vec<Value> = timeline
        .harts
        .iter()
        .map(|hart| {
            let (turns, traps) = (hart.turns.kept(), hart.traps.kept());
            let dropped = hart.turns.dropped();
            let overview = (dropped > 0).then(|| {
                let workers = timeline.workers.len();
                let share = |bin: &Vec<u64>| -> Vec<u64> {
                    (0..workers)
                        .map(|w| bin.get(w).copied().unwrap_or(0))
                        .collect()
                };
                let shares: Vec<u64> = hart.overview.bins.iter().flat_map(share).collect();
                json!({ "width": hart.overview.width, "shares": sequences.numbers(shares) })
            });
            // Of an interrupt the mode and the number, of an exception the number.
            let code = |trap: &crate::run::board::timeline::Trap| {
                u64::from(trap.cause) | trap.interrupt.map_or(0, |mode| (mode as u64 + 1) << 8)
            };
            json!({
                "turns": sequences.rising(turns.iter().map(|turn| turn.cycle)),
                "turn_workers": sequences.numbers(turns.iter().map(|turn| turn.worker.into())),
                "turns_dropped": dropped,
                "overview": overview,
                "traps": sequences.rising(traps.iter().map(|trap| trap.cycle)),
                "trap_codes": sequences.numbers(traps.iter().map(code)),
                "traps_dropped": hart.traps.dropped(),
                "inner_exceptions": hart.inner_exceptions,
            })
        })
        .collect();
    let mut accesses = timeline.accesses.kept().to_vec();
    accesses.sort_by_key(|access| access.cycle);
    let devices: Vec<Value> = timeline
        .devices
        .iter()
        .enumerate()
        .map(|(index, name)| {
            let of = || {
                accesses
                    .iter()
                    .filter(move |access| usize::from(access.device) == index)
            };
            json!({
                "name": name,
                "times": sequences.rising(of().map(|access| access.cycle)),
                "what": sequences.numbers(of().map(|access| {
                    u64::from(access.offset) << 9 | u64::from(access.hart) << 1 | u64::from(access.write)
                })),
            })
        })
        .collect();
    let mut requests = timeline.requests.kept().to_vec();
    requests.sort_by_key(|request| request.from);
    let port = requests
        .iter()
        .any(|request| matches!(request.of, Requested::Region(_)));
    let mut accelerators: Vec<Value> = timeline
        .interfaces
        .iter()
        .map(|(interface, name)| {
            let of = requests
                .iter()
                .filter(|request| request.of == Requested::Interface(*interface));
            let spans: Vec<_> = of.map(|request| (request.from, request.to, 0)).collect();
            spans_json(name, &spans, sequences)
        })
        .collect();
    if port {
        let spans: Vec<_> = requests
            .iter()
            .filter_map(|request| match request.of {
                Requested::Region(region) => Some((request.from, request.to, region.into())),
                Requested::Interface(_) => None,
            })
            .collect();
        accelerators.push(spans_json("configuration port", &spans, sequences));
    }
    let pins = facts.ends.pins.len().min(bound::PINS);
    let pins = &facts.ends.pins[facts.ends.pins.len() - pins..];
    json!({
        "hz": facts.clock_hz,
        "end": timeline.end,
        "workers": workers,
        "harts": harts,
        "devices": devices,
        "accesses_dropped": timeline.accesses.dropped(),
        "accelerators": accelerators,
        "requests_dropped": timeline.requests.dropped(),
        "pins": (!pins.is_empty()).then(|| json!({
            "hz": facts.fabric_hz,
            "times": sequences.rising(pins.iter().map(|(cycle, _)| *cycle)),
            "levels": sequences.numbers(pins.iter().map(|(_, levels)| (*levels).into())),
            "dropped": facts.ends.pins.len() - pins.len(),
        })),
    })
}

fn spans_json(name: &str, spans: &[(u64, u64, u64)], sequences: &mut Sequences) -> Value {
    json!({
        "name": name,
        "from": sequences.rising(spans.iter().map(|(from, ..)| *from)),
        "length": sequences.numbers(spans.iter().map(|(from, to, _)| to - from)),
        "what": sequences.numbers(spans.iter().map(|(.., what)| *what)),
    })
}

/// What became of each VM, with times in seconds.
fn life(journal: &Journal) -> Vec<Value> {
    let mut life = Vec::new();
    for line in &journal.records {
        if line.source != Source::Log || life.len() >= bound::LIFE {
            continue;
        }
        let (vm, what, time) = match record::parse_log(&line.text) {
            Ok(LogRecord::Start { vm, time }) => (vm, "start", time),
            Ok(LogRecord::Restart { vm, time, .. }) => (vm, "restart", time),
            Ok(LogRecord::Fault(fault)) => (fault.vm, "fault", fault.time),
            Ok(LogRecord::Off { vm, time, .. }) => (vm, "off", time),
            Ok(LogRecord::Jobs {
                vm, time, record, ..
            }) if irregular(&record).is_some() => (vm, "jobs", time),
            _ => continue,
        };
        let known = journal.vms.iter().position(|known| known.name == vm);
        life.extend(known.map(|vm| json!([vm, what, journal.seconds(time)])));
    }
    life
}

/// A console's number on the page: the hypervisor's log, the VMs, the firmware.
fn number(source: Source) -> Option<u64> {
    match source {
        Source::Log => Some(0),
        Source::Firmware => Some(1),
        Source::Vm(vm) => Some(2 + vm as u64),
        Source::Unknown(_) => None,
    }
}

/// A line that the page shows: its console, its cycle, its text, and how much of that is left out.
type Shown<'t> = (u64, u64, &'t str, u64);

/// Lines with their times.
fn timed_lines(timeline: &Timeline, sequences: &mut Sequences) -> Value {
    let lines = timeline.lines.kept().filter_map(|line| {
        let console = number(line.source)?;
        let (text, cut) = shown(&line.text, console);
        Some((console, line.cycle, text, cut + line.cut as u64))
    });
    lines_json(lines.collect(), timeline.lines.dropped(), true, sequences)
}

/// Lines of consoles whose times are not known.
fn lines(journal: &Journal, sequences: &mut Sequences) -> Value {
    let texts: Vec<(u64, std::borrow::Cow<'_, str>)> = [(0, &journal.log), (1, &journal.firmware)]
        .into_iter()
        .chain((2..).zip(journal.vms.iter().map(|vm| &vm.console)))
        .map(|(console, transcript): (u64, &Transcript)| (console, transcript.text()))
        .collect();
    let lines = texts.iter().flat_map(|(console, text)| {
        text.lines().map(|line| {
            let (line, cut) = shown(line, *console);
            (*console, 0, line, cut)
        })
    });
    lines_json(lines.collect(), 0, false, sequences)
}

/// What is shown of a line, and how many characters of it are not.
fn shown(line: &str, console: u64) -> (&str, u64) {
    let line = line.strip_suffix('\r').unwrap_or(line);
    let is_record = console == 0 || record::guest_record_text(line).is_some();
    let most = if is_record {
        bound::RECORD
    } else {
        bound::LINE
    };
    let begin = cut(line, most);
    let left_out = line[begin.len()..].chars().count();
    (begin, left_out as u64)
}

fn lines_json(
    mut lines: Vec<Shown<'_>>,
    mut dropped: u64,
    timed: bool,
    sequences: &mut Sequences,
) -> Value {
    let mut room = bound::TEXT;
    let fits = |(.., text, _): &&Shown<'_>| {
        let left = room.checked_sub(text.len() + 1);
        room = left.unwrap_or(0);
        left.is_some()
    };
    let kept = lines.iter().rev().take_while(fits).count();
    dropped += (lines.len() - kept) as u64;
    let lines = lines.split_off(lines.len() - kept);
    json!({
        "timed": timed,
        "dropped": dropped,
        "consoles": sequences.numbers(lines.iter().map(|line| line.0)),
        "times": sequences.rising(lines.iter().map(|line| line.1)),
        "texts": sequences.texts(lines.iter().map(|line| line.2)),
        "cut": sequences.numbers(lines.iter().map(|line| line.3)),
    })
}
