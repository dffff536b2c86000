//! The registers of the fabric's blocks, as software sees them.
//!
//! Each module is generated from the block's description in `fabric/regs` by `fabric/flow.py regs`, and `fabric/flow.py
//! lint` fails where it is not what the description gives.
//!
//! ```no_run
//! use tactus_registers::stamp::Stamp;
//! # let page: *mut () = core::ptr::null_mut();
//! // Safety: `page` is where the block's registers are mapped, and nothing else reads its counter.
//! let stamp = unsafe { Stamp::from_ptr(page) };
//! assert_eq!(stamp.id().read().kind(), 0x5354);
//! let cycles = stamp.cycles().read().value();
//! # let _ = cycles;
//! ```
#![no_std]

/// Access to the words of a block's memory.
pub use peakrdl_rust::mem::Memory;

#[allow(
    missing_docs,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    reason = "generated"
)]
pub mod allocation_table;
#[allow(
    missing_docs,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    reason = "generated"
)]
pub mod configuration_port;
#[allow(
    missing_docs,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    reason = "generated"
)]
pub mod ethernet_controller;
#[allow(
    missing_docs,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    reason = "generated"
)]
pub mod gpio_controller;
#[allow(
    missing_docs,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    reason = "generated"
)]
pub mod interface_manager;
#[allow(
    missing_docs,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    reason = "generated"
)]
pub mod io_manager;
#[allow(
    missing_docs,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    reason = "generated"
)]
pub mod io_port;
#[allow(
    missing_docs,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    reason = "generated"
)]
pub mod mesh_counters;
#[allow(
    missing_docs,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    reason = "generated"
)]
pub mod mesh_interface;
#[allow(
    missing_docs,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    reason = "generated"
)]
pub mod mesh_manager;
#[allow(
    missing_docs,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    reason = "generated"
)]
pub mod ready_queue;
#[allow(
    missing_docs,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    reason = "generated"
)]
pub mod region;
#[allow(
    missing_docs,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    reason = "generated"
)]
pub mod region_allocator;
#[allow(
    missing_docs,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    reason = "generated"
)]
pub mod region_monitor;
#[allow(
    missing_docs,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    reason = "generated"
)]
pub mod spi_controller;
#[allow(
    missing_docs,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    reason = "generated"
)]
pub mod stamp;
#[allow(
    missing_docs,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    reason = "generated"
)]
pub mod timed_io;
#[allow(
    missing_docs,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    reason = "generated"
)]
pub mod timed_io_manager;
#[allow(
    missing_docs,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    reason = "generated"
)]
pub mod uart_controller;
#[allow(
    missing_docs,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    reason = "generated"
)]
pub mod vga_controller;
#[allow(
    missing_docs,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    reason = "generated"
)]
pub mod virtual_device;
