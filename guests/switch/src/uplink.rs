//! The uplink: a network card that this VM has, a virtio PCI function.

use core::cell::OnceCell;

use tactus_guest::{devicetree, record, time, trap};
use tactus_guest_virtio_service::function::{Function, QueueBell};
use tactus_guest_virtio_service::ring;
use tactus_virtio::function::Lack;
use tactus_virtio::memory::WindowMemory;
use tactus_virtio::switch::{Bucket, PORTS, PortSettings, Switch};
use tactus_virtio::uplink::{
    self, ENTRIES, INBOX, Inbox, MEMORY, RECEIVE, Receiver, Sender, Settings, TRANSMIT, Target,
};

use crate::GROUP_FRAMES;

/// The kind of device (virtio 1.2, section 5).
const NETWORK: u32 = 1;

/// Memory that the card accesses, and that of the inboxes.
static DMA: WindowMemory<MEMORY> = WindowMemory::new();
static INBOXES: WindowMemory<{ INBOX * PORTS }> = WindowMemory::new();

/// What tells the card of frames, for each queue.
struct Bells(OnceCell<[QueueBell; 2]>);

// SAFETY: it is set before calls begin, and not changed afterwards; a bell is a store to a register.
unsafe impl Sync for Bells {}

static BELLS: Bells = Bells(OnceCell::new());

/// The uplink, and its side that receives.
pub struct Uplink {
    function: Function,
    receiver: Receiver,
}

/// The card that this VM has, if it has one.
pub fn find() -> Option<Function> {
    Function::find(NETWORK).unwrap_or_else(|lack| record::give_up(lack.text()))
}

/// Makes that card the uplink of the switch, which has these ports.
pub fn begin(
    function: Function,
    switch: &mut Switch,
    ports: &[Option<PortSettings>; PORTS],
) -> Uplink {
    try_begin(function, switch, ports).unwrap_or_else(|lack| record::give_up(lack.text()))
}

fn try_begin(
    function: Function,
    switch: &mut Switch,
    ports: &[Option<PortSettings>; PORTS],
) -> Result<Uplink, Lack> {
    let hz = time::hz() as u32;
    let settings = Settings {
        vlan: devicetree::number("uplink-vlan", 0) as u16,
        bytes: Bucket::new(
            devicetree::number("uplink-rate", 0) as u32,
            devicetree::number("uplink-burst", 64 << 10) as u32,
            hz,
        ),
        group_frames: Bucket::new(GROUP_FRAMES.0, GROUP_FRAMES.1, hz),
    };
    let inboxes = INBOXES.window(0);
    let targets: [_; PORTS] = core::array::from_fn(|number| {
        ports[number].map(|port| Target {
            address: port.address,
            vlan: port.vlan,
            inbox: Inbox::new(inboxes.part(number * INBOX, INBOX)),
        })
    });
    // The card has this VM's addresses.
    let first = DMA.address();
    let memory = DMA.window(first);
    let registers = function.registers();
    // Without further features it receives all frames, in buffers that hold the longest.
    registers.begin(0)?;
    let parts = [RECEIVE, TRANSMIT].map(|queue| uplink::parts(first, queue));
    let addresses = [
        registers.set_queue(RECEIVE, ENTRIES, parts[0])?,
        registers.set_queue(TRANSMIT, ENTRIES, parts[1])?,
    ];
    let bells = BELLS.0.get_or_init(|| {
        [RECEIVE, TRANSMIT].map(|queue| function.bell(queue, addresses[usize::from(queue)]))
    });
    let sender = Sender::new(memory, first, &bells[1]).map_err(|_| Lack::Queue)?;
    let receiver = Receiver::new(memory, first, &bells[0], settings, targets);
    let receiver = receiver.map_err(|_| Lack::Queue)?;
    registers.go();
    receiver.begin();
    let inboxes = targets.map(|target| target.map(|target| target.inbox));
    switch.add_uplink(sender, settings.vlan, inboxes);
    Ok(Uplink { function, receiver })
}

impl Uplink {
    /// Receives what comes, and does nothing else. A port's driver is interrupted for what has come for it.
    pub fn run(mut self) -> ! {
        self.function.enable_interrupt();
        loop {
            self.function.take_interrupt();
            let (woken, more) = self.receiver.receive(time::now());
            ring(woken);
            if !more {
                trap::wait_for_interrupt();
            }
        }
    }
}
