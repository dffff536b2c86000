//! Describes the machine of a devicetree, in the form of `platform/platform.h`.

use core::ffi::{c_char, c_void};

use fdt::Fdt;
use fdt::node::FdtNode;

/// `PLATFORM_CHANNELS_MAX`.
pub const CHANNELS_MAX: usize = 8;
/// `PLATFORM_ACCELERATORS_MAX`.
pub const ACCELERATORS_MAX: usize = 8;
/// `PLATFORM_IO_PORTS_MAX`.
pub const IO_PORTS_MAX: usize = 4;
/// `PLATFORM_BOOTARGS_MAX`.
pub const BOOTARGS_MAX: usize = 64;

/// `struct channel`: a channel to another VM.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Channel {
    /// Address of the shared memory.
    pub memory: usize,
    /// Its size in bytes.
    pub size: u64,
    /// PLIC source of the doorbell that the peer rings; 0: none.
    pub source: u32,
    /// Which end this is, 0 or 1.
    pub end: u32,
}

/// `struct virtual_device`: a device to which an accelerator can be connected.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VirtualDevice {
    /// Address of its page.
    pub registers: usize,
    /// The number of its hardware task.
    pub task: u32,
    /// The number of its interface.
    pub interface: u32,
    /// PLIC source of its interrupt; 0: none.
    pub source: u32,
    /// The number of the channel to the device manager; `u32::MAX`: there is none.
    pub channel: u32,
}

/// `struct io_port_page`: a port to the I/O hypervisor.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IoPort {
    /// Address of its page.
    pub registers: usize,
    /// PLIC source of its interrupt; 0: none.
    pub source: u32,
    /// The devices that it may use, a bit each.
    pub devices: u32,
}

/// `struct platform`: the machine.
#[repr(C)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Platform {
    /// The hart or vCPU; filled in by the C side.
    pub hart: u64,
    /// Ticks of the `time` CSR in a second.
    pub timebase_hz: u64,
    /// Address of the 16550; 0: none.
    pub uart: usize,
    /// Logarithm to base 2 of the distance between its registers.
    pub uart_shift: u32,
    /// Its PLIC source; 0: none.
    pub uart_source: u32,
    /// Address of the PLIC; 0: none.
    pub plic: usize,
    /// Its highest source.
    pub plic_sources: u32,
    /// Entries of `channel` that are valid.
    pub channels: u32,
    /// The channels, ordered by address.
    pub channel: [Channel; CHANNELS_MAX],
    /// Channels that exceed the capacity of `channel`.
    pub channels_ignored: u32,
    /// Entries of `accelerator` that are valid.
    pub accelerators: u32,
    /// The virtual devices, in the order of the devicetree.
    pub accelerator: [VirtualDevice; ACCELERATORS_MAX],
    /// Entries of `io_port` that are valid.
    pub io_ports: u32,
    /// The lines of timed I/O that have pins, a bit each.
    pub timed_io_lines: u32,
    /// The ports, in the order of the devicetree.
    pub io_port: [IoPort; IO_PORTS_MAX],
    /// Address of the page of timed I/O; 0: none.
    pub timed_io: usize,
    /// `/chosen/bootargs`, zero-terminated, truncated.
    pub bootargs: [u8; BOOTARGS_MAX],
}

// The C side asserts the same size.
const _: () = assert!(size_of::<Platform>() == 584);

impl Default for Platform {
    fn default() -> Self {
        Self {
            hart: 0,
            timebase_hz: 0,
            uart: 0,
            uart_shift: 0,
            uart_source: 0,
            plic: 0,
            plic_sources: 0,
            channels: 0,
            channel: [Channel::default(); CHANNELS_MAX],
            channels_ignored: 0,
            accelerators: 0,
            accelerator: [VirtualDevice::default(); ACCELERATORS_MAX],
            io_ports: 0,
            timed_io_lines: 0,
            io_port: [IoPort::default(); IO_PORTS_MAX],
            timed_io: 0,
            bootargs: [0; BOOTARGS_MAX],
        }
    }
}

/// Compatible strings of the nodes that are read.
const UARTS: [&str; 2] = ["ns16550a", "ns16550"];
const PLICS: [&str; 2] = ["riscv,plic0", "sifive,plic-1.0.0"];
const CHANNEL: &str = "tactus,channel";
const VIRTUAL_DEVICE: &str = "tactus,virtual-device";
const IO_PORT: &str = "tactus,io-port";
const TIMED_IO: &str = "tactus,timed-io";

/// The `n`-th 32-bit cell of a property.
fn cell(node: FdtNode<'_, '_>, property: &str, n: usize) -> Option<u32> {
    let bytes = node.property(property)?.value.get(4 * n..4 * n + 4)?;
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

/// A node's interrupt at the PLIC, whose interrupt specifiers have one cell; 0: none.
fn source(node: FdtNode<'_, '_>) -> u32 {
    cell(node, "interrupts", 0)
        .or_else(|| cell(node, "interrupts-extended", 1))
        .unwrap_or(0)
}

fn is(node: FdtNode<'_, '_>, wanted: &[&str]) -> bool {
    node.compatible()
        .is_some_and(|compatible| compatible.all().any(|name| wanted.contains(&name)))
}

/// Address and size of a node's first registers.
fn registers(node: FdtNode<'_, '_>) -> Option<(usize, u64)> {
    let region = node.reg()?.next()?;
    Some((
        region.starting_address as usize,
        region.size.unwrap_or(0) as u64,
    ))
}

impl Platform {
    /// Describes the machine of a devicetree. The console is the UART that `/chosen/stdout-path` names, else the first
    /// one. The error names the property that the machine lacks.
    pub fn describe(fdt: &Fdt<'_>) -> Result<Self, &'static core::ffi::CStr> {
        // The property may be at /cpus or at each of its nodes (devicetree specification 0.4, section 3.8).
        let timebase_hz = fdt
            .find_node("/cpus")
            .and_then(|cpus| cell(cpus, "timebase-frequency", 0))
            .or_else(|| cell(fdt.find_node("/cpus/cpu@0")?, "timebase-frequency", 0))
            .filter(|&hertz| hertz != 0)
            .ok_or(c"/cpus has no timebase-frequency: the tick cannot be timed")?
            .into();
        let mut platform = Self {
            timebase_hz,
            ..Self::default()
        };
        let stdout = fdt.chosen().stdout().filter(|&node| is(node, &UARTS));
        if let Some(uart) = stdout {
            platform.take_uart(uart);
        }
        for node in fdt.all_nodes() {
            if platform.uart == 0 && is(node, &UARTS) {
                platform.take_uart(node);
            } else if platform.plic == 0 && is(node, &PLICS) {
                platform.plic = registers(node).map_or(0, |(address, _)| address);
                platform.plic_sources = cell(node, "riscv,ndev", 0).unwrap_or(0);
            } else if is(node, &[CHANNEL]) {
                platform.take_channel(node);
            } else if is(node, &[VIRTUAL_DEVICE]) {
                platform.take_accelerator(node);
            } else if is(node, &[IO_PORT]) {
                platform.take_io_port(node);
            } else if is(node, &[TIMED_IO]) {
                platform.timed_io = registers(node).map_or(0, |(address, _)| address);
                platform.timed_io_lines = cell(node, "tactus,lines", 0).unwrap_or(0);
            }
        }
        platform.channel[..platform.channels as usize].sort_unstable_by_key(|c| c.memory);
        if let Some(arguments) = fdt.chosen().bootargs() {
            let bytes = arguments.as_bytes();
            let taken = bytes.len().min(BOOTARGS_MAX - 1);
            platform.bootargs[..taken].copy_from_slice(&bytes[..taken]);
        }
        Ok(platform)
    }

    fn take_uart(&mut self, node: FdtNode<'_, '_>) {
        self.uart = registers(node).map_or(0, |(address, _)| address);
        self.uart_shift = cell(node, "reg-shift", 0).unwrap_or(0).min(4);
        self.uart_source = source(node);
    }

    fn take_channel(&mut self, node: FdtNode<'_, '_>) {
        let Some((memory, size)) = registers(node) else {
            return;
        };
        match self.channel.get_mut(self.channels as usize) {
            Some(entry) => {
                *entry = Channel {
                    memory,
                    size,
                    source: source(node),
                    end: cell(node, "tactus,end", 0).unwrap_or(0),
                };
                self.channels += 1;
            }
            None => self.channels_ignored += 1,
        }
    }

    /// Adds a virtual device. No system has more of them than the capacity.
    fn take_accelerator(&mut self, node: FdtNode<'_, '_>) {
        let place = self.accelerator.get_mut(self.accelerators as usize);
        let (Some(entry), Some((registers, _)), Some(task), Some(interface)) = (
            place,
            registers(node),
            cell(node, "tactus,task", 0),
            cell(node, "tactus,interface", 0),
        ) else {
            return;
        };
        *entry = VirtualDevice {
            registers,
            task,
            interface,
            source: source(node),
            channel: cell(node, "tactus,channel", 0).unwrap_or(u32::MAX),
        };
        self.accelerators += 1;
    }

    /// Adds a port. No system has more of them than the capacity.
    fn take_io_port(&mut self, node: FdtNode<'_, '_>) {
        let place = self.io_port.get_mut(self.io_ports as usize);
        let (Some(entry), Some((registers, _))) = (place, registers(node)) else {
            return;
        };
        *entry = IoPort {
            registers,
            source: source(node),
            devices: cell(node, "tactus,devices", 0).unwrap_or(0),
        };
        self.io_ports += 1;
    }
}

/// For the C side (`platform.c`): describes the machine in `platform`. Returns null on success, else the reason.
///
/// # Safety
///
/// `devicetree` is null or points to a devicetree blob, as the boot protocol promises; `platform` points to
/// a `struct platform` that is not otherwise used meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn platform_describe(
    devicetree: *const c_void,
    platform: *mut Platform,
) -> *const c_char {
    if devicetree.is_null() {
        return c"entered without one (a1 is 0)".as_ptr();
    }
    // SAFETY: ensured by the caller; the crate checks the magic number first and stays within the blob's own size.
    let Ok(fdt) = (unsafe { Fdt::from_ptr(devicetree.cast()) }) else {
        return c"a1 does not point to one".as_ptr();
    };
    match Platform::describe(&fdt) {
        Ok(description) => {
            // SAFETY: ensured by the caller.
            unsafe { platform.write(description) };
            core::ptr::null()
        }
        Err(problem) => problem.as_ptr(),
    }
}

#[cfg(test)]
mod tests {
    use std::format;
    use std::vec::Vec;

    use vm_fdt::FdtWriter;

    use super::*;

    /// A devicetree like that of QEMU's `virt` and of a VM, with the nodes that `devices` adds to `/soc`.
    fn devicetree(
        timebase_hz: Option<u32>,
        chosen: &[(&str, &str)],
        devices: impl FnOnce(&mut FdtWriter),
    ) -> Vec<u8> {
        let mut fdt = FdtWriter::new().expect("writer");
        let root = fdt.begin_node("").expect("root");
        fdt.property_u32("#address-cells", 2).expect("cells");
        fdt.property_u32("#size-cells", 2).expect("cells");
        let node = fdt.begin_node("chosen").expect("chosen");
        for (name, value) in chosen {
            fdt.property_string(name, value).expect("chosen");
        }
        fdt.end_node(node).expect("chosen");
        let cpus = fdt.begin_node("cpus").expect("cpus");
        fdt.property_u32("#address-cells", 1).expect("cells");
        fdt.property_u32("#size-cells", 0).expect("cells");
        if let Some(hertz) = timebase_hz {
            fdt.property_u32("timebase-frequency", hertz)
                .expect("hertz");
        }
        fdt.end_node(cpus).expect("cpus");
        let soc = fdt.begin_node("soc").expect("soc");
        fdt.property_u32("#address-cells", 2).expect("cells");
        fdt.property_u32("#size-cells", 2).expect("cells");
        devices(&mut fdt);
        fdt.end_node(soc).expect("soc");
        fdt.end_node(root).expect("root");
        fdt.finish().expect("finish")
    }

    fn device(fdt: &mut FdtWriter, name: &str, compatible: &str, reg: [u64; 2], source: u32) {
        let node = fdt
            .begin_node(&format!("{name}@{:x}", reg[0]))
            .expect("node");
        fdt.property_string("compatible", compatible)
            .expect("compatible");
        fdt.property_array_u64("reg", &reg).expect("reg");
        fdt.property_u32("interrupts", source).expect("interrupts");
        if compatible.contains("plic") {
            fdt.property_u32("riscv,ndev", 95).expect("ndev");
        }
        fdt.end_node(node).expect("node");
    }

    fn describe(blob: &[u8]) -> Result<Platform, &'static core::ffi::CStr> {
        Platform::describe(&Fdt::new(blob).expect("a devicetree"))
    }

    #[test]
    fn a_machine_is_described() {
        let blob = devicetree(
            Some(10_000_000),
            &[("stdout-path", "/soc/serial@10001000"), ("bootargs", "a=b")],
            |fdt| {
                device(fdt, "serial", "ns16550a", [0x1000_0000, 0x100], 10);
                device(fdt, "serial", "ns16550a", [0x1000_1000, 0x100], 11);
                device(fdt, "plic", "riscv,plic0", [0xc00_0000, 0x60_0000], 0);
                // Not in the order of their addresses.
                device(fdt, "channel", CHANNEL, [0x3000_2000, 0x2000], 65);
                device(fdt, "channel", CHANNEL, [0x3000_1000, 0x1000], 64);
            },
        );
        let platform = describe(&blob).expect("complete");
        assert_eq!(platform.timebase_hz, 10_000_000);
        assert_eq!((platform.uart, platform.uart_source), (0x1000_1000, 11));
        assert_eq!((platform.plic, platform.plic_sources), (0xc00_0000, 95));
        assert_eq!(&platform.bootargs[..4], b"a=b\0");
        let channel = |memory, size, source| Channel {
            memory,
            size,
            source,
            end: 0,
        };
        assert_eq!(
            platform.channel[..platform.channels as usize],
            [
                channel(0x3000_1000, 0x1000, 64),
                channel(0x3000_2000, 0x2000, 65)
            ]
        );
    }

    #[test]
    fn virtual_devices_are_found_as_far_as_they_are_described() {
        let virtual_device = |fdt: &mut FdtWriter, reg: u64, properties: &[(&str, u32)]| {
            let node = fdt.begin_node(&format!("task@{reg:x}")).expect("node");
            fdt.property_string("compatible", VIRTUAL_DEVICE)
                .expect("compatible");
            fdt.property_array_u64("reg", &[reg, 0x1000]).expect("reg");
            for (name, value) in properties {
                fdt.property_u32(name, *value).expect("property");
            }
            fdt.end_node(node).expect("node");
        };
        let (task, interface) = ("tactus,task", "tactus,interface");
        let blob = devicetree(Some(1), &[], |fdt| {
            let all = [
                (task, 2),
                (interface, 5),
                ("interrupts", 53),
                ("tactus,channel", 1),
            ];
            virtual_device(fdt, 0x2800_2000, &all);
            virtual_device(fdt, 0x2800_3000, &[(task, 3)]);
            virtual_device(fdt, 0x2800_4000, &[(task, 4), (interface, 0)]);
        });
        let platform = describe(&blob).expect("complete");
        let device = |registers, task, interface, source, channel| VirtualDevice {
            registers,
            task,
            interface,
            source,
            channel,
        };
        assert_eq!(
            platform.accelerator[..platform.accelerators as usize],
            [
                device(0x2800_2000, 2, 5, 53, 1),
                device(0x2800_4000, 4, 0, 0, u32::MAX)
            ]
        );
        // One more than the capacity.
        let blob = devicetree(Some(1), &[], |fdt| {
            for number in 0..=ACCELERATORS_MAX as u32 {
                let all = [(task, 1), (interface, number)];
                virtual_device(fdt, 0x2800_0000 + 0x1000 * u64::from(number), &all);
            }
        });
        let platform = describe(&blob).expect("complete");
        assert_eq!(platform.accelerators as usize, ACCELERATORS_MAX);
    }

    #[test]
    fn io_ports_and_timed_io_are_found() {
        let blob = devicetree(Some(1), &[], |fdt| {
            for number in 0..=IO_PORTS_MAX as u64 {
                let at = 0x2801_0000 + 0x1000 * number;
                let node = fdt.begin_node(&format!("io-port@{at:x}")).expect("node");
                fdt.property_string("compatible", IO_PORT).expect("kind");
                fdt.property_array_u64("reg", &[at, 0x1000]).expect("reg");
                let source = 40 + number as u32;
                fdt.property_u32("interrupts", source).expect("source");
                fdt.property_u32("tactus,devices", 0x1e).expect("devices");
                fdt.end_node(node).expect("node");
            }
            let node = fdt.begin_node("timed-io@28020000").expect("node");
            fdt.property_string("compatible", TIMED_IO).expect("kind");
            let reg = [0x2802_0000, 0x1000];
            fdt.property_array_u64("reg", &reg).expect("reg");
            fdt.property_u32("tactus,lines", 0x23).expect("lines");
            fdt.end_node(node).expect("node");
        });
        let platform = describe(&blob).expect("complete");
        let port = |number: usize| IoPort {
            registers: 0x2801_0000 + 0x1000 * number,
            source: 40 + number as u32,
            devices: 0x1e,
        };
        assert_eq!(platform.io_ports as usize, IO_PORTS_MAX);
        assert_eq!(platform.io_port, [0, 1, 2, 3].map(port));
        let timed = (platform.timed_io, platform.timed_io_lines);
        assert_eq!(timed, (0x2802_0000, 0x23));
    }

    #[test]
    fn the_first_uart_is_the_console_when_none_is_named() {
        let blob = devicetree(Some(1), &[], |fdt| {
            device(fdt, "serial", "ns16550a", [0x1000_0000, 0x100], 10);
            device(fdt, "serial", "ns16550a", [0x1000_1000, 0x100], 11);
        });
        assert_eq!(describe(&blob).expect("complete").uart, 0x1000_0000);
    }

    #[test]
    fn a_machine_may_be_bare() {
        let platform = describe(&devicetree(Some(1), &[], |_| ())).expect("complete");
        assert_eq!(
            platform,
            Platform {
                timebase_hz: 1,
                ..Platform::default()
            }
        );
    }

    #[test]
    fn without_a_timebase_there_is_no_tick() {
        for timebase in [None, Some(0)] {
            let problem = describe(&devicetree(timebase, &[], |_| ())).expect_err("no timebase");
            assert!(problem.to_string_lossy().contains("timebase-frequency"));
        }
    }

    #[test]
    fn too_many_channels_and_too_long_arguments_are_cut() {
        let arguments = "x".repeat(3 * BOOTARGS_MAX);
        let blob = devicetree(Some(1), &[("bootargs", &arguments)], |fdt| {
            for n in 0..CHANNELS_MAX as u64 + 3 {
                let reg = [0x3000_1000 + 0x1000 * n, 0x1000];
                device(fdt, "channel", CHANNEL, reg, 64 + n as u32);
            }
        });
        let platform = describe(&blob).expect("complete");
        assert_eq!(platform.channels as usize, CHANNELS_MAX);
        assert_eq!(platform.channels_ignored, 3);
        assert_eq!(platform.bootargs[BOOTARGS_MAX - 2..], *b"x\0");
    }
}
