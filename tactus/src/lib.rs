//! Describes, checks, builds, runs and measures Tactus systems.
//!
//! Data flows one way: [`config`] reads `system.toml`, [`check`] judges it and lays it out as a [`plan`],
//! [`image`] makes the boot image of the plan, [`run`] boots it, [`report`] says what happened; [`mod@bench`] repeats
//! published experiments, [`sweep`] runs a system with many values of what one varies, [`attack`] tries it with hostile
//! guests, [`faults`] lets faults happen in it, [`evidence`] writes what an assessor needs.

pub mod accelerators;
pub mod artifacts;
pub mod attack;
pub mod bench;
pub mod boot;
mod capture;
pub mod check;
pub mod cli;
pub mod collect;
pub mod columns;
pub mod config;
pub mod ctl;
pub mod devicetree;
pub mod evidence;
pub mod fabric;
pub mod faults;
mod fewer_vms;
pub mod guest_image;
pub mod hypervisor;
pub mod illegal;
pub mod image;
mod io_bounds;
pub mod junit;
mod man;
pub mod new;
#[cfg(test)]
mod parsers;
pub mod pci;
pub mod plan;
pub mod problem;
pub mod profile;
pub mod progress;
pub mod report;
pub mod run;
pub mod sign;
pub mod stall;
pub mod sweep;
mod symbols;
pub mod tiles;
pub mod timed_io;
pub mod walk;
pub mod warm;

#[cfg(any(test, feature = "testing"))]
pub mod testing;
