//! What is said of real-time vCPUs that do not fit.

use tactus_planning::analysis::{Criticality, Ranked};
use tactus_policy::reservation::{Reservation, Task};

use super::super::judge::Judge;
use super::super::time::{percent, percents_apart, reservation_text, time_text};
use super::super::vcpus::{Seen, Vcpus};
use super::load::{Fit, ratio};
use super::{Hart, Refused, System, priority, ranked, reservation};
use crate::config::{Share, Span};
use crate::problem::{Code, Problem, count};

/// vCPUs that a sum is told of one by one.
const NAMED: usize = 4;

/// Where a vCPU's budget is written.
fn place<'c>(seen: &Seen<'c>) -> &'c Span {
    let written = seen.written;
    written
        .budget
        .as_ref()
        .map_or(&written.span, |budget| &budget.span)
}

impl System<'_> {
    fn time(&self, ticks: u64) -> String {
        time_text(ticks, self.hz)
    }

    fn times(&self, times: Reservation) -> String {
        reservation_text(times, self.hz)
    }

    /// Notes that a vCPU fits none of its harts.
    pub(super) fn refuse(
        &self,
        judge: &mut Judge<'_>,
        vcpus: &Vcpus<'_>,
        index: usize,
    ) -> Option<Refused> {
        let seen = &vcpus.seen[index];
        let one = seen.checked.task()?;
        let harts: Vec<u32> = vcpus.deadline_harts(&seen.checked).collect();
        let reasons: Vec<(u32, Code, String)> = harts
            .iter()
            .map(|&hart| {
                let (code, reason) = self.reason(vcpus, hart, seen, one);
                (hart, code, reason)
            })
            .collect();
        // On a hart that goes by priorities it was refused before.
        let &(first, code, _) = reasons.first()?;
        let cures = self.cures(seen, index);
        let message = match reasons.as_slice() {
            [(_, _, reason)] => format!("{} does not fit hart {first}: {reason}", seen.title),
            several => {
                let each: Vec<String> = several
                    .iter()
                    .map(|(hart, _, reason)| format!("on hart {hart}, {reason}"))
                    .collect();
                format!(
                    "{} fits no hart that it may run on: {}",
                    seen.title,
                    each.join("; ")
                )
            }
        };
        judge.note(
            code,
            place(seen),
            self.times(one.reservation),
            message,
            cures.text(|ticks| self.time(ticks), self.joint.as_ref()),
        );
        Some(Refused {
            name: seen.name(),
            reservation: one.reservation,
            reasons: reasons
                .into_iter()
                .map(|(hart, _, reason)| (hart, reason))
                .collect(),
            cures,
        })
    }

    /// Why a vCPU does not fit a hart that goes by deadlines.
    fn reason(&self, vcpus: &Vcpus<'_>, hart: u32, seen: &Seen<'_>, one: Task) -> (Code, String) {
        let tasks = self.with(vcpus, hart, one);
        let one = one.reservation;
        let overheads = &self.deadlines.overheads;
        let part = |more: u64| -> f64 {
            let times = tasks.iter().map(|task| task.reservation);
            times
                .map(|times| ratio(times.budget + more, times.period))
                .sum()
        };
        let (plain, jobs) = (part(0), part(overheads.job));
        let service = ratio(overheads.service, overheads.service_period);
        match self.deadlines.fit(&tasks) {
            Fit::Count => (
                Code::TooMany,
                format!(
                    "there are {} on it before this one",
                    count(tasks.len() - 1, "reservation")
                ),
            ),
            Fit::Alone => (
                Code::MissesDeadline,
                format!(
                    "its budget of {} and the {} that the hypervisor takes for each job are more than its deadline, {}",
                    self.time(one.budget),
                    self.time(overheads.job),
                    self.time(one.deadline)
                ),
            ),
            Fit::Reserve => (Code::OverSubscribed, {
                let left = 1.0 - f64::from(self.reserve.0) / 1000.0;
                let [taken, left] = percents_apart(jobs, left);
                format!(
                    "with it, real-time vCPUs would take {taken} of the hart ({} and {} of the hypervisor's for their jobs), and `be_reserve` leaves them {left}",
                    percent(plain),
                    percent(jobs - plain),
                )
            }),
            Fit::Full => (
                Code::OverSubscribed,
                format!(
                    "with it, {} of the hart would be needed: {} for real-time vCPUs, {} for what the hypervisor takes for their jobs, {} for its work for others",
                    percents_apart(jobs + service, 1.0)[0],
                    percent(plain),
                    percent(jobs - plain),
                    percent(service)
                ),
            ),
            Fit::Late => (
                Code::MissesDeadline,
                self.window_reason(vcpus, hart, seen, &tasks),
            ),
            Fit::Fits | Fit::Unproven => (
                Code::OverSubscribed,
                format!(
                    "with it, {} of the hart would be needed, which is so close to all of it that no proof is found",
                    percent(jobs + service)
                ),
            ),
        }
    }

    /// The window in which more is needed than there is, and by whom.
    fn window_reason(
        &self,
        vcpus: &Vcpus<'_>,
        hart: u32,
        seen: &Seen<'_>,
        tasks: &[Task],
    ) -> String {
        let Some(window) = self.deadlines.excess(tasks) else {
            return "deadlines would be missed".into();
        };
        let job = self.deadlines.overheads.job;
        let names = self.placed[hart as usize]
            .iter()
            .map(|&index| vcpus.seen[index].name())
            .chain([seen.name()]);
        let mut parts: Vec<(u64, String)> = tasks
            .iter()
            .map(|task| {
                let whole = Reservation {
                    budget: task.reservation.budget + job,
                    ..task.reservation
                };
                whole.demand(task.kind, window.length)
            })
            .zip(names)
            .collect();
        let vcpus: u64 = parts.iter().map(|(ticks, _)| ticks).sum();
        parts.sort_by_key(|(ticks, _)| std::cmp::Reverse(*ticks));
        let rest: u64 = parts.iter().skip(NAMED).map(|(ticks, _)| ticks).sum();
        let mut named: Vec<String> = parts
            .iter()
            .take(NAMED)
            .map(|(ticks, name)| format!("{} for {name}", self.time(*ticks)))
            .collect();
        if rest > 0 {
            let others = count(parts.len() - NAMED, "other");
            named.push(format!("{} for {others}", self.time(rest)));
        }
        named.push(format!(
            "{} for the hypervisor",
            self.time(window.demand - vcpus)
        ));
        format!(
            "in any {} window the hart may have to do {} of real-time work: {}",
            self.time(window.length),
            self.time(window.demand),
            named.join(", ")
        )
    }

    /// Notes that a vCPU on a hart that goes by priorities has its budget too late.
    pub(super) fn refuse_late(
        &self,
        judge: &mut Judge<'_>,
        here: &[(usize, &Seen<'_>)],
        one: usize,
        hart: u32,
    ) -> Option<Refused> {
        let mut at_leisure: Vec<Ranked> =
            here.iter().filter_map(|(_, seen)| ranked(seen)).collect();
        let (index, seen) = here[one];
        let own = reservation(seen)?;
        let overheads = &self.deadlines.overheads;
        let cures = self.cures(seen, index);
        at_leisure[one].task = Some(Task {
            reservation: Reservation {
                deadline: own.period,
                ..own
            },
            kind: seen.checked.kind,
        });
        let before: Vec<String> = here
            .iter()
            .enumerate()
            .filter(|(place, (_, other))| {
                *place != one && other.checked.priority >= seen.checked.priority
            })
            .map(|(_, (_, other))| other.name())
            .collect();
        let others = match before.as_slice() {
            [] => String::new(),
            before => format!("with {} before it, ", before.join(", ")),
        };
        let deadline = self.time(own.deadline);
        let budget = match seen.checked.criticality {
            Criticality::High { budget: Some(high) } => {
                format!("budget of {} in the high mode", self.time(high))
            }
            _ => format!("budget of {}", self.time(own.budget)),
        };
        let reason = match priority::answer(overheads, &at_leisure, one) {
            priority::Answer::Within(time) => format!(
                "{others}it may have its {budget} only after {}, and its deadline is {deadline}",
                self.time(time)
            ),
            _ => format!(
                "{others}it may not have its {budget} before its next release, and its deadline is {deadline}"
            ),
        };
        judge.note(
            Code::MissesDeadline,
            place(seen),
            self.times(own),
            format!("{} does not fit hart {hart}: {reason}", seen.title),
            cures.text(|ticks| self.time(ticks), self.joint.as_ref()),
        );
        Some(Refused {
            name: seen.name(),
            reservation: own,
            reasons: vec![(hart, reason)],
            cures,
        })
    }

    /// Notes that a vCPU reserves time below one that may take it all.
    pub(super) fn warn_unbounded(
        &self,
        judge: &mut Judge<'_>,
        seen: &Seen<'_>,
        other: &Seen<'_>,
        hart: u32,
    ) {
        let problem = Problem::new(
            Code::NoBound,
            format!(
                "{} has a reservation, but {} comes before it on hart {hart} and has none",
                seen.title, other.title
            ),
            "give that one a `period` and a `budget` too; without, it may run for as long as it likes",
        );
        let problem = problem
            .at(judge.source(), place(seen), "not guaranteed")
            .at(judge.source(), &other.written.span, "this one comes first");
        judge.add(problem);
    }

    /// Notes when the reservations of a hart that goes by priorities take more than `be_reserve` leaves them.
    pub(super) fn reserve_on(
        &self,
        judge: &mut Judge<'_>,
        here: &[(usize, &Seen<'_>)],
        hart: &Hart,
        number: u32,
    ) {
        if self.reserve == Share::default() {
            return;
        }
        let unbounded = here.iter().find(|(_, seen)| reservation(seen).is_none());
        if let Some((_, seen)) = unbounded {
            judge.note(
                Code::OverSubscribed,
                &seen.written.span,
                "without a budget",
                format!(
                    "{} may take all of hart {number}, as it has no reservation, and `be_reserve` keeps {} of each hart",
                    seen.title, self.reserve
                ),
                "give it a `period` and a `budget`, or leave `be_reserve` out",
            );
            return;
        }
        let tasks: Vec<Ranked> = here.iter().filter_map(|(_, seen)| ranked(seen)).collect();
        let Some((_, last)) = here
            .last()
            .filter(|_| !self.deadlines.modes_leave_reserve(&tasks))
        else {
            return;
        };
        let overheads = &self.deadlines.overheads;
        let left = 1.0 - f64::from(self.reserve.0) / 1000.0;
        let (jobs, mode) = match hart.with_jobs(overheads) {
            jobs if jobs > left => (jobs, ""),
            _ => (hart.in_high_mode(overheads), "in the high mode, "),
        };
        let [jobs, left] = percents_apart(jobs, left);
        let joint = self.joint.as_ref().map_or_else(String::new, |joint| {
            format!("; {}", joint.text(|ticks| self.time(ticks)))
        });
        judge.note(
            Code::OverSubscribed,
            place(last),
            "the last one",
            format!(
                "{mode}the real-time vCPUs of hart {number} would take {jobs} of it, jobs' overheads included, and `be_reserve` leaves them {left}"
            ),
            format!("make budgets smaller or periods longer, or `be_reserve` smaller{joint}"),
        );
    }
}
