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

/// When a woken server may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// At once.
    Now,
    /// From the release of its next job, at this time.
    At(u64),
}

/// The state of a reservation, and its statistics.
#[derive(Clone, Copy, Debug)]
pub struct Account {
    reservation: Reservation,
    kind: Kind,
    /// Release of the current job, or of the last.
    release: u64,
    /// Budget left.
    left: u64,
    /// Jobs released.
    pub jobs: u64,
    /// Jobs throttled.
    pub overruns: u64,
    /// Jobs that had not finished by their deadline. For a server, this includes jobs that waited and continued late:
    /// only execution without waiting, from the release on, is guaranteed.
    pub missed: u64,
    /// Ticks spent in all.
    pub used: u64,
    /// Ticks spent by the job that spent most.
    pub used_max: u64,
    /// Ticks spent by the current job.
    spent: u64,
    /// Budget charged for a wake-up of a server during a job.
    wake_overhead: u64,
}

impl Account {
    /// A reservation whose first job is released at `now`.
    pub const fn new(reservation: Reservation, kind: Kind, now: u64) -> Self {
        Self {
            reservation,
            kind,
            release: now,
            left: reservation.budget,
            jobs: 1,
            overruns: 0,
            missed: 0,
            used: 0,
            used_max: 0,
            spent: 0,
            wake_overhead: 0,
        }
    }

    /// Sets the overhead of a job ([`tactus_abi::blob::Overheads::job`]), in ticks. Admission counts it once for a job.
    /// A server that waits and continues the same job incurs it again, and is charged for it.
    pub const fn with_overhead(mut self, job: u64) -> Self {
        self.wake_overhead = job;
        self
    }

    /// The same reservation without history, whose first job is released at `now`.
    pub const fn restarted_at(&self, now: u64) -> Self {
        Self::new(self.reservation, self.kind, now).with_overhead(self.wake_overhead)
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

    /// Charges execution time. Time beyond the budget counts as spent, and is not taken from other reservations. `ticks`
    /// are negative, in two's complement, where more was credited than has passed: then none counts as spent.
    pub fn charge(&mut self, ticks: u64) {
        self.left = self.left.wrapping_sub(ticks).cast_signed().max(0) as u64;
        let spent = ticks.cast_signed().max(0) as u64;
        self.used += spent;
        self.spent += spent;
        self.used_max = self.used_max.max(self.spent);
    }

    /// The budget is spent at `now`: ends the job, and returns the release of the next, which may have passed.
    pub fn throttle(&mut self, now: u64) -> u64 {
        self.overruns += 1;
        self.end_job(now)
    }

    /// The job has finished at `now`: returns the release of the next, which may have passed.
    pub fn end_job(&mut self, now: u64) -> u64 {
        if now > self.deadline() {
            self.missed += 1;
        }
        self.left = 0;
        self.next_release()
    }

    /// Releases the next job: on the grid, unless a whole period has passed without a job; then a new grid starts at
    /// `now`. Called no earlier than [`Account::next_release`].
    pub fn release_next(&mut self, now: u64) {
        let next = self.next_release();
        self.release_at(if now - next < self.reservation.period {
            next
        } else {
            now
        });
    }

    /// Releases the next job `at` this time with another reservation: no earlier than [`Account::next_release`], and
    /// than [`crate::admission`] allows.
    pub fn release_with(&mut self, reservation: Reservation, at: u64) {
        self.reservation = reservation;
        self.release_at(at);
    }

    fn release_at(&mut self, at: u64) {
        self.release = at;
        self.left = self.reservation.budget;
        self.jobs += 1;
        self.spent = 0;
    }

    /// Wakes a server at `now`. (Waiting ends the job of a periodic vCPU, so that it needs no such decision.)
    pub fn wake(&mut self, now: u64) -> Wake {
        let Reservation {
            period,
            budget,
            deadline,
        } = self.reservation;
        if now >= self.release + period {
            // Idle past its period: a new grid starts.
            self.release_at(now);
            return Wake::Now;
        }
        let time = self.deadline().saturating_sub(now);
        // A whole job and the rest of this one, with the overheads of both.
        let whole = budget + self.wake_overhead;
        let in_proportion = self.left * deadline <= time * whole;
        if deadline == period && self.left > 0 && !in_proportion {
            // The whole budget with a deadline a whole period from now needs no more of the hart.
            self.release_at(now);
            return Wake::Now;
        }
        if !in_proportion {
            self.left = time * whole / deadline;
        }
        self.left = self.left.saturating_sub(self.wake_overhead);
        if self.left == 0 {
            Wake::At(self.next_release())
        } else {
            Wake::Now
        }
    }
}
