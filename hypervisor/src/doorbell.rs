//! Doorbells: a VM rings one at the other end of each of its channels, which then has an interrupt pending.
//!
//! That is done on the hart of the vCPU that listens for it: what it takes is in the caches there. Whoever rings passes the doorbell to
//! that hart, for which it writes a single cache line.

use crate::arch::context;
use crate::hart::context::HartCtx;
use crate::interrupt_page;
use crate::system::system;
use crate::vcpu::Vcpu;
use crate::vm::Vm;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};
use tactus_abi::blob::Class;
use tactus_abi::interrupts::place;
use tactus_abi::map;
use tactus_hypervisor::vplic::Vplic;

/// The doorbell at a VM's end of a channel.
pub struct Doorbell {
    vm: &'static Vm,
    source: u32,
    /// A vCPU that has enabled the interrupt, of several a real-time one, or null: a hint, by which it is the sooner heard.
    listener: AtomicPtr<Vcpu>,
}

impl Doorbell {
    /// That of the VM's channel of this number. Nobody listens.
    pub const fn new(vm: &'static Vm, channel: u32) -> Self {
        Self {
            vm,
            source: map::CHANNEL_SOURCE + channel,
            listener: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Rings it, for a vCPU of another VM that runs on this hart.
    #[inline]
    pub fn ring(&'static self, cx: &mut HartCtx) {
        // Safety: null, or taken from such a reference.
        let listener: Option<&'static Vcpu> =
            unsafe { self.listener.load(Ordering::Relaxed).as_ref() };
        let mut doorbell = self;
        if let Some(vcpu) = listener {
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
            let listener = interrupt_page::listener(self.vm, self.source).cast_mut();
            self.listener.store(listener, Ordering::Relaxed);
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
                self.listener.store(ptr::null_mut(), Ordering::Relaxed);
            }
            return;
        }
        self.deliver_here(cx);
    }
}

/// A vCPU has changed what its PLIC context has enabled, or has a page now, or none any more: finds out for which doorbells it listens. Called with its VM's devices
/// locked.
#[cold]
pub fn listen(vcpu: &'static Vcpu, plic: &Vplic) {
    let this = ptr::from_ref(vcpu).cast_mut();
    // At most one step for each channel of the VM.
    for (channel, doorbell) in heard_by(vcpu.vm).enumerate() {
        let before = doorbell.listener.load(Ordering::Relaxed);
        let has_page = vcpu.page.get().is_some();
        if has_page || plic.is_enabled(vcpu.index, map::CHANNEL_SOURCE + channel as u32) {
            if before.is_null() || vcpu.class == Class::RealTime {
                doorbell.listener.store(this, Ordering::Relaxed);
            }
        } else if before == this {
            doorbell.listener.store(ptr::null_mut(), Ordering::Relaxed);
        }
    }
}

/// Nobody listens for a VM's doorbells.
pub fn ignore(vm: &Vm) {
    for doorbell in heard_by(vm) {
        doorbell.listener.store(ptr::null_mut(), Ordering::Relaxed);
    }
}

/// The doorbells at a VM's ends of its channels: those that the others ring.
fn heard_by(vm: &Vm) -> impl Iterator<Item = &'static Doorbell> {
    let ends = system().blob.channel_ends_of(vm.config());
    ends.iter().map(|end| {
        let peer = &system().vms[end.peer_vm as usize];
        &peer.doorbells()[end.peer_channel as usize]
    })
}
