//! Reservations of real-time vCPUs (a budget in every period, before a deadline) and their enforcement.
//!
//! A *job* is released, may spend the budget before its deadline, and ends when the budget is spent. The next job is
//! released a period later. All times are in ticks.
//!
//! Two kinds differ in what waiting does to the job:
//!
//! * a [`Kind::Periodic`] vCPU (made by a hypercall, runs one control loop) ends its job when it waits; the next job is
//!   released on the grid of the first;
//! * a [`Kind::Server`] (a guest of its own, such as an RTOS) waits for interrupts and may continue the same job. The
//!   budget that it may still spend by the deadline is then bounded in proportion to the time left, as by a constant
//!   bandwidth server (Abeni and Buttazzo, RTSS 1998), so that its demand never exceeds [`Reservation::demand`]. It is
//!   charged for its wake-ups: [`Account::with_overhead`].
//!
//! The budget is the vCPU's own: it is not charged for the switch to it, nor for what the hypervisor does for others in
//! its time, which admission counts.

use crate::record::{Figure, Record};

/// A budget in every period. `1 <= budget <= deadline <= period <= u32::MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// Ticks between releases.
    pub period: u64,
    /// Ticks of each job.
    pub budget: u64,
    /// Ticks from a job's release to its deadline.
    pub deadline: u64,
}

impl Reservation {
    /// A reservation; `None` when its times are out of range.
    pub const fn new(period: u64, budget: u64, deadline: u64) -> Option<Self> {
        let ordered = 1 <= budget && budget <= deadline && deadline <= period;
        if ordered && period <= u32::MAX as u64 {
            Some(Self {
                period,
                budget,
                deadline,
            })
        } else {
            None
        }
    }
}

/// What waiting does to the job, see the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Waiting ends the job.
    Periodic,
    /// The vCPU may continue the same job.
    Server,
}

/// A reservation and its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// Budget, period and deadline.
    pub reservation: Reservation,
    /// What waiting does to the job.
    pub kind: Kind,
}

/// When a woken server may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// At once.
    Now,
    /// From the release of its next job, at this time.
    At(u64),
}

/// The state of a reservation. What is counted of its jobs goes into a [`Record`].
#[derive(Clone, Copy, Debug)]
pub struct Account {
    reservation: Reservation,
    kind: Kind,
    /// Release of the current job, or of the last.
    release: u64,
    /// Budget left.
    left: u64,
    /// Ticks spent by the current job.
    spent: u64,
    /// Ticks for which it was ready and did not execute.
    disturbed: u64,
    /// Up to when it has been charged; when it became ready, if it has not been since. 0: that was counted as too late.
    charged_until: u64,
    /// How late it was released, if on the grid and until that is counted; else `u64::MAX`.
    late: u64,
    /// Budget charged for a wake-up of a server during a job.
    wake_overhead: u64,
    /// A job was throttled, extended or late, or a release skipped, since that was reported last.
    is_irregular: bool,
    /// From so many jobs on that is to be reported.
    report_from: u64,
}

impl Account {
    /// A reservation whose first job is released at `now`.
    pub const fn new(reservation: Reservation, kind: Kind, now: u64) -> Self {
        Self {
            reservation,
            kind,
            release: now,
            left: reservation.budget,
            spent: 0,
            disturbed: 0,
            charged_until: now,
            late: u64::MAX,
            wake_overhead: 0,
            is_irregular: false,
            report_from: 0,
        }
    }

    /// Sets the overhead of a job ([`tactus_abi::blob::Overheads::job`]), in ticks. Admission counts it once for a job.
    /// A server that waits and continues the same job incurs it again, and is charged for it.
    pub const fn with_overhead(mut self, job: u64) -> Self {
        self.wake_overhead = job;
        self
    }

    /// The reservation.
    pub const fn reservation(&self) -> Reservation {
        self.reservation
    }

    /// What waiting does to the job.
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// Release of the current job, or of the last.
    pub const fn release(&self) -> u64 {
        self.release
    }

    /// The current job's deadline: the key of EDF.
    pub const fn deadline(&self) -> u64 {
        self.release + self.reservation.deadline
    }

    /// Budget left of the current job.
    pub const fn left(&self) -> u64 {
        self.left
    }

    /// The earliest release of the next job.
    pub const fn next_release(&self) -> u64 {
        self.release + self.reservation.period
    }

    /// Charges execution time, up to `now`. Time beyond the budget counts as spent, and is not taken from other
    /// reservations. `ticks` are negative, in two's complement, where more was credited than has passed: then none
    /// counts as spent.
    pub fn charge(&mut self, ticks: u64, now: u64, record: &Record) {
        self.left = self.left.wrapping_sub(ticks).cast_signed().max(0) as u64;
        let spent = ticks.cast_signed().max(0) as u64;
        self.spent += spent;
        self.disturbed += (now - self.charged_until).saturating_sub(spent);
        self.charged_until = now;
        record.add(Figure::Used, spent);
    }

    /// The budget is spent: ends the job, and returns the release of the next, which may have passed.
    pub fn throttle(&mut self, record: &Record) -> u64 {
        self.is_irregular = true;
        record.add(Figure::Overruns, 1);
        self.end_job()
    }

    /// The job goes on with so many ticks more: see [`crate::modes`].
    pub const fn extend(&mut self, more: u64) {
        self.left += more;
        self.is_irregular = true;
    }

    /// The job has finished: returns the release of the next, which may have passed.
    pub fn end_job(&mut self) -> u64 {
        self.left = 0;
        self.next_release()
    }

    /// Releases the next job: on the grid, unless a whole period has passed without a job; then a new grid starts at
    /// `now`. Called no earlier than [`Account::next_release`].
    pub fn release_next(&mut self, now: u64, record: &Record) {
        let next = self.next_release();
        self.late = now - next;
        if self.late < self.reservation.period {
            self.begin(next, record);
        } else {
            let skipped = self.late.checked_div(self.reservation.period);
            self.is_irregular = true;
            record.add(Figure::Skipped, skipped.unwrap_or(0));
            self.release_at(now, record);
        }
    }

    /// The job waits or has ended: counts what it has had. How late it was released is counted here, too, and not when
    /// it is: then it is waited for.
    pub fn settle(&mut self, record: &Record) {
        record.raise(Figure::UsedMax, self.spent);
        record.raise(Figure::InterferenceMax, self.disturbed);
        if self.charged_until > self.deadline() {
            // Once for each job.
            self.charged_until = 0;
            self.is_irregular = true;
            record.add(Figure::Missed, 1);
        }
        let late = core::mem::replace(&mut self.late, u64::MAX);
        if late != u64::MAX {
            record.note_lateness(late);
        }
    }

    /// Whether it is to be reported that a job was throttled, extended or late, or a release skipped: each time
    /// there have been twice as many jobs.
    pub fn is_to_report(&mut self, record: &Record) -> bool {
        let jobs = record.get(Figure::Jobs);
        let is_due = self.is_irregular & (jobs >= self.report_from);
        if is_due {
            self.is_irregular = false;
            self.report_from = 2 * jobs;
        }
        is_due
    }

    /// It has another reservation, from its next release on.
    pub const fn reserve(&mut self, reservation: Reservation) {
        self.reservation = reservation;
    }

    /// Releases the next job `at` this time with another reservation: no earlier than [`Account::next_release`], and
    /// than [`crate::admission`] allows.
    pub fn release_with(&mut self, reservation: Reservation, at: u64, record: &Record) {
        self.reserve(reservation);
        self.release_at(at, record);
    }

    /// A job is released `at` this time, whatever was before.
    #[inline(never)]
    pub fn release_at(&mut self, at: u64, record: &Record) {
        self.begin(at, record);
    }

    /// A job is released.
    #[inline(always)]
    fn begin(&mut self, at: u64, record: &Record) {
        self.release = at;
        self.left = self.reservation.budget;
        self.spent = 0;
        self.disturbed = 0;
        self.charged_until = at;
        record.set(Figure::Release, at);
        record.add(Figure::Jobs, 1);
    }

    /// Wakes a server at `now`. (Waiting ends the job of a periodic vCPU, so that it needs no such decision.)
    pub fn wake(&mut self, now: u64, record: &Record) -> Wake {
        let Reservation {
            period,
            budget,
            deadline,
        } = self.reservation;
        if now >= self.next_release() {
            // Idle past its period: a new grid starts.
            self.release_at(now, record);
            return Wake::Now;
        }
        let time = self.deadline().saturating_sub(now);
        // A whole job and the rest of this one, with the overheads of both.
        let whole = budget + self.wake_overhead;
        let in_proportion = self.left * deadline <= time * whole;
        if deadline == period && self.left > 0 && !in_proportion {
            // The whole budget with a deadline a whole period from now needs no more of the hart.
            self.release_at(now, record);
            return Wake::Now;
        }
        let before = self.left;
        if !in_proportion {
            self.left = (time * whole).checked_div(deadline).unwrap_or(0);
        }
        self.left = self.left.saturating_sub(self.wake_overhead);
        record.add(Figure::Lost, before - self.left);
        if self.left == 0 {
            Wake::At(self.next_release())
        } else {
            self.charged_until = now;
            Wake::Now
        }
    }
}
