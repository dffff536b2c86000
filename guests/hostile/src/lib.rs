//! What the hostile guest and the guest that watches share: a page that outlives the hostile one, and a look at their
//! floating-point registers.
//!
//! The hostile guest keeps its progress in the memory of channel 0, which a restart leaves alone. Each time it is
//! stopped for what it did it continues with the next thing. The watcher sees there when it has done everything.
#![no_std]
#![cfg(target_arch = "riscv64")]

pub mod floating;
pub mod meeting;

use core::sync::atomic::{AtomicU64, Ordering};

use tactus_guest::{channel::Channel, hypervisor};

/// Bytes of the channel's memory.
pub const PAGE_SIZE: usize = 4096;

/// Words in use, see [`Word`].
const WORDS: usize = 5;

/// The page.
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
    /// Steps that the guest's own trap handler was given.
    Trapped = 2,
    /// Steps that went through.
    Through = 3,
    /// 1 as soon as there is nothing left to do.
    Done = 4,
}

impl Page {
    /// The page in channel 0; natively, where there are no channels, nor a second life, a page of the guest's own.
    ///
    /// # Safety
    ///
    /// Under Tactus, the VM has a channel 0 with at least [`PAGE_SIZE`] bytes.
    pub unsafe fn get() -> Self {
        static NATIVE: [AtomicU64; WORDS] = [const { AtomicU64::new(0) }; WORDS];
        Self {
            words: if hypervisor::is_present() {
                // SAFETY: the caller vouches for the channel.
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

    /// Adds one to a word and returns what it was.
    pub fn count(self, word: Word) -> u64 {
        self.words[word as usize].fetch_add(1, Ordering::AcqRel)
    }
}
