//! Doorbells: a VM rings one at the other end of each of its channels, which then has an interrupt pending.
//!
//! That is done on the hart of the vCPU that listens for it, whose caches hold what it takes. The ringing hart passes
//! the doorbell to that hart, for which it writes a single cache line.

pub mod delivery;
pub mod listeners;

use crate::vm::{Doorbell, Vcpu, Vm};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};
use tactus_abi::map;

impl Doorbell {
    /// That of the VM's channel of this number. No vCPU listens.
    pub const fn new(vm: &'static Vm, channel: u32) -> Self {
        Self {
            vm,
            source: map::CHANNEL_SOURCE + channel,
            listener: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// The vCPU that listens, if one is known.
    #[inline(always)]
    fn listener(&self) -> Option<&'static Vcpu> {
        // Safety: null, or taken from such a reference.
        unsafe { self.listener.load(Ordering::Relaxed).as_ref() }
    }

    /// Keeps a ring that comes too early (protocol I1). `false`: one is kept already, and the listener's hart will look
    /// for it.
    pub fn keep_early_ring(&self) -> bool {
        let bit = 1 << (self.source - map::CHANNEL_SOURCE);
        self.vm.early_rings.fetch_or(bit, Ordering::SeqCst) & bit == 0
    }

    /// Another has taken its place on the way to the listener's hart: its delivery is granted the interrupt (protocol
    /// I1) once more.
    #[cold]
    pub fn regrant(&self) {
        if let Some(listener) = self.listener() {
            listener.set_interrupts_from(0);
        }
    }

    fn set_listener(&self, listener: Option<&'static Vcpu>) {
        let listener = listener.map_or(ptr::null(), ptr::from_ref);
        self.listener.store(listener.cast_mut(), Ordering::Relaxed);
    }
}
