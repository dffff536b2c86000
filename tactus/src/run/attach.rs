//! The terminal as a VM's console: keys go to the VM as they are typed.

use std::io::{self, Read, Write, stdin};
use std::thread;

use rustix::termios::{OptionalActions, OutputModes, Termios, isatty, tcgetattr, tcsetattr};

use super::console::Framer;
use super::session::Stop;

/// The key that leaves the console: Ctrl-].
pub const LEAVE: u8 = 0x1d;

/// The terminal in raw mode; dropping it restores the terminal.
#[derive(Debug)]
pub struct RawTerminal {
    before: Option<Termios>,
}

impl RawTerminal {
    /// Puts the terminal on stdin into raw mode. If stdin is no terminal, nothing is done.
    ///
    /// # Errors
    /// The terminal refuses.
    pub fn enter() -> io::Result<Self> {
        let stdin = stdin();
        if !isatty(&stdin) {
            return Ok(Self { before: None });
        }
        let before = tcgetattr(&stdin)?;
        let mut raw = before.clone();
        raw.make_raw();
        // Guests without a terminal driver of their own end lines with a bare line feed.
        raw.output_modes |= OutputModes::OPOST | OutputModes::ONLCR;
        tcsetattr(&stdin, OptionalActions::Now, &raw)?;
        Ok(Self {
            before: Some(before),
        })
    }

    /// Whether stdin is a terminal.
    pub fn is_terminal(&self) -> bool {
        self.before.is_some()
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // Nobody is left to tell when this fails.
            let _ = tcsetattr(stdin(), OptionalActions::Flush, before);
        }
    }
}

/// Sends stdin to a VM's console until it ends, [`LEAVE`] comes (with `keys`: from a terminal) or the machine
/// is gone. The end of stdin does not end the run, so that commands can be piped in.
pub fn forward_input(
    mut framer: Framer,
    mut machine: impl Write + Send + 'static,
    stop: Stop,
    keys: bool,
) {
    // The thread may wait for a key for ever; it ends with the process.
    thread::spawn(move || {
        let mut buffer = [0; 1024];
        let mut input = stdin().lock();
        loop {
            let read = match input.read(&mut buffer) {
                Ok(0) => return,
                Ok(read) => &buffer[..read],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return,
            };
            let leave = keys
                .then(|| read.iter().position(|byte| *byte == LEAVE))
                .flatten();
            let typed = &read[..leave.unwrap_or(read.len())];
            let sent = machine
                .write_all(&framer.frame(typed))
                .and_then(|()| machine.flush());
            if leave.is_some() {
                stop.leave();
            }
            if leave.is_some() || sent.is_err() {
                return;
            }
        }
    });
}
