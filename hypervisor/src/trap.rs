//! A guest has trapped: from the cause to the module that serves it.

use crate::arch;
use crate::arch::context::{self, Context, Exception, cause};
use crate::devices;
use crate::hart::Hart;
use crate::interrupt;
use crate::sbi;
use crate::sched;
use crate::vcpu::{State, Vcpu, Wait};

/// `wfi`, as `stval` shows it.
const WFI: u64 = 0x1050_0073;

/// Serves a trap of the current vCPU. Returns its context, or null when it may have to leave the hart.
///
/// For calls and interrupts only the registers a function call destroys are in the context; for
/// other exceptions all are.
pub extern "C" fn trap(vcpu: &'static Vcpu, scause: u64) -> *const Context {
    let hart = vcpu.hart();
    if scause == cause::ECALL_VS {
        context::skip_instruction(4);
        sbi::call(hart, vcpu);
    } else if scause & cause::INTERRUPT != 0 {
        interrupt::handle(hart);
    } else if scause == cause::VIRTUAL_INSTRUCTION {
        virtual_instruction(vcpu);
    } else {
        exception(hart, vcpu, &Exception::read(scause));
    }
    if sched::must_leave(hart) || vcpu.state() != State::Running {
        return core::ptr::null();
    }
    // Safety: the vCPU runs on this hart, no other reference in use.
    unsafe { &raw const vcpu.body().context }
}

/// An instruction that only exists, or only works, below the guest.
fn virtual_instruction(vcpu: &'static Vcpu) {
    let exception = Exception::read(cause::VIRTUAL_INSTRUCTION);
    let bits = match exception.value {
        // Hardware need not tell.
        0 => arch::fetch_guest_instruction(exception.pc).map_or(0, u64::from),
        bits => bits,
    };
    if bits == WFI && exception.supervisor {
        context::skip_instruction(4);
        if !context::guest_interrupt_pending() {
            sched::wait(vcpu, Wait::Interrupt);
        }
    } else {
        // The guest's machine has no hypervisor extension.
        context::inject(cause::ILLEGAL_INSTRUCTION, bits);
    }
}

fn exception(hart: &'static Hart, vcpu: &'static Vcpu, exception: &Exception) {
    match exception.cause {
        cause::FETCH_GUEST_PAGE | cause::LOAD_GUEST_PAGE | cause::STORE_GUEST_PAGE => {
            guest_page_fault(hart, vcpu, exception);
        }
        cause::ILLEGAL_INSTRUCTION if !context::fpu_is_loaded() => {
            // Perhaps only because of that; if not, it is the guest's own exception next time.
            // Safety: the vCPU runs on this hart, no other reference in use.
            let (local, body) = unsafe { (hart.local(), vcpu.body()) };
            body.context.load_fpu();
            body.fpu_on = hart.index + 1;
            local.fpu_owner = Some(vcpu.handle);
            if body.livelock.watched() {
                context::delegate(true, true);
            }
        }
        _ => delivered_by_hand(hart, vcpu, exception),
    }
}

/// An exception that the guest would have taken without the hypervisor, were it not watched.
fn delivered_by_hand(hart: &'static Hart, vcpu: &'static Vcpu, exception: &Exception) {
    // Safety: the vCPU runs on this hart, no other reference in use.
    let body = unsafe { vcpu.body() };
    if exception.supervisor {
        let digest = digest(&body.context, exception);
        if body.livelock.exception(digest) {
            vcpu.vm().fault(hart, vcpu, "trap-loop", exception);
            return;
        }
    }
    context::inject(exception.cause, exception.value);
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
    let owner = devices::at(vcpu.vm(), exception.guest_address);
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
            context::inject(access_fault, exception.value);
            return;
        }
        (None, cause::FETCH_GUEST_PAGE) => "fetch-outside",
        (None, cause::LOAD_GUEST_PAGE) => "load-outside",
        (None, _) => "store-outside",
    };
    vcpu.vm().fault(hart, vcpu, why, exception);
}
