//! The hypervisor's log: lines of `key=value` fields as `tactus_abi::record` describes them.
//!
//! Written by hand and not by `core::fmt`, whose thousands of instructions a line a real-time guest would have to wait for.

use crate::arch::firmware;
use crate::console;
use tactus_abi::console::{LOG_STREAM, SELECT, STREAM_BASE};

/// Bytes of the longest line, its line feed included. A longer one is cut.
const LINE: usize = 256;

/// A line in the making.
pub struct Line {
    bytes: [u8; LINE],
    len: usize,
}

impl Line {
    /// Begins a line with its kind.
    #[inline(never)]
    pub fn new(kind: &str) -> Self {
        let mut line = Self {
            bytes: [0; LINE],
            len: 0,
        };
        line.words(kind);
        line
    }

    /// Adds a field.
    #[inline(never)]
    pub fn text(&mut self, key: &str, value: &str) -> &mut Self {
        self.words(" ").words(key).words("=").words(value)
    }

    /// Adds a decimal number as a field.
    #[inline(never)]
    pub fn number(&mut self, key: &str, value: u64) -> &mut Self {
        self.text(key, "").digits(value, 10)
    }

    /// Adds a hexadecimal number as a field.
    #[inline(never)]
    pub fn hex(&mut self, key: &str, value: u64) -> &mut Self {
        self.text(key, "0x").digits(value, 16)
    }

    /// Adds the time as a field.
    #[inline(never)]
    pub fn time(&mut self) -> &mut Self {
        self.number("time", crate::arch::now())
    }

    /// Goes on with the last field.
    pub fn words(&mut self, words: &str) -> &mut Self {
        self.bytes(words.as_bytes())
    }

    /// Goes on with the last field.
    pub fn decimal(&mut self, value: u64) -> &mut Self {
        self.digits(value, 10)
    }

    /// Hands the line over; it is dropped, and counted, when the log's buffer has no room.
    #[inline(never)]
    pub fn send(&mut self) {
        self.bytes[self.len] = b'\n';
        console::log(&self.bytes[..=self.len]);
    }

    /// Writes the line straight to the firmware's console, whoever uses the line just now: the last words of a
    /// hypervisor that may have failed while it held the console.
    pub fn send_past_locks(&mut self) {
        self.bytes[self.len] = b'\n';
        firmware::console_write(SELECT);
        firmware::console_write(STREAM_BASE + LOG_STREAM);
        for &byte in &self.bytes[..=self.len] {
            firmware::console_write(byte);
        }
    }

    #[inline(never)]
    fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        // The last place is the line feed's.
        let taken = bytes.len().min(LINE - 1 - self.len);
        self.bytes[self.len..self.len + taken].copy_from_slice(&bytes[..taken]);
        self.len += taken;
        self
    }

    #[inline(never)]
    fn digits(&mut self, mut value: u64, base: u64) -> &mut Self {
        // 20 digits hold any 64-bit number in base 10 or more.
        let mut digits = [0; 20];
        let mut first = digits.len();
        loop {
            first -= 1;
            digits[first] = b"0123456789abcdef"[(value % base) as usize];
            value /= base;
            if value == 0 {
                break;
            }
        }
        self.bytes(&digits[first..])
    }
}
