//! A virtual machine: its memory, its virtual devices, where it is in its life.

pub mod devices;
pub mod lifecycle;

use crate::arch::context::Exception;
use crate::log::Line;
use core::sync::atomic::{AtomicU32, AtomicU64};
use tactus_abi::blob::{self, limit};
use tactus_abi::hypercall::VmState;
use tactus_hypervisor::lock::Lock;
use tactus_hypervisor::vplic::Vplic;
use tactus_hypervisor::vuart::Vuart;
use tactus_policy::table::Array;

/// Its virtual devices.
pub struct Devices {
    plic: Vplic,
    uart: Vuart,
    /// The UART's interrupt line, as the PLIC knows it.
    uart_line: bool,
    /// Physical sources claimed for the VM and not yet completed by it, bit `n` for source `n`.
    held: u64,
}

/// Why a VM ends.
#[derive(Clone, Copy, Debug)]
pub enum End {
    /// It is off: it asked to be.
    Shutdown,
    /// It is off: it reported a failure, with this code.
    Fail(u32),
    /// It is off, by its `on_fault` policy.
    Fault,
    /// It starts anew.
    Restart,
}

/// What a vCPU starts with.
pub struct Entry {
    /// Its first instruction.
    pub pc: u64,
    /// Its argument registers.
    pub a0: u64,
    /// See `a0`.
    pub a1: u64,
    /// Its stack pointer.
    pub sp: u64,
}

impl Entry {
    const fn new(pc: u64, a0: u64, a1: u64) -> Self {
        Self { pc, a0, a1, sp: 0 }
    }
}

/// What is to be said of a fault.
struct Fault {
    vcpu: usize,
    why: &'static str,
    exception: Exception,
    time: u64,
}

/// Where a VM is between its start and its end; under its lifecycle lock.
pub struct Life {
    state: VmState,
    /// vCPUs that are not stopped.
    alive: u32,
    /// The VM stops; what comes then.
    ending: Option<End>,
    restarts: u32,
    last_cause: u8,
    /// The fault that ends it, until it has been reported.
    fault: Option<Fault>,
    /// What is written of that.
    line: Line,
    /// Pieces of its end that are done; of a fault's report, while there is one.
    pieces: u32,
}

/// A VM.
pub struct Vm {
    /// Index in the configuration.
    pub index: usize,
    /// For people.
    pub name: &'static str,
    config: &'static blob::Vm,
    memory: &'static blob::Region,
    /// vCPUs, as bits, that take their interrupts by pages. Written with `devices` locked.
    pages: AtomicU32,
    devices: Lock<Devices>,
    life: Lock<Life>,
    /// Time its vCPUs have had on each hart, in ticks.
    pub ticks: Array<AtomicU64, { limit::HARTS }>,
}

impl Vm {
    /// A VM that is off.
    pub fn new(index: usize, config: &'static blob::Vm, memory: &'static blob::Region) -> Self {
        Self {
            index,
            name: blob::name_text(&config.name),
            config,
            memory,
            pages: AtomicU32::new(0),
            devices: Lock::new(Devices {
                plic: Vplic::new(config.vcpus as usize),
                uart: Vuart::new(),
                uart_line: false,
                held: 0,
            }),
            life: Lock::new(Life {
                state: VmState::Off,
                alive: 0,
                ending: None,
                restarts: 0,
                last_cause: 0,
                fault: None,
                line: Line::new(),
                pieces: 0,
            }),
            ticks: Array([const { AtomicU64::new(0) }; limit::HARTS]),
        }
    }

    /// Its configuration.
    pub fn config(&self) -> &'static blob::Vm {
        self.config
    }

    /// Its memory.
    pub fn memory(&self) -> &'static blob::Region {
        self.memory
    }

    /// Its stream on the console's line.
    pub fn stream(&self) -> u8 {
        self.index as u8 + 1
    }

    /// Physical address of guest-physical bytes of its memory, if all are.
    #[inline(never)]
    pub fn memory_at(&self, guest: u64, length: u64) -> Option<u64> {
        let memory = self.memory();
        let offset = guest.checked_sub(memory.guest)?;
        (offset.checked_add(length)? <= memory.size).then_some(memory.host + offset)
    }
}
