//! Lists of warm lines, for a hypervisor that prefetches them, and for the maker of a blob.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::{Blob, Error};
use crate::map::PAGE_SIZE;

/// Cache lines of a vCPU's list, at most.
pub const WARM_LINES: u32 = 128;

/// Adjacent cache lines that a vCPU uses soon after its timer has woken it. The ranges of a vCPU follow each other, the
/// one that it uses first before the others; the vCPUs are in the order of their table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct WarmRange {
    /// Guest-physical address of the first line, a multiple of [`Header::cache_line`](super::Header::cache_line),
    /// within the VM's memory. All lines are in one page, so that they follow each other in the host's memory, too.
    pub guest: u64,
    /// The vCPU: its index in the [`Vcpu`](super::Vcpu) table. One of the configuration.
    pub vcpu: u32,
    /// How many lines. Those of a vCPU come to [`WARM_LINES`] at most.
    pub lines: u16,
    /// 1: they hold instructions, and are prefetched for those; 0: data.
    pub code: u16,
}

impl<'a> Blob<'a> {
    /// The warm lines of all vCPUs. Not a field: a hypervisor that does not use them does not look for them.
    pub fn warm_ranges(&self) -> &'a [WarmRange] {
        let count = self.header.warm_ranges as usize;
        let table = <[WarmRange]>::ref_from_prefix_with_elems(self.rest, count);
        table.map_or(&[], |(table, _)| table)
    }

    /// The warm lines of the vCPU with this index in the table of all; none if it has no list. Found by bisection.
    pub fn warm_of(&self, vcpu: u32) -> &'a [WarmRange] {
        let ranges = self.warm_ranges();
        let up_to = |end: u64| ranges.partition_point(|range| u64::from(range.vcpu) < end);
        let (first, end) = (up_to(vcpu.into()), up_to(u64::from(vcpu) + 1));
        ranges.get(first..end).unwrap_or(&[])
    }

    /// Whether each list of warm lines is one: of a vCPU of the configuration, in the order of the vCPUs, of whole
    /// lines of its VM's memory, and not too long. A hypervisor that uses the lists asks this at boot.
    pub fn check_warm_ranges(&self) -> Result<(), Error> {
        let wrong = Err(Error::Table("a vCPU's warm lines out of range"));
        let ranges = self.warm_ranges();
        if ranges.len() != self.header.warm_ranges as usize {
            return Err(Error::Truncated);
        }
        let line = u64::from(self.header.cache_line);
        if !ranges.is_empty() && !line.is_power_of_two() {
            return wrong;
        }
        let (mut last, mut lines) = (0, 0);
        for range in ranges {
            let vcpu = self.vcpus.get(range.vcpu as usize);
            let vm = vcpu.and_then(|vcpu| self.vms.get(vcpu.vm as usize));
            let Some((vcpu, vm)) = vcpu.zip(vm) else {
                return wrong;
            };
            if range.vcpu != last {
                lines = 0;
            }
            let in_order = range.vcpu >= last;
            last = range.vcpu;
            let room = WARM_LINES - lines;
            let memory = self.regions_of(vm).first();
            let is_in_memory = memory.is_some_and(|memory| {
                let offset = range.guest.wrapping_sub(memory.guest);
                // No overflow: a line has at most 2^31 bytes.
                offset <= memory.size && u64::from(range.lines) * line <= memory.size - offset
            });
            let room_in_page = PAGE_SIZE - range.guest % PAGE_SIZE;
            if !in_order
                || u64::from(range.lines) * line > room_in_page
                || !(1..=room).contains(&range.lines.into())
                || range.code > 1
                || vcpu.index >= vm.vcpus
                || !range.guest.is_multiple_of(line)
                || !is_in_memory
            {
                return wrong;
            }
            lines += u32::from(range.lines);
        }
        Ok(())
    }
}
