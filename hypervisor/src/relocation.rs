//! What admission has decided about a real-time vCPU and its home hart has to carry out: another reservation, another
//! home.
//!
//! **Protocol R1, relocation.** Admission, one hart at a time under its lock, orders a change or a move only while none
//! is pending ([`Relocation::is_free`]). Only the home hart takes an order ([`Relocation::take`]), and a move is
//! pending until the vCPU is at home elsewhere ([`Relocation::arrive`]). So a hart that finds nothing pending sees the
//! present home and the whole reservation. Each order adds one departure to the hart that it is for, and its home takes
//! that one away: [`Departures`] never goes below zero.
//!
//! * `changes` and `moves` are stored with `Release` after what they announce, and loaded with `Acquire`.
//! * A change is ordered before a move of the same decision, and [`Relocation::take`] looks for the move first: it
//!   never leaves a change behind for the next home, which would take a departure away that it does not have.
//! * The next home may look before it is told, when others have sent the vCPU something: it claims the vCPU first
//!   (protocol V1), which synchronises with the old home's release, or it could take the same change once more.
//! * While the vCPU is on its way, `moves` is `UNDER_WAY`: the next home does not take the move again, and admission
//!   does not order another.
//!
//! `tests/relocation.rs` tries all interleavings.

use tactus_policy::reservation::Reservation;

#[cfg(not(loom))]
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
#[cfg(loom)]
use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// No move is pending.
const NONE: u32 = 0;
/// The old home carries out a move. Other values are the next home's index plus one.
const UNDER_WAY: u32 = u32::MAX;

/// Orders for vCPUs at home on a hart that it has not taken yet.
#[derive(Debug)]
pub struct Departures(AtomicU32);

impl Departures {
    /// None.
    #[allow(clippy::new_without_default, reason = "const where there is no loom")]
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// None.
    #[cfg(loom)]
    pub fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Whether there are none; what departed before is seen.
    pub fn are_over(&self) -> bool {
        self.0.load(Ordering::Acquire) == 0
    }

    /// Admission orders one more.
    fn add(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    /// The hart has taken one.
    pub fn end_one(&self) {
        let before = self.0.fetch_sub(1, Ordering::SeqCst);
        if cfg!(any(loom, debug_assertions)) {
            assert!(before != 0, "a departure ended that was not ordered");
        }
    }
}

/// Orders that the home has taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Orders {
    /// The next job has this reservation.
    pub change: Option<Reservation>,
    /// The vCPU goes to this hart. The caller ends with [`Relocation::arrive`].
    pub to: Option<usize>,
}

/// A vCPU's home and what admission has ordered about it. The home comes first: each sender of a notification reads it.
#[derive(Debug)]
#[repr(C)]
pub struct Relocation {
    home: AtomicU32,
    moves: AtomicU32,
    changes: AtomicBool,
    /// What admission has promised: period, budget, deadline.
    promised: [AtomicU64; 3],
}

impl Relocation {
    /// At home on a hart, with a reservation of period, budget and deadline; zeros: none.
    #[cfg(not(loom))]
    pub const fn new(home: u32, [period, budget, deadline]: [u64; 3]) -> Self {
        Self {
            home: AtomicU32::new(home),
            moves: AtomicU32::new(NONE),
            changes: AtomicBool::new(false),
            promised: [
                AtomicU64::new(period),
                AtomicU64::new(budget),
                AtomicU64::new(deadline),
            ],
        }
    }

    /// At home on a hart, with a reservation of period, budget and deadline; zeros: none.
    #[cfg(loom)]
    pub fn new(home: u32, promised: [u64; 3]) -> Self {
        Self {
            home: AtomicU32::new(home),
            moves: AtomicU32::new(NONE),
            changes: AtomicBool::new(false),
            promised: promised.map(AtomicU64::new),
        }
    }

    /// Index of the home hart. A hart that has sent the vCPU something reads it after a full fence.
    #[inline(always)]
    pub fn home(&self) -> usize {
        self.home.load(Ordering::Relaxed) as usize
    }

    /// The vCPU runs on this hart, its home from now on, or begins there. Its state is to be stored with `Release`, or
    /// a full fence is to follow.
    #[inline(always)]
    pub fn settle(&self, hart: usize) {
        self.home.store(hart as u32, Ordering::Relaxed);
    }

    /// Whether no order is pending. For admission, under its lock.
    pub fn is_free(&self) -> bool {
        self.moves.load(Ordering::Acquire) == NONE && !self.changes.load(Ordering::Acquire)
    }

    /// What admission has promised. Whole for admission under its lock, and for the home of a pending change; others
    /// may see parts of two.
    #[inline(never)]
    pub fn promised(&self) -> Option<Reservation> {
        let [period, budget, deadline] = &self.promised;
        let load = |ticks: &AtomicU64| ticks.load(Ordering::Relaxed);
        Reservation::new(load(period), load(budget), load(deadline))
    }

    /// Admission promises a reservation to a vCPU that is free; under its lock.
    #[inline(never)]
    pub fn promise(&self, reservation: Reservation) {
        let Reservation {
            period,
            budget,
            deadline,
        } = reservation;
        for (word, ticks) in self.promised.iter().zip([period, budget, deadline]) {
            word.store(ticks, Ordering::Relaxed);
        }
    }

    /// It has no reservation any more; under admission's lock.
    pub fn forget_promise(&self) {
        self.promised[0].store(0, Ordering::Relaxed);
    }

    /// Admission orders that the next job has another reservation, of a vCPU that is free. Before a move of the same
    /// decision.
    pub fn order_change(&self, reservation: Reservation, home: &Departures) {
        self.promise(reservation);
        home.add();
        self.changes.store(true, Ordering::Release);
    }

    /// Admission orders a move of a vCPU that is free, or has just been ordered to change; under its lock.
    #[inline(never)]
    pub fn order_move(&self, to: usize, home: &Departures) {
        home.add();
        self.moves.store(to as u32 + 1, Ordering::Release);
    }

    /// Whether an order may be pending. The hart that orders makes the home look again afterwards.
    #[inline(always)]
    pub fn may_have_orders(&self) -> bool {
        (self.moves.load(Ordering::Relaxed) != NONE) | self.changes.load(Ordering::Relaxed)
    }

    /// For the home hart, which owns the vCPU, where it waits or is about to stop: takes what is ordered. The caller
    /// ends one departure for each order.
    pub fn take(&self) -> Orders {
        let moves = self.moves.load(Ordering::Acquire);
        let mut change = None;
        if self.changes.load(Ordering::Acquire) {
            change = self.promised();
            // Not before it is read: from then on admission may promise another.
            self.changes.store(false, Ordering::Release);
        }
        let to = match moves {
            NONE | UNDER_WAY => None,
            to => Some(to as usize - 1),
        };
        if to.is_some() {
            self.moves.store(UNDER_WAY, Ordering::Relaxed);
        }
        Orders { change, to }
    }

    /// The old home has done all that it has to for a move: the vCPU is at home on that hart, which the caller then
    /// tells.
    pub fn arrive(&self, to: usize) {
        self.home.store(to as u32, Ordering::Release);
        self.moves.store(NONE, Ordering::Release);
    }
}
