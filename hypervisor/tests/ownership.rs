//! Protocol V1 (`src/ownership.rs`): all interleavings of harts that notify, take, stop, start and move a vCPU.
//!
//! Loom finds two harts that use the vCPU's body at once.
//!
//! ```console
//! $ RUSTFLAGS="--cfg loom" cargo test --release -p tactus-hypervisor --test ownership
//! ```
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use loom::sync::{Arc, Mutex};
use loom::thread;
use tactus_hypervisor::ownership::Owner;
use tactus_hypervisor::run_state::{RunState, State};

/// Hart contexts, of which only the addresses matter.
static CONTEXTS: [u64; 2] = [0; 2];

fn context(hart: usize) -> *mut u64 {
    (&raw const CONTEXTS[hart]).cast_mut()
}

struct Model {
    owner: Owner<u64>,
    state: RunState,
    home: AtomicUsize,
    /// The data that only the owner accesses, which loom checks.
    body: UnsafeCell<u32>,
    /// Whether the vCPU is in the shared run queue.
    queue: Mutex<bool>,
    /// The VM's lifecycle lock.
    life: Mutex<()>,
    /// Whether the vCPU was notified, by hart.
    posts: [AtomicBool; 2],
}

unsafe impl Send for Model {}
unsafe impl Sync for Model {}

impl Model {
    fn new(state: State, owner: Option<usize>, queued: bool) -> Arc<Self> {
        let model = Self {
            owner: Owner::none(),
            state: RunState::new(),
            home: AtomicUsize::new(0),
            body: UnsafeCell::new(0),
            queue: Mutex::new(queued),
            life: Mutex::new(()),
            posts: [AtomicBool::new(false), AtomicBool::new(false)],
        };
        if let Some(hart) = owner {
            model.owner.claim(context(hart));
        }
        model.state.set(state);
        Arc::new(model)
    }

    fn use_body(&self) {
        self.body.with_mut(|body| unsafe { *body += 1 });
    }

    fn post(&self) {
        let home = self.home.load(Ordering::Relaxed);
        // A read-modify-write, as in `Hart::post`: loom does not order plain stores.
        self.posts[home].swap(true, Ordering::SeqCst);
        fence(Ordering::SeqCst);
    }

    /// As `sched::signals::notify`, on a hart that was the home when it read that; returns whether it has used the
    /// body.
    fn handle_notification(&self, hart: usize) -> bool {
        if self.state.get() != State::Waiting {
            return false;
        }
        let is_home = || self.home.load(Ordering::Relaxed) == hart;
        if self.owner.claim_waiting(context(hart), is_home) {
            self.use_body();
            return true;
        }
        if !is_home() {
            self.post();
        }
        false
    }

    /// As `sched::signals::handle_posts`.
    fn handle_posts(&self, hart: usize) -> bool {
        if !self.posts[hart].swap(false, Ordering::SeqCst) {
            return false;
        }
        fence(Ordering::SeqCst);
        if self.home.load(Ordering::Relaxed) != hart {
            self.post();
            return false;
        }
        self.handle_notification(hart)
    }

    /// As `sched::run_queue::pick_next` and `sched::switch::set_current`.
    fn take_and_run(&self, hart: usize) -> bool {
        {
            let mut queue = self.queue.lock().expect("no panic");
            if !core::mem::take(&mut *queue) {
                return false;
            }
            self.owner.claim(context(hart));
        }
        self.use_body();
        self.home.store(hart, Ordering::Relaxed);
        self.state.begin_running();
        fence(Ordering::SeqCst);
        true
    }

    /// As `sched::block::block`.
    fn block(&self) {
        self.state.set(State::Waiting);
        fence(Ordering::SeqCst);
        self.use_body();
    }

    /// As `sched::run_queue::enqueue`.
    fn enqueue(&self) {
        self.use_body();
        self.owner.release();
        self.state.set(State::Ready);
        *self.queue.lock().expect("no panic") = true;
    }

    /// As `sched::block::stop_vcpu` and `Vm::vcpu_stopped`.
    fn stop(&self) {
        self.use_body();
        let _life = self.life.lock().expect("no panic");
        self.owner.release();
        self.state.set(State::Stopped);
    }

    /// As `Vm::start_vcpu`.
    fn start(&self) -> bool {
        {
            let _life = self.life.lock().expect("no panic");
            if self.state.get() != State::Stopped {
                return false;
            }
            self.use_body();
            self.state.set(State::Waiting);
        }
        self.post();
        true
    }
}

fn explore(test: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(test);
}

/// Handles a notification on hart 0, which has read before that it is the home.
fn late_notification(model: &Arc<Model>) -> thread::JoinHandle<bool> {
    let model = Arc::clone(model);
    thread::spawn(move || model.handle_notification(0))
}

/// A late notification does not access the body while the vCPU runs and waits on another hart.
#[test]
fn a_notification_that_comes_late_touches_no_body_of_another_hart() {
    explore(|| {
        let model = Model::new(State::Ready, None, true);
        let late = late_notification(&model);
        assert!(model.take_and_run(1));
        model.block();
        model.use_body();
        late.join().expect("no assertion failed");
    });
}

/// A late claim is given back, and the start of the vCPU on its new home is not lost.
///
/// The vCPU runs on another hart, stops, and starts again there.
#[test]
fn a_late_claim_is_given_back() {
    explore(|| {
        let model = Model::new(State::Ready, None, true);
        let late = late_notification(&model);
        assert!(model.take_and_run(1));
        model.stop();
        assert!(model.start());
        let here = model.handle_posts(1);
        let there = late.join().expect("no assertion failed");
        assert!(!there, "a hart that is not the home has kept the vCPU");
        assert!(
            here || model.handle_posts(1),
            "the home has not been told of the start"
        );
    });
}

/// A waiting vCPU that migrates has one home at a time, while another hart notifies it.
#[test]
fn a_vcpu_that_moves_is_one_homes_at_a_time() {
    explore(|| {
        let model = Model::new(State::Waiting, Some(0), false);
        let other = {
            let model = Arc::clone(&model);
            thread::spawn(move || {
                model.post();
                model.handle_posts(1)
            })
        };
        // As `sched::jobs::carry_out_orders`.
        model.use_body();
        model.owner.release();
        model.home.store(1, Ordering::Release);
        model.post();
        model.handle_posts(0);
        let took = other.join().expect("no assertion failed");
        assert!(took || model.handle_posts(1), "the new home has not looked");
    });
}

/// Two harts take a vCPU from the queue in turn.
#[test]
fn the_queue_hands_a_body_over() {
    explore(|| {
        let model = Model::new(State::Ready, None, true);
        let other = {
            let model = Arc::clone(&model);
            thread::spawn(move || {
                if model.take_and_run(0) {
                    model.enqueue();
                }
            })
        };
        if model.take_and_run(1) {
            model.enqueue();
        }
        other.join().expect("no assertion failed");
    });
}
