//! Reservations: real-time vCPUs are created, changed and deleted, with times from sensible to absurd.

use tactus_guest::{
    abi::hypercall::{EXTENSION, RT_CHANGE, RT_CREATE, RT_DELETE, RT_QUERY, RtStatus},
    sbi::call_raw,
};
use tactus_guest_hostile::reservations::{doze, hasten, spin, times};

use super::{Attacker, memory};

/// Numbers of vCPUs that are tried.
const NUMBERS: usize = 6;
/// Calls of one step.
const CALLS: usize = 4;

const PROGRAMS: [extern "C" fn() -> !; 3] = [spin, hasten, doze];

/// A call of Tactus's extension; any answer is accepted.
fn call(function: usize, arguments: [usize; 6]) -> usize {
    // SAFETY: the calls write to the scratch memory at most; the vCPUs that they create run code that stores nothing.
    unsafe { call_raw(EXTENSION, function, arguments) }.value
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
        let [period, budget, deadline] = times(&mut attacker.random, attacker.rights.hz as u64);
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
