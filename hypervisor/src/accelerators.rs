//! Virtual devices behind which accelerators stand (Ker-ONE, section 4.2): each is a page of the fabric, an interface, which its VM may always read. While
//! the device manager permits it the VM writes it as well, and the hypervisor has no part in it. Otherwise a store traps: it is carried out here, as
//! an interface keeps all its registers, and the manager hears of it, if it wants to.
//!
//! So no vCPU ever waits in the hypervisor for a region, and there is nothing to undo when a VM or the manager dies: what a VM has asked for is in
//! its interface, and here is only where the manager should look.

use crate::arch;
use crate::arch::stage2::WRITE;
use crate::hart::Hart;
use crate::sbi::SbiError;
use crate::sched;
use crate::system::system;
use crate::vcpu::{State, Vcpu, signal};
use crate::vm::Vm;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use tactus_abi::hypercall::news;
use tactus_abi::map::{FAULT_SOURCE, PAGE_SIZE};

/// A virtual device.
pub struct Interface {
    /// Its number.
    pub number: u32,
    /// Index of its VM.
    pub vm: usize,
    /// Guest-physical address of its page.
    pub guest: u64,
    /// Physical address of its page.
    pub host: u64,
    /// Where the page is mapped; only `WRITE` changes there.
    pub leaf: &'static AtomicU64,
    /// Another one.
    pub next: Option<&'static Self>,
}

/// All of them.
pub struct Accelerators {
    first: Option<&'static Interface>,
    /// What the manager has not been told of: [`news`].
    news: AtomicU32,
    /// Those, a bit each, for which the manager is to be interrupted when they are written.
    listened: AtomicU32,
}

impl Accelerators {
    /// The virtual devices from this one on.
    pub const fn new(first: Option<&'static Interface>) -> Self {
        Self {
            first,
            news: AtomicU32::new(0),
            listened: AtomicU32::new(0),
        }
    }

    /// A VM's virtual device at a guest-physical address.
    pub fn at(&self, vm: &Vm, address: u64) -> Option<&'static Interface> {
        let page = address & !(PAGE_SIZE - 1);
        self.of(vm).find(|interface| interface.guest == page)
    }

    /// At most [`tactus_abi::blob::limit::INTERFACES`].
    fn all(&self) -> impl Iterator<Item = &'static Interface> {
        core::iter::successors(self.first, |interface| interface.next)
    }

    fn of(&self, vm: &Vm) -> impl Iterator<Item = &'static Interface> {
        let vm = vm.index;
        self.all().filter(move |interface| interface.vm == vm)
    }

    /// The manager is told something of all virtual devices of a VM.
    #[inline(never)]
    fn tell(&self, hart: &'static Hart, vm: &Vm, what: u32) {
        let bits = self
            .of(vm)
            .fold(0, |bits, interface| bits | what << interface.number);
        if bits != 0 {
            self.news.fetch_or(bits, Ordering::SeqCst);
            interrupt_manager(hart);
        }
    }
}

/// Where there is a virtual device, there is a manager.
fn interrupt_manager(hart: &'static Hart) {
    let manager = system().blob.header.device_manager as usize;
    system().vms[manager].signal(hart, FAULT_SOURCE);
}

/// Carries out a store to a virtual device that has trapped.
pub fn store(hart: &'static Hart, interface: &Interface, address: u64, value: u32) {
    let register = interface.host | address & (PAGE_SIZE - 1);
    // Safety: a register of an interface that is its VM's; it takes writes of anything at any time.
    unsafe { (register as *mut u32).write_volatile(value) };
    if interface.leaf.load(Ordering::Relaxed) & WRITE != 0 {
        // It is permitted by now; the hart still knew it otherwise.
        arch::fence_own_stage2();
        return;
    }
    // The manager looks at the interface when it has seen this.
    arch::fence_after_device();
    let own = &system().accelerators;
    let bit = news::WRITTEN << interface.number;
    own.news.fetch_or(bit, Ordering::SeqCst);
    // Once, until the manager has come: however much a VM writes.
    if own.listened.fetch_and(!bit, Ordering::SeqCst) & bit != 0 {
        interrupt_manager(hart);
    }
}

/// A vCPU of the VM ran while a virtual device was closed, and cannot write it any more: what it has written meanwhile has not trapped.
pub fn closed(hart: &'static Hart, vm: &Vm) {
    system().accelerators.tell(hart, vm, news::CLOSED);
}

/// All vCPUs of a VM have stopped: its virtual devices are closed. They have no translations cached when they start again.
pub fn end(hart: &'static Hart, vm: &Vm) {
    let own = &system().accelerators;
    for interface in own.of(vm) {
        interface.leaf.fetch_and(!WRITE, Ordering::Relaxed);
    }
    own.tell(hart, vm, news::ENDED);
}

fn manages(vcpu: &Vcpu) -> Result<&'static Accelerators, SbiError> {
    let system = system();
    if vcpu.vm.index == system.blob.header.device_manager as usize {
        Ok(&system.accelerators)
    } else {
        Err(SbiError::DENIED)
    }
}

/// The call `accelerator_permit`.
pub fn permit(
    hart: &'static Hart,
    vcpu: &Vcpu,
    number: u64,
    writable: u64,
) -> Result<u64, SbiError> {
    let interface = manages(vcpu)?
        .all()
        .find(|interface| u64::from(interface.number) == number)
        .filter(|_| writable <= 1)
        .ok_or(SbiError::INVALID_PARAM)?;
    if writable == 1 {
        // A hart that knows it otherwise traps once more.
        interface.leaf.fetch_or(WRITE, Ordering::Relaxed);
        return Ok(0);
    }
    interface.leaf.fetch_and(!WRITE, Ordering::Relaxed);
    for vcpu in system().vms[interface.vm].all_vcpus() {
        vcpu.signal(signal::CLOSED);
        // Any other takes notice of that before it runs.
        if vcpu.state() == State::Running {
            vcpu.signal(signal::TELLS);
            sched::notify(hart, vcpu);
        }
    }
    Ok(0)
}

/// The call `accelerator_requests`.
pub fn requests(vcpu: &Vcpu, listen: u64) -> Result<u64, SbiError> {
    let own = manages(vcpu)?;
    let listen = listen as u32 & news::ALL;
    own.listened.store(listen, Ordering::SeqCst);
    let told = listen | (news::ALL * (news::CLOSED | news::ENDED));
    Ok((own.news.fetch_and(!told, Ordering::SeqCst) & told).into())
}
