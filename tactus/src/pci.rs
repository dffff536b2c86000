//! What is on the PCI bus of a machine: kinds of functions, and what a system needs to know of them.

use std::fmt;

/// The vendor and the device that a function says it is: `"1af4:1042"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Id {
    /// The vendor, as the PCI-SIG numbers them.
    pub vendor: u16,
    /// The device, as the vendor numbers them.
    pub device: u16,
}

impl Id {
    /// The identity that a text stands for: two numbers of four hexadecimal digits.
    pub fn from_text(text: &str) -> Option<Self> {
        let number = |digits: &str| {
            let plain = digits.len() == 4 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            u16::from_str_radix(digits, 16).ok().filter(|_| plain)
        };
        let (vendor, device) = text.split_once(':')?;
        Some(Self {
            vendor: number(vendor)?,
            device: number(device)?,
        })
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}:{:04x}", self.vendor, self.device)
    }
}

/// A kind of function that machines have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// A virtio disk without the legacy interface.
    VirtioDisk,
    /// A virtio network card without the legacy interface.
    VirtioNet,
    /// QEMU's NVMe disk.
    Nvme,
    /// QEMU's model of Intel's 82574L, a network card.
    E1000e,
}

impl Model {
    /// What it says it is.
    pub const fn id(self) -> Id {
        let (vendor, device) = match self {
            Self::VirtioDisk => (0x1af4, 0x1042),
            Self::VirtioNet => (0x1af4, 0x1041),
            Self::Nvme => (0x1b36, 0x0010),
            Self::E1000e => (0x8086, 0x10d3),
        };
        Id { vendor, device }
    }

    /// Whether it has a function-level reset.
    pub const fn has_reset(self) -> bool {
        !matches!(self, Self::E1000e)
    }

    /// Whether the virtual board has such functions, too.
    pub const fn is_on_board(self) -> bool {
        matches!(self, Self::VirtioDisk | Self::VirtioNet)
    }

    /// What people call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::VirtioDisk => "virtio disk",
            Self::VirtioNet => "virtio network card",
            Self::Nvme => "NVMe disk",
            Self::E1000e => "e1000e network card",
        }
    }
}

/// A machine's functions: the first is in slot 1, the next in 2.
pub type Slots = Vec<Model>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_have_four_digits_each() {
        let id = Id::from_text("1af4:1042");
        assert_eq!(id, Some(Model::VirtioDisk.id()));
        assert_eq!(id.map(|id| id.to_string()).as_deref(), Some("1af4:1042"));
        for wrong in [
            "1af4",
            "1af4:42",
            "1af4:+042",
            "1af4:1042:0",
            "1AFG:1042",
            "",
        ] {
            assert_eq!(Id::from_text(wrong), None, "{wrong}");
        }
    }
}
