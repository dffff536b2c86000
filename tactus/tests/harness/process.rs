//! Waits for the end of a QEMU that counts instructions (`-icount sleep=off`), however slow or busy the host is.
//!
//! Nothing in such a machine takes host time without taking CPU time: it executes, or jumps to its next timer. So one that
//! hangs has used CPU time beyond all reason, or sleeps for ever and uses none.

use std::fs;
use std::process::Child;
use std::thread;
use std::time::Duration;

/// CPU time that no test's machine comes near, in ticks of the kernel's accounts (100 a second).
const SPUN: u64 = 100 * 600;
/// How often it is looked at before one that sleeps, and has used no CPU time meanwhile, sleeps for ever.
const LOOKS: u32 = 500;
/// The pause between two looks; a busy host makes it longer, not shorter.
const PAUSE: Duration = Duration::from_millis(20);

/// CPU time of a process, and whether all of its threads sleep.
fn account(child: &Child) -> Option<(u64, bool)> {
    let process = format!("/proc/{}", child.id());
    // The command's name, in parentheses, may hold anything.
    let behind_name = |text: String| text.rsplit_once(") ").map(|(_, rest)| rest.to_owned());
    let stat = behind_name(fs::read_to_string(format!("{process}/stat")).ok()?)?;
    let fields: Vec<&str> = stat.split(' ').collect();
    // Fields 14 and 15 of proc(5); the first here is the third there.
    let used = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    let mut asleep = true;
    for thread in fs::read_dir(format!("{process}/task")).ok()? {
        let stat = fs::read_to_string(thread.ok()?.path().join("stat")).ok()?;
        asleep &= behind_name(stat)?.starts_with('S');
    }
    Some((used, asleep))
}

/// Waits until it has ended, and kills one that hangs; whether it ended by itself.
///
/// # Panics
/// It cannot be waited for.
pub fn wait_for_end(child: &mut Child) -> bool {
    let (mut looks, mut before) = (0, 0);
    loop {
        if child.try_wait().expect("it can be asked").is_some() {
            return true;
        }
        if let Some((used, asleep)) = account(child) {
            looks = if asleep && used == before {
                looks + 1
            } else {
                0
            };
            before = used;
            if used > SPUN || looks > LOOKS {
                child.kill().expect("it stops");
                child.wait().expect("it has stopped");
                return false;
            }
        }
        thread::sleep(PAUSE);
    }
}
