//! Calls to the firmware: the Supervisor Binary Interface below the hypervisor.

use sbi_spec::{dbcn, hsm, legacy, spi, srst};

/// An error code of the firmware.
#[derive(Clone, Copy, Debug)]
pub struct FirmwareError(pub isize);

fn call(extension: usize, function: usize, arguments: [u64; 3]) -> Result<u64, FirmwareError> {
    let error: isize;
    let value: u64;
    // Safety: the SBI's calling convention changes a0 and a1 only; the calls made below do not hand the firmware
    // memory that Rust code uses.
    unsafe {
        core::arch::asm!(
            "ecall",
            inlateout("a0") arguments[0] => error,
            inlateout("a1") arguments[1] => value,
            in("a2") arguments[2],
            in("a6") function,
            in("a7") extension,
            options(nostack)
        );
    }
    if error == 0 {
        Ok(value)
    } else {
        Err(FirmwareError(error))
    }
}

/// Interrupts the hart with the given id (supervisor software interrupt).
pub fn send_ipi(hart_id: u64) {
    // The hart exists: it was started by this hypervisor.
    let _ = call(spi::EID_SPI, spi::SEND_IPI, [1, hart_id, 0]);
}

/// Starts a hart at `entry` with `argument` in `a1`.
pub fn start_hart(hart_id: u64, entry: u64, argument: u64) -> Result<(), FirmwareError> {
    call(hsm::EID_HSM, hsm::HART_START, [hart_id, entry, argument]).map(|_| ())
}

/// Gives this hart back to the firmware.
pub fn stop_hart() -> ! {
    loop {
        let _ = call(hsm::EID_HSM, hsm::HART_STOP, [0; 3]);
    }
}

/// Powers the machine off.
#[inline(never)]
pub fn power_off() -> ! {
    loop {
        let kind = srst::RESET_TYPE_SHUTDOWN.into();
        let reason = srst::RESET_REASON_NO_REASON.into();
        let _ = call(srst::EID_SRST, srst::SYSTEM_RESET, [kind, reason, 0]);
        super::wait_for_interrupt();
    }
}

/// Sends a byte to the firmware's console: by the debug console extension, or the older call where that is missing.
#[inline(never)]
pub fn console_write(byte: u8) {
    let arguments = [byte.into(), 0, 0];
    if call(dbcn::EID_DBCN, dbcn::CONSOLE_WRITE_BYTE, arguments).is_err() {
        let _ = call(legacy::LEGACY_CONSOLE_PUTCHAR, 0, arguments);
    }
}
