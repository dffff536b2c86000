//! The page for interrupts: wherever in what a vCPU does the hypervisor comes between, no interrupt is lost.

use tactus_abi::interrupts::{InterruptPage, place};

const DOORBELL: u32 = 64;

/// What the vCPU does; the hypervisor comes between any two of these.
#[derive(Clone, Copy)]
enum Step {
    /// The handler's first act, if it is interrupted.
    ClearSoftware,
    /// Its next, if it was.
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
    /// The doorbell has been sent since it was taken last.
    owed: bool,
}

impl Machine {
    fn send(&mut self) {
        let (word, bit) = place(DOORBELL);
        self.software |= self.page.add(word, bit);
        self.owed = true;
    }

    fn step(&mut self, step: Step) {
        match step {
            ClearSoftware if self.software => {
                self.software = false;
                self.in_handler = true;
            }
            Take if self.in_handler => match self.page.take() {
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
fn no_interrupt_is_lost_wherever_it_comes() {
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
    // Three, each before any of the steps or after the last.
    let places = program.len() + 1;
    for schedule in 0..places.pow(3) {
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
        // A handler that has begun ends; and one that is asked for runs.
        for _ in 0..2 {
            machine.step(Take);
            machine.step(Take);
            machine.step(ClearSoftware);
        }
        assert!(!machine.owed, "lost, sent before the steps {sent:?}");
    }
}

/// Words and bits as the table of the documentation has them.
#[test]
fn each_source_has_its_place() {
    assert_eq!(place(0), (0, 1));
    assert_eq!(place(63), (0, 1 << 63));
    assert_eq!(place(64), (1, 1));
    assert_eq!(place(95), (1, 1 << 31));
}
