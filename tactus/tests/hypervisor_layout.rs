//! Size and layout of the hypervisor.
//!
//! Each line of the ordered section in `hypervisor/link.ld` names an existing function, and the functions are in the
//! order of the lines. Otherwise a rename or an inlined function would change the figures of every
//! bench unnoticed. The hot path, the text, and the lines of code that run with the hypervisor's privilege have
//! budgets.

use object::{Object, ObjectSection, ObjectSymbol};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use tactus::artifacts::{
    Artifacts, HYPERVISOR, HYPERVISOR_BASE, HYPERVISOR_FORWARDING, HYPERVISOR_FORWARDING_PCI,
    HYPERVISOR_MANAGEMENT, HYPERVISOR_PCI,
};

/// The most bytes between `__hot_start` and `__hot_end`: the ways of the timer, of a preemption and a switch, of a
/// doorbell, and into a call and back. Behind them stands, in order as well, what some switches need beside.
const HOT_MAX: u64 = 6 << 10;
/// The hypervisors, each with its most bytes of text and its most lines of code.
///
/// The text includes the hot path. The lines include those of the modules of `policy` and `abi` that the hypervisor
/// uses, and none that its features leave out. Of those of the complete one, 280 are for requests of regions to the
/// fabric (`accelerators/allocation.rs`), which take a visit of the device manager's VM from each request.
/// Forwarding may take 4 KiB and 500 lines beyond the complete one, management as much beyond forwarding. The one with
/// forwarding and PCI keeps to the text of that with PCI.
const BUDGETS: [(&str, u64, usize); 6] = [
    (HYPERVISOR, 64 << 10, 12_770),
    (HYPERVISOR_BASE, 40 << 10, 9_530),
    (HYPERVISOR_FORWARDING, 68 << 10, 13_270),
    (HYPERVISOR_MANAGEMENT, 72 << 10, 13_770),
    (HYPERVISOR_PCI, 72 << 10, 13_550),
    (HYPERVISOR_FORWARDING_PCI, 72 << 10, 13_670),
];

/// The manifest of a hypervisor.
fn manifest(name: &str) -> &'static str {
    match name {
        HYPERVISOR => include_str!("../../hypervisor/Cargo.toml"),
        HYPERVISOR_BASE => include_str!("../../hypervisor/base/Cargo.toml"),
        HYPERVISOR_FORWARDING => include_str!("../../hypervisor/forwarding/Cargo.toml"),
        HYPERVISOR_FORWARDING_PCI => include_str!("../../hypervisor/forwarding-pci/Cargo.toml"),
        HYPERVISOR_MANAGEMENT => include_str!("../../hypervisor/management/Cargo.toml"),
        _ => include_str!("../../hypervisor/pci/Cargo.toml"),
    }
}

/// The features that a package has by default.
fn features(manifest: &str) -> BTreeSet<&str> {
    let line = manifest.lines().find(|line| line.starts_with("default = "));
    let names = line.expect("it has optional parts").split('"');
    names.skip(1).step_by(2).collect()
}

/// The ELF file of a hypervisor as the tests run it.
fn hypervisor(name: &str) -> Vec<u8> {
    let path = Artifacts::Workspace
        .file(name)
        .unwrap_or_else(|missing| panic!("{}: {}", missing.reason, missing.cure));
    std::fs::read(path).expect("the file was just built")
}

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
    let file = hypervisor(HYPERVISOR);
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
    println!("hot section: {} of {HOT_MAX} bytes", end - start);
    assert!(
        end - start <= HOT_MAX,
        "the hot section has {} bytes",
        end - start
    );
    let end = address_of("__ordered_end");

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

/// The program for on-chip memory has all parts that the complete one has.
#[test]
fn the_hypervisor_on_the_chip_is_complete() {
    let mut complete = features(manifest(HYPERVISOR));
    assert!(complete.contains("messages") && complete.insert("onchip"));
    assert_eq!(
        features(include_str!("../../hypervisor/onchip/Cargo.toml")),
        complete
    );
}

/// The program with PCI has all parts that the complete one has, and that one.
#[test]
fn the_hypervisor_with_pci_is_complete() {
    let mut complete = features(manifest(HYPERVISOR));
    assert!(complete.insert("pci"));
    assert_eq!(features(manifest(HYPERVISOR_PCI)), complete);
}

/// The program with forwarding has all parts that the complete one has, and that one.
#[test]
fn the_hypervisor_with_forwarding_is_complete() {
    let mut complete = features(manifest(HYPERVISOR));
    assert!(complete.insert("forwarding"));
    assert_eq!(features(manifest(HYPERVISOR_FORWARDING)), complete);
    let mut with_pci = complete.clone();
    assert!(with_pci.insert("pci"));
    assert_eq!(features(manifest(HYPERVISOR_FORWARDING_PCI)), with_pci);
    assert!(complete.insert("management"));
    assert_eq!(features(manifest(HYPERVISOR_MANAGEMENT)), complete);
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

#[test]
fn text_keeps_within_its_budget() {
    for (name, most, _) in BUDGETS {
        let file = hypervisor(name);
        let elf = object::File::parse(&*file).expect("it is an ELF file");
        let text = elf.section_by_name(".text").expect("it has text").size();
        println!("{name}: {text} of {most} bytes of text");
        assert!(text <= most, "{name} has {text} bytes of text");
    }
}

/// The lines of code, without blank lines, comments and the tests' module, which ends its file.
fn lines_of_code(source: &str) -> usize {
    let code = source.split("#[cfg(test)]\nmod tests").next().unwrap_or("");
    let lines = code.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
        .count()
}

/// The source files of a folder, each with its contents.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    paths
        .flat_map(|path| {
            if path.is_dir() {
                return sources(&path);
            }
            let source = std::fs::read_to_string(&path).expect("it is text");
            vec![(path, source)]
        })
        .collect()
}

/// The names that follow `prefix` in the code of the sources, without comments.
fn names_behind<'a>(prefix: &str, sources: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let lines = sources.flat_map(str::lines);
    lines
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| line.split(prefix).skip(1))
        .map(|rest| rest.split(|c| !is_name(c)).next().unwrap_or("").to_owned())
        .collect()
}

/// The modules of a library in `folder` that `users` name as `library::module`, and the modules that those use in turn.
fn used_modules(
    folder: &Path,
    library: &str,
    users: &[(PathBuf, String)],
) -> Vec<(PathBuf, String)> {
    let modules = sources(folder);
    let name = |path: &Path| {
        path.file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
    };
    let mut used = names_behind(
        &format!("{library}::"),
        users.iter().map(|(_, source)| source.as_str()),
    );
    used.insert("lib".to_owned());
    loop {
        let is_used = |path: &Path| name(path).is_some_and(|name| used.contains(&name));
        let (inside, _): (Vec<_>, Vec<_>) = modules.iter().partition(|(path, _)| is_used(path));
        let more = names_behind("crate::", inside.iter().map(|(_, source)| source.as_str()));
        if more.is_subset(&used) {
            return inside.into_iter().cloned().collect();
        }
        used.extend(more);
    }
}

/// The code without the items and statements that features leave out.
///
/// Each follows a line `#[cfg(feature = "...")]` and ends with its first line, or with the line that closes what that
/// opens, at the same indentation.
fn without_left_out(source: &str, features: &BTreeSet<&str>) -> String {
    let mut lines = source.lines();
    let mut kept = String::new();
    while let Some(line) = lines.next() {
        let condition = line.trim().strip_prefix("#[cfg(feature = \"");
        let feature = condition.and_then(|rest| rest.strip_suffix("\")]"));
        if feature.is_none_or(|feature| features.contains(feature)) {
            kept += line;
            kept.push('\n');
            continue;
        }
        let indentation = &line[..line.len() - line.trim_start().len()];
        let is_attribute = |line: &&str| line.trim_start().starts_with(['#', '/']);
        let first = lines.by_ref().find(|line| !is_attribute(line));
        if first.is_some_and(|first| !first.ends_with([';', ','])) {
            let closes = |line: &str| {
                let rest = line.strip_prefix(indentation);
                rest.is_some_and(|rest| rest.starts_with(['}', ')', ']']))
            };
            let _ = lines.by_ref().find(|line| closes(line));
        }
    }
    kept
}

/// Files, each with its feature.
type OfFeatures<'a> = Vec<(&'a str, PathBuf)>;

/// The hypervisor's files of optional parts, and the files that replace them, each with its feature.
///
/// A module's `path` attribute names the file that replaces the module when its feature is off. A module that only its
/// feature has is replaced by nothing.
fn optional(files: &[(PathBuf, String)]) -> (OfFeatures<'_>, OfFeatures<'_>) {
    let mut parts = Vec::new();
    let mut places = Vec::new();
    for (file, source) in files {
        let of_root = |stem: &OsStr| stem == "main" || stem == "mod";
        let folder = if file.file_stem().is_some_and(of_root) {
            file.with_file_name("")
        } else {
            file.with_extension("")
        };
        for rest in source.split("#[cfg(feature = \"").skip(1) {
            let (feature, item) = rest.split_once("\")]\n").unwrap_or_default();
            let module = item.lines().next().and_then(|line| line.split_once("mod "));
            if let Some((_, name)) = module {
                parts.push((feature, folder.join(name.trim_end_matches(';'))));
            }
        }
        for rest in source.split("cfg_attr(not(feature = \"").skip(1) {
            let (feature, rest) = rest.split_once('"').expect("a feature's name ends");
            let Some(rest) = rest.strip_prefix("), path = \"base/") else {
                continue;
            };
            let (place, rest) = rest.split_once('"').expect("a path ends");
            let (_, module) = rest.split_once("mod ").expect("a module has the path");
            let (module, _) = module.split_once(';').expect("it is in a file");
            parts.push((feature, folder.join(module)));
            places.push((feature, folder_of(file).join("base").join(place)));
        }
    }
    (parts, places)
}

fn folder_of(file: &Path) -> &Path {
    file.parent().expect("a file is in a folder")
}

#[test]
fn privileged_lines_keep_within_their_budget() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let files = sources(&root.join("hypervisor/src"));
    let (parts, places) = optional(&files);
    assert!(parts.len() >= 9 && places.len() >= 8, "{parts:?}");
    for (name, _, most) in BUDGETS {
        let features = features(manifest(name));
        let is_left_out = |path: &Path| {
            let part = parts.iter().any(|(feature, part)| {
                !features.contains(feature) && path.with_extension("").starts_with(part)
            });
            let is_place = |place: &&(&str, PathBuf)| place.1 == path;
            match places.iter().find(is_place) {
                Some((feature, _)) => features.contains(feature),
                None => part,
            }
        };
        let own: Vec<_> = files
            .iter()
            .filter(|(path, _)| !is_left_out(path))
            .map(|(path, source)| (path.clone(), without_left_out(source, &features)))
            .collect();
        let policy = used_modules(&root.join("policy/src"), "tactus_policy", &own);
        let users: Vec<_> = own.iter().chain(&policy).cloned().collect();
        let abi = used_modules(&root.join("abi/src"), "tactus_abi", &users);
        let mut all = 0;
        for (folder, part) in [("hypervisor", &own), ("policy", &policy), ("abi", &abi)] {
            let lines: usize = part.iter().map(|(_, source)| lines_of_code(source)).sum();
            println!(
                "{name}: {folder} has {lines} lines of code in {} files",
                part.len()
            );
            all += lines;
        }
        println!("{name}: {all} of {most} lines");
        assert!(all <= most, "{name} has {all} privileged lines of code");
    }
}

#[test]
fn what_features_leave_out_is_not_counted() {
    let source = "a\n#[cfg(feature = \"x\")]\nuse b;\n#[cfg(feature = \"y\")]\nuse c;\n    #[cfg(feature = \"x\")]\n    #[d]\n    if e {\n        f();\n    }\n    g\n";
    let all = BTreeSet::from(["x", "y"]);
    assert_eq!(without_left_out(source, &all), source);
    assert_eq!(
        without_left_out(source, &BTreeSet::from(["y"])),
        "a\n#[cfg(feature = \"y\")]\nuse c;\n    g\n"
    );
}

#[test]
fn lines_are_counted_without_comments_and_tests() {
    let source = "//! Doc.\n\nuse a;\n\n/// Doc.\nfn f() {\n    // Why.\n    g() // here\n}\n\n#[cfg(test)]\nmod tests {\n    use b;\n}\n";
    assert_eq!(lines_of_code(source), 4);
    let names = names_behind("a::", ["use a::b;", "use a::{c};\na::d_1::e"].into_iter());
    assert_eq!(Vec::from_iter(names), ["", "b", "d_1"]);
}
