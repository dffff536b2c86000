//! A physical core, as all harts see it.

pub mod context;
pub mod timer;

use crate::arch::{self, firmware};
use crate::plic::priority;
use crate::sync::Apart;
use crate::vm::vcpu::signal;
use crate::vm::{Doorbell, Vcpu, Vm};
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering, fence};
use tactus_abi::blob::{Class, limit};
use tactus_hypervisor::relocation::Departures;
use tactus_policy::ready::Handle;
use tactus_policy::schedule::{self, Runs};
use tactus_policy::table::{Array, take_turn};

/// Bytes of a hart's stack.
pub const STACK_SIZE: u64 = 16 << 10;

const INBOX_WORDS: usize = limit::VCPUS.div_ceil(64);

/// What interrupts a hart.
#[derive(Clone, Copy, Debug)]
pub struct Wires {
    /// Its PLIC context.
    pub plic_context: u32,
    /// The PLIC's threshold for it, if there is a PLIC and priorities are separated.
    pub threshold: Option<NonNull<u32>>,
    /// Where a store interrupts it, if that is possible without the firmware.
    pub sswi: Option<NonNull<u32>>,
}

/// Of which level best-effort vCPUs may be that run on a hart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HartRole {
    /// Any; the same holds of all harts.
    Any,
    /// Any; on other harts only user level.
    Kernel,
    /// User level only.
    User,
}

/// A hart of the system.
#[repr(C)]
pub struct Hart {
    /// Top of its stack. First: the entry code finds it there.
    pub stack_top: u64,
    /// Index in the configuration.
    pub index: usize,
    /// The firmware's number.
    pub id: u64,
    /// What interrupts it.
    pub wires: Wires,
    /// More than one vCPU may run here, or one for a part of the time only.
    pub shared: bool,
    /// Real-time vCPUs run here by deadline, not by priority.
    pub by_deadline: bool,
    /// What of best-effort vCPUs runs here.
    pub role: HartRole,
    /// A reservation has left this hart, and it has had real-time work ever since: what admission has put in its
    /// place is not released yet.
    pub awaiting_idle_instant: AtomicBool,
    /// Reservations that admission no longer counts here, but whose last job here has not ended.
    pub departing_reservations: Departures,
    /// Interrupts of a real-time vCPU that runs here that protocol I1 has granted to other harts, a running number.
    pub interrupts: AtomicU32,
    /// What runs here, as others see it: [`Runs`].
    pub running: AtomicU32,
    inbox: Apart<Inbox>,
    /// Time without a vCPU, in ticks.
    pub idle_ticks: AtomicU64,
}

/// What other harts have sent.
struct Inbox {
    /// A doorbell that is to sound, or null.
    doorbell: AtomicPtr<Doorbell>,
    /// A best-effort vCPU that is ready, perhaps, and that the hart may take.
    offered: AtomicBool,
    /// vCPUs at home here that have news, as bits by handle: best-effort ones, then real-time ones.
    posts: Array<Array<AtomicU64, INBOX_WORDS>, 2>,
}

// Safety: of `wires`, `threshold` is used by the hart itself only, and `sswi` takes stores from anyone.
unsafe impl Sync for Hart {}

impl Hart {
    /// A hart that runs nothing yet.
    pub const fn new(
        index: usize,
        id: u64,
        wires: Wires,
        stack_top: u64,
        shared: bool,
        by_deadline: bool,
        role: HartRole,
    ) -> Self {
        Self {
            stack_top,
            index,
            id,
            wires,
            shared,
            by_deadline,
            role,
            awaiting_idle_instant: AtomicBool::new(false),
            interrupts: AtomicU32::new(0),
            departing_reservations: Departures::new(),
            running: AtomicU32::new(Runs::IDLE.0),
            inbox: Apart(Inbox {
                doorbell: AtomicPtr::new(ptr::null_mut()),
                offered: AtomicBool::new(false),
                posts: Array([const { Array([const { AtomicU64::new(0) }; INBOX_WORDS]) }; 2]),
            }),
            idle_ticks: AtomicU64::new(0),
        }
    }

    /// Whether best-effort vCPUs run here at user level only.
    #[inline]
    pub fn is_user_only(&self) -> bool {
        cfg!(feature = "migration") && self.role == HartRole::User
    }

    /// Whether there are harts where best-effort vCPUs run at user level only.
    #[inline]
    pub fn has_role(&self) -> bool {
        cfg!(feature = "migration") && self.role != HartRole::Any
    }

    /// Tells the hart, from another one, that a vCPU at home there has news. While a real-time vCPU runs there, news of
    /// best-effort ones wait until it looks for them, and so do news of a real-time one that has just been the cause of
    /// an interrupt ([`Hart::accepts_ipi_for`]). `sender`: the VM whose vCPU sends them.
    #[inline(never)]
    pub fn post(&self, vcpu: &Vcpu, sender: Option<&Vm>) {
        let bit = 1 << (vcpu.handle % 64);
        let posts = &self.inbox.posts[vcpu.class as usize];
        let before = posts[usize::from(vcpu.handle / 64)].fetch_or(bit, Ordering::SeqCst);
        // With the bit still there, an interrupt is on its way already, or the hart looks before it runs a best-effort
        // vCPU.
        fence(Ordering::SeqCst);
        if before & bit == 0 && self.accepts_ipi_for(vcpu, sender, true) {
            self.interrupt();
        }
    }

    /// Whether news of a vCPU at home here, or a device of its VM, may interrupt the hart.
    ///
    /// **Protocol I1, interrupts between harts.** While a real-time vCPU runs on a shared hart, each real-time vCPU at
    /// home there is the cause of at most one interrupt in its interrupt distance, from any number of senders;
    /// admission counts these interrupts. Earlier signals stay posted: the hart handles them with its deferred work, or
    /// when it runs no real-time vCPU any more. Doorbells that are rung, and device interrupts that are completed, too
    /// early are kept with the VM, and [`signal::EARLY`] is posted. A signal that a VM sends to itself while one of its
    /// vCPUs has the hart costs the budget of that vCPU and no other VM's, and is not limited. `counts`: an interrupt
    /// follows at once, which the vCPU that runs is credited if it is not its own VM's.
    #[inline(always)]
    pub fn accepts_ipi_for(&self, vcpu: &Vcpu, sender: Option<&Vm>, counts: bool) -> bool {
        let runs = self.runs();
        let granted = || !self.shared || self.grants(vcpu, sender, runs, counts);
        schedule::accepts_ipi(vcpu.class, runs.precedence(), granted)
    }

    /// Whether protocol I1 grants an interrupt, while the hart is shared and runs a real-time vCPU.
    #[cold]
    #[inline(never)]
    fn grants(&self, vcpu: &Vcpu, sender: Option<&Vm>, runs: Runs, counts: bool) -> bool {
        let sent_by_itself = sender.is_some_and(|sender| ptr::eq(sender, vcpu.vm));
        let own = sent_by_itself && runs.vm() == vcpu.vm.index;
        if own {
            return true;
        }
        let granted = vcpu.may_interrupt(arch::now());
        // Before the interrupt: the hart finds it counted.
        self.interrupts
            .fetch_add(u32::from(granted & counts), Ordering::Relaxed);
        granted
    }

    /// What runs here, as other harts see it.
    #[inline(always)]
    pub fn runs(&self) -> Runs {
        Runs(self.running.load(Ordering::Relaxed))
    }

    /// Makes the hart, from another one, deliver a doorbell that a vCPU at home there listens for. A doorbell that is
    /// rung too early for a real-time vCPU (protocol I1) is kept, and delivered when the hart handles the vCPU's
    /// signals: neither the hart nor the guest is interrupted sooner. Returns a doorbell that the caller has to deliver
    /// itself: this one, when signals for a best-effort vCPU have to wait there, or one that was passed before and not
    /// taken yet.
    pub fn pass(&self, vcpu: &Vcpu, doorbell: &'static Doorbell) -> Option<&'static Doorbell> {
        if !self.accepts_ipi_for(vcpu, None, true) {
            return self.keep_early(vcpu, doorbell);
        }
        let doorbell = ptr::from_ref(doorbell).cast_mut();
        let before = self.inbox.doorbell.swap(doorbell, Ordering::SeqCst);
        // Otherwise an interrupt is on its way.
        if before.is_null() {
            self.interrupt();
        }
        // Safety: null, or taken from such a reference.
        let before = unsafe { before.as_ref() };
        if let Some(before) = before {
            before.regrant();
        }
        before
    }

    /// The rest of [`Hart::pass`], for a doorbell that may not interrupt the hart now.
    #[cold]
    #[inline(never)]
    fn keep_early(&self, vcpu: &Vcpu, doorbell: &'static Doorbell) -> Option<&'static Doorbell> {
        if vcpu.class == Class::BestEffort {
            return Some(doorbell);
        }
        if doorbell.keep_early_ring() {
            vcpu.signal(signal::EARLY);
            self.post(vcpu, None);
        }
        None
    }

    /// Takes the doorbell that is to sound now.
    pub fn take_doorbell(&self) -> Option<&'static Doorbell> {
        let doorbell = self.inbox.doorbell.swap(ptr::null_mut(), Ordering::SeqCst);
        // Safety: null, or taken from such a reference.
        unsafe { doorbell.as_ref() }
    }

    /// Whether nothing is left here of reservations that admission no longer counts: what it has put in their place may
    /// begin.
    pub fn is_settled(&self) -> bool {
        // In this order: what leaves makes it stale first.
        self.departing_reservations.are_over()
            && !self.awaiting_idle_instant.load(Ordering::Relaxed)
    }

    /// Whether vCPUs at home here have news; after a full fence.
    pub fn has_posts(&self) -> bool {
        let [best_effort, real_time] = &self.inbox.posts.0;
        any(best_effort) | any(real_time) != 0
    }

    /// Whether anything but a doorbell has been sent here; after a full fence.
    #[inline]
    pub fn has_posts_or_offers(&self) -> bool {
        self.has_posts() | self.inbox.offered.load(Ordering::Relaxed)
    }

    /// Whether anything has been sent here; after a full fence.
    pub fn has_news(&self) -> bool {
        self.has_posts_or_offers() || !self.inbox.doorbell.load(Ordering::Relaxed).is_null()
    }

    /// Whether anything has been sent here that is not for a best-effort vCPU for certain; after a full fence.
    #[cold]
    #[inline(never)]
    pub fn has_urgent_news(&self) -> bool {
        !self.inbox.doorbell.load(Ordering::Relaxed).is_null()
            || any(&self.inbox.posts[Class::RealTime as usize]) != 0
    }

    /// Lets through what may interrupt a vCPU of the given class.
    pub fn admit(&self, class: Class) {
        let threshold = match class {
            Class::RealTime => priority::THRESHOLD_REAL_TIME,
            Class::BestEffort => 0,
        };
        if let Some(register) = self.wires.threshold {
            // Safety: a register of the controller, which no guest can reach.
            unsafe { register.as_ptr().write_volatile(threshold) };
        }
    }

    /// As [`Hart::post`], before the hart runs.
    pub fn post_at_boot(&self, class: Class, handle: Handle) {
        let posts = &self.inbox.posts[class as usize];
        posts[usize::from(handle / 64)].fetch_or(1 << (handle % 64), Ordering::SeqCst);
    }

    /// Makes the hart look at the best-effort queue.
    #[inline(never)]
    pub fn offer(&self) {
        self.inbox.offered.store(true, Ordering::Release);
        self.interrupt();
    }

    /// Whether it has been made to look at the best-effort queue, which it does now.
    pub fn take_offer(&self) -> bool {
        self.inbox.offered.load(Ordering::Relaxed)
            && self.inbox.offered.swap(false, Ordering::SeqCst)
    }

    /// Makes the hart look at what has been sent to it.
    fn interrupt(&self) {
        match self.wires.sswi {
            Some(register) => {
                arch::fence_device();
                // Safety: a register that interrupts a hart; the firmware's devicetree says where it is.
                unsafe { register.as_ptr().write_volatile(1) };
            }
            None => firmware::send_ipi(self.id),
        }
    }

    /// Takes, of 64 vCPUs, the real-time ones that have news, and one best-effort vCPU that has some, as bits. `up_to`:
    /// the best-effort ones up to the one whose turn was last.
    pub fn receive(&self, word: usize, up_to: &mut u64) -> u64 {
        let [best_effort, real_time] = self.inbox.posts.each_ref().map(|posts| &posts[word]);
        let first = take_turn(best_effort.load(Ordering::Relaxed), up_to);
        best_effort.fetch_and(!first, Ordering::SeqCst);
        first | real_time.swap(0, Ordering::SeqCst)
    }
}

/// Words with posts in common.
fn any(posts: &Array<AtomicU64, INBOX_WORDS>) -> u64 {
    let words = posts.iter();
    words.fold(0, |all, word| all | word.load(Ordering::Relaxed))
}
