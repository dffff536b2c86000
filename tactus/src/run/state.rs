//! What became of each VM, and who had the harts: from the hypervisor's records, and from what the board knows by
//! itself where these do not say it.
//!
//! The hypervisor reports a VM's time when it goes off, and everyone's when the last one does. A run that ends before
//! has no complete account from it, and a VM that never leaves its hart may keep the hypervisor from reporting that it
//! started. The board counts every cycle of every hart itself.

use std::fmt;

use super::board::{Facts, Worker};
use super::journal::{Journal, VmJournal};
use super::record::{Consumer, OffReason};

/// What a VM does, or how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The hypervisor has not come to it.
    NotStarted,
    /// The hypervisor fills its memory.
    Loading,
    /// It has been started. On the board: one of its vCPUs has a hart.
    Running,
    /// It has been started and none of its vCPUs has a hart: they wait for an event, or for a hart. Known on the board
    /// alone.
    Waiting,
    /// It went off as it asked for.
    ShutDown,
    /// It went off and said that it failed.
    Failed {
        /// The code it gave.
        code: u64,
    },
    /// It is off after a fault.
    Faulted,
    /// The hypervisor refused to start it.
    Refused,
    /// The VM that manages it has stopped it.
    Stopped,
    /// The VM that manages it loads another image into it.
    Held,
}

impl State {
    /// Its name for programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotStarted => "not_started",
            Self::Loading => "loading",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::ShutDown => "shut_down",
            Self::Failed { .. } => "failed",
            Self::Faulted => "faulted",
            Self::Refused => "refused",
            Self::Stopped => "stopped",
            Self::Held => "held",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStarted => f.write_str("not started"),
            Self::Loading => f.write_str("loading"),
            Self::Running => f.write_str("running"),
            Self::Waiting => f.write_str("waiting"),
            Self::ShutDown => f.write_str("shut down"),
            Self::Failed { code } => write!(f, "failed (code {code})"),
            Self::Faulted => f.write_str("stopped by a fault"),
            Self::Refused => f.write_str("not started: refused"),
            Self::Stopped => f.write_str("stopped by its manager"),
            Self::Held => f.write_str("held for another image"),
        }
    }
}

/// What the board saw of a VM at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It never had a hart.
    Never,
    /// It has had one, and has none now.
    Before,
    /// It has one.
    Now,
}

impl VmJournal {
    /// Its state when the run ended.
    pub fn state(&self) -> State {
        if let Some(off) = self.off {
            return match off.reason {
                OffReason::Shutdown => State::ShutDown,
                OffReason::Fail => State::Failed { code: off.code },
                OffReason::Fault => State::Faulted,
                OffReason::Refused => State::Refused,
                OffReason::Stopped => State::Stopped,
                OffReason::Held => State::Held,
            };
        }
        match (self.presence, self.started) {
            (Some(Presence::Now), _) => State::Running,
            (Some(Presence::Before), _) => State::Waiting,
            (None, Some(_)) => State::Running,
            (_, Some(_)) => State::Waiting,
            (_, None) if self.may_load => State::Loading,
            (_, None) => State::NotStarted,
        }
    }
}

/// Completes what the records say of a run that has ended.
pub(super) fn settle(journal: &mut Journal, board: Option<&Facts>) {
    // Only the board shows whether a vCPU keeps the hypervisor from loading a VM.
    let Some(facts) = board else { return };
    // A vCPU that never leaves its hart may keep the hypervisor from saying a word.
    let runs = (0..journal.vms.len()).any(|vm| cycles_of(facts, vm) > 0);
    let booted = (journal.version.is_some() || runs) && journal.failure.is_none();
    let held: Option<Vec<(usize, usize)>> = facts
        .harts
        .iter()
        .enumerate()
        .map(|(index, hart)| match hart.holder {
            Worker::Vm(vm) => Some((index, vm)),
            _ => None,
        })
        .collect();
    let mut remarks = Vec::new();
    for index in 0..journal.vms.len() {
        let has_now = facts
            .harts
            .iter()
            .any(|hart| hart.holder == Worker::Vm(index));
        let has_had = cycles_of(facts, index) > 0;
        let vm = &mut journal.vms[index];
        vm.presence = Some(match (has_now, has_had) {
            (true, _) => Presence::Now,
            (false, true) => Presence::Before,
            (false, false) => Presence::Never,
        });
        let starts = vm.started.is_none() && vm.off.is_none() && !has_had;
        vm.may_load = starts && booted && held.is_none();
        if let (true, true, Some(held)) = (starts, booted, &held) {
            remarks.push((index, held.clone()));
        }
    }
    for (index, held) in remarks {
        let holders: Vec<String> = held
            .iter()
            .map(|(hart, vm)| format!("hart {hart} is held by VM \"{}\"", journal.vms[*vm].name))
            .collect();
        let name = &journal.vms[index].name;
        journal.note(format!(
            "VM \"{name}\" has not started: {}",
            holders.join(", ")
        ));
    }
    if booted && journal.ended.is_none() {
        account(journal, facts);
    }
}

fn cycles_of(facts: &Facts, vm: usize) -> u64 {
    let work = facts.harts.iter().flat_map(|hart| &hart.work);
    work.filter(|(worker, _)| *worker == Worker::Vm(vm))
        .map(|(_, work)| work.cycles)
        .sum()
}

/// Puts the board's account of all cycles since reset in the place of what the hypervisor has reported so far.
fn account(journal: &mut Journal, facts: &Facts) {
    let timebase_hz = journal.timebase_hz;
    let ticks = |cycles: u64| {
        let ticks = u128::from(cycles) * u128::from(timebase_hz) / u128::from(facts.clock_hz);
        u64::try_from(ticks).unwrap_or(u64::MAX)
    };
    journal.usage.clear();
    let mut end = 0;
    for (index, hart) in facts.harts.iter().enumerate() {
        end = end.max(ticks(hart.cycles));
        for (worker, work) in &hart.work {
            let consumer = match worker {
                Worker::Vm(vm) => Consumer::Vm(journal.vms[*vm].name.clone()),
                Worker::Hypervisor => Consumer::Hypervisor,
                Worker::Firmware => Consumer::Firmware,
                Worker::Idle => Consumer::Idle,
                Worker::UnknownVm(_) | Worker::User => continue,
            };
            let had = ticks(work.cycles);
            journal.usage.insert((index as u64, consumer), had);
        }
    }
    journal.usage_since = Some(0);
    journal.usage_time = end;
}
