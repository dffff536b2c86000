//! Values with units, as people write them.

use std::fmt;

/// Bytes of memory: `4096`, `"64KiB"`, `"16MiB"`, `"1GiB"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u64);

/// A physical or guest-physical address: `0x8000_0000`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address(pub u64);

/// A length of time in nanoseconds: `"10ms"`, `"812.5us"`, `"1s"`.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    serde::Serialize,
    serde::Deserialize,
)]
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

/// Colours of a cache, from the first to the last: `"0-7"`, `"3"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColourRange {
    /// The first one.
    pub first: u32,
    /// The last one; perhaps below the first.
    pub last: u32,
}

impl ColourRange {
    /// The colours that a text stands for.
    pub fn from_text(text: &str) -> Option<Self> {
        let number = |text: &str| {
            let digits = text.trim();
            let plain = digits.bytes().all(|b| b.is_ascii_digit());
            plain.then(|| digits.parse().ok())?
        };
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        Some(Self {
            first: number(first)?,
            last: number(last)?,
        })
    }
}

impl fmt::Display for ColourRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            write!(f, "{}", self.first)
        } else {
            write!(f, "{}-{}", self.first, self.last)
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

/// A positive number with decimals, times a factor, when that is a whole number.
fn times(number: &str, factor: u64) -> Option<u64> {
    let number = number.replace('_', "");
    let (whole, fraction) = match number.split_once('.') {
        Some((_, "")) => return None,
        Some((whole, fraction)) => (whole, fraction.trim_end_matches('0')),
        None => (number.as_str(), ""),
    };
    let digits = format!("{whole}{fraction}");
    if whole.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let scale = 10_u128.checked_pow(fraction.len().try_into().ok()?)?;
    let product = digits.parse::<u128>().ok()?.checked_mul(factor.into())?;
    product
        .is_multiple_of(scale)
        .then(|| (product / scale).try_into().ok())?
}

/// A text's number and its unit in lower case.
fn number_and_unit(text: &str) -> (&str, String) {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '_' && c != '.');
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    (number, unit.trim().to_lowercase())
}

/// The size that a text in another form was most likely meant to be, as it is written; and its unit: "MiB" of "16MB".
pub(super) fn meant_size(text: &str) -> Option<(String, &'static str)> {
    let (number, unit) = number_and_unit(text);
    let factor = match unit.as_str() {
        "k" | "kb" | "ki" | "kib" => 1 << 10,
        "m" | "mb" | "mi" | "mib" => 1 << 20,
        "g" | "gb" | "gi" | "gib" => 1 << 30,
        "t" | "tb" | "ti" | "tib" => 1 << 40,
        "b" | "byte" | "bytes" => 1,
        _ => return None,
    };
    meant(number, factor, &SIZE_UNITS)
}

/// The same of a time.
pub(super) fn meant_time(text: &str) -> Option<(String, &'static str)> {
    let (number, unit) = number_and_unit(text);
    let factor = match unit.as_str() {
        "s" | "sec" | "secs" | "second" | "seconds" => 1_000_000_000,
        "ms" | "msec" | "msecs" | "millisecond" | "milliseconds" => 1_000_000,
        "us" | "usec" | "usecs" | "\u{b5}s" | "\u{3bc}s" | "microsecond" | "microseconds" => 1_000,
        "ns" | "nsec" | "nsecs" | "nanosecond" | "nanoseconds" => 1,
        "min" | "minute" | "minutes" => 60_000_000_000,
        _ => return None,
    };
    meant(number, factor, &TIME_UNITS)
}

/// In the unit that was meant, or else in the largest that leaves a whole number.
fn meant(
    number: &str,
    factor: u64,
    units: &'static [(&'static str, u64)],
) -> Option<(String, &'static str)> {
    let value = times(number, factor)?;
    let whole = |factor: u64| value.is_multiple_of(factor);
    let own = units.iter().find(|(_, own)| *own == factor && whole(*own));
    let largest = || units.iter().find(|(_, factor)| whole(*factor));
    let (unit, factor) = own.or_else(largest)?;
    Some((format!("{}{unit}", value / factor), unit))
}

impl Size {
    /// The size that a text with a binary unit stands for.
    pub fn from_text(text: &str) -> Option<Self> {
        with_unit(text, &SIZE_UNITS).map(Self)
    }
}

impl Nanoseconds {
    /// The time that a text with a unit stands for: a whole number of nanoseconds.
    pub fn from_text(text: &str) -> Option<Self> {
        let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
        let unit = text[digits.len()..].trim_start();
        let (_, factor) = TIME_UNITS.iter().find(|(name, _)| *name == unit)?;
        times(digits, *factor).map(Self)
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
    fn other_units_are_understood() {
        for (text, meant) in [
            ("16MB", Some(("16MiB", "MiB"))),
            ("4 KB", Some(("4KiB", "KiB"))),
            ("1GB", Some(("1GiB", "GiB"))),
            ("64M", Some(("64MiB", "MiB"))),
            ("512k", Some(("512KiB", "KiB"))),
            ("16mib", Some(("16MiB", "MiB"))),
            ("1.5GiB", Some(("1536MiB", "MiB"))),
            ("2TiB", Some(("2048GiB", "GiB"))),
            ("100 bytes", Some(("100B", "B"))),
            ("1.3KiB", None),
            ("16", None),
            ("MB", None),
            ("-1MB", None),
            ("16 MOB", None),
            ("99999999999GB", None),
        ] {
            let meant = meant.map(|(text, unit)| (text.to_owned(), unit));
            assert_eq!(meant_size(text), meant, "{text}");
        }
        for (text, meant) in [
            ("10 msec", Some(("10ms", "ms"))),
            ("10MS", Some(("10ms", "ms"))),
            ("200\u{b5}s", Some(("200us", "us"))),
            ("1.5ms", Some(("1500us", "us"))),
            ("2min", Some(("120s", "s"))),
            ("0.3ns", None),
            ("10", None),
            ("10 h", None),
        ] {
            let meant = meant.map(|(text, unit)| (text.to_owned(), unit));
            assert_eq!(meant_time(text), meant, "{text}");
        }
    }

    #[test]
    fn colours_are_read() {
        for (text, colours) in [
            ("0-7", Some((0, 7))),
            ("3", Some((3, 3))),
            (" 4 - 5 ", Some((4, 5))),
            ("7-4", Some((7, 4))),
            ("", None),
            ("-3", None),
            ("3-", None),
            ("+1-2", None),
            ("1-2-3", None),
            ("0x1", None),
            ("99999999999", None),
        ] {
            let read = ColourRange::from_text(text);
            assert_eq!(
                read.map(|range| (range.first, range.last)),
                colours,
                "{text}"
            );
        }
    }

    #[test]
    fn times_are_read() {
        for (text, nanoseconds) in [
            ("10ms", Some(10_000_000)),
            ("812.3 us", Some(812_300)),
            ("1_000ns", Some(1000)),
            ("0.000000001s", Some(1)),
            ("429.4967295 s", Some(429_496_729_500)),
            ("0.5ns", None),
            (".5ms", None),
            ("5.ms", None),
            ("1.2.3ms", None),
            ("-1ms", None),
            ("10", None),
            ("ms", None),
            ("10MS", None),
            ("99999999999s", None),
        ] {
            assert_eq!(
                Nanoseconds::from_text(text),
                nanoseconds.map(Nanoseconds),
                "{text}"
            );
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
            let _ = (meant_size(&text), meant_time(&text));
        }

        /// What is proposed in place of another unit is accepted.
        #[test]
        fn what_was_meant_is_accepted(number in "[0-9]{1,6}([.][0-9]{0,3})?", unit in "(?i)[kmgt]?i?b?|[mun]?s(ec)?|min") {
            let text = format!("{number}{unit}");
            if let Some((meant, _)) = meant_size(&text) {
                prop_assert!(Size::from_text(&meant).is_some(), "{} of {}", meant, text);
            }
            if let Some((meant, _)) = meant_time(&text) {
                prop_assert!(Nanoseconds::from_text(&meant).is_some(), "{} of {}", meant, text);
            }
        }
    }
}
