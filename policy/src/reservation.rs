//! A real-time vCPU's reservation: so much time, every period, before a deadline; and its enforcement.
//!
//! Time goes in *jobs*. A job is released, has the budget to spend before its deadline, and is over when it is spent. The
//! next one is released a period after it. All times are in ticks.
//!
//! Two kinds differ in what waiting means:
//!
//! * a [`Kind::Periodic`] vCPU (made by a hypercall, runs one control loop) is done with its job when it waits; the next is released on
//!   the grid of its first;
//! * a [`Kind::Server`] (a guest of its own, an RTOS perhaps) waits for interrupts, and may go on in the same job. What it may still spend
//!   by its deadline then is bounded in proportion to what is left of the time, as by a constant bandwidth server (Abeni and
//!   Buttazzo, RTSS 1998), so that it never takes more than [`Reservation::demand`] says. It pays for its wakings:
//!   [`Account::with_overhead`].

/// So much time, every period. `1 <= budget <= deadline <= period <= u32::MAX`.
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

    /// The most that jobs of this reservation which are released and due within any `length` ticks may spend in all
    /// (Baruah, Rosier and Howell, Real-Time Systems 2, 1990, for the periodic kind). A server's first job in the window may have begun
    /// before it, and its grid may begin anew: up to the deadline its demand grows as `budget / deadline`, from there on as
    /// `budget / period`; rounded up.
    pub const fn demand(&self, kind: Kind, length: u64) -> u64 {
        let Self {
            period,
            budget,
            deadline,
        } = *self;
        match kind {
            Kind::Periodic => (length + period - deadline) / period * budget,
            Kind::Server if length < deadline => (length * budget).div_ceil(deadline),
            Kind::Server => {
                let jobs = (length - deadline) / period;
                let rest = (length - deadline) % period;
                (jobs + 1) * budget + (rest * budget).div_ceil(period)
            }
        }
    }
}

/// What waiting means, see the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Waiting ends the job.
    Periodic,
    /// It may go on in the same job.
    Server,
}

/// What to do with a vCPU whose interrupt has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// It may run.
    Now,
    /// Its next job is released then.
    At(u64),
}

/// How a reservation stands, and what it has seen.
#[derive(Clone, Copy, Debug)]
pub struct Account {
    reservation: Reservation,
    kind: Kind,
    /// Release of the present job, or of the last.
    release: u64,
    /// What is left of its budget.
    left: u64,
    /// Jobs released.
    pub jobs: u64,
    /// Jobs cut off.
    pub overruns: u64,
    /// Jobs that had not had all they wanted by their deadline. Of a server, also a job that waited and went on late: only what it has
    /// from its release on without waiting is promised.
    pub missed: u64,
    /// Ticks spent in all.
    pub used: u64,
    /// Ticks spent by the job that spent most.
    pub used_max: u64,
    /// Ticks spent by the present job.
    spent: u64,
    /// What a server's waking in the midst of a job takes from its budget.
    waking: u64,
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
            waking: 0,
        }
    }

    /// With the overhead of a job ([`tactus_abi::blob::Overheads::job`]), in ticks. Admission counts it once for a job; a server
    /// that waits and goes on in the same job makes the hypervisor pay it again, and is charged for it.
    pub const fn with_overhead(mut self, job: u64) -> Self {
        self.waking = job;
        self
    }

    /// The same reservation, whose first job is released at `now`; nothing is known of any other.
    pub const fn again(&self, now: u64) -> Self {
        Self::new(self.reservation, self.kind, now).with_overhead(self.waking)
    }

    /// The reservation.
    pub const fn reservation(&self) -> Reservation {
        self.reservation
    }

    /// What waiting means.
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// Release of the present job, or of the last.
    pub const fn release(&self) -> u64 {
        self.release
    }

    /// The present job's deadline: the key of EDF.
    pub const fn deadline(&self) -> u64 {
        self.release + self.reservation.deadline
    }

    /// What is left of the present job's budget.
    pub const fn left(&self) -> u64 {
        self.left
    }

    /// When the next job may be released at the earliest.
    pub const fn next_release(&self) -> u64 {
        self.release + self.reservation.period
    }

    /// It has run for so long. Time beyond the budget counts as spent and is taken from nobody.
    pub fn charge(&mut self, ticks: u64) {
        self.left = self.left.saturating_sub(ticks);
        self.used += ticks;
        self.spent += ticks;
        if self.spent > self.used_max {
            self.used_max = self.spent;
        }
    }

    /// Its budget is spent, at `now`: returns when its next job is released, which may have passed.
    pub fn cut_off(&mut self, now: u64) -> u64 {
        self.overruns += 1;
        self.end(now)
    }

    /// Its job is done, at `now`: returns when the next one is released, which may have passed.
    pub fn done(&mut self, now: u64) -> u64 {
        self.end(now)
    }

    fn end(&mut self, now: u64) -> u64 {
        if now > self.deadline() {
            self.missed += 1;
        }
        self.left = 0;
        self.next_release()
    }

    /// The next job is released: on the grid, unless a whole period has passed without it; then the grid begins anew at `now`.
    /// Called no earlier than [`Account::next_release`].
    pub fn renew(&mut self, now: u64) {
        let next = self.next_release();
        self.begin(if now - next < self.reservation.period {
            next
        } else {
            now
        });
    }

    /// The next job is released `at` that time, with another reservation. That is no earlier than [`Account::next_release`], nor than
    /// [`crate::admission`] allows.
    pub fn renew_as(&mut self, reservation: Reservation, at: u64) {
        self.reservation = reservation;
        self.begin(at);
    }

    fn begin(&mut self, at: u64) {
        self.release = at;
        self.left = self.reservation.budget;
        self.jobs += 1;
        self.spent = 0;
    }

    /// A server that waited is to run at `now`. (A periodic vCPU never asks: its wait has ended its job.)
    pub fn wake(&mut self, now: u64) -> Wake {
        let Reservation {
            period,
            budget,
            deadline,
        } = self.reservation;
        if now >= self.release + period {
            // Idle past its period: a new grid begins.
            self.begin(now);
            return Wake::Now;
        }
        let time = self.deadline().saturating_sub(now);
        // A whole job and what is left of this one, with the overheads of both.
        let whole = budget + self.waking;
        let in_proportion = self.left * deadline <= time * whole;
        if deadline == period && self.left > 0 && !in_proportion {
            // The whole budget, but by a deadline a whole period from now, takes no more of the hart.
            self.begin(now);
            return Wake::Now;
        }
        if !in_proportion {
            self.left = time * whole / deadline;
        }
        self.left = self.left.saturating_sub(self.waking);
        if self.left == 0 {
            Wake::At(self.next_release())
        } else {
            Wake::Now
        }
    }
}
