//! Connects the VMs at the other ends of its channels by ivshmem: each has a PCI host with a function, of which channel
//! `n` has the peer `n`. Its state table is in that channel's memory, and what follows there is the memory of the
//! client's next channel: that between two clients is the memory that they share.
//!
//! Boot arguments: `output=N` bytes of that are the output section of each peer (default 0); `protocol=N` is the
//! protocol that the function names (default 0, none); `memory=no`: the peers share none, and only have states and
//! interrupts, as more than two must; `version=1`: the functions are of version 1 without interrupts, and have the next
//! channel's memory as BAR 2.
#![no_std]
#![no_main]

use core::cell::UnsafeCell;
use core::sync::atomic::AtomicU32;

use fdt::node::FdtNode;
use tactus_guest::call::{self, Message, Stack};
use tactus_guest::channel::Channel;
use tactus_guest::emulation::{Access, Reply};
use tactus_guest::{devicetree, record, trap};
use tactus_guest_virtio_service::faults::Faults;
use tactus_ivshmem::link::{Link, Refusal};
use tactus_ivshmem::space::{Place, Sections, Version};
use tactus_ivshmem::{ECAM, PEERS, WINDOW};

tactus_guest::entry!(main);

/// Output sections are of whole pages.
const PAGE: u64 = 4096;

/// The link, which `main` makes before calls begin; these are one after the other.
struct Service(UnsafeCell<Option<Link<'static>>>);

// SAFETY: `main` uses it before the first call; then only calls do, one at a time.
unsafe impl Sync for Service {}

static LINK: Service = Service(UnsafeCell::new(None));
static STACK: Stack<16384> = Stack::new();
static FAULTS: Faults = Faults::none();

/// What the devicetree says of a client, by the node of its channel.
#[derive(Clone, Copy)]
struct Client {
    channel: Channel,
    place: Place,
    /// The client's next channel, whose memory follows this one's: its name and its bytes.
    next: Option<(&'static str, u64)>,
}

fn main() {
    FAULTS.begin();
    let (link, told) = link();
    // SAFETY: no calls yet.
    unsafe { *LINK.0.get() = Some(link) };
    if call::serve(serve, &STACK).is_err() {
        record::give_up("no VM has a PCI host here");
    }
    // A life before this one may have lost interrupts.
    for number in (0..PEERS).filter(|number| told >> number & 1 != 0) {
        if let Some(channel) = Channel::find(number) {
            channel.ring();
        }
    }
    loop {
        trap::wait_for_interrupt();
    }
}

/// The link, and those of its peers, as bits, that are to be interrupted. Ends the VM where there can be none.
fn link() -> (Link<'static>, u32) {
    let mut clients = [None; PEERS];
    for (number, client) in clients.iter_mut().enumerate() {
        if Channel::find(number).is_some() {
            *client = self::client(number);
            if client.is_none() {
                record::give_up(
                    "a channel's device is no PCI host of 1 MiB and 4 KiB, or has memory = true",
                );
            }
        }
    }
    if Channel::find(PEERS).is_some() {
        record::give_up("there are more channels than peers may be");
    }
    let clients = || clients.iter().flatten();
    let sections = sections(clients());
    let peers = clients().map(|client| (client.place, states(client.channel)));
    let mut link = match Link::new(sections, peers) {
        Ok(link) => link,
        Err(Refusal::Peers) => record::give_up("a link has at least two peers"),
        Err(Refusal::Table) => record::give_up("the channels with clients differ in size"),
        Err(Refusal::Bar) => record::give_up(
            "with version=1 the clients' next channel has a power of two of bytes, at a multiple of them",
        ),
    };
    let mut told = 0;
    let mut from = 0;
    while let Some(peer) = link.next_after_restart(from) {
        told |= 1 << peer;
        from = peer + 1;
    }
    (link, told)
}

/// The client at the other end of a channel of that number.
fn client(number: usize) -> Option<Client> {
    let tree = devicetree::get()?;
    let node = tree.all_nodes().find(|node| {
        let names = node.compatible();
        names.is_some_and(|names| names.all().any(|name| name == "tactus,channel"))
            && node.property("tactus,index").and_then(|p| p.as_usize()) == Some(number)
    })?;
    let channel = Channel::find(number)?;
    // The channel's memory: this VM has none of the client's.
    let [_, table, memory] = doublewords(node, "tactus,peer-memory")?;
    let [window, size] = doublewords(node, "tactus,peer-window")?;
    if size != u64::from(WINDOW) || table != size_of_val(channel.words()) as u64 {
        return None;
    }
    let next = node.property("tactus,peer-next").and_then(|name| {
        let [size] = doublewords(node, "tactus,peer-next-size")?;
        Some((name.as_str()?, size))
    });
    Some(Client {
        channel,
        place: Place {
            registers: u32::try_from(window).ok()?.checked_add(ECAM)?,
            memory,
        },
        next,
    })
}

/// A property of so many doublewords.
fn doublewords<const N: usize>(node: FdtNode<'_, 'static>, name: &str) -> Option<[u64; N]> {
    let cells = node.property(name)?.value.as_chunks::<8>().0;
    let cells: [_; N] = cells.try_into().ok()?;
    Some(cells.map(u64::from_be_bytes))
}

/// How the clients' memory is divided. Ends the VM where it cannot be.
fn sections<'c>(clients: impl Iterator<Item = &'c Client> + Clone) -> Sections {
    let Ok(protocol) = u16::try_from(devicetree::number("protocol", 0)) else {
        record::give_up("the boot argument protocol= is a number of 16 bits");
    };
    let table = clients
        .clone()
        .next()
        .map_or(0, |client| states(client.channel).len() * 4);
    let version = match devicetree::number("version", 2) {
        1 => Version::One,
        2 => Version::Two,
        _ => record::give_up("the boot argument version= is 1 or 2"),
    };
    let none = Sections {
        version,
        protocol,
        table: table as u32,
        shared: 0,
        output: 0,
    };
    match devicetree::argument("memory") {
        None => {}
        Some("no") => return none,
        Some(_) => record::give_up("the boot argument memory= is: no"),
    }
    let mut all = clients.clone();
    let Some(next) = all.next().and_then(|client| client.next) else {
        record::give_up("a client has no next channel, whose memory it shares");
    };
    if !all.all(|client| client.next == Some(next)) {
        record::give_up("the clients' next channels are not the same one");
    }
    let output = devicetree::number("output", 0);
    let shared = output
        .checked_mul(clients.count() as u64)
        .and_then(|all| next.1.checked_sub(all));
    let (Some(shared), true) = (shared, output.is_multiple_of(PAGE)) else {
        record::give_up("the boot argument output= is no pages, or too many for the channel");
    };
    Sections {
        shared,
        output,
        ..none
    }
}

/// The memory of a client's state table.
fn states(channel: Channel) -> &'static [AtomicU32] {
    let words = channel.words();
    // SAFETY: these words are atomic and live as long as the VM, and their halves are aligned; nothing uses them as
    // doublewords.
    unsafe { core::slice::from_raw_parts(words.as_ptr().cast(), 2 * words.len()) }
}

fn serve(channel: usize, message: Message) -> Message {
    let access = Access::of(message);
    // SAFETY: calls are one after the other, and `main` no longer uses it.
    let link = unsafe { &mut *LINK.0.get() };
    let Some(link) = link else {
        return Reply::DONE.into_message();
    };
    let outcome = link.access(channel, access.offset, access.size, access.store);
    FAULTS.count();
    let reply = Reply {
        value: outcome.value,
        ring: outcome.ring.map(|peer| peer as u32),
        again: outcome.again,
    };
    reply.into_message()
}
