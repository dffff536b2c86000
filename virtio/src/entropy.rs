//! An entropy device (virtio 1.2, section 5.4), and the generator behind it: ChaCha20 with fast key erasure.
//!
//! A generator is a key. The key's stream is made in batches: the first bytes of each are the next key, which replaces
//! the present one at once, and each of the others is given out once or never. So a generator that is read by an
//! attacker tells nothing of what it gave out before; and one of two generators tells nothing of the other.
//!
//! The bytes are as unpredictable as the seed is: a seed that is known, or used for two machines, makes known bytes.

use chacha20::ChaCha20Rng;
use chacha20::rand_core::{Rng, SeedableRng};

use crate::memory::Memory;
use crate::mmio::{Device, Served};
use crate::queue::{Chain, Fault, Queue};

/// Bytes of a key, and of a seed.
pub const KEY: usize = 32;
/// The most bytes of a request: one batch without its key. What a request may take is bounded by it.
pub const BYTES_MAX: usize = BATCH - KEY;

/// Bytes of a batch: as many as the cipher makes at once.
const BATCH: usize = 256;
/// Words of the stack that [`wipe_stack`] overwrites: more than the cipher uses.
const STACK_WORDS: usize = 512;

/// The seed that 64 hexadecimal digits are; `None`: they are not.
pub fn seed(digits: &str) -> Option<[u8; KEY]> {
    let (pairs, []) = digits.as_bytes().as_chunks::<2>() else {
        return None;
    };
    let pairs: &[[u8; 2]; KEY] = pairs.try_into().ok()?;
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let mut seed = [0; KEY];
    for (byte, [high, low]) in seed.iter_mut().zip(pairs) {
        *byte = (digit(*high)? << 4 | digit(*low)?) as u8;
    }
    Some(seed)
}

/// A generator of random bytes.
pub struct Generator {
    key: [u8; KEY],
}

/// Without the key.
impl core::fmt::Debug for Generator {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Generator").finish_non_exhaustive()
    }
}

impl Drop for Generator {
    fn drop(&mut self) {
        wipe(&mut self.key);
    }
}

impl Generator {
    /// The generator of that seed for a life of its program. Two lives with the same seed have different numbers, and
    /// with them generators that tell nothing of each other.
    pub fn new(seed: &[u8; KEY], life: u64) -> Self {
        let mut own = Self { key: *seed };
        own.batch(life, &mut []);
        own
    }

    /// A generator of its own.
    pub fn split(&mut self) -> Self {
        let mut own = Self { key: [0; KEY] };
        self.batch(0, &mut own.key);
        own
    }

    /// Fills `to`. The generator knows nothing of these bytes afterwards.
    pub fn fill(&mut self, to: &mut [u8]) {
        for part in to.chunks_mut(BYTES_MAX) {
            self.batch(0, part);
        }
    }

    /// Gives the first bytes of a batch behind its key, and takes that key. `to` is no longer than [`BYTES_MAX`].
    fn batch(&mut self, nonce: u64, to: &mut [u8]) {
        let mut batch = [0; BATCH];
        key_stream(&self.key, nonce, &mut batch);
        wipe_stack();
        let (key, bytes) = batch.split_at(KEY);
        self.key.copy_from_slice(key);
        let length = to.len();
        to.copy_from_slice(&bytes[..length]);
        wipe(&mut batch);
    }
}

/// The first bytes of ChaCha20's stream (Bernstein's, with a nonce and a counter of 64 bits each). It leaves copies of
/// the key on the stack.
#[inline(never)]
fn key_stream(key: &[u8; KEY], nonce: u64, to: &mut [u8; BATCH]) {
    let mut cipher = ChaCha20Rng::from_seed(*key);
    cipher.set_stream(nonce);
    cipher.fill_bytes(to);
}

/// Overwrites bytes that are not read any more.
pub fn wipe(bytes: &mut [u8]) {
    for byte in bytes {
        // SAFETY: a byte of the slice. Volatile: nothing reads it, and it is written all the same.
        unsafe { core::ptr::write_volatile(byte, 0) };
    }
}

/// Overwrites what functions that its caller has called before have left on the stack, to a depth of 4 KiB.
#[inline(never)]
pub fn wipe_stack() {
    let mut words = [const { core::mem::MaybeUninit::<u64>::uninit() }; STACK_WORDS];
    for word in &mut words {
        // SAFETY: a word of the array. Volatile, as above.
        unsafe { core::ptr::write_volatile(word.as_mut_ptr(), 0) };
    }
}

/// An entropy device before a generator.
#[derive(Debug)]
pub struct Entropy {
    generator: Generator,
}

impl Entropy {
    /// Before that generator, which no other device has.
    pub const fn new(generator: Generator) -> Self {
        Self { generator }
    }
}

impl Device for Entropy {
    const KIND: u32 = 4;
    const QUEUES: usize = 1;

    fn features(&self) -> u64 {
        0
    }

    fn configuration(&self, _: u32, _: u8) -> u64 {
        0
    }

    /// Fills the beginning of a request's first buffer, with at least one byte (section 5.4.6.2): it is written as a
    /// whole, or not at all.
    fn serve(
        &mut self,
        _: usize,
        queue: &mut Queue,
        memory: &impl Memory,
    ) -> Result<Served, Fault> {
        let mut chain = Chain::EMPTY;
        if !queue.peek(memory, &mut chain)? {
            return Ok(Served::default());
        }
        let buffers = chain.buffers();
        // The driver gives no buffers to be read (section 5.4.6.1).
        if buffers.iter().any(|buffer| !buffer.writable) {
            return Err(Fault::Request);
        }
        let mut filled = buffers.iter().filter(|buffer| buffer.length > 0);
        let first = filled.next().ok_or(Fault::Request)?;
        let length = BYTES_MAX.min(first.length as usize);
        let mut bytes = [0; BYTES_MAX];
        self.generator.fill(&mut bytes[..length]);
        let written = memory.write(first.address, &bytes[..length]);
        wipe(&mut bytes);
        written?;
        let interrupts = queue.complete(memory, &chain, length as u32)?;
        Ok(Served {
            interrupts,
            more: queue.waiting(memory)? > 0,
        })
    }
}
