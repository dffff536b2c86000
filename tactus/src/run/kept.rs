//! Memory of the machine that is kept when it ends.

use std::sync::{Arc, Mutex, PoisonError};

/// A range of memory, and what is in it at the machine's end.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Its first physical address.
    pub address: u64,
    /// Its bytes.
    pub size: usize,
    bytes: Arc<Mutex<Vec<u8>>>,
}

impl Kept {
    /// A range of a machine that has not ended.
    pub fn new(address: u64, size: usize) -> Self {
        Self {
            address,
            size,
            bytes: Arc::default(),
        }
    }

    /// The machine ends with these bytes.
    pub fn put(&self, bytes: Vec<u8>) {
        *self.bytes.lock().unwrap_or_else(PoisonError::into_inner) = bytes;
    }

    /// What was put; empty where the machine has not ended, or its memory could not be read.
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.bytes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
