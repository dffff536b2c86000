//! Switches between privilege levels: user programs on all vCPUs only enter the kernel, by exceptions of every kind and
//! by interrupts, and compute in between. The kernel checks at each entry that all registers, the address and the cause
//! have the expected values; then it gives the program new ones. So a hypervisor that switches a vCPU's level must
//! preserve its state exactly.

use core::arch::{asm, naked_asm};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tactus_guest::{
    abi::map,
    csr, devicetree,
    sbi::{self, HartMask},
    start, time,
    trap::{self, Frame},
};

use super::{progress::Progress, random::Random};

/// The root table of all vCPUs, below the image, in otherwise unused memory.
const ROOT: usize = map::RAM_BASE as usize;
/// Bytes that an entry of the root table maps.
const GIGABYTE: usize = 1 << 30;
/// Distance of the program's addresses for the kernel and for user level: a page is for one level or the other.
const ALIAS: usize = GIGABYTE;
/// An unmapped address.
const NOWHERE: usize = 8 * GIGABYTE;
/// `satp.MODE` of Sv39.
const SV39: usize = 8 << 60;

/// The registers that the program uses: indices into [`Frame::registers`].
const A1: usize = 10;
const A2: usize = 11;
const A3: usize = 12;
const A4: usize = 13;
const A5: usize = 14;
/// The stack pointer, which belongs to the kernel and which the program does not use, and `tp`, the vCPU's number.
const KEPT: [usize; 2] = [1, 3];

/// End of each step of the program: the instruction's offset in it, in bytes, and the cause.
const STEPS: [(usize, usize); 7] = [
    (0, 8),
    (4, 13),
    (8, 15),
    (12, 2),
    (16, 3),
    (20, 2),
    (LOOP_END, 8),
];
/// Offset of the call behind the loop.
const LOOP_END: usize = 52;

/// The program: one trap after the other, then a loop that counts `a3` and `fa0` up, `a2` times.
#[unsafe(naked)]
extern "C" fn program() {
    naked_asm!(
        r"
        .option push
        .option arch, +d
        .option norvc
        .balign 4
        ecall
        ld      a0, 0(a1)
        sd      a0, 0(a1)
        .4byte  0xffffffff
        ebreak
        csrr    a0, sstatus
        fcvt.d.l fa1, a4
        fcvt.d.l fa0, zero
    1:  addi    a3, a3, 7
        fadd.d  fa0, fa0, fa1
        addi    a2, a2, -1
        bnez    a2, 1b
        fmv.x.d a5, fa0
        ecall
        .option pop
        "
    )
}

/// A second program: only calls, without pause.
#[unsafe(naked)]
extern "C" fn caller() {
    naked_asm!(".balign 4", "1:", "ecall", "j 1b")
}

/// The kernel's handler for [`caller`], until the time reaches `a0`.
#[unsafe(naked)]
extern "C" fn answer() {
    naked_asm!(
        ".balign 4",
        "csrr   t0, time",
        "bgeu   t0, a0, 1f",
        "csrr   t0, sepc",
        "addi   t0, t0, 4",
        "csrw   sepc, t0",
        "sret",
        "1:",
        "j      {leave}",
        leave = sym leave,
    )
}

/// Enters user level at `pc`, with `argument` in `a0`; returns when the kernel continues at [`leave`].
#[unsafe(naked)]
extern "C" fn run(pc: usize, argument: u64) {
    naked_asm!(
        r"
        addi    sp, sp, -112
        sd      ra, 0(sp)
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
        sd      s\n, 8 + 8 * \n(sp)
        .endr
        csrw    sepc, a0
        li      t0, {spp}
        csrc    sstatus, t0
        li      t0, {spie}
        csrs    sstatus, t0
        mv      a0, a1
        sret
        ",
        spp = const csr::SSTATUS_SPP,
        spie = const csr::SSTATUS_SPIE,
    )
}

/// The end of [`run`], at the kernel's level.
#[unsafe(naked)]
extern "C" fn leave() {
    naked_asm!(
        r"
        .balign 4
        ld      ra, 0(sp)
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
        ld      s\n, 8 + 8 * \n(sp)
        .endr
        addi    sp, sp, 112
        ret
        "
    )
}

/// The state that a vCPU's program must show at its next entry.
struct Expected {
    step: usize,
    registers: [usize; 31],
    random: Random,
    rounds: u64,
}

/// One element for each vCPU, which alone uses it.
struct Own([UnsafeCell<Option<Expected>>; start::HARTS_MAX]);

// SAFETY: each element is used only by the vCPU of that number.
unsafe impl Sync for Own {}

static EXPECTED: Own = Own([const { UnsafeCell::new(None) }; start::HARTS_MAX]);
/// The time at which the test ends.
static END: AtomicU64 = AtomicU64::new(0);
/// A check has failed.
static WRONG: AtomicBool = AtomicBool::new(false);
/// Rounds of the program, timer interrupts and IPIs, of all vCPUs.
static ROUNDS: AtomicU64 = AtomicU64::new(0);
static TIMERS: AtomicU64 = AtomicU64::new(0);
static IPIS: AtomicU64 = AtomicU64::new(0);
/// vCPUs that have finished.
static THROUGH: AtomicU64 = AtomicU64::new(0);

/// The program's address at user level.
fn alias(code: extern "C" fn()) -> usize {
    code as *const () as usize + ALIAS
}

/// The kernel's entry from the program: checks the state, and gives the program another one.
fn entered(frame: &mut Frame) {
    // SAFETY: this vCPU's element, which no other active function uses.
    let expected = unsafe { &mut *EXPECTED.0[start::hart()].get() };
    let Some(expected) = expected else {
        panic!("{frame}");
    };
    let (place, cause) = STEPS[expected.step];
    let at_user_level = frame.status & csr::SSTATUS_SPP == 0;
    let registers_kept = (0..31)
        .filter(|index| !KEPT.contains(index))
        .all(|index| frame.registers[index] == expected.registers[index]);
    let value_right = !matches!(cause, 13 | 15) || frame.value == NOWHERE;
    if frame.pc != alias(program) + place
        || frame.cause != cause
        || !at_user_level
        || !registers_kept
        || !value_right
    {
        tactus_guest::println!(
            "step {}: {frame}, registers {:x?}, not {:x?}",
            expected.step,
            frame.registers,
            expected.registers
        );
        WRONG.store(true, Ordering::Release);
    }
    if time::now() >= END.load(Ordering::Acquire) || WRONG.load(Ordering::Acquire) {
        ROUNDS.fetch_add(expected.rounds, Ordering::AcqRel);
        frame.status = (frame.status | csr::SSTATUS_SPP) & !csr::SSTATUS_SPIE;
        frame.pc = leave as *const () as usize;
        return;
    }
    expected.step = (expected.step + 1) % STEPS.len();
    frame.pc += 4;
    if expected.step == 0 {
        expected.rounds += 1;
        frame.pc = alias(program);
    }
    prepare(expected, frame);
}

/// Gives the program other registers, and records the state expected at its next entry.
fn prepare(expected: &mut Expected, frame: &mut Frame) {
    for index in (0..31).filter(|index| !KEPT.contains(index)) {
        frame.registers[index] = expected.random.next() as usize;
    }
    frame.registers[A1] = NOWHERE;
    // Most rounds of the loop are short, some longer than the distance of several interrupts.
    let turns = match expected.random.next() % 8 {
        0 => 20_000,
        turns => turns as usize,
    };
    frame.registers[A2] = turns;
    let addend = expected.random.next() as u32 as usize;
    frame.registers[A4] = addend;
    expected.registers = frame.registers;
    if STEPS[expected.step].0 == LOOP_END {
        expected.registers[A2] = 0;
        expected.registers[A3] = frame.registers[A3].wrapping_add(7 * turns);
        // Exact, as it is below 2^53.
        expected.registers[A5] = ((addend * turns) as f64).to_bits() as usize;
    }
}

/// Prepares the first entry, by the program's first instruction. The registers at that entry become the expected
/// ones.
fn begin(seed: u64) {
    // SAFETY: this vCPU's element; no trap handler uses it now.
    let expected = unsafe { &mut *EXPECTED.0[start::hart()].get() };
    *expected = Some(Expected {
        step: 0,
        registers: [0; 31],
        random: Random::new(seed),
        rounds: 0,
    });
}

/// Handles interrupts; the kernel only counts them.
fn tick() {
    TIMERS.fetch_add(1, Ordering::AcqRel);
    time::set_deadline(time::now() + time::hz() / 5000);
    let _ = sbi::send_ipi(HartMask::ALL);
}

fn ipi() {
    IPIS.fetch_add(1, Ordering::AcqRel);
}

/// The test on one vCPU.
fn user_levels() {
    // SAFETY: the kernel's addresses keep their mapping. The fence makes the new tables valid for the next instruction.
    unsafe {
        asm!("sfence.vma", options(nostack));
        csr::write::<{ csr::SATP }>(SV39 | ROOT >> 12);
    }
    trap::on_exception(first);
    trap::on_timer(tick);
    trap::on_software(ipi);
    begin(1 + start::hart() as u64);
    time::set_deadline(time::now());
    run(alias(program), 0);
    time::set_deadline(time::NEVER);
    THROUGH.fetch_add(1, Ordering::AcqRel);
}

/// At the first entry the registers hold the kernel's values.
fn first(frame: &mut Frame) {
    // SAFETY: as in `entered`.
    if let Some(expected) = unsafe { &mut *EXPECTED.0[start::hart()].get() }
        && expected.rounds == 0
        && expected.step == 0
    {
        expected.registers = frame.registers;
    }
    entered(frame);
}

/// Makes as many calls as possible, without checks.
fn calls(ticks: u64) {
    // SAFETY: `answer` handles all traps of `caller`; interrupts are off.
    unsafe {
        let enabled = csr::read::<{ csr::SIE }>();
        csr::write::<{ csr::SIE }>(0);
        trap::with_vector(answer as *const () as usize, || {
            run(alias(caller), time::now() + ticks)
        });
        csr::write::<{ csr::SIE }>(enabled);
    }
}

fn peer() -> ! {
    user_levels();
    calls(time::hz() / 100);
    sbi::hart_stop();
    loop {
        trap::wait_for_interrupt();
    }
}

/// Enters the guest's kernel without pause, for `ticks` ticks.
pub fn attack(progress: Progress, ticks: u64) {
    while progress.next(1).is_some() {
        let leaf = |address: usize, user: u64| 0xcf | user | (address as u64 >> 12) << 10;
        let entries = [
            leaf(0, 0),
            0,
            leaf(2 * GIGABYTE, 0),
            // The same memory for user level.
            leaf(2 * GIGABYTE, 0x10),
        ];
        for (index, entry) in entries.into_iter().enumerate() {
            // SAFETY: this memory is otherwise unused.
            unsafe { (ROOT as *mut u64).add(index).write_volatile(entry) };
        }
        END.store(time::now() + ticks, Ordering::Release);
        let harts = devicetree::harts();
        for hart in 1..harts {
            if let Err(error) = start::start_hart(hart, peer) {
                progress.breach(format_args!("vCPU {hart} does not start: {error:?}"));
            }
        }
        user_levels();
        calls(ticks / 4);
        let patience = time::now() + 4 * ticks;
        while THROUGH.load(Ordering::Acquire) < harts as u64 && time::now() < patience {
            core::hint::spin_loop();
        }
        if WRONG.load(Ordering::Acquire) {
            progress.breach("a program's registers, cause or address were not as they must be");
        }
        if THROUGH.load(Ordering::Acquire) < harts as u64 {
            progress.breach("not all vCPUs got through");
        }
        let [rounds, timers, ipis] =
            [&ROUNDS, &TIMERS, &IPIS].map(|count| count.load(Ordering::Acquire));
        tactus_guest::println!("{rounds} rounds, {timers} timer interrupts, {ipis} IPIs");
        if rounds == 0 || timers == 0 || ipis == 0 {
            progress.breach("something never came");
        }
        progress.through();
    }
}
