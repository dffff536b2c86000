//! The card as smoltcp's device.

use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::time::Instant;
use tactus_network_card::{Card, FRAME_MAX, Registers};

/// A card, which may have broken.
pub(crate) struct Phy<R> {
    card: Card<R>,
    is_broken: bool,
}

impl<R: Registers> Phy<R> {
    pub(crate) const fn new(card: Card<R>) -> Self {
        Self {
            card,
            is_broken: false,
        }
    }

    pub(crate) const fn address(&self) -> [u8; 6] {
        self.card.address()
    }

    /// Acknowledges what the card may have interrupted for.
    pub(crate) fn look(&mut self) {
        self.is_broken |= self.card.acknowledge().is_err();
    }

    /// Whether the card is to be started again.
    pub(crate) const fn is_broken(&self) -> bool {
        self.is_broken
    }

    fn can_send(&mut self) -> bool {
        let can = self.card.can_send();
        self.is_broken |= can.is_err();
        can == Ok(true)
    }
}

/// A frame that has arrived.
pub(crate) struct Received {
    frame: [u8; FRAME_MAX],
    length: usize,
}

impl RxToken for Received {
    fn consume<T, F: FnOnce(&[u8]) -> T>(self, with: F) -> T {
        with(&self.frame[..self.length])
    }
}

/// Room for a frame.
pub(crate) struct Room<'p, R>(&'p mut Phy<R>);

impl<R: Registers> TxToken for Room<'_, R> {
    fn consume<T, F: FnOnce(&mut [u8]) -> T>(self, length: usize, with: F) -> T {
        // smoltcp keeps to the capabilities.
        let mut frame = [0; FRAME_MAX];
        let frame = &mut frame[..length];
        let result = with(frame);
        self.0.is_broken |= self.0.card.send(frame).is_err();
        result
    }
}

impl<R: Registers> Device for Phy<R> {
    type RxToken<'p>
        = Received
    where
        R: 'p;
    type TxToken<'p>
        = Room<'p, R>
    where
        R: 'p;

    fn receive(&mut self, _: Instant) -> Option<(Received, Room<'_, R>)> {
        // An answer needs room, too.
        if self.is_broken || !self.can_send() {
            return None;
        }
        let mut frame = [0; FRAME_MAX];
        match self.card.receive(&mut frame) {
            Ok(length) => {
                let length = length?;
                Some((Received { frame, length }, Room(self)))
            }
            Err(_) => {
                self.is_broken = true;
                None
            }
        }
    }

    fn transmit(&mut self, _: Instant) -> Option<Room<'_, R>> {
        (!self.is_broken && self.can_send()).then_some(Room(self))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ethernet;
        capabilities.max_transmission_unit = FRAME_MAX;
        capabilities
    }
}
