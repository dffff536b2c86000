//! Interrupts and exceptions.
//!
//! [`vector`] is every hart's trap vector from the start. It saves the whole integer register file in a [`Frame`] on
//! the interrupted stack, and the floating-point registers when they hold something, and hands over to the handlers
//! that the guest has set with [`on_timer`], [`on_software`], [`on_external`] and [`on_exception`]. Handlers run with
//! interrupts off and are the same for all harts.
//!
//! A guest that counts instructions installs a vector of its own with [`with_vector`].

use core::arch::{asm, naked_asm};
use core::fmt;
use core::sync::atomic::{AtomicUsize, Ordering};

use tactus_abi::interrupts::{IPI, InterruptPage};
use tactus_abi::map;

use crate::{csr, interrupts, plic::Plic, start, time};

/// The interrupted program's state. What a handler changes is what the program resumes with.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Frame {
    /// `x1` to `x31`; `registers[n - 1]` is `xn`.
    pub registers: [usize; 31],
    /// Where it was interrupted and will resume (`sepc`).
    pub pc: usize,
    /// `sstatus` at the trap.
    pub status: usize,
    /// `scause`.
    pub cause: usize,
    /// `stval`: the address or instruction at fault.
    pub value: usize,
    /// Caller-saved floating-point registers and `fcsr`; they mean something when `sstatus.FS` was "dirty".
    floating: [u64; 21],
}

/// Bit of [`Frame::cause`] that tells interrupts from exceptions.
pub const CAUSE_INTERRUPT: usize = 1 << 63;

impl Frame {
    /// The name of the cause (privileged specification, "Supervisor Cause Register").
    pub fn cause_name(&self) -> &'static str {
        cause_name(self.cause)
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} (cause {:#x}) at pc={:#x}, value={:#x}",
            self.cause_name(),
            self.cause,
            self.pc,
            self.value
        )
    }
}

/// The name of an `scause` value.
pub fn cause_name(cause: usize) -> &'static str {
    const EXCEPTIONS: [&str; 24] = [
        "instruction address misaligned",
        "instruction access fault",
        "illegal instruction",
        "breakpoint",
        "load address misaligned",
        "load access fault",
        "store address misaligned",
        "store access fault",
        "call from user mode",
        "call from supervisor mode",
        "call from VS-mode",
        "call from machine mode",
        "instruction page fault",
        "load page fault",
        "reserved",
        "store page fault",
        "double trap",
        "reserved",
        "software check",
        "hardware error",
        "instruction guest-page fault",
        "load guest-page fault",
        "virtual instruction",
        "store guest-page fault",
    ];
    if cause & CAUSE_INTERRUPT != 0 {
        return match cause & !CAUSE_INTERRUPT {
            1 => "software interrupt",
            5 => "timer interrupt",
            9 => "external interrupt",
            _ => "unknown interrupt",
        };
    }
    EXCEPTIONS
        .get(cause)
        .copied()
        .unwrap_or("unknown exception")
}

/// The runtime's trap vector. Not to be called.
#[unsafe(naked)]
pub extern "C" fn vector() {
    naked_asm!(
        r"
        # Link-time optimization assembles this without the target's extensions.
        .option push
        .option arch, +d
        .balign 4
        addi    sp, sp, -{size}
        .irp    n, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        sd      x\n, (8 * \n - 8)(sp)
        .endr
        addi    t0, sp, {size}
        sd      t0, 8(sp)
        csrr    t0, sepc
        csrr    t1, sstatus
        csrr    t2, scause
        csrr    t3, stval
        sd      t0, {pc}(sp)
        sd      t1, {pc} + 8(sp)
        sd      t2, {pc} + 16(sp)
        sd      t3, {pc} + 24(sp)

        srli    t1, t1, 13              # sstatus.FS: 3 is dirty
        andi    t1, t1, 3
        addi    s0, t1, -3              # s0 == 0: floating-point registers are saved
        bnez    s0, 1f
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        fsd     ft\n, {floating} + 8 * \n(sp)
        fsd     fa\n, {floating} + 64 + 8 * \n(sp)
        .endr
        .irp    n, 8, 9, 10, 11
        fsd     ft\n, {floating} + 64 + 8 * \n(sp)
        .endr
        csrr    t0, fcsr
        sd      t0, {floating} + 160(sp)
    1:
        mv      a0, sp
        call    {dispatch}

        bnez    s0, 2f
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        fld     ft\n, {floating} + 8 * \n(sp)
        fld     fa\n, {floating} + 64 + 8 * \n(sp)
        .endr
        .irp    n, 8, 9, 10, 11
        fld     ft\n, {floating} + 64 + 8 * \n(sp)
        .endr
        ld      t0, {floating} + 160(sp)
        csrw    fcsr, t0
    2:
        ld      t0, {pc}(sp)
        ld      t1, {pc} + 8(sp)
        csrw    sepc, t0
        csrw    sstatus, t1
        .irp    n, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        ld      x\n, (8 * \n - 8)(sp)
        .endr
        ld      sp, 8(sp)
        sret
        .option pop
        ",
        // The stack pointer stays 16-byte aligned (calling convention).
        size = const size_of::<Frame>().next_multiple_of(16),
        pc = const core::mem::offset_of!(Frame, pc),
        floating = const core::mem::offset_of!(Frame, floating),
        dispatch = sym dispatch,
    )
}

static TIMER: AtomicUsize = AtomicUsize::new(0);
static SOFTWARE: AtomicUsize = AtomicUsize::new(0);
static EXTERNAL: AtomicUsize = AtomicUsize::new(0);
static EXCEPTION: AtomicUsize = AtomicUsize::new(0);

/// Sets the handler of the timer interrupt, and enables that interrupt for the running hart. The deadline is
/// [`time::NEVER`] when the handler begins; it sets the next one.
pub fn on_timer(handler: fn()) {
    TIMER.store(handler as usize, Ordering::Release);
    enable(csr::INTERRUPT_TIMER);
}

/// Sets the handler of the software interrupt (another hart's [`crate::sbi::send_ipi`]), and enables that interrupt for
/// the running hart. The interrupt has been cleared when the handler begins. It may be spurious.
pub fn on_software(handler: fn()) {
    SOFTWARE.store(handler as usize, Ordering::Release);
    enable(csr::INTERRUPT_SOFTWARE);
}

/// Sets the handler of external interrupts, and enables them for the running hart. The argument is the source, which
/// has been claimed and is completed afterwards. The sources themselves are enabled with [`interrupts::enable`].
pub fn on_external(handler: fn(source: u32)) {
    EXTERNAL.store(handler as usize, Ordering::Release);
    enable(csr::INTERRUPT_EXTERNAL);
}

/// Sets the handler of exceptions. Without one an exception is a panic. To continue behind the instruction, a handler
/// adds its length to [`Frame::pc`].
pub fn on_exception(handler: fn(&mut Frame)) {
    EXCEPTION.store(handler as usize, Ordering::Release);
}

fn enable(interrupt: usize) {
    // SAFETY: the handler of this interrupt has just been set.
    unsafe { csr::set::<{ csr::SIE }>(interrupt) };
}

/// Enables interrupts on the running hart.
pub fn enable_interrupts() {
    // SAFETY: `vector` has an answer to every interrupt.
    unsafe { csr::set::<{ csr::SSTATUS }>(csr::SSTATUS_SIE) };
}

/// Disables interrupts on the running hart and returns whether they were enabled.
pub fn disable_interrupts() -> bool {
    let before = csr::read::<{ csr::SSTATUS }>() & csr::SSTATUS_SIE != 0;
    // SAFETY: fewer interrupts are always sound.
    unsafe { csr::clear::<{ csr::SSTATUS }>(csr::SSTATUS_SIE) };
    before
}

/// Runs `body` with interrupts off.
pub fn without_interrupts<T>(body: impl FnOnce() -> T) -> T {
    let before = disable_interrupts();
    let result = body();
    if before {
        enable_interrupts();
    }
    result
}

/// Sleeps until an interrupt is pending that is enabled in `sie`, even while interrupts are off; returns at once when
/// one is. It may also return without any: check what was waited for.
#[inline(always)]
pub fn wait_for_interrupt() {
    // SAFETY: `wfi` changes nothing. Memory is clobbered: a handler may run before the next instruction.
    unsafe { asm!("wfi", options(nostack)) };
}

/// Runs `body` with another trap vector and restores the runtime's.
///
/// # Safety
///
/// `vector` is the address (a multiple of 4) of code that deals with every trap that can happen in `body` and keeps
/// the registers that `body` relies on.
pub unsafe fn with_vector<T>(vector: usize, body: impl FnOnce() -> T) -> T {
    let before = csr::read::<{ csr::STVEC }>();
    // SAFETY: the caller vouches for the new vector.
    unsafe { csr::write::<{ csr::STVEC }>(vector) };
    let result = body();
    // SAFETY: it was in force before.
    unsafe { csr::write::<{ csr::STVEC }>(before) };
    result
}

/// Reads a register if the machine allows it; `None` when that raises an exception.
pub fn try_read<const CSR: u16>() -> Option<usize> {
    let (value, refused): (usize, usize);
    let before = disable_interrupts();
    // SAFETY: for these few instructions the vector is the label 2, which is reached by an exception of the one
    // instruction that may raise one; the vector is restored on both ways. Interrupts are off.
    unsafe {
        asm!(
            "lla    {vector}, 2f",
            "csrrw  {vector}, stvec, {vector}",
            "li     {refused}, 1",
            "csrr   {value}, {csr}",
            "li     {refused}, 0",
            ".balign 4",
            "2:",
            "csrw   stvec, {vector}",
            vector = out(reg) _,
            refused = out(reg) refused,
            value = out(reg) value,
            csr = const CSR,
            options(nostack),
        );
    }
    if before {
        enable_interrupts();
    }
    (refused == 0).then_some(value)
}

/// A handler of the given slot.
///
/// # Safety
///
/// `F` is the type of function that the slot's setter stores.
unsafe fn handler<F: Copy>(slot: &AtomicUsize) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<usize>()) };
    match slot.load(Ordering::Acquire) {
        0 => None,
        // SAFETY: not 0, so stored by the setter, from a function of type `F`.
        address => Some(unsafe { core::mem::transmute_copy(&address) }),
    }
}

extern "C" fn dispatch(frame: &mut Frame) {
    match frame.cause {
        cause if cause == CAUSE_INTERRUPT | 5 => {
            time::set_deadline(time::NEVER);
            // SAFETY: `on_timer` stores a `fn()`.
            if let Some(handler) = unsafe { handler::<fn()>(&TIMER) } {
                handler();
            }
        }
        cause if cause == CAUSE_INTERRUPT | 1 => {
            // SAFETY: clearing a pending interrupt is always sound.
            unsafe { csr::clear::<{ csr::SIP }>(csr::INTERRUPT_SOFTWARE) };
            match interrupts::page() {
                None => software(),
                Some(page) => from_page(page),
            }
        }
        cause if cause == CAUSE_INTERRUPT | 9 => {
            let plic = Plic::of_hart(start::hart());
            // Bounded to the number of sources: a source that storms is handled at the next interrupt again.
            for _ in 0..map::PLIC_SOURCES {
                let Some(source) = plic.claim() else { break };
                external(source);
                plic.complete(source);
            }
        }
        _ => {
            // SAFETY: `on_exception` stores a `fn(&mut Frame)`.
            match unsafe { handler::<fn(&mut Frame)>(&EXCEPTION) } {
                Some(handler) => handler(frame),
                None => panic!("{frame}"),
            }
        }
    }
}

fn software() {
    // SAFETY: `on_software` stores a `fn()`.
    if let Some(handler) = unsafe { handler::<fn()>(&SOFTWARE) } {
        handler();
    }
}

fn external(source: u32) {
    // SAFETY: `on_external` stores a `fn(u32)`.
    if let Some(handler) = unsafe { handler::<fn(u32)>(&EXTERNAL) } {
        handler(source);
    }
}

fn from_page(page: &InterruptPage) {
    // Bounded to the number of sources, see above.
    for _ in 0..map::PLIC_SOURCES {
        match page.claim() {
            None => return,
            Some(IPI) => software(),
            Some(source) => {
                external(source);
                interrupts::complete(source);
            }
        }
    }
    interrupts::recheck();
}
