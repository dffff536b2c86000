//! Tactus's own calls ([`tactus_abi::hypercall`]). Natively under OpenSBI each fails with [`Error::NotSupported`].

use tactus_abi::hypercall::{
    ACCELERATOR_PERMIT, ACCELERATOR_REQUESTS, CHANNEL_NOTIFY, CPU_TIME, EXTENSION, VERSION,
    VM_RESTART, VM_STATUS, VmState,
};

use crate::sbi::{Error, call_raw};

/// A VM's state and what its last fault was.
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

/// For the device manager: whether the VM that has the interface writes its virtual device's page directly.
///
/// # Errors
///
/// [`Error::Denied`]: this VM is not the device manager; [`Error::InvalidParam`]: no such interface; [`Error::NotSupported`]: a hypervisor without virtual devices
/// of accelerators.
pub fn accelerator_permit(interface: usize, writable: bool) -> Result<(), Error> {
    let arguments = [interface, writable.into(), 0, 0, 0, 0];
    // SAFETY: the call writes to no memory of the caller.
    let answer = unsafe { call_raw(EXTENSION, ACCELERATOR_PERMIT, arguments) };
    answer.result().map(drop)
}

/// For the device manager: what has become of the interfaces' pages, as [`tactus_abi::hypercall::news`]; stores without a region are told of those in `listen`, a bit each, for which the hypervisor interrupts from now on.
///
/// # Errors
///
/// As [`accelerator_permit`].
pub fn accelerator_requests(listen: usize) -> Result<usize, Error> {
    call(ACCELERATOR_REQUESTS, listen)
}

/// How long the calling VM's vCPUs have run, in ticks of the `time` CSR.
///
/// # Errors
///
/// [`Error::NotSupported`]: this is no Tactus VM.
pub fn cpu_time() -> Result<u64, Error> {
    call(CPU_TIME, 0).map(|ticks| ticks as u64)
}
