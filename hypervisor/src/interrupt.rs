//! Interrupts that reach the hypervisor: from other harts, from the timer, from devices.

use crate::arch::{self, csr};
use crate::console;
use crate::hart::Hart;
use crate::hart::context::HartCtx;
use crate::sched::{signals, tick};
use crate::system::{Route, system};
use crate::vcpu::Vcpu;
use crate::vm;
use tactus_abi::blob::Class;
use tactus_abi::map;

/// Physical priorities: the upper half is for sources of VMs with real-time vCPUs; without separation all have the lower one.
const PRIORITY_REAL_TIME: u32 = 6;
const PRIORITY_BEST_EFFORT: u32 = 2;
/// Threshold while a real-time vCPU runs: what is not for such a VM waits.
const THRESHOLD_REAL_TIME: u32 = 3;

/// Sets up a hart's part of the interrupt controller: the sources routed to it.
pub fn initialise_hart(hart: &Hart) {
    let Some(plic) = system().plic else { return };
    plic.reset_context(hart.wires.plic_context, map::PLIC_SOURCES);
    for (source, route) in system().routes.iter().enumerate() {
        let (context, priority) = match *route {
            Route::Unused => continue,
            Route::Console if !serves_console(hart) => continue,
            Route::Console => (hart.wires.plic_context, PRIORITY_BEST_EFFORT),
            Route::Vm(vm, context) => {
                let vcpus = system().vms[vm].vcpus();
                let real_time = vcpus.iter().any(|vcpu| vcpu.class == Class::RealTime);
                let priority = if real_time && system().is_separated() {
                    PRIORITY_REAL_TIME
                } else {
                    PRIORITY_BEST_EFFORT
                };
                (context, priority)
            }
        };
        if context == hart.wires.plic_context {
            plic.enable(context, source as u32, priority);
        }
    }
}

/// Whether the hart is among those that the console interrupts: the first without real-time vCPUs, or, if each has some, all; who is free first serves it.
fn serves_console(hart: &Hart) -> bool {
    let free = |hart: &&Hart| {
        let real_time = |vcpu: &&Vcpu| vcpu.class == Class::RealTime;
        let mut vcpus = system().vcpus.iter().filter(real_time);
        !vcpus.any(|vcpu| vcpu.harts >> hart.index & 1 != 0)
    };
    let first = system().harts.iter().find(free);
    first.is_none_or(|first| first.index == hart.index)
}

/// Serves the interrupts that are `pending` ([`crate::arch::pending_interrupts`]), one of each kind; the current vCPU may have to leave the hart afterwards.
#[inline(never)]
pub fn handle(cx: &mut HartCtx, pending: u64) {
    if pending & csr::STI != 0 {
        tick::serve_due_at(cx, arch::now());
        // Nothing of a best-effort vCPU's holds up a real-time one that takes the hart now.
        if cx.local.next.is_some() && !cx.local.hart.has_urgent_news() {
            return;
        }
    }
    if pending & csr::SSI != 0 {
        signals::handle_ipi(cx);
    }
    // It stays pending; but when a real-time vCPU gets the hart now, it may have to wait for that.
    if pending & csr::SEI != 0 && !cx.local.needs_resched {
        external(cx);
    }
}

/// Lets through what may interrupt a vCPU of the given class.
pub fn admit(hart: &Hart, class: Class) {
    let threshold = match class {
        Class::RealTime => THRESHOLD_REAL_TIME,
        Class::BestEffort => 0,
    };
    if let Some(register) = hart.wires.threshold {
        // Safety: a register of the controller, which no guest can reach.
        unsafe { register.as_ptr().write_volatile(threshold) };
    }
}

/// Serves one source; if more wait, the interrupt stays pending.
#[inline(never)]
fn external(cx: &mut HartCtx) {
    let Some(plic) = system().plic else { return };
    let source = plic.claim(cx.local.hart.wires.plic_context);
    match system().routes.get(source as usize) {
        Some(Route::Vm(vm, _)) => system().vms[*vm].physical_interrupt(cx, source),
        Some(Route::Console) => {
            let room = console::interrupt(|stream, byte| {
                let vm = usize::from(stream)
                    .checked_sub(1)
                    .and_then(|vm| system().vms.get(vm));
                if let Some(vm) = vm {
                    vm.console_input(cx, byte);
                }
            });
            plic.complete(cx.local.hart.wires.plic_context, source);
            vm::notify_room(cx, room);
        }
        // Source 0: another hart's, or gone.
        Some(Route::Unused) | None => {}
    }
}
