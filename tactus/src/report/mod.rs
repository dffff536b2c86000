//! What a run produced, for people and for programs.

pub mod samples;
pub mod unit;
