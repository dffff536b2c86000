//! What a run shows: each victim's jobs beside their bounds, and what must not be.

use serde_json::{Value, json};

use crate::check::{Answer, Guarantee};
use crate::run::board::jobs::Summary;
use crate::run::journal::VmJournal;
use crate::run::machine::End;
use crate::run::record::OffReason;
use crate::run::session::{Ending, Outcome};

/// A real-time vCPU that is watched.
#[derive(Clone, Debug)]
pub struct Watched {
    /// VM and number: "loop.0".
    pub name: String,
    /// Its VM, by its index in the system.
    pub vm: usize,
    /// Cycles from a release to the next.
    pub period: u64,
    /// Cycles from a release to the deadline.
    pub deadline: u64,
    /// Cycles of its budget.
    pub budget: u64,
    /// Its VM has a channel with the hostile one, and may wait for it.
    pub linked: bool,
    /// Cycles within which a job has had its budget; `None`: `tactus check` states no bound.
    pub bound: Option<u64>,
}

/// The bound of a vCPU, in ticks, that a guarantee states.
pub fn bound(guarantee: &Guarantee, name: &str) -> Option<u64> {
    match guarantee.vcpu(name)?.answer {
        Answer::Within(ticks) => Some(ticks),
        _ => None,
    }
}

/// Something that must not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// A name for programs.
    pub kind: &'static str,
    /// Whom it concerns: a vCPU, a VM, or the hypervisor.
    pub whom: String,
    /// What, in words.
    pub text: String,
}

impl Finding {
    /// For programs.
    pub fn to_json(&self) -> Value {
        json!({"kind": self.kind, "of": self.whom, "text": self.text})
    }
}

/// The system without an attack.
#[derive(Clone, Copy, Debug)]
pub struct Alone<'a> {
    /// All of the run.
    pub outcome: &'a Outcome,
    /// The jobs of each vCPU that was watched.
    pub jobs: &'a [(Watched, Summary)],
}

/// What a run must not show. `alone`: the same system without an attack; `None`: this is it. `time` makes a text of
/// cycles.
pub fn findings(
    alone: Option<Alone<'_>>,
    outcome: &Outcome,
    attacker: Option<usize>,
    watched: &[(Watched, Summary)],
    time: impl Fn(u64) -> String,
) -> Vec<Finding> {
    let mut all = Vec::new();
    all.extend(of_hypervisor(outcome));
    if let Some(vm) = attacker.and_then(|vm| outcome.journal.vms.get(vm)) {
        all.extend(vm.failed.iter().map(|(_, reason)| Finding {
            kind: "attacker_fail",
            whom: vm.name.clone(),
            text: format!("the attacker reports: {}", reason.replace('_', " ")),
        }));
    }
    for (vcpu, seen) in watched {
        all.extend(of_jobs(vcpu, seen, &time));
        let ended = outcome
            .journal
            .vms
            .get(vcpu.vm)
            .is_none_or(|vm| vm.off.is_some());
        let alone =
            alone.and_then(|alone| alone.jobs.iter().find(|(one, _)| one.name == vcpu.name));
        if let Some((_, alone)) = alone.filter(|_| !ended) {
            all.extend(starvation(vcpu, alone, seen, &time));
        }
    }
    let mut vms: Vec<usize> = watched.iter().map(|(vcpu, _)| vcpu.vm).collect();
    vms.dedup();
    for vm in vms {
        let before = alone.and_then(|alone| alone.outcome.journal.vms.get(vm));
        if let (Some(before), Some(now)) = (before, outcome.journal.vms.get(vm)) {
            all.extend(of_state(before, now));
        }
    }
    all
}

fn of_hypervisor(outcome: &Outcome) -> Option<Finding> {
    let stopped = outcome.journal.failure.is_some()
        || matches!(&outcome.ending, Ending::Machine(End::Failed(_)))
        || (matches!(&outcome.ending, Ending::Machine(_)) && outcome.journal.ended.is_none());
    stopped.then(|| Finding {
        kind: "hypervisor",
        whom: "hypervisor".to_owned(),
        text: outcome.reason(),
    })
}

fn of_jobs(vcpu: &Watched, seen: &Summary, time: impl Fn(u64) -> String) -> Vec<Finding> {
    let mut all = Vec::new();
    let mut note = |kind, text| {
        all.push(Finding {
            kind,
            whom: vcpu.name.clone(),
            text,
        });
    };
    let worst = time(seen.response_max);
    if seen.missed > 0 {
        let (missed, deadline) = (seen.missed, time(vcpu.deadline));
        let jobs = if missed == 1 { "job was" } else { "jobs were" };
        note(
            "deadline",
            format!(
                "{missed} {jobs} later than the deadline of {deadline}; the worst took {worst}"
            ),
        );
    } else if let Some(bound) = vcpu.bound.filter(|bound| seen.response_max > *bound) {
        let text = format!("a job took {worst}, over its bound of {}", time(bound));
        note("bound", text);
    }
    if seen.cut_short > 0 {
        let (count, had) = (seen.cut_short, time(seen.cut_short_after));
        let jobs = if count == 1 { "job was" } else { "jobs were" };
        note(
            "overrun",
            format!("{count} {jobs} cut off without the whole budget: the first after {had}"),
        );
    }
    all
}

/// A vCPU that is not run any more, though without an attack it is. One that may wait for the hostile VM must be kept
/// from its hart by the hypervisor.
fn starvation(
    vcpu: &Watched,
    alone: &Summary,
    seen: &Summary,
    time: impl Fn(u64) -> String,
) -> Option<Finding> {
    let usual = alone.gap.cycles.max(vcpu.period);
    let gap = seen.gap;
    let long = alone.jobs > 1 && gap.cycles > 2 * usual + vcpu.deadline;
    let held = !vcpu.linked || gap.below > gap.cycles / 2;
    (long && held).then(|| Finding {
        kind: "starved",
        whom: vcpu.name.clone(),
        text: format!(
            "it did not have its hart for {}, of which the hart was in the hypervisor for {}; without an attack {} at most",
            time(gap.cycles),
            time(gap.below),
            time(alone.gap.cycles)
        ),
    })
}

/// A victim's state that an attack has changed. That it ends by itself, or how it judges what others send it, is its
/// own matter.
fn of_state(alone: &VmJournal, now: &VmJournal) -> Option<Finding> {
    let stopped = |vm: &VmJournal| {
        vm.off
            .is_some_and(|off| matches!(off.reason, OffReason::Fault | OffReason::Refused))
    };
    let faults = now.faults > alone.faults;
    let restarts = now.restarts > alone.restarts;
    let stopped = stopped(now) && !stopped(alone);
    let unstarted = now.started.is_none() && alone.started.is_some();
    let text = if stopped || faults {
        format!("{} faults; now {}", now.faults, now.state())
    } else if restarts {
        format!("{} restarts", now.restarts)
    } else if unstarted {
        "it did not start".to_owned()
    } else {
        return None;
    };
    Some(Finding {
        kind: "state",
        whom: now.name.clone(),
        text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::console::{Carriage, Source, framed};
    use crate::run::journal::Journal;
    use std::time::Duration;

    fn outcome(parts: &[(Source, &str)]) -> Outcome {
        let carriage = Carriage::Framed { vms: 2 };
        let journal = Journal::replay(&["rt", "bad"], 10_000_000, carriage, &framed(parts));
        Outcome::without_hypervisor(journal, Ending::Limit, Duration::ZERO)
    }

    fn watched(response_max: u64, missed: u64) -> (Watched, Summary) {
        let vcpu = Watched {
            name: "rt.0".to_owned(),
            vm: 0,
            period: 1000,
            deadline: 500,
            budget: 200,
            linked: true,
            bound: Some(300),
        };
        let summary = Summary {
            jobs: 9,
            response_max,
            missed,
            ..Summary::default()
        };
        (vcpu, summary)
    }

    const STARTED: (Source, &str) = (Source::Log, "start vm=rt time=110\n");

    fn kinds(outcome: &Outcome, watched: &[(Watched, Summary)]) -> Vec<&'static str> {
        let alone = self::outcome(&[STARTED]);
        let jobs = [self::watched(100, 0)];
        let alone = Alone {
            outcome: &alone,
            jobs: &jobs,
        };
        let all = findings(Some(alone), outcome, Some(1), watched, |c| c.to_string());
        all.into_iter().map(|finding| finding.kind).collect()
    }

    #[test]
    fn within_the_bound_is_no_finding() {
        let outcome = outcome(&[STARTED]);
        assert!(kinds(&outcome, &[watched(300, 0)]).is_empty());
        assert_eq!(kinds(&outcome, &[watched(301, 0)]), ["bound"]);
        assert_eq!(kinds(&outcome, &[watched(501, 1)]), ["deadline"]);
        let mut short = watched(100, 0);
        short.1.cut_short = 2;
        assert_eq!(kinds(&outcome, &[short]), ["overrun"]);
    }

    #[test]
    fn a_vcpu_that_is_kept_from_its_hart_is_starved() {
        let outcome = outcome(&[STARTED]);
        let seen = |linked, cycles, below| {
            let mut seen = watched(100, 0);
            seen.0.linked = linked;
            (seen.1.gap.cycles, seen.1.gap.below) = (cycles, below);
            kinds(&outcome, &[seen])
        };
        assert_eq!(seen(false, 2_501, 0), ["starved"]);
        assert!(seen(false, 2_500, 0).is_empty());
        // It may wait for the hostile VM.
        assert!(seen(true, 9_000, 4_500).is_empty());
        assert_eq!(seen(true, 9_000, 4_501), ["starved"]);
    }

    #[test]
    fn a_victims_own_verdict_is_no_finding() {
        let own = outcome(&[
            STARTED,
            (Source::Vm(0), "@tactus fail name=x reason=partner\n"),
            (Source::Log, "off vm=rt reason=fail code=1 time=200\n"),
        ]);
        assert!(kinds(&own, &[watched(1, 0)]).is_empty());
        let fault = outcome(&[
            STARTED,
            (Source::Log, "off vm=rt reason=fault code=0 time=200\n"),
        ]);
        assert_eq!(kinds(&fault, &[watched(1, 0)]), ["state"]);
        assert_eq!(kinds(&outcome(&[]), &[watched(1, 0)]), ["state"]);
    }

    #[test]
    fn the_attackers_success_and_the_hypervisors_end_are_findings() {
        let breach = outcome(&[
            STARTED,
            (Source::Vm(1), "@tactus fail name=attacker reason=reached\n"),
        ]);
        assert_eq!(kinds(&breach, &[]), ["attacker_fail"]);
        let panic = outcome(&[STARTED, (Source::Log, "panic reason=defect\n")]);
        assert_eq!(kinds(&panic, &[]), ["hypervisor"]);
    }
}
