//! A bad run made smaller: its fault alone, at its time; without the VMs that it does not need; no longer than it
//! takes.
//!
//! Each step is tried on the board and kept where the run is still bad, so that what is left shows the same.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use miette::{IntoDiagnostic, WrapErr, miette};
use tactus_board::board::{MemoryModel, Pace};
use tactus_board::fault::Fault as BoardFault;
use tactus_board::time::Femtoseconds;
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, value};

use super::description::{
    Among, Begin, Campaign, Compare, Drift, Fault, Kind, Power, Stall, Tag, cache_name,
    register_name,
};
use super::judge::Verdict;
use super::run::{Row, Subject, Walker};
use super::space::{What, femtoseconds};
use crate::attack::run::Unfit;
use crate::config::Nanoseconds;
use crate::fewer_vms;
use crate::progress::Progress;

/// The shortest time behind the fault that is tried.
const AFTER_MIN: Nanoseconds = Nanoseconds(1_000);

/// A run that is as small as it became.
#[derive(Debug)]
pub struct Smaller {
    /// It alone: one run.
    pub campaign: Campaign,
    /// What it does.
    pub row: Row,
    /// The VMs that it does not need.
    pub without: Vec<String>,
    /// How many runs were tried.
    pub tried: usize,
}

/// Makes a bad run smaller.
///
/// # Errors
/// The system has errors; the run is not bad; or it is not when its fault is the only one.
pub fn minimise(campaign: Campaign, run: u32, progress: &Progress) -> Result<Smaller, Unfit> {
    let subject = Arc::new(Subject::of(campaign)?);
    let mut walker = started(&subject)?;
    let row = carried_out(&mut walker, run)?;
    if !row.verdict.is_bad() {
        return Err(Unfit::Other(miette!(
            help = "name one of those that the summary names",
            "run {run} is {}: there is nothing to show",
            row.verdict.words()
        )));
    }
    let mut trial = Trial {
        verdict: row.verdict,
        tried: 0,
        progress,
    };
    let alone = alone(&subject, &walker, run);
    drop(walker);
    let Some(mut row) = trial.of(&alone) else {
        return Err(Unfit::Other(miette!(
            "run {run} is not {} when its fault is the only one that the campaign has",
            trial.verdict.words()
        )));
    };
    let mut campaign = alone;
    let mut without = Vec::new();
    loop {
        let names = fewer_vms::vms(&campaign.system.document);
        let fewer = names.iter().find_map(|name| {
            let smaller = without_vm(&campaign, name)?;
            let row = trial.of(&smaller)?;
            Some((name.clone(), smaller, row))
        });
        let Some((name, smaller, smaller_row)) = fewer else {
            break;
        };
        without.push(name);
        (campaign, row) = (smaller, smaller_row);
    }
    // The shortest time behind the fault, to a hundredth: what happens until then is the same with each.
    let (mut short, mut long) = (AFTER_MIN.0.min(campaign.after.0), campaign.after.0);
    if let [
        Fault {
            kind: Kind::Power(_),
            ..
        },
    ] = &campaign.faults[..]
    {
        // In less time a system has not booted again, which is bad, too.
        short = long;
    }
    while long - short > long / 100 {
        let middle = short.midpoint(long);
        let mut smaller = campaign.clone();
        smaller.after = Nanoseconds(middle);
        match trial.of(&smaller) {
            Some(smaller_row) => {
                (campaign, row) = (smaller, smaller_row);
                long = middle;
            }
            None => short = middle,
        }
    }
    Ok(Smaller {
        campaign,
        row,
        without,
        tried: trial.tried,
    })
}

struct Trial<'p> {
    verdict: Verdict,
    tried: usize,
    progress: &'p Progress,
}

impl Trial<'_> {
    /// What the only run of a campaign does, if its verdict is the wanted one.
    fn of(&mut self, campaign: &Campaign) -> Option<Row> {
        self.tried += 1;
        let vms = fewer_vms::vms(&campaign.system.document).len();
        let ms = campaign.after.0 as f64 / 1e6;
        self.progress
            .status(format!("try {}: {vms} VMs, {ms:.3} ms", self.tried));
        // A system that has errors without a VM needs it.
        let subject = Arc::new(Subject::of(campaign.clone()).ok()?);
        let row = carried_out(&mut started(&subject).ok()?, 0).ok()?;
        (row.verdict == self.verdict).then_some(row)
    }
}

fn interrupted() -> miette::Report {
    miette!("it was interrupted")
}

fn started(subject: &Arc<Subject>) -> miette::Result<Walker> {
    subject
        .start(&AtomicBool::new(false))?
        .ok_or_else(interrupted)
}

fn carried_out(walker: &mut Walker, run: u32) -> miette::Result<Row> {
    let never = AtomicBool::new(false);
    let mut row = None;
    let done = walker.carry_out(&[run], &never, &mut |one| row = Some(one))?;
    done.ok().and(row).ok_or_else(interrupted)
}

/// The campaign of a run alone, whose fault is named and not drawn.
fn alone(subject: &Subject, walker: &Walker, run: u32) -> Campaign {
    let drawn = walker.space().draw(run);
    let at = walker.begin().saturating_add(drawn.at);
    let fault = walker.space().kind(drawn.kind);
    let kind = match (&fault.kind, drawn.what) {
        (Kind::Memory { vm, .. }, What::Memory { guest, bit, .. }) => Kind::Memory {
            vm: vm.clone(),
            among: Among::All,
            range: Some((guest, 1)),
            bit: Some(bit),
        },
        (
            Kind::Registers { vm, .. },
            What::Register {
                register,
                bit,
                hart,
                ..
            },
        ) => Kind::Registers {
            vm: vm.clone(),
            register: Some(register),
            bit,
            hart,
            is_live: false,
        },
        (Kind::Hostile { vm, .. }, What::Hostile { attack, seed, .. }) => Kind::Hostile {
            vm: vm.clone(),
            attack: Some(attack),
            seed: Some(seed),
        },
        (Kind::Tag(tag), What::Fault(BoardFault::Tag { place, bit, .. })) => Kind::Tag(Tag {
            place: Some(place),
            bit: Some(bit),
            ..*tag
        }),
        (Kind::Power(power), What::Fault(BoardFault::PowerLoss { seed, .. })) => {
            Kind::Power(Power {
                seed: Some(seed),
                ..power.clone()
            })
        }
        (kind, _) => kind.clone(),
    };
    let mut campaign = subject.campaign().clone();
    campaign.faults = vec![Fault {
        kind,
        affects: fault.affects.clone(),
        weight: 1,
        at: Some(at),
        span: fault.span.clone(),
    }];
    campaign.runs = 1;
    // The run ends when it did.
    let left = walker.end().0.saturating_sub(at.0);
    let per_nanosecond = femtoseconds(1).0;
    campaign.length = Nanoseconds(drawn.at.0 / per_nanosecond + 1);
    campaign.after = Nanoseconds(left / per_nanosecond);
    campaign
}

/// The campaign without a VM and all that names it; `None` if the fault is about it.
fn without_vm(campaign: &Campaign, name: &str) -> Option<Campaign> {
    let [fault] = &campaign.faults[..] else {
        return None;
    };
    if fault.kind.vm() == Some(name) {
        return None;
    }
    let mut smaller = campaign.clone();
    smaller.faults[0].affects.retain(|vm| vm != name);
    fewer_vms::remove_vm(&mut smaller.system.document, name);
    Some(smaller)
}

/// Writes the campaign's file, and its system's beside it. Gives the latter's path.
///
/// # Errors
/// One cannot be written, or the system has files by paths that would mean others there.
pub fn write(campaign: &Campaign, path: &Path) -> miette::Result<PathBuf> {
    let folder = |path: &Path| match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    let (from, to) = (campaign.system.directory.clone(), folder(path));
    let from = if from.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        from
    };
    let is_elsewhere = from.canonicalize().ok() != to.canonicalize().ok();
    if let Some(file) = relative_file(&campaign.system.document).filter(|_| is_elsewhere) {
        return Err(miette!(
            help = "let it be written there",
            "the system names {file} by a path from {}",
            from.display()
        ));
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = format!("{stem}-system.toml");
    let system = path.with_file_name(&name);
    let described = campaign.system.document.to_string();
    for (path, text) in [(&*system, described), (path, text(campaign, &name))] {
        std::fs::write(path, text)
            .into_diagnostic()
            .wrap_err_with(|| format!("{} cannot be written", path.display()))?;
    }
    Ok(system)
}

/// A file that a VM names by a relative path.
fn relative_file(document: &DocumentMut) -> Option<String> {
    let vms = document.get("vm").and_then(Item::as_array_of_tables)?;
    vms.iter().find_map(|vm| {
        vm.iter()
            .filter(|(key, _)| ["image", "initrd", "warm"].contains(key))
            .filter_map(|(_, item)| item.as_str())
            .find(|text| !text.starts_with('@') && Path::new(text).is_relative())
            .map(str::to_owned)
    })
}

/// The text of a campaign's file, which names its system's.
fn text(campaign: &Campaign, system: &str) -> String {
    let mut document = DocumentMut::new();
    let time = |time: Nanoseconds| value(format!("{}ns", time.0));
    document["system"] = value(system);
    document["from"] = match &campaign.from {
        Begin::Time(begin) => time(*begin),
        Begin::Phase(name) => value(format!("phase:{name}")),
    };
    document["for"] = time(campaign.length);
    document["after"] = time(campaign.after);
    document["runs"] = value(i64::from(campaign.runs));
    document["seed"] = value(campaign.seed.cast_signed());
    if campaign.pace == Pace::Fast {
        document["pace"] = value("fast");
    }
    if let Some(quantum) = campaign.quantum {
        document["quantum"] = value(quantum.cast_signed());
    }
    if campaign.memory_model == MemoryModel::Weak {
        document["memory_model"] = value("weak");
    }
    if campaign.compare == Compare::Exact {
        document["compare"] = value("exact");
    }
    if campaign.skip_unread {
        document["skip_unread"] = value(true);
    }
    let mut faults = ArrayOfTables::new();
    for fault in &campaign.faults {
        faults.push(of_fault(fault));
    }
    document["fault"] = Item::ArrayOfTables(faults);
    document.to_string()
}

fn of_fault(fault: &Fault) -> Table {
    let mut table = Table::new();
    let mut inner = InlineTable::new();
    let mut put = |key: &str, value: toml_edit::Value| {
        inner.insert(key, value);
    };
    let key = match &fault.kind {
        Kind::Memory {
            vm,
            among,
            range,
            bit,
        } => {
            put("vm", vm.into());
            if let Some((at, size)) = range {
                let hex = format!("{at:#x}").parse().ok();
                put("at", hex.unwrap_or_else(|| at.cast_signed().into()));
                put("size", format!("{size}B").into());
            }
            match (range, among) {
                (None, Among::All) => put("among", "all".into()),
                (Some(_), Among::Used) => put("among", "used".into()),
                (_, Among::Live) => put("among", "live".into()),
                _ => {}
            }
            if let Some(bit) = bit {
                put("bit", i64::from(*bit).into());
            }
            "memory"
        }
        Kind::Registers {
            vm,
            register,
            bit,
            hart,
            is_live,
        } => {
            put("vm", vm.into());
            if *is_live {
                put("among", "live".into());
            }
            if let Some(hart) = hart {
                put("hart", (*hart as i64).into());
            }
            if let Some(register) = register {
                put("register", register_name(*register).into());
            }
            if let Some(bit) = bit {
                put("bit", i64::from(*bit).into());
            }
            "registers"
        }
        Kind::Crash { vm } => {
            put("vm", vm.into());
            "crash"
        }
        Kind::Hostile { vm, attack, seed } => {
            put("vm", vm.into());
            if let Some(attack) = attack {
                put("attack", attack.name.into());
            }
            if let Some(seed) = seed {
                put("seed", seed.cast_signed().into());
            }
            "hostile"
        }
        Kind::Line {
            number,
            high,
            lasts,
        } => {
            put("number", i64::from(*number).into());
            put("level", if *high { "high" } else { "low" }.into());
            if let Some(lasts) = lasts {
                put("lasts", format!("{}ns", lasts.0).into());
            }
            "line"
        }
        Kind::Stall(Stall { hart, cycles }) => {
            put("hart", (*hart as i64).into());
            put("cycles", i64::from(*cycles).into());
            "stall"
        }
        Kind::Drift(Drift { ppm }) => {
            put("ppm", i64::from(*ppm).into());
            "drift"
        }
        Kind::Tag(Tag {
            cache,
            hart,
            place,
            bit,
        }) => {
            put("cache", cache_name(*cache).into());
            if let Some(hart) = hart {
                put("hart", (*hart as i64).into());
            }
            if let Some(place) = place {
                put("place", (*place as i64).into());
            }
            if let Some(bit) = bit {
                put("bit", i64::from(*bit).into());
            }
            "tag"
        }
        Kind::Power(Power { off, seed, keeps }) => {
            put("off", format!("{}ns", off.0).into());
            if let Some(seed) = seed {
                let hex = format!("{seed:#x}").parse().ok();
                put("seed", hex.unwrap_or_else(|| seed.cast_signed().into()));
            }
            let keeps = keeps.iter().map(|keep| {
                let mut one = InlineTable::new();
                one.insert("vm", keep.vm.as_str().into());
                one.insert("confirmed", keep.confirmed.as_str().into());
                one.insert("found", keep.found.as_str().into());
                one
            });
            put("keeps", keeps.collect::<Array>().into());
            "power"
        }
        Kind::Fabric(what) => {
            table["fabric"] = value(what.name());
            ""
        }
    };
    if !key.is_empty() {
        table[key] = value(inner);
    }
    if let Some(Femtoseconds(at)) = fault.at {
        table["femtoseconds"] = value(at.cast_signed());
    }
    table["affects"] = value(fault.affects.iter().collect::<Array>());
    if fault.weight != 1 {
        table["weight"] = value(i64::from(fault.weight));
    }
    table
}
