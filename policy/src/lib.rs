//! All decisions of the hypervisor, as pure code without hardware access.
#![no_std]

pub mod admission;
pub mod covering;
pub mod deadline;
pub mod demand;
mod demand_bound;
pub mod hardware;
pub mod lead;
pub mod livelock;
pub mod mailbox;
pub mod migration;
pub mod modes;
pub mod pci;
pub mod ready;
pub mod record;
pub mod reservation;
pub mod schedule;
pub mod table;
pub mod translations;
