//! Random systems for [`super::campaign`]: real-time vCPUs of both kinds with reservations on one to four harts, and
//! best-effort VMs beside them.

use std::fmt::Write;

use fastrand::Rng;
use tactus_board::profile::Profile;

use super::run::PROFILE;

/// Cycles of a step of the guest `victim`.
const CYCLES_PER_STEP: u64 = 3;
/// Steps of a job that never ends.
const NO_END: u64 = 1 << 60;

/// The descriptions of a seed's systems, one after the other: the same on every machine, and without end.
pub fn systems(seed: u64) -> impl Iterator<Item = String> {
    let mut random = Rng::with_seed(seed);
    // Drawn by themselves, so that the rest of a seed's systems stays as it was before there were kinds.
    let mut kinds = Rng::with_seed(!seed);
    let mut ahead = Rng::with_seed(seed.rotate_left(32));
    let mut colours = Rng::with_seed(!seed.rotate_left(32));
    std::iter::repeat_with(move || {
        let mut system = system(&mut random, &mut kinds);
        let options = [
            (ahead.u8(..3) == 0, "dispatch_ahead"),
            (colours.u8(..4) == 0, "cache_colours"),
        ];
        for (_, key) in options.iter().filter(|(drawn, _)| *drawn) {
            system = system.replacen("[system]\n", &format!("[system]\n{key} = true\n"), 1);
        }
        system
    })
}

/// Any system, with one real-time vCPU at least.
fn system(random: &mut Rng, kinds: &mut Rng) -> String {
    let harts = [1, 2, 4][random.usize(..3)];
    let slice = ["200us", "1ms", "10ms"][random.usize(..3)];
    let mut text = format!(
        "[system]\nplatform = \"{PROFILE}\"\nharts = {harts}\nslice = \"{slice}\"\nbe_reserve = \"5%\"\n"
    );
    let mut victims = 0;
    let mut by_deadline = false;
    for hart in 0..harts {
        let least = usize::from(hart + 1 == harts && victims == 0);
        let number = random.usize(least..4);
        let priorities = random.bool();
        by_deadline |= number > 0 && !priorities;
        for _ in 0..number {
            let place = [hart, number];
            let kind = ["periodic", "server"][kinds.usize(..2)];
            victim(random, &mut text, victims, place, priorities, kind);
            victims += 1;
        }
    }
    let others = random.usize(1..3);
    for other in 0..others {
        best_effort(random, &mut text, other, harts, by_deadline);
    }
    channels(random, &mut text, victims, others);
    text
}

/// A real-time VM of one vCPU, on a hart of which it may have one of so many equal shares.
fn victim(
    random: &mut Rng,
    text: &mut String,
    number: usize,
    [hart, shares]: [usize; 2],
    priorities: bool,
    kind: &str,
) {
    let shares = shares as u64;
    let period = 400 << random.u64(..5);
    let period = random.u64(period..2 * period);
    let budget = (period * random.u64(10..80) / 100 / shares).max(40);
    let deadline = if random.bool() {
        period
    } else {
        random.u64(budget..=period)
    };
    let clock_hz = Profile::named(PROFILE).map_or(0, |profile| profile.clock_hz);
    let steps = if random.bool() {
        NO_END
    } else {
        budget * random.u64(20..120) * clock_hz / 100_000_000 / CYCLES_PER_STEP
    };
    let listen = ["none", "masked", "page", "unmasked"][random.usize(..4)];
    let priority = if priorities {
        format!("priority = {}\n", random.u8(..))
    } else {
        String::new()
    };
    let _ = write!(
        text,
        "\n[[vm]]\nname = \"rt{number}\"\nimage = \"@victim\"\ncounters = true\nmemory = \"4MiB\"\n\
         bootargs = \"jobs=1000000 steps={steps} listen={listen}\"\non_fault = \"restart\"\n\n\
         [[vm.vcpu]]\nclass = \"rt\"\nhart = {hart}\n{priority}\
         period = \"{period}us\"\nbudget = \"{budget}us\"\ndeadline = \"{deadline}us\"\nkind = \"{kind}\"\n"
    );
}

/// A VM of one to three best-effort vCPUs, which keep busy, of equal priority, so that each gets its turn. It may make
/// real-time vCPUs where a hart goes by deadlines.
fn best_effort(
    random: &mut Rng,
    text: &mut String,
    number: usize,
    harts: usize,
    by_deadline: bool,
) {
    let load = ["compute", "memory"][random.usize(..2)];
    let _ = write!(
        text,
        "\n[[vm]]\nname = \"other{number}\"\nimage = \"@bench-load\"\nmemory = \"4MiB\"\nbootargs = \"load={load}\"\n\
         on_fault = \"restart\"\n"
    );
    if by_deadline && random.u8(..3) == 0 {
        let _ = write!(
            text,
            "rt_vcpus = {}\nrt_share = \"{}%\"\n",
            random.u8(1..4),
            random.u8(1..10)
        );
    }
    for _ in 0..random.usize(1..4) {
        text.push_str("\n[[vm.vcpu]]\nclass = \"be\"\n");
        if random.bool() {
            let _ = writeln!(text, "harts = [{}]", random.usize(..harts));
        }
    }
}

/// Each best-effort VM may have channels with real-time ones.
fn channels(random: &mut Rng, text: &mut String, victims: usize, others: usize) {
    for other in 0..others {
        for victim in 0..victims {
            if random.u8(..3) > 0 {
                continue;
            }
            let messages = if random.bool() {
                "messages = 8\nmessage_size = \"64B\"\n"
            } else {
                ""
            };
            let _ = write!(
                text,
                "\n[[channel]]\nname = \"c{victim}-{other}\"\nbetween = [\"rt{victim}\", \"other{other}\"]\n\
                 size = \"4KiB\"\n{messages}"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::{Config, Source};

    #[test]
    fn a_seed_has_one_system_and_another_seed_another() {
        let [first, again, other] = [1, 1, 2].map(|seed| systems(seed).next());
        assert_eq!(first, again);
        assert_ne!(first, other);
    }

    #[test]
    fn each_system_can_be_read() {
        for seed in 0..500 {
            let text = systems(seed).next().expect("there is always one");
            let source = Source::new("random.toml", text.clone());
            let (config, problems) = Config::parse(source, Path::new("")).expect("it is TOML");
            assert!(problems.is_empty(), "{text}\n{problems:?}");
            assert!(config.vms.len() > 1, "{text}");
        }
    }

    #[test]
    fn some_systems_have_each_option_and_some_have_none() {
        let drawn: Vec<String> = systems(1).take(60).collect();
        for key in ["dispatch_ahead = true", "cache_colours = true"] {
            let with = drawn.iter().filter(|text| text.contains(key)).count();
            assert!((1..60).contains(&with), "{with} of 60 have {key}");
        }
    }
}
