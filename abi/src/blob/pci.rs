//! PCI functions that VMs have, for a hypervisor that gives them, and for the maker of a blob.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::{Blob, Error, part, warm::WarmRange};
use crate::map::PAGE_SIZE;

/// Devices on a bus, the host bridge included.
pub const SLOTS: u32 = 32;

/// The PCI host and its IOMMU: behind the warm lines, where [`part::PCI`] is set.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct PciHost {
    /// Physical address of the configuration spaces of bus 0.
    pub ecam: u64,
    /// Physical address of the registers of the IOMMU that all functions are behind.
    pub iommu: u64,
    /// Entries of the [`PciFunction`] table, which follows.
    pub functions: u64,
}

/// Function 0 of a device on bus 0, and the VM that it is given to. Its interrupt is among
/// [`Blob::interrupts`](super::Blob::interrupts), its registers among the VM's regions.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct PciFunction {
    /// The VM.
    pub vm: u32,
    /// Its device number, for the VM as well. Each is greater than the one before.
    pub slot: u32,
    /// Where its registers are placed: first physical address, below 4 GiB. The VM has all of it, at the same
    /// guest-physical addresses.
    pub window: u64,
    /// ... and size in bytes.
    pub window_size: u64,
}

impl<'a> Blob<'a> {
    /// The PCI host, and the functions that VMs have. `None`: there is none, or the blob is truncated.
    pub fn pci(&self) -> Option<(&'a PciHost, &'a [PciFunction])> {
        if self.header.parts & part::PCI == 0 {
            return None;
        }
        let before = self.header.warm_ranges as usize * size_of::<WarmRange>();
        let (host, rest) = PciHost::ref_from_prefix(self.rest.get(before..)?).ok()?;
        let count = usize::try_from(host.functions).ok()?;
        let (functions, _) = <[PciFunction]>::ref_from_prefix_with_elems(rest, count).ok()?;
        Some((host, functions))
    }

    /// Whether the functions are within their limits. A hypervisor that gives functions to VMs asks this at boot.
    pub fn check_pci(&self) -> Result<(), Error> {
        if self.header.parts & part::PCI == 0 {
            return Ok(());
        }
        let (host, functions) = self.pci().ok_or(Error::Truncated)?;
        let is_page = |address: u64| address.is_multiple_of(PAGE_SIZE);
        let mut next = 1;
        for function in functions {
            let end = function.window.checked_add(function.window_size);
            if !(next..SLOTS).contains(&function.slot)
                || function.vm as usize >= self.vms.len()
                || !is_page(function.window | function.window_size)
                || end.is_none_or(|end| end > u32::MAX.into())
            {
                return Err(Error::Table("a PCI function's fields out of range"));
            }
            next = function.slot + 1;
        }
        if !is_page(host.ecam | host.iommu) {
            return Err(Error::Table("the PCI host's fields out of range"));
        }
        Ok(())
    }
}
