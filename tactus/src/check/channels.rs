//! Channels between VMs.

use tactus_abi::map;
use tactus_policy::placement::Extent;

use super::judge::Judge;
use crate::config::{Address, Size};
use crate::plan::ChannelEnd;
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
    pub(super) ends: [(usize, usize); 2],
}

/// Judges all channels and lays each VM's shared memory out in the order of the file.
pub(super) fn check(judge: &mut Judge<'_>) -> Channels {
    let config = judge.config;
    let mut result = Channels {
        ends: vec![Vec::new(); config.vms.len()],
        ..Channels::default()
    };
    for channel in &config.channels {
        let title = channel.title();
        let ends = channel.between.as_ref().and_then(|between| {
            let [a, b] = between
                .each_ref()
                .map(|name| judge.resolve_vm(name, &title));
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
            let what = format!("`size` of {title}");
            judge.is_multiple(size.value.0, map::PAGE_SIZE, &size.span, &what, show)
        });
        let (Some([a, b]), Some(size), Some(name)) = (ends, size, &channel.name) else {
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
            ends: [(a, numbers[0]), (b, numbers[1])],
        });
    }
    result
}

/// Where the next channel of a VM with these begins.
fn next_address(ends: &[ChannelEnd]) -> u64 {
    ends.last().map_or(map::CHANNEL_BASE, |end| end.guest.end)
}
