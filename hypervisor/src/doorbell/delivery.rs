//! Doorbells ring: on the hart of the vCPU that listens.

use super::listeners;
use crate::arch::context;
use crate::hart::context::HartCtx;
use crate::system::system;
use crate::vm::{Doorbell, Vcpu, Vm};
use core::ptr;
use core::sync::atomic::Ordering;
use tactus_abi::interrupts::word_and_bit;
use tactus_abi::map;
use tactus_policy::table::bits;

/// Rings the other end of a VM's channel; `None`: it has no such channel.
pub fn ring(cx: &mut HartCtx, vm: &Vm, channel: u64) -> Option<()> {
    let channel = usize::try_from(channel).ok()?;
    let doorbell = vm.doorbells().get(channel)?;
    if let Some(left) = doorbell.pass(cx) {
        left.deliver_here(cx);
    }
    Some(())
}

/// Makes the interrupts pending of the doorbells that were rung too early for a VM's real-time vCPU (protocol I1).
#[cold]
pub fn deliver_early_rings(cx: &mut HartCtx, vm: &Vm) {
    for channel in bits(vm.early_rings.swap(0, Ordering::SeqCst).into()) {
        vm.signal(cx, map::CHANNEL_SOURCE + channel as u32);
    }
}

impl Doorbell {
    /// Rings it, for a vCPU of another VM that runs on this hart: passes it to the hart of the vCPU that listens.
    /// Returns a doorbell that is left to this hart: this one, or one that was passed there before.
    #[inline(always)]
    pub fn pass(&'static self, cx: &mut HartCtx) -> Option<&'static Self> {
        let Some(listener) = self.listener() else {
            return Some(self);
        };
        let home = listener.home();
        if home == cx.local.hart.index {
            return Some(self);
        }
        system().harts[home].pass(listener, self)
    }

    /// Makes its interrupt pending, wherever the vCPUs are that it is for.
    #[cold]
    pub fn deliver_here(&self, cx: &mut HartCtx) {
        self.vm.signal(cx, self.source);
        if self.vm.has_pages_only() {
            self.set_listener(listeners::find(self.vm, self.source));
        }
    }

    /// Fast path: its interrupt becomes pending for the current vCPU, which is its VM's only one. `false`: it is left
    /// to [`Doorbell::deliver`].
    #[inline(always)]
    pub fn deliver_to_current(&self, vcpu: &'static Vcpu) -> bool {
        if !(ptr::eq(vcpu.vm, self.vm) & vcpu.alone) {
            return false;
        }
        if self.vm.has_pages() {
            return self.add_to_page(vcpu);
        }
        let Some(rises) = self
            .vm
            .raise_for_only(vcpu, self.source - map::CHANNEL_SOURCE)
        else {
            return false;
        };
        if rises {
            context::set_external(true);
        }
        true
    }

    /// The page of the current vCPU, which is its VM's only one, gets the interrupt. `false`: it has no page.
    #[inline(always)]
    fn add_to_page(&self, vcpu: &'static Vcpu) -> bool {
        let Some(page) = vcpu.page.get() else {
            return false;
        };
        let (word, bit) = word_and_bit(self.source);
        if page.set_pending(word, bit) {
            context::raise_software();
        } else if !page.is_enabled(self.source) {
            // A VM that rings it finds it pending from now on, and does not disturb this hart.
            self.set_listener(None);
        }
        true
    }

    /// Makes its interrupt pending, on the hart of the vCPU that listens.
    #[inline(never)]
    pub fn deliver(&self, cx: &mut HartCtx) {
        if self.vm.has_pages() {
            return self.deliver_by_page(cx);
        }
        let changed = self.vm.raise_channel(self.source - map::CHANNEL_SOURCE);
        let local = &mut cx.local;
        let here = |vcpu: &Vcpu| {
            let loaded = local.loaded.is_some_and(|loaded| ptr::eq(loaded, vcpu));
            (vcpu.bit == changed) & ptr::eq(vcpu.vm, self.vm) & loaded
        };
        if local.current.is_some_and(here) {
            // It interrupts the vCPU whose registers are here. A later change is told to this hart.
            context::set_external(true);
        } else {
            self.vm.tell(cx, changed);
        }
    }

    /// [`Doorbell::deliver`] for a VM with vCPUs that take interrupts by a page.
    #[inline(never)]
    fn deliver_by_page(&self, cx: &mut HartCtx) {
        let local = &cx.local;
        if let (Some(vcpu), Some(loaded)) = (local.current, local.loaded)
            && ptr::eq(vcpu, loaded)
            && ptr::eq(vcpu.vm, self.vm)
            && vcpu.vm.vcpus().len() == 1
            && self.add_to_page(vcpu)
        {
            return;
        }
        self.deliver_here(cx);
    }
}
