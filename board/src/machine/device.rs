//! Devices on the bus: accesses to them, and what they do beyond answering.

use super::Machine;
use super::reservation::{NO_RESERVATION, break_reservations};
use crate::bus::{Device, Effects, Port, Refused};
use crate::code::PAGE;
use crate::devices::{Clint, Pci, Plic};
use crate::fabric::{Coupling, TilePort};
use crate::hart::Hart;
use crate::op::Op;
use crate::pace::Variant;
use crate::time::Femtoseconds;

/// A device in its place.
pub(crate) struct Attached {
    pub(crate) name: String,
    pub(crate) base: u64,
    pub(crate) size: u64,
    pub(crate) device: Part,
    /// When it is to be woken.
    pub(crate) wake: Femtoseconds,
}

/// A range of addresses that a device answers in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) base: u64,
    pub(crate) size: u64,
    /// The device's place among the others.
    pub(crate) device: usize,
    /// The offset by which the device is told of the first address.
    pub(crate) offset: u64,
}

/// The device in a range of addresses.
pub(crate) enum Part {
    Clint(Clint),
    Plic(Box<Plic>),
    Fabric(Box<Coupling>),
    Pci(Box<Pci>),
    TilePort(Box<TilePort>),
    Other(Box<dyn Device>),
}

impl Part {
    pub(crate) fn device(&mut self) -> &mut dyn Device {
        match self {
            Self::Clint(clint) => clint,
            Self::Plic(plic) => plic.as_mut(),
            Self::Fabric(fabric) => fabric.as_mut(),
            Self::Pci(pci) => pci.as_mut(),
            Self::TilePort(port) => port.as_mut(),
            Self::Other(device) => device.as_mut(),
        }
    }
}

impl Machine {
    pub(super) fn device_at(&self, physical: u64, size: u8) -> Result<(usize, u64), Refused> {
        let index = self
            .windows
            .partition_point(|window| window.base <= physical);
        let window = index
            .checked_sub(1)
            .and_then(|index| self.windows.get(index))
            .ok_or(Refused)?;
        let offset = physical - window.base;
        if offset >= window.size
            || u64::from(size) > window.size - offset
            || !offset.is_multiple_of(size.into())
        {
            return Err(Refused);
        }
        Ok((window.device, window.offset + offset))
    }

    pub(super) fn read_device<V: Variant>(
        &mut self,
        hart: &mut Hart,
        op: *const Op,
        physical: u64,
        size: u8,
    ) -> Result<u64, Refused> {
        let (index, offset) = self.device_at(physical, size)?;
        self.order_device(hart);
        let now = self.device_time::<V>(hart, op, physical, false);
        let (value, stall) = self.call(index, now, |device, port| device.read(offset, size, port));
        let Ok(value) = value else {
            self.after_access(hart, stall);
            return Err(Refused);
        };
        let mut at = hart.moment();
        at.cycle = hart.cycle_of(op);
        self.trace.access(
            &self.timing,
            at,
            now,
            physical,
            (index, offset),
            (false, value),
        );
        self.after_access(hart, stall);
        Ok(value & (u64::MAX >> (64 - 8 * u32::from(size))))
    }

    pub(super) fn write_device<V: Variant>(
        &mut self,
        hart: &mut Hart,
        op: *const Op,
        physical: u64,
        size: u8,
        value: u64,
    ) -> Result<(), Refused> {
        let (index, offset) = self.device_at(physical, size)?;
        self.order_device(hart);
        let now = self.device_time::<V>(hart, op, physical, true);
        let value = value & (u64::MAX >> (64 - 8 * u32::from(size)));
        let (result, stall) = self.call(index, now, |device, port| {
            device.write(offset, size, value, port)
        });
        let mut at = hart.moment();
        at.cycle = hart.cycle_of(op);
        self.trace.access(
            &self.timing,
            at,
            now,
            physical,
            (index, offset),
            (true, value),
        );
        self.after_access(hart, stall);
        result
    }

    /// When an access reaches its device: charges for the way there and back.
    pub(super) fn device_time<V: Variant>(
        &mut self,
        hart: &mut Hart,
        op: *const Op,
        physical: u64,
        write: bool,
    ) -> Femtoseconds {
        if V::TIMED {
            hart.budget -= self
                .timing
                .uncached(hart.index, physical, write, hart.cycle_of(op))
                as i64;
        }
        self.clock.time_of(hart.cycle_of(op))
    }

    /// Charges what a device's access took beyond the bus, and sees whether the block has to end.
    pub(super) fn after_access(&mut self, hart: &mut Hart, stall: Femtoseconds) {
        hart.budget -= self.clock.cycle_from(stall) as i64;
        hart.attention |= self.disturbed || hart.budget <= 0;
    }

    /// Calls a device and does what it asks for. Gives its answer, and how long it stalls the access.
    pub(crate) fn call<T>(
        &mut self,
        index: usize,
        now: Femtoseconds,
        call: impl FnOnce(&mut dyn Device, &mut Port<'_>) -> T,
    ) -> (T, Femtoseconds) {
        self.call_part(index, now, |part, port| call(part.device(), port))
    }

    /// The same with what the device is.
    pub(super) fn call_part<T>(
        &mut self,
        index: usize,
        now: Femtoseconds,
        call: impl FnOnce(&mut Part, &mut Port<'_>) -> T,
    ) -> (T, Femtoseconds) {
        let mut effects = Effects::default();
        let answer = {
            let part = &mut self.devices[index].device;
            let timing = self.timed.then_some(&mut self.timing);
            let port = Port::new(now, &self.memory, &mut self.lines, &mut effects);
            call(part, &mut port.with_timing(timing))
        };
        let (stall, mastered) = (effects.stall, effects.mastered);
        self.invalidate_written_by_fabric(&effects.written);
        self.apply(index, now, effects);
        self.forward_lines(now);
        if mastered {
            self.invalidate_written_by_masters(now);
        }
        (answer, stall)
    }

    /// Calls the fabric's coupling, where there is one. Gives how long it stalls.
    pub(crate) fn call_fabric(
        &mut self,
        now: Femtoseconds,
        call: impl FnOnce(&mut Coupling, &mut Port<'_>),
    ) -> Femtoseconds {
        let Some(index) = self.fabric else {
            return Femtoseconds(0);
        };
        let called = self.call_part(index, now, |part, port| {
            if let Part::Fabric(fabric) = part {
                call(fabric, port);
            }
        });
        called.1
    }

    /// Lets `time` begin at 0, at this time.
    pub(crate) fn reset_time(&mut self, now: Femtoseconds) {
        for index in 0..self.devices.len() {
            self.call_part(index, now, |part, port| {
                if let Part::Clint(clint) = part {
                    clint.reset(port);
                }
            });
        }
    }

    /// Drops code and reservations that the fabric wrote over.
    pub(super) fn invalidate_written_by_fabric(&mut self, written: &[(u64, u64)]) {
        if !written.is_empty() {
            self.written_from_outside();
        }
        for &(address, length) in written {
            self.disturbed |= self.code.written(address, length);
            // It is no hart.
            break_reservations(&mut self.reservations, usize::MAX, address, length);
        }
    }

    /// Tells the PLIC of changed lines.
    pub(crate) fn forward_lines(&mut self, now: Femtoseconds) {
        if !self.lines.take_changed() {
            return;
        }
        for plic in 0..self.devices.len() {
            if let Part::Plic(controller) = &mut self.devices[plic].device {
                let mut effects = Effects::default();
                controller.lines_changed(&mut Port::new(
                    now,
                    &self.memory,
                    &mut self.lines,
                    &mut effects,
                ));
                self.apply(plic, now, effects);
            }
        }
    }

    pub(super) fn apply(&mut self, index: usize, now: Femtoseconds, effects: Effects) {
        if let Part::Clint(clint) = &self.devices[index].device {
            let offset = clint.offset();
            // A hart that waits for a time waits for another moment now.
            self.disturbed |= offset != self.time_offset;
            self.time_offset = offset;
        }
        for (hart, bits, level) in effects.wires {
            if let Some(wires) = self.wires.get_mut(hart) {
                let new = if level { *wires | bits } else { *wires & !bits };
                self.disturbed |= new != *wires;
                *wires = new;
            }
        }
        // A device that asks again for the time that it has asked for disturbs no hart: one that was restored may.
        if let Some(time) = effects
            .wake_at
            .map(|time| time.max(now))
            .filter(|time| *time != self.devices[index].wake)
        {
            self.devices[index].wake = time;
            self.find_next_wake();
            self.disturbed = true;
        }
        if let Some(stop) = effects.stop {
            self.stop = Some(stop);
            self.disturbed = true;
        }
        if effects.postponed {
            self.postponed = true;
            self.disturbed = true;
        }
    }

    /// Finds the earliest time that a device is to be woken, after one of them changed.
    pub(crate) fn find_next_wake(&mut self) {
        let wakes = self.devices.iter().map(|device| device.wake);
        self.next_wake = wakes.min().unwrap_or(Femtoseconds::NEVER);
    }

    /// Drops code and reservations in the pages that bus masters wrote to.
    pub(crate) fn invalidate_written_by_masters(&mut self, now: Femtoseconds) {
        let mut written = false;
        self.memory.take_written(|page| {
            written = true;
            self.code.written(page, PAGE);
            if self.timed {
                self.timing
                    .master_write(page, PAGE, self.clock.cycle_at(now));
            }
            for address in &mut self.reservations {
                if *address / PAGE == page / PAGE {
                    *address = NO_RESERVATION;
                }
            }
        });
        if written {
            self.written_from_outside();
        }
        self.disturbed |= written;
    }
}
