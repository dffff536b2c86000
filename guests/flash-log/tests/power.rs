//! Power that fails at any operation of the flash, and what the journal finds then.

use proptest::prelude::*;
use tactus_flash_log::{Failure, Flash, Journal, SECTOR, Settings};

/// Two sectors of flash that tear the operation that power fails in.
struct Part {
    bytes: Vec<u8>,
    /// Operations until power fails in one.
    left: u32,
    random: u64,
    /// A program is confirmed before it is carried out.
    lies: bool,
    /// Power has failed.
    off: bool,
}

/// There is no power.
#[derive(Debug, PartialEq)]
struct Off;

impl Part {
    fn random(&mut self) -> u8 {
        self.random = self
            .random
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        (self.random >> 56) as u8
    }

    /// A byte of which each bit is set with a probability of `share` eighths.
    fn some(&mut self, share: u8) -> u8 {
        if share == 8 {
            return 0xff;
        }
        (0..3).fold(0, |bits, place| {
            let random = self.random();
            if share >> place & 1 != 0 {
                bits | random
            } else {
                bits & random
            }
        })
    }

    /// Whether power fails in this operation.
    ///
    /// # Errors
    ///
    /// It has before.
    fn fails(&mut self) -> Result<bool, Off> {
        if self.off {
            return Err(Off);
        }
        self.left = self.left.saturating_sub(1);
        self.off = self.left == 0;
        Ok(self.off)
    }
}

impl Flash for &mut Part {
    type Error = Off;

    fn read(&mut self, address: u32, to: &mut [u8]) -> Result<(), Off> {
        to.copy_from_slice(&self.bytes[address as usize..][..to.len()]);
        Ok(())
    }

    fn program(&mut self, address: u32, bytes: &[u8]) -> Result<(), Off> {
        let fails = self.fails()?;
        let share = self.random() & 7;
        for (place, byte) in (address as usize..).zip(bytes) {
            let untouched = if fails {
                !self.some(share + u8::from(share == 7))
            } else {
                0
            };
            self.bytes[place] &= byte | untouched;
        }
        if fails && !self.lies {
            Err(Off)
        } else {
            Ok(())
        }
    }

    fn erase(&mut self, address: u32) -> Result<(), Off> {
        let fails = self.fails()?;
        let (share, erases) = (self.random() & 7, self.random() & 1 != 0);
        let (from, to) = (address as usize, (address + SECTOR) as usize);
        if !fails {
            self.bytes[from..to].fill(0xff);
            return Ok(());
        }
        for place in from..to {
            let some = self.some(share);
            self.bytes[place] = if erases {
                some
            } else {
                self.bytes[place] & !some
            };
        }
        Err(Off)
    }
}

/// Boots again and again, and power fails after so many operations each time: the numbers that were confirmed, and what
/// was found behind each loss. Ends with the first torn record.
fn boots(losses: &[u32], seed: u64, settings: Settings, lies: bool) -> (Vec<(u64, u64)>, bool) {
    let mut part = Part {
        bytes: vec![0xff; 2 * SECTOR as usize],
        left: 0,
        random: seed,
        lies,
        off: false,
    };
    let (mut confirmed, mut seen) = (0, Vec::new());
    for left in losses {
        (part.left, part.off) = (*left, false);
        match Journal::open(&mut part, settings) {
            Ok(mut journal) => {
                seen.push((confirmed, journal.found().last));
                loop {
                    match journal.append() {
                        Ok(number) => confirmed = number,
                        Err(Failure::Flash(Off)) => break,
                        Err(Failure::Torn) => unreachable!("it was written by itself"),
                    }
                }
            }
            Err(Failure::Flash(Off)) => {}
            Err(Failure::Torn) => return (seen, true),
        }
    }
    (part.left, part.off) = (u32::MAX, false);
    match Journal::open(&mut part, settings) {
        Ok(journal) => seen.push((confirmed, journal.found().last)),
        Err(Failure::Torn) => return (seen, true),
        Err(Failure::Flash(Off)) => unreachable!("there is power"),
    }
    (seen, false)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_confirmed_record_is_lost(
        losses in prop::collection::vec(1u32..40, 1..30), seed: u64, records in 1u32..12,
    ) {
        let settings = Settings { records, checks: true };
        let (seen, torn) = boots(&losses, seed, settings, false);
        prop_assert!(!torn);
        for (confirmed, found) in seen {
            prop_assert!(found >= confirmed, "{found} of {confirmed}");
        }
    }
}

/// Both mistakes are found: records without a checksum, and a flash that confirms too early.
#[test]
fn mistakes_are_found() {
    let (mut torn, mut lost) = (0, 0);
    for seed in 0..200 {
        let losses = [7, 9, 5, 12];
        let unchecked = Settings {
            records: 8,
            checks: false,
        };
        torn += u32::from(boots(&losses, seed, unchecked, false).1);
        let checked = Settings {
            records: 8,
            checks: true,
        };
        let (seen, _) = boots(&[4], seed, checked, true);
        lost += u32::from(seen.iter().any(|(confirmed, found)| found < confirmed));
    }
    assert!(torn > 20, "{torn}");
    assert!(lost > 100, "{lost}");
}
