//! Describes, checks, builds, runs and measures Tactus systems.
//!
//! Data flows one way: [`config`] reads `system.toml`, [`check`] judges it and lays it out, [`build`]
//! makes the boot image, [`run`] boots it, [`report`] says what happened; [`bench`] repeats published
//! experiments.

pub mod bench;
pub mod build;
pub mod check;
pub mod cli;
pub mod config;
pub mod report;
pub mod run;
