//! The scheduler's decisions: each against its specification, and all in a system that is explored exhaustively.

mod decisions;
mod exploration;
mod model;
mod rules;
