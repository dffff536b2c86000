//! Record lines (`tactus_abi::record`), taken apart.
//!
//! Guests are not trusted: whatever a line holds, parsing gives a record or a reason, in time and memory
//! linear in the line's length.

use std::fmt;

use tactus_abi::hypercall::JobRecord;
use tactus_abi::record::PREFIX;

use super::pulses::Pulses;
use super::visible::marked;
use crate::report::samples::SAMPLE_MAX;
use crate::report::unit::Unit;

/// Longest name of a metric, a series, a phase or a check; longer ones are malformed.
pub const NAME_MAX: usize = 64;
/// Longest piece of a bad line that a message quotes.
const QUOTE_MAX: usize = 60;

/// Why a line is not a record, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(String);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a guest reports.
#[derive(Clone, Debug, PartialEq)]
pub enum GuestRecord {
    /// One figure.
    Metric {
        /// Its name.
        name: String,
        /// The figure; finite.
        value: f64,
        /// Its unit.
        unit: Unit,
    },
    /// Raw samples.
    Samples {
        /// What was sampled.
        name: String,
        /// In which phase of the guest's run.
        phase: String,
        /// The samples' unit.
        unit: Unit,
        /// The samples, in the order taken.
        values: Vec<u64>,
    },
    /// What samples of this name should not exceed.
    Deadline {
        /// What is sampled.
        name: String,
        /// The bound; finite.
        value: f64,
        /// Its unit.
        unit: Unit,
    },
    /// A marker in time.
    Phase {
        /// What begins now.
        name: String,
    },
    /// What it has asked timed output for.
    Pulses(Pulses),
    /// A check that held.
    Pass {
        /// What was checked.
        name: String,
    },
    /// A check that did not hold.
    Fail {
        /// What was checked.
        name: String,
        /// What was wrong.
        reason: String,
    },
}

/// Who a `usage` record speaks of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Consumer {
    /// A VM, by name.
    Vm(String),
    /// The hypervisor itself.
    Hypervisor,
    /// The firmware below it; only the board counts that.
    Firmware,
    /// None: the hart was idle.
    Idle,
}

/// What was done about a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultAction {
    /// The VM stays stopped.
    Halt,
    /// It starts again.
    Restart,
    /// It stays stopped and another VM was told.
    Signal,
}

/// A fault that stopped a VM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The VM.
    pub vm: String,
    /// Its vCPU.
    pub vcpu: u64,
    /// Exception code as in `scause`.
    pub cause: u64,
    /// What the hypervisor made of it, in a word; may be empty.
    pub why: String,
    /// Guest address concerned.
    pub address: u64,
    /// Guest program counter.
    pub pc: u64,
    /// The instruction's bits, 0 when unknown.
    pub instruction: u64,
    /// What was done.
    pub action: FaultAction,
    /// When, in ticks of the `time` CSR.
    pub time: u64,
}

/// Why a VM is off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffReason {
    /// It asked for it.
    Shutdown,
    /// It asked for it and said that it failed.
    Fail,
    /// It faulted.
    Fault,
    /// It could not be started.
    Refused,
    /// The VM that manages it has stopped it.
    Stopped,
    /// The VM that manages it loads another image into it.
    Held,
}

/// What the hypervisor reports. Times are in ticks of the `time` CSR.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogRecord {
    /// It runs.
    Boot {
        /// Its version.
        version: String,
        /// Harts it uses.
        harts: u64,
        /// VMs it knows.
        vms: u64,
        /// When.
        time: u64,
    },
    /// A VM's first instruction is next.
    Start {
        /// The VM.
        vm: String,
        /// When.
        time: u64,
    },
    /// A VM faulted.
    Fault(Fault),
    /// A VM is started again.
    Restart {
        /// The VM.
        vm: String,
        /// How often by now.
        count: u64,
        /// When.
        time: u64,
    },
    /// How a real-time vCPU's jobs have gone by now.
    Jobs {
        /// The VM.
        vm: String,
        /// The vCPU's number within it.
        vcpu: u64,
        /// What was counted.
        record: JobRecord,
        /// When.
        time: u64,
    },
    /// A VM is off.
    Off {
        /// The VM.
        vm: String,
        /// Why.
        reason: OffReason,
        /// The code it gave.
        code: u64,
        /// When.
        time: u64,
    },
    /// How long a VM, the hypervisor or idleness had a hart since boot.
    Usage {
        /// Who.
        consumer: Consumer,
        /// The hart's index in the system.
        hart: u64,
        /// How long.
        ticks: u64,
    },
    /// How often a vCPU has left a hart for user level only for its kernel.
    Migration {
        /// The VM.
        vm: String,
        /// Its vCPU.
        vcpu: u64,
        /// How often since boot.
        kernel_entries: u64,
    },
    /// The IOMMU has refused an access of a VM's PCI function. Written of the first, the second, the fourth and so on.
    RefusedDma {
        /// The VM.
        vm: String,
        /// The function's device number.
        slot: u64,
        /// Why, as in `scause`, or from 256 on the IOMMU's own causes.
        cause: u64,
        /// Its address.
        address: u64,
        /// How many there were by now of this function.
        count: u64,
        /// When it was seen.
        time: u64,
    },
    /// An access to a device that another VM emulates was not served. Written of the first, the second, the fourth and
    /// so on.
    LostAccess {
        /// The VM that made it.
        vm: String,
        /// Its channel to the other one.
        channel: u64,
        /// Where in the device's window.
        offset: u64,
        /// How many there were by now of this VM.
        count: u64,
        /// When it was made.
        time: u64,
    },
    /// Console bytes that did not fit their buffer.
    Lost {
        /// The stream they were meant for.
        stream: u64,
        /// How many.
        bytes: u64,
    },
    /// All VMs are off.
    End {
        /// When.
        time: u64,
    },
    /// The system does not boot.
    Refused {
        /// Why.
        reason: String,
    },
    /// A defect in the hypervisor.
    Panic {
        /// What it says of it.
        reason: String,
    },
}

impl LogRecord {
    /// The record's time in ticks of the `time` CSR, where its kind has one.
    pub fn time(&self) -> Option<u64> {
        match self {
            Self::Boot { time, .. }
            | Self::Start { time, .. }
            | Self::Restart { time, .. }
            | Self::Jobs { time, .. }
            | Self::RefusedDma { time, .. }
            | Self::LostAccess { time, .. }
            | Self::Off { time, .. }
            | Self::End { time } => Some(*time),
            Self::Fault(fault) => Some(fault.time),
            Self::Usage { .. }
            | Self::Migration { .. }
            | Self::Lost { .. }
            | Self::Refused { .. }
            | Self::Panic { .. } => None,
        }
    }
}

/// What follows the prefix when a console line is a guest's record.
pub fn guest_record_text(line: &str) -> Option<&str> {
    line.strip_prefix(PREFIX)
}

/// The words of a record after its kind, as `key=value` pairs in their order. `reason` of kinds whose
/// reason is the rest of the line takes that rest.
pub fn fields(text: &str) -> (&str, Vec<(&str, &str)>) {
    let (kind, mut rest) = text.split_once(' ').unwrap_or((text, ""));
    let prose = matches!(kind, "refused" | "panic" | "fail");
    let mut pairs = Vec::new();
    while !rest.is_empty() {
        if prose && let Some(reason) = rest.strip_prefix("reason=") {
            pairs.push(("reason", reason));
            break;
        }
        let (word, tail) = rest.split_once(' ').unwrap_or((rest, ""));
        if !word.is_empty() {
            pairs.push(word.split_once('=').unwrap_or((word, "")));
        }
        rest = tail;
    }
    (kind, pairs)
}

/// Reads a guest's record: a line without its prefix.
pub fn parse_guest(text: &str) -> Result<GuestRecord, Malformed> {
    let fields = Fields::of(text);
    match fields.kind {
        "metric" => Ok(GuestRecord::Metric {
            name: fields.name("name")?,
            value: fields.figure("value")?,
            unit: fields.unit()?,
        }),
        "samples" => Ok(GuestRecord::Samples {
            name: fields.name("name")?,
            phase: fields.name("phase")?,
            unit: fields.unit()?,
            values: fields.values()?,
        }),
        "deadline" => Ok(GuestRecord::Deadline {
            name: fields.name("name")?,
            value: fields.figure("value")?,
            unit: fields.unit()?,
        }),
        "phase" => Ok(GuestRecord::Phase {
            name: fields.name("name")?,
        }),
        "pulses" => Ok(GuestRecord::Pulses(fields.pulses()?)),
        "pass" => Ok(GuestRecord::Pass {
            name: fields.name("name")?,
        }),
        "fail" => Ok(GuestRecord::Fail {
            name: fields.name("name")?,
            reason: marked(fields.text("reason").unwrap_or_default()),
        }),
        kind => Err(Malformed(format!(
            "`{}` is not a kind of record that guests write",
            quote(kind)
        ))),
    }
}

/// Reads a line of the hypervisor's log.
pub fn parse_log(text: &str) -> Result<LogRecord, Malformed> {
    let fields = Fields::of(text);
    let time = || fields.number("time");
    match fields.kind {
        "boot" => Ok(LogRecord::Boot {
            version: fields.name("version")?,
            harts: fields.number("harts")?,
            vms: fields.number("vms")?,
            time: time()?,
        }),
        "start" => Ok(LogRecord::Start {
            vm: fields.name("vm")?,
            time: time()?,
        }),
        "fault" => Ok(LogRecord::Fault(Fault {
            vm: fields.name("vm")?,
            vcpu: fields.number("vcpu")?,
            cause: fields.number("cause")?,
            why: if fields.has("why") {
                fields.name("why")?
            } else {
                String::new()
            },
            address: fields.number("address")?,
            pc: fields.number("pc")?,
            instruction: fields.number("instruction")?,
            action: match fields.text("action")? {
                "halt" => FaultAction::Halt,
                "restart" => FaultAction::Restart,
                "signal" => FaultAction::Signal,
                other => return Err(fields.bad("action", other)),
            },
            time: time()?,
        })),
        "restart" => Ok(LogRecord::Restart {
            vm: fields.name("vm")?,
            count: fields.number("count")?,
            time: time()?,
        }),
        "jobs" => Ok(LogRecord::Jobs {
            vm: fields.name("vm")?,
            vcpu: fields.number("vcpu")?,
            record: fields.job_record("record")?,
            time: time()?,
        }),
        "off" => Ok(LogRecord::Off {
            vm: fields.name("vm")?,
            reason: match fields.text("reason")? {
                "shutdown" => OffReason::Shutdown,
                "fail" => OffReason::Fail,
                "fault" => OffReason::Fault,
                "refused" => OffReason::Refused,
                "stop" => OffReason::Stopped,
                "hold" => OffReason::Held,
                other => return Err(fields.bad("reason", other)),
            },
            code: fields.number("code")?,
            time: time()?,
        }),
        "usage" if fields.has("migration") => Ok(LogRecord::Migration {
            vm: fields.name("vm")?,
            vcpu: fields.number("vcpu")?,
            kernel_entries: fields.number("kernel_entries")?,
        }),
        "usage" => Ok(LogRecord::Usage {
            consumer: if fields.has("hypervisor") {
                Consumer::Hypervisor
            } else if fields.has("idle") {
                Consumer::Idle
            } else {
                Consumer::Vm(fields.name("vm")?)
            },
            hart: fields.number("hart")?,
            ticks: fields.number("ticks")?,
        }),
        "dma" => Ok(LogRecord::RefusedDma {
            vm: fields.name("vm")?,
            slot: fields.number("slot")?,
            cause: fields.number("cause")?,
            address: fields.number("address")?,
            count: fields.number("count")?,
            time: time()?,
        }),
        "lost-access" => Ok(LogRecord::LostAccess {
            vm: fields.name("vm")?,
            channel: fields.number("channel")?,
            offset: fields.number("offset")?,
            count: fields.number("count")?,
            time: time()?,
        }),
        "lost" => Ok(LogRecord::Lost {
            stream: fields.number("stream")?,
            bytes: fields.number("bytes")?,
        }),
        "end" => Ok(LogRecord::End { time: time()? }),
        "refused" => Ok(LogRecord::Refused {
            reason: marked(fields.text("reason")?),
        }),
        "panic" => Ok(LogRecord::Panic {
            reason: marked(fields.text("reason")?),
        }),
        kind => Err(Malformed(format!(
            "`{}` is not a kind of record that the hypervisor writes",
            quote(kind)
        ))),
    }
}

/// A record's words, borrowed from its line.
struct Fields<'a> {
    kind: &'a str,
    pairs: Vec<(&'a str, &'a str)>,
}

impl<'a> Fields<'a> {
    fn of(text: &'a str) -> Self {
        let (kind, pairs) = fields(text);
        Self { kind, pairs }
    }

    fn has(&self, key: &str) -> bool {
        self.pairs.iter().any(|(k, _)| *k == key)
    }

    fn text(&self, key: &str) -> Result<&'a str, Malformed> {
        self.pairs
            .iter()
            .find_map(|(k, v)| (*k == key).then_some(*v))
            .ok_or_else(|| Malformed(format!("`{}` record without `{key}=`", quote(self.kind))))
    }

    fn bad(&self, key: &str, value: &str) -> Malformed {
        Malformed(format!(
            "`{}` record with an impossible `{key}={}`",
            quote(self.kind),
            quote(value)
        ))
    }

    /// All figures of a [`JobRecord`], in their order, each with a comma behind it.
    fn job_record(&self, key: &str) -> Result<JobRecord, Malformed> {
        let text = self.text(key)?;
        let figures: Option<Vec<u64>> = text
            .split_terminator(',')
            .map(|figure| figure.parse().ok())
            .collect();
        figures
            .and_then(|figures| figures.try_into().ok())
            .map(JobRecord::of_words)
            .ok_or_else(|| self.bad(key, text))
    }

    /// A name: not empty, not longer than [`NAME_MAX`], nothing that a terminal would act on.
    fn name(&self, key: &str) -> Result<String, Malformed> {
        let text = self.text(key)?;
        if text.is_empty() || text.len() > NAME_MAX || text.chars().any(char::is_control) {
            return Err(self.bad(key, text));
        }
        Ok(text.to_owned())
    }

    fn number(&self, key: &str) -> Result<u64, Malformed> {
        let text = self.text(key)?;
        parse_number(text).ok_or_else(|| self.bad(key, text))
    }

    fn figure(&self, key: &str) -> Result<f64, Malformed> {
        let text = self.text(key)?;
        text.parse()
            .ok()
            .filter(|value: &f64| value.is_finite())
            .ok_or_else(|| self.bad(key, text))
    }

    fn unit(&self) -> Result<Unit, Malformed> {
        let text = self.text("unit")?;
        Unit::parse(text).ok_or_else(|| self.bad("unit", text))
    }

    fn pulses(&self) -> Result<Pulses, Malformed> {
        let pulses = Pulses {
            pins: u32::try_from(self.number("pins")?).unwrap_or(0),
            start: self.number("start")?,
            length: self.number("length")?,
            period: self.number("period")?,
            until: self.number("until")?,
        };
        if pulses.pins == 0 {
            return Err(self.bad("pins", self.text("pins")?));
        }
        if !(1..pulses.period).contains(&pulses.length) {
            return Err(self.bad("length", self.text("length")?));
        }
        Ok(pulses)
    }

    fn values(&self) -> Result<Vec<u64>, Malformed> {
        self.text("values")?
            .split(',')
            .map(|text| {
                parse_number(text)
                    .filter(|value| *value <= SAMPLE_MAX)
                    .ok_or_else(|| self.bad("values", text))
            })
            .collect()
    }
}

/// A number in decimal, or in hexadecimal after `0x`.
pub fn parse_number(text: &str) -> Option<u64> {
    let (digits, radix) = text
        .strip_prefix("0x")
        .map_or((text, 10), |digits| (digits, 16));
    // `from_str_radix` takes a sign, which no record has.
    if digits.starts_with('+') {
        return None;
    }
    u64::from_str_radix(digits, radix).ok()
}

/// The start of a piece of a bad line, fit for a message.
fn quote(text: &str) -> String {
    let begin: String = text.chars().take(QUOTE_MAX).collect();
    let mut quoted = marked(&begin);
    if text.chars().nth(QUOTE_MAX).is_some() {
        quoted.push('…');
    }
    quoted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn pulses_are_read_if_they_can_be() {
        let read = |text: &str| parse_guest(&format!("pulses {text}"));
        let pulses = Pulses {
            pins: 7,
            start: 100,
            length: 25,
            period: 200,
            until: 1000,
        };
        assert_eq!(
            read("pins=0x7 start=100 length=25 period=200 until=1000"),
            Ok(GuestRecord::Pulses(pulses))
        );
        for bad in [
            "pins=0 start=100 length=25 period=200 until=1000",
            "pins=0x100000000 start=100 length=25 period=200 until=1000",
            "pins=7 start=100 length=0 period=200 until=1000",
            "pins=7 start=100 length=200 period=200 until=1000",
            "pins=7 start=100 length=25 period=0 until=1000",
            "pins=7 start=100 length=25 period=200",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn guests_records_are_read() {
        assert_eq!(
            parse_guest("metric name=boot_to_guest_seconds value=0.0425 unit=s"),
            Ok(GuestRecord::Metric {
                name: "boot_to_guest_seconds".to_owned(),
                value: 0.0425,
                unit: Unit::Seconds,
            })
        );
        assert_eq!(
            parse_guest("samples name=release_latency phase=idle unit=ticks values=3,0,0x10"),
            Ok(GuestRecord::Samples {
                name: "release_latency".to_owned(),
                phase: "idle".to_owned(),
                unit: Unit::Ticks,
                values: vec![3, 0, 16],
            })
        );
        assert_eq!(
            parse_guest("fail name=store reason=wrote to 0x0 and lived"),
            Ok(GuestRecord::Fail {
                name: "store".to_owned(),
                reason: "wrote to 0x0 and lived".to_owned(),
            })
        );
    }

    #[test]
    fn the_hypervisors_records_are_read() {
        assert_eq!(
            parse_log(
                "fault vm=bad vcpu=1 cause=7 why=store-outside address=0x0 pc=0x80200010 instruction=0x23 action=restart time=9"
            ),
            Ok(LogRecord::Fault(Fault {
                vm: "bad".to_owned(),
                vcpu: 1,
                cause: 7,
                why: "store-outside".to_owned(),
                address: 0,
                pc: 0x8020_0010,
                instruction: 0x23,
                action: FaultAction::Restart,
                time: 9,
            }))
        );
        assert_eq!(
            parse_log("usage idle hart=1 ticks=20"),
            Ok(LogRecord::Usage {
                consumer: Consumer::Idle,
                hart: 1,
                ticks: 20,
            })
        );
        assert_eq!(
            parse_log("usage migration vm=linux vcpu=1 kernel_entries=77"),
            Ok(LogRecord::Migration {
                vm: "linux".to_owned(),
                vcpu: 1,
                kernel_entries: 77,
            })
        );
        assert_eq!(
            parse_log("refused reason=hart 3 of the system does not exist"),
            Ok(LogRecord::Refused {
                reason: "hart 3 of the system does not exist".to_owned(),
            })
        );
    }

    #[test]
    fn reasons_name_kind_and_field() {
        let reason = |text| parse_guest(text).map_err(|e| e.to_string());
        assert_eq!(
            reason("metric name=x unit=ns"),
            Err("`metric` record without `value=`".to_owned())
        );
        assert_eq!(
            reason("metric name=x value=inf unit=ns"),
            Err("`metric` record with an impossible `value=inf`".to_owned())
        );
        assert_eq!(
            reason("samples name=x phase=p unit=ns values=1,,2"),
            Err("`samples` record with an impossible `values=`".to_owned())
        );
        assert_eq!(
            reason("samples name=x phase=p unit=ns values=1,-2"),
            Err("`samples` record with an impossible `values=-2`".to_owned())
        );
        assert_eq!(
            reason("wow"),
            Err("`wow` is not a kind of record that guests write".to_owned())
        );
    }

    proptest! {
        #[test]
        fn any_text_gives_a_record_or_a_short_reason(text in "\\PC*|[ -~]{0,200}|(metric|samples|phase|pass|fail|off|fault|usage)( [a-z]{1,6}=[^ ]{0,40}){0,6}") {
            for reason in [
                parse_guest(&text).err(),
                parse_log(&text).err(),
            ].into_iter().flatten() {
                prop_assert!(reason.to_string().len() < 1_000);
            }
        }

        #[test]
        fn samples_come_back_as_written(values in prop::collection::vec(0..=SAMPLE_MAX, 1..200)) {
            let list: Vec<String> = values.iter().map(u64::to_string).collect();
            let text = format!("samples name=n phase=p unit=ns values={}", list.join(","));
            let read = match parse_guest(&text) {
                Ok(GuestRecord::Samples { values, .. }) => Some(values),
                _ => None,
            };
            prop_assert_eq!(read, Some(values));
        }
    }
}
