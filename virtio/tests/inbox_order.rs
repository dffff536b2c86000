//! Protocol Q3 in all interleavings that the memory model allows: what the index of an inbox announces is there, and a
//! frame that the reader has not read is not overwritten.
//!
//! ```console
//! $ RUSTFLAGS="--cfg loom" cargo test --release -p tactus-virtio --test inbox_order
//! ```
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU16, Ordering};
use loom::thread;
use tactus_virtio::memory::{Memory, Outside};
use tactus_virtio::switch::FRAME_MAX;
use tactus_virtio::uplink::{INBOX, INBOX_MAX, Inbox};

const END: u64 = 0;
const BEGINNING: u64 = 64;
const FRAMES: u64 = 128;
const FRAME: u64 = (INBOX as u64 - FRAMES) / INBOX_MAX as u64;
const LAST: u64 = FRAMES + FRAME * (INBOX_MAX as u64 - 1);

/// What the two sides share: the indices, and the first and the last frame, each of its length and one byte, whose
/// accesses loom checks. The frames between are there from the beginning on, and empty.
struct Shared {
    end: AtomicU16,
    beginning: AtomicU16,
    first: UnsafeCell<[u8; 9]>,
    last: UnsafeCell<[u8; 9]>,
}

#[derive(Clone)]
struct Side(Arc<Shared>);

impl Side {
    /// The frame at an address, and the place in it.
    fn frame(&self, address: u64) -> Option<(&UnsafeCell<[u8; 9]>, usize)> {
        let within = |begin: u64| address.checked_sub(begin).filter(|at| *at <= 8);
        let first = within(FRAMES).map(|at| (&self.0.first, at as usize));
        first.or(within(LAST).map(|at| (&self.0.last, at as usize)))
    }
}

impl Memory for Side {
    fn read(&self, address: u64, to: &mut [u8]) -> Result<(), Outside> {
        if let Some((frame, at)) = self.frame(address) {
            // SAFETY: loom checks that no other side writes meanwhile.
            frame.with(|frame| to.copy_from_slice(unsafe { &(&*frame)[at..at + to.len()] }));
        }
        Ok(())
    }

    fn write(&self, address: u64, from: &[u8]) -> Result<(), Outside> {
        if let Some((frame, at)) = self.frame(address) {
            // SAFETY: as above.
            frame.with_mut(|frame| unsafe {
                (&mut *frame)[at..at + from.len()].copy_from_slice(from);
            });
        }
        Ok(())
    }

    fn load_index(&self, address: u64) -> Result<u16, Outside> {
        match address {
            END => Ok(self.0.end.load(Ordering::Acquire)),
            BEGINNING => Ok(self.0.beginning.load(Ordering::Acquire)),
            _ => Err(Outside),
        }
    }

    fn store_index(&self, address: u64, index: u16) -> Result<(), Outside> {
        match address {
            END => self.0.end.store(index, Ordering::Release),
            BEGINNING => self.0.beginning.store(index, Ordering::Release),
            _ => return Err(Outside),
        }
        Ok(())
    }
}

/// All frames but the last wait. The writer adds that, and the first one again when there is room; the reader takes
/// all.
#[test]
fn what_waits_is_there_and_stays() {
    loom::model(|| {
        let shared = Arc::new(Shared {
            end: AtomicU16::new(INBOX_MAX - 1),
            beginning: AtomicU16::new(0),
            first: UnsafeCell::new([1, 0, 0, 0, 0, 0, 0, 0, 7]),
            last: UnsafeCell::new([0; 9]),
        });
        let writer = Inbox::new(Side(Arc::clone(&shared)));
        let writer = thread::spawn(move || {
            for byte in [8, 9] {
                while !writer.push(&[byte]) {
                    thread::yield_now();
                }
            }
        });
        let reader = Inbox::new(Side(Arc::clone(&shared)));
        let mut frame = [0; FRAME_MAX];
        assert_eq!((reader.pop(&mut frame), frame[0]), (Some(1), 7));
        // As if it had taken the empty ones, one after the other.
        let behind = INBOX_MAX - 1;
        shared.beginning.store(behind, Ordering::Release);
        for wanted in [8, 9] {
            let length = loop {
                match reader.pop(&mut frame) {
                    Some(length) => break length,
                    None => thread::yield_now(),
                }
            };
            assert_eq!((length, frame[0]), (1, wanted));
        }
        writer.join().expect("it has ended");
    });
}
