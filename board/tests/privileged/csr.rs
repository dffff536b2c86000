//! CSRs: their existence, access rights and contents.

use crate::hart::{Hart, MODES};
use proptest::prelude::*;
use tactus_board::privileged::number as csr;
use tactus_board::privileged::{
    Counters, CsrOperation, Effects, Exception, Mode, Privilege, Privileged,
};

const ILLEGAL: Exception = Exception::IllegalInstruction;
const VIRTUAL: Exception = Exception::VirtualInstruction;

/// The CSRs that a hart with these extensions has, as the specification lists them (tables 2.2 to 2.6; Sstc).
const EXISTING: &[(u16, u16)] = &[
    (0x001, 0x003),
    (0xc00, 0xc1f),
    (0x100, 0x100),
    (0x104, 0x106),
    (0x10a, 0x10a),
    (0x140, 0x144),
    (0x14d, 0x14d),
    (0x180, 0x180),
    (0x200, 0x200),
    (0x204, 0x205),
    (0x240, 0x244),
    (0x24d, 0x24d),
    (0x280, 0x280),
    (0x600, 0x600),
    (0x602, 0x607),
    (0x60a, 0x60a),
    (0x643, 0x645),
    (0x64a, 0x64a),
    (0x680, 0x680),
    (0xe12, 0xe12),
    (0xf11, 0xf15),
    (0x300, 0x306),
    (0x30a, 0x30a),
    (0x320, 0x320),
    (0x323, 0x33f),
    (0x340, 0x344),
    (0x34a, 0x34b),
    (0x3a0, 0x3a0),
    (0x3a2, 0x3a2),
    (0x3b0, 0x3bf),
    (0x7a0, 0x7a4),
    (0xb00, 0xb00),
    (0xb02, 0xb1f),
];

fn exists(number: u16) -> bool {
    EXISTING
        .iter()
        .any(|&(first, last)| (first..=last).contains(&number))
}

/// Whether a mode that is not virtualized may make the access, by the number alone (section 2.1).
fn allowed(privilege: Privilege, number: u16, writing: bool) -> bool {
    let lowest = match number >> 8 & 3 {
        0 => Privilege::User,
        1 | 2 => Privilege::Supervisor,
        _ => Privilege::Machine,
    };
    exists(number) && privilege >= lowest && !(writing && number >> 10 == 3)
}

/// The result of an access when all extensions are enabled.
fn expected(mode: Mode, number: u16, writing: bool) -> Result<(), Exception> {
    let level = number >> 8 & 3;
    if !mode.v {
        return if allowed(mode.privilege, number, writing) {
            Ok(())
        } else {
            Err(ILLEGAL)
        };
    }
    let own = match mode.privilege {
        Privilege::User => level == 0,
        _ => level <= 1,
    };
    if !allowed(Privilege::Supervisor, number, writing) {
        Err(ILLEGAL)
    } else if own {
        Ok(())
    } else {
        Err(VIRTUAL)
    }
}

#[test]
fn p_2_1_h_8_6_1_all_csr_numbers_in_all_modes() {
    for mode in MODES {
        let start = Hart::open(mode);
        for number in 0..0x1000 {
            for write in [
                None,
                Some((CsrOperation::Set, 0)),
                Some((CsrOperation::Write, 0)),
            ] {
                let mut hart = Hart {
                    state: start.state.clone(),
                    ..Hart::new()
                };
                let result = hart
                    .access(number, write)
                    .map(|_| ())
                    .map_err(|trap| trap.cause);
                assert_eq!(
                    result,
                    expected(mode, number, write.is_some()),
                    "{number:#x} in {mode:?}, {write:?}"
                );
                if result.is_err() {
                    assert_eq!(
                        hart.state, start.state,
                        "{number:#x} in {mode:?} changed something"
                    );
                }
            }
        }
    }
}

#[test]
fn p_2_1_registers_listed_for_a_debugger_exist() {
    let hart = Hart::new();
    for number in 0..0x1000 {
        assert_eq!(
            hart.state.peek(number, &Counters::ZERO, 0).is_some(),
            exists(number),
            "{number:#x}"
        );
    }
}

#[test]
fn p_2_1_only_some_csrs_look_at_the_counters() {
    let mut one = Hart::open(Mode::MACHINE);
    one.poke(csr::MHPMEVENT3, 1);
    for number in 0..0x1000 {
        let events = [7; _];
        let counters = Counters {
            cycle: 5,
            instructions: 6,
            time: u64::MAX,
            events: &events,
        };
        let (zero, some) = (
            one.state.peek(number, &Counters::ZERO, 0),
            one.state.peek(number, &counters, 0),
        );
        assert!(
            zero == some || Privileged::reads_counters(number),
            "{number:#x}"
        );
    }
}

#[test]
fn p_3_1_1_misa_and_identification() {
    let mut hart = Hart {
        state: Privileged::new(3),
        ..Hart::new()
    };
    assert_eq!(hart.stored(csr::MISA, 0), 0x8000_0000_0014_11ad);
    for number in [csr::MVENDORID, csr::MARCHID, csr::MIMPID, csr::MCONFIGPTR] {
        assert_eq!(hart.peek(number), 0);
    }
    assert_eq!(hart.peek(csr::MHARTID), 3);
}

/// The values that a CSR holds after all ones and after all zeros were written.
fn held(hart: &mut Hart, number: u16) -> (u64, u64) {
    (hart.stored(number, u64::MAX), hart.stored(number, 0))
}

#[test]
fn p_3_1_6_mstatus_fields() {
    let mut hart = Hart::new();
    assert_eq!(hart.peek(csr::MSTATUS), 0xa_0000_0000);
    // SD, MPV, GVA, SXL, UXL, TSR, TW, TVM, MXR, SUM, MPRV, FS, MPP, SPP, MPIE, SPIE, MIE, SIE.
    assert_eq!(
        held(&mut hart, csr::MSTATUS),
        (0x8000_00ca_007e_79aa, 0xa_0000_0000)
    );
}

#[test]
fn p_3_1_6_1_mpp_holds_only_modes_that_exist() {
    let mut hart = Hart::new();
    for old in [0, 1, 3] {
        for new in 0..4 {
            hart.poke(csr::MSTATUS, old << 11);
            let kept = hart.stored(csr::MSTATUS, new << 11) >> 11 & 3;
            assert_eq!(kept, if new == 2 { old } else { new });
        }
    }
}

#[test]
fn p_3_1_6_6_sd_is_set_when_fs_is_dirty() {
    let mut hart = Hart::new();
    for (number, field) in [
        (csr::MSTATUS, 0xa_0000_0000),
        (csr::SSTATUS, 0x2_0000_0000),
        (csr::VSSTATUS, 0x2_0000_0000),
    ] {
        for fs in 0..4_u64 {
            let dirty = u64::from(fs == 3) << 63;
            assert_eq!(hart.stored(number, fs << 13), field | fs << 13 | dirty);
        }
    }
}

#[test]
fn p_4_1_1_sstatus_is_part_of_mstatus() {
    let mut hart = Hart::new();
    assert_eq!(
        held(&mut hart, csr::SSTATUS),
        (0x8000_0002_000c_6122, 0x2_0000_0000)
    );
    hart.poke(csr::MSTATUS, u64::MAX);
    hart.poke(csr::SSTATUS, 0);
    assert_eq!(hart.peek(csr::MSTATUS), 0xca_0072_1888);
    hart.poke(csr::MSTATUS, 0);
    hart.poke(csr::SSTATUS, u64::MAX);
    assert_eq!(hart.peek(csr::MSTATUS), 0x8000_000a_000c_6122);
}

#[test]
fn h_8_2_1_hstatus_fields_and_vsxl_reads_64() {
    let mut hart = Hart::new();
    // VSXL; VTSR, VTW, VTVM, HU, SPVP, SPV, GVA.
    assert_eq!(
        held(&mut hart, csr::HSTATUS),
        (0x2_0070_03c0, 0x2_0000_0000)
    );
}

#[test]
fn h_8_2_11_vsstatus_has_the_fields_of_sstatus() {
    let mut hart = Hart::new();
    assert_eq!(
        held(&mut hart, csr::VSSTATUS),
        (0x8000_0002_000c_6122, 0x2_0000_0000)
    );
    assert_eq!(hart.peek(csr::MSTATUS), 0xa_0000_0000, "another register");
}

#[test]
fn p_3_1_8_h_8_2_2_delegation_registers() {
    let mut hart = Hart::new();
    // Neither calls from M nor reserved causes.
    assert_eq!(held(&mut hart, csr::MEDELEG), (0xf0_b7ff, 0));
    assert_eq!(held(&mut hart, csr::HEDELEG), (0xb1ff, 0));
    // The VS-level interrupts are always delegated to HS.
    assert_eq!(held(&mut hart, csr::MIDELEG), (0x666, 0x444));
    assert_eq!(held(&mut hart, csr::HIDELEG), (0x444, 0));
}

#[test]
fn p_3_1_9_h_8_4_3_interrupt_registers_hold() {
    let mut hart = Hart::new();
    assert_eq!(held(&mut hart, csr::MIE), (0xeee, 0));
    assert_eq!(held(&mut hart, csr::HIE), (0x444, 0));
    assert_eq!(held(&mut hart, csr::MIP), (0x226, 0));
    assert_eq!(held(&mut hart, csr::HIP), (0x4, 0));
    assert_eq!(held(&mut hart, csr::HVIP), (0x444, 0));
    assert_eq!(held(&mut hart, csr::HGEIE), (0, 0));
    assert_eq!(hart.peek(csr::HGEIP), 0);
    hart.poke(csr::MIDELEG, u64::MAX);
    assert_eq!(held(&mut hart, csr::SIE), (0x222, 0));
    assert_eq!(held(&mut hart, csr::SIP), (0x2, 0));
    assert_eq!(
        held(&mut hart, csr::VSIE),
        (0, 0),
        "nothing is delegated to VS"
    );
    assert_eq!(
        held(&mut hart, csr::VSIP),
        (0, 0),
        "nothing is delegated to VS"
    );
    hart.poke(csr::HIDELEG, u64::MAX);
    assert_eq!(held(&mut hart, csr::VSIE), (0x222, 0));
    assert_eq!(held(&mut hart, csr::VSIP), (0x2, 0));
}

#[test]
fn p_3_1_7_vector_registers_take_two_modes() {
    let mut hart = Hart::new();
    for number in [csr::MTVEC, csr::STVEC, csr::VSTVEC] {
        assert_eq!(hart.stored(number, 0x8000_0101), 0x8000_0101);
        for reserved in [2, 3] {
            assert_eq!(
                hart.stored(number, 0x9000_0200 | reserved),
                0x8000_0101,
                "ignored"
            );
        }
        assert_eq!(hart.stored(number, !3), !3);
    }
}

#[test]
fn p_3_1_14_exception_program_counters_are_even() {
    let mut hart = Hart::new();
    for number in [csr::MEPC, csr::SEPC, csr::VSEPC] {
        assert_eq!(held(&mut hart, number), (!1, 0));
    }
}

#[test]
fn p_3_1_registers_that_hold_everything() {
    let mut hart = Hart::new();
    for number in [
        csr::MSCRATCH,
        csr::SSCRATCH,
        csr::VSSCRATCH,
        csr::MCAUSE,
        csr::SCAUSE,
        csr::VSCAUSE,
        csr::MTVAL,
        csr::STVAL,
        csr::VSTVAL,
        csr::MTVAL2,
        csr::HTVAL,
        csr::MTINST,
        csr::HTINST,
        csr::STIMECMP,
        csr::VSTIMECMP,
        csr::HTIMEDELTA,
    ] {
        assert_eq!(held(&mut hart, number), (u64::MAX, 0), "{number:#x}");
    }
}

#[test]
fn p_4_1_11_satp_ignores_modes_that_are_not_there() {
    let mut hart = Hart::new();
    for number in [csr::SATP, csr::VSATP] {
        for mode in 0..16_u64 {
            hart.poke(number, 8 << 60 | 0x1234);
            let value = mode << 60 | 0xabcd << 44 | 0x0fff_ffff_ffff;
            let kept = if matches!(mode, 0 | 8 | 9) {
                value
            } else {
                8 << 60 | 0x1234
            };
            assert_eq!(hart.stored(number, value), kept);
        }
    }
}

#[test]
fn h_8_2_10_hgatp_keeps_its_mode_and_takes_the_rest() {
    let mut hart = Hart::new();
    for mode in 0..16_u64 {
        hart.poke(csr::HGATP, 8 << 60);
        let kept = if matches!(mode, 0 | 8 | 9) { mode } else { 8 };
        // The root has 16 KiB, so that its number's low two bits are zero. 14 bits of VMID; bits 59:58 are zero.
        let rest = 0x3fff << 44 | 0x0fff_ffff_fffc;
        assert_eq!(
            hart.stored(csr::HGATP, (mode << 60) | ((1 << 60) - 1)),
            kept << 60 | rest
        );
    }
}

#[test]
fn p_3_1_18_h_8_2_5_environment_configuration() {
    let mut hart = Hart::new();
    assert_eq!(
        hart.peek(csr::MENVCFG),
        1 << 61,
        "hardware keeps the A and D bits after reset"
    );
    assert_eq!(held(&mut hart, csr::SENVCFG), (1, 0));
    assert_eq!(held(&mut hart, csr::MENVCFG), (5 << 61 | 1, 0));
    // Fields that menvcfg does not have are read-only zero in henvcfg.
    for has in [0, 1 << 61, 1 << 63, 5 << 61] {
        hart.poke(csr::MENVCFG, has);
        assert_eq!(held(&mut hart, csr::HENVCFG), (has | 1, 0));
    }
    hart.poke(csr::HENVCFG, u64::MAX);
    hart.poke(csr::MENVCFG, 1 << 63);
    assert_eq!(hart.peek(csr::HENVCFG), 1 << 63 | 1);
    hart.poke(csr::MENVCFG, u64::MAX);
    assert_eq!(
        hart.peek(csr::HENVCFG),
        1 << 63 | 1,
        "what was lost does not come back"
    );
}

#[test]
fn p_3_1_18_fences_cover_devices_by_fiom() {
    for (index, mode) in MODES.into_iter().enumerate() {
        for (number, modes) in [
            (csr::MENVCFG, [false, true, true, true, true]),
            (csr::SENVCFG, [false, false, true, false, true]),
            (csr::HENVCFG, [false, false, false, true, true]),
        ] {
            let mut hart = Hart::new();
            hart.state.mode = mode;
            assert!(!hart.state.fence_covers_devices());
            hart.poke(number, 1);
            assert_eq!(
                hart.state.fence_covers_devices(),
                modes[index],
                "{number:#x} in {mode:?}"
            );
        }
    }
}

#[test]
fn p_3_triggers_do_not_exist() {
    let mut hart = Hart::new();
    for number in [csr::TSELECT, csr::TDATA1, csr::TDATA2, csr::TDATA3] {
        assert_eq!(held(&mut hart, number), (0, 0));
    }
    assert_eq!(held(&mut hart, csr::TINFO), (1, 1));
}

#[test]
fn h_8_2_vs_registers_take_the_place_of_supervisor_registers() {
    let pairs = [
        (csr::SSTATUS, csr::VSSTATUS, 0x2000),
        (csr::STVEC, csr::VSTVEC, 0x100),
        (csr::SSCRATCH, csr::VSSCRATCH, 1),
        (csr::SEPC, csr::VSEPC, 2),
        (csr::SCAUSE, csr::VSCAUSE, 3),
        (csr::STVAL, csr::VSTVAL, 4),
        (csr::STIMECMP, csr::VSTIMECMP, 5),
        (csr::SATP, csr::VSATP, 6),
    ];
    for (supervisor, guest, value) in pairs {
        let mut hart = Hart::open(Mode::VIRTUAL_SUPERVISOR);
        let before = hart.peek(supervisor);
        hart.write(supervisor, value)
            .expect("VS writes its register");
        assert_eq!(hart.read(supervisor).map(|read| read & 0xffff), Ok(value));
        assert_eq!(hart.peek(guest) & 0xffff, value);
        assert_eq!(hart.peek(supervisor), before, "HS's is another");
    }
    // These have no VS counterpart: both modes share them.
    for shared in [csr::SCOUNTEREN, csr::SENVCFG] {
        let mut hart = Hart::open(Mode::VIRTUAL_SUPERVISOR);
        hart.write(shared, 1).expect("VS writes it");
        assert_eq!(hart.peek(shared), 1);
    }
}

#[test]
fn h_8_2_3_vs_interrupts_are_seen_shifted_by_one() {
    for hideleg in (0..8_u64).map(|bits| (bits & 1) << 2 | (bits & 2) << 5 | (bits & 4) << 8) {
        for pending in [0x4, 0x40, 0x400, 0x444] {
            let mut hart = Hart::open(Mode::VIRTUAL_SUPERVISOR);
            hart.poke(csr::HIDELEG, hideleg);
            hart.poke(csr::HVIP, pending);
            hart.poke(csr::HIE, pending);
            assert_eq!(hart.read(csr::SIP), Ok((pending & hideleg) >> 1));
            assert_eq!(hart.read(csr::SIE), Ok((pending & hideleg) >> 1));
            hart.write(csr::SIE, u64::MAX).expect("VS writes sie");
            assert_eq!(hart.peek(csr::HIE), pending | hideleg);
            assert_eq!(hart.peek(csr::MIE), pending | hideleg, "hie is part of mie");
            hart.write(csr::SIP, 0).expect("VS writes sip");
            assert_eq!(
                hart.peek(csr::HVIP),
                pending & !(hideleg & 4),
                "only VSSIP can be written"
            );
        }
    }
}

#[test]
fn p_4_1_3_sip_and_sie_show_delegated_interrupts() {
    for mideleg in 0..8_u64 {
        let mideleg = (mideleg & 1) << 1 | (mideleg & 2) << 4 | (mideleg & 4) << 7;
        let mut hart = Hart::new();
        hart.poke(csr::MIDELEG, mideleg);
        hart.poke(csr::MIP, u64::MAX);
        hart.poke(csr::MIE, u64::MAX);
        assert_eq!(hart.peek(csr::SIP), 0x222 & mideleg);
        assert_eq!(hart.peek(csr::SIE), 0x222 & mideleg);
        hart.poke(csr::SIP, 0);
        assert_eq!(
            hart.peek(csr::MIP),
            0x226 & !(mideleg & 2),
            "of sip only SSIP can be written"
        );
        hart.poke(csr::SIE, 0);
        assert_eq!(hart.peek(csr::MIE), 0xeee & !mideleg);
    }
}

#[test]
fn p_3_1_9_seip_is_the_software_bit_or_the_wire() {
    const SEIP: u64 = 1 << 9;
    for (software, wire) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut hart = Hart::new();
        hart.poke(csr::MIDELEG, SEIP);
        hart.poke(csr::MIP, u64::from(software) << 9);
        hart.wires = u64::from(wire) << 9;
        let shown = u64::from(software || wire) << 9;
        assert_eq!(hart.read(csr::MIP), Ok(shown));
        assert_eq!(hart.peek(csr::SIP), shown);
        // Setting and clearing other bits reads the wire, and writes the software bit unchanged.
        for operation in [CsrOperation::Set, CsrOperation::Clear] {
            let (old, _) = hart
                .access(csr::MIP, Some((operation, 2)))
                .expect("M writes mip");
            assert_eq!(old & SEIP, shown);
            hart.wires = 0;
            assert_eq!(hart.peek(csr::MIP) & SEIP, u64::from(software) << 9);
            hart.wires = u64::from(wire) << 9;
        }
    }
}

#[test]
fn p_3_1_9_wires_drive_their_bits_alone() {
    let mut hart = Hart::new();
    for bit in 0..64 {
        hart.wires = 1 << bit;
        // SSIP is shown until the hart has latched it.
        let driven = if [1, 3, 7, 9, 11].contains(&bit) {
            1 << bit
        } else {
            0
        };
        assert_eq!(hart.peek(csr::MIP), driven);
    }
}

#[test]
fn p_3_1_9_an_edge_on_ssip_is_kept_until_software_clears_it() {
    let mut hart = Hart::new();
    for others in [0, 1 << 3 | 1 << 9] {
        assert_eq!(hart.state.latch(others | 2), others);
        assert_eq!(hart.peek(csr::MIP), 2);
        assert_eq!(hart.state.latch(others), others);
        assert_eq!(hart.peek(csr::MIP), 2);
        hart.poke(csr::MIP, 0);
        assert_eq!(hart.peek(csr::MIP), 0);
    }
}

#[test]
fn p_3_1_6_5_tvm_traps_satp_and_hgatp_in_hs_alone() {
    for mode in MODES {
        let mut hart = Hart::open(mode);
        hart.poke(csr::MSTATUS, 1 << 20);
        let own = if mode == Mode::SUPERVISOR {
            Err(ILLEGAL)
        } else {
            expected(mode, csr::SATP, true)
        };
        assert_eq!(hart.read(csr::SATP).map(|_| ()), own);
        assert_eq!(hart.write(csr::SATP, 0).map(|_| ()), own);
        // From VS the access is checked as if TVM were 0.
        let guest = if mode == Mode::SUPERVISOR {
            Err(ILLEGAL)
        } else {
            expected(mode, csr::HGATP, true)
        };
        assert_eq!(hart.read(csr::HGATP).map(|_| ()), guest);
        assert_eq!(hart.write(csr::HGATP, 0).map(|_| ()), guest);
        assert_eq!(
            hart.read(csr::VSATP).map(|_| ()),
            expected(mode, csr::VSATP, false),
            "TVM is not about vsatp"
        );
    }
}

#[test]
fn h_8_2_1_vtvm_traps_satp_in_vs() {
    for mode in MODES {
        let mut hart = Hart::open(mode);
        hart.poke(csr::HSTATUS, 1 << 20);
        let result = if mode == Mode::VIRTUAL_SUPERVISOR {
            Err(VIRTUAL)
        } else {
            expected(mode, csr::SATP, true)
        };
        assert_eq!(hart.read(csr::SATP).map(|_| ()), result);
        assert_eq!(hart.write(csr::SATP, 0).map(|_| ()), result);
    }
}

#[test]
fn p_3_1_11_h_8_2_6_counters_by_their_enables() {
    for number in csr::CYCLE..=csr::HPMCOUNTER31 {
        for mode in MODES {
            for enables in 0..8 {
                let mut hart = Hart::open(mode);
                let bit = 1_u64 << (number & 31);
                let [m, s, h] = [enables & 1 != 0, enables & 2 != 0, enables & 4 != 0];
                for (number, enabled) in [
                    (csr::MCOUNTEREN, m),
                    (csr::SCOUNTEREN, s),
                    (csr::HCOUNTEREN, h),
                ] {
                    hart.poke(number, if enabled { bit } else { !bit });
                }
                let result = match (mode.privilege, mode.v) {
                    (Privilege::Machine, _) => Ok(()),
                    _ if !m => Err(ILLEGAL),
                    (Privilege::Supervisor, false) => Ok(()),
                    (Privilege::Supervisor, true) => {
                        if h {
                            Ok(())
                        } else {
                            Err(VIRTUAL)
                        }
                    }
                    (Privilege::User, false) => {
                        if s {
                            Ok(())
                        } else {
                            Err(ILLEGAL)
                        }
                    }
                    (Privilege::User, true) => {
                        if h && s {
                            Ok(())
                        } else {
                            Err(VIRTUAL)
                        }
                    }
                };
                assert_eq!(
                    hart.read(number).map(|_| ()),
                    result,
                    "{number:#x} in {mode:?}, {enables:03b}"
                );
                assert_eq!(
                    hart.write(number, 0).map(|_| ()),
                    Err(ILLEGAL),
                    "they are read-only"
                );
            }
        }
    }
}

#[test]
fn sstc_2_3_4_access_to_the_compare_registers() {
    for mode in MODES {
        for switches in 0..16 {
            let [menvcfg, mcounteren, henvcfg, hcounteren] =
                [1, 2, 4, 8].map(|bit| switches & bit != 0);
            let mut hart = Hart::open(mode);
            hart.poke(csr::MENVCFG, if menvcfg { 1 << 63 } else { 0 });
            hart.poke(csr::HENVCFG, if henvcfg { 1 << 63 } else { 0 });
            hart.poke(csr::MCOUNTEREN, if mcounteren { 2 } else { !2 });
            hart.poke(csr::HCOUNTEREN, if hcounteren { 2 } else { !2 });
            let machine = menvcfg && mcounteren;
            let (own, guest) = match (mode.privilege, mode.v) {
                (Privilege::Machine, _) => (Ok(()), Ok(())),
                (Privilege::User, false) => (Err(ILLEGAL), Err(ILLEGAL)),
                _ if !machine => (Err(ILLEGAL), Err(ILLEGAL)),
                (Privilege::Supervisor, false) => (Ok(()), Ok(())),
                (Privilege::Supervisor, true) if henvcfg && hcounteren => (Ok(()), Err(VIRTUAL)),
                (_, true) => (Err(VIRTUAL), Err(VIRTUAL)),
            };
            assert_eq!(
                hart.read(csr::STIMECMP).map(|_| ()),
                own,
                "{switches:04b} in {mode:?}"
            );
            assert_eq!(
                hart.write(csr::STIMECMP, 0).map(|_| ()),
                own,
                "{switches:04b} in {mode:?}"
            );
            assert_eq!(
                hart.read(csr::VSTIMECMP).map(|_| ()),
                guest,
                "{switches:04b} in {mode:?}"
            );
            assert_eq!(
                hart.write(csr::VSTIMECMP, 0).map(|_| ()),
                guest,
                "{switches:04b} in {mode:?}"
            );
        }
    }
}

#[test]
fn p_3_1_6_6_float_registers_need_fs() {
    for mode in MODES {
        for (fs, guest) in (0..4_u64).flat_map(|fs| (0..4_u64).map(move |guest| (fs, guest))) {
            for number in [csr::FFLAGS, csr::FRM, csr::FCSR] {
                let mut hart = Hart::open(mode);
                hart.poke(csr::MSTATUS, fs << 13);
                hart.poke(csr::VSSTATUS, guest << 13);
                let on = fs != 0 && (!mode.v || guest != 0);
                assert_eq!(hart.state.float_enabled(), on);
                assert_eq!(hart.read(number), if on { Ok(0) } else { Err(ILLEGAL) });
                assert_eq!(
                    hart.peek(csr::MSTATUS) >> 13 & 3,
                    fs,
                    "reading does not dirty"
                );
                assert_eq!(hart.state.float_dirty(), fs == 3 && (!mode.v || guest == 3));
                assert_eq!(
                    hart.write(number, 1),
                    if on { Ok(Effects::FLOAT) } else { Err(ILLEGAL) }
                );
                assert_eq!(hart.peek(csr::MSTATUS) >> 13 & 3, if on { 3 } else { fs });
                assert_eq!(
                    hart.peek(csr::VSSTATUS) >> 13 & 3,
                    if on && mode.v { 3 } else { guest }
                );
            }
        }
    }
}

#[test]
fn p_2_float_registers_are_parts_of_fcsr() {
    let mut hart = Hart::open(Mode::USER);
    hart.write(csr::FCSR, u64::MAX).expect("FS is on");
    assert_eq!(hart.read(csr::FCSR), Ok(0xff));
    assert_eq!((hart.state.frm(), hart.state.fflags()), (7, 0x1f));
    hart.write(csr::FFLAGS, 0).expect("FS is on");
    assert_eq!(hart.read(csr::FCSR), Ok(0xe0));
    hart.write(csr::FRM, 0xa).expect("FS is on");
    assert_eq!(
        (hart.read(csr::FCSR), hart.read(csr::FRM)),
        (Ok(0x40), Ok(2))
    );
    hart.state.accrue_fflags(0x11);
    hart.state.accrue_fflags(0x01);
    assert_eq!(hart.read(csr::FFLAGS), Ok(0x11));
}

#[test]
fn p_3_effects_report_changes() {
    let mut hart = Hart::open(Mode::MACHINE);
    for (number, value, effects) in [
        (csr::SATP, 8 << 60, Effects::TRANSLATION),
        (csr::VSATP, 8 << 60, Effects::TRANSLATION),
        (csr::HGATP, 8 << 60, Effects::TRANSLATION),
        (csr::MSTATUS, 1 << 13 | 1 << 17, Effects::TRANSLATION),
        (csr::MSTATUS, 1 << 13 | 1 << 17, Effects::empty()),
        (csr::SSTATUS, 1 << 13 | 1 << 18, Effects::TRANSLATION),
        (csr::SSTATUS, 2 << 13 | 1 << 18, Effects::FLOAT),
        (csr::SSTATUS, 2 << 13 | 1 << 18 | 2, Effects::INTERRUPTS),
        (csr::VSSTATUS, 1 << 13 | 1 << 19, Effects::TRANSLATION),
        (csr::MENVCFG, 1 << 63, Effects::FLUSH),
        (csr::MENVCFG, 0, Effects::TIMER | Effects::INTERRUPTS),
        (csr::PMPCFG0, 0x1f, Effects::FLUSH),
        (csr::PMPADDR0, 1, Effects::FLUSH),
        (csr::STIMECMP, 1, Effects::TIMER | Effects::INTERRUPTS),
        (csr::MIE, 1, Effects::INTERRUPTS),
        (csr::SSCRATCH, 1, Effects::empty()),
        (csr::SEPC, 1, Effects::empty()),
    ] {
        assert_eq!(
            hart.write(number, value),
            Ok(effects),
            "{number:#x} := {value:#x}"
        );
    }
}

proptest! {
    /// No sequence of accesses panics, refused accesses change nothing, and the modes' fields hold existing modes.
    #[test]
    fn p_2_1_any_sequence_of_accesses(
        accesses in prop::collection::vec((0..0x1000_u16, 0..3_u8, any::<u64>(), 0..5_usize, any::<u64>()), 1..200)
    ) {
        let mut hart = Hart::new();
        for (number, operation, operand, mode, wires) in accesses {
            hart.state.mode = MODES[mode];
            hart.wires = wires;
            hart.time = operand;
            let operation = [CsrOperation::Write, CsrOperation::Set, CsrOperation::Clear][usize::from(operation)];
            let before = hart.state.clone();
            if hart.access(number, Some((operation, operand))).is_err() {
                prop_assert_eq!(&before, &hart.state);
            }
            prop_assert_ne!(hart.peek(csr::MSTATUS) >> 11 & 3, 2);
            prop_assert_eq!(hart.peek(csr::HGATP) & 3, 0);
            prop_assert!(matches!(hart.peek(csr::SATP) >> 60, 0 | 8 | 9));
            prop_assert!(matches!(hart.peek(csr::VSATP) >> 60, 0 | 8 | 9));
            prop_assert!(matches!(hart.peek(csr::HGATP) >> 60, 0 | 8 | 9));
            prop_assert_eq!(hart.peek(csr::MIDELEG) & 0x1444, 0x444);
        }
    }

    /// Set and clear operate on the present value, and return the old value.
    #[test]
    fn p_2_1_set_and_clear(old in any::<u64>(), operand in any::<u64>()) {
        let mut hart = Hart::new();
        hart.poke(csr::MSCRATCH, old);
        for (operation, new) in [
            (CsrOperation::Write, operand),
            (CsrOperation::Set, old | operand),
            (CsrOperation::Clear, old & !operand),
        ] {
            hart.poke(csr::MSCRATCH, old);
            prop_assert_eq!(hart.access(csr::MSCRATCH, Some((operation, operand))), Ok((old, Effects::empty())));
            prop_assert_eq!(hart.peek(csr::MSCRATCH), new);
        }
    }
}
