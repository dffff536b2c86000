//! The book's page on profiles against the profiles: it describes exactly the keys of `[board]`, with the checked
//! ranges.

use std::collections::{BTreeMap, BTreeSet};

use tactus_board::profile::Profile;

const PAGE: &str = include_str!("../../docs/src/reference/profiles.md");
const PROFILES: [&str; 5] = [
    include_str!("../../profiles/soc.toml"),
    include_str!("../../profiles/soc-ocm.toml"),
    include_str!("../../profiles/soc-pci.toml"),
    include_str!("../../profiles/mpsoc.toml"),
    include_str!("../../profiles/manycore.toml"),
];
/// Tables that the page describes by another table with the same keys.
const LIKE: [(&str, &str); 2] = [
    ("board.timing.caches.l1d", "board.timing.caches.l1i"),
    ("board.timing.caches.l2", "board.timing.caches.l1i"),
];

/// The table's name in a line of a profile such as `[board]`.
fn table_of(line: &str) -> Option<&str> {
    line.strip_prefix('[').map(|rest| {
        rest.trim_start_matches('[')
            .split(']')
            .next()
            .unwrap_or(rest)
    })
}

/// Calls `each` with every table and key of a profile, and the number of its line.
fn each_key<'a>(profile: &'a str, mut each: impl FnMut(&'a str, &'a str, usize)) {
    let mut table = "";
    for (number, line) in profile.lines().enumerate() {
        if let Some(name) = table_of(line) {
            table = name;
        } else if let Some((key, _)) = line.split_once('=')
            && key
                .trim()
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        {
            each(table, key.trim(), number);
        }
    }
}

/// The page's column `range`, by table and key.
fn described() -> BTreeMap<(&'static str, &'static str), &'static str> {
    let mut described = BTreeMap::new();
    let mut table = "";
    for line in PAGE.lines() {
        if line.starts_with('#') {
            let name = line.trim_start_matches('#').trim().trim_matches('`');
            table = table_of(name).unwrap_or("");
        } else if let Some(row) = line.strip_prefix("| `")
            && let Some((key, rest)) = row.split_once("` |")
            && let Some(range) = rest.split(" | ").nth(1)
            && table.starts_with("board")
        {
            assert!(
                described.insert((table, key), range.trim()).is_none(),
                "[{table}] {key} is described twice"
            );
        }
    }
    described
}

/// A range such as `1 to 1,024`.
fn numbers(range: &str) -> Option<(i64, i64)> {
    let number = |text: &str| text.replace(',', "").parse().ok();
    let (low, high) = range.split_once(" to ")?;
    Some((number(low)?, number(high)?))
}

#[test]
fn the_page_has_exactly_the_keys_of_the_profiles() {
    let mut keys = BTreeSet::new();
    for profile in PROFILES {
        each_key(profile, |table, key, _| {
            let table = LIKE
                .iter()
                .find(|(other, _)| *other == table)
                .map_or(table, |(_, table)| table);
            if table.starts_with("board") {
                keys.insert((table, key));
            }
        });
    }
    assert!(
        keys.contains(&("board", "quantum"))
            && keys.contains(&("board.timing.memory.fixed", "latency"))
    );
    assert_eq!(described().into_keys().collect::<BTreeSet<_>>(), keys);
}

#[test]
fn the_pages_ranges_are_those_that_are_checked() {
    let described = described();
    let mut tried = 0;
    for profile in PROFILES {
        assert!(Profile::parse("a profile", profile).is_ok());
        each_key(profile, |table, key, number| {
            let Some((low, high)) = described
                .get(&(table, key))
                .and_then(|range| numbers(range))
            else {
                return;
            };
            for value in [low - 1, high + 1] {
                let changed: Vec<String> = profile
                    .lines()
                    .enumerate()
                    .map(|(other, line)| {
                        if other == number {
                            format!("{key} = {value}")
                        } else {
                            line.to_owned()
                        }
                    })
                    .collect();
                let error =
                    Profile::parse("a profile", &changed.join("\n")).expect_err("out of range");
                assert_eq!(
                    error.reason,
                    format!("must be {low} to {high}, not {value}"),
                    "[{table}] {key}"
                );
                tried += 1;
            }
        });
    }
    assert!(tried > 100, "{tried} values");
}

/// The keys outside of `[board]` that the board reads.
#[test]
fn shared_keys_are_on_the_page() {
    for key in [
        "name",
        "timebase_hz",
        "default",
        "max",
        "first_id",
        "extensions",
        "extends",
        "base",
        "address",
        "size",
        "interrupts",
        "ecam",
        "window",
        "window_size",
    ] {
        assert!(PAGE.contains(&format!("| `{key}` |")), "{key}");
    }
}
