//! Lists of warm lines, which `tactus warm` makes.

use tactus_abi::blob::warm::WARM_LINES;
use tactus_abi::map::{PAGE_SIZE, RAM_BASE};
use tactus_board::profile::Profile;

use super::files::{GuestFiles, read_regular};
use super::judge::{Judge, nearest_multiples};
use crate::config::{Address, At, Class, FileName, Source, Vcpu, Vm, WarmList};
use crate::plan::{self, WarmRange};
use crate::problem::{Code, Problem};

/// The lists of a system.
pub(super) struct Lists {
    /// Bytes of a line; 0: there is no list.
    pub(super) line: u32,
    /// VM and vCPU, and the vCPU's lines.
    ranges: Vec<(usize, usize, Vec<WarmRange>)>,
}

impl Lists {
    /// Gives each vCPU its list; those of a VM are complete, and in the order of the description.
    pub(super) fn give(self, vcpus: &mut [Vec<plan::Vcpu>]) {
        for (vm, number, ranges) in self.ranges {
            if let Some(vcpu) = vcpus[vm].get_mut(number) {
                vcpu.warm = ranges;
            }
        }
    }
}

/// Reads and judges all lists.
pub(super) fn check(judge: &mut Judge<'_>, guests: &[GuestFiles]) -> Lists {
    let config = judge.config;
    let mut lists = Lists {
        line: 0,
        ranges: Vec::new(),
    };
    for (index, (vm, guest)) in config.vms.iter().zip(guests).enumerate() {
        let mut digest = None;
        for (number, vcpu) in vm.vcpus.iter().enumerate() {
            let Some(name) = &vcpu.warm else {
                continue;
            };
            let title = format!("vCPU {number} of {}", vm.title());
            let Some(list) = read(judge, vcpu, name, &title) else {
                continue;
            };
            unused(judge, vcpu, name, &title);
            let made_from =
                digest.get_or_insert_with(|| guest.image.as_ref().map(|image| image.digest()));
            stale(judge, &list, vm, number, made_from.as_deref());
            let memory = vm.memory.as_ref().map_or(0, |memory| memory.value.0);
            if let Some(line) = line_of(judge, &list, &mut lists.line)
                && let Some(ranges) = ranges(judge, &list, &title, line.into(), memory)
            {
                lists.ranges.push((index, number, ranges));
            }
        }
    }
    lists
}

/// Reads the list of a vCPU that can have one.
fn read(judge: &mut Judge<'_>, vcpu: &Vcpu, name: &At<FileName>, title: &str) -> Option<WarmList> {
    if vcpu
        .class
        .as_ref()
        .is_some_and(|class| class.value == Class::Be)
    {
        judge.note(
            Code::BadWarmLines,
            &name.span,
            "of a best-effort vCPU",
            format!(
                "{title} is best effort, and `warm` is for real-time vCPUs that their timer wakes"
            ),
            "remove it, or make the vCPU `class = \"rt\"`",
        );
        return None;
    }
    let FileName::Path(path) = &name.value else {
        judge.note(
            Code::BadWarmLines,
            &name.span,
            "no path",
            format!("{title}: `warm` names a file, and no artifact"),
            "give the path of a file that `tactus warm` has written",
        );
        return None;
    };
    let path = judge.config.directory.join(path);
    let text = read_regular(&path)
        .and_then(|bytes| String::from_utf8(bytes).map_err(|_| "it is no text in UTF-8".into()));
    let text = match text {
        Ok(text) => text,
        Err(reason) => {
            judge.note(
                Code::MissingFile,
                &name.span,
                "cannot be read",
                format!("the warm lines of {title} cannot be read: {reason}"),
                "make it with `tactus warm`, or correct the path; it is relative to this file's directory",
            );
            return None;
        }
    };
    let (list, problems) = match WarmList::parse(Source::new(path.to_string_lossy(), text)) {
        Ok((list, problems)) => (Some(list), problems),
        Err(problems) => (None, problems),
    };
    let is_whole = problems.is_empty();
    for problem in problems {
        judge.add(problem);
    }
    list.filter(|_| is_whole)
}

/// Warns of a list that the hypervisor never uses: of a vCPU that has its hart at its deadlines.
fn unused(judge: &mut Judge<'_>, vcpu: &Vcpu, name: &At<FileName>, title: &str) {
    let of_all = &judge.config.system.dispatch_ahead;
    let is_ahead = vcpu.dispatch_ahead.as_ref().or(of_all.as_ref());
    if !is_ahead.is_some_and(|given| given.value) {
        judge.note(
            Code::UnusedWarmLines,
            &name.span,
            "never used",
            format!(
                "{title} has its hart at its deadlines, and warm lines are for the time before"
            ),
            "add `dispatch_ahead = true`, or remove `warm`",
        );
    }
}

/// Warns of a list of vCPU `number` that was made from another image than that of its VM, or on another board.
fn stale(judge: &mut Judge<'_>, list: &WarmList, vm: &Vm, number: usize, image: Option<&str>) {
    let title = format!("vCPU {number} of {}", vm.title());
    let Some(made_from) = &list.image else {
        return;
    };
    if image.is_some_and(|image| image != made_from.value) {
        let file = judge.source().name();
        let name = vm.name.as_ref().map_or("NAME", |name| &name.value);
        let problem = Problem::new(
            Code::StaleWarmLines,
            format!("the warm lines of {title} were made from another image than the VM has now"),
            format!("make them again: `tactus warm {file} --vm {name} --vcpu {number}`"),
        );
        judge.add(problem.at(&list.source, &made_from.span, "of another image"));
    }
    let platform = judge.config.system.platform.as_ref();
    let profile = platform.and_then(|name| Profile::named(&name.value));
    let caches = profile.and_then(|profile| profile.timing.caches);
    if let (Some(caches), Some(line)) = (caches, &list.line)
        && u64::from(line.value) != caches.l1d.line
    {
        let problem = Problem::new(
            Code::StaleWarmLines,
            format!(
                "the warm lines of {title} have {} bytes, and the platform's have {}",
                line.value, caches.l1d.line
            ),
            "make them again on this platform's board",
        );
        judge.add(problem.at(&list.source, &line.span, "of another board"));
    }
}

/// The bytes of a list's lines, which are the same in all lists of a system.
fn line_of(judge: &mut Judge<'_>, list: &WarmList, common: &mut u32) -> Option<u32> {
    let line = list.line.as_ref()?;
    let (message, cure) =
        if !line.value.is_power_of_two() || !(8..=PAGE_SIZE).contains(&line.value.into()) {
            (
                format!("`line` is {}, and no cache has such lines", line.value),
                format!("write the bytes of a line: a power of two, 8 to {PAGE_SIZE}"),
            )
        } else if *common != 0 && *common != line.value {
            (
                format!(
                    "`line` is {}, and {common} in another list of the system",
                    line.value
                ),
                "make all lists on the same board".to_owned(),
            )
        } else {
            *common = line.value;
            return Some(line.value);
        };
    let problem = Problem::new(Code::BadWarmLines, message, cure);
    judge.add(problem.at(&list.source, &line.span, "here"));
    None
}

/// The ranges, if all are in the VM's memory of so many bytes, and not too many.
fn ranges(
    judge: &mut Judge<'_>,
    list: &WarmList,
    title: &str,
    line: u64,
    memory: u64,
) -> Option<Vec<WarmRange>> {
    let mut ranges = Vec::new();
    let mut left = WARM_LINES;
    let mut is_right = true;
    for range in &list.ranges {
        let (first, lines) = (range.first.as_ref()?, range.lines.as_ref()?);
        let code = range.code.as_ref()?.value;
        let offset = first.value.0.wrapping_sub(RAM_BASE);
        let bytes = u64::from(lines.value).saturating_mul(line);
        let fault = if !first.value.0.is_multiple_of(line) {
            let show = |value| Address(value).to_string();
            let cure = nearest_multiples(first.value.0, line, show, |_| true);
            Some((
                first.span.clone(),
                format!("`first` is no multiple of {line}, the bytes of a line"),
                cure,
            ))
        } else if lines.value == 0 || lines.value > WARM_LINES {
            Some((
                lines.span.clone(),
                format!("`lines` is {}", lines.value),
                format!("write 1 to {WARM_LINES}"),
            ))
        } else if offset >= memory || bytes > memory - offset {
            let [from, end] = [RAM_BASE, RAM_BASE + memory.saturating_sub(1)].map(Address);
            Some((
                first.span.clone(),
                format!("the lines are not in the VM's memory, {from} to {end}"),
                "make the list again with `tactus warm`".to_owned(),
            ))
        } else if lines.value > left {
            left = 0;
            Some((
                range.span.clone(),
                format!("{title} has more than {WARM_LINES} warm lines"),
                "remove the last ranges, which are used last".to_owned(),
            ))
        } else {
            left -= lines.value;
            None
        };
        if let Some((span, message, cure)) = fault {
            let problem = Problem::new(Code::BadWarmLines, message, cure);
            judge.add(problem.at(&list.source, &span, "here"));
            is_right = false;
            if left == 0 {
                break;
            }
        } else {
            ranges.extend(pieces(first.value.0, lines.value, line, code));
        }
    }
    is_right.then_some(ranges)
}

/// So many adjacent lines, divided where a page begins: only within a page they follow each other in memory, too.
fn pieces(first: u64, lines: u32, line: u64, code: bool) -> impl Iterator<Item = WarmRange> {
    let end = first.saturating_add(u64::from(lines) * line);
    let next_page = move |guest: u64| {
        (guest - guest % PAGE_SIZE)
            .saturating_add(PAGE_SIZE)
            .min(end)
    };
    let firsts = std::iter::successors(Some(first), move |guest| Some(next_page(*guest)));
    let within = firsts.take_while(move |guest| *guest < end);
    within.map(move |guest| WarmRange {
        guest,
        lines: ((next_page(guest) - guest) / line) as u16,
        code,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_divided_where_a_page_begins() {
        let all = |first, lines| -> Vec<(u64, u16)> {
            let pieces = pieces(first, lines, 32, true);
            pieces.map(|piece| (piece.guest, piece.lines)).collect()
        };
        assert_eq!(all(0x8000_0000, 128), [(0x8000_0000, 128)]);
        assert_eq!(all(0x8000_0fe0, 1), [(0x8000_0fe0, 1)]);
        assert_eq!(
            all(0x8000_0fc0, 128),
            [(0x8000_0fc0, 2), (0x8000_1000, 126)]
        );
        let whole: Vec<_> = pieces(0x8000_0000, 3, PAGE_SIZE, false).collect();
        assert_eq!(whole.len(), 3);
    }
}
