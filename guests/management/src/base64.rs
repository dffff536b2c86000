//! Base64 (RFC 4648, section 4), without room for what is decoded.

use core::fmt;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes that are shown in base64.
#[derive(Clone, Copy, Debug)]
pub struct Encoded<'b>(pub &'b [u8]);

impl fmt::Display for Encoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for group in self.0.chunks(3) {
            let mut word = [0; 4];
            word[1..=group.len()].copy_from_slice(group);
            let word = u32::from_be_bytes(word);
            for place in 0..4 {
                let index = word >> (18 - 6 * place) & 63;
                let letter = match place <= group.len() {
                    true => ALPHABET[index as usize],
                    false => b'=',
                };
                f.write_str(core::str::from_utf8(&[letter]).unwrap_or("="))?;
            }
        }
        Ok(())
    }
}

fn value(letter: u8) -> Option<u32> {
    let value = match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(value.into())
}

/// Decodes a text to the front of `to`; how many bytes. `None`: it is no base64, not padded, has bits that are lost, or
/// does not fit.
pub fn decode(text: &str, to: &mut [u8]) -> Option<usize> {
    let (groups, []) = text.as_bytes().as_chunks::<4>() else {
        return None;
    };
    let mut length = 0;
    for (index, group) in groups.iter().enumerate() {
        let padding = group
            .iter()
            .rev()
            .take_while(|&&letter| letter == b'=')
            .count();
        if padding > 2 || padding > 0 && index + 1 != groups.len() {
            return None;
        }
        let mut word = 0;
        for &letter in &group[..4 - padding] {
            word = word << 6 | value(letter)?;
        }
        word <<= 6 * padding;
        let [_, bytes @ ..] = word.to_be_bytes();
        let (bytes, rest) = bytes.split_at(3 - padding);
        if rest.iter().any(|&byte| byte != 0) {
            return None;
        }
        to.get_mut(length..length + bytes.len())?
            .copy_from_slice(bytes);
        length += bytes.len();
    }
    Some(length)
}
