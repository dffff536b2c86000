//! A network device (Virtual I/O Device specification 1.2, section 5.1): a queue for each direction, a MAC address and
//! the state of its link, which is up; no offloads.
//!
//! What it receives is known beforehand, or comes from another device that it is linked with, perhaps on another board:
//! all of that is a function of virtual time, so that runs repeat.

use super::{Backend, Chain, Malformed, Served};
use crate::bus::BadState;
use crate::devices::state;
use crate::fabric::Seen;
use crate::time::Femtoseconds;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use virtio_bindings::virtio_ids::VIRTIO_ID_NET;
use virtio_bindings::virtio_net::{VIRTIO_NET_F_MAC, VIRTIO_NET_F_STATUS, VIRTIO_NET_S_LINK_UP};

/// The queue that frames are received by; the other one is for sending.
const RECEIVE: usize = 0;
/// Bytes in front of a frame (section 5.1.6), and where the number of buffers is in them.
const HEADER: u64 = 12;
const BUFFERS: usize = 10;
/// How long a request takes: a microsecond, and sending 8 nanoseconds a byte more, as at 1 Gbit/s.
const REQUEST: Femtoseconds = Femtoseconds(1_000_000_000);
const BYTE: u64 = 8_000_000;
/// How many frames of another device wait to be received; more are lost, as in a switch.
const WAITING_MAX: usize = 256;

/// Bytes of a frame at most: with a VLAN's tag, without the check sequence (IEEE 802.3, 3.2.7; 802.1Q, 9.3).
pub const FRAME_MAX: usize = 1518;

/// A frame, from its destination on and without its check sequence, and when it arrives or was sent.
pub type Frame = (Femtoseconds, Vec<u8>);

/// The frames that a device has sent.
pub type Sent = Seen<Vec<Frame>>;

/// Frames that are to arrive, in the order of their times.
#[derive(Clone, Debug, Default)]
struct Inbox(Arc<Mutex<VecDeque<Frame>>>);

impl Inbox {
    fn frames(&self) -> MutexGuard<'_, VecDeque<Frame>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inbox {
    /// Adds a frame, unless too many wait.
    fn push(&self, time: Femtoseconds, frame: Vec<u8>) {
        let mut waiting = self.frames();
        if waiting.len() < WAITING_MAX {
            waiting.push_back((time, frame));
        }
    }
}

/// A network device.
#[derive(Debug, Default)]
pub struct Net {
    mac: [u8; 6],
    inbox: Inbox,
    /// Where what it sends arrives.
    peer: Option<Inbox>,
    sent: Option<Sent>,
    /// Set when something has come from outside.
    attention: Option<Arc<AtomicBool>>,
}

/// The far end of a device's cable, whose holder carries the frames: between boards, for instance.
#[derive(Clone, Debug)]
pub struct FarEnd {
    to: Inbox,
    from: Inbox,
    attention: Arc<AtomicBool>,
}

impl FarEnd {
    /// The frames that the device has sent since the last call, each with the time at which all of it had left.
    #[must_use]
    pub fn take_sent(&self) -> Vec<Frame> {
        self.from.frames().drain(..).collect()
    }

    /// Lets a frame arrive at `time`, or as soon as can be where that is not after `now`, the board's time. The board
    /// learns of it when its next run begins. When too many frames wait, this one is lost, as in a switch.
    ///
    /// # Errors
    ///
    /// When it is empty or too long; it does not arrive then.
    pub fn deliver(&self, (time, frame): Frame, now: Femtoseconds) -> Result<(), BadFrame> {
        if !(1..=FRAME_MAX).contains(&frame.len()) {
            return Err(BadFrame(frame.len()));
        }
        self.to.push(time.max(now.saturating_add(REQUEST)), frame);
        self.attention.store(true, Ordering::Release);
        Ok(())
    }
}

/// A frame that no Ethernet carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a frame of {0} bytes: it has 1 to {FRAME_MAX}")]
pub struct BadFrame(usize);

impl Net {
    /// A device whose cable leads nowhere.
    #[must_use]
    pub fn new(mac: [u8; 6]) -> Self {
        Self {
            mac,
            ..Self::default()
        }
    }

    /// The same with these frames to receive.
    ///
    /// # Errors
    ///
    /// When one of them is empty or too long.
    pub fn receiving(self, mut frames: Vec<Frame>) -> Result<Self, BadFrame> {
        let sizes = frames.iter().map(|(_, bytes)| bytes.len());
        if let Some(size) = sizes
            .into_iter()
            .find(|size| !(1..=FRAME_MAX).contains(size))
        {
            return Err(BadFrame(size));
        }
        frames.sort_by_key(|(time, _)| *time);
        *self.inbox.frames() = frames.into();
        Ok(self)
    }

    /// Keeps what it sends from here on, to be taken from what this gives.
    pub fn record(&mut self) -> Sent {
        self.sent.get_or_insert_default().clone()
    }

    /// Links two devices: what one sends the other receives. Both have to be functions of the same PCI host, which
    /// wakes the receiver.
    pub fn link(&mut self, other: &mut Self) {
        self.peer = Some(other.inbox.clone());
        other.peer = Some(self.inbox.clone());
    }

    /// The far end of its cable. What it sends from here on is to be taken there.
    pub fn far_end(&mut self) -> FarEnd {
        FarEnd {
            to: self.inbox.clone(),
            from: self.peer.insert(Inbox::default()).clone(),
            attention: self.attention.get_or_insert_default().clone(),
        }
    }

    fn receive(&self, chain: &mut Chain<'_>, now: Femtoseconds) -> Result<u64, Malformed> {
        let mut frames = self.inbox.frames();
        let Some((_, frame)) = frames.pop_front_if(|(time, _)| *time <= now) else {
            // It is asked only when one is there.
            return Err(Malformed);
        };
        let mut header = [0; HEADER as usize];
        header[BUFFERS] = 1;
        chain.write(0, &header)?;
        // Section 5.1.6.3.1: the driver's buffers have room for the longest frame.
        chain.write(HEADER, &frame)?;
        Ok(HEADER + frame.len() as u64)
    }

    fn send(&self, chain: &mut Chain<'_>, now: Femtoseconds) -> Result<Femtoseconds, Malformed> {
        let length = chain.readable().checked_sub(HEADER).ok_or(Malformed)? as usize;
        if !(1..=FRAME_MAX).contains(&length) {
            return Err(Malformed);
        }
        let mut frame = vec![0; length];
        chain.read(HEADER, &mut frame)?;
        let latency = REQUEST.saturating_add(Femtoseconds(BYTE * length as u64));
        if let Some(sent) = &self.sent {
            sent.with(|frames| frames.push((now, frame.clone())));
        }
        if let Some(peer) = &self.peer {
            peer.push(now.saturating_add(latency), frame);
        }
        Ok(latency)
    }
}

impl Backend for Net {
    fn id(&self) -> u32 {
        VIRTIO_ID_NET
    }

    fn features(&self) -> u64 {
        1 << VIRTIO_NET_F_MAC | 1 << VIRTIO_NET_F_STATUS
    }

    fn queues(&self) -> usize {
        2
    }

    fn config(&self) -> Vec<u8> {
        let mut config = self.mac.to_vec();
        config.extend((VIRTIO_NET_S_LINK_UP as u16).to_le_bytes());
        config
    }

    fn ready(&self, queue: usize) -> Femtoseconds {
        if queue != RECEIVE {
            return Femtoseconds::default();
        }
        let frames = self.inbox.frames();
        frames
            .front()
            .map_or(Femtoseconds::NEVER, |(time, _)| *time)
    }

    fn attention(&self) -> Option<Arc<AtomicBool>> {
        self.attention.clone()
    }

    fn serve(
        &mut self,
        queue: usize,
        chain: &mut Chain<'_>,
        now: Femtoseconds,
    ) -> Result<Served, Malformed> {
        if queue == RECEIVE {
            return Ok(Served {
                written: self.receive(chain, now)? as u32,
                latency: REQUEST,
            });
        }
        Ok(Served {
            written: 0,
            latency: self.send(chain, now)?,
        })
    }

    fn save(&self) -> Vec<u8> {
        state::save(&*self.inbox.frames())
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), BadState> {
        let frames: VecDeque<Frame> = state::restore("net", bytes)?;
        let sound = frames
            .iter()
            .all(|(_, frame)| (1..=FRAME_MAX).contains(&frame.len()));
        state::require(sound, "net", "a frame cannot be")?;
        *self.inbox.frames() = frames;
        Ok(())
    }
}
