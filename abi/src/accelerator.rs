//! What a VM and the device manager tell each other of virtual devices, in the memory of a channel between them.
//!
//! A *slot* is [`SLOT_SIZE`] bytes for each interface, in the order of their numbers, from the channel's first byte. Both ends write whole words, each its own, and each word says all of how things are: who has missed one,
//! or begins anew, has lost nothing. The doorbell only says that there is something to look at. What a VM writes is a wish, and concerns its own devices alone.
//!
//! | offset | written by | |
//! |---|---|---|
//! | 0 | the device manager | the last signal: [`SIGNAL_WAIT`] ...; bits 31:8 count them |
//! | 4 | the VM | bits 31:8 count the VM's wishes; bits 7:0 the last: [`WISH_CANCEL`] ... |
//! | 8 | the device manager | the last wish that it has carried out, as it stood there |
//!
//! A channel that carries slots carries no rings.

/// Bytes of a slot: a line of the caches.
pub const SLOT_SIZE: usize = 64;
/// Offset of the device manager's signal.
pub const SIGNAL: usize = 0;
/// Offset of the VM's wish.
pub const WISH: usize = 4;
/// Offset of the wish that was carried out.
pub const DONE: usize = 8;

/// Offset, in the page of a virtual device, of the register whose bit 0 says that a computation is asked for and has not begun: `START` of `fabric/regs/virtual_device.rdl`.
pub const START: u64 = 8;

/// There is no region yet: *IPC_WAIT*.
pub const SIGNAL_WAIT: u32 = 1;
/// There is one: *IPC_READY*.
pub const SIGNAL_READY: u32 = 2;
/// The region was taken from an unfinished computation: *IPC_PREEMPT*.
pub const SIGNAL_PREEMPT: u32 = 3;

/// A region is wanted: for what the VM is going to start.
pub const WISH_REQUEST: u32 = 1;
/// What is not running is not wanted any more: it ends with error 15.
pub const WISH_CANCEL: u32 = 2;

/// The signal or wish of a word.
pub const fn kind(word: u32) -> u32 {
    word & 0xff
}

/// The word behind `last` that says `kind`.
pub const fn next(last: u32, kind: u32) -> u32 {
    (last & !0xff).wrapping_add(0x100) | kind
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_count_and_say() {
        let first = next(0, SIGNAL_READY);
        let second = next(first, SIGNAL_READY);
        assert_ne!(first, second);
        assert_eq!((kind(first), kind(second)), (SIGNAL_READY, SIGNAL_READY));
        assert_eq!(kind(next(u32::MAX, WISH_CANCEL)), WISH_CANCEL);
    }
}
