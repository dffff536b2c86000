//! Cache blocks: which extensions a hart has, and whether a mode may execute their instructions.
//!
//! "C" is the chapter "CMO" (1.0.0) of Volume I, 20240411, by its sections.

use bitflags::bitflags;

use super::fields::envcfg;
use super::{Privilege, Privileged, Trap};

bitflags! {
    /// The extensions that a profile's harts may have or not.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Extensions: u8 {
        /// `cbo.inval`, `cbo.clean`, `cbo.flush`.
        const ZICBOM = 1;
        /// `prefetch.i`, `prefetch.r`, `prefetch.w`: without it they are HINTs of `ori` that do nothing.
        const ZICBOP = 2;
        /// `cbo.zero`.
        const ZICBOZ = 4;
    }
}

impl Extensions {
    /// Their names in the ISA string, in its order.
    const NAMES: [(&'static str, Self); 3] = [
        ("zicbom", Self::ZICBOM),
        ("zicbop", Self::ZICBOP),
        ("zicboz", Self::ZICBOZ),
    ];

    /// The extension of that name. `None`: no profile can choose such a one.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let mut names = Self::NAMES.iter();
        names
            .find(|(known, _)| *known == name)
            .map(|(_, extension)| *extension)
    }

    /// The names of those that are there, in the order of the ISA string.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let there = move |(_, extension): &&(&str, Self)| self.contains(*extension);
        Self::NAMES.iter().filter(there).map(|(name, _)| *name)
    }

    /// The fields of `menvcfg`, `senvcfg` and `henvcfg` that come with them (C 5).
    pub(super) const fn environment(self) -> u64 {
        let mut fields = 0;
        if self.contains(Self::ZICBOM) {
            fields |= envcfg::CBIE | envcfg::CBCFE;
        }
        if self.contains(Self::ZICBOZ) {
            fields |= envcfg::CBZE;
        }
        fields
    }
}

/// An instruction on a cache block that is no HINT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockOperation {
    /// `cbo.inval`: the block leaves the caches, and what they alone have of it is lost.
    Invalidate,
    /// `cbo.clean`: memory has the block's content.
    Clean,
    /// `cbo.flush`: that, and the block leaves the caches.
    Flush,
    /// `cbo.zero`: the block's bytes are zero.
    Zero,
}

impl Privileged {
    /// Whether the current mode may execute an instruction on a cache block, whose bits are `bits`: what it has to do
    /// then (C 5). `cbo.inval` flushes where one of the registers that count says so.
    ///
    /// # Errors
    ///
    /// The exception if not: of an instruction that the hart does not have, or that `menvcfg`, or `senvcfg` for U-mode,
    /// forbid, an illegal-instruction exception; else, of one that `henvcfg`, or `senvcfg` for VU-mode, forbid, a
    /// virtual-instruction exception.
    pub fn check_block(
        &self,
        operation: BlockOperation,
        bits: u32,
    ) -> Result<BlockOperation, Trap> {
        let (extension, field) = match operation {
            BlockOperation::Invalidate => (Extensions::ZICBOM, envcfg::CBIE),
            BlockOperation::Clean | BlockOperation::Flush => (Extensions::ZICBOM, envcfg::CBCFE),
            BlockOperation::Zero => (Extensions::ZICBOZ, envcfg::CBZE),
        };
        if !self.extensions.contains(extension) {
            return Err(Trap::illegal(bits));
        }
        let (user, v) = (self.mode.privilege == Privilege::User, self.mode.v);
        let mut flushes = false;
        for (counts, register, virtual_) in [
            (
                self.mode.privilege != Privilege::Machine,
                self.menvcfg,
                false,
            ),
            (user && !v, self.senvcfg, false),
            (v, self.henvcfg, true),
            (user && v, self.senvcfg, true),
        ] {
            if !counts {
                continue;
            }
            match register & field {
                0 if virtual_ => return Err(Trap::virtual_instruction(bits)),
                0 => return Err(Trap::illegal(bits)),
                value => flushes |= value == envcfg::CBIE_FLUSH,
            }
        }
        Ok(match operation {
            BlockOperation::Invalidate if flushes => BlockOperation::Flush,
            other => other,
        })
    }
}
