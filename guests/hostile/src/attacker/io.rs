//! I/O: garbage to the registers of ports and of timed I/O, requests of anything, programs without sense.

use tactus_guest::abi::map;

use super::{Attacker, devices, rights::Device};

/// Accesses of one step.
const ACCESSES: usize = 8;
/// Registers of a port and of timed I/O (`fabric/regs`).
const ADDRESS: usize = 0x08;
const REQUEST: usize = 0x10;
const RESPONSE: usize = 0x14;
const START: usize = 0x10;
const RUN: usize = 0x20;
const PROGRAM: usize = 0x400;
/// In a request: the device, and the UART's number. Text takes the time of its transmission: it is cut to a byte.
const DEVICE: u32 = 7 << 17;
const UART: u32 = 1 << 17;

/// Garbage to ports and timed I/O, and use of both.
pub fn garbage(attacker: &mut Attacker) {
    for index in 0..attacker.rights.io_ports.len() {
        let Some(port) = attacker.rights.io_ports[index] else {
            break;
        };
        some(attacker, port.registers);
        ask(attacker, port.registers);
    }
    if let Some(engine) = attacker.rights.timed_io {
        some(attacker, engine.registers);
        schedule(attacker, engine.registers);
    }
}

fn some(attacker: &mut Attacker, base: usize) {
    let device = Device {
        base,
        size: map::PAGE_SIZE as usize,
    };
    for _ in 0..ACCESSES {
        devices::access(attacker, device);
    }
}

fn write(address: usize, word: u32) {
    // SAFETY: a register of the VM's own pages, which access memory only through the port's window, which is checked.
    unsafe { (address as *mut u32).write_volatile(word) }
}

/// Sends a request, of which half make some sense; takes the previous response, or not.
fn ask(attacker: &mut Attacker, port: usize) {
    let random = &mut attacker.random;
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
    write(port + ADDRESS + 4, random.next() as u32 & !63);
    write(port + REQUEST, word);
    if anything & 6 != 0 {
        // SAFETY: as above.
        let _ = unsafe { ((port + RESPONSE) as *const u32).read_volatile() };
    }
}

/// Stores a word of a program and schedules it, soon or never.
fn schedule(attacker: &mut Attacker, timed: usize) {
    let anything = attacker.random.next();
    let word = anything as u32 & 0x3_ffff;
    write(timed + PROGRAM + (anything >> 32 & 63) as usize * 4, word);
    write(timed + START, (anything >> 40) as u32);
    write(timed + START + 4, 0);
    write(timed + RUN, (anything >> 20) as u32 & 63);
}
