//! What the VM shares with others: doorbells, and the memory of its channels.

use core::sync::atomic::Ordering;

use tactus_guest::{
    abi::hypercall::{EXTENSION, MESSAGE_SEND},
    channel::Channel,
    record,
    sbi::call_raw,
    start,
};

use super::Attacker;

/// Rounds of one step.
const ROUNDS: usize = 32;
/// Writes and messages of one step.
const WRITES: usize = 128;
/// Words of a channel that one step writes.
const WORDS: usize = 512;
/// Bytes of a message at most.
const MESSAGE_MAX: usize = 512;

/// Rings all doorbells by stores.
pub fn ring(attacker: &mut Attacker) {
    for _ in 0..ROUNDS {
        attacker.rights.channels().for_each(Channel::ring);
    }
}

/// Rings them by calls.
pub fn notify(attacker: &mut Attacker) {
    for _ in 0..ROUNDS {
        for channel in attacker.rights.channels() {
            // Any answer is accepted: only the load of the calls counts.
            let _ = channel.notify();
        }
    }
}

/// A channel of the VM.
fn any_channel(attacker: &mut Attacker) -> Option<Channel> {
    let count = attacker.rights.channels().count();
    let index = attacker.below(count);
    attacker.rights.channels().nth(index)
}

/// Arbitrary words and plausible positions in the rings, records and messages of every kind.
pub fn garbage(attacker: &mut Attacker) {
    let Some(channel) = any_channel(attacker) else {
        return;
    };
    let words = channel.words();
    let mut rings = channel.rings();
    let mut buffer = [0; MESSAGE_MAX];
    for _ in 0..WRITES {
        // The positions of the rings are at the start, each in a cache line of its own.
        let control = &words[attacker.below(4) * 8];
        let any = &words[attacker.below(words.len())];
        let number = attacker.random.next();
        let length = attacker.below(MESSAGE_MAX);
        match attacker.below(9) {
            0 => any.store(number, Ordering::Relaxed),
            1 => any.store(number >> (number % 64), Ordering::Relaxed),
            2 => control.store(number, Ordering::Relaxed),
            3 => control.store(any.load(Ordering::Relaxed), Ordering::Relaxed),
            4 => {
                control.fetch_add(number % 4096, Ordering::Relaxed);
            }
            5 if attacker.once_in(64) => rings = channel.rings(),
            6 => {
                if let Some((producer, consumer)) = &mut rings {
                    // Any result is accepted.
                    let _ = producer.send(&buffer[..length]);
                    let _ = consumer.receive(&mut buffer[..length]);
                }
            }
            7 => {
                let _ = channel.send(&buffer[..length], number as u8, number >> 56);
            }
            5 | 8 => {
                let _ = channel.receive(&mut buffer[..length], number >> 56);
            }
            _ => {}
        }
    }
    channel.ring();
    send_foreign(attacker);
}

/// Sends from addresses that are not the VM's, which must be refused.
fn send_foreign(attacker: &mut Attacker) {
    for number in 0..attacker.rights.channels().count() {
        for address in [0x1000, 0x7fff_ffff, usize::MAX - 7] {
            // SAFETY: a send writes to nothing of this VM's.
            let answer =
                unsafe { call_raw(EXTENSION, MESSAGE_SEND, [number, address, 8, 0, 0, 0]) };
            if answer.error == 0 {
                record::fail(start::program(), "sent from a foreign address");
            }
        }
    }
}

/// Writes all memory that it shares, a part in each step.
pub fn write_all(attacker: &mut Attacker) {
    let Some(channel) = any_channel(attacker) else {
        return;
    };
    let words = channel.words();
    let begin = attacker.below(words.len().saturating_sub(WORDS));
    let number = attacker.random.next();
    for word in words[begin..].iter().take(WORDS) {
        word.store(number, Ordering::Relaxed);
    }
    channel.ring();
}
