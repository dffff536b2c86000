//! A console device (Virtual I/O Device specification 1.2, section 5.3): port 0 alone, no optional features.

use super::{Backend, Chain, Malformed, Served};
use crate::bus::BadState;
use crate::devices::{Console, state};
use crate::time::Femtoseconds;
use virtio_bindings::virtio_ids::VIRTIO_ID_CONSOLE;

/// The queue that input goes through; the other one is for output.
const INPUT: usize = 0;
/// How long a request takes: a microsecond,
const REQUEST: u64 = 1_000_000_000;
/// and ten nanoseconds for each of its bytes.
const BYTE: u64 = 10_000_000;
/// How many bytes are moved at a time.
const STEP: usize = 4096;

/// A console device.
#[derive(Debug)]
pub struct VirtioConsole {
    console: Console,
}

impl VirtioConsole {
    /// A console device, and its far end.
    #[must_use]
    pub fn new() -> (Self, Console) {
        let console = Console::new();
        let far = console.clone();
        (Self { console }, far)
    }

    fn input(&self, chain: &mut Chain<'_>, now: Femtoseconds) -> Result<u64, Malformed> {
        let (room, mut length) = (chain.writable(), 0);
        // A buffer without room could never be served.
        if room == 0 {
            return Err(Malformed);
        }
        let mut bytes = Vec::with_capacity(STEP);
        loop {
            let step = (room - length).min(STEP as u64) as usize;
            bytes.clear();
            bytes.extend(std::iter::from_fn(|| self.console.get(now)).take(step));
            chain.write(length, &bytes)?;
            length += bytes.len() as u64;
            if bytes.len() < STEP {
                return Ok(length);
            }
        }
    }

    fn output(&self, chain: &mut Chain<'_>) -> Result<(), Malformed> {
        let (length, mut buffer) = (chain.readable(), [0; STEP]);
        for at in (0..length).step_by(STEP) {
            let piece = &mut buffer[..(length - at).min(STEP as u64) as usize];
            chain.read(at, piece)?;
            self.console.put(piece);
        }
        Ok(())
    }
}

impl Backend for VirtioConsole {
    fn id(&self) -> u32 {
        VIRTIO_ID_CONSOLE
    }

    fn features(&self) -> u64 {
        0
    }

    fn queues(&self) -> usize {
        2
    }

    /// Size, ports and emergency output are features that are not offered.
    fn config(&self) -> Vec<u8> {
        Vec::new()
    }

    fn ready(&self, queue: usize) -> Femtoseconds {
        if queue == INPUT {
            self.console.next().unwrap_or(Femtoseconds::NEVER)
        } else {
            Femtoseconds::default()
        }
    }

    fn serve(
        &mut self,
        queue: usize,
        chain: &mut Chain<'_>,
        now: Femtoseconds,
    ) -> Result<Served, Malformed> {
        let (written, moved) = if queue == INPUT {
            let length = self.input(chain, now)?;
            (length, length)
        } else {
            self.output(chain)?;
            (0, chain.readable())
        };
        Ok(Served {
            written: written as u32,
            latency: Femtoseconds(REQUEST + BYTE * moved),
        })
    }

    fn save(&self) -> Vec<u8> {
        state::save(&self.console.input())
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), BadState> {
        self.console.set_input(state::restore("console", bytes)?);
        Ok(())
    }
}
