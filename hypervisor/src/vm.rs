//! A virtual machine, its vCPUs and its doorbells, which refer to each other.

pub mod devices;
pub mod lifecycle;
pub mod vcpu;

use crate::arch::context::Exception;
use crate::body::Body;
use crate::interrupt_page::Page;
use crate::log::Line;
use crate::service::Service;
use crate::sync::{Apart, Owned};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64};
#[cfg(not(feature = "onchip"))]
pub use tactus_abi::blob::Region as Memory;
#[cfg(feature = "onchip")]
pub use tactus_abi::blob::onchip::Memory;
#[cfg(feature = "dispatch-ahead")]
use tactus_abi::blob::warm::WarmRange;
use tactus_abi::blob::{self, Class, limit};
use tactus_abi::hypercall::VmState;
use tactus_hypervisor::lock::Lock;
use tactus_hypervisor::ownership::Owner;
use tactus_hypervisor::relocation::Relocation;
use tactus_hypervisor::run_state::RunState;
use tactus_hypervisor::vplic::Vplic;
use tactus_hypervisor::vuart::Vuart;
use tactus_policy::ready::Handle;
use tactus_policy::record::Record;
use tactus_policy::schedule::Runs;
use tactus_policy::table::{Array, Table};

/// Its virtual devices.
#[repr(C)]
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
    /// It restarts.
    Restart,
    /// It is off: its manager has stopped it.
    #[cfg(feature = "management")]
    Stop,
    /// It is off, its memory cleared for another image.
    #[cfg(feature = "management")]
    Hold,
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
    /// What concerns its managers: whether its memory is theirs to write, and what they read of its ends. In one field,
    /// as most hypervisors have nothing of it.
    #[cfg(feature = "management")]
    managed: lifecycle::managed::Managed,
    /// The fault that ends it, until it has been reported.
    fault: Option<Fault>,
    /// What is written of that.
    line: Line,
    /// Pieces of its end that are done; of a fault's report, while there is one.
    pieces: u32,
}

/// What is a VM's of what there is in all.
#[derive(Clone, Copy, Default)]
struct Parts {
    /// vCPUs of the configuration.
    vcpus: &'static Table<Vcpu>,
    /// These, and behind them the places of those that hypercalls make.
    all_vcpus: &'static Table<Vcpu>,
    /// The doorbells that it rings.
    doorbells: &'static Table<Doorbell>,
}

/// A VM. A doorbell uses the first two cache lines.
#[repr(C, align(64))]
pub struct Vm {
    /// Index in the configuration.
    pub index: usize,
    /// vCPUs, as bits, that take their interrupts by pages. Written with `devices` locked.
    pages: AtomicU32,
    /// Written at boot only.
    parts: Owned<Parts>,
    devices: Lock<Devices>,
    /// For people.
    pub name: &'static str,
    config: &'static blob::Vm,
    /// Its memory.
    pub memory: &'static Memory,
    life: Lock<Life>,
    /// Time its vCPUs have had on each hart, in ticks.
    pub ticks: Array<AtomicU64, { limit::HARTS }>,
    /// Its channels, by number, whose doorbells were rung too early to interrupt its real-time vCPU's hart (protocol
    /// I1).
    pub early_rings: AtomicU32,
    /// Its physical sources, bit `n` for source `n`, that it has completed too early for that hart. They are still
    /// claimed.
    early_completions: AtomicU64,
    /// What it does for others, by calls.
    pub service: Service,
}

const _: () = assert!(core::mem::offset_of!(Vm, devices) == 64);

impl Vm {
    /// A VM that is off.
    pub fn new(index: usize, config: &'static blob::Vm, memory: &'static Memory) -> Self {
        Self {
            index,
            name: blob::name_text(&config.name),
            config,
            memory,
            parts: Owned::new(Parts::default()),
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
                #[cfg(feature = "management")]
                managed: lifecycle::managed::Managed::default(),
                fault: None,
                line: Line::new(),
                pieces: 0,
            }),
            early_rings: AtomicU32::new(0),
            early_completions: AtomicU64::new(0),
            service: Service::new(),
            ticks: Array([const { AtomicU64::new(0) }; limit::HARTS]),
        }
    }

    /// Its configuration.
    pub fn config(&self) -> &'static blob::Vm {
        self.config
    }

    /// Takes its vCPUs and the doorbells that it rings from among all.
    ///
    /// # Safety
    /// Called once, at boot, before any guest or other hart runs.
    pub unsafe fn adopt(&self, vcpus: &'static [Vcpu], doorbells: &'static [Doorbell]) {
        let count = self.config.vcpus + self.config.rt_vcpus;
        let all = &vcpus[self.config.first_vcpu as usize..][..count as usize];
        let doorbells = &doorbells[self.config.first_channel_end as usize..];
        // Safety: the caller's promise.
        *unsafe { self.parts.get() } = Parts {
            vcpus: Table::new(&all[..self.config.vcpus as usize]),
            all_vcpus: Table::new(all),
            doorbells: Table::new(&doorbells[..self.config.channel_ends as usize]),
        };
    }

    /// Its vCPUs of the configuration, by number.
    pub fn vcpus(&self) -> &'static Table<Vcpu> {
        // Safety: not written after boot.
        unsafe { self.parts.get() }.vcpus
    }

    /// The places of vCPUs that hypercalls make, by number.
    pub fn made_vcpus(&self) -> &'static [Vcpu] {
        let made = self.all_vcpus().get(self.vcpus().len()..);
        made.unwrap_or_default()
    }

    /// Both.
    pub fn all_vcpus(&self) -> &'static Table<Vcpu> {
        // Safety: as above.
        unsafe { self.parts.get() }.all_vcpus
    }

    /// The doorbells that it rings, by channel.
    pub fn doorbells(&self) -> &'static Table<Doorbell> {
        // Safety: as above.
        unsafe { self.parts.get() }.doorbells
    }

    /// Its stream on the console's line.
    pub fn stream(&self) -> u8 {
        self.index as u8 + 1
    }

    /// Physical address of the first one of guest-physical bytes of its memory, if all are. Behind the end of a page,
    /// the next ones may be elsewhere.
    #[inline(never)]
    pub fn memory_at(&self, guest: u64, length: u64) -> Option<u64> {
        let memory = self.memory;
        let offset = guest.checked_sub(memory.guest)?;
        (offset.checked_add(length)? <= memory.size).then(|| memory.host_at(offset))
    }

    /// Physical address of a guest-physical byte, which is in its memory.
    pub fn host_of(&self, guest: u64) -> u64 {
        self.memory.host_at(guest - self.memory.guest)
    }
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

/// A vCPU. Behind its body, a cache line has all that a sender reads and what each trap of its own uses.
#[repr(C)]
pub struct Vcpu {
    body: Owned<Body>,
    /// The hart that owns it (protocol V1).
    pub owner: Owner<Bodies>,
    /// Its VM.
    pub vm: &'static Vm,
    /// Its place among all: one of [`tactus_policy::schedule::precedence`] plus the priority.
    pub precedence: u32,
    /// What a hart runs that runs it.
    pub runs: Runs,
    /// Index among all vCPUs.
    pub handle: Handle,
    /// Real time or best effort.
    pub class: Class,
    /// Higher first, within the class.
    pub priority: u8,
    /// Its bit among the VM's vCPUs of the configuration; 0 for one that a hypercall has made.
    pub bit: u32,
    /// What it is doing (protocol F1).
    pub state: RunState,
    /// Its VM is its own: it has no other vCPUs, and can't have any.
    pub alone: bool,
    /// Its home hart, and what admission has ordered about it.
    pub relocation: Relocation,
    /// Number within its VM.
    pub index: usize,
    /// Harts it may run on, by index. A real-time one runs on its home.
    pub harts: u64,
    /// Those of `harts` that run it at all its levels.
    pub kernel_harts: u64,
    /// Those of `harts` that may run it as it is: changed by its owner, or while it is stopped by the holder of
    /// its VM's lifecycle lock (protocol V1).
    affinity: AtomicU64,
    /// How often it has entered its kernel on a hart for user level only, and so left it.
    pub kernel_entries: AtomicU64,
    /// The page by which it takes its interrupts.
    pub page: Page,
    /// Its virtual PLIC context's output. With the next ones in a cache line of its own: who sends it something reads
    /// what stands above.
    pub external: Apart<AtomicBool>,
    /// Bits of [`signal`].
    signals: AtomicU32,
    /// It has the slot of a mailbox that it waits for.
    pub message: AtomicBool,
    /// Fences asked of it, and done by it, counted.
    pub fences_asked: AtomicU32,
    /// See `fences_asked`.
    pub fences_done: AtomicU32,
    /// A place for a vCPU that a hypercall makes: it is taken, or about to be.
    pub claimed: AtomicBool,
    /// How its reservation stands, as of the end of its last job.
    pub record: Record,
    /// How the admission that it asked for has ended, while it was not looking: see [`crate::realtime`].
    pub verdict: AtomicU32,
    /// Since when, in ticks, it may be the cause of an interrupt of a hart that runs a real-time vCPU (protocol I1).
    interrupts_from: AtomicU64,
    /// The least time between two such interrupts, in ticks.
    pub interrupt_distance: u64,
    /// Lines of its VM's memory that it uses soon after its timer has woken it.
    #[cfg(feature = "dispatch-ahead")]
    pub warm: &'static [WarmRange],
}

const _: () =
    assert!(core::mem::offset_of!(Vcpu, relocation) - core::mem::offset_of!(Vcpu, owner) < 60);
const _: () = assert!(core::mem::offset_of!(Vcpu, owner).is_multiple_of(64));

/// Access to the bodies of the vCPUs that a hart owns. There is one for each hart, the first field of its
/// [`crate::hart::context::HartCtx`].
#[derive(Debug)]
#[repr(C)]
pub struct Bodies(());

/// The doorbell at a VM's end of a channel.
pub struct Doorbell {
    /// The VM that hears it.
    pub vm: &'static Vm,
    /// The source of its virtual PLIC.
    pub source: u32,
    /// A vCPU that has enabled the interrupt, of several a real-time one, or null: a hint where to deliver it.
    pub listener: AtomicPtr<Vcpu>,
}
