//! Snapshots of a run: the board's state, and what the run has to know beside it so that it goes on as if it had never
//! been interrupted.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tactus_board::board::Board;
use tactus_board::time::Femtoseconds;

use crate::run::script::Typing;

/// What a snapshot begins with: name and version.
const MAGIC: &[u8; 16] = b"tactus run     2";

/// All that a system has written, and when.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Written {
    bytes: Vec<u8>,
    /// When pieces of it were taken, and the end of each.
    pieces: Vec<(Femtoseconds, usize)>,
}

impl Written {
    /// Takes a piece.
    pub fn add(&mut self, now: Femtoseconds, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.pieces.push((now, self.bytes.len()));
    }

    /// All bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The pieces from this byte on, each with its time.
    pub fn pieces_from(&self, begin: usize) -> impl Iterator<Item = (Femtoseconds, &[u8])> {
        let first = self.pieces.partition_point(|(_, end)| *end <= begin);
        let mut begin = begin;
        self.pieces[first..].iter().map(move |(time, end)| {
            let piece = &self.bytes[begin..*end];
            begin = *end;
            (*time, piece)
        })
    }
}

/// What the run has beside the board.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Head {
    now: Femtoseconds,
    timed_since: Option<Femtoseconds>,
    typing: Typing,
    pieces: Vec<(Femtoseconds, usize)>,
}

/// What a snapshot holds beside the board.
#[derive(Debug)]
pub(super) struct Saved {
    /// The virtual time that the run has come to.
    pub now: Femtoseconds,
    /// When the pace became timed.
    pub timed_since: Option<Femtoseconds>,
    /// What is still to be typed on the VMs' consoles.
    pub typing: Typing,
    /// What the system has written, so that the run's journal is whole when it goes on.
    pub written: Written,
}

impl Saved {
    /// The snapshot of a run, with the board's state.
    pub fn to_bytes(&self, board: &mut Board) -> Vec<u8> {
        let Self {
            now,
            timed_since,
            typing,
            written,
        } = self;
        let head = Head {
            now: *now,
            timed_since: *timed_since,
            typing: typing.clone(),
            pieces: written.pieces.clone(),
        };
        let head = serde_json::to_vec(&head).expect("plain data can be written to a vector");
        let mut bytes = MAGIC.to_vec();
        for part in [&head, &written.bytes] {
            bytes.extend((part.len() as u64).to_le_bytes());
            bytes.extend(part);
        }
        bytes.extend(board.snapshot());
        bytes
    }

    /// Reads a snapshot of a run of `vms` VMs, and gives the board its state.
    ///
    /// # Errors
    /// It is none of such a run; says why.
    pub fn take_back(bytes: &[u8], vms: usize, board: &mut Board) -> Result<Self, String> {
        let rest = bytes
            .strip_prefix(MAGIC)
            .ok_or("it is no snapshot of a run, or one of another version")?;
        let (head, rest) = part(rest).ok_or("it is damaged")?;
        let (written, state) = part(rest).ok_or("it is damaged")?;
        let head: Head = serde_json::from_slice(head).map_err(|_| "it is damaged")?;
        let ends = || head.pieces.iter().map(|(_, end)| *end);
        if ends().next_back().unwrap_or(0) != written.len() || !ends().is_sorted() {
            return Err("it is damaged".to_owned());
        }
        if !head.typing.is_of(vms) {
            return Err("it is of another system".to_owned());
        }
        board.restore(state).map_err(|error| error.to_string())?;
        Ok(Self {
            now: head.now,
            timed_since: head.timed_since,
            typing: head.typing,
            written: Written {
                bytes: written.to_vec(),
                pieces: head.pieces,
            },
        })
    }

    /// The same of a file.
    ///
    /// # Errors
    /// The file cannot be read, or is none of such a run.
    pub fn read(path: &Path, vms: usize, board: &mut Board) -> Result<Self, super::Error> {
        Self::take_back(&super::read(path)?, vms, board).map_err(|reason| super::Error::Snapshot {
            path: path.to_owned(),
            reason,
        })
    }
}

/// The part that begins with its length, and the rest.
fn part(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_begin_anywhere() {
        let mut written = Written::default();
        for (time, piece) in [(1, "one "), (2, "two "), (3, "three")] {
            written.add(Femtoseconds(time), piece.as_bytes());
        }
        let from = |begin| {
            let pieces = written.pieces_from(begin);
            let text = |piece: &[u8]| String::from_utf8_lossy(piece).into_owned();
            pieces
                .map(|(time, piece)| (time.0, text(piece)))
                .collect::<Vec<_>>()
        };
        let all = [(1, "one "), (2, "two "), (3, "three")].map(|(t, p)| (t, p.to_owned()));
        assert_eq!(from(0), all);
        assert_eq!(from(4), all[1..]);
        assert_eq!(from(6), [(2, "o ".to_owned()), all[2].clone()]);
        assert_eq!(from(13), []);
    }
}
