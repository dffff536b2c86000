//! Code shared by the guests that attack and those that watch them: a page that survives restarts, a check of
//! floating-point registers, random numbers, and parts of attacks.
//!
//! The hostile guest keeps its progress in the memory of channel 0, which a restart preserves. Each time the hypervisor
//! has stopped it, it continues with the next step. The watcher reads there when all steps are done.
#![no_std]
#![cfg(target_arch = "riscv64")]

pub mod disk;
pub mod floating;
pub mod io;
pub mod meeting;
pub mod random;
pub mod reservations;
pub mod virtqueues;

use core::sync::atomic::{AtomicU64, Ordering};

use tactus_guest::{channel::Channel, hypervisor, time};

/// Bytes of the channel's memory.
pub const PAGE_SIZE: usize = 4096;

/// Words in use, see [`Word`].
const WORDS: usize = 7;

/// Most cycles between two reads of the clock in which the vCPU has only executed.
const STEP: u64 = 100;

/// Executes for so many cycles, those left out in which others had the hart.
pub fn execute(cycles: u64) {
    let (mut done, mut last) = (0, time::cycles());
    while done < cycles {
        let now = time::cycles();
        if now - last <= STEP {
            done += now - last;
        }
        last = now;
    }
}

/// The page of counters.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    words: &'static [AtomicU64],
}

/// A word of the page. All are 0 at first.
#[derive(Clone, Copy, Debug)]
#[repr(usize)]
pub enum Word {
    /// How often the hostile guest has started.
    Boots = 0,
    /// The step to take next.
    Step = 1,
    /// Steps refused by an exception, which the guest's own trap handler took.
    Trapped = 2,
    /// Steps that succeeded.
    Through = 3,
    /// 1 as soon as all steps are done.
    Done = 4,
    /// When the hostile guest last ended its own life, in ticks of `time`; 0 as soon as the next one has begun.
    Ended = 5,
    /// Ticks of the longest time from there to the next life.
    RestartMax = 6,
}

impl Page {
    /// Opens the page in channel 0; natively, without channels and restarts, a page of the guest's own memory.
    ///
    /// # Safety
    ///
    /// Under Tactus, the VM has a channel 0 with at least [`PAGE_SIZE`] bytes.
    pub unsafe fn get() -> Self {
        static NATIVE: [AtomicU64; WORDS] = [const { AtomicU64::new(0) }; WORDS];
        Self {
            words: if hypervisor::is_present() {
                // SAFETY: the caller guarantees the channel.
                unsafe { Channel::first(PAGE_SIZE) }.words()
            } else {
                &NATIVE
            },
        }
    }

    /// Value of a word.
    pub fn load(self, word: Word) -> u64 {
        self.words[word as usize].load(Ordering::Acquire)
    }

    /// Sets a word.
    pub fn store(self, word: Word, value: u64) {
        self.words[word as usize].store(value, Ordering::Release);
    }

    /// Adds one to a word and returns its previous value.
    pub fn count(self, word: Word) -> u64 {
        self.words[word as usize].fetch_add(1, Ordering::AcqRel)
    }
}
