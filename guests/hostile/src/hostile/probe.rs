//! Runs any code at any address and regains control, even if the code changes all registers.
//!
//! A trap returns to the program: the code's own exception, a breakpoint behind it, or else the timer. Both
//! entry and return use one block of assembly that depends only on its own stores to memory. One vCPU only.

use core::arch::naked_asm;
use core::cell::UnsafeCell;

use tactus_guest::{csr, time, trap};

/// Ticks after which the timer interrupts the code: 200 us.
const PATIENCE: u64 = 2000;

/// The privilege level of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// VS-mode, the guest's own.
    Supervisor,
    /// VU-mode.
    User,
}

/// The end of the code.
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
    /// Whether the code reached a breakpoint.
    pub const fn at_breakpoint(self) -> bool {
        self.cause == 3
    }

    /// Whether an instruction was illegal. A hypervisor may report a "virtual instruction" exception instead.
    pub const fn illegal(self) -> bool {
        self.cause == 2 || self.cause == 22
    }

    /// Whether the timer interrupted the code.
    pub const fn interrupted(self) -> bool {
        self.cause & trap::CAUSE_INTERRUPT != 0
    }
}

/// State that the assembly saves. The assembly depends on the order.
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

// SAFETY: only vCPU 0 uses it (module documentation), and not from interrupt handlers.
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
/// The code's changes to this guest's memory must leave the program valid.
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
    // SAFETY: `sstatus.SIE` is off, so SPIE, SPP and `sie` take effect from `enter`'s `sret` on; `leave` handles its
    // traps. The caller is responsible for the code; the registers that Rust relies on are restored.
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

/// Enters the code at `pc`; returns at the next trap.
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

/// The trap vector while the code runs. No register has a defined value.
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
