//! Signals and commands between a VM and the device manager for virtual devices, in the memory of a channel between
//! them.
//!
//! A *slot* is [`SLOT_SIZE`] bytes for each interface, in the order of their numbers, from the channel's first byte.
//! Each word has one writer, is written as a whole, and holds the complete current state: an end that has missed a
//! word, or that restarts, has lost nothing. The doorbell only signals that a word has changed. A VM's commands affect
//! its own devices alone.
//!
//! | offset | written by | |
//! |---|---|---|
//! | 0 | the device manager | the last signal: [`SIGNAL_WAIT`] ...; bits 31:8 count them |
//! | 4 | the VM | the last command: [`COMMAND_REQUEST`] ...; bits 31:8 count them |
//! | 8 | the device manager | the last command that it has completed, a copy of the word |
//!
//! A channel that carries slots carries no rings.

/// Bytes of a slot: a line of the caches.
pub const SLOT_SIZE: usize = 64;
/// Offset of the device manager's signal.
pub const SIGNAL: usize = 0;
/// Offset of the VM's command.
pub const COMMAND: usize = 4;
/// Offset of the completed command.
pub const COMPLETED: usize = 8;

/// Offset, in a virtual device's page, of the register that says how it is: `STAT` of `fabric/regs/virtual_device.rdl`.
pub const STAT: u64 = 4;

/// Bits of [`STAT`].
pub mod stat {
    /// A region is connected.
    pub const CONNECTED: u32 = 1 << 0;
    /// A computation was stopped before it was over.
    pub const UNFINISHED: u32 = 1 << 2;
}

/// Offset, in the page of a virtual device, of the register whose bit 0 is set while a computation is requested and has
/// not begun: `START` of `fabric/regs/virtual_device.rdl`.
pub const START: u64 = 8;

/// The register of a virtual device that ends what it computes or was asked to compute, and reads one until nothing of
/// that can reach memory any more: `END` of `fabric/regs/virtual_device.rdl`.
pub const END: u64 = 0x28;

/// No region is assigned yet: *IPC_WAIT*.
pub const SIGNAL_WAIT: u32 = 1;
/// A region is assigned: *IPC_READY*.
pub const SIGNAL_READY: u32 = 2;
/// The region was preempted during a computation: *IPC_PREEMPT*.
pub const SIGNAL_PREEMPT: u32 = 3;

/// Requests a region for the next computation.
pub const COMMAND_REQUEST: u32 = 1;
/// Cancels a computation that is not running: it ends with error 15.
pub const COMMAND_CANCEL: u32 = 2;

/// The signal or command of a word.
pub const fn kind(word: u32) -> u32 {
    word & 0xff
}

/// The word that follows `last` and carries `kind`.
pub const fn next(last: u32, kind: u32) -> u32 {
    (last & !0xff).wrapping_add(0x100) | kind
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_carry_a_count_and_a_kind() {
        let first = next(0, SIGNAL_READY);
        let second = next(first, SIGNAL_READY);
        assert_ne!(first, second);
        assert_eq!((kind(first), kind(second)), (SIGNAL_READY, SIGNAL_READY));
        assert_eq!(kind(next(u32::MAX, COMMAND_CANCEL)), COMMAND_CANCEL);
    }
}
