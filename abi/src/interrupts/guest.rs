//! What the vCPU does with its page.

use super::{InterruptPage, WORDS, word_and_bit};
use core::sync::atomic::Ordering;

impl InterruptPage {
    /// Enables a source. Returns whether it is pending: then the vCPU has to handle it, such as by setting `sip.SSIP`.
    #[must_use]
    pub fn enable(&self, source: u32) -> bool {
        let (word, bit) = word_and_bit(source);
        self.enabled[word].fetch_or(bit, Ordering::SeqCst);
        self.pending[word].load(Ordering::SeqCst) & bit != 0
    }

    /// Disables a source.
    pub fn disable(&self, source: u32) {
        let (word, bit) = word_and_bit(source);
        self.enabled[word].fetch_and(!bit, Ordering::SeqCst);
    }

    /// Claims the pending and enabled source of the lowest number, which may become pending again from then on.
    pub fn claim(&self) -> Option<u32> {
        for word in 0..WORDS {
            let enabled = self.enabled[word].load(Ordering::SeqCst);
            let ready = self.pending[word].load(Ordering::SeqCst) & enabled;
            if ready != 0 {
                let source = ready.trailing_zeros();
                // What was written before the interrupt was sent is read after this.
                self.pending[word].fetch_and(!(1 << source), Ordering::SeqCst);
                return Some(word as u32 * 64 + source);
            }
        }
        None
    }
}

impl Default for InterruptPage {
    fn default() -> Self {
        Self::new()
    }
}
