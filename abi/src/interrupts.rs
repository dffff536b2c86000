//! The page by which a vCPU takes interrupts without a trap: it acknowledges, masks and ends them in its own memory
//! ([`crate::hypercall::INTERRUPT_PAGE`]).
//!
//! Bit `n` of both sets stands for source `n` of the virtual PLIC; bit 0, which is no source, for an interrupt that another vCPU of the VM has
//! sent ([`IPI`]). The hypervisor only ever adds to `pending`, when the vCPU runs or is about to, on its hart. When it
//! adds a source that is enabled and was not pending, it makes the vCPU's software interrupt pending. The vCPU
//!
//! * on that interrupt first clears `sip.SSIP`, and then takes sources until there are none ([`InterruptPage::take`]). One that does not take all sets
//!   `sip.SSIP` again;
//! * when it has enabled a source, looks whether that is pending already ([`InterruptPage::enable`]).
//!
//! Then no interrupt is lost, whatever comes between any two of its instructions.

use core::sync::atomic::{AtomicU64, Ordering};

/// Words of a set.
pub const WORDS: usize = 2;

/// In the place of a source: an interrupt from another vCPU.
pub const IPI: u32 = 0;

/// The word of a set that a source is in, and its bit there. The source is one of [`crate::map::PLIC_SOURCES`].
pub const fn place(source: u32) -> (usize, u64) {
    (source as usize / 64 % WORDS, 1 << (source % 64))
}

/// What the vCPU and the hypervisor share.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct InterruptPage {
    /// Sources that have interrupted and have not been taken.
    pub pending: [AtomicU64; WORDS],
    /// Sources that may interrupt; written by the vCPU only.
    pub enabled: [AtomicU64; WORDS],
    /// Zero.
    pub reserved: [u64; 4],
}

impl InterruptPage {
    /// No source is pending or enabled.
    pub const fn new() -> Self {
        Self {
            pending: [const { AtomicU64::new(0) }; WORDS],
            enabled: [const { AtomicU64::new(0) }; WORDS],
            reserved: [0; 4],
        }
    }

    /// The hypervisor's part: makes sources of a word pending. Whether one of them is to interrupt now.
    #[inline]
    pub fn add(&self, word: usize, sources: u64) -> bool {
        let before = self.pending[word].fetch_or(sources, Ordering::SeqCst);
        sources & !before & self.enabled[word].load(Ordering::SeqCst) != 0
    }

    /// Whether the hypervisor, adding these sources of a word now, would interrupt.
    pub fn would_interrupt(&self, word: usize, sources: u64) -> bool {
        let before = self.pending[word].load(Ordering::Relaxed);
        sources & !before & self.enabled[word].load(Ordering::Relaxed) != 0
    }

    /// Whether a source is enabled.
    pub fn is_enabled(&self, source: u32) -> bool {
        let (word, bit) = place(source);
        self.enabled[word].load(Ordering::Relaxed) & bit != 0
    }

    /// Whether a source is pending.
    pub fn is_pending(&self, source: u32) -> bool {
        let (word, bit) = place(source);
        self.pending[word].load(Ordering::Relaxed) & bit != 0
    }

    /// Lets a source interrupt. Whether it is pending: then the vCPU has to see to it by itself, such as by setting `sip.SSIP`.
    #[must_use]
    pub fn enable(&self, source: u32) -> bool {
        let (word, bit) = place(source);
        self.enabled[word].fetch_or(bit, Ordering::SeqCst);
        self.pending[word].load(Ordering::SeqCst) & bit != 0
    }

    /// Keeps a source from interrupting.
    pub fn disable(&self, source: u32) {
        let (word, bit) = place(source);
        self.enabled[word].fetch_and(!bit, Ordering::SeqCst);
    }

    /// Takes the pending and enabled source of the lowest number, which acknowledges it: from now on it may interrupt again.
    pub fn take(&self) -> Option<u32> {
        for word in 0..WORDS {
            let enabled = self.enabled[word].load(Ordering::SeqCst);
            let asks = self.pending[word].load(Ordering::SeqCst) & enabled;
            if asks != 0 {
                let source = asks.trailing_zeros();
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

const _: () = assert!(size_of::<InterruptPage>() == 64);
