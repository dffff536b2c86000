//! The other end of the hostile guest's channel (`attack=ring`): sends and receives by rings and messages normally,
//! once in a millisecond, and at the end verifies that everything still works.
#![no_std]
#![no_main]

use tactus_guest::{
    channel::{Consumer, MessageError, Producer, ReceiveError, SendError},
    power, println, record, start, time, trap,
};
use tactus_guest_hostile::meeting::{self, MESSAGE_SIZE, Meeting, Phase, RECORDS};

tactus_guest::entry!(main);

/// Iterations of the work in a millisecond.
const TURNS: usize = 16;

/// Results of the work.
#[derive(Default)]
struct Counts {
    records: u64,
    restarts: u64,
    corrupt: u64,
    messages: u64,
}

fn main() {
    let meeting = Meeting::new(0).expect("the system gives it a channel");
    let (mut producer, mut consumer) = meeting.channel.rings().expect("its memory holds rings");
    let mut counts = Counts::default();
    trap::on_timer(|| {});
    while !meeting.is_at(Phase::Peace) {
        for turn in 0..TURNS {
            use_rings(&mut producer, &mut consumer, &mut counts, turn);
            use_messages(meeting, &mut counts, turn);
        }
        meeting.channel.ring();
        time::set_deadline(time::now() + time::hz() / 1000);
        trap::wait_for_interrupt();
    }
    let verdict = in_peace(meeting, &mut consumer, &mut counts);
    println!(
        "{} records, {} restarts, {} times nonsense, {} messages",
        counts.records, counts.restarts, counts.corrupt, counts.messages
    );
    record::metric("peer_records", counts.records, "count");
    record::metric("peer_restarts", counts.restarts, "count");
    record::metric("peer_corrupt", counts.corrupt, "count");
    record::metric("peer_messages", counts.messages, "count");
    match verdict {
        Ok(()) => record::pass(start::program()),
        Err(reason) => {
            record::fail(start::program(), reason);
            power::off_failed();
        }
    }
}

fn use_rings(
    producer: &mut Producer<'_>,
    consumer: &mut Consumer<'_>,
    counts: &mut Counts,
    turn: usize,
) {
    match producer.send(&[turn as u8; 700][..turn * 43]) {
        Ok(()) | Err(SendError::Full) => {}
        Err(SendError::Corrupt) => counts.corrupt += 1,
        Err(SendError::TooLong) => panic!("the ring has shrunk"),
    }
    let mut buffer = [0; 600];
    match consumer.receive(&mut buffer) {
        Ok(length) => {
            assert!(length <= buffer.len());
            counts.records += 1;
        }
        Err(ReceiveError::TooLong(length)) => {
            assert!(length > buffer.len() && length <= consumer.record_max());
            // The record may have been replaced or removed meanwhile.
            let _ = consumer.skip();
        }
        Err(ReceiveError::Restarted) => counts.restarts += 1,
        Err(ReceiveError::Corrupt) => counts.corrupt += 1,
        Err(ReceiveError::Empty) => {}
    }
}

fn use_messages(meeting: Meeting, counts: &mut Counts, turn: usize) {
    let channel = meeting.channel;
    let mut buffer = [0; MESSAGE_SIZE];
    match channel.receive(&mut buffer[..turn * 34], 0) {
        Ok(length) => {
            assert!(length <= turn * 34);
            counts.messages += 1;
        }
        Err(MessageError::TooLong(length)) => assert!(length > turn * 34),
        Err(MessageError::Timeout) => {}
        Err(error) => panic!("{error:?}"),
    }
    match channel.send(&buffer[..turn * 32], turn as u8, 0) {
        Ok(()) | Err(MessageError::Timeout) => {}
        Err(error) => panic!("{error:?}"),
    }
}

/// Verifies the channel: see [`Phase`].
fn in_peace(
    meeting: Meeting,
    consumer: &mut Consumer<'_>,
    counts: &mut Counts,
) -> Result<(), &'static str> {
    let mut buffer = [0; MESSAGE_SIZE];
    // Bounded to the slots of the queue: no VM sends now.
    while meeting.channel.receive(&mut buffer, 0).is_ok() {
        counts.messages += 1;
    }
    meeting.say(Phase::Drained);
    meeting.wait_for(Phase::Sent)?;
    let mut next = 0;
    // Errors are remains of the attack: each is reported once.
    for _ in 0..RECORDS + 4 {
        match consumer.receive(&mut buffer) {
            Ok(length) => {
                if buffer[..length] != meeting::record(next) {
                    return Err("a record is not the one that was sent");
                }
                next += 1;
            }
            Err(ReceiveError::Empty) => break,
            Err(_) => {}
        }
    }
    if next != RECORDS {
        return Err("a record is missing");
    }
    meeting.empty()?;
    meeting.fill()?;
    meeting.say(Phase::Received);
    Ok(())
}
