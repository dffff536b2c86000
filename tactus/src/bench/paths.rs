//! The page of worst-case paths: written from a run's [`Paths`], and read back as what a later run has to keep to.

use std::collections::BTreeMap;
use std::path;

use miette::{IntoDiagnostic, WrapErr};

use crate::run::board::paths::{Path, Paths};

/// The page's name.
pub const FILE: &str = "worst-case-paths.md";

/// What stands before the list.
const HEAD: &str = include_str!("paths.md");

/// The list's head.
const COLUMNS: &str = "| begun by | looked before | ends | times | mean | worst | bound |\n|---|---|---|--:|--:|--:|--:|\n";

/// The bound that is stated of a path whose longest stretch is so long: a tenth more, to the next 50 cycles. What happened before leaves caches
/// and branch predictor differently with every change.
const fn bound(worst: u64) -> u64 {
    (worst + worst / 10).next_multiple_of(50)
}

/// The page.
pub fn page(paths: &Paths) -> String {
    let mut sorted: Vec<_> = paths.iter().collect();
    sorted.sort_by_key(|(path, stretches)| (std::cmp::Reverse(stretches.max), **path));
    let mut text = format!("{HEAD}\n{COLUMNS}");
    for (path, stretches) in sorted {
        text.push_str(&format!(
            "{}{} | {:.0} | {} | {} |\n",
            key(path),
            stretches.count,
            stretches.mean(),
            stretches.max,
            bound(stretches.max)
        ));
    }
    text
}

/// What a path's line begins with.
fn key(path: &Path) -> String {
    let looked = if path.looked { "yes" } else { "no" };
    format!("| {} | {looked} | {} | ", path.cause, path.end)
}

/// Writes the page.
///
/// # Errors
/// It cannot be written.
pub fn write(paths: &Paths, file: &path::Path) -> miette::Result<()> {
    let write = || {
        if let Some(directory) = file.parent() {
            std::fs::create_dir_all(directory)?;
        }
        std::fs::write(file, page(paths))
    };
    write()
        .into_diagnostic()
        .wrap_err_with(|| format!("{} cannot be written", file.display()))
}

/// What of a run is not as a page states it, as lines for people; none where all is.
///
/// A path that the page does not have, as it takes a coincidence, keeps to the greatest bound of its cause.
pub fn broken(page: &str, paths: &Paths) -> Vec<String> {
    let stated = stated(page);
    let mut broken = Vec::new();
    if stated.is_empty() {
        broken.push("the page states no path".to_owned());
    }
    for (path, stretches) in paths.iter() {
        let key = key(path);
        let cause = cause(&key);
        let of_cause = || {
            let same = stated
                .iter()
                .filter(|(known, _)| self::cause(known) == cause);
            same.map(|(_, bound)| *bound).max()
        };
        let bound = stated.get(&key).copied().or_else(of_cause);
        let seen = || {
            let (max, at, hart) = (stretches.max, stretches.at, stretches.hart);
            format!("{path}: {max} cycles from cycle {at} of hart {hart} on")
        };
        match bound {
            None => broken.push(format!(
                "{}, and the page has nothing of this cause",
                seen()
            )),
            Some(bound) if stretches.max > bound => {
                broken.push(format!("{}, past the bound {bound}", seen()));
            }
            Some(_) => {}
        }
    }
    broken
}

/// The bounds of a page, by what their lines begin with.
fn stated(page: &str) -> BTreeMap<String, u64> {
    let line = |line: &str| {
        let cells: Vec<&str> = line.split(" | ").collect();
        let [cause, looked, end, .., bound] = cells[..] else {
            return None;
        };
        let bound = bound.strip_suffix(" |")?.parse().ok()?;
        Some((format!("{cause} | {looked} | {end} | "), bound))
    };
    page.lines().filter_map(line).collect()
}

/// The first cell of a line.
fn cause(line: &str) -> &str {
    line.split(" | ").next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use tactus_board::account::Doing;
    use tactus_board::privileged::{Exception, Privilege};
    use tactus_board::trace::{Event, What};

    use super::*;
    use crate::run::board::paths::Watch;

    /// A guest that calls an extension, each call of so many cycles.
    fn called(extension: u64, cycles: &[u64]) -> Paths {
        let running = |guest| {
            What::Turn(Doing::Running {
                guest,
                privilege: Privilege::Supervisor,
            })
        };
        let mut paths = Paths::new(Watch {
            real_time: vec![false],
            ..Watch::default()
        });
        let mut now = 0;
        let mut happens = |cycle, what| {
            paths.event(
                &Event {
                    cycle,
                    hart: 0,
                    what,
                },
                0,
            )
        };
        for cycles in cycles {
            happens(now, running(Some(1)));
            now += 10;
            let call = What::Exception {
                cause: Exception::VirtualSupervisorEnvironmentCall,
                pc: 0,
                value: 0,
                guest_physical: 0,
                call: [0, extension],
            };
            happens(now, call);
            happens(now, running(None));
            now += cycles;
        }
        happens(now, running(Some(1)));
        paths
    }

    #[test]
    fn a_page_holds_to_what_it_states() {
        let page = page(&called(0x10, &[50, 100]));
        let line = "| call: base get_spec_version | no | back | 2 | 75 | 100 | 150 |";
        assert!(page.contains(line), "{page}");
        assert_eq!(broken(&page, &called(0x10, &[150])), [""; 0]);
        let late = broken(&page, &called(0x10, &[20, 151]));
        assert!(
            late[0].ends_with("151 cycles from cycle 40 of hart 0 on, past the bound 150"),
            "{late:?}"
        );
        let unknown = broken(&page, &called(0x0073_5049, &[1]));
        assert!(unknown[0].ends_with("nothing of this cause"), "{unknown:?}");
        assert!(!broken("", &called(0x10, &[1])).is_empty());
    }
}
