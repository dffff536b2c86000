//! The interrupt page: no interrupt is lost, wherever the hypervisor interrupts the vCPU.

use tactus_abi::interrupts::{InterruptPage, word_and_bit};

const DOORBELL: u32 = 64;

/// A step of the vCPU; the hypervisor may run between any two.
#[derive(Clone, Copy)]
enum Step {
    /// The handler's first step, if it is interrupted.
    ClearSoftware,
    /// The handler's next step.
    Take,
    Mask,
    Unmask,
}

use Step::{ClearSoftware, Mask, Take, Unmask};

#[derive(Default)]
struct Machine {
    page: InterruptPage,
    /// `sip.SSIP`.
    software: bool,
    in_handler: bool,
    /// The doorbell has been sent since it was claimed last.
    owed: bool,
}

impl Machine {
    fn send(&mut self) {
        let (word, bit) = word_and_bit(DOORBELL);
        self.software |= self.page.set_pending(word, bit);
        self.owed = true;
    }

    fn step(&mut self, step: Step) {
        match step {
            ClearSoftware if self.software => {
                self.software = false;
                self.in_handler = true;
            }
            Take if self.in_handler => match self.page.claim() {
                Some(source) => {
                    assert_eq!(source, DOORBELL);
                    self.owed = false;
                }
                None => self.in_handler = false,
            },
            Mask => self.page.disable(DOORBELL),
            Unmask => self.software |= self.page.enable(DOORBELL),
            ClearSoftware | Take => {}
        }
    }
}

#[test]
fn no_interrupt_is_lost_at_any_point() {
    let program = [
        ClearSoftware,
        Take,
        Unmask,
        ClearSoftware,
        Take,
        Take,
        Mask,
        ClearSoftware,
        Take,
        Take,
        Unmask,
        Mask,
        ClearSoftware,
        Take,
        Unmask,
        ClearSoftware,
        Take,
        Take,
    ];
    // Three doorbells, each before any of the steps or after the last.
    let places = program.len() + 1;
    // Under Miri, which looks at how they are carried out, a part of them.
    let step = if cfg!(miri) { 37 } else { 1 };
    for schedule in (0..places.pow(3)).step_by(step) {
        let sent = [
            schedule % places,
            schedule / places % places,
            schedule / places / places,
        ];
        let mut machine = Machine::default();
        for (at, step) in program.into_iter().map(Some).chain([None]).enumerate() {
            for _ in sent.iter().filter(|&&before| before == at) {
                machine.send();
            }
            if let Some(step) = step {
                machine.step(step);
            }
        }
        // A handler that has begun ends; one that is pending runs.
        for _ in 0..2 {
            machine.step(Take);
            machine.step(Take);
            machine.step(ClearSoftware);
        }
        assert!(!machine.owed, "lost, sent before the steps {sent:?}");
    }
}

/// Words and bits are those of the table in the documentation.
#[test]
fn each_source_has_its_bit() {
    assert_eq!(word_and_bit(0), (0, 1));
    assert_eq!(word_and_bit(63), (0, 1 << 63));
    assert_eq!(word_and_bit(64), (1, 1));
    assert_eq!(word_and_bit(95), (1, 1 << 31));
}
