//! Everything there is: made once at boot, shared by all harts, never freed.

use crate::accelerators::interfaces::Accelerators;
use crate::hart::Hart;
use crate::hart::context::HartCtx;
use crate::message::endpoint::Endpoint;
#[cfg(feature = "pci")]
use crate::pci;
use crate::plic::Plic;
use crate::ready::SystemQueue;
use crate::sync::Owned;
use crate::vm::{Vcpu, Vm};
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use tactus_abi::blob::Blob;
use tactus_abi::map::PASSTHROUGH_SOURCE_MAX;
use tactus_hypervisor::lock::Lock;
use tactus_policy::ready::Handle;
use tactus_policy::table::{Array, Table};

/// Where a physical interrupt source goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// Not used, neither by a VM nor by the hypervisor.
    Unused,
    /// Passed to the VM of this index; enabled in this PLIC context.
    Vm(usize, u32),
    /// The UART that carries the consoles.
    Console,
    /// The region allocator.
    #[cfg(feature = "accelerators")]
    Allocator,
}

/// The system, as configured and as it is.
pub struct System {
    /// The configuration.
    pub blob: Blob<'static>,
    /// Harts, by index in the configuration.
    pub harts: &'static Table<Hart>,
    /// Their private state, by the same index (protocol H1).
    pub contexts: &'static Table<Owned<HartCtx>>,
    /// VMs, by index.
    pub vms: &'static Table<Vm>,
    /// vCPUs of all VMs, by handle.
    pub vcpus: &'static Table<Vcpu>,
    /// Ready best-effort vCPUs of the whole system.
    pub best_effort: Lock<SystemQueue>,
    /// VMs that are not off, without the device manager: it is there for others.
    pub vms_on: AtomicU32,
    /// How long a preempted best-effort vCPU is held, in ticks.
    pub held_for_ticks: u64,
    /// What holds messages, by channel end.
    pub endpoints: &'static Table<Endpoint>,
    /// Virtual devices of accelerators.
    pub accelerators: Accelerators,
    /// PCI functions that VMs have, if they have any.
    #[cfg(feature = "pci")]
    pub pci: Option<pci::Host>,
    /// The interrupt controller, if wired interrupts are used.
    pub plic: Option<Plic>,
    /// By physical source.
    pub routes: Array<Route, { PASSTHROUGH_SOURCE_MAX as usize + 1 }>,
}

impl System {
    /// Whether real-time guests' interrupts come before, and into, what is done for best-effort ones. Nothing else is
    /// left out without.
    pub fn is_separated(&self) -> bool {
        self.blob.header.separation != 0
    }

    /// The vCPU of a handle that there is. Compiled once, for paths that are not urgent.
    #[inline(never)]
    pub fn vcpu(&self, handle: Handle) -> &'static Vcpu {
        &self.vcpus[usize::from(handle)]
    }
}

static SYSTEM: AtomicPtr<System> = AtomicPtr::new(core::ptr::null_mut());

/// Makes the system known to all; called once by the boot hart before guests or other harts run.
pub fn install(system: &'static System) {
    SYSTEM.store((&raw const *system).cast_mut(), Ordering::Release);
}

/// The system. Only for code that runs after [`install`].
pub fn system() -> &'static System {
    // Safety: set once, before any caller runs, from a reference that lives for ever.
    unsafe { &*SYSTEM.load(Ordering::Relaxed) }
}
