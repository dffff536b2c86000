//! Signatures of images: Ed25519 (RFC 8032) over what is written for an image and where it starts.
//!
//! The signed message names the VM, so that an image that was signed for one is not another's:
//!
//! | part | bytes |
//! |---|---|
//! | `tactus image 1` | 14 |
//! | the length of the VM's name, and the name | 1 + length |
//! | of each `write`, in their order: its address, how many bytes, the bytes | 8 + 8 + bytes |
//! | the entry, and 0 | 8 + 8 |
//!
//! Numbers are little-endian. No `write` has 0 bytes, so that the end is told from all writes. The signature is known
//! before the first write: its first half goes into the hash first.

use core::fmt;

use ed25519_dalek::{Signature, StreamVerifier, VerifyingKey};

use crate::base64::{Encoded, decode};

/// Bytes of a signature.
pub const SIGNATURE_SIZE: usize = 64;
/// Bytes of a key that signatures are checked with.
pub const KEY_SIZE: usize = 32;

const TITLE: &[u8] = b"tactus image 1";

/// What comes before all writes. A VM's name has at most 255 bytes: more are left out.
pub fn sign_title(vm: &str, mut part: impl FnMut(&[u8])) {
    let name = vm.as_bytes();
    let length = u8::try_from(name.len()).unwrap_or(u8::MAX);
    part(TITLE);
    part(&[length]);
    part(&name[..usize::from(length)]);
}

/// A write of `bytes`, not none, to that guest-physical address.
pub fn sign_write(address: u64, bytes: &[u8], mut part: impl FnMut(&[u8])) {
    part(&address.to_le_bytes());
    part(&(bytes.len() as u64).to_le_bytes());
    part(bytes);
}

/// What comes behind all writes.
pub fn sign_entry(entry: u64, mut part: impl FnMut(&[u8])) {
    part(&entry.to_le_bytes());
    part(&0u64.to_le_bytes());
}

/// A text that is no signature: base64 of [`SIGNATURE_SIZE`] bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotASignature;

/// A text that is no key: base64 of [`KEY_SIZE`] bytes that are a point of the curve, and none of a small order, for
/// which signatures of any message can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAKey;

impl fmt::Display for NotASignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a signature is base64 of {SIGNATURE_SIZE} bytes")
    }
}

impl fmt::Display for NotAKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a key is base64 of {KEY_SIZE} bytes, as `tactus sign --public` prints it"
        )
    }
}

/// A signature of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageSignature([u8; SIGNATURE_SIZE]);

impl ImageSignature {
    /// One of these bytes.
    pub const fn of(bytes: [u8; SIGNATURE_SIZE]) -> Self {
        Self(bytes)
    }

    /// Reads one.
    ///
    /// # Errors
    /// It is none.
    pub fn parse(text: &str) -> Result<Self, NotASignature> {
        let mut bytes = [0; SIGNATURE_SIZE];
        match decode(text, &mut bytes) {
            Some(SIGNATURE_SIZE) => Ok(Self(bytes)),
            _ => Err(NotASignature),
        }
    }
}

impl fmt::Display for ImageSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Encoded(&self.0).fmt(f)
    }
}

/// What signatures are checked with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(VerifyingKey);

impl Key {
    /// Reads one.
    ///
    /// # Errors
    /// It is none.
    pub fn parse(text: &str) -> Result<Self, NotAKey> {
        let mut bytes = [0; KEY_SIZE];
        if decode(text, &mut bytes) != Some(KEY_SIZE) {
            return Err(NotAKey);
        }
        let key = VerifyingKey::from_bytes(&bytes).map_err(|_| NotAKey)?;
        if key.is_weak() {
            return Err(NotAKey);
        }
        Ok(Self(key))
    }

    /// Begins to check an image of a VM. `None`: the signature is none that any key makes.
    pub fn begin(&self, vm: &str, signature: &ImageSignature) -> Option<Check> {
        let signature = Signature::from_bytes(&signature.0);
        let mut verifier = self.0.verify_stream(&signature).ok()?;
        sign_title(vm, |part| verifier.update(part));
        Some(Check(verifier))
    }
}

/// An image that is being checked while it comes.
pub struct Check(StreamVerifier);

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Check")
    }
}

impl Check {
    /// That was written.
    pub fn written(&mut self, address: u64, bytes: &[u8]) {
        sign_write(address, bytes, |part| self.0.update(part));
    }

    /// Whether the signature is the key's, of all that was written and of this entry.
    #[must_use]
    pub fn ends_well(mut self, entry: u64) -> bool {
        sign_entry(entry, |part| self.0.update(part));
        self.0.finalize_and_verify().is_ok()
    }
}
