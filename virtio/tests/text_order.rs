//! Protocol Q2 in all interleavings that the memory model allows: what an index announces is there, and what the reader
//! has not read is not overwritten.
//!
//! ```console
//! $ RUSTFLAGS="--cfg loom" cargo test --release -p tactus-virtio --test text_order
//! ```
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU16, Ordering};
use loom::thread;
use tactus_virtio::memory::{Memory, Outside};
use tactus_virtio::text::{CAPACITY, Mark, Ring};

const END: u64 = 0;
const BEGINNING: u64 = 64;
const MARK: u64 = 8;
const BYTES: u64 = 128;
const LAST: u64 = BYTES + CAPACITY as u64 - 1;

/// What the two sides share: the indices, the mark, and the first and the last byte of the ring, whose accesses loom
/// checks. The bytes between are there from the beginning on.
struct Shared {
    end: AtomicU16,
    beginning: AtomicU16,
    mark: UnsafeCell<[u8; 8]>,
    first: UnsafeCell<u8>,
    last: UnsafeCell<u8>,
}

#[derive(Clone)]
struct Side(Arc<Shared>);

impl Side {
    fn byte(&self, address: u64) -> Option<&UnsafeCell<u8>> {
        match address {
            BYTES => Some(&self.0.first),
            LAST => Some(&self.0.last),
            _ => None,
        }
    }
}

impl Memory for Side {
    fn read(&self, address: u64, to: &mut [u8]) -> Result<(), Outside> {
        if address == MARK {
            // SAFETY: loom checks that no other side writes meanwhile.
            self.0
                .mark
                .with(|mark| to.copy_from_slice(unsafe { &*mark }));
            return Ok(());
        }
        for (address, to) in (address..).zip(to) {
            if let Some(byte) = self.byte(address) {
                // SAFETY: as above.
                *to = byte.with(|byte| unsafe { *byte });
            }
        }
        Ok(())
    }

    fn write(&self, address: u64, from: &[u8]) -> Result<(), Outside> {
        if address == MARK {
            // SAFETY: as above.
            let copy = |mark: *mut [u8; 8]| unsafe { &mut *mark }.copy_from_slice(from);
            self.0.mark.with_mut(copy);
            return Ok(());
        }
        for (address, from) in (address..).zip(from) {
            if let Some(byte) = self.byte(address) {
                // SAFETY: as above.
                byte.with_mut(|byte| unsafe { *byte = *from });
            }
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

/// All but the last byte wait. The writer writes that, and the first one again when there is room; the reader reads
/// all.
#[test]
fn what_waits_is_there_and_stays() {
    loom::model(|| {
        let shared = Arc::new(Shared {
            end: AtomicU16::new(CAPACITY as u16 - 1),
            beginning: AtomicU16::new(0),
            mark: UnsafeCell::new([0; 8]),
            first: UnsafeCell::new(7),
            last: UnsafeCell::new(0),
        });
        let writer = Ring::new(Side(Arc::clone(&shared)));
        let writer = thread::spawn(move || {
            for byte in [8, 9] {
                while writer.room() == 0 {
                    thread::yield_now();
                }
                writer.write(&[byte], Mark::default());
            }
        });
        let reader = Ring::new(Side(shared));
        let mut byte = [0];
        assert_eq!((reader.peek(0, &mut byte), byte), (1, [7]));
        // All that waits but for the last byte, and then what comes.
        reader.skip(CAPACITY - 1);
        for wanted in [8, 9] {
            while reader.peek(0, &mut byte) == 0 {
                thread::yield_now();
            }
            assert_eq!(byte, [wanted]);
            reader.skip(1);
        }
        writer.join().expect("it has ended");
    });
}
