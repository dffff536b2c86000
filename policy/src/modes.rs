//! Modes of a hart that goes by priorities: budgets for the usual case, and what holds when one does not suffice.
//!
//! A hart is in its *low mode* until a job has used up its budget and has more in the *high mode*, which begins then.
//! While it lasts, vCPUs of low criticality have no budget. It ends at the next idle instant: when the hart has no
//! real-time work. That is adaptive mixed criticality (Baruah, Burns and Davis, RTSS 2011); `planning::analysis` proves
//! that the budgets of each mode arrive in time.

use crate::reservation::Account;

/// What the modes of its hart mean to a vCPU with a reservation.
#[derive(Clone, Copy, Debug)]
pub struct Criticality {
    /// It has no budget in the high mode.
    low: bool,
    /// Ticks that its jobs have beyond the budget, in the high mode.
    more: u64,
    /// Release of the job that was given them last.
    extended: u64,
}

/// What becomes of a job that does not wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    /// It has budget left.
    GoesOn,
    /// It has used up its budget and was given more: the high mode begins, or goes on.
    Extended,
    /// It has used up what it may.
    Spent,
    /// It gets nothing in the high mode.
    Dropped,
}

impl Criticality {
    /// `low`: it has no budget in the high mode. `more`: ticks beyond the budget in that mode; 0: none.
    pub const fn new(low: bool, more: u64) -> Self {
        Self {
            low,
            more,
            extended: u64::MAX,
        }
    }

    /// Whether its jobs get nothing in the high mode.
    #[inline(always)]
    pub const fn is_low(&self) -> bool {
        self.low
    }

    /// Whether the job has more than its budget, and has not been given it.
    pub fn has_more(&self, account: &Account) -> bool {
        (self.more != 0) & (self.extended != account.release())
    }

    /// What becomes of the job. `extends`: it may be given more.
    pub fn judge(&mut self, account: &mut Account, high_mode: bool, extends: bool) -> Job {
        if high_mode && self.low {
            Job::Dropped
        } else if account.left() != 0 {
            Job::GoesOn
        } else if extends && self.has_more(account) {
            self.extended = account.release();
            account.extend(self.more);
            Job::Extended
        } else {
            Job::Spent
        }
    }
}
