//! Protocol F1 (`src/run_state.rs`): all interleavings of a preemption and a remote fence.
//!
//! ```console
//! $ RUSTFLAGS="--cfg loom" cargo test --release -p tactus-hypervisor --test run_state
//! ```
#![cfg(loom)]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};
use loom::thread;
use tactus_hypervisor::run_state::{RunState, State};

struct Model {
    state: RunState,
    /// The guest's last store before its preemption.
    stored: AtomicU32,
    /// Whether a fence of the vCPU is requested.
    signal: AtomicBool,
    /// Whether the hart of the waiting vCPU was notified to check again.
    told: AtomicBool,
}

impl Model {
    fn running() -> Self {
        let model = Self {
            state: RunState::new(),
            stored: AtomicU32::new(0),
            signal: AtomicBool::new(false),
            told: AtomicBool::new(false),
        };
        model.state.begin_running();
        model
    }

    /// As `dispatch::switch`.
    fn preempt(&self) {
        self.stored.store(1, Ordering::Relaxed);
        self.state.begin_leaving();
        fence(Ordering::SeqCst);
        self.state.set_after_fence(State::Ready);
        self.answer_fence_waiters();
    }

    /// As `sched::block::wait` and `dispatch::switch`.
    fn wait(&self) {
        self.stored.store(1, Ordering::Relaxed);
        self.state.set(State::Waiting);
        fence(Ordering::SeqCst);
        self.answer_fence_waiters();
    }

    /// As `sched::signals`.
    fn answer_fence_waiters(&self) {
        if self.signal.load(Ordering::Relaxed) {
            self.told.store(true, Ordering::SeqCst);
        }
    }

    /// As `sbi::remote_fence` and `sched::block::is_due`.
    fn remote_fence(&self) {
        self.signal.store(true, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        while !self.state.has_left() {
            // The vCPU waits, and is woken.
            while !self.told.load(Ordering::SeqCst) {
                thread::yield_now();
            }
            fence(Ordering::SeqCst);
        }
        assert_eq!(
            self.stored.load(Ordering::Relaxed),
            1,
            "the fence has returned, and what the other vCPU stored before is not seen"
        );
    }
}

fn against_remote_fence(leave: fn(&Model)) {
    loom::model(move || {
        let model = Arc::new(Model::running());
        let hart = {
            let model = Arc::clone(&model);
            thread::spawn(move || leave(&model))
        };
        model.remote_fence();
        hart.join().expect("no assertion failed");
    });
}

#[test]
fn a_remote_fence_sees_what_a_preempted_vcpu_has_stored() {
    against_remote_fence(Model::preempt);
}

#[test]
fn a_remote_fence_sees_what_a_waiting_vcpu_has_stored() {
    against_remote_fence(Model::wait);
}
