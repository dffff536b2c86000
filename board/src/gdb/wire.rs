//! The wire to gdb: bytes both ways, waited for or not.

use std::convert::Infallible;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;

use gdbstub::conn::Connection;

/// The result of polling the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// The next byte.
    Byte(u8),
    /// None at the moment.
    Nothing,
    /// There will be no more.
    End,
}

/// A connection to a debugger.
pub trait Wire: Send {
    /// The next byte; waits for it if `wait` is set.
    ///
    /// # Errors
    ///
    /// When the connection is broken.
    fn receive(&mut self, wait: bool) -> io::Result<Received>;

    /// Sends bytes, all of them.
    ///
    /// # Errors
    ///
    /// When the connection is broken.
    fn send(&mut self, bytes: &[u8]) -> io::Result<()>;
}

/// A TCP connection.
pub struct Tcp {
    stream: TcpStream,
    received: Vec<u8>,
    /// How many of the received bytes were handed on.
    taken: usize,
}

/// How much is received at a time.
const CHUNK: usize = 4096;

impl Tcp {
    /// Takes over a connection.
    ///
    /// # Errors
    ///
    /// When its options can't be set.
    pub fn new(stream: TcpStream) -> io::Result<Self> {
        // Packets are small, and each is waited for.
        stream.set_nodelay(true)?;
        stream.set_nonblocking(false)?;
        Ok(Self {
            stream,
            received: Vec::new(),
            taken: 0,
        })
    }
}

impl Wire for Tcp {
    fn receive(&mut self, wait: bool) -> io::Result<Received> {
        if self.taken == self.received.len() {
            self.received.resize(CHUNK, 0);
            self.stream.set_nonblocking(!wait)?;
            let length = loop {
                match self.stream.read(&mut self.received) {
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    other => break other,
                }
            };
            self.received.truncate(*length.as_ref().unwrap_or(&0));
            self.taken = 0;
            match length {
                Ok(0) => return Ok(Received::End),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return Ok(Received::Nothing);
                }
                Err(error) => return Err(error),
            }
        }
        let byte = self.received[self.taken];
        self.taken += 1;
        Ok(Received::Byte(byte))
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.set_nonblocking(false)?;
        Write::write_all(&mut self.stream, bytes)
    }
}

/// Where the protocol's library writes to, byte by byte: what it says is translated before it is sent.
#[derive(Default)]
pub(super) struct Line {
    written: Vec<u8>,
}

impl Line {
    /// The bytes written since the last poll.
    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.written)
    }
}

impl Connection for Line {
    type Error = Infallible;

    fn write(&mut self, byte: u8) -> Result<(), Infallible> {
        self.written.push(byte);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}
