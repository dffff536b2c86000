//! Images that have to be signed: with a key, a manager starts no other images.

use tactus_guest::management::Managed;
use tactus_management::{Check, ImageSignature, Key};

/// The key, and what is checked with it.
pub struct Images {
    key: Option<Key>,
    /// The number of the VM whose image comes, and what of it has come.
    coming: Option<(usize, Check)>,
}

/// Why an image is not loaded or started.
pub enum Refusal {
    /// It has no signature.
    Unsigned,
    /// There is no key to check its signature with.
    NoKey,
    /// Its signature is not the key's, or of another image, entry or VM.
    Signature,
    /// It was not begun, or another one was begun since.
    NotBegun,
}

impl Images {
    /// With that key, all images have to be signed.
    pub const fn new(key: Option<Key>) -> Self {
        Self { key, coming: None }
    }

    /// What is to be known before an image is loaded into a VM; [`Images::begun`] follows when its memory is clear.
    pub fn begin(
        &self,
        vm: Managed,
        signature: Option<ImageSignature>,
    ) -> Result<Option<Check>, Refusal> {
        match (&self.key, signature) {
            (None, None) => Ok(None),
            (None, Some(_)) => Err(Refusal::NoKey),
            (Some(_), None) => Err(Refusal::Unsigned),
            (Some(key), Some(signature)) => {
                let check = key.begin(vm.name, &signature);
                check.map(Some).ok_or(Refusal::Signature)
            }
        }
    }

    /// The VM waits for its image.
    pub fn begun(&mut self, vm: Managed, check: Option<Check>) {
        self.coming = check.map(|check| (vm.number, check));
    }

    /// Whether a VM may be written to.
    pub fn may_write(&self, vm: Managed) -> Result<(), Refusal> {
        match &self.coming {
            _ if self.key.is_none() => Ok(()),
            Some((number, _)) if *number == vm.number => Ok(()),
            _ => Err(Refusal::NotBegun),
        }
    }

    /// That was written to the VM.
    pub fn written(&mut self, address: u64, bytes: &[u8]) {
        if let Some((_, check)) = &mut self.coming {
            check.written(address, bytes);
        }
    }

    /// Whether the VM may start at that entry. If its image is found to be another than was signed, it has to be loaded
    /// again.
    pub fn may_start(&mut self, vm: Managed, entry: u64) -> Result<(), Refusal> {
        if self.key.is_none() {
            return Ok(());
        }
        self.may_write(vm)?;
        let check = self.coming.take().map(|(_, check)| check);
        if check.is_some_and(|check| check.ends_well(entry)) {
            Ok(())
        } else {
            Err(Refusal::Signature)
        }
    }
}
