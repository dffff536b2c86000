//! The end of a run.

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

/// Lets a panic restart the guest from here on, and not end it: for services that others wait for, and that find again what
/// they have to know.
pub fn restart_on_panic() {
    RESTARTS.store(true, Ordering::Relaxed);
}

/// The end of a guest that has panicked.
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

/// The finisher, where there is no SBI system reset.
fn finish(value: u32) -> ! {
    // SAFETY: the finisher's page is the guest's own (memory map); nothing follows the store.
    unsafe { (map::FINISHER_BASE as *mut u32).write_volatile(value) };
    loop {
        core::hint::spin_loop();
    }
}
