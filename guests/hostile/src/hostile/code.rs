//! Code that rewrites itself, with fences: the instructions executed are those written last.

use core::arch::asm;

use tactus_guest::{sbi, start, time};

use super::progress::Progress;

/// Rewrites a function and calls it, for `ticks` ticks.
pub fn attack(progress: Progress, ticks: u64) {
    let end = time::now() + ticks;
    let code = start::image_end() as *mut u32;
    let mut number = 0u32;
    while time::now() < end && progress.next(u64::MAX).is_some() {
        for _ in 0..64 {
            number = number.wrapping_add(1) % 2048;
            // SAFETY: free memory behind the image holds a function that follows the calling convention: `li a0,
            // number; ret`.
            let got = unsafe {
                code.write_volatile(number << 20 | 0x0000_0513);
                code.add(1).write_volatile(0x0000_8067);
                asm!("fence.i", options(nostack));
                core::mem::transmute::<*mut u32, extern "C" fn() -> u32>(code)()
            };
            if got != number {
                progress.breach(format_args!("wrote {number}, ran {got}"));
            }
            // Another way to request the same fence.
            let _ = sbi::remote_fence_i(sbi::HartMask::ALL);
        }
        progress.through();
    }
}
