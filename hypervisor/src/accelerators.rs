//! Virtual devices behind which accelerators stand (Ker-ONE, section 4.2): each is a page of the fabric, an interface,
//! which its VM may always read. While the page is open the VM writes it as well, and the hypervisor has no part in it.
//! Otherwise a store traps: it is carried out here, as an interface keeps all its registers, and a region is requested
//! for the interface: of the region allocator, and where that says so, or there is none, of the device manager
//! ([`allocation`]).
//!
//! So no vCPU ever waits in the hypervisor for a region, and there is nothing to undo when a VM or the manager dies:
//! what a VM has asked for is in its interface, and here is only where the manager should look.
//!
//! **Protocol A1, open pages.** A page may be open while no region is connected only if an answer of the allocator is
//! due for its interface, or the page is about to be closed. The hart that opens a page then looks whether a region is
//! connected; the hart that closes it then looks whether the VM has asked for something meanwhile. So neither the order
//! of openings and closings by different harts matters, nor how late one is.

mod allocation;
pub mod interfaces;

use crate::arch::{self, entry, stage2::WRITE};
use crate::body::Wait;
use crate::call::{SbiError, SbiResult};
use crate::hart::context::HartCtx;
use crate::sched::{block, signals};
use crate::system::system;
use crate::vm::{Vcpu, Vm, vcpu::signal};
use core::hint::cold_path;
use core::sync::atomic::Ordering;
use interfaces::{Accelerators, Interface};
use tactus_abi::accelerator::{END, START, STAT, stat};
use tactus_abi::hypercall::interface_event;
use tactus_abi::map::{FAULT_SOURCE, PAGE_SIZE};
use tactus_policy::ready::Handle;

pub use allocation::interrupt;

impl Accelerators {
    /// An interface has been written without a region: the manager is to look at it.
    fn written(&self, cx: &mut HartCtx, number: u32) {
        arch::fence_after_device();
        let bit = interface_event::WRITTEN << number;
        let before = self.news.fetch_or(bit, Ordering::SeqCst);
        // Once, until the manager has come: however much a VM writes.
        if !before & self.listened.load(Ordering::SeqCst) & bit == 0 {
            return;
        }
        if !self.notify_waiter(cx) {
            // The manager may be at work for another VM.
            cold_path();
            let manager = system().blob.header.device_manager as usize;
            // Where there is a virtual device, there is one.
            system().vms[manager].signal(cx, FAULT_SOURCE);
        }
    }

    /// The manager's vCPU that waits for news gets it with its registers, without an interrupt. `false`: no vCPU waits;
    /// the manager finds the news when it waits the next time.
    fn notify_waiter(&self, cx: &mut HartCtx) -> bool {
        let waiter = self.waiter.swap(0, Ordering::SeqCst).checked_sub(1);
        if let Some(handle) = waiter {
            signals::notify(cx, system().vcpu(handle as Handle));
        }
        waiter.is_some()
    }

    /// Opens and closes interfaces, a bit each, for the manager.
    fn change(&self, cx: &mut HartCtx, open: u64, close: u64) {
        let mut wanted = 0;
        for interface in self.all() {
            if open >> interface.number & 1 != 0 {
                // It has a region: what it has been asked is being done.
                let written = interface_event::WRITTEN << interface.number;
                self.news.fetch_and(!written, Ordering::SeqCst);
                let answer = interface.answer.lock();
                wanted |= self.open(cx, interface, answer.is_due);
            }
            if close >> interface.number & 1 != 0 {
                wanted |= self.close(cx, interface);
            }
        }
        self.request(cx, wanted);
    }

    /// Opens an interface's page; without an answer that `is_due` it stays open only if a region is connected. As
    /// [`Accelerators::close`].
    fn open(&self, cx: &mut HartCtx, interface: &Interface, is_due: bool) -> u32 {
        // A hart that knows it otherwise traps once more.
        interface.leaf.fetch_or(WRITE, Ordering::SeqCst);
        if is_due || flags(interface, STAT) & stat::CONNECTED != 0 {
            return 0;
        }
        cold_path();
        self.close(cx, interface)
    }

    /// Closes an interface's page. Returns its bit if a region is to be requested for it. Where a vCPU may still write
    /// the page, this is looked at when it does not any more ([`recheck_closed`]).
    #[inline(never)]
    fn close(&self, cx: &mut HartCtx, interface: &Interface) -> u32 {
        let mut looks = true;
        if interface.leaf.fetch_and(!WRITE, Ordering::SeqCst) & WRITE != 0 {
            for vcpu in system().vms[interface.vm].all_vcpus() {
                // Both at once: a vCPU that takes the one takes the other. One that does not run takes them before it
                // runs.
                vcpu.signal(signal::CLOSED | signal::RECHECK_CLOSED_PAGE);
                if !vcpu.state.has_left() {
                    looks = false;
                    signals::notify(cx, vcpu);
                }
            }
        }
        u32::from(looks && wants_region(interface)) << interface.number
    }
}

/// Carries out a store to a virtual device that has trapped.
pub fn store(cx: &mut HartCtx, interface: &Interface, address: u64, value: u32) {
    let register = interface.host | address & (PAGE_SIZE - 1);
    // Safety: a register of an interface that is its VM's; it takes writes of anything at any time.
    unsafe { (register as *mut u32).write_volatile(value) };
    if interface.leaf.load(Ordering::Relaxed) & WRITE != 0 {
        // It is permitted by now; the hart still knew it otherwise.
        arch::fence_own_stage2();
        return;
    }
    system().accelerators.request(cx, 1 << interface.number);
}

/// A vCPU of the VM ran while a virtual device was closed, and cannot write it any more: what it has asked for
/// meanwhile has not trapped.
pub fn recheck_closed(cx: &mut HartCtx, vm: &Vm) {
    let own = &system().accelerators;
    let mut wanted = 0;
    for interface in own.of(vm) {
        if interface.leaf.load(Ordering::Relaxed) & WRITE == 0 && wants_region(interface) {
            wanted |= 1 << interface.number;
        }
    }
    own.request(cx, wanted);
}

/// Whether the VM has asked for a computation that has not begun, or one is unfinished, and no region is connected.
fn wants_region(interface: &Interface) -> bool {
    match flags(interface, STAT) & (stat::CONNECTED | stat::UNFINISHED) {
        0 => flags(interface, START) & 1 != 0,
        flags => flags == stat::UNFINISHED,
    }
}

/// A register of an interface; 0 where the fabric has none.
fn flags(interface: &Interface, register: u64) -> u32 {
    // Safety: a register of an interface, or of what is not there.
    unsafe { entry::probe_register(interface.host + register) }.unwrap_or(0)
}

/// All vCPUs of a VM have stopped: its virtual devices are closed, and what they compute or were asked to compute ends.
/// [`has_ended`] says when. The vCPUs have no translations cached when they start again.
pub fn end(cx: &mut HartCtx, vm: &Vm) {
    let own = &system().accelerators;
    let mut ended = 0;
    for interface in own.of(vm) {
        interface.leaf.fetch_and(!WRITE, Ordering::Relaxed);
        ended |= interface_event::ENDED << interface.number;
        // Safety: a register of an interface whose VM has ended, or of what is not there; it takes this at any time.
        if unsafe { entry::probe_register(interface.host + END) }.is_some() {
            // Safety: as above, and it is there.
            unsafe { ((interface.host + END) as *mut u32).write_volatile(1) };
        }
    }
    if ended != 0 {
        arch::fence_after_device();
        own.news.fetch_or(ended, Ordering::SeqCst);
        own.notify_waiter(cx);
    }
}

/// Whether nothing that the VM's virtual devices were asked for can reach memory any more: within the bound that the
/// register END of `fabric/regs/virtual_device.rdl` states, whatever the device manager does.
pub fn has_ended(vm: &Vm) -> bool {
    let mut of_vm = system().accelerators.of(vm);
    !of_vm.any(|interface| flags(interface, END) & 1 != 0)
}

fn manages(vcpu: &Vcpu) -> Result<&'static Accelerators, SbiError> {
    let system = system();
    if vcpu.vm.index == system.blob.header.device_manager as usize {
        Ok(&system.accelerators)
    } else {
        Err(SbiError::DENIED)
    }
}

/// The call `accelerator_requests`, in which the vCPU may wait or may not.
pub fn requests(
    cx: &mut HartCtx,
    vcpu: &'static Vcpu,
    [listen, open, close, waits]: [u64; 4],
    may_wait: bool,
) -> SbiResult {
    let own = manages(vcpu)?;
    let unknown = (listen | open | close) & !own.present;
    if waits > u64::from(may_wait) || unknown | open & close != 0 {
        return Err(SbiError::INVALID_PARAM);
    }
    own.listened.store(listen as u32, Ordering::SeqCst);
    if open | close != 0 {
        own.change(cx, open, close);
    }
    if waits == 1 {
        // Before it looks: who has news from now on wakes it.
        own.waiter
            .store(u32::from(vcpu.handle) + 1, Ordering::SeqCst);
        if !own.has_news() {
            block::wait_for_interrupt_or(cx, vcpu, Wait::News);
            return Ok(0);
        }
    }
    Ok(own.take_news())
}
