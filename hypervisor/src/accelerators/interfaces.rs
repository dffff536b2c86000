//! The virtual devices of accelerators, and what the device manager is to be told of them.

use super::allocation::{self, Answer};
use crate::arena::{Arena, Exhausted};
use crate::vm::Vm;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use tactus_abi::blob::{Region, limit, region};
use tactus_abi::hypercall::interface_event;
use tactus_abi::map::{ACCELERATOR_BASE, ACCELERATOR_END, PAGE_SIZE};
use tactus_hypervisor::lock::Lock;

/// A virtual device. In a line of the caches, as all of it is used when a store traps.
#[repr(C, align(64))]
pub struct Interface {
    /// Where the page is mapped; only `WRITE` changes there.
    pub leaf: &'static AtomicU64,
    /// Physical address of its page.
    pub host: u64,
    /// Index of its VM.
    pub vm: usize,
    /// Its number.
    pub number: u32,
    /// A request of the region allocator for it, but for the tag.
    pub request: u32,
    /// The allocator's answer to the last one.
    pub answer: Lock<Answer>,
    key: u32,
    /// Another one, at boot.
    next: Option<&'static Self>,
}

impl Interface {
    /// That of a region of a VM, of which there is an index, mapped at `leaf`, and `next` behind it; `next` alone for a
    /// region that is none.
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
            leaf,
            host: region.host,
            vm,
            number: region.interface.into(),
            request: request(region),
            answer: Lock::new(Answer::default()),
            key: key(vm, region.guest),
            next,
        })?;
        Ok(Some(interface))
    }
}

/// The request of the region allocator for an interface: `REQUEST` of `fabric/regs/region_allocator.rdl`.
const fn request(region: &Region) -> u32 {
    const GO: u32 = 1 << 7;
    let task = (region.guest - ACCELERATOR_BASE) / PAGE_SIZE;
    (region.priority as u32) << 24 | (task as u32) << 8 | GO | region.interface as u32
}

/// What a VM and the page of a virtual device are found by.
const fn key(vm: usize, address: u64) -> u32 {
    (vm as u32) << 8 | (address.wrapping_sub(ACCELERATOR_BASE) / PAGE_SIZE) as u32
}

/// A key that no VM has.
const NO_KEY: u32 = u32::MAX;

/// All of them. What a store that traps needs first is in a line of the caches.
#[repr(C, align(64))]
pub struct Accelerators {
    keys: [u32; limit::INTERFACES],
    /// Physical address of the region allocator's page; 0: there is none.
    pub allocator: u64,
    /// What the manager has not been told of: [`news`].
    pub news: AtomicU32,
    /// Those, a bit each, of which the manager is to be told when they are written.
    pub listened: AtomicU32,
    /// By number.
    interfaces: [Option<&'static Interface>; limit::INTERFACES],
    /// A bit for each.
    pub present: u64,
    /// Handle of the manager's vCPU that waits for news, plus one; 0: none does.
    pub waiter: AtomicU32,
    /// The allocator's first answers are not to be waited for.
    pub is_late: AtomicBool,
}

impl Accelerators {
    /// The virtual devices from this one on, and the page where the region allocator is, if it is there; 0: there is
    /// none.
    pub fn new(first: Option<&'static Interface>, allocator: u64) -> Self {
        let mut own = Self {
            keys: [NO_KEY; _],
            allocator: allocation::begin(allocator),
            news: AtomicU32::new(0),
            listened: AtomicU32::new(0),
            interfaces: [None; _],
            present: 0,
            waiter: AtomicU32::new(0),
            is_late: AtomicBool::new(false),
        };
        for interface in core::iter::successors(first, |interface| interface.next) {
            let number = interface.number as usize;
            if let (Some(key), Some(place)) =
                (own.keys.get_mut(number), own.interfaces.get_mut(number))
            {
                *key = interface.key;
                *place = Some(interface);
                own.present |= 1 << number;
            }
        }
        own
    }

    /// A VM's virtual device at a guest-physical address.
    pub fn at(&self, vm: &Vm, address: u64) -> Option<&'static Interface> {
        if !(ACCELERATOR_BASE..ACCELERATOR_END).contains(&address) {
            return None;
        }
        let wanted = key(vm.index, address);
        let number = self.keys.iter().position(|key| *key == wanted)?;
        self.get(number as u32)
    }

    /// The one of a number.
    pub fn get(&self, number: u32) -> Option<&'static Interface> {
        self.interfaces.get(number as usize).copied().flatten()
    }

    /// All of them, at most [`tactus_abi::blob::limit::INTERFACES`].
    pub fn all(&self) -> impl Iterator<Item = &'static Interface> {
        self.interfaces.into_iter().flatten()
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
