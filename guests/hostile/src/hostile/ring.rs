//! Channels: writes arbitrary data into the memory shared with `peer`, sends and receives messages in every way, and
//! ends meanwhile. Between the attacks, and at the end, it uses the channel correctly: then everything must work, and
//! slot for a message may be lost.

use core::sync::atomic::{AtomicU64, Ordering};

use tactus_guest::{
    channel::{Channel, FOR_EVER, MessageError},
    power, start, time,
};
use tactus_guest_hostile::meeting::{MESSAGE_SIZE, Meeting, Phase, RECORDS, record};

use super::{progress::Progress, random::Random};

/// Writes to the shared memory in one life.
const WRITES: u64 = 2_000;

/// The number of the life, for the second vCPU.
static LIFE: AtomicU64 = AtomicU64::new(0);

/// Attacks in `lives` lives, then verifies correct operation in one more.
pub fn attack(progress: Progress, lives: u64) {
    let meeting = Meeting::new(1).expect("the system gives the hostile guest such a channel");
    match progress.next(lives) {
        Some(life) => {
            LIFE.store(life, Ordering::Release);
            if let Err(error) = start::start_hart(1, messages) {
                progress.breach(format_args!("the second vCPU does not start: {error:?}"));
            }
            write(meeting.channel, life);
            power::restart()
        }
        None => {
            if let Err(what) = in_peace(meeting) {
                progress.breach(what);
            }
        }
    }
}

/// Writes an arbitrary word, a small change of the current word, or a plausible position.
fn write(channel: Channel, life: u64) {
    let mut random = Random::new(life);
    let mut rings = channel.rings();
    let (_, words) = channel.words().split_last().expect("it has a page");
    for step in 0..WRITES {
        let control = &words[random.next() as usize % 4 * 8];
        let any = &words[random.next() as usize % words.len()];
        match random.next() % 8 {
            0 => any.store(random.next(), Ordering::Relaxed),
            1 => any.store(random.next() >> (random.next() % 64), Ordering::Relaxed),
            2 => control.store(random.next(), Ordering::Relaxed),
            3 => control.store(any.load(Ordering::Relaxed), Ordering::Relaxed),
            4 => {
                control.fetch_add(random.next() % 4096, Ordering::Relaxed);
            }
            5 => {
                control.fetch_add((random.next() % 4) << 32, Ordering::Relaxed);
            }
            6 => rings = channel.rings(),
            _ => {
                if let Some((producer, consumer)) = &mut rings {
                    let length = random.next() as usize % 1100;
                    // Any result is accepted.
                    let _ = producer.send(&[step as u8; 1100][..length]);
                    let _ = consumer.receive(&mut [0; 1100][..length]);
                }
            }
        }
        if step % 64 == 0 {
            channel.ring();
            time::busy_wait(random.next() % 500);
        }
    }
}

/// Entry of the second vCPU: exchanges messages until the first one ends the life.
fn messages() -> ! {
    let channel = Meeting::new(1).expect("as before").channel;
    let life = LIFE.load(Ordering::Acquire);
    let mut random = Random::new(!life);
    let mut buffer = [0; MESSAGE_SIZE + 8];
    loop {
        let length = random.next() as usize % buffer.len();
        let timeout = random.choose(&[0, 1, 1000, FOR_EVER]);
        // In some lives this vCPU only waits.
        let sends = match life % 3 {
            0 => true,
            1 => false,
            _ => random.next().is_multiple_of(2),
        };
        if sends {
            let priority = random.next() as u8;
            let _ = channel.send(&buffer[..length], priority, timeout);
        } else {
            let _ = channel.receive(&mut buffer[..length], timeout);
        }
        // SAFETY: not read here: the hypervisor must refuse all addresses outside the VM's memory.
        let foreign = unsafe {
            let address =
                random.choose(&[0, 0x3000_1000, 0x7fff_ffff, 0x8040_0000 - 3, usize::MAX - 7]);
            core::slice::from_raw_parts(address.max(1) as *const u8, 8)
        };
        if channel.send(foreign, 0, 0).is_ok() {
            panic!("sent from {:p}", foreign.as_ptr());
        }
    }
}

/// Uses the channel correctly, together with the other end.
pub fn in_peace(meeting: Meeting) -> Result<(), &'static str> {
    let channel = meeting.channel;
    meeting.say(Phase::Peace);
    meeting.wait_for(Phase::Drained)?;
    let mut buffer = [0; MESSAGE_SIZE];
    // Bounded by the number of slots.
    while channel.receive(&mut buffer, 0) != Err(MessageError::Timeout) {}
    meeting.fill()?;
    let (mut producer, _) = channel.rings().ok_or("the rings do not open")?;
    for number in 0..RECORDS {
        // The first may be refused once, because of an earlier position of the other end.
        let sent = producer.send(&record(number));
        if sent.is_err() && producer.send(&record(number)).is_err() {
            return Err("a record is refused");
        }
    }
    meeting.say(Phase::Sent);
    meeting.wait_for(Phase::Received)?;
    meeting.empty()
}
