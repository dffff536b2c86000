//! Interrupts by a page that a vCPU shares with the hypervisor: see [`tactus_abi::interrupts`].
//!
//! The page is the guest's memory, in which it may write anything at any time. It is written on the hart of its vCPU
//! only, while the vCPU runs there or is about to, so that nothing is written any more once the vCPU has taken it back
//! or stopped. Until then what has been sent is kept here. What is read of the page decides about nothing but whether
//! its own vCPU is interrupted.

use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use tactus_abi::interrupts::{IPI, InterruptPage, WORDS};

/// A vCPU's page, and what is on its way there.
#[derive(Debug)]
pub struct Page {
    /// Its physical address, or null. Written with the VM's devices locked.
    at: AtomicPtr<InterruptPage>,
    /// Sources that have been sent and are not in the page yet.
    sent: [AtomicU64; WORDS],
}

impl Page {
    /// None.
    pub const fn none() -> Self {
        Self {
            at: AtomicPtr::new(ptr::null_mut()),
            sent: [const { AtomicU64::new(0) }; WORDS],
        }
    }

    /// The page, if the vCPU has one. Others than its own hart only read it.
    pub fn get(&self) -> Option<&'static InterruptPage> {
        // Safety: null, or the address of aligned bytes of the VM's memory, which are atomics for everyone.
        unsafe { self.at.load(Ordering::Relaxed).as_ref() }
    }

    /// Another page, or none if null. Returns what was on its way to the old one.
    pub fn replace(&self, at: *mut InterruptPage) -> [u64; WORDS] {
        self.at.store(at, Ordering::Relaxed);
        self.sent
            .each_ref()
            .map(|word| word.swap(0, Ordering::SeqCst))
    }

    /// Sends it sources of a word; `true`: that is news.
    pub fn send(&self, word: usize, sources: u64) -> bool {
        sources & !self.sent[word].fetch_or(sources, Ordering::SeqCst) != 0
    }

    /// The vCPU, which runs on this hart, or is about to, has been sent something
    /// ([`crate::vm::vcpu::signal::SOFTWARE`], which has been cleared): whether its software interrupt is to be pending
    /// now.
    #[inline]
    pub fn deliver(&self) -> bool {
        self.get().is_none_or(|page| self.fill(page))
    }

    #[inline(never)]
    fn fill(&self, page: &InterruptPage) -> bool {
        let mut sent = self
            .sent
            .each_ref()
            .map(|word| word.swap(0, Ordering::SeqCst));
        if sent == [0; WORDS] {
            // From before it had a page.
            sent[0] = 1 << IPI;
        }
        let mut interrupts = false;
        for (word, sources) in sent.into_iter().enumerate() {
            interrupts |= sources != 0 && page.set_pending(word, sources);
        }
        interrupts
    }

    /// Whether the waiting vCPU, which this hart owns and which has been sent something, would be interrupted by it.
    #[inline(never)]
    pub fn is_heard(&self) -> bool {
        self.get().is_none_or(|page| {
            let mut words = self.sent.iter().enumerate();
            words.any(|(word, sources)| page.would_interrupt(word, sources.load(Ordering::SeqCst)))
        })
    }
}
