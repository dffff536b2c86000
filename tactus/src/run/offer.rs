//! A VM's console at a socket of the host, for programs: `tactus ctl` talks to a manager there.
//!
//! One program at a time; what the VM writes while there is none is only shown.

use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::console::{Framer, Line, Source};
use super::journal::{Journal, Seen};
use super::session::Watcher;

/// How long a program may keep the run waiting that does not read.
const PATIENCE: Duration = Duration::from_secs(1);

/// The program that is connected.
type Client = Arc<Mutex<Option<UnixStream>>>;

fn of(client: &Client) -> MutexGuard<'_, Option<UnixStream>> {
    client.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A socket, and whose console is there. Dropping it removes the socket.
#[derive(Debug)]
pub struct Offer {
    vm: usize,
    path: PathBuf,
    listener: Option<UnixListener>,
    client: Client,
    /// What the VM has written since it was last sent.
    unsent: Vec<u8>,
}

impl Offer {
    /// Makes the socket. What an earlier run has left in its place, where no run listens any more, is removed.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn open(vm: usize, path: &Path) -> io::Result<Self> {
        let listener = match UnixListener::bind(path) {
            Err(error) if error.kind() == ErrorKind::AddrInUse && is_left(path) => {
                fs::remove_file(path)?;
                UnixListener::bind(path)?
            }
            other => other?,
        };
        Ok(Self {
            vm,
            path: path.to_owned(),
            listener: Some(listener),
            client: Client::default(),
            unsent: Vec::new(),
        })
    }

    /// Sends what programs write to the VM's console, from now on.
    pub fn serve(&mut self, mut machine: impl Write + Send + 'static) {
        let Some(listener) = self.listener.take() else {
            return;
        };
        let vm = self.vm;
        let client = Arc::clone(&self.client);
        // The thread may wait for a program for ever; it ends with the process.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let Ok(writer) = stream.try_clone() else {
                    continue;
                };
                if writer.set_write_timeout(Some(PATIENCE)).is_err() {
                    continue;
                }
                *of(&client) = Some(writer);
                if pass(stream, vm, &mut machine).is_err() {
                    return;
                }
                *of(&client) = None;
            }
        });
    }

    fn send(&mut self) {
        if self.unsent.is_empty() {
            return;
        }
        let mut client = of(&self.client);
        if let Some(stream) = client.as_mut()
            && stream.write_all(&self.unsent).is_err()
        {
            *client = None;
        }
        self.unsent.clear();
    }
}

impl Drop for Offer {
    fn drop(&mut self) {
        // A failure here cannot be reported any more.
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether no run listens at a socket.
fn is_left(path: &Path) -> bool {
    // A file that is none refuses connections as well.
    let is_socket = fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    let answer = UnixStream::connect(path);
    is_socket && answer.is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
}

/// Passes on what a program writes until it leaves. The VM is named each time: what comes before the hypervisor takes
/// input is lost, and the name with it.
///
/// # Errors
/// The machine takes no more.
fn pass(mut from: UnixStream, vm: usize, to: &mut impl Write) -> io::Result<()> {
    let mut buffer = [0; 1024];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => {
                if let Some(mut framer) = Framer::new(vm) {
                    to.write_all(&framer.frame(&buffer[..count]))?;
                    to.flush()?;
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return Ok(()),
        }
    }
}

/// Watches a run as another watcher does, and sends the VM's output to the socket.
pub struct Offered<'w> {
    /// The other watcher.
    pub watcher: &'w mut dyn Watcher,
    /// The socket.
    pub offer: &'w mut Offer,
    /// What the VM writes is for the program at the socket alone.
    pub hides: bool,
}

impl Watcher for Offered<'_> {
    fn byte(&mut self, source: Source, byte: u8) {
        if source == Source::Vm(self.offer.vm) {
            self.offer.unsent.push(byte);
        }
        self.watcher.byte(source, byte);
    }

    fn line(&mut self, line: &Line, seen: &Seen, journal: &Journal) {
        if self.hides && line.source == Source::Vm(self.offer.vm) {
            return;
        }
        self.watcher.line(line, seen, journal);
    }

    fn tick(&mut self, journal: &Journal) {
        self.offer.send();
        self.watcher.tick(journal);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::sync::mpsc;

    use tactus_abi::console::{SELECT, STREAM_BASE};

    use super::*;
    use crate::run::session::Unwatched;

    /// A machine that hands on what it gets.
    struct Machine(mpsc::Sender<Vec<u8>>);

    impl Write for Machine {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0
                .send(bytes.to_vec())
                .map_err(|_| io::Error::from(ErrorKind::BrokenPipe))?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn programs_come_one_after_the_other() {
        let directory = tempfile::tempdir().expect("a directory can be made");
        let path = directory.path().join("socket");
        let mut offer = Offer::open(1, &path).expect("it can be made");
        let (sender, got) = mpsc::channel();
        offer.serve(Machine(sender));
        for _ in 0..3 {
            let mut program = UnixStream::connect(&path).expect("it listens");
            program.write_all(b"list\n").expect("it reads");
            let framed = got.recv().expect("it is passed on");
            let expected = [&[SELECT, STREAM_BASE + 2], &b"list\n"[..]].concat();
            assert_eq!(framed, expected);
            let journal = Journal::new(&["a".to_owned(), "b".to_owned()], 1);
            let mut offered = Offered {
                watcher: &mut Unwatched,
                offer: &mut offer,
                hides: false,
            };
            for byte in *b"ok\n" {
                offered.byte(Source::Vm(0), b'x');
                offered.byte(Source::Vm(1), byte);
            }
            offered.tick(&journal);
            let mut line = String::new();
            BufReader::new(program)
                .read_line(&mut line)
                .expect("it is sent");
            assert_eq!(line, "ok\n");
        }
        assert!(Offer::open(1, &path).is_err(), "another run has it");
        drop(offer);
        assert!(!path.exists());
    }

    #[test]
    fn what_an_ended_run_has_left_is_replaced() {
        let directory = tempfile::tempdir().expect("a directory can be made");
        let path = directory.path().join("socket");
        drop(UnixListener::bind(&path).expect("it can be made"));
        assert!(path.exists());
        drop(Offer::open(0, &path).expect("no program listens there"));
        // What is no socket stays.
        fs::write(&path, "mine").expect("it can be written");
        assert!(Offer::open(0, &path).is_err());
        assert_eq!(fs::read(&path).expect("it is there"), b"mine");
    }
}
