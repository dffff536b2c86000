//! The service VM that assigns ports of the I/O hypervisor, where the fabric has one, and pins of timed I/O to VMs, as
//! the system file specifies.
//!
//! It writes the managers' pages once and powers off, so that no part of it can fail later. It writes the same values
//! each time, so that it may be restarted at any point (`on_fault = "restart"`), whatever the other VMs do meanwhile.
#![no_std]
#![no_main]

mod configuration;

use configuration::{Configuration, Port};
use tactus_guest::{devicetree, println, record, start};
use tactus_registers::Memory;
use tactus_registers::io_manager::IoManager;
use tactus_registers::io_manager::components::io_manager::named_types::port_settings::PortSettings;
use tactus_registers::timed_io_manager::TimedIoManager;

tactus_guest::entry!(main);

/// Bit of a pin's word: the pin is assigned.
const OWNED: u32 = 1 << 31;

fn main() {
    match give() {
        Ok([ports, pins]) => println!("{ports} ports and {pins} pins are given"),
        Err(why) => {
            println!("nothing is given: {why}");
            record::fail(start::program(), why);
        }
    }
}

/// Assigns all ports and pins; returns the number of each.
fn give() -> Result<[usize; 2], &'static str> {
    let tree = devicetree::get().ok_or("no devicetree")?;
    let node = tree.find_node("/io").ok_or("no /io in the devicetree")?;
    let configuration = Configuration::of(|name| {
        node.property(name)
            .map_or(&[][..], |property| property.value)
    })?;
    let page = |name| devicetree::page(name, 0).map(|page| page.registers as *mut ());
    // Pins first: a VM that has its port also has its pins.
    let pins = give_pins(
        page("tactus,timed-io-manager").ok_or("no tactus,timed-io-manager")?,
        &configuration,
    )?;
    let ports = match page("tactus,io-manager") {
        Some(page) => give_ports(page, &configuration)?,
        None if configuration.ports().next().is_none() => 0,
        None => return Err("no tactus,io-manager"),
    };
    Ok([ports, pins])
}

/// Assigns the pins, by the manager's page of timed I/O; returns their number.
fn give_pins(page: *mut (), configuration: &Configuration<'_>) -> Result<usize, &'static str> {
    // Safety: the devicetree describes the pages that the system assigns to this VM alone.
    let timed = unsafe { TimedIoManager::from_ptr(page) };
    if timed.id().read().kind() != 0x544d {
        return Err("the fabric is another one");
    }
    let mut pins = 0;
    for [pin, engine] in configuration.pins() {
        let place = timed.pins();
        if pin as usize >= place.num_entries() {
            return Err("a pin is out of range");
        }
        place.index(pin as usize).write(OWNED | engine);
        pins += 1;
    }
    Ok(pins)
}

/// Assigns the ports, by the manager's page of the I/O hypervisor; returns their number.
fn give_ports(page: *mut (), configuration: &Configuration<'_>) -> Result<usize, &'static str> {
    // Safety: as for the pins.
    let manager = unsafe { IoManager::from_ptr(page) };
    if manager.id().read().kind() != 0x494d {
        return Err("the fabric is another one");
    }
    manager.policy().write(|policy| {
        let [uart, flash, vga, ethernet] = configuration.policies.map(|policy| policy as u8);
        policy.set_uart(uart);
        policy.set_flash(flash);
        policy.set_vga(vga);
        policy.set_ethernet(ethernet);
    });
    manager
        .reader()
        .write(|r| r.set_port(configuration.reader as u8));
    let places = [
        manager.port0(),
        manager.port1(),
        manager.port2(),
        manager.port3(),
    ];
    let mut ports = 0;
    for port in configuration.ports() {
        give_port(places.get(ports).ok_or("there are fewer ports")?, &port);
        ports += 1;
    }
    Ok(ports)
}

/// Writes all settings of a port, and then its permitted devices.
fn give_port(place: &PortSettings<'_>, port: &Port) {
    let [page, pages] = port.window;
    place.window_base().write(|r| r.set_page(page));
    place.window_pages().write(|r| r.set_count(pages));
    let [sector, sectors, writable] = port.flash;
    place.flash_first().write(|r| r.set_sector(sector as u16));
    place.flash_sectors().write(|r| {
        r.set_count(sectors as u16);
        r.set_writable(writable != 0);
    });
    let [x, y, width, height] = port.vga.map(|pixels| pixels as u16);
    place.vga_corner().write(|r| {
        r.set_x(x);
        r.set_y(y);
    });
    place.vga_size().write(|r| {
        r.set_width(width);
        r.set_height(height);
    });
    let [upper, lower] = port.station;
    place.mac_high().write(|r| r.set_value(upper as u16));
    place.mac_low().write(|r| r.set_value(lower));
    let may = |number: u32| port.devices >> number & 1 != 0;
    place.devices().write(|r| {
        r.set_uart(may(1));
        r.set_flash(may(2));
        r.set_vga(may(3));
        r.set_ethernet(may(4));
    });
}
