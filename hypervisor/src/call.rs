//! What all calls of guests share: errors, and where an answer goes.

use tactus_abi::hypercall::{self, CallBlock, Refusal};

/// An error of the SBI specification, chapter "Binary Encoding", and the value beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SbiError {
    /// `a0`.
    pub code: i64,
    /// `a1`.
    pub value: u64,
}

impl SbiError {
    /// Failed.
    pub const FAILED: Self = Self::of(-1);
    /// Not supported.
    pub const NOT_SUPPORTED: Self = Self::of(-2);
    /// Invalid parameter.
    pub const INVALID_PARAM: Self = Self::of(-3);
    /// Denied or not allowed.
    pub const DENIED: Self = Self::of(-4);
    /// Invalid address.
    pub const INVALID_ADDRESS: Self = Self::of(-5);
    /// Already available.
    pub const ALREADY_AVAILABLE: Self = Self::of(-6);
    /// Already started.
    #[cfg(feature = "management")]
    pub const ALREADY_STARTED: Self = Self::of(tactus_abi::management::ALREADY_STARTED_ERROR);
    /// Already stopped.
    #[cfg(feature = "management")]
    pub const ALREADY_STOPPED: Self = Self::of(tactus_abi::management::ALREADY_STOPPED_ERROR);

    /// The caller's time-out has expired.
    pub const TIMEOUT: Self = Self::of(hypercall::TIMEOUT_ERROR);

    const fn of(code: i64) -> Self {
        Self { code, value: 0 }
    }

    /// A message has so many bytes, more than the buffer holds.
    pub const fn too_long(length: u32) -> Self {
        Self {
            code: hypercall::BAD_RANGE_ERROR,
            value: length as u64,
        }
    }

    /// Admission has refused.
    pub const fn refused(why: Refusal) -> Self {
        Self {
            code: Self::DENIED.code,
            value: why as u64,
        }
    }
}

/// A call's value in `a1`, with `a0` zero, or its error.
pub type SbiResult = Result<u64, SbiError>;

/// Where the answer of a call goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerTo {
    /// The caller's `a0` and `a1`.
    Registers,
    /// The [`CallBlock`] at this physical address, which lies within the caller's VM's memory.
    Block(u64),
}

impl AnswerTo {
    /// Gives a call its answer; `registers` are the caller's.
    pub fn give(self, registers: &mut [u64; 32], result: SbiResult) {
        let (error, value) = match result {
            Ok(value) => (0, value),
            Err(error) => (error.code, error.value),
        };
        match self {
            Self::Registers => (registers[10], registers[11]) = (error.cast_unsigned(), value),
            Self::Block(address) => {
                let block = address as *mut CallBlock;
                // Safety: the address was made from a block found whole in the VM's memory, and aligned.
                unsafe {
                    (&raw mut (*block).value).write_volatile(value);
                    (&raw mut (*block).error).write_volatile(error);
                }
            }
        }
    }
}
