//! The virtual PLIC against the specification in the form of loops over sources.

use proptest::prelude::*;
use tactus_abi::map::{PLIC_PRIORITY_MAX, PLIC_SIZE, PLIC_SOURCES};
use tactus_hypervisor::vplic::{Effect, Vplic};

const CONTEXTS: usize = 3;
/// The most steps of a case.
const STEPS_MAX: usize = if cfg!(miri) { 20 } else { 300 };
const SOURCES: usize = PLIC_SOURCES as usize;

/// PLIC specification 1.0.0, "Memory Map".
const ENABLE: u64 = 0x2000;
const CONTEXT: u64 = 0x20_0000;

#[derive(Default)]
struct Source {
    priority: u32,
    line: bool,
    pending: bool,
    in_service: bool,
}

struct Model {
    sources: Vec<Source>,
    enabled: [[bool; SOURCES]; CONTEXTS],
    threshold: [u32; CONTEXTS],
}

impl Model {
    fn new() -> Self {
        Self {
            sources: (0..SOURCES).map(|_| Source::default()).collect(),
            enabled: [[false; SOURCES]; CONTEXTS],
            threshold: [0; CONTEXTS],
        }
    }

    fn best(&self, context: usize, above: u32) -> u32 {
        let mut best = 0;
        let mut priority = above;
        for (number, source) in self.sources.iter().enumerate().skip(1) {
            let asks = source.pending && !source.in_service && self.enabled[context][number];
            if asks && source.priority > priority {
                best = number as u32;
                priority = source.priority;
            }
        }
        best
    }

    fn claim(&mut self, context: usize) -> u32 {
        let best = self.best(context, 0);
        if best != 0 {
            let source = &mut self.sources[best as usize];
            source.pending = false;
            source.in_service = true;
        }
        best
    }

    fn complete(&mut self, context: usize, number: u32) -> bool {
        let Some(source) = self.sources.get_mut(number as usize) else {
            return false;
        };
        if !source.in_service || !self.enabled[context][number as usize] {
            return false;
        }
        source.in_service = false;
        source.pending |= source.line;
        true
    }
}

#[derive(Clone, Debug)]
enum Step {
    Raise(u32),
    Line(u32, bool),
    Priority(u32, u32),
    Enable(usize, u64, u32),
    Threshold(usize, u32),
    Claim(usize),
    Complete(usize, u32),
}

fn step() -> impl Strategy<Value = Step> {
    let source = || prop_oneof![8 => 1..8_u32, 1 => 90..100_u32, 1 => Just(0), 1 => any::<u32>()];
    let level = || prop_oneof![8 => 0..=PLIC_PRIORITY_MAX, 1 => any::<u32>()];
    prop_oneof![
        source().prop_map(|s| Step::Raise(s % PLIC_SOURCES)),
        (source(), any::<bool>()).prop_map(|(s, high)| Step::Line(s, high)),
        (source(), level()).prop_map(|(s, p)| Step::Priority(s, p)),
        (0..CONTEXTS, 0..6_u64, any::<u32>()).prop_map(|(c, w, bits)| Step::Enable(c, w, bits)),
        (0..CONTEXTS, level()).prop_map(|(c, t)| Step::Threshold(c, t)),
        (0..CONTEXTS).prop_map(Step::Claim),
        (0..CONTEXTS, source()).prop_map(|(c, s)| Step::Complete(c, s)),
    ]
}

fn valid(source: u32) -> bool {
    (1..PLIC_SOURCES).contains(&source)
}

/// The register block of a vCPU's supervisor-level context: odd numbers, as on `virt`.
fn block(base: u64, stride: u64, context: usize) -> u64 {
    base + (2 * context as u64 + 1) * stride
}

proptest! {
    #[test]
    fn it_is_the_specifications(steps in prop::collection::vec(step(), 0..STEPS_MAX)) {
        let mut plic = Vplic::new(CONTEXTS);
        let mut model = Model::new();
        for step in steps {
            match step {
                Step::Raise(source) => {
                    plic.raise(source);
                    if valid(source) {
                        model.sources[source as usize].pending = true;
                    }
                }
                Step::Line(source, high) => {
                    plic.set_line(source, high);
                    if valid(source) {
                        let source = &mut model.sources[source as usize];
                        source.line = high;
                        source.pending = high && (source.pending || !source.in_service);
                    }
                }
                Step::Priority(source, priority) => {
                    let offset = u64::from(source) * 4;
                    if offset < 0x1000 {
                        plic.write(offset, 4, priority);
                        if valid(source) {
                            model.sources[source as usize].priority = priority.min(PLIC_PRIORITY_MAX);
                        }
                    }
                }
                Step::Enable(context, word, bits) => {
                    plic.write(block(ENABLE, 0x80, context) + word * 4, 4, bits);
                    for bit in 0..32 {
                        let source = word as usize * 32 + bit;
                        if valid(source as u32) {
                            model.enabled[context][source] = bits >> bit & 1 != 0;
                        }
                    }
                }
                Step::Threshold(context, threshold) => {
                    plic.write(block(CONTEXT, 0x1000, context), 4, threshold);
                    model.threshold[context] = threshold.min(PLIC_PRIORITY_MAX);
                }
                Step::Claim(context) => {
                    let claimed = plic.read(block(CONTEXT, 0x1000, context) + 4, 4);
                    prop_assert_eq!(claimed.map(|(source, _)| source), Some(model.claim(context)));
                }
                Step::Complete(context, source) => {
                    let effect = plic.write(block(CONTEXT, 0x1000, context) + 4, 4, source);
                    let done = model.complete(context, source);
                    let expected = if done { Effect::Completed(source) } else { Effect::None };
                    prop_assert_eq!(effect, Some(expected));
                }
            }
            for context in 0..CONTEXTS {
                let expected = model.best(context, model.threshold[context]) != 0;
                prop_assert_eq!(plic.output(context), expected);
            }
        }
    }

    /// No access of a guest to the registers breaks the PLIC.
    #[test]
    fn any_access_is_taken_or_refused(
        accesses in prop::collection::vec(
            (0..PLIC_SIZE, prop::sample::select(vec![1_u8, 2, 4, 8]), any::<u32>(), any::<bool>()),
            0..200,
        ),
    ) {
        let mut plic = Vplic::new(1);
        for (offset, size, value, store) in accesses {
            let refused = if store {
                plic.write(offset, size, value).is_none()
            } else {
                plic.read(offset, size).is_none()
            };
            prop_assert_eq!(refused, size != 4 || offset % 4 != 0);
        }
    }
}
