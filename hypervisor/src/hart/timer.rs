//! What is due on a hart, and the only code that programs the hart's timer.
//!
//! **Protocol T1, due times.** Whenever the hart enters a guest, waits for an interrupt or looks for pending ones, the
//! hardware's deadline is no later than any due time that counts then. Every method that changes a due time marks the
//! timer dirty; [`Timer::arm`] programs the hardware. The hart arms a dirty timer on the one way into guests
//! ([`crate::exit`]), before it waits, and at each look ([`super::context::Local::poll`]). An interrupt that comes too
//! early is harmless: it finds nothing due and arms the timer again.
//!
//! The state is the hart's own ([`super::Local`]), so that no other hart changes a due time.

use crate::arch;
use crate::console;
use tactus_abi::blob::{Class, Header, limit};
use tactus_policy::deadline::Deadlines;
use tactus_policy::ready::Handle;

/// Whose due times count while a hart runs its current vCPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serves {
    /// A real-time vCPU runs on a shared hart: releases, its budget, and the period in which best-effort work is
    /// deferred.
    RealTimeOnly,
    /// Releases, wake-ups of best-effort vCPUs, and the end of the slice.
    All,
}

impl Serves {
    /// While a vCPU of that class runs, on a hart that it shares or not.
    #[inline(always)]
    pub fn of(class: Class, shared: bool) -> Self {
        if (class == Class::RealTime) & shared {
            Self::RealTimeOnly
        } else {
            Self::All
        }
    }
}

/// A hart's due times in ticks; `u64::MAX`: never.
#[repr(C)]
pub struct Timer {
    /// A due time has changed since the hardware was set.
    dirty: bool,
    /// See [`Header::guard_ticks`].
    guard_ticks: u16,
    /// What the current vCPU is credited for a way out of a guest and into one, see [`Header::way_ticks`].
    way_ticks: u32,
    /// What the hardware is set to.
    armed: u64,
    /// When the current vCPU's budget is spent.
    budget_end: u64,
    /// When the current vCPU's slice ends.
    slice_end: u64,
    /// When deferred best-effort work is done while a real-time vCPU runs.
    deferred_at: u64,
    /// Since when the current vCPU has had the hart, or the hart has been idle.
    since: u64,
    /// When waiting real-time vCPUs at home here want to be woken, or their jobs are released.
    releases: Deadlines<{ limit::VCPUS }>,
    /// When waiting best-effort vCPUs at home here want to be woken.
    wakeups: Deadlines<{ limit::VCPUS }>,
    /// How often text is sent that no interrupt sends.
    text_ticks: u64,
    /// What the current vCPU is credited at most for an interrupt for others, see [`Header::interrupt_ticks`].
    interrupt_ticks: u64,
}

impl Timer {
    /// Bytes up to the earliest release, which each context switch uses.
    pub const HOT_BYTES: usize = core::mem::offset_of!(Self, releases) + 24;

    /// Nothing is due. `text_ticks`: how often text is sent that no interrupt sends.
    pub const fn new(text_ticks: u64, header: &Header) -> Self {
        Self {
            dirty: false,
            guard_ticks: header.guard_ticks as u16,
            way_ticks: header.way_ticks as u32,
            armed: u64::MAX,
            budget_end: u64::MAX,
            slice_end: u64::MAX,
            deferred_at: 0,
            since: 0,
            releases: Deadlines::new(),
            wakeups: Deadlines::new(),
            text_ticks,
            interrupt_ticks: header.interrupt_ticks,
        }
    }

    /// Whether a due time has changed since the hardware was set.
    #[inline(always)]
    pub const fn is_dirty(&self) -> bool {
        self.dirty
    }

    /// When the current vCPU's budget is spent.
    pub const fn budget_end(&self) -> u64 {
        self.budget_end
    }

    /// Whether the current vCPU has a budget.
    #[inline(always)]
    pub const fn has_budget(&self) -> bool {
        self.budget_end != u64::MAX
    }

    /// When the current vCPU's slice ends.
    pub const fn slice_end(&self) -> u64 {
        self.slice_end
    }

    /// When deferred best-effort work is done next while a real-time vCPU runs.
    pub const fn deferred_at(&self) -> u64 {
        self.deferred_at
    }

    /// Another vCPU has the hart: its slice and its budget end then.
    #[inline(always)]
    pub const fn begin(&mut self, now: u64, slice_end: u64, budget_end: u64) {
        self.since = now;
        self.slice_end = slice_end;
        self.budget_end = budget_end;
        self.dirty = true;
    }

    /// The hardware's timer has been used for something else.
    #[cfg(feature = "calls")]
    pub const fn reuse(&mut self) {
        self.armed = 0;
        self.dirty = true;
    }

    /// The current vCPU leaves the hart: its slice and its budget are due no more.
    #[inline(always)]
    pub const fn end(&mut self, now: u64) {
        self.begin(now, u64::MAX, u64::MAX);
    }

    /// Since when the current vCPU has had the hart, or the hart has been idle.
    pub const fn since(&self) -> u64 {
        self.since
    }

    /// So many ticks of the current vCPU's time were for others: if it has a budget, that ends as much later. The
    /// hardware may then go off too early.
    pub const fn credit(&mut self, ticks: u64) {
        if self.has_budget() {
            self.since = self.since.wrapping_add(ticks);
            self.budget_end = self.budget_end.wrapping_add(ticks);
        }
    }

    /// As [`Timer::credit`], all time since `from`, and the way out of the guest and into it.
    #[inline(never)]
    pub fn credit_since(&mut self, from: u64) {
        let until = arch::now() + u64::from(self.way_ticks);
        self.credit(until.wrapping_sub(from));
    }

    /// As [`Timer::credit_since`], no more than admission has counted for so many interrupts.
    pub fn credit_counted(&mut self, from: u64, interrupts: u32) {
        let took = (arch::now() + u64::from(self.way_ticks)).wrapping_sub(from);
        self.credit(took.min(u64::from(interrupts) * self.interrupt_ticks));
    }

    /// The switch to the current vCPU, which has a budget, was no part of that.
    #[inline(always)]
    pub fn credit_switch(&mut self) {
        let entry = arch::now() + u64::from(self.way_ticks);
        self.budget_end = self.budget_end.wrapping_add(entry.wrapping_sub(self.since));
        self.since = entry;
    }

    /// What was counted up to now is accounted for.
    pub const fn account(&mut self, now: u64) -> u64 {
        now.wrapping_sub(core::mem::replace(&mut self.since, now))
    }

    /// The current vCPU's slice ends then.
    pub const fn set_slice_end(&mut self, at: u64) {
        self.slice_end = at;
        self.dirty = true;
    }

    /// Deferred best-effort work is done then.
    pub const fn set_deferred_at(&mut self, at: u64) {
        self.deferred_at = at;
        self.dirty = true;
    }

    /// The earliest release and whose it is; `u64::MAX`: there is none.
    #[inline(always)]
    pub const fn earliest_release(&self) -> (u64, Handle) {
        self.releases.earliest()
    }

    /// Whether it is so shortly before the earliest release, or after it, that nothing is begun for best-effort vCPUs
    /// any more.
    #[inline(always)]
    pub fn is_guarded(&self, now: u64) -> bool {
        self.releases.earliest().0 <= now + u64::from(self.guard_ticks)
    }

    /// A waiting real-time vCPU is released, or wakes, then.
    pub fn set_release(&mut self, vcpu: Handle, at: u64) {
        self.releases.set(vcpu, at);
        self.dirty = true;
    }

    /// Takes out a real-time vCPU whose time has come.
    #[inline]
    pub fn pop_due_release(&mut self, now: u64) -> Option<Handle> {
        let handle = self.releases.pop_until(now)?;
        self.dirty = true;
        Some(handle)
    }

    /// Takes out the earliest release, which has been looked at.
    #[inline(always)]
    pub fn pop_release(&mut self) {
        self.dirty = true;
        self.releases.remove_earliest();
    }

    /// A real-time vCPU does not wait for its release any more.
    pub fn clear_release(&mut self, vcpu: Handle) {
        self.releases.clear(vcpu);
        self.dirty = true;
    }

    /// A waiting best-effort vCPU wakes then.
    pub fn set_wakeup(&mut self, vcpu: Handle, at: u64) {
        self.wakeups.set(vcpu, at);
        self.dirty = true;
    }

    /// Takes out a best-effort vCPU whose time has come.
    pub fn pop_due_wakeup(&mut self, now: u64) -> Option<Handle> {
        let handle = self.wakeups.pop_until(now)?;
        self.dirty = true;
        Some(handle)
    }

    /// A best-effort vCPU does not wait for its time any more.
    pub fn clear_wakeup(&mut self, vcpu: Handle) {
        self.wakeups.clear(vcpu);
        self.dirty = true;
    }

    /// The earliest due time that counts.
    #[inline(always)]
    fn due(&self, serves: Serves) -> u64 {
        let due = self.releases.earliest().0.min(self.budget_end);
        match serves {
            Serves::RealTimeOnly => due.min(self.deferred_at),
            Serves::All => due.min(self.wakeups.earliest().0).min(self.slice_end),
        }
    }

    /// Sets the hardware to what is due first; while text waits that no interrupt sends, it is due soon as well.
    #[inline(always)]
    pub fn arm(&mut self, serves: Serves) {
        let mut due = self.due(serves);
        if serves == Serves::All && console::has_unsent() {
            due = due.min(arch::now() + self.text_ticks);
        }
        self.dirty = false;
        if due != self.armed {
            self.armed = due;
            arch::set_timer(due);
        }
    }

    /// Whether protocol T1 holds: for debug builds.
    pub fn is_armed(&self, serves: Serves) -> bool {
        !self.dirty && self.armed <= self.due(serves) && arch::timer() == self.armed
    }
}
