//! Just-in-time dispatch: how long before its time a waiting real-time vCPU gets its hart: before its timer
//! goes off, or its next job is released.
//!
//! The *lead* has to be as long as it takes to bring the vCPU on the hart, and no longer: the hart does nothing else
//! meanwhile. It follows what that took lately: at once where it took longer, and by a part of the difference where it
//! took less. It is never less than three quarters of the longest: what has been in the caches for long may
//! be in them no more.

/// Part of the difference by which a lead becomes shorter at a time: one in so many.
const DECAY: u16 = 32;

/// Of one vCPU, in ticks.
#[derive(Clone, Copy, Debug)]
pub struct Lead {
    /// It gets the hart so long before its time.
    ticks: u16,
    /// No lead is longer; 0: it gets the hart when its time has come.
    most: u16,
    /// The time that it waits for, or has been given the hart for and is not entered yet; 0: none.
    until: u64,
}

impl Lead {
    /// Of a vCPU that gets its hart at most so many ticks ahead, which is what it gets at first; 0: none.
    pub const fn new(most: u16) -> Self {
        Self {
            ticks: most,
            most,
            until: 0,
        }
    }

    /// Whether it ever gets its hart ahead of its time.
    pub const fn is_on(&self) -> bool {
        self.most != 0
    }

    /// It waits for that time, not 0: when it is to get the hart.
    pub const fn begin(&mut self, until: u64) -> u64 {
        self.until = until;
        self.planned()
    }

    /// When it is, or was, to get the hart for the time that it waits for.
    pub const fn planned(&self) -> u64 {
        self.until.saturating_sub(self.ticks as u64)
    }

    /// It waits for something else, or its guest is entered.
    pub const fn end(&mut self) {
        self.until = 0;
    }

    /// The time that it waits for, or has been given the hart for and is not entered yet; 0: none.
    #[inline(always)]
    pub const fn until(&self) -> u64 {
        self.until
    }

    /// It took so many ticks from when it was to get the hart until it could have been entered.
    pub fn learn(&mut self, took: u64) {
        let took = u16::try_from(took).unwrap_or(u16::MAX);
        // A quarter more, and what two readings of the clock may be wrong by.
        let wanted = took.saturating_add(took / 4).saturating_add(2);
        let wanted = wanted.clamp(self.most - self.most / 4, self.most);
        self.ticks = if wanted >= self.ticks {
            wanted
        } else {
            self.ticks - (self.ticks - wanted).div_ceil(DECAY)
        };
    }
}
