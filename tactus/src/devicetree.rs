//! The devicetree that a VM is started with. It is that of QEMU's `virt` machine as far as the VM has the
//! same, so that software made for `virt` finds what it expects.
//!
//! Bindings: Devicetree Specification 0.4; `riscv/cpus.yaml`, `riscv/extensions.yaml`,
//! `interrupt-controller/sifive,plic-1.0.0.yaml`, `serial/8250.yaml`, `power/reset/syscon-*.yaml`,
//! `reserved-memory/reserved-memory.yaml` of Linux.

use tactus_abi::map;
use tactus_planning::placement::Extent;
use vm_fdt::{Error, FdtWriter};

use crate::config::Nanoseconds;
use crate::plan::{EmulatedDevice, OnFault, Plan, Role, Vm, Window};

/// Frequency that the virtual UART's divisor counts from, as on `virt`. Its rate changes nothing.
const UART_CLOCK_HZ: u32 = 3_686_400;
/// RISC-V local interrupt of the supervisor level's external interrupts (privileged specification, `scause`).
const SUPERVISOR_EXTERNAL: u32 = 9;
/// The most pages that an interface's window has: all that a task can address.
const WINDOW_PAGES_MAX: u64 = 1 << 20;
/// Bytes in a sector of the flash behind the I/O hypervisor, the unit of its manager's registers.
const FLASH_SECTOR: u64 = 4096;
/// The number of no port: the last one that the UART's reader can be.
const NO_READER: u32 = 63;
/// Interrupt of a PLIC context that is wired to nothing: the guest has no machine level.
const UNWIRED: u32 = u32::MAX;

/// The first cell of a PCI address: memory of 32 bits; where the device number is (IEEE 1275 PCI bus binding 2.1).
const PCI_MEMORY: u32 = 0x0200_0000;
const PCI_PREFETCHABLE: u32 = PCI_MEMORY | 1 << 30;
const PCI_SLOT_SHIFT: u32 = 11;
const PCI_SLOT_MASK: u32 = 31 << PCI_SLOT_SHIFT;

/// Phandles; those of the vCPUs' interrupt controllers follow, then that of the memory for real-time vCPUs and those of
/// the channels' memory.
const PLIC: u32 = 1;
const FINISHER: u32 = 2;
const FIRST_CPU: u32 = 3;

/// The devicetree of the VM of that index, flattened.
///
/// # Errors
/// A string contains NUL; the check before has seen to it that none does.
pub fn devicetree(plan: &Plan, index: usize) -> Result<Vec<u8>, Error> {
    let vm = &plan.vms[index];
    devicetree_with(plan, index, vm.bootargs.as_deref(), vm.initrd)
}

/// The same with another command line and initrd.
///
/// # Errors
/// As [`devicetree`].
pub fn devicetree_with(
    plan: &Plan,
    index: usize,
    bootargs: Option<&str>,
    initrd: Option<Extent>,
) -> Result<Vec<u8>, Error> {
    let vm = &plan.vms[index];
    let mut fdt = FdtWriter::new()?;
    let root = fdt.begin_node("")?;
    fdt.property_u32("#address-cells", 2)?;
    fdt.property_u32("#size-cells", 2)?;
    fdt.property_string_list("compatible", strings(&["tactus,vm", "riscv-virtio"]))?;
    fdt.property_string("model", &format!("tactus,{}", vm.name))?;
    aliases(&mut fdt, vm)?;
    chosen(&mut fdt, vm, bootargs, initrd)?;
    memory(&mut fdt, vm)?;
    reserved_memory(&mut fdt, plan, vm)?;
    cpus(&mut fdt, plan, vm)?;
    soc(&mut fdt, plan, index)?;
    power(&mut fdt)?;
    fault_signal(&mut fdt, plan, index)?;
    managed(&mut fdt, plan, index)?;
    accelerators(&mut fdt, plan, index)?;
    io(&mut fdt, plan, index)?;
    real_time(&mut fdt, plan, vm)?;
    fdt.end_node(root)?;
    fdt.finish()
}

fn strings(list: &[&str]) -> Vec<String> {
    list.iter().map(|&s| s.to_owned()).collect()
}

/// The `reg` property of one range.
fn reg(fdt: &mut FdtWriter, extent: Extent) -> Result<(), Error> {
    fdt.property_array_u64("reg", &[extent.start, extent.size()])
}

/// A node's name with its first address.
fn node_name(name: &str, address: u64) -> String {
    format!("{name}@{address:x}")
}

/// The first UART's path: the virtual one, or else a 16550 passed through.
fn uart_path(vm: &Vm) -> Option<String> {
    if vm.console {
        return Some(format!("/soc/{}", node_name("serial", map::UART_BASE)));
    }
    let uart = vm.devices.iter().find(|device| device.is_uart())?;
    Some(format!(
        "/soc/{}",
        node_name(&uart.node(), uart.guest.start)
    ))
}

fn aliases(fdt: &mut FdtWriter, vm: &Vm) -> Result<(), Error> {
    let Some(path) = uart_path(vm) else {
        return Ok(());
    };
    let node = fdt.begin_node("aliases")?;
    fdt.property_string("serial0", &path)?;
    fdt.end_node(node)
}

fn chosen(
    fdt: &mut FdtWriter,
    vm: &Vm,
    bootargs: Option<&str>,
    initrd: Option<Extent>,
) -> Result<(), Error> {
    let node = fdt.begin_node("chosen")?;
    if let Some(bootargs) = bootargs {
        fdt.property_string("bootargs", bootargs)?;
    }
    if let Some(path) = uart_path(vm) {
        fdt.property_string("stdout-path", &format!("{path}:115200n8"))?;
    }
    if let Some(initrd) = initrd {
        fdt.property_u64("linux,initrd-start", initrd.start)?;
        fdt.property_u64("linux,initrd-end", initrd.end)?;
    }
    fdt.end_node(node)
}

fn memory(fdt: &mut FdtWriter, vm: &Vm) -> Result<(), Error> {
    let node = fdt.begin_node(&node_name("memory", map::RAM_BASE))?;
    fdt.property_string("device_type", "memory")?;
    reg(fdt, vm.extent())?;
    fdt.end_node(node)
}

const fn rt_memory_phandle(vm: &Vm) -> u32 {
    FIRST_CPU + vm.vcpus.len() as u32
}

const fn channel_memory_phandle(vm: &Vm, number: u32) -> u32 {
    rt_memory_phandle(vm) + 1 + number
}

/// Memory that an operating system leaves to others: to the real-time vCPUs that it makes, and that of channels.
fn reserved_memory(fdt: &mut FdtWriter, plan: &Plan, vm: &Vm) -> Result<(), Error> {
    let extent = vm.rt_extent();
    let channels: Vec<_> = (0u32..)
        .zip(&vm.channels)
        .map(|(number, end)| (number, end.guest, &plan.channels[end.channel]))
        .filter(|(_, _, channel)| channel.reserved_memory)
        .collect();
    if extent.size() == 0 && channels.is_empty() {
        return Ok(());
    }
    let node = fdt.begin_node("reserved-memory")?;
    fdt.property_u32("#address-cells", 2)?;
    fdt.property_u32("#size-cells", 2)?;
    fdt.property_null("ranges")?;
    for (number, memory, channel) in channels {
        let node = fdt.begin_node(&node_name("channel", memory.start))?;
        fdt.property_string("compatible", "tactus,channel-memory")?;
        fdt.property_string("label", &channel.name)?;
        reg(fdt, memory)?;
        fdt.property_null("no-map")?;
        fdt.property_phandle(channel_memory_phandle(vm, number))?;
        fdt.end_node(node)?;
    }
    if extent.size() > 0 {
        let memory = fdt.begin_node(&node_name("rt", extent.start))?;
        fdt.property_string("compatible", "tactus,rt-memory")?;
        reg(fdt, extent)?;
        fdt.property_null("no-map")?;
        fdt.property_phandle(rt_memory_phandle(vm))?;
        fdt.end_node(memory)?;
    }
    fdt.end_node(node)
}

/// For a VM that may make real-time vCPUs: how many, which share of how many harts, and where calls are made by stores.
fn real_time(fdt: &mut FdtWriter, plan: &Plan, vm: &Vm) -> Result<(), Error> {
    if vm.rt_vcpus == 0 {
        return Ok(());
    }
    let node = fdt.begin_node("real-time")?;
    fdt.property_string("compatible", "tactus,real-time")?;
    fdt.property_u32("tactus,vcpus", vm.rt_vcpus)?;
    fdt.property_u32("tactus,share-permille", vm.rt_share.0)?;
    fdt.property_u32("tactus,harts", plan.harts)?;
    fdt.property_u64("tactus,call", map::CALL_BASE)?;
    if vm.rt_extent().size() > 0 {
        fdt.property_u32("memory-region", rt_memory_phandle(vm))?;
    }
    fdt.end_node(node)
}

/// `riscv,isa`: the older, single string. Multi-letter extensions follow an underscore each.
fn isa_string(base: &str, extensions: &[String]) -> String {
    let mut isa = base.trim_end_matches('i').to_owned();
    for extension in extensions {
        if extension.len() > 1 {
            isa.push('_');
        }
        isa.push_str(extension);
    }
    isa
}

fn cpus(fdt: &mut FdtWriter, plan: &Plan, vm: &Vm) -> Result<(), Error> {
    let isa = &plan.profile.guest_isa;
    let node = fdt.begin_node("cpus")?;
    fdt.property_u32("#address-cells", 1)?;
    fdt.property_u32("#size-cells", 0)?;
    fdt.property_u32("timebase-frequency", plan.profile.timebase_hz)?;
    for index in 0..vm.vcpus.len() as u32 {
        let cpu = fdt.begin_node(&node_name("cpu", index.into()))?;
        fdt.property_string("device_type", "cpu")?;
        fdt.property_u32("reg", index)?;
        fdt.property_string("status", "okay")?;
        fdt.property_string("compatible", "riscv")?;
        fdt.property_string("riscv,isa", &isa_string(&isa.base, &isa.extensions))?;
        fdt.property_string("riscv,isa-base", &isa.base)?;
        fdt.property_string_list("riscv,isa-extensions", isa.extensions.clone())?;
        fdt.property_string("mmu-type", &isa.mmu)?;
        let controller = fdt.begin_node("interrupt-controller")?;
        fdt.property_u32("#address-cells", 0)?;
        fdt.property_u32("#interrupt-cells", 1)?;
        fdt.property_null("interrupt-controller")?;
        fdt.property_string("compatible", "riscv,cpu-intc")?;
        fdt.property_phandle(FIRST_CPU + index)?;
        fdt.end_node(controller)?;
        fdt.end_node(cpu)?;
    }
    fdt.end_node(node)
}

fn soc(fdt: &mut FdtWriter, plan: &Plan, index: usize) -> Result<(), Error> {
    let vm = &plan.vms[index];
    let node = fdt.begin_node("soc")?;
    fdt.property_u32("#address-cells", 2)?;
    fdt.property_u32("#size-cells", 2)?;
    fdt.property_string("compatible", "simple-bus")?;
    fdt.property_null("ranges")?;
    finisher(fdt)?;
    plic(fdt, vm)?;
    if vm.console {
        console(fdt)?;
    }
    devices(fdt, plan, index)?;
    pci(fdt, plan, vm)?;
    channels(fdt, plan, vm)?;
    fdt.end_node(node)
}

fn finisher(fdt: &mut FdtWriter) -> Result<(), Error> {
    let node = fdt.begin_node(&node_name("test", map::FINISHER_BASE))?;
    fdt.property_string_list(
        "compatible",
        strings(&["sifive,test1", "sifive,test0", "syscon"]),
    )?;
    reg(fdt, Extent::new(map::FINISHER_BASE, map::PAGE_SIZE))?;
    fdt.property_phandle(FINISHER)?;
    fdt.end_node(node)
}

/// Power-off and reset through the finisher.
fn power(fdt: &mut FdtWriter) -> Result<(), Error> {
    for (name, compatible, value) in [
        ("poweroff", "syscon-poweroff", map::FINISHER_PASS),
        ("reboot", "syscon-reboot", map::FINISHER_RESET),
    ] {
        let node = fdt.begin_node(name)?;
        fdt.property_string("compatible", compatible)?;
        fdt.property_u32("regmap", FINISHER)?;
        fdt.property_u32("offset", 0)?;
        fdt.property_u32("value", value)?;
        fdt.end_node(node)?;
    }
    Ok(())
}

fn plic(fdt: &mut FdtWriter, vm: &Vm) -> Result<(), Error> {
    let node = fdt.begin_node(&node_name("plic", map::PLIC_BASE))?;
    fdt.property_string_list("compatible", strings(&["sifive,plic-1.0.0", "riscv,plic0"]))?;
    reg(fdt, Extent::new(map::PLIC_BASE, map::PLIC_SIZE))?;
    fdt.property_u32("#address-cells", 0)?;
    fdt.property_u32("#interrupt-cells", 1)?;
    fdt.property_null("interrupt-controller")?;
    fdt.property_u32("riscv,ndev", map::PLIC_SOURCES - 1)?;
    let contexts: Vec<u32> = (FIRST_CPU..)
        .take(vm.vcpus.len())
        .flat_map(|cpu| [cpu, UNWIRED, cpu, SUPERVISOR_EXTERNAL])
        .collect();
    fdt.property_array_u32("interrupts-extended", &contexts)?;
    fdt.property_phandle(PLIC)?;
    fdt.end_node(node)
}

/// The `interrupts` of a device, when it has any.
fn interrupts(fdt: &mut FdtWriter, sources: &[u32]) -> Result<(), Error> {
    if sources.is_empty() {
        return Ok(());
    }
    fdt.property_u32("interrupt-parent", PLIC)?;
    fdt.property_array_u32("interrupts", sources)
}

fn console(fdt: &mut FdtWriter) -> Result<(), Error> {
    let node = fdt.begin_node(&node_name("serial", map::UART_BASE))?;
    fdt.property_string("compatible", "ns16550a")?;
    reg(fdt, Extent::new(map::UART_BASE, map::UART_SIZE))?;
    fdt.property_u32("clock-frequency", UART_CLOCK_HZ)?;
    interrupts(fdt, &[map::UART_SOURCE])?;
    fdt.end_node(node)
}

fn devices(fdt: &mut FdtWriter, plan: &Plan, index: usize) -> Result<(), Error> {
    for device in &plan.vms[index].devices {
        let node = fdt.begin_node(&node_name(&device.node(), device.guest.start))?;
        if device.is_whole() && !device.part_of.compatible.is_empty() {
            fdt.property_string_list("compatible", device.part_of.compatible.clone())?;
            if let Some(hertz) = device.part_of.clock_frequency {
                fdt.property_u32("clock-frequency", hertz)?;
            }
        } else {
            fdt.property_string("compatible", "tactus,device")?;
        }
        fdt.property_string("label", &device.name)?;
        reg(fdt, device.guest)?;
        interrupts(fdt, &device.interrupts)?;
        match device.role {
            Role::Device => {}
            Role::Accelerator { interface, task } => {
                fdt.property_u32("tactus,interface", interface.into())?;
                fdt.property_u32("tactus,task", task.into())?;
                if let Some(channel) = manager_channel(plan, index, index) {
                    fdt.property_u32("tactus,channel", channel)?;
                }
            }
            Role::IoPort { number } => io_port(fdt, plan, number)?,
            Role::TimedIo { number } => timed_io(fdt, plan, number)?,
        }
        fdt.end_node(node)?;
    }
    Ok(())
}

/// The PCI host of a VM that has functions (`pci/host-generic-pci.yaml`). Their registers stay where they are.
fn pci(fdt: &mut FdtWriter, plan: &Plan, vm: &Vm) -> Result<(), Error> {
    let Some(host) = plan
        .profile
        .pci
        .as_ref()
        .filter(|_| !vm.functions.is_empty())
    else {
        return Ok(());
    };
    let (window, size) = (host.window.0, host.window_size.0);
    let halves = |address: u64| [(address >> 32) as u32, address as u32];
    let node = fdt.begin_node(&node_name("pci", map::PCI_ECAM_BASE))?;
    fdt.property_string("compatible", "pci-host-ecam-generic")?;
    fdt.property_string("device_type", "pci")?;
    fdt.property_u32("#address-cells", 3)?;
    fdt.property_u32("#size-cells", 2)?;
    fdt.property_u32("#interrupt-cells", 1)?;
    fdt.property_u32("linux,pci-domain", 0)?;
    fdt.property_u32("linux,pci-probe-only", 1)?;
    fdt.property_array_u32("bus-range", &[0, 0])?;
    fdt.property_null("dma-coherent")?;
    reg(fdt, Extent::new(map::PCI_ECAM_BASE, map::PCI_ECAM_SIZE))?;
    // Memory of 32 bits, at the same addresses on the bus.
    let [[high, low], [size_high, size_low]] = [halves(window), halves(size)];
    let memory = [PCI_MEMORY, high, low, high, low, size_high, size_low];
    fdt.property_array_u32("ranges", &memory)?;
    // INTA of each function, by its device number.
    fdt.property_array_u32("interrupt-map-mask", &[PCI_SLOT_MASK, 0, 0, 7])?;
    let interrupts = vm.functions.iter().flat_map(|function| {
        let slot = function.slot << PCI_SLOT_SHIFT;
        [slot, 0, 0, 1, PLIC, function.interrupt]
    });
    fdt.property_array_u32("interrupt-map", &interrupts.collect::<Vec<_>>())?;
    fdt.end_node(node)
}

/// What a VM is told of its port to the I/O hypervisor.
fn io_port(fdt: &mut FdtWriter, plan: &Plan, number: usize) -> Result<(), Error> {
    let Some(port) = plan.io.as_ref().and_then(|io| io.ports.get(number)) else {
        return Ok(());
    };
    fdt.property_u32("tactus,devices", port.devices())?;
    if let Some(area) = port.flash {
        fdt.property_u32("tactus,flash-size", area.extent.size() as u32)?;
        if area.writable {
            fdt.property_null("tactus,flash-writable")?;
        }
    }
    if let Some(window) = port.window {
        let size = [window.x.size() as u32, window.y.size() as u32];
        fdt.property_array_u32("tactus,window", &size)?;
    }
    if let Some(station) = port.station {
        fdt.property("local-mac-address", &station.0)?;
    }
    Ok(())
}

/// Which lines of a VM's timed I/O have pins.
fn timed_io(fdt: &mut FdtWriter, plan: &Plan, number: usize) -> Result<(), Error> {
    let Some(engine) = plan.io.as_ref().and_then(|io| io.engines.get(number)) else {
        return Ok(());
    };
    fdt.property_u32("tactus,lines", engine.lines())
}

/// The number that the channel between the VM of that index and the device manager has at `end`, which is one of the
/// two.
fn manager_channel(plan: &Plan, vm: usize, end: usize) -> Option<u32> {
    let channel = plan.accelerators.as_ref()?.channel(plan, vm)?;
    let mut ends = channel.ends.into_iter();
    ends.find_map(|(vm, number)| (vm == end).then_some(number as u32))
}

/// For the device manager: what it manages (`guests/device-manager/src/configuration.rs`).
fn accelerators(fdt: &mut FdtWriter, plan: &Plan, index: usize) -> Result<(), Error> {
    let Some(shared) = plan
        .accelerators
        .as_ref()
        .filter(|shared| shared.manager == index)
    else {
        return Ok(());
    };
    let manager = &plan.vms[index];
    // A register takes 32 bits, and no time of the description is longer.
    let ticks = |time: Nanoseconds| u32::try_from(plan.profile.ticks_for(time)).unwrap_or(u32::MAX);
    let halves = |address: u64| [(address >> 32) as u32, address as u32];
    let devices = shared.devices.iter().flat_map(|device| {
        let vm = &plan.vms[device.vm];
        let channel = manager_channel(plan, device.vm, index);
        [
            device.number.into(),
            plan.priority(device.interface).into(),
            (vm.host / map::PAGE_SIZE) as u32,
            (vm.memory.0 / map::PAGE_SIZE).min(WINDOW_PAGES_MAX) as u32,
            channel.unwrap_or(u32::MAX),
            shared.hold_cycles,
        ]
    });
    let tasks = shared
        .tasks
        .iter()
        .flat_map(|task| [task.number.into(), task.fits.into(), ticks(task.stop)]);
    let bitstreams = shared.bitstreams.all.iter().flat_map(|one| {
        let guest = shared.bitstreams.guest + one.offset;
        let [upper, lower] = halves(manager.host + (guest - map::RAM_BASE));
        [one.task.into(), one.region.into(), upper, lower, one.length]
    });
    let turn = shared.turn.map_or([0, 0], |turn| {
        [
            ticks(Nanoseconds(turn.wait)),
            ticks(Nanoseconds(turn.length)),
        ]
    });
    let give_up = shared.give_up.map_or(0, ticks);

    let node = fdt.begin_node("accelerators")?;
    fdt.property_string("compatible", "tactus,accelerators")?;
    fdt.property_array_u32("tactus,fabric", &halves(shared.fabric))?;
    fdt.property_u32("tactus,regions", shared.regions)?;
    fdt.property_array_u32("tactus,devices", &devices.collect::<Vec<_>>())?;
    fdt.property_array_u32("tactus,tasks", &tasks.collect::<Vec<_>>())?;
    fdt.property_array_u32("tactus,bitstreams", &bitstreams.collect::<Vec<_>>())?;
    fdt.property_u32("tactus,drain", ticks(shared.drain))?;
    fdt.property_u32("tactus,give-up", give_up)?;
    let stop_cycles = shared
        .allocator
        .map_or(0, |allocator| allocator.stop_cycles);
    fdt.property_u32("tactus,allocator", stop_cycles)?;
    fdt.property_array_u32("tactus,turn", &turn)?;
    fdt.end_node(node)
}

/// For the I/O manager: what it gives to whom (`guests/io-manager/src/configuration.rs`).
fn io(fdt: &mut FdtWriter, plan: &Plan, index: usize) -> Result<(), Error> {
    let Some(io) = plan.io.as_ref().filter(|io| io.manager == index) else {
        return Ok(());
    };
    let ports = io.ports.iter().flat_map(|port| {
        let vm = &plan.vms[port.vm];
        let area = port.flash.map_or(Extent::new(0, 0), |area| area.extent);
        let nothing = Window {
            x: Extent::new(0, 0),
            y: Extent::new(0, 0),
        };
        let window = port.window.unwrap_or(nothing);
        let [a, b, c, d, e, f] = port.station.map_or([0; 6], |station| station.0);
        [
            port.devices(),
            (vm.host / map::PAGE_SIZE) as u32,
            (vm.memory.0 / map::PAGE_SIZE) as u32,
            (area.start / FLASH_SECTOR) as u32,
            (area.size() / FLASH_SECTOR) as u32,
            port.flash.is_some_and(|area| area.writable).into(),
            window.x.start as u32,
            window.y.start as u32,
            window.x.size() as u32,
            window.y.size() as u32,
            u32::from_be_bytes([0, 0, a, b]),
            u32::from_be_bytes([c, d, e, f]),
        ]
    });
    let pins = (0..).zip(&io.engines).flat_map(|(number, engine)| {
        let pins = engine.pins.iter();
        pins.flat_map(move |pin| [*pin, number])
    });
    let reader = io.reader.map_or(NO_READER, |port| port as u32);

    let node = fdt.begin_node("io")?;
    fdt.property_string("compatible", "tactus,io")?;
    fdt.property_array_u32("tactus,policies", &io.policies.map(|policy| policy as u32))?;
    fdt.property_u32("tactus,reader", reader)?;
    fdt.property_array_u32("tactus,ports", &ports.collect::<Vec<_>>())?;
    fdt.property_array_u32("tactus,pins", &pins.collect::<Vec<_>>())?;
    fdt.end_node(node)
}

fn channels(fdt: &mut FdtWriter, plan: &Plan, vm: &Vm) -> Result<(), Error> {
    if vm.channels.is_empty() {
        return Ok(());
    }
    let node = fdt.begin_node(&node_name("doorbell", map::DOORBELL_BASE))?;
    fdt.property_string("compatible", "tactus,doorbell")?;
    reg(fdt, Extent::new(map::DOORBELL_BASE, map::PAGE_SIZE))?;
    fdt.end_node(node)?;
    for (number, end) in (0u32..).zip(&vm.channels) {
        let node = fdt.begin_node(&node_name("channel", end.guest.start))?;
        fdt.property_string("compatible", "tactus,channel")?;
        fdt.property_string("label", &plan.channels[end.channel].name)?;
        fdt.property_u32("tactus,index", number)?;
        fdt.property_string("tactus,peer", &plan.vms[end.peer].name)?;
        let channel = &plan.channels[end.channel];
        // Which ring is whose (`tactus_abi::ring`): the end of the VM that comes first is end 0.
        let first = channel.ends.iter().all(|(vm, _)| *vm >= end.peer);
        fdt.property_u32("tactus,end", first.into())?;
        if channel.messages > 0 {
            fdt.property_u32("tactus,messages", channel.messages)?;
            fdt.property_u32("tactus,message-size", channel.message_size)?;
        }
        if let Some(device) = &channel.device
            && channel.ends[0].0 == end.peer
        {
            fdt.property_string("tactus,emulates", &device.compatible)?;
            let there = plan.vms[end.peer].channels[end.peer_number].guest.start;
            let (memory, there) = match device.memory {
                Some(memory) => (memory, map::RAM_BASE),
                None => (end.guest, there),
            };
            // Where this VM has it, its size, and where the other one has it.
            let memory = [memory.start, memory.size(), there];
            fdt.property_array_u64("tactus,peer-memory", &memory)?;
            if device.is_pci_host() {
                let window = [device.window.start, device.window.size()];
                fdt.property_array_u64("tactus,peer-window", &window)?;
                // What the other one has behind that memory: its next channel's.
                if let Some(next) = plan.vms[end.peer].channels.get(end.peer_number + 1) {
                    let name = &plan.channels[next.channel].name;
                    fdt.property_string("tactus,peer-next", name)?;
                    fdt.property_u64("tactus,peer-next-size", next.guest.size())?;
                }
            }
        }
        if channel.reserved_memory {
            fdt.property_u32("memory-region", channel_memory_phandle(vm, number))?;
        }
        reg(fdt, end.guest)?;
        interrupts(fdt, &[map::CHANNEL_SOURCE + number])?;
        fdt.end_node(node)?;
    }
    emulated(fdt, plan, vm)
}

/// The devices that other VMs emulate. Each interrupts by its channel's doorbell.
fn emulated(fdt: &mut FdtWriter, plan: &Plan, vm: &Vm) -> Result<(), Error> {
    for (number, device) in plan.windows(vm) {
        if device.is_pci_host() {
            let next = vm.channels.get(number + 1).map(|end| end.guest);
            emulated_pci(fdt, number as u32, device, next)?;
            continue;
        }
        let node = fdt.begin_node(&node_name("device", device.window.start))?;
        fdt.property_string("compatible", &device.compatible)?;
        fdt.property_u32("tactus,channel", number as u32)?;
        fdt.property_null("dma-coherent")?;
        reg(fdt, device.window)?;
        interrupts(fdt, &[map::CHANNEL_SOURCE + number as u32])?;
        fdt.end_node(node)?;
    }
    Ok(())
}

/// A PCI host that another VM emulates (`pci/host-generic-pci.yaml`). All its functions interrupt by the channel's
/// doorbell. Its prefetchable memory is that of the VM's next channel.
fn emulated_pci(
    fdt: &mut FdtWriter,
    number: u32,
    device: &EmulatedDevice,
    next: Option<Extent>,
) -> Result<(), Error> {
    let (spaces, end) = (device.window.start, device.window.end);
    let node = fdt.begin_node(&node_name("pci", spaces))?;
    fdt.property_string("compatible", EmulatedDevice::PCI_HOST)?;
    fdt.property_string("device_type", "pci")?;
    fdt.property_u32("#address-cells", 3)?;
    fdt.property_u32("#size-cells", 2)?;
    fdt.property_u32("#interrupt-cells", 1)?;
    fdt.property_u32("linux,pci-domain", number)?;
    fdt.property_array_u32("bus-range", &[0, 0])?;
    fdt.property_u32("tactus,channel", number)?;
    fdt.property_null("dma-coherent")?;
    reg(fdt, Extent::new(spaces, map::PCI_ECAM_SIZE))?;
    // Memory of 32 bits, at the same addresses on the bus.
    let registers = spaces + map::PCI_ECAM_SIZE;
    let range = |kind, memory: Extent| {
        let [address, size] = [memory.start, memory.size()].map(|value| value as u32);
        [kind, 0, address, 0, address, 0, size]
    };
    let mut ranges = range(PCI_MEMORY, Extent::new(registers, end - registers)).to_vec();
    ranges.extend(
        next.into_iter()
            .flat_map(|next| range(PCI_PREFETCHABLE, next)),
    );
    fdt.property_array_u32("ranges", &ranges)?;
    // Each pin of each function.
    fdt.property_array_u32("interrupt-map-mask", &[0, 0, 0, 0])?;
    let source = map::CHANNEL_SOURCE + number;
    fdt.property_array_u32("interrupt-map", &[0, 0, 0, 0, PLIC, source])?;
    fdt.end_node(node)
}

/// For a VM that manages others: their numbers and names.
fn managed(fdt: &mut FdtWriter, plan: &Plan, index: usize) -> Result<(), Error> {
    let managed = &plan.vms[index].manages;
    if managed.is_empty() {
        return Ok(());
    }
    let numbers: Vec<u32> = managed.iter().map(|vm| *vm as u32).collect();
    let names = managed.iter().map(|vm| plan.vms[*vm].name.clone());
    let node = fdt.begin_node("managed")?;
    fdt.property_string("compatible", "tactus,managed")?;
    fdt.property_array_u32("tactus,vms", &numbers)?;
    fdt.property_string_list("tactus,vm-names", names.collect())?;
    fdt.end_node(node)
}

/// For a VM that others' `on_fault` signals: the interrupt and the numbers and names of those VMs.
fn fault_signal(fdt: &mut FdtWriter, plan: &Plan, index: usize) -> Result<(), Error> {
    let watched: Vec<_> = (0u32..)
        .zip(&plan.vms)
        .filter(|(_, vm)| vm.on_fault == OnFault::Signal(index))
        .collect();
    if watched.is_empty() {
        return Ok(());
    }
    let numbers: Vec<u32> = watched.iter().map(|(number, _)| *number).collect();
    let names = watched.iter().map(|(_, vm)| vm.name.clone()).collect();
    let node = fdt.begin_node("fault-signal")?;
    fdt.property_string("compatible", "tactus,fault-signal")?;
    fdt.property_array_u32("tactus,vms", &numbers)?;
    fdt.property_string_list("tactus,vm-names", names)?;
    interrupts(fdt, &[map::FAULT_SOURCE])?;
    fdt.end_node(node)
}
