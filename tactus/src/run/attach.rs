//! The terminal as a VM's console: keys go to the VM as they are typed.

use std::io::{self, Read, Write, stdin};
use std::thread;

use rustix::fs::{FileType, fstat};
use rustix::termios::{OptionalActions, OutputModes, Termios, isatty, tcgetattr, tcsetattr};

use super::console::Framer;
use super::script::Feed;
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
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // A failure here cannot be reported any more.
            let _ = tcsetattr(stdin(), OptionalActions::Flush, before);
        }
    }
}

/// Sends stdin, a terminal, to a VM's console until it ends, [`LEAVE`] comes or the machine is gone.
pub fn forward_input(mut framer: Framer, mut machine: impl Write + Send + 'static, stop: Stop) {
    // The thread may wait for a key for ever; it ends with the process.
    thread::spawn(move || {
        let mut buffer = [0; 1024];
        let mut input = stdin().lock();
        while let Ok(read) = read(&mut input, &mut buffer) {
            let leave = read.iter().position(|byte| *byte == LEAVE);
            let typed = &read[..leave.unwrap_or(read.len())];
            let sent = machine
                .write_all(&framer.frame(typed))
                .and_then(|()| machine.flush());
            if leave.is_some() {
                stop.leave();
            }
            if leave.is_some() || sent.is_err() || read.is_empty() {
                return;
            }
        }
    });
}

/// What comes from stdin, which is no terminal. A file is read at once, so that the run repeats; from a pipe it
/// is taken as it comes. Its end does not end the run.
///
/// # Errors
/// The file cannot be read.
pub fn feed() -> io::Result<Feed> {
    let feed = Feed::default();
    let mut input = stdin();
    if FileType::from_raw_mode(fstat(&input)?.st_mode).is_file() {
        let mut bytes = Vec::new();
        input.read_to_end(&mut bytes)?;
        feed.add(&bytes);
        feed.close();
        return Ok(feed);
    }
    let filled = feed.clone();
    // The thread may wait for input for ever; it ends with the process.
    thread::spawn(move || {
        let mut buffer = [0; 1024];
        let mut input = stdin().lock();
        while let Ok(bytes @ [_, ..]) = read(&mut input, &mut buffer) {
            filled.add(bytes);
        }
        filled.close();
    });
    Ok(feed)
}

/// The next bytes; none at the end.
fn read<'b>(input: &mut impl Read, buffer: &'b mut [u8]) -> io::Result<&'b [u8]> {
    loop {
        match input.read(buffer) {
            Ok(count) => return Ok(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
