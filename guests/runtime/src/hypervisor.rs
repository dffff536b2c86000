//! Tactus's own calls ([`tactus_abi::hypercall`]). Natively under OpenSBI each fails with [`Error::NotSupported`].

use tactus_abi::hypercall::{
    ACCELERATOR_REQUESTS, CHANNEL_NOTIFY, CPU_TIME, EXTENSION, VERSION, VM_RESTART, VM_STATUS,
    VmState,
};

use crate::sbi::{Error, call_raw};

/// A VM's state and the cause of its last fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// Its state; `None` when the hypervisor names one this library does not know.
    pub state: Option<VmState>,
    /// `scause` code of its last fault; 0 before the first.
    pub cause: u8,
}

fn call(function: usize, argument: usize) -> Result<usize, Error> {
    // SAFETY: none of these calls writes to the caller's memory.
    unsafe { call_raw(EXTENSION, function, [argument, 0, 0, 0, 0, 0]) }.result()
}

/// Whether this is a Tactus VM.
pub fn is_present() -> bool {
    crate::sbi::probe(EXTENSION)
}

/// The hypervisor's version: `major << 24 | minor << 12 | patch`.
///
/// # Errors
///
/// [`Error::NotSupported`]: this is no Tactus VM.
pub fn version() -> Result<usize, Error> {
    call(VERSION, 0)
}

/// Rings the doorbell at the other end of the channel.
///
/// # Errors
///
/// [`Error::InvalidParam`]: the VM has no such channel.
pub fn channel_notify(channel: usize) -> Result<(), Error> {
    call(CHANNEL_NOTIFY, channel).map(drop)
}

/// State of a VM, by its place in `system.toml` (from 0).
///
/// # Errors
///
/// [`Error::InvalidParam`]: no such VM; [`Error::Denied`]: it is neither the caller nor one whose `on_fault` signals
/// the caller.
pub fn vm_status(vm: usize) -> Result<Status, Error> {
    let value = call(VM_STATUS, vm)?;
    let state = [
        VmState::Loading,
        VmState::Running,
        VmState::Off,
        VmState::Faulted,
    ];
    Ok(Status {
        state: state
            .into_iter()
            .find(|&state| state as usize == value & 0xff),
        cause: (value >> 8) as u8,
    })
}

/// Reloads a stopped VM's image and starts it.
///
/// # Errors
///
/// As [`vm_status`]; [`Error::AlreadyAvailable`]: it runs.
pub fn vm_restart(vm: usize) -> Result<(), Error> {
    call(VM_RESTART, vm).map(drop)
}

/// Sets of interfaces, a bit each, for [`accelerator_requests`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interfaces {
    /// Interfaces whose requests are reported.
    pub listen: u8,
    /// Interfaces to open: their VMs write the pages directly.
    pub open: u8,
    /// Interfaces to close: stores to their pages trap.
    pub close: u8,
}

/// For the device manager: opens and closes pages, and returns the events of the interfaces, as
/// [`tactus_abi::hypercall::interface_event`]. If there are none and it `waits`, it waits for an event or, as `wfi`
/// does, for an interrupt, enabled or not.
///
/// # Errors
///
/// [`Error::Denied`]: this VM is not the device manager; [`Error::InvalidParam`]: an interface does not exist, or is to
/// be opened and closed; [`Error::NotSupported`]: the hypervisor has no virtual devices of accelerators.
#[inline]
pub fn accelerator_requests(interfaces: Interfaces, waits: bool) -> Result<usize, Error> {
    let Interfaces {
        listen,
        open,
        close,
    } = interfaces;
    let sets = [listen, open, close].map(usize::from);
    let arguments = [sets[0], sets[1], sets[2], waits.into(), 0, 0];
    // SAFETY: the call writes to no memory of the caller.
    unsafe { call_raw(EXTENSION, ACCELERATOR_REQUESTS, arguments) }.result()
}

/// Execution time of the calling VM's vCPUs, in ticks of the `time` CSR.
///
/// # Errors
///
/// [`Error::NotSupported`]: this is no Tactus VM.
pub fn cpu_time() -> Result<u64, Error> {
    call(CPU_TIME, 0).map(|ticks| ticks as u64)
}
