//! Manages the VMs that its description names, as it is told by lines over its console
//! (`guests/management`): starts, stops and restarts them, loads other images into them, and tells of them. With a boot
//! argument `key`, it starts images that are signed with that key, and no others.
#![no_std]
#![no_main]

mod answer;
mod images;

use images::Images;
use tactus_guest::abi::map::UART_SOURCE;
use tactus_guest::plic::Plic;
use tactus_guest::uart::{IER_RECEIVED, Uart};
use tactus_guest::{devicetree, println, record, sbi, start, trap};
use tactus_management::{Key, LINE_MAX, NotAKey, parse};

tactus_guest::entry!(main);

fn main() {
    let key = devicetree::argument("key").map(Key::parse);
    let mut images = match key.transpose() {
        Ok(key) => Images::new(key),
        Err(NotAKey) => record::give_up(
            "the boot argument key is not base64 of 32 bytes, as `tactus sign --public` prints it",
        ),
    };
    // They end `wfi`, and are not taken.
    trap::on_external(|_| {});
    trap::on_timer(|| {});
    let plic = Plic::of_hart(start::hart());
    plic.enable(UART_SOURCE, 1);
    Uart::CONSOLE.enable_interrupts(IER_RECEIVED);
    println!("ready");
    let mut line = Line::new();
    loop {
        let mut bytes = [0; 8];
        while let Ok(length @ 1..) = sbi::console_read(&mut bytes) {
            for byte in bytes.iter().take(length) {
                if let Some(line) = line.push(*byte) {
                    let call = parse(line);
                    answer::answer(&mut images, call.tag, call.request);
                }
            }
        }
        trap::wait_for_interrupt();
        if let Some(source) = plic.claim() {
            plic.complete(source);
        }
    }
}

/// A line of input. What is too long is kept up to a byte more than a line may have, by which it is told.
struct Line {
    bytes: [u8; LINE_MAX + 1],
    length: usize,
    is_over: bool,
}

impl Line {
    const fn new() -> Self {
        Self {
            bytes: [0; LINE_MAX + 1],
            length: 0,
            is_over: false,
        }
    }

    /// Takes a byte; the line, if that ends one. Ends are carriage return, line feed or both.
    fn push(&mut self, byte: u8) -> Option<&[u8]> {
        if core::mem::take(&mut self.is_over) {
            self.length = 0;
        }
        if matches!(byte, b'\r' | b'\n') {
            self.is_over = true;
            return (self.length > 0).then(|| &self.bytes[..self.length]);
        }
        if let Some(place) = self.bytes.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
        None
    }
}
