//! Emulates a device for another VM, as badly as it can: answers of any kind, none at all, interrupts without pause,
//! writes to all that it shares, and faults.

use core::arch::asm;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU64, Ordering};

use tactus_guest::call::{self, Message, Stack};
use tactus_guest::channel::Channel;
use tactus_guest::emulation::{Access, Reply};
use tactus_guest::time;

use super::{progress::Progress, random::Random};

/// The channel of the VM that has the device.
const CLIENT: usize = 1;
/// Accesses that are to be made again, one after the other.
const AGAIN_MAX: u64 = 500;
/// One access in so many ends this life.
const DEADLY_EVERY: u64 = 64;
/// Words that an access has written.
const WRITES: u64 = 64;

static STACK: Stack = Stack::new();
/// The progress, for calls: in one, nothing can be asked of the hypervisor.
struct Kept(UnsafeCell<Option<Progress>>);

// SAFETY: `attack` sets it before the first call; then calls read it.
unsafe impl Sync for Kept {}

static PROGRESS: Kept = Kept(UnsafeCell::new(None));
/// Accesses until all is done.
static STEPS: AtomicU64 = AtomicU64::new(0);
/// Accesses that are still to be made again.
static AGAIN: AtomicU64 = AtomicU64::new(0);

/// Serves `steps` accesses; meanwhile its vCPU writes and rings.
pub fn attack(progress: Progress, steps: u64) {
    STEPS.store(steps, Ordering::Relaxed);
    // SAFETY: no calls yet.
    unsafe { *PROGRESS.0.get() = Some(progress) };
    if call::serve(serve, &STACK).is_err() {
        progress.breach("no VM has a device here");
    }
    let channel = Channel::find(CLIENT).expect("the system has it");
    let mut random = Random::new(progress.boots());
    while progress.taken() < steps {
        write(channel, &mut random);
        channel.ring();
        time::busy_wait(random.next() % 200);
    }
}

/// Writes words anywhere in what is shared.
fn write(channel: Channel, random: &mut Random) {
    let words = channel.words();
    for _ in 0..WRITES {
        words[random.next() as usize % words.len()].store(random.next(), Ordering::Relaxed);
    }
}

fn serve(channel: usize, message: Message) -> Message {
    let again = AGAIN.load(Ordering::Relaxed);
    if again > 0 {
        AGAIN.store(again - 1, Ordering::Relaxed);
        return Reply::AGAIN.into_message();
    }
    // SAFETY: it is not changed any more.
    let progress = unsafe { *PROGRESS.0.get() };
    let Some(step) = progress.and_then(|own| own.next(STEPS.load(Ordering::Relaxed))) else {
        return [0; 8];
    };
    let mut random = Random::new(!step);
    let number = random.next();
    if step % DEADLY_EVERY == DEADLY_EVERY - 1 {
        end(step / DEADLY_EVERY);
    }
    if number.is_multiple_of(256) {
        AGAIN.store((number >> 8) & (AGAIN_MAX - 1), Ordering::Relaxed);
    }
    if number.is_multiple_of(8) {
        let channel = Channel::find(channel).expect("a call came by it");
        write(channel, &mut random);
    }
    let access = Access::of(message);
    let reply = Reply {
        // Of a load never zero, which is what one gets that is not served.
        value: if access.store.is_none() {
            number | 1
        } else {
            number
        },
        // Its own, others, and those that are not there.
        ring: random.choose(&[
            None,
            Some(channel as u32),
            Some(0),
            Some(77),
            Some(u32::MAX),
        ]),
        again: number >> 60 == 0,
    };
    reply.into_message()
}

/// Ends this life, in the way of that number.
fn end(way: u64) {
    let foreign = |address: usize| {
        // SAFETY: there is no memory, or none of this VM: it has a fault by that.
        unsafe { (address as *mut u64).write_volatile(way) }
    };
    match way % 6 {
        0 => loop {
            core::hint::spin_loop();
        },
        // SAFETY: an instruction that is none, and one that would wait.
        1 => unsafe { asm!("unimp") },
        // Safety: it changes nothing but when the next instruction is executed.
        2 => unsafe { asm!("wfi") },
        3 => foreign(0x40),
        // Behind what it shares, and where a device with all memory of another VM would have that.
        4 => foreign(0x10_0000_0000 + (64 << 20)),
        _ => foreign(0x8000_0000 + (16 << 20)),
    }
}
