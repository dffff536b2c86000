//! The most that a reservation may ask of its hart.

use crate::reservation::{Kind, Reservation};

impl Reservation {
    /// The demand bound: the most that jobs released and due within any `length` ticks may spend (Baruah, Rosier and
    /// Howell, Real-Time Systems 2, 1990, for the periodic kind). The first job of a server in the window may have
    /// begun before it, and its grid may restart: up to the deadline its demand grows as `budget / deadline`, from
    /// there on as `budget / period`; rounded up.
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
