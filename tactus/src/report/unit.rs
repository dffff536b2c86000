//! Units of what guests report, and figures in words.

use serde::{Serialize, Serializer};

/// The rates of a machine's clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clocks {
    /// Of the `time` CSR.
    pub timebase_hz: u64,
    /// Of the harts; `None` where cycles are no measure of time.
    pub clock_hz: Option<u64>,
}

/// Unit of a metric or of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    /// Nanoseconds.
    Nanoseconds,
    /// Microseconds.
    Microseconds,
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// Ticks of the platform's `time` CSR.
    Ticks,
    /// Instructions.
    Instructions,
    /// Cycles of the hart.
    Cycles,
    /// Bytes.
    Bytes,
    /// Things without a unit.
    Count,
    /// Hundredths.
    Percent,
}

const NAMES: [(&str, Unit); 10] = [
    ("ns", Unit::Nanoseconds),
    ("us", Unit::Microseconds),
    ("ms", Unit::Milliseconds),
    ("s", Unit::Seconds),
    ("ticks", Unit::Ticks),
    ("instructions", Unit::Instructions),
    ("cycles", Unit::Cycles),
    ("bytes", Unit::Bytes),
    ("count", Unit::Count),
    ("percent", Unit::Percent),
];

impl Unit {
    /// The unit that records and limits call `name`; `seconds` is taken for `s` as well.
    pub fn parse(name: &str) -> Option<Self> {
        if name == "seconds" {
            return Some(Self::Seconds);
        }
        NAMES
            .iter()
            .find_map(|(known, unit)| (*known == name).then_some(*unit))
    }

    /// Its name in records.
    pub fn name(self) -> &'static str {
        NAMES
            .iter()
            .find_map(|(name, unit)| (*unit == self).then_some(*name))
            .unwrap_or_default()
    }

    /// What people are shown of it: its name, and µs for microseconds.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Microseconds => "µs",
            _ => self.name(),
        }
    }

    /// Nanoseconds in one of it, for units of time.
    pub fn nanoseconds(self, clocks: Clocks) -> Option<f64> {
        match self {
            Self::Nanoseconds => Some(1.0),
            Self::Microseconds => Some(1e3),
            Self::Milliseconds => Some(1e6),
            Self::Seconds => Some(1e9),
            Self::Ticks => Some(1e9 / clocks.timebase_hz as f64),
            Self::Cycles => clocks.clock_hz.map(|hz| 1e9 / hz as f64),
            Self::Instructions | Self::Bytes | Self::Count | Self::Percent => None,
        }
    }

    /// A value of this unit in `target`; `None` where it has none there.
    pub fn convert(self, value: f64, target: Self, clocks: Clocks) -> Option<f64> {
        self.factor_to(target, clocks).map(|factor| value * factor)
    }

    /// The factor that turns values of this unit into `target`; `None` where there is none.
    pub fn factor_to(self, target: Self, clocks: Clocks) -> Option<f64> {
        if self == target {
            return Some(1.0);
        }
        Some(self.nanoseconds(clocks)? / target.nanoseconds(clocks)?)
    }
}

impl Serialize for Unit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A figure with as many digits as help: whole numbers whole, others to four significant ones;
/// thousands apart.
pub fn figure(value: f64) -> String {
    if value == value.trunc() && value.abs() < 1e15 {
        return grouped(value as i64);
    }
    let magnitude = value.abs().log10().floor();
    if !(-6.0..15.0).contains(&magnitude) {
        return format!("{value:.3e}");
    }
    let decimals = (3.0 - magnitude).clamp(0.0, 9.0) as usize;
    let text = format!("{value:.decimals$}");
    let Some((whole, fraction)) = text.split_once('.') else {
        return text.parse().map_or(text, grouped);
    };
    match (whole.parse(), fraction.trim_end_matches('0')) {
        (Ok(whole), "") => grouped(whole),
        (Ok(0), fraction) if value < 0.0 => format!("-0.{fraction}"),
        (Ok(whole), fraction) => format!("{}.{fraction}", grouped(whole)),
        (Err(_), _) => text,
    }
}

fn grouped(value: i64) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut text = String::new();
    if value < 0 {
        text.push('-');
    }
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_become_time_by_the_timebase() {
        let mut clocks = Clocks {
            timebase_hz: 10_000_000,
            clock_hz: None,
        };
        let factor = |unit: Unit, clocks| unit.factor_to(Unit::Microseconds, clocks);
        assert_eq!(factor(Unit::Ticks, clocks), Some(0.1));
        assert_eq!(factor(Unit::Instructions, clocks), None);
        assert_eq!(factor(Unit::Cycles, clocks), None);
        clocks.clock_hz = Some(100_000_000);
        assert_eq!(factor(Unit::Cycles, clocks), Some(0.01));
        let convert = |from: Unit, to, value| from.convert(value, to, clocks);
        let (cycles, us) = (Unit::Cycles, Unit::Microseconds);
        assert_eq!(convert(cycles, us, 350.0), Some(3.5));
        assert_eq!(convert(us, cycles, 3.5), Some(350.0));
        assert_eq!(convert(us, us, 0.1), Some(0.1));
        assert_eq!(convert(Unit::Bytes, us, 1.0), None);
        for (name, unit) in NAMES {
            assert_eq!(Unit::parse(name), Some(unit));
            assert_eq!(unit.name(), name);
        }
    }

    #[test]
    fn figures_are_readable() {
        for (value, text) in [
            (0.0, "0"),
            (120.0, "120"),
            (785_088.0, "785,088"),
            (-49_564.0, "-49,564"),
            (0.0425, "0.0425"),
            (-0.5, "-0.5"),
            (9.9999, "10"),
            (12.345_678, "12.35"),
            (1234.56, "1,235"),
            (98_765.4, "98,765"),
            (1e-9, "1.000e-9"),
        ] {
            assert_eq!(figure(value), text);
        }
    }
}
