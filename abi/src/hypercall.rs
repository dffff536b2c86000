//! Tactus's own SBI extension, in the range that the SBI specification (chapter "Extension ID
//! ranges", experimental extensions 0x08000000-0x08FFFFFF) leaves for experiments. Calls follow the SBI's binary
//! encoding: extension in `a7`, function in `a6`, arguments from `a0`, `sbiret` in `a0`/`a1`.
//! Errors are the SBI's standard ones.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Extension id: "TCT" in the experimental range.
pub const EXTENSION: usize = 0x0854_4354;

/// `version() -> value`: the hypervisor's version, `major << 24 | minor << 12 | patch`.
pub const VERSION: usize = 0;
/// `channel_notify(channel)`: raises the doorbell interrupt at the other end of the caller's channel.
/// `INVALID_PARAM`: the caller has no such channel.
pub const CHANNEL_NOTIFY: usize = 1;
/// `vm_status(vm) -> value`: state of a VM, see [`VmState`]; bits 15:8 hold the `scause` code of its last
/// fault. Allowed for the caller itself and for VMs whose `on_fault` signals the caller.
/// `INVALID_PARAM`: no such VM; `DENIED`: not the caller's business.
pub const VM_STATUS: usize = 2;
/// `vm_restart(vm)`: reloads a stopped VM's image and starts it. The same rights and errors as [`VM_STATUS`], and
/// `ALREADY_AVAILABLE` when the VM is running.
pub const VM_RESTART: usize = 3;
/// `cpu_time() -> value`: time the calling VM's vCPUs have run, in ticks of the `time` CSR.
pub const CPU_TIME: usize = 4;

/// `rt_create(entry, stack, argument, period, budget, deadline) -> number`: makes a real-time vCPU in the caller's VM, if admission
/// finds a hart where it fits.
///
/// It starts at the guest-physical address `entry` at supervisor level without translation, interrupts off, with its number in `a0`,
/// `argument` in `a1`, `stack` in `sp`, and zero in all other registers. Numbers count the VM's made vCPUs from 0; the lowest that is free is
/// taken. Times are in ticks of the `time` CSR, `1 <= budget <= deadline <= period <= limit::PERIOD_TICKS`. Its first job is
/// released at once, or as soon as what was there before has left the hart; a job ends by [`RT_YIELD`] or `wfi`, or is cut off
/// when the budget is used up, and goes on in the next period.
///
/// Instructions that the caller has written just before are what it runs: no fence is needed.
///
/// `INVALID_PARAM`: times out of range; `INVALID_ADDRESS`: `entry` is not in the VM's memory or odd; `DENIED`: refused, and the value
/// (`a1`) says why, see [`Refusal`].
pub const RT_CREATE: usize = 5;
/// `rt_query(number, address, length) -> size`: writes the first `length` bytes of an [`RtStatus`] to the guest-physical `address`; the value
/// is the size of all of it. [`RT_SELF`] is the caller itself, which may be any real-time vCPU, also one of the configuration.
/// `INVALID_PARAM`: no such vCPU, or it has ended; `INVALID_ADDRESS`: not within the VM's memory, or not a multiple of 8.
pub const RT_QUERY: usize = 6;
/// `rt_change(number, period, budget, deadline)`: gives a real-time vCPU another reservation from its next release on, if it fits; else it
/// keeps the one it has. Errors as [`RT_CREATE`] and [`RT_QUERY`], and `DENIED` with the value 0: it has none that could be changed.
pub const RT_CHANGE: usize = 7;
/// `rt_delete(number)`: stops and forgets a real-time vCPU that was made by [`RT_CREATE`], wherever it is. Another hart may take a moment to stop
/// it; it has ended, and touches its stack no more, when [`RT_QUERY`] answers `INVALID_PARAM`. For [`RT_SELF`] it does not return.
/// `INVALID_PARAM`: no such vCPU.
pub const RT_DELETE: usize = 8;
/// `rt_yield() -> release`: the caller, a real-time vCPU with a reservation, has done its job; returns when the next is released, with
/// that time in ticks. `DENIED`: the caller has no reservation.
pub const RT_YIELD: usize = 9;
/// `message_send(channel, address, length, priority, timeout)`: copies a message of `length` bytes at the guest-physical `address` to
/// the other end's queue. `priority` 0 to 255, higher first; equal ones in order. When the queue is full, waits for at most `timeout`
/// ticks (`u64::MAX`: for ever; 0: not at all).
/// `INVALID_PARAM`: no such channel, it carries no messages, too long, or the priority is out of range; `INVALID_ADDRESS`: not within the
/// VM's memory; `TIMEOUT` ([`TIMEOUT_ERROR`]): still full.
pub const MESSAGE_SEND: usize = 10;
/// `message_receive(channel, address, capacity, timeout) -> length`: takes the first message of the highest priority out of the
/// caller's queue. Errors as [`MESSAGE_SEND`]; `BAD_RANGE` ([`BAD_RANGE_ERROR`]): it is longer than `capacity`, and stays; the value is
/// its length.
pub const MESSAGE_RECEIVE: usize = 11;

/// `interrupt_page(address)`: from now on the calling vCPU takes its interrupts by the [`crate::interrupts::InterruptPage`] at the guest-physical `address`,
/// and not by its context of the virtual PLIC, whose output is off. What is pending there becomes pending in the page. Every source
/// of the VM becomes pending in the page of every vCPU that has one; each is to be enabled in one place only.
///
/// Address 0 undoes it; what is pending in the page then is the guest's to look at. The page is also forgotten when the vCPU stops.
///
/// `INVALID_ADDRESS`: not in the VM's memory, or not a multiple of 64; `DENIED`: a vCPU that [`RT_CREATE`] has made, which has no virtual
/// interrupts.
pub const INTERRUPT_PAGE: usize = 12;
/// `interrupt_end(source)`: a device, taken from an [`INTERRUPT_PAGE`], has been served. Its line may still be high; if so, it interrupts again. Until
/// this call a passed-through device interrupts no more. For sources up to [`crate::map::PASSED_SOURCE_MAX`]; those above, doorbells and
/// faults, have no end.
/// `INVALID_PARAM`: not such a source.
pub const INTERRUPT_END: usize = 13;

/// `accelerator_requests(listen, open, close, waits) -> news`: for the device manager. Sets of interfaces are a bit each.
///
/// The VMs that have the interfaces in `open` write their virtual devices' pages directly from now on; those of `close` no more: a store there is then carried out by the hypervisor, and becomes a request. A vCPU that
/// another hart runs may write one for a moment yet; what it has asked for by then becomes a request when it cannot any more.
///
/// Returns what has become of the interfaces since the last call, as [`news`]; [`news::WRITTEN`] is told, and forgotten with that, of the interfaces in `listen` only. Where there is nothing to tell and `waits` is 1,
/// the call waits for something, or for whatever `wfi` would wait for; then it returns 0. While nobody waits so, a request of one in `listen` raises [`crate::map::FAULT_SOURCE`] in the caller, once.
///
/// `DENIED`: the caller is not the device manager; `INVALID_PARAM`: there is not each of these interfaces, or one is both in `open` and in `close`, or `waits` is neither 0 nor 1.
pub const ACCELERATOR_REQUESTS: usize = 14;

/// The value of [`ACCELERATOR_REQUESTS`]: sets of interfaces, each shifted left by the interface's number.
pub mod news {
    /// All interfaces.
    pub const ALL: u32 = (1 << crate::blob::limit::INTERFACES) - 1;
    /// They have been written while their VMs were not permitted to.
    pub const WRITTEN: u32 = 1;
    /// Their VMs have ended, or start anew: nobody waits any more for what is computed or asked there.
    pub const ENDED: u32 = 1 << crate::blob::limit::INTERFACES;
}

/// The SBI's error `SBI_ERR_TIMEOUT` (specification 3.0, chapter "Binary Encoding").
pub const TIMEOUT_ERROR: i64 = -12;
/// The SBI's error `SBI_ERR_BAD_RANGE`.
pub const BAD_RANGE_ERROR: i64 = -11;

/// Number of the calling vCPU itself.
pub const RT_SELF: u64 = u64::MAX;

/// Why a real-time vCPU was not made or not changed: the value beside the error `DENIED`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Refusal {
    /// The VM has as many as its configuration allows (`rt_vcpus`).
    Count = 1,
    /// It would exceed the VM's share (`rt_share`).
    Share = 2,
    /// No hart has so much of its time left, or has a place.
    Utilisation = 3,
    /// There is time on some hart, but not before every deadline.
    Demand = 4,
    /// The proof takes more steps than the hypervisor takes; shorter or rounder periods help.
    Undecided = 5,
}

impl Refusal {
    /// The refusal of that number, if there is one.
    pub const fn from_raw(value: u64) -> Option<Self> {
        match value {
            1 => Some(Self::Count),
            2 => Some(Self::Share),
            3 => Some(Self::Utilisation),
            4 => Some(Self::Demand),
            5 => Some(Self::Undecided),
            _ => None,
        }
    }
}

/// What [`RT_QUERY`] tells. Times in ticks of the `time` CSR.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable,
)]
#[repr(C)]
pub struct RtStatus {
    /// Its period; 0: it has no reservation.
    pub period: u64,
    /// Its budget.
    pub budget: u64,
    /// Its deadline, after each release.
    pub deadline: u64,
    /// Release of the present job, or of the last.
    pub release: u64,
    /// Jobs released so far.
    pub jobs: u64,
    /// Jobs that were cut off because they had used up their budget.
    pub overruns: u64,
    /// Jobs that were not done, or had not had all of their budget, by their deadline.
    pub missed: u64,
    /// Time it has had in all.
    pub used: u64,
    /// The most that one job has used.
    pub used_max: u64,
    /// Index of its hart.
    pub hart: u32,
    /// Zero.
    pub reserved: u32,
}

/// A call by memory, for code that can store but not call (Linux user space): the caller fills in `function` and `arguments` and
/// stores the guest-physical address of the whole, a multiple of 8, as one doubleword at [`crate::map::CALL_BASE`]. When the store is done, so is
/// the call. Where no block is in the VM's memory the store is an access fault, as from a bus.
///
/// Only calls of this extension that do not wait: timeouts count as 0, [`RT_YIELD`] and [`INTERRUPT_PAGE`] are `NOT_SUPPORTED`, and there is no caller
/// "itself", so that [`RT_SELF`] is an `INVALID_PARAM`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable,
)]
#[repr(C)]
pub struct CallBlock {
    /// Number of the function.
    pub function: u64,
    /// Its arguments.
    pub arguments: [u64; 6],
    /// 0, or a negative SBI error.
    pub error: i64,
    /// The value.
    pub value: u64,
}

/// State of a VM in bits 7:0 of [`VM_STATUS`]'s value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum VmState {
    /// Its image is being loaded.
    Loading = 0,
    /// At least one of its vCPUs is started.
    Running = 1,
    /// It powered itself off.
    Off = 2,
    /// It was stopped by a fault.
    Faulted = 3,
}
