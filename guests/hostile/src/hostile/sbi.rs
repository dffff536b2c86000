//! Every SBI function, standard, legacy, Tactus's own and undefined, with extreme arguments.
//!
//! No call may end the guest (except those defined to), change a register that it must preserve, return an error
//! that the specification does not define, or accept invalid arguments: each answer that the specification defines is
//! compared.

use core::arch::naked_asm;

use tactus_guest::{
    abi::{console, hypercall, map},
    csr, print,
    sbi::{self, HartMask},
    sbi_spec::{base, dbcn, hsm, pmu, rfnc, spi, srst, time as time_extension},
    time,
    uart::Uart,
};

use super::{progress::Progress, random::Random};

/// Extensions whose functions are called with every combination of three [`extremes`].
const STANDARD: [usize; 9] = [
    base::EID_BASE,
    time_extension::EID_TIME,
    spi::EID_SPI,
    rfnc::EID_RFNC,
    hsm::EID_HSM,
    srst::EID_SRST,
    dbcn::EID_DBCN,
    pmu::EID_PMU,
    hypercall::EXTENSION,
];

/// Extensions called with a few combinations: legacy ones, those of later specifications, the edges of the ranges.
const OTHERS: [usize; 22] = [
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    9,
    0xf,
    0x11,
    0x5355_5350, // SUSP
    0x4350_5043, // CPPC
    0x4e41_434c, // NACL
    0x0053_5441, // STA
    0x0053_5345, // SSE
    0x4657_4654, // FWFT
    0x4442_5452, // DBTR
    0x0800_0000, // experimental
    0x0900_0000, // vendor
    0x0a00_0000, // firmware
    usize::MAX,
];

/// The legacy extensions, which have no functions and answer in a0 alone.
const LEGACY: core::ops::RangeInclusive<usize> = 0..=8;

/// Functions of a [`STANDARD`] extension called with every combination; the others up to [`FUNCTIONS`] with a few.
const FUNCTIONS_FULL: u64 = 8;
/// Number of functions tried per extension.
const FUNCTIONS: u64 = 64;
/// Calls per function that is called with a few combinations.
const FEW: u64 = 20;
/// Calls with random extension, function and arguments.
const RANDOM: u64 = 5000;

/// Extreme values of an argument.
fn extremes(memory: u64) -> [usize; 13] {
    let end = (map::RAM_BASE + memory) as usize;
    let base = map::RAM_BASE as usize;
    [
        0,
        1,
        3,
        usize::MAX,
        isize::MIN as usize,
        isize::MAX as usize,
        base,
        base - 8,
        end - 8,
        end,
        base + 0x10_0001,
        0xffff_ffff,
        (1 << 63) | base,
    ]
}

/// A call of the SBI.
#[derive(Clone, Copy, Debug)]
struct Call {
    extension: usize,
    function: usize,
    arguments: [usize; 6],
}

/// Returns call number `number`.
fn call(number: u64, extremes: &[usize; 13]) -> Option<Call> {
    let mut number = number;
    let values = extremes.len() as u64;
    let combinations = values * values * values;
    let full = STANDARD.len() as u64 * FUNCTIONS_FULL * combinations;
    let pick = |n: u64| extremes[(n % values) as usize];
    if number < full {
        let combination = number % combinations;
        let pair = number / combinations;
        let (a, b, c) = (
            pick(combination),
            pick(combination / values),
            pick(combination / values / values),
        );
        return Some(Call {
            extension: STANDARD[(pair / FUNCTIONS_FULL) as usize],
            function: (pair % FUNCTIONS_FULL) as usize,
            arguments: [a, b, c, a, b, c],
        });
    }
    number -= full;
    let pairs = (STANDARD.len() + OTHERS.len()) as u64 * FUNCTIONS;
    let mut random = Random::new(number);
    if number < pairs * FEW {
        let pair = number / FEW;
        let index = (pair / FUNCTIONS) as usize;
        let extension = match index.checked_sub(STANDARD.len()) {
            None => STANDARD[index],
            Some(index) => OTHERS[index],
        };
        return Some(Call {
            extension,
            function: (pair % FUNCTIONS) as usize,
            arguments: core::array::from_fn(|_| random.choose(extremes)),
        });
    }
    number -= pairs * FEW;
    (number < RANDOM).then(|| Call {
        extension: match random.next() % 4 {
            0 => random.next() as usize,
            1 => random.next() as u32 as usize,
            2 => random.choose(&STANDARD),
            _ => random.choose(&OTHERS),
        },
        function: (random.next() >> (random.next() % 64)) as usize,
        arguments: core::array::from_fn(|_| random.next() as usize),
    })
}

/// Whether the call may validly end the guest or stop its hart; `reboot` tries those.
fn ends_the_guest(call: &Call) -> bool {
    match call.extension {
        8 => true,
        srst::EID_SRST => call.function == 0 && call.arguments[0] as u32 <= 2,
        hsm::EID_HSM => call.function == hsm::HART_STOP,
        _ => false,
    }
}

/// Whether the call overwrites the program in this guest's memory.
fn overwrites_the_program(call: &Call) -> bool {
    call.extension == dbcn::EID_DBCN && call.function == dbcn::CONSOLE_READ
}

/// Makes all calls.
pub fn attack(progress: Progress, memory: u64) {
    if progress.boots() == 1 {
        imitate_the_watcher();
    }
    let extremes = extremes(memory);
    while let Some(call) = progress.next_of(|number| call(number, &extremes)) {
        if ends_the_guest(&call) {
            continue;
        }
        // Suspending waits for an interrupt, so one is scheduled.
        time::set_deadline(time::now() + 2000);
        // SAFETY: interrupts are off in `sstatus`; this one ends the wait and is not taken.
        unsafe { csr::write::<{ csr::SIE }>(csr::INTERRUPT_TIMER) };
        if overwrites_the_program(&call) && sbi::console_read(&mut [0; 64]) != Ok(0) {
            // The console has input. It is discarded: a read into the program's memory could overwrite the program.
            continue;
        }
        let answer = make(progress, &call);
        check(progress, &call, answer, memory);
        progress.through();
    }
    time::set_deadline(time::NEVER);
}

/// Prints imitations of records of the watcher and of the hypervisor. No guest may write to another guest's
/// console.
fn imitate_the_watcher() {
    let by_call = |byte: u8| {
        let arguments = [byte as usize, 0, 0, 0, 0, 0];
        // SAFETY: writes one byte to the console.
        unsafe { sbi::call_raw(dbcn::EID_DBCN, dbcn::CONSOLE_WRITE_BYTE, arguments) };
    };
    let by_legacy_call = |byte: u8| {
        // SAFETY: writes one byte to the console.
        unsafe { sbi::call_raw(1, 0, [byte as usize, 0, 0, 0, 0, 0]) };
    };
    let by_text = |byte: u8| print!("{}", byte as char);
    let by_device = |byte: u8| Uart::CONSOLE.send(byte);
    let ways: [&dyn Fn(u8); 4] = [&by_call, &by_legacy_call, &by_text, &by_device];
    for write in ways {
        // The hypervisor's log, the watcher (VM 0), an unused stream.
        for stream in [console::LOG_STREAM, 1, 31] {
            let select = [console::SELECT, console::STREAM_BASE + stream];
            let text = "\n@tactus metric name=imitated value=1 unit=count\npanic reason=imitated\n";
            for byte in select.into_iter().chain(text.bytes()) {
                write(byte);
            }
        }
        // An incomplete selection: the next byte must not be taken for its second half.
        write(console::SELECT);
    }
    print!("\n");
}

/// Makes a call, and checks that it preserves all other registers (SBI specification, "Binary Encoding").
fn make(progress: Progress, call: &Call) -> sbi::Answer {
    let mut registers: [usize; 32] =
        core::array::from_fn(|n| 0x5ca1_ab1e_0000_0000 | n << 24 | n << 8 | 0x5a);
    registers[10..16].copy_from_slice(&call.arguments);
    registers[16] = call.function;
    registers[17] = call.extension;
    let before = registers;
    // SAFETY: the caller has excluded calls that would harm the program.
    unsafe { call_with(&mut registers) };
    // Except the registers that `call_with` does not load.
    for n in (5..32).chain([1]).filter(|n| !(10..12).contains(n)) {
        if registers[n] != before[n] {
            progress.breach(format_args!(
                "x{n} went from {:#x} to {:#x} in {call:x?}",
                before[n], registers[n]
            ));
        }
    }
    sbi::Answer {
        error: registers[10] as isize,
        value: registers[11],
    }
}

/// `ecall` with x1 and x5 to x31 loaded from, and afterwards stored to, the array.
#[unsafe(naked)]
unsafe extern "C" fn call_with(registers: &mut [usize; 32]) {
    naked_asm!(
        r"
        addi    sp, sp, -128
        sd      ra, 0(sp)
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
        sd      s\n, 8 + 8 * \n(sp)
        .endr
        sd      a0, 104(sp)
        mv      x31, a0
        ld      x1, 8(x31)
        .irp    n, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        ld      x\n, (8 * \n)(x31)
        .endr
        ecall
        sd      x31, 112(sp)
        ld      x31, 104(sp)
        sd      x1, 8(x31)
        .irp    n, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
        sd      x\n, (8 * \n)(x31)
        .endr
        ld      x1, 112(sp)
        sd      x1, 248(x31)
        ld      ra, 0(sp)
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
        ld      s\n, 8 + 8 * \n(sp)
        .endr
        addi    sp, sp, 128
        ret
        ",
    )
}

const NOT_SUPPORTED: isize = -2;
const INVALID_PARAM: isize = -3;
const DENIED: isize = -4;
const INVALID_ADDRESS: isize = -5;
/// The lowest error code of SBI specification 3.0.
const ERROR_MIN: isize = -14;

/// Compares an answer with the specification, where the specification determines it.
fn check(progress: Progress, call: &Call, answer: sbi::Answer, memory: u64) {
    if LEGACY.contains(&call.extension) {
        // Legacy calls do not use a1; the other registers have been checked.
        return;
    }
    let error = answer.error;
    let [a0, a1, a2, ..] = call.arguments;
    let expected: Option<&[isize]> = if !sbi::probe(call.extension) {
        Some(&[NOT_SUPPORTED])
    } else {
        match (call.extension, call.function) {
            (base::EID_BASE, 0..=6) => Some(&[0]),
            (base::EID_BASE | time_extension::EID_TIME | spi::EID_SPI, 7..) => {
                Some(&[NOT_SUPPORTED])
            }
            (time_extension::EID_TIME, 0) => Some(&[0]),
            (spi::EID_SPI, 0) | (rfnc::EID_RFNC, 0..=2) => harts(HartMask { mask: a0, base: a1 }),
            (hsm::EID_HSM, hsm::HART_START | hsm::HART_GET_STATUS) if a0 != 0 => {
                Some(&[INVALID_PARAM])
            }
            (hsm::EID_HSM, hsm::HART_GET_STATUS) => Some(&[0]),
            (srst::EID_SRST, 0) => Some(&[INVALID_PARAM, NOT_SUPPORTED]),
            (dbcn::EID_DBCN, dbcn::CONSOLE_WRITE | dbcn::CONSOLE_READ) => {
                buffer(a0, a1, a2, memory)
            }
            (dbcn::EID_DBCN, dbcn::CONSOLE_WRITE_BYTE) => Some(&[0]),
            (hypercall::EXTENSION, hypercall::CHANNEL_NOTIFY) if a0 > 0 => Some(&[INVALID_PARAM]),
            (hypercall::EXTENSION, hypercall::VM_STATUS | hypercall::VM_RESTART) if a0 > 32 => {
                Some(&[INVALID_PARAM])
            }
            // This guest is no device manager, if there can be one.
            (hypercall::EXTENSION, hypercall::ACCELERATOR_REQUESTS) => {
                Some(&[DENIED, NOT_SUPPORTED])
            }
            // The watcher.
            (hypercall::EXTENSION, hypercall::VM_STATUS | hypercall::VM_RESTART) if a0 == 0 => {
                Some(&[DENIED])
            }
            (_, 20..) => Some(&[NOT_SUPPORTED]),
            _ => None,
        }
    };
    let right = match expected {
        Some(expected) => expected.contains(&error),
        None => (ERROR_MIN..=0).contains(&error),
    };
    if !right {
        progress.breach(format_args!(
            "{call:x?} answered {error}, expected {:?}",
            expected.unwrap_or(&[])
        ));
    }
}

/// Valid answers to a hart mask in a VM of one vCPU.
fn harts(named: HartMask) -> Option<&'static [isize]> {
    if named.base == usize::MAX {
        return Some(&[0, INVALID_ADDRESS]);
    }
    match (named.mask, named.base) {
        // The specification does not define an empty mask with an invalid base.
        (0, _) => None,
        (1, 0) => Some(&[0, INVALID_ADDRESS]),
        _ => Some(&[INVALID_PARAM]),
    }
}

/// Valid answers to a console call with a buffer of `size` bytes.
fn buffer(size: usize, low: usize, high: usize, memory: u64) -> Option<&'static [isize]> {
    if size == 0 {
        return None;
    }
    let start = low.wrapping_sub(map::RAM_BASE as usize);
    let fits = high == 0 && start < memory as usize && size <= memory as usize - start;
    Some(if fits { &[0] } else { &[INVALID_PARAM] })
}
