//! SBI calls to the firmware or the hypervisor (RISC-V SBI specification 2.0).

use core::arch::asm;

pub use sbi_spec::binary::Error;
use sbi_spec::{base, dbcn, hsm, rfnc, spi, srst, time};

/// The unprocessed answer to a call: `a0` and `a1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// 0, or a negative error code.
    pub error: isize,
    /// The value; undefined beside an error.
    pub value: usize,
}

impl Answer {
    /// The value, or the error.
    ///
    /// # Errors
    ///
    /// The callee's error; a code that the specification does not name is [`Error::Custom`].
    pub fn result(self) -> Result<usize, Error> {
        sbi_spec::binary::SbiRet {
            error: self.error as usize,
            value: self.value,
        }
        .into_result()
    }
}

/// Makes any call: `extension` in `a7`, `function` in `a6`, `arguments` from `a0` on.
///
/// # Safety
///
/// What the call does must be sound: some write to memory that an argument names, or stop the hart.
#[inline(always)]
pub unsafe fn call_raw(extension: usize, function: usize, arguments: [usize; 6]) -> Answer {
    let [a0, a1, a2, a3, a4, a5] = arguments;
    let (error, value);
    // SAFETY: an SBI call keeps every register but a0 and a1 (SBI specification, "Binary Encoding"); the caller
    // vouches for its effects on memory.
    unsafe {
        asm!(
            "ecall",
            inlateout("a0") a0 => error,
            inlateout("a1") a1 => value,
            in("a2") a2, in("a3") a3, in("a4") a4, in("a5") a5,
            in("a6") function, in("a7") extension,
            options(nostack),
        );
    }
    Answer { error, value }
}

fn call(extension: usize, function: usize, arguments: [usize; 3]) -> Result<usize, Error> {
    let [a0, a1, a2] = arguments;
    // SAFETY: this module's callers name calls that read memory at most, or write to a buffer they borrow.
    unsafe { call_raw(extension, function, [a0, a1, a2, 0, 0, 0]) }.result()
}

/// The harts of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HartMask {
    /// Bit `n`: hart `base + n`.
    pub mask: usize,
    /// Number of the hart of bit 0; `usize::MAX` means all harts, whatever the mask.
    pub base: usize,
}

impl HartMask {
    /// All harts.
    pub const ALL: Self = Self {
        mask: 0,
        base: usize::MAX,
    };

    /// One hart.
    pub const fn one(hart: usize) -> Self {
        Self {
            mask: 1,
            base: hart,
        }
    }
}

/// Version of the SBI specification: `major << 24 | minor`.
pub fn spec_version() -> usize {
    call(base::EID_BASE, base::GET_SBI_SPEC_VERSION, [0; 3]).unwrap_or(0)
}

/// Whether the extension is implemented.
pub fn probe(extension: usize) -> bool {
    call(base::EID_BASE, base::PROBE_EXTENSION, [extension, 0, 0]).is_ok_and(|there| there != 0)
}

/// Sets this hart's timer deadline, in ticks of the `time` CSR. [`crate::time::set_deadline`] does so without a call.
///
/// # Errors
///
/// [`Error::NotSupported`]: there is no timer extension.
pub fn set_timer(deadline: u64) -> Result<(), Error> {
    call(time::EID_TIME, time::SET_TIMER, [deadline as usize, 0, 0]).map(drop)
}

/// Raises the software interrupt of other harts.
///
/// # Errors
///
/// [`Error::InvalidParam`]: a named hart does not exist.
pub fn send_ipi(harts: HartMask) -> Result<(), Error> {
    call(spi::EID_SPI, spi::SEND_IPI, [harts.mask, harts.base, 0]).map(drop)
}

/// Executes `fence.i` on other harts: they fetch instructions that this one has written.
///
/// # Errors
///
/// [`Error::InvalidParam`]: a named hart does not exist.
pub fn remote_fence_i(harts: HartMask) -> Result<(), Error> {
    call(
        rfnc::EID_RFNC,
        rfnc::REMOTE_FENCE_I,
        [harts.mask, harts.base, 0],
    )
    .map(drop)
}

/// Executes `sfence.vma` on other harts, for `size` bytes from `start`.
///
/// # Errors
///
/// [`Error::InvalidParam`]: a named hart does not exist; [`Error::InvalidAddress`]: the range is impossible.
pub fn remote_sfence_vma(harts: HartMask, start: usize, size: usize) -> Result<(), Error> {
    let arguments = [harts.mask, harts.base, start, size, 0, 0];
    // SAFETY: a fence changes no memory.
    unsafe { call_raw(rfnc::EID_RFNC, rfnc::REMOTE_SFENCE_VMA, arguments) }
        .result()
        .map(drop)
}

/// Starts a hart at the physical address `entry` with `opaque` in `a1`.
///
/// # Errors
///
/// [`Error::InvalidParam`]: no such hart; [`Error::InvalidAddress`]: not an address of memory;
/// [`Error::AlreadyAvailable`]: it is started already.
pub fn hart_start(hart: usize, entry: usize, opaque: usize) -> Result<(), Error> {
    call(hsm::EID_HSM, hsm::HART_START, [hart, entry, opaque]).map(drop)
}

/// State of a hart, one of [`sbi_spec::hsm::hart_state`].
///
/// # Errors
///
/// [`Error::InvalidParam`]: no such hart.
pub fn hart_status(hart: usize) -> Result<usize, Error> {
    call(hsm::EID_HSM, hsm::HART_GET_STATUS, [hart, 0, 0])
}

/// Stops the running hart. Returns only when that fails.
pub fn hart_stop() -> Error {
    match call(hsm::EID_HSM, hsm::HART_STOP, [0; 3]) {
        Ok(_) => Error::Failed,
        Err(error) => error,
    }
}

/// Writes to the debug console and returns the number of bytes written, which may be fewer than given.
///
/// # Errors
///
/// [`Error::NotSupported`]: there is no debug console.
pub fn console_write(bytes: &[u8]) -> Result<usize, Error> {
    call(
        dbcn::EID_DBCN,
        dbcn::CONSOLE_WRITE,
        [bytes.len(), bytes.as_ptr() as usize, 0],
    )
}

/// Reads from the debug console and returns the number of bytes read, 0 when none is available.
///
/// # Errors
///
/// [`Error::NotSupported`]: there is no debug console.
pub fn console_read(bytes: &mut [u8]) -> Result<usize, Error> {
    call(
        dbcn::EID_DBCN,
        dbcn::CONSOLE_READ,
        [bytes.len(), bytes.as_mut_ptr() as usize, 0],
    )
}

/// Ends or restarts the machine. Returns only when that fails.
pub fn system_reset(kind: u32, reason: u32) -> Error {
    let arguments = [kind as usize, reason as usize, 0];
    match call(srst::EID_SRST, srst::SYSTEM_RESET, arguments) {
        Ok(_) => Error::Failed,
        Err(error) => error,
    }
}
