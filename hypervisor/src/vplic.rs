//! A VM's virtual PLIC (RISC-V Platform-Level Interrupt Controller specification 1.0.0), with
//! [`PLIC_SOURCES`] sources and one supervisor-level context for each vCPU.
//!
//! Whatever the guest does costs a bounded number of steps: claims look at one 128-bit set for each
//! of seven priorities, never at single sources.

use tactus_abi::blob::limit::VCPUS_PER_VM;
use tactus_abi::map::{
    CHANNEL_SOURCE, CHANNELS_MAX, PLIC_PRIORITY_MAX, PLIC_SOURCES, plic_context,
};
use tactus_policy::table::Array;

/// A set of sources, bit `n` for source `n`.
type Sources = u128;

const VALID: Sources = ((1 << PLIC_SOURCES) - 1) & !1;

/// Register blocks (PLIC specification, "Memory Map").
const PENDING: u64 = 0x1000;
const ENABLE: u64 = 0x2000;
const ENABLE_STRIDE: u64 = 0x80;
const CONTEXT: u64 = 0x20_0000;
const CONTEXT_STRIDE: u64 = 0x1000;

/// What a write asks the world outside to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    None,
    /// The contexts' outputs may have changed.
    Outputs,
    /// So may have what this context has enabled.
    Enabled(usize),
    /// The guest has completed this source, and outputs may have changed.
    Completed(u32),
}

/// The controller's state. An output per context: "an interrupt is to be taken". A doorbell of a VM with one vCPU uses
/// the first 48 bytes.
#[derive(Debug)]
#[repr(C)]
pub struct Vplic {
    pending: Sources,
    /// Claimed and not yet completed.
    in_service: Sources,
    /// Of each context, unless it is off: enabled, and of a priority above the threshold.
    heard: Array<Sources, VCPUS_PER_VM>,
    enabled: Array<Sources, VCPUS_PER_VM>,
    /// Sources of each priority; 0 holds those that never interrupt.
    by_priority: Array<Sources, { PLIC_PRIORITY_MAX as usize + 1 }>,
    /// Lines of level-triggered sources.
    lines: Sources,
    contexts: usize,
    /// Contexts, as bits, whose output is off.
    off: u32,
    threshold: Array<u8, VCPUS_PER_VM>,
    priority: Array<u8, { PLIC_SOURCES as usize }>,
}

impl Vplic {
    /// A controller after reset, for `contexts` vCPUs (at most [`VCPUS_PER_VM`]).
    pub const fn new(contexts: usize) -> Self {
        let mut by_priority = [0; PLIC_PRIORITY_MAX as usize + 1];
        by_priority[0] = VALID;
        let by_priority = Array(by_priority);
        Self {
            contexts,
            priority: Array([0; PLIC_SOURCES as usize]),
            by_priority,
            pending: 0,
            in_service: 0,
            lines: 0,
            enabled: Array([0; VCPUS_PER_VM]),
            threshold: Array([0; VCPUS_PER_VM]),
            off: 0,
            heard: Array([0; VCPUS_PER_VM]),
        }
    }

    /// Brings it into the state after reset, in place: a new one would be made on the stack and copied.
    pub fn reset(&mut self) {
        *self.priority = [0; PLIC_SOURCES as usize];
        *self.by_priority = [0; PLIC_PRIORITY_MAX as usize + 1];
        self.by_priority[0] = VALID;
        self.pending = 0;
        self.in_service = 0;
        self.lines = 0;
        *self.enabled = [0; VCPUS_PER_VM];
        *self.threshold = [0; VCPUS_PER_VM];
        self.off = 0;
        *self.heard = [0; VCPUS_PER_VM];
    }

    /// Number of contexts.
    pub const fn contexts(&self) -> usize {
        self.contexts
    }

    /// An edge: the source, which is one of the PLIC's, asks once.
    pub fn raise(&mut self, source: u32) {
        debug_assert!(source < PLIC_SOURCES, "{source} is no source");
        // No shift of so many bits, on a path that is measured.
        let bit = 1 << (source % u64::BITS);
        self.add(if source & u64::BITS == 0 {
            [bit, 0]
        } else {
            [0, bit]
        });
    }

    /// An edge of a channel's doorbell, which is the source [`CHANNEL_SOURCE`] plus the channel's number: one word
    /// changes.
    #[inline(always)]
    pub fn raise_channel(&mut self, channel: u32) {
        debug_assert!(channel < CHANNELS_MAX, "{channel} is no channel");
        self.pending |= Sources::from(1_u64 << (channel % CHANNELS_MAX)) << CHANNEL_SOURCE;
    }

    /// Sources that have asked and have not been claimed, in words of 64.
    pub const fn pending(&self) -> [u64; 2] {
        [self.pending as u64, (self.pending >> 64) as u64]
    }

    /// These sources ask, too.
    #[inline]
    pub fn add(&mut self, [low, high]: [u64; 2]) {
        self.pending |= (u128::from(high) << 64 | u128::from(low)) & VALID;
    }

    /// Whether a context has enabled a source.
    pub fn is_enabled(&self, context: usize, source: u32) -> bool {
        self.enabled[context] & Self::bit(source) != 0
    }

    /// The level of a level-triggered source's line.
    pub fn set_line(&mut self, source: u32, high: bool) {
        let bit = Self::bit(source);
        if high {
            self.lines |= bit;
            if self.in_service & bit == 0 {
                self.pending |= bit;
            }
        } else {
            self.lines &= !bit;
            self.pending &= !bit;
        }
    }

    /// Turns a context's output off, or on again.
    pub fn turn_off(&mut self, context: usize, off: bool) {
        self.off = self.off & !(1 << context) | u32::from(off) << context;
        self.listen(context);
    }

    /// Whether context `context` (a vCPU's number) has an interrupt to take.
    #[inline]
    pub fn output(&self, context: usize) -> bool {
        self.pending & self.heard[context] & !self.in_service != 0
    }

    /// A context's enabled sources or its threshold have changed, or a source's priority.
    fn listen(&mut self, context: usize) {
        let above = usize::from(self.threshold[context]) + 1;
        let heard = self.by_priority.0[above..]
            .iter()
            .fold(0, |all, sources| all | sources);
        self.heard[context] = if self.off >> context & 1 == 0 {
            heard & self.enabled[context]
        } else {
            0
        };
    }

    /// Reads a register. `None`: the register does not exist or the access is not of 32 bits.
    pub fn read(&mut self, offset: u64, size: u8) -> Option<(u32, Effect)> {
        if size != 4 || !offset.is_multiple_of(4) {
            return None;
        }
        let quiet = |value| Some((value, Effect::None));
        // Claims first, which each interrupt takes.
        if offset >= CONTEXT {
            let Some(context) = self.context((offset - CONTEXT) / CONTEXT_STRIDE) else {
                return quiet(0);
            };
            return match (offset - CONTEXT) % CONTEXT_STRIDE {
                0 => quiet(self.threshold[context].into()),
                4 => {
                    let claimed = self.claim(context);
                    let effect = if claimed == 0 {
                        Effect::None
                    } else {
                        Effect::Outputs
                    };
                    Some((claimed, effect))
                }
                _ => quiet(0),
            };
        }
        if offset < PENDING {
            let source = (offset / 4) as usize;
            return quiet(self.priority.get(source).copied().unwrap_or(0).into());
        }
        if offset < ENABLE {
            return quiet(word(self.pending, (offset - PENDING) / 4));
        }
        let context = self.context((offset - ENABLE) / ENABLE_STRIDE);
        let index = (offset - ENABLE) % ENABLE_STRIDE / 4;
        quiet(context.map_or(0, |c| word(self.enabled[c], index)))
    }

    /// Writes a register; registers that do not exist ignore it. `None`: the access is not of 32 bits.
    pub fn write(&mut self, offset: u64, size: u8, value: u32) -> Option<Effect> {
        if size != 4 || !offset.is_multiple_of(4) {
            return None;
        }
        if offset < PENDING {
            let source = (offset / 4) as u32;
            let bit = Self::bit(source);
            if bit != 0 {
                let priority = value.min(PLIC_PRIORITY_MAX) as u8;
                let old = core::mem::replace(&mut self.priority[source as usize], priority);
                self.by_priority[usize::from(old)] &= !bit;
                self.by_priority[usize::from(priority)] |= bit;
                for context in 0..self.contexts {
                    self.listen(context);
                }
            }
        } else if offset < ENABLE {
            // Pending bits are read-only.
            return Some(Effect::None);
        } else if offset < CONTEXT {
            let context = self.context((offset - ENABLE) / ENABLE_STRIDE);
            let index = (offset - ENABLE) % ENABLE_STRIDE / 4;
            if let (Some(context), 0..4) = (context, index) {
                let shift = index as u32 * 32;
                let set = &mut self.enabled[context];
                *set = (*set & !(0xffff_ffff << shift) | u128::from(value) << shift) & VALID;
                self.listen(context);
                return Some(Effect::Enabled(context));
            }
            return Some(Effect::None);
        } else if let Some(context) = self.context((offset - CONTEXT) / CONTEXT_STRIDE) {
            match (offset - CONTEXT) % CONTEXT_STRIDE {
                0 => {
                    self.threshold[context] = value.min(PLIC_PRIORITY_MAX) as u8;
                    self.listen(context);
                }
                4 => return Some(self.complete(context, value)),
                _ => {}
            }
        }
        Some(Effect::Outputs)
    }

    /// "Interrupt Claims": the best pending source, 0 if none; the threshold plays no part.
    fn claim(&mut self, context: usize) -> u32 {
        let Some(source) = self.best(context) else {
            return 0;
        };
        let bit = Self::bit(source);
        self.pending &= !bit;
        self.in_service |= bit;
        source
    }

    /// "Interrupt Completion": ignored for a source that the context has not enabled or that is not
    /// being served.
    fn complete(&mut self, context: usize, source: u32) -> Effect {
        let bit = Self::bit(source);
        if self.enabled[context] & self.in_service & bit == 0 {
            return Effect::None;
        }
        self.in_service &= !bit;
        if self.lines & bit != 0 {
            self.pending |= bit;
        }
        Effect::Completed(source)
    }

    /// Highest priority above 0, lowest number first.
    fn best(&self, context: usize) -> Option<u32> {
        let candidates = self.pending & self.enabled[context] & !self.in_service;
        if candidates == 0 {
            return None;
        }
        self.by_priority.0[1..]
            .iter()
            .rev()
            .map(|sources| sources & candidates)
            .find(|&sources| sources != 0)
            .map(Sources::trailing_zeros)
    }

    fn context(&self, number: u64) -> Option<usize> {
        let context = (number / 2) as usize;
        (context < self.contexts && number == u64::from(plic_context(context as u32)))
            .then_some(context)
    }

    const fn bit(source: u32) -> Sources {
        if source < PLIC_SOURCES {
            (1 << source) & VALID
        } else {
            0
        }
    }
}

fn word(set: Sources, index: u64) -> u32 {
    if index < 4 {
        (set >> (index as u32 * 32)) as u32
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use proptest::prelude::*;
    use std::format;

    const CLAIM: u64 = CONTEXT + CONTEXT_STRIDE + 4;
    const THRESHOLD: u64 = CONTEXT + CONTEXT_STRIDE;
    const ENABLE0: u64 = ENABLE + ENABLE_STRIDE;

    fn with(sources: &[(u32, u32)]) -> Vplic {
        let mut plic = Vplic::new(2);
        for &(source, priority) in sources {
            plic.write(u64::from(source) * 4, 4, priority);
            let at = ENABLE0 + u64::from(source / 32) * 4;
            let old = plic.read(at, 4).expect("an enable word").0;
            plic.write(at, 4, old | 1 << (source % 32));
        }
        plic
    }

    fn claim(plic: &mut Vplic) -> u32 {
        plic.read(CLAIM, 4).expect("the claim register").0
    }

    #[test]
    fn a_reset_one_is_as_new() {
        let mut plic = with(&[(10, 3), (95, 7)]);
        plic.write(THRESHOLD, 4, 2);
        plic.set_line(10, true);
        plic.raise(95);
        claim(&mut plic);
        plic.turn_off(1, true);
        plic.reset();
        assert_eq!(format!("{plic:?}"), format!("{:?}", Vplic::new(2)));
    }

    #[test]
    fn claims_by_priority_then_number() {
        let mut plic = with(&[(10, 3), (33, 7), (65, 7), (2, 1)]);
        for source in [2, 65, 33, 10] {
            plic.raise(source);
        }
        assert!(plic.output(0));
        assert!(!plic.output(1));
        let order: [u32; 5] = core::array::from_fn(|_| claim(&mut plic));
        assert_eq!(order, [33, 65, 10, 2, 0]);
        assert!(!plic.output(0));
    }

    #[test]
    fn threshold_masks_the_output_but_not_the_claim() {
        let mut plic = with(&[(10, 3)]);
        plic.write(THRESHOLD, 4, 3);
        plic.raise(10);
        assert!(!plic.output(0));
        plic.write(THRESHOLD, 4, 2);
        assert!(plic.output(0));
        plic.write(THRESHOLD, 4, 7);
        assert_eq!(claim(&mut plic), 10);
    }

    #[test]
    fn a_source_in_service_waits_for_its_completion() {
        let mut plic = with(&[(10, 1)]);
        plic.set_line(10, true);
        assert_eq!(claim(&mut plic), 10);
        assert!(!plic.output(0));
        assert_eq!(plic.write(CLAIM, 4, 10), Some(Effect::Completed(10)));
        assert!(plic.output(0), "the line is still high");
        assert_eq!(claim(&mut plic), 10);
        plic.set_line(10, false);
        assert_eq!(plic.write(CLAIM, 4, 10), Some(Effect::Completed(10)));
        assert!(!plic.output(0));
        assert_eq!(
            plic.write(CLAIM, 4, 10),
            Some(Effect::None),
            "completed twice"
        );
    }

    #[test]
    fn an_edge_during_service_is_kept() {
        let mut plic = with(&[(64, 1)]);
        plic.raise(64);
        assert_eq!(claim(&mut plic), 64);
        plic.raise(64);
        assert_eq!(claim(&mut plic), 0);
        plic.write(CLAIM, 4, 64);
        assert_eq!(claim(&mut plic), 64);
    }

    #[test]
    fn odd_accesses_are_refused_and_strange_ones_ignored() {
        let mut plic = with(&[(10, 1)]);
        assert!(plic.read(CLAIM, 1).is_none());
        assert!(plic.read(CLAIM + 2, 4).is_none());
        assert!(plic.write(CLAIM, 8, 0).is_none());
        // Source 0, sources beyond the last, contexts that do not exist.
        for offset in [
            0,
            96 * 4,
            0xffc,
            PENDING,
            ENABLE,
            ENABLE + 5 * ENABLE_STRIDE,
        ] {
            plic.write(offset, 4, u32::MAX);
            assert_eq!(plic.read(offset, 4), Some((0, Effect::None)));
        }
        for offset in [CONTEXT, CONTEXT + 5 * CONTEXT_STRIDE, 0x5f_fffc] {
            plic.write(offset, 4, u32::MAX);
            assert_eq!(plic.read(offset, 4), Some((0, Effect::None)));
        }
        plic.raise(0);
        assert_eq!(claim(&mut plic), 0);
    }

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Write(u64, u32),
        Claim(u64),
        Raise(u32),
        Line(u32, bool),
        TurnOff(usize, bool),
    }

    fn any_step() -> impl Strategy<Value = Step> {
        let context = 0..2u64;
        prop_oneof![
            (0..PLIC_SOURCES, 0..8u32).prop_map(|(s, p)| Step::Write(u64::from(s) * 4, p)),
            (context.clone(), 0..3u64, any::<u32>()).prop_map(|(c, word, bits)| {
                Step::Write(ENABLE0 + c * 2 * ENABLE_STRIDE + word * 4, bits)
            }),
            (context.clone(), 0..8u32).prop_map(|(c, threshold)| {
                Step::Write(THRESHOLD + c * 2 * CONTEXT_STRIDE, threshold)
            }),
            (context.clone(), 0..PLIC_SOURCES)
                .prop_map(|(c, s)| Step::Write(CLAIM + c * 2 * CONTEXT_STRIDE, s)),
            context.prop_map(|c| Step::Claim(CLAIM + c * 2 * CONTEXT_STRIDE)),
            (0..PLIC_SOURCES).prop_map(Step::Raise),
            (0..PLIC_SOURCES, any::<bool>()).prop_map(|(s, high)| Step::Line(s, high)),
            (0..2usize, any::<bool>()).prop_map(|(c, off)| Step::TurnOff(c, off)),
        ]
    }

    proptest! {
        /// What is kept ready for [`Vplic::output`] is what the registers say: PLIC specification, "Interrupt Flow".
        #[test]
        fn outputs_are_what_the_registers_say(steps in prop::collection::vec(any_step(), 1..120)) {
            let mut plic = Vplic::new(2);
            let mut off = [false; 2];
            for step in steps {
                match step {
                    Step::Write(at, value) => drop(plic.write(at, 4, value)),
                    Step::Claim(at) => drop(plic.read(at, 4)),
                    Step::Raise(source) => plic.raise(source),
                    Step::Line(source, high) => plic.set_line(source, high),
                    Step::TurnOff(context, now) => {
                        off[context] = now;
                        plic.turn_off(context, now);
                    }
                }
                let mut read = |at| plic.read(at, 4).expect("a register").0;
                let priorities: [u32; PLIC_SOURCES as usize] =
                    core::array::from_fn(|n| read(n as u64 * 4));
                let thresholds = [0, 2].map(|c| read(THRESHOLD + c * CONTEXT_STRIDE));
                for (context, threshold) in thresholds.into_iter().enumerate() {
                    // An edge that comes during service waits for its end.
                    let waiting = plic.pending & !plic.in_service & plic.enabled[context];
                    let asks = (0..PLIC_SOURCES)
                        .any(|n| waiting >> n & 1 != 0 && priorities[n as usize] > threshold);
                    prop_assert_eq!(plic.output(context), asks && !off[context]);
                }
            }
        }
    }

    #[test]
    fn a_doorbell_is_an_edge_of_its_source() {
        for channel in 0..CHANNELS_MAX {
            let (mut by_channel, mut by_source) = (Vplic::new(1), Vplic::new(1));
            by_channel.raise_channel(channel);
            by_source.raise(CHANNEL_SOURCE + channel);
            assert_eq!(
                by_channel.pending(),
                by_source.pending(),
                "channel {channel}"
            );
        }
    }
}
