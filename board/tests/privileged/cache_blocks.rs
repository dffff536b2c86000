//! Which mode may execute an instruction on a cache block, against the pseudocode of the specification.

use tactus_board::privileged::number as csr;
use tactus_board::privileged::{BlockOperation, Exception, Extensions, Mode, Privileged};

use crate::hart::{BITS, Hart, MODES};

fn hart(extensions: Extensions, mode: Mode, [m, s, h]: [u64; 3]) -> Hart {
    let mut hart = Hart::new();
    hart.state = Privileged::new(0).with(extensions);
    hart.poke(csr::MENVCFG, m);
    hart.poke(csr::SENVCFG, s);
    hart.poke(csr::HENVCFG, h);
    hart.state.mode = mode;
    hart
}

/// The conditions of section 5, as they stand there: what `cbo.inval` does with these fields, or its exception.
fn inval(mode: Mode, [m, s, h]: [u64; 3]) -> Result<BlockOperation, Exception> {
    let (u, vs, vu) = (
        mode == Mode::USER,
        mode == Mode::VIRTUAL_SUPERVISOR,
        mode == Mode::VIRTUAL_USER,
    );
    let below = mode != Mode::MACHINE;
    if below && m == 0 || u && s == 0 {
        return Err(Exception::IllegalInstruction);
    }
    if vs && h == 0 || vu && (h == 0 || s == 0) {
        return Err(Exception::VirtualInstruction);
    }
    let flush = below && m == 1 || u && s == 1 || vs && h == 1 || vu && (h == 1 || s == 1);
    Ok(if flush {
        BlockOperation::Flush
    } else {
        BlockOperation::Invalidate
    })
}

#[test]
fn each_mode_and_field_gives_what_the_pseudocode_says() {
    for mode in MODES {
        for fields in 0..27_usize {
            let values = [0_u64, 1, 3];
            let cbie = [fields / 9, fields / 3 % 3, fields % 3].map(|index| values[index]);
            let invalidate = hart(Extensions::all(), mode, cbie.map(|field| field << 4));
            let result = invalidate
                .state
                .check_block(BlockOperation::Invalidate, BITS);
            assert_eq!(
                result.map_err(|trap| trap.cause),
                inval(mode, cbie),
                "{mode:?} {cbie:?}"
            );
            // The other fields have one bit, and the operation is the instruction's own.
            let enabled = cbie.map(|field| field & 1);
            for (operation, shift) in [
                (BlockOperation::Clean, 6),
                (BlockOperation::Flush, 6),
                (BlockOperation::Zero, 7),
            ] {
                let other = hart(Extensions::all(), mode, enabled.map(|bit| bit << shift));
                let result = other.state.check_block(operation, BITS);
                let expected = inval(mode, enabled).map(|_| operation);
                assert_eq!(
                    result.map_err(|trap| trap.cause),
                    expected,
                    "{operation:?} in {mode:?} {enabled:?}"
                );
            }
        }
    }
}

#[test]
fn an_extension_that_is_not_there_has_no_fields_and_illegal_instructions() {
    let operations = [
        (BlockOperation::Invalidate, Extensions::ZICBOM),
        (BlockOperation::Clean, Extensions::ZICBOM),
        (BlockOperation::Flush, Extensions::ZICBOM),
        (BlockOperation::Zero, Extensions::ZICBOZ),
    ];
    for there in [
        Extensions::empty(),
        Extensions::ZICBOM,
        Extensions::ZICBOP,
        Extensions::ZICBOZ,
    ] {
        let mut fields = 0;
        if there.contains(Extensions::ZICBOM) {
            fields |= 0x70;
        }
        if there.contains(Extensions::ZICBOZ) {
            fields |= 0x80;
        }
        let hart = hart(there, Mode::MACHINE, [0xf0; 3]);
        for register in [csr::MENVCFG, csr::SENVCFG, csr::HENVCFG] {
            assert_eq!(hart.peek(register) & 0xf0, fields, "{there:?}");
        }
        for (operation, needs) in operations {
            let result = hart.state.check_block(operation, BITS);
            let cause = result.map(|_| ()).map_err(|trap| trap.cause);
            let expected = if there.contains(needs) {
                Ok(())
            } else {
                Err(Exception::IllegalInstruction)
            };
            assert_eq!(cause, expected, "{operation:?} with {there:?}");
        }
    }
}

#[test]
fn the_reserved_value_of_cbie_changes_nothing() {
    let mut hart = hart(Extensions::all(), Mode::MACHINE, [0; 3]);
    for register in [csr::MENVCFG, csr::SENVCFG, csr::HENVCFG] {
        for before in [0, 1, 3] {
            hart.poke(register, before << 4);
            hart.poke(register, 0xe0);
            assert_eq!(hart.peek(register) & 0xf0, before << 4 | 0xc0);
        }
    }
}
