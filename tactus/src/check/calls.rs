//! Calls between VMs.

use tactus_abi::blob::limit;

use super::judge::Judge;
use crate::config::{self, At, Config, Nanoseconds, Span};
use crate::plan::Plan;
use crate::problem::{Code, Problem};

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
pub(super) fn check(judge: &mut Judge<'_>) {
    let config = judge.config;
    let links = links(config);
    for link in &links {
        let server = &config.vms[link.server];
        let Some(accelerator) = server.accelerators.first() else {
            continue;
        };
        // Harts that ran the service keep its translations, and are not told when a page is closed.
        let problem = Problem::new(
            Code::ServedAccelerator,
            format!("{} serves calls and has an accelerator", server.title()),
            "let another VM serve the calls, or give the accelerator to another one",
        );
        let problem = problem.at(judge.source(), &accelerator.span, "its accelerator");
        judge.add(problem.at(judge.source(), link.span, "these calls are served by it"));
    }
    let depths = depths(&links, config.vms.len());
    for (vm, depth) in depths.into_iter().enumerate() {
        let Some(link) = links.iter().find(|link| link.caller == vm) else {
            continue;
        };
        if depth <= limit::CALL_DEPTH {
            continue;
        }
        judge.note(
            Code::CallDepth,
            link.span,
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
struct Link<'c> {
    caller: usize,
    server: usize,
    time: Nanoseconds,
    /// Where the description says so.
    span: &'c Span,
}

/// All that a description has, in its order, but those that are noted as no channels between two VMs.
fn links<'c>(config: &'c Config) -> Vec<Link<'c>> {
    let index = |name: &At<String>| {
        let own = |vm: &config::Vm| vm.name.as_ref().is_some_and(|own| own.value == name.value);
        config.vms.iter().position(own)
    };
    let link = |channel: &'c config::Channel| {
        let config::Channel { between, calls, .. } = channel;
        let (between, calls) = between.as_ref().zip(calls.as_ref())?;
        let [caller, server] = between.each_ref().map(index);
        Some(Link {
            caller: caller?,
            server: server?,
            time: calls.value.min(MOST),
            span: &calls.span,
        })
    };
    let is_one = |link: &Link<'_>| link.caller != link.server && link.time.0 != 0;
    config
        .channels
        .iter()
        .filter_map(link)
        .filter(is_one)
        .collect()
}

/// For each VM, how many calls there may be within each other that it begins, as far as one more than there may be.
fn depths(links: &[Link<'_>], vms: usize) -> Vec<usize> {
    let mut depths = vec![0; vms];
    for _ in 0..=limit::CALL_DEPTH {
        let mut deeper = vec![0; vms];
        for link in links {
            deeper[link.caller] = deeper[link.caller].max(1 + depths[link.server]);
        }
        depths = deeper;
    }
    depths
}

/// How long a hart may be kept by one call, waits for other harts included; 0 where there are none.
pub(super) fn longest(config: &Config, harts: u32) -> Nanoseconds {
    let held = held(&links(config), config.vms.len(), harts.into());
    Nanoseconds(longest_of(&held, harts.into()))
}

/// The same, where services may be held so long.
fn longest_of(held: &[u64], harts: u64) -> u64 {
    held.iter()
        .max()
        .map_or(0, |most| most.saturating_mul(harts))
}

/// For each VM, the longest call of it by another, in nanoseconds; 0: none calls it.
fn own_calls(links: &[Link<'_>], vms: usize) -> Vec<u64> {
    let mut longest = vec![0; vms];
    for link in links {
        longest[link.server] = longest[link.server].max(link.time.0);
    }
    longest
}

/// For each VM, how long its service may be one hart's, in nanoseconds.
///
/// A service is one hart's at a time, first come, first served, for as long as its longest call; a call that it makes
/// itself ends within that, but it may have waited for its turn longer.
fn held(links: &[Link<'_>], vms: usize, harts: u64) -> Vec<u64> {
    let longest = own_calls(links, vms);
    let mut held = longest.clone();
    for _ in 0..limit::CALL_DEPTH {
        let mut waits = vec![0; vms];
        // What no VM calls is held by none.
        for link in links.iter().filter(|link| longest[link.caller] != 0) {
            let wait = held[link.server].saturating_mul(harts.saturating_sub(1));
            waits[link.caller] = waits[link.caller].max(wait);
        }
        held = longest
            .iter()
            .zip(waits)
            .map(|(own, wait)| own.saturating_add(wait))
            .collect();
    }
    held
}

/// How long a call by a channel may take its caller, or an access in the window of a device that is emulated by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The channel's index.
    pub channel: usize,
    /// The longest wait for the calls of other harts that are served before.
    pub waits: Nanoseconds,
    /// ... and from then on.
    pub takes: Nanoseconds,
}

impl Bound {
    /// Both together.
    pub const fn within(&self) -> Nanoseconds {
        Nanoseconds(self.waits.0.saturating_add(self.takes.0))
    }
}

/// The bounds of a plan's channels with calls, in their order: while the caller has its hart.
///
/// On each other hart, one call may come before. The way through the hypervisor to a service and back is within what
/// the platform's longest path takes.
pub fn bounds(plan: &Plan) -> Vec<Bound> {
    let channels = plan.channels.iter().enumerate();
    let calls = channels.filter(|(_, channel)| channel.calls.0 != 0);
    let (numbers, links): (Vec<_>, Vec<_>) = calls
        .map(|(number, channel)| {
            let [(caller, _), (server, _)] = channel.ends;
            let link = Link {
                caller,
                server,
                time: channel.calls,
                span: &(0..0),
            };
            (number, link)
        })
        .unzip();
    let harts = u64::from(plan.harts);
    let held = held(&links, plan.vms.len(), harts);
    let own_calls = own_calls(&links, plan.vms.len());
    // What `platform` has added for calls is no part of the way.
    let blocking = plan.profile.overheads.blocking.0;
    let way = blocking.saturating_sub(longest_of(&held, harts));
    let bound = |(channel, link): (usize, &Link<'_>)| {
        let nested = held[link.server].saturating_sub(own_calls[link.server]);
        let one = held[link.server].saturating_add(way);
        Bound {
            channel,
            waits: Nanoseconds(one.saturating_mul(harts.saturating_sub(1))),
            takes: Nanoseconds(link.time.0.saturating_add(nested).saturating_add(way)),
        }
    };
    numbers.into_iter().zip(&links).map(bound).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(caller: usize, server: usize, time: u64) -> Link<'static> {
        Link {
            caller,
            server,
            time: Nanoseconds(time),
            span: &(0..0),
        }
    }

    /// On each of four harts a caller waits for the service, which itself waits for another one three times as long as
    /// that may be held.
    #[test]
    fn a_service_is_held_as_long_as_its_longest_call_and_the_waits_within() {
        let links = [link(0, 2, 10), link(1, 2, 20), link(2, 3, 5), link(0, 3, 7)];
        assert_eq!(held(&links, 4, 4), [0, 0, 20 + 3 * 7, 7]);
        assert_eq!(held(&links, 4, 1), [0, 0, 20, 7]);
    }

    /// The second VM serves the first, and calls the third meanwhile: on the other hart, too.
    #[test]
    fn a_call_waits_for_one_of_each_other_hart() {
        let (_, plan) = crate::check::tests::calls_image();
        let [one, other] = bounds(&plan)[..] else {
            panic!("it has two channels with calls");
        };
        let way = other.takes.0 - 2_000;
        assert!(way > 0);
        assert_eq!(other.waits.0, 2_000 + way);
        assert_eq!(one.takes.0, 12_000 + way);
        assert_eq!(one.waits.0, 12_000 + way);
        assert_eq!(one.within().0, 24_000 + 2 * way);
    }

    #[test]
    fn chains_are_as_long_as_their_longest_way() {
        let chain = [link(0, 1, 1), link(1, 2, 1), link(0, 2, 1), link(2, 3, 1)];
        assert_eq!(depths(&chain, 4), [3, 2, 1, 0]);
        let circle = [link(0, 1, 1), link(1, 0, 1)];
        assert_eq!(depths(&circle, 2), [limit::CALL_DEPTH + 1; 2]);
    }

    /// Each of 32 VMs calls each other one: as many ways as no computer walks.
    #[test]
    fn a_full_graph_is_judged_at_once() {
        let pairs = (0..32).flat_map(|one| (0..32).map(move |other| (one, other)));
        let all: Vec<_> = pairs
            .filter(|(one, other)| one != other)
            .map(|(one, other)| link(one, other, 1))
            .collect();
        assert_eq!(depths(&all, 32), [limit::CALL_DEPTH + 1; 32]);
        assert_eq!(held(&all, 32, 2), [limit::CALL_DEPTH as u64 + 1; 32]);
    }
}
