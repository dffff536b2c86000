//! Virtual devices as a guest meets them: loads and stores that trap.

use crate::accelerators;
use crate::accelerators::interfaces::Interface;
use crate::arch;
use crate::arch::context::{self, Exception, cause};
use crate::call::AnswerTo;
use crate::dispatch;
use crate::doorbell::delivery;
use crate::exception;
#[cfg(feature = "forwarding")]
use crate::forwarding;
use crate::hart::context::HartCtx;
#[cfg(feature = "pci")]
use crate::pci;
use crate::sbi;
use crate::system::system;
use crate::vm::{End, Vcpu, Vm};
use tactus_abi::hypercall::CallBlock;
use tactus_abi::map;
use tactus_hypervisor::mmio::{self, Access};

/// A virtual device, and the offset of an access in it, or its address.
#[derive(Clone, Copy)]
pub enum Device {
    /// The interrupt controller.
    Plic(u64),
    /// The console.
    Uart(u64),
    /// Power.
    Finisher(u64),
    /// An accelerator's.
    Accelerator(&'static Interface, u64),
    /// The channels' doorbells, and behind them the register of calls by memory.
    Doorbell(u64),
    /// A window whose accesses another VM serves.
    #[cfg(feature = "forwarding")]
    Window(forwarding::Place),
    /// A PCI function's configuration space.
    #[cfg(feature = "pci")]
    Pci(pci::Register),
}

/// Offset of the register of calls by memory.
const CALL: u64 = map::CALL_BASE - map::DOORBELL_BASE;

/// The VM's virtual device at a guest-physical address.
pub fn at(vm: &Vm, address: u64) -> Option<Device> {
    let within = |base: u64, size: u64| {
        let offset = address.wrapping_sub(base);
        (offset < size).then_some(offset)
    };
    if let Some(offset) = within(map::PLIC_BASE, map::PLIC_SIZE) {
        return Some(Device::Plic(offset));
    }
    if let Some(offset) = within(map::UART_BASE, map::UART_SIZE) {
        return (vm.config().console != 0).then_some(Device::Uart(offset));
    }
    if let Some(offset) = within(map::FINISHER_BASE, map::PAGE_SIZE) {
        return Some(Device::Finisher(offset));
    }
    if let Some(offset) = within(map::DOORBELL_BASE, map::PAGE_SIZE) {
        return Some(Device::Doorbell(offset));
    }
    #[cfg(feature = "forwarding")]
    if let Some(place) = forwarding::at(vm, address) {
        return Some(Device::Window(place));
    }
    #[cfg(feature = "pci")]
    if let Some(register) = pci::at(vm, address) {
        return Some(Device::Pci(register));
    }
    let found = system().accelerators.at(vm, address);
    found.map(|interface| Device::Accelerator(interface, address))
}

/// Carries out the load or store that trapped at a virtual device. What the device does not take is an access fault for
/// the guest, as from a bus.
pub fn access(cx: &mut HartCtx, vcpu: &'static Vcpu, exception: &Exception, device: Device) {
    let (bits, length) = match exception.instruction {
        0 => {
            let Some(bits) = arch::fetch_guest_instruction(exception.pc) else {
                // Changed under the guest's feet by another of its vCPUs: it may try again.
                return;
            };
            mmio::fetched(bits)
        }
        htinst => mmio::transformed(htinst),
    };
    let done = mmio::decode(bits, length).and_then(|access| {
        // A power of two.
        if exception.guest_address & u64::from(access.size - 1) != 0 {
            return None;
        }
        #[cfg(feature = "forwarding")]
        if let Device::Window(place) = device {
            return Some(forwarding::access(cx, vcpu, place, access));
        }
        let register = usize::from(access.register);
        if access.store {
            let value = cx.bodies.of(vcpu).context.registers[register];
            let value = if register == 0 { 0 } else { value };
            store(cx, vcpu, device, access, value)?;
        } else {
            let value = load(cx, vcpu.vm, device, access)?;
            if register != 0 {
                cx.bodies.of(vcpu).context.registers[register] = access.extend(value);
            }
        }
        Some(access)
    });
    match done {
        Some(access) => {
            context::skip_instruction(access.length.into());
            // The store may have been a call that takes long. When the vCPU has to leave the hart first, the next
            // check sees so.
            if cx.bodies.of(vcpu).unfinished {
                let _ = dispatch::continue_calls(cx, vcpu);
            }
        }
        None if exception.cause == cause::LOAD_GUEST_PAGE => {
            exception::deliver(cx, vcpu, exception, cause::LOAD_ACCESS);
        }
        None => exception::deliver(cx, vcpu, exception, cause::STORE_ACCESS),
    }
}

fn load(cx: &mut HartCtx, vm: &Vm, device: Device, access: Access) -> Option<u64> {
    match device {
        Device::Plic(offset) => vm.plic_read(cx, offset, access.size).map(u64::from),
        Device::Uart(offset) if access.size == 1 => Some(vm.uart_read(cx, offset).into()),
        Device::Finisher(_) | Device::Doorbell(_) if access.size == 4 => Some(0),
        #[cfg(feature = "pci")]
        Device::Pci(register) => {
            pci::report_faults(vm);
            pci::read(register, access.size)
        }
        _ => None,
    }
}

fn store(
    cx: &mut HartCtx,
    vcpu: &'static Vcpu,
    device: Device,
    access: Access,
    value: u64,
) -> Option<()> {
    let vm = vcpu.vm;
    match (device, access.size) {
        (Device::Plic(offset), size) => vm.plic_write(cx, offset, size, value as u32),
        (Device::Uart(offset), 1) => {
            vm.uart_write(cx, offset, value as u8);
            Some(())
        }
        (Device::Finisher(0), 4) => {
            let value = value as u32;
            match value & 0xffff {
                map::FINISHER_PASS => exception::end(cx, vm, End::Shutdown),
                map::FINISHER_FAIL => exception::end(cx, vm, End::Fail(value >> 16)),
                map::FINISHER_RESET => exception::end(cx, vm, End::Restart),
                _ => {}
            }
            Some(())
        }
        (Device::Finisher(_), 4) => Some(()),
        (Device::Doorbell(offset), 4) => {
            // A doorbell that does not exist rings nowhere.
            let _ = delivery::ring(cx, vm, offset / 4);
            Some(())
        }
        (Device::Accelerator(interface, address), 4) => {
            accelerators::store(cx, interface, address, value as u32);
            Some(())
        }
        #[cfg(feature = "pci")]
        (Device::Pci(register), size) => pci::write(register, size, value),
        (Device::Doorbell(CALL), 8) => call(cx, vcpu, value),
        _ => None,
    }
}

/// Makes the call whose [`CallBlock`] is at a guest-physical address; `None`: it is not in a page of the VM's memory,
/// or not aligned.
fn call(cx: &mut HartCtx, vcpu: &'static Vcpu, block: u64) -> Option<()> {
    const SIZE: u64 = size_of::<CallBlock>() as u64;
    let fits = block.is_multiple_of(8) && block % map::PAGE_SIZE <= map::PAGE_SIZE - SIZE;
    let address = vcpu.vm.memory_at(block, SIZE).filter(|_| fits)?;
    let from = address as *const CallBlock;
    // Safety: all of it is in the guest's memory, and aligned. The guest may change it meanwhile; each word is read
    // once.
    let (function, arguments) = unsafe {
        (
            (&raw const (*from).function).read_volatile(),
            (&raw const (*from).arguments).read_volatile(),
        )
    };
    let answer = AnswerTo::Block(address);
    if let Some(result) = sbi::tactus(cx, vcpu, function as usize, arguments, answer) {
        answer.give(&mut cx.bodies.of(vcpu).context.registers, result);
    }
    Some(())
}
