//! Messages between VMs and the manager, in the memory of the channels between them ([`tactus_abi::accelerator`]).

use core::sync::atomic::{AtomicU64, Ordering};

use tactus_abi::accelerator::{COMMAND, COMPLETED, SIGNAL, SLOT_SIZE, next};
use tactus_accelerators::{INTERFACES, Signal};
use tactus_guest::channel::Channel;

use crate::configuration::Configuration;

/// The slots of all interfaces whose VMs have a channel to the manager.
pub struct Slots {
    of: [Option<Slot>; INTERFACES],
}

#[derive(Clone, Copy)]
struct Slot {
    channel: Channel,
    number: u32,
    /// The word with the signal and the command, and the word with the last command executed.
    words: &'static [AtomicU64],
}

impl Slots {
    /// Opens the slots of the configuration.
    pub fn of(configuration: &Configuration) -> Self {
        let slot = |interface: usize| {
            let number = configuration.channels[interface]?;
            let channel = Channel::find(number as usize)?;
            let first = interface * SLOT_SIZE / 8;
            let words = channel.words().get(first..first + 2)?;
            Some(Slot {
                channel,
                number,
                words,
            })
        };
        Self {
            of: core::array::from_fn(slot),
        }
    }

    /// Takes a new command, of a VM whose channel is one of `rang`. Marks the command as
    /// executed.
    pub fn command(&self, interface: u8, rang: u32) -> Option<u32> {
        let slot = self.of.get(usize::from(interface))?.as_ref()?;
        if rang >> slot.number & 1 == 0 {
            return None;
        }
        let command = slot.load(COMMAND);
        let is_new = command != slot.load(COMPLETED);
        slot.store(COMPLETED, command);
        is_new.then_some(command)
    }

    /// Sends a signal to a VM.
    pub fn signal(&self, interface: u8, signal: Signal) {
        if let Some(Some(slot)) = self.of.get(usize::from(interface)) {
            slot.store(SIGNAL, next(slot.load(SIGNAL), signal as u32));
            slot.channel.ring();
        }
    }
}

impl Slot {
    fn load(&self, offset: usize) -> u32 {
        let word = self.words[offset / 8].load(Ordering::Acquire);
        (word >> (offset % 8 * 8)) as u32
    }

    /// Stores one half of a word; the other half belongs to the VM, or is unused.
    fn store(&self, offset: usize, value: u32) {
        let half = (&raw const self.words[offset / 8]).cast::<core::sync::atomic::AtomicU32>();
        // Safety: within the word, which is the channel's memory and lives as long as the VM; all accesses to it are
        // atomics of 32 or 64 bits.
        let half = unsafe { &*half.add(offset % 8 / 4) };
        half.store(value, Ordering::Release);
    }
}
