//! What a guest reads and writes of its console by calls.

use crate::arch::memory;
use crate::call::{SbiError, SbiResult};
use crate::console;
use crate::hart::context::HartCtx;
use crate::vm::{Vcpu, devices};
use sbi_spec::dbcn;
use tactus_abi::map::PAGE_SIZE;

/// Bytes of a debug console write that are taken at once; the guest calls again for the rest.
const CONSOLE_CHUNK: u64 = 8;

/// Adds bytes to the VM's console; how many were taken.
pub fn put(cx: &mut HartCtx, vcpu: &Vcpu, bytes: &[u8]) -> u64 {
    let (taken, room) = console::write(vcpu.vm.stream(), bytes);
    devices::notify_room(cx, room);
    taken as u64
}

/// A call of the extension "Debug console" (SBI specification, chapter 12).
pub fn debug_console(
    cx: &mut HartCtx,
    vcpu: &'static Vcpu,
    function: usize,
    a0: u64,
    a1: u64,
    a2: u64,
) -> SbiResult {
    match function {
        dbcn::CONSOLE_WRITE => {
            let from = console_memory(vcpu, a0, a1, a2)?;
            let mut bytes = [0; CONSOLE_CHUNK as usize];
            let bytes = &mut bytes[..chunk(a0, from) as usize];
            // Safety: `console_memory` has found all of it in the guest's memory. The guest may change the
            // bytes meanwhile; they are copied once and only ever data.
            unsafe {
                memory::copy_shared(from, bytes.as_mut_ptr() as u64, bytes.len() as u64);
            }
            Ok(put(cx, vcpu, bytes))
        }
        dbcn::CONSOLE_READ => {
            let to = console_memory(vcpu, a0, a1, a2)?;
            let mut count = 0;
            while count < chunk(a0, to) {
                let Some(byte) = vcpu.vm.console_take(cx) else {
                    break;
                };
                // Safety: within the guest's memory, see above.
                unsafe { ((to + count) as *mut u8).write_volatile(byte) };
                count += 1;
            }
            Ok(count)
        }
        dbcn::CONSOLE_WRITE_BYTE => match put(cx, vcpu, &[a0 as u8]) {
            0 => Err(SbiError::FAILED),
            _ => Ok(0),
        },
        _ => Err(SbiError::NOT_SUPPORTED),
    }
}

/// How many bytes of a debug console call's buffer at a physical address are taken at once: those of one page.
fn chunk(length: u64, at: u64) -> u64 {
    length.min(CONSOLE_CHUNK).min(PAGE_SIZE - at % PAGE_SIZE)
}

/// Physical address of the buffer.
fn console_memory(vcpu: &Vcpu, length: u64, low: u64, high: u64) -> Result<u64, SbiError> {
    let at = vcpu.vm.memory_at(low, length).filter(|_| high == 0);
    at.ok_or(SbiError::INVALID_PARAM)
}
