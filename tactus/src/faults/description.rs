//! A campaign of faults as data: its file, read and judged.

use std::fmt;
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tactus_board::board::{MemoryModel, Pace};
use tactus_board::fault::{Cache, Register};
use tactus_board::time::Femtoseconds;
use toml::Spanned;

use crate::attack::catalog::{ATTACKS, Attack, find};
use crate::config::{Nanoseconds, Size, Source, cure_of_unknown};
use crate::run::machine::SEED;
use crate::sweep::description::{Base, Invalid, Reader, base, text};

/// Runs that a campaign has at most.
pub const RUNS_MAX: u32 = 10_000_000;
/// Runs of a campaign whose file does not say how many.
const RUNS: u32 = 100;
/// The most virtual time of a campaign: from reset to the end of a run.
const TIME_MAX: Nanoseconds = Nanoseconds(60_000_000_000);
/// How long a run goes on after the last fault that it may have, where the file does not say.
const AFTER: Nanoseconds = Nanoseconds(10_000_000);
const FOLLOWED: &str =
    "that is one with `pace = \"timed\"` and without weak memory: leave both out";
/// Times without power.
const OFF: RangeInclusive<Nanoseconds> = Nanoseconds(1_000)..=Nanoseconds(60_000_000_000);
const HELP: &str = "the keys of a campaign are in `docs/src/reference/faults.md`";

/// The file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    system: Option<Spanned<PathBuf>>,
    #[serde(default)]
    pace: RawPace,
    #[serde(default)]
    memory_model: RawMemoryModel,
    quantum: Option<Spanned<u64>>,
    seed: Option<u64>,
    runs: Option<Spanned<u32>>,
    from: Option<Spanned<String>>,
    #[serde(rename = "for")]
    length: Option<Spanned<String>>,
    after: Option<Spanned<String>>,
    #[serde(default)]
    compare: Compare,
    skip_unread: Option<Spanned<bool>>,
    #[serde(default, rename = "fault")]
    faults: Vec<Spanned<RawFault>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RawPace {
    Fast,
    #[default]
    Timed,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RawMemoryModel {
    #[default]
    Sequential,
    Weak,
}

/// How consoles are compared with those of the run without a fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compare {
    /// Without their figures, which tell times.
    #[default]
    Text,
    /// Byte by byte.
    Exact,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFault {
    memory: Option<RawMemory>,
    registers: Option<RawRegisters>,
    crash: Option<OfVm>,
    hostile: Option<RawHostile>,
    line: Option<RawLine>,
    stall: Option<Stall>,
    fabric: Option<FabricFault>,
    drift: Option<Drift>,
    tag: Option<Tag>,
    power: Option<RawPower>,
    femtoseconds: Option<u64>,
    affects: Option<Vec<String>>,
    weight: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawMemory {
    vm: String,
    among: Option<Among>,
    at: Option<u64>,
    size: Option<String>,
    bit: Option<u8>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRegisters {
    vm: String,
    among: Option<Among>,
    hart: Option<usize>,
    register: Option<String>,
    bit: Option<u8>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OfVm {
    vm: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawHostile {
    vm: String,
    attack: Option<String>,
    seed: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLine {
    number: u32,
    level: Level,
    lasts: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPower {
    off: String,
    seed: Option<u64>,
    #[serde(default)]
    keeps: Vec<Keep>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Level {
    High,
    Low,
}

/// Of which bytes of a VM's memory one changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Among {
    /// Of lines of 64 bytes that are not all zero when the window begins.
    #[default]
    Used,
    /// Of all.
    All,
    /// Of those that are read later, and not written before: bytes and times.
    Live,
}

/// A hart that does nothing for a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stall {
    /// The hart.
    pub hart: usize,
    /// Cycles of that.
    pub cycles: u32,
}

/// The fabric's clock drifts from that of the harts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drift {
    /// Its period is longer by so many millionths.
    pub ppm: i32,
}

/// A bit of a tag of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tag {
    /// The cache.
    pub cache: Cache,
    /// The hart whose cache it is; none for the L2 cache.
    pub hart: Option<usize>,
    /// This place.
    pub place: Option<usize>,
    /// This bit of the line's physical address.
    pub bit: Option<u32>,
}

/// The supply fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Power {
    /// How long there is none.
    pub off: Nanoseconds,
    /// What torn flash and lost memory are drawn from; `None`: drawn, too.
    pub seed: Option<u64>,
    /// What must have been kept.
    pub keeps: Vec<Keep>,
}

/// What a VM must have kept when power was lost: as much of a figure as it had confirmed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keep {
    /// The VM.
    pub vm: String,
    /// The figure by which it confirms to others how much is kept.
    pub confirmed: String,
    /// The figure by which it says, when it has booted again, how much it has found.
    pub found: String,
}

/// What goes wrong between software and the fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FabricFault {
    /// The next answer to software is an error.
    GpError,
    /// The next answer to the fabric at its coherent port is an error.
    AcpError,
    /// The next answer to the fabric at its other port to memory is an error.
    HpError,
    /// Nothing gets through between software and the fabric any more.
    GpHang,
    /// Nothing gets through at the fabric's coherent port any more.
    AcpHang,
    /// Nothing gets through at the fabric's other port to memory any more.
    HpHang,
    /// The next event of software is lost.
    EventLost,
    /// An event comes that nothing has raised.
    EventExtra,
}

impl FabricFault {
    /// Its name in a campaign's file.
    pub fn name(self) -> String {
        let name = serde_json::to_value(self).ok();
        name.and_then(|name| name.as_str().map(str::to_owned))
            .unwrap_or_default()
    }
}

/// What goes wrong in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A bit of a VM's memory changes.
    Memory {
        /// The VM.
        vm: String,
        /// Which bytes.
        among: Among,
        /// Only of these addresses, as the VM has them: the first, and how many.
        range: Option<(u64, u64)>,
        /// This bit of a byte.
        bit: Option<u8>,
    },
    /// A bit of an integer or floating-point register, or of the program counter, of a hart that a VM has.
    Registers {
        /// The VM.
        vm: String,
        /// This register.
        register: Option<Register>,
        /// This bit.
        bit: Option<u8>,
        /// This hart.
        hart: Option<usize>,
        /// Whether it is one of which something is read later.
        is_live: bool,
    },
    /// A hart that a VM has goes on at address 0.
    Crash {
        /// The VM.
        vm: String,
    },
    /// A VM turns hostile: a hart that it has goes on in the guest of `tactus attack`.
    Hostile {
        /// The VM.
        vm: String,
        /// What it does; `None`: drawn of those that it has the rights for.
        attack: Option<&'static Attack>,
        /// What its random numbers are made of; `None`: drawn, too.
        seed: Option<u64>,
    },
    /// An interrupt line is held at a level.
    Line {
        /// The line.
        number: u32,
        /// Whether it is high.
        high: bool,
        /// How long; `None`: to the end.
        lasts: Option<Nanoseconds>,
    },
    /// A hart does nothing for a time.
    Stall(Stall),
    /// The fabric fails.
    Fabric(FabricFault),
    /// The fabric's clock drifts.
    Drift(Drift),
    /// A bit of a cache's tag changes.
    Tag(Tag),
    /// The supply fails.
    Power(Power),
}

impl Kind {
    /// Whether it is drawn among what is read later.
    pub const fn is_live(&self) -> bool {
        matches!(
            self,
            Self::Memory {
                among: Among::Live,
                ..
            } | Self::Registers { is_live: true, .. }
        )
    }
}

impl Kind {
    /// The VM that it strikes, where it is one.
    pub fn vm(&self) -> Option<&str> {
        match self {
            Self::Memory { vm, .. }
            | Self::Registers { vm, .. }
            | Self::Crash { vm }
            | Self::Hostile { vm, .. } => Some(vm),
            _ => None,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory { vm, .. } => write!(f, "memory of {vm}"),
            Self::Registers { vm, .. } => write!(f, "registers of {vm}"),
            Self::Crash { vm } => write!(f, "crash of {vm}"),
            Self::Hostile {
                vm, attack: None, ..
            } => write!(f, "takeover of {vm}"),
            Self::Hostile {
                vm,
                attack: Some(attack),
                ..
            } => write!(f, "takeover of {vm} by {}", attack.name),
            Self::Line { number, high, .. } => {
                write!(f, "line {number} {}", if *high { "high" } else { "low" })
            }
            Self::Stall(stall) => write!(f, "stall of hart {}", stall.hart),
            Self::Drift(Drift { ppm }) => write!(f, "fabric: clock drifts {ppm} ppm"),
            Self::Power(Power { off, .. }) => write!(f, "no power for {off}"),
            Self::Tag(Tag { cache, hart, .. }) => {
                let hart = hart.map(|hart| format!(" of hart {hart}"));
                write!(
                    f,
                    "tags of {}{}",
                    cache_name(*cache),
                    hart.unwrap_or_default()
                )
            }
            Self::Fabric(fault) => f.write_str(match fault {
                FabricFault::GpError => "fabric: error at GP",
                FabricFault::AcpError => "fabric: error at ACP",
                FabricFault::HpError => "fabric: error at HP",
                FabricFault::GpHang => "fabric: GP hangs",
                FabricFault::AcpHang => "fabric: ACP hangs",
                FabricFault::HpHang => "fabric: HP hangs",
                FabricFault::EventLost => "fabric: event lost",
                FabricFault::EventExtra => "fabric: event extra",
            }),
        }
    }
}

/// A kind of fault, and how often it is chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What goes wrong.
    pub kind: Kind,
    /// The VMs that it may change.
    pub affects: Vec<String>,
    /// Its share among the kinds.
    pub weight: u32,
    /// When, since reset; without, at any time within the window.
    pub at: Option<Femtoseconds>,
    /// Where the campaign's file describes it.
    pub span: Range<usize>,
}

impl Fault {
    /// The error that refuses it, at its place in the campaign's file: why, and what to do about it.
    pub fn invalid(&self, campaign: &Campaign, [message, help]: [String; 2]) -> Invalid {
        campaign.reader.at(&self.span, message, help)
    }
}

/// What the window of faults begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begin {
    /// A virtual time since reset.
    Time(Nanoseconds),
    /// A guest says that this phase begins.
    Phase(String),
}

/// A campaign.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// The text of its file.
    pub text: String,
    /// What refuses parts of it.
    pub reader: Reader,
    /// The system.
    pub system: Base,
    /// What time passes in the window and after it.
    pub pace: Pace,
    /// How harts see each other's loads and stores.
    pub memory_model: MemoryModel,
    /// Cycles that a hart runs before another one.
    pub quantum: Option<u64>,
    /// What everything random is made of.
    pub seed: u64,
    /// Runs, each with one fault.
    pub runs: u32,
    /// When faults begin.
    pub from: Begin,
    /// How long they may happen.
    pub length: Nanoseconds,
    /// How long each run goes on behind that.
    pub after: Nanoseconds,
    /// How consoles are compared.
    pub compare: Compare,
    /// Whether faults in what nothing reads are judged without a run.
    pub skip_unread: bool,
    /// The kinds of faults.
    pub faults: Vec<Fault>,
}

impl Campaign {
    /// Reads the file of a campaign.
    ///
    /// # Errors
    /// It cannot be read or is not in order.
    pub fn read(path: &Path) -> miette::Result<Self> {
        let text = text(path, "a campaign of faults")?;
        let directory = path.parent().unwrap_or(Path::new(""));
        Ok(Self::parse(&path.to_string_lossy(), text, directory, None)?)
    }

    /// Reads a campaign from its text, which messages call `name`. Paths in it are relative to `directory`. `system`:
    /// that in place of the one that the text names.
    ///
    /// # Errors
    /// It is not in order, or its system cannot be read.
    pub fn parse(
        name: &str,
        text: String,
        directory: &Path,
        system: Option<Base>,
    ) -> Result<Self, Invalid> {
        let reader = Reader::new(Source::new(name, text.clone()));
        let file: File = toml::from_str(&text)
            .map_err(|error| reader.at(&error.span().unwrap_or(0..0), error.message(), HELP))?;
        let whole = 0..0;
        let system = match (system, &file.system) {
            (Some(system), _) => system,
            (None, Some(path)) => base(&reader, path, directory)?,
            (None, None) => {
                let help = "say `system = \"my.toml\"`, relative to this file";
                return Err(reader.at(&whole, "the campaign has no `system`", help));
            }
        };
        let runs = file.runs.as_ref().map_or(RUNS, |given| *given.get_ref());
        if !(1..=RUNS_MAX).contains(&runs) {
            let span = file.runs.as_ref().map_or(whole, Spanned::span);
            let message = format!("`runs` is 1 to {RUNS_MAX}");
            return Err(reader.at(&span, message, "each run has one fault"));
        }
        if let Some(quantum) = &file.quantum
            && !(1..=1_000_000).contains(quantum.get_ref())
        {
            let help = "leave it out for the board's own";
            return Err(reader.at(&quantum.span(), "`quantum` is 1 to 1,000,000 cycles", help));
        }
        let from = begin(&reader, file.from.as_ref())?;
        let length = file.length.as_ref().ok_or_else(|| {
            let help = "say `for = \"20ms\"`: faults happen within so long";
            reader.at(&whole, "the campaign has no `for`", help)
        })?;
        let length_given = time(&reader, length, "for")?;
        if length_given.0 == 0 {
            let help = "say how long faults may happen";
            return Err(reader.at(&length.span(), "`for` is not 0", help));
        }
        let after = file
            .after
            .as_ref()
            .map(|given| time(&reader, given, "after"));
        let faults: Result<Vec<Fault>, Invalid> = file
            .faults
            .iter()
            .map(|raw| fault(&reader, raw.get_ref(), &raw.span(), file.pace))
            .collect();
        let faults = faults?;
        let can_follow =
            file.pace == RawPace::Timed && matches!(file.memory_model, RawMemoryModel::Sequential);
        if !can_follow {
            let mut raws = file.faults.iter().zip(&faults);
            let live = raws.find_map(|(raw, fault)| fault.kind.is_live().then(|| raw.span()));
            let skip = file.skip_unread.as_ref().filter(|skip| *skip.get_ref());
            for (span, key) in [
                (live, "among = \"live\""),
                (skip.map(Spanned::span), "skip_unread"),
            ] {
                if let Some(span) = span {
                    let message = format!("`{key}` needs a run in which all reads are followed");
                    return Err(reader.at(&span, message, FOLLOWED));
                }
            }
        }
        let after = after.transpose()?.unwrap_or(AFTER);
        let lasts = faults.iter().zip(&file.faults).find(
            |(fault, _)| matches!(&fault.kind, Kind::Power(Power { off, .. }) if *off >= after),
        );
        if let Some((_, raw)) = lasts {
            let help = "say a longer `after`: within it there is power again, and the system boots";
            return Err(reader.at(&raw.span(), "`off` is not shorter than `after`", help));
        }
        if faults.is_empty() {
            let help = "add a `[[fault]]`, such as one with `memory = { vm = \"linux\" }`";
            return Err(reader.at(&whole, "the campaign has no faults", help));
        }
        Ok(Self {
            text,
            reader,
            system,
            pace: match file.pace {
                RawPace::Fast => Pace::Fast,
                RawPace::Timed => Pace::Timed,
            },
            memory_model: match file.memory_model {
                RawMemoryModel::Sequential => MemoryModel::Sequential,
                RawMemoryModel::Weak => MemoryModel::Weak,
            },
            quantum: file.quantum.map(Spanned::into_inner),
            seed: file.seed.unwrap_or(SEED),
            runs,
            from,
            length: length_given,
            after,
            compare: file.compare,
            skip_unread: file.skip_unread.is_some_and(Spanned::into_inner),
            faults,
        })
    }
}

fn begin(reader: &Reader, given: Option<&Spanned<String>>) -> Result<Begin, Invalid> {
    let Some(given) = given else {
        let help = "say `from = \"10ms\"` or `from = \"phase:NAME\"`: faults begin then";
        return Err(reader.at(&(0..0), "the campaign has no `from`", help));
    };
    match given.get_ref().strip_prefix("phase:") {
        Some(phase) if !phase.is_empty() => Ok(Begin::Phase(phase.to_owned())),
        _ => Ok(Begin::Time(time(reader, given, "from")?)),
    }
}

fn time(reader: &Reader, given: &Spanned<String>, key: &str) -> Result<Nanoseconds, Invalid> {
    let time = Nanoseconds::from_text(given.get_ref()).filter(|time| *time <= TIME_MAX);
    time.ok_or_else(|| {
        let message = format!("`{key}` is a time such as \"20ms\", 60 s at most");
        reader.at(&given.span(), message, "correct it")
    })
}

fn fault(
    reader: &Reader,
    raw: &RawFault,
    span: &Range<usize>,
    pace: RawPace,
) -> Result<Fault, Invalid> {
    let lasts = |line: &RawLine| match &line.lasts {
        None => Ok(None),
        Some(text) => Nanoseconds::from_text(text).map(Some).ok_or_else(|| {
            let message = "`lasts` is a time such as \"1ms\"";
            reader.at(
                span,
                message,
                "leave it out for a line that is held to the end",
            )
        }),
    };
    let mut kinds = Vec::new();
    if let Some(memory) = &raw.memory {
        kinds.push(of_memory(reader, memory, span)?);
    }
    if let Some(registers) = &raw.registers {
        kinds.push(of_registers(reader, registers, span)?);
    }
    kinds.extend(
        raw.crash
            .as_ref()
            .map(|OfVm { vm }| Kind::Crash { vm: vm.clone() }),
    );
    if let Some(hostile) = &raw.hostile {
        kinds.push(of_hostile(reader, hostile, span)?);
    }
    if let Some(line) = &raw.line {
        kinds.push(Kind::Line {
            number: line.number,
            high: matches!(line.level, Level::High),
            lasts: lasts(line)?,
        });
    }
    kinds.extend(raw.stall.map(Kind::Stall));
    kinds.extend(raw.fabric.map(Kind::Fabric));
    kinds.extend(raw.drift.map(Kind::Drift));
    if let Some(tag) = raw.tag {
        if (tag.cache == Cache::Level2) == tag.hart.is_some() {
            let message = "a `tag` of `data` or `code` is a hart's, one of `level2` none's";
            return Err(reader.at(span, message, "say `hart = 0`, or leave it out"));
        }
        if pace == RawPace::Fast {
            let help = "leave `pace` out: in fast mode no cache is modelled";
            return Err(reader.at(span, "a `tag` needs `pace = \"timed\"`", help));
        }
        kinds.push(Kind::Tag(tag));
    }
    if let Some(power) = &raw.power {
        kinds.push(of_power(reader, power, span, pace)?);
    }
    let Ok([kind]) = <[Kind; 1]>::try_from(kinds) else {
        let message = "a fault is one of `memory`, `registers`, `crash`, `hostile`, `line`, `stall`, `fabric`, `drift`, `tag` and `power`";
        return Err(reader.at(span, message, HELP));
    };
    let own = match &kind {
        // All boot again, and as ever.
        Kind::Power(_) => Some(Vec::new()),
        kind => kind.vm().map(|vm| vec![vm.to_owned()]),
    };
    let Some(affects) = raw.affects.clone().or(own) else {
        let message = format!("`{kind}` does not say whom it may change");
        let help = "name the VMs that may fail of it: `affects = [\"linux\"]`; of others it must change nothing";
        return Err(reader.at(span, message, help));
    };
    if kind.is_live() && raw.femtoseconds.is_some() {
        let message = "`femtoseconds` names the time that `among = \"live\"` draws";
        return Err(reader.at(span, message, "leave one of them out"));
    }
    let weight = raw.weight.unwrap_or(1);
    if weight == 0 || weight > 1000 {
        let help = "leave it out for 1";
        return Err(reader.at(span, "`weight` is 1 to 1000", help));
    }
    Ok(Fault {
        kind,
        affects,
        weight,
        at: raw.femtoseconds.map(Femtoseconds),
        span: span.clone(),
    })
}

fn of_hostile(reader: &Reader, raw: &RawHostile, span: &Range<usize>) -> Result<Kind, Invalid> {
    let attack = raw.attack.as_deref().map(|name| {
        find(name).ok_or_else(|| {
            let help = cure_of_unknown(name, &ATTACKS.map(|attack| attack.name));
            reader.at(span, format!("there is no attack `{name}`"), help)
        })
    });
    Ok(Kind::Hostile {
        vm: raw.vm.clone(),
        attack: attack.transpose()?,
        seed: raw.seed,
    })
}

fn of_memory(reader: &Reader, raw: &RawMemory, span: &Range<usize>) -> Result<Kind, Invalid> {
    let RawMemory {
        vm,
        among,
        at,
        size,
        bit,
    } = raw;
    let size = match size {
        None => at.map(|_| 1),
        Some(text) => {
            let size = Size::from_text(text).filter(|size| size.0 > 0);
            let size = size.ok_or_else(|| {
                reader.at(
                    span,
                    "`size` is one such as \"4KiB\"",
                    "leave it out for one byte",
                )
            })?;
            Some(size.0)
        }
    };
    let range = match (at, size) {
        (None, Some(_)) => {
            let help = "say `at = 0x8020_0000`: the first address, as the VM has it";
            return Err(reader.at(span, "`size` without `at` is of no place", help));
        }
        (at, size) => at.zip(size),
    };
    if bit.is_some_and(|bit| bit > 7) {
        return Err(reader.at(span, "`bit` of a byte is 0 to 7", "leave it out for any"));
    }
    Ok(Kind::Memory {
        vm: vm.clone(),
        // Of addresses that are named, all.
        among: among.unwrap_or(if range.is_some() {
            Among::All
        } else {
            Among::Used
        }),
        range,
        bit: *bit,
    })
}

fn of_registers(reader: &Reader, raw: &RawRegisters, span: &Range<usize>) -> Result<Kind, Invalid> {
    let RawRegisters {
        vm,
        among,
        hart,
        register,
        bit,
    } = raw;
    let register = register.as_deref().map(|name| {
        register_named(name).ok_or_else(|| {
            let help = "leave it out for any";
            reader.at(
                span,
                "`register` is \"pc\", \"x1\" to \"x31\" or \"f0\" to \"f31\"",
                help,
            )
        })
    });
    let is_live = match among {
        None | Some(Among::All) => false,
        Some(Among::Live) => true,
        Some(Among::Used) => {
            let help = "leave it out for all, or say \"live\"";
            return Err(reader.at(span, "`among` of registers is \"all\" or \"live\"", help));
        }
    };
    let register = register.transpose()?;
    if is_live && register == Some(Register::Pc) {
        let help = "leave `among` out";
        return Err(reader.at(span, "the program counter is always live", help));
    }
    if bit.is_some_and(|bit| bit > 63) {
        return Err(reader.at(
            span,
            "`bit` of a register is 0 to 63",
            "leave it out for any",
        ));
    }
    Ok(Kind::Registers {
        vm: vm.clone(),
        register,
        bit: *bit,
        hart: *hart,
        is_live,
    })
}

fn of_power(
    reader: &Reader,
    raw: &RawPower,
    span: &Range<usize>,
    pace: RawPace,
) -> Result<Kind, Invalid> {
    let off = Nanoseconds::from_text(&raw.off).filter(|off| OFF.contains(off));
    let off = off.ok_or_else(|| {
        let message = "`off` is a time from \"1us\" to \"60s\"";
        reader.at(span, message, "say for how long there is no power")
    })?;
    if pace == RawPace::Timed {
        let help = "say it: what is booted again is compared with the first boot, which is fast";
        return Err(reader.at(span, "a loss of `power` needs `pace = \"fast\"`", help));
    }
    Ok(Kind::Power(Power {
        off,
        seed: raw.seed,
        keeps: raw.keeps.clone(),
    }))
}

/// The name of a cache in a campaign's file.
pub const fn cache_name(cache: Cache) -> &'static str {
    match cache {
        Cache::Data => "data",
        Cache::Code => "code",
        Cache::Level2 => "level2",
    }
}

/// The name of a register: one of those that a campaign's file may name.
pub fn register_name(register: Register) -> String {
    match register {
        Register::Pc => "pc".to_owned(),
        Register::X(number) => format!("x{number}"),
        Register::F(number) => format!("f{number}"),
        Register::Csr(number) => format!("CSR {number:#x}"),
    }
}

/// The register that a name stands for: `pc`, `x1` to `x31`, `f0` to `f31`.
fn register_named(name: &str) -> Option<Register> {
    if name == "pc" {
        return Some(Register::Pc);
    }
    let (kind, number) = name.split_at_checked(1)?;
    let number: u8 = number.parse().ok().filter(|number| *number < 32)?;
    match kind {
        "x" if number > 0 => Some(Register::X(number)),
        "f" => Some(Register::F(number)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "system = \"a.toml\"\nfrom = \"phase:go\"\nfor = \"20ms\"\n[[fault]]\nmemory = { vm = \"a\" }\n";

    fn parsed(text: &str) -> Result<Campaign, String> {
        let system = Base::parse("a.toml".to_owned(), String::new(), Path::new("dir"));
        let system = Some(system?).filter(|_| text.contains("system"));
        Campaign::parse("f.toml", text.to_owned(), Path::new("dir"), system)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        let named = (0..32).map(Register::F).chain((1..32).map(Register::X));
        for register in named.chain([Register::Pc]) {
            assert_eq!(register_named(&register_name(register)), Some(register));
        }
        assert_eq!(register_named(&register_name(Register::Csr(0x300))), None);
        assert_eq!(FabricFault::EventLost.name(), "event_lost");
        for cache in [Cache::Data, Cache::Code, Cache::Level2] {
            let name = serde_json::to_value(cache).expect("a name");
            assert_eq!(name, cache_name(cache));
        }
        let text = GOOD.replace(
            "memory = { vm = \"a\" }",
            "fabric = \"hp_hang\"\naffects = []",
        );
        let campaign = parsed(&text).expect("it is in order");
        let Kind::Fabric(fault) = campaign.faults[0].kind else {
            panic!("{campaign:?}");
        };
        assert_eq!((fault, &*fault.name()), (FabricFault::HpHang, "hp_hang"));
    }

    #[test]
    fn a_file_is_read() {
        let campaign = parsed(GOOD).expect("it is in order");
        assert_eq!(campaign.system.name, "a.toml");
        assert_eq!((campaign.runs, campaign.seed), (RUNS, SEED));
        assert_eq!(campaign.from, Begin::Phase("go".to_owned()));
        assert_eq!(campaign.length, Nanoseconds(20_000_000));
        assert_eq!(campaign.after, AFTER);
        assert_eq!(campaign.faults[0].affects, ["a"]);
        let power = GOOD.replace("for =", "pace = \"fast\"\nfor =").replace(
            "memory = { vm = \"a\" }",
            "power = { off = \"2ms\", keeps = [{ vm = \"a\", confirmed = \"c\", found = \"f\" }] }",
        );
        let campaign = parsed(&power).expect("it is in order");
        let keep = Keep {
            vm: "a".to_owned(),
            confirmed: "c".to_owned(),
            found: "f".to_owned(),
        };
        let wanted = Kind::Power(Power {
            off: Nanoseconds(2_000_000),
            seed: None,
            keeps: vec![keep],
        });
        assert_eq!(campaign.faults[0].kind, wanted);
        assert!(campaign.faults[0].affects.is_empty());
        let of = |text: &str| {
            let campaign = parsed(&GOOD.replace("memory = { vm = \"a\" }", text));
            let fault = campaign.expect("it is in order").faults.remove(0);
            assert_eq!(fault.affects, ["a"]);
            (fault.kind.to_string(), fault.kind)
        };
        let hostile = |attack, seed| Kind::Hostile {
            vm: "a".to_owned(),
            attack,
            seed,
        };
        let any = of("hostile = { vm = \"a\" }");
        assert_eq!(any, ("takeover of a".to_owned(), hostile(None, None)));
        let ring = of("hostile = { vm = \"a\", attack = \"ring\", seed = 7 }");
        let wanted = hostile(find("ring"), Some(7));
        assert_eq!(ring, ("takeover of a by ring".to_owned(), wanted));
        let line = "[[fault]]\nline = { number = 3, level = \"high\", lasts = \"1ms\" }\naffects = []\nweight = 3\n";
        let campaign = parsed(&format!("{GOOD}{line}")).expect("it is in order");
        let wanted = Kind::Line {
            number: 3,
            high: true,
            lasts: Some(Nanoseconds(1_000_000)),
        };
        assert_eq!(campaign.faults[1].kind, wanted);
        assert_eq!(
            (campaign.faults[1].affects.len(), campaign.faults[1].weight),
            (0, 3)
        );
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (from, to, message) in [
            (
                "system = \"a.toml\"\n",
                "",
                "line 1: the campaign has no `system`",
            ),
            (
                "from = \"phase:go\"\n",
                "",
                "line 1: the campaign has no `from`",
            ),
            ("for = \"20ms\"\n", "", "line 1: the campaign has no `for`"),
            ("\"20ms\"", "\"0ms\"", "line 3: `for` is not 0"),
            (
                "\"20ms\"",
                "\"soon\"",
                "line 3: `for` is a time such as \"20ms\", 60 s at most",
            ),
            (
                "phase:go",
                "phase:",
                "line 2: `from` is a time such as \"20ms\", 60 s at most",
            ),
            (
                "for =",
                "runs = 0\nfor =",
                "line 3: `runs` is 1 to 10000000",
            ),
            (
                "for =",
                "quantum = 0\nfor =",
                "line 3: `quantum` is 1 to 1,000,000 cycles",
            ),
            (
                "memory = { vm = \"a\" }",
                "weight = 1",
                "line 4: a fault is one of `memory`, `registers`, `crash`, `hostile`, `line`, `stall`, `fabric`, `drift`, `tag` and `power`",
            ),
            (
                "memory = { vm = \"a\" }",
                "hostile = { vm = \"a\", attack = \"rings\" }",
                "line 4: there is no attack `rings`",
            ),
            (
                "memory = { vm = \"a\" }",
                "hostile = { vm = \"a\" }\ncrash = { vm = \"a\" }",
                "line 4: a fault is one of `memory`, `registers`, `crash`, `hostile`, `line`, `stall`, `fabric`, `drift`, `tag` and `power`",
            ),
            (
                "memory = { vm = \"a\" }",
                "power = { off = \"2ms\" }",
                "line 4: a loss of `power` needs `pace = \"fast\"`",
            ),
            (
                "memory = { vm = \"a\" }",
                "power = { off = \"1ns\" }",
                "line 4: `off` is a time from \"1us\" to \"60s\"",
            ),
            (
                "for = \"20ms\"\n[[fault]]\nmemory = { vm = \"a\" }",
                "pace = \"fast\"\nfor = \"20ms\"\n[[fault]]\npower = { off = \"10ms\" }",
                "line 5: `off` is not shorter than `after`",
            ),
            (
                "memory = { vm = \"a\" }",
                "tag = { cache = \"code\" }",
                "line 4: a `tag` of `data` or `code` is a hart's, one of `level2` none's",
            ),
            (
                "for = \"20ms\"\n[[fault]]\nmemory = { vm = \"a\" }",
                "pace = \"fast\"\nfor = \"20ms\"\n[[fault]]\ntag = { cache = \"level2\" }",
                "line 5: a `tag` needs `pace = \"timed\"`",
            ),
            (
                "memory = { vm = \"a\" }",
                "drift = { ppm = 100 }",
                "line 4: `fabric: clock drifts 100 ppm` does not say whom it may change",
            ),
            (
                "memory = { vm = \"a\" }",
                "fabric = \"event_lost\"",
                "line 4: `fabric: event lost` does not say whom it may change",
            ),
            (
                "memory =",
                "weight = 0\nmemory =",
                "line 4: `weight` is 1 to 1000",
            ),
            (
                "\"a\" }",
                "\"a\", size = \"4KiB\" }",
                "line 4: `size` without `at` is of no place",
            ),
            (
                "\"a\" }",
                "\"a\", at = 0x100, size = \"0KiB\" }",
                "line 4: `size` is one such as \"4KiB\"",
            ),
            (
                "\"a\" }",
                "\"a\", bit = 8 }",
                "line 4: `bit` of a byte is 0 to 7",
            ),
            (
                "memory = { vm = \"a\" }",
                "registers = { vm = \"a\", bit = 64 }",
                "line 4: `bit` of a register is 0 to 63",
            ),
            (
                "for = \"20ms\"\n",
                "pace = \"fast\"\nfor = \"20ms\"\nskip_unread = true\n",
                "line 5: `skip_unread` needs a run in which all reads are followed",
            ),
            (
                "for = \"20ms\"\n[[fault]]\nmemory = { vm = \"a\" }",
                "memory_model = \"weak\"\nfor = \"20ms\"\n[[fault]]\nmemory = { vm = \"a\", among = \"live\" }",
                "line 5: `among = \"live\"` needs a run in which all reads are followed",
            ),
            (
                "memory = { vm = \"a\" }",
                "memory = { vm = \"a\", among = \"live\" }\nfemtoseconds = 1",
                "line 4: `femtoseconds` names the time that `among = \"live\"` draws",
            ),
            (
                "memory = { vm = \"a\" }",
                "registers = { vm = \"a\", among = \"used\" }",
                "line 4: `among` of registers is \"all\" or \"live\"",
            ),
            (
                "memory = { vm = \"a\" }",
                "registers = { vm = \"a\", among = \"live\", register = \"pc\" }",
                "line 4: the program counter is always live",
            ),
            (
                "memory = { vm = \"a\" }",
                "registers = { vm = \"a\", register = \"x0\" }",
                "line 4: `register` is \"pc\", \"x1\" to \"x31\" or \"f0\" to \"f31\"",
            ),
        ] {
            let text = GOOD.replace(from, to);
            assert_ne!(text, GOOD);
            assert_eq!(
                parsed(&text).err(),
                Some(format!("f.toml, {message}")),
                "{text}"
            );
        }
        let none = GOOD.split("[[fault]]").next().expect("it has a beginning");
        let message = parsed(none).err();
        assert_eq!(
            message.as_deref(),
            Some("f.toml, line 1: the campaign has no faults")
        );
        assert!(
            parsed(&format!("colour = 1\n{GOOD}"))
                .is_err_and(|error| error.contains("unknown field"))
        );
    }
}
