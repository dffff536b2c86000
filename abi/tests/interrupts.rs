//! The page for interrupts: all interleavings of a vCPU and the hypervisor, for short runs, with `--cfg loom`.
//!
//! ```console
//! $ RUSTFLAGS="--cfg loom" cargo test --release -p tactus-abi --test interrupts
//! ```
//!
//! The hypervisor is a thread that stops the vCPU between any two of its steps. (It is more than that: on a hart the steps have one order, here the
//! memory model's.)
#![cfg(loom)]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering, fence};
use loom::thread;
use tactus_abi::interrupts::InterruptPage;

const DOORBELL: u32 = 64;
const OTHER: u32 = 3;

struct Machine {
    page: InterruptPage,
    /// `sip.SSIP`.
    software: AtomicBool,
}

impl Machine {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            page: InterruptPage::new(),
            software: AtomicBool::new(false),
        })
    }

    /// The hypervisor.
    fn send(&self, source: u32) {
        let (word, bit) = tactus_abi::interrupts::place(source);
        if self.page.add(word, bit) {
            self.software.store(true, Ordering::SeqCst);
        }
    }

    /// The vCPU's handler, if it is interrupted. Returns how often it took the doorbell.
    fn interrupted(&self) -> u32 {
        let mut taken = 0;
        if self.software.swap(false, Ordering::SeqCst) {
            // Clearing a register and looking at memory are in order on a hart.
            fence(Ordering::SeqCst);
            while let Some(source) = self.page.take() {
                taken += u32::from(source == DOORBELL);
            }
        }
        taken
    }

    fn enable(&self, source: u32) {
        if self.page.enable(source) {
            self.software.store(true, Ordering::SeqCst);
        }
    }
}

/// Two that are sent while the vCPU takes what there is: it has taken one after the last was sent.
#[test]
fn what_is_sent_last_is_taken() {
    loom::model(|| {
        let machine = Machine::new();
        machine.enable(DOORBELL);
        let other = Arc::clone(&machine);
        let hypervisor = thread::spawn(move || {
            other.send(DOORBELL);
            other.send(DOORBELL);
        });
        machine.interrupted();
        let before_the_end = machine.interrupted();
        hypervisor.join().expect("it ends");
        let after = machine.interrupted();
        assert!(before_the_end + after <= 2);
        assert!(!machine.page.is_pending(DOORBELL), "it would wait for ever");
    });
}

/// A source that is masked and unmasked while it is sent.
#[test]
fn what_is_sent_while_it_is_masked_is_taken_afterwards() {
    loom::model(|| {
        let machine = Machine::new();
        machine.enable(DOORBELL);
        let other = Arc::clone(&machine);
        let hypervisor = thread::spawn(move || {
            other.send(DOORBELL);
            other.send(OTHER);
        });
        machine.page.disable(DOORBELL);
        let masked = machine.interrupted();
        machine.enable(DOORBELL);
        hypervisor.join().expect("it ends");
        assert_eq!(masked + machine.interrupted(), 1);
        assert!(machine.page.is_pending(OTHER), "nobody has enabled it");
    });
}
