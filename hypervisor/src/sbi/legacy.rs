//! Calls of SBI 0.1 (SBI specification, chapter 5, "Legacy Extensions"), each an extension of its own.

use super::text::put;
use crate::arch::context;
use crate::exception;
use crate::hart::context::HartCtx;
use crate::vm::{End, Vcpu};
use sbi_spec::legacy;

/// Whether there is such a call.
pub fn has(extension: usize) -> bool {
    matches!(
        extension,
        legacy::LEGACY_SET_TIMER
            | legacy::LEGACY_CONSOLE_PUTCHAR
            | legacy::LEGACY_CONSOLE_GETCHAR
            | legacy::LEGACY_SHUTDOWN
    )
}

/// Serves a call; its value in `a0`. `None`: there is no such call.
pub fn call(cx: &mut HartCtx, vcpu: &'static Vcpu, extension: usize, a0: u64) -> Option<u64> {
    match extension {
        legacy::LEGACY_SET_TIMER => {
            context::set_guest_timer(a0);
            Some(0)
        }
        legacy::LEGACY_CONSOLE_PUTCHAR => {
            if put(cx, vcpu, &[a0 as u8]) == 0 {
                // The call blocks: the guest makes it again.
                context::repeat_call();
                return Some(a0);
            }
            Some(0)
        }
        legacy::LEGACY_CONSOLE_GETCHAR => {
            let byte = vcpu.vm.console_take(cx);
            Some(byte.map_or(u64::MAX, u64::from))
        }
        legacy::LEGACY_SHUTDOWN => {
            exception::end(cx, vcpu.vm, End::Shutdown);
            Some(0)
        }
        _ => None,
    }
}
