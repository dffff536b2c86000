//! The page by which a vCPU handles interrupts without a trap: it claims, masks and completes them in its own memory
//! ([`crate::hypercall::INTERRUPT_PAGE`]).
//!
//! Bit `n` of both sets stands for source `n` of the virtual PLIC; bit 0, which is no source, for an interrupt from
//! another vCPU of the VM ([`IPI`]). The hypervisor only sets bits of `pending`, on the vCPU's hart, while the vCPU
//! runs or is about to. When it sets a source that is enabled and was not pending, it makes the vCPU's software
//! interrupt pending. The vCPU
//!
//! * on that interrupt first clears `sip.SSIP`, and then claims sources until none is left ([`InterruptPage::claim`]);
//!   if it stops earlier, it sets `sip.SSIP` again;
//! * after it has enabled a source, checks whether that is pending already ([`InterruptPage::enable`]).
//!
//! Then no interrupt is lost, for any interleaving.

mod guest;

use core::sync::atomic::{AtomicU64, Ordering};

/// Words of a set.
pub const WORDS: usize = 2;

/// Takes the number of a source: an interrupt from another vCPU.
pub const IPI: u32 = 0;

/// The word and the bit of a source within a set. The source is one of [`crate::map::PLIC_SOURCES`].
pub const fn word_and_bit(source: u32) -> (usize, u64) {
    (source as usize / 64 % WORDS, 1 << (source % 64))
}

/// The memory that the vCPU and the hypervisor share.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct InterruptPage {
    /// Sources that are pending: raised and not claimed.
    pub pending: [AtomicU64; WORDS],
    /// Sources that are enabled; written by the vCPU only.
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

    /// For the hypervisor: sets sources of a word pending. Returns whether the vCPU is to be interrupted.
    #[inline]
    pub fn set_pending(&self, word: usize, sources: u64) -> bool {
        let before = self.pending[word].fetch_or(sources, Ordering::SeqCst);
        sources & !before & self.enabled[word].load(Ordering::SeqCst) != 0
    }

    /// Whether [`InterruptPage::set_pending`] with these sources would interrupt the vCPU.
    pub fn would_interrupt(&self, word: usize, sources: u64) -> bool {
        let before = self.pending[word].load(Ordering::Relaxed);
        sources & !before & self.enabled[word].load(Ordering::Relaxed) != 0
    }

    /// Whether a source is enabled.
    pub fn is_enabled(&self, source: u32) -> bool {
        let (word, bit) = word_and_bit(source);
        self.enabled[word].load(Ordering::Relaxed) & bit != 0
    }

    /// Whether a source is pending.
    pub fn is_pending(&self, source: u32) -> bool {
        let (word, bit) = word_and_bit(source);
        self.pending[word].load(Ordering::Relaxed) & bit != 0
    }
}

const _: () = assert!(size_of::<InterruptPage>() == 64);
