//! Channels between VMs.

use tactus_abi::blob::limit;
use tactus_abi::map;
use tactus_planning::placement::Extent;

use super::calls;
use super::emulation;
use super::judge::Judge;
use crate::config::{self, Address, At, Nanoseconds, Size, Span};
use crate::plan::{ChannelEnd, EmulatedDevice};
use crate::problem::{Code, count};

/// The channels that can be, and each VM's ends of them.
#[derive(Default)]
pub(super) struct Channels {
    pub(super) channels: Vec<Channel>,
    /// For each VM, by channel number.
    pub(super) ends: Vec<Vec<ChannelEnd>>,
}

/// A channel whose physical memory is not placed yet.
pub(super) struct Channel {
    pub(super) name: String,
    pub(super) size: Size,
    pub(super) messages: u32,
    pub(super) message_size: u32,
    pub(super) calls: Nanoseconds,
    pub(super) device: Option<EmulatedDevice>,
    pub(super) reserved_memory: bool,
    pub(super) ends: [(usize, usize); 2],
}

/// Judges all channels and lays each VM's shared memory out in the order of the file.
pub(super) fn check<'c>(judge: &mut Judge<'c>) -> Channels {
    let config = judge.config;
    let mut result = Channels {
        ends: vec![Vec::new(); config.vms.len()],
        ..Channels::default()
    };
    for channel in &config.channels {
        let title = channel.title();
        let ends = channel.between.as_ref().and_then(|between| {
            let [first, second] = between;
            let other = |name: &'c At<String>| [name.value.as_str()];
            let a = judge.resolve_vm(first, &title, &other(second));
            let b = judge.resolve_vm(second, &title, &other(first));
            let (a, b) = (a?, b?);
            if a == b {
                judge.note(
                    Code::SelfReference,
                    &between[1].span,
                    "the same VM",
                    format!("{title} has the same VM at both ends"),
                    "name two VMs; within one, use its memory",
                );
                return None;
            }
            Some([a, b])
        });
        let size = channel.size.as_ref().filter(|size| {
            let show = |bytes| Size(bytes).to_string();
            let what = format!("{title}: `size`");
            let fits = |size| size <= map::CHANNEL_END - map::CHANNEL_BASE;
            judge.is_multiple(size.value.0, map::PAGE_SIZE, &size.span, &what, show, fits)
        });
        let messages = messages(judge, channel, &title);
        let (Some([a, b]), Some(size), Some(name), Some((messages, message_size))) =
            (ends, size, &channel.name, messages)
        else {
            continue;
        };
        let numbers = [a, b].map(|vm| result.ends[vm].len());
        let mut fits = true;
        for (vm, number) in [a, b].into_iter().zip(numbers) {
            let vm_title = config.vms[vm].title();
            if number >= map::CHANNELS_MAX as usize {
                judge.note(
                    Code::TooMany,
                    &channel.span,
                    format!("number {} of {vm_title}", number + 1),
                    format!(
                        "{vm_title} has more than {}",
                        count(map::CHANNELS_MAX as usize, "channel")
                    ),
                    "let larger channels carry more",
                );
                fits = false;
            }
            let start = next_address(&result.ends[vm]);
            if size.value.0 > map::CHANNEL_END - start {
                judge.note(
                    Code::ChannelSpace,
                    &size.span,
                    format!("{} left", Size(map::CHANNEL_END - start)),
                    format!(
                        "{title} does not fit what is left for channels of {vm_title}, {} to {}",
                        Address(start),
                        Address(map::CHANNEL_END - 1)
                    ),
                    "make it or other channels smaller",
                );
                fits = false;
                // The other end has the same fault, or it is hidden behind this one.
                break;
            }
        }
        if !fits {
            continue;
        }
        for (this, other) in [(0, 1), (1, 0)] {
            let vm = [a, b][this];
            let start = next_address(&result.ends[vm]);
            result.ends[vm].push(ChannelEnd {
                channel: result.channels.len(),
                guest: Extent::new(start, size.value.0),
                peer: [a, b][other],
                peer_number: numbers[other],
            });
        }
        result.channels.push(Channel {
            name: name.value.clone(),
            size: size.value,
            messages,
            message_size,
            calls: calls::time(judge, channel, &title),
            device: emulation::device(judge, channel, &title, numbers[0]),
            reserved_memory: channel.reserved_memory,
            ends: [(a, numbers[0]), (b, numbers[1])],
        });
    }
    calls::check(judge);
    emulation::place_memory(judge, &mut result);
    result
}

/// How many messages a channel carries at each end, and their size. `None`, noted: more or larger ones than there can
/// be.
fn messages(judge: &mut Judge<'_>, channel: &config::Channel, title: &str) -> Option<(u32, u32)> {
    let (number, size) = match (&channel.messages, &channel.message_size) {
        (None, None) => return Some((0, 0)),
        (Some(number), Some(size)) => (number, size),
        (Some(one), None) => {
            one_alone(
                judge,
                title,
                &channel.span,
                &one.span,
                "messages",
                "message_size = \"256B\"",
            );
            return None;
        }
        (None, Some(one)) => {
            one_alone(
                judge,
                title,
                &channel.span,
                &one.span,
                "message_size",
                "messages = 8",
            );
            return None;
        }
    };
    let mut fits = true;
    let most = limit::MESSAGES as u32;
    if !(1..=most).contains(&number.value) {
        judge.note(
            Code::OutOfRange,
            &number.span,
            format!("1 to {most}"),
            format!(
                "at an end of {title}, {} cannot wait; there can be 1 to {most}",
                count(number.value as usize, "message")
            ),
            "leave `messages` and `message_size` out for a channel that carries none",
        );
        fits = false;
    }
    let largest = Size(limit::MESSAGE as u64);
    if size.value == Size(0) || size.value > largest {
        judge.note(
            Code::OutOfRange,
            &size.span,
            format!("1 B to {largest}"),
            format!(
                "a message of {title} cannot have {}; it may have 1 B to {largest}",
                size.value
            ),
            "let larger things go through the shared memory, and messages say where they are",
        );
        fits = false;
    }
    fits.then_some((number.value, size.value.0 as u32))
}

/// Notes that of two keys that belong together one is missing.
fn one_alone(
    judge: &mut Judge<'_>,
    title: &str,
    table: &Span,
    span: &Span,
    there: &str,
    missing: &str,
) {
    let (key, _) = missing.split_once(' ').unwrap_or((missing, ""));
    if judge.config.is_wrong(table, key) {
        return;
    }
    judge.note(
        Code::MissingKey,
        span,
        format!("without `{key}`"),
        format!("{title} has `{there}` and no `{key}`"),
        format!("add a line such as `{missing}`"),
    );
}

/// Where the next channel of a VM with these begins.
fn next_address(ends: &[ChannelEnd]) -> u64 {
    ends.last().map_or(map::CHANNEL_BASE, |end| end.guest.end)
}
