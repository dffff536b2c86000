//! Times and parts, as people read them.

use tactus_policy::reservation::{Kind, Reservation};

/// Ticks as a time, exactly, in the largest unit of which there is at least one: "812.3 us".
pub(crate) fn time_text(ticks: u64, hz: u32) -> String {
    let nanoseconds = u128::from(ticks) * 1_000_000_000 / u128::from(hz);
    let units = [("s", 9), ("ms", 6), ("us", 3), ("ns", 0)];
    let at_least_one = |(_, digits): &&(&str, u32)| nanoseconds >= 10_u128.pow(*digits);
    let &(unit, digits) = units.iter().find(at_least_one).unwrap_or(&units[3]);
    let one = 10_u128.pow(digits);
    let fraction = format!("{:0width$}", nanoseconds % one, width = digits as usize);
    let fraction = match digits {
        0 => "",
        _ => fraction.trim_end_matches('0'),
    };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{}{point}{fraction} {unit}", nanoseconds / one)
}

/// A reservation: "200 us of 1 ms, by 800 us".
pub(super) fn reservation_text(times: Reservation, hz: u32) -> String {
    let time = |ticks| time_text(ticks, hz);
    let text = format!("{} of {}", time(times.budget), time(times.period));
    if times.deadline == times.period {
        text
    } else {
        format!("{text}, by {}", time(times.deadline))
    }
}

/// What waiting does to a vCPU's jobs, as the description has it.
pub(crate) const fn kind_text(kind: Kind) -> &'static str {
    match kind {
        Kind::Server => "server",
        Kind::Periodic => "periodic",
    }
}

/// A part of a whole in percent, with two digits.
pub(crate) fn percent(part: f64) -> String {
    format!("{:.2} %", 100.0 * part)
}

/// Two parts of a whole in percent, of which the first is more, with as many digits as show it: two at least.
pub(super) fn percents_apart(more: f64, less: f64) -> [String; 2] {
    // A double has no more digits.
    let texts = |digits| [more, less].map(|part| format!("{:.digits$} %", 100.0 * part));
    let apart = (2..=13).map(texts).find(|[more, less]| more != less);
    apart.unwrap_or_else(|| texts(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_more_is_seen_to_be_more() {
        assert_eq!(percents_apart(0.9, 0.8), ["90.00 %", "80.00 %"]);
        assert_eq!(
            percents_apart(1.0 + 1.0 / f64::from(1 << 30), 1.0),
            ["100.0000001 %", "100.0000000 %"]
        );
    }

    #[test]
    fn times_are_exact() {
        for (ticks, text) in [
            (0, "0 ns"),
            (1, "100 ns"),
            (10, "1 us"),
            (8_123, "812.3 us"),
            (10_000, "1 ms"),
            (43_001, "4.3001 ms"),
            (u64::from(u32::MAX), "429.4967295 s"),
        ] {
            assert_eq!(time_text(ticks, 10_000_000), text);
        }
    }
}
