//! A guest that has a network card and a disk of other VMs, and uses both: it writes its disk and reads it back, finds
//! its disk's end, reaches its gateway by ping, and says by TCP that it has. It goes off when the other end of that
//! connection is closed.
//!
//! What it writes into sector n of its disk are words `mark << 32 | n << 8 | word`, of all sectors.
//!
//! Boot arguments: `address` is its own; `gateway` (10.0.2.2) is pinged, and has a server at the TCP port `port`, which
//! is sent the line `mark N`; `mark=N` (1).
#![no_std]
#![no_main]

use core::fmt::Write as _;
use core::time::Duration;

use tactus_guest::{devicetree, record, start, time};
use tactus_guest_disk::{DATA, Driver, Ended, SECTOR, kind};
use tactus_network::ping::{PAUSE, PingMemory, Pinger};
use tactus_network::smoltcp::iface::{SocketSet, SocketStorage};
use tactus_network::smoltcp::socket::tcp;
use tactus_network::smoltcp::wire::IpAddress;
use tactus_network::{Network, ip_argument};

tactus_guest::entry!(main);

/// Which of the virtio devices the disk is.
const DISK: usize = 1;
/// How many pings are to be answered, and how long all of it may take.
const PINGS: u64 = 5;
const PATIENCE: Duration = Duration::from_secs(600);
/// The port that connections are from.
const OWN_PORT: u16 = 49152;
/// Sectors of a request.
const SECTORS: u64 = (DATA / SECTOR) as u64;
const WORDS: u64 = (SECTOR / 8) as u64;

fn main() {
    let mark = devicetree::number("mark", 1);
    let end = time::now() + time::ticks(PATIENCE);
    use_disk(mark, end);
    record::pass("disk");
    use_network(mark, end);
}

/// Ends the guest where it is too late.
fn look_at_clock(end: u64, what: &str) {
    if time::now() >= end {
        record::give_up(what);
    }
}

fn use_disk(mark: u64, end: u64) {
    let disk = Driver::find_number(DISK);
    let mut disk = disk.unwrap_or_else(|| record::give_up("there is no disk"));
    while !disk.begin() {
        look_at_clock(end, "the disk is never there");
    }
    let sectors = disk.capacity();
    if sectors == 0 || !sectors.is_multiple_of(SECTORS) {
        record::give_up("the disk is no multiple of 4 KiB");
    }
    for first in (0..sectors).step_by(SECTORS as usize) {
        for word in 0..SECTORS * WORDS {
            Driver::set_word(0, word as usize, content(mark, first, word));
        }
        request(&mut disk, kind::OUT, first, DATA, 0, end);
    }
    request(&mut disk, kind::FLUSH, 0, 0, 0, end);
    // Behind the disk's end is another guest's part.
    for of in [kind::IN, kind::OUT] {
        for first in [sectors - 1, sectors, u64::MAX - 1] {
            request(&mut disk, of, first, 2 * SECTOR, 1, end);
        }
    }
    for first in (0..sectors).step_by(SECTORS as usize) {
        request(&mut disk, kind::IN, first, DATA, 0, end);
        for word in 0..SECTORS * WORDS {
            if Driver::word(0, word as usize) != content(mark, first, word) {
                record::give_up("the disk has something else");
            }
        }
    }
    record::metric("sectors", sectors, "count");
}

/// A word of the sectors from `first` on.
const fn content(mark: u64, first: u64, word: u64) -> u64 {
    mark << 32 | (first + word / WORDS) << 8 | (word % WORDS)
}

/// Makes a request, whose status has to be that.
fn request(disk: &mut Driver, of: u32, sector: u64, bytes: usize, wanted: u8, end: u64) {
    disk.add(0, of, sector, bytes);
    disk.notify();
    let mut found = None;
    while found.is_none() {
        look_at_clock(end, "a request does not end");
        disk.interrupted(|_, ended| {
            if let Ended::Slot(0, status) = ended {
                found = Some(status);
            }
        });
    }
    if found != Some(wanted) {
        record::give_up("a request ends otherwise than it has to");
    }
}

fn use_network(mark: u64, end: u64) {
    let gateway = IpAddress::from(ip_argument("gateway"));
    let port = devicetree::number("port", 0) as u16;
    let mut network = Network::start();
    let mut storage = [SocketStorage::EMPTY; 2];
    let mut sockets = SocketSet::new(&mut storage[..]);
    let mut memory = PingMemory::NEW;
    let mut pinger = Pinger::new(&mut sockets, &mut memory, gateway);
    let mut windows = [[0; 1024]; 2];
    let [receive, send] = &mut windows;
    let teller = sockets.add(tcp::Socket::new(
        tcp::SocketBuffer::new(&mut receive[..]),
        tcp::SocketBuffer::new(&mut send[..]),
    ));

    while pinger.answered < PINGS {
        look_at_clock(end, "the gateway does not answer");
        network.poll(&mut sockets);
        pinger.step(&mut sockets);
        network.poll(&mut sockets);
        network.wait(&sockets, PAUSE);
    }
    record::pass("ping");
    if port == 0 {
        return;
    }

    let socket = sockets.get_mut::<tcp::Socket<'_>>(teller);
    let context = network.interface().context();
    if socket.connect(context, (gateway, port), OWN_PORT).is_err() {
        record::give_up("no connection can be begun");
    }
    let mut is_told = false;
    loop {
        look_at_clock(end, "the server does not end the connection");
        network.poll(&mut sockets);
        let socket = sockets.get_mut::<tcp::Socket<'_>>(teller);
        if !is_told && socket.can_send() {
            is_told = writeln!(socket, "mark {mark}").is_ok();
        }
        if socket.state() == tcp::State::CloseWait {
            break;
        }
        if !socket.is_open() {
            record::give_up("the server is not there");
        }
        network.poll(&mut sockets);
        network.wait(&sockets, PAUSE);
    }
    record::pass(start::program());
    sockets.get_mut::<tcp::Socket<'_>>(teller).close();
    while sockets.get::<tcp::Socket<'_>>(teller).is_open() {
        look_at_clock(end, "the connection does not end");
        network.poll(&mut sockets);
        network.wait(&sockets, PAUSE);
    }
}
