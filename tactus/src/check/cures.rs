//! Whatever a message proposes with figures is accepted: applied to the system, it ends the problem that it was
//! proposed for.

use std::path::Path;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use tempfile::TempDir;

use super::Verdict;
use super::tests::{files, judge_text};
use crate::config::Share;
use crate::problem::{Code, Problem};

/// A change of one line of a description.
#[derive(Clone, Debug)]
struct Edit {
    /// Counted from 1.
    line: usize,
    text: String,
}

/// The line's key.
fn key(line: &str) -> Option<&str> {
    Some(line.split_once('=')?.0.trim())
}

/// The line of a key in the table of the line `from`, counted from 1: the tables of the systems below have one blank
/// line between them.
fn line_of(text: &str, from: usize, wanted: &str) -> Option<usize> {
    let lines: Vec<&str> = text.lines().collect();
    let begin = lines[..from]
        .iter()
        .rposition(|line| line.starts_with('['))?;
    let length = lines[begin + 1..]
        .iter()
        .position(|line| line.starts_with('['));
    let end = length.map_or(lines.len(), |length| begin + 1 + length);
    (begin..end)
        .find(|&line| key(lines[line]) == Some(wanted))
        .map(|line| line + 1)
}

/// A value as it is proposed in prose, as it is written.
fn as_toml(value: &str) -> String {
    if value.starts_with("0x") || value.bytes().all(|byte| byte.is_ascii_digit()) {
        value.to_owned()
    } else {
        format!("\"{}\"", value.replace(' ', ""))
    }
}

/// A figure at the start of a text, "4 MiB" or "0x8020_0000", and what follows.
fn figure(text: &str) -> Option<(&str, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let number = text.find(|c| !is_part(c)).unwrap_or(text.len());
    if text.starts_with("0x") {
        return Some(text.split_at(number));
    }
    let unit = text.get(number + 1..)?;
    let units = ["B", "KiB", "MiB", "GiB", "s", "ms", "us", "ns", "%"];
    let length = unit.find([' ', ',', ';']).unwrap_or(unit.len());
    let is_figure =
        text.starts_with(|c: char| c.is_ascii_digit()) && units.contains(&&unit[..length]);
    is_figure.then(|| text.split_at(number + 1 + length))
}

/// The figures that follow each `begin` in a text, with "or" between them.
fn figures(text: &str, begin: &str) -> Vec<String> {
    let mut figures = Vec::new();
    for (at, _) in text.match_indices(begin) {
        let mut rest = &text[at + begin.len()..];
        while let Some((value, after)) = figure(rest) {
            figures.push(value.to_owned());
            rest = after.strip_prefix(" or ").unwrap_or_default();
        }
    }
    figures
}

/// All that a problem proposes, each alone.
fn edits(text: &str, problem: &Problem) -> Vec<Edit> {
    let Some((_, line, _)) = problem.place() else {
        return Vec::new();
    };
    let cure = problem.cure();
    // Within an inline table it is not known which value is meant.
    let own_line = text
        .lines()
        .nth(line - 1)
        .filter(|line| !line.contains('{'));
    let own_key = own_line.and_then(key).unwrap_or_default();
    let mut edits = Vec::new();
    let mut edit = |from: usize, key: &str, value: &str| {
        if let Some(line) = line_of(text, from, key) {
            let text = format!("{key} = {value}");
            edits.push(Edit { line, text });
        }
    };
    for begin in ["use ", "use at most "] {
        for value in figures(cure, begin) {
            edit(line, own_key, &as_toml(&value));
        }
    }
    // `memory = "6MiB"`, perhaps in `[system]`.
    let parts: Vec<&str> = cure.split('`').collect();
    for (index, part) in parts.iter().enumerate().skip(1).step_by(2) {
        let in_system = parts
            .get(index + 1)
            .is_some_and(|part| part.starts_with(" in "));
        let from = if in_system { 1 } else { line };
        let is_removed = parts[index - 1].ends_with("remove ");
        if let Some((key, value)) = part.split_once(" = ").filter(|_| !is_removed) {
            edit(from, key, value);
        }
    }
    // What would make a reservation fit.
    for (key, begin) in [
        ("budget", "a budget of at most "),
        ("period", "a period of at least "),
        ("deadline", "a deadline of at least "),
        ("wcet", "a wcet of at most "),
    ] {
        for value in figures(cure, begin) {
            edit(line, key, &as_toml(&value));
        }
    }
    // Of the vCPU above a task.
    if let Some((_, vcpu)) = cure.split_once("a budget of ")
        && let Some((name, _)) = vcpu.split_once(" of at least ")
    {
        let lines: Vec<&str> = text.lines().take(line).collect();
        let above = lines.iter().rposition(|line| key(line) == Some("budget"));
        for value in figures(cure, &format!("a budget of {name} of at least ")) {
            edit(above.unwrap_or(0) + 1, "budget", &as_toml(&value));
        }
    }
    for part in cure.split([',', ':', ' ']).collect::<Vec<_>>().windows(2) {
        if let ["hart", number] = part
            && cure.contains("makes it fit")
            && number.bytes().all(|byte| byte.is_ascii_digit())
        {
            edit(line, "hart", number);
        }
    }
    for value in figures(cure, "`be_reserve` of at most ") {
        edit(1, "be_reserve", &as_toml(&value));
    }
    edits
}

/// What there is of a problem: its kind, and what of the description it is about.
fn same(problem: &Problem, other: &Problem) -> bool {
    // Of memory that fits nowhere another VM may be named.
    let anywhere = problem.kind() == Code::NoRoom;
    problem.kind() == other.kind() && (anywhere || problem.place() == other.place())
}

/// Applies all that is proposed, one after the other; gives how much that was.
fn apply(text: &str, directory: &Path) -> usize {
    let verdict = judge_text("any.toml", text.to_owned(), directory);
    let mut applied = 0;
    for problem in &verdict.problems {
        for edit in edits(text, problem) {
            let mut lines: Vec<&str> = text.lines().collect();
            lines[edit.line - 1] = &edit.text;
            let again = lines.join("\n");
            let cured: Verdict = judge_text("any.toml", again.clone(), directory);
            let still = cured.problems.iter().find(|other| same(problem, other));
            assert!(
                still.is_none(),
                "{}\n  help: {}\n{edit:?} leads to\n{}\n  help: {}\nof\n{text}",
                problem.message(),
                problem.cure(),
                still.map_or("", |still| still.message()),
                still.map_or("", |still| still.cure()),
            );
            // Nor may it be of a form or a size that is refused in its place.
            let refused = cured.problems.iter().find(|other| {
                matches!(
                    other.kind(),
                    Code::WrongValue | Code::OutOfRange | Code::Unaligned
                ) && other.place().is_some_and(|(_, line, _)| line == edit.line)
            });
            assert!(
                refused.is_none(),
                "{}\n  help: {}\n{edit:?} leads to\n{}\nof\n{text}",
                problem.message(),
                problem.cure(),
                refused.map_or("", |refused| refused.message()),
            );
            applied += 1;
        }
    }
    applied
}

/// Sizes of memory: some are fine, some not whole, some too large for the platform or for any.
fn any_memory() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (1..600u64).prop_map(|mib| format!("\"{mib}MiB\"")),
        1 => (1..70u64).prop_map(|gib| format!("\"{gib}GiB\"")),
        1 => (0..40_000_000u64).prop_map(|bytes| bytes.to_string()),
        1 => (1u64..1 << 45).prop_map(|bytes| bytes.to_string()),
    ]
}

fn any_real_time() -> impl Strategy<Value = String> {
    (
        0..10u32,
        any::<bool>(),
        1..40_000u64,
        1..120u64,
        prop_oneof![Just(100u64), 40..101u64],
    )
        .prop_map(|(hart, by_priority, period, part, deadline)| {
            let mut text = format!("[[vm.vcpu]]\nclass = \"rt\"\nhart = {}\n", hart % 5);
            if by_priority {
                text += &format!("priority = {hart}\n");
            }
            let budget = (period * 1000 * part / 100).max(1);
            text += &format!(
                "period = \"{period}us\"\nbudget = \"{budget}ns\"\ndeadline = \"{}ns\"\n",
                period * 10 * deadline
            );
            text
        })
}

/// Tasks of the VM's last vCPU.
fn any_task() -> impl Strategy<Value = String> {
    (1..500u64, 1..100u64, 0..3u32, any::<bool>()).prop_map(|(period, part, priority, implicit)| {
        let mut text = format!(
            "[[vm.task]]\nname = \"task\"\nvcpu = LAST\nperiod = \"{}us\"\nwcet = \"{}ns\"\npriority = {priority}\n",
            period * 100,
            period * part * 300
        );
        if !implicit {
            text += &format!("deadline = \"{}us\"\n", period * 70);
        }
        text
    })
}

fn any_vm() -> impl Strategy<Value = String> {
    let host = prop::option::weighted(
        0.3,
        prop_oneof![
            0x8000_0000u64..0x1_0000_0000,
            0x8000_0000u64..0x8100_0000,
            any::<u64>()
        ]
        .prop_map(|address| address & (i64::MAX as u64)),
    );
    let harts = prop::option::weighted(0.3, 0..12u32);
    let share = prop::option::weighted(0.4, 0..1100u32);
    (
        any_memory(),
        host,
        harts,
        share,
        prop::collection::vec(any_real_time(), 0..4),
        prop::collection::vec(any_task(), 0..3),
    )
        .prop_map(|(memory, host, hart, share, real_time, tasks)| {
            let mut text = format!("image = \"guest.elf\"\nmemory = {memory}\n");
            if let Some(host) = host {
                text += &format!("host_address = {host:#x}\n");
            }
            if let Some(share) = share {
                text += &format!("rt_vcpus = 1\nrt_share = \"{}\"\n", Share(share))
                    .replace(' ', "")
                    .replace("=", " = ");
            }
            text += "rt_memory = \"8KiB\"\n";
            text += "[[vm.vcpu]]\nclass = \"be\"\n";
            if let Some(hart) = hart {
                text += &format!("harts = [{hart}]\n");
            }
            text += &real_time.concat();
            for (number, task) in tasks.iter().enumerate() {
                let task = task.replace("\"task\"", &format!("\"task{number}\""));
                text += &task.replace("LAST", &real_time.len().to_string());
            }
            text
        })
}

fn any_faulty_system() -> impl Strategy<Value = String> {
    let platform = prop_oneof![Just("qemu-virt"), Just("soc"), Just("mpsoc")];
    let memory = prop_oneof![3 => Just("\"1GiB\"".to_owned()), 1 => any_memory()];
    let slice = 1..2_000_000_000u64;
    let size = prop_oneof![1..100u64, 1u64..1 << 30];
    (
        platform,
        1..10u32,
        memory,
        slice,
        0..1100u32,
        prop::collection::vec(any_vm(), 1..4),
        size,
    )
        .prop_map(|(platform, harts, memory, slice, reserve, vms, size)| {
            let reserve = Share(reserve).to_string().replace(' ', "");
            let mut text = format!(
                "[system]\nplatform = \"{platform}\"\nharts = {harts}\nmemory = {memory}\nslice = \"{slice}ns\"\nbe_reserve = \"{reserve}\"\n"
            );
            for (number, vm) in vms.iter().enumerate() {
                text += &format!("[[vm]]\nname = \"vm{number}\"\n{vm}");
            }
            if vms.len() > 1 {
                text += &format!("[[channel]]\nname = \"c\"\nbetween = [\"vm0\", \"vm1\"]\nsize = {size}\n");
            }
            text
        })
}

thread_local! {
    static FILES: TempDir = files();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_proposed_is_accepted(text in any_faulty_system()) {
        FILES.with(|files| apply(&text, files.path()));
    }
}

/// The systems above propose a lot.
#[test]
fn much_is_proposed() {
    let mut runner = TestRunner::deterministic();
    let files = files();
    let mut applied = 0;
    for _ in 0..20 {
        let text = any_faulty_system()
            .new_tree(&mut runner)
            .expect("a system")
            .current();
        applied += apply(&text, files.path());
    }
    assert!(applied > 40, "{applied}");
}

/// All that the faults' messages propose, too.
#[test]
fn what_is_proposed_for_the_faults_is_accepted() {
    let files = files();
    let mut applied = 0;
    crate::testing::each_file("tactus/tests/faults", |bytes| {
        applied += apply(&String::from_utf8_lossy(bytes), files.path());
    });
    assert!(applied > 20, "{applied}");
}

/// Real-time vCPUs, each of a VM of its own, many of which do not fit.
fn any_full_system() -> impl Strategy<Value = String> {
    let vcpu = (
        0..2u32,
        prop::option::weighted(0.3, Just(())),
        1..20u64,
        5..60u64,
        prop_oneof![Just(100u64), 30..101u64],
        prop_oneof![3 => Just("server"), 1 => Just("periodic")],
    );
    let by_priority = prop::option::weighted(0.3, Just(()));
    (0..300u32, by_priority, prop::collection::vec(vcpu, 2..7)).prop_map(
        |(reserve, by_priority, vcpus)| {
            let reserve = Share(reserve).to_string().replace(' ', "");
            let mut text =
                format!("[system]\nplatform = \"mpsoc\"\nharts = 2\nbe_reserve = \"{reserve}\"\n");
            for (number, vcpu) in vcpus.iter().enumerate() {
                let (hart, several, period, part, deadline, kind) = vcpu;
                text += &format!(
                    "[[vm]]\nname = \"vm{number}\"\nimage = \"guest.elf\"\nmemory = \"4MiB\"\n\
                     [[vm.vcpu]]\nclass = \"rt\"\nkind = \"{kind}\"\n\
                     period = \"{period}ms\"\nbudget = \"{}us\"\n",
                    (period * part * 10).min(period * deadline * 10)
                );
                if *deadline < 100 {
                    text += &format!("deadline = \"{}us\"\n", period * deadline * 10);
                }
                text += &match (by_priority, several) {
                    (Some(()), _) => format!("hart = {hart}\npriority = {}\n", 100 - period),
                    (None, Some(())) => "harts = [0, 1]\n".to_owned(),
                    (None, None) => format!("hart = {hart}\n"),
                };
            }
            text
        },
    )
}

/// Whether it is refused for what its real-time vCPUs ask for.
fn is_refused(verdict: &Verdict) -> bool {
    let codes = [Code::MissesDeadline, Code::OverSubscribed, Code::TooMany];
    let mut problems = verdict.problems.iter();
    problems.any(|problem| codes.contains(&problem.kind()))
}

/// The text with another value of a key of the only vCPU of a VM.
fn with_time(text: &str, vcpu: &str, key: &str, ticks: u64) -> String {
    with_key(text, vcpu, key, &format!("\"{}ns\"", ticks * 100))
}

fn with_key(text: &str, vcpu: &str, key: &str, value: &str) -> String {
    let (vm, _) = vcpu.split_once('.').expect("VM and number");
    let begin = text.find(&format!("\"{vm}\"")).expect("the VM");
    let line = text[..begin].lines().count();
    let table = text
        .lines()
        .skip(line)
        .position(|line| line == "[[vm.vcpu]]")
        .expect("its vCPU");
    let at = line_of(text, line + table + 1, key).expect("the key");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines[at - 1] = format!("{key} = {value}");
    lines.join("\n")
}

/// What is said to make the whole system fit does, alone or together; and of what is refused something is said mostly.
#[test]
fn a_cure_of_the_system_makes_the_system_fit() {
    let mut runner = TestRunner::deterministic();
    let files = files();
    let (mut systems, mut alone, mut together, mut periodic, mut without) = (0, 0, 0, 0, 0);
    for _ in 0..50 {
        let text = any_full_system()
            .new_tree(&mut runner)
            .expect("a system")
            .current();
        let verdict = judge_text("any.toml", text.clone(), files.path());
        if !is_refused(&verdict) {
            continue;
        }
        systems += 1;
        let guarantee = verdict.guarantee.as_ref().expect("a platform");
        let accepted = |text: String, what: &str| {
            let again = judge_text("any.toml", text.clone(), files.path());
            assert!(!is_refused(&again), "{what}\n{text}");
        };
        let mut cured = false;
        for problem in &verdict.problems {
            let is_of_one = matches!(problem.kind(), Code::MissesDeadline | Code::OverSubscribed)
                && problem.cure().contains("makes it fit");
            if !is_of_one || problem.cure().contains("though not the others") {
                continue;
            }
            for edit in edits(&text, problem) {
                let mut lines: Vec<&str> = text.lines().collect();
                lines[edit.line - 1] = &edit.text;
                accepted(lines.join("\n"), problem.cure());
                alone += 1;
                cured = true;
            }
        }
        if let Some(joint) = &guarantee.joint {
            let changed = joint.changes.iter().fold(text.clone(), |text, change| {
                with_time(&text, &change.vcpu, change.key.name(), change.ticks)
            });
            accepted(changed, "together");
            together += 1;
            cured = true;
            if let Some(vcpus) = &joint.periodic {
                let changed = vcpus.iter().fold(text.clone(), |text, vcpu| {
                    with_key(&text, vcpu, "kind", "\"periodic\"")
                });
                accepted(changed, "periodic");
                periodic += 1;
            }
            if let Some(reserve) = joint.reserve {
                let value = as_toml(&reserve.to_string());
                let line = line_of(&text, 1, "be_reserve").expect("it is there");
                let mut lines: Vec<&str> = text.lines().collect();
                let changed = format!("be_reserve = {value}");
                lines[line - 1] = &changed;
                accepted(lines.join("\n"), "less for best effort");
            }
        }
        without += u32::from(!cured);
    }
    assert!(
        systems > 20 && alone > 20 && together > 15 && periodic > 1,
        "{systems} {alone} {together} {periodic}"
    );
    assert!(without * 10 < systems, "{without} of {systems}");
}

/// What is said to be the worst that is accepted is, and a little more is not.
#[test]
fn margins_end_where_it_is_refused() {
    let mut runner = TestRunner::deterministic();
    let files = files();
    let mut tried = 0;
    for _ in 0..30 {
        let text = any_full_system()
            .new_tree(&mut runner)
            .expect("a system")
            .current();
        // A vCPU stays where it is.
        let text = text.replace("harts = [0, 1]", "hart = 0");
        let verdict = judge_text("any.toml", text.clone(), files.path());
        let guarantee = verdict.guarantee.as_ref().expect("a platform");
        let Some(found) = guarantee.sensitivity() else {
            assert!(is_refused(&verdict));
            continue;
        };
        let refused = |text: String| {
            let again = judge_text("any.toml", text, files.path());
            again
                .problems
                .iter()
                .any(|problem| problem.kind().weight() == crate::problem::Weight::Error)
        };
        let scaled = |factor: f64| {
            found.vcpus.iter().fold(text.clone(), |text, vcpu| {
                let budget = (vcpu.reservation.budget as f64 * factor + 1e-6) as u64;
                with_time(&text, &vcpu.name, "budget", budget)
            })
        };
        let factor = found.budgets.expect("reservations");
        assert!(!refused(scaled(factor)), "{factor}\n{text}");
        assert!(refused(scaled(factor + 0.002)), "{factor}\n{text}");
        for vcpu in &found.vcpus {
            let own = vcpu.reservation;
            let mut both = |key: &str, last: u64, next: u64| {
                let with = |ticks| with_time(&text, &vcpu.name, key, ticks);
                assert!(!refused(with(last)), "{key} {last}\n{text}");
                assert!(refused(with(next)), "{key} {next}\n{text}");
                tried += 1;
            };
            both("budget", vcpu.budget, vcpu.budget + 1);
            if vcpu.period < own.period {
                both("period", vcpu.period, vcpu.period - 1);
            }
            if text.contains("deadline")
                && vcpu.deadline < own.deadline
                && own.deadline < own.period
            {
                both("deadline", vcpu.deadline, vcpu.deadline - 1);
            }
        }
    }
    assert!(tried > 20, "{tried}");
}
