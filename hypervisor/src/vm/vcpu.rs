//! A virtual CPU: what others tell it, how it is made, who may touch its body.

use super::{Bodies, Life, Vcpu, Vm};
use crate::arch::context::{Context, Fpu};
use crate::body::{Body, Wait};
use crate::interrupt_page::Page;
use crate::log::Line;
use crate::migration::MigrationLimiter;
use crate::sched::modes;
use crate::sync::{Apart, Owned};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use tactus_abi::blob::{self, Blob, Class, Migration};
use tactus_hypervisor::ownership::Owner;
use tactus_hypervisor::relocation::Relocation;
use tactus_hypervisor::run_state::RunState;
pub use tactus_hypervisor::run_state::State;
use tactus_policy::lead::Lead;
use tactus_policy::livelock::Livelock;
use tactus_policy::ready::Handle;
use tactus_policy::record::{Figure, Record};
use tactus_policy::reservation::{Account, Kind, Reservation, Task};
use tactus_policy::schedule::{Runs, precedence};

/// What a vCPU is told by others.
pub mod signal {
    use tactus_abi::blob::limit;

    /// It is to stop.
    pub const STOP: u32 = 1 << 0;
    /// A software interrupt has been sent to it.
    pub const SOFTWARE: u32 = 1 << 1;
    /// Fences are asked of it: of translations.
    pub const FENCES: u32 = 1 << 2;
    /// Its VM may not write the page of a virtual device any more, of which the hart that it runs on may know nothing
    /// yet.
    pub const CLOSED: u32 = 1 << 3;
    /// Where that is so, with [`CLOSED`]: what it writes meanwhile does not trap, and is to be looked for.
    pub const RECHECK_CLOSED_PAGE: u32 = 1 << 4;
    /// Its VM's doorbells were rung, or device interrupts completed, too early to interrupt its hart (protocol I1).
    pub const EARLY: u32 = 1 << 5;
    /// With [`FENCES`]: of instructions, too.
    pub const FENCE_I: u32 = 1 << 6;
    /// Those that a vCPU takes notice of while it runs.
    pub const OF_RUNNING: u32 = SOFTWARE | FENCES | CLOSED | EARLY;
    /// From this bit on: the vCPUs of its VM, by index, that wait for its fences, with [`FENCES`].
    pub const AWAITED: u32 = 16;

    const _: () = assert!(AWAITED as usize + limit::VCPUS_PER_VM <= 32);

    /// The vCPU of that index waits for its fences.
    pub const fn awaits(index: usize) -> u32 {
        1 << (AWAITED as usize + index)
    }
}

/// The reservation that the configuration gives a vCPU, if any.
pub fn configured(vcpu: &blob::Vcpu) -> Option<Task> {
    let kind = match vcpu.periodic {
        0 => Kind::Server,
        _ => Kind::Periodic,
    };
    let reservation = Reservation::new(vcpu.period, vcpu.budget, vcpu.deadline);
    reservation.map(|reservation| Task { reservation, kind })
}

impl Vcpu {
    /// The stopped vCPU of that handle, at home on the first of its harts.
    pub fn new(handle: Handle, blob: &Blob<'static>, hgatp: u64, vm: &'static Vm) -> Self {
        let config = &blob.vcpus[usize::from(handle)];
        let job_ticks = blob.header.overheads.job;
        let kernel_harts = blob.kernel_harts(config);
        let automatic = blob.header.migration == Migration::Automatic as u32;
        let class = Class::from_raw(config.class).unwrap_or(Class::BestEffort);
        let precedence = precedence::of(class, config.priority as u8);
        let made = config.index >= vm.config().vcpus;
        let reserved = configured(config);
        Self {
            body: Owned::new(Body {
                context: Context::new(hgatp, vm.config().counters != 0),
                wait: Wait::Start,
                slice_left: 0,
                loaded_on: 0,
                fpu_on: 0,
                loader: None,
                uses_fpu: false,
                livelock: Livelock::new(),
                unfinished: false,
                reserved: reserved.is_some(),
                lead: Lead::new(config.lead as u16),
                fpu: Fpu::new(),
                migration_limiter: MigrationLimiter::if_limited(
                    automatic,
                    blob.header.timebase_hz.into(),
                ),
                criticality: modes::criticality(config),
                account: reserved.map(|Task { reservation, kind }| {
                    Account::new(reservation, kind, 0).with_overhead(job_ticks)
                }),
                next: None,
                pending_admission: None,
                message: None,
            }),
            owner: Owner::none(),
            handle,
            vm,
            index: config.index as usize,
            class,
            priority: config.priority as u8,
            precedence,
            runs: Runs::new(precedence, vm.index),
            harts: config.harts,
            kernel_harts,
            affinity: AtomicU64::new(kernel_harts),
            kernel_entries: AtomicU64::new(0),
            alone: vm.config().vcpus + vm.config().rt_vcpus == 1,
            bit: if made { 0 } else { 1 << config.index },
            state: RunState::new(),
            relocation: Relocation::new(
                kernel_harts.trailing_zeros(),
                [config.period, config.budget, config.deadline],
            ),
            signals: AtomicU32::new(0),
            interrupt_distance: config.interrupt_distance,
            interrupts_from: AtomicU64::new(0),
            page: Page::none(),
            external: Apart(AtomicBool::new(false)),
            message: AtomicBool::new(false),
            fences_asked: AtomicU32::new(0),
            fences_done: AtomicU32::new(0),
            claimed: AtomicBool::new(false),
            record: Record::default(),
            verdict: AtomicU32::new(0),
            #[cfg(feature = "dispatch-ahead")]
            warm: blob.warm_of(handle.into()),
        }
    }

    /// Says how its jobs have gone, if it has had any.
    #[unsafe(export_name = "tactus_report_jobs")]
    pub extern "C" fn report_jobs(&self) {
        if self.record.get(Figure::Jobs) == 0 {
            return;
        }
        let mut line = Line::new();
        line.begin_of("jobs", self.vm.name)
            .number("vcpu", self.index as u64)
            .text("record", "");
        for word in self.record.words() {
            line.decimal(word).words(",");
        }
        line.time().send();
    }

    /// Harts, as bits, that may run it as it is, if it is a best-effort one.
    pub fn affinity(&self) -> u64 {
        self.affinity.load(Ordering::Relaxed)
    }

    /// Whether the hart of that index may run it as it is, if it is a best-effort one.
    pub fn may_run_on(&self, hart: usize) -> bool {
        self.affinity() >> hart & 1 != 0
    }

    /// It is at user level and may go anywhere, or it is not.
    pub fn set_affinity(&self, anywhere: bool) {
        let reach = if anywhere {
            self.harts
        } else {
            self.kernel_harts
        };
        self.affinity.store(reach, Ordering::Relaxed);
    }

    /// Whether a hypercall makes it, in a place that the configuration keeps.
    pub const fn is_made(&self) -> bool {
        self.bit == 0
    }

    /// Where its registers are while it does not run: for the entry code.
    #[inline(always)]
    pub const fn context(&self) -> *const Context {
        (&raw const self.body).cast()
    }

    /// The body of a stopped vCPU, for the holder of its VM's lifecycle lock, which `_life` is the evidence of; `None`:
    /// it is not stopped.
    pub fn stopped_body<'life>(&'static self, _life: &'life mut Life) -> Option<&'life mut Body> {
        if self.state.get() != State::Stopped {
            return None;
        }
        // Safety: protocol V1: a stopped vCPU without an owner belongs to the holder of that lock, of which there is
        // one reference.
        Some(unsafe { self.body.get() })
    }

    /// What others have told it and it has not taken notice of yet: bits of [`signal`]. After a full fence.
    pub fn signals(&self) -> u32 {
        self.signals.load(Ordering::Relaxed)
    }

    /// Tells it so; returns what it had been told before.
    pub fn signal(&self, bits: u32) -> u32 {
        self.signals.fetch_or(bits, Ordering::SeqCst)
    }

    /// Takes notice of these; returns all it had been told.
    pub fn take_signals(&self, bits: u32) -> u32 {
        self.signals.fetch_and(!bits, Ordering::SeqCst)
    }

    /// The earliest time, in ticks, of the next interrupt that signals for it may cause on a hart that runs a real-time
    /// vCPU (protocol I1). All vCPUs that hypercalls of a VM create share one: their number adds no interrupts.
    fn interrupts_from(&self) -> &AtomicU64 {
        match self.vm.made_vcpus().first() {
            Some(first) if self.is_made() => &first.interrupts_from,
            _ => &self.interrupts_from,
        }
    }

    /// Grants a signal for it an interrupt of a hart that runs a real-time vCPU (protocol I1), to one of several
    /// senders and once in its interrupt distance.
    #[inline(always)]
    pub fn may_interrupt(&self, now: u64) -> bool {
        let (interrupts_from, until) = (self.interrupts_from(), now + self.interrupt_distance);
        let from = interrupts_from.load(Ordering::Relaxed);
        // Only the number of interrupts depends on it: no order of other accesses does.
        let mark =
            || interrupts_from.compare_exchange(from, until, Ordering::Relaxed, Ordering::Relaxed);
        now >= from && mark().is_ok()
    }

    /// Takes notice of these, if it has been told any of them; after a full fence.
    pub fn take_signals_if_any(&self, bits: u32) -> bool {
        self.signals() & bits != 0 && self.take_signals(bits) & bits != 0
    }

    /// Signals for it may cause the next interrupt at that time, in ticks (protocol I1).
    pub fn set_interrupts_from(&self, at: u64) {
        self.interrupts_from().store(at, Ordering::Relaxed);
    }

    /// Whether it is to stop.
    pub fn stops(&self) -> bool {
        self.signals() & signal::STOP != 0
    }

    /// Index of its home hart. A hart that has sent the vCPU something reads it after a full fence.
    #[inline(always)]
    pub fn home(&self) -> usize {
        self.relocation.home()
    }

    /// It runs on the hart of that index, its owner, which is its home from now on; a full fence is to follow.
    #[inline(always)]
    pub fn settle(&self, hart: usize) {
        self.relocation.settle(hart);
        self.state.begin_running();
    }
}

impl Bodies {
    /// For a hart that owns no vCPU yet.
    pub const fn new() -> Self {
        Self(())
    }

    /// What [`Vcpu::owner`] knows the hart by.
    #[inline(always)]
    pub fn owner(&mut self) -> *mut Self {
        &raw mut *self
    }

    /// The body of a vCPU that this hart owns.
    #[inline(always)]
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn of(&mut self, vcpu: &'static Vcpu) -> &mut Body {
        if vcpu.owner.as_ptr() != self.owner() {
            not_owned();
        }
        // Safety: protocol V1: the hart owns the vCPU, and this borrow is the only one of any body on this hart.
        unsafe { vcpu.body.get() }
    }

    /// The bodies of two vCPUs that this hart owns.
    #[inline(always)]
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn of_two(&mut self, one: &'static Vcpu, other: &'static Vcpu) -> [&mut Body; 2] {
        let owner = self.owner();
        if (one.owner.as_ptr() != owner)
            | (other.owner.as_ptr() != owner)
            | core::ptr::eq(one, other)
        {
            not_owned();
        }
        // Safety: as for `of`; they are two.
        unsafe { [one.body.get(), other.body.get()] }
    }
}

#[cold]
#[inline(never)]
#[cfg_attr(debug_assertions, track_caller)]
fn not_owned() -> ! {
    crate::defect("a hart uses a vCPU that it does not own")
}
