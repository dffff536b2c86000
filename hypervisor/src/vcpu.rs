//! A virtual CPU.

use crate::arch::context::Context;
use crate::hart::{Hart, running};
use crate::loader::Loader;
use crate::sync::Owned;
use crate::vm::Vm;
use core::cell::Cell;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use tactus_abi::blob::{Class, limit};
use tactus_policy::livelock::Livelock;
use tactus_policy::ready::Handle;

/// What a vCPU is doing. Changed by its home hart; from `Ready` by the hart that takes it from its queue; from `Stopped` to
/// `Waiting` by whoever starts it, with its VM's lifecycle locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// Not started, or stopped.
    Stopped,
    /// In a ready queue.
    Ready,
    /// On its home hart.
    Running,
    /// Waiting for what [`Body::wait`] says.
    Waiting,
}

/// What a waiting vCPU waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// To be taken notice of by its home hart, and then to run.
    Start,
    /// An interrupt (`wfi`).
    Interrupt,
    /// Fences of other vCPUs of its VM; bit `n` for vCPU `n`, which has to do its fence number `fences[n]`.
    Fences(u16, [u32; limit::VCPUS_PER_VM]),
}

/// What only one hart touches: the one the vCPU runs on; its home while it waits; nobody while it is ready; and
/// whoever holds its VM's lifecycle lock while it is stopped.
#[repr(C)]
pub struct Body {
    /// Registers. First: the entry code finds them there.
    pub context: Context,
    /// Why it waits.
    pub wait: Wait,
    /// Rest of its slice, in ticks.
    pub slice_left: u64,
    /// Index of the hart that holds its registers as they were saved last, plus one.
    pub loaded_on: usize,
    /// Index of the hart that holds its floating-point registers as they were saved last, plus one.
    pub fpu_on: usize,
    /// Its image is still to be loaded.
    pub loader: Option<Loader>,
    /// Whether it traps to itself for ever.
    pub livelock: Livelock,
}

/// A vCPU.
#[repr(C)]
pub struct Vcpu {
    body: Owned<Body>,
    hart: Cell<Option<&'static Hart>>,
    /// Index among all vCPUs.
    pub handle: Handle,
    /// Its VM.
    pub vm: &'static Vm,
    /// Number within its VM.
    pub index: usize,
    /// Real time or best effort.
    pub class: Class,
    /// Higher first, within the class.
    pub priority: u8,
    /// Its place among all: one of [`running`] plus the priority.
    pub precedence: u32,
    /// Harts it may run on, by index.
    pub harts: u64,
    state: AtomicU8,
    home: AtomicU32,
    /// A software interrupt has been sent to it.
    pub software: AtomicBool,
    /// Its virtual PLIC context's output.
    pub external: AtomicBool,
    /// It is to stop.
    pub stop: AtomicBool,
    /// Fences asked of it, and done by it, counted.
    pub fences_asked: AtomicU32,
    /// See `fences_asked`.
    pub fences_done: AtomicU32,
}

// Safety: `body` has its rule of ownership; `hart` is used by the hart that runs the vCPU only.
unsafe impl Sync for Vcpu {}

impl Vcpu {
    /// A stopped vCPU, at home on the first of its harts.
    pub fn new(
        handle: Handle,
        config: &tactus_abi::blob::Vcpu,
        hgatp: u64,
        vm: &'static Vm,
    ) -> Self {
        let class = Class::from_raw(config.class).unwrap_or(Class::BestEffort);
        let base = match class {
            Class::BestEffort => running::BEST_EFFORT,
            Class::RealTime => running::REAL_TIME,
        };
        Self {
            body: Owned::new(Body {
                context: Context::new(hgatp),
                wait: Wait::Start,
                slice_left: 0,
                loaded_on: 0,
                fpu_on: 0,
                loader: None,
                livelock: Livelock::new(),
            }),
            hart: Cell::new(None),
            handle,
            vm,
            index: config.index as usize,
            class,
            priority: config.priority as u8,
            precedence: base + config.priority,
            harts: config.harts,
            state: AtomicU8::new(State::Stopped as u8),
            home: AtomicU32::new(config.harts.trailing_zeros()),
            software: AtomicBool::new(false),
            external: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            fences_asked: AtomicU32::new(0),
            fences_done: AtomicU32::new(0),
        }
    }

    /// What belongs to one hart at a time.
    ///
    /// # Safety
    /// This hart owns the body by the rule stated at [`Body`], and no other reference to it is in use.
    #[allow(
        clippy::mut_from_ref,
        reason = "ownership between harts is the caller's to prove"
    )]
    pub unsafe fn body(&self) -> &mut Body {
        // Safety: the caller's promise.
        unsafe { self.body.get() }
    }

    /// What it is doing.
    pub fn state(&self) -> State {
        match self.state.load(Ordering::SeqCst) {
            0 => State::Stopped,
            1 => State::Ready,
            2 => State::Running,
            _ => State::Waiting,
        }
    }

    /// See [`State`] for who may.
    pub fn set_state(&self, state: State) {
        self.state.store(state as u8, Ordering::SeqCst);
    }

    /// Index of its home hart.
    pub fn home(&self) -> usize {
        self.home.load(Ordering::SeqCst) as usize
    }

    /// Moves it to a hart, which runs it.
    pub fn settle(&self, hart: &'static Hart) {
        self.home.store(hart.index as u32, Ordering::SeqCst);
        self.hart.set(Some(hart));
    }

    /// The hart that runs it; only for code that runs there.
    pub fn hart(&self) -> &'static Hart {
        match self.hart.get() {
            Some(hart) => hart,
            None => panic!("a vCPU runs that never settled"),
        }
    }
}
