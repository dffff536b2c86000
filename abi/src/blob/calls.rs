//! Calls between VMs, for a hypervisor that serves them, and for the maker of a blob; accesses that become such calls.
//!
//! A forwarded access is a call by a channel with calls. Its message, in the order of `a1` to `a5`:
//!
//! | word | of the message | of the reply |
//! |---|---|---|
//! | 0 | the offset in the window (bits 31:0), bytes of the access (39:32), 1 for a store (bit 40) | the value that a load gets |
//! | 1 | the value that is stored | [`RING`], [`AGAIN`] and a channel's number, or 0 |
//!
//! A caller that makes such a call itself gets what an access would get.

use super::{Blob, Error, limit};
use crate::map::PAGE_SIZE;

/// [`Header::parts`](super::Header::parts): devices that other VMs emulate.
pub const FORWARDING: u32 = 1 << 9;
/// [`Region::flags`](super::Region::flags): a window, in which each load and store is a call by the VM's channel whose
/// number is in [`Region::interface`](super::Region::interface). Nothing is mapped there.
pub const WINDOW: u16 = 32;
/// [`Region::flags`](super::Region::flags): the memory of a VM that this VM emulates a device for: reads and writes
/// allowed.
pub const PEER_MEMORY: u16 = 64;

/// Where the window of a VM's channel `n` is, if its description does not say: `n` pages above.
pub const WINDOW_BASE: u64 = 0x2a00_0000;
/// Where a VM finds the memory of those that it emulates devices for: one after the other in the order of its channels,
/// each at a multiple of 1 GiB.
pub const PEER_BASE: u64 = 0x10_0000_0000;

/// Word 0 of the message: where the bytes of the access are, 1, 2, 4 or 8.
pub const SIZE_SHIFT: u32 = 32;
/// ... and the bit of a store.
pub const STORE: u64 = 1 << 40;
/// Word 1 of the reply: the doorbell of the service's channel in bits 31:0 rings, for the VM at its other end.
pub const RING: u64 = 1 << 62;
/// ... and the access is made again after a look for interrupts: so a long one is many short calls.
pub const AGAIN: u64 = 1 << 63;

impl Blob<'_> {
    /// Whether calls are within their limits: [`ChannelEnd::call_ticks`](super::ChannelEnd::call_ticks). A hypervisor
    /// that has calls asks this at boot.
    pub fn check_calls(&self) -> Result<(), Error> {
        let too_long = |end: &super::ChannelEnd| u64::from(end.call_ticks) > limit::CALL_TICKS;
        if self.channel_ends.iter().any(too_long) {
            return Err(Error::Table("a call's time out of range"));
        }
        // Bit `n`: VM `n` is called by a chain of so many calls.
        let mut called = u32::MAX;
        for _ in 0..=limit::CALL_DEPTH {
            let mut next = 0;
            for (index, vm) in self.vms.iter().enumerate() {
                let calls = self.channel_ends_of(vm).iter();
                if called >> index & 1 != 0 {
                    let calls = calls.filter(|end| end.call_ticks != 0);
                    next |= calls.fold(0, |all, end| all | 1 << end.peer_vm);
                }
            }
            called = next;
        }
        match called {
            0 => Ok(()),
            _ => Err(Error::Table("calls within calls too deep")),
        }
    }

    /// Whether each window is a range of whole pages, of a channel by which its VM may call. A hypervisor that forwards
    /// accesses asks this at boot.
    pub fn check_windows(&self) -> Result<(), Error> {
        for vm in self.vms {
            let ends = self.channel_ends_of(vm);
            let is_sound = |window: &super::Region| {
                let end = ends.get(window.interface as usize);
                end.is_some_and(|end| end.call_ticks != 0)
                    && (window.guest | window.size).is_multiple_of(PAGE_SIZE)
                    && u32::try_from(window.size).is_ok()
            };
            let mut regions = self.regions_of(vm).iter();
            if !regions.all(|region| region.flags != WINDOW || is_sound(region)) {
                return Err(Error::Table("a forwarded window's fields out of range"));
            }
        }
        Ok(())
    }
}
