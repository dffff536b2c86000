//! What the maker of a blob knows of ready queues.

use super::ReadyQueue;

impl ReadyQueue {
    /// Its name in `system.toml`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bitmap => "bitmap",
            Self::Linear => "linear",
            Self::Gp => "gp",
            Self::Hybrid => "hybrid",
            Self::Acp => "acp",
            Self::AcpPolling => "acp-polling",
        }
    }

    /// Whether it needs the hardware.
    pub const fn is_in_hardware(self) -> bool {
        !matches!(self, Self::Bitmap | Self::Linear)
    }
}
