//! Calls between VMs.

use tactus_abi::blob::limit;

use super::channels::Channel;
use super::judge::Judge;
use crate::config::{self, Config, Nanoseconds};
use crate::problem::Code;

/// The longest time that a call may be given: no real-time vCPU has the hart meanwhile.
const MOST: Nanoseconds = Nanoseconds(1_000_000);
/// ... and the shortest.
const LEAST: Nanoseconds = Nanoseconds(1_000);

/// How long a call by a channel may take, as the description says; 0: there are none.
pub(super) fn time(judge: &mut Judge<'_>, channel: &config::Channel, title: &str) -> Nanoseconds {
    let Some(time) = &channel.calls else {
        return Nanoseconds(0);
    };
    if !(LEAST..=MOST).contains(&time.value) {
        judge.note(
            Code::OutOfRange,
            &time.span,
            format!("{LEAST} to {MOST}"),
            format!("a call by {title} may take {LEAST} to {MOST}, not {}", time.value),
            "nothing else has the hart meanwhile: let what takes longer go through the shared memory",
        );
    }
    time.value
}

/// Judges which VMs call each other.
pub(super) fn check(judge: &mut Judge<'_>, channels: &[Channel]) {
    let links = links(channels);
    let config = judge.config;
    for (vm, channel) in config.vms.iter().enumerate().filter_map(|(vm, _)| {
        let link = links.iter().find(|link| link.caller == vm)?;
        (depth(&links, vm, limit::CALL_DEPTH + 1) > limit::CALL_DEPTH).then_some((vm, link.channel))
    }) {
        let name = &channels[channel].name;
        let given = config.channels.iter().find(|given| {
            given
                .name
                .as_ref()
                .is_some_and(|given| given.value == *name)
        });
        let Some(time) = given.and_then(|channel| channel.calls.as_ref()) else {
            continue;
        };
        judge.note(
            Code::CallDepth,
            &time.span,
            "calls within calls",
            format!(
                "{} calls VMs that call others, {} or more in a row, or itself in the end",
                config.vms[vm].title(),
                limit::CALL_DEPTH + 1
            ),
            "remove `calls` from a channel of the chain; a service may notify another VM instead",
        );
    }
}

/// A VM that may call another one.
struct Link {
    caller: usize,
    server: usize,
    time: Nanoseconds,
    channel: usize,
}

fn links(channels: &[Channel]) -> Vec<Link> {
    let calls = channels
        .iter()
        .enumerate()
        .filter(|(_, channel)| channel.calls.0 != 0);
    calls
        .map(|(index, channel)| {
            let [(caller, _), (server, _)] = channel.ends;
            Link {
                caller,
                server,
                time: channel.calls,
                channel: index,
            }
        })
        .collect()
}

/// How many calls there may be within each other that a VM begins, as far as `most`.
fn depth(links: &[Link], vm: usize, most: usize) -> usize {
    if most == 0 {
        return 0;
    }
    let of_vm = links.iter().filter(|link| link.caller == vm);
    let below = of_vm.map(|link| 1 + depth(links, link.server, most - 1));
    below.max().unwrap_or(0)
}

/// How long a hart may be kept by one call, waits for other harts included; 0 where there are none.
///
/// A service is one hart's at a time, first come, first served, for as long as its longest call; a call that it makes
/// itself ends within that, but it may have waited for its turn longer.
pub(super) fn longest(config: &Config, harts: u32) -> Nanoseconds {
    let index = |name: &str| {
        let own = |vm: &config::Vm| vm.name.as_ref().is_some_and(|own| own.value == name);
        config.vms.iter().position(own)
    };
    let links: Vec<Link> = config
        .channels
        .iter()
        .filter_map(|channel| {
            let [caller, server] = channel.between.as_ref()?;
            Some(Link {
                caller: index(&caller.value)?,
                server: index(&server.value)?,
                time: channel.calls.as_ref()?.value,
                channel: 0,
            })
        })
        .collect();
    let services = links
        .iter()
        .map(|link| held(&links, link.server, harts.into(), limit::CALL_DEPTH));
    Nanoseconds(services.max().unwrap_or(0).saturating_mul(harts.into()))
}

/// How long a service may be one hart's, in nanoseconds.
fn held(links: &[Link], server: usize, harts: u64, depth: usize) -> u64 {
    let calls = links.iter().filter(|link| link.server == server);
    let longest = calls.map(|link| link.time.0).max().unwrap_or(0);
    if depth == 0 {
        return longest;
    }
    let own = links.iter().filter(|link| link.caller == server);
    let waits = own.map(|link| {
        held(links, link.server, harts, depth - 1).saturating_mul(harts.saturating_sub(1))
    });
    longest.saturating_add(waits.max().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(caller: usize, server: usize, time: u64) -> Link {
        Link {
            caller,
            server,
            time: Nanoseconds(time),
            channel: 0,
        }
    }

    /// On each of four harts someone waits for the service, which itself waits for another one three times as long as that
    /// may be held.
    #[test]
    fn a_service_is_held_as_long_as_its_longest_call_and_the_waits_within() {
        let links = [link(0, 2, 10), link(1, 2, 20), link(2, 3, 5), link(0, 3, 7)];
        assert_eq!(held(&links, 3, 4, limit::CALL_DEPTH), 7);
        assert_eq!(held(&links, 2, 4, limit::CALL_DEPTH), 20 + 3 * 7);
        assert_eq!(held(&links, 2, 1, limit::CALL_DEPTH), 20);
    }

    #[test]
    fn chains_are_as_long_as_their_longest_way() {
        let most = limit::CALL_DEPTH + 1;
        let chain = [link(0, 1, 1), link(1, 2, 1), link(0, 2, 1), link(2, 3, 1)];
        assert_eq!([0, 1, 2, 3].map(|vm| depth(&chain, vm, most)), [3, 2, 1, 0]);
        let circle = [link(0, 1, 1), link(1, 0, 1)];
        assert_eq!(depth(&circle, 0, most), most);
    }
}
