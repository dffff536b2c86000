//! What a run of a set shows: each vCPU's jobs beside what is stated of them.

use tactus_policy::reservation::Kind;

use super::super::verdict::{Finding, bound};
use super::model::{self, Taken, Work};
use super::seen::{Job, Seen};
use super::set::{Jobs, Set, vm};
use super::{Run, cycles};
use crate::run::machine::End;
use crate::run::session::Ending;

/// What is known of a set's run.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The set's seed.
    pub seed: u64,
    /// Sets drawn before it from the same seed that are refused with the least budgets.
    pub refused: usize,
    /// The board.
    pub profile: &'static str,
    /// Whether the hart goes by priorities.
    pub by_priority: bool,
    /// Part of the hart that is reserved.
    pub reserved: f64,
    /// Of each vCPU.
    pub vcpus: Vec<VcpuJudged>,
    /// What must not be.
    pub findings: Vec<Finding>,
    /// The system's description.
    pub text: String,
}

/// What is known of a vCPU's jobs. Times in microseconds.
#[derive(Clone, Debug)]
pub struct VcpuJudged {
    /// VM and number.
    pub name: String,
    /// What waiting means.
    pub kind: Kind,
    /// What its jobs are like.
    pub jobs: Jobs,
    /// Of the vCPU for which the releases were chosen: its longest response where the hypervisor takes nothing.
    pub undisturbed_us: Option<f64>,
    /// Jobs that have ended.
    pub ended: u64,
    /// Those that were cut off.
    pub cut_off: u64,
    /// The longest response.
    pub response_max_us: f64,
    /// The bound on it; of one that is woken, from the interrupt.
    pub bound_us: Option<f64>,
    /// The greatest part of its own model's latest end that a job's response has come to.
    pub over_model_max: f64,
    /// Its budget.
    pub budget_us: f64,
    /// The least part of its budget that a job has executed which was cut off.
    pub usable_min: Option<f64>,
    /// Cycles that this job lacked; negative: that it had more.
    pub lacked_cycles: i64,
    /// Times that a job went on after others had the hart, at most.
    pub interruptions_max: u64,
    /// The latest release that was counted, in ticks.
    pub late_max: Option<u64>,
    /// Releases that were later than the latest which was counted, or elsewhere than on the grid.
    pub uncounted: u64,
}

impl VcpuJudged {
    /// The longest response by its bound.
    pub fn over_bound(&self) -> Option<f64> {
        Some(self.response_max_us / self.bound_us?).filter(|_| self.ended > 0)
    }
}

/// Cycles of what is stated.
struct Stated {
    taken: Taken,
    job: u64,
    /// Of `job`, before the release.
    ahead: u64,
    latency: u64,
}

/// Compares what was seen with what is stated.
pub fn judge(seed: u64, set: &Set, refused: usize, run: &Run<'_>) -> Judged {
    let guarantee = run.verdict.guarantee.as_ref();
    let in_cycles = |ticks: u64| cycles(&run.profile, ticks);
    let us = |cycles: u64| cycles as f64 * 1e6 / run.profile.clock_hz as f64;
    let mut judged = Judged {
        seed,
        refused,
        profile: set.profile,
        by_priority: set.by_priority,
        reserved: guarantee.map_or(0.0, |all| all.harts[0].reserved()),
        vcpus: Vec::new(),
        findings: Vec::new(),
        text: set.text(),
    };
    judged.findings.extend(of_machine(run));
    let Some(guarantee) = guarantee else {
        return judged;
    };
    let overheads = guarantee.overheads;
    let stated = Stated {
        taken: Taken {
            blocking: in_cycles(overheads.blocking),
            service: in_cycles(overheads.service),
            service_period: in_cycles(overheads.service_period),
        },
        job: in_cycles(overheads.job),
        ahead: in_cycles(guarantee.ahead),
        latency: in_cycles(guarantee.release_latency()),
    };
    let latest = latest_ends(set, run, &stated);
    for (index, subject) in set.subjects.iter().enumerate() {
        let seen = &run.seen[index];
        let name = format!("{}.1", vm(index));
        let mut note = |kind, text| {
            judged.findings.push(Finding {
                kind,
                whom: name.clone(),
                text,
            });
        };
        if seen.jobs.is_empty() {
            note("no_jobs", "it has not begun".to_owned());
        }
        let latency = if subject.jobs.are_woken() {
            stated.latency
        } else {
            0
        };
        let limit = bound(guarantee, &name).map(|ticks| in_cycles(ticks) + latency);
        let deadline = in_cycles(subject.deadline) + latency;
        let mut over_model_max = 0.0f64;
        let mut longest: Option<(u64, &Job)> = None;
        let mut beyond_model = None;
        for (job, latest) in seen.jobs.iter().zip(&latest[index]) {
            let Some(response) = job.response() else {
                continue;
            };
            let allowed = latest.saturating_sub(job.release);
            over_model_max = over_model_max.max(response as f64 / allowed as f64);
            if response > allowed {
                beyond_model.get_or_insert((response, allowed, job));
            }
            if longest.is_none_or(|(most, _)| response > most) {
                longest = Some((response, job));
            }
        }
        let time = |cycles: u64| format!("{:.1} us", us(cycles));
        let at = |job: &Job| format!("the job released at {:.1} us", us(job.release));
        if let Some((response, allowed, job)) = beyond_model {
            let (at, took, most) = (at(job), time(response), time(allowed));
            note(
                "model",
                format!("{at} took {took}, where all that was released allows {most}"),
            );
        }
        if let Some((response, job)) = longest {
            if response > deadline {
                let (at, took) = (at(job), time(response));
                note(
                    "deadline",
                    format!("{at} took {took}, over its deadline of {}", time(deadline)),
                );
            } else if let Some(limit) = limit.filter(|limit| response > *limit) {
                let (at, took) = (at(job), time(response));
                note(
                    "bound",
                    format!("{at} took {took}, over its bound of {}", time(limit)),
                );
            }
        }
        let budget = in_cycles(subject.budget);
        let cut = seen.jobs.iter().filter(|job| job.cut_off);
        let whole = cut.clone().filter(|job| job.is_whole);
        let least = whole
            .filter(|_| subject.jobs == Jobs::Cut)
            .min_by_key(|job| job.executed);
        // What was sent to the vCPU before may come in this one's time.
        let lacks = in_cycles(guarantee.interrupt);
        let short = seen.jobs.iter().filter(|job| job.cut_off && job.is_whole);
        let mut short = short.filter(|job| job.executed + lacks < budget);
        if let Some(job) = short.next().filter(|_| subject.jobs == Jobs::Cut) {
            let (at, had) = (at(job), time(job.executed));
            note(
                "budget",
                format!("{at} was cut off after {had} of {}", time(budget)),
            );
        }
        let early = seen.jobs.iter().find(|job| job.begin < job.release);
        if let Some(job) = early.filter(|_| !subject.jobs.are_woken()) {
            note("grid", format!("{} began before", at(job)));
        }
        let uncounted = uncounted(subject.jobs, seen, run);
        if uncounted > 0 {
            note(
                "lateness",
                format!("{uncounted} releases were late, or not on the grid, without a counter"),
            );
        }
        let counted = seen.counted;
        if let Some(counted) = counted.filter(|counted| counted.skipped + counted.missed > 0) {
            let (skipped, missed) = (counted.skipped, counted.missed);
            note(
                "counted",
                format!("the hypervisor counts {missed} late jobs, {skipped} skipped releases"),
            );
        }
        let jobs = seen.jobs.iter();
        judged.vcpus.push(VcpuJudged {
            name: name.clone(),
            kind: subject.kind,
            jobs: subject.jobs,
            undisturbed_us: (index == set.target).then(|| us(in_cycles(set.undisturbed))),
            ended: jobs.clone().filter(|job| job.end.is_some()).count() as u64,
            cut_off: cut.count() as u64,
            response_max_us: longest.map_or(0.0, |(response, _)| us(response)),
            bound_us: limit.map(us),
            over_model_max,
            budget_us: us(budget),
            usable_min: least.map(|job| job.executed as f64 / budget as f64),
            lacked_cycles: least.map_or(0, |job| budget as i64 - job.executed as i64),
            interruptions_max: jobs.map(|job| job.interruptions).max().unwrap_or(0),
            late_max: counted.map(|counted| counted.late_max),
            uncounted,
        });
    }
    judged
}

/// Of each vCPU the latest that each of its jobs can have ended.
fn latest_ends(set: &Set, run: &Run<'_>, stated: &Stated) -> Vec<Vec<u64>> {
    let mut works: Vec<(Work, usize, Option<usize>)> = Vec::new();
    for (index, (subject, seen)) in set.subjects.iter().zip(&run.seen).enumerate() {
        let latency = if subject.jobs.are_woken() {
            stated.latency
        } else {
            0
        };
        let deadline = cycles(&run.profile, subject.deadline);
        for (number, job) in seen.jobs.iter().enumerate() {
            let urgency = if set.by_priority {
                index as u64
            } else {
                job.release + deadline
            };
            let later = if set.by_priority { 0 } else { latency };
            let work = Work {
                released: [
                    job.release.saturating_sub(stated.ahead),
                    job.release + latency,
                ],
                cost: job.executed + stated.job,
                urgency,
                urgency_late: urgency + later,
            };
            works.push((work, index, Some(number)));
            if job.cut_off && subject.jobs != Jobs::Cut {
                // What was left of it comes with the vCPU's next budget, at a time that is not known.
                let rest = Work {
                    released: [
                        job.release,
                        job.release + 2 * cycles(&run.profile, subject.period),
                    ],
                    cost: cycles(&run.profile, subject.budget) + stated.job,
                    urgency: if set.by_priority { urgency } else { 0 },
                    urgency_late: urgency + later,
                };
                works.push((rest, index, None));
            }
        }
    }
    works.sort_by_key(|(work, ..)| work.released[0]);
    let all: Vec<Work> = works.iter().map(|(work, ..)| *work).collect();
    let idle: Vec<u64> = run.idle.iter().map(|[_, to]| *to).collect();
    let ends = model::ends(&all, &idle, stated.taken);
    let mut latest: Vec<Vec<u64>> = run
        .seen
        .iter()
        .map(|seen| vec![0; seen.jobs.len()])
        .collect();
    for ((_, index, number), end) in works.into_iter().zip(ends) {
        if let Some(number) = number {
            latest[index][number] = end;
        }
    }
    latest
}

/// Releases on a grid that were later than what was counted by then, and those elsewhere. One is late where a
/// best-effort vCPU still had the hart.
fn uncounted(jobs: Jobs, seen: &Seen, run: &Run<'_>) -> u64 {
    let Some(counted) = seen.counted.filter(|_| !jobs.are_woken()) else {
        return 0;
    };
    let counted_late = cycles(&run.profile, counted.late_max + 1);
    let late = |job: &&Job| {
        let after = run.idle.partition_point(|[from, _]| *from <= job.release);
        let before = after.checked_sub(1).map(|last| run.idle[last]);
        before.is_some_and(|[_, to]| to > job.release + counted_late)
    };
    let judged = seen
        .jobs
        .iter()
        .filter(|job| job.release < seen.counted_until);
    judged.filter(late).count() as u64 + seen.off_grid
}

/// The hypervisor has stopped, or a VM has ended.
fn of_machine(run: &Run<'_>) -> Vec<Finding> {
    let journal = &run.outcome.journal;
    let stopped = journal.failure.is_some()
        || matches!(&run.outcome.ending, Ending::Machine(End::Failed(_)))
        || matches!(&run.outcome.ending, Ending::Machine(_));
    let mut all = Vec::new();
    if stopped {
        all.push(Finding {
            kind: "hypervisor",
            whom: "hypervisor".to_owned(),
            text: run.outcome.reason(),
        });
    }
    let ended = journal
        .vms
        .iter()
        .filter(|vm| vm.off.is_some() || vm.failed());
    all.extend(ended.map(|vm| Finding {
        kind: "state",
        whom: vm.name.clone(),
        text: vm.state().to_string(),
    }));
    all
}
