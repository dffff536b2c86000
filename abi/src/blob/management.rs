//! VMs that manage others, for a hypervisor that lets them, and for the maker of a blob.

use zerocopy::FromBytes;

use super::{Blob, Error, part, warm::WarmRange};

/// [`Header::parts`](super::Header::parts): VMs that manage others.
pub const MANAGEMENT: u32 = 1 << 10;

impl<'a> Blob<'a> {
    /// The VMs, as bits, that each VM manages; empty where none manages any. Behind the warm lines: a system with PCI
    /// functions has none.
    pub fn managed(&self) -> &'a [u64] {
        let before = self.header.warm_ranges as usize * size_of::<WarmRange>();
        let count = match self.header.parts & MANAGEMENT {
            0 => 0,
            _ => self.vms.len(),
        };
        let rest = self.rest.get(before..).unwrap_or_default();
        let table = <[u64]>::ref_from_prefix_with_elems(rest, count);
        table.map_or(&[], |(table, _)| table)
    }

    /// Whether each VM manages others that exist. A hypervisor that lets VMs manage others asks this at boot.
    pub fn check_management(&self) -> Result<(), Error> {
        if self.header.parts & MANAGEMENT == 0 {
            return Ok(());
        }
        let managed = self.managed();
        if self.header.parts & part::PCI != 0 || managed.len() != self.vms.len() {
            return Err(Error::Truncated);
        }
        let all = u64::MAX.unbounded_shr(u64::BITS - managed.len() as u32);
        let is_sound = |(index, set): (usize, &u64)| set & !all == 0 && set >> index & 1 == 0;
        if managed.iter().enumerate().all(is_sound) {
            Ok(())
        } else {
            Err(Error::Table("the managed VMs out of range"))
        }
    }
}
