//! The page of worst-case paths: written from a run's [`Paths`], and read back as what a later run has to keep to.

use std::collections::BTreeMap;
use std::path;

use miette::{IntoDiagnostic, WrapErr};

use crate::run::board::paths::{End, Path, Paths, Stretches, Tally};

/// The page's name.
pub const FILE: &str = "worst-case-paths.md";

/// What stands before the list.
const HEAD: &str = include_str!("paths.md");

/// The list's head.
const COLUMNS: &str = "\
| begun by | looked before | ends | times | mean | worst | of which | code lines | data lines | from memory | all cold | in hot code | computed | bound |
|---|---|---|--:|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|
";

/// No bound is less: whatever has led below the guest, the hart's timer may be due before the guest is entered again,
/// and is served then.
const LEAST: u64 = 5000;

/// The bound of a path of its own whose longest stretch is so long: twice that, to the next 50 cycles. What happened
/// before leaves caches and branch predictor differently with every change.
fn own(worst: u64) -> u64 {
    (2 * worst).next_multiple_of(50).max(LEAST)
}

const fn goes_back(end: End) -> bool {
    matches!(end, End::Back | End::BackBestEffort)
}

/// Whether a path has a bound of its own: from a guest's trap straight back to the guest. How long another one takes
/// depends on whose turn it is or on what has come meanwhile, so that those of an end share one.
const fn has_own(path: &Path) -> bool {
    goes_back(path.end) && !path.looked
}

/// The bounds of the others, by their end: a tenth more than the longest stretch of all, to the next 50 cycles.
fn common(paths: &Paths) -> BTreeMap<End, u64> {
    let mut worst = BTreeMap::new();
    for (path, stretches) in paths.iter().filter(|(path, _)| !has_own(path)) {
        let of_end: &mut u64 = worst.entry(path.end).or_default();
        *of_end = stretches.max.max(*of_end);
    }
    worst
        .into_iter()
        .map(|(end, worst)| (end, (worst + worst / 10).next_multiple_of(50).max(LEAST)))
        .collect()
}

/// The page.
pub fn page(paths: &Paths) -> String {
    let mut sorted: Vec<_> = paths.iter().collect();
    sorted.sort_by_key(|(path, stretches)| (std::cmp::Reverse(stretches.max), *path));
    let common = common(paths);
    let mut text = format!("{HEAD}\n{COLUMNS}");
    for (path, stretches) in sorted {
        text.push_str(&format!(
            "| {} | {} | {:.0} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
            cells(&path).join(" | "),
            stretches.count,
            stretches.mean(),
            stretches.max,
            stretches.spent,
            lines(&stretches.code),
            lines(&stretches.data),
            stretches.lines.code_from_memory + stretches.lines.data_from_memory,
            stretches.cold,
            hot(&stretches.walked),
            computed(&stretches),
            match common.get(&path.end) {
                Some(&bound) if !has_own(&path) => bound,
                _ => own(stretches.max),
            }
        ));
    }
    text
}

/// Lines of a path's stretches: on average, and at most.
fn lines(tally: &Tally) -> String {
    format!("{:.0} / {}", tally.mean(), tally.max)
}

/// How many stretches stayed in the hypervisor's hot code, and the longest of them.
fn hot(tally: &Tally) -> String {
    match tally.count {
        0 => "-".to_owned(),
        count => format!("{count} / {}", tally.max),
    }
}

/// What is computed of these.
fn computed(stretches: &Stretches) -> String {
    match stretches.bound {
        0 => "-".to_owned(),
        bound => bound.to_string(),
    }
}

/// What a path's line begins with: how it begins, whether it has looked, how it ends.
fn cells(path: &Path) -> [String; 3] {
    let looked = if path.looked { "yes" } else { "no" };
    [
        path.cause.to_string(),
        looked.to_owned(),
        path.end.to_string(),
    ]
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
/// A path that the page does not have, as it takes a coincidence, keeps to the greatest bound of its end, and of its
/// cause if it goes straight back.
pub fn broken(page: &str, paths: &Paths) -> Vec<String> {
    let stated = stated(page);
    let greatest = |like: &dyn Fn(&[String; 3]) -> bool| {
        let alike = stated.iter().filter(|(known, _)| like(known));
        alike.map(|(_, bound)| *bound).max()
    };
    let mut broken = Vec::new();
    for (path, stretches) in paths.iter() {
        let cells = cells(&path);
        let [cause, looked, end] = &cells;
        let bound = if has_own(&path) {
            let like = |known: &[String; 3]| known[0] == *cause && known[2] == *end;
            stated.get(&cells).copied().or_else(|| greatest(&like))
        } else {
            greatest(&|known| known[2] == *end && (!goes_back(path.end) || known[1] == *looked))
        };
        let seen = || {
            let (max, at, hart) = (stretches.max, stretches.at, stretches.hart);
            format!("{path}: {max} cycles from cycle {at} of hart {hart} on")
        };
        match bound {
            None => broken.push(format!("{}, and the page has nothing like it", seen())),
            Some(bound) if stretches.max > bound => {
                broken.push(format!("{}, past the bound {bound}", seen()));
            }
            Some(_) => {}
        }
    }
    broken
}

/// The bounds of a page, by what their lines begin with.
fn stated(page: &str) -> BTreeMap<[String; 3], u64> {
    let line = |line: &str| {
        let cells: Vec<&str> = line.strip_prefix("| ")?.split(" | ").collect();
        let [cause, looked, end, .., bound] = cells[..] else {
            return None;
        };
        let bound = bound.strip_suffix(" |")?.parse().ok()?;
        Some(([cause, looked, end].map(str::to_owned), bound))
    };
    page.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use tactus_board::account::Doing;
    use tactus_board::privileged::{Exception, Privilege};
    use tactus_board::timing::{Lines, Stalls};
    use tactus_board::trace::{Event, EventKind};

    use super::*;
    use crate::run::board::paths::Watch;
    use crate::run::board::spent::Meter;

    /// A guest that makes calls, given by extension and cycles, each of which ends so.
    fn guest(calls: &[(u64, u64)], end: Doing) -> Paths {
        let running = |guest| Doing::Running {
            guest,
            privilege: Privilege::Supervisor,
        };
        let watch = Watch {
            real_time: vec![0],
            ..Watch::default()
        };
        let mut paths = Paths::new(watch, None);
        let mut now = 0;
        let mut meter = Meter::default();
        let mut happens = |cycle, kind| {
            let event = Event {
                cycle,
                hart: 0,
                stalls: Stalls::default(),
                lines: Lines::default(),
                kind,
            };
            paths.event(&event, &meter.read(&event), 0);
        };
        for (extension, cycles) in calls {
            happens(now, EventKind::Turn(running(Some(1))));
            now += 10;
            let call = EventKind::Exception {
                cause: Exception::VirtualSupervisorEnvironmentCall,
                pc: 0,
                value: 0,
                guest_physical: 0,
                call: [0, *extension],
            };
            happens(now, call);
            happens(now, EventKind::Turn(running(None)));
            now += cycles;
            happens(now, EventKind::Turn(end));
        }
        paths
    }

    /// One that calls an extension, each call of so many cycles.
    fn called(extension: u64, cycles: &[u64]) -> Paths {
        let calls: Vec<_> = cycles.iter().map(|cycles| (extension, *cycles)).collect();
        let back = Doing::Running {
            guest: Some(1),
            privilege: Privilege::Supervisor,
        };
        guest(&calls, back)
    }

    /// One after whose calls the hart waits.
    fn waited(calls: &[(u64, u64)]) -> Paths {
        guest(calls, Doing::Waiting)
    }

    #[test]
    fn a_page_holds_to_what_it_states() {
        let page = page(&called(0x10, &[2000, 4000]));
        let line = "| call: base get_spec_version | no | back, BE | 2 | 3000 | 4000 | running 4000 | 0 / 0 | 0 / 0 | 0 | 0 | - | - | 8000 |";
        assert!(page.contains(line), "{page}");
        assert_eq!(broken(&page, &called(0x10, &[8000])), [""; 0]);
        let late = broken(&page, &called(0x10, &[20, 8001]));
        assert!(
            late[0].ends_with("8001 cycles from cycle 40 of hart 0 on, past the bound 8000"),
            "{late:?}"
        );
        let unknown = broken(&page, &called(0x0073_5049, &[1]));
        assert!(unknown[0].ends_with("nothing like it"), "{unknown:?}");
        assert!(!broken("", &called(0x10, &[1])).is_empty());
    }

    #[test]
    fn ends_but_for_the_way_back_share_a_bound() {
        let stated = page(&waited(&[(0x10, 6000), (0x5449_4d45, 100)]));
        assert_eq!(stated.matches("| idle | 1 |").count(), 2, "{stated}");
        assert_eq!(stated.matches("| 6600 |").count(), 2, "{stated}");
        assert_eq!(broken(&stated, &waited(&[(0x5449_4d45, 6600)])), [""; 0]);
        assert_eq!(broken(&stated, &waited(&[(0x0073_5049, 6600)])), [""; 0]);
        assert_eq!(broken(&stated, &waited(&[(0x10, 6601)])).len(), 1);
    }
}
