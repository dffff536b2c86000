//! Tactus's own SBI extension, in the range of the SBI specification for experiments (chapter "Extension ID ranges",
//! experimental extensions 0x08000000-0x08FFFFFF). Calls follow the SBI's binary encoding: extension in `a7`, function
//! in `a6`, arguments from `a0`, `sbiret` in `a0`/`a1`. Errors are the SBI's standard ones.

pub mod status;

pub use status::{JobRecord, RtStatus};
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
/// `INVALID_PARAM`: no such VM; `DENIED`: the caller has no right to it.
pub const VM_STATUS: usize = 2;
/// `vm_restart(vm)`: reloads a stopped VM's image and starts it. The same rights and errors as [`VM_STATUS`], and
/// `ALREADY_AVAILABLE` when the VM is running.
pub const VM_RESTART: usize = 3;
/// `cpu_time() -> value`: time the calling VM's vCPUs have run, in ticks of the `time` CSR.
pub const CPU_TIME: usize = 4;

/// `rt_create(entry, stack, argument, period, budget, deadline) -> number`: creates a real-time vCPU in the caller's
/// VM, if admission finds a hart where it fits.
///
/// It starts at the guest-physical address `entry` at supervisor level without translation, interrupts disabled, with
/// its number in `a0`, `argument` in `a1`, `stack` in `sp`, and zero in all other registers. Numbers count the VM's
/// created vCPUs from 0; the lowest free one is used. Times are in ticks of the `time` CSR, `1 <= budget <= deadline <=
/// period <= limit::PERIOD_TICKS`. The first job is released at once, or as soon as departing reservations have left
/// the hart. A job ends by [`RT_YIELD`] or `wfi`; a job that has used up its budget is throttled, and continues in the
/// next period.
///
/// The vCPU fetches instructions that the caller has written before the call: no fence is needed.
///
/// `INVALID_PARAM`: times out of range; `INVALID_ADDRESS`: `entry` is not in the VM's memory or odd; `DENIED`: refused,
/// with the reason as the value (`a1`), see [`Refusal`].
pub const RT_CREATE: usize = 5;
/// `rt_query(number, address, length) -> size`: writes the first `length` bytes of an [`RtStatus`] to the
/// guest-physical `address`; the value is the size of the whole. [`RT_SELF`] is the caller itself, which may be any
/// real-time vCPU, also one of the configuration. `INVALID_PARAM`: no such vCPU, or it has ended; `INVALID_ADDRESS`:
/// not within the VM's memory, or not a multiple of 8.
pub const RT_QUERY: usize = 6;
/// `rt_change(number, period, budget, deadline)`: gives a real-time vCPU another reservation from its next release on,
/// if that fits; otherwise the vCPU keeps its reservation. Errors as for [`RT_CREATE`] and [`RT_QUERY`], and `DENIED`
/// with the value 0: the vCPU has no reservation.
pub const RT_CHANGE: usize = 7;
/// `rt_delete(number)`: stops and removes a real-time vCPU that [`RT_CREATE`] has created. If it runs on another hart,
/// it stops there after the call; it has ended, and no longer uses its stack, when [`RT_QUERY`] returns
/// `INVALID_PARAM`. With [`RT_SELF`] the call does not return. `INVALID_PARAM`: no such vCPU.
pub const RT_DELETE: usize = 8;
/// `rt_yield() -> release`: ends the job of the caller, a real-time vCPU with a reservation; returns at the release of
/// the next job, with that time in ticks. `DENIED`: the caller has no reservation.
pub const RT_YIELD: usize = 9;
/// `message_send(channel, address, length, priority, timeout)`: copies a message of `length` bytes at the
/// guest-physical `address` to the queue of the other end. `priority` is 0 to 255, higher first; first in, first out
/// within a priority. If the queue is full, the call waits for at most `timeout` ticks (`u64::MAX`: without limit; 0:
/// not at all). `INVALID_PARAM`: no such channel, it carries no messages, the message is too long, or the priority is
/// out of range; `INVALID_ADDRESS`: not within the VM's memory; `TIMEOUT` ([`TIMEOUT_ERROR`]): the queue is still full.
pub const MESSAGE_SEND: usize = 10;
/// `message_receive(channel, address, capacity, timeout) -> length`: removes the first message of the highest priority
/// from the caller's queue. Errors as for [`MESSAGE_SEND`]; `BAD_RANGE` ([`BAD_RANGE_ERROR`]): the message is longer
/// than `capacity`, and stays queued; the value is its length.
pub const MESSAGE_RECEIVE: usize = 11;

/// `interrupt_page(address)`: the calling vCPU receives its interrupts by the [`crate::interrupts::InterruptPage`] at
/// the guest-physical `address` instead of its context of the virtual PLIC, whose output is disabled. Interrupts
/// pending there become pending in the page. Each source of the VM becomes pending in the page of every vCPU that has
/// one, and must be enabled in one place only.
///
/// Address 0 ends this; interrupts then pending in the page are left to the guest. It also ends when the vCPU stops.
///
/// `INVALID_ADDRESS`: not in the VM's memory, or not a multiple of 64; `DENIED`: the vCPU was created by [`RT_CREATE`]
/// and has no virtual interrupts.
pub const INTERRUPT_PAGE: usize = 12;
/// `interrupt_end(source)`: completes an interrupt of a device, claimed from an [`INTERRUPT_PAGE`]. If the line is
/// still high, the source becomes pending again; before this call a passed-through source does not. For sources up to
/// [`crate::map::PASSTHROUGH_SOURCE_MAX`]; those above, doorbells and faults, need no completion. `INVALID_PARAM`: no
/// such source.
pub const INTERRUPT_END: usize = 13;

/// `accelerator_requests(listen, open, close, waits) -> events`: for the device manager. Sets of interfaces are a bit
/// each.
///
/// The VMs of the interfaces in `open` write their virtual devices' pages directly from now on. For those in `close`, a
/// store to the page traps, and the hypervisor performs it and reports a request. A vCPU that runs on another hart may
/// write a closed page until that hart has dropped the translation; what it wrote is reported as a request then.
///
/// Returns the events of the interfaces since the last call, as [`interface_event`]; [`interface_event::WRITTEN`] is
/// reported, and cleared, for the interfaces in `listen` only. If there are none and `waits` is 1, the call waits for
/// an event, or for any interrupt that ends `wfi`; then it returns 0. While no call waits, a request of an interface in
/// `listen` raises [`crate::map::FAULT_SOURCE`] in the caller, once.
///
/// `DENIED`: the caller is not the device manager; `INVALID_PARAM`: an interface does not exist, or is both in `open`
/// and in `close`, or `waits` is neither 0 nor 1.
pub const ACCELERATOR_REQUESTS: usize = 14;

/// `call_serve(entry, stack)`: from now on calls of the caller's VM begin at the guest-physical address `entry`, at
/// supervisor level, interrupts disabled, with `stack` in `sp`, the present values of `gp` and `tp`,
/// the calling VM's channel in `a0`, by its number here, and the message in `a1` to `a5` and `t0` to `t2`. What is in
/// all other registers, those for translation and interrupts included, is what the call before has left there; before
/// the first it is zero. There is no floating-point unit. With `entry` 0 there are no more calls.
///
/// A call is served on its caller's hart, in its time, and one at a time; nothing else has the hart until it ends. It
/// ends with [`CALL_REPLY`]. Whatever traps to the hypervisor but further calls, and a call that takes longer than the
/// caller's channel allows, is a fault of the VM that serves.
///
/// `INVALID_ADDRESS`: `entry` is not in the VM's memory or odd; `DENIED`: no VM may call the caller's.
pub const CALL_SERVE: usize = 15;
/// The cause of the fault of a VM whose service has taken too long: one that the privileged specification leaves to
/// custom use.
pub const CALL_TOO_LONG_CAUSE: u64 = 24;
/// `call(channel, ...)`: calls the VM at the other end of the channel. The message is in `a1` to `a5` and `t0` to `t2`,
/// where the reply is when `a0` is zero; otherwise these registers are as before, but for `a1`.
///
/// `INVALID_PARAM`: no such channel, or it has no calls; `DENIED`: that VM serves none at present; `FAILED`: it has
/// faulted or taken too long; `TIMEOUT` ([`TIMEOUT_ERROR`]), of calls from within a call only: less time is left for
/// that than this one may take.
pub const CALL: usize = 16;
/// `call_reply()`: ends a call with the reply in `a1` to `a5` and `t0` to `t2`. Does not return. Allowed within calls
/// only.
pub const CALL_REPLY: usize = 17;

/// The value of [`ACCELERATOR_REQUESTS`]: sets of interfaces, each shifted left by the interface's number.
pub mod interface_event {
    /// All interfaces.
    pub const ALL: u32 = (1 << crate::blob::limit::INTERFACES) - 1;
    /// Written while their VMs had no permission to write.
    pub const WRITTEN: u32 = 1;
    /// Their VMs have ended or restarted: requests and computations of them have no recipient any more.
    pub const ENDED: u32 = 1 << crate::blob::limit::INTERFACES;
}

/// The SBI's error `SBI_ERR_TIMEOUT` (specification 3.0, chapter "Binary Encoding").
pub const TIMEOUT_ERROR: i64 = -12;
/// The SBI's error `SBI_ERR_BAD_RANGE`.
pub const BAD_RANGE_ERROR: i64 = -11;

/// Number of the calling vCPU itself.
pub const RT_SELF: u64 = u64::MAX;

/// Why a real-time vCPU was not created or changed: the value beside the error `DENIED`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Refusal {
    /// The VM has as many as its configuration allows (`rt_vcpus`).
    Count = 1,
    /// It would exceed the VM's share (`rt_share`).
    Share = 2,
    /// No hart has the utilisation, or a free entry.
    Utilisation = 3,
    /// Some hart has the utilisation, but not before every deadline.
    Demand = 4,
    /// The proof exceeds the hypervisor's limit of steps; shorter or rounder periods help.
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

/// A call by memory, for code that can store but not call (Linux user space): the caller fills in `function` and
/// `arguments` and stores the guest-physical address of the block, a multiple of 8, as one doubleword to
/// [`crate::map::CALL_BASE`]. The call is complete when the store is. If the block is not within a page of the VM's
/// memory, the store is an access fault, as from a bus.
///
/// Only calls of this extension that do not wait are possible: timeouts count as 0, [`RT_YIELD`] and [`INTERRUPT_PAGE`]
/// return `NOT_SUPPORTED`. No vCPU is the caller, so that [`RT_SELF`] is an `INVALID_PARAM`.
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
