//! Reservations: what `lr` makes and `sc` needs.

use super::Machine;
use crate::hart::Hart;
use crate::op::Op;

/// No address is this: reservations are aligned.
pub(super) const NO_RESERVATION: u64 = u64::MAX;

/// After how many instructions a reservation that was not used is given up, whether or not other harts got to run. A
/// loop that has to succeed has at most 16 (I 8.3).
pub(crate) const RESERVATION_INSTRUCTIONS: u64 = 64;

/// Takes back the reservations of harts other than `index` that the written bytes touch.
pub(super) fn break_reservations(
    reservations: &mut [u64],
    index: usize,
    physical: u64,
    length: u64,
) {
    for (other, address) in reservations.iter_mut().enumerate() {
        let touched =
            *address < physical.wrapping_add(length) && address.wrapping_add(8) > physical;
        if other != index && *address != NO_RESERVATION && touched {
            *address = NO_RESERVATION;
        }
    }
}

impl Machine {
    /// Reserves the 8 bytes around the physical address for the hart, by `op`.
    pub(crate) fn reserve(&mut self, hart: &mut Hart, op: *const Op, physical: u64) {
        self.reservations[hart.index] = physical & !7;
        hart.reserved_at = hart.instructions_until(op);
    }

    /// Takes the hart's reservation back.
    pub(crate) fn release(&mut self, hart: &Hart) {
        self.reservations[hart.index] = NO_RESERVATION;
    }

    /// Whether the hart holds a reservation of the 8 bytes around the physical address, at `op`.
    pub(crate) fn holds(&self, hart: &Hart, op: *const Op, physical: u64) -> bool {
        let since = hart.instructions_until(op).wrapping_sub(hart.reserved_at);
        self.reservations[hart.index] == physical & !7 && since <= RESERVATION_INSTRUCTIONS
    }

    /// Whether a hart other than `index` holds a reservation.
    pub(crate) fn others_hold(&self, index: usize) -> bool {
        self.reservations
            .iter()
            .enumerate()
            .any(|(other, address)| other != index && *address != NO_RESERVATION)
    }

    /// Whether hart `index` holds a reservation.
    pub(crate) fn holds_any(&self, index: usize) -> bool {
        self.reservations[index] != NO_RESERVATION
    }

    /// Notes that the hart wrote, or is about to write, to memory past its cache of host pointers.
    pub(crate) fn written(&mut self, hart: &mut Hart, physical: u64, size: u8) {
        if self.code.in_page(physical) && self.code.written(physical, size.into()) {
            hart.attention = true;
        }
        if hart.watched {
            self.break_reservations(hart.index, physical, size.into());
        }
    }

    /// Takes back the reservations of harts other than `index` that the written bytes touch.
    pub(crate) fn break_reservations(&mut self, index: usize, physical: u64, length: u64) {
        break_reservations(&mut self.reservations, index, physical, length);
    }
}
