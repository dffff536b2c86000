//! Writes garbage to each register of an accelerator's virtual device, in every width, alignment and kind of access and
//! in every state of the device: requests arbitrary computations at arbitrary addresses, and restarts the guest during
//! some of them.

use tactus_guest::{abi::map, power};

use super::{mmio, progress::Progress};

/// Steps between two restarts of the guest by itself.
const LIFE: u64 = 500;

/// Makes all accesses to the task's virtual device, at `offsets` (94 at least) places, `rounds` times. This attack does
/// not touch the neighbouring pages.
pub fn attack(progress: Progress, task: u64, offsets: u64, rounds: u64) {
    let page = map::ACCELERATOR_BASE + task * map::PAGE_SIZE;
    // No access is wider than 8 bytes.
    let within = page..page + map::PAGE_SIZE - 8;
    let devices = [(page, map::PAGE_SIZE)];
    mmio::touch(progress, &devices, offsets, rounds, |step, address| {
        if step % LIFE == LIFE - 1 {
            power::restart();
        }
        within.contains(&address)
    });
}
