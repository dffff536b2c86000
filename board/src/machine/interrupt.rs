//! Interrupts and traps, and what else a hart looks at before it runs.

use super::Machine;
use crate::hart::Hart;
use crate::privileged::Trap;

impl Machine {
    /// The first cycle at which `time` is `ticks` more than at a hart's cycle. One that never comes is the last one.
    pub(super) fn cycle_after(&self, cycle: u64, ticks: u64) -> u64 {
        let now = self.timebase.cycle_at(self.clock.time_of(cycle));
        // A sum beyond the last tick must not come out as one that has passed: `mtime` may have been set back.
        self.clock
            .cycle_from(self.timebase.time_of(now.saturating_add(ticks)))
    }

    /// The first cycle at which `hart` has an interrupt of its own timers; none without any change: the end of time.
    pub(crate) fn timer_cycle(&self, hart: &Hart) -> u64 {
        let now = self.ticks(hart.cycle());
        let value = hart.privileged.next_timer(now);
        value.map_or(u64::MAX, |value| {
            self.cycle_after(hart.cycle(), value.wrapping_sub(now))
        })
    }

    /// Whether the hart has to look at interrupts, or to drop what is void, before it runs.
    #[inline]
    pub(crate) fn needs_attention(&self, hart: &Hart) -> bool {
        hart.waiting
            || hart.seen != (self.wires[hart.index], self.time_offset)
            || hart.cycle() >= hart.timer_cycle
            || hart.epoch != self.code.epoch()
            || hart.pages_epoch != self.code.pages_epoch()
    }

    /// Whether an interrupt is to be taken before the hart's next instruction.
    pub(crate) fn is_interrupt_due(&self, hart: &Hart) -> bool {
        let (wires, time) = (self.wires[hart.index], self.ticks(hart.cycle()));
        hart.privileged.interrupt(wires, time).is_some()
    }

    /// Work of the run loop before it continues: drop invalid state, take an interrupt, find how far to run.
    pub(crate) fn handle_attention(&mut self, hart: &mut Hart) {
        self.invalidate_stale(hart);
        self.take_interrupt_if_due(hart);
    }

    /// Drops what the hart keeps of code that is gone.
    pub(crate) fn invalidate_stale(&self, hart: &mut Hart) {
        hart.link = std::ptr::null();
        if hart.epoch != self.code.epoch() {
            hart.epoch = self.code.epoch();
            hart.drop_jumps();
        }
        if hart.pages_epoch != self.code.pages_epoch() {
            hart.pages_epoch = self.code.pages_epoch();
            hart.stores.clear();
        }
    }

    pub(super) fn take_interrupt_if_due(&mut self, hart: &mut Hart) {
        let time = self.ticks(hart.cycle());
        let wires = hart.privileged.latch(self.wires[hart.index]);
        self.wires[hart.index] = wires;
        if hart.waiting && hart.privileged.wake(wires, time) {
            hart.waiting = false;
            self.note_activity(hart);
        }
        if !hart.waiting
            && let Some(interrupt) = hart.privileged.interrupt(wires, time)
        {
            let pc = hart.pc;
            self.release(hart);
            self.order_trap(hart);
            hart.pc = hart.privileged.enter_interrupt(interrupt, pc);
            hart.refresh();
            hart.happened.interrupts += 1;
            self.charge_trap(hart);
            self.trace
                .interrupt(&self.timing, hart.moment(), interrupt, pc);
            self.note_activity(hart);
        }
        hart.seen = (wires, self.time_offset);
        hart.timer_cycle = self.timer_cycle(hart);
        hart.set_limit(hart.timer_cycle.min(hart.until));
    }

    /// Notes that the hart took an exception, at which it gives up its reservation.
    pub(crate) fn trapped(&mut self, hart: &mut Hart, trap: &Trap, pc: u64) {
        self.release(hart);
        self.order_trap(hart);
        hart.happened.exceptions += 1;
        self.charge_trap(hart);
        self.trace
            .exception(&self.timing, hart.moment(), &hart.x, trap, pc);
        self.note_turn(hart, Some((trap.cause, [hart.x[16], hart.x[17]])));
    }
}
