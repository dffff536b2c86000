//! What a run produced, for people and for programs.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use tactus_abi::hypercall::{CALL_TOO_LONG_CAUSE, JobRecord};

use crate::illegal::Illegal;
use crate::run::console::Source;
use crate::run::journal::{Journal, NamedSeries, RecordLine, Transcript, VmJournal};
use crate::run::record::{Consumer, Fault, FaultAction, fields};
use crate::run::session::{Outcome, Verdict};

use bins::Bins;
use page::{About, Container};
use picture::Picture;
use samples::Series;
use table::Table;
use unit::{Clocks, Unit, figure};

pub mod bins;
mod bitmap;
pub mod board;
pub mod command;
pub mod lines;
pub mod page;
pub mod picture;
pub mod provenance;
pub mod samples;
pub mod table;
pub mod unit;
pub mod waveform;

/// Bins of a histogram in the terminal.
const TEXT_BINS: u64 = 16;

/// The units that times are shown in.
const TIMES: [&str; 4] = ["ns", "µs", "ms", "s"];

/// Why a report could not be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or directory could not be written.
    #[error("{path}: the report could not be written: {error}")]
    File {
        /// Which.
        path: String,
        /// Why.
        error: std::io::Error,
    },
    /// A picture could not be drawn.
    #[error(transparent)]
    Picture(#[from] picture::Error),
    /// A file of a report could not be read.
    #[error("{path}: the report cannot be read: {error}")]
    Read {
        /// Which.
        path: String,
        /// Why.
        error: std::io::Error,
    },
    /// A file is not what a report has there.
    #[error("{path}: {reason}")]
    Damaged {
        /// Which.
        path: String,
        /// Why.
        reason: String,
    },
}

/// The files of a report that people are told of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The page.
    pub page: PathBuf,
    /// The pictures.
    pub pictures: Vec<PathBuf>,
}

/// Checks before a run that its report can be written: makes its directory, or opens its page where `directory` is the
/// path of one.
///
/// # Errors
/// The directory or the page cannot be made or written to.
pub fn prepare(directory: &Path) -> Result<(), Error> {
    let refuse = |error| file_error(directory, error);
    if is_page(directory) {
        make_parent(directory).map_err(refuse)?;
        let mut file = fs::OpenOptions::new();
        return match file.create(true).append(true).open(directory) {
            Ok(_) => Ok(()),
            Err(error) => Err(refuse(error)),
        };
    }
    fs::create_dir_all(directory).map_err(refuse)?;
    tempfile::tempfile_in(directory).map_err(refuse)?;
    // What an earlier run has left there as another kind of file.
    for name in [page::PAGE, page::DATA] {
        let path = directory.join(name);
        if path.is_dir() {
            return Err(file_error(&path, std::io::ErrorKind::IsADirectory.into()));
        }
    }
    Ok(())
}

/// A verdict in words.
pub(crate) fn verdict_words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Good => "good",
        Verdict::GuestFailed => "a guest failed",
        Verdict::HypervisorFailed => "the hypervisor failed",
        Verdict::Timeout => "timeout",
        Verdict::ScriptTimeout => "script timeout",
        Verdict::ScriptUnfinished => "script unfinished",
        Verdict::Interrupted => "interrupted",
    }
}

/// The phases of one quantity that a VM sampled.
#[derive(Clone, Debug)]
pub struct Quantity<'a> {
    /// The VM.
    pub vm: &'a str,
    /// What was sampled.
    pub name: &'a str,
    /// The phases, in the order in which they began. All in one unit.
    pub phases: Vec<(&'a str, &'a Series)>,
    /// Unit of what is shown.
    pub unit: &'static str,
    /// What turns samples into that unit.
    pub factor: f64,
    /// What turns samples into cycles, where these are a measure of time.
    pub cycles: Option<f64>,
}

impl Quantity<'_> {
    /// The table of its phases.
    pub fn table(&self) -> Table {
        let Some(cycles) = self.cycles else {
            return self.table_in_one_unit();
        };
        let mut table = Table::new(
            format!("{} of {}", self.name, self.vm),
            [
                "phase", "samples", "unit", "min", "mean", "p50", "p99", "max",
            ],
        )
        .text_columns([0, 2]);
        for (phase, series) in &self.phases {
            if let (Some(time), Some(s)) = (series.summary(self.factor), series.summary(cycles)) {
                let times = [time.min, time.mean, time.p50, time.p99, time.max].map(figure);
                let first = [
                    (*phase).to_owned(),
                    figure(time.samples as f64),
                    self.unit.to_owned(),
                ];
                table.row(first.into_iter().chain(times));
                // There are no parts of cycles but in means.
                let counts = [
                    s.min.round(),
                    s.mean,
                    s.p50.round(),
                    s.p99.round(),
                    s.max.round(),
                ]
                .map(figure);
                let first = [String::new(), String::new(), "cycles".to_owned()];
                table.row(first.into_iter().chain(counts));
            }
        }
        table
    }

    fn table_in_one_unit(&self) -> Table {
        let mut table = Table::new(
            format!("{} of {} ({})", self.name, self.vm, self.unit),
            ["phase", "samples", "min", "mean", "p50", "p99", "max"],
        );
        for (phase, series) in &self.phases {
            if let Some(s) = series.summary(self.factor) {
                let figures = [s.samples as f64, s.min, s.mean, s.p50, s.p99, s.max];
                table.row(std::iter::once((*phase).to_owned()).chain(figures.map(figure)));
            }
        }
        table
    }

    /// Its histogram for the terminal; nothing without samples.
    pub fn histogram(&self) -> String {
        let series: Vec<&Series> = self.phases.iter().map(|(_, series)| *series).collect();
        let names: Vec<&str> = self.phases.iter().map(|(name, _)| *name).collect();
        Bins::of(&series, TEXT_BINS)
            .map(|bins| bins.text(&names, self.factor))
            .unwrap_or_default()
    }

    /// Its picture, in a report of a run with this journal.
    pub fn picture(&self, subtitle: String, journal: &Journal) -> Picture<'_> {
        let deadline = journal.vm(self.vm).and_then(|vm| {
            let stated = vm.deadlines.get(self.name)?;
            let (_, first) = self.phases.first()?;
            let factor = stated.unit.factor_to(first.unit(), journal.clocks())?;
            Some(("deadline", stated.value * factor * self.factor))
        });
        Picture {
            title: format!("{} of {}", self.name, self.vm),
            subtitle,
            axis: format!("{} ({})", self.name, self.unit),
            unit: self.unit,
            phases: self.phases.clone(),
            factor: self.factor,
            marks: deadline.into_iter().collect(),
        }
    }

    /// Begin of its pictures' file names.
    fn file_stem(&self) -> String {
        format!("{}-{}", file_name(self.vm), part_name(self.name))
    }
}

/// What pictures of a run say of where they come from: commit, board, pace, seed.
pub fn subtitle(outcome: &Outcome, about: &About) -> String {
    let commit = about
        .commit
        .as_ref()
        .map(|commit| format!("commit {}", commit.short()));
    let platform = outcome.board.as_ref().map_or_else(
        || {
            let platform = about.platform.as_deref();
            platform
                .unwrap_or("QEMU virt, an instruction a nanosecond")
                .to_owned()
        },
        |facts| {
            let megahertz = figure(facts.clock_hz as f64 / 1e6);
            let pace = board::pace(facts);
            format!(
                "board {} at {megahertz} MHz, {pace}, {}",
                facts.profile,
                board::seed(facts)
            )
        },
    );
    let parts = commit.into_iter().chain([platform]);
    parts.collect::<Vec<_>>().join(" · ")
}

/// The quantities sampled in a run, phases of the same name and unit together.
pub fn quantities(journal: &Journal) -> Vec<Quantity<'_>> {
    let mut quantities: Vec<(Unit, Quantity<'_>)> = Vec::new();
    for vm in &journal.vms {
        for NamedSeries {
            name,
            phase,
            series,
        } in &vm.series
        {
            let known = quantities.iter_mut().find(|(unit, quantity)| {
                *unit == series.unit() && quantity.vm == vm.name && quantity.name == *name
            });
            match known {
                Some((_, quantity)) => quantity.phases.push((phase, series)),
                None => quantities.push((
                    series.unit(),
                    Quantity {
                        vm: &vm.name,
                        name,
                        phases: vec![(phase, series)],
                        unit: "",
                        factor: 1.0,
                        cycles: None,
                    },
                )),
            }
        }
    }
    quantities
        .into_iter()
        .map(|(unit, quantity)| {
            let greatest = quantity
                .phases
                .iter()
                .filter_map(|(_, series)| series.extremes())
                .map(|(_, max)| max)
                .max()
                .unwrap_or(0);
            let clocks = journal.clocks();
            let cycles = unit
                .nanoseconds(clocks)
                .and(unit.factor_to(Unit::Cycles, clocks));
            let (unit, factor) = shown(unit, greatest, clocks);
            Quantity {
                unit,
                factor,
                cycles,
                ..quantity
            }
        })
        .collect()
}

/// The unit to show samples of `unit` in whose greatest is `greatest`, and what turns them into it.
/// Times are in microseconds, as latencies are, unless they are far from them.
fn shown(unit: Unit, greatest: u64, clocks: Clocks) -> (&'static str, f64) {
    let Some(nanoseconds) = unit.nanoseconds(clocks) else {
        return (unit.symbol(), 1.0);
    };
    let (name, one) = match greatest as f64 * nanoseconds {
        ..1e3 => ("ns", 1.0),
        ..1e8 => ("µs", 1e3),
        ..1e11 => ("ms", 1e6),
        _ => ("s", 1e9),
    };
    (name, nanoseconds / one)
}

/// How long the run was in virtual time, in words. Where neither the machine nor the hypervisor says when it ended,
/// only the time of the last record is known.
fn virtual_time(outcome: &Outcome) -> String {
    let journal = &outcome.journal;
    match (outcome.end_time, journal.ended) {
        (Some(end), _) => format!("{:.6} s", end.0 as f64 / 1e9),
        (None, Some(_)) => format!("{:.6} s", journal.seconds(journal.last_time)),
        (None, None) => format!("at least {:.6} s", journal.seconds(journal.last_time)),
    }
}

/// How a VM ended, in words.
pub fn end_of(vm: &VmJournal) -> String {
    vm.state().to_string()
}

/// The table of the VMs and how they ended.
pub fn vm_table(journal: &Journal) -> Table {
    let mut table = Table::new(
        "Virtual machines",
        [
            "VM",
            "end",
            "at (s)",
            "faults",
            "restarts",
            "checks passed",
            "failed",
        ],
    )
    .text_columns([0, 1]);
    for vm in &journal.vms {
        table.row([
            vm.name.clone(),
            end_of(vm),
            vm.off.map_or_else(
                || "-".to_owned(),
                |off| format!("{:.6}", journal.seconds(off.time)),
            ),
            vm.faults.to_string(),
            vm.restarts.to_string(),
            vm.passed.len().to_string(),
            vm.failed.len().to_string(),
        ]);
    }
    table
}

/// Who had how much of each hart.
#[derive(Clone, Debug, PartialEq, Eq)]
struct CpuUse {
    /// Indices of the harts.
    harts: Vec<u64>,
    /// Time from the hypervisor's start to its account, in ticks of the `time` CSR.
    elapsed: u64,
    /// Consumers and their ticks on each hart: VMs in the system's order, then the hypervisor, idling, and what the
    /// account leaves open.
    rows: Vec<(String, Vec<u64>)>,
}

/// Part of the elapsed time, in thousandths, that the account may leave open without a word: the hypervisor's own
/// paths.
const OPEN_MAX: u64 = 5;

fn cpu_use(journal: &Journal) -> CpuUse {
    let mut harts: Vec<u64> = journal.usage.keys().map(|(hart, _)| *hart).collect();
    harts.dedup();
    let of = |consumer: &Consumer| -> Vec<u64> {
        let ticks = |hart: &u64| journal.usage.get(&(*hart, consumer.clone())).copied();
        harts.iter().map(|hart| ticks(hart).unwrap_or(0)).collect()
    };
    let mut rows: Vec<(String, Vec<u64>)> = journal
        .names()
        .map(|name| (name.to_owned(), of(&Consumer::Vm(name.to_owned()))))
        .collect();
    for (name, consumer) in [
        ("(hypervisor)", Consumer::Hypervisor),
        ("(firmware)", Consumer::Firmware),
    ] {
        let had = of(&consumer);
        if had.iter().any(|ticks| *ticks > 0) {
            rows.push((name.to_owned(), had));
        }
    }
    rows.push(("(idle)".to_owned(), of(&Consumer::Idle)));
    let sums: Vec<u64> = (0..harts.len())
        .map(|hart| {
            rows.iter()
                .fold(0, |sum: u64, row| sum.saturating_add(row.1[hart]))
        })
        .collect();
    let span = journal
        .usage_time
        .saturating_sub(journal.usage_since.or(journal.booted).unwrap_or(0));
    // Harts start before the hypervisor says so, and an account without its time is taken for complete.
    let elapsed = sums.iter().copied().fold(span, u64::max);
    let open: Vec<u64> = sums.iter().map(|sum| elapsed - sum).collect();
    if open.iter().any(|open| *open > elapsed / 1000 * OPEN_MAX) {
        rows.push(("(not accounted for)".to_owned(), open));
    }
    CpuUse {
        harts,
        elapsed,
        rows,
    }
}

/// The table of CPU shares; `None` when the hypervisor reported none.
pub fn cpu_table(journal: &Journal) -> Option<Table> {
    let CpuUse {
        harts,
        elapsed,
        rows,
    } = cpu_use(journal);
    if harts.is_empty() {
        return None;
    }
    let mut table = Table::new("Share of CPU", ["VM"]);
    table
        .head
        .extend(harts.iter().map(|hart| format!("hart {hart}")));
    table.head.push("all".to_owned());
    for (label, ticks) in &rows {
        let used = ticks
            .iter()
            .fold(0, |sum: u64, ticks| sum.saturating_add(*ticks));
        let shares = ticks.iter().map(|ticks| percent(*ticks, elapsed));
        let all = percent(used, elapsed.saturating_mul(harts.len() as u64));
        table.row(
            std::iter::once(label.clone())
                .chain(shares)
                .chain(std::iter::once(all)),
        );
    }
    Some(table)
}

fn percent(part: u64, whole: u64) -> String {
    if part == 0 {
        return "-".to_owned();
    }
    format!("{:.2} %", 100.0 * part as f64 / whole.max(1) as f64)
}

/// The table of faults; `None` without any.
pub fn fault_table(journal: &Journal) -> Option<Table> {
    let mut table = Table::new(
        "Faults",
        ["VM", "cause", "action", "vCPU", "at (s)", "pc", "address"],
    )
    .text_columns([0, 1, 2]);
    for fault in &journal.faults {
        table.row([
            fault.vm.clone(),
            why(fault),
            match fault.action {
                FaultAction::Halt => "halt",
                FaultAction::Restart => "restart",
                FaultAction::Signal => "signal",
            }
            .to_owned(),
            fault.vcpu.to_string(),
            format!("{:.6}", journal.seconds(fault.time)),
            format!("{:#x}", fault.pc),
            format!("{:#x}", fault.address),
        ]);
    }
    (!table.rows.is_empty()).then_some(table)
}

/// The table of vCPUs that have left harts for user level only; `None` without any.
pub fn migration_table(journal: &Journal) -> Option<Table> {
    let mut table = Table::new(
        "Migration",
        ["VM", "vCPU", "kernel entries on harts for user level only"],
    )
    .text_columns([0]);
    for vm in &journal.vms {
        for (vcpu, entries) in &vm.kernel_entries {
            table.row([vm.name.clone(), vcpu.to_string(), entries.to_string()]);
        }
    }
    (!table.rows.is_empty()).then_some(table)
}

/// The table of how the jobs of real-time vCPUs have gone, as far as the hypervisor has told; `None` without any.
pub fn jobs_table(journal: &Journal) -> Option<Table> {
    let mut table = Table::new(
        "Jobs of real-time vCPUs",
        [
            "VM",
            "vCPU",
            "jobs",
            "extended",
            "dropped",
            "cut off",
            "late",
            "releases skipped",
            "released late, at most us",
            "executed, at most us",
            "held up, at most us",
        ],
    )
    .text_columns([0]);
    let micros = |ticks: u64| format!("{:.1}", journal.seconds(ticks) * 1e6);
    for vm in &journal.vms {
        for (vcpu, record) in &vm.jobs {
            table.row([
                vm.name.clone(),
                vcpu.to_string(),
                record.jobs.to_string(),
                record.extended.to_string(),
                record.dropped.to_string(),
                record.overruns.saturating_sub(record.dropped).to_string(),
                record.missed.to_string(),
                record.skipped.to_string(),
                micros(record.late_max),
                micros(record.used_max),
                micros(record.interference_max),
            ]);
        }
    }
    let all = journal.vms.iter().flat_map(|vm| vm.jobs.values());
    if all.fold(0, |sum, record| sum + record.extended + record.dropped) == 0 {
        // No hart has been in a high mode.
        for row in std::iter::once(&mut table.head).chain(&mut table.rows) {
            row.drain(3..5);
        }
    }
    (!table.rows.is_empty()).then_some(table)
}

/// How a vCPU's jobs have gone, for programs; times in seconds.
fn jobs_json(journal: &Journal, record: &JobRecord) -> Value {
    let seconds = |ticks: u64| journal.seconds(ticks);
    json!({
        "jobs": record.jobs,
        "overruns": record.overruns,
        "missed": record.missed,
        "skipped": record.skipped,
        "used_seconds": seconds(record.used),
        "used_max_seconds": seconds(record.used_max),
        "lost_seconds": seconds(record.lost),
        "interference_max_seconds": seconds(record.interference_max),
        "late_max_seconds": seconds(record.late_max),
        "late": record.late,
        "extended": record.extended,
        "dropped": record.dropped,
    })
}

/// A fault's cause in words, with what the hypervisor made of it.
pub fn why(fault: &Fault) -> String {
    let mut text = cause(fault.cause);
    if let Some(illegal) = Illegal::of(fault) {
        text += &format!(" `{}`", illegal.text);
    }
    if !fault.why.is_empty() {
        text += &format!(" ({})", fault.why);
    }
    text
}

/// An exception code in words (RISC-V privileged specification, table "Supervisor cause register values
/// after trap", with the hypervisor extension's).
pub fn cause(code: u64) -> String {
    let name = match code {
        0 => "instruction address misaligned",
        1 => "instruction access fault",
        2 => "illegal instruction",
        3 => "breakpoint",
        4 => "load address misaligned",
        5 => "load access fault",
        6 => "store address misaligned",
        7 => "store access fault",
        8 => "environment call from user level",
        9 => "environment call from HS level",
        10 => "environment call from VS level",
        12 => "instruction page fault",
        13 => "load page fault",
        15 => "store page fault",
        20 => "instruction guest-page fault",
        21 => "load guest-page fault",
        22 => "virtual instruction",
        23 => "store guest-page fault",
        CALL_TOO_LONG_CAUSE => "a call took too long",
        _ => return format!("cause {code}"),
    };
    name.to_owned()
}

/// The table of guests' figures; `None` without any.
pub fn metric_table(journal: &Journal) -> Option<Table> {
    let mut table =
        Table::new("Measurements", ["VM", "name", "value", "unit"]).text_columns([0, 1, 3]);
    for vm in &journal.vms {
        for (name, metric) in &vm.metrics {
            table.row([
                vm.name.clone(),
                name.clone(),
                figure(metric.value),
                metric.unit.symbol().to_owned(),
            ]);
        }
    }
    (!table.rows.is_empty()).then_some(table)
}

/// The table of timed output beside what was asked for; `None` without any.
pub fn timed_output_table(outcome: &Outcome) -> Option<Table> {
    let mut table = Table::new(
        "Timed output, in cycles of the fabric",
        [
            "VM",
            "pins",
            "first",
            "length",
            "period",
            "edges",
            "missing",
            "early or late at most",
        ],
    )
    .text_columns([0, 1]);
    for one in outcome.timed_output() {
        let asked = one.asked;
        let pins = (0..u32::BITS).filter(|pin| asked.pins >> pin & 1 != 0);
        let pins: Vec<String> = pins.map(|pin| pin.to_string()).collect();
        let figures = [
            asked.start,
            asked.length,
            asked.period,
            one.edges,
            one.missing,
            one.error_max,
        ];
        let figures = figures.map(|value| figure(value as f64));
        table.row([one.vm, pins.join(", ")].into_iter().chain(figures));
    }
    (!table.rows.is_empty()).then_some(table)
}

/// Checks of guests that did not hold, and remarks about the run, a line each.
pub fn remarks(journal: &Journal) -> Vec<String> {
    let mut lines = Vec::new();
    for vm in &journal.vms {
        for (name, reason) in &vm.failed {
            lines.push(format!("{}: check \"{name}\" failed: {reason}", vm.name));
        }
    }
    for (text, count) in journal.notes() {
        lines.push(match count {
            1 => text.to_owned(),
            count => format!("{text} ({count} times)"),
        });
    }
    lines
}

/// The whole summary for the terminal.
pub fn summary(outcome: &Outcome) -> String {
    let journal = &outcome.journal;
    let mut parts = vec![format!(
        "Ran {} of virtual time in {:.1} s: {}.\n",
        virtual_time(outcome),
        outcome.host_time.as_secs_f64(),
        outcome.reason()
    )];
    if let Some(distrust) = outcome.distrust() {
        parts[0] += &format!("Not to be trusted: {distrust}\n");
    }
    if let Some(facts) = &outcome.board {
        parts[0] += &format!("{}\n", board::sentence(facts));
    }
    parts.push(journal_text(journal));
    parts.extend(timed_output_table(outcome).map(|table| table.text()));
    if let Some(facts) = &outcome.board {
        parts.push(board::cycle_table(facts, journal).text());
        parts.extend(board::probe_tables(facts).iter().map(Table::text));
        parts.extend(board::reload_table(facts).map(|table| table.text()));
        parts.extend(
            board::remarks(facts)
                .iter()
                .map(|remark| format!("{remark}\n")),
        );
        parts.push(format!("{}\n", board::hash(facts)));
    }
    parts.join("\n")
}

/// Everything that a journal says, for the terminal.
pub fn journal_text(journal: &Journal) -> String {
    let mut parts = Vec::new();
    parts.push(vm_table(journal).text());
    parts.extend(fault_table(journal).map(|table| table.text()));
    parts.extend(jobs_table(journal).map(|table| table.text()));
    parts.extend(migration_table(journal).map(|table| table.text()));
    parts.extend(metric_table(journal).map(|table| table.text()));
    for quantity in quantities(journal) {
        parts.push(quantity.table().text());
        parts.push(quantity.histogram());
    }
    parts.extend(cpu_table(journal).map(|table| table.text()));
    let remarks = remarks(journal);
    if !remarks.is_empty() {
        parts.push(format!("Remarks\n  {}\n", remarks.join("\n  ")));
    }
    parts.join("\n")
}

/// Writes the report's files into `directory`, which is made if it does not exist; the page alone if it ends in
/// `.html`. `about` is what is known of the run from elsewhere.
///
/// # Errors
/// A file cannot be written.
pub fn write(outcome: &Outcome, about: &About, directory: &Path) -> Result<Written, Error> {
    if is_page(directory) {
        let page = write_page(&page::run::content(outcome, about), directory)?;
        return Ok(Written {
            page,
            pictures: Vec::new(),
        });
    }
    let system = about.system.as_str();
    let journal = &outcome.journal;
    let consoles = directory.join("consoles");
    fs::create_dir_all(&consoles).map_err(|error| file_error(&consoles, error))?;
    for (name, transcript) in [("firmware", &journal.firmware), ("tactus", &journal.log)] {
        // In parentheses, which no VM's file has.
        write_console(&consoles.join(format!("({name}).log")), transcript)?;
    }
    for vm in &journal.vms {
        let path = consoles.join(format!("{}.log", file_name(&vm.name)));
        write_console(&path, &vm.console)?;
    }
    let records: Vec<String> = journal
        .records
        .iter()
        .map(|line| format!("{}\n", record_json(journal, line)))
        .collect();
    write_file(
        &directory.join("records.jsonl"),
        records.concat().as_bytes(),
    )?;
    if let Some(facts) = &outcome.board
        && !facts.hits.probes.is_empty()
    {
        write_file(&directory.join("probes.csv"), facts.hits.csv().as_bytes())?;
    }
    let mut json = serde_json::to_vec_pretty(&report_json(outcome, system)).unwrap_or_default();
    json.push(b'\n');
    write_file(&directory.join("report.json"), &json)?;
    let mut pictures = Vec::new();
    let subtitle = subtitle(outcome, about);
    for quantity in quantities(journal) {
        let picture = quantity.picture(subtitle.clone(), journal);
        let svg = directory.join(quantity.file_stem() + ".svg");
        let png = directory.join(quantity.file_stem() + ".png");
        picture.svg(&svg)?;
        picture.png(&png)?;
        pictures.extend([svg, png]);
        for (phase, series) in &quantity.phases {
            let name = format!("{}-{}.hgrm", quantity.file_stem(), part_name(phase));
            write_file(
                &directory.join(name),
                series.percentiles(quantity.factor).as_bytes(),
            )?;
        }
    }
    let markdown = report_markdown(outcome, system);
    write_file(&directory.join("report.md"), markdown.as_bytes())?;
    let content = page::run::content(outcome, about);
    let page = write_page(&content, directory)?;
    Ok(Written { page, pictures })
}

/// The last lines of a run with a report: where it is, and what to look at first.
pub fn where_to_look(outcome: &Outcome, written: &Written) -> String {
    let journal = &outcome.journal;
    let mut text = String::from("\n");
    for picture in &written.pictures {
        text += &format!("Picture: {}\n", picture.display());
    }
    let worst = |quantity: &Quantity<'_>| -> Option<String> {
        let summaries = quantity.phases.iter().filter_map(|(phase, series)| {
            let summary = series.summary(quantity.factor)?;
            Some((*phase, summary.max))
        });
        let (phase, max) = summaries.max_by(|(_, a), (_, b)| a.total_cmp(b))?;
        let (vm, name, unit) = (quantity.vm, quantity.name, quantity.unit);
        if !TIMES.contains(&unit) {
            return None;
        }
        Some(format!(
            "\"Latency\": {name} of {vm} is {} {unit} at worst, in phase {phase}",
            figure(max)
        ))
    };
    let first = if outcome.verdict() == Verdict::Good {
        quantities(journal)
            .iter()
            .find_map(worst)
            .unwrap_or_else(|| "\"Timeline\": who has each hart when".to_owned())
    } else {
        format!("\"Summary\": {}", outcome.reason())
    };
    text += &format!(
        "Report: {} - open it in a browser; look first at {first}\n",
        written.page.display()
    );
    text
}

/// Writes the page of an experiment into `directory`, which is made if it does not exist, or at that path if it ends in
/// `.html`; gives the page's path.
///
/// # Errors
/// A file cannot be written.
pub fn write_experiment(
    experiment: &page::bench::Experiment<'_>,
    about: &About,
    directory: &Path,
) -> Result<PathBuf, Error> {
    write_page(&page::bench::content(experiment, about), directory)
}

/// Whether a report's path is that of its page alone, and not of a directory.
fn is_page(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "html")
        && !path.is_dir()
}

fn make_parent(path: &Path) -> std::io::Result<()> {
    match path.parent() {
        Some(parent) => fs::create_dir_all(parent),
        None => Ok(()),
    }
}

/// Writes a page, into a directory with the data that it is made of.
fn write_page(content: &Container, directory: &Path) -> Result<PathBuf, Error> {
    if is_page(directory) {
        make_parent(directory).map_err(|error| file_error(directory, error))?;
        page::write(&[content], directory)?;
        return Ok(directory.to_owned());
    }
    fs::create_dir_all(directory).map_err(|error| file_error(directory, error))?;
    content.write(&directory.join(page::DATA))?;
    let path = directory.join(page::PAGE);
    page::write(&[content], &path)?;
    Ok(path)
}

fn file_error(path: &Path, error: std::io::Error) -> Error {
    Error::File {
        path: path.display().to_string(),
        error,
    }
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    fs::write(path, bytes).map_err(|error| file_error(path, error))
}

fn write_console(path: &Path, transcript: &Transcript) -> Result<(), Error> {
    let mut bytes = Vec::new();
    if transcript.dropped() > 0 {
        let _ = writeln!(bytes, "[{} earlier bytes not kept]", transcript.dropped());
    }
    bytes.extend_from_slice(transcript.bytes());
    write_file(path, &bytes)
}

/// A name as (part of) a file's name: the file of any samples of a guest stays in its directory, and two names have two
/// files. Bytes other than letters, digits, `-` and `_` are `=` and two digits, as in quoted-printable text (RFC 2045,
/// section 6.7): a link to the file needs no escaping of its own.
fn file_name(name: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => char::from(byte).to_string(),
        _ => format!("={byte:02X}"),
    };
    name.bytes().map(byte).collect()
}

/// As [`file_name`], for a part behind a `-`: it has none itself, so that the parts can be told apart.
fn part_name(name: &str) -> String {
    file_name(name).replace('-', "=2D")
}

fn record_json(journal: &Journal, line: &RecordLine) -> Value {
    let from = match line.source {
        Source::Vm(vm) => journal.vms.get(vm).map(|vm| vm.name.as_str()),
        Source::Log => Some("(tactus)"),
        Source::Firmware | Source::Unknown(_) => None,
    };
    let (kind, fields) = fields(&line.text);
    let fields: Map<String, Value> = fields
        .into_iter()
        .map(|(key, value)| {
            let value = match key {
                "values" => value.split(',').map(scalar).collect(),
                _ => scalar(value),
            };
            (key.to_owned(), value)
        })
        .collect();
    json!({ "from": from, "kind": kind, "fields": fields })
}

/// A decimal number as a number, everything else as text.
fn scalar(text: &str) -> Value {
    if let Ok(whole) = text.parse::<u64>() {
        return json!(whole);
    }
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && !text.starts_with('+') => json!(number),
        _ => json!(text),
    }
}

/// The report for programs. Nothing in it depends on the host, so that equal runs have equal reports.
pub fn report_json(outcome: &Outcome, system: &str) -> Value {
    let journal = &outcome.journal;
    let vms: Vec<Value> = journal
        .vms
        .iter()
        .map(|vm| {
            let metrics: Map<String, Value> = vm
                .metrics
                .iter()
                .map(|(name, metric)| {
                    let metric = json!({ "value": metric.value, "unit": metric.unit });
                    (name.clone(), metric)
                })
                .collect();
            let failed: Vec<Value> = vm
                .failed
                .iter()
                .map(|(name, reason)| json!({ "name": name, "reason": reason }))
                .collect();
            let jobs: Map<String, Value> = vm
                .jobs
                .iter()
                .map(|(vcpu, record)| (vcpu.to_string(), jobs_json(journal, record)))
                .collect();
            let kernel_entries: Map<String, Value> = vm
                .kernel_entries
                .iter()
                .map(|(vcpu, count)| (vcpu.to_string(), json!(count)))
                .collect();
            json!({
                "name": vm.name,
                "state": vm.state().name(),
                "end": end_of(vm),
                "failed": vm.failed(),
                "started_seconds": vm.started.map(|ticks| journal.seconds(ticks)),
                "off_seconds": vm.off.map(|off| journal.seconds(off.time)),
                "code": vm.off.map(|off| off.code),
                "faults": vm.faults,
                "restarts": vm.restarts,
                "jobs": jobs,
                "kernel_entries": kernel_entries,
                "phases": vm.phases,
                "checks_passed": vm.passed,
                "checks_failed": failed,
                "metrics": metrics,
            })
        })
        .collect();
    let samples: Vec<Value> = quantities(journal)
        .iter()
        .map(|quantity| {
            let phases: Vec<Value> = quantity
                .phases
                .iter()
                .map(|(phase, series)| {
                    json!({ "phase": phase, "summary": series.summary(quantity.factor) })
                })
                .collect();
            json!({
                "vm": quantity.vm,
                "name": quantity.name,
                "unit": quantity.unit,
                "phases": phases,
            })
        })
        .collect();
    let account = cpu_use(journal);
    let cpu: Vec<Value> = account
        .rows
        .iter()
        .map(|(consumer, ticks)| {
            let seconds: Vec<f64> = ticks.iter().map(|t| journal.seconds(*t)).collect();
            json!({ "consumer": consumer, "seconds": seconds })
        })
        .collect();
    let faults: Vec<Value> = journal
        .faults
        .iter()
        .map(|fault| {
            json!({
                "vm": fault.vm,
                "vcpu": fault.vcpu,
                "cause": fault.cause,
                "cause_text": cause(fault.cause),
                "why": fault.why,
                "address": format!("{:#x}", fault.address),
                "pc": format!("{:#x}", fault.pc),
                "instruction": format!("{:#x}", fault.instruction),
                "seconds": journal.seconds(fault.time),
            })
        })
        .collect();
    let timed_output: Vec<Value> = outcome
        .timed_output()
        .iter()
        .map(|one| {
            json!({
                "vm": one.vm,
                "pins": one.asked.pins,
                "start": one.asked.start,
                "length": one.asked.length,
                "period": one.asked.period,
                "until": one.asked.until,
                "edges": one.edges,
                "missing": one.missing,
                "error_max": one.error_max,
            })
        })
        .collect();
    json!({
        "system": system,
        "verdict": verdict_words(outcome.verdict()),
        "reason": outcome.reason(),
        "trusted": outcome.forger.is_none(),
        "distrust": outcome.distrust(),
        "hypervisor_version": journal.version,
        "virtual_seconds": outcome.end_time.map_or_else(
            || journal.seconds(journal.last_time),
            |end| end.0 as f64 / 1e9,
        ),
        "virtual_seconds_exact": outcome.end_time.is_some() || journal.ended.is_some(),
        "vms": vms,
        "samples": samples,
        "timed_output": timed_output,
        "cpu": {
            "harts": account.harts,
            "elapsed_seconds": journal.seconds(account.elapsed),
            "use": cpu,
        },
        "faults": faults,
        "board": outcome.board.as_ref().map(|facts| board::json(facts, journal)),
        "remarks": remarks(journal),
    })
}

fn report_markdown(outcome: &Outcome, system: &str) -> String {
    let journal = &outcome.journal;
    let mut parts = vec![format!(
        "# Run of {system}\n\n{} of virtual time; {}.\n",
        virtual_time(outcome),
        outcome.reason()
    )];
    parts.extend(
        outcome
            .distrust()
            .map(|distrust| format!("**Not to be trusted:** {distrust}\n")),
    );
    for quantity in quantities(journal) {
        parts.push(quantity.table().markdown());
        parts.push(format!(
            "![Distribution of {} of {}]({}.svg)\n",
            quantity.name,
            quantity.vm,
            quantity.file_stem()
        ));
    }
    parts.extend(cpu_table(journal).map(|table| table.markdown()));
    parts.push(vm_table(journal).markdown());
    parts.extend(fault_table(journal).map(|table| table.markdown()));
    parts.extend(jobs_table(journal).map(|table| table.markdown()));
    parts.extend(migration_table(journal).map(|table| table.markdown()));
    parts.extend(metric_table(journal).map(|table| table.markdown()));
    parts.extend(timed_output_table(outcome).map(|table| table.markdown()));
    let mut remarks = remarks(journal);
    if let Some(facts) = &outcome.board {
        parts.push(board::cycle_table(facts, journal).markdown());
        parts.extend(board::probe_tables(facts).iter().map(Table::markdown));
        parts.extend(board::reload_table(facts).map(|table| table.markdown()));
        parts.extend(board::event_table(facts).map(|table| table.markdown()));
        remarks.extend(board::remarks(facts));
    }
    if !remarks.is_empty() {
        parts.push(format!("## Remarks\n\n- {}\n", remarks.join("\n- ")));
    }
    if let Some(facts) = &outcome.board {
        parts.push(format!(
            "{} {}.\n",
            board::sentence(facts),
            board::hash(facts)
        ));
    }
    parts.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_in_the_unit_that_fits() {
        let clocks = Clocks {
            timebase_hz: 10_000_000,
            clock_hz: Some(100_000_000),
        };
        assert_eq!(shown(Unit::Ticks, 3, clocks), ("ns", 100.0));
        assert_eq!(shown(Unit::Ticks, 45, clocks), ("µs", 0.1));
        assert_eq!(shown(Unit::Cycles, 45, clocks), ("ns", 10.0));
        assert_eq!(
            shown(Unit::Nanoseconds, 2_000_000_000, clocks),
            ("ms", 1e-6)
        );
        assert_eq!(
            shown(Unit::Instructions, 1 << 40, clocks),
            ("instructions", 1.0)
        );
    }

    #[test]
    fn shares_are_of_the_elapsed_time() {
        let text = "boot version=1 harts=2 vms=1 time=1000\n\
            off vm=rt reason=shutdown code=0 time=11000\n\
            usage vm=rt hart=0 ticks=2500\nusage idle hart=0 ticks=7480\nusage idle hart=1 ticks=1000\n";
        let line = crate::run::console::framed(&[(Source::Log, text)]);
        let carriage = crate::run::console::Carriage::Framed { vms: 1 };
        let journal = Journal::replay(&["rt"], 1, carriage, &line);
        let table = cpu_table(&journal).expect("there is an account");
        assert_eq!(
            table.rows,
            [
                ["rt", "25.00 %", "-", "12.50 %"],
                ["(idle)", "74.80 %", "10.00 %", "42.40 %"],
                ["(not accounted for)", "0.20 %", "90.00 %", "45.10 %"],
            ]
        );
    }

    #[test]
    fn names_from_guests_stay_in_the_directory() {
        assert_eq!(
            file_name("../../etc/passwd"),
            "=2E=2E=2F=2E=2E=2Fetc=2Fpasswd"
        );
        assert_ne!(file_name("a b"), file_name("a_b"));
        // Series `c` of `a-b`, and series `b-c` of `a`.
        let stem = |vm, series| format!("{}-{}", file_name(vm), part_name(series));
        assert_ne!(stem("a-b", "c"), stem("a", "b-c"));
        assert_eq!(file_name("release_latency-1"), "release_latency-1");
    }

    #[test]
    fn record_fields_become_json() {
        let journal = Journal::new(&["rt"], 10_000_000);
        let line = RecordLine {
            source: Source::Vm(0),
            text: "samples name=l phase=p unit=ns values=1,2,x".to_owned(),
        };
        assert_eq!(
            record_json(&journal, &line),
            json!({
                "from": "rt",
                "kind": "samples",
                "fields": { "name": "l", "phase": "p", "unit": "ns", "values": [1, 2, "x"] },
            })
        );
    }
}
