//! Accelerators: garbage to each register of their virtual devices, and computations of anything, some cancelled.

use tactus_guest::{abi::map, accelerator::Computation};

use super::{Attacker, devices, rights::Device};

/// Accesses of one step.
const ACCESSES: usize = 16;

/// Garbage, then a computation.
pub fn garbage(attacker: &mut Attacker) {
    for index in 0..attacker.rights.accelerators.len() {
        let Some(page) = attacker.rights.accelerators[index] else {
            break;
        };
        let device = Device {
            base: page.registers,
            size: map::PAGE_SIZE as usize,
        };
        for _ in 0..ACCESSES {
            devices::access(attacker, device);
        }
        let task = (page.registers - map::ACCELERATOR_BASE as usize) / map::PAGE_SIZE as usize;
        request(attacker, task);
    }
}

/// Asks for a computation of anything, anywhere.
fn request(attacker: &mut Attacker, task: usize) {
    let devices = &attacker.rights.virtual_devices;
    let Some(device) = devices[task % devices.len()] else {
        return;
    };
    // The output goes where nothing of the program is.
    let (begin, end) = attacker.rights.free_memory();
    let base = map::RAM_BASE as usize;
    let output = (begin - base + attacker.below(end - begin)) as u32 & !7;
    let foreign = attacker.rights.memory as u32 + (attacker.random.next() as u32 >> 8 & !7);
    let computation = Computation {
        input: attacker.below(attacker.rights.memory) as u32 & !7,
        length: (attacker.random.next() as u32) >> (12 + attacker.below(16)),
        output: if attacker.once_in(4) { foreign } else { output },
        parameter: attacker.random.next() as u32,
    };
    device.start(&computation);
}
