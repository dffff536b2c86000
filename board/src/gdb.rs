//! A board under gdb: the server of gdb's remote protocol.
//!
//! Each hart is a thread, with all of its registers: integer, floating point, `pc`, the CSRs, the privilege level
//! (`priv`) and the virtualization mode (`virt`). Memory is what the thread's hart has at its virtual addresses,
//! whatever its page tables permit; `monitor physical on` switches to physical addresses, `monitor help` lists what
//! else there is. Breakpoints of both kinds are stops of the board: memory does not change, and the guest can't see
//! them. Watchpoints stop behind the access; while there is one its pages are slow on the host, and as fast as ever on
//! the board.
//!
//! Without named guests ([`Server::guests`]), breakpoints and watchpoints stand at virtual addresses of whatever
//! address space. With them, gdb has a process (an inferior) for each guest, told apart by the VMID in `hgatp`, behind
//! a first one for all that is not a guest: breakpoints, watchpoints, memory and symbols belong to a process, and each
//! has all harts as threads. A thread whose hart is in another process now has no registers.
//!
//! The board's time stands still while gdb has it stopped, and nothing that gdb only reads leaves a trace. So a run
//! under gdb is the run without it, as long as gdb changes nothing and does not step. Breakpoints and watchpoints
//! make no difference, in timed mode neither.
//!
//! gdb decides what stepping one hart means for the others. By default they run along; after `set scheduler-locking on`
//! they stand still.
//!
//! ```no_run
//! # use tactus_board::{gdb, profile::Profile, setup, time::Femtoseconds};
//! # let profile = Profile::named("mpsoc").unwrap();
//! # let (mut board, _) = setup::board(&profile, &Default::default(), Vec::new())?;
//! // In another terminal: gdb-multiarch -ex 'target remote 127.0.0.1:1234' firmware.elf
//! let end = gdb::serve(&mut board, gdb::listen(1234)?, &gdb::Options::default())?;
//! println!("{end}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod monitor;
mod packets;
pub(crate) mod registers;
mod target;
mod wire;

use std::convert::Infallible;
use std::fmt;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, TcpListener};

use gdbstub::common::Signal;
use gdbstub::stub::state_machine::GdbStubStateMachine;
use gdbstub::stub::{DisconnectReason, GdbStub, GdbStubError, MultiThreadStopReason};

use crate::board::{Board, BuildError, Outcome};
use crate::bus::Stop;
use crate::time::Femtoseconds;
use packets::Packets;
pub use target::Guest;
use target::{Debuggee, Slice};
use wire::Line;
pub use wire::{Received, Tcp, Wire};

/// How a run under gdb is served.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether the run begins only when gdb has come and says so. Else it may come at any time.
    pub wait: bool,
    /// How long to run.
    pub limit: Femtoseconds,
}

impl Default for Options {
    /// Waits for gdb, and runs without a limit.
    fn default() -> Self {
        Self {
            wait: true,
            limit: Femtoseconds::NEVER,
        }
    }
}

/// Why a run under gdb ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// As any run does.
    Run(Outcome),
    /// gdb has killed it.
    Killed,
}

impl fmt::Display for End {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(outcome) => outcome.fmt(formatter),
            Self::Killed => formatter.write_str("gdb has killed the run"),
        }
    }
}

/// Errors of a debugging session. They leave the board unchanged.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It can't be waited for.
    #[error("waiting for gdb: {0}")]
    Listen(io::Error),
    /// The host has no room.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A session can't begin.
    #[error("talking to gdb: {0}")]
    Protocol(String),
}

/// A place for gdb to come to: a TCP port of this machine alone. Port 0 is one that is free.
///
/// # Errors
///
/// When the port can't be had.
pub fn listen(port: u16) -> io::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port))
}

/// Runs a board under gdb until its run ends, or gdb kills it. When gdb detaches or is gone, the run continues, and
/// another one may come.
///
/// # Errors
///
/// When gdb can't be waited for.
pub fn serve(board: &mut Board, listener: TcpListener, options: &Options) -> Result<End, Error> {
    let mut server = Server::new(listener, options.wait)?;
    let end = server.run(board, options.limit)?;
    server.finish(board, &end);
    Ok(end)
}

type Session = GdbStubStateMachine<'static, Debuggee, Line>;

/// A debugger that is there.
struct Attached {
    /// The library's part.
    session: Session,
    packets: Packets,
    wire: Box<dyn Wire>,
}

impl Attached {
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.wire.send(bytes)
    }

    /// Sends what the library has said.
    fn flush(&mut self) -> io::Result<()> {
        let said = line(&mut self.session).take();
        let told = self.packets.output(&said);
        self.send(&told)
    }
}

/// The output of a session of the library.
fn line(session: &mut Session) -> &mut Line {
    match session {
        GdbStubStateMachine::Idle(session) => session.borrow_conn(),
        GdbStubStateMachine::Running(session) => session.borrow_conn(),
        GdbStubStateMachine::CtrlCInterrupt(session) => session.borrow_conn(),
        GdbStubStateMachine::Disconnected(session) => session.borrow_conn(),
    }
}

/// Runs a board under gdb, piece by piece: [`run`](Self::run) takes the place of [`Board::run`].
///
/// ```no_run
/// # use tactus_board::{gdb::{self, End, Server}, board::Outcome, profile::Profile, setup, time::Femtoseconds};
/// # let profile = Profile::named("mpsoc").unwrap();
/// # let (mut board, console) = setup::board(&profile, &Default::default(), Vec::new())?;
/// let mut server = Server::new(gdb::listen(1234)?, true)?;
/// let mut limit = Femtoseconds(0);
/// let end = loop {
///     limit = limit.saturating_add(Femtoseconds(Femtoseconds::SECOND.0 / 100));
///     match server.run(&mut board, limit)? {
///         End::Run(Outcome::Limit) => print!("{}", String::from_utf8_lossy(&console.take_output())),
///         end => break end,
///     }
/// };
/// server.finish(&mut board, &end);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Server {
    debuggee: Debuggee,
    listener: Option<TcpListener>,
    /// Stay where the board is until gdb comes.
    wait: bool,
    attached: Option<Attached>,
    /// How the run ended that gdb was told the end of.
    ended: Option<Outcome>,
}

impl Server {
    /// A place for gdb to come to. With `wait` a board stands still until it does.
    ///
    /// # Errors
    ///
    /// When the host has no room for it.
    pub fn new(listener: TcpListener, wait: bool) -> Result<Self, Error> {
        Ok(Self {
            debuggee: Debuggee::new()?,
            listener: Some(listener),
            wait,
            attached: None,
            ended: None,
        })
    }

    /// A debugger at the other end of `wire`, which has a process for each of the guests. A board stands still until
    /// the debugger says otherwise.
    ///
    /// # Errors
    ///
    /// When the session can't begin.
    pub fn attached(wire: Box<dyn Wire>, guests: Vec<Guest>) -> Result<Self, Error> {
        let mut server = Self {
            debuggee: Debuggee::new()?,
            listener: None,
            wait: false,
            attached: None,
            ended: None,
        }
        .guests(guests);
        server.begin(wire)?;
        Ok(server)
    }

    /// Names the guests that gdb has a process for; the process of the first is gdb's second. For debuggers that come
    /// from now on.
    #[must_use]
    pub fn guests(mut self, guests: Vec<Guest>) -> Self {
        self.debuggee.name_guests(guests);
        self
    }

    /// Whether a debugger is there.
    #[must_use]
    pub const fn is_attached(&self) -> bool {
        self.attached.is_some()
    }

    /// Runs the board, always the same one, until `limit`, or until something ends the run before. Returns no earlier
    /// while gdb has the board stopped. gdb is not told of the limit, nor of stops and watches that are not its own:
    /// call this again to continue, or [`finish`](Self::finish).
    ///
    /// # Errors
    ///
    /// When gdb can't be waited for. The board stands where it stood, and calling this again continues.
    pub fn run(&mut self, board: &mut Board, limit: Femtoseconds) -> Result<End, Error> {
        self.debuggee.swap(board);
        let end = self.run_lent(limit);
        self.debuggee.swap(board);
        end
    }

    /// Tells gdb, if it is there and waits, that the run is over, and takes back what it set.
    pub fn finish(&mut self, board: &mut Board, end: &End) {
        let reason = match end {
            End::Run(Outcome::Stop(stop)) => MultiThreadStopReason::Exited(code(*stop)),
            End::Run(Outcome::Limit) => MultiThreadStopReason::Terminated(Signal::SIGXCPU),
            End::Run(_) | End::Killed => MultiThreadStopReason::Terminated(Signal::SIGKILL),
        };
        self.debuggee.swap(board);
        if let Some(mut attached) = self.attached.take()
            && let GdbStubStateMachine::Running(session) = attached.session
            && let Ok(session) = session.report_stop(&mut self.debuggee, reason)
        {
            attached.session = session;
            // If it can't be told, it is gone.
            let _ = attached.flush();
        }
        self.debuggee.detach();
        self.debuggee.swap(board);
    }

    fn run_lent(&mut self, limit: Femtoseconds) -> Result<End, Error> {
        loop {
            let Some(attached) = self.attached.take() else {
                if let Some(wire) = self.accept()? {
                    self.begin(wire)?;
                    continue;
                }
                match self.debuggee.run(limit) {
                    Slice::Over => continue,
                    Slice::Ended(outcome) => return Ok(End::Run(outcome)),
                    // No gdb is attached, and nothing of gdb's is set: all that it can be is a deadlock.
                    Slice::Stopped(_) => return Ok(End::Run(Outcome::Deadlock)),
                }
            };
            match self.turn(attached, limit)? {
                Turn::On(attached) => self.attached = Some(attached),
                Turn::Return(attached, outcome) => {
                    self.attached = Some(attached);
                    return Ok(End::Run(outcome));
                }
                Turn::Ended(DisconnectReason::Kill) => {
                    self.debuggee.detach();
                    return Ok(End::Killed);
                }
                Turn::Ended(_) => {
                    self.debuggee.detach();
                    if let Some(outcome) = self.ended.take() {
                        return Ok(End::Run(outcome));
                    }
                }
            }
        }
    }

    fn begin(&mut self, wire: Box<dyn Wire>) -> Result<(), Error> {
        self.attached = Some(Attached {
            session: self.session()?,
            packets: Packets::new(self.debuggee.guests().len()),
            wire,
        });
        self.wait = false;
        Ok(())
    }

    /// A new session of the library.
    fn session(&mut self) -> Result<Session, Error> {
        GdbStub::new(Line::default())
            .run_state_machine(&mut self.debuggee)
            .map_err(|error| Error::Protocol(error.to_string()))
    }

    /// A debugger that has come.
    fn accept(&self) -> Result<Option<Box<dyn Wire>>, Error> {
        let Some(listener) = &self.listener else {
            return Ok(None);
        };
        listener
            .set_nonblocking(!self.wait)
            .map_err(Error::Listen)?;
        match listener.accept() {
            Ok((stream, _)) => Ok(Some(Box::new(Tcp::new(stream).map_err(Error::Listen)?))),
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
            {
                Ok(None)
            }
            Err(error) => Err(Error::Listen(error)),
        }
    }

    /// The next thing to do with a debugger.
    fn turn(&mut self, mut attached: Attached, limit: Femtoseconds) -> Result<Turn, Error> {
        let gone = Turn::Ended(DisconnectReason::Disconnect);
        let running = match attached.session {
            GdbStubStateMachine::Idle(_) => false,
            GdbStubStateMachine::Running(session) => {
                // It runs first, so that a continue with an immediate interrupt makes progress.
                let debuggee = &mut self.debuggee;
                let reason = match debuggee.run(limit) {
                    Slice::Over => None,
                    Slice::Stopped(reason) => Some(reason),
                    Slice::Ended(Outcome::Stop(stop)) => {
                        self.ended = Some(Outcome::Stop(stop));
                        Some(MultiThreadStopReason::Exited(code(stop)))
                    }
                    Slice::Ended(outcome) => {
                        attached.session = session.into();
                        return Ok(Turn::Return(attached, outcome));
                    }
                };
                if let Some(reason) = reason {
                    attached.session = told(session.report_stop(debuggee, reason))?;
                    return Ok(match attached.flush() {
                        Ok(()) => Turn::On(attached),
                        Err(_) => gone,
                    });
                }
                attached.session = session.into();
                true
            }
            GdbStubStateMachine::CtrlCInterrupt(session) => {
                let hart = self.debuggee.board.next().unwrap_or(0);
                let reason = MultiThreadStopReason::SignalWithThread {
                    tid: self.debuggee.thread_of(hart),
                    signal: Signal::SIGINT,
                };
                attached.session =
                    told(session.interrupt_handled(&mut self.debuggee, Some(reason)))?;
                return Ok(match attached.flush() {
                    Ok(()) => Turn::On(attached),
                    Err(_) => gone,
                });
            }
            GdbStubStateMachine::Disconnected(session) => {
                return Ok(Turn::Ended(session.get_reason()));
            }
        };
        attached.packets.harts = self.debuggee.board.harts();
        let input = match attached.wire.receive(!running) {
            Ok(Received::Byte(byte)) => attached.packets.take(byte, running),
            Ok(Received::Nothing) => return Ok(Turn::On(attached)),
            Ok(Received::End) | Err(_) => return Ok(gone),
        };
        self.debuggee
            .about(attached.packets.multiprocess, attached.packets.process());
        if attached.send(&input.send).is_err() {
            return Ok(gone);
        }
        match pass(attached.session, &mut self.debuggee, &input.pass) {
            Some(session) => {
                attached.session = session;
                attached.packets.accepted();
                Ok(match attached.flush() {
                    Ok(()) => Turn::On(attached),
                    Err(_) => gone,
                })
            }
            None => {
                // The library could not read it, and its session is over. The board stands still: while it runs, the
                // library gets nothing that it can refuse. The next session begins where that one was.
                let replay = attached.packets.replay();
                let session = self.session()?;
                let session = pass(session, &mut self.debuggee, &replay)
                    .ok_or_else(|| Error::Protocol("a session can't be resumed".to_owned()))?;
                attached.session = session;
                line(&mut attached.session).take();
                let refusal = attached.packets.refuse();
                Ok(match attached.send(&refusal.send) {
                    Ok(()) => Turn::On(attached),
                    Err(_) => gone,
                })
            }
        }
    }
}

type Failure = GdbStubError<Infallible, Infallible>;

/// The library's session behind a report, which can't fail: neither the board nor the line does.
fn told(session: Result<Session, Failure>) -> Result<Session, Error> {
    session.map_err(|error| Error::Protocol(error.to_string()))
}

/// Gives bytes to a session of the library. `None`: it could not read them, and is over.
fn pass(mut session: Session, debuggee: &mut Debuggee, bytes: &[u8]) -> Option<Session> {
    for byte in bytes {
        session = match session {
            GdbStubStateMachine::Idle(session) => session.incoming_data(debuggee, *byte).ok()?,
            GdbStubStateMachine::Running(session) => session.incoming_data(debuggee, *byte).ok()?,
            ended => ended,
        };
    }
    Some(session)
}

/// The result of a step of a session.
enum Turn {
    /// It continues.
    On(Attached),
    /// It continues when the caller wants.
    Return(Attached, Outcome),
    /// It is over.
    Ended(DisconnectReason),
}

/// The exit code that gdb is told.
const fn code(stop: Stop) -> u8 {
    match stop {
        Stop::PowerOff => 0,
        // Failure is not success, whatever its code's low bits are.
        Stop::Failure(code) if code & 0xff != 0 => code as u8,
        Stop::Failure(_) | Stop::Reset => 1,
    }
}
