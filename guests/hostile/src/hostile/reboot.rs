//! Restarts itself as fast as possible, in every way, and checks each time that no state of the last life
//! remains.

use core::arch::naked_asm;

use tactus_guest::{abi::map, power, sbi, sbi_spec::srst, start};

use super::progress::Progress;

/// The value left in memory and registers.
const MARK: u64 = 0x0bad_cafe_dead_beef;

/// Restarts `lives` times.
pub fn attack(progress: Progress, memory: u64, lives: u64) {
    // SAFETY: `exchange` changes only registers that a function may change.
    let left = unsafe { exchange(MARK) };
    if left != 0 {
        progress.breach(format_args!(
            "{left} floating-point registers are from before the start"
        ));
    }
    let first = start::image_end();
    let last = (map::RAM_BASE + memory - map::DEVICETREE_SIZE) as usize;
    // Checks one word of every page: memory must be clear at each start.
    for address in (first..last).step_by(map::PAGE_SIZE as usize) {
        let word = address as *mut u64;
        // SAFETY: free memory between the image and the devicetree.
        unsafe {
            if word.read_volatile() != 0 {
                progress.breach(format_args!(
                    "memory at {address:#x} holds {:#x} from before the start",
                    word.read_volatile()
                ));
            }
            word.write_volatile(MARK);
        }
    }
    match progress.next(lives) {
        None => {}
        Some(life) if life % 3 == 0 => power::restart(),
        Some(life) if life % 3 == 1 => {
            sbi::system_reset(
                srst::RESET_TYPE_WARM_REBOOT,
                srst::RESET_REASON_SYSTEM_FAILURE,
            );
            progress.breach("a warm reboot went on")
        }
        Some(_) => {
            // SAFETY: the finisher is the guest's own.
            unsafe { (map::FINISHER_BASE as *mut u32).write_volatile(map::FINISHER_RESET) };
            progress.breach("a store to the finisher went on")
        }
    }
}

/// Writes a value to the 20 caller-saved floating-point registers, and returns how many held it before.
#[unsafe(naked)]
unsafe extern "C" fn exchange(value: u64) -> usize {
    naked_asm!(
        r"
        .option push
        .option arch, +d
        li      t2, 0
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29, 30, 31
        fmv.x.d t0, f\n
        xor     t0, t0, a0
        seqz    t0, t0
        add     t2, t2, t0
        fmv.d.x f\n, a0
        .endr
        mv      a0, t2
        ret
        .option pop
        "
    )
}
