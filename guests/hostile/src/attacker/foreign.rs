//! Accesses to addresses that are not the VM's. Most end its life: the hypervisor stops the VM.

use tactus_guest::{abi::map, record, start};

use super::{Attacker, traps};

/// Devices of `virt` that no VM has by default, and edges of a VM's own areas.
const NOTABLE: [usize; 16] = [
    0,
    0x1000,
    0x0200_0000,
    0x0200_4000,
    0x0c60_0000,
    0x0d00_0000,
    0x1000_1000,
    0x2000_0000,
    0x2400_0000,
    0x4000_0000,
    0x4001_0000,
    0x7fff_fff8,
    0x1_0000_0000,
    (1 << 39) - 8,
    1 << 41,
    usize::MAX - 7,
];

/// An address that is not the VM's.
fn address(attacker: &mut Attacker) -> usize {
    let end = map::RAM_BASE as usize + attacker.rights.memory;
    match attacker.below(4) {
        0 => attacker.random.choose(&NOTABLE),
        1 => end,
        // The memory of the hypervisor and of other VMs, if guest-physical addresses were physical ones.
        2 => end + (attacker.below(1 << 30) & !7),
        _ => 1 << (3 + attacker.below(60)),
    }
}

/// Loads from it, or stores to it.
pub fn access(attacker: &mut Attacker) {
    let address = address(attacker);
    if attacker.rights.owns(address) {
        return;
    }
    let before = traps::exceptions();
    // SAFETY: not the VM's memory: the access is refused, and an exception is stepped over.
    unsafe {
        if attacker.once_in(2) {
            core::arch::asm!("ld {}, 0({})", out(reg) _, in(reg) address);
        } else {
            core::arch::asm!("sd zero, 0({})", in(reg) address);
        }
    }
    if traps::exceptions() == before {
        record::fail(
            start::program(),
            format_args!("the access to {address:#x} was not refused"),
        );
    }
}
