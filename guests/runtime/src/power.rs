//! Power-off and restart.

use core::sync::atomic::{AtomicBool, Ordering};

use sbi_spec::srst::{
    RESET_REASON_NO_REASON, RESET_REASON_SYSTEM_FAILURE, RESET_TYPE_COLD_REBOOT,
    RESET_TYPE_SHUTDOWN,
};
use tactus_abi::map;

use crate::sbi;

/// Powers the machine (the VM) off in good order.
pub fn off() -> ! {
    sbi::system_reset(RESET_TYPE_SHUTDOWN, RESET_REASON_NO_REASON);
    finish(map::FINISHER_PASS)
}

/// Powers the machine off as failed: natively QEMU ends with exit code 1, in a VM the hypervisor's log says
/// `reason=fail`.
pub fn off_failed() -> ! {
    sbi::system_reset(RESET_TYPE_SHUTDOWN, RESET_REASON_SYSTEM_FAILURE);
    finish(1 << 16 | map::FINISHER_FAIL)
}

/// Whether a panic restarts the guest.
static RESTARTS: AtomicBool = AtomicBool::new(false);

/// Makes a panic restart the guest instead of ending it: for servers on which other VMs depend and which can recover
/// their state.
pub fn restart_on_panic() {
    RESTARTS.store(true, Ordering::Relaxed);
}

/// Ends or restarts a guest that has panicked.
pub(crate) fn end_panic() -> ! {
    if RESTARTS.load(Ordering::Relaxed) {
        restart()
    }
    off_failed()
}

/// Restarts the machine.
pub fn restart() -> ! {
    sbi::system_reset(RESET_TYPE_COLD_REBOOT, RESET_REASON_NO_REASON);
    finish(map::FINISHER_RESET)
}

/// Stores to the finisher: the fallback without SBI system reset.
fn finish(value: u32) -> ! {
    // SAFETY: the finisher's page is the guest's own (memory map); nothing follows the store.
    unsafe { (map::FINISHER_BASE as *mut u32).write_volatile(value) };
    loop {
        core::hint::spin_loop();
    }
}
