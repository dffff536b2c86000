//! Devices' and doorbells' interrupts, by whichever way the running hart takes them: by the controller ([`Plic`]), or, in a
//! Tactus VM and when it has asked for it ([`use_page`]), by a page in its own memory, which takes no trap to acknowledge, mask or end
//! one ([`tactus_abi::interrupts`]).
//!
//! Handlers ([`crate::trap::on_external`]) are the same, and so are [`enable`] and [`disable`].

use core::sync::atomic::{AtomicBool, Ordering};

use tactus_abi::hypercall::{EXTENSION, INTERRUPT_END, INTERRUPT_PAGE};
use tactus_abi::interrupts::{IPI, InterruptPage};
use tactus_abi::map;

use crate::{csr, plic::Plic, sbi, start, trap};

static PAGES: [InterruptPage; start::HARTS_MAX] = [const { InterruptPage::new() }; _];
static IN_USE: [AtomicBool; start::HARTS_MAX] = [const { AtomicBool::new(false) }; _];

/// The running hart takes its interrupts by a page from now on. Sources are to be enabled anew. What has come before and not been
/// claimed comes by the page, also what does not interest.
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
        see_to(page.enable(IPI));
        // SAFETY: the runtime's trap handler knows what to do with it.
        unsafe { csr::set::<{ csr::SIE }>(csr::INTERRUPT_SOFTWARE) };
        Ok(())
    })
}

/// The running hart takes its interrupts by the controller again. What is pending in the page is forgotten.
///
/// # Errors
///
/// As [`use_page`].
pub fn leave_page() -> Result<(), sbi::Error> {
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

/// Lets a source interrupt the running hart. The controller has priorities, 1 to 7, the page has not: of several sources there the one of the lowest number
/// comes first.
///
/// # Panics
///
/// When the source is 0 or beyond the virtual controller's.
pub fn enable(source: u32, priority: u32) {
    match page() {
        None => Plic::of_hart(start::hart()).enable(source, priority),
        Some(page) => {
            check(source);
            see_to(page.enable(source));
        }
    }
}

/// Keeps a source from interrupting the running hart.
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

/// Ends the service of a source that was taken from a page: a call for devices, nothing for doorbells and faults.
pub fn end(source: u32) {
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

/// A source that was pending when it was enabled: the hypervisor says so no more.
fn see_to(pending: bool) {
    if pending {
        ask_again();
    }
}

/// The software interrupt is pending, for what is left in the page.
pub(crate) fn ask_again() {
    // SAFETY: the runtime's trap handler knows what to do with it.
    unsafe { csr::set::<{ csr::SIP }>(csr::INTERRUPT_SOFTWARE) };
}

fn call(function: usize, argument: usize) -> Result<(), sbi::Error> {
    // SAFETY: the page is a static of this module, all of atomics; the other call touches no memory.
    unsafe { sbi::call_raw(EXTENSION, function, [argument, 0, 0, 0, 0, 0]) }
        .result()
        .map(drop)
}
