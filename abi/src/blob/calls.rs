//! Calls between VMs, for a hypervisor that serves them, and for the maker of a blob.

use super::{Blob, Error, limit};

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
}
