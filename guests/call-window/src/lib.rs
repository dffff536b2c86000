//! Calls by loads from a window (`docs/src/reference/call-window.md`): the side of the VM that serves.
//!
//! A program of Linux cannot make a hypercall, but a load from a device that another VM emulates is a call of that VM.
//! The message and the reply are in the channel's memory; the load makes the call and gets its status. A [`Window`]
//! serves the loads and has no hardware in it.
//!
//! All that a client writes is read once, and none of it is an address or a length of this crate's own accesses.
#![cfg_attr(not(test), no_std)]

use core::sync::atomic::{AtomicU64, Ordering, compiler_fence};

/// The words of a message, and of a reply.
pub type Message = [u64; 8];

/// Registers of the window, by their offsets. All are 8 bytes wide and can be loaded by parts.
pub mod register {
    /// Reads as [`IDENTITY_VALUE`](super::IDENTITY_VALUE).
    pub const IDENTITY: u32 = 0;
    /// Bits 31:0: [`VERSION_VALUE`](super::VERSION_VALUE); bits 63:32: the number of clients.
    pub const VERSION: u32 = 8;
    /// The number by which the service says which one it is.
    pub const SERVICE: u32 = 16;
    /// Bytes of data that each client shares with the service.
    pub const DATA: u32 = 24;
    /// When this life of the service began, in ticks of `time`; never 0.
    pub const LIFE: u32 = 32;
    /// A load from 8 bytes further for each client is a call of that client, and gets its [`status`](super::status).
    pub const CALL: u32 = 2048;
}

/// Statuses of a call. A load gets 0 where the service is not there, or has a fault in it.
pub mod status {
    /// The reply is in the client's slot.
    pub const REPLIED: u64 = 1;
    /// There is no such client; nothing was called.
    pub const REFUSED: u64 = 2;
}

/// States of a slot.
pub mod state {
    /// Stored by the client before the call.
    pub const IDLE: u64 = 0;
    /// Stored by the service before its function begins.
    pub const BEGUN: u64 = 1;
    /// Stored by the service behind the reply.
    pub const REPLIED: u64 = 2;
}

/// "TACTCALL", the first byte first.
pub const IDENTITY_VALUE: u64 = u64::from_le_bytes(*b"TACTCALL");
/// The version of this convention.
pub const VERSION_VALUE: u32 = 1;
/// The greatest number of clients.
pub const CLIENTS_MAX: usize = 32;
/// Words of a slot: the message or reply, its state, the life of the service that replied, and five that are reserved.
pub const SLOT_WORDS: usize = 16;
/// The slot's word with its [`state`].
pub const SLOT_STATE: usize = 8;
/// The slot's word with the life of the service that replied.
pub const SLOT_LIFE: usize = 9;
/// Words in front of the data, of all slots.
pub const SLOTS_WORDS: usize = CLIENTS_MAX * SLOT_WORDS;
/// The data of a client are a multiple of so many words.
const DATA_UNIT: usize = 8;

/// A call of a client.
#[derive(Clone, Copy, Debug)]
pub struct Call<'m> {
    /// The number of the client.
    pub client: usize,
    /// Its message, which the client can no longer change.
    pub message: Message,
    /// Its data, which it can change at any time.
    pub data: &'m [AtomicU64],
}

/// The window of a channel, to be served.
#[derive(Clone, Copy, Debug)]
pub struct Window<'m> {
    memory: &'m [AtomicU64],
    clients: usize,
    /// Words of data of each client.
    data: usize,
    service: u64,
    life: u64,
}

impl<'m> Window<'m> {
    /// A window for `clients` at a time, by the memory of its channel. `service` says which service it is, and `life`
    /// is the present time, in ticks. `None`: the memory has less than 4 KiB, or the number of clients is not 1 to 32.
    pub fn new(memory: &'m [AtomicU64], clients: usize, service: u64, life: u64) -> Option<Self> {
        let data = memory.len().checked_sub(SLOTS_WORDS)?;
        if !(1..=CLIENTS_MAX).contains(&clients) {
            return None;
        }
        Some(Self {
            memory,
            clients,
            data: data / clients / DATA_UNIT * DATA_UNIT,
            service,
            life: life.max(1),
        })
    }

    /// Serves an access at `offset`, and returns what a load gets. `serve` is the service's function, which is executed
    /// if the access is a call. Stores have no effect.
    pub fn access(
        &self,
        offset: u32,
        store: Option<u64>,
        serve: impl FnOnce(Call<'m>) -> Message,
    ) -> u64 {
        match (store, offset.checked_sub(register::CALL)) {
            (Some(_), _) => 0,
            (None, Some(place)) => self.call(place, serve),
            (None, None) => self.register(offset & !7) >> (8 * (offset & 7)),
        }
    }

    fn register(&self, offset: u32) -> u64 {
        match offset {
            register::IDENTITY => IDENTITY_VALUE,
            register::VERSION => u64::from(VERSION_VALUE) | (self.clients as u64) << 32,
            register::SERVICE => self.service,
            register::DATA => 8 * self.data as u64,
            register::LIFE => self.life,
            _ => 0,
        }
    }

    fn call(&self, place: u32, serve: impl FnOnce(Call<'m>) -> Message) -> u64 {
        let client = place as usize / 8;
        if !place.is_multiple_of(8) || client >= self.clients {
            return status::REFUSED;
        }
        let slot = &self.memory[client * SLOT_WORDS..][..SLOT_WORDS];
        let message = core::array::from_fn(|word| slot[word].load(Ordering::Relaxed));
        slot[SLOT_STATE].store(state::BEGUN, Ordering::Relaxed);
        // A fault of `serve` finds the state stored. The client reads it on the hart that executes this.
        compiler_fence(Ordering::SeqCst);
        let reply = serve(Call {
            client,
            message,
            data: &self.memory[SLOTS_WORDS + client * self.data..][..self.data],
        });
        compiler_fence(Ordering::SeqCst);
        for (word, value) in slot.iter().zip(reply) {
            word.store(value, Ordering::Relaxed);
        }
        slot[SLOT_LIFE].store(self.life, Ordering::Relaxed);
        slot[SLOT_STATE].store(state::REPLIED, Ordering::Release);
        status::REPLIED
    }
}
