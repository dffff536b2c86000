//! Privileged instructions: their permissions, and the description of loads and stores in traps.

use crate::hart::{BITS, Hart, MODES};
use tactus_board::privileged::number as csr;
use tactus_board::privileged::{Exception, Fence, Mode, Privilege, Trap, transformed};

const ILLEGAL: Option<Trap> = Some(Trap::illegal(BITS));
const VIRTUAL: Option<Trap> = Some(Trap::virtual_instruction(BITS));

#[test]
fn p_3_3_1_h_8_6_1_calls_say_where_they_come_from() {
    for (mode, cause) in MODES.into_iter().zip([
        Exception::MachineEnvironmentCall,
        Exception::SupervisorEnvironmentCall,
        Exception::UserEnvironmentCall,
        Exception::VirtualSupervisorEnvironmentCall,
        Exception::UserEnvironmentCall,
    ]) {
        assert_eq!(Hart::open(mode).state.ecall(), Trap::new(cause, 0));
    }
}

#[test]
fn p_3_3_1_breakpoints_give_their_address() {
    for mode in MODES {
        let trap = Hart::open(mode).state.ebreak(0x1234);
        assert_eq!(
            trap,
            Trap {
                guest_address: mode.v,
                ..Trap::new(Exception::Breakpoint, 0x1234)
            }
        );
    }
}

#[test]
fn p_3_3_3_h_8_6_1_wfi() {
    for mode in MODES {
        for (tw, vtw) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let mut hart = Hart::open(mode);
            hart.poke(csr::MSTATUS, tw << 21);
            hart.poke(csr::HSTATUS, vtw << 21);
            let expected = match (mode.privilege, mode.v) {
                (Privilege::Machine, _) => None,
                _ if tw == 1 => ILLEGAL,
                (Privilege::Supervisor, false) => None,
                (Privilege::User, false) => ILLEGAL,
                (Privilege::Supervisor, true) => {
                    if vtw == 1 {
                        VIRTUAL
                    } else {
                        None
                    }
                }
                (Privilege::User, true) => VIRTUAL,
            };
            assert_eq!(
                hart.state.check_wfi(BITS).err(),
                expected,
                "{mode:?}, TW {tw}, VTW {vtw}"
            );
        }
    }
}

#[test]
fn p_4_2_1_h_8_3_2_fences() {
    for mode in MODES {
        for (tvm, vtvm) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let mut hart = Hart::open(mode);
            hart.poke(csr::MSTATUS, tvm << 20);
            hart.poke(csr::HSTATUS, vtvm << 20);
            let if_set = |bit: u64, trap: Option<Trap>| if bit == 1 { trap } else { None };
            let expected = match (mode.privilege, mode.v) {
                (Privilege::Machine, _) => [None; 3],
                (Privilege::Supervisor, false) => {
                    [if_set(tvm, ILLEGAL), None, if_set(tvm, ILLEGAL)]
                }
                (Privilege::User, false) => [ILLEGAL; 3],
                (Privilege::Supervisor, true) => [if_set(vtvm, VIRTUAL), VIRTUAL, VIRTUAL],
                (Privilege::User, true) => [VIRTUAL; 3],
            };
            for (fence, expected) in [Fence::Supervisor, Fence::VirtualSupervisor, Fence::Guest]
                .into_iter()
                .zip(expected)
            {
                assert_eq!(
                    hart.state.check_sfence(fence, BITS).err(),
                    expected,
                    "{fence:?} in {mode:?}"
                );
            }
        }
    }
}

#[test]
fn h_8_3_1_loads_and_stores_of_the_hypervisor() {
    for mode in MODES {
        for hu in [0, 1] {
            let mut hart = Hart::open(mode);
            hart.poke(csr::HSTATUS, hu << 9);
            let expected = match (mode.v, mode.privilege) {
                (true, _) => VIRTUAL,
                (false, Privilege::User) if hu == 0 => ILLEGAL,
                _ => None,
            };
            assert_eq!(hart.state.check_hypervisor_access(BITS).err(), expected);
        }
    }
}

#[test]
fn p_3_1_16_the_value_of_an_illegal_instruction_is_its_bits() {
    assert_eq!(Trap::illegal(0xffff_ffff).value, 0xffff_ffff);
    assert_eq!(
        Trap::illegal(0x1234_0000).value,
        0,
        "16 bits of a compressed one"
    );
    assert_eq!(Trap::virtual_instruction(0x1234_8002).value, 0x8002);
}

/// Instructions, and their descriptions when the fault is at the address that they computed.
const TRANSFORMED: &[(u32, u32)] = &[
    (0x0083_b603, 0x0000_3603), // ld a2,8(t2)
    (0xff83_c283, 0x0000_4283), // lbu t0,-8(t2)
    (0x0083_b607, 0x0000_3607), // fld fa2,8(t2)
    (0x00c3_b423, 0x00c0_3023), // sd a2,8(t2)
    (0xfec3_8fa3, 0x00c0_0023), // sb a2,-1(t2)
    (0x00c3_a427, 0x00c0_2027), // fsw fa2,8(t2)
    (0x00c3_a2af, 0x00c0_22af), // amoadd.w t0,a2,(t2)
    (0x1603_b2af, 0x1600_32af), // lr.d.aqrl t0,(t2)
    (0x1ac3_a2af, 0x1ac0_22af), // sc.w.rl t0,a2,(t2)
    (0x6c03_c2f3, 0x6c00_42f3), // hlv.d t0,(t2)
    (0x6833_c2f3, 0x6830_42f3), // hlvx.wu t0,(t2)
    (0x6ec3_c073, 0x6ec0_4073), // hsv.d a2,(t2)
    (0x6608, 0x0000_3501),      // c.ld a0,8(a2)
    (0xe608, 0x00a0_3021),      // c.sd a0,8(a2)
    (0x4208, 0x0000_2501),      // c.lw a0,0(a2)
    (0xc208, 0x00a0_2021),      // c.sw a0,0(a2)
    (0x2208, 0x0000_3505),      // c.fld fa0,0(a2)
    (0xa208, 0x00a0_3025),      // c.fsd fa0,0(a2)
    (0x6522, 0x0000_3501),      // c.ldsp a0,8(sp)
    (0x4502, 0x0000_2501),      // c.lwsp a0,0(sp)
    (0xe42a, 0x00a0_3021),      // c.sdsp a0,8(sp)
    (0xc02a, 0x00a0_2021),      // c.swsp a0,0(sp)
    (0x0000_0013, 0),           // nop
    (0x0000_0073, 0),           // ecall
    (0xffff_ffff, 0),
    (0, 0),
];

#[test]
fn h_8_6_3_transformed_instructions() {
    for &(bits, described) in TRANSFORMED {
        assert_eq!(transformed(bits, 0), u64::from(described), "{bits:#x}");
        let offset = if described == 0 { 0 } else { 5 << 15 };
        assert_eq!(
            transformed(bits, 5),
            u64::from(described | offset),
            "{bits:#x}"
        );
    }
}

#[test]
fn h_8_6_3_which_traps_describe_the_instruction() {
    let load = 0x0083_b603;
    for (cause, described) in [
        (Exception::LoadPageFault, true),
        (Exception::LoadAccessFault, true),
        (Exception::LoadAddressMisaligned, true),
        (Exception::LoadGuestPageFault, true),
        (Exception::StorePageFault, true),
        (Exception::StoreAccessFault, true),
        (Exception::StoreAddressMisaligned, true),
        (Exception::StoreGuestPageFault, true),
        (Exception::InstructionPageFault, false),
        (Exception::InstructionGuestPageFault, false),
        (Exception::IllegalInstruction, false),
        (Exception::VirtualInstruction, false),
        (Exception::Breakpoint, false),
    ] {
        let trap = Trap::new(cause, 0).by(load, 3);
        assert_eq!(trap.instruction, if described { 0x0001_b603 } else { 0 });
        // A fault of an implicit access keeps its pseudoinstruction.
        let implicit = Trap {
            instruction: 0x3000,
            ..Trap::new(cause, 0)
        };
        assert_eq!(implicit.by(load, 0), implicit);
    }
}

#[test]
fn h_8_1_contexts_of_accesses() {
    const MPRV: u64 = 1 << 17;
    let mut hart = Hart::open(Mode::MACHINE);
    hart.poke(csr::SATP, 8 << 60 | 1);
    hart.poke(csr::VSATP, 9 << 60 | 2);
    hart.poke(csr::HGATP, 8 << 60 | 4);
    let of = |mode: Mode| match (mode.privilege, mode.v) {
        (Privilege::Machine, _) => (0, 0),
        (_, false) => (8 << 60 | 1, 0),
        (_, true) => (9 << 60 | 2, 8 << 60 | 4),
    };
    for mode in MODES {
        hart.state.mode = mode;
        hart.poke(csr::MSTATUS, 0);
        for context in [hart.state.fetch_context(), hart.state.data_context()] {
            assert_eq!((context.privilege, context.v), (mode.privilege, mode.v));
            assert_eq!((context.root, context.guest_root), of(mode));
            assert_eq!(context.bare(), mode == Mode::MACHINE);
        }
    }
    // MPRV applies to loads and stores, in M by MPP and MPV; MPV has no effect when MPP is M.
    hart.state.mode = Mode::MACHINE;
    for mode in MODES {
        for mpv in [false, true] {
            let status = MPRV | (mode.privilege as u64) << 11 | u64::from(mpv) << 39;
            hart.poke(csr::MSTATUS, status);
            let seen = Mode {
                v: mpv && mode.privilege != Privilege::Machine,
                ..mode
            };
            let context = hart.state.data_context();
            assert_eq!((context.privilege, context.v), (seen.privilege, seen.v));
            assert_eq!((context.root, context.guest_root), of(seen));
            assert_eq!(hart.state.fetch_context().privilege, Privilege::Machine);
            // The hypervisor's own accesses use SPVP.
            for spvp in [0, 1] {
                hart.poke(csr::HSTATUS, spvp << 8);
                let context = hart.state.hypervisor_context();
                assert_eq!((context.privilege as u64, context.v), (spvp, true));
                assert_eq!(
                    (context.root, context.guest_root),
                    of(Mode::VIRTUAL_SUPERVISOR)
                );
            }
        }
    }
}

#[test]
fn h_8_2_11_sum_and_mxr_of_both_levels() {
    for state in 0..16_u64 {
        let [sum, mxr, guest_sum, guest_mxr] = [1, 2, 4, 8].map(|bit| state & bit != 0);
        let mut hart = Hart::open(Mode::SUPERVISOR);
        hart.poke(csr::MSTATUS, (state & 3) << 18);
        hart.poke(csr::VSSTATUS, (state >> 2) << 18);
        let context = hart.state.data_context();
        assert_eq!(
            (context.sum, context.mxr, context.guest_mxr),
            (sum, mxr, false)
        );
        hart.state.mode = Mode::VIRTUAL_SUPERVISOR;
        let both = (guest_sum, mxr || guest_mxr, mxr);
        for context in [hart.state.data_context(), hart.state.hypervisor_context()] {
            assert_eq!((context.sum, context.mxr, context.guest_mxr), both);
        }
        let fetch = hart.state.fetch_context();
        assert_eq!(
            (fetch.sum, fetch.mxr, fetch.guest_mxr),
            (false, false, false)
        );
    }
}
