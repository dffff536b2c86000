//! Regions by one write: requests of the region allocator (`docs/src/reference/regions.md`), and its answers in memory.
//!
//! A best-effort VM whose device loses its region by an answer may write the page until the allocator's interrupt has
//! come: so that the VM that has got the region need not wait until the page is closed.
//!
//! An interface has one request at a time whose last answer has not been seen, so that no answer that names an
//! interface which loses its region is replaced by a newer one. The lock of the interface's [`Answer`] is held from the
//! request to its first answer, and while an answer is acted upon.

use super::interfaces::{Accelerators, Interface};
use crate::arch::{self, entry, stage2::WRITE};
use crate::dispatch::aftermath;
use crate::hart::context::HartCtx;
use crate::system::system;
use core::hint::{cold_path, spin_loop};
use core::sync::atomic::{AtomicU64, Ordering};
use tactus_abi::blob::limit;
use tactus_abi::hypercall::interface_event;

/// Registers of the allocator's page, and the content of `ID`: `fabric/regs/region_allocator.rdl`.
const ID: u64 = 0x00;
const KIND: u32 = 0x5241_0001;
const REQUEST: u64 = 0x04;
const ANSWERS: u64 = 0x08;
const ANSWERS_ON: u32 = 1;
const IRQ_ENABLE: u64 = 0x14;
const IRQ_PENDING: u64 = 0x18;
const IRQ_CLEAR: u64 = 0x1c;

/// Events: the first answer to a request, a later one, a lost one.
const FIRST: u32 = 1 << 0;
const LATER: u32 = 1 << 1;
const LOST: u32 = 1 << 2;

/// Bits of an answer: it displaces the client of a region, it is the last one; and the outcome that asks for the
/// manager.
const DISPLACES: u64 = 1 << 28;
const LAST: u64 = 1 << 29;
const ASK_MANAGER: u64 = 3;

/// Loads of an answer before it counts as late: several times the time that memory takes for one write at its worst.
const LOOKS: u32 = 1000;

/// A doubleword for each interface, which the allocator writes. In a line of the caches.
#[repr(C, align(64))]
struct Line([AtomicU64; limit::INTERFACES]);

static LINE: Line = Line([const { AtomicU64::new(0) }; _]);

/// What is known of the answer to an interface's last request.
#[derive(Default)]
pub struct Answer {
    /// The request's tag.
    tag: u8,
    /// Its last answer has not been seen.
    pub is_due: bool,
    /// The number of an interface that has lost its region by it, plus one, whose page is still to be closed; 0: none.
    displaced: u8,
}

/// Writes a register of the allocator, which is there.
fn write(page: u64, register: u64, value: u32) {
    // Safety: `begin` has found the allocator in this page, which the tool gives to no guest.
    unsafe { ((page + register) as *mut u32).write_volatile(value) };
}

/// Reads a register; 0 where there is none.
fn read(page: u64, register: u64) -> u32 {
    // Safety: a register of the allocator, or of what is not there.
    unsafe { entry::probe_register(page + register) }.unwrap_or(0)
}

impl Interface {
    /// Whether its VM is best effort.
    const fn is_best_effort(&self) -> bool {
        self.request >> 24 == 0
    }
}

/// Makes an allocator that is in a page answer here. Returns the page; 0: it is not there.
pub fn begin(page: u64) -> u64 {
    if page == 0 || read(page, ID) != KIND {
        return 0;
    }
    let line = (&raw const LINE) as u64;
    write(page, ANSWERS, line as u32 | ANSWERS_ON);
    write(page, ANSWERS + 4, (line >> 32) as u32);
    // First answers are waited for.
    write(page, IRQ_ENABLE, LATER | LOST);
    page
}

impl Accelerators {
    /// Requests regions for interfaces, a bit each, and for those that lose theirs by that.
    #[inline(never)]
    pub(super) fn request(&self, cx: &mut HartCtx, mut wanted: u32) {
        // A VM whose device loses its region has mostly asked for nothing.
        for _ in 0..limit::INTERFACES {
            let Some(interface) = self.get(wanted.trailing_zeros()) else {
                return;
            };
            wanted &= wanted - 1;
            wanted |= self.request_one(cx, interface);
        }
        cold_path();
        for interface in self.all().filter(|one| wanted >> one.number & 1 != 0) {
            self.written(cx, interface.number);
        }
    }

    /// As [`Accelerators::request`], by an interrupt. The vCPU that runs here may have lost a region, and asked for a
    /// computation until its page was closed: that is looked for now, as the vCPU need not trap again.
    #[cold]
    #[inline(never)]
    #[unsafe(link_section = ".text_last")]
    fn request_and_conclude(&self, cx: &mut HartCtx, wanted: u32) {
        self.request(cx, wanted);
        aftermath::conclude(cx);
    }

    /// As [`Accelerators::request`]. Returns the interfaces, a bit each, for which that is to be done next.
    fn request_one(&self, cx: &mut HartCtx, interface: &Interface) -> u32 {
        let bit = interface_event::WRITTEN << interface.number;
        let mut answer = interface.answer.lock();
        let wanted = self.close_displaced(cx, &mut answer);
        if answer.is_due {
            return wanted | self.take_answer(cx, interface, &mut answer, Take::IfThere);
        }
        // While the manager is at work for it, or about to be, it does all of it. Before it has begun it listens to
        // none.
        let is_listened = self.listened.load(Ordering::SeqCst) & bit != 0;
        let is_new = self.news.load(Ordering::SeqCst) & bit == 0;
        if self.allocator == 0 || !is_listened || !is_new {
            self.written(cx, interface.number);
            return wanted;
        }
        answer.tag = answer.tag.wrapping_add(1);
        answer.is_due = true;
        let request = interface.request | u32::from(answer.tag) << 16;
        write(self.allocator, REQUEST, request);
        wanted | self.take_answer(cx, interface, &mut answer, Take::Awaited)
    }

    /// Closes the page of an interface that has lost its region by an answer. As [`Accelerators::request_one`].
    fn close_displaced(&self, cx: &mut HartCtx, answer: &mut Answer) -> u32 {
        match core::mem::take(&mut answer.displaced) {
            0 => 0,
            displaced => {
                let other = self.get(u32::from(displaced) - 1);
                other.map_or(0, |other| self.close(cx, other))
            }
        }
    }

    /// Acts upon an answer that is due, if it is there. As [`Accelerators::request_one`].
    fn take_answer(
        &self,
        cx: &mut HartCtx,
        interface: &Interface,
        answer: &mut Answer,
        take: Take,
    ) -> u32 {
        let Some(place) = LINE.0.get(interface.number as usize) else {
            return 0;
        };
        let is_awaited = matches!(take, Take::Awaited);
        let mut looks = if is_awaited { LOOKS } else { 1 };
        let word = loop {
            let word = place.load(Ordering::Acquire);
            if (word >> 8) as u8 == answer.tag {
                break word;
            }
            looks -= 1;
            if looks == 0 {
                if is_awaited {
                    // Memory is far too slow: the answer interrupts, whenever it comes.
                    cold_path();
                    self.is_late.store(true, Ordering::SeqCst);
                    write(self.allocator, IRQ_ENABLE, FIRST | LATER | LOST);
                    self.written(cx, interface.number);
                }
                return 0;
            }
            spin_loop();
        };
        answer.is_due = word & LAST == 0;
        let mut wanted = 0;
        if word >> 16 & 3 != ASK_MANAGER {
            wanted |= self.open(cx, interface, answer.is_due);
        } else {
            if interface.leaf.load(Ordering::Relaxed) & WRITE != 0 {
                let _ = self.close(cx, interface);
            }
            self.written(cx, interface.number);
        }
        let displaced = self.get((word >> 24 & 0xf) as u32);
        if word & DISPLACES != 0
            && let Some(other) = displaced
        {
            answer.displaced = other.number as u8 + 1;
            let waits = matches!(take, Take::ByInterrupt) || !other.is_best_effort();
            if waits || self.is_late.load(Ordering::Relaxed) {
                wanted |= self.close_displaced(cx, answer);
            } else {
                // There was a first answer, so that this interrupts at once.
                arch::fence_device();
                write(self.allocator, IRQ_ENABLE, FIRST | LATER | LOST);
            }
        }
        wanted
    }
}

/// How an answer is taken.
enum Take {
    /// It is waited for, if it does not come late.
    Awaited,
    /// If it is there by now.
    IfThere,
    /// Likewise, by the interrupt's handler.
    ByInterrupt,
}

/// Answers have come to requests that had an answer before, an answer is lost, or the page of an interface is to be
/// closed.
#[cold]
pub fn interrupt(cx: &mut HartCtx) {
    let own = &system().accelerators;
    let is_late = own.is_late.load(Ordering::SeqCst);
    let events = read(own.allocator, IRQ_PENDING);
    if is_late {
        write(own.allocator, IRQ_CLEAR, events);
    } else {
        // The event of first answers stays, so that to enable it interrupts.
        write(own.allocator, IRQ_ENABLE, LATER | LOST);
        write(own.allocator, IRQ_CLEAR, events & (LATER | LOST));
    }
    // The line is low before the interrupt is completed, and what is there by now is seen below.
    let _ = read(own.allocator, IRQ_PENDING);
    arch::fence_from_device();
    let mut wanted = 0;
    for interface in own.all() {
        let mut answer = interface.answer.lock();
        wanted |= own.close_displaced(cx, &mut answer);
        if answer.is_due {
            wanted |= own.take_answer(cx, interface, &mut answer, Take::ByInterrupt);
        }
        if events & LOST != 0 {
            cold_path();
            // Whichever it was: requests are made again, and pages without a region are closed.
            wanted |= u32::from(answer.is_due) << interface.number;
            answer.is_due = false;
            if interface.leaf.load(Ordering::Relaxed) & WRITE != 0 {
                wanted |= own.open(cx, interface, false);
            }
        }
    }
    own.request_and_conclude(cx, wanted);
}
