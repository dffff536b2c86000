//! A board under gdb: the server of gdb's remote protocol.
//!
//! Each hart is a thread, with all of its registers: integer, floating point, `pc`, the CSRs, the privilege level
//! (`priv`) and the virtualization mode (`virt`). Memory is what the thread's hart has at its virtual addresses, whatever
//! its page tables permit; `monitor physical on` switches to physical addresses, `monitor help` lists what else there
//! is. Breakpoints of both kinds are stops of the board: memory does not change, and the guest can't see them. They
//! stand at virtual addresses, of whatever address space. So do watchpoints, which stop behind the access; while there is
//! one its pages are slow on the host, and as fast as ever on the board.
//!
//! The board's time stands still while gdb has it stopped, and nothing that gdb only reads leaves a trace. So a run
//! under gdb is the run without it, as long as gdb changes nothing and does not step; in timed mode, as long as it
//! sets no breakpoints too: where a block of code begins makes a difference of a few cycles there.
//!
//! gdb decides what stepping one hart means for the others. By default they run along; after `set scheduler-locking on`
//! they stand still.
//!
//! ```no_run
//! # use tactus_board::{gdb, profile::Profile, setup, time::Femtoseconds};
//! # let profile = Profile::named("mpsoc").unwrap();
//! # let (mut board, _) = setup::board(&profile, &Default::default(), Vec::new())?;
//! // In another terminal: gdb-multiarch -ex 'target remote :1234' firmware.elf
//! let end = gdb::serve(&mut board, gdb::listen(1234)?, &gdb::Options::default())?;
//! println!("{end}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod monitor;
mod registers;
mod target;
mod wire;

use std::fmt;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, TcpListener};

use gdbstub::common::Signal;
use gdbstub::stub::state_machine::GdbStubStateMachine;
use gdbstub::stub::{DisconnectReason, GdbStub, GdbStubError, MultiThreadStopReason};

use crate::board::{Board, BuildError, Outcome};
use crate::bus::Stop;
use crate::time::Femtoseconds;
use target::{Debuggee, Slice, thread};
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

/// What can go wrong with a debugger. The board is not concerned: it stands where it stood.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It can't be waited for.
    #[error("waiting for gdb: {0}")]
    Listen(io::Error),
    /// The host has no room.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// It does not follow its protocol.
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

/// Runs a board under gdb until its run ends, or gdb kills it. When gdb detaches or is gone, the run goes on, and
/// another one may come.
///
/// # Errors
///
/// When gdb can't be waited for, or speaks another protocol.
pub fn serve(board: &mut Board, listener: TcpListener, options: &Options) -> Result<End, Error> {
    let mut server = Server::new(listener, options.wait)?;
    let end = server.run(board, options.limit)?;
    server.finish(board, &end);
    Ok(end)
}

type Session = GdbStubStateMachine<'static, Debuggee, Line>;

/// What a board is run with under gdb, piece by piece: [`run`](Self::run) takes the place of [`Board::run`].
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
    session: Option<Session>,
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
            session: None,
            ended: None,
        })
    }

    /// A debugger at the other end of `wire`. A board stands still until that says otherwise.
    ///
    /// # Errors
    ///
    /// When the session can't begin.
    pub fn attached(wire: Box<dyn Wire>) -> Result<Self, Error> {
        let mut server = Self {
            debuggee: Debuggee::new()?,
            listener: None,
            wait: false,
            session: None,
            ended: None,
        };
        server.begin(wire)?;
        Ok(server)
    }

    /// Whether a debugger is there.
    #[must_use]
    pub const fn is_attached(&self) -> bool {
        self.session.is_some()
    }

    /// Runs the board, always the same one, until `limit`, or until something ends the run before. Returns no earlier while
    /// gdb has the board stopped. gdb is not told of the limit, nor of stops and watches that are not its own: call this again to
    /// go on, or [`finish`](Self::finish).
    ///
    /// # Errors
    ///
    /// When gdb can't be waited for, or speaks another protocol: it is gone then, and what it set is taken back. The
    /// board stands where it stood, and calling this again goes on.
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
        if let Some(GdbStubStateMachine::Running(session)) = self.session.take() {
            // If it can't be told, it is gone.
            let _ = session.report_stop(&mut self.debuggee, reason);
        }
        self.debuggee.detach();
        self.debuggee.swap(board);
    }

    fn run_lent(&mut self, limit: Femtoseconds) -> Result<End, Error> {
        loop {
            let Some(session) = self.session.take() else {
                if let Some(wire) = self.accept()? {
                    self.begin(wire)?;
                    continue;
                }
                match self.debuggee.run(limit) {
                    Slice::Over => continue,
                    Slice::Ended(outcome) => return Ok(End::Run(outcome)),
                    // Nobody is there to be told, and nothing of gdb's is set: all that it can be is a deadlock.
                    Slice::Stopped(_) => return Ok(End::Run(Outcome::Deadlock)),
                }
            };
            match self.turn(session, limit) {
                Ok(Turn::On(session)) => self.session = Some(session),
                Ok(Turn::Return(session, outcome)) => {
                    self.session = Some(session);
                    return Ok(End::Run(outcome));
                }
                Ok(Turn::Ended(DisconnectReason::Kill)) => {
                    self.debuggee.detach();
                    return Ok(End::Killed);
                }
                Ok(Turn::Ended(_)) => {
                    self.debuggee.detach();
                    if let Some(outcome) = self.ended.take() {
                        return Ok(End::Run(outcome));
                    }
                }
                Err(error) if error.is_connection_error() => self.debuggee.detach(),
                Err(error) => {
                    self.debuggee.detach();
                    return Err(Error::Protocol(error.to_string()));
                }
            }
        }
    }

    fn begin(&mut self, wire: Box<dyn Wire>) -> Result<(), Error> {
        let begin = GdbStub::new(Line::new(wire)).run_state_machine(&mut self.debuggee);
        self.session = Some(begin.map_err(|error| Error::Protocol(error.to_string()))?);
        self.wait = false;
        Ok(())
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

    /// The next thing to do in a session.
    fn turn(&mut self, session: Session, limit: Femtoseconds) -> Result<Turn, Failure> {
        let debuggee = &mut self.debuggee;
        match session {
            GdbStubStateMachine::Idle(mut session) => {
                match session.borrow_conn().wire.receive(true) {
                    Ok(Received::Byte(byte)) => session.incoming_data(debuggee, byte).map(Turn::On),
                    Ok(Received::Nothing) => Ok(Turn::On(session.into())),
                    Ok(Received::End) | Err(_) => Ok(Turn::Ended(DisconnectReason::Disconnect)),
                }
            }
            GdbStubStateMachine::Running(mut session) => {
                // It runs first, so that whoever lets it go on and interrupts it at once gets somewhere.
                match debuggee.run(limit) {
                    Slice::Over => {}
                    Slice::Stopped(reason) => {
                        return session.report_stop(debuggee, reason).map(Turn::On);
                    }
                    Slice::Ended(Outcome::Stop(stop)) => {
                        self.ended = Some(Outcome::Stop(stop));
                        let reason = MultiThreadStopReason::Exited(code(stop));
                        return session.report_stop(debuggee, reason).map(Turn::On);
                    }
                    Slice::Ended(outcome) => return Ok(Turn::Return(session.into(), outcome)),
                }
                match session.borrow_conn().wire.receive(false) {
                    Ok(Received::Byte(byte)) => session.incoming_data(debuggee, byte).map(Turn::On),
                    Ok(Received::Nothing) => Ok(Turn::On(session.into())),
                    Ok(Received::End) | Err(_) => Ok(Turn::Ended(DisconnectReason::Disconnect)),
                }
            }
            GdbStubStateMachine::CtrlCInterrupt(session) => {
                let hart = debuggee.board.next().unwrap_or(0);
                let reason = MultiThreadStopReason::SignalWithThread {
                    tid: thread(hart),
                    signal: Signal::SIGINT,
                };
                session
                    .interrupt_handled(debuggee, Some(reason))
                    .map(Turn::On)
            }
            GdbStubStateMachine::Disconnected(session) => Ok(Turn::Ended(session.get_reason())),
        }
    }
}

type Failure = GdbStubError<std::convert::Infallible, io::Error>;

/// What comes of a turn of a session.
enum Turn {
    /// It goes on.
    On(Session),
    /// It goes on when the caller wants.
    Return(Session, Outcome),
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
