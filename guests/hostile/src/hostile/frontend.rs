//! Drives the virtio devices that other VMs emulate for it in every wrong way. What is emulated for another VM by the
//! same service works on.

use tactus_guest_hostile::virtqueues::Victim;

use super::{progress::Progress, random::Random};

/// Devices that it has, at most.
const DEVICES: usize = 4;
/// Accesses of a step.
const ACCESSES: u64 = 8;

/// Takes `steps` steps.
pub fn attack(progress: Progress, steps: u64) {
    let victims: [Option<Victim>; DEVICES] = core::array::from_fn(Victim::find);
    let count = victims.iter().flatten().count();
    assert!(count > 0, "the system gives the hostile guest a device");
    while let Some(step) = progress.next(steps) {
        let mut random = Random::new(step);
        let number = random.next() as usize % count;
        for _ in 0..ACCESSES {
            if let Some(victim) = victims[number] {
                victim.step(&mut random);
            }
        }
    }
}
