//! RT-App: the program of the real-time vCPUs, which measures how late it is released.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};

use tactus_bench::{Moments, Random, busy_until, next_release};
use tactus_guest::rt::{self, Reservation, RtStack, RtStatus, RtVcpu};
use tactus_guest::stopwatch::{self, Scale};
use tactus_guest::time;

use crate::refuse;

/// Bytes of a stack.
const STACK: usize = 8192;

/// What an app does, and what it found.
#[derive(Clone, Copy, Debug)]
struct Inside {
    scale: Option<Scale>,
    work: Work,
    found: Found,
}

/// What an app found.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// Cycles from the moment of a release to the app's first instruction.
    pub late: Moments,
    /// How it stood at the end, but for its last job.
    pub status: RtStatus,
}

/// One real-time vCPU's work, its stack, and what becomes of it.
pub struct App {
    inside: UnsafeCell<Inside>,
    done: AtomicBool,
    stack: RtStack<STACK>,
}

// SAFETY: `inside` is the maker's until the vCPU is made, the vCPU's until `done`, and the maker's again.
unsafe impl Sync for App {}

/// What an app is to do.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// Releases before this one are not measured, in ticks.
    pub from: u64,
    /// Jobs to measure.
    pub rounds: u64,
    /// Ticks from its release to its end that each job takes ...
    pub busy: u64,
    /// ... less a number of ticks below this one, another for each job.
    pub less: u64,
    /// What that is made of.
    pub seed: u64,
}

impl App {
    /// One that is not made yet.
    pub const fn new() -> Self {
        let found = Found {
            late: Moments::new(),
            status: RtStatus {
                period: 0,
                budget: 0,
                deadline: 0,
                release: 0,
                jobs: 0,
                overruns: 0,
                missed: 0,
                used: 0,
                used_max: 0,
                hart: 0,
                reserved: 0,
            },
        };
        Self {
            inside: UnsafeCell::new(Inside {
                scale: None,
                work: Work {
                    from: 0,
                    rounds: 0,
                    busy: 0,
                    less: 1,
                    seed: 0,
                },
                found,
            }),
            done: AtomicBool::new(false),
            stack: RtStack::new(),
        }
    }

    /// Makes the vCPU. To be called once.
    pub fn start(&'static self, scale: Scale, work: Work, reservation: Reservation) -> RtVcpu {
        // SAFETY: no other code has it yet.
        let inside = unsafe { &mut *self.inside.get() };
        inside.scale = Some(scale);
        inside.work = work;
        match rt::create(run, self, &self.stack, reservation) {
            Ok(vcpu) => vcpu,
            Err(error) => refuse(format_args!("{reservation:?}: {error}")),
        }
    }

    /// Whether its rounds are over.
    pub fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }

    /// What it found; `None` before it is done.
    pub fn found(&self) -> Option<Found> {
        // SAFETY: it is done with it.
        self.is_done().then(|| unsafe { &*self.inside.get() }.found)
    }
}

fn run(app: &'static App) {
    // SAFETY: it is this vCPU's from when it is made until it says that it is done.
    let inside = unsafe { &mut *app.inside.get() };
    let Some(scale) = inside.scale else { return };
    let work = inside.work;
    let mut random = Random::new(work.seed);
    let mut busy = || work.busy.saturating_sub(random.below(work.less.max(1)));
    // The first job begins when it can; only the later ones have a moment to begin at.
    busy_until(time::now() + busy());
    let mut late = Moments::new();
    while late.count < work.rounds {
        let release = next_release();
        if release.due >= work.from {
            late.add(scale.late_by(release.wakeup, release.due));
        }
        busy_until(release.due + busy());
    }
    inside.found.late = late;
    if let Ok(status) = rt::status() {
        inside.found.status = status;
    }
    app.done.store(true, Ordering::Release);
}

/// Waits without running until these are done, looking only now and then, at first at `first`.
pub fn wait_for(apps: &[App], first: u64, then: u64) {
    let mut next = first;
    loop {
        stopwatch::wait_until(next);
        if apps.iter().all(App::is_done) {
            return;
        }
        next = time::now() + then;
    }
}
