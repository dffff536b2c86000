//! Loads, stores and atomics past the cache of host pointers.

use super::Machine;
use crate::hart::Hart;
use crate::op::Op;
use crate::pace::Variant;
use crate::privileged::{Access, Context, Exception, Trap};

impl Machine {
    /// Loads `size` bytes for `op`, past the hart's cache of host pointers.
    pub(crate) fn load<V: Variant>(
        &mut self,
        hart: &mut Hart,
        op: *const Op,
        address: u64,
        size: u8,
    ) -> Result<u64, Trap> {
        let (context, tag) = (hart.privileged.data_context(), hart.load_tag);
        self.load_in::<V>(hart, op, address, size, Access::Load, &context, Some(tag))
    }

    /// Loads in any context.
    #[expect(clippy::too_many_arguments, reason = "all of it describes one access")]
    pub(crate) fn load_in<V: Variant>(
        &mut self,
        hart: &mut Hart,
        op: *const Op,
        address: u64,
        size: u8,
        access: Access,
        context: &Context,
        tag: Option<u64>,
    ) -> Result<u64, Trap> {
        let (begin, first, rest) = self.places::<V>(hart, address, size, access, context, tag)?;
        let mut bytes = [0; 8];
        if first == size {
            if self.memory.holds(begin, size.into()) {
                self.read_memory::<V>(hart, begin, &mut bytes[..size as usize]);
                self.charge_bytes::<V>(hart, op, begin, size, false);
                return Ok(u64::from_le_bytes(bytes));
            }
            return self
                .read_device::<V>(hart, op, begin, size)
                .map_err(|_| context.access_fault(address, access));
        }
        for (index, byte) in bytes[..size as usize].iter_mut().enumerate() {
            let physical = if index < first as usize {
                begin + index as u64
            } else {
                rest + (index - first as usize) as u64
            };
            if !self.memory.holds(physical, 1) {
                return Err(context.access_fault(address, access));
            }
            self.read_memory::<V>(hart, physical, std::slice::from_mut(byte));
        }
        self.charge_bytes::<V>(hart, op, begin, first, false);
        self.charge_bytes::<V>(hart, op, rest, size - first, false);
        Ok(u64::from_le_bytes(bytes))
    }

    /// Loads `size` bytes as the guest would: for the hypervisor's loads.
    pub(crate) fn load_for_guest<V: Variant>(
        &mut self,
        hart: &mut Hart,
        op: *const Op,
        address: u64,
        size: u8,
        access: Access,
        context: &Context,
    ) -> Result<u64, Trap> {
        if access != Access::Load {
            return self.load_in::<V>(hart, op, address, size, access, context, None);
        }
        let tag = hart.tag_of_other(context);
        if let Some(host) = hart.loads.find(address, size.into(), tag) {
            let physical = self.physical(host);
            let mut bytes = [0; 8];
            self.read_memory::<V>(hart, physical, &mut bytes[..size as usize]);
            self.charge_bytes::<V>(hart, op, physical, size, false);
            return Ok(u64::from_le_bytes(bytes));
        }
        self.load_in::<V>(hart, op, address, size, access, context, Some(tag))
    }

    /// Stores `size` bytes for `op`, past the hart's cache of host pointers.
    pub(crate) fn store<V: Variant>(
        &mut self,
        hart: &mut Hart,
        op: *const Op,
        address: u64,
        size: u8,
        value: u64,
    ) -> Result<(), Trap> {
        if !V::WEAK
            && hart.watched
            && let Some(host) = hart.stores.find(address, size.into(), hart.load_tag)
        {
            let physical = self.physical(host);
            self.copy_in(physical, &value.to_le_bytes()[..size as usize]);
            self.break_reservations(hart.index, physical, size.into());
            self.charge_bytes::<V>(hart, op, physical, size, true);
            return Ok(());
        }
        let (context, tag) = (hart.privileged.data_context(), hart.load_tag);
        self.store_in::<V>(hart, op, address, size, value, &context, Some(tag))
    }

    /// Stores in any context.
    #[expect(clippy::too_many_arguments, reason = "all of it describes one access")]
    pub(crate) fn store_in<V: Variant>(
        &mut self,
        hart: &mut Hart,
        op: *const Op,
        address: u64,
        size: u8,
        value: u64,
        context: &Context,
        tag: Option<u64>,
    ) -> Result<(), Trap> {
        let (begin, first, rest) =
            self.places::<V>(hart, address, size, Access::Store, context, tag)?;
        let bytes = value.to_le_bytes();
        let refused = context.access_fault(address, Access::Store);
        if first == size {
            if self.memory.holds(begin, size.into()) {
                self.write_memory::<V>(hart, begin, &bytes[..size as usize]);
                self.charge_bytes::<V>(hart, op, begin, size, true);
                return Ok(());
            }
            return self
                .write_device::<V>(hart, op, begin, size, value)
                .map_err(|_| refused);
        }
        if !self.memory.holds(begin, first.into())
            || !self.memory.holds(rest, (size - first).into())
        {
            return Err(refused);
        }
        self.write_memory::<V>(hart, begin, &bytes[..first as usize]);
        self.write_memory::<V>(hart, rest, &bytes[first as usize..size as usize]);
        self.charge_bytes::<V>(hart, op, begin, first, true);
        self.charge_bytes::<V>(hart, op, rest, size - first, true);
        Ok(())
    }

    /// Charges for an access past the cache of host pointers: to the lines of its first and last byte.
    pub(super) fn charge_bytes<V: Variant>(
        &mut self,
        hart: &mut Hart,
        op: *const Op,
        physical: u64,
        size: u8,
        write: bool,
    ) {
        if !V::TIMED {
            return;
        }
        let last = physical + u64::from(size) - 1;
        let mut stall = self
            .timing
            .data(hart.index, physical, write, hart.cycle_of(op));
        if (physical ^ last) >= 8 {
            stall += self
                .timing
                .data(hart.index, last, write, hart.cycle_of(op) + stall);
        }
        hart.attention |= Self::stall(hart, stall);
    }

    /// Carries out a load, or a part of one, from bytes that are in memory.
    pub(super) fn read_memory<V: Variant>(
        &mut self,
        hart: &mut Hart,
        physical: u64,
        bytes: &mut [u8],
    ) {
        if V::WEAK {
            let value = self.load_weakly(hart, physical, bytes.len() as u8);
            bytes.copy_from_slice(&value.to_le_bytes()[..bytes.len()]);
        } else {
            self.copy_out(physical, bytes);
        }
    }

    /// Carries out a store, or a part of one, to bytes that are in memory.
    pub(super) fn write_memory<V: Variant>(
        &mut self,
        hart: &mut Hart,
        physical: u64,
        bytes: &[u8],
    ) {
        if V::WEAK {
            let mut value = [0; 8];
            value[..bytes.len()].copy_from_slice(bytes);
            self.store_weakly(hart, physical, u64::from_le_bytes(value), bytes.len() as u8);
        } else {
            self.copy_in(physical, bytes);
            self.written(hart, physical, bytes.len() as u8);
        }
    }

    pub(super) fn copy_out(&self, physical: u64, bytes: &mut [u8]) {
        if let Some(host) = self.memory.host(physical) {
            // Safety: the callers have asked whether all of it is memory.
            unsafe { std::ptr::copy_nonoverlapping(host, bytes.as_mut_ptr(), bytes.len()) }
        }
    }

    pub(super) fn copy_in(&self, physical: u64, bytes: &[u8]) {
        if let Some(host) = self.memory.host(physical) {
            // Safety: the callers have asked whether all of it is memory.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), host, bytes.len()) }
        }
    }

    /// Where an atomic of `size` bytes finds its operand in memory, past the hart's cache of host pointers.
    pub(super) fn atomic_place<V: Variant>(
        &mut self,
        hart: &mut Hart,
        address: u64,
        size: u8,
        access: Access,
    ) -> Result<*mut u8, Trap> {
        let (context, tag) = (hart.privileged.data_context(), hart.load_tag);
        if !address.is_multiple_of(size.into()) {
            let cause = if access == Access::Load {
                Exception::LoadAddressMisaligned
            } else {
                Exception::StoreAddressMisaligned
            };
            return Err(Trap {
                guest_address: context.v,
                ..Trap::new(cause, address)
            });
        }
        let physical = self.place::<V>(hart, address, size, access, &context, Some(tag))?;
        self.memory
            .host(physical)
            .ok_or_else(|| context.access_fault(address, access))
    }

    /// The memory that a read-modify-write is about to change.
    pub(crate) fn exclusive<V: Variant>(
        &mut self,
        hart: &mut Hart,
        address: u64,
        size: u8,
    ) -> Result<*mut u8, Trap> {
        let host = self.atomic_place::<V>(hart, address, size, Access::Store)?;
        self.written(hart, self.physical(host), size);
        Ok(host)
    }

    /// The memory that a load-reserved reads.
    pub(crate) fn reservable<V: Variant>(
        &mut self,
        hart: &mut Hart,
        address: u64,
        size: u8,
    ) -> Result<*mut u8, Trap> {
        self.atomic_place::<V>(hart, address, size, Access::Load)
    }

    /// The memory that a store-conditional may change.
    pub(crate) fn conditional<V: Variant>(
        &mut self,
        hart: &mut Hart,
        address: u64,
        size: u8,
    ) -> Result<*mut u8, Trap> {
        self.atomic_place::<V>(hart, address, size, Access::Store)
    }
}
