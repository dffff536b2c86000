//! Detects that another process hangs, however slow or busy the host is: by the CPU time that the process uses, never
//! by the time that passes meanwhile.

use std::fmt;
use std::fs;
use std::time::Duration;

/// Looks in a row at which a process has slept and used no CPU time before it sleeps for ever.
const LOOKS: u32 = 500;

/// How a process hangs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stall {
    /// It has used more CPU time than it may.
    Spins(Duration),
    /// All its threads sleep, and it uses no CPU time.
    Sleeps,
}

impl fmt::Display for Stall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spins(most) => write!(f, "it used more than {} s of CPU time", most.as_secs()),
            Self::Sleeps => f.write_str("it sleeps and uses no CPU time any more"),
        }
    }
}

/// Watches a process.
#[derive(Debug)]
pub struct StallWatch {
    process: u32,
    most: Duration,
    /// CPU time at the last look.
    used: Duration,
    /// Looks in a row without progress.
    still: u32,
}

impl StallWatch {
    /// Of the process with this number, which comes nowhere near `most` CPU time while it works as it should.
    pub fn new(process: u32, most: Duration) -> Self {
        Self {
            process,
            most,
            used: Duration::ZERO,
            still: 0,
        }
    }

    /// Looks at the process once. The caller looks every few tens of milliseconds; a busy host makes that longer, not
    /// shorter. A process that is gone does not hang.
    pub fn look(&mut self) -> Option<Stall> {
        let (used, asleep) = account(self.process)?;
        self.still = if asleep && used == self.used {
            self.still + 1
        } else {
            0
        };
        self.used = used;
        if used > self.most {
            Some(Stall::Spins(self.most))
        } else {
            (self.still > LOOKS).then_some(Stall::Sleeps)
        }
    }
}

/// CPU time of a process, and whether all its threads sleep.
fn account(process: u32) -> Option<(Duration, bool)> {
    let process = format!("/proc/{process}");
    // The command's name, in parentheses, may contain blanks and parentheses.
    let behind_name = |text: String| text.rsplit_once(") ").map(|(_, rest)| rest.to_owned());
    let stat = behind_name(fs::read_to_string(format!("{process}/stat")).ok()?)?;
    let fields: Vec<&str> = stat.split(' ').collect();
    // Fields 14 and 15 of proc(5), in ticks; the first field here is the third there.
    let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    let hz = rustix::param::clock_ticks_per_second();
    let mut asleep = true;
    for thread in fs::read_dir(format!("{process}/task")).ok()? {
        let stat = fs::read_to_string(thread.ok()?.path().join("stat")).ok()?;
        asleep &= behind_name(stat)?.starts_with('S');
    }
    Some((Duration::from_secs_f64(ticks as f64 / hz as f64), asleep))
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};
    use std::thread;

    use super::*;

    fn shell(script: &str) -> Child {
        let mut command = Command::new("sh");
        let command = command.args(["-c", script]).stdin(Stdio::piped());
        command.spawn().expect("there is a shell")
    }

    #[test]
    fn a_process_that_spins_or_sleeps_for_ever_is_detected() {
        let mut spins = shell("while :; do :; done");
        let mut watch = StallWatch::new(spins.id(), Duration::from_millis(20));
        let found = std::iter::repeat_with(|| {
            thread::sleep(Duration::from_millis(1));
            watch.look()
        });
        let found = found.flatten().next();
        spins.kill().expect("it can be ended");
        spins.wait().expect("it has ended");
        assert_eq!(found, Some(Stall::Spins(Duration::from_millis(20))));
        assert_eq!(watch.look(), None, "the process is gone");

        let mut sleeps = shell("read line");
        let mut watch = StallWatch::new(sleeps.id(), Duration::from_secs(600));
        let found = std::iter::repeat_with(|| {
            thread::sleep(Duration::from_millis(1));
            watch.look()
        });
        assert_eq!(found.flatten().next(), Some(Stall::Sleeps));
        drop(sleeps.stdin.take());
        sleeps.wait().expect("it has ended");
    }
}
