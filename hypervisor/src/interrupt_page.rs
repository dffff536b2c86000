//! Interrupts by a page that a vCPU shares with the hypervisor: see [`tactus_abi::interrupts`].
//!
//! The page is the guest's memory, in which it may write anything at any time. It is written on the hart of its vCPU only, while the vCPU runs
//! there or is about to, so that nothing is written any more once the vCPU has taken it back or stopped. Until then what has
//! been sent is kept here. What is read of the page decides about nothing but whether its own vCPU is interrupted.

use crate::vcpu::{Vcpu, signal};
use crate::vm::{Changed, Vm};
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering, fence};
use tactus_abi::interrupts::{IPI, InterruptPage, WORDS, place};

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
}

/// Sends a source to those of the VM's vCPUs, as bits, that have pages. Those that this is news for are to be told.
#[inline(never)]
pub fn raise(vm: &Vm, mut pages: u32, source: u32) -> Changed {
    let (word, bit) = place(source);
    let mut changed = 0;
    // What the sender has written before is not later than a look that finds the source pending: who takes it then sees that.
    fence(Ordering::SeqCst);
    // At most one step for each vCPU.
    while pages != 0 {
        let vcpu = &vm.vcpus()[pages.trailing_zeros() as usize];
        pages &= pages - 1;
        // With the bit still there the vCPU knows, or looks when it enables the source: one that does not listen is disturbed once.
        if vcpu.page.get().is_some_and(|page| !page.is_pending(source)) && vcpu.page.send(word, bit)
        {
            vcpu.signal(signal::SOFTWARE);
            changed |= vcpu.bit;
        }
    }
    changed
}

/// A vCPU of the VM in whose page the source is enabled, or null.
pub fn listener(vm: &Vm, source: u32) -> *const Vcpu {
    let hears = |vcpu: &&Vcpu| vcpu.page.get().is_some_and(|page| page.is_enabled(source));
    vm.vcpus()
        .iter()
        .find(hears)
        .map_or(ptr::null(), ptr::from_ref)
}

/// Sends a vCPU an interrupt from another one of its VM; `true`: it is to be told.
pub fn send_ipi(vcpu: &Vcpu) -> bool {
    if vcpu.page.get().is_some() {
        let news = vcpu.page.send(0, 1 << IPI);
        vcpu.signal(signal::SOFTWARE);
        return news;
    }
    // If it has not taken the last one yet, it knows.
    vcpu.signal(signal::SOFTWARE) & signal::SOFTWARE == 0
}

/// The vCPU, which runs on this hart, or is about to, has been sent something ([`signal::SOFTWARE`], which has been cleared): whether its software interrupt is
/// to be pending now.
#[inline]
pub fn deliver(vcpu: &Vcpu) -> bool {
    vcpu.page.get().is_none_or(|page| fill(vcpu, page))
}

#[inline(never)]
fn fill(vcpu: &Vcpu, page: &InterruptPage) -> bool {
    let mut sent = vcpu
        .page
        .sent
        .each_ref()
        .map(|word| word.swap(0, Ordering::SeqCst));
    if sent == [0; WORDS] {
        // From before it had a page.
        sent[0] = 1 << IPI;
    }
    let mut interrupts = false;
    for (word, sources) in sent.into_iter().enumerate() {
        interrupts |= sources != 0 && page.add(word, sources);
    }
    interrupts
}

/// Whether a waiting vCPU of this hart that has been sent something would be interrupted by it.
#[inline(never)]
pub fn is_heard(vcpu: &Vcpu) -> bool {
    vcpu.page.get().is_none_or(|page| {
        let mut words = vcpu.page.sent.iter().enumerate();
        words.any(|(word, sources)| page.would_interrupt(word, sources.load(Ordering::SeqCst)))
    })
}
