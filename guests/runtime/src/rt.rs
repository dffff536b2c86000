//! Real-time vCPUs, created and deleted at run time (`abi/src/hypercall.rs`, from `RT_CREATE` on).
//!
//! A real-time vCPU runs one function on a stack of its own, in the memory that it shares with the rest of the VM, with
//! a budget in every period: its [`Reservation`]. The hypervisor creates it only if it can guarantee that budget beside
//! all reservations admitted before; otherwise it returns the reason ([`Refusal`]), and nothing has changed.
//! [`yield_now`] (or `wfi`) ends a *job*, and returns at the release of the next, a period after the last. A job that
//! exceeds the budget is throttled, and continues in the next period.
//!
//! ```ignore
//! static CONTROL: Control = Control::new();
//! static STACK: RtStack<4096> = RtStack::new();
//!
//! fn control_loop(control: &'static Control) {
//!     while control.enabled() {
//!         control.step();
//!         rt::yield_now();
//!     }
//! }
//!
//! let reservation = Reservation::of(Duration::from_millis(1), Duration::from_micros(100));
//! let vcpu = rt::create(control_loop, &CONTROL, &STACK, reservation)?;
//! ```
//!
//! Such a vCPU can use the console, the clock, atomics and floating point. It has no interrupts: none is enabled, and
//! it has no context of the PLIC. [`crate::start::hart`] is [`HARTS_MAX`] plus its number there. Its exceptions and
//! panics are those of the whole guest: the VM goes off as failed. Waiting for a lock that another vCPU of the VM
//! holds, such as the console's, consumes its budget. A vCPU of the same hart cannot block it for good, since a job
//! that waits is throttled.

use core::arch::{asm, global_asm};
use core::cell::UnsafeCell;
use core::fmt;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use core::time::Duration;

use tactus_abi::hypercall::{
    EXTENSION, RT_CHANGE, RT_CREATE, RT_DELETE, RT_QUERY, RT_SELF, RT_YIELD,
};
pub use tactus_abi::hypercall::{Refusal, RtStatus};

use crate::sbi::{Answer, Error, call_raw};
use crate::start::HARTS_MAX;
use crate::{csr, time, trap};

/// A budget in every period, before a deadline. In ticks of the `time` CSR.
///
/// What the hypervisor accepts: `1 <= budget <= deadline <= period <= limit::PERIOD_TICKS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// Time between two releases.
    pub period: u64,
    /// Execution time of each job.
    pub budget: u64,
    /// Time from a job's release to its deadline.
    pub deadline: u64,
}

impl Reservation {
    /// A reservation of `budget` ticks in each `period`, with the end of the period as deadline.
    pub const fn new(period: u64, budget: u64) -> Self {
        Self {
            period,
            budget,
            deadline: period,
        }
    }

    /// [`Self::new`], with durations, which are rounded up to ticks.
    pub fn of(period: Duration, budget: Duration) -> Self {
        Self::new(time::ticks(period), time::ticks(budget))
    }

    /// The same with another deadline, in ticks from the release.
    pub const fn by(self, deadline: u64) -> Self {
        Self { deadline, ..self }
    }
}

/// Why a call for a real-time vCPU failed. Nothing has changed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtError {
    /// Admission refused it, for this reason.
    Refused(Refusal),
    /// The hypervisor refused it, for a reason unknown to this library.
    Denied(usize),
    /// The call's own error: [`Error::InvalidParam`]: times are out of order; [`Error::InvalidAddress`]: an address is
    /// not in the VM's memory; [`Error::NotSupported`]: there is no Tactus.
    Call(Error),
    /// Another real-time vCPU uses the stack.
    StackInUse,
    /// The vCPU has ended.
    Ended,
}

impl fmt::Display for RtError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => f.write_str(match refusal {
                Refusal::Count => "the VM has as many real-time vCPUs as it may (rt_vcpus)",
                Refusal::Share => "it would exceed the VM's share of real time (rt_share)",
                Refusal::Utilisation => "no hart has so much of its time left",
                Refusal::Demand => "no hart has that time left before every deadline",
                Refusal::Undecided => "the proof takes too many steps; use rounder periods",
            }),
            Self::Denied(reason) => write!(f, "denied for the unknown reason {reason}"),
            Self::Call(error) => write!(f, "the call failed: {error:?}"),
            Self::StackInUse => f.write_str("the stack is another real-time vCPU's"),
            Self::Ended => f.write_str("the real-time vCPU has ended"),
        }
    }
}

/// The call's value, or its error with the reason.
fn result(answer: Answer) -> Result<usize, RtError> {
    answer.result().map_err(|error| match error {
        Error::Denied => {
            let refusal = Refusal::from_raw(answer.value as u64);
            refusal.map_or(RtError::Denied(answer.value), RtError::Refused)
        }
        error => RtError::Call(error),
    })
}

/// The stack is free.
const FREE: u64 = 0;
/// A vCPU is being created or deleted on the stack.
const HELD: u64 = u64::MAX;

/// Data for the start code, at the top of a stack.
#[repr(C, align(16))]
struct Start {
    /// A [`run`], for the argument's type.
    run: *const (),
    /// The function to run, as `run` knows it.
    entry: *const (),
    /// The stack's owner.
    owner: *const AtomicU64,
    /// The owner's value while the vCPU lives.
    ticket: u64,
}

/// Memory for a real-time vCPU's stack: a `static`.
#[derive(Debug)]
#[repr(C, align(16))]
pub struct RtStack<const SIZE: usize> {
    bytes: UnsafeCell<[u8; SIZE]>,
    /// [`FREE`], [`HELD`], or the ticket of the vCPU that has it.
    owner: AtomicU64,
}

// SAFETY: only the owner uses the bytes, and an atomic holds the owner.
unsafe impl<const SIZE: usize> Sync for RtStack<SIZE> {}

impl<const SIZE: usize> RtStack<SIZE> {
    /// An unused stack of `SIZE` bytes, a multiple of 16 and at least 1,024.
    pub const fn new() -> Self {
        const {
            assert!(
                SIZE.is_multiple_of(16),
                "a stack's size is a multiple of 16"
            );
            assert!(SIZE >= 1024, "a stack is at least 1,024 bytes");
        }
        Self {
            bytes: UnsafeCell::new([0; SIZE]),
            owner: AtomicU64::new(FREE),
        }
    }
}

impl<const SIZE: usize> Default for RtStack<SIZE> {
    fn default() -> Self {
        Self::new()
    }
}

/// A real-time vCPU created by this guest. Dropping it leaves the vCPU running; [`Self::delete`] ends it.
#[derive(Debug)]
pub struct RtVcpu {
    number: u64,
    owner: &'static AtomicU64,
    ticket: u64,
}

global_asm!(
    r#"
    .section .text.rt_start, "ax"
    # Link-time optimization assembles this without the target's extensions.
    .option push
    .option arch, +a
    # a0: its number, a1: the argument, sp: at a `Start`, on top of its stack.
__tactus_guest_rt_start:
    csrw    sie, zero
    csrci   sstatus, 2
    addi    tp, a0, {harts_max}
    li      t0, {fs}
    csrc    sstatus, t0
    li      t0, {fs_initial}
    csrs    sstatus, t0
    lla     t0, {vector}
    csrw    stvec, t0
    csrw    sscratch, zero
    ld      t0, {run}(sp)
    mv      a0, a1
    ld      a1, {entry}(sp)
    ld      s0, {owner}(sp)
    ld      s1, {ticket}(sp)
    jalr    t0

    # The function has returned: gives the stack back, and deletes itself without using it.
    .option push
    .option arch, +a
1:  lr.d    t0, (s0)
    bne     t0, s1, 2f
    sc.d.rl t0, zero, (s0)
    bnez    t0, 1b
    .option pop
    li      a0, {self}
    li      a6, {delete}
    li      a7, {extension}
    ecall
2:  li      a6, {yield}                 # another vCPU is about to delete it
    li      a7, {extension}
    ecall
    j       2b
    .option pop
"#,
    harts_max = const HARTS_MAX,
    fs = const csr::SSTATUS_FS,
    fs_initial = const 1 << 13,
    vector = sym trap::vector,
    run = const core::mem::offset_of!(Start, run),
    entry = const core::mem::offset_of!(Start, entry),
    owner = const core::mem::offset_of!(Start, owner),
    ticket = const core::mem::offset_of!(Start, ticket),
    self = const RT_SELF as i64,
    delete = const RT_DELETE,
    yield = const RT_YIELD,
    extension = const EXTENSION,
);

/// Calls the vCPU's function.
///
/// # Safety
///
/// `entry` is a `fn(&'static T)`.
unsafe extern "C" fn run<T: 'static>(argument: &'static T, entry: *const ()) {
    // SAFETY: the caller vouches for the type.
    let entry: fn(&'static T) = unsafe { core::mem::transmute(entry) };
    entry(argument);
}

/// Serializes creation and deletion, so that a number is not reused while a deletion waits for its vCPU's end.
struct CreationLock;

static TAKEN: AtomicBool = AtomicBool::new(false);

impl CreationLock {
    fn take() -> Self {
        while TAKEN.swap(true, Ordering::Acquire) {
            core::hint::spin_loop();
        }
        Self
    }
}

impl Drop for CreationLock {
    fn drop(&mut self) {
        TAKEN.store(false, Ordering::Release);
    }
}

/// Creates a real-time vCPU that runs `entry(argument)` on `stack`. It ends when that returns, or by
/// [`RtVcpu::delete`]. Its first job is released at once, or as soon as departing reservations have left the hart.
///
/// # Errors
///
/// [`RtError::Refused`], [`RtError::StackInUse`], [`RtError::Call`].
pub fn create<T: Sync, const SIZE: usize>(
    entry: fn(&'static T),
    argument: &'static T,
    stack: &'static RtStack<SIZE>,
    reservation: Reservation,
) -> Result<RtVcpu, RtError> {
    unsafe extern "C" {
        fn __tactus_guest_rt_start();
    }
    static TICKETS: AtomicU64 = AtomicU64::new(FREE + 1);

    let owner = &stack.owner;
    owner
        .compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed)
        .map_err(|_| RtError::StackInUse)?;
    let ticket = TICKETS.fetch_add(1, Ordering::Relaxed);
    let start = Start {
        run: run::<T> as *const (),
        entry: entry as *const (),
        owner,
        ticket,
    };
    let top = stack.bytes.get() as usize + SIZE - size_of::<Start>();
    // SAFETY: the stack is held here, and has room for a `Start`; its top is aligned as the stack and its size are.
    unsafe { (top as *mut Start).write(start) };
    // The vCPU may end before this one continues: from the call on the stack is its own.
    owner.store(ticket, Ordering::Release);
    let arguments = [
        __tactus_guest_rt_start as *const () as usize,
        top,
        &raw const *argument as usize,
        reservation.period as usize,
        reservation.budget as usize,
        reservation.deadline as usize,
    ];
    let _turn = CreationLock::take();
    // SAFETY: the vCPU runs `run::<T>` as its type says, on a stack that no other code uses until it has ended.
    match result(unsafe { call_raw(EXTENSION, RT_CREATE, arguments) }) {
        Ok(number) => Ok(RtVcpu {
            number: number as u64,
            owner,
            ticket,
        }),
        Err(error) => {
            owner.store(FREE, Ordering::Release);
            Err(error)
        }
    }
}

impl RtVcpu {
    /// Its number among the VM's created vCPUs.
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// Whether it still runs its function.
    pub fn is_alive(&self) -> bool {
        self.owner.load(Ordering::Acquire) == self.ticket
    }

    /// Its state and statistics.
    ///
    /// # Errors
    ///
    /// [`RtError::Ended`].
    pub fn status(&self) -> Result<RtStatus, RtError> {
        if !self.is_alive() {
            return Err(RtError::Ended);
        }
        status_of(self.number)
    }

    /// Changes its reservation from its next release on.
    ///
    /// # Errors
    ///
    /// [`RtError::Refused`] (it keeps the one it has), [`RtError::Call`], [`RtError::Ended`].
    pub fn change(&self, reservation: Reservation) -> Result<(), RtError> {
        if !self.is_alive() {
            return Err(RtError::Ended);
        }
        let Reservation {
            period,
            budget,
            deadline,
        } = reservation;
        let arguments = [self.number, period, budget, deadline, 0, 0].map(|word| word as usize);
        // SAFETY: changes no memory.
        result(unsafe { call_raw(EXTENSION, RT_CHANGE, arguments) }).map(drop)
    }

    /// Deletes it, also while it runs. Locks that it holds stay locked. Its stack is free afterwards.
    ///
    /// # Errors
    ///
    /// [`RtError::Ended`]: it has ended by itself; [`RtError::Call`].
    pub fn delete(self) -> Result<(), RtError> {
        self.owner
            .compare_exchange(self.ticket, HELD, Ordering::AcqRel, Ordering::Relaxed)
            .map_err(|_| RtError::Ended)?;
        let _turn = CreationLock::take();
        let arguments = [self.number as usize, 0, 0, 0, 0, 0];
        // SAFETY: the stack, which only the deleted vCPU used, is held here; the rest was shared, and stays valid.
        let done = result(unsafe { call_raw(EXTENSION, RT_DELETE, arguments) });
        // If it runs on another hart, that hart stops it after the call.
        while done.is_ok() && status_of(self.number).is_ok() {
            core::hint::spin_loop();
        }
        let owner = if done.is_ok() { FREE } else { self.ticket };
        self.owner.store(owner, Ordering::Release);
        done.map(drop)
    }
}

/// State and statistics of a real-time vCPU created by this VM, by its number.
///
/// # Errors
///
/// [`RtError::Call`] with [`Error::InvalidParam`]: there is no such real-time vCPU.
pub fn status_of(number: u64) -> Result<RtStatus, RtError> {
    let mut status = RtStatus::default();
    let arguments = [
        number as usize,
        &raw mut status as usize,
        size_of::<RtStatus>(),
        0,
        0,
        0,
    ];
    // SAFETY: the call writes to `status`, and no further than its length.
    result(unsafe { call_raw(EXTENSION, RT_QUERY, arguments) })?;
    Ok(status)
}

/// State and statistics of the calling real-time vCPU.
///
/// # Errors
///
/// [`RtError::Call`] with [`Error::InvalidParam`]: the caller is none.
pub fn status() -> Result<RtStatus, RtError> {
    status_of(RT_SELF)
}

/// Ends the caller's job. Returns at the release of the next, with that time in ticks.
///
/// # Panics
///
/// When the caller has no reservation.
pub fn yield_now() -> u64 {
    let (error, value): (isize, u64);
    // SAFETY: an SBI call keeps every register but a0 and a1 (SBI specification, "Binary Encoding").
    unsafe {
        asm!(
            "ecall",
            lateout("a0") error,
            lateout("a1") value,
            in("a6") RT_YIELD,
            in("a7") EXTENSION,
            options(nostack),
        );
    }
    assert_eq!(error, 0, "rt::yield_now: the caller has no reservation");
    value
}
