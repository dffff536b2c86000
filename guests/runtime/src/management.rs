//! Calls of a VM that manages others ([`tactus_abi::management`]). Without `manages` in its description each fails with
//! [`Error::Denied`], or [`Error::NotSupported`].

use tactus_abi::hypercall::{BAD_RANGE_ERROR, EXTENSION};
use tactus_abi::management::{
    VM_CONSOLE, VM_COUNTERS, VM_LOAD, VM_START, VM_STOP, VM_WRITE, VmCounters,
};

use crate::devicetree;
use crate::sbi::{Error, call_raw};

/// A VM that this one manages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Managed {
    /// Its place in `system.toml`, from 0.
    pub number: usize,
    /// Its name.
    pub name: &'static str,
}

/// The VMs that this one manages, from the devicetree (`/managed`).
pub fn managed() -> impl Iterator<Item = Managed> {
    let property = |name| {
        Some(
            devicetree::get()?
                .find_node("/managed")?
                .property(name)?
                .value,
        )
    };
    let numbers = property("tactus,vms").unwrap_or_default();
    let names = property("tactus,vm-names").unwrap_or_default();
    let numbers = numbers.as_chunks::<4>().0.iter();
    let names = names.split(|byte| *byte == 0);
    numbers.zip(names).filter_map(|(number, name)| {
        Some(Managed {
            number: u32::from_be_bytes(*number) as usize,
            name: core::str::from_utf8(name).ok()?,
        })
    })
}

fn call(function: usize, arguments: [usize; 4]) -> Result<usize, Error> {
    let [a0, a1, a2, a3] = arguments;
    // SAFETY: these calls read this VM's memory at most; `counters` writes to what it has for that.
    unsafe { call_raw(EXTENSION, function, [a0, a1, a2, a3, 0, 0]) }.result()
}

/// Makes a VM end. It is off when [`crate::hypervisor::vm_status`] says so.
///
/// # Errors
///
/// [`Error::InvalidParam`]: no such VM; [`Error::Denied`]: this one does not manage it; [`Error::AlreadyStopped`]: it
/// is off.
pub fn vm_stop(vm: usize) -> Result<(), Error> {
    call(VM_STOP, [vm, 0, 0, 0]).map(drop)
}

/// Clears a stopped VM's memory but for its devicetree, and holds the VM: it is held when
/// [`crate::hypervisor::vm_status`] says so.
///
/// # Errors
///
/// As [`vm_stop`]; [`Error::AlreadyAvailable`]: it is not stopped.
pub fn vm_load(vm: usize) -> Result<(), Error> {
    call(VM_LOAD, [vm, 0, 0, 0]).map(drop)
}

/// Writes to the memory of a VM that is held, from the guest-physical address `to` on.
///
/// # Errors
///
/// As [`vm_stop`]; [`Error::InvalidAddress`]: not all of it is in the VM's memory; [`Error::AlreadyStarted`]: it is not
/// held. Nothing was written then, if it was so from the beginning.
pub fn vm_write(vm: usize, to: u64, bytes: &[u8]) -> Result<(), Error> {
    let mut written = 0;
    while written < bytes.len() {
        let rest = &bytes[written..];
        let to = to.wrapping_add(written as u64) as usize;
        written += call(VM_WRITE, [vm, to, rest.as_ptr() as usize, rest.len()])?;
    }
    Ok(())
}

/// Starts a VM that is held.
///
/// # Errors
///
/// As [`vm_stop`]; [`Error::InvalidAddress`]: `entry` is odd, or not in its memory; [`Error::AlreadyStarted`]: it is
/// not held.
pub fn vm_start(vm: usize, entry: u64) -> Result<(), Error> {
    call(VM_START, [vm, entry as usize, 0, 0]).map(drop)
}

/// The counters of a VM.
///
/// # Errors
///
/// As [`vm_stop`], but for the last.
pub fn vm_counters(vm: usize) -> Result<VmCounters, Error> {
    let mut counters = VmCounters::default();
    let to = (&raw mut counters).expose_provenance();
    call(VM_COUNTERS, [vm, to, size_of::<VmCounters>(), 0])?;
    Ok(counters)
}

/// Where a VM's console can be read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Console {
    /// So many bytes were read; 0: there are no more yet.
    Read(usize),
    /// What was asked for is no longer kept, or not written yet: this is the first byte that is kept.
    KeptFrom(u64),
}

/// Reads what a VM has written to its console, from a byte of all that it has written on.
///
/// # Errors
///
/// As [`vm_stop`], but for the last.
pub fn vm_console(vm: usize, position: u64, bytes: &mut [u8]) -> Result<Console, Error> {
    let to = bytes.as_mut_ptr().expose_provenance();
    let arguments = [vm, position as usize, to, bytes.len(), 0, 0];
    // SAFETY: the call writes to these bytes at most.
    let answer = unsafe { call_raw(EXTENSION, VM_CONSOLE, arguments) };
    match answer.error as i64 {
        BAD_RANGE_ERROR => Ok(Console::KeptFrom(answer.value as u64)),
        _ => answer.result().map(Console::Read),
    }
}
