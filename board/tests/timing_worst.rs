//! No access takes longer than the greatest costs say, and lines outside guests are counted as they are touched.

use proptest::prelude::*;
use tactus_board::account::Doing;
use tactus_board::privileged::Privilege;
use tactus_board::profile::Profile;
use tactus_board::timing::{Lines, Prefetch, Timing, Worst};

const HYPERVISOR: Doing = running(None);
const GUEST: Doing = running(Some(1));

const fn running(guest: Option<u16>) -> Doing {
    Doing::Running {
        guest,
        privilege: Privilege::Supervisor,
    }
}

/// The timing of a profile's board of two harts, with lines counted, and its greatest costs.
fn timing(profile: &str) -> (Timing, Worst) {
    let profile = Profile::named(profile).expect("it comes with the crate");
    let worst = Worst::of(&profile.timing, 2).expect("it has caches");
    let mut timing = Timing::new(&profile.timing, 2, 1);
    timing.count_lines(&[(0x8000_0000, 0x9000_0000)]);
    (timing, worst)
}

/// What a hart does to a line: of memory, or of the memory on the chip where there is one.
#[derive(Clone, Copy, Debug)]
struct Access {
    hart: usize,
    kind: u8,
    line: u64,
    later: u64,
}

/// Few sets of the L2 cache and few rows, so that lines meet.
fn accesses() -> impl Strategy<Value = Vec<Access>> {
    let one = (0..2_usize, 0..8_u8, 0..96_u64, 0..300_u64);
    let one = one.prop_map(|(hart, kind, line, later)| Access {
        hart,
        kind,
        line: (line % 8) + (line / 8) * 2048,
        later,
    });
    proptest::collection::vec(one, 1..400)
}

/// Carries them out, each hart in its own time, `now`; gives what hart 0 waited in all.
fn carry_out(
    timing: &mut Timing,
    now: &mut [u64; 2],
    accesses: &[Access],
    mut each: impl FnMut(&Access, u64),
) -> u64 {
    let mut waited = 0;
    for access in accesses {
        let hart = access.hart;
        // Harts run in quanta: none is far ahead.
        now[hart] = now[hart].max(now[1 - hart].saturating_sub(64)) + access.later;
        let address = 0x8000_0000 + access.line * 32;
        let at = now[hart];
        let stall = match access.kind {
            0 | 1 => timing.fetch(hart, address, 1, at),
            2 | 3 => timing.data(hart, address, false, at),
            4 => timing.data(hart, address, true, at),
            5 => timing.atomic(hart, address, 1, at),
            6 => timing.prefetch(hart, Prefetch::Read, address, at),
            _ => timing.uncached(hart, 0x1000_0000, true, at),
        };
        now[hart] += stall;
        each(access, stall);
        if hart == 0 {
            waited += stall;
        }
    }
    waited
}

proptest! {
    /// A fetch or a load waits for its own line, and for what is under way before.
    #[test]
    fn no_single_access_takes_longer(accesses in accesses(), chip in any::<bool>()) {
        let (mut timing, worst) = timing(if chip { "soc-ocm" } else { "soc" });
        carry_out(&mut timing, &mut [0; 2], &accesses, |access, stall| {
            let most = match access.kind {
                0..=3 => worst.line + worst.under_way,
                _ => worst.line + worst.device + worst.under_way,
            };
            assert!(stall <= most, "{access:?}: {stall} of {most}");
        });
    }

    /// All that a hart waits, in any order of accesses and beside another hart, is in its lines and devices.
    #[test]
    fn what_a_hart_waits_is_in_its_lines(before in accesses(), accesses in accesses(), chip in any::<bool>()) {
        let (mut timing, worst) = timing(if chip { "soc-ocm" } else { "soc" });
        let mut now = [0; 2];
        carry_out(&mut timing, &mut now, &before, |_, _| ());
        timing.turn_of_lines(0, HYPERVISOR);
        let waited = carry_out(&mut timing, &mut now, &accesses, |_, _| ());
        let Lines { code, data, again, devices, .. } = timing.lines(0);
        let lines = u64::from(code) + u64::from(data) + u64::from(again);
        let most = lines * worst.line + u64::from(devices) * worst.device + worst.under_way;
        prop_assert!(waited <= most, "{waited} of {most}");
        timing.turn_of_lines(0, GUEST);
        prop_assert_eq!(timing.lines(0), Lines::default());
    }
}

#[test]
fn greatest_costs_are_those_of_the_profile() {
    let (mut timing, worst) = timing("soc");
    // 26 of the L2 cache, 15 for two requests of others and one's own before, 34 of the controller, 31 of the row.
    assert_eq!(worst.line, 26 + 15 + 34 + 31);
    assert_eq!(worst.under_way, 6 * worst.line);
    timing.turn_of_lines(0, HYPERVISOR);
    timing.fetch(0, 0x8000_0010, 2, 0);
    timing.fetch(0, 0x8000_0020, 1, 0);
    timing.data(0, 0x8000_0010, false, 0);
    let wanted = Lines {
        code: 2,
        code_from_memory: 2,
        data: 1,
        ..Lines::default()
    };
    assert_eq!(timing.lines(0), wanted);
    // From a mark on the rest of the block counts, which is there.
    timing.pass_mark(0, 0x8000_0018, 9);
    let rest = Lines {
        code: 2,
        ..Lines::default()
    };
    assert_eq!(timing.lines(0), rest);
    assert!(Worst::of(&Profile::named("mpsoc").expect("it is there").timing, 2).is_none());
}
