//! The service VM that assigns the fabric's regions to virtual devices (Ker-ONE, section 4.4.2).
//!
//! [`tactus_accelerators`] decides about each request; this program executes the decisions: by the fabric's registers,
//! the calls that open and close VMs' pages, and the channels that notify VMs. It keeps no state that it
//! cannot recover, so that it may be restarted at any time (`on_fault = "restart"`).
#![no_std]
#![no_main]

mod configuration;
mod registers;
mod routines;
mod slots;

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use configuration::Configuration;
use registers::Registers;
use slots::Slots;
use tactus_abi::accelerator::{COMMAND_CANCEL, COMMAND_REQUEST, kind};
use tactus_abi::hypercall::interface_event;
use tactus_abi::map::{CHANNEL_SOURCE, FAULT_SOURCE};
use tactus_accelerators::{
    Command, Descriptor, Fabric, Found, Guests, INTERFACES, Interface, Manager, Pending, Signal,
    Solution, TASKS,
};
use tactus_guest::hypervisor::{self, Interfaces};
use tactus_guest::{devicetree, interrupts, power, println, record, start, time, trap};

tactus_guest::entry!(main);

/// The fabric's first interrupt, and the offsets of the monitor's, the port's, the first region's and the
/// interfaces' fault lines.
const FIRST_SOURCE: u32 = 40;
const MONITOR: u32 = FIRST_SOURCE;
const PORT: u32 = FIRST_SOURCE + 1;
const FIRST_REGION: u32 = FIRST_SOURCE + 2;
const FAULTS: u32 = FIRST_SOURCE + 5;

/// Milliseconds from one report of faults to the next: a task may cause a fault in every cycle.
const FAULTS_MS: u64 = 10;

/// Address of the fabric's pages; set before interrupts are enabled.
static FABRIC: AtomicU64 = AtomicU64::new(0);
/// Interrupt sources that have fired and are not handled yet.
static ARRIVED: AtomicU64 = AtomicU64::new(0);
/// Channels whose doorbells have rung and are not handled yet.
static RANG: AtomicU32 = AtomicU32::new(0);

/// The state that the manager acts on.
struct World {
    registers: Registers,
    slots: Slots,
    /// Whether the hypervisor opens and closes pages; if not, VMs request regions only by their channels.
    has_pages: bool,
    /// Interfaces whose pages are to be opened or closed by the next call of the hypervisor.
    changes: Interfaces,
    /// When faults may interrupt again; `None`: they may.
    faults_at: Option<u64>,
}

fn main() {
    // Guests wait for the manager.
    power::restart_on_panic();
    let configuration = match configuration() {
        Ok(configuration) => configuration,
        Err(why) => {
            println!("there is nothing to manage: {why}");
            record::fail(start::program(), why);
            return;
        }
    };
    // Safety: the system assigns these pages of the fabric to this VM alone.
    let registers = unsafe { Registers::at(configuration.fabric, &configuration) };
    if let Err(what) = registers.check() {
        println!("the fabric has no {what} where the system says");
        record::fail(start::program(), "the fabric is another one");
        return;
    }
    FABRIC.store(configuration.fabric as u64, Ordering::Relaxed);
    let mut world = World {
        registers,
        slots: Slots::of(&configuration),
        has_pages: hypervisor::accelerator_requests(Interfaces::default(), false).is_ok(),
        changes: Interfaces::default(),
        faults_at: None,
    };
    listen_to_the_fabric(&configuration);
    let regions = configuration.regions;
    let mut manager = Manager::new(configuration.policy, configuration.devices, regions);
    manager.begin(&mut world, time::now());
    world.registers.allow_allocations(|task| {
        let routines = routines::of(task);
        routines.save.is_some() || routines.restore.is_some()
    });
    // Commands that VMs have sent before the start of this program.
    RANG.store(u32::MAX, Ordering::Relaxed);
    ARRIVED.store(u64::MAX, Ordering::Relaxed);
    trap::enable_interrupts();
    let mut pending = Pending::default();
    loop {
        world.collect(&manager, &mut pending);
        // Handles one event, then collects those that have arrived meanwhile: the most urgent is next.
        if let Some(event) = manager.next(&mut pending, time::now()) {
            manager.handle(&mut world, event, time::now());
        } else {
            world.sleep(&manager, &mut pending);
        }
    }
}

/// Parses the devicetree's configuration.
fn configuration() -> Result<Configuration, &'static str> {
    let tree = devicetree::get().ok_or("no devicetree")?;
    let node = tree
        .find_node("/accelerators")
        .ok_or("no /accelerators in the devicetree")?;
    Configuration::of(|name| {
        node.property(name)
            .map_or(&[][..], |property| property.value)
    })
}

/// Enables all interrupts that the manager handles.
fn listen_to_the_fabric(configuration: &Configuration) {
    // Avoids a trap for each interrupt; without such a page, the controller is used.
    let _ = interrupts::use_page();
    trap::on_external(interrupted);
    trap::on_timer(|| {});
    let regions = FIRST_REGION..FIRST_REGION + u32::from(configuration.regions);
    let channels = configuration.channels.iter().flatten();
    let sources = [MONITOR, PORT, FAULTS, FAULT_SOURCE].into_iter();
    let sources = sources.chain(regions);
    for source in sources.chain(channels.map(|&channel| CHANNEL_SOURCE + channel)) {
        interrupts::enable(source, 1);
    }
}

/// Records an interrupt, and silences its source in the fabric.
fn interrupted(source: u32) {
    if let Some(channel) = source.checked_sub(CHANNEL_SOURCE) {
        RANG.fetch_or(1 << channel, Ordering::Relaxed);
        return;
    }
    if source == FAULTS {
        // Its line is up until the faults are forgotten, and again at the next one.
        interrupts::disable(FAULTS);
    }
    let fabric = FABRIC.load(Ordering::Relaxed) as usize;
    // Safety: set before interrupts were enabled, to pages of this VM; the rest of the program does not write
    // these registers.
    unsafe { registers::silence(fabric, source, FIRST_SOURCE) };
    ARRIVED.fetch_or(1 << source, Ordering::Relaxed);
}

impl World {
    /// Adds arrived events to `pending`.
    fn collect(&mut self, manager: &Manager, pending: &mut Pending) {
        // Mostly there are none.
        let arrived = match ARRIVED.load(Ordering::Relaxed) {
            0 => 0,
            _ => ARRIVED.swap(0, Ordering::Relaxed),
        };
        let has = |source: u32| arrived >> source & 1 != 0;
        pending.found |= has(MONITOR);
        pending.configured |= has(PORT);
        pending.stopped |= (arrived >> FIRST_REGION) as u8 & self.registers.mask();
        if has(FAULTS) {
            self.registers.report_faults();
            self.faults_at = Some(time::now() + FAULTS_MS * time::hz() / 1000);
        }
        if self.faults_at.is_some_and(|at| at <= time::now()) {
            self.faults_at = None;
            interrupts::enable(FAULTS, 1);
        }
        // Also before the next of several events: no page may be wrongly open or closed for longer than one event
        // takes.
        let changes = self.changes != Interfaces::default();
        if self.has_pages && (has(FAULT_SOURCE) || changes && *pending != Pending::default()) {
            self.ask(manager, false, pending);
        }
        let rang = RANG.swap(0, Ordering::Relaxed);
        if rang == 0 {
            return;
        }
        for interface in 0..INTERFACES as u8 {
            match self.slots.command(interface, rang) {
                Some(command) if kind(command) == COMMAND_CANCEL => {
                    pending.cancels |= 1 << interface
                }
                // With pages the hypervisor sees what is requested, and who does it.
                Some(command) if kind(command) == COMMAND_REQUEST && !self.has_pages => {
                    pending.requests |= 1 << interface
                }
                _ => {}
            }
        }
    }

    /// Waits for an event, unless one has arrived.
    fn sleep(&mut self, manager: &Manager, pending: &mut Pending) {
        let deadline = [manager.deadline(), self.faults_at];
        let deadline = deadline.into_iter().flatten().min();
        time::set_deadline(deadline.unwrap_or(time::NEVER));
        trap::without_interrupts(|| {
            let nothing = ARRIVED.load(Ordering::Relaxed) == 0 && RANG.load(Ordering::Relaxed) == 0;
            let waits = nothing && deadline.is_none_or(|deadline| deadline > time::now());
            if self.has_pages {
                self.ask(manager, waits, pending);
            } else if waits {
                trap::wait_for_interrupt();
            }
        });
    }

    /// Passes page changes to the hypervisor and queries events; waits for one if `waits`.
    fn ask(&mut self, manager: &Manager, waits: bool, pending: &mut Pending) {
        let interfaces = Interfaces {
            listen: manager.listens(),
            ..core::mem::take(&mut self.changes)
        };
        match hypervisor::accelerator_requests(interfaces, waits) {
            Ok(told) => {
                let of = |what: usize| (told / what) as u8;
                pending.requests |= of(interface_event::WRITTEN as usize);
                pending.ended |= of(interface_event::ENDED as usize);
            }
            Err(error) => println!("the hypervisor says nothing of interfaces: {error:?}"),
        }
    }
}

impl Fabric for World {
    fn now(&mut self) -> u64 {
        time::now()
    }

    fn region(&mut self, region: u8) -> Descriptor {
        self.registers.region(region)
    }

    fn command(&mut self, region: u8, command: Command) -> bool {
        self.registers.command(region, command)
    }

    fn set_client(&mut self, region: u8, interface: u8, priority: u8, hold: u32) {
        self.registers.set_client(region, interface, priority, hold);
    }

    fn request(&mut self, interface: u8, task: u8, priority: u8) -> Solution {
        self.registers.request(interface, task, priority)
    }

    fn found(&mut self) -> Option<Found> {
        self.registers.found()
    }

    fn withdraw(&mut self, interface: u8) {
        self.registers.withdraw(interface);
    }

    fn set_compatibility(&mut self, fits: &[u8; TASKS]) {
        self.registers.set_compatibility(fits);
    }

    fn is_configuring(&mut self) -> bool {
        self.registers.is_configuring()
    }

    fn configure(&mut self, region: u8, task: u8) {
        self.registers.configure(region, task);
    }

    fn interface(&mut self, interface: u8) -> Interface {
        self.registers.interface(interface)
    }

    fn resume(&mut self, interface: u8) {
        self.registers.resume(interface);
    }

    fn fail(&mut self, interface: u8) {
        self.registers.fail(interface);
    }
}

impl Guests for World {
    fn permit(&mut self, interface: u8, writable: bool) {
        let bit = 1 << interface;
        let Interfaces { open, close, .. } = &mut self.changes;
        (*open, *close) = if writable {
            (*open | bit, *close & !bit)
        } else {
            (*open & !bit, *close | bit)
        };
    }

    fn signal(&mut self, interface: u8, signal: Signal) {
        self.slots.signal(interface, signal);
    }

    fn save(&mut self, interface: u8) {
        if let Some(routine) = routines::of(self.registers.task(interface)).save {
            routine(interface, self.registers.context(interface));
        }
    }

    fn restore(&mut self, interface: u8) -> bool {
        match routines::of(self.registers.task(interface)).restore {
            Some(routine) => routine(interface, self.registers.context(interface)),
            None => true,
        }
    }
}
