//! Floods of calls: every function of the SBI and of Tactus's own extension, with arguments of every kind.

use tactus_guest::{
    abi::hypercall::{
        ACCELERATOR_REQUESTS, CALL, EXTENSION, MESSAGE_RECEIVE, MESSAGE_SEND, RT_CREATE, RT_DELETE,
    },
    hypervisor,
    sbi::{self, call_raw},
    sbi_spec::{base, dbcn, hsm, pmu, rfnc, spi, time as time_extension},
};

use super::{Attacker, memory};

/// Calls of one step.
const CALLS: usize = 16;
/// Functions of an extension that are called.
const FUNCTIONS: usize = 20;
/// Bytes of a text at most: the console is to stay readable.
const TEXT_MAX: usize = 16;
/// The longest that a call waits, in ticks.
const PATIENCE_MAX: usize = 1_000;

/// Extensions. Those that reset the machine or shut it down are an attack of their own.
const EXTENSIONS: [usize; 16] = [
    base::EID_BASE,
    time_extension::EID_TIME,
    spi::EID_SPI,
    rfnc::EID_RFNC,
    hsm::EID_HSM,
    dbcn::EID_DBCN,
    pmu::EID_PMU,
    EXTENSION,
    EXTENSION,
    EXTENSION,
    // The legacy ones without the shutdown, and what does not exist.
    0,
    2,
    4,
    6,
    0x0900_0000,
    usize::MAX,
];

/// Calls as fast as possible.
pub fn flood(attacker: &mut Attacker) {
    for _ in 0..CALLS {
        let _ = hypervisor::version();
        let _ = hypervisor::cpu_time();
        let _ = hypervisor::vm_status(attacker.below(16));
        let _ = hypervisor::vm_restart(attacker.below(16));
        let _ = sbi::spec_version();
        any(attacker);
    }
}

/// Any call.
fn any(attacker: &mut Attacker) {
    let extension = attacker.random.choose(&EXTENSIONS);
    let mut function = attacker.below(FUNCTIONS);
    let mut arguments: [usize; 6] = core::array::from_fn(|_| argument(attacker));
    match (extension, function) {
        // What starts code, and what ends or suspends the caller, belongs to other attacks.
        (EXTENSION, RT_CREATE) => function = 0,
        (EXTENSION, RT_DELETE) => arguments[0] = attacker.below(8),
        (EXTENSION, MESSAGE_SEND) => arguments[4] = attacker.below(PATIENCE_MAX),
        (EXTENSION, MESSAGE_RECEIVE) => arguments[3] = attacker.below(PATIENCE_MAX),
        (EXTENSION, ACCELERATOR_REQUESTS) => arguments[3] = 0,
        // Its reply is in registers that those of others leave alone: of it there is another attack.
        (EXTENSION, CALL) => function = 0,
        (hsm::EID_HSM, _) => function = hsm::HART_GET_STATUS,
        (dbcn::EID_DBCN, dbcn::CONSOLE_WRITE) => {
            // A text that is a lot to look for, and little to print.
            arguments[0] %= TEXT_MAX;
        }
        (dbcn::EID_DBCN, dbcn::CONSOLE_WRITE_BYTE) => function = dbcn::CONSOLE_READ,
        _ => {}
    }
    // SAFETY: calls write to the scratch memory, or to nothing of this VM's.
    unsafe { call_raw(extension, function, arguments) };
}

/// An argument: a small number, an address of the scratch memory, an extreme value, or anything.
fn argument(attacker: &mut Attacker) -> usize {
    let anything = attacker.random.next() as usize;
    match anything % 8 {
        0 => 0,
        1 | 2 => (anything >> 8) % 16,
        3 => memory::scratch() + (anything >> 8) % 4096,
        4 => memory::scratch() + (anything >> 8) % 512 * 8,
        5 => usize::MAX - (anything >> 8) % 16,
        6 => 1 << ((anything >> 8) % 64),
        // An address of the VM's own memory would be the program's.
        _ => anything | 1 << 62,
    }
}
