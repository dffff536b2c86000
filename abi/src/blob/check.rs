//! Validation of a blob by its maker: every index is in range. The hypervisor relies on the checksum instead.

use super::{
    Blob, Class, Error, Hart, LEAST_BUDGET, Migration, NONE, OnFault, ReadyQueue, RealTimePolicy,
    limit, part, region,
};
use crate::map::{ACCELERATOR_BASE, ACCELERATOR_END, PAGE_SIZE, PASSTHROUGH_SOURCE_MAX};

impl Migration {
    /// The policy that a field of the blob encodes.
    pub fn from_raw(raw: u32) -> Option<Self> {
        let all = [Self::Off, Self::Always, Self::Automatic];
        all.into_iter().find(|policy| *policy as u32 == raw)
    }
}

impl RealTimePolicy {
    /// The policy that a field of the blob encodes.
    pub fn from_raw(raw: u32) -> Option<Self> {
        let all = [Self::FixedPriority, Self::EarliestDeadline];
        all.into_iter().find(|policy| *policy as u32 == raw)
    }
}

const fn within(first: u32, count: u32, len: usize) -> bool {
    first as u64 + count as u64 <= len as u64
}

impl<'a> Blob<'a> {
    /// Opens a blob and checks it. `bytes` is aligned to 8 bytes, begins with the header and may be longer than the
    /// blob. Every index in the result is in range; addresses are not checked.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let blob = Self::open(bytes)?;
        blob.check_indices()?;
        Ok(blob)
    }

    fn check_indices(&self) -> Result<(), Error> {
        let harts = self.harts.len();
        if harts == 0 || harts > limit::HARTS {
            return Err(Error::Table("number of harts out of range"));
        }
        let known = |hart: &Hart| RealTimePolicy::from_raw(hart.policy).is_some();
        if self.header.reserve > 1000 || !self.harts.iter().all(known) {
            return Err(Error::Table("a hart's real-time policy out of range"));
        }
        let migration = Migration::from_raw(self.header.migration);
        let user_only = self.header.user_only;
        if migration.is_none()
            || self.header.separation > 1
            || user_only >> harts != 0
            || (migration == Some(Migration::Off)) != (user_only == 0)
        {
            return Err(Error::Table("migration or separation out of range"));
        }
        let ready_queue = ReadyQueue::from_raw(self.header.ready_queue);
        if ready_queue.is_none_or(|queue| {
            queue.is_in_hardware() != (self.header.ready_queue_page != 0)
                || queue.is_in_hardware() != (self.header.ready_queue_event != 0)
        }) {
            return Err(Error::Table("ready queue out of range"));
        }
        if self.header.guard_ticks > limit::LEAD_TICKS {
            return Err(Error::Table("the guard before a dispatch is too long"));
        }
        if self.header.parts & !part::ALL != 0 {
            return Err(Error::Table("unknown parts of the hypervisor"));
        }
        if self.vms.is_empty() || self.vms.len() > limit::VMS {
            return Err(Error::Table("number of VMs out of range"));
        }
        if self.vcpus.len() > limit::VCPUS {
            return Err(Error::Table("number of vCPUs out of range"));
        }
        let mut vcpus = 0;
        for (i, vm) in self.vms.iter().enumerate() {
            // Entries of VMs are consecutive, so that each vCPU belongs to a VM.
            if vm.first_vcpu != vcpus {
                return Err(Error::Table("a VM's table entries out of range"));
            }
            if vm.vcpus == 0
                || vm.vcpus as usize > limit::VCPUS_PER_VM
                || vm.regions == 0
                || !within(
                    vm.first_vcpu,
                    vm.vcpus.saturating_add(vm.rt_vcpus),
                    self.vcpus.len(),
                )
                || !within(vm.first_region, vm.regions, self.regions.len())
                || !within(vm.first_segment, vm.segments, self.segments.len())
                || !within(
                    vm.first_channel_end,
                    vm.channel_ends,
                    self.channel_ends.len(),
                )
                || vm.channel_ends > crate::map::CHANNELS_MAX
            {
                return Err(Error::Table("a VM's table entries out of range"));
            }
            if vm.rt_vcpus as usize > limit::RT_VCPUS_PER_VM || vm.rt_share > 1000 {
                return Err(Error::Table("a VM's real-time share out of range"));
            }
            vcpus += vm.vcpus + vm.rt_vcpus;
            let signals = OnFault::from_raw(vm.on_fault)
                .ok_or(Error::Table("unknown on_fault policy"))?
                == OnFault::Signal;
            if signals && vm.signal_vm as usize >= self.vms.len() {
                return Err(Error::Table("signalled VM out of range"));
            }
            for (index, vcpu) in self.vcpus_of(vm).iter().enumerate() {
                let class =
                    Class::from_raw(vcpu.class).ok_or(Error::Table("unknown vCPU class"))?;
                let made_later = index >= vm.vcpus as usize;
                let harts_ok = self.kernel_harts(vcpu) != 0 && vcpu.harts >> harts == 0;
                let reservation_ok = if vcpu.period == 0 {
                    vcpu.budget == 0 && vcpu.deadline == 0
                } else {
                    class == Class::RealTime
                        && !made_later
                        && vcpu.budget >= (LEAST_BUDGET * self.header.interrupt_ticks).max(1)
                        && vcpu.budget <= vcpu.deadline
                        && vcpu.deadline <= vcpu.period
                        && vcpu.period <= limit::PERIOD_TICKS
                };
                if vcpu.vm as usize != i
                    || vcpu.index as usize != index
                    || vcpu.priority > 255
                    || (vcpu.periodic | vcpu.low) > 1
                    || (made_later && class != Class::RealTime)
                    || !harts_ok
                    || !reservation_ok
                    || vcpu.more > vcpu.deadline - vcpu.budget
                    || vcpu.lead > limit::LEAD_TICKS
                    || (vcpu.lead != 0 && (class != Class::RealTime || made_later))
                    || (vcpu.interrupt_distance != 0) != (class == Class::RealTime)
                {
                    return Err(Error::Table("a vCPU's fields out of range"));
                }
            }
        }
        if vcpus as usize != self.vcpus.len() {
            return Err(Error::Table("a vCPU without a VM"));
        }
        self.check_regions()?;
        self.check_warm_ranges()?;
        self.check_pci()?;
        self.check_windows()?;
        self.check_management()?;
        self.check_onchip(0, u64::MAX)?;
        for interrupt in self.interrupts {
            if interrupt.vm as usize >= self.vms.len()
                || interrupt.source == 0
                || interrupt.source > crate::map::PASSTHROUGH_SOURCE_MAX
            {
                return Err(Error::Table("an interrupt's fields out of range"));
            }
        }
        for end in self.channel_ends {
            let peer = self.vms.get(end.peer_vm as usize);
            if peer.is_none_or(|vm| end.peer_channel >= vm.channel_ends)
                || end.messages as usize > limit::MESSAGES
                || end.message_size as usize > limit::MESSAGE
                || (end.messages == 0) != (end.message_size == 0)
            {
                return Err(Error::Table("a channel end's fields out of range"));
            }
        }
        Ok(())
    }

    fn check_regions(&self) -> Result<(), Error> {
        let manager = self.header.device_manager;
        if manager != NONE && manager as usize >= self.vms.len() {
            return Err(Error::Table("the device manager out of range"));
        }
        let (page, source) = (self.header.allocator, self.header.allocator_source);
        let last = u64::from(PASSTHROUGH_SOURCE_MAX);
        if page % PAGE_SIZE != 0
            || (page == 0) != (source == 0)
            || (page != 0 && manager == NONE)
            || source > last
        {
            return Err(Error::Table("the region allocator out of range"));
        }
        let mut seen = 0u32;
        for region in self.regions {
            let shared = region.flags == region::ACCELERATOR;
            let interface = region.interface as usize;
            let good = if shared {
                manager != NONE
                    && region.size == PAGE_SIZE
                    && (ACCELERATOR_BASE..ACCELERATOR_END).contains(&region.guest)
                    && interface < limit::INTERFACES
                    && seen >> interface & 1 == 0
            } else {
                (interface == 0 || region.flags == super::calls::WINDOW) && region.priority == 0
            };
            if !good {
                return Err(Error::Table("a virtual device's fields out of range"));
            }
            let coloured = region.spread != 0;
            let may_be = matches!(
                region.flags,
                region::MEMORY | region::CHANNEL | super::calls::PEER_MEMORY
            );
            if coloured && !may_be
                || !coloured && (region.run != 0 || region.tables != 0)
                || !region.has_sound_colours()
            {
                return Err(Error::Table("a region's colours out of range"));
            }
            seen |= u32::from(shared) << interface;
        }
        Ok(())
    }
}
