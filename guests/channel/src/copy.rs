//! Copies between a caller's bytes and shared words.
//!
//! The other end may write the words meanwhile, so they are accessed by atomics, eight bytes each; where the caller's bytes are
//! aligned to 8, that is one load and one store, sixteen for a cache line, and little else.

use zerocopy::FromBytes;

use crate::atomic::{AtomicU64, Ordering};

const _: () = assert!(
    cfg!(target_endian = "little"),
    "bytes in words are little-endian"
);

const WORD: usize = size_of::<u64>();

/// Stores bytes to the words from the first on, and zeros up to a whole word. The words suffice.
pub fn put(words: &[AtomicU64], bytes: &[u8]) {
    let (whole, rest) = bytes.split_at(bytes.len() / WORD * WORD);
    let (full, words) = words.split_at(whole.len() / WORD);
    if let Ok(values) = <[u64]>::ref_from_bytes(whole) {
        let ((lines, last), (value_lines, last_values)) =
            (full.as_chunks::<8>(), values.as_chunks::<8>());
        for (line, values) in lines.iter().zip(value_lines) {
            let values = *values;
            for (word, value) in line.iter().zip(values) {
                word.store(value, Ordering::Relaxed);
            }
        }
        for (word, value) in last.iter().zip(last_values) {
            word.store(*value, Ordering::Relaxed);
        }
    } else {
        for (word, bytes) in full.iter().zip(whole.as_chunks().0) {
            word.store(u64::from_le_bytes(*bytes), Ordering::Relaxed);
        }
    }
    if let (Some(word), false) = (words.first(), rest.is_empty()) {
        let mut bytes = [0; WORD];
        bytes[..rest.len()].copy_from_slice(rest);
        word.store(u64::from_le_bytes(bytes), Ordering::Relaxed);
    }
}

/// Loads bytes from the words from the first on. The words suffice.
pub fn get(words: &[AtomicU64], bytes: &mut [u8]) {
    let (whole, rest) = bytes.split_at_mut(bytes.len() / WORD * WORD);
    let (full, words) = words.split_at(whole.len() / WORD);
    if let Ok(values) = <[u64]>::mut_from_bytes(whole) {
        let ((lines, last), (value_lines, last_values)) =
            (full.as_chunks::<8>(), values.as_chunks_mut::<8>());
        for (line, values) in lines.iter().zip(value_lines) {
            *values = line.each_ref().map(|word| word.load(Ordering::Relaxed));
        }
        for (word, value) in last.iter().zip(last_values) {
            *value = word.load(Ordering::Relaxed);
        }
    } else {
        for (word, bytes) in full.iter().zip(whole.as_chunks_mut().0) {
            *bytes = word.load(Ordering::Relaxed).to_le_bytes();
        }
    }
    if let (Some(word), false) = (words.first(), rest.is_empty()) {
        let bytes = word.load(Ordering::Relaxed).to_le_bytes();
        rest.copy_from_slice(&bytes[..rest.len()]);
    }
}
