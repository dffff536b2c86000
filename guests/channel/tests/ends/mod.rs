//! Both libraries behind one interface, so that a test runs each against each.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::sync::atomic::AtomicU64;

use tactus_channel::{Consumer, End, Producer, ReceiveError, SendError};

/// The result of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
#[allow(dead_code, reason = "values come from C")]
pub enum Outcome {
    Ok,
    Full,
    Empty,
    TooLong,
    Restarted,
    Corrupt,
}

/// The language of a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    Rust,
    C,
}

/// Producer and consumer, each in each language.
pub const PAIRS: [(Language, Language); 4] = [
    (Language::Rust, Language::Rust),
    (Language::Rust, Language::C),
    (Language::C, Language::Rust),
    (Language::C, Language::C),
];

#[repr(C)]
#[derive(Clone, Copy)]
struct CRing {
    produced: *mut c_void,
    consumed: *mut c_void,
    records: *mut c_void,
    capacity: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CProducer {
    ring: CRing,
    epoch: u32,
    sequence: u32,
    consumed: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CConsumer {
    ring: CRing,
    epoch: u32,
    sequence: u32,
}

// SAFETY: the pointers lead only to atomics.
unsafe impl Send for CProducer {}
// SAFETY: as above.
unsafe impl Send for CConsumer {}

unsafe extern "C" {
    fn tactus_ring_open(
        memory: *const c_void,
        size: usize,
        end: u32,
        producer: *mut CProducer,
        consumer: *mut CConsumer,
    ) -> bool;
    fn tactus_ring_record_max(ring: *const CRing) -> usize;
    fn tactus_ring_begin(producer: *mut CProducer);
    fn tactus_ring_send(producer: *mut CProducer, record: *const u8, length: usize) -> Outcome;
    fn tactus_ring_receive(
        consumer: *mut CConsumer,
        buffer: *mut u8,
        capacity: usize,
        length: *mut usize,
    ) -> Outcome;
    fn tactus_ring_skip(consumer: *mut CConsumer, length: *mut usize) -> Outcome;
}

/// A producer in either language.
pub enum Sender<'a> {
    Rust(Producer<'a>),
    C(CProducer, PhantomData<&'a [AtomicU64]>),
}

/// A consumer in either language.
pub enum Receiver<'a> {
    Rust(Consumer<'a>),
    C(CConsumer, PhantomData<&'a [AtomicU64]>),
}

/// Starts an end in a language; `None`: the memory is too small.
pub fn open(
    language: Language,
    memory: &[AtomicU64],
    end: End,
) -> Option<(Sender<'_>, Receiver<'_>)> {
    match language {
        Language::Rust => {
            let (producer, consumer) = tactus_channel::open(memory, end)?;
            Some((Sender::Rust(producer), Receiver::Rust(consumer)))
        }
        Language::C => {
            let mut producer = std::mem::MaybeUninit::uninit();
            let mut consumer = std::mem::MaybeUninit::uninit();
            // SAFETY: the memory has the stated length; `true` means that both have been filled in.
            unsafe {
                tactus_ring_open(
                    memory.as_ptr().cast(),
                    size_of_val(memory),
                    end as u32,
                    producer.as_mut_ptr(),
                    consumer.as_mut_ptr(),
                )
                .then(|| {
                    (
                        Sender::C(producer.assume_init(), PhantomData),
                        Receiver::C(consumer.assume_init(), PhantomData),
                    )
                })
            }
        }
    }
}

impl Sender<'_> {
    pub fn record_max(&self) -> usize {
        match self {
            Self::Rust(producer) => producer.record_max(),
            // SAFETY: an open producer.
            Self::C(producer, _) => unsafe { tactus_ring_record_max(&raw const producer.ring) },
        }
    }

    pub fn begin(&mut self) {
        match self {
            Self::Rust(producer) => producer.begin(),
            // SAFETY: an open producer, whose memory is borrowed.
            Self::C(producer, _) => unsafe { tactus_ring_begin(producer) },
        }
    }

    pub fn send(&mut self, record: &[u8]) -> Outcome {
        match self {
            Self::Rust(producer) => match producer.send(record) {
                Ok(()) => Outcome::Ok,
                Err(SendError::Full) => Outcome::Full,
                Err(SendError::TooLong) => Outcome::TooLong,
                Err(SendError::Corrupt) => Outcome::Corrupt,
            },
            // SAFETY: as above, and a slice.
            Self::C(producer, _) => unsafe {
                tactus_ring_send(producer, record.as_ptr(), record.len())
            },
        }
    }
}

impl Receiver<'_> {
    /// The outcome, and the length if the call returns one.
    pub fn receive(&mut self, buffer: &mut [u8]) -> (Outcome, usize) {
        match self {
            Self::Rust(consumer) => rust(consumer.receive(buffer)),
            Self::C(consumer, _) => {
                let mut length = 0;
                // SAFETY: an open consumer, whose memory is borrowed, and a slice.
                let outcome = unsafe {
                    tactus_ring_receive(consumer, buffer.as_mut_ptr(), buffer.len(), &mut length)
                };
                (outcome, length)
            }
        }
    }

    /// As `receive`.
    pub fn skip(&mut self) -> (Outcome, usize) {
        match self {
            Self::Rust(consumer) => rust(consumer.skip()),
            Self::C(consumer, _) => {
                let mut length = 0;
                // SAFETY: an open consumer, whose memory is borrowed.
                (unsafe { tactus_ring_skip(consumer, &mut length) }, length)
            }
        }
    }
}

fn rust(result: Result<usize, ReceiveError>) -> (Outcome, usize) {
    match result {
        Ok(length) => (Outcome::Ok, length),
        Err(ReceiveError::Empty) => (Outcome::Empty, 0),
        Err(ReceiveError::TooLong(length)) => (Outcome::TooLong, length),
        Err(ReceiveError::Restarted) => (Outcome::Restarted, 0),
        Err(ReceiveError::Corrupt) => (Outcome::Corrupt, 0),
    }
}
