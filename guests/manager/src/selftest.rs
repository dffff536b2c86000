//! A manager that tries each call of management, and each reason for which one is refused.
//!
//! In its system VM 1 is managed and runs for ever, VM 2 is managed and restarts after each of its faults, and all
//! others are not managed.
#![no_std]
#![no_main]

use core::arch::global_asm;
use core::fmt::Debug;

use tactus_guest::abi::blob::limit;
use tactus_guest::abi::hypercall::EXTENSION;
use tactus_guest::abi::management::{
    CONSOLE_KEPT, CONSOLE_MAX, HELD, VM_CONSOLE, VM_COUNTERS, VM_STOP, VM_WRITE, VmCounters,
    WRITE_MAX,
};
use tactus_guest::abi::map::RAM_BASE;
use tactus_guest::management::{
    Console, managed, vm_console, vm_counters, vm_load, vm_start, vm_stop, vm_write,
};
use tactus_guest::sbi::{Error, call_raw};
use tactus_guest::{hypervisor, power, println, record, time, trap};

tactus_guest::entry!(main);

/// The VM that runs for ever, and the one that restarts.
const WORKER: usize = 1;
const CRASHER: usize = 2;
/// Where the other image is: not where an image begins, which it finds empty.
const PAYLOAD: u64 = RAM_BASE + 0x1000;
/// What it adds up: bytes at an odd address that cross pages; the sum is before them.
const SUM: u64 = RAM_BASE + 0x4000;
const PATTERN: u64 = RAM_BASE + 0x5003;
const PATTERN_SIZE: usize = 6000;
/// Times that VMs are stopped at all kinds of moments.
const ROUNDS: u64 = 200;
/// The states of the hypervisor's status.
const RUNNING: u64 = 1;
const OFF: u64 = 2;

// Another image: it finds its memory cleared, its devicetree, and what was written besides.
global_asm!(
    ".section .rodata.payload, \"a\"",
    ".balign 8",
    ".global payload_begin",
    "payload_begin:",
    "    li   t0, 0x80200000",
    "    ld   t1, (t0)",
    "    bnez t1, 9f",
    "    lwu  t1, (a1)",
    "    li   t2, 0xedfe0dd0",
    "    bne  t1, t2, 9f",
    "    li   t0, 0x80005003",
    "    li   t1, {size}",
    "    li   t2, 0",
    "1:  lbu  t3, (t0)",
    "    add  t2, t2, t3",
    "    addi t0, t0, 1",
    "    addi t1, t1, -1",
    "    bnez t1, 1b",
    "    li   t0, 0x80004000",
    "    ld   t1, (t0)",
    "    bne  t1, t2, 9f",
    "    lla  s0, 8f",
    "2:  lbu  a0, (s0)",
    "    beqz a0, 3f",
    "    li   a7, 1",
    "    li   a6, 0",
    "    ecall",
    "    addi s0, s0, 1",
    "    j    2b",
    // System reset extension: shutdown.
    "3:  li   a7, 0x53525354",
    "    li   a6, 0",
    "    li   a0, 0",
    "    li   a1, 0",
    "    ecall",
    "9:  unimp",
    "8:  .asciz \"another image\\n\"",
    ".balign 8",
    ".global payload_end",
    "payload_end:",
    size = const PATTERN_SIZE,
);

unsafe extern "C" {
    static payload_begin: u8;
    static payload_end: u8;
}

fn payload() -> &'static [u8] {
    let (begin, end) = (&raw const payload_begin, &raw const payload_end);
    // SAFETY: the assembly above, of which both are a part.
    unsafe { core::slice::from_raw_parts(begin, end.offset_from_unsigned(begin)) }
}

/// Ends the test if something is not as it should be.
#[track_caller]
fn expect<T: PartialEq + Debug>(found: T, expected: T) {
    assert_eq!(found, expected);
}

fn raw(function: usize, arguments: [usize; 4]) -> Result<usize, Error> {
    let [a0, a1, a2, a3] = arguments;
    // SAFETY: these calls write at most to a buffer that nothing else uses.
    unsafe { call_raw(EXTENSION, function, [a0, a1, a2, a3, 0, 0]) }.result()
}

fn status(vm: usize) -> u64 {
    vm_counters(vm).expect("it is managed").status & 0xff
}

/// Waits until a VM is in one of the states; which one.
#[track_caller]
fn wait_for(vm: usize, states: &[u64]) -> u64 {
    let end = time::now() + 5 * time::hz();
    loop {
        let state = status(vm);
        if states.contains(&state) {
            return state;
        }
        assert!(
            time::now() < end,
            "VM {vm} is in state {state}, not in one of {states:?}"
        );
        sleep(time::hz() / 10_000);
    }
}

fn sleep(ticks: u64) {
    let until = time::now() + ticks;
    time::set_deadline(until);
    while time::now() < until {
        trap::wait_for_interrupt();
    }
    time::set_deadline(time::NEVER);
}

fn main() {
    trap::on_timer(|| {});
    let names = managed().map(|vm| (vm.number, vm.name));
    assert!(names.eq([(WORKER, "worker"), (CRASHER, "crasher")]));
    authority();
    states();
    counters();
    another_image();
    consoles();
    stops();
    power::off();
}

/// It may do nothing to itself and to VMs that it does not manage.
fn authority() {
    for vm in 0..=2 * limit::VMS {
        let refused = match vm {
            WORKER | CRASHER => {
                expect(hypervisor::vm_status(vm).map(drop), Ok(()));
                continue;
            }
            0 | 3 => Error::Denied,
            _ => Error::InvalidParam,
        };
        expect(vm_stop(vm), Err(refused));
        expect(vm_load(vm), Err(refused));
        expect(vm_write(vm, RAM_BASE, &[1]), Err(refused));
        expect(vm_start(vm, RAM_BASE), Err(refused));
        expect(vm_counters(vm).map(drop), Err(refused));
        if vm != 0 {
            expect(hypervisor::vm_restart(vm), Err(refused));
            expect(hypervisor::vm_status(vm).map(drop), Err(refused));
        }
    }
    for function in [VM_CONSOLE + 1, VM_CONSOLE + 100, usize::MAX] {
        expect(raw(function, [WORKER, 0, 0, 0]), Err(Error::NotSupported));
    }
    record::pass("authority");
}

/// What a VM has to be off or held for is refused while it runs.
fn states() {
    wait_for(WORKER, &[RUNNING]);
    expect(vm_load(WORKER), Err(Error::AlreadyAvailable));
    expect(vm_write(WORKER, RAM_BASE, &[1]), Err(Error::AlreadyStarted));
    expect(vm_start(WORKER, RAM_BASE), Err(Error::AlreadyStarted));
    expect(hypervisor::vm_restart(WORKER), Err(Error::AlreadyAvailable));
    record::pass("states");
}

fn counters() {
    let first = vm_counters(WORKER).expect("it is managed");
    sleep(time::hz() / 20);
    let second = vm_counters(WORKER).expect("it is managed");
    assert!(
        second.time > first.time && second.run_time > first.run_time,
        "{second:?}"
    );
    expect(second.memory, RAM_BASE);
    expect(second.memory_size, 4 << 20);
    expect((second.faults, second.restarts), (0, 0));
    let faults = vm_counters(CRASHER).expect("it is managed").faults;
    sleep(time::hz() / 20);
    assert!(vm_counters(CRASHER).expect("it is managed").faults > faults);
    let mut words = [[0u64; VmCounters::WORDS]; 2];
    let at = words[0].as_mut_ptr().expose_provenance();
    let size = size_of::<VmCounters>();
    expect(
        raw(VM_COUNTERS, [WORKER, at + 4, size, 0]),
        Err(Error::InvalidAddress),
    );
    expect(
        raw(VM_COUNTERS, [WORKER, 0x1000, size, 0]),
        Err(Error::InvalidAddress),
    );
    expect(
        raw(VM_COUNTERS, [WORKER, usize::MAX - 7, size, 0]),
        Err(Error::InvalidAddress),
    );
    // No more than was asked for, and no more than there is.
    words = [[u64::MAX; VmCounters::WORDS]; 2];
    expect(raw(VM_COUNTERS, [WORKER, at, 12, 0]), Ok(size));
    let [first, second, ..] = core::hint::black_box(words)[0];
    assert!(first != u64::MAX && second >> 32 == u64::from(u32::MAX));
    expect(raw(VM_COUNTERS, [WORKER, at, 2 * size, 0]), Ok(size));
    expect(
        core::hint::black_box(words)[1],
        [u64::MAX; VmCounters::WORDS],
    );
    record::pass("counters");
}

fn another_image() {
    expect(vm_stop(WORKER), Ok(()));
    wait_for(WORKER, &[OFF]);
    expect(vm_stop(WORKER), Err(Error::AlreadyStopped));
    expect(vm_write(WORKER, RAM_BASE, &[1]), Err(Error::AlreadyStarted));
    expect(vm_start(WORKER, RAM_BASE), Err(Error::AlreadyStarted));
    expect(vm_load(WORKER), Ok(()));
    wait_for(WORKER, &[HELD]);
    expect(
        hypervisor::vm_status(WORKER).map(|status| status.state),
        Ok(None),
    );
    let end = RAM_BASE + (4 << 20);
    for to in [0, RAM_BASE - 1, end - 7, end, u64::MAX - 3] {
        expect(vm_write(WORKER, to, &[1; 8]), Err(Error::InvalidAddress));
    }
    for from in [0, RAM_BASE as usize - 1, end as usize - 1, usize::MAX] {
        let answer = raw(VM_WRITE, [WORKER, RAM_BASE as usize, from, 8]);
        expect(answer, Err(Error::InvalidAddress));
    }
    for entry in [0, RAM_BASE - 2, RAM_BASE + 1, end - 1, end, u64::MAX] {
        expect(vm_start(WORKER, entry), Err(Error::InvalidAddress));
    }
    static BYTES: [u8; PATTERN_SIZE] = {
        let mut bytes = [0; PATTERN_SIZE];
        let mut index = 0;
        while index < PATTERN_SIZE {
            bytes[index] = (index * 7 + index / 256) as u8;
            index += 1;
        }
        bytes
    };
    let sum: u64 = BYTES.iter().copied().map(u64::from).sum();
    let taken = raw(
        VM_WRITE,
        [
            WORKER,
            PATTERN as usize,
            BYTES.as_ptr().expose_provenance(),
            PATTERN_SIZE,
        ],
    );
    assert!(
        taken.is_ok_and(|taken| (1..=WRITE_MAX as usize).contains(&taken)),
        "{taken:?}"
    );
    expect(vm_write(WORKER, PATTERN, &BYTES), Ok(()));
    expect(vm_write(WORKER, SUM, &sum.to_le_bytes()), Ok(()));
    expect(vm_write(WORKER, PAYLOAD, payload()), Ok(()));
    // The last byte of its memory, which is behind its devicetree.
    expect(vm_write(WORKER, end - 1, &[1]), Ok(()));
    let before = vm_counters(WORKER).expect("it is managed");
    expect(vm_start(WORKER, PAYLOAD), Ok(()));
    wait_for(WORKER, &[OFF]);
    let after = vm_counters(WORKER).expect("it is managed");
    expect(
        (after.faults, after.restarts),
        (before.faults, before.restarts),
    );
    expect(vm_start(WORKER, PAYLOAD), Err(Error::AlreadyStarted));
    record::pass("another_image");
    // What was held is off again, or starts with its own image.
    expect(vm_load(WORKER), Ok(()));
    wait_for(WORKER, &[HELD]);
    expect(vm_stop(WORKER), Ok(()));
    expect(status(WORKER), OFF);
    expect(vm_stop(WORKER), Err(Error::AlreadyStopped));
    expect(vm_load(WORKER), Ok(()));
    wait_for(WORKER, &[HELD]);
    expect(hypervisor::vm_restart(WORKER), Ok(()));
    wait_for(WORKER, &[RUNNING]);
    expect(vm_stop(WORKER), Ok(()));
    wait_for(WORKER, &[OFF]);
    record::pass("held");
}

/// What a VM has written, and no more than that.
fn consoles() {
    let mut text = [0; 2 * CONSOLE_KEPT];
    let mut length = 0;
    let mut position = 0;
    loop {
        let to = &mut text[length..];
        match vm_console(WORKER, position, to).expect("it is managed") {
            Console::Read(0) => break,
            Console::Read(count) => {
                assert!(count <= CONSOLE_MAX, "{count}");
                length += count;
                position += count as u64;
            }
            Console::KeptFrom(first) => {
                assert!(first > position && length == 0, "{first}");
                position = first;
            }
        }
    }
    let text = core::str::from_utf8(&text[..length]).expect("it is text");
    assert!(
        text.contains("second 0\n") && text.contains("another image\n"),
        "{text}"
    );
    let mut byte = [0];
    for beyond in [position + 1, position + 5000, u64::MAX] {
        let kept = vm_console(WORKER, beyond, &mut byte);
        assert!(matches!(kept, Ok(Console::KeptFrom(_))), "{kept:?}");
    }
    let at = byte.as_mut_ptr().expose_provenance();
    expect(
        raw(VM_CONSOLE, [WORKER, 0, 0, 1]),
        Err(Error::InvalidAddress),
    );
    expect(
        raw(VM_CONSOLE, [WORKER, 0, at, usize::MAX]),
        Err(Error::InvalidAddress),
    );
    expect(vm_console(3, 0, &mut byte), Err(Error::Denied));
    expect(vm_console(0, 0, &mut byte), Err(Error::Denied));
    record::pass("consoles");
}

/// A VM that is told to stop does not run again, whatever it was about to do: among them restarts after a fault.
fn stops() {
    let mut random = 1u64;
    for round in 0..ROUNDS {
        random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        // Up to 6.5 ms: it is loaded in a part of that, runs for 2 ms, has a fault and restarts.
        sleep((random >> 48) * time::hz() / 10_000_000);
        expect(vm_stop(CRASHER), Ok(()));
        let state = wait_for(CRASHER, &[OFF, 3]);
        expect(state, OFF);
        if round % 8 == 0 {
            sleep(time::hz() / 200);
            expect(status(CRASHER), OFF);
        }
        if round % 3 == 0 {
            expect(vm_load(CRASHER), Ok(()));
            sleep((random >> 40 & 0xff) * time::hz() / 1_000_000);
            expect(raw(VM_STOP, [CRASHER, 0, 0, 0]), Ok(0));
            wait_for(CRASHER, &[OFF]);
        }
        expect(hypervisor::vm_restart(CRASHER), Ok(()));
        if round % 5 == 0 {
            // It is told again while it ends.
            expect(vm_stop(CRASHER), Ok(()));
            let again = vm_stop(CRASHER);
            assert!(
                matches!(again, Ok(()) | Err(Error::AlreadyStopped)),
                "{again:?}"
            );
            wait_for(CRASHER, &[OFF]);
            expect(hypervisor::vm_restart(CRASHER), Ok(()));
        }
    }
    expect(vm_stop(CRASHER), Ok(()));
    wait_for(CRASHER, &[OFF]);
    println!("{:?}", vm_counters(CRASHER));
    record::pass("stops");
    // Nothing waits for a VM that its manager leaves held: the machine powers off.
    expect(vm_load(WORKER), Ok(()));
    wait_for(WORKER, &[HELD]);
}
