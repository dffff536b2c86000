//! VMs that manage others: they stop them, load other images into them, start them and read their counters and
//! consoles.
//!
//! A manager has its calls and nothing else: it reaches no memory of a VM but that of one that is *held*, stopped and
//! without anything of an earlier life in it. Each call is a piece of bounded length in the manager's time. A managed
//! VM's end is done as its other ends are, its memory cleared in its own time.
//!
//! Protocol M1 (`vm/lifecycle/managed.rs`) keeps writes to a VM that is held and its next life apart.

use crate::arch::memory;
use crate::call::{SbiError, SbiResult};
use crate::console;
use crate::hart::context::HartCtx;
use crate::system::system;
use crate::vm::vcpu::State;
use crate::vm::{Vcpu, Vm};
use tactus_abi::blob::Region;
use tactus_abi::hypercall;
use tactus_abi::management::{
    CONSOLE_MAX, HELD, VM_CONSOLE, VM_COUNTERS, VM_LOAD, VM_START, VM_STOP, VM_WRITE, VmCounters,
    WRITE_MAX,
};
use tactus_abi::map::PAGE_SIZE;
use tactus_policy::record::Figure;

/// The functions of managers: from the first
pub const FIRST: usize = VM_STOP;
/// ... to the last.
pub const LAST: usize = VM_CONSOLE;

/// Serves a call of a manager: one of these functions.
pub fn call(
    cx: &mut HartCtx,
    vcpu: &'static Vcpu,
    function: usize,
    arguments: [u64; 6],
) -> SbiResult {
    let [vm, a1, a2, a3, ..] = arguments;
    let other = usize::try_from(vm)
        .ok()
        .and_then(|index| system().vms.get(index))
        .ok_or(SbiError::INVALID_PARAM)?;
    if !manages(vcpu.vm, other) {
        return Err(SbiError::DENIED);
    }
    match function {
        VM_STOP => other.stop(cx),
        VM_LOAD => other.load(),
        VM_WRITE => write(vcpu.vm, other, a1, a2, a3),
        VM_START => other.start_held(a1),
        VM_COUNTERS => count(vcpu.vm, other, a1, a2),
        _ => read_console(vcpu.vm, other, a1, a2, a3),
    }
}

/// Whether a VM manages another one.
#[inline(never)]
pub fn manages(vm: &Vm, other: &Vm) -> bool {
    let managed = system().blob.managed().get(vm.index);
    managed.is_some_and(|set| set >> other.index & 1 != 0)
}

/// State of a VM, and the cause of its last fault: [`tactus_abi::hypercall::VM_STATUS`].
pub fn status(vm: &Vm) -> u64 {
    let (state, cause) = vm.status();
    let state = if vm.is_held() { HELD } else { state as u64 };
    state | u64::from(cause) << 8
}

/// Copies what a manager has written for a VM that is held: [`VM_WRITE`].
fn write(manager: &Vm, other: &Vm, to: u64, from: u64, length: u64) -> SbiResult {
    let source = manager.memory_at(from, length);
    let target = other.memory_at(to, length);
    let (source, target) = source.zip(target).ok_or(SbiError::INVALID_ADDRESS)?;
    let rest = |address: u64| PAGE_SIZE - address % PAGE_SIZE;
    let most = memory::piece(source, target, WRITE_MAX);
    let length = length.min(most).min(rest(source)).min(rest(target));
    // Safety: `memory_at` has found both in the VMs' memory, and they end with their pages at the latest.
    let copy = || unsafe { memory::copy_shared(source, target, length) };
    other.while_held(copy).map(|()| length)
}

/// Writes the counters of a VM to its manager's memory: [`VM_COUNTERS`].
fn count(manager: &Vm, other: &Vm, address: u64, length: u64) -> SbiResult {
    let size = size_of::<VmCounters>() as u64;
    let length = length.min(size);
    manager
        .memory_at(address, length)
        .filter(|_| address.is_multiple_of(8))
        .ok_or(SbiError::INVALID_ADDRESS)?;
    let &Region {
        guest,
        size: memory_size,
        ..
    } = other.memory;
    let vcpus = || other.vcpus().iter();
    let running = vcpus().filter(|vcpu| vcpu.state.get() == State::Running);
    let sum = |figure| vcpus().map(|vcpu| vcpu.record.get(figure)).sum::<u64>();
    let most = |figure| {
        let figures = vcpus().map(|vcpu| vcpu.record.get(figure));
        figures.fold(0, u64::max)
    };
    let (faults, restarts) = other.ends();
    // As `VmCounters` has them.
    let words: [u64; VmCounters::WORDS] = [
        crate::arch::now(),
        status(other),
        other.cpu_ticks(),
        running.count() as u64,
        faults.into(),
        restarts.into(),
        guest,
        memory_size,
        sum(Figure::Jobs),
        sum(Figure::Overruns),
        sum(Figure::Missed),
        most(Figure::LateMax),
        most(Figure::InterferenceMax),
    ];
    for (index, word) in words.iter().enumerate() {
        let at = 8 * index as u64;
        let bytes = length.saturating_sub(at).min(8);
        if bytes != 0 {
            let to = manager.host_of(address + at);
            // Safety: `memory_at` has found so much of it in the manager's memory.
            unsafe { memory::copy_shared((&raw const *word) as u64, to, bytes) };
        }
    }
    Ok(size)
}

/// Copies what a VM has written to its console to its manager's memory: [`VM_CONSOLE`].
fn read_console(manager: &Vm, other: &Vm, position: u64, address: u64, length: u64) -> SbiResult {
    let to = manager.memory_at(address, length);
    let to = to.ok_or(SbiError::INVALID_ADDRESS)?;
    let most = length.min(PAGE_SIZE - to % PAGE_SIZE) as usize;
    // Not to the manager's memory: other VMs wait for the console meanwhile.
    let mut bytes = [0; CONSOLE_MAX];
    let bytes = &mut bytes[..most.min(CONSOLE_MAX)];
    match console::recall(other.stream(), position, bytes) {
        Ok(count) => {
            // Safety: `memory_at` has found so much of it in the manager's memory, up to the end of the page.
            unsafe { memory::copy_shared(bytes.as_ptr() as u64, to, count as u64) };
            Ok(count as u64)
        }
        Err(first) => Err(SbiError {
            code: hypercall::BAD_RANGE_ERROR,
            value: first,
        }),
    }
}
