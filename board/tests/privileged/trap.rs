//! Traps: delegation, entry and return.

use crate::hart::{BITS, Hart, MODES};
use proptest::prelude::*;
use tactus_board::privileged::number as csr;
use tactus_board::privileged::{Exception, Mode, Privilege, Target, Trap};

const CAUSES: [Exception; 19] = [
    Exception::InstructionAddressMisaligned,
    Exception::InstructionAccessFault,
    Exception::IllegalInstruction,
    Exception::Breakpoint,
    Exception::LoadAddressMisaligned,
    Exception::LoadAccessFault,
    Exception::StoreAddressMisaligned,
    Exception::StoreAccessFault,
    Exception::UserEnvironmentCall,
    Exception::SupervisorEnvironmentCall,
    Exception::VirtualSupervisorEnvironmentCall,
    Exception::MachineEnvironmentCall,
    Exception::InstructionPageFault,
    Exception::LoadPageFault,
    Exception::StorePageFault,
    Exception::InstructionGuestPageFault,
    Exception::LoadGuestPageFault,
    Exception::VirtualInstruction,
    Exception::StoreGuestPageFault,
];

const SIE: u64 = 1 << 1;
const MIE: u64 = 1 << 3;
const SPIE: u64 = 1 << 5;
const MPIE: u64 = 1 << 7;
const SPP: u64 = 1 << 8;
const MPP: u64 = 3 << 11;
const MPRV: u64 = 1 << 17;
const GVA: u64 = 1 << 38;
const MPV: u64 = 1 << 39;
const HGVA: u64 = 1 << 6;
const SPV: u64 = 1 << 7;
const SPVP: u64 = 1 << 8;

/// A trap with different values, which identify the register that receives them.
fn trap(cause: Exception, guest_address: bool) -> Trap {
    Trap {
        cause,
        value: 0x11,
        value2: 0x22,
        instruction: 0x33,
        guest_address,
    }
}

fn flag(set: bool, bit: u64) -> u64 {
    if set { bit } else { 0 }
}

/// A hart whose handlers have different addresses.
fn vectored(mode: Mode) -> Hart {
    let mut hart = Hart::open(mode);
    hart.poke(csr::MTVEC, 0x1001);
    hart.poke(csr::STVEC, 0x2001);
    hart.poke(csr::VSTVEC, 0x3001);
    hart
}

#[test]
fn p_3_1_8_h_8_2_2_exceptions_go_where_they_are_delegated() {
    for cause in CAUSES {
        for mode in MODES {
            for delegation in 0..16 {
                let [medeleg, hedeleg, other, enabled] =
                    [1, 2, 4, 8].map(|bit| delegation & bit != 0);
                let mut hart = vectored(mode);
                let bit = 1_u64 << cause as u8;
                // The other causes' bits have no effect.
                let rest = flag(other, !bit);
                hart.poke(csr::MEDELEG, flag(medeleg, bit) | rest);
                hart.poke(csr::HEDELEG, flag(hedeleg, bit) | rest);
                hart.poke(csr::MSTATUS, flag(enabled, SIE | MIE));
                hart.poke(csr::VSSTATUS, flag(enabled, SIE));
                hart.poke(csr::HSTATUS, SPVP);
                let number = cause as u8;
                // Calls from M are not delegated; exceptions for the hypervisor are never delegated to VS.
                let to_s = medeleg && number != 11 && mode != Mode::MACHINE;
                let to_vs = to_s && hedeleg && mode.v && !(9..=11).contains(&number) && number < 16;
                let trap = trap(cause, mode.v);
                let expected = match (to_s, to_vs) {
                    (_, true) => Target::VirtualSupervisor,
                    (true, _) => Target::Supervisor,
                    _ => Target::Machine,
                };
                assert_eq!(hart.state.exception_target(&trap), expected);
                let before = Hart {
                    state: hart.state.clone(),
                    ..Hart::new()
                };
                let pc = hart.state.enter_trap(&trap, 0x4444);
                let untouched = |numbers: &[u16]| {
                    for &number in numbers {
                        assert_eq!(
                            hart.peek(number),
                            before.peek(number),
                            "{number:#x}: {cause:?} in {mode:?}"
                        );
                    }
                };
                let from_s = mode.privilege != Privilege::User;
                let machine = [
                    csr::MSTATUS,
                    csr::MEPC,
                    csr::MCAUSE,
                    csr::MTVAL,
                    csr::MTVAL2,
                    csr::MTINST,
                ];
                let supervisor = [
                    csr::SSTATUS,
                    csr::HSTATUS,
                    csr::SEPC,
                    csr::SCAUSE,
                    csr::STVAL,
                    csr::HTVAL,
                    csr::HTINST,
                ];
                let guest = [csr::VSSTATUS, csr::VSEPC, csr::VSCAUSE, csr::VSTVAL];
                match expected {
                    Target::VirtualSupervisor => {
                        assert_eq!((pc, hart.state.mode), (0x3000, Mode::VIRTUAL_SUPERVISOR));
                        let status = flag(enabled, SPIE) | flag(from_s, SPP);
                        assert_eq!(hart.peek(csr::VSSTATUS) & (SIE | SPIE | SPP), status);
                        let values =
                            [csr::VSEPC, csr::VSCAUSE, csr::VSTVAL].map(|number| hart.peek(number));
                        assert_eq!(values, [0x4444, u64::from(number), 0x11]);
                        untouched(&machine);
                        untouched(&supervisor);
                    }
                    Target::Supervisor => {
                        assert_eq!((pc, hart.state.mode), (0x2000, Mode::SUPERVISOR));
                        let status = flag(enabled, SPIE) | flag(from_s, SPP);
                        assert_eq!(hart.peek(csr::SSTATUS) & (SIE | SPIE | SPP), status);
                        // SPVP is VS or VU, and is unchanged in a trap from HS or U.
                        let spvp = flag(!mode.v || from_s, SPVP);
                        let status = flag(mode.v, SPV | HGVA) | spvp;
                        assert_eq!(hart.peek(csr::HSTATUS) & (SPV | SPVP | HGVA), status);
                        let values = [csr::SEPC, csr::SCAUSE, csr::STVAL, csr::HTVAL, csr::HTINST]
                            .map(|number| hart.peek(number));
                        assert_eq!(values, [0x4444, u64::from(number), 0x11, 0x22, 0x33]);
                        untouched(&machine[1..]);
                        untouched(&guest);
                    }
                    Target::Machine => {
                        assert_eq!((pc, hart.state.mode), (0x1000, Mode::MACHINE));
                        let status = flag(enabled, MPIE | SIE)
                            | (mode.privilege as u64) << 11
                            | flag(mode.v, MPV | GVA);
                        assert_eq!(
                            hart.peek(csr::MSTATUS) & (SIE | MIE | MPIE | MPP | MPV | GVA),
                            status
                        );
                        let values = [csr::MEPC, csr::MCAUSE, csr::MTVAL, csr::MTVAL2, csr::MTINST]
                            .map(|number| hart.peek(number));
                        assert_eq!(values, [0x4444, u64::from(number), 0x11, 0x22, 0x33]);
                        untouched(&supervisor);
                        untouched(&guest);
                    }
                }
            }
        }
    }
}

#[test]
fn h_8_6_2_gva_is_written_by_each_trap() {
    for mode in [
        Mode::SUPERVISOR,
        Mode::USER,
        Mode::VIRTUAL_SUPERVISOR,
        Mode::VIRTUAL_USER,
    ] {
        for guest_address in [false, true] {
            let mut hart = Hart::open(mode);
            hart.poke(csr::MSTATUS, GVA | MPV);
            hart.poke(csr::HSTATUS, HGVA | SPV);
            let trap = trap(Exception::LoadPageFault, guest_address);
            hart.state.enter_trap(&trap, 0);
            assert_eq!(
                hart.peek(csr::MSTATUS) & (GVA | MPV),
                flag(guest_address, GVA) | flag(mode.v, MPV)
            );
            hart.poke(csr::MEDELEG, u64::MAX);
            hart.state.mode = mode;
            hart.state.enter_trap(&trap, 0);
            assert_eq!(
                hart.peek(csr::HSTATUS) & (HGVA | SPV),
                flag(guest_address, HGVA) | flag(mode.v, SPV)
            );
        }
    }
}

#[test]
fn p_3_1_6_1_mret_from_every_state() {
    for mpp in [0, 1, 3_u64] {
        for rest in 0..16 {
            let [mpv, mpie, mie, mprv] = [1, 2, 4, 8].map(|bit| rest & bit != 0);
            let mut hart = Hart::new();
            hart.poke(csr::MEPC, 0x8000_0002);
            let others = 0x6_0000 & !MPRV | SPP | SPIE;
            hart.poke(
                csr::MSTATUS,
                mpp << 11
                    | flag(mpv, MPV)
                    | flag(mpie, MPIE)
                    | flag(mie, MIE)
                    | flag(mprv, MPRV)
                    | others,
            );
            assert_eq!(hart.state.mret(BITS), Ok(0x8000_0002));
            let privilege = [
                Privilege::User,
                Privilege::Supervisor,
                Privilege::User,
                Privilege::Machine,
            ][mpp as usize];
            assert_eq!(
                hart.state.mode,
                Mode {
                    privilege,
                    v: mpv && mpp != 3
                }
            );
            // MPP becomes U, MPV 0, and MPRV is kept only when M continues.
            let status =
                0xa_0000_0000 | MPIE | flag(mpie, MIE) | flag(mprv && mpp == 3, MPRV) | others;
            assert_eq!(hart.peek(csr::MSTATUS), status);
        }
    }
}

#[test]
fn p_3_3_2_mret_is_illegal_below_m() {
    for mode in &MODES[1..] {
        let mut hart = Hart::open(*mode);
        let before = hart.state.clone();
        assert_eq!(hart.state.mret(BITS), Err(Trap::illegal(BITS)));
        assert_eq!(hart.state, before);
    }
}

#[test]
fn p_3_3_2_h_8_6_4_sret_from_every_state() {
    for mode in MODES {
        for state in 0..512 {
            let bit = |index: u32| state >> index & 1 != 0;
            let [tsr, vtsr, spp, spie, vspp, vspie, spv, mprv, sie] =
                std::array::from_fn(|index| bit(index as u32));
            let mut hart = Hart::open(mode);
            let status = flag(tsr, 1 << 22)
                | flag(spp, SPP)
                | flag(spie, SPIE)
                | flag(mprv, MPRV)
                | flag(sie, SIE);
            hart.poke(csr::MSTATUS, status);
            hart.poke(
                csr::VSSTATUS,
                flag(vspp, SPP) | flag(vspie, SPIE) | flag(sie, SIE),
            );
            hart.poke(
                csr::HSTATUS,
                flag(vtsr, 1 << 22) | flag(spv, SPV) | SPVP | HGVA,
            );
            hart.poke(csr::SEPC, 0x100);
            hart.poke(csr::VSEPC, 0x200);
            let before = hart.state.clone();
            let result = hart.state.sret(BITS);
            let refused = match (mode.privilege, mode.v) {
                (Privilege::Machine, _) => None,
                (Privilege::User, false) => Some(Trap::illegal(BITS)),
                (Privilege::User, true) => Some(Trap::virtual_instruction(BITS)),
                (Privilege::Supervisor, false) => tsr.then(|| Trap::illegal(BITS)),
                // TSR has no effect on VS.
                (Privilege::Supervisor, true) => vtsr.then(|| Trap::virtual_instruction(BITS)),
            };
            if let Some(trap) = refused {
                assert_eq!(result, Err(trap));
                assert_eq!(hart.state, before);
                continue;
            }
            let level = |supervisor| {
                if supervisor {
                    Privilege::Supervisor
                } else {
                    Privilege::User
                }
            };
            let (m, vs, h) = (
                hart.peek(csr::MSTATUS),
                hart.peek(csr::VSSTATUS),
                hart.peek(csr::HSTATUS),
            );
            if mode.v {
                assert_eq!(result, Ok(0x200));
                assert_eq!(
                    hart.state.mode,
                    Mode {
                        privilege: level(vspp),
                        v: true
                    }
                );
                assert_eq!(vs & (SIE | SPIE | SPP), flag(vspie, SIE) | SPIE);
                assert_eq!(h & SPV, flag(spv, SPV));
                assert_eq!(m & (SIE | SPIE | SPP), status & (SIE | SPIE | SPP));
            } else {
                assert_eq!(result, Ok(0x100));
                assert_eq!(
                    hart.state.mode,
                    Mode {
                        privilege: level(spp),
                        v: spv
                    }
                );
                assert_eq!(m & (SIE | SPIE | SPP | MPRV), flag(spie, SIE) | SPIE);
                assert_eq!(h & (SPV | SPVP | HGVA), SPVP | HGVA);
                assert_eq!(
                    vs & (SIE | SPIE | SPP),
                    flag(vspp, SPP) | flag(vspie, SPIE) | flag(sie, SIE)
                );
            }
        }
    }
}

#[test]
fn p_3_4_reset() {
    let hart = Hart::new();
    assert_eq!(hart.state.mode, Mode::MACHINE);
    assert_eq!(hart.peek(csr::MSTATUS), 0xa_0000_0000, "MIE and MPRV are 0");
    assert_eq!(hart.peek(csr::MCAUSE), 0);
    assert_eq!((hart.peek(csr::PMPCFG0), hart.peek(csr::PMPCFG2)), (0, 0));
}

proptest! {
    /// After any sequence of events the hart is in an existing mode. Traps never lower its privilege, and returns never
    /// raise it.
    #[test]
    fn p_3_1_6_h_8_6_any_history(
        steps in prop::collection::vec((0..6_u8, 0..0x1000_u16, any::<u64>(), 0..CAUSES.len()), 1..300)
    ) {
        let mut hart = Hart::new();
        let rank = |mode: Mode| (mode.privilege as u8) << 1 | u8::from(!mode.v);
        for (kind, number, value, cause) in steps {
            let before = rank(hart.state.mode);
            match kind {
                0 | 1 => {
                    let number = if kind == 0 { csr::MSTATUS } else { number };
                    let _ = hart.write(number, value);
                    prop_assert_eq!(rank(hart.state.mode), before);
                }
                2 => {
                    let pc = hart.state.enter_trap(&trap(CAUSES[cause], value & 1 != 0), value & !1);
                    prop_assert!(pc & 3 == 0 && rank(hart.state.mode) >= before);
                }
                3 => {
                    if let Some(interrupt) = hart.state.interrupt(value, value) {
                        let pc = hart.state.enter_interrupt(interrupt, value & !1);
                        prop_assert!(pc & 3 == 0 && rank(hart.state.mode) >= before);
                        prop_assert_eq!(hart.state.interrupt(value, value).filter(|next| next.target <= interrupt.target), None);
                    }
                }
                4 => if hart.state.mret(BITS).is_ok() {
                    prop_assert!(rank(hart.state.mode) <= before);
                },
                _ => if hart.state.sret(BITS).is_ok() {
                    prop_assert!(rank(hart.state.mode) <= before);
                },
            }
            prop_assert!(hart.state.mode.privilege != Privilege::Machine || !hart.state.mode.v);
        }
    }
}
