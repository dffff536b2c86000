//! Jobs of real-time vCPUs with reservations, as the board sees them: from which VM has a hart when.
//!
//! A vCPU is told by its VM and its hart, so that only one is seen whose VM has no other vCPU on that hart. A *job*
//! begins with its release and ends when the vCPU waits, or is cut off because it has used up its budget. Its response
//! is the time from one to the other; while it only executes, admission bounds it.
//!
//! The release of a job is what brings the hart from idleness, from a best-effort VM, or by preemption, to the vCPU:
//! the interrupt. Where another real-time vCPU made way by itself, the job may have been released before: its release
//! is then the one that follows from the period, or the last that it can have been. So a response is never seen as
//! longer than it was by more than a part of the hypervisor's own path.
//!
//! What a server does after it has waited within its job is not judged: only execution from the release on is
//! guaranteed. A periodic vCPU that waits has ended its job.

use tactus_abi::hypercall::{
    ACCELERATOR_REQUESTS, EXTENSION, MESSAGE_RECEIVE, MESSAGE_SEND, RT_YIELD,
};
use tactus_board::privileged::Exception;
use tactus_board::trace::{Event, EventKind};

use super::Worker;

/// SBI extensions whose calls wait, or end the caller: hart state, remote fences, reset.
const WAITING_EXTENSIONS: [u64; 3] = [0x0048_534d, 0x5246_4e43, 0x5352_5354];
/// Cycles from when a vCPU has left the guest within which a job that is cut off is its own, unless it has not had its
/// budget: with cold caches the hypervisor takes some thousands. No other real-time vCPU can have used up a budget by
/// then.
const CUT_OFF_MAX: u64 = 20_000;
/// What is taken for a release may be so many cycles from it. A job of a server that begins so little before its period
/// is over is a new one.
const NEAR_MAX: u64 = 2_000;
/// Cycles of a stay below the guests in which no VM is loaded.
const SHORT_MAX: u64 = 20_000;
/// Stays of a vCPU on its hart that are kept.
const STAYS_MAX: usize = 1 << 20;

/// Which jobs to see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watch {
    /// The vCPUs.
    pub vcpus: Vec<Watched>,
    /// VM and hart pairs at which only best-effort vCPUs run: they make way for every other.
    pub best_effort: Vec<(usize, u16)>,
    /// The number of the probe at which the hypervisor cuts a job off. Its second argument names the vCPU.
    pub cut_off: u32,
    /// Keep each stay of each vCPU on its hart.
    pub keeps_stays: bool,
}

/// A vCPU to see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watched {
    /// Its VM, by its index in the system.
    pub vm: usize,
    /// The harts that it may run on, and no other vCPU of its VM.
    pub harts: Vec<u16>,
    /// Cycles from a release to the next.
    pub period: u64,
    /// Cycles from a release to the deadline.
    pub deadline: u64,
    /// Cycles that a job must have executed before it may be cut off: its budget, but for an interrupt.
    pub least: u64,
    /// Waiting ends its job, whatever it waits for.
    pub periodic: bool,
}

/// A time in which a vCPU executed, its own calls included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stay {
    /// The first cycle.
    pub from: u64,
    /// The first cycle after it.
    pub to: u64,
    /// Why it was over.
    pub end: StayEnd,
}

/// Why a vCPU does not execute any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StayEnd {
    /// The hypervisor works for others, or the hart is given to another.
    Interrupted,
    /// It has made a call, in which the hart is given to another: how long it has executed in the call is not seen.
    Called,
    /// It waits.
    Waits,
    /// It has used up its budget.
    CutOff,
}

/// What was seen of a vCPU's jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Jobs that were judged.
    pub jobs: u64,
    /// Cycles of the longest response.
    pub response_max: u64,
    /// Cycle at which that job was released.
    pub released: u64,
    /// Jobs that ended after their deadlines, or have not ended by then.
    pub missed: u64,
    /// Jobs that were cut off.
    pub cut_off: u64,
    /// Of those, the ones that had not had their budget.
    pub cut_short: u64,
    /// Cycles that the first of them had had.
    pub cut_short_after: u64,
    /// The least cycles that one which was cut off has executed.
    pub executed_min: Option<u64>,
    /// Release and cycles so far of a job that has not ended.
    pub unfinished: Option<(u64, u64)>,
    /// The longest time that it did not have its hart.
    pub gap: Gap,
}

/// A time in which a vCPU did not have its hart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    /// When it began.
    pub from: u64,
    /// Its cycles.
    pub cycles: u64,
    /// Those of them that the hart was in the hypervisor or the firmware.
    pub below: u64,
}

/// All that was seen.
#[derive(Clone, Debug, Default)]
pub struct Jobs {
    watch: Watch,
    harts: Vec<Hart>,
    tracks: Vec<Track>,
    /// Jobs released before this cycle are not judged; `None`: none are.
    from: Option<u64>,
}

/// How a stay below the guests began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Interrupt,
    /// The vCPU waits: for its next job, or for anything.
    Wait {
        ends_job: bool,
    },
    Other,
}

/// A stay below the guests.
#[derive(Clone, Copy, Debug)]
struct Below {
    since: u64,
    cause: Option<Cause>,
    /// When the last interrupt came in it.
    interrupt: Option<u64>,
    /// When a job was cut off in it.
    cut_off: Option<u64>,
}

#[derive(Clone, Debug, Default)]
struct Hart {
    /// The guest that has it, or had it last; or [`Worker::Idle`].
    worker: Option<Worker>,
    below: Option<Below>,
    /// The last trap above the hypervisor.
    trap: Option<(u64, Cause)>,
    /// Cycles below the guests so far, without those of `below`.
    below_all: u64,
}

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// The next is released when the period is over.
    Periodically,
    /// It goes on when the vCPU is woken.
    Waiting,
}

/// The last job.
#[derive(Clone, Copy, Debug)]
struct Last {
    release: u64,
    /// The releases after it follow from this one: it was exact, or followed from such a one.
    known: bool,
    ended: Ended,
}

#[derive(Clone, Copy, Debug)]
struct Job {
    release: u64,
    known: bool,
    judged: bool,
    /// Cycles that it has had.
    had: u64,
    /// Cycles of calls of its own, in which the hart was then given to another: some of these it has had, too.
    unseen: u64,
    /// Since when it has the hart.
    since: Option<u64>,
}

#[derive(Clone, Debug, Default)]
struct Track {
    open: Option<Job>,
    last: Option<Last>,
    /// When it left its hart, of that number, and cycles of that below the guests by then.
    left: Option<(u64, usize, u64)>,
    /// What the hypervisor knows it by, once that is known.
    name: Option<u64>,
    summary: Summary,
    /// Its stays, where they are kept.
    stays: Vec<Stay>,
}

impl Jobs {
    /// Nothing seen yet.
    pub fn new(watch: Option<Watch>) -> Self {
        let watch = watch.unwrap_or_default();
        Self {
            tracks: vec![Track::default(); watch.vcpus.len()],
            watch,
            ..Self::default()
        }
    }

    /// What was seen of each vCPU, in the order of [`Watch::vcpus`].
    pub fn summaries(&self) -> impl Iterator<Item = Summary> {
        self.tracks.iter().map(|track| track.summary)
    }

    /// The stays of a vCPU, by its place in [`Watch::vcpus`], in their order: the first 2^20, if they are kept.
    pub fn stays(&self, vcpu: usize) -> &[Stay] {
        self.tracks.get(vcpu).map_or(&[], |track| &track.stays)
    }

    /// Jobs that are released at `cycle` or later are judged.
    pub(super) fn judge_from(&mut self, cycle: u64) {
        self.from.get_or_insert(cycle);
    }

    /// The run ends at `cycle`: jobs that are due have their responses so far.
    pub(super) fn finish(&mut self, cycle: u64) {
        // A hart that is below the guests has been left, though nothing has followed yet.
        for index in 0..self.harts.len() {
            let hart = &self.harts[index];
            let (Some(worker), Some(below), before) = (&hart.worker, hart.below, hart.below_all)
            else {
                continue;
            };
            if let Some(vcpu) = self.find(worker, index) {
                self.tracks[vcpu].left = Some((below.since, index, before));
                self.leave(vcpu, &below);
            }
        }
        for (track, watched) in self.tracks.iter_mut().zip(&self.watch.vcpus) {
            let harts = &self.harts;
            track.end_gap(cycle, self.from, |hart| harts[hart].below_by(cycle));
            let due = match (track.open, track.last) {
                (Some(job), _) => job.judged.then_some(job.release),
                (None, Some(last)) if last.known && last.ended == Ended::Periodically => {
                    Some(last.release + watched.period)
                }
                _ => None,
            };
            let judged = |release: &u64| self.from.is_some_and(|from| from <= *release);
            if let Some(release) = due.filter(judged).filter(|release| *release < cycle) {
                track.summary.unfinished = Some((release, cycle - release));
            }
        }
    }

    /// The watched vCPU that is this VM's on this hart.
    fn find(&self, worker: &Worker, hart: usize) -> Option<usize> {
        let Worker::Vm(vm) = worker else { return None };
        let hart = u16::try_from(hart).ok()?;
        let is_it = |watched: &Watched| watched.vm == *vm && watched.harts.contains(&hart);
        self.watch.vcpus.iter().position(is_it)
    }

    /// Whether a real-time vCPU that is released takes the hart from this worker.
    fn gives_way(&self, worker: &Worker, hart: usize) -> bool {
        match worker {
            Worker::Vm(vm) => self.watch.best_effort.contains(&(*vm, hart as u16)),
            _ => true,
        }
    }

    /// Takes the next event. Cycles of a hart never go back.
    pub(super) fn event(&mut self, event: &Event, vms: usize) {
        if self.watch.vcpus.is_empty() {
            return;
        }
        let (cycle, index) = (event.cycle, usize::from(event.hart));
        if self.harts.len() <= index {
            self.harts.resize(index + 1, Hart::default());
        }
        match event.kind {
            EventKind::Turn(doing) => self.turn(cycle, index, Worker::of(doing, vms)),
            EventKind::Interrupt { .. } => self.harts[index].trap(cycle, Cause::Interrupt),
            EventKind::Exception { cause, call, .. } => {
                self.harts[index].trap(cycle, cause_of(cause, call));
            }
            EventKind::Probe {
                probe,
                on,
                arguments,
            } if probe == self.watch.cut_off && Worker::of(on, vms) == Worker::Hypervisor => {
                self.cut_off(cycle, index, arguments[1]);
            }
            EventKind::Probe { .. } | EventKind::Access { .. } | EventKind::PowerLoss => {}
        }
    }

    /// A job of the vCPU that the hypervisor knows by `name` is cut off: of the one which has left the guest last, or
    /// of one whose VM the hypervisor loads, in that vCPU's time.
    fn cut_off(&mut self, cycle: u64, index: usize, name: u64) {
        let hart = &self.harts[index];
        let (Some(below), Some(worker)) = (hart.below, &hart.worker) else {
            return;
        };
        let Some(vcpu) = self.find(worker, index) else {
            return;
        };
        let known = self
            .tracks
            .iter()
            .position(|track| track.name == Some(name));
        let soon = cycle.saturating_sub(below.since) <= CUT_OFF_MAX;
        let waits = matches!(below.cause, Some(Cause::Wait { .. }));
        let own_call = below.cause == Some(Cause::Other);
        let in_call = if own_call { cycle - below.since } else { 0 };
        let least = self.watch.vcpus[vcpu].least;
        let has_had = |track: &Track, unseen| {
            let had = track.had_by(below.since);
            had.is_some_and(|had| had + unseen >= least)
        };
        let track = &mut self.tracks[vcpu];
        let is_it = match known {
            Some(known) => known == vcpu,
            // Later on, or before this one's budget is used up, it may be that of a vCPU which is not watched, and
            // whose VM is loaded. If it is this one's all the same, its job ends after its deadline.
            None => {
                let unseen = track.open.map_or(0, |job| job.unseen);
                track.name.is_none() && soon && has_had(track, in_call + unseen)
            }
        };
        if is_it && !waits {
            if has_had(track, 0) {
                track.name = Some(name);
            }
            if let Some(below) = &mut self.harts[index].below {
                below.cut_off = Some(cycle);
            }
        }
    }

    fn turn(&mut self, cycle: u64, index: usize, to: Worker) {
        let hart = &mut self.harts[index];
        if matches!(to, Worker::Hypervisor | Worker::Firmware | Worker::User) {
            let trap = hart.trap.filter(|(at, _)| *at == cycle);
            hart.below.get_or_insert(Below {
                since: cycle,
                cause: trap.map(|(_, cause)| cause),
                interrupt: None,
                cut_off: None,
            });
            return;
        }
        let (from, below) = (hart.worker.replace(to.clone()), hart.below.take());
        let (Some(from), Some(mut below)) = (from, below) else {
            return;
        };
        let before = hart.below_all;
        hart.below_all += cycle.saturating_sub(below.since);
        let below_all = hart.below_all;
        if let Some(vcpu) = self.find(&from, index) {
            if from == to && self.has_not_waited(vcpu, &below, cycle) {
                below.cause = Some(Cause::Other);
            }
            self.tracks[vcpu].left = Some((below.since, index, before));
            self.leave(vcpu, &below);
            // Its own calls are part of its job; of one in which the hart is given to another, how much is not seen.
            if let (Some(job), Some(Cause::Other)) = (&mut self.tracks[vcpu].open, below.cause) {
                let length = cycle.saturating_sub(below.since);
                *(if from == to {
                    &mut job.had
                } else {
                    &mut job.unseen
                }) += length;
            }
        }
        if let Some(vcpu) = self.find(&to, index) {
            self.tracks[vcpu].end_gap(cycle, self.from, |_| below_all);
            let release = self.release(&from, index, cycle, &below, from == to);
            self.enter(vcpu, cycle, &below, release);
        }
    }

    /// When the job that begins now was released, as far as the stay before it tells: exactly, or the last time that it
    /// may have been.
    fn release(
        &self,
        from: &Worker,
        hart: usize,
        cycle: u64,
        below: &Below,
        same: bool,
    ) -> (u64, bool) {
        let preempted = below.cause == Some(Cause::Interrupt) && below.cut_off.is_none() && !same;
        let last = below.interrupt.unwrap_or(cycle);
        if cycle.saturating_sub(below.since) > SHORT_MAX {
            // A best-effort VM may be loaded in the stay, from before the release.
            return (last, false);
        }
        if *from == Worker::Idle || preempted {
            (below.since, true)
        } else if self.gives_way(from, hart) {
            // A call of a best-effort VM, in which the release fell.
            (last, true)
        } else {
            (last, false)
        }
    }

    /// Whether a wait of a periodic vCPU, which has its hart back at `cycle`, was over at once, as an interrupt was
    /// pending: its job goes on. Otherwise it has its hart back at its next release.
    fn has_not_waited(&self, vcpu: usize, below: &Below, cycle: u64) -> bool {
        let watched = &self.watch.vcpus[vcpu];
        let job = self.tracks[vcpu].open;
        below.cause == Some(Cause::Wait { ends_job: false })
            && watched.periodic
            && job.is_some_and(|job| cycle < job.release + watched.period)
    }

    /// A vCPU has left its hart, at least for a stay below.
    fn leave(&mut self, vcpu: usize, below: &Below) {
        let watched = &self.watch.vcpus[vcpu];
        let track = &mut self.tracks[vcpu];
        if self.watch.keeps_stays {
            track.keep_stay(below);
        }
        let Some(job) = &mut track.open else { return };
        if let Some(since) = job.since.take() {
            job.had += below.since.saturating_sub(since);
        }
        let ended = match below.cause {
            _ if below.cut_off.is_some() => Ended::Periodically,
            Some(Cause::Wait { ends_job }) if ends_job || watched.periodic => Ended::Periodically,
            Some(Cause::Wait { .. }) => Ended::Waiting,
            _ => return,
        };
        if let (Some(cut_off), Some(Cause::Other)) = (below.cut_off, below.cause) {
            // A call of its own, in which the budget was used up.
            job.had += cut_off.saturating_sub(below.since);
        }
        let job = *job;
        track.open = None;
        track.last = Some(Last {
            release: job.release,
            known: job.known,
            ended,
        });
        let summary = &mut track.summary;
        summary.cut_off += u64::from(below.cut_off.is_some() && self.from.is_some());
        if job.judged {
            let response = below.since.saturating_sub(job.release);
            summary.missed += u64::from(response > watched.deadline);
            summary.take(job.release, response);
            if below.cut_off.is_some() {
                summary.take_cut_off(job.had + job.unseen, watched.least);
            }
        }
    }

    /// A vCPU has its hart from `cycle` on, after a stay below.
    fn enter(&mut self, vcpu: usize, cycle: u64, below: &Below, release: (u64, bool)) {
        let period = self.watch.vcpus[vcpu].period;
        let track = &mut self.tracks[vcpu];
        if matches!(below.cause, Some(Cause::Other)) {
            track.continue_stay(below.since, cycle);
        }
        if let Some(job) = &mut track.open {
            job.since = Some(cycle);
            return;
        }
        let (seen, exact) = release;
        let is_judged = |release: u64| self.from.is_some_and(|from| from <= release);
        let is_periodic = |last: &Last| last.ended == Ended::Periodically;
        let is_new = |last: &Last| is_periodic(last) || seen + NEAR_MAX >= last.release + period;
        let (release, known, judged) = match track.last {
            None => (seen, exact && is_judged(seen), false),
            // When a VM starts it is loaded, perhaps for longer than a period, so that its first release is not known.
            Some(last) if !last.known && is_new(&last) => (seen, exact && is_judged(seen), true),
            Some(last) if is_periodic(&last) => {
                let next = last.release + period;
                // What brings the vCPU to its hart may come before its release, as a call of a best-effort VM does, or
                // a while after, if it is late. Otherwise it is known better than what was taken for the last release.
                let is_near = (next..=next + NEAR_MAX).contains(&seen);
                let follows = next <= cycle && !(exact && is_near);
                (if follows { next } else { seen }, true, true)
            }
            Some(last) if is_new(&last) => (seen, true, true),
            // The rest of a server's job.
            Some(last) => (last.release, last.known, false),
        };
        track.open = Some(Job {
            release,
            known,
            judged: judged && is_judged(release),
            had: 0,
            unseen: 0,
            since: Some(cycle),
        });
    }
}

impl Track {
    /// Cycles that the open job has had by `cycle`.
    fn had_by(&self, cycle: u64) -> Option<u64> {
        let job = self.open?;
        let now = job.since.map_or(0, |since| cycle.saturating_sub(since));
        Some(job.had + now)
    }

    /// The stay of the open job is over.
    fn keep_stay(&mut self, below: &Below) {
        let Some(from) = self.open.and_then(|job| job.since) else {
            return;
        };
        if self.stays.len() == STAYS_MAX {
            return;
        }
        let (to, end) = match (below.cut_off, below.cause) {
            // A call of its own, in which the budget was used up.
            (Some(cut_off), Some(Cause::Other)) => (cut_off, StayEnd::CutOff),
            (Some(_), _) => (below.since, StayEnd::CutOff),
            (None, Some(Cause::Wait { .. })) => (below.since, StayEnd::Waits),
            (None, Some(Cause::Other)) => (below.since, StayEnd::Called),
            (None, _) => (below.since, StayEnd::Interrupted),
        };
        self.stays.push(Stay { from, to, end });
    }

    /// The call that was made at `since` belongs to the stay that ended with it, up to `cycle`.
    fn continue_stay(&mut self, since: u64, cycle: u64) {
        if let Some(last) = self.stays.last_mut()
            && last.to == since
            && last.end == StayEnd::Called
        {
            last.to = cycle;
            last.end = StayEnd::Interrupted;
        }
    }

    /// It has its hart again, or the run ends. `below`: cycles of a hart below the guests by now.
    fn end_gap(&mut self, cycle: u64, from: Option<u64>, below: impl Fn(usize) -> u64) {
        let Some((left, hart, before)) = self.left.take() else {
            return;
        };
        // Of a gap that begins before anything is judged the rest counts.
        let cycles = from.map_or(0, |from| cycle.saturating_sub(left.max(from)));
        if cycles > self.summary.gap.cycles {
            self.summary.gap = Gap {
                from: left,
                cycles,
                below: (below(hart) - before).min(cycles),
            };
        }
    }
}

impl Hart {
    /// Cycles below the guests by now.
    fn below_by(&self, cycle: u64) -> u64 {
        let now = self
            .below
            .map_or(0, |below| cycle.saturating_sub(below.since));
        self.below_all + now
    }

    /// A trap, which may be told before or after the turn that it leads to.
    fn trap(&mut self, cycle: u64, cause: Cause) {
        match &mut self.below {
            None => self.trap = Some((cycle, cause)),
            Some(below) if below.since == cycle && below.cause.is_none() => {
                below.cause = Some(cause);
            }
            Some(below) if cause == Cause::Interrupt => below.interrupt = Some(cycle),
            Some(_) => {}
        }
    }
}

impl Summary {
    /// The same with the job that has not ended, which has this deadline. Without it where its VM has ended.
    pub fn with_unfinished(mut self, deadline: u64) -> Self {
        if let Some((release, so_far)) = self.unfinished {
            self.missed += u64::from(so_far > deadline);
            self.take(release, so_far);
        }
        self
    }

    /// A job was cut off that has executed so many cycles at most, and was to have had `least`.
    fn take_cut_off(&mut self, executed: u64, least: u64) {
        let before = self.executed_min.unwrap_or(executed);
        self.executed_min = Some(before.min(executed));
        if executed < least {
            if self.cut_short == 0 {
                self.cut_short_after = executed;
            }
            self.cut_short += 1;
        }
    }

    fn take(&mut self, release: u64, response: u64) {
        self.jobs += 1;
        if response > self.response_max {
            self.response_max = response;
            self.released = release;
        }
    }
}

/// Whether a vCPU that takes this exception waits, for its next job or for anything. `call`: a6 and a7.
pub(super) fn is_wait(cause: Exception, call: [u64; 2]) -> bool {
    matches!(cause_of(cause, call), Cause::Wait { .. })
}

/// What an exception means. `call`: a6 and a7.
fn cause_of(cause: Exception, [function, extension]: [u64; 2]) -> Cause {
    let own = extension == EXTENSION as u64;
    match cause {
        // `wfi`, or an access to a register that is emulated, which is not left.
        Exception::VirtualInstruction => Cause::Wait { ends_job: false },
        Exception::VirtualSupervisorEnvironmentCall if own && function == RT_YIELD as u64 => {
            Cause::Wait { ends_job: true }
        }
        Exception::VirtualSupervisorEnvironmentCall => {
            let waits = [MESSAGE_SEND, MESSAGE_RECEIVE, ACCELERATOR_REQUESTS];
            let waits = waits.iter().any(|waits| function == *waits as u64);
            if own && waits || WAITING_EXTENSIONS.contains(&extension) {
                Cause::Wait { ends_job: false }
            } else {
                Cause::Other
            }
        }
        _ => Cause::Other,
    }
}

#[cfg(test)]
mod tests {
    use tactus_board::account::Doing;
    use tactus_board::privileged::{Interrupt, Privilege, Target};
    use tactus_board::timing::{Lines, Stalls};

    use super::*;

    /// Of VM 0 on hart 0: 100 of each 1,000 cycles, by 500. VM 1 is best effort there, VM 2 is real time.
    fn jobs() -> Jobs {
        let mut jobs = Jobs::new(Some(Watch {
            vcpus: vec![Watched {
                vm: 0,
                harts: vec![0],
                period: 10_000,
                deadline: 5_000,
                least: 900,
                periodic: false,
            }],
            best_effort: vec![(1, 0)],
            cut_off: 0,
            keeps_stays: true,
        }));
        jobs.judge_from(0);
        jobs
    }

    struct Feed(Jobs);

    impl Feed {
        fn event(&mut self, cycle: u64, kind: EventKind) {
            let event = Event {
                cycle,
                hart: 0,
                stalls: Stalls::default(),
                lines: Lines::default(),
                kind,
            };
            self.0.event(&event, 3);
        }

        fn below(&mut self, cycle: u64) {
            self.event(cycle, EventKind::Turn(hypervisor()));
        }

        fn interrupt(&mut self, cycle: u64) {
            let interrupt = Interrupt {
                target: Target::Supervisor,
                number: 5,
            };
            self.event(cycle, EventKind::Interrupt { interrupt, pc: 0 });
            self.below(cycle);
        }

        fn call(&mut self, cycle: u64, cause: Exception, call: [u64; 2]) {
            self.below(cycle);
            let kind = EventKind::Exception {
                cause,
                pc: 0,
                value: 0,
                guest_physical: 0,
                call,
            };
            self.event(cycle, kind);
        }

        fn yields(&mut self, cycle: u64) {
            let call = [RT_YIELD as u64, EXTENSION as u64];
            self.call(cycle, Exception::VirtualSupervisorEnvironmentCall, call);
        }

        fn cut_off(&mut self, cycle: u64) {
            self.interrupt(cycle);
            self.throttle(cycle + 1, 7);
        }

        fn throttle(&mut self, cycle: u64, name: u64) {
            let mut arguments = [0; 8];
            arguments[1] = name;
            let kind = EventKind::Probe {
                probe: 0,
                on: hypervisor(),
                arguments,
            };
            self.event(cycle, kind);
        }

        fn vm(&mut self, cycle: u64, vm: u16) {
            let guest = Some(vm + 1);
            let privilege = Privilege::Supervisor;
            self.event(cycle, EventKind::Turn(Doing::Running { guest, privilege }));
        }

        fn idle(&mut self, cycle: u64) {
            self.event(cycle, EventKind::Turn(Doing::Waiting));
        }

        fn summary(&self) -> Summary {
            self.0.summaries().next().expect("one is watched")
        }
    }

    fn hypervisor() -> Doing {
        Doing::Running {
            guest: None,
            privilege: Privilege::Supervisor,
        }
    }

    /// A first job, which is not judged: its release is not known.
    fn begun() -> Feed {
        let mut feed = Feed(jobs());
        feed.vm(0, 1);
        feed.interrupt(1_000);
        feed.vm(1_050, 0);
        feed.yields(1_500);
        feed.vm(1_550, 1);
        assert_eq!(feed.summary().jobs, 0);
        feed
    }

    #[test]
    fn a_response_is_from_the_release_to_the_wait() {
        let mut feed = begun();
        feed.interrupt(11_000);
        feed.vm(11_060, 0);
        // An interrupt for others, and a call of its own.
        feed.interrupt(11_100);
        feed.vm(11_150, 0);
        feed.call(
            11_200,
            Exception::VirtualSupervisorEnvironmentCall,
            [0, 0x10],
        );
        feed.vm(11_230, 0);
        feed.yields(11_600);
        feed.idle(11_640);
        let wanted = Summary {
            jobs: 1,
            response_max: 600,
            released: 11_000,
            gap: Gap {
                from: 1_500,
                cycles: 9_560,
                below: 50 + 60,
            },
            ..Summary::default()
        };
        assert_eq!(feed.summary(), wanted);
    }

    #[test]
    fn a_release_behind_another_real_time_vcpu_follows_from_the_period() {
        let mut feed = begun();
        // VM 2 has the hart, and makes way by itself.
        feed.interrupt(10_500);
        feed.vm(10_550, 2);
        feed.interrupt(11_000);
        feed.vm(11_050, 2);
        feed.call(14_000, Exception::VirtualInstruction, [0; 2]);
        feed.vm(14_100, 0);
        feed.yields(14_900);
        feed.idle(14_950);
        assert_eq!(feed.summary().response_max, 3_900);
        assert_eq!(feed.summary().missed, 0);
    }

    #[test]
    fn a_job_that_begins_late_was_released_in_time() {
        let mut feed = begun();
        // The release is at 11,000, and only a later interrupt brings the vCPU to the hart.
        feed.interrupt(14_000);
        feed.vm(14_050, 0);
        feed.yields(14_300);
        feed.vm(14_350, 1);
        assert_eq!(feed.summary().response_max, 3_300);
        // One that is a little later than expected is where it is seen.
        feed.interrupt(21_500);
        feed.vm(21_550, 0);
        feed.yields(21_900);
        feed.idle(21_950);
        assert_eq!(feed.summary().response_max, 3_300);
    }

    #[test]
    fn a_preempted_job_goes_on() {
        let mut feed = begun();
        feed.interrupt(11_000);
        feed.vm(11_050, 0);
        feed.interrupt(11_200);
        feed.vm(11_250, 2);
        feed.call(16_000, Exception::VirtualInstruction, [0; 2]);
        feed.vm(16_100, 0);
        feed.yields(16_500);
        feed.idle(16_550);
        let summary = feed.summary();
        assert_eq!((summary.jobs, summary.response_max), (1, 5_500));
        assert_eq!(summary.missed, 1);
    }

    #[test]
    fn a_job_that_is_cut_off_has_had_its_budget() {
        let mut feed = begun();
        feed.interrupt(11_000);
        feed.vm(11_050, 0);
        feed.cut_off(12_000);
        feed.vm(12_100, 1);
        let summary = feed.summary();
        assert_eq!((summary.cut_off, summary.cut_short), (1, 0));
        // The next had 500 cycles.
        feed.interrupt(21_000);
        feed.vm(21_050, 0);
        feed.cut_off(21_550);
        feed.vm(21_600, 1);
        let summary = feed.summary();
        assert_eq!((summary.cut_off, summary.cut_short), (2, 1));
        assert_eq!(summary.cut_short_after, 500);
    }

    #[test]
    fn a_call_in_which_a_job_is_preempted_may_be_its_own() {
        let mut feed = begun();
        feed.interrupt(11_000);
        feed.vm(11_050, 0);
        // Another VM has the hart behind the job's call, and gives it back in a call of its own.
        feed.call(11_300, Exception::StoreGuestPageFault, [0; 2]);
        feed.vm(11_800, 1);
        feed.yields(12_000);
        feed.vm(12_400, 0);
        feed.cut_off(12_560);
        feed.vm(12_600, 1);
        let summary = feed.summary();
        assert_eq!((summary.cut_off, summary.executed_min), (1, Some(910)));
    }

    #[test]
    fn a_wait_that_is_over_at_once_ends_no_job() {
        let mut feed = begun();
        feed.0.watch.vcpus[0].periodic = true;
        feed.interrupt(11_000);
        feed.vm(11_050, 0);
        feed.call(11_300, Exception::VirtualInstruction, [0; 2]);
        feed.vm(11_320, 0);
        feed.cut_off(12_000);
        feed.vm(12_100, 1);
        let summary = feed.summary();
        assert_eq!((summary.jobs, summary.executed_min), (1, Some(950)));
    }

    #[test]
    fn a_vcpu_whose_vm_is_loaded_is_cut_off_by_itself() {
        let mut feed = begun();
        feed.interrupt(11_000);
        feed.vm(11_050, 0);
        feed.cut_off(12_000);
        feed.vm(12_100, 1);
        feed.interrupt(21_000);
        feed.vm(21_050, 0);
        // Another vCPU's job, whose VM is loaded; and its own, a while after a call.
        feed.yields(21_500);
        feed.throttle(21_600, 8);
        feed.vm(21_700, 1);
        assert_eq!(feed.summary().cut_off, 1);
        feed.interrupt(31_000);
        feed.vm(31_050, 0);
        feed.call(31_900, Exception::StoreGuestPageFault, [0; 2]);
        feed.throttle(39_000, 8);
        feed.throttle(39_500, 7);
        feed.vm(39_600, 1);
        let summary = feed.summary();
        assert_eq!((summary.cut_off, summary.jobs), (2, 3));
    }

    #[test]
    fn another_s_cut_off_before_the_budget_is_used_up_is_no_cut_off() {
        let mut feed = begun();
        feed.interrupt(11_000);
        feed.vm(11_050, 0);
        // A vCPU whose VM is loaded, in whose time no guest executes.
        feed.interrupt(11_200);
        feed.throttle(11_900, 8);
        feed.vm(11_950, 0);
        feed.yields(12_200);
        feed.idle(12_250);
        let summary = feed.summary();
        assert_eq!((summary.cut_off, summary.response_max), (0, 1_200));
        // A job that is not to go on has a response all the same.
        feed.interrupt(21_000);
        feed.vm(21_050, 0);
        feed.cut_off(21_500);
        feed.vm(21_550, 1);
        feed.0.finish(29_000);
        let whole = feed.summary().with_unfinished(5_000);
        assert_eq!((whole.missed, whole.response_max), (1, 8_000));
    }

    #[test]
    fn the_rest_of_a_server_s_first_job_is_not_judged() {
        let mut feed = Feed(jobs());
        feed.vm(0, 2);
        feed.yields(1_000);
        feed.vm(1_050, 0);
        // The release is not known. A wait that is over at once, and one that is not.
        feed.call(1_200, Exception::VirtualInstruction, [0; 2]);
        feed.vm(1_220, 0);
        feed.call(1_500, Exception::VirtualInstruction, [0; 2]);
        feed.vm(1_550, 1);
        feed.interrupt(5_000);
        feed.vm(5_050, 0);
        feed.call(5_100, Exception::VirtualInstruction, [0; 2]);
        feed.vm(5_150, 1);
        assert_eq!(feed.summary().jobs, 0);
        feed.interrupt(12_000);
        feed.vm(12_050, 0);
        feed.yields(12_500);
        feed.vm(12_550, 1);
        let summary = feed.summary();
        assert_eq!((summary.jobs, summary.response_max), (1, 500));
    }

    #[test]
    fn what_follows_a_wait_within_a_job_is_not_judged() {
        let mut feed = begun();
        feed.interrupt(11_000);
        feed.vm(11_050, 0);
        feed.call(11_200, Exception::VirtualInstruction, [0; 2]);
        feed.idle(11_250);
        feed.interrupt(14_000);
        feed.vm(14_050, 0);
        feed.call(14_900, Exception::VirtualInstruction, [0; 2]);
        feed.idle(14_950);
        assert_eq!(feed.summary().jobs, 1);
        feed.interrupt(21_000);
        feed.vm(21_050, 0);
        feed.call(21_300, Exception::VirtualInstruction, [0; 2]);
        feed.idle(21_350);
        let summary = feed.summary();
        assert_eq!((summary.jobs, summary.response_max), (2, 300));
    }

    #[test]
    fn waiting_ends_the_job_of_a_periodic_one() {
        let mut feed = begun();
        feed.0.watch.vcpus[0].periodic = true;
        feed.interrupt(11_000);
        feed.vm(11_050, 0);
        feed.call(11_200, Exception::VirtualInstruction, [0; 2]);
        feed.idle(11_250);
        // The next is released a period later, and has the hart late.
        feed.interrupt(24_000);
        feed.vm(24_050, 0);
        feed.yields(24_900);
        feed.idle(24_950);
        let summary = feed.summary();
        assert_eq!((summary.jobs, summary.response_max), (2, 3_900));
    }

    #[test]
    fn stays_are_times_of_execution_with_own_calls() {
        let mut feed = begun();
        feed.interrupt(11_000);
        feed.vm(11_050, 0);
        let call = [0, 0x10];
        feed.call(11_200, Exception::VirtualSupervisorEnvironmentCall, call);
        feed.vm(11_230, 0);
        feed.interrupt(11_300);
        feed.vm(11_350, 0);
        feed.cut_off(12_200);
        feed.vm(12_300, 1);
        let stay = |from, to, end| Stay { from, to, end };
        let wanted = [
            stay(1_050, 1_500, StayEnd::Waits),
            stay(11_050, 11_230, StayEnd::Interrupted),
            stay(11_230, 11_300, StayEnd::Interrupted),
            stay(11_350, 12_200, StayEnd::CutOff),
        ];
        assert_eq!(feed.0.stays(0), wanted);
    }

    #[test]
    fn a_job_that_has_just_ended_is_not_open() {
        let mut feed = begun();
        feed.interrupt(11_000);
        feed.vm(11_050, 0);
        feed.yields(11_400);
        feed.0.finish(19_000);
        let summary = feed.summary();
        assert_eq!((summary.jobs, summary.response_max), (1, 400));
        assert_eq!(summary.unfinished, None);
        assert_eq!((summary.gap.cycles, summary.gap.below), (9_550, 50 + 50));
    }

    #[test]
    fn a_job_that_never_gets_the_hart_is_seen_at_the_end() {
        let mut feed = begun();
        feed.interrupt(12_000);
        feed.0.finish(18_000);
        let summary = feed.summary();
        assert_eq!(summary.unfinished, Some((11_000, 7_000)));
        let whole = summary.with_unfinished(5_000);
        assert_eq!((whole.response_max, whole.missed), (7_000, 1));
        let gap = Gap {
            from: 1_500,
            cycles: 16_500,
            below: 50 + 6_000,
        };
        assert_eq!(summary.gap, gap);
    }
}
