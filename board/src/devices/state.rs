//! Devices' states as bytes.

use crate::bus::BadState;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The bytes of a state.
pub fn save<T: Serialize>(state: &T) -> Vec<u8> {
    // Devices' states are numbers, enumerations and sequences of known length: all that the format can refuse is
    // not among them.
    postcard::to_stdvec(state).expect("a state that postcard can hold")
}

/// The state that the bytes are. `device` names whose it is, for the error.
pub fn restore<T: DeserializeOwned>(device: &str, bytes: &[u8]) -> Result<T, BadState> {
    match postcard::take_from_bytes(bytes) {
        Ok((state, [])) => Ok(state),
        Ok((_, rest)) => Err(BadState(format!(
            "{device}: {} bytes follow its state",
            rest.len()
        ))),
        Err(error) => Err(BadState(format!("{device}: its state is damaged: {error}"))),
    }
}

/// Refuses a state for the given reason, unless `condition` holds.
pub fn require(condition: bool, device: &str, reason: &str) -> Result<(), BadState> {
    if condition {
        Ok(())
    } else {
        Err(BadState(format!("{device}: {reason}")))
    }
}
