//! The fabric's registers, as `docs/src/reference/regions.md` describes them.

use tactus_accelerators::{
    Command, Descriptor, Device, Found, INTERFACES, Interface, REGIONS, Solution, State, TASKS,
};
use tactus_guest::println;
use tactus_registers::Memory;
use tactus_registers::allocation_table::AllocationTable;
use tactus_registers::configuration_port::ConfigurationPort;
use tactus_registers::interface_manager::InterfaceManager;
use tactus_registers::interface_manager::components::interface_manager::context::Context;
use tactus_registers::region::Region;
use tactus_registers::region_monitor::RegionMonitor;

use crate::configuration::{Bitstream, Configuration};

/// Offsets of the pages in the fabric.
const MONITOR: usize = 0x0000;
const PORT: usize = 0x1000;
const FIRST_REGION: usize = 0x2000;
const TABLE: usize = 0x6000;
const FIRST_INTERFACE: usize = 0x8000;
const PAGE: usize = 0x1000;
/// Reads of the monitor's answer before it counts as absent: it arrives within a few cycles of the fabric.
const LOOKS: u32 = 1_000;

/// The pages of a design with regions.
pub struct Registers {
    monitor: RegionMonitor<'static>,
    port: ConfigurationPort<'static>,
    regions: [Region<'static>; REGIONS],
    interfaces: [InterfaceManager<'static>; INTERFACES],
    /// What the region allocator may do, and the cycles that it gives a task to stop; `None`: it is not used.
    table: Option<(AllocationTable<'static>, u32)>,
    number: u8,
    devices: [Option<Device>; INTERFACES],
    windows: [(u32, u32); INTERFACES],
    bitstreams: [[Option<Bitstream>; REGIONS]; TASKS],
}

/// Clears an interrupt at its block, which `source` minus `first` selects.
///
/// # Safety
///
/// As [`Registers::at`].
pub unsafe fn silence(fabric: usize, source: u32, first: u32) {
    // Safety: ensured by the caller; no other code writes these registers.
    unsafe {
        match source.wrapping_sub(first) {
            0 => {
                let monitor = RegionMonitor::from_ptr((fabric + MONITOR) as *mut ());
                monitor.irq_clear().write(|clear| clear.set_found(true));
                // The line must be low before the interrupt is completed.
                let _ = monitor.irq_pending().read();
            }
            1 => {
                let port = ConfigurationPort::from_ptr((fabric + PORT) as *mut ());
                port.irq_clear().write(|clear| clear.set_over(true));
                let _ = port.irq_pending().read();
            }
            line @ 2..=4 => {
                let page = fabric + FIRST_REGION + (line as usize - 2) * PAGE;
                let region = Region::from_ptr(page as *mut ());
                region.irq_clear().write(|clear| clear.set_stopped(true));
                let _ = region.irq_pending().read();
            }
            _ => {}
        }
    }
}

impl Registers {
    /// Returns the pages at an address. [`Registers::check`] then sets each interface's window to its VM's memory, if
    /// no region is connected.
    ///
    /// # Safety
    ///
    /// The design with regions is present, and only this program uses its pages, except those of the virtual devices.
    pub unsafe fn at(fabric: usize, configuration: &Configuration) -> Self {
        let page = |offset: usize| (fabric + offset) as *mut ();
        // Safety: ensured by the caller.
        unsafe {
            Self {
                monitor: RegionMonitor::from_ptr(page(MONITOR)),
                port: ConfigurationPort::from_ptr(page(PORT)),
                regions: core::array::from_fn(|region| {
                    Region::from_ptr(page(FIRST_REGION + region * PAGE))
                }),
                interfaces: core::array::from_fn(|interface| {
                    InterfaceManager::from_ptr(page(FIRST_INTERFACE + interface * PAGE))
                }),
                table: (configuration.allocator != 0).then(|| {
                    let table = AllocationTable::from_ptr(page(TABLE));
                    (table, configuration.allocator)
                }),
                number: configuration.regions,
                devices: configuration.devices,
                windows: configuration.windows,
                bitstreams: configuration.bitstreams,
            }
        }
    }

    /// Checks that every block is present, and initializes it.
    ///
    /// # Errors
    ///
    /// The name of the absent block.
    pub fn check(&self) -> Result<(), &'static str> {
        if self.monitor.id().read().kind() != 0x524d {
            return Err("region monitor");
        }
        if self.port.id().read().kind() != 0x4350 {
            return Err("configuration port");
        }
        if let Some((table, stop)) = self.table {
            if table.id().read().kind() != 0x4154 {
                return Err("region allocator");
            }
            self.fill(table, stop);
        }
        for region in &self.regions[..usize::from(self.number)] {
            if region.id().read().kind() != 0x5247 {
                return Err("region");
            }
            region.irq_enable().write(|enable| enable.set_stopped(true));
        }
        for (interface, device) in self.interfaces.iter().zip(&self.devices) {
            if device.is_some() && interface.id().read().kind() != 0x494d {
                return Err("interface");
            }
        }
        self.monitor
            .irq_enable()
            .write(|enable| enable.set_found(true));
        self.port.irq_enable().write(|enable| enable.set_over(true));
        for (interface, (page, pages)) in self.interfaces.iter().zip(self.windows) {
            if pages != 0 {
                interface.window_base().write(|base| base.set_page(page));
                interface.window_pages().write(|size| size.set_pages(pages));
            }
        }
        Ok(())
    }

    /// Turns the region allocator off, and tells it what it may do by itself.
    fn fill(&self, table: AllocationTable<'static>, stop: u32) {
        table.control().write(|control| control.set_enable(false));
        table.bitstreams().write(|index| index.set_regions(0));
        let entries = table.entries();
        for (interface, device) in self.devices.iter().enumerate() {
            let hold = device.map_or(0, |device| device.hold);
            entries.index(interface).write(hold);
        }
        let mut index = 0;
        for (task, bitstreams) in self.bitstreams.iter().enumerate() {
            for (region, bitstream) in bitstreams.iter().enumerate() {
                let Some((address, bytes)) = *bitstream else {
                    continue;
                };
                let place = 8 * task + 2 * region;
                entries.index(place).write(address as u32);
                let upper = (address >> 32) as u32 & 0xff;
                entries.index(place + 1).write(bytes << 8 | upper);
                index |= 1 << (4 * task + region);
            }
        }
        table.bitstreams().write(|all| all.set_regions(index));
        table.limit().write(|limit| limit.set_cycles(stop));
    }

    /// Turns the region allocator on, for all tasks without a `routine` of their own.
    pub fn allow_allocations(&self, routine: impl Fn(u8) -> bool) {
        if let Some((table, _)) = self.table {
            let of = |all: u8, task: u8| all | u8::from(routine(task)) << (task - 1);
            let routines = (1..TASKS as u8).fold(0, of);
            table.control().write(|control| {
                control.set_enable(true);
                control.set_routines(routines);
            });
        }
    }

    /// A mask with a bit for each region.
    pub const fn mask(&self) -> u8 {
        (1 << self.number) - 1
    }

    /// The task of an interface.
    pub fn task(&self, interface: u8) -> u8 {
        self.devices[usize::from(interface)].map_or(0, |device| device.task)
    }

    /// The context buffer of an interface.
    pub const fn context(&self, interface: u8) -> Context<'static> {
        self.interfaces[interface as usize].context()
    }

    /// Reports the interfaces whose tasks accessed memory outside their VM's window, and clears these faults.
    pub fn report_faults(&self) {
        for (number, interface) in self.interfaces.iter().enumerate() {
            if self.devices[number].is_none() {
                continue;
            }
            let faults = interface.faults().read();
            let counts = [faults.outside(), faults.illegal(), faults.wrong_last()];
            if counts != [0; 3] {
                let [outside, illegal, wrong_last] = counts;
                println!(
                    "interface {number}: {outside} requests outside of its memory, {illegal} illegal, {wrong_last} wrongly ended, last at {:#x}",
                    interface.fault_addr().read().value()
                );
                interface
                    .command()
                    .write(|command| command.set_clear_faults(true));
            }
        }
    }

    /// A region's descriptor. An undefined state counts as one in which no command is possible.
    pub fn region(&self, region: u8) -> Descriptor {
        let descriptor = self.regions[usize::from(region)].descriptor().read();
        Descriptor {
            state: State::from_raw(descriptor.state()).unwrap_or(State::Reconfig),
            connected: descriptor.connected(),
            client: descriptor.client(),
            priority: descriptor.prio(),
            loaded: descriptor.loaded(),
            drained: descriptor.drained(),
        }
    }

    /// Sends a command to a region; returns whether it was executed.
    pub fn command(&self, region: u8, what: Command) -> bool {
        let region = self.regions[usize::from(region)];
        region.command().write(|command| match what {
            Command::Take => command.set_take(true),
            Command::Preempt => command.set_preempt(true),
            Command::Kill => command.set_kill(true),
            Command::Connect => command.set_connect(true),
            Command::Release => command.set_release_region(true),
        });
        !region.answer().read().refused()
    }

    /// Sets the interface that is connected next.
    pub fn set_client(&self, region: u8, interface: u8, priority: u8, hold: u32) {
        let region = self.regions[usize::from(region)];
        region.hold().write(|time| time.set_cycles(hold));
        region.client().write(|client| {
            client.set_interface_number(interface);
            client.set_prio(priority);
        });
    }

    /// Sends a request to the monitor, and returns its solution.
    pub fn request(&self, interface: u8, task: u8, priority: u8) -> Solution {
        self.monitor.request().write(|request| {
            request.set_client(interface);
            request.set_task_number(task);
            request.set_prio(priority);
            request.set_go(true);
        });
        for _ in 0..LOOKS {
            let solution = self.monitor.solution().read();
            if solution.known() {
                return match solution.method() {
                    0 => Solution::Unavailable,
                    1 => Solution::Assign(solution.region_number()),
                    2 => Solution::Preempt(solution.region_number()),
                    _ => Solution::NoRoom,
                };
            }
        }
        Solution::NoRoom
    }

    /// The request that the monitor can serve now.
    pub fn found(&self) -> Option<Found> {
        let found = self.monitor.found().read();
        (found.method() != 0).then(|| Found {
            interface: found.client(),
            region: found.region_number(),
        })
    }

    /// Removes a request from the monitor's list.
    pub fn withdraw(&self, interface: u8) {
        self.monitor.withdraw().write(|withdraw| {
            withdraw.set_client(interface);
            withdraw.set_go(true);
        });
    }

    /// Sets the compatibility index.
    pub fn set_compatibility(&self, fits: &[u8; TASKS]) {
        let index = fits.iter().enumerate();
        let index = index.fold(0, |all, (task, &regions)| {
            all | u32::from(regions & 0xf) << (4 * task)
        });
        let register = self.monitor.compatibility();
        register.write(|compatibility| compatibility.set_regions(index));
    }

    /// Whether the port is busy.
    pub fn is_configuring(&self) -> bool {
        self.port.status().read().busy()
    }

    /// Starts a configuration. Without a bitstream, the port refuses an empty one: the request then ends like any
    /// other that is refused.
    pub fn configure(&self, region: u8, task: u8) {
        let bitstream = self.bitstreams[usize::from(task)][usize::from(region)];
        let (address, bytes) = bitstream.unwrap_or((0, 0));
        self.port
            .source()
            .write(|source| source.set_addr(address >> 6));
        self.port.length().write(|length| length.set_bytes(bytes));
        self.port.target().write(|target| {
            target.set_region_number(region);
            target.set_task_number(task);
            target.set_go(true);
        });
    }

    /// An interface's state.
    pub fn interface(&self, interface: u8) -> Interface {
        let state = self.interfaces[usize::from(interface)].state().read();
        Interface {
            connected: state.connected(),
            running: state.running(),
            unfinished: state.unfinished(),
            asked: state.asked(),
        }
    }

    /// Resumes the unfinished computation.
    pub fn resume(&self, interface: u8) {
        let interface = self.interfaces[usize::from(interface)];
        interface
            .command()
            .write(|command| command.set_resume(true));
    }

    /// Ends the computation with an error.
    pub fn fail(&self, interface: u8) {
        let interface = self.interfaces[usize::from(interface)];
        interface.command().write(|command| command.set_fail(true));
    }
}
