//! Protocol Q1 in all interleavings that the memory model allows: what an index announces is there.
//!
//! ```console
//! $ RUSTFLAGS="--cfg loom" cargo test --release -p tactus-virtio --test ring_order
//! ```
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU16, Ordering};
use loom::thread;
use tactus_virtio::memory::{Memory, Outside};
use tactus_virtio::queue::{Chain, Queue};

const DESCRIPTORS: u64 = 0;
const AVAILABLE: u64 = 0x100;
const USED: u64 = 0x200;
const BUFFER: u64 = 0x300;

/// What the two sides share: the indices, and the places that each is about, whose accesses loom checks.
struct Shared {
    /// The flags and index of the available ring, and the index of the used ring.
    flags: AtomicU16,
    available: AtomicU16,
    used: AtomicU16,
    descriptor: UnsafeCell<[u8; 16]>,
    available_entry: UnsafeCell<[u8; 2]>,
    used_entry: UnsafeCell<[u8; 8]>,
    buffer: UnsafeCell<[u8; 1]>,
}

impl Shared {
    fn read_from<const N: usize>(cell: &UnsafeCell<[u8; N]>, to: &mut [u8]) {
        // SAFETY: loom checks that no other side writes meanwhile.
        cell.with(|bytes| to.copy_from_slice(unsafe { &*bytes }));
    }

    fn write_to<const N: usize>(cell: &UnsafeCell<[u8; N]>, from: &[u8]) {
        // SAFETY: as above.
        cell.with_mut(|bytes| unsafe { &mut *bytes }.copy_from_slice(from));
    }
}

struct Side(Arc<Shared>);

impl Memory for Side {
    fn read(&self, address: u64, to: &mut [u8]) -> Result<(), Outside> {
        match address {
            DESCRIPTORS => Shared::read_from(&self.0.descriptor, to),
            0x104 => Shared::read_from(&self.0.available_entry, to),
            0x204 => Shared::read_from(&self.0.used_entry, to),
            BUFFER => Shared::read_from(&self.0.buffer, to),
            _ => return Err(Outside),
        }
        Ok(())
    }

    fn write(&self, address: u64, from: &[u8]) -> Result<(), Outside> {
        match address {
            DESCRIPTORS => Shared::write_to(&self.0.descriptor, from),
            0x104 => Shared::write_to(&self.0.available_entry, from),
            0x204 => Shared::write_to(&self.0.used_entry, from),
            BUFFER => Shared::write_to(&self.0.buffer, from),
            _ => return Err(Outside),
        }
        Ok(())
    }

    fn load_index(&self, address: u64) -> Result<u16, Outside> {
        match address {
            AVAILABLE => Ok(self.0.flags.load(Ordering::Acquire)),
            0x102 => Ok(self.0.available.load(Ordering::Acquire)),
            0x202 => Ok(self.0.used.load(Ordering::Acquire)),
            _ => Err(Outside),
        }
    }

    fn store_index(&self, address: u64, index: u16) -> Result<(), Outside> {
        match address {
            0x102 => self.0.available.store(index, Ordering::Release),
            0x202 => self.0.used.store(index, Ordering::Release),
            _ => return Err(Outside),
        }
        Ok(())
    }
}

/// The driver asks for a byte twice, by the same descriptor and buffer; the device gives another one each time.
#[test]
fn what_an_index_announces_is_there() {
    loom::model(|| {
        let shared = Arc::new(Shared {
            flags: AtomicU16::new(0),
            available: AtomicU16::new(0),
            used: AtomicU16::new(0),
            descriptor: UnsafeCell::new([0; 16]),
            available_entry: UnsafeCell::new([0; 2]),
            used_entry: UnsafeCell::new([0; 8]),
            buffer: UnsafeCell::new([0]),
        });
        let device = Side(Arc::clone(&shared));
        let device = thread::spawn(move || {
            let mut queue = Queue {
                size: 1,
                ready: true,
                descriptors: DESCRIPTORS,
                available: AVAILABLE,
                used: USED,
                next: 0,
            };
            for value in [7, 8] {
                let mut chain = Chain::EMPTY;
                while !queue
                    .peek(&device, &mut chain)
                    .expect("the driver is sound")
                {
                    thread::yield_now();
                }
                let [buffer] = chain.buffers() else {
                    panic!("another request than was announced");
                };
                assert_eq!(
                    (buffer.address, buffer.length, buffer.writable),
                    (BUFFER, 1, true)
                );
                device.write(BUFFER, &[value]).expect("it is there");
                queue.complete(&device, &chain, 1).expect("it is there");
            }
        });
        let driver = Side(shared);
        let mut descriptor = [0; 16];
        descriptor[..8].copy_from_slice(&BUFFER.to_le_bytes());
        // One byte, which the device writes.
        (descriptor[8], descriptor[12]) = (1, 2);
        for (round, value) in [(1, 7), (2, 8)] {
            driver.write(DESCRIPTORS, &descriptor).expect("it is there");
            driver.write(0x104, &[0, 0]).expect("it is there");
            driver.store_index(0x102, round).expect("it is there");
            while driver.load_index(0x202).expect("it is there") != round {
                thread::yield_now();
            }
            let (mut entry, mut byte) = ([0; 8], [0]);
            driver.read(0x204, &mut entry).expect("it is there");
            driver.read(BUFFER, &mut byte).expect("it is there");
            assert_eq!((u64::from_le_bytes(entry), byte), (1 << 32, [value]));
        }
        device.join().expect("it has ended");
    });
}
