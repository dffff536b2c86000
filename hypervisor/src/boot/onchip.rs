//! What is in on-chip memory beside text and constants: what the hypervisor keeps of harts and guests, and parts of
//! VMs' memory. The parts are at its end (`arena::onchip` has what is left).
//!
//! The tool finds in the program's file how much of it objects take, and so how much it may give to VMs.

use crate::accelerators::interfaces::Interface;
use crate::arch::onchip::{self, tell};
use crate::hart::context::HartCtx;
use crate::hart::{Hart, STACK_SIZE};
use crate::message::endpoint::Endpoint;
use crate::system::System;
use crate::vm::{Doorbell, Memory, Vcpu, Vm};
use tactus_abi::blob::onchip::MEMORY;
use tactus_abi::blob::{Blob, Error, region};

/// Bytes of the on-chip memory that the program is linked for.
const SIZE: u64 = 256 << 10;
/// What an object, or several of a kind in a row, leaves out at most to be aligned.
const ALIGNED: usize = 64;
/// Bytes that each hart takes.
const HART: usize = STACK_SIZE as usize + size_of::<Hart>() + size_of::<HartCtx>();
/// Bytes that each VM takes behind the page tables.
const VM: usize = size_of::<Vm>();
/// Bytes that each vCPU takes, one that may be made at run time as well.
const VCPU: usize = size_of::<Vcpu>();
/// Bytes that each end of a channel takes, without messages.
const CHANNEL_END: usize = size_of::<Doorbell>() + size_of::<Endpoint>();
/// Bytes that each virtual device of accelerators takes.
const INTERFACE: usize = size_of::<Interface>() + ALIGNED;
/// Bytes of all else.
const FIXED: usize = size_of::<System>() + 10 * ALIGNED;

tell!("__onchip_hart", HART);
tell!("__onchip_vm", VM + size_of::<Memory>());
tell!("__onchip_vcpu", VCPU);
tell!("__onchip_channel_end", CHANNEL_END);
tell!("__onchip_interface", INTERFACE);
tell!("__onchip_fixed", FIXED);

/// What text, constants and parts of VMs' memory leave of the on-chip memory: its first address, and how many bytes.
pub fn rest(blob: &Blob<'_>) -> Result<(u64, u64), Error> {
    let (begin, end) = onchip::rest(SIZE);
    blob.check_onchip(begin, end)?;
    let parts = blob.regions.iter().filter(|region| region.flags == MEMORY);
    let end = parts.map(|part| part.host).min().unwrap_or(end);
    Ok((begin, end.saturating_sub(begin)))
}

/// Bytes of the objects that are made behind the page tables.
pub fn objects(blob: &Blob<'_>) -> u64 {
    let interfaces = blob.regions.iter();
    let interfaces = interfaces.filter(|region| region.flags == region::ACCELERATOR);
    let bytes = blob.vms.len() * VM
        + blob.vcpus.len() * VCPU
        + blob.channel_ends.len() * CHANNEL_END
        + interfaces.count() * INTERFACE
        + FIXED;
    bytes as u64
}
