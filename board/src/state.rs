//! Saved states that can't be taken back.

/// A state that a device cannot take back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadState(pub String);
