//! IP for guests: [smoltcp](https://docs.rs/smoltcp) with the virtio network card that another VM emulates, such as
//! `@virtio-switch`.
//!
//! Boot arguments: `address=10.0.2.3` is the guest's own, whose network is of 24 bits.
//!
//! The card's queues and buffers are in the memory of its channel, behind the first page, which is the device's. So the
//! channel needs no `memory = true`: the VM that emulates the card has nothing else of this one. The external and the
//! timer interrupts belong to this crate.
#![no_std]
#![cfg(target_arch = "riscv64")]

mod phy;
pub mod ping;

use core::time::Duration;

pub use smoltcp;
use smoltcp::iface::{Config, Interface, SocketSet};
use smoltcp::time::Instant;
use smoltcp::wire::{EthernetAddress, HardwareAddress, IpCidr, Ipv4Address};
use tactus_guest::channel::Channel;
use tactus_guest::{devicetree, interrupts, record, time, trap};
use tactus_network_card::{Card, MEMORY, Mapped, Shared, StartError};

use phy::Phy;

/// What a card's window is compatible with (virtio 1.2, section 4.2.1).
const COMPATIBLE: &str = "virtio,mmio";
/// Bytes of the channel's memory that are the device's.
const DEVICE_MEMORY: usize = 4096;
/// Bits of the network in an address.
const NETWORK: u8 = 24;
/// How long the VM that emulates the card may take to start, and how often it is looked for meanwhile.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(1);

/// An interface with its card.
pub struct Network {
    interface: Interface,
    phy: Phy<Mapped>,
    place: Place,
}

/// Where a card is.
#[derive(Clone, Copy)]
struct Place {
    registers: usize,
    memory: usize,
}

impl Network {
    /// The interface on the VM's first network card; ends the guest where there is none.
    pub fn start() -> Self {
        let page = devicetree::page(COMPATIBLE, 0);
        let page = page.unwrap_or_else(|| record::give_up("there is no network card"));
        let channel = page.cells::<1>("tactus,channel").map(|[number]| number);
        let channel = channel.and_then(|number| Channel::find(number as usize));
        let channel = channel.unwrap_or_else(|| record::give_up("the card has no channel"));
        let memory = channel.words();
        if size_of_val(memory) < DEVICE_MEMORY + MEMORY {
            record::give_up("the channel of the card is to have 64 KiB");
        }
        let place = Place {
            registers: page.registers,
            memory: memory.as_ptr().addr() + DEVICE_MEMORY,
        };
        let end = time::now() + time::ticks(PATIENCE);
        let card = loop {
            match place.card() {
                Ok(card) => break card,
                Err(StartError::Absent) if time::now() < end => {
                    time::busy_wait(time::ticks(PAUSE));
                }
                Err(_) => record::give_up("the network card does not start"),
            }
        };
        let mut phy = Phy::new(card);
        let address = HardwareAddress::Ethernet(EthernetAddress(phy.address()));
        let mut config = Config::new(address);
        config.random_seed = time::now();
        let mut interface = Interface::new(config, &mut phy, now());
        let own = IpCidr::new(ip_argument("address").into(), NETWORK);
        // There is room for one at least.
        interface.update_ip_addrs(|addresses| {
            let _ = addresses.push(own);
        });
        // The handler has nothing to do: what a card has is looked for after each interrupt.
        trap::on_external(|_| ());
        trap::on_timer(|| ());
        interrupts::enable(channel.source(), 1);
        Self {
            interface,
            phy,
            place,
        }
    }

    /// Receives and sends what there is.
    pub fn poll(&mut self, sockets: &mut SocketSet<'_>) {
        self.phy.look();
        self.interface.poll(now(), &mut self.phy, sockets);
        if self.phy.is_broken() {
            // Its frames are lost, as on any wire.
            match self.place.card() {
                Ok(card) => self.phy = Phy::new(card),
                Err(_) => record::give_up("the network card is broken"),
            }
        }
    }

    /// Sleeps until there is something to poll for, and at the longest for `longest`.
    pub fn wait(&mut self, sockets: &SocketSet<'_>, longest: Duration) {
        let delay = self.interface.poll_delay(now(), sockets);
        let delay = delay.map_or(longest, |delay| Duration::from_micros(delay.total_micros()));
        // An interrupt that is pending already ends the sleep at once, and is taken afterwards.
        trap::disable_interrupts();
        if !delay.is_zero() {
            time::set_deadline(time::now() + time::ticks(delay.min(longest)));
            trap::wait_for_interrupt();
        }
        trap::enable_interrupts();
        trap::disable_interrupts();
    }

    /// The interface, for what sockets need to connect.
    pub fn interface(&mut self) -> &mut Interface {
        &mut self.interface
    }
}

impl Place {
    fn card(self) -> Result<Card<Mapped>, StartError> {
        // SAFETY: the devicetree is the system's own description of what it gives this VM: the window is there, and
        // reads as zero while the VM behind it is not. The memory is the channel's, which only the card uses; a card
        // that is started again has no other one beside it.
        let (registers, memory) = unsafe {
            let memory = Shared::new(self.memory, self.memory as u64);
            (Mapped::new(self.registers), memory)
        };
        Card::start(registers, memory).map_err(|(error, _)| error)
    }
}

/// The time, for smoltcp.
pub fn now() -> Instant {
    let micros = u128::from(time::now()) * 1_000_000 / u128::from(time::hz());
    Instant::from_micros(micros as i64)
}

/// The address that a boot argument gives; ends the guest without one.
pub fn ip_argument(name: &str) -> Ipv4Address {
    let address = devicetree::argument(name).and_then(|text| text.parse().ok());
    address.unwrap_or_else(|| {
        tactus_guest::println!(
            "the boot argument {name} is to be an address, such as {name}=10.0.2.3"
        );
        record::give_up("an address is missing among the boot arguments")
    })
}
