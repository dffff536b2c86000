//! Writes garbage to each register of its I/O port and its timed I/O, in every width, alignment and kind of access.
//! Sends arbitrary requests to arbitrary addresses, and takes or leaves the responses. Schedules senseless programs.
//! Restarts the guest during some of these.

use tactus_guest::{abi::map, power};
use tactus_guest_hostile::io::{ask, schedule};

use super::{mmio, progress::Progress, random::Random};

/// Steps between two restarts of the guest by itself.
const LIFE: u64 = 1_500;

/// Makes all accesses to the two pages, at `offsets` (94 at least) places of each, `rounds` times. This attack does not
/// touch the neighbouring pages.
pub fn attack(progress: Progress, offsets: u64, rounds: u64) {
    let devices = [map::IO_PORT_BASE, map::TIMED_IO_BASE];
    let devices = devices.map(|page| (page, map::PAGE_SIZE));
    mmio::touch(progress, &devices, offsets, rounds, |step, address| {
        if step % LIFE == LIFE - 1 {
            power::restart();
        }
        let mut random = Random::new(!step);
        ask(&mut random, map::IO_PORT_BASE);
        schedule(&mut random, map::TIMED_IO_BASE);
        // No access is wider than 8 bytes.
        let within = |page: &u64| (*page..page + map::PAGE_SIZE - 8).contains(&address);
        [map::IO_PORT_BASE, map::TIMED_IO_BASE].iter().any(within)
    });
}
