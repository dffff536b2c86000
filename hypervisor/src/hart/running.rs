//! What a hart runs, as others see it, and a vCPU's place among all: ordered by precedence.

/// Nothing.
pub const IDLE: u32 = 0;
/// Plus the priority: a best-effort vCPU.
pub const BEST_EFFORT: u32 = 0x100;
/// Plus the priority: a real-time vCPU.
pub const REAL_TIME: u32 = 0x200;
