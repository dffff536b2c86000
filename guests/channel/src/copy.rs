//! Copies between a caller's bytes and shared words.
//!
//! The other end may write the words concurrently, so they are accessed by atomics of eight bytes. Where the caller's
//! bytes are aligned to 8, a word takes one load and one store, a cache line sixteen. Unaligned bytes take as
//! many again, and two shifts per word.

use zerocopy::FromBytes;

use crate::atomic::{AtomicU64, Ordering};

const _: () = assert!(
    cfg!(target_endian = "little"),
    "bytes in words are little-endian"
);

const WORD: usize = size_of::<u64>();

/// Stores bytes to the words from the first on, padded with zeros to a whole word. The words suffice.
pub fn put(words: &[AtomicU64], bytes: &[u8]) {
    let offset = bytes.as_ptr().align_offset(WORD);
    if bytes.len() < 2 * WORD {
        put_few(words, bytes);
    } else if offset == 0 {
        put_aligned(words, bytes);
    } else {
        put_shifted(words, bytes, offset);
    }
}

/// Loads bytes from the words from the first on. The words suffice.
pub fn get(words: &[AtomicU64], bytes: &mut [u8]) {
    let offset = bytes.as_ptr().align_offset(WORD);
    if bytes.len() < 2 * WORD {
        get_few(words, bytes);
    } else if offset == 0 {
        get_aligned(words, bytes);
    } else {
        get_shifted(words, bytes, offset);
    }
}

fn put_few(words: &[AtomicU64], bytes: &[u8]) {
    for (word, bytes) in words.iter().zip(bytes.chunks(WORD)) {
        let value = bytes
            .iter()
            .rev()
            .fold(0, |value, byte| value << 8 | u64::from(*byte));
        word.store(value, Ordering::Relaxed);
    }
}

fn get_few(words: &[AtomicU64], bytes: &mut [u8]) {
    for (word, bytes) in words.iter().zip(bytes.chunks_mut(WORD)) {
        let value = word.load(Ordering::Relaxed).to_le_bytes();
        for (byte, value) in bytes.iter_mut().zip(value) {
            *byte = value;
        }
    }
}

fn put_aligned(words: &[AtomicU64], bytes: &[u8]) {
    let count = bytes.len() / WORD;
    let Ok((values, rest)) = <[u64]>::ref_from_prefix_with_elems(bytes, count) else {
        return;
    };
    let (full, words) = words.split_at(count);
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
    put_few(words, rest);
}

fn get_aligned(words: &[AtomicU64], bytes: &mut [u8]) {
    let count = bytes.len() / WORD;
    let Ok((values, rest)) = <[u64]>::mut_from_prefix_with_elems(bytes, count) else {
        return;
    };
    let (full, words) = words.split_at(count);
    let ((lines, last), (value_lines, last_values)) =
        (full.as_chunks::<8>(), values.as_chunks_mut::<8>());
    for (line, values) in lines.iter().zip(value_lines) {
        *values = line.each_ref().map(|word| word.load(Ordering::Relaxed));
    }
    for (word, value) in last.iter().zip(last_values) {
        *value = word.load(Ordering::Relaxed);
    }
    get_few(words, rest);
}

/// Stores unaligned bytes. `offset`: bytes before the first aligned one, 1 to 7.
fn put_shifted(words: &[AtomicU64], bytes: &[u8], offset: usize) {
    let (head, rest) = bytes.split_at(offset);
    let Ok((values, tail)) = <[u64]>::ref_from_prefix_with_elems(rest, rest.len() / WORD) else {
        return;
    };
    let (full, words) = words.split_at(values.len());
    let mut carry = head
        .iter()
        .rev()
        .fold(0, |value, byte| value << 8 | u64::from(*byte));
    for (word, value) in full.iter().zip(values) {
        word.store(carry | value << (8 * offset), Ordering::Relaxed);
        carry = value >> (8 * (WORD - offset));
    }
    let mut last = [0; 2 * WORD];
    last[..WORD].copy_from_slice(&carry.to_le_bytes());
    last[offset..][..tail.len()].copy_from_slice(tail);
    put_few(words, &last[..offset + tail.len()]);
}

/// Loads unaligned bytes, as [`put_shifted`].
fn get_shifted(words: &[AtomicU64], bytes: &mut [u8], offset: usize) {
    let (head, rest) = bytes.split_at_mut(offset);
    let count = rest.len() / WORD;
    let Ok((values, tail)) = <[u64]>::mut_from_prefix_with_elems(rest, count) else {
        return;
    };
    let (full, words) = words.split_at(1 + values.len());
    let [first, full @ ..] = full else { return };
    let first = first.load(Ordering::Relaxed);
    head.copy_from_slice(&first.to_le_bytes()[..offset]);
    let mut carry = first >> (8 * offset);
    for (word, value) in full.iter().zip(values) {
        let next = word.load(Ordering::Relaxed);
        *value = carry | next << (8 * (WORD - offset));
        carry = next >> (8 * offset);
    }
    let mut last = [0; 2 * WORD];
    last[..WORD].copy_from_slice(&carry.to_le_bytes());
    // Bytes of the last word loaded remain for the tail; a further word has the others.
    let left = WORD - offset;
    if tail.len() > left {
        get_few(words, &mut last[left..tail.len()]);
    }
    tail.copy_from_slice(&last[..tail.len()]);
}
