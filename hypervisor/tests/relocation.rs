//! Protocol R1 (`src/relocation.rs`): all interleavings of admission and two homes.
//!
//! Loom also explores all values that the memory model allows a load to return.
//!
//! ```console
//! $ RUSTFLAGS="--cfg loom" cargo test --release -p tactus-hypervisor --test relocation
//! ```
#![cfg(loom)]

use loom::sync::{Arc, Mutex};
use loom::thread;
use tactus_hypervisor::ownership::Owner;
use tactus_hypervisor::relocation::{Departures, Relocation};
use tactus_policy::reservation::Reservation;

/// A reservation of equal parts, so that a mixture of two is detected.
fn reservation(ticks: u64) -> Reservation {
    Reservation::new(ticks, ticks, ticks).expect("ordered")
}

/// Hart contexts, of which only the addresses matter.
static CONTEXTS: [u64; 2] = [0; 2];

struct Model {
    vcpu: Relocation,
    owner: Owner<u64>,
    harts: [Departures; 2],
}

impl Model {
    fn new() -> Self {
        Self {
            vcpu: Relocation::new(0, [1; 3]),
            owner: Owner::none(),
            harts: [Departures::new(), Departures::new()],
        }
    }

    /// Admission orders a change and a move, as `realtime::carry_out` does. `false`: an order is pending.
    fn admit(&self, ticks: u64, to: usize) -> bool {
        if !self.vcpu.is_free() {
            return false;
        }
        let home = self.vcpu.home();
        self.vcpu
            .order_change(reservation(ticks), &self.harts[home]);
        if to != home {
            self.vcpu.order_move(to, &self.harts[home]);
        }
        true
    }

    /// A notified hart checks the vCPU, as `sched::signals` and `sched::jobs::carry_out_orders` do.
    fn look(&self, hart: usize) {
        loom::sync::atomic::fence(loom::sync::atomic::Ordering::SeqCst);
        let context = (&raw const CONTEXTS[hart]).cast_mut();
        let is_home = || self.vcpu.home() == hart;
        if !is_home() || !self.owner.claim_waiting(context, is_home) {
            return;
        }
        if !self.vcpu.may_have_orders() {
            return;
        }
        let orders = self.vcpu.take();
        if let Some(change) = orders.change {
            assert_eq!(
                change.period, change.deadline,
                "a torn reservation: {change:?}"
            );
            self.harts[hart].end_one();
        }
        if let Some(to) = orders.to {
            self.harts[hart].end_one();
            self.owner.release();
            self.vcpu.arrive(to);
        }
    }

    fn ends_settled(&self) {
        for hart in [0, 1, 0, 1] {
            self.look(hart);
        }
        assert!(self.vcpu.is_free());
        assert!(self.harts.iter().all(Departures::are_over));
    }
}

fn explore(test: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(test);
}

/// Admission makes these decisions while both homes check twice.
///
/// It tries each decision again if an order is pending, at most once.
fn homes_carry_out(decisions: [(u64, usize); 2]) {
    explore(move || {
        let model = Arc::new(Model::new());
        let homes = [0, 1].map(|hart| {
            let model = Arc::clone(&model);
            thread::spawn(move || {
                model.look(hart);
                model.look(hart);
            })
        });
        for (ticks, to) in decisions {
            if !model.admit(ticks, to) {
                thread::yield_now();
                model.admit(ticks, to);
            }
        }
        for home in homes {
            home.join().expect("no assertion fails");
        }
        model.ends_settled();
    });
}

/// The words of the second reservation are stored while the first may still be read.
#[test]
fn changes_are_taken_whole() {
    homes_carry_out([(2, 0), (3, 0)]);
}

/// The second decision is for the next home, once the vCPU is there.
#[test]
fn a_decision_after_a_move_is_for_the_next_home() {
    homes_carry_out([(2, 1), (3, 1)]);
}

/// The vCPU migrates and returns.
#[test]
fn moves_are_carried_out_once() {
    homes_carry_out([(2, 1), (3, 0)]);
}

/// A VM that ends while admission starts one of its vCPUs.
struct Ending {
    vcpu: Relocation,
    /// The VM's lifecycle: whether it has ended, and whether the vCPU has been started.
    life: Mutex<(bool, bool)>,
    /// Admission's ledger: whether it contains the vCPU's reservation.
    ledger: Mutex<bool>,
}

impl Ending {
    /// As `realtime::carry_out` and `Vm::start_made`: the promise is made before the lifecycle lock is released.
    fn start(&self) {
        let mut ledger = self.ledger.lock().expect("no panic");
        {
            let mut life = self.life.lock().expect("no panic");
            if life.0 {
                return;
            }
            self.vcpu.promise(reservation(2));
            life.1 = true;
        }
        *ledger = true;
    }

    /// As `Vm::end`, and `realtime::stopped` for a vCPU that has been started.
    fn end(&self) {
        let started = {
            let mut life = self.life.lock().expect("no panic");
            life.0 = true;
            life.1
        };
        if started && self.vcpu.promised().is_some() {
            let mut ledger = self.ledger.lock().expect("no panic");
            *ledger = false;
            self.vcpu.forget_promise();
        }
    }
}

/// The reservation of a vCPU whose VM ended meanwhile does not stay in the ledger.
#[test]
fn a_vm_that_ends_leaves_no_reservation_behind() {
    loom::model(|| {
        let model = Arc::new(Ending {
            vcpu: Relocation::new(0, [0; 3]),
            life: Mutex::new((false, false)),
            ledger: Mutex::new(false),
        });
        let admission = {
            let model = Arc::clone(&model);
            thread::spawn(move || model.start())
        };
        model.end();
        admission.join().expect("no assertion fails");
        assert!(!*model.ledger.lock().expect("no panic"));
    });
}
