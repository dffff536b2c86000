//! A guest that reaches another one by ping, and lets itself be reached: it answers pings, and sends back what it
//! receives at the TCP port 7 (RFC 862).
//!
//! Boot arguments: `address` and `peer`, this guest's and the other one's; `pings` (default 20), how often the other
//! one is to answer; `bytes` (default 65536), how much is to be sent back before the guest goes off.
#![no_std]
#![no_main]

use core::time::Duration;

use tactus_guest::{devicetree, println, record, start, time};
use tactus_network::ping::{PAUSE, PingMemory, Pinger};
use tactus_network::smoltcp::iface::{SocketHandle, SocketSet, SocketStorage};
use tactus_network::smoltcp::socket::tcp;
use tactus_network::smoltcp::wire::IpAddress;
use tactus_network::{Network, ip_argument};

tactus_guest::entry!(main);

/// The echo protocol's port.
const PORT: u16 = 7;
/// How long the other guest may take to start.
const PATIENCE: Duration = Duration::from_secs(40);

fn main() {
    let peer = IpAddress::from(ip_argument("peer"));
    let pings = devicetree::number("pings", 20);
    let bytes = devicetree::number("bytes", 64 << 10);
    let mut network = Network::start();

    let mut storage = [SocketStorage::EMPTY; 2];
    let mut sockets = SocketSet::new(&mut storage[..]);
    let mut memory = PingMemory::NEW;
    let mut pinger = Pinger::new(&mut sockets, &mut memory, peer);
    let mut windows = [[0; 4096]; 2];
    let [receive, send] = &mut windows;
    let echo = sockets.add(tcp::Socket::new(
        tcp::SocketBuffer::new(&mut receive[..]),
        tcp::SocketBuffer::new(&mut send[..]),
    ));
    let mut echo = Echo {
        socket: echo,
        sent_back: 0,
    };
    let patience = time::now() + time::ticks(PATIENCE);
    while pinger.answered < pings || echo.sent_back < bytes || !echo.is_closed(&sockets) {
        if time::now() > patience {
            println!(
                "{} pings answered, {} bytes",
                pinger.answered, echo.sent_back
            );
            record::give_up("the other guest does not do its part");
        }
        network.poll(&mut sockets);
        if pinger.answered < pings {
            pinger.step(&mut sockets);
        }
        echo.step(&mut sockets);
        network.poll(&mut sockets);
        network.wait(&sockets, PAUSE);
    }
    record::metric("ping_round_trip_max", pinger.round_trip_max_ns(), "ns");
    record::metric(
        "ping_lost",
        pinger.sent - pinger.answered - pinger.before_first,
        "count",
    );
    record::metric("echo_bytes", echo.sent_back, "count");
    record::pass(start::program());
}

/// Sends back what it receives.
struct Echo {
    socket: SocketHandle,
    sent_back: u64,
}

impl Echo {
    fn is_closed(&self, sockets: &SocketSet<'_>) -> bool {
        let socket = sockets.get::<tcp::Socket<'_>>(self.socket);
        matches!(
            socket.state(),
            tcp::State::Closed | tcp::State::Listen | tcp::State::TimeWait
        )
    }

    fn step(&mut self, sockets: &mut SocketSet<'_>) {
        let socket = sockets.get_mut::<tcp::Socket<'_>>(self.socket);
        if !socket.is_open() {
            // It is closed, and the port is not 0.
            let _ = socket.listen(PORT);
        }
        let mut bytes = [0; 1024];
        while socket.can_recv() && socket.can_send() {
            let room = socket.send_capacity() - socket.send_queue();
            let room = room.min(bytes.len());
            let Ok(received) = socket.recv_slice(&mut bytes[..room]) else {
                break;
            };
            // There is room for all of it.
            let sent = socket.send_slice(&bytes[..received]).unwrap_or(0);
            self.sent_back += sent as u64;
        }
        if socket.state() == tcp::State::CloseWait && !socket.can_recv() {
            socket.close();
        }
    }
}
