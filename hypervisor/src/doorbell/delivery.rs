//! Doorbells ring: on the hart of the vCPU that listens.

use super::{Doorbell, listeners};
use crate::arch::context;
use crate::hart::context::HartCtx;
use crate::system::system;
use crate::vcpu::Vcpu;
use crate::vm::Vm;
use core::ptr;
use tactus_abi::interrupts::place;
use tactus_abi::map;

/// Rings the other end of a VM's channel; `None`: it has no such channel.
#[unsafe(link_section = ".text.doorbell")]
pub fn ring(cx: &mut HartCtx, vm: &Vm, channel: u64) -> Option<()> {
    let channel = usize::try_from(channel).ok()?;
    vm.doorbells().get(channel)?.ring(cx);
    Some(())
}

impl Doorbell {
    /// Rings it, for a vCPU of another VM that runs on this hart.
    #[inline]
    pub fn ring(&'static self, cx: &mut HartCtx) {
        let mut doorbell = self;
        if let Some(vcpu) = self.listener() {
            let home = vcpu.home();
            if home != cx.local.hart.index {
                match system().harts[home].pass(vcpu, self) {
                    None => return,
                    Some(left) => doorbell = left,
                }
            }
        }
        doorbell.deliver_here(cx);
    }

    /// Makes its interrupt pending, wherever the vCPUs are that it is for.
    #[cold]
    fn deliver_here(&self, cx: &mut HartCtx) {
        self.vm.signal(cx, self.source);
        if self.vm.has_pages_only() {
            self.set_listener(listeners::find(self.vm, self.source));
        }
    }

    /// Makes its interrupt pending, on the hart of the vCPU that listens. Always part of the path of an interrupt from another hart.
    #[inline(always)]
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
            // As most often, it interrupts the vCPU whose registers are here. Who changes that next tells this hart so.
            context::set_external(true);
        } else {
            self.vm.tell(cx, changed);
        }
    }

    /// [`Doorbell::deliver`] for a VM with vCPUs that take interrupts by a page.
    #[inline(never)]
    fn deliver_by_page(&self, cx: &mut HartCtx) {
        let local = &mut cx.local;
        if let (Some(vcpu), Some(loaded)) = (local.current, local.loaded)
            && ptr::eq(vcpu, loaded)
            && ptr::eq(vcpu.vm, self.vm)
            && vcpu.vm.vcpus().len() == 1
            && let Some(page) = vcpu.page.get()
        {
            let (word, bit) = place(self.source);
            if page.add(word, bit) {
                context::raise_software();
            } else if !page.is_enabled(self.source) {
                // Whoever rings it finds it pending from now on, and does not disturb this hart.
                self.set_listener(None);
            }
            return;
        }
        self.deliver_here(cx);
    }
}
