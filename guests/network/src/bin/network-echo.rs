//! A guest that reaches another one by ping, and lets itself be reached: it answers pings, and sends back what it
//! receives at the TCP port 7 (RFC 862).
//!
//! Boot arguments: `address` and `peer`, this guest's and the other one's; `pings` (default 20), how often the other
//! one is to answer; `bytes` (default 65536), how much is to be sent back before the guest goes off.
#![no_std]
#![no_main]

use core::time::Duration;

use tactus_guest::{devicetree, println, record, start, time};
use tactus_network::smoltcp::iface::{SocketHandle, SocketSet, SocketStorage};
use tactus_network::smoltcp::phy::ChecksumCapabilities;
use tactus_network::smoltcp::socket::{icmp, tcp};
use tactus_network::smoltcp::wire::{Icmpv4Packet, Icmpv4Repr, IpAddress};
use tactus_network::{Network, ip_argument};

tactus_guest::entry!(main);

/// The echo protocol's port.
const PORT: u16 = 7;
/// Identifies this guest's pings.
const IDENTITY: u16 = 0x5443;
/// From one ping to the next, and how long the other guest may take to start.
const PAUSE: Duration = Duration::from_millis(50);
const PATIENCE: Duration = Duration::from_secs(40);
/// Bytes in a ping.
const PAYLOAD: usize = 56;

fn main() {
    let peer = IpAddress::from(ip_argument("peer"));
    let pings = devicetree::number("pings", 20);
    let bytes = devicetree::number("bytes", 64 << 10);
    let mut network = Network::start();

    let mut storage = [SocketStorage::EMPTY; 2];
    let mut sockets = SocketSet::new(&mut storage[..]);
    let mut metadata = [[icmp::PacketMetadata::EMPTY; 4]; 2];
    let mut buffers = [[0; 512]; 2];
    let ([in_meta, out_meta], [in_bytes, out_bytes]) = (&mut metadata, &mut buffers);
    let pinger = sockets.add(icmp::Socket::new(
        icmp::PacketBuffer::new(&mut in_meta[..], &mut in_bytes[..]),
        icmp::PacketBuffer::new(&mut out_meta[..], &mut out_bytes[..]),
    ));
    let mut windows = [[0; 4096]; 2];
    let [receive, send] = &mut windows;
    let echo = sockets.add(tcp::Socket::new(
        tcp::SocketBuffer::new(&mut receive[..]),
        tcp::SocketBuffer::new(&mut send[..]),
    ));
    if let Err(error) = sockets
        .get_mut::<icmp::Socket<'_>>(pinger)
        .bind(icmp::Endpoint::Ident(IDENTITY))
    {
        record::fail(start::program(), error);
    }

    let mut pinger = Pinger::new(pinger, peer);
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

/// Sends pings, one after the other.
struct Pinger {
    socket: SocketHandle,
    peer: IpAddress,
    sent: u64,
    answered: u64,
    /// Pings before the first that was answered: the other guest had not started.
    before_first: u64,
    last: u64,
    round_trip_max: u64,
}

impl Pinger {
    const fn new(socket: SocketHandle, peer: IpAddress) -> Self {
        Self {
            socket,
            peer,
            sent: 0,
            answered: 0,
            before_first: 0,
            last: 0,
            round_trip_max: 0,
        }
    }

    fn round_trip_max_ns(&self) -> u64 {
        self.round_trip_max * 1_000_000_000 / time::hz()
    }

    /// What the ping of that number carries, which no other one does.
    fn payload(number: u64) -> [u8; PAYLOAD] {
        core::array::from_fn(|at| (number as usize * 31 + at * 7) as u8)
    }

    fn step(&mut self, sockets: &mut SocketSet<'_>) {
        let socket = sockets.get_mut::<icmp::Socket<'_>>(self.socket);
        let checksums = ChecksumCapabilities::default();
        while let Ok((packet, from)) = socket.recv() {
            let packet = Icmpv4Packet::new_checked(packet);
            let reply = packet
                .as_ref()
                .ok()
                .and_then(|packet| Icmpv4Repr::parse(packet, &checksums).ok());
            if let Some(Icmpv4Repr::EchoReply { seq_no, data, .. }) = reply
                && from == self.peer
                && u64::from(seq_no) == self.sent
                && data == Self::payload(self.sent)
            {
                if self.answered == 0 {
                    self.before_first = self.sent - 1;
                }
                self.answered += 1;
                self.round_trip_max = self.round_trip_max.max(time::now() - self.last);
            }
        }
        if time::now() - self.last < time::ticks(PAUSE) || !socket.can_send() {
            return;
        }
        let payload = Self::payload(self.sent + 1);
        let request = Icmpv4Repr::EchoRequest {
            ident: IDENTITY,
            seq_no: (self.sent + 1) as u16,
            data: &payload,
        };
        if let Ok(bytes) = socket.send(request.buffer_len(), self.peer) {
            request.emit(&mut Icmpv4Packet::new_unchecked(bytes), &checksums);
            self.sent += 1;
            self.last = time::now();
        }
    }
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
