//! Interrupts that reach the hypervisor: from other harts, from the timer, from devices.

#[cfg(feature = "accelerators")]
use crate::accelerators;
use crate::arch::{self, csr};
use crate::console;
use crate::dispatch::{aftermath, tick};
use crate::hart::Hart;
use crate::hart::context::HartCtx;
use crate::plic::priority;
use crate::sched::{run_queue, signals};
use crate::system::{Route, system};
use crate::vm::Vcpu;
use crate::vm::devices;
use tactus_abi::blob::Class;
use tactus_abi::map;

/// Sets up a hart's part of the interrupt controller: the sources routed to it.
pub fn initialise_hart(hart: &Hart) {
    let Some(plic) = system().plic else { return };
    plic.reset_context(hart.wires.plic_context, map::PLIC_SOURCES);
    for (source, route) in system().routes.iter().enumerate() {
        let (context, source_priority) = match *route {
            Route::Unused => continue,
            Route::Console if !serves_console(hart) => continue,
            Route::Console => (hart.wires.plic_context, priority::BEST_EFFORT),
            #[cfg(feature = "accelerators")]
            Route::Allocator if !serves_console(hart) => continue,
            #[cfg(feature = "accelerators")]
            Route::Allocator => (hart.wires.plic_context, priority::BEST_EFFORT),
            Route::Vm(vm, context) => {
                let vcpus = system().vms[vm].vcpus();
                let real_time = vcpus.iter().any(|vcpu| vcpu.class == Class::RealTime);
                let of_vm = if real_time && system().is_separated() {
                    priority::REAL_TIME
                } else {
                    priority::BEST_EFFORT
                };
                (context, of_vm)
            }
        };
        if context == hart.wires.plic_context {
            plic.enable(context, source as u32, source_priority);
        }
    }
}

/// Whether the hart is among those that the console and the region allocator interrupt: the first without real-time
/// vCPUs, or, if each has some, all; who is free first serves it.
fn serves_console(hart: &Hart) -> bool {
    let free = |hart: &&Hart| {
        let real_time = |vcpu: &&Vcpu| vcpu.class == Class::RealTime;
        let mut vcpus = system().vcpus.iter().filter(real_time);
        !vcpus.any(|vcpu| vcpu.harts >> hart.index & 1 != 0)
    };
    let first = system().harts.iter().find(free);
    first.is_none_or(|first| first.index == hart.index)
}

/// Serves the interrupts that are `pending` ([`crate::arch::pending_interrupts`]), one of each kind; the current vCPU
/// may have to leave the hart afterwards.
#[inline(never)]
pub fn handle(cx: &mut HartCtx, pending: u64) {
    let mut from = arch::now();
    if pending & csr::STI != 0 {
        tick::serve_due_at(cx, from);
        from = arch::now();
        // Nothing of a best-effort vCPU's holds up a real-time one that takes the hart now.
        if cx.local.next.is_some() && !cx.local.hart.has_urgent_news() {
            return;
        }
    }
    if pending & csr::SSI != 0 {
        handle_ipi(cx, from);
    }
    // It stays pending; but when a real-time vCPU gets the hart now, it may have to wait for that.
    if pending & csr::SEI != 0 && !cx.local.needs_resched {
        external(cx);
    }
}

/// Serves one source; if more wait, the interrupt stays pending.
#[unsafe(export_name = "tactus_external")]
#[inline(never)]
extern "C" fn external(cx: &mut HartCtx) {
    let Some(plic) = system().plic else { return };
    let from = arch::now();
    let source = plic.claim(cx.local.hart.wires.plic_context);
    match system().routes.get(source as usize) {
        Some(Route::Vm(vm, _)) => {
            system().vms[*vm].physical_interrupt(cx, source);
            if cx.local.current.is_some_and(|vcpu| vcpu.vm.index != *vm) {
                cx.local.timer.credit_counted(from, 1);
            }
        }
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
            devices::notify_room(cx, room);
        }
        #[cfg(feature = "accelerators")]
        Some(Route::Allocator) => {
            accelerators::interrupt(cx);
            plic.complete(cx.local.hart.wires.plic_context, source);
        }
        // Source 0: another hart's, or gone.
        Some(Route::Unused) | None => {}
    }
}

/// Serves an interrupt from another hart, since that time.
#[inline(never)]
pub fn handle_ipi(cx: &mut HartCtx, from: u64) {
    arch::clear_software_interrupt();
    // What is passed or posted from now on raises another interrupt.
    if let Some(doorbell) = cx.local.hart.take_doorbell() {
        doorbell.deliver(cx);
    }
    handle_posts_and_offers(cx);
    cx.local.credit_interrupts(from);
}

/// Serves what other harts have sent here, doorbells apart.
#[inline(never)]
pub fn handle_posts_and_offers(cx: &mut HartCtx) {
    signals::handle_posts(cx);
    aftermath::conclude(cx);
    if cx.local.hart.take_offer() {
        run_queue::consider_offer(cx);
    }
}
