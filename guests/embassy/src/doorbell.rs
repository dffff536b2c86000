//! Doorbells of channels as futures.

use core::future::poll_fn;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::Poll;

use embassy_sync::waitqueue::AtomicWaker;
use tactus_guest::abi::map::{CHANNEL_SOURCE, CHANNELS_MAX};
use tactus_guest::channel::Channel;
use tactus_guest::trap;

struct Bell {
    rung: AtomicBool,
    waker: AtomicWaker,
}

static BELLS: [Bell; CHANNELS_MAX as usize] = [const {
    Bell {
        rung: AtomicBool::new(false),
        waker: AtomicWaker::new(),
    }
}; CHANNELS_MAX as usize];

/// The bell of a PLIC source, if the source is a doorbell.
fn bell(source: u32) -> Option<&'static Bell> {
    let index = source.checked_sub(CHANNEL_SOURCE)?;
    BELLS.get(index as usize)
}

/// Enables doorbells as interrupts of the running vCPU.
pub(crate) fn enable() {
    trap::on_external(|source| {
        if let Some(bell) = bell(source) {
            bell.rung.store(true, Ordering::Release);
            bell.waker.wake();
        }
    });
}

/// The doorbell by which the other end of a channel rings this VM.
#[derive(Debug)]
pub struct Doorbell {
    source: u32,
}

impl Doorbell {
    /// The channel's doorbell, enabled as an interrupt of the calling vCPU. Only one task at a time may await it.
    pub fn of(channel: Channel) -> Self {
        channel.enable_interrupt(1);
        Self {
            source: channel.source(),
        }
    }

    /// Waits until the other end has rung since the last wait ended. Several rings in between count as one.
    pub async fn rung(&mut self) {
        let Some(bell) = bell(self.source) else {
            return;
        };
        poll_fn(|context| {
            bell.waker.register(context.waker());
            if bell.rung.swap(false, Ordering::Acquire) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }
}
