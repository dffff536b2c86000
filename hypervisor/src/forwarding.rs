//! Devices that other VMs emulate: each load and store in a window is a call of the VM behind it (`service`).
//!
//! The call has its caller's hart, priority and budget, so that a guest that makes ten million accesses pays for them
//! all. The service serves no more than one access at a time, and keeps the hart no longer than its channel's calls
//! may take; what takes longer it has made [`AGAIN`](calls::AGAIN), and the caller's interrupts come between.
//!
//! An access that is not served (the VM has not started, restarts, has a fault or takes too long) is lost: a load gets
//! zero, a store does nothing.

use crate::doorbell::delivery;
use crate::hart::context::HartCtx;
use crate::log::Line;
use crate::service;
use crate::system::system;
use crate::vm::{Vcpu, Vm};
use core::hint::cold_path;
use core::sync::atomic::{AtomicU32, Ordering};
use tactus_abi::blob::{Blob, Error, calls, limit};
use tactus_hypervisor::mmio::Access;

/// Accesses of each VM that were lost.
static LOST: [AtomicU32; limit::VMS] = [const { AtomicU32::new(0) }; limit::VMS];

/// The registers of a message and of a reply.
const MESSAGE: [usize; 8] = [11, 12, 13, 14, 15, 5, 6, 7];

/// A place in a window.
#[derive(Clone, Copy)]
pub struct Place {
    channel: u8,
    offset: u32,
}

/// What of a VM's windows is at a guest-physical address. A VM has few regions.
pub fn at(vm: &Vm, address: u64) -> Option<Place> {
    let regions = system().blob.regions_of(vm.config());
    let mut windows = regions
        .iter()
        .filter(|region| region.flags == calls::WINDOW);
    let window = windows.find(|window| address.wrapping_sub(window.guest) < window.size)?;
    Some(Place {
        channel: window.interface,
        // Less than the size, which fits.
        offset: (address - window.guest) as u32,
    })
}

/// Carries out the vCPU's access, which is aligned. Returns it as it is to be skipped: with a length of 0 it is made
/// again.
pub fn access(cx: &mut HartCtx, vcpu: &'static Vcpu, place: Place, access: Access) -> Access {
    let register = usize::from(access.register);
    let registers = &mut cx.bodies.of(vcpu).context.registers;
    let value = if access.store && register != 0 {
        registers[register]
    } else {
        0
    };
    let kept = MESSAGE.map(|register| registers[register]);
    for register in MESSAGE {
        registers[register] = 0;
    }
    let store = if access.store { calls::STORE } else { 0 };
    registers[MESSAGE[0]] =
        u64::from(place.offset) | u64::from(access.size) << calls::SIZE_SHIFT | store;
    registers[MESSAGE[1]] = value;
    let result = service::call(cx, vcpu, place.channel.into());
    let registers = &mut cx.bodies.of(vcpu).context.registers;
    let [value, effect] = match result {
        Ok(value) => [value, registers[MESSAGE[1]]],
        Err(_) => [0, 0],
    };
    for (register, kept) in MESSAGE.into_iter().zip(kept) {
        registers[register] = kept;
    }
    let again = effect & calls::AGAIN != 0;
    // What is made again may have its address in the register that it loads.
    if !(access.store | again) && register != 0 {
        registers[register] = access.extend(value);
    }
    if result.is_err() {
        cold_path();
        lose(vcpu.vm, place);
    }
    if effect & calls::RING != 0 {
        let ends = system().blob.channel_ends_of(vcpu.vm.config());
        let server = &system().vms[ends[usize::from(place.channel)].peer_vm as usize];
        // A doorbell that does not exist rings nowhere.
        let _ = delivery::ring(cx, server, effect & u64::from(u32::MAX));
    }
    Access {
        length: if again { 0 } else { access.length },
        ..access
    }
}

/// Counts an access that was lost, and reports it at powers of two.
#[cold]
fn lose(vm: &Vm, place: Place) {
    // Another hart may lose one of the same VM at the same time, and one of the two be missed in the count.
    let count = LOST[vm.index].load(Ordering::Relaxed).saturating_add(1);
    LOST[vm.index].store(count, Ordering::Relaxed);
    if count.is_power_of_two() {
        Line::new()
            .begin_of("lost-access", vm.name)
            .number("channel", place.channel.into())
            .hex("offset", place.offset.into())
            .number("count", count.into())
            .time()
            .send();
    }
}

/// [`tactus_abi::blob::Region::flags`] of a window.
pub const WINDOW: u16 = calls::WINDOW;

/// The parts of the hypervisor that this package has beyond the others: bits of [`tactus_abi::blob::Header::parts`].
#[cfg(not(feature = "management"))]
pub const PARTS: u32 = calls::FORWARDING;
/// The same, with management.
#[cfg(feature = "management")]
pub const PARTS: u32 = calls::FORWARDING | tactus_abi::blob::management::MANAGEMENT;

/// Whether what the blob says of these parts is sound.
pub fn check(blob: &Blob) -> Result<(), Error> {
    #[cfg(feature = "management")]
    blob.check_management()?;
    blob.check_windows()
}
