//! The hypervisor's log: lines of `key=value` fields as `tactus_abi::record` describes them.
//!
//! Written by hand and not by `core::fmt`, whose thousands of instructions a line a real-time guest would have to wait
//! for.

use crate::arch::firmware;
use crate::console;
use core::mem::MaybeUninit;
use core::slice;
use tactus_abi::console::{LOG_STREAM, SELECT, STREAM_BASE};

/// Bytes of the longest line, its line feed included. A longer one is cut.
const LINE: usize = 256;

/// A line in the making.
pub struct Line {
    /// The first `len` are written.
    bytes: MaybeUninit<[u8; LINE]>,
    len: usize,
}

impl Line {
    /// Nothing yet.
    #[inline(always)]
    pub fn new() -> Self {
        let mut line = MaybeUninit::<Self>::uninit();
        // Safety: all of it that has to be is initialised then. As an expression the compiler would clear the bytes.
        unsafe {
            (&raw mut (*line.as_mut_ptr()).len).write(0);
            line.assume_init()
        }
    }

    /// Begins the line with a kind; what it had is dropped.
    #[inline(never)]
    pub fn begin(&mut self, kind: &str) -> &mut Self {
        self.len = 0;
        self.words(kind)
    }

    /// As [`Line::begin`], with the name of the VM that it is about.
    #[inline(never)]
    pub fn begin_of(&mut self, kind: &str, vm: &str) -> &mut Self {
        self.begin(kind).text("vm", vm)
    }

    /// Adds a field.
    #[inline(never)]
    pub fn text(&mut self, key: &str, value: &str) -> &mut Self {
        self.words(" ").words(key).words("=").words(value)
    }

    /// Adds a decimal number as a field.
    #[inline(never)]
    pub fn number(&mut self, key: &str, value: u64) -> &mut Self {
        self.text(key, "").decimal(value)
    }

    /// Adds a hexadecimal number as a field.
    #[inline(never)]
    pub fn hex(&mut self, key: &str, value: u64) -> &mut Self {
        self.text(key, "0x");
        let digits = (u64::BITS - value.leading_zeros()).div_ceil(4).max(1);
        for digit in (0..digits).rev() {
            self.byte(b"0123456789abcdef"[(value >> (4 * digit) & 15) as usize]);
        }
        self
    }

    /// Adds the time as a field.
    #[inline(never)]
    pub fn time(&mut self) -> &mut Self {
        self.number("time", crate::arch::now())
    }

    /// Goes on with the last field.
    #[inline(never)]
    pub fn words(&mut self, words: &str) -> &mut Self {
        for &byte in words.as_bytes() {
            self.byte(byte);
        }
        self
    }

    /// Goes on with the last field.
    #[inline(never)]
    pub fn decimal(&mut self, mut value: u64) -> &mut Self {
        // 20 digits hold any 64-bit number.
        let mut digits = [0; 20];
        let mut first = digits.len();
        loop {
            first -= 1;
            digits[first] = b'0' + (value % 10) as u8;
            value /= 10;
            if value == 0 {
                break;
            }
        }
        for &digit in &digits[first..] {
            self.byte(digit);
        }
        self
    }

    /// Hands the line over; it is dropped, and counted, when the log's buffer has no room.
    #[inline(never)]
    pub fn send(&mut self) {
        console::log(self.ended());
    }

    /// Writes the line straight to the firmware's console, also while another hart uses the line: the last words of a
    /// hypervisor that may have failed while it held the console.
    pub fn send_past_locks(&mut self) {
        firmware::console_write(SELECT);
        firmware::console_write(STREAM_BASE + LOG_STREAM);
        for &byte in self.ended() {
            firmware::console_write(byte);
        }
    }

    /// All of the line.
    fn ended(&mut self) -> &[u8] {
        self.put(b'\n');
        // Safety: so many have been written.
        unsafe { slice::from_raw_parts(self.bytes.as_ptr().cast(), self.len + 1) }
    }

    #[inline]
    fn byte(&mut self, byte: u8) {
        // The last place is the line feed's.
        if self.len < LINE - 1 {
            self.put(byte);
            self.len += 1;
        }
    }

    /// Puts a byte behind what is there.
    #[inline]
    fn put(&mut self, byte: u8) {
        // Safety: the length is less than the buffer's, see `byte`.
        unsafe {
            self.bytes
                .as_mut_ptr()
                .cast::<u8>()
                .add(self.len)
                .write(byte)
        }
    }
}
