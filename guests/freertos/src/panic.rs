//! Ends the machine on a panic of the Rust side, like a failed `configASSERT`.

use core::ffi::c_char;
use core::fmt::Write;

unsafe extern "C" {
    /// `platform.h`: reports and powers off as failed.
    fn platform_fail(reason: *const c_char, value: *const c_char) -> !;
}

/// A C string of bounded length: excess text is dropped, the last byte stays 0.
struct Message([u8; 160], usize);

impl Write for Message {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        let room = self.0.len() - 1 - self.1;
        let taken = text.len().min(room);
        self.0[self.1..self.1 + taken].copy_from_slice(&text.as_bytes()[..taken]);
        self.1 += taken;
        Ok(())
    }
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    let mut message = Message([0; 160], 0);
    // Message's write_str cannot fail.
    let _ = write!(message, "{info}");
    // SAFETY: both arguments are zero-terminated and live until the call, which does not return.
    unsafe { platform_fail(c"panic".as_ptr(), message.0.as_ptr().cast()) }
}
