//! A QEMU process: started, read, written to, and never left behind.
//!
//! Virtual time is known from the serial line itself (`clock`), so that nothing here depends on how fast the host is.

use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tempfile::NamedTempFile;

use rustix::process::{Signal, set_parent_process_death_signal};

use super::Error;
use super::board::find_firmware;
use super::functions::Functions;
use super::kept::Kept;
use super::machine::{self, End, Launch, Output, SEED};
use crate::config::Nanoseconds;

use clock::{Clock, Part};

mod clock;
mod mpv;

/// The program that is the machine.
pub const QEMU: &str = "qemu-system-riscv64";

/// With several harts: the most virtual time, in microseconds, that QEMU may stay with one hart before it
/// looks at the others again.
///
/// QEMU's instruction-counting mode runs harts in turns on one clock, each turn half (for two harts) of the time to the
/// machine's next timer. A hart that waits for another one (a lock, a remote fence, an interrupt it has sent)
/// would spend its whole turn waiting, milliseconds when no timer is near: delays that no parallel machine has. A timer
/// of this period, which does nothing else, keeps turns short. Much shorter ones make QEMU crawl.
const TURN_US: u32 = 10;

/// The longest limit of virtual time: what `filter-buffer` can hold a packet for.
pub const LIMIT_MAX: Nanoseconds = Nanoseconds(4_294_000_000_000);

/// Where the machine's memory begins.
const MEMORY: u64 = 0x8000_0000;

/// Bytes read at once.
const CHUNK: usize = 64 * 1024;
/// Chunks read and not yet taken. When they are all full, QEMU's pipe fills and the guest's UART waits.
const CHUNKS: usize = 64;
/// Size asked for the serial line's pipe: a burst of output should not meet a full pipe, because a UART
/// that has to wait is visible to a guest that looks. Linux grants this much to anybody.
const PIPE_BYTES: usize = 1 << 20;
/// Bytes kept of QEMU's own messages.
const MESSAGES_MAX: usize = 16 * 1024;

/// The command line. One instruction takes one virtual nanosecond and waiting takes no host time,
/// so that a run repeats exactly (`docs/src/reference/running.md`).
///
/// `memory`: the file that is the machine's memory, where it has one.
fn command(
    launch: &Launch,
    functions: &Functions,
    clock: &Clock,
    firmware: &Path,
    memory: Option<&Path>,
) -> Command {
    let mut command = Command::new(QEMU);
    let mut machine = String::from(if functions.is_empty() || functions.direct {
        "virt"
    } else {
        "virt,iommu-sys=on"
    });
    if let Some(file) = memory {
        machine += ",memory-backend=ram";
        let size = launch.memory_bytes >> 20;
        command.arg("-object").arg(format!(
            "memory-backend-file,id=ram,size={size}M,share=on,mem-path={}",
            file.display()
        ));
    }
    command
        .args(["-M", &machine, "-cpu", "rv64,h=true"])
        .arg("-smp")
        .arg(launch.harts.to_string())
        .arg("-m")
        .arg(format!("{}M", launch.memory_bytes >> 20))
        .args(["-display", "none", "-monitor", "none", "-serial", "stdio"])
        .arg("-no-reboot")
        .args(["-icount", "shift=0,sleep=off"])
        .arg("-seed")
        .arg(SEED.to_string())
        .args(["-rtc", &format!("clock=vm,base={}", clock::BASE)])
        .arg("-bios")
        .arg(firmware)
        .arg("-kernel")
        .arg(&launch.image);
    if let Some(initrd) = &launch.initrd {
        command.arg("-initrd").arg(initrd);
    }
    if !launch.bootargs.is_empty() {
        command.arg("-append").arg(&launch.bootargs);
    }
    if launch.harts > 1 {
        // The timer: a filter that forwards packets once in a while, on a network that the machine has no
        // card for.
        command
            .args(["-netdev", "hubport,id=turns,hubid=0"])
            .arg("-object")
            .arg(format!(
                "filter-buffer,id=turn,netdev=turns,queue=all,interval={TURN_US}"
            ));
    }
    functions.add_to(&mut command);
    clock.add_to(&mut command);
    command
}

/// A running machine. Dropping it ends it.
#[derive(Debug)]
pub struct Machine {
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<Vec<u8>>,
    messages: Arc<Mutex<Vec<u8>>>,
    collector: Option<JoinHandle<()>>,
    /// Of a machine with which [`Machine::start`] has begun.
    clock: Option<Clock>,
    /// What is kept of its memory, and the file that it is.
    kept: Option<(Vec<Kept>, NamedTempFile)>,
}

impl Machine {
    /// Starts a machine that ends at the limit of virtual time, where there is one. It ends with the calling thread at
    /// the latest.
    pub(super) fn start(
        launch: &Launch,
        functions: &Functions,
        limit: Option<Nanoseconds>,
        kept: &[Kept],
    ) -> Result<Self, Error> {
        if let Some(reason) = functions.unfit_for_qemu() {
            return Err(Error::Functions(reason.to_owned()));
        }
        if let Some(reason) = functions.unfit_port() {
            return Err(Error::Functions(reason));
        }
        if mpv::is_ignored() {
            return Err(Error::QemuIgnoresMpv);
        }
        let clock = Clock::new(limit).map_err(Error::Start)?;
        let memory = if kept.is_empty() {
            None
        } else {
            Some(NamedTempFile::with_prefix("tactus-").map_err(Error::Start)?)
        };
        let file = memory.as_ref().map(NamedTempFile::path);
        let command = command(launch, functions, &clock, &find_firmware()?, file);
        let mut machine = Self::spawn(command)?;
        machine.clock = Some(clock.started());
        machine.kept = memory.map(|file| (kept.to_vec(), file));
        Ok(machine)
    }

    /// Starts a machine with a command line of the caller's, whose serial line is standard input and output. It
    /// ends with the calling thread at the latest.
    ///
    /// # Errors
    /// QEMU cannot be started.
    pub fn spawn(mut command: Command) -> Result<Self, Error> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C in the terminal is for this process, which then ends the machine in an orderly way.
            .process_group(0);
        // SAFETY: the closure runs between fork and exec and makes one system call; it neither allocates
        // nor takes a lock.
        unsafe {
            command.pre_exec(|| {
                set_parent_process_death_signal(Some(Signal::KILL)).map_err(io::Error::from)
            });
        }
        let mut child = command.spawn().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::NoQemu,
            _ => Error::Start(error),
        })?;
        let input = child.stdin.take();
        let (sender, output) = sync_channel(CHUNKS);
        if let Some(stdout) = child.stdout.take() {
            // A smaller pipe is slower, not wrong.
            let _ = rustix::pipe::fcntl_setpipe_size(&stdout, PIPE_BYTES);
            thread::spawn(move || forward(stdout, &sender));
        }
        let messages = Arc::new(Mutex::new(Vec::new()));
        let collector = child.stderr.take().map(|stderr| {
            let messages = Arc::clone(&messages);
            thread::spawn(move || collect(stderr, &messages))
        });
        Ok(Self {
            child,
            input,
            output,
            messages,
            collector,
            clock: None,
            kept: None,
        })
    }

    /// The number of its process.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// How it ended, by its exit status.
    fn end(&self, status: ExitStatus) -> End {
        if status.success() {
            return End::Off;
        }
        let messages = self.messages();
        End::Failed(if messages.is_empty() {
            format!("QEMU failed ({status})")
        } else {
            format!("QEMU failed ({status}): {messages}")
        })
    }

    /// QEMU's own messages, the first of them.
    fn messages(&self) -> String {
        let messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&messages)
            .lines()
            // Of the networks that are only there for their timers.
            .filter(|line| !line.ends_with("has no peer"))
            .collect::<Vec<_>>()
            .join("\n")
    }
}

impl machine::Machine for Machine {
    fn wait(&mut self, patience: Duration) -> Result<Output, Error> {
        let part = |part| match part {
            Part::Bytes(bytes) => Output::Bytes(bytes),
            Part::Time(time) => Output::Time(time),
            Part::Limit => Output::Ended(End::Limit),
        };
        if let Some(known) = self.clock.as_mut().and_then(Clock::take) {
            return Ok(part(known));
        }
        match self.output.recv_timeout(patience) {
            Ok(bytes) => Ok(match &mut self.clock {
                None => Output::Bytes(bytes),
                Some(clock) => {
                    let full = bytes.len() == CHUNK;
                    clock.read(&bytes, full);
                    clock.take().map_or(Output::Quiet, part)
                }
            }),
            Err(RecvTimeoutError::Timeout) => {
                let rest = self.clock.as_mut().and_then(Clock::rest);
                Ok(rest.map_or(Output::Quiet, Output::Bytes))
            }
            Err(RecvTimeoutError::Disconnected) => {
                if let Some(rest) = self.clock.as_mut().and_then(Clock::rest) {
                    return Ok(Output::Bytes(rest));
                }
                let status = self.child.wait().map_err(Error::Line)?;
                // It reads until QEMU's end, which has come; only then are its messages complete.
                if let Some(collector) = self.collector.take() {
                    let _ = collector.join();
                }
                Ok(Output::Ended(self.end(status)))
            }
        }
    }

    fn take_input(&mut self) -> Option<Box<dyn Write + Send>> {
        let input = self.input.take()?;
        Some(Box::new(input))
    }

    fn keeps_time(&self) -> bool {
        false
    }

    fn ask_time(&mut self) {
        if let Some(clock) = &mut self.clock {
            clock.ask();
        }
    }

    fn finish(&mut self) -> Option<super::board::Facts> {
        if let Some((kept, file)) = self.kept.take() {
            // Fails only when it has ended already.
            let _ = self.child.kill();
            let _ = self.child.wait();
            for kept in kept {
                let mut bytes = vec![0; kept.size];
                let offset = kept.address.checked_sub(MEMORY);
                let read = offset.map(|offset| file.as_file().read_exact_at(&mut bytes, offset));
                if matches!(read, Some(Ok(()))) {
                    kept.put(bytes);
                }
            }
        }
        None
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // Fails only when it has ended already; the wait is what removes it from the process table.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn forward(mut from: impl Read, to: &SyncSender<Vec<u8>>) {
    let mut buffer = vec![0; CHUNK];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(n) => {
                if to.send(buffer[..n].to_vec()).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

fn collect(mut from: impl Read, into: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 1024];
    while let Ok(n @ 1..) = from.read(&mut buffer) {
        let mut into = into.lock().unwrap_or_else(PoisonError::into_inner);
        let room = MESSAGES_MAX.saturating_sub(into.len());
        into.extend_from_slice(&buffer[..n.min(room)]);
    }
}
