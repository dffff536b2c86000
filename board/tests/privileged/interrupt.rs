//! Interrupts: priorities, enables, delegation, and the timers of Sstc.

use crate::hart::{Hart, MODES};
use proptest::prelude::*;
use tactus_board::privileged::number as csr;
use tactus_board::privileged::{Interrupt, Mode, Privilege, Target};

const SIE: u64 = 1 << 1;
const MIE: u64 = 1 << 3;

/// The interrupt that is taken, by the text of sections 3.1.9, 8.2.2 and 8.4.3.
///
/// It is the one of highest priority among those for the most privileged mode.
fn model(
    ready: u64,
    mode: Mode,
    mideleg: u64,
    hideleg: u64,
    enables: [bool; 3],
) -> Option<(u8, Target)> {
    let [mie, sie, vsie] = enables;
    let mut best = None;
    for (priority, number) in [6_u8, 2, 10, 12, 5, 1, 9, 7, 3, 11].into_iter().enumerate() {
        let bit = 1 << number;
        if ready & bit == 0 {
            continue;
        }
        let target = if (mideleg | 0x444) & bit == 0 {
            Target::Machine
        } else if hideleg & bit == 0 {
            Target::Supervisor
        } else {
            Target::VirtualSupervisor
        };
        let at_all = match (target, mode.privilege, mode.v) {
            (Target::Machine, Privilege::Machine, _) => mie,
            (_, Privilege::Machine, _) => false,
            (Target::Machine, ..) => true,
            (Target::Supervisor, Privilege::Supervisor, false) => sie,
            (Target::Supervisor, ..) => true,
            (Target::VirtualSupervisor, Privilege::Supervisor, true) => vsie,
            (Target::VirtualSupervisor, Privilege::User, true) => true,
            (Target::VirtualSupervisor, ..) => false,
        };
        if at_all {
            best = best.max(Some((target, priority, number)));
        }
    }
    best.map(|(target, _, number)| (number, target))
}

/// The bits of `of`, each set or cleared by the next bit of `index`.
fn spread(of: u64, index: u64) -> u64 {
    let bits = (0..64).filter(|bit| of >> bit & 1 != 0);
    bits.enumerate()
        .map(|(place, bit)| (index >> place & 1) << bit)
        .sum()
}

#[test]
fn p_3_1_9_h_8_4_3_priority_and_delegation_of_all_pending_interrupts() {
    for mode in MODES {
        for state in 0..512 {
            let (mideleg, hideleg) = (spread(0x222, state & 7), spread(0x444, state >> 3 & 7));
            let enables = [6, 7, 8].map(|bit| state >> bit & 1 != 0);
            let mut hart = Hart::new();
            hart.state.mode = mode;
            hart.poke(csr::MIDELEG, mideleg);
            hart.poke(csr::HIDELEG, hideleg);
            hart.poke(csr::MIE, u64::MAX);
            hart.poke(
                csr::MSTATUS,
                (u64::from(enables[0]) * MIE) | (u64::from(enables[1]) * SIE),
            );
            hart.poke(csr::VSSTATUS, u64::from(enables[2]) * SIE);
            for pending in 0..512 {
                let pending = spread(0xeee, pending);
                hart.poke(csr::MIP, pending);
                hart.poke(csr::HVIP, pending);
                hart.wires = pending;
                assert_eq!(hart.state.pending(hart.wires, 0), pending);
                let taken = hart
                    .state
                    .interrupt(hart.wires, 0)
                    .map(|taken| (taken.number, taken.target));
                let expected = model(pending, mode, mideleg, hideleg, enables);
                assert_eq!(
                    taken, expected,
                    "{pending:#x}, {mideleg:#x}, {hideleg:#x}, {enables:?} in {mode:?}"
                );
            }
        }
    }
}

#[test]
fn p_3_1_9_only_enabled_interrupts_are_taken_or_wake() {
    for pending in 0..512 {
        for enabled in 0..512 {
            let (pending, enabled) = (spread(0xeee, pending), spread(0xeee, enabled));
            let mut hart = Hart::open(Mode::USER);
            hart.poke(csr::MENVCFG, 0);
            hart.poke(csr::MIP, pending);
            hart.poke(csr::HVIP, pending);
            hart.poke(csr::MIE, enabled);
            let ready = pending & enabled;
            assert_eq!(hart.state.interrupt(pending, 0).is_some(), ready != 0);
            // Waking does not depend on the global enables (section 3.3.3).
            hart.state.mode = Mode::MACHINE;
            assert_eq!(hart.state.wake(pending, 0), ready != 0);
            assert_eq!(hart.state.interrupt(pending, 0), None);
        }
    }
}

#[test]
fn p_3_1_7_p_4_1_2_h_8_2_13_interrupts_are_vectored() {
    for vectored in [0, 1] {
        for (number, target) in [
            (11, Target::Machine),
            (7, Target::Machine),
            (9, Target::Supervisor),
            (1, Target::Supervisor),
            (10, Target::Supervisor),
            (12, Target::Supervisor),
            (10, Target::VirtualSupervisor),
            (6, Target::VirtualSupervisor),
            (2, Target::VirtualSupervisor),
        ] {
            let mut hart = Hart::open(Mode::VIRTUAL_USER);
            for (vector, base) in [
                (csr::MTVEC, 0x1000),
                (csr::STVEC, 0x2000),
                (csr::VSTVEC, 0x3000),
            ] {
                hart.poke(vector, base | vectored);
            }
            for value in [
                csr::MTVAL,
                csr::MTVAL2,
                csr::MTINST,
                csr::STVAL,
                csr::HTVAL,
                csr::HTINST,
                csr::VSTVAL,
            ] {
                hart.poke(value, 5);
            }
            hart.poke(csr::HSTATUS, 1 << 6);
            let pc = hart
                .state
                .enter_interrupt(Interrupt { number, target }, 0x4442);
            let number = u64::from(number);
            // VS sees its interrupts under S's numbers (section 8.2.3).
            let (base, cause, registers, values, mode) = match target {
                Target::Machine => (
                    0x1000,
                    number,
                    [csr::MCAUSE, csr::MEPC],
                    [csr::MTVAL, csr::MTVAL2, csr::MTINST],
                    Mode::MACHINE,
                ),
                Target::Supervisor => (
                    0x2000,
                    number,
                    [csr::SCAUSE, csr::SEPC],
                    [csr::STVAL, csr::HTVAL, csr::HTINST],
                    Mode::SUPERVISOR,
                ),
                Target::VirtualSupervisor => (
                    0x3000,
                    number - 1,
                    [csr::VSCAUSE, csr::VSEPC],
                    [csr::VSTVAL; 3],
                    Mode::VIRTUAL_SUPERVISOR,
                ),
            };
            assert_eq!(pc, base + 4 * cause * vectored);
            assert_eq!(
                registers.map(|register| hart.peek(register)),
                [1 << 63 | cause, 0x4442]
            );
            assert_eq!(values.map(|register| hart.peek(register)), [0; 3]);
            assert_eq!(hart.state.mode, mode);
            let guest_address = if target == Target::Supervisor {
                0
            } else {
                1 << 6
            };
            assert_eq!(hart.peek(csr::HSTATUS) & 1 << 6, guest_address);
        }
    }
}

#[test]
fn sstc_2_stip_is_the_comparison() {
    let mut hart = Hart::new();
    hart.poke(csr::MENVCFG, 1 << 63);
    hart.poke(csr::STIMECMP, 100);
    for (time, pending) in [
        (0, 0),
        (99, 0),
        (100, 1 << 5),
        (101, 1 << 5),
        (u64::MAX, 1 << 5),
    ] {
        assert_eq!(hart.state.pending(0, time), pending);
    }
    // The bit is read-only; without the comparison it is writable, and keeps its old value.
    hart.poke(csr::MIP, 1 << 5);
    assert_eq!(hart.state.pending(0, 99), 0);
    hart.poke(csr::MENVCFG, 0);
    assert_eq!(hart.state.pending(0, 100), 0);
    hart.poke(csr::MIP, 1 << 5);
    assert_eq!(hart.state.pending(0, 0), 1 << 5);
}

#[test]
fn sstc_3_vstip_is_the_comparison_or_hvip() {
    for state in 0..8 {
        let [menvcfg, henvcfg, software] = [1, 2, 4].map(|bit| state & bit != 0);
        let mut hart = Hart::new();
        hart.poke(csr::STIMECMP, u64::MAX);
        hart.poke(csr::MENVCFG, u64::from(menvcfg) << 63);
        hart.poke(csr::HENVCFG, u64::from(henvcfg) << 63);
        hart.poke(csr::HVIP, u64::from(software) << 6);
        hart.poke(csr::HTIMEDELTA, 0_u64.wrapping_sub(50));
        hart.poke(csr::VSTIMECMP, 100);
        for (time, reached) in [(50, false), (149, false), (150, true), (1000, true)] {
            let pending = u64::from(software || menvcfg && henvcfg && reached) << 6;
            assert_eq!(
                hart.state.pending(0, time),
                pending,
                "{state:03b} at {time}"
            );
        }
        // Before 50 the guest's time has not wrapped to 0.
        let pending = u64::from(software || menvcfg && henvcfg) << 6;
        assert_eq!(hart.state.pending(0, 49), pending);
    }
}

proptest! {
    /// Up to the next timer no bit changes by itself; then a bit rises.
    #[test]
    fn sstc_2_3_the_next_timer_is_when_something_rises(
        time in prop_oneof![0..100_u64, any::<u64>()],
        stimecmp in prop_oneof![0..100_u64, any::<u64>()],
        vstimecmp in prop_oneof![0..100_u64, any::<u64>()],
        delta in prop_oneof![-100..100_i64, any::<i64>()],
        envcfg in 0..4_u64,
        step in any::<u64>(),
    ) {
        let mut hart = Hart::new();
        hart.poke(csr::MENVCFG, envcfg << 63);
        hart.poke(csr::HENVCFG, envcfg >> 1 << 63);
        hart.poke(csr::STIMECMP, stimecmp);
        hart.poke(csr::VSTIMECMP, vstimecmp);
        hart.poke(csr::HTIMEDELTA, delta as u64);
        let now = hart.state.pending(0, time);
        let next = hart.state.next_timer(time);
        if let Some(next) = next {
            prop_assert!(next > time);
            prop_assert_ne!(hart.state.pending(0, next) & !hart.state.pending(0, next - 1), 0);
        }
        // At any time before, no bit has risen.
        let last = next.map_or(u64::MAX, |next| next - 1);
        let between = time + step % (last - time).saturating_add(1).max(1);
        prop_assert_eq!(hart.state.pending(0, between) & !now, 0);
    }
}
