//! A client of a disk that another VM emulates, which may crash meanwhile: it writes, discards, reads and flushes at
//! random, with requests in flight in all slots, and knows of each sector what is in it. Each write has a number of its
//! own; a discarded sector has to be zeroes.
//!
//! A request that ends twice, or that was done after a later one, is doubled; one that does not end, or whose data is
//! not on the disk, is lost. In some of the outages, in which the VM that has the disk does not serve, the client
//! gives up what is in flight and resets the device: a sector of a write that was given up is the old one or the new
//! one.
//!
//! Boot arguments: `requests=N` (400); `seed=N` (1); `slots=N` (8): requests that it announces at a time, at most;
//! `pause=N` (0): before these it waits up to so many microseconds; `outage=N` (200): a device that does not serve for
//! so many milliseconds serves no more; `resets=N` (2): it resets the device in one of so many outages, which a disk
//! that takes its time has, too; `discards=0`: it writes where it would discard.
#![no_std]
#![no_main]

use core::time::Duration;

use tactus_guest::{csr, devicetree, record, start, time, trap};
use tactus_guest_disk::{DATA, Driver, Ended, SECTOR, SEGMENT, SLOTS, kind};

tactus_guest::entry!(main);

/// Sectors that each slot's requests are about.
const SECTORS: usize = 16;
/// Sectors of a request, at most.
const MOST: usize = DATA / SECTOR;
/// Words of a sector.
const WORDS: usize = SECTOR / 8;
/// Milliseconds within which a device has to serve, unless the boot arguments say so.
const OUTAGE_MAX_MS: u64 = 200;

/// A request of a slot.
#[derive(Clone, Copy)]
struct Request {
    kind: u32,
    /// Within the slot's sectors.
    first: usize,
    count: usize,
    /// That of the write, or [`ZEROES`].
    number: u64,
}

impl Request {
    const fn changes_sectors(&self) -> bool {
        matches!(self.kind, kind::OUT | kind::DISCARD | kind::WRITE_ZEROES)
    }
}

/// The number, in place of a write's, of sectors that were never written or were discarded since.
const ZEROES: u64 = 0;

/// What a sector has in it: the number of the last write, and of one that was given up since.
#[derive(Clone, Copy)]
struct Sector {
    number: u64,
    given_up: Option<u64>,
}

const NEVER_WRITTEN: Sector = Sector {
    number: ZEROES,
    given_up: None,
};

struct Journal {
    driver: Driver,
    /// In ticks.
    outage_max: u64,
    discards: bool,
    resets: usize,
    sectors: [[Sector; SECTORS]; SLOTS],
    requests: [Request; SLOTS],
    random: u64,
    numbers: u64,
    done: u64,
    lost: u64,
    doubled: u64,
    failed: u64,
    outages: u64,
    /// The longest time from a notification until a request has ended, or the device was reset; in ticks.
    longest: u64,
    /// The longest time of a round, from the notification to the end of the device's interrupt; in ticks.
    round_max: u64,
}

fn main() {
    let Some(driver) = Driver::find() else {
        record::give_up("there is no disk");
    };
    let outage_max = Duration::from_millis(devicetree::number("outage", OUTAGE_MAX_MS));
    let mut journal = Journal {
        driver,
        outage_max: time::ticks(outage_max),
        discards: devicetree::number("discards", 1) != 0,
        resets: devicetree::number("resets", 2).max(1) as usize,
        sectors: [[NEVER_WRITTEN; SECTORS]; SLOTS],
        requests: [Request {
            kind: kind::FLUSH,
            first: 0,
            count: 0,
            number: 0,
        }; SLOTS],
        random: devicetree::number("seed", 1),
        numbers: 0,
        done: 0,
        lost: 0,
        doubled: 0,
        failed: 0,
        outages: 0,
        longest: 0,
        round_max: 0,
    };
    // SAFETY: interrupts stay off in `sstatus`: these end waits only.
    unsafe { csr::set::<{ csr::SIE }>(csr::INTERRUPT_TIMER | csr::INTERRUPT_EXTERNAL) };
    journal.begin();
    journal.try_the_end();
    record::phase("journal");
    journal.work(devicetree::number("requests", 400));
    record::phase("journal_end");
    journal.check_all();
    // What was flushed is there after a reset, too.
    journal.begin();
    journal.check_all();
    journal.report();
    record::pass(start::program());
}

impl Journal {
    /// Resets the device, and waits until its VM is there for it.
    fn begin(&mut self) {
        let end = time::now() + self.outage_max;
        while !self.driver.begin() {
            if time::now() >= end {
                record::give_up("the disk is never there");
            }
        }
    }

    fn random(&mut self, below: usize) -> usize {
        // splitmix64, as in `guests/hostile`.
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = mix(self.random);
        (mixed >> 8) as usize % below
    }

    /// The last sector can be written, and none behind it: neither by a request of that one nor by one that begins
    /// before it.
    fn try_the_end(&mut self) {
        let end = self.driver.capacity();
        for (sector, count, wanted) in [
            (end - 1, 1, 0),
            (end, 1, 1),
            (end - 1, 2, 1),
            (u64::MAX, 1, 1),
        ] {
            for of in [kind::OUT, kind::IN] {
                self.driver.add(0, of, sector, count * SECTOR);
                if self.wait_for_one() != Some(wanted) {
                    record::give_up("the disk's end");
                }
            }
        }
    }

    /// The only request in flight: its status, or `None` when it was given up.
    fn wait_for_one(&mut self) -> Option<u8> {
        let mut status = None;
        let end = time::now() + self.outage_max;
        self.driver.notify();
        while status.is_none() && time::now() < end {
            self.driver.interrupted(|_, ended| {
                if let Ended::Slot(_, found) = ended {
                    status = Some(found);
                }
            });
        }
        status
    }

    fn work(&mut self, requests: u64) {
        let slots = SLOTS.min(devicetree::number("slots", SLOTS as u64) as usize);
        let pause_us = devicetree::number("pause", 0) as usize;
        let mut added = 0;
        while added < requests || self.driver.is_any_busy() {
            for slot in 0..slots {
                if !self.driver.is_busy(slot) && added < requests {
                    self.add(slot);
                    added += 1;
                }
            }
            if pause_us > 0 {
                let pause = Duration::from_micros(self.random(pause_us) as u64);
                time::busy_wait(time::ticks(pause));
            }
            let since = time::now();
            self.driver.notify();
            self.wait(since);
        }
        // All of it is on the disk.
        self.driver.add(0, kind::FLUSH, 0, 0);
        if self.wait_for_one() != Some(0) {
            record::give_up("a flush");
        }
    }

    fn add(&mut self, slot: usize) {
        let kind = match self.random(10) {
            0 => kind::FLUSH,
            1 if self.discards => kind::DISCARD,
            2 if self.discards => kind::WRITE_ZEROES,
            3..6 => kind::IN,
            _ => kind::OUT,
        };
        let first = self.random(SECTORS);
        let count = match kind {
            kind::FLUSH => 0,
            _ => 1 + self.random(MOST.min(SECTORS - first)),
        };
        self.numbers += 1;
        let (number, bytes) = match kind {
            kind::DISCARD | kind::WRITE_ZEROES => (ZEROES, SEGMENT),
            _ => (self.numbers, count * SECTOR),
        };
        for sector in 0..count {
            for word in 0..WORDS {
                let content = match kind {
                    kind::OUT => content(number, at(slot, first + sector), word),
                    _ => u64::MAX,
                };
                Driver::set_word(slot, sector * WORDS + word, content);
            }
        }
        if number == ZEROES {
            Driver::set_word(slot, 0, at(slot, first));
            Driver::set_word(slot, 1, count as u64);
        }
        self.requests[slot] = Request {
            kind,
            first,
            count,
            number,
        };
        self.driver.add(slot, kind, at(slot, first), bytes);
    }

    /// Waits until a request of the round that was announced at `since` has ended, or an outage has.
    fn wait(&mut self, since: u64) {
        let end = since + self.outage_max;
        let done = self.done;
        let mut is_first = true;
        while self.done == done && self.driver.is_any_busy() {
            if time::now() >= end {
                self.lost += u64::from(self.driver.is_any_busy());
                record::give_up("requests do not end");
            }
            let mut ended: [Option<Ended>; 2 * SLOTS] = [None; 2 * SLOTS];
            let mut count = 0;
            let was_interrupted = self.driver.interrupted(|_, one| {
                if let Some(place) = ended.get_mut(count) {
                    *place = Some(one);
                }
                count += 1;
            });
            self.round_max = self.round_max.max(time::now() - since);
            for one in ended.into_iter().flatten() {
                self.end(one);
            }
            if !was_interrupted && is_first {
                // The notification was lost: it would have served all.
                is_first = false;
                self.outages += 1;
                if self.random(self.resets) == 0 {
                    self.give_up_all();
                    self.longest = self.longest.max(time::now() - since);
                    self.check_all();
                    return;
                }
            }
            if !was_interrupted {
                time::set_deadline(end);
                trap::wait_for_interrupt();
                time::set_deadline(time::NEVER);
            }
        }
        self.longest = self.longest.max(time::now() - since);
    }

    fn end(&mut self, ended: Ended) {
        let Ended::Slot(slot, status) = ended else {
            self.doubled += 1;
            return;
        };
        let request = self.requests[slot];
        self.done += 1;
        if status != 0 {
            self.failed += 1;
        }
        let sectors = request.first..request.first + request.count;
        if request.changes_sectors() {
            for sector in sectors {
                self.sectors[slot][sector] = Sector {
                    number: request.number,
                    given_up: None,
                };
            }
        } else if request.kind == kind::IN {
            self.check(slot, request.first, request.count);
        }
    }

    /// Resets the device with requests in flight.
    fn give_up_all(&mut self) {
        for slot in 0..SLOTS {
            let request = self.requests[slot];
            if self.driver.is_busy(slot) && request.changes_sectors() {
                for sector in request.first..request.first + request.count {
                    self.sectors[slot][sector].given_up = Some(request.number);
                }
            }
        }
        self.begin();
    }

    /// Compares what a slot's request has read with what was written.
    fn check(&mut self, slot: usize, first: usize, count: usize) {
        for number in 0..count {
            let sector = &mut self.sectors[slot][first + number];
            let place = at(slot, first + number);
            let is = |write: u64| {
                (0..WORDS).all(|word| {
                    let found = Driver::word(slot, number * WORDS + word);
                    found == content(write, place, word)
                })
            };
            if let Some(given_up) = sector.given_up.take().filter(|write| is(*write)) {
                sector.number = given_up;
            } else if !is(sector.number) {
                // A whole sector of an earlier write is one that was done again.
                let found = Driver::word(slot, number * WORDS);
                if (1..=self.numbers).any(|write| found == content(write, place, 0)) {
                    self.doubled += 1;
                } else {
                    self.lost += 1;
                }
            }
        }
    }

    /// Reads all that was written.
    fn check_all(&mut self) {
        for slot in 0..SLOTS {
            for first in (0..SECTORS).step_by(MOST) {
                self.driver
                    .add(slot, kind::IN, at(slot, first), MOST * SECTOR);
                match self.wait_for_one() {
                    Some(0) => self.check(slot, first, MOST),
                    _ => record::give_up("a sector cannot be read"),
                }
            }
        }
    }

    fn report(&self) {
        let us = |ticks: u64| ticks * 1_000_000 / time::hz();
        record::metric("requests_done", self.done, "count");
        record::metric("requests_lost", self.lost, "count");
        record::metric("requests_doubled", self.doubled, "count");
        record::metric("requests_failed", self.failed, "count");
        record::metric("outages", self.outages, "count");
        record::metric("outage_max", us(self.longest), "us");
        record::metric("round_max", us(self.round_max), "us");
        if self.lost + self.doubled + self.failed != 0 {
            record::give_up("requests were lost, doubled or failed");
        }
    }
}

/// A slot's sector of that number, on the disk.
const fn at(slot: usize, sector: usize) -> u64 {
    (slot * SECTORS + sector) as u64
}

/// A word of a sector by a write, or of one of [`ZEROES`].
fn content(write: u64, sector: u64, word: usize) -> u64 {
    match write {
        ZEROES => 0,
        _ => mix(write << 32 | sector << 8 | word as u64),
    }
}

const fn mix(of: u64) -> u64 {
    let mut z = of;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
