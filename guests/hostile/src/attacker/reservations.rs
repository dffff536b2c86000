//! Reservations: real-time vCPUs are created, changed and deleted, with times from sensible to absurd.

use core::arch::naked_asm;

use tactus_guest::{
    abi::{
        blob::limit,
        hypercall::{EXTENSION, RT_CHANGE, RT_CREATE, RT_DELETE, RT_QUERY, RT_YIELD, RtStatus},
    },
    sbi::call_raw,
};

use super::{Attacker, memory};

/// Numbers of vCPUs that are tried.
const NUMBERS: usize = 6;
/// Calls of one step.
const CALLS: usize = 4;

/// Never yields.
#[unsafe(naked)]
extern "C" fn spin() -> ! {
    naked_asm!("0: j 0b")
}

/// Yields, which ends its job, again and again.
#[unsafe(naked)]
extern "C" fn hasten() -> ! {
    naked_asm!(
        "0: li  a7, {extension}",
        "   li  a6, {yield}",
        "   ecall",
        "   j   0b",
        extension = const EXTENSION,
        yield = const RT_YIELD,
    )
}

/// Waits for an interrupt that never arrives.
#[unsafe(naked)]
extern "C" fn doze() -> ! {
    naked_asm!("0: wfi", "   j 0b")
}

const PROGRAMS: [extern "C" fn() -> !; 3] = [spin, hasten, doze];

/// A call of Tactus's extension; any answer is accepted.
fn call(function: usize, arguments: [usize; 6]) -> usize {
    // SAFETY: the calls write to the scratch memory at most; the vCPUs that they create run code of this module.
    unsafe { call_raw(EXTENSION, function, arguments) }.value
}

/// A random time: mostly some hundred microseconds, sometimes any value.
fn ticks(attacker: &mut Attacker) -> usize {
    let hundred_us = attacker.rights.hz / 10_000;
    match attacker.below(8) {
        0 => attacker.random.next() as usize,
        1 => 1 + attacker.below(8),
        2 => limit::PERIOD_TICKS as usize,
        _ => 1 + attacker.below(20 * hundred_us),
    }
}

/// Creates one with a small reservation, changes it, deletes it; then some calls with any arguments.
pub fn churn(attacker: &mut Attacker) {
    let entry = |program: extern "C" fn() -> !| program as *const () as usize;
    let period = attacker.rights.hz / 10;
    let [budget, deadline] = [100, period];
    let number = call(RT_CREATE, [entry(doze), 0, 0, period, budget, deadline]);
    for budget in [50, 100] {
        call(RT_CHANGE, [number, period, budget, deadline, 0, 0]);
    }
    call(RT_DELETE, [number, 0, 0, 0, 0, 0]);
    for _ in 0..CALLS {
        let number = attacker.below(NUMBERS);
        let mut times = [ticks(attacker), ticks(attacker), ticks(attacker)];
        if !attacker.once_in(8) {
            times.sort_unstable();
            times.reverse();
            times.swap(1, 2);
            // A small budget is admitted more often.
            times[1] = (times[1] >> attacker.below(6)).max(1);
        }
        let [period, budget, deadline] = times;
        match attacker.below(4) {
            0 => {
                let program = entry(attacker.random.choose(&PROGRAMS));
                call(RT_CREATE, [program, 0, 0, period, budget, deadline]);
            }
            1 => {
                call(RT_CHANGE, [number, period, budget, deadline, 0, 0]);
            }
            2 => {
                let size = size_of::<RtStatus>();
                call(RT_QUERY, [number, memory::scratch(), size, 0, 0, 0]);
            }
            _ => {
                call(RT_DELETE, [number, 0, 0, 0, 0, 0]);
            }
        }
    }
}
