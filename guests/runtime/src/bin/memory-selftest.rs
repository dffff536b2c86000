//! Two VMs that write and read all of their free memory. One restarts again and again; it must find its memory clear
//! each time, and the other one must find nothing changed. `systems/memory.toml` is their system.
//!
//! Boot arguments: `lives=N` (0): the VM restarts until it has had so many lives; 0: it is the other one, and ends when
//! the first has had as many as `until=N` says. Their channel's first word counts them.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering};

use tactus_guest::abi::map;
use tactus_guest::channel::Channel;
use tactus_guest::{devicetree, power, record, sbi, start};

tactus_guest::entry!(main);

/// Distance of the words that are written, in bytes: each line of the caches has one.
const DISTANCE: usize = 32;

/// A word in each line of the memory that the program does not use: below its image, and from its end to the
/// devicetree.
fn free() -> impl Iterator<Item = &'static AtomicU64> {
    let size = devicetree::memory_size().expect("a VM has memory");
    let end = map::RAM_BASE + size - map::DEVICETREE_SIZE;
    let image_end = start::image_end().next_multiple_of(DISTANCE) as u64;
    let below = map::RAM_BASE..map::RAW_IMAGE_BASE;
    let lines = below
        .step_by(DISTANCE)
        .chain((image_end..end).step_by(DISTANCE));
    // SAFETY: aligned, and within the VM's memory, of which nothing else uses this part.
    lines.map(|address| unsafe { &*(address as *const AtomicU64) })
}

/// What a word has: each another value.
fn pattern(word: &AtomicU64, salt: u64) -> u64 {
    (&raw const *word as u64 ^ salt).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1
}

fn write(salt: u64) {
    free().for_each(|word| word.store(pattern(word, salt), Ordering::Relaxed));
}

fn check(salt: u64) {
    for word in free() {
        let value = word.load(Ordering::Relaxed);
        assert_eq!(value, pattern(word, salt), "at {word:p}");
    }
}

fn main() {
    let channel = Channel::find(0).expect("it has a channel");
    let ended = &channel.words()[0];
    let lives = devicetree::number("lives", 0);
    if lives == 0 {
        write(0);
        let mut looks = 0;
        while ended.load(Ordering::Acquire) < devicetree::number("until", 0) {
            check(0);
            looks += 1;
        }
        record::metric("memory_looks", looks, "count");
    } else {
        let life = ended.load(Ordering::Relaxed);
        for word in free() {
            assert_eq!(word.load(Ordering::Relaxed), 0, "life {life}: at {word:p}");
        }
        write(life + 1);
        check(life + 1);
        ended.store(life + 1, Ordering::Release);
        if life + 1 < lives {
            // A cold reboot, for no reason.
            let error = sbi::system_reset(1, 0);
            panic!("it does not restart: {error:?}");
        }
        record::metric("memory_lives", lives, "count");
    }
    record::pass(start::program());
    power::off();
}
