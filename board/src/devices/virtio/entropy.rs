//! An entropy device (Virtual I/O Device specification 1.2, section 5.4). Its numbers are a function of the board's
//! seed, so that runs repeat; they are nothing to make keys of.

use super::{Backend, Chain, Malformed, Served};
use crate::bus::BadState;
use crate::devices::{Random, state};
use crate::time::Femtoseconds;
use virtio_bindings::virtio_ids::VIRTIO_ID_RNG;

/// How many bytes a request gets at most; fewer than the buffer has room for are allowed (section 5.4.6).
const LENGTH_MAX: u64 = 4096;
/// How long a request takes: ten microseconds.
const LATENCY: Femtoseconds = Femtoseconds(10_000_000_000);

/// An entropy device.
#[derive(Clone, Debug)]
pub struct Entropy {
    random: Random,
}

impl Entropy {
    /// An entropy device whose numbers are a function of `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
        }
    }
}

impl Backend for Entropy {
    fn id(&self) -> u32 {
        VIRTIO_ID_RNG
    }

    fn features(&self) -> u64 {
        0
    }

    fn queues(&self) -> usize {
        1
    }

    fn config(&self) -> Vec<u8> {
        Vec::new()
    }

    fn serve(
        &mut self,
        _queue: usize,
        chain: &mut Chain<'_>,
        _now: Femtoseconds,
    ) -> Result<Served, Malformed> {
        let mut bytes = [0; LENGTH_MAX as usize];
        let length = chain.writable().min(LENGTH_MAX);
        if length == 0 {
            return Err(Malformed);
        }
        let bytes = &mut bytes[..length as usize];
        self.random.fill(bytes);
        chain.write(0, bytes)?;
        Ok(Served {
            written: length as u32,
            latency: LATENCY,
        })
    }

    fn save(&self) -> Vec<u8> {
        state::save(&self.random)
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), BadState> {
        self.random = state::restore("entropy", bytes)?;
        Ok(())
    }
}
