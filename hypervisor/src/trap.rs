//! A guest has trapped: from the cause to the module that serves it.

use crate::arch::context::{self, Context, Exception, cause};
use crate::arch::{self, csr};
use crate::devices;
use crate::exit::{Exit, NextContext};
use crate::hart::Hart;
use crate::interrupt;
use crate::migration;
use crate::sched;
use crate::vcpu::{State, Vcpu};
use core::hint::cold_path;
use tactus_abi::map;
use tactus_policy::livelock::Verdict;

/// `wfi`, as `stval` shows it.
const WFI: u64 = 0x1050_0073;
/// `sret`.
const SRET: u64 = 0x1020_0073;

/// An interrupt for the hypervisor. Like all handlers says whether the current vCPU's guest goes on.
#[unsafe(link_section = ".text.doorbell")]
pub extern "C" fn interrupt(vcpu: &'static Vcpu) -> Exit {
    let pending = arch::pending_interrupts();
    let hart = vcpu.hart();
    // Most often a doorbell.
    if pending == csr::SSI {
        sched::handle_ipi_inlined(hart);
    } else {
        cold_path();
        interrupt::handle(hart, pending);
    }
    if hart.is_user_only() {
        migration::trapped(hart, vcpu);
    }
    go_on(hart, vcpu)
}

/// The hart's timer has interrupted the vCPU, all of whose registers are saved.
pub extern "C" fn timer(vcpu: &'static Vcpu) -> NextContext {
    let hart = vcpu.hart();
    let now = arch::now();
    match sched::pop_due_release(hart, now) {
        Some(next) => sched::preempt(hart, vcpu, next, now),
        None => serve_timer(hart, vcpu, now),
    }
}

/// As [`timer`], whatever there is to serve.
#[inline(never)]
fn serve_timer(hart: &'static Hart, vcpu: &'static Vcpu, now: u64) -> NextContext {
    sched::serve_due_at(hart, now);
    if hart.is_user_only() {
        migration::trapped(hart, vcpu);
    }
    if sched::needs_resched(hart) {
        return NextContext::leave(vcpu);
    }
    // Safety: on this hart, which runs the vCPU; no other reference in use.
    let (local, body) = unsafe { (hart.local(), vcpu.body()) };
    NextContext::enter(local, body)
}

/// What became of a store: [`doorbell`].
#[repr(C)]
pub struct Doorbell {
    /// As of all handlers.
    exit: Exit,
    /// It was a doorbell's.
    rung: bool,
}

/// A store without memory behind it: when it rings a doorbell, that is done at once. Of the registers only those that a
/// function call destroys are in the context.
#[unsafe(link_section = ".text.doorbell")]
pub extern "C" fn doorbell(vcpu: &'static Vcpu) -> Doorbell {
    let hart = vcpu.hart();
    let offset = |address: u64| address.wrapping_sub(map::DOORBELL_BASE);
    match context::stored_word() {
        Some((address, length)) if offset(address) & !(map::PAGE_SIZE - 4) == 0 => {
            // A doorbell that does not exist rings nowhere.
            let _ = devices::ring(hart, vcpu.vm, offset(address) / 4);
            context::skip_instruction(length);
            Doorbell {
                exit: go_on(hart, vcpu),
                rung: true,
            }
        }
        _ => Doorbell {
            exit: Exit::leave(),
            rung: false,
        },
    }
}

/// An exception but for calls and virtual instructions. All registers are in the context.
pub extern "C" fn exception(vcpu: &'static Vcpu, scause: u64) -> Exit {
    if !context::trapped_from_guest() {
        crate::defect("the hypervisor itself trapped");
    }
    let hart = vcpu.hart();
    let exception = Exception::read(scause);
    match scause {
        cause::FETCH_GUEST_PAGE | cause::LOAD_GUEST_PAGE | cause::STORE_GUEST_PAGE => {
            guest_page_fault(hart, vcpu, &exception);
        }
        // If it was not for that, the exception is the guest's own next time.
        // It has come by way of the firmware, which takes its time.
        cause::ILLEGAL_INSTRUCTION if !context::fpu_is_loaded() => {
            if sched::may_continue(hart) {
                sched::give_fpu(hart, vcpu);
            }
        }
        // One that the guest would have taken without the hypervisor, were it not watched.
        _ => deliver(hart, vcpu, &exception, scause),
    }
    if hart.is_user_only() {
        migration::trapped(hart, vcpu);
    }
    go_on(hart, vcpu)
}

/// An instruction that only exists, or only works, below the guest: most often one that gives up the hart. Of the registers only those that a
/// function call destroys are in the context.
pub extern "C" fn virtual_instruction(vcpu: &'static Vcpu) -> Exit {
    let hart = vcpu.hart();
    let bits = match context::trap_value() {
        // Hardware need not tell.
        0 => arch::fetch_guest_instruction(context::trap_pc()).map_or(0, u64::from),
        bits => bits,
    };
    let supervisor = context::at_supervisor_level();
    if bits == WFI && supervisor {
        context::skip_instruction(4);
        sched::wait_for_interrupt(vcpu);
    } else if bits == SRET && supervisor {
        return_from_trap(hart, vcpu);
    } else {
        // The guest's machine has no hypervisor extension.
        context::inject(cause::ILLEGAL_INSTRUCTION, bits);
    }
    if hart.is_user_only() {
        migration::trapped(hart, vcpu);
    }
    go_on(hart, vcpu)
}

/// The guest's kernel returns from a trap, while these returns come here.
#[cold]
fn return_from_trap(hart: &'static Hart, vcpu: &'static Vcpu) {
    // Safety: the vCPU runs on this hart, no other reference in use.
    let livelock = &mut unsafe { vcpu.body() }.livelock;
    if livelock.watched() {
        // Now it does what it was about to do.
        livelock.returned();
        context::watch(false);
    } else {
        migration::returns(hart);
    }
}

/// Goes on with the current vCPU, if the hart is still its. A timer that has become due meanwhile is served at once: entering the guest
/// first would only delay the vCPU that it wakes.
#[inline]
pub fn go_on(hart: &'static Hart, vcpu: &'static Vcpu) -> Exit {
    let leaves = || sched::needs_resched(hart) || vcpu.state_here() != State::Running;
    if leaves() {
        return Exit::leave();
    }
    // Safety: on this hart, no other reference in use.
    let dirty = unsafe { hart.local() }.timer.is_dirty();
    if dirty | arch::timer_is_due() {
        cold_path();
        if sched::poll_timer(hart) {
            sched::serve_due(hart);
        }
        if leaves() {
            return Exit::leave();
        }
    }
    // Safety: on this hart, which runs the vCPU; no other reference in use.
    let (local, body) = unsafe { (hart.local(), vcpu.body()) };
    Exit::enter(local, body)
}

/// Gives the guest an exception, unless that has led nowhere for a long time.
pub fn deliver(hart: &'static Hart, vcpu: &'static Vcpu, exception: &Exception, cause: u64) {
    if exception.supervisor {
        // Safety: the vCPU runs on this hart, no other reference in use.
        let body = unsafe { vcpu.body() };
        let digest = digest(&body.context, exception);
        match body.livelock.exception(digest) {
            Verdict::Deliver => {}
            Verdict::Watch => context::watch(true),
            Verdict::Livelock => {
                vcpu.vm.fault(hart, vcpu, "trap-loop", exception);
                return;
            }
        }
    }
    context::inject(cause, exception.value);
}

/// Sums up all that a trap handler could have changed (FNV-1a over doublewords).
fn digest(context: &Context, exception: &Exception) -> u64 {
    let trap = [exception.pc, exception.cause, exception.value];
    context.registers[1..]
        .iter()
        .chain(&trap)
        .fold(0xcbf2_9ce4_8422_2325, |hash, word| {
            (hash ^ word).wrapping_mul(0x0100_0000_01b3)
        })
}

/// An address without memory behind it: a virtual device's, or not the guest's at all.
fn guest_page_fault(hart: &'static Hart, vcpu: &'static Vcpu, exception: &Exception) {
    /// Pseudoinstructions: the fault lies in the guest's own page tables.
    const WALKS: [u64; 4] = [0x2000, 0x2020, 0x3000, 0x3020];
    let fetch = exception.cause == cause::FETCH_GUEST_PAGE;
    let owner = devices::at(vcpu.vm, exception.guest_address);
    let why = match (owner, exception.cause) {
        (Some(device), _) if !fetch && !WALKS.contains(&exception.instruction) => {
            devices::access(hart, vcpu, exception, device);
            return;
        }
        // Its own device, used as memory: the bus says no.
        (Some(_), code) => {
            let access_fault = match code {
                cause::FETCH_GUEST_PAGE => cause::FETCH_ACCESS,
                cause::LOAD_GUEST_PAGE => cause::LOAD_ACCESS,
                _ => cause::STORE_ACCESS,
            };
            deliver(hart, vcpu, exception, access_fault);
            return;
        }
        (None, cause::FETCH_GUEST_PAGE) => "fetch-outside",
        (None, cause::LOAD_GUEST_PAGE) => "load-outside",
        (None, _) => "store-outside",
    };
    // If the vCPU has to leave the hart first, it does the same again when it has one.
    if sched::may_continue(hart) {
        vcpu.vm.fault(hart, vcpu, why, exception);
    }
}
