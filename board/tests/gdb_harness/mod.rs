//! A debugger's connection in memory, for tests and the fuzz target `gdb_packets`.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex};

use tactus_board::board::Board;
use tactus_board::gdb::{Guest, Received, Server, Wire};
use tactus_board::profile::Profile;
use tactus_board::setup;
use tactus_board::time::Femtoseconds;

/// The bytes to the server, and the server's answers.
struct Memory {
    sent: VecDeque<u8>,
    answers: Arc<Mutex<Vec<u8>>>,
}

impl Wire for Memory {
    fn receive(&mut self, _: bool) -> io::Result<Received> {
        Ok(self.sent.pop_front().map_or(Received::End, Received::Byte))
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.answers
            .lock()
            .expect("no other thread")
            .extend_from_slice(bytes);
        Ok(())
    }
}

/// A packet with this body.
pub fn packet(body: &[u8]) -> Vec<u8> {
    let sum = body.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    [b"$", body, format!("#{sum:02x}").as_bytes()].concat()
}

/// Runs a board with this many guests under a server that receives `sent`. Returns the answers.
///
/// The server may refuse the input, but must not fail.
pub fn take(board: Board, guests: u16, sent: VecDeque<u8>) -> Vec<u8> {
    // The first run may be killed; the second continues without a debugger.
    take_until(
        board,
        guests,
        sent,
        &[1_000_000_000, 2_000_000_000].map(Femtoseconds),
    )
}

/// The same, with a run until each of the limits.
pub fn take_until(
    mut board: Board,
    guests: u16,
    sent: VecDeque<u8>,
    limits: &[Femtoseconds],
) -> Vec<u8> {
    let answers = Arc::new(Mutex::new(Vec::new()));
    let wire = Memory {
        sent,
        answers: Arc::clone(&answers),
    };
    let guests = (0..guests).map(|vmid| Guest {
        vmid,
        name: "guest".to_owned(),
    });
    let mut server = Server::attached(Box::new(wire), guests.collect()).expect("a session");
    for limit in limits {
        server.run(&mut board, *limit).expect("no input ends a run");
    }
    let _ = board.trace_hash();
    let answers = answers.lock().expect("no other thread");
    answers.clone()
}

/// Runs an input of the fuzz target: the number of guests in the first byte, then a packet's body in each line.
///
/// A body gets its checksum. A line that begins with `!` is sent unchanged.
pub fn try_lines(bytes: &[u8]) {
    let Some((first, lines)) = bytes.split_first() else {
        return;
    };
    let options = setup::Options {
        harts: Some(2),
        memory: Some(1 << 20),
        ..Default::default()
    };
    let profile = Profile::named("soc").expect("a profile that comes with the crate");
    let (board, _) = setup::board(&profile, &options, Vec::new()).expect("a board");
    let sent = lines
        .split(|byte| *byte == b'\n')
        .flat_map(|line| match line.strip_prefix(b"!") {
            Some(raw) => raw.to_vec(),
            None => packet(line),
        });
    take(board, (first % 3).into(), sent.collect());
}
