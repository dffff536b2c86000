//! The scheduler's decisions: each against its specification, and all in systems that are explored, exhaustively or
//! under random releases.

mod decisions;
mod exploration;
mod model;
mod releases;
mod rules;
