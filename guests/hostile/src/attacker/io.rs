//! I/O: garbage to the registers of ports and of timed I/O, requests of anything, programs without sense.

use tactus_guest::abi::map;
use tactus_guest_hostile::io::{ask, schedule};

use super::{Attacker, devices, rights::Device};

/// Accesses of one step.
const ACCESSES: usize = 8;

/// Garbage to ports and timed I/O, and use of both.
pub fn garbage(attacker: &mut Attacker) {
    for index in 0..attacker.rights.io_ports.len() {
        let Some(port) = attacker.rights.io_ports[index] else {
            break;
        };
        some(attacker, port.registers);
        ask(&mut attacker.random, port.registers as u64);
    }
    if let Some(engine) = attacker.rights.timed_io {
        some(attacker, engine.registers);
        schedule(&mut attacker.random, engine.registers as u64);
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
