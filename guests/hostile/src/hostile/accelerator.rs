//! Garbage to each register of an accelerator's virtual device, in every width, alignment and kind of access and
//! whatever it is doing: computations are asked for of anything, anywhere, and the guest restarts itself in the middle
//! of some.

use tactus_guest::{abi::map, power};

use super::{mmio, progress::Progress};

/// After how many steps the guest restarts itself.
const LIFE: u64 = 500;

/// Makes all accesses to the virtual device of the task, at `offsets` (94 at least) places, `rounds` times. What is
/// beside it is none of this attack's business.
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
