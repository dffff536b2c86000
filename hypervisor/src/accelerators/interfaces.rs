//! The virtual devices of accelerators, and what the device manager is to be told of them.

use crate::arena::{Arena, Exhausted};
use crate::vm::Vm;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use tactus_abi::blob::{Region, region};
use tactus_abi::hypercall::interface_event;
use tactus_abi::map::PAGE_SIZE;

/// A virtual device.
pub struct Interface {
    /// Its number.
    pub number: u32,
    /// Index of its VM.
    pub vm: usize,
    /// Guest-physical address of its page.
    pub guest: u64,
    /// Physical address of its page.
    pub host: u64,
    /// Where the page is mapped; only `WRITE` changes there.
    pub leaf: &'static AtomicU64,
    /// Another one.
    pub next: Option<&'static Self>,
}

impl Interface {
    /// That of a region of a VM, of which there is an index, mapped at `leaf`, and `next` behind it; `next` alone for a region that is none.
    pub fn of(
        arena: &Arena,
        region: &Region,
        vm: usize,
        leaf: &'static AtomicU64,
        next: Option<&'static Self>,
    ) -> Result<Option<&'static Self>, Exhausted> {
        if region.flags != region::ACCELERATOR {
            return Ok(next);
        }
        let interface = arena.object(Self {
            number: region.interface.into(),
            vm,
            guest: region.guest,
            host: region.host,
            leaf,
            next,
        })?;
        Ok(Some(interface))
    }
}

/// All of them.
pub struct Accelerators {
    first: Option<&'static Interface>,
    /// A bit for each.
    pub present: u64,
    /// What the manager has not been told of: [`news`].
    pub news: AtomicU32,
    /// Those, a bit each, of which the manager is to be told when they are written.
    pub listened: AtomicU32,
    /// Handle of the manager's vCPU that waits for news, plus one; 0: none does.
    pub waiter: AtomicU32,
}

impl Accelerators {
    /// The virtual devices from this one on.
    pub fn new(first: Option<&'static Interface>) -> Self {
        let mut own = Self {
            first,
            present: 0,
            news: AtomicU32::new(0),
            listened: AtomicU32::new(0),
            waiter: AtomicU32::new(0),
        };
        own.present = own.all().fold(0, |all, one| all | 1 << one.number);
        own
    }

    /// A VM's virtual device at a guest-physical address.
    pub fn at(&self, vm: &Vm, address: u64) -> Option<&'static Interface> {
        let page = address & !(PAGE_SIZE - 1);
        self.of(vm).find(|interface| interface.guest == page)
    }

    /// All of them, at most [`tactus_abi::blob::limit::INTERFACES`].
    pub fn all(&self) -> impl Iterator<Item = &'static Interface> {
        core::iter::successors(self.first, |interface| interface.next)
    }

    /// A VM's virtual devices.
    pub fn of(&self, vm: &Vm) -> impl Iterator<Item = &'static Interface> {
        let vm = vm.index;
        self.all().filter(move |interface| interface.vm == vm)
    }

    /// What the manager is to be told now.
    fn told(&self) -> u32 {
        self.listened.load(Ordering::SeqCst) | (interface_event::ALL * interface_event::ENDED)
    }

    /// Whether there is news for whom waits for it.
    pub fn has_news(&self) -> bool {
        self.news.load(Ordering::SeqCst) & self.told() != 0
    }

    /// Whom waits for news gets it, and waits no more.
    pub fn take_news(&self) -> u64 {
        // Who comes later than that raises an interrupt; who has come before has left its news.
        self.waiter.store(0, Ordering::SeqCst);
        let told = self.told();
        let taken = self.news.fetch_and(!told, Ordering::SeqCst) & told;
        // Until the manager asks again.
        self.listened.fetch_and(!taken, Ordering::SeqCst);
        taken.into()
    }
}
