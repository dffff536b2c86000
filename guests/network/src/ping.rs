//! Pings, for guests that try whether another station is reached.

use core::time::Duration;

use smoltcp::iface::{SocketHandle, SocketSet};
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::socket::icmp::{self, PacketMetadata};
use smoltcp::wire::{Icmpv4Packet, Icmpv4Repr, IpAddress};
use tactus_guest::{record, start, time};

/// Identifies this guest's pings.
const IDENTITY: u16 = 0x5443;
/// From one ping to the next.
pub const PAUSE: Duration = Duration::from_millis(50);
/// Bytes in a ping.
const PAYLOAD: usize = 56;

/// Memory of a socket: of what it has received, and of what it sends.
#[derive(Debug)]
pub struct PingMemory([Side; 2]);

#[derive(Clone, Copy, Debug)]
struct Side {
    metadata: [PacketMetadata; 4],
    bytes: [u8; 512],
}

impl PingMemory {
    /// Empty.
    pub const NEW: Self = Self(
        [Side {
            metadata: [PacketMetadata::EMPTY; 4],
            bytes: [0; 512],
        }; 2],
    );
}

impl Side {
    fn parts(&mut self) -> (&mut [PacketMetadata], &mut [u8]) {
        (&mut self.metadata, &mut self.bytes)
    }
}

/// Sends pings, one after the other.
#[derive(Debug)]
pub struct Pinger {
    socket: SocketHandle,
    peer: IpAddress,
    /// Pings so far.
    pub sent: u64,
    /// Those that were answered.
    pub answered: u64,
    /// Pings before the first that was answered: the other one had not started.
    pub before_first: u64,
    last: u64,
    round_trip_max: u64,
}

impl Pinger {
    /// One that pings that address by a socket of its own; ends the guest where there can be none.
    pub fn new<'m>(
        sockets: &mut SocketSet<'m>,
        memory: &'m mut PingMemory,
        peer: IpAddress,
    ) -> Self {
        let [received, sent] = &mut memory.0;
        let buffer = |(metadata, bytes)| icmp::PacketBuffer::new(metadata, bytes);
        let mut socket = icmp::Socket::new(buffer(received.parts()), buffer(sent.parts()));
        if let Err(error) = socket.bind(icmp::Endpoint::Ident(IDENTITY)) {
            record::fail(start::program(), error);
        }
        Self {
            socket: sockets.add(socket),
            peer,
            sent: 0,
            answered: 0,
            before_first: 0,
            last: 0,
            round_trip_max: 0,
        }
    }

    /// The longest time until a ping was answered.
    pub fn round_trip_max_ns(&self) -> u64 {
        self.round_trip_max * 1_000_000_000 / time::hz()
    }

    /// What the ping of that number carries, which no other one does.
    fn payload(number: u64) -> [u8; PAYLOAD] {
        core::array::from_fn(|at| (number as usize * 31 + at * 7) as u8)
    }

    /// Takes what has been answered, and sends the next ping when it is time.
    pub fn step(&mut self, sockets: &mut SocketSet<'_>) {
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
