//! Virtio devices that other VMs emulate for this one, driven in every wrong way.

use tactus_guest_hostile::virtqueues::Victim;

use super::Attacker;

/// Accesses of one step.
const ACCESSES: usize = 16;
/// Devices that it looks for.
pub const DEVICES: usize = 4;

/// Sets queues up, changes and notifies them, resets the device amid requests.
pub fn misuse(attacker: &mut Attacker) {
    let number = attacker.below(DEVICES);
    // To look for one takes a while, and most VMs have none.
    let Some(victim) = *attacker.victims[number].get_or_insert_with(|| Victim::find(number)) else {
        return;
    };
    for _ in 0..ACCESSES {
        victim.step(&mut attacker.random);
    }
}
