//! The interrupt controller: completions without an interrupt, interrupts that are enabled and disabled, lines that
//! stay up, and pages of interrupts that move.

use tactus_guest::{
    abi::{
        hypercall::{EXTENSION, INTERRUPT_END, INTERRUPT_PAGE},
        map,
    },
    plic::Plic,
    sbi::call_raw,
    start, trap,
};

use super::{Attacker, memory};

/// Rounds of one step.
const ROUNDS: usize = 8;
/// Claims of one step.
const CLAIMS: usize = 256;
/// Interrupt enable register of a 16550, and its bit for "can send".
const UART_IER: usize = 1;
const CAN_SEND: u8 = 2;
/// Registers of the alarm of a goldfish real-time clock.
const ALARM: [(usize, u32); 3] = [(0x10, 1), (0x0c, 0), (0x08, 0)];

/// Sources that the VM may have.
fn sources(attacker: &Attacker) -> impl Iterator<Item = u32> + use<> {
    let channels = attacker.rights.channels().count() as u32;
    (1..=map::PASSTHROUGH_SOURCE_MAX).chain(map::FAULT_SOURCE..map::CHANNEL_SOURCE + channels)
}

/// Lines rise, and stay up: of the real-time clock, and of the virtual UART, which can always send.
fn raise(attacker: &Attacker) {
    if let Some(clock) = attacker.rights.clock {
        for (register, value) in ALARM {
            // SAFETY: a register of a device of this VM, which does not access memory.
            unsafe { ((clock + register) as *mut u32).write_volatile(value) };
        }
    }
    if attacker.rights.console {
        // SAFETY: a register of the virtual UART.
        unsafe { ((map::UART_BASE as usize + UART_IER) as *mut u8).write_volatile(CAN_SEND) };
    }
}

/// Completes interrupts by calls.
pub fn end(attacker: &mut Attacker) {
    raise(attacker);
    for _ in 0..ROUNDS {
        for source in sources(attacker) {
            // SAFETY: changes no memory.
            unsafe { call_raw(EXTENSION, INTERRUPT_END, [source as usize, 0, 0, 0, 0, 0]) };
        }
    }
}

/// Claims and completes interrupts by the virtual controller, also those that it has not claimed.
pub fn complete(attacker: &mut Attacker) {
    raise(attacker);
    let plic = Plic::of_hart(start::hart());
    trap::without_interrupts(|| {
        for source in sources(attacker) {
            plic.enable(source, 1 + source % map::PLIC_PRIORITY_MAX);
        }
        for _ in 0..CLAIMS {
            if let Some(source) = plic.claim() {
                plic.complete(source);
            }
        }
        plic.complete(1 + attacker.below(map::PLIC_SOURCES as usize) as u32);
    });
}

/// Enables and disables interrupts that are pending, for each vCPU of the VM.
pub fn toggle(attacker: &mut Attacker) {
    raise(attacker);
    for vcpu in 0..attacker.rights.vcpus {
        let plic = Plic::of_hart(vcpu);
        for source in sources(attacker) {
            plic.enable(source, 1 + attacker.below(7) as u32);
            plic.disable(source);
        }
        for _ in 0..ROUNDS {
            plic.enable(map::UART_SOURCE, 1);
            plic.disable(map::UART_SOURCE);
        }
    }
}

/// Takes its interrupts by a page that moves, is written to, and ends.
pub fn page(attacker: &mut Attacker) {
    let wrong = [8, 0x0c00_0000, 0x3000_0000, usize::MAX - 63];
    for _ in 0..ROUNDS {
        let address = match attacker.below(4) {
            0 => 0,
            1 => attacker.random.choose(&wrong),
            _ => memory::scratch() + attacker.below(32) * 64,
        };
        // SAFETY: the hypervisor writes to the scratch memory.
        unsafe { call_raw(EXTENSION, INTERRUPT_PAGE, [address, 0, 0, 0, 0, 0]) };
        for _ in 0..ROUNDS {
            let value = attacker.random.next();
            memory::scratch_word(attacker.below(256), value);
        }
        attacker
            .rights
            .channels()
            .for_each(|channel| channel.ring());
    }
    // SAFETY: as above.
    unsafe { call_raw(EXTENSION, INTERRUPT_PAGE, [0; 6]) };
}
