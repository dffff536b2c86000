//! The hypervisor's hot path is where `hypervisor/link.ld` puts it: each line of the ordered section names a function that exists, and the
//! functions stand in the order of the lines. Otherwise a rename or an inlined function would move the figures of every bench unnoticed.

use object::{Object, ObjectSymbol};
use tactus::artifacts::{Artifacts, HYPERVISOR};

/// Most bytes between `__hot_start` and `__hot_end`.
const HOT_MAX: u64 = 9 << 10;

/// The patterns of the linker script's hot functions, in order: each is a symbol's name with `*` and `?`.
fn patterns(script: &str) -> Vec<&str> {
    script
        .lines()
        .filter_map(|line| line.trim().strip_prefix("*(.text."))
        .map(|rest| rest.trim_end_matches(')'))
        .filter(|name| name.starts_with("_ZN") || name.starts_with("tactus_"))
        .collect()
}

/// Whether a name matches a pattern with `*` and `?`.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match pattern.split_first() {
        None => name.is_empty(),
        Some((b'*', rest)) => (0..=name.len()).any(|skip| matches(rest, &name[skip..])),
        Some((b'?', rest)) => !name.is_empty() && matches(rest, &name[1..]),
        Some((byte, rest)) => name.first() == Some(byte) && matches(rest, &name[1..]),
    }
}

#[test]
fn each_hot_function_is_there_and_in_order() {
    let script = include_str!("../../hypervisor/link.ld");
    let path = Artifacts::Workspace
        .file(HYPERVISOR)
        .unwrap_or_else(|missing| panic!("{}: {}", missing.reason, missing.cure));
    let file = std::fs::read(path).expect("the file was just built");
    let elf = object::File::parse(&*file).expect("it is an ELF file");
    let symbols: Vec<(&str, u64)> = elf
        .symbols()
        .filter_map(|symbol| Some((symbol.name().ok()?, symbol.address())))
        .collect();
    let address_of = |name: &str| {
        let found = symbols.iter().find(|(symbol, _)| *symbol == name);
        found.map(|(_, address)| *address).expect(name)
    };
    let (start, end) = (address_of("__hot_start"), address_of("__hot_end"));
    assert!(
        end - start <= HOT_MAX,
        "the hot section has {} bytes",
        end - start
    );

    let patterns = patterns(script);
    assert!(
        !patterns.is_empty(),
        "the linker script names hot functions"
    );
    let mut before = start;
    for pattern in patterns {
        let mut addresses: Vec<u64> = symbols
            .iter()
            .filter(|(name, _)| matches(pattern.as_bytes(), name.as_bytes()))
            .map(|(_, address)| *address)
            .collect();
        addresses.sort_unstable();
        assert!(
            !addresses.is_empty(),
            "no function is named {pattern}: mend or remove its line in hypervisor/link.ld"
        );
        for address in addresses {
            assert!(
                (before..end).contains(&address),
                "{pattern} is at {address:#x}, not between {before:#x} and {end:#x}"
            );
            before = address;
        }
    }
}

#[test]
fn patterns_match_as_the_linker_matches_them() {
    for (pattern, name, expected) in [
        ("4trap5timer17h*", "4trap5timer17h47f9E", true),
        ("4trap5timer17h*", "4trap9interrupt17h47f9E", false),
        ("a?b*c", "a$bxyc", true),
        ("a?b", "ab", false),
    ] {
        let found = matches(pattern.as_bytes(), name.as_bytes());
        assert_eq!(found, expected, "{pattern} {name}");
    }
}
