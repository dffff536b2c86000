//! A trap vector as in operating systems: `sscratch` points to the hart's own words, and traps run on their own
//! stack.

use core::arch::{asm, naked_asm};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicUsize, Ordering};

use tactus_guest::csr;

/// The interrupted program.
#[derive(Debug)]
#[repr(C)]
pub struct Trap {
    /// `x1` to `x31`.
    pub registers: [usize; 31],
    /// `sepc`.
    pub pc: usize,
    /// `sstatus`.
    pub status: usize,
    /// `scause`.
    pub cause: usize,
    /// `stval`.
    pub value: usize,
}

/// Number of harts that have words and a stack.
const HARTS: usize = 4;
const STACK: usize = 8 << 10;

/// A hart's stack for traps; its last 16 bytes are the hart's own words: the top of the stack, and the interrupted
/// program's stack pointer.
#[repr(C, align(4096))]
struct Own(UnsafeCell<[u8; STACK]>);

// SAFETY: each hart uses its own element.
unsafe impl Sync for Own {}

static OWN: [Own; HARTS] = [const { Own(UnsafeCell::new([0; STACK])) }; HARTS];

static HANDLER: AtomicUsize = AtomicUsize::new(0);

/// Installs the trap vector and the handler on the calling hart.
///
/// # Panics
/// The hart has no stack.
pub fn install(hart: usize, handler: fn(&mut Trap)) {
    HANDLER.store(handler as usize, Ordering::Release);
    let words = OWN[hart].0.get() as usize + STACK - 16;
    // SAFETY: the words belong to the hart, and no trap has used the vector yet; `vector` handles every trap.
    unsafe {
        (words as *mut usize).write_volatile(words);
        csr::write::<{ csr::SSCRATCH }>(words);
        csr::write::<{ csr::STVEC }>(vector as *const () as usize);
    }
}

#[unsafe(naked)]
extern "C" fn vector() {
    naked_asm!(
        r"
        .balign 4
        csrrw   t0, sscratch, t0        # t0: the hart's words
        sd      sp, 8(t0)
        ld      sp, 0(t0)
        addi    sp, sp, -{size}
        .irp    n, 1, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        sd      x\n, (8 * \n - 8)(sp)
        .endr
        ld      t1, 8(t0)
        csrrw   t0, sscratch, t0
        sd      t1, 8(sp)
        sd      t0, 32(sp)
        csrr    t0, sepc
        csrr    t1, sstatus
        csrr    t2, scause
        csrr    t3, stval
        sd      t0, 248(sp)
        sd      t1, 256(sp)
        sd      t2, 264(sp)
        sd      t3, 272(sp)
        mv      a0, sp
        call    {handle}
        ld      t0, 248(sp)
        ld      t1, 256(sp)
        csrw    sepc, t0
        csrw    sstatus, t1
        .irp    n, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        ld      x\n, (8 * \n - 8)(sp)
        .endr
        ld      sp, 8(sp)
        sret
        ",
        size = const size_of::<Trap>().next_multiple_of(16),
        handle = sym handle,
    )
}

extern "C" fn handle(trap: &mut Trap) {
    let handler = HANDLER.load(Ordering::Acquire);
    // SAFETY: `install` has stored a function of this type, before it set the vector.
    let handler: fn(&mut Trap) = unsafe { core::mem::transmute(handler) };
    handler(trap);
}

/// Disables interrupts, and returns whether they were enabled: `csrrc`.
pub fn lock() -> usize {
    let before: usize;
    // SAFETY: disabling interrupts is sound. Memory is clobbered: data shared with a handler may be accessed now.
    unsafe { asm!("csrrci {}, sstatus, 2", out(reg) before, options(nostack)) };
    before & csr::SSTATUS_SIE
}

/// Enables interrupts, if they were enabled before: `csrs`.
pub fn unlock(before: usize) {
    // SAFETY: the vector handles every interrupt.
    unsafe { csr::set::<{ csr::SSTATUS }>(before & csr::SSTATUS_SIE) };
}

/// Waits with interrupts locked, then takes the pending ones.
pub fn idle() {
    // SAFETY: as `unlock`.
    unsafe { asm!("wfi", "csrsi sstatus, 2", options(nostack)) };
}
