//! Interrupts of devices and doorbells, by the running hart's mechanism: the controller ([`Plic`]), or, in a Tactus VM
//! that has called [`use_page`], a page in its own memory, by which it claims, masks and completes interrupts without a
//! trap ([`tactus_abi::interrupts`]).
//!
//! Handlers ([`crate::trap::on_external`]) are the same, and so are [`enable`] and [`disable`].

use core::sync::atomic::{AtomicBool, Ordering};

use tactus_abi::hypercall::{EXTENSION, INTERRUPT_END, INTERRUPT_PAGE};
use tactus_abi::interrupts::{IPI, InterruptPage};
use tactus_abi::map;

use crate::{csr, plic::Plic, sbi, start, trap};

static PAGES: [InterruptPage; start::HARTS_MAX] = [const { InterruptPage::new() }; _];
static IN_USE: [AtomicBool; start::HARTS_MAX] = [const { AtomicBool::new(false) }; _];

/// Switches the running hart to a page. Sources must be enabled again. Interrupts that are pending and not claimed
/// become pending in the page, those of disabled sources as well.
///
/// # Errors
///
/// [`sbi::Error::NotSupported`]: this is no Tactus VM, or an older Tactus; nothing has changed.
pub fn use_page() -> Result<(), sbi::Error> {
    let hart = start::hart();
    let page = &PAGES[hart];
    trap::without_interrupts(|| {
        call(INTERRUPT_PAGE, core::ptr::from_ref(page) as usize)?;
        IN_USE[hart].store(true, Ordering::Relaxed);
        recheck_if(page.enable(IPI));
        // SAFETY: the runtime's trap handler knows what to do with it.
        unsafe { csr::set::<{ csr::SIE }>(csr::INTERRUPT_SOFTWARE) };
        Ok(())
    })
}

/// Switches the running hart back to the controller. Interrupts pending in the page are dropped.
///
/// # Errors
///
/// As [`use_page`].
pub fn use_controller() -> Result<(), sbi::Error> {
    let hart = start::hart();
    trap::without_interrupts(|| {
        call(INTERRUPT_PAGE, 0)?;
        IN_USE[hart].store(false, Ordering::Relaxed);
        for words in [&PAGES[hart].enabled, &PAGES[hart].pending] {
            words
                .iter()
                .for_each(|word| word.store(0, Ordering::Relaxed));
        }
        Ok(())
    })
}

/// The running hart's page, if it uses one.
pub fn page() -> Option<&'static InterruptPage> {
    let hart = start::hart();
    IN_USE[hart].load(Ordering::Relaxed).then(|| &PAGES[hart])
}

/// Enables a source for the running hart. The controller has priorities, 1 to 7. The page has none: there the source of
/// the lowest number is first.
///
/// # Panics
///
/// When the source is 0 or beyond the virtual controller's.
pub fn enable(source: u32, priority: u32) {
    match page() {
        None => Plic::of_hart(start::hart()).enable(source, priority),
        Some(page) => {
            check(source);
            recheck_if(page.enable(source));
        }
    }
}

/// Disables a source for the running hart.
///
/// # Panics
///
/// When the source is 0 or beyond the virtual controller's.
pub fn disable(source: u32) {
    match page() {
        None => Plic::of_hart(start::hart()).disable(source),
        Some(page) => {
            check(source);
            page.disable(source);
        }
    }
}

/// Completes a source claimed from a page: a call for devices, nothing for doorbells and faults.
pub fn complete(source: u32) {
    if (1..=map::PASSTHROUGH_SOURCE_MAX).contains(&source) {
        call(INTERRUPT_END, source as usize).expect("a source of a page is a source");
    }
}

fn check(source: u32) {
    assert!(
        source != 0 && source < map::PLIC_SOURCES,
        "source {source} is out of range"
    );
}

/// Rechecks the page if a source was pending when it was enabled: the hypervisor does not signal it again.
fn recheck_if(pending: bool) {
    if pending {
        recheck();
    }
}

/// Makes the software interrupt pending, so that the handler checks the page again.
pub(crate) fn recheck() {
    // SAFETY: the runtime's trap handler knows what to do with it.
    unsafe { csr::set::<{ csr::SIP }>(csr::INTERRUPT_SOFTWARE) };
}

fn call(function: usize, argument: usize) -> Result<(), sbi::Error> {
    // SAFETY: the page is a static of this module, all of atomics; the other call touches no memory.
    unsafe { sbi::call_raw(EXTENSION, function, [argument, 0, 0, 0, 0, 0]) }
        .result()
        .map(drop)
}
