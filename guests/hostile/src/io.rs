//! What the guests that attack I/O have in common: arbitrary requests to a port, and senseless programs of timed I/O.

use crate::random::Random;

/// Registers of a port and of timed I/O (`fabric/regs`).
const ADDRESS: u64 = 0x08;
const REQUEST: u64 = 0x10;
const RESPONSE: u64 = 0x14;
const START: u64 = 0x10;
const RUN: u64 = 0x20;
const PROGRAM: u64 = 0x400;
/// In a request: the device, and the UART's number. Text takes the time of its transmission, so it is cut to a byte.
const DEVICE: u32 = 7 << 17;
const UART: u32 = 1 << 17;

fn write(address: u64, word: u32) {
    // SAFETY: a register of the VM's own pages, which access memory only through the port's window, which is checked.
    unsafe { (address as *mut u32).write_volatile(word) }
}

/// Sends a request by the VM's port at the address `port`, of which half make some sense; takes the previous response,
/// or not.
pub fn ask(random: &mut Random, port: u64) {
    let anything = random.next();
    let sense = (random.next() as u32 & 0x1f_ffff).min(0x9_ffff);
    let word = if anything & 1 == 0 {
        sense
    } else {
        anything as u32
    };
    let word = if word & DEVICE == UART {
        word & !0x7ff | 1
    } else {
        word
    };
    write(
        port + ADDRESS,
        random.next() as u32 >> (anything >> 40 & 31),
    );
    write(
        port + ADDRESS + 4,
        random.next() as u32 & !63 >> (anything >> 50 & 7),
    );
    write(port + REQUEST, word);
    if anything & 6 != 0 {
        // SAFETY: as above.
        let _ = unsafe { ((port + RESPONSE) as *const u32).read_volatile() };
    }
}

/// Stores a word of a program of the VM's timed I/O at the address `timed`, and schedules it, soon or never.
pub fn schedule(random: &mut Random, timed: u64) {
    let anything = random.next();
    let word = anything as u32 & 0x3_ffff;
    write(timed + PROGRAM + (anything >> 32 & 63) * 4, word);
    // The current time is below this value.
    write(timed + START, (anything >> 40) as u32);
    write(timed + START + 4, 0);
    write(timed + RUN, (anything >> 20) as u32 & 63);
}
