//! RT-App: the program of the real-time vCPUs, which measures its release latency.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};

use tactus_bench::{Moments, Random, busy_until, next_release};
use tactus_guest::abi::hypercall::JobRecord;
use tactus_guest::rt::{self, Reservation, RtStack, RtStatus, RtVcpu};
use tactus_guest::stopwatch::{self, Scale};
use tactus_guest::time;

use crate::refuse;

/// Bytes of a stack.
const STACK: usize = 8192;

/// The work of an app, and its results.
#[derive(Clone, Copy, Debug)]
struct Inside {
    scale: Option<Scale>,
    work: Work,
    found: Found,
}

/// Results of an app.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// Cycles from the time of a release to the app's first instruction.
    pub late: Moments,
    /// Status at the end, without its last job.
    pub status: RtStatus,
}

/// A real-time vCPU's work, stack and results.
pub struct App {
    inside: UnsafeCell<Inside>,
    done: AtomicBool,
    stack: RtStack<STACK>,
}

// SAFETY: `inside` belongs to the creator until it creates the vCPU, to the vCPU until `done`, then to the creator.
unsafe impl Sync for App {}

/// The work of an app.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// The time of the first release to measure, in ticks.
    pub from: u64,
    /// Jobs to measure.
    pub rounds: u64,
    /// Ticks from a job's release to its end ...
    pub busy: u64,
    /// ... less a random number of ticks below this one, for each job.
    pub less: u64,
    /// Seed of these random numbers.
    pub seed: u64,
}

impl App {
    /// An app whose vCPU is not created yet.
    pub const fn new() -> Self {
        let found = Found {
            late: Moments::new(),
            status: RtStatus {
                period: 0,
                budget: 0,
                deadline: 0,
                hart: 0,
                record: JobRecord::of_words([0; JobRecord::WORDS]),
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

    /// Creates the vCPU. To be called once.
    pub fn start(&'static self, scale: Scale, work: Work, reservation: Reservation) -> RtVcpu {
        // SAFETY: no other code accesses it yet.
        let inside = unsafe { &mut *self.inside.get() };
        inside.scale = Some(scale);
        inside.work = work;
        match rt::create(run, self, &self.stack, reservation) {
            Ok(vcpu) => vcpu,
            Err(error) => refuse(format_args!("{reservation:?}: {error}")),
        }
    }

    /// Whether all rounds are done.
    pub fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }

    /// The results; `None` before the end.
    pub fn found(&self) -> Option<Found> {
        // SAFETY: the vCPU no longer accesses it.
        self.is_done().then(|| unsafe { &*self.inside.get() }.found)
    }
}

fn run(app: &'static App) {
    // SAFETY: it belongs to this vCPU from its creation until it sets `done`.
    let inside = unsafe { &mut *app.inside.get() };
    let Some(scale) = inside.scale else { return };
    let work = inside.work;
    let mut random = Random::new(work.seed);
    let mut busy = || work.busy.saturating_sub(random.below(work.less.max(1)));
    // The first job starts when it can; only the later ones have a release time.
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

/// Sleeps until all apps are done, and checks rarely: first at `first`, then every `then` ticks.
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
