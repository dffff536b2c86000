//! Checks whether a guest's floating-point registers keep their values while other guests run on the hart.

use core::arch::naked_asm;

/// Runs `body` with `pattern` in all callee-saved floating-point registers (fs0 to fs11), and returns whether each
/// still holds it afterwards. `body` itself preserves them, by the calling convention: other code made any change.
pub fn keeps<F: FnMut()>(pattern: u64, mut body: F) -> bool {
    extern "C" fn call<F: FnMut()>(body: *mut F) {
        // SAFETY: `keeps` passes its own `body`, which no other code uses meanwhile.
        unsafe { (*body)() };
    }
    let call: extern "C" fn(*mut F) = call;
    // SAFETY: `run` calls the function with the argument that it takes.
    let changed = unsafe { run(pattern, call as usize, &raw mut body as usize) };
    changed == 0
}

/// Fills the registers, calls `function(argument)`, and returns the bits in which any of them has changed.
#[unsafe(naked)]
unsafe extern "C" fn run(pattern: u64, function: usize, argument: usize) -> u64 {
    naked_asm!(
        r"
        .option push
        .option arch, +d
        addi    sp, sp, -128
        sd      ra, 0(sp)
        sd      a0, 8(sp)
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
        fsd     fs\n, 16 + 8 * \n(sp)
        fmv.d.x fs\n, a0
        .endr
        mv      a0, a2
        jalr    a1
        ld      a1, 8(sp)
        li      a0, 0
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
        fmv.x.d t0, fs\n
        xor     t0, t0, a1
        or      a0, a0, t0
        fld     fs\n, 16 + 8 * \n(sp)
        .endr
        ld      ra, 0(sp)
        addi    sp, sp, 128
        ret
        .option pop
        "
    )
}
