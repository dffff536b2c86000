//! One end of a channel, which proves itself with the program at the other end: FreeRTOS with the C libraries
//! (`guests/freertos/app/channel.c`). `systems/channel.toml` says how large everything is.
//!
//! What is to be done next goes to the other end as a record by the ring: its first byte is a [`Command`].
#![no_std]
#![no_main]

use core::slice;
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use tactus_guest::channel::{
    Channel, Consumer, FOR_EVER, MessageError, Producer, ReceiveError, SendError,
};
use tactus_guest::{devicetree, interrupts, println, record, sbi, start, time, trap};

tactus_guest::entry!(main);

/// What the other end is asked for. The same in `guests/freertos/app/channel.c`.
#[derive(Clone, Copy)]
#[repr(u8)]
enum Command {
    /// Send this record back, each byte but the first inverted.
    Echo = 1,
    /// Send a message for each byte that follows, with it as priority; its bytes are its place among them.
    Send = 2,
    /// Receive all messages there are, after a while, and send back how many there were and whether they were in order.
    Drain = 3,
    /// Send one message, after a while.
    SendLater = 4,
    /// Start your end of the rings again.
    Restart = 5,
    /// That was all.
    End = 6,
}

/// Messages that wait at an end, and the bytes of one (`systems/channel.toml`).
const MESSAGES: usize = 4;
const MESSAGE_SIZE: usize = 1024;
/// Records echoed.
const RECORDS: usize = 2_000;

static RUNG: AtomicU32 = AtomicU32::new(0);

fn main() {
    let channel = Channel::find(0).expect("the system gives it a channel");
    trap::on_external(|source| {
        if source == tactus_guest::abi::map::CHANNEL_SOURCE {
            RUNG.fetch_add(1, Ordering::Relaxed);
        }
    });
    if devicetree::number("page", 0) != 0 {
        interrupts::use_page().expect("it is a VM");
    }
    channel.enable_interrupt(1);
    let (producer, consumer) = channel.rings().expect("its memory holds rings");
    let mut peer = Peer {
        channel,
        producer,
        consumer,
    };
    // It starts at its own pace; what it had not asked for is what it begins with.
    for (name, test) in [
        ("ring_echo", echo as fn(&mut Peer)),
        ("ring_restart", restart),
        ("message_errors", errors),
        ("message_order", order),
        ("message_full", full),
        ("message_wait", wait),
    ] {
        println!("{name}");
        test(&mut peer);
        record::pass(name);
    }
    peer.command(&[Command::End as u8]);
    record::metric("doorbells", RUNG.load(Ordering::Relaxed), "count");
    record::pass(start::program());
}

/// The other end, and the way to it.
struct Peer {
    channel: Channel,
    producer: Producer<'static>,
    consumer: Consumer<'static>,
}

impl Peer {
    /// Sends a record, which has room.
    fn command(&mut self, record: &[u8]) {
        assert_eq!(self.producer.send(record), Ok(()));
        self.channel.ring();
    }

    /// Waits for a record.
    fn answer(&mut self, buffer: &mut [u8]) -> usize {
        loop {
            let length = trap::without_interrupts(|| match self.consumer.receive(buffer) {
                Ok(length) => Some(length),
                Err(ReceiveError::Empty) => {
                    // A doorbell that rings from now on ends this at once.
                    trap::wait_for_interrupt();
                    None
                }
                Err(error) => panic!("{error:?}"),
            });
            if let Some(length) = length {
                return length;
            }
            trap::enable_interrupts();
            trap::disable_interrupts();
        }
    }

    /// Sends a command and waits for the answer, a byte.
    fn ask(&mut self, record: &[u8]) -> u8 {
        self.command(record);
        let mut answer = [0; 8];
        assert_eq!(self.answer(&mut answer), 1);
        answer[0]
    }
}

/// Records of all lengths and alignments, several of them under way, often round the end of the ring.
fn echo(peer: &mut Peer) {
    let record_max = peer.producer.record_max();
    assert_eq!(
        peer.producer.send(&[0; 8192][..record_max + 1]),
        Err(SendError::TooLong)
    );
    let length = |number: usize| 1 + number * 89 % record_max.min(1000);
    let byte = |number: usize, index: usize| (number * 7 + index) as u8;
    let mut buffer = [0u8; 1100];
    let (mut sent, mut received) = (0, 0);
    while received < RECORDS {
        while sent < RECORDS {
            let record = &mut buffer[sent % 8..][..length(sent)];
            record[0] = Command::Echo as u8;
            for (index, value) in record.iter_mut().enumerate().skip(1) {
                *value = byte(sent, index);
            }
            match peer.producer.send(record) {
                Ok(()) => sent += 1,
                Err(SendError::Full) => break,
                Err(error) => panic!("{error:?}"),
            }
        }
        peer.channel.ring();
        let got = peer.answer(&mut buffer[received % 8..]);
        let record = &buffer[received % 8..][..got];
        assert_eq!(got, length(received));
        for (index, value) in record.iter().enumerate().skip(1) {
            assert_eq!(*value, !byte(received, index), "record {received}");
        }
        received += 1;
    }
    record::metric("records", received as u64, "count");
}

/// Either end restarts; the other is told, once.
fn restart(peer: &mut Peer) {
    peer.command(&[Command::Restart as u8]);
    let begin = time::now();
    loop {
        match peer.consumer.receive(&mut [0; 8]) {
            Err(ReceiveError::Restarted) => break,
            other => assert_eq!(other, Err(ReceiveError::Empty)),
        }
        assert!(time::now() - begin < time::hz(), "not told in a second");
    }
    assert_eq!(peer.ask(&[Command::Drain as u8]), 0);
    // The other end tells it by not failing: it begins with what it finds.
    peer.producer.begin();
    assert_eq!(peer.ask(&[Command::Drain as u8]), 0);
}

fn ticks(microseconds: u64) -> u64 {
    time::hz() * microseconds / 1_000_000
}

fn errors(peer: &mut Peer) {
    let channel = peer.channel;
    let mut buffer = [0; MESSAGE_SIZE];
    assert_eq!(channel.receive(&mut buffer, 0), Err(MessageError::Timeout));
    let begin = time::now();
    let wait = ticks(2_000);
    let waited = channel.receive(&mut buffer, wait);
    assert_eq!(waited, Err(MessageError::Timeout));
    assert!(time::now() - begin >= wait, "before its time");
    let invalid = Err(MessageError::Call(sbi::Error::InvalidParam));
    assert_eq!(channel.send(&[0; MESSAGE_SIZE + 1], 0, 0), invalid);
    // SAFETY: there is no such channel, and nothing is accessed.
    let absent = unsafe { Channel::at(7, 0, 0) };
    assert_eq!(absent.send(&[], 0, 0), invalid);
    assert_eq!(
        absent.receive(&mut [], 0),
        Err(MessageError::Call(sbi::Error::InvalidParam))
    );
    // SAFETY: a slice of what is not memory, which only the hypervisor looks at.
    let foreign = unsafe { core::slice::from_raw_parts(0x1000_0000 as *const u8, 8) };
    assert_eq!(
        channel.send(foreign, 0, 0),
        Err(MessageError::Call(sbi::Error::InvalidAddress))
    );
    // Nothing of all this has arrived.
    assert_eq!(peer.ask(&[Command::Drain as u8]), 0);
}

/// Higher priorities first, equal ones in order.
fn order(peer: &mut Peer) {
    assert_eq!(peer.ask(&[Command::Send as u8, 1, 200, 0, 200]), 4);
    // Over the end of a page, behind which another one may be elsewhere in the machine's memory.
    static PAGES: TwoPages = TwoPages([const { AtomicU8::new(0xff) }; 8192]);
    let inside = &PAGES.0[4096 - MESSAGE_SIZE / 2..][..MESSAGE_SIZE];
    // SAFETY: atomics are as bytes, and nothing else uses these until this ends.
    let buffer = unsafe { slice::from_raw_parts_mut(inside.as_ptr() as *mut u8, MESSAGE_SIZE) };
    assert_eq!(
        peer.channel.receive(&mut buffer[..3], 0),
        Err(MessageError::TooLong(MESSAGE_SIZE))
    );
    for expected in [1, 3, 0, 2] {
        let received = peer.channel.receive(buffer, 0);
        assert_eq!(received, Ok(MESSAGE_SIZE));
        assert!(
            buffer.iter().all(|byte| *byte == expected),
            "message {expected}"
        );
    }
    let received = peer.channel.receive(buffer, 0);
    assert_eq!(received, Err(MessageError::Timeout));
    let behind = &PAGES.0[4096 + MESSAGE_SIZE / 2..];
    let mut beside = PAGES.0[..4096 - MESSAGE_SIZE / 2].iter().chain(behind);
    assert!(beside.all(|byte| byte.load(Ordering::Relaxed) == 0xff));
}

/// Bytes that begin with a page.
#[repr(align(4096))]
struct TwoPages([AtomicU8; 8192]);

/// As many as there is room for, and one more that waits until the other end has taken one.
fn full(peer: &mut Peer) {
    let mut message = [0; MESSAGE_SIZE];
    for number in 0..MESSAGES {
        message[..4].copy_from_slice(&(number as u32).to_le_bytes());
        assert_eq!(peer.channel.send(&message, 7, 0), Ok(()));
    }
    assert_eq!(
        peer.channel.send(&message, 7, 0),
        Err(MessageError::Timeout)
    );
    peer.command(&[Command::Drain as u8]);
    message[..4].copy_from_slice(&(MESSAGES as u32).to_le_bytes());
    assert_eq!(peer.channel.send(&message, 7, FOR_EVER), Ok(()));
    let mut answer = [0; 8];
    assert_eq!(peer.answer(&mut answer), 1);
    let first = usize::from(answer[0]);
    // The last one came in time, or is still there.
    let second = usize::from(peer.ask(&[Command::Drain as u8]));
    assert_eq!(first + second, MESSAGES + 1);
}

/// A message that comes while it is waited for.
fn wait(peer: &mut Peer) {
    let mut buffer = [0; MESSAGE_SIZE];
    for _ in 0..20 {
        peer.command(&[Command::SendLater as u8]);
        let received = peer.channel.receive(&mut buffer, time::hz());
        assert_eq!(received, Ok(1));
        assert_eq!(buffer[0], 0x5a);
    }
}
