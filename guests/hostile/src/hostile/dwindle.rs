//! Changes its own reservation to almost nothing, and faults. Its next life must have the reservation of the system
//! again: with the changed one it would begin with a release 2^32 ticks later.

use tactus_guest::{
    abi::{
        blob::limit,
        hypercall::{EXTENSION, RT_CHANGE, RT_SELF},
    },
    rt,
    sbi::call_raw,
};

use super::progress::Progress;

/// Faults in each of `lives` lives.
pub fn attack(progress: Progress, lives: u64) {
    let status = rt::status().expect("it has a reservation");
    if status.budget == 1 {
        progress.breach("a life begins with the reservation of the last one");
    }
    if progress.next(lives).is_none() {
        return;
    }
    for halvings in (0..4).rev() {
        // The last one is the smallest that there is.
        let period = limit::PERIOD_TICKS as usize >> halvings;
        let arguments = [RT_SELF as usize, period, 1, period, 0, 0];
        // Any answer is accepted: a change may still be pending.
        // SAFETY: changes no memory.
        let _ = unsafe { call_raw(EXTENSION, RT_CHANGE, arguments) };
    }
    progress.ends();
    let nowhere = 0x1000 as *const u8;
    // SAFETY: no address of the VM: a fault is what it wants.
    unsafe { nowhere.read_volatile() };
    progress.breach("a load from nowhere went on")
}
