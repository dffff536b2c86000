//! The device side of ivshmem version 2 (Jailhouse's "IVSHMEM Device Specification", a draft), for a VM that emulates
//! it for others: no allocation, no waiting, and a bounded number of steps for each access of a peer, whatever that
//! does.
//!
//! Each peer has a PCI host with one function on bus 0. A window of its addresses is forwarded to the service: first
//! the configuration spaces of the bus ([`ECAM`]), then the page of the function's registers, its BAR 0. The shared
//! memory is no part of the window.
//!
//! | module | contents |
//! |---|---|
//! | [`space`] | the function's configuration space |
//! | [`link`] | the peers, their registers and state tables |
//!
//! **BAR 0 has one place.** The host's memory window is a page, as large as the BAR, so that an operating system that
//! assigns addresses can choose no other, and one that does not finds it there at reset. The BAR can be written, as
//! every operating system does to find its size; at another address, or with Memory Space disabled, the registers are
//! not decoded.
//!
//! **A function whose registers are no longer decoded is reset**: its state is 0, and the others are told. Each
//! enumeration of the bus does that. So a VM that restarts leaves no state behind that its peers would take for its
//! present one.
//!
//! **Each peer has a state table of its own**, in memory that only it and the service have. It can write that table,
//! which the specification does not want, and misleads only itself.
#![cfg_attr(not(test), no_std)]

pub mod link;
pub mod space;

/// Bytes of the configuration spaces of the bus, at the start of a peer's window.
pub const ECAM: u32 = 1 << 20;
/// Bytes of BAR 0, which follows.
pub const REGISTERS: u32 = 4096;
/// Bytes of the window.
pub const WINDOW: u32 = ECAM + REGISTERS;
/// The most peers of a link.
pub const PEERS: usize = 8;
