//! Calls of other VMs by all channels, and calls and accesses to devices that are served by anything.

use core::arch::asm;

use tactus_guest::{
    call::{self, Message, Stack},
    emulation::Reply,
    time,
};

use super::Attacker;

/// Calls of one step.
const CALLS: usize = 16;
/// Channels that are tried; the VM has not all of them.
const CHANNELS: usize = 33;

static STACK: Stack = Stack::new();

/// Serves calls, if other VMs may make some, and calls all that it may.
pub fn misuse(attacker: &mut Attacker) {
    // Refused where no VM may call this one.
    let _ = call::serve(serve, &STACK);
    for _ in 0..CALLS {
        let message = core::array::from_fn(|_| attacker.random.next());
        let _ = call::call(attacker.below(CHANNELS), message);
    }
}

/// Replies anything, or does what is a fault of the VM. Which of these depends on the time.
fn serve(channel: usize, message: Message) -> Message {
    let now = time::now();
    match now.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 60 {
        0 => loop {
            core::hint::spin_loop();
        },
        // SAFETY: a fault of the VM, or an instruction without effect.
        1 => unsafe { asm!("wfi") },
        // SAFETY: there is no memory.
        2 => unsafe { (0x40 as *mut u64).write_volatile(now) },
        // SAFETY: an instruction that is none.
        3 => unsafe { asm!("unimp") },
        4 | 5 => {
            let _ = call::call(channel, message);
            let _ = call::call(now as usize % CHANNELS, message);
        }
        6..10 => time::busy_wait(now % 64),
        // An access to a device that it emulates: with interrupts of any VM that it has a channel to, made again.
        10..14 => {
            let reply = Reply {
                value: now,
                ring: Some(now as u32 % CHANNELS as u32),
                again: now.is_multiple_of(4),
            };
            return reply.into_message();
        }
        _ => {}
    }
    message.map(|word| word ^ now)
}
