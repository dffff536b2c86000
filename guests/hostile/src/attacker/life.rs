//! Restarts of the VM by itself.

use tactus_guest::{power, start};

use super::{Attacker, calls, shared};

/// Makes some noise, and restarts the VM.
pub fn restart(attacker: &mut Attacker) {
    shared::ring(attacker);
    for _ in 0..attacker.below(16) {
        calls::flood(attacker);
    }
    if start::hart() == 0 {
        power::restart();
    }
}
