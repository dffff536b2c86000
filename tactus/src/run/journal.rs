//! What has been seen of a run: every record and console, within bounds that no guest can exceed.

use std::collections::BTreeMap;
use tactus_abi::blob::pci::SLOTS;

use tactus_abi::hypercall::JobRecord;

use super::console::{Carriage, Consoles, Line, Piece, Source};
use super::pulses::Pulses;
use super::record::{self, Consumer, Fault, GuestRecord, LogRecord, OffReason};
use super::state::Presence;
use crate::report::samples::Series;
use crate::report::unit::{Clocks, Unit};

/// Bounds of what a journal keeps. What exceeds one is dropped, counted and named in the report.
pub mod bound {
    /// Bytes kept of each console: the last ones.
    pub const CONSOLE_BYTES: usize = 4 << 20;
    /// Bytes of record lines kept.
    pub const RECORD_BYTES: usize = 64 << 20;
    /// Different metrics of one VM.
    pub const METRICS: usize = 512;
    /// Different series of one VM.
    pub const SERIES: usize = 16;
    /// Different pins of one VM that pulses are kept of.
    pub const PULSES: usize = 32;
    /// vCPUs of one VM of which is kept how their jobs have gone.
    pub const VCPUS: usize = 128;
    /// Faults kept in full; all are counted.
    pub const FAULTS: usize = 1000;
    /// Phases, and passed and failed checks, kept of one VM.
    pub const CHECKS: usize = 1000;
    /// Different notes.
    pub const NOTES: usize = 50;
}

/// How a VM ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Off {
    /// Why.
    pub reason: OffReason,
    /// The code that it gave.
    pub code: u64,
    /// When, in ticks of the `time` CSR.
    pub time: u64,
}

/// A figure that a guest reported.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metric {
    /// The figure.
    pub value: f64,
    /// Its unit.
    pub unit: Unit,
}

/// The samples of one quantity in one phase.
#[derive(Clone, Debug)]
pub struct NamedSeries {
    /// What was sampled.
    pub name: String,
    /// In which phase.
    pub phase: String,
    /// The samples.
    pub series: Series,
}

/// What has been seen of one VM.
#[derive(Clone, Debug)]
pub struct VmJournal {
    /// Its name.
    pub name: String,
    /// When it first started, in ticks of the `time` CSR.
    pub started: Option<u64>,
    /// How it ended; `None` while it runs.
    pub off: Option<Off>,
    /// What the board saw of it when the run ended; `None` on another machine.
    pub presence: Option<Presence>,
    /// Whether the hypervisor may be loading it.
    pub may_load: bool,
    /// Faults.
    pub faults: u64,
    /// Restarts.
    pub restarts: u64,
    /// How the jobs of its real-time vCPUs have gone, by number, as was told last.
    pub jobs: BTreeMap<u64, JobRecord>,
    /// How often each vCPU has left a hart for user level only for its kernel, by number.
    pub kernel_entries: BTreeMap<u64, u64>,
    /// Accesses of its PCI functions that the IOMMU has refused, as was told last of each slot.
    pub refused_dma: BTreeMap<u64, u64>,
    /// Its accesses to devices that other VMs emulate that were not served, as was told last.
    pub lost_accesses: u64,
    /// The phases it announced.
    pub phases: Vec<String>,
    /// Names of the checks that held.
    pub passed: Vec<String>,
    /// Names of the checks that did not hold, and why.
    pub failed: Vec<(String, String)>,
    /// Its figures by name.
    pub metrics: BTreeMap<String, Metric>,
    /// What samples of a name should not exceed, by name.
    pub deadlines: BTreeMap<String, Metric>,
    /// Its samples, in the order in which they began.
    pub series: Vec<NamedSeries>,
    /// What it has asked timed output for, the last of the same pins each.
    pub pulses: Vec<Pulses>,
    /// Its console.
    pub console: Transcript,
}

impl VmJournal {
    /// The samples of `name` in `phase`.
    pub fn series(&self, name: &str, phase: &str) -> Option<&Series> {
        self.series
            .iter()
            .find(|known| known.name == name && known.phase == phase)
            .map(|known| &known.series)
    }

    /// Whether it ended by a fault or as failed, or a check of its own did not hold.
    pub fn failed(&self) -> bool {
        !self.failed.is_empty()
            || self.off.is_some_and(|off| {
                !matches!(
                    off.reason,
                    OffReason::Shutdown | OffReason::Stopped | OffReason::Held
                )
            })
    }
}

/// The end of what was written to a console.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    bytes: Vec<u8>,
    dropped: u64,
}

impl Transcript {
    fn push(&mut self, byte: u8) {
        // Twice the bound before half is dropped, so that a byte costs constant time.
        if self.bytes.len() == 2 * bound::CONSOLE_BYTES {
            self.bytes.drain(..bound::CONSOLE_BYTES);
            self.dropped += bound::CONSOLE_BYTES as u64;
        }
        self.bytes.push(byte);
    }

    /// What is kept, as it was written.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What is kept, as text.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }

    /// Bytes that were written before what is kept.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

/// Why the hypervisor gave up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It refused to boot the system.
    Refused(String),
    /// It found a defect in itself.
    Panic(String),
}

/// A record line and who wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordLine {
    /// Who.
    pub source: Source,
    /// The line, without a prefix.
    pub text: String,
}

/// What a line turned out to be.
#[derive(Clone, Debug, PartialEq)]
pub enum Seen {
    /// Text for people.
    Text,
    /// A guest's record, good or not.
    GuestRecord(Option<GuestRecord>),
    /// A line of the hypervisor's log, good or not.
    LogRecord(Option<LogRecord>),
}

/// Everything seen of a run.
#[derive(Clone, Debug)]
pub struct Journal {
    /// The VMs, in the system's order.
    pub vms: Vec<VmJournal>,
    /// Rate of the `time` CSR.
    pub timebase_hz: u64,
    /// Rate of the harts' clock; `None` where cycles are no measure of time.
    pub clock_hz: Option<u64>,
    /// The hypervisor's version, once it has said it.
    pub version: Option<String>,
    /// When it said so, in ticks of the `time` CSR.
    pub booted: Option<u64>,
    /// Time that each had a hart, in ticks of the `time` CSR, by hart index.
    pub usage: BTreeMap<(u64, Consumer), u64>,
    /// Since when that is, in ticks of the `time` CSR; `None`: since the hypervisor said that it runs.
    pub usage_since: Option<u64>,
    /// When that was, in ticks of the `time` CSR.
    pub usage_time: u64,
    /// The first faults.
    pub faults: Vec<Fault>,
    /// Why the hypervisor gave up, if it did.
    pub failure: Option<Failure>,
    /// When all VMs were off, in ticks of the `time` CSR.
    pub ended: Option<u64>,
    /// Latest time that a record named, in ticks of the `time` CSR.
    pub last_time: u64,
    /// Records in the order of their arrival.
    pub records: Vec<RecordLine>,
    /// What the firmware wrote.
    pub firmware: Transcript,
    /// What the hypervisor wrote.
    pub log: Transcript,
    record_bytes: usize,
    notes: BTreeMap<String, u64>,
}

impl Journal {
    /// Nothing seen yet of VMs with these names.
    pub fn new<S: AsRef<str>>(vms: &[S], timebase_hz: u64) -> Self {
        Self {
            vms: vms
                .iter()
                .map(|name| VmJournal {
                    name: name.as_ref().to_owned(),
                    started: None,
                    off: None,
                    presence: None,
                    may_load: false,
                    faults: 0,
                    restarts: 0,
                    refused_dma: BTreeMap::new(),
                    lost_accesses: 0,
                    jobs: BTreeMap::new(),
                    kernel_entries: BTreeMap::new(),
                    phases: Vec::new(),
                    passed: Vec::new(),
                    failed: Vec::new(),
                    metrics: BTreeMap::new(),
                    deadlines: BTreeMap::new(),
                    series: Vec::new(),
                    pulses: Vec::new(),
                    console: Transcript::default(),
                })
                .collect(),
            timebase_hz,
            clock_hz: None,
            version: None,
            booted: None,
            usage: BTreeMap::new(),
            usage_since: None,
            usage_time: 0,
            faults: Vec::new(),
            failure: None,
            ended: None,
            last_time: 0,
            records: Vec::new(),
            firmware: Transcript::default(),
            log: Transcript::default(),
            record_bytes: 0,
            notes: BTreeMap::new(),
        }
    }

    /// The same of a machine whose harts have that clock.
    pub fn clocked(mut self, clock_hz: Option<u64>) -> Self {
        self.clock_hz = clock_hz;
        self
    }

    /// The rates of the machine's clocks.
    pub fn clocks(&self) -> Clocks {
        Clocks {
            timebase_hz: self.timebase_hz,
            clock_hz: self.clock_hz,
        }
    }

    /// The VM called `name`.
    pub fn vm(&self, name: &str) -> Option<&VmJournal> {
        self.vms.iter().find(|vm| vm.name == name)
    }

    /// Names of all VMs, in the system's order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.vms.iter().map(|vm| vm.name.as_str())
    }

    /// Ticks of the `time` CSR as seconds.
    pub fn seconds(&self, ticks: u64) -> f64 {
        ticks as f64 / self.timebase_hz as f64
    }

    /// Whatever deserves a remark (bad records, exceeded bounds), and how often.
    pub fn notes(&self) -> impl Iterator<Item = (&str, u64)> {
        self.notes
            .iter()
            .map(|(text, count)| (text.as_str(), *count))
    }

    /// Remarks something; equal remarks are counted.
    pub fn note(&mut self, text: String) {
        if self.notes.len() >= bound::NOTES && !self.notes.contains_key(&text) {
            *self
                .notes
                .entry("further remarks of other kinds".to_owned())
                .or_insert(0) += 1;
        } else {
            *self.notes.entry(text).or_insert(0) += 1;
        }
    }

    /// Takes a byte of a console's output.
    pub fn take_byte(&mut self, source: Source, byte: u8) {
        match source {
            Source::Firmware => self.firmware.push(byte),
            Source::Log => self.log.push(byte),
            Source::Vm(vm) => {
                if let Some(vm) = self.vms.get_mut(vm) {
                    vm.console.push(byte);
                }
            }
            Source::Unknown(stream) => self.note(format!(
                "bytes on console stream {stream}, which no VM of this system has"
            )),
        }
    }

    /// Takes a line and says what it was.
    pub fn take_line(&mut self, line: &Line) -> Seen {
        let text = line.text();
        match line.source {
            Source::Firmware | Source::Unknown(_) => Seen::Text,
            Source::Log => {
                self.keep(line.source, &text);
                match record::parse_log(&text) {
                    Ok(record) => {
                        self.take_log(&record);
                        Seen::LogRecord(Some(record))
                    }
                    Err(reason) => {
                        self.note(format!("the hypervisor's log: {reason}"));
                        Seen::LogRecord(None)
                    }
                }
            }
            Source::Vm(vm) => {
                let Some(text) = record::guest_record_text(&text) else {
                    return Seen::Text;
                };
                self.keep(line.source, text);
                let parsed = if line.complete {
                    record::parse_guest(text).map_err(|reason| reason.to_string())
                } else {
                    Err("record cut off, too long or at the machine's end".to_owned())
                };
                match parsed {
                    Ok(record) => {
                        self.take_guest(vm, &record);
                        Seen::GuestRecord(Some(record))
                    }
                    Err(reason) => {
                        let name = self.vms.get(vm).map_or("?", |vm| vm.name.as_str());
                        self.note(format!("VM \"{name}\": {reason}"));
                        Seen::GuestRecord(None)
                    }
                }
            }
        }
    }

    /// Reads all of a recorded serial line; the journal of the run that it is of.
    pub fn replay<S: AsRef<str>>(
        vms: &[S],
        timebase_hz: u64,
        carriage: Carriage,
        bytes: &[u8],
    ) -> Self {
        let mut journal = Self::new(vms, timebase_hz);
        let mut consoles = Consoles::new(carriage);
        consoles.push(bytes, |piece| match piece {
            Piece::Byte(source, byte) => journal.take_byte(source, byte),
            Piece::Line(line) => {
                journal.take_line(&line);
            }
        });
        for line in consoles.finish() {
            journal.take_line(&line);
        }
        journal
    }

    fn keep(&mut self, source: Source, text: &str) {
        if self.record_bytes + text.len() > bound::RECORD_BYTES {
            self.note(format!(
                "records beyond {} MiB, evaluated but not kept",
                bound::RECORD_BYTES >> 20
            ));
            return;
        }
        self.record_bytes += text.len();
        self.records.push(RecordLine {
            source,
            text: text.to_owned(),
        });
    }

    fn vm_mut(&mut self, name: &str) -> Option<&mut VmJournal> {
        let known = self.vms.iter().position(|vm| vm.name == name);
        if known.is_none() {
            self.note(format!(
                "the hypervisor's log names a VM \"{name}\" that the system does not have"
            ));
        }
        self.vms.get_mut(known?)
    }

    /// The hypervisor boots again, after a loss of power: all VMs do, and have reported no figure since.
    fn begin_again(&mut self) {
        self.ended = None;
        for vm in &mut self.vms {
            vm.off = None;
            vm.metrics.clear();
        }
    }

    fn take_log(&mut self, record: &LogRecord) {
        if let Some(time) = record.time() {
            self.last_time = self.last_time.max(time);
        }
        match record {
            LogRecord::Boot { version, time, .. } => {
                if self.booted.is_some() {
                    self.begin_again();
                }
                self.version = Some(version.clone());
                self.booted = Some(*time);
            }
            LogRecord::Start { vm, time } => {
                if let Some(vm) = self.vm_mut(vm) {
                    vm.started.get_or_insert(*time);
                }
            }
            LogRecord::Fault(fault) => {
                if let Some(vm) = self.vm_mut(&fault.vm) {
                    vm.faults += 1;
                }
                if self.faults.len() < bound::FAULTS {
                    self.faults.push(fault.clone());
                } else {
                    self.note(format!("faults beyond {}, only counted", bound::FAULTS));
                }
            }
            LogRecord::Restart { vm, .. } => {
                if let Some(vm) = self.vm_mut(vm) {
                    vm.restarts += 1;
                    vm.off = None;
                }
            }
            LogRecord::Jobs {
                vm, vcpu, record, ..
            } => {
                if let Some(vm) = self.vm_mut(vm)
                    && (vm.jobs.len() < bound::VCPUS || vm.jobs.contains_key(vcpu))
                {
                    vm.jobs.insert(*vcpu, *record);
                }
            }
            LogRecord::Off {
                vm,
                reason,
                code,
                time,
            } => {
                if let Some(vm) = self.vm_mut(vm) {
                    vm.off = Some(Off {
                        reason: *reason,
                        code: *code,
                        time: *time,
                    });
                }
            }
            LogRecord::Usage {
                consumer,
                hart,
                ticks,
            } => {
                if let Consumer::Vm(name) = consumer
                    && self.vm_mut(name).is_none()
                {
                    return;
                }
                self.usage.insert((*hart, consumer.clone()), *ticks);
                // The record has no time; the VM's end that it follows has.
                self.usage_time = self.last_time;
            }
            LogRecord::Migration {
                vm,
                vcpu,
                kernel_entries,
            } => {
                if let Some(vm) = self.vm_mut(vm)
                    && (vm.kernel_entries.len() < bound::VCPUS
                        || vm.kernel_entries.contains_key(vcpu))
                {
                    vm.kernel_entries.insert(*vcpu, *kernel_entries);
                }
            }
            LogRecord::RefusedDma {
                vm, slot, count, ..
            } => {
                if let Some(vm) = self.vm_mut(vm)
                    && *slot < u64::from(SLOTS)
                {
                    vm.refused_dma.insert(*slot, *count);
                }
            }
            LogRecord::LostAccess { vm, count, .. } => {
                if let Some(vm) = self.vm_mut(vm) {
                    vm.lost_accesses = *count;
                }
            }
            LogRecord::Lost { stream, bytes } => {
                self.note(format!(
                    "{bytes} bytes of console stream {stream} did not fit the hypervisor's buffer"
                ));
            }
            LogRecord::End { time } => self.ended = Some(*time),
            LogRecord::Refused { reason } => {
                self.failure.get_or_insert(Failure::Refused(reason.clone()));
            }
            LogRecord::Panic { reason } => {
                self.failure.get_or_insert(Failure::Panic(reason.clone()));
            }
        }
    }

    fn take_guest(&mut self, vm: usize, record: &GuestRecord) {
        let Some(vm) = self.vms.get_mut(vm) else {
            return;
        };
        if let Err(note) = vm.take(record) {
            let note = format!("VM \"{}\": {note}", vm.name);
            self.note(note);
        }
    }
}

impl VmJournal {
    /// Takes one of the VM's records; an error is a remark about what was not kept.
    fn take(&mut self, record: &GuestRecord) -> Result<(), String> {
        match record {
            GuestRecord::Metric { name, value, unit } => {
                if self.metrics.len() >= bound::METRICS && !self.metrics.contains_key(name) {
                    return Err(format!("metrics beyond {}, not kept", bound::METRICS));
                }
                self.metrics.insert(
                    name.clone(),
                    Metric {
                        value: *value,
                        unit: *unit,
                    },
                );
            }
            GuestRecord::Deadline { name, value, unit } => {
                if self.deadlines.len() >= bound::SERIES && !self.deadlines.contains_key(name) {
                    return Err(format!("deadlines beyond {}, not kept", bound::SERIES));
                }
                let (value, unit) = (*value, *unit);
                self.deadlines.insert(name.clone(), Metric { value, unit });
            }
            GuestRecord::Samples {
                name,
                phase,
                unit,
                values,
            } => {
                let known = self
                    .series
                    .iter()
                    .position(|known| known.name == *name && known.phase == *phase);
                let at = known.unwrap_or(self.series.len());
                if known.is_none() {
                    if self.series.len() >= bound::SERIES {
                        return Err(format!("series beyond {}, not kept", bound::SERIES));
                    }
                    let series = Series::new(*unit)
                        .ok_or_else(|| format!("no histogram for \"{name}\" could be made"))?;
                    self.series.push(NamedSeries {
                        name: name.clone(),
                        phase: phase.clone(),
                        series,
                    });
                }
                let series = &mut self.series[at].series;
                if series.unit() != *unit {
                    return Err(format!(
                        "samples \"{name}\" in {} after samples in {}, not kept",
                        unit.name(),
                        series.unit().name()
                    ));
                }
                for value in values {
                    series.record(*value);
                }
            }
            GuestRecord::Pulses(pulses) => {
                let mut known = self.pulses.iter_mut();
                if let Some(before) = known.find(|before| before.pins == pulses.pins) {
                    *before = *pulses;
                } else if self.pulses.len() < bound::PULSES {
                    self.pulses.push(*pulses);
                } else {
                    return Err(format!("pulses beyond {}, not kept", bound::PULSES));
                }
            }
            GuestRecord::Phase { name } => keep_check(&mut self.phases, name.clone())?,
            GuestRecord::Pass { name } => keep_check(&mut self.passed, name.clone())?,
            GuestRecord::Fail { name, reason } => {
                keep_check(&mut self.failed, (name.clone(), reason.clone()))?;
            }
        }
        Ok(())
    }
}

/// What must hold for any serial line: it is taken, nothing grows past its bound, and what is said of it can
/// be said.
///
/// # Panics
/// It does not hold.
#[cfg(any(test, feature = "testing"))]
pub fn try_serial_line(bytes: &[u8]) {
    use crate::report;

    let names = ["rt", "linux"];
    for carriage in [Carriage::Framed { vms: names.len() }, Carriage::Bare] {
        let journal = Journal::replay(&names, 10_000_000, carriage, bytes);
        let kept: usize = journal
            .vms
            .iter()
            .map(|vm| vm.console.bytes().len())
            .chain([journal.firmware.bytes().len(), journal.log.bytes().len()])
            .sum();
        assert!(kept <= bytes.len());
        assert!(journal.notes().count() <= bound::NOTES + 1);
        assert!(journal.faults.len() <= bound::FAULTS);
        for vm in &journal.vms {
            assert!(vm.metrics.len() <= bound::METRICS);
            assert!(vm.series.len() <= bound::SERIES);
            assert!(vm.pulses.len() <= bound::PULSES);
            assert!(vm.phases.len().max(vm.passed.len()) <= bound::CHECKS);
            assert!(vm.failed.len() <= bound::CHECKS);
        }
        let mut text = report::journal_text(&journal);
        text.retain(|c| c != '\n');
        assert!(!text.chars().any(char::is_control));
    }
}

fn keep_check<T>(checks: &mut Vec<T>, check: T) -> Result<(), String> {
    if checks.len() >= bound::CHECKS {
        return Err(format!("checks beyond {}, not kept", bound::CHECKS));
    }
    checks.push(check);
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::run::console::framed;

    const FRAMED: Carriage = Carriage::Framed { vms: 2 };

    fn journal(parts: &[(Source, &str)]) -> Journal {
        Journal::replay(&["rt", "linux"], 10_000_000, FRAMED, &framed(parts))
    }

    #[test]
    fn run_is_told_from_its_records() {
        let journal = journal(&[
            (Source::Firmware, "OpenSBI v1.5\n"),
            (Source::Log, "boot version=0.1.0 harts=2 vms=2 time=100\n"),
            (
                Source::Log,
                "start vm=rt time=110\nstart vm=linux time=120\n",
            ),
            (
                Source::Vm(0),
                "hello\n@tactus metric name=m value=3 unit=ns\n",
            ),
            (Source::Vm(0), "@tactus metric name=m value=4 unit=ns\n"),
            (
                Source::Vm(0),
                "@tactus samples name=l phase=idle unit=ticks values=1,2\n",
            ),
            (
                Source::Vm(0),
                "@tactus samples name=l phase=idle unit=ticks values=9\n",
            ),
            (
                Source::Log,
                "fault vm=linux vcpu=0 cause=2 address=0x0 pc=0x0 instruction=0x0 action=restart time=200\n",
            ),
            (Source::Log, "restart vm=linux count=1 time=201\n"),
            (
                Source::Log,
                "usage vm=rt hart=0 ticks=50\nusage idle hart=0 ticks=7\n\
                 usage migration vm=rt vcpu=1 kernel_entries=9\n",
            ),
            (Source::Log, "off vm=rt reason=shutdown code=0 time=900\n"),
        ]);
        let rt = journal.vm("rt").expect("rt is a VM");
        assert_eq!(rt.started, Some(110));
        assert_eq!(rt.off.map(|off| off.reason), Some(OffReason::Shutdown));
        assert!(!rt.failed());
        assert_eq!(
            rt.metrics.get("m"),
            Some(&Metric {
                value: 4.0,
                unit: Unit::Nanoseconds
            })
        );
        let series = rt.series("l", "idle").expect("samples were sent");
        assert_eq!((series.samples(), series.extremes()), (3, Some((1, 9))));
        let linux = journal.vm("linux").expect("linux is a VM");
        assert_eq!((linux.faults, linux.restarts, linux.off), (1, 1, None));
        assert_eq!(journal.usage[&(0, Consumer::Vm("rt".to_owned()))], 50);
        assert_eq!(journal.vms[0].kernel_entries, [(1, 9)].into());
        assert_eq!(journal.last_time, 900);
        assert_eq!(journal.notes().count(), 0);
        assert_eq!(journal.firmware.bytes(), b"OpenSBI v1.5\n");
        assert_eq!(journal.records.len(), 13);
    }

    #[test]
    fn guest_cannot_speak_for_the_hypervisor_or_another_guest() {
        let journal = journal(&[
            (Source::Vm(1), "off vm=rt reason=fault code=0 time=1\n"),
            (
                Source::Vm(1),
                "@tactus off vm=rt reason=fault code=0 time=1\n",
            ),
            (Source::Vm(1), "@tactus metric name=m value=1 unit=ns\n"),
        ]);
        let rt = journal.vm("rt").expect("rt is a VM");
        assert_eq!(rt.off, None);
        assert!(rt.metrics.is_empty());
        assert_eq!(
            journal.notes().collect::<Vec<_>>(),
            [(
                "VM \"linux\": `off` is not a kind of record that guests write",
                1
            )]
        );
    }

    #[test]
    fn a_guests_own_check_fails_it() {
        let journal = journal(&[(Source::Vm(0), "@tactus fail name=x reason=too late\n")]);
        let rt = journal.vm("rt").expect("rt is a VM");
        assert!(rt.failed());
        assert_eq!(rt.failed, [("x".to_owned(), "too late".to_owned())]);
    }

    #[test]
    fn nothing_grows_without_bound() {
        let mut line = String::new();
        for i in 0..bound::METRICS + 5 {
            line.push_str(&format!("@tactus metric name=m{i} value=1 unit=ns\n"));
        }
        for i in 0..bound::SERIES + 5 {
            line.push_str(&format!(
                "@tactus samples name=s{i} phase=p unit=ns values=1\n"
            ));
        }
        for i in 0..bound::PULSES + 5 {
            line.push_str(&format!(
                "@tactus pulses pins={} start=1 length=2 period=3 until=4\n",
                i + 1
            ));
        }
        for i in 0..bound::CHECKS + 5 {
            line.push_str(&format!("@tactus pass name=c{i}\n"));
        }
        for i in 0..2 * bound::NOTES {
            line.push_str(&format!("@tactus odd{i}\n"));
        }
        let journal = Journal::replay(&["g"], 1, Carriage::Bare, line.as_bytes());
        let vm = &journal.vms[0];
        assert_eq!(vm.metrics.len(), bound::METRICS);
        assert_eq!(vm.series.len(), bound::SERIES);
        assert_eq!(vm.pulses.len(), bound::PULSES);
        assert_eq!(vm.passed.len(), bound::CHECKS);
        assert_eq!(journal.notes().count(), bound::NOTES + 1);
    }

    #[test]
    fn only_the_end_of_a_console_is_kept() {
        let mut transcript = Transcript::default();
        for i in 0..5 * bound::CONSOLE_BYTES {
            transcript.push(i as u8);
        }
        assert!(transcript.bytes().len() <= 2 * bound::CONSOLE_BYTES);
        assert_eq!(
            transcript.dropped() + transcript.bytes().len() as u64,
            5 * bound::CONSOLE_BYTES as u64
        );
        assert_eq!(
            transcript.bytes().last(),
            Some(&((5 * bound::CONSOLE_BYTES - 1) as u8))
        );
    }

    /// What the fuzzer found worth keeping, and lines of real runs.
    #[test]
    fn saved_serial_lines_are_survived() {
        let directory =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/serial_line");
        let mut files = 0;
        for entry in std::fs::read_dir(directory).expect("there are saved lines") {
            let path = entry.expect("the directory can be read").path();
            try_serial_line(&std::fs::read(path).expect("it can be read"));
            files += 1;
        }
        assert!(files > 0);
    }

    proptest! {
        #[test]
        fn any_serial_line_is_survived(bytes in any::<Vec<u8>>(), text in "(\\x1e[@ABC]|@tactus (metric|samples|pulses|pass|fail|phase)|[a-z]{1,5}=[0-9a-z,]{0,9}| |\n|off|fault|usage|vm=rt|time=1){0,60}") {
            let mut line = text.into_bytes();
            line.extend(bytes);
            try_serial_line(&line);
        }
    }
}
