//! Management at run time: the calls of a VM that manages others ([`crate::blob::management`]).
//!
//! Functions of [`crate::hypercall::EXTENSION`]. `vm` is a VM's place in the configuration, from 0. Each call is
//! `INVALID_PARAM` where there is no such VM, and `DENIED` where the caller does not manage it. The caller also has
//! [`VM_STATUS`](crate::hypercall::VM_STATUS) and [`VM_RESTART`](crate::hypercall::VM_RESTART) for the VMs that it
//! manages.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// `vm_stop(vm)`: the VM ends; it is off when [`VM_STATUS`](crate::hypercall::VM_STATUS) says so. A restart that has
/// begun, by its `on_fault` or by itself, does not take place. One that is held ([`HELD`]) is off at once.
/// `ALREADY_STOPPED` ([`ALREADY_STOPPED_ERROR`]): it is off or stopped by a fault.
pub const VM_STOP: usize = 18;
/// `vm_load(vm)`: clears the memory of a stopped VM but for its devicetree, and holds the VM then ([`HELD`]), without
/// anything of its image. `ALREADY_AVAILABLE`: it is not stopped.
pub const VM_LOAD: usize = 19;
/// `vm_write(vm, to, from, length) -> taken`: copies bytes at the guest-physical address `from` of the caller to the
/// guest-physical address `to` of a VM that is held; at most [`WRITE_MAX`], and up to the end of either page. The value
/// tells how many; the caller calls again for the rest. `INVALID_ADDRESS`: not all of `length` bytes are in the memory
/// of the one or the other; [`ALREADY_STARTED_ERROR`]: the VM is not held.
pub const VM_WRITE: usize = 20;
/// `vm_start(vm, entry)`: starts a VM that is held at the guest-physical address `entry`, with what a boot vCPU has in
/// its registers. `INVALID_ADDRESS`: `entry` is not in its memory, or odd; [`ALREADY_STARTED_ERROR`]: it is not held.
pub const VM_START: usize = 21;
/// `vm_counters(vm, address, length) -> size`: writes the first `length` bytes of a [`VmCounters`] to the
/// guest-physical `address`; the value is the size of the whole. `INVALID_ADDRESS`: not within the caller's memory, or
/// not a multiple of 8.
pub const VM_COUNTERS: usize = 22;
/// `vm_console(vm, position, address, length) -> copied`: copies what a VM has written to its console, from byte
/// `position` of all that it has written since the system booted, to the guest-physical `address`: at most
/// [`CONSOLE_MAX`] bytes, and up to the end of the page. The value tells how many; 0: there are no more yet. The last
/// [`CONSOLE_KEPT`] bytes are kept. [`BAD_RANGE_ERROR`](crate::hypercall::BAD_RANGE_ERROR): `position` is not among
/// them, nor the next; the value is the first that is. `INVALID_ADDRESS`: not all of `length` bytes are in the caller's
/// memory.
pub const VM_CONSOLE: usize = 23;

/// Most bytes that one [`VM_WRITE`] takes: the hypervisor looks for interrupts after each call.
pub const WRITE_MAX: u64 = 512;
/// Most bytes that one [`VM_CONSOLE`] copies.
pub const CONSOLE_MAX: usize = 64;
/// Bytes of a console that are kept.
pub const CONSOLE_KEPT: usize = 2048;
/// State of a VM in [`VM_STATUS`](crate::hypercall::VM_STATUS)'s value: stopped, its memory cleared by [`VM_LOAD`],
/// written by [`VM_WRITE`] until [`VM_START`]. As off for everything else:
/// [`VM_RESTART`](crate::hypercall::VM_RESTART) loads its own image.
pub const HELD: u64 = 4;
/// The SBI's `ALREADY_STARTED`.
pub const ALREADY_STARTED_ERROR: i64 = -7;
/// The SBI's `ALREADY_STOPPED`.
pub const ALREADY_STOPPED_ERROR: i64 = -8;

/// The result of [`VM_COUNTERS`]. Times in ticks of the `time` CSR. Jobs are those of the real-time vCPUs that the
/// configuration gives the VM, over all its lives.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable,
)]
#[repr(C)]
pub struct VmCounters {
    /// When it was counted.
    pub time: u64,
    /// As the value of [`VM_STATUS`](crate::hypercall::VM_STATUS).
    pub status: u64,
    /// Time that its vCPUs have had, without their present turns.
    pub run_time: u64,
    /// vCPUs that have a hart at present.
    pub running: u64,
    /// Faults.
    pub faults: u64,
    /// Lives after its first.
    pub restarts: u64,
    /// First guest-physical address of its memory.
    pub memory: u64,
    /// ... and size in bytes.
    pub memory_size: u64,
    /// Jobs released.
    pub jobs: u64,
    /// Jobs that were throttled because they had used up their budget, or were dropped.
    pub overruns: u64,
    /// Jobs that executed after their deadline.
    pub missed: u64,
    /// The longest from when a job was due to be released until it was.
    pub late_max: u64,
    /// The longest that a job was ready and did not execute.
    pub interference_max: u64,
}

impl VmCounters {
    /// Figures that it has.
    pub const WORDS: usize = size_of::<Self>() / 8;

    /// The counters with these figures.
    pub const fn of_words(words: [u64; Self::WORDS]) -> Self {
        zerocopy::transmute!(words)
    }
}
