//! Values with units, as people write them.

use std::fmt;

/// Bytes of memory: `4096`, `"64KiB"`, `"16MiB"`, `"1GiB"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u64);

/// A physical or guest-physical address: `0x8000_0000`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address(pub u64);

/// A length of time in nanoseconds: `"10ms"`, `"500us"`, `"1s"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Nanoseconds(pub u64);

/// An Ethernet address of one station: `"02:00:00:00:00:01"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Station(pub [u8; 6]);

impl Station {
    /// The address that a text stands for; `None` for that of a group, whose first byte is odd.
    pub fn from_text(text: &str) -> Option<Self> {
        let mut bytes = [0; 6];
        let mut parts = text.split(':');
        for byte in &mut bytes {
            let part = parts.next()?;
            let plain = part.len() == 2 && part.bytes().all(|digit| digit.is_ascii_hexdigit());
            *byte = u8::from_str_radix(part, 16).ok().filter(|_| plain)?;
        }
        (parts.next().is_none() && bytes[0] & 1 == 0).then_some(Self(bytes))
    }
}

impl fmt::Display for Station {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0.map(|byte| format!("{byte:02x}"));
        f.write_str(&bytes.join(":"))
    }
}

/// A part of a whole in thousandths: `"10%"`, `"12.5%"`. It may be more than the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share(pub u32);

impl Share {
    /// All of it.
    pub const WHOLE: Self = Self(1000);

    /// The share that a text in percent stands for.
    pub fn from_text(text: &str) -> Option<Self> {
        let number = text.strip_suffix('%')?.trim_end();
        let (whole, tenths) = number.split_once('.').unwrap_or((number, "0"));
        let plain = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        if !plain(whole) || !plain(tenths) || tenths.len() != 1 {
            return None;
        }
        let tenths: u32 = tenths.parse().ok()?;
        let whole: u32 = whole.parse().ok()?;
        whole.checked_mul(10)?.checked_add(tenths).map(Self)
    }
}

/// In percent, with a tenth where there is one.
impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 % 10 {
            0 => write!(f, "{} %", self.0 / 10),
            tenths => write!(f, "{}.{tenths} %", self.0 / 10),
        }
    }
}

const SIZE_UNITS: [(&str, u64); 4] = [
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("B", 1),
];
const TIME_UNITS: [(&str, u64); 4] = [
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// A whole number directly or after spaces followed by one of the units.
fn with_unit(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = text[digits.len()..].trim_start();
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    plain
        .then(|| digits.replace('_', ""))?
        .parse::<u64>()
        .ok()?
        .checked_mul(*factor)
}

impl Size {
    /// The size that a text with a binary unit stands for.
    pub fn from_text(text: &str) -> Option<Self> {
        with_unit(text, &SIZE_UNITS).map(Self)
    }
}

impl Nanoseconds {
    /// The time that a text with a unit stands for.
    pub fn from_text(text: &str) -> Option<Self> {
        with_unit(text, &TIME_UNITS).map(Self)
    }
}

fn write_with_unit(f: &mut fmt::Formatter<'_>, value: u64, units: &[(&str, u64)]) -> fmt::Result {
    let whole = |&&(_, factor): &&(&str, u64)| value >= factor && value.is_multiple_of(factor);
    let (unit, factor) = units.iter().find(whole).unwrap_or(&units[units.len() - 1]);
    write!(f, "{} {unit}", value / factor)
}

/// With the largest unit that leaves a whole number.
impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_with_unit(f, self.0, &SIZE_UNITS)
    }
}

/// With the largest unit that leaves a whole number.
impl fmt::Display for Nanoseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_with_unit(f, self.0, &TIME_UNITS)
    }
}

/// Hexadecimal, in groups of four digits as `system.toml` writes them.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = format!("{:x}", self.0);
        f.write_str("0x")?;
        for (i, digit) in digits.chars().enumerate() {
            if i > 0 && (digits.len() - i).is_multiple_of(4) {
                f.write_str("_")?;
            }
            write!(f, "{digit}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_are_read() {
        for (text, bytes) in [
            ("16MiB", Some(16 << 20)),
            ("1 GiB", Some(1 << 30)),
            ("4_096B", Some(4096)),
            ("0KiB", Some(0)),
            ("16MB", None),
            ("16", None),
            ("MiB", None),
            ("-1MiB", None),
            ("1.5MiB", None),
            ("1é", None),
            ("99999999999GiB", None),
        ] {
            assert_eq!(Size::from_text(text), bytes.map(Size), "{text}");
        }
    }

    #[test]
    fn shares_are_read() {
        for (text, share) in [
            ("10%", Some(100)),
            ("12.5 %", Some(125)),
            ("0%", Some(0)),
            ("250%", Some(2500)),
            ("10", None),
            ("%", None),
            ("12.%", None),
            ("12.55%", None),
            ("-1%", None),
            ("+1%", None),
            ("99999999999%", None),
        ] {
            assert_eq!(Share::from_text(text), share.map(Share), "{text}");
        }
    }

    #[test]
    fn addresses_are_grouped() {
        assert_eq!(Address(0x8020_0000).to_string(), "0x8020_0000");
        assert_eq!(Address(0x10_0000).to_string(), "0x10_0000");
        assert_eq!(Address(0x4_0000_0000).to_string(), "0x4_0000_0000");
        assert_eq!(Address(0).to_string(), "0x0");
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(value: u64) {
            prop_assert_eq!(Size::from_text(&Size(value).to_string()), Some(Size(value)));
            let time = Nanoseconds(value);
            prop_assert_eq!(Nanoseconds::from_text(&time.to_string()), Some(time));
            let share = Share(value as u32);
            prop_assert_eq!(Share::from_text(&share.to_string()), Some(share));
        }

        #[test]
        fn no_text_makes_it_panic(text: String) {
            let _ = (Size::from_text(&text), Nanoseconds::from_text(&text), Share::from_text(&text));
        }
    }
}
