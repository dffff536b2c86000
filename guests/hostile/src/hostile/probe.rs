//! Runs any code at any address and comes back, whatever it does to the registers.
//!
//! The way back is a trap: the code's own exception, a breakpoint behind it, or the timer when it does neither. Both
//! entry and return go through one block of assembly that keeps nothing but what it has put in memory. One vCPU only.

use core::arch::naked_asm;
use core::cell::UnsafeCell;

use tactus_guest::{csr, time, trap};

/// Ticks after which code that does not come back is interrupted: 200 us.
const PATIENCE: u64 = 2000;

/// The level that the code runs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// VS-mode, the guest's own.
    Supervisor,
    /// VU-mode.
    User,
}

/// How the code ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// `scause`.
    pub cause: usize,
    /// `sepc`.
    pub pc: usize,
    /// `stval`.
    pub value: usize,
    /// `t0` at the end.
    pub t0: usize,
}

impl End {
    /// Whether it ran into a breakpoint.
    pub const fn at_breakpoint(self) -> bool {
        self.cause == 3
    }

    /// Whether it was refused as illegal. A hypervisor may name that "virtual instruction".
    pub const fn illegal(self) -> bool {
        self.cause == 2 || self.cause == 22
    }

    /// Whether it had to be interrupted.
    pub const fn interrupted(self) -> bool {
        self.cause & trap::CAUSE_INTERRUPT != 0
    }
}

/// What the assembly keeps. The order is known to it.
#[repr(C)]
struct Context {
    /// ra, sp, gp, tp, s0-s11, stvec.
    kept: [usize; 17],
    /// scause, sepc, stval, t0.
    end: [usize; 4],
    /// x1 to x31 for the code.
    registers: [usize; 31],
}

struct Shared(UnsafeCell<Context>);

// SAFETY: only vCPU 0 probes (module documentation), and not from interrupt handlers.
unsafe impl Sync for Shared {}

static CONTEXT: Shared = Shared(UnsafeCell::new(Context {
    kept: [0; 17],
    end: [0; 4],
    registers: [0; 31],
}));

/// Runs the code at `pc` with x1 to x31 as given.
///
/// # Safety
///
/// Whatever the code does to this guest's memory must leave the program valid.
pub unsafe fn run(pc: usize, level: Level, registers: &[usize; 31]) -> End {
    let context = CONTEXT.0.get();
    // SAFETY: no other code uses the context (see `Shared`).
    unsafe { (*context).registers = *registers };
    let status = csr::read::<{ csr::SSTATUS }>();
    let enabled = csr::read::<{ csr::SIE }>();
    let entry_status = (status & !csr::SSTATUS_SPP)
        | csr::SSTATUS_SPIE
        | match level {
            Level::Supervisor => csr::SSTATUS_SPP,
            Level::User => 0,
        };
    time::set_deadline(time::now() + PATIENCE);
    // SAFETY: `sstatus.SIE` is off, so SPIE, SPP and `sie` count from `enter`'s `sret` on, whose traps `leave` answers.
    // What the code does is the caller's business; the registers that Rust relies on are restored.
    unsafe {
        csr::write::<{ csr::SIE }>(csr::INTERRUPT_TIMER);
        csr::write::<{ csr::SSTATUS }>(entry_status & !csr::SSTATUS_SIE);
        enter(pc, context);
        csr::write::<{ csr::SSTATUS }>(status);
        csr::write::<{ csr::SIE }>(enabled);
    }
    time::set_deadline(time::NEVER);
    // SAFETY: as above.
    let [cause, pc, value, t0] = unsafe { (*context).end };
    End {
        cause,
        pc,
        value,
        t0,
    }
}

/// Goes to `pc`; returns at the next trap.
#[unsafe(naked)]
unsafe extern "C" fn enter(pc: usize, context: *mut Context) {
    naked_asm!(
        r"
        sd      ra, 0(a1)
        sd      sp, 8(a1)
        sd      gp, 16(a1)
        sd      tp, 24(a1)
        sd      s0, 32(a1)
        sd      s1, 40(a1)
        .irp    n, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
        sd      s\n, 32 + 8 * \n(a1)
        .endr
        lla     t0, {leave}
        csrrw   t0, stvec, t0
        sd      t0, 128(a1)
        csrw    sepc, a0
        addi    x31, a1, {registers}
        .irp    n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        ld      x\n, (8 * \n - 8)(x31)
        .endr
        sret
        ",
        leave = sym leave,
        registers = const core::mem::offset_of!(Context, registers),
    )
}

/// The trap vector meanwhile. No register holds anything to rely on.
#[unsafe(naked)]
extern "C" fn leave() {
    naked_asm!(
        r"
        .balign 4
        lla     a1, {context}
        sd      t0, {end} + 24(a1)
        csrr    t0, scause
        csrr    t1, sepc
        csrr    t2, stval
        sd      t0, {end}(a1)
        sd      t1, {end} + 8(a1)
        sd      t2, {end} + 16(a1)
        ld      t0, 128(a1)
        csrw    stvec, t0
        ld      ra, 0(a1)
        ld      sp, 8(a1)
        ld      gp, 16(a1)
        ld      tp, 24(a1)
        ld      s0, 32(a1)
        ld      s1, 40(a1)
        .irp    n, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
        ld      s\n, 32 + 8 * \n(a1)
        .endr
        ret                             # to the caller of `enter`
        ",
        context = sym CONTEXT,
        end = const core::mem::offset_of!(Context, end),
    )
}
