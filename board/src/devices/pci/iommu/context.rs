//! Device contexts, and the directory that they are in (section 2.1; 2.3.1 for the way through it).

use serde::{Deserialize, Serialize};

use super::queues::{DIRECTORY_ACCESS, DIRECTORY_INVALID, Fault, MISCONFIGURED, TYPE_DISALLOWED};
use super::{Iommu, Root};

/// Bytes of a device context of the base format.
const CONTEXT: u64 = 32;
/// Bit V of all entries.
const VALID: u64 = 1;
/// The page number in `ddtp` and in entries that are no leaves.
pub(super) const PAGE_NUMBER: u64 = ((1 << 44) - 1) << 10;
/// Fields of the translation control, `tc` (section 2.1.3.1).
const DISABLE_FAULTS: u64 = 1 << 4;
const PROCESS_TABLE: u64 = 1 << 5;
const DEFAULT_PROCESS: u64 = 1 << 9;
/// The modes that `iosatp` and `iohgatp` may have: Bare, and those of 3 and 4 levels.
const MODES: [u64; 3] = [0, 8, 9];
/// The field PSCID of `ta`.
const PROCESS_CONTEXT: u64 = 0xf_ffff << 12;
/// The page number in `iosatp` and `iohgatp`.
const TABLE: u64 = (1 << 44) - 1;

/// The mode of `ddtp` (section 5.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// All is refused.
    Off,
    /// All passes.
    Bare,
    /// A directory of so many levels.
    Levels(u32),
}

impl Mode {
    /// The mode that the field's value stands for. `None`: none.
    pub const fn of(value: u64) -> Option<Self> {
        match value & 15 {
            0 => Some(Self::Off),
            1 => Some(Self::Bare),
            levels @ 2..=4 => Some(Self::Levels(levels as u32 - 1)),
            _ => None,
        }
    }
}

/// A device context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Context {
    /// Translation control.
    control: u64,
    /// `iohgatp`: the second stage.
    pub guest_root: u64,
    /// `ta`: translation attributes.
    attributes: u64,
    /// `fsc`: here always `iosatp`, the first stage.
    pub root: u64,
}

impl Context {
    fn read(root: &mut Root<'_, '_>, address: u64) -> Result<Self, Fault> {
        let mut bytes = [0; CONTEXT as usize];
        root.read(address, &mut bytes)
            .map_err(|_| Fault::new(DIRECTORY_ACCESS))?;
        let [control, guest_root, attributes, first] = std::array::from_fn(|word| {
            let bytes: [u8; 8] = std::array::from_fn(|byte| bytes[word * 8 + byte]);
            u64::from_le_bytes(bytes)
        });
        Ok(Self {
            control,
            guest_root,
            attributes,
            root: first,
        })
    }

    /// Whether it can be used: the checks of section 2.1.4, with what `capabilities` leaves out.
    pub fn is_sound(&self) -> bool {
        let processes = self.control & PROCESS_TABLE != 0;
        let mut fields = VALID | DISABLE_FAULTS | PROCESS_TABLE;
        if processes {
            fields |= DEFAULT_PROCESS;
        }
        // Bits 59:44 are reserved in the first stage; in the second they are GSCID.
        let first = self.root >> 60;
        let first_is_good = if processes {
            // No format of process directories is there.
            self.root == 0
        } else {
            MODES.contains(&first) && self.root & !(TABLE | 15 << 60) == 0
        };
        let second = self.guest_root >> 60;
        self.control & !fields == 0
            && self.attributes & !PROCESS_CONTEXT == 0
            && first_is_good
            && MODES.contains(&second)
            && (second == 0 || self.guest_root.is_multiple_of(4))
    }

    /// Whether faults of translation are not reported: DTF.
    pub const fn hides_faults(&self) -> bool {
        self.control & DISABLE_FAULTS != 0
    }

    /// GSCID, where there is a second stage.
    pub const fn guest(&self) -> Option<u16> {
        match self.guest_root >> 60 {
            0 => None,
            _ => Some((self.guest_root >> 44) as u16),
        }
    }

    /// PSCID, where there is a first stage.
    pub const fn process(&self) -> Option<u32> {
        match self.root >> 60 {
            0 => None,
            _ => Some((self.attributes >> 12) as u32 & 0xf_ffff),
        }
    }
}

impl Iommu {
    /// The mode that it is in.
    pub(super) fn mode(&self) -> Mode {
        // No other value is ever taken into the register.
        Mode::of(self.state.ddtp).unwrap_or(Mode::Off)
    }

    /// How many bits of a `device_id` the mode's directory tells apart (section 2.1).
    pub(super) const fn device_bits(levels: u32) -> u32 {
        match levels {
            1 => 7,
            2 => 16,
            _ => 24,
        }
    }

    /// The context of a device: cached, or found in the directory (section 2.3.1).
    pub(super) fn context(
        &mut self,
        device: u32,
        root: &mut Root<'_, '_>,
    ) -> Result<Context, Fault> {
        let cached = self.state.contexts.iter();
        if let Some((_, context)) = cached.into_iter().find(|(id, _)| *id == device) {
            return Ok(*context);
        }
        let context = self.locate(device, root)?;
        if self.state.contexts.len() >= self.sizes.contexts {
            self.state.contexts.remove(0);
        }
        self.state.contexts.push((device, context));
        Ok(context)
    }

    fn locate(&self, device: u32, root: &mut Root<'_, '_>) -> Result<Context, Fault> {
        let Mode::Levels(levels) = self.mode() else {
            return Err(Fault::new(TYPE_DISALLOWED));
        };
        if device >> Self::device_bits(levels) != 0 {
            return Err(Fault::new(TYPE_DISALLOWED));
        }
        let mut table = (self.state.ddtp & PAGE_NUMBER) << 2;
        for level in (1..levels).rev() {
            // Indices of the upper levels begin at bits 7 and 16.
            let index = match level {
                1 => device >> 7 & 0x1ff,
                _ => device >> 16,
            };
            let mut bytes = [0; 8];
            root.read(table + u64::from(index) * 8, &mut bytes)
                .map_err(|_| Fault::new(DIRECTORY_ACCESS))?;
            let entry = u64::from_le_bytes(bytes);
            if entry & VALID == 0 {
                return Err(Fault::new(DIRECTORY_INVALID));
            }
            if entry & !(VALID | PAGE_NUMBER) != 0 {
                return Err(Fault::new(MISCONFIGURED));
            }
            table = (entry & PAGE_NUMBER) << 2;
        }
        let context = Context::read(root, table + u64::from(device & 0x7f) * CONTEXT)?;
        if context.control & VALID == 0 {
            return Err(Fault::new(DIRECTORY_INVALID));
        }
        if !context.is_sound() {
            return Err(Fault::new(MISCONFIGURED));
        }
        Ok(context)
    }
}
