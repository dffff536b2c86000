//! The panic handler: reports a `fail` record, then powers off as failed, or restarts.

use core::panic::PanicInfo;

use crate::{console, csr, power, record, start};

#[panic_handler]
fn panic(info: &PanicInfo) -> ! {
    // SAFETY: fewer interrupts are always sound; nothing after this waits for one.
    unsafe { csr::clear::<{ csr::SSTATUS }>(csr::SSTATUS_SIE) };
    // SAFETY: this vCPU never returns to whatever it was printing. Another vCPU's text may be mixed into
    // the panic's, which beats losing it.
    unsafe { console::steal() };
    record::fail(start::program(), format_args!("panic:_{info}"));
    power::end_panic()
}
