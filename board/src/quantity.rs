//! Numbers and sizes in profiles, which have to lie within bounds.

use serde::{Deserialize, Deserializer};

/// Reads an integer that must be `LOW` to `HIGH`.
pub(crate) fn between<'de, D, T, const LOW: u64, const HIGH: u64>(
    deserializer: D,
) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: TryFrom<u64>,
{
    let value = i64::deserialize(deserializer)?;
    u64::try_from(value)
        .ok()
        .filter(|value| (LOW..=HIGH).contains(value))
        .and_then(|value| T::try_from(value).ok())
        .ok_or_else(|| serde::de::Error::custom(format!("must be {LOW} to {HIGH}, not {value}")))
}

/// Reads a size: a number with the unit B, KiB, MiB or GiB.
pub(crate) fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let text = String::deserialize(deserializer)?;
    let digits = text.trim_end_matches(|character: char| !character.is_ascii_digit());
    let unit = match text[digits.len()..].trim_start() {
        "B" => Some(0),
        "KiB" => Some(10),
        "MiB" => Some(20),
        "GiB" => Some(30),
        _ => None,
    };
    unit.and_then(|shift| {
        digits
            .replace('_', "")
            .parse::<u64>()
            .ok()?
            .checked_mul(1 << shift)
    })
    .filter(|&bytes| bytes > 0)
    .ok_or_else(|| {
        serde::de::Error::custom(format!(
            "must be a size such as \"32KiB\" (B, KiB, MiB, GiB), not \"{text}\""
        ))
    })
}
