//! The platform-level interrupt controller (RISC-V Platform-Level Interrupt Controller specification 1.0.0).
//!
//! Priorities are 0 (never) to 7. Context 2n is hart n's machine level, context 2n + 1 its supervisor level. The
//! gateways are level-triggered: a line that is high when its source is completed makes the source pending
//! again; a source that has become pending stays so until it is claimed, though its line be low again by then.
//!
//! A claim gives only sources above the context's threshold, as on QEMU's `virt`; by the specification (section 8) it
//! does not ask for the threshold. In what follows the specification is kept where `virt` departs from it: a line
//! that rises while its source is served does not make it pending; a line that is still high on completion does; a
//! source that is not enabled for the context cannot be completed there (section 9); source 0 cannot be enabled.
//!
//! Sources are kept as sets of bits, one set for each priority, so that the best source is found in a few steps,
//! whatever their number.

use super::state;
use super::storms::{Storm, Storms};
use crate::bus::{BadState, Device, LINES, Lines, Port, Refused};
use crate::time::Femtoseconds;
use serde::{Deserialize, Serialize};

/// `mip.MEIP`.
const MEIP: u64 = 1 << 11;
/// `mip.SEIP`.
const SEIP: u64 = 1 << 9;

/// The highest priority.
const PRIORITY_MAX: u8 = 7;

const PENDING: u64 = 0x1000;
const ENABLE: u64 = 0x2000;
const ENABLE_STRIDE: u64 = 0x80;
const CONTEXT: u64 = 0x20_0000;
const CONTEXT_STRIDE: u64 = 0x1000;

/// A set of sources: source n is bit n % 64 of word n / 64.
type Set = Vec<u64>;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Context {
    enabled: Set,
    threshold: u8,
    /// Whether its wire to the hart is high.
    notified: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    /// The sources of each priority from 1 on; one of priority 0 is in none.
    priorities: [Set; PRIORITY_MAX as usize],
    pending: Set,
    /// Sources claimed and not completed.
    claimed: Set,
    contexts: Vec<Context>,
    storms: Storms,
}

impl State {
    fn new(words: usize, contexts: usize) -> Self {
        let none: Set = vec![0; words];
        let context = Context {
            enabled: none.clone(),
            threshold: 0,
            notified: false,
        };
        Self {
            priorities: std::array::from_fn(|_| none.clone()),
            pending: none.clone(),
            claimed: none,
            contexts: vec![context; contexts],
            storms: Storms::default(),
        }
    }
}

/// The platform-level interrupt controller.
#[derive(Clone, Debug)]
pub struct Plic {
    /// All sources that there are.
    sources: Set,
    state: State,
}

/// The subject of a register.
#[derive(Clone, Copy, Debug)]
enum Register {
    Priority(u32),
    /// 32 sources from this one on.
    Pending(u32),
    Enable(usize, u32),
    Threshold(usize),
    Claim(usize),
}

const fn holds(set: &[u64], source: u32) -> bool {
    set[source as usize / 64] >> (source % 64) & 1 != 0
}

const fn put(set: &mut [u64], source: u32, member: bool) {
    let (word, bit) = (&mut set[source as usize / 64], 1 << (source % 64));
    *word = if member { *word | bit } else { *word & !bit };
}

/// The 32 members from `first` on, which is a multiple of 32.
const fn half(set: &[u64], first: u32) -> u64 {
    set[first as usize / 64] >> (first % 64) & 0xffff_ffff
}

impl Plic {
    /// A controller for `harts` harts with sources 1 to `sources` - 1, at most 1023.
    ///
    /// # Panics
    ///
    /// When `sources` is more than [`LINES`].
    #[must_use]
    pub fn new(harts: usize, sources: u32) -> Self {
        assert!(sources as usize <= LINES, "{sources} sources");
        let mut all: Set = vec![0; (sources as usize).div_ceil(64)];
        for source in 1..sources {
            put(&mut all, source, true);
        }
        let state = State::new(all.len(), 2 * harts);
        Self {
            sources: all,
            state,
        }
    }

    /// Resets it: nothing has a priority or is enabled, pending or claimed. Lines that are high become pending.
    pub fn reset(&mut self, port: &mut Port<'_>) {
        for hart in 0..self.state.contexts.len() / 2 {
            port.wire(hart, MEIP | SEIP, false);
        }
        self.state = State::new(self.sources.len(), self.state.contexts.len());
        self.sample(port.lines());
    }

    /// Takes notice of the lines. The board calls this after every call of a device in which lines changed.
    pub fn lines_changed(&mut self, port: &mut Port<'_>) {
        if self.sample(port.lines()) {
            self.notify(port);
        }
    }

    /// Lets high lines through the gateways of all sources that are not in service; whether any is new.
    fn sample(&mut self, lines: &Lines) -> bool {
        let mut new = 0;
        for (word, level) in lines.levels().iter().enumerate().take(self.sources.len()) {
            let pending = &mut self.state.pending[word];
            let through = level & self.sources[word] & !self.state.claimed[word] & !*pending;
            *pending |= through;
            new |= through;
        }
        new != 0
    }

    /// The best of the sources that the context is to be told of; 0: none.
    fn best(&self, context: &Context) -> u32 {
        for priority in (context.threshold..PRIORITY_MAX).rev() {
            let sources = &self.state.priorities[usize::from(priority)];
            for (word, sources) in sources.iter().enumerate() {
                let found = sources & self.state.pending[word] & context.enabled[word];
                if found != 0 {
                    return word as u32 * 64 + found.trailing_zeros();
                }
            }
        }
        0
    }

    /// Drives the wires to the harts as the registers demand.
    fn notify(&mut self, port: &mut Port<'_>) {
        for index in 0..self.state.contexts.len() {
            let level = self.best(&self.state.contexts[index]) != 0;
            let notified = &mut self.state.contexts[index].notified;
            if *notified != level {
                *notified = level;
                let bit = if index % 2 == 0 { MEIP } else { SEIP };
                port.wire(index / 2, bit, level);
            }
        }
    }

    fn priority(&self, source: u32) -> u64 {
        let holder = self
            .state
            .priorities
            .iter()
            .position(|set| holds(set, source));
        holder.map_or(0, |index| index as u64 + 1)
    }

    fn set_priority(&mut self, source: u32, priority: u64) {
        for (index, set) in (1..).zip(&mut self.state.priorities) {
            put(set, source, index == priority);
        }
    }

    /// Takes the context's best source, and gives its number; 0: there is none.
    fn claim(&mut self, context: usize) -> u32 {
        let source = self.best(&self.state.contexts[context]);
        if source != 0 {
            put(&mut self.state.pending, source, false);
            put(&mut self.state.claimed, source, true);
        }
        source
    }

    /// Ends the service of a source. A source that is not enabled for the context is left alone (section 9).
    fn complete(&mut self, context: usize, source: u64, lines: &Lines, now: Femtoseconds) {
        let Some(source) = u32::try_from(source)
            .ok()
            .filter(|&source| self.exists(source))
        else {
            return;
        };
        if holds(&self.state.contexts[context].enabled, source) {
            put(&mut self.state.claimed, source, false);
            let high = holds(lines.levels(), source);
            self.state.storms.service_ended(source, high, now);
            self.sample(lines);
        }
    }

    /// The longest storm of each source that had any, since reset.
    #[must_use]
    pub fn storms(&self) -> Vec<Storm> {
        self.state.storms.longest()
    }

    fn exists(&self, source: u32) -> bool {
        (source as usize) < self.sources.len() * 64 && holds(&self.sources, source)
    }

    /// The register at `offset`. `None` where there is none: it reads as zero, and writes are ignored.
    fn register(&self, offset: u64) -> Option<Register> {
        let words = self.sources.len() as u64 * 2;
        match offset {
            0..PENDING => {
                let source = (offset / 4) as u32;
                self.exists(source).then_some(Register::Priority(source))
            }
            PENDING..ENABLE => {
                let word = (offset - PENDING) / 4;
                (word < words).then_some(Register::Pending(word as u32 * 32))
            }
            ENABLE..CONTEXT => {
                let (context, within) = (
                    (offset - ENABLE) / ENABLE_STRIDE,
                    (offset - ENABLE) % ENABLE_STRIDE,
                );
                let context = self.context(context)?;
                let word = within / 4;
                (word < words).then_some(Register::Enable(context, word as u32 * 32))
            }
            CONTEXT.. => {
                let context = self.context((offset - CONTEXT) / CONTEXT_STRIDE)?;
                match (offset - CONTEXT) % CONTEXT_STRIDE {
                    0 => Some(Register::Threshold(context)),
                    4 => Some(Register::Claim(context)),
                    _ => None,
                }
            }
        }
    }

    fn context(&self, index: u64) -> Option<usize> {
        let index = usize::try_from(index).ok()?;
        (index < self.state.contexts.len()).then_some(index)
    }

    /// Whether a state is one of a controller of this size.
    fn fits(&self, state: &State) -> bool {
        let fits = |set: &Set| {
            set.len() == self.sources.len()
                && set
                    .iter()
                    .zip(&self.sources)
                    .all(|(set, all)| set & !all == 0)
        };
        // A source has one priority.
        let mut seen = vec![0; self.sources.len()];
        let mut once = |set: &Set| {
            seen.iter_mut().zip(set).all(|(seen, set)| {
                let before = *seen;
                *seen |= set;
                before & set == 0
            })
        };
        fits(&state.pending)
            && fits(&state.claimed)
            && state.priorities.iter().all(|set| fits(set) && once(set))
            && state.contexts.len() == self.state.contexts.len()
            && state
                .contexts
                .iter()
                .all(|context| fits(&context.enabled) && context.threshold <= PRIORITY_MAX)
    }
}

impl Device for Plic {
    fn read(&mut self, offset: u64, size: u8, port: &mut Port<'_>) -> Result<u64, Refused> {
        if size != 4 {
            return Err(Refused);
        }
        Ok(match self.register(offset) {
            None => 0,
            Some(Register::Priority(source)) => self.priority(source),
            Some(Register::Pending(first)) => half(&self.state.pending, first),
            Some(Register::Enable(context, first)) => {
                half(&self.state.contexts[context].enabled, first)
            }
            Some(Register::Threshold(context)) => self.state.contexts[context].threshold.into(),
            Some(Register::Claim(context)) => {
                let source = self.claim(context);
                self.notify(port);
                source.into()
            }
        })
    }

    fn write(
        &mut self,
        offset: u64,
        size: u8,
        value: u64,
        port: &mut Port<'_>,
    ) -> Result<(), Refused> {
        if size != 4 {
            return Err(Refused);
        }
        match self.register(offset) {
            None | Some(Register::Pending(_)) => return Ok(()),
            Some(Register::Priority(source)) => {
                self.set_priority(source, value & u64::from(PRIORITY_MAX));
            }
            Some(Register::Enable(context, first)) => {
                let word = first as usize / 64;
                let (shift, all) = (first % 64, self.sources[word]);
                let enabled = &mut self.state.contexts[context].enabled[word];
                *enabled =
                    (*enabled & !(0xffff_ffff << shift) | (value & 0xffff_ffff) << shift) & all;
            }
            Some(Register::Threshold(context)) => {
                self.state.contexts[context].threshold = value as u8 & PRIORITY_MAX;
            }
            Some(Register::Claim(context)) => {
                self.complete(context, value, port.lines(), port.now());
            }
        }
        self.notify(port);
        Ok(())
    }

    fn wake(&mut self, port: &mut Port<'_>) {
        self.sample(port.lines());
        self.notify(port);
    }

    fn save(&self) -> Vec<u8> {
        state::save(&self.state)
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), BadState> {
        let new: State = state::restore("plic", bytes)?;
        let fits = self.fits(&new);
        state::require(fits, "plic", "it is of other sources or harts")?;
        self.state = new;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::testing::Bench;
    use proptest::prelude::*;

    fn write(bench: &mut Bench, plic: &mut Plic, offset: u64, value: u64) {
        bench.call(|port| assert_eq!(plic.write(offset, 4, value, port), Ok(())));
    }

    fn read(bench: &mut Bench, plic: &mut Plic, offset: u64) -> u64 {
        let mut value = Err(Refused);
        bench.call(|port| value = plic.read(offset, 4, port));
        value.expect("a register")
    }

    fn line(bench: &mut Bench, plic: &mut Plic, line: u32, level: bool) {
        bench.call(|port| port.interrupt(line, level));
        assert!(bench.lines.take_changed());
        bench.call(|port| plic.lines_changed(port));
    }

    const fn enable(context: u64, source: u64) -> u64 {
        ENABLE + context * ENABLE_STRIDE + source / 32 * 4
    }

    const fn threshold(context: u64) -> u64 {
        CONTEXT + context * CONTEXT_STRIDE
    }

    const fn claim(context: u64) -> u64 {
        threshold(context) + 4
    }

    #[test]
    fn an_interrupt_from_line_to_completion() {
        let mut bench = Bench::new();
        let mut plic = Plic::new(2, 96);
        write(&mut bench, &mut plic, 10 * 4, 1);
        // Supervisor level of hart 1.
        write(&mut bench, &mut plic, enable(3, 10), 1 << 10);
        line(&mut bench, &mut plic, 10, true);
        assert_eq!((bench.mip(0), bench.mip(1)), (0, SEIP));
        assert_eq!(read(&mut bench, &mut plic, PENDING), 1 << 10);
        assert_eq!(read(&mut bench, &mut plic, claim(3)), 10);
        assert_eq!(bench.mip(1), 0);
        assert_eq!(read(&mut bench, &mut plic, claim(3)), 0);
        assert_eq!(read(&mut bench, &mut plic, PENDING), 0);
        // The line is still high: completed, it is pending again.
        write(&mut bench, &mut plic, claim(3), 10);
        assert_eq!(bench.mip(1), SEIP);
        assert_eq!(read(&mut bench, &mut plic, claim(3)), 10);
        line(&mut bench, &mut plic, 10, false);
        write(&mut bench, &mut plic, claim(3), 10);
        assert_eq!(bench.mip(1), 0);
    }

    #[test]
    fn a_pending_source_stays_pending_when_its_line_falls() {
        let mut bench = Bench::new();
        let mut plic = Plic::new(1, 96);
        write(&mut bench, &mut plic, 4, 7);
        write(&mut bench, &mut plic, enable(0, 1), 2);
        line(&mut bench, &mut plic, 1, true);
        line(&mut bench, &mut plic, 1, false);
        assert_eq!(bench.mip(0), MEIP);
        assert_eq!(read(&mut bench, &mut plic, claim(0)), 1);
        // Up and down again while it is served: nothing is kept of that.
        line(&mut bench, &mut plic, 1, true);
        line(&mut bench, &mut plic, 1, false);
        write(&mut bench, &mut plic, claim(0), 1);
        assert_eq!(bench.mip(0), 0);
    }

    #[test]
    fn highest_priority_first_then_lowest_number() {
        let mut bench = Bench::new();
        let mut plic = Plic::new(1, 96);
        for (source, priority) in [(3, 2), (70, 5), (40, 5), (95, 1)] {
            write(&mut bench, &mut plic, source * 4, priority);
            let register = enable(1, source);
            let old = read(&mut bench, &mut plic, register);
            write(&mut bench, &mut plic, register, old | 1 << (source % 32));
            line(&mut bench, &mut plic, source as u32, true);
        }
        let order: Vec<u64> = (0..5)
            .map(|_| read(&mut bench, &mut plic, claim(1)))
            .collect();
        assert_eq!(order, [40, 70, 3, 95, 0]);
    }

    #[test]
    fn only_priorities_above_the_threshold_get_through() {
        let mut bench = Bench::new();
        let mut plic = Plic::new(1, 96);
        write(&mut bench, &mut plic, 4 * 4, 3);
        write(&mut bench, &mut plic, enable(0, 4), 1 << 4);
        write(&mut bench, &mut plic, threshold(0), 3);
        line(&mut bench, &mut plic, 4, true);
        assert_eq!(bench.mip(0), 0);
        // As on `virt`, and unlike section 8.
        assert_eq!(read(&mut bench, &mut plic, claim(0)), 0);
        write(&mut bench, &mut plic, threshold(0), 2);
        assert_eq!(bench.mip(0), MEIP);
        write(&mut bench, &mut plic, 4 * 4, 0);
        assert_eq!(bench.mip(0), 0);
    }

    #[test]
    fn a_source_that_is_not_enabled_cannot_be_completed() {
        let mut bench = Bench::new();
        let mut plic = Plic::new(1, 96);
        write(&mut bench, &mut plic, 4 * 4, 3);
        write(&mut bench, &mut plic, enable(0, 4), 1 << 4);
        line(&mut bench, &mut plic, 4, true);
        assert_eq!(read(&mut bench, &mut plic, claim(0)), 4);
        write(&mut bench, &mut plic, claim(1), 4);
        write(&mut bench, &mut plic, claim(0), 5);
        write(&mut bench, &mut plic, claim(0), 1000);
        write(&mut bench, &mut plic, claim(0), 0xffff_ffff);
        assert_eq!(bench.mip(0), 0);
        write(&mut bench, &mut plic, claim(0), 4);
        assert_eq!(bench.mip(0), MEIP);
    }

    #[test]
    fn registers_hold_implemented_bits() {
        let mut bench = Bench::new();
        let mut plic = Plic::new(1, 96);
        for (offset, written, read_back) in [
            (0, 7, 0),
            (4, 15, 7),
            (95 * 4, 8 + 3, 3),
            (96 * 4, 7, 0),
            (PENDING, 0xffff_ffff, 0),
            (enable(0, 0), 0xffff_ffff, 0xffff_fffe),
            (enable(1, 64), 0xffff_ffff, 0xffff_ffff),
            (enable(0, 96), 0xffff_ffff, 0),
            (enable(2, 0), 0xffff_ffff, 0),
            (threshold(1), 9, 1),
            (threshold(2), 1, 0),
            (threshold(0) + 8, 1, 0),
            (0x3ff_fffc, 1, 0),
        ] {
            write(&mut bench, &mut plic, offset, written);
            assert_eq!(
                read(&mut bench, &mut plic, offset),
                read_back,
                "{offset:#x}"
            );
        }
        bench.call(|port| {
            assert_eq!(plic.read(4, 8, port), Err(Refused));
            assert_eq!(plic.write(4, 1, 0, port), Err(Refused));
        });
    }

    #[test]
    fn reset_forgets_all_but_the_lines() {
        let mut bench = Bench::new();
        let mut plic = Plic::new(1, 96);
        write(&mut bench, &mut plic, 4 * 4, 3);
        write(&mut bench, &mut plic, enable(1, 4), 1 << 4);
        line(&mut bench, &mut plic, 4, true);
        assert_eq!(bench.mip(0), SEIP);
        bench.call(|port| plic.reset(port));
        assert_eq!(bench.mip(0), 0);
        assert_eq!(read(&mut bench, &mut plic, 4 * 4), 0);
        assert_eq!(read(&mut bench, &mut plic, enable(1, 4)), 0);
        assert_eq!(read(&mut bench, &mut plic, PENDING), 1 << 4);
    }

    #[test]
    fn a_state_of_another_geometry_is_refused() {
        let mut plic = Plic::new(2, 96);
        assert_eq!(plic.restore(&Plic::new(2, 96).save()), Ok(()));
        assert!(plic.restore(&Plic::new(1, 96).save()).is_err());
        assert!(plic.restore(&Plic::new(2, 128 + 1).save()).is_err());
        assert!(plic.restore(&[0; 20]).is_err());
        let mut other = Plic::new(2, 97);
        put(&mut other.state.pending, 96, true);
        assert!(plic.restore(&other.save()).is_err());
    }

    /// The specification, one source at a time.
    struct Model {
        priority: Vec<u64>,
        pending: Vec<bool>,
        claimed: Vec<bool>,
        enabled: Vec<Vec<bool>>,
        threshold: Vec<u64>,
        lines: Vec<bool>,
    }

    impl Model {
        fn new(contexts: usize, sources: usize) -> Self {
            Self {
                priority: vec![0; sources],
                pending: vec![false; sources],
                claimed: vec![false; sources],
                enabled: vec![vec![false; sources]; contexts],
                threshold: vec![0; contexts],
                lines: vec![false; sources],
            }
        }

        fn forward(&mut self) {
            for source in 1..self.lines.len() {
                if self.lines[source] && !self.claimed[source] {
                    self.pending[source] = true;
                }
            }
        }

        fn best(&self, context: usize) -> usize {
            let mut best = 0;
            for source in 1..self.pending.len() {
                let through = self.pending[source]
                    && self.enabled[context][source]
                    && self.priority[source] > self.threshold[context];
                if through && (best == 0 || self.priority[source] > self.priority[best]) {
                    best = source;
                }
            }
            best
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Line(usize, bool),
        Priority(usize, u64),
        Enable(usize, usize, u32),
        Threshold(usize, u64),
        Claim(usize),
        Complete(usize, usize),
    }

    const SOURCES: usize = 96;

    fn steps() -> impl Strategy<Value = Step> {
        let (context, source) = (0..4usize, 1..SOURCES);
        prop_oneof![
            (source.clone(), any::<bool>()).prop_map(|(line, level)| Step::Line(line, level)),
            (source.clone(), any::<u64>())
                .prop_map(|(source, value)| Step::Priority(source, value)),
            (context.clone(), 0..SOURCES / 32, any::<u32>())
                .prop_map(|(context, word, value)| Step::Enable(context, word, value)),
            (context.clone(), 0..4u64).prop_map(|(context, value)| Step::Threshold(context, value)),
            context.clone().prop_map(Step::Claim),
            (context, source).prop_map(|(context, source)| Step::Complete(context, source)),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn it_agrees_with_the_model(steps in prop::collection::vec(steps(), 1..300)) {
            let mut bench = Bench::new();
            let mut plic = Plic::new(2, SOURCES as u32);
            let mut model = Model::new(4, SOURCES);
            let mut served = Vec::new();
            for step in steps {
                match step {
                    Step::Line(number, level) => {
                        bench.call(|port| port.interrupt(number as u32, level));
                        bench.call(|port| plic.lines_changed(port));
                        model.lines[number] = level;
                    }
                    Step::Priority(source, value) => {
                        write(&mut bench, &mut plic, source as u64 * 4, value & 0xffff_ffff);
                        model.priority[source] = value % 8;
                    }
                    Step::Enable(context, word, value) => {
                        write(&mut bench, &mut plic, enable(context as u64, word as u64 * 32), value.into());
                        for bit in 0..32 {
                            model.enabled[context][word * 32 + bit] = value >> bit & 1 != 0;
                        }
                    }
                    Step::Threshold(context, value) => {
                        write(&mut bench, &mut plic, threshold(context as u64), value);
                        model.threshold[context] = value;
                    }
                    Step::Claim(context) => {
                        let best = model.best(context);
                        prop_assert_eq!(read(&mut bench, &mut plic, claim(context as u64)), best as u64);
                        if best != 0 {
                            model.pending[best] = false;
                            model.claimed[best] = true;
                            served.push(best);
                        }
                    }
                    Step::Complete(context, source) => {
                        // Most often one that is being served.
                        let source = if source % 4 == 0 { source } else { served.pop().unwrap_or(source) };
                        write(&mut bench, &mut plic, claim(context as u64), source as u64);
                        if model.enabled[context][source] {
                            model.claimed[source] = false;
                        }
                    }
                }
                model.forward();
                for context in 0..4 {
                    let bit = if context % 2 == 0 { MEIP } else { SEIP };
                    prop_assert_eq!(bench.mip(context / 2) & bit != 0, model.best(context) != 0);
                }
                for word in 0..SOURCES / 32 {
                    let pending = (0..32).fold(0, |bits, bit| bits | u64::from(model.pending[word * 32 + bit]) << bit);
                    prop_assert_eq!(read(&mut bench, &mut plic, PENDING + word as u64 * 4), pending);
                }
            }
            let mut other = Plic::new(2, SOURCES as u32);
            prop_assert_eq!(other.restore(&plic.save()), Ok(()));
            prop_assert_eq!(&other.state, &plic.state);
        }
    }
}
