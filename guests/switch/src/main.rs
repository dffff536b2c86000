//! A network switch, with a port for the VM at the other end of each of its channels, which has a virtio network card
//! there. Port `n` is that of channel `n`, and has the address 02:54:41:43:54:0n.
//!
//! Boot arguments, for each port: `vlanN` (default 0) is its VLAN; `rateN` bytes in a second it may send, and `burstN`
//! at once (default: no limit, 64 KiB). A port sends 1,000 frames for many in a second, and 32 at once.
//!
//! Where this VM has a virtio network card, a PCI function, that is the switch's uplink: it leads to the stations at
//! the addresses of no port. `uplink-vlan` (default 0) is its VLAN; `uplink-rate` bytes in a second may come from it,
//! and `uplink-burst` at once, as for a port. A port sends from its own address alone then.
//!
//! `faults=N`, for tests: each access after the first N of a life is a fault of this VM, when it was served and before
//! its driver is told so; `hangs=N`: it does not end.
//!
//! `capture=5` records what ports 0 and 2 send and receive, for `tactus run --pcap` (`tactus_abi::capture`).
#![no_std]
#![no_main]

mod uplink;

use core::cell::{RefCell, UnsafeCell};
use core::sync::atomic::AtomicU64;

use tactus_guest::abi::capture;
use tactus_guest::call::{Message, Stack};
use tactus_guest::channel::Channel;
use tactus_guest::emulation::{self, Access, Reply};
use tactus_guest::{devicetree, record, time};
use tactus_guest_virtio_service::faults::Faults;
use tactus_virtio::capture::Recorder;
use tactus_virtio::memory::Window;
use tactus_virtio::mmio::{Port, WORDS};
use tactus_virtio::switch::{Bucket, Card, PORTS, PortSettings, Switch};

tactus_guest::entry!(main);

/// Names of the boot arguments of each port.
const VLANS: [&str; PORTS] = [
    "vlan0", "vlan1", "vlan2", "vlan3", "vlan4", "vlan5", "vlan6", "vlan7",
];
const RATES: [&str; PORTS] = [
    "rate0", "rate1", "rate2", "rate3", "rate4", "rate5", "rate6", "rate7",
];
const BURSTS: [&str; PORTS] = [
    "burst0", "burst1", "burst2", "burst3", "burst4", "burst5", "burst6", "burst7",
];
/// Frames for many of a port: in a second, and at once.
const GROUP_FRAMES: (u32, u32) = (1000, 32);

/// A network card, whose registers are in its channel's memory.
type NetworkCard = Port<Card<'static>, Window, &'static [AtomicU64]>;

/// Everything, which `main` makes before calls begin; these are one after the other.
struct Service {
    switch: RefCell<Switch>,
    cards: UnsafeCell<[Option<NetworkCard>; PORTS]>,
    /// For each port, those whose doorbells are to ring because of what it has sent, as bits.
    rings: UnsafeCell<[u32; PORTS]>,
}

// SAFETY: `main` uses it before the first call; then only calls do, one at a time.
unsafe impl Sync for Service {}

static SERVICE: Service = Service {
    switch: RefCell::new(Switch::new()),
    cards: UnsafeCell::new([const { None }; PORTS]),
    rings: UnsafeCell::new([0; PORTS]),
};
static FAULTS: Faults = Faults::none();
static STACK: Stack<16384> = Stack::new();

fn main() {
    FAULTS.begin();
    let mut ports = [None; PORTS];
    for (number, port) in ports.iter_mut().enumerate() {
        let Some(channel) = Channel::find(number) else {
            break;
        };
        let settings = settings(number);
        *port = Some(settings);
        let card = card(channel, number, settings);
        if card.is_none() {
            record::give_up("a channel is too small, or no device");
        }
        // SAFETY: no calls yet.
        unsafe { (*SERVICE.cards.get())[number] = card };
    }
    match devicetree::number(capture::ARGUMENT, 0) {
        0 => {}
        ports => record_frames(ports as u32),
    }
    let Some(function) = uplink::find() else {
        emulation::run(serve, &STACK)
    };
    let uplink = uplink::begin(function, &mut SERVICE.switch.borrow_mut(), &ports);
    emulation::begin(serve, &STACK);
    uplink.run()
}

/// Records frames of these ports, as bits.
fn record_frames(ports: u32) {
    // SAFETY: it is the VM's memory, below its image, which nothing else uses.
    let memory = unsafe { Window::new(capture::BASE as usize, capture::SIZE, 0) };
    match Recorder::new(memory, ports) {
        Some(recorder) => SERVICE.switch.borrow_mut().record(recorder),
        None => record::give_up("a recording has another size"),
    }
}

fn settings(number: usize) -> PortSettings {
    let hz = time::hz() as u32;
    PortSettings {
        address: [2, b'T', b'A', b'C', b'T', number as u8],
        vlan: devicetree::number(VLANS[number], 0) as u16,
        bytes: Bucket::new(
            devicetree::number(RATES[number], 0) as u32,
            devicetree::number(BURSTS[number], 64 << 10) as u32,
            hz,
        ),
        group_frames: Bucket::new(GROUP_FRAMES.0, GROUP_FRAMES.1, hz),
    }
}

fn card(channel: Channel, number: usize, settings: PortSettings) -> Option<NetworkCard> {
    let kept = channel.words().get(..WORDS)?;
    let [here, size, there] = devicetree::peer_memory(number)?;
    // SAFETY: the devicetree is the system's own description of what it gives this VM, which uses it by this window
    // only.
    let memory = unsafe { Window::new(here, size, there as u64) };
    let is_added = SERVICE.switch.borrow_mut().add(number, settings);
    is_added.then(|| Port::new(Card::new(&SERVICE.switch, number), memory, kept))
}

fn serve(channel: usize, message: Message) -> Message {
    let access = Access::of(message);
    // SAFETY: calls are one after the other, and `main` uses neither any more.
    let (cards, rings) = unsafe { (&mut *SERVICE.cards.get(), &mut *SERVICE.rings.get()) };
    let (Some(Some(card)), Some(rings)) = (cards.get_mut(channel), rings.get_mut(channel)) else {
        return Reply::DONE.into_message();
    };
    SERVICE.switch.borrow_mut().set_time(time::now());
    let outcome = card.access(access.offset, access.size, access.store);
    FAULTS.count();
    let own = u32::from(outcome.interrupts) << channel;
    *rings |= SERVICE.switch.borrow_mut().take_woken() | own;
    // One doorbell in a call; for the next one the access is made again, which changes nothing then. The caller's own
    // is the last: it would take the interrupt before the access is made again.
    let others = *rings & !(1 << channel);
    let next = if others == 0 { *rings } else { others };
    let ring = (next != 0).then(|| next.trailing_zeros());
    *rings &= !ring.map_or(0, |number| 1 << number);
    let reply = Reply {
        value: outcome.value,
        ring,
        again: outcome.again | (*rings != 0),
    };
    reply.into_message()
}
