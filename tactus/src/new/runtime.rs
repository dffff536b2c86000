//! The guest runtime for a project outside this workspace: a copy of the packages it is made of, and their locked
//! versions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use include_dir::{Dir, DirEntry, include_dir};
use miette::miette;
use toml::Table;

/// The packages, where they are in the workspace.
static PACKAGES: [(&str, Dir<'_>); 4] = [
    ("abi", include_dir!("$CARGO_MANIFEST_DIR/../abi")),
    (
        "guests/runtime",
        include_dir!("$CARGO_MANIFEST_DIR/../guests/runtime"),
    ),
    (
        "guests/channel",
        include_dir!("$CARGO_MANIFEST_DIR/../guests/channel"),
    ),
    (
        "fabric/registers",
        include_dir!("$CARGO_MANIFEST_DIR/../fabric/registers"),
    ),
];

/// Files beside them.
const BESIDE: [(&str, &str); 2] = [
    ("LICENSE-APACHE", include_str!("../../../LICENSE-APACHE")),
    ("LICENSE-MIT", include_str!("../../../LICENSE-MIT")),
];

/// The workspace's description, and the versions it is built of.
const WORKSPACE: &str = include_str!("../../../Cargo.toml");
const LOCK: &str = include_str!("../../../Cargo.lock");

/// The package that guests depend on.
const RUNTIME: &str = "tactus-guest";

/// The runtime's package in a directory that was named: a clone of the project, or the package itself.
pub(super) fn find(directory: &Path) -> miette::Result<PathBuf> {
    let is_runtime = |directory: &PathBuf| {
        let text = std::fs::read_to_string(directory.join("Cargo.toml")).unwrap_or_default();
        let table: Table = text.parse().unwrap_or_default();
        let name = table.get("package").and_then(|package| package.get("name"));
        name.and_then(toml::Value::as_str) == Some(RUNTIME)
    };
    let found = [directory.join("guests/runtime"), directory.to_owned()]
        .into_iter()
        .find(is_runtime)
        .and_then(|found| found.canonicalize().ok());
    found.ok_or_else(|| {
        miette!(
            help = "name a clone of Tactus, or omit `--runtime`: the folder then gets a copy of the runtime",
            "there is no package `{RUNTIME}` in {}",
            directory.display()
        )
    })
}

/// The copy: files below the folder `tactus`.
pub(super) fn copy() -> miette::Result<Vec<(String, String)>> {
    let mut files = vec![("tactus/Cargo.toml".to_owned(), workspace()?)];
    for (name, text) in BESIDE {
        files.push((format!("tactus/{name}"), text.to_owned()));
    }
    for (place, directory) in &PACKAGES {
        let mut entries: Vec<&DirEntry<'_>> = directory.entries().iter().collect();
        while let Some(entry) = entries.pop() {
            match entry {
                DirEntry::Dir(directory) => entries.extend(directory.entries()),
                DirEntry::File(file) => {
                    let name = format!("tactus/{place}/{}", file.path().display());
                    let text = file
                        .contents_utf8()
                        .ok_or_else(|| miette!("{name} is no text"))?;
                    files.push((name, text.to_owned()));
                }
            }
        }
    }
    files.sort();
    Ok(files)
}

/// The description of the copy's workspace: what the packages inherit.
fn workspace() -> miette::Result<String> {
    let members: Vec<_> = PACKAGES
        .iter()
        .map(|(place, _)| format!("{place:?}"))
        .collect();
    let mut text = format!(
        "# Tactus's guest runtime and what it needs, copied by `tactus new guest` of version {}.\n\n\
         [workspace]\nresolver = \"3\"\nmembers = [{}]\n",
        env!("CARGO_PKG_VERSION"),
        members.join(", ")
    );
    for table in ["workspace.package", "workspace.dependencies"] {
        text += "\n";
        text += section(table)?;
    }
    for table in [
        "workspace.lints.rust",
        "workspace.lints.clippy",
        "workspace.lints.rustdoc",
    ] {
        text += "\n";
        text += section(table)?;
    }
    Ok(text)
}

/// A table of the workspace's description, with its header.
fn section(table: &str) -> miette::Result<&'static str> {
    let header = format!("[{table}]\n");
    let begin = WORKSPACE.find(&header);
    let begin = begin.ok_or_else(|| miette!("Cargo.toml has no [{table}]"))?;
    let text = &WORKSPACE[begin..];
    let end = text.find("\n\n").map_or(text.len(), |end| end + 1);
    Ok(&text[..end])
}

/// A package in the lock file.
struct Locked {
    text: &'static str,
    name: String,
    version: String,
    /// Names, with the version where there are several.
    dependencies: Vec<String>,
}

/// All packages of the lock file.
fn locked() -> impl Iterator<Item = Locked> {
    const BEGIN: &str = "[[package]]\n";
    LOCK.split(BEGIN).skip(1).filter_map(|text| {
        let table: Table = text.parse().ok()?;
        let string = |key| Some(table.get(key)?.as_str()?.to_owned());
        let dependencies = table.get("dependencies").and_then(toml::Value::as_array);
        Some(Locked {
            text: text.trim_end(),
            name: string("name")?,
            version: string("version")?,
            dependencies: dependencies
                .into_iter()
                .flatten()
                .filter_map(|name| Some(name.as_str()?.to_owned()))
                .collect(),
        })
    })
}

/// Dependencies that one of the copied packages has for its own tests alone.
fn of_tests_alone() -> miette::Result<BTreeMap<String, BTreeSet<String>>> {
    let mut all = BTreeMap::new();
    for (place, directory) in &PACKAGES {
        let file = directory
            .get_file("Cargo.toml")
            .and_then(|file| file.contents_utf8());
        let table: Table = file
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| miette!("{place}/Cargo.toml cannot be read"))?;
        let names = |key: &str| -> BTreeSet<String> {
            let table = table.get(key).and_then(toml::Value::as_table);
            table
                .into_iter()
                .flat_map(|table| table.keys().cloned())
                .collect()
        };
        let needed: BTreeSet<_> = &names("dependencies") | &names("build-dependencies");
        let package = table.get("package").and_then(|package| package.get("name"));
        let package = package.and_then(toml::Value::as_str).unwrap_or_default();
        all.insert(package.to_owned(), &names("dev-dependencies") - &needed);
    }
    Ok(all)
}

/// The packages that the runtime is built of, itself among them.
fn needed() -> miette::Result<Vec<Locked>> {
    let tests = of_tests_alone()?;
    let mut rest: Vec<Locked> = locked().collect();
    let mut needed: Vec<Locked> = Vec::new();
    let mut wanted = vec![RUNTIME.to_owned()];
    // Each step takes a name off the list, and a package adds its names once.
    while let Some(name) = wanted.pop() {
        let is_wanted = |package: &Locked| {
            name == package.name || name == format!("{} {}", package.name, package.version)
        };
        let Some(index) = rest.iter().position(is_wanted) else {
            continue;
        };
        let mut package = rest.swap_remove(index);
        if let Some(tests) = tests.get(&package.name) {
            package.dependencies.retain(|name| !tests.contains(name));
        }
        wanted.extend(package.dependencies.iter().cloned());
        needed.push(package);
    }
    needed.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    Ok(needed)
}

/// Whether the runtime is built of a package of that name.
pub(super) fn is_package(name: &str) -> bool {
    needed().is_ok_and(|packages| packages.iter().any(|package| package.name == name))
}

/// The lock file of a project called `name` that depends on the runtime alone: the versions that Tactus is tested with.
/// It may hold packages that only features of the workspace's other packages need; Cargo drops those.
pub(super) fn lock(name: &str) -> miette::Result<String> {
    let begin = LOCK.find("[[package]]").unwrap_or_default();
    let mut entries: Vec<(String, String)> = Vec::new();
    let needed = needed()?;
    // Cargo adds a version to a name only where the file has several.
    let reference = |dependency: &str| {
        let name = dependency.split(' ').next().unwrap_or_default().to_owned();
        let versions = needed.iter().filter(|package| package.name == name);
        if versions.count() == 1 {
            name
        } else {
            dependency.to_owned()
        }
    };
    for package in &needed {
        let head = package.text.split("\ndependencies = [").next();
        let mut text = head.unwrap_or_default().to_owned();
        if !package.dependencies.is_empty() {
            text += "\ndependencies = [\n";
            for name in &package.dependencies {
                text += &format!(" {:?},\n", reference(name));
            }
            text += "]";
        }
        entries.push((package.name.clone(), text));
    }
    let own = format!("name = {name:?}\nversion = \"0.1.0\"\ndependencies = [\n {RUNTIME:?},\n]");
    entries.push((name.to_owned(), own));
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    let packages: Vec<String> = entries
        .into_iter()
        .map(|(_, text)| format!("[[package]]\n{text}\n"))
        .collect();
    Ok(format!("{}{}", &LOCK[..begin], packages.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copy_holds_all_that_the_packages_inherit() {
        let text = workspace().expect("it is embedded");
        let table: Table = text.parse().expect("TOML");
        let inherited = &table["workspace"];
        assert!(inherited["package"]["version"].is_str());
        assert!(inherited["dependencies"]["tactus-abi"]["path"].is_str());
        assert!(inherited["lints"]["clippy"].is_table());
        let files = copy().expect("it is embedded");
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        for name in [
            "tactus/abi/src/lib.rs",
            "tactus/guests/runtime/tactus-guest.x",
            "tactus/guests/runtime/src/lib.rs",
            "tactus/guests/channel/build.rs",
            "tactus/fabric/registers/Cargo.toml",
            "tactus/LICENSE-MIT",
        ] {
            assert!(names.contains(&name), "no {name}");
        }
    }

    #[test]
    fn the_lock_file_holds_what_is_needed_and_no_more() {
        let text = lock("blink").expect("it is embedded");
        let table: Table = text.parse().expect("TOML");
        let packages = table["package"].as_array().expect("packages");
        let names: Vec<&str> = packages
            .iter()
            .filter_map(|package| package["name"].as_str())
            .collect();
        assert!(names.is_sorted(), "{names:?}");
        for name in ["blink", "fdt", "sbi-spec", RUNTIME, "tactus-registers"] {
            assert!(names.contains(&name), "no {name} in {names:?}");
        }
        for name in ["proptest", "clap", "tactus", "tactus-board"] {
            assert!(!names.contains(&name), "{name} in {names:?}");
        }
    }
}
