//! Calls of other VMs, by channels whose description has `calls` ([`tactus_abi::hypercall::CALL`]).
//!
//! ```ignore
//! // The VM that serves, which may then wait for ever.
//! fn add(_: usize, [a, b, ..]: Message) -> Message {
//!     [a + b, 0, 0, 0, 0, 0, 0, 0]
//! }
//! static STACK: Stack = Stack::new();
//! call::serve(add, &STACK)?;
//!
//! // The VM that calls, by its channel 0.
//! let [sum, ..] = call::call(0, [1, 2, 0, 0, 0, 0, 0, 0])?;
//! ```

use core::arch::{asm, naked_asm};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicPtr, Ordering};

use tactus_abi::hypercall::{CALL, CALL_REPLY, CALL_SERVE, EXTENSION, TIMEOUT_ERROR};

use crate::sbi::{Answer, Error, call_raw};

/// What a call says, and what is replied.
pub type Message = [u64; 8];

/// Serves a call: is told the channel of the caller, by its number in this VM, and the message; gives the reply. It
/// runs with interrupts disabled, on the caller's hart, while this VM's vCPUs may be running. It may not wait, use
/// floating point, or take longer than the channel allows; otherwise its VM has a fault.
pub type Serve = fn(channel: usize, message: Message) -> Message;

/// Why a call has no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallError {
    /// The VM serves none at present.
    Closed,
    /// The VM has faulted, or has taken too long.
    Failed,
    /// Within a call: less of its time is left than this one may take.
    Timeout,
    /// Another error of the call.
    Call(Error),
}

/// A stack for calls, of so many bytes, a multiple of 16.
#[repr(C, align(16))]
pub struct Stack<const BYTES: usize = 4096>(UnsafeCell<[u8; BYTES]>);

// SAFETY: only calls use it, which are one after the other; nothing here gives out a reference.
unsafe impl<const BYTES: usize> Sync for Stack<BYTES> {}

impl<const BYTES: usize> Stack<BYTES> {
    /// An empty one.
    #[expect(clippy::new_without_default, reason = "it is for a static")]
    pub const fn new() -> Self {
        const { assert!(BYTES.is_multiple_of(16)) };
        Self(UnsafeCell::new([0; BYTES]))
    }
}

/// What serves calls.
static SERVE: AtomicPtr<()> = AtomicPtr::new(core::ptr::null_mut());

/// From now on `serve` serves all calls of this VM, with that stack.
///
/// # Errors
///
/// [`Error::Denied`]: no VM may call this one.
pub fn serve<const BYTES: usize>(serve: Serve, stack: &'static Stack<BYTES>) -> Result<(), Error> {
    SERVE.store(serve as *mut (), Ordering::Release);
    let top = stack.0.get() as usize + BYTES;
    let entry = enter as *const () as usize;
    // SAFETY: the call writes nothing to this VM's memory; what it starts is sound, as `enter` keeps to its stack.
    unsafe { call_raw(EXTENSION, CALL_SERVE, [entry, top, 0, 0, 0, 0]) }
        .result()
        .map(drop)
}

/// Where calls begin.
#[unsafe(naked)]
extern "C" fn enter() -> ! {
    naked_asm!(
        "addi   sp, sp, -64",
        "sd     a1, 0(sp)",
        "sd     a2, 8(sp)",
        "sd     a3, 16(sp)",
        "sd     a4, 24(sp)",
        "sd     a5, 32(sp)",
        "sd     t0, 40(sp)",
        "sd     t1, 48(sp)",
        "sd     t2, 56(sp)",
        "mv     a1, sp",
        "call   {dispatch}",
        "ld     a1, 0(sp)",
        "ld     a2, 8(sp)",
        "ld     a3, 16(sp)",
        "ld     a4, 24(sp)",
        "ld     a5, 32(sp)",
        "ld     t0, 40(sp)",
        "ld     t1, 48(sp)",
        "ld     t2, 56(sp)",
        "li     a7, {extension}",
        "li     a6, {reply}",
        "ecall",
        "unimp",
        dispatch = sym dispatch,
        extension = const EXTENSION,
        reply = const CALL_REPLY,
    )
}

extern "C" fn dispatch(channel: usize, message: &mut Message) {
    // SAFETY: `serve` has stored a `Serve` before calls begin.
    let serve: Serve = unsafe { core::mem::transmute(SERVE.load(Ordering::Acquire)) };
    *message = serve(channel, *message);
}

/// Calls the VM at the other end of a channel of this VM, and gives its reply.
///
/// # Errors
///
/// See [`CallError`]; [`Error::InvalidParam`] within: there is no such channel, or it has no calls.
pub fn call(channel: usize, message: Message) -> Result<Message, CallError> {
    let [
        mut a1,
        mut a2,
        mut a3,
        mut a4,
        mut a5,
        mut t0,
        mut t1,
        mut t2,
    ] = message;
    let mut a0 = channel as u64;
    // SAFETY: the call changes nothing but these registers.
    unsafe {
        asm!(
            "ecall",
            inout("a0") a0, inout("a1") a1, inout("a2") a2, inout("a3") a3, inout("a4") a4, inout("a5") a5,
            inout("t0") t0, inout("t1") t1, inout("t2") t2,
            in("a6") CALL, in("a7") EXTENSION,
            options(nostack)
        );
    }
    let answer = Answer {
        error: a0 as isize,
        value: a1 as usize,
    };
    match answer.result() {
        Ok(_) => Ok([a1, a2, a3, a4, a5, t0, t1, t2]),
        Err(_) if a0 as i64 == TIMEOUT_ERROR => Err(CallError::Timeout),
        Err(Error::Denied) => Err(CallError::Closed),
        Err(Error::Failed) => Err(CallError::Failed),
        Err(error) => Err(CallError::Call(error)),
    }
}
