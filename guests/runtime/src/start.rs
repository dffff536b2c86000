//! Start-up code before `main`, and start of other vCPUs.
//!
//! The machine enters `_start` in supervisor mode with the hart's (in a VM: the vCPU's) number in `a0`, the
//! devicetree's address in `a1`, translation and interrupts off (SBI specification, chapter "Hart State Management
//! Extension"; Tactus keeps the same convention). The first instruction of all reads the clock, so that [`boot_ticks`]
//! says when the guest began.
//!
//! `tp` holds the hart's number from then on. The floating-point unit is on.

use core::arch::{asm, global_asm};
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::{sbi, trap};

/// Harts or vCPUs that have a stack. Numbers from this on are refused by [`start_hart`] and parked by `_start`.
pub const HARTS_MAX: usize = 16;

/// Bytes of a hart's stack; a power of two, and the linker script's `__stack_size`.
pub const STACK_SIZE: usize = 16 << 10;

static BOOT_TICKS: AtomicU64 = AtomicU64::new(0);
static DEVICETREE: AtomicUsize = AtomicUsize::new(0);

global_asm!(
    r#"
    .section .text.start, "ax"
    .globl _start
_start:
    csrr    s0, time                    # first of all: when did the guest begin?
    csrw    sie, zero
    csrci   sstatus, 2
    li      t0, {harts_max}
    bgeu    a0, t0, 9f

    lla     t0, __bss_start
    lla     t1, __bss_end
1:  bgeu    t0, t1, 2f
    sd      zero, 0(t0)
    addi    t0, t0, 8
    j       1b
2:
    mv      a2, s0
    lla     s1, {boot}
    j       3f

    # A hart started by SBI HSM: a0 is its number, a1 what `start_hart` gave.
    .globl __tactus_guest_start_secondary
__tactus_guest_start_secondary:
    csrw    sie, zero
    csrci   sstatus, 2
    lla     s1, {secondary}

3:  mv      tp, a0
    lla     sp, __stacks_start          # the stack of hart n ends at __stacks_start + (n + 1) * size
    addi    t0, a0, 1
    slli    t0, t0, {stack_size_log2}
    add     sp, sp, t0
    li      t0, {fs}
    csrc    sstatus, t0
    li      t0, {fs_initial}
    csrs    sstatus, t0
    lla     t0, {vector}
    csrw    stvec, t0
    csrw    sscratch, zero
    jr      s1

9:  wfi                                 # a hart without a stack can do nothing
    j       9b
"#,
    harts_max = const HARTS_MAX,
    stack_size_log2 = const STACK_SIZE.ilog2(),
    boot = sym boot,
    secondary = sym secondary,
    vector = sym trap::vector,
    fs = const crate::csr::SSTATUS_FS,
    fs_initial = const 1 << 13,
);

unsafe extern "Rust" {
    /// Made by [`crate::entry!`].
    fn __tactus_guest_main();
    /// Made by [`crate::entry!`].
    safe static __tactus_guest_name: &'static str;
}

extern "C" fn boot(_hart: usize, devicetree: usize, ticks: u64) -> ! {
    BOOT_TICKS.store(ticks, Ordering::Relaxed);
    DEVICETREE.store(devicetree, Ordering::Release);
    // SAFETY: `entry!` defines the symbol as a function of this type.
    unsafe { __tactus_guest_main() };
    crate::power::off()
}

extern "C" fn secondary(_hart: usize, function: usize) -> ! {
    // SAFETY: `start_hart` is the only one to name this entry, and passes a `fn() -> !`.
    let function: fn() -> ! = unsafe { core::mem::transmute(function) };
    function()
}

/// The `time` CSR as the guest's first instruction read it, in ticks.
pub fn boot_ticks() -> u64 {
    BOOT_TICKS.load(Ordering::Relaxed)
}

/// The name of the running program: its Cargo binary.
pub fn program() -> &'static str {
    __tactus_guest_name
}

/// The address of the devicetree that the machine handed over.
pub(crate) fn devicetree() -> usize {
    DEVICETREE.load(Ordering::Acquire)
}

/// Number of the running hart, or in a VM of the running vCPU.
pub fn hart() -> usize {
    let number;
    // SAFETY: `tp` is set once by the start code and belongs to the runtime; the target's thread-local
    // storage is not in use.
    unsafe { asm!("mv {}, tp", out(reg) number, options(pure, nomem, nostack, preserves_flags)) };
    number
}

/// Starts another hart (vCPU) at `function`, on its own stack, with interrupts off.
///
/// # Errors
///
/// [`sbi::Error::InvalidParam`]: there is no such hart, or its number is [`HARTS_MAX`] or more;
/// [`sbi::Error::AlreadyAvailable`]: it runs already.
pub fn start_hart(number: usize, function: fn() -> !) -> Result<(), sbi::Error> {
    unsafe extern "C" {
        fn __tactus_guest_start_secondary();
    }
    if number >= HARTS_MAX {
        return Err(sbi::Error::InvalidParam);
    }
    let entry = __tactus_guest_start_secondary as *const () as usize;
    sbi::hart_start(number, entry, function as usize)
}

/// The first address behind the image and its stacks. From here to the end of its memory, without the devicetree at
/// that end, the memory is free for the guest.
pub fn image_end() -> usize {
    unsafe extern "C" {
        static __image_end: u8;
    }
    (&raw const __image_end) as usize
}
