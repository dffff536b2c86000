//! A guest has trapped: from the cause to the module that serves it.

use crate::arch::context::{self, Exception, cause};
use crate::arch::{self, csr};
use crate::devices;
use crate::dispatch::look::{self, go_on};
use crate::dispatch::{self, ahead, tick};
use crate::exception;
use crate::exit::{Exit, NextContext};
use crate::hart::context::HartCtx;
use crate::interrupt;
use crate::migration;
use crate::sched::{block, fpu};
use crate::vm::{Doorbell, Vcpu};
use core::hint::cold_path;
use tactus_abi::map;

/// `wfi`, as `stval` shows it.
const WFI: u64 = 0x1050_0073;
/// `sret`.
const SRET: u64 = 0x1020_0073;

/// An interrupt for the hypervisor. Like all handlers says whether the current vCPU's guest goes on.
///
/// Fast path: a doorbell for the vCPU that runs here. It calls nothing, so that it needs no stack; all else is done by
/// functions that it ends with.
#[unsafe(export_name = "tactus_interrupt")]
#[unsafe(link_section = ".text.interrupt")]
pub extern "C" fn interrupt(vcpu: &'static Vcpu) -> Exit {
    // Safety: the entry code's call for a trap (protocol H1).
    let cx = unsafe { HartCtx::of_trapped(vcpu) };
    // Time for others is measured where there is a budget to credit it to.
    if (arch::pending_interrupts() != csr::SSI)
        | cx.local.timer.has_budget()
        | ahead::is_guarded(&cx.local)
    {
        cold_path();
        return other_interrupt(cx, vcpu);
    }
    arch::clear_software_interrupt();
    // What is passed or posted from now on raises another interrupt.
    if let Some(doorbell) = cx.local.hart.take_doorbell()
        && !doorbell.deliver_to_current(vcpu)
    {
        cold_path();
        return deliver(cx, vcpu, doorbell);
    }
    if cx.local.hart.has_posts_or_offers() | cx.local.hart.is_user_only() {
        cold_path();
        return handle_posts(cx, vcpu);
    }
    look::go_on(cx, vcpu)
}

/// As [`interrupt`], for whatever is pending.
#[inline(never)]
fn other_interrupt(cx: &mut HartCtx, vcpu: &'static Vcpu) -> Exit {
    if ahead::comes_first(cx) {
        return Exit::leave();
    }
    interrupt::handle(cx, arch::pending_interrupts());
    end_interrupt(cx, vcpu)
}

/// As [`interrupt`], for a doorbell that is not for the vCPU that runs here, or not for certain.
#[inline(never)]
fn deliver(cx: &mut HartCtx, vcpu: &'static Vcpu, doorbell: &Doorbell) -> Exit {
    doorbell.deliver(cx);
    handle_posts(cx, vcpu)
}

/// As [`interrupt`], for what other harts have sent apart from doorbells.
#[inline(never)]
fn handle_posts(cx: &mut HartCtx, vcpu: &'static Vcpu) -> Exit {
    interrupt::handle_posts_and_offers(cx);
    end_interrupt(cx, vcpu)
}

fn end_interrupt(cx: &mut HartCtx, vcpu: &'static Vcpu) -> Exit {
    if cx.local.hart.is_user_only() {
        migration::trapped(cx, vcpu);
    }
    look::go_on(cx, vcpu)
}

/// The hart's timer has interrupted the vCPU, all of whose registers are saved.
#[unsafe(export_name = "tactus_timer")]
pub extern "C" fn timer(vcpu: &'static Vcpu) -> NextContext {
    // Safety: as for `interrupt`.
    let cx = unsafe { HartCtx::of_trapped(vcpu) };
    let now = arch::now();
    match tick::pop_due_release(cx, now) {
        Some(next) => dispatch::preempt(cx, vcpu, next, now),
        None => serve_timer(cx, vcpu, now),
    }
}

/// As [`timer`], whatever there is to serve.
#[inline(never)]
extern "C" fn serve_timer(cx: &mut HartCtx, vcpu: &'static Vcpu, now: u64) -> NextContext {
    if ahead::comes_first_at(cx, now) {
        return dispatch::schedule_at(cx, vcpu, now);
    }
    tick::serve_due_at(cx, now);
    if cx.local.hart.is_user_only() {
        migration::trapped(cx, vcpu);
    }
    if cx.local.needs_resched {
        return dispatch::schedule_at(cx, vcpu, now);
    }
    NextContext::enter(&mut cx.local, vcpu)
}

/// What became of a trap whose most frequent causes are served with few registers saved ([`doorbell`],
/// [`virtual_instruction`]): an exit as of all handlers, and whether it is served; otherwise [`exception`] is to serve
/// it.
#[repr(C)]
pub struct Outcome(Exit, bool);

/// A store without memory behind it: when it rings a doorbell, that is done at once. Of the registers only those that a
/// function call destroys are in the context. Like [`interrupt`] it needs no stack on its fast path.
#[unsafe(export_name = "tactus_doorbell")]
#[unsafe(link_section = ".text.doorbell")]
pub extern "C" fn doorbell(vcpu: &'static Vcpu) -> Outcome {
    // Safety: as for `interrupt`.
    let cx = unsafe { HartCtx::of_trapped(vcpu) };
    let offset = |address: u64| address.wrapping_sub(map::DOORBELL_BASE);
    match context::stored_word() {
        Some((address, length)) if offset(address) & !(map::PAGE_SIZE - 4) == 0 => {
            context::skip_instruction(length);
            // A doorbell that does not exist rings nowhere.
            let doorbell = vcpu.vm.doorbells().get((offset(address) / 4) as usize);
            if let Some(left) = doorbell.and_then(|doorbell| doorbell.pass(cx)) {
                cold_path();
                return ring_here(cx, vcpu, left);
            }
            match look::go_on_unless_due(cx, vcpu) {
                Some(exit) => Outcome(exit, true),
                None => serve_due_after_doorbell(cx, vcpu),
            }
        }
        _ => Outcome(Exit::leave(), false),
    }
}

/// As [`doorbell`], for one that is delivered on this hart.
#[inline(never)]
fn ring_here(cx: &mut HartCtx, vcpu: &'static Vcpu, doorbell: &Doorbell) -> Outcome {
    doorbell.deliver_here(cx);
    Outcome(look::go_on(cx, vcpu), true)
}

/// As [`doorbell`], when the timer has become due meanwhile.
#[inline(never)]
fn serve_due_after_doorbell(cx: &mut HartCtx, vcpu: &'static Vcpu) -> Outcome {
    Outcome(look::serve_due_and_go_on(cx, vcpu), true)
}

/// An exception but for calls, and what others have left to it ([`Outcome`]). All registers are in the context.
#[unsafe(export_name = "tactus_exception")]
pub extern "C" fn exception(vcpu: &'static Vcpu, scause: u64) -> Exit {
    if !context::trapped_from_guest() {
        crate::defect("the hypervisor itself trapped");
    }
    // Safety: as for `interrupt`.
    let cx = unsafe { HartCtx::of_trapped(vcpu) };
    let mut exception = Exception::read(scause);
    match scause {
        cause::FETCH_GUEST_PAGE | cause::LOAD_GUEST_PAGE | cause::STORE_GUEST_PAGE => {
            guest_page_fault(cx, vcpu, &exception);
        }
        // If it was not for that, the exception is the guest's own next time.
        // It has come by way of the firmware, which takes its time.
        cause::ILLEGAL_INSTRUCTION if !context::fpu_is_loaded() => {
            if look::may_begin(cx) {
                fpu::give(cx, vcpu);
            }
        }
        // The guest's machine has no hypervisor extension.
        cause::VIRTUAL_INSTRUCTION => {
            exception.value = virtual_instruction_bits();
            exception::deliver(cx, vcpu, &exception, cause::ILLEGAL_INSTRUCTION);
        }
        // One that the guest would have taken without the hypervisor, were it not watched.
        _ => exception::deliver(cx, vcpu, &exception, scause),
    }
    if cx.local.hart.is_user_only() {
        migration::trapped(cx, vcpu);
    }
    go_on(cx, vcpu)
}

/// An instruction that only exists, or only works, below the guest: most often one that gives up the hart. Of the
/// registers only those that a function call destroys are in the context.
#[unsafe(export_name = "tactus_virtual_instruction")]
pub extern "C" fn virtual_instruction(vcpu: &'static Vcpu) -> Outcome {
    // Safety: as for `interrupt`.
    let cx = unsafe { HartCtx::of_trapped(vcpu) };
    let bits = virtual_instruction_bits();
    if !context::at_supervisor_level() {
        return Outcome(Exit::leave(), false);
    }
    match bits {
        WFI => {
            context::skip_instruction(4);
            block::wait_for_interrupt(cx, vcpu);
        }
        SRET => return_from_trap(cx, vcpu),
        _ => return Outcome(Exit::leave(), false),
    }
    if cx.local.hart.is_user_only() {
        migration::trapped(cx, vcpu);
    }
    Outcome(go_on(cx, vcpu), true)
}

/// The instruction that has trapped as a virtual one.
#[inline(always)]
fn virtual_instruction_bits() -> u64 {
    match context::trap_value() {
        // Hardware need not tell.
        0 => arch::fetch_guest_instruction(context::trap_pc()).map_or(0, u64::from),
        bits => bits,
    }
}

/// The guest's kernel returns from a trap, while these returns come here.
#[cold]
fn return_from_trap(cx: &mut HartCtx, vcpu: &'static Vcpu) {
    let livelock = &mut cx.bodies.of(vcpu).livelock;
    if livelock.is_watched() {
        // Now it does what it was about to do.
        livelock.record_trap_return();
        context::watch(false);
    } else {
        migration::returns(cx);
    }
}

/// An address without memory behind it: a virtual device's, or not the guest's at all.
fn guest_page_fault(cx: &mut HartCtx, vcpu: &'static Vcpu, exception: &Exception) {
    /// Pseudoinstructions: the fault lies in the guest's own page tables.
    const WALKS: [u64; 4] = [0x2000, 0x2020, 0x3000, 0x3020];
    let fetch = exception.cause == cause::FETCH_GUEST_PAGE;
    let owner = devices::at(vcpu.vm, exception.guest_address);
    let why = match (owner, exception.cause) {
        (Some(device), _) if !fetch && !WALKS.contains(&exception.instruction) => {
            // A look halfway: if the vCPU has to leave the hart first, it makes the access again.
            if look::may_begin(cx) {
                devices::access(cx, vcpu, exception, device);
            }
            return;
        }
        // Its own device, used as memory: the bus says no.
        (Some(_), code) => {
            let access_fault = match code {
                cause::FETCH_GUEST_PAGE => cause::FETCH_ACCESS,
                cause::LOAD_GUEST_PAGE => cause::LOAD_ACCESS,
                _ => cause::STORE_ACCESS,
            };
            exception::deliver(cx, vcpu, exception, access_fault);
            return;
        }
        (None, cause::FETCH_GUEST_PAGE) => "fetch-outside",
        (None, cause::LOAD_GUEST_PAGE) => "load-outside",
        (None, _) => "store-outside",
    };
    // If the vCPU has to leave the hart first, it does the same again when it has one.
    if look::may_begin(cx) {
        exception::fault(cx, vcpu, why, exception);
    }
}
