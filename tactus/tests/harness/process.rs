//! Waits for the end of a QEMU that counts instructions (`-icount sleep=off`), however slow or busy the host is.
//!
//! Such a machine takes no host time without CPU time: it executes, or jumps to its next timer event. A machine that
//! hangs spins, or sleeps for ever.

use std::process::Child;
use std::thread;
use std::time::Duration;

use tactus::stall::StallWatch;

/// CPU time far beyond that of any test's machine.
const SPUN: Duration = Duration::from_secs(600);
/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// Waits until the process has ended, and kills it when it hangs; returns whether it ended by itself.
///
/// # Panics
/// The process cannot be waited for.
pub fn wait_for_end(child: &mut Child) -> bool {
    let mut watch = StallWatch::new(child.id(), SPUN);
    loop {
        if child.try_wait().expect("it can be asked").is_some() {
            return true;
        }
        if watch.look().is_some() {
            child.kill().expect("it stops");
            child.wait().expect("it has stopped");
            return false;
        }
        thread::sleep(PAUSE);
    }
}
