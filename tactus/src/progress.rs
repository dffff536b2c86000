//! Says what a long step does while it lasts, on stderr: on a terminal in a line that is written over, elsewhere in a
//! line every few seconds.

use std::io::{self, IsTerminal, Read};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;

use crate::run::show;

/// The longest time without a word where stderr is no terminal: less than the ten seconds that a user waits at most.
pub const PATIENCE: Duration = Duration::from_secs(8);

/// A step that lasts. Dropping it ends it.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    status: Arc<Mutex<String>>,
    what: String,
    over: Option<Sender<()>>,
    beat: Option<JoinHandle<()>>,
}

impl Progress {
    /// A step called `what`; as for its status, nothing is known.
    pub fn start(what: impl Into<String>) -> Self {
        let what = what.into();
        let status = Arc::new(Mutex::new(String::new()));
        let bar = show::progress(what.clone());
        let (over, ended) = channel();
        // A terminal is told at each change of the status.
        let beat = (!io::stderr().is_terminal()).then(|| {
            let (what, status) = (what.clone(), Arc::clone(&status));
            let begin = Instant::now();
            thread::spawn(move || {
                while ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                    let status = status.lock().unwrap_or_else(PoisonError::into_inner);
                    eprintln!("{}", line(&what, begin.elapsed(), &status));
                }
            })
        });
        Self {
            bar,
            status,
            what,
            over: Some(over),
            beat,
        }
    }

    /// What it does now.
    pub fn status(&self, status: impl Into<String>) {
        let status = status.into();
        self.bar.set_message(format!("{}: {status}", self.what));
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = status;
    }

    /// Prints a line on stderr, above that of a terminal.
    pub fn say(&self, line: &str) {
        self.bar.suspend(|| eprintln!("{line}"));
    }

    /// Takes what a program writes on its stderr, to the end: `status` gives what a line says of its progress; every
    /// other line is passed on.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn follow(
        &self,
        stderr: impl Read,
        status: impl Fn(&str) -> Option<String>,
    ) -> io::Result<()> {
        let mut line = Vec::new();
        for byte in io::BufReader::new(stderr).bytes() {
            let byte = byte?;
            if byte != b'\n' && byte != b'\r' {
                line.push(byte);
                continue;
            }
            self.take(&line, byte == b'\n', &status);
            line.clear();
        }
        if !line.is_empty() {
            self.take(&line, true, &status);
        }
        Ok(())
    }

    /// `ended`: not only to be written over.
    fn take(&self, line: &[u8], ended: bool, status: &impl Fn(&str) -> Option<String>) {
        let plain = strip_ansi_escapes::strip(line);
        match status(&String::from_utf8_lossy(&plain)) {
            Some(status) => self.status(status),
            None if ended => self.say(&String::from_utf8_lossy(line)),
            None => {}
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        self.over = None;
        if let Some(beat) = self.beat.take() {
            // A panic of the thread has been told by itself.
            let _ = beat.join();
        }
    }
}

fn line(what: &str, since: Duration, status: &str) -> String {
    let comma = if status.is_empty() { "" } else { ", " };
    format!("{what}: {} s{comma}{status}", since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_on_is_told_from_what_a_program_has_to_say() {
        let progress = Progress::start("building");
        let of_progress = |line: &str| line.strip_prefix("now ").map(str::to_owned);
        let written = &b"now a\r\x1b[32mnow b\x1b[0m\rpart\nnow c"[..];
        progress.follow(written, of_progress).expect("it is read");
        let status = progress.status.lock().expect("no thread panicked").clone();
        assert_eq!(status, "c");
    }

    #[test]
    fn a_line_says_what_since_when_and_how_far() {
        let since = Duration::from_millis(17_900);
        assert_eq!(line("building", since, "1/2: a"), "building: 17 s, 1/2: a");
        assert_eq!(line("building", since, ""), "building: 17 s");
    }
}
