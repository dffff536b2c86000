//! Garbage to the registers of the VM's devices, virtual ones and those passed through, in every width.

use tactus_guest::abi::map;

use super::{Attacker, rights::Device};

/// Accesses of one step.
const ACCESSES: usize = 32;

/// Accesses any register of any device.
pub fn garbage(attacker: &mut Attacker) {
    let virtual_ones = [
        (map::UART_BASE, map::UART_SIZE),
        (map::DOORBELL_BASE, map::PAGE_SIZE),
        (map::PLIC_BASE, map::PLIC_SIZE),
        (map::PLIC_BASE + 0x20_0000, 0x4000),
    ];
    let virtual_ones = virtual_ones.map(|(base, size)| Device {
        base: base as usize,
        size: size as usize,
    });
    for _ in 0..ACCESSES {
        let number = attacker.below(virtual_ones.len() + attacker.rights.devices.len());
        let device = match virtual_ones.get(number) {
            Some(device) => *device,
            None => match attacker.rights.devices[number - virtual_ones.len()] {
                Some(device) => device,
                None => continue,
            },
        };
        access(attacker, device);
    }
}

/// Accesses a register, mostly one of the first: a load or a store of 1, 2, 4 or 8 bytes, aligned or not.
pub fn access(attacker: &mut Attacker, device: Device) {
    let first = attacker.below(2) == 0;
    let size = if first {
        device.size.min(64)
    } else {
        device.size
    };
    // No access is wider than 8 bytes.
    let offset = attacker.below(size).min(device.size - 8);
    let aligned = if attacker.once_in(4) {
        offset
    } else {
        offset & !7
    };
    let address = device.base + aligned;
    let value = match attacker.below(4) {
        0 => 0,
        1 => u64::MAX,
        2 => 1,
        _ => attacker.random.next(),
    };
    // SAFETY: registers of the VM's own devices, which reach only the VM's own memory; exceptions are stepped over.
    unsafe {
        match attacker.below(8) {
            0 => (address as *mut u8).write_volatile(value as u8),
            1 => core::arch::asm!("sh {}, 0({})", in(reg) value, in(reg) address),
            2 | 3 => core::arch::asm!("sw {}, 0({})", in(reg) value, in(reg) address),
            4 => core::arch::asm!("sd {}, 0({})", in(reg) value, in(reg) address),
            5 => core::arch::asm!("lb {}, 0({})", out(reg) _, in(reg) address),
            6 => core::arch::asm!("lw {}, 0({})", out(reg) _, in(reg) address),
            _ => core::arch::asm!("ld {}, 0({})", out(reg) _, in(reg) address),
        }
    }
}
