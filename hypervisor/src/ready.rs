//! The ready queue in the fabric, as the hypervisor reaches it. How it is used is `policy`'s.

use crate::arch::{self, entry};
use crate::log::Line;
use core::cell::UnsafeCell;
use core::ptr::{read_volatile, write_volatile};
use tactus_abi::blob::{Header, ReadyQueue, limit};
use tactus_hypervisor::lock::Lock;
use tactus_policy::hardware::{self, Failure, Scheme};
use tactus_policy::ready::ListQueue;

/// The best-effort vCPUs of the whole system that are ready.
pub type SystemQueue = hardware::SystemQueue<Ports, { limit::VCPUS }>;

/// The doubleword that is shared with the fabric, in a cache line of its own.
#[repr(align(64))]
struct Doubleword(UnsafeCell<u64>);

// Safety: only the hart that has locked the system's queue uses it.
unsafe impl Sync for Doubleword {}

static DOUBLEWORD: Doubleword = Doubleword(UnsafeCell::new(0));

/// The way to the fabric's queue: with the system's queue locked.
pub struct Ports {
    /// Physical address of its page.
    page: u64,
    /// Physical address of the register that raises the event.
    event: u64,
    /// Whether other harts use it as well.
    shared: bool,
}

impl hardware::Ports for Ports {
    fn read(&mut self, offset: u32) -> Option<u32> {
        // Safety: in the page, or in what is not there.
        unsafe { entry::probe_register(self.page + u64::from(offset)) }
    }

    #[inline]
    fn write(&mut self, offset: u32, value: u32) {
        // Safety: a register of the queue's page, which no guest can reach.
        unsafe { write_volatile((self.page + u64::from(offset)) as *mut u32, value) }
    }

    #[inline]
    fn settle(&mut self) {
        if self.shared {
            arch::fence_after_device();
        }
    }

    #[inline]
    fn load(&mut self) -> u64 {
        // Safety: the fabric may write it at any time; it is read as one.
        unsafe { read_volatile(DOUBLEWORD.0.get()) }
    }

    #[inline]
    fn store(&mut self, word: usize, value: u32) {
        // Safety: a word of the doubleword; the fabric may read it at any time.
        unsafe { write_volatile(DOUBLEWORD.0.get().cast::<u32>().add(word), value) }
    }

    #[inline]
    fn publish(&mut self) {
        arch::fence_device();
    }

    #[inline]
    fn event(&mut self) {
        // Safety: a register of the fabric's port, which no guest can reach.
        unsafe { write_volatile(self.event as *mut u32, 0) }
    }

    fn doubleword(&self) -> u32 {
        DOUBLEWORD.0.get() as u32
    }

    fn failed(&mut self, why: Failure) {
        Line::new()
            .begin("warning")
            .text("reason", "the ready queue in hardware is not used, as ")
            .words(why.message())
            .time()
            .send();
    }
}

/// An empty queue in software.
pub const fn software(lists: ListQueue<{ limit::VCPUS }>) -> SystemQueue {
    SystemQueue::software(lists)
}

/// Begins to use the system's queue, where the configuration has it in hardware; called once, at boot. `harts`: how
/// many use it.
pub fn begin(header: &Header, harts: usize, queue: &Lock<SystemQueue>) {
    let configured = ReadyQueue::from_raw(header.ready_queue);
    if let Some(scheme) = configured.and_then(Scheme::of) {
        let ports = Ports {
            page: header.ready_queue_page,
            event: header.ready_queue_event,
            shared: harts > 1,
        };
        queue.lock().try_hardware(ports, scheme);
    }
}
